//! Ranges of clustering keys.

/// The clustering keys `k` of one partition with `from <= k < to`; `to = None` means up to the partition's end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClusteringRange {
    /// First key inside.
    pub from: Vec<u8>,
    /// First key after, or `None` for no end.
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

    /// What all keys inside start with.
    #[must_use]
    pub fn common_prefix(&self) -> &[u8] {
        let Some(to) = &self.to else { return &[] };
        let both = self.from.iter().zip(to);
        let equal = both.take_while(|(from, to)| from == to).count();
        // Up to the first key after those that start with a prefix.
        let is_end = to.len() == equal + 1
            && (self.from.get(equal)).is_some_and(|from| to[equal].checked_sub(1) == Some(*from));
        &self.from[..equal + usize::from(is_end)]
    }

    /// Whether `key` lies inside.
    #[must_use]
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.from.as_slice() && self.to.as_deref().is_none_or(|to| key < to)
    }

    /// Whether nothing can lie inside.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.to
            .as_deref()
            .is_some_and(|to| to <= self.from.as_slice())
    }
}

/// The smallest key greater than every key that starts with `prefix`; `None` when there is none (all bytes 0xFF, or
/// an empty prefix).
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
        assert_eq!(prefix(b"abc", Some(b"abd")), b"abc");
        assert_eq!(prefix(b"abcxyz", Some(b"abd")), b"abc");
        assert_eq!(prefix(b"abcxyz", Some(b"abcz")), b"abc");
        assert_eq!(prefix(b"abcxyz", Some(b"abcy")), b"abcx");
        assert_eq!(prefix(b"abc", Some(b"abe")), b"ab");
        assert_eq!(prefix(b"abc", Some(b"abd\0")), b"ab");
        assert_eq!(prefix(b"abc", Some(b"abc\0")), b"abc");
        assert_eq!(prefix(b"abc", Some(b"abc")), b"abc");
        assert_eq!(prefix(b"a\xFF", Some(b"b")), b"a");
        assert_eq!(ClusteringRange::prefix(b"key").common_prefix(), b"key");
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
