//! Predicates.

use std::sync::Arc;

use varve_pattern::{Fault, Finder};
use varve_query::work;
use varve_query::{Custom, Predicate, QueryError, Test, Value};

use super::Binder;
use crate::tree::{self, Argument, PredicateName};

/// The most steps of one search by a regular expression, which nothing interrupts. A step takes
/// some nanoseconds in the worst case.
const SEARCH_STEPS_MAX: u64 = 1 << 27;
/// Steps of a search that take as long as one comparison of numbers.
const STEPS_A_COMPARISON: u64 = 8;

impl Binder<'_> {
    pub(super) fn predicate(&self, predicate: &tree::Predicate) -> Result<Predicate, QueryError> {
        let each = |all: &[tree::Predicate]| -> Result<Vec<Predicate>, QueryError> {
            all.iter().map(|each| self.predicate(each)).collect()
        };
        Ok(match predicate {
            tree::Predicate::And(all) => Predicate::And(each(all)?),
            tree::Predicate::Or(any) => Predicate::Or(each(any)?),
            tree::Predicate::Not(inner) => Predicate::Not(Box::new(self.predicate(inner)?)),
            tree::Predicate::Test { name, arguments } => self.test(*name, arguments)?,
        })
    }

    /// A predicate, or equality with a value.
    pub(super) fn predicate_or_value(&self, argument: &Argument) -> Result<Predicate, QueryError> {
        match argument {
            Argument::Predicate(predicate) => self.predicate(predicate),
            other => Ok(Predicate::eq(self.value(other)?)),
        }
    }

    fn test(&self, name: PredicateName, arguments: &[Argument]) -> Result<Predicate, QueryError> {
        let one = |at: usize| -> Result<Value, QueryError> {
            let argument = arguments
                .get(at)
                .ok_or_else(|| QueryError::invalid(format!("{name}() needs another argument")))?;
            self.value(argument)
        };
        let simple = |test| Ok(Predicate::Test(test, one(0)?));
        let both = |low, high| -> Result<[Predicate; 2], QueryError> {
            Ok([
                Predicate::Test(low, one(0)?),
                Predicate::Test(high, one(1)?),
            ])
        };
        match name {
            PredicateName::Eq => simple(Test::Eq),
            PredicateName::Neq => simple(Test::Neq),
            PredicateName::Lt => simple(Test::Lt),
            PredicateName::Lte => simple(Test::Lte),
            PredicateName::Gt => simple(Test::Gt),
            PredicateName::Gte => simple(Test::Gte),
            PredicateName::Inside => Ok(Predicate::And(both(Test::Gt, Test::Lt)?.into())),
            PredicateName::Between => Ok(Predicate::And(both(Test::Gte, Test::Lt)?.into())),
            PredicateName::Outside => Ok(Predicate::Or(both(Test::Lt, Test::Gt)?.into())),
            PredicateName::Within => Ok(Predicate::within(self.members(arguments)?)),
            PredicateName::Without => {
                let members = Value::list(self.members(arguments)?);
                Ok(Predicate::Test(Test::Without, members))
            }
            PredicateName::Containing => simple(Test::Containing),
            PredicateName::NotContaining => simple(Test::NotContaining),
            PredicateName::StartingWith => simple(Test::StartingWith),
            PredicateName::NotStartingWith => simple(Test::NotStartingWith),
            PredicateName::EndingWith => simple(Test::EndingWith),
            PredicateName::NotEndingWith => simple(Test::NotEndingWith),
            PredicateName::Regex => self.regex(&one(0)?, true),
            PredicateName::NotRegex => self.regex(&one(0)?, false),
            PredicateName::TypeOf => type_of(arguments.first()),
            PredicateName::TextContains | PredicateName::Contains => {
                Err(QueryError::Unsupported(format!("The predicate {name}()")))
            }
        }
    }

    fn regex(&self, pattern: &Value, wanted: bool) -> Result<Predicate, QueryError> {
        let left = self.expressions.get().checked_sub(1);
        let left = left
            .ok_or_else(|| QueryError::invalid("A traversal may have 100 regular expressions"))?;
        self.expressions.set(left);
        regex(pattern, wanted)
    }

    /// The members of `within`. A single variable may be the whole collection.
    fn members(&self, arguments: &[Argument]) -> Result<Vec<Value>, QueryError> {
        match arguments {
            [Argument::Variable(_) | Argument::Value(_)] => self.flat_values(arguments),
            _ => self.values(arguments),
        }
    }
}

fn regex(pattern: &Value, wanted: bool) -> Result<Predicate, QueryError> {
    let Value::Text(pattern) = pattern else {
        return Err(QueryError::invalid("A regular expression is a text"));
    };
    let finder = Finder::new(pattern).map_err(|fault| match fault {
        Fault::Syntax(why) => {
            QueryError::invalid(format!("The regular expression is wrong: {why}"))
        }
        Fault::NotSupported(why) => {
            QueryError::Unsupported(format!("The regular expression ({why})"))
        }
    })?;
    let decide = move |value: &Value| match value {
        Value::Text(text) => {
            let steps = finder.steps(text);
            if steps > SEARCH_STEPS_MAX {
                return Err(QueryError::Limit(format!(
                    "The regular expression is too large for a text of {} bytes",
                    text.len()
                )));
            }
            let steps = usize::try_from(steps / STEPS_A_COMPARISON).unwrap_or(usize::MAX);
            Ok(work::go_on(steps) && finder.finds(text) == wanted)
        }
        Value::Null => Ok(!wanted),
        other => Err(QueryError::cast(other, "String")),
    };
    Ok(Predicate::Custom(Custom {
        name: "regex",
        decide: Arc::new(decide),
    }))
}

/// The names that [`Value::type_name`] gives, and those of `GType`.
const CLASSES: &[&str] = &[
    "Boolean",
    "Byte",
    "Short",
    "Integer",
    "Long",
    "BigInteger",
    "Float",
    "Double",
    "BigDecimal",
    "String",
    "ByteBuffer",
    "UUID",
    "OffsetDateTime",
    "List",
    "Set",
    "Map",
    "Vertex",
    "Edge",
    "VertexProperty",
    "Property",
    "Path",
    "Tree",
    "Number",
    "Character",
    "Duration",
    "Graph",
];

fn type_of(argument: Option<&Argument>) -> Result<Predicate, QueryError> {
    let wanted = match argument {
        Some(Argument::GType(wanted)) => wanted.text().to_owned(),
        Some(Argument::String(name)) if CLASSES.contains(&name.as_str()) => name.to_string(),
        Some(Argument::String(name)) => {
            return Err(QueryError::invalid(format!(
                "{name} is not a registered type"
            )));
        }
        _ => return Err(QueryError::invalid("typeOf() needs a GType")),
    };
    Ok(Predicate::Custom(Custom {
        name: "typeOf",
        decide: Arc::new(move |value| Ok(is_of(value, &wanted))),
    }))
}

fn is_of(value: &Value, wanted: &str) -> bool {
    let name = value.type_name();
    match wanted {
        "NUMBER" => value.is_number(),
        "INT" => name == "Integer",
        "BIGINT" => name == "BigInteger",
        "BIGDECIMAL" => name == "BigDecimal",
        "DATETIME" => name == "OffsetDateTime",
        "VPROPERTY" => name == "VertexProperty",
        "BINARY" => name == "ByteBuffer",
        "NULL" => value.is_null(),
        "MAP" => matches!(value, Value::Map(_) | Value::Tree(_)),
        other => name.eq_ignore_ascii_case(other),
    }
}
