//! The scenarios: what is requested, what the right answer has, and what must be in the store before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use memchr::memmem;

use super::choice::{Chooser, Distribution, Random};
use super::payload::{self, ID, Kind, Naming, Template};

/// A scenario, by the names of the published load tests where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Scenario {
    /// Create property keys; after `--schema-elements` of them the same ones again
    PropertyKeys,
    /// Create vertex labels, likewise
    VertexLabels,
    /// Create edge labels, likewise
    EdgeLabels,
    /// Create one vertex a request
    SingleInsertVertices,
    /// Create one edge a request, its vertices checked
    SingleInsertEdges,
    /// Create `--vertices-per-request` vertices a request
    BatchInsertVertices,
    /// Create `--edges-per-request` edges a request, their vertices checked
    BatchInsertEdges,
    /// The same without the check (`check_vertex=false`)
    BatchInsertEdgesUnchecked,
    /// Read a vertex by its id
    VertexById,
    /// Read an edge by its id
    EdgeById,
    /// Set a property of a vertex
    UpdateVertices,
    /// Set a property of each of `--vertices-per-request` vertices
    BatchUpdateVertices,
    /// Ask for the ten vertices that have a value, by an index
    IndexQuery,
    /// The edges out of a vertex
    Adjacency,
    /// The vertices two steps away, by the server's k-out
    KOut,
    /// Read vertices, and create one now and then (`--write-ratio`)
    Mixed,
    /// Read a vertex as of the end of the load (Varve)
    AsOf,
    /// Create one vertex of 20 properties and 1 kB a request
    SingleInsertWide,
    /// Create `--vertices-per-request` such vertices a request
    BatchInsertWide,
    /// Write vertices anew that exist, history kept
    Overwrite,
    /// The same with a label that keeps no history
    OverwriteNoHistory,
    /// Create vertices with an indexed value
    #[value(hide = true)]
    LoadIndexed,
    /// Create vertices of the label without history
    #[value(hide = true)]
    LoadForgetful,
}

/// The scenarios of the published tables, in their order.
pub(crate) const PUBLISHED: &[Scenario] = &[
    Scenario::PropertyKeys,
    Scenario::VertexLabels,
    Scenario::EdgeLabels,
    Scenario::SingleInsertVertices,
    Scenario::SingleInsertEdges,
    Scenario::BatchInsertVertices,
    Scenario::BatchInsertEdges,
    Scenario::VertexById,
    Scenario::EdgeById,
];

/// What a scenario needs loaded before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Vertices(Kind),
    Edges,
}

/// What a scenario writes, so that it can be read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Vertices(Kind),
    Edges,
    /// Vertices that existed: their content depends on which write was the last.
    Changed(Kind),
    PropertyKeys,
    VertexLabels,
    EdgeLabels,
}

/// What only some servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Feature {
    AsOf,
    KOut,
    NoHistory,
}

impl Scenario {
    /// The name in tables, files and on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value()
            .map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Whether it only fills the store for others.
    pub(crate) const fn is_load(self) -> bool {
        matches!(self, Self::LoadIndexed | Self::LoadForgetful)
    }

    pub(crate) const fn needs(self) -> &'static [Need] {
        match self {
            Self::PropertyKeys
            | Self::VertexLabels
            | Self::EdgeLabels
            | Self::SingleInsertVertices
            | Self::BatchInsertVertices
            | Self::SingleInsertWide
            | Self::BatchInsertWide
            | Self::LoadIndexed
            | Self::LoadForgetful => &[],
            Self::SingleInsertEdges
            | Self::BatchInsertEdges
            | Self::BatchInsertEdgesUnchecked
            | Self::VertexById
            | Self::UpdateVertices
            | Self::BatchUpdateVertices
            | Self::Mixed
            | Self::AsOf
            | Self::Overwrite => &[Need::Vertices(Kind::Plain)],
            Self::EdgeById | Self::Adjacency | Self::KOut => {
                &[Need::Vertices(Kind::Plain), Need::Edges]
            }
            Self::IndexQuery => &[Need::Vertices(Kind::Indexed)],
            Self::OverwriteNoHistory => &[Need::Vertices(Kind::Forgetful)],
        }
    }

    pub(crate) const fn written(self) -> Option<Written> {
        match self {
            Self::PropertyKeys => Some(Written::PropertyKeys),
            Self::VertexLabels => Some(Written::VertexLabels),
            Self::EdgeLabels => Some(Written::EdgeLabels),
            Self::SingleInsertVertices | Self::BatchInsertVertices | Self::Mixed => {
                Some(Written::Vertices(Kind::Plain))
            }
            Self::SingleInsertEdges | Self::BatchInsertEdges | Self::BatchInsertEdgesUnchecked => {
                Some(Written::Edges)
            }
            Self::UpdateVertices | Self::BatchUpdateVertices | Self::Overwrite => {
                Some(Written::Changed(Kind::Plain))
            }
            Self::OverwriteNoHistory => Some(Written::Changed(Kind::Forgetful)),
            Self::SingleInsertWide | Self::BatchInsertWide => Some(Written::Vertices(Kind::Wide)),
            Self::LoadIndexed => Some(Written::Vertices(Kind::Indexed)),
            Self::LoadForgetful => Some(Written::Vertices(Kind::Forgetful)),
            Self::VertexById
            | Self::EdgeById
            | Self::IndexQuery
            | Self::Adjacency
            | Self::KOut
            | Self::AsOf => None,
        }
    }

    pub(crate) const fn feature(self) -> Option<Feature> {
        match self {
            Self::AsOf => Some(Feature::AsOf),
            Self::KOut => Some(Feature::KOut),
            Self::OverwriteNoHistory => Some(Feature::NoHistory),
            _ => None,
        }
    }

    /// Whether elements are chosen among the loaded ones, rather than new.
    pub(crate) const fn chooses(self) -> bool {
        !matches!(
            self,
            Self::PropertyKeys
                | Self::VertexLabels
                | Self::EdgeLabels
                | Self::SingleInsertVertices
                | Self::SingleInsertEdges
                | Self::BatchInsertVertices
                | Self::BatchInsertEdges
                | Self::BatchInsertEdgesUnchecked
                | Self::SingleInsertWide
                | Self::BatchInsertWide
                | Self::LoadIndexed
                | Self::LoadForgetful
        )
    }

    /// Elements that a request carries or asks for.
    pub(crate) const fn items(self, sizes: &Sizes) -> u32 {
        match self {
            Self::BatchInsertVertices
            | Self::BatchUpdateVertices
            | Self::BatchInsertWide
            | Self::LoadIndexed
            | Self::LoadForgetful
            | Self::Overwrite
            | Self::OverwriteNoHistory => sizes.vertices_per_request,
            Self::BatchInsertEdges | Self::BatchInsertEdgesUnchecked => sizes.edges_per_request,
            Self::IndexQuery => payload::GROUP as u32,
            _ => 1,
        }
    }
}

/// Sizes and shares that options set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) vertices_per_request: u32,
    pub(crate) edges_per_request: u32,
    /// Schema elements created before the same ones come again.
    pub(crate) schema_elements: u64,
    /// Share of writes in the mixed scenario.
    pub(crate) write_ratio: f64,
    /// Vertices loaded of each kind, before reads and edges.
    pub(crate) vertices: u64,
    /// Edges loaded.
    pub(crate) edges: u64,
}

/// Where the server keeps the graph, as text in requests.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// `Host` header.
    pub(crate) host: String,
    /// Path of the graph: `/graphs/hugegraph`.
    pub(crate) base: String,
    /// What stands between the ids of an edge's ends in its id, percent-encoded: `%3E1%3E1%3E%3E`.
    pub(crate) edge_middle: String,
    /// Instant at the end of the load, for reads of the past.
    pub(crate) loaded_at: String,
    /// Answers are looked at beyond their status.
    pub(crate) checked: bool,
}

/// What all workers of a run share.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) naming: Naming,
    pub(crate) sizes: Sizes,
    /// Next numbers.
    plain: AtomicU64,
    indexed: AtomicU64,
    wide: AtomicU64,
    forgetful: AtomicU64,
    edges: AtomicU64,
    schema: AtomicU64,
}

impl Data {
    pub(crate) fn new(naming: Naming, sizes: Sizes) -> Self {
        Self {
            naming,
            sizes,
            plain: AtomicU64::new(0),
            indexed: AtomicU64::new(0),
            wide: AtomicU64::new(0),
            forgetful: AtomicU64::new(0),
            edges: AtomicU64::new(0),
            schema: AtomicU64::new(0),
        }
    }

    /// How many numbers of a kind were given out.
    pub(crate) fn given(&self, need: Need) -> &AtomicU64 {
        match need {
            Need::Vertices(kind) => self.vertices(kind),
            Need::Edges => &self.edges,
        }
    }

    const fn vertices(&self, kind: Kind) -> &AtomicU64 {
        match kind {
            Kind::Plain => &self.plain,
            Kind::Indexed => &self.indexed,
            Kind::Wide => &self.wide,
            Kind::Forgetful => &self.forgetful,
        }
    }

    /// What the store holds of this run, in words.
    pub(crate) fn describe(&self) -> String {
        let of = |count: &AtomicU64, what: &str| {
            let count = count.load(Ordering::Relaxed);
            (count > 0).then(|| format!("{count} {what}"))
        };
        let parts = [
            of(&self.plain, "vertices"),
            of(&self.edges, "edges"),
            of(&self.indexed, "indexed vertices"),
            of(&self.wide, "wide vertices"),
            of(&self.forgetful, "vertices without history"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        match parts.is_empty() {
            true => "nothing of this run".to_owned(),
            false => parts.join(", "),
        }
    }
}

/// What the right answer to a request is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expect {
    pub(crate) status: u16,
    check: Check,
    /// Number of the first element, and how many.
    pub(crate) first: u64,
    pub(crate) count: u32,
    /// Whether elements were written.
    pub(crate) writes: bool,
}

#[derive(Debug, Clone, Copy)]
enum Check {
    /// The id is in the body.
    Id([u8; ID]),
    /// Both ids are.
    Ends([u8; ID], [u8; ID]),
    /// As many strings as elements, the first of them with the id.
    Strings([u8; ID]),
    /// As many elements as asked for, or at least one where their number is not known.
    Elements { exactly: Option<u32> },
    /// The name is in the body.
    Name([u8; 8]),
    /// A list that may be empty.
    List,
    /// Any body.
    Any,
}

/// How a body was right or wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// Right, but without an element.
    Empty,
    Wrong,
}

impl Expect {
    /// Looks at the body of an answer with the expected status.
    pub(crate) fn check(&self, body: &[u8]) -> Verdict {
        let has = |needle: &[u8]| memmem::find(body, needle).is_some();
        let right = match &self.check {
            Check::Id(id) => has(id),
            Check::Ends(source, target) => has(source) && has(target),
            Check::Strings(id) => {
                let quotes = memchr::memchr_iter(b'"', body).count();
                quotes == 2 * self.count as usize && has(id)
            }
            Check::Elements { exactly } => {
                let found = memmem::find_iter(body, br#""type":""#).count();
                exactly.map_or(found > 0, |count| found == count as usize)
            }
            Check::Name(name) => has(name),
            Check::List if body.contains(&b'[') => {
                return match has(b"[]") {
                    true => Verdict::Empty,
                    false => Verdict::Right,
                };
            }
            Check::List => false,
            Check::Any => true,
        };
        match right {
            true => Verdict::Right,
            false => Verdict::Wrong,
        }
    }
}

/// Makes the requests of a scenario for one worker.
#[derive(Debug)]
pub(crate) struct Requests {
    scenario: Scenario,
    data: Arc<Data>,
    template: Template,
    /// The write of the mixed scenario.
    second: Option<Template>,
    chooser: Chooser,
    random: Random,
    items: u32,
    checked: bool,
}

impl Requests {
    pub(crate) fn new(
        scenario: Scenario,
        data: &Arc<Data>,
        place: &Place,
        distribution: Distribution,
        seed: u64,
    ) -> Self {
        let sizes = &data.sizes;
        let chosen_from = match scenario {
            Scenario::EdgeById => sizes.edges,
            _ => sizes.vertices,
        };
        let second = (scenario == Scenario::Mixed)
            .then(|| template(Scenario::SingleInsertVertices, sizes, place));
        Self {
            scenario,
            data: Arc::clone(data),
            template: template(scenario, sizes, place),
            second,
            chooser: Chooser::new(distribution, chosen_from.max(1)),
            random: Random::new(seed),
            items: scenario.items(sizes),
            checked: place.checked,
        }
    }

    /// A random number for the worker's other needs.
    pub(crate) const fn chance(&mut self) -> u64 {
        self.random.next()
    }

    /// Writes the next request into `out`, which is cleared first.
    pub(crate) fn build(&mut self, out: &mut Vec<u8>) -> Expect {
        out.clear();
        let expect = self.next(out);
        match self.checked {
            true => expect,
            false => Expect {
                check: Check::Any,
                ..expect
            },
        }
    }

    fn next(&mut self, out: &mut Vec<u8>) -> Expect {
        use Scenario as S;
        match self.scenario {
            S::PropertyKeys | S::VertexLabels | S::EdgeLabels => self.schema(out),
            S::SingleInsertVertices | S::BatchInsertVertices => self.vertices(Kind::Plain, out),
            S::SingleInsertWide | S::BatchInsertWide => self.vertices(Kind::Wide, out),
            S::LoadIndexed => self.vertices(Kind::Indexed, out),
            S::LoadForgetful => self.vertices(Kind::Forgetful, out),
            S::SingleInsertEdges | S::BatchInsertEdges | S::BatchInsertEdgesUnchecked => {
                self.edges(out)
            }
            S::Mixed if self.random.unit() < self.data.sizes.write_ratio => {
                self.vertices(Kind::Plain, out)
            }
            S::VertexById | S::Mixed | S::AsOf => self.read_vertex(out),
            S::EdgeById => self.read_edge(out),
            S::UpdateVertices => self.change(Kind::Plain, false, out),
            S::BatchUpdateVertices => self.change(Kind::Plain, true, out),
            S::Overwrite => self.change(Kind::Plain, false, out),
            S::OverwriteNoHistory => self.change(Kind::Forgetful, false, out),
            S::IndexQuery => {
                let number = self.chooser.choose(&mut self.random);
                // A group at the end of the load may be incomplete.
                let first = number / payload::GROUP * payload::GROUP;
                let whole = first + payload::GROUP <= self.data.sizes.vertices;
                self.fill(first, out);
                let exactly = whole.then_some(payload::GROUP as u32);
                self.expect(200, Check::Elements { exactly }, first)
            }
            S::Adjacency | S::KOut => {
                let number = self.chooser.choose(&mut self.random);
                self.fill(number, out);
                self.expect(200, Check::List, number)
            }
        }
    }

    fn fill(&self, first: u64, out: &mut Vec<u8>) {
        let data = &*self.data;
        self.template
            .fill(&data.naming, first, data.sizes.vertices, u64::MAX, out);
    }

    const fn expect(&self, status: u16, check: Check, first: u64) -> Expect {
        Expect {
            status,
            check,
            first,
            count: self.items,
            writes: false,
        }
    }

    fn schema(&self, out: &mut Vec<u8>) -> Expect {
        let count = self.data.schema.fetch_add(1, Ordering::Relaxed);
        let number = count % self.data.sizes.schema_elements.max(1);
        self.fill(number, out);
        let status = match self.scenario {
            Scenario::PropertyKeys => 202,
            _ => 201,
        };
        let check = Check::Name(self.data.naming.name(number));
        Expect {
            writes: true,
            ..self.expect(status, check, number)
        }
    }

    fn vertices(&self, kind: Kind, out: &mut Vec<u8>) -> Expect {
        let data = &*self.data;
        let template = self.second.as_ref().unwrap_or(&self.template);
        let count = u64::from(self.items);
        let first = data.vertices(kind).fetch_add(count, Ordering::Relaxed);
        template.fill(&data.naming, first, data.sizes.vertices, u64::MAX, out);
        let id = data.naming.id(kind, first);
        let check = match self.items {
            1 => Check::Id(id),
            _ => Check::Strings(id),
        };
        Expect {
            writes: true,
            ..self.expect(201, check, first)
        }
    }

    fn edges(&self, out: &mut Vec<u8>) -> Expect {
        let data = &*self.data;
        let count = u64::from(self.items);
        let first = data.edges.fetch_add(count, Ordering::Relaxed);
        self.fill(first, out);
        let (source, target) = data.naming.ends(first, data.sizes.vertices);
        let source = data.naming.id(Kind::Plain, source);
        let check = match self.items {
            1 => Check::Ends(source, data.naming.id(Kind::Plain, target)),
            _ => Check::Strings(source),
        };
        Expect {
            writes: true,
            ..self.expect(201, check, first)
        }
    }

    fn read_vertex(&mut self, out: &mut Vec<u8>) -> Expect {
        let number = self.chooser.choose(&mut self.random);
        self.fill(number, out);
        let id = self.data.naming.id(Kind::Plain, number);
        self.expect(200, Check::Id(id), number)
    }

    fn read_edge(&mut self, out: &mut Vec<u8>) -> Expect {
        let number = self.chooser.choose(&mut self.random);
        self.fill(number, out);
        let data = &*self.data;
        let (source, target) = data.naming.ends(number, data.sizes.vertices);
        let check = Check::Ends(
            data.naming.id(Kind::Plain, source),
            data.naming.id(Kind::Plain, target),
        );
        self.expect(200, check, number)
    }

    /// Writes vertices that exist, with other content each time.
    fn change(&mut self, kind: Kind, update: bool, out: &mut Vec<u8>) -> Expect {
        let vertices = self.data.sizes.vertices.max(1);
        let first = self.chooser.choose(&mut self.random);
        let naming = Naming {
            seed: self.random.next(),
            ..self.data.naming
        };
        self.template.fill(&naming, first, vertices, vertices, out);
        let id = naming.id(kind, first);
        let (status, check) = match (update, self.items) {
            (true, count) => (
                200,
                Check::Elements {
                    exactly: Some(count),
                },
            ),
            (false, 1) => (200, Check::Id(id)),
            (false, _) => (201, Check::Strings(id)),
        };
        Expect {
            writes: true,
            ..self.expect(status, check, first)
        }
    }
}

/// The text of a scenario's requests.
fn template(scenario: Scenario, sizes: &Sizes, place: &Place) -> Template {
    use Scenario as S;
    let items = scenario.items(sizes);
    let post = |path: &str, body: Template| request("POST", path, Some(body), place);
    let get = |path: &str, kind: Kind| {
        let path = format!("{}/{path}", place.base);
        let text = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", place.host);
        Template::single(&text, kind)
    };
    let array = |body: Template| body.wrapped(b"[", b"]");
    let vertex = "graph/vertices/%22@@@@@@@@I%22";
    match scenario {
        S::PropertyKeys => post(
            "schema/propertykeys",
            schema_body("k", r#""data_type":"TEXT""#),
        ),
        S::VertexLabels => post(
            "schema/vertexlabels",
            schema_body(
                "v",
                r#""id_strategy":"CUSTOMIZE_STRING","properties":["bname","bage"]"#,
            ),
        ),
        S::EdgeLabels => post(
            "schema/edgelabels",
            schema_body(
                "e",
                r#""source_label":"benchv","target_label":"benchv","properties":["bsince"]"#,
            ),
        ),
        S::SingleInsertVertices => post("graph/vertices", Template::vertices(Kind::Plain, 1)),
        S::SingleInsertWide => post("graph/vertices", Template::vertices(Kind::Wide, 1)),
        S::SingleInsertEdges => post("graph/edges", Template::edges(1)),
        S::BatchInsertVertices | S::Overwrite => post(
            "graph/vertices/batch",
            array(Template::vertices(Kind::Plain, items)),
        ),
        S::LoadIndexed => post(
            "graph/vertices/batch",
            array(Template::vertices(Kind::Indexed, items)),
        ),
        S::OverwriteNoHistory | S::LoadForgetful => post(
            "graph/vertices/batch",
            array(Template::vertices(Kind::Forgetful, items)),
        ),
        S::BatchInsertWide => post(
            "graph/vertices/batch",
            array(Template::vertices(Kind::Wide, items)),
        ),
        S::BatchInsertEdges => post("graph/edges/batch", array(Template::edges(items))),
        S::BatchInsertEdgesUnchecked => post(
            "graph/edges/batch?check_vertex=false",
            array(Template::edges(items)),
        ),
        S::VertexById | S::Mixed => get(vertex, Kind::Plain),
        S::AsOf => get(&format!("{vertex}?as_of={}", place.loaded_at), Kind::Plain),
        S::EdgeById => get(
            &format!("graph/edges/S@@@@@@@@S{}S@@@@@@@@T", place.edge_middle),
            Kind::Plain,
        ),
        S::UpdateVertices => {
            let body = r#"{"label":"benchv","properties":{"bage":@A}}"#;
            let path = format!("{vertex}?action=append");
            request(
                "PUT",
                &path,
                Some(Template::single(body, Kind::Plain)),
                place,
            )
        }
        S::BatchUpdateVertices => {
            let body = Template::vertices(Kind::Plain, items).wrapped(
                br#"{"vertices":["#,
                br#"],"update_strategies":{"bage":"OVERRIDE"},"create_if_not_exist":true}"#,
            );
            request("PUT", "graph/vertices/batch", Some(body), place)
        }
        S::IndexQuery => get(
            "graph/vertices?label=benchq&properties=%7B%22bgroup%22%3A%22@@@@@@@G%22%7D&limit=100",
            Kind::Indexed,
        ),
        S::Adjacency => get(
            "graph/edges?vertex_id=%22@@@@@@@@I%22&direction=OUT&limit=100",
            Kind::Plain,
        ),
        S::KOut => get(
            "traversers/kout?source=%22@@@@@@@@I%22&direction=OUT&max_depth=2",
            Kind::Plain,
        ),
    }
}

fn schema_body(letter: &str, rest: &str) -> Template {
    let text = format!(r#"{{"name":"b{letter}@@@@@@@N",{rest},"check_exist":false}}"#);
    Template::single(&text, Kind::Plain)
}

fn request(method: &str, path: &str, body: Option<Template>, place: &Place) -> Template {
    let body = body.unwrap_or_else(|| Template::single("", Kind::Plain));
    let line = format!(
        "{method} {}/{path} HTTP/1.1\r\nHost: {}\r\n",
        place.base, place.host
    );
    let head = format!(
        "{line}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    body.wrapped(head.as_bytes(), b"")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data() -> Arc<Data> {
        let naming = Naming {
            prefix: *b"abc",
            seed: 1,
        };
        let sizes = Sizes {
            vertices_per_request: 200,
            edges_per_request: 500,
            schema_elements: 3,
            write_ratio: 0.5,
            vertices: 1_000,
            edges: 2_000,
        };
        Arc::new(Data::new(naming, sizes))
    }

    fn place() -> Place {
        Place {
            host: "localhost".into(),
            base: "/graphs/g".into(),
            edge_middle: "%3E1%3E1%3E%3E".into(),
            loaded_at: "2026-01-01T00:00:00Z".into(),
            checked: true,
        }
    }

    fn build(scenario: Scenario, data: &Arc<Data>, times: usize) -> Vec<(String, Expect)> {
        let mut requests = Requests::new(scenario, data, &place(), Distribution::Uniform, 9);
        let mut out = Vec::new();
        (0..times)
            .map(|_| {
                let expect = requests.build(&mut out);
                (String::from_utf8(out.clone()).expect("text"), expect)
            })
            .collect()
    }

    #[test]
    fn every_scenario_is_documented() {
        let page = include_str!("../../../../docs/bench.md");
        for scenario in Scenario::value_variants().iter().filter(|it| !it.is_load()) {
            let name = format!("`{}`", scenario.name());
            assert!(page.contains(&name), "docs/bench.md does not have {name}");
        }
    }

    #[test]
    fn every_scenarios_requests_are_whole_http() {
        for scenario in Scenario::value_variants() {
            for (text, expect) in build(*scenario, &data(), 5) {
                assert!(
                    !text.contains('@'),
                    "{scenario:?}: a place was not filled: {text}"
                );
                let (head, body) = text.split_once("\r\n\r\n").expect("a head");
                let said = head
                    .lines()
                    .find_map(|line| line.strip_prefix("Content-Length: "))
                    .map_or(0, |length| length.parse().expect("a number"));
                assert_eq!(said, body.len(), "{scenario:?}");
                if !body.is_empty() {
                    let _: serde_json::Value = serde_json::from_str(body).expect("JSON");
                }
                assert_eq!(expect.count, scenario.items(&data().sizes));
            }
        }
    }

    #[test]
    fn inserts_never_repeat_an_element() {
        let data = data();
        let requests = build(Scenario::BatchInsertVertices, &data, 3);
        let firsts: Vec<u64> = requests.iter().map(|(_, expect)| expect.first).collect();
        assert_eq!(firsts, [0, 200, 400]);
        assert_eq!(requests[0].0.matches("\"label\"").count(), 200);
    }

    #[test]
    fn the_answer_must_have_what_was_asked_for() {
        let data = data();
        let (text, expect) = build(Scenario::VertexById, &data, 1).remove(0);
        let id = text.split("%22").nth(1).expect("an id").to_owned();
        assert_eq!(
            expect.check(format!(r#"{{"id":"{id}"}}"#).as_bytes()),
            Verdict::Right
        );
        assert_eq!(expect.check(br#"{"id":"other"}"#), Verdict::Wrong);
    }

    #[test]
    fn a_batchs_answer_must_have_as_many_ids_as_were_sent() {
        let data = data();
        let (_, expect) = build(Scenario::BatchInsertVertices, &data, 1).remove(0);
        let id = |at| String::from_utf8(data.naming.id(Kind::Plain, at).to_vec()).expect("text");
        let ids: Vec<String> = (0..200).map(|at| format!("\"{}\"", id(at))).collect();
        let all = format!("[{}]", ids.join(","));
        let fewer = format!("[{}]", ids[..199].join(","));
        assert_eq!(expect.check(all.as_bytes()), Verdict::Right);
        assert_eq!(expect.check(fewer.as_bytes()), Verdict::Wrong);
    }

    #[test]
    fn mixed_reads_and_writes() {
        let requests = build(Scenario::Mixed, &data(), 200);
        let writes = requests
            .iter()
            .filter(|(text, _)| text.starts_with("POST"))
            .count();
        assert!((60..140).contains(&writes), "{writes}");
        assert!(
            requests
                .iter()
                .all(|(text, it)| it.writes == text.starts_with("POST"))
        );
    }
}
