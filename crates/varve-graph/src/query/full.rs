//! Scans of the whole table of vertices or edges, in storage order.
//!
//! A scan of the present reads the current tables only. At another point of both times an element
//! may have no current row. So the scan first reads the current tables and resolves each element at
//! the point. Then it reads the event table, for the elements without a current row. An element
//! that is deleted between two pages of such a scan may appear on both.
//!
//! The position is the phase (1 byte), the length of the partition key (2), that key, and the
//! clustering key.

use varve_encoding::DecodeError;
use varve_encoding::key::{self, VERTEX_CLUSTERING};
use varve_encoding::row::{Header, decides_always};
use varve_encoding::tables::{EVENT, VERTEX};
use varve_kv::{Flow, Row};

use super::delivery::FETCH_MAX;
use super::plan::Leg;
use super::resolver::RowKey;
use super::run::{FoundRow, RowVisitor, Run, flow_of};
use crate::GraphError;
use crate::near::get_near;

const CURRENT: u8 = 0;
const EVENTS: u8 = 1;

/// The position of a scan.
#[derive(Debug, Clone)]
struct WalkPosition {
    phase: u8,
    /// The last row that was read.
    after: Option<RowKey>,
}

impl WalkPosition {
    fn parse(position: &[u8]) -> Self {
        let parts = position.split_first().and_then(|(phase, rest)| {
            let (length, rest) = rest.split_first_chunk::<2>()?;
            let (partition, clustering) =
                rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
            Some((*phase, (partition.to_vec(), clustering.to_vec())))
        });
        match parts {
            Some((phase, keys)) => Self {
                phase,
                after: Some(keys),
            },
            None => Self {
                phase: CURRENT,
                after: None,
            },
        }
    }
}

fn write_position(phase: u8, partition: &[u8], clustering: &[u8], out: &mut Vec<u8>) {
    out.push(phase);
    out.extend_from_slice(
        &u16::try_from(partition.len())
            .unwrap_or(u16::MAX)
            .to_be_bytes(),
    );
    out.extend_from_slice(partition);
    out.extend_from_slice(clustering);
}

fn is_vertex(clustering: &[u8]) -> bool {
    clustering == VERTEX_CLUSTERING
}

impl Run<'_> {
    /// Visits every element of the run's table.
    pub(super) fn all(
        &mut self,
        leg: &Leg,
        after: &[u8],
        visit: &mut RowVisitor<'_>,
    ) -> Result<Flow, GraphError> {
        let wanted = match self.table {
            VERTEX => is_vertex,
            _ => key::is_out_edge,
        };
        self.walk_all(wanted, after, &mut |run, phase, batch| match batch {
            Batch::Row(row) => {
                let at = |out: &mut Vec<u8>| {
                    write_position(phase, row.partition, row.clustering, out);
                };
                run.row(leg, row, &at, visit)
            }
            Batch::Unresolved(keys) => run.elements(keys, &mut |run, at, content| {
                let (partition, clustering) = &keys[at];
                let row = FoundRow {
                    partition,
                    clustering,
                    content,
                };
                let at = |out: &mut Vec<u8>| write_position(phase, partition, clustering, out);
                run.row(leg, row, &at, visit)
            }),
        })
    }

    /// Visits the ends of every edge. It records no position, since this scan is never continued.
    pub(super) fn edge_ends(
        &mut self,
        visit: &mut dyn FnMut(&[u8], &[u8]) -> Flow,
    ) -> Result<Flow, GraphError> {
        let mut show = |partition: &[u8], clustering: &[u8]| {
            let damaged = || DecodeError::new("an edge key", clustering, 0);
            let (_, _, target) = key::edge_parts(clustering).ok_or_else(damaged)?;
            Ok(visit(partition, target))
        };
        self.walk_all(key::is_out_edge, &[], &mut |run, _, batch| match batch {
            Batch::Row(row) => show(row.partition, row.clustering),
            Batch::Unresolved(keys) => run.elements(keys, &mut |_, at, _| {
                let (partition, clustering) = &keys[at];
                show(partition, clustering)
            }),
        })
    }

    fn walk_all(
        &mut self,
        wanted: fn(&[u8]) -> bool,
        after: &[u8],
        take: &mut TakeBatch<'_>,
    ) -> Result<Flow, GraphError> {
        let mut place = WalkPosition::parse(after);
        if place.phase == CURRENT {
            let flow = self.current_rows(wanted, place.after.take(), take)?;
            if flow.is_break() || self.resolver.scope().is_now() {
                return Ok(flow);
            }
        }
        self.past_elements(wanted, place.after.take(), take)
    }

    /// Visits the elements that have a current row, with their state at the point. A row that
    /// decides the state is used directly. The other elements are resolved in batches, which grow
    /// while no row decides.
    fn current_rows(
        &mut self,
        wanted: fn(&[u8]) -> bool,
        mut after: Option<RowKey>,
        take: &mut TakeBatch<'_>,
    ) -> Result<Flow, GraphError> {
        let resolver = self.resolver;
        let is_now = resolver.scope().is_now();
        // With a policy every element must be resolved.
        let (may_decide, mut batch) = match resolver.policy() {
            None => (true, 1),
            Some(_) => (false, FETCH_MAX as usize),
        };
        let mut keys: Vec<RowKey> = Vec::new();
        loop {
            let (mut outcome, mut taken) = (Ok(Flow::Continue(())), false);
            keys.clear();
            let mut look = |run: &mut Self, row: Row<'_>| -> Result<Flow, GraphError> {
                run.step()?;
                if !wanted(row.clustering) {
                    return Ok(Flow::Continue(()));
                }
                if keys.is_empty() && may_decide {
                    let (header, content) = Header::decode(row.value)?;
                    if (is_now && decides_always(row.value)) || resolver.decides(&header) {
                        taken = true;
                        let row = FoundRow {
                            partition: row.partition,
                            clustering: row.clustering,
                            content,
                        };
                        return take(run, CURRENT, Batch::Row(row));
                    }
                }
                keys.push((row.partition.to_vec(), row.clustering.to_vec()));
                Ok(match keys.len() < batch {
                    true => Flow::Continue(()),
                    false => Flow::Break(()),
                })
            };
            let reader = resolver.reader();
            reader.scan_table(self.table, borrowed(after.as_ref()), &mut |row: Row<'_>| {
                outcome = look(self, row);
                flow_of(&outcome)
            })?;
            let flow = outcome?;
            let Some(last) = keys.last().cloned() else {
                return Ok(flow);
            };
            let resolved = self.unresolved(CURRENT, &keys, keys.len(), &last, take)?;
            if resolved.is_break() {
                return Ok(resolved);
            }
            after = Some(last);
            if may_decide {
                batch = if taken {
                    1
                } else {
                    (2 * batch).min(FETCH_MAX as usize)
                };
            }
        }
    }

    /// Passes on `keys`, which remain of `found` candidates; `last` is the last of those.
    fn unresolved(
        &mut self,
        phase: u8,
        keys: &[RowKey],
        found: usize,
        last: &RowKey,
        take: &mut TakeBatch<'_>,
    ) -> Result<Flow, GraphError> {
        let before = self.delivery.examined();
        if take(self, phase, Batch::Unresolved(keys))?.is_break() {
            return Ok(Flow::Break(()));
        }
        let end = |out: &mut Vec<u8>| write_position(phase, &last.0, &last.1, out);
        Ok(self.missing(before, found, &end))
    }

    /// Visits the elements that have events but no current row, with their state at the point.
    fn past_elements(
        &mut self,
        wanted: fn(&[u8]) -> bool,
        mut after: Option<RowKey>,
        take: &mut TakeBatch<'_>,
    ) -> Result<Flow, GraphError> {
        let reader = self.resolver.reader();
        loop {
            let mut keys: Vec<RowKey> = Vec::new();
            let mut damaged = None;
            let mut paused = Ok(());
            // Continue after the oldest event of the last element: its clustering key ends in the
            // greatest inverted version.
            let resume = after.as_ref().map(|(partition, clustering)| {
                (
                    partition.clone(),
                    [clustering.as_slice(), &[0xFF; key::EVENT_SUFFIX]].concat(),
                )
            });
            reader.scan_table(EVENT, borrowed(resume.as_ref()), &mut |row: Row<'_>| {
                paused = self.step();
                if paused.is_err() {
                    return Flow::Break(());
                }
                let clustering = match key::split_event(row.clustering) {
                    Ok((clustering, _)) => clustering,
                    Err(error) => {
                        damaged = Some(error);
                        return Flow::Break(());
                    }
                };
                let again = keys
                    .last()
                    .is_some_and(|(p, c)| p == row.partition && c == clustering);
                if again || !wanted(clustering) {
                    return Flow::Continue(());
                }
                if keys.len() == FETCH_MAX as usize {
                    return Flow::Break(());
                }
                keys.push((row.partition.to_vec(), clustering.to_vec()));
                Flow::Continue(())
            })?;
            paused?;
            if let Some(error) = damaged {
                return Err(error.into());
            }
            let Some(last) = keys.last().cloned() else {
                return Ok(Flow::Continue(()));
            };
            let found = keys.len();
            after = Some(last.clone());
            let asked: Vec<(&[u8], &[u8])> = keys
                .iter()
                .map(|(p, c)| (p.as_slice(), c.as_slice()))
                .collect();
            let mut has_row = vec![false; asked.len()];
            get_near(reader, self.table, &asked, &mut |at, _| has_row[at] = true)?;
            let mut has_row = has_row.into_iter();
            keys.retain(|_| has_row.next() == Some(false));
            if self
                .unresolved(EVENTS, &keys, found, &last, take)?
                .is_break()
            {
                return Ok(Flow::Break(()));
            }
        }
    }
}

/// A step of a scan: a row that needs no resolution, or keys of elements to resolve.
enum Batch<'a> {
    Row(FoundRow<'a>),
    Unresolved(&'a [RowKey]),
}

type TakeBatch<'a> = dyn FnMut(&mut Run<'_>, u8, Batch<'_>) -> Result<Flow, GraphError> + 'a;

fn borrowed(keys: Option<&RowKey>) -> Option<(&[u8], &[u8])> {
    keys.map(|(partition, clustering)| (partition.as_slice(), clustering.as_slice()))
}
