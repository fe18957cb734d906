//! The valid periods of a request's elements: `valid_from` and `valid_to` beside an element's
//! `label` and `properties` take the place of the query parameters of the same name.

use varve_graph::element::RawValue;
use varve_graph::write::{Mutation, WritePeriod};
use varve_model::Instant;

use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::wire::time;

/// The valid period that an element gives: `None` = not given, [`RawValue::Null`] = no bound.
#[derive(Debug, Default, PartialEq)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Given<'a> {
    pub(super) from: Option<RawValue<'a>>,
    pub(super) to: Option<RawValue<'a>>,
}

impl Given<'_> {
    fn is_empty(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }

    /// Returns 400 if an element of an update gives a period.
    pub(super) fn refuse(&self, what: &str, at: usize) -> Result<(), ApiError> {
        let name = match (&self.from, &self.to) {
            (Some(_), _) => "valid_from",
            (None, Some(_)) => "valid_to",
            (None, None) => return Ok(()),
        };
        Err(ApiError::illegal_argument(format!(
            "{what} {at}: an update takes no '{name}' of an element, only the query parameter"
        )))
    }

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
        })
    }

    /// These mutations, for the period of the query parameters.
    pub(super) fn of(context: &RequestContext, mutations: Vec<Mutation>) -> Result<Self, ApiError> {
        let mut changes = Self::new(context, 0)?;
        changes.mutations = mutations;
        Ok(changes)
    }

    /// Adds the change of an element with the period that it gives.
    pub(super) fn add(&mut self, mutation: Mutation, given: &Given<'_>) -> Result<(), ApiError> {
        if !given.is_empty() || !self.periods.is_empty() {
            let own = given.period(self.period)?;
            self.periods.resize(self.mutations.len(), self.period);
            self.periods.push(own);
        }
        self.mutations.push(mutation);
        Ok(())
    }
}

/// Prefixes an error with the kind and the number of the element that it is about.
pub(super) fn of_element(what: &str, at: usize, error: ApiError) -> ApiError {
    let message = format!("{what} {at}: {}", error.message());
    ApiError::illegal_argument(message)
}
