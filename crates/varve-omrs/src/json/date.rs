//! The contract's dates: milliseconds since 1970.

use super::{Decode, Encode, JsonError, Reader, Writer};

/// Milliseconds since 1970-01-01T00:00:00Z; negative before. Encoded as a number, decoded from a
/// number or an ISO-8601 string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// Parses an ISO-8601 date, or date and time. Without a time zone it is in UTC.
    ///
    /// ```
    /// use varve_omrs::json::Millis;
    /// assert_eq!(Millis::from_text("2023-11-14T22:13:20.500+00:00"), Some(Millis(1_700_000_000_500)));
    /// assert_eq!(Millis::from_text("1970-01-02"), Some(Millis(86_400_000)));
    /// ```
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Some(Self(timestamp.as_millisecond()));
        }
        let civil: jiff::civil::DateTime = text.parse().ok()?;
        let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
        Some(Self(zoned.timestamp().as_millisecond()))
    }
}

impl Decode for Millis {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        if !reader.at_string()? {
            return reader.integer().map(Self);
        }
        let text = reader.string()?;
        Self::from_text(&text).ok_or_else(|| {
            reader.error("a date in milliseconds since 1970 or as ISO-8601 was expected")
        })
    }
}

impl Encode for Millis {
    fn encode(&self, writer: &mut Writer) {
        writer.integer(self.0);
    }
}
