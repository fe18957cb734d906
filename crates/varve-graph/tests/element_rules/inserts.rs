//! Rows of inserts against the elements that the rules make: the same content, the same errors.

use std::collections::BTreeMap;

use super::*;
use varve_graph::element::Inserts;

/// Property lists of which some suit some labels. `long` is a text that is too long for an id.
fn property_lists(long: &str) -> Vec<Vec<(&str, RawValue<'_>)>> {
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
    // Ids of one and of several primary keys.
    for name in ["m!n", "a:b", "a`b>c", "", long] {
        lists.push(vec![("name", text(name)), ("age", int(2))]);
        for date in [text("2020-02-29"), int(1_582_934_400_123)] {
            let (date, age, name) = (("date", date), ("age", int(-5)), ("name", text(name)));
            lists.push(vec![date.clone(), age.clone(), name.clone()]);
            lists.push(vec![name, date, age]);
        }
    }
    lists
}

/// An element as it is written: id, content, whether the id is fresh, the check of the ends.
type Written = (ElementId, Vec<u8>, bool, EndCheck);

/// What [`Inserts`] made of an element, and whether it took the fast path.
fn written(made: Result<Mutation, GraphError>) -> (Result<Written, String>, bool) {
    let is_row = matches!(made, Ok(Mutation::PutRow { .. }));
    let made = made.map_err(|error| error.message);
    let made = made.map(|mutation| match mutation {
        Mutation::PutRow {
            id,
            content,
            fresh,
            ends,
        } => (id, content.bytes().to_vec(), fresh, ends),
        Mutation::PutVertex { vertex, fresh } => {
            let mut content = Vec::new();
            row::put_vertex_content(&vertex, &mut content);
            (ElementId::Vertex(vertex.id), content, fresh, EndCheck::Skip)
        }
        Mutation::PutEdge { edge, ends } => {
            let mut content = Vec::new();
            row::put_edge_content(&edge, &mut content);
            (ElementId::Edge(edge.id), content, false, ends)
        }
        _ => panic!("an element is written as a whole"),
    });
    (made, is_row)
}

/// Modes of a schema and of its graph. In the last, values come with their types.
const MODES: [(SchemaMode, GraphMode); 4] = [
    (SchemaMode::Declared, GraphMode::None),
    (SchemaMode::Declared, GraphMode::Restoring),
    (SchemaMode::Open, GraphMode::None),
    (SchemaMode::Open, GraphMode::Restoring),
];

/// How many elements of a label were written, went by the fast path, were refused.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    taken: usize,
    rows: usize,
    refused: usize,
}

impl Counts {
    fn count(&mut self, is_taken: bool, is_row: bool) {
        self.taken += usize::from(is_taken);
        self.refused += usize::from(!is_taken);
        self.rows += usize::from(is_row);
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
        Some(int(0)),
        Some(int(-7)),
        Some(int(i64::MIN)),
        Some(int(i64::MAX)),
        Some(texts(&["i"])),
    ]
}

#[test]
fn rows_of_vertices_are_what_the_rules_make() {
    for (schema_mode, mode) in MODES {
        let of = rows_of_vertices(schema_mode, mode);
        let all = of.values();
        let taken: usize = all.clone().map(|it| it.taken).sum();
        let refused: usize = all.clone().map(|it| it.refused).sum();
        assert!(taken > 100 && refused > 100, "{mode:?}: {of:?}");
        if (schema_mode, mode) == (SchemaMode::Open, GraphMode::Restoring) {
            assert!(all.into_iter().all(|it| it.rows == 0), "{of:?}");
            continue;
        }
        let at_least = [("book", 20), ("num", 20), ("person", 3), ("multi", 10)];
        for (label, rows) in at_least {
            assert!(of[label].rows > rows, "{schema_mode:?} {mode:?}: {of:?}");
        }
    }
}

fn rows_of_vertices(schema_mode: SchemaMode, mode: GraphMode) -> BTreeMap<&'static str, Counts> {
    let fixture = fixture_of(schema_mode);
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode,
        next_vertex_id: &next,
        next_edge_number: &next,
    };
    let mut inserts = Inserts::new(&rules, &fixture.schema);
    let long = "x".repeat(17_000);
    let mut counts = BTreeMap::<_, Counts>::new();
    for label in [
        "person", "book", "num", "uu", "auto", "multi", "all", "strict", "nope", "book",
    ] {
        for (id, list) in ids(&long).iter().flat_map(|id| {
            property_lists(&long)
                .into_iter()
                .map(move |list| (id, list))
        }) {
            let input = vertex_input(label, id.clone(), &list);
            let expected = rules.vertex(input.clone()).map_err(|error| error.message);
            let expected = expected.map(|new| {
                let mut content = Vec::new();
                row::put_vertex_content(&new.vertex, &mut content);
                let id = ElementId::Vertex(new.vertex.id);
                (id, content, new.fresh, EndCheck::Skip)
            });
            let (made, is_row) = written(inserts.vertex(&mut input.clone()));
            assert_eq!(made, expected, "{schema_mode:?} {mode:?} {input:?}");
            counts.entry(label).or_default().count(made.is_ok(), is_row);
        }
    }
    counts
}

#[test]
fn rows_of_edges_are_what_the_rules_make() {
    for (schema_mode, mode) in MODES {
        let counts = rows_of_edges(schema_mode, mode);
        assert!(
            counts.taken > 100 && counts.refused > 100,
            "{schema_mode:?} {mode:?}: {counts:?}"
        );
        let takes_types = (schema_mode, mode) == (SchemaMode::Open, GraphMode::Restoring);
        assert!(
            takes_types == (counts.rows == 0) && (takes_types || counts.rows > 20),
            "{schema_mode:?} {mode:?}: {counts:?}"
        );
    }
}

fn rows_of_edges(schema_mode: SchemaMode, mode: GraphMode) -> Counts {
    let fixture = fixture_of(schema_mode);
    let next = || 77;
    let rules = Rules {
        schema: &fixture.schema,
        mode,
        next_vertex_id: &next,
        next_edge_number: &next,
    };
    let mut inserts = Inserts::new(&rules, &fixture.schema);
    let long = "x".repeat(17_000);
    let (lists, ids) = (property_lists(&long), ids(&long));
    let mut counts = Counts::default();
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
                let (made, is_row) = written(inserts.edge(&mut input.clone(), form));
                assert_eq!(made, expected, "{schema_mode:?} {mode:?} {input:?}");
                counts.count(made.is_ok(), is_row);
            }
        }
    }
    counts
}
