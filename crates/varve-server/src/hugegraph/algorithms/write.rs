//! Writes results to a property of the vertices, if the client names one.

use std::collections::BTreeSet;

use varve_graph::write::{EndCheck, Gaps, Mutation, WriteRequest};
use varve_graph::{ErrorKind, GraphError};
use varve_model::{DataType, Element, ElementId, PropertyKeyId, Value, VertexId};
use varve_traversal::{Node, Projection};

use super::answer::Scores;
use super::failed;
use super::run::Job;

/// Vertices written in one commit.
const CHUNK: usize = 500;

/// The results to write, one for each vertex.
pub(super) enum Written<'a> {
    /// Numbers; one that is not finite is not written.
    Numbers(&'a [f64]),
    Counts(&'a [u64]),
    /// For each vertex, the vertex that names its group: a text property gets its id, a number
    /// property its number.
    Groups(&'a [Node]),
}

impl<'a> Written<'a> {
    pub(super) const fn of(scores: &'a Scores<'a>) -> Self {
        match scores {
            Scores::Numbers(numbers) => Self::Numbers(numbers),
            Scores::Counts(counts) => Self::Counts(counts),
        }
    }
}

impl Job<'_> {
    /// Writes results to the property that the client named, if it named one.
    pub(super) fn write(
        &self,
        graph: &Projection,
        written: &Written<'_>,
    ) -> Result<(), GraphError> {
        let Some(name) = &self.parameters.write_property else {
            return Ok(());
        };
        let key = self.schema.property_key_by_name(name);
        let undefined = || GraphError::invalid(format!("Undefined property key: '{name}'"));
        let key = key.ok_or_else(undefined)?;
        self.check_labels(graph, key.id, name)?;
        let nodes: Vec<Node> = graph.nodes().collect();
        let id = |node| {
            graph
                .id(self.view, node)
                .map_err(|error| failed(error.into()))
        };
        for (number, chunk) in nodes.chunks(CHUNK).enumerate() {
            self.progress.check()?;
            self.check.map_or(Ok(()), |check| check())?;
            let mut values = Vec::with_capacity(chunk.len());
            for node in chunk {
                if let Some(value) = written.value(*node, key.data_type, &id)? {
                    values.push((id(*node)?, value));
                }
            }
            self.meter.apart(|| self.write_chunk(key.id, &values))?;
            self.progress.set((number * CHUNK + chunk.len()) as u64);
        }
        Ok(())
    }

    /// Returns an error unless the labels of all vertices have the property, or it is an OLAP
    /// property, and none uses it for its id or its time to live.
    fn check_labels(
        &self,
        graph: &Projection,
        key: PropertyKeyId,
        name: &str,
    ) -> Result<(), GraphError> {
        let labels = graph.nodes().map(|node| graph.vertices().label(node));
        for label in labels.collect::<BTreeSet<_>>() {
            let Some(label) = self.schema.vertex_label(label) else {
                continue;
            };
            if label.primary_keys.contains(&key) || label.ttl_start_time == Some(key) {
                return Err(GraphError::invalid(format!(
                    "'{name}' makes the id or the time to live of vertices of label '{}', so no \
                     result can be written to it",
                    label.name
                )));
            }
            let is_olap = self
                .schema
                .property_key(key)
                .is_some_and(|it| it.write_type.is_olap());
            if !is_olap && !label.properties.contains(&key) {
                return Err(GraphError::invalid(format!(
                    "The vertex label '{}' has no property '{name}'; append it, or name a source_label",
                    label.name
                )));
            }
        }
        Ok(())
    }

    /// Writes values in one commit. If a vertex has been deleted, splits the commit and leaves that
    /// vertex out.
    fn write_chunk(
        &self,
        key: PropertyKeyId,
        values: &[(VertexId, Value)],
    ) -> Result<(), GraphError> {
        let modify = |(id, value): &(VertexId, Value)| {
            let value = value.clone();
            Mutation::Modify {
                id: ElementId::Vertex(id.clone()),
                ends: EndCheck::Skip,
                gaps: Gaps::Keep,
                modify: Box::new(move |element| match element {
                    Some(Element::Vertex(mut vertex)) => {
                        vertex.properties.set(key, value.clone());
                        Ok(Element::Vertex(vertex))
                    }
                    _ => Err(GraphError::new(ErrorKind::NotFound, "The vertex is gone")),
                }),
            }
        };
        let request = WriteRequest {
            mutations: values.iter().map(modify).collect(),
            skip_unchanged: true,
            ..WriteRequest::default()
        };
        match self.graph.write_now(&request) {
            Ok(_) => Ok(()),
            Err(error) if error.kind == ErrorKind::NotFound && values.len() > 1 => {
                let (first, second) = values.split_at(values.len() / 2);
                self.write_chunk(key, first)?;
                self.write_chunk(key, second)
            }
            Err(error) if error.kind == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Written<'_> {
    /// The result of a vertex as a value of this type; `None` if it is not finite.
    fn value(
        &self,
        node: Node,
        data_type: DataType,
        id: &dyn Fn(Node) -> Result<VertexId, GraphError>,
    ) -> Result<Option<Value>, GraphError> {
        let at = node as usize;
        let number = match self {
            Self::Groups(groups) if data_type == DataType::Text => {
                return Ok(Some(Value::Text(id(groups[at])?.to_string())));
            }
            Self::Groups(groups) => f64::from(groups[at]),
            Self::Counts(counts) => counts[at] as f64,
            Self::Numbers(numbers) => numbers[at],
        };
        let too_large = || {
            let message =
                format!("The result {number} does not fit a property of type {data_type:?}");
            GraphError::invalid(message)
        };
        let whole = || match number.fract() == 0.0 && number.abs() < i64::MAX as f64 {
            true => Ok(number as i64),
            false => Err(too_large()),
        };
        if !number.is_finite() {
            return Ok(None);
        }
        Ok(Some(match data_type {
            DataType::Double => Value::Double(number),
            DataType::Float => match number as f32 {
                narrow if narrow.is_infinite() => return Err(too_large()),
                narrow => Value::Float(narrow),
            },
            DataType::Long => Value::Long(whole()?),
            DataType::Int => Value::Int(i32::try_from(whole()?).map_err(|_| too_large())?),
            DataType::Byte => Value::Byte(i8::try_from(whole()?).map_err(|_| too_large())?),
            _ => Value::Text(number.to_string()),
        }))
    }
}
