//! The rows of a statement as records.

use std::time::Instant;

use varve_bolt::{Response, Version};
use varve_cypher::{CypherError, Graph};
use varve_query::QueryError;

use super::outbox::FLUSH_BYTES;
use super::rows::{Batch, Feed};
use super::values::Renderer;
use crate::cypher::{self, CypherFailure, Sink};

/// Makes records of rows, and gives them to the client.
pub(super) struct Records<'f> {
    feed: &'f Feed,
    version: Version,
    deadline: Instant,
    /// Whether all records are kept until the end.
    pub(super) is_kept: bool,
    batch: Batch,
    kept: Vec<Batch>,
}

impl<'f> Records<'f> {
    pub(super) fn new(feed: &'f Feed, version: Version, deadline: Instant) -> Self {
        Self {
            feed,
            version,
            deadline,
            is_kept: false,
            batch: Batch::default(),
            kept: Vec::new(),
        }
    }

    /// Gives the records of the current batch, or keeps them.
    fn flush(&mut self, graph: Option<&Graph<'_>>) -> Result<(), CypherFailure> {
        if self.batch.ends.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        if !self.is_kept {
            return Ok(self.feed.give(batch, self.deadline)?);
        }
        if let Some(graph) = graph {
            let held = graph.meter.hold(batch.bytes.len());
            held.map_err(CypherError::from)?;
        }
        self.kept.push(batch);
        Ok(())
    }

    /// Gives what is left.
    pub(super) fn end(&mut self) -> Result<(), CypherFailure> {
        self.flush(None)?;
        for batch in self.kept.drain(..) {
            match self.feed.give(batch, self.deadline) {
                Ok(()) => {}
                // The statement is done; its client does not want the records.
                Err(QueryError::View(varve_view::ViewError::Cancelled)) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl Sink for Records<'_> {
    fn restart(&mut self) {
        self.batch = Batch::default();
        self.kept.clear();
    }

    fn rows(&mut self, graph: &Graph<'_>, batch: &cypher::Batch) -> Result<(), CypherFailure> {
        graph.prefetch(batch.rows().flat_map(|(row, _)| row))?;
        let renderer = Renderer {
            graph: *graph,
            version: self.version,
        };
        for (row, count) in batch.rows() {
            let values = row.iter().map(|value| renderer.value(value));
            let record = Response::Record(values.collect::<Result<_, _>>()?);
            cypher::copies(count, graph, || {
                self.batch.add(&record, self.version)?;
                match self.batch.bytes.len() >= FLUSH_BYTES {
                    true => self.flush(Some(graph)),
                    false => Ok(()),
                }
            })?;
        }
        // A client gets what there is: the next rows may take long.
        self.flush(Some(graph))
    }
}
