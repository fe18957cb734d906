//! Bad input to the metadata repository of a real server: each is answered with the contract's
//! exception, others are served meanwhile, and memory stays bounded.

use std::io::Write as _;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value as Json, json};

use crate::metadata::{
    ASSET, CONFIDENTIALITY, Caller, FAR_HOME, MEANING, TERM, new_entity, repository_in_memory,
    taken_for, texts,
};
use crate::server::ServerProcess;

/// Rounds of all that is bad: enough that what is not given back shows.
const ROUNDS: usize = 5;
/// What the server's memory may grow by beyond that of its first round, in bytes.
const GROWTH_MAX: u64 = 192 << 20;
const PREFIX: &str = "/servers/varve/open-metadata/repository-services/users/ada/";

/// A call that must be refused, and with what; none: it is answered.
struct Bad {
    what: &'static str,
    method: &'static str,
    path: String,
    body: Vec<u8>,
    wanted: Option<&'static str>,
}

fn bad(what: &'static str, path: &str, body: impl Into<Vec<u8>>, wanted: &'static str) -> Bad {
    Bad {
        what,
        method: "POST",
        path: path.to_owned(),
        body: body.into(),
        wanted: Some(wanted),
    }
}

/// What there is to be bad to.
struct World {
    caller: Caller,
    asset: String,
    copy: String,
    home: String,
    asset_type: Json,
}

impl World {
    fn new(server: &ServerProcess) -> Self {
        let caller = Caller::new(server, "ada");
        let asset = caller.must("POST", "instances/entity", &new_entity(ASSET, "good"));
        let asset = &asset["entity"];
        let world = Self {
            asset: asset["guid"].as_str().expect("a GUID").to_owned(),
            copy: "copy".to_owned(),
            home: asset["metadataCollectionId"]
                .as_str()
                .expect("a home")
                .to_owned(),
            asset_type: asset["type"].clone(),
            caller,
        };
        let path = "instances/entities/reference-copy";
        world.caller.must("POST", path, &world.copy_of(FAR_HOME));
        world
    }

    fn copy_of(&self, home: &str) -> Json {
        json!({
            "class": "EntityDetail",
            "type": self.asset_type,
            "instanceProvenanceType": "LOCAL_COHORT",
            "metadataCollectionId": home,
            "createTime": 1_600_000_000_000_i64,
            "version": 1,
            "status": "ACTIVE",
            "guid": self.copy,
            "properties": texts(&[("qualifiedName", "far")]),
        })
    }

    fn properties_of(&self, guid: &str) -> String {
        format!("instances/entity/{guid}/properties")
    }
}

fn value(kind: &str, value: &Json) -> Json {
    json!({
        "class": "PrimitivePropertyValue",
        "primitiveDefCategory": kind,
        "primitiveValue": value,
    })
}

fn properties(name: &str, value: &Json) -> String {
    json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": {"class": "InstanceProperties", "instanceProperties": {name: value}},
    })
    .to_string()
}

fn search(more: &Json) -> String {
    search_as("EntityFindRequest", more)
}

fn search_as(class: &str, more: &Json) -> String {
    let mut body = json!({"class": class, "typeGUID": ASSET.1, "pageSize": 10});
    let all = body.as_object_mut().expect("an object");
    all.extend(more.as_object().expect("an object").clone());
    body.to_string()
}

/// Types that are not there, values of other kinds, and what is not ours to change.
fn wrong_content(world: &World) -> Vec<Bad> {
    let of_type = |guid: &str| new_entity((ASSET.0, guid), "x").to_string();
    let own = world.properties_of(&world.asset);
    let link = |type_guid: &str, one: &str, two: &str| {
        json!({
            "class": "RelationshipCreateRequest", "relationshipTypeGUID": type_guid,
            "entityOneGUID": one, "entityTwoGUID": two,
        })
        .to_string()
    };
    let whole = value("OM_PRIMITIVE_TYPE_INT", &json!(1));
    let text = value("OM_PRIMITIVE_TYPE_STRING", &json!("x"));
    let array = json!({"class": "ArrayPropertyValue", "arrayCount": 1, "arrayValues": {}});
    let classify = |name: &str| format!("instances/entity/{}/classification/{name}", world.asset);
    let nothing = r#"{"class":"InstancePropertiesRequest"}"#;
    let copy = world.copy_of(&world.home).to_string();
    let nobody = taken_for(TERM).to_string();
    vec![
        bad(
            "unknown type",
            "instances/entity",
            of_type("nonsense"),
            "TypeErrorException",
        ),
        bad(
            "a relationship's type",
            "instances/entity",
            of_type(MEANING.1),
            "TypeErrorException",
        ),
        bad(
            "no type",
            "instances/entity",
            r#"{"class":"EntityCreateRequest"}"#,
            "InvalidParameterException",
        ),
        bad(
            "unknown type of a relationship",
            "instances/relationship",
            link("x", &world.asset, &world.asset),
            "TypeErrorException",
        ),
        bad(
            "an end of another type",
            "instances/relationship",
            link(MEANING.1, &world.asset, &world.asset),
            "InvalidParameterException",
        ),
        bad(
            "an unknown end",
            "instances/relationship",
            link(MEANING.1, &world.asset, "nobody"),
            "EntityNotKnownException",
        ),
        bad(
            "unknown type of a search",
            "instances/entities",
            search(&json!({"typeGUID": "x"})),
            "TypeErrorException",
        ),
        bad(
            "a whole number for a text",
            &own,
            properties("qualifiedName", &whole),
            "PropertyErrorException",
        ),
        bad(
            "an array for a text",
            &own,
            properties("qualifiedName", &array),
            "PropertyErrorException",
        ),
        bad(
            "an unknown property",
            &own,
            properties("colour", &text),
            "PropertyErrorException",
        ),
        bad(
            "unknown classification",
            &classify("Nonsense"),
            nothing,
            "InvalidParameterException",
        ),
        bad(
            "an entity's type as classification",
            &classify("Asset"),
            nothing,
            "InvalidParameterException",
        ),
        bad(
            "update of a copy",
            &world.properties_of(&world.copy),
            properties("qualifiedName", &text),
            "InvalidParameterException",
        ),
        bad(
            "a copy of ours",
            "instances/entities/reference-copy",
            copy,
            "InvalidParameterException",
        ),
        bad(
            "delete as another type",
            &format!("instances/entity/{}/delete", world.asset),
            nobody,
            "InvalidParameterException",
        ),
        bad(
            "purge of what is not deleted",
            &format!("instances/entity/{}/purge", world.asset),
            taken_for(ASSET).to_string(),
            "EntityNotDeletedException",
        ),
        bad(
            "an unknown instance",
            &world.properties_of("nobody"),
            properties("qualifiedName", &text),
            "EntityNotKnownException",
        ),
    ]
}

/// Searches that make no sense.
fn wrong_searches(world: &World) -> Vec<Bad> {
    let history = format!("instances/entity/{}/history", world.asset);
    let later = i64::MAX / 2;
    let future = json!({"class": "HistoryRequest", "asOfTime": later}).to_string();
    let wanted = texts(&[("qualifiedName", "(a")]);
    let by_property = |more: Json| search_as("EntityPropertyFindRequest", &more);
    let invalid = "InvalidParameterException";
    vec![
        bad("a time to come", &history, future, invalid),
        bad("no time", &history, "{}", invalid),
        bad(
            "a search as of a time to come",
            "instances/entities/history",
            search(&json!({"asOfTime": later})),
            invalid,
        ),
        bad(
            "a negative page",
            "instances/entities",
            search(&json!({"pageSize": -1})),
            "PagingErrorException",
        ),
        bad(
            "a negative offset",
            "instances/entities",
            search(&json!({"offset": -1})),
            "PagingErrorException",
        ),
        bad(
            "half a pattern",
            "instances/entities/by-property",
            by_property(json!({"matchProperties": wanted})),
            invalid,
        ),
        bad(
            "half a pattern in the path",
            "instances/entities/by-property-value?searchCriteria=(a",
            by_property(json!({})),
            invalid,
        ),
        bad(
            "a pattern that looks back",
            "instances/entities/by-property-value?searchCriteria=(a)%5C1",
            by_property(json!({})),
            "FunctionNotSupportedException",
        ),
        bad(
            "no pattern",
            "instances/entities/by-property-value",
            by_property(json!({})),
            invalid,
        ),
        bad(
            "a page too large for its number",
            "instances/entities",
            search(&json!({"pageSize": 1_u64 << 40})),
            invalid,
        ),
    ]
}

/// Bodies that are no bodies, or far too large.
fn wrong_bodies() -> Vec<Bad> {
    let invalid = "InvalidParameterException";
    let whole = new_entity(ASSET, "half").to_string();
    let levels = 10_000;
    let conditions = "{\"conditions\":[{\"nestedConditions\":".repeat(levels);
    let deep = format!(
        "{{\"class\":\"EntityFindRequest\",\"matchProperties\":{conditions}{{}}{}}}",
        "}]}".repeat(levels)
    );
    let arrays =
        "{\"class\":\"ArrayPropertyValue\",\"arrayValues\":{\"instanceProperties\":{\"0\":"
            .repeat(levels);
    let nested = format!(
        "{{\"class\":\"EntityCreateRequest\",\"entityTypeGUID\":\"{}\",\"initialProperties\":{{\"instanceProperties\":{{\"a\":{arrays}1{}}}}}}}",
        ASSET.1,
        "}}}".repeat(levels)
    );
    let brackets = format!("{{\"more\":{}", "[".repeat(1_000_000));
    let mut not_text = whole.clone().into_bytes();
    let inside = not_text.len() - 10;
    not_text[inside] = 0xFF;
    let long = |bytes: usize| new_entity(ASSET, &"x".repeat(bytes)).to_string();
    let many = format!("{{\"a\":[{}1]}}", "1,".repeat(1_500_000));
    let entity = "instances/entity";
    vec![
        bad("deep conditions", "instances/entities", deep, invalid),
        bad("deep arrays", entity, nested, invalid),
        bad("deep brackets", entity, brackets, invalid),
        bad("not UTF-8", entity, not_text, invalid),
        bad(
            "half a body",
            entity,
            &whole.as_bytes()[..whole.len() / 2],
            invalid,
        ),
        bad("more than a body", entity, whole.clone() + "}", invalid),
        bad("no JSON", entity, "<xml/>", invalid),
        bad("a list for a body", entity, "[]", invalid),
        bad(
            "another class",
            entity,
            whole.replace("EntityCreateRequest", "RelationshipCreateRequest"),
            invalid,
        ),
        bad("a class that is no text", entity, r#"{"class":1}"#, invalid),
        bad(
            "half a surrogate pair",
            entity,
            r#"{"entityTypeGUID":"\ud800"}"#,
            invalid,
        ),
        bad("a text of 10 MB", entity, long(10_000_000), invalid),
        bad("a body of 20 MB", entity, long(20_000_000), invalid),
        bad("too many values", entity, many, invalid),
        Bad {
            what: "a property twice: the last counts",
            method: "POST",
            path: entity.to_owned(),
            body: whole
                .replacen('{', "{\"entityTypeGUID\":\"nonsense\",", 1)
                .into_bytes(),
            wanted: None,
        },
        Bad {
            what: "properties nobody knows",
            method: "POST",
            path: entity.to_owned(),
            body: whole
                .replacen('{', "{\"more\":[{\"a\":null}],", 1)
                .into_bytes(),
            wanted: None,
        },
    ]
}

/// Sends a request as bytes; the status and the body.
fn send(server: &ServerProcess, of: &Bad) -> (u16, Json) {
    let mut connection = server.client().connect();
    let head = format!(
        "{} {PREFIX}{} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        of.method,
        of.path,
        of.body.len()
    );
    connection.send(head.as_bytes());
    // A server that refuses a body for its length need not read it.
    let _ = connection.stream.write_all(&of.body);
    let answer = connection.receive();
    (answer.status, answer.json())
}

/// What is wrong with the answer of a bad call, if anything is.
fn fault(server: &ServerProcess, of: &Bad) -> Option<String> {
    let (status, answer) = send(server, of);
    let class = answer["exceptionClassName"].as_str().unwrap_or_default();
    let simple = class.rsplit('.').next().unwrap_or_default();
    let is_fine = answer["relatedHTTPCode"] == 200;
    let is_right =
        status == 200 && simple == of.wanted.unwrap_or_default() && is_fine == of.wanted.is_none();
    (!is_right).then(|| {
        let excerpt: String = answer.to_string().chars().take(500).collect();
        format!(
            "{}: {:?} wanted, answered {status} {excerpt}",
            of.what, of.wanted
        )
    })
}

/// Makes all calls; every one must be answered as it should.
fn check(server: &ServerProcess, all: &[Bad]) {
    let faults: Vec<String> = all.iter().filter_map(|of| fault(server, of)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A body that ends before its length, and a request that ends within its head.
fn cut_off(server: &ServerProcess) {
    for request in [
        format!(
            "POST {PREFIX}instances/entity HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{{\"class\":"
        ),
        format!("POST {PREFIX}instances/enti"),
    ] {
        let mut connection = server.client().connect();
        connection.send(request.as_bytes());
        connection
            .stream
            .shutdown(Shutdown::Write)
            .expect("cut off");
        let answer = connection.receive_rest();
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains("\"relatedHTTPCode\":200"), "{text}");
    }
}

/// Memory that the process has had at most, in bytes.
fn peak_memory(process: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).expect("a process");
    let line = text
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("a line");
    let kibibytes: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|it| it.parse().ok())
        .expect("a number");
    kibibytes << 10
}

#[test]
fn bad_input_is_answered_with_the_exception_of_the_contract_and_others_are_served() {
    let server = repository_in_memory(&[]);
    let world = World::new(&server);
    let all: Vec<Bad> = [
        wrong_content(&world),
        wrong_searches(&world),
        wrong_bodies(),
    ]
    .into_iter()
    .flatten()
    .collect();
    check(&server, &all);
    cut_off(&server);
    let (is_over, before) = (AtomicBool::new(false), peak_memory(server.id()));
    let served: usize = thread::scope(|scope| {
        let others: Vec<_> = (0..2)
            .map(|number| {
                scope.spawn({
                    let (caller, is_over) = (Caller::new(&server, "bob"), &is_over);
                    move || {
                        let mut served = 0;
                        while !is_over.load(Ordering::Relaxed) {
                            let name = format!("other {number} {served}");
                            let made =
                                caller.must("POST", "instances/entity", &new_entity(ASSET, &name));
                            let guid = made["entity"]["guid"].as_str().expect("a GUID").to_owned();
                            let path = format!("instances/entity/{guid}");
                            let read = caller.must("GET", &path, &Json::Null);
                            assert_eq!(read["entity"], made["entity"]);
                            served += 1;
                        }
                        served
                    }
                })
            })
            .collect();
        let hostile: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..ROUNDS {
                        check(&server, &all);
                        cut_off(&server);
                    }
                })
            })
            .collect();
        let ended = hostile
            .into_iter()
            .map(thread::ScopedJoinHandle::join)
            .all(|it| it.is_ok());
        is_over.store(true, Ordering::Relaxed);
        let served = others
            .into_iter()
            .map(|it| it.join().expect("served on"))
            .sum();
        assert!(ended, "something bad was not answered as it should");
        served
    });
    assert!(served > 0);
    let grown = peak_memory(server.id()) - before;
    assert!(grown < GROWTH_MAX, "the server grew by {} MiB", grown >> 20);
    let path = format!(
        "instances/entity/{}/classification/{CONFIDENTIALITY}",
        world.asset
    );
    let body = json!({"class": "InstancePropertiesRequest"});
    world.caller.must("POST", &path, &body);
}

#[test]
fn a_pattern_that_would_try_every_way_takes_no_longer_than_its_text() {
    let server = repository_in_memory(&[]);
    let caller = Caller::new(&server, "ada");
    let long = "a".repeat(1_000_000) + "!";
    for text in [long.as_str(), &long[1..], "aaaa"] {
        caller.must("POST", "instances/entity", &new_entity(ASSET, text));
    }
    for pattern in [
        "(a%2B)%2B%24",
        "(a%7Caa)%2B%24",
        "(.*a)%7B20%7D%24",
        "(a*)*b",
    ] {
        let path = format!("instances/entities/by-property-value?searchCriteria={pattern}");
        let body = json!({"class": "EntityPropertyFindRequest", "typeGUID": ASSET.1});
        match caller.call("POST", &path, &body) {
            Ok(answer) => {
                let found = answer["entities"].as_array().map_or(0, Vec::len);
                let wanted = if pattern.starts_with("(a%") { 1 } else { 0 };
                assert_eq!(found, wanted, "{pattern}");
            }
            Err(refused) => panic!("{pattern}: {refused:?}"),
        }
    }
}

#[test]
fn a_long_text_is_kept_where_the_limits_allow_it() {
    let options = [
        "omrs.max_text_bytes=16000000",
        "server.max_body_bytes=32000000",
    ];
    let server = repository_in_memory(&options);
    let caller = Caller::new(&server, "ada");
    let long = "x".repeat(10_000_000);
    let made = caller.must("POST", "instances/entity", &new_entity(ASSET, &long));
    let guid = made["entity"]["guid"].as_str().expect("a GUID");
    let path = format!("instances/entity/{guid}");
    let read = caller.must("GET", &path, &Json::Null);
    let properties = &read["entity"]["properties"]["instanceProperties"];
    assert_eq!(properties["qualifiedName"]["primitiveValue"], long.as_str());
}
