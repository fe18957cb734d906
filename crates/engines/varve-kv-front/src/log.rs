//! The write-ahead log: the writes that are not yet in sorted files, in order, safe from crashes.
//!
//! A log is a directory of *segments*, files that records are appended to. [`mod@format`] defines
//! the bytes, [`recover`] distinguishes a torn end from damage, and [`disk`] abstracts the file
//! system.
//! Invariants, which hold at each moment:
//!
//! - A segment gets its name when its head is on stable storage. So a segment without a sound head
//!   is damaged.
//! - The next segment exists before the last one is marked as closed. So if the last segment is
//!   closed, a file is missing.
//! - The [`mark`] beside the directory has the log's id, which every segment has, too. So segments
//!   of another log are recognized. Before segments are removed, the mark names the first segment
//!   that is still needed. So a gap means a missing file, and the segments that an interrupted
//!   removal left are known to be garbage.
//! - Bytes whose sync failed may look stored until the machine stops. So opening the log first
//!   rewrites all bytes that are not known to be durable and syncs the file names that it found.
//!   Only then does it append.

mod ahead;
mod disk;
mod errors;
mod format;
mod mark;
mod reader;
mod recover;
mod replaying;
mod salvage;
mod segments;
mod settle;
#[cfg(test)]
mod simulated;
mod sync;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use varve_kv::{KvError, fail_point};

pub use self::errors::file_error;
pub use self::replaying::Replaying;
pub use self::salvage::{Salvaged, salvage};
pub use self::segments::Remover;
pub use self::sync::Syncer;

use self::ahead::Ahead;
use self::disk::{Disk, DiskFile, OsDisk};
use self::format::{Head, KIND_END, KIND_PAYLOAD, Mark, RECORD_HEAD_BYTES, RecordHead, file_name};
use self::mark::Marker;
use self::recover::{Survey, UNFINISHED};
use self::segments::Segments;
use self::sync::Progress;

/// How often the verification of a log that is being written is repeated when it looks damaged.
const VERIFY_ATTEMPTS: usize = 100;

/// The number of a segment, which is one file of the log. The first segment is 1, and each rotation
/// adds 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

/// Receives the payloads of a log that is being opened, in order. A caller that stores anything
/// derived from them before the log is open must call [`Replaying::make_durable`] first.
pub type Replay<'a> = dyn FnMut(&Replaying<'_>, SegmentId, &[u8]) -> Result<(), KvError> + 'a;

/// Options of a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The space's name, for messages.
    pub space: String,
    /// By how many bytes a segment is allocated ahead of the records, so that a sync need not
    /// change the file's size; 0 for not at all. If syncs are frequent, a quarter of it at a time
    /// is also filled with zeros.
    pub preallocate_bytes: u64,
    /// Whether a segment must be on stable storage before the next one takes records. `false` is
    /// for a durability that promises nothing after a power loss, and for callers that sync the log
    /// themselves.
    pub sync_on_rotate: bool,
}

/// The directories of a log.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    /// The log's own directory.
    pub(crate) log: Arc<dyn Disk>,
    /// The parent directory, which has the mark.
    pub(crate) beside: Arc<dyn Disk>,
}

impl Folders {
    fn of(dir: &Path) -> Self {
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty());
        Self {
            log: Arc::new(OsDisk::new(dir)),
            beside: Arc::new(OsDisk::new(parent.unwrap_or(Path::new(".")))),
        }
    }
}

/// Returns the path of the mark, the file beside a log's directory that names the log that belongs
/// there.
#[must_use]
pub fn mark_of(log_dir: &Path) -> PathBuf {
    log_dir.with_file_name(format::MARK_NAME)
}

/// An open log. The caller must ensure that only one process at a time has the directory open.
#[derive(Debug)]
pub struct Log {
    disk: Arc<dyn Disk>,
    options: LogOptions,
    active: Active,
    progress: Arc<Progress>,
    segments: Arc<Segments>,
}

/// The segment that takes records.
#[derive(Debug)]
struct Active {
    head: Head,
    file: Arc<dyn DiskFile>,
    /// The offset of the next record.
    offset: u64,
    ahead: Ahead,
}

impl Active {
    fn position(&self) -> u64 {
        self.head.position(self.offset)
    }
}

impl Log {
    /// Opens the log in `dir`, creating it if there is none, and passes every stored payload to
    /// `replay`, in order. The replayed payloads are on stable storage when this returns. New
    /// records are appended to the last existing segment.
    ///
    /// # Errors
    /// [`KvError::Corruption`] with file and offset if bytes that had certainly been stored are
    /// damaged or missing; the errors of `replay`; otherwise when files cannot be read or written.
    pub fn open(dir: &Path, options: LogOptions, replay: &mut Replay<'_>) -> Result<Self, KvError> {
        let folders = Folders::of(dir);
        if !dir.exists() {
            // If the log is lost, this fails before anything is created.
            Survey::new(&folders, &options.space)?;
        }
        // The directory's own name must be durable, too, whoever has created the directory.
        let created = std::fs::create_dir_all(dir).and_then(|()| folders.beside.sync_names());
        created
            .map_err(|error| file_error(&options.space, "creating the log's directory", &error))?;
        Self::open_on(folders, options, replay)
    }

    fn open_on(
        folders: Folders,
        options: LogOptions,
        replay: &mut Replay<'_>,
    ) -> Result<Self, KvError> {
        let failed = |error: io::Error| file_error(&options.space, "preparing the log", &error);
        let disk = Arc::clone(&folders.log);
        let survey = Survey::new(&folders, &options.space)?;
        let replaying = Replaying::new(&survey);
        let end = survey.read(&mut |segment, payload| replay(&replaying, segment, payload))?;
        let end = end.map(|end| replaying.known(end));
        // The process that created these files may have ended before their names were durable. From
        // here on, other files depend on them.
        disk.sync_names().map_err(failed)?;
        let mut mark = survey.mark;
        if let (Some(mark), false) = (&mark, survey.left_over.is_empty()) {
            // What the mark says about these files must be durable for the same reason.
            mark::store(&*folders.beside, mark).map_err(failed)?;
        }
        for name in &survey.left_over {
            disk.remove(name).map_err(failed)?;
        }
        let mut segments = survey.segments;
        let active = match end {
            Some(end) => {
                let acknowledged = mark.map_or(0, |mark| mark.acknowledged);
                settle::warn_of_losses(&*disk, &options.space, &segments, &end, acknowledged);
                settle::settle(&*disk, &mut segments, end)
            }
            None => begin(&folders, &mut mark, &mut segments),
        };
        let active = active.map_err(failed)?;
        let position = active.position();
        let marker = mark.map(|mark| {
            let mark = Mark {
                in_use: true,
                session: folders.beside.session(),
                durable: position,
                acknowledged: position,
                ..mark
            };
            Marker::open(&*folders.beside, mark).map(Arc::new)
        });
        let marker = marker.transpose().map_err(failed)?;
        Ok(Self {
            progress: Arc::new(Progress::new(
                &options.space,
                position,
                Arc::clone(&active.file),
                marker.clone(),
            )),
            segments: Arc::new(Segments::new(
                Arc::clone(&disk),
                &options.space,
                &segments,
                marker,
            )),
            disk,
            options,
            active,
        })
    }

    /// Passes a record to the operating system in one write. The record then survives the end of
    /// the process, but not yet that of the machine.
    ///
    /// # Errors
    /// [`KvError::DiskFull`] and [`KvError::ReadOnly`]: nothing of the record is stored, and later
    /// appends can succeed. After any other error it is unknown whether it is stored, and the log
    /// takes no records until it is opened again.
    pub fn append(&mut self, payload: &[u8]) -> Result<(), KvError> {
        self.progress.check()?;
        fail_point::LOG_APPEND
            .reach()
            .map_err(|error| self.progress.failed("writing the log", &error))?;
        self.write(KIND_PAYLOAD, payload)?;
        self.progress.set_appended(self.active.position());
        Ok(())
    }

    fn write(&mut self, kind: u8, payload: &[u8]) -> Result<(), KvError> {
        let Ok(payload_bytes) = u32::try_from(payload.len()) else {
            return Err(KvError::Io {
                space: self.options.space.clone(),
                detail: format!("a record of {} bytes is too large", payload.len()),
            });
        };
        let record = RecordHead::of(kind, payload, payload_bytes, self.progress.durable());
        self.make_room(record.record_bytes())?;
        let active = &mut self.active;
        let head = record.encode(&active.head, active.position());
        if let Err((written, error)) = active.file.write([&head, payload], active.offset) {
            let failure = self.progress.failed("writing the log", &error);
            if written > 0 && errors::nothing_stored(&failure) {
                active.file.cut(active.offset).map_err(|error| {
                    self.progress
                        .broke("cutting off a record that found no room", &error)
                })?;
                active.ahead = Ahead::none(active.offset, self.progress.syncs());
            }
            return Err(failure);
        }
        active.offset += record.record_bytes();
        Ok(())
    }

    fn make_room(&mut self, bytes: u64) -> Result<(), KvError> {
        let active = &mut self.active;
        let record = (active.offset, active.offset + bytes);
        let (step, syncs) = (self.options.preallocate_bytes, self.progress.syncs());
        let room = active.ahead.reach(&*active.file, record, step, syncs);
        room.map_err(|error| self.progress.broke("making room in the log", &error))
    }

    /// Notes that the appended records are acknowledged without a sync. Must be called before they
    /// are acknowledged. Costs a small write now and then.
    pub fn acknowledge(&self) {
        self.progress.acknowledge();
    }

    /// Brings everything appended so far to stable storage. Costs nothing if that has been done.
    ///
    /// # Errors
    /// When a sync fails: what is stored is unknown, and the log takes no records until it is
    /// opened again.
    pub fn sync(&self) -> Result<(), KvError> {
        self.progress.sync()
    }

    /// Returns a handle that syncs this log while others append.
    pub fn syncer(&self) -> Syncer {
        Syncer(Arc::clone(&self.progress))
    }

    /// The segment that takes new records.
    pub fn active(&self) -> SegmentId {
        self.active.head.segment
    }

    /// The bytes of records in the active segment.
    pub fn active_bytes(&self) -> u64 {
        self.active.offset - self.active.head.bytes()
    }

    /// Closes the active segment, starts the next one and returns the closed one's number.
    ///
    /// # Errors
    /// When the next segment cannot be created; the active one then continues to take records.
    /// [`KvError::Busy`] means a lack of file descriptors. When the active segment cannot be
    /// closed, as for [`Log::append`].
    pub fn rotate(&mut self) -> Result<SegmentId, KvError> {
        self.progress.check()?;
        if self.options.sync_on_rotate {
            // Then the next segment's head records that all of this one is durable.
            self.sync()?;
        }
        let closed = self.active.head.segment;
        let next = Head {
            log: self.active.head.log,
            segment: SegmentId(closed.0 + 1),
            base: self.active.position() + RECORD_HEAD_BYTES as u64,
            durable: self.progress.durable(),
        };
        let next = create(&*self.disk, next, self.progress.syncs())
            .map_err(|error| self.not_created(next, &error))?;
        match self.write(KIND_END, &[]) {
            Err(error) if !errors::nothing_stored(&error) => return Err(error),
            // Without space for the closing record, the existence of the next segment alone shows
            // that this one has ended.
            _ => {}
        }
        fail_point::LOG_MARKED
            .reach()
            .map_err(|error| self.progress.broke("closing a segment", &error))?;
        self.close_active()?;
        self.progress.start(
            Arc::clone(&next.file),
            next.position(),
            self.options.sync_on_rotate,
        );
        self.segments.add(&next.head);
        self.active = next;
        Ok(closed)
    }

    /// Removes what a failed creation of the next segment left: its existence would mean that the
    /// active one has ended.
    fn not_created(&self, next: Head, error: &io::Error) -> KvError {
        let name = file_name(next.segment);
        let removed = [format!("{name}{UNFINISHED}"), name]
            .iter()
            .map(|name| match self.disk.remove(name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            })
            .collect::<io::Result<Vec<()>>>();
        match removed {
            // Nothing was changed, so the active segment continues.
            Ok(_) => errors::not_created(&self.options.space, "starting a segment", error),
            Err(_) => self.progress.broke("starting a segment", error),
        }
    }

    /// Cuts off the bytes that were allocated ahead and, with `sync_on_rotate`, syncs the segment.
    fn close_active(&mut self) -> Result<(), KvError> {
        let file = &self.active.file;
        let cut = match file.cut(self.active.offset) {
            // Additional zeros at the end are harmless.
            Err(error) if errors::nothing_stored(&file_error(&self.options.space, "", &error)) => {
                Ok(())
            }
            cut => cut,
        };
        let synced = if self.options.sync_on_rotate {
            cut.and_then(|()| file.sync())
        } else {
            cut
        };
        synced.map_err(|error| self.progress.broke("closing a segment", &error))
    }

    /// Removes every segment up to and including `last`, whose content must be on stable storage
    /// elsewhere.
    ///
    /// # Errors
    /// When `last` is the active segment or a file cannot be removed. The log itself is intact; the
    /// next opening removes the remaining files.
    pub fn remove_through(&self, last: SegmentId) -> Result<(), KvError> {
        self.segments.remove_through(last)
    }

    /// Returns a handle that removes segments of this log while others append.
    pub fn remover(&self) -> Remover {
        Remover(Arc::clone(&self.segments))
    }

    /// The bytes of all records in the log, those of closed segments included.
    pub fn bytes(&self) -> u64 {
        self.active.position() - self.segments.first_base()
    }

    /// Checks the log in `dir` against its checksums. The log may be open: a record that is being
    /// written counts as a torn end.
    ///
    /// # Errors
    /// [`KvError::Corruption`] with file and offset; otherwise when a file cannot be read.
    pub fn verify(space: &str, dir: &Path) -> Result<(), KvError> {
        Self::verify_on(&Folders::of(dir), space)
    }

    fn verify_on(folders: &Folders, space: &str) -> Result<(), KvError> {
        let mut found = String::new();
        for _ in 0..VERIFY_ATTEMPTS {
            let read =
                Survey::new(folders, space).and_then(|survey| survey.read(&mut |_, _| Ok(())));
            match read {
                // The same damage seen twice is not the effect of a concurrent append or rotation.
                Err(KvError::Corruption { detail, .. }) if detail != found => found = detail,
                other => return other.map(|_| ()),
            }
        }
        Err(KvError::Io {
            space: space.to_owned(),
            detail: format!("the log changes too fast to be read; last seen: {found}"),
        })
    }
}

/// Creates the first segment of a log. The mark is created before it, so a log without a mark is
/// damaged.
fn begin(
    folders: &Folders,
    mark: &mut Option<Mark>,
    segments: &mut Vec<Head>,
) -> io::Result<Active> {
    let mark = match mark {
        // An interrupted creation has already stored the mark.
        Some(mark) => *mark,
        None => {
            let new = Mark::of_new_log(folders.beside.session());
            mark::create(&*folders.beside, &new)?;
            *mark.insert(new)
        }
    };
    let head = Head {
        log: mark.log,
        segment: mark.first,
        base: mark.flushed,
        durable: mark.flushed,
    };
    segments.push(head);
    create(&*folders.log, head, 0)
}

/// Writes a new segment's head and gives the segment its name once the head is on stable storage.
/// `syncs` is the number of syncs of the log so far.
fn create(disk: &dyn Disk, head: Head, syncs: u64) -> io::Result<Active> {
    let name = file_name(head.segment);
    let unfinished = format!("{name}{UNFINISHED}");
    fail_point::LOG_ROTATE.reach()?;
    let file = disk.create(&unfinished)?;
    file.write([&head.encode(), &[]], 0)
        .map_err(|(_, error)| error)?;
    file.sync()?;
    disk.rename(&unfinished, &name)?;
    fail_point::LOG_NAMED.reach()?;
    disk.sync_names()?;
    Ok(Active {
        head,
        file,
        offset: head.bytes(),
        ahead: Ahead::none(head.bytes(), syncs),
    })
}
