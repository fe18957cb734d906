//! `varve load` of files that correct what was loaded before, and its dry runs.

use crate::server::{run, serve_in_memory, shown, write};

const MAPPING: &str = r#"
[[vertex]]
file = "people.csv"
label = "person"
id = "id"
valid_from = 2000-01-01

[[edge]]
file = "jobs.csv"
label = "works_with"
source = "a"
target = "b"
valid_from = "from"
valid_to = "to"

[schema]
vertexlabels = [{name = "person", id_strategy = "CUSTOMIZE_STRING"}]
edgelabels = [{name = "works_with", source_label = "person", target_label = "person"}]
"#;

#[test]
fn the_end_of_a_correction_ends_what_was_open() {
    let server = serve_in_memory();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path();
    write(folder, "people.csv", "id\nann\nbob\ncid\n");
    write(
        folder,
        "jobs.csv",
        "a,b,from,to\nann,bob,2018-03-01,\nann,cid,2018-03-01,\n",
    );
    write(
        folder,
        "fix.csv",
        "a,b,from,to\nann,bob,2018-03-01,2021-05-15\n",
    );
    let load = |name: &str, mapping: &str| {
        let mapping = write(folder, name, mapping);
        let (code, text) = run(&["load", "--server", &server.url, shown(&mapping)]);
        assert_eq!(code, 0, "{text}");
    };
    let edges = |query: &str| {
        let path = format!("/graphs/hugegraph/graph/edges?{query}");
        let answer = server.must("GET", &path, "");
        answer["edges"].as_array().map_or(0, Vec::len)
    };
    load("jobs.toml", MAPPING);
    let fix = MAPPING.replace("jobs.csv", "fix.csv");
    load("fix.toml", &fix);
    assert_eq!(edges("as_of=2021-06-01"), 2);
    let to = "valid_to = \"to\"";
    load(
        "ends.toml",
        &fix.replace(to, &format!("{to}\nvalid_to_ends_edge = true")),
    );
    assert_eq!(edges("as_of=2021-05-14"), 2);
    assert_eq!(edges("as_of=2021-05-15"), 1);
    assert_eq!(edges(""), 1);
}

#[test]
fn a_dry_run_counts_as_the_load() {
    let server = serve_in_memory();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let folder = dir.path();
    write(folder, "people.csv", "id\nann\nbob\n");
    write(folder, "jobs.csv", "a,b,from,to\nann,bob,2018-03-01,\n");
    let known = write(folder, "known.toml", MAPPING);
    let load = |mapping: &str, more: &[&str]| {
        let mut arguments = vec!["load", "--server", &server.url, "--batch", "70", mapping];
        arguments.extend(more);
        run(&arguments)
    };
    assert_eq!(load(shown(&known), &[]).0, 0);
    let people: String = (0..500).map(|n| format!("p{n}\n")).collect();
    write(folder, "people.csv", &format!("id\n{people}"));
    // Of three jobs, one has an end that nobody has.
    let jobs: String = (0..900)
        .map(|n| match n % 3 {
            0 => format!("p{},ann,2019-03-01,\n", n / 3),
            1 => format!("p{},p{},2019-03-01,\n", n / 3, 499 - n / 3),
            _ => format!("bob,p{},2019-03-01,\n", 500 + n),
        })
        .collect();
    write(
        folder,
        "jobs.csv",
        &format!("a,b,from,to\np1,bob,1999-01-01,\n{jobs}"),
    );
    let mapping = write(folder, "more.toml", MAPPING);
    let refused = || {
        let text = std::fs::read_to_string(folder.join("more.toml.bad")).expect("refused rows");
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let (code, dry) = load(shown(&mapping), &["--dry-run"]);
    assert_eq!(code, 3, "{dry}");
    assert!(
        dry.contains("1100 elements would be sent, 301 rows are wrong"),
        "{dry}"
    );
    let told = refused();
    assert!(told[0].contains("jobs.csv:"), "{told:?}");
    let (code, stored) = load(shown(&mapping), &[]);
    assert_eq!(code, 3, "{stored}");
    assert!(
        stored.contains("1100 elements stored, 301 rows refused"),
        "{stored}"
    );
    assert_eq!(told, refused());
    let (code, dry) = load(shown(&mapping), &["--dry-run", "--skip-vertex-check"]);
    assert_eq!(code, 0, "{dry}");
}
