//! Order, length and partitions of index entries.

use std::cmp::Ordering;

use proptest::prelude::*;
use varve_kv::ClusteringRange;
use varve_model::{Datum, ElementId, VertexId};

use super::*;
use crate::testing;

fn indexes() -> impl Strategy<Value = IndexId> {
    (testing::schema_id(), 0..3).prop_map(|(id, kind)| match kind {
        0 => IndexId::Label(IndexLabelId(id)),
        1 => IndexId::VertexLabel(VertexLabelId(id)),
        _ => IndexId::EdgeLabel(EdgeLabelId(id)),
    })
}

/// Two values of one data type.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    let whole = || testing::number().prop_map(Value::Long);
    let double = || testing::double().prop_map(Value::Double);
    let text = || testing::text().prop_map(Value::Text);
    let float = || any::<u32>().prop_map(|bits| Value::Float(f32::from_bits(bits)));
    let blob = || {
        let byte = prop::sample::select(vec![0, 1, 0xFE, 0xFF]);
        prop::collection::vec(byte, 0..70).prop_map(Value::Blob)
    };
    prop_oneof![
        (whole(), whole()),
        (double(), double()),
        (float(), float()),
        (text(), text()),
        (blob(), blob()),
        (
            any::<u128>().prop_map(Value::Uuid),
            any::<u128>().prop_map(Value::Uuid)
        ),
        (
            any::<bool>().prop_map(Value::Boolean),
            any::<bool>().prop_map(Value::Boolean)
        ),
    ]
}

fn head(value: &Value) -> Option<&[u8]> {
    let bytes = match value {
        Value::Text(text) => text.as_bytes(),
        Value::Blob(bytes) => bytes,
        _ => return None,
    };
    Some(&bytes[..bytes.len().min(INDEXED_BYTES_MAX)])
}

proptest! {
    /// Bytes order as values do; beyond the indexed start of a text or blob only equality is kept.
    #[test]
    fn values_sort_as_bytes((a, b) in pairs(), next_a in 1..=0x30_u8, next_b in 1..=0x30_u8) {
        let order = a.compare(&b).expect("one type");
        let alike = order != Ordering::Equal && head(&a).is_some() && head(&a) == head(&b)
            && ordered(&a).len() > INDEXED_BYTES_MAX && ordered(&b).len() > INDEXED_BYTES_MAX;
        // In an entry, something follows: another value's tag, or the element key's.
        let entry = |value: &Value, next: u8| {
            let mut out = ordered(value);
            out.push(next);
            out
        };
        let by_bytes = entry(&a, next_a).cmp(&entry(&b, next_b));
        if order == Ordering::Equal {
            prop_assert_eq!(by_bytes, next_a.cmp(&next_b));
        } else if alike {
            prop_assert_ne!(ordered(&a), ordered(&b));
        } else {
            prop_assert_eq!(by_bytes, order);
        }
    }

    #[test]
    fn a_missing_value_sorts_first(value in testing::scalar()) {
        let mut missing = Vec::new();
        put_ordered(None, &mut missing);
        prop_assert!(missing < ordered(&value));
    }

    #[test]
    fn ordered_values_tell_their_end(value in testing::scalar(), element in testing::element_id()) {
        let mut bytes = ordered(&value);
        let length = bytes.len();
        prop_assert_eq!(ordered_len(&bytes), Some(length));
        // A text that is cut within its end mark looks like a shorter text; nothing is read beyond
        // the cut.
        for short in 0..length {
            prop_assert!(ordered_len(&bytes[..short]).is_none_or(|read| read <= short));
        }
        crate::key::put_element(&element, &mut bytes);
        prop_assert_eq!(ordered_len(&bytes), Some(length));
        let read = element_key(&bytes, 1).map(crate::key::decode_element);
        prop_assert_eq!(read, Some(Ok(element)));
    }

    #[test]
    fn entries_give_their_element_back(
        values in prop::collection::vec(prop::option::of(testing::scalar()), 0..4),
        element in testing::element_id(),
    ) {
        let mut clustering = Vec::new();
        values.iter().for_each(|value| put_ordered(value.as_ref(), &mut clustering));
        crate::key::put_element(&element, &mut clustering);
        let read = element_key(&clustering, values.len()).map(crate::key::decode_element);
        prop_assert_eq!(read, Some(Ok(element)));
    }

    #[test]
    fn partitions_tell_their_end(
        index in indexes(),
        other in indexes(),
        bucket in any::<u8>(),
        (a, b) in pairs(),
        rest in prop::collection::vec(any::<u8>(), 0..9),
    ) {
        let x = partition(index, bucket, &ordered(&a));
        let y = partition(other, bucket, &ordered(&b));
        let mut key = x.clone();
        key.extend_from_slice(&rest);
        prop_assert_eq!(crate::key::index_partition_len(&key), Some(x.len()));
        prop_assert!(x == y || !y.starts_with(&x), "no partition is the start of another");
        prop_assert!(x.starts_with(&partition_prefix(index)));
        prop_assert_eq!(y.starts_with(&partition_prefix(index)), index == other);
    }

    #[test]
    fn unique_tuples_differ_when_values_do(
        a in prop::collection::vec(testing::scalar(), 1..4),
        b in prop::collection::vec(testing::scalar(), 1..4),
    ) {
        let tuple = |values: &[Value]| unique_tuple(&values.iter().collect::<Vec<_>>());
        let (x, y) = (tuple(&a), tuple(&b));
        prop_assert!(x.len() <= 255);
        let equal = a.len() == b.len()
            && a.iter().zip(&b).all(|(x, y)| ordered(x) == ordered(y));
        prop_assert_eq!(x == y, equal);
    }
}

#[test]
fn doubles_in_total_order() {
    let sorted = [
        -f64::NAN,
        f64::NEG_INFINITY,
        f64::MIN,
        -1.0,
        -f64::MIN_POSITIVE,
        -0.0,
        0.0,
        f64::from_bits(1),
        1.0,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let bytes: Vec<Vec<u8>> = sorted.iter().map(|n| ordered(&Value::Double(*n))).collect();
    assert!(bytes.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn long_texts_keep_their_start_and_differ_by_hash() {
    let text = |tail: &str| Value::Text("x".repeat(64) + tail);
    let (short, long, other) = (ordered(&text("")), ordered(&text("a")), ordered(&text("b")));
    assert!(short < long && long != other);
    assert_eq!(long[..66], other[..66]);
    assert_eq!((long.len(), short.len()), (1 + 64 + 1 + 17, 1 + 64 + 1));
    let below = ordered(&Value::Text("x".repeat(63) + "w" + &"z".repeat(99)));
    assert!(below < short);
}

/// Numbers between two bounds are one range of clustering keys, whichever element they belong to.
#[test]
fn a_range_of_values_is_a_range_of_keys() {
    let entry = |number: i64, element: &str| {
        let mut key = ordered(&Value::Long(number));
        crate::key::put_element(&ElementId::Vertex(VertexId::text(element)), &mut key);
        key
    };
    let range = ClusteringRange {
        from: ordered(&Value::Long(-3)),
        to: Some(ordered(&Value::Long(4))),
    };
    for number in -10..10 {
        for element in ["", "a", "\u{10ffff}"] {
            let inside = (-3..4).contains(&number);
            assert_eq!(range.contains(&entry(number, element)), inside, "{number}");
        }
    }
}

#[test]
fn a_plain_partition_has_the_only_bucket_and_no_value() {
    for index in [
        IndexId::VertexLabel(VertexLabelId(7)),
        IndexId::EdgeLabel(EdgeLabelId(70_000)),
        IndexId::Label(IndexLabelId(1)),
    ] {
        assert_eq!(plain_partition(index).as_slice(), partition(index, 0, &[]));
    }
}

#[test]
fn equal_values_of_any_type_are_one_whatever_door_stored_them() {
    let object = |datum| Value::Object(Box::new(datum));
    for (plain, others) in [
        (
            Value::Text("a".into()),
            vec![object(Datum::Text("a".into()))],
        ),
        (Value::Boolean(true), vec![object(Datum::Bool(true))]),
        (
            Value::Int(1),
            vec![
                Value::Double(1.0),
                object(Datum::Int(1)),
                object(Datum::Float(1.0)),
            ],
        ),
        (Value::Double(1.5), vec![object(Datum::Float(1.5))]),
    ] {
        for other in &others {
            assert_eq!(
                unique_tuple_of_any(&[&plain]),
                unique_tuple_of_any(&[other])
            );
        }
    }
    assert_eq!(
        ordered(&Value::Text("a".into())),
        ordered(&object(Datum::Text("a".into())))
    );
    assert_ne!(
        unique_tuple_of_any(&[&Value::Text("1".into())]),
        unique_tuple_of_any(&[&Value::Int(1)])
    );
}
