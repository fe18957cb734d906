//! Modes of a graph: how its schema is made, how it treats writes, and which properties queries
//! see.

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
    /// Bulk loading: vertices may lack required properties. It lapses when nothing has been written
    /// for an hour, since a loader that fails does not reset it.
    Loading,
}

varve_model::names! { GraphMode, "graph mode":
    None = "NONE", Restoring = "RESTORING", Merging = "MERGING", Loading = "LOADING",
}

// The catalogue stores the mode as its index in `ALL`.
const _: () = {
    let mut index = 0;
    while index < GraphMode::ALL.len() {
        assert!(GraphMode::ALL[index] as usize == index);
        index += 1;
    }
};

impl GraphMode {
    /// Whether vertices must have all required properties.
    #[must_use]
    pub const fn wants_complete_vertices(self) -> bool {
        !matches!(self, Self::Loading)
    }

    /// Whether a request must give the id of a vertex with id strategy AUTOMATIC.
    #[must_use]
    pub const fn wants_vertex_ids(self) -> bool {
        matches!(self, Self::Restoring | Self::Merging)
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

varve_model::names! { ReadMode, "read mode":
    All = "ALL", OltpOnly = "OLTP_ONLY", OlapOnly = "OLAP_ONLY",
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

// The names are also the stored form.
varve_model::names! { SchemaMode, "schema mode": Declared = "declared", Open = "open" }
