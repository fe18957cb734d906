//! The short way of inserts against the rules.

use super::*;

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

/// Whatever the short way takes, it takes as the rules do; one `Direct` for all, since it
/// remembers.
#[test]
fn the_short_way_takes_only_what_the_rules_take() {
    let fixture = fixture();
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode: GraphMode::default(),
        next_vertex_id: &next,
    };
    let mut direct = varve_graph::element::Direct::new(&fixture.schema);
    let (lists, long) = (property_lists(), "x".repeat(17_000));
    let ids = [
        None,
        Some(RawValue::Null),
        Some(text("i")),
        Some(text("")),
        Some(text(&long)),
        Some(int(5)),
        Some(texts(&["i"])),
    ];
    let mut taken = 0;
    for label in [
        "person", "book", "num", "uu", "auto", "multi", "all", "strict", "nope", "book",
    ] {
        for (id, list) in ids
            .iter()
            .flat_map(|id| lists.iter().map(move |list| (id, list)))
        {
            let input = vertex_input(label, id.clone(), list);
            let Some(Mutation::PutRow {
                id, content, fresh, ..
            }) = direct.vertex(&input)
            else {
                continue;
            };
            let new = rules.vertex(input).expect("the rules take it too");
            let mut expected = Vec::new();
            row::put_vertex_content(&new.vertex, &mut expected);
            assert_eq!(
                (id, content.bytes(), fresh),
                (
                    ElementId::Vertex(new.vertex.id),
                    expected.as_slice(),
                    new.fresh
                )
            );
            taken += 1;
        }
    }
    assert!(taken > 20, "{taken} vertices");
    taken = 0;
    let labels = [
        None,
        Some("person"),
        Some("software"),
        Some("uu"),
        Some("num"),
        Some("nope"),
    ];
    for (label, form_bits) in ["knows", "created", "par", "sub1", "ids", "nope", "created"]
        .iter()
        .flat_map(|label| (0..4).map(move |bits| (label, bits)))
    {
        let form = EdgeForm {
            labels_required: form_bits & 1 == 1,
            ends_checked: form_bits & 2 == 2,
        };
        for (source, target) in labels
            .iter()
            .flat_map(|source| labels.iter().map(move |target| (source, target)))
        {
            for (at, list) in lists.iter().enumerate() {
                let mut input = EdgeInput {
                    label: Some(Cow::Borrowed(label)),
                    source_label: source.map(Cow::Borrowed),
                    target_label: target.map(Cow::Borrowed),
                    properties: Some(pairs(list)),
                    ..EdgeInput::default()
                };
                (input.source, input.target) = (
                    ids[at % ids.len()].clone(),
                    ids[(at + 3) % ids.len()].clone(),
                );
                if at < 9 {
                    (input.source, input.target) = (Some(text("1:a")), Some(int(3)));
                }
                let Some(Mutation::PutRow {
                    id, content, ends, ..
                }) = direct.edge(&input, form)
                else {
                    continue;
                };
                let new = rules.edge(input, form).expect("the rules take it too");
                let expected_ends = if form.ends_checked {
                    EndCheck::Exist {
                        labels_given: new.labels_given,
                    }
                } else {
                    EndCheck::Skip
                };
                let mut expected = Vec::new();
                row::put_edge_content(&new.edge, &mut expected);
                assert_eq!(
                    (id, content.bytes(), ends),
                    (
                        ElementId::Edge(new.edge.id),
                        expected.as_slice(),
                        expected_ends
                    )
                );
                taken += 1;
            }
        }
    }
    assert!(taken > 20, "{taken} edges");
}
