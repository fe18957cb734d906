//! Runs plans: operators that pull rows in batches from the operator before them.

mod analysis;
mod branch;
mod build;
mod call;
mod child;
mod context;
mod counts;
mod each;
mod effect;
mod element;
mod expand;
mod filter;
mod format;
mod fused;
mod group;
mod map;
mod math;
mod neighbour_values;
mod profile;
mod query;
mod range;
mod reached;
mod reduce;
mod repeat;
mod row;
mod sack;
mod source;
mod subgraph;
mod towards;
mod write;

use context::Context;
use row::Row;

use crate::QueryError;

pub use query::{Query, QueryOptions};

/// Rows that are read at once at most: enough for an engine to answer many keys in one go, and few
/// enough that a `limit` does not read much in vain.
pub(crate) const BATCH_MAX: usize = 1_024;
/// Rows that are read at once at least.
pub(crate) const BATCH_MIN: usize = 16;
/// How many times more rows are read each time that those read so far did not suffice.
pub(crate) const GROWTH: usize = 4;

/// A map by ids or keys that clients choose: its hashes are seeded in each process, so that nobody
/// can choose ids whose hashes fall together. It has no order.
pub(crate) type SeededMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A step that runs.
pub(crate) trait Operator {
    /// The next rows, of which about `demand` are needed; they may be more, or fewer, or none.
    /// `Ok(None)`: no more will come.
    fn next(&mut self, cx: &mut Context<'_>, demand: usize)
    -> Result<Option<Vec<Row>>, QueryError>;

    /// Forgets everything, here and before, so that the step can be used again.
    fn reset(&mut self, how: Reset);
}

/// Why a step is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    /// For other rows, which have nothing to do with those before.
    All,
    /// For the next round of a loop: counters begin anew, what was seen stays seen.
    Round,
}

pub(crate) type BoxedOperator = Box<dyn Operator>;
