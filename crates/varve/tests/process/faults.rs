//! SIGTERM under load, a full disk, and no file handles left.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::acknowledged::{SCHEMA, Writer};
use crate::server::{Client, ServerProcess, VARVE, run, serve_on, shown};

fn create_schema(server: &ServerProcess) {
    for (kind, body) in SCHEMA {
        server.must("POST", &format!("/graphs/hugegraph/schema/{kind}"), body);
    }
}

/// Waits until the writers have done something, so that what follows happens under load.
fn wait_for(count: &AtomicU64, least: u64) {
    let started = Instant::now();
    while count.load(Ordering::Relaxed) < least {
        assert!(started.elapsed() < Duration::from_secs(60), "no writes");
        thread::yield_now();
    }
}

#[test]
fn a_stop_under_load_answers_what_is_in_work() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_on(dir.path());
    create_schema(&server);
    let steps = AtomicU64::new(0);
    let mut writers = [Writer::new("a", 1), Writer::new("b", 2)];
    let (status, took) = thread::scope(|scope| {
        for writer in &mut writers {
            let (client, steps) = (server.client(), &steps);
            scope.spawn(move || {
                writer.run(&client, &|| {
                    steps.fetch_add(1, Ordering::Relaxed);
                    true
                });
            });
        }
        wait_for(&steps, 50);
        server.terminate()
    });
    assert!(status.success(), "{status}");
    // `shutdown_timeout_ms` and the closing of the data, many times over.
    assert!(took < Duration::from_secs(30), "{took:?}");
    let server = serve_on(dir.path());
    for writer in &mut writers {
        writer.check(&server.client());
    }
}

/// A small file system in memory, unmounted at the end.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// `None` where this process may not mount.
    fn mount(path: &'a Path, size: &str) -> Option<Self> {
        std::fs::create_dir_all(path).expect("a folder");
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs", shown(path)])
            .output();
        mounted
            .is_ok_and(|output| output.status.success())
            .then_some(Self(path))
    }

    fn grow(&self, size: &str) {
        let options = format!("remount,size={size}");
        let status = Command::new("mount")
            .args(["-o", &options, shown(self.0)])
            .status();
        assert!(status.expect("mount runs").success());
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_refuses_writes_and_serves_reads() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("disk");
    let Some(disk) = SmallDisk::mount(&path, "24m") else {
        println!("skipped: this process may not mount a small file system");
        return;
    };
    let server = serve_on(&path);
    create_schema(&server);
    let client = server.client();
    let mut writer = Writer::new("w", 3);
    writer.tolerated = &[507];
    // Large vertices beside the writer's small ones fill the disk fast.
    let full = fill(&client);
    assert_eq!(full, 507, "what a full disk answers");
    let started = Instant::now();
    let goes_on = |refusals| {
        let most = match refusals {
            // What is too little for a large vertex has room for some small ones.
            0 => Duration::from_secs(60),
            _ => Duration::from_millis(500),
        };
        started.elapsed() < most
    };
    while goes_on(writer.refusals) {
        let steps = std::cell::Cell::new(0);
        writer.run(&client, &|| steps.replace(steps.get() + 1) < 5);
    }
    assert!(
        writer.refusals > 0,
        "writes are refused while the disk is full"
    );
    let (status, _) = client
        .try_ask("GET", "/graphs/hugegraph/graph/vertices?limit=5", "")
        .expect("an answer");
    assert_eq!(status, 200, "reads go on");
    disk.grow("256m");
    let before = writer.acknowledged;
    let started = Instant::now();
    while writer.acknowledged == before {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "no write succeeds after space has come back"
        );
        let steps = std::cell::Cell::new(0);
        writer.run(&client, &|| steps.replace(steps.get() + 1) < 5);
    }
    writer.check(&client);
    assert!(server.terminate().0.success());
    let server = serve_on(&path);
    writer.check(&server.client());
}

/// Writes until a write fails; returns its status.
fn fill(client: &Client) -> u16 {
    let schema = "/graphs/hugegraph/schema";
    let filler = "0123456789abcdef".repeat(4096);
    let create = |kind: &str, body: &str| {
        client
            .try_ask("POST", &format!("{schema}/{kind}"), body)
            .expect("an answer")
    };
    create("propertykeys", r#"{"name":"filler","data_type":"TEXT"}"#);
    create(
        "vertexlabels",
        r#"{"name":"big","id_strategy":"CUSTOMIZE_NUMBER","properties":["filler"]}"#,
    );
    for number in 0..10_000 {
        // Texts that do not shrink when they are compressed would need a generator; uniqueness by a
        // changing seed does.
        let mut random = crate::acknowledged::Random::new(number + 1);
        let text: String = filler
            .chars()
            .map(|_| char::from(b'!' + u8::try_from(random.below(90)).unwrap_or(0)))
            .collect();
        let vertex =
            serde_json::json!({ "label": "big", "id": number, "properties": { "filler": text } });
        let answer = client.try_ask(
            "POST",
            "/graphs/hugegraph/graph/vertices",
            &vertex.to_string(),
        );
        let (status, _) = answer.expect("an answer");
        if !(200..300).contains(&status) && status != 503 {
            return status;
        }
    }
    panic!("the disk does not fill");
}

#[test]
fn a_backup_under_load_is_whole() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let server = serve_on(&data);
    create_schema(&server);
    let mut before = Writer::new("a", 5);
    let steps = AtomicU64::new(0);
    before.run(&server.client(), &|| {
        steps.fetch_add(1, Ordering::Relaxed) < 100
    });
    let during = AtomicU64::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let client = server.client();
        let (during, done) = (&during, &done);
        scope.spawn(move || {
            Writer::new("b", 6).run(&client, &|| {
                during.fetch_add(1, Ordering::Relaxed);
                !done.load(Ordering::Relaxed)
            });
        });
        wait_for(during, 50);
        let (code, text) = run(&["backup", "--server", &server.url, "busy"]);
        done.store(true, Ordering::Relaxed);
        assert_eq!(code, 0, "{text}");
    });
    let restored = dir.path().join("restored");
    let backup = data.join("backups/busy");
    let (code, text) = run(&["restore", shown(&backup), "--data-dir", shown(&restored)]);
    assert_eq!(code, 0, "{text}");
    let (code, text) = run(&["verify", "--data-dir", shown(&restored)]);
    assert!(code == 0 && text.contains("0 problems"), "{text}");
    before.check(&serve_on(&restored).client());
}

#[test]
fn no_file_handles_left_is_no_end() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let script = format!(
        "ulimit -n 64; exec '{VARVE}' serve --data-dir '{}' \"$@\"",
        dir.path().display()
    );
    let server = ServerProcess::start(Command::new("sh").args(["-c", &script, "sh"]));
    create_schema(&server);
    let early = server.client();
    let vertices = "/graphs/hugegraph/graph/vertices";
    assert_eq!(
        early.try_ask("GET", vertices, "").expect("an answer").0,
        200
    );
    let address = server.url.trim_start_matches("http://").to_owned();
    // More connections than there are handles; those over it wait in the kernel.
    let idle: Vec<_> = (0..100)
        .filter_map(|_| std::net::TcpStream::connect(&address).ok())
        .collect();
    assert!(idle.len() > 40, "{} connections", idle.len());
    assert_eq!(
        early
            .try_ask("GET", vertices, "")
            .expect("open connections are served")
            .0,
        200
    );
    let body = r#"{"label":"thing","id":"x","properties":{"n":1}}"#;
    assert_eq!(
        early
            .try_ask("POST", vertices, body)
            .expect("and take writes")
            .0,
        201
    );
    drop(idle);
    let late = server.client();
    assert_eq!(
        late.try_ask("GET", vertices, "")
            .expect("new connections come again")
            .0,
        200
    );
    assert!(server.terminate().0.success());
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = serve_on(dir.path());
    let (code, text) = run(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        shown(dir.path()),
    ]);
    assert!(
        code == 1 && text.contains("another process uses this data directory"),
        "{text}"
    );
    // SIGINT stops as SIGTERM does.
    server.signal("INT");
    assert!(server.wait().0.success());
}
