//! Procedures that change the graph. They run a query within the query that calls them.

use std::fmt::Write as _;
use std::sync::Arc;

use varve_cypher::{Counters, CypherError, Graph, Map, Value};

use super::{Catalogue, Rows, invalid, map_argument};

pub(super) fn merge_node(catalogue: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let mut text = "MERGE (e".to_owned();
    match arguments.first() {
        Some(Value::List(labels)) => put_labels(labels, &mut text)?,
        _ => return Err(invalid("labels are a list of strings")),
    }
    let ident = map_argument(arguments, 1, "identProps")?;
    put_ident(ident, &mut text)?;
    text.push_str(") ON CREATE SET e += $create ON MATCH SET e += $match RETURN e");
    let parameters = [
        ("ident", map_value(ident)),
        (
            "create",
            map_value(map_argument(arguments, 2, "onCreateProps")?),
        ),
        (
            "match",
            map_value(map_argument(arguments, 3, "onMatchProps")?),
        ),
    ];
    run((catalogue, &text), parameters, graph)
}

pub(super) fn merge_relationship(
    catalogue: &Catalogue,
    arguments: &[Value],
    graph: &Graph<'_>,
) -> Rows {
    let Some(Value::String(label)) = arguments.get(1) else {
        return Err(invalid("relType is a string"));
    };
    let (Some(start @ Value::Node(_)), Some(end @ Value::Node(_))) =
        (arguments.first(), arguments.get(4))
    else {
        return Err(invalid("startNode and endNode are nodes"));
    };
    let mut text = format!("WITH $start AS s, $end AS t MERGE (s)-[e:{}", quoted(label));
    let ident = map_argument(arguments, 2, "identProps")?;
    put_ident(ident, &mut text)?;
    text.push_str("]->(t) ON CREATE SET e += $create ON MATCH SET e += $match RETURN e");
    let parameters = [
        ("ident", map_value(ident)),
        (
            "create",
            map_value(map_argument(arguments, 3, "onCreateProps")?),
        ),
        (
            "match",
            map_value(map_argument(arguments, 5, "onMatchProps")?),
        ),
        ("start", start.clone()),
        ("end", end.clone()),
    ];
    run((catalogue, &text), parameters, graph)
}

/// Adds labels to a node, or to each of a list of nodes.
pub(super) fn add_labels(catalogue: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let nodes = match arguments.first() {
        Some(node @ Value::Node(_)) => Value::list(vec![node.clone()]),
        Some(Value::List(items)) if items.iter().all(|one| matches!(one, Value::Node(_))) => {
            Value::List(Arc::clone(items))
        }
        Some(Value::Null) => return Ok(Vec::new()),
        _ => return Err(invalid("nodes are a node or a list of nodes")),
    };
    let mut text = "UNWIND $nodes AS e ".to_owned();
    match arguments.get(1) {
        Some(Value::List(labels)) if labels.is_empty() => {}
        Some(Value::List(labels)) => {
            text.push_str("SET e");
            put_labels(labels, &mut text)?;
        }
        _ => return Err(invalid("labels are a list of strings")),
    }
    text.push_str(" RETURN e");
    run((catalogue, &text), [("nodes", nodes)], graph)
}

/// Sets a property of a node or relationship to a list of numbers.
pub(super) fn set_vector(catalogue: &Catalogue, arguments: &[Value], graph: &Graph<'_>) -> Rows {
    let (element, key, vector) = match arguments {
        [
            element @ (Value::Node(_) | Value::Relationship(_)),
            Value::String(key),
            vector,
        ] => (element, key, vector),
        _ => {
            return Err(invalid(
                "the first argument is an element, the second a string",
            ));
        }
    };
    let Value::List(items) = vector else {
        return Err(invalid("vector is a list of numbers"));
    };
    let number = |item: &Value| match item {
        #[allow(clippy::cast_precision_loss, reason = "a component of a vector")]
        Value::Integer(number) => Ok(Value::Float(*number as f64)),
        Value::Float(number) => Ok(Value::Float(*number)),
        _ => Err(invalid("vector is a list of numbers")),
    };
    let vector = Value::list(items.iter().map(number).collect::<Result<_, _>>()?);
    let text = format!("WITH $element AS e SET e.{} = $vector", quoted(key));
    let parameters = [("element", element.clone()), ("vector", vector)];
    run((catalogue, &text), parameters, graph)
}

fn put_labels(labels: &[Value], text: &mut String) -> Result<(), CypherError> {
    for label in labels {
        let Value::String(label) = label else {
            return Err(invalid("labels are strings"));
        };
        let _ = write!(text, ":{}", quoted(label));
    }
    Ok(())
}

/// The properties of a pattern: `{key: $ident.key, …}`.
fn put_ident(ident: Option<&Map>, text: &mut String) -> Result<(), CypherError> {
    let Some(ident) = ident.filter(|ident| !ident.is_empty()) else {
        return Ok(());
    };
    for (at, (key, _)) in ident.iter().enumerate() {
        let key = quoted(key);
        let before = if at == 0 { " {" } else { ", " };
        let _ = write!(text, "{before}{key}: $ident.{key}");
    }
    text.push('}');
    Ok(())
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn map_value(map: Option<&Map>) -> Value {
    Value::map(map.cloned().unwrap_or_default())
}

/// Runs a query on the graph of the calling one, and counts its changes.
pub(super) fn run<'n>(
    (catalogue, text): (&Catalogue, &str),
    parameters: impl IntoIterator<Item = (&'n str, Value)>,
    graph: &Graph<'_>,
) -> Rows {
    let (rows, counters) = ran(text, parameters, graph)?;
    catalogue.counted.add(counters);
    Ok(rows)
}

/// The rows of a query that only reads.
pub(super) fn rows_of<const N: usize>(
    text: &str,
    parameters: [(&str, Value); N],
    graph: &Graph<'_>,
) -> Rows {
    Ok(ran(text, parameters, graph)?.0)
}

fn ran<'n>(
    text: &str,
    parameters: impl IntoIterator<Item = (&'n str, Value)>,
    graph: &Graph<'_>,
) -> Result<(Vec<Vec<Value>>, Counters), CypherError> {
    let parameters = parameters.into_iter();
    let parameters: Map = parameters
        .map(|(name, value)| (Arc::from(name), value))
        .collect();
    crate::cypher::engine::rows_of(text, &parameters, graph)
}
