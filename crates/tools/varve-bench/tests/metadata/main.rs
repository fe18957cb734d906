//! The open-metadata suite against a repository of few abilities: what is counted, what is booked
//! where, and that the failure of one test case is not that of the run.

mod programs;
mod stub;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use serde_json::Value;

use programs::{program, program_of_volumes};
use stub::{Manner, Stub};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    arguments: varve_bench::BenchArguments,
}

/// Exit code when test cases failed.
const FAILED: u8 = 3;

fn run(words: &str) -> anyhow::Result<ExitCode> {
    let line = ["varve", "metadata", "--quiet"].into_iter();
    let line = line.chain(words.split_whitespace());
    let arguments = Line::try_parse_from(line)
        .expect("the words parse")
        .arguments;
    varve_bench::run(&arguments, varve_bench::Program::Other)
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).expect("a file");
    serde_json::from_str(&text).expect("JSON")
}

/// Runs the suite with the first three types at volume 5-2; the outcome and the JSON file.
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
    let rows = file["runs"][0]["rows"].as_array().expect("rows");
    let found = rows
        .iter()
        .find(|it| it["profile"] == profile && it["method"] == method);
    found.expect("a row")
}

fn calls(file: &Value, profile: &str, method: &str) -> u64 {
    row(file, profile, method)["calls"]
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
    assert_eq!(file["runs"][0]["instances_created"], 30);
    assert_eq!(file["runs"][0]["complete"], false);
    assert_eq!(stub.connections(), 1, "the connection stays open");
    let by_value = row(&file, "Entity search", "findEntitiesByPropertyValue");
    assert_eq!(
        (&by_value["not_supported"], &by_value["calls"]),
        (&true.into(), &0.into())
    );
    let asked = stub.refused();
    let exact =
        |it: &String| it.contains("by-property-value?searchCriteria=%5CQ") && it.ends_with("%5CE");
    // What is not supported is not asked for again within the test case.
    assert_eq!(asked.iter().filter(|it| exact(it)).count(), 3, "{asked:?}");
    assert_eq!(asked.len(), 3, "{asked:?}");
}

#[test]
fn set_up_searches_need_not_be_counted() {
    let stub = Stub::start(Manner::Right);
    let (_, file) = against(&stub, "--profiles 1,2,12 --no-booking");
    assert_eq!(calls(&file, "Entity search", "findEntities"), 15);
    assert_eq!(file["runs"][0]["booking"], false);
}

#[test]
fn a_refused_call_ends_its_test_case_only() {
    let stub = Stub::start(Manner::Refuses(8));
    let (code, file) = against(&stub, "--profiles 1");
    assert_eq!(code.expect("run"), ExitCode::from(FAILED));
    // The third entity of the second type; its reference copies are left out with it.
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 5 + 2 + 5);
    assert_eq!(
        calls(&file, "Entity creation", "saveEntityReferenceCopy"),
        10
    );
    let profile = &file["runs"][0]["profiles"][0];
    assert_eq!(
        (&profile["cases"], &profile["failed"]),
        (&3.into(), &1.into())
    );
    let failures = file["runs"][0]["failures"].as_array().expect("failures");
    assert_eq!(failures.len(), 1);
    assert_eq!(failures[0]["exception"], "EntityConflictException");
    assert_eq!(failures[0]["message"], "as told");
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
    // The pages of searches, and the searches for the instances that test cases read.
    for (size, profile, failed) in [(2, "Entity search", 3), (5, "Entity retrieval", 3)] {
        for words in ["--profiles 1,2,12", "--profiles 1,2,12 --no-booking"] {
            let stub = Stub::start(Manner::Exceeds(size));
            let (code, file) = against(&stub, words);
            assert_eq!(code.expect("run"), ExitCode::from(FAILED), "{words}");
            let failures = file["runs"][0]["failures"].as_array().expect("failures");
            assert_eq!(failures.len(), failed, "{words} {failures:?}");
            for failure in failures {
                assert_eq!(failure["profile"], profile);
                let message = failure["message"].as_str().expect("a message");
                let told = format!("{} instances where a page of {size}", size + 1);
                assert!(message.starts_with(&told), "{message}");
            }
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
    assert_eq!(file["runs"][0]["complete"], false);
    assert_eq!(file["runs"][0]["profiles"][0]["name"], "Entity creation");
}

#[test]
fn methods_and_profiles_can_be_left_out() {
    let stub = Stub::start(Manner::Right);
    let words = "--profiles 1,2,12 --skip addEntity,getEntityDetail,2";
    let (_, file) = against(&stub, words);
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 0);
    assert_eq!(
        calls(&file, "Entity creation", "saveEntityReferenceCopy"),
        15
    );
    assert_eq!(calls(&file, "Entity retrieval", "getEntityDetail"), 0);
    assert_eq!(calls(&file, "Entity retrieval", "isEntityKnown"), 15);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 3);
}

/// Everything runs, although nearly nothing is supported: the profiles have what they need, or find
/// nothing to do.
#[test]
fn a_repository_of_few_abilities_has_no_failed_test_case_where_it_says_so() {
    let stub = Stub::start(Manner::Right);
    let (code, file) = against(&stub, "");
    assert_eq!(
        code.expect("run"),
        ExitCode::SUCCESS,
        "{}",
        file["runs"][0]["failures"]
    );
    let profiles = file["runs"][0]["profiles"].as_array().expect("profiles");
    assert_eq!(profiles.len(), 32);
    let identity = row(&file, "Entity re-identify", "reIdentifyEntity");
    assert_eq!(identity["not_supported"], true);
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
    assert_eq!(file["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(calls(&file, "Entity creation", "addEntity"), 15);
    let pieces = read(&evidence.join("0005-02/profile-012.json"));
    let pieces = pieces["requirementResults"][0]["positiveTestEvidence"].clone();
    assert_eq!(pieces.as_array().map(Vec::len), Some(45));
    assert!(evidence.join("0002-01/profile-001.json").is_file());

    let (page, tables) = (path("page.html"), path("again.md"));
    let words = format!(
        "--from {} --report {} --markdown {}",
        json.display(),
        page.display(),
        tables.display()
    );
    assert_eq!(run(&words).expect("reported"), ExitCode::SUCCESS);
    let text = |path: &Path| std::fs::read_to_string(path).expect("written");
    assert_eq!(text(&tables), text(&path("run.md")));
    assert!(text(&tables).contains("**Growth**"), "two volumes");
    assert!(text(&page).contains("<svg"));
}

#[test]
fn evidence_that_cannot_be_written_takes_no_results_along() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    // No file can have this name.
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
    // No file can have this name.
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

/// Everything of a run but what differs each time.
fn counted(file: &Value) -> Vec<(Value, Value, Value, Value, Value)> {
    let rows = file["runs"][0]["rows"].as_array().expect("rows");
    let of = |row: &Value, key: &str| row[key].clone();
    rows.iter()
        .map(|row| {
            let of = |key| of(row, key);
            (
                of("profile"),
                of("method"),
                of("calls"),
                of("instances"),
                of("not_supported"),
            )
        })
        .collect()
}

#[test]
fn a_run_in_parts_has_the_calls_and_rows_of_one_in_a_piece() {
    let stub = Stub::start(Manner::Right);
    let (_, whole) = against(&stub, "--skip 31,32");
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let run_with = |words: &str| {
        let (json, evidence, tables) = (path("run.json"), path("evidence"), path("run.md"));
        run(&format!(
            "--url {} --volume 5-2 --types 3 --json {} --evidence {} --markdown {} {words}",
            stub.url(),
            json.display(),
            evidence.display(),
            tables.display()
        ))
    };
    let kept = || read(&path("run.json"))["runs"][0].clone();
    // A part that may begin nothing, then one between two profiles, and one that ends everything.
    run_with("--profiles 1,2").expect("run");
    let first = kept();
    assert_eq!(first["carried"]["at_work"], Value::Null);
    assert_eq!(first["carried"]["as_of_ms"], Value::Null);
    run_with("--continue --minutes 0").expect("run");
    assert_eq!(kept(), first, "no time, no profile");
    run_with("--continue --profiles 3,4,5,6,7,8,9,10").expect("run");
    let second = kept();
    let copies = &first["carried"]["copies"];
    assert_eq!(&second["carried"]["copies"], copies);
    let as_of = second["carried"]["as_of_ms"].as_i64().expect("a time");
    let requests = stub.requests();
    run_with("--continue --skip 31,32").expect("run");
    let last = kept();
    assert_eq!(last["carried"]["as_of_ms"], as_of);
    assert_eq!(last["continued"].as_array().map(Vec::len), Some(2));
    assert_eq!(last["continued"][1]["again"], Value::Null);
    assert_eq!(counted(&read(&path("run.json"))), counted(&whole));
    assert_eq!(last["profiles"].as_array().map(Vec::len), Some(30));
    assert_eq!(last["instances_created"], 30);
    assert!(stub.requests() > requests);
    // The searches of the last part are booked in the evidence of the first.
    let pieces = read(&path("evidence/0005-02/profile-002.json"));
    let pieces = pieces["requirementResults"][0]["positiveTestEvidence"].clone();
    let of_profile = last["rows"].as_array().expect("rows").iter();
    let booked = of_profile.filter(|row| row["profile"] == "Entity search");
    let booked: u64 = booked.filter_map(|row| row["calls"].as_u64()).sum();
    assert_eq!(pieces.as_array().map(|it| it.len() as u64), Some(booked));
    // Nothing is left to do.
    let requests = stub.requests();
    run_with("--continue --skip 31,32").expect("run");
    assert_eq!((kept(), stub.requests()), (last, requests));
}

#[test]
fn a_run_that_was_cut_short_within_a_profile_says_what_it_repeats() {
    // One request for the metadata collection, then all of the first profile, and some of the
    // second.
    let stub = Stub::start(Manner::Leaves(1 + 30 + 4));
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("run.json");
    let tables = folder.path().join("run.md");
    let words = format!(
        "--volume 5-2 --types 3 --json {} --markdown {} --profiles 1,2 --evidence {}",
        json.display(),
        tables.display(),
        folder.path().display()
    );
    let error = run(&format!("--url {} {words}", stub.url())).expect_err("gone");
    assert!(error.to_string().contains("is gone"), "{error}");
    let file = read(&json);
    assert_eq!(file["runs"][0]["carried"]["at_work"], 2);
    assert_eq!(
        file["runs"][0]["profiles"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(calls(&file, "Entity search", "findEntities"), 0);
    // The evidence is that of the profile that is over.
    let evidence = |id| folder.path().join(format!("0005-02/profile-{id:03}.json"));
    let pieces = read(&evidence(1))["requirementResults"][0]["positiveTestEvidence"].clone();
    assert_eq!(pieces.as_array().map(Vec::len), Some(30));
    assert!(!evidence(2).exists());
    // The repository comes back with what it had.
    stub.comes_back();
    for other in ["--seed 2", "--no-booking"] {
        let error = run(&format!("--url {} {words} --continue {other}", stub.url()));
        let error = error.expect_err("another run").to_string();
        assert!(error.contains("the run began with --seed 1"), "{error}");
    }
    let error = run(&format!(
        "--url {} {words} --continue --durability none",
        stub.url()
    ));
    let error = error.expect_err("another durability").to_string();
    assert_eq!(error, "the run began with --durability: not told, not none");
    run(&format!("--url {} {words} --continue", stub.url())).expect("run");
    let file = read(&json);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 15);
    let continued = &file["runs"][0]["continued"][0];
    assert_eq!(continued["again"], "Entity search");
    assert_eq!(continued["url"], stub.url());
}

/// Of the walks: each type has a search for its instances, and three calls that are not supported.
#[test]
fn walks_go_on_after_the_types_that_are_over() {
    let stub = Stub::start(Manner::Leaves(1 + 60 + 4 * 2 + 2));
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("run.json");
    let words = format!(
        "--url {} --volume 5-2 --types 6 --json {} --markdown {} --evidence {} --keep-every 0",
        stub.url(),
        json.display(),
        folder.path().join("run.md").display(),
        folder.path().display()
    );
    run(&format!("{words} --profiles 1,18")).expect_err("gone");
    let booked = || {
        let evidence = read(&folder.path().join("0005-02/profile-002.json"));
        let pieces = evidence["requirementResults"][0]["positiveTestEvidence"].clone();
        let pieces = pieces.as_array().map(|it| it.len() as u64);
        let calls = calls(&read(&json), "Entity search", "findEntities");
        assert_eq!(pieces, Some(calls), "the evidence of each call, once");
        calls
    };
    assert_eq!(booked(), 2);
    let file = read(&json);
    assert_eq!(file["runs"][0]["carried"]["begun"]["types"], 2);
    let profiles = file["runs"][0]["profiles"].as_array().map(Vec::len);
    assert_eq!(profiles, Some(1), "it is not over");
    stub.comes_back();
    let error = run(&format!("{words} --continue --profiles 12")).expect_err("another one");
    assert!(error.to_string().contains("\"Graph queries\""), "{error}");
    let requests = stub.requests();
    run(&format!("{words} --continue --profiles 1,18")).expect("run");
    assert_eq!(booked(), 6);
    let file = read(&json);
    let walks = &file["runs"][0]["profiles"][1];
    assert_eq!(
        (&walks["name"], &walks["cases"]),
        (&"Graph queries".into(), &6.into())
    );
    assert_eq!(file["runs"][0]["carried"]["begun"], Value::Null);
    assert_eq!(file["runs"][0]["continued"][0]["again"], "Graph queries");
    assert_eq!(
        walks["failed"], 0,
        "that is not what the repository's end is"
    );
    // The metadata collection, and four types to walk from.
    assert_eq!(stub.requests() - requests, 1 + 4 * 4);
}

#[test]
fn the_time_may_run_out_within_the_walks() {
    let stub = Stub::start(Manner::Pauses(Duration::from_secs(13)));
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("run.json");
    let words = format!(
        "--url {} --volume 5-2 --types 3 --json {} --markdown {}",
        stub.url(),
        json.display(),
        folder.path().join("run.md").display(),
    );
    run(&format!("{words} --profiles 1,18 --minutes 0.2")).expect("run");
    let file = read(&json);
    assert_eq!(file["runs"][0]["carried"]["begun"]["types"], 1);
    assert_eq!(file["runs"][0]["carried"]["at_work"], Value::Null);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 1);
    run(&format!("{words} --profiles 1,18 --continue")).expect("run");
    let file = read(&json);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 3);
    assert_eq!(file["runs"][0]["continued"][0]["again"], Value::Null);
    assert_eq!(file["runs"][0]["profiles"][1]["cases"], 3);
}

#[test]
fn a_run_goes_on_with_its_evidence_or_without() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let words = |json: &str, more: &str| {
        let (json, tables) = (path(json), path("run.md"));
        format!(
            "--url {} --volume 5-2 --types 3 --json {} --markdown {} {more}",
            stub.url(),
            json.display(),
            tables.display()
        )
    };
    let evidence = format!("--evidence {}", path("evidence").display());
    let refused = |words: &str, why: &str| {
        let requests = stub.requests();
        let error = run(words).expect_err("refused").to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(stub.requests(), requests, "before anything is done");
    };
    run(&words("a.json", &format!("--profiles 1 {evidence}"))).expect("run");
    let pieces = || read(&path("evidence/0005-02/profile-001.json"));
    let before = (read(&path("a.json")), pieces());
    refused(&words("a.json", "--profiles 1"), "a run that can go on");
    refused(&words("a.json", "--continue"), "began with --evidence");
    refused(&words("b.json", &evidence), "the evidence of another run");
    assert_eq!((read(&path("a.json")), pieces()), before);
    run(&words("b.json", "--profiles 1")).expect("run");
    refused(
        &words("b.json", &format!("--continue {evidence}")),
        "go on without --evidence",
    );
    run(&words("b.json", "--continue --profiles 12")).expect("run");
    run(&words(
        "a.json",
        &format!("--continue --profiles 12 {evidence}"),
    ))
    .expect("run");
    assert_eq!(pieces(), before.1);
    assert!(path("evidence/0005-02/profile-012.json").is_file());
}

#[test]
fn each_volume_goes_on_with_its_own_repository() {
    let stubs = [(); 2].map(|()| Stub::start(Manner::Right));
    stubs[1].calls_itself("other");
    let folder = tempfile::tempdir().expect("a folder");
    let (json, binary) = (folder.path().join("run.json"), folder.path().join("varve"));
    let urls = stubs.each_ref().map(Stub::url);
    let words = format!(
        "--serve {} --data-dir {} --volume 5-2,2-1 --types 3 --json {} --markdown {}",
        binary.display(),
        folder.path().join("data").display(),
        json.display(),
        folder.path().join("run.md").display()
    );
    program_of_volumes(&binary, &[("0005-02", &urls[0]), ("0002-01", &urls[1])]);
    run(&format!("{words} --profiles 1")).expect("run");
    run(&format!("{words} --profiles 1,2 --continue")).expect("run");
    let file = read(&json);
    let homes = [0, 1].map(|at| file["runs"][at]["metadata_collection_id"].clone());
    assert_eq!(homes, ["home", "other"]);
    assert_eq!(file["repository"]["url"], urls[1]);
}

#[test]
fn methods_that_any_part_left_out_are_told() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("run.json");
    let words = format!(
        "--url {} --volume 5-2 --types 3 --json {} --markdown {}",
        stub.url(),
        json.display(),
        folder.path().join("run.md").display()
    );
    run(&format!("{words} --profiles 1,12 --skip getEntityDetail")).expect("run");
    run(&format!("{words} --profiles 13 --continue")).expect("run");
    assert_eq!(read(&json)["runs"][0]["left_out"][0], "getEntityDetail");
}

#[test]
fn a_run_goes_on_with_the_server_that_it_began_with() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (json, binary) = (path("run.json"), path("varve"));
    program(&binary, &stub.url(), "varve-1");
    let words = format!(
        "--serve {} --data-dir {} --volume 5-2 --types 3 --json {} --markdown {}",
        binary.display(),
        path("data").display(),
        json.display(),
        path("run.md").display()
    );
    let set = "--serve-set storage.memory_mib=64";
    run(&format!("{words} {set} --profiles 1")).expect("run");
    let repository = read(&json)["repository"].clone();
    assert_eq!(repository["serve_set"][0], "storage.memory_mib=64");
    let version = repository["version"].as_str().expect("a version");
    assert!(version.starts_with("varve-1 (CRC-32 "), "{version}");
    let refused = |words: &str| {
        let before = (read(&json), stub.requests());
        let error = run(&format!("{words} --continue --profiles 1,2")).expect_err("another server");
        assert_eq!((read(&json), stub.requests()), before);
        error.to_string()
    };
    assert_eq!(
        refused(&format!("{words} {set} --durability none")),
        "the run began with --durability: sync, not none"
    );
    assert_eq!(
        refused(&words),
        "the run began with --serve-set: storage.memory_mib=64, not no option"
    );
    program(&binary, &stub.url(), "varve-2");
    let error = refused(&format!("{words} {set}"));
    let began = "the run began with the binary of --serve: varve-1 (CRC-32 ";
    assert!(error.starts_with(began), "{error}");
    // The same name, other bytes.
    program(&binary, &format!("{}/", stub.url()), "varve-1");
    assert!(refused(&format!("{words} {set}")).starts_with(began));
    program(&binary, &stub.url(), "varve-1");
    run(&format!("{words} {set} --continue --profiles 1,2")).expect("run");
    let file = read(&json);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 15);
    assert_eq!(file["runs"][0]["continued"][0]["url"], Value::Null);
}

#[test]
fn what_is_no_repository_is_told() {
    let error = run("--url http://127.0.0.1:1 --volume 5-2").expect_err("nothing there");
    assert!(
        format!("{error:#}").contains("no OMRS repository answers"),
        "{error:#}"
    );
}
