//! Counts of elements by label.

use std::collections::BTreeMap;

use varve_model::{EdgeLabelId, VertexLabelId};
use varve_view::{Elements, Flow, GraphView, Meter, ScanAsk, ScannedElement};

use crate::TraversalError;

/// Elements in one call of a scan.
const PIECE: usize = 65_536;

/// The number of elements of each label that has any.
pub type Counts<L> = BTreeMap<L, u64>;

/// Counts vertices by label. `progress` gets the number counted so far.
///
/// # Errors
///
/// Those of the view.
pub fn count_vertices(
    view: &dyn GraphView,
    meter: &Meter,
    progress: &mut dyn FnMut(u64),
) -> Result<Counts<VertexLabelId>, TraversalError> {
    let mut counts = Counts::new();
    scan(
        view,
        Elements::Vertices(&[]),
        meter,
        progress,
        &mut |found| {
            if let ScannedElement::Vertex { vertex, .. } = found {
                *counts.entry(vertex.label).or_insert(0) += 1;
            }
        },
    )?;
    Ok(counts)
}

/// Counts edges by label, as [`count_vertices`].
///
/// # Errors
/// As [`count_vertices`].
pub fn count_edges(
    view: &dyn GraphView,
    meter: &Meter,
    progress: &mut dyn FnMut(u64),
) -> Result<Counts<EdgeLabelId>, TraversalError> {
    let mut counts = Counts::new();
    scan(view, Elements::Edges(&[]), meter, progress, &mut |found| {
        if let ScannedElement::Edge(edge) = found {
            *counts.entry(edge.label).or_insert(0) += 1;
        }
    })?;
    Ok(counts)
}

fn scan(
    view: &dyn GraphView,
    elements: Elements<'_>,
    meter: &Meter,
    progress: &mut dyn FnMut(u64),
    count: &mut dyn FnMut(&ScannedElement<'_>),
) -> Result<(), TraversalError> {
    let ask = ScanAsk {
        elements,
        conditions: &[],
        order: None,
        properties: &[],
    };
    let (mut from, mut counted) = (None, 0);
    loop {
        from = view.scan(&ask, from.as_ref(), PIECE, meter, &mut |found| {
            count(found);
            counted += 1;
            Flow::Continue(())
        })?;
        progress(counted);
        if from.is_none() {
            return Ok(());
        }
    }
}
