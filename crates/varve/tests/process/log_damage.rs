//! The write-ahead log is cut, zeroed, flipped, swapped and aged behind the server's back: nothing
//! acknowledged is lost silently, whatever the durability.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::acknowledged::SCHEMA;
use crate::server::{ServerProcess, VARVE, run, serve_on, shown};

/// Every durability.
const DURABILITIES: [&str; 3] = ["sync", "interval:60000", "none"];
/// Bytes before the first record of a segment, and before the payload of a record, which begin with
/// the payload's length and have the kind at byte 16 (`docs/storage-format.md`).
pub(crate) const SEGMENT_HEAD_BYTES: usize = 60;
const RECORD_HEAD_BYTES: usize = 21;
/// Vertices that are acknowledged before the kill.
const VERTICES: usize = 200;

fn serve(data: &Path, durability: &str) -> Command {
    let mut command = Command::new(VARVE);
    command.arg("serve").arg("--data-dir").arg(data);
    command.args(["--durability", durability]);
    command
}

fn create_schema(server: &ServerProcess, graph: &str) {
    for (kind, body) in SCHEMA {
        server.must("POST", &format!("/graphs/{graph}/schema/{kind}"), body);
    }
}

/// Stores vertices, each in a request of its own.
fn store(server: &ServerProcess, graph: &str, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let vertex =
            json!({ "label": "thing", "id": format!("v{number}"), "properties": { "n": number } });
        let path = format!("/graphs/{graph}/graph/vertices");
        server.must("POST", &path, &vertex.to_string());
    }
}

fn count(server: &ServerProcess, graph: &str) -> usize {
    let path = format!("/graphs/{graph}/graph/vertices?limit=10000");
    let answer = server.must("GET", &path, "");
    answer["vertices"].as_array().map_or(0, Vec::len)
}

/// A data folder whose server was killed after it had acknowledged all vertices, which are in the
/// log alone.
fn killed(durability: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = ServerProcess::start(&mut serve(dir.path(), durability));
    create_schema(&server, "hugegraph");
    store(&server, "hugegraph", 0..VERTICES);
    server.kill();
    dir
}

pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("a file can be copied");
        }
    }
}

fn log_folder(data: &Path, graph: &str) -> PathBuf {
    data.join("graphs").join(graph).join("front-log")
}

/// The last segment of a graph's log, its content, and where its records end.
pub(crate) fn last_segment(data: &Path, graph: &str) -> (PathBuf, Vec<u8>, usize) {
    let entries = fs::read_dir(log_folder(data, graph)).expect("a log");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let segments = files.filter(|path| path.extension().is_some_and(|end| end == "front"));
    let path = segments.max().expect("a segment");
    let content = fs::read(&path).expect("it can be read");
    let mut end = SEGMENT_HEAD_BYTES;
    while content.get(end + 16).is_some_and(|kind| *kind != 0) {
        let length = content[end..].first_chunk().expect("a length");
        end += RECORD_HEAD_BYTES + u32::from_be_bytes(*length) as usize;
    }
    (path, content, end)
}

/// Neither `verify` nor a start accepts the data. What `verify` says.
pub(crate) fn refused(data: &Path, durability: &str) -> String {
    let (code, said) = run(&["verify", "--data-dir", shown(data)]);
    assert_ne!(code, 0, "{said}");
    match ServerProcess::try_start(&mut serve(data, durability)) {
        Err(message) => assert!(
            message.contains("front-log") || message.contains("VARVE-FRONT-LOG"),
            "{message}"
        ),
        // Other graphs may be served.
        Ok(server) => {
            let (status, body) = server.ask("GET", "/graphs/hugegraph/graph/vertices?limit=1", "");
            assert!(status >= 500, "{status} {body}");
        }
    }
    assert!(
        said.contains("recover-log") && said.contains("hugegraph"),
        "{said}"
    );
    said
}

/// Goes on without what is damaged. How many vertices are left.
fn recovered(data: &Path) -> usize {
    let (code, said) = run(&[
        "recover-log",
        "--data-dir",
        shown(data),
        "--graph",
        "hugegraph",
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("front-log.damaged-1"), "{said}");
    let server = serve_on(data);
    let left = count(&server, "hugegraph");
    store(&server, "hugegraph", VERTICES..VERTICES + 1);
    assert!(server.terminate().0.success());
    let (code, said) = run(&["verify", "--data-dir", shown(data)]);
    assert!(code == 0 && said.contains("0 problems"), "{said}");
    let (code, said) = run(&["recover-log", "--data-dir", shown(data)]);
    assert!(code == 0 && said.contains("is sound"), "{said}");
    left
}

#[test]
fn a_damaged_log_is_refused_in_every_durability_and_kept_until_recovered() {
    type Damage = fn(&mut Vec<u8>, usize);
    let damages: [(&str, Damage); 3] = [
        ("cut", |content, end| content.truncate(end / 2)),
        ("zeroed", |content, end| content[end / 2..].fill(0)),
        ("flipped", |content, end| content[end / 2] ^= 0x10),
    ];
    for durability in DURABILITIES {
        let sound = killed(durability);
        for (what, damage) in damages {
            let image = tempfile::tempdir().expect("a temporary folder");
            copy(sound.path(), image.path());
            let (path, mut content, end) = last_segment(image.path(), "hugegraph");
            damage(&mut content, end);
            fs::write(&path, &content).expect("it can be written");
            let said = refused(image.path(), durability);
            let name = path.file_name().expect("a name").to_string_lossy();
            assert!(said.contains(&*name), "{durability} {what}: {said}");
            assert!(
                fs::read(&path).expect("it is kept") == content,
                "{durability} {what}: a refusal changes nothing"
            );
            let left = recovered(image.path());
            assert!(
                (1..VERTICES).contains(&left),
                "{durability} {what}: {left} left"
            );
        }
        let server = ServerProcess::start(&mut serve(sound.path(), durability));
        assert_eq!(count(&server, "hugegraph"), VERTICES, "{durability}");
    }
}

#[test]
fn logs_of_two_graphs_that_were_swapped_are_refused() {
    for durability in DURABILITIES {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let server = ServerProcess::start(&mut serve(dir.path(), durability));
        server.must("POST", "/graphs/other", "{}");
        for graph in ["hugegraph", "other"] {
            create_schema(&server, graph);
            store(&server, graph, 0..20);
        }
        server.kill();
        let [one, two] = ["hugegraph", "other"].map(|graph| log_folder(dir.path(), graph));
        let aside = dir.path().join("aside");
        let swap = || {
            fs::rename(&one, &aside).expect("a rename");
            fs::rename(&two, &one).expect("a rename");
            fs::rename(&aside, &two).expect("a rename");
        };
        swap();
        let said = refused(dir.path(), durability);
        assert!(said.contains("another graph's"), "{durability}: {said}");
        // Put right, nothing is lost.
        swap();
        let server = ServerProcess::start(&mut serve(dir.path(), durability));
        assert_eq!(
            [count(&server, "hugegraph"), count(&server, "other")],
            [20, 20]
        );
    }
}

#[test]
fn an_older_log_over_newer_files_is_refused() {
    for durability in DURABILITIES {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let server = ServerProcess::start(&mut serve(dir.path(), durability));
        create_schema(&server, "hugegraph");
        store(&server, "hugegraph", 0..20);
        server.kill();
        let (log, older) = (
            log_folder(dir.path(), "hugegraph"),
            dir.path().join("older"),
        );
        copy(&log, &older);
        let server = ServerProcess::start(&mut serve(dir.path(), durability));
        store(&server, "hugegraph", 20..40);
        // A stop brings everything to the sorted files.
        assert!(server.terminate().0.success());
        fs::remove_dir_all(&log).expect("it is there");
        copy(&older, &log);
        let said = refused(dir.path(), durability);
        assert!(said.contains("older log"), "{durability}: {said}");
        assert_eq!(
            recovered(dir.path()),
            40,
            "{durability}: nothing of it is replayed"
        );
    }
}

#[test]
fn what_a_start_drops_of_a_log_is_reported() {
    for durability in DURABILITIES {
        let dir = killed(durability);
        let (path, mut content, end) = last_segment(dir.path(), "hugegraph");
        // As a write leaves it that the kill cut short.
        content[end..end + 100].fill(0xA5);
        fs::write(&path, &content).expect("it can be written");
        let log = dir.path().join("stderr");
        let mut server = serve(dir.path(), durability)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).expect("a file"))
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let output = server.stdout.take().expect("piped");
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line)
            .expect("output can be read");
        server.kill().expect("it runs");
        server.wait().expect("it ends");
        let said = fs::read_to_string(&log).expect("text");
        let message = said
            .lines()
            .find(|line| line.contains("WARN") && line.contains("hugegraph"));
        let message = message.unwrap_or_else(|| panic!("{durability}: {said}"));
        let name = path.file_name().expect("a name").to_string_lossy();
        assert!(
            message.contains("100 bytes behind"),
            "{durability}: {message}"
        );
        assert!(
            message.contains(&*name) && message.contains("position"),
            "{message}"
        );
        let server = ServerProcess::start(&mut serve(dir.path(), durability));
        assert_eq!(count(&server, "hugegraph"), VERTICES, "{durability}");
    }
}

#[test]
fn what_a_command_drops_of_a_log_is_reported() {
    let dir = killed("none");
    let (path, mut content, end) = last_segment(dir.path(), "hugegraph");
    content[end..end + 100].fill(0xA5);
    fs::write(&path, &content).expect("it can be written");
    for command in ["verify", "dump", "backup"] {
        let image = tempfile::tempdir().expect("a temporary folder");
        let (data, target) = (image.path().join("data"), image.path().join("target"));
        copy(dir.path(), &data);
        let mut arguments = vec![command, "--data-dir", shown(&data)];
        if command != "verify" {
            arguments.push(shown(&target));
        }
        let (code, said) = run(&arguments);
        assert_eq!(code, 0, "{command}: {said}");
        let message = said.lines().find(|line| line.contains("WARN"));
        let message = message.unwrap_or_else(|| panic!("{command}: {said}"));
        assert!(message.contains("100 bytes behind"), "{command}: {message}");
    }
}

#[test]
fn recovering_logs_goes_on_after_one_that_cannot_be_recovered() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path();
    let server = serve_on(data);
    for graph in ["a", "b"] {
        server.must("POST", &format!("/graphs/{graph}"), "{}");
    }
    server.kill();
    for graph in ["a", "b"] {
        let (path, content, _) = last_segment(data, graph);
        fs::write(path, &content[..10]).expect("written");
    }
    fs::remove_file(data.join("graphs/a/CURRENT")).expect("removed");
    let (code, said) = run(&["recover-log", "--data-dir", shown(data)]);
    assert_eq!(code, 1, "{said}");
    for wanted in [
        "a: not recovered",
        "b: ",
        "hugegraph: the log is sound",
        "1 logs could not be recovered",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}");
    }
    assert!(data.join("graphs/b/front-log.damaged-1").exists(), "{said}");
}
