//! The server over TLS, and the tools against it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::server::{ServerProcess, VARVE};

/// The authority, and the certificate and key that it signed for 127.0.0.1.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../engines/varve-kv-cassandra/tests/tls")
        .join(name)
}

fn server(data: &Path) -> ServerProcess {
    server_with(data, &[])
}

fn server_with(data: &Path, more: &[&str]) -> ServerProcess {
    let setting = |option: &str, name: &str| format!("tls.{option}={}", file(name).display());
    ServerProcess::start(
        Command::new(VARVE)
            .arg("serve")
            .arg("--data-dir")
            .arg(data)
            .args(["--set", &setting("certificate_file", "node.pem")])
            .args(["--set", &setting("key_file", "node.key")])
            .args(["--set", "auth.enabled=true"])
            .args(more)
            .env("VARVE_ADMIN_PASSWORD", "correct horse"),
    )
}

/// Runs a tool as the administrator: whether it ended well, and what it said.
fn run(arguments: &[&str], trusted: &[(&str, &Path)]) -> (bool, String) {
    let output = Command::new(VARVE)
        .args(arguments)
        .env("VARVE_USER", "admin")
        .env("VARVE_PASSWORD", "correct horse")
        .envs(trusted.iter().copied())
        .output()
        .expect("the binary runs");
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (output.status.success(), text)
}

#[test]
fn the_tools_speak_https_to_servers_whose_authority_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = server(&folder.path().join("data"));
    assert!(server.url.starts_with("https://"), "{}", server.url);
    let (url, ca, other) = (server.url.as_str(), file("ca.pem"), file("other-ca.pem"));
    let trusted = ca.to_str().expect("text");
    let dump = folder.path().join("dump.jsonl");
    let dump = dump.to_str().expect("text");
    for arguments in [
        &["backup", "--server", url, "monday"][..],
        &["verify", "--server", url],
        &["dump", "--server", url, dump],
        &["load", "--server", url, dump],
        &[
            "bench",
            "api",
            "--url",
            url,
            "--scenario",
            "single_insert_vertices",
            "--model",
            "closed",
            "--users",
            "2",
            "--hold",
            "1s",
            "--warmup",
            "0s",
        ],
    ] {
        let arguments = [arguments, &["--ca-file", trusted]].concat();
        let (done, text) = run(&arguments, &[]);
        assert!(done, "{arguments:?}: {text}");
    }
    // The system's authorities count without the option, and no others.
    let backup = ["backup", "--server", url, "tuesday"];
    let (done, text) = run(&backup, &[("SSL_CERT_FILE", ca.as_path())]);
    assert!(done, "{text}");
    let (done, text) = run(&backup, &[("SSL_CERT_FILE", other.as_path())]);
    assert!(!done && text.contains("certificate"), "{text}");
    let untrusted = [&backup[..], &["--ca-file", other.to_str().expect("text")]].concat();
    let (done, text) = run(&untrusted, &[]);
    assert!(!done && text.contains("certificate"), "{text}");
    let (done, text) = run(&[&backup[..], &["--ca-file", dump]].concat(), &[]);
    assert!(!done && text.contains("no PEM certificate"), "{text}");
}

#[test]
fn the_tools_show_a_certificate_where_one_is_required() {
    let folder = tempfile::tempdir().expect("a folder");
    let authorities = format!("tls.client_ca_file={}", file("ca.pem").display());
    let required = "tls.client_certificate_required=true";
    let more = ["--set", &authorities, "--set", required];
    let server = server_with(&folder.path().join("data"), &more);
    let dump = folder.path().join("dump.jsonl");
    let dump = dump.to_str().expect("text");
    let (ca, certificate, key) = (file("ca.pem"), file("node.pem"), file("node.key"));
    let path = |file: &PathBuf| file.to_str().expect("text").to_owned();
    let trusted = ["--ca-file".to_owned(), path(&ca)];
    let shown = [
        "--client-cert".to_owned(),
        path(&certificate),
        "--client-key".to_owned(),
        path(&key),
    ];
    let plain = ["dump", "--server", &server.url, dump];
    let bench = [
        "bench",
        "api",
        "--url",
        &server.url,
        "--scenario",
        "single_insert_vertices",
    ];
    let brief = [
        "--model", "closed", "--users", "2", "--hold", "1s", "--warmup", "0s",
    ];
    for tool in [plain.to_vec(), [&bench[..], &brief].concat()] {
        let run_with = |files: &[&[String]]| {
            let files = files.concat();
            let files = files.iter().map(String::as_str);
            run(&tool.iter().copied().chain(files).collect::<Vec<_>>(), &[])
        };
        let (done, text) = run_with(&[&trusted, &shown]);
        assert!(done, "{tool:?}: {text}");
        let (done, text) = run_with(&[&trusted]);
        assert!(!done, "{tool:?}: {text}");
    }
}
