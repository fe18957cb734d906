//! Reads the readable part of a log that is refused: the records before the first damage.

use std::io;
use std::path::{Path, PathBuf};

use varve_kv::KvError;

use super::format::{self, Head, file_name};
use super::mark::{self, MarkFile};
use super::reader::{Reader, Stop};
use super::recover::{Survey, leads_to};
use super::{Folders, SegmentId, errors};

/// The result of reading a refused log.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Salvaged {
    /// The number of payloads that were read.
    pub payloads: u64,
    /// The file and the offset at which reading ended; `None` if no segment of the space's log was
    /// found.
    pub end: Option<(PathBuf, u64)>,
}

/// Passes every payload before the first damage to `take`, in order. Segments of another space's
/// log or of an older one are not read. The log must not be open; its files are not changed.
///
/// # Errors
/// The errors of `take`; otherwise when a file cannot be read.
pub fn salvage(
    space: &str,
    dir: &Path,
    take: &mut dyn FnMut(&[u8]) -> Result<(), KvError>,
) -> Result<Salvaged, KvError> {
    salvage_on(&Folders::of(dir), space, take)
}

pub(super) fn salvage_on(
    folders: &Folders,
    space: &str,
    take: &mut dyn FnMut(&[u8]) -> Result<(), KvError>,
) -> Result<Salvaged, KvError> {
    let mut salvaged = Salvaged::default();
    let failed = |error: io::Error| errors::file_error(space, "reading the damaged log", &error);
    let heads = heads(folders).map_err(failed)?;
    for (index, head) in heads.iter().enumerate() {
        let file = folders.log.open(&file_name(head.segment), true);
        let file = file.map_err(failed)?;
        // Rows that are stored elsewhere must not outlive the records they come from.
        file.sync().map_err(failed)?;
        let mut reader = Reader::new(file).map_err(failed)?;
        let extent = reader
            .records(head, |payload| {
                salvaged.payloads += 1;
                take(payload)
            })
            .map_err(|stop| match stop {
                Stop::Read(error) => failed(error),
                Stop::Taker(error) => error,
            })?;
        salvaged.end = Some((folders.log.path(&file_name(head.segment)), extent.end));
        let goes_on = heads
            .get(index + 1)
            .is_some_and(|next| leads_to(head, &extent, next));
        if !goes_on {
            break;
        }
    }
    Ok(salvaged)
}

/// Returns the heads of the space's own log, from the first segment needed to the last one before a
/// missing or damaged segment.
fn heads(folders: &Folders) -> io::Result<Vec<Head>> {
    let names = Survey::names(&*folders.log)?;
    let mark = mark::read(&*folders.beside)?;
    let first = match mark {
        MarkFile::Mark(mark) => mark.first,
        MarkFile::Absent | MarkFile::Empty => {
            let first = Survey::first_of_earlier_builds(&*folders.log, &names)?;
            first.unwrap_or_else(|| first_there(&names))
        }
        MarkFile::Damaged => first_there(&names),
    };
    let mut heads: Vec<Head> = Vec::new();
    for id in (first.0..).map(SegmentId) {
        let name = file_name(id);
        if !names.contains(&name) {
            break;
        }
        let head = Reader::new(folders.log.open(&name, false)?)?.head()?;
        let Some(head) = head.ok().filter(|head| head.segment == id) else {
            break;
        };
        let belongs = match (heads.first(), mark) {
            (Some(before), _) => head.log == before.log,
            (None, MarkFile::Mark(mark)) => head.log == mark.log && head.base == mark.flushed,
            (None, MarkFile::Absent | MarkFile::Empty | MarkFile::Damaged) => true,
        };
        if !belongs {
            break;
        }
        heads.push(head);
    }
    Ok(heads)
}

/// The first existing segment, for when no file names the first one needed: replaying flushed
/// segments again changes nothing.
fn first_there(names: &[String]) -> SegmentId {
    let ids = names.iter().filter_map(|name| format::segment_of(name));
    ids.min().unwrap_or(SegmentId(1))
}
