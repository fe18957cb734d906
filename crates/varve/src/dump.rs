//! `varve dump`: writes one state of a graph as JSON Lines, through the REST API.
//!
//! The first line describes the file. The schema elements with their ids follow, then all vertices,
//! then all edges:
//!
//! ```text
//! {"varve_dump":1,"graph":"hugegraph","as_of":"2026-11-21T22:00:00.000000Z","history":false}
//! {"propertykeys":{…}}
//! {"vertex":{"id":"1:marko","label":"person","properties":{…}}}
//! {"edge":{"id":"S1:marko>1>1>>S1:josh","label":"knows",…}}
//! ```
//! The first line of an open graph's dump has `"schema":"open"`, and values have their types:
//! `{"INT":29}`. Its indexes and constraints are commands of Cypher, after the schema elements:
//! `{"definition":"CREATE …"}`.
//!
//! With `--format`, the state is written as tables instead, or as GraphML or GEXF (`tables`).
//!
//! A dump with history has one line for each version of every element, including deleted elements,
//! oldest first, with `valid_from` and `valid_to`. A deletion is `{"delete_vertex":<id>,"label":…}`
//! or `{"delete_edge":<id>,"label":…}`. Versions of removed labels are left out, since they are not
//! in the schema.

mod tables;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use indicatif::ProgressBar;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use varve_model::value::date_text;
use varve_server::AppState;

use crate::CommandError;
use crate::cli::DumpArguments;
use crate::data;
use crate::rest::{GraphClient, RestError, encode, id_in_path};
use tables::SCHEMA_KINDS;

/// The number of versions in one request.
const HISTORY_PAGE: usize = 1000;

/// A page of a listing.
#[derive(Deserialize)]
struct Page {
    #[serde(alias = "edges")]
    vertices: Vec<Box<RawValue>>,
    page: Option<String>,
}

/// A page of ids of elements that have a history.
#[derive(Deserialize)]
struct IdPage {
    ids: Vec<Json>,
    /// The first page of each element's history; null once the answer has reached its size limit.
    histories: Vec<Option<HistoryPage>>,
    page: Option<String>,
}

/// The label of an element.
#[derive(Deserialize)]
struct Labelled {
    label: String,
}

/// A page of a history, newest version first.
#[derive(Deserialize)]
struct HistoryPage {
    versions: Vec<Version>,
    page: Option<String>,
}

#[derive(Deserialize)]
struct Version {
    valid_from: Option<String>,
    valid_to: Option<String>,
    element: Option<Box<RawValue>>,
}

/// Dumps the graph that the arguments name.
pub(crate) fn run(arguments: &DumpArguments) -> Result<ExitCode, CommandError> {
    if !arguments.options.names_data() {
        return dump(arguments, &arguments.target.server);
    }
    // Every dump is over HTTP. For a data folder, a server starts in this process on a free port.
    let mut config = arguments.options.load()?;
    let graphs = data::open_stored(&config)?;
    config.server.host = std::net::Ipv4Addr::LOCALHOST.into();
    config.server.port = 0;
    let state = AppState::with_graphs(config.server, graphs)?;
    let server = varve_server::start(&state)?;
    let result = dump(arguments, &server.address().to_string());
    server.stop();
    server.wait();
    result
}

fn dump(arguments: &DumpArguments, server: &str) -> Result<ExitCode, CommandError> {
    let client = GraphClient::new(server, &arguments.target.graph, &arguments.target.trust)?;
    if let Some(format) = arguments.format {
        tables::dump(arguments, &client, (format, &now_text()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let output = &arguments.output;
    let failed = |error: std::io::Error| format!("{}: {error}", output.display());
    if output.symlink_metadata().is_ok() {
        return Err(failed(std::io::ErrorKind::AlreadyExists.into()).into());
    }
    // The file gets its name when it is complete and synced; a failed dump removes it.
    let folder = output
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let unnamed = tempfile::Builder::new()
        .prefix(".varve-dump-")
        .tempfile_in(folder)
        .map_err(failed)?;
    let (file, unnamed) = unnamed.into_parts();
    let mut dump = Dump {
        client,
        out: BufWriter::with_capacity(1 << 20, file),
        as_of: now_text(),
        labels: [Vec::new(), Vec::new()],
        count: 0,
        bar: ProgressBar::new_spinner(),
    };
    dump.schema(arguments)?;
    for (what, kind) in [("vertices", "vertex"), ("edges", "edge")] {
        if arguments.history {
            dump.histories(arguments, what, kind)?;
        } else {
            dump.elements(arguments, what, kind)?;
        }
    }
    let file = dump.out.into_inner().map_err(|error| error.to_string())?;
    file.sync_all().map_err(failed)?;
    unnamed
        .persist_noclobber(output)
        .map_err(|error| failed(error.error))?;
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed)?;
    dump.bar.finish_and_clear();
    println!(
        "{} elements as of {} in {}",
        dump.count,
        dump.as_of,
        arguments.output.display()
    );
    Ok(ExitCode::SUCCESS)
}

struct Dump {
    client: GraphClient,
    out: BufWriter<File>,
    /// The valid and transaction time of the dump, so that all pages show one state.
    as_of: String,
    /// The names of the vertex labels and of the edge labels.
    labels: [Vec<String>; 2],
    count: u64,
    bar: ProgressBar,
}

impl Dump {
    fn line(&mut self, line: &str) -> Result<(), CommandError> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    fn schema(&mut self, arguments: &DumpArguments) -> Result<(), CommandError> {
        let (graph, as_of, history) = (&arguments.target.graph, &self.as_of, arguments.history);
        let mut head =
            json!({ "varve_dump": 1, "graph": graph, "as_of": as_of, "history": history });
        if self.client.is_open()? {
            head["schema"] = json!("open");
        }
        self.line(&head.to_string())?;
        let mut schema: Map<String, Json> = self.client.get(&self.client.of_graph("schema"))?;
        self.labels = ["vertexlabels", "edgelabels"].map(|kind| {
            let labels = schema.get(kind).and_then(Json::as_array);
            let names = labels
                .into_iter()
                .flatten()
                .filter_map(|it| it["name"].as_str());
            names.map(str::to_owned).collect()
        });
        let is_open = head.get("schema").is_some();
        let definitions = match is_open {
            true => self.definitions(&schema)?,
            false => Vec::new(),
        };
        for kind in SCHEMA_KINDS {
            let elements = schema.remove(kind);
            let elements = elements.as_ref().and_then(Json::as_array);
            let is_own = |it: &&Json| !is_open || kind != "indexlabels" || !is_part(it);
            for element in elements.into_iter().flatten().filter(is_own) {
                self.line(&json!({ kind: element }).to_string())?;
            }
        }
        for definition in definitions {
            self.line(&json!({ "definition": definition }).to_string())?;
        }
        Ok(())
    }

    /// The commands that create the indexes and constraints of an open graph that are no index
    /// labels.
    fn definitions(&self, schema: &Map<String, Json>) -> Result<Vec<Json>, CommandError> {
        let labels = schema.get("indexlabels").and_then(Json::as_array);
        let labels = labels.into_iter().flatten();
        let labels: Vec<&Json> = labels.map(|label| &label["name"]).collect();
        let mut found = Vec::new();
        for shown in [
            "SHOW INDEXES YIELD name, createStatement",
            "SHOW CONSTRAINTS YIELD name, createStatement, ownedIndex WHERE ownedIndex IS NULL \
             RETURN name, createStatement",
        ] {
            let answer: Json = serde_json::from_str(&self.client.cypher(shown)?)?;
            let rows = answer["data"]["values"].as_array();
            let rows = rows.into_iter().flatten();
            let rows = rows.filter(|row| !labels.contains(&&row[0]));
            found.extend(rows.map(|row| row[1].clone()));
        }
        Ok(found)
    }

    fn elements(
        &mut self,
        arguments: &DumpArguments,
        what: &str,
        kind: &str,
    ) -> Result<(), CommandError> {
        let at = encode(&self.as_of);
        let (mut page, mut limit) = (String::new(), arguments.batch);
        loop {
            let resource = format!(
                "graph/{what}?stored=true&limit={limit}&page={}&as_of={at}&as_of_tx={at}",
                encode(&page)
            );
            let answer: Page = match self.client.get(&self.client.of_graph(&resource)) {
                // So many elements may be too large for one answer. Any other cause also refuses
                // the smallest page.
                Err(RestError::Refused { status: 400, .. }) if limit > 1 => {
                    limit /= 2;
                    continue;
                }
                answer => answer?,
            };
            for element in &answer.vertices {
                self.line(&format!("{{\"{kind}\":{}}}", element.get()))?;
                self.count += 1;
            }
            self.bar.set_message(format!("{} elements", self.count));
            self.bar.tick();
            match answer.page {
                Some(next) if !next.is_empty() => page = next,
                _ => return Ok(()),
            }
        }
    }

    /// Writes the versions of all elements of a kind, including deleted ones.
    fn histories(
        &mut self,
        arguments: &DumpArguments,
        what: &str,
        kind: &str,
    ) -> Result<(), CommandError> {
        let mut page = String::new();
        loop {
            let (limit, page_asked) = (arguments.batch, encode(&page));
            let at = encode(&self.as_of);
            let resource = format!(
                "graph/{what}/history?versions=true&stored=true&limit={limit}&page={page_asked}\
                 &as_of_tx={at}"
            );
            let answer: IdPage = self.client.get(&self.client.of_graph(&resource))?;
            for (id, history) in answer.ids.iter().zip(answer.histories) {
                self.versions(what, kind, id, history)?;
            }
            self.bar.set_message(format!("{} elements", self.count));
            self.bar.tick();
            match answer.page {
                Some(next) => page = next,
                None => return Ok(()),
            }
        }
    }

    /// Writes the versions of an element, oldest first, one line each. `first` is the first page,
    /// if the caller has it.
    fn versions(
        &mut self,
        what: &str,
        kind: &str,
        id: &Json,
        first: Option<HistoryPage>,
    ) -> Result<(), CommandError> {
        let mut answer = match first {
            Some(answer) => answer,
            None => match self.history_page(what, kind, id, "") {
                // The element was created after the time of the dump.
                Err(RestError::Refused { status: 404, .. }) => return Ok(()),
                answer => answer?,
            },
        };
        let mut versions = answer.versions;
        while let Some(next) = answer.page.filter(|page| !page.is_empty()) {
            answer = self.history_page(what, kind, id, &next)?;
            versions.append(&mut answer.versions);
        }
        let labels = &self.labels[usize::from(kind == "edge")];
        let mut label = None;
        for element in versions
            .iter()
            .filter_map(|version| version.element.as_ref())
        {
            let of_state: Labelled = serde_json::from_str(element.get())?;
            if labels.contains(&of_state.label) {
                label = Some(of_state.label);
                break;
            }
        }
        if let Some(label) = label {
            self.count += 1;
            for version in versions.iter().rev() {
                if let Some(line) = self.version(kind, (id, &label), version)? {
                    self.line(&line)?;
                }
            }
        }
        Ok(())
    }

    /// A page of the versions of an element, newest first.
    fn history_page(
        &self,
        what: &str,
        kind: &str,
        id: &Json,
        page: &str,
    ) -> Result<HistoryPage, RestError> {
        let shown = encode(&id_in_path(id, kind == "edge"));
        let (page, at) = (encode(page), encode(&self.as_of));
        let path = format!(
            "graph/{what}/{shown}/history?stored=true&limit={HISTORY_PAGE}&as_of_tx={at}&page={page}"
        );
        self.client.get(&self.client.of_graph(&path))
    }

    /// The line of a version of the element with this id and label; `None` if the version's own
    /// label is removed.
    fn version(
        &self,
        kind: &str,
        (id, label): (&Json, &str),
        version: &Version,
    ) -> Result<Option<String>, CommandError> {
        let labels = &self.labels[usize::from(kind == "edge")];
        let mut line = match &version.element {
            Some(element) => {
                let Labelled { label } = serde_json::from_str(element.get())?;
                if !labels.contains(&label) {
                    return Ok(None);
                }
                format!("{{\"{kind}\":{}", element.get())
            }
            None => format!("{{\"delete_{kind}\":{id},\"label\":{}", Json::from(label)),
        };
        for (name, instant) in [
            ("valid_from", &version.valid_from),
            ("valid_to", &version.valid_to),
        ] {
            if let Some(text) = instant {
                line.push_str(&format!(",\"{name}\":{}", Json::from(text.as_str())));
            }
        }
        line.push('}');
        Ok(Some(line))
    }
}

/// Whether an index label of an open graph serves an index or constraint of Cypher: its name is
/// `*`, a number, `_` and the name of its label.
fn is_part(label: &Json) -> bool {
    let name = label["name"]
        .as_str()
        .and_then(|name| name.strip_prefix('*'));
    let number = name.and_then(|name| name.split_once('_')).map(|it| it.0);
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// The current time in RFC 3339, UTC.
fn now_text() -> String {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    let text = date_text(millis);
    format!("{}Z", text.replace(' ', "T"))
}
