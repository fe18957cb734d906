//! Tests of whole queries: against brute force, page by page, and refusals as recorded.

mod differential;
mod refusals;
mod world;
