//! `varve load`: brings CSV and JSON Lines files, or a dump, into a graph through the REST API.
//!
//! Rows become elements by a mapping file and the graph's schema, elements go out in batches on a few threads, and each
//! acknowledged batch is noted with its byte range. A load that was interrupted goes on from there when it is started
//! again; a batch that was stored but not noted is stored again, which changes nothing for elements with ids of their
//! own. Rows that are refused are listed with file, line and reason, and do not stop the rest.

mod catalogue;
mod checks;
mod dates;
mod dumped;
mod element;
mod journal;
mod mapping;
mod rows;
mod schema;
mod sender;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use xxhash_rust::xxh3::xxh3_64;

use crate::CommandError;
use crate::cli::LoadArguments;
use crate::rest::GraphClient;
use catalogue::Catalogue;
use element::{Action, Element, Period};
use journal::{Journal, Progress, Subject};
use mapping::{Mapping, Source};
use rows::{Row, Rows};
use sender::{BadRow, Batch, Kind, Sender, Sending, Tally};

/// The exit code when everything was tried but some rows were refused.
const SOME_REFUSED: u8 = 3;

/// What is loaded: the inputs in order, and how a row becomes an element.
struct Plan {
    inputs: Vec<Input>,
    /// A hash of what decides how rows become elements.
    fingerprint: String,
}

/// One input.
struct Input {
    kind: Kind,
    source: Source,
    /// Whether rows are those of a dump.
    dumped: bool,
}

/// Loads what the arguments name.
pub(crate) fn run(arguments: &LoadArguments) -> Result<ExitCode, CommandError> {
    let client = GraphClient::new(&arguments.server, &arguments.graph);
    let is_dump = arguments
        .input
        .extension()
        .is_none_or(|ending| ending != "toml");
    let plan = if is_dump {
        Plan::of_dump(&arguments.input)
    } else {
        Plan::of_mapping(&arguments.input)?
    };
    let mut columns = Vec::new();
    for input in plan.inputs.iter().filter(|input| !input.dumped) {
        columns.push(checks::columns(&input.source)?);
    }
    if let Some(path) = &arguments.schema {
        schema::create_from_file(&client, path)?;
    }
    let restored = if is_dump {
        dumped::restore_schema(&client, &arguments.input)?
    } else {
        None
    };
    let catalogue = Catalogue::fetch(&client)?;
    for (input, columns) in plan.inputs.iter().zip(&columns) {
        checks::schema(&input.source, columns, input.kind, &catalogue)?;
    }
    // The versions of an element must arrive in their order.
    let in_order = restored.as_ref().is_some_and(|dump| dump.history);
    let threads = if in_order {
        1
    } else {
        arguments.threads.max(1)
    };
    let result = load(arguments, threads, &client, &plan, &catalogue);
    if let Some(restoring) = restored {
        restoring.end(&client)?;
    }
    result
}

impl Plan {
    fn of_mapping(path: &Path) -> Result<Self, CommandError> {
        let mapping = Mapping::read(path)?;
        let text = std::fs::read(path)?;
        let input = |kind| {
            move |source| Input {
                kind,
                source,
                dumped: false,
            }
        };
        let vertices = mapping.vertices.into_iter().map(input(Kind::Vertices));
        let edges = mapping.edges.into_iter().map(input(Kind::Edges));
        let fingerprint = format!("{:016x}", xxh3_64(&text));
        Ok(Self {
            inputs: vertices.chain(edges).collect(),
            fingerprint,
        })
    }

    /// A dump is read twice: once for its vertices, once for its edges.
    fn of_dump(path: &Path) -> Self {
        let input = |kind| Input {
            kind,
            source: dumped::source(path),
            dumped: true,
        };
        Self {
            inputs: vec![input(Kind::Vertices), input(Kind::Edges)],
            fingerprint: "dump".to_owned(),
        }
    }

    fn subject(&self, arguments: &LoadArguments) -> Result<Subject, CommandError> {
        let mut inputs = Vec::new();
        for input in &self.inputs {
            let path = &input.source.file;
            let length = std::fs::metadata(path)
                .map_err(|error| format!("{}: {error}", path.display()))?
                .len();
            inputs.push((path.clone(), length));
        }
        let target = format!("{}/graphs/{}", arguments.server, arguments.graph);
        Ok(Subject {
            target,
            mapping: self.fingerprint.clone(),
            inputs,
        })
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn load(
    arguments: &LoadArguments,
    threads: usize,
    client: &GraphClient,
    plan: &Plan,
    catalogue: &Catalogue,
) -> Result<ExitCode, CommandError> {
    let subject = plan.subject(arguments)?;
    let journal_path = beside(&arguments.input, ".journal");
    let bad_path = arguments
        .bad
        .clone()
        .unwrap_or_else(|| beside(&arguments.input, ".bad"));
    if arguments.restart {
        let _ = std::fs::remove_file(&journal_path);
    }
    let (journal, done) = Journal::open(&journal_path, &subject)?;
    // What was refused before is tried again, so the report is that of this run alone.
    let _ = std::fs::remove_file(&bad_path);
    let stored: u64 = done.iter().map(|piece| piece.stored).sum();
    if !done.is_empty() {
        println!("going on with an interrupted load ({stored} elements are stored)");
    }
    let bytes: u64 = subject.inputs.iter().map(|(_, length)| length).sum();
    let sender = Sender {
        client,
        check_vertices: !arguments.skip_vertex_check,
        max_errors: arguments.max_errors,
        bar: progress_bar(bytes),
        names: plan
            .inputs
            .iter()
            .map(|input| input.source.file.display().to_string())
            .collect(),
        tally: Mutex::new(Tally {
            stored,
            refused: 0,
            journal,
            bad_path: bad_path.clone(),
            bad_file: None,
            failure: None,
        }),
        stopped: AtomicBool::new(false),
    };
    let started = Instant::now();
    let before = sender.tally.lock().stored;
    let result = [Kind::Vertices, Kind::Edges]
        .into_iter()
        .try_for_each(|kind| {
            sender.run(kind, threads, |batches| {
                for (number, input) in plan
                    .inputs
                    .iter()
                    .enumerate()
                    .filter(|(_, input)| input.kind == kind)
                {
                    let reader = Reader {
                        number,
                        input,
                        catalogue,
                        batch_max: arguments.batch,
                        sender: &sender,
                    };
                    reader.read(&Progress::of(number, &done), batches)?;
                }
                Ok(())
            })
        });
    sender.bar.finish_and_clear();
    let tally = sender.tally.into_inner();
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    let rate = (tally.stored - before) as f64 / seconds.max(0.001);
    println!(
        "{} elements stored, {} rows refused ({seconds:.1} s, {rate:.0} elements/s)",
        tally.stored, tally.refused
    );
    if tally.refused > 0 {
        println!("refused rows and reasons: {}", bad_path.display());
    }
    if let Err(failure) = result {
        return Err(format!("{failure}; start the same command again to go on from here").into());
    }
    if tally.refused > 0 {
        // The journal stays: it says which rows need not be sent again.
        println!("start the same command again to try the refused rows again");
        return Ok(ExitCode::from(SOME_REFUSED));
    }
    tally.journal.finish();
    Ok(ExitCode::SUCCESS)
}

fn progress_bar(bytes: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {elapsed} (rest {eta}) {msg}");
    let bar = ProgressBar::new(bytes);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// Reads one input and cuts it into batches.
struct Reader<'a> {
    number: usize,
    input: &'a Input,
    catalogue: &'a Catalogue,
    batch_max: usize,
    sender: &'a Sender<'a>,
}

impl Reader<'_> {
    fn read(&self, progress: &Progress, batches: &SyncSender<Batch>) -> Result<(), String> {
        let mut rows = Rows::open(&self.input.source)?;
        if let Some((offset, line)) = progress.resume_at(rows.start()) {
            rows.seek(offset, line)?;
            self.sender.bar.inc(offset);
        }
        let mut batch: Option<Batch> = None;
        for row in rows {
            let row =
                row.map_err(|error| format!("{}: {error}", self.input.source.file.display()))?;
            if self.sender.is_stopped() {
                return Ok(());
            }
            if progress.covers(row.bytes.start) {
                self.hand_over(&mut batch, batches);
                continue;
            }
            let (line, next_line, bytes) = (row.line, row.next_line, row.bytes.clone());
            let element = self.element(row);
            let (action, period) = match &element {
                Ok(Some(element)) => (element.action, element.period.clone()),
                _ => batch
                    .as_ref()
                    .map(|batch| (batch.action, batch.period.clone()))
                    .unwrap_or_default(),
            };
            // Rows of another valid time start another batch, as a batch has one.
            if batch
                .as_ref()
                .is_some_and(|open| open.period != period || open.action != action)
            {
                self.hand_over(&mut batch, batches);
            }
            let open = batch.get_or_insert_with(|| self.empty_batch(action, period));
            match element {
                Ok(Some(element)) => open.elements.push(Sending {
                    line,
                    next_line,
                    bytes,
                    json: element.json,
                    stored: false,
                }),
                Ok(None) => {}
                Err(reason) => open.bad.push(BadRow { line, reason }),
            }
            if open.elements.len() + open.bad.len() >= self.batch_max {
                self.hand_over(&mut batch, batches);
            }
        }
        self.hand_over(&mut batch, batches);
        Ok(())
    }

    fn element(&self, row: Row) -> Result<Option<Element>, String> {
        let columns = row.columns?;
        let source = &self.input.source;
        match self.input.kind {
            kind if self.input.dumped => dumped::element(columns, kind, self.catalogue),
            Kind::Vertices => element::vertex(&columns, source, self.catalogue).map(Some),
            Kind::Edges => element::edge(&columns, source, self.catalogue).map(Some),
        }
    }

    fn empty_batch(&self, action: Action, period: Period) -> Batch {
        Batch {
            input: self.number,
            action,
            elements: Vec::new(),
            period,
            bad: Vec::new(),
        }
    }

    fn hand_over(&self, batch: &mut Option<Batch>, batches: &SyncSender<Batch>) {
        if let Some(batch) = batch.take() {
            // The threads that receive outlive this call, so there is always someone to take it.
            let _ = batches.send(batch);
        }
    }
}
