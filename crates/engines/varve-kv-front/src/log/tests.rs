//! Tests of the log on a simulated disk that loses, tears, fills up and fails, and on a real one.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_kv::KvError;

use super::simulated::{Random, SimulatedDisk};
use super::{Folders, Log, LogOptions, Replaying, SegmentId, format};

mod damage;
mod histories;
mod identity;
mod real;

fn options(preallocate_bytes: u64, sync_on_rotate: bool) -> LogOptions {
    LogOptions {
        space: "s".to_owned(),
        preallocate_bytes,
        sync_on_rotate,
    }
}

/// The log and its mark in one directory.
fn folders(disk: &SimulatedDisk) -> Folders {
    Folders {
        log: Arc::new(disk.clone()),
        beside: Arc::new(disk.clone()),
    }
}

type Records = Vec<(SegmentId, Vec<u8>)>;

fn open(disk: &SimulatedDisk, options: LogOptions) -> Result<(Log, Records), KvError> {
    let mut records = Vec::new();
    let take = &mut |_: &Replaying<'_>, segment, payload: &[u8]| {
        records.push((segment, payload.to_vec()));
        Ok(())
    };
    let log = Log::open_on(folders(disk), options, take)?;
    Ok((log, records))
}

/// Opens the log, and makes it durable after this number of replayed records; `done` is set once it
/// is.
fn open_durably(
    disk: &SimulatedDisk,
    options: LogOptions,
    after: u64,
    done: &mut bool,
) -> Result<(Log, Records), KvError> {
    let mut records = Vec::new();
    let take = &mut |log: &Replaying<'_>, segment, payload: &[u8]| {
        if records.len() as u64 >= after {
            log.make_durable()?;
            *done = true;
        }
        records.push((segment, payload.to_vec()));
        Ok(())
    };
    let log = Log::open_on(folders(disk), options, take)?;
    Ok((log, records))
}

/// A payload that is distinguished from every other by its first 8 bytes.
fn payload(number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut bytes = number.to_be_bytes().to_vec();
    let length = match number % 5 {
        0 => 0,
        1..=3 => random.below(40),
        _ => random.below(700),
    };
    bytes.extend((0..length).map(|_| random.next() as u8));
    bytes
}

fn number_of(bytes: &[u8]) -> u64 {
    let number = bytes.first_chunk().expect("a payload has 8 bytes");
    u64::from_be_bytes(*number)
}

#[test]
fn what_was_appended_is_replayed_in_order_with_its_segment() {
    let disk = SimulatedDisk::default();
    let (mut log, records) = open(&disk, options(256, true)).expect("a new log");
    assert!(records.is_empty());
    let mut expected = Vec::new();
    for number in 0..60 {
        log.append(&payload(number)).expect("there is room");
        expected.push((SegmentId(number / 20 + 1), payload(number)));
        if number % 20 == 19 {
            assert_eq!(
                log.rotate().expect("a rotation"),
                SegmentId(number / 20 + 1)
            );
        }
    }
    let bytes = log.bytes();
    drop(log);
    let (log, records) = open(&disk, options(256, true)).expect("an old log");
    assert_eq!(records, expected);
    assert_eq!((log.active(), log.bytes()), (SegmentId(4), bytes));
    log.remove_through(SegmentId(2)).expect("a removal");
    assert!(log.remove_through(SegmentId(4)).is_err(), "it is in use");
    assert!(log.bytes() < bytes);
    drop(log);
    let (_, records) = open(&disk, options(256, true)).expect("an old log");
    assert_eq!(records, expected[40..]);
}

#[test]
fn an_empty_payload_is_a_record_too() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(0, true)).expect("a new log");
    log.append(&[]).expect("there is room");
    log.append(b"x").expect("there is room");
    let (_, records) = open(&disk, options(0, true)).expect("an old log");
    assert_eq!(
        records,
        [(SegmentId(1), vec![]), (SegmentId(1), b"x".to_vec())]
    );
}

#[test]
fn a_full_disk_stores_nothing_of_a_record_and_goes_on_when_there_is_room() {
    for ahead in [0, 64, 4096] {
        for room in 0..400 {
            let disk = SimulatedDisk::default();
            let (mut log, _) = open(&disk, options(ahead, true)).expect("a new log");
            log.append(&payload(1)).expect("there is room");
            disk.limit(Some(room));
            let mut expected = vec![payload(1)];
            for number in 2..20 {
                match log.append(&payload(number)) {
                    Ok(()) => expected.push(payload(number)),
                    Err(KvError::DiskFull { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                match log.rotate() {
                    Ok(_) | Err(KvError::DiskFull { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            log.sync().expect("a sync needs no room");
            disk.limit(None);
            log.append(&payload(20)).expect("there is room again");
            expected.push(payload(20));
            let bytes = log.bytes();
            let (log, records) = open(&disk, options(ahead, true)).expect("an old log");
            let records: Vec<Vec<u8>> = records.into_iter().map(|(_, payload)| payload).collect();
            assert_eq!((records, log.bytes()), (expected, bytes), "{ahead} {room}");
        }
    }
}

#[test]
fn after_a_failed_sync_nothing_is_taken_until_the_log_is_opened_again() {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(4096, true)).expect("a new log");
    log.append(&payload(1)).expect("there is room");
    log.sync().expect("a sync");
    log.append(&payload(2)).expect("there is room");
    disk.fail_syncs(1);
    assert!(matches!(log.sync(), Err(KvError::Io { .. })));
    for _ in 0..2 {
        let refused = log.append(&payload(3)).expect_err("broken").to_string();
        assert!(refused.contains("the disk is broken"), "{refused}");
        assert!(log.sync().is_err() && log.rotate().is_err());
    }
    // The next process sees the second record. From then on, a power loss must not remove it.
    let disk = disk.after_kill();
    let (mut log, records) = open(&disk, options(4096, true)).expect("an old log");
    assert_eq!(records.len(), 2);
    log.append(&payload(3)).expect("there is room");
    log.sync().expect("a sync");
    for seed in 0..20 {
        let disk = disk.after_power_loss(&mut Random::new(seed));
        let (_, records) = open(&disk, options(4096, true)).expect("an old log");
        assert_eq!(records.len(), 3);
    }
}

#[test]
fn what_a_replay_builds_on_is_kept_also_after_a_failed_sync() {
    for opened_durably in [false, true] {
        let disk = SimulatedDisk::default();
        let (mut log, _) = open(&disk, options(4096, false)).expect("a new log");
        for number in 0..30 {
            log.append(&payload(number)).expect("there is room");
            if number % 10 == 9 {
                log.rotate().expect("a rotation");
            }
        }
        disk.fail_syncs(4);
        assert!(log.sync().is_err());
        // The process ends, and the next one stops during the replay; then the power fails.
        let disk = disk.after_kill();
        let mut replayed = 0;
        let stops = &mut |log: &Replaying<'_>, _, _: &[u8]| {
            replayed += 1;
            if replayed == 5 {
                if opened_durably {
                    log.make_durable()?;
                }
                let space = "s".to_owned();
                let detail = "stopped".to_owned();
                return Err(KvError::Io { space, detail });
            }
            Ok(())
        };
        let opened = Log::open_on(folders(&disk), options(4096, false), stops);
        assert!(opened.is_err());
        let kept = (0..20).filter(|seed| {
            let disk = disk.after_power_loss(&mut Random::new(*seed));
            let opened = open(&disk, options(4096, false));
            opened.is_ok_and(|(_, records)| records.len() == 30)
        });
        assert_eq!(kept.count() == 20, opened_durably);
    }
}

#[test]
fn the_page_says_what_the_code_does() {
    let page = include_str!("../../../../../docs/storage-format.md");
    let section = page
        .split("\n## ")
        .find(|part| part.starts_with("The log in front"));
    let section = section.expect("a section about the log");
    let mut lacking = Vec::new();
    let mut says = |text: &str| {
        if !section.contains(text) {
            lacking.push(text.to_owned());
        }
    };
    says(&format!(
        "| 8 | `{}` |",
        String::from_utf8_lossy(format::MAGIC)
    ));
    says(&format!("| 4 | form of the log: {} |", format::FORMAT));
    says(&format!("{} bytes", format::HEAD_BYTES));
    says(&format!("{} bytes", format::HEAD_BYTES_WITHOUT_ID));
    says(&format!("{} bytes", format::RECORD_HEAD_BYTES));
    says(&format!("`{:02x}` a payload", format::KIND_PAYLOAD));
    says(&format!("`{:02x}` the end", format::KIND_END));
    says(&format!("`{}`", format::file_name(SegmentId(26))));
    says(&format!("`{}`", format::MARK_NAME));
    says(&format!("{} bytes", format::MARK_BYTES));
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let log = format::LogId(*b"sixteen letters.");
    let mark = format::Mark {
        in_use: true,
        log,
        session: 7,
        first: SegmentId(26),
        flushed: 1000,
        durable: 1026,
        acknowledged: 1026,
    };
    says(&format!("`{}`", hex(&mark.encode())));
    let head = format::Head {
        log,
        segment: SegmentId(26),
        base: 1000,
        durable: 900,
    };
    says(&format!("`{}`", hex(&head.encode())));
    let record = format::RecordHead::of(format::KIND_PAYLOAD, b"Varve", 5, 950);
    says(&format!(
        "`{}{}`",
        hex(&record.encode(&head, 1000)),
        hex(b"Varve")
    ));
    assert!(lacking.is_empty(), "the page lacks {lacking:#?}");
}

/// Returns how many bytes are written to the disk per byte of records, if this number of records is
/// synced together.
fn written_for_each_byte(records_a_sync: u64) -> f64 {
    let disk = SimulatedDisk::default();
    let (mut log, _) = open(&disk, options(1 << 20, true)).expect("a new log");
    let before = disk.written();
    for number in 0..1_600 {
        log.append(&[7; 4_000]).expect("there is room");
        if number % records_a_sync == records_a_sync - 1 {
            log.sync().expect("the disk works");
        }
        if number % 600 == 599 {
            log.rotate().expect("there is room");
        }
    }
    let expected = log.bytes();
    let written = (disk.written() - before) as f64 / expected as f64;
    drop(log);
    let (_, records) = open(&disk.after_kill(), options(0, true)).expect("an old log");
    assert_eq!(records.len(), 1_600);
    written
}

#[test]
fn room_is_filled_ahead_where_few_bytes_are_synced_at_once() {
    let often = written_for_each_byte(1);
    assert!((1.7..2.0).contains(&often), "{often}");
    let still_often = written_for_each_byte(15);
    assert!((1.6..2.0).contains(&still_often), "{still_often}");
    let seldom = written_for_each_byte(40);
    assert!((1.0..1.1).contains(&seldom), "{seldom}");
}
