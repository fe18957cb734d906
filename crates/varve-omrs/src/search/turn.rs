//! A turn of one way: a part of a walk.

use std::ops::ControlFlow;

use super::access::Access;
use super::{Meter, Query};
use crate::error::OmrsError;
use crate::store::{Read, Step, Walk};
use crate::types::Catalogue;

/// After so many instances with the same value that do not count, the others are passed over: to
/// begin a walk anew costs about as much as to look at these.
const SAME_MAX: usize = 16;

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// With more to look at.
    Unfinished,
    /// With the page.
    Done,
    /// With more than may be held.
    TooMuch,
    /// Without a way to the page.
    NoWay,
}

/// What a query is asked of.
pub(super) type Asked<'a> = (&'a dyn Read, &'a Catalogue, &'a Query);

/// What is done after an instance was looked at.
pub(super) enum Next {
    GoOn,
    /// The same, and those that have the same value in the walk's order do not count either.
    PassSameValue,
    /// The page, or what may be held, is full.
    Full,
    /// Nothing that comes in this walk counts.
    EndWalk,
}

/// Goes on with a walk until the budget is used up (then its place is kept in `after`), or it is at
/// its end (then `after` is none and the result is true), or the page is full (then `budget` is
/// what is left of it).
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

/// Instances with the same value that came one after the other and do not count.
#[derive(Default)]
struct SameValue {
    behind: Vec<u8>,
    count: usize,
}

impl SameValue {
    /// One more came: the place behind all of them once they are many.
    fn passed(&mut self, read: &dyn Read, place: &[u8]) -> Option<Vec<u8>> {
        let behind = read.behind_same_value(place)?;
        if behind != self.behind {
            (self.behind, self.count) = (behind, 0);
        }
        self.count += 1;
        (self.count == SAME_MAX).then(|| std::mem::take(&mut self.behind))
    }
}
