//! The write-ahead log: what was written since the last sorted files, in order, able to survive a
//! crash.
//!
//! A directory of *segments*, files that records are appended to. [`format`] has the bytes,
//! [`recover`] distinguishes a torn end from damage, [`disk`] is what is needed of a file system.
//! What holds at each moment:
//!
//! - A segment gets its name when its head is on stable storage, so a segment without a sound head
//!   is damage.
//! - The next segment exists before the last one is marked as closed, so a closed last segment
//!   means a missing file.
//! - The [`mark`] beside the directory has the log's id, which every segment has too, so another
//!   log is distinguished from this one. It names the first segment needed before any is removed,
//!   so a gap
//!   means a missing file, and what an interrupted removal left is known to be garbage.
//! - Bytes whose sync failed may look stored until the machine stops. So opening writes again what
//!   is not known to be on stable storage, and syncs the names it found, and only then builds on
//!   them.

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

/// How often a log that is being written is read again when it looks damaged.
const VERIFY_ATTEMPTS: usize = 100;

/// The number of a segment: one file of the log. The first is 1, each rotation goes on with the
/// next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

/// What takes the payloads of a log that is opened, in order. Whoever builds anything on them
/// elsewhere before the log is open has it made durable first.
pub type Replay<'a> = dyn FnMut(&Replaying<'_>, SegmentId, &[u8]) -> Result<(), KvError> + 'a;

/// How a log behaves.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The space's name, for messages.
    pub space: String,
    /// By how many bytes a segment grows ahead of what is written, so that a sync need not change
    /// the file's size; 0 for not at all. Where syncs are frequent, a quarter of it at a time is
    /// filled with zeros, too.
    pub preallocate_bytes: u64,
    /// Whether a segment is on stable storage before the next one takes records. Only a durability
    /// that promises nothing after a power loss goes without.
    pub sync_on_rotate: bool,
}

/// Where a log lies.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    /// Its directory.
    pub(crate) log: Arc<dyn Disk>,
    /// The directory that this one is in, which has the mark.
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

/// The file beside a log's directory that says which log belongs there.
#[must_use]
pub fn mark_of(log_dir: &Path) -> PathBuf {
    log_dir.with_file_name(format::MARK_NAME)
}

/// An open log. One process at a time may have a directory open; whoever opens it sees to that.
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
    /// Where the next record goes.
    offset: u64,
    ahead: Ahead,
}

impl Active {
    fn position(&self) -> u64 {
        self.head.position(self.offset)
    }
}

impl Log {
    /// Opens the log in `dir`, creating it where there is none, and hands every stored payload to
    /// `replay`, in order. What was replayed is on stable storage when this returns. New records go
    /// to the last segment that was there.
    ///
    /// # Errors
    /// [`KvError::Corruption`] naming file and offset when something is damaged or missing that had
    /// surely been stored; what `replay` returns; else when files cannot be read or written.
    pub fn open(dir: &Path, options: LogOptions, replay: &mut Replay<'_>) -> Result<Self, KvError> {
        let folders = Folders::of(dir);
        if !dir.exists() {
            // A log that is lost is refused before anything is created.
            Survey::new(&folders, &options.space)?;
        }
        // The directory's own name has to be durable too, whoever made it.
        let created = std::fs::create_dir_all(dir).and_then(|()| folders.beside.sync_names());
        created.map_err(|error| {
            errors::file_error(&options.space, "creating the log's directory", &error)
        })?;
        Self::open_on(folders, options, replay)
    }

    fn open_on(
        folders: Folders,
        options: LogOptions,
        replay: &mut Replay<'_>,
    ) -> Result<Self, KvError> {
        let failed =
            |error: io::Error| errors::file_error(&options.space, "preparing the log", &error);
        let disk = Arc::clone(&folders.log);
        let survey = Survey::new(&folders, &options.space)?;
        let replaying = Replaying::new(&survey);
        let end = survey.read(&mut |segment, payload| replay(&replaying, segment, payload))?;
        let end = end.map(|end| replaying.known(end));
        // The process that gave these names may have ended before they were durable; from here on
        // others build on them.
        disk.sync_names().map_err(failed)?;
        let mut mark = survey.mark;
        if let (Some(mark), false) = (&mark, survey.left_over.is_empty()) {
            // The same for what the mark says of them.
            mark::store(&*folders.beside, mark).map_err(failed)?;
        }
        for name in &survey.left_over {
            disk.remove(name).map_err(failed)?;
        }
        let mut segments = survey.segments;
        let active = match end {
            Some(end) => {
                let acknowledged = mark.map_or(0, |mark| mark.acknowledged);
                settle::tell(&*disk, &options.space, &segments, &end, acknowledged);
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

    /// Hands a record to the operating system with one write: it survives the end of the process,
    /// not yet that of the machine.
    ///
    /// # Errors
    /// [`KvError::DiskFull`] and [`KvError::ReadOnly`]: nothing of it is stored, and the log goes
    /// on when space returns. Any other: unknown whether it is stored, and the log takes nothing
    /// until it is opened again.
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

    /// To be called when what was appended is acknowledged though it was not synced. Costs a small
    /// write now and then.
    pub fn acknowledge(&self) {
        self.progress.acknowledge();
    }

    /// Brings everything appended so far to stable storage. Costs nothing if that is done already.
    ///
    /// # Errors
    /// When it could not be: what is stored is unknown, and the log takes nothing until it is
    /// opened again.
    pub fn sync(&self) -> Result<(), KvError> {
        self.progress.sync()
    }

    /// Something that syncs this log while others append.
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
    /// When the next segment cannot be created, the active one stays and goes on taking records;
    /// [`KvError::Busy`] says that file descriptors were wanting. When this one cannot be closed,
    /// as for [`Log::append`].
    pub fn rotate(&mut self) -> Result<SegmentId, KvError> {
        self.progress.check()?;
        if self.options.sync_on_rotate {
            // So that the next segment's head knows that all of this one was stored.
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
            // Without room for the mark, the next segment alone says that this one has ended.
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

    /// After a failed creation there must be no next segment, or it would seem that this one has
    /// ended.
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
            // Nothing was changed, so the active segment goes on.
            Ok(_) => errors::not_created(&self.options.space, "starting a segment", error),
            Err(_) => self.progress.broke("starting a segment", error),
        }
    }

    /// Gives back what was allocated ahead, and syncs the mark.
    fn close_active(&mut self) -> Result<(), KvError> {
        let file = &self.active.file;
        let cut = match file.cut(self.active.offset) {
            // Some zeros more at the end do no harm.
            Err(error)
                if errors::nothing_stored(&errors::file_error(&self.options.space, "", &error)) =>
            {
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
    /// When `last` is the active segment or a file could not be removed. The log itself is
    /// unharmed, and what is left is removed by the next opening.
    pub fn remove_through(&self, last: SegmentId) -> Result<(), KvError> {
        self.segments.remove_through(last)
    }

    /// Something that removes segments of this log while others append.
    pub fn remover(&self) -> Remover {
        Remover(Arc::clone(&self.segments))
    }

    /// The bytes of all records that the log holds, those of closed segments included.
    pub fn bytes(&self) -> u64 {
        self.active.position() - self.segments.first_base()
    }

    /// Reads the log in `dir` against its checksums. The log may be open: what is being written
    /// counts as a torn end.
    ///
    /// # Errors
    /// [`KvError::Corruption`] naming file and offset; else when a file cannot be read.
    pub fn verify(space: &str, dir: &Path) -> Result<(), KvError> {
        Self::verify_on(&Folders::of(dir), space)
    }

    fn verify_on(folders: &Folders, space: &str) -> Result<(), KvError> {
        let mut found = String::new();
        for _ in 0..VERIFY_ATTEMPTS {
            let read =
                Survey::new(folders, space).and_then(|survey| survey.read(&mut |_, _| Ok(())));
            match read {
                // Twice the same is no longer somebody's writing or rotating.
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

/// Creates the first segment of a log. The mark comes before it, so that a log without mark is
/// damage.
fn begin(
    folders: &Folders,
    mark: &mut Option<Mark>,
    segments: &mut Vec<Head>,
) -> io::Result<Active> {
    let mark = match mark {
        // An earlier creation came so far.
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

/// Writes a new segment's head and gives it its name once that is on stable storage. `syncs` were
/// made of the log until now.
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
