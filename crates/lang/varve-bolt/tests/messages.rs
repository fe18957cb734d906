//! Requests that are read, responses and structures that are written.

use std::time::Duration;

use bytes::BytesMut;
use varve_bolt::packstream::{Writer, read};
use varve_bolt::request::{AccessMode, Authentication, Extra, Fetch, Hello, Route};
use varve_bolt::structures::{self, Identity};
use varve_bolt::{BoltError, Failure, Kind, Map, Request, Response, Value, Version};

fn map(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Map {
    let entry = |(key, value): (&str, Value)| (key.to_owned(), value);
    entries.into_iter().map(entry).collect()
}

fn message(tag: u8, fields: Vec<Value>) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    let message = Value::Structure { tag, fields };
    Writer::new(&mut bytes)
        .value(&message)
        .expect("it is written");
    bytes.to_vec()
}

fn request(version: Version, kind: Kind, fields: Vec<Value>) -> Result<Request, BoltError> {
    let read = Request::read(&message(kind.tag(), fields), version)?;
    assert_eq!(read.kind(), kind);
    Ok(read)
}

fn error(kind: Kind, fields: Vec<Value>) -> String {
    let read = request(Version::V5_8, kind, fields);
    read.expect_err("the request is wrong").to_string()
}

fn texts(texts: &[&str]) -> Value {
    texts.iter().copied().collect()
}

#[test]
fn hello_has_the_credentials_before_5_1() {
    let basic = [
        ("scheme", "basic".into()),
        ("principal", "ann".into()),
        ("credentials", "secret".into()),
    ];
    let hello = [
        ("user_agent", "app/1".into()),
        ("routing", map([("address", "a:7687".into())]).into()),
        ("patch_bolt", texts(&["utc"])),
        ("bolt_agent", map([("product", "driver/5".into())]).into()),
    ];
    let fields = vec![map(hello.into_iter().chain(basic.clone())).into()];
    let mut expected = Hello {
        user_agent: "app/1".to_owned(),
        routing: Some(map([("address", "a:7687".into())])),
        authentication: Some(Authentication::Basic {
            principal: "ann".to_owned(),
            credentials: "secret".to_owned(),
        }),
    };
    for version in [Version::V4_4, Version::V5_0] {
        let read = request(version, Kind::Hello, fields.clone());
        assert_eq!(read, Ok(Request::Hello(expected.clone())));
    }
    assert!(!format!("{expected:?}").contains("secret"));
    expected.authentication = None;
    let read = request(Version::V5_1, Kind::Hello, fields);
    assert_eq!(read, Ok(Request::Hello(expected)));
}

#[test]
fn logon_has_a_scheme() {
    let logon = |entries: Vec<(&'static str, Value)>| {
        request(Version::V5_8, Kind::Logon, vec![map(entries).into()])
    };
    let none = Ok(Request::Logon(Authentication::None));
    assert_eq!(logon(vec![("scheme", "none".into())]), none);
    assert_eq!(logon(vec![]), none);
    let bearer = logon(vec![
        ("scheme", "bearer".into()),
        ("credentials", "t".into()),
    ]);
    let credentials = "t".to_owned();
    assert_eq!(
        bearer,
        Ok(Request::Logon(Authentication::Bearer { credentials }))
    );
    let kerberos = logon(vec![("scheme", "kerberos".into())]).expect_err("unknown");
    assert_eq!(kerberos, BoltError::UnknownScheme("kerberos".to_owned()));
    assert_eq!(kerberos.code(), "Neo.ClientError.Security.Unauthorized");
    assert_eq!(
        error(Kind::Logon, vec![map([("scheme", "basic".into())]).into()]),
        "LOGON: `principal` must be a String, not null or missing"
    );
}

#[test]
fn run_has_a_query_parameters_and_options() {
    let extra = map([
        ("bookmarks", texts(&["b:1", "b:2"])),
        ("tx_timeout", 1500.into()),
        ("tx_metadata", map([("job", 7.into())]).into()),
        ("mode", "r".into()),
        ("db", "movies".into()),
        ("imp_user", "bob".into()),
        ("notifications_minimum_severity", "OFF".into()),
    ]);
    let fields = vec![
        "RETURN $x".into(),
        map([("x", 1.into())]).into(),
        extra.into(),
    ];
    let read = request(Version::V5_8, Kind::Run, fields);
    let extra = Extra {
        bookmarks: vec!["b:1".to_owned(), "b:2".to_owned()],
        tx_timeout: Some(Duration::from_millis(1500)),
        tx_metadata: map([("job", 7.into())]),
        mode: AccessMode::Read,
        db: Some("movies".to_owned()),
        imp_user: Some("bob".to_owned()),
    };
    let expected = Request::Run {
        query: "RETURN $x".to_owned(),
        parameters: map([("x", 1.into())]),
        extra,
    };
    assert_eq!(read, Ok(expected));
    // Null and an empty text are the same as nothing.
    let nothing = map([
        ("db", "".into()),
        ("mode", Value::Null),
        ("bookmarks", Value::Null),
    ]);
    let read = request(Version::V4_4, Kind::Begin, vec![nothing.into()]);
    assert_eq!(read, Ok(Request::Begin(Extra::default())));
}

#[test]
fn pull_and_discard_say_how_many_records() {
    let fetch = |kind, n: i64, qid: Option<i64>| {
        let qid = qid.map(|qid| ("qid", qid.into()));
        let extra = map([("n", n.into())].into_iter().chain(qid));
        request(Version::V5_8, kind, vec![extra.into()])
    };
    let of = |n, qid| Fetch { n, qid };
    assert_eq!(
        fetch(Kind::Pull, -1, None),
        Ok(Request::Pull(of(None, None)))
    );
    let some = Ok(Request::Pull(of(Some(1000), Some(0))));
    assert_eq!(fetch(Kind::Pull, 1000, Some(0)), some);
    let all = Ok(Request::Discard(of(None, None)));
    assert_eq!(fetch(Kind::Discard, -1, Some(-1)), all);
    for n in [0, -2] {
        let error = fetch(Kind::Pull, n, None).expect_err("wrong").to_string();
        assert_eq!(
            error,
            format!("PULL: `n` must be an Integer above 0, or -1, not {n}")
        );
    }
}

#[test]
fn the_other_requests_are_read() {
    let routing = map([("address", "a:7687".into())]);
    let extra = map([("db", "movies".into()), ("imp_user", Value::Null)]);
    let fields = vec![routing.clone().into(), texts(&["b:1"]), extra.into()];
    let route = Request::Route(Route {
        routing,
        bookmarks: vec!["b:1".to_owned()],
        db: Some("movies".to_owned()),
        imp_user: None,
    });
    assert_eq!(request(Version::V4_4, Kind::Route, fields), Ok(route));
    let telemetry = request(Version::V5_4, Kind::Telemetry, vec![3.into()]);
    assert_eq!(telemetry, Ok(Request::Telemetry { api: 3 }));
    for (kind, expected) in [
        (Kind::Logoff, Request::Logoff),
        (Kind::Goodbye, Request::Goodbye),
        (Kind::Reset, Request::Reset),
        (Kind::Commit, Request::Commit),
        (Kind::Rollback, Request::Rollback),
    ] {
        assert_eq!(request(Version::V5_8, kind, vec![]), Ok(expected));
    }
}

#[test]
fn wrong_requests_are_named() {
    let map_of = |key, value| Value::from(map([(key, value)]));
    let empty = || Value::from(Map::new());
    for (kind, fields, expected) in [
        (Kind::Run, vec!["q".into()], "RUN has 1 fields, not 3"),
        (Kind::Reset, vec![1.into()], "RESET has 1 fields, not 0"),
        (
            Kind::Run,
            vec![Value::Null, empty(), empty()],
            "RUN: `query` must be a String, not null or missing",
        ),
        (
            Kind::Run,
            vec!["q".into(), texts(&[]), empty()],
            "RUN: `parameters` must be a Dictionary, not List",
        ),
        (
            Kind::Begin,
            vec![map_of("tx_timeout", (-5).into())],
            "BEGIN: `tx_timeout` must be an Integer of at least 0, not -5",
        ),
        (
            Kind::Begin,
            vec![map_of("mode", "x".into())],
            "BEGIN: `mode` must be the String r or w, not String",
        ),
        (
            Kind::Begin,
            vec![map_of("bookmarks", Value::List(vec![1.into()]))],
            "BEGIN: `bookmarks` must be a List of Strings, not 1",
        ),
        (
            Kind::Pull,
            vec![empty()],
            "PULL: `n` must be an Integer above 0, or -1, not null or missing",
        ),
        (
            Kind::Telemetry,
            vec![4.into()],
            "TELEMETRY: `api` must be an Integer from 0 to 3, not 4",
        ),
    ] {
        assert_eq!(error(kind, fields), expected);
    }
}

#[test]
fn requests_of_other_versions_are_unknown() {
    for (tag, version) in [
        (Kind::Logon.tag(), Version::V5_0),
        (Kind::Logoff.tag(), Version::V4_4),
        (Kind::Telemetry.tag(), Version::new(5, 3)),
        (0x0E, Version::V5_8),
    ] {
        let read = Request::read(&message(tag, vec![]), version);
        assert_eq!(read, Err(BoltError::UnknownRequest { tag, version }));
    }
    let read = Request::read(&[0x01], Version::V5_8);
    assert_eq!(read, Err(BoltError::NotAMessage("Integer")));
    let read = Request::read(&[], Version::V5_8);
    assert_eq!(read, Err(BoltError::Short("a value")));
}

fn response(version: Version, response: &Response) -> Value {
    let mut bytes = BytesMut::new();
    response.write(version, &mut bytes).expect("it is written");
    read(&bytes).expect("it is read")
}

#[test]
fn responses_are_written() {
    let metadata = map([("server", "Neo4j/5.26.0".into())]);
    let row = vec![1.into(), Value::Null];
    for (given, tag, fields) in [
        (
            Response::Success(metadata.clone()),
            0x70,
            vec![metadata.into()],
        ),
        (Response::Record(row.clone()), 0x71, vec![Value::List(row)]),
        (Response::Ignored, 0x7E, vec![]),
    ] {
        assert_eq!(
            response(Version::V5_8, &given),
            Value::Structure { tag, fields }
        );
    }
}

#[test]
fn failures_have_a_status_since_5_7() {
    let failure = |failure: &Failure, version| {
        let value = response(version, &Response::Failure(failure.clone()));
        let Value::Structure { tag: 0x7F, fields } = value else {
            panic!("{value:?} is no failure");
        };
        fields
    };
    let code = "Neo.TransientError.Transaction.Outdated";
    let given = Failure::new(code, "try again").with_status("40N01", "a rollback");
    let old = map([("code", code.into()), ("message", "try again".into())]);
    for version in [Version::V4_4, Version::new(5, 6)] {
        assert_eq!(failure(&given, version), [old.clone().into()]);
    }
    let record = map([
        ("OPERATION", "".into()),
        ("OPERATION_CODE", "0".into()),
        ("CURRENT_SCHEMA", "/".into()),
        ("_classification", "TRANSIENT_ERROR".into()),
    ]);
    let new = map([
        ("neo4j_code", code.into()),
        ("message", "try again".into()),
        ("gql_status", "40N01".into()),
        ("description", "a rollback".into()),
        ("diagnostic_record", record.into()),
    ]);
    assert_eq!(failure(&given, Version::V5_7), [new.into()]);
    let given = Failure::from(&BoltError::TooDeep);
    assert_eq!(given.code, "Neo.ClientError.Request.InvalidFormat");
    assert_eq!(given.gql_status, "50N42");
}

fn fields(value: Value, expected: u8) -> Vec<Value> {
    match value {
        Value::Structure { tag, fields } if tag == expected => fields,
        other => panic!("{other:?} has another tag than {:?}", expected as char),
    }
}

#[test]
fn elements_have_element_ids_since_5_0() {
    let of = |id: i64| Identity {
        id,
        element_id: format!("e{id}"),
    };
    for version in [Version::V4_4, Version::V5_0] {
        let is_new = version >= Version::V5_0;
        let check = |value: Value, tag: u8, mut old: Vec<Value>, ids: &[&str]| {
            if is_new {
                old.extend(ids.iter().map(|id| Value::from(*id)));
            }
            assert_eq!(fields(value, tag), old);
        };
        let labels = vec!["A".to_owned(), "B".to_owned()];
        let node = structures::node(version, of(3), labels, map([("x", 1.into())]));
        let old = vec![3.into(), texts(&["A", "B"]), map([("x", 1.into())]).into()];
        check(node.clone(), b'N', old, &["e3"]);
        let label = "KNOWS".to_owned();
        let edge =
            structures::relationship(version, of(11), of(2), of(3), label.clone(), Map::new());
        let empty = Value::from(Map::new());
        let old = vec![11.into(), 2.into(), 3.into(), "KNOWS".into(), empty.clone()];
        check(edge, b'R', old, &["e11", "e2", "e3"]);
        let edge = structures::unbound_relationship(version, of(17), label, Map::new());
        check(
            edge.clone(),
            b'r',
            vec![17.into(), "KNOWS".into(), empty],
            &["e17"],
        );
        let path = structures::path(vec![node.clone()], vec![edge.clone()], vec![-1, 0]);
        let indices = [-1_i64, 0].into_iter().collect();
        let expected = vec![Value::List(vec![node]), Value::List(vec![edge]), indices];
        assert_eq!(fields(path, b'P'), expected);
    }
}

#[test]
fn date_times_are_in_utc_since_5_0() {
    // 1970-01-01T02:15:00.000000042+01:00, as in the specification.
    let zone = || "Europe/Paris".to_owned();
    let old = vec![8100.into(), 42.into(), 3600.into()];
    assert_eq!(
        fields(structures::date_time(Version::V4_4, 4500, 42, 3600), b'F'),
        old
    );
    let new = vec![4500.into(), 42.into(), 3600.into()];
    assert_eq!(
        fields(structures::date_time(Version::V5_0, 4500, 42, 3600), b'I'),
        new
    );
    let zoned = structures::zoned_date_time(Version::V4_4, 4500, 42, 3600, zone());
    assert_eq!(
        fields(zoned, b'f'),
        vec![8100.into(), 42.into(), zone().into()]
    );
    let zoned = structures::zoned_date_time(Version::V5_0, 4500, 42, 3600, zone());
    assert_eq!(
        fields(zoned, b'i'),
        vec![4500.into(), 42.into(), zone().into()]
    );
}

#[test]
fn the_other_structures_are_those_of_the_specification() {
    let ints = |values: &[i64]| -> Vec<Value> { values.iter().map(|int| (*int).into()).collect() };
    assert_eq!(fields(structures::date(1), b'D'), ints(&[1]));
    assert_eq!(fields(structures::time(5, -60), b'T'), ints(&[5, -60]));
    assert_eq!(fields(structures::local_time(5), b't'), ints(&[5]));
    assert_eq!(
        fields(structures::local_date_time(7, 8), b'd'),
        ints(&[7, 8])
    );
    assert_eq!(
        fields(structures::duration(1, -2, 3, 4), b'E'),
        ints(&[1, -2, 3, 4])
    );
}
