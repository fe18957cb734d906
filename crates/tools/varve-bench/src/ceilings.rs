//! Measures Varve against its ceilings, the bare engine and the bare HTTP server, and the cost of
//! history, volume and graph algorithms.

pub(crate) mod algorithms;
pub(crate) mod bare;
mod client;
pub(crate) mod history;
pub(crate) mod limits;
mod quiet;
mod recording;
mod server;
pub(crate) mod volume;
mod workload;
