//! Values of a property, each different one once.

use std::collections::HashMap;

use varve_model::Value;
use varve_model::many::values_of;

use crate::{Meter, ViewError};

/// Bytes of a value besides its content: its entry and its number.
const ENTRY_BYTES: usize = 2 * (size_of::<Box<[u8]>>() + size_of::<Value>() + size_of::<u32>());

/// The different values of one property, numbered from 0 in the order in which they were met: a
/// dictionary, as column stores have it. Belongs to one property of one view.
///
/// Only the view knows what the bytes are by which it distinguishes values. Values of equal bytes
/// are equal; equal values may have different bytes, and so two numbers.
#[derive(Debug, Default)]
pub struct Dictionary {
    numbers: HashMap<Box<[u8]>, u32, foldhash::fast::RandomState>,
    values: Vec<Value>,
    bytes: usize,
}

impl Dictionary {
    /// The number of the value with these bytes, which `value` makes of them if it is new.
    ///
    /// # Errors
    /// Over the meter's bytes, and those of `value`.
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

    /// [`Dictionary::number`] of a value that has no bytes yet; of several, of the first.
    ///
    /// # Errors
    /// Over the meter's bytes.
    pub fn number_of(&mut self, value: &Value, meter: &Meter) -> Result<u32, ViewError> {
        let first = values_of(Some(value)).next();
        let value = first.map_or(value, |first| first.value);
        // No encoded value begins so, and each type has a name of its own.
        let encoded = format!("\u{ff}{value:?}");
        self.number(encoded.as_bytes(), meter, || Ok(value.clone()))
    }

    /// The values, by number.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The bytes that it holds of a meter.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.bytes
    }
}
