//! Bolt over real sockets: logins, records in pages, resets, rights, and clients that go away.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use bytes::BytesMut;
use serde_json::json;
use varve_bolt::framing::{Decoder, frame};
use varve_bolt::packstream::{self, Value, Writer};
use varve_bolt::request::Kind;
use varve_server::{AuthConfig, BoltConfig, ServerConfig};
use varve_testserver::TestServer;

use crate::authentication::{PASSWORD, send, server_of, with_open_graph};
use crate::fixture::Fixture;
use crate::memory::await_that;

const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7E;
const FAILURE: u8 = 0x7F;

/// A client of one connection.
pub(crate) struct Client {
    stream: TcpStream,
    input: BytesMut,
    decoder: Decoder,
}

impl Client {
    /// Connects and agrees on 5.8.
    pub(crate) fn connect(server: &TestServer) -> Self {
        let mut stream = TcpStream::connect(server.bolt_address()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let mut hello = vec![0x60, 0x60, 0xB0, 0x17, 0, 8, 8, 5];
        hello.resize(20, 0);
        stream.write_all(&hello).unwrap();
        let mut version = [0; 4];
        stream.read_exact(&mut version).unwrap();
        assert_eq!(version, [0, 0, 8, 5]);
        Self {
            stream,
            input: BytesMut::new(),
            decoder: Decoder::new(1 << 24),
        }
    }

    /// Connects as a user.
    pub(crate) fn of(server: &TestServer, user: &str) -> Self {
        let mut client = Self::connect(server);
        client.send(Kind::Hello, &[map(&[("user_agent", "test/1".into())])]);
        client.send(Kind::Logon, &[basic(user, PASSWORD)]);
        client.expect(SUCCESS);
        client.expect(SUCCESS);
        client
    }

    pub(crate) fn send(&mut self, kind: Kind, fields: &[Value]) {
        let mut bytes = BytesMut::new();
        frame(&mut bytes, |bytes| {
            let mut writer = Writer::new(bytes);
            writer.structure(kind.tag(), fields.len())?;
            fields.iter().try_for_each(|field| writer.value(field))
        })
        .unwrap();
        self.stream.write_all(&bytes).unwrap();
    }

    /// Sends a part of the message that runs a query.
    pub(crate) fn send_half(&mut self, query: &str) {
        let length = u16::try_from(query.len()).unwrap().to_be_bytes();
        self.stream.write_all(&length).unwrap();
        self.stream
            .write_all(&query.as_bytes()[..query.len() / 2])
            .unwrap();
    }

    pub(crate) fn run(&mut self, query: &str, extra: &[(&str, Value)]) {
        self.run_with(query, &[], extra);
    }

    pub(crate) fn run_with(
        &mut self,
        query: &str,
        parameters: &[(&str, Value)],
        extra: &[(&str, Value)],
    ) {
        self.send(Kind::Run, &[query.into(), map(parameters), map(extra)]);
    }

    pub(crate) fn pull(&mut self, n: i64) {
        self.send(Kind::Pull, &[map(&[("n", n.into())])]);
    }

    /// The next response: its tag and its only field.
    pub(crate) fn receive(&mut self) -> (u8, Value) {
        let message = loop {
            if let Some(message) = self.decoder.decode(&mut self.input).unwrap() {
                break message;
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "the server has closed the connection");
            self.input.extend_from_slice(&bytes[..count]);
        };
        let Value::Structure { tag, mut fields } = packstream::read(&message).unwrap() else {
            panic!("no structure");
        };
        (tag, fields.pop().unwrap_or(Value::Null))
    }

    #[track_caller]
    pub(crate) fn expect(&mut self, tag: u8) -> Value {
        let (got, field) = self.receive();
        assert_eq!(got, tag, "{field:?}");
        field
    }

    /// The records up to the next other response, and that.
    pub(crate) fn records(&mut self) -> (Vec<Value>, u8, Value) {
        let mut records = Vec::new();
        loop {
            match self.receive() {
                (RECORD, Value::List(mut row)) => records.append(&mut row),
                (tag, field) => return (records, tag, field),
            }
        }
    }

    /// All records of a query.
    pub(crate) fn all(&mut self, query: &str, extra: &[(&str, Value)]) -> Vec<Value> {
        self.run(query, extra);
        self.pull(-1);
        self.expect(SUCCESS);
        let (records, tag, field) = self.records();
        assert_eq!(tag, SUCCESS, "{field:?}");
        records
    }

    #[track_caller]
    pub(crate) fn fails(&mut self, code: &str) {
        let failure = self.expect(FAILURE);
        assert_eq!(
            entry(&failure, "neo4j_code"),
            &Value::from(code),
            "{failure:?}"
        );
    }

    pub(crate) fn reset(&mut self) {
        self.send(Kind::Reset, &[]);
    }
}

pub(crate) fn map(entries: &[(&str, Value)]) -> Value {
    let entries = entries.iter();
    Value::Map(
        entries
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    )
}

fn basic(user: &str, password: &str) -> Value {
    map(&[
        ("scheme", "basic".into()),
        ("principal", user.into()),
        ("credentials", password.into()),
    ])
}

pub(crate) fn entry<'v>(of: &'v Value, name: &str) -> &'v Value {
    let Value::Map(entries) = of else {
        panic!("no map: {of:?}");
    };
    let found = entries.iter().find(|(known, _)| known == name);
    &found.unwrap_or_else(|| panic!("no {name} in {of:?}")).1
}

pub(crate) fn config() -> ServerConfig {
    ServerConfig {
        bolt: BoltConfig {
            listen: "127.0.0.1:0".to_owned(),
            default_graph: "g".to_owned(),
        },
        ..ServerConfig::default()
    }
}

/// A server without users that has so many books.
fn library(books: usize, mut config: ServerConfig) -> Fixture {
    config.bolt.default_graph = "hugegraph".to_owned();
    let fixture = Fixture::with(config);
    for first in (0..books).step_by(500) {
        let books = first..books.min(first + 500);
        let books = books.map(|number| {
            let properties = json!({"name": format!("book {number}"), "price": number});
            json!({"label": "book", "id": format!("b{number}"), "properties": properties})
        });
        let body = serde_json::Value::from_iter(books).to_string();
        let answer = fixture.send("POST", "vertices/batch", &body);
        assert_eq!(answer.status, 201, "{}", answer.text());
    }
    fixture
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let fixture = library(1, config());
    let mut client = Client::connect(&fixture.server);
    client.send(Kind::Hello, &[map(&[("user_agent", "test/1".into())])]);
    client.send(Kind::Logon, &[map(&[("scheme", "none".into())])]);
    client.run("RETURN 1", &[]);
    client.pull(-1);
    client.run("MATCH (n) RETURN count(n);", &[]);
    client.pull(-1);
    let server = client.expect(SUCCESS);
    let Value::String(agent) = entry(&server, "server") else {
        panic!("{server:?}");
    };
    assert!(agent.starts_with("Neo4j/"), "{agent}");
    client.expect(SUCCESS);
    for field in ["1", "count(n)"] {
        let fields = client.expect(SUCCESS);
        assert_eq!(entry(&fields, "fields"), &Value::List(vec![field.into()]));
        assert_eq!(client.expect(RECORD), Value::List(vec![1.into()]));
        let end = client.expect(SUCCESS);
        assert_eq!(entry(&end, "db"), &Value::from("hugegraph"));
    }
    client.send(Kind::Goodbye, &[]);
    assert_eq!(client.stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn records_come_in_pages_and_the_rest_may_be_discarded() {
    const BOOKS: usize = 1_000;
    let fixture = library(BOOKS, config());
    let mut client = Client::of(&fixture.server, "anybody");
    client.run("MATCH (n) RETURN n", &[]);
    client.expect(SUCCESS);
    let mut ids = std::collections::BTreeSet::new();
    loop {
        client.pull(300);
        let (records, tag, field) = client.records();
        assert_eq!(tag, SUCCESS);
        for node in &records {
            let Value::Structure { tag, fields } = node else {
                panic!("{node:?}");
            };
            assert_eq!((*tag, fields.len()), (b'N', 4));
            assert_eq!(fields[1], Value::List(vec!["book".into()]));
            let Value::String(id) = &fields[3] else {
                panic!("{node:?}");
            };
            let number: i64 = id[1..].parse().unwrap();
            assert_eq!(entry(&fields[2], "price"), &Value::Int(number));
            ids.insert(number);
        }
        let Value::Map(entries) = &field else {
            panic!("{field:?}");
        };
        if entries.iter().all(|(name, _)| name != "has_more") {
            break;
        }
        assert_eq!(records.len(), 300);
    }
    assert_eq!(ids.len(), BOOKS);
    client.run("MATCH (n) RETURN n", &[]);
    client.pull(1);
    client.expect(SUCCESS);
    client.expect(RECORD);
    client.expect(SUCCESS);
    client.send(Kind::Discard, &[map(&[("n", (-1).into())])]);
    client.expect(SUCCESS);
    assert_eq!(client.all("RETURN 1", &[]), [1.into()]);
}

#[test]
fn after_a_failure_requests_are_ignored_until_a_reset() {
    let fixture = library(0, config());
    let mut client = Client::of(&fixture.server, "anybody");
    client.run("MATCH (n RETURN n", &[]);
    client.pull(-1);
    client.fails("Neo.ClientError.Statement.SyntaxError");
    client.expect(IGNORED);
    client.run("RETURN 1", &[]);
    client.expect(IGNORED);
    client.reset();
    client.expect(SUCCESS);
    assert_eq!(client.all("RETURN 1", &[]), [1.into()]);
    client.run("RETURN 1", &[("db", "nothing".into())]);
    client.fails("Neo.ClientError.Database.DatabaseNotFound");
    client.reset();
    client.expect(SUCCESS);
    // A violation of the protocol ends the connection.
    client.pull(-1);
    client.fails("Neo.ClientError.Request.Invalid");
    assert_eq!(client.stream.read(&mut [0]).unwrap(), 0);
}

#[test]
fn a_transaction_reads_one_state_also_after_records_were_discarded() {
    let fixture = library(3, config());
    let mut client = Client::of(&fixture.server, "anybody");
    let count = "MATCH (n) RETURN count(n)";
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    assert_eq!(client.all(count, &[]), [3.into()]);
    let book = json!({"label": "book", "id": "b3", "properties": {"name": "n"}}).to_string();
    assert_eq!(fixture.send("POST", "vertices", &book).status, 201);
    assert_eq!(client.all(count, &[]), [3.into()]);
    client.run("MATCH (n) RETURN n", &[]);
    client.pull(1);
    let begun = client.expect(SUCCESS);
    assert_eq!(entry(&begun, "qid"), &Value::Int(2));
    client.expect(RECORD);
    client.expect(SUCCESS);
    client.send(Kind::Discard, &[map(&[("n", (-1).into())])]);
    client.expect(SUCCESS);
    assert_eq!(client.all(count, &[]), [3.into()]);
    client.send(Kind::Commit, &[]);
    client.expect(SUCCESS);
    assert_eq!(client.all(count, &[]), [4.into()]);
}

#[test]
fn a_reset_a_lost_client_and_the_end_of_the_time_end_a_query_that_waits_for_its_client() {
    // More than the server reads ahead.
    let fixture = library(5_000, config());
    let database = fixture.server.state.database();
    let begin = |extra: &[(&str, Value)]| {
        let mut client = Client::of(&fixture.server, "anybody");
        client.run("MATCH (n) RETURN n", extra);
        client.expect(SUCCESS);
        client.pull(1);
        client.expect(RECORD);
        client.expect(SUCCESS);
        client
    };
    let listed = || database.running.seen_by(&varve_session::Identity::Anybody);
    let mut client = begin(&[]);
    await_that("it is listed", || listed().len() == 1);
    assert_eq!(
        listed()[0].listing.shown.text().unwrap(),
        "MATCH (n) RETURN n"
    );
    client.reset();
    client.expect(SUCCESS);
    await_that("the reset has ended it", || listed().is_empty());
    assert_eq!(client.all("RETURN 1", &[]), [1.into()]);
    // Neither does a query go on that gives no records before its end.
    client.run("MATCH (n) RETURN count(n)", &[]);
    client.reset();
    client.expect(SUCCESS);
    client.expect(SUCCESS);
    await_that("the count has ended", || listed().is_empty());
    drop(begin(&[]));
    await_that("nobody waits for it", || listed().is_empty());
    let mut client = begin(&[("tx_timeout", 50.into())]);
    await_that("its time is over", || listed().is_empty());
    client.pull(-1);
    let (_, tag, field) = client.records();
    assert_eq!(tag, FAILURE, "{field:?}");
    await_that("no thread is held", || database.pool.in_work() == 0);
}

#[test]
fn a_user_is_known_by_password_or_token_and_reads_what_it_may() {
    let config = ServerConfig {
        auth: AuthConfig::default(),
        ..config()
    };
    let server = with_open_graph(server_of(config));
    let script = json!({"gremlin": "g.addV('x')", "aliases": {"g": "__g_g"}});
    let added = send(&server, "admin", "POST", "/gremlin", &script);
    assert_eq!(added.status, 200, "{}", added.text());
    let count = "MATCH (n) RETURN count(n)";
    let mut reader = Client::of(&server, "reader");
    assert_eq!(reader.all(count, &[]), [1.into()]);
    let mut nobody = Client::of(&server, "nobody");
    nobody.run(count, &[]);
    nobody.fails("Neo.ClientError.Security.Forbidden");
    for authentication in [basic("reader", "wrong"), map(&[("scheme", "none".into())])] {
        let mut client = Client::connect(&server);
        client.send(Kind::Hello, &[map(&[("user_agent", "test/1".into())])]);
        client.expect(SUCCESS);
        client.send(Kind::Logon, &[authentication]);
        client.fails("Neo.ClientError.Security.Unauthorized");
        assert_eq!(client.stream.read(&mut [0]).unwrap(), 0);
    }
    // Who is removed may not go on.
    let id = server
        .state
        .auth()
        .unwrap()
        .user("reader")
        .unwrap()
        .id
        .clone();
    let removed = send(
        &server,
        "admin",
        "DELETE",
        &format!("/auth/users/{id}"),
        &json!({}),
    );
    assert_eq!(removed.status, 204, "{}", removed.text());
    reader.run(count, &[]);
    reader.fails("Neo.ClientError.Security.Unauthorized");
}

#[test]
fn what_is_not_bolt_is_closed() {
    let fixture = library(0, config());
    for bytes in [
        &b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"[..],
        &[
            0x60, 0x60, 0xB0, 0x17, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ],
    ] {
        let mut stream = TcpStream::connect(fixture.server.bolt_address()).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer == [0; 4], "{answer:?}");
    }
}

#[test]
fn a_transaction_has_one_open_result_and_ends_when_it_is_too_old() {
    let mut config = config();
    config.gremlin.transaction_ms = 200;
    let fixture = library(3, config);
    let transactions = &fixture.server.state.database().transactions;
    let mut client = Client::of(&fixture.server, "anybody");
    client.send(Kind::Begin, &[map(&[])]);
    client.run("MATCH (n) RETURN n", &[]);
    client.run("RETURN 1", &[]);
    client.expect(SUCCESS);
    client.expect(SUCCESS);
    client.fails("Neo.ClientError.Statement.SyntaxError");
    client.reset();
    client.expect(SUCCESS);
    assert_eq!(transactions.sessions(), 0, "the reset has rolled back");
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    assert_eq!(client.all("RETURN 1", &[]), [1.into()]);
    assert_eq!(transactions.sessions(), 1);
    std::thread::sleep(Duration::from_millis(400));
    client.run("RETURN 1", &[]);
    client.fails("Neo.TransientError.Transaction.Outdated");
    assert_eq!(transactions.sessions(), 0);
}

#[test]
fn a_transaction_does_not_go_on_with_another_graph_of_the_same_name() {
    let fixture = library(3, config());
    let mut client = Client::of(&fixture.server, "anybody");
    client.send(Kind::Begin, &[map(&[])]);
    client.expect(SUCCESS);
    assert_eq!(client.all("MATCH (n) RETURN count(n)", &[]), [3.into()]);
    fixture.server.state.graphs().clear("hugegraph").unwrap();
    client.run("MATCH (n) RETURN n", &[]);
    client.fails("Neo.ClientError.Statement.ArgumentError");
}

#[test]
fn requests_on_behalf_of_others_and_long_names_are_refused() {
    let fixture = library(0, config());
    let mut client = Client::of(&fixture.server, "anybody");
    client.run("RETURN 1", &[("imp_user", "ann".into())]);
    client.fails("Neo.ClientError.Statement.SyntaxError");
    client.reset();
    client.expect(SUCCESS);
    client.run("RETURN 1", &[("db", "g".repeat(1_000).as_str().into())]);
    client.fails("Neo.ClientError.Database.DatabaseNotFound");
    client.reset();
    client.expect(SUCCESS);
    // 0 is no limit of the client's.
    assert_eq!(
        client.all("RETURN 1", &[("tx_timeout", 0.into())]),
        [1.into()]
    );
}

#[test]
fn a_client_may_log_off_and_on_again_and_an_idle_one_does_not_hold_up_a_stop() {
    let mut config = config();
    config.request_timeout_ms = 300;
    config.shutdown_timeout_ms = 600_000;
    let fixture = library(0, config);
    let mut client = Client::of(&fixture.server, "anybody");
    std::thread::sleep(Duration::from_millis(500));
    client.send(Kind::Logoff, &[]);
    client.expect(SUCCESS);
    client.send(Kind::Logon, &[map(&[("scheme", "none".into())])]);
    client.expect(SUCCESS);
    assert_eq!(client.all("RETURN 1", &[]), [1.into()]);
    // It would wait for ten minutes.
    drop(fixture);
    assert_eq!(client.stream.read(&mut [0]).unwrap(), 0);
}
