//! Writes over HTTP whose answers are remembered, and the check that what was acknowledged is
//! there, whole.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::server::{Client, Response};

/// The schema that the writers use.
pub(crate) const SCHEMA: [(&str, &str); 4] = [
    ("propertykeys", r#"{"name":"n","data_type":"INT"}"#),
    (
        "vertexlabels",
        r#"{"name":"thing","id_strategy":"CUSTOMIZE_STRING","properties":["n"]}"#,
    ),
    (
        "edgelabels",
        r#"{"name":"link","source_label":"thing","target_label":"thing","properties":["n"]}"#,
    ),
    (
        "indexlabels",
        r#"{"name":"thingByN","base_type":"VERTEX_LABEL","base_value":"thing","index_type":"RANGE","fields":["n"]}"#,
    ),
];

/// Elements of one batch.
const BATCH: usize = 20;

/// A small generator of random numbers; the same seed gives the same numbers.
pub(crate) struct Random(u64);

impl Random {
    /// Starts with a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let at = self.below(from.len() as u64);
        &from[usize::try_from(at).expect("an index")]
    }
}

/// An edge by its ends.
type Ends = (String, String);

/// What a writer knows of its vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thing {
    n: i64,
    versions: usize,
}

/// A write that was sent and not answered: it may have happened or not.
#[derive(Debug)]
enum Doubt {
    Create {
        vertices: Vec<String>,
        edges: Vec<Ends>,
    },
    Update {
        vertex: String,
        n: i64,
    },
    DeleteEdge(Ends),
    /// With the edges that it had.
    DeleteVertex(String, Vec<Ends>),
}

/// One writer with elements of its own, and what it knows of them.
pub(crate) struct Writer {
    name: String,
    random: Random,
    next: u64,
    things: BTreeMap<String, Thing>,
    names: Vec<String>,
    /// Whether the edge exists.
    edges: BTreeMap<Ends, bool>,
    doubts: Vec<Doubt>,
    /// Vertices whose creation was refused, and those that were deleted.
    refused: Vec<String>,
    gone: Vec<String>,
    /// Elements of a batch.
    batch: usize,
    /// Whether it goes on when it does not know what became of a write: with other elements than
    /// those in doubt.
    goes_on: bool,
    /// Writes acknowledged so far.
    pub(crate) acknowledged: u64,
    /// Statuses beside success and 503 that are to be expected, e.g. 507 on a full disk.
    pub(crate) tolerated: &'static [u16],
    /// Statuses after which it is unknown whether the write happened; the writer then stops.
    pub(crate) unknown: &'static [u16],
    /// How often one of these was seen.
    pub(crate) refusals: u64,
}

impl Writer {
    /// A writer; its elements' ids start with `name`.
    pub(crate) fn new(name: &str, seed: u64) -> Self {
        Self {
            name: name.to_owned(),
            random: Random::new(seed),
            next: 0,
            things: BTreeMap::new(),
            names: Vec::new(),
            edges: BTreeMap::new(),
            doubts: Vec::new(),
            refused: Vec::new(),
            gone: Vec::new(),
            batch: BATCH,
            goes_on: false,
            acknowledged: 0,
            tolerated: &[],
            unknown: &[],
            refusals: 0,
        }
    }

    /// A writer of small batches that goes on after an answer that leaves open what is stored, and
    /// also deletes vertices.
    #[cfg(feature = "engines")]
    pub(crate) fn undaunted(name: &str, seed: u64, batch: usize) -> Self {
        Self {
            batch,
            goes_on: true,
            ..Self::new(name, seed)
        }
    }

    /// Writes until the server does not answer or `go_on` says no.
    pub(crate) fn run(&mut self, client: &Client, go_on: &dyn Fn() -> bool) {
        while (self.goes_on || self.doubts.is_empty()) && go_on() {
            self.step(client);
        }
    }

    fn step(&mut self, client: &Client) {
        let batch = self.batch;
        let choice = if self.names.len() < 2 * batch {
            1
        } else {
            self.random.below(if self.goes_on { 9 } else { 8 })
        };
        match choice {
            0 => self.create(client, 1, 0),
            1 => self.create(client, batch, 0),
            2 | 3 => self.update(client),
            4 => self.create(client, 0, 1),
            5 => self.create(client, 0, batch),
            6 => self.create(client, batch, batch),
            7 => self.delete_edge(client),
            _ => self.delete_vertex(client),
        }
    }

    /// Creates vertices and edges in one request; the edges lead to known or to new vertices.
    fn create(&mut self, client: &Client, vertices: usize, edges: usize) {
        let new: Vec<String> = (0..vertices)
            .map(|_| {
                self.next += 1;
                format!("{}-{}", self.name, self.next)
            })
            .collect();
        let mut links = Vec::new();
        for _ in 0..edges {
            let source = self.random.pick(&self.names).clone();
            let target = if new.is_empty() {
                self.random.pick(&self.names)
            } else {
                self.random.pick(&new)
            };
            let ends = (source, target.clone());
            if !links.contains(&ends) && !self.edges.contains_key(&ends) {
                links.push(ends);
            }
        }
        if new.is_empty() && links.is_empty() {
            return;
        }
        let vertex_json: Vec<Json> = new.iter().map(|id| thing_json(id, 0)).collect();
        let edge_json: Vec<Json> = links.iter().map(link_json).collect();
        let (path, body) = match (new.len(), links.len()) {
            (1, 0) => ("vertices", vertex_json[0].clone()),
            (_, 0) => ("vertices/batch", Json::Array(vertex_json)),
            (0, 1) => ("edges", edge_json[0].clone()),
            (0, _) => ("edges/batch", Json::Array(edge_json)),
            _ => (
                "batch",
                json!({ "vertices": vertex_json, "edges": edge_json }),
            ),
        };
        let path = format!("/graphs/hugegraph/graph/{path}");
        let answer = client.try_ask("POST", &path, &body.to_string());
        if self.is_done(
            answer,
            Doubt::Create {
                vertices: new.clone(),
                edges: links.clone(),
            },
        ) {
            self.created(&new, &links);
        }
    }

    fn created(&mut self, vertices: &[String], edges: &[Ends]) {
        for id in vertices {
            self.things.insert(id.clone(), Thing { n: 0, versions: 1 });
            self.names.push(id.clone());
        }
        self.edges
            .extend(edges.iter().map(|ends| (ends.clone(), true)));
    }

    fn update(&mut self, client: &Client) {
        let vertex = self.random.pick(&self.names).clone();
        let n = self.things[&vertex].n + 1;
        let body = json!({ "label": "thing", "properties": { "n": n } }).to_string();
        let path = format!("{}?action=append", vertex_path(&vertex));
        if self.is_done(
            client.try_ask("PUT", &path, &body),
            Doubt::Update {
                vertex: vertex.clone(),
                n,
            },
        ) {
            self.updated(&vertex, n);
        }
    }

    fn updated(&mut self, vertex: &str, n: i64) {
        let thing = self
            .things
            .get_mut(vertex)
            .expect("only known vertices are updated");
        *thing = Thing {
            n,
            versions: thing.versions + 1,
        };
    }

    fn delete_edge(&mut self, client: &Client) {
        let known: Vec<Ends> = self
            .edges
            .iter()
            .filter(|(_, there)| **there)
            .map(|(ends, _)| ends.clone())
            .collect();
        if known.is_empty() {
            return;
        }
        let ends = self.random.pick(&known).clone();
        let answer = client.try_ask("DELETE", &edge_path(&ends), "");
        if self.is_done(answer, Doubt::DeleteEdge(ends.clone())) {
            self.edges.insert(ends, false);
        }
    }

    fn delete_vertex(&mut self, client: &Client) {
        let at = self.random.below(self.names.len() as u64);
        let at = usize::try_from(at).expect("an index");
        if self.has_edge_in_doubt(&self.names[at]) {
            // It would take the edge along: nobody could tell then what became of the write in
            // doubt.
            return;
        }
        let vertex = self.names.swap_remove(at);
        let touches = |ends: &&Ends| ends.0 == vertex || ends.1 == vertex;
        let known = self.edges.iter().filter(|(_, there)| **there);
        let known: Vec<Ends> = known
            .map(|(ends, _)| ends)
            .filter(touches)
            .cloned()
            .collect();
        let path = vertex_path(&vertex);
        let answer = client.try_ask("DELETE", &path, "");
        let refused = matches!(answer, Some((503, _)));
        if self.is_done(answer, Doubt::DeleteVertex(vertex.clone(), known.clone())) {
            self.deleted(&vertex, &known);
        } else if refused && !self.is_aside(&vertex) {
            self.names.push(vertex);
        }
    }

    fn deleted(&mut self, vertex: &str, edges: &[Ends]) {
        self.things.remove(vertex);
        self.gone.push(vertex.to_owned());
        self.edges
            .extend(edges.iter().map(|ends| (ends.clone(), false)));
    }

    /// Whether what became of the last write to a vertex is not known.
    fn is_aside(&self, vertex: &str) -> bool {
        self.doubts.iter().any(|doubt| match doubt {
            Doubt::Update { vertex: of, .. } | Doubt::DeleteVertex(of, _) => of == vertex,
            Doubt::Create { .. } | Doubt::DeleteEdge(_) => false,
        })
    }

    /// Whether a write to an edge of this vertex is in doubt.
    fn has_edge_in_doubt(&self, vertex: &str) -> bool {
        let touches = |ends: &Ends| ends.0 == vertex || ends.1 == vertex;
        self.doubts.iter().any(|doubt| match doubt {
            Doubt::Create { edges, .. } | Doubt::DeleteVertex(_, edges) => {
                edges.iter().any(touches)
            }
            Doubt::DeleteEdge(ends) => touches(ends),
            Doubt::Update { .. } => false,
        })
    }

    /// Remembers a write of which it is not known whether it happened, and leaves its elements
    /// alone.
    fn doubt(&mut self, doubt: Doubt) {
        match &doubt {
            // In the list of edges they are not made again; what they are is looked at later.
            Doubt::Create { edges, .. } => self
                .edges
                .extend(edges.iter().map(|ends| (ends.clone(), false))),
            Doubt::Update { vertex, .. } => self.names.retain(|name| name != vertex),
            Doubt::DeleteEdge(ends) => {
                self.edges.insert(ends.clone(), false);
            }
            Doubt::DeleteVertex(_, edges) => self
                .edges
                .extend(edges.iter().map(|ends| (ends.clone(), false))),
        }
        self.doubts.push(doubt);
    }

    /// Whether the write was acknowledged; remembers the doubt if there was no answer.
    fn is_done(&mut self, answer: Option<Response>, doubt: Doubt) -> bool {
        match answer {
            Some((200..=299, _)) => {
                self.acknowledged += 1;
                true
            }
            // Every other 503 says that nothing happened.
            Some((503, body)) if self.goes_on && leaves_open(&body) => {
                self.doubt(doubt);
                false
            }
            Some((503, _)) => {
                if let Doubt::Create { vertices, .. } = doubt {
                    self.refused.extend(vertices);
                }
                false
            }
            Some((status, _)) if self.tolerated.contains(&status) => {
                self.refusals += 1;
                if let Doubt::Create { vertices, .. } = doubt {
                    self.refused.extend(vertices);
                }
                false
            }
            Some((status, _)) if self.unknown.contains(&status) => {
                self.doubt(doubt);
                false
            }
            // Whoever watches the client is notified.
            Some((500.., _)) if self.goes_on => {
                self.doubt(doubt);
                false
            }
            Some((status, body)) => panic!("{doubt:?}: {status} {body}"),
            None => {
                self.doubt(doubt);
                false
            }
        }
    }

    /// Checks everything that was acknowledged, and that the write in doubt happened whole or not
    /// at all.
    pub(crate) fn check(&mut self, client: &Client) {
        self.settle(client);
        for (id, thing) in &self.things {
            let found =
                vertex_of(client, id).unwrap_or_else(|| panic!("lost: vertex {id}, {thing:?}"));
            let versions = versions_of(client, id);
            assert_eq!(Thing { n: found, versions }, *thing, "vertex {id}");
        }
        for (ends, there) in &self.edges {
            let found = edge_is_there(client, ends);
            if found != *there {
                let ends_are = [&ends.0, &ends.1].map(|id| vertex_of(client, id).is_some());
                panic!("edge {ends:?} is {found} and must be {there}; its ends are {ends_are:?}");
            }
        }
        for id in &self.refused {
            assert_eq!(vertex_of(client, id), None, "{id} was refused");
        }
        for id in &self.gone {
            assert_eq!(vertex_of(client, id), None, "{id} was deleted");
        }
    }

    /// Whether a write got no answer, or one that leaves open whether it happened.
    #[cfg(feature = "engines")]
    pub(crate) fn is_in_doubt(&self) -> bool {
        !self.doubts.is_empty()
    }

    /// Looks what became of the writes in doubt.
    fn settle(&mut self, client: &Client) {
        for doubt in std::mem::take(&mut self.doubts) {
            self.settle_one(client, doubt);
        }
    }

    fn settle_one(&mut self, client: &Client, doubt: Doubt) {
        match doubt {
            Doubt::Create { vertices, edges } => {
                let vertices_there = vertices
                    .iter()
                    .filter(|id| vertex_of(client, id).is_some())
                    .count();
                let edges_there = edges
                    .iter()
                    .filter(|ends| edge_is_there(client, ends))
                    .count();
                let (there, all) = (vertices_there + edges_there, vertices.len() + edges.len());
                assert!(
                    there == 0 || there == all,
                    "half a batch: {there} of {all}: {vertices:?} {edges:?}"
                );
                if there > 0 {
                    self.created(&vertices, &edges);
                }
            }
            Doubt::Update { vertex, n } if vertex_of(client, &vertex) == Some(n) => {
                self.updated(&vertex, n);
            }
            Doubt::Update { .. } => {}
            Doubt::DeleteEdge(ends) => {
                let there = edge_is_there(client, &ends);
                self.edges.insert(ends, there);
            }
            Doubt::DeleteVertex(vertex, edges) if vertex_of(client, &vertex).is_none() => {
                self.deleted(&vertex, &edges);
            }
            Doubt::DeleteVertex(_, edges) => self
                .edges
                .extend(edges.into_iter().map(|ends| (ends, true))),
        }
    }
}

/// Whether a 503 leaves open what became of a write: the work goes on after the time limit, and a
/// leader that was lost while it had the request may have stored it.
pub(crate) fn leaves_open(body: &Json) -> bool {
    let text = |key: &str| body[key].as_str().unwrap_or_default();
    text("message").contains("took longer than the limit")
        || text("cause").contains("VRV-OUTCOME-UNKNOWN")
}

fn thing_json(id: &str, n: i64) -> Json {
    json!({ "label": "thing", "id": id, "properties": { "n": n } })
}

fn link_json(ends: &Ends) -> Json {
    json!({
        "label": "link", "outV": ends.0, "outVLabel": "thing", "inV": ends.1, "inVLabel": "thing",
        "properties": { "n": 1 }
    })
}

fn vertex_path(id: &str) -> String {
    format!("/graphs/hugegraph/graph/vertices/%22{id}%22")
}

/// The label is the first edge label, so its id is 1.
fn edge_path(ends: &Ends) -> String {
    format!(
        "/graphs/hugegraph/graph/edges/S{}%3E1%3E1%3E%3ES{}",
        ends.0, ends.1
    )
}

fn vertex_of(client: &Client, id: &str) -> Option<i64> {
    match client
        .try_ask("GET", &vertex_path(id), "")
        .expect("the server answers")
    {
        (200, vertex) => Some(vertex["properties"]["n"].as_i64().expect("a number")),
        (404, _) => None,
        (status, body) => panic!("{id}: {status} {body}"),
    }
}

fn versions_of(client: &Client, id: &str) -> usize {
    let path = format!("{}/history?limit=1000", vertex_path(id));
    let (status, history) = client
        .try_ask("GET", &path, "")
        .expect("the server answers");
    assert_eq!(status, 200, "{id}: {history}");
    history["versions"].as_array().expect("versions").len()
}

fn edge_is_there(client: &Client, ends: &Ends) -> bool {
    match client
        .try_ask("GET", &edge_path(ends), "")
        .expect("the server answers")
    {
        (200, _) => true,
        (404, _) => false,
        (status, body) => panic!("{ends:?}: {status} {body}"),
    }
}

#[test]
fn a_ledger_agrees_with_a_server_that_lives() {
    let server = crate::server::serve_in_memory();
    for (kind, body) in SCHEMA {
        server.must("POST", &format!("/graphs/hugegraph/schema/{kind}"), body);
    }
    let mut writer = Writer::new("w", 7);
    let client = server.client();
    let steps = std::cell::Cell::new(0);
    writer.run(&client, &|| steps.replace(steps.get() + 1) < 200);
    writer.check(&client);
    assert!(writer.acknowledged > 100, "{} writes", writer.acknowledged);
    // The check can fail: a vertex that nobody acknowledged is missed.
    writer.created(&["w-none".to_owned()], &[]);
    let missed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| writer.check(&client)));
    assert!(missed.is_err(), "a lost vertex must be found");
}
