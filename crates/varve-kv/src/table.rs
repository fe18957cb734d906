//! Tables: what an engine must know of each before it stores a row in it.

/// Index of a table in the list of [`TableSpec`]s that a space was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u8);

/// One table's name and access pattern. Engines turn it into their options.
#[derive(Debug, Clone, Copy)]
pub struct TableSpec {
    /// Name, unique in the space: lower-case letters, digits and `_`.
    pub name: &'static str,
    /// Length of the partition key at the front of `partition ++ clustering`, or `None` if the
    /// bytes hold no whole one.
    ///
    /// Partition keys of a table are self-delimiting: none is a proper prefix of another, and this
    /// function finds the end of one. So an engine may store `partition ++ clustering` as one key
    /// without a separator.
    pub partition_len: fn(&[u8]) -> Option<usize>,
    /// Whether rows are mostly read one by one (a filter on whole keys pays) rather than by scans
    /// of a partition (a filter on partition keys pays).
    pub point_reads: bool,
    /// Whether a row with this clustering key is often asked for before it is there, as every
    /// insert asks: an engine may then keep in memory, roughly, which of them there are
    /// ([`crate::Reader::known_absent`]). `None`: no row is.
    pub probed: Option<fn(&[u8]) -> bool>,
    /// Whether rows are seldom read and worth stronger compression: history.
    pub cold: bool,
}

/// For [`TableSpec::probed`]: every row is.
#[must_use]
pub fn always(_clustering: &[u8]) -> bool {
    true
}
