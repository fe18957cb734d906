//! The pages of a Parquet file, within a limit of memory.
//!
//! The library allocates as many bytes as a page unpacks to, at most 2 GiB, and decodes the rows of
//! a batch out of the open pages of all columns. A few bytes may stand for many: a dictionary's
//! value for each row, a run for all members of a list. So pages are charged with what they may
//! become, and over [`BATCH_BYTES_MAX`] the file is refused.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use crate::BATCH_BYTES_MAX;

/// Rows of a batch.
pub(crate) const BATCH_ROWS: usize = 128;
/// The bytes of a number and of a mark in a list.
const NUMBER_BYTES: u64 = 16;

/// All rows of a file.
#[derive(Clone)]
pub(crate) struct Groups {
    file: Arc<File>,
    metadata: Arc<ParquetMetaData>,
    charged: Arc<Charged>,
}

/// The bytes that pages are charged with.
#[derive(Default)]
pub(crate) struct Charged {
    /// Those of the open pages.
    open: AtomicU64,
    /// Those of the pages that were read since the last batch.
    batch: AtomicU64,
}

impl Charged {
    /// Begins a batch.
    pub(crate) fn begin(&self) {
        self.batch.store(0, Ordering::Relaxed);
    }

    fn add(&self, bytes: u64) -> Result<()> {
        let add = |to: &AtomicU64| to.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        match add(&self.open).max(add(&self.batch)) > BATCH_BYTES_MAX {
            true => Err(ParquetError::General(format!(
                "the open pages have more than {BATCH_BYTES_MAX} bytes; write smaller pages"
            ))),
            false => Ok(()),
        }
    }

    fn remove(&self, bytes: u64) {
        self.open.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Groups {
    pub(crate) fn new(file: File, metadata: Arc<ParquetMetaData>) -> Self {
        Self {
            file: Arc::new(file),
            metadata,
            charged: Arc::default(),
        }
    }

    pub(crate) fn charged(&self) -> Arc<Charged> {
        Arc::clone(&self.charged)
    }
}

impl RowGroups for Groups {
    fn num_rows(&self) -> usize {
        let rows = self.row_groups().map(RowGroupMetaData::num_rows);
        rows.fold(0, |sum: usize, rows| {
            sum.saturating_add(usize::try_from(rows).unwrap_or(0))
        })
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(Pieces {
            groups: self.clone(),
            column,
            group: 0,
        }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The pieces of a column, one in each group of rows.
struct Pieces {
    groups: Groups,
    column: usize,
    group: usize,
}

impl Pieces {
    fn open(&self, group: &RowGroupMetaData) -> Result<Pages> {
        let piece = group.column(self.column);
        let column = piece.column_descr();
        let rows = usize::try_from(group.num_rows())?;
        Ok(Pages {
            pages: SerializedPageReader::new(Arc::clone(&self.groups.file), piece, rows, None)?,
            is_list: column.max_rep_level() > 0,
            value_bytes: match column.physical_type() {
                Type::BYTE_ARRAY => 0,
                Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(column.type_length())?,
                _ => NUMBER_BYTES,
            },
            is_of_bytes: column.physical_type() == Type::BYTE_ARRAY,
            charged: self.groups.charged(),
            dictionary: 0,
            page: 0,
        })
    }
}

impl Iterator for Pieces {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.groups.metadata.row_groups().get(self.group)?;
        let pages = self.open(group);
        self.group += 1;
        Some(pages.map(|pages| Box::new(pages) as _))
    }
}

impl PageIterator for Pieces {}

/// The pages of a piece of a column.
struct Pages {
    pages: SerializedPageReader<File>,
    is_list: bool,
    is_of_bytes: bool,
    /// The most bytes that the pages give for one value besides their own bytes.
    value_bytes: u64,
    charged: Arc<Charged>,
    /// The bytes charged for the dictionary and for the open page.
    dictionary: u64,
    page: u64,
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.charged.remove(self.dictionary + self.page);
    }
}

impl Pages {
    fn charge(&mut self, page: &Page) -> Result<()> {
        let bytes = page.buffer().len() as u64;
        if page.is_dictionary_page() {
            if self.is_of_bytes {
                self.value_bytes = longest(page.buffer());
            }
            self.dictionary += bytes;
            return self.charged.add(bytes);
        }
        let values = u64::from(page.num_values());
        let at_once = match self.is_list {
            true => values,
            false => values.min(BATCH_ROWS as u64),
        };
        let value_bytes = match page.encoding() {
            // Each value may repeat all of the one before it.
            Encoding::DELTA_BYTE_ARRAY => bytes,
            _ => self.value_bytes + u64::from(self.is_list) * NUMBER_BYTES,
        };
        self.charged.remove(self.page);
        self.page = at_once.saturating_mul(value_bytes).saturating_add(bytes);
        self.charged.add(self.page)
    }
}

/// The length of the longest value of a dictionary: each follows its length.
fn longest(mut values: &[u8]) -> u64 {
    let mut longest = 0;
    while let Some((length, rest)) = values.split_first_chunk() {
        let length = u32::from_le_bytes(*length);
        longest = longest.max(u64::from(length));
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        values = rest.get(length..).unwrap_or_default();
    }
    longest
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        page.as_ref().map_or(Ok(()), |page| self.charge(page))?;
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}
