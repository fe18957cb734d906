//! The hash of a partition.

use std::sync::LazyLock;

use varve_kv::TableId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Random, so that clients cannot choose keys that collide.
static SEED: LazyLock<u64> = LazyLock::new(|| {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
});

/// The hash of a partition.
#[inline]
pub(crate) fn partition_hash(table: TableId, partition: &[u8]) -> u64 {
    let seed = *SEED ^ u64::from(table.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    xxh3_64_with_seed(partition, seed)
}
