//! Budgets of memory that many holders share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{ErrorKind, GraphError};

/// A budget of bytes that many holders share: for the changes of open transactions, for data that a
/// server keeps between requests, or for running queries.
#[derive(Debug)]
pub struct HeldBytes {
    held: AtomicUsize,
    max: usize,
    /// The holders and the option that sets the limit, for error messages.
    whose: &'static str,
}

impl HeldBytes {
    /// A budget of `max` bytes. `whose` names the holders and the option, for error messages.
    #[must_use]
    pub const fn new(max: usize, whose: &'static str) -> Self {
        let held = AtomicUsize::new(0);
        Self { held, max, whose }
    }

    /// The bytes held now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// A new share of the budget, of 0 bytes.
    #[must_use]
    pub fn share(self: Arc<Self>) -> HeldShare {
        let bytes = 0;
        HeldShare {
            budget: self,
            bytes,
        }
    }
}

/// The bytes of the budget that one holder has; dropping it returns them.
#[derive(Debug)]
pub struct HeldShare {
    budget: Arc<HeldBytes>,
    bytes: usize,
}

impl HeldShare {
    /// The bytes of this share.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Changes the share to `bytes`. If that fails, the share stays the same.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when the budget is exhausted.
    pub fn resize(&mut self, bytes: usize) -> Result<(), GraphError> {
        let HeldBytes { held, max, whose } = &*self.budget;
        if bytes <= self.bytes {
            held.fetch_sub(self.bytes - bytes, Ordering::Relaxed);
            self.bytes = bytes;
            return Ok(());
        }
        let more = bytes - self.bytes;
        let grown = |held: usize| held.checked_add(more).filter(|held| held <= max);
        match held.try_update(Ordering::Relaxed, Ordering::Relaxed, grown) {
            Ok(_) => {
                self.bytes = bytes;
                Ok(())
            }
            Err(_) => Err(GraphError::new(
                ErrorKind::Busy,
                format!("{whose} hold all of {max} bytes: try again later"),
            )),
        }
    }
}

impl Drop for HeldShare {
    fn drop(&mut self) {
        self.budget.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_never_hold_more_than_the_budget_and_give_it_back() {
        let budget = Arc::new(HeldBytes::new(100, "All of them (its.limit)"));
        let (mut one, mut other) = (Arc::clone(&budget).share(), Arc::clone(&budget).share());
        assert!(one.resize(70).is_ok());
        let refused = other.resize(31).expect_err("no room");
        assert_eq!(refused.kind, ErrorKind::Busy);
        assert!(
            refused
                .message
                .contains("(its.limit) hold all of 100 bytes")
        );
        assert!(other.resize(30).is_ok() && one.resize(usize::MAX).is_err());
        assert_eq!(budget.held(), 100);
        assert!(one.resize(10).is_ok());
        drop(other);
        assert_eq!(budget.held(), 10);
        drop(one);
        assert_eq!(budget.held(), 0);
    }
}
