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
