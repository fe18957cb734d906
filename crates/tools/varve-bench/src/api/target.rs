//! The server under test: its address, its name and version, and the schema of the scenarios.

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use serde_json::Value;

use super::payload::{EDGE_LABEL, Naming, PREFIX, VERTEX_LABEL};
use super::scenario::GraphAddress;
use super::social;
use crate::client::Probe;
use crate::endpoint::{Endpoint, Trust};
use crate::process;
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
        let endpoint = Endpoint::new(url, trust)?;
        let mut probe = Probe::new(endpoint.clone());
        let versions = probe.get("/versions")?.json().context("GET /versions")?;
        let text = |value: &Value, name: &str| value[name].as_str().map(str::to_owned);
        let versions = &versions["versions"];
        let core = text(versions, "core");
        ensure!(
            core.is_some(),
            "{url} does not speak HugeGraph's API: GET /versions has no core"
        );
        let storage = probe
            .get("/metrics")
            .ok()
            .and_then(|answer| storage_info(&answer.text()));
        let root = probe
            .get("/")
            .ok()
            .and_then(|answer| answer.json().ok())
            .unwrap_or_default();
        let service = text(&root, "service").map(|service| {
            let version = text(&root, "version").unwrap_or_default();
            format!("{service} {version}").trim_end().to_owned()
        });
        let spaces = match paths {
            Paths::Short => false,
            Paths::GraphSpace => true,
            Paths::Auto => at_least_1_7(core.as_deref().unwrap_or_default()),
        };
        let base = match spaces {
            true => format!("/graphspaces/DEFAULT/graphs/{graph}"),
            false => format!("/graphs/{graph}"),
        };
        let pid = pid.or_else(|| process::listener(endpoint.address));
        let server = Server {
            url: endpoint.url(),
            graph: graph.to_owned(),
            paths: if spaces { "graph-space" } else { "short" }.to_owned(),
            core_version: core,
            api_version: text(versions, "api"),
            service: match &storage {
                Some(_) => service.map(|spoken| format!("varve, speaking {spoken}")),
                None => service,
            },
            engine: storage.as_ref().map(|(engine, _)| engine.clone()),
            durability: storage.map(|(_, durability)| durability),
            pid,
            command_line: pid.and_then(process::command_line),
            ..Server::default()
        };
        let place = GraphAddress {
            headers: endpoint.headers(),
            base,
            source: format!("__g_{graph}"),
            edge_middle: String::new(),
            checked: true,
        };
        Ok(Self {
            endpoint,
            place,
            server,
            probe,
        })
    }

    /// A server that has Gremlin over HTTP and no other API. Its graph was loaded by other means;
    /// `graph` is the name of its traversal source.
    ///
    /// # Errors
    /// When `url` is invalid, or the server does not answer or has no such traversal source.
    pub(crate) fn gremlin_server(
        (url, trust): (&str, &Trust),
        graph: &str,
        pid: Option<u32>,
    ) -> Result<Self> {
        let endpoint = Endpoint::new(url, trust)?;
        let mut probe = Probe::new(endpoint.clone());
        let query = format!(r#"{{"gremlin":"{graph}.inject(0)"}}"#);
        let answer = probe.ask("POST", "/gremlin", Some(&query))?;
        ensure!(
            answer.status == 200,
            "{url} has no traversal source {graph}: POST /gremlin {query} answers {} {}",
            answer.status,
            answer.text()
        );
        let pid = pid.or_else(|| process::listener(endpoint.address));
        let server = Server {
            url: endpoint.url(),
            graph: graph.to_owned(),
            pid,
            command_line: pid.and_then(process::command_line),
            ..Server::default()
        };
        let place = GraphAddress {
            headers: endpoint.headers(),
            base: String::new(),
            source: graph.to_owned(),
            edge_middle: String::new(),
            checked: true,
        };
        Ok(Self {
            endpoint,
            place,
            server,
            probe,
        })
    }

    /// Checks that the graph exists.
    ///
    /// # Errors
    /// When it does not, or the server does not answer.
    pub(crate) fn ensure_graph(&mut self) -> Result<()> {
        let graph = self.probe.ask("GET", &self.place.base, None)?;
        ensure!(
            graph.status == 200,
            "graph {} does not exist ({} {}): create it, or name another with --graph",
            self.server.graph,
            graph.status,
            graph.text()
        );
        Ok(())
    }

    /// Creates the schema of the scenarios, unless it exists. Then inserts two probe vertices and
    /// an edge between them, to learn the form of the server's edge ids.
    ///
    /// # Errors
    /// When the server does not answer, the graph does not exist or has a different schema under
    /// these names, or the form of the edge id is unknown.
    pub(crate) fn prepare(&mut self, naming: &Naming) -> Result<()> {
        self.ensure_graph()?;
        for (path, body) in schema() {
            self.create(path, &body)?;
        }
        self.learn_edge_ids(naming)
    }

    /// Creates the schema of the social graph, unless it exists.
    ///
    /// # Errors
    /// When the server does not answer, the graph does not exist or has a different schema under
    /// these names, or an index is not ready in time.
    pub(crate) fn prepare_social(&mut self) -> Result<()> {
        for (path, body) in social::schema() {
            self.create(path, &body)?;
        }
        let mut indexes = social::indexes().into_iter();
        indexes.try_for_each(|name| self.wait_for_index(&name))
    }

    fn create(&mut self, path: &str, body: &str) -> Result<()> {
        let path = format!("{}/schema/{path}", self.place.base);
        let answer = self.probe.ask("POST", &path, Some(body))?;
        ensure!(
            (200..300).contains(&answer.status),
            "POST {path} {body}: {} {}\nThe graph has another schema under these names: use another graph",
            answer.status,
            answer.text()
        );
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
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        bail!("GET {path}: the index is not ready after a minute")
    }

    /// Whether an earlier run with this prefix used the graph: the preparation of each run leaves
    /// its probe vertices.
    ///
    /// # Errors
    /// As [`Target::has`].
    pub(crate) fn has_run(&mut self, prefix: [u8; PREFIX]) -> Result<bool> {
        let naming = Naming { prefix, seed: 0 };
        let [id, _] = naming.probe_ids();
        let path = format!("{}/graph/vertices/%22{id}%22", self.place.base);
        self.has(&path)
    }

    /// Whether there is an element at a path.
    ///
    /// # Errors
    /// When the server does not answer, or with another status than 200 and 404, as a busy server
    /// does.
    pub(crate) fn has(&mut self, path: &str) -> Result<bool> {
        let answer = self.probe.ask("GET", path, None)?;
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
        let ids = naming.probe_ids();
        for id in &ids {
            let body = format!(
                r#"{{"label":"{VERTEX_LABEL}","id":"{id}","properties":{{"bname":"aaaaaaaa","bage":10}}}}"#
            );
            self.element("graph/vertices", &body)?;
        }
        let body = format!(
            r#"{{"label":"{EDGE_LABEL}","outV":"{}","outVLabel":"{VERTEX_LABEL}","inV":"{}","inVLabel":"{VERTEX_LABEL}","properties":{{"bsince":2000}}}}"#,
            ids[0], ids[1]
        );
        let edge = self.element("graph/edges", &body)?;
        let id = edge["id"]
            .as_str()
            .context("an edge without id")?
            .to_owned();
        let middle = id
            .strip_prefix(&format!("S{}", ids[0]))
            .and_then(|rest| rest.strip_suffix(&format!("S{}", ids[1])));
        let middle = middle.with_context(|| format!("edge id {id} has an unknown form"))?;
        self.place.edge_middle = middle.replace('>', "%3E");
        Ok(())
    }

    fn element(&mut self, path: &str, body: &str) -> Result<Value> {
        let path = format!("{}/{path}", self.place.base);
        let answer = self.probe.ask("POST", &path, Some(body))?;
        ensure!(
            answer.status == 201,
            "POST {path}: {} {}",
            answer.status,
            answer.text()
        );
        answer.json()
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

/// The schema requests: path below `schema` and body.
fn schema() -> Vec<(&'static str, String)> {
    let key = |name: &str, data_type: &str| {
        let body = format!(r#"{{"name":"{name}","data_type":"{data_type}","check_exist":false}}"#);
        ("propertykeys", body)
    };
    let vertex = |name: &str, properties: &str| {
        let body = format!(
            r#"{{"name":"{name}","id_strategy":"CUSTOMIZE_STRING","properties":[{properties}],"check_exist":false}}"#
        );
        ("vertexlabels", body)
    };
    vec![
        key("bname", "TEXT"),
        key("bage", "INT"),
        key("bsince", "INT"),
        vertex(VERTEX_LABEL, r#""bname","bage""#),
        (
            "edgelabels",
            format!(
                r#"{{"name":"{EDGE_LABEL}","source_label":"{VERTEX_LABEL}","target_label":"{VERTEX_LABEL}","properties":["bsince"],"check_exist":false}}"#
            ),
        ),
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

    #[test]
    fn schema_bodies_are_json() {
        for (_, body) in schema() {
            let _: Value = serde_json::from_str(&body).expect("JSON");
        }
    }
}
