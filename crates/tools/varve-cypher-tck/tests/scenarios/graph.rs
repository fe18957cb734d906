//! What a graph holds, to count the effects of a query.

use std::collections::BTreeSet;
use std::sync::Arc;

use varve_cypher::value::{Node, Relationship};
use varve_cypher::{CypherError, Graph, Value};
use varve_cypher_tck::literal::{self, Literal};
use varve_view::{Elements, Flow, ScanAsk, ScannedElement};

/// All elements, labels and properties.
#[derive(Debug, Default)]
pub(crate) struct Content {
    nodes: BTreeSet<String>,
    relationships: BTreeSet<String>,
    labels: BTreeSet<String>,
    properties: BTreeSet<String>,
}

impl Content {
    /// The content of a graph.
    pub(crate) fn of(graph: &Graph<'_>) -> Result<Self, CypherError> {
        let mut content = Self::default();
        for value in elements(graph)? {
            match &value {
                Value::Node(node) => {
                    let shown = graph.shown_node(node)?;
                    let id = shown.id.to_string();
                    let labels = shown.labels.iter().map(ToString::to_string);
                    content.labels.extend(labels);
                    for (key, value) in &shown.properties {
                        let value = literal_of(value, graph)?;
                        content.properties.insert(format!("n{id} {key} {value}"));
                    }
                    content.nodes.insert(id);
                }
                Value::Relationship(one) => {
                    let shown = graph.shown_relationship(one)?;
                    let id = shown.id.to_string();
                    for (key, value) in &shown.properties {
                        let value = literal_of(value, graph)?;
                        content.properties.insert(format!("r{id} {key} {value}"));
                    }
                    content.relationships.insert(id);
                }
                _ => {}
            }
        }
        Ok(content)
    }

    /// What changed since `before`, as the TCK counts: `+nodes` and so on, without zeros.
    pub(crate) fn effects(&self, before: &Self) -> Vec<(String, u64)> {
        let mut effects = Vec::new();
        for (name, now, then) in [
            ("nodes", &self.nodes, &before.nodes),
            ("relationships", &self.relationships, &before.relationships),
            ("labels", &self.labels, &before.labels),
            ("properties", &self.properties, &before.properties),
        ] {
            for (sign, more, less) in [('+', now, then), ('-', then, now)] {
                let count = more.difference(less).count() as u64;
                if count > 0 {
                    effects.push((format!("{sign}{name}"), count));
                }
            }
        }
        effects.sort();
        effects
    }
}

fn elements(graph: &Graph<'_>) -> Result<Vec<Value>, CypherError> {
    let mut found = Vec::new();
    for elements in [Elements::Vertices(&[]), Elements::Edges(&[])] {
        let ask = ScanAsk {
            elements,
            conditions: &[],
            order: None,
            properties: &[],
        };
        let mut from = None;
        loop {
            let mut failed = None;
            from = graph
                .view
                .scan(&ask, from.as_ref(), 1_000, graph.meter, &mut |element| {
                    match element {
                        ScannedElement::Vertex { key, vertex } => {
                            let node = Node::new(key, vertex.label);
                            found.push(Value::Node(Arc::new(node)));
                        }
                        ScannedElement::Edge(edge) => {
                            let start = Arc::new(Node::new(edge.source, edge.source_label));
                            let end = Arc::new(Node::new(edge.target, edge.target_label));
                            match graph.view.edge_id(edge.source, edge.edge) {
                                Ok(id) => {
                                    let one = Relationship::new(id, start, end);
                                    found.push(Value::Relationship(Arc::new(one)));
                                }
                                Err(error) => failed = Some(error),
                            }
                        }
                    }
                    Flow::Continue(())
                })?;
            if let Some(error) = failed {
                return Err(error.into());
            }
            if from.is_none() {
                break;
            }
        }
    }
    Ok(found)
}

/// The value as the TCK writes it.
pub(crate) fn literal_of(value: &Value, graph: &Graph<'_>) -> Result<Literal, CypherError> {
    Ok(match value {
        Value::Null => Literal::Null,
        Value::Boolean(truth) => Literal::Boolean(*truth),
        Value::Integer(number) => Literal::Integer(*number),
        Value::Float(number) => Literal::Float(*number),
        Value::String(text) => Literal::Text(text.to_string()),
        Value::List(items) => {
            let items = items.iter().map(|item| literal_of(item, graph));
            Literal::List(items.collect::<Result<_, _>>()?)
        }
        Value::Map(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| Ok((key.to_string(), literal_of(value, graph)?)));
            Literal::Map(entries.collect::<Result<_, CypherError>>()?)
        }
        Value::Node(node) => Literal::Node(node_of(node, graph)?),
        Value::Relationship(one) => Literal::Relationship(relationship_of(one, graph)?),
        Value::Path(path) => {
            let nodes = path.nodes.iter().map(|node| node_of(node, graph));
            let steps = path.relationships.iter().zip(&path.nodes);
            let steps = steps.map(|(one, from)| {
                let is_forward = one.start == *from;
                Ok((relationship_of(one, graph)?, is_forward))
            });
            Literal::Path {
                nodes: nodes.collect::<Result<_, _>>()?,
                steps: steps.collect::<Result<_, CypherError>>()?,
            }
        }
        temporal => Literal::Text(temporal.to_string()),
    })
}

fn node_of(node: &Arc<Node>, graph: &Graph<'_>) -> Result<literal::Node, CypherError> {
    let shown = graph.shown_node(node)?;
    let properties = shown
        .properties
        .iter()
        .map(|(key, value)| Ok((key.to_string(), literal_of(value, graph)?)));
    Ok(literal::Node {
        labels: shown.labels.iter().map(ToString::to_string).collect(),
        properties: properties.collect::<Result<_, CypherError>>()?,
    })
}

fn relationship_of(
    one: &Arc<Relationship>,
    graph: &Graph<'_>,
) -> Result<literal::Relationship, CypherError> {
    let shown = graph.shown_relationship(one)?;
    let properties = shown
        .properties
        .iter()
        .map(|(key, value)| Ok((key.to_string(), literal_of(value, graph)?)));
    Ok(literal::Relationship {
        kind: shown.label.to_string(),
        properties: properties.collect::<Result<_, CypherError>>()?,
    })
}
