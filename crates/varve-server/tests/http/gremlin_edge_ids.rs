//! Edges of open graphs whose ids clients give.

use serde_json::{Value, json};
use varve_graphson::{Edge, Value as WireValue};
use varve_testserver::driver::{Driver, FORMATS, results};

use crate::fixture::Fixture;

const UUID: &str = "UUID('41d2e28a-20a4-4ab0-b379-d810dede3786')";

/// An open graph with the vertices 1 to 3.
fn open() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    data(
        &fixture,
        "g.addV('x').property(T.id,1).addV('x').property(T.id,2).addV('x').property(T.id,3)",
    );
    fixture
}

fn script(text: &str) -> String {
    json!({"gremlin": format!("graph = open; g = graph.traversal(); {text}")}).to_string()
}

fn data(fixture: &Fixture, text: &str) -> Value {
    let answer = fixture.done("POST", "/gremlin", &script(text));
    answer["result"]["data"].clone()
}

fn refused(fixture: &Fixture, text: &str, status: u16, message: &str) {
    let answer = fixture.send("POST", "/gremlin", &script(text));
    let refusal = answer.text().to_owned();
    assert_eq!(answer.status, status, "{text}: {refusal}");
    assert!(refusal.contains(message), "{text}: {refusal}");
}

fn add(id: &str, from: u8, to: u8) -> String {
    format!("g.V({from}).addE('e').to(__.V({to})).property(T.id,{id})")
}

#[test]
fn an_edge_is_found_and_shown_by_the_id_that_it_was_given() {
    let long = "é>`~".repeat(60);
    for (id, shown) in [
        ("7", json!(7)),
        ("-7L", json!(-7)),
        ("'7'", json!("7")),
        ("'a>b'", json!("a>b")),
        (UUID, json!("41d2e28a-20a4-4ab0-b379-d810dede3786")),
        (&format!("'{long}'"), json!(long)),
    ] {
        let fixture = open();
        data(&fixture, "g.V(1).addE('e').to(__.V(2))");
        let added = format!("{}.id()", add(id, 1, 2));
        assert_eq!(data(&fixture, &added), json!([shown]));
        for found in [
            format!("g.E({id}).id()"),
            format!("g.E().hasId({id}).id()"),
            format!("g.V(1).outE().hasId({id}).id()"),
            format!("g.E({id}).outV().outE('e').has(T.id,{id}).id()"),
            format!("g.E(g.E({id}).next()).id()"),
        ] {
            assert_eq!(data(&fixture, &found), json!([shown]), "{found}");
        }
        // REST and the flat form know it by the id that all edges have.
        let flat = data(&fixture, &format!("g.E({id})"));
        let own = flat[0]["id"].as_str().expect("a text");
        assert!(own.starts_with("L1>"), "{own}");
        let again = format!("g.E('{own}').id()");
        assert_eq!(data(&fixture, &again), json!([shown]), "{again}");
    }
}

#[test]
fn ids_of_two_kinds_are_two_edges() {
    let fixture = open();
    data(
        &fixture,
        &format!("{}.iterate(); {}", add("7", 1, 2), add("'7'", 1, 2)),
    );
    assert_eq!(data(&fixture, "g.E(7,'7',8).id()"), json!([7, "7"]));
    assert_eq!(data(&fixture, "g.E(8).count()"), json!([0]));
    // They have an order.
    data(&fixture, &add("10", 1, 2));
    let ordered = "g.E().order().by(desc).id()";
    assert_eq!(data(&fixture, ordered), json!(["7", 10, 7]));
    assert_eq!(data(&fixture, "g.E(7).asString()"), json!(["e[7][1-e->2]"]));
}

#[test]
fn drivers_get_the_id_and_may_send_it() {
    let fixture = open();
    data(&fixture, &add("7", 1, 2));
    data(&fixture, &add("'seven'", 1, 3));
    for format in FORMATS {
        let mut driver = Driver::connect(&fixture.server, format);
        for (id, shown) in [
            ("7", WireValue::Long(7)),
            ("'seven'", WireValue::String("seven".into())),
        ] {
            let edges = results(driver.eval(&format!("open.traversal().E({id})")));
            let [WireValue::Edge(edge)] = edges.as_slice() else {
                panic!("{edges:?}");
            };
            let Edge { id, out_id, .. } = &**edge;
            assert_eq!((id, out_id), (&shown, &WireValue::Long(1)), "{format:?}");
        }
    }
}

#[test]
fn no_two_edges_have_one_id() {
    let fixture = open();
    data(&fixture, &add("7", 1, 2));
    for twice in [
        add("7", 1, 2),
        add("7L", 2, 1),
        "g.V(1).addE('other').to(__.V(3)).property(T.id,7)".to_owned(),
        format!("{}.iterate(); {}", add("8", 1, 2), add("8", 2, 3)),
    ] {
        refused(&fixture, &twice, 400, "Edge with id already exists: ");
    }
    assert_eq!(data(&fixture, "g.E().count()"), json!([1]));
    // It is free once its edge is gone, also within one transaction.
    let moved = format!("g.E(7).drop().iterate(); {}.inV().id()", add("7", 2, 3));
    assert_eq!(data(&fixture, &moved), json!([3]));
    assert_eq!(data(&fixture, "g.E(7).outV().id()"), json!([2]));
    data(&fixture, "g.V(3).drop()");
    assert_eq!(data(&fixture, "g.E(7).count()"), json!([0]));
    let form = add("'L1>2>2>~L7>L2'", 1, 2);
    refused(
        &fixture,
        &form,
        400,
        "the form of those that the server gives",
    );
    refused(&fixture, &add("1.5d", 1, 2), 400, "");
}

#[test]
fn of_several_at_once_one_gets_the_id() {
    let fixture = open();
    let done = std::thread::scope(|scope| {
        let each: Vec<_> = (0..8)
            .map(|client| {
                let fixture = &fixture;
                let (from, to) = (client % 3 + 1, (client + 1) % 3 + 1);
                scope.spawn(move || {
                    (0..10)
                        .filter(|round| {
                            let body = script(&add(&round.to_string(), from, to));
                            fixture.send("POST", "/gremlin", &body).status == 200
                        })
                        .count()
                })
            })
            .collect();
        let each = each.into_iter();
        each.map(|client| client.join().expect("no panic"))
            .sum::<usize>()
    });
    assert_eq!(done, 10);
    assert_eq!(data(&fixture, "g.E().count()"), json!([10]));
    assert_eq!(
        data(&fixture, "g.E(0,1,2,3,4,5,6,7,8,9).count()"),
        json!([10])
    );
}

#[test]
fn a_merge_finds_an_edge_by_its_id_or_gives_it_one() {
    let fixture = open();
    let merge = |rest: &str| {
        format!(
            "g.mergeE([(T.id):7,(T.label):'e',(from):1,(to):2]).option(onCreate,[n:1])\
             .option(onMatch,[n:2]){rest}"
        )
    };
    assert_eq!(data(&fixture, &merge(".values('n')")), json!([1]));
    assert_eq!(data(&fixture, &merge(".values('n')")), json!([2]));
    assert_eq!(
        data(&fixture, "g.mergeE([(T.id):7]).values('n')"),
        json!([2])
    );
    let other = "g.mergeE([(T.id):7,(T.label):'e',(from):2,(to):3])";
    refused(&fixture, other, 400, "Edge with id already exists: 7");
    assert_eq!(data(&fixture, "g.E(7).count()"), json!([1]));
}

#[test]
fn the_past_is_found_by_the_given_id() {
    let fixture = open();
    data(
        &fixture,
        "g.with('valid_from','2020-01-01').with('valid_to','2021-01-01').addV('x').as('a')\
         .addE('e').to('a').property(T.id,7).iterate()",
    );
    for (at, wanted) in [("2020-06-01", json!([7])), ("2022-01-01", json!([]))] {
        let found = format!("g.with('as_of','{at}').E(7).id()");
        assert_eq!(data(&fixture, &found), wanted, "{at}");
    }
    data(&fixture, &add("9", 1, 2));
    let before = data(
        &fixture,
        "g.E(9).call('varve.history').select('recorded_at')",
    );
    assert_eq!(before.as_array().map(Vec::len), Some(1));
    data(&fixture, "g.E(9).property('n',1).iterate()");
    let versions = "g.E(9).call('varve.history').count()";
    assert_eq!(data(&fixture, versions), json!([2]));
    data(&fixture, "g.E(9).drop()");
    assert_eq!(data(&fixture, "g.E(9).count()"), json!([0]));
}
