//! A way by the texts that match a pattern: of the few that do, all instances that have one.
//!
//! All texts are looked at for that, which is worth while only when many instances would have to be
//! looked at otherwise. So this way begins when the others have looked at some.

use super::access::Access;
use super::collected::Collected;
use super::turn::{Asked, Turn};
use super::{Meter, Order};
use crate::error::OmrsError;
use crate::matching::Pattern;
use crate::store::TextHint;

/// How many texts can be looked at in the time that an instance takes.
const TEXTS_PER_INSTANCE: usize = 100;
/// The most texts whose instances are looked up.
const TEXTS_MAX: usize = 512;

/// The way, before and after it has begun.
pub(super) enum ByTexts {
    Waiting(Order, Pattern),
    Begun(Collected),
}

impl ByTexts {
    pub(super) fn new(order: Order, pattern: &Pattern) -> Self {
        Self::Waiting(order, pattern.clone())
    }

    /// What it holds, in bytes.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Waiting(..) => 0,
            Self::Begun(collected) => collected.held(),
        }
    }

    /// `is_last`: no other way is left.
    pub(super) fn go_on(
        &mut self,
        asked: Asked<'_>,
        meter: &Meter,
        budget: &mut usize,
        is_last: bool,
    ) -> Result<Turn, OmrsError> {
        if let Self::Waiting(order, pattern) = self {
            let (read, ..) = asked;
            let Some(count) = read.texts() else {
                return Ok(Turn::NoWay);
            };
            if !is_last && meter.examined() < count / TEXTS_PER_INSTANCE {
                return Ok(Turn::Unfinished);
            }
            let mut matches = |text: &str| {
                let is_match = pattern.matches(text);
                meter.pass(text.len())?;
                Ok(is_match)
            };
            let Some(found) = read.matching_texts(&mut matches, TEXTS_MAX)? else {
                return Ok(Turn::NoWay);
            };
            let access = |hint| match hint {
                TextHint::Is(text) => Access::Text(text),
                TextHint::Starts(start) => Access::TextStarts(start),
            };
            let walks = found.into_iter().map(access).collect();
            *self = Self::Begun(Collected::new(order.clone(), walks));
        }
        match self {
            Self::Begun(collected) => collected.go_on(asked, meter, budget),
            Self::Waiting(..) => Ok(Turn::NoWay),
        }
    }
}
