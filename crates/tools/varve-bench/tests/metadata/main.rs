//! The open-metadata suite against a repository with few features: the counts, the rows of calls,
//! and that the failure of one test case does not end the run.

mod stub;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::bail;
use serde_json::Value;

use stub::{Manner, Stub};

/// Exit code when test cases failed.
const FAILED: u8 = 3;

fn run(words: &str) -> anyhow::Result<ExitCode> {
    let mut tool = Command::new(env!("CARGO_BIN_EXE_varve-bench"));
    tool.args(["metadata", "--quiet"]);
    let output = tool.args(words.split_whitespace()).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        None | Some(1) => bail!("{}", said.trim_start_matches("varve-bench: ").trim_end()),
        Some(code) => Ok(ExitCode::from(code as u8)),
    }
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// Runs the suite with the first three types at volume 5-2. Returns the outcome and the JSON file.
fn against(stub: &Stub, words: &str) -> (anyhow::Result<ExitCode>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("result.json");
    let (url, shown) = (stub.url(), json.display());
    let markdown = folder.path().join("tables.md");
    let tables = markdown.display();
    let outcome = run(&format!(
        "--url {url} --volume 5-2 --types 3 --json {shown} --markdown {tables} {words}"
    ));
    (outcome, read(&json))
}

fn row<'a>(file: &'a Value, profile: &str, method: &str) -> &'a Value {
    let rows = file["rows"].as_array().expect("rows");
    let found = rows
        .iter()
        .find(|it| it["profile"] == profile && it["label"] == method);
    found.expect("a row")
}

fn calls(file: &Value, profile: &str, method: &str) -> u64 {
    row(file, profile, method)["columns"]["samples"]
        .as_u64()
        .expect("a number")
}

#[test]
fn calls_are_counted_by_row_and_set_up_searches_are_booked() {
    let stub = Stub::start(Manner::Right);
    let (code, file) = against(&stub, "--profiles 1,2,12");
    assert_eq!(code.expect("run"), ExitCode::SUCCESS);
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 15);
    assert_eq!(
        calls(&file, "Entity creation", "saveEntityReferenceCopy"),
        15
    );
    // Ten instances of each of three types in pages of two, and a search for the first ones to
    // read.
    assert_eq!(calls(&file, "Entity search", "findEntities"), 15 + 3);
    for method in ["isEntityKnown", "getEntitySummary", "getEntityDetail"] {
        assert_eq!(calls(&file, "Entity retrieval", method), 15, "{method}");
    }
    assert_eq!(file["volumes"][0]["instances_created"], 30);
    assert_eq!(file["volumes"][0]["complete"], false);
    assert_eq!(stub.connections(), 1, "the connection stays open");
    let by_value = row(&file, "Entity search", "findEntitiesByPropertyValue");
    assert_eq!(
        (&by_value["skipped"], &by_value["columns"]["samples"]),
        (&"not supported".into(), &0.into())
    );
    let asked = stub.refused();
    let exact =
        |it: &String| it.contains("by-property-value?searchCriteria=%5CQ") && it.ends_with("%5CE");
    // Unsupported calls are not repeated within the test case.
    assert_eq!(asked.iter().filter(|it| exact(it)).count(), 3, "{asked:?}");
    assert_eq!(asked.len(), 3, "{asked:?}");
}

#[test]
fn a_refused_call_ends_its_test_case_only() {
    let stub = Stub::start(Manner::Refuses(8));
    let (code, file) = against(&stub, "--profiles 1");
    assert_eq!(code.expect("run"), ExitCode::from(FAILED));
    // The third entity of the second type is refused, and so its reference copies are left out.
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 5 + 2 + 5);
    assert_eq!(
        calls(&file, "Entity creation", "saveEntityReferenceCopy"),
        10
    );
    let profile = &file["volumes"][0]["profiles"][0];
    assert_eq!(
        (&profile["cases"], &profile["failed"]),
        (&3.into(), &1.into())
    );
    let failures = file["volumes"][0]["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0]["exception"], "EntityConflictException");
    assert_eq!(failures[0]["message"], "as configured");
    let request = failures[0]["request"].as_str().expect("a request");
    assert!(
        request.starts_with("POST /platform/servers/varve/"),
        "{request}"
    );
    assert!(
        request.contains("\"class\":\"EntityCreateRequest\""),
        "{request}"
    );
    let answer = failures[0]["answer"].as_str().expect("an answer");
    assert!(answer.contains("EntityConflictException"), "{answer}");
}

#[test]
fn a_page_that_is_longer_than_asked_is_a_failure() {
    // The pages of searches, and the searches for the instances of test cases.
    for (size, profile, failed) in [(2, "Entity search", 3), (5, "Entity retrieval", 3)] {
        let stub = Stub::start(Manner::Exceeds(size));
        let (code, file) = against(&stub, "--profiles 1,2,12");
        assert_eq!(code.expect("run"), ExitCode::from(FAILED), "{size}");
        let failures = file["volumes"][0]["failures"].as_array().expect("failures");
        assert_eq!(failures.len(), failed, "{failures:?}");
        for failure in failures {
            assert_eq!(failure["profile"], profile);
            let message = failure["message"].as_str().expect("a message");
            let expected = format!("{} instances for a requested page of {size}", size + 1);
            assert!(message.starts_with(&expected), "{message}");
        }
    }
}

#[test]
fn when_the_repository_goes_away_what_was_measured_is_kept() {
    // One request for the metadata collection, then five entities and two reference copies.
    let stub = Stub::start(Manner::Leaves(8));
    let (outcome, file) = against(&stub, "--profiles 1,2");
    let error = outcome.expect_err("gone").to_string();
    assert!(error.contains("the repository is gone"), "{error}");
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 5);
    let copies = calls(&file, "Entity creation", "saveEntityReferenceCopy");
    assert_eq!(copies, 2);
    assert_eq!(file["volumes"][0]["complete"], false);
    assert_eq!(file["volumes"][0]["profiles"][0]["name"], "Entity creation");
}

/// Everything runs, although hardly anything is supported: the profiles find their instances, or
/// have nothing to do.
#[test]
fn a_repository_of_few_abilities_has_no_failed_test_case_where_it_says_so() {
    let stub = Stub::start(Manner::Right);
    let (code, file) = against(&stub, "");
    assert_eq!(
        code.expect("run"),
        ExitCode::SUCCESS,
        "{}",
        file["volumes"][0]["failures"]
    );
    let profiles = file["volumes"][0]["profiles"].as_array().expect("profiles");
    assert_eq!(profiles.len(), 32);
    let identity = row(&file, "Entity re-identify", "reIdentifyEntity");
    assert_eq!(identity["skipped"], "not supported");
}

#[test]
fn files_hold_what_reports_and_other_programs_need() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (json, evidence) = (path("run.json"), path("evidence"));
    let words = format!(
        "--url {} --types 3 --profiles 1,12 --volume 0005-02,0002-01 --json {} --evidence {} --markdown {}",
        stub.url(),
        json.display(),
        evidence.display(),
        path("run.md").display()
    );
    assert_eq!(run(&words).expect("run"), ExitCode::SUCCESS);
    let file = read(&json);
    assert_eq!(file["volumes"].as_array().map(Vec::len), Some(2));
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 15);
    let pieces = read(&evidence.join("0005-02/profile-012.json"));
    let pieces = pieces["requirementResults"][0]["positiveTestEvidence"].clone();
    assert_eq!(pieces.as_array().map(Vec::len), Some(45));
    assert!(evidence.join("0002-01/profile-001.json").is_file());

    let (page, tables) = (path("page.html"), path("again.md"));
    let mut report = Command::new(env!("CARGO_BIN_EXE_varve-bench"));
    report.arg("report").arg(&json).arg("-o").arg(&page);
    let done = report.arg("--markdown").arg(&tables).status();
    assert!(done.expect("it runs").success());
    let text = |path: &Path| std::fs::read_to_string(path).expect("written");
    assert_eq!(text(&tables), text(&path("run.md")));
    assert!(text(&tables).contains("## Growth"), "two volumes");
    assert!(text(&page).contains("<svg"));
}

#[test]
fn evidence_that_cannot_be_written_takes_no_results_along() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    // A folder takes the name of the file.
    let evidence = folder.path().join("evidence");
    let taken = evidence.join("0005-02/profile-012.json");
    std::fs::create_dir_all(taken).expect("made");
    let words = format!("--profiles 1,2,12 --evidence {}", evidence.display());
    let (outcome, file) = against(&stub, &words);
    let error = outcome.expect_err("evidence is missing").to_string();
    assert!(error.starts_with("writing the evidence: "), "{error}");
    assert_eq!(calls(&file, "Entity retrieval", "getEntityDetail"), 15);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 15 + 3);
}

#[test]
fn results_that_cannot_be_written_are_reported_all_the_same() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    // A folder takes the name of the file.
    std::fs::create_dir(path("run.json")).expect("made");
    let words = format!(
        "--url {} --volume 5-2,2-1 --types 3 --profiles 1 --json {} --markdown {} --report {}",
        stub.url(),
        path("run.json").display(),
        path("run.md").display(),
        path("run.html").display(),
    );
    let error = run(&words).expect_err("not written").to_string();
    assert!(error.contains("writing "), "{error}");
    let tables = std::fs::read_to_string(path("run.md")).expect("tables");
    for calls in ["| addEntity | 15 |", "| addEntity | 6 |"] {
        assert!(tables.contains(calls), "{tables}");
    }
    assert!(path("run.html").is_file());
}

#[test]
fn what_ran_before_a_volume_that_cannot_is_reported() {
    let stub = Stub::start(Manner::Leaves(1 + 30));
    let folder = tempfile::tempdir().expect("a folder");
    let tables = folder.path().join("run.md");
    let words = format!(
        "--url {} --volume 5-2,2-1 --types 3 --profiles 1 --markdown {}",
        stub.url(),
        tables.display()
    );
    let error = run(&words).expect_err("gone");
    assert!(format!("{error:#}").contains("no OMRS repository"));
    let tables = std::fs::read_to_string(tables).expect("tables");
    assert!(tables.contains("| addEntity | 15 |"), "{tables}");
}

#[test]
fn what_is_no_repository_is_reported() {
    let error = run("--url http://127.0.0.1:1 --volume 5-2").expect_err("nothing there");
    assert!(
        format!("{error:#}").contains("no OMRS repository answers"),
        "{error:#}"
    );
}
