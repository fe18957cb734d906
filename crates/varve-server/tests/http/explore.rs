//! The explorer's reads: expansion, elements by id, samples, summaries, search and export.

use serde_json::{Value, json};
use varve_server::{ExploreConfig, ServerConfig};

use crate::fixture::Fixture;

const MARKO: &str = "\"1:marko\"";
const JOSH: &str = "\"1:josh\"";
const LOP: &str = "\"2:lop\"";

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

fn with(explore: ExploreConfig) -> Fixture {
    let fixture = Fixture::with(ServerConfig {
        explore,
        ..ServerConfig::default()
    });
    fixture.people();
    fixture
}

fn post(fixture: &Fixture, what: &str, body: &Value) -> Value {
    fixture.done("POST", &format!("../explore/{what}"), &body.to_string())
}

fn get(fixture: &Fixture, what: &str) -> Value {
    fixture.done("GET", &format!("../explore/{what}"), "")
}

pub(crate) fn refs(answer: &Value, key: &str) -> Vec<String> {
    let list = answer[key].as_array().unwrap().iter();
    let mut refs: Vec<String> = list
        .map(|element| element["ref"].as_str().unwrap().to_owned())
        .collect();
    refs.sort();
    refs
}

#[test]
fn an_expansion_has_edges_their_other_ends_and_counts() {
    let fixture = people();
    let body = json!({"ids": [MARKO, "\"1:nobody\""], "counts": true});
    let answer = post(&fixture, "expand", &body);
    assert_eq!(refs(&answer, "vertices"), [JOSH, MARKO, "\"1:vadas\"", LOP]);
    assert_eq!(answer["edges"].as_array().unwrap().len(), 3);
    assert_eq!(answer["missing"], json!(["\"1:nobody\""]));
    assert_eq!(answer["truncated"], json!(false));
    assert_eq!(
        answer["counts"][0],
        json!({"ref": MARKO, "groups": [
            {"direction": "OUT", "label": "knows", "other_label": "person", "count": 2, "at_least": false},
            {"direction": "OUT", "label": "created", "other_label": "software", "count": 1, "at_least": false},
        ]})
    );
    let edges = answer["edges"].as_array().unwrap();
    let created = edges
        .iter()
        .find(|edge| edge["label"] == "created")
        .unwrap();
    assert_eq!(
        (&created["source"], &created["target"]),
        (&json!(MARKO), &json!(LOP))
    );
    assert_eq!(created["properties"]["city"], "Shanghai");
    // The ref is what a path takes.
    let path = format!("edges/{}", created["ref"].as_str().unwrap()).replace('>', "%3E");
    assert_eq!(fixture.done("GET", &path, "")["id"], created["ref"]);
}

#[test]
fn a_limit_is_shared_among_labels_and_directions() {
    let fixture = people();
    for number in 0..20 {
        let vertex =
            json!({"label": "person", "properties": {"name": format!("p{number:02}"), "age": 1}});
        fixture.done("POST", "vertices", &vertex.to_string());
        let edge = json!({"label": "knows", "outV": "1:marko", "inV": format!("1:p{number:02}"),
            "properties": {"date": "2020-01-01"}});
        fixture.done("POST", "edges", &edge.to_string());
    }
    let labels = |answer: &Value| {
        let edges = answer["edges"].as_array().unwrap().iter();
        edges.filter(|edge| edge["label"] == "created").count()
    };
    let answer = post(&fixture, "expand", &json!({"ids": [MARKO], "limit": 4}));
    assert_eq!(answer["edges"].as_array().unwrap().len(), 4);
    assert_eq!((labels(&answer), &answer["truncated"]), (1, &json!(true)));
    let answer = post(&fixture, "expand", &json!({"ids": [MARKO], "per_label": 2}));
    assert_eq!(
        (answer["edges"].as_array().unwrap().len(), labels(&answer)),
        (3, 1)
    );
    let only = json!({"ids": [MARKO], "labels": ["created"], "direction": "OUT"});
    assert_eq!(
        post(&fixture, "expand", &only)["edges"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let inwards = json!({"ids": [JOSH], "direction": "IN"});
    assert_eq!(
        refs(&post(&fixture, "expand", &inwards), "vertices"),
        [JOSH, MARKO]
    );
    let filtered = json!({"ids": [MARKO], "properties": {"weight": "P.gt(0.9)"}});
    assert_eq!(
        refs(&post(&fixture, "expand", &filtered), "vertices"),
        [JOSH, MARKO]
    );
    let none = post(
        &fixture,
        "expand",
        &json!({"ids": [MARKO], "limit": 0, "counts": true}),
    );
    assert_eq!(none["counts"][0]["groups"][0]["count"], 22);
    assert_eq!(none["edges"], json!([]));
}

#[test]
fn counts_over_the_limit_say_at_least() {
    let fixture = with(ExploreConfig {
        count_max: 2,
        ..ExploreConfig::default()
    });
    let edge = json!({"label": "knows", "outV": "1:marko", "inV": "1:josh",
        "properties": {"date": "2020-01-01"}});
    fixture.done("POST", "edges", &edge.to_string());
    let answer = post(&fixture, "expand", &json!({"ids": [MARKO], "counts": true}));
    let groups = answer["counts"][0]["groups"].as_array().unwrap();
    let listed: Vec<_> = groups
        .iter()
        .map(|group| {
            (
                &group["label"],
                group["count"].as_u64(),
                group["at_least"].as_bool(),
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            (&json!("knows"), Some(2), Some(true)),
            (&json!("created"), Some(1), Some(false))
        ]
    );
    assert_eq!(answer["truncated"], json!(true));
    let summary = get(&fixture, "summary");
    assert_eq!(
        (
            &summary["vertices"][0]["count"],
            &summary["vertices"][0]["at_least"]
        ),
        (&json!(2), &json!(true))
    );
}

#[test]
fn elements_come_by_id_with_the_edges_among_them() {
    let fixture = people();
    let body = json!({"vertices": [JOSH, MARKO, "\"1:nobody\"", MARKO], "between": true});
    let answer = post(&fixture, "elements", &body);
    let order: Vec<_> = answer["vertices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| &each["ref"])
        .collect();
    assert_eq!(order, [JOSH, MARKO]);
    assert_eq!(answer["edges"].as_array().unwrap().len(), 1);
    assert_eq!(
        answer["missing"],
        json!({"vertices": ["\"1:nobody\""], "edges": []})
    );
    let edge = answer["edges"][0]["ref"].clone();
    let again = post(&fixture, "elements", &json!({"edges": [edge]}));
    assert_eq!(again["edges"], answer["edges"]);
    let times = &again["times"];
    let later = json!({"label": "person", "properties": {"name": "later", "age": 1}});
    fixture.done("POST", "vertices", &later.to_string());
    let pinned = format!(
        "../explore/elements?as_of={}&as_of_tx={}",
        times["as_of"].as_str().unwrap(),
        times["as_of_tx"].as_str().unwrap()
    );
    let body = json!({"vertices": ["\"1:later\""], "edges": [edge]}).to_string();
    let pinned = fixture.done("POST", &pinned, &body);
    assert_eq!(pinned["missing"]["vertices"], json!(["\"1:later\""]));
    assert_eq!(pinned["edges"], again["edges"]);
    assert_eq!(pinned["times"]["now"], json!(false));
    assert_eq!(pinned["times"]["as_of_tx"], times["as_of_tx"]);
}

#[test]
fn edges_among_vertices_are_found_from_the_end_that_has_few() {
    let fixture = with(ExploreConfig {
        count_max: 1,
        ..ExploreConfig::default()
    });
    // Marko has three edges, of which one is looked at; the others have one each.
    let body = json!({"vertices": [MARKO, JOSH, LOP], "between": true});
    let answer = post(&fixture, "elements", &body);
    assert_eq!(answer["edges"].as_array().unwrap().len(), 2);
    assert_eq!(answer["truncated"], json!(false));
}

#[test]
fn ids_of_every_kind_are_exact() {
    let fixture = people();
    for (label, id) in [
        ("num", json!(i64::MAX)),
        ("uu", json!("835e1153-9281-4957-8691-cf79258e90eb")),
        ("book", json!("a \"b\" é")),
    ] {
        let vertex = json!({"label": label, "id": id, "properties": {"name": "n"}});
        fixture.done("POST", "vertices", &vertex.to_string());
    }
    let wanted = [
        "\"a \\\"b\\\" é\"",
        "9223372036854775807",
        "U\"835e1153-9281-4957-8691-cf79258e90eb\"",
    ];
    let answer = post(&fixture, "elements", &json!({"vertices": wanted}));
    assert_eq!(refs(&answer, "vertices"), wanted);
}

#[test]
fn what_is_asked_wrongly_is_refused() {
    let fixture = people();
    for (what, body, message) in [
        ("expand", json!({"ids": []}), "The ids can't be empty"),
        (
            "expand",
            json!({"ids": [MARKO], "limit": 1001}),
            "The limit must be in [0, 1000] (explore.expand_edges_max), but got 1001",
        ),
        (
            "expand",
            json!({"ids": ["1:marko"]}),
            "The vertex id must be formatted as Number/String/UUID, but got '1:marko'",
        ),
        (
            "expand",
            json!({"ids": [MARKO], "labels": ["none"]}),
            "Undefined edge label: 'none'",
        ),
        (
            "elements",
            json!({"edges": ["bad"]}),
            "Edge id must be formatted as 5~6 parts, but got 1 parts: 'bad'",
        ),
        (
            "diff",
            json!({"scope": {"label": "none"}}),
            "Undefined vertex label or edge label: 'none'",
        ),
        (
            "diff",
            json!({"scope": {"label": "person", "vertices": [MARKO]}}),
            "The scope has either a label or ids, not both",
        ),
        (
            "timeline",
            json!({"vertices": [MARKO], "buckets": 0}),
            "The buckets must be in [1, 2000] (explore.buckets_max), but got 0",
        ),
    ] {
        fixture.refuses(
            "POST",
            &format!("../explore/{what}"),
            &body.to_string(),
            400,
            message,
        );
    }
    let many: Vec<String> = (0..101).map(|number| number.to_string()).collect();
    let answer = fixture.send(
        "POST",
        "../explore/expand",
        &json!({"ids": many}).to_string(),
    );
    assert_eq!(answer.status, 400, "{}", answer.text());
    let answer = fixture.send("GET", "/graphs/none/explore/summary", "");
    assert_eq!(answer.status, 404);
    fixture.refuses(
        "GET",
        "../explore/export?format=xls",
        "",
        400,
        "The format must be csv, jsonl, parquet, arrow, graphml or gexf, but got 'xls'",
    );
}

#[test]
fn a_sample_shows_some_vertices_of_each_label() {
    let fixture = people();
    let all = get(&fixture, "sample?between=true");
    assert_eq!(all["vertices"].as_array().unwrap().len(), 4);
    assert_eq!(all["edges"].as_array().unwrap().len(), 3);
    assert_eq!(all["truncated"], json!(false));
    let some = get(&fixture, "sample?label=person&limit=2");
    assert_eq!(some["vertices"].as_array().unwrap().len(), 2);
    assert_eq!(some["truncated"], json!(true));
    // The first label takes what the second one leaves of its share.
    for (limit, truncated) in [(3, true), (4, false)] {
        let shared = get(&fixture, &format!("sample?limit={limit}"));
        assert_eq!(shared["vertices"].as_array().unwrap().len(), limit);
        assert_eq!(shared["truncated"], json!(truncated));
    }
    let seeded = |seed: u32| {
        refs(
            &get(
                &fixture,
                &format!("sample?label=person&limit=1&seed={seed}"),
            ),
            "vertices",
        )
    };
    assert_eq!(seeded(1), seeded(1));
    let drawn: std::collections::BTreeSet<_> = (0..30).flat_map(seeded).collect();
    assert_eq!(drawn.len(), 3, "each may be drawn");
}

#[test]
fn a_summary_counts_labels_and_fill_rates() {
    let fixture = people();
    let vertex = json!({"label": "person", "properties": {"name": "noage", "age": 1}});
    fixture.done("POST", "vertices", &vertex.to_string());
    let answer = get(&fixture, "summary");
    let person = &answer["vertices"][0];
    assert_eq!(
        (&person["label"], &person["count"]),
        (&json!("person"), &json!(4))
    );
    assert_eq!(
        person["fill"],
        json!({"name": 1.0, "age": 1.0, "city": 0.75})
    );
    let knows = &answer["edges"][0];
    assert_eq!(
        (&knows["label"], &knows["count"]),
        (&json!("knows"), &json!(2))
    );
    assert_eq!(answer["truncated"], json!(false));
    assert_eq!(answer["limits"]["elements_max"], 50_000);
    let last = &answer["recorded"]["last"]["version"];
    assert!(
        last.as_str() <= answer["times"]["as_of_tx"].as_str(),
        "{answer}"
    );
    let empty = Fixture::new();
    let answer = get(&empty, "summary");
    assert_eq!(answer["recorded"], json!({"first": null, "last": null}));
    assert_eq!(answer["valid"], json!({"earliest": null, "latest": null}));
    assert_eq!(
        get(&empty, "summary?as_of=2020-01-01")["vertices"][0]["count"],
        0
    );
}

#[test]
fn a_search_finds_ids_and_parts_of_texts() {
    let fixture = people();
    let found = |query: &str| {
        let answer = get(&fixture, &format!("search?q={query}"));
        let found = answer["found"].as_array().unwrap().iter();
        found
            .map(|each| {
                (
                    each["element"]["ref"].as_str().unwrap().to_owned(),
                    each["matched"].to_string(),
                )
            })
            .collect::<Vec<_>>()
    };
    let marko = (MARKO.to_owned(), "[\"id\"]".to_owned());
    assert_eq!(found("marko"), std::slice::from_ref(&marko));
    assert_eq!(found("1:marko"), std::slice::from_ref(&marko));
    assert_eq!(found("%221:marko%22"), [marko]);
    assert_eq!(found("ARK"), [(MARKO.to_owned(), "[\"name\"]".to_owned())]);
    assert_eq!(found("beijing").len(), 2);
    assert_eq!(found("328"), [(LOP.to_owned(), "[\"price\"]".to_owned())]);
    assert_eq!(found("nothing"), []);
    let only = get(&fixture, "search?q=java&labels=person");
    assert_eq!(only["found"], json!([]));
    let few = get(&fixture, "search?q=beijing&limit=1");
    assert_eq!(
        (few["found"].as_array().unwrap().len(), &few["truncated"]),
        (1, &json!(true))
    );
    fixture.refuses(
        "GET",
        "../explore/search",
        "",
        400,
        "The q parameter can't be null or empty",
    );
}

#[test]
fn a_search_of_many_elements_says_what_it_left_out() {
    let fixture = with(ExploreConfig {
        scan_max: 1,
        ..ExploreConfig::default()
    });
    let answer = get(&fixture, "search?q=Beijing&labels=person");
    assert_eq!(refs_of_found(&answer), [JOSH, MARKO]);
    assert_eq!(
        answer["searched"],
        json!([{"label": "person", "property": "city", "by": "SECONDARY"}])
    );
    let left: Vec<_> = answer["not_searched"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| &each["property"])
        .collect();
    assert_eq!(left, ["name", "age"]);
}

fn refs_of_found(answer: &Value) -> Vec<String> {
    let found = answer["found"].as_array().unwrap().iter();
    let mut refs: Vec<String> = found
        .map(|each| each["element"]["ref"].as_str().unwrap().to_owned())
        .collect();
    refs.sort();
    refs
}

fn export(fixture: &Fixture, query: &str) -> String {
    let answer = fixture.send("GET", &format!("../explore/export?{query}"), "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().to_owned()
}

#[test]
fn exports_have_every_element_and_no_formulas() {
    let fixture = people();
    for name in ["=1+1", "-x", "a,\"b\""] {
        let vertex = json!({"label": "person", "properties": {"name": name, "age": -5}});
        fixture.done("POST", "vertices", &vertex.to_string());
    }
    let lines = export(&fixture, "format=jsonl");
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines[0]["times"]["as_of"].is_string());
    assert_eq!(lines.len(), 1 + 7 + 3);
    let table = export(&fixture, "format=csv&label=person");
    let rows: Vec<&str> = table.split("\r\n").collect();
    assert!(
        rows[0].starts_with("~id,~label,~valid_from,~valid_to,~version,~recorded_at,name,age,"),
        "{}",
        rows[0]
    );
    assert_eq!(rows.len(), 1 + 6 + 1);
    assert!(table.contains(",\"'=1+1\",-5,"), "{table}");
    assert!(
        table.contains(",\"'-x\",-5,") && table.contains("\"a,\"\"b\"\"\""),
        "{table}"
    );
    let edges = export(&fixture, "format=csv&elements=edges");
    assert_eq!(edges.lines().count(), 4);
    let graphml = export(&fixture, "format=graphml");
    assert_eq!(
        (
            graphml.matches("<node ").count(),
            graphml.matches("<edge ").count()
        ),
        (7, 3)
    );
    assert!(graphml.ends_with("</graphml>\n"));
    let gexf = export(&fixture, "format=gexf&elements=vertices");
    assert_eq!(
        (
            gexf.matches("<node ").count(),
            gexf.matches("<edge ").count()
        ),
        (7, 0)
    );
    assert!(gexf.ends_with("</gexf>\n"));
    // NetworkX refuses `dateTime` (tests/algorithms reads an export with it).
    assert!(gexf.contains("timeformat=\"date\""));
}

#[test]
fn a_long_export_comes_in_pieces() {
    let fixture = Fixture::new();
    for batch in 0..3 {
        let vertices: Vec<Value> = (0..1_000)
            .map(|number| json!({"label": "person", "properties": {"name": format!("{batch}-{number}"), "age": 1}}))
            .collect();
        fixture.done("POST", "vertices/batch", &Value::from(vertices).to_string());
    }
    let lines = export(&fixture, "");
    let mut refs: Vec<String> = lines
        .lines()
        .skip(1)
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["ref"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    refs.sort();
    refs.dedup();
    assert_eq!(refs.len(), 3_000);
    let past = export(&fixture, "as_of=2000-01-01");
    assert_eq!(past.lines().count(), 1);
}
