//! Inserts: conversion of elements as sent to mutations, one after another.

use std::sync::Arc;

use super::direct::Direct;
use super::{EdgeForm, EdgeInput, Rules, VertexInput};
use crate::GraphError;
use crate::schema::Schema;
use crate::write::{EndCheck, Mutation};

/// Converts elements to mutations that store them: ordinary ones on the fast path, others by the
/// rules, which report errors.
pub struct Inserts<'s> {
    rules: &'s Rules<'s>,
    schema: &'s Arc<Schema>,
    direct: Direct<'s>,
}

impl<'s> Inserts<'s> {
    /// Converts by `rules`, whose schema is `schema`.
    #[must_use]
    pub const fn new(rules: &'s Rules<'s>, schema: &'s Arc<Schema>) -> Self {
        Self {
            rules,
            schema,
            direct: Direct::new(rules.schema),
        }
    }

    /// The mutation that stores a vertex: as [`Rules::put_vertex`].
    ///
    /// # Errors
    /// As [`Rules::vertex`].
    pub fn vertex(&mut self, input: &mut VertexInput<'_>) -> Result<Mutation, GraphError> {
        if self.takes_plain_values()
            && let Some(direct) = self.direct.vertex(input)
        {
            return Ok(direct);
        }
        self.rules.put_vertex(self.schema, std::mem::take(input))
    }

    /// The mutation that stores an edge.
    ///
    /// # Errors
    /// As [`Rules::edge`].
    pub fn edge(
        &mut self,
        input: &mut EdgeInput<'_>,
        form: EdgeForm,
    ) -> Result<Mutation, GraphError> {
        if self.takes_plain_values()
            && let Some(direct) = self.direct.edge(input, form)
        {
            return Ok(direct);
        }
        let new = self.rules.edge(std::mem::take(input), form)?;
        let labels_given = new.labels_given;
        let ends = match form.ends_checked {
            true => EndCheck::Exist { labels_given },
            false => EndCheck::Skip,
        };
        let edge = new.edge;
        Ok(Mutation::PutEdge { edge, ends })
    }

    /// Whether values are sent without their types, as the fast path requires.
    fn takes_plain_values(&self) -> bool {
        !self.rules.takes_types()
    }
}
