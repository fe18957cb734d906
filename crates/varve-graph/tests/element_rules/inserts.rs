//! Rows of inserts against the elements that the rules make: the same content, the same errors.

use super::*;
use varve_graph::element::Inserts;

/// Property lists of which some suit some labels.
fn property_lists<'a>() -> Vec<Vec<(&'a str, RawValue<'a>)>> {
    let double = RawValue::Double;
    let values = [
        text("x"),
        text("2020-01-02"),
        text("2020-01-32"),
        text(""),
        int(1),
        int(-200),
        int(i64::MAX),
        double(1.5),
        RawValue::Boolean(true),
        RawValue::Null,
        texts(&["a"]),
    ];
    let names = [
        "name", "age", "city", "date", "weight", "hobby", "tags", "u", "blob", "flag", "b", "l",
        "f", "obj", "cnt", "def", "price", "nope",
    ];
    let mut lists = vec![
        vec![],
        vec![("name", text("n")), ("age", int(2))],
        vec![("age", int(2)), ("name", text("n"))],
        vec![("name", text("n")), ("price", int(2))],
        vec![("price", int(2)), ("name", text("n"))],
        vec![("name", text("n")), ("name", text("m"))],
        vec![
            ("weight", double(0.5)),
            ("date", text("2020-02-29")),
            ("city", text("c")),
        ],
        vec![
            ("def", text("d")),
            ("age", int(3)),
            ("flag", RawValue::Boolean(false)),
        ],
        vec![
            ("f", double(0.1)),
            ("l", int(-5)),
            ("b", int(7)),
            ("date", int(0)),
        ],
    ];
    for name in names {
        lists.extend(values.iter().map(|value| vec![(name, value.clone())]));
    }
    lists
}

/// What [`Inserts`] made of an element: as what it is written, or the error.
fn written(
    made: Result<Mutation, GraphError>,
) -> Result<(ElementId, Vec<u8>, bool, EndCheck), String> {
    match made.map_err(|error| error.message)? {
        Mutation::PutRow {
            id,
            content,
            fresh,
            ends,
        } => Ok((id, content.bytes().to_vec(), fresh, ends)),
        Mutation::PutVertex { vertex, fresh } => {
            let mut content = Vec::new();
            row::put_vertex_content(&vertex, &mut content);
            Ok((ElementId::Vertex(vertex.id), content, fresh, EndCheck::Skip))
        }
        Mutation::PutEdge { edge, ends } => {
            let mut content = Vec::new();
            row::put_edge_content(&edge, &mut content);
            Ok((ElementId::Edge(edge.id), content, false, ends))
        }
        _ => panic!("an element is written as a whole"),
    }
}

/// Ids as they are sent.
fn ids(long: &str) -> Vec<Option<RawValue<'_>>> {
    let uuid = "835e1153-9281-4957-8691-cf79258e90eb";
    vec![
        None,
        Some(RawValue::Null),
        Some(text("i")),
        Some(text("")),
        Some(text(uuid)),
        Some(text(long)),
        Some(int(5)),
        Some(texts(&["i"])),
    ]
}

#[test]
fn rows_of_vertices_are_what_the_rules_make() {
    let fixture = fixture();
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode: GraphMode::default(),
        next_vertex_id: &next,
    };
    let mut inserts = Inserts::new(&rules, &fixture.schema);
    let long = "x".repeat(17_000);
    let (mut taken, mut refused) = (0, 0);
    for label in [
        "person", "book", "num", "uu", "auto", "multi", "all", "strict", "nope", "book",
    ] {
        for (id, list) in ids(&long)
            .iter()
            .flat_map(|id| property_lists().into_iter().map(move |list| (id, list)))
        {
            let input = vertex_input(label, id.clone(), &list);
            let expected = rules.vertex(input.clone()).map_err(|error| error.message);
            let expected = expected.map(|new| {
                let mut content = Vec::new();
                row::put_vertex_content(&new.vertex, &mut content);
                let id = ElementId::Vertex(new.vertex.id);
                (id, content, new.fresh, EndCheck::Skip)
            });
            let made = written(inserts.vertex(&mut input.clone()));
            assert_eq!(made, expected, "{input:?}");
            *if made.is_ok() {
                &mut taken
            } else {
                &mut refused
            } += 1;
        }
    }
    assert!(
        taken > 100 && refused > 100,
        "{taken} vertices, {refused} errors"
    );
}

#[test]
fn rows_of_edges_are_what_the_rules_make() {
    let fixture = fixture();
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode: GraphMode::default(),
        next_vertex_id: &next,
    };
    let mut inserts = Inserts::new(&rules, &fixture.schema);
    let (lists, long) = (property_lists(), "x".repeat(17_000));
    let ids = ids(&long);
    let (mut taken, mut refused) = (0, 0);
    let ends = ["", "person", "software", "uu", "num", "nope"];
    let ends = ends.map(|name| (!name.is_empty()).then_some(name));
    let labels = ["knows", "created", "par", "sub1", "ids", "nope", "created"];
    let forms = (0..4).map(|bits| EdgeForm {
        labels_required: bits & 1 == 1,
        ends_checked: bits & 2 == 2,
    });
    for (label, form) in labels
        .iter()
        .flat_map(|label| forms.clone().map(move |form| (label, form)))
    {
        for (source, target) in ends
            .iter()
            .flat_map(|source| ends.iter().map(move |target| (source, target)))
        {
            for (at, list) in lists.iter().enumerate() {
                let mut input = EdgeInput {
                    label: Some(Cow::Borrowed(label)),
                    source_label: source.map(Cow::Borrowed),
                    target_label: target.map(Cow::Borrowed),
                    properties: Some(pairs(list)),
                    ..EdgeInput::default()
                };
                (input.source, input.target) = match at < 9 {
                    true => (Some(text("1:a")), Some(int(3))),
                    false => {
                        let id = |place: usize| ids[place % ids.len()].clone();
                        (id(at), id(at + 3))
                    }
                };
                let expected = rules
                    .edge(input.clone(), form)
                    .map_err(|error| error.message);
                let expected = expected.map(|new| {
                    let mut content = Vec::new();
                    row::put_edge_content(&new.edge, &mut content);
                    let labels_given = new.labels_given;
                    let ends = match form.ends_checked {
                        true => EndCheck::Exist { labels_given },
                        false => EndCheck::Skip,
                    };
                    (ElementId::Edge(new.edge.id), content, false, ends)
                });
                let made = written(inserts.edge(&mut input.clone(), form));
                assert_eq!(made, expected, "{input:?}");
                *if made.is_ok() {
                    &mut taken
                } else {
                    &mut refused
                } += 1;
            }
        }
    }
    assert!(
        taken > 100 && refused > 100,
        "{taken} edges, {refused} errors"
    );
}
