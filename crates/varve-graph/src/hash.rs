//! Hashes of ids and values that clients choose, for tables in memory. The seed is random in each
//! process, so clients cannot choose ids with colliding hashes. Stored hashes use other functions.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::{Xxh3Builder, xxh3_64_with_seed, xxh3_128_with_seed};

/// A map by ids or values that clients choose.
pub(crate) type IdMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

pub(crate) fn of(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, *SEED)
}

/// The hash of two keys, one after the other.
pub(crate) fn of_two(first: &[u8], second: &[u8]) -> u64 {
    const INLINE: usize = 256;
    let length = first.len() + second.len();
    if length <= INLINE {
        let mut bytes = [0; INLINE];
        bytes[..first.len()].copy_from_slice(first);
        bytes[first.len()..length].copy_from_slice(second);
        return of(&bytes[..length]);
    }
    let mut hash = Xxh3Builder::new().with_seed(*SEED).build();
    hash.update(first);
    hash.update(second);
    hash.digest()
}

/// A hash of bytes, wide enough to identify them.
pub(crate) fn wide(bytes: &[u8]) -> u128 {
    xxh3_128_with_seed(bytes, *SEED)
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

    use super::*;

    #[test]
    fn nobody_can_choose_ids_of_one_hash() {
        assert_ne!(of(b"an id"), xxh3_64(b"an id"));
        assert_ne!(wide(b"an id"), xxh3_128(b"an id"));
        assert_eq!(of(b"an id"), of(b"an id"));
        for length in [3, 300] {
            let (first, second) = (vec![1; length], vec![2; length]);
            assert_eq!(of_two(&first, &second), of(&[first, second].concat()));
        }
    }
}
