//! Modes of a graph: how its schema is made, how it treats writes, and which properties queries
//! see.

use std::fmt;

/// How a graph treats writes. It is not stored: a graph opens in [`GraphMode::None`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphMode {
    /// Normal service: the server assigns schema ids and automatic vertex ids.
    #[default]
    None,
    /// A backup is being restored: requests must give schema ids and automatic vertex ids.
    Restoring,
    /// Data of another graph is being merged: requests must give automatic vertex ids, and must not
    /// give schema ids.
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

    /// Returns the mode with that upper-case name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }

    /// Whether a request must give the id of a vertex with id strategy AUTOMATIC.
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

/// Which properties are visible to queries. It is not stored: a graph opens in
/// [`ReadMode::OltpOnly`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadMode {
    /// All properties.
    All,
    /// Properties that transactions write.
    #[default]
    OltpOnly,
    /// Properties that offline analysis writes (OLAP).
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

    /// Returns the read mode with that upper-case name.
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

/// How the schema of a graph is made. It is chosen when the graph is created, and stored with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SchemaMode {
    /// Clients declare labels and keys before they use them.
    #[default]
    Declared,
    /// Labels and keys may also be created on first use ([`super::Catalogue::ensure`]).
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

    /// Returns the schema mode with that lower-case name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
