//! Two steps from one node in opposite directions, read together.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::Direction as Walked;

use super::{Batch, Cx, Found, Reading, Steps, visit};
use crate::error::Outcome;
use crate::filters::{LabelFilter, Types};
use crate::plan::Expand;
use crate::run::matching::walked;
use crate::value::Node;

/// Follows the relationships of the rows' nodes in one direction, then, from the same nodes, those
/// in the other. A store keeps those of a node together, so that the nodes of a scan are read in
/// one pass.
pub(in crate::run) fn expand_both(cx: Cx<'_>, both: &[Expand; 2], batch: &Batch) -> Outcome<Batch> {
    let [first, second] = both;
    let types = Types::new(first.types.as_ref(), cx.graph().schema);
    if types.is_none {
        return Ok(Batch::new(batch.width()));
    }
    let steps = Steps::of(first, batch)?;
    let [firsts, seconds] = read(cx, both, &types, &steps.nodes)?;
    let firsts: Vec<_> = firsts.into_iter().map(|one| Some(Rc::new(one))).collect();
    let between = steps.rows(&firsts)?;
    let nodes = steps.nodes.iter().map(|node| Arc::as_ptr(node));
    let seconds: HashMap<*const Node, Rc<Found>, foldhash::fast::RandomState> =
        nodes.zip(seconds.into_iter().map(Rc::new)).collect();
    let later = Steps::of(second, &between)?;
    let of_node = |node: &&Arc<Node>| seconds.get(&Arc::as_ptr(node)).cloned();
    let found: Vec<_> = later.nodes.iter().map(of_node).collect();
    later.rows(&found)
}

/// Reads the steps of both kinds from some nodes.
fn read(
    cx: Cx<'_>,
    both: &[Expand; 2],
    types: &Types<'_>,
    nodes: &[&Arc<Node>],
) -> Outcome<[Vec<Found>; 2]> {
    let [first, second] = both;
    let schema = cx.graph().schema;
    let mut labels = [first, second].map(|one| LabelFilter::new(one.to_labels.as_ref()));
    let mut reading = [Reading::new(nodes.len()), Reading::new(nodes.len())];
    let goes_out = walked(first.direction) == Some(Walked::Out);
    let visited = visit(cx, (None, types), nodes, |at, seen| {
        let number = usize::from((seen.direction == Walked::Out) != goes_out);
        if !labels[number].holds(schema, seen.other_label) {
            return Ok(());
        }
        // The second relationship can only be the first if it is a loop.
        let may_repeat = number == 1 && !second.unlike.is_empty() && *seen.other == *nodes[at].key;
        reading[number].add(cx, at, (&both[number], nodes[at]), (seen, may_repeat))
    });
    let found = reading.map(|one| one.finish(cx));
    visited.map(|()| found)
}
