//! The performance suite of open metadata against a real server: every row has the calls that it
//! must have.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value as Json;

use crate::metadata::repository_in_memory;
use crate::server::VARVE;

/// Instances of each type: an odd number has two unlike halves.
const INSTANCES: u64 = 3;

fn suite(url: &str, json: &Path) -> (Output, Json) {
    let mut command = Command::new(VARVE);
    command.args(["bench", "metadata", "--quiet", "--volume", "0003-02"]);
    command.args(["--url", url]).arg("--json").arg(json);
    let output = command.output().expect("it runs");
    let text = std::fs::read_to_string(json).expect("results");
    let results = serde_json::from_str(&text).expect("JSON");
    (output, results)
}

#[test]
fn every_row_has_the_calls_that_follow_from_the_volume() {
    let server = repository_in_memory(&[]);
    let folder = tempfile::tempdir().expect("a folder");
    let (output, results) = suite(&server.url, &folder.path().join("suite.json"));
    let tables = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{tables}");
    let run = &results["volumes"][0];
    assert_eq!(run["complete"], true, "{tables}");
    let (entities, relationships, classifications) = (274, 218, 108);
    let created = 2 * (entities + relationships) * INSTANCES;
    assert_eq!(run["instances_created"], created);
    let rows = results["rows"].as_array().expect("rows");
    for row in rows {
        assert!(row["columns"]["samples"].as_u64() > Some(0), "{row}");
    }
    for (method, calls) in [
        ("addEntity", entities * INSTANCES),
        ("saveEntityReferenceCopy", entities * INSTANCES),
        ("addRelationship", relationships * INSTANCES),
        ("saveRelationshipReferenceCopy", relationships * INSTANCES),
        ("classifyEntity", classifications * INSTANCES),
        (
            "saveClassificationReferenceCopy",
            classifications * INSTANCES,
        ),
        ("getEntityNeighborhood", 3 * entities * INSTANCES),
        ("reHomeEntity", entities),
        ("reHomeRelationship", relationships),
        ("restoreRelationship", relationships * INSTANCES),
        ("deleteRelationship", 2 * relationships * INSTANCES),
        ("purgeRelationshipReferenceCopy", 2 * relationships),
    ] {
        let row = rows.iter().find(|row| row["label"] == method);
        assert_eq!(row.expect("a row")["columns"]["samples"], calls, "{method}");
    }
}
