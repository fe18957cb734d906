//! Conversions between types.

use std::fmt::{self, Display, Formatter};

use super::{Function, Returns, Types, bad_value};
use crate::error::Outcome;
use crate::expression::Frame;
use crate::value::{Plain, Value};

const ANY: Types = Types::ANY;
const LIST: Types = Types::LIST;

const fn one(kind: Types) -> Returns {
    Returns::One(kind)
}

/// The conversion of one value to a type: `Err` if its type cannot be converted, null if its text
/// is not one of the type.
type Conversion = fn(&Value) -> Result<Value, ()>;

/// Three functions of one conversion: strict about types, with null instead of an error, and of
/// all items of a list.
macro_rules! conversions {
    ($($name:literal, $or_null:literal, $list:literal, $kind:expr, $convert:expr;)+) => {
        pub(super) const TABLE: &[Function] = &[
            $(
                Function::new($name, &[ANY], one($kind), |values, _| strict(values, $convert)),
                Function::new($or_null, &[ANY], one($kind), |values, _| {
                    lenient(values, $convert)
                }),
                Function::new($list, &[LIST], Returns::ListOf($kind), |values, _| {
                    each(values, $convert)
                }),
            )+
            Function::new("valueType", &[ANY], one(Types::STRING), value_type).lenient(),
        ];
    };
}

conversions! {
    "toInteger", "toIntegerOrNull", "toIntegerList", Types::INTEGER, to_integer;
    "toFloat", "toFloatOrNull", "toFloatList", Types::FLOAT, to_float;
    "toString", "toStringOrNull", "toStringList", Types::STRING, to_text;
    "toBoolean", "toBooleanOrNull", "toBooleanList", Types::BOOLEAN, to_boolean;
}

fn first(values: &[Value]) -> &Value {
    values.first().unwrap_or(&Value::Null)
}

fn strict(values: &[Value], convert: Conversion) -> Outcome<Value> {
    convert(first(values)).map_err(|()| bad_value("a value that can be converted", values.first()))
}

fn lenient(values: &[Value], convert: Conversion) -> Outcome<Value> {
    Ok(convert(first(values)).unwrap_or(Value::Null))
}

fn each(values: &[Value], convert: Conversion) -> Outcome<Value> {
    let [Value::List(items)] = values else {
        return Err(bad_value("LIST", values.first()));
    };
    let converted = items.iter().map(|item| match item {
        Value::Null => Value::Null,
        item => convert(item).unwrap_or(Value::Null),
    });
    Ok(Value::list(converted.collect()))
}

fn to_integer(value: &Value) -> Result<Value, ()> {
    Ok(match value {
        Value::Integer(_) => value.clone(),
        Value::Float(number) => whole(*number),
        Value::Boolean(truth) => Value::Integer(i64::from(*truth)),
        Value::String(text) => match text.trim().parse::<i64>() {
            Ok(number) => Value::Integer(number),
            Err(_) => decimal(text).map_or(Value::Null, whole),
        },
        _ => return Err(()),
    })
}

/// The integer of a float without its fraction; null if no integer is near.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(number: f64) -> Value {
    let range = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    match range.contains(&number.trunc()) {
        true => Value::Integer(number.trunc() as i64),
        false => Value::Null,
    }
}

/// The float of a text in digits; names such as `inf` do not count.
fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_decimal = text.bytes().any(|byte| byte.is_ascii_digit());
    is_decimal.then(|| text.parse().ok()).flatten()
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is meant")]
fn to_float(value: &Value) -> Result<Value, ()> {
    Ok(match value {
        Value::Float(_) => value.clone(),
        Value::Integer(number) => Value::Float(*number as f64),
        Value::String(text) => match text.trim() {
            "NaN" => Value::Float(f64::NAN),
            "Infinity" => Value::Float(f64::INFINITY),
            "-Infinity" => Value::Float(f64::NEG_INFINITY),
            text => decimal(text).map_or(Value::Null, Value::Float),
        },
        _ => return Err(()),
    })
}

fn to_text(value: &Value) -> Result<Value, ()> {
    match value {
        Value::String(_) => Ok(value.clone()),
        Value::Boolean(_)
        | Value::Integer(_)
        | Value::Float(_)
        | Value::Date(_)
        | Value::LocalTime(_)
        | Value::Time(_)
        | Value::LocalDateTime(_)
        | Value::DateTime(_)
        | Value::Duration(_)
        | Value::Point(_) => Ok(Value::string(Plain(value).to_string())),
        _ => Err(()),
    }
}

fn to_boolean(value: &Value) -> Result<Value, ()> {
    match value {
        Value::Boolean(_) => Ok(value.clone()),
        Value::Integer(number) => Ok(Value::Boolean(*number != 0)),
        Value::String(text) => Ok(match text.trim() {
            text if text.eq_ignore_ascii_case("true") => Value::Boolean(true),
            text if text.eq_ignore_ascii_case("false") => Value::Boolean(false),
            _ => Value::Null,
        }),
        _ => Err(()),
    }
}

/// The name of the most exact type of a value, such as `LIST<INTEGER NOT NULL> NOT NULL`.
fn value_type(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    Ok(Value::string(type_text(first(values))))
}

fn type_text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::List(items) => format!("LIST<{}> NOT NULL", Items::of(items)),
        other => format!("{} NOT NULL", other.type_name()),
    }
}

/// The types of the items of a list.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Items {
    /// In the order of [`type_rank`], without those that are part of another one.
    types: Vec<Item>,
    has_null: bool,
}

/// The type of an item other than null: its rank and name, and the types within a list.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item(usize, Option<Items>, &'static str);

impl Items {
    fn of(items: &[Value]) -> Items {
        let mut types: Vec<Item> = Vec::new();
        for item in items.iter().filter(|item| !item.is_null()) {
            let inner = match item {
                Value::List(items) => Some(Items::of(items)),
                _ => None,
            };
            let found = Item(type_rank(item), inner, item.type_name());
            if !types.iter().any(|one| found.is_in(one)) {
                types.retain(|one| !one.is_in(&found));
                types.push(found);
            }
        }
        types.sort();
        let has_null = items.iter().any(Value::is_null);
        Items { types, has_null }
    }
}

impl Item {
    /// Whether all values of this type are also of the other one.
    fn is_in(&self, other: &Item) -> bool {
        self.2 == other.2
            && match (&self.1, &other.1) {
                (Some(own), Some(others)) => {
                    let within = |one: &Item| others.types.iter().any(|other| one.is_in(other));
                    (others.has_null || !own.has_null) && own.types.iter().all(within)
                }
                _ => true,
            }
    }
}

impl Display for Items {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.types.is_empty() {
            return out.write_str(if self.has_null { "NULL" } else { "NOTHING" });
        }
        for (at, Item(_, inner, name)) in self.types.iter().enumerate() {
            out.write_str(if at == 0 { "" } else { " | " })?;
            match inner {
                Some(inner) => write!(out, "LIST<{inner}>")?,
                None => out.write_str(name)?,
            }
            out.write_str(if self.has_null { "" } else { " NOT NULL" })?;
        }
        Ok(())
    }
}

/// The place of a value's type among the types of a union.
fn type_rank(value: &Value) -> usize {
    const ORDER: &[&str] = &[
        "BOOLEAN",
        "STRING",
        "INTEGER",
        "FLOAT",
        "DATE",
        "LOCAL TIME",
        "ZONED TIME",
        "LOCAL DATETIME",
        "ZONED DATETIME",
        "DURATION",
        "POINT",
        "NODE",
        "RELATIONSHIP",
        "MAP",
        "LIST",
        "PATH",
    ];
    let name = value.type_name();
    ORDER
        .iter()
        .position(|one| *one == name)
        .unwrap_or(ORDER.len())
}
