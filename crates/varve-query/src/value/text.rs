//! Values as text, in the forms that Java's classes print.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::Offset;
use varve_model::value::Uuid;

use super::{DateTime, Tree, Value};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Byte(number) => number.fmt(f),
            Self::Short(number) => number.fmt(f),
            Self::Int(number) => number.fmt(f),
            Self::Long(number) => number.fmt(f),
            Self::BigInt(number) => number.fmt(f),
            Self::Float(number) => write_float(f64::from(*number), &number.to_string(), f),
            Self::Double(number) => write_float(*number, &number.to_string(), f),
            Self::BigDecimal(number) => f.write_str(&number.to_plain_string()),
            Self::Text(text) => f.write_str(text),
            Self::Bytes(bytes) => write!(f, "{bytes:?}"),
            Self::Uuid(uuid) => Uuid(*uuid).fmt(f),
            Self::DateTime(instant) => instant.fmt(f),
            Self::List(items) => bracketed(items.iter(), f),
            Self::Set(items) => bracketed(items.iter(), f),
            Self::Map(map) => {
                f.write_str("{")?;
                for (at, (key, value)) in map.iter().enumerate() {
                    if at > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{key}={value}")?;
                }
                f.write_str("}")
            }
            Self::Entry(entry) => write!(f, "{}={}", entry.0, entry.1),
            Self::Vertex(vertex) => write!(f, "v[{}]", vertex.id()),
            Self::Edge(edge, _) => write!(
                f,
                "e[{}][{}-{}->{}]",
                edge.id_value(),
                edge.id.source,
                edge.label_name,
                edge.id.target
            ),
            Self::VertexProperty(property) => {
                write!(f, "vp[{}->{}]", property.name, short(&property.value))
            }
            Self::Property(property) => {
                write!(f, "p[{}->{}]", property.name, short(&property.value))
            }
            Self::Path(path) => {
                f.write_str("path")?;
                bracketed(path.objects.iter(), f)
            }
            Self::Tree(tree) => write_tree(tree, f),
            Self::Profile(profile) => profile.fmt(f),
            Self::Graph(graph) => {
                let (vertices, edges) = (graph.vertices.len(), graph.edges.len());
                write!(f, "graph[vertices:{vertices} edges:{edges}]")
            }
            Self::Token(token) => token.fmt(f),
        }
    }
}

/// At most 20 characters of a property's value, as Java's `toString` cuts it.
fn short(value: &Value) -> String {
    value.to_string().chars().take(20).collect()
}

fn write_float(number: f64, text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if number.is_nan() {
        return f.write_str("NaN");
    }
    if number.is_infinite() {
        return f.write_str(if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        });
    }
    f.write_str(text)?;
    match text.contains(['.', 'e']) {
        true => Ok(()),
        false => f.write_str(".0"),
    }
}

fn bracketed<'a>(
    items: impl Iterator<Item = &'a Value>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    f.write_str("[")?;
    for (at, item) in items.enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    f.write_str("]")
}

fn write_tree(tree: &Tree, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("{")?;
    for (at, (key, below)) in tree.0.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{key}=")?;
        write_tree(below, f)?;
    }
    f.write_str("}")
}

impl fmt::Display for DateTime {
    /// ISO 8601 with the offset; seconds are left out when they are zero, as Java does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = Timestamp::from_microsecond(self.micros).map_err(|_| fmt::Error)?;
        let offset = Offset::from_seconds(self.offset).map_err(|_| fmt::Error)?;
        let local = offset.to_datetime(instant);
        let (date, time) = (local.date(), local.time());
        write!(f, "{date}T{:02}:{:02}", time.hour(), time.minute())?;
        let nanos = time.subsec_nanosecond();
        if time.second() != 0 || nanos != 0 {
            write!(f, ":{:02}", time.second())?;
        }
        match nanos {
            0 => {}
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}", nanos / 1_000_000)?,
            nanos => write!(f, ".{:06}", nanos / 1_000)?,
        }
        match self.offset {
            0 => f.write_str("Z"),
            offset => write!(
                f,
                "{}{:02}:{:02}",
                if offset < 0 { '-' } else { '+' },
                offset.abs() / 3600,
                offset.abs() / 60 % 60
            ),
        }
    }
}
