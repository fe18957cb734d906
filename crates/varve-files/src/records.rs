//! Splits a file into the records of CSV (RFC 4180), with the lines and the byte range of each.
//!
//! A record ends with a line feed, a carriage return or both.

use std::io::{self, BufRead};
use std::ops::Range;

/// The longest record that is read, in bytes.
pub const RECORD_BYTES_MAX: usize = 64 << 20;
/// Bytes of each buffer that are kept from one record to the next.
const BYTES_KEPT: usize = 1 << 20;
/// The bytes that may begin a text in UTF-8.
pub(crate) const BOM: &[u8] = "\u{feff}".as_bytes();
const BEHIND: &str =
    "text follows the closing quotation mark of a cell; double the marks within a cell";

/// One record.
#[derive(Debug)]
pub(crate) struct Record {
    /// Its first line, from 1.
    pub(crate) line: u64,
    /// Its byte range, with its line end and empty lines before it.
    pub(crate) bytes: Range<u64>,
    /// The cells, or why they cannot be read.
    pub(crate) cells: Result<Vec<String>, String>,
}

/// The position within a record.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    /// At the start of a cell.
    Start,
    /// In a cell without quotation marks.
    Plain,
    /// Within quotation marks.
    Quoted,
    /// After the closing quotation mark of a cell.
    Closed,
}

/// The records of an input.
pub(crate) struct Records<R> {
    input: R,
    delimiter: u8,
    offset: u64,
    line: u64,
    draft: Draft,
}

/// A record that is being read.
struct Draft {
    at: At,
    /// The content of the cells.
    text: Vec<u8>,
    /// The end of each cell in `text`.
    ends: Vec<usize>,
    bytes: usize,
    fault: Option<String>,
    line: u64,
    /// The line that the last text is on.
    text_line: u64,
    /// Whether the last byte within quotation marks was a carriage return.
    after_return: bool,
    is_ended: bool,
}

impl<R: BufRead> Records<R> {
    /// The records of `input` from its start; a byte order mark there is skipped.
    pub(crate) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            delimiter,
            offset: 0,
            line: 1,
            draft: Draft::new(),
        }
    }

    /// The delimiter of the cells.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The next record; `None` at the end. Empty lines are no records.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(crate) fn next(&mut self) -> io::Result<Option<Record>> {
        let start = self.offset;
        if start == 0 {
            self.offset += skip(&mut self.input, BOM)?;
        }
        self.skip_empty_lines()?;
        let line = self.line;
        let draft = &mut self.draft;
        draft.begin(line);
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let used = draft.take(buffer, self.delimiter);
            self.input.consume(used);
            self.offset += used as u64;
            if draft.is_ended {
                break;
            }
        }
        if draft.bytes == 0 {
            return Ok(None);
        }
        if draft.is_ended {
            self.offset += end_of_line(&mut self.input)?;
            draft.line += 1;
        }
        self.line = draft.line;
        Ok(Some(Record {
            line,
            bytes: start..self.offset,
            cells: draft.cells(line),
        }))
    }

    fn skip_empty_lines(&mut self) -> io::Result<()> {
        while matches!(self.input.fill_buf()?.first(), Some(b'\r' | b'\n')) {
            self.offset += end_of_line(&mut self.input)?;
            self.line += 1;
        }
        Ok(())
    }
}

/// Skips these bytes, if the input goes on with them; returns their number or 0.
pub(crate) fn skip(input: &mut impl BufRead, bytes: &[u8]) -> io::Result<u64> {
    match input.fill_buf()?.starts_with(bytes) {
        true => {
            input.consume(bytes.len());
            Ok(bytes.len() as u64)
        }
        false => Ok(0),
    }
}

/// Skips one line end: a line feed, a carriage return or both. Returns its length.
pub(crate) fn end_of_line(input: &mut impl BufRead) -> io::Result<u64> {
    let returned = skip(input, b"\r")?;
    Ok(returned + skip(input, b"\n")?)
}

impl Draft {
    fn new() -> Self {
        Self {
            at: At::Start,
            text: Vec::new(),
            ends: Vec::new(),
            bytes: 0,
            fault: None,
            line: 1,
            text_line: 1,
            after_return: false,
            is_ended: false,
        }
    }

    /// Begins the record in this line, in the buffers of the one before.
    fn begin(&mut self, line: u64) {
        let (mut text, mut ends) = (
            std::mem::take(&mut self.text),
            std::mem::take(&mut self.ends),
        );
        text.clear();
        ends.clear();
        // A long record does not keep its memory.
        text.shrink_to(BYTES_KEPT);
        ends.shrink_to(BYTES_KEPT / size_of::<usize>());
        *self = Self {
            text,
            ends,
            line,
            text_line: line,
            ..Self::new()
        };
    }

    /// Takes bytes up to the end of the record, without its line end; returns their number.
    fn take(&mut self, buffer: &[u8], delimiter: u8) -> usize {
        let is_special = |byte: &u8| matches!(byte, b'"' | b'\r' | b'\n') || *byte == delimiter;
        let mut used = 0;
        while let Some(byte) = buffer.get(used) {
            let ends = self.at != At::Quoted && matches!(byte, b'\r' | b'\n');
            if ends {
                self.is_ended = true;
                break;
            }
            self.step(*byte, delimiter);
            used += 1;
            if matches!(self.at, At::Plain | At::Quoted) {
                let rest = &buffer[used..];
                let run = rest.iter().position(is_special).unwrap_or(rest.len());
                self.push(&rest[..run]);
                used += run;
            }
        }
        self.bytes += used;
        used
    }

    fn step(&mut self, byte: u8, delimiter: u8) {
        self.at = match (self.at, byte) {
            (At::Start, b'"') => At::Quoted,
            (At::Quoted, b'"') => At::Closed,
            (At::Closed, b'"') => {
                self.push(&[byte]);
                At::Quoted
            }
            (At::Quoted, _) => {
                self.count_line(byte);
                self.push(&[byte]);
                At::Quoted
            }
            (_, byte) if byte == delimiter => {
                self.ends.push(self.text.len());
                At::Start
            }
            (before, _) => {
                if before == At::Closed {
                    self.fault.get_or_insert_with(|| BEHIND.to_owned());
                }
                self.push(&[byte]);
                At::Plain
            }
        };
    }

    fn push(&mut self, bytes: &[u8]) {
        if self.text.len() + bytes.len() <= RECORD_BYTES_MAX {
            self.text.extend_from_slice(bytes);
        } else {
            self.fault
                .get_or_insert_with(|| format!("a row of more than {RECORD_BYTES_MAX} bytes"));
        }
    }

    /// Counts a byte within quotation marks.
    fn count_line(&mut self, byte: u8) {
        match byte {
            b'\n' if self.after_return => {}
            b'\n' | b'\r' => self.line += 1,
            _ => self.text_line = self.line,
        }
        self.after_return = byte == b'\r';
    }

    fn cells(&mut self, first: u64) -> Result<Vec<String>, String> {
        if self.at == At::Quoted {
            return Err(format!(
                "a quotation mark is not closed: the rest of the file, {} more lines, is in one \
                 cell",
                self.text_line - first
            ));
        }
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        self.ends.push(self.text.len());
        let mut start = 0;
        let cells = self.ends.iter().enumerate().map(|(at, end)| {
            let cell = &self.text[std::mem::replace(&mut start, *end)..*end];
            let cell = std::str::from_utf8(cell).map(str::to_owned);
            cell.map_err(|_| format!("column {} is not UTF-8", at + 1))
        });
        cells.collect()
    }
}
