//! Functions of nodes, relationships, paths and maps.

use std::sync::Arc;

use varve_model::ElementId;

use super::{Function, Returns, Types, bad_value, integer};
use crate::error::Outcome;
use crate::evaluate::{content_of, keys_of, labels_of, properties_of, relationship_type};
use crate::expression::Frame;
use crate::numbers;
use crate::value::Value;

const NODE: Types = Types::NODE;
const RELATIONSHIP: Types = Types::RELATIONSHIP;
const PATH: Types = Types::PATH;
const ELEMENT: Types = Types::ELEMENT;
const KEYED: Types = Types::ELEMENT.or(Types::MAP);
const STRING: Returns = Returns::One(Types::STRING);

pub(super) const TABLE: &[Function] = &[
    Function::new("id", &[ELEMENT], Returns::One(Types::INTEGER), id),
    Function::new("elementId", &[ELEMENT], STRING, element_id),
    Function::new(
        "labels",
        &[NODE],
        Returns::ListOf(Types::STRING),
        |values, frame| match values {
            [Value::Node(node)] => {
                let labels = labels_of(node, frame)?.into_iter();
                Ok(Value::list(labels.map(Value::String).collect()))
            }
            _ => Err(bad_value("NODE", values.first())),
        },
    ),
    Function::new(
        "type",
        &[RELATIONSHIP],
        STRING,
        |values, frame| match values {
            [Value::Relationship(one)] => Ok(Value::string(relationship_type(one, frame))),
            _ => Err(bad_value("RELATIONSHIP", values.first())),
        },
    ),
    Function::new(
        "keys",
        &[KEYED],
        Returns::ListOf(Types::STRING),
        |values, frame| {
            keyed(values)?;
            keys_of(first(values), frame)
        },
    ),
    Function::new(
        "properties",
        &[KEYED],
        Returns::One(Types::MAP),
        |values, frame| {
            keyed(values)?;
            Ok(Value::Map(properties_of(first(values), frame)?))
        },
    ),
    Function::new(
        "startNode",
        &[RELATIONSHIP],
        Returns::One(NODE),
        |values, _| match values {
            [Value::Relationship(one)] => Ok(Value::Node(Arc::clone(&one.start))),
            _ => Err(bad_value("RELATIONSHIP", values.first())),
        },
    ),
    Function::new(
        "endNode",
        &[RELATIONSHIP],
        Returns::One(NODE),
        |values, _| match values {
            [Value::Relationship(one)] => Ok(Value::Node(Arc::clone(&one.end))),
            _ => Err(bad_value("RELATIONSHIP", values.first())),
        },
    ),
    Function::new(
        "nodes",
        &[PATH],
        Returns::ListOf(NODE),
        |values, _| match values {
            [Value::Path(path)] => {
                let nodes = path.nodes.iter().cloned();
                Ok(Value::list(nodes.map(Value::Node).collect()))
            }
            _ => Err(bad_value("PATH", values.first())),
        },
    ),
    Function::new(
        "relationships",
        &[PATH],
        Returns::ListOf(RELATIONSHIP),
        relationships,
    ),
    Function::new(
        "rels",
        &[PATH],
        Returns::ListOf(RELATIONSHIP),
        relationships,
    ),
    Function::new(
        "length",
        &[PATH],
        Returns::One(Types::INTEGER),
        |values, _| match values {
            [Value::Path(path)] => Ok(integer(path.relationships.len())),
            _ => Err(bad_value("PATH", values.first())),
        },
    ),
];

fn first(values: &[Value]) -> &Value {
    values.first().unwrap_or(&Value::Null)
}

fn keyed(values: &[Value]) -> Outcome<()> {
    match values {
        [Value::Node(_) | Value::Relationship(_) | Value::Map(_)] => Ok(()),
        _ => Err(bad_value("NODE, RELATIONSHIP or MAP", values.first())),
    }
}

fn relationships(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    match values {
        [Value::Path(path)] => {
            let all = path.relationships.iter().cloned();
            Ok(Value::list(all.map(Value::Relationship).collect()))
        }
        _ => Err(bad_value("PATH", values.first())),
    }
}

fn id(values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    match values {
        [Value::Node(node)] => {
            content_of(first(values), frame)?;
            let id = frame.graph.view.vertex_id(&node.key)?;
            Ok(Value::Integer(numbers::of_vertex(&id)))
        }
        [Value::Relationship(one)] => {
            content_of(first(values), frame)?;
            Ok(Value::Integer(numbers::of_edge(&one.id)))
        }
        _ => Err(bad_value("NODE or RELATIONSHIP", values.first())),
    }
}

fn element_id(values: &[Value], frame: &Frame<'_>) -> Outcome<Value> {
    let id = match values {
        [Value::Node(node)] => node.id(frame.graph)?,
        [Value::Relationship(one)] => ElementId::Edge(one.id.clone()),
        _ => return Err(bad_value("NODE or RELATIONSHIP", values.first())),
    };
    Ok(Value::string(id.to_string()))
}
