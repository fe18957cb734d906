//! Pages that must say what the code says (the tables of REST resources, of the metadata
//! repository's calls, of error codes and of fail points), links between pages, and the size and
//! form of pages.
//!
//! `VARVE_UPDATE_DOCS=1` writes the tables of resources and of fail points anew.

use std::fs;
use std::path::{Path, PathBuf};

use varve_graph::ErrorKind;
use varve_omrs::error::Message;
use varve_server::{AppState, Route, ServerConfig};

fn page(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

fn query_parameters(route: &Route) -> String {
    let names = route.parameters.iter().map(|parameter| parameter.name);
    names.collect::<Vec<_>>().join(", ")
}

/// The resources as a table, sorted by path; those of the metadata repository have a page of their
/// own.
fn resources() -> String {
    let state = AppState::new(ServerConfig::default()).expect("the defaults are valid");
    let routes = state.router().routes().iter();
    let mut rows: Vec<String> = routes
        .filter(|route| route.refusal.is_none())
        .map(|route| {
            let (verb, names) = (route.verb.as_str(), query_parameters(route));
            format!("| `/{}` | {verb} | {names} |", route.pattern)
        })
        .collect();
    rows.sort();
    format!(
        "| path | verb | query parameters |\n|---|---|---|\n{}\n",
        rows.join("\n")
    )
}

/// The calls of the metadata repository as a table, in the order of the server.
fn calls() -> String {
    let state = AppState::new(ServerConfig::default()).expect("the defaults are valid");
    let base = "servers/{serverName}/open-metadata/repository-services/";
    let rows = state.router().routes().iter().filter_map(|route| {
        let refusal = route.refusal?;
        let path = route.pattern.strip_prefix(base).expect("below the base");
        let path = path
            .strip_prefix("users/{userId}/")
            .unwrap_or(route.pattern);
        let (verb, names) = (route.verb.as_str(), query_parameters(route));
        let method = refusal.method;
        Some(format!("| {method} | {verb} | `{path}` | {names} |\n"))
    });
    let head = "| method | verb | path | query parameters |\n|---|---|---|---|\n".to_owned();
    std::iter::once(head).chain(rows).collect()
}

/// Compares the table between two marks of a page with what it should be, or writes it.
fn check_table(name: &str, (from, to): (&str, &str), expected: &str) {
    let path = page(name);
    let text = fs::read_to_string(&path).expect("the page");
    let (before, rest) = text.split_once(from).expect("the mark before the table");
    let (table, after) = rest.split_once(to).expect("the mark after the table");
    if std::env::var_os("VARVE_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{from}{expected}{to}{after}")).expect("written");
        return;
    }
    assert!(
        table == expected,
        "docs/{name} does not say what the server does; write it anew with `make docs`"
    );
}

#[test]
fn the_rest_page_names_every_resource() {
    let marks = ("<!-- routes -->\n", "<!-- end of routes -->");
    check_table("rest.md", marks, &resources());
}

#[test]
fn the_metadata_page_names_every_call() {
    let marks = ("<!-- calls -->\n", "<!-- end of calls -->");
    check_table("metadata-rest.md", marks, &calls());
}

#[test]
fn the_error_page_names_every_message_of_the_metadata_repository() {
    let text = fs::read_to_string(page("errors.md")).expect("docs/errors.md");
    for message in Message::ALL {
        let ours = message.id().starts_with("VARVE-OMRS-");
        let is_named = text.contains(&format!("| `{}` |", message.id()));
        assert_eq!(ours, is_named, "{}", message.id());
    }
}

#[test]
fn the_operating_page_names_every_fail_point() {
    use varve_kv::fail_point::{ALL, Errors};
    const FROM: &str = "<!-- fail points -->\n";
    const TO: &str = "<!-- end of fail points -->";
    let path = page("operating.md");
    let text = fs::read_to_string(&path).expect("docs/operating.md");
    let (before, rest) = text.split_once(FROM).expect("the mark before the table");
    let (table, after) = rest.split_once(TO).expect("the mark after the table");
    let rows = ALL.iter().map(|point| {
        let errors = match point.errors() {
            Errors::None => "",
            Errors::Io => "`io_error`",
            Errors::All => "`io_error`, `disk_full`",
        };
        format!("| `{}` | {errors} | {} |\n", point.name(), point.place())
    });
    let head = "| name | failures | place |\n|---|---|---|\n".to_owned();
    let expected: String = std::iter::once(head).chain(rows).collect();
    if std::env::var_os("VARVE_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{FROM}{expected}{TO}{after}")).expect("written");
        return;
    }
    assert!(
        table == expected,
        "docs/operating.md does not name the fail points; write it anew with `make docs`"
    );
}

#[test]
fn the_error_page_names_every_code() {
    let text = fs::read_to_string(page("errors.md")).expect("docs/errors.md");
    let mut listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `VRV-"))
        .filter_map(|rest| rest.split_once('`').map(|(code, _)| code))
        .collect();
    let mut known: Vec<&str> = ErrorKind::ALL
        .iter()
        .map(|kind| kind.code().trim_start_matches("VRV-"))
        .collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

/// Folders whose pages are checked for links, beside the root of the repository.
const PAGE_FOLDERS: &[&str] = &["docs", "tests", "notebooks", "examples", "bench"];
/// What the README may have at most: lines, and words as `wc -w` counts them.
const README_MAX: (usize, usize) = (120, 800);
/// Words that a decision may have at most, as `wc -w` counts them.
const DECISION_WORDS_MAX: usize = 600;
/// The headings of a decision.
const DECISION_HEADINGS: [&str; 4] = ["## Question", "## Decision", "## Price", "## Not chosen"];
/// Lines that the page on the architecture may have at most.
const ARCHITECTURE_LINES_MAX: usize = 200;

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The files of a folder that end in `.extension`; those of its folders too when `deep`.
fn files(folder: &Path, extension: &str, deep: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of the repository");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() && deep {
            found.extend(files(&path, extension, deep));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(path);
        }
    }
    found
}

/// The lines of a page outside its code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The anchors of a page's headings, as a renderer makes them.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter(kept).collect::<String>())
        .map(|title| title.replace(' ', "-"))
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut pages = files(&root(), "md", false);
    for folder in PAGE_FOLDERS {
        pages.extend(files(&root().join(folder), "md", true));
    }
    let mut broken = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).expect("a page");
        let links = prose(&text).flat_map(|line| line.split("](").skip(1));
        for link in links.filter_map(|rest| rest.split_once(')').map(|(link, _)| link)) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().expect("a folder").join(file),
            };
            let leads = target.exists()
                && (anchor.is_empty()
                    || fs::read_to_string(&target)
                        .is_ok_and(|text| anchors(&text).iter().any(|it| it == anchor)));
            if !leads {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn every_promise_names_tests_that_exist() {
    let sources = files(&root().join("crates"), "rs", true);
    let code: String = sources
        .iter()
        .map(|path| fs::read_to_string(path).expect("a source file"))
        .collect();
    let text = fs::read_to_string(page("promises.md")).expect("the page");
    let mut count = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")) {
        // Promise, tests, page.
        let tests = row.split('|').nth(2).expect("a column of tests");
        for name in tests.split('`').skip(1).step_by(2) {
            let exists = match name.starts_with("tests/") {
                true => root().join(name).exists(),
                false => code.contains(&format!("fn {name}(")),
            };
            assert!(exists, "docs/promises.md names {name}");
            count += 1;
        }
    }
    assert!(count > 80, "{count} tests are named");
}

#[test]
fn the_readme_is_read_in_two_minutes() {
    let text = fs::read_to_string(root().join("README.md")).expect("README.md");
    let size = (text.lines().count(), text.split_whitespace().count());
    assert!(
        size.0 <= README_MAX.0 && size.1 <= README_MAX.1,
        "README.md has {size:?} lines and words, at most {README_MAX:?} are allowed"
    );
}

#[test]
fn a_decision_says_question_decision_price_and_alternatives_in_few_words() {
    for path in files(&page("decisions"), "md", false) {
        let text = fs::read_to_string(&path).expect("a decision");
        let words = text.split_whitespace().count();
        assert!(
            words <= DECISION_WORDS_MAX,
            "{}: {words} words, at most {DECISION_WORDS_MAX} are allowed",
            path.display()
        );
        let headings: Vec<&str> = prose(&text).filter(|line| line.starts_with("##")).collect();
        assert_eq!(headings, DECISION_HEADINGS, "{}", path.display());
    }
}

#[test]
fn the_architecture_is_one_short_page() {
    let text = fs::read_to_string(page("architecture.md")).expect("architecture.md");
    let lines = text.lines().count();
    assert!(
        lines <= ARCHITECTURE_LINES_MAX,
        "architecture.md has {lines} lines, at most {ARCHITECTURE_LINES_MAX} are allowed"
    );
}
