//! Strings in JSON, escaped as needed.

use crate::plain_end;

/// A writer of the inside of a JSON string. It escapes as needed and never fails.
#[derive(Debug)]
pub struct Escaping<'a>(&'a mut Vec<u8>);

impl<'a> Escaping<'a> {
    /// A writer that appends to `out`; the caller writes the quotes.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        Self(out)
    }
}

impl std::fmt::Write for Escaping<'_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        escape(text, self.0);
        Ok(())
    }
}

/// The escape of each byte of a string: 0 for none, `u` for `\u00XX`, else the character after the
/// backslash.
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

/// Whether a byte of a string must be escaped.
#[must_use]
pub const fn must_escape(byte: u8) -> bool {
    ESCAPES[byte as usize] != 0
}

/// Whether any of eight bytes must be escaped. A subtraction may borrow from the bytes more
/// significant than such a byte, so their bits may be wrong. This does not change the result.
const fn any_must_escape(eight: u64) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    let quote = eight ^ (ONES * b'"' as u64);
    let backslash = eight ^ (ONES * b'\\' as u64);
    let control = eight.wrapping_sub(ONES * 0x20) & !eight;
    let is_zero = (quote.wrapping_sub(ONES) & !quote) | (backslash.wrapping_sub(ONES) & !backslash);
    (control | is_zero) & HIGH != 0
}

/// Whether no byte of a text must be escaped, which is the usual case.
#[inline]
fn is_plain(bytes: &[u8]) -> bool {
    let (eights, rest) = bytes.as_chunks::<8>();
    if eights
        .iter()
        .any(|eight| any_must_escape(u64::from_ne_bytes(*eight)))
    {
        return false;
    }
    match bytes.last_chunk::<8>() {
        // Tests the last eight bytes at once, some of them again, instead of the rest one by one.
        Some(last) => rest.is_empty() || !any_must_escape(u64::from_ne_bytes(*last)),
        None => !rest.iter().any(|byte| must_escape(*byte)),
    }
}

/// Writes a string with its quotes.
#[inline]
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    escape(text, out);
    out.push(b'"');
}

/// Writes the inside of a string. A string in which nothing must be escaped is copied in one piece.
#[inline]
pub fn escape(text: &str, out: &mut Vec<u8>) {
    if is_plain(text.as_bytes()) {
        out.extend_from_slice(text.as_bytes());
    } else {
        escape_runs(text.as_bytes(), out);
    }
}

fn escape_runs(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut start = 0;
    while let Some(end) = plain_end(bytes, start) {
        out.extend_from_slice(&bytes[start..end]);
        let byte = bytes[end];
        let letter = ESCAPES[usize::from(byte)];
        out.extend_from_slice(&[b'\\', letter]);
        if letter == b'u' {
            let (high, low) = (usize::from(byte >> 4), usize::from(byte & 15));
            out.extend_from_slice(&[b'0', b'0', HEX[high], HEX[low]]);
        }
        start = end + 1;
    }
    out.extend_from_slice(&bytes[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_string(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// The expected JSON, made character by character.
    fn plainly(text: &str) -> String {
        let mut out = String::from("\"");
        for character in text.chars() {
            match character {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\u{8}' => out.push_str("\\b"),
                '\u{c}' => out.push_str("\\f"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                control if u32::from(control) < 0x20 => {
                    out.push_str(&format!("\\u{:04X}", u32::from(control)));
                }
                other => out.push(other),
            }
        }
        out + "\""
    }

    #[test]
    fn each_character_is_escaped_wherever_it_stands() {
        let characters = (0..0x100).chain([0x2028, 0x6f22, 0x1f600]);
        for character in characters.filter_map(char::from_u32) {
            for length in [0, 1, 15, 16, 17, 33] {
                for at in [0, length / 2, length] {
                    let mut text = "x".repeat(length);
                    text.insert(at, character);
                    assert_eq!(written(&text), plainly(&text));
                }
            }
        }
    }

    #[test]
    fn every_string_reads_back() {
        let all: String = (0..0x300)
            .filter_map(char::from_u32)
            .chain("😀\u{ffff}".chars())
            .collect();
        assert_eq!(serde_json::from_str::<String>(&written(&all)).unwrap(), all);
    }

    #[test]
    fn a_byte_to_escape_is_found_wherever_it_stands() {
        for length in 0..40 {
            let plain = "a\u{7f}é \u{10ffff}Z".repeat(8);
            let plain: Vec<char> = plain.chars().take(length).collect();
            assert!(
                is_plain(plain.iter().collect::<String>().as_bytes()),
                "{plain:?}"
            );
            for at in 0..=length {
                for bad in ['"', '\\', '\0', '\u{1f}', '\n'] {
                    let mut text = plain.clone();
                    text.insert(at, bad);
                    let text: String = text.into_iter().collect();
                    assert!(!is_plain(text.as_bytes()), "{text:?}");
                    let read = serde_json::from_str::<String>(&written(&text));
                    assert_eq!(read.unwrap(), text);
                }
            }
        }
    }
}
