//! Searches: find one page of the instances that satisfy a query, in its order.
//!
//! A query has several plans. One walks in the query's order and keeps matches until the page is
//! full. Others walk instances that satisfy a selective part of the query, collect the matches,
//! sort them and cut the page. No statistics say which plan is cheapest. So all promising plans run
//! in turns that grow, and the first with a full page answers: the cost is within a small factor of
//! the best plan's, whatever the data.
//!
//! Without further measures, each page would cost as much as all pages before it together. So the
//! position after each page is cached ([`Memory`]) until something is written that the query could
//! see.

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
use crate::graph_store::GraphReader;
use crate::json::Millis;
use crate::store::Candidate;
use crate::types::Catalogue;

use memory::{Key, PageEnd};
use plan::Race;

/// Runs queries.
#[derive(Debug, Default)]
pub struct Searcher {
    limits: Limits,
    memory: Memory,
}

impl Searcher {
    /// A searcher with these cost limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            memory: Memory::default(),
        }
    }

    /// The cost limits of each query.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Finds the page of instances that a query selects. The same reader renders them. `at` is the
    /// point of time at which `read` was opened.
    ///
    /// # Errors
    /// `RepositoryErrorException` when a limit of instances, memory or time is exceeded, or the
    /// store fails.
    pub fn find(
        &self,
        read: &GraphReader,
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
            // Nothing follows a page that is not full.
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
