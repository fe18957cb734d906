//! The server is killed while it is written to, again and again; what it acknowledged must be
//! there. In some rounds the log is damaged behind its end, which costs nothing, or before it,
//! which is refused.
//!
//! `VARVE_CRASH_ROUNDS` says how often (default 5), `VARVE_CRASH_SEED` repeats a run; the seed is
//! printed.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::acknowledged::{Random, SCHEMA, Writer};
use crate::log_damage::{copy, last_segment};
use crate::seeds::{number_from, seed};
use crate::server::{run, serve_on, shown};

/// Concurrent writers.
const WRITERS: usize = 4;
/// The longest that a server lives, in milliseconds.
const LIFE_MS_MAX: u64 = 1500;

/// Writes behind the last record what a torn write might leave.
fn append_garbage(data: &Path, random: &mut Random) {
    let (path, mut content, end) = last_segment(data, "hugegraph");
    content.resize(content.len().max(end + 300), 0);
    let length = 1 + random.below(300) as usize;
    content[end..end + length].fill(1 + random.below(255) as u8);
    std::fs::write(path, content).expect("it can be written");
}

/// Damages a copy of the data well before the log's end, where everything had been synced.
fn damaged_copy_is_refused(data: &Path, random: &mut Random) {
    let (_, content, end) = last_segment(data, "hugegraph");
    // The last record may not be synced; it is smaller than half of so much.
    if end < 30_000 {
        return;
    }
    let image = tempfile::tempdir().expect("a temporary folder");
    copy(data, image.path());
    let at = random.below(end as u64 / 2) as usize;
    let mut damaged = content;
    match random.below(3) {
        0 => damaged.truncate(at),
        1 => damaged[at..].fill(0),
        _ => damaged[at] ^= 1 << random.below(8),
    }
    let (path, ..) = last_segment(image.path(), "hugegraph");
    std::fs::write(&path, &damaged).expect("it can be written");
    let (code, text) = run(&["verify", "--data-dir", shown(image.path())]);
    assert!(
        code != 0 && text.contains("recover-log"),
        "byte {at}: {text}"
    );
    let kept = std::fs::read(&path).expect("it can be read");
    assert!(kept == damaged, "byte {at}: a refusal changes nothing");
}

#[test]
fn what_was_acknowledged_survives_being_killed() {
    let rounds = number_from("VARVE_CRASH_ROUNDS").unwrap_or(5);
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed} VARVE_CRASH_ROUNDS={rounds}");
    let mut random = Random::new(seed);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let mut writers: Vec<Writer> = (0..WRITERS)
        .map(|at| Writer::new(&format!("w{at}"), seed.wrapping_add(at as u64 * 977)))
        .collect();
    let server = serve_on(&data);
    for (kind, body) in SCHEMA {
        server.must("POST", &format!("/graphs/hugegraph/schema/{kind}"), body);
    }
    drop(server);
    for round in 0..rounds {
        let server = serve_on(&data);
        let client = server.client();
        thread::scope(|scope| {
            for writer in &mut writers {
                let client = server.client();
                scope.spawn(move || writer.run(&client, &|| true));
            }
            // The moment of the kill is what is random here; nothing waits for anything.
            thread::sleep(Duration::from_millis(random.below(LIFE_MS_MAX) + 1));
            server.kill();
        });
        drop(client);
        match random.below(3) {
            0 => append_garbage(&data, &mut random),
            1 => damaged_copy_is_refused(&data, &mut random),
            _ => {}
        }
        let server = serve_on(&data);
        thread::scope(|scope| {
            for writer in &mut writers {
                let client = server.client();
                scope.spawn(move || writer.check(&client));
            }
        });
        // Killed again at rest: recovery of a recovered store.
        server.kill();
        let (code, text) = run(&["verify", "--data-dir", shown(&data)]);
        assert!(
            code == 0 && text.contains("0 problems"),
            "round {round}: {text}"
        );
        let acknowledged: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
        println!(
            "round {}: {acknowledged} writes acknowledged so far, all there",
            round + 1
        );
    }
    let acknowledged: u64 = writers.iter().map(|writer| writer.acknowledged).sum();
    assert!(acknowledged > 0, "nothing was written");
}
