//! Checks the logs of a space before RocksDB replays them.
//!
//! Two modes of RocksDB matter here. In one, the replay stops silently at the first bad record,
//! and loses acknowledged writes after it. In the other, it refuses every bad record, so it
//! does not start after a power loss tore the last one. This check distinguishes damage from a torn
//! end. If records can be read *after* the bad one, the damage is in the middle, and opening fails
//! with file and offset. If nothing follows, the bad record is the torn end of a write that was not
//! acknowledged as durable, and the replay ends there.
//!
//! A log is divided into blocks of 32 KiB. A block contains records: checksum (4 bytes, masked
//! CRC-32C of type and content), length (2), type (1), content. A write longer than the rest of its
//! block is divided into pieces: first, middle, last. Since a synchronous write waits for the one
//! before it, at most one such write at the end is not yet on disk. So after a bad record, middle
//! and last pieces do not count as following records: they may belong to the torn write. Buffered
//! writes do not wait. If a power loss leaves a gap between them, the check reports it as damage.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use varve_kv::KvError;

use crate::errors::{WHAT_TO_DO, file_error};

const BLOCK: usize = 32 << 10;
const HEADER: usize = 7;
const TYPE_MIDDLE: u8 = 3;
const TYPE_LAST: u8 = 4;
/// A constant of RocksDB's masking of checksums.
const MASK_DELTA: u32 = 0xA282_EAD8;

/// Checks all logs in a space's directory. The space may be open: a record that is being written
/// counts as a torn end.
///
/// # Errors
/// [`KvError::Corruption`] with the file and offset of damage that records follow; otherwise when a
/// log cannot be read.
pub(crate) fn check(space: &str, dir: &Path) -> Result<(), KvError> {
    let failed = |error: io::Error| file_error(space, "reading the log", &error);
    for path in logs(dir).map_err(failed)? {
        let file = match File::open(&path) {
            // RocksDB has removed the log meanwhile; it was no longer needed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            file => file.map_err(failed)?,
        };
        if let Some(offset) = damage(file).map_err(failed)? {
            return Err(KvError::Corruption {
                space: space.to_owned(),
                detail: format!(
                    "the log {} is damaged at byte {offset}, and more writes follow. {WHAT_TO_DO}",
                    path.display()
                ),
            });
        }
    }
    Ok(())
}

fn logs(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            logs.push(path);
        }
    }
    logs.sort_unstable();
    Ok(logs)
}

/// Returns the offset of the first damage if further writes follow it, else `None`.
fn damage(mut log: impl Read) -> io::Result<Option<u64>> {
    let mut block = vec![0; BLOCK];
    let mut start = 0u64;
    let mut bad: Option<u64> = None;
    loop {
        let filled = fill(&mut log, &mut block)?;
        let rest = &block[..filled];
        let mut at = 0;
        while at + HEADER <= rest.len() {
            match record(&rest[at..]) {
                Some((kind, length)) => {
                    let starts_a_write = kind != TYPE_MIDDLE && kind != TYPE_LAST;
                    if bad.is_some() && starts_a_write {
                        return Ok(bad);
                    }
                    at += length;
                }
                None => {
                    bad.get_or_insert(start + at as u64);
                    // The length may be damaged, so the next record may begin at any byte.
                    at += 1;
                }
            }
        }
        if filled < BLOCK {
            return Ok(None);
        }
        start += BLOCK as u64;
    }
}

fn fill(log: &mut impl Read, block: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < block.len() {
        match log.read(&mut block[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Returns the type and the length, with the header, of the record at the front of `bytes`, if its
/// checksum is right. `bytes` must have at least [`HEADER`] bytes. Zeros are not a record.
fn record(bytes: &[u8]) -> Option<(u8, usize)> {
    let length = usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
    let kind = bytes[6];
    if kind == 0 {
        return None;
    }
    let checked = bytes.get(HEADER - 1..HEADER + length)?;
    let stored = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let expected = stored.wrapping_sub(MASK_DELTA).rotate_left(15);
    (crc32c::crc32c(checked) == expected).then_some((kind, HEADER + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE_FULL: u8 = 1;
    const TYPE_FIRST: u8 = 2;

    fn piece(log: &mut Vec<u8>, kind: u8, content: &[u8]) {
        let mut checked = vec![kind];
        checked.extend_from_slice(content);
        let masked = crc32c::crc32c(&checked)
            .rotate_right(15)
            .wrapping_add(MASK_DELTA);
        log.extend_from_slice(&masked.to_le_bytes());
        log.extend_from_slice(&(content.len() as u16).to_le_bytes());
        log.extend_from_slice(&checked);
    }

    /// A log of writes, split into pieces as RocksDB does.
    fn log(writes: &[usize]) -> (Vec<u8>, Vec<usize>) {
        let (mut log, mut starts) = (Vec::new(), Vec::new());
        for (n, length) in writes.iter().enumerate() {
            let content = vec![n as u8 + 1; *length];
            let mut rest = &content[..];
            let mut first = true;
            loop {
                let left = BLOCK - log.len() % BLOCK;
                if left < HEADER {
                    log.resize(log.len() + left, 0);
                    continue;
                }
                if first {
                    starts.push(log.len());
                }
                let take = rest.len().min(left - HEADER);
                let last = take == rest.len();
                let kind = match (first, last) {
                    (true, true) => TYPE_FULL,
                    (true, false) => TYPE_FIRST,
                    (false, false) => TYPE_MIDDLE,
                    (false, true) => TYPE_LAST,
                };
                piece(&mut log, kind, &rest[..take]);
                rest = &rest[take..];
                first = false;
                if last {
                    break;
                }
            }
        }
        (log, starts)
    }

    const WRITES: [usize; 8] = [10, 300, 40_000, 5, 100_000, 32_000, 700, 90_000];

    #[test]
    fn a_sound_log_passes_wherever_it_ends() {
        let (log, _) = log(&WRITES);
        for end in (0..log.len()).step_by(971).chain([log.len()]) {
            assert_eq!(damage(&log[..end]).unwrap(), None, "cut at {end}");
        }
    }

    #[test]
    fn a_flipped_byte_is_found_unless_it_lies_in_the_last_write() {
        let (sound, starts) = log(&WRITES);
        let last = *starts.last().unwrap();
        for at in (0..sound.len()).step_by(997) {
            let mut log = sound.clone();
            log[at] ^= 0x20;
            let found = damage(&log[..]).unwrap();
            // The zeros that fill a block's end are part of no record.
            let filler = BLOCK - at % BLOCK < HEADER && sound[at] == 0;
            if at >= last {
                assert_eq!(found, None, "byte {at}");
            } else if !filler {
                let found = found.unwrap_or_else(|| panic!("byte {at} was not noticed"));
                assert!(found as usize <= at, "byte {at} was noticed at {found}");
                assert!(
                    at - (found as usize) < BLOCK,
                    "byte {at} was noticed at {found}"
                );
            }
        }
    }

    #[test]
    fn a_page_of_zeros_is_found_and_a_torn_end_is_not_damage() {
        let (sound, starts) = log(&WRITES);
        let last = *starts.last().unwrap();
        for at in (0..sound.len() - 4096).step_by(4096) {
            let mut log = sound.clone();
            log[at..at + 4096].fill(0);
            let found = damage(&log[..]).unwrap();
            // Without the start of the last write, nothing shows that the page had more than its
            // pieces.
            assert_eq!(found.is_some(), at + 4096 <= last, "page at {at}");
        }
        let mut torn = sound[..last + 50_000].to_vec();
        let end = torn.len();
        torn[end - 4096..].fill(0xA5);
        assert_eq!(damage(&torn[..]).unwrap(), None);
    }
}
