//! Values of Cypher as JSON: HugeGraph's flat form, and the plain and the typed form of Neo4j's
//! Query API.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use varve_cypher::value::{Graph, Node, Path, Relationship};
use varve_cypher::{CypherError, Value};

use crate::json::JsonWriter;

/// The form of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As HugeGraph's `…/cypher`: elements with `_id`, `_type`, `_label` and flat properties.
    HugeGraph,
    /// As the Query API's `application/json`.
    Plain,
    /// As the Query API's `application/vnd.neo4j.query`: each value with its type.
    Typed,
}

/// The members of elements in HugeGraph's form. A property of such a name is left out: it would
/// make the element look like another one.
const MEMBERS: [&str; 5] = ["_type", "_id", "_label", "_outV", "_inV"];

/// Writes the values of one graph.
pub(super) struct JsonValues<'w, 'g> {
    pub(super) out: &'w mut JsonWriter,
    pub(super) graph: &'w Graph<'g>,
    pub(super) form: Form,
}

type Written = Result<(), CypherError>;

impl JsonValues<'_, '_> {
    /// Writes a value.
    ///
    /// # Errors
    /// When the contents of an element cannot be read.
    pub(super) fn value(&mut self, value: &Value) -> Written {
        match self.form {
            Form::Typed => self.typed(value),
            Form::HugeGraph | Form::Plain => self.plain(value),
        }
    }

    fn plain(&mut self, value: &Value) -> Written {
        match value {
            Value::Null => drop(self.out.null()),
            Value::Boolean(truth) => drop(self.out.boolean(*truth)),
            Value::Integer(number) => drop(self.out.integer(*number)),
            Value::Float(number) => self.float(*number),
            Value::String(text) => drop(self.out.string(text)),
            Value::Bytes(bytes) => drop(self.out.string(&STANDARD.encode(bytes))),
            Value::List(items) => return self.list(items),
            Value::Map(map) => return self.map(map.iter()),
            Value::Node(node) => return self.node(node),
            Value::Relationship(it) => return self.relationship(it),
            Value::Path(path) => return self.path(path),
            temporal => drop(self.out.string(&temporal.to_string())),
        }
        Ok(())
    }

    /// JSON has no number for these.
    fn float(&mut self, number: f64) {
        match number.is_finite() {
            true => drop(self.out.double(number)),
            false => drop(self.out.string(&float_text(number))),
        }
    }

    fn typed(&mut self, value: &Value) -> Written {
        self.out.begin_object();
        self.out.key("$type").string(type_name(value));
        self.out.key("_value");
        match value {
            Value::Null => drop(self.out.null()),
            Value::Boolean(truth) => drop(self.out.boolean(*truth)),
            Value::Integer(number) => drop(self.out.string(&number.to_string())),
            Value::Float(number) => drop(self.out.string(&float_text(*number))),
            Value::String(text) => drop(self.out.string(text)),
            Value::Bytes(bytes) => drop(self.out.string(&STANDARD.encode(bytes))),
            Value::List(items) => self.list(items)?,
            Value::Map(map) => self.map(map.iter())?,
            Value::Node(node) => self.node(node)?,
            Value::Relationship(it) => self.relationship(it)?,
            Value::Path(path) => self.path(path)?,
            Value::Point(point) => {
                let third = point.z.map(|z| format!(" {}", float_text(z)));
                let text = format!(
                    "SRID={};POINT{} ({} {}{})",
                    point.srid,
                    if point.z.is_some() { " Z" } else { "" },
                    float_text(point.x),
                    float_text(point.y),
                    third.unwrap_or_default()
                );
                self.out.string(&text);
            }
            temporal => drop(self.out.string(&temporal.to_string())),
        }
        self.out.end_object();
        Ok(())
    }

    fn list(&mut self, items: &[Value]) -> Written {
        self.out.begin_array();
        for item in items {
            self.value(item)?;
        }
        self.out.end_array();
        Ok(())
    }

    fn map<'v>(&mut self, entries: impl Iterator<Item = (&'v Arc<str>, &'v Value)>) -> Written {
        self.out.begin_object();
        self.entries(entries)?;
        self.out.end_object();
        Ok(())
    }

    fn entries<'v>(&mut self, entries: impl Iterator<Item = (&'v Arc<str>, &'v Value)>) -> Written {
        for (key, value) in entries {
            self.out.key(key);
            self.value(value)?;
        }
        Ok(())
    }

    /// The properties of an element, beside its own members.
    fn flat<'v>(&mut self, entries: impl Iterator<Item = (&'v Arc<str>, &'v Value)>) -> Written {
        self.entries(entries.filter(|(key, _)| !MEMBERS.contains(&&***key)))
    }

    fn id_of(&self, node: &Node) -> Result<String, CypherError> {
        Ok(self.graph.view.vertex_id(&node.key)?.to_string())
    }

    fn node(&mut self, node: &Arc<Node>) -> Written {
        let shown = self.graph.shown_node(node)?;
        let properties = shown.properties.iter().map(|(key, value)| (key, value));
        self.out.begin_object();
        match self.form {
            Form::HugeGraph => {
                self.out.key("_type").string("node");
                self.out.key("_id");
                match &shown.id {
                    varve_model::VertexId::Number(number) => drop(self.out.integer(*number)),
                    id => drop(self.out.string(&id.to_string())),
                }
                let labels: Vec<&str> = shown.labels.iter().map(|label| &**label).collect();
                self.out.key("_label").string(&labels.join("::"));
                self.flat(properties)?;
            }
            Form::Plain | Form::Typed => {
                let names = self.names(["elementId", "labels", "properties"]);
                self.out.key(names[0]).string(&shown.id.to_string());
                self.out.key(names[1]).begin_array();
                for label in &shown.labels {
                    self.out.string(label);
                }
                self.out.end_array().key(names[2]);
                self.map(properties)?;
            }
        }
        self.out.end_object();
        Ok(())
    }

    /// The names of members of elements in this form.
    fn names<const N: usize>(&self, plain: [&'static str; N]) -> [&'static str; N] {
        plain.map(|name| match (self.form, name) {
            (Form::Typed, "elementId") => "_element_id",
            (Form::Typed, "labels") => "_labels",
            (Form::Typed, "properties") => "_properties",
            (Form::Typed, "startNodeElementId") => "_start_node_element_id",
            (Form::Typed, "endNodeElementId") => "_end_node_element_id",
            (Form::Typed, "type") => "_type",
            _ => name,
        })
    }

    fn relationship(&mut self, it: &Arc<Relationship>) -> Written {
        let shown = self.graph.shown_relationship(it)?;
        let (start, end) = (self.id_of(&it.start)?, self.id_of(&it.end)?);
        let properties = shown.properties.iter().map(|(key, value)| (key, value));
        let id = shown.id.to_string();
        self.out.begin_object();
        match self.form {
            Form::HugeGraph => {
                self.out.key("_type").string("relationship");
                self.out.key("_id").string(&id);
                self.out.key("_outV").string(&start);
                self.out.key("_inV").string(&end);
                self.out.key("_label").string(&shown.label);
                self.flat(properties)?;
            }
            Form::Plain | Form::Typed => {
                let names = self.names([
                    "elementId",
                    "startNodeElementId",
                    "endNodeElementId",
                    "type",
                    "properties",
                ]);
                self.out.key(names[0]).string(&id);
                self.out.key(names[1]).string(&start);
                self.out.key(names[2]).string(&end);
                self.out.key(names[3]).string(&shown.label);
                self.out.key(names[4]);
                self.map(properties)?;
            }
        }
        self.out.end_object();
        Ok(())
    }

    /// Nodes and relationships in turns.
    fn path(&mut self, path: &Path) -> Written {
        self.out.begin_array();
        let mut relationships = path.relationships.iter();
        for node in &path.nodes {
            self.value(&Value::Node(Arc::clone(node)))?;
            if let Some(relationship) = relationships.next() {
                self.value(&Value::Relationship(Arc::clone(relationship)))?;
            }
        }
        self.out.end_array();
        Ok(())
    }
}

fn float_text(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        number => format!("{number:?}"),
    }
}

/// The name of a value's type in the Query API.
const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "Null",
        Value::Boolean(_) => "Boolean",
        Value::Integer(_) => "Integer",
        Value::Float(_) => "Float",
        Value::String(_) => "String",
        Value::Bytes(_) => "Base64",
        Value::List(_) => "List",
        Value::Map(_) => "Map",
        Value::Node(_) => "Node",
        Value::Relationship(_) => "Relationship",
        Value::Path(_) => "Path",
        Value::Date(_) => "Date",
        Value::LocalTime(_) => "LocalTime",
        Value::Time(_) => "Time",
        Value::LocalDateTime(_) => "LocalDateTime",
        Value::DateTime(at) => match at.zone {
            None => "OffsetDateTime",
            Some(_) => "ZonedDateTime",
        },
        Value::Duration(_) => "Duration",
        Value::Point(_) => "Point",
    }
}
