//! PackStream: the bytes of the specification's examples, round trips, truncated and damaged bytes.

use bytes::BytesMut;
use proptest::prelude::*;
use varve_bolt::packstream::{DEPTH_MAX, Writer, read};
use varve_bolt::{BoltError, Value};

fn written(value: &Value) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    Writer::new(&mut bytes).value(value).expect("it is written");
    bytes.to_vec()
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |digits| u8::from_str_radix(digits, 16).expect("two digits");
    hex.split_whitespace().map(byte).collect()
}

fn ints(range: std::ops::RangeInclusive<i64>) -> Value {
    range.collect()
}

/// `A` to `Z`, each with its place in the alphabet.
fn alphabet() -> Value {
    let entry = |(letter, place): (char, i64)| (letter.to_string(), Value::Int(place));
    Value::Map(('A'..='Z').zip(1..).map(entry).collect())
}

#[test]
fn the_examples_of_the_specification_are_written_and_read() {
    let one = Value::Map(vec![("one".to_owned(), "eins".into())]);
    let mixed = Value::List(vec![1.into(), 2.0.into(), "three".into()]);
    let structure = Value::Structure {
        tag: b'E',
        fields: vec![1.into(), 2.into(), 3.into(), 4.into()],
    };
    let forty: String = (1..=40).map(|byte| format!(" {byte:02X}")).collect();
    let letters = ('A'..='Z').zip(1..);
    let letters: String = letters
        .map(|(letter, place): (char, u8)| format!(" 81 {:02X} {place:02X}", letter as u8))
        .collect();
    let examples = [
        (Value::Null, "C0"),
        (Value::Bool(true), "C3"),
        (Value::Bool(false), "C2"),
        (Value::Int(42), "2A"),
        (Value::Int(i64::MIN), "CB 80 00 00 00 00 00 00 00"),
        (Value::Int(i64::MAX), "CB 7F FF FF FF FF FF FF FF"),
        (Value::Float(1.23), "C1 3F F3 AE 14 7A E1 47 AE"),
        (Value::Bytes(Vec::new()), "CC 00"),
        (Value::Bytes(vec![1, 2, 3]), "CC 03 01 02 03"),
        ("".into(), "80"),
        ("A".into(), "81 41"),
        (
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ".into(),
            "D0 1A 41 42 43 44 45 46 47 48 49 4A 4B 4C 4D 4E 4F 50 51 52 53 54 55 56 57 58 59 5A",
        ),
        (
            "Größenmaßstäbe".into(),
            "D0 12 47 72 C3 B6 C3 9F 65 6E 6D 61 C3 9F 73 74 C3 A4 62 65",
        ),
        (Value::List(Vec::new()), "90"),
        (ints(1..=3), "93 01 02 03"),
        (mixed, "93 01 C1 40 00 00 00 00 00 00 00 85 74 68 72 65 65"),
        (ints(1..=40), &format!("D4 28{forty}")),
        (Value::Map(Vec::new()), "A0"),
        (one, "A1 83 6F 6E 65 84 65 69 6E 73"),
        (alphabet(), &format!("D8 1A{letters}")),
        (structure, "B4 45 01 02 03 04"),
    ];
    for (value, hex) in examples {
        assert_eq!(written(&value), bytes(hex), "{value:?}");
        assert_eq!(read(&bytes(hex)), Ok(value), "{hex}");
    }
}

#[test]
fn values_are_written_in_their_shortest_form() {
    for (value, length) in [
        (-17, 2),
        (-16, 1),
        (127, 1),
        (128, 3),
        (-128, 2),
        (-129, 3),
        (32_767, 3),
        (32_768, 5),
        (-32_769, 5),
        (2_147_483_647, 5),
        (2_147_483_648, 9),
        (-2_147_483_649, 9),
    ] {
        assert_eq!(written(&Value::Int(value)).len(), length, "{value}");
        assert_eq!(read(&written(&Value::Int(value))), Ok(Value::Int(value)));
    }
    for (length, header) in [
        (15, 1),
        (16, 2),
        (255, 2),
        (256, 3),
        (65_535, 3),
        (65_536, 5),
    ] {
        let value = Value::String("x".repeat(length));
        assert_eq!(written(&value).len(), header + length);
        assert_eq!(read(&written(&value)), Ok(value));
        let value: Value = (0..length).map(|_| true).collect();
        assert_eq!(written(&value).len(), header + length);
        assert_eq!(read(&written(&value)), Ok(value));
        let value = Value::Bytes(vec![7; length]);
        assert_eq!(written(&value).len(), header.max(2) + length);
        assert_eq!(read(&written(&value)), Ok(value));
    }
}

#[test]
fn every_form_of_an_integer_is_read() {
    for hex in [
        "2A",
        "C8 2A",
        "C9 00 2A",
        "CA 00 00 00 2A",
        "CB 00 00 00 00 00 00 00 2A",
    ] {
        assert_eq!(read(&bytes(hex)), Ok(Value::Int(42)), "{hex}");
    }
}

#[test]
fn wrong_bytes_are_refused_with_their_place() {
    for (hex, place, problem) in [
        ("92 01 C4", 2, "C4 begins no value"),
        ("DC 01", 0, "DC begins no value"),
        ("01 02", 1, "1 bytes follow the value"),
        ("91 82 C3 28", 2, "the String is not UTF-8"),
        ("A1 01 02", 1, "a key must be a String, not 01"),
        ("D6 80 00 00 00", 5, "the length 2147483648 is 2^31 or more"),
        (
            "A3 81 61 01 81 62 02 81 61 03",
            1,
            "the Dictionary has the key \"a\" twice",
        ),
    ] {
        let problem = problem.to_owned();
        let expected = BoltError::Malformed { place, problem };
        assert_eq!(read(&bytes(hex)), Err(expected), "{hex}");
    }
}

#[test]
fn lengths_beyond_the_message_are_refused() {
    for hex in [
        "D6 7F FF FF FF C0",
        "DA 7F FF FF FF 81 61 C0",
        "D2 7F FF FF FF 61",
        "CE 7F FF FF FF 61",
        "B2 4E 01",
        // Each list fits in what is left, but both do not.
        "93 93 C0 C0 C0 C0",
        "A1 81 61 93 01 02",
    ] {
        assert!(
            matches!(read(&bytes(hex)), Err(BoltError::Short(_))),
            "{hex}"
        );
    }
}

#[test]
fn the_depth_is_limited() {
    let nested = |depth| {
        let mut message = vec![0x91; depth];
        message.push(0xC0);
        read(&message)
    };
    let deepest = nested(DEPTH_MAX).expect("the deepest list");
    assert_eq!(read(&written(&deepest)), Ok(deepest));
    assert_eq!(nested(DEPTH_MAX + 1), Err(BoltError::TooDeep));
    assert_eq!(nested(1_000_000), Err(BoltError::TooDeep));
    let structures = [0xB1, b'N'].repeat(DEPTH_MAX + 1);
    assert_eq!(
        read(&[structures, vec![1]].concat()),
        Err(BoltError::TooDeep)
    );
}

#[test]
fn a_structure_of_16_fields_is_not_written() {
    let fields = vec![Value::Null; 16];
    let value = Value::Structure { tag: 1, fields };
    let result = Writer::new(&mut BytesMut::new()).value(&value);
    assert!(
        matches!(result, Err(BoltError::Unwritable(_))),
        "{result:?}"
    );
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-200_i64..40_000).prop_map(Value::Int),
        any::<f64>()
            .prop_filter("NaN differs from itself", |float| !float.is_nan())
            .prop_map(Value::Float),
        prop::collection::vec(any::<u8>(), 0..300).prop_map(Value::Bytes),
        ".{0,40}".prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 20, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..20);
        let entries = prop::collection::btree_map(".{0,5}", inner.clone(), 0..20);
        let fields = prop::collection::vec(inner, 0..=15);
        prop_oneof![
            list.prop_map(Value::List),
            entries.prop_map(|entries| Value::Map(entries.into_iter().collect())),
            (any::<u8>(), fields).prop_map(|(tag, fields)| Value::Structure { tag, fields }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(value in values()) {
        prop_assert_eq!(read(&written(&value)), Ok(value));
    }

    #[test]
    fn a_truncated_value_is_too_short(value in values()) {
        let message = written(&value);
        for length in 0..message.len() {
            let result = read(&message[..length]);
            prop_assert!(matches!(result, Err(BoltError::Short(_))), "{:?}", result);
        }
    }

    #[test]
    fn damaged_bytes_never_panic_and_what_is_read_is_written(
        value in values(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut message = written(&value);
        for (place, byte) in damage {
            let place = place.index(message.len());
            message[place] = byte;
        }
        if let Ok(value) = read(&message) {
            // Written again, as a NaN differs from itself.
            let shortest = written(&value);
            prop_assert!(shortest.len() <= message.len());
            prop_assert_eq!(written(&read(&shortest).expect("it is read")), shortest);
        }
    }
}
