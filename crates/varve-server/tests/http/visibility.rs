//! Rights by label and property: what a user with them is answered is what an administrator is
//! answered on a graph without the elements that the user may not read.
//!
//! Random graphs, rights and users. The test decides by rules of its own which elements are
//! hidden, and builds the graphs without them.

mod answers;
mod writes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use varve_graph::Graph;
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_model::schema::{IdStrategy, IndexType};
use varve_model::value::DataType;
use varve_server::ServerConfig;
use varve_testkit::Random;

use crate::authentication::{Client, users};
use crate::harness::{Answer, TestServer};

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

/// An element: its label, its ends if it is an edge, and what may be asked of it.
#[derive(Debug, Clone, PartialEq)]
struct Element {
    label: &'static str,
    ends: Option<(String, String)>,
    level: Option<i64>,
    kind: Option<&'static str>,
}

/// Vertices by id and edges by label and ends.
#[derive(Debug, Clone, Default)]
struct Elements {
    vertices: BTreeMap<String, Element>,
    edges: BTreeMap<(String, String, String), Element>,
}

/// A condition on a property, as a target says it and as the test understands it.
#[derive(Debug, Clone)]
enum Condition {
    Level(&'static str, i64),
    Kind(&'static str),
}

/// A resource of a target.
#[derive(Debug, Clone)]
struct Rule {
    kind: &'static str,
    label: &'static str,
    conditions: Vec<Condition>,
}

impl Rule {
    fn json(&self) -> Value {
        let mut properties = serde_json::Map::new();
        for condition in &self.conditions {
            match condition {
                Condition::Level(predicate, bound) => {
                    let arguments = match *predicate {
                        "within" | "without" => format!("{bound}, {}", bound + 1),
                        "between" => format!("{bound}, {}", bound + 2),
                        _ => bound.to_string(),
                    };
                    let text = format!("P.{predicate}({arguments})");
                    properties.insert("level".into(), json!(text));
                }
                Condition::Kind(kind) => {
                    properties.insert("kind".into(), json!(kind));
                }
            }
        }
        match properties.is_empty() {
            true => json!({"type": self.kind, "label": self.label}),
            false => json!({"type": self.kind, "label": self.label, "properties": properties}),
        }
    }

    fn covers(&self, element: &Element) -> bool {
        let kind = match element.ends {
            None => "VERTEX",
            Some(_) => "EDGE",
        };
        let matches = match self.label {
            "*" => true,
            // A regular expression that is one label or several.
            label => label.split('|').any(|one| one == element.label),
        };
        let mut conditions = self.conditions.iter();
        (self.kind == kind || self.kind == "ALL")
            && matches
            && conditions.all(|condition| match condition {
                Condition::Level(predicate, bound) => {
                    element.level.is_some_and(|own| match *predicate {
                        "gte" => own >= *bound,
                        "lt" => own < *bound,
                        "within" => own == *bound || own == bound + 1,
                        "without" => own != *bound && own != bound + 1,
                        "between" => own >= *bound && own < bound + 2,
                        _ => own != *bound,
                    })
                }
                Condition::Kind(kind) => element.kind == Some(*kind),
            })
    }
}

fn covers(rules: &[Rule], element: &Element) -> bool {
    rules.iter().any(|rule| rule.covers(element))
}

impl Elements {
    /// What of these elements may be seen, if `now` is what they are now.
    fn seen(&self, rules: &[Rule], now: &Self) -> Self {
        let mut seen = self.clone();
        seen.vertices.retain(|id, vertex| {
            let present = now.vertices.get(id);
            covers(rules, vertex) && present.is_none_or(|present| covers(rules, present))
        });
        let vertices = &seen.vertices;
        seen.edges.retain(|id, edge| {
            let present = now.edges.get(id);
            covers(rules, edge)
                && present.is_none_or(|present| covers(rules, present))
                && vertices.contains_key(&id.1)
                && vertices.contains_key(&id.2)
        });
        seen
    }

    fn random(random: &mut Random) -> Self {
        let mut elements = Self::default();
        for at in 0..6 + random.below(10) {
            let label = LABELS[random.below(3)];
            elements
                .vertices
                .insert(format!("{label}{at}"), vertex(label, random));
        }
        elements.add_edges(30, random);
        elements
    }

    fn add_edges(&mut self, tries: usize, random: &mut Random) {
        let ids: Vec<String> = self.vertices.keys().cloned().collect();
        for _ in 0..tries {
            let (source, target) = (random.pick(&ids), random.pick(&ids));
            let link = LINKS
                .iter()
                .find(|(_, from, to)| source.starts_with(from) && target.starts_with(to));
            let Some((label, ..)) = link else {
                continue;
            };
            let edge = Element {
                ends: Some((source.clone(), target.clone())),
                ..vertex(label, random)
            };
            let id = ((*label).to_owned(), source.clone(), target.clone());
            self.edges.insert(id, edge);
        }
    }

    /// What may become of them: other properties, some more and some less.
    fn changed(&self, random: &mut Random) -> Self {
        let mut changed = self.clone();
        changed.vertices.retain(|_, _| !random.one_in(10));
        for vertex in changed.vertices.values_mut() {
            if random.one_in(4) {
                (vertex.level, vertex.kind) = properties(random);
            }
        }
        let vertices = &changed.vertices;
        let stays = |id: &str| vertices.contains_key(id);
        changed
            .edges
            .retain(|id, _| stays(&id.1) && stays(&id.2) && !random.one_in(12));
        for edge in changed.edges.values_mut() {
            if random.one_in(4) {
                (edge.level, edge.kind) = properties(random);
            }
        }
        for at in 20..22 {
            let label = LABELS[random.below(3)];
            changed
                .vertices
                .insert(format!("{label}{at}"), vertex(label, random));
        }
        changed.add_edges(8, random);
        changed
    }
}

fn properties(random: &mut Random) -> (Option<i64>, Option<&'static str>) {
    let level = (!random.one_in(5)).then(|| random.below(6) as i64);
    let kind = [None, Some("x"), Some("y")][random.below(3)];
    (level, kind)
}

fn vertex(label: &'static str, random: &mut Random) -> Element {
    let (level, kind) = properties(random);
    Element {
        label,
        ends: None,
        level,
        kind,
    }
}

/// Rights to read, at least some of vertices and of edges.
fn rules(random: &mut Random) -> Vec<Rule> {
    const PATTERNS: [(&str, [&str; 5]); 2] = [
        ("VERTEX", ["*", "a", "b|c", "a|b", "a|c"]),
        ("EDGE", ["*", "aa|ab", "bc|ca|aa", "*", "ab|bc"]),
    ];
    let mut rules = Vec::new();
    for (kind, patterns) in PATTERNS {
        for _ in 0..1 + random.below(2) {
            let mut conditions = Vec::new();
            if random.one_in(2) {
                const PREDICATES: [&str; 6] = ["gte", "lt", "neq", "within", "without", "between"];
                let predicate = *random.pick(&PREDICATES);
                conditions.push(Condition::Level(predicate, 1 + random.below(4) as i64));
            }
            if random.one_in(6) {
                conditions.push(Condition::Kind("x"));
            }
            rules.push(Rule {
                kind,
                label: patterns[random.below(5)],
                conditions,
            });
        }
    }
    rules
}

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
        let server = TestServer::start(ServerConfig {
            auth: varve_server::AuthConfig {
                enabled: true,
                ..Default::default()
            },
            ..ServerConfig::default()
        });
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
            let answer = self.admin.send(&self.server, verb, &path, body);
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
            let answer = self.admin.send(&self.server, "POST", &path, &body);
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
                client.send(&self.server, "GET", &path, &json!({}))
            }
            Question::Post(path, body) => {
                let path = format!("/graphs/{graph}/{path}");
                client.send(&self.server, "POST", &path, body)
            }
            Question::Script(script) => {
                let alias = format!("__g_{graph}");
                let body = json!({"gremlin": script, "aliases": {"g": alias}});
                client.send(&self.server, "POST", "/gremlin", &body)
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
        user.send(&world.server, verb, &path, body)
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
        user.send(&world.server, "POST", "/gremlin", &body)
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
    assert_eq!(
        world
            .admin
            .send(&world.server, "POST", path, &secret)
            .status,
        201
    );
    let past = format!("graph/vertices/%22a3%22?as_of_tx={then}");
    assert_eq!(
        (
            get(&past).status,
            get("graph/vertices/%22a3%22/history").status
        ),
        (404, 404)
    );
}
