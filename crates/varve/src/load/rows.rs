//! Reads input files row by row, with the line and the byte range of each row.
//!
//! The journal stores the byte ranges, so that an interrupted load resumes after the last loaded
//! row.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::ops::Range;

use serde_json::{Map, Value};

use super::delimiter;
use super::mapping::{Format, Source};
use super::records::{BOM, RECORD_BYTES_MAX, Records, end_of_line, skip};

/// Bytes read from a file at once.
const READ_BYTES: usize = 1 << 20;

/// One row: its position and its columns. All columns of CSV are texts; null texts are left out.
#[derive(Debug)]
pub(crate) struct Row {
    /// The first line of the row, from 1.
    pub(crate) line: u64,
    /// The byte range of the row in the file, including its line end.
    pub(crate) bytes: Range<u64>,
    /// The columns, or why the row cannot be parsed.
    pub(crate) columns: Result<Map<String, Value>, String>,
}

/// The rows of one file.
pub(crate) enum Rows {
    /// The rows of a CSV file.
    Csv(CsvRows),
    /// The rows of a file with one JSON object a line.
    Lines(LineRows),
}

impl Rows {
    /// Opens the file of `source`.
    ///
    /// # Errors
    /// When it cannot be read, or has no header.
    pub(crate) fn open(source: &Source) -> Result<Self, String> {
        let failed = |error: String| format!("{}: {error}", source.file.display());
        let file = source.open().map_err(|error| failed(error.to_string()))?;
        let rows = match source.format {
            Some(Format::Csv) => CsvRows::open(file, source).map(Self::Csv),
            _ => Ok(Self::Lines(LineRows::new(file))),
        };
        rows.map_err(failed)
    }

    /// The names of the columns, if the header or the mapping names them for all rows.
    pub(crate) fn header(&self) -> Option<&[String]> {
        match self {
            Self::Csv(rows) => Some(&rows.header),
            Self::Lines(_) => None,
        }
    }

    /// The delimiter of a CSV file.
    pub(crate) fn delimiter(&self) -> Option<char> {
        match self {
            Self::Csv(rows) => Some(char::from(rows.records.delimiter())),
            Self::Lines(_) => None,
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Row, String>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Csv(rows) => rows.next(),
            Self::Lines(rows) => rows.next().map_err(|error| error.to_string()).transpose(),
        }
    }
}

/// The rows of a CSV file.
pub(crate) struct CsvRows {
    records: Records<BufReader<File>>,
    header: Vec<String>,
    null: Vec<String>,
}

impl CsvRows {
    fn open(file: File, source: &Source) -> Result<Self, String> {
        let mut input = BufReader::with_capacity(READ_BYTES, file);
        let delimiter = match source.delimiter {
            Some(given) => u8::try_from(given).unwrap_or(b','),
            None => {
                let head = input.fill_buf().map_err(|error| error.to_string())?;
                let columns = source.header.as_ref().map(Vec::len);
                let is_whole = head.len() < READ_BYTES;
                delimiter::recognized(head, is_whole, source.usual_delimiter(), columns)?
            }
        };
        let mut rows = Self {
            records: Records::new(input, delimiter),
            header: Vec::new(),
            null: source.null.clone(),
        };
        rows.header = match &source.header {
            Some(names) => names.clone(),
            None => rows.read_header()?,
        };
        Ok(rows)
    }

    fn read_header(&mut self) -> Result<Vec<String>, String> {
        let record = self.records.next().map_err(|error| error.to_string())?;
        let cells = record.map_or(Ok(Vec::new()), |record| record.cells);
        let cells = cells.map_err(|fault| format!("the header: {fault}"))?;
        Ok(cells.iter().map(|name| name.trim().to_owned()).collect())
    }

    fn columns(&self, cells: Vec<String>) -> Result<Map<String, Value>, String> {
        let (found, expected) = (cells.len(), self.header.len());
        if found != expected {
            return Err(format!("{found} columns, but the header names {expected}"));
        }
        let cells = self.header.iter().zip(cells);
        Ok(cells
            .filter(|(_, cell)| !self.null.contains(cell))
            .map(|(name, cell)| (name.clone(), Value::String(cell)))
            .collect())
    }

    fn next(&mut self) -> Option<Result<Row, String>> {
        let record = match self.records.next() {
            Ok(record) => record?,
            Err(error) => return Some(Err(error.to_string())),
        };
        Some(Ok(Row {
            line: record.line,
            bytes: record.bytes,
            columns: record.cells.and_then(|cells| self.columns(cells)),
        }))
    }
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

    /// Reads a line into `text` without its end; returns its length. A line over the limit is
    /// skipped, not buffered.
    fn read_line(&mut self, text: &mut Vec<u8>) -> io::Result<usize> {
        let mut length = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let taken = end.unwrap_or(buffer.len());
            if text.len() + taken <= RECORD_BYTES_MAX {
                text.extend_from_slice(&buffer[..taken]);
            }
            let is_last = end.is_some() || buffer.is_empty();
            self.reader.consume(taken);
            length += taken;
            if is_last {
                self.offset += length as u64 + end_of_line(&mut self.reader)?;
                self.line += 1;
                return Ok(length);
            }
        }
    }

    fn next(&mut self) -> io::Result<Option<Row>> {
        let start = self.offset;
        if start == 0 {
            self.offset += skip(&mut self.reader, BOM)?;
        }
        loop {
            let (line, before) = (self.line, self.offset);
            let mut text = Vec::new();
            let length = self.read_line(&mut text)?;
            if self.offset == before {
                return Ok(None);
            }
            if text.trim_ascii().is_empty() && text.len() == length {
                continue;
            }
            let columns = match text.len() < length {
                true => Err(format!(
                    "a line of {length} bytes, at most {RECORD_BYTES_MAX}"
                )),
                false => serde_json::from_slice(&text)
                    .map_err(|error| format!("not a JSON object: {error}")),
            };
            return Ok(Some(Row {
                line,
                bytes: start..self.offset,
                columns,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::Path;

    use serde_json::json;

    use super::super::checks;
    use super::super::mapping::Mapping;
    use super::super::sender::BatchKind;
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
        let mapping = Mapping::read(&map).expect("a mapping");
        Rows::open(&mapping.vertices[0])
    }

    fn rows(name: &str, content: &[u8], extra: &str) -> Vec<Row> {
        opened(name, content, extra)
            .expect("opens")
            .map(|row| row.expect("reads"))
            .collect()
    }

    /// Reads a file, after the checks of its columns: the cells of each row, or why it is refused.
    fn read(file: &Path) -> Result<(Vec<String>, Vec<Value>), String> {
        let source = Mapping::of_file(file, "x")?;
        let columns = checks::columns(&source, BatchKind::Vertices)?;
        let mut rows = Rows::open(&source)?;
        let names = rows.header().map_or(columns, <[String]>::to_vec);
        let mut shown = Vec::new();
        for row in rows.by_ref() {
            let row = row?;
            let line = Value::from(row.line);
            let cells = match row.columns {
                Err(fault) => vec![line, Value::from(fault)],
                Ok(mut cells) => {
                    let cells = names.iter().map(|it| cells.remove(it).unwrap_or_default());
                    [line].into_iter().chain(cells).collect()
                }
            };
            shown.push(Value::Array(cells));
        }
        Ok((names, shown))
    }

    fn content(case: &Value) -> Vec<u8> {
        match case["hex"].as_str() {
            None => case["text"].as_str().expect("a text").as_bytes().to_vec(),
            Some(hex) => (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
                .collect(),
        }
    }

    #[test]
    fn the_table_of_files_holds() {
        let table = include_str!("../../../../ui/test/reading.json");
        let table: Value = serde_json::from_str(table).expect("a table");
        for case in table["files"].as_array().expect("files") {
            let dir = tempfile::tempdir().expect("a temporary folder");
            let file = dir.path().join(case["file"].as_str().expect("a name"));
            std::fs::write(&file, content(case)).expect("written");
            let Some(rows) = case["rows"].as_array() else {
                let refused = read(&file).expect_err(&case.to_string());
                let fault = case["fault"].as_str().expect("a fault");
                assert!(refused.contains(fault), "{}: {refused}", case["name"]);
                continue;
            };
            let (columns, shown) = read(&file).expect("reads");
            assert_eq!(json!(columns), case["columns"], "{}", case["name"]);
            assert_eq!(shown.len(), rows.len(), "{}: {shown:?}", case["name"]);
            for (shown, expected) in shown.iter().zip(rows) {
                let Some(fault) = expected[1]["fault"].as_str() else {
                    assert_eq!(shown, expected, "{}", case["name"]);
                    continue;
                };
                assert_eq!(shown[0], expected[0], "{}", case["name"]);
                let said = shown[1].as_str().unwrap_or_default();
                assert!(said.contains(fault), "{}: {shown}", case["name"]);
            }
        }
    }

    #[test]
    fn csv_rows_know_their_bytes() {
        let text = "\u{feff}id,name\r\n1,\"a\nb\"\n\n2,b\r3,\n4,d";
        let rows = rows("a.csv", text.as_bytes(), "");
        let parts: Vec<&str> = rows
            .iter()
            .map(|row| &text[row.bytes.start as usize..row.bytes.end as usize])
            .collect();
        assert_eq!(parts, ["1,\"a\nb\"\n", "\n2,b\r", "3,\n", "4,d"]);
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
