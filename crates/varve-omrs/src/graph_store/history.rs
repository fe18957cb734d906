//! All states that an instance ever had.

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
use crate::store::{StoredEntity, StoredRelationship, Version};

/// A state and when it was written, from which instant on, until when at most.
struct Put<T> {
    version: CommitVersion,
    from: Instant,
    to: Instant,
    state: Option<T>,
}

/// The periods in which states hold that were written at these versions, oldest first: the newest one that speaks of an
/// instant decides.
fn timeline<T>(mut puts: Vec<Put<T>>) -> Vec<Version<T>> {
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

fn puts_of<T>(
    view: &View,
    id: &ElementId,
    mut decode: impl FnMut(&[u8]) -> Result<T, GraphError>,
    puts: &mut Vec<Put<T>>,
) -> Result<(), OmrsError> {
    let mut failed = None;
    view.visit_events(
        id,
        &mut |event: Event<'_>| match event.content.map(&mut decode).transpose() {
            Ok(state) => {
                puts.push(Put {
                    version: event.version,
                    from: event.period.from,
                    to: event.period.to,
                    state,
                });
                Flow::Continue(())
            }
            Err(error) => {
                failed = Some(error);
                Flow::Break(())
            }
        },
    )?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

pub(super) fn of_entity(
    view: &View,
    state: &State,
    guid: &str,
) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
    let mut puts = Vec::new();
    let id = ElementId::Vertex(vertex_of(guid));
    let mut last = LastClassifications::default();
    let decode = |content: &[u8]| {
        let read = state.entity_after(guid, content, Some(&mut last));
        read.map(|(entity, _)| entity)
    };
    puts_of(view, &id, decode, &mut puts)?;
    Ok(timeline(puts))
}

/// What stands for entities, for each at each of its instants: by the newest event whose period covers it.
pub(super) fn proxies_at(
    view: &View,
    state: &State,
    asked: &[(&str, Vec<Instant>)],
) -> Result<Vec<Vec<Option<Shared<EntityProxy>>>>, OmrsError> {
    let mut all: Vec<ProxiesAt<'_>> = asked
        .iter()
        .map(|(guid, instants)| ProxiesAt::new(guid, instants))
        .collect();
    let ids: Vec<VertexId> = asked.iter().map(|(guid, _)| vertex_of(guid)).collect();
    let mut failed = None;
    view.visit_events_of_vertices(&ids, &mut |number, event: Event<'_>| {
        all[number].take(state, event).unwrap_or_else(|error| {
            failed = Some(error);
            Flow::Break(())
        })
    })?;
    let found = all.into_iter().map(|one| one.found).collect();
    failed.map_or(Ok(found), |error| Err(error.into()))
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
    fn take(&mut self, state: &State, event: Event<'_>) -> Result<Flow, GraphError> {
        let covers = |at: &usize| {
            let instant = self.instants[*at];
            event.period.from <= instant && instant < event.period.to
        };
        let (decided, open): (Vec<usize>, Vec<usize>) = self.open.iter().partition(|at| covers(at));
        self.open = open;
        if !decided.is_empty() {
            let tell = |content: &[u8]| state.told_proxy(self.guid, content);
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
) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
    let (index, first) = relationship_first(guid);
    let mut puts = Vec::new();
    for id in edges_of(view.ever_derived(index, &first)?, guid) {
        let decode = |content: &[u8]| state.relationship(&id, content).map(|(it, _)| it);
        puts_of(view, &ElementId::Edge(id.clone()), decode, &mut puts)?;
    }
    Ok(timeline(puts))
}
