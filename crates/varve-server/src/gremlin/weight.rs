//! The size of a value when it is written or kept, measured before it is copied, and only up to a
//! limit.
//!
//! A part that a value contains several times counts each time, as it does when it is written.

use std::fmt::{self, Write};

use varve_gremlin::execute::{Environment, Item};
use varve_model::value::Value as Stored;
use varve_model::{Datum, Properties};
use varve_query::Value;
use varve_query::value::{StepMetrics, Tree, VertexHandle};

/// Bytes of a value without its text and members, about, in memory and in messages alike.
const VALUE_BYTES: usize = 40;
/// Bytes of an element or property beside its properties.
const ELEMENT_BYTES: usize = 256;

/// The size exceeds the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

type Measured = Result<(), TooLarge>;

/// The bytes of a value when it is written; an error if they exceed `bytes_max`.
pub(super) fn of(value: &Value, bytes_max: usize) -> Result<usize, TooLarge> {
    let mut scale = Scale { left: bytes_max };
    scale.value(value)?;
    Ok(bytes_max - scale.left)
}

/// The bytes that variables hold; an error if they exceed `bytes_max`.
pub(super) fn of_variables(environment: &Environment, bytes_max: usize) -> Result<usize, TooLarge> {
    let mut scale = Scale { left: bytes_max };
    environment.iter().try_for_each(|(name, item)| {
        scale.text(name)?;
        scale.item(item)
    })?;
    Ok(bytes_max - scale.left)
}

/// The bytes of a text when it is written.
pub(super) fn of_text(text: &str) -> usize {
    let escape = |byte| match byte {
        0..0x20 => 5,
        b'"' | b'\\' => 1,
        _ => 0,
    };
    VALUE_BYTES + text.len() + text.bytes().map(escape).sum::<usize>()
}

/// Counts down the bytes that are left.
struct Scale {
    left: usize,
}

impl Scale {
    fn take(&mut self, bytes: usize) -> Measured {
        self.left = self.left.checked_sub(bytes).ok_or(TooLarge)?;
        Ok(())
    }

    /// A text with what escapes add to it.
    fn text(&mut self, text: &str) -> Measured {
        // A text that is too long is not scanned.
        match VALUE_BYTES + text.len() > self.left {
            true => Err(TooLarge),
            false => self.take(of_text(text)),
        }
    }

    fn item(&mut self, item: &Item) -> Measured {
        self.take(VALUE_BYTES)?;
        match item {
            Item::Value(value) | Item::Element(value) => self.value(value),
            Item::Results(values) => values.iter().try_for_each(|value| self.value(value)),
            // Parts of programs: their length when printed.
            other => write!(self, "{other:?}").map_err(|_| TooLarge),
        }
    }

    fn value(&mut self, value: &Value) -> Measured {
        match value {
            Value::Text(text) => self.text(text),
            Value::Bytes(bytes) => self.take(VALUE_BYTES + bytes.len().saturating_mul(2)),
            Value::BigInt(number) => self.number(number.bits()),
            Value::BigDecimal(number) => self.number(number.digits().saturating_mul(4)),
            Value::List(items) => self.all(items.iter()),
            Value::Set(items) => self.all(items.iter()),
            Value::Map(map) => self.all(map.iter().flat_map(|(key, value)| [key, value])),
            Value::Entry(entry) => self.all([&entry.0, &entry.1].into_iter()),
            Value::Vertex(vertex) => self.vertex(vertex),
            Value::Edge(edge, _) => {
                self.take(2 * ELEMENT_BYTES + 2 * edge.label_name.len())?;
                self.properties(edge.properties())
            }
            Value::VertexProperty(property) => {
                self.take(ELEMENT_BYTES)?;
                self.value(&property.value)?;
                self.properties(property.current_meta())
            }
            Value::Property(property) => {
                self.take(ELEMENT_BYTES)?;
                self.value(&property.value)
            }
            Value::Path(path) => {
                let mut labels = path.labels.iter().flatten();
                labels.try_for_each(|label| self.text(label))?;
                self.take(path.labels.len() * VALUE_BYTES)?;
                self.all(path.objects.iter())
            }
            Value::Tree(tree) => self.tree(tree),
            Value::Graph(graph) => self.all(graph.members()),
            Value::Profile(profile) => self.steps(&profile.steps),
            _ => self.take(VALUE_BYTES),
        }
    }

    fn number(&mut self, bits: u64) -> Measured {
        // About three bits make a digit. A size beyond the address space exceeds any limit.
        self.take(VALUE_BYTES + usize::try_from(bits / 3).unwrap_or(usize::MAX / 2))
    }

    fn all<'v>(&mut self, mut values: impl Iterator<Item = &'v Value>) -> Measured {
        self.take(VALUE_BYTES)?;
        values.try_for_each(|value| self.value(value))
    }

    fn tree(&mut self, tree: &Tree) -> Measured {
        self.take(VALUE_BYTES)?;
        tree.0.iter().try_for_each(|(key, below)| {
            self.value(key)?;
            self.tree(below)
        })
    }

    fn steps(&mut self, steps: &[StepMetrics]) -> Measured {
        steps.iter().try_for_each(|step| {
            self.take(8 * VALUE_BYTES)?;
            self.text(&step.name)?;
            self.steps(&step.nested)
        })
    }

    fn vertex(&mut self, vertex: &VertexHandle) -> Measured {
        self.take(ELEMENT_BYTES)?;
        match vertex.content().flatten() {
            Some(content) => self.properties(&content.properties),
            None => Ok(()),
        }
    }

    fn properties(&mut self, properties: &Properties) -> Measured {
        properties.iter().try_for_each(|(_, value)| {
            self.take(ELEMENT_BYTES)?;
            self.stored(value)
        })
    }

    fn stored(&mut self, value: &Stored) -> Measured {
        match value {
            Stored::Text(text) => self.text(text),
            Stored::Blob(bytes) => self.take(VALUE_BYTES + bytes.len().saturating_mul(2)),
            Stored::List(items) | Stored::Set(items) => {
                self.take(VALUE_BYTES)?;
                items.iter().try_for_each(|item| self.stored(item))
            }
            Stored::Map(entries) => {
                self.take(VALUE_BYTES)?;
                entries.iter().try_for_each(|(key, value)| {
                    self.stored(key)?;
                    self.stored(value)
                })
            }
            Stored::Many(many) => many.values().iter().try_for_each(|one| {
                self.take(ELEMENT_BYTES)?;
                self.stored(&one.value)?;
                self.properties(&one.meta)
            }),
            Stored::Object(datum) => self.datum(datum),
            Stored::BigInt(number) => self.number(number.bits()),
            Stored::BigDecimal(number) => self.number(number.digits().saturating_mul(4)),
            _ => self.take(VALUE_BYTES),
        }
    }

    fn datum(&mut self, datum: &Datum) -> Measured {
        write!(self, "{datum:?}").map_err(|_| TooLarge)
    }
}

impl Write for Scale {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.take(text.len()).map_err(|TooLarge| fmt::Error)
    }
}
