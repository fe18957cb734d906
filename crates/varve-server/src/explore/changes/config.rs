//! The section `changes` of the configuration.

use crate::section;

section! {
    /// The options of `GET …/changes`.
    pub struct ChangesConfig {
        /// Followers of all graphs together: streams of events, and calls that wait. Further ones
        /// are answered 503.
        followers_max: usize = 4_000,
        /// Followers of one user or, without authentication, of one address (of IPv6: of one /64
        /// network). Further ones are answered 429. 0 is no limit; loopback addresses have none.
        followers_per_client_max: usize = 100,
        /// Reads of changes that run at once, so that followers that one commit wakes do not delay
        /// other reads. Further ones wait, at most until the request's deadline. A call without
        /// `wait` waits for `server.admission_wait_ms`, then it is answered 503.
        reads_max: usize = 16,
        /// Milliseconds that one read of changes may take, at most half of the time that is left
        /// until the request's deadline. After it the answer contains the changes so far and a
        /// cursor.
        read_ms: u64 = 2_000,
    }
}
