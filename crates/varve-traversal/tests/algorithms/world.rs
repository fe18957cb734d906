//! A graph as a list of edges, and its projections.

use std::rc::Rc;

use varve_model::{
    Direction, Edge, EdgeId, EdgeLabelId, Properties, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};
use varve_testkit::Random;
use varve_testkit::model::ModelView;
use varve_traversal::{Node, Projection, ProjectionAsk};
use varve_view::{GraphView, Meter};

use super::making;

/// The property with an edge's weight.
pub(crate) const WEIGHT: PropertyKeyId = PropertyKeyId(1);

/// The number of vertices, and edges as (from, to, weight).
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub(crate) vertices: usize,
    pub(crate) edges: Vec<(Node, Node, f64)>,
    /// The stored form of the graph; `None` = only the list exists.
    pub(crate) stored: Option<Stored>,
}

/// A view, and the labels and the weight that belong to the graph.
#[derive(Clone)]
pub(crate) struct Stored {
    pub(crate) view: Rc<dyn GraphView>,
    pub(crate) labels: Vec<EdgeLabelId>,
    pub(crate) vertex_labels: Vec<VertexLabelId>,
    pub(crate) weight: Option<PropertyKeyId>,
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let asked = (&self.labels, &self.vertex_labels, self.weight);
        f.debug_tuple("Stored").field(&asked).finish()
    }
}

impl Graph {
    /// A graph with these edges.
    pub(crate) fn of(vertices: usize, edges: Vec<(Node, Node, f64)>) -> Self {
        Self {
            vertices,
            edges,
            stored: None,
        }
    }

    /// The graph as a model view.
    pub(crate) fn view(&self) -> ModelView {
        let vertices = (0..self.vertices).map(|number| Vertex {
            id: VertexId::Number(number as i64),
            label: VertexLabelId(1),
            properties: Properties::new(),
        });
        let label = EdgeLabelId(1);
        let edges = self.edges.iter().enumerate().map(|(at, edge)| Edge {
            id: EdgeId {
                source: VertexId::Number(i64::from(edge.0)),
                parent: label,
                label,
                sort_values: at.to_string().into(),
                target: VertexId::Number(i64::from(edge.1)),
            },
            source_label: VertexLabelId(1),
            target_label: VertexLabelId(1),
            properties: [(WEIGHT, Value::Double(edge.2))].into_iter().collect(),
        });
        ModelView::of(vertices.collect(), edges.collect())
    }

    /// Projections with both directions, with OUT only and with IN only.
    pub(crate) fn projections(&self) -> [Projection; 3] {
        let stored = self.stored.clone().or_else(|| self.small());
        [None, Some(Direction::Out), Some(Direction::In)].map(|direction| match &stored {
            Some(stored) => {
                let ask = ProjectionAsk {
                    direction,
                    labels: &stored.labels,
                    vertex_labels: &stored.vertex_labels,
                    weight: stored.weight,
                };
                Projection::new(&*stored.view, &ask, &Meter::unlimited()).expect("a projection")
            }
            None => Projection::of_edges(self.vertices, &self.edges),
        })
    }

    /// The graph as a view, if it is small: the model scans the whole graph for each read.
    fn small(&self) -> Option<Stored> {
        (self.vertices <= 50).then(|| Stored {
            view: Rc::new(self.view()),
            labels: Vec::new(),
            vertex_labels: Vec::new(),
            weight: Some(WEIGHT),
        })
    }
}

/// Runs a test on many graphs. A failure prints the number of its graph.
pub(crate) fn each_graph(test: impl Fn(&Graph, &mut Random)) {
    let asked = std::env::var("VARVE_TRAVERSAL_GRAPHS");
    let graphs = asked.map_or(making::GRAPHS, |text| {
        text.parse().expect("VARVE_TRAVERSAL_GRAPHS: a number")
    });
    for number in 0..graphs {
        let mut random = Random::new(number);
        let graph = making::graph(number, &mut random);
        let printer = PrintOnPanic(&graph, number);
        test(&graph, &mut random);
        std::mem::forget(printer);
    }
}

/// Prints the graph when a test panics.
struct PrintOnPanic<'a>(&'a Graph, u64);

impl Drop for PrintOnPanic<'_> {
    fn drop(&mut self) {
        eprintln!("graph {}: {:?}", self.1, self.0);
    }
}
