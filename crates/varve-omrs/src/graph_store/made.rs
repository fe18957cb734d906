//! JSON that was made of stored bytes, kept for whoever reads the same bytes again: making it takes many times as long as
//! finding it. Found by the bytes themselves, so what is found is right whatever was written since, and at every point of
//! time; it holds as long as the types do, which it is kept with.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

/// The most bytes that are kept, both kinds together: the classifications of some two thousand entities of many.
const BYTES_MAX: usize = 64 << 20;
/// Parts that are locked apart. A power of two.
const SHARDS: usize = 16;
/// What is longer is not kept: one of it would drive out many others.
const ENTRY_BYTES_MAX: usize = BYTES_MAX / SHARDS / 8;
/// What an entry takes beside its bytes, about.
const ENTRY_BYTES: usize = 160;

/// Stored bytes and the JSON that was made of them.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) stored: Bytes,
    pub(super) json: Bytes,
}

impl Made {
    fn weight(&self) -> usize {
        ENTRY_BYTES + self.stored.len() + self.json.len()
    }
}

/// What was made lately.
#[derive(Default)]
pub(super) struct MadeJson {
    shards: [Mutex<Shard>; SHARDS],
}

/// Entries by the hash of their stored bytes; the first in the queue goes first, but later if it was asked for since.
#[derive(Default)]
struct Shard {
    entries: FxHashMap<u64, Entry>,
    queue: VecDeque<u64>,
    bytes: usize,
}

struct Entry {
    made: Made,
    is_asked_for: bool,
}

impl MadeJson {
    /// What was made of these bytes.
    pub(super) fn of(&self, stored: &[u8]) -> Option<Made> {
        let hash = xxh3_64(stored);
        let mut shard = self.shard(hash).lock();
        let entry = shard.entries.get_mut(&hash)?;
        if entry.made.stored != stored {
            return None;
        }
        entry.is_asked_for = true;
        Some(entry.made.clone())
    }

    /// Keeps what was made, if it is not too long.
    pub(super) fn keep(&self, made: &Made) {
        if made.weight() <= ENTRY_BYTES_MAX {
            let hash = xxh3_64(&made.stored);
            self.shard(hash).lock().keep(hash, made.clone());
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        // Tables of hashes look at the low bits.
        &self.shards[(hash >> 32) as usize % SHARDS]
    }
}

impl Shard {
    fn keep(&mut self, hash: u64, made: Made) {
        self.bytes += made.weight();
        let is_asked_for = false;
        match self.entries.insert(hash, Entry { made, is_asked_for }) {
            Some(former) => self.bytes -= former.made.weight(),
            None => self.queue.push_back(hash),
        }
        while self.bytes > BYTES_MAX / SHARDS
            && let Some(first) = self.queue.pop_front()
        {
            let Some(entry) = self.entries.get_mut(&first) else {
                continue;
            };
            if std::mem::take(&mut entry.is_asked_for) {
                self.queue.push_back(first);
            } else if let Some(gone) = self.entries.remove(&first) {
                self.bytes -= gone.made.weight();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(number: u32, length: usize) -> Made {
        let mut stored = vec![0; length];
        stored[..4].copy_from_slice(&number.to_le_bytes());
        Made {
            stored: stored.into(),
            json: Bytes::from(number.to_string()),
        }
    }

    fn bytes(all: &MadeJson) -> usize {
        let held = all.shards.iter().map(|shard| {
            let shard = shard.lock();
            let weights = shard.entries.values().map(|entry| entry.made.weight());
            assert_eq!(shard.bytes, weights.sum::<usize>());
            assert_eq!(shard.entries.len(), shard.queue.len());
            shard.bytes
        });
        held.sum()
    }

    #[test]
    fn what_was_made_is_found_by_all_of_its_bytes() {
        let all = MadeJson::default();
        let one = made(1, 100);
        assert!(all.of(&one.stored).is_none());
        all.keep(&one);
        all.keep(&one);
        all.keep(&made(2, 100));
        assert_eq!(all.of(&one.stored).expect("it is kept").json, one.json);
        let mut other = one.stored.to_vec();
        other[99] = 1;
        assert!(all.of(&other).is_none());
        assert_eq!(bytes(&all), one.weight() + made(2, 100).weight());
        // Where hashes are the same, the bytes decide.
        let hash = xxh3_64(&other);
        all.shard(hash).lock().keep(hash, one);
        assert!(all.of(&other).is_none());
    }

    #[test]
    fn what_is_asked_for_stays_while_others_come_and_go() {
        let all = MadeJson::default();
        let wanted = made(0, 10_000);
        all.keep(&wanted);
        let many = u32::try_from(3 * BYTES_MAX / 10_000).expect("a small number");
        for number in 1..many {
            all.keep(&made(number, 10_000));
            assert!(all.of(&wanted.stored).is_some());
        }
        assert!(all.of(&made(1, 10_000).stored).is_none());
        assert!(all.of(&made(many - 1, 10_000).stored).is_some());
        let bytes = bytes(&all);
        assert!(bytes <= BYTES_MAX && bytes > BYTES_MAX / 2);
    }

    #[test]
    fn what_is_very_long_is_not_kept() {
        let all = MadeJson::default();
        all.keep(&made(1, ENTRY_BYTES_MAX));
        assert_eq!(bytes(&all), 0);
    }
}
