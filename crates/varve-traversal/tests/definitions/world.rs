//! Random graphs with parallel edges, self-loops and several labels; random steps over them.

use varve_model::{
    Condition, Direction, Edge, EdgeId, EdgeLabelId, Predicate, Properties, PropertyKeyId, Value,
    Vertex, VertexId, VertexLabelId,
};
use varve_testkit::Random;
use varve_testkit::model::ModelView;
use varve_traversal::{EdgeFilter, Step, VertexFilter};

/// A property that vertices and edges have: a whole number below [`VALUES`].
pub(crate) const KEY: PropertyKeyId = PropertyKeyId(1);
const VALUES: usize = 4;
const EDGE_LABELS: u32 = 3;
const VERTEX_LABELS: u32 = 2;

pub(crate) struct World {
    pub(crate) view: ModelView,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for vertex in self.view.all_vertices() {
            writeln!(
                f,
                "vertex {} {:?} {:?}",
                vertex.id, vertex.label, vertex.properties
            )?;
        }
        for edge in self.view.all_edges() {
            writeln!(f, "edge {} {:?}", edge.id, edge.properties)?;
        }
        Ok(())
    }
}

pub(crate) fn id(place: usize) -> VertexId {
    VertexId::Number(place as i64)
}

pub(crate) fn place(id: &VertexId) -> usize {
    match id {
        VertexId::Number(number) => *number as usize,
        other => panic!("{other} is no vertex of these graphs"),
    }
}

fn value(random: &mut Random) -> Properties {
    let value = Value::Int(random.below(VALUES) as i32);
    [(KEY, value)].into_iter().collect()
}

impl World {
    pub(crate) fn new(random: &mut Random) -> Self {
        let count = 2 + random.below(8);
        let vertices: Vec<Vertex> = (0..count)
            .map(|place| Vertex {
                id: id(place),
                label: VertexLabelId(1 + random.below(VERTEX_LABELS as usize) as u32),
                properties: value(random),
            })
            .collect();
        let mut edges: Vec<Edge> = Vec::new();
        for _ in 0..random.below(3 * count) {
            let label = EdgeLabelId(1 + random.below(EDGE_LABELS as usize) as u32);
            let ends = [random.below(count), random.below(count)];
            let edge = Edge {
                id: EdgeId {
                    source: id(ends[0]),
                    parent: label,
                    label,
                    sort_values: random.below(2).to_string().into(),
                    target: id(ends[1]),
                },
                source_label: vertices[ends[0]].label,
                target_label: vertices[ends[1]].label,
                properties: value(random),
            };
            if edges.iter().all(|other| other.id != edge.id) {
                edges.push(edge);
            }
        }
        let view = ModelView::of(vertices, edges);
        Self { view }
    }

    pub(crate) fn vertex(&self, random: &mut Random) -> usize {
        random.below(self.view.all_vertices().len())
    }

    /// A step; with bounds of the degree if `bounded`. These do not look the same from both ends of
    /// an edge, so searches from both ends go without.
    pub(crate) fn step(&self, random: &mut Random, bounded: bool) -> Step {
        let condition = |random: &mut Random| Condition {
            key: KEY,
            predicate: Predicate::Gt(Value::Int(random.below(VALUES) as i32 - 1)),
        };
        let mut labels: Vec<EdgeLabelId> = (1..=EDGE_LABELS).map(EdgeLabelId).collect();
        match random.below(2) {
            0 => labels.clear(),
            _ => labels.retain(|_| random.below(2) == 0),
        }
        let (mut edges, mut vertices) = (Vec::new(), Vec::new());
        for _ in 0..random.below(3) {
            let label = EdgeLabelId(1 + random.below(EDGE_LABELS as usize) as u32);
            edges.push(EdgeFilter {
                label: (random.below(2) == 0).then_some(label),
                conditions: vec![condition(random)],
            });
        }
        for _ in 0..random.below(4).saturating_sub(1) {
            let label = VertexLabelId(1 + random.below(VERTEX_LABELS as usize) as u32);
            vertices.push(VertexFilter {
                label: (random.below(2) == 0).then_some(label),
                conditions: match random.below(2) {
                    0 => Vec::new(),
                    _ => vec![condition(random)],
                },
            });
        }
        let bound = |random: &mut Random| {
            (bounded && random.below(3) == 0).then(|| 1 + random.below(5) as u64)
        };
        Step {
            direction: [None, Some(Direction::Out), Some(Direction::In)][random.below(3)],
            labels,
            max_degree: bound(random),
            skip_degree: bound(random),
            edges,
            vertices,
            ..Step::default()
        }
    }
}
