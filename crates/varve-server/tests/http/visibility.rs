//! Rights by label and property: what a user with them is answered is what an administrator is
//! answered on a graph without the elements that the user may not read.
//!
//! Random graphs, rights and users. The test decides by rules of its own which elements are
//! hidden, and builds the graphs without them.

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

/// What is asked of a graph and of the graph without what is hidden, at the same point of time.
fn questions(all: &Elements, random: &mut Random) -> Vec<Question> {
    let get = |text: String| Question::Get(text);
    let ids: Vec<&String> = all.vertices.keys().collect();
    let edges: Vec<_> = all.edges.keys().collect();
    let quoted = |id: &str| format!("%22{id}%22");
    let mut asked = Vec::new();
    for id in &ids {
        asked.push(get(format!("graph/vertices/{}", quoted(id))));
    }
    for id in &edges {
        asked.push(get(format!("graph/edges/{}", edge_path(id))));
    }
    for what in ["vertices", "edges"] {
        let label = match what {
            "vertices" => "a",
            _ => "ab",
        };
        for rest in [
            "limit=-1".to_owned(),
            format!("label={label}&limit=-1"),
            "offset=1&limit=3".to_owned(),
            format!("label={label}&properties=%7B%22level%22:%22P.gte(2)%22%7D&limit=-1"),
            "properties=%7B%22kind%22:%22x%22%7D&limit=-1".to_owned(),
            "properties=%7B%22level%22:%22P.lt(4)%22%7D&limit=2&page=".to_owned(),
            "limit=2&page=".to_owned(),
        ] {
            asked.push(get(format!("graph/{what}?{rest}")));
        }
        asked.push(get(format!(
            "traversers/{what}/scan?start=AA%3D%3D&end=%2Fw%3D%3D"
        )));
    }
    let each: Vec<String> = ids.iter().map(|id| format!("ids={}", quoted(id))).collect();
    asked.push(get(format!("traversers/vertices?{}", each.join("&"))));
    let each: Vec<String> = edges
        .iter()
        .map(|id| format!("ids={}", edge_path(id)))
        .collect();
    if !each.is_empty() {
        asked.push(get(format!("traversers/edges?{}", each.join("&"))));
    }
    for _ in 0..3 {
        let (one, other) = (random.pick(&ids), random.pick(&ids));
        let (one, other) = (quoted(one), quoted(other));
        for direction in ["OUT", "IN", "BOTH"] {
            asked.push(get(format!(
                "graph/edges?vertex_id={one}&direction={direction}&limit=-1"
            )));
        }
        for path in [
            format!("kout?source={one}&max_depth=2"),
            format!("kneighbor?source={one}&max_depth=3"),
            format!("shortestpath?source={one}&target={other}&max_depth=6"),
            format!("allshortestpaths?source={one}&target={other}&max_depth=6"),
            format!("paths?source={one}&target={other}&max_depth=3"),
            format!("rings?source={one}&max_depth=3"),
            format!("rays?source={one}&max_depth=3"),
            format!("crosspoints?source={one}&target={other}&max_depth=3"),
            format!("sameneighbors?vertex={one}&other={other}"),
            format!("jaccardsimilarity?vertex={one}&other={other}"),
        ] {
            asked.push(get(format!("traversers/{path}")));
        }
    }
    asked
}

/// What is posted, and scripts. Of the present only: the point is in the address or the script.
fn posted(all: &Elements, random: &mut Random) -> Vec<Question> {
    let ids: Vec<&String> = all.vertices.keys().collect();
    let mut asked = Vec::new();
    for _ in 0..2 {
        let (one, other) = (*random.pick(&ids), *random.pick(&ids));
        let steps = json!({"direction": "BOTH", "max_degree": 100});
        for (path, body) in [
            (
                "traversers/kout",
                json!({"source": one, "steps": steps, "max_depth": 2, "with_vertex": true,
                       "with_edge": true, "with_path": true}),
            ),
            (
                "traversers/kneighbor",
                json!({"source": one, "steps": steps, "max_depth": 2, "with_vertex": true}),
            ),
            (
                "traversers/customizedpaths",
                json!({"sources": {"ids": [one, other]}, "steps": [{"direction": "BOTH"},
                       {"direction": "OUT"}], "with_vertex": true}),
            ),
            (
                "traversers/jaccardsimilarity",
                json!({"vertex": one, "step": {"direction": "BOTH"}, "top": 5}),
            ),
            (
                "traversers/count",
                json!({"source": one, "steps": [{"direction": "BOTH"}, {"direction": "BOTH"}],
                       "contains_traversed": true}),
            ),
            (
                "traversers/neighborrank",
                json!({"source": one, "steps": [{"direction": "OUT"}, {"direction": "OUT"}],
                       "alpha": 0.8, "capacity": 1000}),
            ),
        ] {
            asked.push(Question::Post(path, body));
        }
        for script in [
            "g.V().count()".to_owned(),
            "g.E().count()".to_owned(),
            "g.V().hasLabel('a').id().order()".to_owned(),
            "g.V().has('level', P.gte(3)).id().order()".to_owned(),
            "g.V().has('b', 'kind', 'x').values('level')".to_owned(),
            "g.V().groupCount().by(label)".to_owned(),
            "g.E().groupCount().by(label)".to_owned(),
            "g.V().order().by(id).map(__.bothE().count())".to_owned(),
            "g.V().order().by(id).local(__.out().id().order().fold())".to_owned(),
            "g.E().has('level', P.lt(3)).id().order()".to_owned(),
            "g.V().out().in().dedup().id().order()".to_owned(),
            "g.V().repeat(__.both().simplePath()).times(2).path().count()".to_owned(),
            "g.V().where(__.in('ca')).id().order()".to_owned(),
            "g.E().outV().id().order()".to_owned(),
            "g.E().hasLabel('ab').inV().values('level').sum()".to_owned(),
            "g.V().values('level').max()".to_owned(),
            format!("g.V('{one}').valueMap()"),
            format!("g.V('{one}').both().id().order()"),
            format!("g.V('{one}').until(__.hasId('{other}')).repeat(__.both()).limit(1).count()"),
        ] {
            if !script.contains("until") {
                asked.push(Question::Script(script));
            }
        }
    }
    asked
}

/// What is asked of everything that is or was there.
fn histories(past: &Elements, now: &Elements) -> Vec<Question> {
    let vertices = past.vertices.keys().chain(now.vertices.keys());
    let vertices = vertices.map(|id| format!("vertices/%22{id}%22"));
    let edges = past.edges.keys().chain(now.edges.keys());
    let edges = edges.map(|id| format!("edges/{}", edge_path(id)));
    let all: BTreeSet<String> = vertices.chain(edges).collect();
    let each = all.iter().flat_map(|path| {
        [
            format!("graph/{path}/history"),
            format!("graph/{path}/timeline"),
        ]
    });
    let lists = ["vertices", "edges"].map(|what| format!("graph/{what}/history?limit=1000"));
    each.chain(lists).map(Question::Get).collect()
}

#[test]
fn a_user_is_answered_as_an_administrator_on_a_graph_without_what_is_hidden() {
    let world = World::new();
    let (mut cases, mut hidden) = (0, 0);
    for seed in 0..WORLDS {
        let random = &mut Random::new(seed);
        let name = format!("world{seed}x");
        let graph = world.graph(&name);
        let past = Elements::random(random);
        world.store(&name, &Elements::default(), &past);
        let then = graph.published().0;
        let now = past.changed(random);
        world.store(&name, &past, &now);
        for (user, client) in USERS.iter().zip(&world.users) {
            let rules = rules(random);
            let resources: Vec<Value> = rules.iter().map(Rule::json).collect();
            world.grant(user, &name, "READ", &resources);
            world.grant(user, &name, "EXECUTE", &[json!({"type": "GREMLIN"})]);
            let seen = now.seen(&rules, &now);
            hidden += now.vertices.len() - seen.vertices.len();
            let without = format!("world{seed}{user}now");
            world.graph(&without);
            world.store(&without, &Elements::default(), &seen);
            let mut asked = questions(&now, random);
            asked.extend(posted(&now, random));
            let compare = |question: &Question, reference: &str, own: &Question| {
                let mut got = normal(&world.ask(client, &name, own), &name);
                let mut wanted = normal(&world.ask(&world.admin, reference, question), reference);
                if reference.ends_with("then") {
                    // The past comes in another order where it is not the present.
                    for value in [&mut got.1, &mut wanted.1] {
                        sort(value);
                    }
                }
                assert_eq!(
                    got, wanted,
                    "{own:?} of {user} on {name} with {rules:#?}\n{now:#?}"
                );
            };
            for question in &asked {
                compare(question, &without, question);
            }
            for listing in [
                "vertices?",
                "edges?",
                "vertices?label=a&",
                "edges?label=aa&",
                "vertices?properties=%7B%22level%22:%22P.lt(4)%22%7D&",
            ] {
                let got = world.pages(client, &name, listing);
                let wanted = world.pages(&world.admin, &without, listing);
                assert_eq!(got, wanted, "{listing} of {user} on {name} with {rules:#?}");
            }
            let before = format!("world{seed}{user}then");
            world.graph(&before);
            world.store(&before, &Elements::default(), &past.seen(&rules, &now));
            let of_past = questions(&past, random);
            for question in &of_past {
                let Question::Get(path) = question else {
                    continue;
                };
                if path.contains("offset=1") || path.contains("limit=2") {
                    continue;
                }
                let sign = if path.contains('?') { '&' } else { '?' };
                let own = Question::Get(format!("{path}{sign}as_of_tx={then}"));
                compare(question, &before, &own);
            }
            for script in [
                "g.V().id().order()",
                "g.E().id().order()",
                "g.V().both().count()",
            ] {
                let own = script.replace("g.V", &format!("g.with('as_of_tx', '{then}').V"));
                let own = own.replace("g.E", &format!("g.with('as_of_tx', '{then}').E"));
                let question = Question::Script(script.to_owned());
                compare(&question, &before, &Question::Script(own));
            }
            // The same graph with its past: what was hidden once, and what became of the rest.
            world.store(&before, &past.seen(&rules, &now), &seen);
            let histories = histories(&past, &now);
            for question in &histories {
                compare(question, &before, question);
            }
            cases += asked.len() + of_past.len() + 3 + histories.len();
        }
    }
    assert!(
        cases >= 500 && hidden > 50,
        "{cases} cases, {hidden} hidden"
    );
}

/// What a user may read, write and delete.
struct Rights {
    read: Vec<Rule>,
    write: Vec<Rule>,
    delete: Vec<Rule>,
}

impl Rights {
    fn reads_vertex(&self, vertex: &Element) -> bool {
        covers(&self.read, vertex)
    }

    /// Whether the ends of an edge are there for who treats it by these rules.
    fn knows_ends(&self, own: &[Rule], edge: &Element, of: &Elements) -> bool {
        let (source, target) = edge.ends.as_ref().unwrap();
        [source, target].iter().all(|id| {
            let end = of.vertices.get(*id);
            end.is_some_and(|end| covers(&self.read, end) || covers(own, end))
        })
    }
}

/// A request that changes something, and what there is afterwards if it is allowed.
struct Write {
    verb: &'static str,
    path: String,
    body: Value,
    after: Option<Elements>,
    /// The same as a script, and whether that finds something to change.
    script: Option<(String, bool)>,
}

impl Write {
    fn random(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        match random.below(7) {
            0 | 1 => Self::put_vertices(now, rights, random),
            2 => Self::append(now, rights, random),
            3 => Self::delete_vertex(now, rights, random),
            4 | 5 => Self::put_edge(now, rights, random),
            _ => Self::delete_edge(now, rights, random),
        }
    }

    fn put_vertices(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let (mut after, mut allowed, mut body) = (now.clone(), true, Vec::new());
        for _ in 0..1 + random.below(3) {
            let label = LABELS[random.below(3)];
            let known: Vec<&String> = now
                .vertices
                .keys()
                .filter(|id| id.starts_with(label))
                .collect();
            let id = match known.is_empty() || random.one_in(3) {
                true => format!("{label}n{}", random.below(100)),
                false => (*random.pick(&known)).clone(),
            };
            let new = vertex(label, random);
            body.push(json_of(Some(&id), &new));
            allowed &= covers(&rights.write, &new);
            let before = now.vertices.get(&id);
            allowed &= before.is_none_or(|before| covers(&rights.write, before));
            after.vertices.insert(id, new);
        }
        Self {
            verb: "POST",
            path: "vertices/batch".to_owned(),
            body: json!(body),
            after: allowed.then_some(after),
            script: None,
        }
    }

    fn append(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<&String> = now.vertices.keys().collect();
        let id = *random.pick(&ids);
        let (before, level) = (&now.vertices[id], random.below(6) as i64);
        let changed = Element {
            level: Some(level),
            ..before.clone()
        };
        let allowed = rights.reads_vertex(before)
            && covers(&rights.write, before)
            && covers(&rights.write, &changed);
        let body = json!({"label": before.label, "properties": {"level": level}});
        let mut after = now.clone();
        after.vertices.insert(id.clone(), changed);
        Self {
            verb: "PUT",
            path: format!("vertices/%22{id}%22?action=append"),
            body,
            after: allowed.then_some(after),
            script: Some((
                format!("g.V('{id}').property('level', {level})"),
                rights.reads_vertex(before),
            )),
        }
    }

    fn delete_vertex(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<&String> = now.vertices.keys().collect();
        let id = *random.pick(&ids);
        let mut after = now.clone();
        let before = after.vertices.remove(id).unwrap();
        let is_seen = rights.reads_vertex(&before);
        let mut allowed = is_seen && covers(&rights.delete, &before);
        for (edge_id, edge) in &now.edges {
            if edge_id.1 == *id || edge_id.2 == *id {
                after.edges.remove(edge_id);
                allowed &=
                    covers(&rights.delete, edge) && rights.knows_ends(&rights.delete, edge, now);
            }
        }
        Self {
            verb: "DELETE",
            path: format!("vertices/%22{id}%22"),
            body: json!({}),
            after: allowed.then_some(after),
            script: Some((format!("g.V('{id}').drop()"), is_seen)),
        }
    }

    fn put_edge(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<&String> = now.vertices.keys().collect();
        let link = loop {
            let (source, target) = (*random.pick(&ids), *random.pick(&ids));
            let link = LINKS
                .iter()
                .find(|(_, from, to)| source.starts_with(from) && target.starts_with(to));
            if let Some((label, ..)) = link {
                break (*label, source.clone(), target.clone());
            }
        };
        let new = Element {
            ends: Some((link.1.clone(), link.2.clone())),
            ..vertex(link.0, random)
        };
        let id = (link.0.to_owned(), link.1, link.2);
        let allowed = |edge: &Element| {
            covers(&rights.write, edge) && rights.knows_ends(&rights.write, edge, now)
        };
        let is_allowed = allowed(&new) && now.edges.get(&id).is_none_or(allowed);
        let body = json_of(None, &new);
        let mut after = now.clone();
        after.edges.insert(id, new);
        Self {
            verb: "POST",
            path: "edges".to_owned(),
            body,
            after: is_allowed.then_some(after),
            script: None,
        }
    }

    fn delete_edge(now: &Elements, rights: &Rights, random: &mut Random) -> Self {
        let ids: Vec<_> = now.edges.keys().collect();
        if ids.is_empty() {
            return Self::put_edge(now, rights, random);
        }
        let id = *random.pick(&ids);
        let mut after = now.clone();
        let before = after.edges.remove(id).unwrap();
        let is_seen = covers(&rights.read, &before) && rights.knows_ends(&[], &before, now);
        let allowed = is_seen
            && covers(&rights.delete, &before)
            && rights.knows_ends(&rights.delete, &before, now);
        Self {
            verb: "DELETE",
            path: format!("edges/{}", edge_path(id)),
            body: json!({}),
            after: allowed.then_some(after),
            script: Some((
                format!("g.E('{}').drop()", edge_path(id).replace("%3E", ">")),
                is_seen,
            )),
        }
    }
}

impl World {
    /// All elements of a graph, as the administrator sees them.
    fn dump(&self, graph: &str) -> [Value; 2] {
        ["vertices", "edges"].map(|what| {
            let question = Question::Get(format!("graph/{what}?limit=-1"));
            normal(&self.ask(&self.admin, graph, &question), graph).1
        })
    }
}

#[test]
fn what_may_not_be_written_is_refused_and_leaves_no_trace() {
    let world = World::new();
    let (mut allowed, mut refused) = (0, 0);
    for seed in 0..WORLDS {
        let random = &mut Random::new(1_000 + seed);
        let name = format!("written{seed}x");
        let graph = world.graph(&name);
        let mut now = Elements::random(random);
        world.store(&name, &Elements::default(), &now);
        let rights = Rights {
            read: rules(random),
            write: rules(random),
            delete: rules(random),
        };
        for (permission, rules) in [
            ("READ", &rights.read),
            ("WRITE", &rights.write),
            ("DELETE", &rights.delete),
        ] {
            let resources: Vec<Value> = rules.iter().map(Rule::json).collect();
            world.grant(USERS[0], &name, permission, &resources);
        }
        world.grant(USERS[0], &name, "EXECUTE", &[json!({"type": "GREMLIN"})]);
        for _ in 0..60 {
            let write = Write::random(&now, &rights, random);
            let (before, dump) = (graph.published(), world.dump(&name));
            let user = &world.users[0];
            let script = write.script.filter(|_| random.one_in(2));
            let (path, answer) = match &script {
                Some((script, _)) => {
                    let question = Question::Script(script.clone());
                    (script.clone(), world.ask(user, &name, &question))
                }
                None => {
                    let path = format!("/graphs/{name}/graph/{}", write.path);
                    let answer = user.send(&world.server, write.verb, &path, &write.body);
                    (path, answer)
                }
            };
            let what = format!(
                "{} {path} {}: {} {}",
                write.verb,
                write.body,
                answer.status,
                answer.text()
            );
            // A script does nothing to what it does not find.
            if let Some((_, false)) = script {
                assert_eq!((answer.status, graph.published()), (200, before), "{what}");
                continue;
            }
            match write.after {
                Some(after) => {
                    assert!(answer.status < 300, "{what}");
                    now = after;
                    allowed += 1;
                }
                None => {
                    assert!((400..500).contains(&answer.status), "{what}");
                    assert_eq!(graph.published(), before, "{what}");
                    assert_eq!(world.dump(&name), dump, "{what}");
                    refused += 1;
                }
            }
        }
        let copy = format!("written{seed}y");
        world.graph(&copy);
        world.store(&copy, &Elements::default(), &now);
        assert_eq!(world.dump(&name), world.dump(&copy));
    }
    assert!(allowed > 50 && refused > 50, "{allowed} {refused}");
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
    assert_eq!(
        send("DELETE", "graph/vertices/%22a1%22", &json!({})).status,
        403
    );
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
