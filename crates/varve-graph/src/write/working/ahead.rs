//! Reads and look-ups for all mutations of a request at once, before the first is applied.

use smallvec::SmallVec;
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::ReaderExt;

use super::WorkingSet;
use crate::error::GraphError;
use crate::write::keys::RowKeys;
use crate::write::{EndCheck, Mutation};

impl WorkingSet<'_> {
    /// Looks up what is known without a read: which elements have no row, and the labels of all
    /// ends that must be checked. The look-ups follow one another directly, so that the processor
    /// overlaps their cache misses.
    pub(super) fn look_ahead(&mut self, mutations: &[Mutation]) {
        let may_be_absent = |mutation: &Mutation| {
            matches!(
                mutation,
                Mutation::PutRow { fresh: false, .. }
                    | Mutation::PutVertex { fresh: false, .. }
                    | Mutation::PutEdge { .. }
            )
        };
        let mut asked = SmallVec::<[_; 2]>::with_capacity(mutations.len());
        asked.extend(
            (0..)
                .zip(mutations)
                .filter(|(_, mutation)| may_be_absent(mutation))
                .map(|(number, _)| self.keys.of(number).first()),
        );
        let mut answers = self.reader.known_absent(&asked).into_iter();
        let absent = |mutation| may_be_absent(mutation) && answers.next() == Some(true);
        self.absent = mutations.iter().map(absent).collect();
        let checked = |mutation: &Mutation| match mutation {
            Mutation::PutRow { ends, .. }
            | Mutation::PutEdge { ends, .. }
            | Mutation::Modify { ends, .. } => matches!(ends, EndCheck::Exist { .. }),
            Mutation::PutVertex { .. } | Mutation::Delete { .. } | Mutation::DeleteEdges { .. } => {
                false
            }
        };
        if !mutations.iter().any(checked) {
            return;
        }
        let known = self.graph.known_vertices();
        let ends = |number| match self.keys.of(number) {
            _ if self.is_dated(number) => (None, None),
            RowKeys::Edge { source, target, .. } => (known.label(source), known.label(target)),
            RowKeys::Vertex { .. } => (None, None),
        };
        self.ends = (0..).take(mutations.len()).map(ends).collect();
    }

    /// Reads the rows of this request's elements in one call for each table, since each call is a
    /// round trip.
    pub(super) fn read_ahead(&mut self, mutations: &[Mutation]) -> Result<(), GraphError> {
        let wanted = (0..).zip(mutations).filter(|(number, mutation)| {
            let fresh = matches!(
                mutation,
                Mutation::PutRow { fresh: true, .. } | Mutation::PutVertex { fresh: true, .. }
            );
            !fresh && self.absent.get(*number as usize) != Some(&true)
        });
        let wanted: Vec<u32> = wanted.map(|(number, _)| number).collect();
        self.ahead = vec![None; mutations.len()];
        for table in [VERTEX, EDGE] {
            let (mut numbers, mut rows) = (Vec::new(), Vec::new());
            for number in &wanted {
                let (of, partition, clustering) = self.keys.of(*number).first();
                if of == table {
                    numbers.push(*number);
                    rows.push((partition, clustering));
                }
            }
            if rows.is_empty() {
                continue;
            }
            let found = self.reader.multi_get(table, &rows)?;
            for (number, row) in numbers.into_iter().zip(found) {
                self.ahead[number as usize] = Some(row);
            }
        }
        self.read_ends_ahead()
    }
}
