//! Strategies for ids, values and headers, for this crate's property tests.

use std::collections::BTreeMap;

use bigdecimal::BigDecimal;
use compact_str::CompactString;
use num_bigint::BigInt;
use proptest::prelude::*;
use varve_model::value::{DateTime, Duration};
use varve_model::{
    CommitVersion, Datum, Decimal, EdgeId, EdgeLabelId, ElementId, Instant, Many, Numbered,
    Properties, PropertyKeyId, Value, VertexId,
};

use crate::row::{Header, RowKind};

/// Texts that are short and alike, so that prefixes, zero bytes and equal lengths come up often;
/// sometimes any text.
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

/// Values that only open graphs store, except those that contain other values.
fn open_scalar() -> impl Strategy<Value = Value> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let big = move || bytes().prop_map(|bytes| BigInt::from_signed_bytes_be(&bytes));
    prop_oneof![
        any::<i16>().prop_map(Value::Short),
        big().prop_map(|number| Value::BigInt(Box::new(number))),
        (big(), -5_000..=5_000_i64).prop_map(|(digits, scale)| {
            let number = Decimal::new(BigDecimal::new(digits, scale));
            Value::BigDecimal(Box::new(number.expect("within the bound")))
        }),
        any::<char>().prop_map(Value::Char),
        (number(), any::<i32>())
            .prop_map(|(micros, offset)| Value::DateTime(DateTime { micros, offset })),
        (number(), 0..1_000_000_000_u32)
            .prop_map(|(seconds, nanos)| Value::Duration(Duration { seconds, nanos })),
    ]
}

/// Values that nest.
fn nested() -> impl Strategy<Value = Value> {
    prop_oneof![scalar(), open_scalar()].prop_recursive(4, 32, 4, |inner| {
        let items = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            items().prop_map(Value::List),
            items().prop_map(Value::Set),
            prop::collection::vec((inner.clone(), inner.clone()), 0..4).prop_map(Value::Map),
        ]
    })
}

/// Several values of one key.
fn many() -> impl Strategy<Value = Value> {
    let meta = prop::collection::vec((schema_id(), nested()), 0..3).prop_map(|pairs| {
        let pairs = pairs.into_iter();
        pairs
            .map(|(key, value)| (PropertyKeyId(key), value))
            .collect::<Properties>()
    });
    let numbered = (any::<u32>(), nested(), meta);
    prop::collection::vec(numbered, 1..5).prop_map(|values| {
        let values = values.into_iter().map(|(number, value, meta)| {
            let numbered = Numbered {
                number,
                value,
                meta,
            };
            (number, numbered)
        });
        let values: BTreeMap<u32, Numbered> = values.collect();
        let many = Many::new(values.into_values().collect());
        Value::Many(Box::new(many.expect("numbers that ascend")))
    })
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
        2 => open_scalar(),
        1 => nested(),
        1 => many(),
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
    let kind = prop::sample::select(vec![RowKind::Put, RowKind::Delete, RowKind::Marker]);
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
