//! Writes JSON straight into a byte buffer, without a tree in between.
//!
//! [`JsonWriter`] writes the commas; the caller must nest correctly (checked in debug builds).

pub(crate) mod quick;

pub use varve_json::Escaping;
use varve_json::{escape, must_escape};

/// A buffer that JSON is written into.
#[derive(Debug, Default)]
pub struct JsonWriter {
    buffer: Vec<u8>,
    /// Whether a comma is due before the next key or value.
    comma: bool,
    depth: usize,
    /// How much of the stored data property values show.
    detail: Detail,
}

/// How much of the stored data property values show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Detail {
    /// What clients see.
    #[default]
    Seen,
    /// Also values that the graph's read mode hides.
    Stored,
    /// Also the types of values, in a form of their own.
    Typed,
}

impl JsonWriter {
    /// An empty buffer with room for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            buffer: Vec::with_capacity(bytes),
            comma: false,
            depth: 0,
            detail: Detail::Seen,
        }
    }

    /// How much property values show.
    pub(crate) const fn detail(&self) -> Detail {
        self.detail
    }

    /// Sets how much property values show.
    pub(crate) const fn set_detail(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// The finished bytes.
    pub fn finish(self) -> Vec<u8> {
        debug_assert_eq!(self.depth, 0, "every object and array is closed");
        self.buffer
    }

    /// Takes the bytes written so far; the next ones continue them.
    pub(crate) fn take_piece(&mut self) -> Vec<u8> {
        let next = Vec::with_capacity(self.buffer.len());
        std::mem::replace(&mut self.buffer, next)
    }

    /// Reserves exactly this many bytes.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.buffer.reserve_exact(bytes);
    }

    /// The number of bytes written.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    fn separate(&mut self) {
        if self.comma {
            self.buffer.push(b',');
        }
        self.comma = true;
    }

    /// `{`
    pub fn begin_object(&mut self) -> &mut Self {
        self.open(b'{')
    }

    /// `}`
    pub fn end_object(&mut self) -> &mut Self {
        self.close(b'}')
    }

    /// `[`
    pub fn begin_array(&mut self) -> &mut Self {
        self.open(b'[')
    }

    /// `]`
    pub fn end_array(&mut self) -> &mut Self {
        self.close(b']')
    }

    fn open(&mut self, bracket: u8) -> &mut Self {
        self.separate();
        self.buffer.push(bracket);
        self.comma = false;
        self.depth += 1;
        self
    }

    fn close(&mut self, bracket: u8) -> &mut Self {
        self.buffer.push(bracket);
        self.comma = true;
        self.depth -= 1;
        self
    }

    /// A key of the open object; its value must follow.
    pub fn key(&mut self, key: &str) -> &mut Self {
        self.string(key);
        self.buffer.push(b':');
        self.comma = false;
        self
    }

    /// A string, escaped as needed.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.string_parts(&[text])
    }

    /// A key that is known to need no escaping, written with its quotes and colon: `"id":`. Its
    /// value must follow.
    pub fn quoted_key(&mut self, key: &'static str) -> &mut Self {
        debug_assert!(key.starts_with('"') && key.ends_with("\":"), "{key}");
        self.separate();
        self.buffer.extend_from_slice(key.as_bytes());
        self.comma = false;
        self
    }

    /// A string that is known to need no escaping.
    pub fn plain_string(&mut self, text: &[u8]) -> &mut Self {
        debug_assert!(text.is_ascii() && text.iter().all(|byte| !must_escape(*byte)));
        self.separate();
        self.buffer.push(b'"');
        self.buffer.extend_from_slice(text);
        self.buffer.push(b'"');
        self
    }

    /// One string that `write` writes piece by piece.
    pub fn string_with(&mut self, write: impl FnOnce(&mut Escaping<'_>)) -> &mut Self {
        self.separate();
        self.buffer.push(b'"');
        write(&mut Escaping::new(&mut self.buffer));
        self.buffer.push(b'"');
        self
    }

    /// One string made of several parts.
    pub fn string_parts(&mut self, parts: &[&str]) -> &mut Self {
        self.separate();
        self.buffer.push(b'"');
        for part in parts {
            escape(part, &mut self.buffer);
        }
        self.buffer.push(b'"');
        self
    }

    /// An integer; longs are plain JSON integers, also beyond 2^53.
    pub fn integer(&mut self, value: i64) -> &mut Self {
        self.separate();
        self.buffer
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self
    }

    /// An unsigned integer.
    pub fn unsigned(&mut self, value: u64) -> &mut Self {
        self.separate();
        self.buffer
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        self
    }

    /// A double: `1.0` keeps its fraction, NaN and the infinities are strings.
    pub fn double(&mut self, value: f64) -> &mut Self {
        if value.is_nan() {
            return self.string("NaN");
        }
        if value.is_infinite() {
            return self.string(if value > 0.0 { "Infinity" } else { "-Infinity" });
        }
        self.value(&value)
    }

    /// A float, with the shortest digits that read back as the same float.
    pub fn float(&mut self, value: f32) -> &mut Self {
        if value.is_finite() {
            self.value(&value)
        } else {
            self.double(f64::from(value))
        }
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) -> &mut Self {
        self.raw(if value { b"true" } else { b"false" })
    }

    /// `null`.
    pub fn null(&mut self) -> &mut Self {
        self.raw(b"null")
    }

    /// Bytes that are one JSON value already.
    pub fn raw(&mut self, json: &[u8]) -> &mut Self {
        self.separate();
        self.buffer.extend_from_slice(json);
        self
    }

    /// Anything that serialises, for places that are not hot.
    pub fn value<T: serde::Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        self.separate();
        let start = self.buffer.len();
        if serde_json::to_writer(&mut self.buffer, value).is_err() {
            // Only a map with keys that are not text, or a value's own error, can fail.
            self.buffer.truncate(start);
            self.buffer.extend_from_slice(b"null");
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_arrays_and_commas() {
        let mut json = JsonWriter::default();
        json.begin_object();
        json.key("a").begin_array();
        json.integer(-5)
            .double(1.0)
            .string("x")
            .null()
            .boolean(true);
        json.begin_object().end_object().end_array();
        json.key("b")
            .unsigned(u64::MAX)
            .key("c")
            .float(0.4)
            .key("d")
            .raw(b"[1]");
        json.end_object();
        assert_eq!(
            String::from_utf8(json.finish()).unwrap(),
            r#"{"a":[-5,1.0,"x",null,true,{}],"b":18446744073709551615,"c":0.4,"d":[1]}"#
        );
    }

    #[test]
    fn numbers_that_json_lacks_are_strings() {
        let mut json = JsonWriter::default();
        json.begin_array()
            .double(f64::NAN)
            .double(f64::NEG_INFINITY)
            .float(f32::INFINITY)
            .end_array();
        assert_eq!(json.finish(), br#"["NaN","-Infinity","Infinity"]"#);
    }
}
