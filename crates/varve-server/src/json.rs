//! Writing JSON straight into a byte buffer, without a tree between.
//!
//! [`JsonWriter`] puts the commas; the caller keeps the nesting right (checked in debug builds).

/// A buffer that JSON is written into.
#[derive(Debug, Default)]
pub struct JsonWriter {
    buffer: Vec<u8>,
    /// Whether a comma is due before the next key or value.
    comma: bool,
    depth: usize,
    /// How much of what is stored property values show.
    detail: Detail,
}

/// How much of what is stored property values show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Detail {
    /// What clients see.
    #[default]
    Seen,
    /// Also what the graph's read mode hides.
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

    /// What was written so far, to be followed by what is written next.
    pub(crate) fn take_piece(&mut self) -> Vec<u8> {
        let next = Vec::with_capacity(self.buffer.len());
        std::mem::replace(&mut self.buffer, next)
    }

    /// Makes room for so many bytes, and no more than that.
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

    /// A key that is known to need no escaping, written with its quotes and colon: `"id":`. Its value must follow.
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
        write(&mut Escaping(&mut self.buffer));
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

/// The inside of a string: what is written is escaped as needed. Never fails.
#[derive(Debug)]
pub struct Escaping<'a>(&'a mut Vec<u8>);

impl std::fmt::Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

/// What a byte of a string becomes: 0 as it is, `u` a `\u00XX`, else a backslash and that letter.
const ESCAPES: [u8; 256] = escape_table();

const fn escape_table() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[b'\n' as usize] = b'n';
    table[b'\r' as usize] = b'r';
    table[b'\t' as usize] = b't';
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table
}

const fn must_escape(byte: u8) -> bool {
    ESCAPES[byte as usize] != 0
}

/// Whether one of eight bytes must be escaped. May be wrong the other way for what follows such a byte, which does not
/// matter.
const fn any_must_escape(eight: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let quote = eight ^ (ONES * b'"' as u64);
    let backslash = eight ^ (ONES * b'\\' as u64);
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    let is_zero = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    (control | is_zero) & HIGH != 0
}

/// Whether nothing in a text must be escaped, which is the usual case.
fn is_plain(bytes: &[u8]) -> bool {
    let (eights, rest) = bytes.as_chunks::<8>();
    if eights
        .iter()
        .any(|eight| any_must_escape(u64::from_ne_bytes(*eight)))
    {
        return false;
    }
    match bytes.last_chunk::<8>() {
        // Looks at some bytes twice rather than at each of the rest.
        Some(last) => rest.is_empty() || !any_must_escape(u64::from_ne_bytes(*last)),
        None => !rest.iter().any(|byte| must_escape(*byte)),
    }
}

/// How many bytes at the front of `bytes` stand in a JSON string as they are: up to the first quote, backslash or
/// control character.
pub(crate) fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let (eights, rest) = bytes.as_chunks::<8>();
    for (at, eight) in eights.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        // The high bit of a byte is set when the byte is zero, or below a space. Only a byte after one that was found
        // can be found wrongly.
        let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGH;
        let quotes = zero(word ^ (ONES * u64::from(b'"')));
        let backslashes = zero(word ^ (ONES * u64::from(b'\\')));
        let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
        let found = quotes | backslashes | controls;
        if found != 0 {
            return at * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let plain = rest.iter().take_while(|byte| !must_escape(**byte));
    eights.len() * 8 + plain.count()
}

fn escape(text: &str, out: &mut Vec<u8>) {
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        escape_each(text, out);
    }
}

fn escape_each(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let bytes = text.as_bytes();
    let mut start = 0;
    for (position, &byte) in bytes.iter().enumerate() {
        let letter = ESCAPES[usize::from(byte)];
        if letter == 0 {
            continue;
        }
        out.extend_from_slice(&bytes[start..position]);
        start = position + 1;
        out.extend_from_slice(&[b'\\', letter]);
        if letter == b'u' {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            out.extend_from_slice(&[b'0', b'0', HEX[high], HEX[low]]);
        }
    }
    out.extend_from_slice(&bytes[start..]);
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
    fn every_string_reads_back() {
        let all: String = (0..0x300)
            .filter_map(char::from_u32)
            .chain("😀\u{ffff}".chars())
            .collect();
        let mut json = JsonWriter::default();
        json.string(&all);
        let bytes = json.finish();
        assert_eq!(serde_json::from_slice::<String>(&bytes).unwrap(), all);
    }

    #[test]
    fn the_plain_part_ends_where_an_escape_is_due() {
        for special in 0..=255_u8 {
            for before in 0..20 {
                for after in [0, 1, 9] {
                    let mut bytes = vec![0x80; before];
                    bytes.push(special);
                    bytes.extend(vec![b'"'; after]);
                    let expected = before + usize::from(!must_escape(special));
                    assert_eq!(plain_len(&bytes), expected, "{special:#x} after {before}");
                }
            }
        }
    }

    #[test]
    fn a_byte_to_escape_is_found_wherever_it_stands() {
        for length in 0..40 {
            let plain = "a\u{7f}é \u{10ffff}Z".repeat(8)[..]
                .chars()
                .take(length)
                .collect::<String>();
            assert!(is_plain(plain.as_bytes()), "{plain:?}");
            for at in 0..=length {
                for bad in ['"', '\\', '\0', '\u{1f}', '\n'] {
                    let mut text: Vec<char> = plain.chars().collect();
                    text.insert(at, bad);
                    let text: String = text.into_iter().collect();
                    assert!(!is_plain(text.as_bytes()), "{text:?}");
                    let mut json = JsonWriter::default();
                    json.string_with(|out| std::fmt::Write::write_str(out, &text).expect("memory"));
                    let bytes = json.finish();
                    assert_eq!(serde_json::from_slice::<String>(&bytes).unwrap(), text);
                }
            }
        }
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
