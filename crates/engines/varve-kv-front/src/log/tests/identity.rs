//! Logs of another space or an older time, writes that were acknowledged without a sync, and
//! recovery from damage.

use super::super::salvage::salvage_on;
use super::super::settle::KEPT;
use super::*;

type Files = BTreeMap<String, Vec<u8>>;

/// Appends these records, each acknowledged before it is synced.
fn acknowledged(log: &mut Log, numbers: std::ops::Range<u64>) {
    for number in numbers {
        log.append(&[&payload(number)[..], &[7; 60]].concat())
            .expect("there is room");
        log.acknowledge();
    }
    log.syncer().note();
}

fn refusal(disk: &SimulatedDisk) -> String {
    let files = disk.files();
    let verified = Log::verify_on(&folders(disk), "s").expect_err("verify finds it");
    let refused = open(disk, options(0, false)).expect_err("it is refused");
    assert!(matches!(refused, KvError::Corruption { .. }), "{refused}");
    assert_eq!(verified.to_string(), refused.to_string());
    assert_eq!(disk.files(), files, "a refusal changes nothing");
    let message = refused.to_string();
    assert!(message.contains("recover-log"), "{message}");
    message
}

fn first_segment() -> String {
    format::file_name(SegmentId(1))
}

/// Damages a log of 100 records in several ways; returns each result with a description.
fn damages(files: &Files, end: usize) -> Vec<(Files, &'static str)> {
    type Damage = fn(&mut Vec<u8>, usize);
    let ways: [(Damage, &str); 4] = [
        (|content, end| content.truncate(end / 2), "cut"),
        (|content, end| content[end / 2..].fill(0), "zeroed"),
        (|content, end| content[end / 2] ^= 1, "flipped"),
        (|content, end| content[end - 1] ^= 1, "flipped at the end"),
    ];
    let damage = |(way, name): &(Damage, &'static str)| {
        let mut files = files.clone();
        way(files.get_mut(&first_segment()).expect("it is there"), end);
        (files, *name)
    };
    ways.iter().map(damage).collect()
}

#[test]
fn while_the_machine_stays_up_nothing_that_was_acknowledged_may_be_missing() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(4096, false)).expect("a new log");
    acknowledged(&mut log, 0..100);
    let end = format::HEAD_BYTES + log.bytes() as usize;
    let files = disk.after_kill().files();
    for (files, way) in damages(&files, end) {
        let message = refusal(&SimulatedDisk::with(&files));
        assert!(message.contains(&first_segment()), "{way}: {message}");
    }
}

#[test]
fn after_a_power_loss_a_log_that_was_not_synced_ends_early_and_records_behind_are_kept() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(4096, false)).expect("a new log");
    acknowledged(&mut log, 0..100);
    let end = format::HEAD_BYTES + log.bytes() as usize;
    for (files, way) in damages(&disk.after_kill().files(), end) {
        let disk = SimulatedDisk::with(&files).after_power_loss(&mut Random::new(0));
        Log::verify_on(&folders(&disk), "s").expect("nothing is known to lack");
        let (_, records) = open(&disk, options(4096, false)).expect("it starts");
        assert!((40..100).contains(&records.len()), "{way}");
        let kept: Vec<_> = disk
            .files()
            .into_iter()
            .filter(|(name, _)| name.contains(KEPT))
            .collect();
        match way {
            "flipped" => {
                let dropped = &files[&first_segment()];
                assert!(dropped.ends_with(&kept[0].1), "the rest of the file");
                assert!(kept[0].1.len() > end / 2 - 800);
            }
            _ => assert!(kept.is_empty(), "{way}"),
        }
    }
}

#[test]
fn the_log_of_another_space_is_refused() {
    let logs: Vec<Files> = (0..2)
        .map(|_| {
            let disk = SimulatedDisk::default();
            let (mut log, _) = open(&disk, options(0, true)).expect("a new log");
            log.append(b"the same").expect("there is room");
            log.sync().expect("a sync");
            disk.files()
        })
        .collect();
    let mut swapped = logs[0].clone();
    swapped.insert(first_segment(), logs[1][&first_segment()].clone());
    let message = refusal(&SimulatedDisk::with(&swapped));
    assert!(message.contains("not of this graph's log"), "{message}");
    // Records of another log are refused even after the right head.
    let (own, foreign) = (&logs[0][&first_segment()], &logs[1][&first_segment()]);
    let head = format::HEAD_BYTES;
    let mixed = [&own[..head], &foreign[head..]].concat();
    swapped.insert(first_segment(), mixed);
    refusal(&SimulatedDisk::with(&swapped));
}

#[test]
fn an_older_log_and_a_log_over_older_files_are_refused() {
    for (sync_on_rotate, power_loss) in [(true, false), (false, true)] {
        let disk = SimulatedDisk::default();
        let (mut log, _) = open(&disk, options(0, sync_on_rotate)).expect("a new log");
        acknowledged(&mut log, 0..5);
        log.sync().expect("a sync");
        let older = disk.files();
        log.rotate().expect("a rotation");
        acknowledged(&mut log, 5..9);
        log.sync().expect("a sync");
        log.remove_through(SegmentId(1)).expect("a removal");
        let newer = disk.files();
        for (log, mark, message) in [
            (&older, &newer, "older log"),
            (&newer, &older, "is missing"),
        ] {
            let mut mixed = log.clone();
            let mark = mark[format::MARK_NAME].clone();
            mixed.insert(format::MARK_NAME.to_owned(), mark);
            let mut disk = SimulatedDisk::with(&mixed);
            if power_loss {
                disk = disk.after_power_loss(&mut Random::new(1));
            }
            let refused = refusal(&disk);
            assert!(refused.contains(message), "{refused}");
        }
    }
}

#[test]
fn what_lies_before_the_damage_of_a_refused_log_is_salvaged() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(128, true)).expect("a new log");
    for number in 0..9 {
        log.append(&payload(number)).expect("there is room");
        log.sync().expect("a sync");
        if number % 3 == 2 && number < 8 {
            log.rotate().expect("a rotation");
        }
    }
    let (files, expected) = (disk.files(), (0..9).map(payload).collect::<Vec<_>>());
    let salvaged = |files: &Files| {
        let mut payloads: Vec<Vec<u8>> = Vec::new();
        let disk = SimulatedDisk::with(files);
        let said = salvage_on(&folders(&disk), "s", &mut |payload| {
            payloads.push(payload.to_vec());
            Ok(())
        });
        assert_eq!(said.expect("it is read").payloads, payloads.len() as u64);
        payloads
    };
    assert_eq!(salvaged(&files), expected);
    for (name, content) in &files {
        for at in 0..content.len() {
            let mut damaged = files.clone();
            damaged.get_mut(name).expect("it is there")[at] ^= 0x20;
            assert!(expected.starts_with(&salvaged(&damaged)), "{name} {at}");
        }
    }
    let mut foreign = files.clone();
    let mark = format::Mark::of_new_log(1).encode();
    foreign.insert(format::MARK_NAME.to_owned(), mark);
    assert!(salvaged(&foreign).is_empty(), "another log");
}

/// Returns the same log in format 1.
fn of_an_earlier_build(files: &Files) -> Files {
    let mut earlier: Files = [(format::MARK_NAME.to_owned(), Vec::new())].into();
    for (name, content) in files {
        if format::segment_of(name).is_none() {
            continue;
        }
        let head = format::Head::decode(content).expect("a sound head");
        let without = format::Head {
            log: format::LogId::NONE,
            ..head
        };
        let mut bytes = without.encode();
        let mut at = format::HEAD_BYTES;
        while let Some(rest) = content.get(at..).filter(|rest| rest.len() >= 21) {
            let position = head.position(at as u64);
            let Some(record) = format::RecordHead::decode(rest, &head, position) else {
                break;
            };
            let length = record.record_bytes() as usize;
            bytes.extend(record.encode(&without, position));
            bytes.extend(&rest[format::RECORD_HEAD_BYTES..length]);
            at += length;
        }
        earlier.insert(name.clone(), bytes);
    }
    earlier
}

#[test]
fn a_log_of_an_earlier_build_is_read_and_refused_beside_a_mark() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(0, true)).expect("a new log");
    acknowledged(&mut log, 0..5);
    log.rotate().expect("a rotation");
    acknowledged(&mut log, 5..9);
    log.sync().expect("a sync");
    let files = disk.files();
    let earlier = of_an_earlier_build(&files);
    let disk = SimulatedDisk::with(&earlier);
    let (mut log, records) = open(&disk, options(0, true)).expect("an old log");
    assert_eq!(records.len(), 9);
    log.append(b"goes on until it is flushed").expect("room");
    log.rotate().expect("a rotation");
    drop(log);
    let (_, records) = open(&disk, options(0, true)).expect("an old log");
    assert_eq!(records.len(), 10);
    let mut beside = earlier.clone();
    let mark = files[format::MARK_NAME].clone();
    beside.insert(format::MARK_NAME.to_owned(), mark);
    refusal(&SimulatedDisk::with(&beside));
    let mut without_mark = files.clone();
    without_mark.insert(format::MARK_NAME.to_owned(), Vec::new());
    let message = refusal(&SimulatedDisk::with(&without_mark));
    assert!(message.contains("missing or empty"), "{message}");
}
