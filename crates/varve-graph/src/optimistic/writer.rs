//! Makes the changes of a transaction, by the rules of the graph's schema.

use std::borrow::Cow;
use std::sync::Arc;

use varve_model::value::Uuid;
use varve_model::{
    Cardinality, CommitVersion, Edge, EdgeId, Element, ElementId, Value, Vertex, VertexId,
};
use varve_view::{
    EdgeAddition, Expand, Flow, GraphView, GraphWriter, Meter, Occurrence, PropertyWrite, Search,
    VertexAddition, ViewError,
};

use super::{OptimisticTransaction, SEARCH_BYTES};
use crate::element::{
    EdgeForm, EdgeInput, RawProperty, RawValue, Rules, UpdateAction, VertexInput, change,
    check_link, not_there,
};
use crate::error::{ErrorKind, GraphError};
use crate::write::{Absent, Mutation};

/// Changes have their own memory budget (`gremlin.transaction_bytes_max`). So they are made within
/// [`Meter::apart`], which does not charge their memory to the query.
impl GraphWriter for OptimisticTransaction {
    fn add_vertex(
        &self,
        vertex: &VertexAddition<'_>,
        meter: &Meter,
    ) -> Result<VertexId, ViewError> {
        meter.apart(|| {
            self.commit_if_due(None, 1)?;
            self.add_one_vertex(vertex)
        })
    }

    fn add_edge(&self, edge: &EdgeAddition<'_>, meter: &Meter) -> Result<EdgeId, ViewError> {
        meter.apart(|| self.commit_if_due(None, 1))?;
        if let (Some(id), true) = (edge.id, self.is_open()) {
            self.claim_edge_id(id, meter)?;
        }
        meter.apart(|| self.add_one_edge(edge))
    }

    fn begin_change(&self, element: &ElementId, meter: &Meter) -> Result<(), ViewError> {
        meter.apart(|| self.commit_if_due(Some(element), 1))?;
        Ok(())
    }

    fn set_property(
        &self,
        element: &ElementId,
        property: &PropertyWrite<'_>,
        meter: &Meter,
    ) -> Result<(), ViewError> {
        meter.apart(|| {
            self.commit_if_due(Some(element), 1)?;
            self.set_one_property(element, property)
        })
    }

    fn set_meta(
        &self,
        vertex: &VertexId,
        property: (&str, u32),
        meta: (&str, Option<&Value>),
        meter: &Meter,
    ) -> Result<(), ViewError> {
        if !self.is_open() {
            return Err(no_meta().into());
        }
        meter.apart(|| {
            self.commit_if_due(Some(&ElementId::Vertex(vertex.clone())), 1)?;
            Ok(self.set_open_meta(vertex, property, meta)?)
        })
    }

    fn remove_property(
        &self,
        element: &ElementId,
        key: &str,
        which: Occurrence,
        meter: &Meter,
    ) -> Result<(), ViewError> {
        meter.apart(|| {
            self.commit_if_due(Some(element), 1)?;
            self.remove_one_property(element, key, which)
        })
    }

    fn set_label(&self, vertex: &VertexId, label: &str, meter: &Meter) -> Result<(), ViewError> {
        self.relabel(vertex, label, meter)
    }

    fn remove(&self, element: &ElementId, meter: &Meter) -> Result<(), ViewError> {
        meter.apart(|| self.commit_if_due(Some(element), 1))?;
        match element {
            ElementId::Edge(id) => meter.apart(|| self.remove_edge(id)),
            ElementId::Vertex(id) => {
                let mut edges = self.edges_of(id, meter)?;
                // The vertex and its edges must be removed in one commit. A commit in between
                // makes the changes of others visible, so the edges are read again.
                if meter.apart(|| self.commit_if_due(Some(element), edges.len() + 1))? {
                    edges = self.edges_of(id, meter)?;
                }
                meter.apart(|| {
                    edges.iter().try_for_each(|edge| self.remove_edge(edge))?;
                    self.load_vertex(id)?;
                    Ok(self.change_vertex(id, None)?)
                })
            }
        }
    }

    fn commit_part(&self, meter: &Meter) -> Result<Option<CommitVersion>, ViewError> {
        Ok(meter.apart(|| self.commit_so_far())?)
    }

    fn drop_part(&self, meter: &Meter) -> Result<(), ViewError> {
        Ok(meter.apart(|| self.drop_so_far())?)
    }

    fn changes(&self) -> u64 {
        self.state.read().changes
    }

    fn changed_at(&self, element: &ElementId) -> u64 {
        let state = self.state.read();
        let last = match element {
            ElementId::Vertex(id) => state.vertices.get(id).map(|changed| changed.last),
            ElementId::Edge(id) => state.edges.get(id).map(|changed| changed.last),
        };
        // A commit in between counts as a change of every element: the transaction no longer knows
        // which elements it changed before, and sees what other commits changed since.
        last.unwrap_or(0).max(state.committed)
    }

    fn expect_absent(&self, name: Vec<u8>, search: Arc<Search>) {
        self.expect(Absent {
            name,
            search,
            finds_hidden: false,
        });
    }
}

impl OptimisticTransaction {
    pub(super) fn expect(&self, absent: Absent) {
        let mut state = self.state.write();
        state.bytes += SEARCH_BYTES + absent.name.len();
        state.expected.push(absent);
    }

    fn add_one_vertex(&self, vertex: &VertexAddition<'_>) -> Result<VertexId, ViewError> {
        if self.is_open() {
            return Ok(self.add_open_vertex(vertex)?);
        }
        let input = VertexInput {
            label: vertex.label.map(Cow::Borrowed),
            id: vertex.id.map(|id| match id {
                Value::Uuid(uuid) => raw_id(&VertexId::Uuid(*uuid)),
                id => RawValue::from(id),
            }),
            properties: Some(self.raw_properties(vertex.properties)?),
        };
        let new = self.with_rules(|rules| rules.vertex(input))?;
        let id = new.vertex.id.clone();
        match new.fresh {
            true => self.state.write().load_vertex(&id, None, None),
            false => self.load_vertex(&id)?,
        }
        self.change_vertex(&id, Some(new.vertex))?;
        self.state.write().replace(&ElementId::Vertex(id.clone()));
        Ok(id)
    }

    fn add_one_edge(&self, edge: &EdgeAddition<'_>) -> Result<EdgeId, ViewError> {
        if self.is_open() {
            return Ok(self.add_open_edge(edge)?);
        }
        if edge.id.is_some() {
            return Err(GraphError::new(
                ErrorKind::NotSupported,
                "The id of an edge consists of its ends, its label and its sort keys",
            )
            .into());
        }
        let schema = self.schema.current();
        let end = |id: &VertexId| -> Result<(RawValue<'_>, Cow<'_, str>), GraphError> {
            let missing = || not_there(&ElementId::Vertex(id.clone()));
            let vertex = self.vertex(id)?.ok_or_else(missing)?;
            let label = schema.vertex_label_name(vertex.label).to_owned();
            Ok((raw_id(id), Cow::Owned(label)))
        };
        let (source, source_label) = end(edge.source)?;
        let (target, target_label) = end(edge.target)?;
        let input = EdgeInput {
            id: None,
            label: Some(Cow::Borrowed(edge.label)),
            source: Some(source),
            source_label: Some(source_label),
            target: Some(target),
            target_label: Some(target_label),
            properties: Some(self.raw_properties(edge.properties)?),
        };
        let form = EdgeForm {
            labels_required: true,
            ends_checked: true,
        };
        let new = self.with_rules(|rules| rules.edge(input, form))?.edge;
        check_link(schema, new.id.label, (new.source_label, new.target_label))?;
        let id = new.id.clone();
        self.load_edge(&id)?;
        self.change_edge(&id, Some(new))?;
        self.state.write().replace(&ElementId::Edge(id.clone()));
        Ok(id)
    }

    fn set_one_property(
        &self,
        element: &ElementId,
        property: &PropertyWrite<'_>,
    ) -> Result<(), ViewError> {
        if self.is_open() {
            return Ok(self.set_open_property(element, property)?);
        }
        let properties = self.raw_properties(std::slice::from_ref(property))?;
        Ok(self.update(element, properties, UpdateAction::Append)?)
    }

    fn remove_one_property(
        &self,
        element: &ElementId,
        key: &str,
        which: Occurrence,
    ) -> Result<(), ViewError> {
        if self.is_open() {
            return Ok(self.remove_open_property(element, key, which)?);
        }
        let properties = vec![(Cow::Borrowed(key), RawValue::Boolean(false))];
        Ok(self.update(element, properties, UpdateAction::Eliminate)?)
    }

    fn with_rules<T>(&self, work: impl FnOnce(&Rules<'_>) -> T) -> T {
        let next = || self.graph.next_vertex_id();
        let next_edge = || self.graph.next_edge_number();
        work(&Rules {
            schema: self.schema.current(),
            mode: self.graph.catalogue().mode_of_write(),
            next_vertex_id: &next,
            next_edge_number: &next_edge,
        })
    }

    /// Converts properties to input for the rules. The values of a key of cardinality LIST or SET
    /// become one collection.
    ///
    /// # Errors
    /// When a property has properties of its own, or asks for LIST or SET and its key is unknown or
    /// of cardinality SINGLE.
    fn raw_properties<'p>(
        &self,
        properties: &[PropertyWrite<'p>],
    ) -> Result<Vec<RawProperty<'p>>, GraphError> {
        let mut all: Vec<RawProperty<'p>> = Vec::with_capacity(properties.len());
        for property in properties {
            self.check_cardinality(property)?;
            let value = RawValue::from(property.value);
            let several = self.is_collection(property.key);
            let before = all
                .iter_mut()
                .find(|(key, _)| several && *key == property.key);
            match before {
                Some((_, RawValue::List(items))) => items.push(value),
                _ if several && !matches!(value, RawValue::List(_)) => {
                    all.push((Cow::Borrowed(property.key), RawValue::List(vec![value])));
                }
                _ => all.push((Cow::Borrowed(property.key), value)),
            }
        }
        Ok(all)
    }

    fn is_collection(&self, key: &str) -> bool {
        let key = self.schema.current().require_property_key(key);
        key.is_ok_and(|key| key.cardinality != Cardinality::Single)
    }

    fn check_cardinality(&self, property: &PropertyWrite<'_>) -> Result<(), GraphError> {
        if !property.meta.is_empty() {
            return Err(no_meta());
        }
        let asked = match property.cardinality {
            Some(Cardinality::List) => "list",
            Some(Cardinality::Set) => "set",
            Some(Cardinality::Single) | None => return Ok(()),
        };
        let key = self.schema.current().require_property_key(property.key)?;
        if key.cardinality == Cardinality::Single {
            return Err(GraphError::invalid(format!(
                "Property key '{}' has one value, so property({asked}, …) does not fit",
                key.name
            )));
        }
        Ok(())
    }

    /// Changes properties of an element by the rules of updates.
    fn update(
        &self,
        element: &ElementId,
        properties: Vec<RawProperty<'_>>,
        action: UpdateAction,
    ) -> Result<(), GraphError> {
        let schema = self.schema.current();
        let mutation = change(schema, element.clone(), Some(properties), action)?;
        let Mutation::Modify { modify, .. } = mutation else {
            return Ok(());
        };
        match element {
            ElementId::Vertex(id) => {
                self.load_vertex(id)?;
                let now = self.vertex(id)?;
                if let Element::Vertex(vertex) = modify(now.map(Element::Vertex))? {
                    self.change_vertex(id, Some::<Vertex>(vertex))?;
                }
            }
            ElementId::Edge(id) => {
                self.load_edge(id)?;
                let now = self.loaded_edge(id);
                if let Element::Edge(edge) = modify(now.map(Element::Edge))? {
                    self.change_edge(id, Some::<Edge>(edge))?;
                }
            }
        }
        self.state.write().keep_step(element, Arc::from(modify));
        Ok(())
    }

    fn remove_edge(&self, id: &EdgeId) -> Result<(), ViewError> {
        self.load_edge(id)?;
        Ok(self.change_edge(id, None)?)
    }

    /// The edges of a vertex; of more than `elements_max`, only the first `elements_max + 1`, since
    /// a transaction cannot remove more.
    pub(super) fn edges_of(&self, id: &VertexId, meter: &Meter) -> Result<Vec<EdgeId>, ViewError> {
        let mut key = Vec::new();
        self.put_vertex_key(id, &mut key);
        let mut edges = Vec::new();
        let mut failed = None;
        let (ask, most) = (Expand::default(), self.limits.elements_max);
        self.neighbours(&[&key], &ask, meter, &mut |_, seen| {
            match self.edge_id(&key, seen.edge) {
                Ok(edge) => edges.push(edge),
                Err(error) => failed = Some(error),
            }
            match failed.is_none() && edges.len() <= most {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        failed.map_or(Ok(edges), Err)
    }
}

fn no_meta() -> GraphError {
    GraphError::new(
        ErrorKind::NotSupported,
        "A graph with a declared schema has no properties of properties",
    )
}

fn raw_id(id: &VertexId) -> RawValue<'static> {
    match id {
        VertexId::Number(number) => RawValue::Integer(*number),
        VertexId::Text(text) => RawValue::Text(Cow::Owned(text.to_string())),
        VertexId::Uuid(uuid) => RawValue::Text(Cow::Owned(Uuid(*uuid).to_string())),
    }
}
