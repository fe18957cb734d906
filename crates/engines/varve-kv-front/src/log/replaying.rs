//! A log during its replay, before it is open.

use std::cell::Cell;

use varve_kv::KvError;

use super::errors;
use super::format::file_name;
use super::recover::{End, Survey};
use super::settle;

/// Access to the log for a replay of it.
#[derive(Debug)]
pub struct Replaying<'a> {
    survey: &'a Survey<'a>,
    /// The position up to which the log was made durable.
    durable: Cell<Option<u64>>,
}

impl<'a> Replaying<'a> {
    pub(crate) fn new(survey: &'a Survey<'a>) -> Self {
        Self {
            survey,
            durable: Cell::new(None),
        }
    }

    /// Brings the whole log to stable storage, including the records that are still to be replayed
    /// and bytes that only look stored since an earlier sync failed. The first call reads the whole
    /// log; later ones cost nothing.
    ///
    /// # Errors
    /// When the rest of the log is damaged, or files cannot be read or written.
    pub fn make_durable(&self) -> Result<(), KvError> {
        if self.durable.get().is_some() {
            return Ok(());
        }
        let Some(end) = self.survey.read(&mut |_, _| Ok(()))? else {
            return Ok(());
        };
        let (disk, space) = (self.survey.disk, self.survey.space);
        let last = &self.survey.segments[end.segment];
        let written = || {
            for head in &self.survey.segments[..=end.segment] {
                let file = disk.open(&file_name(head.segment), true)?;
                let stop = if head == last {
                    end.offset
                } else {
                    file.bytes()?
                };
                settle::make_durable(&*file, head, end.durable, stop)?;
            }
            disk.sync_names()
        };
        written().map_err(|error| errors::file_error(space, "making the log durable", &error))?;
        self.durable.set(Some(last.position(end.offset)));
        Ok(())
    }

    /// Adds the durable position reached by [`Replaying::make_durable`] to the end of the log.
    pub(crate) fn known(&self, end: End) -> End {
        let durable = end.durable.max(self.durable.get().unwrap_or(0));
        End { durable, ..end }
    }
}
