//! The transactions that clients have begun over HTTP, where no connection owns them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use varve_auth::Account;
use varve_model::TemporalScope;
use varve_session::budget::transactions::TransactionLimits;
use varve_session::{Failure, Identity};
use varve_view::ErrorKind;

use super::failure::no_transaction;
use super::transaction::Transaction;
use crate::state::AppState;

/// The share of all sessions and transactions that one user's transactions over HTTP may be.
const USER_SHARE: usize = 4;

/// The open transactions, by their ids.
#[derive(Default)]
pub(crate) struct OpenTransactions {
    open: Mutex<HashMap<String, Open>>,
    /// Tells [`end_late`] that there is one.
    begun: Notify,
}

/// A transaction, and who may use it.
struct Open {
    graph: String,
    owner: Option<Account>,
    /// When it is rolled back, unless it ends before.
    until: Instant,
    /// `None` while a request uses it.
    taken: Option<Taken>,
}

/// A transaction that a request uses.
pub(super) struct Taken {
    pub(super) own: Transaction,
    /// Whether its client has begun it for reading.
    pub(super) is_read: bool,
    /// The times that its statements read, unless a request names others.
    pub(super) scope: TemporalScope,
}

fn account(identity: &Identity) -> Option<Account> {
    identity.user().map(|user| Account {
        id: user.id.clone(),
        created: user.created,
    })
}

impl OpenTransactions {
    /// Makes room for a new transaction of a client, which uses it at once. Returns its id.
    ///
    /// # Errors
    /// [`ErrorKind::Busy`] when the user has too many: no connection bounds these.
    pub(super) fn add(
        &self,
        graph: &str,
        identity: &Identity,
        limits: &TransactionLimits,
    ) -> Result<String, Failure> {
        let id = format!("{:032x}", crate::gremlin::request_id());
        let open = Open {
            graph: graph.to_owned(),
            owner: account(identity),
            until: Instant::now() + limits.age_max,
            taken: None,
        };
        let mut all = self.open.lock();
        let most = (limits.sessions_max / USER_SHARE).max(1);
        let is_own = |other: &&Open| other.owner == open.owner;
        if open.owner.is_some() && all.values().filter(is_own).count() >= most {
            let message = format!(
                "The user has {most} open transactions over HTTP (gremlin.sessions_max / {USER_SHARE})"
            );
            return Err(Failure::new(ErrorKind::Busy, message));
        }
        all.insert(id.clone(), open);
        drop(all);
        self.begun.notify_one();
        Ok(id)
    }

    /// Takes a client's transaction for a request.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if the client has none of this id on the graph;
    /// [`ErrorKind::InvalidArgument`] while another request uses it.
    pub(super) fn take(
        &self,
        (id, graph): (&str, &str),
        identity: &Identity,
    ) -> Result<Taken, Failure> {
        let mut all = self.open.lock();
        let open = all.get_mut(id);
        let open = open.filter(|open| open.graph == graph && open.owner == account(identity));
        let open = open.ok_or_else(|| no_transaction(id))?;
        open.taken.take().ok_or_else(|| {
            let message = format!("Another request uses the transaction '{id}'");
            Failure::new(ErrorKind::InvalidArgument, message)
        })
    }

    /// Gives a transaction back after a request, unless it was open for too long.
    pub(super) fn keep(&self, id: &str, taken: Taken) {
        if let Some(open) = self.open.lock().get_mut(id) {
            open.taken = Some(taken);
        }
    }

    /// Forgets a transaction that has ended.
    pub(super) fn remove(&self, id: &str) {
        self.open.lock().remove(id);
    }

    /// The time before a transaction is too old.
    pub(super) fn left(&self, id: &str) -> Duration {
        let until = self.open.lock().get(id).map(|open| open.until);
        until.map_or(Duration::ZERO, |until| {
            until.saturating_duration_since(Instant::now())
        })
    }

    /// Ends those that are too old; what a request uses ends with the request. Returns the time
    /// before the next one is too old; `None` if there is none.
    fn end_old(&self) -> Option<Duration> {
        let now = Instant::now();
        let mut all = self.open.lock();
        let old: Vec<_> = all.extract_if(|_, open| open.until <= now).collect();
        let left = all.values().map(|open| open.until).min();
        drop(all);
        // Their views are given up without the lock.
        drop(old);
        left.map(|until| until.saturating_duration_since(now))
    }
}

/// Ends, for as long as the server runs, the transactions that are open for too long: their views
/// keep old states of the graphs in memory.
pub(crate) async fn end_late(state: &AppState) {
    let transactions = state.feature::<OpenTransactions>();
    loop {
        match transactions.end_old() {
            Some(left) => tokio::time::sleep(left).await,
            None => transactions.begun.notified().await,
        }
    }
}
