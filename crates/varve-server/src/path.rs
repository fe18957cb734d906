//! Splitting and percent-decoding of paths and query strings.

use memchr::memchr2_iter;
use smallvec::SmallVec;

/// A path with more segments than this fits no resource.
const MAX_SEGMENTS: usize = 16;

/// Why a path or query could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DecodeError {
    /// A `%` without two hexadecimal digits after it.
    #[error("'%' must be followed by two hexadecimal digits")]
    BadEscape,
    /// The decoded bytes are not UTF-8.
    #[error("the decoded text is not UTF-8")]
    NotUtf8,
}

/// One path segment: its position in the path, and its decoded text if that differs.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    start: u32,
    end: u32,
    decoded: Option<String>,
}

impl Segment {
    /// The segment, moved out.
    pub(crate) fn take(&mut self) -> Self {
        Self {
            decoded: self.decoded.take(),
            ..*self
        }
    }

    /// The decoded text; `path` is the path that the segment was split from.
    pub(crate) fn text<'a>(&'a self, path: &'a str) -> &'a str {
        match &self.decoded {
            Some(text) => text,
            None => &path[self.start as usize..self.end as usize],
        }
    }
}

pub(crate) type Segments = SmallVec<[Segment; 8]>;

/// Splits an absolute path at its slashes. One trailing slash is dropped; an empty segment
/// elsewhere is kept, so that it fits no resource. `None` means more segments than any resource
/// has.
pub(crate) fn split(path: &str) -> Result<Option<Segments>, DecodeError> {
    let mut segments = Segments::new();
    let body = path.strip_prefix('/').unwrap_or(path);
    let offset = path.len() - body.len();
    let body = body.strip_suffix('/').unwrap_or(body);
    if body.is_empty() {
        return Ok(Some(segments));
    }
    let (mut start, mut is_escaped) = (0, false);
    let ends = memchr2_iter(b'/', b'%', body.as_bytes());
    for end in ends.chain([body.len()]) {
        if body.as_bytes().get(end) == Some(&b'%') {
            is_escaped = true;
            continue;
        }
        if segments.len() == MAX_SEGMENTS {
            return Ok(None);
        }
        let decoded = match is_escaped {
            true => Some(decode(&body[start..end], false)?),
            false => None,
        };
        segments.push(Segment {
            start: (offset + start) as u32,
            end: (offset + end) as u32,
            decoded,
        });
        (start, is_escaped) = (end + 1, false);
    }
    Ok(Some(segments))
}

/// Percent-decodes; with `plus_is_space` as in query strings.
pub(crate) fn decode(raw: &str, plus_is_space: bool) -> Result<String, DecodeError> {
    let bytes = raw.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut position = 0;
    loop {
        let rest = &bytes[position..];
        let is_coded = |byte: &u8| *byte == b'%' || (*byte == b'+' && plus_is_space);
        let plain = rest.iter().position(is_coded).unwrap_or(rest.len());
        decoded.extend_from_slice(&rest[..plain]);
        match rest[plain..] {
            [] => break,
            [b'%', high, low, ..] => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (Some(high), Some(low)) = (digit(high), digit(low)) else {
                    return Err(DecodeError::BadEscape);
                };
                decoded.push((high * 16 + low) as u8);
                position += plain + 3;
            }
            [b'%', ..] => return Err(DecodeError::BadEscape),
            _ => {
                decoded.push(b' ');
                position += plain + 1;
            }
        }
    }
    String::from_utf8(decoded).map_err(|_| DecodeError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str) -> Vec<String> {
        let segments = split(path).unwrap().unwrap();
        segments
            .iter()
            .map(|segment| segment.text(path).to_owned())
            .collect()
    }

    #[test]
    fn segments() {
        assert_eq!(texts("/"), Vec::<String>::new());
        assert_eq!(texts("/versions/"), ["versions"]);
        assert_eq!(
            texts("/a/%221%3Amarko%2F%22/b+c"),
            ["a", "\"1:marko/\"", "b+c"]
        );
        assert_eq!(texts("/a//b"), ["a", "", "b"]);
        assert_eq!(texts("/a//"), ["a", ""]);
        assert!(split(&"/a".repeat(17)).unwrap().is_none());
        let long = "/graphs/hugegraph/graph/vertices/%22\u{e4}\u{ff}/%25";
        let whole = [
            "graphs",
            "hugegraph",
            "graph",
            "vertices",
            "\"\u{e4}\u{ff}",
            "%",
        ];
        assert_eq!(texts(long), whole);
    }

    #[test]
    fn decoding_refuses_what_is_not_text() {
        assert_eq!(decode("a+b%20c%C3%A9", true).unwrap(), "a b cé");
        assert_eq!(decode("a+b", false).unwrap(), "a+b");
        for bad in ["%", "%4", "%zz", "a%4"] {
            assert_eq!(decode(bad, false), Err(DecodeError::BadEscape), "{bad}");
        }
        assert_eq!(decode("%ff", false), Err(DecodeError::NotUtf8));
    }
}
