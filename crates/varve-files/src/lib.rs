//! Reads files of rows, one after the other: CSV with any separator, JSON Lines, JSON arrays,
//! Parquet and Arrow IPC, in gzip, zstd or plain, in any charset of the WHATWG's list.
//! Writes Parquet and Arrow IPC.
//!
//! A row has its line, its position in the file and its columns by name. Positions are byte ranges
//! for texts, and row numbers for Parquet and Arrow. A row that cannot be read does not spoil the
//! rows after it where the format allows that: CSV, JSON Lines and members of a JSON array.
//!
//! Limits: a row of a text has at most [`RECORD_BYTES_MAX`] bytes, a file at most
//! [`COLUMNS_MAX`] columns, a batch of Arrow and the open pages of Parquet at most
//! [`BATCH_BYTES_MAX`] bytes.

mod array;
mod arrow;
mod cells;
mod columnar;
mod dates;
mod delimiter;
mod fields;
mod input;
mod numbers;
mod pages;
mod records;
mod rows;
mod write;

use std::collections::BTreeMap;
use std::path::Path;

pub use dates::{DateFormat, instant_of, millis_of};
pub use fields::Fields;
pub use input::{Compression, Found, Unpacked, likely_charset, open_text};
pub use numbers::{Decimal, whole_or_real};
pub use records::RECORD_BYTES_MAX;
pub use rows::{Row, Rows};
pub use write::{Cell, CellKind, TableColumn, TableFormat, TableWriter};

/// The most columns of a CSV header, a Parquet or an Arrow file.
pub const COLUMNS_MAX: usize = 10_000;

/// The most bytes that are decoded at once: a batch of an Arrow file and its dictionaries, the open
/// pages of a Parquet file.
pub const BATCH_BYTES_MAX: u64 = 1 << 30;

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Separated values (RFC 4180), with a header line unless [`Options::header`] is given.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// One JSON array of objects.
    Json,
    /// Parquet.
    Parquet,
    /// Arrow IPC: a file or a stream.
    Arrow,
}

impl Format {
    /// The names of the formats.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("csv", Self::Csv),
        ("jsonl", Self::Jsonl),
        ("json", Self::Json),
        ("parquet", Self::Parquet),
        ("arrow", Self::Arrow),
    ];

    /// The format with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        names
            .find(|(known, _)| *known == name)
            .map(|(_, format)| format)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.into_iter();
        names
            .find(|(_, format)| *format == self)
            .map_or("", |(name, _)| name)
    }

    /// The format that the name of a file says, without a final `.gz` or `.zst`.
    #[must_use]
    pub fn of_name(path: &Path) -> Option<Self> {
        let name = plain_name(path);
        let ending = name.extension()?.to_str()?.to_ascii_lowercase();
        Some(match &*ending {
            "csv" | "tsv" => Self::Csv,
            "jsonl" | "ndjson" => Self::Jsonl,
            "json" => Self::Json,
            "parquet" => Self::Parquet,
            "arrow" | "arrows" | "feather" | "ipc" => Self::Arrow,
            _ => return None,
        })
    }

    /// Whether its rows are typed: texts are texts, numbers are numbers.
    #[must_use]
    pub fn is_typed(self) -> bool {
        self != Self::Csv
    }
}

/// The path without a final `.gz` or `.zst`.
#[must_use]
pub fn plain_name(path: &Path) -> std::path::PathBuf {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz" | "zst") => path.with_extension(""),
        _ => path.to_path_buf(),
    }
}

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The format; by default that of the file's name.
    pub format: Option<Format>,
    /// The separator of a CSV file; by default recognized from the first records.
    pub delimiter: Option<char>,
    /// The names of the columns, if a CSV file has no header line.
    pub header: Option<Vec<String>>,
    /// Texts that mean "no value" in a CSV file.
    pub null: Vec<String>,
    /// Further ones in some columns of it.
    pub nulls: BTreeMap<String, Vec<String>>,
    /// The label of the charset of a text; by default that of its byte order mark, else UTF-8.
    pub charset: Option<String>,
    /// Columns of a Parquet or Arrow file that are not read. Their types may be any.
    pub ignored: Vec<String>,
    /// Whether columns of a type that is not read are ignored, too.
    pub ignores_unread: bool,
    /// The most bytes that the file may have once it is unpacked; by default any number.
    pub unpacked_bytes_max: Option<u64>,
    /// The folder for unpacked and decoded files; by default that of the system.
    pub folder: Option<std::path::PathBuf>,
}

impl Options {
    /// Checks the options, before a file is opened.
    ///
    /// # Errors
    /// When the delimiter is not ASCII, or the charset is not known.
    pub fn check(&self) -> Result<(), String> {
        if self.delimiter.is_some_and(|it| !it.is_ascii()) {
            return Err("`delimiter` must be an ASCII character".to_owned());
        }
        if self
            .delimiter
            .is_some_and(|it| matches!(it, '"' | '\r' | '\n'))
        {
            return Err("`delimiter` must not be a quotation mark or a line end".to_owned());
        }
        match &self.charset {
            Some(name) => input::charset(name).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The delimiter of a CSV file of this name where its records allow several.
    #[must_use]
    pub fn usual_delimiter(path: &Path) -> u8 {
        let name = plain_name(path);
        match name.extension().is_some_and(|ending| ending == "tsv") {
            true => b'\t',
            false => b',',
        }
    }
}
