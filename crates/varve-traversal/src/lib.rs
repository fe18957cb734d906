//! HugeGraph's traversers and graph algorithms over the graph view.
//!
//! A [`Search`] gives every vertex that a request meets a dense number, so visited sets are bits and
//! paths are lists of numbers. Each traverser is a function over a search. Where HugeGraph's own
//! answers are wrong or depend on chance, these follow the definition; `docs/compatibility.md` lists
//! each difference.

pub mod algorithms;
mod capacity;
mod error;
mod keys;
pub mod neighbourhood;
mod path;
pub mod paths;
pub mod projection;
mod search;
pub mod shortest;
pub mod similarity;
mod step;
mod tree;
pub mod weighted;

pub use capacity::Capacity;
pub use error::TraversalError;
pub use path::{Parallel, Path, edges_of, path_bytes};
pub use projection::{Adjacency, Node, Projection, ProjectionAsk};
pub use search::{Hop, Measure, Search, VertexNumber};
pub use step::{EdgeFilter, Step, VertexFilter};
pub use tree::{Reached, Tree};
