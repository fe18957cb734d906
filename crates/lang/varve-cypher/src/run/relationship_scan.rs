//! Scans of relationships by an index.

use std::sync::Arc;

use varve_model::EdgeLabelId;
use varve_view::{Elements, ScannedElement};

use super::batch::ROWS;
use super::pages::Pages;
use super::{Batch, BoxedOperator, Cx, Operator};
use crate::error::Outcome;
use crate::filters::Types;
use crate::lookups::conditions;
use crate::plan::RelationshipScan;
use crate::value::{Relationship, Value};

/// Relationships of the first page.
const PAGE_MIN: usize = 32;

/// Gives, for each row, the relationships that may have a property of the value.
pub(crate) struct Scan<'p> {
    input: BoxedOperator<'p>,
    scan: &'p RelationshipScan,
    /// The input rows, and the first of them that is not done.
    waiting: (Batch, usize),
    running: Option<Running>,
    /// Relationships of a page: few at first, so that a small limit reads little.
    page: usize,
    /// Bytes of the rows that were given last.
    held: usize,
}

/// The scan for one row.
struct Running {
    row: Batch,
    pages: Pages<EdgeLabelId>,
}

impl<'p> Scan<'p> {
    pub(crate) fn new(input: BoxedOperator<'p>, scan: &'p RelationshipScan) -> Scan<'p> {
        Scan {
            input,
            scan,
            waiting: (Batch::default(), 0),
            running: None,
            page: PAGE_MIN,
            held: 0,
        }
    }

    /// Begins the scan for the next row; `false` at the end.
    fn start(&mut self, cx: Cx<'_>) -> Outcome<bool> {
        let (batch, done) = &mut self.waiting;
        if *done == batch.len() {
            match self.input.next(cx)? {
                Some(next) => (*batch, *done) = (next, 0),
                None => return Ok(false),
            }
            if batch.is_empty() {
                return Ok(true);
            }
        }
        let mut row = Batch::new(batch.width());
        row.push(batch.row(*done), batch.count(*done));
        *done += 1;
        let types = Types::new(self.scan.types.as_ref(), cx.graph().schema);
        if types.is_none {
            return Ok(true);
        }
        let by = self.scan.by.iter().map(|by| {
            let value = cx.evaluate(&by.value, row.row(0))?;
            Ok((by, value))
        });
        let Some(conditions) = conditions(cx.graph().schema, by)? else {
            return Ok(true);
        };
        self.running = Some(Running {
            row,
            pages: Pages::new(types.labels, conditions),
        });
        Ok(true)
    }

    /// A page of the running scan.
    fn page(&mut self, cx: Cx<'_>, mut running: Running) -> Outcome<Batch> {
        let page = self.page;
        self.page = (4 * self.page).min(ROWS);
        let mut out = Batch::new(running.row.width());
        let has_more = running.pages.next(
            cx,
            |labels| Elements::Edges(labels),
            (&[], page),
            |found| {
                let Some(one) = relationship(cx, found)? else {
                    return Ok(());
                };
                out.push(running.row.row(0), running.row.count(0));
                let last = out.len() - 1;
                if let Some(slot) = out.row_mut(last).get_mut(self.scan.relationship) {
                    *slot = Value::Relationship(one);
                }
                Ok(())
            },
        )?;
        if has_more {
            self.running = Some(running);
        }
        Ok(out)
    }
}

fn relationship(cx: Cx<'_>, found: &ScannedElement<'_>) -> Outcome<Option<Arc<Relationship>>> {
    let ScannedElement::Edge(edge) = found else {
        return Ok(None);
    };
    let id = cx.view().edge_id(edge.source, edge.edge)?;
    let start = cx.node(edge.source, edge.source_label)?;
    let end = match edge.target == edge.source {
        true => Arc::clone(&start),
        false => cx.node(edge.target, edge.target_label)?,
    };
    let one = Relationship::new(id, start, end).within(cx.snapshot());
    Ok(Some(Arc::new(one)))
}

impl Operator for Scan<'_> {
    fn next(&mut self, cx: Cx<'_>) -> Outcome<Option<Batch>> {
        let meter = cx.graph().meter;
        meter.release(std::mem::take(&mut self.held));
        loop {
            let Some(running) = self.running.take() else {
                match self.start(cx)? {
                    true => continue,
                    false => return Ok(None),
                }
            };
            let out = self.page(cx, running)?;
            if !out.is_empty() {
                self.held = out.bytes();
                meter.hold(self.held)?;
                return Ok(Some(out));
            }
        }
    }
}
