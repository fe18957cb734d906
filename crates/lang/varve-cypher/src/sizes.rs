//! How many elements a scan would find, for the planner.

use varve_model::{Condition, EdgeLabelId, VertexLabelId};
use varve_view::{Elements, GraphView, Meter, ScanAsk};

/// The most elements that are counted for an estimate; more are as many.
pub(crate) const COUNTED_MAX: u64 = 256;

/// The graph for which a statement is prepared.
#[derive(Clone, Copy)]
pub struct Sizes<'s> {
    /// Its view, and what estimates are charged to; `None` = all nodes count as many.
    pub graph: Option<(&'s dyn GraphView, &'s Meter)>,
}

impl Sizes<'_> {
    /// No estimates.
    pub const UNKNOWN: Sizes<'static> = Sizes { graph: None };

    /// The number of nodes with one of these labels (empty = all) and all these properties, at most
    /// [`COUNTED_MAX`]; `None` if no index serves it, or it is not known.
    pub(crate) fn nodes(&self, labels: &[VertexLabelId], conditions: &[Condition]) -> Option<u64> {
        self.elements(Elements::Vertices(labels), conditions)
    }

    /// As [`Sizes::nodes`], of relationships.
    pub(crate) fn relationships(
        &self,
        labels: &[EdgeLabelId],
        conditions: &[Condition],
    ) -> Option<u64> {
        self.elements(Elements::Edges(labels), conditions)
    }

    fn elements(&self, elements: Elements<'_>, conditions: &[Condition]) -> Option<u64> {
        let (view, meter) = self.graph?;
        let ask = ScanAsk {
            elements,
            conditions,
            order: None,
            properties: &[],
        };
        // The error of a limit that is exceeded comes again when the statement runs.
        view.estimate(&ask, COUNTED_MAX, meter).ok().flatten()
    }
}
