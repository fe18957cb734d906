//! Runs the scenarios of openCypher's TCK in this process, on an open graph in memory.
//!
//! `VARVE_TEST_CYPHER` names the folder of features; without it the test does nothing.
//! `VARVE_TCK_FILTER` selects the scenarios whose path contains it. `VARVE_TCK_REPORT` names a file
//! for the failures and their reasons.

mod graph;
mod procedures;
mod world;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use varve_cypher_tck::gherkin::{self, Scenario, scenarios};

use world::World;

/// The scenarios that must pass at least, if all run.
const PASSED_MIN: usize = 3_897;
/// The time of one scenario, after which it counts as failed.
const TIME_MAX: Duration = Duration::from_secs(20);
const THREADS: usize = 2;
/// The parser's depth needs more than a thread's usual stack in this profile.
const STACK_BYTES: usize = 64 << 20;

/// How scenarios ended.
#[derive(Default)]
struct Tally {
    passed: usize,
    skipped: usize,
    failures: Vec<(String, String)>,
}

fn run_one(scenario: &Arc<Scenario>) -> Result<(), String> {
    let (send, receive) = mpsc::channel();
    let own = Arc::clone(scenario);
    let run = move || {
        let ran = std::panic::catch_unwind(|| World::new().run(&own));
        let ran = ran.unwrap_or_else(|panic| {
            let text = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("panic: {}", text.unwrap_or_default()))
        });
        let _ = send.send(ran);
    };
    let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
    builder.spawn(run).expect("a thread");
    match receive.recv_timeout(TIME_MAX) {
        Ok(ran) => ran,
        Err(_) => Err(format!("no end within {TIME_MAX:?}")),
    }
}

fn run_all(scenarios: &[Arc<Scenario>]) -> BTreeMap<String, Tally> {
    let next = AtomicUsize::new(0);
    let tallies: Mutex<BTreeMap<String, Tally>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ran = run_one(scenario);
                    let folder = Path::new(&scenario.feature).parent();
                    let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
                    let mut tallies = tallies.lock().expect("no panic");
                    let tally = tallies.entry(folder.unwrap_or_default()).or_default();
                    match ran {
                        Ok(()) => tally.passed += 1,
                        Err(reason) if reason.starts_with("skipped") => tally.skipped += 1,
                        Err(reason) => tally.failures.push((scenario.path(), reason)),
                    }
                }
            });
        }
    });
    tallies.into_inner().expect("no panic")
}

/// Expectations that are wrong, one of each kind, and one scenario that is right.
const WRONG: &str = r#"
Feature: Wrong
  Background:
    Given an empty graph

  Scenario: right
    When executing query:
      """
      CREATE (n:A {x: 1}) RETURN n.x AS x
      """
    Then the result should be, in any order:
      | x |
      | 1 |
    And the side effects should be:
      | +nodes      | 1 |
      | +labels     | 1 |
      | +properties | 1 |

  Scenario: another value
    When executing query:
      """
      RETURN 1 AS x
      """
    Then the result should be, in any order:
      | x   |
      | 1.0 |

  Scenario: another order
    When executing query:
      """
      UNWIND [1, 2] AS x RETURN x
      """
    Then the result should be, in order:
      | x |
      | 2 |
      | 1 |

  Scenario: rows instead of none
    When executing query:
      """
      RETURN 1 AS x
      """
    Then the result should be empty

  Scenario: another detail
    When executing query:
      """
      RETURN x
      """
    Then a SyntaxError should be raised at compile time: VariableTypeConflict

  Scenario: another phase
    When executing query:
      """
      RETURN x
      """
    Then a SyntaxError should be raised at runtime: UndefinedVariable

  Scenario: an error that is not raised
    When executing query:
      """
      RETURN 1 AS x
      """
    Then a SyntaxError should be raised at compile time: UndefinedVariable

  Scenario: an error that is not expected
    When executing query:
      """
      RETURN x
      """
    Then the result should be empty

  Scenario: other effects
    When executing query:
      """
      CREATE ()
      """
    Then the result should be empty
    And no side effects
"#;

#[test]
fn wrong_expectations_fail() {
    for scenario in gherkin::feature(WRONG, "wrong").into_iter().map(Arc::new) {
        let ran = run_one(&scenario);
        assert_eq!(
            ran.is_ok(),
            scenario.name == "right",
            "{scenario:?}: {ran:?}"
        );
    }
}

/// What the TCK does not test.
#[test]
fn our_scenarios_pass() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/features");
    let all = scenarios(Path::new(folder)).expect("the features");
    assert!(!all.is_empty());
    for scenario in all.into_iter().map(Arc::new) {
        let ran = run_one(&scenario);
        assert_eq!(ran, Ok(()), "{}", scenario.path());
    }
}

#[test]
fn scenarios_pass() {
    let Ok(folder) = std::env::var("VARVE_TEST_CYPHER") else {
        eprintln!("skipped: VARVE_TEST_CYPHER names no folder of features");
        return;
    };
    let filter = std::env::var("VARVE_TCK_FILTER").unwrap_or_default();
    let all = scenarios(Path::new(&folder)).expect("the features");
    let wanted = all
        .into_iter()
        .filter(|scenario| scenario.path().contains(&filter));
    let wanted: Vec<Arc<Scenario>> = wanted.map(Arc::new).collect();
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        // A panic is a failure with a reason; its trace would bury the others.
        std::panic::set_hook(Box::new(|_| {}));
    }
    let tallies = run_all(&wanted);
    let _ = std::panic::take_hook();
    let mut report = String::new();
    let (mut passed, mut skipped, mut failed) = (0, 0, 0);
    for (folder, tally) in &tallies {
        let _ = writeln!(
            report,
            "{folder}: {} passed, {} failed, {} skipped",
            tally.passed,
            tally.failures.len(),
            tally.skipped
        );
        passed += tally.passed;
        skipped += tally.skipped;
        failed += tally.failures.len();
    }
    let total = format!("{passed} passed, {failed} failed, {skipped} skipped");
    let _ = writeln!(report, "all: {total}");
    println!("{report}");
    let mut failures: Vec<&(String, String)> =
        tallies.values().flat_map(|tally| &tally.failures).collect();
    failures.sort();
    for (path, reason) in &failures {
        let _ = writeln!(
            report,
            "FAILED {path}\n    {}",
            reason.replace('\n', "\n    ")
        );
    }
    if let Ok(file) = std::env::var("VARVE_TCK_REPORT") {
        std::fs::write(file, &report).expect("the report is written");
    } else {
        for (path, reason) in failures.iter().take(20) {
            println!("FAILED {path}\n    {reason}");
        }
    }
    assert!(!filter.is_empty() || passed >= PASSED_MIN, "{total}");
}
