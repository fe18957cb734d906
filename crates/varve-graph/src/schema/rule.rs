//! Rules of definitions: which properties each element has, and of which types.

use std::fmt;

use varve_model::value::TAG;
use varve_model::{Datum, Element, Value, many};

use super::definition::{Definition, DefinitionKind};
use super::snapshot::Schema;

/// A type of values that have no parts, by Cypher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum ScalarType {
    Boolean,
    String,
    Integer,
    Float,
    Date,
    LocalTime,
    ZonedTime,
    LocalDateTime,
    ZonedDateTime,
    Duration,
    Point,
}

/// A type of values that a rule allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PropertyType {
    /// One value.
    One(ScalarType),
    /// A list of values of any of these types.
    ListOf(Vec<ScalarType>),
}

impl ScalarType {
    const ALL: [Self; 11] = [
        Self::Boolean,
        Self::String,
        Self::Integer,
        Self::Float,
        Self::Date,
        Self::LocalTime,
        Self::ZonedTime,
        Self::LocalDateTime,
        Self::ZonedDateTime,
        Self::Duration,
        Self::Point,
    ];

    /// Its name in Cypher.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::String => "STRING",
            Self::Integer => "INTEGER",
            Self::Float => "FLOAT",
            Self::Date => "DATE",
            Self::LocalTime => "LOCAL TIME",
            Self::ZonedTime => "ZONED TIME",
            Self::LocalDateTime => "LOCAL DATETIME",
            Self::ZonedDateTime => "ZONED DATETIME",
            Self::Duration => "DURATION",
            Self::Point => "POINT",
        }
    }

    /// The type of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// The type of a stored value, as Cypher reads it; `None` for values of other types.
    fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Boolean(_) => Self::Boolean,
            Value::Byte(_) | Value::Short(_) | Value::Int(_) | Value::Long(_) => Self::Integer,
            Value::Float(_) | Value::Double(_) | Value::BigDecimal(_) => Self::Float,
            Value::Text(_) | Value::Char(_) | Value::Uuid(_) => Self::String,
            Value::Date(_) => Self::LocalDateTime,
            Value::DateTime(_) => Self::ZonedDateTime,
            Value::Duration(_) => Self::Duration,
            Value::BigInt(number) => match number.to_string().parse::<i64>() {
                Ok(_) => Self::Integer,
                Err(_) => Self::String,
            },
            Value::Object(datum) => return Self::of_datum(datum),
            Value::Map(entries) => match &entries[..] {
                [(Value::Text(key), Value::Text(_))] => {
                    return Self::from_name(key.strip_prefix(TAG)?);
                }
                _ => return None,
            },
            Value::Blob(_) | Value::List(_) | Value::Set(_) | Value::Many(_) => return None,
        })
    }

    fn of_datum(datum: &Datum) -> Option<Self> {
        Some(match datum {
            Datum::Bool(_) => Self::Boolean,
            Datum::Int(_) => Self::Integer,
            Datum::Float(_) => Self::Float,
            Datum::Text(_) => Self::String,
            Datum::Null | Datum::List(_) | Datum::Map(_) => return None,
        })
    }
}

impl PropertyType {
    /// The type of that name, as it is printed.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let Some(items) = name.strip_prefix("LIST<") else {
            return ScalarType::from_name(name).map(Self::One);
        };
        let items = items.strip_suffix('>')?.split(" | ");
        let item = |item: &str| ScalarType::from_name(item.strip_suffix(" NOT NULL")?);
        items.map(item).collect::<Option<_>>().map(Self::ListOf)
    }

    fn has(&self, value: &Value) -> bool {
        match self {
            Self::One(scalar) => ScalarType::of(value) == Some(*scalar),
            Self::ListOf(scalars) => {
                let fits = |item| ScalarType::of(item).is_some_and(|one| scalars.contains(&one));
                match value {
                    Value::List(items) | Value::Set(items) => items.iter().all(fits),
                    Value::Many(many) => many.values().iter().all(|one| fits(&one.value)),
                    // As REST stores a list under a key with values of several types.
                    Value::Object(datum) => match &**datum {
                        Datum::List(items) => {
                            let mut types = items.iter().map(ScalarType::of_datum);
                            types.all(|one| one.is_some_and(|one| scalars.contains(&one)))
                        }
                        _ => false,
                    },
                    _ => false,
                }
            }
        }
    }
}

impl fmt::Display for PropertyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(scalar) => f.write_str(scalar.name()),
            Self::ListOf(scalars) => {
                let items = scalars.iter();
                let items: Vec<_> = items
                    .map(|one| format!("{} NOT NULL", one.name()))
                    .collect();
                write!(f, "LIST<{}>", items.join(" | "))
            }
        }
    }
}

/// The types of a rule as Cypher writes them.
#[must_use]
pub fn types_text(types: &[PropertyType]) -> String {
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    types.join(" | ")
}

impl Definition {
    /// How a state of an element breaks the rule, if it does.
    pub(crate) fn broken_by(&self, schema: &Schema, element: &Element) -> Option<String> {
        let value = |key: &String| {
            let key = schema.property_key_by_name(key)?;
            element.properties().get(key.id)
        };
        let keys = &self.of.keys;
        let requires = match self.of.kind {
            DefinitionKind::Key | DefinitionKind::Exists => {
                let missing = keys.iter().find(|key| value(key).is_none())?;
                format!("the property `{missing}`")
            }
            DefinitionKind::Type => {
                let fits = |key: &&String| value(key).is_none_or(|value| self.allows(value));
                let wrong = keys.iter().find(|key| !fits(key))?;
                let types = types_text(&self.of.types);
                format!("the property `{wrong}` with the type `{types}`")
            }
            _ => return None,
        };
        let of = match element {
            Element::Vertex(vertex) => format!("v[{}] with label", vertex.id),
            Element::Edge(edge) => format!("e[{}] with type", edge.id),
        };
        let Self { of: own, .. } = self;
        Some(format!(
            "Constraint {}: {of} `{}` must have {requires}",
            own.name, own.label
        ))
    }

    fn allows(&self, value: &Value) -> bool {
        let only = match value {
            Value::Many(of) if of.values().len() == 1 => {
                let mut values = many::values_of(Some(value));
                values.next().map(|one| one.value)
            }
            _ => None,
        };
        let value = only.unwrap_or(value);
        self.of.types.iter().any(|one| one.has(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_they_are_printed() {
        let all = ScalarType::ALL;
        let types = all.map(PropertyType::One);
        let lists = [all.to_vec(), vec![ScalarType::Integer]].map(PropertyType::ListOf);
        for one in types.into_iter().chain(lists) {
            assert_eq!(PropertyType::from_name(&one.to_string()), Some(one));
        }
        for wrong in ["ANY", "LIST<INTEGER>", "LIST<>", "INTEGER | FLOAT"] {
            assert_eq!(PropertyType::from_name(wrong), None);
        }
    }
}
