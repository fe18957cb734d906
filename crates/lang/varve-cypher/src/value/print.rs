//! Values as text.

use std::fmt::{self, Display, Formatter};

use super::{Point, Value};
use crate::temporal::{ClockText, LocalTime, OffsetText};

/// A float as text: always with a point or an exponent, so that it reads as a float.
struct FloatText(f64);

impl Display for FloatText {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let number = self.0;
        if number.is_nan() {
            return out.write_str("NaN");
        }
        if number.is_infinite() {
            return out.write_str(if number > 0.0 {
                "Infinity"
            } else {
                "-Infinity"
            });
        }
        let size = number.abs();
        if number == 0.0 || (1e-3..1e7).contains(&size) {
            // Debug writes the shortest digits, with at least one after the point.
            return write!(out, "{number:?}");
        }
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let point = if digits.contains('.') { "" } else { ".0" };
        write!(out, "{digits}{point}E{exponent}")
    }
}

impl Display for Value {
    /// The text of `toString`; of lists and maps, a literal in which strings have quotes. Elements
    /// are written as their type.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Boolean(truth) => write!(out, "{truth}"),
            Value::Integer(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{}", FloatText(*number)),
            Value::String(text) => out.write_str(text),
            Value::List(items) => {
                out.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    out.write_str(if at == 0 { "" } else { ", " })?;
                    literal(item, out)?;
                }
                out.write_str("]")
            }
            Value::Map(map) => {
                out.write_str("{")?;
                for (at, (key, item)) in map.iter().enumerate() {
                    write!(out, "{}{key}: ", if at == 0 { "" } else { ", " })?;
                    literal(item, out)?;
                }
                out.write_str("}")
            }
            Value::Date(date) => date.fmt(out),
            Value::LocalTime(time) => time.fmt(out),
            Value::Time(time) => time.fmt(out),
            Value::LocalDateTime(at) => at.fmt(out),
            Value::DateTime(at) => at.fmt(out),
            Value::Duration(duration) => duration.fmt(out),
            Value::Point(point) => point.fmt(out),
            other => out.write_str(other.type_name()),
        }
    }
}

fn literal(value: &Value, out: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Value::String(text) => {
            let text = text.replace('\\', "\\\\").replace('\'', "\\'");
            write!(out, "'{text}'")
        }
        other => other.fmt(out),
    }
}

impl Display for Point {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (x, y) = (FloatText(self.x), FloatText(self.y));
        write!(out, "point({{srid: {}, x: {x}, y: {y}", self.srid)?;
        if let Some(z) = self.z {
            write!(out, ", z: {}", FloatText(z))?;
        }
        out.write_str("})")
    }
}

/// The text of `toString` and of `+` with a string: as Neo4j writes it. Times have their seconds,
/// and points the name of their system.
pub(crate) struct Plain<'v>(pub(crate) &'v Value);

impl Display for Plain<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::LocalTime(time) => ClockText(*time).fmt(out),
            Value::Time(time) => {
                let clock = LocalTime { nanos: time.nanos };
                write!(out, "{}{}", ClockText(clock), OffsetText(time.offset))
            }
            Value::LocalDateTime(at) => write!(out, "{}T{}", at.date(), ClockText(at.time())),
            Value::DateTime(at) => {
                let (date, clock) = (at.local.date(), ClockText(at.local.time()));
                write!(out, "{date}T{clock}{}", OffsetText(at.offset))?;
                match &at.zone {
                    Some(zone) => write!(out, "[{zone}]"),
                    None => Ok(()),
                }
            }
            Value::Point(point) => {
                let (x, y) = (FloatText(point.x), FloatText(point.y));
                write!(out, "point({{x: {x}, y: {y}")?;
                if let Some(z) = point.z {
                    write!(out, ", z: {}", FloatText(z))?;
                }
                write!(out, ", crs: '{}'}})", point.crs())
            }
            other => other.fmt(out),
        }
    }
}
