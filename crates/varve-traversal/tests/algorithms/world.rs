//! Random graphs with parallel edges, self-loops, weights and vertices without edges.

use varve_model::{
    Direction, Edge, EdgeId, EdgeLabelId, Properties, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};
use varve_testkit::Random;
use varve_testkit::model::ModelView;
use varve_traversal::{Node, Projection, ProjectionAsk};
use varve_view::Meter;

/// Random graphs of one test; `VARVE_TRAVERSAL_GRAPHS` asks for more.
const GRAPHS: usize = 2_000;
/// The property that holds an edge's weight.
pub(crate) const WEIGHT: PropertyKeyId = PropertyKeyId(1);

/// Vertices from 0 on, and edges from, to and with a weight.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    pub(crate) vertices: usize,
    pub(crate) edges: Vec<(Node, Node, f64)>,
}

impl Graph {
    fn new(random: &mut Random) -> Self {
        let vertices = 2 + random.below(8);
        let is_weighted = random.below(2) == 0;
        let edge = |random: &mut Random| {
            let weight = match is_weighted {
                true => random.below(7) as f64 / 2.0,
                false => 1.0,
            };
            let ends = [0, 1].map(|_| random.below(vertices) as Node);
            (ends[0], ends[1], weight)
        };
        let count = random.below(3 * vertices);
        let mut edges: Vec<_> = (0..count).map(|_| edge(random)).collect();
        edges.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        Self { vertices, edges }
    }

    /// The graph as a view shows it.
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

    /// Copies with both directions, OUT only and IN only.
    pub(crate) fn projections(&self) -> [Projection; 3] {
        let view = self.view_or_none();
        [None, Some(Direction::Out), Some(Direction::In)].map(|direction| match &view {
            Some(view) => {
                let ask = ProjectionAsk {
                    direction,
                    weight: Some(WEIGHT),
                    ..ProjectionAsk::default()
                };
                Projection::new(view, &ask, &Meter::unlimited()).expect("a projection")
            }
            None => Projection::of_edges(self.vertices, &self.edges),
        })
    }

    /// The view of a small graph; the model looks at all of it for each question.
    fn view_or_none(&self) -> Option<ModelView> {
        (self.vertices <= 50).then(|| self.view())
    }
}

/// Runs a test on many graphs; a failure says the number of its graph.
pub(crate) fn each_graph(test: impl Fn(&Graph, &mut Random)) {
    let asked = std::env::var("VARVE_TRAVERSAL_GRAPHS");
    let graphs = asked.map_or(GRAPHS, |text| {
        text.parse().expect("VARVE_TRAVERSAL_GRAPHS: a number")
    });
    for number in 0..graphs {
        let mut random = Random::new(number as u64);
        let graph = Graph::new(&mut random);
        let shown = Shown(&graph, number);
        test(&graph, &mut random);
        std::mem::forget(shown);
    }
}

/// Says which graph it was when a test panics.
struct Shown<'a>(&'a Graph, usize);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        eprintln!("graph {}: {:?}", self.1, self.0);
    }
}
