//! Hashes of ids and values that clients choose, for tables in memory. The seed is random in each
//! process, so clients cannot choose ids with colliding hashes. Stored hashes use other functions.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;

use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128_with_seed};

/// A map by ids or values that clients choose.
pub(crate) type IdMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(()));

pub(crate) fn of(bytes: &[u8]) -> u64 {
    xxh3_64_with_seed(bytes, *SEED)
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
    }
}
