//! Procedures that clients ask for and that are not supported: the error says so.

/// Their names.
pub(super) const NAMES: &[&str] = &[
    "apoc.path.subgraphAll",
    "db.cdc.current",
    "db.cdc.earliest",
    "db.cdc.query",
    "db.create.setVectorProperty",
    "db.index.fulltext.awaitEventuallyConsistentIndexRefresh",
    "db.index.fulltext.listAvailableAnalyzers",
    "db.index.fulltext.queryNodes",
    "db.index.fulltext.queryRelationships",
    "db.index.vector.createNodeIndex",
    "db.index.vector.queryNodes",
    "db.index.vector.queryRelationships",
];
