//! The versions of one element, and the parts of valid time in which each decides.

use std::collections::BTreeSet;

use varve_model::{ElementId, Instant, Period};
use varve_view::{Flow, GraphView, Meter, PastVersion, ViewError};

/// The versions of an element, newest first.
pub(super) struct Versions {
    pub(super) all: Vec<PastVersion>,
    /// Whether there are older versions that were not read.
    pub(super) truncated: bool,
}

/// A part of valid time in which one version decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) period: Period,
    /// The index of that version among all versions.
    pub(super) version: usize,
}

impl Versions {
    /// The newest versions, up to `most`, read from a view of all valid times.
    pub(super) fn of(
        view: &dyn GraphView,
        id: &ElementId,
        most: usize,
        meter: &Meter,
    ) -> Result<Self, ViewError> {
        let (mut all, mut truncated) = (Vec::new(), false);
        view.versions(id, meter, &mut |past| {
            if all.len() == most {
                truncated = true;
                return Flow::Break(());
            }
            if past.period.from < past.period.to {
                all.push(past);
            }
            Flow::Continue(())
        })?;
        Ok(Self { all, truncated })
    }

    /// The parts of valid time in which each version decides, ascending, without overlap. No
    /// version covers the gaps between them.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let periods = self.all.iter().enumerate();
        let mut bounds: Vec<(Instant, bool, usize)> = periods
            .flat_map(|(at, version)| {
                let Period { from, to } = version.period;
                [(from, true, at), (to, false, at)]
            })
            .collect();
        bounds.sort_unstable();
        let mut pieces: Vec<Piece> = Vec::new();
        // The newest version that covers an instant decides: it has the lowest index.
        let mut open: BTreeSet<usize> = BTreeSet::new();
        for (at, (instant, begins, version)) in bounds.iter().enumerate() {
            match begins {
                true => open.insert(*version),
                false => open.remove(version),
            };
            let next = bounds.get(at + 1).map_or(*instant, |(next, ..)| *next);
            let Some(version) = open.first().copied().filter(|_| *instant < next) else {
                continue;
            };
            let period = Period {
                from: *instant,
                to: next,
            };
            match pieces.last_mut() {
                Some(last) if last.version == version && last.period.to == period.from => {
                    last.period.to = period.to;
                }
                _ => pieces.push(Piece { period, version }),
            }
        }
        pieces
    }

    /// Whether a version overrides an older one in valid time that was already past when the newer
    /// one was recorded.
    pub(super) fn is_correction(&self, at: usize) -> bool {
        let own = &self.all[at];
        let passed = Period {
            from: own.period.from,
            to: own.period.to.min(own.version.instant()),
        };
        let mut older = self.all[at + 1..].iter();
        passed.from < passed.to && older.any(|older| older.period.overlaps(passed))
    }
}

#[cfg(test)]
mod tests {
    use varve_model::{CommitVersion, Element, Properties, Vertex, VertexId, VertexLabelId};

    use super::*;

    fn version(recorded: i64, from: i64, to: i64, exists: bool) -> PastVersion {
        let vertex = Vertex {
            id: VertexId::Number(1),
            label: VertexLabelId(1),
            properties: Properties::new(),
        };
        PastVersion {
            version: CommitVersion::first_at(Instant(recorded)),
            period: Period {
                from: Instant(from),
                to: Instant(to),
            },
            element: exists.then_some(Element::Vertex(vertex)),
            superseded: None,
        }
    }

    fn versions(all: Vec<PastVersion>) -> Versions {
        Versions {
            all,
            truncated: false,
        }
    }

    #[test]
    fn the_newest_version_that_covers_a_place_decides_there() {
        let versions = versions(vec![
            version(40, 15, 20, false),
            version(30, 10, 30, true),
            version(20, 0, i64::MAX, true),
        ]);
        let pieces: Vec<_> = versions
            .pieces()
            .iter()
            .map(|piece| (piece.period.from.0, piece.period.to.0, piece.version))
            .collect();
        assert_eq!(
            pieces,
            [
                (0, 10, 2),
                (10, 15, 1),
                (15, 20, 0),
                (20, 30, 1),
                (30, i64::MAX, 2)
            ]
        );
    }

    #[test]
    fn every_instant_has_the_version_that_resolution_gives() {
        let mut state = 7_u64;
        let mut draw = |bound: i64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            i64::try_from(state >> 33).expect("31 bits") % bound
        };
        for _ in 0..500 {
            let all = (0..8).map(|at| {
                let from = draw(20);
                version(100 - at, from, from + 1 + draw(10), draw(4) > 0)
            });
            let versions = versions(all.collect());
            let pieces = versions.pieces();
            for at in -1..32 {
                let instant = Instant(at);
                let wanted = versions
                    .all
                    .iter()
                    .position(|version| version.period.covers(instant));
                let mut found = pieces.iter().filter(|piece| piece.period.covers(instant));
                assert_eq!(found.next().map(|piece| piece.version), wanted, "{at}");
                assert_eq!(found.next(), None);
            }
        }
    }

    #[test]
    fn a_correction_overrules_what_was_said_of_the_past() {
        let versions = versions(vec![
            version(50, 50, i64::MAX, true),
            version(40, 10, 20, true),
            version(30, 60, 70, true),
            version(20, 5, i64::MAX, true),
        ]);
        let corrections: Vec<bool> = (0..4).map(|at| versions.is_correction(at)).collect();
        // Versions 0, 2 and 3 are no corrections: a change from now on, a plan, a late first
        // record.
        assert_eq!(corrections, [false, true, false, false]);
    }
}
