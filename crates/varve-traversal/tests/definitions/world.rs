//! A graph that traversers search, and random steps over it.

use std::rc::Rc;

use varve_model::{
    Condition, Direction, EdgeLabelId, Predicate, PropertyKeyId, Value, VertexId, VertexLabelId,
};
use varve_testkit::Random;
use varve_testkit::model::ModelView;
use varve_traversal::{EdgeFilter, Step, VertexFilter};
use varve_view::GraphView;

/// A property that vertices and edges have: a whole number below [`VALUES`].
pub(crate) const KEY: PropertyKeyId = PropertyKeyId(1);
pub(crate) const VALUES: usize = 4;
pub(crate) const EDGE_LABELS: u32 = 3;
pub(crate) const VERTEX_LABELS: u32 = 2;

pub(crate) struct World {
    /// The graph from which the expected answers are computed.
    pub(crate) view: ModelView,
    /// The view that searches read; `None` = the same graph.
    shown: Option<Rc<dyn GraphView>>,
    present: Vec<usize>,
    places: usize,
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

impl World {
    /// A world with the graph of `view`. Searches read `shown`, or `view` if there is none.
    pub(crate) fn of(view: ModelView, shown: Option<Rc<dyn GraphView>>) -> Self {
        let vertices = view.all_vertices().iter();
        let mut present: Vec<usize> = vertices.map(|vertex| place(&vertex.id)).collect();
        present.sort_unstable();
        let edges = view.all_edges().iter();
        let ends = edges.flat_map(|edge| [place(&edge.id.source), place(&edge.id.target)]);
        let last = ends.chain(present.iter().copied()).max();
        Self {
            view,
            shown,
            present,
            places: last.map_or(0, |last| last + 1),
        }
    }

    /// The view that searches read.
    pub(crate) fn shown(&self) -> &dyn GraphView {
        self.shown.as_deref().unwrap_or(&self.view)
    }

    /// The vertices that exist.
    pub(crate) fn present(&self) -> &[usize] {
        &self.present
    }

    /// One more than the greatest vertex number, including vertices that only edges name.
    pub(crate) fn places(&self) -> usize {
        self.places
    }

    pub(crate) fn vertex(&self, random: &mut Random) -> usize {
        *random.pick(&self.present)
    }

    /// A random step, with degree bounds if `bounded`. Degree bounds depend on the end from which
    /// an edge is walked, so searches from both ends use steps without them.
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
