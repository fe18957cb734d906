//! The part of HTTP/1.1 that a client with fixed requests needs: where an answer ends, and the
//! facts in its head.

use std::borrow::Cow;
use std::io::Read as _;

/// The most headers of an answer; a head with more is refused.
const HEADERS_MAX: usize = 64;

/// The facts in the head of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    /// Length of the head, including its empty line.
    pub(crate) length: usize,
    pub(crate) body: Body,
    /// Whether the server closes the connection after the answer.
    pub(crate) close: bool,
    /// Whether the body is compressed with gzip.
    pub(crate) gzip: bool,
}

/// How a body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// After this number of bytes.
    Length(usize),
    /// With the empty chunk.
    Chunked,
    /// With the connection.
    UntilClose,
}

/// An answer that is not valid HTTP/1.1, or not supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadAnswer;

impl Head {
    /// Parses the head at the start of `bytes`; `None` if it is incomplete.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Self>, BadAnswer> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut answer = httparse::Response::new(&mut headers);
        let length = match answer.parse(bytes).map_err(|_| BadAnswer)? {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial => return Ok(None),
        };
        let status = answer.code.ok_or(BadAnswer)?;
        let mut head = Self {
            status,
            length,
            body: Body::UntilClose,
            close: answer.version == Some(0),
            gzip: false,
        };
        for header in answer.headers.iter() {
            head.apply(header.name, header.value)?;
        }
        if status == 204 || status == 304 || status < 200 {
            head.body = Body::Length(0);
        }
        head.close |= head.body == Body::UntilClose;
        Ok(Some(head))
    }

    fn apply(&mut self, name: &str, value: &[u8]) -> Result<(), BadAnswer> {
        // Comparing the lengths first rules out most of the other headers.
        match name.len() {
            14 if name.eq_ignore_ascii_case("content-length") && self.body != Body::Chunked => {
                let text = std::str::from_utf8(value).map_err(|_| BadAnswer)?;
                self.body = Body::Length(text.trim().parse().map_err(|_| BadAnswer)?);
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                if !value.eq_ignore_ascii_case(b"chunked") {
                    return Err(BadAnswer);
                }
                self.body = Body::Chunked;
            }
            10 if name.eq_ignore_ascii_case("connection") => {
                self.close |= value.eq_ignore_ascii_case(b"close");
            }
            16 if name.eq_ignore_ascii_case("content-encoding") => {
                self.gzip = value.eq_ignore_ascii_case(b"gzip");
            }
            _ => {}
        }
        Ok(())
    }

    /// Length of the complete answer, if `bytes` has all of it. An answer that ends with its
    /// connection is complete if `closed` is set.
    pub(crate) fn whole(&self, bytes: &[u8], closed: bool) -> Result<Option<usize>, BadAnswer> {
        match self.body {
            Body::Length(length) => {
                let end = self.length.checked_add(length);
                Ok(end.filter(|end| bytes.len() >= *end))
            }
            Body::UntilClose => Ok(closed.then_some(bytes.len())),
            Body::Chunked => chunks(bytes, self.length, |_| {}),
        }
    }

    /// The body of a complete answer, with chunks joined and decompressed.
    pub(crate) fn body<'a>(&self, answer: &'a [u8]) -> Result<Cow<'a, [u8]>, BadAnswer> {
        let mut body = Cow::Borrowed(&answer[self.length..]);
        if self.body == Body::Chunked {
            let mut joined = Vec::with_capacity(answer.len());
            chunks(answer, self.length, |chunk| joined.extend_from_slice(chunk))?;
            body = Cow::Owned(joined);
        }
        if self.gzip {
            let mut plain = Vec::with_capacity(body.len() * 4);
            let mut decoder = flate2::read::GzDecoder::new(&*body);
            decoder.read_to_end(&mut plain).map_err(|_| BadAnswer)?;
            body = Cow::Owned(plain);
        }
        Ok(body)
    }
}

/// Visits the chunks from `at` on. Returns the end of the last one, or `None` if it is incomplete.
fn chunks(
    bytes: &[u8],
    mut at: usize,
    mut visit: impl FnMut(&[u8]),
) -> Result<Option<usize>, BadAnswer> {
    loop {
        let rest = &bytes[at.min(bytes.len())..];
        let (size_length, size) = match httparse::parse_chunk_size(rest).map_err(|_| BadAnswer)? {
            httparse::Status::Complete(found) => found,
            httparse::Status::Partial => return Ok(None),
        };
        let size = usize::try_from(size).map_err(|_| BadAnswer)?;
        let begin = at + size_length;
        let end = begin.checked_add(size).ok_or(BadAnswer)?;
        if bytes.len() < end.saturating_add(2) {
            return Ok(None);
        }
        visit(&bytes[begin..end]);
        at = end + 2;
        if size == 0 {
            return Ok(Some(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &[u8] = b"HTTP/1.1 201 Created\r\nContent-Length: 5\r\nX: y\r\n\r\nhello";

    #[test]
    fn an_answer_is_whole_when_its_length_is_there_and_not_before() {
        for cut in 0..PLAIN.len() {
            let part = &PLAIN[..cut];
            let whole = Head::parse(part)
                .expect("well-formed")
                .and_then(|head| head.whole(part, false).expect("well-formed"));
            assert_eq!(whole, None, "cut at {cut}");
        }
        let head = Head::parse(PLAIN).expect("well-formed").expect("whole");
        assert_eq!((head.status, head.close), (201, false));
        assert_eq!(head.whole(PLAIN, false), Ok(Some(PLAIN.len())));
        assert_eq!(&*head.body(PLAIN).expect("a body"), b"hello");
    }

    #[test]
    fn chunks_are_joined() {
        let bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        for cut in 48..bytes.len() {
            let part = &bytes[..cut];
            let head = Head::parse(part).expect("well-formed").expect("a head");
            assert_eq!(head.whole(part, false), Ok(None), "cut at {cut}");
        }
        let head = Head::parse(bytes).expect("well-formed").expect("a head");
        assert_eq!(head.whole(bytes, false), Ok(Some(bytes.len())));
        assert_eq!(&*head.body(bytes).expect("a body"), b"abcde");
    }

    #[test]
    fn an_answer_without_length_ends_with_its_connection() {
        let bytes = b"HTTP/1.1 200 OK\r\n\r\nabc";
        let head = Head::parse(bytes).expect("well-formed").expect("a head");
        assert!(head.close);
        assert_eq!(head.whole(bytes, false), Ok(None));
        assert_eq!(head.whole(bytes, true), Ok(Some(bytes.len())));
    }

    #[test]
    fn what_is_not_http_is_refused() {
        assert_eq!(Head::parse(b"SSH-2.0-OpenSSH\r\n"), Err(BadAnswer));
        let twice = b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n";
        assert_eq!(Head::parse(twice), Err(BadAnswer));
    }
}
