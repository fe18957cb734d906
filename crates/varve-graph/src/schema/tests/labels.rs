//! Vertex and edge labels: creation, change, refusal.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

use varve_model::Datum;
use varve_model::schema::{EdgeLabelType, Frequency, IdStrategy, Retention};

use super::bench::*;
use crate::ErrorKind;
use crate::schema::*;

fn names(bench: &Bench, ids: &[varve_model::PropertyKeyId]) -> Vec<String> {
    let schema = bench.current();
    let names = schema.property_key_names(ids);
    names.into_iter().map(str::to_owned).collect()
}

#[test]
fn properties_are_kept_by_id_and_keys_as_given() {
    let bench = Bench::with_keys();
    let label = NewVertexLabel {
        properties: texts(&["weight", "age", "city"]),
        primary_keys: texts(&["weight", "age"]),
        nullable_keys: texts(&["city"]),
        ..NewVertexLabel::named("k")
    };
    let label = bench.create_vertex_label(label).expect("k");
    assert_eq!(names(&bench, &label.properties), ["age", "city", "weight"]);
    assert_eq!(names(&bench, &label.primary_keys), ["weight", "age"]);
    assert_eq!(label.id_strategy, IdStrategy::PrimaryKey);
    let plain = bench
        .create_vertex_label(NewVertexLabel::named("plain"))
        .expect("plain");
    assert_eq!(plain.id_strategy, IdStrategy::Automatic);
    assert!(plain.enable_label_index && plain.ttl == 0);
}

#[test]
fn vertex_labels_are_checked() {
    let bench = Bench::with_keys();
    let bad = |change: fn(&mut NewVertexLabel), message: &str| {
        let mut label = NewVertexLabel::named("bad");
        change(&mut label);
        invalid(bench.create_vertex_label(label), message);
    };
    bad(
        |label| label.properties = texts(&["none"]),
        "Undefined property key: 'none'",
    );
    bad(
        |label| {
            label.properties = texts(&["name"]);
            label.primary_keys = texts(&["age"]);
        },
        "The primary key 'age' of vertex label 'bad' must be contained in properties: [name]",
    );
    bad(
        |label| {
            label.id_strategy = Some(IdStrategy::Automatic);
            label.properties = texts(&["name"]);
            label.primary_keys = texts(&["name"]);
        },
        "Not allowed to assign primary keys when using 'AUTOMATIC' id strategy",
    );
    bad(
        |label| {
            label.id_strategy = Some(IdStrategy::PrimaryKey);
            label.properties = texts(&["name"]);
        },
        "Must assign some primary keys when using 'PRIMARY_KEY' id strategy",
    );
    bad(
        |label| label.primary_keys = texts(&["name"]),
        "The properties of vertex label 'bad' can't be empty when id strategy is 'PRIMARY_KEY'",
    );
    bad(
        |label| label.primary_keys = texts(&["name", "name"]),
        "Invalid primary keys [name, name], which contains some duplicate properties",
    );
    bad(
        |label| {
            label.properties = texts(&["name"]);
            label.primary_keys = texts(&["name"]);
            label.nullable_keys = texts(&["name"]);
        },
        "The nullableKeys: [name] are not allowed to belong to primaryKeys: [name] of vertex label 'bad'",
    );
    bad(
        |label| {
            label.properties = texts(&["name"]);
            label.nullable_keys = texts(&["age"]);
        },
        "The nullableKeys: [age] to be created or appended must belong to the origin/new properties: []/[name]",
    );
    bad(|label| label.ttl = -1, "The ttl must be >= 0, but got: -1");
    bad(
        |label| label.ttl_start_time = Some("date".to_owned()),
        "Only set ttlStartTime when ttl is positive,  but got ttl: 0",
    );
    bad(
        |label| {
            label.ttl = 1;
            label.ttl_start_time = Some("name".to_owned());
            label.properties = texts(&["name"]);
        },
        "The ttl start time property must be date type,but got 'name(TEXT)'",
    );
    bad(
        |label| {
            label.ttl = 1;
            label.ttl_start_time = Some("date".to_owned());
            label.properties = texts(&["name", "age"]);
        },
        "The ttl start time 'date' must be contained in properties '[name, age]' for vertex label 'bad'",
    );
    assert_eq!(bench.current().all_vertex_labels().count(), 0);
    let next = bench.create_vertex_label(NewVertexLabel::named("good"));
    assert_eq!(next.expect("good").id.0, 1, "refused ones took no id");
}

#[test]
fn existing_labels_compare_what_the_original_compares() {
    let bench = Bench::with_labels();
    let message = "The vertex label 'person' has existed";
    refused(
        bench.create_vertex_label(person()),
        ErrorKind::Existed,
        message,
    );
    let soft = NewVertexLabel {
        check_exist: false,
        ttl: 5,
        ..person()
    };
    assert_eq!(
        bench.create_vertex_label(soft.clone()).expect("same").id.0,
        1
    );
    let other = NewVertexLabel {
        properties: texts(&["name"]),
        nullable_keys: Vec::new(),
        ..soft
    };
    refused(
        bench.create_vertex_label(other),
        ErrorKind::Existed,
        message,
    );
    let message = "The edge label 'knows' has existed";
    refused(
        bench.create_edge_label(knows()),
        ErrorKind::Existed,
        message,
    );
    let soft = NewEdgeLabel {
        check_exist: false,
        ..knows()
    };
    assert_eq!(bench.create_edge_label(soft.clone()).expect("same").id.0, 1);
    let other = NewEdgeLabel {
        target: Some("software".to_owned()),
        ..soft
    };
    refused(bench.create_edge_label(other), ErrorKind::Existed, message);
}

#[test]
fn vertex_labels_grow_and_lose_user_data_only() {
    let bench = Bench::with_labels();
    let append = |label: LabelChange| VertexLabelChange {
        name: "person".to_owned(),
        label,
        ..VertexLabelChange::default()
    };
    let grown = append(LabelChange {
        properties: texts(&["weight"]),
        nullable_keys: texts(&["weight"]),
        user_data: data(&[("super", text("animal"))]),
        ..LabelChange::default()
    });
    let label = bench
        .change_vertex_label(Action::Append, grown.clone())
        .expect("grown");
    assert_eq!(
        names(&bench, &label.properties),
        ["name", "age", "city", "weight"]
    );
    assert_eq!(names(&bench, &label.nullable_keys), ["city", "weight"]);
    assert_eq!(member_names(&label.user_data), ["~create_time", "super"]);
    let again = bench
        .change_vertex_label(Action::Append, grown)
        .expect("again");
    assert_eq!(again, label);
    let unmarked = append(LabelChange {
        properties: texts(&["lang"]),
        ..LabelChange::default()
    });
    invalid(
        bench.change_vertex_label(Action::Append, unmarked),
        "The new added properties: [lang] must be nullable",
    );
    let reduced = append(LabelChange {
        user_data: data(&[("super", text("animal"))]),
        ..LabelChange::default()
    });
    let label = bench
        .change_vertex_label(Action::Eliminate, reduced)
        .expect("reduced");
    assert_eq!(member_names(&label.user_data), ["~create_time"]);
    for (change, message) in [
        (
            LabelChange {
                properties: texts(&["weight"]),
                ..LabelChange::default()
            },
            "Not support to eliminate properties for vertex label currently",
        ),
        (
            LabelChange {
                nullable_keys: texts(&["weight"]),
                ..LabelChange::default()
            },
            "Not support to eliminate nullableKeys for vertex label currently",
        ),
    ] {
        not_allowed(
            bench.change_vertex_label(Action::Eliminate, append(change)),
            message,
        );
    }
    let fixed = |change: fn(&mut VertexLabelChange), message| {
        let mut request = append(LabelChange::default());
        change(&mut request);
        not_allowed(bench.change_vertex_label(Action::Append, request), message);
    };
    fixed(
        |change| change.primary_keys = texts(&["age"]),
        "Not allowed to update primary keys for vertex label 'person'",
    );
    fixed(
        |change| change.id_strategy = Some(IdStrategy::Automatic),
        "Not allowed to update id strategy for vertex label 'person'",
    );
    fixed(
        |change| change.enable_label_index = Some(false),
        "Not allowed to update enable_label_index for vertex label 'person'",
    );
}

#[test]
fn a_time_to_live_is_really_appended_and_zero_means_not_given() {
    let bench = Bench::with_labels();
    let change = |action, ttl, start: Option<&str>| {
        let label = LabelChange {
            ttl,
            ttl_start_time: start.map(str::to_owned),
            properties: texts(if action == Action::Append {
                &["date"]
            } else {
                &[]
            }),
            nullable_keys: texts(if action == Action::Append {
                &["date"]
            } else {
                &[]
            }),
            ..LabelChange::default()
        };
        let change = VertexLabelChange {
            name: "person".to_owned(),
            label,
            ..VertexLabelChange::default()
        };
        bench.change_vertex_label(action, change)
    };
    let date = bench
        .current()
        .property_key_by_name("date")
        .map(|key| key.id);
    let label = change(Action::Append, 1000, Some("date")).expect("ttl");
    assert_eq!((label.ttl, label.ttl_start_time), (1000, date));
    let label = change(Action::Append, 0, None).expect("as clients send it");
    assert_eq!((label.ttl, label.ttl_start_time), (1000, date));
    let label = change(Action::Append, 2000, None).expect("longer");
    assert_eq!((label.ttl, label.ttl_start_time), (2000, date));
    invalid(
        change(Action::Append, -5, None),
        "The ttl must be >= 0, but got: -5",
    );
    invalid(
        change(Action::Append, 7, Some("name")),
        "The ttl start time property must be date type,but got 'name(TEXT)'",
    );
    let label = change(Action::Eliminate, 1, None).expect("no limit any more");
    assert_eq!((label.ttl, label.ttl_start_time), (0, None));
}

#[test]
fn an_edge_does_not_outlive_its_vertices() {
    let bench = Bench::with_labels();
    let mortal = NewVertexLabel {
        ttl: 1000,
        ..NewVertexLabel::named("mortal")
    };
    bench.create_vertex_label(mortal).expect("mortal");
    let edge = |name: &str, ttl| NewEdgeLabel {
        ttl,
        ..NewEdgeLabel::between(name, "mortal", "person")
    };
    bench.create_edge_label(edge("short", 1000)).expect("short");
    let free = NewEdgeLabel {
        ttl: 5000,
        ..NewEdgeLabel::between("free", "person", "person")
    };
    bench
        .create_edge_label(free)
        .expect("no limit on either side");
    invalid(
        bench.create_edge_label(edge("long", 1001)),
        "The ttl(1001) of edge label 'long' should less than ttl(1000) of source label 'mortal' and ttl(0) of target label 'person'",
    );
    let shorter = VertexLabelChange {
        name: "mortal".to_owned(),
        label: LabelChange {
            ttl: 999,
            ..LabelChange::default()
        },
        ..VertexLabelChange::default()
    };
    invalid(
        bench.change_vertex_label(Action::Append, shorter),
        "The ttl(1000) of edge label 'short' should less than ttl(999) of source label 'mortal' and ttl(0) of target label 'person'",
    );
    let ttl = bench
        .current()
        .vertex_label_by_name("mortal")
        .map(|l| l.ttl);
    assert_eq!(ttl, Some(1000));
}

#[test]
fn history_is_kept_by_label_and_set_in_user_data() {
    let bench = Bench::with_labels();
    let label = |name: &str, history: Option<&str>, user_data| NewVertexLabel {
        history: history.map(str::to_owned),
        user_data,
        ..NewVertexLabel::named(name)
    };
    let day = 86_400_000_000;
    let declared = data(&[("~history", text("30d"))]);
    let by_data = bench
        .create_vertex_label(label("a", None, declared.clone()))
        .expect("by user data");
    assert_eq!(by_data.retention, Retention::For(30 * day));
    let by_member = bench
        .create_vertex_label(label("b", Some("none"), Vec::new()))
        .expect("by member");
    assert_eq!(by_member.retention, Retention::None);
    assert_eq!(by_member.user_data.get("~history"), Some(&text("none")));
    let default = bench
        .create_vertex_label(label("c", Some("all"), Vec::new()))
        .expect("default");
    assert_eq!(default.user_data.get("~history"), None);
    invalid(
        bench.create_vertex_label(label("d", Some("12h"), declared)),
        "The history is given twice: '12h' and '30d'",
    );
    invalid(
        bench.create_vertex_label(label("d", Some("soon"), Vec::new())),
        "The history must be 'all', 'none' or a duration like '30d', '12h', '15m' or '90s', but got: 'soon'",
    );
    let change = |action, label| {
        let change = VertexLabelChange {
            name: "a".to_owned(),
            label,
            ..VertexLabelChange::default()
        };
        bench.change_vertex_label(action, change).expect("changed")
    };
    let changed = change(
        Action::Append,
        LabelChange {
            history: Some("1d".to_owned()),
            ..LabelChange::default()
        },
    );
    assert_eq!(changed.retention, Retention::For(day));
    assert_eq!(changed.user_data.get("~history"), Some(&text("1d")));
    let reset = change(
        Action::Eliminate,
        LabelChange {
            user_data: data(&[("~history", Datum::Null)]),
            ..LabelChange::default()
        },
    );
    assert_eq!(reset.retention, Retention::All);
    assert_eq!(reset.user_data.get("~history"), None);
}

#[test]
fn edge_labels_are_checked() {
    let bench = Bench::with_labels();
    let bad = |mut label: NewEdgeLabel, change: fn(&mut NewEdgeLabel), message: &str| {
        change(&mut label);
        invalid(bench.create_edge_label(label), message);
    };
    let named = || NewEdgeLabel::named("bad");
    let between = || NewEdgeLabel::between("bad", "person", "person");
    let no_links = "The links of standard and subtype edge label can't be empty";
    bad(named(), |_| {}, no_links);
    bad(
        named(),
        |label| label.source = Some("person".to_owned()),
        no_links,
    );
    bad(
        between(),
        |label| label.source = Some("none".to_owned()),
        "Undefined source vertex label 'none' in edge label 'bad'",
    );
    bad(
        between(),
        |label| label.target = Some("none".to_owned()),
        "Undefined target vertex label 'none' in edge label 'bad'",
    );
    bad(
        named(),
        |label| {
            label.links = vec![
                ("person".to_owned(), "person".to_owned()),
                ("person".to_owned(), "software".to_owned()),
            ];
        },
        "The links size of standard and subtype edge label must be 1",
    );
    bad(
        between(),
        |label| label.frequency = Some(Frequency::Multiple),
        "EdgeLabel must contain sortKeys when the cardinality property is multiple",
    );
    bad(
        between(),
        |label| {
            label.sort_keys = texts(&["date"]);
            label.properties = texts(&["date"]);
        },
        "EdgeLabel can't contain sortKeys when the cardinality property is single",
    );
    bad(
        between(),
        |label| {
            label.frequency = Some(Frequency::Multiple);
            label.sort_keys = texts(&["age"]);
            label.properties = texts(&["date"]);
        },
        "The sort key 'age' must be contained in properties '[date]' for edge label 'bad'",
    );
    bad(
        between(),
        |label| {
            label.frequency = Some(Frequency::Multiple);
            label.properties = texts(&["date"]);
            label.sort_keys = texts(&["date"]);
            label.nullable_keys = texts(&["date"]);
        },
        "The nullableKeys: [date] are not allowed to belong to sortKeys: [date] of edge label 'bad'",
    );
    bad(
        between(),
        |label| label.parent = Some("knows".to_owned()),
        "Only an edge label of type SUB has a parent, but edge label 'bad' of type NORMAL names 'knows'",
    );
    assert_eq!(bench.current().all_edge_labels().count(), 2);
}

#[test]
fn edge_labels_grow_only() {
    let bench = Bench::with_labels();
    let request = || EdgeLabelChange {
        name: "created".to_owned(),
        ..EdgeLabelChange::default()
    };
    let mut grown = request();
    grown.label.properties = texts(&["price"]);
    grown.label.nullable_keys = texts(&["price"]);
    let label = bench
        .change_edge_label(Action::Append, grown)
        .expect("grown");
    assert_eq!(
        names(&bench, &label.properties),
        ["city", "date", "price", "weight"]
    );
    assert_eq!(
        names(&bench, &label.nullable_keys),
        ["city", "price", "weight"]
    );
    let refuse = |action, change: fn(&mut EdgeLabelChange), message| {
        let mut refused = request();
        change(&mut refused);
        not_allowed(bench.change_edge_label(action, refused), message);
    };
    refuse(
        Action::Append,
        |change| change.source = Some("person".to_owned()),
        "Not allowed to update source label for edge label 'created', it must be null",
    );
    refuse(
        Action::Append,
        |change| change.target = Some("person".to_owned()),
        "Not allowed to update target label for edge label 'created', it must be null",
    );
    refuse(
        Action::Append,
        |change| change.links = vec![("person".to_owned(), "person".to_owned())],
        "Not allowed to update source/target label for edge label 'created', it must be null",
    );
    refuse(
        Action::Append,
        |change| change.frequency = Some(Frequency::Multiple),
        "Not allowed to update frequency for edge label 'created'",
    );
    refuse(
        Action::Append,
        |change| change.sort_keys = texts(&["date"]),
        "Not allowed to update sort keys for edge label 'created'",
    );
    refuse(
        Action::Append,
        |change| change.enable_label_index = Some(true),
        "Not allowed to update enable_label_index for edge label 'created'",
    );
    refuse(
        Action::Eliminate,
        |change| change.label.properties = texts(&["price"]),
        "Not support to eliminate properties for edge label currently",
    );
}

#[test]
fn sub_labels_share_a_parent_and_its_sort_keys() {
    let bench = Bench::with_labels();
    let parent = |name: &str| NewEdgeLabel {
        label_type: EdgeLabelType::Parent,
        ..NewEdgeLabel::named(name)
    };
    let sub = |name: &str, parent: &str, target: &str| NewEdgeLabel {
        label_type: EdgeLabelType::Sub,
        parent: Some(parent.to_owned()),
        ..NewEdgeLabel::between(name, "person", target)
    };
    let linked = NewEdgeLabel {
        label_type: EdgeLabelType::Parent,
        ..NewEdgeLabel::between("par", "person", "person")
    };
    invalid(
        bench.create_edge_label(linked),
        "The links of the parent edge label must be empty",
    );
    let par = bench.create_edge_label(parent("par")).expect("par");
    assert_eq!(par.link, None);
    let one = bench
        .create_edge_label(sub("sub1", "par", "software"))
        .expect("sub1");
    let two = bench
        .create_edge_label(sub("sub2", "par", "person"))
        .expect("sub2");
    assert_eq!((one.parent, two.parent), (Some(par.id), Some(par.id)));
    let subs: Vec<u32> = bench.current().sub_labels(par.id).map(|l| l.id.0).collect();
    assert_eq!(subs, [one.id.0, two.id.0]);
    refused(
        bench.create_edge_label(sub("sub3", "none", "software")),
        ErrorKind::NotFound,
        "Can't create subtype edge label 'sub3' since it's parent edge label doesn't exist",
    );
    invalid(
        bench.create_edge_label(sub("sub3", "knows", "software")),
        "Can't create subtype edge label 'sub3' since edge label 'knows' is of type NORMAL, not PARENT",
    );
    let sorted = NewEdgeLabel {
        frequency: Some(Frequency::Multiple),
        properties: texts(&["date"]),
        sort_keys: texts(&["date"]),
        ..sub("sub3", "par", "software")
    };
    invalid(
        bench.create_edge_label(sorted),
        "The sortKeys of each sub edgelabel need to be consistent. Currently, the sortKeys of already exist edgelabel are '[]', and the sortKeys of newly added sub edgelabel are '[date]'",
    );
}
