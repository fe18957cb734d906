//! Fingerprints of keys that one stage of a verification has read, for the checks of later stages.
//!
//! A look-up of each index entry and of each end of an edge would dominate the cost of a
//! verification, on a cluster by far. Instead, tables are read in stages, and each stage keeps
//! 64-bit hashes of the keys that later stages ask for. A hash that is missing is looked up in the
//! store, so that a write between two stages is no problem. A missing key goes unnoticed if its
//! hash equals that of another key: with ten million keys, once in two million million times.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::hash;

/// The most hashes of one set, 64 MiB. Of more keys, those with the smallest hashes are kept; the
/// others are looked up in the store.
const PRINTS_MAX: usize = 8 << 20;

/// The fingerprint of a key, whose first part is self-delimiting.
pub(super) fn print(first: &[u8], second: &[u8]) -> u64 {
    hash::of_two(first, second)
}

/// A set of fingerprints that is being collected.
#[derive(Debug)]
pub(super) struct Collected {
    prints: Vec<u64>,
    /// Fingerprints from this one on are not kept; 0 if all are.
    end: u64,
    most: usize,
}

impl Default for Collected {
    fn default() -> Self {
        Self::with_room(PRINTS_MAX)
    }
}

impl Collected {
    fn with_room(most: usize) -> Self {
        Self {
            prints: Vec::new(),
            end: 0,
            most,
        }
    }

    pub(super) fn extend(&mut self, prints: impl IntoIterator<Item = u64>) {
        for print in prints {
            if self.end != 0 && print >= self.end {
                continue;
            }
            self.prints.push(print);
            if self.prints.len() >= 2 * self.most {
                self.shrink();
            }
        }
    }

    /// Sorts the fingerprints and drops the greatest ones if there are too many.
    fn shrink(&mut self) {
        self.prints.sort_unstable();
        self.prints.dedup();
        if let Some(end) = self.prints.get(self.most) {
            self.end = *end;
            self.prints.truncate(self.most);
        }
    }
}

/// A complete set of fingerprints.
#[derive(Debug, Default)]
pub(super) struct Prints {
    sorted: Vec<u64>,
    /// A bit for each fingerprint: whether it was asked for.
    wanted: Vec<AtomicU64>,
    /// Whether fingerprints from this one on exist is unknown; 0 if all are known.
    end: u64,
}

impl Prints {
    /// Adds what a stage has collected.
    pub(super) fn add(&mut self, mut collected: Collected) {
        if collected.prints.is_empty() {
            return;
        }
        let earlier = std::mem::take(&mut self.sorted);
        if self.end != 0 {
            collected.end = match collected.end {
                0 => self.end,
                end => end.min(self.end),
            };
            let end = collected.end;
            collected.prints.retain(|print| *print < end);
        }
        collected.extend(earlier);
        collected.shrink();
        (self.sorted, self.end) = (collected.prints, collected.end);
        let words = self.sorted.len().div_ceil(64);
        self.wanted = (0..words).map(|_| AtomicU64::new(0)).collect();
    }

    /// Whether a key with this fingerprint was read; `None` if that is unknown. Such a key is
    /// wanted.
    pub(super) fn has(&self, print: u64) -> Option<bool> {
        if self.end != 0 && print >= self.end {
            return None;
        }
        let found = self.sorted.binary_search(&print).ok();
        if let Some(at) = found {
            self.wanted[at / 64].fetch_or(1 << (at % 64), Ordering::Relaxed);
        }
        Some(found.is_some())
    }

    /// Whether a key with this fingerprint was read, and no check has wanted it.
    pub(super) fn is_surplus(&self, print: u64) -> bool {
        let found = self.sorted.binary_search(&print).ok();
        found.is_some_and(|at| self.wanted[at / 64].load(Ordering::Relaxed) & 1 << (at % 64) == 0)
    }

    /// The number of fingerprints that no check has wanted.
    pub(super) fn surplus(&self) -> u64 {
        let wanted = self.wanted.iter();
        let wanted: u32 = wanted
            .map(|word| word.load(Ordering::Relaxed).count_ones())
            .sum();
        self.sorted.len() as u64 - u64::from(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_too_many_fingerprints_the_smallest_are_known() {
        let mut collected = Collected::with_room(4);
        collected.extend([9, 1, 8, 2, 7, 3, 6, 4, 1, 5]);
        let mut prints = Prints::default();
        prints.add(collected);
        let has = |print: u64| prints.has(print);
        assert_eq!([1, 2, 3, 4].map(has), [Some(true); 4]);
        assert_eq!(has(0), Some(false));
        assert_eq!([5, 9, u64::MAX].map(has), [None; 3]);
        let mut later = Collected::with_room(4);
        later.extend([0, 9]);
        prints.add(later);
        let has = |print: u64| prints.has(print);
        assert_eq!([0, 1, 2, 3].map(has), [Some(true); 4]);
        assert_eq!([4, 9].map(has), [None; 2]);
    }

    #[test]
    fn all_fingerprints_are_known_while_there_is_room() {
        let mut collected = Collected::with_room(4);
        collected.extend([3, u64::MAX, 3, 0, 3, 3, 3, 3, 3]);
        let mut prints = Prints::default();
        prints.add(collected);
        assert_eq!(
            [0, 3, u64::MAX].map(|print| prints.has(print)),
            [Some(true); 3]
        );
        assert_eq!(prints.has(4), Some(false));
        assert_eq!(Prints::default().has(7), Some(false));
        assert_eq!(prints.surplus(), 0);
    }
}
