//! A space whose writes can be recorded while its rows are copied.
//!
//! An engine without snapshots shows the newest state with each read. So a copy that is read while
//! the space is written to mixes many states. With all writes of that time applied to it, in their
//! order, it is the state after the last of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use varve_kv::{Batch, Durability, KvError, Reader, ReaderLayer, Space, SpaceLayer, has_snapshots};

use crate::error::{ErrorKind, GraphError};

/// Takes the batches that are recorded.
type Take = Box<dyn FnMut(&Batch) -> Result<(), GraphError> + Send>;

/// A space over another one.
pub(crate) struct Recorded {
    below: Arc<dyn Space>,
    /// Held, shared, by each write from its beginning to its end.
    running: RwLock<()>,
    is_on: AtomicBool,
    record: Mutex<Option<Record>>,
}

struct Record {
    take: Take,
    failed: Option<GraphError>,
}

/// How long a copy waits at its start and end for the writes that are running. Later writes wait
/// as long.
const RUNNING_WAIT: Duration = Duration::from_secs(10);

/// Returns the space with a layer that can record it, unless it has snapshots: then its engine
/// copies its files.
pub(crate) fn over(space: Arc<dyn Space>) -> (Arc<dyn Space>, Option<Arc<Recorded>>) {
    if has_snapshots(&space) {
        return (space, None);
    }
    let recorded = Arc::new(Recorded::new(space));
    (Arc::clone(&recorded) as Arc<dyn Space>, Some(recorded))
}

impl Recorded {
    pub(crate) fn new(below: Arc<dyn Space>) -> Self {
        Self {
            below,
            running: RwLock::new(()),
            is_on: AtomicBool::new(false),
            record: Mutex::new(None),
        }
    }

    /// Calls `copy`, and `take` with each batch that is written until `copy` has ended, in an order
    /// in which they can be repeated. All earlier batches are visible to `copy`. Returns the result
    /// of `copy`, or the first error of recording.
    ///
    /// # Errors
    /// Those of `copy` and of `take`; [`KvError::Busy`] if the space is being recorded; an error if
    /// the outcome of a write is unknown.
    pub(crate) fn during<T>(
        &self,
        take: impl FnMut(&Batch) -> Result<(), GraphError> + Send + 'static,
        space: &str,
        copy: impl FnOnce() -> Result<T, GraphError>,
    ) -> Result<T, GraphError> {
        {
            // Waits for the end of the running writes; later ones are recorded.
            let none_runs = self.running.try_write_for(RUNNING_WAIT);
            let _none_runs = none_runs.ok_or_else(|| write_runs(space))?;
            let mut record = self.record.lock();
            if record.is_some() {
                return Err(KvError::Busy {
                    space: space.to_owned(),
                    detail: "it is being copied already".to_owned(),
                }
                .into());
            }
            *record = Some(Record {
                take: Box::new(take),
                failed: None,
            });
            self.is_on.store(true, Ordering::Release);
        }
        let on = On(self);
        let copied = copy();
        let failed = on.end(space);
        let copied = copied?;
        failed.map_or(Ok(copied), Err)
    }
}

/// A recording, which ends when this is dropped.
struct On<'a>(&'a Recorded);

impl On<'_> {
    /// Ends the recording with the writes that are running. Returns its first error.
    fn end(&self, space: &str) -> Option<GraphError> {
        let none_runs = self.0.running.try_write_for(RUNNING_WAIT);
        self.0.is_on.store(false, Ordering::Release);
        let failed = self.0.record.lock().take()?.failed;
        match none_runs {
            Some(_) => failed,
            None => Some(failed.unwrap_or_else(|| write_runs(space).into())),
        }
    }
}

impl Drop for On<'_> {
    fn drop(&mut self) {
        self.0.is_on.store(false, Ordering::Release);
        self.0.record.lock().take();
    }
}

/// The error where a write does not end in time.
fn write_runs(space: &str) -> KvError {
    KvError::Busy {
        space: space.to_owned(),
        detail: "a write has not ended, so no copy can begin or end".to_owned(),
    }
}

impl ReaderLayer for Recorded {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.below)
    }
}

impl SpaceLayer for Recorded {
    fn space(&self) -> &dyn Space {
        &*self.below
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.below).snapshot()
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        let _running = self.running.read();
        let written = self.below.write(batch, durability);
        if !self.is_on.load(Ordering::Acquire) {
            return written;
        }
        if let Some(record) = &mut *self.record.lock()
            && record.failed.is_none()
        {
            record.failed = match &written {
                Ok(()) => (record.take)(batch).err(),
                Err(
                    KvError::DiskFull { .. }
                    | KvError::ReadOnly { .. }
                    | KvError::Busy { .. }
                    | KvError::Away { .. }
                    | KvError::TooLarge { .. },
                ) => None,
                Err(error) => Some(GraphError::new(ErrorKind::Storage, error.to_string())),
            };
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use varve_encoding::tables::{META, TABLES};
    use varve_kv::{Engine, MemoryEngine};

    use super::*;

    #[test]
    fn the_writes_during_a_copy_are_recorded() {
        let below = MemoryEngine::new().open("g", TABLES, true).unwrap();
        let space = Recorded::new(below);
        let write = |key: u8| {
            let mut batch = Batch::new();
            batch.put(META, b"v", &[key], b"");
            SpaceLayer::write(&space, &batch, Durability::Buffered).unwrap();
        };
        write(1);
        let taken = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&taken);
        let take = move |batch: &Batch| {
            sink.lock().extend_from_slice(batch.bytes());
            Ok(())
        };
        let copied = space.during(take, "g", || {
            write(2);
            let again = space.during(|_| Ok(()), "g", || Ok(())).unwrap_err();
            assert_eq!(again.kind, crate::ErrorKind::Busy);
            write(3);
            Ok(7)
        });
        assert_eq!(copied.unwrap(), 7);
        write(4);
        let mut expected = Batch::new();
        expected.put(META, b"v", &[2], b"");
        expected.put(META, b"v", &[3], b"");
        assert_eq!(*taken.lock(), expected.bytes());
    }

    #[test]
    fn a_recording_that_failed_is_no_copy() {
        let below = MemoryEngine::new().open("g", TABLES, true).unwrap();
        let space = Recorded::new(below);
        let fails = |_: &Batch| Err(GraphError::not_found("no disk".to_owned()));
        let copied = space.during(fails, "g", || {
            let mut batch = Batch::new();
            batch.put(META, b"v", b"x", b"");
            SpaceLayer::write(&space, &batch, Durability::Buffered).unwrap();
            Ok(())
        });
        assert_eq!(copied.unwrap_err().message, "no disk");
    }
}
