//! Fills the presence filter of a space that was not empty when it was opened: reads all keys once,
//! in the background.
//!
//! The first insert starts it, so a server that only reads does not load the cluster with it. Rows
//! that are put meanwhile are added by their writers, so pages need not contain them.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use scylla::response::PagingState;
use scylla::statement::prepared::PreparedStatement;
use varve_kv::TableId;

use crate::cluster::Use;
use crate::core::Core;
use crate::failure::{Failure, unreadable};
use crate::full::given_partition;
use crate::statements::quoted;

/// Keys of a page.
const PAGE_KEYS: i32 = 2_000;
/// Consecutive failures after which the task gives up; inserts then read their rows.
const TRIES: u32 = 10;
/// The wait after a failure.
const AGAIN: Duration = Duration::from_secs(5);

/// The position of the scan: the table, and the next page in it.
#[derive(Default)]
struct LearnPosition {
    table: usize,
    page: Option<(PreparedStatement, PagingState)>,
}

impl Core {
    /// Reads the keys of all probed tables page by page, with pauses, once a row is inserted.
    pub(crate) async fn learn(core: Weak<Self>) {
        let Some(wanted) = core.upgrade().map(|this| Arc::clone(&this.known.wanted)) else {
            return;
        };
        wanted.notified().await;
        let mut place = LearnPosition::default();
        let mut failures = 0;
        loop {
            let Some(this) = core.upgrade() else { return };
            if this.known.has_given_up() {
                return;
            }
            if this.lease.lost_to().is_some() {
                // Another process writes rows that this one does not know.
                return this.known.give_up();
            }
            let asked = Instant::now();
            let pause = match this.learn_page(&mut place).await {
                Ok(true) => {
                    let rows = this.known.rows();
                    this.known.learnt();
                    if this.known.is_whole() {
                        tracing::info!(space = %this.name, rows, "the row keys are in memory");
                    }
                    return;
                }
                Ok(false) => {
                    failures = 0;
                    asked.elapsed()
                }
                Err(failure) => {
                    failures += 1;
                    if failures >= TRIES || failure.for_good() {
                        let failure = failure.text();
                        tracing::warn!(space = %this.name, failure, "the row keys could not be read: each insert reads whether its rows exist");
                        return this.known.give_up();
                    }
                    AGAIN
                }
            };
            drop(this);
            tokio::time::sleep(pause).await;
        }
    }

    /// Adds the keys of one page. Returns whether all tables have been read.
    async fn learn_page(&self, place: &mut LearnPosition) -> Result<bool, Failure> {
        let Some(spec) = self.specs.get(place.table) else {
            return Ok(true);
        };
        if spec.probed.is_none() {
            place.table += 1;
            return Ok(false);
        }
        if self.known.is_full() {
            let full = "there are more than are kept".to_owned();
            return Err(Failure::Refused(full));
        }
        let (statement, from) = match &place.page {
            Some(page) => page.clone(),
            None => {
                let select = format!("SELECT p, c FROM {}", quoted(&self.keyspace, spec.name));
                let mut select = self.cluster.prepare(&select, Use::Read).await?;
                select.set_page_size(PAGE_KEYS);
                (select, PagingState::start())
            }
        };
        let page = self.cluster.page(&statement, (), from).await?;
        let table = TableId(u8::try_from(place.table).unwrap_or(u8::MAX));
        let rows = page.rows.rows::<(&[u8], &[u8])>().map_err(unreadable)?;
        for row in rows {
            let (partition, clustering) = row.map_err(unreadable)?;
            let partition = given_partition(&self.source, table, partition);
            self.known.add_row(table, partition, clustering);
        }
        place.page = page.next.map(|next| (statement, next));
        if place.page.is_none() {
            place.table += 1;
        }
        Ok(false)
    }
}
