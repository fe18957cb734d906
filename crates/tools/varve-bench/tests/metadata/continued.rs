//! Runs that continue earlier ones.

use super::*;

/// The results of a run without those that differ each time.
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
    // A part that may begin nothing, then one that ends between two profiles, and one that ends the
    // run.
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
    // The evidence of the first part includes the searches of the last part.
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
    // One request for the metadata collection, then the whole first profile, and a part of the
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
    // The evidence is that of the completed profile.
    let evidence = |id| folder.path().join(format!("0005-02/profile-{id:03}.json"));
    let pieces = read(&evidence(1))["requirementResults"][0]["positiveTestEvidence"].clone();
    assert_eq!(pieces.as_array().map(Vec::len), Some(30));
    assert!(!evidence(2).exists());
    // The repository comes back with its data.
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

/// Each type of the walks has a search for its instances, and three unsupported calls.
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
    refused(
        &words("a.json", "--profiles 1"),
        "a run that can be continued",
    );
    refused(&words("a.json", "--continue"), "began with --evidence");
    refused(&words("b.json", &evidence), "the evidence of another run");
    assert_eq!((read(&path("a.json")), pieces()), before);
    run(&words("b.json", "--profiles 1")).expect("run");
    refused(
        &words("b.json", &format!("--continue {evidence}")),
        "continue without --evidence",
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
fn methods_that_any_part_left_out_are_listed() {
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
    // The same name with other bytes.
    program(&binary, &format!("{}/", stub.url()), "varve-1");
    assert!(refused(&format!("{words} {set}")).starts_with(began));
    program(&binary, &stub.url(), "varve-1");
    run(&format!("{words} {set} --continue --profiles 1,2")).expect("run");
    let file = read(&json);
    assert_eq!(calls(&file, "Entity search", "findEntities"), 15);
    assert_eq!(file["runs"][0]["continued"][0]["url"], Value::Null);
}
