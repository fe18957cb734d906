//! Checks what a request depends on, under its latches.

use varve_kv::deadline;
use varve_model::{ElementId, TemporalScope, VertexId};
use varve_view::{CancelToken, Flow, Meter, MeterLimits, ViewError};

use super::{Outcome, WorkingSet};
use crate::error::{ErrorKind, GraphError};

/// The most rows that all searches of one commit may read, and the most bytes that they may hold:
/// other commits wait for them.
const REPEAT_ROWS_MAX: u64 = 1_000_000;
const REPEAT_BYTES_MAX: u64 = 64 << 20;

impl WorkingSet<'_> {
    /// Refuses the request if a row differs from the expected one, or if a search that found
    /// nothing now finds an element. `touched` has the position of each mutation's element.
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
        let all = self.graph.view(TemporalScope::NOW)?;
        let shown = all.clone().guarded_by(self.access());
        let limits = MeterLimits {
            rows_max: REPEAT_ROWS_MAX,
            bytes_max: REPEAT_BYTES_MAX,
            deadline: deadline::current(),
        };
        let meter = Meter::new(limits, CancelToken::default());
        for absent in &expected.absent {
            let mut other = None;
            let view = if absent.finds_hidden { &all } else { &shown };
            let done = (absent.search)((view, self.schema), &meter, &mut |id| {
                if self.changes(id) {
                    return Flow::Continue(());
                }
                other = Some(id.clone());
                Flow::Break(())
            });
            done.map_err(not_repeated)?;
            if let Some(other) = other {
                return Err(conflict(format!(
                    "'{other}' is what a merge did not find, and was added meanwhile"
                )));
            }
        }
        Ok(())
    }

    /// Whether this request changes an element; then its expected row is compared instead.
    fn changes(&self, id: &ElementId) -> bool {
        let is_gone = |vertex: &VertexId| {
            let vertex = self.working_of(&ElementId::Vertex(vertex.clone()));
            vertex.is_some_and(|vertex| matches!(vertex.outcome, Outcome::Delete))
        };
        let with_an_end = match id {
            ElementId::Edge(edge) => is_gone(&edge.source) || is_gone(&edge.target),
            ElementId::Vertex(_) => false,
        };
        with_an_end || self.working_of(id).is_some()
    }
}

/// A failure of the store stays as it is. An index does not help against it, unlike against limits.
fn not_repeated(error: ViewError) -> GraphError {
    let kind = match error {
        ViewError::Store(error) => return (*error).into(),
        ViewError::Rows { .. } | ViewError::Memory { .. } => ErrorKind::LimitExceeded,
        ViewError::NoIndex(_) => ErrorKind::NoIndex,
        ViewError::Deadline | ViewError::Cancelled => ErrorKind::Busy,
    };
    let message = format!(
        "A merge checks again that the element is absent before it stores it, and {error}: an index \
         on the properties of the merge helps"
    );
    GraphError::new(kind, message)
}

fn conflict(message: String) -> GraphError {
    GraphError::new(ErrorKind::Conflict, message)
}
