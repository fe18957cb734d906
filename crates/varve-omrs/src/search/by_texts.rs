//! A plan by texts: finds the distinct texts that match a pattern, and visits the instances with
//! these texts.
//!
//! It tests all texts, which is worthwhile only if the other plans must examine many instances. So
//! it waits until these have examined an instance for every [`TEXTS_PER_INSTANCE`] texts, or have
//! all been given up.

use super::access::Access;
use super::collected::Collected;
use super::turn::{Asked, Turn};
use super::{Meter, Order};
use crate::error::OmrsError;
use crate::matching::Pattern;
use crate::store::TextHint;

/// The number of texts that can be tested in the time of examining one instance.
const TEXTS_PER_INSTANCE: usize = 100;
/// The most matching texts, or starts of texts, whose instances are visited. If there are more, the
/// plan is given up.
const TEXTS_MAX: usize = 512;

/// The plan, before and after it has started.
pub(super) enum ByTexts {
    Waiting(Order, Pattern),
    Begun(Collected),
}

impl ByTexts {
    pub(super) fn new(order: Order, pattern: &Pattern) -> Self {
        Self::Waiting(order, pattern.clone())
    }

    /// The bytes of memory that the plan holds.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Waiting(..) => 0,
            Self::Begun(collected) => collected.held(),
        }
    }

    /// Runs one turn. `is_last`: all other plans have been given up.
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
