//! Limits on the size of traversals.

use crate::TraversalError;

/// The capacity of a request: the most vertices or partial paths that it may touch, or no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    most: Option<u64>,
    /// The name of the search in error messages; `None` = the traverser's own.
    what: Option<&'static str>,
}

impl Capacity {
    /// No bound but that of the meter.
    pub const NONE: Self = Self {
        most: None,
        what: None,
    };

    /// A capacity of `most`.
    #[must_use]
    pub const fn of(most: u64) -> Self {
        Self {
            most: Some(most),
            what: None,
        }
    }

    /// The same capacity, with this name of the search in error messages.
    #[must_use]
    pub const fn finding(self, what: &'static str) -> Self {
        Self {
            what: Some(what),
            ..self
        }
    }

    /// The number of further touches after which [`Capacity::check`] fails.
    pub(crate) fn left(self, touched: u64) -> usize {
        let left = self
            .most
            .map_or(u64::MAX, |most| most.saturating_sub(touched));
        usize::try_from(left)
            .unwrap_or(usize::MAX)
            .saturating_add(1)
    }

    /// Checks a neighbourhood search that has complete layers and more to come.
    ///
    /// # Errors
    ///
    /// If `touched` vertices use up the capacity.
    pub fn check_layer(self, touched: u64, remaining: u64) -> Result<(), TraversalError> {
        match self.most {
            Some(most) if touched >= most => Err(TraversalError::Capacity(format!(
                "Reach capacity '{most}' while remaining depth '{remaining}'"
            ))),
            _ => Ok(()),
        }
    }

    /// Checks a similarity search.
    ///
    /// # Errors
    ///
    /// If `touched` exceeds the capacity.
    pub fn check_reached(self, touched: u64) -> Result<(), TraversalError> {
        match self.most {
            Some(most) if touched > most => {
                Err(TraversalError::Capacity(format!("Reach capacity '{most}'")))
            }
            _ => Ok(()),
        }
    }

    /// Checks a search. `what` names it in the error message.
    ///
    /// # Errors
    ///
    /// If `touched` exceeds the capacity.
    pub fn check(self, touched: u64, what: &str) -> Result<(), TraversalError> {
        match self.most {
            Some(most) if touched > most => Err(TraversalError::Capacity(format!(
                "Exceed capacity '{most}' while finding {}",
                self.what.unwrap_or(what)
            ))),
            _ => Ok(()),
        }
    }
}
