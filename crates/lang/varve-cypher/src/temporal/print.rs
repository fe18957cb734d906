//! Temporal values as text.

use std::fmt::{self, Display, Formatter};

use super::{Date, DateTime, Duration, LocalDateTime, LocalTime, NANOS_PER_SECOND, Time};

impl Display for Date {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.fields();
        match year {
            10_000.. => write!(out, "+{year}")?,
            0..=9_999 => write!(out, "{year:04}")?,
            _ => write!(out, "-{:04}", -year)?,
        }
        write!(out, "-{month:02}-{day:02}")
    }
}

impl Display for LocalTime {
    /// Seconds are left out if they are zero. Fractions have three, six or nine digits.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (hour, minute, second, nano) = self.fields();
        write!(out, "{hour:02}:{minute:02}")?;
        if second != 0 || nano != 0 {
            write!(out, ":{second:02}")?;
        }
        match nano {
            0 => Ok(()),
            _ if nano % 1_000_000 == 0 => write!(out, ".{:03}", nano / 1_000_000),
            _ if nano % 1_000 == 0 => write!(out, ".{:06}", nano / 1_000),
            _ => write!(out, ".{nano:09}"),
        }
    }
}

/// A time of day with its seconds, and with as many digits of a fraction as it has.
pub(crate) struct ClockText(pub(crate) LocalTime);

impl Display for ClockText {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (hour, minute, second, nano) = self.0.fields();
        write!(out, "{hour:02}:{minute:02}:{second:02}")?;
        if nano == 0 {
            return Ok(());
        }
        let digits = format!("{nano:09}");
        write!(out, ".{}", digits.trim_end_matches('0'))
    }
}

/// An offset as text, such as `Z` or `+01:00`.
pub(crate) struct OffsetText(pub(crate) i32);

impl Display for OffsetText {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return out.write_str("Z");
        }
        let sign = if self.0 < 0 { '-' } else { '+' };
        let total = self.0.abs();
        let (hour, minute, second) = (total / 3_600, total / 60 % 60, total % 60);
        write!(out, "{sign}{hour:02}:{minute:02}")?;
        match second {
            0 => Ok(()),
            _ => write!(out, ":{second:02}"),
        }
    }
}

impl Display for Time {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let time = LocalTime { nanos: self.nanos };
        write!(out, "{time}{}", OffsetText(self.offset))
    }
}

impl Display for LocalDateTime {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}T{}", self.date(), self.time())
    }
}

impl Display for DateTime {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.local, OffsetText(self.offset))?;
        match &self.zone {
            Some(zone) => write!(out, "[{zone}]"),
            None => Ok(()),
        }
    }
}

impl Display for Duration {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let nanos = self.total_nanos();
        if (self.months, self.days, nanos) == (0, 0, 0) {
            return out.write_str("PT0S");
        }
        out.write_str("P")?;
        let units = [
            (self.months / 12, 'Y'),
            (self.months % 12, 'M'),
            (self.days, 'D'),
        ];
        for (number, unit) in units.into_iter().filter(|unit| unit.0 != 0) {
            write!(out, "{number}{unit}")?;
        }
        if nanos == 0 {
            return Ok(());
        }
        out.write_str("T")?;
        let second = i128::from(NANOS_PER_SECOND);
        let seconds = nanos / second;
        for (number, unit) in [(seconds / 3_600, 'H'), (seconds / 60 % 60, 'M')] {
            if number != 0 {
                write!(out, "{number}{unit}")?;
            }
        }
        let (rest, part) = (seconds % 60, nanos % second);
        if (rest, part) == (0, 0) {
            return Ok(());
        }
        let sign = if rest < 0 || part < 0 { "-" } else { "" };
        write!(out, "{sign}{}", rest.abs())?;
        if part != 0 {
            let digits = format!("{:09}", part.abs());
            write!(out, ".{}", digits.trim_end_matches('0'))?;
        }
        out.write_str("S")
    }
}
