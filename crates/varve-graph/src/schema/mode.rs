//! Modes of a graph: who makes its schema, what it expects of writers, and whether offline analysis
//! results are read.

use std::fmt;

/// What a graph expects of those who write to it. Kept in memory: a graph opens in
/// [`GraphMode::None`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphMode {
    /// Normal service: the server gives schema ids and automatic vertex ids.
    #[default]
    None,
    /// A backup is being restored: schema ids and automatic vertex ids must be given.
    Restoring,
    /// Data of another graph is being merged: automatic vertex ids must be given, schema ids must
    /// not.
    Merging,
    /// Bulk loading: tasks wait.
    Loading,
}

impl GraphMode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::None, Self::Restoring, Self::Merging, Self::Loading];

    /// The upper-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Restoring => "RESTORING",
            Self::Merging => "MERGING",
            Self::Loading => "LOADING",
        }
    }

    /// The mode of that upper-case name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Whether a vertex of id strategy AUTOMATIC must come with its id.
    #[must_use]
    pub const fn wants_vertex_ids(self) -> bool {
        matches!(self, Self::Restoring | Self::Merging)
    }
}

impl fmt::Display for GraphMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which properties queries see. Kept in memory: a graph opens in [`ReadMode::OltpOnly`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadMode {
    /// All of them.
    All,
    /// Those written by transactions.
    #[default]
    OltpOnly,
    /// Those written by offline analysis.
    OlapOnly,
}

impl ReadMode {
    /// Every read mode.
    pub const ALL: [Self; 3] = [Self::All, Self::OltpOnly, Self::OlapOnly];

    /// The upper-case name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::OltpOnly => "OLTP_ONLY",
            Self::OlapOnly => "OLAP_ONLY",
        }
    }

    /// The read mode of that upper-case name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

impl fmt::Display for ReadMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who makes the schema of a graph. Chosen when the graph is made, and stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaMode {
    /// Clients declare labels and keys before they use them.
    #[default]
    Declared,
    /// Labels and keys may also be made on first use ([`super::Catalogue::ensure`]).
    Open,
}

impl SchemaMode {
    /// Every schema mode.
    pub const ALL: [Self; 2] = [Self::Declared, Self::Open];

    /// The lower-case name, which is also the stored form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Open => "open",
        }
    }

    /// The schema mode of that lower-case name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
