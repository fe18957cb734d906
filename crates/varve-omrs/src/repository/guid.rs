//! GUIDs of new instances.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// A random UUID (version 4) as text.
///
/// Its bits are a keyed hash of a counter. Each process takes its key from the operating system's
/// randomness.
pub(super) fn random() -> String {
    static KEYS: OnceLock<[RandomState; 2]> = OnceLock::new();
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let keys = KEYS.get_or_init(|| [RandomState::new(), RandomState::new()]);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let [high, low] = [&keys[0], &keys[1]].map(|key| key.hash_one(count));
    text(high, low)
}

/// The UUID of version 4 with these bits, apart from the bits of version and variant.
fn text(high: u64, low: u64) -> String {
    let high = high & 0xffff_ffff_ffff_0fff | 0x4000;
    let low = low & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000;
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn says_its_version() {
        assert_eq!(text(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(
            text(u64::MAX, u64::MAX),
            "ffffffff-ffff-4fff-bfff-ffffffffffff"
        );
        assert_eq!(
            text(0x0123_4567_89ab_cdef, 0x0123_4567_89ab_cdef),
            "01234567-89ab-4def-8123-456789abcdef"
        );
    }

    #[test]
    fn differs_each_time() {
        let some: HashSet<String> = (0..1000).map(|_| random()).collect();
        assert_eq!(some.len(), 1000);
    }
}
