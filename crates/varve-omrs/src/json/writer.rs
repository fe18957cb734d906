//! Writing JSON into a byte buffer.

use std::io::Write as _;

/// A buffer that JSON is written into. It puts the commas; the caller keeps the nesting right (checked in debug builds).
#[derive(Debug, Default)]
pub struct Writer {
    buffer: Vec<u8>,
    /// Whether a comma is due before the next key or value.
    comma: bool,
    depth: usize,
}

impl Writer {
    /// An empty buffer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The finished bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        debug_assert_eq!(self.depth, 0, "every object and list is closed");
        self.buffer
    }

    fn separate(&mut self) {
        if self.comma {
            self.buffer.push(b',');
        }
        self.comma = true;
    }

    /// An object, whose properties `members` writes.
    pub fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.nest(b'{', b'}', members);
    }

    /// A list, whose elements `elements` writes.
    pub fn list(&mut self, elements: impl FnOnce(&mut Self)) {
        self.nest(b'[', b']', elements);
    }

    fn nest(&mut self, open: u8, close: u8, inside: impl FnOnce(&mut Self)) {
        self.separate();
        self.buffer.push(open);
        self.comma = false;
        self.depth += 1;
        inside(self);
        self.depth -= 1;
        self.buffer.push(close);
        self.comma = true;
    }

    /// The property `class`, which comes first in every polymorphic object.
    pub fn class(&mut self, class: &str) {
        self.key("class");
        self.string(class);
    }

    /// The name of a property; its value must follow.
    pub fn key(&mut self, key: &str) {
        self.string(key);
        self.buffer.push(b':');
        self.comma = false;
    }

    /// A string, escaped as needed.
    pub fn string(&mut self, text: &str) {
        self.separate();
        self.buffer.push(b'"');
        let mut plain = 0;
        for (at, byte) in text.bytes().enumerate() {
            if byte >= 0x20 && byte != b'"' && byte != b'\\' {
                continue;
            }
            self.buffer.extend_from_slice(&text.as_bytes()[plain..at]);
            plain = at + 1;
            self.escape(byte);
        }
        self.buffer.extend_from_slice(&text.as_bytes()[plain..]);
        self.buffer.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        let short = match byte {
            b'"' | b'\\' => byte,
            0x08 => b'b',
            0x0C => b'f',
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            _ => {
                self.print(format_args!("\\u{byte:04x}"));
                return;
            }
        };
        self.buffer.extend_from_slice(&[b'\\', short]);
    }

    fn print(&mut self, arguments: std::fmt::Arguments<'_>) {
        self.buffer
            .write_fmt(arguments)
            .expect("writing into a vector cannot fail");
    }

    /// A whole number.
    pub fn integer(&mut self, value: i64) {
        self.separate();
        self.print(format_args!("{value}"));
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.raw(if value { "true" } else { "false" });
    }

    /// A value that is JSON already.
    pub fn raw(&mut self, json: &str) {
        self.separate();
        self.buffer.extend_from_slice(json.as_bytes());
    }
}
