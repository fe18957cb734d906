//! Backups to a store: what the server tells of it, and of a backup that fails. Those that are made
//! need an engine with files: `crates/varve/tests/process/backups.rs`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use varve_server::{BackupConfig, ServerConfig};

use crate::fixture::Fixture;

#[test]
fn without_a_place_there_are_no_backups_and_none_is_made() {
    let fixture = Fixture::new();
    let status = fixture.done("GET", "/admin/backups", "");
    assert_eq!(
        (&status["to"], &status["next"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(status["backups"], json!([]));
    let refused = fixture.send("POST", "/admin/backup", "{}");
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.text().contains("backup.to"), "{}", refused.text());
}

#[test]
fn a_backup_that_fails_is_told_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = Fixture::with(ServerConfig {
        backup_root: dir.path().join("root"),
        backup: BackupConfig {
            to: dir.path().join("place").display().to_string(),
            every: "1d".to_owned(),
            keep: 2,
            keep_for: "2h".to_owned(),
            ..BackupConfig::default()
        },
        ..ServerConfig::default()
    });
    // The engine in memory has no files to copy.
    let answer = fixture.send("POST", "/admin/backup", "{}");
    assert_eq!(answer.status, 202, "{}", answer.text());
    let started: Value = serde_json::from_slice(&answer.body).unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    let job = loop {
        let job = fixture.done("GET", &format!("/admin/jobs/{}", started["job"]), "");
        if job["status"] != "running" {
            break job;
        }
        assert!(Instant::now() < end, "{job}");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(job["status"], "failed", "{job}");
    let status = fixture.done("GET", "/admin/backups", "");
    assert_eq!(status["failure"]["error"], job["error"], "{status}");
    assert_eq!(status["to"], "place", "no folder of the server is named");
    assert_eq!(status["every_seconds"], 86_400);
    assert_eq!(
        (&status["keep"], &status["keep_for_seconds"]),
        (&json!(2), &json!(7_200))
    );
    // The next attempt is an interval later.
    assert!(
        status["next"].as_str() > status["failure"]["at"].as_str(),
        "{status}"
    );
    assert!(!dir.path().join("place/manifests").exists());
}
