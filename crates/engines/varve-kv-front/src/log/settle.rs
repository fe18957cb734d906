//! Settles a log after it was read: reports the bytes after its end, copies them aside if they
//! contain records, and cuts them off. The rest is brought to stable storage.

use std::io;

use super::Active;
use super::ahead::Ahead;
use super::disk::{Disk, DiskFile};
use super::format::{Head, file_name};
use super::recover::End;

/// The size of the buffer for copying.
const COPY_BYTES: usize = 1 << 20;
/// A file with bytes that were cut off is named by the segment's name, this infix, and a number.
pub(super) const KEPT: &str = ".dropped-";

/// Logs a warning about lost and dropped bytes.
pub(super) fn warn_of_losses(
    disk: &dyn Disk,
    space: &str,
    segments: &[Head],
    end: &End,
    acknowledged: u64,
) {
    let behind = &end.behind;
    let position = segments[end.segment].position(end.offset);
    if acknowledged > position {
        let lost = acknowledged - position;
        tracing::warn!(
            "graph {space}: the log ends at position {position}, but writes up to position {acknowledged} were \
             acknowledged without a sync: the machine has lost {lost} bytes of them"
        );
    }
    if behind.bytes == 0 {
        return;
    }
    let head = &segments[end.segment];
    let kept = match behind.records {
        0 => "a write that was cut short, or damage to the last one".to_owned(),
        _ => format!("they are kept beside it in files with {KEPT} in their names"),
    };
    tracing::warn!(
        "graph {space}: the log {} ends at byte {} (position {}); {} bytes behind that are dropped, {} records \
         among them: {kept}",
        disk.path(&file_name(head.segment)).display(),
        end.offset,
        head.position(end.offset),
        behind.bytes,
        behind.records,
    );
}

/// Cuts the log after the records that were read, and brings these to stable storage.
pub(super) fn settle(disk: &dyn Disk, segments: &mut Vec<Head>, end: End) -> io::Result<Active> {
    if end.behind.records > 0 {
        keep(disk, &segments[end.segment..], end.offset)?;
    }
    // The last segment is removed first, and each removal is synced, so that a crash in between
    // leaves no gap.
    while segments.len() > end.segment + 1 {
        if let Some(head) = segments.pop() {
            disk.remove(&file_name(head.segment))?;
            disk.sync_names()?;
        }
    }
    let mut active = None;
    for (index, head) in segments.iter().enumerate() {
        let file = disk.open(&file_name(head.segment), true)?;
        let stop = if index == end.segment {
            file.cut(end.offset)?;
            end.offset
        } else {
            file.bytes()?
        };
        make_durable(&*file, head, end.durable, stop)?;
        active = Some(Active {
            head: *head,
            file,
            offset: stop,
            ahead: Ahead::none(stop, 0),
        });
    }
    active.ok_or_else(|| io::Error::other("a log that was read has no segment"))
}

/// Copies the bytes after the end of a log to files that the server never reads. The bytes contain
/// records, but the log cannot include them, since a record before them is lost.
fn keep(disk: &dyn Disk, segments: &[Head], offset: u64) -> io::Result<()> {
    let names = disk.list()?;
    let mut from = offset;
    for head in segments {
        let name = file_name(head.segment);
        let kept = (1u32..)
            .map(|n| format!("{name}{KEPT}{n}"))
            .find(|kept| !names.contains(kept))
            .expect("there are more names than files");
        let source = disk.open(&name, false)?;
        let target = disk.create(&kept)?;
        let to = source.bytes()?;
        copy(&*source, &*target, (from, to), from)?;
        target.sync()?;
        from = 0;
    }
    disk.sync_names()
}

/// Brings a segment's content up to the offset `stop` to stable storage. The bytes before the
/// position `known` are there already.
pub(super) fn make_durable(
    file: &dyn DiskFile,
    head: &Head,
    known: u64,
    stop: u64,
) -> io::Result<()> {
    let known = known.saturating_sub(head.base);
    write_again(file, head.bytes() + known, stop)?;
    file.sync()
}

/// Rewrites bytes. After a failed sync, the operating system may have them in memory only, but
/// count them as stored.
fn write_again(file: &dyn DiskFile, from: u64, to: u64) -> io::Result<()> {
    copy(file, file, (from, to), 0)
}

/// Copies a range of bytes. Their offset in the target is smaller by `moved`.
fn copy(
    source: &dyn DiskFile,
    target: &dyn DiskFile,
    (from, to): (u64, u64),
    moved: u64,
) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES.min(to.saturating_sub(from) as usize)];
    let mut at = from;
    while at < to {
        let wanted = buffer.len().min((to - at) as usize);
        let filled = source.read(&mut buffer[..wanted], at)?;
        if filled == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        target
            .write([&buffer[..filled], &[]], at - moved)
            .map_err(|(_, error)| error)?;
        at += filled as u64;
    }
    Ok(())
}
