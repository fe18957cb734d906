//! The properties of a table that an engine must know before it stores rows.

/// Index of a table in the list of [`TableSpec`]s that a space was opened with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u8);

/// Makes the summary of some rows of a partition, which come in the order of their clustering keys:
/// clustering key and value. No bytes: these rows have none.
pub type Summarize =
    for<'r> fn(partition: &[u8], rows: &mut dyn Iterator<Item = (&'r [u8], &'r [u8])>) -> Vec<u8>;

/// One table's name and access pattern. Engines turn it into their options.
#[derive(Debug, Clone, Copy)]
pub struct TableSpec {
    /// Name, unique in the space: lower-case letters, digits and `_`.
    pub name: &'static str,
    /// Length of the partition key at the front of `partition ++ clustering`, or `None` if the
    /// bytes do not contain a whole partition key.
    ///
    /// Partition keys of a table are self-delimiting: none is a proper prefix of another, and this
    /// function finds its end. So an engine may store `partition ++ clustering` as one key without
    /// a separator.
    pub partition_len: fn(&[u8]) -> Option<usize>,
    /// Whether rows are mostly read one by one (a filter on whole keys pays) rather than by scans
    /// of a partition (a filter on partition keys pays).
    pub point_reads: bool,
    /// Whether a row with this clustering key is often read while it is absent, as by every insert.
    /// An engine may then keep an approximate set of the existing rows with such keys in memory
    /// ([`crate::Reader::known_absent`]). `None`: no row of the table.
    pub probed: Option<fn(&[u8]) -> bool>,
    /// Whether rows are seldom read and worth stronger compression, as history is.
    pub cold: bool,
    /// The summary of rows of a partition, which an engine may keep with rows that it has in memory
    /// ([`crate::Reader::summaries`]).
    pub summarize: Option<Summarize>,
}

/// For [`TableSpec::probed`]: absent rows of any clustering key are often read.
#[must_use]
pub fn always(_clustering: &[u8]) -> bool {
    true
}
