//! The effect of writes on the model.

use std::collections::{BTreeMap, BTreeSet};

use varve_model::schema::Retention;
use varve_model::{
    CommitVersion, Element, ElementId, Instant, Period, Properties, PropertyKeyId, Value, VertexId,
};

mod ends;
mod labels;
mod unique;

use super::combine::{Strategy, append, combine_all};
use super::{Event, Model, Point};

/// One change of a request to the model.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Writes a whole element.
    Put {
        /// The element.
        element: Element,
        /// Whether the ends of an edge must exist, with the labels that the edge names.
        check_ends: bool,
    },
    /// Sets properties of an existing element; adds to collections.
    Append {
        /// The element.
        id: ElementId,
        /// The properties to set or add.
        properties: Properties,
    },
    /// Removes properties of an existing element.
    Eliminate {
        /// The element.
        id: ElementId,
        /// The properties to remove.
        keys: Vec<PropertyKeyId>,
    },
    /// Writes an element and combines some properties with the stored ones.
    Combine {
        /// The element as sent.
        element: Element,
        /// The properties to combine, and how.
        strategies: Vec<(PropertyKeyId, Strategy)>,
    },
    /// Deletes an element; a vertex is deleted with its edges.
    Delete {
        /// The element.
        id: ElementId,
        /// Whether a missing element is an error.
        refuse_missing: bool,
    },
}

/// Changes that are stored together or not at all, with their period.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The changes, in order; later ones see earlier ones.
    pub changes: Vec<Change>,
    /// Start of the valid period; `None` = the instant of the commit.
    pub from: Option<Instant>,
    /// End of the valid period; `None` = for ever.
    pub to: Option<Instant>,
    /// Whether an element is left alone that already has the new state throughout its period.
    pub skip_unchanged: bool,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The period is empty.
    EmptyPeriod,
    /// An edge's end does not exist or has another label.
    Ends,
    /// A vertex that has edges gets another label.
    Label,
    /// The element to update or delete does not exist.
    Missing,
    /// Another element has the same values of a unique index.
    Unique,
    /// The label does not have the property.
    Property,
    /// A batch update cannot name elements whose ids the server assigns.
    AutomaticId,
    /// The label keeps no history, so a request cannot have a period.
    NoHistory,
}

/// The effect of a request, without its commit version.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The events. Those of one element get consecutive versions in this order; the first one gets
    /// the first version of the commit.
    pub events: Vec<Planned>,
}

/// An event without its commit version.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The element.
    pub id: ElementId,
    /// The new state; `None` if it does not exist.
    pub state: Option<Element>,
    /// Start of the period; `None` = the instant of the commit.
    pub from: Option<Instant>,
    /// End of the period.
    pub to: Instant,
    /// See [`Event::idle`].
    pub idle: bool,
}

impl Model {
    /// The effect of `request` if the current instant is `now`.
    ///
    /// # Errors
    /// When the graph must refuse the request; then nothing changes.
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
            period,
            sequenced: request.from.is_some() || request.to.is_some(),
            outcomes: BTreeMap::new(),
        };
        for change in &request.changes {
            work.apply(change)?;
        }
        work.check_labels()?;
        if to > now {
            work.check_unique(Period {
                from: start.max(now),
                to,
            })?;
        }
        let mut events = Vec::new();
        for (id, fate) in work.outcomes {
            let mut own = match fate {
                Fate::Deleted => {
                    events.push(self.plan_delete(id, request, period));
                    continue;
                }
                Fate::Put(element) => {
                    let ttl = self.ttl(&element);
                    if self.is_over(&element, ttl, now) {
                        events.push(self.plan_delete(id, request, period));
                        continue;
                    }
                    let planned = self.plan_put(id, element, (request.from, to), ttl, now)?;
                    Vec::from_iter(planned)
                }
                Fate::Parts(parts) => self.plan_parts(&id, parts, (request.from, start), now)?,
            };
            if request.skip_unchanged {
                own.retain(|planned| !self.says_nothing_new(planned, now));
            }
            // The event that decides now comes last.
            let decides =
                |planned: &Planned| planned.from.unwrap_or(now) <= now && now < planned.to;
            let (last, first): (Vec<_>, Vec<_>) = own.into_iter().partition(decides);
            events.extend(first.into_iter().chain(last));
        }
        Ok(Plan { events })
    }

    /// Whether the element already has the planned state at every instant of its period.
    fn says_nothing_new(&self, planned: &Planned, now: Instant) -> bool {
        let period = Period {
            from: planned.from.unwrap_or(now),
            to: planned.to,
        };
        let changes = self.changes_within(&planned.id, period);
        changes.into_iter().all(|valid| {
            let at = Point {
                valid,
                version: CommitVersion::MAX,
            };
            self.state(&planned.id, at) == planned.state.as_ref()
        })
    }

    /// The start of the period, and the instants in it at which a state of the element may begin or
    /// end.
    fn changes_within(&self, id: &ElementId, period: Period) -> BTreeSet<Instant> {
        let own = self.events.iter().filter(|event| event.id == *id);
        let boundaries = own.flat_map(|event| [event.period.from, event.period.to]);
        std::iter::once(period.from)
            .chain(boundaries.filter(|instant| period.covers(*instant)))
            .collect()
    }

    /// The events of a sequenced update. A time to live shortens only states that the update
    /// creates, and no event begins before the update's period.
    fn plan_parts(
        &self,
        id: &ElementId,
        parts: Vec<Part>,
        (request_from, start): (Option<Instant>, Instant),
        now: Instant,
    ) -> Result<Vec<Planned>, Refusal> {
        let mut events = Vec::new();
        for part in parts {
            let Some(element) = part.state else { continue };
            let Period { from, to } = part.period;
            let from = (request_from.is_some() || from > start).then_some(from);
            let ttl = self.ttl(&element).filter(|_| part.is_new);
            let planned = self.plan_put(id.clone(), element, (from, to), ttl, now)?;
            events.extend(planned.filter(|planned| planned.from == from));
        }
        Ok(events)
    }

    /// The time to live of an element's label, and the instant from which it counts, if a property
    /// of the element has one.
    fn ttl(&self, element: &Element) -> Option<(i64, Option<Instant>)> {
        let rules = self.schema.rules(element);
        let property = rules
            .ttl_start_time
            .and_then(|key| element.properties().get(key));
        let start = match property {
            Some(Value::Date(millis)) => Some(Instant::from_millis(*millis)),
            _ => None,
        };
        (rules.ttl > 0).then_some((rules.ttl, start))
    }

    /// Whether the time to live of an element without history is over, so that a put deletes it.
    fn is_over(
        &self,
        element: &Element,
        ttl: Option<(i64, Option<Instant>)>,
        now: Instant,
    ) -> bool {
        let end = ttl.map(|(ttl, start)| start.unwrap_or(now).plus_micros(ttl * 1_000));
        self.schema.rules(element).retention == Retention::None && end.is_some_and(|end| end <= now)
    }

    /// A put, shortened by a time to live; `None` if it would end before it starts.
    fn plan_put(
        &self,
        id: ElementId,
        element: Element,
        (mut from, mut to): (Option<Instant>, Instant),
        ttl: Option<(i64, Option<Instant>)>,
        now: Instant,
    ) -> Result<Option<Planned>, Refusal> {
        let rules = self.schema.rules(&element);
        if rules.retention == Retention::None && (from.is_some() || to < Instant::FOREVER) {
            return Err(Refusal::NoHistory);
        }
        if let Some((ttl, start)) = ttl {
            let start = start.or(from).unwrap_or(now);
            to = to.min(start.plus_micros(ttl * 1_000));
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

    /// Whether the element exists at any instant of `period`, as of `version`.
    #[must_use]
    pub fn exists_within(&self, id: &ElementId, period: Period, version: CommitVersion) -> bool {
        let changes = self.changes_within(id, period).into_iter();
        changes
            .filter(|instant| period.covers(*instant))
            .any(|valid| self.state(id, Point { valid, version }).is_some())
    }

    /// Destroys an element with all its events, and a vertex also with all edges that it ever had.
    pub fn purge(&mut self, id: &ElementId) {
        let doomed = |of: &ElementId| match (of, id) {
            (ElementId::Edge(edge), ElementId::Vertex(vertex)) => {
                edge.source == *vertex || edge.target == *vertex
            }
            _ => of == id,
        };
        self.events.retain(|event| !doomed(&event.id));
    }

    /// Checks that the element has only properties of its label.
    fn check_keys(
        &self,
        element: &Element,
        mut keys: impl Iterator<Item = PropertyKeyId>,
    ) -> Result<(), Refusal> {
        let known = self.schema.properties(element);
        match keys.all(|key| known.contains(&key)) {
            true => Ok(()),
            false => Err(Refusal::Property),
        }
    }

    /// Adds the events of `plan`; `last` is the last version of the commit.
    ///
    /// # Panics
    /// When the versions are not greater than all earlier ones.
    pub fn commit(&mut self, plan: &Plan, last: CommitVersion) {
        let numbers = numbers(&plan.events);
        let further = numbers.iter().copied().max().unwrap_or(0);
        let first = CommitVersion(last.0 - further);
        assert!(
            first > self.last_version(),
            "commit versions grow: {first} after {}",
            self.last_version()
        );
        for (planned, number) in plan.events.iter().zip(numbers) {
            let version = CommitVersion(first.0 + number);
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
        self.commits.push((first, last));
    }
}

/// The index of each event among those of its element.
fn numbers(events: &[Planned]) -> Vec<u64> {
    let before = |at: usize| {
        let of_element = |event: &&Planned| event.id == events[at].id;
        events[..at].iter().filter(of_element).count() as u64
    };
    (0..events.len()).map(before).collect()
}

/// The outcome of a request for an element in the request's period.
enum Fate {
    /// It has this state.
    Put(Element),
    /// It has these states; a part without a state adds no event.
    Parts(Vec<Part>),
    /// It does not exist.
    Deleted,
}

impl Fate {
    fn parts(&self, period: Period) -> Vec<Part> {
        match self {
            Self::Put(element) => vec![Part {
                period,
                state: Some(element.clone()),
                is_new: true,
            }],
            Self::Parts(parts) => parts.clone(),
            Self::Deleted => vec![Part {
                period,
                state: None,
                is_new: false,
            }],
        }
    }
}

/// A part of a request's period, with one state.
#[derive(Clone)]
struct Part {
    period: Period,
    state: Option<Element>,
    /// Whether the request creates the state.
    is_new: bool,
}

struct Work<'a> {
    model: &'a Model,
    at: Point,
    period: Period,
    /// Whether the request names a bound of its period; then updates apply to all states in it.
    sequenced: bool,
    outcomes: BTreeMap<ElementId, Fate>,
}

impl Work<'_> {
    /// The state at the start of the period.
    fn state(&self, id: &ElementId) -> Option<Element> {
        self.parts(id).swap_remove(0).state
    }

    /// The states in the period, as the earlier changes of the request have left them. The first
    /// part begins with the period.
    fn parts(&self, id: &ElementId) -> Vec<Part> {
        if let Some(fate) = self.outcomes.get(id) {
            return fate.parts(self.period);
        }
        let starts: Vec<Instant> = self
            .model
            .changes_within(id, self.period)
            .into_iter()
            .collect();
        let ends = starts.iter().skip(1).copied().chain([self.period.to]);
        let part = |(from, to): (Instant, Instant)| {
            let at = Point {
                valid: from,
                ..self.at
            };
            Part {
                period: Period { from, to },
                state: self.model.state(id, at).cloned(),
                is_new: false,
            }
        };
        starts.iter().copied().zip(ends).map(part).collect()
    }

    /// Applies `update` to each state that the element has in the period. Without a period, it
    /// applies to the current state, and the result holds for ever. Parts without a state stay so,
    /// unless `update` creates one. `extends`: whether the ends of an edge are checked where the
    /// update lets it exist longer.
    fn update(
        &mut self,
        (id, extends): (&ElementId, bool),
        update: &dyn Fn(Option<Element>) -> Result<Option<Element>, Refusal>,
    ) -> Result<(), Refusal> {
        if !self.sequenced {
            let state = update(self.state(id))?.ok_or(Refusal::Missing)?;
            if extends {
                self.check_extension(&state)?;
            }
            self.outcomes.insert(id.clone(), Fate::Put(state));
            return Ok(());
        }
        let mut updated: Vec<Part> = Vec::new();
        for part in self.parts(id) {
            let state = update(part.state.clone())?;
            let is_new = match (&part.state, &state) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(old), Some(new)) => part.is_new || !same_label(old, new),
            };
            let period = part.period;
            // Adjacent parts with the same state are joined.
            match updated.last_mut() {
                Some(last) if last.state == state && last.is_new == is_new => {
                    last.period.to = period.to;
                }
                _ => updated.push(Part {
                    period,
                    state,
                    is_new,
                }),
            }
        }
        if updated.iter().all(|part| part.state.is_none()) {
            return Err(Refusal::Missing);
        }
        self.outcomes.insert(id.clone(), Fate::Parts(updated));
        Ok(())
    }

    fn put(&mut self, element: Element) {
        self.outcomes.insert(element.id(), Fate::Put(element));
    }

    fn apply(&mut self, change: &Change) -> Result<(), Refusal> {
        match change {
            Change::Put {
                element,
                check_ends,
            } => {
                if *check_ends {
                    self.check_ends(element)?;
                }
                self.put(element.clone());
            }
            Change::Append { id, properties } => {
                let model = self.model;
                self.update((id, true), &|state| {
                    let Some(mut element) = state else {
                        return Ok(None);
                    };
                    model.check_keys(&element, properties.iter().map(|(key, _)| key))?;
                    append(properties_of(&mut element), properties);
                    Ok(Some(element))
                })?;
            }
            Change::Eliminate { id, keys } => {
                let model = self.model;
                self.update((id, true), &|state| {
                    let Some(mut element) = state else {
                        return Ok(None);
                    };
                    model.check_keys(&element, keys.iter().copied())?;
                    for key in keys {
                        properties_of(&mut element).remove(*key);
                    }
                    Ok(Some(element))
                })?;
            }
            Change::Combine {
                element,
                strategies,
            } => {
                if self.model.schema.is_automatic(element) {
                    return Err(Refusal::AutomaticId);
                }
                self.update((&element.id(), false), &|stored| {
                    let mut combined = element.clone();
                    // Under another label it is a new element, without properties of the old one.
                    if let Some(stored) = stored.filter(|stored| same_label(stored, element)) {
                        let properties = properties_of(&mut combined);
                        combine_all(properties, stored.properties(), strategies);
                    }
                    Ok(Some(combined))
                })?;
            }
            Change::Delete { id, refuse_missing } => {
                if *refuse_missing && self.state(id).is_none() {
                    return Err(Refusal::Missing);
                }
                self.outcomes.insert(id.clone(), Fate::Deleted);
                if let ElementId::Vertex(vertex) = id {
                    self.delete_edges_of(vertex);
                }
            }
        }
        Ok(())
    }

    /// Deletes the edges of a vertex in the period. (Deleting an edge that does not exist changes
    /// nothing.)
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
            self.outcomes.insert(id, Fate::Deleted);
        }
    }
}

fn properties_of(element: &mut Element) -> &mut Properties {
    match element {
        Element::Vertex(vertex) => &mut vertex.properties,
        Element::Edge(edge) => &mut edge.properties,
    }
}

fn same_label(a: &Element, b: &Element) -> bool {
    match (a, b) {
        (Element::Vertex(a), Element::Vertex(b)) => a.label == b.label,
        (Element::Edge(a), Element::Edge(b)) => a.id.label == b.id.label,
        _ => false,
    }
}
