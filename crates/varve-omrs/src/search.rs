//! Finding the instances that a query asks for, in its order, one page of them.
//!
//! A query can be answered in several ways: by the walk in its order, keeping what fits until the
//! page is full, or by a walk of those that have something in common that the query asks for, which
//! are collected, put in order and cut. Which is cheaper depends on how many there are of what, and
//! no statistics say so. So all promising ways are begun, in turns that grow, and the first to have
//! the page answers: the cost is within a small factor of the best way's, whatever the data.
//!
//! A client that pages forward would make each page cost as much as all pages before it. So the
//! place after each page is remembered ([`Memory`]) as long as nothing was written that the query
//! could see.

mod access;
mod by_texts;
mod collected;
mod in_order;
mod limits;
mod memory;
mod meter;
mod order;
mod plan;
mod query;
mod turn;
mod weight;

pub use limits::{HeldBudget, Limits};
pub use memory::Memory;
pub use order::{Order, SortKey};
pub use query::{Query, TypeLimit};

pub(crate) use meter::Meter;
pub(crate) use weight::{
    guid_bytes, relationship_bytes, rendered_entity_bytes, rendered_proxy_bytes,
    rendered_relationship_bytes,
};

use std::sync::Arc;

use crate::error::OmrsError;
use crate::json::Millis;
use crate::store::{Candidate, Read};
use crate::types::Catalogue;

use memory::{Key, PageEnd};
use plan::Race;

/// Answers queries.
#[derive(Debug, Default)]
pub struct Searcher {
    limits: Limits,
    memory: Memory,
}

impl Searcher {
    /// One that costs no more than `limits` say.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: Memory::default(),
        }
    }

    /// What each query may cost.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The page of instances that a query asks for, for the same reader to tell them. `at` is the
    /// point of time that `read` was opened at.
    ///
    /// # Errors
    /// `RepositoryErrorException` when the limits do not allow to look at or hold as many instances
    /// as it would take, or to work as long, or the store fails.
    pub fn find(
        &self,
        read: &dyn Read,
        types: &Arc<Catalogue>,
        query: &Query,
        at: Option<Millis>,
    ) -> Result<Vec<Candidate>, OmrsError> {
        if query.page.size == Some(0) {
            return Ok(Vec::new());
        }
        let key = Key::of(query, at, read.state(), types);
        let earlier = key
            .as_ref()
            .filter(|_| query.page.offset > 0)
            .and_then(|key| self.memory.place(key, query.page.offset));
        let mut race = Race::new(read, types, query, earlier.as_ref());
        let (page, place) = race.run(&self.limits)?;
        if let (Some(key), Some(size)) = (key, query.page.size) {
            // Nothing comes after a page that is not full.
            let place = match page.len() < size {
                true => Some(PageEnd::List(Arc::default())),
                false => place,
            };
            if let Some(place) = place {
                let offset = query.page.offset.saturating_add(size);
                self.memory.remember(key, offset, place);
            }
        }
        Ok(page)
    }
}
