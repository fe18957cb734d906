//! The scenarios: what is sent, over how many connections, and how many elements a request carries.

use varve_encoding::{key, tables};
use varve_kv::TableId;
use varve_model::{Direction, EdgeId, EdgeLabelId, VertexId};

use super::workload::{
    BATCH_EDGES, BATCH_VERTICES, Random, batch, edge, edge_id, request, vertex, vertex_id,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Write,
    Read,
}

/// A row: its table, partition key and clustering key.
type RowKey = (TableId, Vec<u8>, Vec<u8>);

/// One row of the table.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) connections: usize,
    /// Elements a request carries.
    pub(crate) items: usize,
    pub(crate) status: u16,
    pub(crate) requests: Vec<Vec<u8>>,
    /// For reads: the rows that answer them.
    pub(crate) keys: Vec<(TableId, Vec<u8>, Vec<u8>)>,
}

impl Scenario {
    /// All scenarios in the order in which they must run: later ones need what earlier ones wrote.
    pub(crate) fn all(percent: usize) -> Vec<Self> {
        let count = |usual: usize| (usual * percent / 100).max(10);
        let (singles, vertex_batches, edge_batches) = (count(40_000), count(1_000), count(400));
        let vertices = (singles + vertex_batches * BATCH_VERTICES) as u64;
        let edges = singles as u64 / 2;
        let batched_from = edges;
        vec![
            Self::write(
                "single vertex",
                32,
                1,
                (0..singles as u64).map(|at| request("POST", "graph/vertices", &vertex(at))),
            ),
            Self::write(
                "batch of 200 vertices",
                8,
                BATCH_VERTICES,
                (0..vertex_batches).map(|at| {
                    let first = (singles + at * BATCH_VERTICES) as u64;
                    request(
                        "POST",
                        "graph/vertices/batch",
                        &batch(first, BATCH_VERTICES, vertex),
                    )
                }),
            ),
            Self::write(
                "single edge",
                32,
                1,
                (0..edges).map(|at| request("POST", "graph/edges", &edge(at, vertices).0)),
            ),
            Self::write(
                "batch of 500 edges",
                8,
                BATCH_EDGES,
                (0..edge_batches).map(|at| {
                    let first = batched_from + (at * BATCH_EDGES) as u64;
                    let body = batch(first, BATCH_EDGES, |at| edge(at, vertices).0);
                    request("POST", "graph/edges/batch", &body)
                }),
            ),
            Self::vertex_reads(count(100_000), vertices),
            Self::edge_reads(
                count(100_000),
                batched_from + (edge_batches * BATCH_EDGES) as u64,
                vertices,
            ),
        ]
    }

    fn write(
        name: &'static str,
        connections: usize,
        items: usize,
        requests: impl Iterator<Item = Vec<u8>>,
    ) -> Self {
        let (kind, status, keys) = (Kind::Write, 201, Vec::new());
        Self {
            name,
            kind,
            connections,
            items,
            status,
            requests: requests.collect(),
            keys,
        }
    }

    fn read(name: &'static str, rows: Vec<(Vec<u8>, RowKey)>) -> Self {
        let (requests, keys) = rows.into_iter().unzip();
        let (kind, connections, items, status) = (Kind::Read, 32, 1, 200);
        Self {
            name,
            kind,
            connections,
            items,
            status,
            requests,
            keys,
        }
    }

    fn vertex_reads(count: usize, vertices: u64) -> Self {
        let mut random = Random(7);
        let rows = (0..count).map(|_| {
            let id = vertex_id(random.below(vertices));
            let key = (
                tables::VERTEX,
                key::vertex_id(&VertexId::text(&id)),
                key::VERTEX_CLUSTERING.to_vec(),
            );
            (
                request("GET", &format!("graph/vertices/%22{id}%22"), ""),
                key,
            )
        });
        Self::read("vertex by id", rows.collect())
    }

    fn edge_reads(count: usize, edges: u64, vertices: u64) -> Self {
        let mut random = Random(8);
        let rows = (0..count).map(|_| {
            let (_, source, target) = edge(random.below(edges), vertices);
            let id = EdgeId {
                source: VertexId::text(&source),
                parent: EdgeLabelId(1),
                label: EdgeLabelId(1),
                sort_values: "".into(),
                target: VertexId::text(&target),
            };
            let key = (
                tables::EDGE,
                key::vertex_id(&id.source),
                key::edge_clustering(&id, Direction::Out),
            );
            (
                request(
                    "GET",
                    &format!("graph/edges/{}", edge_id(&source, &target)),
                    "",
                ),
                key,
            )
        });
        Self::read("edge by id", rows.collect())
    }
}

/// The same request for the bare server, whose resources lie beside the real ones: bytes and length stay the same but
/// for the first segment.
pub(crate) fn bare(request: &[u8]) -> Vec<u8> {
    let at = request
        .windows(8)
        .position(|it| it == b"/graphs/")
        .unwrap_or(0);
    let mut bare = request[..at].to_vec();
    bare.extend_from_slice(b"/bare/");
    bare.extend_from_slice(&request[at + 8..]);
    bare
}
