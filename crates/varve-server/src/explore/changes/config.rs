//! The section `changes` of the configuration.

use crate::section;

section! {
    /// The options of `GET …/changes`.
    pub struct ChangesConfig {
        /// Followers of all graphs together: streams of events, and calls that wait. One more is
        /// answered 503.
        followers_max: usize = 4_000,
        /// Followers of one user or, without authentication, of one address (of IPv6: of one /64
        /// network). One more is answered 429. 0: no limit; loopback addresses have none.
        followers_per_client_max: usize = 100,
        /// Reads of changes at once. Those of further followers wait for their turn, until the
        /// request's deadline at most: so followers that a commit wakes together do not displace
        /// other reads. A call without `wait` waits `server.admission_wait_ms`, then it gets 503.
        reads_max: usize = 16,
        /// Milliseconds that one read of changes may take, at most half of the time to the
        /// request's deadline. Then the answer has the changes so far and a cursor.
        read_ms: u64 = 2_000,
    }
}
