//! All states that an instance ever had.
//!
//! What an event says of its state is looked at first, and the states are made that somebody asks for: a history may have a
//! hundred thousand. As long as all of it is little, the events are kept meanwhile, so that they are read once.

use rustc_hash::FxHashMap;
use varve_graph::GraphError;
use varve_graph::read::{Event, View};
use varve_kv::Flow;
use varve_model::{CommitVersion, EdgeId, ElementId, Instant, VertexId};

use super::decode::LastClassifications;
use super::read::{relationship_first, vertex_of};
use super::state::State;
use crate::error::OmrsError;
use crate::instances::EntityProxy;
use crate::json::{Millis, Shared};
use crate::store::{Choice, Cost, Standing, StoredEntity, StoredRelationship, Version};

/// The most bytes of events that are kept until it is known which of them are asked for.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// What an event says, when it was written, from which instant on, until when at most.
struct Put {
    version: CommitVersion,
    from: Instant,
    to: Instant,
    state: Option<Written>,
}

/// A state that was not made yet.
struct Written {
    /// The position of its element among those of the instance.
    element: usize,
    version: CommitVersion,
    standing: Standing,
    /// If it was kept.
    content: Option<Box<[u8]>>,
}

/// The periods in which states hold that were written at these versions, oldest first: the newest one that speaks of an
/// instant decides.
fn timeline(mut puts: Vec<Put>) -> Vec<Version<Written>> {
    // Of what one commit wrote at two places, what exists counts.
    puts.sort_by(|a, b| {
        let newest_first = b.version.cmp(&a.version);
        newest_first.then(b.state.is_some().cmp(&a.state.is_some()))
    });
    let mut bound = Instant::FOREVER;
    let mut versions = Vec::new();
    for put in puts {
        let to = put.to.min(bound);
        if put.from >= to {
            continue;
        }
        bound = put.from;
        if let Some(state) = put.state {
            versions.push(Version {
                from: Millis(put.from.millis()),
                to: (to < Instant::FOREVER).then(|| Millis(to.millis())),
                state,
            });
        }
    }
    versions.reverse();
    versions
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
    state: &'a State,
    puts: Vec<Put>,
    /// The bytes of those that are kept; `None` = they are too many, and none are.
    kept: Option<usize>,
}

impl Events<'_> {
    fn take(
        &mut self,
        (element, id): (usize, &ElementId),
        event: &Event<'_>,
    ) -> Result<(), GraphError> {
        let length = event.content.map_or(0, <[u8]>::len);
        let is_too_much = |kept: usize| kept + length > KEPT_BYTES_MAX;
        if self.kept.is_some_and(is_too_much) {
            self.kept = None;
            let states = self.puts.iter_mut().filter_map(|put| put.state.as_mut());
            states.for_each(|state| state.content = None);
        }
        self.kept = self.kept.map(|kept| kept + length);
        let written = |content: &[u8]| {
            Ok::<_, GraphError>(Written {
                element,
                version: event.version,
                standing: self.state.standing_of(id, content)?,
                content: self.kept.map(|_| content.into()),
            })
        };
        let state = event.content.map(written).transpose()?;
        self.puts.push(Put {
            version: event.version,
            from: event.period.from,
            to: event.period.to,
            state,
        });
        Ok(())
    }
}

/// Makes a state from an element's content.
type Make<'m, T> = &'m mut dyn FnMut(&ElementId, &[u8]) -> Result<T, GraphError>;

/// Those states of an instance that are chosen, of all that the elements had which it is or was.
fn states<T>(
    (view, state): (&View, &State),
    ids: &[ElementId],
    choice: &mut dyn Choice,
    make: Make<'_, T>,
) -> Result<Vec<Version<T>>, OmrsError> {
    let mut events = Events {
        state,
        puts: Vec::new(),
        kept: Some(0),
    };
    for element in ids.iter().enumerate() {
        visit(view, element.1, &mut |event| {
            choice.look()?;
            events.take(element, &event)?;
            Ok(Flow::Continue(()))
        })?;
    }
    let is_kept = events.kept.is_some();
    let all = timeline(events.puts);
    let shown: Vec<Version<Standing>> = all
        .iter()
        .map(|version| version.with(version.state.standing))
        .collect();
    let chosen = choice.choose(&shown)?;
    let mut all: Vec<_> = all.into_iter().map(Some).collect();
    let take = |at: usize| all.get_mut(at).and_then(Option::take);
    let chosen: Vec<Version<Written>> = chosen.into_iter().filter_map(take).collect();
    drop(all);
    if !is_kept {
        return read_again(view, ids, &chosen, choice, make);
    }
    let mut made = Vec::with_capacity(chosen.len());
    for version in chosen {
        let content = version.state.content.as_deref().unwrap_or_default();
        choice.hold(content.len())?;
        made.push(version.with(make(&ids[version.state.element], content)?));
    }
    Ok(made)
}

/// The chosen states, of a history that is too long to be kept while it is looked at.
fn read_again<T>(
    view: &View,
    ids: &[ElementId],
    chosen: &[Version<Written>],
    choice: &mut dyn Choice,
    make: Make<'_, T>,
) -> Result<Vec<Version<T>>, OmrsError> {
    let places = chosen.iter().enumerate();
    let place = |(at, version): (usize, &Version<Written>)| {
        ((version.state.element, version.state.version), at)
    };
    let places: FxHashMap<(usize, CommitVersion), usize> = places.map(place).collect();
    let mut made: Vec<Option<Version<T>>> = chosen.iter().map(|_| None).collect();
    for (element, id) in ids.iter().enumerate() {
        let wanted = chosen.iter().filter(|it| it.state.element == element);
        let mut left = wanted.count();
        if left == 0 {
            continue;
        }
        visit(view, id, &mut |event| {
            choice.look()?;
            if let (Some(content), Some(at)) =
                (event.content, places.get(&(element, event.version)))
            {
                choice.hold(content.len())?;
                made[*at] = Some(chosen[*at].with(make(id, content)?));
                left -= 1;
            }
            Ok(match left {
                0 => Flow::Break(()),
                _ => Flow::Continue(()),
            })
        })?;
    }
    Ok(made.into_iter().flatten().collect())
}

pub(super) fn of_entity(
    view: &View,
    state: &State,
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

/// What stands for entities, for each at each of its instants: by the newest event whose period covers it.
pub(super) fn proxies_at(
    view: &View,
    state: &State,
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
    /// Which instants no event has covered yet.
    open: Vec<usize>,
}

impl<'a> ProxiesAt<'a> {
    fn new(guid: &'a str, instants: &'a [Instant]) -> Self {
        Self {
            guid,
            instants,
            found: vec![None; instants.len()],
            open: (0..instants.len()).collect(),
        }
    }

    /// Takes the next older event; breaks once none is needed any more.
    fn take(
        &mut self,
        state: &State,
        event: Event<'_>,
        cost: &mut dyn Cost,
    ) -> Result<Flow, OmrsError> {
        cost.look()?;
        let covers = |at: &usize| {
            let instant = self.instants[*at];
            event.period.from <= instant && instant < event.period.to
        };
        let (decided, open): (Vec<usize>, Vec<usize>) = self.open.iter().partition(|at| covers(at));
        self.open = open;
        if !decided.is_empty() {
            let tell = |content: &[u8]| state.told_proxy(self.guid, content);
            cost.hold(event.content.map_or(0, <[u8]>::len))?;
            let proxy = event.content.map(tell).transpose()?;
            for at in decided {
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
    state: &State,
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
