//! Elements, paths, trees, graphs and metrics in GraphSON.

use super::read::{Members, Reader, array, member, object, string};
use crate::error::{Result, WireError};
use crate::json::Json;
use crate::value::{
    Edge, Graph, Metrics, Path, Property, Text, Tree, Value, Vertex, VertexProperty, named,
};

/// Nanoseconds per millisecond: GraphSON has durations of metrics in milliseconds.
pub(super) const NANOSECONDS: f64 = 1e6;

impl Reader {
    /// Reads an element, or a value made of elements.
    pub(super) fn element(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        Ok(match kind {
            "g:Vertex" => Value::Vertex(Box::new(self.vertex(kind, json)?)),
            "g:Edge" => Value::Edge(Box::new(self.edge(kind, json)?)),
            "g:VertexProperty" => {
                let property = self.vertex_property(kind, json)?;
                Value::VertexProperty(Box::new(property))
            }
            "g:Property" => Value::Property(Box::new(self.property(kind, json)?)),
            "g:Path" => Value::Path(self.path(kind, json)?),
            "g:Tree" => Value::Tree(self.tree(kind, json)?),
            "tinker:graph" => Value::Graph(Box::new(self.graph(kind, json)?)),
            "g:Metrics" => Value::Metrics(Box::new(self.metrics(kind, json)?)),
            "g:TraversalMetrics" => self.traversal_metrics(kind, json)?,
            _ => return Err(WireError::Unsupported(shortened(kind))),
        })
    }

    fn label(&mut self, kind: &str, members: &mut Members<'_>, name: &str) -> Result<Text> {
        match Json::take(members, name) {
            None | Some(Json::Null) => Ok(Text::default()),
            Some(label) => string(kind, label),
        }
    }

    /// Reads a member of an element as a value.
    fn part(&mut self, kind: &str, members: &mut Members<'_>, name: &str) -> Result<Value> {
        self.value(member(kind, members, name)?)
    }

    /// The content of `{"@type": …, "@value": …}`; other objects are returned unchanged.
    fn unwrap<'t>(&mut self, kind: &str, json: Json<'t>) -> Result<Json<'t>> {
        let mut members = object(kind, json)?;
        match Json::take(&mut members, "@value") {
            Some(value) => Ok(value),
            None => Ok(Json::Object(members)),
        }
    }

    fn vertex(&mut self, kind: &str, json: Json<'_>) -> Result<Vertex> {
        let mut members = object(kind, json)?;
        let id = self.part(kind, &mut members, "id")?;
        let label = self.label(kind, &mut members, "label")?;
        let mut properties = Vec::new();
        if let Some(keys) = Json::take(&mut members, "properties") {
            for (_, values) in object(kind, keys)? {
                for value in array(kind, values)? {
                    let value = self.unwrap(kind, value)?;
                    properties.push(self.vertex_property(kind, value)?);
                }
            }
        }
        Ok(Vertex {
            id,
            label,
            properties,
        })
    }

    fn vertex_property(&mut self, kind: &str, json: Json<'_>) -> Result<VertexProperty> {
        let mut members = object(kind, json)?;
        let mut properties = Vec::new();
        if let Some(meta) = Json::take(&mut members, "properties") {
            for (key, value) in object(kind, meta)? {
                let (key, value) = (Text::from(key), self.value(value)?);
                properties.push(Property { key, value });
            }
        }
        Ok(VertexProperty {
            id: self.part(kind, &mut members, "id")?,
            label: self.label(kind, &mut members, "label")?,
            value: self.part(kind, &mut members, "value")?,
            properties,
        })
    }

    fn edge(&mut self, kind: &str, json: Json<'_>) -> Result<Edge> {
        let mut members = object(kind, json)?;
        let mut properties = Vec::new();
        if let Some(keys) = Json::take(&mut members, "properties") {
            for (_, property) in object(kind, keys)? {
                let property = self.unwrap(kind, property)?;
                properties.push(self.property(kind, property)?);
            }
        }
        Ok(Edge {
            id: self.part(kind, &mut members, "id")?,
            label: self.label(kind, &mut members, "label")?,
            in_id: self.part(kind, &mut members, "inV")?,
            in_label: self.label(kind, &mut members, "inVLabel")?,
            out_id: self.part(kind, &mut members, "outV")?,
            out_label: self.label(kind, &mut members, "outVLabel")?,
            properties,
        })
    }

    fn property(&mut self, kind: &str, json: Json<'_>) -> Result<Property> {
        let mut members = object(kind, json)?;
        Ok(Property {
            key: self.label(kind, &mut members, "key")?,
            value: self.part(kind, &mut members, "value")?,
        })
    }

    fn path(&mut self, kind: &str, json: Json<'_>) -> Result<Path> {
        let mut members = object(kind, json)?;
        let labels = self.part(kind, &mut members, "labels")?;
        let objects = self.part(kind, &mut members, "objects")?;
        path(labels, objects)
            .ok_or_else(|| WireError::value(kind, "its labels or objects are no lists"))
    }

    fn tree(&mut self, kind: &str, json: Json<'_>) -> Result<Tree> {
        self.budget.enter()?;
        let mut branches = Vec::new();
        for branch in array(kind, json)? {
            let mut members = object(kind, branch)?;
            let key = self.part(kind, &mut members, "key")?;
            let value = member(kind, &mut members, "value")?;
            let value = self.unwrap(kind, value)?;
            branches.push((key, self.tree(kind, value)?));
        }
        self.budget.leave();
        Ok(Tree { branches })
    }

    fn graph(&mut self, kind: &str, json: Json<'_>) -> Result<Graph> {
        let mut members = object(kind, json)?;
        let mut graph = Graph::default();
        for vertex in array(kind, member(kind, &mut members, "vertices")?)? {
            let vertex = self.unwrap(kind, vertex)?;
            graph.vertices.push(self.vertex(kind, vertex)?);
        }
        for edge in array(kind, member(kind, &mut members, "edges")?)? {
            let edge = self.unwrap(kind, edge)?;
            graph.edges.push(self.edge(kind, edge)?);
        }
        Ok(graph)
    }

    fn metrics(&mut self, kind: &str, json: Json<'_>) -> Result<Metrics> {
        let entries = match self.value(json)? {
            Value::Map(entries) => named(entries),
            _ => None,
        };
        let entries = entries.ok_or_else(|| WireError::value(kind, "it is no map of strings"))?;
        let mut metrics = Metrics::default();
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("id", Value::String(id)) => metrics.id = id,
                ("name", Value::String(name)) => metrics.name = name,
                ("dur", Value::Double(milliseconds)) => {
                    metrics.nanoseconds = nanoseconds(milliseconds);
                }
                ("counts", Value::Map(counts)) => {
                    for (name, count) in named(counts).unwrap_or_default() {
                        if let Value::Long(count) = count {
                            metrics.counts.push((name, count));
                        }
                    }
                }
                ("annotations", Value::Map(annotations)) => {
                    metrics.annotations = named(annotations).unwrap_or_default();
                }
                ("metrics", Value::List(nested)) => metrics.nested = all_metrics(kind, nested)?,
                _ => return Err(WireError::value(kind, format!("its '{key}' is wrong"))),
            }
        }
        Ok(metrics)
    }

    fn traversal_metrics(&mut self, kind: &str, json: Json<'_>) -> Result<Value> {
        let entries = match self.value(json)? {
            Value::Map(entries) => named(entries),
            _ => None,
        };
        let entries = entries.ok_or_else(|| WireError::value(kind, "it is no map of strings"))?;
        let (mut total, mut metrics) = (0, Vec::new());
        for (key, value) in entries {
            match (key.as_str(), value) {
                ("dur", Value::Double(milliseconds)) => total = nanoseconds(milliseconds),
                ("metrics", Value::List(members)) => metrics = all_metrics(kind, members)?,
                _ => return Err(WireError::value(kind, format!("its '{key}' is wrong"))),
            }
        }
        Ok(Value::TraversalMetrics {
            nanoseconds: total,
            metrics,
        })
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a float beyond the range becomes its end"
)]
fn nanoseconds(milliseconds: f64) -> i64 {
    (milliseconds * NANOSECONDS).round() as i64
}

fn all_metrics(kind: &str, members: Vec<Value>) -> Result<Vec<Metrics>> {
    let metrics = |member| match member {
        Value::Metrics(metrics) => Ok(*metrics),
        _ => Err(WireError::value(kind, "a member is no g:Metrics")),
    };
    members.into_iter().map(metrics).collect()
}

/// Makes a path of a list of sets of labels and a list of objects; `None` if they are wrong.
pub(crate) fn path(labels: Value, objects: Value) -> Option<Path> {
    let (Value::List(labels), Value::List(objects)) = (labels, objects) else {
        return None;
    };
    let string = |label| match label {
        Value::String(label) => Some(label),
        _ => None,
    };
    let set = |labels| match labels {
        Value::Set(labels) | Value::List(labels) => labels.into_iter().map(string).collect(),
        _ => None,
    };
    let labels: Vec<Vec<Text>> = labels.into_iter().map(set).collect::<Option<_>>()?;
    (labels.len() == objects.len()).then_some(Path { labels, objects })
}

/// The beginning of a name, for messages.
fn shortened(kind: &str) -> String {
    kind.chars().take(60).collect()
}
