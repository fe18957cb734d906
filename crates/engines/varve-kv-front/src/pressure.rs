//! Back-pressure: delays writers before memory runs out, at first in proportion to the shortage,
//! and at the limit until there is room, but never for longer than
//! [`FrontOptions::wait_max`](crate::FrontOptions::wait_max).

use std::time::{Duration, Instant};

use varve_kv::{KvError, Statistic};

use crate::flusher::{FlushState, again};
use crate::space::Shared;

/// Writers are delayed when the unflushed part of a table exceeds the space left for writes by this
/// factor. While flushing and writing advance equally fast, no writer is delayed.
const LEAD_FROM: f64 = 1.2;
/// The largest delay of a write by [`Shared::lead`], as a multiple of the time that flushing its
/// bytes takes.
const LEAD_WEIGHT: f64 = 8.0;
/// Writers are delayed from this part of the base's backlog on. Compaction falls behind long before
/// memory runs out, and a slow writer is better than a stopped one.
const BACKLOG_FROM: f64 = 0.4;
/// The delay of a write at the full backlog, as a multiple of the time that flushing its bytes
/// takes.
const BACKLOG_WEIGHT: f64 = 8.0;
/// The longest delay of one write, which may contain the batches of many requests.
const SLOW_MAX: Duration = Duration::from_millis(300);
/// A write may have to freeze the active table if less than 1/`FREEZE_SHARE` of its limit is free.
const FREEZE_SHARE: usize = 64;
/// An active table that cannot be frozen takes writes up to this multiple of its limit.
const OVERFULL: usize = 2;
/// Shorter delays are not worth a wait.
const SLOW_MIN: Duration = Duration::from_micros(500);

impl Shared {
    /// Waits until a batch of `bytes` may be written.
    pub(crate) fn admit(&self, bytes: usize) -> Result<(), KvError> {
        let mut state = self.flush.lock();
        if let Some(error) = state.failed().filter(|_| !state.may_recover()) {
            return Err(self.broken(error));
        }
        let delay = self.delay(&state, bytes);
        if delay >= SLOW_MIN {
            let from = Instant::now();
            self.changed.wait_for(&mut state, delay);
            state.held_back += from.elapsed();
        }
        let most = self.config.options.table_bytes.saturating_mul(OVERFULL);
        if let Some(error) = &state.not_frozen
            && self.view().active.bytes() >= most
        {
            return Err(again(error, &self.config.name));
        }
        if !self.no_room(&state) {
            return Ok(());
        }
        let from = Instant::now();
        let until = from + self.config.options.wait_max;
        while self.no_room(&state) {
            if let Some(error) = state.failed() {
                return Err(again(error, &self.config.name));
            }
            if self.changed.wait_until(&mut state, until).timed_out() {
                return Err(KvError::Busy {
                    space: self.config.name.clone(),
                    detail: format!(
                        "{} tables wait to be flushed, and none was in {} ms",
                        state.len(),
                        self.config.options.wait_max.as_millis()
                    ),
                });
            }
        }
        state.held_back += from.elapsed();
        Ok(())
    }

    /// Waits until all tables that are frozen now are flushed.
    pub(crate) fn wait_for_flushes(&self) -> Result<(), KvError> {
        let mut state = self.flush.lock();
        let all = state.enqueued();
        while state.flushed() < all {
            if let Some(error) = state.failed() {
                return Err(again(error, &self.config.name));
            }
            self.changed.wait(&mut state);
        }
        Ok(())
    }

    /// Whether the active table is full and must not be frozen, since the queue is full.
    fn no_room(&self, state: &FlushState) -> bool {
        state.len() >= self.config.options.frozen_max && self.is_full(&self.view.load().active)
    }

    /// Whether a write may have to wait: writers are being delayed, or the active table is about to
    /// be frozen, which waits for the disk.
    pub(crate) fn is_pressed(&self) -> bool {
        let view = self.view.load();
        let active = &view.active;
        let most = self.config.options.table_bytes;
        active.bytes() + most / FREEZE_SHARE >= most || self.is_full(active) || {
            let state = self.flush.lock();
            self.lead(&state) > LEAD_FROM || state.backlog > BACKLOG_FROM
        }
    }

    /// The unflushed part of the oldest table, divided by the space left for writes, both in
    /// tables. Above 1, the space is used up before the flush ends, if rows arrive as fast as they
    /// are flushed.
    fn lead(&self, state: &FlushState) -> f64 {
        let Some(oldest) = state.oldest() else {
            return 0.0;
        };
        let options = &self.config.options;
        let filled = self.view.load().active.bytes() as f64 / options.table_bytes as f64;
        let free = options.frozen_max.saturating_sub(state.len()) as f64;
        let room = free + 1.0 - filled.min(1.0);
        (1.0 - oldest.flushed()) / room.max(f64::MIN_POSITIVE)
    }

    /// The delay of a write of `bytes`, so that flushing and compaction keep up.
    fn delay(&self, state: &FlushState, bytes: usize) -> Duration {
        let memory = (self.lead(state) - LEAD_FROM).clamp(0.0, LEAD_WEIGHT);
        let share = memory.max(over(state.backlog, BACKLOG_FROM) * BACKLOG_WEIGHT);
        let rate = state.rate();
        if share <= 0.0 || rate <= 0.0 {
            return Duration::ZERO;
        }
        let delay = bytes as f64 / rate * share;
        Duration::from_secs_f64(delay).min(SLOW_MAX)
    }

    /// Figures of the front table.
    pub(crate) fn statistics(&self, log_bytes: u64) -> Vec<Statistic> {
        let view = self.view();
        let tables = std::iter::once(&view.active).chain(&view.frozen);
        let bytes: usize = tables.map(|table| table.bytes()).sum();
        let state = self.flush.lock();
        let statistic = |name, help, value| Statistic { name, help, value };
        vec![
            statistic(
                "front_bytes",
                "Bytes of the front tables of this space, including frozen ones.",
                bytes as f64,
            ),
            statistic(
                "front_limit_bytes",
                "Bytes that the front tables of all spaces may use together before they are flushed early.",
                self.config.budget.limit() as f64,
            ),
            statistic(
                "front_frozen_tables",
                "Front tables that wait to be flushed.",
                view.frozen.len() as f64,
            ),
            statistic(
                "front_log_bytes",
                "Bytes of the write-ahead log that a restart would replay.",
                log_bytes as f64,
            ),
            statistic(
                "front_flushes_total",
                "Front tables flushed since the space was opened.",
                state.flushed() as f64,
            ),
            statistic(
                "front_flush_failures_total",
                "Failed flushes of front tables. If the disk is full or no file descriptor is free, a flush is retried every second.",
                state.failures() as f64,
            ),
            statistic(
                "front_flushed_bytes_total",
                "Bytes of the front tables flushed since the space was opened.",
                state.flushed_bytes as f64,
            ),
            statistic(
                "front_flush_rate_bytes_per_second",
                "Rate of recent flushes, in bytes per second.",
                state.bytes_per_second,
            ),
            statistic(
                "front_held_back_seconds_total",
                "Seconds by which writers were delayed since the space was opened, so that flushes and compactions keep up.",
                state.held_back.as_secs_f64(),
            ),
            statistic(
                "front_known_rows",
                "Approximate number of keys in the filter that recognizes absent rows.",
                self.presence.keys() as f64,
            ),
            statistic(
                "front_known_bytes",
                "Bytes of memory that this filter uses.",
                self.presence.bytes() as f64,
            ),
            statistic(
                "front_known_whole",
                "1 if this filter contains all rows; 0 if it cannot yet recognize absent rows.",
                f64::from(u8::from(self.presence.is_whole())),
            ),
        ]
    }
}

/// The position of `part` between `from` (0) and the whole (1).
fn over(part: f64, from: f64) -> f64 {
    ((part - from) / (1.0 - from)).clamp(0.0, 1.0)
}
