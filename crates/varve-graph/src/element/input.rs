//! Input from clients before any rule is applied: names, ids and property values as sent.
//!
//! Texts are borrowed from the request where possible. Nothing here depends on JSON.

use std::borrow::Cow;

use varve_model::value::{Uuid, duration_text};
use varve_model::{Datum, Value};

use super::text;

/// A property value as sent, before it is converted to its property key's data type.
#[derive(Debug, Clone, PartialEq)]
pub enum RawValue<'a> {
    /// No value.
    Null,
    /// A truth value.
    Boolean(bool),
    /// A whole number that fits 64 bits with a sign.
    Integer(i64),
    /// A greater whole number.
    Unsigned(u64),
    /// A number with a fraction or an exponent.
    Double(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// A value of a type that JSON does not have.
    Typed {
        /// Its type.
        class: JavaClass,
        /// The value as text.
        text: Cow<'a, str>,
    },
    /// A list.
    List(Vec<RawValue<'a>>),
    /// A map from names to values.
    Map(Vec<(Cow<'a, str>, RawValue<'a>)>),
}

/// A Java class of values that JSON does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JavaClass {
    /// A whole number of any size.
    BigInteger,
    /// A decimal number of any size.
    BigDecimal,
    /// One character.
    Character,
    /// A duration.
    Duration,
    /// A UUID.
    Uuid,
}

impl JavaClass {
    /// Its simple name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BigInteger => "BigInteger",
            Self::BigDecimal => "BigDecimal",
            Self::Character => "Character",
            Self::Duration => "Duration",
            Self::Uuid => "UUID",
        }
    }

    /// Whether its values are numbers.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Self::BigInteger | Self::BigDecimal)
    }
}

impl RawValue<'_> {
    /// The simple name of the Java class of such a value, for messages.
    #[must_use]
    pub fn class_name(&self) -> &'static str {
        match self {
            Self::Null => "Null",
            Self::Boolean(_) => "Boolean",
            Self::Integer(number) if i32::try_from(*number).is_ok() => "Integer",
            Self::Integer(_) => "Long",
            Self::Unsigned(_) => "BigInteger",
            Self::Double(_) => "Double",
            Self::Text(_) => "String",
            Self::Typed { class, .. } => class.name(),
            Self::List(_) => "ArrayList",
            Self::Map(_) => "LinkedHashMap",
        }
    }

    /// Whether it is [`RawValue::Null`].
    #[must_use]
    pub const fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value without a schema, as a property of type OBJECT stores it.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        reason = "numbers above 63 bits are kept as the nearest double, as documented for OBJECT"
    )]
    pub fn into_datum(self) -> Datum {
        match self {
            Self::Null => Datum::Null,
            Self::Boolean(flag) => Datum::Bool(flag),
            Self::Integer(number) => Datum::Int(number),
            Self::Unsigned(number) => Datum::Float(number as f64),
            Self::Double(number) if number.is_finite() => Datum::Float(number),
            // JSON has no form of NaN and the infinities.
            Self::Double(number) => Datum::Text(text::of_double(number)),
            Self::Text(text) | Self::Typed { text, .. } => Datum::Text(text.into_owned()),
            Self::List(items) => Datum::List(items.into_iter().map(Self::into_datum).collect()),
            Self::Map(members) => Datum::Map(
                members
                    .into_iter()
                    .map(|(name, value)| (name.into_owned(), value.into_datum()))
                    .collect(),
            ),
        }
    }
}

impl std::fmt::Display for RawValue<'_> {
    /// Writes the text for messages: lists as `[a, b]`, maps as `{a=b}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Boolean(flag) => write!(f, "{flag}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Unsigned(number) => write!(f, "{number}"),
            Self::Double(number) => f.write_str(&text::of_double(*number)),
            Self::Text(text) | Self::Typed { text, .. } => f.write_str(text),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Map(members) => {
                f.write_str("{")?;
                for (at, (name, value)) in members.iter().enumerate() {
                    write!(f, "{}{name}={value}", if at > 0 { ", " } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// One property as sent. If a name occurs several times, the last one counts.
pub type RawProperty<'a> = (Cow<'a, str>, RawValue<'a>);

/// A vertex as sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VertexInput<'a> {
    /// Name of its label; [`DEFAULT_VERTEX_LABEL`] when absent.
    pub label: Option<Cow<'a, str>>,
    /// Its id; `None` when absent or null.
    pub id: Option<RawValue<'a>>,
    /// Its properties; `None` when absent or null.
    pub properties: Option<Vec<RawProperty<'a>>>,
}

/// The label of vertices that are sent without a label.
pub const DEFAULT_VERTEX_LABEL: &str = "vertex";

/// An edge as sent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EdgeInput<'a> {
    /// The id that the client expects the edge to have.
    pub id: Option<Cow<'a, str>>,
    /// Name of its label.
    pub label: Option<Cow<'a, str>>,
    /// Id of the source vertex.
    pub source: Option<RawValue<'a>>,
    /// Name of the label of that vertex.
    pub source_label: Option<Cow<'a, str>>,
    /// Id of the target vertex.
    pub target: Option<RawValue<'a>>,
    /// Name of the label of that vertex.
    pub target_label: Option<Cow<'a, str>>,
    /// Its properties; `None` when absent or null.
    pub properties: Option<Vec<RawProperty<'a>>>,
}

/// A value as a client would send it.
impl From<&Value> for RawValue<'static> {
    fn from(value: &Value) -> Self {
        match value {
            Value::Boolean(flag) => RawValue::Boolean(*flag),
            Value::Byte(number) => RawValue::Integer(i64::from(*number)),
            Value::Int(number) => RawValue::Integer(i64::from(*number)),
            Value::Long(number) | Value::Date(number) => RawValue::Integer(*number),
            // By its digits, as Java converts it: 0.1f is 0.1.
            Value::Float(number) => RawValue::Double(text::shortest(*number)),
            Value::Double(number) => RawValue::Double(*number),
            Value::Text(text) => RawValue::Text(Cow::Owned(text.clone())),
            Value::Uuid(uuid) => typed(JavaClass::Uuid, Uuid(*uuid).to_string()),
            Value::Blob(bytes) => {
                let each = bytes.iter().map(|byte| RawValue::Integer(i64::from(*byte)));
                RawValue::List(each.collect())
            }
            Value::Object(datum) => raw_datum(datum),
            Value::List(items) | Value::Set(items) => {
                RawValue::List(items.iter().map(RawValue::from).collect())
            }
            Value::Short(number) => RawValue::Integer(i64::from(*number)),
            Value::DateTime(at) => RawValue::Integer(at.micros.div_euclid(1_000)),
            // No declared key has the types from here on.
            Value::BigInt(number) => typed(JavaClass::BigInteger, number.to_string()),
            Value::BigDecimal(number) => typed(JavaClass::BigDecimal, number.to_string()),
            Value::Char(one) => typed(JavaClass::Character, one.to_string()),
            Value::Duration(span) => typed(JavaClass::Duration, duration_text(*span)),
            Value::Map(entries) => {
                let each = entries.iter().map(|(key, value)| {
                    (
                        Cow::Owned(RawValue::from(key).to_string()),
                        RawValue::from(value),
                    )
                });
                RawValue::Map(each.collect())
            }
            Value::Many(many) => {
                let each = many.values().iter().map(|one| RawValue::from(&one.value));
                RawValue::List(each.collect())
            }
        }
    }
}

fn typed(class: JavaClass, text: String) -> RawValue<'static> {
    let text = Cow::Owned(text);
    RawValue::Typed { class, text }
}

fn raw_datum(datum: &Datum) -> RawValue<'static> {
    match datum {
        Datum::Null => RawValue::Null,
        Datum::Bool(flag) => RawValue::Boolean(*flag),
        Datum::Int(number) => RawValue::Integer(*number),
        Datum::Float(number) => RawValue::Double(*number),
        Datum::Text(text) => RawValue::Text(Cow::Owned(text.clone())),
        Datum::List(items) => RawValue::List(items.iter().map(raw_datum).collect()),
        Datum::Map(members) => RawValue::Map(
            members
                .iter()
                .map(|(name, value)| (Cow::Owned(name.clone()), raw_datum(value)))
                .collect(),
        ),
    }
}
