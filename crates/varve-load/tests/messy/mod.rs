//! Drafts of files with rows that are wrong, repeated or in conflict.

mod drafts;

use super::data::Set;
use super::{Graph, inferred};

const PEOPLE: &str = "person_id,name\np1,Ann\np2,Bob\np1,Ann\np3,Cid\n";
const COMPANIES: &str = "company_id,name\nc1,Acme\nc2,Bolt\n";

fn jobs(rows: &str) -> Set {
    let jobs = format!("person_id,company_id,title,from,to\n{rows}");
    let files = [
        ("people.csv", PEOPLE),
        ("companies.csv", COMPANIES),
        ("jobs.csv", &*jobs),
    ];
    let files = files.map(|(name, text)| (name, text.as_bytes().to_vec()));
    Set {
        files: files.into(),
    }
}

#[test]
fn rows_that_are_the_same_are_one_element() {
    let graph = Graph::of(&jobs(
        "p1,c1,dev,2019-01-01,2020-01-01\np1,c1,lead,2020-01-01,\np2,c2,dev,2018-01-01,\n",
    ));
    graph.has(&[("people", 3), ("companies", 2)], &[("jobs", 3)]);
    graph.says("people.csv", "1 rows are the same as an earlier row");
    // Periods that follow one another are states of one edge.
    assert!(!graph.drafted.mapping.contains("sort_keys"));
    assert!(graph.drafted.mapping.contains("valid_to = \"to\" #"));
}

#[test]
fn edges_that_overlap_in_time_are_told_apart() {
    let graph = Graph::of(&jobs(
        "p1,c1,dev,2019-01-01,\np1,c1,lead,2019-06-01,2019-07-01\np2,c2,dev,2018-01-01,\n",
    ));
    graph.says("title", "tells edges apart that have the same ends (1 rows");
    let graph = Graph::of(&jobs(
        "p1,c1,dev,2019-01-01,\np1,c1,dev,2019-06-01,2019-07-01\n",
    ));
    graph.says(
        "jobs.csv",
        "1 rows have the ends of an earlier row and overlap it",
    );
    // One that stays hidden does not hide the others.
    let graph = Graph::of(&jobs(
        "p1,c1,dev,2019-01-01,\np1,c1,lead,2019-06-01,2019-07-01\n\
         p2,c1,dev,2019-01-01,\np2,c1,lead,2019-06-01,2019-07-01\n\
         p2,c2,dev,2018-01-01,\np2,c2,dev,2018-02-01,2018-03-01\n",
    ));
    graph.says("title", "tells edges apart that have the same ends (2 rows");
    graph.says(
        "jobs.csv",
        "1 rows have the ends of an earlier row and overlap it",
    );
}

#[test]
fn a_valid_time_with_a_few_other_values_stays_one() {
    let mut rows: String = (1..=28)
        .map(|day| {
            format!(
                "p1,c{},dev,{}-01-{day:02},{day:02}.02.2021\n",
                1 + day % 2,
                1990 + day
            )
        })
        .collect();
    rows.push_str("p2,c2,dev,2019-01-01,31.06.2021\n");
    let folder = tempfile::tempdir().expect("a folder");
    let drafted = inferred(&jobs(&rows), folder.path());
    assert!(
        drafted.mapping.contains("valid_to = \"to\""),
        "{}",
        drafted.mapping
    );
    let said = drafted
        .unsure
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    let expected = "line 30 has '31.06.2021', which is no date: 1 rows with such values will be";
    assert!(said.contains(expected), "{said}");
    // Half of them may be anything.
    let rows = "p1,c1,dev,2019-01-01,2020-01-01\np2,c2,dev,2018-01-01,never\n";
    let drafted = inferred(&jobs(rows), folder.path());
    assert!(!drafted.mapping.contains("valid_to"), "{}", drafted.mapping);
}
