//! The rights of queries, whatever their language.

use varve_auth::Permission::{Delete, Execute, Read, Write};
use varve_auth::{Permission, ResourceType as T};

/// A permission on all resources of a type.
pub type Right = (Permission, T);

/// For a query that reads. The right to run queries has the name of the first language.
pub const QUERY_READS: &[Right] = &[(Execute, T::Gremlin), (Read, T::Vertex), (Read, T::Edge)];

/// For a query that reads the schema: it sees all of it.
pub const QUERY_READS_SCHEMA: &[Right] = &[(Execute, T::Gremlin), (Read, T::Schema)];

/// A query that changes elements also needs one of these.
pub const ELEMENTS_CHANGED: &[Right] = &[
    (Write, T::Vertex),
    (Write, T::Edge),
    (Delete, T::Vertex),
    (Delete, T::Edge),
];

/// For a query that changes the schema.
pub const QUERY_CHANGES_SCHEMA: &[Right] = &[
    (Execute, T::Gremlin),
    (Read, T::Schema),
    (Write, T::Schema),
    (Delete, T::Schema),
];
