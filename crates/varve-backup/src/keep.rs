//! Which backups are kept.

use std::time::Duration;

/// Which backups of a store are kept. Without a rule all are; with both rules those that either
/// keeps. The newest one always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Keep {
    /// So many of the newest; 0: no such rule.
    pub newest: usize,
    /// Those that are no older than this; `None`: no such rule.
    pub younger_than: Option<Duration>,
}

impl Keep {
    /// How many of the oldest backups are to be removed at `now`. `created` are the instants of
    /// all, the oldest first; in microseconds, as `now`.
    #[must_use]
    pub fn surplus(&self, created: &[i64], now: i64) -> usize {
        if self.newest == 0 && self.younger_than.is_none() {
            return 0;
        }
        let by_number = created.len() - self.newest.max(1).min(created.len());
        let Some(age) = self.younger_than else {
            return by_number;
        };
        let age = i64::try_from(age.as_micros()).unwrap_or(i64::MAX);
        let oldest = now.saturating_sub(age);
        by_number.min(created.partition_point(|created| *created < oldest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_either_rule_keeps_is_kept() {
        let created = [10, 20, 30, 40];
        let surplus = |newest, micros: Option<u64>| {
            let younger_than = micros.map(Duration::from_micros);
            let keep = Keep {
                newest,
                younger_than,
            };
            keep.surplus(&created, 45)
        };
        assert_eq!(surplus(0, None), 0);
        assert_eq!(surplus(3, None), 1);
        assert_eq!(surplus(9, None), 0);
        assert_eq!(surplus(0, Some(15)), 2);
        assert_eq!(surplus(0, Some(1)), 3, "the newest is kept");
        assert_eq!(surplus(3, Some(15)), 1);
        assert_eq!(surplus(1, Some(15)), 2);
        assert_eq!(surplus(1, Some(100)), 0);
        assert_eq!(Keep::default().surplus(&[], 45), 0);
    }
}
