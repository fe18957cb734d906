//! Reports of made-up results.

use super::super::profile::{Profile, ROWS, Row};
use super::super::result::{
    FailedCase, MetadataFile, ProfileRun, Repository, RowResult, VolumeRun,
};
use super::{html, markdown};
use crate::api::result::Environment;

fn run(volume: &str, median_us: f64) -> VolumeRun {
    let rows = ROWS.iter().map(|info| RowResult {
        profile: info.row.profile.name().to_owned(),
        method: info.row.method.to_owned(),
        calls: 10,
        median_ms: Some(0.0),
        median_us,
        median_low_us: median_us * 0.9,
        median_high_us: median_us * 1.1,
        p90_us: median_us * 2.0,
        p99_us: median_us * 3.0,
        max_us: median_us * 4.0,
        instances: 20,
        ..RowResult::default()
    });
    let (instances, page) = volume.split_once('-').expect("a volume");
    VolumeRun {
        volume: volume.to_owned(),
        instances_per_type: instances.parse().expect("a number"),
        max_search_results: page.parse().expect("a number"),
        booking: true,
        complete: true,
        rows: rows.collect(),
        profiles: vec![ProfileRun {
            id: 1,
            name: "Entity creation".to_owned(),
            cases: 274,
            ..ProfileRun::default()
        }],
        ..VolumeRun::default()
    }
}

fn file(runs: Vec<VolumeRun>) -> MetadataFile {
    let repository = Repository {
        name: "varve".to_owned(),
        ..Repository::default()
    };
    let mut file = MetadataFile::new("Suite <x>", Environment::default(), repository);
    file.runs = runs;
    file
}

#[test]
fn our_column_stands_beside_the_published_ones() {
    let text = markdown(&[file(vec![run("0005-02", 100.0)])]);
    let line = text.lines().find(|it| it.contains("| addEntity |"));
    let wanted = "| Entity creation | addEntity | 10 | 1,370 | 0 | 0.100 | 0.090 to 0.110 | 0.200 | 0.300 | 0.400 | 51 | 510 × \
                  | 493 | 4,930 × |";
    assert_eq!(line, Some(wanted), "{text}");
    assert!(!text.contains("Rows over a limit"), "{text}");
    assert!(!text.contains("Growth"), "{text}");
    assert!(text.contains("reTypeEntitySub *"), "{text}");
}

#[test]
fn rows_without_the_calls_that_they_must_have_are_marked() {
    let mut short = run("0005-02", 100.0);
    (short.rows[0].calls_min, short.rows[0].calls_max) = (1_370, Some(1_370));
    let search = Row::new(Profile::EntitySearch, "findEntities").position();
    (short.rows[search].calls, short.rows[search].calls_min) = (0, 1);
    let text = markdown(&[file(vec![short])]);
    for marked in [
        "| addEntity | **10 of 1,370** | 1,370 |",
        "| findEntities | **0 of some** | 7,520 |",
        ", 2 rows without the calls that they must have",
    ] {
        assert!(text.contains(marked), "{text}");
    }
}

#[test]
fn rows_over_a_limit_are_listed() {
    let mut slow = run("0005-02", 150.0);
    let row = Row::new(Profile::EntityRetrieval, "getEntityDetail").position();
    slow.rows[row].median_us = 201.0;
    let search = Row::new(Profile::EntitySearch, "findEntities").position();
    slow.rows[search].p99_us = 10_001.0;
    let text = markdown(&[file(vec![slow])]);
    let (_, after) = text.split_once("Rows over a limit").expect("the table");
    let (table, _) = after.split_once("**Profiles**").expect("the next table");
    assert!(
        table.contains("| getEntityDetail | **0.201** | 0.200 |"),
        "{table}"
    );
    assert!(
        table.contains("| findEntities | 0.150 | 1.000 | **10.0** |"),
        "{table}"
    );
    assert_eq!(table.matches("\n| Entity").count(), 2, "{table}");
}

#[test]
fn growth_is_the_last_median_over_the_first() {
    let mut large = run("1280-10", 250.0);
    let related = Row::new(Profile::GraphQueries, "getRelatedEntities").position();
    large.rows[related].instances = 200;
    let text = markdown(&[
        file(vec![large]),
        file(vec![run("0005-02", 100.0), run("0010-05", 120.0)]),
    ]);
    let (_, growth) = text.split_once("**Growth**").expect("the table");
    assert!(
        growth.contains("| 0005-02 | 0010-05 | 1280-10 |"),
        "{growth}"
    );
    let add = "| addEntity | 0.100 | 0.120 | 0.250 | **2.50** | 1.00 |";
    assert!(growth.contains(add), "{growth}");
    // Ten times as many entities in an answer may take twenty times as long.
    let closure = "| Graph queries | getRelatedEntities | 0.100 | 0.120 | 0.250 | 2.50 | 10.0 |";
    assert!(growth.contains(closure), "{growth}");
}

#[test]
fn what_the_repository_does_not_do_is_a_dash() {
    let mut some = run("0005-02", 100.0);
    let row = Row::new(Profile::EntityUndo, "undoEntityUpdate").position();
    some.rows[row] = RowResult {
        profile: "Entity undo".to_owned(),
        method: "undoEntityUpdate".to_owned(),
        not_supported: true,
        ..RowResult::default()
    };
    let text = markdown(&[file(vec![some])]);
    assert!(
        text.contains("| undoEntityUpdate | 0 | 1,365 | -- | -- |"),
        "{text}"
    );
}

#[test]
fn the_page_needs_nothing_else_and_escapes_what_it_shows() {
    let mut failed = run("0010-05", 100.0);
    failed.profiles[0].failed = 1;
    failed.failures.push(FailedCase {
        case: "Asset".to_owned(),
        message: "<script>".to_owned(),
        ..FailedCase::default()
    });
    let page = html(&[file(vec![failed, run("0005-02", 100.0)])]);
    assert!(page.contains("Suite &lt;x&gt;"));
    assert!(page.contains("&lt;script&gt;"));
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert_eq!(page.matches("<svg").count(), 1);
    // Two volumes of our own, and what is published at both: 56 and 38 medians, less those not
    // measured.
    assert_eq!(page.matches("class=\"dot\"").count(), 2 * ROWS.len());
    assert!(page.matches("class=\"hollow\"").count() > 150);
}
