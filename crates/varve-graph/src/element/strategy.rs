//! How a batch update combines a stored value with a new one.

use std::cmp::Ordering;

use varve_model::value::Cardinality;
use varve_model::{Properties, PropertyKey, PropertyKeyId, Value};

use super::convert::{Members, convert, expected_class};
use super::input::RawValue;
use super::text::{class_name, of_value};
use crate::GraphError;
use crate::schema::Schema;

/// The types that strategies combine, as messages name them.
const NUMBER: &str = "Number";
const DATE_OR_NUMBER: &str = "Date or Number";
const COLLECTION: &str = "Set or List";

/// How an update combines a stored value with a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateStrategy {
    /// The sum; for numbers.
    Sum,
    /// The greater value; for numbers or dates.
    Bigger,
    /// The smaller value; for numbers or dates.
    Smaller,
    /// The members of either, each once; for collections.
    Union,
    /// The members of both, each once; for collections.
    Intersection,
    /// The stored members, then the new ones; for collections. For sets the same as `Union`.
    Append,
    /// The stored members without the new ones; for collections.
    Eliminate,
    /// The new value.
    Override,
}

varve_model::names! { UpdateStrategy, "update strategy":
    Sum = "SUM", Bigger = "BIGGER", Smaller = "SMALLER", Union = "UNION",
    Intersection = "INTERSECTION", Append = "APPEND", Eliminate = "ELIMINATE",
    Override = "OVERRIDE",
}

impl UpdateStrategy {
    /// Combines a stored value of `key` with a new one.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] when the strategy does not fit the values, or a sum
    /// does not fit the data type.
    pub fn combine(self, key: &PropertyKey, old: &Value, new: &Value) -> Result<Value, GraphError> {
        match self {
            Self::Override => Ok(new.clone()),
            Self::Sum => self.sum(key, old, new),
            Self::Bigger => self.choose(old, new, Ordering::Greater),
            Self::Smaller => self.choose(old, new, Ordering::Less),
            Self::Union | Self::Intersection | Self::Append | Self::Eliminate => {
                self.collect(old, new)
            }
        }
    }

    /// Refuses the strategy for a property key of a type that it does not combine.
    fn check(self, key: &PropertyKey) -> Result<(), GraphError> {
        let single = key.cardinality == Cardinality::Single;
        let (wanted, fits) = match self {
            Self::Override => return Ok(()),
            Self::Sum => (NUMBER, single && key.data_type.is_number()),
            Self::Bigger | Self::Smaller => {
                (DATE_OR_NUMBER, single && key.data_type.is_rangeable())
            }
            Self::Union | Self::Intersection | Self::Append | Self::Eliminate => {
                (COLLECTION, !single)
            }
        };
        if fits {
            return Ok(());
        }
        let class = match key.cardinality {
            Cardinality::Single => expected_class(key.data_type),
            Cardinality::List => "ArrayList",
            Cardinality::Set => "LinkedHashSet",
        };
        // JSON has no dates: the original sees the number that was sent.
        let sent = match class {
            "Date" => "Long",
            other => other,
        };
        Err(self.unfit(wanted, class, sent))
    }

    fn sum(self, key: &PropertyKey, old: &Value, new: &Value) -> Result<Value, GraphError> {
        match (old, new) {
            (Value::Float(a), Value::Float(b)) => Ok(Value::Float(a + b)),
            (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
            (
                Value::Byte(_) | Value::Int(_) | Value::Long(_),
                Value::Byte(_) | Value::Int(_) | Value::Long(_),
            ) => {
                let number = |value: &Value| value.as_i64().unwrap_or(0);
                match number(old).checked_add(number(new)) {
                    Some(sum) => convert(key, RawValue::Integer(sum)),
                    None => Err(GraphError::invalid(format!(
                        "Invalid property value for key '{}': the sum of {} and {} does not fit",
                        key.name,
                        of_value(old),
                        of_value(new)
                    ))),
                }
            }
            _ => Err(self.unfit(NUMBER, class_name(old), class_name(new))),
        }
    }

    fn choose(self, old: &Value, new: &Value, wanted: Ordering) -> Result<Value, GraphError> {
        let fits = |value: &Value| value.as_f64().is_some();
        match old.compare(new) {
            Some(order) if fits(old) && fits(new) => {
                Ok(if order == wanted { old } else { new }.clone())
            }
            _ => Err(self.unfit(DATE_OR_NUMBER, class_name(old), class_name(new))),
        }
    }

    fn collect(self, old: &Value, new: &Value) -> Result<Value, GraphError> {
        match (old, new) {
            (Value::Set(a), Value::Set(b)) => {
                let strategy = if self == Self::Append {
                    Self::Union
                } else {
                    self
                };
                Ok(Value::Set(strategy.members(a, b)))
            }
            (Value::List(a), Value::List(b)) => Ok(Value::List(self.members(a, b))),
            _ => Err(self.unfit(COLLECTION, class_name(old), class_name(new))),
        }
    }

    fn members(self, old: &[Value], new: &[Value]) -> Vec<Value> {
        let listed = Members::of(new);
        match self {
            Self::Union => {
                let mut members = Members::of(old);
                new.iter().for_each(|item| members.add(item.clone()));
                members.into_items()
            }
            Self::Intersection => {
                let mut members = Members::default();
                old.iter()
                    .filter(|item| listed.contains(item))
                    .for_each(|item| members.add(item.clone()));
                members.into_items()
            }
            Self::Eliminate => old
                .iter()
                .filter(|item| !listed.contains(item))
                .cloned()
                .collect(),
            _ => old.iter().chain(new).cloned().collect(),
        }
    }

    fn unfit(self, wanted: &str, old: &str, new: &str) -> GraphError {
        GraphError::invalid(format!(
            "Property type must be {wanted} for strategy {}, but got type {old}, {new}",
            self.name()
        ))
    }
}

/// The strategies of one request, by property key.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Strategies(Vec<(PropertyKeyId, UpdateStrategy)>);

impl Strategies {
    /// Resolves names of property keys. Unknown names are ignored, as in HugeGraph. Of several
    /// strategies for one key, the last counts.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] when a strategy does not fit the type of its property
    /// key. An open graph has no such check.
    pub fn resolve<'n>(
        schema: &Schema,
        named: impl IntoIterator<Item = (&'n str, UpdateStrategy)>,
    ) -> Result<Self, GraphError> {
        let known = named.into_iter().filter_map(|(name, strategy)| {
            let key = schema.property_key_by_name(name)?;
            Some((key, strategy))
        });
        let mut strategies = Vec::new();
        for (key, strategy) in known {
            // In an open graph, the values of a key may have any type.
            if !schema.is_open() {
                strategy.check(key)?;
            }
            strategies.push((key.id, strategy));
        }
        Ok(Self(strategies))
    }

    fn of(&self, key: PropertyKeyId) -> Option<UpdateStrategy> {
        let found = self.0.iter().rev().find(|(named, _)| *named == key);
        found.map(|(_, strategy)| *strategy)
    }

    /// Merges `new` into `old`. A property in both is combined by its strategy, or replaced if it
    /// has none. A property in only one of them is kept. (HugeGraph drops stored properties that
    /// neither `new` nor the strategies name.) Properties in `fixed` are part of the id, so they
    /// are equal in both, and the stored ones stay.
    ///
    /// # Errors
    /// As [`UpdateStrategy::combine`].
    pub fn merge(
        &self,
        schema: &Schema,
        fixed: &[PropertyKeyId],
        old: &Properties,
        new: &Properties,
    ) -> Result<Properties, GraphError> {
        let mut merged = old.clone();
        for (id, value) in new.iter() {
            if fixed.contains(&id) {
                continue;
            }
            let combined = match (old.get(id), self.of(id), schema.property_key(id)) {
                (Some(stored), Some(strategy), Some(key)) => {
                    strategy.combine(key, stored, value)?
                }
                _ => value.clone(),
            };
            merged.set(id, combined);
        }
        Ok(merged)
    }
}
