//! The values of one property of each neighbour, without the neighbours.
//!
//! A neighbour is represented by its key until its property is read. No id is decoded and no
//! element is made.

use std::collections::hash_map::Entry;

use smallvec::SmallVec;
use varve_model::many::values_of;
use varve_view::{Expand as Ask, Flow, Neighbour};

use super::child::Key;
use super::context::Context;
use super::expand::{Expand, Keys, Starts};
use super::fused::VertexKey;
use super::row::{Row, Track};
use super::{BATCH_MAX, Operator, Reset, SeededMap};
use crate::{QueryError, Value};

/// Walks the edges of the input vertices, and gives a property of each neighbour.
pub(crate) struct NeighbourValues {
    expand: Expand,
    key: Key,
    merges: bool,
    /// Charged bytes of the batch that was given last.
    held: usize,
}

/// Neighbours whose property has not been read yet.
#[derive(Default)]
struct Reached {
    keys: Keys,
    /// The rows of the neighbours, with null values.
    rows: Vec<Row>,
    /// The position of each neighbour's row, if equal neighbours are merged.
    places: SeededMap<(u32, VertexKey), usize>,
}

impl Reached {
    /// Adds a neighbour of a row. Returns whether it needed a new row.
    fn add(&mut self, from: &Row, seen: &Neighbour<'_>, merges: bool) -> bool {
        if merges && from.sack.is_none() && from.path.is_none() {
            let key = (from.segment, VertexKey::from_slice(seen.other));
            match self.places.entry(key) {
                Entry::Occupied(place) => {
                    let bulk = &mut self.rows[*place.get()].bulk;
                    *bulk = bulk.saturating_add(from.bulk);
                    return false;
                }
                Entry::Vacant(place) => {
                    place.insert(self.rows.len());
                }
            }
        }
        self.keys
            .push_with(|bytes| bytes.extend_from_slice(seen.other));
        self.rows.push(from.at(Value::Null, Track::Nothing));
        true
    }
}

impl NeighbourValues {
    pub(crate) const fn new(expand: Expand, key: Key, merges: bool) -> Self {
        Self {
            expand,
            key,
            merges,
            held: 0,
        }
    }

    /// Adds the neighbours of the next input vertices. Returns false when the input has ended.
    fn reach(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
        reached: &mut Reached,
    ) -> Result<bool, QueryError> {
        let Some(Starts { rows, keys }) = self.expand.next_from(cx, demand)? else {
            return Ok(false);
        };
        let Some(labels) = self.expand.labels.of(cx) else {
            return Ok(true);
        };
        let ask = Ask {
            direction: self.expand.direction,
            labels: &labels,
            properties: &[],
        };
        let before = reached.rows.len();
        let (meter, merges) = (cx.meter, self.merges);
        let mut outcome = Ok(());
        cx.view
            .neighbours(&keys.slices(), &ask, meter, &mut |at, seen| {
                if outcome.is_ok() {
                    let is_new = reached.add(&rows[at], seen, merges);
                    let more = reached.rows.len() - before;
                    if is_new && more.is_multiple_of(BATCH_MAX) {
                        outcome = meter.hold(BATCH_MAX * Row::BYTES);
                    }
                }
                match outcome {
                    Ok(()) => Flow::Continue(()),
                    Err(_) => Flow::Break(()),
                }
            })?;
        outcome?;
        let more = reached.rows.len() - before;
        meter.hold(more % BATCH_MAX * Row::BYTES)?;
        self.held += more * Row::BYTES;
        Ok(true)
    }

    /// Reads the property. Returns a row for each of its values, in the order of the neighbours.
    fn read(&self, cx: &Context<'_>, reached: Reached) -> Result<Vec<Row>, QueryError> {
        let Some((id, data_type)) = self.key.id(cx) else {
            return Ok(Vec::new());
        };
        let mut values: Vec<SmallVec<[Value; 1]>> = vec![SmallVec::new(); reached.rows.len()];
        let mut found = |at: usize, _, properties: varve_model::Properties| {
            let each = values_of(properties.get(id));
            let each = each.map(|one| Value::of_property(one.value, data_type));
            values[at] = each.collect();
        };
        cx.view
            .vertices(&reached.keys.slices(), &[id], cx.meter, &mut found)?;
        let rows = reached.rows.into_iter().zip(values);
        let with = |(row, values): (Row, SmallVec<[Value; 1]>)| {
            let each = values.into_iter();
            each.map(move |value| Row {
                value,
                ..row.clone()
            })
        };
        Ok(rows.flat_map(with).collect())
    }
}

impl Operator for NeighbourValues {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        cx.meter.release(std::mem::take(&mut self.held));
        let mut reached = Reached::default();
        if !self.reach(cx, demand, &mut reached)? {
            return Ok(None);
        }
        self.read(cx, reached).map(Some)
    }

    fn reset(&mut self, how: Reset) {
        self.expand.reset(how);
    }
}
