//! HugeGraph's traversers and graph algorithms over the graph view.
//!
//! A [`Search`] assigns a dense number to every vertex that a request meets, so visited sets are
//! bitmaps and paths are lists of numbers. Each traverser is a function over a search. Where
//! HugeGraph's results are wrong or random, the traversers follow the definition;
//! `docs/compatibility.md` lists each difference.

pub mod algorithms;
pub mod between;
mod capacity;
pub mod count;
pub mod crosspoints;
pub mod customized;
mod error;
pub mod fusiform;
mod keys;
pub mod neighbourhood;
mod path;
pub mod paths;
pub mod projection;
pub mod ranks;
pub mod rings;
mod search;
pub mod shortest;
pub mod similarity;
mod step;
pub mod template;
mod tree;
mod walks;
pub mod weighted;

pub use capacity::Capacity;
pub use error::TraversalError;
pub use path::{Parallel, Path, Stepped, edges_of, edges_of_steps, path_bytes};
pub use projection::{Adjacency, Node, Projection, ProjectionAsk};
pub use search::{Hop, Measure, Search, VertexNumber};
pub use step::{EdgeFilter, Step, VertexFilter};
pub use tree::{Reached, Tree};
