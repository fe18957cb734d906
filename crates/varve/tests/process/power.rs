//! The machine loses power, or the server is killed, while the server is written to, again and
//! again, also while it starts. What it acknowledged must be there. In some rounds the end of the
//! log is damaged, too: that is refused or reported.
//!
//! `VARVE_POWER_ROUNDS` says how often (default 4), `VARVE_CRASH_SEED` repeats a run; the seed is
//! printed. Skipped where there are no loop devices, and for users other than root.

mod disk;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::acknowledged::{Random, SCHEMA, Writer};
use crate::log_damage::{SEGMENT_HEAD_BYTES, copy, last_segment, refused};
use crate::seeds::{number_from, seed};
use crate::server::{Client, ServerProcess, VARVE, run, shown};
use disk::Disk;

/// Set in the process that has mounts of its own.
const CHILD: &str = "VARVE_POWER_CHILD";
const WRITERS: usize = 4;
/// The longest that a server lives, and that it lives when it may not come to its start's end.
const LIFE_MS_MAX: u64 = 1000;
const START_MS_MAX: u64 = 300;
const CONFIRM_DROP: &str = "confirm_message=I%27m+sure+to+drop+the+graph";
/// Bytes before the end of the log that are damaged.
const TAIL_BYTES: u64 = 16 << 10;

#[test]
fn power_cuts_lose_nothing_that_was_acknowledged() {
    if let Some(missing) = disk::missing() {
        println!("skipped: {missing}");
        return;
    }
    // The mounts end with the process, however it ends.
    let status = Command::new("unshare")
        .arg("--mount")
        .arg(std::env::current_exe().expect("this program"))
        .args(["power::child_with_mounts", "--exact", "--nocapture"])
        .env(CHILD, "1")
        .status();
    assert!(status.expect("unshare is there").success());
}

/// Run by the test above, in a process with mounts of its own.
#[test]
fn child_with_mounts() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let rounds = number_from("VARVE_POWER_ROUNDS").unwrap_or(4);
    let seed = seed();
    println!("VARVE_CRASH_SEED={seed} VARVE_POWER_ROUNDS={rounds}");
    let mut rig = Rig::new(seed);
    let mut acknowledged: u64 = 0;
    for round in 0..rounds {
        rig.write_until_the_end();
        rig.end_while_it_starts();
        let damage = rig.damage();
        rig.check();
        acknowledged = rig.writers.iter().map(|writer| writer.acknowledged).sum();
        println!(
            "round {}: {} cuts, {} kills, {acknowledged} writes acknowledged, all there; {damage}",
            round + 1,
            rig.cuts,
            rig.kills
        );
    }
    // A single round may end before its first write.
    assert!(acknowledged > 0, "nothing was written");
}

struct Rig {
    disk: Disk,
    random: Random,
    writers: Vec<Writer>,
    graphs: Graphs,
    cuts: u32,
    kills: u32,
}

/// Graphs that come and go: whether each that was acknowledged is there.
#[derive(Default)]
struct Graphs {
    are_there: BTreeMap<String, bool>,
    next: u32,
}

impl Graphs {
    fn change(&mut self, client: Client, go_on: &dyn Fn() -> bool) {
        while go_on() {
            self.next += 1;
            let name = format!("g{}", self.next);
            let path = format!("/graphs/{name}");
            let dropped = format!("{path}?{CONFIRM_DROP}");
            let done = |answer| matches!(answer, Some((200..=299, _)));
            if !done(client.try_ask("POST", &path, "{}")) {
                return;
            }
            if self.next.is_multiple_of(2) {
                self.are_there.insert(name, true);
            } else if done(client.try_ask("DELETE", &dropped, "")) {
                self.are_there.insert(name, false);
            }
        }
    }

    /// What was made is there, and what was dropped is not. All are dropped then, also those of
    /// which it is not known whether they were made.
    fn check(&mut self, server: &ServerProcess) {
        let listed = server.must("GET", "/graphs", "");
        let names = listed["graphs"].as_array().expect("a list");
        for (name, is_there) in std::mem::take(&mut self.are_there) {
            let found = names.iter().any(|listed| *listed == name);
            assert_eq!(found, is_there, "{name} in {listed}");
        }
        for name in names.iter().filter_map(serde_json::Value::as_str) {
            if name != "hugegraph" {
                server.must("DELETE", &format!("/graphs/{name}?{CONFIRM_DROP}"), "");
            }
        }
    }
}

/// A server whose tables are so small that it writes files all the time.
fn serve(data: &Path) -> Command {
    let mut command = Command::new(VARVE);
    command.arg("serve").arg("--data-dir").arg(data);
    command.args(["--set", "storage.memory_mib=256"]);
    command.args(["--set", "storage.front_table_bytes=100000"]);
    command
}

impl Rig {
    fn new(seed: u64) -> Self {
        let disk = Disk::new();
        let server = ServerProcess::start(&mut serve(&disk.path().join("data")));
        for (kind, body) in SCHEMA {
            server.must("POST", &format!("/graphs/hugegraph/schema/{kind}"), body);
        }
        drop(server);
        let writer = |at: usize| {
            let mut writer = Writer::new(&format!("w{at}"), seed.wrapping_add(at as u64 * 977));
            // Without its disk the server refuses, or does not know what became of a write.
            writer.tolerated = &[507];
            writer.unknown = &[500];
            writer
        };
        Self {
            disk,
            random: Random::new(seed),
            writers: (0..WRITERS).map(writer).collect(),
            graphs: Graphs::default(),
            cuts: 0,
            kills: 0,
        }
    }

    fn data(&self) -> std::path::PathBuf {
        self.disk.path().join("data")
    }

    /// Writers write until the power is cut or the server is killed.
    fn write_until_the_end(&mut self) {
        let server = ServerProcess::start(&mut serve(&self.data()));
        let life = Duration::from_millis(self.random.below(LIFE_MS_MAX) + 1);
        let by_power = self.random.below(4) > 0;
        let over = AtomicBool::new(false);
        let go_on = || !over.load(Ordering::Relaxed);
        thread::scope(|scope| {
            for writer in &mut self.writers {
                let (client, go_on) = (server.client(), &go_on);
                scope.spawn(move || writer.run(&client, go_on));
            }
            let (client, graphs) = (server.client(), &mut self.graphs);
            scope.spawn(|| graphs.change(client, &go_on));
            // The moment of the end is what is random here; nothing waits for anything.
            thread::sleep(life);
            if by_power {
                self.disk.cut(&mut self.random);
                // What the server says without its disk counts, too.
                thread::sleep(Duration::from_millis(self.random.below(50)));
            }
            over.store(true, Ordering::Relaxed);
            server.kill();
        });
        self.count(by_power);
        self.disk.restart(&mut self.random);
    }

    fn count(&mut self, by_power: bool) {
        *(if by_power {
            &mut self.cuts
        } else {
            &mut self.kills
        }) += 1;
    }

    /// In some rounds the power is cut once more while the server reads its log.
    fn end_while_it_starts(&mut self) {
        if self.random.below(2) > 0 {
            return;
        }
        let mut server = serve(&self.data())
            .args(["--listen", "127.0.0.1:0"])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .expect("the binary starts");
        thread::sleep(Duration::from_millis(self.random.below(START_MS_MAX)));
        self.disk.cut(&mut self.random);
        let _ = server.kill();
        let _ = server.wait();
        self.count(true);
        self.disk.restart(&mut self.random);
    }

    /// In some rounds the end of the log in a copy of the data is damaged: that is refused, or it
    /// reads what is dropped. Returns what happened.
    fn damage(&mut self) -> String {
        let first = SEGMENT_HEAD_BYTES;
        let (_, sound, end) = last_segment(&self.data(), "hugegraph");
        let kind = self.random.below(6);
        if kind >= 4 || end == first {
            return "no damage".to_owned();
        }
        let tail = self.random.below(TAIL_BYTES.min((end - first) as u64)) as usize;
        let at = end - 1 - tail;
        let mut damaged = sound.clone();
        match kind {
            0 => damaged.truncate(at),
            1 => damaged[at..].fill(0),
            2 => damaged[at] ^= 1 << self.random.below(8),
            _ => damaged[at..(at + 512).min(sound.len())].fill(0xA5),
        }
        if damaged == sound {
            return "no damage".to_owned();
        }
        let image = self.disk.beside();
        copy(&self.data(), &image);
        let (path, ..) = last_segment(&image, "hugegraph");
        fs::write(&path, &damaged).expect("it can be written");
        let (code, said) = run(&["verify", "--data-dir", shown(&image)]);
        let what = format!("damage {kind} of byte {at} of {end}");
        let is_refused = code != 0;
        if is_refused {
            refused(&image, "sync");
            let kept = fs::read(&path).expect("it can be read");
            assert!(kept == damaged, "{what}: a refusal changes nothing");
        } else {
            assert!(said.contains("dropped"), "{what}: {said}");
        }
        fs::remove_dir_all(&image).expect("it is there");
        format!("{what} {}", if is_refused { "refused" } else { "reported" })
    }

    /// Everything that was acknowledged is there, and the store is whole.
    fn check(&mut self) {
        let server = ServerProcess::start(&mut serve(&self.data()));
        thread::scope(|scope| {
            for writer in &mut self.writers {
                let client = server.client();
                scope.spawn(move || writer.check(&client));
            }
        });
        self.graphs.check(&server);
        server.kill();
        let (code, said) = run(&["verify", "--data-dir", shown(&self.data())]);
        assert!(code == 0 && said.contains("0 problems"), "{said}");
    }
}
