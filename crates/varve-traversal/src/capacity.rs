//! How much a traversal may touch.

use crate::TraversalError;

/// The capacity of a request: how many vertices or partial paths it may touch, or any number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    most: Option<u64>,
    /// What the refusal says is searched for, if not what the traverser says.
    what: Option<&'static str>,
}

impl Capacity {
    /// No bound but the meter's.
    pub const NONE: Self = Self {
        most: None,
        what: None,
    };

    /// At most so many.
    #[must_use]
    pub const fn of(most: u64) -> Self {
        Self {
            most: Some(most),
            what: None,
        }
    }

    /// The same, refused as a search for this.
    #[must_use]
    pub const fn finding(self, what: &'static str) -> Self {
        Self {
            what: Some(what),
            ..self
        }
    }

    /// How many more may be touched until [`Capacity::check`] fails.
    pub(crate) fn left(self, touched: u64) -> usize {
        let left = self
            .most
            .map_or(u64::MAX, |most| most.saturating_sub(touched));
        usize::try_from(left)
            .unwrap_or(usize::MAX)
            .saturating_add(1)
    }

    /// Ends a neighbourhood whose capacity is reached while layers remain.
    ///
    /// # Errors
    /// When `touched` vertices use all of it.
    pub fn check_layer(self, touched: u64, remaining: u64) -> Result<(), TraversalError> {
        match self.most {
            Some(most) if touched >= most => Err(TraversalError::Capacity(format!(
                "Reach capacity '{most}' while remaining depth '{remaining}'"
            ))),
            _ => Ok(()),
        }
    }

    /// Ends a search for like vertices that reached more than it may.
    ///
    /// # Errors
    /// When `touched` is more than the capacity.
    pub fn check_reached(self, touched: u64) -> Result<(), TraversalError> {
        match self.most {
            Some(most) if touched > most => {
                Err(TraversalError::Capacity(format!("Reach capacity '{most}'")))
            }
            _ => Ok(()),
        }
    }

    /// Ends a search that touched more than it may.
    ///
    /// # Errors
    /// When `touched` is more than the capacity; `what` names what was searched for.
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
