//! The schema in scripts: builders of schema elements, as in HugeGraph.
//!
//! A builder collects the members of the REST request for the same element, and passes them to the
//! host.

use std::sync::Arc;

use varve_query::value::ValueMap;
use varve_query::{QueryError, Value};

use super::Run;
use super::environment::Item;
use super::errors::no_such_method;
use crate::tree::Text;

/// The kinds of schema elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the definition")]
pub enum SchemaKind {
    PropertyKey,
    VertexLabel,
    EdgeLabel,
    IndexLabel,
}

impl SchemaKind {
    /// The class name in messages.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::PropertyKey => "org.apache.hugegraph.schema.builder.PropertyKeyBuilder",
            Self::VertexLabel => "org.apache.hugegraph.schema.builder.VertexLabelBuilder",
            Self::EdgeLabel => "org.apache.hugegraph.schema.builder.EdgeLabelBuilder",
            Self::IndexLabel => "org.apache.hugegraph.schema.builder.IndexLabelBuilder",
        }
    }
}

/// The operation on a schema element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaAction {
    /// Returns the element.
    Get,
    /// Returns all elements of the kind.
    List,
    /// Creates the element.
    Create,
    /// Adds the members of the request to the element.
    Append,
    /// Takes the members of the request away from the element.
    Eliminate,
    /// Removes the element, and the data that belongs to it.
    Remove,
    /// Rebuilds the indexes of the element.
    Rebuild,
}

/// A request to the schema of a graph.
#[derive(Debug, Clone)]
pub struct SchemaRequest {
    /// The kind of element.
    pub kind: SchemaKind,
    /// The operation.
    pub action: SchemaAction,
    /// The element's name; empty for all.
    pub name: Text,
    /// The members of the equivalent REST request's body.
    pub body: Value,
}

/// A builder: a schema element that a script describes.
#[derive(Debug, Clone)]
pub struct Maker {
    pub(super) kind: SchemaKind,
    graph: Text,
    name: Text,
    body: ValueMap,
    /// The pairs of labels of `link`.
    links: Vec<(Text, Text)>,
}

/// Methods without arguments, with the member and the value that they set.
const SETS: &[(SchemaKind, &str, &str, &str)] = {
    use SchemaKind::{EdgeLabel as E, IndexLabel as I, PropertyKey as P, VertexLabel as V};
    &[
        (P, "asText", "data_type", "TEXT"),
        (P, "asBoolean", "data_type", "BOOLEAN"),
        (P, "asByte", "data_type", "BYTE"),
        (P, "asBlob", "data_type", "BLOB"),
        (P, "asDouble", "data_type", "DOUBLE"),
        (P, "asFloat", "data_type", "FLOAT"),
        (P, "asLong", "data_type", "LONG"),
        (P, "asInt", "data_type", "INT"),
        (P, "asDate", "data_type", "DATE"),
        (P, "asUUID", "data_type", "UUID"),
        (P, "asUuid", "data_type", "UUID"),
        (P, "asObject", "data_type", "OBJECT"),
        (P, "valueSingle", "cardinality", "SINGLE"),
        (P, "valueList", "cardinality", "LIST"),
        (P, "valueSet", "cardinality", "SET"),
        (P, "calcMax", "aggregate_type", "MAX"),
        (P, "calcMin", "aggregate_type", "MIN"),
        (P, "calcSum", "aggregate_type", "SUM"),
        (P, "calcOld", "aggregate_type", "OLD"),
        (P, "calcSet", "aggregate_type", "SET"),
        (P, "calcList", "aggregate_type", "LIST"),
        (V, "useAutomaticId", "id_strategy", "AUTOMATIC"),
        (V, "useCustomizeStringId", "id_strategy", "CUSTOMIZE_STRING"),
        (V, "useCustomizeNumberId", "id_strategy", "CUSTOMIZE_NUMBER"),
        (V, "useCustomizeUuidId", "id_strategy", "CUSTOMIZE_UUID"),
        (V, "usePrimaryKeyId", "id_strategy", "PRIMARY_KEY"),
        (E, "singleTime", "frequency", "SINGLE"),
        (E, "multiTimes", "frequency", "MULTIPLE"),
        (E, "asBase", "edgelabel_type", "PARENT"),
        (E, "asGeneral", "edgelabel_type", "GENERAL"),
        (E, "asSub", "edgelabel_type", "SUB"),
        (I, "secondary", "index_type", "SECONDARY"),
        (I, "range", "index_type", "RANGE"),
        (I, "search", "index_type", "SEARCH"),
        (I, "shard", "index_type", "SHARD"),
        (I, "unique", "index_type", "UNIQUE"),
    ]
};

/// Methods with one argument, with the member that they set; `None` = of every kind.
const TAKES: &[(Option<SchemaKind>, &str, &str)] = {
    use SchemaKind::{EdgeLabel as E, IndexLabel as I, PropertyKey as P, VertexLabel as V};
    &[
        (Some(P), "dataType", "data_type"),
        (Some(P), "cardinality", "cardinality"),
        (Some(V), "idStrategy", "id_strategy"),
        (Some(E), "sourceLabel", "source_label"),
        (Some(E), "targetLabel", "target_label"),
        (Some(E), "frequency", "frequency"),
        (Some(E), "edgeLabelType", "edgelabel_type"),
        (Some(I), "indexType", "index_type"),
        (Some(I), "rebuild", "rebuild"),
        (None, "checkExist", "check_exist"),
        (None, "ttl", "ttl"),
        (None, "ttlStartTime", "ttl_start_time"),
        (None, "enableLabelIndex", "enable_label_index"),
    ]
};

/// Methods with any number of names, with the member that they set.
const NAMES: &[(SchemaKind, &str, &str)] = {
    use SchemaKind::{EdgeLabel as E, IndexLabel as I, VertexLabel as V};
    &[
        (V, "properties", "properties"),
        (V, "primaryKeys", "primary_keys"),
        (V, "nullableKeys", "nullable_keys"),
        (E, "properties", "properties"),
        (E, "sortKeys", "sort_keys"),
        (E, "nullableKeys", "nullable_keys"),
        (I, "by", "fields"),
    ]
};

impl Maker {
    fn set(&mut self, member: &str, value: Value) {
        self.body.insert(Value::text(member), value);
    }

    /// Sets the member for a method. Returns whether there is such a method.
    fn describe(&mut self, name: &str, values: &[Value]) -> bool {
        let sets = SETS.iter().find(|one| one.0 == self.kind && one.1 == name);
        let takes = TAKES
            .iter()
            .find(|one| one.1 == name && one.0.is_none_or(|kind| kind == self.kind));
        let names = NAMES.iter().find(|one| one.0 == self.kind && one.1 == name);
        match (values, sets, takes, names) {
            ([], Some((_, _, member, value)), _, _) => self.set(member, Value::text(value)),
            ([value], _, Some((_, _, member)), _) => self.set(member, named(value)),
            (values, _, _, Some((_, _, member))) => {
                let each = values.iter().flat_map(|value| match value {
                    Value::List(items) => items.as_ref().clone(),
                    one => vec![named(one)],
                });
                self.set(member, Value::list(each.collect()));
            }
            _ => return self.describe_more(name, values),
        }
        true
    }

    fn describe_more(&mut self, name: &str, values: &[Value]) -> bool {
        match (self.kind, name, values) {
            (_, "ifNotExist", []) => self.set("check_exist", Value::Bool(false)),
            (_, "userdata", [Value::Map(members)]) => {
                for (key, value) in members.iter() {
                    self.add_user_data(key.clone(), value.clone());
                }
            }
            (_, "userdata", [key, value]) => self.add_user_data(key.clone(), value.clone()),
            (SchemaKind::EdgeLabel, "link", [from, to]) => {
                let (Value::Text(from), Value::Text(to)) = (named(from), named(to)) else {
                    return false;
                };
                self.links.push((from, to));
            }
            (SchemaKind::EdgeLabel, "withBase", [parent]) => {
                self.set("edgelabel_type", Value::text("SUB"));
                self.set("parent_label", named(parent));
            }
            (SchemaKind::IndexLabel, "onV", [label]) => self.on("VERTEX_LABEL", label),
            (SchemaKind::IndexLabel, "onE", [label]) => self.on("EDGE_LABEL", label),
            (SchemaKind::IndexLabel, "on", [Value::Text(base), label]) => self.on(base, label),
            _ => return false,
        }
        true
    }

    fn on(&mut self, base: &str, label: &Value) {
        self.set("base_type", Value::text(base));
        self.set("base_value", named(label));
    }

    fn add_user_data(&mut self, key: Value, value: Value) {
        let member = Value::text("user_data");
        let held = self.body.entry(member).or_insert_with(|| Value::map([]));
        if let Value::Map(members) = held {
            Arc::make_mut(members).insert(key, value);
        }
    }

    /// The body of the request.
    fn body(&self) -> Value {
        let mut body = self.clone();
        match body.links.as_slice() {
            [] => {}
            [(from, to)] => {
                let (from, to) = (from.clone(), to.clone());
                body.set("source_label", Value::Text(from));
                body.set("target_label", Value::Text(to));
            }
            links => {
                let each = links.iter().map(|(from, to)| {
                    Value::map([(Value::Text(from.clone()), Value::Text(to.clone()))])
                });
                let links = Value::list(each.collect());
                body.set("links", links);
            }
        }
        body.set("name", Value::Text(self.name.clone()));
        Value::Map(Arc::new(body.body))
    }
}

/// The name of a schema element, or any other value unchanged.
fn named(value: &Value) -> Value {
    match value {
        Value::Map(members) => members.get(&Value::text("name")).cloned(),
        _ => None,
    }
    .unwrap_or_else(|| value.clone())
}

impl Run<'_> {
    /// Calls a method of `graph.schema()`.
    pub(super) fn schema_method(
        &mut self,
        graph: &Text,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        let (kind, action) = match name.as_str() {
            "propertyKey" => (SchemaKind::PropertyKey, None),
            "vertexLabel" => (SchemaKind::VertexLabel, None),
            "edgeLabel" => (SchemaKind::EdgeLabel, None),
            "indexLabel" => (SchemaKind::IndexLabel, None),
            "getPropertyKey" => (SchemaKind::PropertyKey, Some(SchemaAction::Get)),
            "getVertexLabel" => (SchemaKind::VertexLabel, Some(SchemaAction::Get)),
            "getEdgeLabel" => (SchemaKind::EdgeLabel, Some(SchemaAction::Get)),
            "getIndexLabel" => (SchemaKind::IndexLabel, Some(SchemaAction::Get)),
            "getPropertyKeys" => (SchemaKind::PropertyKey, Some(SchemaAction::List)),
            "getVertexLabels" => (SchemaKind::VertexLabel, Some(SchemaAction::List)),
            "getEdgeLabels" => (SchemaKind::EdgeLabel, Some(SchemaAction::List)),
            "getIndexLabels" => (SchemaKind::IndexLabel, Some(SchemaAction::List)),
            _ => {
                let schema = Item::Schema(graph.clone());
                return Err(no_such_method(&schema, name, &arguments));
            }
        };
        let wanted = usize::from(action != Some(SchemaAction::List));
        if arguments.len() != wanted {
            let schema = Item::Schema(graph.clone());
            return Err(no_such_method(&schema, name, &arguments));
        }
        let element = match arguments.into_iter().next() {
            Some(item) => self.name_of(item)?,
            None => Text::default(),
        };
        let Some(action) = action else {
            return Ok(Item::Maker(Arc::new(Maker {
                kind,
                graph: graph.clone(),
                name: element,
                body: ValueMap::default(),
                links: Vec::new(),
            })));
        };
        let request = SchemaRequest {
            kind,
            action,
            name: element,
            body: Value::map([]),
        };
        let found = self.host.schema(graph, &request)?;
        self.described(found)
    }

    /// Converts the host's answer: an element, a list of elements, or the id of a task.
    fn described(&mut self, given: Value) -> Result<Item, QueryError> {
        let given = self.made(given)?;
        Ok(match given {
            Value::Map(_) => Item::Element(given),
            other => Item::Value(other),
        })
    }

    /// Calls a method of a builder: it sets a member, or sends the request.
    pub(super) fn maker_method(
        &mut self,
        maker: &Arc<Maker>,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        let action = match (name.as_str(), arguments.is_empty()) {
            ("create", true) => Some(SchemaAction::Create),
            ("append", true) => Some(SchemaAction::Append),
            ("eliminate", true) => Some(SchemaAction::Eliminate),
            ("remove", true) => Some(SchemaAction::Remove),
            ("rebuild", true) => Some(SchemaAction::Rebuild),
            _ => None,
        };
        if let Some(action) = action {
            let request = SchemaRequest {
                kind: maker.kind,
                action,
                name: maker.name.clone(),
                body: maker.body(),
            };
            let element = self.host.schema(&maker.graph, &request)?;
            return self.described(element);
        }
        let mut values = Vec::with_capacity(arguments.len());
        for argument in &arguments {
            values.push(self.value_of(argument.clone())?);
        }
        let mut described = maker.as_ref().clone();
        match described.describe(name, &values) {
            true => Ok(Item::Maker(Arc::new(described))),
            false => Err(no_such_method(
                &Item::Maker(maker.clone()),
                name,
                &arguments,
            )),
        }
    }
}
