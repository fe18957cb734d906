//! The server over real sockets: each test starts its own on a free port and speaks raw bytes to
//! it.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod algorithms;
mod authentication;
mod described;
mod driver;
mod elements;
mod fixture;
mod global;
mod gone;
mod graphs;
mod gremlin;
mod gremlin_bounds;
mod gremlin_formats;
mod gremlin_held;
mod gremlin_jobs;
mod gremlin_scripts;
mod gremlin_sessions;
mod gremlin_socket;
mod gremlin_writes;
mod harness;
mod in_place;
mod limits;
mod listings;
mod memory;
mod omrs;
mod open_graphs;
mod protocol;
mod schema;
mod sequenced;
mod sharing;
mod times;
mod traversers;
mod traversers_of_bodies;
mod traversers_of_shapes;
mod updates;
