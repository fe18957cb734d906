//! Predicates: `P` and `TextP` of Gremlin.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::value::Comparison;
use crate::{QueryError, Value};

/// A test of one value against another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum Test {
    Eq,
    Neq,
    Lt,
    Lte,
    Gt,
    Gte,
    Within,
    Without,
    Containing,
    NotContaining,
    StartingWith,
    NotStartingWith,
    EndingWith,
    NotEndingWith,
}

/// A condition on a value.
#[derive(Debug, Clone)]
pub enum Predicate {
    /// A test. The operand of `within` and `without` is a list.
    Test(Test, Value),
    /// All of these.
    And(Vec<Predicate>),
    /// One of these.
    Or(Vec<Predicate>),
    /// Not this.
    Not(Box<Predicate>),
    /// A function of the caller's, such as a regular expression.
    Custom(Custom),
}

/// The implementation of a [`Custom`] predicate.
pub(crate) type Decide = dyn Fn(&Value) -> Result<bool, QueryError> + Send + Sync;

/// A predicate with a name, implemented as a function.
#[derive(Clone)]
pub struct Custom {
    /// The predicate's name.
    pub name: &'static str,
    /// The function that decides.
    pub decide: Arc<Decide>,
}

impl std::fmt::Debug for Custom {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl Predicate {
    /// Equality with a value.
    #[must_use]
    pub const fn eq(value: Value) -> Self {
        Self::Test(Test::Eq, value)
    }

    /// Whether the first value to compare with is a text.
    pub(crate) fn is_textual(&self) -> bool {
        match self {
            Self::Test(_, Value::Text(_)) => true,
            Self::Test(_, Value::List(items)) => matches!(items.first(), Some(Value::Text(_))),
            Self::Test(..) | Self::Custom(_) => false,
            Self::And(parts) | Self::Or(parts) => parts.first().is_some_and(Self::is_textual),
            Self::Not(inner) => inner.is_textual(),
        }
    }

    /// Membership in these values.
    #[must_use]
    pub fn within(values: Vec<Value>) -> Self {
        Self::Test(Test::Within, Value::list(values))
    }

    /// Whether `value` satisfies this.
    ///
    /// # Errors
    /// If a test of texts gets a value of another type.
    pub fn holds(&self, value: &Value) -> Result<bool, QueryError> {
        Ok(match self {
            Self::Test(test, bound) => test.holds(value, bound)?,
            Self::And(all) => {
                for each in all {
                    if !each.holds(value)? {
                        return Ok(false);
                    }
                }
                true
            }
            Self::Or(any) => {
                for each in any {
                    if each.holds(value)? {
                        return Ok(true);
                    }
                }
                false
            }
            Self::Not(inner) => !inner.holds(value)?,
            Self::Custom(custom) => (custom.decide)(value)?,
        })
    }

    /// The same predicate with every value to compare with replaced, as `where` does with labels.
    /// `Ok(None)`: one of them has no replacement.
    ///
    /// # Errors
    ///
    /// Those of `replace`.
    pub(crate) fn bound_by(
        &self,
        replace: &mut dyn FnMut(&Value) -> Result<Option<Value>, QueryError>,
    ) -> Result<Option<Self>, QueryError> {
        Ok(Some(match self {
            Self::Test(Test::Within | Test::Without, Value::List(items)) => {
                let mut bounds = Vec::with_capacity(items.len());
                for item in items.iter() {
                    let Some(value) = replace(item)? else {
                        return Ok(None);
                    };
                    // The value of a label may be a collection.
                    match value.items() {
                        Some(members) if !matches!(value, Value::Path(_)) => bounds.extend(members),
                        _ => bounds.push(value),
                    }
                }
                let Self::Test(test, _) = self else {
                    return Ok(None);
                };
                Self::Test(*test, Value::list(bounds))
            }
            Self::Test(test, bound) => match replace(bound)? {
                Some(value) => Self::Test(*test, value),
                None => return Ok(None),
            },
            Self::And(all) => match each(all, replace)? {
                Some(all) => Self::And(all),
                None => return Ok(None),
            },
            Self::Or(any) => match each(any, replace)? {
                Some(any) => Self::Or(any),
                None => return Ok(None),
            },
            Self::Not(inner) => match inner.bound_by(replace)? {
                Some(inner) => Self::Not(Box::new(inner)),
                None => return Ok(None),
            },
            Self::Custom(custom) => Self::Custom(custom.clone()),
        }))
    }
}

fn each(
    all: &[Predicate],
    replace: &mut dyn FnMut(&Value) -> Result<Option<Value>, QueryError>,
) -> Result<Option<Vec<Predicate>>, QueryError> {
    let mut bound = Vec::with_capacity(all.len());
    for predicate in all {
        match predicate.bound_by(replace)? {
            Some(predicate) => bound.push(predicate),
            None => return Ok(None),
        }
    }
    Ok(Some(bound))
}

impl Test {
    fn holds(self, value: &Value, bound: &Value) -> Result<bool, QueryError> {
        let ordered = |wanted: &[Ordering]| match value.compare(bound) {
            Comparison::Ordered(order) => wanted.contains(&order),
            Comparison::None => false,
        };
        Ok(match self {
            Self::Eq => value.equals(bound),
            Self::Neq => !value.equals(bound),
            Self::Lt => ordered(&[Ordering::Less]),
            Self::Lte => ordered(&[Ordering::Less, Ordering::Equal]),
            Self::Gt => ordered(&[Ordering::Greater]),
            Self::Gte => ordered(&[Ordering::Greater, Ordering::Equal]),
            Self::Within => is_among(value, bound),
            Self::Without => !is_among(value, bound),
            Self::Containing => texts(value, bound, |text, part| text.contains(part))?,
            Self::NotContaining => !texts(value, bound, |text, part| text.contains(part))?,
            Self::StartingWith => texts(value, bound, |text, part| text.starts_with(part))?,
            Self::NotStartingWith => !texts(value, bound, |text, part| text.starts_with(part))?,
            Self::EndingWith => texts(value, bound, |text, part| text.ends_with(part))?,
            Self::NotEndingWith => !texts(value, bound, |text, part| text.ends_with(part))?,
        })
    }
}

fn is_among(value: &Value, bound: &Value) -> bool {
    match bound {
        Value::List(items) => items.iter().any(|item| value.equals(item)),
        Value::Set(items) => value.is_in(items),
        other => value.equals(other),
    }
}

fn texts(
    value: &Value,
    bound: &Value,
    decide: impl Fn(&str, &str) -> bool,
) -> Result<bool, QueryError> {
    match (value, bound) {
        (Value::Text(text), Value::Text(part)) => Ok(decide(text, part)),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Text(_), other) | (other, _) => Err(QueryError::cast(other, "String")),
    }
}
