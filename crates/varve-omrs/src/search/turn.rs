//! A turn of one way: a part of a walk.

use std::ops::ControlFlow;

use super::access::Access;
use super::{Meter, Query};
use crate::error::OmrsError;
use crate::store::{Read, Step, Walk};
use crate::types::Catalogue;

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
    /// The page, or what may be held, is full.
    Full,
    /// Nothing that comes in this walk counts.
    EndWalk,
}

/// Goes on with a walk until the budget is used up (then its place is kept in `after`), or it is at its end (then `after` is
/// none and the result is true), or the page is full (then `budget` is what is left of it).
pub(super) fn go_on(
    (read, _, query): Asked<'_>,
    (access, reverse): (&Access, bool),
    after: &mut Option<Vec<u8>>,
    (meter, budget): (&Meter, &mut usize),
    look: &mut dyn FnMut(Step<'_>) -> Next,
) -> Result<bool, OmrsError> {
    let from = after.take();
    let walk = Walk {
        subject: query.subject,
        of: access.walked_type(query),
        by: access.by(),
        reverse,
        after: from.as_deref(),
    };
    let mut is_at_end = true;
    let mut stopped_at = None;
    read.walk(&walk, &mut |step| {
        *budget -= 1;
        meter.examine()?;
        let place = step.place;
        match look(step) {
            Next::EndWalk => return Ok(ControlFlow::Break(())),
            Next::GoOn if *budget > 0 => return Ok(ControlFlow::Continue(())),
            Next::GoOn | Next::Full => {}
        }
        stopped_at = Some(place.to_vec());
        is_at_end = false;
        Ok(ControlFlow::Break(()))
    })?;
    *after = stopped_at;
    Ok(is_at_end)
}
