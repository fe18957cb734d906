//! What other users of the machine must not read, and what whoever starts a server must know.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::{ServerProcess, VARVE, run, serve_on, shown};

/// The rights of a file or folder.
fn mode(path: &Path) -> u32 {
    let metadata = std::fs::metadata(path).expect("it is there");
    metadata.permissions().mode() & 0o777
}

/// Asserts that nobody but its owner may use what lies in a folder; returns how many files that
/// are.
fn assert_private(folder: &Path) -> usize {
    assert_eq!(mode(folder), 0o700, "{}", folder.display());
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        // Files of a running server come and go.
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => count += assert_private(&path),
            Ok(metadata) => {
                let mode = metadata.permissions().mode() & 0o777;
                assert_eq!(mode & 0o177, 0, "{} {mode:o}", path.display());
                count += 1;
            }
            Err(_) => {}
        }
    }
    count
}

#[test]
fn files_are_for_their_owner_alone() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let server = serve_on(&data);
    let key = r#"{"name":"a","data_type":"INT"}"#;
    server.must("POST", "/graphs/hugegraph/schema/propertykeys", key);
    server.must("POST", "/graphs/other", "{}");
    let (code, text) = run(&["backup", "--server", &server.url, "now"]);
    assert_eq!(code, 0, "{text}");
    assert!(!text.contains(shown(&data)), "no path in an answer: {text}");
    assert!(assert_private(&data) > 10);
    server.terminate();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&data, open).expect("it is ours");
    let server = serve_on(&data);
    assert_eq!(mode(&data), 0o700, "a folder of an earlier build is closed");
    let dump = dir.path().join("all.jsonl");
    let (code, text) = run(&["dump", "--server", &server.url, shown(&dump)]);
    assert_eq!((code, mode(&dump)), (0, 0o600), "{text}");
}

#[test]
fn a_server_that_others_reach_starts_without_authentication_only_where_the_options_say_so() {
    let serve = |arguments: &[&str]| {
        let mut command = Command::new(VARVE);
        command
            .args(["serve", "--engine", "memory"])
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.spawn().expect("the binary starts")
    };
    for option in [
        "--listen=0.0.0.0:0",
        "--set=server.admin_listen=0.0.0.0:0",
        "--set=gremlin.listen=0.0.0.0:0",
    ] {
        let listen = if option.starts_with("--listen") {
            &[option][..]
        } else {
            &["--listen=127.0.0.1:0", option]
        };
        let ended = serve(listen).wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(!ended.status.success(), "{text}");
        assert!(
            text.contains("auth.enabled=true") && text.contains("server.allow_anonymous=true"),
            "{text}"
        );
    }
    let warns = |arguments: &[&str]| {
        let mut child = serve(arguments);
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        let lines = errors.lines().map(|line| line.expect("text"));
        let before: Vec<String> = lines.take_while(|line| !line.contains("serving")).collect();
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        before
            .iter()
            .any(|line| line.contains("WARN") && line.contains("without authentication"))
    };
    assert!(warns(&[
        "--listen=0.0.0.0:0",
        "--set=server.allow_anonymous=true"
    ]));
    assert!(!warns(&["--listen=127.0.0.1:0"]));
}

#[test]
fn answers_about_damaged_files_do_not_say_where_they_are() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let serve = || {
        let mut command = Command::new(VARVE);
        // As most do, with a folder named from where the server is started.
        command.current_dir(dir.path());
        ServerProcess::try_start(command.args(["serve", "--data-dir", "data"]))
    };
    let server = serve().expect("a server");
    let schema = "/graphs/hugegraph/schema";
    let key = r#"{"name":"a","data_type":"INT"}"#;
    server.must("POST", &format!("{schema}/propertykeys"), key);
    let label = r#"{"name":"v","id_strategy":"CUSTOMIZE_STRING","properties":["a"]}"#;
    server.must("POST", &format!("{schema}/vertexlabels"), label);
    let vertex = r#"{"label":"v","id":"x","properties":{"a":1}}"#;
    let vertices = "/graphs/hugegraph/graph/vertices";
    server.must("POST", vertices, vertex);
    assert!(server.terminate().0.success());
    let files = std::fs::read_dir(dir.path().join("data/graphs/hugegraph")).expect("a folder");
    let files = files.map(|entry| entry.expect("an entry").path());
    let mut named = 0;
    // One table has the vertex; without others the graph is not opened.
    for path in files.filter(|path| path.extension().is_some_and(|end| end == "sst")) {
        let sound = std::fs::read(&path).expect("a file");
        let mut content = sound.clone();
        content[20] ^= 0xFF;
        std::fs::write(&path, content).expect("written");
        if let Ok(server) = serve() {
            let (_, answer) = server.ask("GET", &format!("{vertices}?limit=10"), "");
            let said = answer.to_string();
            assert!(!said.contains("graphs/"), "{said}");
            named += usize::from(said.contains(".sst"));
        }
        std::fs::write(&path, sound).expect("written");
    }
    assert!(named > 0, "an answer names a file");
}
