//! Maps an element to its position in a working set.

use rustc_hash::FxHashMap;

/// Positions by the hash of the elements' identities. The identities themselves are stored by the
/// caller, who returns the identity at a position.
#[derive(Debug, Default)]
pub(super) struct Places(FxHashMap<u64, usize>);

impl Places {
    pub(super) fn reserve(&mut self, count: usize) {
        // One element needs no look-up.
        if count > 1 {
            self.0.reserve(count);
        }
    }

    /// Returns the position of `identity`, if it has one.
    pub(super) fn find<'a>(
        &self,
        identity: &[u8],
        at_place: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let mut hash = hash_of(identity);
        loop {
            let at = *self.0.get(&hash)?;
            if at_place(at) == Some(identity) {
                return Some(at);
            }
            hash = hash.wrapping_add(1);
        }
    }

    /// Returns the position of `identity`; a new identity gets the next position.
    pub(super) fn find_or_insert<'a>(
        &mut self,
        identity: &[u8],
        at_place: impl Fn(usize) -> Option<&'a [u8]>,
    ) -> usize {
        let next = self.0.len();
        let mut hash = hash_of(identity);
        loop {
            let at = *self.0.entry(hash).or_insert(next);
            if at == next || at_place(at) == Some(identity) {
                return at;
            }
            // Another identity has the same hash: probe the next number.
            hash = hash.wrapping_add(1);
        }
    }
}

fn hash_of(identity: &[u8]) -> u64 {
    #[cfg(test)]
    if let Some(last) = identity.strip_prefix(b"same hash ") {
        return u64::from(last[0] & 1);
    }
    crate::hash::of(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_of_one_hash_have_places_of_their_own() {
        let names: Vec<Vec<u8>> = (0..9)
            .map(|at| format!("same hash {at}").into_bytes())
            .collect();
        let mut places = Places::default();
        let known = |at: usize| names.get(at).map(Vec::as_slice);
        for (at, name) in names.iter().enumerate() {
            assert_eq!(places.find(name, known), None);
            assert_eq!(places.find_or_insert(name, known), at);
            assert_eq!(places.find_or_insert(name, known), at);
        }
        for (at, name) in names.iter().enumerate() {
            assert_eq!(places.find(name, known), Some(at));
        }
        assert_eq!(places.find(b"same hash 9", known), None);
    }
}
