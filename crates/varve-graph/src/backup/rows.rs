//! Copies of graphs as rows, which any engine can restore.
//!
//! `graphs/<graph>/rows` has all rows, as they were read while the graph was written to;
//! `graphs/<graph>/changes` has all writes of that time, in their order. Both applied, one after
//! the other, give the state after the last of the writes, with all versions and both times.
//!
//! Both files are lists of batches, in the layout of [`varve_kv::batch`]:
//!
//! ```text
//! varve-rows 1\n
//! number of tables (4 bytes, little endian), for each: length of its name (4), name
//! for each batch: length (4), bytes; a length of zero at the end
//! ```

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use varve_encoding::tables::{CHANGE, META, TABLES};
use varve_kv::{
    Batch, Durability, Engine, Flow, Leadership, Op, OpKind, RawOp, Reader, Space, TableId,
};

use super::failed;
use crate::changes::NOTE;
use crate::error::{ErrorKind, GraphError};
use crate::graph::Graph;
use crate::notes;
use crate::registry::{end_restoring, graph_of_space, is_marked, mark_restoring};

const HEAD: &[u8] = b"varve-rows 1\n";
/// The file of the rows, and that of the writes while these were read.
pub(super) const ROWS: &str = "rows";
pub(super) const CHANGES: &str = "changes";
/// Bytes and rows at which a batch ends.
const BATCH_BYTES: usize = 1 << 20;
const BATCH_ROWS: usize = 4_000;
/// The most bytes of a batch that is read: more than any engine takes.
const BATCH_BYTES_MAX: usize = 1 << 30;

/// A file of batches that is being written.
struct BatchWriter(BufWriter<File>);

impl BatchWriter {
    fn create(path: &Path) -> std::io::Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
        out.write_all(HEAD)?;
        let length = |out: &mut BufWriter<File>, length: usize| {
            let length = u32::try_from(length).map_err(std::io::Error::other)?;
            out.write_all(&length.to_le_bytes())
        };
        length(&mut out, TABLES.len())?;
        for table in TABLES {
            length(&mut out, table.name.len())?;
            out.write_all(table.name.as_bytes())?;
        }
        Ok(Self(out))
    }

    fn batch(&mut self, batch: &Batch) -> std::io::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(batch.byte_len()).map_err(std::io::Error::other)?;
        self.0.write_all(&length.to_le_bytes())?;
        self.0.write_all(batch.bytes())
    }

    fn end(&mut self) -> std::io::Result<()> {
        self.0.write_all(&0_u32.to_le_bytes())?;
        self.0.flush()?;
        self.0.get_ref().sync_all()
    }
}

/// Writes a copy of a graph into a folder, while the graph is used.
///
/// # Errors
/// When the graph cannot be read, is cleared or dropped, or is taken by another server meanwhile;
/// when a file cannot be written.
pub(super) fn copy_graph(graph: &Graph, folder: &Path) -> Result<(), GraphError> {
    let Some(recorded) = graph.recorded() else {
        let message = "The engine copies its files instead".to_owned();
        return Err(GraphError::new(ErrorKind::NotSupported, message));
    };
    let (rows_file, changes_file) = (folder.join(ROWS), folder.join(CHANGES));
    let create = |path: &Path| BatchWriter::create(path).map_err(|error| failed(path, &error));
    let mut rows = create(&rows_file)?;
    let changes = Arc::new(Mutex::new(create(&changes_file)?));
    let (sink, path) = (Arc::clone(&changes), changes_file.clone());
    let take = move |batch: &Batch| {
        let written = sink.lock().batch(batch);
        written.map_err(|error| failed(&path, &error))
    };
    let space = graph.space();
    recorded.during(take, graph.name(), || {
        visit_batches(&**space, &mut |batch| {
            let written = rows.batch(batch);
            written.map_err(|error| failed(&rows_file, &error))
        })
    })?;
    let ended = rows.end().map_err(|error| failed(&rows_file, &error));
    ended?;
    let ended = changes.lock().end();
    ended.map_err(|error| failed(&changes_file, &error))?;
    if space.lease().leadership != Leadership::Held || is_marked(&**space)? {
        let name = graph.name();
        let message = format!(
            "The graph '{name}' was cleared, dropped or taken by another server while it was copied"
        );
        return Err(GraphError::new(ErrorKind::Busy, message));
    }
    Ok(())
}

/// Reads all rows of all tables, as batches that put them.
///
/// # Errors
/// Those of the reader and of `take`.
pub(super) fn visit_batches(reader: &dyn Reader, take: &mut Put<'_>) -> Result<(), GraphError> {
    let mut batch = Batch::new();
    for number in 0..TABLES.len() {
        let table = TableId(u8::try_from(number).expect("there are few tables"));
        let mut taken = Ok(());
        reader.scan_table(table, None, &mut |row| {
            batch.put(table, row.partition, row.clustering, row.value);
            if batch.byte_len() >= BATCH_BYTES || batch.len() >= BATCH_ROWS {
                taken = take(&batch);
                batch.clear();
            }
            match taken {
                Ok(()) => Flow::Continue(()),
                Err(_) => Flow::Break(()),
            }
        })?;
        taken?;
    }
    take(&batch)
}

/// Takes a batch.
pub(super) type Put<'a> = dyn FnMut(&Batch) -> Result<(), GraphError> + 'a;
/// Passes batches to its argument.
pub(super) type Fill<'a> = dyn FnMut(&mut Put<'_>) -> Result<(), GraphError> + 'a;

/// Creates the space of a graph and fills it with the batches that `fill` passes to its argument.
/// A space that is not filled to the end is refused when it is opened.
///
/// # Errors
/// [`ErrorKind::Existed`] when the engine has such a graph; those of the engine and of `fill`.
pub(super) fn restore_graph(
    engine: &dyn Engine,
    name: &str,
    fill: &mut Fill<'_>,
) -> Result<(), GraphError> {
    let existed = || {
        let message = format!("The graph '{name}' exists: drop it first");
        GraphError::new(ErrorKind::Existed, message)
    };
    let is_of = |space: &str| space == name || graph_of_space(space) == Some(name);
    if engine.spaces()?.iter().any(|space| is_of(&space.name)) {
        return Err(existed());
    }
    // Generation 0 of a graph has the graph's name.
    let space = engine.open(name, TABLES, true)?;
    if space.lease().term > 1 {
        // A server has created it meanwhile.
        return Err(existed());
    }
    mark_restoring(&*space)?;
    let mut kept = Batch::new();
    fill(&mut |batch| put_back(&*space, batch, &mut kept))?;
    write(&*space, &mut kept)?;
    space.sync()?;
    end_restoring(&*space)
}

/// Writes a batch of a backup, together with others. The list of changes starts anew in a restored
/// graph, since commits that followers have seen may be missing.
fn put_back(space: &dyn Space, batch: &Batch, kept: &mut Batch) -> Result<(), GraphError> {
    for op in batch.ops() {
        match op {
            Op::Put { table, .. } | Op::Delete { table, .. } | Op::DeletePrefix { table, .. }
                if table == CHANGE => {}
            Op::Put {
                table,
                partition,
                clustering,
                ..
            } if table == META && notes::is(partition, clustering, NOTE) => {}
            Op::Put {
                table,
                partition,
                clustering,
                value,
            } => drop(kept.put(table, partition, clustering, value)),
            Op::Delete {
                table,
                partition,
                clustering,
            } => kept.delete(table, partition, clustering),
            Op::DeletePrefix {
                table,
                partition,
                prefix,
            } => kept.delete_prefix(table, partition, prefix),
        }
    }
    match kept.byte_len() >= BATCH_BYTES || kept.len() >= BATCH_ROWS {
        true => write(space, kept),
        false => Ok(()),
    }
}

fn write(space: &dyn Space, batch: &mut Batch) -> Result<(), GraphError> {
    if !batch.is_empty() {
        space.write(batch, Durability::Buffered)?;
        batch.clear();
    }
    Ok(())
}

/// Passes the batches of a file to `take`. Reads it from `input`, whose name is for messages.
///
/// # Errors
/// When the file is damaged, or of a later version; those of `take`.
pub(super) fn read_batches(
    input: impl Read,
    shown: &Path,
    take: &mut Put<'_>,
) -> Result<(), GraphError> {
    let damaged = |what: &str| {
        let message = format!("{}: {what}", shown.display());
        GraphError::new(ErrorKind::Storage, message)
    };
    let mut input = BufReader::with_capacity(1 << 20, input);
    let mut bytes = |length: usize| {
        let mut bytes = vec![0; length];
        input
            .read_exact(&mut bytes)
            .map_err(|error| failed(shown, &error))?;
        Ok::<_, GraphError>(bytes)
    };
    if bytes(HEAD.len())? != HEAD {
        return Err(damaged("not the rows of a backup, or of a later version"));
    }
    let number = |bytes: Vec<u8>| {
        let bytes: [u8; 4] = bytes.try_into().unwrap_or_default();
        u32::from_le_bytes(bytes) as usize
    };
    let mut tables = Vec::new();
    for _ in 0..number(bytes(4)?).min(usize::from(u8::MAX)) {
        let length = number(bytes(4)?).min(BATCH_BYTES);
        let name = bytes(length)?;
        let known = TABLES.iter().position(|spec| spec.name.as_bytes() == name);
        let known = known.and_then(|number| u8::try_from(number).ok());
        let Some(known) = known else {
            return Err(damaged("it has a table that this version does not know"));
        };
        tables.push(TableId(known));
    }
    loop {
        let length = number(bytes(4)?);
        if length == 0 {
            return Ok(());
        }
        if length > BATCH_BYTES_MAX {
            return Err(damaged("it is damaged"));
        }
        let stored = bytes(length)?;
        let batch = batch_of(&stored, &tables).ok_or_else(|| damaged("it is damaged"))?;
        take(&batch)?;
    }
}

/// Reads a batch from its bytes; `tables` are the tables of their table numbers. Returns `None` if
/// the bytes are not whole operations on these tables.
fn batch_of(bytes: &[u8], tables: &[TableId]) -> Option<Batch> {
    let mut batch = Batch::new();
    batch.reserve(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let op = RawOp::read(bytes, at)?;
        let table = *tables.get(usize::from(op.table.0))?;
        match op.kind {
            OpKind::Put => drop(batch.put(table, op.partition(), op.clustering(), op.value)),
            OpKind::Delete => batch.delete(table, op.partition(), op.clustering()),
            OpKind::DeletePrefix => batch.delete_prefix(table, op.partition(), op.clustering()),
        }
        at = op.end;
    }
    Some(batch)
}
