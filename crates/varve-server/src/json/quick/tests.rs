//! The quick reader takes what `serde_json` takes, as the same value, and declines the rest.

use super::*;
use serde::Deserialize;
use serde_json::Value;
use std::marker::PhantomData;
use varve_testkit::random::Random;

fn quick<'a, T: Deserialize<'a>>(document: &'a [u8]) -> Option<T> {
    read(document, PhantomData)
}

#[track_caller]
fn check(document: &[u8]) -> bool {
    let expected = serde_json::from_slice::<Value>(document).ok();
    let shown = String::from_utf8_lossy(document);
    assert_eq!(quick::<Value>(document), expected, "{shown}");
    expected.is_some()
}

const DOCUMENTS: &[&str] = &[
    r#"[{"label":"person","id":"a","properties":{"name":"märz","age":29,"score":-12.5,"ok":true,"no":false}}]"#,
    r#"{ "type" : "vertex", "properties" : { } , "id" : -7 , "l" : [ ] , "n" : null}"#,
    r#"[999999999999999999,0.00000000000001,123456789012.345,-0,-0.0,0,1e3,1.5E-3,18446744073709551615]"#,
    r#"["\"","\\","\u00e9\ud83d\ude00","a\nb","","\"quoted\" at both ends\"", "é\\"]"#,
    "\t[1 , \n 2\r] ",
    "[[[[]]],{\"a\":{\"b\":{}}}]",
];

#[test]
fn documents_are_read_as_serde_json_reads_them() {
    for document in DOCUMENTS {
        assert!(check(document.as_bytes()), "{document}");
    }
}

#[test]
fn what_is_no_json_is_declined() {
    for document in [
        "",
        "[",
        "]",
        "{",
        "[1",
        "[1,",
        "[1,]",
        "[,]",
        "[1 2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "[}",
        "{]",
        "[] x",
        "nul",
        "tru",
        "truefalse",
        "+1",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "1..2",
        "1.5.5",
        "1-1",
        "1e999",
        "\"",
        "\"a",
        "\"\\\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\u{1}\"",
        "\"\\n\u{1}\"",
        "\u{feff}[]",
    ] {
        assert!(!check(document.as_bytes()), "{document}");
    }
    assert!(!check(b"[\"\xff\"]"));
    assert!(!check(b"\"\\\xff\""));
}

#[test]
fn documents_nest_as_deep_as_serde_json_lets_them() {
    let deepest = usize::from(DEPTH_MAX);
    for depth in [deepest - 1, deepest, deepest + 1, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let document = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(check(document.as_bytes()), depth <= deepest, "{depth}");
        }
    }
}

#[test]
fn numbers_are_the_same_to_the_last_bit() {
    let mut random = Random::new(2026);
    for _ in 0..20_000 {
        let digits = |random: &mut Random, most: usize| {
            let count = 1 + random.below(most);
            (0..count)
                .map(|_| char::from(b'0' + random.below(10) as u8))
                .collect::<String>()
        };
        let mut number = digits(&mut random, 20);
        if random.below(2) == 0 {
            number.insert(0, '-');
        }
        if random.below(3) > 0 {
            number = format!("{number}.{}", digits(&mut random, 18));
        }
        if random.below(6) == 0 {
            number = format!("{number}e{}", digits(&mut random, 2));
        }
        if check(number.as_bytes()) {
            let exact: f64 = number.parse().expect("a number");
            let found = quick::<f64>(number.as_bytes()).map(f64::to_bits);
            assert_eq!(found, Some(exact.to_bits()), "{number}");
        }
    }
}

#[test]
fn damaged_documents_are_read_alike() {
    for document in DOCUMENTS {
        for at in 0..document.len() {
            for byte in b"\"\\{}[],:0.-e1 xtu\x00\x1f\xc3" {
                let mut bytes = document.as_bytes().to_vec();
                bytes[at] = *byte;
                check(&bytes);
            }
            check(&document.as_bytes()[..at]);
        }
    }
}

#[test]
fn texts_without_escapes_are_borrowed() {
    let document = br#"["plain"]"#;
    assert_eq!(quick::<Vec<&str>>(document), Some(vec!["plain"]));
    assert_eq!(quick::<Vec<&str>>(br#"["\n"]"#), None, "it cannot be");
}

#[test]
fn what_a_visitor_leaves_unread_is_declined() {
    struct Two;
    impl<'de> Visitor<'de> for Two {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("two elements")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
            items.next_element::<Value>()?;
            items.next_element::<Value>().map(|_| ())
        }
    }
    impl<'de> DeserializeSeed<'de> for Two {
        type Value = ();
        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_seq(self)
        }
    }
    for (document, is_read) in [("[1]", true), ("[1,2]", false), ("[1,2,3]", false)] {
        assert_eq!(
            read(document.as_bytes(), Two).is_some(),
            is_read,
            "{document}"
        );
    }
}
