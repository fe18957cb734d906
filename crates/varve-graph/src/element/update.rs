//! Changes of stored elements: append and eliminate of one element, and batch updates with
//! strategies.

use std::collections::HashMap;
use std::sync::Arc;

use varve_model::value::Cardinality;
use varve_model::{
    Edge, EdgeId, EdgeLabel, Element, ElementId, Properties, PropertyKey, Value, Vertex,
    VertexLabel,
};

use super::convert::{Members, convert};
use super::edge::{EdgeForm, NewEdge};
use super::input::{EdgeInput, RawProperty, VertexInput};
use super::properties::{self, Label};
use super::strategy::Strategies;
use super::text::of_value_short;
use super::vertex::Purpose;
use super::{Rules, edge::check_link, olap};
use crate::GraphError;
use crate::schema::Schema;
use crate::write::{EndCheck, Gaps, Modifier, Mutation};

/// How a change treats the properties that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdateAction {
    /// Sets them; new members are added to stored collections.
    Append,
    /// Removes them, whatever values were sent.
    Eliminate,
}

/// A property of a change, checked as far as possible without the element. Errors are reported only
/// after the element was found.
struct Change {
    name: String,
    key: Option<Arc<PropertyKey>>,
    value: Result<Value, String>,
}

/// The mutation that applies an [`UpdateAction`] with the given properties to one element.
///
/// # Errors
/// [`crate::ErrorKind::InvalidArgument`] when properties are missing or null. The mutation reports
/// properties that the element's label does not allow.
pub fn change(
    schema: &Arc<Schema>,
    id: ElementId,
    properties: Option<Vec<RawProperty<'_>>>,
    action: UpdateAction,
) -> Result<Mutation, GraphError> {
    let kind = match &id {
        ElementId::Vertex(_) => "vertex",
        ElementId::Edge(_) => "edge",
    };
    let properties = properties::present(properties, kind, &"null")?;
    let changes: Vec<Change> = properties
        .into_iter()
        .map(|(name, raw)| {
            let key = schema.require_property_key(&name).ok().cloned();
            let value = match (&key, action) {
                (Some(key), UpdateAction::Append) => convert(key, raw).map_err(|e| e.message),
                _ => Ok(Value::Boolean(false)),
            };
            Change {
                name: name.into_owned(),
                key,
                value,
            }
        })
        .collect();
    let schema = Arc::clone(schema);
    let of = id.clone();
    let modify: Modifier = Box::new(move |state| match state {
        None => Err(not_there(&of)),
        Some(Element::Vertex(mut vertex)) => {
            let label = vertex_label(&schema, &vertex)?;
            apply(&of, &**label, &mut vertex.properties, &changes, action)?;
            Ok(Element::Vertex(vertex))
        }
        Some(Element::Edge(mut edge)) => {
            let label = edge_label(&schema, &edge)?;
            apply(&of, &**label, &mut edge.properties, &changes, action)?;
            Ok(Element::Edge(edge))
        }
    });
    Ok(Mutation::Modify {
        id,
        ends: EndCheck::WhereNew,
        gaps: Gaps::Keep,
        modify,
    })
}

/// The error for an element that does not exist.
#[must_use]
pub fn not_there(id: &ElementId) -> GraphError {
    let kind = match id {
        ElementId::Vertex(_) => "Vertex",
        ElementId::Edge(_) => "Edge",
    };
    GraphError::not_found(format!("{kind} '{id}' does not exist"))
}

fn vertex_label<'s>(
    schema: &'s Schema,
    vertex: &Vertex,
) -> Result<&'s Arc<VertexLabel>, GraphError> {
    let unknown = || GraphError::invalid(format!("The label of vertex '{}' is gone", vertex.id));
    schema.vertex_label(vertex.label).ok_or_else(unknown)
}

fn edge_label<'s>(schema: &'s Schema, edge: &Edge) -> Result<&'s Arc<EdgeLabel>, GraphError> {
    let unknown = || GraphError::invalid(format!("The label of edge '{}' is gone", edge.id));
    schema.edge_label(edge.id.label).ok_or_else(unknown)
}

fn apply<L: Label>(
    id: &ElementId,
    label: &L,
    properties: &mut Properties,
    changes: &[Change],
    action: UpdateAction,
) -> Result<(), GraphError> {
    for change in changes {
        let Some(key) = &change.key else {
            return Err(GraphError::invalid(format!(
                "Undefined property key: '{}'",
                change.name
            )));
        };
        if !label.allows(key.id) {
            let kind = L::KIND;
            return Err(GraphError::invalid(format!(
                "Can't update property for {kind} '{id}' because there is no property key '{}' in its {kind} label",
                change.name
            )));
        }
    }
    for change in changes {
        let Some(key) = &change.key else { continue };
        match action {
            UpdateAction::Append => append(label, key, properties, change)?,
            UpdateAction::Eliminate => eliminate(label, key, properties)?,
        }
    }
    Ok(())
}

fn append<L: Label>(
    label: &L,
    key: &PropertyKey,
    properties: &mut Properties,
    change: &Change,
) -> Result<(), GraphError> {
    if label.id_keys().contains(&key.id) {
        return Err(L::fixed(&key.name));
    }
    let value = match &change.value {
        Ok(value) => value,
        Err(message) => return Err(GraphError::invalid(message.clone())),
    };
    properties::check_storable_key(key)?;
    let stored = properties.get(key.id);
    let combined = match (key.cardinality, stored) {
        (Cardinality::Set, Some(stored)) => {
            let mut members = Members::of(stored.members());
            let new = value.members().iter().cloned();
            new.for_each(|item| members.add(item));
            Value::Set(members.into_items())
        }
        (Cardinality::List, Some(stored)) => {
            let all = stored.members().iter().chain(value.members());
            Value::List(all.cloned().collect())
        }
        _ => value.clone(),
    };
    properties.set(key.id, combined);
    Ok(())
}

fn eliminate<L: Label>(
    label: &L,
    key: &PropertyKey,
    properties: &mut Properties,
) -> Result<(), GraphError> {
    let Some(stored) = properties.get(key.id) else {
        return Ok(());
    };
    if !label.nullable_keys().contains(&key.id) {
        let kind = L::KIND;
        let shown = if kind == "vertex" { "vp" } else { "p" };
        return Err(GraphError::invalid(format!(
            "Can't remove non-null {kind} property '{shown}[{}->{}]'",
            key.name,
            of_value_short(stored)
        )));
    }
    properties.remove(key.id);
    Ok(())
}

/// The elements of a batch update, in the order of their first appearance; those with the same id
/// are combined.
struct Drafts<T> {
    drafts: Vec<T>,
    places: HashMap<ElementId, usize>,
}

impl<T> Drafts<T> {
    fn new() -> Self {
        Self {
            drafts: Vec::new(),
            places: HashMap::new(),
        }
    }

    /// Adds a draft, or combines it with the earlier one with that id.
    fn add(
        &mut self,
        id: ElementId,
        draft: T,
        combine: impl FnOnce(&T, T) -> Result<T, GraphError>,
    ) -> Result<(), GraphError> {
        match self.places.get(&id) {
            Some(at) => {
                let combined = combine(&self.drafts[*at], draft)?;
                self.drafts[*at] = combined;
            }
            None => {
                self.places.insert(id, self.drafts.len());
                self.drafts.push(draft);
            }
        }
        Ok(())
    }
}

impl Rules<'_> {
    /// The mutations of a batch update of vertices, one for each different id, in the order of
    /// their first appearance.
    ///
    /// # Errors
    /// [`crate::ErrorKind::InvalidArgument`] when the schema or a strategy does not allow it.
    pub fn vertex_updates(
        &self,
        schema: &Arc<Schema>,
        inputs: Vec<VertexInput<'_>>,
        strategies: &Arc<Strategies>,
    ) -> Result<Vec<Mutation>, GraphError> {
        let mut drafts: Drafts<Vertex> = Drafts::new();
        for input in inputs {
            let (new, _) = self.vertex_draft(input, Purpose::Update)?;
            self.check_storable(&new.properties)?;
            drafts.add(ElementId::Vertex(new.id.clone()), new, |old, new| {
                merge_vertex(schema, strategies, old, new)
            })?;
        }
        let complete = self.mode.wants_complete_vertices();
        let mutations = drafts.drafts.into_iter().map(|draft| {
            let (schema, strategies) = (Arc::clone(schema), Arc::clone(strategies));
            let id = ElementId::Vertex(draft.id.clone());
            let modify: Modifier = Box::new(move |state| {
                let vertex = match &state {
                    Some(Element::Vertex(old)) => {
                        merge_vertex(&schema, &strategies, old, draft.clone())?
                    }
                    _ => draft.clone(),
                };
                let label = vertex_label(&schema, &vertex)?;
                if complete {
                    properties::check_complete(&schema, &**label, &vertex.properties)?;
                }
                Ok(Element::Vertex(vertex))
            });
            Mutation::Modify {
                id,
                ends: EndCheck::Skip,
                gaps: Gaps::Fill,
                modify,
            }
        });
        Ok(mutations.collect())
    }

    /// The mutations of a batch update of edges, as [`Rules::vertex_updates`]. With `check_vertex`
    /// both ends of every edge must exist.
    ///
    /// # Errors
    /// As [`Rules::vertex_updates`].
    pub fn edge_updates(
        &self,
        schema: &Arc<Schema>,
        inputs: Vec<EdgeInput<'_>>,
        strategies: &Arc<Strategies>,
        check_vertex: bool,
    ) -> Result<Vec<Mutation>, GraphError> {
        let form = EdgeForm {
            labels_required: true,
            ends_checked: check_vertex,
        };
        let ends = if check_vertex {
            EndCheck::Exist { labels_given: true }
        } else {
            EndCheck::Skip
        };
        let mut drafts: Drafts<Edge> = Drafts::new();
        for input in inputs {
            let NewEdge { edge: new, .. } = self.edge_draft(input, form, Purpose::Update)?;
            check_link(schema, new.id.label, (new.source_label, new.target_label))?;
            self.check_storable(&new.properties)?;
            drafts.add(ElementId::Edge(new.id.clone()), new, |old, new| {
                merge_edge(schema, strategies, old, new)
            })?;
        }
        let mutations = drafts.drafts.into_iter().map(|draft| {
            let (schema, strategies) = (Arc::clone(schema), Arc::clone(strategies));
            let id: EdgeId = draft.id.clone();
            let modify: Modifier = Box::new(move |state| {
                let edge = match &state {
                    Some(Element::Edge(old)) => {
                        merge_edge(&schema, &strategies, old, draft.clone())?
                    }
                    _ => draft.clone(),
                };
                let label = edge_label(&schema, &edge)?;
                properties::check_complete(&schema, &**label, &edge.properties)?;
                Ok(Element::Edge(edge))
            });
            Mutation::Modify {
                id: ElementId::Edge(id),
                ends,
                gaps: Gaps::Fill,
                modify,
            }
        });
        Ok(mutations.collect())
    }
}

/// A vertex with another label than the stored one replaces it; only the values of offline analyses
/// are kept.
fn merge_vertex(
    schema: &Schema,
    strategies: &Strategies,
    old: &Vertex,
    mut new: Vertex,
) -> Result<Vertex, GraphError> {
    if old.label != new.label {
        olap::keep(schema, &old.properties, &mut new);
        return Ok(new);
    }
    let fixed = vertex_label(schema, &new)?.primary_keys.as_slice();
    let properties = strategies.merge(schema, fixed, &old.properties, &new.properties)?;
    Ok(Vertex { properties, ..new })
}

fn merge_edge(
    schema: &Schema,
    strategies: &Strategies,
    old: &Edge,
    new: Edge,
) -> Result<Edge, GraphError> {
    let fixed = edge_label(schema, &new)?.sort_keys.as_slice();
    let properties = strategies.merge(schema, fixed, &old.properties, &new.properties)?;
    Ok(Edge { properties, ..new })
}
