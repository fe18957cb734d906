//! Distributes the rows of an input to the sending threads. All rows of an element go to the same
//! thread, so that its states are sent in order.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use varve_load::{BadRow, Batches, Element, Mark};

use super::sender::{Block, HandOver, Sender};

/// The rows that are buffered for the sending threads.
pub(super) struct Outgoing<'a> {
    sender: &'a Sender<'a>,
    channels: &'a [SyncSender<HandOver>],
    /// The batches being filled, one for each channel.
    open: Vec<Batches>,
    /// The channel of the last row without an identity; such rows take the channels in turn.
    next: usize,
    block: Arc<Block>,
    in_block: usize,
    block_max: usize,
}

impl<'a> Outgoing<'a> {
    /// Empty buffers for this input; one hand-over has at most `batch_max` rows.
    pub(super) fn new(
        sender: &'a Sender<'a>,
        channels: &'a [SyncSender<HandOver>],
        input: usize,
        batch_max: usize,
    ) -> Self {
        let open = channels.iter().map(|_| Batches::new(input, batch_max));
        Self {
            sender,
            channels,
            open: open.collect(),
            next: 0,
            block: Arc::default(),
            in_block: 0,
            block_max: batch_max.saturating_mul(channels.len()),
        }
    }

    /// Adds a row that became an element, with its mark, its line and its byte range.
    pub(super) fn add(
        &mut self,
        element: Element,
        mark: Option<Mark>,
        line: u64,
        bytes: Range<u64>,
    ) {
        let channel = match element.identity {
            Some(known) => usize::try_from(known % self.open.len() as u64).unwrap_or(0),
            None => {
                self.next = (self.next + 1) % self.open.len();
                self.next
            }
        };
        self.open[channel].add(element, mark, line, bytes);
        self.added(channel);
    }

    /// Adds a row that could not be converted to an element.
    pub(super) fn add_bad(&mut self, row: BadRow) {
        self.open[0].add_bad(row);
        self.added(0);
    }

    fn added(&mut self, channel: usize) {
        self.in_block += 1;
        if self.in_block >= self.block_max {
            self.end_block();
        } else if self.open[channel].are_full() {
            self.hand_over(channel);
        }
    }

    fn hand_over(&mut self, channel: usize) {
        let taken = self.open[channel].take();
        if !taken.is_empty() {
            // The receiving threads outlive this call, so the channel is open.
            let _ = self.channels[channel].send((taken, Arc::clone(&self.block)));
        }
    }

    /// Hands over all buffered rows and starts a new block. Also to be called at the end of the
    /// input.
    pub(super) fn end_block(&mut self) {
        (0..self.open.len()).for_each(|channel| self.hand_over(channel));
        self.in_block = 0;
        self.sender.note_block(std::mem::take(&mut self.block));
    }
}
