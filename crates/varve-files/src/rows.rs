//! Reads input files row by row, with the line and the byte range of each row.
//!
//! The journal stores the byte ranges, so that an interrupted load resumes after the last loaded
//! row.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::array::Members;
use crate::columnar::ColumnarRows;
use crate::delimiter;
use crate::fields::{Fields, Objects};
use crate::input::{self, Found, Unpacked};
use crate::records::{BOM, RECORD_BYTES_MAX, Records, end_of_line, skip};
use crate::{COLUMNS_MAX, Format, Options};

/// Bytes read from a file at once.
const READ_BYTES: usize = 1 << 20;

/// One row: its position and its fields. All values of CSV are texts; null texts are left out.
#[derive(Debug)]
pub struct Row {
    /// The first line of the row, from 1; in Parquet and Arrow its number.
    pub line: u64,
    /// The byte range of the row in the file, including its line end; in Parquet and Arrow a range
    /// of row numbers.
    pub bytes: Range<u64>,
    /// The fields, or why the row cannot be parsed.
    pub fields: Result<Fields, String>,
}

/// The rows of one file.
pub struct Rows {
    found: Found,
    kind: Kind,
}

/// The rows by format.
enum Kind {
    Csv(CsvRows),
    Lines(LineRows),
    Members(Members),
    Columnar(ColumnarRows),
}

impl Rows {
    /// Opens a file. `unpacked` keeps its unpacked content for the next call.
    ///
    /// # Errors
    /// A message that begins with the path: it cannot be read, has no header, or is in another
    /// format.
    pub fn open(path: &Path, options: &Options, unpacked: &Unpacked) -> Result<Self, String> {
        let failed = |error: String| format!("{}: {error}", path.display());
        let (file, found) = input::open(path, options, unpacked).map_err(failed)?;
        let kind = match found.format {
            Format::Csv => CsvRows::open(file, path, options).map(Kind::Csv),
            Format::Jsonl => Ok(Kind::Lines(LineRows::new(file))),
            Format::Json => Ok(Kind::Members(Members::new(file))),
            Format::Parquet => ColumnarRows::parquet(file, options).map(Kind::Columnar),
            Format::Arrow => ColumnarRows::arrow(file, options).map(Kind::Columnar),
        };
        let kind = kind.map_err(failed)?;
        let rows = Self { found, kind };
        rows.header().map_or(Ok(()), check_header).map_err(failed)?;
        Ok(rows)
    }

    /// What was found out about the file.
    #[must_use]
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// The names of the columns, if the file or the options name them for all rows.
    #[must_use]
    pub fn header(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Csv(rows) => Some(&rows.header),
            Kind::Columnar(rows) => Some(rows.header()),
            Kind::Lines(_) | Kind::Members(_) => None,
        }
    }

    /// The columns of a type that is not read.
    #[must_use]
    pub fn unread(&self) -> &[String] {
        match &self.kind {
            Kind::Columnar(rows) => rows.unread(),
            _ => &[],
        }
    }

    /// The delimiter of a CSV file.
    #[must_use]
    pub fn delimiter(&self) -> Option<char> {
        match &self.kind {
            Kind::Csv(rows) => Some(char::from(rows.records.delimiter())),
            _ => None,
        }
    }
}

impl Iterator for Rows {
    type Item = Result<Row, String>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.kind {
            Kind::Csv(rows) => rows.next(),
            Kind::Lines(rows) => rows.next().map_err(|error| error.to_string()).transpose(),
            Kind::Members(rows) => rows.next().transpose(),
            Kind::Columnar(rows) => rows.next().transpose(),
        }
    }
}

/// Distinct names: a second `n` is called `n_2`.
fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    names
        .map(|name| {
            let times = times.entry(name).or_default();
            *times += 1;
            match *times {
                1 => name.to_owned(),
                times => format!("{name}_{times}"),
            }
        })
        .collect()
}

fn check_header(header: &[String]) -> Result<(), String> {
    if header.is_empty() {
        return Err("it is empty, without a header".to_owned());
    }
    if header.len() > COLUMNS_MAX {
        let many = header.len();
        return Err(format!("{many} columns, at most {COLUMNS_MAX}"));
    }
    let mut once = HashSet::new();
    match header.iter().find(|name| !once.insert(*name)) {
        Some(name) => Err(format!("column '{name}': twice in the header")),
        None => Ok(()),
    }
}

/// The rows of a CSV file.
struct CsvRows {
    records: Records<BufReader<File>>,
    header: Arc<[String]>,
    /// The texts that mean "no value", by column.
    null: Vec<Vec<String>>,
}

impl CsvRows {
    fn open(file: File, path: &Path, options: &Options) -> Result<Self, String> {
        let mut input = BufReader::with_capacity(READ_BYTES, file);
        let named = delimiter::named(input.fill_buf().map_err(|error| error.to_string())?);
        let delimiter = match (options.delimiter, named) {
            (Some(given), _) => u8::try_from(given).unwrap_or(b','),
            (None, Some(named)) => named,
            (None, None) => {
                let head = input.fill_buf().map_err(|error| error.to_string())?;
                let columns = options.header.as_ref().map(Vec::len);
                let is_whole = head.len() < READ_BYTES;
                delimiter::recognized(head, is_whole, Options::usual_delimiter(path), columns)?
            }
        };
        let mut rows = Self {
            records: Records::new(input, delimiter),
            header: Arc::default(),
            null: Vec::new(),
        };
        if named.is_some() {
            rows.records.next().map_err(|error| error.to_string())?;
        }
        rows.header = match &options.header {
            Some(names) => names.clone().into(),
            None => rows.read_header()?.into(),
        };
        let further = |name: &String| options.nulls.get(name).into_iter().flatten();
        let nulls = |name: &String| options.null.iter().chain(further(name)).cloned().collect();
        rows.null = rows.header.iter().map(nulls).collect();
        Ok(rows)
    }

    fn read_header(&mut self) -> Result<Vec<String>, String> {
        let record = self.records.next().map_err(|error| error.to_string())?;
        let cells = record.map_or(Ok(Vec::new()), |record| record.cells);
        let cells = cells.map_err(|fault| format!("the header: {fault}"))?;
        Ok(numbered(cells.iter().map(|name| name.trim())))
    }

    fn fields(&self, cells: Vec<String>) -> Result<Fields, String> {
        let (found, expected) = (cells.len(), self.header.len());
        if found != expected {
            return Err(format!("{found} columns, but the header names {expected}"));
        }
        let values = cells.into_iter().zip(&self.null).map(|(cell, null)| {
            let is_null = null.contains(&cell);
            (!is_null).then_some(Value::String(cell))
        });
        Ok(Fields::new(Arc::clone(&self.header), values.collect()))
    }

    fn next(&mut self) -> Option<Result<Row, String>> {
        let record = match self.records.next() {
            Ok(record) => record?,
            Err(error) => return Some(Err(error.to_string())),
        };
        Some(Ok(Row {
            line: record.line,
            bytes: record.bytes,
            fields: record.cells.and_then(|cells| self.fields(cells)),
        }))
    }
}

/// The rows of a file with one JSON object a line. Empty lines are skipped.
struct LineRows {
    reader: BufReader<File>,
    objects: Objects,
    offset: u64,
    line: u64,
}

impl LineRows {
    /// The rows of `file` from its start.
    fn new(file: File) -> Self {
        Self {
            reader: BufReader::with_capacity(READ_BYTES, file),
            objects: Objects::default(),
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
            let fields = match text.len() < length {
                true => Err(format!(
                    "a line of {length} bytes, at most {RECORD_BYTES_MAX}"
                )),
                false => self
                    .objects
                    .read(&text)
                    .map_err(|error| format!("not a JSON object: {error}")),
            };
            return Ok(Some(Row {
                line,
                bytes: start..self.offset,
                fields,
            }));
        }
    }
}
