//! `sameneighbors` with a body, `adamicadar` and `resourceallocation`, which HugeGraph's Java
//! client does not have, against their definitions: sums over the common neighbours of two
//! vertices, each by its degree in the same direction and label.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::traversers::{get, post};

const PEOPLE: usize = 9;
const SOFTWARE: usize = 3;

/// One edge: its label, and the places of its ends.
type Edge = (&'static str, usize, usize);

fn id(place: usize) -> String {
    match place < PEOPLE {
        true => format!("1:p{place}"),
        false => format!("2:s{place}"),
    }
}

/// Edges with parallel ones, loops and vertices of one edge only.
fn edges() -> Vec<(Edge, String)> {
    let mut edges = Vec::new();
    for number in 0..20_usize {
        let (a, b) = (number * 5 % (PEOPLE - 1), number * number % (PEOPLE - 1));
        let date = format!("2020-01-{:02}", number + 1);
        edges.push((("knows", a, b), date));
    }
    for number in 0..10_usize {
        let (a, b) = (number * 4 % PEOPLE, PEOPLE + number % SOFTWARE);
        edges.push((("created", a, b), "2020-01-01".to_owned()));
    }
    for (a, b) in [(PEOPLE - 1, 0), (1, PEOPLE - 1), (2, PEOPLE - 1)] {
        edges.push((("knows", a, b), "2020-02-01".to_owned()));
    }
    edges
}

fn world() -> Fixture {
    let fixture = Fixture::new();
    let people = (0..PEOPLE)
        .map(|place| json!({"label": "person", "properties": {"name": &id(place)[2..], "age": 1}}));
    let software = (PEOPLE..PEOPLE + SOFTWARE).map(
        |place| json!({"label": "software", "properties": {"name": &id(place)[2..], "lang": "c"}}),
    );
    let vertices: Vec<Value> = people.chain(software).collect();
    fixture.done("POST", "vertices/batch", &json!(vertices).to_string());
    let edge = |((label, a, b), date): (Edge, String)| {
        let of = |place| if place < PEOPLE { "person" } else { "software" };
        json!({"label": label, "outV": id(a), "inV": id(b), "outVLabel": of(a), "inVLabel": of(b),
            "properties": {"date": date}})
    };
    let edges: Vec<Value> = edges().into_iter().map(edge).collect();
    fixture.done("POST", "edges/batch", &json!(edges).to_string());
    fixture
}

/// The other end of each edge that leaves `at` in this direction, as often as there are edges.
fn ends(edges: &[Edge], at: usize, direction: &str, label: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (own, a, b) in edges {
        let is_asked = label.is_empty() || label == *own;
        if is_asked && *a == at && direction != "IN" {
            found.push(*b);
        }
        if is_asked && *b == at && direction != "OUT" {
            found.push(*a);
        }
    }
    found
}

/// A number, which JSON has no word for if it is infinite.
fn number(value: &Value) -> f64 {
    match value.as_str() {
        Some("Infinity") => f64::INFINITY,
        _ => value
            .as_f64()
            .unwrap_or_else(|| panic!("no number: {value}")),
    }
}

#[test]
fn likeness_of_two_vertices_by_their_common_neighbours() {
    let fixture = world();
    let mut edges: Vec<Edge> = edges().into_iter().map(|(edge, _)| edge).collect();
    // Of a label with one edge for each pair the last one stays.
    let mut seen = BTreeSet::new();
    edges.retain(|edge| edge.0 == "knows" || seen.insert(*edge));
    let near = |at: usize, direction: &str, label: &str| -> BTreeSet<usize> {
        let ends = ends(&edges, at, direction, label).into_iter();
        ends.filter(|other| *other != at).collect()
    };
    let (mut shared, mut infinite) = (0, 0);
    for (a, b) in (0..PEOPLE).flat_map(|a| (0..a).map(move |b| (a, b))) {
        for direction in ["OUT", "IN", "BOTH"] {
            for label in ["", "knows", "created"] {
                let both = [near(a, direction, label), near(b, direction, label)];
                let common: Vec<usize> = both[0].intersection(&both[1]).copied().collect();
                let degrees = common
                    .iter()
                    .map(|at| ends(&edges, *at, direction, label).len());
                let degrees: Vec<f64> = degrees.filter(|of| *of > 0).map(|of| of as f64).collect();
                let named = match label {
                    "" => String::new(),
                    label => format!("&label={label}"),
                };
                let question = format!(
                    r#"?vertex="{}"&other="{}"&direction={direction}{named}"#,
                    id(a),
                    id(b)
                );
                for (name, member, wanted) in [
                    (
                        "adamicadar",
                        "adamic_adar",
                        degrees.iter().map(|of| 1.0 / of.ln()).sum(),
                    ),
                    (
                        "resourceallocation",
                        "resource_allocation",
                        degrees.iter().map(|of| 1.0 / of).sum::<f64>(),
                    ),
                ] {
                    let answer = get(&fixture, &format!("{name}{question}"));
                    assert_eq!(answer.as_object().unwrap().len(), 1);
                    let got = number(&answer[member]);
                    let is_same = got == wanted || (got - wanted).abs() < 1e-9;
                    assert!(got.is_sign_positive(), "{name}{question}: {got}");
                    assert!(is_same, "{name}{question}: {got}, not {wanted}");
                    infinite += usize::from(wanted.is_infinite());
                }
                let labels: Vec<&str> = [label].into_iter().filter(|it| !it.is_empty()).collect();
                let body = json!({"vertex_list": [id(a), id(b)], "direction": direction,
                    "labels": labels});
                let answer = post(&fixture, "sameneighbors", &body);
                let got = answer["same_neighbors"].as_array().unwrap();
                let set: BTreeSet<&str> = got.iter().filter_map(Value::as_str).collect();
                let wanted: Vec<String> = common.iter().map(|at| id(*at)).collect();
                assert_eq!(got.len(), wanted.len(), "{body}: {answer}");
                assert!(
                    wanted.iter().all(|id| set.contains(&**id)),
                    "{body}: {answer}"
                );
                let all = answer["vertices"].as_array().unwrap();
                assert_eq!(all[..2], [json!(id(a)), json!(id(b))], "{body}: {answer}");
                shared += usize::from(!common.is_empty());
            }
        }
    }
    assert!(shared > 30 && infinite > 0, "{shared} {infinite}");
}
