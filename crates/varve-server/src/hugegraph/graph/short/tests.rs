//! What the short way takes, it reads as the long way does; what it must not take, it does not.

use super::super::input::{EachOf, EdgeJson, VertexJson};
use super::*;
use serde::de::DeserializeSeed as _;

fn short_vertices(body: &str) -> Option<Vec<VertexJson<'_>>> {
    let (mut found, mut element) = (Vec::new(), VertexJson::default());
    let mut scanner = Scanner::new(body.as_bytes())?;
    scanner.array(100, &mut element, Scanner::vertex, |vertex| {
        found.push(vertex.clone());
        Some(())
    })?;
    Some(found)
}

fn short_edges(body: &str) -> Option<Vec<EdgeJson<'_>>> {
    let (mut found, mut element) = (Vec::new(), EdgeJson::default());
    let mut scanner = Scanner::new(body.as_bytes())?;
    scanner.array(100, &mut element, Scanner::edge, |edge| {
        found.push(edge.clone());
        Some(())
    })?;
    Some(found)
}

/// The elements of an array as the long way reads them.
macro_rules! long {
    ($json:ident, $body:expr) => {{
        let mut found = Vec::new();
        let mut deserializer = serde_json::Deserializer::from_str($body);
        let each = EachOf::new(100, |item: Option<$json<'_>>| {
            found.push(item);
        });
        each.deserialize(&mut deserializer)
            .and_then(|_| deserializer.end())
            .ok()
            .and_then(|()| found.into_iter().collect::<Option<Vec<_>>>())
    }};
}

const VERTICES: &str = r#"[
  {"label":"person","id":"a","properties":{"name":"märz","age":29,"score":-12.5,"ok":true,"no":false}},
  { "type" : "vertex", "properties" : { } , "id" : -7 , "label" : "person" },
  {"valid_from":"2020-01-01","id":0,"label":"","valid_to":"2021-01-01","properties":{"n":999999999999999999,"f":0.00000000000001,"g":123456789012.345}}
]"#;

const EDGES: &str = r#"[
  {"label":"knows","outV":"a","outVLabel":"person","inV":"b","inVLabel":"person","properties":{"date":"2020-01-02"}},
  {"id":"x","label":"knows","outV":1,"inV":2,"properties":{}},
  {"label":"knows","outV":1,"valid_to":"2021-01-01","inV":2,"type":"edge","valid_from":"2020-01-01"}
]"#;

#[test]
fn ordinary_bodies_are_read_as_the_long_way_reads_them() {
    assert_eq!(short_vertices(VERTICES), long!(VertexJson, VERTICES));
    assert_eq!(short_vertices(VERTICES).map(|all| all.len()), Some(3));
    let with_id = short_edges(EDGES);
    assert_eq!(with_id, None, "ids of edges are for the long way");
    let without = EDGES.replace(r#""id":"x","#, "");
    assert_eq!(short_edges(&without), long!(EdgeJson, &without));
    assert_eq!(short_edges(&without).map(|all| all.len()), Some(3));
}

#[test]
fn numbers_are_the_same_to_the_last_bit() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..20_000_u32 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (whole, places) = (
            random % 10_u64.pow(1 + round % 15),
            (random >> 56) as usize % 8,
        );
        let fraction = format!("{:08}", random >> 40 & 0xFF_FFFF);
        let sign = if round % 2 == 0 { "-" } else { "" };
        let body = format!(
            r#"[{{"label":"l","id":1,"properties":{{"n":{sign}{whole}.{}}}}}]"#,
            &fraction[..=places]
        );
        if let Some(found) = short_vertices(&body) {
            assert_eq!(Some(found), long!(VertexJson, &body), "{body}");
        }
    }
}

#[test]
fn what_is_not_ordinary_is_left_to_the_long_way() {
    for value in [
        "null",
        "[1]",
        "{}",
        "1e3",
        "1.5E3",
        "-0",
        "01",
        "-",
        "1.",
        ".5",
        "+1",
        "tru",
        "trueish",
        r#""a\n""#,
        "\"a\u{1}\"",
        "\"a",
        "1234567890123456789",
        "1234567890.123456",
    ] {
        let body = format!(r#"[{{"label":"l","id":"i","properties":{{"p":{value}}}}}]"#);
        assert_eq!(short_vertices(&body), None, "{value}");
    }
    for body in [
        "",
        "[",
        "[]",
        "[null]",
        "[{}]",
        "[{}",
        r#"[{"label":"l"}"#,
        r#"[{"label":"l"}] x"#,
        r#"[{"label":"l"},]"#,
        r#"[{"label":"l","label":"m"}]"#,
        r#"[{"unknown":1}]"#,
        r#"[{"label":null}]"#,
        r#"[{"label":1}]"#,
        r#"[{"properties":null}]"#,
        r#"{"label":"l"}"#,
        r#"[{"label" "l"}]"#,
        r#"[{"label":"l" "id":1}]"#,
        "[1]",
    ] {
        assert_eq!(short_vertices(body), None, "{body}");
    }
    assert!(Scanner::new(b"[\"\xff\"]").is_none());
    let two = r#"[{"label":"l"},{"label":"l"}]"#;
    let mut scanner = Scanner::new(two.as_bytes()).expect("UTF-8");
    let read = scanner.array(1, &mut VertexJson::default(), Scanner::vertex, |_| Some(()));
    assert_eq!(read, None, "over the limit");
}

/// One changed byte anywhere: either the short way gives up, or both ways read the same.
#[test]
fn damaged_bodies_never_read_differently() {
    for body in [VERTICES, EDGES] {
        for at in 0..body.len() {
            for byte in b"\"\\{}[],:0.-e1 xt\x00\x1f" {
                let mut bytes = body.as_bytes().to_vec();
                bytes[at] = *byte;
                let Ok(changed) = std::str::from_utf8(&bytes) else {
                    continue;
                };
                if let Some(found) = short_vertices(changed) {
                    assert_eq!(Some(found), long!(VertexJson, changed), "{changed}");
                }
                if let Some(found) = short_edges(changed) {
                    assert_eq!(Some(found), long!(EdgeJson, changed), "{changed}");
                }
            }
        }
    }
}
