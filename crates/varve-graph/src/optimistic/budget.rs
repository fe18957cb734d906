//! Budgets of memory that many holders share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::{ErrorKind, GraphError};

/// Bytes that many holders share: the changes of open transactions, what a server keeps between the
/// requests of clients, or what queries hold while they run.
#[derive(Debug)]
pub struct HeldBytes {
    held: AtomicUsize,
    max: usize,
    /// Who holds them, and the option that names the limit.
    whose: &'static str,
}

impl HeldBytes {
    /// A budget of `max` bytes. `whose` says who shares it and how the limit is called, for errors.
    #[must_use]
    pub const fn new(max: usize, whose: &'static str) -> Self {
        let held = AtomicUsize::new(0);
        Self { held, max, whose }
    }

    /// Bytes that are held now.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// A share of the budget, of no bytes yet.
    #[must_use]
    pub fn share(self: Arc<Self>) -> HeldShare {
        let bytes = 0;
        HeldShare {
            budget: self,
            bytes,
        }
    }
}

/// What one holder has of the budget, until it is dropped.
#[derive(Debug)]
pub struct HeldShare {
    budget: Arc<HeldBytes>,
    bytes: usize,
}

impl HeldShare {
    /// Bytes that it holds.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds so many bytes from now on. If that fails, as many as before.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when the budget has no room for more.
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
