//! How many elements have each value of a property, without the elements and without a row for
//! each.

use std::collections::BTreeMap;
use std::hash::BuildHasher;
use std::rc::Rc;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::IndexMap;
use varve_view::{Dictionary, Expand as Ask, Flow};

use super::build::Builder;
use super::child::Key;
use super::context::{Context, SharedSegments};
use super::expand::{Expand, Keys, Starts};
use super::group::{COUNTED_TOGETHER, Sizes, whole};
use super::row::Row;
use super::source::Source;
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::plan::{Counted, Expanded, Name};
use crate::{QueryError, Value};

/// Bytes of a number in a segment, and how often it is there.
const COUNT_BYTES: usize = 2 * size_of::<((u32, u32), u64)>();
/// Bytes of a neighbour besides its key, those that reading its property takes included.
const REACHED_BYTES: usize = 6 * size_of::<(u64, u64)>();

/// Counts elements by a property.
pub(crate) struct Counts {
    of: Elements,
    key: Key,
    segments: SharedSegments,
    done: bool,
}

enum Elements {
    Source(Source),
    Neighbours(Expand),
}

/// By segment and number of a value, how often it is there, in the order of first occurrence.
#[derive(Default)]
struct Tally {
    counts: IndexMap<(u32, u32), u64, rustc_hash::FxBuildHasher>,
    /// Entries that were charged.
    held: usize,
}

/// Neighbours whose property is not read yet: each once in a segment.
#[derive(Default)]
struct Reached {
    keys: Keys,
    /// By neighbour, its segment and how often it was reached.
    bulks: Vec<(u32, u64)>,
    places: HashTable<(u64, usize)>,
    hasher: foldhash::fast::RandomState,
    /// Neighbours that were charged, and the bytes of all charges.
    charged: usize,
    held: usize,
}

impl Tally {
    fn add(&mut self, segment: u32, number: u32, bulk: u64) {
        let count = self.counts.entry((segment, number)).or_default();
        *count = count.saturating_add(bulk);
    }

    /// Charges what was added since.
    fn charge(&mut self, cx: &Context<'_>) -> Result<(), QueryError> {
        let more = self.counts.len() - self.held;
        cx.meter.hold(more * COUNT_BYTES)?;
        self.held += more;
        Ok(())
    }
}

impl Reached {
    fn add(&mut self, from: &Row, key: &[u8]) {
        let hash = self.hasher.hash_one((from.segment, key));
        let Self { keys, bulks, .. } = self;
        let is = |(own, at): &(u64, usize)| {
            *own == hash && bulks[*at].0 == from.segment && keys.get(*at) == key
        };
        match self.places.entry(hash, is, |(own, _)| *own) {
            Entry::Occupied(place) => {
                let bulk = &mut bulks[place.get().1].1;
                *bulk = bulk.saturating_add(from.bulk);
            }
            Entry::Vacant(place) => {
                place.insert((hash, bulks.len()));
                bulks.push((from.segment, from.bulk));
                keys.push_with(|bytes| bytes.extend_from_slice(key));
            }
        }
    }

    /// Charges what was added since.
    fn charge(&mut self, cx: &Context<'_>) -> Result<(), QueryError> {
        let bytes = self.keys.len() * REACHED_BYTES + self.keys.bytes();
        let more = bytes.saturating_sub(self.held);
        cx.meter.hold(more)?;
        self.held += more;
        self.charged = self.keys.len();
        Ok(())
    }
}

impl Counts {
    pub(crate) fn new(
        of: &Counted,
        key: &Name,
        input: BoxedOperator,
        builder: &Builder<'_>,
    ) -> Self {
        let of = match of {
            Counted::Source(source) => Elements::Source(Source::of(source, input, builder)),
            Counted::Neighbours { direction, labels } => {
                let to = Expanded::Vertices;
                Elements::Neighbours(Expand::new(input, *direction, labels, to, builder))
            }
        };
        Self {
            of,
            key: builder.key(key),
            segments: Rc::clone(&builder.segments),
            done: false,
        }
    }

    fn count(
        &mut self,
        cx: &mut Context<'_>,
        dictionary: &mut Dictionary,
        tally: &mut Tally,
    ) -> Result<(), QueryError> {
        let property = self.key.id(cx).map(|(id, _)| id);
        match (&mut self.of, property) {
            (Elements::Source(source), Some(property)) => {
                let give = &mut |row: &Row, number| tally.add(row.segment, number, row.bulk);
                source.each_value(cx, property, dictionary, give)?;
                tally.charge(cx)
            }
            (Elements::Neighbours(expand), Some(property)) => loop {
                let mut reached = Reached::default();
                let mut more = true;
                while more && reached.keys.len() < COUNTED_TOGETHER {
                    more = reach(expand, cx, &mut reached)?;
                    reached.charge(cx)?;
                }
                let keys = reached.keys.slices();
                let mut numbers: Vec<Option<u32>> = vec![None; keys.len()];
                let found = &mut |at: usize, number| numbers[at] = Some(number);
                cx.view
                    .vertex_values(&keys, property, dictionary, cx.meter, found)?;
                for ((segment, bulk), number) in reached.bulks.iter().zip(numbers) {
                    if let Some(number) = number {
                        tally.add(*segment, number, *bulk);
                    }
                }
                tally.charge(cx)?;
                cx.meter.release(reached.held);
                if !more {
                    break Ok(());
                }
            },
            // What comes in is asked for whether or not the property is known.
            (Elements::Source(_), None) => Ok(()),
            (Elements::Neighbours(expand), None) => {
                while expand.next_from(cx, BATCH_MAX)?.is_some() {}
                Ok(())
            }
        }
    }
}

/// Walks from the vertices that come next; false when no more come.
fn reach(
    expand: &mut Expand,
    cx: &mut Context<'_>,
    reached: &mut Reached,
) -> Result<bool, QueryError> {
    let Some(Starts { rows, keys }) = expand.next_from(cx, BATCH_MAX)? else {
        return Ok(false);
    };
    let Some(labels) = expand.labels.of(cx) else {
        return Ok(true);
    };
    let ask = Ask {
        direction: expand.direction,
        labels: &labels,
        properties: &[],
    };
    let mut outcome = Ok(());
    cx.view
        .neighbours(&keys.slices(), &ask, cx.meter, &mut |at, seen| {
            reached.add(&rows[at], seen.other);
            let more = reached.keys.len() - reached.charged;
            if more >= BATCH_MAX {
                outcome = reached.charge(cx);
            }
            match outcome {
                Ok(()) => Flow::Continue(()),
                Err(_) => Flow::Break(()),
            }
        })?;
    outcome.map(|()| true)
}

impl Operator for Counts {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let (mut dictionary, mut tally) = (Dictionary::default(), Tally::default());
        self.count(cx, &mut dictionary, &mut tally)?;
        let mut sizes: BTreeMap<u32, Sizes> = BTreeMap::new();
        let data_type = self.key.id(cx).map(|(_, data_type)| data_type);
        for ((segment, number), count) in tally.counts {
            let stored = &dictionary.values()[number as usize];
            if let Some(data_type) = data_type {
                let value = Value::of_property(stored, data_type);
                sizes.entry(segment).or_default().add(value, count);
            }
        }
        cx.meter
            .release(dictionary.bytes() + tally.held * COUNT_BYTES);
        let each = self.segments.each().into_iter().map(|segment| {
            let sizes = sizes.remove(&segment).unwrap_or_default();
            let map = Value::Map(Arc::new(sizes.into_map())).bounded()?;
            Ok(whole(map, segment, cx.track))
        });
        each.collect::<Result<_, _>>().map(Some)
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        match &mut self.of {
            Elements::Source(source) => source.reset(how),
            Elements::Neighbours(expand) => expand.reset(how),
        }
    }
}
