//! The rights that a client needs to use a route, where authentication is on.
//!
//! Each route declares them with [`crate::Route`]'s `needs`; a route that declares none is for
//! administrators only. [`crate::access`] decides.

use varve_auth::{Permission, ResourceType};
pub use varve_session::principal::rights::Right;

/// The rights that a route needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing: it answers clients without credentials.
    Nothing,
    /// Any user; the handler shows only what that user may see, or checks the rights itself.
    User,
    /// All of these rights on the route's graph, each on all resources of its type.
    Graph(&'static [Right]),
    /// One of these rights on the route's graph, on some resources: the handler shows what the
    /// client may see.
    OneOf(&'static [Right]),
    /// All of these rights on elements of the route's graph, each on some: the handler reads
    /// through the client's view and writes with the client's policy.
    Elements(&'static [Right]),
    /// As [`Needs::Elements`]; on Neo4j's database `system`, which has no elements, any user.
    Database(&'static [Right]),
    /// All of these rights on the graph of the metadata repository. The user in the path must be
    /// the client, or one that the client may act for.
    Repository(&'static [Right]),
    /// The right to run scripts on some graph. Only the script names the graph: the handler checks
    /// the rights on it.
    Scripts,
    /// The right to read metrics.
    Metrics,
    /// The administrator's rights.
    Administrator,
}

use Permission::{Delete, Execute, Read, Write};
use ResourceType as T;

pub(crate) const READ_STATUS: Needs = Needs::Graph(&[(Read, T::Status)]);
pub(crate) const WRITE_STATUS: Needs = Needs::Graph(&[(Write, T::Status)]);
/// Shards and scans of the whole graph.
pub(crate) const READ_META: Needs = Needs::Graph(&[(Execute, T::Meta)]);

pub(crate) const READ_VERTICES: Needs = Needs::Elements(&[(Read, T::Vertex)]);
pub(crate) const WRITE_VERTICES: Needs = Needs::Elements(&[(Write, T::Vertex)]);
pub(crate) const CHANGE_VERTICES: Needs = Needs::Elements(&[(Read, T::Vertex), (Write, T::Vertex)]);
pub(crate) const DELETE_VERTICES: Needs =
    Needs::Elements(&[(Read, T::Vertex), (Delete, T::Vertex)]);

pub(crate) const READ_EDGES: Needs = Needs::Elements(&[(Read, T::Edge)]);
pub(crate) const WRITE_EDGES: Needs = Needs::Elements(&[(Write, T::Edge)]);
pub(crate) const CHANGE_EDGES: Needs = Needs::Elements(&[(Read, T::Edge), (Write, T::Edge)]);
pub(crate) const DELETE_EDGES: Needs = Needs::Elements(&[(Read, T::Edge), (Delete, T::Edge)]);

/// Traversers show vertices and edges.
pub(crate) const READ_ELEMENTS: Needs = Needs::Elements(ELEMENTS_READ);
/// For routes that show elements without the client's view.
pub(crate) const READ_ALL_ELEMENTS: Needs = Needs::Graph(ELEMENTS_READ);
pub(crate) const WRITE_ELEMENTS: Needs = Needs::Elements(&[(Write, T::Vertex), (Write, T::Edge)]);

/// The sample makes its schema and its elements.
pub(crate) const LOAD_SAMPLE: Needs = Needs::Graph(&[
    (Write, T::Schema),
    (Write, T::Vertex),
    (Write, T::Edge),
    (Delete, T::Edge),
    (Write, T::Var),
]);

/// A statement reads; whether it writes is decided, and checked, once it is read.
pub(crate) const RUN_CYPHER: Needs = Needs::Elements(varve_session::principal::rights::QUERY_READS);
pub(crate) const RUN_STATEMENTS: Needs =
    Needs::Database(varve_session::principal::rights::QUERY_READS);

pub(crate) const READ_VARIABLES: Needs = Needs::Graph(&[(Read, T::Var)]);
pub(crate) const WRITE_VARIABLES: Needs = Needs::Graph(&[(Write, T::Var)]);
pub(crate) const DELETE_VARIABLES: Needs = Needs::Graph(&[(Delete, T::Var)]);

pub(crate) const READ_TASKS: Needs = Needs::Graph(TASKS_READ);
pub(crate) const WRITE_TASKS: Needs = Needs::Graph(TASKS_WRITTEN);
pub(crate) const DELETE_TASKS: Needs = Needs::Graph(&[(Delete, T::Task)]);

/// Tasks show scripts and their results.
pub(crate) const TASKS_READ: &[Right] = &[(Read, T::Task), (Read, T::Vertex), (Read, T::Edge)];
/// For cancelling tasks.
pub(crate) const TASKS_WRITTEN: &[Right] = &[(Write, T::Task)];

pub(crate) const RUN_ALGORITHM: Needs = Needs::Graph(ALGORITHM);
pub(crate) const RUN_GREMLIN_JOB: Needs = Needs::Graph(GREMLIN_JOB);

/// An algorithm reads the whole graph and may write its results.
pub(crate) const ALGORITHM: &[Right] = &[
    (Execute, T::Task),
    (Write, T::Task),
    (Read, T::Vertex),
    (Read, T::Edge),
    (Write, T::Vertex),
];

/// A script of a job may do anything to elements and schema.
pub(crate) const GREMLIN_JOB: &[Right] = &[
    (Execute, T::Gremlin),
    (Execute, T::Task),
    (Write, T::Task),
    (Read, T::Vertex),
    (Read, T::Edge),
    (Write, T::Vertex),
    (Write, T::Edge),
    (Delete, T::Vertex),
    (Delete, T::Edge),
    (Read, T::Schema),
    (Write, T::Schema),
    (Delete, T::Schema),
];

/// For calls of the metadata repository that read.
pub(crate) const REPOSITORY_READS: Needs = Needs::Repository(ELEMENTS_READ);

/// For calls that write. A purge is such a call, so the right to delete is included.
pub(crate) const REPOSITORY_WRITES: Needs = Needs::Repository(&[
    (Read, T::Vertex),
    (Read, T::Edge),
    (Write, T::Vertex),
    (Write, T::Edge),
    (Delete, T::Vertex),
    (Delete, T::Edge),
]);

/// For calls that change types.
pub(crate) const REPOSITORY_CHANGES_TYPES: Needs =
    Needs::Repository(&[(Read, T::Schema), (Write, T::Schema), (Delete, T::Schema)]);

const ELEMENTS_READ: &[Right] = &[(Read, T::Vertex), (Read, T::Edge)];

/// The rights on one type of schema element: to read, write and delete it.
pub(crate) mod schema {
    use super::{Delete, Needs, Read, T, Write};

    macro_rules! rights {
        ($read:ident $write:ident $delete:ident $kind:ident $($element:ident)+) => {
            pub(crate) const $read: Needs =
                Needs::OneOf(&[(Read, T::$kind), $((Read, T::$element)),+]);
            pub(crate) const $write: Needs = Needs::Graph(&[(Write, T::$kind)]);
            pub(crate) const $delete: Needs = Needs::Graph(&[(Delete, T::$kind)]);
        };
    }

    rights!(READ_KEYS WRITE_KEYS DELETE_KEYS PropertyKey Vertex Edge);
    rights!(READ_VERTEX_LABELS WRITE_VERTEX_LABELS DELETE_VERTEX_LABELS VertexLabel Vertex);
    rights!(READ_EDGE_LABELS WRITE_EDGE_LABELS DELETE_EDGE_LABELS EdgeLabel Edge);
    rights!(READ_INDEX_LABELS WRITE_INDEX_LABELS DELETE_INDEX_LABELS IndexLabel Vertex Edge);

    /// For the whole schema at once.
    pub(crate) const READ_ALL: Needs = Needs::OneOf(&[
        (Read, T::Schema),
        (Read, T::PropertyKey),
        (Read, T::VertexLabel),
        (Read, T::EdgeLabel),
        (Read, T::IndexLabel),
        (Read, T::Vertex),
        (Read, T::Edge),
    ]);
}
