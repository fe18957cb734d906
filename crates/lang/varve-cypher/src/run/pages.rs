//! Pages of scans, by an index if one serves the conditions.

use varve_model::{Condition, PropertyKeyId};
use varve_view::{Elements, Flow, ScanAsk, ScanOrder, ScanPosition, ScannedElement, ViewError};

use super::Cx;
use crate::error::Outcome;

/// What a scan reads, and where its next page begins.
pub(super) struct Pages<L> {
    /// None: elements of all labels.
    labels: Vec<L>,
    conditions: Vec<Condition>,
    /// The order of the elements, if an index has it.
    order: Option<ScanOrder>,
    position: Option<ScanPosition>,
}

impl<L> Pages<L> {
    pub(super) fn new(labels: Vec<L>, conditions: Vec<Condition>) -> Pages<L> {
        Pages {
            labels,
            conditions,
            order: None,
            position: None,
        }
    }

    /// The same pages, before the first of them, in an order, unless no index has it.
    pub(super) fn set_order(&mut self, order: ScanOrder) {
        self.order = Some(order);
    }

    /// Whether the pages so far are in the order.
    pub(super) fn is_in_order(&self) -> bool {
        self.order.is_some()
    }

    /// Reads a page of at least `size` candidates. Without an index, it reads more than the
    /// conditions and labels select; the filters behind the scan check them again. Returns whether
    /// there are more pages.
    pub(super) fn next(
        &mut self,
        cx: Cx<'_>,
        elements: impl Fn(&[L]) -> Elements<'_>,
        (properties, size): (&[PropertyKeyId], usize),
        mut visit: impl FnMut(&ScannedElement<'_>) -> Outcome<()>,
    ) -> Outcome<bool> {
        loop {
            let ask = ScanAsk {
                elements: elements(&self.labels),
                conditions: &self.conditions,
                order: self.order,
                properties,
            };
            let mut failed = None;
            let each = &mut |found: &ScannedElement<'_>| match visit(found) {
                Ok(()) => Flow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    Flow::Break(())
                }
            };
            let (view, meter) = (cx.view(), cx.graph().meter);
            let scanned = view.scan(&ask, self.position.as_ref(), size, meter, each);
            if let Some(error) = failed {
                return Err(error);
            }
            match scanned {
                Ok(position) => {
                    self.position = position;
                    return Ok(self.position.is_some());
                }
                Err(ViewError::NoIndex(_)) if self.order.is_some() && self.position.is_none() => {
                    self.order = None;
                }
                Err(ViewError::NoIndex(_)) if !self.conditions.is_empty() => {
                    self.conditions.clear();
                }
                Err(ViewError::NoIndex(_)) if !self.labels.is_empty() => self.labels.clear(),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
