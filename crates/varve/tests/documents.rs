//! Pages that must say what the code says: the tables of REST resources, of the metadata repository's calls, of error codes
//! and of fail points.
//!
//! `VARVE_UPDATE_DOCS=1` writes the tables of resources and of fail points anew.

use std::fs;
use std::path::PathBuf;

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

/// The resources as a table, sorted by path; those of the metadata repository have a page of their own.
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
