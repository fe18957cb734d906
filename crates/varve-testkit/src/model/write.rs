//! What writes do to the model.

use std::collections::{BTreeMap, BTreeSet};

use varve_model::schema::{IndexType, Retention};
use varve_model::{
    CommitVersion, Edge, Element, ElementId, Instant, Period, Properties, PropertyKeyId, Value,
    VertexId, VertexLabelId,
};

use super::{Event, Model, Point};

/// One change of a request, in the terms of the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes an element as a whole. An edge's ends must exist when `check_ends`.
    Put {
        /// The element.
        element: Element,
        /// Whether an edge's ends must exist, with the labels that the edge names.
        check_ends: bool,
    },
    /// Sets properties of an existing element; adds to collections.
    Append {
        /// Which element.
        id: ElementId,
        /// What is set or added.
        properties: Properties,
    },
    /// Removes properties of an existing element.
    Eliminate {
        /// Which element.
        id: ElementId,
        /// Which properties.
        keys: Vec<PropertyKeyId>,
    },
    /// Writes an element, combining named properties with the stored ones.
    Combine {
        /// The element as sent.
        element: Element,
        /// How the properties are combined.
        strategies: Vec<(PropertyKeyId, Strategy)>,
    },
    /// Deletes an element; a vertex takes its edges with it.
    Delete {
        /// Which element.
        id: ElementId,
        /// Whether a missing element is an error.
        refuse_missing: bool,
    },
}

/// How a batch update combines a stored and a sent value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "HugeGraph's names are the definition")]
pub enum Strategy {
    Sum,
    Bigger,
    Smaller,
    Union,
    Intersection,
    Append,
    Eliminate,
    Override,
}

/// Changes that are stored together or not at all, and their period.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The changes, in order; later ones see earlier ones.
    pub changes: Vec<Change>,
    /// Start of the valid period; `None` = the commit.
    pub from: Option<Instant>,
    /// End of the valid period; `None` = for ever.
    pub to: Option<Instant>,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The period is empty.
    EmptyPeriod,
    /// An edge's end does not exist or has another label.
    Ends,
    /// The element to update or delete does not exist.
    Missing,
    /// Another element holds the values of a unique index.
    Unique,
    /// The label does not have the property.
    Property,
    /// Batch updates do not know the ids that the server gives.
    AutomaticId,
    /// The label keeps no history, so it takes no periods.
    NoHistory,
}

/// What a request will do, once it has a commit version.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// One entry for each element it touches.
    pub events: Vec<Planned>,
}

/// An event without its commit version.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// Which element.
    pub id: ElementId,
    /// Its new state, or that it does not exist.
    pub state: Option<Element>,
    /// Start; `None` = the commit's instant.
    pub from: Option<Instant>,
    /// End.
    pub to: Instant,
    /// See [`Event::idle`].
    pub idle: bool,
}

impl Model {
    /// What `request` does when `now` counts as now.
    ///
    /// # Errors
    /// When the graph must refuse the request; nothing changes then.
    pub fn plan(&self, request: &Request, now: Instant) -> Result<Plan, Refusal> {
        let to = request.to.unwrap_or(Instant::FOREVER);
        let start = request.from.unwrap_or(now);
        let period = Period::new(start, to).ok_or(Refusal::EmptyPeriod)?;
        let mut work = Work {
            model: self,
            at: Point {
                valid: start,
                version: CommitVersion::MAX,
            },
            outcomes: BTreeMap::new(),
        };
        for change in &request.changes {
            work.apply(change)?;
        }
        if to > now {
            work.check_unique(Period {
                from: start.max(now),
                to,
            })?;
        }
        let mut events = Vec::new();
        for (id, state) in work.outcomes {
            let event = match state {
                Some(element) => self.plan_put(id, element, request, now)?,
                None => Some(self.plan_delete(id, request, period)),
            };
            events.extend(event);
        }
        Ok(Plan { events })
    }

    /// A put, shortened by its label's time to live; `None` when it would be over before it starts.
    fn plan_put(
        &self,
        id: ElementId,
        element: Element,
        request: &Request,
        now: Instant,
    ) -> Result<Option<Planned>, Refusal> {
        let rules = self.schema.rules(&element);
        if rules.retention == Retention::None && (request.from.is_some() || request.to.is_some()) {
            return Err(Refusal::NoHistory);
        }
        let mut from = request.from;
        let mut to = request.to.unwrap_or(Instant::FOREVER);
        if rules.ttl > 0 {
            let property = rules
                .ttl_start_time
                .and_then(|key| element.properties().get(key));
            let start = match property {
                Some(Value::Date(millis)) => Instant::from_millis(*millis),
                _ => from.unwrap_or(now),
            };
            to = to.min(start.plus_micros(rules.ttl * 1_000));
            if from.is_none() && to <= now {
                from = Some(start);
            }
        }
        let planned = Planned {
            id,
            state: Some(element),
            from,
            to,
            idle: false,
        };
        Ok((from.unwrap_or(now) < to).then_some(planned))
    }

    fn plan_delete(&self, id: ElementId, request: &Request, period: Period) -> Planned {
        let idle = !self.exists_within(&id, period, CommitVersion::MAX);
        Planned {
            id,
            state: None,
            from: request.from,
            to: period.to,
            idle,
        }
    }

    /// Whether the element exists at any instant of `period`, by what was known at `version`.
    #[must_use]
    pub fn exists_within(&self, id: &ElementId, period: Period, version: CommitVersion) -> bool {
        // Its state changes only where a period begins or ends.
        let own = self.events.iter().filter(|event| event.id == *id);
        let boundaries = own.flat_map(|event| [event.period.from, event.period.to]);
        std::iter::once(period.from)
            .chain(boundaries)
            .filter(|instant| period.covers(*instant))
            .any(|valid| self.state(id, Point { valid, version }).is_some())
    }

    /// Destroys an element with all its events, and with a vertex every edge it ever had.
    pub fn purge(&mut self, id: &ElementId) {
        let doomed = |of: &ElementId| match (of, id) {
            (ElementId::Edge(edge), ElementId::Vertex(vertex)) => {
                edge.source == *vertex || edge.target == *vertex
            }
            _ => of == id,
        };
        self.events.retain(|event| !doomed(&event.id));
    }

    /// Adds the events of `plan` with their commit version.
    ///
    /// # Panics
    /// When the version is not greater than all before.
    pub fn commit(&mut self, plan: &Plan, version: CommitVersion) {
        assert!(
            version > self.last_version(),
            "commit versions grow: {version} after {}",
            self.last_version()
        );
        for planned in &plan.events {
            let from = planned.from.unwrap_or(version.instant());
            let to = planned.to;
            self.events.push(Event {
                version,
                period: Period { from, to },
                id: planned.id.clone(),
                state: planned.state.clone(),
                idle: planned.idle,
            });
        }
    }
}

struct Work<'a> {
    model: &'a Model,
    at: Point,
    outcomes: BTreeMap<ElementId, Option<Element>>,
}

impl Work<'_> {
    fn state(&self, id: &ElementId) -> Option<Element> {
        match self.outcomes.get(id) {
            Some(outcome) => outcome.clone(),
            None => self.model.state(id, self.at).cloned(),
        }
    }

    fn apply(&mut self, change: &Change) -> Result<(), Refusal> {
        match change {
            Change::Put {
                element,
                check_ends,
            } => {
                if let (Element::Edge(edge), true) = (element, *check_ends) {
                    self.check_ends(edge)?;
                }
                self.outcomes.insert(element.id(), Some(element.clone()));
            }
            Change::Append { id, properties } => {
                let mut element = self.state(id).ok_or(Refusal::Missing)?;
                self.check_keys(&element, properties.iter().map(|(key, _)| key))?;
                append(properties_of(&mut element), properties);
                self.outcomes.insert(id.clone(), Some(element));
            }
            Change::Eliminate { id, keys } => {
                let mut element = self.state(id).ok_or(Refusal::Missing)?;
                self.check_keys(&element, keys.iter().copied())?;
                for key in keys {
                    properties_of(&mut element).remove(*key);
                }
                self.outcomes.insert(id.clone(), Some(element));
            }
            Change::Combine {
                element,
                strategies,
            } => {
                if self.model.schema.is_automatic(element) {
                    return Err(Refusal::AutomaticId);
                }
                let stored = self.state(&element.id());
                let mut combined = element.clone();
                // Under another label it is a new element: nothing of the old is kept.
                if let Some(stored) = stored.filter(|stored| same_label(stored, element)) {
                    let properties = properties_of(&mut combined);
                    combine_all(properties, stored.properties(), strategies);
                }
                self.outcomes.insert(element.id(), Some(combined));
            }
            Change::Delete { id, refuse_missing } => {
                if *refuse_missing && self.state(id).is_none() {
                    return Err(Refusal::Missing);
                }
                self.outcomes.insert(id.clone(), None);
                if let ElementId::Vertex(vertex) = id {
                    self.delete_edges_of(vertex);
                }
            }
        }
        Ok(())
    }

    /// An element has no properties but its label's.
    fn check_keys(
        &self,
        element: &Element,
        mut keys: impl Iterator<Item = PropertyKeyId>,
    ) -> Result<(), Refusal> {
        let known = self.model.schema.properties(element);
        match keys.all(|key| known.contains(&key)) {
            true => Ok(()),
            false => Err(Refusal::Property),
        }
    }

    fn check_ends(&self, edge: &Edge) -> Result<(), Refusal> {
        let ends = [
            (&edge.id.source, edge.source_label),
            (&edge.id.target, edge.target_label),
        ];
        for (id, label) in ends {
            if self.vertex_label(id) != Some(label) {
                return Err(Refusal::Ends);
            }
        }
        Ok(())
    }

    fn vertex_label(&self, id: &VertexId) -> Option<VertexLabelId> {
        match self.state(&ElementId::Vertex(id.clone()))? {
            Element::Vertex(vertex) => Some(vertex.label),
            Element::Edge(_) => None,
        }
    }

    /// A vertex is not there in the period, so none of its edges is. (For those that were not anyway this is idle.)
    fn delete_edges_of(&mut self, vertex: &VertexId) {
        let touches = |id: &ElementId| matches!(id, ElementId::Edge(edge) if edge.source == *vertex || edge.target == *vertex);
        let stored = self.model.ids().into_iter().filter(|id| touches(id));
        let written: Vec<ElementId> = self
            .outcomes
            .keys()
            .filter(|id| touches(id))
            .cloned()
            .chain(stored)
            .collect();
        for id in written {
            self.outcomes.insert(id, None);
        }
    }

    /// At no instant of `period` do two elements of a label hold the same values of a unique index.
    fn check_unique(&self, period: Period) -> Result<(), Refusal> {
        let events = self.model.events.iter();
        let boundaries = events.flat_map(|event| [event.period.from, event.period.to]);
        let instants: BTreeSet<Instant> = std::iter::once(period.from)
            .chain(boundaries.filter(|instant| period.covers(*instant)))
            .collect();
        let unique = |label: &&varve_model::IndexLabel| label.index_type == IndexType::Unique;
        for label in self.model.schema.index_labels.iter().filter(unique) {
            let written: Vec<(ElementId, Vec<Value>)> = self
                .outcomes
                .iter()
                .filter_map(|(id, state)| {
                    Some((id.clone(), super::read::tuple(label, state.as_ref()?)?))
                })
                .collect();
            if written.is_empty() {
                continue;
            }
            let mut stored: Vec<Vec<Value>> = Vec::new();
            for valid in &instants {
                let at = Point {
                    valid: *valid,
                    ..self.at
                };
                let mut others = self.model.elements(at);
                others.retain(|element| !self.outcomes.contains_key(&element.id()));
                stored.extend(
                    others
                        .iter()
                        .filter_map(|other| super::read::tuple(label, other)),
                );
            }
            for (at, (_, values)) in written.iter().enumerate() {
                let twice = written[..at].iter().any(|(_, other)| other == values);
                if twice || stored.contains(values) {
                    return Err(Refusal::Unique);
                }
            }
        }
        Ok(())
    }
}

fn properties_of(element: &mut Element) -> &mut Properties {
    match element {
        Element::Vertex(vertex) => &mut vertex.properties,
        Element::Edge(edge) => &mut edge.properties,
    }
}

/// Sets the properties `new`; adds to collections, a SET keeping each member once.
pub fn append(properties: &mut Properties, new: &Properties) {
    for (key, value) in new.iter() {
        let value = match (properties.get(key), value) {
            (Some(Value::List(old)), Value::List(new)) => {
                Value::List(old.iter().chain(new).cloned().collect())
            }
            (Some(Value::Set(old)), Value::Set(new)) => Value::Set(union(old, new)),
            _ => value.clone(),
        };
        properties.set(key, value);
    }
}

fn union(old: &[Value], new: &[Value]) -> Vec<Value> {
    let mut members = old.to_vec();
    for value in new {
        if !members.contains(value) {
            members.push(value.clone());
        }
    }
    members
}

fn same_label(a: &Element, b: &Element) -> bool {
    match (a, b) {
        (Element::Vertex(a), Element::Vertex(b)) => a.label == b.label,
        (Element::Edge(a), Element::Edge(b)) => a.id.label == b.id.label,
        _ => false,
    }
}

/// What is only stored is kept; what both have is combined by the key's strategy, or as sent if there is none.
pub fn combine_all(
    sent: &mut Properties,
    stored: &Properties,
    strategies: &[(PropertyKeyId, Strategy)],
) {
    for (key, old) in stored.iter() {
        let strategy = strategies.iter().find(|(named, _)| *named == key);
        match (sent.get(key), strategy) {
            (None, _) => sent.set(key, old.clone()),
            (Some(new), Some((_, strategy))) => sent.set(key, combine(*strategy, old, new)),
            (Some(_), None) => {}
        }
    }
}

/// Combines a stored and a sent value of one type.
///
/// # Panics
/// When the strategy does not fit the values: the test made a mistake.
#[must_use]
pub fn combine(strategy: Strategy, old: &Value, new: &Value) -> Value {
    use std::cmp::Ordering::{Greater, Less};
    match (strategy, old, new) {
        (Strategy::Override, _, _) => new.clone(),
        (Strategy::Bigger, _, _) => match new.compare(old) {
            Some(Greater) => new.clone(),
            _ => old.clone(),
        },
        (Strategy::Smaller, _, _) => match new.compare(old) {
            Some(Less) => new.clone(),
            _ => old.clone(),
        },
        (Strategy::Sum, Value::Int(a), Value::Int(b)) => Value::Int(a + b),
        (Strategy::Sum, Value::Long(a), Value::Long(b)) => Value::Long(a + b),
        (Strategy::Sum, Value::Double(a), Value::Double(b)) => Value::Double(a + b),
        (Strategy::Union, Value::Set(a), Value::Set(b)) => Value::Set(union(a, b)),
        (Strategy::Intersection, Value::Set(a), Value::Set(b)) => Value::Set(
            a.iter()
                .filter(|value| b.contains(value))
                .cloned()
                .collect(),
        ),
        (Strategy::Append, Value::List(a), Value::List(b)) => {
            Value::List(a.iter().chain(b).cloned().collect())
        }
        (Strategy::Append, Value::Set(a), Value::Set(b)) => Value::Set(union(a, b)),
        (Strategy::Eliminate, Value::List(a), Value::List(b)) => Value::List(
            a.iter()
                .filter(|value| !b.contains(value))
                .cloned()
                .collect(),
        ),
        (Strategy::Eliminate, Value::Set(a), Value::Set(b)) => Value::Set(
            a.iter()
                .filter(|value| !b.contains(value))
                .cloned()
                .collect(),
        ),
        _ => panic!("{strategy:?} of {old:?} and {new:?}"),
    }
}
