//! All states that an instance ever had.
//!
//! What an event says of its state is looked at first, and the states are made that somebody asks
//! for: a history may have a hundred thousand. As long as all of it is little, the events are kept
//! meanwhile, so that they are read once.
//!
//! A history tells what reads of each time tell: of the events of an element the newest one that
//! speaks of an instant decides.

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

/// The most bytes of events that are kept until it is known which of them are asked for.
const KEPT_BYTES_MAX: usize = 1 << 20;
/// What an event takes until it is known which states are asked for, about: what it speaks of.
const EVENT_BYTES: usize = 2 * size_of::<Period>();
/// What a period takes until then, about: in a list that has room for as many again, in the next
/// one where several elements' come together, as it is shown to be chosen, and as its position.
const PERIOD_BYTES: usize =
    3 * size_of::<Held>() + size_of::<Version<LifeStatus>>() + size_of::<usize>();

/// A period in which a state holds that was not made yet. A state may hold in several: what was
/// said of a part of its time later goes between.
#[derive(Clone, Copy)]
struct Held {
    period: Period,
    /// The position of its element among those of the instance.
    element: usize,
    version: CommitVersion,
    life_status: LifeStatus,
}

impl Held {
    /// The period, of something else.
    fn with<T>(&self, state: T) -> Version<T> {
        let Period { from, to } = self.period;
        Version {
            from: Millis(from.millis()),
            to: (to < Instant::FOREVER).then(|| Millis(to.millis())),
            state,
        }
    }
}

/// The periods of an instance that is, or was, several elements, of whose states the newest counts
/// wherever several hold. That one of them does not exist says nothing about the others.
fn together(mut held: Vec<Held>) -> Vec<Held> {
    held.sort_unstable_by_key(|it| (Reverse(it.version), it.element));
    let mut decided = Decided::default();
    let mut all = Vec::with_capacity(held.len());
    for it in held {
        decided.add(it.period, |period| all.push(Held { period, ..it }));
    }
    all
}

/// Shows the events of an element until one of them fails.
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

/// What the events of an instance say, as far as they were seen.
struct Events<'a> {
    state: &'a TypesInGraph,
    held: Vec<Held>,
    /// `None` = what is stored of the states is too much, and none of it is kept.
    kept: Option<ContentCache>,
}

/// What is stored of states, by their elements and versions.
#[derive(Default)]
struct ContentCache {
    contents: FxHashMap<(usize, CommitVersion), Box<[u8]>>,
    bytes: usize,
}

impl Events<'_> {
    /// Takes the next older event of an element, whose newer ones have decided so much. Returns in
    /// how many periods its state holds.
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

/// Makes a state from an element's content.
type Make<'m, T> = &'m mut dyn FnMut(&ElementId, &[u8]) -> Result<T, GraphError>;

/// Those states of an instance that are chosen, of all that the elements had which it is or was.
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

/// Those of all periods that are chosen.
fn chosen(mut held: Vec<Held>, choice: &mut dyn Choice) -> Result<Vec<Held>, OmrsError> {
    held.sort_unstable_by_key(|it| it.period.from);
    let shown: Vec<Version<LifeStatus>> = held.iter().map(|it| it.with(it.life_status)).collect();
    let chosen = choice.choose(&shown)?;
    Ok(chosen
        .into_iter()
        .filter_map(|at| held.get(at).copied())
        .collect())
}

/// The chosen states, of a history that is too long to be kept while it is looked at.
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

/// What stands for entities, for each at each of its instants: by the newest event whose period
/// covers it.
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

/// What stands for one entity at some instants, as far as its events were seen.
struct ProxiesAt<'a> {
    guid: &'a str,
    instants: &'a [Instant],
    found: Vec<Option<Shared<EntityProxy>>>,
    /// Which instants no event has covered yet, in their order.
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
            let tell = |content: &[u8]| state.rendered_proxy(self.guid, content);
            cost.hold(event.content.map_or(0, <[u8]>::len))?;
            let proxy = event.content.map(tell).transpose()?;
            // Most periods have no end, so nothing follows that would have to move up.
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
