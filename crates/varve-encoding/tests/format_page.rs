//! `docs/storage-format.md` agrees with the code: tables, tags and examples.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

use varve_encoding::index::{IndexId, ordered, partition};
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::TABLES;
use varve_encoding::{datum, key, row, value};
use varve_model::value::{DateTime, Duration};
use varve_model::{
    CommitVersion, Datum, Decimal, Direction, EdgeId, EdgeLabelId, ElementId, IndexLabelId,
    Instant, Many, Numbered, PropertyKeyId, Value, Vertex, VertexId, VertexLabelId,
};

const PAGE: &str = include_str!("../../../docs/storage-format.md");

/// The rows of the table under a heading, as cells without surrounding spaces.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let (_, after) = PAGE.split_once(&format!("\n{heading}\n")).expect(heading);
    let end = after.find("\n## ").unwrap_or(after.len());
    let lines = after[..end]
        .lines()
        .skip_while(|line| !line.starts_with('|'));
    let table = lines.take_while(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| {
        let line = line.trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    table.map(cells).collect()
}

#[test]
fn the_tables_are_those_of_the_code() {
    let written: Vec<(String, String)> = rows("## Tables")
        .iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let coded: Vec<(String, String)> = TABLES
        .iter()
        .enumerate()
        .map(|(number, table)| (number.to_string(), format!("`{}`", table.name)))
        .collect();
    assert_eq!(written, coded);
    for table in TABLES {
        assert!(
            PAGE.contains(&format!("\n### `{}`\n", table.name)),
            "{} has a section",
            table.name
        );
    }
}

/// The bytes in backquotes of a table's first column.
fn tags(heading: &str) -> Vec<u8> {
    let column = rows(heading)
        .iter()
        .map(|row| row[0].clone())
        .collect::<String>();
    let quoted = column.split('`').skip(1).step_by(2);
    quoted
        .map(|hex| u8::from_str_radix(hex, 16).expect("a tag"))
        .collect()
}

/// The text "marko" as number 1 of several values, with the meta-property 3 = INT 29.
fn marko() -> Value {
    let many = Many::new(vec![Numbered {
        number: 1,
        value: Value::Text("marko".into()),
        meta: [(PropertyKeyId(3), Value::Int(29))].into_iter().collect(),
    }]);
    Value::Many(Box::new(many.expect("one value")))
}

#[test]
fn value_tags_are_those_of_the_code() {
    let values = [
        Value::Boolean(false),
        Value::Boolean(true),
        Value::Byte(1),
        Value::Int(1),
        Value::Long(1),
        Value::Date(1),
        Value::Float(1.0),
        Value::Double(1.0),
        Value::Text("a".into()),
        Value::Blob(vec![1]),
        Value::Object(Box::new(Datum::Null)),
        Value::Uuid(1),
        Value::List(vec![]),
        Value::Set(vec![]),
        Value::Short(1),
        Value::BigInt(Box::new(1.into())),
        Value::BigDecimal(Box::new(1.into())),
        Value::Char('a'),
        Value::DateTime(DateTime {
            micros: 1,
            offset: 0,
        }),
        Value::Duration(Duration {
            seconds: 1,
            nanos: 0,
        }),
        Value::Map(vec![]),
        marko(),
    ];
    let coded: Vec<u8> = values
        .iter()
        .map(|value| {
            let mut out = Vec::new();
            value::put_value(value, &mut out);
            out[0]
        })
        .collect();
    assert_eq!(tags("## Values in rows"), coded);
}

#[test]
fn ordered_tags_are_those_of_the_code() {
    let values = [
        Value::List(vec![]),
        Value::Boolean(true),
        Value::Long(1),
        Value::Double(1.0),
        Value::Text("a".into()),
        Value::Blob(vec![1]),
        Value::Uuid(1),
    ];
    let coded: Vec<u8> = values.iter().map(|value| ordered(value)[0]).collect();
    assert_eq!(tags("## Index entries"), coded);
}

fn examples() -> Vec<(&'static str, Vec<u8>)> {
    let edge = EdgeId::parse("S1:a>1>1>>S2:b").expect("an edge id");
    let sub = EdgeId {
        source: VertexId::Number(9),
        parent: EdgeLabelId(4),
        label: EdgeLabelId(300),
        sort_values: "x".into(),
        target: VertexId::Number(5),
    };
    let mut element = Vec::new();
    key::put_element(&ElementId::Edge(sub.clone()), &mut element);
    let seven = ElementId::Vertex(VertexId::Number(7));
    let label = IndexId::Label(IndexLabelId(5));
    let mut entry = ordered(&Value::Int(-2));
    key::put_element(&seven, &mut entry);
    let mut list = Vec::new();
    let items = vec![Value::Text("a".into()), Value::Boolean(true)];
    value::put_value(&Value::List(items), &mut list);
    let version = CommitVersion(256);
    let put = Header {
        version,
        ..Header::put_now()
    };
    let bounded = Header {
        to: Instant(16),
        until: Instant(16),
        overlaid: true,
        ..put
    };
    let delete = Header {
        kind: RowKind::Delete,
        from: Some(Instant(16)),
        ..put
    };
    vec![
        ("vertex id -1", key::vertex_id(&VertexId::Number(-1))),
        (
            "vertex id 1:marko",
            key::vertex_id(&VertexId::text("1:marko")),
        ),
        (
            "edge S1:a>1>1>>S2:b, OUT side's clustering key",
            key::edge_clustering(&edge, Direction::Out),
        ),
        (
            "the same, IN side's clustering key",
            key::edge_clustering(&edge, Direction::In),
        ),
        (
            "edge of sub label 300 of parent 4 with sort value \"x\", OUT side",
            key::edge_clustering(&sub, Direction::Out),
        ),
        ("its element key, from vertex 9", element),
        (
            "event of vertex 1:a at commit version 256",
            key::event_clustering(key::VERTEX_CLUSTERING, version),
        ),
        (
            "pending boundary of vertex 7 at microsecond 1",
            key::pending_clustering(Instant(1), &seven),
        ),
        (
            "row: vertex of label 2, property 3 = INT 29, version 256",
            vertex_row(put, true),
        ),
        (
            "row: the same, valid until microsecond 16, overlaid",
            vertex_row(bounded, true),
        ),
        (
            "row: deletion from microsecond 16 on, version 256",
            vertex_row(delete, false),
        ),
        (
            "index label 5, text \"Rome\": partition",
            partition(label, 0, &ordered(&Value::Text("Rome".into()))),
        ),
        (
            "index label 5, range entry of -2 for vertex 7: clustering key",
            entry,
        ),
        ("value: LIST of TEXT \"a\" and BOOLEAN true", list),
        (
            "value: -1 as BIGINT",
            encoded(&Value::BigInt(Box::new((-1).into()))),
        ),
        (
            "value: 1.50 as BIGDECIMAL",
            encoded(&Value::BigDecimal(Box::new(
                Decimal::parse("1.50").expect("a number"),
            ))),
        ),
        (
            "value: MANY, of the one TEXT \"marko\" with number 1 and the meta-property 3 = INT 29",
            encoded(&marko()),
        ),
        (
            "record {\"n\": 1}",
            datum::to_bytes(&Datum::Map(vec![("n".into(), Datum::Int(1))])),
        ),
    ]
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    value::put_value(value, &mut out);
    out
}

fn vertex_row(header: Header, content: bool) -> Vec<u8> {
    let mut out = Vec::new();
    header.encode(&mut out);
    if content {
        let properties = [(PropertyKeyId(3), Value::Int(29))].into_iter().collect();
        let (id, label) = (VertexId::Number(0), VertexLabelId(2));
        row::put_vertex_content(
            &Vertex {
                id,
                label,
                properties,
            },
            &mut out,
        );
    }
    out
}

#[test]
fn the_examples_are_the_bytes_of_the_code() {
    let written: Vec<(String, String)> = rows("## Examples")
        .iter()
        .map(|row| (row[0].clone(), row[1].replace(['`', ' '], "")))
        .collect();
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let coded: Vec<(String, String)> = examples()
        .iter()
        .map(|(what, bytes)| ((*what).to_owned(), hex(bytes)))
        .collect();
    assert_eq!(written, coded);
}

#[test]
fn the_flags_are_those_of_the_code() {
    let mut header = Header::put_now();
    let flags = |header: &Header| {
        let mut out = Vec::new();
        header.encode(&mut out);
        out[0]
    };
    let mut coded = vec![];
    header.overlaid = true;
    coded.push(("overlaid", flags(&header)));
    header = Header {
        from: Some(Instant(1)),
        ..Header::put_now()
    };
    coded.push(("has a start", flags(&header)));
    header = Header {
        to: Instant(1),
        until: Instant(1),
        ..Header::put_now()
    };
    coded.push(("has an end", flags(&header)));
    header = Header {
        until: Instant(1),
        ..Header::put_now()
    };
    coded.push(("has an until", flags(&header)));
    header = Header {
        kind: RowKind::Delete,
        ..Header::put_now()
    };
    coded.push(("delete", flags(&header)));
    header = Header {
        kind: RowKind::Marker,
        ..Header::put_now()
    };
    coded.push(("marker", flags(&header)));
    let line: Vec<String> = coded
        .iter()
        .map(|(name, flag)| format!("`{flag:02x}` {name}"))
        .collect();
    assert!(
        PAGE.contains(&format!("flags: {} |", line.join(", "))),
        "{line:?}"
    );
}
