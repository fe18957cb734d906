//! Values as text, in the forms that Java's classes print.
//!
//! A value may share its parts, so that its text is far longer than the value is large. Therefore
//! nothing writes a whole value: [`TextBuilder`] writes up to a bound, and [`Value::shown`] the
//! beginning.

use std::fmt::{self, Write};

use compact_str::CompactString;
use varve_model::value::{Uuid, duration_text};

use super::{Tree, Value};
use crate::QueryError;

/// The longest text that a query makes, in bytes.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// The most characters of a value in a message.
const SHOWN_CHARS: usize = 200;
/// The most characters of a property's value in the text of the property, as in Java.
const PROPERTY_CHARS: usize = 20;

/// A text under construction, of at most [`TEXT_BYTES_MAX`] bytes.
#[derive(Debug, Default)]
pub struct TextBuilder(CompactString);

impl TextBuilder {
    /// Appends a text.
    ///
    /// # Errors
    /// If the text becomes longer than [`TEXT_BYTES_MAX`].
    pub fn push(&mut self, text: &str) -> Result<(), QueryError> {
        self.write_str(text).map_err(|_| too_long())
    }

    /// Appends the text of a value.
    ///
    /// # Errors
    /// As [`TextBuilder::push`].
    pub fn push_value(&mut self, value: &Value) -> Result<(), QueryError> {
        write_value(value, self).map_err(|_| too_long())
    }

    /// The whole text.
    #[must_use]
    pub fn finish(self) -> CompactString {
        self.0
    }
}

impl Write for TextBuilder {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > TEXT_BYTES_MAX {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The error of a text that would be longer than [`TEXT_BYTES_MAX`].
#[must_use]
pub fn too_long() -> QueryError {
    QueryError::Limit(format!(
        "A text that a query makes may have {TEXT_BYTES_MAX} bytes"
    ))
}

/// The beginning of a value as text, for messages.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'v>(&'v Value);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_beginning(self.0, SHOWN_CHARS, f)
    }
}

impl Value {
    /// The beginning of the value as text: at most 200 characters.
    #[must_use]
    pub const fn shown(&self) -> Shown<'_> {
        Shown(self)
    }

    /// The value as text.
    ///
    /// # Errors
    /// If the text is longer than [`TEXT_BYTES_MAX`].
    pub fn to_text(&self) -> Result<CompactString, QueryError> {
        if let Self::Text(text) = self {
            return Ok(text.clone());
        }
        let mut text = TextBuilder::default();
        text.push_value(self)?;
        Ok(text.finish())
    }
}

/// Passes on a number of characters, then fails, so that the writer of a value stops.
struct Beginning<'w> {
    left: usize,
    out: &'w mut dyn Write,
}

impl Write for Beginning<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match text.char_indices().nth(self.left) {
            None => {
                self.left -= text.chars().count();
                self.out.write_str(text)
            }
            Some((end, _)) => {
                self.left = 0;
                self.out.write_str(&text[..end])?;
                Err(fmt::Error)
            }
        }
    }
}

fn write_beginning(value: &Value, chars: usize, out: &mut dyn Write) -> fmt::Result {
    let mut beginning = Beginning { left: chars, out };
    // An error means that the text was cut.
    let _ = write_value(value, &mut beginning);
    Ok(())
}

fn write_value(value: &Value, out: &mut dyn Write) -> fmt::Result {
    match value {
        Value::Null => out.write_str("null"),
        Value::Bool(value) => write!(out, "{value}"),
        Value::Byte(number) => write!(out, "{number}"),
        Value::Short(number) => write!(out, "{number}"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Long(number) => write!(out, "{number}"),
        Value::BigInt(number) => write!(out, "{number}"),
        Value::Float(number) => write_float(f64::from(*number), &format!("{number:e}"), out),
        Value::Double(number) => write_float(*number, &format!("{number:e}"), out),
        Value::BigDecimal(number) => write!(out, "{number}"),
        Value::Text(text) => out.write_str(text),
        Value::Bytes(bytes) => {
            out.write_str("[")?;
            for (at, byte) in bytes.iter().enumerate() {
                let between = if at > 0 { ", " } else { "" };
                write!(out, "{between}{byte}")?;
            }
            out.write_str("]")
        }
        Value::Uuid(uuid) => write!(out, "{}", Uuid(*uuid)),
        Value::DateTime(instant) => write!(out, "{instant}"),
        Value::Duration(span) => out.write_str(&duration_text(*span)),
        Value::List(items) => bracketed(items.iter(), out),
        Value::Set(items) => bracketed(items.iter(), out),
        Value::Map(map) => {
            out.write_str("{")?;
            for (at, (key, value)) in map.iter().enumerate() {
                if at > 0 {
                    out.write_str(", ")?;
                }
                write_entry(key, value, out)?;
            }
            out.write_str("}")
        }
        Value::Entry(entry) => write_entry(&entry.0, &entry.1, out),
        Value::Vertex(vertex) => write!(out, "v[{}]", vertex.id()),
        Value::Edge(edge, _) => {
            out.write_str("e[")?;
            write_value(&edge.id_value(), out)?;
            let (source, target) = (&edge.id.source, &edge.id.target);
            write!(out, "][{source}-{}->{target}]", edge.label_name)
        }
        Value::VertexProperty(property) => {
            write_property("vp", &property.name, &property.value, out)
        }
        Value::Property(property) => write_property("p", &property.name, &property.value, out),
        Value::Path(path) => {
            out.write_str("path")?;
            bracketed(path.objects.iter(), out)
        }
        Value::Tree(tree) => write_tree(tree, out),
        Value::Profile(profile) => write!(out, "{profile}"),
        Value::Graph(graph) => {
            let (vertices, edges) = (graph.vertices.len(), graph.edges.len());
            write!(out, "graph[vertices:{vertices} edges:{edges}]")
        }
        Value::Token(token) => write!(out, "{token}"),
    }
}

fn write_entry(key: &Value, value: &Value, out: &mut dyn Write) -> fmt::Result {
    write_value(key, out)?;
    out.write_str("=")?;
    write_value(value, out)
}

fn write_property(kind: &str, name: &str, value: &Value, out: &mut dyn Write) -> fmt::Result {
    write!(out, "{kind}[{name}->")?;
    write_beginning(value, PROPERTY_CHARS, out)?;
    out.write_str("]")
}

/// Writes a number as Java's `Double.toString` does, from its shortest digits in scientific form.
/// Numbers from 0.001 to below ten million have no exponent.
fn write_float(number: f64, scientific: &str, out: &mut dyn Write) -> fmt::Result {
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
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().map_err(|_| fmt::Error)?;
    if !(-3..7).contains(&exponent) {
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return write!(out, "{mantissa}{point}E{exponent}");
    }
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let digits = mantissa.replace('.', "");
    out.write_str(sign)?;
    match usize::try_from(exponent) {
        Err(_) => {
            let zeros = exponent.unsigned_abs() as usize - 1;
            write!(out, "0.{:0<zeros$}{digits}", "")
        }
        Ok(exponent) if digits.len() > exponent + 1 => {
            let (whole, fraction) = digits.split_at(exponent + 1);
            write!(out, "{whole}.{fraction}")
        }
        Ok(exponent) => {
            let width = exponent + 1;
            write!(out, "{digits:0<width$}.0")
        }
    }
}

fn bracketed<'a>(items: impl Iterator<Item = &'a Value>, out: &mut dyn Write) -> fmt::Result {
    out.write_str("[")?;
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write_value(item, out)?;
    }
    out.write_str("]")
}

fn write_tree(tree: &Tree, out: &mut dyn Write) -> fmt::Result {
    out.write_str("{")?;
    for (at, (key, below)) in tree.0.iter().enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write_value(key, out)?;
        out.write_str("=")?;
        write_tree(below, out)?;
    }
    out.write_str("}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::DateTime;
    use super::*;

    fn text(value: &Value) -> String {
        value.to_text().expect("short").to_string()
    }

    /// A list of two lists of two lists ... of one text: 2^`depth` references to it.
    fn shared(depth: u32) -> Value {
        let leaf = Value::text(&"a".repeat(1_000));
        (0..depth).fold(leaf, |below, _| Value::list(vec![below.clone(), below]))
    }

    #[test]
    fn a_value_of_shared_parts_is_written_up_to_a_bound() {
        let large = shared(40);
        assert!(matches!(large.to_text(), Err(QueryError::Limit(_))));
        assert_eq!(large.shown().to_string().chars().count(), SHOWN_CHARS);
        let mut text = TextBuilder::default();
        text.push("x").expect("short");
        assert!(text.push_value(&large).is_err());
        assert!(text.finish().len() <= TEXT_BYTES_MAX);
        let entry = Value::Entry(Arc::new((large.clone(), large)));
        assert!(entry.shown().to_string().len() <= SHOWN_CHARS);
        assert_eq!(Value::text("ä").shown().to_string(), "ä");
    }

    #[test]
    fn floats_are_written_as_java_does() {
        for (number, written) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-12.5, "-12.5"),
            (0.001, "0.001"),
            (0.000_999, "9.99E-4"),
            (1e-7, "1.0E-7"),
            (123_456.0, "123456.0"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.25e20, "1.25E20"),
            (0.1, "0.1"),
            (100.0, "100.0"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::MAX, "1.7976931348623157E308"),
        ] {
            assert_eq!(text(&Value::Double(number)), written);
        }
        assert_eq!(text(&Value::Float(0.1)), "0.1");
        assert_eq!(text(&Value::Float(1e10)), "1.0E10");
    }

    #[test]
    fn dates_beyond_the_year_9999_are_written_as_java_does() {
        let at = |millis| text(&Value::DateTime(DateTime::of_millis(millis)));
        assert_eq!(at(253_402_300_800_000), "+10000-01-01T00:00Z");
        assert_eq!(at(i64::MAX), "+292278994-08-17T07:12:55.807Z");
        assert_eq!(at(i64::MIN), "-292275055-05-16T16:47:04.192Z");
    }
}
