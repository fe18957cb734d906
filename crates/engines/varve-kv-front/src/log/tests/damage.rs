//! Damaged and missing files, and files that never were a log.

use super::*;

/// Creates a log of three segments; returns its files and records. Each record was synced before
/// the next was written.
fn small_log() -> (BTreeMap<String, Vec<u8>>, Records) {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(128, true)).expect("a new log");
    for number in 0..9 {
        log.append(&payload(number)).expect("there is room");
        log.sync().expect("a sync");
        if number % 3 == 2 && number < 8 {
            log.rotate().expect("a rotation");
        }
    }
    let files = disk.files();
    let (_, records) = open(&disk, options(0, true)).expect("an old log");
    assert_eq!((files.len(), records.len()), (4, 9));
    (files, records)
}

/// Opens a copy; returns `None` if it is refused as damaged. Verification gives the same result and
/// changes nothing.
fn reopened(files: &BTreeMap<String, Vec<u8>>) -> Option<Records> {
    let disk = SimulatedDisk::with(files);
    let verified = Log::verify_on(&folders(&disk), "s");
    assert_eq!(&disk.files(), files, "verifying changes nothing");
    match open(&disk, options(0, true)) {
        Ok((mut log, records)) => {
            assert!(verified.is_ok(), "{verified:?}");
            log.append(b"and it goes on").expect("there is room");
            drop(log);
            let (_, again) = open(&disk, options(0, true)).expect("an old log");
            assert_eq!(again.len(), records.len() + 1);
            Some(records)
        }
        Err(KvError::Corruption { detail, .. }) => {
            assert!(detail.contains("backup"), "{detail}");
            assert!(verified.is_err(), "{detail}");
            assert_eq!(&disk.files(), files, "a refusal changes nothing");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn last_segment(files: &BTreeMap<String, Vec<u8>>) -> String {
    format::file_name(SegmentId(files.len() as u64 - 1))
}

/// Whether this byte is in the record that closes a segment.
fn in_mark(name: &str, last: &str, content: &[u8], at: usize) -> bool {
    let is_closed = name != last && format::segment_of(name).is_some();
    is_closed && at + format::RECORD_HEAD_BYTES >= content.len()
}

#[test]
fn every_flipped_bit_of_a_record_is_refused() {
    let (files, records) = small_log();
    let last = last_segment(&files);
    for (name, content) in &files {
        for at in 0..content.len() {
            for bit in [0x01, 0x80] {
                let mut damaged = files.clone();
                damaged.get_mut(name).expect("it is there")[at] ^= bit;
                match reopened(&damaged) {
                    None => {}
                    Some(found) if found == records => {
                        // Bytes that were allocated and never written, and a closing record whose
                        // segment has a successor, may be damaged without an effect.
                        let unwritten = content[at] == 0 && *name == last;
                        assert!(
                            unwritten || in_mark(name, &last, content, at),
                            "{name} {at}"
                        );
                    }
                    Some(found) => panic!("{name} {at}: {} records", found.len()),
                }
            }
        }
    }
}

#[test]
fn every_length_of_every_file_is_refused_or_costs_nothing() {
    let (files, records) = small_log();
    let last = last_segment(&files);
    for (name, content) in &files {
        for length in 0..content.len() {
            let mut shorter = files.clone();
            shorter.get_mut(name).expect("it is there").truncate(length);
            let Some(found) = reopened(&shorter) else {
                continue;
            };
            let harmless = *name == last || in_mark(name, &last, content, length);
            assert!(harmless, "{name} {length}");
            assert_eq!(found, records, "{name} {length}");
        }
    }
}

#[test]
fn a_missing_file_is_refused() {
    let (files, _) = small_log();
    for name in files.keys() {
        let mut fewer = files.clone();
        fewer.remove(name);
        assert_eq!(reopened(&fewer), None, "{name}");
    }
    let mut only = files.clone();
    only.retain(|name, _| name == format::MARK_NAME);
    assert_eq!(reopened(&only), None, "all segments are gone");
}

/// The process was killed, so no synced byte can be missing: damage to the end is reported with its
/// offset and the number of missing bytes.
#[test]
fn an_end_that_was_synced_and_is_cut_zeroed_or_flipped_is_refused() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(4096, false)).expect("a new log");
    for number in 0..200 {
        log.append(&[number; 50]).expect("there is room");
        log.sync().expect("a sync");
    }
    let name = format::file_name(SegmentId(1));
    let end = format::HEAD_BYTES + log.bytes() as usize;
    let whole = disk.after_kill().files();
    assert_eq!(reopened(&whole).map(|records| records.len()), Some(200));
    type Damage = fn(&mut Vec<u8>, usize);
    let damages: [Damage; 4] = [
        |content, end| content.truncate(end / 2),
        |content, end| content.truncate(end - 1),
        |content, end| content[end / 2..].fill(0),
        |content, end| content[end - 1] ^= 4,
    ];
    for damage in damages {
        let mut files = whole.clone();
        damage(files.get_mut(&name).expect("it is there"), end);
        assert_eq!(reopened(&files), None);
        let error =
            Log::verify_on(&folders(&SimulatedDisk::with(&files)), "s").expect_err("damage");
        let message = error.to_string();
        assert!(
            message.contains(&name) && message.contains("more bytes"),
            "{message}"
        );
    }
}

#[test]
fn a_segment_of_another_log_or_place_is_refused() {
    let (files, _) = small_log();
    let (first, second) = (
        format::file_name(SegmentId(1)),
        format::file_name(SegmentId(2)),
    );
    let mut swapped = files.clone();
    swapped.insert(first, files[&second].clone());
    assert_eq!(reopened(&swapped), None);
    let mut newer = files.clone();
    let head = newer.get_mut(&second).expect("it is there");
    head[11] = 9;
    let sum = crc32c::crc32c(&head[..36]);
    head[36..40].copy_from_slice(&sum.to_be_bytes());
    let refused = open(&SimulatedDisk::with(&newer), options(0, true));
    let text = refused.expect_err("a form to come").to_string();
    assert!(text.contains("form 9"), "{text}");
}

#[test]
fn damage_is_reported_with_file_and_place() {
    let (mut files, _) = small_log();
    let name = format::file_name(SegmentId(2));
    files.get_mut(&name).expect("it is there")[format::HEAD_BYTES + 3] ^= 1;
    let error = open(&SimulatedDisk::with(&files), options(0, true)).expect_err("damage");
    let message = error.to_string();
    assert!(
        message.contains(&name) && message.contains("byte 60"),
        "{message}"
    );
}

/// Whatever the bytes are, reading ends without a panic, and returns no payload that was not
/// written there.
#[test]
fn fuzzed_logs_are_read_or_refused() {
    let rounds = std::env::var("VARVE_FUZZ_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(20_000);
    let (files, records) = small_log();
    for seed in 0..rounds {
        let mut random = Random::new(seed);
        let mut fuzzed = files.clone();
        for _ in 0..=random.below(3) {
            damage(&mut fuzzed, &mut random);
        }
        let disk = SimulatedDisk::with(&fuzzed);
        if let Ok((_, found)) = open(&disk, options(0, true)) {
            let known = found.iter().all(|record| records.contains(record));
            assert!(known && found.len() <= records.len(), "seed {seed}");
        }
    }
}

fn damage(files: &mut BTreeMap<String, Vec<u8>>, random: &mut Random) {
    let names: Vec<String> = files.keys().cloned().collect();
    let Some(name) = names.get(random.below(names.len().max(1) as u64) as usize) else {
        return;
    };
    let content = files.get_mut(name).expect("it is there");
    let length = content.len().max(1) as u64;
    let at = random.below(length) as usize;
    let end = content.len().min(at + random.below(64) as usize);
    match random.below(8) {
        0 => content.truncate(at),
        1 => content.extend((0..random.below(300)).map(|_| random.clone().next() as u8)),
        2 => {
            let moved = content[end.min(at)..].to_vec();
            content.truncate(at);
            content.extend(moved);
        }
        3 => {
            let repeated = content[at.min(end)..end].to_vec();
            content.splice(at.min(end)..at.min(end), repeated);
        }
        4 => {
            files.remove(name);
        }
        5 => {
            let copy = content.clone();
            files.insert(format::file_name(SegmentId(random.below(6))), copy);
        }
        6 => content[at.min(end)..end].fill(random.next() as u8),
        _ => content[at.min(end)..end]
            .iter_mut()
            .for_each(|byte| *byte = random.next() as u8),
    }
}
