//! Procedures about labels, types and properties.

use std::collections::{BTreeMap, BTreeSet};

use varve_cypher::{Graph, Value};

use super::sample::{Sample, Types};
use super::{Catalogue, Rows, map, map_argument, strings};

/// One column of strings.
fn column<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> Rows {
    let rows = names.into_iter().map(|name| vec![Value::string(name)]);
    Ok(rows.collect())
}

pub(super) fn labels(catalogue: &Catalogue, _: &[Value], graph: &Graph<'_>) -> Rows {
    let ids = graph.schema.vertex_labels().unwrap_or_default();
    let sets = ids
        .into_iter()
        .filter(|id| {
            let label = graph.schema.vertex_label(*id);
            label.is_some_and(|label| catalogue.sight.shows(label))
        })
        .flat_map(|id| varve_cypher::labels_of(graph.schema, id));
    column(sets.collect::<BTreeSet<_>>())
}

pub(super) fn relationship_types(catalogue: &Catalogue, _: &[Value], graph: &Graph<'_>) -> Rows {
    let ids = graph.schema.edge_labels().unwrap_or_default();
    let names = ids.into_iter().filter_map(|id| graph.schema.edge_label(id));
    let names = names.filter(|label| catalogue.sight.shows(*label));
    column(names.map(|label| &label.name).collect::<BTreeSet<_>>())
}

pub(super) fn property_keys(catalogue: &Catalogue, _: &[Value], graph: &Graph<'_>) -> Rows {
    let ids = graph.schema.property_keys().into_iter();
    let names = ids.filter_map(|id| graph.schema.property_key(id));
    let names = names.filter(|key| catalogue.sight.shows(*key));
    column(names.map(|key| &key.name).collect::<BTreeSet<_>>())
}

/// `:`A`:`B``, as Neo4j writes a set of labels.
fn type_text<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> String {
    let quoted = labels
        .into_iter()
        .map(|label| format!(":`{}`", label.as_ref()));
    quoted.collect()
}

/// The name of a type in `db.schema.*`.
fn db_type(name: &str) -> &'static str {
    match name {
        "BOOLEAN" => "Boolean",
        "INTEGER" => "Long",
        "FLOAT" => "Double",
        "STRING" => "String",
        "DATE" => "Date",
        "LOCAL TIME" => "LocalTime",
        "ZONED TIME" => "Time",
        "LOCAL DATETIME" => "LocalDateTime",
        "ZONED DATETIME" => "DateTime",
        "DURATION" => "Duration",
        "POINT" => "Point",
        "BYTES" => "ByteArray",
        _ => "List",
    }
}

/// The rows of an element type: one for each property, or one without.
fn property_rows(start: &[Value], properties: &Types, rows: &mut Vec<Vec<Value>>) {
    let mut push = |name: Value, types: Value| {
        let mut row = start.to_vec();
        row.extend([name, types, Value::Boolean(false)]);
        rows.push(row);
    };
    if properties.is_empty() {
        push(Value::Null, Value::Null);
    }
    for (name, types) in properties {
        let types = strings(types.iter().map(|name| db_type(name)));
        push(Value::string(name), types);
    }
}

pub(super) fn node_type_properties(_: &Catalogue, _: &[Value], graph: &Graph<'_>) -> Rows {
    let mut rows = Vec::new();
    for nodes in Sample::of(graph)?.nodes {
        let start = [
            Value::string(type_text(&nodes.labels)),
            strings(nodes.labels.iter().map(|label| &**label)),
        ];
        property_rows(&start, &nodes.properties, &mut rows);
    }
    Ok(rows)
}

pub(super) fn rel_type_properties(_: &Catalogue, _: &[Value], graph: &Graph<'_>) -> Rows {
    let mut rows = Vec::new();
    for one in Sample::of(graph)?.relationships {
        let start = [Value::string(type_text([&one.label]))];
        property_rows(&start, &one.properties, &mut rows);
    }
    Ok(rows)
}

/// The name of a type in APOC.
fn apoc_type(types: &BTreeSet<&'static str>) -> &'static str {
    let name = |name: &str| match name {
        "BOOLEAN" => "BOOLEAN",
        "INTEGER" => "INTEGER",
        "FLOAT" => "FLOAT",
        "STRING" => "STRING",
        "DATE" => "DATE",
        "LOCAL TIME" => "LOCAL_TIME",
        "ZONED TIME" => "TIME",
        "LOCAL DATETIME" => "LOCAL_DATE_TIME",
        "ZONED DATETIME" => "DATE_TIME",
        "DURATION" => "DURATION",
        "POINT" => "POINT",
        "LIST" => "LIST",
        _ => "ANY",
    };
    match types.len() {
        1 => types.first().map_or("ANY", |first| name(first)),
        _ => "ANY",
    }
}

/// The sample by single labels, as APOC counts.
struct ByLabel {
    nodes: BTreeMap<String, (i64, Types)>,
    sample: Sample,
}

impl ByLabel {
    fn of(graph: &Graph<'_>) -> Result<Self, varve_cypher::CypherError> {
        let sample = Sample::of(graph)?;
        let mut nodes: BTreeMap<String, (i64, Types)> = BTreeMap::new();
        for set in &sample.nodes {
            for label in &set.labels {
                let (count, properties) = nodes.entry(label.to_string()).or_default();
                *count += set.count;
                for (key, types) in &set.properties {
                    properties.entry(key.clone()).or_default().extend(types);
                }
            }
        }
        Ok(Self { nodes, sample })
    }

    /// The relationship types that start at a label, with the labels of their ends.
    fn leaving(&self, label: &str) -> BTreeMap<&str, Vec<&str>> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for one in &self.sample.relationships {
            for (start, end) in &one.ends {
                if **start == *label {
                    found.entry(&one.label).or_default().push(end);
                }
            }
        }
        found
    }

    /// As [`ByLabel::leaving`], of those that end there.
    fn arriving(&self, label: &str) -> BTreeMap<&str, Vec<&str>> {
        let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for one in &self.sample.relationships {
            for (start, end) in &one.ends {
                if **end == *label {
                    found.entry(&one.label).or_default().push(start);
                }
            }
        }
        found
    }
}

/// A row of `apoc.meta.data`.
fn data_row(
    (label, property): (&str, &str),
    (count, typed): (i64, &str),
    other: &[&str],
    element: &str,
) -> Vec<Value> {
    let no = || Value::Boolean(false);
    vec![
        Value::string(label),
        Value::string(property),
        Value::Integer(count),
        no(),
        no(),
        no(),
        Value::string(typed),
        Value::Boolean(typed == "LIST" || !other.is_empty()),
        Value::Null,
        Value::Integer(0),
        Value::Integer(0),
        strings(other.iter().copied()),
        Value::list(Vec::new()),
        Value::string(element),
    ]
}

pub(super) fn apoc_data(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    map_argument(arguments, 0, "config")?;
    let by_label = ByLabel::of(graph)?;
    let mut rows = Vec::new();
    for (label, (_, properties)) in &by_label.nodes {
        for (name, types) in properties {
            rows.push(data_row((label, name), (0, apoc_type(types)), &[], "node"));
        }
        for (name, other) in by_label.leaving(label) {
            rows.push(data_row((label, name), (0, "RELATIONSHIP"), &other, "node"));
        }
    }
    for one in &by_label.sample.relationships {
        for (name, types) in &one.properties {
            let typed = (0, apoc_type(types));
            rows.push(data_row((&one.label, name), typed, &[], "relationship"));
        }
        let mut ends: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (start, end) in &one.ends {
            ends.entry(start).or_default().push(end);
        }
        for (start, other) in ends {
            let typed = (one.count, "RELATIONSHIP");
            rows.push(data_row((&one.label, start), typed, &other, "relationship"));
        }
    }
    Ok(rows)
}

fn properties_of(properties: &Types) -> Value {
    let each = properties.iter().map(|(name, types)| {
        let no = || Value::Boolean(false);
        let typed = map([
            ("type", Value::string(apoc_type(types))),
            ("existence", no()),
            ("indexed", no()),
            ("unique", no()),
            ("array", Value::Boolean(apoc_type(types) == "LIST")),
        ]);
        (name.as_str(), typed)
    });
    map(each.collect::<Vec<_>>())
}

pub(super) fn apoc_schema(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    map_argument(arguments, 0, "config")?;
    let by_label = ByLabel::of(graph)?;
    let mut value = Vec::new();
    for (label, (count, properties)) in &by_label.nodes {
        let mut relationships: Vec<(&str, Value)> = Vec::new();
        for (direction, ways) in [
            ("out", by_label.leaving(label)),
            ("in", by_label.arriving(label)),
        ] {
            for (name, other) in ways {
                let properties = by_label
                    .sample
                    .relationships
                    .iter()
                    .find(|one| one.label == name);
                let properties =
                    properties.map_or_else(|| map([]), |one| properties_of(&one.properties));
                let way = map([
                    ("direction", Value::string(direction)),
                    ("count", Value::Integer(0)),
                    ("labels", strings(other)),
                    ("properties", properties),
                ]);
                // A type that leaves and arrives is shown as leaving.
                if relationships.iter().all(|(known, _)| *known != name) {
                    relationships.push((name, way));
                }
            }
        }
        let node = map([
            ("type", Value::string("node")),
            ("count", Value::Integer(*count)),
            ("labels", Value::list(Vec::new())),
            ("properties", properties_of(properties)),
            ("relationships", map(relationships)),
        ]);
        value.push((label.as_str(), node));
    }
    for one in &by_label.sample.relationships {
        let relationship = map([
            ("type", Value::string("relationship")),
            ("count", Value::Integer(one.count)),
            ("properties", properties_of(&one.properties)),
        ]);
        value.push((one.label.as_str(), relationship));
    }
    Ok(vec![vec![map(value)]])
}
