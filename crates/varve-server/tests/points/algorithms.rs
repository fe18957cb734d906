//! The algorithms: the checks of `varve-traversal` at points of histories, over some of the labels.

#[path = "../../../varve-traversal/tests/algorithms/definitions.rs"]
mod definitions;
#[path = "../../../varve-traversal/tests/algorithms/random.rs"]
mod random;
#[path = "../../../varve-traversal/tests/algorithms/world.rs"]
mod world;

mod making {
    //! Points of histories.

    use std::rc::Rc;

    use varve_model::{EdgeLabelId, Value, VertexId, VertexLabelId};
    use varve_testkit::Random;
    use varve_testkit::model::ModelView;
    use varve_traversal::Node;

    use super::world::{Graph, Stored};
    use crate::history::{self, KEY};

    /// Points that one test reads.
    pub(crate) const GRAPHS: u64 = 2_000;

    pub(crate) fn graph(number: u64, random: &mut Random) -> Graph {
        let (view, model) = history::point(number, random);
        let stored = Stored {
            view: Rc::new(view),
            labels: match random.below(2) {
                0 => Vec::new(),
                _ => vec![EdgeLabelId(1 + random.below(3) as u32), EdgeLabelId(2)],
            },
            vertex_labels: match random.below(4) {
                0 => vec![VertexLabelId(1)],
                _ => Vec::new(),
            },
            weight: (random.below(2) == 0).then_some(KEY),
        };
        let (vertices, edges) = part(&model, &stored);
        Graph {
            stored: Some(stored),
            ..Graph::of(vertices, edges)
        }
    }

    /// What a projection shows, by the definition: the vertices of the labels in the order of
    /// their ids, and the edges of the labels between them.
    fn part(model: &ModelView, stored: &Stored) -> (usize, Vec<(Node, Node, f64)>) {
        let wanted =
            |label| stored.vertex_labels.is_empty() || stored.vertex_labels.contains(label);
        let vertices = model.all_vertices().iter();
        let mut ids: Vec<&VertexId> = vertices
            .filter(|vertex| wanted(&vertex.label))
            .map(|vertex| &vertex.id)
            .collect();
        ids.sort_unstable();
        let number = |id: &VertexId| {
            let at = ids.iter().position(|own| *own == id)?;
            Some(at as Node)
        };
        let edges = model.all_edges().iter();
        let of_labels =
            edges.filter(|edge| stored.labels.is_empty() || stored.labels.contains(&edge.id.label));
        let mut shown: Vec<(Node, Node, f64)> = of_labels
            .filter_map(|edge| {
                let value = stored.weight.and_then(|key| edge.properties.get(key));
                let weight = value.and_then(Value::as_f64).unwrap_or(1.0);
                Some((number(&edge.id.source)?, number(&edge.id.target)?, weight))
            })
            .collect();
        shown.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
        (ids.len(), shown)
    }
}
