//! The possible final values of the vertices that a row changed.
//!
//! Users write to the same vertices concurrently, so the last acknowledged write need not be the
//! last one applied. A write can only be ruled out if another acknowledged write of the same vertex
//! was sent after its acknowledgement. A failed write may still be applied at any time, and is
//! never ruled out.
//!
//! Only the vertices with the smallest hashes are tracked. So all workers track the same vertices,
//! each vertex is equally likely, and all writes of a tracked vertex are known. The run's seed
//! determines the hashes.

use std::collections::HashMap;

use super::schedule::Nanos;
use crate::random::mix;

/// The most values of a tracked vertex; of a vertex with more, only its existence is checked.
const VALUES_MAX: usize = 4_096;

/// A request that changed vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    /// Number of the first vertex; consecutive numbers follow, modulo `vertices`.
    pub(crate) first: u64,
    pub(crate) count: u32,
    /// The number of vertices that may be changed.
    pub(crate) vertices: u64,
    /// The seed of the values.
    pub(crate) seed: u64,
}

/// The tracked changes of a row.
#[derive(Debug)]
pub(crate) struct Changes {
    /// The number of vertices that are needed in the end; 0 tracks none.
    wanted: usize,
    /// The seed of the hashes.
    seed: u64,
    /// Vertices with a larger hash are not tracked.
    hash_max: u64,
    vertices: HashMap<u64, Followed>,
    /// Failed requests, of which nobody knows whether and when they are applied.
    uncertain: u64,
}

#[derive(Debug, Clone, Default)]
struct Followed {
    /// The time at which the latest acknowledged write was sent.
    latest_sent: Option<Nanos>,
    /// End and seed of the writes that may be the last.
    last: Vec<(Nanos, u64)>,
    too_many: bool,
}

/// A vertex that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) number: u64,
    /// The seeds of its possible values. Empty if there are too many.
    pub(crate) seeds: Vec<u64>,
}

impl Default for Changes {
    fn default() -> Self {
        Self::following(0, 0)
    }
}

const fn hash(number: u64, seed: u64) -> u64 {
    mix(number ^ mix(seed ^ 0x05EE_D0F5_A3B1))
}

impl Changes {
    /// Tracks at least `wanted` vertices, or all changed ones if they are fewer.
    pub(crate) fn following(wanted: usize, seed: u64) -> Self {
        Self {
            wanted,
            seed,
            hash_max: u64::MAX,
            vertices: HashMap::new(),
            uncertain: 0,
        }
    }

    /// Records a request that was sent at `sent`, and acknowledged at `acknowledged` unless it
    /// failed.
    pub(crate) fn note(&mut self, change: &Change, sent: Nanos, acknowledged: Option<Nanos>) {
        self.uncertain += u64::from(acknowledged.is_none());
        if self.wanted == 0 {
            return;
        }
        for at in 0..u64::from(change.count) {
            let number = (change.first + at) % change.vertices.max(1);
            if hash(number, self.seed) <= self.hash_max {
                let followed = self.vertices.entry(number).or_default();
                followed.note(change.seed, sent, acknowledged);
            }
        }
        self.follow_fewer();
    }

    /// Drops vertices once there are more than twice as many as wanted.
    fn follow_fewer(&mut self) {
        if self.vertices.len() <= 2 * self.wanted {
            return;
        }
        let numbers = self.vertices.keys();
        let mut hashes: Vec<u64> = numbers.map(|number| hash(*number, self.seed)).collect();
        let (_, bound, _) = hashes.select_nth_unstable(self.wanted);
        self.hash_max = *bound;
        self.keep_followed();
    }

    fn keep_followed(&mut self) {
        let (hash_max, seed) = (self.hash_max, self.seed);
        self.vertices
            .retain(|number, _| hash(*number, seed) <= hash_max);
    }

    /// Adds the changes of another worker with the same seed.
    pub(crate) fn merge(&mut self, other: Self) {
        self.uncertain += other.uncertain;
        if self.wanted == 0 {
            let uncertain = self.uncertain;
            *self = Self { uncertain, ..other };
            return;
        }
        self.hash_max = self.hash_max.min(other.hash_max);
        for (number, followed) in other.vertices {
            self.vertices.entry(number).or_default().merge(followed);
        }
        self.keep_followed();
        self.follow_fewer();
    }

    /// The number of failed requests.
    pub(crate) const fn uncertain(&self) -> u64 {
        self.uncertain
    }

    /// At most `limit` of the vertices with an acknowledged change, in the order of their numbers,
    /// and whether these are all.
    pub(crate) fn chosen(&self, limit: usize) -> (Vec<Changed>, bool) {
        let vertices = self.vertices.iter();
        let mut changed: Vec<Changed> = vertices
            .filter(|(_, followed)| followed.latest_sent.is_some())
            .map(|(number, followed)| Changed {
                number: *number,
                seeds: followed.seeds(),
            })
            .collect();
        let all = self.hash_max == u64::MAX && changed.len() <= limit;
        changed.sort_unstable_by_key(|it| hash(it.number, self.seed));
        changed.truncate(limit);
        changed.sort_unstable_by_key(|it| it.number);
        (changed, all)
    }
}

impl Followed {
    fn note(&mut self, seed: u64, sent: Nanos, acknowledged: Option<Nanos>) {
        if acknowledged.is_some() {
            self.latest_sent = self.latest_sent.max(Some(sent));
        }
        self.last.push((acknowledged.unwrap_or(Nanos::MAX), seed));
        self.forget();
    }

    fn merge(&mut self, other: Self) {
        self.latest_sent = self.latest_sent.max(other.latest_sent);
        self.last.extend(other.last);
        self.too_many |= other.too_many;
        self.forget();
    }

    /// Drops the writes that a later write has replaced.
    fn forget(&mut self) {
        if let Some(latest) = self.latest_sent {
            self.last.retain(|(ended, _)| *ended >= latest);
        }
        // A dropped value may be the final one, so the vertex stays marked.
        if self.last.len() > VALUES_MAX {
            self.too_many = true;
            self.last.clear();
        }
    }

    fn seeds(&self) -> Vec<u64> {
        match self.too_many {
            true => Vec::new(),
            false => self.last.iter().map(|(_, seed)| *seed).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTICES: u64 = 1_000;

    const fn change(first: u64, count: u32, seed: u64) -> Change {
        Change {
            first,
            count,
            vertices: VERTICES,
            seed,
        }
    }

    fn seeds(changes: &Changes, number: u64) -> Vec<u64> {
        let (changed, _) = changes.chosen(usize::MAX);
        let found = changed.into_iter().find(|it| it.number == number);
        let mut seeds = found.expect("the vertex was changed").seeds;
        seeds.sort_unstable();
        seeds
    }

    #[test]
    fn one_write_after_another_leaves_the_last() {
        let mut changes = Changes::following(10, 1);
        changes.note(&change(5, 1, 1), 10, Some(20));
        changes.note(&change(5, 1, 2), 30, Some(40));
        assert_eq!(seeds(&changes, 5), [2]);
    }

    #[test]
    fn writes_at_the_same_time_may_each_be_the_last() {
        let mut changes = Changes::following(10, 1);
        changes.note(&change(5, 1, 1), 10, Some(30));
        changes.note(&change(5, 1, 2), 20, Some(25));
        assert_eq!(seeds(&changes, 5), [1, 2]);
        // Sent after both were acknowledged.
        changes.note(&change(5, 1, 3), 31, Some(35));
        assert_eq!(seeds(&changes, 5), [3]);
    }

    #[test]
    fn writes_of_other_workers_count() {
        let (mut one, mut two) = (Changes::following(10, 1), Changes::following(10, 1));
        one.note(&change(5, 1, 1), 10, Some(20));
        one.note(&change(6, 1, 2), 21, Some(50));
        two.note(&change(5, 1, 3), 30, Some(40));
        two.note(&change(6, 1, 4), 45, Some(48));
        let mut all = Changes::default();
        all.merge(one);
        all.merge(two);
        assert_eq!(seeds(&all, 5), [3]);
        assert_eq!(seeds(&all, 6), [2, 4]);
    }

    #[test]
    fn a_write_that_failed_may_be_done_at_any_time() {
        let mut changes = Changes::following(10, 1);
        changes.note(&change(5, 1, 1), 10, None);
        assert!(changes.chosen(10).0.is_empty(), "nothing was acknowledged");
        changes.note(&change(5, 1, 2), 30, Some(40));
        assert_eq!(seeds(&changes, 5), [1, 2]);
        assert_eq!(changes.uncertain(), 1);
    }

    #[test]
    fn of_too_many_values_nothing_is_said() {
        let mut changes = Changes::following(10, 1);
        changes.note(&change(5, 1, 0), 10, Some(20));
        for seed in 0..=VALUES_MAX as u64 {
            changes.note(&change(5, 1, seed), 15, None);
        }
        changes.note(&change(5, 1, 9), 30, Some(40));
        assert!(seeds(&changes, 5).is_empty());
    }

    #[test]
    fn a_batch_goes_on_with_number_0() {
        let mut changes = Changes::following(10, 1);
        changes.note(&change(VERTICES - 2, 4, 7), 1, Some(2));
        let (changed, all) = changes.chosen(10);
        let numbers: Vec<u64> = changed.iter().map(|it| it.number).collect();
        assert_eq!((numbers, all), (vec![0, 1, 998, 999], true));
    }

    #[test]
    fn which_vertices_are_followed_follows_from_the_seed() {
        let numbers = |seed| {
            let mut changes = Changes::following(20, seed);
            changes.note(&change(0, VERTICES as u32, 1), 1, Some(2));
            let (changed, _) = changes.chosen(20);
            changed.iter().map(|it| it.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1), numbers(1));
        let both = numbers(1)
            .iter()
            .filter(|it| numbers(2).contains(it))
            .count();
        assert!(both < 10, "{both} of 20 are the same");
    }

    #[test]
    fn workers_that_follow_few_follow_the_same() {
        let (mut one, mut two) = (Changes::following(20, 1), Changes::following(20, 1));
        for round in 0..10 {
            for first in (0..VERTICES).step_by(100) {
                let (start, end) = (round * 100, round * 100 + 10);
                one.note(&change(first, 100, round), start, Some(end));
                // The writes of `two` are the later ones.
                two.note(&change(first, 100, 100 + round), start + 50, Some(end + 50));
            }
        }
        one.merge(two);
        let (changed, all) = one.chosen(20);
        assert_eq!((changed.len(), all), (20, false));
        assert!(changed.iter().all(|it| it.seeds == [109]), "{changed:?}");
    }
}
