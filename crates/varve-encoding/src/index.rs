//! Index entries: values as bytes that sort as the values do, and the keys made of them.
//!
//! **Ordered values**: a tag, then: booleans 1 byte; whole numbers and dates 8 bytes with the sign
//! bit flipped; floating-point numbers 8 bytes in IEEE total order; UUIDs 16 bytes; texts and blobs
//! escaped and ended by `00` (see [`crate::key`]). Of a text or blob over 64 bytes, an entry has
//! the first 64, then `00 FE` and 16 bytes of hash (XXH3-128 of the whole). The order between such
//! values is lost beyond the prefix, so readers check the element. A missing value has a tag of its
//! own that sorts first.
//!
//! **Partition**: kind, id (4 bytes), bucket, length of the first value, first value.
//! **Clustering**: further values, then the element key.

use std::borrow::Cow;

use varve_model::{Datum, EdgeLabelId, IndexLabelId, Value, VertexLabelId};

use crate::key::{flip, put_escaped};
use crate::value::put_value;

const MISSING: u8 = 0x04;
const BOOLEAN: u8 = 0x08;
const WHOLE: u8 = 0x10;
const REAL: u8 = 0x18;
const TEXT: u8 = 0x20;
const UUID: u8 = 0x28;
const BLOB: u8 = 0x30;
/// A value without an order, in unique tuples: 16 bytes of hash (XXH3-128) follow.
const OTHER: u8 = 0x38;
/// The most bytes of a text or blob that an index entry contains.
pub const INDEXED_BYTES_MAX: usize = 64;

/// The index to which an entry belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexId {
    /// An index label of the schema.
    Label(IndexLabelId),
    /// The vertices of a vertex label.
    VertexLabel(VertexLabelId),
    /// The source vertices that have, or had, an edge of an edge label.
    EdgeLabel(EdgeLabelId),
    /// A derived index: the program that opens the graph computes its entries and chooses its
    /// number.
    Derived(u32),
}

/// First byte of the partitions of derived indexes.
pub const KIND_DERIVED: u8 = 4;

impl IndexId {
    fn parts(self) -> (u8, u32) {
        match self {
            Self::Label(id) => (1, id.0),
            Self::VertexLabel(id) => (2, id.0),
            Self::EdgeLabel(id) => (3, id.0),
            Self::Derived(number) => (KIND_DERIVED, number),
        }
    }
}

/// Partition key of the entries of `index` in `bucket` whose first value is `first` (ordered bytes;
/// empty for range and label indexes).
#[must_use]
pub fn partition(index: IndexId, bucket: u8, first: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(7 + first.len());
    put_partition(index, bucket, first, &mut out);
    out
}

/// Appends [`partition`].
///
/// # Panics
/// When `first` is longer than 255 bytes; ordered values are not.
pub fn put_partition(index: IndexId, bucket: u8, first: &[u8], out: &mut Vec<u8>) {
    let (kind, id) = index.parts();
    out.push(kind);
    out.extend_from_slice(&id.to_be_bytes());
    out.push(bucket);
    let length = u8::try_from(first.len()).expect("ordered values are at most 150 bytes");
    out.push(length);
    out.extend_from_slice(first);
}

/// Partition key of the entries of an index without a first value, in its only bucket; the same
/// bytes as from [`partition`].
#[must_use]
pub fn plain_partition(index: IndexId) -> [u8; 7] {
    let [kind, a, b, c, d] = partition_prefix(index);
    [kind, a, b, c, d, 0, 0]
}

/// Start of every partition key of `index`, for removing or checking a whole index.
#[must_use]
pub fn partition_prefix(index: IndexId) -> [u8; 5] {
    let (kind, id) = index.parts();
    let id = id.to_be_bytes();
    [kind, id[0], id[1], id[2], id[3]]
}

/// Appends a value's ordered bytes; `None` is a missing value. Collections and objects have no
/// order: their members are indexed one by one.
pub fn put_ordered(value: Option<&Value>, out: &mut Vec<u8>) {
    match value.map(plain).as_deref() {
        None | Some(Value::Object(_) | Value::List(_) | Value::Set(_)) => out.push(MISSING),
        Some(Value::Boolean(flag)) => out.extend_from_slice(&[BOOLEAN, u8::from(*flag)]),
        Some(Value::Uuid(uuid)) => {
            out.push(UUID);
            out.extend_from_slice(&uuid.to_be_bytes());
        }
        Some(Value::Text(text)) => put_bounded(TEXT, text.as_bytes(), out),
        Some(Value::Blob(bytes)) => put_bounded(BLOB, bytes, out),
        Some(Value::Float(number)) => put_real(f64::from(*number), out),
        Some(Value::Double(number)) => put_real(*number, out),
        Some(other) => match other.as_i64() {
            Some(whole) => {
                out.push(WHOLE);
                out.extend_from_slice(&flip(whole));
            }
            // Values that only open graphs store are not indexed.
            None => out.push(MISSING),
        },
    }
}

/// A value's ordered bytes.
#[must_use]
pub fn ordered(value: &Value) -> Vec<u8> {
    let mut out = Vec::with_capacity(16);
    put_ordered(Some(value), &mut out);
    out
}

/// A token's ordered bytes, the first value of a search index's entries.
#[must_use]
pub fn ordered_token(token: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(token.len() + 2);
    put_ordered_text(token, &mut out);
    out
}

/// Appends a text's ordered bytes.
pub fn put_ordered_text(text: &str, out: &mut Vec<u8>) {
    put_bounded(TEXT, text.as_bytes(), out);
}

/// Appends the ordered bytes of a blob.
pub fn put_ordered_blob(bytes: &[u8], out: &mut Vec<u8>) {
    put_bounded(BLOB, bytes, out);
}

/// Appends a whole number's or date's ordered bytes.
pub fn put_ordered_whole(number: i64, out: &mut Vec<u8>) {
    out.push(WHOLE);
    out.extend_from_slice(&flip(number));
}

/// Appends the ordered bytes of a number with a fraction.
pub fn put_ordered_real(number: f64, out: &mut Vec<u8>) {
    put_real(number, out);
}

/// Appends the common start of the ordered bytes of all texts that begin with `prefix`, or with its
/// first [`INDEXED_BYTES_MAX`] bytes if it is longer.
pub fn put_text_prefix(prefix: &str, out: &mut Vec<u8>) {
    let bytes = prefix.as_bytes();
    out.push(TEXT);
    put_escaped(&bytes[..bytes.len().min(INDEXED_BYTES_MAX)], out);
    out.pop();
}

/// Length of the ordered values at the front of an entry's clustering key; the element follows.
#[must_use]
pub fn values_len(clustering: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = ordered_len(&clustering[at..]) {
        at += length;
    }
    at
}

/// The first value of a unique index's entry: the tuple itself, or its hash when it is long.
#[must_use]
pub fn unique_tuple(values: &[&Value]) -> Vec<u8> {
    let mut out = Vec::new();
    values
        .iter()
        .for_each(|value| put_ordered(Some(value), &mut out));
    bounded_tuple(out)
}

/// [`unique_tuple`] where values of all types are told apart, and equal numbers have equal bytes.
#[must_use]
pub fn unique_tuple_of_any(values: &[&Value]) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values {
        let (at, value) = (out.len(), plain(value));
        put_ordered(Some(&value), &mut out);
        let number = match *value {
            Value::Float(_) | Value::Double(_) => value.as_f64().and_then(whole),
            _ => None,
        };
        if let Some(number) = number {
            out.truncate(at);
            put_ordered_whole(number, &mut out);
        } else if out[at..] == [MISSING] {
            let mut bytes = Vec::new();
            put_value(&value, &mut bytes);
            out[at] = OTHER;
            let hash = xxhash_rust::xxh3::xxh3_128(&bytes);
            out.extend_from_slice(&hash.to_be_bytes());
        }
    }
    bounded_tuple(out)
}

/// The value itself where JSON has it as an object of any type: REST stores such properties so, and
/// other doors store plain values.
fn plain(value: &Value) -> Cow<'_, Value> {
    let Value::Object(datum) = value else {
        return Cow::Borrowed(value);
    };
    match &**datum {
        Datum::Bool(flag) => Cow::Owned(Value::Boolean(*flag)),
        Datum::Int(number) => Cow::Owned(Value::Long(*number)),
        Datum::Float(number) => Cow::Owned(Value::Double(*number)),
        Datum::Text(text) => Cow::Owned(Value::Text(text.clone())),
        Datum::Null | Datum::List(_) | Datum::Map(_) => Cow::Borrowed(value),
    }
}

/// The whole number that a number is, if it is exactly one.
fn whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < 9e15;
    #[allow(clippy::cast_possible_truncation, reason = "it is exact")]
    is_whole.then_some(number as i64)
}

fn bounded_tuple(mut out: Vec<u8>) -> Vec<u8> {
    if out.len() > 128 {
        let hash = xxhash_rust::xxh3::xxh3_128(&out);
        out.truncate(0);
        out.push(0xFF);
        out.extend_from_slice(&hash.to_be_bytes());
    }
    out
}

/// If `bytes` begin with the ordered bytes of a text or blob that an index truncates, returns the
/// part before `00 FE` and the hash. Values that share this part are not in order.
#[must_use]
pub fn known_start(bytes: &[u8]) -> Option<&[u8]> {
    let (TEXT | BLOB) = *bytes.first()? else {
        return None;
    };
    let length = ordered_len(bytes)?;
    // Before the hash, `00 FE` occurs only as the mark: other zeros are escaped, or end the value.
    let start = length.checked_sub(18).filter(|start| *start > 0)?;
    let mut at = 1;
    while at < start {
        at += if bytes[at] == 0 { 2 } else { 1 };
    }
    (at == start && bytes[at..].starts_with(&[0, 0xFE])).then(|| &bytes[..start])
}

fn put_real(number: f64, out: &mut Vec<u8>) {
    let bits = number.to_bits().cast_signed();
    let ordered = if bits >= 0 { bits } else { bits ^ i64::MAX };
    out.push(REAL);
    out.extend_from_slice(&flip(ordered));
}

fn put_bounded(tag: u8, bytes: &[u8], out: &mut Vec<u8>) {
    out.push(tag);
    if bytes.len() <= INDEXED_BYTES_MAX {
        put_escaped(bytes, out);
    } else {
        put_escaped(&bytes[..INDEXED_BYTES_MAX], out);
        out.push(0xFE);
        out.extend_from_slice(&xxhash_rust::xxh3::xxh3_128(bytes).to_be_bytes());
    }
}

/// Length of the ordered value at the front of `bytes`; `None` if there is no whole one.
#[must_use]
pub fn ordered_len(bytes: &[u8]) -> Option<usize> {
    let length = match *bytes.first()? {
        MISSING => 1,
        BOOLEAN => 2,
        WHOLE | REAL => 9,
        UUID => 17,
        TEXT | BLOB => {
            let mut at = 1;
            loop {
                match (*bytes.get(at)?, bytes.get(at + 1)) {
                    (0, Some(0xFF)) => at += 2,
                    (0, Some(0xFE)) => break at + 18,
                    (0, _) => break at + 1,
                    _ => at += 1,
                }
            }
        }
        _ => return None,
    };
    (bytes.len() >= length).then_some(length)
}

/// Skips `values` ordered values of an entry's clustering key and returns the element key.
#[must_use]
pub fn element_key(clustering: &[u8], values: usize) -> Option<&[u8]> {
    (0..values).try_fold(clustering, |rest, _| rest.get(ordered_len(rest)?..))
}

#[cfg(test)]
mod tests;
