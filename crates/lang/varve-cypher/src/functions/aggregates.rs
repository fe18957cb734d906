//! Aggregates.

mod collect;
mod numeric;
mod percentile;

use std::collections::HashSet;
use std::fmt;

use foldhash::fast::RandomState;

use super::{Returns, Types};
use crate::error::Outcome;
use crate::value::{Graph, Key, Value, order};

/// Collects the values of one group.
pub(crate) trait Accumulator: Send {
    /// Adds a value that so many rows have. Nulls are ignored.
    ///
    /// # Errors
    /// When the value has a wrong type, an integer overflows, or the query needs too much memory.
    fn add(&mut self, value: &Value, times: u64, graph: &Graph<'_>) -> Outcome<()>;

    /// The result.
    ///
    /// # Errors
    /// When an integer overflows.
    fn finish(self: Box<Self>) -> Outcome<Value>;
}

/// An aggregate.
#[derive(Debug)]
pub(crate) struct Aggregate {
    /// The name as it is documented, such as `percentileCont`.
    pub(crate) name: &'static str,
    /// The types that each parameter takes; all are required. The first is the value of a row, the
    /// others are of the group.
    pub(crate) parameters: &'static [Types],
    /// The type of the result.
    pub(crate) returns: Returns,
    kind: AggregateKind,
}

/// The aggregates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AggregateKind {
    Count,
    Sum,
    Average,
    Least,
    Greatest,
    Collect,
    /// Standard deviation; of a sample, or of the population.
    Deviation {
        sample: bool,
    },
    Percentile {
        continuous: bool,
    },
}

const fn aggregate(
    name: &'static str,
    parameters: &'static [Types],
    returns: Returns,
    kind: AggregateKind,
) -> Aggregate {
    Aggregate {
        name,
        parameters,
        returns,
        kind,
    }
}

const ANY: &[Types] = &[Types::ANY];
const ADDED: &[Types] = &[Types::NUMBER.or(Types::DURATION)];
const NUMBER: &[Types] = &[Types::NUMBER];
const NUMBERS: &[Types] = &[Types::NUMBER, Types::NUMBER];
const FLOAT: Returns = Returns::One(Types::FLOAT);
const INTEGER: Returns = Returns::One(Types::INTEGER);
const MEAN: Returns = Returns::One(Types::FLOAT.or(Types::DURATION));
const SAMPLE: AggregateKind = AggregateKind::Deviation { sample: true };
const POPULATION: AggregateKind = AggregateKind::Deviation { sample: false };
const CONTINUOUS: AggregateKind = AggregateKind::Percentile { continuous: true };
const DISCRETE: AggregateKind = AggregateKind::Percentile { continuous: false };

pub(super) const TABLE: &[Aggregate] = &[
    aggregate("count", ANY, INTEGER, AggregateKind::Count),
    aggregate("sum", ADDED, Returns::Argument(0), AggregateKind::Sum),
    aggregate("avg", ADDED, MEAN, AggregateKind::Average),
    aggregate("min", ANY, Returns::Argument(0), AggregateKind::Least),
    aggregate("max", ANY, Returns::Argument(0), AggregateKind::Greatest),
    aggregate(
        "collect",
        ANY,
        Returns::ListOf(Types::ANY),
        AggregateKind::Collect,
    ),
    aggregate("stDev", NUMBER, FLOAT, SAMPLE),
    aggregate("stDevP", NUMBER, FLOAT, POPULATION),
    aggregate("percentileCont", NUMBERS, FLOAT, CONTINUOUS),
    aggregate("percentileDisc", NUMBERS, Returns::Argument(0), DISCRETE),
];

impl Aggregate {
    /// A group without values yet. `extra` has the arguments after the first. `count(*)` is `count`
    /// of a value that is never null.
    ///
    /// # Errors
    /// When an extra argument has a wrong type or is out of range.
    pub(crate) fn start(&self, distinct: bool, extra: &[Value]) -> Outcome<Box<dyn Accumulator>> {
        let inner: Box<dyn Accumulator> = match self.kind {
            AggregateKind::Count => Box::new(Count(0)),
            AggregateKind::Sum => Box::new(numeric::Sum::default()),
            AggregateKind::Average => Box::new(numeric::Average::default()),
            AggregateKind::Least => Box::new(Extreme::new(false)),
            AggregateKind::Greatest => Box::new(Extreme::new(true)),
            AggregateKind::Collect => Box::new(collect::Collect::default()),
            AggregateKind::Deviation { sample } => Box::new(numeric::Deviation::new(sample)),
            AggregateKind::Percentile { continuous } => {
                Box::new(percentile::Percentile::new(continuous, extra.first())?)
            }
        };
        Ok(match distinct {
            true => Box::new(Distinct {
                inner,
                seen: HashSet::default(),
            }),
            false => inner,
        })
    }
}

impl fmt::Debug for dyn Accumulator {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Accumulator")
    }
}

/// Passes each value on once.
struct Distinct {
    inner: Box<dyn Accumulator>,
    seen: HashSet<Key, RandomState>,
}

impl Accumulator for Distinct {
    fn add(&mut self, value: &Value, _: u64, graph: &Graph<'_>) -> Outcome<()> {
        if value.is_null() || !self.seen.insert(Key(value.clone())) {
            return Ok(());
        }
        self.inner.add(value, 1, graph)
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        self.inner.finish()
    }
}

struct Count(u64);

impl Accumulator for Count {
    fn add(&mut self, value: &Value, times: u64, _: &Graph<'_>) -> Outcome<()> {
        if !value.is_null() {
            self.0 = self.0.saturating_add(times);
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        Ok(Value::Integer(i64::try_from(self.0).unwrap_or(i64::MAX)))
    }
}

/// `min` and `max`, in the total order.
struct Extreme {
    greatest: bool,
    best: Value,
}

impl Extreme {
    const fn new(greatest: bool) -> Extreme {
        Extreme {
            greatest,
            best: Value::Null,
        }
    }
}

impl Accumulator for Extreme {
    fn add(&mut self, value: &Value, _: u64, _: &Graph<'_>) -> Outcome<()> {
        if value.is_null() {
            return Ok(());
        }
        let better = self.best.is_null() || {
            let order = order(value, &self.best);
            if self.greatest {
                order.is_gt()
            } else {
                order.is_lt()
            }
        };
        if better {
            self.best = value.clone();
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Outcome<Value> {
        Ok(self.best)
    }
}
