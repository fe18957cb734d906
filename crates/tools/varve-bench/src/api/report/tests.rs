//! The page as a whole: complete, self-contained, escaped, well formed.

use super::*;
use crate::api::result::{
    Buckets, Columns, Connections, Corrected, Cpu, Environment, ErrorExample, Generator,
    LimitFound, Load, Memory, Model, More, Second, Verification,
};

/// A row with realistic figures.
#[expect(clippy::too_many_lines, reason = "a row has this many columns")]
fn row(server: &str, scenario: &str, users: u32, rate: f64) -> Row {
    let seconds = 30;
    Row {
        server: server.into(),
        scenario: scenario.into(),
        label: scenario.into(),
        load: Load {
            model: Model::Paced,
            users: Some(users),
            period_s: Some(1.0),
            ramp_s: 5.0,
            hold_s: 25.0,
            ..Load::default()
        },
        repeat: 1,
        items_per_request: 1,
        elapsed_s: f64::from(seconds),
        columns: Columns {
            samples: (rate * f64::from(seconds)) as u64,
            average_us: 1_400.0,
            median_us: 900,
            line90_us: 2_500,
            min_us: 120,
            max_us: 48_000,
            error_percent: 0.25,
            throughput: rate,
            kb_per_s: rate / 5.0,
        },
        more: More {
            line95_us: 4_000,
            line99_us: 9_000,
            line999_us: 31_000,
            items_per_s: rate,
            ..More::default()
        },
        corrected: Some(Corrected {
            line99_us: 12_000,
            ..Corrected::default()
        }),
        errors: [("http_503".to_owned(), 7)].into(),
        error_examples: vec![ErrorExample {
            kind: "http_503".into(),
            text: "<html><script>alert('no')</script>".into(),
        }],
        connections: Connections {
            opened: u64::from(users),
            ..Connections::default()
        },
        cpu: Cpu {
            server_s: Some(12.0),
            server_us_per_request: Some(21.0),
            server_us_per_item: Some(21.0),
            generator_us_per_request: 9.5,
            ..Cpu::default()
        },
        server_memory: Some(Memory {
            peak_bytes: 300 << 20,
            ..Memory::default()
        }),
        generator: Generator {
            bound: true,
            bound_reason: Some("sends were late & the server idle".into()),
            in_flight: 1.5,
            samples_per_user: Some(30.9),
            planned_samples_per_user: Some(31.0),
            ..Generator::default()
        },
        verification: Some(Verification {
            acknowledged: 1_000,
            checked: 1_000,
            method: "read back".into(),
            ..Verification::default()
        }),
        series: (0..seconds)
            .map(|at_s| Second {
                at_s,
                samples: rate as u64,
                errors: u64::from(at_s == 7) * 7,
                average_us: 1_400.0,
                median_us: 900,
                line99_us: 9_000 + u64::from(at_s) * 10,
                max_us: 20_000,
                users: users.min(at_s * users / 5),
                server_cpu_percent: Some(80.0),
                generator_cpu_percent: 35.0,
                server_rss_bytes: Some((200 + u64::from(at_s)) << 20),
            })
            .collect(),
        histogram: Buckets(vec![
            (120, 10),
            (900, 500),
            (2_500, 380),
            (9_000, 100),
            (48_000, 10),
        ]),
        corrected_histogram: Some(Buckets(vec![(900, 900), (12_000, 100)])),
        ..Row::default()
    }
}

fn file(server: &str, title: &str, rows: Vec<Row>) -> ResultFile {
    ResultFile {
        format: 1,
        title: title.into(),
        environment: Environment {
            machine: Some("the \"small\" one".into()),
            cpu_model: "EPYC <9>".into(),
            cpu_count: 2,
            memory_bytes: 24 << 30,
            command_line: vec!["varve-bench".into(), "api".into(), "it's".into()],
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
    let mut ours = file("varve", "A run & more", rows("varve", 1.0));
    ours.rows[1].ended_early = Some("nothing <new> is left".into());
    ours.rows.push(Row {
        label: "as_of".into(),
        skipped: Some("the server <cannot>".into()),
        ..Row::default()
    });
    ours.limits.push(LimitFound {
        server: "varve".into(),
        label: "vertex_by_id".into(),
        raised: "users".into(),
        last_clean: Some(14_000.0),
        reason: "0.01 % errors".into(),
        ..LimitFound::default()
    });
    vec![
        ours,
        file("hugegraph", "A run & more", rows("hugegraph", 0.5)),
    ]
}

/// Asserts that every element is closed in order and that attributes are quoted.
fn assert_well_formed(html: &str) {
    const VOID: [&str; 4] = ["meta", "br", "path", "circle"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').expect("a tag's end");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes in <{tag}>");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closing </{name}>");
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name");
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            rest = &rest[rest.find(&close).expect("its end") + close.len()..];
            continue;
        }
        if !VOID.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_else() {
    let page = html(&files());
    assert_well_formed(&page);
    for outside in [
        "src=", "href=\"h", "@import", "url(", "<link", "fetch(", "<iframe",
    ] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(!page.contains("NaN"), "a figure that is none");
}

#[test]
fn what_files_say_is_text() {
    let mut files = files();
    files[0].rows[0].label = "<img onerror=x>".into();
    files[0].rows[0].scenario = "</style><script>".into();
    files[0].servers[0].notes = vec!["<b>bold</b>".into()];
    let page = html(&files);
    assert_well_formed(&page);
    for raw in [
        "<img",
        "</style><script>",
        "<b>",
        "alert('no')",
        "<cannot>",
        "EPYC <9>",
    ] {
        assert!(!page.contains(raw), "{raw}");
    }
}

#[test]
fn every_anchor_has_its_place() {
    let page = html(&files());
    let mut links = 0;
    for link in page.split("href=\"#").skip(1) {
        let anchor = link.split('"').next().expect("a name");
        assert!(page.contains(&format!("id=\"{anchor}\"")), "{anchor}");
        links += 1;
    }
    assert_eq!(links, 6, "a link a row");
}

#[test]
fn the_page_says_what_the_file_says() {
    let page = html(&files());
    for part in [
        "<th>Samples</th>",
        "8,300",
        "generator-bound",
        "nothing &lt;new&gt; is left\">ended early",
        "1,000 read back",
        "http_503",
        "somaxconn is 128 &lt; 1000",
        "Not run:",
        "14,000",
        "varve ÷ hugegraph",
        "2.00",
        // A published figure, and the caption of its table.
        "8396.12",
        "v0.5.6 rocksdb vertex_single",
        "varve-bench api &#39;it&#39;\\&#39;&#39;s&#39;",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for title in [
        "Percentiles",
        "Distribution",
        "Throughput and errors over time",
        "Memory of the server",
    ] {
        assert_eq!(
            page.matches(&format!("<figcaption>{title}<")).count(),
            6,
            "{title}"
        );
    }
}

#[test]
fn an_empty_file_is_a_page_too() {
    for files in [vec![], vec![ResultFile::default()]] {
        let page = html(&files);
        assert_well_formed(&page);
        assert!(page.contains("No row ran."));
        assert!(!page.contains("NaN"));
    }
    let unmeasured = Row {
        label: "x".into(),
        scenario: "x".into(),
        ..Row::default()
    };
    let page = html(&[file("varve", "", vec![unmeasured])]);
    assert_well_formed(&page);
    assert!(!page.contains("NaN") && !page.contains("inf\""));
}

#[test]
fn markdown_has_the_tables() {
    let text = markdown(&files());
    assert!(text.contains("| Label | Samples | Average |"));
    assert!(text.contains("v0.5.6 rocksdb vertex_single, 11500 users"));
    assert!(text.contains(" varve ÷ hugegraph |"));
}
