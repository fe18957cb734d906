//! Ids in paths and query parameters.
//!
//! A vertex id is JSON: a string in quotes, a bare whole number, or `U` and the quoted text of a
//! UUID. An edge id is its bare text.

use varve_graph::element::{RawValue, vertex_id};
use varve_model::value::Uuid;
use varve_model::{EdgeId, VertexId};

use super::raw::Text;
use crate::ApiError;

/// Reads a vertex id.
pub(crate) fn parse_vertex_id(text: &str) -> Result<VertexId, ApiError> {
    let (json, is_uuid) = match text.strip_prefix('U') {
        Some(rest) if rest.starts_with('"') => (rest, true),
        _ => (text, false),
    };
    let quoted = || {
        serde_json::from_str::<Text<'_>>(json)
            .ok()
            .map(|text| text.0)
    };
    let id = if is_uuid {
        quoted()
            .and_then(|uuid| Uuid::parse(&uuid))
            .map(|uuid| VertexId::Uuid(uuid.0))
    } else if let Some(inside) = plainly_quoted(json) {
        as_id(RawValue::Text(inside.into()))
    } else if json.starts_with('"') {
        quoted().and_then(|text| as_id(RawValue::Text(text)))
    } else {
        serde_json::from_str::<i64>(json).ok().map(VertexId::Number)
    };
    id.ok_or_else(|| {
        ApiError::illegal_argument(format!(
            "The vertex id must be formatted as Number/String/UUID, but got '{json}'"
        ))
    })
}

/// Returns the text between the quotes of a JSON string without escapes; `None` for any other text.
fn plainly_quoted(json: &str) -> Option<&str> {
    let inside = json.strip_prefix('"')?.strip_suffix('"')?;
    let plain = |byte: &u8| *byte >= b' ' && !matches!(byte, b'"' | b'\\');
    inside.as_bytes().iter().all(plain).then_some(inside)
}

fn as_id(raw: RawValue<'_>) -> Option<VertexId> {
    vertex_id(&raw).ok()
}

/// Whether edge ids of HugeGraph before 1.5, which have one label id, are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OldForm {
    /// To read an element by an id that was stored elsewhere.
    Accepted,
    /// To change an element.
    Refused,
}

/// Reads an edge id. Like HugeGraph, returns 404 for a text that is not an edge id.
pub(crate) fn parse_edge_id(text: &str, old: OldForm) -> Result<EdgeId, ApiError> {
    let id = EdgeId::parse(text).map_err(|error| ApiError::not_found(error.to_string()))?;
    if old == OldForm::Refused {
        let parts = varve_model::id::split_unescaped(text, '>').len();
        if parts < 5 {
            return Err(ApiError::not_found(format!(
                "Edge id must be formatted as 5~6 parts, but got {parts} parts: '{text}'"
            )));
        }
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertex_ids_are_json() {
        for (text, id) in [
            ("\"1:marko\"", VertexId::text("1:marko")),
            ("\"é ~\"", VertexId::text("é ~")),
            (r#""a\"\\\u00e9""#, VertexId::text("a\"\\é")),
            ("123", VertexId::Number(123)),
            ("-5", VertexId::Number(-5)),
            ("\"123\"", VertexId::text("123")),
            (
                "U\"835e1153-9281-4957-8691-cf79258e90eb\"",
                VertexId::Uuid(0x835e_1153_9281_4957_8691_cf79_258e_90eb),
            ),
        ] {
            assert_eq!(parse_vertex_id(text).expect(text), id);
        }
        for (bad, shown) in [
            ("1:marko", "1:marko"),
            ("U\"bad\"", "\"bad\""),
            ("[1]", "[1]"),
            ("", ""),
            ("\"\"", "\"\""),
            ("\"a", "\"a"),
            ("\"a\"b\"", "\"a\"b\""),
            ("\"a\nb\"", "\"a\nb\""),
            ("\"", "\""),
            ("1.5", "1.5"),
            ("9223372036854775808", "9223372036854775808"),
        ] {
            assert_eq!(
                parse_vertex_id(bad).expect_err(bad).message(),
                format!("The vertex id must be formatted as Number/String/UUID, but got '{shown}'")
            );
        }
    }

    #[test]
    fn edge_ids_are_bare() {
        let id = "S1:marko>1>1>7Jopua00>S1:josh";
        assert_eq!(
            parse_edge_id(id, OldForm::Refused).expect(id).to_string(),
            id
        );
        assert!(parse_edge_id("S1:marko>2>>S2:lop", OldForm::Accepted).is_ok());
        for (bad, message) in [
            (
                "bad",
                "Edge id must be formatted as 5~6 parts, but got 1 parts: 'bad'",
            ),
            (
                "S1:marko>2>>S2:lop",
                "Edge id must be formatted as 5~6 parts, but got 4 parts: 'S1:marko>2>>S2:lop'",
            ),
            (
                "S1:marko>EDGE_OUT>2>2>>S2:lop",
                "Invalid format of edge id 'S1:marko>EDGE_OUT>2>2>>S2:lop'",
            ),
        ] {
            let error = parse_edge_id(bad, OldForm::Refused).expect_err(bad);
            assert_eq!((error.message(), error.status().as_u16()), (message, 404));
        }
    }
}
