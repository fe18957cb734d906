//! What `deploy/` brings for Prometheus and Grafana names metrics and labels that a server has.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::observed::metrics;
use crate::server::{serve_in_memory, serve_on};

const DASHBOARD: &str = include_str!("../../../../deploy/grafana/varve.json");
const RULES: &str = include_str!("../../../../deploy/prometheus/rules.yml");
/// Labels that Prometheus adds.
const ADDED: [&str; 2] = ["instance", "job"];

/// The labels of each metric of a page.
fn shown(page: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let name_end = line.find(['{', ' ']).unwrap_or(line.len());
        let (name, rest) = line.split_at(name_end);
        let labels = all.entry(name).or_default();
        labels.extend(labels_of(rest));
    }
    all
}

/// The names before `=` in the braces at the front of a text.
fn labels_of(text: &str) -> Vec<&str> {
    let Some(inner) = text.strip_prefix('{') else {
        return Vec::new();
    };
    let mut names = Vec::new();
    // Every second part is outside of quotes; the last of these has the brace.
    for part in inner.split('"').step_by(2) {
        let (names_in, end) = match part.split_once('}') {
            Some((before, _)) => (before, true),
            None => (part, false),
        };
        let name = names_in.trim_matches([',', '=', '~', '!', ' ']);
        names.extend((!name.is_empty()).then_some(name));
        if end {
            break;
        }
    }
    names
}

/// The metrics that an expression reads, with the labels that it asks for.
fn read(expression: &str) -> Vec<(&str, Vec<&str>)> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut found = Vec::new();
    let mut rest = expression;
    while let Some(at) = ["varve_", "process_"]
        .iter()
        .filter_map(|prefix| rest.find(prefix))
        .min()
    {
        rest = &rest[at..];
        let end = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        found.push((name, labels_of(behind)));
        rest = behind;
    }
    found
}

#[test]
fn dashboards_and_alerts_ask_for_what_there_is() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let server = match cfg!(feature = "engines") {
        true => serve_on(dir.path()),
        false => serve_in_memory(),
    };
    server.must("PUT", "/graphs/hugegraph/variables/v", "{\"data\":1}");
    let page = metrics(&server);
    let shown = shown(&page);

    let dashboard: Json = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array());
    let queries = targets.flatten().map(|target| target["expr"].as_str());
    let mut expressions: Vec<&str> = queries.map(|query| query.expect("a query")).collect();
    let rules = RULES
        .lines()
        .filter_map(|line| line.trim().strip_prefix("expr: "));
    expressions.extend(rules);
    let mut asked = 0;
    for expression in expressions {
        for (name, labels) in read(expression) {
            // The engine in memory has no files.
            if name.starts_with("varve_engine_") && !cfg!(feature = "engines") {
                continue;
            }
            let known = shown.get(name);
            let known = known.unwrap_or_else(|| panic!("no metric {name}: {expression}"));
            for label in labels {
                let is_known = known.contains(label) || ADDED.contains(&label);
                assert!(is_known, "{name} has no label {label}: {expression}");
            }
            asked += 1;
        }
    }
    assert!(asked > 40, "{asked} metrics are asked for");
}

#[test]
fn panels_have_places_and_units() {
    let dashboard: Json = serde_json::from_str(DASHBOARD).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let mut ids = BTreeSet::new();
    let mut cells = BTreeSet::new();
    for panel in panels {
        let title = &panel["title"];
        assert!(
            ids.insert(panel["id"].as_u64()),
            "{title}: its id is used twice"
        );
        let place = |name: &str| panel["gridPos"][name].as_u64().expect("a number");
        assert!(place("x") + place("w") <= 24, "{title} is too wide");
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(cells.insert((x, y)), "{title} lies on another panel");
            }
        }
        if panel["type"] != "row" {
            assert!(
                panel["fieldConfig"]["defaults"]["unit"].is_string(),
                "{title}"
            );
            assert_eq!(panel["datasource"]["uid"], "${datasource}", "{title}");
        }
    }
}
