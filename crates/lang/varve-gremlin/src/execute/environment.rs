//! The variables of scripts, what they hold, and what a script comes to.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use varve_query::{QueryError, Value};

use super::schema::Maker;
use super::{Results, Source};
use crate::bind::Variables;
use crate::tree::{Argument, SourceInstruction, Text, Traversal};

/// What a variable holds. Lists, sets and maps are values: a second variable holds a copy.
#[derive(Debug, Clone)]
pub enum Item {
    /// A value of queries.
    Value(Value),
    /// What only steps take: a predicate, a token, a nested traversal.
    Argument(Argument),
    /// A traversal that did not run yet. It contains no variables.
    Traversal(Arc<Lazy>),
    /// Results of a traversal that were not taken yet.
    Results(Arc<VecDeque<Value>>),
    /// A traversal source with its configuration.
    Source(Source, Arc<Vec<SourceInstruction>>),
    /// A graph by its name.
    Graph(Text),
    /// The transaction of a source.
    Transaction(Source),
    /// The schema of a graph.
    Schema(Text),
    /// A schema element: a map that is answered as one.
    Element(Value),
    /// A schema element that is being described.
    Maker(Arc<Maker>),
    /// A caught exception.
    Exception {
        /// Its class.
        class: Text,
        /// What happened.
        message: Text,
    },
    /// The script, its bindings: `this`, `this.binding`.
    Binding,
    /// The job that runs the script: `gremlinJob`.
    Job,
    /// What `iterate()` gives.
    Nothing,
}

/// A traversal that did not run yet.
#[derive(Debug, Clone)]
pub struct Lazy {
    pub(super) source: Source,
    /// The root and the terminal method of it do not count.
    pub(super) traversal: Traversal,
}

impl Item {
    pub(super) const NULL: Item = Item::Value(Value::Null);

    pub(super) fn text(text: &str) -> Item {
        Item::Value(Value::text(text))
    }

    /// What messages call it.
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

/// The variables of a script. A session passes in what its last request left.
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

    /// Forgets a variable.
    pub fn remove(&mut self, name: &str) -> Option<Item> {
        self.variables.remove(name)
    }

    pub(super) fn get_mut(&mut self, name: &str) -> Option<&mut Item> {
        self.variables.get_mut(name)
    }

    /// The variables by their names, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&Text, &Item)> {
        self.variables.iter()
    }

    /// How many variables there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Whether there are none.
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

/// What a script comes to.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The results of a traversal, one by one.
    Stream(Results),
    /// One value.
    Value(Value),
    /// One value that is answered as one, also if it is a map.
    Whole(Value),
    /// Nothing, as `iterate()` leaves.
    Nothing,
}

impl Outcome {
    /// The results as a client gets them: a list gives its items, a map its entries.
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

/// A variable has no value.
pub(super) fn unbound(name: &str) -> QueryError {
    QueryError::Unbound(name.to_owned())
}
