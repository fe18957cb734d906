//! The options of the session layer, as the server's options give them.

use std::time::Duration;

use varve_session::budget::admission::Limits;
use varve_session::budget::lanes::PoolOptions;
use varve_session::budget::transactions::TransactionOptions;
use varve_session::budget::users::UserOptions;
use varve_session::database::SessionOptions;
use varve_session::principal::LoginLimits;

use super::{AuthConfig, GremlinConfig, ServerConfig};

impl ServerConfig {
    /// The limits of the budgets of requests.
    pub(crate) fn admission_limits(&self) -> Limits {
        Limits {
            reads: (self.max_reads_in_flight, self.max_read_request_bytes),
            writes: (self.max_writes_in_flight, self.max_write_request_bytes),
            waiting_max: self.max_waiting_requests,
            wait: self.admission_wait(),
            retry_after_seconds: self.retry_after_seconds,
        }
    }

    /// The sizes of the pool. `reads_wait`: its work mostly waits for a network.
    pub(crate) fn pool_options(&self, reads_wait: bool) -> PoolOptions {
        PoolOptions {
            threads: self.blocking_thread_count(reads_wait),
            queue: self.blocking_queue,
            wait: self.admission_wait(),
            retry_after_seconds: self.retry_after_seconds,
        }
    }

    /// The limits of sessions.
    pub(crate) fn session_options(&self) -> SessionOptions {
        SessionOptions {
            time_max: self.request_timeout(),
            lengthy_time_max: self.graph_change_timeout(),
            rows_max: self.max_traversal_rows,
            bytes_max: self.max_traversal_bytes as u64,
            retry_after_seconds: self.retry_after_seconds,
        }
    }

    /// The limits of logins on a machine with so many cores.
    pub(crate) fn login_limits(&self, cores: usize) -> LoginLimits {
        LoginLimits {
            at_once: match self.auth.logins_at_once {
                0 => cores / 2,
                at_once => at_once,
            },
            waiting_max: self.auth.logins_waiting_max,
            wait_max: self.admission_wait(),
            retry_after_seconds: self.retry_after_seconds,
        }
    }
}

impl AuthConfig {
    /// The limits of one user.
    pub(crate) const fn user_options(&self) -> UserOptions {
        UserOptions {
            in_flight_max: self.user_requests_in_flight,
            requests_per_second: self.user_requests_per_second,
            query_bytes_max: self.user_query_bytes_max,
        }
    }
}

impl GremlinConfig {
    /// The limits of transactions.
    pub(crate) const fn transaction_options(&self) -> TransactionOptions {
        TransactionOptions {
            elements_max: self.transaction_elements_max,
            bytes_max: self.transaction_bytes_max,
            held_bytes_max: self.held_bytes_max,
            age_max: Duration::from_millis(self.transaction_ms),
            sessions_max: self.sessions_max,
        }
    }
}
