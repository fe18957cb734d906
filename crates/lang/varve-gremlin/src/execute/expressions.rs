//! Expressions: literals, operators, members, indexes, calls.

use std::time::Duration;

use varve_query::{QueryError, Value};

use super::environment::{Item, unbound};
use super::errors::{ILLEGAL_ARGUMENT, no_such_property, on_null, out_of_bounds};
use super::splices::Extent;
use super::{Named, Run, Source, arithmetic, member_bytes};
use crate::bind::{self, NoVariables};
use crate::tree::{Argument, BinaryOperator, Computed, ComputedKind, Text, UnaryOperator};

impl Run<'_> {
    /// Evaluates an expression.
    pub(super) fn eval(&mut self, expression: &Argument) -> Result<Item, QueryError> {
        self.step(1)?;
        match expression {
            Argument::Variable(name) => self.variable(name),
            Argument::Computed(computed) => self.computed(computed),
            Argument::Traversal(traversal) => self.traversal(traversal),
            Argument::List(items) => {
                let items = self.values_of(items)?;
                self.made(Value::list(items)).map(Item::Value)
            }
            Argument::Set(items) => {
                let items = self.values_of(items)?;
                self.made(Value::set(items)).map(Item::Value)
            }
            Argument::Map(entries) => {
                let mut values = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    values.push((self.value(key)?, self.value(value)?));
                }
                self.made(Value::map(values)).map(Item::Value)
            }
            Argument::Predicate(_)
            | Argument::Strategy(_)
            | Argument::CardinalityValue(..)
            | Argument::Range(_)
            | Argument::Element(_)
            | Argument::Now
            | Argument::RandomUuid => {
                let resolved = self.resolve(expression)?;
                match bind::value(&resolved, &NoVariables) {
                    Ok(value) => self.made(value).map(Item::Value),
                    Err(_) if !matches!(expression, Argument::Range(_)) => {
                        Ok(Item::Argument(resolved))
                    }
                    Err(error) => Err(error),
                }
            }
            // A token stays an argument, so that a step can take it.
            token if token.token().is_some() => Ok(Item::Argument(token.clone())),
            literal => bind::value(literal, &NoVariables).map(Item::Value),
        }
    }

    /// Evaluates an expression to one value. The value of a traversal is the list of its results.
    pub(super) fn value(&mut self, expression: &Argument) -> Result<Value, QueryError> {
        let item = self.eval(expression)?;
        self.value_of(item)
    }

    fn values_of(&mut self, expressions: &[Argument]) -> Result<Vec<Value>, QueryError> {
        expressions.iter().map(|one| self.value(one)).collect()
    }

    /// Converts an item to one value.
    pub(super) fn value_of(&mut self, item: Item) -> Result<Value, QueryError> {
        match item {
            Item::Value(value) | Item::Element(value) => Ok(value),
            Item::Nothing => Ok(Value::Null),
            Item::Argument(argument @ Argument::Traversal(_)) => {
                let name = crate::signatures::kind_name(&argument);
                Err(QueryError::invalid(format!(
                    "A {name} without a source has no value: begin it with g"
                )))
            }
            Item::Argument(argument) => match bind::value(&argument, &NoVariables) {
                Ok(value) => Ok(value),
                // A token that is not a value becomes its name.
                Err(_) if argument.token().is_some() => {
                    Ok(Value::text(argument.token().map_or("", |(_, name)| name)))
                }
                Err(error) => Err(error),
            },
            Item::Traversal(_) | Item::Results(_) => {
                let items = self.items_of(item)?;
                Ok(Value::list(items))
            }
            Item::Exception { class, message } => Ok(Value::text(&format!("{class}: {message}"))),
            other => self.text_of(&other).map(|text| Value::text(&text)),
        }
    }

    /// The text of an item that is not a value.
    fn text_of(&self, item: &Item) -> Result<String, QueryError> {
        Ok(match item {
            Item::Graph(name) => format!("hugegraph[{name}]"),
            Item::Source(Source::Traversal(name) | Source::Graph(name), _) => {
                format!("graphtraversalsource[{name}]")
            }
            other => {
                let kind = other.kind();
                return Err(QueryError::invalid(format!("A {kind} is no value")));
            }
        })
    }

    /// The items of a loop `for (x in …)` or of `toList()`.
    pub(super) fn items_of(&mut self, item: Item) -> Result<Vec<Value>, QueryError> {
        Ok(match item {
            Item::Traversal(lazy) => {
                let results = self.run_lazy(&lazy, None)?;
                self.list_of(results)?
            }
            Item::Results(results) => results.iter().cloned().collect(),
            Item::Nothing | Item::Value(Value::Null) => Vec::new(),
            Item::Value(Value::Text(text)) => {
                self.step(text.len() as u64)?;
                self.host.hold(text.len() * size_of::<Value>())?;
                text.chars().map(character).collect()
            }
            other => {
                let value = self.value_of(other)?;
                let items = value.items().unwrap_or_else(|| vec![value]);
                self.step(items.len() as u64)?;
                self.host.hold(items.len() * size_of::<Value>())?;
                items
            }
        })
    }

    /// The item in a variable.
    pub(super) fn held_by(&mut self, name: &str) -> Result<Option<Item>, QueryError> {
        match self.environment.get(name) {
            Some(item @ Item::Argument(_)) => {
                let extent = Extent::of(item);
                self.copied(&extent)?;
                Ok(self.environment.get(name).cloned())
            }
            other => Ok(other.cloned()),
        }
    }

    /// The item in a variable, or with this name in the host.
    pub(super) fn variable(&mut self, name: &Text) -> Result<Item, QueryError> {
        if let Some(item) = self.held_by(name)? {
            return Ok(item);
        }
        match name.as_str() {
            "this" | "binding" => return Ok(Item::Binding),
            "gremlinJob" => return Ok(Item::Job),
            _ => {}
        }
        Ok(match self.host.named(name) {
            Some(Named::Source) => Item::Source(Source::Traversal(name.clone()), Vec::new().into()),
            Some(Named::Graph) => Item::Graph(name.clone()),
            None => return Err(unbound(name)),
        })
    }

    fn computed(&mut self, computed: &Computed) -> Result<Item, QueryError> {
        match &computed.kind {
            ComputedKind::Call {
                receiver: None,
                name,
                arguments,
            } => self.function(name, arguments),
            ComputedKind::Call {
                receiver: Some(receiver),
                name,
                arguments,
            } => self.call(receiver, name, arguments),
            ComputedKind::Member { receiver, name } => {
                let item = self.eval(receiver)?;
                self.member(item, name)
            }
            ComputedKind::Index { receiver, index } => {
                let item = self.eval(receiver)?;
                let index = self.value(index)?;
                let held = self.value_of(item)?;
                self.index(&held, &index).map(Item::Value)
            }
            ComputedKind::Assign {
                target,
                operator,
                value,
            } => self.assign(target, *operator, value),
            ComputedKind::Step { target, by, before } => self.count_by(target, *by, *before),
            ComputedKind::Unary(operator, operand) => self.unary(*operator, operand),
            ComputedKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ComputedKind::Ternary {
                condition,
                then: Some(then),
                otherwise,
            } => match self.holds(condition)? {
                true => self.eval(then),
                false => self.eval(otherwise),
            },
            ComputedKind::Ternary {
                condition,
                then: None,
                otherwise,
            } => {
                let item = self.eval(condition)?;
                match self.truth(&item)? {
                    true => Ok(item),
                    false => self.eval(otherwise),
                }
            }
        }
    }

    /// Evaluates a condition by Groovy's rules of truth.
    pub(super) fn holds(&mut self, condition: &Argument) -> Result<bool, QueryError> {
        let item = self.eval(condition)?;
        self.truth(&item)
    }

    fn truth(&mut self, item: &Item) -> Result<bool, QueryError> {
        Ok(match item {
            Item::Value(value) => arithmetic::truth(value),
            Item::Traversal(lazy) => !self.run_lazy(lazy, Some(1))?.is_empty(),
            Item::Results(results) => !results.is_empty(),
            Item::Nothing => false,
            _ => true,
        })
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Argument) -> Result<Item, QueryError> {
        if operator == UnaryOperator::Not {
            return Ok(Item::Value(Value::Bool(!self.holds(operand)?)));
        }
        let value = self.value(operand)?;
        arithmetic::signed(&value, operator == UnaryOperator::Minus).map(Item::Value)
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &Argument,
        right: &Argument,
    ) -> Result<Item, QueryError> {
        match operator {
            BinaryOperator::And => {
                let both = self.holds(left)? && self.holds(right)?;
                return Ok(Item::Value(Value::Bool(both)));
            }
            BinaryOperator::Or => {
                let one = self.holds(left)? || self.holds(right)?;
                return Ok(Item::Value(Value::Bool(one)));
            }
            BinaryOperator::Append => return self.append(left, right),
            _ => {}
        }
        let a = self.eval(left)?;
        let b = self.eval(right)?;
        let has_value = |item: &Item| matches!(item, Item::Value(_) | Item::Argument(_));
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual)
            && !(has_value(&a) && has_value(&b))
            && !matches!((&a, &b), (Item::Nothing, _) | (_, Item::Nothing))
        {
            // Graphs, sources and the like are not equal to anything.
            let differ = operator == BinaryOperator::NotEqual;
            return Ok(Item::Value(Value::Bool(differ)));
        }
        let (a, b) = (self.value_of(a)?, self.value_of(b)?);
        self.operate(operator, &a, &b).map(Item::Value)
    }

    /// Applies an operator to two values.
    pub(super) fn operate(
        &mut self,
        operator: BinaryOperator,
        a: &Value,
        b: &Value,
    ) -> Result<Value, QueryError> {
        self.step(arithmetic::cost(a)? + arithmetic::cost(b)?)?;
        let result = arithmetic::binary(operator, a, b)?;
        self.made(result)
    }

    fn function(&mut self, name: &Text, arguments: &[Argument]) -> Result<Item, QueryError> {
        let mut values = self.values_of(arguments)?;
        let wrong = || QueryError::invalid(format!("{name}() takes one argument"));
        let value = values.pop().ok_or_else(wrong)?;
        match (name.as_str(), &value) {
            ("sleep", time) => {
                let millis = time.as_long().and_then(|time| u64::try_from(time).ok());
                let millis = millis.ok_or_else(|| {
                    QueryError::script(ILLEGAL_ARGUMENT, "timeout value is negative")
                })?;
                self.host.sleep(Duration::from_millis(millis))?;
                Ok(Item::NULL)
            }
            ("datetime", Value::Text(text)) => {
                let instant = crate::tree::DateTime::from_text(text).ok_or_else(|| {
                    QueryError::invalid(format!("'{text}' is not a date and time"))
                })?;
                self.eval(&Argument::DateTime(instant))
            }
            ("UUID", Value::Text(text)) => match crate::literals::uuid(text) {
                Ok(uuid) => Ok(Item::Value(Value::Uuid(uuid))),
                Err(wrong) => Err(QueryError::invalid(wrong)),
            },
            _ => Err(QueryError::cast(&value, "String")),
        }
    }

    /// Evaluates `receiver.name`.
    fn member(&mut self, receiver: Item, name: &Text) -> Result<Item, QueryError> {
        match &receiver {
            Item::Value(Value::Map(map)) | Item::Element(Value::Map(map)) => {
                let value = map.get(&Value::Text(name.clone()));
                Ok(Item::Value(value.cloned().unwrap_or_default()))
            }
            Item::Value(Value::Null) => Err(on_null(&format!("get property '{name}'"))),
            Item::Value(Value::Entry(entry)) if name == "key" => Ok(Item::Value(entry.0.clone())),
            Item::Value(Value::Entry(entry)) if name == "value" => Ok(Item::Value(entry.1.clone())),
            Item::Binding if name == "binding" || name == "variables" => Ok(Item::Binding),
            Item::Binding => self.variable(name),
            Item::Exception { message, .. } if name == "message" => Ok(Item::text(message)),
            Item::Value(Value::List(_) | Value::Set(_)) if name == "length" => {
                self.method(receiver, &Text::const_new("size"), Vec::new())
            }
            _ => Err(no_such_property(&receiver, name)),
        }
    }

    /// Evaluates `held[index]`.
    pub(super) fn index(&mut self, held: &Value, index: &Value) -> Result<Value, QueryError> {
        match held {
            Value::Map(map) => Ok(map.get(index).cloned().unwrap_or_default()),
            Value::Null => Err(on_null("invoke method getAt()")),
            Value::List(items) => match index {
                // A range of indexes.
                Value::List(places) => {
                    self.step(places.len() as u64)?;
                    // One member may be picked many times: each copy is charged at once.
                    let mut picked = Vec::new();
                    for place in places.iter() {
                        let item = at(items, place)?;
                        self.host.hold(member_bytes(&item))?;
                        picked.push(item);
                    }
                    let picked = Value::list(picked);
                    self.counted(&picked)?;
                    Ok(picked)
                }
                place => at(items, place),
            },
            Value::Text(text) if !matches!(index, Value::List(_)) => {
                self.step((text.len() / BYTES_A_STEP) as u64)?;
                character_at(text, index)
            }
            Value::Text(_) | Value::Set(_) | Value::Path(_) => {
                let items = self.items_of(Item::Value(held.clone()))?;
                self.index(&Value::list(items), index)
            }
            other => Err(no_such_property(&Item::Value(other.clone()), "[]")),
        }
    }
}

/// Bytes of a text that are scanned in one step.
const BYTES_A_STEP: usize = 64;

fn character(one: char) -> Value {
    Value::text(one.encode_utf8(&mut [0; 4]))
}

/// The character at an index, by the rules of [`at`].
fn character_at(text: &str, place: &Value) -> Result<Value, QueryError> {
    let place = place
        .as_long()
        .ok_or_else(|| QueryError::cast(place, "Integer"))?;
    let far = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
    if place >= 0 {
        return Ok(text.chars().nth(far).map(character).unwrap_or_default());
    }
    match text.chars().nth_back(far - 1) {
        Some(one) => Ok(character(one)),
        None => Err(out_of_bounds(place, text.chars().count())),
    }
}

/// The item at an index. A negative index counts from the end; beyond the end, the item is null.
fn at(items: &[Value], place: &Value) -> Result<Value, QueryError> {
    let place = place
        .as_long()
        .ok_or_else(|| QueryError::cast(place, "Integer"))?;
    let from_end = || usize::try_from(items.len() as i64 + place);
    match usize::try_from(place) {
        Ok(place) => Ok(items.get(place).cloned().unwrap_or_default()),
        Err(_) => match from_end() {
            Ok(place) => Ok(items[place].clone()),
            Err(_) => Err(out_of_bounds(place, items.len())),
        },
    }
}
