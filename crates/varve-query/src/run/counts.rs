//! Counts the elements with each value of a property, without reading the elements or making rows.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexMap;
use varve_view::Dictionary;

use super::build::Builder;
use super::child::Key;
use super::context::{Context, SharedSegments};
use super::expand::Expand;
use super::group::{COUNTED_TOGETHER, Sizes, whole};
use super::reached::Reached;
use super::row::Row;
use super::source::Source;
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::plan::{Counted, Expanded, Name};
use crate::{QueryError, Value};

/// Bytes of the count of a value in a segment.
const COUNT_BYTES: usize = 2 * size_of::<((u32, u32), u64)>();

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

/// Counts by segment and by the value's number in the dictionary, in the order of first occurrence.
#[derive(Default)]
struct Tally {
    counts: IndexMap<(u32, u32), u64, rustc_hash::FxBuildHasher>,
    /// The number of entries that have been charged.
    held: usize,
}

impl Tally {
    fn add(&mut self, segment: u32, number: u32, bulk: u64) {
        let count = self.counts.entry((segment, number)).or_default();
        *count = count.saturating_add(bulk);
    }

    /// Charges entries added since the last charge.
    fn charge(&mut self, cx: &Context<'_>) -> Result<(), QueryError> {
        let more = self.counts.len() - self.held;
        cx.meter.hold(more * COUNT_BYTES)?;
        self.held += more;
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
                while more && reached.len() < COUNTED_TOGETHER {
                    more = reached.walk(expand, cx)?;
                }
                let keys = reached.keys();
                let mut numbers: Vec<Option<u32>> = vec![None; keys.len()];
                let found = &mut |at: usize, number| numbers[at] = Some(number);
                cx.view
                    .vertex_values(&keys, property, dictionary, cx.meter, found)?;
                for (vertex, number) in reached.vertices().iter().zip(numbers) {
                    if let Some(number) = number {
                        tally.add(vertex.segment, number, vertex.bulk);
                    }
                }
                tally.charge(cx)?;
                reached.release(cx);
                if !more {
                    break Ok(());
                }
            },
            // The input is consumed even if no element can have the property.
            (Elements::Source(_), None) => Ok(()),
            (Elements::Neighbours(expand), None) => {
                while expand.next_from(cx, BATCH_MAX)?.is_some() {}
                Ok(())
            }
        }
    }
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
            let map = Value::Map(Arc::new(sizes.into_map()?)).bounded()?;
            Ok(whole(map, segment, cx))
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
