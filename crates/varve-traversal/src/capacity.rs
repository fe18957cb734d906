//! How many vertices a traversal may touch.

use crate::TraversalError;

/// The capacity of a request: a number of vertices, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity(Option<u64>);

impl Capacity {
    /// No bound but the meter's.
    pub const NONE: Self = Self(None);

    /// At most `vertices`.
    #[must_use]
    pub const fn of(vertices: u64) -> Self {
        Self(Some(vertices))
    }

    /// How many more may be touched until [`Capacity::check`] fails.
    pub(crate) fn left(self, touched: u64) -> usize {
        let left = self.0.map_or(u64::MAX, |most| most.saturating_sub(touched));
        usize::try_from(left)
            .unwrap_or(usize::MAX)
            .saturating_add(1)
    }

    /// Ends a neighbourhood whose capacity is reached while layers remain.
    ///
    /// # Errors
    /// When `touched` vertices use all of it.
    pub fn check_layer(self, touched: u64, remaining: u64) -> Result<(), TraversalError> {
        match self.0 {
            Some(most) if touched >= most => Err(TraversalError::Capacity(format!(
                "Reach capacity '{most}' while remaining depth '{remaining}'"
            ))),
            _ => Ok(()),
        }
    }

    /// Ends a search that touched more than it may.
    ///
    /// # Errors
    /// When `touched` is more than the capacity; `what` names what was searched for.
    pub fn check(self, touched: u64, what: &str) -> Result<(), TraversalError> {
        match self.0 {
            Some(most) if touched > most => Err(TraversalError::Capacity(format!(
                "Exceed capacity '{most}' while finding {what}"
            ))),
            _ => Ok(()),
        }
    }
}
