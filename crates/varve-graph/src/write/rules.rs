//! Constraints of existence, key and type: each state that a write gives an element keeps them.

use super::working::WorkingSet;
use crate::error::{ErrorKind, GraphError};
use crate::rows::decode_element;

impl WorkingSet<'_> {
    /// Refuses states that break a rule of their label and hold now or later. The past is not
    /// checked, as with unique values.
    pub(super) fn check_rules(&self) -> Result<(), GraphError> {
        if !self.schema.has_rules() {
            return Ok(());
        }
        for working in &self.elements {
            for (period, content) in working.states() {
                if self.span(period).to <= self.now {
                    continue;
                }
                let base = self.labels.of(&working.id, content)?.base;
                let rules = self.schema.rules_of(base);
                if rules.is_empty() {
                    continue;
                }
                let element = decode_element(&working.id, content)?;
                let mut broken = rules.iter();
                let broken = broken.find_map(|rule| rule.broken_by(self.schema, &element));
                if let Some(message) = broken {
                    return Err(GraphError::new(ErrorKind::Constraint, message));
                }
            }
        }
        Ok(())
    }
}
