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
mod element_map;
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

/// The most rows read at once: enough for an engine to batch many keys, few enough that a `limit`
/// reads little in vain.
pub(crate) const BATCH_MAX: usize = 1_024;
/// The fewest rows read at once.
pub(crate) const BATCH_MIN: usize = 16;
/// The factor by which the batch grows each time the rows read so far did not suffice.
pub(crate) const GROWTH: usize = 4;

/// A map by ids or keys that clients choose. The hash seed is random for each process, so that a
/// client cannot construct collisions. The map has no order.
pub(crate) type SeededMap<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// A running step.
pub(crate) trait Operator {
    /// The next rows. `demand` is a hint: more rows, fewer, or an empty batch may come. `Ok(None)`:
    /// no more will come.
    fn next(&mut self, cx: &mut Context<'_>, demand: usize)
    -> Result<Option<Vec<Row>>, QueryError>;

    /// Resets this step and all steps before it, so that they can run again.
    fn reset(&mut self, how: Reset);
}

/// The reason of a reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reset {
    /// The step will process unrelated rows.
    All,
    /// The next round of a loop begins: counters restart, but `dedup` remembers the values it has
    /// seen.
    Round,
}

pub(crate) type BoxedOperator = Box<dyn Operator>;
