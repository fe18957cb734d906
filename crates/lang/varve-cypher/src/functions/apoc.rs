//! The functions of APOC that clients call.

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Function, Returns, Types, bad_value};
use crate::error::{Error, ErrorClass, Outcome, argument_error, not_supported};
use crate::evaluate::{properties_of, property_of};
use crate::expression::Frame;
use crate::temporal::{self, OffsetText};
use crate::value::{Key, Map, Value};

const LIST: Types = Types::LIST;
const MAP: Types = Types::MAP;
const BOOLEAN: Types = Types::BOOLEAN;
const KEYED: Types = Types::ELEMENT.or(Types::MAP);
const ANY: Returns = Returns::One(Types::ANY);

/// The formats that dates are converted from and to, beside `yyyy-MM-dd`.
const FORMATS: &[&str] = &[
    "iso_date",
    "iso_date_time",
    "iso_local_date",
    "iso_local_date_time",
    "iso_offset_date_time",
    "iso_zoned_date_time",
];

pub(super) const TABLE: &[Function] = &[
    Function::new("apoc.coll.toSet", &[LIST], Returns::Argument(0), to_set),
    Function::new(
        "apoc.coll.flatten",
        &[LIST, BOOLEAN],
        Returns::One(LIST),
        flatten,
    )
    .required(1),
    Function::new(
        "apoc.map.clean",
        &[MAP, LIST, LIST],
        Returns::One(MAP),
        clean,
    ),
    Function::new(
        "apoc.any.property",
        &[KEYED, Types::STRING],
        ANY,
        |values, frame| match values {
            [subject, Value::String(key)] => property_of(subject, key, frame),
            _ => Err(bad_value("STRING", values.last())),
        },
    ),
    Function::new(
        "apoc.util.validatePredicate",
        &[BOOLEAN, Types::STRING, LIST],
        Returns::One(BOOLEAN),
        validate,
    ),
    Function::new(
        "apoc.date.convertFormat",
        &[Types::STRING, Types::STRING, Types::STRING],
        Returns::One(Types::STRING),
        convert_format,
    )
    .required(2),
    Function::new(
        "apoc.meta.cypher.type",
        &[Types::ANY],
        Returns::One(Types::STRING),
        |values, _| Ok(Value::string(meta_type(first(values)))),
    )
    .lenient(),
    Function::new(
        "apoc.meta.cypher.types",
        &[KEYED],
        Returns::One(MAP),
        |values, frame| {
            let properties = properties_of(first(values), frame)?;
            let typed = properties
                .iter()
                .map(|(key, value)| (key.clone(), Value::string(meta_type(value))));
            Ok(Value::map(typed.collect::<Map>()))
        },
    ),
];

fn first(values: &[Value]) -> &Value {
    values.first().unwrap_or(&Value::Null)
}

/// The name of a value's type in APOC.
fn meta_type(value: &Value) -> Cow<'static, str> {
    if let Value::List(items) = value {
        let mut kinds = items.iter().map(meta_type);
        let first = kinds.next();
        let is_same = kinds.all(|kind| Some(&kind) == first.as_ref());
        let item = first.filter(|_| is_same).unwrap_or(Cow::Borrowed("ANY"));
        return Cow::Owned(format!("LIST OF {item}"));
    }
    Cow::Borrowed(match value.type_name() {
        "LOCAL TIME" => "LOCAL_TIME",
        "ZONED TIME" => "TIME",
        "LOCAL DATETIME" => "LOCAL_DATE_TIME",
        "ZONED DATETIME" => "DATE_TIME",
        name => name,
    })
}

/// A date or a date-time in another one of Java's ISO formats. A zone's name is left out where the
/// format has only the offset.
fn convert_format(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let [Value::String(text), Value::String(from), rest @ ..] = values else {
        return Err(bad_value("STRING", values.first()));
    };
    let to = match rest {
        [Value::String(to)] => &**to,
        _ => "yyyy-MM-dd",
    };
    let is_known = |format: &str| format == "yyyy-MM-dd" || FORMATS.contains(&format);
    if let Some(format) = [&**from, to].iter().find(|format| !is_known(format)) {
        let message = format!("apoc.date.convertFormat with the format '{format}'");
        return Err(not_supported(message));
    }
    let wrong = || {
        let message = format!("'{text}' cannot be converted from {from} to {to}");
        argument_error("InvalidArgumentValue", message)
    };
    let has_zone = ["iso_zoned_date_time", "iso_offset_date_time"].contains(&&**from);
    let local = match has_zone {
        true => None,
        false => temporal::read("LocalDateTime", text),
    };
    let (local, zone) = match local.or_else(|| temporal::read("ZonedDateTime", text)) {
        Some(Value::LocalDateTime(local)) => (local, None),
        Some(Value::DateTime(at)) => (at.local, Some((at.offset, at.zone))),
        _ => return Err(wrong()),
    };
    let date = local.date();
    let (hour, minute, second, nano) = local.time().fields();
    let mut time = format!("{hour:02}:{minute:02}:{second:02}");
    if nano != 0 {
        let nano = format!(".{nano:09}");
        time.push_str(nano.trim_end_matches('0'));
    }
    let text = match (to, zone) {
        ("yyyy-MM-dd" | "iso_local_date" | "iso_date", _) => date.to_string(),
        ("iso_local_date_time", _) | ("iso_date_time", None) => format!("{date}T{time}"),
        ("iso_offset_date_time", Some((offset, _))) => {
            format!("{date}T{time}{}", OffsetText(offset))
        }
        ("iso_zoned_date_time" | "iso_date_time", Some((offset, name))) => {
            let name = name.map_or_else(String::new, |name| format!("[{name}]"));
            format!("{date}T{time}{}{name}", OffsetText(offset))
        }
        _ => return Err(wrong()),
    };
    Ok(Value::string(text))
}

fn items(value: Option<&Value>) -> Outcome<&[Value]> {
    match value {
        Some(Value::List(items)) => Ok(items),
        other => Err(bad_value("LIST", other)),
    }
}

/// The different items of a list, in their order.
#[expect(clippy::mutable_key_type, reason = "an element's key does not change")]
fn to_set(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let mut seen = HashSet::new();
    let all = items(values.first())?.iter();
    let kept = all.filter(|item| seen.insert(Key((*item).clone())));
    Ok(Value::list(kept.cloned().collect()))
}

/// The items of a list's lists, of one level or of all.
fn flatten(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    fn put(all: &[Value], levels: usize, into: &mut Vec<Value>) {
        for item in all {
            match item {
                Value::List(inner) if levels > 0 => put(inner, levels - 1, into),
                other => into.push(other.clone()),
            }
        }
    }
    let levels = match values.get(1) {
        Some(Value::Boolean(true)) => usize::MAX,
        _ => 1,
    };
    let mut flat = Vec::new();
    put(items(values.first())?, levels, &mut flat);
    Ok(Value::list(flat))
}

/// A map without some keys, without null, and without some values or their texts.
#[expect(clippy::mutable_key_type, reason = "an element's key does not change")]
fn clean(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    let Some(Value::Map(map)) = values.first() else {
        return Err(bad_value("MAP", values.first()));
    };
    let (keys, unwanted) = (items(values.get(1))?, items(values.get(2))?);
    let has_key = |key: &str| {
        keys.iter()
            .any(|one| matches!(one, Value::String(one) if **one == *key))
    };
    let unwanted: HashSet<Key> = unwanted.iter().cloned().map(Key).collect();
    let has_value = |value: &Value| {
        let text = Value::string(value.to_string());
        unwanted.contains(&Key(value.clone())) || unwanted.contains(&Key(text))
    };
    let kept = map
        .iter()
        .filter(|(key, value)| !value.is_null() && !has_key(key) && !has_value(value))
        .map(|(key, value)| (key.clone(), value.clone()));
    Ok(Value::map(kept.collect::<Map>()))
}

/// True, or an error with the message if the predicate is true.
fn validate(values: &[Value], _: &Frame<'_>) -> Outcome<Value> {
    match values {
        [Value::Boolean(false), ..] => Ok(Value::Boolean(true)),
        [Value::Boolean(true), Value::String(message), ..] => {
            // Clients look for this text, and read what follows it.
            let message = format!(
                "Failed to invoke function `apoc.util.validatePredicate`: \
                 Caused by: java.lang.RuntimeException: {message}"
            );
            let class = ErrorClass::ProcedureError;
            Err(Error::run(class, "ProcedureCallFailed", message).into())
        }
        _ => Err(bad_value("BOOLEAN", values.first())),
    }
}
