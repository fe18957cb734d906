//! `varve user`, the first user of a server, and tools that say who they are.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::{ServerProcess, VARVE, serve_on};

fn server(data: &Path) -> ServerProcess {
    let mut command = Command::new(VARVE);
    command.args(["serve", "--set", "auth.enabled=true", "--data-dir"]);
    command
        .arg(data)
        .env("VARVE_ADMIN_PASSWORD", "correct horse");
    ServerProcess::start(&mut command)
}

/// Runs `varve user`; whether it succeeded, and what it said.
fn user(data: &Path, arguments: &[&str], password: &str) -> (bool, String) {
    let mut child = Command::new(VARVE)
        .arg("user")
        .args(arguments)
        .arg("--data-dir")
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut input = child.stdin.take().expect("piped");
    // A command that needs no password does not read it.
    let _ = writeln!(input, "{password}");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.success(), said)
}

/// Whether `varve dump` with this name and password may read the server's graph.
fn dumps(server: &ServerProcess, folder: &Path, name: &str, password: &str) -> bool {
    let file = folder.join("dump.jsonl");
    let output = Command::new(VARVE)
        .args(["dump", "--server", &server.url])
        .arg(&file)
        .env("VARVE_USER", name)
        .env("VARVE_PASSWORD", password)
        .output()
        .expect("the binary starts");
    let _ = std::fs::remove_file(file);
    output.status.success()
}

#[test]
fn users_are_made_offline_and_tools_say_who_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let first = server(&data);
    assert_eq!(first.ask("GET", "/graphs", "").0, 401);
    assert_eq!(first.ask("GET", "/versions", "").0, 200);
    assert!(dumps(&first, folder.path(), "admin", "correct horse"));
    assert!(!dumps(&first, folder.path(), "admin", "wrong horse"));
    assert!(!user(&data, &["list"], "").0, "a server uses the folder");
    drop(first);

    let only_admin = (true, "admin\n".to_owned());
    assert_eq!(user(&data, &["list"], ""), only_admin);
    let (is_made, said) = user(&data, &["add", "ann"], "short");
    assert!(
        !is_made && said.contains("auth.password_min_length"),
        "{said}"
    );
    let (is_made, said) = user(&data, &["add", "ann"], "battery staple");
    assert!(is_made, "{said}");
    let (is_changed, said) = user(&data, &["password", "admin"], "another horse");
    assert!(is_changed, "{said}");

    let again = server(&data);
    assert!(dumps(&again, folder.path(), "admin", "another horse"));
    assert!(!dumps(&again, folder.path(), "admin", "correct horse"));
    let ann = dumps(&again, folder.path(), "ann", "battery staple");
    assert!(!ann, "she has no rights");
    drop(again);
    assert!(user(&data, &["remove", "ann"], "").0);
    assert_eq!(user(&data, &["list"], ""), only_admin);
}

#[test]
fn a_folder_without_users_is_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    drop(serve_on(&data));
    let none = (true, "there are no users\n".to_owned());
    assert_eq!(user(&data, &["list"], ""), none);
    assert!(!data.join("graphs").join("_system").exists());
}
