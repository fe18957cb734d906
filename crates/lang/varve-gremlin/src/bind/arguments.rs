//! Arguments of steps as values, names, numbers and children.

use std::sync::Arc;

use varve_query::plan::{Name, Plan, Scope};
use varve_query::value::{DateTime, Token, VertexHandle};
use varve_query::{QueryError, Value};

use super::Binder;
use crate::tree::{self, Argument, Direction, ElementLiteral, Step, T};

impl Binder<'_> {
    pub(super) fn value(&self, argument: &Argument) -> Result<Value, QueryError> {
        Ok(match argument {
            Argument::Null => Value::Null,
            Argument::Bool(value) => Value::Bool(*value),
            Argument::Byte(number) => Value::Byte(*number),
            Argument::Short(number) => Value::Short(*number),
            Argument::Int(number) => Value::Int(*number),
            Argument::Long(number) => Value::Long(*number),
            Argument::BigInt(number) => Value::BigInt(Arc::new(number.as_ref().clone())),
            Argument::Float(number) => Value::Float(*number),
            Argument::Double(number) => Value::Double(*number),
            Argument::BigDecimal(number) => Value::BigDecimal(Arc::new(number.as_ref().clone())),
            Argument::Char(character) => Value::text(&character.to_string()),
            Argument::String(text) => Value::Text(text.clone()),
            Argument::DateTime(instant) => Value::DateTime(instant_of(*instant)?),
            Argument::Duration(span) => Value::Duration(varve_model::value::Duration {
                seconds: span.seconds,
                nanos: span.nanoseconds,
            }),
            Argument::Uuid(uuid) => Value::Uuid(*uuid),
            Argument::RandomUuid => Value::Uuid(random_uuid()),
            Argument::Binary(bytes) => Value::Bytes(Arc::from(bytes.as_ref())),
            Argument::List(items) => Value::list(self.values(items)?),
            Argument::Set(items) => Value::set(self.values(items)?),
            Argument::Map(entries) => {
                let each = entries.iter();
                let entry = |(key, value): &(Argument, Argument)| {
                    Ok((self.value(key)?, self.value(value)?))
                };
                Value::map(each.map(entry).collect::<Result<Vec<_>, QueryError>>()?)
            }
            Argument::Range(ends) => self.range(&ends.0, &ends.1)?,
            Argument::Variable(name) => self
                .variables
                .value(name)
                .ok_or_else(|| QueryError::Unbound(name.to_string()))?,
            Argument::Value(value) => value.clone(),
            Argument::T(token) => Value::Token(token_of(*token)),
            Argument::Direction(Direction::Out) => Value::Token(Token::Out),
            Argument::Direction(Direction::In) => Value::Token(Token::In),
            Argument::Merge(tree::Merge::OutV) => Value::Token(Token::OutV),
            Argument::Merge(tree::Merge::InV) => Value::Token(Token::InV),
            Argument::CardinalityValue(cardinality, value) => {
                super::writes::with_own(*cardinality, self.value(value)?)
            }
            Argument::Element(element) => self.element(element)?,
            other => {
                let what = match other {
                    Argument::Traversal(_) => "a traversal",
                    Argument::Predicate(_) => "a predicate",
                    Argument::Computed(_) => "an expression",
                    _ => "a token",
                };
                return Err(QueryError::invalid(format!(
                    "A value is expected here, but got {what}"
                )));
            }
        })
    }

    fn element(&self, element: &ElementLiteral) -> Result<Value, QueryError> {
        match element {
            ElementLiteral::Vertex { id, .. } => {
                let id = self.value(id)?;
                let id = id.as_vertex_id().ok_or_else(|| {
                    QueryError::invalid(format!("A vertex has no id like {}", id.shown()))
                })?;
                Ok(Value::Vertex(Arc::new(VertexHandle::new(id, None))))
            }
            // An edge literal is its id.
            ElementLiteral::Edge { id, .. } => self.value(id),
            ElementLiteral::VertexProperty { value, .. }
            | ElementLiteral::Property { value, .. } => self.value(value),
        }
    }

    fn range(&self, from: &Argument, to: &Argument) -> Result<Value, QueryError> {
        let (from, to) = (self.value(from)?, self.value(to)?);
        let (Some(from), Some(to)) = (from.as_long(), to.as_long()) else {
            return Err(QueryError::invalid("A range needs whole numbers"));
        };
        let left = self.members.get().checked_sub(from.abs_diff(to));
        let left = left.ok_or_else(|| {
            QueryError::invalid("Ranges may have 1,000,000 members, all together")
        })?;
        self.members.set(left);
        #[allow(clippy::cast_possible_truncation, reason = "checked")]
        let number = |number: i64| match i32::try_from(number) {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Long(number),
        };
        Ok(Value::list(match from <= to {
            true => (from..=to).map(number).collect(),
            false => (to..=from).rev().map(number).collect(),
        }))
    }

    pub(super) fn values(&self, arguments: &[Argument]) -> Result<Vec<Value>, QueryError> {
        arguments
            .iter()
            .map(|argument| self.value(argument))
            .collect()
    }

    /// Values, where collections are replaced by their members.
    pub(super) fn flat_values(&self, arguments: &[Argument]) -> Result<Vec<Value>, QueryError> {
        let mut flat = Vec::new();
        for value in self.values(arguments)? {
            match value {
                Value::List(items) => flat.extend(items.iter().cloned()),
                Value::Set(items) => flat.extend(items.iter().cloned()),
                other => flat.push(other),
            }
        }
        Ok(flat)
    }

    /// Ids of elements, or elements.
    pub(super) fn ids(&self, arguments: &[Argument]) -> Result<Vec<Value>, QueryError> {
        let ids = self.flat_values(arguments)?;
        match ids.iter().find(|id| matches!(id, Value::Token(_))) {
            Some(token) => Err(QueryError::invalid(format!(
                "An id is expected here, but got the token {}",
                token.shown()
            ))),
            None => Ok(ids),
        }
    }

    /// Names, such as labels and keys. Null is ignored.
    pub(super) fn names(&self, arguments: &[Argument]) -> Result<Vec<Name>, QueryError> {
        let mut names = Vec::new();
        for value in self.flat_values(arguments)? {
            match value {
                Value::Text(name) => names.push(name),
                Value::Null => {}
                other => {
                    return Err(QueryError::invalid(format!(
                        "A name is expected here, but got {}",
                        other.shown()
                    )));
                }
            }
        }
        Ok(names)
    }

    pub(super) fn name(&self, argument: &Argument) -> Result<Name, QueryError> {
        match self.value(argument)? {
            Value::Text(name) => Ok(name),
            other => Err(QueryError::invalid(format!(
                "A name is expected here, but got {}",
                other.shown()
            ))),
        }
    }

    /// A whole number.
    pub(super) fn whole_number(&self, argument: &Argument) -> Result<i64, QueryError> {
        let value = self.value(argument)?;
        value.as_long().ok_or_else(|| {
            QueryError::invalid(format!(
                "A whole number is expected here, but got {}",
                value.shown()
            ))
        })
    }

    /// Binds an argument as a child.
    pub(super) fn child(&self, argument: &Argument) -> Result<Plan, QueryError> {
        match argument {
            Argument::Traversal(traversal) => self.plan(&traversal.steps),
            Argument::Predicate(predicate) => Ok(Plan::new(vec![varve_query::plan::Op::Is(
                self.predicate(predicate)?,
            )])),
            Argument::T(token) => Ok(Plan::new(vec![match token {
                T::Id => varve_query::plan::Op::Id,
                T::Label => varve_query::plan::Op::Label,
                T::Key => varve_query::plan::Op::Key,
                T::Value => varve_query::plan::Op::Value,
            }])),
            other => Ok(Plan::new(vec![varve_query::plan::Op::Constant(
                self.value(other)?,
            )])),
        }
    }

    pub(super) fn children(&self, arguments: &[Argument]) -> Result<Vec<Plan>, QueryError> {
        arguments
            .iter()
            .map(|argument| self.child(argument))
            .collect()
    }
}

/// The scope, if the first argument is one, and the other arguments.
pub(super) fn scoped(step: &Step) -> (Scope, &[Argument]) {
    match step.arguments.split_first() {
        Some((Argument::Scope(tree::Scope::Local), rest)) => (Scope::Local, rest),
        Some((Argument::Scope(tree::Scope::Global), rest)) => (Scope::Global, rest),
        _ => (Scope::Global, &step.arguments),
    }
}

pub(super) const fn token_of(token: T) -> Token {
    match token {
        T::Id => Token::Id,
        T::Label => Token::Label,
        T::Key => Token::Key,
        T::Value => Token::Value,
    }
}

pub(super) fn instant_of(instant: tree::DateTime) -> Result<DateTime, QueryError> {
    DateTime::of_seconds(instant.seconds, instant.nanoseconds, instant.offset)
        .ok_or_else(|| QueryError::invalid(format!("The date {instant} is out of range")))
}

/// A random UUID (version 4).
pub(crate) fn random_uuid() -> u128 {
    use std::hash::{BuildHasher, RandomState};
    let half = |number: u8| u128::from(RandomState::new().hash_one(number));
    let random = half(0) << 64 | half(1);
    random & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62
}

/// The first argument of a step that needs one.
pub(super) fn first(step: &Step) -> Result<&Argument, QueryError> {
    step.arguments
        .first()
        .ok_or_else(|| QueryError::invalid(format!("{}() needs an argument", step.name)))
}
