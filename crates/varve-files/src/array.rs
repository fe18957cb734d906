//! The members of a file with one JSON array.

use std::fs::File;
use std::io::{BufRead as _, BufReader};

use crate::fields::Objects;
use crate::records::{BOM, RECORD_BYTES_MAX, skip};
use crate::rows::Row;

/// Bytes read from a file at once.
const READ_BYTES: usize = 1 << 20;

/// The rows of a file with one JSON array: one for each member.
pub(crate) struct Members {
    reader: BufReader<File>,
    objects: Objects,
    offset: u64,
    line: u64,
    /// The byte after the last line end.
    line_start: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before the array.
    Before,
    /// Within the array, before its first member.
    First,
    /// Within the array, after a member.
    Later,
    /// After the array.
    Ended,
}

impl Members {
    /// The members of the array in `file`.
    pub(crate) fn new(file: File) -> Self {
        Self {
            reader: BufReader::with_capacity(READ_BYTES, file),
            objects: Objects::default(),
            offset: 0,
            line: 1,
            line_start: 0,
            state: State::Before,
        }
    }

    /// The next member; `None` after the last.
    ///
    /// # Errors
    /// When the file cannot be read, or what is between the members is wrong.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, String> {
        if self.state == State::Before {
            self.offset += skip(&mut self.reader, BOM).map_err(|error| error.to_string())?;
            self.expect(b'[', "'[', the start of an array")?;
            self.state = State::First;
        }
        if self.state == State::Ended {
            return Ok(None);
        }
        let start = self.offset;
        match self.peek_mark()? {
            Some(b']') => {
                self.take(1)?;
                self.state = State::Ended;
                return match self.peek_mark()? {
                    None => Ok(None),
                    Some(_) => Err(self.wrong("the end of the file")),
                };
            }
            _ if self.state == State::Later => {
                self.expect(b',', "',' or ']'")?;
                self.peek_mark()?;
            }
            _ => {}
        }
        self.state = State::Later;
        let line = self.line;
        let text = self.member()?;
        let fields = match text {
            Err(length) => Err(format!(
                "a member of {length} bytes, at most {RECORD_BYTES_MAX}"
            )),
            Ok(text) => {
                let read = self.objects.read(&text);
                read.map_err(|error| no_object(&error, line))
            }
        };
        Ok(Some(Row {
            line,
            bytes: start..self.offset,
            fields,
        }))
    }

    /// The text of a member, or its length if it is too long.
    fn member(&mut self) -> Result<Result<Vec<u8>, usize>, String> {
        let mut scan = Scan::default();
        let (mut text, mut length) = (Vec::new(), 0);
        loop {
            let buffer = self.reader.fill_buf().map_err(|error| error.to_string())?;
            if buffer.is_empty() {
                return Err(self.wrong("the rest of the array"));
            }
            let end = buffer.iter().position(|byte| scan.ends_before(*byte));
            let taken = end.unwrap_or(buffer.len());
            if text.len() + taken <= RECORD_BYTES_MAX {
                text.extend_from_slice(&buffer[..taken]);
            }
            length += taken;
            self.take(taken)?;
            if end.is_some() {
                if length == 0 {
                    return Err(self.wrong("an object"));
                }
                return Ok(if text.len() == length {
                    Ok(text)
                } else {
                    Err(length)
                });
            }
        }
    }

    /// The next byte that is not white space.
    fn peek_mark(&mut self) -> Result<Option<u8>, String> {
        loop {
            let buffer = self.reader.fill_buf().map_err(|error| error.to_string())?;
            let mark = buffer.iter().position(|byte| !byte.is_ascii_whitespace());
            let (skipped, found) = match mark {
                Some(at) => (at, Some(buffer[at])),
                None => (buffer.len(), None),
            };
            let is_end = skipped == 0 && found.is_none();
            self.take(skipped)?;
            if found.is_some() || is_end {
                return Ok(found);
            }
        }
    }

    fn expect(&mut self, mark: u8, name: &str) -> Result<(), String> {
        match self.peek_mark()? {
            Some(found) if found == mark => self.take(1),
            _ => Err(self.wrong(name)),
        }
    }

    /// Passes bytes that are in the buffer.
    fn take(&mut self, count: usize) -> Result<(), String> {
        let buffer = self.reader.fill_buf().map_err(|error| error.to_string())?;
        for (at, byte) in buffer[..count].iter().enumerate() {
            if *byte == b'\n' {
                self.line += 1;
                self.line_start = self.offset + at as u64 + 1;
            }
        }
        self.reader.consume(count);
        self.offset += count as u64;
        Ok(())
    }

    fn wrong(&self, expected: &str) -> String {
        let column = self.offset - self.line_start + 1;
        format!("line {}, byte {column}: expected {expected}", self.line)
    }
}

/// The message for a member that begins in this line.
fn no_object(error: &serde_json::Error, line: u64) -> String {
    let text = error.to_string();
    let fault = text.split(" at line ").next().unwrap_or_default();
    let line = line + (error.line() as u64).saturating_sub(1);
    format!("not a JSON object: {fault} at line {line}")
}

/// Finds the end of a member.
#[derive(Default)]
struct Scan {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// Whether its last bracket is closed.
    is_closed: bool,
}

impl Scan {
    /// Whether the member ends before this byte.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.is_closed {
            return true;
        }
        if self.in_text {
            self.in_text = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' if self.depth > 0 => {
                self.depth -= 1;
                self.is_closed = self.depth == 0;
            }
            b',' | b']' | b'}' if self.depth == 0 => return true,
            _ => {}
        }
        false
    }
}
