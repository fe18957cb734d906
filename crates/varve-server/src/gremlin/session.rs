//! Sessions of a WebSocket: the state that outlives their requests.
//!
//! A session belongs to one connection and ends with it. Its requests run one after the other, in
//! the order in which they came.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use compact_str::CompactString;
use tokio::sync::Mutex;
use tokio::time::Instant;
use varve_graph::optimistic::HeldShare;
use varve_gremlin::execute::Environment;
use varve_query::QueryError;
use varve_session::budget::transactions::SessionSlot;
use varve_session::work::Work;
use varve_view::ViewError;

use super::status::Refusal;
use super::weight::{self, TooLarge};
use crate::state::AppState;

/// Bytes that the variables of one session may hold, about.
const VARIABLES_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How often the sessions of a connection are checked for old transactions within the time that a
/// transaction may be open.
const LOOKS: u32 = 10;
/// The shortest interval of these checks.
const LOOK_MIN: Duration = Duration::from_millis(10);

/// The state of a session. Only the request in work has access to it.
#[derive(Default)]
pub(super) struct Session {
    /// The variables that its scripts have set, and the bindings that they were sent.
    pub(super) environment: Environment,
    /// The uncommitted changes of its requests, as one transaction.
    pub(super) work: Option<Work>,
    /// The share of its variables in the memory of all sessions.
    share: Option<HeldShare>,
}

impl Session {
    /// Charges the variables to the budget. Restores `before` if they exceed a limit.
    pub(super) fn keep(&mut self, before: Environment) -> Result<(), QueryError> {
        let measured = weight::of_variables(&self.environment, VARIABLES_BYTES_MAX);
        let kept = match (measured, &mut self.share) {
            (Err(TooLarge), _) => Err(QueryError::Limit(format!(
                "The variables of the session would hold more than {VARIABLES_BYTES_MAX} bytes: \
                 forget some first"
            ))),
            (Ok(bytes), Some(share)) => {
                let held = share.resize(bytes);
                held.map_err(|error| QueryError::View(ViewError::from(error)))
            }
            (Ok(_), None) => Ok(()),
        };
        if kept.is_err() {
            self.environment = before;
        }
        kept
    }
}

/// The sessions of one connection.
pub(super) struct Sessions {
    state: Arc<AppState>,
    open: RefCell<HashMap<CompactString, Open>>,
    /// The time of the next check for old transactions.
    next_look: Cell<Instant>,
}

struct Open {
    session: Arc<Mutex<Session>>,
    /// When its last request ended.
    used: Cell<Instant>,
    /// Its slot among the sessions of the server.
    _place: SessionSlot,
}

impl Sessions {
    /// No sessions yet.
    pub(super) fn new(state: Arc<AppState>) -> Self {
        Self {
            state,
            open: RefCell::default(),
            next_look: Cell::new(Instant::now()),
        }
    }

    /// The session of this name, which begins with its first request.
    pub(super) fn get(&self, name: &CompactString) -> Result<Arc<Mutex<Session>>, Refusal> {
        let mut open = self.open.borrow_mut();
        if let Some(open) = open.get(name) {
            open.used.set(Instant::now());
            return Ok(Arc::clone(&open.session));
        }
        let transactions = &self.state.database().transactions;
        let Some(place) = transactions.enter() else {
            let most = transactions.sessions_max;
            return Err(Refusal::temporary(format!(
                "The server has {most} open sessions (gremlin.sessions_max): close one, or try \
                 again later"
            )));
        };
        let held = Arc::clone(transactions.held());
        let session = Arc::new(Mutex::new(Session {
            share: Some(held.share()),
            ..Session::default()
        }));
        let begun = Open {
            session: Arc::clone(&session),
            used: Cell::new(Instant::now()),
            _place: place,
        };
        open.insert(name.clone(), begun);
        Ok(session)
    }

    /// Records that a request of the session has ended.
    pub(super) fn used(&self, name: &CompactString) {
        if let Some(open) = self.open.borrow().get(name) {
            open.used.set(Instant::now());
        }
    }

    /// Ends the session once its request in work, if there is one, has ended.
    pub(super) fn close(&self, name: &CompactString) {
        self.open.borrow_mut().remove(name);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.open.borrow().is_empty()
    }

    /// Waits until a session has been without a request, or a transaction open, for too long, and
    /// ends it.
    pub(super) async fn end_idle(&self) {
        let idle = Duration::from_millis(self.state.config().gremlin.session_idle_ms);
        let first = self
            .open
            .borrow()
            .values()
            .map(|open| open.used.get())
            .min();
        let idle_at = first.unwrap_or_else(Instant::now) + idle;
        tokio::time::sleep_until(idle_at.min(self.next_look.get())).await;
        let now = Instant::now();
        if now >= self.next_look.get() {
            let age_max = self.state.database().transactions.age_max;
            self.next_look.set(now + (age_max / LOOKS).max(LOOK_MIN));
            for open in self.open.borrow().values() {
                // A request in work has its own deadline.
                if let Ok(mut session) = open.session.try_lock()
                    && let Some(work) = &mut session.work
                {
                    work.end_late(age_max);
                }
            }
        }
        self.open.borrow_mut().retain(|_, open| {
            // A request in work, or one that waits for it, has the session too.
            let is_in_use = Arc::strong_count(&open.session) > 1;
            if is_in_use {
                open.used.set(now);
            }
            is_in_use || now.duration_since(open.used.get()) < idle
        });
    }
}
