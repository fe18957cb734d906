//! Reading one instance: now, at a time, through its history.

use varve_omrs::Exception;
use varve_omrs::instances::EntitySummary;
use varve_omrs::json::Millis;
use varve_omrs::requests::{HistoryRangeRequest, HistorySequencingOrder, Page};

use super::header::unknown;
use super::{Event, InstanceState, Naive, class, given};
use crate::call::{Answer, Answered, At, InstanceKind};

impl Naive {
    pub(super) fn not_in_future(&self, at: At) -> Result<(), Exception> {
        if at.is_some_and(|at| at > self.now) {
            return Err(Exception::InvalidParameter);
        }
        Ok(())
    }

    /// Deleted ones are known, proxies are not.
    pub(super) fn is_known(&self, kind: InstanceKind, guid: &str) -> Answered {
        given(guid)?;
        let state = self.state(kind, guid, None);
        Ok(match (kind, state) {
            (InstanceKind::Entity, Some(InstanceState::Entity(entity))) => {
                Answer::Entity(Some(entity.clone()))
            }
            (InstanceKind::Entity, _) => Answer::Entity(None),
            (InstanceKind::Relationship, Some(InstanceState::Relationship(of))) => {
                Answer::Relationship(Some(self.shown(of, None)))
            }
            (InstanceKind::Relationship, _) => Answer::Relationship(None),
        })
    }

    pub(super) fn summary(&self, guid: &str) -> Answered {
        given(guid)?;
        let summary = match self.state(InstanceKind::Entity, guid, None) {
            Some(InstanceState::Entity(entity)) => EntitySummary {
                header: entity.header.clone(),
                classifications: entity.classifications.clone(),
            },
            Some(InstanceState::Proxy(proxy)) => EntitySummary {
                header: proxy.header.clone(),
                classifications: proxy.classifications.clone(),
            },
            _ => return Err(Exception::EntityNotKnown),
        };
        if summary.header.audit.is_deleted() {
            return Err(Exception::EntityNotKnown);
        }
        Ok(Answer::Summary(summary))
    }

    pub(super) fn get_entity(&self, guid: &str, at: At) -> Answered {
        given(guid)?;
        self.not_in_future(at)?;
        match self.state(InstanceKind::Entity, guid, at) {
            Some(state) if state.header().audit.is_deleted() => Err(Exception::EntityNotKnown),
            Some(InstanceState::Entity(entity)) => Ok(Answer::Entity(Some(entity.clone()))),
            Some(InstanceState::Proxy(_)) => Err(Exception::EntityProxyOnly),
            _ => Err(Exception::EntityNotKnown),
        }
    }

    pub(super) fn get_relationship(&self, guid: &str, at: At) -> Answered {
        given(guid)?;
        self.not_in_future(at)?;
        match self.state(InstanceKind::Relationship, guid, at) {
            Some(InstanceState::Relationship(of)) if !of.header.audit.is_deleted() => {
                Ok(Answer::Relationship(Some(self.shown(of, at))))
            }
            _ => Err(Exception::RelationshipNotKnown),
        }
    }

    /// The states of an instance, oldest first, each with when it ends. Of two that were written in
    /// one millisecond both were true.
    pub(super) fn states(
        &self,
        kind: InstanceKind,
        guid: &str,
    ) -> Vec<(Millis, Option<Millis>, &InstanceState)> {
        let of: Vec<&Event> = self
            .log
            .iter()
            .filter(|event| event.state.is(kind, guid))
            .collect();
        let mut states = Vec::new();
        for (number, event) in of.iter().enumerate() {
            let later = &of[number + 1..];
            let until = later.iter().map(|later| later.at).min();
            states.push((event.at, until, &event.state));
        }
        states
    }

    pub(super) fn history(
        &self,
        kind: InstanceKind,
        guid: &str,
        range: &HistoryRangeRequest,
    ) -> Answered {
        given(guid)?;
        let page = range.checked_page().map_err(class)?;
        match self.state(kind, guid, None).ok_or(unknown(kind))? {
            InstanceState::Proxy(_) => return Err(Exception::EntityProxyOnly),
            InstanceState::Entity(_) | InstanceState::Relationship(_) => {}
        }
        let mut found = self.states(kind, guid);
        found.retain(|(from, until, state)| {
            let begins = range.to_time.is_none_or(|to| *from < to);
            let ends = match (range.from_time, until) {
                (Some(asked), Some(until)) => *until > asked || (until == from && *from >= asked),
                _ => true,
            };
            begins && ends && !matches!(state, InstanceState::Proxy(_))
        });
        if range.order() == HistorySequencingOrder::Backwards {
            found.reverse();
        }
        let found = cut(found, page);
        Ok(match kind {
            InstanceKind::Entity => Answer::Entities(
                found
                    .into_iter()
                    .filter_map(|(_, _, state)| match state {
                        InstanceState::Entity(entity) => Some(entity.clone()),
                        _ => None,
                    })
                    .collect(),
            ),
            InstanceKind::Relationship => Answer::Relationships(
                found
                    .into_iter()
                    .filter_map(|(from, _, state)| match state {
                        InstanceState::Relationship(of) => Some(self.shown(of, Some(from))),
                        _ => None,
                    })
                    .collect(),
            ),
        })
    }
}

pub(super) fn cut<T>(list: Vec<T>, page: Page) -> Vec<T> {
    let list = list.into_iter().skip(page.offset);
    match page.size {
        Some(size) => list.take(size).collect(),
        None => list.collect(),
    }
}
