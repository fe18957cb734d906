//! The distinct values of a property, each with a number.

use std::collections::HashMap;

use varve_model::Value;
use varve_model::many::values_of;

use crate::{Meter, ViewError};

/// Bytes of a value beside its content: its entry and its number.
const ENTRY_BYTES: usize = 2 * (size_of::<Box<[u8]>>() + size_of::<Value>() + size_of::<u32>());

/// The distinct values of one property, numbered from 0 in the order in which they were added: a
/// dictionary, as in column stores. It belongs to one property of one view.
///
/// Values are distinguished by bytes whose meaning only the view knows. Equal bytes mean equal
/// values. Equal values may have different bytes, and then they have two numbers.
#[derive(Debug, Default)]
pub struct Dictionary {
    numbers: HashMap<Box<[u8]>, u32, foldhash::fast::RandomState>,
    values: Vec<Value>,
    bytes: usize,
}

impl Dictionary {
    /// Returns the number of the value with these bytes. `value` decodes a new one.
    ///
    /// # Errors
    /// When the meter's limit of bytes is exceeded, and errors of `value`.
    pub fn number(
        &mut self,
        encoded: &[u8],
        meter: &Meter,
        value: impl FnOnce() -> Result<Value, ViewError>,
    ) -> Result<u32, ViewError> {
        if let Some(number) = self.numbers.get(encoded) {
            return Ok(*number);
        }
        let bytes = ENTRY_BYTES + 2 * encoded.len();
        meter.hold(bytes)?;
        self.bytes += bytes;
        let number = u32::try_from(self.values.len()).map_err(|_| ViewError::Memory {
            max: u64::from(u32::MAX),
        })?;
        self.values.push(value()?);
        self.numbers.insert(encoded.into(), number);
        Ok(number)
    }

    /// As [`Dictionary::number`], for a value that is not encoded. Of several values, the first is
    /// used.
    ///
    /// # Errors
    /// When the meter's limit of bytes is exceeded.
    pub fn number_of(&mut self, value: &Value, meter: &Meter) -> Result<u32, ViewError> {
        let first = values_of(Some(value)).next();
        let value = first.map_or(value, |first| first.value);
        // No encoded value begins with this prefix, and the debug text names the value's type.
        let encoded = format!("\u{ff}{value:?}");
        self.number(encoded.as_bytes(), meter, || Ok(value.clone()))
    }

    /// The values, by number.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The bytes that the dictionary has charged to the meter.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}
