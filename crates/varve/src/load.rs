//! `varve load`: loads CSV and JSON Lines files, or a dump, into a graph through the REST API.
//!
//! A mapping file and the graph's schema define how a row becomes an element. Several threads send
//! the elements in batches, and a journal records the byte ranges of the acknowledged rows. A load
//! that was interrupted resumes from the journal when it is started again. Rows that were stored
//! but not recorded are sent again, which changes nothing for elements with ids of their own.
//! Refused rows are listed with file, line and reason, and do not stop the load.

mod deletion;
mod dumped;
mod journal;
mod outgoing;
mod restoring;
mod schema;
mod sender;

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use parking_lot::Mutex;
use serde::Deserialize as _;
use serde_json::Value as Json;
use varve_files::Row;
use varve_load::{
    BadRow, BatchKind, Catalogue, Converter, Counts, Element, Mapping, Mark, Owners, Source,
    Storing, Trial, check_columns, check_schema, infer, source_of,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::CommandError;
use crate::cli::LoadArguments;
use crate::rest::{GraphClient, RestError};
use dumped::Dump;
use journal::{Done, Journal, Progress, Subject};
use outgoing::Outgoing;
use sender::{HandOver, Sender, Tally};

/// The exit code when all rows were tried and some were refused.
const SOME_REFUSED: u8 = 3;

/// The inputs of a load in order, and how a row becomes an element.
struct Plan {
    inputs: Vec<Input>,
    /// Whether an element that is already stored with the same content gets no new version.
    skip_unchanged: bool,
    /// The schema elements that the mapping has.
    schema: Option<Json>,
    /// A hash of the mapping, which decides how rows become elements.
    fingerprint: String,
}

/// One input.
struct Input {
    kind: BatchKind,
    source: Source,
    /// Whether the input is a dump.
    dumped: bool,
}

/// Loads the files that the arguments name.
pub(crate) fn run(arguments: &LoadArguments) -> Result<ExitCode, CommandError> {
    if !arguments.infer.is_empty() {
        draft(arguments)?;
        return Ok(ExitCode::SUCCESS);
    }
    let client = GraphClient::of(&arguments.target)?;
    match arguments.input().extension() {
        Some(ending) if ending == "toml" => load_files(arguments, &client),
        _ => load_dump(arguments, &client),
    }
}

/// Writes a mapping for these files into the current folder, under a name that is free.
fn draft(arguments: &LoadArguments) -> Result<(), CommandError> {
    let sources = arguments.infer.iter().map(|file| source_of(file));
    let sources: Result<Vec<Source>, String> = sources.collect();
    let drafted = infer(&sources?, &labels(arguments), &|| Ok(()))?;
    let (name, mut file) = (1..)
        .map(|number| match number {
            1 => "mapping.toml".to_owned(),
            _ => format!("mapping-{number}.toml"),
        })
        .find_map(|name| {
            let file = File::options().write(true).create_new(true).open(&name);
            match file {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => None,
                made => Some(
                    made.map(|file| (name.clone(), file))
                        .map_err(|error| format!("{name}: {error}")),
                ),
            }
        })
        .ok_or("no name is free")??;
    file.write_all(drafted.mapping.as_bytes())?;
    for note in &drafted.unsure {
        println!("{}: {note}", note.file);
    }
    println!("wrote {name}: check it, then run");
    println!("  varve load {name} --dry-run{}", arguments.target.shown());
    Ok(())
}

/// The labels of the graph for which a mapping is drafted; none if it cannot be asked.
fn labels(arguments: &LoadArguments) -> Catalogue {
    let target = &arguments.target;
    let asked = GraphClient::of(target).and_then(|client| {
        let path = client.of_graph("schema");
        let answer = client.send("GET", &path, "")?;
        serde_json::from_str::<Catalogue>(&answer).map_err(|error| RestError::Unexpected {
            url: path,
            cause: error.to_string(),
        })
    });
    let (server, graph) = (&target.server, &target.graph);
    match asked {
        Ok(catalogue) => {
            if !catalogue.is_empty() {
                println!("the draft takes the labels of graph '{graph}' at {server}");
            }
            catalogue
        }
        Err(RestError::NoServer { .. } | RestError::Refused { status: 404, .. }) => {
            Catalogue::default()
        }
        Err(error) => {
            println!("the draft knows no labels of graph '{graph}' at {server}: {error}");
            Catalogue::default()
        }
    }
}

/// Loads the files of a mapping.
fn load_files(arguments: &LoadArguments, client: &GraphClient) -> Result<ExitCode, CommandError> {
    let plan = Plan::of_mapping(arguments.input())?;
    let mut columns = Vec::new();
    for input in &plan.inputs {
        columns.push(check_columns(&input.source, input.kind)?);
    }
    let given = arguments
        .schema
        .as_deref()
        .map(schema::of_file)
        .transpose()?;
    let schemas: Vec<&Json> = given.iter().chain(&plan.schema).collect();
    let mut catalogue = fetched(client)?;
    for schema in &schemas {
        let added = Catalogue::deserialize(*schema)?;
        catalogue.check_added(&added)?;
        catalogue.add(added);
    }
    for (input, columns) in plan.inputs.iter().zip(&columns) {
        check_schema(&input.source, columns, input.kind, &catalogue)?;
    }
    if !arguments.dry_run && !schemas.is_empty() {
        for schema in &schemas {
            schema::create_all(client, schema)?;
        }
        // Ids of primary keys contain the numbers of their labels.
        catalogue = fetched(client)?;
    }
    let work = Work {
        threads: arguments.threads.max(1),
        check_vertices: !arguments.skip_vertex_check,
    };
    load(arguments, &work, client, &plan, &catalogue)
}

/// Loads a dump.
fn load_dump(arguments: &LoadArguments, client: &GraphClient) -> Result<ExitCode, CommandError> {
    if arguments.dry_run {
        return Err("--dry-run checks a mapping and its files; a dump is read as it is".into());
    }
    if let Some(path) = &arguments.schema {
        schema::create_all(client, &schema::of_file(path)?)?;
    }
    let dump = Dump::open(client, arguments.input())?;
    // The versions of an element must be sent in order.
    let in_order = dump.history;
    let work = Work {
        threads: match in_order {
            true => 1,
            false => arguments.threads.max(1),
        },
        check_vertices: !arguments.skip_vertex_check && !in_order,
    };
    let plan = Plan::of_dump(arguments.input());
    let mut definitions = Vec::new();
    let ended = restoring::while_restoring(client, || {
        definitions = dump.create_schema(client)?;
        let catalogue = fetched(client)?;
        load(arguments, &work, client, &plan, &catalogue)
    })?;
    dumped::define(client, &definitions)?;
    Ok(ended)
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
        let vertices = mapping.vertices.into_iter().map(input(BatchKind::Vertices));
        let edges = mapping.edges.into_iter().map(input(BatchKind::Edges));
        let fingerprint = format!("{:016x}", xxh3_64(&text));
        Ok(Self {
            inputs: vertices.chain(edges).collect(),
            skip_unchanged: mapping.skip_unchanged,
            schema: mapping.schema,
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
            inputs: vec![input(BatchKind::Vertices), input(BatchKind::Edges)],
            skip_unchanged: false,
            schema: None,
            fingerprint: "dump".to_owned(),
        }
    }

    /// The labels of its files of vertices, and no ids yet.
    fn owners(&self, catalogue: &Catalogue) -> Owners {
        let inputs = self.inputs.iter();
        let vertices = inputs.filter(|input| input.kind == BatchKind::Vertices && !input.dumped);
        Owners::new(vertices.map(|input| &*input.source.label), catalogue)
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
        let target = format!(
            "{}/graphs/{}",
            arguments.target.server, arguments.target.graph
        );
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

/// How rows are sent.
struct Work {
    threads: usize,
    /// Whether an edge is refused if one of its vertices does not exist at the start of its period.
    check_vertices: bool,
}

fn load(
    arguments: &LoadArguments,
    work: &Work,
    client: &GraphClient,
    plan: &Plan,
    catalogue: &Catalogue,
) -> Result<ExitCode, CommandError> {
    let (sender, done) = prepare(arguments, (client, catalogue), plan, work.check_vertices)?;
    let started = Instant::now();
    let mut owners = plan.owners(catalogue);
    let result = [BatchKind::Vertices, BatchKind::Edges]
        .into_iter()
        .try_for_each(|kind| {
            sender.run(kind, work.threads, |channels| {
                let inputs = plan.inputs.iter().enumerate();
                for (number, input) in inputs.filter(|(_, input)| input.kind == kind) {
                    let mut reader = Reader {
                        number,
                        input,
                        converter: Converter::new(kind),
                        catalogue,
                        owners: &mut owners,
                        batch_max: arguments.batch,
                        sender: &sender,
                    };
                    reader.read(&Progress::of(number, &done), channels)?;
                }
                Ok(())
            })
        });
    sender.bar.finish_and_clear();
    let has_unchecked = sender
        .trial
        .is_some_and(|trial| trial.into_inner().has_unchecked());
    if has_unchecked {
        println!(
            "more vertices, or states of one, than a dry run keeps: edges without their vertices may pass"
        );
    }
    let tally = sender.tally.into_inner();
    print_counts(arguments, &tally, started);
    if let Err(failure) = result {
        let more = match arguments.dry_run {
            true => "",
            false => "; start the same command again to go on from here",
        };
        return Err(format!("{failure}{more}").into());
    }
    if tally.refused > 0 {
        if !arguments.dry_run {
            // The journal stays: it lists the rows that need not be sent again.
            println!("repeat the command to retry the refused rows");
        }
        return Ok(ExitCode::from(SOME_REFUSED));
    }
    if let Some(journal) = tally.journal {
        journal.finish();
    }
    Ok(ExitCode::SUCCESS)
}

/// The sender, and the pieces that an earlier run has stored.
fn prepare<'a>(
    arguments: &LoadArguments,
    (client, catalogue): (&'a GraphClient, &'a Catalogue),
    plan: &Plan,
    check_vertices: bool,
) -> Result<(Sender<'a>, Vec<Done>), CommandError> {
    let subject = plan.subject(arguments)?;
    let journal_path = beside(arguments.input(), ".journal");
    let bad_path = arguments
        .bad
        .clone()
        .unwrap_or_else(|| beside(arguments.input(), ".bad"));
    if arguments.restart && !arguments.dry_run {
        let _ = std::fs::remove_file(&journal_path);
    }
    let (journal, done) = match arguments.dry_run {
        true => (None, Vec::new()),
        false => {
            let (journal, done) = Journal::open(&journal_path, &subject)?;
            (Some(journal), done)
        }
    };
    // Refused rows are tried again, so the report lists those of this run only.
    let _ = std::fs::remove_file(&bad_path);
    if !done.is_empty() {
        let stored: u64 = done.iter().map(|piece| piece.stored).sum();
        println!("continuing an interrupted load ({stored} rows are stored)");
    }
    let bytes: u64 = subject.inputs.iter().map(|(_, length)| length).sum();
    let inputs = plan.inputs.iter().map(|input| {
        let name = input.source.file.display().to_string();
        let storing = Storing::of(&input.source, input.kind, catalogue, check_vertices);
        (name, storing)
    });
    let sender = Sender {
        client,
        catalogue,
        trial: arguments
            .dry_run
            .then(|| Mutex::new(Trial::new(check_vertices))),
        skip_unchanged: plan.skip_unchanged,
        max_errors: arguments.max_errors,
        bar: progress_bar(bytes),
        inputs: inputs.collect(),
        tally: Mutex::new(Tally {
            counts: Counts::default(),
            sent: 0,
            refused: 0,
            journal,
            bad_path,
            bad_file: None,
            failure: None,
        }),
        stopped: AtomicBool::new(false),
    };
    Ok((sender, done))
}

/// Prints what became of the rows.
fn print_counts(arguments: &LoadArguments, tally: &Tally, started: Instant) {
    let (counts, refused) = (&tally.counts, tally.refused);
    let stored = counts.elements;
    let seconds = started.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    let rate = tally.sent as f64 / seconds.max(0.001);
    if arguments.dry_run {
        println!("{stored} elements would be sent, {refused} rows are wrong ({seconds:.1} s)");
    } else {
        println!(
            "{stored} elements stored, {refused} rows refused ({seconds:.1} s, {rate:.0} rows/s)"
        );
    }
    if counts.states > 0 {
        println!(
            "{} rows are further states of these elements, with other valid times",
            counts.states
        );
    }
    if counts.replaced > 0 {
        println!(
            "{} rows replaced an earlier row of the same element and valid time",
            counts.replaced
        );
    }
    if refused > 0 {
        println!("refused rows and reasons: {}", tally.bad_path.display());
    }
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
    converter: Converter,
    catalogue: &'a Catalogue,
    owners: &'a mut Owners,
    batch_max: usize,
    sender: &'a Sender<'a>,
}

impl Reader<'_> {
    /// Hands the rows over to the sending threads.
    fn read(
        &mut self,
        progress: &Progress,
        channels: &[SyncSender<HandOver>],
    ) -> Result<(), String> {
        let rows = self.input.source.rows()?;
        let mut outgoing = Outgoing::new(self.sender, channels, self.number, self.batch_max);
        let read = self.read_rows(rows, progress, &mut outgoing);
        // Rows before an unreadable one are still sent.
        outgoing.end_block();
        read
    }

    fn read_rows(
        &mut self,
        rows: varve_files::Rows,
        progress: &Progress,
        outgoing: &mut Outgoing<'_>,
    ) -> Result<(), String> {
        for row in rows {
            let row =
                row.map_err(|error| format!("{}: {error}", self.input.source.file.display()))?;
            if self.sender.is_stopped() {
                return Ok(());
            }
            let (line, bytes) = (row.line, row.bytes.clone());
            // A stored row is read again, too: later rows may be of the same element.
            let is_stored = progress.covers(bytes.start);
            match self.element(row) {
                Ok(Some(element)) => {
                    let mark = Mark::of(&element).filter(|_| !self.input.dumped);
                    if is_stored {
                        self.sender.note_stored(mark, &bytes);
                    } else {
                        outgoing.add(element, mark, line, bytes);
                    }
                }
                Ok(None) => {}
                Err(reason) => outgoing.add_bad(BadRow { line, reason }),
            }
        }
        Ok(())
    }

    fn element(&mut self, row: Row) -> Result<Option<Element>, String> {
        let fields = row.fields?;
        let (kind, source) = (self.input.kind, &self.input.source);
        match self.input.dumped {
            true => dumped::element(fields.into_map(), kind, self.catalogue),
            false => {
                let converter = &mut self.converter;
                converter.element(fields, source, self.catalogue, self.owners)
            }
        }
    }
}

/// The schema of the server's graph.
fn fetched(client: &GraphClient) -> Result<Catalogue, RestError> {
    client.get(&client.of_graph("schema"))
}
