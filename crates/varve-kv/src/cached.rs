//! What a thread has put into caches.
//!
//! A query is charged for the memory that its thread allocates. What it reads into a cache stays
//! there after the query, within the cache's own limit, so it is not the query's.

use std::cell::Cell;

thread_local! {
    static BYTES: Cell<i64> = const { Cell::new(0) };
}

/// The bytes that the calling thread has added to caches and not removed. Negative if it has
/// removed what others added.
#[must_use]
pub fn bytes() -> i64 {
    BYTES.get()
}

/// Counts bytes that were added to a cache.
pub fn add(bytes: usize) {
    BYTES.set(BYTES.get().wrapping_add(bytes as i64));
}

/// Counts bytes that were removed from a cache.
pub fn subtract(bytes: usize) {
    BYTES.set(BYTES.get().wrapping_sub(bytes as i64));
}
