//! Children: plans that a step runs on its input, a whole batch at once.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use varve_model::{DataType, PropertyKeyId};

use super::build::{Builder, chain};
use super::context::{Context, Segments, SharedSegments};
use super::element;
use super::row::Row;
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::plan::{By, Name, Plan};
use crate::value::Token;
use crate::{QueryError, Value};

type Queue = Rc<RefCell<VecDeque<Row>>>;

/// The input of a child's chain: gives the rows that the parent has queued.
struct Feed {
    queue: Queue,
    segments: SharedSegments,
}

impl Operator for Feed {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        cx.tick(demand.min(16))?;
        let mut queue = self.queue.borrow_mut();
        let mut rows = Vec::with_capacity(demand.min(queue.len()));
        while rows.len() < demand {
            match queue.pop_front() {
                Some(row) if self.segments.is_closed(row.segment) => {}
                Some(row) => rows.push(row),
                None => break,
            }
        }
        Ok((!rows.is_empty()).then_some(rows))
    }

    fn reset(&mut self, _: Reset) {
        self.queue.borrow_mut().clear();
    }
}

/// The plan of a child, run repeatedly.
pub(crate) struct Child {
    queue: Queue,
    chain: BoxedOperator,
    segments: SharedSegments,
}

impl Child {
    /// A child that processes each row as a segment of its own.
    pub(crate) fn local(plan: &Plan, builder: &Builder<'_>) -> Result<Self, QueryError> {
        Self::with_segments(plan, builder, Rc::new(Segments::default()))
    }

    /// A child that processes a part of its parent's stream. Only segments with a row count.
    pub(crate) fn routed(plan: &Plan, builder: &Builder<'_>) -> Result<Self, QueryError> {
        Self::with_segments(plan, builder, Rc::new(Segments::default()))
    }

    /// Begins a routed stream of `count` segments.
    pub(crate) fn begin_routed(&self, count: u32) {
        self.segments.begin_touched(count);
    }

    /// A child that processes the whole stream of its parent.
    pub(crate) fn global(plan: &Plan, builder: &Builder<'_>) -> Result<Self, QueryError> {
        Self::with_segments(plan, builder, Rc::clone(&builder.segments))
    }

    fn with_segments(
        plan: &Plan,
        builder: &Builder<'_>,
        segments: SharedSegments,
    ) -> Result<Self, QueryError> {
        let queue = Queue::default();
        let feed = Feed {
            queue: Rc::clone(&queue),
            segments: Rc::clone(&segments),
        };
        let chain = chain(plan, Box::new(feed), &builder.within(&segments))?;
        Ok(Self {
            queue,
            chain,
            segments,
        })
    }

    /// Queues rows of the parent's stream; [`Child::pull`] gives their results.
    pub(crate) fn feed(&self, rows: impl IntoIterator<Item = Row>) {
        let rows = rows.into_iter();
        let rows = rows.inspect(|row| self.segments.touch(row.segment));
        self.queue.borrow_mut().extend(rows);
    }

    /// The next results of the queued rows.
    pub(crate) fn pull(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        self.chain.next(cx, demand)
    }

    /// Resets all steps of the child.
    pub(crate) fn reset(&mut self, how: Reset) {
        self.chain.reset(how);
    }

    /// Resets the child and queues these rows, each as a segment of its own.
    pub(crate) fn begin(&mut self, rows: &[Row]) {
        self.chain.reset(Reset::All);
        #[allow(clippy::cast_possible_truncation, reason = "batches are small")]
        self.segments.begin(rows.len() as u32);
        let alone = rows.iter().enumerate().map(|(at, row)| Row {
            bulk: 1,
            #[allow(clippy::cast_possible_truncation, reason = "batches are small")]
            segment: at as u32,
            ..row.clone()
        });
        self.queue.borrow_mut().extend(alone);
    }

    /// The results for each row. The segment of a result is the index of its row; results of one
    /// row keep their order. The bulk of a result counts those of all traversers of its row.
    pub(crate) fn results(
        &mut self,
        cx: &mut Context<'_>,
        rows: &[Row],
    ) -> Result<Vec<Row>, QueryError> {
        let mut results = Vec::new();
        self.begin(rows);
        let mut held = 0;
        while let Some(mut batch) = self.pull(cx, BATCH_MAX)? {
            let bytes = batch.iter().map(Row::bytes).sum();
            cx.meter.hold(bytes)?;
            held += bytes;
            results.append(&mut batch);
        }
        cx.meter.release(held);
        // The child ran for one traverser of each row.
        for result in &mut results {
            let row = &rows[result.segment as usize];
            result.bulk = result.bulk.saturating_mul(row.bulk);
        }
        Ok(results)
    }

    /// The results for groups of rows, each group as one segment.
    pub(crate) fn over_groups(
        &mut self,
        cx: &mut Context<'_>,
        groups: impl Iterator<Item = Vec<Row>>,
    ) -> Result<Vec<Row>, QueryError> {
        self.chain.reset(Reset::All);
        let mut count = 0;
        for rows in groups {
            let segment = count;
            self.feed(rows.into_iter().map(|row| Row { segment, ..row }));
            count += 1;
        }
        self.segments.begin(count);
        let mut results = Vec::new();
        while let Some(mut batch) = self.pull(cx, BATCH_MAX)? {
            results.append(&mut batch);
        }
        Ok(results)
    }

    /// The first result for each row, once for each of its traversers.
    pub(crate) fn firsts(
        &mut self,
        cx: &mut Context<'_>,
        rows: &[Row],
    ) -> Result<Vec<Option<Row>>, QueryError> {
        self.begin(rows);
        let mut firsts: Vec<Option<Row>> = vec![None; rows.len()];
        let mut missing = rows.len();
        while missing > 0 {
            let Some(batch) = self.pull(cx, BATCH_MAX)? else {
                break;
            };
            for mut row in batch {
                let at = row.segment as usize;
                let first = &mut firsts[at];
                if first.is_none() {
                    row.bulk = rows[at].bulk;
                    missing -= 1;
                    self.segments.close(row.segment);
                    *first = Some(row);
                }
            }
        }
        Ok(firsts)
    }

    /// Whether each row has a result.
    pub(crate) fn exist(
        &mut self,
        cx: &mut Context<'_>,
        rows: &[Row],
    ) -> Result<Vec<bool>, QueryError> {
        let firsts = self.firsts(cx, rows)?;
        Ok(firsts.iter().map(Option::is_some).collect())
    }
}

/// A property key, resolved if the schema has it.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: Name,
    /// `None` if the schema has no key with this name.
    id: Option<(PropertyKeyId, DataType)>,
}

impl Key {
    pub(crate) const fn new(name: Name, id: Option<(PropertyKeyId, DataType)>) -> Self {
        Self { name, id }
    }

    /// The key's id and type, as of when the operators were built.
    pub(crate) const fn known(&self) -> Option<(PropertyKeyId, DataType)> {
        self.id
    }

    /// The key's id and type. A query that writes looks them up each time, since it may have
    /// created the key.
    pub(crate) fn id(&self, cx: &Context<'_>) -> Option<(PropertyKeyId, DataType)> {
        if cx.writer.is_none() {
            return self.id;
        }
        let key = cx.schema.property_key_named(&self.name);
        key.map(|key| (key.id, key.data_type))
    }
}

/// A `by(…)`, ready to run.
pub(crate) enum Reader {
    Identity,
    Key(Key),
    VisibleKey(Key, Child),
    Token(Token),
    Keys,
    Values,
    Child(Child),
    OrNull(Box<Reader>),
}

impl Reader {
    pub(crate) fn new(by: &By, builder: &Builder<'_>) -> Result<Self, QueryError> {
        Ok(match by {
            By::Identity => Self::Identity,
            By::Key(name) => Self::Key(builder.key(name)),
            By::VisibleKey(name, plan) => {
                Self::VisibleKey(builder.key(name), Child::local(plan, builder)?)
            }
            By::Token(token) => Self::Token(*token),
            By::Keys => Self::Keys,
            By::Values => Self::Values,
            By::Child(plan) => Self::Child(Child::local(plan, builder)?),
            By::OrNull(by) => Self::OrNull(Box::new(Self::new(by, builder)?)),
        })
    }

    /// The readers of a list of `by`; one [`Reader::Identity`] if the list is empty.
    pub(crate) fn each(bys: &[By], builder: &Builder<'_>) -> Result<Vec<Self>, QueryError> {
        match bys {
            [] => Ok(vec![Self::Identity]),
            bys => bys.iter().map(|by| Self::new(by, builder)).collect(),
        }
    }

    /// The value that this reads from each row; `None` if it has no result.
    pub(crate) fn read(
        &mut self,
        cx: &mut Context<'_>,
        rows: &[Row],
    ) -> Result<Vec<Option<Value>>, QueryError> {
        if let Self::OrNull(reader) = self {
            let read = reader.read(cx, rows)?.into_iter();
            return Ok(read.map(|value| Some(value.unwrap_or_default())).collect());
        }
        if let Self::Child(child) = self {
            let firsts = child.firsts(cx, rows)?;
            return Ok(firsts.into_iter().map(|row| Some(row?.value)).collect());
        }
        if let Self::Key(_) | Self::VisibleKey(..) | Self::Token(Token::Label) = self {
            cx.fetch_rows(rows)?;
        }
        if let Self::VisibleKey(key, visible) = self {
            let each = rows.iter();
            return each
                .map(|row| element::visible_member(cx, &row.value, key, visible))
                .collect();
        }
        rows.iter().map(|row| self.simple(cx, &row.value)).collect()
    }

    /// The value that this reads from one value, whose path is the value itself.
    pub(crate) fn read_value(
        &mut self,
        cx: &mut Context<'_>,
        value: &Value,
    ) -> Result<Option<Value>, QueryError> {
        let row = Row::start(value.clone(), cx);
        let read = self.read(cx, &[row])?;
        Ok(read.into_iter().next().flatten())
    }

    fn simple(&self, cx: &Context<'_>, value: &Value) -> Result<Option<Value>, QueryError> {
        match self {
            Self::Identity => Ok(Some(value.clone())),
            Self::Key(key) => element::member(cx, value, key),
            Self::Token(token) => element::token(cx, value, *token),
            Self::Keys => element::column(value, true).map(Some),
            Self::Values => element::column(value, false).map(Some),
            Self::Child(_) | Self::VisibleKey(..) | Self::OrNull(_) => Ok(None),
        }
    }
}
