//! Ranges of clustering keys.

/// The clustering keys `k` of one partition with `from <= k < to`; `to = None` means up to the
/// partition's end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusteringRange {
    /// First key inside the range.
    pub from: Vec<u8>,
    /// First key after the range, or `None` for no end.
    pub to: Option<Vec<u8>>,
}

impl ClusteringRange {
    /// The whole partition.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// All keys that start with `prefix`.
    #[must_use]
    pub fn prefix(prefix: &[u8]) -> Self {
        Self {
            from: prefix.to_vec(),
            to: prefix_end(prefix),
        }
    }

    /// The longest prefix that all keys inside are known to share. For [`Self::prefix`] it is that
    /// prefix.
    #[must_use]
    pub fn common_prefix(&self) -> &[u8] {
        let to = self.to.as_deref().unwrap_or_default();
        let both = self.from.iter().zip(to);
        let mut length = both.take_while(|(from, to)| from == to).count();
        // `prefix_end` drops trailing 0xFF bytes and adds one to the byte before them. So where
        // `to` is that byte plus one, every key inside has the byte, and also the 0xFF bytes after
        // it.
        let mut ends_there = self.to.is_none();
        if let (Some(from), [.., last]) = (self.from.get(length), to)
            && to.len() == length + 1
            && last.checked_sub(1) == Some(*from)
        {
            length += 1;
            ends_there = true;
        }
        if ends_there {
            let full = self.from[length..].iter();
            length += full.take_while(|byte| **byte == 0xFF).count();
        }
        &self.from[..length]
    }

    /// Whether `key` is inside the range.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.from.as_slice() && self.to.as_deref().is_none_or(|to| key < to)
    }

    /// Whether no key can be inside the range.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to
            .as_deref()
            .is_some_and(|to| to <= self.from.as_slice())
    }
}

/// The smallest key greater than every key that starts with `prefix`; `None` when there is none
/// (all bytes 0xFF, or an empty prefix).
#[must_use]
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xFF)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_end_skips_full_bytes() {
        assert_eq!(prefix_end(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(prefix_end(&[1, 0xFF, 0xFF]), Some(vec![2]));
        assert_eq!(prefix_end(&[0xFF, 0xFF]), None);
        assert_eq!(prefix_end(b""), None);
    }

    #[test]
    fn the_common_prefix_is_of_all_keys_inside() {
        let prefix = |from: &[u8], to: Option<&[u8]>| {
            let range = ClusteringRange {
                from: from.to_vec(),
                to: to.map(<[u8]>::to_vec),
            };
            range.common_prefix().to_vec()
        };
        assert_eq!(prefix(b"abc", None), b"");
        assert_eq!(prefix(b"\xFF\xFFa", None), b"\xFF\xFF");
        assert_eq!(prefix(b"abc", Some(b"abd")), b"abc");
        assert_eq!(prefix(b"abcxyz", Some(b"abd")), b"abc");
        assert_eq!(prefix(b"abcxyz", Some(b"abcz")), b"abc");
        assert_eq!(prefix(b"abcxyz", Some(b"abcy")), b"abcx");
        assert_eq!(prefix(b"abc", Some(b"abe")), b"ab");
        assert_eq!(prefix(b"abc", Some(b"abd\0")), b"ab");
        assert_eq!(prefix(b"abc", Some(b"abc\0")), b"abc");
        assert_eq!(prefix(b"abc", Some(b"abc")), b"abc");
        assert_eq!(prefix(b"a\xFF", Some(b"b")), b"a\xFF");
        assert_eq!(prefix(b"a\xFF\xFF\0\xFF", Some(b"b")), b"a\xFF\xFF");
        assert_eq!(prefix(b"a\xFE\xFF", Some(b"b")), b"a");
        assert_eq!(prefix(b"a\xFF", Some(b"b\0")), b"");
        assert_eq!(prefix(b"a\xFF", Some(b"c")), b"");
        assert_eq!(ClusteringRange::prefix(b"key").common_prefix(), b"key");
    }

    #[test]
    fn the_common_prefix_of_a_prefix_is_that() {
        const BYTES: [u8; 5] = [0, 1, 0x7F, 0xFE, 0xFF];
        let mut of_length: Vec<Vec<u8>> = vec![Vec::new()];
        for _ in 0..5 {
            for prefix in &of_length {
                let range = ClusteringRange::prefix(prefix);
                assert_eq!(range.common_prefix(), prefix, "{range:?}");
            }
            let longer = of_length.iter().flat_map(|prefix| {
                let byte = |byte: &u8| [&prefix[..], &[*byte]].concat();
                BYTES.iter().map(byte)
            });
            of_length = longer.collect();
        }
    }

    /// Checks all ranges between short keys: every key inside has the common prefix.
    #[test]
    fn no_key_inside_lacks_the_common_prefix() {
        const BYTES: [u8; 4] = [0, 1, 0xFE, 0xFF];
        let mut keys: Vec<Vec<u8>> = vec![Vec::new()];
        for at in 0..1 + 4 + 16 {
            let longer: Vec<Vec<u8>> = (BYTES.iter())
                .map(|byte| [&keys[at][..], &[*byte]].concat())
                .collect();
            keys.extend(longer);
        }
        let mut found = 0;
        for from in &keys {
            for to in keys.iter().map(Some).chain([None]) {
                let range = ClusteringRange {
                    from: from.clone(),
                    to: to.cloned(),
                };
                let prefix = range.common_prefix();
                for key in keys.iter().filter(|key| range.contains(key)) {
                    assert!(key.starts_with(prefix), "{range:?}: {key:?}");
                    found += usize::from(!prefix.is_empty());
                }
            }
        }
        assert!(found > 1_000, "{found}");
    }

    #[test]
    fn a_prefix_range_holds_exactly_its_members() {
        let range = ClusteringRange::prefix(&[7, 0xFF]);
        assert!(range.contains(&[7, 0xFF]) && range.contains(&[7, 0xFF, 0xFF, 3]));
        assert!(!range.contains(&[7, 0xFE]) && !range.contains(&[8]));
        assert!(
            ClusteringRange {
                from: vec![2],
                to: Some(vec![2])
            }
            .is_empty()
        );
    }
}
