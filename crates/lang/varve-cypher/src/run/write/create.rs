//! `CREATE`.

use std::sync::Arc;

use varve_model::Direction;
use varve_model::schema::{EdgeLabel, Frequency};
use varve_view::{EdgeAddition, Expand, Flow, GraphWriter, VertexAddition};

use super::{Cx, Properties, constraint, label_names, present, vertex_id};
use crate::error::{Error, ErrorClass, Outcome};
use crate::labels;
use crate::plan::{CreateNode, CreatePattern, CreateRelationship, LabelPart};
use crate::run::paths::path_of;
use crate::value::{Node, Relationship, Value};

/// Creates the elements of a pattern, and puts them into the row.
pub(super) fn create(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    pattern: &CreatePattern,
    row: &mut [Value],
) -> Outcome<()> {
    for one in &pattern.nodes {
        row[one.slot] = Value::Node(node(cx, writer, one, row)?);
    }
    for one in &pattern.relationships {
        row[one.slot] = Value::Relationship(relationship(cx, writer, one, row)?);
    }
    for (slot, parts) in &pattern.paths {
        row[*slot] = path_of(parts, row);
    }
    Ok(())
}

fn node(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    one: &CreateNode,
    row: &[Value],
) -> Outcome<Arc<Node>> {
    let graph = cx.graph();
    let mut names = label_names(cx, &one.labels, row)?;
    names.sort_unstable();
    names.dedup();
    let count = names.len() as u64;
    let label = labels::vertex_label(graph.schema, names)
        .map_err(|reason| constraint("InvalidLabels", reason))?;
    let properties = Properties::of(cx, one.properties.as_ref(), row)?;
    let vertex = VertexAddition {
        label: label.as_deref(),
        id: None,
        properties: &properties.writes(),
    };
    let id = writer.add_vertex(&vertex, graph.meter)?;
    let mut key = Vec::new();
    graph.view.put_vertex_key(&id, &mut key);
    let name = label.as_deref().unwrap_or(labels::DEFAULT_LABEL);
    let label = graph.schema.vertex_label_named(name);
    let label = label.map_or(varve_model::VertexLabelId(0), |label| label.id);
    cx.count(|counters| {
        counters.nodes_created += 1;
        counters.labels_added += count;
        counters.properties_set += properties.0.len() as u64;
    });
    Ok(Arc::new(Node::new(&key, label)))
}

fn relationship(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    one: &CreateRelationship,
    row: &[Value],
) -> Outcome<Arc<Relationship>> {
    let graph = cx.graph();
    let (source, target) = (&end(row, one.from)?, &end(row, one.to)?);
    let name = match &one.label {
        LabelPart::Name(name) => Arc::clone(name),
        part => match &*label_names(cx, std::slice::from_ref(part), row)? {
            [name] => Arc::clone(name),
            _ => {
                let message = "a relationship has exactly one type";
                return Err(constraint("NoSingleRelationshipType", message));
            }
        },
    };
    let properties = Properties::of(cx, one.properties.as_ref(), row)?;
    if let Some(label) = graph.schema.edge_label_named(&name)
        && !label.has_hidden_sort()
    {
        check_single(cx, label, (source, target), &properties)?;
    }
    let (source_id, target_id) = (vertex_id(cx, source)?, vertex_id(cx, target)?);
    let edge = EdgeAddition {
        label: &name,
        id: None,
        source: &source_id,
        target: &target_id,
        properties: &properties.writes(),
    };
    let id = writer.add_edge(&edge, graph.meter)?;
    cx.count(|counters| {
        counters.relationships_created += 1;
        counters.properties_set += properties.0.len() as u64;
    });
    let (source, target) = (Arc::clone(source), Arc::clone(target));
    Ok(Arc::new(Relationship::new(id, source, target)))
}

fn end(row: &[Value], slot: usize) -> Outcome<Arc<Node>> {
    match row.get(slot) {
        Some(Value::Node(node)) => Ok(present::node(node)),
        Some(Value::Null) | None => {
            let message = "an end of the relationship to create is null";
            let class = ErrorClass::SemanticError;
            Err(Error::run(class, "MissingNode", message).into())
        }
        Some(other) => {
            let message = format!("expected a node, but got {}", other.type_name());
            Err(crate::error::type_error("InvalidArgumentType", message))
        }
    }
}

/// Fails if the relationship would overwrite an existing one: relationships of declared labels are
/// distinguished by their ends and sort keys only.
fn check_single(
    cx: Cx<'_>,
    label: &EdgeLabel,
    (source, target): (&Arc<Node>, &Arc<Node>),
    properties: &Properties,
) -> Outcome<()> {
    let graph = cx.graph();
    let mut keys = match label.frequency {
        Frequency::Single => Vec::new(),
        Frequency::Multiple => label.sort_keys.clone(),
    };
    keys.sort_unstable();
    let name = |key: &varve_model::PropertyKeyId| graph.schema.property_key(*key);
    let names: Vec<_> = keys.iter().map(|key| (*key, name(key))).collect();
    let ask = Expand {
        direction: Some(Direction::Out),
        labels: &[label.id],
        properties: &keys,
    };
    let mut exists = false;
    let view = graph.view;
    view.neighbours(&[&source.key], &ask, graph.meter, &mut |_, seen| {
        let is_same = |(key, name): &(_, Option<&varve_model::PropertyKey>)| {
            let given = properties.0.iter();
            let mut given = given.filter(|(own, _)| name.is_some_and(|key| *key.name == **own));
            match (seen.properties.get(*key), given.next()) {
                (Some(stored), Some((_, given))) => {
                    stored.compare(given) == Some(std::cmp::Ordering::Equal)
                }
                (stored, given) => stored.is_none() && given.is_none(),
            }
        };
        if *seen.other == *target.key && seen.label == label.id && names.iter().all(is_same) {
            exists = true;
            return Flow::Break(());
        }
        Flow::Continue(())
    })?;
    if !exists {
        return Ok(());
    }
    let message = format!(
        "a relationship of type '{}' between these nodes exists already, and its label allows one; \
         use MERGE",
        label.name
    );
    Err(constraint("RelationshipExists", message))
}
