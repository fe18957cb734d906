//! A sample of a graph: labels, types, and the properties of some elements of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use varve_cypher::value::{Node, Properties, Relationship};
use varve_cypher::{CypherError, Graph, Value};
use varve_model::{EdgeLabelId, VertexLabelId};
use varve_view::{Elements, Flow, ScanAsk, ScannedElement};

/// The most elements of each label that are looked at.
const ELEMENTS_MAX: usize = 1_000;

/// The types of values of each property key; empty if no element of the sample has the property.
pub(super) type Types = BTreeMap<String, BTreeSet<&'static str>>;

/// Nodes with one set of labels.
#[derive(Default)]
pub(super) struct Nodes {
    pub(super) labels: Vec<Arc<str>>,
    /// Those of the sample.
    pub(super) count: i64,
    pub(super) properties: Types,
}

/// Relationships of one type.
#[derive(Default)]
pub(super) struct Relationships {
    pub(super) label: String,
    pub(super) count: i64,
    pub(super) properties: Types,
    /// Pairs of labels of starts and ends.
    pub(super) ends: BTreeSet<(Arc<str>, Arc<str>)>,
}

/// The sample.
#[derive(Default)]
pub(super) struct Sample {
    pub(super) nodes: Vec<Nodes>,
    pub(super) relationships: Vec<Relationships>,
}

impl Sample {
    /// Looks at some elements of each label.
    pub(super) fn of(graph: &Graph<'_>) -> Result<Self, CypherError> {
        let mut sample = Self::default();
        for label in graph.schema.vertex_labels().unwrap_or_default() {
            sample.nodes.push(nodes(graph, label)?);
        }
        for label in graph.schema.edge_labels().unwrap_or_default() {
            sample.relationships.push(relationships(graph, label)?);
        }
        sample.nodes.retain(|nodes| nodes.count > 0);
        sample.relationships.retain(|one| one.count > 0);
        Ok(sample)
    }
}

impl Sample {
    /// The nodes of the sample with each label.
    pub(super) fn counts(&self) -> BTreeMap<&str, i64> {
        let mut counts = BTreeMap::new();
        for set in &self.nodes {
            for label in &set.labels {
                *counts.entry(&**label).or_default() += set.count;
            }
        }
        counts
    }
}

fn count(types: &mut Types, properties: &Properties) {
    for (key, value) in properties {
        types
            .entry(key.to_string())
            .or_default()
            .insert(value.type_name());
    }
}

fn ask(elements: Elements<'_>) -> ScanAsk<'_> {
    ScanAsk {
        elements,
        conditions: &[],
        order: None,
        properties: &[],
    }
}

fn nodes(graph: &Graph<'_>, label: VertexLabelId) -> Result<Nodes, CypherError> {
    let mut found: Vec<Arc<Node>> = Vec::new();
    let only = [label];
    let mut visit = |element: &ScannedElement<'_>| {
        if let ScannedElement::Vertex { key, vertex } = element {
            found.push(Arc::new(Node::new(key, vertex.label)));
        }
        Flow::Continue(())
    };
    let elements = Elements::Vertices(&only);
    graph
        .view
        .scan(&ask(elements), None, ELEMENTS_MAX, graph.meter, &mut visit)?;
    let values: Vec<Value> = found.iter().cloned().map(Value::Node).collect();
    graph.prefetch(&values)?;
    let mut nodes = Nodes::default();
    for node in &found {
        let shown = graph.shown_node(node)?;
        nodes.count += 1;
        nodes.labels = shown.labels;
        count(&mut nodes.properties, &shown.properties);
    }
    Ok(nodes)
}

fn relationships(graph: &Graph<'_>, label: EdgeLabelId) -> Result<Relationships, CypherError> {
    let mut found: Vec<Arc<Relationship>> = Vec::new();
    let mut failed = None;
    let only = [label];
    let mut visit = |element: &ScannedElement<'_>| {
        if let ScannedElement::Edge(edge) = element {
            let start = Arc::new(Node::new(edge.source, edge.source_label));
            let end = Arc::new(Node::new(edge.target, edge.target_label));
            match graph.view.edge_id(edge.source, edge.edge) {
                Ok(id) => found.push(Arc::new(Relationship::new(id, start, end))),
                Err(error) => failed = Some(error),
            }
        }
        Flow::Continue(())
    };
    let elements = Elements::Edges(&only);
    graph
        .view
        .scan(&ask(elements), None, ELEMENTS_MAX, graph.meter, &mut visit)?;
    if let Some(error) = failed {
        return Err(error.into());
    }
    let values: Vec<Value> = found.iter().cloned().map(Value::Relationship).collect();
    graph.prefetch(&values)?;
    let mut relationships = Relationships::default();
    for one in &found {
        let shown = graph.shown_relationship(one)?;
        relationships.count += 1;
        relationships.label = shown.label.to_string();
        count(&mut relationships.properties, &shown.properties);
        let labels = |node: &Node| varve_cypher::labels_of(graph.schema, node.label);
        for start in labels(&one.start) {
            for end in labels(&one.end) {
                relationships.ends.insert((Arc::clone(&start), end));
            }
        }
    }
    Ok(relationships)
}
