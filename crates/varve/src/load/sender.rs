//! Sends batches on several threads, isolates the rows that the server refuses, and counts results.

use std::fs::File;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use indicatif::ProgressBar;
use parking_lot::Mutex;

use serde::Deserialize;
use varve_load::{
    Action, BadRow, Batch, BatchKind, Catalogue, Counts, Mark, Refused, Sending, Storing, Trial,
    store_each,
};

use super::journal::{Done, Journal};
use crate::rest::{GraphClient, RestError};

/// Hand-overs that may wait in the channel of a sending thread.
const WAITING_MAX: usize = 2;

/// Consecutive rows of one input, which may go to several sending threads. Once all of them are
/// sent, the journal gets the ranges of the stored rows, adjacent ranges joined.
#[derive(Debug, Default)]
pub(crate) struct Block(Mutex<Vec<Done>>);

/// Batches for one sending thread, in the order in which they must be sent, and the block to which
/// they belong.
pub(crate) type HandOver = (Vec<Batch>, Arc<Block>);

/// The state that the sending threads share.
pub(crate) struct Sender<'a> {
    /// The server.
    pub(crate) client: &'a GraphClient,
    /// The schema.
    pub(crate) catalogue: &'a Catalogue,
    /// A dry run sends nothing: what would be stored counts as stored.
    pub(crate) trial: Option<Mutex<Trial>>,
    /// Whether an element that is already stored with the same content gets no new version.
    pub(crate) skip_unchanged: bool,
    /// More bad rows than this end the load.
    pub(crate) max_errors: u64,
    /// The progress bar.
    pub(crate) bar: ProgressBar,
    /// The names of the inputs, for the report of bad rows, and how their elements are stored.
    pub(crate) inputs: Vec<(String, Storing)>,
    /// The counts and the open files.
    pub(crate) tally: Mutex<Tally>,
    /// Set when the load must end early.
    pub(crate) stopped: AtomicBool,
}

/// The answer of `POST …/load/ends`.
#[derive(Deserialize)]
struct Refusals {
    refused: Vec<Option<String>>,
}

/// The state of a load.
pub(crate) struct Tally {
    /// The stored rows, earlier runs included.
    pub(crate) counts: Counts,
    /// Rows stored by this run.
    pub(crate) sent: u64,
    /// Rows refused, earlier runs included.
    pub(crate) refused: u64,
    /// The journal; `None` in a dry run.
    pub(crate) journal: Option<Journal>,
    /// The path of the file of bad rows, which is created with the first bad row.
    pub(crate) bad_path: PathBuf,
    /// The file of bad rows, once created.
    pub(crate) bad_file: Option<File>,
    /// Why the load ended early.
    pub(crate) failure: Option<String>,
}

impl Sender<'_> {
    /// Runs `produce` on this thread and sends the batches that it produces on `threads` other
    /// threads. Each of them has its own channel, and sends the batches of that channel in order.
    /// Returns when all batches are sent.
    pub(crate) fn run(
        &self,
        kind: BatchKind,
        threads: usize,
        produce: impl FnOnce(&[SyncSender<HandOver>]) -> Result<(), String>,
    ) -> Result<(), String> {
        let produced = std::thread::scope(|scope| {
            let channels: Vec<_> = (0..threads)
                .map(|_| {
                    let (sender, receiver) = sync_channel::<HandOver>(WAITING_MAX);
                    scope.spawn(move || self.send_all(kind, &receiver));
                    sender
                })
                .collect();
            // The channels are closed when `channels` is dropped, which ends the threads.
            produce(&channels)
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

    fn send_all(&self, kind: BatchKind, receiver: &Receiver<HandOver>) {
        for (batches, block) in receiver {
            batches
                .into_iter()
                .take_while(|_| !self.is_stopped())
                .for_each(|batch| self.send(kind, batch, &block));
            self.note_block(block);
        }
    }

    fn send(&self, kind: BatchKind, mut batch: Batch, block: &Block) {
        let mut bad = std::mem::take(&mut batch.bad);
        let sent = match batch.action {
            _ if let Some(trial) = &self.trial => {
                let of = (kind, self.catalogue);
                let mut trial = trial.lock();
                trial.run(of, &mut batch.elements, &mut bad, &mut |asked| {
                    self.ask(asked)
                })
            }
            Action::Put => {
                let (_, storing) = &self.inputs[batch.input];
                self.store((kind, storing), &mut batch.elements, &mut bad)
            }
            Action::Delete => self.delete(kind, &mut batch.elements, &mut bad),
        };
        // A part of a failed batch may be stored.
        self.note(&batch, &bad, block);
        if let Err(failure) = sent {
            self.stop(failure.to_string());
        }
    }

    /// Asks why edges would be refused for their ends.
    fn ask(&self, edges: &str) -> Result<Vec<Option<String>>, RestError> {
        let path = self.client.of_graph("load/ends");
        let answer = self.client.send_patiently("POST", &path, edges)?;
        let answer: Result<Refusals, _> = serde_json::from_str(&answer);
        let answer = answer.map_err(|error| RestError::Unexpected {
            url: path,
            cause: error.to_string(),
        })?;
        Ok(answer.refused)
    }

    /// Stores elements; those that the server refuses are added to `bad`.
    fn store(
        &self,
        (kind, storing): (BatchKind, &Storing),
        elements: &mut [Sending],
        bad: &mut Vec<BadRow>,
    ) -> Result<(), RestError> {
        let query = storing.query(self.skip_unchanged);
        let rest = match query.is_empty() {
            true => "/batch".to_owned(),
            false => format!("/batch?{query}"),
        };
        let path = self.path(kind, &rest);
        let method = if storing.is_update() { "PUT" } else { "POST" };
        let goes_on = || !self.is_stopped();
        store_each(elements, bad, &goes_on, &mut |_, body| {
            let body = storing.body(body);
            match self.client.send_patiently(method, &path, &body) {
                Ok(_) => Ok(()),
                Err(RestError::Refused {
                    status: 400 | 413,
                    message,
                }) => Err(Refused::Elements(message)),
                Err(failure) => Err(Refused::Failed(failure)),
            }
        })
    }

    /// Deletes elements one by one; a missing element counts as deleted.
    fn delete(
        &self,
        kind: BatchKind,
        elements: &mut [Sending],
        bad: &mut Vec<BadRow>,
    ) -> Result<(), RestError> {
        for element in elements {
            let path = self.path(kind, &element.json);
            match self.client.send_patiently("DELETE", &path, "") {
                Ok(_) | Err(RestError::Refused { status: 404, .. }) => element.stored = true,
                Err(RestError::Refused {
                    status: 400,
                    message,
                }) => bad.push(BadRow {
                    line: element.line,
                    reason: message,
                }),
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn path(&self, kind: BatchKind, rest: &str) -> String {
        let of_kind = match kind {
            BatchKind::Vertices => "graph/vertices",
            BatchKind::Edges => "graph/edges",
        };
        self.client.of_graph(&format!("{of_kind}{rest}"))
    }

    /// Counts a row that an earlier run has stored.
    pub(super) fn note_stored(&self, mark: Option<Mark>, bytes: &Range<u64>) {
        self.tally.lock().counts.add(mark);
        self.bar.inc(bytes.end - bytes.start);
    }

    /// Counts the stored and the refused rows, and writes the refused ones to the file of bad rows.
    fn note(&self, batch: &Batch, bad: &[BadRow], block: &Block) {
        let pieces = stored(batch);
        let mut tally = self.tally.lock();
        for element in batch.elements.iter().filter(|element| element.stored) {
            tally.counts.add(element.mark);
            tally.sent += 1;
        }
        tally.refused += bad.len() as u64;
        let noted = tally.write_bad(&self.inputs[batch.input].0, bad);
        let over = tally.refused > self.max_errors;
        drop(tally);
        block.0.lock().extend(pieces);
        let bytes = |element: &Sending| element.bytes.end - element.bytes.start;
        self.bar.inc(batch.elements.iter().map(bytes).sum());
        if let Err(failure) = noted {
            self.stop(failure);
        } else if over {
            self.stop(format!("more than {} bad rows", self.max_errors));
        }
    }

    /// Writes the stored ranges of a block to the journal, if this was the last batch of the block.
    pub(super) fn note_block(&self, block: Arc<Block>) {
        let Some(Block(pieces)) = Arc::into_inner(block) else {
            return;
        };
        let pieces = joined(pieces.into_inner());
        let mut tally = self.tally.lock();
        let Some(journal) = &mut tally.journal else {
            return;
        };
        let noted = pieces.into_iter().try_for_each(|piece| journal.note(piece));
        drop(tally);
        if let Err(failure) = noted {
            self.stop(failure);
        }
    }

    fn stop(&self, failure: String) {
        self.stopped.store(true, Ordering::Relaxed);
        self.tally.lock().failure.get_or_insert(failure);
    }
}

/// The byte ranges of the rows whose elements are stored.
fn stored(batch: &Batch) -> Vec<Done> {
    let stored = batch.elements.iter().filter(|element| element.stored);
    let piece = |element: &Sending| Done {
        input: batch.input,
        from: element.bytes.start,
        to: element.bytes.end,
        stored: 1,
    };
    joined(stored.map(piece).collect())
}

/// The pieces of one input, sorted; adjacent pieces are joined.
fn joined(mut pieces: Vec<Done>) -> Vec<Done> {
    pieces.sort_unstable_by_key(|piece| piece.from);
    let mut joined: Vec<Done> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some(last) if last.to == piece.from => {
                last.to = piece.to;
                last.stored += piece.stored;
            }
            _ => joined.push(piece),
        }
    }
    joined
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_touch_become_one() {
        let piece = |from: u64, to: u64| Done {
            input: 0,
            from,
            to,
            stored: 1,
        };
        let joined = joined(vec![
            piece(20, 30),
            piece(0, 10),
            piece(40, 50),
            piece(10, 20),
        ]);
        let shown: Vec<_> = joined
            .iter()
            .map(|it| (it.from, it.to, it.stored))
            .collect();
        assert_eq!(shown, [(0, 30, 3), (40, 50, 1)]);
    }
}
