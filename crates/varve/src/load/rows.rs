//! Reads input files row by row, with the line and the byte range of each row.
//!
//! The journal stores the byte ranges, so that an interrupted load resumes after the last loaded
//! row.

use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use serde_json::{Map, Value};

use super::mapping::{Format, Source};

/// The longest line of JSON that is read, in bytes.
const LINE_BYTES_MAX: usize = 64 << 20;
/// The number of bytes before a CSV record that are searched for line ends. More empty lines in a
/// row make line numbers too small.
const LINE_ENDS_AHEAD: usize = 64;
/// The most bytes of a CSV record without quotation marks besides its cells and delimiters: its
/// line end.
const LINE_END_BYTES: u64 = 2;
/// Bytes read from a file at once.
const READ_BYTES: usize = 1 << 20;

/// One row: its position and its columns. All columns of CSV are texts; null texts are left out.
#[derive(Debug)]
pub(crate) struct Row {
    /// The first line of the row, from 1.
    pub(crate) line: u64,
    /// The byte range of the row in the file, including its line end.
    pub(crate) bytes: Range<u64>,
    /// The line after the row.
    pub(crate) next_line: u64,
    /// The columns, or why the row cannot be parsed.
    pub(crate) columns: Result<Map<String, Value>, String>,
}

/// The rows of one file.
pub(crate) enum Rows {
    /// The rows of a CSV file.
    Csv(Box<CsvRows>),
    /// The rows of a file with one JSON object a line.
    Lines(LineRows),
}

impl Rows {
    /// Opens the file of `source`.
    ///
    /// # Errors
    /// When it cannot be read, or has no header.
    pub(crate) fn open(source: &Source) -> Result<Self, String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", source.file.display());
        let file = source.open().map_err(|error| failed(&error))?;
        match source.format {
            Some(Format::Csv) => CsvRows::open(file, source)
                .map(|rows| Self::Csv(Box::new(rows)))
                .map_err(|error| failed(&error)),
            _ => Ok(Self::Lines(LineRows::new(file))),
        }
    }

    /// The names of the columns, if the header or the mapping names them for all rows.
    pub(crate) fn header(&self) -> Option<&[String]> {
        match self {
            Self::Csv(rows) => Some(&rows.header),
            Self::Lines(_) => None,
        }
    }

    /// The offset of the first row: after the header, if there is one.
    pub(crate) fn start(&self) -> u64 {
        match self {
            Self::Csv(rows) => rows.reader.position().byte(),
            Self::Lines(rows) => rows.offset,
        }
    }

    /// Continues at `offset`, the end of a row and the start of `line`.
    ///
    /// # Errors
    /// When the file cannot be read at `offset`.
    pub(crate) fn seek(&mut self, offset: u64, line: u64) -> Result<(), String> {
        match self {
            Self::Csv(rows) => rows.seek(offset, line),
            Self::Lines(rows) => rows.seek(offset, line),
        }
        .map_err(|error| error.to_string())
    }
}

impl Iterator for Rows {
    type Item = Result<Row, String>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Csv(rows) => rows.next(),
            Self::Lines(rows) => rows.next(),
        }
    }
}

/// The rows of a CSV file.
pub(crate) struct CsvRows {
    reader: csv::Reader<BufReader<File>>,
    delimiter: u8,
    /// The size of the file in bytes.
    length: u64,
    header: Vec<String>,
    null: Vec<String>,
    record: csv::StringRecord,
}

impl CsvRows {
    fn open(file: File, source: &Source) -> Result<Self, csv::Error> {
        let delimiter = u8::try_from(source.delimiter).unwrap_or(b',');
        let length = file.metadata()?.len();
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .has_headers(source.header.is_none())
            .flexible(true)
            .from_reader(BufReader::with_capacity(READ_BYTES, file));
        let header = match &source.header {
            Some(names) => names.clone(),
            None => {
                let names = reader.headers()?.iter();
                names
                    .map(|name| name.trim_start_matches('\u{feff}').trim().to_owned())
                    .collect()
            }
        };
        if let Some(fault) = misquoted_header(&reader, delimiter)? {
            let fault = format!("the header: {fault}");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, fault).into());
        }
        Ok(Self {
            reader,
            delimiter,
            length,
            header,
            null: source.null.clone(),
            record: csv::StringRecord::new(),
        })
    }

    fn seek(&mut self, offset: u64, line: u64) -> Result<(), csv::Error> {
        let mut position = csv::Position::new();
        position.set_byte(offset).set_line(line);
        self.reader.seek(position)
    }

    /// The line of a record's first byte. The reader counts empty lines, and the line feed after a
    /// carriage return, only when it reads the next record.
    fn first_line(&self, at: &csv::Position) -> u64 {
        let mut ahead = [0; LINE_ENDS_AHEAD];
        let file = self.reader.get_ref().get_ref();
        let length = file.read_at(&mut ahead, at.byte()).unwrap_or(0);
        let ends = ahead[..length]
            .iter()
            .take_while(|byte| matches!(byte, b'\r' | b'\n'));
        at.line() + ends.filter(|byte| **byte == b'\n').count() as u64
    }

    fn columns(&self, bytes: &Range<u64>) -> Result<Map<String, Value>, String> {
        if let Some(fault) = self.misquoted(bytes) {
            return Err(fault);
        }
        let (found, expected) = (self.record.len(), self.header.len());
        if found != expected {
            return Err(format!("{found} columns, but the header names {expected}"));
        }
        let cells = self.header.iter().zip(self.record.iter());
        Ok(cells
            .filter(|(_, cell)| !self.null.iter().any(|null| null == cell))
            .map(|(name, cell)| (name.clone(), Value::String(cell.to_owned())))
            .collect())
    }

    /// The error in the quotation marks of the record just read. The reader accepts unbalanced
    /// marks: one mark too many would make the following rows part of this one.
    fn misquoted(&self, bytes: &Range<u64>) -> Option<String> {
        let length = bytes.end - bytes.start;
        let delimiters = self.record.len().saturating_sub(1);
        let needed = (self.record.as_slice().len() + delimiters) as u64;
        if bytes.end < self.length && length <= needed + LINE_END_BYTES {
            return None;
        }
        let mut raw = vec![0; usize::try_from(length).ok()?];
        let file = self.reader.get_ref().get_ref();
        file.read_exact_at(&mut raw, bytes.start).ok()?;
        quoting_fault(&raw, self.delimiter)
    }

    fn next(&mut self) -> Option<Result<Row, String>> {
        let start = self.reader.position().byte();
        let read = self.reader.read_record(&mut self.record);
        let bytes = start..self.reader.position().byte();
        let line = self.record.position().map_or(0, |at| self.first_line(at));
        let next_line = self.reader.position().line();
        match read {
            Ok(true) => Some(Ok(Row {
                line,
                next_line,
                columns: self.columns(&bytes),
                bytes,
            })),
            Ok(false) => None,
            Err(error) => match error.kind() {
                // Bytes that are not UTF-8 make only their own row bad.
                csv::ErrorKind::Utf8 { pos, err } => {
                    let line = pos.as_ref().map_or(line, |at| self.first_line(at));
                    let columns = Err(format!("not UTF-8: {err}"));
                    Some(Ok(Row {
                        line,
                        bytes,
                        next_line,
                        columns,
                    }))
                }
                _ => Some(Err(error.to_string())),
            },
        }
    }
}

/// The error in the quotation marks of the header, if the reader has read one.
fn misquoted_header(
    reader: &csv::Reader<BufReader<File>>,
    delimiter: u8,
) -> Result<Option<String>, std::io::Error> {
    const BOM: &[u8] = "\u{feff}".as_bytes();
    let length = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
    let mut raw = vec![0; length];
    reader.get_ref().get_ref().read_exact_at(&mut raw, 0)?;
    let header = raw.strip_prefix(BOM).unwrap_or(&raw);
    Ok(quoting_fault(header, delimiter))
}

/// The error in the quotation marks of a record, by RFC 4180: a quoted cell ends with a quotation
/// mark, and quotation marks within it are doubled.
fn quoting_fault(record: &[u8], delimiter: u8) -> Option<String> {
    #[derive(PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        Closed,
    }
    let mut at = At::Start;
    for byte in record {
        at = match (at, *byte) {
            (At::Quoted, b'"') => At::Closed,
            (At::Quoted, _) | (At::Start | At::Closed, b'"') => At::Quoted,
            (_, byte) if byte == delimiter || matches!(byte, b'\r' | b'\n') => At::Start,
            (At::Closed, _) => {
                let fault = "text follows the closing quotation mark of a cell; double the marks within a cell";
                return Some(fault.to_owned());
            }
            (At::Start | At::Plain, _) => At::Plain,
        };
    }
    if at != At::Quoted {
        return None;
    }
    let lines = record.trim_ascii().iter().filter(|byte| **byte == b'\n');
    Some(format!(
        "a quotation mark is not closed: the rest of the file, {} more lines, is in one cell",
        lines.count()
    ))
}

/// The rows of a file with one JSON object a line. Empty lines are skipped.
pub(crate) struct LineRows {
    reader: BufReader<File>,
    offset: u64,
    line: u64,
}

impl LineRows {
    /// The rows of `file` from its start.
    pub(crate) fn new(file: File) -> Self {
        Self {
            reader: BufReader::with_capacity(READ_BYTES, file),
            offset: 0,
            line: 1,
        }
    }

    fn seek(&mut self, offset: u64, line: u64) -> Result<(), csv::Error> {
        self.reader.seek(SeekFrom::Start(offset))?;
        (self.offset, self.line) = (offset, line);
        Ok(())
    }

    fn next(&mut self) -> Option<Result<Row, String>> {
        let start = self.offset;
        loop {
            let mut text = Vec::new();
            let line = self.line;
            let (mut length, mut ended) = (0, false);
            // A line over the limit is skipped, not buffered.
            while !ended {
                let buffer = match self.reader.fill_buf() {
                    Ok(buffer) => buffer,
                    Err(error) => return Some(Err(error.to_string())),
                };
                if buffer.is_empty() {
                    break;
                }
                let end = buffer.iter().position(|byte| *byte == b'\n');
                ended = end.is_some();
                let taken = end.map_or(buffer.len(), |end| end + 1);
                if text.len() + taken <= LINE_BYTES_MAX {
                    text.extend_from_slice(&buffer[..taken]);
                }
                length += taken;
                self.reader.consume(taken);
            }
            if length == 0 {
                return None;
            }
            self.offset += length as u64;
            self.line += 1;
            if text.trim_ascii().is_empty() && length <= LINE_BYTES_MAX {
                continue;
            }
            let columns = if text.len() < length {
                Err(format!(
                    "a line of {length} bytes, at most {LINE_BYTES_MAX}"
                ))
            } else {
                serde_json::from_slice(&text).map_err(|error| format!("not a JSON object: {error}"))
            };
            let (bytes, next_line) = (start..self.offset, self.line);
            return Some(Ok(Row {
                line,
                bytes,
                next_line,
                columns,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn opened(name: &str, content: &[u8], extra: &str) -> Result<Rows, String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join(name);
        File::create(&path)
            .expect("created")
            .write_all(content)
            .expect("written");
        let map = dir.path().join("map.toml");
        std::fs::write(
            &map,
            format!("[[vertex]]\nfile = \"{name}\"\nlabel = \"x\"\n{extra}"),
        )
        .expect("written");
        let mapping = super::super::mapping::Mapping::read(&map).expect("a mapping");
        Rows::open(&mapping.vertices[0])
    }

    fn rows(name: &str, content: &[u8], extra: &str) -> Vec<Row> {
        opened(name, content, extra)
            .expect("opens")
            .map(|row| row.expect("reads"))
            .collect()
    }

    #[test]
    fn csv_rows_know_their_place() {
        let text = "\u{feff}id,name\r\n1,\"a\nb\"\n2\n3,\n4,d".as_bytes();
        let rows = rows("a.csv", text, "");
        let lines: Vec<u64> = rows.iter().map(|row| row.line).collect();
        assert_eq!(lines, [2, 4, 5, 6]);
        assert_eq!(rows[0].columns.as_ref().unwrap()["name"], "a\nb");
        assert_eq!(
            rows[1].columns.as_ref().unwrap_err(),
            "1 columns, but the header names 2"
        );
        assert!(
            !rows[2].columns.as_ref().unwrap().contains_key("name"),
            "an empty text is no value"
        );
        assert_eq!(rows[3].bytes.end, text.len() as u64);
        for pair in rows.windows(2) {
            assert_eq!(pair[0].bytes.end, pair[1].bytes.start);
        }
    }

    #[test]
    fn bytes_that_are_not_text_spoil_one_row() {
        let rows = rows("a.csv", b"id\n1\n\xff\n3\n", "");
        assert_eq!(rows.len(), 3);
        assert!(
            rows[1]
                .columns
                .as_ref()
                .unwrap_err()
                .starts_with("not UTF-8")
        );
        assert_eq!(rows[1].line, 3);
        assert_eq!(rows[2].columns.as_ref().unwrap()["id"], "3");
    }

    /// The error of each row, or its first cell.
    fn starts(text: &str) -> Vec<String> {
        let rows = rows("a.csv", text.as_bytes(), "").into_iter();
        rows.map(|row| match row.columns {
            Ok(columns) => columns["id"].as_str().expect("a text").to_owned(),
            Err(reason) => reason.split(':').next().unwrap_or_default().to_owned(),
        })
        .collect()
    }

    #[test]
    fn a_quotation_mark_too_many_spoils_a_row_and_says_so() {
        const OPEN: &str = "a quotation mark is not closed";
        const BEHIND: &str =
            "text follows the closing quotation mark of a cell; double the marks within a cell";
        assert_eq!(starts("id,n\n1,a\n2,\"b\n3,c\n"), ["1", OPEN]);
        assert_eq!(starts("id,n\n1,a\n2,\""), ["1", OPEN]);
        assert_eq!(starts("id,n\n1,\"b\n2,\"c\n3,d\n"), [BEHIND, "3"]);
        assert_eq!(starts("id,n\n\"1\" ,b\n2,c"), [BEHIND, "2"]);
        let sound = "id,n\r\n1,\"b\r\n\r\n\"\"c\"\"\"\r\n\r\n\"2\",\"\"\r\n3,5\" wide\r\n4,\"d,e\"";
        assert_eq!(starts(sound), ["1", "2", "3", "4"]);
        let lines = quoting_fault(b"2,\"b\n3,c\n4,d\n", b',');
        assert!(lines.is_some_and(|fault| fault.contains("2 more lines")));
    }

    #[test]
    fn a_quotation_mark_too_many_in_the_header_is_an_error() {
        let header = |text: &str| {
            let rows = opened("a.csv", text.as_bytes(), "")?;
            Ok::<_, String>(rows.header().expect("a header").join("|"))
        };
        let refused = header("id,\"n\n1,a\n2,b\n").unwrap_err();
        assert!(
            refused.contains("a.csv: the header: a quotation mark is not closed")
                && refused.contains("2 more lines"),
            "{refused}"
        );
        assert!(
            header("id,\"n\"x\n1,a\n")
                .unwrap_err()
                .contains("follows the closing")
        );
        let sound = [
            "id,n\n",
            "\"id\",\"n\"\r\n1,a\n",
            "\u{feff}\"id\",\"n\"\n1,a\n",
        ];
        assert_eq!(sound.map(|text| header(text).unwrap()), ["id|n"; 3]);
    }

    #[test]
    fn json_lines_know_their_place() {
        let rows = rows("a.jsonl", b"{\"id\":1}\n\n[2]\n{\"id\":3}", "");
        let places: Vec<_> = rows
            .iter()
            .map(|row| (row.line, row.bytes.clone()))
            .collect();
        assert_eq!(
            places,
            [(1, 0..9), (3, 9..14), (4, 14..22)],
            "empty lines belong to the row after them"
        );
        assert_eq!(rows[0].columns.as_ref().unwrap()["id"], 1);
        assert!(
            rows[1]
                .columns
                .as_ref()
                .unwrap_err()
                .starts_with("not a JSON object")
        );
    }

    #[test]
    fn a_header_may_be_given() {
        let rows = rows(
            "a.csv",
            b"1|x\n2|y\n",
            "header = [\"id\", \"name\"]\ndelimiter = \"|\"\n",
        );
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0].columns.as_ref().unwrap()["name"], "x");
    }
}
