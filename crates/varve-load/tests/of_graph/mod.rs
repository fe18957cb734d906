//! Drafts for files of labels that the graph has.

use super::data::Set;
use super::*;

const KEYS: &str = r#"[{"name": "name"}, {"name": "age", "data_type": "INT"},
    {"name": "first"}, {"name": "last"}]"#;

/// Drafts a mapping for these files, with these labels in the graph. The mapping fits the labels.
fn drafted_with(vertices: &Json, edges: &Json, files: &[(&'static str, &str)]) -> Inferred {
    let keys: Json = serde_json::from_str(KEYS).expect("JSON");
    let schema = serde_json::json!({
        "propertykeys": keys, "vertexlabels": vertices, "edgelabels": edges,
    });
    let mut catalogue = Catalogue::deserialize(&schema).expect("a schema");
    let folder = tempfile::tempdir().expect("a folder");
    let files = files.iter();
    let files = files.map(|(name, text)| (*name, text.as_bytes().to_vec()));
    let set = Set {
        files: files.collect(),
    };
    let sources = set.write(folder.path());
    let sources = sources
        .iter()
        .map(|file| source_of(file).expect("a source"));
    let sources: Vec<Source> = sources.collect();
    let drafted = infer(&sources, &catalogue, &|| Ok(())).expect("drafted");
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
