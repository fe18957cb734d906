//! `varve load` of files that correct what was loaded before.

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
