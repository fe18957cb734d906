//! Which (edge label, source) entries were put into the index lately, so that they are not put again with every edge.

use parking_lot::Mutex;
use rustc_hash::FxHashSet;

use super::PairHash;

/// Pairs remembered; 16 bytes each and some. Over it all are forgotten.
const PAIRS_MAX: usize = 1 << 17;

/// The pairs that a graph's newest commits put. Shared with commits on their way: those must not hold their graph, whose
/// last handle would then go on the committer's own thread.
#[derive(Debug, Default)]
pub(crate) struct KnownPairs(Mutex<FxHashSet<PairHash>>);

impl KnownPairs {
    /// Whether the entry of that hash is stored for certain.
    pub(crate) fn contain(&self, hash: PairHash) -> bool {
        self.0.lock().contains(&hash)
    }

    /// Remembers entries that are stored now.
    pub(crate) fn remember(&self, hashes: FxHashSet<PairHash>) {
        let mut pairs = self.0.lock();
        if pairs.len() + hashes.len() > PAIRS_MAX {
            pairs.clear();
        }
        pairs.extend(hashes);
    }
}
