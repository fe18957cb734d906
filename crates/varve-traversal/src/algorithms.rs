//! Graph algorithms over a [`Projection`](crate::Projection): exact and deterministic.
//!
//! Each is a function of a projection, its parameters and a meter. It checks the deadline and the
//! cancel token while it runs, and charges its arrays to the meter. Parallel edges count
//! separately, unless the algorithm is documented to use the **simple graph**: one edge for each
//! pair of different vertices that an edge joins.

mod centrality;
mod cohesion;
mod communities;
mod components;
mod count;
mod louvain;
mod pace;
mod paths;
mod rank;
mod rings;

pub use centrality::{Betweenness, Closeness, betweenness, closeness, degree, sampled, stress};
pub use cohesion::{Triangles, core_numbers, triangles};
pub use communities::{Communities, label_propagation};
pub use components::{Components, groups, strong, weak};
pub use count::{Counts, count_edges, count_vertices};
pub use louvain::{Louvain, LouvainAsk, louvain, modularity};
pub use paths::{UNREACHED, distances, hops};
pub use rank::{PageRank, Ranks, eigenvector, page_rank};
pub use rings::{Rings, rings};
