//! `DELETE`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use varve_model::{EdgeId, ElementId};
use varve_view::{Expand, Flow, GraphWriter};

use super::present;
use crate::error::{Error, ErrorClass, Outcome, type_error};
use crate::expression::Expr;
use crate::run::matching::vertex_id;
use crate::run::{Batch, Cx};
use crate::value::{Node, NodeKey, Relationship, Value};

/// Deletes the elements of all rows: relationships first, so that a node may be deleted together
/// with its last relationships.
pub(super) fn delete(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    elements: &[Expr],
    detach: bool,
    rows: &Batch,
) -> Outcome<()> {
    let mut wanted = Wanted::default();
    for (row, _) in rows.rows() {
        for element in elements {
            wanted.add(&cx.evaluate(element, row)?)?;
        }
    }
    let graph = cx.graph();
    let relationships: Vec<Arc<Relationship>> = wanted.relationships.into_values().collect();
    graph.fetch_relationships(relationships.iter().collect(), &graph.keys())?;
    for one in relationships {
        if one.content(graph)?.is_some() {
            writer.remove(&ElementId::Edge(one.id.clone()), graph.meter)?;
            cx.count(|counters| counters.relationships_deleted += 1);
        }
    }
    let nodes: Vec<Arc<Node>> = wanted.nodes.into_values().collect();
    graph.fetch(nodes.iter().collect(), &graph.keys())?;
    for node in nodes {
        if node.content(graph)?.is_none() {
            continue;
        }
        let left = edges_of(cx, &node, detach)?;
        if !left.is_empty() && !detach {
            let id = vertex_id(cx, &node)?;
            let message = format!(
                "the node '{id}' still has relationships; delete them first, or use DETACH DELETE"
            );
            let class = ErrorClass::ConstraintVerificationFailed;
            return Err(Error::run(class, "DeleteConnectedNode", message).into());
        }
        let id = ElementId::Vertex(vertex_id(cx, &node)?);
        writer.remove(&id, graph.meter)?;
        cx.count(|counters| {
            counters.nodes_deleted += 1;
            counters.relationships_deleted += left.len() as u64;
        });
    }
    Ok(())
}

/// The relationships of a node, or, if not all are wanted, one of them.
fn edges_of(cx: Cx<'_>, node: &Arc<Node>, all: bool) -> Outcome<HashSet<EdgeId>> {
    let graph = cx.graph();
    let mut edges = HashSet::new();
    let mut failed = None;
    let ask = Expand::default();
    let view = graph.view;
    view.neighbours(&[&node.key], &ask, graph.meter, &mut |_, seen| {
        match view.edge_id(&node.key, seen.edge) {
            Ok(id) => {
                edges.insert(id);
            }
            Err(error) => failed = Some(error),
        }
        match all && failed.is_none() {
            true => Flow::Continue(()),
            false => Flow::Break(()),
        }
    })?;
    failed.map_or(Ok(edges), |error| Err(error.into()))
}

/// The elements to delete, each once.
#[derive(Default)]
struct Wanted {
    relationships: BTreeMap<EdgeId, Arc<Relationship>>,
    nodes: BTreeMap<NodeKey, Arc<Node>>,
}

impl Wanted {
    fn add(&mut self, value: &Value) -> Outcome<()> {
        match value {
            Value::Null => {}
            Value::Node(node) => {
                self.nodes.insert(node.key.clone(), present::node(node));
            }
            Value::Relationship(one) => {
                self.relationships
                    .insert(one.id.clone(), present::relationship(one));
            }
            Value::Path(path) => {
                for node in &path.nodes {
                    self.nodes.insert(node.key.clone(), present::node(node));
                }
                for one in &path.relationships {
                    self.relationships
                        .insert(one.id.clone(), present::relationship(one));
                }
            }
            other => {
                let message = format!("{} cannot be deleted", other.type_name());
                return Err(type_error("InvalidArgumentType", message));
            }
        }
        Ok(())
    }
}
