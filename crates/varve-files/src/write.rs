//! Writes tables as Parquet or Arrow IPC, row by row, in bounded memory.

use std::sync::Arc;

use arrow_array::builder::{
    ArrayBuilder, BooleanBuilder, Float32Builder, Float64Builder, Int32Builder, Int64Builder,
    ListBuilder, StringBuilder, TimestampMicrosecondBuilder, TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

/// Rows of a batch.
const BATCH_ROWS: usize = 4096;
/// Bytes of a row group of Parquet, about.
const GROUP_BYTES: usize = 32 << 20;

/// The format of a written table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Parquet, packed with zstd.
    Parquet,
    /// An Arrow IPC file.
    Arrow,
}

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// True or false.
    Boolean,
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    Long,
    /// A number of 32 bits.
    Float,
    /// A number of 64 bits.
    Double,
    /// Milliseconds since 1970, UTC.
    Millis,
    /// Microseconds since 1970, UTC.
    Micros,
    /// A text.
    Text,
}

/// A column.
#[derive(Debug, Clone)]
pub struct TableColumn {
    /// Its name.
    pub name: String,
    /// The type of its cells, or of the members of its lists.
    pub kind: CellKind,
    /// Whether its cells are lists.
    pub is_list: bool,
}

/// A cell. One of another type than its column is written as no value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// No value.
    Null,
    /// True or false.
    Boolean(bool),
    /// A whole number, or an instant.
    Whole(i64),
    /// A number of 32 bits.
    Float(f32),
    /// A number of 64 bits.
    Double(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Cell>),
}

impl Cell {
    fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            _ => None,
        }
    }
}

/// Where batches go.
enum Sink {
    Parquet(Box<ArrowWriter<Vec<u8>>>),
    Arrow(Box<FileWriter<Vec<u8>>>),
    Ended(Vec<u8>),
}

/// A table that is being written.
pub struct TableWriter {
    columns: Vec<TableColumn>,
    schema: SchemaRef,
    /// The rows that are not in a batch yet, by column.
    waiting: Vec<Vec<Cell>>,
    sink: Sink,
}

impl TableWriter {
    /// A table without rows.
    ///
    /// # Errors
    /// When the library refuses the columns.
    pub fn new(format: TableFormat, columns: Vec<TableColumn>) -> Result<Self, String> {
        let fields = columns.iter().map(|column| {
            let of_cell = data_type(column.kind);
            let data_type = match column.is_list {
                true => DataType::List(Arc::new(Field::new_list_field(of_cell, true))),
                false => of_cell,
            };
            Field::new(&column.name, data_type, true)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let sink = match format {
            TableFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(Default::default()))
                    .build();
                let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties));
                Sink::Parquet(Box::new(writer.map_err(|error| error.to_string())?))
            }
            TableFormat::Arrow => {
                let writer = FileWriter::try_new(Vec::new(), &schema);
                Sink::Arrow(Box::new(writer.map_err(|error| error.to_string())?))
            }
        };
        Ok(Self {
            waiting: columns.iter().map(|_| Vec::new()).collect(),
            columns,
            schema,
            sink,
        })
    }

    /// Writes a row; cells that are missing at its end have no value.
    ///
    /// # Errors
    /// When the library cannot write the rows.
    pub fn row(&mut self, cells: Vec<Cell>) -> Result<(), String> {
        let mut cells = cells.into_iter();
        for waiting in &mut self.waiting {
            waiting.push(cells.next().unwrap_or(Cell::Null));
        }
        let rows = self.waiting.first().map_or(0, Vec::len);
        match rows >= BATCH_ROWS {
            true => self.batch(),
            false => Ok(()),
        }
    }

    fn batch(&mut self) -> Result<(), String> {
        if self.waiting.first().is_none_or(Vec::is_empty) {
            return Ok(());
        }
        let columns = self.columns.iter().zip(&mut self.waiting);
        let arrays: Vec<ArrayRef> = columns
            .map(|(column, waiting)| array(column, &std::mem::take(waiting)))
            .collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays);
        let batch = batch.map_err(|error| error.to_string())?;
        match &mut self.sink {
            Sink::Parquet(writer) => {
                writer.write(&batch).map_err(|error| error.to_string())?;
                if writer.in_progress_size() > GROUP_BYTES {
                    writer.flush().map_err(|error| error.to_string())?;
                }
                Ok(())
            }
            Sink::Arrow(writer) => writer.write(&batch).map_err(|error| error.to_string()),
            Sink::Ended(_) => Err("the table has ended".to_owned()),
        }
    }

    /// Takes the bytes that were written since the last call.
    pub fn take(&mut self) -> Vec<u8> {
        match &mut self.sink {
            Sink::Parquet(writer) => std::mem::take(writer.inner_mut()),
            Sink::Arrow(writer) => std::mem::take(writer.get_mut()),
            Sink::Ended(bytes) => std::mem::take(bytes),
        }
    }

    /// Writes the rest and the end of the file.
    ///
    /// # Errors
    /// As [`Self::row`].
    pub fn end(&mut self) -> Result<(), String> {
        self.batch()?;
        let rest = match std::mem::replace(&mut self.sink, Sink::Ended(Vec::new())) {
            Sink::Parquet(writer) => writer.into_inner().map_err(|error| error.to_string())?,
            Sink::Arrow(writer) => writer.into_inner().map_err(|error| error.to_string())?,
            Sink::Ended(rest) => rest,
        };
        self.sink = Sink::Ended(rest);
        Ok(())
    }
}

fn data_type(kind: CellKind) -> DataType {
    let utc = || Some("UTC".into());
    match kind {
        CellKind::Boolean => DataType::Boolean,
        CellKind::Int => DataType::Int32,
        CellKind::Long => DataType::Int64,
        CellKind::Float => DataType::Float32,
        CellKind::Double => DataType::Float64,
        CellKind::Millis => DataType::Timestamp(TimeUnit::Millisecond, utc()),
        CellKind::Micros => DataType::Timestamp(TimeUnit::Microsecond, utc()),
        CellKind::Text => DataType::Utf8,
    }
}

/// The array of a column's cells.
fn array(column: &TableColumn, cells: &[Cell]) -> ArrayRef {
    /// An array made by a builder, to which each cell is added.
    macro_rules! made {
        ($builder:expr, $cell:ident => $value:expr) => {
            match column.is_list {
                true => lists(cells, $builder, |builder, $cell| {
                    builder.append_option($value)
                }),
                false => {
                    let mut builder = $builder;
                    cells.iter().for_each(|$cell| builder.append_option($value));
                    Arc::new(builder.finish())
                }
            }
        };
    }
    match column.kind {
        CellKind::Boolean => made!(BooleanBuilder::new(), cell => match cell {
            Cell::Boolean(value) => Some(*value),
            _ => None,
        }),
        CellKind::Int => made!(Int32Builder::new(), cell => {
            cell.whole().and_then(|number| i32::try_from(number).ok())
        }),
        CellKind::Long => made!(Int64Builder::new(), cell => cell.whole()),
        CellKind::Float => made!(Float32Builder::new(), cell => match cell {
            Cell::Float(value) => Some(*value),
            _ => None,
        }),
        CellKind::Double => made!(Float64Builder::new(), cell => match cell {
            Cell::Double(value) => Some(*value),
            _ => None,
        }),
        CellKind::Millis => {
            made!(TimestampMillisecondBuilder::new().with_timezone("UTC"), cell => cell.whole())
        }
        CellKind::Micros => {
            made!(TimestampMicrosecondBuilder::new().with_timezone("UTC"), cell => cell.whole())
        }
        CellKind::Text => made!(StringBuilder::new(), cell => match cell {
            Cell::Text(text) => Some(text.as_str()),
            _ => None,
        }),
    }
}

/// An array of lists.
fn lists<B: ArrayBuilder>(
    cells: &[Cell],
    members: B,
    mut add: impl FnMut(&mut B, &Cell),
) -> ArrayRef {
    let mut builder = ListBuilder::new(members);
    for cell in cells {
        match cell {
            Cell::List(of_cell) => {
                for member in of_cell {
                    add(builder.values(), member);
                }
                builder.append(true);
            }
            _ => builder.append(false),
        }
    }
    Arc::new(builder.finish())
}
