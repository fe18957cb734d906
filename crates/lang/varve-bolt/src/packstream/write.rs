//! Writes values, each in its shortest form.

use bytes::{BufMut, BytesMut};

use super::{Map, Value, marker};
use crate::error::{BoltError, Result};

/// The most bytes of a text or values of a list.
const LENGTH_MAX: usize = i32::MAX as usize;

/// Appends values to a message. Rows can be written without a [`Value`]: first the number of
/// values with [`list`](Writer::list), then each of them.
#[derive(Debug)]
pub struct Writer<'b> {
    output: &'b mut BytesMut,
}

impl<'b> Writer<'b> {
    /// A writer that appends to the output.
    pub fn new(output: &'b mut BytesMut) -> Writer<'b> {
        Writer { output }
    }

    /// Writes null.
    pub fn null(&mut self) {
        self.output.put_u8(marker::NULL);
    }

    /// Writes true or false.
    pub fn bool(&mut self, value: bool) {
        self.output
            .put_u8(if value { marker::TRUE } else { marker::FALSE });
    }

    /// Writes an integer in one, two, three, five or nine bytes.
    pub fn int(&mut self, value: i64) {
        if let Ok(value @ -16..) = i8::try_from(value) {
            self.output.put_i8(value);
        } else if let Ok(value) = i8::try_from(value) {
            self.output.put_u8(marker::INT_8);
            self.output.put_i8(value);
        } else if let Ok(value) = i16::try_from(value) {
            self.output.put_u8(marker::INT_16);
            self.output.put_i16(value);
        } else if let Ok(value) = i32::try_from(value) {
            self.output.put_u8(marker::INT_32);
            self.output.put_i32(value);
        } else {
            self.output.put_u8(marker::INT_64);
            self.output.put_i64(value);
        }
    }

    /// Writes a double.
    pub fn float(&mut self, value: f64) {
        self.output.put_u8(marker::FLOAT);
        self.output.put_f64(value);
    }

    /// Writes raw bytes.
    ///
    /// # Errors
    /// For 2³¹ bytes or more.
    pub fn bytes(&mut self, value: &[u8]) -> Result<()> {
        self.length(value.len(), marker::BYTES_8)?;
        self.output.put_slice(value);
        Ok(())
    }

    /// Writes a text.
    ///
    /// # Errors
    /// For 2³¹ bytes or more.
    pub fn string(&mut self, value: &str) -> Result<()> {
        self.size(value.len(), marker::STRING_TINY, marker::STRING_8)?;
        self.output.put_slice(value.as_bytes());
        Ok(())
    }

    /// Begins a list. The caller writes `count` values next.
    ///
    /// # Errors
    /// For 2³¹ values or more.
    pub fn list(&mut self, count: usize) -> Result<()> {
        self.size(count, marker::LIST_TINY, marker::LIST_8)
    }

    /// Begins a map. The caller writes `count` pairs of a text and a value next.
    ///
    /// # Errors
    /// For 2³¹ entries or more.
    pub fn map(&mut self, count: usize) -> Result<()> {
        self.size(count, marker::MAP_TINY, marker::MAP_8)
    }

    /// Begins a structure. The caller writes `count` fields next.
    ///
    /// # Errors
    /// For more than 15 fields.
    pub fn structure(&mut self, tag: u8, count: usize) -> Result<()> {
        if count > 15 {
            return Err(BoltError::Unwritable("a Structure of more than 15 fields"));
        }
        self.output.put_u8(marker::STRUCTURE_TINY | count as u8);
        self.output.put_u8(tag);
        Ok(())
    }

    /// Writes the entries of a map.
    ///
    /// # Errors
    /// As those of the values.
    pub fn entries(&mut self, entries: &Map) -> Result<()> {
        self.map(entries.len())?;
        entries.iter().try_for_each(|(key, value)| {
            self.string(key)?;
            self.value(value)
        })
    }

    /// Writes a value.
    ///
    /// # Errors
    /// If it has a structure of more than 15 fields, or a text, list or map of 2³¹ or more.
    pub fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.null(),
            Value::Bool(value) => self.bool(*value),
            Value::Int(value) => self.int(*value),
            Value::Float(value) => self.float(*value),
            Value::Bytes(value) => self.bytes(value)?,
            Value::String(value) => self.string(value)?,
            Value::List(values) => {
                self.list(values.len())?;
                self.values(values)?;
            }
            Value::Map(entries) => self.entries(entries)?,
            Value::Structure { tag, fields } => {
                self.structure(*tag, fields.len())?;
                self.values(fields)?;
            }
        }
        Ok(())
    }

    fn values(&mut self, values: &[Value]) -> Result<()> {
        values.iter().try_for_each(|value| self.value(value))
    }

    fn size(&mut self, length: usize, tiny: u8, first: u8) -> Result<()> {
        if length < 16 {
            self.output.put_u8(tiny | length as u8);
            return Ok(());
        }
        self.length(length, first)
    }

    /// Writes a length after the marker of its width; `first` is the marker for one byte.
    fn length(&mut self, length: usize, first: u8) -> Result<()> {
        if let Ok(length) = u8::try_from(length) {
            self.output.put_u8(first);
            self.output.put_u8(length);
        } else if let Ok(length) = u16::try_from(length) {
            self.output.put_u8(first + 1);
            self.output.put_u16(length);
        } else if length <= LENGTH_MAX {
            self.output.put_u8(first + 2);
            self.output.put_u32(length as u32);
        } else {
            return Err(BoltError::Unwritable("a length of 2^31 or more"));
        }
        Ok(())
    }
}
