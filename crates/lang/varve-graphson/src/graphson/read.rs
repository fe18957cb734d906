//! Reads GraphSON.

use std::borrow::Cow;
use std::str::FromStr;

use bigdecimal::BigDecimal;
use num_bigint::BigInt;

use super::temporal;
use crate::budget::Budget;
use crate::error::{Result, WireError};
use crate::json::Json;
use crate::number::{checked_big, checked_decimal};
use crate::value::{Bytecode, Instruction, Text, TokenClass, Value};

/// The members of a JSON object.
pub(super) type Members<'t> = Vec<(Cow<'t, str>, Json<'t>)>;

/// Reads the values of one message.
pub(crate) struct Reader {
    pub(crate) budget: Budget,
}

impl Reader {
    /// Reads one value, typed or plain.
    pub(crate) fn value(&mut self, json: Json<'_>) -> Result<Value> {
        self.budget.enter()?;
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(value),
            Json::Number(text) => plain_number(text)?,
            Json::String(text) => Value::String(Text::from(text)),
            Json::Array(members) => Value::List(self.values(members)?),
            Json::Object(members) => self.object(members)?,
        };
        self.budget.leave();
        Ok(value)
    }

    pub(super) fn values(&mut self, members: Vec<Json<'_>>) -> Result<Vec<Value>> {
        members
            .into_iter()
            .map(|member| self.value(member))
            .collect()
    }

    fn object(&mut self, mut members: Members<'_>) -> Result<Value> {
        match Json::take(&mut members, "@type") {
            Some(Json::String(kind)) => {
                let value = Json::take(&mut members, "@value").unwrap_or(Json::Null);
                self.typed(&kind, value)
            }
            Some(_) => Err(WireError::value("@type", "it is no string")),
            None => {
                let entry = |(key, value): (Cow<'_, str>, Json<'_>)| {
                    Ok((Value::String(Text::from(key)), self.value(value)?))
                };
                members
                    .into_iter()
                    .map(entry)
                    .collect::<Result<_>>()
                    .map(Value::Map)
            }
        }
    }

    fn typed(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        match kind {
            "g:Int32" => integer(kind, &json).map(Value::Int),
            "g:Int64" => integer(kind, &json).map(Value::Long),
            "gx:Byte" => integer(kind, &json).map(Value::Byte),
            "gx:Int16" => integer(kind, &json).map(Value::Short),
            "gx:BigInteger" => big_integer(kind, &json),
            "gx:BigDecimal" => big_decimal(kind, &json),
            "g:Double" => float(kind, &json).map(Value::Double),
            "g:Float" => float(kind, &json).map(Value::Float),
            "g:Date" => integer(kind, &json).map(Value::Date),
            "g:Timestamp" => integer(kind, &json).map(Value::Timestamp),
            "g:UUID" => {
                let text = string(kind, json)?;
                let wrong = || WireError::value(kind, "it is no UUID");
                crate::number::uuid(&text)
                    .map(Value::Uuid)
                    .ok_or_else(wrong)
            }
            "g:Class" => string(kind, json).map(Value::Class),
            "g:List" => array(kind, json)
                .and_then(|members| self.values(members))
                .map(Value::List),
            "g:Set" => array(kind, json)
                .and_then(|members| self.values(members))
                .map(Value::Set),
            "g:Map" => self.map(kind, json).map(Value::Map),
            "g:BulkSet" => self.bulk_set(kind, json),
            "g:P" | "g:TextP" => self.predicate(kind, json),
            "g:Bytecode" => self.bytecode(kind, json).map(Value::Bytecode),
            "g:Binding" => {
                let mut members = object(kind, json)?;
                let key = string(kind, member(kind, &mut members, "key")?)?;
                let value = Box::new(self.value(member(kind, &mut members, "value")?)?);
                Ok(Value::Binding { key, value })
            }
            "g:Traverser" => {
                let mut members = object(kind, json)?;
                let bulk = self.value(member(kind, &mut members, "bulk")?)?;
                let Value::Long(bulk) = bulk else {
                    return Err(WireError::value(kind, "its bulk is no g:Int64"));
                };
                let value = Box::new(self.value(member(kind, &mut members, "value")?)?);
                Ok(Value::Traverser { bulk, value })
            }
            "g:Lambda" => lambda(kind, json),
            "gx:Char" => {
                let text = string(kind, json)?;
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (Some(one), None) => Ok(Value::Char(one)),
                    _ => Err(WireError::value(kind, "it is not one character")),
                }
            }
            _ => self.rarer(kind, json),
        }
    }

    /// Reads values of types that are rare in requests. An error if the type is unknown.
    fn rarer(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        let class = kind.strip_prefix("g:").and_then(TokenClass::from_name);
        if let Some(class) = class {
            let name = string(kind, json)?;
            return Ok(Value::Token { class, name });
        }
        if kind.ends_with("Strategy") {
            return self.strategy(kind, json);
        }
        if let Some(value) = temporal::read(kind, &json)? {
            return Ok(value);
        }
        self.element(kind, json)
    }

    pub(super) fn map(&mut self, kind: &str, json: Json<'_>) -> Result<Vec<(Value, Value)>> {
        let members = array(kind, json)?;
        if members.len() % 2 != 0 {
            return Err(WireError::value(kind, "a key has no value"));
        }
        let mut entries = Vec::with_capacity(members.len() / 2);
        let mut members = members.into_iter();
        while let (Some(key), Some(value)) = (members.next(), members.next()) {
            entries.push((self.value(key)?, self.value(value)?));
        }
        Ok(entries)
    }

    fn bulk_set(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        let entries = self.map(kind, json)?;
        let member = |(value, bulk)| match bulk {
            Value::Long(bulk) => Ok((value, bulk)),
            _ => Err(WireError::value(kind, "a bulk is no g:Int64")),
        };
        entries
            .into_iter()
            .map(member)
            .collect::<Result<_>>()
            .map(Value::BulkSet)
    }

    fn predicate(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        let mut members = object(kind, json)?;
        let name = string(kind, member(kind, &mut members, "predicate")?)?;
        let operands = match Json::take(&mut members, "value") {
            None => Vec::new(),
            Some(Json::Array(operands)) => self.values(operands)?,
            Some(operand) => match (name.as_str(), self.value(operand)?) {
                // In GraphSON, the operands of these predicates are a list.
                (name, Value::List(members)) if takes_list(name) => members,
                (_, operand) => vec![operand],
            },
        };
        Ok(Value::Predicate { name, operands })
    }

    fn bytecode(&mut self, kind: &str, json: Json<'_>) -> Result<Bytecode> {
        let mut members = object(kind, json)?;
        let mut part = |name| match Json::take(&mut members, name) {
            None => Ok(Vec::new()),
            Some(instructions) => array(kind, instructions)?
                .into_iter()
                .map(|instruction| self.instruction(kind, instruction))
                .collect(),
        };
        Ok(Bytecode {
            steps: part("step")?,
            source: part("source")?,
        })
    }

    fn instruction(&mut self, kind: &str, json: Json<'_>) -> Result<Instruction> {
        let mut parts = array(kind, json)?.into_iter();
        let Some(name) = parts.next() else {
            return Err(WireError::value(kind, "an instruction has no name"));
        };
        Ok(Instruction {
            name: string(kind, name)?,
            arguments: parts
                .map(|argument| self.value(argument))
                .collect::<Result<_>>()?,
        })
    }

    /// Reads `{"fqcn": …, "conf": {…}}`, or only the configuration, which older drivers send.
    fn strategy(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        let mut members = match json {
            Json::Null => Vec::new(),
            json => object(kind, json)?,
        };
        let class = match Json::take(&mut members, "fqcn") {
            Some(class) => string(kind, class)?,
            None => Text::from(kind.strip_prefix("g:").unwrap_or(kind)),
        };
        let members = match Json::take(&mut members, "conf") {
            Some(configuration) => match self.value(configuration)? {
                Value::Map(entries) => entries,
                _ => return Err(WireError::value(kind, "its configuration is no map")),
            },
            None => {
                let entry = |(key, value): (Cow<'_, str>, Json<'_>)| {
                    Ok((Value::String(Text::from(key)), self.value(value)?))
                };
                members.into_iter().map(entry).collect::<Result<_>>()?
            }
        };
        let configuration = crate::value::named(members)
            .ok_or_else(|| WireError::value(kind, "a key of its configuration is no string"))?;
        Ok(Value::Strategy {
            class,
            configuration,
        })
    }
}

/// Whether the operands of a predicate are a list in GraphSON.
pub(super) fn takes_list(name: &str) -> bool {
    matches!(
        name,
        "within" | "without" | "between" | "inside" | "outside" | "and" | "or"
    )
}

fn lambda(kind: &str, json: Json<'_>) -> Result<Value> {
    let mut members = object(kind, json)?;
    let arguments = Json::take(&mut members, "arguments");
    Ok(Value::Lambda {
        script: string(kind, member(kind, &mut members, "script")?)?,
        language: string(kind, member(kind, &mut members, "language")?)?,
        arguments: arguments.map_or(Ok(-1), |arguments| integer(kind, &arguments))?,
    })
}

/// Reads a number without type. A whole number becomes the smallest of `Int`, `Long` and `BigInt`
/// that holds it; a number with a point or an exponent becomes a `Double`.
fn plain_number(text: &str) -> Result<Value> {
    let whole = !text.contains(['.', 'e', 'E']);
    if !whole {
        let double = text
            .parse()
            .map_err(|_| WireError::value("number", "it is none"))?;
        return Ok(Value::Double(double));
    }
    match text.parse::<i64>() {
        Ok(value) => Ok(i32::try_from(value).map_or(Value::Long(value), Value::Int)),
        Err(_) => big_integer("number", &Json::Number(text)),
    }
}

fn integer<T: FromStr>(kind: &str, json: &Json<'_>) -> Result<T> {
    match json {
        Json::Number(text) => text
            .parse()
            .map_err(|_| WireError::value(kind, "it is out of range")),
        Json::String(text) => text
            .parse()
            .map_err(|_| WireError::value(kind, "it is no number")),
        _ => Err(WireError::value(kind, "it is no number")),
    }
}

fn number_text<'j>(kind: &str, json: &'j Json<'_>) -> Result<&'j str> {
    match json {
        Json::Number(text) => Ok(text),
        Json::String(text) => Ok(text),
        _ => Err(WireError::value(kind, "it is no number")),
    }
}

fn big_integer(kind: &str, json: &Json<'_>) -> Result<Value> {
    let text = number_text(kind, json)?;
    let text = checked_big(kind, text)?;
    let value = BigInt::from_str(text).map_err(|_| WireError::value(kind, "it is no number"))?;
    Ok(Value::BigInt(Box::new(value)))
}

fn big_decimal(kind: &str, json: &Json<'_>) -> Result<Value> {
    let text = number_text(kind, json)?;
    let text = checked_big(kind, text)?;
    let value =
        BigDecimal::from_str(text).map_err(|_| WireError::value(kind, "it is no number"))?;
    Ok(Value::BigDecimal(Box::new(checked_decimal(kind, value)?)))
}

/// Reads a number of the width that is wanted; rounding twice might miss the nearest one.
fn float<T: FromStr + From<f32> + Into<f64> + Copy>(kind: &str, json: &Json<'_>) -> Result<T> {
    match number_text(kind, json)? {
        "NaN" => Ok(f32::NAN.into()),
        "Infinity" => Ok(f32::INFINITY.into()),
        "-Infinity" => Ok(f32::NEG_INFINITY.into()),
        text => match text.parse::<T>() {
            Ok(number) if number.into().is_infinite() => {
                Err(WireError::value(kind, "it is out of range"))
            }
            Ok(number) => Ok(number),
            Err(_) => Err(WireError::value(kind, "it is no number")),
        },
    }
}

pub(super) fn string(kind: &str, json: Json<'_>) -> Result<Text> {
    match json {
        Json::String(text) => Ok(Text::from(text)),
        _ => Err(WireError::value(kind, "a part of it is no string")),
    }
}

pub(super) fn array<'t>(kind: &str, json: Json<'t>) -> Result<Vec<Json<'t>>> {
    match json {
        Json::Array(members) => Ok(members),
        _ => Err(WireError::value(kind, "a part of it is no array")),
    }
}

pub(super) fn object<'t>(kind: &str, json: Json<'t>) -> Result<Members<'t>> {
    match json {
        Json::Object(members) => Ok(members),
        _ => Err(WireError::value(kind, "a part of it is no object")),
    }
}

pub(super) fn member<'t>(kind: &str, members: &mut Members<'t>, name: &str) -> Result<Json<'t>> {
    Json::take(members, name).ok_or_else(|| WireError::value(kind, format!("it has no '{name}'")))
}
