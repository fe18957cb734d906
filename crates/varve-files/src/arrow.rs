//! The batches of an Arrow IPC file or stream.
//!
//! The library allocates as many bytes as a file claims, and the program ends if there are not as
//! many. So each claim is checked against the length of the file and [`BATCH_BYTES_MAX`] first.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use arrow_array::RecordBatch;
use arrow_array::builder::UInt8BufferBuilder;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileDecoder, read_footer_length};
use arrow_ipc::{Block, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, SchemaRef};

use crate::BATCH_BYTES_MAX;

const MAGIC: &[u8] = b"ARROW1";
/// The bytes behind the footer: its length and the magic.
const TAIL_BYTES: u64 = 10;
const CONTINUES: [u8; 4] = [0xff; 4];
/// The bytes before a packed buffer: its unpacked length.
const LENGTH_BYTES: usize = 8;
/// The unpacked length of a buffer that is not packed.
const NOT_PACKED: i64 = -1;

/// The batches of an Arrow IPC file or stream.
pub(crate) struct ArrowBatches {
    input: Input,
    schema: SchemaRef,
    decoder: FileDecoder,
    messages: Messages,
    /// The bytes of each dictionary.
    dictionaries: HashMap<i64, u64>,
}

/// The messages that are not read yet.
enum Messages {
    /// Those that the footer of a file names.
    Listed(std::vec::IntoIter<Block>),
    /// Those from this position of a stream.
    From(u64),
}

/// A file and its length.
struct Input {
    file: File,
    length: u64,
}

impl ArrowBatches {
    /// Opens a file.
    pub(crate) fn open(file: File) -> Result<Self, String> {
        let length = file.metadata().map_err(|error| error.to_string())?.len();
        let input = Input { file, length };
        let mut magic = [0; MAGIC.len()];
        let is_file = input.read(0, &mut magic).is_ok() && magic == *MAGIC;
        match is_file {
            true => Self::of_file(input),
            false => {
                Self::of_stream(input).map_err(|error| format!("it is not Arrow IPC: {error}"))
            }
        }
    }

    fn of_file(input: Input) -> Result<Self, String> {
        let mut tail = [0; TAIL_BYTES as usize];
        let end = input.length.checked_sub(TAIL_BYTES).ok_or_else(damaged)?;
        input.read(end, &mut tail)?;
        let length = read_footer_length(tail).map_err(failed)?;
        let start = end.checked_sub(length as u64).ok_or_else(damaged)?;
        let mut footer = vec![0; length];
        input.read(start, &mut footer)?;
        let footer = root_as_footer(&footer).map_err(|error| error.to_string())?;
        let batches = footer.recordBatches().ok_or_else(damaged)?;
        let messages = footer.dictionaries().into_iter().flatten();
        let messages: Vec<Block> = messages.chain(batches).copied().collect();
        let schema = footer.schema().ok_or_else(damaged)?;
        let messages = Messages::Listed(messages.into_iter());
        Self::new(input, schema, footer.version(), messages)
    }

    fn of_stream(input: Input) -> Result<Self, String> {
        let (block, bytes) = input.message_at(0)?.ok_or_else(damaged)?;
        let message = message_of(&bytes)?;
        let schema = message.header_as_schema().ok_or_else(damaged)?;
        let next = end_of(&block).ok_or_else(damaged)?;
        Self::new(input, schema, message.version(), Messages::From(next))
    }

    fn new(
        input: Input,
        schema: arrow_ipc::Schema<'_>,
        version: MetadataVersion,
        messages: Messages,
    ) -> Result<Self, String> {
        if !schema.endianness().equals_to_target_endianness() {
            return Err("its numbers are big-endian, which is not read".to_owned());
        }
        let schema = SchemaRef::new(try_fb_to_schema(schema).map_err(failed)?);
        Ok(Self {
            input,
            decoder: FileDecoder::new(SchemaRef::clone(&schema), version),
            schema,
            messages,
            dictionaries: HashMap::new(),
        })
    }

    /// The columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The next batch; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, String> {
        loop {
            let block = match &mut self.messages {
                Messages::Listed(blocks) => blocks.next(),
                Messages::From(start) => {
                    let message = self.input.message_at(*start)?;
                    let block = message.map(|(block, _)| block);
                    if let Some(block) = &block {
                        *start = end_of(block).ok_or_else(damaged)?;
                    }
                    block
                }
            };
            let Some(block) = block else {
                return Ok(None);
            };
            if let Some(batch) = self.decode(&block)? {
                return Ok(Some(batch));
            }
        }
    }

    /// Decodes a message: a batch, or a dictionary for those after it.
    fn decode(&mut self, block: &Block) -> Result<Option<RecordBatch>, String> {
        let end = end_of(block).filter(|end| *end <= self.input.length);
        let (start, end) = (place(block.offset())?, end.ok_or_else(damaged)?);
        check(end - start)?;
        let length = usize::try_from(end - start).map_err(|error| error.to_string())?;
        let mut bytes = UInt8BufferBuilder::new(length);
        bytes.advance(length);
        self.input.read(start, bytes.as_slice_mut())?;
        let bytes = bytes.finish();
        let metadata = usize::try_from(block.metaDataLength()).map_err(|_| damaged())?;
        let (metadata, body) = bytes.split_at_checked(metadata).ok_or_else(damaged)?;
        let message = message_of(metadata)?;
        if message.header_type() != MessageHeader::DictionaryBatch {
            if let Some(batch) = message.header_as_record_batch() {
                check(decoded_bytes(batch, body)?)?;
            }
            return self
                .decoder
                .read_record_batch(block, &bytes)
                .map_err(failed);
        }
        let dictionary = message.header_as_dictionary_batch().ok_or_else(damaged)?;
        let added = decoded_bytes(dictionary.data().ok_or_else(damaged)?, body)?;
        let known = self.dictionaries.entry(dictionary.id()).or_default();
        *known = match dictionary.isDelta() {
            true => known.saturating_add(added),
            false => added,
        };
        let all = self.dictionaries.values();
        check(all.fold(0, |sum, bytes| sum.saturating_add(*bytes)))?;
        self.decoder
            .read_dictionary(block, &bytes)
            .map_err(failed)?;
        Ok(None)
    }
}

impl Input {
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), String> {
        let read = self.file.read_exact_at(into, at);
        read.map_err(|error| error.to_string())
    }

    /// The place and the metadata of the message of a stream that begins here; `None` at its end.
    fn message_at(&self, start: u64) -> Result<Option<(Block, Vec<u8>)>, String> {
        if start == self.length {
            return Ok(None);
        }
        let mut length = [0; 4];
        let mut prefix = length.len();
        self.read(start, &mut length)?;
        if length == CONTINUES {
            self.read(start + prefix as u64, &mut length)?;
            prefix += length.len();
        }
        let length = u32::from_le_bytes(length);
        if length == 0 {
            return Ok(None);
        }
        let length = u64::from(length) + prefix as u64;
        if length > self.length - start {
            return Err(damaged());
        }
        check(length)?;
        let mut metadata = vec![0; usize::try_from(length).map_err(|_| damaged())?];
        self.read(start, &mut metadata)?;
        let body = message_of(&metadata)?.bodyLength();
        let offset = i64::try_from(start).map_err(|_| damaged())?;
        let length = i32::try_from(length).map_err(|_| damaged())?;
        Ok(Some((Block::new(offset, length, body), metadata)))
    }
}

fn damaged() -> String {
    "the file is damaged".to_owned()
}

fn failed(error: ArrowError) -> String {
    error.to_string()
}

fn place(number: i64) -> Result<u64, String> {
    u64::try_from(number).map_err(|_| damaged())
}

fn end_of(block: &Block) -> Option<u64> {
    let metadata = u64::try_from(block.metaDataLength()).ok()?;
    let body = u64::try_from(block.bodyLength()).ok()?;
    let start = u64::try_from(block.offset()).ok()?;
    start.checked_add(metadata)?.checked_add(body)
}

fn check(bytes: u64) -> Result<(), String> {
    match bytes > BATCH_BYTES_MAX {
        true => Err(format!(
            "a batch of {bytes} bytes, at most {BATCH_BYTES_MAX}; write smaller batches"
        )),
        false => Ok(()),
    }
}

/// The message of its metadata, which the length of the message precedes.
fn message_of(metadata: &[u8]) -> Result<arrow_ipc::Message<'_>, String> {
    let prefix = match metadata.starts_with(&CONTINUES) {
        true => 2 * CONTINUES.len(),
        false => CONTINUES.len(),
    };
    let metadata = metadata.get(prefix..).ok_or_else(damaged)?;
    root_as_message(metadata).map_err(|error| error.to_string())
}

/// The bytes that the buffers of a batch claim to have once they are unpacked.
fn decoded_bytes(batch: arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<u64, String> {
    let is_packed = batch.compression().is_some();
    let mut all: u64 = 0;
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).map_err(|_| damaged())?;
        let length = usize::try_from(buffer.length()).map_err(|_| damaged())?;
        if length == 0 {
            continue;
        }
        let rest = body.get(start..).ok_or_else(damaged)?;
        let bytes = rest.get(..length).ok_or_else(damaged)?;
        let claimed = bytes.first_chunk::<LENGTH_BYTES>().filter(|_| is_packed);
        all = all.saturating_add(match claimed.map(|it| i64::from_le_bytes(*it)) {
            None | Some(NOT_PACKED) => length as u64,
            Some(claimed) => place(claimed)?,
        });
    }
    Ok(all)
}
