//! Strategies for ids, values and headers, for this crate's property tests.

use compact_str::CompactString;
use proptest::prelude::*;
use varve_model::{
    CommitVersion, Datum, EdgeId, EdgeLabelId, ElementId, Instant, Properties, PropertyKeyId,
    Value, VertexId,
};

use crate::row::{Header, Kind};

/// Texts that are short and alike, so that prefixes, zero bytes and equal lengths come up often; sometimes any text.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[\u{0}\u{1}aAz~!>`\u{7f}]{0,4}",
        1 => ".{0,12}",
        1 => "[a\u{0}]{60,70}",
        1 => "[aé]{94,200}",
    ]
}

/// Vertex ids of the three kinds, with the borders of their encodings.
pub(crate) fn vertex_id() -> impl Strategy<Value = VertexId> {
    prop_oneof![
        3 => text().prop_map(|text| VertexId::text(&text)),
        1 => Just(VertexId::text(&"x".repeat(varve_model::id::VERTEX_ID_BYTES_MAX))),
        2 => number().prop_map(VertexId::Number),
        1 => prop_oneof![Just(0), Just(1), Just(u128::MAX), any::<u128>()].prop_map(VertexId::Uuid),
    ]
}

/// Whole numbers, the borders often.
pub(crate) fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        prop::sample::select(vec![
            i64::MIN,
            i64::MIN + 1,
            -256,
            -1,
            0,
            1,
            255,
            256,
            i64::MAX
        ]),
        any::<i64>(),
    ]
}

/// Label and key ids, the borders of their widths often.
pub(crate) fn schema_id() -> impl Strategy<Value = u32> {
    prop_oneof![
        prop::sample::select(vec![
            1,
            2,
            238,
            239,
            240,
            241,
            255,
            256,
            61_440,
            65_535,
            65_536,
            65_537,
            u32::MAX
        ]),
        1..1_000_u32,
        any::<u32>().prop_map(|id| id.max(1)),
    ]
}

/// Edge ids of normal and of sub labels.
pub(crate) fn edge_id() -> impl Strategy<Value = EdgeId> {
    (
        vertex_id(),
        schema_id(),
        prop::option::of(schema_id()),
        text(),
        vertex_id(),
    )
        .prop_map(|(source, parent, sub, sort_values, target)| EdgeId {
            source,
            parent: EdgeLabelId(parent),
            label: EdgeLabelId(sub.unwrap_or(parent)),
            sort_values: CompactString::new(&sort_values),
            target,
        })
}

/// Vertices and edges by their ids.
pub(crate) fn element_id() -> impl Strategy<Value = ElementId> {
    prop_oneof![
        vertex_id().prop_map(ElementId::Vertex),
        edge_id().prop_map(ElementId::Edge),
    ]
}

/// Doubles, the special ones often.
pub(crate) fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -f64::MIN_POSITIVE,
            -0.0,
            0.0,
            f64::from_bits(1),
            1.5,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            -f64::NAN,
        ]),
        any::<u64>().prop_map(f64::from_bits),
    ]
}

/// Values of one cardinality-SINGLE data type each, without OBJECT.
pub(crate) fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i8>().prop_map(Value::Byte),
        any::<i32>().prop_map(Value::Int),
        number().prop_map(Value::Long),
        number().prop_map(Value::Date),
        any::<u32>().prop_map(|bits| Value::Float(f32::from_bits(bits))),
        double().prop_map(Value::Double),
        text().prop_map(Value::Text),
        prop::collection::vec(any::<u8>(), 0..80).prop_map(Value::Blob),
        any::<u128>().prop_map(Value::Uuid),
    ]
}

/// Any value.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let object = prop_oneof![
        Just(Datum::Null),
        text().prop_map(Datum::Text),
        number().prop_map(|n| Datum::Map(vec![("n".into(), Datum::List(vec![Datum::Int(n)]))])),
    ];
    prop_oneof![
        6 => scalar(),
        1 => object.prop_map(|object| Value::Object(Box::new(object))),
        1 => prop::collection::vec(scalar(), 0..5).prop_map(Value::List),
        1 => prop::collection::vec(scalar(), 0..5).prop_map(Value::Set),
    ]
}

/// Properties.
pub(crate) fn properties() -> impl Strategy<Value = Properties> {
    prop::collection::vec((schema_id(), value()), 0..6).prop_map(|pairs| {
        let pairs = pairs.into_iter();
        pairs
            .map(|(key, value)| (PropertyKeyId(key), value))
            .collect()
    })
}

/// Instants, the ends of the range often.
pub(crate) fn instant() -> impl Strategy<Value = Instant> {
    number().prop_map(Instant)
}

/// Heads of rows of every kind.
pub(crate) fn header() -> impl Strategy<Value = Header> {
    let kind = prop::sample::select(vec![Kind::Put, Kind::Delete, Kind::Marker]);
    let optional = prop::option::of(instant());
    (
        kind,
        any::<u64>(),
        optional,
        instant(),
        instant(),
        any::<bool>(),
    )
        .prop_map(|(kind, version, from, to, until, overlaid)| Header {
            kind,
            version: CommitVersion(version),
            from,
            to,
            until,
            overlaid,
        })
}

/// Whether two values have the same bits: unlike `==`, true for a NaN and itself, false for zeros of unlike sign.
pub(crate) fn identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(x), Value::Float(y)) => x.to_bits() == y.to_bits(),
        (Value::Double(x), Value::Double(y)) => x.to_bits() == y.to_bits(),
        (Value::List(x), Value::List(y)) | (Value::Set(x), Value::Set(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| identical(x, y))
        }
        _ => a == b,
    }
}

/// Whether two sets of properties are identical, value by value.
pub(crate) fn identical_properties(a: &Properties, b: &Properties) -> bool {
    a.len() == b.len() && (a.iter().zip(b.iter())).all(|((k, x), (l, y))| k == l && identical(x, y))
}
