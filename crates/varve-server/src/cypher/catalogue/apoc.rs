//! Procedures of APOC about the schema, and its check of a predicate.

use varve_cypher::{CypherError, ErrorClass, Graph, Value};

use super::sample::Sample;
use super::writing::{quoted, rows_of};
use super::{Catalogue, Rows, failed, invalid, listing, map, map_argument};

type Fields = &'static [(&'static str, &'static str)];

pub(super) const SCHEMA_NODES: Fields = &[
    ("name", "STRING"),
    ("label", "ANY"),
    ("properties", "LIST<STRING>"),
    ("status", "STRING"),
    ("type", "STRING"),
    ("failure", "STRING"),
    ("populationProgress", "FLOAT"),
    ("size", "INTEGER"),
    ("valuesSelectivity", "FLOAT"),
    ("userDescription", "STRING"),
];

/// The indexes of nodes. The size, and the share of different values, of an index on one property
/// are counted.
pub(super) fn schema_nodes(catalogue: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    map_argument(arguments, 0, "config")?;
    let column = |name: &str| listing::INDEXES.iter().position(|(own, _)| *own == name);
    let mut rows = Vec::new();
    for index in listing::indexes(catalogue, &[], graph)? {
        let of = |name: &str| column(name).and_then(|at| index.get(at).cloned());
        let of = |name: &str| of(name).unwrap_or(Value::Null);
        if !matches!(of("entityType"), Value::String(kind) if &*kind == "NODE") {
            continue;
        }
        let (labels, properties) = (of("labelsOrTypes"), of("properties"));
        let label = match &labels {
            Value::List(labels) if labels.len() == 1 => labels[0].clone(),
            _ => labels.clone(),
        };
        let (size, selectivity) = match (&label, &properties) {
            (Value::String(label), Value::List(keys)) => match keys.as_slice() {
                [Value::String(key)] => counted(label, key, graph)?,
                _ => (Value::Null, Value::Null),
            },
            _ => (Value::Null, Value::Null),
        };
        rows.push(vec![
            of("name"),
            label,
            properties,
            of("state"),
            of("type"),
            Value::string("NO FAILURE"),
            of("populationPercent"),
            size,
            selectivity,
            Value::string(format!("Index of {}", of("name"))),
        ]);
    }
    Ok(rows)
}

/// The number of nodes of a label with a property, and the share of different values.
#[allow(clippy::cast_precision_loss, reason = "a share")]
fn counted(label: &str, key: &str, graph: &Graph<'_>) -> Result<(Value, Value), CypherError> {
    let (label, key) = (quoted(label), quoted(key));
    let text = format!(
        "MATCH (n:{label}) WHERE n.{key} IS NOT NULL RETURN count(n), count(DISTINCT n.{key})"
    );
    let rows = rows_of(&text, [], graph)?;
    Ok(match rows.first().map(Vec::as_slice) {
        Some([Value::Integer(all), Value::Integer(distinct)]) => {
            let share = *distinct as f64 / (*all).max(1) as f64;
            (Value::Integer(*all), Value::Float(share))
        }
        _ => (Value::Null, Value::Null),
    })
}

/// The different values of a property of the nodes with a label.
pub(super) fn properties_distinct(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let [Value::String(label), Value::String(key), ..] = arguments else {
        return Err(invalid("label and key are strings"));
    };
    let (label, key) = (quoted(label), quoted(key));
    let text = format!("MATCH (n:{label}) RETURN collect(DISTINCT n.{key})");
    rows_of(&text, [], graph)
}

/// The graph of labels and types, from a sample: a map for each label and for each way of a type,
/// as APOC's nodes and relationships have them as properties.
pub(super) fn meta_graph(_: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    map_argument(arguments, 0, "config")?;
    let sample = Sample::of(graph)?;
    let nodes = sample.counts().into_iter().map(|(label, count)| {
        map([
            ("name", Value::string(label)),
            ("count", Value::Integer(count)),
        ])
    });
    let ways = sample.relationships.iter().flat_map(|one| {
        one.ends.iter().map(|(start, end)| {
            map([
                ("type", Value::string(&one.label)),
                ("start", Value::string(start)),
                ("end", Value::string(end)),
                ("count", Value::Integer(one.count)),
            ])
        })
    });
    let (nodes, ways) = (nodes.collect(), ways.collect());
    Ok(vec![vec![Value::list(nodes), Value::list(ways)]])
}

/// Labels with their indexes and constraints, and the ways of types between labels, as maps.
pub(super) fn visualization(catalogue: &Catalogue, _: &[Value], graph: &Graph<'_>) -> Rows {
    let sample = Sample::of(graph)?;
    let of = |rows: Vec<Vec<Value>>, fields: Fields, label: &str, wanted: &str| {
        let at = |name: &str| fields.iter().position(|(own, _)| *own == name);
        let (labels, wanted) = (at("labelsOrTypes"), at(wanted));
        let has = |row: &&Vec<Value>| match labels.and_then(|at| row.get(at)) {
            Some(Value::List(own)) => own
                .iter()
                .any(|own| matches!(own, Value::String(own) if **own == *label)),
            _ => false,
        };
        let each = rows.iter().filter(has);
        let each = each.filter_map(|row| row.get(wanted?).cloned());
        Value::list(each.collect())
    };
    let mut nodes = Vec::new();
    for (label, _) in sample.counts() {
        let indexes = listing::indexes(catalogue, &[], graph)?;
        let constraints = listing::constraints(catalogue, &[], graph)?;
        nodes.push(map([
            ("name", Value::string(label)),
            ("indexes", of(indexes, listing::INDEXES, label, "name")),
            (
                "constraints",
                of(constraints, listing::CONSTRAINTS, label, "name"),
            ),
        ]));
    }
    let ways = sample.relationships.iter().flat_map(|one| {
        one.ends.iter().map(|(start, end)| {
            map([
                ("name", Value::string(&one.label)),
                ("start", Value::string(start)),
                ("end", Value::string(end)),
            ])
        })
    });
    let ways = ways.collect();
    Ok(vec![vec![Value::list(nodes), Value::list(ways)]])
}

/// Nothing, or an error with the message if the predicate is true. `%s` and `%d` in the message
/// stand for the parameters.
pub(super) fn validate(_: &Catalogue, arguments: &[Value], _: &Graph<'_>) -> Rows {
    let [predicate, Value::String(message), parameters] = arguments else {
        return Err(invalid("message is a string"));
    };
    if !matches!(predicate, Value::Boolean(true)) {
        return Ok(Vec::new());
    }
    let mut parameters = match parameters {
        Value::List(items) => items.iter(),
        _ => [].iter(),
    };
    let mut parts = message.split('%');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let stands = part.starts_with(['s', 'd']);
        match stands.then(|| parameters.next()).flatten() {
            Some(parameter) => {
                text.push_str(&parameter.to_string());
                text.push_str(&part[1..]);
            }
            None => {
                text.push('%');
                text.push_str(part);
            }
        }
    }
    Err(failed(
        ErrorClass::ProcedureError,
        "ProcedureCallFailed",
        // Clients look for this text, and read what follows it.
        format!(
            "Failed to invoke procedure `apoc.util.validate`: \
             Caused by: java.lang.RuntimeException: {text}"
        ),
    ))
}
