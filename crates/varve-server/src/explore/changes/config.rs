//! The options of those who follow changes.

use crate::section;

section! {
    /// The options of `GET …/changes`.
    pub struct ChangesConfig {
        /// Readers that may follow changes at once, over all graphs: streams of events, and calls
        /// that wait. One more is answered 503.
        followers_max: usize = 4_000,
        /// The same of one user or, without authentication, of one address (of IPv6: of one /64
        /// network). One more is answered 429. 0 is no limit; this machine's own addresses have
        /// none.
        followers_per_client_max: usize = 100,
        /// Milliseconds that one look for changes may take, and at most half of what is left of the
        /// request's time. Then the answer has what was found, and where to go on.
        look_ms: u64 = 2_000,
    }
}
