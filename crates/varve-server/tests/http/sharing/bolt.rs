//! Bolt at a server that follows the graph: clients that only read are answered there.

use varve_bolt::packstream::Value as Sent;
use varve_bolt::request::Kind;

use super::bounded::version;
use super::*;
use crate::bolt::{Client, config, entry, map};

const SUCCESS: u8 = 0x70;
const FAILURE: u8 = 0x7F;
const NAMES: &str = "MATCH (n) RETURN n.name ORDER BY n.name";

/// Two servers with a graph that the first leads, and a client of the second.
fn two_and_client() -> (Server, Server, Client) {
    let shared = SharedMemory::new();
    let start = || Server::start_with(&shared, config());
    let (a, b) = (start(), start());
    a.done("POST", GRAPH, &json!({}));
    schema(&a);
    b.await_role("g", "follower");
    let client = Client::of(&b, "anybody");
    (a, b, client)
}

/// What a client asks for that reads a state with this commit.
fn reading(of: u64) -> [(&'static str, Sent); 2] {
    let bookmark = Sent::from(format!("varve:g:{of}").as_str());
    let bookmarks = Sent::List(vec![bookmark]);
    [("mode", "r".into()), ("bookmarks", bookmarks)]
}

/// A statement within a transaction. Returns its records, or the code of its failure.
fn within(client: &mut Client, statement: &str) -> Result<Vec<Sent>, Sent> {
    client.run(statement, &[]);
    client.expect(SUCCESS);
    client.pull(-1);
    let (records, tag, field) = client.records();
    match tag {
        FAILURE => Err(entry(&field, "neo4j_code").clone()),
        _ => Ok(records),
    }
}

#[test]
fn a_client_that_only_reads_is_answered_with_what_its_bookmark_names() {
    let (a, _b, mut client) = two_and_client();
    let mut names = Vec::new();
    for round in 10..30 {
        let id = format!("v{round}");
        let written = a.ask("POST", &vertices(), &vertex(&id));
        names.push(Sent::from(id.as_str()));
        let read = client.all(NAMES, &reading(version(&written)));
        assert_eq!(read, names);
    }
    let of = version(&a.ask("DELETE", &path_of("v10"), &Value::Null));
    assert_eq!(client.all(NAMES, &reading(of)), names[1..]);
    // A client that may write, and one that writes although it said otherwise.
    client.run(NAMES, &[]);
    client.fails("Neo.ClientError.Cluster.NotALeader");
    client.reset();
    client.expect(SUCCESS);
    client.run("MATCH (n) SET n.name = 'w'", &reading(of));
    client.fails("Neo.ClientError.Statement.AccessMode");
    client.reset();
    client.expect(SUCCESS);
    assert_eq!(client.all(NAMES, &reading(of)), names[1..]);
}

#[test]
fn a_transaction_reads_one_state_or_says_that_it_has_passed() {
    let (a, _b, mut client) = two_and_client();
    let of = version(&a.ask("POST", &vertices(), &vertex("x")));
    let begin = |client: &mut Client| {
        client.send(Kind::Begin, &[map(&reading(of))]);
        client.expect(SUCCESS);
    };
    begin(&mut client);
    let seen = within(&mut client, NAMES).unwrap();
    assert_eq!(seen, [Sent::from("x")]);
    a.done("POST", &vertices(), &vertex("y"));
    a.done("DELETE", &path_of("x"), &Value::Null);
    assert_eq!(within(&mut client, NAMES).unwrap(), seen);
    client.send(Kind::Commit, &[]);
    let done = client.expect(SUCCESS);
    assert!(format!("{:?}", entry(&done, "bookmark")).contains("varve:g:"));
    // A change of the schema: the state of the second query could be of no version.
    begin(&mut client);
    let seen = within(&mut client, NAMES).unwrap();
    let key = json!({"name": "later", "data_type": "TEXT", "cardinality": "SINGLE"});
    a.done("POST", &format!("{GRAPH}/schema/propertykeys"), &key);
    a.done("DELETE", &path_of("y"), &Value::Null);
    let refused = within(&mut client, NAMES);
    let code = Sent::from("Neo.TransientError.General.DatabaseUnavailable");
    assert_eq!(refused, Err(code), "after {seen:?}");
}
