//! The row keys of a request's elements, encoded once into one buffer, for latches, reads and the
//! batch.

use varve_encoding::key;
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::TableId;
use varve_model::{Direction, EdgeId, ElementId, VertexId};

use crate::commit::LatchKey;

/// Approximate bytes of an element's keys, for the initial capacity of the buffer.
const ELEMENT_BYTES: usize = 64;

/// The keys of many elements.
#[derive(Debug, Default)]
pub(super) struct Keys {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

/// The offsets of the parts of an element's keys. An edge has, in this order, its source's
/// partition key, its clustering key there, its target's partition key, and its clustering key
/// there. A vertex has its partition key only.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    owner: u32,
    first: u32,
    other: u32,
    end: u32,
}

/// The keys of one element.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowKeys<'a> {
    /// The keys of a vertex.
    Vertex {
        /// The encoded id.
        partition: &'a [u8],
    },
    /// The keys of an edge.
    Edge {
        /// Partition and clustering key on the source's side, one after the other.
        out: &'a [u8],
        /// The source's encoded id, the start of `out`.
        source: &'a [u8],
        /// The clustering key, the rest of `out`.
        out_clustering: &'a [u8],
        /// The target's encoded id.
        target: &'a [u8],
        /// The clustering key on the target's side.
        in_clustering: &'a [u8],
    },
}

impl Keys {
    pub(super) fn with_capacity(elements: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(elements * ELEMENT_BYTES),
            spans: Vec::with_capacity(elements),
        }
    }

    /// Adds the keys of a vertex and returns its number.
    pub(super) fn add_vertex(&mut self, id: &VertexId) -> u32 {
        let start = self.at();
        key::put_vertex_id(id, &mut self.bytes);
        let end = self.at();
        self.push(Span {
            start,
            owner: end,
            first: end,
            other: end,
            end,
        })
    }

    /// Adds the keys of an edge and returns its number.
    pub(super) fn add_edge(&mut self, id: &EdgeId) -> u32 {
        let start = self.at();
        key::put_vertex_id(&id.source, &mut self.bytes);
        let owner = self.at();
        key::put_edge_clustering(id, Direction::Out, &mut self.bytes);
        let first = self.at();
        key::put_vertex_id(&id.target, &mut self.bytes);
        let other = self.at();
        key::put_edge_clustering(id, Direction::In, &mut self.bytes);
        let end = self.at();
        self.push(Span {
            start,
            owner,
            first,
            other,
            end,
        })
    }

    /// Adds the keys of an element and returns its number.
    pub(super) fn add(&mut self, id: &ElementId) -> u32 {
        match id {
            ElementId::Vertex(id) => self.add_vertex(id),
            ElementId::Edge(id) => self.add_edge(id),
        }
    }

    /// Removes all elements but the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        self.spans.truncate(count);
        let end = self.spans.last().map_or(0, |span| span.end as usize);
        self.bytes.truncate(end);
    }

    /// The keys of element `number`.
    pub(super) fn of(&self, number: u32) -> RowKeys<'_> {
        let span = self.spans[number as usize];
        let part = |from: u32, to: u32| &self.bytes[from as usize..to as usize];
        if span.first == span.owner {
            return RowKeys::Vertex {
                partition: part(span.start, span.end),
            };
        }
        RowKeys::Edge {
            out: part(span.start, span.first),
            source: part(span.start, span.owner),
            out_clustering: part(span.owner, span.first),
            target: part(span.first, span.other),
            in_clustering: part(span.other, span.end),
        }
    }

    fn push(&mut self, span: Span) -> u32 {
        let number = self.spans.len();
        self.spans.push(span);
        u32::try_from(number).expect("a request's elements are bounded far below 4 billion")
    }

    fn at(&self) -> u32 {
        u32::try_from(self.bytes.len()).expect("a request's body and the edges that deleted vertices take along are bounded at 1 GiB each")
    }
}

impl<'a> RowKeys<'a> {
    /// The bytes that identify the element among all elements of its kind.
    pub(super) fn identity(self) -> &'a [u8] {
        match self {
            Self::Vertex { partition } => partition,
            Self::Edge { out, .. } => out,
        }
    }

    /// Returns table, partition and clustering key of the row to read.
    pub(super) fn first(self) -> (TableId, &'a [u8], &'a [u8]) {
        match self {
            Self::Vertex { partition } => (VERTEX, partition, key::VERTEX_CLUSTERING),
            Self::Edge {
                source,
                out_clustering,
                ..
            } => (EDGE, source, out_clustering),
        }
    }

    /// Adds the latches that a change of the element needs.
    pub(super) fn latches(self, keys: &mut Vec<LatchKey>) {
        match self {
            Self::Vertex { partition } => keys.push(LatchKey::exclusive(partition)),
            Self::Edge {
                out,
                source,
                target,
                ..
            } => keys.extend([
                LatchKey::shared(source),
                LatchKey::shared(target),
                LatchKey::edge(out),
            ]),
        }
    }
}

/// Returns the latch under which no other commit changes the rows of an element: shared for a
/// vertex, exclusive for an edge, since edges have no shared latches.
pub(crate) fn read_latch(id: &ElementId) -> LatchKey {
    match id {
        ElementId::Vertex(id) => LatchKey::shared(&key::vertex_id(id)),
        ElementId::Edge(id) => edge_latch(id),
    }
}

/// Returns the latch of an edge itself, without those of its ends.
pub(super) fn edge_latch(id: &EdgeId) -> LatchKey {
    let mut out = key::vertex_id(&id.source);
    key::put_edge_clustering(id, Direction::Out, &mut out);
    LatchKey::edge(&out)
}
