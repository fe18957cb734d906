//! Elements, dates and times as structures. Version 5.0 added element ids, and changed date-times
//! from local seconds to seconds in UTC; the functions whose structures differ take the version.
//! The tags are those of Bolt's specification.

use crate::handshake::Version;
use crate::packstream::{Map, Value};

/// Both ids of an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The number, which clients before 5.0 use.
    pub id: i64,
    /// The text. It is not sent before 5.0.
    pub element_id: String,
}

fn structure(tag: u8, fields: impl Into<Vec<Value>>) -> Value {
    let fields = fields.into();
    Value::Structure { tag, fields }
}

/// A structure whose last fields are element ids, if the version has them.
fn element<const N: usize>(
    version: Version,
    tag: u8,
    fields: impl Into<Vec<Value>>,
    element_ids: [String; N],
) -> Value {
    let mut fields = fields.into();
    if version >= Version::V5_0 {
        fields.extend(element_ids.map(Value::String));
    }
    Value::Structure { tag, fields }
}

/// A node.
#[must_use]
pub fn node(version: Version, node: Identity, labels: Vec<String>, properties: Map) -> Value {
    let fields = [
        node.id.into(),
        labels.into_iter().collect(),
        properties.into(),
    ];
    element(version, b'N', fields, [node.element_id])
}

/// A relationship of the type `label` from `start` to `end`.
#[must_use]
pub fn relationship(
    version: Version,
    relationship: Identity,
    start: Identity,
    end: Identity,
    label: String,
    properties: Map,
) -> Value {
    let fields = [
        relationship.id.into(),
        start.id.into(),
        end.id.into(),
        label.into(),
        properties.into(),
    ];
    let element_ids = [relationship.element_id, start.element_id, end.element_id];
    element(version, b'R', fields, element_ids)
}

/// A relationship of a path.
#[must_use]
pub fn unbound_relationship(
    version: Version,
    relationship: Identity,
    label: String,
    properties: Map,
) -> Value {
    let fields = [relationship.id.into(), label.into(), properties.into()];
    let element_ids = [relationship.element_id];
    element(version, b'r', fields, element_ids)
}

/// A path of nodes and unbound relationships, each listed once; the path begins at the first node.
///
/// For each step, `indices` has two numbers. The first is the place of its relationship, counted
/// from 1, and negative if the path goes against it. The second is the place of the node that it
/// reaches, counted from 0.
#[must_use]
pub fn path(nodes: Vec<Value>, relationships: Vec<Value>, indices: Vec<i64>) -> Value {
    let indices = indices.into_iter().collect();
    let fields = [Value::List(nodes), Value::List(relationships), indices];
    structure(b'P', fields)
}

/// A date, in days since 1970-01-01.
#[must_use]
pub fn date(days: i64) -> Value {
    structure(b'D', [days.into()])
}

/// A time of day, in nanoseconds since midnight at the offset, in seconds east of UTC.
#[must_use]
pub fn time(nanoseconds: i64, offset_seconds: i64) -> Value {
    structure(b'T', [nanoseconds.into(), offset_seconds.into()])
}

/// A time of day without offset, in nanoseconds since midnight.
#[must_use]
pub fn local_time(nanoseconds: i64) -> Value {
    structure(b't', [nanoseconds.into()])
}

/// A date-time: seconds since 1970-01-01T00:00Z and nanoseconds, shown at the offset, in seconds
/// east of UTC.
#[must_use]
pub fn date_time(version: Version, seconds: i64, nanoseconds: i64, offset_seconds: i64) -> Value {
    let zone = offset_seconds.into();
    let tags = [b'I', b'F'];
    instant(version, tags, seconds, nanoseconds, offset_seconds, zone)
}

/// A date-time: seconds since 1970-01-01T00:00Z and nanoseconds, shown in the zone of this name.
/// The offset is that of the zone at this instant; only clients before 5.0 need it.
#[must_use]
pub fn zoned_date_time(
    version: Version,
    seconds: i64,
    nanoseconds: i64,
    offset_seconds: i64,
    zone: String,
) -> Value {
    let tags = [b'i', b'f'];
    let zone = zone.into();
    instant(version, tags, seconds, nanoseconds, offset_seconds, zone)
}

fn instant(
    version: Version,
    [tag, legacy]: [u8; 2],
    seconds: i64,
    nanoseconds: i64,
    offset_seconds: i64,
    zone: Value,
) -> Value {
    if version >= Version::V5_0 {
        return structure(tag, [seconds.into(), nanoseconds.into(), zone]);
    }
    // Years end long before seconds do.
    let local = seconds.saturating_add(offset_seconds);
    structure(legacy, [local.into(), nanoseconds.into(), zone])
}

/// A date-time without zone: seconds since 1970-01-01T00:00 and nanoseconds.
#[must_use]
pub fn local_date_time(seconds: i64, nanoseconds: i64) -> Value {
    structure(b'd', [seconds.into(), nanoseconds.into()])
}

/// A duration; each part may be negative.
#[must_use]
pub fn duration(months: i64, days: i64, seconds: i64, nanoseconds: i64) -> Value {
    let fields = [months, days, seconds, nanoseconds].map(Value::Int);
    structure(b'E', fields)
}
