//! Checks the media types and encodings of requests, and compresses answers.

use std::io::{Read, Write};

use bytes::Bytes;
use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, header};
use varve_graphson::Format;

use crate::errors::ApiError;
use crate::respond::Body;
use crate::route::{Consumes, Route, Verb};

/// Refuses a request whose media types the route does not support. Returns 406 for `Accept`, 415
/// for `Content-Type`, and 400 for an empty `Content-Type`. The type of a GET is not checked.
///
/// A body needs a type, since a page of any site can make a browser send a body without one.
/// `/gremlin` accepts a body without a type, as TinkerPop's server does; there, the module `origin`
/// refuses pages of other sites.
pub(crate) fn check_types(
    route: &Route,
    headers: &HeaderMap,
    has_body: bool,
) -> Result<(), ApiError> {
    if let Some(accept) = headers.get(header::ACCEPT)
        && !accept.is_empty()
        && !route.any_accept
        && !accepts(accept.as_bytes(), route.text)
        && !(route.gremlin && accepts_gremlin(accept))
        && !(route.neo4j && accepts_neo4j(accept))
    {
        return Err(ApiError::not_acceptable());
    }
    if route.verb == Verb::Get || route.consumes == Consumes::Bytes {
        return Ok(());
    }
    let Some(content_type) = headers.get(header::CONTENT_TYPE) else {
        return match has_body && !route.gremlin {
            true => Err(ApiError::unsupported_media_type()),
            false => Ok(()),
        };
    };
    if content_type == "application/json" {
        return Ok(());
    }
    let media = media_type(content_type);
    let is = |known: &str| media.eq_ignore_ascii_case(known);
    if media.is_empty() {
        let message = "The Content-Type header can't be empty";
        Err(ApiError::bad_request(message))
    } else if is("application/json")
        || (route.gremlin && content_type.to_str().is_ok_and(is_of_gremlin))
        || (route.neo4j && crate::cypher::is_typed(media))
        || (route.consumes == Consumes::JsonOrText && is("text/plain"))
    {
        Ok(())
    } else {
        Err(ApiError::unsupported_media_type())
    }
}

fn is_of_gremlin(mime: &str) -> bool {
    Format::from_mime(mime).is_some()
}

/// The media type without its parameters; empty if the header is not ASCII.
fn media_type(content_type: &HeaderValue) -> &str {
    content_type
        .to_str()
        .unwrap_or("")
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
}

/// Whether `Content-Type` is JSON; false without the header.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).map_or("", media_type);
    content_type.eq_ignore_ascii_case("application/json")
}

fn accepts_neo4j(accept: &HeaderValue) -> bool {
    let mut types = accepted(accept.to_str().unwrap_or(""));
    types.any(crate::cypher::is_typed)
}

fn accepts_gremlin(accept: &HeaderValue) -> bool {
    let mut types = accepted(accept.to_str().unwrap_or(""));
    types.any(|name| Format::from_mime(name).is_some())
}

/// The types in an `Accept` header with a quality above 0, with their parameters, in the order
/// sent.
pub(crate) fn accepted(header: &str) -> impl Iterator<Item = &str> {
    let wanted = header.split(',').filter(|part| with_quality(part).1 > 0.0);
    wanted.map(|part| {
        let quality = part.match_indices(';').map(|(at, _)| at);
        let mut quality = quality.filter(|at| part[at + 1..].trim_start().starts_with("q="));
        part[..quality.next().unwrap_or(part.len())].trim()
    })
}

fn accepts(header: &[u8], text: bool) -> bool {
    if header == b"*/*" || header == b"application/json" {
        return true;
    }
    let Ok(header) = std::str::from_utf8(header) else {
        return false;
    };
    header.split(',').any(|part| {
        let (media, quality) = with_quality(part);
        let wanted = ["*/*", "*", "application/*", "application/json"];
        let plain = ["text/*", "text/plain"];
        let matches = |list: &[&str]| list.iter().any(|known| media.eq_ignore_ascii_case(known));
        quality > 0.0 && (matches(&wanted) || (text && matches(&plain)))
    })
}

/// Splits `gzip;q=0.5` into its name and quality; 1 if there is no valid quality.
fn with_quality(part: &str) -> (&str, f32) {
    let mut pieces = part.split(';').map(str::trim);
    let name = pieces.next().unwrap_or("");
    let quality = pieces.find_map(|piece| piece.strip_prefix("q=")?.trim().parse().ok());
    (name, quality.unwrap_or(1.0))
}

/// Whether the client accepts gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    accepts_encoding(headers, &["gzip", "x-gzip"])
}

/// Whether the client accepts Brotli.
pub(crate) fn accepts_brotli(headers: &HeaderMap) -> bool {
    accepts_encoding(headers, &["br"])
}

fn accepts_encoding(headers: &HeaderMap, names: &[&str]) -> bool {
    let mut star = false;
    for value in headers.get_all(header::ACCEPT_ENCODING) {
        for part in value.to_str().unwrap_or("").split(',') {
            let (name, quality) = with_quality(part);
            let is_wanted = names.iter().any(|known| name.eq_ignore_ascii_case(known));
            match (name, quality) {
                (_, quality) if is_wanted => return quality > 0.0,
                ("*", quality) => star = quality > 0.0,
                _ => {}
            }
        }
    }
    star
}

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyEncoding {
    Identity,
    Gzip,
}

/// The encoding that a request declares; 415 if it is not supported.
pub(crate) fn body_encoding(headers: &HeaderMap) -> Result<BodyEncoding, ApiError> {
    let Some(value) = headers.get(header::CONTENT_ENCODING) else {
        return Ok(BodyEncoding::Identity);
    };
    let name = value.to_str().unwrap_or("?").trim();
    let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
    if is(&["", "identity"]) {
        Ok(BodyEncoding::Identity)
    } else if is(&["gzip", "x-gzip"]) {
        Ok(BodyEncoding::Gzip)
    } else {
        Err(ApiError::unsupported_media_type())
    }
}

/// Decompresses a gzip body. Returns 413 as soon as the plain body exceeds `limit` bytes, and 400
/// if the body is not valid gzip.
pub(crate) fn gunzip(compressed: &[u8], limit: usize) -> Result<Bytes, ApiError> {
    let expected = compressed.len().saturating_mul(4).min(limit);
    let mut plain = Vec::with_capacity(expected);
    let mut decoder = MultiGzDecoder::new(compressed).take(limit as u64 + 1);
    decoder.read_to_end(&mut plain).map_err(|error| {
        ApiError::bad_request(format!("The request body is not valid gzip: {error}"))
    })?;
    if plain.len() > limit {
        return Err(ApiError::body_too_large(limit));
    }
    Ok(plain.into())
}

/// The plain size in bytes, modulo 2³², that the last 4 bytes of a gzip body declare. Of a body
/// with several members, it is the size of the last one. 0 if the body is shorter than 4 bytes.
pub(crate) fn declared_size(compressed: &[u8]) -> usize {
    compressed
        .last_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes) as usize)
}

/// Compresses an answer with gzip.
pub(crate) fn gzip(plain: &Body, level: u32) -> Bytes {
    let mut encoder = GzEncoder::new(
        Vec::with_capacity(plain.len() / 4 + 64),
        Compression::new(level),
    );
    let mut pieces = plain.pieces();
    pieces
        .try_for_each(|piece| encoder.write_all(piece))
        .and_then(|()| encoder.finish())
        .expect("writing to memory cannot fail")
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn accept() {
        for good in [
            "text/html, application/json;q=0.9",
            "application/*",
            "text/html,*/*;q=0.8",
            "*",
        ] {
            assert!(accepts(good.as_bytes(), false), "{good}");
        }
        for bad in ["text/plain", "application/xml", "application/json;q=0"] {
            assert!(!accepts(bad.as_bytes(), false), "{bad}");
        }
        assert!(accepts(b"text/plain", true));
    }

    #[test]
    fn accept_encoding() {
        let gzip = |value| accepts_gzip(&headers(header::ACCEPT_ENCODING, value));
        assert!(gzip("gzip, deflate"));
        assert!(gzip("deflate;q=0.5, gzip;q=0.1"));
        assert!(gzip("*") && gzip("GZip"));
        assert!(!gzip("identity"));
        assert!(!gzip("*, gzip;q=0"));
        assert!(!accepts_gzip(&HeaderMap::new()));
    }

    #[test]
    fn bodies() {
        let text = b"[1,2,3]".repeat(1000);
        let packed = gzip(&Body::from(text.clone()), 1);
        assert_eq!(gunzip(&packed, 7000).unwrap(), text);
        assert_eq!(gunzip(&packed, 6999).unwrap_err().status().as_u16(), 413);
        assert_eq!(
            gunzip(&packed[..packed.len() - 9], 7000)
                .unwrap_err()
                .status()
                .as_u16(),
            400
        );
        assert_eq!(gunzip(b"[1]", 100).unwrap_err().status().as_u16(), 400);
        for name in ["gzip", "GZIP", "X-Gzip"] {
            let encoding = body_encoding(&headers(header::CONTENT_ENCODING, name));
            assert_eq!(encoding.unwrap(), BodyEncoding::Gzip, "{name}");
        }
        let bad = body_encoding(&headers(header::CONTENT_ENCODING, "br"));
        assert_eq!(bad.unwrap_err().status().as_u16(), 415);
    }
}
