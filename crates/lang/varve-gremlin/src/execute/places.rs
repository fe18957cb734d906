//! Assignment and mutation: variables, and the lists, sets and maps in them.

use std::sync::Arc;

use varve_query::{QueryError, Value};

use super::environment::{Item, unbound};
use super::errors::{no_such_property, on_null, out_of_bounds};
use super::{Run, bytes_of, collections, heap, member_bytes, splices};
use crate::tree::{Argument, BinaryOperator, ComputedKind, Text};

/// A variable, and the keys that lead from its value to a member.
pub(super) struct MemberPath {
    variable: Text,
    keys: Vec<Value>,
}

impl Run<'_> {
    /// Sets a variable. If its value is a text, charges the memory of the text.
    pub(super) fn set(&mut self, name: &Text, item: Item) -> Result<(), QueryError> {
        let item = match item {
            Item::Value(value) => {
                self.host.hold(heap(&value))?;
                Item::Value(value)
            }
            other => splices::bounded(other)?,
        };
        self.environment.set(name.clone(), item);
        Ok(())
    }

    /// The variable and the keys that an expression denotes; `None` if its value is not in a
    /// variable. Evaluates each index in the expression, and carries out each `<<` in it, once.
    pub(super) fn place(
        &mut self,
        expression: &Argument,
    ) -> Result<Option<MemberPath>, QueryError> {
        let computed = match expression {
            Argument::Variable(name) => {
                let is_variable = self.environment.get(name).is_some();
                return Ok(is_variable.then(|| MemberPath {
                    variable: name.clone(),
                    keys: Vec::new(),
                }));
            }
            Argument::Computed(computed) => computed,
            _ => return Ok(None),
        };
        let (receiver, member) = match &computed.kind {
            ComputedKind::Member { receiver, name } => (receiver, Err(name)),
            ComputedKind::Index { receiver, index } => (receiver, Ok(index)),
            // `list << a << b`.
            ComputedKind::Binary(BinaryOperator::Append, list, item) => {
                let place = self.place(list)?;
                if let Some(place) = &place {
                    self.append_at(place, item)?;
                }
                return Ok(place);
            }
            _ => return Ok(None),
        };
        let Some(mut place) = self.place(receiver)? else {
            return Ok(None);
        };
        place.keys.push(match member {
            Ok(index) => self.value(index)?,
            Err(name) => Value::Text(name.clone()),
        });
        Ok(Some(place))
    }

    /// The value at a path.
    pub(super) fn read(&mut self, place: &MemberPath) -> Result<Item, QueryError> {
        let mut item = self.variable(&place.variable)?;
        for key in &place.keys {
            let held = self.value_of(item)?;
            item = Item::Value(self.index(&held, key)?);
        }
        Ok(item)
    }

    /// Changes the value at a path. Collections on the path that are shared with another variable
    /// are copied first; the copies are charged after the change.
    pub(super) fn change<R>(
        &mut self,
        place: &MemberPath,
        change: impl FnOnce(&mut Value) -> Result<R, QueryError>,
    ) -> Result<R, QueryError> {
        let Some(Item::Value(held)) = self.environment.get_mut(&place.variable) else {
            return Err(unbound(&place.variable));
        };
        let mut copies = Copies::default();
        let result = member_at(held, &place.keys, &mut copies).and_then(change);
        self.charge(&copies)?;
        result
    }

    /// Charges copies of shared collections.
    pub(super) fn charge(&mut self, copies: &Copies) -> Result<(), QueryError> {
        self.step(copies.members as u64)?;
        self.host.hold(copies.bytes)
    }

    /// Evaluates `target = value` and `target += value`.
    pub(super) fn assign(
        &mut self,
        target: &Argument,
        operator: Option<BinaryOperator>,
        value: &Argument,
    ) -> Result<Item, QueryError> {
        if let (Argument::Variable(name), None) = (target, operator) {
            let item = self.eval(value)?;
            self.set(name, item.clone())?;
            return Ok(item);
        }
        let place = self.target(target)?;
        let item = match operator {
            None => self.eval(value)?,
            Some(operator) => {
                let before = self.read(&place)?;
                let before = self.value_of(before)?;
                let by = self.value(value)?;
                Item::Value(self.operate(operator, &before, &by)?)
            }
        };
        self.put(place, item)
    }

    /// Evaluates `x++` and `--x`. `before` selects the result: the old value, or the new one.
    pub(super) fn count_by(
        &mut self,
        target: &Argument,
        by: i8,
        before: bool,
    ) -> Result<Item, QueryError> {
        let place = self.target(target)?;
        let old = self.read(&place)?;
        let old = self.value_of(old)?;
        let new = self.operate(BinaryOperator::Add, &old, &Value::Int(i32::from(by)))?;
        let new = self.put(place, Item::Value(new))?;
        Ok(if before { Item::Value(old) } else { new })
    }

    /// The path of an assignment's target; an error if it is not in a variable.
    fn target(&mut self, target: &Argument) -> Result<MemberPath, QueryError> {
        if let Argument::Variable(name) = target
            && self.environment.get(name).is_none()
        {
            return Err(unbound(name));
        }
        self.place(target)?.ok_or_else(|| {
            QueryError::invalid("Only a variable, and a member or an entry of one, can be set")
        })
    }

    fn put(&mut self, mut place: MemberPath, item: Item) -> Result<Item, QueryError> {
        let Some(key) = place.keys.pop() else {
            self.set(&place.variable, item.clone())?;
            return Ok(item);
        };
        let value = self.value_of(item)?;
        self.added(&value)?;
        self.host.hold(size_of::<Value>() + heap(&key))?;
        let item = Item::Value(value.clone());
        self.change(&place, |held| collections::put(held, key, value).map(drop))?;
        Ok(item)
    }

    /// Evaluates `list << item`.
    pub(super) fn append(&mut self, list: &Argument, item: &Argument) -> Result<Item, QueryError> {
        if let Some(place) = self.place(list)? {
            self.append_at(&place, item)?;
            return self.read(&place);
        }
        let mut held = self.value(list)?;
        let value = self.value(item)?;
        self.added(&value)?;
        collections::add(&mut held, value)?;
        self.made(held).map(Item::Value)
    }

    fn append_at(&mut self, place: &MemberPath, item: &Argument) -> Result<(), QueryError> {
        let value = self.value(item)?;
        self.added(&value)?;
        let spread = self.change(place, |held| {
            let spread = collections::spread_bytes(held, "add", std::slice::from_ref(&value));
            collections::add(held, value).map(|_| spread)
        })?;
        self.host.hold(spread)
    }

    /// Charges a value that is added to a collection.
    pub(super) fn added(&mut self, value: &Value) -> Result<(), QueryError> {
        let members = value.members()?;
        self.step(members as u64)?;
        self.host.hold(member_bytes(value))
    }
}

/// The size of the shared collections that a change copies.
#[derive(Default)]
pub(super) struct Copies {
    members: usize,
    bytes: usize,
}

impl Copies {
    /// Adds a collection, if it is shared.
    pub(super) fn add(&mut self, value: &Value) {
        if let Some(members) = collections::shared_members(value) {
            self.members += members;
            self.bytes += bytes_of(value);
        }
    }
}

/// A mutable reference to the member that the keys lead to. Adds the collections on the path to it
/// and itself to `copies`, also those before an error.
fn member_at<'v>(
    held: &'v mut Value,
    keys: &[Value],
    copies: &mut Copies,
) -> Result<&'v mut Value, QueryError> {
    let mut value = held;
    copies.add(value);
    for key in keys {
        value = member_of(value, key)?;
        copies.add(value);
    }
    Ok(value)
}

/// A mutable reference to a member of a collection; an error if there is no such member.
fn member_of<'v>(held: &'v mut Value, key: &Value) -> Result<&'v mut Value, QueryError> {
    match held {
        Value::Map(map) => match Arc::make_mut(map).get_mut(key) {
            Some(value) => Ok(value),
            None => Err(on_null("set a property")),
        },
        Value::List(items) => {
            let items = Arc::make_mut(items);
            let size = items.len();
            let place = collections::place_in(size, key)?;
            let wrong = || out_of_bounds(key.as_long().unwrap_or_default(), size);
            items.get_mut(place).ok_or_else(wrong)
        }
        other => Err(no_such_property(&Item::Value(other.clone()), "[]")),
    }
}
