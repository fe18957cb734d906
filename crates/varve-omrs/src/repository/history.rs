//! The choice of a page of an instance's history, and the cost of rendering it.

use super::Repository;
use super::target::InstanceKind;
use crate::error::{Message, OmrsError};
use crate::requests::{HistoryRangeRequest, HistorySequencingOrder, Page};
use crate::search::Meter;
use crate::store::{Choice, Cost, LifeStatus, Version};

/// The memory of a state beside its content, in bytes.
const STATE_BYTES: usize = 1024;
/// The memory of a state for each stored byte, in bytes, about.
const BYTES_PER_STORED: usize = 2;

/// A page of a history.
pub(super) struct Asked<'a> {
    guid: &'a str,
    request: &'a HistoryRangeRequest,
    page: Page,
    kind: InstanceKind,
    meter: Meter,
    /// The bytes that are held until the states are chosen.
    kept: usize,
}

impl Repository {
    /// The page of an entity's history that a request selects.
    ///
    /// # Errors
    /// When the request's range or page is not valid.
    pub(super) fn asked_of_entity<'a>(
        &self,
        guid: &'a str,
        request: &'a HistoryRangeRequest,
    ) -> Result<Asked<'a>, OmrsError> {
        Ok(Asked {
            guid,
            request,
            page: request.checked_page()?,
            kind: InstanceKind::Entity,
            meter: Meter::new(self.limits()),
            kept: 0,
        })
    }

    /// The same for a relationship.
    ///
    /// # Errors
    /// As [`Repository::asked_of_entity`].
    pub(super) fn asked_of_relationship<'a>(
        &self,
        guid: &'a str,
        request: &'a HistoryRangeRequest,
    ) -> Result<Asked<'a>, OmrsError> {
        Ok(Asked {
            kind: InstanceKind::Relationship,
            ..self.asked_of_entity(guid, request)?
        })
    }
}

impl Asked<'_> {
    fn is_in_range(&self, state: &Version<LifeStatus>) -> bool {
        let (begin, end) = (self.request.from_time, self.request.to_time);
        let begins_in_time = end.is_none_or(|end| state.from < end);
        let lasts = |begin| state.from >= begin || state.to.is_none_or(|to| to > begin);
        begins_in_time && begin.is_none_or(lasts)
    }
}

impl Cost for Asked<'_> {
    fn look(&mut self) -> Result<(), OmrsError> {
        self.meter.examine()
    }

    fn hold(&mut self, bytes: usize) -> Result<(), OmrsError> {
        self.meter.hold(STATE_BYTES + BYTES_PER_STORED * bytes)
    }
}

impl Choice for Asked<'_> {
    fn keep(&mut self, bytes: usize) -> Result<(), OmrsError> {
        self.kept += bytes;
        self.meter.hold(bytes)
    }

    /// Leaves out states in which only a proxy of the entity was known.
    fn choose(&mut self, states: &[Version<LifeStatus>]) -> Result<Vec<usize>, OmrsError> {
        self.meter.release(std::mem::take(&mut self.kept));
        if states.is_empty() {
            return Err(self.kind.unknown(self.guid));
        }
        if states.iter().all(|version| version.state.is_proxy) {
            return Err(OmrsError::new(Message::ProxyOnly, &[self.guid]));
        }
        let states = states.iter().enumerate();
        let rendered = states.filter(|(_, it)| !it.state.is_proxy && self.is_in_range(it));
        let mut rendered: Vec<usize> = rendered.map(|(at, _)| at).collect();
        if self.request.order() == HistorySequencingOrder::Backwards {
            rendered.reverse();
        }
        let size = self.page.size.unwrap_or(usize::MAX);
        Ok(rendered
            .into_iter()
            .skip(self.page.offset)
            .take(size)
            .collect())
    }
}
