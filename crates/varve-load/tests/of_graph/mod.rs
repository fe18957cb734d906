//! Drafts for files of labels that the graph has.

use super::data::Set;
use super::*;

const KEYS: &str = r#"[{"name": "name"}, {"name": "age", "data_type": "INT"},
    {"name": "first"}, {"name": "last"}, {"name": "firm_id", "data_type": "INT"}]"#;

/// Drafts a mapping for these files, with these labels in the graph, whose schema comes with it.
fn inferred_with(
    (vertices, edges): (&Json, &Json),
    files: &[(&'static str, &str)],
    folder: &Path,
) -> (Inferred, Catalogue) {
    let keys: Json = serde_json::from_str(KEYS).expect("JSON");
    let schema = serde_json::json!({
        "propertykeys": keys, "vertexlabels": vertices, "edgelabels": edges,
    });
    let catalogue = Catalogue::deserialize(&schema).expect("a schema");
    let files = files.iter();
    let files = files.map(|(name, text)| (*name, text.as_bytes().to_vec()));
    let set = Set {
        files: files.collect(),
    };
    let sources = set.write(folder);
    let sources = sources
        .iter()
        .map(|file| source_of(file).expect("a source"));
    let sources: Vec<Source> = sources.collect();
    let drafted = infer(&sources, &catalogue, &|| Ok(())).expect("drafted");
    (drafted, catalogue)
}

/// [`inferred_with`] of files whose rows fit the labels.
fn drafted_with(vertices: &Json, edges: &Json, files: &[(&'static str, &str)]) -> Inferred {
    let folder = tempfile::tempdir().expect("a folder");
    let (drafted, mut catalogue) = inferred_with((vertices, edges), files, folder.path());
    let mapping = parsed(&drafted);
    if let Some(schema) = &mapping.schema {
        catalogue.add(Catalogue::deserialize(schema).expect("a schema"));
    }
    let vertices = mapping.vertices.iter().map(|it| (BatchKind::Vertices, it));
    let edges = mapping.edges.iter().map(|it| (BatchKind::Edges, it));
    for (kind, source) in vertices.chain(edges) {
        let columns = check_columns(source, kind).expect("columns");
        let checked = check_schema(source, &columns, kind, &catalogue);
        checked.unwrap_or_else(|error| panic!("{error}\n{}", drafted.mapping));
        let mut owners = Owners::new([].into_iter(), &catalogue);
        let mut converter = Converter::new(kind);
        for row in source.rows().expect("rows") {
            let fields = row.expect("a row").fields.expect("fields");
            let element = converter.element(fields, source, &catalogue, &mut owners);
            element.unwrap_or_else(|error| panic!("{error}\n{}", drafted.mapping));
        }
    }
    drafted
}

fn parsed(drafted: &Inferred) -> Mapping {
    let mapping = Mapping::parse(&drafted.mapping, "mapping.toml", &mut |file| {
        Ok(vec![file.to_path_buf()])
    });
    mapping.unwrap_or_else(|error| panic!("{error}\n{}", drafted.mapping))
}

fn has_note(drafted: &Inferred, part: &str) -> bool {
    let mut notes = drafted.unsure.iter();
    notes.any(|note| note.text.contains(part))
}

/// A label of people with ids of the writer's choice.
fn people(name: &str, properties: &[&str]) -> Json {
    serde_json::json!({"name": name, "id": 1, "id_strategy": "CUSTOMIZE_STRING",
        "properties": properties, "nullable_keys": properties})
}

#[test]
fn a_second_delivery_without_times_leaves_the_past_as_it_is() {
    let labels = serde_json::json!([people("people", &["name", "age"])]);
    let files = [
        ("people.csv", "person_id,name,age\np1,Ann,32\np2,Bob,40\n"),
        (
            "knows.csv",
            "source,target,from,to\np1,p2,2005-01-01,2011-01-01\n",
        ),
    ];
    let drafted = drafted_with(&labels, &serde_json::json!([]), &files);
    let mapping = parsed(&drafted);
    assert_eq!(mapping.vertices.len(), 1, "{}", drafted.mapping);
    assert!(
        mapping.vertices[0].valid_from.is_none(),
        "{}",
        drafted.mapping
    );
    assert!(mapping.edges[0].valid_from.is_some(), "{}", drafted.mapping);
    assert!(has_note(&drafted, "no valid times"), "{}", drafted.mapping);
    // Of a label that is new, they are valid before all others.
    let drafted = drafted_with(&serde_json::json!([]), &serde_json::json!([]), &files);
    let mapping = parsed(&drafted);
    assert!(
        mapping.vertices[0].valid_from.is_some(),
        "{}",
        drafted.mapping
    );
    assert!(!has_note(&drafted, "no valid times"), "{}", drafted.mapping);
}

#[test]
fn an_id_among_other_columns_is_named_like_one_and_has_no_repeats() {
    let labels = serde_json::json!([people("person", &["name"])]);
    let none = serde_json::json!([]);
    let drafted = |text: &'static str| drafted_with(&labels, &none, &[("person.csv", text)]);
    let id = |text: &'static str| parsed(&drafted(text)).vertices[0].id.clone();
    let is_unknown = |text: &'static str| {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [("person.csv", text)];
        let (drafted, _) = inferred_with((&labels, &none), &files, folder.path());
        has_note(&drafted, "the graph has a label 'person', but")
    };
    // One column is left.
    assert_eq!(id("ssn,name\ns1,Ann\ns2,Bob\n").as_deref(), Some("ssn"));
    assert_eq!(
        id("dept_id,person_id,name\nd1,p1,Ann\nd1,p2,Bob\n").as_deref(),
        Some("person_id")
    );
    let states =
        "dept_id,id,name,from,to\nd1,p1,Ann,2000-01-01,2001-01-01\nd1,p1,Eve,2001-01-01,\n";
    assert_eq!(id(states).as_deref(), Some("id"));
    assert!(is_unknown("ssn,name,dept_id\ns1,Ann,d1\ns2,Bob,d2\n"));
    assert!(is_unknown("ssn,name,person_id\ns1,Ann,d1\ns2,Bob,d1\n"));
}

#[test]
fn a_label_with_ids_of_the_server_has_neither_references_nor_updates() {
    let labels = serde_json::json!([
        {"name": "event", "id": 2, "properties": ["name", "age"], "nullable_keys": ["age"]},
        people("person", &["name"]),
    ]);
    let edges = serde_json::json!([
        {"name": "event_person", "source_label": "event", "target_label": "person"},
    ]);
    let files = [("event.csv", "name,person_id\nfair,p1\nball,p2\n")];
    let drafted = drafted_with(&labels, &edges, &files);
    let mapping = parsed(&drafted);
    assert_eq!(mapping.vertices[0].label, "event");
    assert!(!mapping.vertices[0].update, "{}", drafted.mapping);
    assert!(mapping.edges.is_empty(), "{}", drafted.mapping);
    assert!(has_note(&drafted, "each row is a new vertex"));
}

#[test]
fn a_reference_names_all_of_the_key_of_its_label() {
    let labels = serde_json::json!([
        {"name": "city", "id": 2, "primary_keys": ["first", "last"],
            "properties": ["first", "last"]},
        {"name": "firm", "id": 3, "primary_keys": ["first"], "properties": ["first"]},
        people("person", &["name"]),
    ]);
    let edges = serde_json::json!([
        {"name": "person_city", "source_label": "person", "target_label": "city"},
        {"name": "person_firm", "source_label": "person", "target_label": "firm"},
    ]);
    let files = [(
        "person.csv",
        "id,name,city_id,firm_id\np1,Ann,c1,f1\np2,Bob,c2,f2\n",
    )];
    let drafted = drafted_with(&labels, &edges, &files);
    let labels = parsed(&drafted).edges;
    let labels: Vec<&str> = labels.iter().map(|edge| &*edge.label).collect();
    assert_eq!(labels, ["person_firm"], "{}", drafted.mapping);
}

#[test]
fn a_file_that_is_referred_to_by_another_column_than_its_key_gets_no_edges() {
    let drafted = |key: &str| {
        let labels = serde_json::json!([{"name": "firm", "id": 3, "primary_keys": [key],
            "properties": ["name", "firm_id"]}]);
        let files = [
            ("firm.csv", "firm_id,name\n7,Acme\n8,Bolt\n"),
            ("shop.csv", "shop_id,firm_id\ns1,7\ns2,8\n"),
        ];
        drafted_with(&labels, &serde_json::json!([]), &files)
    };
    let by_key = drafted("firm_id");
    assert_eq!(parsed(&by_key).edges.len(), 1, "{}", by_key.mapping);
    let by_other = drafted("name");
    let mapping = parsed(&by_other);
    assert!(mapping.edges.is_empty(), "{}", by_other.mapping);
    assert!(has_note(&by_other, "no keys of label 'firm' of the graph"));
    let schema = mapping.schema.expect("a schema");
    let properties = schema["vertexlabels"][0]["properties"].to_string();
    assert!(properties.contains("firm_id"), "{}", by_other.mapping);
}

#[test]
fn ends_that_no_name_tells_apart_are_a_guess() {
    let labels = serde_json::json!([people("person", &["name"]), people("firm", &["name"])]);
    let drafted = |target: &str, text: &'static str| {
        let edges = serde_json::json!([{"name": "job", "source_label": "person",
            "target_label": target, "properties": ["age"], "nullable_keys": ["age"]}]);
        drafted_with(&labels, &edges, &[("job.csv", text)])
    };
    let is_guess = |drafted: &Inferred| has_note(drafted, "guessed that edges go from");
    for (target, text) in [
        ("person", "one,two,age\np1,p2,1\n"),
        ("firm", "one,two,age\np1,f2,1\n"),
        ("firm", "person_id,firm_id,branch,age\np1,f2,b,1\n"),
    ] {
        let drafted = drafted(target, text);
        assert!(is_guess(&drafted), "{}", drafted.mapping);
    }
    for (target, text) in [
        ("person", "source,target,age\np1,p2,1\n"),
        ("firm", "firm_id,person_id,age\nf2,p1,1\n"),
    ] {
        let drafted = drafted(target, text);
        assert!(!is_guess(&drafted), "{}", drafted.mapping);
    }
}

#[test]
fn a_file_that_updates_edges_does_not_end_them() {
    let labels = serde_json::json!([people("person", &["name"])]);
    let edges = serde_json::json!([{"name": "knows", "source_label": "person",
        "target_label": "person", "properties": ["age"], "nullable_keys": ["age"]}]);
    let hint = "valid_to_ends_edge";
    for (text, updates) in [
        ("source,target,from,to\np1,p2,2001-01-01,2002-01-01\n", true),
        (
            "source,target,age,from,to\np1,p2,1,2001-01-01,2002-01-01\n",
            false,
        ),
    ] {
        let drafted = drafted_with(&labels, &edges, &[("knows.csv", text)]);
        let mapping = parsed(&drafted);
        assert_eq!(mapping.edges[0].update, updates, "{}", drafted.mapping);
        assert_eq!(
            drafted.mapping.contains(hint),
            !updates,
            "{}",
            drafted.mapping
        );
    }
}

#[test]
fn a_second_draft_of_the_same_files_has_no_schema() {
    for set in [
        data::trade(),
        data::social(),
        data::flights(),
        data::benchmark(),
        data::temporal(),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let first = inferred(&set, folder.path());
        let catalogue = Catalogue::deserialize(&first.schema).expect("a schema");
        let files = set.write(folder.path());
        let sources = files.iter().map(|file| source_of(file).expect("a source"));
        let sources: Vec<Source> = sources.collect();
        let second = infer(&sources, &catalogue, &|| Ok(())).expect("drafted");
        let mapping = &second.mapping;
        assert!(!mapping.contains("[schema]"), "{mapping}");
        let (one, other) = (parsed(&first), parsed(&second));
        assert_eq!(one.vertices.len(), other.vertices.len(), "{mapping}");
        assert_eq!(one.edges.len(), other.edges.len(), "{mapping}");
    }
}
