//! One turn of a plan: a part of a walk.

use std::ops::ControlFlow;

use super::access::Access;
use super::{Meter, Query};
use crate::error::OmrsError;
use crate::graph_store::{GraphReader, Step};
use crate::store::Walk;
use crate::types::Catalogue;

/// The number of failing instances with the same value after which the other instances with that
/// value are skipped. Restarting a walk costs about as much as examining that many.
const SAME_MAX: usize = 16;

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// More instances remain to be examined.
    Unfinished,
    /// The plan has the page.
    Done,
    /// The plan needs more memory than allowed.
    TooMuch,
    /// The plan cannot find the page.
    NoWay,
}

/// A query with its reader and types.
pub(super) type Asked<'a> = (&'a GraphReader, &'a Catalogue, &'a Query);

/// How a walk continues after an instance.
pub(super) enum Next {
    GoOn,
    /// Continues, since the instance fails, and so do all with the same value in the walk's order.
    PassSameValue,
    /// Stops: the page or the memory is full.
    Full,
    /// Ends this walk: no later instance is a result.
    EndWalk,
}

/// Continues a walk until one of three ends. The budget is used up: `after` has the position. The
/// walk is at its end: returns true, and `after` is `None`. The page is full: `budget` has the
/// rest.
pub(super) fn go_on(
    (read, _, query): Asked<'_>,
    (access, reverse): (&Access, bool),
    after: &mut Option<Vec<u8>>,
    (meter, budget): (&Meter, &mut usize),
    look: &mut dyn FnMut(Step<'_>) -> Next,
) -> Result<bool, OmrsError> {
    let mut from = after.take();
    loop {
        let walk = Walk {
            subject: query.subject,
            of: access.walked_type(query),
            by: access.by(),
            reverse,
            after: from.as_deref(),
        };
        let mut is_at_end = true;
        let mut stopped_at = None;
        let mut same = SameValue::default();
        let mut passes_on = false;
        read.walk(&walk, &mut |step| {
            *budget -= 1;
            meter.examine()?;
            let place = step.place;
            let next = look(step);
            if matches!(next, Next::EndWalk) {
                return Ok(ControlFlow::Break(()));
            }
            let behind = match next {
                Next::PassSameValue => same.passed(read, place),
                _ => None,
            };
            passes_on = behind.is_some();
            if !passes_on && *budget > 0 && !matches!(next, Next::Full) {
                return Ok(ControlFlow::Continue(()));
            }
            stopped_at = Some(behind.unwrap_or_else(|| place.to_vec()));
            is_at_end = false;
            Ok(ControlFlow::Break(()))
        })?;
        if passes_on && *budget > 0 {
            from = stopped_at;
            continue;
        }
        *after = stopped_at;
        return Ok(is_at_end);
    }
}

/// Consecutive failing instances with the same value.
#[derive(Default)]
struct SameValue {
    behind: Vec<u8>,
    count: usize,
}

impl SameValue {
    /// Counts one more. Once there are many, returns the position after all instances with this
    /// value.
    fn passed(&mut self, read: &GraphReader, place: &[u8]) -> Option<Vec<u8>> {
        let behind = read.behind_same_value(place)?;
        if behind != self.behind {
            (self.behind, self.count) = (behind, 0);
        }
        self.count += 1;
        (self.count == SAME_MAX).then(|| std::mem::take(&mut self.behind))
    }
}
