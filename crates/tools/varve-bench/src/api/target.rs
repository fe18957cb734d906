//! The server under test: its address, its name and version, and the schema of the scenarios.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde_json::{Value, json};

use super::options::ApiArguments;
use super::payload::{EDGE_LABEL, Naming, PREFIX, VERTEX_LABEL};
use super::scenario::GraphAddress;
use super::{queries, social};
use crate::client::Probe;
use crate::endpoint::{Endpoint, Trust};
use crate::process;
use crate::random::Random;
use crate::result::Server;

/// How a graph is addressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Paths {
    /// As `GET /versions` requires: graph spaces from core 1.7.0 on
    #[default]
    Auto,
    /// `/graphs/{graph}`
    Short,
    /// `/graphspaces/DEFAULT/graphs/{graph}`
    GraphSpace,
}

/// A server that answers.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) endpoint: Endpoint,
    pub(crate) place: GraphAddress,
    pub(crate) server: Server,
    pub(crate) probe: Probe,
}

impl Target {
    /// A server at `url` of which nothing is known but its process. `graph` is the name of its
    /// traversal source.
    ///
    /// # Errors
    /// When `url` is invalid.
    pub(crate) fn at((url, trust): (&str, &Trust), graph: &str, pid: Option<u32>) -> Result<Self> {
        let endpoint = Endpoint::new(url, trust)?;
        ensure!(
            endpoint.path.is_empty(),
            "{url}: expected {} without a path",
            endpoint.url()
        );
        let pid = pid.or_else(|| process::listener(endpoint.address));
        Ok(Self {
            place: GraphAddress {
                headers: endpoint.headers(),
                base: String::new(),
                source: graph.to_owned(),
                edge_middle: String::new(),
                checked: true,
            },
            server: Server {
                url: endpoint.url(),
                graph: graph.to_owned(),
                pid,
                command_line: pid.and_then(process::command_line),
                ..Server::default()
            },
            probe: Probe::new(endpoint.clone()),
            endpoint,
        })
    }

    /// Asks the server for its versions and, if it is Varve, for its engine and durability. Does
    /// not check that the graph exists ([`Target::ensure_graph`]).
    ///
    /// # Errors
    /// When `url` is invalid, or the server does not answer or does not have HugeGraph's API.
    pub(crate) fn find(
        (url, trust): (&str, &Trust),
        graph: &str,
        paths: Paths,
        pid: Option<u32>,
    ) -> Result<Self> {
        let mut target = Self::at((url, trust), graph, pid)?;
        let (probe, server) = (&mut target.probe, &mut target.server);
        let text = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
        let answer = probe.get("/versions")?.json().context("GET /versions")?;
        let versions = &answer["versions"];
        server.core_version = text(versions, "core");
        server.api_version = text(versions, "api");
        let core = server.core_version.as_deref().with_context(|| {
            format!("{url} does not speak HugeGraph's API: GET /versions has no core")
        })?;
        let spaces = match paths {
            Paths::Short => false,
            Paths::GraphSpace => true,
            Paths::Auto => at_least_1_7(core),
        };
        server.paths = if spaces { "graph-space" } else { "short" }.to_owned();
        target.place.base = match spaces {
            true => format!("/graphspaces/DEFAULT/graphs/{graph}"),
            false => format!("/graphs/{graph}"),
        };
        target.place.source = format!("__g_{graph}");
        let root = probe.get("/").and_then(|answer| answer.json());
        let root = root.unwrap_or_default();
        server.service = text(&root, "service").map(|service| {
            let version = text(&root, "version").unwrap_or_default();
            format!("{service} {version}").trim_end().to_owned()
        });
        let metrics = probe.get("/metrics").map(|answer| answer.text());
        if let Some((engine, durability)) = metrics.ok().as_deref().and_then(storage_info) {
            let spoken = server.service.take();
            server.service = spoken.map(|spoken| format!("varve, speaking {spoken}"));
            (server.engine, server.durability) = (Some(engine), Some(durability));
        }
        Ok(target)
    }

    /// A server that has Gremlin over HTTP and no other API. Its graph was loaded by other means;
    /// `graph` is the name of its traversal source.
    ///
    /// # Errors
    /// When `url` is invalid, or the server does not answer or has no such traversal source.
    pub(crate) fn gremlin_server(
        at: (&str, &Trust),
        graph: &str,
        pid: Option<u32>,
    ) -> Result<Self> {
        let mut target = Self::at(at, graph, pid)?;
        let query = format!(r#"{{"gremlin":"{graph}.inject(0)"}}"#);
        let answer = target.probe.expect("POST", "/gremlin", Some(&query), 200);
        answer.with_context(|| format!("{} has no traversal source {graph}", at.0))?;
        Ok(target)
    }

    /// Checks that the graph exists.
    ///
    /// # Errors
    /// When it does not, or the server does not answer.
    pub(crate) fn ensure_graph(&mut self) -> Result<()> {
        let graph = self.probe.get(&self.place.base);
        graph.map(drop).with_context(|| {
            let graph = &self.server.graph;
            format!("graph {graph} does not exist: create it, or name another with --graph")
        })
    }

    /// Creates the schema of the scenarios, unless it exists. Then inserts two probe vertices and
    /// an edge between them, to learn the form of the server's edge ids.
    ///
    /// # Errors
    /// When the server does not answer, the graph does not exist or has a different schema under
    /// these names, or the form of the edge id is unknown.
    pub(crate) fn prepare(&mut self, naming: &Naming) -> Result<()> {
        self.ensure_graph()?;
        self.create(schema())?;
        self.learn_edge_ids(naming)
    }

    /// Creates the schema of the social graph, unless it exists.
    ///
    /// # Errors
    /// When the server does not answer, the graph does not exist or has a different schema under
    /// these names, or an index is not ready in time.
    pub(crate) fn prepare_social(&mut self) -> Result<()> {
        self.create(social::schema())?;
        social::INDEXES.iter().try_for_each(|(field, _)| {
            let name = social::index_name(field);
            self.wait_for_index(&name)
        })
    }

    fn create(&mut self, schema: Vec<(&'static str, Value)>) -> Result<()> {
        for (path, mut body) in schema {
            body["check_exist"] = false.into();
            let path = format!("{}/schema/{path}", self.place.base);
            let answer = self.probe.ask("POST", &path, Some(&body.to_string()))?;
            ensure!(
                (200..300).contains(&answer.status),
                "POST {path} {body}: {} {}\nThe graph has another schema under these names: use another graph",
                answer.status,
                answer.text()
            );
        }
        Ok(())
    }

    /// Waits until an index label is built; fails if it is not after 600 polls, about a minute.
    fn wait_for_index(&mut self, name: &str) -> Result<()> {
        let path = format!("{}/schema/indexlabels/{name}", self.place.base);
        for _ in 0..600 {
            let answer = self.probe.get(&path)?.json()?;
            if answer["status"] == "CREATED" {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("GET {path}: the index is not ready after a minute")
    }

    /// Whether an earlier run with this prefix used the graph: the preparation of each run leaves
    /// its probe vertices.
    ///
    /// # Errors
    /// When the server does not answer, or with another status than 200 and 404, as a busy server
    /// does.
    pub(crate) fn has_run(&mut self, prefix: [u8; PREFIX]) -> Result<bool> {
        let [id, _] = Naming { prefix, seed: 0 }.probe_ids();
        let path = format!("{}/graph/vertices/%22{id}%22", self.place.base);
        let answer = self.probe.ask("GET", &path, None)?;
        match answer.status {
            200 => Ok(true),
            404 => Ok(false),
            status => bail!(
                "GET {path}: {status} {}\nWhether the graph has elements of an earlier run is unknown",
                answer.text()
            ),
        }
    }

    fn learn_edge_ids(&mut self, naming: &Naming) -> Result<()> {
        let [source, target] = naming.probe_ids();
        for id in [&source, &target] {
            let properties = json!({"bname": "aaaaaaaa", "bage": 10});
            let body = json!({"label": VERTEX_LABEL, "id": id, "properties": properties});
            self.element("graph/vertices", &body)?;
        }
        let body = json!({
            "label": EDGE_LABEL,
            "outV": source,
            "outVLabel": VERTEX_LABEL,
            "inV": target,
            "inVLabel": VERTEX_LABEL,
            "properties": {"bsince": 2000},
        });
        let edge = self.element("graph/edges", &body)?;
        let id = edge["id"].as_str().context("an edge without id")?;
        let middle = id.strip_prefix(&format!("S{source}"));
        let middle = middle.and_then(|rest| rest.strip_suffix(&format!("S{target}")));
        let middle = middle.with_context(|| format!("edge id {id} has an unknown form"))?;
        self.place.edge_middle = middle.replace('>', "%3E");
        Ok(())
    }

    fn element(&mut self, path: &str, body: &Value) -> Result<Value> {
        let path = format!("{}/{path}", self.place.base);
        let answer = self
            .probe
            .expect("POST", &path, Some(&body.to_string()), 201);
        answer?.json()
    }

    /// Returns why the server cannot run traversers; `None` if it can. Reads a probe vertex, so
    /// [`Target::prepare`] must run first.
    ///
    /// # Errors
    /// When the server does not answer.
    pub(crate) fn lacks_traversers(&mut self, naming: &Naming) -> Result<Option<String>> {
        let ([id, _], base) = (naming.probe_ids(), &self.place.base);
        let path = format!("{base}/traversers/kout?source=%22{id}%22&direction=OUT&max_depth=1");
        let status = self.probe.ask("GET", &path, None)?.status;
        Ok((status != 200).then(|| format!("the server has no traversers/kout: status {status}")))
    }
}

/// Finds the server of a run, and creates the schema of the scenarios in its graph; a server with
/// Gremlin as its only API is not changed. Returns the server, the naming of this run's elements,
/// and whether an earlier run used the same prefix.
///
/// # Errors
/// When there is no server or graph, the graph has a different schema, a row is not possible with
/// Gremlin alone, or the options contradict each other.
pub(crate) fn prepared(
    arguments: &ApiArguments,
    url: &str,
    pid: Option<u32>,
) -> Result<(Target, Naming, bool)> {
    let (at, graph) = ((url, &arguments.common.trust), &arguments.graph);
    let (rows, seed) = (arguments.plan()?, arguments.common.seed);
    let prefix = arguments.run_prefix.unwrap_or_else(random_prefix);
    let naming = Naming { prefix, seed };
    if arguments.gremlin_server {
        let mut scenarios = rows.iter().map(|row| row.scenario);
        if let Some(other) = scenarios.find(|it| queries::gremlin(*it).is_none()) {
            bail!("--gremlin-server: {} is no Gremlin query", other.name());
        }
        return Ok((Target::gremlin_server(at, graph, pid)?, naming, true));
    }
    let mut target = Target::find(at, graph, arguments.paths, pid)?;
    // This comes first: without the graph, the server's answers about elements mean nothing.
    target.ensure_graph()?;
    let is_used = target.has_run(prefix)?;
    target.prepare(&naming).context("preparing the graph")?;
    if rows.iter().any(|row| row.scenario.is_social()) {
        let prepared = target.prepare_social();
        prepared.context("preparing the social graph")?;
    }
    Ok((target, naming, is_used))
}

/// A random prefix. There are 238,328, so two runs rarely choose the same one.
fn random_prefix() -> [u8; PREFIX] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    // The standard library seeds its hash tables with the system's random numbers.
    let mut random = Random::new(RandomState::new().hash_one(std::process::id()));
    [(); PREFIX].map(|()| DIGITS[random.below(DIGITS.len() as u64) as usize])
}

/// Engine and durability from the metrics of a Varve server; `None` for the metrics of another
/// server.
fn storage_info(metrics: &str) -> Option<(String, String)> {
    let line = metrics
        .lines()
        .find_map(|line| line.strip_prefix("varve_storage_info{"))?;
    let label = |name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    Some((label("engine")?, label("durability")?))
}

/// Whether a core version has graph spaces in its paths.
fn at_least_1_7(core: &str) -> bool {
    let mut numbers = core
        .split(['.', '-'])
        .map(|part| part.parse::<u32>().unwrap_or_default());
    let version = (
        numbers.next().unwrap_or_default(),
        numbers.next().unwrap_or_default(),
    );
    version >= (1, 7)
}

/// The schema: paths below `schema`, and bodies.
fn schema() -> Vec<(&'static str, Value)> {
    let key = |name: &str, kind: &str| ("propertykeys", json!({"name": name, "data_type": kind}));
    vec![
        key("bname", "TEXT"),
        key("bage", "INT"),
        key("bsince", "INT"),
        (
            "vertexlabels",
            social::vertex_label(VERTEX_LABEL, &["bname", "bage"]),
        ),
        ("edgelabels", social::edge_label(EDGE_LABEL, VERTEX_LABEL)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_varve_server_is_known_by_its_metrics() {
        let text = "# TYPE x gauge\nvarve_storage_info{engine=\"rocksdb\",durability=\"interval:100\"} 1\n";
        let info = storage_info(text);
        assert_eq!(
            info,
            Some(("rocksdb".to_owned(), "interval:100".to_owned()))
        );
        assert_eq!(
            storage_info("hugegraph_info{version=\"0.71.0.0\",} 1.0"),
            None
        );
    }

    #[test]
    fn graph_spaces_begin_with_1_7() {
        for (core, spaces) in [
            ("1.5.0", false),
            ("1.7.0", true),
            ("2.0", true),
            ("0.11.2", false),
        ] {
            assert_eq!(at_least_1_7(core), spaces, "{core}");
        }
    }
}
