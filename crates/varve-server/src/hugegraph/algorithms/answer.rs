//! Results as JSON: HugeGraph's members, and scores by id, the greatest first.

use varve_graph::GraphError;
use varve_graph::read::View;
use varve_traversal::{Node, Projection};

use crate::json::JsonWriter;
use crate::wire::output;

/// A number for each vertex.
pub(super) enum Scores<'a> {
    Numbers(&'a [f64]),
    Counts(&'a [u64]),
}

impl Scores<'_> {
    fn of(&self, node: Node) -> f64 {
        match self {
            Self::Numbers(numbers) => numbers[node as usize],
            Self::Counts(counts) => counts[node as usize] as f64,
        }
    }

    /// The `top` vertices with the greatest scores, or all; of equal scores, the smaller vertex
    /// first.
    fn top(&self, graph: &Projection, top: Option<usize>) -> Vec<Node> {
        let mut nodes: Vec<Node> = graph.nodes().collect();
        let by_score = |a: &Node, b: &Node| self.of(*b).total_cmp(&self.of(*a)).then(a.cmp(b));
        if let Some(top) = top.filter(|top| *top < nodes.len()) {
            nodes.select_nth_unstable_by(top, by_score);
            nodes.truncate(top);
        }
        nodes.sort_unstable_by(by_score);
        nodes
    }

    /// Writes the greatest scores as an object by id.
    pub(super) fn write(
        &self,
        json: &mut JsonWriter,
        view: &View,
        graph: &Projection,
        top: Option<usize>,
    ) -> Result<(), GraphError> {
        json.begin_object();
        for node in self.top(graph, top) {
            json.key(&id_text(view, graph, node)?);
            match self {
                Self::Numbers(numbers) => json.double(numbers[node as usize]),
                Self::Counts(counts) => json.unsigned(counts[node as usize]),
            };
        }
        json.end_object();
        Ok(())
    }
}

/// The id of a vertex as the key of an object.
pub(super) fn id_text(view: &View, graph: &Projection, node: Node) -> Result<String, GraphError> {
    let id = graph
        .id(view, node)
        .map_err(|error| super::failed(error.into()))?;
    Ok(id.to_string())
}

/// Writes a list of ids.
pub(super) fn ids(
    json: &mut JsonWriter,
    view: &View,
    graph: &Projection,
    nodes: &[Node],
) -> Result<(), GraphError> {
    json.begin_array();
    for node in nodes {
        let id = graph
            .id(view, *node)
            .map_err(|error| super::failed(error.into()))?;
        output::vertex_id(json, &id);
    }
    json.end_array();
    Ok(())
}

/// An object as the text of a result.
pub(super) fn object(
    write: impl FnOnce(&mut JsonWriter) -> Result<(), GraphError>,
) -> Result<String, GraphError> {
    let mut json = JsonWriter::with_capacity(256);
    json.begin_object();
    write(&mut json)?;
    json.end_object();
    text(json)
}

/// The written JSON as the text of a result.
pub(super) fn text(json: JsonWriter) -> Result<String, GraphError> {
    String::from_utf8(json.finish()).map_err(|_| GraphError::invalid("A result is not UTF-8"))
}
