//! The table of odd files, and the formats.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, ListArray,
    NullArray, RecordBatch, StringArray, Time32SecondArray, TimestampMicrosecondArray,
    types::Int32Type,
};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use varve_files::{Fields, Format, Options, Row, Rows, Unpacked, likely_charset};

/// A file in a folder of its own.
fn file(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join(name);
    std::fs::write(&path, content).expect("written");
    (dir, path)
}

fn options() -> Options {
    Options {
        null: vec![String::new()],
        ..Options::default()
    }
}

fn all(path: &Path, options: &Options) -> Result<Vec<Row>, String> {
    Rows::open(path, options, &Unpacked::default())?.collect()
}

/// The columns of all rows, which must all be readable.
fn columns(
    name: &str,
    content: &[u8],
    options: &Options,
) -> Result<Vec<Map<String, Value>>, String> {
    let (_dir, path) = file(name, content);
    all(&path, options)?
        .into_iter()
        .map(|row| row.fields.map(Fields::into_map))
        .collect()
}

/// The names of the columns, and the line and the cells of each row, or why it is refused.
fn read(path: &Path) -> Result<(Vec<String>, Vec<Value>), String> {
    let mut rows = Rows::open(path, &options(), &Unpacked::default())?;
    let mut names = rows.header().unwrap_or_default().to_vec();
    let rows: Vec<Row> = rows.by_ref().collect::<Result<_, _>>()?;
    for name in rows
        .iter()
        .flat_map(|row| row.fields.iter().flat_map(Fields::iter))
        .map(|(name, _)| name)
    {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    let shown = rows.into_iter().map(|row| match row.fields {
        Err(fault) => json!([row.line, fault]),
        Ok(fields) => {
            let mut cells = fields.into_map();
            let cells = names.iter().map(|it| cells.remove(it).unwrap_or_default());
            [Value::from(row.line)].into_iter().chain(cells).collect()
        }
    });
    let shown = shown.collect();
    Ok((names, shown))
}

fn content(case: &Value) -> Vec<u8> {
    match case["hex"].as_str() {
        None => case["text"].as_str().expect("a text").as_bytes().to_vec(),
        Some(hex) => (0..hex.len() / 2)
            .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
            .collect(),
    }
}

#[test]
fn the_table_of_files_holds() {
    let table: Value = serde_json::from_str(include_str!("reading.json")).expect("a table");
    let cases = table["files"].as_array().expect("files").iter();
    for case in cases {
        let (_dir, path) = file(case["file"].as_str().expect("a name"), &content(case));
        let Some(rows) = case["rows"].as_array() else {
            let refused = read(&path).expect_err(&case.to_string());
            let fault = case["fault"].as_str().expect("a fault");
            assert!(refused.contains(fault), "{}: {refused}", case["name"]);
            continue;
        };
        let (columns, shown) = read(&path).expect("reads");
        assert_eq!(json!(columns), case["columns"], "{}", case["name"]);
        assert_eq!(shown.len(), rows.len(), "{}: {shown:?}", case["name"]);
        for (shown, expected) in shown.iter().zip(rows) {
            let Some(fault) = expected[1]["fault"].as_str() else {
                assert_eq!(shown, expected, "{}", case["name"]);
                continue;
            };
            assert_eq!(shown[0], expected[0], "{}", case["name"]);
            let said = shown[1].as_str().unwrap_or_default();
            assert!(said.contains(fault), "{}: {shown}", case["name"]);
        }
    }
}

#[test]
fn rows_of_texts_know_their_bytes() {
    for (name, text, expected) in [
        (
            "a.csv",
            "\u{feff}id,name\r\n1,\"a\nb\"\n\n2,b\r3,\n4,d",
            &[(2, "1,\"a\nb\"\n"), (5, "\n2,b\r"), (6, "3,\n"), (7, "4,d")][..],
        ),
        (
            "a.jsonl",
            "{\"id\":1}\n\n[2]\n{\"id\":3}",
            &[(1, "{\"id\":1}\n"), (3, "\n[2]\n"), (4, "{\"id\":3}")],
        ),
        (
            "a.json",
            "[{\"id\":\"a]\\\"\"},\n\n {\"id\":{\"b\":[1]}} ,3]\n",
            &[
                (1, "{\"id\":\"a]\\\"\"}"),
                (3, ",\n\n {\"id\":{\"b\":[1]}}"),
                (3, " ,3"),
            ],
        ),
    ] {
        let (_dir, path) = file(name, text.as_bytes());
        let rows = all(&path, &options()).expect("reads");
        let parts: Vec<(u64, &str)> = rows
            .iter()
            .map(|row| {
                let from = usize::try_from(row.bytes.start).expect("small");
                let to = usize::try_from(row.bytes.end).expect("small");
                (row.line, &text[from..to])
            })
            .collect();
        assert_eq!(parts, expected, "{name}");
    }
}

#[test]
fn a_header_may_be_given() {
    let options = Options {
        header: Some(vec!["id".to_owned(), "name".to_owned()]),
        delimiter: Some('|'),
        ..options()
    };
    let rows = columns("a.csv", b"1|x\n2|y\n", &options).expect("reads");
    assert_eq!(rows[0]["name"], "x");
    assert_eq!(rows.len(), 2);
}

#[test]
fn arrays_of_json_are_read_and_faults_have_a_place() {
    let read = |text: &str| columns("a.json", text.as_bytes(), &options());
    assert_eq!(read(" [ ] ").expect("reads").len(), 0);
    assert_eq!(read("{\"id\":1}\n{\"id\":2}\n").expect("lines")[1]["id"], 2);
    for (text, fault) in [
        (
            "[{\"id\":1}\n {\"id\":2}]",
            "line 2, byte 2: expected ',' or ']'",
        ),
        ("[{\"id\":1},\n]", "line 2, byte 1: expected an object"),
        ("[{\"id\":1}", "expected the rest of the array"),
        ("[{\"id\":1", "expected the rest of the array"),
        ("[] x", "line 1, byte 4: expected the end"),
        ("", "expected '['"),
        ("[1]", "not a JSON object"),
        ("[{\"id\":1},\n{\n\"id\" 1}]", "at line 3"),
        ("[{\"id\" 1}]", "not a JSON object"),
    ] {
        let refused = read(text).expect_err(text);
        assert!(refused.contains(fault), "{text}: {refused}");
    }
}

#[test]
fn charsets_are_decoded_and_guessed() {
    let named = |name: &str| Options {
        charset: Some(name.to_owned()),
        ..options()
    };
    let (gbk, ..) = encoding_rs::GBK.encode("id,名\n1,王小明\n2,李四光\n");
    let rows = columns("a.csv", &gbk, &named("gbk")).expect("reads");
    assert_eq!(rows[0]["名"], "王小明");
    let latin = b"id,n\n1,M\xfcller\n";
    assert_eq!(
        columns("a.csv", latin, &named("latin1")).expect("reads")[0]["n"],
        "Müller"
    );
    let (_dir, path) = file("a.csv", latin);
    assert_eq!(likely_charset(&path), Ok(Some("windows-1252")));
    let (_dir, path) = file("a.csv", "id,n\n1,Müller\n".as_bytes());
    assert_eq!(likely_charset(&path), Ok(None));
    let wide = |text: &str| -> Vec<u8> {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    // The mark says it; without a mark the option does.
    let text = wide("id,n\n1,ö\n");
    assert_eq!(
        columns("a.csv", &text, &options()).expect("reads")[0]["n"],
        "ö"
    );
    let rows = columns("a.csv", &text[2..], &named("utf-16le")).expect("reads");
    assert_eq!(rows[0]["n"], "ö");
    let refused = columns("a.csv", b"id,n\n1,a\xff\xff\n", &named("gbk")).expect_err("no GBK");
    assert!(
        refused.contains("line 2, character 4: no character of GBK"),
        "{refused}"
    );
    let refused = named("utf-99").check().expect_err("no charset");
    assert!(refused.contains("'utf-99' is not known"), "{refused}");
}

#[test]
fn zstd_is_unpacked_once() {
    let packed = zstd::encode_all(&b"id,n\n1,a\n"[..], 3).expect("packed");
    let (_dir, path) = file("a.csv.zst", &packed);
    let unpacked = Unpacked::default();
    for _ in 0..2 {
        let mut rows = Rows::open(&path, &options(), &unpacked).expect("opens");
        let row = rows.next().expect("a row").expect("reads");
        assert_eq!(row.fields.expect("fields").into_map()["n"], "a");
    }
    let open = || Rows::open(&path, &options(), &unpacked).expect("opens");
    let (mut one, mut other) = (open(), open());
    for rows in [&mut one, &mut other] {
        assert!(rows.next().is_some(), "each has a position of its own");
    }
    let small = Options {
        unpacked_bytes_max: Some(8),
        ..options()
    };
    let refused = columns("a.csv.zst", &packed, &small).expect_err("too long");
    assert!(refused.contains("more than 8 bytes"), "{refused}");
    let small = Options {
        charset: Some("latin1".to_owned()),
        ..small
    };
    let refused = columns("a.csv", b"\xe4,\xe4\n1,2\n", &small).expect_err("too long");
    assert!(refused.contains("more than 8 bytes in UTF-8"), "{refused}");
    let refused = columns("a.csv.zst", &packed[..packed.len() - 3], &options());
    assert!(refused.expect_err("cut").contains("cannot be unpacked"));
}

/// Rows of every type that graphs have.
fn batch() -> RecordBatch {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), Some(2)]), None]);
    let decimals = Decimal128Array::from(vec![1250, -5]).with_precision_and_scale(20, 2);
    let of: [(&str, ArrayRef); 9] = [
        ("id", Arc::new(Int64Array::from(vec![1, i64::MAX]))),
        ("name", Arc::new(StringArray::from(vec![Some("Ann"), None]))),
        ("score", Arc::new(Float64Array::from(vec![0.1, f64::NAN]))),
        ("on", Arc::new(BooleanArray::from(vec![true, false]))),
        ("born", Arc::new(Date32Array::from(vec![1, 2_932_896]))),
        (
            "at",
            Arc::new(TimestampMicrosecondArray::from(vec![1, 0]).with_timezone("UTC")),
        ),
        ("tags", Arc::new(lists)),
        ("price", Arc::new(decimals.expect("a decimal"))),
        ("none", Arc::new(NullArray::new(2))),
    ];
    let of = of.map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(of).expect("a batch")
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(batch).expect("written");
    writer.close().expect("closed");
    bytes
}

#[test]
fn a_column_of_another_type_does_not_spoil_the_others() {
    let of: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("time", Arc::new(Time32SecondArray::from(vec![5, 6]))),
    ];
    let batch = RecordBatch::try_from_iter(of).expect("a batch");
    let bytes = parquet(&batch);
    let refused = columns("a.parquet", &bytes, &options()).expect_err("a type");
    assert!(refused.contains("column 'time' has the type"), "{refused}");
    let ignored = Options {
        ignored: vec!["time".to_owned()],
        ..options()
    };
    let any = Options {
        ignores_unread: true,
        ..options()
    };
    for options in [ignored, any] {
        let rows = columns("a.parquet", &bytes, &options).expect("rows");
        assert_eq!(
            rows[1],
            json!({"id": 2}).as_object().expect("an object").clone()
        );
    }
}

#[test]
fn parquet_and_arrow_have_the_same_rows() {
    let batch = batch();
    let (mut whole, mut stream) = (Vec::new(), Vec::new());
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(&mut whole, &batch.schema()).expect("a writer");
    writer
        .write(&batch)
        .and_then(|()| writer.finish())
        .expect("written");
    drop(writer);
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema()).expect("a writer");
    writer
        .write(&batch)
        .and_then(|()| writer.finish())
        .expect("written");
    drop(writer);
    let expected = [
        json!({"id": 1, "name": "Ann", "score": 0.1, "on": true, "born": "1970-01-02",
            "at": "1970-01-01T00:00:00.000001Z", "tags": [1, 2], "price": 12.5}),
        json!({"id": i64::MAX, "score": "NaN", "on": false, "born": "9999-12-31",
            "at": "1970-01-01T00:00:00Z", "price": -0.05}),
    ];
    // The content says what it is, whatever the name.
    for (name, bytes) in [
        ("a.parquet", parquet(&batch)),
        ("a.csv", parquet(&batch)),
        ("a.arrow", whole),
        ("a.arrows", stream),
    ] {
        let rows = columns(name, &bytes, &options()).expect(name);
        let rows: Vec<Value> = rows.into_iter().map(Value::Object).collect();
        assert_eq!(rows, expected, "{name}");
        for cut in [5, bytes.len() / 2] {
            assert!(
                columns(name, &bytes[..cut], &options()).is_err(),
                "{name} {cut}"
            );
        }
    }
    let refused = columns("a.parquet", b"id\n1\n", &options()).expect_err("no Parquet");
    assert!(refused.contains("it is not a Parquet file"), "{refused}");
    let (_dir, path) = file("a.parquet", &parquet(&batch));
    let rows = all(&path, &options()).expect("reads");
    assert_eq!((rows[1].line, rows[1].bytes.clone()), (2, 1..2));
}

/// A packed Arrow file and stream of 1,000 zeros.
fn packed(kind: arrow_ipc::CompressionType) -> [Vec<u8>; 2] {
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    let zeros: ArrayRef = Arc::new(Int64Array::from(vec![0; 1_000]));
    let batch = RecordBatch::try_from_iter([("id", zeros)]).expect("a batch");
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(Some(kind)).expect("a kind");
    let (mut whole, mut stream) = (Vec::new(), Vec::new());
    let writer = FileWriter::try_new_with_options(&mut whole, &batch.schema(), options.clone());
    let mut writer = writer.expect("a writer");
    writer.write(&batch).expect("written");
    writer.finish().expect("finished");
    drop(writer);
    let writer = StreamWriter::try_new_with_options(&mut stream, &batch.schema(), options);
    let mut writer = writer.expect("a writer");
    writer.write(&batch).expect("written");
    writer.finish().expect("finished");
    drop(writer);
    [whole, stream]
}

#[test]
fn a_claimed_length_allocates_nothing() {
    use arrow_ipc::CompressionType as Kind;
    for kind in [Kind::LZ4_FRAME, Kind::ZSTD] {
        for mut bytes in packed(kind) {
            let rows = columns("a.arrow", &bytes, &options()).expect("reads");
            assert_eq!(rows.len(), 1_000);
            let claimed = 8_000_u64.to_le_bytes();
            let mut places = bytes.windows(8).enumerate();
            let place = places.find(|(_, window)| *window == claimed);
            let (place, _) = place.expect("a length");
            for length in [1_u64 << 62, varve_files::BATCH_BYTES_MAX + 1] {
                bytes[place..place + 8].copy_from_slice(&length.to_le_bytes());
                let refused = columns("a.arrow", &bytes, &options()).expect_err("too long");
                assert!(refused.contains("a batch of"), "{refused}");
            }
        }
    }
}

proptest! {
    #[test]
    fn damaged_arrow_brings_no_reader_down(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        for mut bytes in packed(arrow_ipc::CompressionType::LZ4_FRAME) {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = columns("a.arrow", &bytes, &options());
        }
    }

    #[test]
    fn no_bytes_bring_a_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..200), mark in 0..4) {
        let mark: &[u8] = [&b""[..], b"PAR1", b"ARROW1\0\0", b"[{\"a\":"][usize::try_from(mark).unwrap()];
        let bytes = [mark, &bytes].concat();
        let (_dir, path) = file("a", &bytes);
        for (_, format) in Format::NAMES {
            let options = Options { format: Some(format), ..options() };
            let _ = all(&path, &options);
        }
    }

    #[test]
    fn damaged_columns_bring_no_reader_down(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = parquet(&batch());
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = columns("a.parquet", &bytes, &options());
    }

    #[test]
    fn cells_of_csv_come_back(cells in prop::collection::vec(("[a-z\",;\n\r |\u{e4}]{1,8}", "[a-z\",;\n\r |]{1,8}"), 1..8)) {
        let mut out = Vec::new();
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        writeln!(out, "id,n").unwrap();
        for (a, b) in &cells {
            writeln!(out, "{},{}", quoted(a), quoted(b)).unwrap();
        }
        let options = Options { delimiter: Some(','), ..options() };
        let rows = columns("a.csv", &out, &options).expect("reads");
        prop_assert_eq!(rows.len(), cells.len());
        for (row, (a, b)) in rows.iter().zip(&cells) {
            prop_assert_eq!((row["id"].as_str(), row["n"].as_str()), (Some(&**a), Some(&**b)));
        }
    }
}
