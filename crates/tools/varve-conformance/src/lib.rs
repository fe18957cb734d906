//! Replays a recording of a real HugeGraph against a running server and says where the server's
//! answers differ.
//!
//! The recording (`tests/conformance/hugegraph/transcript.jsonl`) holds exchanges in the order in
//! which they were made; each depends on the ones before. [`replay`] sends them in that order to a
//! server whose graph `hugegraph` is empty, [`rules`] says when an answer counts as equal, and
//! three tables beside the recording hold what is not in it ([`tables`]).
//!
//! The key decision: a difference is never silent. An exchange is equal, or it is listed with a
//! reason, or the run fails; a listed one that has become equal is reported as stale. The price is
//! that the list must be kept up as the server grows.
//!
//! This crate speaks HTTP only, and of this workspace it uses `varve-json` alone. So it can test
//! any server that claims to be compatible, HugeGraph itself included.

pub mod http;
pub mod identity;
pub mod json;
pub mod replay;
pub mod report;
pub mod rules;
pub mod tables;
pub mod transcript;
pub mod walk;

/// The recording that is replayed unless another is given.
pub const TRANSCRIPT: &str =
    include_str!("../../../../tests/conformance/hugegraph/transcript.jsonl");
/// The recording of the traversers, on a graph of its own.
pub const TRAVERSERS: &str =
    include_str!("../../../../tests/conformance/hugegraph/traversers.jsonl");
/// The list of known differences that belongs to [`TRAVERSERS`].
pub const TRAVERSERS_DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/traversers-differences.toml");
/// The recording with authentication on.
pub const AUTH: &str = include_str!("../../../../tests/conformance/hugegraph/auth.jsonl");
/// The list of known differences that belongs to [`AUTH`].
pub const AUTH_DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-differences.toml");
/// What [`AUTH`] leaves out that was done between its exchanges.
pub const AUTH_COMPENSATIONS: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-compensations.toml");
/// The recording of 1.7 with authentication on; see [`transcript::in_the_terms_of_1_5`].
pub const AUTH_17: &str = include_str!("../../../../tests/conformance/hugegraph/auth-1.7.jsonl");
/// The list of known differences that belongs to [`AUTH_17`].
pub const AUTH_17_DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-1.7-differences.toml");
/// What [`AUTH_17`] leaves out that was done between its exchanges.
pub const AUTH_17_COMPENSATIONS: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-1.7-compensations.toml");
/// The list of known differences that belongs to [`TRANSCRIPT`].
pub const DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/differences.toml");
/// What [`TRANSCRIPT`] leaves out about its requests.
pub const REQUESTS: &str = include_str!("../../../../tests/conformance/hugegraph/requests.toml");
/// What stands in for exchanges of [`TRANSCRIPT`] that change the graph and are out of scope.
pub const COMPENSATIONS: &str =
    include_str!("../../../../tests/conformance/hugegraph/compensations.toml");
