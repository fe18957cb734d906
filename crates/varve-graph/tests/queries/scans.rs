//! Scans of the graph view: which index serves which question, in which order, and at what cost.

use std::collections::BTreeSet;

use varve_graph::schema::{BaseType, NewVertexLabel};
use varve_graph::write::Mutation;
use varve_model::schema::IndexType;
use varve_model::{Condition, Predicate, TemporalScope, Value, Vertex, VertexId};
use varve_view::{
    CancelToken, Elements, Flow, GraphView, Meter, MeterLimits, ScanAsk, ScanOrder, ScannedElement,
    ViewError,
};

use crate::world::{AGE, CITY, KNOWS, NAME, PERSON, World, as_of, text};

const ALL: ScanAsk<'_> = ScanAsk {
    elements: Elements::Vertices(&[]),
    conditions: &[],
    order: None,
    properties: &[NAME],
};

fn by_age(descending: bool) -> Option<ScanOrder> {
    let key = AGE;
    Some(ScanOrder { key, descending })
}

/// The names of the people that a scan shows, in pieces.
fn names(
    world: &World,
    scope: TemporalScope,
    ask: &ScanAsk<'_>,
    demand: usize,
) -> Result<Vec<String>, ViewError> {
    let view = world.graph.view(scope).expect("view");
    let (mut names, mut from) = (Vec::new(), None);
    loop {
        let mut take = |found: &ScannedElement<'_>| {
            let ScannedElement::Vertex { vertex, .. } = found else {
                panic!("a vertex was asked for");
            };
            let Some(Value::Text(name)) = vertex.properties.get(NAME) else {
                panic!("a person has a name");
            };
            names.push(name.clone());
            Flow::Continue(())
        };
        from = view.scan(ask, from.as_ref(), demand, &Meter::unlimited(), &mut take)?;
        if from.is_none() {
            return Ok(names);
        }
    }
}

fn estimate(world: &World, ask: &ScanAsk<'_>, most: u64) -> Option<u64> {
    let view = world.graph.view(TemporalScope::NOW).expect("view");
    let counted = view.estimate(ask, most, &Meter::unlimited());
    counted.expect("an estimate")
}

fn people() -> World {
    let world = World::new();
    for (name, age, city) in [
        ("a", 30, "x"),
        ("b", 10, "y"),
        ("c", 20, "x"),
        ("d", 40, "y"),
        ("e", 50, "x"),
    ] {
        world.put(name, age, city);
    }
    world
}

#[test]
fn a_range_index_has_both_orders_and_other_conditions_are_checked() {
    let world = people();
    world.person_index(IndexType::Range, "age");
    let before = world.put("a", 30, "x");
    world.put("a", 60, "x");
    world.delete("e");
    let (in_x, over) = (
        Condition {
            key: CITY,
            predicate: Predicate::Eq(text("x")),
        },
        Condition {
            key: AGE,
            predicate: Predicate::Gt(Value::Int(15)),
        },
    );
    for demand in [1, 2, 100] {
        let ask = |order, conditions| ScanAsk {
            order,
            conditions,
            ..ALL
        };
        let show = |scope, ask: &ScanAsk<'_>| names(&world, scope, ask, demand).expect("served");
        let (now, then) = (TemporalScope::NOW, as_of(before));
        assert_eq!(show(now, &ask(by_age(false), &[])), ["b", "c", "d", "a"]);
        assert_eq!(show(now, &ask(by_age(true), &[])), ["a", "d", "c", "b"]);
        assert_eq!(
            show(then, &ask(by_age(false), &[])),
            ["b", "c", "a", "d", "e"]
        );
        assert_eq!(
            show(then, &ask(by_age(true), &[])),
            ["e", "d", "a", "c", "b"]
        );
        let both = [in_x.clone(), over.clone()];
        assert_eq!(show(now, &ask(by_age(true), &both)), ["a", "c"]);
        assert_eq!(show(then, &ask(by_age(true), &both)), ["e", "a", "c"]);
        assert_eq!(show(now, &ask(None, &both)), ["c", "a"]);
    }
}

#[test]
fn an_index_over_several_properties_has_the_order_of_the_one_after_those_that_are_given() {
    let world = people();
    let person = (BaseType::VertexLabel, "person");
    world.index(
        "by_city_and_age",
        person,
        IndexType::Secondary,
        &["city", "age"],
    );
    let in_x = [Condition {
        key: CITY,
        predicate: Predicate::Eq(text("x")),
    }];
    let ask = |descending| ScanAsk {
        conditions: &in_x,
        order: by_age(descending),
        ..ALL
    };
    let show = |ask: &ScanAsk<'_>| names(&world, TemporalScope::NOW, ask, 2);
    assert_eq!(show(&ask(false)).expect("served"), ["c", "a", "e"]);
    assert_eq!(show(&ask(true)).expect("served"), ["e", "a", "c"]);
    let without_city = ScanAsk {
        conditions: &[],
        ..ask(true)
    };
    assert!(matches!(show(&without_city), Err(ViewError::NoIndex(_))));
}

#[test]
fn what_no_index_serves_is_refused_and_has_no_estimate() {
    let world = people();
    let in_x = [Condition {
        key: CITY,
        predicate: Predicate::Eq(text("x")),
    }];
    let people_in_x = ScanAsk {
        conditions: &in_x,
        ..ALL
    };
    let refused = names(&world, TemporalScope::NOW, &people_in_x, 1);
    assert!(matches!(refused, Err(ViewError::NoIndex(_))));
    assert_eq!(estimate(&world, &people_in_x, 100), None);
    // A label without elements refuses nothing.
    let edges = ScanAsk {
        elements: Elements::Edges(&[KNOWS]),
        ..people_in_x
    };
    assert_eq!(estimate(&world, &edges, 100), Some(0));
    world.person_index(IndexType::Secondary, "city");
    assert_eq!(estimate(&world, &people_in_x, 100), Some(3));
    assert_eq!(estimate(&world, &people_in_x, 2), Some(2));
    let found = names(&world, TemporalScope::NOW, &people_in_x, 2).expect("served");
    assert_eq!(found, ["a", "c", "e"]);
}

#[test]
fn a_scan_is_charged_for_what_it_does_not_show() {
    let world = World::new();
    for number in 0..200 {
        let (name, next) = (format!("p{number}"), format!("p{}", number + 1));
        world.put(&name, number, "x");
        world.edge(&name, &next, number);
    }
    let full = world.put("q", 1, "x");
    for number in 0..200 {
        world.delete(&format!("p{number}"));
    }
    let limits = MeterLimits {
        rows_max: 50,
        ..MeterLimits::NONE
    };
    for elements in [
        Elements::Vertices(&[]),
        Elements::Vertices(&[PERSON]),
        Elements::Edges(&[]),
        Elements::Edges(&[KNOWS]),
    ] {
        let ask = ScanAsk { elements, ..ALL };
        for scope in [as_of(full), as_of(world.put("r", 1, "x"))] {
            let view = world.graph.view(scope).expect("view");
            let meter = Meter::new(limits, CancelToken::default());
            let ended = view.scan(&ask, None, 1_000, &meter, &mut |_| Flow::Continue(()));
            assert!(
                matches!(ended, Err(ViewError::Rows { max: 50 })),
                "{elements:?} {ended:?}"
            );
        }
        let most = 10;
        let meter = Meter::unlimited();
        let view = world.graph.view(as_of(full)).expect("view");
        let counted = view.estimate(&ask, most, &meter).expect("an estimate");
        assert_eq!(counted, Some(most));
    }
}

#[test]
fn a_place_of_another_scan_is_refused() {
    let world = people();
    let view = world.graph.view(TemporalScope::NOW).expect("view");
    let mut go_on = |_: &ScannedElement<'_>| Flow::Continue(());
    let place = view
        .scan(&ALL, None, 1, &Meter::unlimited(), &mut go_on)
        .expect("served");
    let other = ScanAsk {
        elements: Elements::Vertices(&[PERSON]),
        ..ALL
    };
    let refused = view.scan(&other, place.as_ref(), 1, &Meter::unlimited(), &mut go_on);
    assert!(matches!(refused, Err(ViewError::Store(_))), "{refused:?}");
}

#[test]
fn the_only_label_with_vertices_is_read_without_its_index_where_much_is_asked_for() {
    const PEOPLE: u64 = 1_500;
    let world = World::new();
    let place = NewVertexLabel {
        properties: vec!["name".into()],
        primary_keys: vec!["name".into()],
        ..NewVertexLabel::named("place")
    };
    let place = world.graph.catalogue().create_vertex_label(place);
    let place = place.expect("a label").id;
    for number in 0..PEOPLE {
        world.put(&format!("p{number}"), 1, "x");
    }
    let ask = ScanAsk {
        elements: Elements::Vertices(&[PERSON]),
        ..ALL
    };
    // The names of the people, the rows that were looked at, and the demand of each piece after the
    // first.
    let scan = |first: usize, next: usize| {
        let view = world.graph.view(TemporalScope::NOW).expect("view");
        let (mut found, mut from, meter) = (BTreeSet::new(), None, Meter::unlimited());
        let mut demand = first;
        loop {
            let mut take = |seen: &ScannedElement<'_>| {
                let ScannedElement::Vertex { key, vertex } = seen else {
                    panic!("a vertex was asked for");
                };
                assert_eq!(vertex.label, PERSON);
                assert!(found.insert(key.to_vec()), "each vertex comes once");
                Flow::Continue(())
            };
            let scanned = view.scan(&ask, from.as_ref(), demand, &meter, &mut take);
            from = scanned.expect("served");
            demand = next;
            if from.is_none() {
                return (found.len() as u64, meter.rows());
            }
        }
    };
    for next in [100, 1_024, 4_000] {
        let (found, rows) = scan(1_024, next);
        assert_eq!(found, PEOPLE);
        assert!(rows < PEOPLE + 10, "{rows} rows");
        assert_eq!(scan(next.min(1_000), next).0, PEOPLE);
    }
    // Beside a few of another label, too; the index is for a label among as many others.
    let add = |n: u64| {
        let vertex = Vertex {
            id: VertexId::Text(format!("2:q{n}").into()),
            label: place,
            properties: [(NAME, text("q"))].into_iter().collect(),
        };
        let fresh = false;
        world.write(Mutation::PutVertex { vertex, fresh }, None, None);
    };
    add(0);
    let (found, rows) = scan(1_024, 1_024);
    assert_eq!(found, PEOPLE);
    assert!(rows < PEOPLE + 10, "{rows} rows");
    (1..PEOPLE).for_each(add);
    let (found, rows) = scan(1_024, 1_024);
    assert_eq!(found, PEOPLE);
    assert!(rows > PEOPLE + 10, "{rows} rows");
}
