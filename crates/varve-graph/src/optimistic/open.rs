//! Changes of open graphs: labels and property keys are created on first use.
//!
//! They are created before the data is committed, and stay if the commit fails.

use std::sync::Arc;

use varve_model::schema::IdStrategy;
use varve_model::sortable::{drawn_sort_value, given_sort_value};
use varve_model::{
    Cardinality, DataType, Edge, EdgeId, Element, ElementId, Properties, PropertyKeyId, Value,
    Vertex, VertexId,
};
use varve_view::{
    EdgeAddition, Flow, GraphView, Meter, Occurrence, PropertyWrite, SchemaView, VertexAddition,
    ViewError,
};

use super::OptimisticTransaction;
use crate::element::{DEFAULT_VERTEX_LABEL, RawValue, not_there, vertex_id};
use crate::error::{ErrorKind, GraphError};
use crate::read::View;
use crate::schema::{FirstUse, LabelUse, Schema, has_all};
use crate::write::Absent;

impl OptimisticTransaction {
    /// Whether labels and keys are created on first use.
    pub(super) fn is_open(&self) -> bool {
        self.schema.current().is_open()
    }

    /// Creates missing schema elements.
    pub(super) fn ensure(&self, used: &FirstUse<'_>) -> Result<Arc<Schema>, GraphError> {
        // Schema elements stay even if the change is refused later, so a client with a policy may
        // not create them.
        if self.base().access().is_some() && !has_all(self.schema.current(), used) {
            return Err(GraphError::new(
                ErrorKind::Denied,
                "Permission denied: only users who may write every element can create \
                 new labels and property keys",
            ));
        }
        let schema = self.graph.catalogue().ensure(used)?;
        self.schema.renew(&schema)?;
        Ok(schema)
    }

    pub(super) fn add_open_vertex(
        &self,
        addition: &VertexAddition<'_>,
    ) -> Result<VertexId, GraphError> {
        let (id, fresh) = match addition.id {
            Some(value) => (open_id(value)?, false),
            None => (VertexId::Number(self.graph.next_vertex_id()), true),
        };
        match fresh {
            true => self.state.write().load_vertex(&id, None, None),
            false => self.load_vertex(&id)?,
        }
        if self.vertex(&id)?.is_some() {
            return Err(GraphError::new(
                ErrorKind::Existed,
                format!("Vertex with id already exists: {id}"),
            ));
        }
        let name = addition.label.unwrap_or(DEFAULT_VERTEX_LABEL);
        let label = LabelUse {
            name,
            ids: Some(match (&id, fresh) {
                (_, true) => IdStrategy::Automatic,
                (VertexId::Number(_), _) => IdStrategy::CustomizeNumber,
                (VertexId::Uuid(_), _) => IdStrategy::CustomizeUuid,
                (VertexId::Text(_), _) => IdStrategy::CustomizeString,
            }),
            keys: keys(addition.properties),
        };
        let schema = self.ensure(&FirstUse {
            property_keys: meta_keys(addition.properties),
            vertex_labels: vec![label],
            edge_labels: Vec::new(),
        })?;
        let mut properties = Properties::new();
        for property in addition.properties {
            // If the new vertex has several values of one key, all are kept.
            let cardinality = property.cardinality.unwrap_or(Cardinality::List);
            put(&schema, &mut properties, property, cardinality)?;
        }
        let vertex = Vertex {
            id: id.clone(),
            label: schema.require_vertex_label(name)?.id,
            properties,
        };
        self.change_vertex(&id, Some(vertex))?;
        Ok(id)
    }

    /// Refuses the id of an existing edge, and makes the commit fail if another edge gets the id
    /// before it.
    pub(super) fn claim_edge_id(&self, id: &Value, meter: &Meter) -> Result<(), ViewError> {
        let id = open_id(id)?;
        if let VertexId::Text(text) = &id
            && EdgeId::parse(text).is_ok()
        {
            return Err(GraphError::invalid(format!(
                "An edge can't be given the id '{text}', which has the form of those that the \
                 server gives"
            ))
            .into());
        }
        // Including edges that the client may not read.
        let stored = View::clone(&self.base()).guarded_by(None);
        let mut is_there = with_given_id(&stored, &id, meter)?;
        is_there.retain(|edge| !self.state.read().edges.contains_key(edge));
        is_there.extend(with_given_id(self, &id, meter)?);
        if !is_there.is_empty() {
            return Err(GraphError::new(
                ErrorKind::Existed,
                format!("Edge with id already exists: {id}"),
            )
            .into());
        }
        let name = format!("the edge id {id:?}").into_bytes();
        let search = move |(view, _): (&dyn GraphView, &dyn SchemaView),
                           meter: &Meter,
                           visit: &mut dyn FnMut(&ElementId) -> Flow| {
            for edge in with_given_id(view, &id, meter)? {
                if visit(&ElementId::Edge(edge)).is_break() {
                    break;
                }
            }
            Ok(())
        };
        self.expect(Absent {
            name,
            search: Arc::new(search),
            finds_hidden: true,
        });
        Ok(())
    }

    pub(super) fn add_open_edge(&self, addition: &EdgeAddition<'_>) -> Result<EdgeId, GraphError> {
        let end = |id: &VertexId| {
            let missing = || not_there(&ElementId::Vertex(id.clone()));
            self.vertex(id)?.ok_or_else(missing)
        };
        let (source, target) = (end(addition.source)?, end(addition.target)?);
        let label = LabelUse {
            name: addition.label,
            ids: None,
            keys: keys(addition.properties),
        };
        let schema = self.ensure(&FirstUse {
            edge_labels: vec![label],
            ..FirstUse::default()
        })?;
        let label = schema.require_edge_label(addition.label)?.id;
        let mut properties = Properties::new();
        for property in addition.properties {
            put(&schema, &mut properties, property, Cardinality::Single)?;
        }
        // Distinguishes parallel edges: the given id, or a generated number.
        let own = match addition.id {
            Some(id) => given_sort_value(&open_id(id)?),
            None => drawn_sort_value(self.graph.next_edge_number()),
        };
        let id = EdgeId {
            source: source.id,
            parent: label,
            label,
            sort_values: own,
            target: target.id,
        };
        self.load_edge(&id)?;
        if self.loaded_edge(&id).is_some() {
            return Err(GraphError::new(
                ErrorKind::Existed,
                format!("Edge with id already exists: {id}"),
            ));
        }
        let edge = Edge {
            id: id.clone(),
            source_label: source.label,
            target_label: target.label,
            properties,
        };
        self.change_edge(&id, Some(edge))?;
        Ok(id)
    }

    pub(super) fn set_open_property(
        &self,
        element: &ElementId,
        property: &PropertyWrite<'_>,
    ) -> Result<(), GraphError> {
        let one = std::slice::from_ref(property);
        let label = self.label_name(element)?;
        let label = vec![LabelUse {
            name: &label,
            ids: None,
            keys: keys(one),
        }];
        let (vertex_labels, edge_labels) = match element {
            ElementId::Vertex(_) => (label, Vec::new()),
            ElementId::Edge(_) => (Vec::new(), label),
        };
        let schema = self.ensure(&FirstUse {
            property_keys: meta_keys(one),
            vertex_labels,
            edge_labels,
        })?;
        let cardinality = match element {
            ElementId::Vertex(_) => property.cardinality.unwrap_or(Cardinality::Single),
            ElementId::Edge(_) => Cardinality::Single,
        };
        let (key, meta) = resolved(&schema, property)?;
        let value = property.value.clone();
        self.change_properties(element, move |properties| {
            properties.write(key, cardinality, value.clone(), meta.clone());
        })
    }

    pub(super) fn set_open_meta(
        &self,
        vertex: &VertexId,
        (key, number): (&str, u32),
        (meta, value): (&str, Option<&Value>),
    ) -> Result<(), GraphError> {
        let used = value.map(|value| (meta, value.data_type()));
        let schema = self.ensure(&FirstUse {
            property_keys: used.into_iter().collect(),
            ..FirstUse::default()
        })?;
        let key = schema.require_property_key(key)?.id;
        let Ok(meta) = schema.require_property_key(meta) else {
            // No element has a property with an unknown key.
            return Ok(());
        };
        let element = ElementId::Vertex(vertex.clone());
        let (meta, value) = (meta.id, value.cloned());
        self.change_properties(&element, move |properties| {
            properties.write_meta(key, number, meta, value.clone());
        })
    }

    pub(super) fn remove_open_property(
        &self,
        element: &ElementId,
        key: &str,
        which: Occurrence,
    ) -> Result<(), GraphError> {
        let schema = Arc::clone(self.schema.current());
        let Ok(key) = schema.require_property_key(key) else {
            return Ok(());
        };
        let key = key.id;
        self.change_properties(element, move |properties| match which {
            Occurrence::All => drop(properties.remove(key)),
            Occurrence::Number(number) => {
                properties.remove_value(key, number);
            }
        })
    }

    /// The name of the label of an element that exists.
    fn label_name(&self, element: &ElementId) -> Result<String, GraphError> {
        let schema = self.schema.current();
        let missing = || not_there(element);
        Ok(match element {
            ElementId::Vertex(id) => {
                let vertex = self.vertex(id)?.ok_or_else(missing)?;
                schema.vertex_label_name(vertex.label).to_owned()
            }
            ElementId::Edge(id) => schema.edge_label_name(id.label).to_owned(),
        })
    }

    /// Changes the properties of an element that exists.
    fn change_properties(
        &self,
        element: &ElementId,
        change: impl Fn(&mut Properties) + Send + Sync + 'static,
    ) -> Result<(), GraphError> {
        let own = element.clone();
        let step = move |state: Option<Element>| {
            let mut element = state.ok_or_else(|| not_there(&own))?;
            match &mut element {
                Element::Vertex(vertex) => change(&mut vertex.properties),
                Element::Edge(edge) => change(&mut edge.properties),
            }
            Ok(element)
        };
        match element {
            ElementId::Vertex(id) => {
                self.load_vertex(id)?;
                let now = self.vertex(id)?;
                if let Element::Vertex(vertex) = step(now.map(Element::Vertex))? {
                    self.change_vertex(id, Some::<Vertex>(vertex))?;
                }
            }
            ElementId::Edge(id) => {
                self.load_edge(id)?;
                let now = self.loaded_edge(id);
                if let Element::Edge(edge) = step(now.map(Element::Edge))? {
                    self.change_edge(id, Some::<Edge>(edge))?;
                }
            }
        }
        self.state.write().keep_step(element, Arc::new(step));
        Ok(())
    }
}

/// The existing edges of a view with the given id.
fn with_given_id(
    view: &dyn GraphView,
    id: &VertexId,
    meter: &Meter,
) -> Result<Vec<EdgeId>, ViewError> {
    let mut candidates = Vec::new();
    view.edges_given(id, meter, &mut |edge| candidates.push(edge))?;
    let mut found = Vec::new();
    view.edges(&candidates, &[], meter, &mut |at, _| {
        found.push(candidates[at].clone());
    })?;
    Ok(found)
}

fn put(
    schema: &Schema,
    properties: &mut Properties,
    property: &PropertyWrite<'_>,
    cardinality: Cardinality,
) -> Result<(), GraphError> {
    let (key, meta) = resolved(schema, property)?;
    properties.write(key, cardinality, property.value.clone(), meta);
    Ok(())
}

/// The key of a property, and its meta-properties.
fn resolved(
    schema: &Schema,
    property: &PropertyWrite<'_>,
) -> Result<(PropertyKeyId, Properties), GraphError> {
    let key = schema.require_property_key(property.key)?.id;
    let mut meta = Properties::new();
    for (name, value) in property.meta {
        meta.set(schema.require_property_key(name)?.id, value.clone());
    }
    Ok((key, meta))
}

/// The keys of properties, each with the type of its value.
fn keys<'p>(properties: &[PropertyWrite<'p>]) -> Vec<(&'p str, DataType)> {
    let each = properties.iter();
    each.map(|property| (property.key, property.value.data_type()))
        .collect()
}

/// The keys of meta-properties, each with the type of its value.
fn meta_keys<'p>(properties: &[PropertyWrite<'p>]) -> Vec<(&'p str, DataType)> {
    let each = properties.iter().flat_map(|property| property.meta);
    each.map(|(name, value)| (*name, value.data_type()))
        .collect()
}

fn open_id(value: &Value) -> Result<VertexId, GraphError> {
    match value {
        Value::Uuid(uuid) => Ok(VertexId::Uuid(*uuid)),
        other => vertex_id(&RawValue::from(other)),
    }
}
