//! A cache of JSON rendered from stored bytes, since rendering takes many times as long as a
//! look-up. The key is the stored bytes themselves, so an entry is valid at every point of time and
//! after any write. It is valid only for the types that the cache belongs to.

use std::collections::VecDeque;

use bytes::Bytes;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::store::RenderedEntity;

/// The most memory for lists of classifications, in bytes: the stored lists with their JSON. This
/// is room for some two thousand entities that carry many classifications.
pub(super) const CLASSIFICATION_BYTES_MAX: usize = 64 << 20;
/// The most memory for entities, in bytes. It includes the JSON of their classifications, even if
/// that is cached on its own as well.
pub(super) const ENTITY_BYTES_MAX: usize = 128 << 20;
/// The number of shards, each with its own lock. A power of two.
const SHARDS: usize = 16;
/// The least number of entries that fit in a shard. A larger entry, which would evict many others,
/// is not cached.
const ENTRIES_MIN: usize = 8;
/// The memory of an entry's key beside its bytes.
const STORED_BYTES: usize = 32;
/// The number of recent requests that a shard remembers. JSON is cached at the second request for
/// it, so a scan of a whole type evicts nothing.
const ASKED_FOR: usize = 1024;

/// Something rendered from stored bytes.
pub(super) trait Made: Clone {
    /// The cache key: a name, and the stored bytes.
    fn stored(&self) -> (&str, &[u8]);

    /// The memory of the entry, in bytes, with its key.
    fn bytes(&self) -> usize;
}

/// The JSON of a list of classifications.
#[derive(Clone)]
pub(super) struct MadeClassifications {
    pub(super) stored: Bytes,
    pub(super) json: Bytes,
}

impl Made for MadeClassifications {
    fn stored(&self) -> (&str, &[u8]) {
        ("", &self.stored)
    }

    fn bytes(&self) -> usize {
        self.stored.len() + size_of::<Bytes>() + self.json.len()
    }
}

/// The JSON of an entity. Its GUID is part of the key.
#[derive(Clone)]
pub(super) struct MadeEntity {
    pub(super) stored: Bytes,
    pub(super) rendered: RenderedEntity,
}

impl Made for MadeEntity {
    fn stored(&self) -> (&str, &[u8]) {
        (self.rendered.guid(), &self.stored)
    }

    fn bytes(&self) -> usize {
        self.stored.len() + self.rendered.held_bytes().unwrap_or_default()
    }
}

/// A cache of rendered JSON.
pub(super) struct MadeJson<M> {
    shards: [Mutex<Shard<M>>; SHARDS],
    bytes_max: usize,
}

/// Entries by the hash of their key. The front of the queue is evicted first, unless it was
/// requested since it was queued.
struct Shard<M> {
    entries: FxHashMap<u64, Entry<M>>,
    queue: VecDeque<u64>,
    bytes: usize,
    /// The hashes of recent requests for bytes that are not cached, each at the position that
    /// follows from the hash.
    asked_for: Box<[u64]>,
}

impl<M> Default for Shard<M> {
    fn default() -> Self {
        Self {
            entries: FxHashMap::default(),
            queue: VecDeque::new(),
            bytes: 0,
            asked_for: vec![0; ASKED_FOR].into(),
        }
    }
}

/// The result of a look-up.
pub(super) enum Known<M> {
    /// The cached entry.
    Made(M),
    /// Not cached, but requested recently: the caller should cache what it renders.
    AskedFor,
    /// Not cached, and not requested recently.
    Nothing,
}

struct Entry<M> {
    made: M,
    is_asked_for: bool,
}

fn hash_of((name, bytes): (&str, &[u8])) -> u64 {
    xxh3_64_with_seed(bytes, xxh3_64(name.as_bytes()))
}

/// The memory of an entry, in bytes, about: its slots in a table and a queue that may be half
/// empty, and its content.
fn weight<M: Made>(made: &M) -> usize {
    let place = size_of::<(u64, Entry<M>)>() + size_of::<u64>();
    2 * place + STORED_BYTES + made.bytes()
}

impl<M: Made> MadeJson<M> {
    /// An empty cache of at most `bytes_max` bytes.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            shards: Default::default(),
            bytes_max,
        }
    }

    /// Looks up what was rendered from these bytes.
    pub(super) fn of(&self, stored: (&str, &[u8])) -> Known<M> {
        let hash = hash_of(stored);
        let mut shard = self.shard(hash).lock();
        if let Some(entry) = shard.entries.get_mut(&hash)
            && entry.made.stored() == stored
        {
            entry.is_asked_for = true;
            return Known::Made(entry.made.clone());
        }
        // The shard follows from other bits of the hash.
        let last = &mut shard.asked_for[hash as usize % ASKED_FOR];
        if std::mem::replace(last, hash) == hash {
            Known::AskedFor
        } else {
            Known::Nothing
        }
    }

    /// Caches an entry, if it is not too large.
    pub(super) fn keep(&self, made: &M) {
        let bytes_max = self.bytes_max / SHARDS;
        if weight(made) <= bytes_max / ENTRIES_MIN {
            let hash = hash_of(made.stored());
            self.shard(hash).lock().keep(hash, made.clone(), bytes_max);
        }
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard<M>> {
        // Hash tables use the low bits.
        &self.shards[(hash >> 32) as usize % SHARDS]
    }
}

impl<M: Made> Shard<M> {
    fn keep(&mut self, hash: u64, made: M, bytes_max: usize) {
        self.bytes += weight(&made);
        let is_asked_for = false;
        match self.entries.insert(hash, Entry { made, is_asked_for }) {
            Some(former) => self.bytes -= weight(&former.made),
            None => self.queue.push_back(hash),
        }
        while self.bytes > bytes_max
            && let Some(first) = self.queue.pop_front()
        {
            let Some(entry) = self.entries.get_mut(&first) else {
                continue;
            };
            if std::mem::take(&mut entry.is_asked_for) {
                self.queue.push_back(first);
            } else if let Some(gone) = self.entries.remove(&first) {
                self.bytes -= weight(&gone.made);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES_MAX: usize = 16 << 20;

    fn empty() -> MadeJson<MadeClassifications> {
        MadeJson::new(BYTES_MAX)
    }

    fn made(number: u32, length: usize) -> MadeClassifications {
        let mut stored = vec![0; length];
        stored[..4].copy_from_slice(&number.to_le_bytes());
        MadeClassifications {
            stored: stored.into(),
            json: Bytes::from(number.to_string()),
        }
    }

    fn found(
        all: &MadeJson<MadeClassifications>,
        stored: (&str, &[u8]),
    ) -> Option<MadeClassifications> {
        match all.of(stored) {
            Known::Made(made) => Some(made),
            Known::AskedFor | Known::Nothing => None,
        }
    }

    fn bytes(all: &MadeJson<MadeClassifications>) -> usize {
        let held = all.shards.iter().map(|shard| {
            let shard = shard.lock();
            let weights = shard.entries.values().map(|entry| weight(&entry.made));
            assert_eq!(shard.bytes, weights.sum::<usize>());
            assert_eq!(shard.entries.len(), shard.queue.len());
            shard.bytes
        });
        held.sum()
    }

    #[test]
    fn what_was_made_is_found_by_all_of_its_bytes() {
        let all = empty();
        let one = made(1, 100);
        assert!(found(&all, ("", &one.stored)).is_none());
        all.keep(&one);
        all.keep(&one);
        all.keep(&made(2, 100));
        assert_eq!(
            found(&all, ("", &one.stored)).expect("it is kept").json,
            one.json
        );
        let mut other = one.stored.to_vec();
        other[99] = 1;
        assert!(found(&all, ("", &other)).is_none());
        assert!(found(&all, ("other", &one.stored)).is_none());
        assert_eq!(bytes(&all), weight(&one) + weight(&made(2, 100)));
        // Where hashes are equal, the bytes decide.
        let hash = hash_of(("", &other));
        all.shard(hash).lock().keep(hash, one, BYTES_MAX);
        assert!(found(&all, ("", &other)).is_none());
    }

    #[test]
    fn what_is_asked_for_stays_while_others_come_and_go() {
        let all = empty();
        let wanted = made(0, 10_000);
        all.keep(&wanted);
        let many = u32::try_from(3 * BYTES_MAX / 10_000).expect("a small number");
        for number in 1..many {
            all.keep(&made(number, 10_000));
            assert!(found(&all, ("", &wanted.stored)).is_some());
        }
        assert!(found(&all, ("", &made(1, 10_000).stored)).is_none());
        assert!(found(&all, ("", &made(many - 1, 10_000).stored)).is_some());
        let bytes = bytes(&all);
        assert!(bytes <= BYTES_MAX && bytes > BYTES_MAX / 2);
    }

    #[test]
    fn what_is_asked_for_twice_is_to_be_kept() {
        let all = empty();
        let one = made(1, 100);
        assert!(matches!(all.of(("", &one.stored)), Known::Nothing));
        assert!(matches!(all.of(("", &made(2, 100).stored)), Known::Nothing));
        assert!(matches!(all.of(("", &one.stored)), Known::AskedFor));
        all.keep(&one);
        assert!(matches!(all.of(("", &one.stored)), Known::Made(_)));
    }

    #[test]
    fn what_is_very_long_is_not_kept() {
        let all = empty();
        all.keep(&made(1, BYTES_MAX / SHARDS / ENTRIES_MIN));
        assert_eq!(bytes(&all), 0);
    }
}
