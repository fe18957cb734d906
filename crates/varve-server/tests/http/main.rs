//! The server over real sockets: each test starts its own on a free port and speaks raw bytes to
//! it.
#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod algorithms;
mod api_tokens;
mod audit;
mod authentication;
mod bolt;
mod bolt_cut;
mod certificates;
mod changes;
mod cypher;
mod cypher_batches;
mod cypher_clients;
mod cypher_constraints;
mod cypher_profile;
mod cypher_schema;
mod cypher_system;
mod cypher_times;
mod cypher_transactions;
mod cypher_traversers;
mod described;
mod elements;
mod exact;
mod explore;
mod explore_sample;
mod explore_times;
mod fixture;
mod global;
mod gone;
mod graphs;
mod gremlin;
mod gremlin_bounds;
mod gremlin_calls;
mod gremlin_edge_ids;
mod gremlin_formats;
mod gremlin_held;
mod gremlin_jobs;
mod gremlin_loads;
mod gremlin_mimes;
mod gremlin_properties;
mod gremlin_reference;
mod gremlin_results;
mod gremlin_scripts;
mod gremlin_sessions;
mod gremlin_socket;
mod gremlin_writes;
mod in_place;
mod likeness;
mod limits;
mod listings;
mod loads;
mod memory;
mod olap;
mod omrs;
mod open_graphs;
mod outcomes;
mod protocol;
mod proxies;
mod queries;
mod revoked;
mod sasl;
mod schema;
mod sequenced;
mod sharing;
mod times;
mod tls;
mod traversers;
mod traversers_of_bodies;
mod traversers_of_shapes;
mod traversers_of_times;
mod updates;
mod visibility;
