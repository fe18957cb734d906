//! Writing properties.

use std::sync::Arc;

use varve_model::{Cardinality, ElementId, Value as Stored};
use varve_view::{GraphWriter, Occurrence, PropertyWrite};

use super::super::build::Builder;
use super::super::child::Child;
use super::super::context::Context;
use super::super::row::Row;
use super::super::source::edges_of_ids;
use super::{Part, checked_name};
use crate::plan::Name;
use crate::plan::write::{Property, PropertyName};
use crate::value::{Token, ValueMap, VertexHandle};
use crate::{QueryError, Value};

/// The name of a property that is written.
enum NamePart {
    Key(Name),
    Token(Token),
    Child(Child),
}

/// A property that is written, before it is computed for a row.
pub(super) struct PropertyPart {
    cardinality: Option<Cardinality>,
    name: NamePart,
    value: Part,
    meta: Vec<(Name, Part)>,
    partition: Option<(Name, Stored)>,
}

/// A computed property.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) name: Name,
    pub(super) cardinality: Option<Cardinality>,
    /// `None`: the property is removed.
    pub(super) value: Option<Stored>,
    pub(super) meta: Vec<(Name, Stored)>,
    /// A meta-property that it gets if it belongs to a vertex.
    partition: Option<(Name, Stored)>,
}

/// Id, label and properties that property steps give a new element.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) id: Option<Value>,
    pub(super) label: Option<Value>,
    pub(super) properties: Vec<Written>,
}

impl PropertyPart {
    pub(super) fn all(
        properties: &[Property],
        builder: &Builder<'_>,
    ) -> Result<Vec<Self>, QueryError> {
        let one = |property: &Property| -> Result<Self, QueryError> {
            check_meta(property, builder)?;
            let meta = property.meta.iter();
            let meta = meta.map(|(name, given)| {
                let name = checked_name("Property key", name)?.clone();
                Ok((name, Part::new(given, builder)?))
            });
            let partition = property.partition.as_ref();
            let stored = |(name, value): &(Name, Value)| -> Result<(Name, Stored), QueryError> {
                Ok((name.clone(), value.to_stored()?))
            };
            let partition = partition.map(stored).transpose()?;
            Ok(Self {
                cardinality: property.cardinality,
                name: match &property.name {
                    PropertyName::Key(name) => NamePart::Key(name.clone()),
                    PropertyName::Token(token) => NamePart::Token(*token),
                    PropertyName::Child(plan) => NamePart::Child(Child::local(plan, builder)?),
                },
                value: Part::new(&property.value, builder)?,
                meta: meta.collect::<Result<_, QueryError>>()?,
                partition,
            })
        };
        properties.iter().map(one).collect()
    }

    fn name(&mut self, cx: &mut Context<'_>, row: &Row) -> Result<Option<Value>, QueryError> {
        Ok(match &mut self.name {
            NamePart::Key(name) => Some(Value::Text(name.clone())),
            NamePart::Token(token) => Some(Value::Token(*token)),
            NamePart::Child(child) => {
                let firsts = child.firsts(cx, std::slice::from_ref(row))?;
                firsts.into_iter().next().flatten().map(|row| row.value)
            }
        })
    }

    /// Computes this property and adds it to `said`.
    ///
    /// # Errors
    /// If a child has no result, or the property is no property.
    fn say(&mut self, cx: &mut Context<'_>, row: &Row, said: &mut Said) -> Result<(), QueryError> {
        let (Some(name), Some(value)) = (self.name(cx, row)?, self.value.of(cx, row)?) else {
            return Err(QueryError::unproductive(&row.value));
        };
        match name {
            Value::Token(Token::Id) => said.id = Some(value),
            Value::Token(Token::Label) => said.label = Some(value),
            Value::Text(name) => {
                let mut written = Written::of(&name, value, self.cardinality)?;
                written.partition.clone_from(&self.partition);
                for (name, part) in &mut self.meta {
                    let value = part.of(cx, row)?;
                    let value = value.ok_or_else(|| QueryError::unproductive(&row.value))?;
                    if !value.is_null() {
                        written.meta.push((name.clone(), value.to_stored()?));
                    }
                }
                said.properties.push(written);
            }
            other => return Err(QueryError::cast(&other, "String")),
        }
        Ok(())
    }
}

impl Said {
    pub(super) fn of(
        cx: &mut Context<'_>,
        properties: &mut [PropertyPart],
        row: &Row,
    ) -> Result<Self, QueryError> {
        let mut said = Self::default();
        for property in properties {
            property.say(cx, row, &mut said)?;
        }
        Ok(said)
    }

    /// The properties of a new element. Removals are left out: there is nothing to remove.
    pub(super) fn writes(&self) -> Vec<Written> {
        let each = self.properties.iter();
        each.filter(|written| written.value.is_some())
            .map(Written::clone)
            .collect()
    }
}

impl Written {
    pub(super) fn of(
        name: &Name,
        value: Value,
        cardinality: Option<Cardinality>,
    ) -> Result<Self, QueryError> {
        let name = checked_name("Property key", name)?.clone();
        let (value, cardinality) = match value {
            Value::Entry(entry) => match cardinality_of(&entry.0) {
                Some(own) => (entry.1.clone(), Some(own)),
                None => (Value::Entry(entry), cardinality),
            },
            value => (value, cardinality),
        };
        Ok(Self {
            name,
            cardinality,
            value: match value {
                Value::Null => None,
                value => Some(value.to_stored()?),
            },
            meta: Vec::new(),
            partition: None,
        })
    }

    /// The properties among the entries of a map.
    pub(super) fn of_map(map: &ValueMap) -> Result<Vec<Self>, QueryError> {
        let mut all = Vec::new();
        for (key, value) in map {
            if let Value::Text(name) = key {
                all.push(Self::of(name, value.clone(), None)?);
            }
        }
        Ok(all)
    }
}

/// Calls `work` with the properties in the form that a writer takes.
pub(super) fn with_writes<T>(
    written: &[Written],
    work: impl FnOnce(&[PropertyWrite<'_>]) -> T,
) -> T {
    let metas: Vec<Vec<(&str, Stored)>> = written
        .iter()
        .map(|one| {
            let each = one.meta.iter().chain(&one.partition);
            each.map(|(name, value)| (name.as_str(), value.clone()))
                .collect()
        })
        .collect();
    let writes: Vec<PropertyWrite<'_>> = written
        .iter()
        .zip(&metas)
        .filter_map(|(one, meta)| {
            Some(PropertyWrite {
                key: &one.name,
                value: one.value.as_ref()?,
                cardinality: one.cardinality,
                meta,
            })
        })
        .collect();
    work(&writes)
}

/// Writes properties of the element or property in a row.
pub(super) fn set(
    cx: &mut Context<'_>,
    writer: &dyn GraphWriter,
    properties: &mut [PropertyPart],
    row: &Row,
) -> Result<(), QueryError> {
    begin(cx, writer, &row.value)?;
    let said = Said::of(cx, properties, row)?;
    if said.id.is_some() || said.label.is_some() {
        let token = if said.id.is_some() { "id" } else { "label" };
        return Err(QueryError::invalid(format!(
            "T.{token} is immutable on existing elements"
        )));
    }
    for mut written in said.properties {
        if !matches!(row.value, Value::Vertex(_)) {
            written.partition = None;
        }
        put(cx, writer, &row.value, &written)?;
    }
    Ok(())
}

/// Calls [`GraphWriter::begin_change`] for an element, or for the vertex of a vertex property.
pub(super) fn begin(
    cx: &Context<'_>,
    writer: &dyn GraphWriter,
    value: &Value,
) -> Result<(), QueryError> {
    let element = match value {
        Value::Vertex(vertex) => ElementId::Vertex(vertex.id().clone()),
        Value::Edge(edge, _) => ElementId::Edge(edge.id.clone()),
        Value::VertexProperty(property) => ElementId::Vertex(property.vertex.id().clone()),
        _ => return Ok(()),
    };
    Ok(writer.begin_change(&element, cx.meter)?)
}

/// Writes one property of an element, or one meta-property.
pub(super) fn put(
    cx: &Context<'_>,
    writer: &dyn GraphWriter,
    value: &Value,
    written: &Written,
) -> Result<(), QueryError> {
    let takes_meta = matches!(value, Value::Vertex(_));
    if !takes_meta && !written.meta.is_empty() {
        return Err(QueryError::meta_property(value.type_name(), &written.name));
    }
    let element = match value {
        Value::Vertex(vertex) => ElementId::Vertex(vertex.id().clone()),
        Value::Edge(edge, _) => {
            if written
                .cardinality
                .is_some_and(|own| own != Cardinality::Single)
            {
                return Err(QueryError::invalid(format!(
                    "Property cardinality can only be set for a Vertex but the traversal \
                     encountered Edge for key: {}",
                    written.name
                )));
            }
            ElementId::Edge(edge.id.clone())
        }
        Value::VertexProperty(property) => {
            let meta = (written.name.as_str(), written.value.as_ref());
            let of = (property.name.as_str(), property.number);
            writer.set_meta(property.vertex.id(), of, meta, cx.meter)?;
            return Ok(());
        }
        other => return Err(QueryError::cast(other, "Element")),
    };
    match &written.value {
        None => {
            let all = Occurrence::All;
            writer.remove_property(&element, &written.name, all, cx.meter)?;
        }
        Some(_) => with_writes(std::slice::from_ref(written), |writes| {
            let mut each = writes.iter();
            each.try_for_each(|write| writer.set_property(&element, write, cx.meter))
        })?,
    }
    Ok(())
}

/// Refuses meta-properties in a graph that has none, before the query changes anything.
fn check_meta(property: &Property, builder: &Builder<'_>) -> Result<(), QueryError> {
    let has_meta = !property.meta.is_empty() || property.partition.is_some();
    if !has_meta || builder.schema.is_open() {
        return Ok(());
    }
    Err(QueryError::NotAllowed(format!(
        "A graph with a declared schema has no properties of properties: property '{}' can have a \
         value only",
        property.name
    )))
}

fn cardinality_of(token: &Value) -> Option<Cardinality> {
    match token {
        Value::Token(Token::Single) => Some(Cardinality::Single),
        Value::Token(Token::List) => Some(Cardinality::List),
        Value::Token(Token::Set) => Some(Cardinality::Set),
        _ => None,
    }
}

/// A new handle of a changed element: content that was read before is out of date.
pub(super) fn fresh(cx: &Context<'_>, value: &Value) -> Result<Value, QueryError> {
    Ok(match value {
        Value::Vertex(vertex) => {
            let label = vertex.label();
            Value::Vertex(Arc::new(VertexHandle::new(vertex.id().clone(), label)))
        }
        Value::Edge(edge, walked) => {
            let mut read = edges_of_ids(cx, std::slice::from_ref(&edge.id))?;
            match read.pop() {
                Some(Value::Edge(edge, _)) => Value::Edge(edge, *walked),
                _ => value.clone(),
            }
        }
        other => other.clone(),
    })
}
