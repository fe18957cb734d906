//! Rights by label and property: what a user with them is answered is what an administrator is
//! answered on a graph without the elements that the user may not read.
//!
//! Random graphs, rights and users. The test decides by rules of its own which elements are
//! hidden, and builds the graphs without them.

mod answers;
mod elements;
mod periods;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use varve_graph::Graph;
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_model::schema::{IdStrategy, IndexType};
use varve_model::value::DataType;
use varve_server::ServerConfig;
use varve_testkit::Client;
use varve_testkit::Random;
use varve_testkit::http::Answer;
use varve_testserver::TestServer;

use crate::authentication::{send_by, users};
use elements::{Element, Elements, Rule, covers, rules, vertex};

/// Random graphs, and users of each.
const WORLDS: u64 = 8;
const USERS: [&str; 3] = ["u0", "u1", "u2"];
/// Vertex labels, and edge labels with those of their ends.
const LABELS: [&str; 3] = ["a", "b", "c"];
const LINKS: [(&str, &str, &str); 4] = [
    ("aa", "a", "a"),
    ("ab", "a", "b"),
    ("bc", "b", "c"),
    ("ca", "c", "a"),
];

fn schema(graph: &Graph) {
    let catalogue = graph.catalogue();
    for (name, data_type) in [("level", DataType::Int), ("kind", DataType::Text)] {
        let key = NewPropertyKey {
            data_type,
            ..NewPropertyKey::named(name)
        };
        catalogue.create_property_key(key).unwrap();
    }
    let names = || vec!["level".to_owned(), "kind".to_owned()];
    for name in LABELS {
        let label = NewVertexLabel {
            id_strategy: Some(IdStrategy::CustomizeString),
            properties: names(),
            nullable_keys: names(),
            ..NewVertexLabel::named(name)
        };
        catalogue.create_vertex_label(label).unwrap();
    }
    for (name, source, target) in LINKS {
        let label = NewEdgeLabel {
            properties: names(),
            nullable_keys: names(),
            ..NewEdgeLabel::between(name, source, target)
        };
        catalogue.create_edge_label(label).unwrap();
    }
    let vertices = LABELS.map(|name| (BaseType::VertexLabel, name));
    let edges = LINKS.map(|(name, ..)| (BaseType::EdgeLabel, name));
    for (base, label) in vertices.into_iter().chain(edges) {
        for (field, index_type) in [("level", IndexType::Range), ("kind", IndexType::Secondary)] {
            let name = format!("{label}By{field}");
            let index = NewIndexLabel {
                rebuild: false,
                ..NewIndexLabel::on(&name, base, label, index_type, &[field])
            };
            catalogue.create_index_label(index).unwrap();
        }
    }
}

fn json_of(id: Option<&str>, element: &Element) -> Value {
    let mut properties = serde_json::Map::new();
    if let Some(level) = element.level {
        properties.insert("level".into(), json!(level));
    }
    if let Some(kind) = element.kind {
        properties.insert("kind".into(), json!(kind));
    }
    match &element.ends {
        None => json!({"id": id, "label": element.label, "properties": properties}),
        Some((source, target)) => json!({"label": element.label, "outV": source, "inV": target,
            "outVLabel": &source[..1], "inVLabel": &target[..1], "properties": properties}),
    }
}

/// A server, its graphs, and the administrator.
struct World {
    server: TestServer,
    admin: Client,
    users: Vec<Client>,
}

impl World {
    fn new() -> Self {
        Self::with(ServerConfig::default())
    }

    fn with(mut config: ServerConfig) -> Self {
        config.auth.enabled = true;
        let server = TestServer::start(config);
        let mut clients = users(&server, &USERS);
        let admin = clients.remove(0);
        Self {
            server,
            admin,
            users: clients,
        }
    }

    fn graph(&self, name: &str) -> Arc<Graph> {
        let graph = self.server.state.graphs().create(name).unwrap();
        schema(&graph);
        graph
    }

    /// Makes a graph's elements these, which were others before.
    fn store(&self, graph: &str, before: &Elements, after: &Elements) {
        let done = |verb: &str, path: &str, body: &Value| {
            let path = format!("/graphs/{graph}/graph/{path}");
            let answer = send_by(&self.admin, verb, &path, body);
            assert!(answer.status < 300, "{verb} {path}: {}", answer.text());
        };
        for id in before
            .edges
            .keys()
            .filter(|id| !after.edges.contains_key(*id))
        {
            done("DELETE", &format!("edges/{}", edge_path(id)), &json!({}));
        }
        for id in before.vertices.keys() {
            if !after.vertices.contains_key(id) {
                done("DELETE", &format!("vertices/%22{id}%22"), &json!({}));
            }
        }
        let vertices = after.vertices.iter();
        let vertices = vertices.filter(|(id, own)| before.vertices.get(*id) != Some(own));
        let vertices: Vec<Value> = vertices.map(|(id, own)| json_of(Some(id), own)).collect();
        if !vertices.is_empty() {
            done("POST", "vertices/batch", &json!(vertices));
        }
        let edges = after.edges.iter();
        let edges = edges.filter(|(id, own)| before.edges.get(*id) != Some(own));
        let edges: Vec<Value> = edges.map(|(_, own)| json_of(None, own)).collect();
        if !edges.is_empty() {
            done("POST", "edges/batch", &json!(edges));
        }
    }

    /// Gives a user these rights on a graph.
    fn grant(&self, user: &str, graph: &str, permission: &str, resources: &[Value]) {
        let name = format!("{user}_{graph}_{permission}");
        let post = |path: &str, body: Value| {
            let path = format!("/auth/{path}");
            let answer = send_by(&self.admin, "POST", &path, &body);
            assert_eq!(answer.status, 201, "{}", answer.text());
        };
        post("groups", json!({ "group_name": name }));
        post(
            "targets",
            json!({"target_name": name, "target_graph": graph, "target_url": "",
                   "target_resources": resources}),
        );
        let (group, target) = (format!("-36:{name}"), format!("-44:{name}"));
        post(
            "belongs",
            json!({"user": format!("-30:{user}"), "group": group}),
        );
        post(
            "accesses",
            json!({"group": group, "target": target, "access_permission": permission}),
        );
    }

    fn ask(&self, client: &Client, graph: &str, question: &Question) -> Answer {
        match question {
            Question::Get(path) => {
                let path = format!("/graphs/{graph}/{path}");
                send_by(client, "GET", &path, &json!({}))
            }
            Question::Post(path, body) => {
                let path = format!("/graphs/{graph}/{path}");
                send_by(client, "POST", &path, body)
            }
            Question::Script(script) => {
                let alias = format!("__g_{graph}");
                let body = json!({"gremlin": script, "aliases": {"g": alias}});
                send_by(client, "POST", "/gremlin", &body)
            }
        }
    }
}

impl World {
    /// The ids of each page of a listing.
    fn pages(&self, client: &Client, graph: &str, listing: &str) -> Vec<Vec<Value>> {
        let (mut pages, mut page) = (Vec::new(), String::new());
        let what = match listing.starts_with("vertices") {
            true => "vertices",
            false => "edges",
        };
        loop {
            let question = Question::Get(format!("graph/{listing}limit=2&page={page}"));
            let answer = self.ask(client, graph, &question);
            let answer: Value = serde_json::from_slice(&answer.body).unwrap();
            let elements = answer[what].as_array().unwrap().iter();
            pages.push(elements.map(|element| element["id"].clone()).collect());
            assert!(pages.len() < 100, "{listing} has no end");
            match answer["page"].as_str() {
                Some(next) => page = next.replace('+', "%2B"),
                None => return pages,
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Question {
    Get(String),
    Post(&'static str, Value),
    Script(String),
}

fn edge_path((label, source, target): &(String, String, String)) -> String {
    let at = LINKS.iter().position(|(name, ..)| name == label).unwrap() + 1;
    format!("S{source}%3E{at}%3E{at}%3E%3ES{target}")
}

/// An answer without what differs from graph to graph and from time to time.
fn normal(answer: &Answer, graph: &str) -> (u16, Value) {
    let text = answer.text().replace(graph, "GRAPH");
    let mut value: Value = serde_json::from_str(&text).unwrap_or(json!(text));
    if let Some(members) = value.as_object_mut() {
        members.remove("requestId");
        if let Some(measure) = members.get_mut("measure") {
            measure["cost(ns)"] = json!(0);
        }
        if let Some(page) = members.get_mut("page") {
            *page = json!(!page.is_null());
        }
        let histories = ["versions", "states"].map(|name| members.get(name).cloned());
        for (name, versions) in ["versions", "states"].iter().zip(histories) {
            let Some(Value::Array(versions)) = versions else {
                continue;
            };
            let plain = versions.iter().map(|version| {
                json!({"kind": version["kind"], "element": version["element"],
                       "ended": version["superseded_by"].is_null()})
            });
            members.insert((*name).to_owned(), plain.collect());
        }
    }
    (answer.status, value)
}

/// Brings the members' lists into one order.
fn sort(value: &mut Value) {
    let members = value.as_object_mut().into_iter().flatten();
    for list in members.filter_map(|(_, member)| member.as_array_mut()) {
        list.sort_by_key(Value::to_string);
    }
}

/// A graph of people, of whom a user may read the adults, and what it may read and write.
#[test]
fn what_is_hidden_is_not_there() {
    let world = World::new();
    let graph = world.graph("people");
    let mut people = Elements::default();
    for (id, level) in [("a1", 5), ("a2", 1), ("a3", 4)] {
        let kind = None;
        let level = Some(level);
        let (label, ends) = ("a", None);
        people.vertices.insert(
            id.to_owned(),
            Element {
                label,
                ends,
                level,
                kind,
            },
        );
    }
    for (source, target) in [("a1", "a2"), ("a1", "a3"), ("a2", "a3")] {
        people.edges.insert(
            ("aa".to_owned(), source.to_owned(), target.to_owned()),
            Element {
                label: "aa",
                ends: Some((source.to_owned(), target.to_owned())),
                level: None,
                kind: None,
            },
        );
    }
    world.store("people", &Elements::default(), &people);
    let user = &world.users[0];
    let send = |verb: &str, path: &str, body: &Value| {
        let path = format!("/graphs/people/{path}");
        send_by(user, verb, &path, body)
    };
    let get = |path: &str| send("GET", path, &json!({}));
    // Without a right nothing may be read at all.
    assert_eq!(get("graph/vertices/%22a1%22").status, 403);
    assert_eq!(
        get("traversers/kout?source=%22a1%22&max_depth=1").status,
        403
    );
    let adults = json!({"type": "VERTEX", "label": "a", "properties": {"level": "P.gte(4)"}});
    let acquaintance = json!({"type": "EDGE", "label": "a.*"});
    world.grant(
        "u0",
        "people",
        "READ",
        &[adults.clone(), acquaintance.clone()],
    );
    for (path, status) in [
        ("graph/vertices/%22a1%22", 200),
        ("graph/vertices/%22a2%22", 404),
        ("graph/vertices/%22a9%22", 404),
        ("graph/vertices/%22a2%22/history", 404),
        ("graph/vertices/%22a2%22/timeline", 404),
        ("graph/edges/Sa1%3E1%3E1%3E%3ESa3", 200),
        ("graph/edges/Sa1%3E1%3E1%3E%3ESa2", 404),
        ("graph/edges/Sa1%3E1%3E1%3E%3ESa2/history", 404),
        ("traversers/kout?source=%22a2%22&max_depth=1", 400),
        ("schema/vertexlabels/a", 200),
        ("schema/vertexlabels/b", 404),
        ("schema/edgelabels/ab", 404),
        ("schema/propertykeys/level", 200),
        // What is not filtered is not shown.
        ("tasks", 403),
        ("variables", 403),
        ("traversers/vertices/shards?split_size=1048576", 403),
    ] {
        let answer = get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
    }
    let same = |hidden: &str, absent: &str| {
        let (hidden, absent) = (get(hidden), get(absent));
        assert_eq!(hidden.text().replace("a2", "a9"), absent.text());
    };
    same("graph/vertices/%22a2%22", "graph/vertices/%22a9%22");
    same(
        "graph/vertices/%22a2%22/history",
        "graph/vertices/%22a9%22/history",
    );
    let listed: Value = serde_json::from_slice(&get("graph/vertices/history").body).unwrap();
    assert_eq!(listed["ids"], json!(["a1", "a3"]));
    let labels: Value = serde_json::from_slice(&get("schema/vertexlabels").body).unwrap();
    assert_eq!(labels["vertexlabels"].as_array().unwrap().len(), 1);

    // To write takes a right of its own, for the states before and after.
    let put = |id: &str, level: i64| {
        let body = json!({"id": id, "label": "a", "properties": {"level": level}});
        send("POST", "graph/vertices", &body).status
    };
    assert_eq!(put("a1", 5), 403);
    world.grant(
        "u0",
        "people",
        "WRITE",
        &[adults.clone(), acquaintance.clone()],
    );
    assert_eq!(
        (put("a1", 4), put("a1", 3), put("a2", 5), put("a5", 9)),
        (201, 403, 403, 201)
    );
    let edge = |target: &str| {
        let body = json!({"label": "aa", "outV": "a1", "inV": target, "outVLabel": "a",
            "inVLabel": "a", "properties": {}});
        send("POST", "graph/edges", &body)
    };
    assert_eq!(edge("a5").status, 201);
    let (hidden, absent) = (edge("a2"), edge("a9"));
    assert_eq!(hidden.status, 400);
    assert_eq!(hidden.text().replace("a2", "a9"), absent.text());
    // A vertex goes only with all its edges.
    world.grant("u0", "people", "DELETE", &[adults, acquaintance]);
    assert_eq!(
        send("DELETE", "graph/vertices/%22a2%22", &json!({})).status,
        400
    );
    let refused = send("DELETE", "graph/vertices/%22a1%22", &json!({}));
    assert_eq!(refused.status, 403);
    // The refusal does not name the hidden edge, nor its other end.
    assert!(!refused.text().contains("a2"), "{}", refused.text());
    assert_eq!(
        send("DELETE", "graph/vertices/%22a5%22", &json!({})).status,
        204
    );

    // Scripts see and change the same.
    world.grant("u0", "people", "EXECUTE", &[json!({"type": "GREMLIN"})]);
    let run = |script: &str| {
        let body = json!({"gremlin": script, "aliases": {"g": "__g_people"}});
        send_by(user, "POST", "/gremlin", &body)
    };
    let data = |script: &str| {
        let answer = run(script);
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answer.status, 200, "{script}: {value}");
        value["result"]["data"].clone()
    };
    assert_eq!(data("g.V().id().order()"), json!(["a1", "a3"]));
    assert_eq!(
        data("g.V('a1').property('level', 5).values('level')"),
        json!([5])
    );
    let before = graph.published();
    for script in [
        "g.V('a1').property('level', 2)",
        "g.addV('a').property(T.id, 'a2').property('level', 5)",
        "g.addV('b').property(T.id, 'b1')",
        "g.V('a1').drop()",
    ] {
        let answer = run(script);
        assert_eq!(answer.status, 403, "{script}: {}", answer.text());
    }
    assert_eq!(data("g.V('a2').drop()"), json!([]));
    assert_eq!(graph.published(), before);
    // What is hidden now was never there; what was hidden is shown as far as it may be.
    let then = before.0;
    let secret = json!([{"id": "a3", "label": "a", "properties": {"level": 0}}]);
    let path = "/graphs/people/graph/vertices/batch";
    assert_eq!(send_by(&world.admin, "POST", path, &secret).status, 201);
    let past = format!("graph/vertices/%22a3%22?as_of_tx={then}");
    assert_eq!(
        (
            get(&past).status,
            get("graph/vertices/%22a3%22/history").status
        ),
        (404, 404)
    );
}
