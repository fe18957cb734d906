//! Edges, their ids, and the check of their ends.

use super::*;

#[test]
fn edges_that_are_refused() {
    let fixture = fixture();
    let none = (None, None);
    let people = ("1:marko", "1:josh");
    let both = (Some("person"), Some("person"));
    let date = || ("date", text("2020-05-06"));
    let cases = vec![
        (
            edge_input("knows", people, (Some("person"), None), &[date()]),
            SINGLE,
            "The both source and target vertex label are either passed in, or not passed in",
        ),
        (
            edge_input("knows", people, none, &[]),
            SINGLE,
            "The sort key(s) must be set for the edge with label: 'knows'",
        ),
        (
            edge_input("nope", people, none, &[]),
            SINGLE,
            "Undefined edge label: 'nope'",
        ),
        (
            EdgeInput {
                label: None,
                ..edge_input("", people, none, &[])
            },
            SINGLE,
            "Expect the label of edge",
        ),
        (
            EdgeInput {
                source: None,
                ..edge_input("knows", people, none, &[])
            },
            SINGLE,
            "Expect source vertex id",
        ),
        (
            EdgeInput {
                target: None,
                ..edge_input("knows", people, none, &[])
            },
            SINGLE,
            "Expect target vertex id",
        ),
        (
            EdgeInput {
                properties: None,
                ..edge_input("knows", people, none, &[])
            },
            SINGLE,
            "The properties of edge can't be null",
        ),
        (
            edge_input(
                "created",
                ("1:marko", "2:lop"),
                none,
                &[("weight", RawValue::Double(0.4))],
            ),
            SINGLE,
            "All non-null property keys: [date] of edge label 'created' must be set, but missed keys: [date]",
        ),
        (
            edge_input("knows", people, none, &[date()]),
            BATCH,
            "Expect source vertex label",
        ),
        (
            edge_input("knows", people, (Some("person"), None), &[date()]),
            BATCH,
            "Expect target vertex label",
        ),
        (
            edge_input("knows", people, (Some("nope"), Some("person")), &[date()]),
            UNCHECKED,
            "Invalid vertex label 'nope'",
        ),
        (
            edge_input(
                "knows",
                people,
                (Some("person"), Some("software")),
                &[date()],
            ),
            UNCHECKED,
            "Undefined link of edge label 'knows': 'person' -> 'software'",
        ),
        (
            edge_input("knows", people, both, &[date(), ("price", int(1))]),
            BATCH,
            "Invalid property 'price' for edge label 'knows(id=1)'",
        ),
    ];
    for (input, form, message) in cases {
        let error = fixture.edge(input, form).expect_err(message);
        assert_eq!(error.message, message);
    }
}

#[test]
fn edge_ids_that_are_made() {
    let fixture = fixture();
    let none = (None, None);
    let knows = edge_input(
        "knows",
        ("1:marko", "1:josh"),
        none,
        &[("date", text("2013-02-20"))],
    );
    let sub = edge_input("sub1", ("1:marko", "b>3"), none, &[]);
    let uuid = EdgeInput {
        target: Some(int(-5)),
        ..edge_input("ids", ("835e1153928149578691cf79258e90eb", ""), none, &[])
    };
    for (input, id) in [
        (knows, "S1:marko>1>1>7Jopua00>S1:josh"),
        (sub, "S1:marko>3>4>>Sb`>3"),
        (uuid, "U835e1153-9281-4957-8691-cf79258e90eb>5>5>>L-5"),
    ] {
        assert_eq!(fixture.edge(input, SINGLE).expect(id).to_string(), id);
    }
}

#[test]
fn ends_are_checked_where_the_edge_is_stored() {
    let fixture = fixture();
    for name in ["marko", "josh"] {
        fixture.put(vertex_input(
            "person",
            None,
            &[("name", text(name)), ("age", int(1))],
        ));
    }
    fixture.put(vertex_input(
        "software",
        None,
        &[("name", text("lop")), ("lang", text("java"))],
    ));
    let put = |input: EdgeInput<'_>| {
        let next = || 77;
        let rules = Rules {
            schema: &fixture.schema,
            mode: GraphMode::None,
            next_vertex_id: &next,
            next_edge_number: &next,
        };
        let new = rules.edge(input, SINGLE)?;
        let ends = EndCheck::Exist {
            labels_given: new.labels_given,
        };
        fixture.store(Mutation::PutEdge {
            edge: new.edge,
            ends,
        })
    };
    let none = (None, None);
    let date = || ("date", text("2020-05-06"));
    for (input, message) in [
        (
            edge_input("knows", ("1:none", "1:josh"), none, &[date()]),
            "Invalid vertex id '1:none'",
        ),
        (
            edge_input(
                "knows",
                ("1:marko", "1:josh"),
                (Some("software"), Some("person")),
                &[date()],
            ),
            "The label of vertex '1:marko' is unmatched, users expect label 'software', actual label stored is 'person'",
        ),
        (
            edge_input("knows", ("1:marko", "2:lop"), none, &[date()]),
            "Undefined link of edge label 'knows': 'person' -> 'software'",
        ),
        (
            edge_input("par", ("1:marko", "1:josh"), none, &[]),
            "Undefined link of edge label 'par': 'person' -> 'person'",
        ),
    ] {
        assert_eq!(put(input).expect_err(message).message, message);
    }
    put(edge_input("par", ("1:marko", "2:lop"), none, &[])).expect("a link of its SUB label");
    let id = EdgeId::parse("S1:marko>3>3>>S2:lop").expect("id");
    let edge = fixture
        .graph
        .edge(&id, TemporalScope::NOW)
        .expect("read")
        .expect("there");
    assert_eq!(
        fixture.schema.vertex_label_name(edge.target_label),
        "software"
    );
}
