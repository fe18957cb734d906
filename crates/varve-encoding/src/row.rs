//! Rows: the value of an element's current state and of each of its events.
//!
//! | bytes | what |
//! |---|---|
//! | 1 | flags, see [`Header`] |
//! | 8 | commit version, big endian |
//! | 0 or 8 | start of the valid period, if it is not the commit's own instant |
//! | 0 or 8 | end of the valid period, if it has one |
//! | 0 or 8 | the instant at which this row stops deciding now, if earlier than that end |
//! | rest | content; absent for deletes and markers |
//!
//! Content of a vertex: label id, properties. Of an edge: source label id, target label id,
//! properties. Properties: their number, then for each the key's id and a value ([`crate::value`]);
//! ascending by key id.

use varve_model::{
    CommitVersion, Edge, EdgeId, EdgeLabelId, Instant, Period, Properties, PropertyKeyId, Vertex,
    VertexId, VertexLabelId,
};

use crate::DecodeError;
use crate::key::{put_schema_id, take_schema_id};
use crate::value::{
    ValueRef, after_value, put_value, take_value, take_value_ref, take_value_ref_shallow,
};

const OVERLAID: u8 = 0x01;
const HAS_FROM: u8 = 0x02;
const HAS_TO: u8 = 0x04;
const HAS_UNTIL: u8 = 0x08;
const DELETE: u8 = 0x10;
const MARKER: u8 = 0x20;
const KNOWN: u8 = OVERLAID | HAS_FROM | HAS_TO | HAS_UNTIL | DELETE | MARKER;

/// Position of the commit version in a row.
pub const VERSION_AT: usize = 1;
const FIXED: usize = 9;

/// The head of [`Header::put_now`], encoded.
pub const PUT_NOW: [u8; FIXED] = [0; FIXED];

/// What a row's event does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// The element has the row's content during the period.
    Put,
    /// The element does not exist during the period. Only in events.
    Delete,
    /// No event: nothing decides now, but something may from `until` on. Only in current tables.
    Marker,
}

/// A row's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// What the event does.
    pub kind: RowKind,
    /// When it was committed. Zero in a batch that the committer has not numbered yet.
    pub version: CommitVersion,
    /// Start of the valid period; `None` = the commit's own instant.
    pub from: Option<Instant>,
    /// End of the valid period; [`Instant::FOREVER`] when it has none.
    pub to: Instant,
    /// The instant from which on the row does not decide now any more; at most `to`.
    pub until: Instant,
    /// Whether the event table has a newer event of this element (retroactive or future-dated).
    pub overlaid: bool,
}

impl Header {
    /// The head of a put that is valid from its commit on, for ever.
    #[must_use]
    pub const fn put_now() -> Self {
        Self {
            kind: RowKind::Put,
            version: CommitVersion::ZERO,
            from: None,
            to: Instant::FOREVER,
            until: Instant::FOREVER,
            overlaid: false,
        }
    }

    /// The valid period.
    #[must_use]
    pub fn period(&self) -> Period {
        Period {
            from: self.from.unwrap_or_else(|| self.version.instant()),
            to: self.to,
        }
    }

    /// Appends the head.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut flags = match self.kind {
            RowKind::Put => 0,
            RowKind::Delete => DELETE,
            RowKind::Marker => MARKER,
        };
        let ends = self.to != Instant::FOREVER;
        let until_differs = self.until != self.to;
        for (set, flag) in [
            (self.overlaid, OVERLAID),
            (self.from.is_some(), HAS_FROM),
            (ends, HAS_TO),
            (until_differs, HAS_UNTIL),
        ] {
            if set {
                flags |= flag;
            }
        }
        out.push(flags);
        out.extend_from_slice(&self.version.0.to_be_bytes());
        let optional = [
            self.from,
            ends.then_some(self.to),
            until_differs.then_some(self.until),
        ];
        for instant in optional.into_iter().flatten() {
            out.extend_from_slice(&instant.0.to_be_bytes());
        }
    }

    /// Reads a row's head; also returns its content.
    ///
    /// # Errors
    /// When the bytes are no row.
    #[inline]
    pub fn decode(row: &[u8]) -> Result<(Self, &[u8]), DecodeError> {
        Self::take(row).ok_or_else(|| DecodeError::new("a row's head", row, 0))
    }

    #[inline]
    fn take(row: &[u8]) -> Option<(Self, &[u8])> {
        let (fixed, mut rest) = row.split_first_chunk::<FIXED>()?;
        let flags = fixed[0];
        let kind = match flags & (DELETE | MARKER) {
            0 => RowKind::Put,
            DELETE => RowKind::Delete,
            MARKER => RowKind::Marker,
            _ => return None,
        };
        if flags & !KNOWN != 0 {
            return None;
        }
        let mut version = [0; 8];
        version.copy_from_slice(&fixed[VERSION_AT..]);
        let mut optional = |flag: u8| -> Option<Option<Instant>> {
            if flags & flag == 0 {
                return Some(None);
            }
            let (bytes, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            Some(Some(Instant(i64::from_be_bytes(*bytes))))
        };
        let from = optional(HAS_FROM)?;
        let to = optional(HAS_TO)?.unwrap_or(Instant::FOREVER);
        let until = optional(HAS_UNTIL)?.unwrap_or(to);
        let overlaid = flags & OVERLAID != 0;
        let version = CommitVersion(u64::from_be_bytes(version));
        Some((
            Self {
                kind,
                version,
                from,
                to,
                until,
                overlaid,
            },
            rest,
        ))
    }
}

/// Whether a current row decides now at any time. This is the usual case; it is read from one byte,
/// without the clock.
#[must_use]
#[inline]
pub fn decides_always(row: &[u8]) -> bool {
    row.first()
        .is_some_and(|flags| flags & (HAS_TO | HAS_UNTIL | MARKER | DELETE) == 0)
}

/// Appends a vertex's content.
pub fn put_vertex_content(vertex: &Vertex, out: &mut Vec<u8>) {
    put_schema_id(vertex.label.0, out);
    put_properties(&vertex.properties, out);
}

/// Appends an edge's content.
pub fn put_edge_content(edge: &Edge, out: &mut Vec<u8>) {
    put_schema_id(edge.source_label.0, out);
    put_schema_id(edge.target_label.0, out);
    put_properties(&edge.properties, out);
}

fn put_properties(properties: &Properties, out: &mut Vec<u8>) {
    put_schema_id(u32::try_from(properties.len()).unwrap_or(u32::MAX), out);
    for (key, value) in properties.iter() {
        put_schema_id(key.0, out);
        put_value(value, out);
    }
}

/// Reads a vertex's content (what [`Header::decode`] returned).
///
/// # Errors
/// When the bytes are not a vertex's.
pub fn decode_vertex(id: VertexId, content: &[u8]) -> Result<Vertex, DecodeError> {
    let error = || DecodeError::new("a vertex row", content, 0);
    let (label, rest) = take_schema_id(content).ok_or_else(error)?;
    let properties = take_properties(rest).ok_or_else(error)?;
    Ok(Vertex {
        id,
        label: VertexLabelId(label),
        properties,
    })
}

/// The label of a vertex, without reading its properties.
///
/// # Errors
/// When the bytes are not a vertex's.
pub fn vertex_label(content: &[u8]) -> Result<VertexLabelId, DecodeError> {
    let label =
        take_schema_id(content).ok_or_else(|| DecodeError::new("a vertex row", content, 0))?;
    Ok(VertexLabelId(label.0))
}

/// Reads an edge's content (what [`Header::decode`] returned).
///
/// # Errors
/// When the bytes are not an edge's.
pub fn decode_edge(id: EdgeId, content: &[u8]) -> Result<Edge, DecodeError> {
    let error = || DecodeError::new("an edge row", content, 0);
    let ((source_label, target_label), rest) = edge_ends(content)?;
    let properties = take_properties(rest).ok_or_else(error)?;
    Ok(Edge {
        id,
        source_label,
        target_label,
        properties,
    })
}

/// The labels of an edge's two ends, and the bytes of its properties, as they follow in its
/// content.
///
/// # Errors
/// When the bytes are not an edge's.
#[inline]
pub fn edge_ends(content: &[u8]) -> Result<((VertexLabelId, VertexLabelId), &[u8]), DecodeError> {
    let error = || DecodeError::new("an edge row", content, 0);
    let (source, rest) = take_schema_id(content).ok_or_else(error)?;
    let (target, rest) = take_schema_id(rest).ok_or_else(error)?;
    Ok(((VertexLabelId(source), VertexLabelId(target)), rest))
}

/// The labels of an edge's two ends and its properties' bytes for [`PropertyReader`].
///
/// # Errors
/// When the bytes are not an edge's.
#[inline]
pub fn edge_parts(
    content: &[u8],
) -> Result<(VertexLabelId, VertexLabelId, PropertyReader<'_>), DecodeError> {
    let error = || DecodeError::new("an edge row", content, 0);
    let ((source, target), rest) = edge_ends(content)?;
    let properties = PropertyReader::new(rest).ok_or_else(error)?;
    Ok((source, target, properties))
}

/// A vertex's label and its properties' bytes for [`PropertyReader`].
///
/// # Errors
/// When the bytes are not a vertex's.
#[inline]
pub fn vertex_parts(content: &[u8]) -> Result<(VertexLabelId, PropertyReader<'_>), DecodeError> {
    let error = || DecodeError::new("a vertex row", content, 0);
    let (label, rest) = take_schema_id(content).ok_or_else(error)?;
    let properties = PropertyReader::new(rest).ok_or_else(error)?;
    Ok((VertexLabelId(label), properties))
}

/// Reads properties one by one from a row, borrowing texts: for writers of answers that need no
/// owned element.
#[derive(Debug, Clone)]
pub struct PropertyReader<'a> {
    left: u32,
    rest: &'a [u8],
}

/// A value, and what follows it.
type Taken<'a> = Option<(ValueRef<'a>, &'a [u8])>;

impl<'a> PropertyReader<'a> {
    #[inline]
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let (left, rest) = take_schema_id(bytes)?;
        Some(Self { left, rest })
    }

    /// The number of properties still to be read.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.left as usize
    }

    /// Whether all properties were read.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// Reads the key and the value of the next property; `None` at the end.
    ///
    /// # Errors
    /// When the bytes are no property.
    #[inline]
    pub fn next_property(&mut self) -> Result<Option<(PropertyKeyId, ValueRef<'a>)>, DecodeError> {
        self.next_by(take_value_ref)
    }

    /// Reads the next property without checking the content of an OBJECT
    /// ([`take_value_ref_shallow`]).
    ///
    /// # Errors
    /// As [`PropertyReader::next_property`].
    #[inline]
    pub fn next_shallow(&mut self) -> Result<Option<(PropertyKeyId, ValueRef<'a>)>, DecodeError> {
        self.next_by(take_value_ref_shallow)
    }

    /// Returns the encoded value of a property ([`take_value`]), if it is among those still to be
    /// read. Skips the values before it.
    ///
    /// # Errors
    /// When the bytes are no properties.
    #[inline]
    pub fn value_of(mut self, key: PropertyKeyId) -> Result<Option<&'a [u8]>, DecodeError> {
        while self.left > 0 {
            let error = || DecodeError::new("a property", self.rest, 0);
            let (own, value) = take_schema_id(self.rest).ok_or_else(error)?;
            if own > key.0 {
                return Ok(None);
            }
            let after = after_value(value).ok_or_else(error)?;
            if own == key.0 {
                return Ok(Some(&value[..value.len() - after.len()]));
            }
            self.left -= 1;
            self.rest = after;
        }
        Ok(None)
    }

    #[inline]
    fn next_by(
        &mut self,
        take: fn(&'a [u8]) -> Taken<'a>,
    ) -> Result<Option<(PropertyKeyId, ValueRef<'a>)>, DecodeError> {
        if self.left == 0 {
            return Ok(None);
        }
        let error = || DecodeError::new("a property", self.rest, 0);
        let (key, rest) = take_schema_id(self.rest).ok_or_else(error)?;
        let (value, rest) = take(rest).ok_or_else(error)?;
        self.left -= 1;
        self.rest = rest;
        Ok(Some((PropertyKeyId(key), value)))
    }
}

fn take_properties(bytes: &[u8]) -> Option<Properties> {
    let (count, mut rest) = take_schema_id(bytes)?;
    let mut properties = Vec::with_capacity(count.min(64) as usize);
    for _ in 0..count {
        let (key, after) = take_schema_id(rest)?;
        let (value, after) = take_value(after)?;
        properties.push((PropertyKeyId(key), value));
        rest = after;
    }
    rest.is_empty().then(|| properties.into_iter().collect())
}

/// Reads only the label ids from an edge's clustering key, its parent's and its own, for filters on
/// scans.
#[must_use]
pub fn edge_labels_of_clustering(clustering: &[u8]) -> Option<(EdgeLabelId, EdgeLabelId)> {
    let (parent, rest) = take_schema_id(clustering.get(1..)?)?;
    let (label, _) = take_schema_id(rest)?;
    Some((
        EdgeLabelId(parent),
        EdgeLabelId(if label == 0 { parent } else { label }),
    ))
}

#[cfg(test)]
mod tests;
