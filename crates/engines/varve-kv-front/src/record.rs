//! The content of a log record: a head of two bytes, then either the names of the tables or the
//! operations of a batch.
//!
//! | bytes | content |
//! |---|---|
//! | 1 | version of the format, 1 |
//! | 1 | kind: 1 names, 2 batch |
//! | rest | names: for each table, by ascending id, a byte of length and the name |
//! | | batch: the operations |
//!
//! An operation has the id of its table, and another version of the server may assign other ids. So
//! each segment has a record of the names before its first batch. The reader of the log finds each
//! table by its name, and replaces the ids in a batch by the current ones.

use varve_kv::{KvError, RawOp, TableSpec};

/// Bytes before the first operation.
pub(crate) const RECORD_HEAD: usize = 2;
/// The version of the format.
pub const RECORD_VERSION: u8 = 1;
/// The kind of a record with the tables' names.
pub const RECORD_NAMES: u8 = 1;
/// The kind of a record with a batch.
pub const RECORD_BATCH: u8 = 2;

/// Returns the record of a batch's bytes.
pub(crate) fn batch(bytes: &[u8]) -> Box<[u8]> {
    let mut record = Vec::with_capacity(RECORD_HEAD + bytes.len());
    record.extend_from_slice(&[RECORD_VERSION, RECORD_BATCH]);
    record.extend_from_slice(bytes);
    record.into_boxed_slice()
}

/// Returns the record of the tables' names.
pub(crate) fn names(tables: &[TableSpec]) -> Vec<u8> {
    let mut record = vec![RECORD_VERSION, RECORD_NAMES];
    for table in tables {
        let length = u8::try_from(table.name.len()).expect("names of tables are short");
        record.push(length);
        record.extend_from_slice(table.name.as_bytes());
    }
    record
}

/// Reads records in the order of the log.
pub(crate) struct RecordReader<'a> {
    space: &'a str,
    tables: &'static [TableSpec],
    /// For each table id in the log, the current id of that table; `None` before the first names.
    numbers: Option<Vec<u8>>,
}

impl<'a> RecordReader<'a> {
    pub(crate) fn new(space: &'a str, tables: &'static [TableSpec]) -> Self {
        Self {
            space,
            tables,
            numbers: None,
        }
    }

    /// Returns a batch with the current table ids; `None` for a record of the tables' names, which
    /// are used for the following batches.
    ///
    /// # Errors
    /// [`KvError::Corruption`] when the record is invalid, or is a batch before any names.
    /// [`KvError::Unavailable`] when a newer version wrote it: it has another version of the
    /// format, or names a table that this version does not know.
    pub(crate) fn read(&mut self, record: &[u8]) -> Result<Option<Box<[u8]>>, KvError> {
        match record {
            [RECORD_VERSION, RECORD_NAMES, names @ ..] => {
                self.numbers = Some(self.read_names(names)?);
                Ok(None)
            }
            [RECORD_VERSION, RECORD_BATCH, ..] => self.read_batch(record.into()).map(Some),
            [RECORD_VERSION, ..] | [] | [_] => Err(self.damaged("a record of an unknown kind")),
            [version, ..] => Err(self.newer(&format!("its log has records of version {version}"))),
        }
    }

    fn read_names(&self, mut names: &[u8]) -> Result<Vec<u8>, KvError> {
        let mut numbers = Vec::new();
        while let Some((length, rest)) = names.split_first() {
            let (name, rest) = rest
                .split_at_checked(usize::from(*length))
                .ok_or_else(|| self.damaged("the tables' names are cut short"))?;
            names = rest;
            let known = self
                .tables
                .iter()
                .position(|table| table.name.as_bytes() == name);
            let number = known.and_then(|number| u8::try_from(number).ok());
            numbers.push(number.ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                self.newer(&format!(
                    "its log has a table '{name}' that this version does not know"
                ))
            })?);
        }
        Ok(numbers)
    }

    fn read_batch(&self, mut record: Box<[u8]>) -> Result<Box<[u8]>, KvError> {
        let numbers = self
            .numbers
            .as_ref()
            .ok_or_else(|| self.damaged("a batch before the tables' names"))?;
        let mut at = RECORD_HEAD;
        while at < record.len() {
            let op = RawOp::read(&record, at)
                .ok_or_else(|| self.damaged("a batch with an invalid operation"))?;
            let (end, table) = (op.end, usize::from(op.table.0));
            record[RawOp::table_at(at)] = *numbers
                .get(table)
                .ok_or_else(|| self.damaged("an operation on a table without a name"))?;
            at = end;
        }
        Ok(record)
    }

    fn damaged(&self, what: &str) -> KvError {
        KvError::Corruption {
            space: self.space.to_owned(),
            detail: format!("the log holds {what}"),
        }
    }

    fn newer(&self, detail: &str) -> KvError {
        KvError::Unavailable {
            space: self.space.to_owned(),
            detail: detail.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use varve_kv::{Batch, TableId};

    use super::*;

    const fn table(name: &'static str) -> TableSpec {
        TableSpec {
            name,
            partition_len: |_| Some(0),
            point_reads: false,
            probed: None,
            cold: false,
            summarize: None,
        }
    }

    static OLD: &[TableSpec] = &[table("a"), table("b")];
    static NEW: &[TableSpec] = &[table("b"), table("c"), table("a")];

    #[test]
    fn tables_are_renumbered_by_name() {
        let mut written = Batch::new();
        written.put(TableId(0), b"", b"k", b"v");
        written.delete(TableId(1), b"", b"k");
        let mut reader = RecordReader::new("s", NEW);
        assert!(reader.read(&names(OLD)).unwrap().is_none());
        let record = reader.read(&batch(written.bytes())).unwrap().unwrap();
        let first = RawOp::read(&record, RECORD_HEAD).unwrap();
        assert_eq!((first.table, first.value), (TableId(2), &b"v"[..]));
        assert_eq!(RawOp::read(&record, first.end).unwrap().table, TableId(0));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let mut written = Batch::new();
        written.put(TableId(0), b"", b"k", b"v");
        let sound = batch(written.bytes());
        let mut reader = RecordReader::new("s", OLD);
        let damaged =
            |result: Result<_, KvError>| matches!(result, Err(KvError::Corruption { .. }));
        assert!(damaged(reader.read(&sound)), "names first");
        reader.read(&names(OLD)).unwrap();
        assert!(reader.read(&sound).is_ok());
        assert!(damaged(reader.read(&sound[..sound.len() - 1])));
        assert!(damaged(reader.read(&[])));
        assert!(damaged(reader.read(&[RECORD_VERSION, 7])));
        let newer = reader.read(&[RECORD_VERSION + 1, RECORD_BATCH]);
        assert!(matches!(newer, Err(KvError::Unavailable { .. })));
        let unknown = RecordReader::new("s", OLD).read(&names(NEW));
        assert!(matches!(unknown, Err(KvError::Unavailable { .. })));
    }
}
