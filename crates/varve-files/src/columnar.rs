//! The rows of Parquet and Arrow files.

use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_field_levels};
use parquet::file::metadata::ParquetMetaData;

use crate::Options;
use crate::arrow::ArrowBatches;
use crate::cells;
use crate::fields::Fields;
use crate::pages::{BATCH_ROWS, Groups};
use crate::records::RECORD_BYTES_MAX;
use crate::rows::Row;

/// Batches of rows, one after the other.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, String>> + Send>;

/// The rows of a Parquet or Arrow file.
pub(crate) struct ColumnarRows {
    batches: Batches,
    header: Header,
    batch: Option<RecordBatch>,
    /// The next row within the batch.
    at: usize,
    /// The number of the next row, from 0.
    number: u64,
}

impl ColumnarRows {
    /// Opens a Parquet file.
    pub(crate) fn parquet(file: File, options: &Options) -> Result<Self, String> {
        let failed = |error: parquet::errors::ParquetError| error.to_string();
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let opened = file.try_clone().map_err(|error| error.to_string())?;
        guarded(|| {
            let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(failed)?;
            check_pieces(builder.metadata(), length)?;
            let header = Header::of(builder.schema(), options)?;
            let fields = Some(builder.schema().fields());
            let metadata = Arc::clone(builder.metadata());
            let columns = metadata.file_metadata().schema_descr();
            let levels = parquet_to_arrow_field_levels(columns, ProjectionMask::all(), fields);
            let groups = Groups::new(opened, Arc::clone(&metadata));
            let mut batches = ParquetRecordBatchReader::try_new_with_row_groups(
                &levels.map_err(failed)?,
                &groups,
                BATCH_ROWS,
                None,
            )
            .map_err(failed)?;
            let charged = groups.charged();
            let batches = std::iter::from_fn(move || {
                charged.begin();
                let batch = batches.next()?;
                Some(batch.map_err(|error| error.to_string()))
            });
            Ok(Self::new(Box::new(batches), header))
        })
    }

    /// Opens an Arrow IPC file or stream.
    pub(crate) fn arrow(file: File, options: &Options) -> Result<Self, String> {
        guarded(|| Self::open_arrow(file, options))
    }

    fn open_arrow(file: File, options: &Options) -> Result<Self, String> {
        let mut batches = ArrowBatches::open(file)?;
        let header = Header::of(batches.schema(), options)?;
        let batches = std::iter::from_fn(move || batches.next().transpose());
        Ok(Self::new(Box::new(batches), header))
    }

    fn new(batches: Batches, header: Header) -> Self {
        Self {
            batches,
            header,
            batch: None,
            at: 0,
            number: 0,
        }
    }

    /// The names of the columns.
    pub(crate) fn header(&self) -> &[String] {
        &self.header.names
    }

    /// The columns of a type that is not read.
    pub(crate) fn unread(&self) -> &[String] {
        &self.header.unread
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// When the file is damaged.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, String> {
        loop {
            if let Some(batch) = self.batch.as_ref().filter(|it| self.at < it.num_rows()) {
                let row = Row {
                    line: self.number + 1,
                    bytes: self.number..self.number + 1,
                    fields: fields(&self.header, batch, self.at),
                };
                self.at += 1;
                self.number += 1;
                return Ok(Some(row));
            }
            let next = guarded(|| self.batches.next().transpose());
            match next.map_err(|error| format!("after row {}: {error}", self.number))? {
                None => return Ok(None),
                batch => self.batch = batch,
            }
            self.at = 0;
        }
    }
}

/// Runs a step of a library that panics for some damaged files.
fn guarded<T>(step: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    // After a panic the reader is used no more: its rows end with the error.
    std::panic::catch_unwind(AssertUnwindSafe(step))
        .unwrap_or_else(|_| Err("the file is damaged".to_owned()))
}

/// Refuses pieces of columns that are not within the file, for which the library panics.
fn check_pieces(metadata: &ParquetMetaData, length: u64) -> Result<(), String> {
    let groups = metadata.row_groups().iter();
    for piece in groups.flat_map(|group| group.columns()) {
        let data = piece.data_page_offset();
        // As the library computes it.
        let start = piece.dictionary_page_offset().unwrap_or(data);
        let place = u64::try_from(start)
            .ok()
            .zip(u64::try_from(piece.compressed_size()).ok());
        let end = place.and_then(|(start, size)| start.checked_add(size));
        let is_inside = end.is_some_and(|end| end <= length);
        if !is_inside {
            return Err("the file is damaged: a column is not within it".to_owned());
        }
    }
    Ok(())
}

/// The columns of a file.
struct Header {
    names: Arc<[String]>,
    /// Whether each is ignored.
    ignored: Vec<bool>,
    /// Whether each has UUIDs.
    uuids: Vec<bool>,
    /// Those of a type that is not read.
    unread: Vec<String>,
}

impl Header {
    /// The columns, if the types of all that are not ignored can be read.
    fn of(schema: &Schema, options: &Options) -> Result<Self, String> {
        let fields = schema.fields();
        let mut header = Self {
            names: fields.iter().map(|field| field.name().clone()).collect(),
            ignored: Vec::new(),
            uuids: Vec::new(),
            unread: Vec::new(),
        };
        for field in fields {
            let is_read = cells::is_read(field.data_type());
            let is_named = options.ignored.contains(field.name());
            if !is_read && !is_named && !options.ignores_unread {
                return Err(format!(
                    "column '{}' has the type {}, which is not read; name it in `ignore`",
                    field.name(),
                    field.data_type()
                ));
            }
            if !is_read {
                header.unread.push(field.name().clone());
            }
            header.uuids.push(cells::is_uuid(field));
            header.ignored.push(!is_read || is_named);
        }
        Ok(header)
    }
}

fn fields(header: &Header, batch: &RecordBatch, row: usize) -> Result<Fields, String> {
    let mut left = RECORD_BYTES_MAX;
    let columns = batch.columns().iter().enumerate();
    let values = columns.map(|(at, array)| {
        if header.ignored[at] {
            return Ok(None);
        }
        let value = match header.uuids[at] {
            true => Ok(cells::uuid(array, row)),
            false => cells::cell(array, row, &mut left),
        };
        let name = &header.names[at];
        let value = value.map_err(|fault| format!("column '{name}': {fault}"))?;
        Ok(Some(value).filter(|value| !value.is_null()))
    });
    let values: Result<Vec<_>, String> = values.collect();
    Ok(Fields::new(Arc::clone(&header.names), values?))
}
