//! The variables of scripts, their values, and the outcome of a script.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use varve_query::{QueryError, Value};

use super::schema::Maker;
use super::{Results, Source};
use crate::bind::Variables;
use crate::tree::{Argument, SourceInstruction, Text, Traversal};

/// The value of a variable. Lists, sets and maps have value semantics: assignment copies them.
#[derive(Debug, Clone)]
pub enum Item {
    /// A value of queries.
    Value(Value),
    /// An argument that only steps take: a predicate, a token, a nested traversal.
    Argument(Argument),
    /// A traversal that has not run yet. It contains no variables.
    Traversal(Arc<Lazy>),
    /// Results of a traversal that have not been taken yet.
    Results(Arc<VecDeque<Value>>),
    /// A traversal source with its configuration.
    Source(Source, Arc<Vec<SourceInstruction>>),
    /// A graph by its name.
    Graph(Text),
    /// The transaction of a source.
    Transaction(Source),
    /// The schema of a graph.
    Schema(Text),
    /// A schema element: a map that the answer contains as one result.
    Element(Value),
    /// A schema element under construction.
    Maker(Arc<Maker>),
    /// A caught exception.
    Exception {
        /// Its class.
        class: Text,
        /// The message.
        message: Text,
    },
    /// The script and its bindings: `this`, `this.binding`.
    Binding,
    /// The job that runs the script: `gremlinJob`.
    Job,
    /// The result of `iterate()`.
    Nothing,
}

/// A traversal that has not run yet.
#[derive(Debug, Clone)]
pub struct Lazy {
    pub(super) source: Source,
    /// Its root and its terminal method are ignored.
    pub(super) traversal: Traversal,
}

impl Item {
    pub(super) const NULL: Item = Item::Value(Value::Null);

    pub(super) fn text(text: &str) -> Item {
        Item::Value(Value::text(text))
    }

    /// The name of its type in error messages.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Item::Value(value) => value.type_name(),
            Item::Argument(argument) => crate::signatures::kind_name(argument),
            Item::Traversal(_) | Item::Results(_) => crate::calls::TRAVERSAL_CLASS,
            Item::Source(..) => crate::calls::SOURCE_CLASS,
            Item::Graph(_) => "org.apache.hugegraph.HugeGraph",
            Item::Transaction(_) => "org.apache.tinkerpop.gremlin.structure.Transaction",
            Item::Schema(_) => "org.apache.hugegraph.schema.SchemaManager",
            Item::Element(_) => "org.apache.hugegraph.schema.SchemaElement",
            Item::Maker(maker) => maker.kind.class(),
            Item::Exception { .. } => "java.lang.Exception",
            Item::Binding => "Script",
            Item::Job => "org.apache.hugegraph.job.GremlinJob",
            Item::Nothing => "null",
        }
    }
}

/// The variables of a script. In a session, they begin with those of the last request.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: HashMap<Text, Item>,
}

impl Environment {
    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Item> {
        self.variables.get(name)
    }

    /// Sets a variable.
    pub fn set(&mut self, name: Text, item: Item) {
        self.variables.insert(name, item);
    }

    /// Removes a variable.
    pub fn remove(&mut self, name: &str) -> Option<Item> {
        self.variables.remove(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Item> {
        self.variables.get_mut(name)
    }

    /// The variables with their names, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Item)> {
        self.variables.iter()
    }

    /// The number of variables.
    #[must_use]
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Whether there are no variables.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}

impl From<HashMap<Text, Value>> for Environment {
    fn from(bindings: HashMap<Text, Value>) -> Self {
        let each = bindings.into_iter();
        Self {
            variables: each
                .map(|(name, value)| (name, Item::Value(value)))
                .collect(),
        }
    }
}

impl Variables for Environment {
    fn value(&self, name: &str) -> Option<Value> {
        match self.get(name) {
            Some(Item::Value(value)) => Some(value.clone()),
            _ => None,
        }
    }
}

impl Variables for HashMap<Text, Value> {
    fn value(&self, name: &str) -> Option<Value> {
        self.get(name).cloned()
    }
}

/// The result of a script.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The results of a traversal.
    Stream(Results),
    /// One value.
    Value(Value),
    /// One value that is a single result, even if it is a map.
    Whole(Value),
    /// No result, as of `iterate()`.
    Nothing,
}

impl Outcome {
    /// The results as returned to a client: the items of a list, the entries of a map.
    #[must_use]
    pub fn into_results(self) -> Results {
        match self {
            Self::Stream(results) => results,
            Self::Nothing => Vec::new(),
            Self::Whole(value) => vec![(value, 1)],
            Self::Value(value) => match &value {
                Value::List(_) | Value::Set(_) | Value::Map(_) => {
                    let items = value.items().unwrap_or_default();
                    items.into_iter().map(|item| (item, 1)).collect()
                }
                _ => vec![(value, 1)],
            },
        }
    }
}

/// The error of a variable without a value.
pub(super) fn unbound(name: &str) -> QueryError {
    QueryError::Unbound(name.to_owned())
}
