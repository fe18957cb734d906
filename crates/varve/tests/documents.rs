//! Pages that must say what the code says: the tables of REST resources, of error codes and of fail points.
//!
//! `VARVE_UPDATE_DOCS=1` writes the tables of resources and of fail points anew.

use std::fs;
use std::path::PathBuf;

use varve_graph::ErrorKind;
use varve_server::{AppState, ServerConfig};

fn page(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name)
}

/// The resources as a table, sorted by path.
fn resources() -> String {
    let state = AppState::new(ServerConfig::default()).expect("the defaults are valid");
    let mut rows: Vec<String> = state
        .router()
        .routes()
        .iter()
        .map(|route| {
            let names: Vec<&str> = route
                .parameters
                .iter()
                .map(|parameter| parameter.name)
                .collect();
            let verb = route.verb.as_str();
            format!("| `/{}` | {verb} | {} |", route.pattern, names.join(", "))
        })
        .collect();
    rows.sort();
    format!(
        "| path | verb | query parameters |\n|---|---|---|\n{}\n",
        rows.join("\n")
    )
}

#[test]
fn the_rest_page_names_every_resource() {
    const FROM: &str = "<!-- routes -->\n";
    const TO: &str = "<!-- end of routes -->";
    let path = page("rest.md");
    let text = fs::read_to_string(&path).expect("docs/rest.md");
    let (before, rest) = text.split_once(FROM).expect("the mark before the table");
    let (table, after) = rest.split_once(TO).expect("the mark after the table");
    let expected = resources();
    if std::env::var_os("VARVE_UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{FROM}{expected}{TO}{after}")).expect("written");
        return;
    }
    assert!(
        table == expected,
        "docs/rest.md does not name the resources of the server; write it anew with `make docs`"
    );
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
