//! Replays a recording of a real HugeGraph server against a running server, and reports differences
//! between the answers.
//!
//! The recording (`tests/conformance/hugegraph/transcript.jsonl`) has the exchanges in their
//! original order; each depends on the ones before. [`replay`] sends them in that order to a server
//! whose graph `hugegraph` is empty. [`rules`] defines when two answers are equal. Three tables
//! beside the recording supplement it ([`tables`]).
//!
//! The key decision: no difference is silent. An exchange is equal, or it is listed with a reason,
//! or the run fails; a listed one that has become equal is reported as stale. The price is that the
//! list must be maintained as the server grows.
//!
//! This crate uses HTTP only, and of this workspace only `varve-json`. So it can test any server
//! that claims to be compatible, HugeGraph itself included.

pub mod http;
pub mod identity;
pub mod json;
pub mod replay;
pub mod report;
pub mod rules;
pub mod tables;
pub mod transcript;
pub mod walk;

/// The default recording.
pub const TRANSCRIPT: &str =
    include_str!("../../../../tests/conformance/hugegraph/transcript.jsonl");
/// The recording of the traversers, on a graph of its own.
pub const TRAVERSERS: &str =
    include_str!("../../../../tests/conformance/hugegraph/traversers.jsonl");
/// The list of known differences for [`TRAVERSERS`].
pub const TRAVERSERS_DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/traversers-differences.toml");
/// The recording with authentication on.
pub const AUTH: &str = include_str!("../../../../tests/conformance/hugegraph/auth.jsonl");
/// The list of known differences for [`AUTH`].
pub const AUTH_DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-differences.toml");
/// The changes that were made between the exchanges of [`AUTH`] and are not recorded.
pub const AUTH_COMPENSATIONS: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-compensations.toml");
/// The recording of 1.7 with authentication on; see [`transcript::in_the_terms_of_1_5`].
pub const AUTH_17: &str = include_str!("../../../../tests/conformance/hugegraph/auth-1.7.jsonl");
/// The list of known differences for [`AUTH_17`].
pub const AUTH_17_DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-1.7-differences.toml");
/// The changes that were made between the exchanges of [`AUTH_17`] and are not recorded.
pub const AUTH_17_COMPENSATIONS: &str =
    include_str!("../../../../tests/conformance/hugegraph/auth-1.7-compensations.toml");
/// The list of known differences for [`TRANSCRIPT`].
pub const DIFFERENCES: &str =
    include_str!("../../../../tests/conformance/hugegraph/differences.toml");
/// Details of requests that are not recorded in [`TRANSCRIPT`].
pub const REQUESTS: &str = include_str!("../../../../tests/conformance/hugegraph/requests.toml");
/// Replacements for exchanges of [`TRANSCRIPT`] that change the graph and are out of scope.
pub const COMPENSATIONS: &str =
    include_str!("../../../../tests/conformance/hugegraph/compensations.toml");
