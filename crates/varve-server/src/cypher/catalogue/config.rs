//! The maps with which clients configure a call.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_cypher::{CypherError, Graph, Map, Value, labels_of};
use varve_model::{Direction, EdgeLabelId, VertexLabelId};
use varve_traversal::TraversalError;
use varve_view::SchemaView;

use super::{ErrorClass, failed, invalid, map_argument};

/// The members of a configuration that were not read yet.
pub(super) struct Config(BTreeMap<Arc<str>, Value>);

/// The labels or types that a client has named.
pub(super) enum Named<T> {
    /// It has named none: all.
    All,
    /// Those of these that the graph has; maybe none.
    Some(Vec<T>),
}

impl<T> Named<T> {
    /// Whether it has named some, of which the graph has none.
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Some(named) if named.is_empty())
    }

    /// As the parts of the graph name them, for which an empty list is all.
    pub(super) fn list(self) -> Vec<T> {
        match self {
            Self::All => Vec::new(),
            Self::Some(named) => named,
        }
    }
}

impl Config {
    /// That of the argument `at`, which may be missing.
    pub(super) fn of(arguments: &[Value], at: usize) -> Result<Self, CypherError> {
        let map = map_argument(arguments, at, "config")?;
        let members = map.into_iter().flat_map(Map::iter);
        let members = members.map(|(name, value)| (Arc::clone(name), value.clone()));
        Ok(Self(members.collect()))
    }

    /// A member; `None` if it is missing or null.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.0
            .remove(name)
            .filter(|value| !matches!(value, Value::Null))
    }

    /// A whole number greater than 0.
    pub(super) fn number(&mut self, name: &str) -> Result<Option<u64>, CypherError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Integer(number)) if number > 0 => Ok(Some(number.unsigned_abs())),
            Some(_) => Err(invalid(format!("{name} is a whole number greater than 0"))),
        }
    }

    /// A number from `least` to `most`.
    pub(super) fn float(
        &mut self,
        name: &str,
        (least, most): (f64, f64),
        default: f64,
    ) -> Result<f64, CypherError> {
        let given = match self.take(name) {
            None => return Ok(default),
            Some(Value::Integer(number)) => number as f64,
            Some(Value::Float(number)) => number,
            Some(_) => f64::NAN,
        };
        match (least..=most).contains(&given) {
            true => Ok(given),
            false => Err(invalid(format!(
                "{name} is a number from {least} to {most}"
            ))),
        }
    }

    /// true or false.
    pub(super) fn flag(&mut self, name: &str, default: bool) -> Result<bool, CypherError> {
        match self.take(name) {
            None => Ok(default),
            Some(Value::Boolean(flag)) => Ok(flag),
            Some(_) => Err(invalid(format!("{name} is true or false"))),
        }
    }

    /// A string.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<Arc<str>>, CypherError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(Arc::from(&*text))),
            Some(_) => Err(invalid(format!("{name} is a string"))),
        }
    }

    /// `direction`; `None` = both.
    pub(super) fn direction(&mut self) -> Result<Option<Direction>, CypherError> {
        let wrong = || invalid("direction is 'OUT', 'IN' or 'BOTH'");
        match self.take("direction") {
            None => Ok(None),
            Some(Value::String(text)) => match &*text.to_uppercase() {
                "OUT" => Ok(Some(Direction::Out)),
                "IN" => Ok(Some(Direction::In)),
                "BOTH" => Ok(None),
                _ => Err(wrong()),
            },
            Some(_) => Err(wrong()),
        }
    }

    /// `types` of relationships, with their subtypes.
    pub(super) fn types(&mut self, graph: &Graph<'_>) -> Result<Named<EdgeLabelId>, CypherError> {
        let Some(names) = self.names("types")? else {
            return Ok(Named::All);
        };
        let mut found = Vec::new();
        for name in names {
            let known = graph.schema.edge_label_named(&name);
            let below = known.map(|label| graph.schema.edge_subtypes(label.id));
            found.extend(known.map(|label| label.id));
            found.extend(below.into_iter().flatten());
        }
        Ok(Named::Some(found))
    }

    /// `labels` of nodes: the vertex labels of the nodes that have one of them.
    pub(super) fn labels(
        &mut self,
        schema: &dyn SchemaView,
    ) -> Result<Named<VertexLabelId>, CypherError> {
        let Some(names) = self.names("labels")? else {
            return Ok(Named::All);
        };
        let Some(all) = schema.vertex_labels() else {
            let known = names.iter();
            let known = known.filter_map(|name| schema.vertex_label_named(name));
            let below = |id| schema.vertex_subtypes(id).iter().copied();
            let found = known.flat_map(|label| std::iter::once(label.id).chain(below(label.id)));
            return Ok(Named::Some(found.collect()));
        };
        let is_named = |label: &VertexLabelId| {
            let mut labels = labels_of(schema, *label).into_iter();
            labels.any(|label| names.contains(&label))
        };
        Ok(Named::Some(all.into_iter().filter(is_named).collect()))
    }

    fn names(&mut self, member: &str) -> Result<Option<Vec<Arc<str>>>, CypherError> {
        let wrong = || invalid(format!("{member} are a list of strings"));
        let Some(value) = self.take(member) else {
            return Ok(None);
        };
        let Value::List(list) = value else {
            return Err(wrong());
        };
        let name = |value: &Value| match value {
            Value::String(name) => Ok(Arc::from(&**name)),
            _ => Err(wrong()),
        };
        let names: Vec<Arc<str>> = list.iter().map(name).collect::<Result<_, _>>()?;
        // An empty list names nothing to leave out.
        Ok((!names.is_empty()).then_some(names))
    }

    /// Refuses members that nothing has read.
    pub(super) fn finished(&self) -> Result<(), CypherError> {
        match self.0.keys().next() {
            Some(name) => Err(invalid(format!("config has no member '{name}'"))),
            None => Ok(()),
        }
    }
}

/// The error of a call whose traversal has failed.
pub(super) fn error(error: TraversalError) -> CypherError {
    match error {
        TraversalError::View(error) => error.into(),
        error => failed(
            ErrorClass::ArgumentError,
            "TraversalFailed",
            error.to_string(),
        ),
    }
}
