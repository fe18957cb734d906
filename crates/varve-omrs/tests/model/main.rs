//! A naive repository, written from the contract, to compare the repository with; and tests of it by itself.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed, helpers of tests too"
)]
#![allow(
    clippy::large_enum_variant,
    reason = "instances are large, and a test need not be fast"
)]
#![allow(dead_code, reason = "the comparison will use what the tests do not")]

mod call;
mod naive;
