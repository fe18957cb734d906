//! Random graphs with parallel edges, self-loops and several labels.

use varve_model::{Edge, EdgeId, EdgeLabelId, Properties, Value, Vertex, VertexLabelId};
use varve_testkit::Random;
use varve_testkit::model::ModelView;

use super::world::{EDGE_LABELS, KEY, VALUES, VERTEX_LABELS, World, id};

/// The number of random graphs of one test.
pub(crate) const GRAPHS: u64 = 10_000;

fn value(random: &mut Random) -> Properties {
    let value = Value::Int(random.below(VALUES) as i32);
    [(KEY, value)].into_iter().collect()
}

pub(crate) fn world(_seed: u64, random: &mut Random) -> World {
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
    World::of(ModelView::of(vertices, edges), None)
}
