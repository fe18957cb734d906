//! Reports of made-up results: complete, self-contained, and with text of files as text.

use super::*;
use crate::metadata::ROWS;
use crate::result::{
    Buckets, Columns, Environment, ErrorExample, FailedCase, LimitFound, Load, Model, More,
    ProfileRun, Row, Second, Server, VolumeRun,
};

fn row(server: &str, scenario: &str, users: u32, rate: f64) -> Row {
    let seconds = 30;
    let times = Buckets(vec![
        (120_000, 10),
        (900_000, 880),
        (9_000_000, 100),
        (48_000_000, 10),
    ]);
    Row {
        server: server.into(),
        scenario: scenario.into(),
        label: scenario.into(),
        load: Load {
            model: Model::Paced,
            users,
            period_s: Some(1.0),
            ramp_s: 5.0,
            hold_s: 25.0,
            ..Load::default()
        },
        repeat: 1,
        items_per_request: 1,
        elapsed_s: f64::from(seconds),
        columns: Columns {
            throughput: rate,
            ..Columns::of(&times, f64::from(seconds), 7, 1_000)
        },
        more: More {
            items_per_s: rate,
            ..More::of(&times)
        },
        errors: [("http_503".to_owned(), 7)].into(),
        error_examples: vec![ErrorExample {
            kind: "http_503".into(),
            text: "<html><script>alert('no')</script>\n| x".into(),
        }],
        series: (0..seconds)
            .map(|at_s| Second {
                at_s,
                samples: rate as u64,
                median_us: 900,
                line99_us: 9_000 + u64::from(at_s) * 10,
                max_us: 20_000,
                users,
                ..Second::default()
            })
            .collect(),
        corrected_histogram_ns: Some(times.clone()),
        histogram_ns: times,
        ..Row::default()
    }
}

fn file(server: &str, rows: Vec<Row>) -> ResultFile {
    ResultFile {
        title: "A run & <more>".into(),
        environment: Environment {
            cpu_model: "EPYC <9>".into(),
            command_line: vec!["varve-bench".into(), "it's".into()],
            warnings: vec!["somaxconn is 128 < 1000".into()],
            ..Environment::default()
        },
        servers: vec![Server {
            name: server.into(),
            url: "http://127.0.0.1:8080".into(),
            durability: Some("sync".into()),
            ..Server::default()
        }],
        rows,
        ..ResultFile::default()
    }
}

fn files() -> Vec<ResultFile> {
    let rows = |server: &str, factor: f64| {
        vec![
            row(server, "vertex_by_id", 8_000, 7_400.0 * factor),
            row(server, "vertex_by_id", 9_000, 8_300.0 * factor),
            row(server, "single_insert_vertices", 9_000, 8_300.0 * factor),
        ]
    };
    let mut ours = file("varve", rows("varve", 1.0));
    ours.rows.push(Row {
        label: "kout_2".into(),
        skipped: Some("the server <cannot>".into()),
        ..Row::default()
    });
    ours.limits.push(LimitFound {
        server: "varve".into(),
        label: "vertex_by_id".into(),
        last_clean: Some(14_000),
        reason: "0.01 % errors".into(),
        ..LimitFound::default()
    });
    vec![ours, file("hugegraph", rows("hugegraph", 0.5))]
}

fn assert_needs_nothing_else(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"));
    for outside in [
        "src=", "href=", "@import", "url(", "<link", "<script", "<iframe", "NaN",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn the_page_of_load_tests_has_tables_and_charts() {
    let report = of(&files()).expect("a report");
    let page = report.html();
    assert_needs_nothing_else(&page);
    for part in [
        "<td>vertex_by_id</td>",
        "A run &amp; &lt;more&gt;",
        "alert('no')&lt;/script&gt; | x",
        "the server &lt;cannot&gt;",
        "somaxconn is 128 &lt; 1000",
        "Upper limit of vertex_by_id on varve: 14000 users",
        "varve against hugegraph",
        ">2.00<",
        // A published figure, and the name of its table.
        "8396.12",
        "v0.5.6 rocksdb vertex_single, 11500 users",
        "varve-bench 'it'\\''s'",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // Percentiles, throughput and times of six rows, and both figures by users.
    assert_eq!(page.matches("<svg").count(), 6 * 3 + 2);
    let text = report.markdown();
    assert!(
        !text.contains("<svg") && text.contains("**0.70%**"),
        "{text}"
    );
}

#[test]
fn the_published_columns_come_first_and_in_their_order() {
    let text = table_of(&files()[0]);
    assert!(text.starts_with(
        "| Label | Samples | Average | Median | 90% Line | Min | Max | Error % | Throughput | KB/sec |"
    ));
    let line = text.lines().nth(2).expect("a row");
    assert!(
        line.starts_with("| vertex_by_id | 1,000 | 2 | 0 | 9 | 0 | 48 | **0.70%** | 7400.0 |"),
        "{line}"
    );
}

#[test]
fn an_empty_file_is_a_page_too() {
    for suite in ["", "metadata"] {
        let file = ResultFile {
            suite: suite.to_owned(),
            ..ResultFile::default()
        };
        assert_needs_nothing_else(&of(&[file]).expect("a report").html());
    }
}

/// A run of open metadata whose times are all the same.
fn volume(name: &str, median_us: u64) -> ResultFile {
    let times = Buckets(vec![(median_us * 1_000, 10)]);
    let elapsed_s = median_us as f64 / 1e5;
    let rows = ROWS.iter().map(|info| Row {
        volume: name.to_owned(),
        profile: info.row.profile.name().to_owned(),
        label: info.row.method.to_owned(),
        elapsed_s,
        columns: Columns::of(&times, elapsed_s, 0, 0),
        more: More {
            items_per_s: 20.0 / elapsed_s,
            ..More::of(&times)
        },
        histogram_ns: times.clone(),
        ..Row::default()
    });
    let (instances, page) = name.split_once('-').expect("a volume");
    ResultFile {
        suite: "metadata".to_owned(),
        volumes: vec![VolumeRun {
            volume: name.to_owned(),
            instances_per_type: instances.parse().expect("a number"),
            max_search_results: page.parse().expect("a number"),
            complete: true,
            profiles: vec![ProfileRun {
                id: 1,
                name: "Entity creation".to_owned(),
                cases: 274,
                ..ProfileRun::default()
            }],
            ..VolumeRun::default()
        }],
        ..file("varve", rows.collect())
    }
}

fn place(method: &str) -> usize {
    let place = ROWS.iter().position(|info| info.row.method == method);
    place.expect("a method")
}

#[test]
fn our_medians_stand_beside_the_published_ones() {
    let text = table_of(&volume("0005-02", 100));
    let line = text.lines().find(|it| it.contains("| addEntity |"));
    let wanted = "| Entity creation | addEntity | 10 | 1,370 | 0 | 0.100 | 0.100 to 0.100 | 0.100 | 0.100 | 0.100 | 51 | 510 × \
                  | 493 | 4,930 × |";
    assert_eq!(line, Some(wanted), "{text}");
    assert!(!text.contains("**") && !text.contains("Growth"), "{text}");
    assert!(text.contains("reTypeEntitySub *"), "{text}");
}

#[test]
fn rows_that_miss_something_are_bold() {
    let mut slow = volume("0005-02", 100);
    (slow.rows[0].calls_min, slow.rows[0].calls_max) = (1_370, Some(1_370));
    slow.rows[place("getEntityDetail")].columns.median_us = 201.0;
    slow.rows[place("findEntities")].more.line99_us = 10_001.0;
    let undo = &mut slow.rows[place("undoEntityUpdate")];
    (undo.skipped, undo.histogram_ns) = (Some("not supported".to_owned()), Buckets::default());
    undo.columns = Columns::default();
    let text = table_of(&slow);
    for part in [
        "| addEntity | **10 of 1,370** | 1,370 |",
        "1 rows without the calls that they must have",
        "| getEntityDetail | 10 | 1,370 | 0 | **0.201** |",
        "| 0.100 | **10.0** | 0.100 |",
        "| undoEntityUpdate | 0 | 1,365 | -- | -- |",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn growth_is_the_last_median_over_the_first() {
    let mut large = volume("1280-10", 250);
    let walks = &mut large.rows[place("getRelatedEntities")];
    walks.more.items_per_s *= 10.0;
    let files = [large, volume("0005-02", 100), volume("0010-05", 120)];
    let report = of(&files).expect("a report");
    let text = report.markdown();
    let (_, growth) = text.split_once("## Growth").expect("the table");
    assert!(
        growth.contains("| 0005-02 | 0010-05 | 1280-10 |"),
        "{growth}"
    );
    let add = "| addEntity | 0.100 | 0.120 | 0.250 | **2.50** | 1.00 |";
    assert!(growth.contains(add), "{growth}");
    // Ten times as many entities in an answer may take twenty times as long.
    let closure = "| Graph queries | getRelatedEntities | 0.100 | 0.120 | 0.250 | 2.50 | 10.0 |";
    assert!(growth.contains(closure), "{growth}");
    let page = report.html();
    assert_needs_nothing_else(&page);
    assert_eq!(page.matches("<svg").count(), 1);
    // Three volumes of our own, and what is published at two of them.
    assert!(page.matches("<circle").count() > 3 * ROWS.len() + 100);
}

#[test]
fn failed_test_cases_are_listed_and_escaped() {
    let mut failed = volume("0010-05", 100);
    failed.volumes[0].profiles[0].failed = 1;
    failed.volumes[0].failures.push(FailedCase {
        case: "Asset".to_owned(),
        message: "<script>".to_owned(),
        ..FailedCase::default()
    });
    let page = of(&[failed]).expect("a report").html();
    assert!(page.contains("<td>Asset</td>") && page.contains("&lt;script&gt;"));
    assert_needs_nothing_else(&page);
}

#[test]
fn files_of_two_suites_are_refused() {
    let error = of(&[volume("0005-02", 1), ResultFile::default()]).expect_err("refused");
    assert!(error.to_string().contains("a report of each"), "{error}");
}

#[test]
fn ratios_to_limits_are_of_one_turn() {
    let turn = |server, repeat, rate| Row {
        repeat,
        ..row(server, "vertex_by_id", 64, rate)
    };
    let file = ResultFile {
        suite: "limits".into(),
        servers: vec![Server {
            name: "varve".into(),
            ..Server::default()
        }],
        rows: vec![
            turn("varve", 1, 10.0),
            turn("bare http", 2, 100.0),
            turn("bare http", 1, 20.0),
            turn("varve", 2, 20.0),
        ],
        ..ResultFile::default()
    };
    let text = table_of(&file);
    // 10 ÷ 20 and 20 ÷ 100, in whatever order the sides ran.
    assert!(text.contains("| 0.35 (0.20–0.50) |"), "{text}");
    assert!(!text.contains("rocksdb"), "it did not run: {text}");
}
