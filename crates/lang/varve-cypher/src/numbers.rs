//! The numbers of elements for clients that know no other ids, and that take two elements of one
//! number for the same.

use varve_model::{EdgeId, VertexId};

/// The least number that is a hash. The server makes smaller ids, so no hash is one of them.
pub(crate) const HASH_MIN: i64 = 1 << 62;

/// The number of a vertex, as `id()` returns it. For texts and UUIDs it is a hash of at least 2^62,
/// which is the same at all times.
#[must_use]
pub fn of_vertex(id: &VertexId) -> i64 {
    match id {
        VertexId::Number(number) => *number,
        VertexId::Text(text) => hash(text.as_bytes()),
        VertexId::Uuid(uuid) => hash(&uuid.to_be_bytes()),
    }
}

/// The number of an edge: a hash of its id, of at least 2^62.
#[must_use]
pub fn of_edge(id: &EdgeId) -> i64 {
    hash(id.to_string().as_bytes())
}

/// A hash that stays the same (FNV-1a), in 62 bits and with [`HASH_MIN`] set.
#[must_use]
pub fn hash(bytes: &[u8]) -> i64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    (hash >> 2) as i64 | HASH_MIN
}

/// A float as an integer, if it is exactly one.
pub(crate) fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    #[allow(clippy::cast_possible_truncation, reason = "it is exact")]
    is_whole.then_some(number as i64)
}
