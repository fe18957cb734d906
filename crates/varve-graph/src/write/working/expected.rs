//! What a request depends on, looked at under its latches.

use varve_model::TemporalScope;

use super::WorkingSet;
use crate::error::{ErrorKind, GraphError};

impl WorkingSet<'_> {
    /// Refuses the request where a row is not the one that it expects, or a search that found
    /// nothing finds something. `touched`: the place of each mutation's element.
    pub(super) fn check_expected(&self, touched: &[usize]) -> Result<(), GraphError> {
        let expected = &self.request.expected;
        for (seen, at) in expected.rows.iter().zip(touched) {
            let Some(seen) = seen else {
                continue;
            };
            let working = &self.elements[*at];
            let current = working.current.as_ref();
            if current.map(|current| current.header.version) != *seen {
                let id = &working.id;
                return Err(conflict(format!("'{id}' was changed meanwhile")));
            }
        }
        if expected.absent.is_empty() {
            return Ok(());
        }
        let view = self.graph.view(TemporalScope::NOW)?;
        for (_, search) in &expected.absent {
            let still = search(&view, self.schema).map_err(|error| {
                let kind = ErrorKind::Busy;
                GraphError::new(kind, format!("A search could not be repeated: {error}"))
            })?;
            if !still {
                return Err(conflict(
                    "What was not found was added meanwhile".to_owned(),
                ));
            }
        }
        Ok(())
    }
}

fn conflict(message: String) -> GraphError {
    GraphError::new(ErrorKind::Conflict, message)
}
