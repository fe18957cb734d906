//! The valid periods of a request's elements: `valid_from` and `valid_to` beside an element's
//! `label` and `properties` take the place of the query parameters of the same name.

use std::collections::HashMap;

use varve_graph::element::RawValue;
use varve_graph::write::{Mutation, WritePeriod};
use varve_model::Instant;

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::wire::time;

/// The parameter of a batch of edges that do not exist after their `valid_to`.
pub(super) const ENDS_EDGE: &str = "valid_to_ends_edge";

/// The valid period that an element gives: `None` = not given, [`RawValue::Null`] = no bound.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Given<'a> {
    pub(super) from: Option<RawValue<'a>>,
    pub(super) to: Option<RawValue<'a>>,
}

impl Given<'_> {
    fn period(&self, default: WritePeriod) -> Result<WritePeriod, ApiError> {
        Ok(WritePeriod {
            from: bound("valid_from", self.from.as_ref(), default.from)?,
            to: bound("valid_to", self.to.as_ref(), default.to)?,
        })
    }
}

fn bound(
    name: &str,
    given: Option<&RawValue<'_>>,
    default: Option<Instant>,
) -> Result<Option<Instant>, ApiError> {
    match given {
        None => Ok(default),
        Some(RawValue::Null) => Ok(None),
        Some(RawValue::Text(text)) => time::instant(name, text).map(Some),
        Some(other) => time::instant(name, &other.to_string()).map(Some),
    }
}

/// The changes of a request, each with its period.
pub(super) struct Changes {
    pub(super) mutations: Vec<Mutation>,
    /// The period of the query parameters.
    pub(super) period: WritePeriod,
    /// The period of each change; empty until a change has its own.
    pub(super) periods: Vec<WritePeriod>,
    /// Whether a change that leaves its element unchanged is skipped.
    pub(super) skip_unchanged: bool,
    /// Whether an element that is put until a `valid_to` does not exist after it.
    pub(super) ends: bool,
}

impl Changes {
    /// No changes yet.
    pub(super) fn new(context: &RequestContext, capacity: usize) -> Result<Self, ApiError> {
        let query = context.query()?;
        Ok(Self {
            mutations: Vec::with_capacity(capacity),
            period: time::period(query)?,
            periods: Vec::new(),
            skip_unchanged: query.boolean("skip_unchanged", false)?,
            ends: false,
        })
    }

    /// These mutations, for the period of the query parameters.
    pub(super) fn of(context: &RequestContext, mutations: Vec<Mutation>) -> Result<Self, ApiError> {
        let mut changes = Self::new(context, 0)?;
        changes.mutations = mutations;
        Ok(changes)
    }

    /// The elements of a batch by their periods, in the order of the first of each.
    pub(super) fn by_period<'a, T>(
        &self,
        elements: impl Iterator<Item = (T, Given<'a>)>,
        now: Instant,
    ) -> Result<Vec<(WritePeriod, Vec<T>)>, ApiError> {
        let mut groups: Vec<(WritePeriod, Vec<T>)> = Vec::new();
        let mut places: HashMap<WritePeriod, usize> = HashMap::new();
        for (at, (element, given)) in elements.enumerate() {
            let period = given.period(self.period);
            let period = period.map_err(|error| of_element("element", at, error))?;
            let place = *places.entry(period).or_insert(groups.len());
            if place == groups.len() {
                // A wrong period of the request is no element's.
                if period != self.period {
                    period.check(now, Some(at))?;
                }
                groups.push((period, Vec::new()));
            }
            groups[place].1.push(element);
        }
        Ok(groups)
    }

    /// Adds changes of elements with one period.
    pub(super) fn add_all(&mut self, mutations: Vec<Mutation>, period: WritePeriod) {
        for mutation in mutations {
            self.push(mutation, period);
        }
    }

    /// Adds the change of an element with the period that it gives.
    pub(super) fn add(&mut self, mutation: Mutation, given: &Given<'_>) -> Result<(), ApiError> {
        let period = given.period(self.period)?;
        self.push(mutation, period);
        Ok(())
    }

    fn push(&mut self, mutation: Mutation, period: WritePeriod) {
        if period != self.period || !self.periods.is_empty() {
            self.periods.resize(self.mutations.len(), self.period);
            self.periods.push(period);
        }
        self.mutations.push(mutation);
    }
}

/// Prefixes an error with the kind and the number of the element that it is about.
pub(super) fn of_element(what: &str, at: usize, error: ApiError) -> ApiError {
    let message = format!("{what} {at}: {}", error.message());
    ApiError::illegal_argument(message)
}
