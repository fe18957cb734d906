//! The load tool against misbehaving servers, and against the real one.
//!
//! Times are not asserted here, since other work may delay this process. How times are measured is
//! tested on a virtual clock, beside the code.

mod real;
mod stub;

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};

use varve_bench::result::{ResultFile, Row};

use stub::{Manner, Stub};

/// Runs `varve-bench api` with these arguments, by default on few elements. Returns its exit code
/// and its result file.
fn bench(words: &str) -> (ExitCode, ResultFile) {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("result.json");
    let code = try_bench(&format!("{words} --json {}", json.display()));
    let code = code.expect("the run was made");
    (code, ResultFile::read(&json).expect("a result file"))
}

/// The same for a run that may fail. Returns the error message.
fn try_bench(words: &str) -> Result<ExitCode, String> {
    let mut line: Vec<&str> = vec!["api", "--quiet"];
    for (option, usual) in [("--vertices", "400"), ("--edges", "500")] {
        let named = words.split_whitespace().any(|word| word == option);
        line.extend([option, usual].iter().filter(|_| !named));
    }
    line.extend(words.split_whitespace());
    let mut tool = Command::new(env!("CARGO_BIN_EXE_varve-bench"));
    let output = tool.args(line).output().expect("the tool runs");
    match output.status.code() {
        None | Some(1) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        Some(code) => Ok(ExitCode::from(code as u8)),
    }
}

fn against(stub: &Stub, words: &str) -> (ExitCode, ResultFile) {
    bench(&format!("--url {} {words}", stub.url()))
}

fn only_row(file: &ResultFile) -> &Row {
    assert_eq!(file.rows.len(), 1);
    &file.rows[0]
}

const READ: &str = "--scenario vertex_by_id --model closed --users 3 --warmup 0 --requests 60";

#[test]
fn right_answers_are_samples_without_errors() {
    let stub = Stub::start(Manner::Right);
    let (code, file) = against(&stub, READ);
    assert_eq!(code, ExitCode::SUCCESS);
    let row = only_row(&file);
    assert_eq!((row.columns.samples, row.columns.error_percent), (60, 0.0));
    assert_eq!(row.histogram_ns.count(), 60);
    assert_eq!(row.connections.opened, 3);
    assert_eq!(row.connections.reconnects, 0);
    assert!(row.corrected.is_none(), "closed: nothing was planned");
    let series: u64 = row.series.iter().map(|second| second.samples).sum();
    assert_eq!(series, 60);
    assert!(row.more.received_bytes > row.more.received_body_bytes);
    assert!(
        row.columns.min_us <= row.columns.median_us && row.columns.median_us <= row.columns.max_us
    );
}

#[test]
fn wrong_answers_are_errors() {
    for (manner, kind) in [
        (Manner::OtherElement, "wrong_body"),
        (Manner::Status(503), "http_503"),
        (Manner::NoHttp, "bad_answer"),
        (Manner::HangUp, "closed"),
    ] {
        let stub = Stub::start(manner);
        let (code, file) = against(&stub, &format!("{READ} --fail-on error>0"));
        assert_ne!(
            code,
            ExitCode::SUCCESS,
            "{manner:?}: the condition must fail the run"
        );
        let row = only_row(&file);
        assert_eq!(row.columns.samples, 60, "{manner:?}: no retries");
        assert_eq!(
            row.errors.get(kind),
            Some(&60),
            "{manner:?}: {:?}",
            row.errors
        );
        assert_eq!(row.columns.error_percent, 100.0);
        assert_eq!(row.error_examples.len(), 1, "{manner:?}");
        assert_eq!(row.more.items_per_s, 0.0);
    }
}

#[test]
fn a_refused_connection_is_an_error_and_the_next_request_tries_again() {
    let stub = Stub::start(Manner::StopsListening);
    let (_, file) = against(&stub, READ);
    let row = only_row(&file);
    // The first connection of a user may have been in the accept queue when the stub stopped
    // listening; then it is reset.
    let count = |kind| row.errors.get(kind).copied().unwrap_or(0);
    assert!(count("reset") <= 3, "{:?}", row.errors);
    assert_eq!(count("refused") + count("reset"), 60, "{:?}", row.errors);
    assert_eq!(row.columns.samples, 60);
}

#[test]
fn a_server_that_closes_connections_costs_reconnects_and_no_errors() {
    let stub = Stub::start(Manner::ClosesAfter(5));
    let (_, file) = against(&stub, READ);
    let row = only_row(&file);
    assert_eq!(row.columns.error_percent, 0.0, "{:?}", row.errors);
    assert_eq!(row.connections.opened, 3 + row.connections.reconnects);
    assert!(
        row.connections.reconnects >= 60 / 5 - 3,
        "{:?}",
        row.connections
    );
}

#[test]
fn answers_in_chunks_and_in_pieces_are_read() {
    for manner in [Manner::Chunked, Manner::Pieces] {
        let stub = Stub::start(manner);
        let (_, file) = against(&stub, READ);
        assert_eq!(only_row(&file).columns.error_percent, 0.0, "{manner:?}");
    }
}

#[test]
fn an_answer_that_never_comes_is_a_time_out() {
    let stub = Stub::start(Manner::Silent);
    let words =
        "--scenario vertex_by_id --model closed --users 2 --warmup 0 --requests 2 --timeout 3s";
    let (_, file) = against(&stub, words);
    assert_eq!(only_row(&file).errors.get("read_timeout"), Some(&2));
}

#[test]
fn what_was_written_is_read_back() {
    let words =
        "--scenario single_insert_vertices --model closed --users 2 --warmup 0 --requests 40";
    let stub = Stub::start(Manner::Right);
    let (code, file) = against(&stub, words);
    assert_eq!(code, ExitCode::SUCCESS);
    let verification = only_row(&file)
        .verification
        .clone()
        .expect("writes are verified");
    assert_eq!((verification.acknowledged, verification.checked), (40, 40));
    assert!(verification.passed(), "{verification:?}");

    let stub = Stub::start(Manner::Forgets);
    let (code, file) = against(&stub, words);
    assert_ne!(code, ExitCode::SUCCESS, "lost writes fail the run");
    let verification = only_row(&file)
        .verification
        .clone()
        .expect("writes are verified");
    assert_eq!((verification.checked, verification.missing), (40, 40));
}

#[test]
fn as_many_are_read_back_as_were_asked_for() {
    let words = "--scenario single_insert_vertices --model closed --users 2 --threads 2 --warmup 0 \
                 --requests 5000";
    for (wanted, method) in [
        (300, "300 of them, chosen at random, read by id"),
        (5_000, "all read by id"),
    ] {
        let stub = Stub::start(Manner::Right);
        let (_, file) = against(&stub, &format!("{words} --verify {wanted}"));
        let verification = only_row(&file).verification.clone();
        let verification = verification.expect("writes are verified");
        assert_eq!(verification.checked, wanted);
        assert_eq!(verification.method, method);
    }
}

#[test]
fn another_prefix_is_drawn_for_each_run() {
    let stub = Stub::start(Manner::Right);
    let prefixes: BTreeSet<String> = (0..4)
        .map(|_| against(&stub, READ).1.environment.run_prefix)
        .collect();
    assert_eq!(prefixes.len(), 4, "{prefixes:?}");
}

#[test]
fn a_prefix_is_free_only_if_the_server_says_so() {
    let stub = Stub::start(Manner::BusyFromTheStart);
    for more in ["", "--run-prefix abc", "--run-prefix abc --loaded"] {
        let error = try_bench(&format!("--url {} {READ} {more}", stub.url()));
        let error = error.expect_err("it is not known");
        assert!(
            error.contains("503") && error.contains("is unknown"),
            "{error}"
        );
    }
}

#[test]
fn a_prefix_that_was_used_is_warned_of() {
    let stub = Stub::start(Manner::Right);
    let warnings = |words: &str| {
        let words = format!("{READ} --run-prefix abc {words}");
        against(&stub, &words).1.environment.warnings
    };
    assert_eq!(warnings(""), [""; 0], "the first run with this prefix");
    assert_eq!(
        warnings("--loaded"),
        [""; 0],
        "which is to have its elements"
    );
    let again = warnings("");
    assert_eq!(again.len(), 1);
    assert!(again[0].contains("prefix abc"), "{again:?}");
}

#[test]
fn paced_users_send_equally_often() {
    let stub = Stub::start(Manner::Right);
    let words = "--scenario vertex_by_id --users 4 --period 500ms --ramp 500ms --hold 1s";
    let (_, file) = against(&stub, words);
    let row = only_row(&file);
    let generator = &row.generator;
    assert_eq!(generator.planned_samples_per_user, Some(4.0));
    // A user that was delayed by half a second has omitted one request.
    assert!(
        row.columns.samples <= 16 && row.columns.samples >= 8,
        "{}",
        row.columns.samples
    );
    let corrected = row.corrected.as_ref().expect("a plan");
    assert!(
        corrected.max_us >= row.columns.max_us * 0.99,
        "from the plan is never shorter"
    );
    let recorded = row.corrected_histogram_ns.as_ref().expect("a plan").count();
    assert_eq!(recorded, row.columns.samples + corrected.omitted);
}

#[test]
fn a_search_ends_at_the_first_failure_or_at_its_maximum() {
    let words = "--scenario vertex_by_id --model closed --users 2 --warmup 0 --requests 30 --limit-search \
                 --limit-factor 2 --limit-max 5";
    for (manner, clean, failed, steps) in [
        (Manner::Right, Some(5), None, 3),
        (Manner::Status(503), None, Some(2), 1),
    ] {
        let stub = Stub::start(manner);
        let (code, file) = against(&stub, words);
        assert_eq!(code, ExitCode::SUCCESS, "a limit found is no failure");
        let found = &file.limits[0];
        assert_eq!(
            (found.last_clean, found.first_failed),
            (clean, failed),
            "{found:?}"
        );
        assert_eq!((found.rows.len(), file.rows.len()), (steps, steps));
        assert_eq!(
            found.reason.contains("error>0"),
            failed.is_some(),
            "{found:?}"
        );
    }
}

#[test]
fn a_search_that_runs_out_of_elements_ends_and_says_so() {
    let stub = Stub::start(Manner::Right);
    // Four hundred edges are enough for one step and a part of the next.
    let words = "--scenario single_insert_edges --vertices 20 --vertices-per-request 20 --model closed --users 2 \
                 --warmup 0 --requests 300 --verify 0 --limit-search --limit-factor 2 --limit-max 8";
    let (_, file) = against(&stub, words);
    let found = &file.limits[0];
    assert_eq!(
        (found.last_clean, found.first_failed),
        (Some(2), Some(4)),
        "{found:?}"
    );
    assert!(found.reason.starts_with("4: ended early"), "{found:?}");
    let [clean, last] = &file.rows[..] else {
        panic!("{:?}", file.rows);
    };
    assert_eq!((clean.columns.samples, last.columns.samples), (300, 100));
    assert_eq!(clean.ended_early, None);
    let why = last.ended_early.as_ref().expect("why");
    assert!(why.contains("0 of the 400"), "{why}");
}

#[test]
fn more_elements_than_there_can_be_are_refused() {
    let stub = Stub::start(Manner::Right);
    for (words, why) in [
        ("gremlin_vertex --vertices 134217729", "fewer --vertices"),
        ("vertex_by_id --vertices 1000000000", "fewer --vertices"),
        (
            "vertex_by_id --vertices 18446744073709551615",
            "fewer --vertices",
        ),
        (
            "edge_by_id --vertices 20 --vertices-per-request 20 --edges 401",
            "more --vertices",
        ),
    ] {
        let error = try_bench(&format!("--url {} --scenario {words}", stub.url()));
        let error = error.expect_err("there are not so many");
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn both_forms_of_paths_are_spoken() {
    let stub = Stub::start(Manner::Right);
    for (paths, used) in [
        ("short", "short"),
        ("graph-space", "graph-space"),
        ("auto", "short"),
    ] {
        let (_, file) = against(&stub, &format!("{READ} --paths {paths}"));
        assert_eq!(file.servers[0].paths, used);
        assert_eq!(only_row(&file).columns.error_percent, 0.0);
    }
}

#[test]
fn scenarios_that_the_server_lacks_are_skipped_with_the_reason() {
    let stub = Stub::start(Manner::Right);
    let words =
        "--scenario kout_2,rings,vertex_by_id --model closed --users 1 --warmup 0 --requests 5";
    let (code, file) = against(&stub, words);
    assert_eq!(code, ExitCode::SUCCESS);
    let skipped: Vec<bool> = file.rows.iter().map(|row| row.skipped.is_some()).collect();
    assert_eq!(skipped, [true, true, false]);
}

#[test]
fn samples_are_written_in_jmeters_form() {
    let stub = Stub::start(Manner::Right);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples.jtl");
    against(&stub, &format!("{READ} --jtl {}", path.display()));
    let text = std::fs::read_to_string(&path).expect("the samples");
    assert_eq!(text.lines().count(), 61);
    assert!(
        text.lines()
            .skip(1)
            .all(|line| line.contains(",vertex_by_id,200,"))
    );
}
