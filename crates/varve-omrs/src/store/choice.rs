//! Which states of a history are read: all have their headers looked at, and no more are made than
//! are asked for.

use super::{LifeStatus, Version};
use crate::error::OmrsError;

/// What reading costs, for whoever bounds it.
pub trait Cost {
    /// Counts a state that is looked at.
    ///
    /// # Errors
    /// When it is one too many, or the time is up; then reading ends.
    fn look(&mut self) -> Result<(), OmrsError>;

    /// Counts a state that is held from now on, of so many bytes as it is stored.
    ///
    /// # Errors
    /// When there is no room for it; then reading ends.
    fn hold(&mut self, bytes: usize) -> Result<(), OmrsError>;
}

/// Says which states of a history are read.
pub trait Choice: Cost {
    /// Counts bytes that are held for the sake of [`Choice::choose`], of all states together, until
    /// that has answered.
    ///
    /// # Errors
    /// When there is no room for them; then reading ends.
    fn keep(&mut self, bytes: usize) -> Result<(), OmrsError>;

    /// The positions of those that are wanted, in the order in which they are. `states` are all,
    /// oldest first; none when the instance is not known.
    ///
    /// # Errors
    /// What reading is to end with.
    fn choose(&mut self, states: &[Version<LifeStatus>]) -> Result<Vec<usize>, OmrsError>;
}

/// All states, oldest first, whatever they cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Everything;

impl Cost for Everything {
    fn look(&mut self) -> Result<(), OmrsError> {
        Ok(())
    }

    fn hold(&mut self, _: usize) -> Result<(), OmrsError> {
        Ok(())
    }
}

impl Choice for Everything {
    fn keep(&mut self, _: usize) -> Result<(), OmrsError> {
        Ok(())
    }

    fn choose(&mut self, states: &[Version<LifeStatus>]) -> Result<Vec<usize>, OmrsError> {
        Ok((0..states.len()).collect())
    }
}

/// Those of all states that are chosen, where all are there already.
pub(super) fn chosen<T>(
    states: Vec<Version<T>>,
    life_status: impl Fn(&T) -> LifeStatus,
    choice: &mut dyn Choice,
) -> Result<Vec<Version<T>>, OmrsError> {
    let shown: Vec<Version<LifeStatus>> = states
        .iter()
        .map(|version| version.with(life_status(&version.state)))
        .collect();
    let chosen = choice.choose(&shown)?;
    let mut states: Vec<_> = states.into_iter().map(Some).collect();
    let take = |at: usize| states.get_mut(at).and_then(Option::take);
    Ok(chosen.into_iter().filter_map(take).collect())
}
