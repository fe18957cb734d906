//! The stored rows of an element: their keys, and its state as their content.

use varve_encoding::key;
use varve_encoding::row::{self, Header};
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::TableId;
use varve_model::{Direction, Edge, Element, ElementId, Vertex};

use crate::error::GraphError;

/// The keys of one row of an element: a vertex has one row, an edge one on each side.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) partition: Vec<u8>,
    pub(crate) clustering: Vec<u8>,
}

/// Returns the element's table and its sides; reads use the first side.
pub(crate) fn sides(id: &ElementId) -> (TableId, Vec<Side>) {
    match id {
        ElementId::Vertex(id) => {
            let clustering = key::VERTEX_CLUSTERING.to_vec();
            (
                VERTEX,
                vec![Side {
                    partition: key::vertex_id(id),
                    clustering,
                }],
            )
        }
        ElementId::Edge(id) => {
            let side = |direction| Side {
                partition: key::vertex_id(id.owner(direction)),
                clustering: key::edge_clustering(id, direction),
            };
            (EDGE, vec![side(Direction::Out), side(Direction::In)])
        }
    }
}

/// A current row with its header decoded.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) header: Header,
    pub(crate) content: Vec<u8>,
}

impl Current {
    pub(crate) fn decode(row: &[u8]) -> Result<Self, GraphError> {
        let (header, content) = Header::decode(row)?;
        Ok(Self {
            header,
            content: content.to_vec(),
        })
    }
}

/// Decodes an element from a row's content.
pub(crate) fn decode_element(id: &ElementId, content: &[u8]) -> Result<Element, GraphError> {
    Ok(match id {
        ElementId::Vertex(id) => Element::Vertex(row::decode_vertex(id.clone(), content)?),
        ElementId::Edge(id) => Element::Edge(row::decode_edge(id.clone(), content)?),
    })
}

/// Encodes a vertex's label and properties, as its row has them.
pub(crate) fn vertex_content(vertex: &Vertex) -> Vec<u8> {
    let mut content = Vec::with_capacity(64);
    row::put_vertex_content(vertex, &mut content);
    content
}

/// Encodes an edge's end labels and properties, as its rows have them.
pub(crate) fn edge_content(edge: &Edge) -> Vec<u8> {
    let mut content = Vec::with_capacity(64);
    row::put_edge_content(edge, &mut content);
    content
}

/// Encodes an element's label and properties, as its rows have them.
pub(crate) fn content_of(element: &Element) -> Vec<u8> {
    match element {
        Element::Vertex(vertex) => vertex_content(vertex),
        Element::Edge(edge) => edge_content(edge),
    }
}
