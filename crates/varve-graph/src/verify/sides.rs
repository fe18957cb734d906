//! Checks that the two sides of an edge have the same rows and the same events.
//!
//! The sides of an edge are far apart in storage, so a look-up of each row's other side would
//! dominate the cost of a verification. Instead it computes a sum of hashes: those of the sources'
//! sides are added, those of the targets' sides subtracted. Only if the sum is not zero, a second
//! pass looks up the rows and reports those that differ.

use varve_encoding::key;
use varve_encoding::tables::{EDGE, EVENT};
use varve_kv::{ReaderExt, TableId};
use varve_model::{CommitVersion, Direction, EdgeId};

use super::rows::Rows;
use super::{Check, Wrong};
use crate::error::GraphError;
use crate::hash;

/// The sum over the rows and events of edges; zero if both sides are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sides(u128);

impl Sides {
    pub(super) fn add(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }

    /// Adds one side's row of `edge`, or its event of a version.
    pub(super) fn add_row(
        &mut self,
        edge: &EdgeId,
        direction: Direction,
        version: Option<CommitVersion>,
        value: &[u8],
    ) {
        let mut bytes = key::vertex_id(&edge.source);
        bytes.extend_from_slice(&key::edge_clustering(edge, Direction::Out));
        match version {
            None => bytes.push(0),
            Some(version) => {
                bytes.push(1);
                bytes.extend_from_slice(&version.0.to_be_bytes());
            }
        }
        bytes.extend_from_slice(value);
        let hash = hash::wide(&bytes);
        self.0 = match direction {
            Direction::Out => self.0.wrapping_add(hash),
            Direction::In => self.0.wrapping_sub(hash),
        };
    }
}

impl Check<'_> {
    /// Compares rows or events of edges with the other side. A row that does not decode was
    /// reported by the first pass.
    pub(super) fn sides_of(&mut self, table: TableId, rows: &Rows) -> Result<(), GraphError> {
        self.each(table, rows, |check, (partition, clustering, value)| {
            let current = match table {
                EVENT => key::split_event(clustering).ok(),
                _ => Some((clustering, CommitVersion(0))),
            };
            let decoded = current.and_then(|(current, version)| {
                Some((key::decode_edge(partition, current).ok()?, version))
            });
            let Some(((edge, direction), version)) = decoded else {
                return Ok(());
            };
            check.side(table, &edge, direction.opposite(), version, value)
        })
    }

    fn side(
        &mut self,
        table: TableId,
        edge: &EdgeId,
        other: Direction,
        version: CommitVersion,
        value: &[u8],
    ) -> Result<(), Wrong> {
        let owner = key::vertex_id(edge.owner(other));
        let mut clustering = key::edge_clustering(edge, other);
        if table == EVENT {
            clustering = key::event_clustering(&clustering, version);
        }
        let mirrored = self.reader.get(table, &owner, &clustering)?;
        if mirrored.as_deref() != Some(value) {
            self.problem(|| match table {
                EDGE => format!("{edge}: the two sides' rows differ"),
                _ => format!("{edge}: the two sides' events {version} differ"),
            });
        }
        Ok(())
    }
}
