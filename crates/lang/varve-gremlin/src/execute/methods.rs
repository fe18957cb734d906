//! Method calls, by the kind of the receiver.

use varve_query::{QueryError, Value};

use super::environment::{Item, unbound};
use super::errors::{no_such_method, on_null};
use super::places::Copies;
use super::{Run, Source, TransactionEnd, arithmetic, collections, splices, texts};
use crate::tree::{Argument, StepName, Text};

impl Run<'_> {
    /// Evaluates `receiver.name(arguments)`.
    pub(super) fn call(
        &mut self,
        receiver: &Argument,
        name: &Text,
        arguments: &[Argument],
    ) -> Result<Item, QueryError> {
        if matches!(name.as_str(), "next" | "hasNext" | "tryNext")
            && let Argument::Variable(variable) = receiver
            && let Some(Item::Traversal(_) | Item::Results(_)) = self.environment.get(variable)
        {
            let most = match arguments {
                [most] => Some(self.value(most)?),
                _ => None,
            };
            return self.iterate(variable, name, most.as_ref());
        }
        let place = match collections::changes(name) {
            true => self.place(receiver)?,
            false => None,
        };
        let item = match &place {
            Some(place) => self.read(place)?,
            None => self.eval(receiver)?,
        };
        let given = arguments.iter().map(|one| self.eval(one));
        let given = given.collect::<Result<Vec<_>, _>>()?;
        let mut held = match item {
            Item::Value(held @ (Value::List(_) | Value::Set(_) | Value::Map(_)))
                if collections::changes(name) =>
            {
                held
            }
            other => return self.method(other, name, given),
        };
        let mut values = Vec::with_capacity(given.len());
        for item in given {
            let value = self.value_of(item)?;
            self.added(&value)?;
            values.push(value);
        }
        self.step(collections::change_cost(&held, name, &values))?;
        self.host
            .hold(collections::spread_bytes(&held, name, &values))?;
        let Some(place) = place else {
            // The collection may be that of a variable, as in `(list ?: []).add(1)`.
            let mut copies = Copies::default();
            copies.add(&held);
            self.charge(&copies)?;
            return collections::change(&mut held, name, values).map(Item::Value);
        };
        // A second reference would make the change copy the collection.
        drop(held);
        let changed = self.change(&place, |held| collections::change(held, name, values));
        changed.map(Item::Value)
    }

    /// Calls a method of an item.
    pub(super) fn method(
        &mut self,
        receiver: Item,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        match receiver {
            Item::Value(value) | Item::Element(value) => self.value_method(value, name, arguments),
            Item::Traversal(lazy) => self.lazy_method(&lazy, name, arguments),
            Item::Results(_) => self.results_method(receiver, name, &arguments),
            Item::Argument(Argument::Traversal(mut nested)) => match StepName::from_text(name) {
                Some(step) => {
                    nested.steps.push(self.new_step(step, arguments)?);
                    splices::bounded(Item::Argument(Argument::Traversal(nested)))
                }
                None => {
                    let nested = Item::Argument(Argument::Traversal(nested));
                    Err(no_such_method(&nested, name, &arguments))
                }
            },
            Item::Source(source, with) => match (name.as_str(), arguments.is_empty()) {
                ("tx", true) => Ok(Item::Transaction(source)),
                ("close", true) => Ok(Item::NULL),
                ("getGraph" | "graph", true) => {
                    let (Source::Traversal(name) | Source::Graph(name)) = source;
                    Ok(Item::Graph(name))
                }
                _ => self.plain_method(Item::Source(source, with), name, arguments),
            },
            Item::Graph(graph) => self.graph_method(&graph, name, arguments),
            Item::Transaction(source) => self.transaction_method(&source, name, &arguments),
            Item::Schema(graph) => self.schema_method(&graph, name, arguments),
            Item::Maker(maker) => self.maker_method(&maker, name, arguments),
            Item::Binding => self.binding_method(name, arguments),
            Item::Job => match (name.as_str(), arguments.as_slice()) {
                ("updateProgress", [Item::Value(progress)]) => {
                    let progress = progress.as_long().and_then(|at| u64::try_from(at).ok());
                    self.host.progress(progress.unwrap_or(0))?;
                    Ok(Item::NULL)
                }
                _ => Err(no_such_method(&Item::Job, name, &arguments)),
            },
            // The result of `iterate()`, or of `tryNext()` when no result is left.
            Item::Nothing => match (name.as_str(), arguments.into_iter().next()) {
                ("isPresent", None) => Ok(Item::Value(Value::Bool(false))),
                ("orElse", Some(other)) => Ok(other),
                _ => Err(on_null(&format!("invoke method {name}()"))),
            },
            other => self.plain_method(other, name, arguments),
        }
    }

    /// Calls a method of a query value.
    fn value_method(
        &mut self,
        value: Value,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        match (name.as_str(), arguments.as_slice()) {
            ("isPresent", []) => return Ok(Item::Value(Value::Bool(!value.is_null()))),
            ("orElse", [other]) if value.is_null() => return Ok(other.clone()),
            _ => {}
        }
        if let Value::Vertex(_) | Value::Edge(..) | Value::VertexProperty(_) | Value::Property(_) =
            &value
            && let Some(item) = self.element_method(&value, name, &arguments)?
        {
            return Ok(item);
        }
        let mut given = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            given.push(self.value_of(argument.clone())?);
        }
        if !collections::is_cheap(name) {
            self.step(arithmetic::cost(&value)?)?;
            // A comparison charges its operands itself.
            let is_compared = matches!(name.as_str(), "equals" | "compareTo");
            for argument in given.iter().filter(|_| !is_compared) {
                self.step(arithmetic::cost(argument)?)?;
            }
        }
        let flattens = name == "flatten";
        if flattens {
            self.host.hold(collections::flat_bytes(&value))?;
        }
        let found = match texts::call(&value, name, &given)? {
            Some(found) => Some(found),
            None => collections::call(&value, name, &given)?,
        };
        match found {
            Some(found) if collections::is_cheap(name) => Ok(Item::Value(found)),
            Some(found) if flattens => {
                self.counted(&found)?;
                Ok(Item::Value(found))
            }
            Some(found) => self.made(found).map(Item::Value),
            None => self.plain_method(Item::Value(value), name, arguments),
        }
    }

    /// Calls `toString`, which every item with a value has; `equals` and `compareTo` of a query
    /// value; and `getMessage` of an exception. Any method of null except `toString` is an error.
    fn plain_method(
        &mut self,
        receiver: Item,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        match (name.as_str(), arguments.as_slice(), &receiver) {
            ("toString", [], Item::Exception { class, message }) => {
                Ok(Item::text(&format!("{class}: {message}")))
            }
            ("getMessage", [], Item::Exception { message, .. }) => Ok(Item::text(message)),
            ("toString", [], _) => {
                let value = self.value_of(receiver)?;
                let text = Value::Text(value.to_text()?);
                self.made(text).map(Item::Value)
            }
            ("equals" | "compareTo", [_], Item::Value(Value::Null))
            | (_, _, Item::Value(Value::Null)) => Err(on_null(&format!("invoke method {name}()"))),
            ("equals" | "compareTo", [other], Item::Value(value)) => {
                let other = self.value_of(other.clone())?;
                let operator = match name.as_str() {
                    "equals" => crate::tree::BinaryOperator::Equal,
                    _ => crate::tree::BinaryOperator::Compare,
                };
                let value = value.clone();
                self.operate(operator, &value, &other).map(Item::Value)
            }
            _ => Err(no_such_method(&receiver, name, &arguments)),
        }
    }

    /// Calls a method of results as a list, except those that take results from a variable
    /// ([`Run::iterate`]).
    fn results_method(
        &mut self,
        receiver: Item,
        name: &Text,
        arguments: &[Item],
    ) -> Result<Item, QueryError> {
        if !arguments.is_empty() {
            return Err(no_such_method(&receiver, name, arguments));
        }
        let items = Value::list(self.items_of(receiver)?);
        match name.as_str() {
            "toList" | "toBulkSet" => Ok(Item::Value(items)),
            "iterate" => Ok(Item::Nothing),
            _ => self.value_method(items, name, Vec::new()),
        }
    }

    fn transaction_method(
        &mut self,
        source: &Source,
        name: &Text,
        arguments: &[Item],
    ) -> Result<Item, QueryError> {
        match (name.as_str(), arguments) {
            ("commit", []) => self.host.end(source, TransactionEnd::Commit)?,
            ("rollback", []) => self.host.end(source, TransactionEnd::Rollback)?,
            ("begin", []) => return Ok(Item::Source(source.clone(), Vec::new().into())),
            ("open" | "close", []) => {}
            ("isOpen", []) => return Ok(Item::Value(Value::Bool(true))),
            _ => {
                let transaction = Item::Transaction(source.clone());
                return Err(no_such_method(&transaction, name, arguments));
            }
        }
        Ok(Item::NULL)
    }

    fn binding_method(&mut self, name: &Text, arguments: Vec<Item>) -> Result<Item, QueryError> {
        match (name.as_str(), arguments.as_slice()) {
            ("getVariable", [Item::Value(Value::Text(variable))]) => self.variable(variable),
            ("hasVariable", [Item::Value(Value::Text(variable))]) => {
                let found = self.variable(variable);
                Ok(Item::Value(Value::Bool(found.is_ok())))
            }
            ("setVariable", [Item::Value(Value::Text(variable)), item]) => {
                self.keeps(variable, item)?;
                self.set(variable, item.clone())?;
                Ok(Item::NULL)
            }
            _ => Err(no_such_method(&Item::Binding, name, &arguments)),
        }
    }

    fn graph_method(
        &mut self,
        graph: &Text,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        let source = Source::Graph(graph.clone());
        match (name.as_str(), arguments.as_slice()) {
            ("traversal", []) => Ok(Item::Source(source, Vec::new().into())),
            ("schema", []) => Ok(Item::Schema(graph.clone())),
            ("tx", []) => Ok(Item::Transaction(source)),
            ("name", []) => Ok(Item::Value(Value::Text(graph.clone()))),
            ("close", []) => Ok(Item::NULL),
            ("addVertex", _) => self.add_vertex(source, arguments),
            ("vertices" | "edges" | "vertex" | "edge", _) => {
                self.elements_of(source, name, arguments)
            }
            _ => self.plain_method(Item::Graph(graph.clone()), name, arguments),
        }
    }

    /// The text of an item that is used as a name. An error for null and for values other than
    /// texts.
    pub(super) fn name_of(&mut self, item: Item) -> Result<Text, QueryError> {
        match self.value_of(item)? {
            Value::Text(name) => Ok(name),
            Value::Null => Err(unbound("null")),
            other => Err(QueryError::cast(&other, "String")),
        }
    }
}
