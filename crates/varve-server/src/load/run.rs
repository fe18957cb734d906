//! A load in work: the answer is a line of JSON for each refused row and for the progress, and one
//! for the end.
//!
//! The rows are read and stored in pieces, each on the pool, while the answer is sent. A client
//! that closes its connection ends the load after the current piece. A change of the client's
//! rights ends it, too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use varve_files::Rows;
use varve_load::{
    BadRow, BatchKind, Batches, Catalogue, Converter, Counts, Mapping, Mark, Owners, Refused,
    Sending, Source, Storing, Trial, check_columns, check_schema, store_each,
};

use super::ends;
use super::files::{Upload, Uploads};
use crate::errors::ApiError;
use crate::hugegraph::{
    SCHEMA_KINDS, check_may_delete, check_may_update, create_schema, schema_json, store_rows,
};
use crate::request::RequestContext;
use crate::respond::{Body, ContentType, Cut, HandlerResult, Response};
use crate::state::AppState;

/// Rows and bytes of JSON of one piece.
const PIECE_ROWS: usize = 1_000;
const PIECE_BYTES: usize = 4 << 20;
const MAPPING: &str = "mapping";
/// The most `[[vertex]]` and `[[edge]]` of a mapping.
const INPUTS_MAX: usize = 1_000;

/// Slots of loads and drafts.
#[derive(Debug)]
pub(crate) struct Slots(Arc<Semaphore>);

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Semaphore::new(most)))
    }

    pub(super) fn slot(&self, state: &AppState) -> Result<OwnedSemaphorePermit, ApiError> {
        let slot = Arc::clone(&self.0).try_acquire_owned();
        slot.map_err(|_| {
            let after = state.config().retry_after_seconds;
            ApiError::unavailable("Too many loads at once (load.loads_max)", after)
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadJson {
    /// The text of the mapping.
    mapping: String,
}

/// What became of the rows of one input.
#[derive(Default)]
struct Tally {
    stored: u64,
    refused: u64,
}

/// The files of a mapping, and the columns of each.
type Inputs = (Vec<(BatchKind, Source)>, Vec<Vec<String>>);

/// A load between two pieces.
struct Load {
    inputs: Vec<(BatchKind, Source)>,
    tallies: Vec<Tally>,
    /// The input that is being read, and its rows once it is open.
    at: usize,
    rows: Option<(Rows, Converter)>,
    line: u64,
    catalogue: Catalogue,
    owners: Owners,
    counts: Counts,
    /// A dry run stores nothing.
    trial: Option<Trial>,
    checks_vertices: bool,
    skip_unchanged: bool,
    errors_max: u64,
    deadline: Instant,
    /// Keeps the files.
    _upload: Arc<Upload>,
    _slot: OwnedSemaphorePermit,
}

/// Answers with the lines of a load.
pub(super) fn load(context: &RequestContext) -> HandlerResult {
    let load = begin(context)?;
    let limit = load.deadline;
    let state = context.shared_state();
    let reader = context.again(limit);
    let lines = stream::unfold(Some((Box::new(load), reader)), move |at| {
        let state = Arc::clone(&state);
        async move {
            let (load, reader) = at?;
            if let Err(error) = reader.check_still_allowed() {
                return Some((Err(Cut(error.message().to_owned())), None));
            }
            let deadline = Instant::now() + state.time_limit(reader.route());
            let (route, again) = (reader.route(), reader.again(deadline));
            let turn = again.turn();
            let work = move || load.piece(&again);
            let piece = state.run_request(route, (deadline, &turn), work).await;
            Some(match piece {
                Ok((lines, Some(load))) => (Ok(lines), Some((load, reader))),
                Ok((lines, None)) => (Ok(lines), None),
                Err(error) => (Err(Cut(error.message().to_owned())), None),
            })
        }
    });
    let content_type = ContentType::Other("application/x-ndjson");
    Ok(Response::new(
        StatusCode::OK,
        content_type,
        Body::streamed(lines),
    ))
}

fn errors_max(text: &str) -> Result<u64, ApiError> {
    text.parse().map_err(|_| {
        ApiError::illegal_argument(format!("max_errors must be a number, but got '{text}'"))
    })
}

/// Checks the mapping with its files and the schema: 400 before anything is stored.
fn begin(context: &RequestContext) -> Result<Load, ApiError> {
    let asked: LoadJson = context.json_object()?;
    let state = context.state();
    let query = context.query()?;
    let (is_dry, checks) = (
        query.boolean("dry_run", false)?,
        query.boolean("check_vertex", true)?,
    );
    let errors_max = errors_max(query.get("max_errors").unwrap_or("1000"))?;
    let slot = state.feature::<Slots>().slot(state)?;
    let upload = state.feature::<Uploads>().of(context)?;
    let wrong = |message: String| ApiError::illegal_argument(message);
    let mapping = Mapping::parse(&asked.mapping, MAPPING, &mut |file| {
        upload
            .path(&file.to_string_lossy())
            .map(|_| vec![file.to_path_buf()])
    });
    let mapping = mapping.map_err(wrong)?;
    let many = mapping.vertices.len() + mapping.edges.len();
    if many > INPUTS_MAX {
        return Err(wrong(format!(
            "{MAPPING}: {many} [[vertex]] and [[edge]], at most {INPUTS_MAX}"
        )));
    }
    let skips = mapping.skip_unchanged || query.boolean("skip_unchanged", false)?;
    let sources = (mapping.vertices, mapping.edges);
    let (inputs, of_inputs) = inputs_of(context, sources, &upload)?;
    let schema = mapping.schema.as_ref();
    let mut catalogue = planned(context, schema)?;
    for ((kind, source), columns) in inputs.iter().zip(&of_inputs) {
        check_schema(source, columns, *kind, &catalogue).map_err(wrong)?;
    }
    if let (Some(schema), false) = (schema, is_dry) {
        create(context, schema)?;
        catalogue = planned(context, None)?;
    }
    let of_vertices = inputs
        .iter()
        .filter(|(kind, _)| *kind == BatchKind::Vertices);
    let labels = of_vertices.map(|(_, source)| &*source.label);
    let owners = Owners::new(labels.filter(|label| !label.is_empty()), &catalogue);
    let limit = Duration::from_millis(state.config().load.load_timeout_ms);
    Ok(Load {
        tallies: inputs.iter().map(|_| Tally::default()).collect(),
        inputs,
        at: 0,
        rows: None,
        line: 0,
        owners,
        catalogue,
        counts: Counts::default(),
        trial: is_dry.then(|| Trial::new(checks)),
        checks_vertices: checks,
        skip_unchanged: skips,
        errors_max,
        deadline: Instant::now() + limit,
        _upload: upload,
        _slot: slot,
    })
}

/// The inputs of a mapping, and the columns of their files, if the client may do what they say.
fn inputs_of(
    context: &RequestContext,
    (vertices, edges): (Vec<Source>, Vec<Source>),
    upload: &Upload,
) -> Result<Inputs, ApiError> {
    let wrong = |message: String| ApiError::illegal_argument(message);
    let vertices = vertices.into_iter().map(|it| (BatchKind::Vertices, it));
    let edges = edges.into_iter().map(|it| (BatchKind::Edges, it));
    let (mut inputs, mut of_inputs) = (Vec::new(), Vec::new());
    for (kind, source) in vertices.chain(edges) {
        if source.valid_to_ends_edge {
            check_may_delete(context)?;
        }
        if source.update {
            check_may_update(context, kind == BatchKind::Edges)?;
        }
        let path = upload.path(&source.file.to_string_lossy()).map_err(wrong)?;
        let source = upload.placed(source, path);
        of_inputs.push(check_columns(&source, kind).map_err(wrong)?);
        inputs.push((kind, source));
    }
    Ok((inputs, of_inputs))
}

/// The schema that the graph has, or will have with the elements of a mapping.
fn planned(context: &RequestContext, schema: Option<&Json>) -> Result<Catalogue, ApiError> {
    let mut catalogue = Catalogue::deserialize(schema_json(context)?)?;
    let Some(schema) = schema else {
        return Ok(catalogue);
    };
    let mut kinds = schema.as_object().into_iter().flatten();
    if let Some((kind, _)) = kinds.find(|(kind, _)| !SCHEMA_KINDS.contains(&kind.as_str())) {
        let message = format!("A schema has no '{kind}'");
        return Err(ApiError::illegal_argument(message));
    }
    let added = Catalogue::deserialize(schema)?;
    let checked = catalogue.check_added(&added);
    checked.map_err(ApiError::illegal_argument)?;
    catalogue.add(added);
    Ok(catalogue)
}

/// Creates the schema elements of a mapping.
fn create(context: &RequestContext, schema: &Json) -> Result<(), ApiError> {
    for kind in SCHEMA_KINDS {
        for element in schema[kind].as_array().into_iter().flatten() {
            create_schema(context, kind, element)?;
        }
    }
    Ok(())
}

impl Load {
    /// Reads and stores the next rows. The load, if it goes on.
    fn piece(mut self: Box<Self>, context: &RequestContext) -> (Bytes, Option<Box<Self>>) {
        let mut lines = String::new();
        let ended = self.step(context, &mut lines);
        let refused: u64 = self.tallies.iter().map(|tally| tally.refused).sum();
        let last = match ended {
            Err(failure) => Some(self.end(Some(failure))),
            Ok(()) if refused > self.errors_max => {
                let failure = format!(
                    "more than {} rows were refused (max_errors)",
                    self.errors_max
                );
                Some(self.end(Some(failure)))
            }
            Ok(()) if self.at == self.inputs.len() => Some(self.end(None)),
            Ok(()) if Instant::now() > self.deadline => {
                Some(self.end(Some("its time was over (load.load_timeout_ms)".to_owned())))
            }
            Ok(()) => None,
        };
        let goes_on = last.is_none();
        push(&mut lines, &last.unwrap_or_else(|| self.progress()));
        (Bytes::from(lines), goes_on.then_some(self))
    }

    fn step(&mut self, context: &RequestContext, lines: &mut String) -> Result<(), String> {
        let Some((kind, source)) = self.inputs.get(self.at).cloned() else {
            return Ok(());
        };
        let (mut rows, mut converter) = match self.rows.take() {
            Some(opened) => opened,
            None => (source.rows()?, Converter::new(kind)),
        };
        let (mut batches, mut read, mut bytes) = (Batches::new(self.at, PIECE_ROWS), 0, 0);
        let mut failure = None;
        let mut is_whole = false;
        while read < PIECE_ROWS && bytes < PIECE_BYTES {
            let Some(row) = rows.next() else {
                is_whole = true;
                break;
            };
            let row = match row {
                Ok(row) => row,
                // The rows before it are stored.
                Err(error) => {
                    failure = Some(format!("{}: {error}", source.file.display()));
                    break;
                }
            };
            read += 1;
            self.line = row.line;
            let element = row.fields.and_then(|fields| {
                converter.element(fields, &source, &self.catalogue, &mut self.owners)
            });
            match element {
                Ok(Some(element)) => {
                    bytes += element.json.len();
                    let mark = Mark::of(&element);
                    batches.add(element, mark, row.line, row.bytes);
                }
                Ok(None) => {}
                Err(reason) => batches.add_bad(BadRow {
                    line: row.line,
                    reason,
                }),
            }
        }
        self.store(context, kind, &mut batches, lines)?;
        match is_whole {
            true => self.at += 1,
            false => self.rows = Some((rows, converter)),
        }
        failure.map_or(Ok(()), Err)
    }

    fn store(
        &mut self,
        context: &RequestContext,
        kind: BatchKind,
        batches: &mut Batches,
        lines: &mut String,
    ) -> Result<(), String> {
        let (source, skips) = (&self.inputs[self.at].1, self.skip_unchanged);
        let storing = Storing::of(source, kind, &self.catalogue, self.checks_vertices);
        let file = source.file.display().to_string();
        for mut batch in batches.take() {
            let mut bad = std::mem::take(&mut batch.bad);
            let bad_before = bad.len();
            let stored = match &mut self.trial {
                Some(trial) => {
                    let of = (kind, &self.catalogue);
                    trial.run(of, &mut batch.elements, &mut bad, &mut |asked| {
                        let refused = ends::of_body(context, asked);
                        refused.map_err(|error| error.message().to_owned())
                    })
                }
                None => {
                    let goes_on = || context.check_deadline().is_ok();
                    let mut store =
                        |_: &[Sending], body: &str| stored(context, kind, (&storing, skips), body);
                    store_each(&mut batch.elements, &mut bad, &goes_on, &mut store)
                }
            };
            let tried = batch.elements.iter().filter(|it| it.stored).count();
            let is_cut = tried + bad.len() - bad_before < batch.elements.len();
            let tally = &mut self.tallies[self.at];
            for element in batch.elements.iter().filter(|element| element.stored) {
                self.counts.add(element.mark);
                tally.stored += 1;
            }
            tally.refused += bad.len() as u64;
            bad.sort_by_key(|row| row.line);
            for row in bad {
                let refused = json!({ "file": file, "line": row.line, "reason": row.reason });
                push(lines, &json!({ "refused": refused }));
            }
            stored?;
            if is_cut {
                return Err("storing took too long (server.graph_change_timeout_ms)".to_owned());
            }
        }
        Ok(())
    }

    fn progress(&self) -> Json {
        let file = self
            .inputs
            .get(self.at)
            .map(|(_, source)| source.file.display().to_string());
        let stored: u64 = self.tallies.iter().map(|tally| tally.stored).sum();
        let refused: u64 = self.tallies.iter().map(|tally| tally.refused).sum();
        let (input, inputs) = (self.at, self.inputs.len());
        json!({ "progress": {
            "file": file, "line": self.line, "input": input, "inputs": inputs,
            "loaded": stored, "refused": refused,
        } })
    }

    /// The last line.
    fn end(&self, failure: Option<String>) -> Json {
        let inputs = self
            .inputs
            .iter()
            .zip(&self.tallies)
            .map(|((kind, source), tally)| {
                let kind = match kind {
                    BatchKind::Vertices => "vertex",
                    BatchKind::Edges => "edge",
                };
                json!({
                    "file": source.file.display().to_string(), "kind": kind, "label": source.label,
                    "loaded": tally.stored, "refused": tally.refused,
                })
            });
        let refused: u64 = self.tallies.iter().map(|tally| tally.refused).sum();
        let mut end = json!({
            "dry_run": self.trial.is_some(), "elements": self.counts.elements, "states": self.counts.states,
            "replaced": self.counts.replaced, "refused": refused,
            "inputs": inputs.collect::<Vec<_>>(),
        });
        if self.trial.as_ref().is_some_and(Trial::has_unchecked) {
            end["unchecked"] = Json::from(true);
        }
        match failure {
            None => json!({ "done": end }),
            Some(message) => {
                end["message"] = Json::from(message);
                json!({ "failed": end })
            }
        }
    }
}

fn push(lines: &mut String, line: &Json) {
    lines.push_str(&line.to_string());
    lines.push('\n');
}

/// Stores a batch as the client.
fn stored(
    context: &RequestContext,
    kind: BatchKind,
    (storing, skip_unchanged): (&Storing, bool),
    elements: &str,
) -> Result<(), Refused<String>> {
    let (body, query) = (storing.body(elements), storing.query(skip_unchanged));
    let of = (kind == BatchKind::Edges, storing.is_update());
    store_rows(context, of, (&body, &query)).map_err(|error| {
        let message = error.message().to_owned();
        // A client's rights may allow some of the elements.
        match error.status().as_u16() {
            400 | 403 | 413 => Refused::Elements(message),
            _ => Refused::Failed(message),
        }
    })
}
