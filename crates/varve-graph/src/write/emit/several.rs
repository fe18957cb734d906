//! Several events of one element in one commit, for sequenced updates and for puts that end an
//! element.

use varve_model::ElementId;

use super::{Change, Emitter, EventPeriod};
use crate::error::GraphError;
use crate::rows::Current;

/// The change to a content.
fn change(content: &Option<Vec<u8>>) -> Change<'_> {
    match content {
        Some(content) => Change::Put(content),
        None => Change::Delete,
    }
}

impl Emitter<'_> {
    /// Writes events of `id` with these contents (`None` = deleted) and periods, which must not
    /// overlap: at most
    /// [`varve_model::CommitVersion::PER_MICROSECOND`], each with its own version. They are
    /// numbered by their starts. Only the event that decides now comes last, since it replaces the
    /// row that the others mark. `current` is the current row, read under the commit's latches.
    pub(crate) fn emit_several(
        &mut self,
        id: &ElementId,
        current: Option<Current>,
        events: &[(EventPeriod, Option<Vec<u8>>)],
    ) -> Result<(), GraphError> {
        let now = self.context.now;
        let mut current = self.settled(id, current)?;
        let (decide, others): (Vec<_>, Vec<_>) = events
            .iter()
            .partition(|(period, _)| period.covers_now(now));
        let number = |number: usize| u8::try_from(number).unwrap_or(u8::MAX);
        for (at, (period, content)) in others.into_iter().enumerate() {
            self.number = number(at);
            current = self.emit_elsewhere(id, current, &change(content), *period)?;
        }
        if let Some((period, content)) = decide.first() {
            self.number = number(events.len() - 1);
            self.emit_deciding(id, current.as_ref(), &change(content), *period)?;
        }
        self.number = 0;
        Ok(())
    }
}
