//! Chunks: two bytes of length, then that many bytes. A chunk of length 0 ends a message; outside
//! a message it is a keep-alive, which has no answer.

use bytes::{Buf, BufMut, BytesMut};

use crate::error::{BoltError, Result};

/// The most bytes of one chunk.
const CHUNK_MAX: usize = u16::MAX as usize;

/// Joins the chunks of one connection to messages.
///
/// It takes bytes out of the input as they come, so the input holds at most one header between
/// calls.
#[derive(Debug)]
pub struct Decoder {
    message: BytesMut,
    /// The bytes of the current chunk that have not come yet.
    chunk_left: usize,
    in_message: bool,
    message_bytes_max: usize,
}

impl Decoder {
    /// A decoder that refuses messages of more than `message_bytes_max` bytes without headers.
    #[must_use]
    pub fn new(message_bytes_max: usize) -> Decoder {
        Decoder {
            message: BytesMut::new(),
            chunk_left: 0,
            in_message: false,
            message_bytes_max,
        }
    }

    /// Changes the limit, as after a client has authenticated.
    pub fn set_message_bytes_max(&mut self, message_bytes_max: usize) {
        self.message_bytes_max = message_bytes_max;
    }

    /// Whether a message has begun and not ended.
    #[must_use]
    pub fn in_message(&self) -> bool {
        self.in_message
    }

    /// Takes the next message out of the input; `None` if its end has not come yet. Keep-alives are
    /// skipped.
    ///
    /// # Errors
    /// [`BoltError::TooLong`], as soon as a header exceeds the limit. The connection is then of no
    /// more use.
    pub fn decode(&mut self, input: &mut BytesMut) -> Result<Option<BytesMut>> {
        loop {
            if self.chunk_left > 0 {
                self.take_chunk(input);
                if self.chunk_left > 0 {
                    return Ok(None);
                }
            }
            if input.len() < 2 {
                return Ok(None);
            }
            match usize::from(input.get_u16()) {
                0 if self.in_message => {
                    self.in_message = false;
                    return Ok(Some(std::mem::take(&mut self.message)));
                }
                0 => {}
                length if length > self.message_bytes_max.saturating_sub(self.message.len()) => {
                    let message_bytes_max = self.message_bytes_max;
                    return Err(BoltError::TooLong { message_bytes_max });
                }
                length => {
                    self.in_message = true;
                    self.chunk_left = length;
                }
            }
        }
    }

    /// Moves what has come of the current chunk to the message.
    fn take_chunk(&mut self, input: &mut BytesMut) {
        let part = input.split_to(input.len().min(self.chunk_left));
        self.chunk_left -= part.len();
        if self.message.is_empty() {
            // Most messages are one chunk that came at once: nothing is copied.
            self.message = part;
        } else {
            self.message.extend_from_slice(&part);
        }
    }
}

/// Appends the message that `write` writes, in chunks. A message of one chunk is not copied.
///
/// # Errors
/// Those of `write`; the output is then as it was.
pub fn frame<E>(
    output: &mut BytesMut,
    write: impl FnOnce(&mut BytesMut) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    let start = output.len();
    output.put_u16(0);
    if let Err(error) = write(output) {
        output.truncate(start);
        return Err(error);
    }
    match u16::try_from(output.len() - start - 2) {
        Ok(length) => {
            output[start..start + 2].copy_from_slice(&length.to_be_bytes());
            output.put_u16(0);
        }
        Err(_) => {
            let message = output.split_off(start + 2);
            output.truncate(start);
            write_message(&message, output);
        }
    }
    Ok(())
}

/// Appends a message in chunks.
pub fn write_message(message: &[u8], output: &mut BytesMut) {
    let chunks = message.len().div_ceil(CHUNK_MAX);
    output.reserve(message.len() + 2 * chunks + 2);
    for chunk in message.chunks(CHUNK_MAX) {
        // The chunk has at most CHUNK_MAX bytes.
        output.put_u16(chunk.len() as u16);
        output.put_slice(chunk);
    }
    output.put_u16(0);
}

/// Appends a keep-alive.
pub fn write_keep_alive(output: &mut BytesMut) {
    output.put_u16(0);
}
