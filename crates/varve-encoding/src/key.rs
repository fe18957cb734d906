//! Keys of vertices, edges, events and pending boundaries.
//!
//! A **vertex id** is self-delimiting and sorts as HugeGraph stores ids: `10` and 8 bytes (number,
//! sign bit flipped), `20` and 16 bytes (UUID), or a text: one byte `80 + length` for up to 95
//! bytes, else `E0` and the length in 2 bytes; then the bytes. So texts sort by length, then by
//! bytes, and nothing needs escaping.
//!
//! An **edge clustering key** is: direction (`01` out, `02` in), parent label id, own label id
//! (`00` when it is the same), sort values with `00` written as `00 FF` and ended by `00`, other
//! vertex id. The byte after the end mark is a vertex id's first one and never `FF`, so the end is
//! unambiguous and a text sorts before its extensions.
//!
//! **Label ids** take 1 byte below `F0`, else `F0` and 2 bytes, else `F1` and 4 bytes; the bytes
//! sort as the ids do.
//!
//! An **element key** is `01` and a vertex id, or `02`, the source's id and the edge's out
//! clustering key without the direction.

use std::borrow::Cow;

use compact_str::CompactString;
use varve_model::{CommitVersion, Direction, EdgeId, EdgeLabelId, ElementId, Instant, VertexId};

use crate::DecodeError;

const NUMBER: u8 = 0x10;
const UUID: u8 = 0x20;
const TEXT: u8 = 0x80;
const TEXT_LONG: u8 = 0xE0;
const TEXT_SHORT_MAX: usize = (TEXT_LONG - TEXT) as usize - 1;

/// Clustering key of a vertex's row, and first byte of its events' clustering keys.
pub const VERTEX_CLUSTERING: &[u8] = &[0x00];
/// A lower bound of the clustering keys of all edges and their events, above those of the vertex.
pub const EDGES_FROM: &[u8] = &[OUT];
const OUT: u8 = 0x01;
const IN: u8 = 0x02;
/// First byte of a vertex's element key; its id follows.
pub const ELEMENT_VERTEX: u8 = 0x01;
const ELEMENT_EDGE: u8 = 0x02;
/// Bytes of the inverted commit version at the end of an event's clustering key.
pub const EVENT_SUFFIX: usize = 8;

/// Appends a vertex id.
pub fn put_vertex_id(id: &VertexId, out: &mut Vec<u8>) {
    match id {
        VertexId::Number(number) => {
            out.push(NUMBER);
            out.extend_from_slice(&flip(*number));
        }
        VertexId::Uuid(uuid) => {
            out.push(UUID);
            out.extend_from_slice(&uuid.to_be_bytes());
        }
        VertexId::Text(text) => {
            let length = text.len();
            if length <= TEXT_SHORT_MAX {
                out.push(TEXT + u8::try_from(length).expect("at most 95"));
            } else {
                let length = u16::try_from(length).expect("vertex ids are at most 16 KiB");
                out.push(TEXT_LONG);
                out.extend_from_slice(&length.to_be_bytes());
            }
            out.extend_from_slice(text.as_bytes());
        }
    }
}

/// A vertex id as bytes: the partition key of its rows.
#[must_use]
pub fn vertex_id(id: &VertexId) -> Vec<u8> {
    let mut out = Vec::with_capacity(24);
    put_vertex_id(id, &mut out);
    out
}

/// Length of the vertex id at the front of `bytes`, or `None` if they hold no whole one.
#[must_use]
pub fn vertex_id_len(bytes: &[u8]) -> Option<usize> {
    let length = match *bytes.first()? {
        NUMBER => 9,
        UUID => 17,
        TEXT_LONG => 3 + usize::from(u16::from_be_bytes([*bytes.get(1)?, *bytes.get(2)?])),
        tag if (TEXT..TEXT_LONG).contains(&tag) => 1 + usize::from(tag - TEXT),
        _ => return None,
    };
    (bytes.len() >= length).then_some(length)
}

/// Reads the vertex id at the front of `bytes`; also returns what follows.
///
/// # Errors
/// When `bytes` do not begin with one.
pub fn take_vertex_id(bytes: &[u8]) -> Result<(VertexId, &[u8]), DecodeError> {
    let error = || DecodeError::new("a vertex id", bytes, 0);
    let length = vertex_id_len(bytes).ok_or_else(error)?;
    let (id, rest) = bytes.split_at(length);
    let id = match id[0] {
        NUMBER => VertexId::Number(unflip(&id[1..]).ok_or_else(error)?),
        UUID => {
            let mut uuid = [0; 16];
            uuid.copy_from_slice(&id[1..]);
            VertexId::Uuid(u128::from_be_bytes(uuid))
        }
        tag => {
            let start = if tag == TEXT_LONG { 3 } else { 1 };
            if tag == TEXT_LONG && length <= 3 + TEXT_SHORT_MAX {
                return Err(error());
            }
            let text = std::str::from_utf8(&id[start..]).map_err(|_| error())?;
            VertexId::Text(CompactString::new(text))
        }
    };
    Ok((id, rest))
}

/// Reads a vertex id that fills `bytes`.
///
/// # Errors
/// When `bytes` are not exactly one vertex id.
pub fn decode_vertex_id(bytes: &[u8]) -> Result<VertexId, DecodeError> {
    match take_vertex_id(bytes)? {
        (id, []) => Ok(id),
        _ => Err(DecodeError::new("a vertex id", bytes, 0)),
    }
}

fn direction_byte(direction: Direction) -> u8 {
    match direction {
        Direction::Out => OUT,
        Direction::In => IN,
    }
}

/// Appends a label or property-key id in 1, 3 or 5 bytes that keep its order.
pub fn put_schema_id(id: u32, out: &mut Vec<u8>) {
    match (u8::try_from(id), u16::try_from(id)) {
        (Ok(id), _) if id < 0xF0 => out.push(id),
        (_, Ok(id)) => {
            out.push(0xF0);
            out.extend_from_slice(&id.to_be_bytes());
        }
        _ => {
            out.push(0xF1);
            out.extend_from_slice(&id.to_be_bytes());
        }
    }
}

/// Reads an id written by [`put_schema_id`]; also returns what follows. A longer form than needed
/// is damage.
#[must_use]
#[inline]
pub fn take_schema_id(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    match *first {
        0xF0 => {
            let (id, rest) = rest.split_first_chunk::<2>()?;
            let id = u16::from_be_bytes(*id);
            (id >= 0xF0).then_some((u32::from(id), rest))
        }
        0xF1 => {
            let (id, rest) = rest.split_first_chunk::<4>()?;
            let id = u32::from_be_bytes(*id);
            (id > u32::from(u16::MAX)).then_some((id, rest))
        }
        id if id < 0xF0 => Some((u32::from(id), rest)),
        _ => None,
    }
}

/// Appends `bytes` with `00` written as `00 FF`, ended by `00`.
pub(crate) fn put_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
    out.push(0);
}

/// Reads bytes written by [`put_escaped`]; also returns what follows.
pub(crate) fn take_escaped(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, &[u8])> {
    let mut at = bytes.iter().position(|byte| *byte == 0)?;
    if bytes.get(at + 1) != Some(&0xFF) {
        return Some((Cow::Borrowed(&bytes[..at]), &bytes[at + 1..]));
    }
    let mut text = bytes[..at].to_vec();
    loop {
        match (*bytes.get(at)?, bytes.get(at + 1)) {
            (0, Some(0xFF)) => {
                text.push(0);
                at += 2;
            }
            (0, _) => return Some((Cow::Owned(text), &bytes[at + 1..])),
            (byte, _) => {
                text.push(byte);
                at += 1;
            }
        }
    }
}

fn put_edge_body(id: &EdgeId, other: &VertexId, out: &mut Vec<u8>) {
    put_schema_id(id.parent.0, out);
    put_schema_id(if id.parent == id.label { 0 } else { id.label.0 }, out);
    put_escaped(id.sort_values.as_bytes(), out);
    put_vertex_id(other, out);
}

/// An edge's clustering key on the side of `direction`; its partition is the id of
/// [`EdgeId::owner`].
#[must_use]
pub fn edge_clustering(id: &EdgeId, direction: Direction) -> Vec<u8> {
    let mut out = Vec::with_capacity(32);
    put_edge_clustering(id, direction, &mut out);
    out
}

/// Appends [`edge_clustering`].
pub fn put_edge_clustering(id: &EdgeId, direction: Direction, out: &mut Vec<u8>) {
    out.push(direction_byte(direction));
    put_edge_body(id, id.other(direction), out);
}

/// Length of the edge's clustering key at the front of `bytes`; `None` if they have no whole one.
/// No such key is a prefix of another.
#[must_use]
pub fn edge_clustering_len(bytes: &[u8]) -> Option<usize> {
    let (&(OUT | IN), body) = bytes.split_first()? else {
        return None;
    };
    let (_, rest) = take_schema_id(body)?;
    let (_, rest) = take_schema_id(rest)?;
    let (_, other) = take_escaped(rest)?;
    Some(bytes.len() - other.len() + vertex_id_len(other)?)
}

/// The direction, label and other vertex (its id as bytes) of an edge's clustering key; `None` for
/// any other key. Copies nothing.
#[must_use]
#[inline]
pub fn edge_parts(clustering: &[u8]) -> Option<(Direction, EdgeLabelId, &[u8])> {
    let (direction, label, rest) = edge_labels(clustering)?;
    Some((direction, label, skip_escaped(rest)?))
}

/// The direction and label of an edge's clustering key, and the bytes after [`edge_label_prefix`]
/// of that label; `None` for any other key.
#[must_use]
#[inline]
pub fn edge_labels(clustering: &[u8]) -> Option<(Direction, EdgeLabelId, &[u8])> {
    let (direction, body) = match clustering.split_first()? {
        (&OUT, body) => (Direction::Out, body),
        (&IN, body) => (Direction::In, body),
        _ => return None,
    };
    let (parent, rest) = take_schema_id(body)?;
    let (label, rest) = take_schema_id(rest)?;
    let label = if label == 0 { parent } else { label };
    Some((direction, EdgeLabelId(label), rest))
}

/// Returns the bytes after those that [`put_escaped`] wrote.
#[inline]
fn skip_escaped(bytes: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| *byte == 0)? + 1;
        if bytes.get(at) != Some(&0xFF) {
            return bytes.get(at..);
        }
        at += 1;
    }
}

/// Whether a clustering key is that of an edge at its source, the side that a write reads.
#[must_use]
pub fn is_out_edge(clustering: &[u8]) -> bool {
    clustering.first() == Some(&OUT)
}

/// Start of the clustering keys of all edges of one direction.
#[must_use]
pub fn direction_prefix(direction: Direction) -> Vec<u8> {
    vec![direction_byte(direction)]
}

/// Start of the clustering keys of all edges of one direction and label: of a parent label with all
/// its sub labels when `label` is `None`.
#[must_use]
pub fn edge_label_prefix(
    direction: Direction,
    parent: EdgeLabelId,
    label: Option<EdgeLabelId>,
) -> Vec<u8> {
    let mut out = vec![direction_byte(direction)];
    put_schema_id(parent.0, &mut out);
    if let Some(label) = label {
        put_schema_id(if parent == label { 0 } else { label.0 }, &mut out);
    }
    out
}

/// Start of the clustering keys of edges whose sort values start with `sort_prefix` (bytes of the
/// joined text).
#[must_use]
pub fn edge_sort_prefix(
    direction: Direction,
    parent: EdgeLabelId,
    label: EdgeLabelId,
    sort_prefix: &str,
) -> Vec<u8> {
    let mut out = edge_label_prefix(direction, parent, Some(label));
    put_escaped(sort_prefix.as_bytes(), &mut out);
    out.pop();
    out
}

/// Reads an edge id from the owner's partition key and the clustering key; also returns the side it
/// was read from.
///
/// # Errors
/// When the bytes are not an edge's keys.
pub fn decode_edge(
    partition: &[u8],
    clustering: &[u8],
) -> Result<(EdgeId, Direction), DecodeError> {
    let owner = decode_vertex_id(partition)?;
    let error = || DecodeError::new("an edge key", clustering, 0);
    let (direction, body) = match clustering.split_first() {
        Some((&OUT, body)) => (Direction::Out, body),
        Some((&IN, body)) => (Direction::In, body),
        _ => return Err(error()),
    };
    let (parent, label, sort_values, other) = take_edge_body(body).ok_or_else(error)?;
    let (source, target) = match direction {
        Direction::Out => (owner, other),
        Direction::In => (other, owner),
    };
    Ok((
        EdgeId {
            source,
            parent,
            label,
            sort_values,
            target,
        },
        direction,
    ))
}

fn take_edge_body(body: &[u8]) -> Option<(EdgeLabelId, EdgeLabelId, CompactString, VertexId)> {
    let (parent, rest) = take_schema_id(body)?;
    let (label, rest) = take_schema_id(rest)?;
    let (sort_values, rest) = take_escaped(rest)?;
    let other = decode_vertex_id(rest).ok()?;
    if label == parent {
        return None; // written as 0, so that each edge has one key
    }
    let label = if label == 0 { parent } else { label };
    let sort_values = CompactString::from_utf8(sort_values).ok()?;
    Some((EdgeLabelId(parent), EdgeLabelId(label), sort_values, other))
}

/// Appends an element key, with which index entries and pending boundaries end.
pub fn put_element(id: &ElementId, out: &mut Vec<u8>) {
    match id {
        ElementId::Vertex(id) => {
            out.push(ELEMENT_VERTEX);
            put_vertex_id(id, out);
        }
        ElementId::Edge(id) => {
            out.push(ELEMENT_EDGE);
            put_vertex_id(&id.source, out);
            put_edge_body(id, &id.target, out);
        }
    }
}

/// Reads an element key that fills `bytes`.
///
/// # Errors
/// When `bytes` are not exactly one element key.
pub fn decode_element(bytes: &[u8]) -> Result<ElementId, DecodeError> {
    let error = || DecodeError::new("an element key", bytes, 0);
    match bytes.split_first() {
        Some((&ELEMENT_VERTEX, id)) => decode_vertex_id(id).map(ElementId::Vertex),
        Some((&ELEMENT_EDGE, body)) => {
            let (source, body) = take_vertex_id(body)?;
            let (parent, label, sort_values, target) = take_edge_body(body).ok_or_else(error)?;
            Ok(ElementId::Edge(EdgeId {
                source,
                parent,
                label,
                sort_values,
                target,
            }))
        }
        _ => Err(error()),
    }
}

/// Partition and clustering key of the current row of the element whose key fills `bytes`, as
/// [`current`] gives them; an edge's on its source's side. Decodes nothing.
///
/// # Errors
/// When the bytes hold anything else.
pub fn current_of(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), DecodeError> {
    let error = || DecodeError::new("an element key", bytes, 0);
    let (kind, body) = bytes.split_first().ok_or_else(error)?;
    let (vertex, rest) = vertex_id_len(body)
        .and_then(|length| body.split_at_checked(length))
        .ok_or_else(error)?;
    let clustering = match *kind {
        ELEMENT_VERTEX if rest.is_empty() => VERTEX_CLUSTERING.to_vec(),
        ELEMENT_EDGE => {
            let clustering = [&[OUT], rest].concat();
            let is_whole = edge_clustering_len(&clustering) == Some(clustering.len());
            is_whole.then_some(clustering).ok_or_else(error)?
        }
        _ => return Err(error()),
    };
    Ok((vertex.to_vec(), clustering))
}

/// Whether an element key is a vertex's.
#[must_use]
pub fn is_vertex_element(bytes: &[u8]) -> bool {
    bytes.first() == Some(&ELEMENT_VERTEX)
}

const ORDERED_TEXT_VERTEX: u8 = 0x03;

/// Appends an element key as entries of derived indexes end with it: text ids sort by their bytes,
/// whatever their length, and edges by their sort values first.
pub fn put_ordered_element(id: &ElementId, out: &mut Vec<u8>) {
    match id {
        ElementId::Vertex(VertexId::Text(text)) => {
            out.push(ORDERED_TEXT_VERTEX);
            put_escaped(text.as_bytes(), out);
        }
        ElementId::Vertex(id) => {
            out.push(ELEMENT_VERTEX);
            put_vertex_id(id, out);
        }
        ElementId::Edge(id) => {
            out.push(ELEMENT_EDGE);
            put_escaped(id.sort_values.as_bytes(), out);
            put_schema_id(id.parent.0, out);
            put_schema_id(if id.parent == id.label { 0 } else { id.label.0 }, out);
            put_vertex_id(&id.source, out);
            put_vertex_id(&id.target, out);
        }
    }
}

/// Whether an element key of [`put_ordered_element`] is an edge's.
#[must_use]
pub fn is_ordered_edge(bytes: &[u8]) -> bool {
    bytes.first() == Some(&ELEMENT_EDGE)
}

/// Reads an element key of [`put_ordered_element`] that fills `bytes`.
///
/// # Errors
/// When `bytes` are not exactly one such key.
pub fn decode_ordered_element(bytes: &[u8]) -> Result<ElementId, DecodeError> {
    let error = || DecodeError::new("an ordered element key", bytes, 0);
    let text = |escaped: Cow<'_, [u8]>| CompactString::from_utf8(escaped).map_err(|_| error());
    match bytes.split_first() {
        Some((&ELEMENT_VERTEX, id)) => match decode_vertex_id(id)? {
            VertexId::Text(_) => Err(error()),
            id => Ok(ElementId::Vertex(id)),
        },
        Some((&ORDERED_TEXT_VERTEX, body)) => match take_escaped(body) {
            Some((id, [])) => Ok(ElementId::Vertex(VertexId::Text(text(id)?))),
            _ => Err(error()),
        },
        Some((&ELEMENT_EDGE, body)) => {
            let (sort_values, rest) = take_escaped(body).ok_or_else(error)?;
            let (parent, rest) = take_schema_id(rest).ok_or_else(error)?;
            let (label, rest) = take_schema_id(rest).ok_or_else(error)?;
            if label == parent {
                return Err(error());
            }
            let (source, rest) = take_vertex_id(rest)?;
            Ok(ElementId::Edge(EdgeId {
                source,
                parent: EdgeLabelId(parent),
                label: EdgeLabelId(if label == 0 { parent } else { label }),
                sort_values: text(sort_values)?,
                target: decode_vertex_id(rest)?,
            }))
        }
        _ => Err(error()),
    }
}

/// Partition and clustering key of an element's current row; an edge's on its source's side.
#[must_use]
pub fn current(id: &ElementId) -> (Vec<u8>, Vec<u8>) {
    match id {
        ElementId::Vertex(id) => (vertex_id(id), VERTEX_CLUSTERING.to_vec()),
        ElementId::Edge(id) => (vertex_id(&id.source), edge_clustering(id, Direction::Out)),
    }
}

/// An event's clustering key: the current row's, then the commit version inverted so that the
/// newest comes first.
#[must_use]
pub fn event_clustering(current: &[u8], version: CommitVersion) -> Vec<u8> {
    let mut out = Vec::with_capacity(current.len() + EVENT_SUFFIX);
    out.extend_from_slice(current);
    out.extend_from_slice(&(!version.0).to_be_bytes());
    out
}

/// Splits an event's clustering key into the current row's and the commit version.
///
/// # Errors
/// When it is too short.
pub fn split_event(clustering: &[u8]) -> Result<(&[u8], CommitVersion), DecodeError> {
    let (current, suffix) = clustering
        .split_last_chunk::<EVENT_SUFFIX>()
        .ok_or_else(|| DecodeError::new("an event key", clustering, 0))?;
    Ok((current, CommitVersion(!u64::from_be_bytes(*suffix))))
}

/// Partition of the pending boundaries.
pub const PENDING_PARTITION: &[u8] = &[0x00];

/// Clustering key of a pending boundary: the instant, then the element.
#[must_use]
pub fn pending_clustering(at: Instant, id: &ElementId) -> Vec<u8> {
    let mut out = flip(at.0).to_vec();
    put_element(id, &mut out);
    out
}

/// Reads a pending boundary's clustering key.
///
/// # Errors
/// When the bytes hold anything else.
pub fn decode_pending(clustering: &[u8]) -> Result<(Instant, ElementId), DecodeError> {
    let error = || DecodeError::new("a pending boundary", clustering, 0);
    let (at, element) = clustering.split_at_checked(8).ok_or_else(error)?;
    Ok((
        Instant(unflip(at).ok_or_else(error)?),
        decode_element(element)?,
    ))
}

/// Length of the partition key at the front of an index entry: kind, id (4), bucket, length of the
/// first value, value.
#[must_use]
pub fn index_partition_len(bytes: &[u8]) -> Option<usize> {
    let length = 7 + usize::from(*bytes.get(6)?);
    (bytes.len() >= length).then_some(length)
}

/// A signed number as 8 bytes that sort in the order of the numbers.
pub(crate) fn flip(number: i64) -> [u8; 8] {
    (number ^ i64::MIN).to_be_bytes()
}

pub(crate) fn unflip(bytes: &[u8]) -> Option<i64> {
    let bytes: [u8; 8] = bytes.try_into().ok()?;
    Some(i64::from_be_bytes(bytes) ^ i64::MIN)
}

#[cfg(test)]
mod tests;
