//! Sends batches on a few threads, finds the rows that the server refuses, and keeps the tally.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use indicatif::ProgressBar;
use parking_lot::Mutex;

use super::element::{Action, Period};
use super::journal::{Done, Journal};
use crate::rest::{GraphClient, RestError, encode};

/// Which batch resource takes the elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `graph/vertices/batch`
    Vertices,
    /// `graph/edges/batch`
    Edges,
}

/// A row that was not loaded.
#[derive(Debug)]
pub(crate) struct BadRow {
    /// Its line.
    pub(crate) line: u64,
    /// Why.
    pub(crate) reason: String,
}

/// Consecutive rows of one input.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Where they lie; the counts are filled in when the batch is done.
    pub(crate) done: Done,
    /// What is to be done with the elements.
    pub(crate) action: Action,
    /// Line and JSON of each element.
    pub(crate) elements: Vec<(u64, String)>,
    /// The valid time of all of them.
    pub(crate) period: Period,
    /// Rows that did not even become elements.
    pub(crate) bad: Vec<BadRow>,
}

/// What is shared by the sending threads.
pub(crate) struct Sender<'a> {
    /// The server.
    pub(crate) client: &'a GraphClient,
    /// Whether the vertices of edges must exist.
    pub(crate) check_vertices: bool,
    /// More bad rows than this end the load.
    pub(crate) max_errors: u64,
    /// Where the load shows how far it is.
    pub(crate) bar: ProgressBar,
    /// The names of the inputs, for the report of bad rows.
    pub(crate) names: Vec<String>,
    /// What changes.
    pub(crate) tally: Mutex<Tally>,
    /// Set when the load must end early.
    pub(crate) stopped: AtomicBool,
}

/// The state of a load.
pub(crate) struct Tally {
    /// Elements stored, earlier runs included.
    pub(crate) stored: u64,
    /// Rows refused, earlier runs included.
    pub(crate) refused: u64,
    /// What is done.
    pub(crate) journal: Journal,
    /// Where bad rows go; created with the first.
    pub(crate) bad_path: PathBuf,
    /// That file.
    pub(crate) bad_file: Option<File>,
    /// Why the load ended early.
    pub(crate) failure: Option<String>,
}

impl Sender<'_> {
    /// Runs `produce` on this thread and sends what it produces on `threads` others; returns when all is sent.
    pub(crate) fn run(
        &self,
        kind: Kind,
        threads: usize,
        produce: impl FnOnce(&SyncSender<Batch>) -> Result<(), String>,
    ) -> Result<(), String> {
        let (sender, receiver) = sync_channel::<Batch>(2 * threads);
        let receiver = Mutex::new(receiver);
        let produced = std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| self.send_all(kind, &receiver));
            }
            // The channel is closed when `sender` is dropped, which ends the threads.
            let sender = sender;
            produce(&sender)
        });
        match self.tally.lock().failure.clone() {
            Some(failure) => Err(failure),
            None => produced,
        }
    }

    /// Whether the load must end early.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn send_all(&self, kind: Kind, receiver: &Mutex<Receiver<Batch>>) {
        loop {
            let next = receiver.lock().recv();
            let Ok(mut batch) = next else { return };
            if self.is_stopped() {
                continue;
            }
            let mut bad = std::mem::take(&mut batch.bad);
            let rows = batch.elements.len() as u64 + bad.len() as u64;
            let stored = match batch.action {
                Action::Put => self.store(kind, &batch.elements, &batch.period, &mut bad),
                Action::Delete => self.delete(kind, &batch.elements, &batch.period, &mut bad),
            };
            match stored {
                Ok(()) => {
                    batch.done.refused = bad.len() as u64;
                    batch.done.stored = rows - batch.done.refused;
                    self.note(batch.done, &bad);
                }
                Err(failure) => self.stop(failure.to_string()),
            }
        }
    }

    /// Stores elements; those that the server refuses are found by halving and added to `bad`.
    fn store(
        &self,
        kind: Kind,
        elements: &[(u64, String)],
        period: &Period,
        bad: &mut Vec<BadRow>,
    ) -> Result<(), RestError> {
        if elements.is_empty() || self.is_stopped() {
            return Ok(());
        }
        let mut body = String::with_capacity(
            elements
                .iter()
                .map(|(_, json)| json.len() + 1)
                .sum::<usize>()
                + 2,
        );
        for (at, (_, json)) in elements.iter().enumerate() {
            body.push(if at == 0 { '[' } else { ',' });
            body.push_str(json);
        }
        body.push(']');
        let check = (kind == Kind::Edges).then(|| format!("check_vertex={}", self.check_vertices));
        let path = self.path(kind, "/batch", check, period);
        match self.client.send_patiently("POST", &path, &body) {
            Ok(_) => Ok(()),
            Err(RestError::Refused {
                status: 400 | 413,
                message,
            }) => {
                if let [(line, _)] = elements {
                    bad.push(BadRow {
                        line: *line,
                        reason: message,
                    });
                    return Ok(());
                }
                let (first, second) = elements.split_at(elements.len() / 2);
                self.store(kind, first, period, bad)?;
                self.store(kind, second, period, bad)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Deletes elements one by one; one that is not there is deleted already.
    fn delete(
        &self,
        kind: Kind,
        elements: &[(u64, String)],
        period: &Period,
        bad: &mut Vec<BadRow>,
    ) -> Result<(), RestError> {
        for (line, id) in elements {
            let path = self.path(kind, &format!("/{id}"), None, period);
            match self.client.send_patiently("DELETE", &path, "") {
                Ok(_) | Err(RestError::Refused { status: 404, .. }) => {}
                Err(RestError::Refused {
                    status: 400,
                    message,
                }) => bad.push(BadRow {
                    line: *line,
                    reason: message,
                }),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn path(&self, kind: Kind, rest: &str, parameter: Option<String>, period: &Period) -> String {
        let mut path = self.client.of_graph(match kind {
            Kind::Vertices => "graph/vertices",
            Kind::Edges => "graph/edges",
        });
        path.push_str(rest);
        let mut parameters: Vec<String> = parameter.into_iter().collect();
        parameters.extend(
            period
                .from
                .as_deref()
                .map(|from| format!("valid_from={}", encode(from))),
        );
        parameters.extend(
            period
                .to
                .as_deref()
                .map(|to| format!("valid_to={}", encode(to))),
        );
        if !parameters.is_empty() {
            path.push('?');
            path.push_str(&parameters.join("&"));
        }
        path
    }

    fn note(&self, done: Done, bad: &[BadRow]) {
        let mut tally = self.tally.lock();
        tally.stored += done.stored;
        tally.refused += done.refused;
        // A batch of a load that was stopped may be half sent: it must not count as done.
        if self.is_stopped() {
            return;
        }
        let noted = tally
            .write_bad(&self.names[done.input], bad)
            .and_then(|()| tally.journal.note(done));
        let over = tally.refused > self.max_errors;
        drop(tally);
        self.bar.inc(done.to - done.from);
        if let Err(failure) = noted {
            self.stop(failure);
        } else if over {
            self.stop(format!("more than {} bad rows", self.max_errors));
        }
    }

    fn stop(&self, failure: String) {
        self.stopped.store(true, Ordering::Relaxed);
        self.tally.lock().failure.get_or_insert(failure);
    }
}

impl Tally {
    fn write_bad(&mut self, input: &str, bad: &[BadRow]) -> Result<(), String> {
        if bad.is_empty() {
            return Ok(());
        }
        let failed = |error: std::io::Error| format!("{}: {error}", self.bad_path.display());
        let file = match &mut self.bad_file {
            Some(file) => file,
            none => {
                let file = File::options()
                    .create(true)
                    .append(true)
                    .open(&self.bad_path)
                    .map_err(failed)?;
                none.insert(file)
            }
        };
        let mut text = String::new();
        for row in bad {
            let reason = row.reason.replace(['\n', '\r'], " ");
            text.push_str(&format!("{input}:{}: {reason}\n", row.line));
        }
        file.write_all(text.as_bytes()).map_err(failed)
    }
}
