//! All states that an instance ever had.
//!
//! Works in two passes, as a history may have a hundred thousand states. The first reads the period
//! and the life status of each event; the caller then chooses the states that it wants; the second
//! pass decodes those. If the contents are small, the first pass caches them, and each event is
//! read once.
//!
//! A history returns what a read of each point of time returns: of an element's events that cover
//! an instant, the newest one decides.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;
use varve_graph::GraphError;
use varve_graph::read::{Event, View};
use varve_kv::Flow;
use varve_model::{CommitVersion, EdgeId, ElementId, Instant, Period, VertexId};

use super::decided::Decided;
use super::decode::LastClassifications;
use super::read::{relationship_first, vertex_of};
use super::state::TypesInGraph;
use crate::error::OmrsError;
use crate::instances::EntityProxy;
use crate::json::{Millis, Shared};
use crate::store::{Choice, Cost, LifeStatus, StoredEntity, StoredRelationship, Version};

/// The most bytes of contents that are cached until the caller has chosen states.
const KEPT_BYTES_MAX: usize = 1 << 20;
/// About the memory for one event until the caller has chosen states: its periods in [`Decided`].
const EVENT_BYTES: usize = 2 * size_of::<Period>();
/// About the memory for one period until the caller has chosen states. The period is in a list with
/// spare capacity (counted twice), in the list that joins several elements, and in the list to
/// choose from, which also has its position.
const PERIOD_BYTES: usize =
    3 * size_of::<Held>() + size_of::<Version<LifeStatus>>() + size_of::<usize>();

/// A period in which a state holds that is not decoded yet. A state may hold in several periods,
/// with states of newer events between them.
#[derive(Clone, Copy)]
struct Held {
    period: Period,
    /// The position of its element in the list of the instance's elements.
    element: usize,
    version: CommitVersion,
    life_status: LifeStatus,
}

impl Held {
    /// A version with this period and the given state.
    fn with<T>(&self, state: T) -> Version<T> {
        let Period { from, to } = self.period;
        Version {
            from: Millis(from.millis()),
            to: (to < Instant::FOREVER).then(|| Millis(to.millis())),
            state,
        }
    }
}

/// The periods of an instance that is, or was, stored as several elements. Where the states of
/// several elements overlap, the newest one decides. The absence of one element does not end the
/// states of the others.
fn together(mut held: Vec<Held>) -> Vec<Held> {
    held.sort_unstable_by_key(|it| (Reverse(it.version), it.element));
    let mut decided = Decided::default();
    let mut all = Vec::with_capacity(held.len());
    for it in held {
        decided.add(it.period, |period| all.push(Held { period, ..it }));
    }
    all
}

/// Calls `show` with the events of an element until it fails.
fn visit(
    view: &View,
    id: &ElementId,
    show: &mut dyn FnMut(Event<'_>) -> Result<Flow, OmrsError>,
) -> Result<(), OmrsError> {
    let mut failed = None;
    view.visit_events(id, &mut |event: Event<'_>| {
        show(event).unwrap_or_else(|error| {
            failed = Some(error);
            Flow::Break(())
        })
    })?;
    failed.map_or(Ok(()), Err)
}

/// What was read of an instance's events so far.
struct Events<'a> {
    state: &'a TypesInGraph,
    held: Vec<Held>,
    /// `None`: the contents exceeded [`KEPT_BYTES_MAX`], and none is cached.
    kept: Option<ContentCache>,
}

/// The encoded contents of states, by element and version.
#[derive(Default)]
struct ContentCache {
    contents: FxHashMap<(usize, CommitVersion), Box<[u8]>>,
    bytes: usize,
}

impl Events<'_> {
    /// Takes the next older event of an element. `decided` is the time that newer events have
    /// decided. Returns the number of periods in which the event's state holds.
    fn take(
        &mut self,
        (element, id): (usize, &ElementId),
        decided: &mut Decided,
        event: &Event<'_>,
    ) -> Result<usize, GraphError> {
        let Some(content) = event.content else {
            decided.add(event.period, |_| {});
            return Ok(0);
        };
        let life_status = self.state.life_status_of(id, content)?;
        let before = self.held.len();
        decided.add(event.period, |period| {
            self.held.push(Held {
                period,
                element,
                version: event.version,
                life_status,
            });
        });
        let periods = self.held.len() - before;
        if periods > 0 {
            self.keep((element, event.version), content);
        }
        Ok(periods)
    }

    fn keep(&mut self, state: (usize, CommitVersion), content: &[u8]) {
        let Some(kept) = &mut self.kept else { return };
        kept.bytes += content.len();
        if kept.bytes > KEPT_BYTES_MAX {
            self.kept = None;
            return;
        }
        kept.contents.insert(state, content.into());
    }
}

/// Decodes a state from an element's content.
type Make<'m, T> = &'m mut dyn FnMut(&ElementId, &[u8]) -> Result<T, GraphError>;

/// The chosen states of an instance, from the histories of all elements that store or stored it.
fn states<T>(
    (view, state): (&View, &TypesInGraph),
    ids: &[ElementId],
    choice: &mut dyn Choice,
    make: Make<'_, T>,
) -> Result<Vec<Version<T>>, OmrsError> {
    let mut events = Events {
        state,
        held: Vec::new(),
        kept: Some(ContentCache::default()),
    };
    for element in ids.iter().enumerate() {
        let mut decided = Decided::default();
        visit(view, element.1, &mut |event| {
            choice.look()?;
            let periods = events.take(element, &mut decided, &event)?;
            choice.keep(EVENT_BYTES + periods * PERIOD_BYTES)?;
            Ok(Flow::Continue(()))
        })?;
    }
    let held = match ids {
        [_] => events.held,
        _ => together(events.held),
    };
    let chosen = chosen(held, choice)?;
    let Some(kept) = events.kept else {
        return read_again(view, ids, &chosen, choice, make);
    };
    let mut made = Vec::with_capacity(chosen.len());
    for it in &chosen {
        let content = kept.contents.get(&(it.element, it.version));
        let content = content.map(AsRef::as_ref).unwrap_or_default();
        choice.hold(content.len())?;
        made.push(it.with(make(&ids[it.element], content)?));
    }
    Ok(made)
}

/// The periods whose states the caller chooses.
fn chosen(mut held: Vec<Held>, choice: &mut dyn Choice) -> Result<Vec<Held>, OmrsError> {
    held.sort_unstable_by_key(|it| it.period.from);
    let shown: Vec<Version<LifeStatus>> = held.iter().map(|it| it.with(it.life_status)).collect();
    let chosen = choice.choose(&shown)?;
    Ok(chosen
        .into_iter()
        .filter_map(|at| held.get(at).copied())
        .collect())
}

/// The chosen states of a history that is too large to cache: reads its events again.
fn read_again<T>(
    view: &View,
    ids: &[ElementId],
    chosen: &[Held],
    choice: &mut dyn Choice,
    make: Make<'_, T>,
) -> Result<Vec<Version<T>>, OmrsError> {
    let mut made: Vec<Option<Version<T>>> = chosen.iter().map(|_| None).collect();
    for (element, id) in ids.iter().enumerate() {
        let places = chosen.iter().enumerate();
        let own = places.filter(|(_, it)| it.element == element);
        let mut wanted: Vec<(CommitVersion, usize)> =
            own.map(|(at, it)| (it.version, at)).collect();
        if wanted.is_empty() {
            continue;
        }
        // Events come newest first.
        wanted.sort_unstable();
        visit(view, id, &mut |event| {
            choice.look()?;
            let is_its = |(version, _): &mut (CommitVersion, usize)| *version == event.version;
            if let Some(content) = event.content {
                while let Some((_, at)) = wanted.pop_if(is_its) {
                    choice.hold(content.len())?;
                    made[at] = Some(chosen[at].with(make(id, content)?));
                }
            }
            Ok(match wanted.is_empty() {
                true => Flow::Break(()),
                false => Flow::Continue(()),
            })
        })?;
    }
    Ok(made.into_iter().flatten().collect())
}

pub(super) fn of_entity(
    view: &View,
    state: &TypesInGraph,
    guid: &str,
    choice: &mut dyn Choice,
) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
    let id = ElementId::Vertex(vertex_of(guid));
    let mut last = LastClassifications::default();
    states((view, state), &[id], choice, &mut |_, content| {
        let read = state.entity_after(guid, content, Some(&mut last));
        read.map(|(entity, _)| entity)
    })
}

/// The proxies of entities, each at each of its instants: from the newest event whose period covers
/// the instant.
pub(super) fn proxies_at(
    view: &View,
    state: &TypesInGraph,
    asked: &[(&str, Vec<Instant>)],
    cost: &mut dyn Cost,
) -> Result<Vec<Vec<Option<Shared<EntityProxy>>>>, OmrsError> {
    let mut all: Vec<ProxiesAt<'_>> = asked
        .iter()
        .map(|(guid, instants)| ProxiesAt::new(guid, instants))
        .collect();
    let ids: Vec<VertexId> = asked.iter().map(|(guid, _)| vertex_of(guid)).collect();
    let mut failed = None;
    view.visit_events_of_vertices(&ids, &mut |number, event: Event<'_>| {
        all[number]
            .take(state, event, cost)
            .unwrap_or_else(|error| {
                failed = Some(error);
                Flow::Break(())
            })
    })?;
    let found = all.into_iter().map(|one| one.found).collect();
    failed.map_or(Ok(found), Err)
}

/// The proxies of one entity at some instants, from the events read so far.
struct ProxiesAt<'a> {
    guid: &'a str,
    instants: &'a [Instant],
    found: Vec<Option<Shared<EntityProxy>>>,
    /// The positions of the instants that no event has covered yet, ordered by instant.
    open: Vec<usize>,
}

impl<'a> ProxiesAt<'a> {
    fn new(guid: &'a str, instants: &'a [Instant]) -> Self {
        let mut open: Vec<usize> = (0..instants.len()).collect();
        open.sort_unstable_by_key(|at| instants[*at]);
        Self {
            guid,
            instants,
            found: vec![None; instants.len()],
            open,
        }
    }

    /// Takes the next older event; breaks once none is needed any more.
    fn take(
        &mut self,
        state: &TypesInGraph,
        event: Event<'_>,
        cost: &mut dyn Cost,
    ) -> Result<Flow, OmrsError> {
        cost.look()?;
        let before = |end: Instant| self.open.partition_point(|at| self.instants[*at] < end);
        let decided = before(event.period.from)..before(event.period.to);
        if !decided.is_empty() {
            let render = |content: &[u8]| state.rendered_proxy(self.guid, content);
            cost.hold(event.content.map_or(0, <[u8]>::len))?;
            let proxy = event.content.map(render).transpose()?;
            // Most periods have no end, so `drain` rarely moves anything.
            for at in self.open.drain(decided) {
                self.found[at].clone_from(&proxy);
            }
        }
        Ok(match self.open.is_empty() {
            true => Flow::Break(()),
            false => Flow::Continue(()),
        })
    }
}

/// The edges that are, or ever were, the relationship with this GUID.
pub(super) fn edges_of(found: Vec<ElementId>, guid: &str) -> impl Iterator<Item = EdgeId> {
    found.into_iter().filter_map(move |id| match id {
        ElementId::Edge(id) if id.sort_values == guid => Some(id),
        _ => None,
    })
}

pub(super) fn of_relationship(
    view: &View,
    state: &TypesInGraph,
    guid: &str,
    choice: &mut dyn Choice,
) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
    let (index, first) = relationship_first(guid);
    let edges = edges_of(view.ever_derived(index, &first)?, guid);
    let ids: Vec<ElementId> = edges.map(ElementId::Edge).collect();
    states((view, state), &ids, choice, &mut |id, content| match id {
        ElementId::Edge(id) => state.relationship(id, content).map(|(it, _)| it),
        ElementId::Vertex(_) => Err(GraphError::invalid("A relationship is no vertex")),
    })
}
