//! Steps that need all rows: order, groups, samples.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use super::child::{Child, Reader};
use super::context::{Context, SharedSegments};
use super::row::{Row, counted, merged};
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::plan::{By, Fused, Op, Ordering, Plan, Reduce, Scope};
use crate::value::{ValueMap, sort};
use crate::{QueryError, Value};

/// Elements whose key is read together.
pub(crate) const COUNTED_TOGETHER: usize = 65_536;
/// Bytes of a group and its count, without the heap of its key.
const GROUP_BYTES: usize = 2 * size_of::<(Value, u64, u64)>();

/// Sort keys, most significant first.
pub(crate) type Sorting = Vec<(Reader, Ordering)>;

/// Sorts the rows of one segment. Rows without a value for some key are dropped.
pub(crate) fn sorted(
    cx: &mut Context<'_>,
    sorting: &mut Sorting,
    rows: Vec<Row>,
) -> Result<Vec<Row>, QueryError> {
    let mut rows = rows;
    let mut keys: Vec<Vec<Option<Value>>> = Vec::with_capacity(sorting.len());
    let mut held = 0;
    let mut shuffled = false;
    for (reader, ordering) in sorting.iter_mut() {
        shuffled |= *ordering == Ordering::Shuffled;
        let mut read = reader.read(cx, &rows)?;
        for key in read.iter().flatten() {
            held += cx.hold_key(key)?;
        }
        // A row that is dropped is not read by the later ones: they may not apply to it.
        if read.iter().any(Option::is_none) {
            let has: Vec<bool> = read.iter().map(Option::is_some).collect();
            keep_where(&mut rows, &has);
            keys.iter_mut().for_each(|own| keep_where(own, &has));
            keep_where(&mut read, &has);
        }
        keys.push(read);
    }
    let ways: Vec<Ordering> = sorting.iter().map(|(_, ordering)| *ordering).collect();
    let mut places: Vec<usize> = (0..rows.len()).collect();
    if shuffled {
        for at in (1..places.len()).rev() {
            let other = cx.random.below(at + 1);
            places.swap(at, other);
        }
    }
    let places = sort(places, |a, b| {
        let mut each = keys.iter().zip(&ways);
        let first = each.find_map(|(key, way)| {
            let (a, b) = (key[*a].as_ref()?, key[*b].as_ref()?);
            let order = match way {
                Ordering::Ascending => a.order(b),
                Ordering::Descending => b.order(a),
                Ordering::Shuffled => std::cmp::Ordering::Equal,
            };
            order.is_ne().then_some(order)
        });
        first.unwrap_or(std::cmp::Ordering::Equal)
    });
    cx.meter.release(held);
    let mut rows: Vec<Option<Row>> = rows.into_iter().map(Some).collect();
    Ok(places
        .into_iter()
        .filter_map(|at| rows[at].take())
        .collect())
}

/// Removes the items whose flag is not set.
fn keep_where<T>(items: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    items.retain(|_| flags.next() == Some(&true));
}

/// Sorts the members of one value. A value that is not a collection is returned unchanged.
pub(crate) fn sorted_within(
    cx: &mut Context<'_>,
    sorting: &mut Sorting,
    value: &Value,
) -> Result<Value, QueryError> {
    let Some(items) = value.items() else {
        return Ok(value.clone());
    };
    let rows = items.into_iter();
    let rows = rows.map(|item| Row::start(item, cx)).collect();
    let items = sorted(cx, sorting, rows)?.into_iter().map(|row| row.value);
    Ok(match value {
        Value::Map(_) | Value::Tree(_) => of_entries(items),
        _ => Value::list(items.collect()),
    })
}

/// The reduction of the values of a group.
pub(crate) enum Gathered {
    /// A list of the values that are read.
    List(Reader),
    /// The first result of a child over the whole group. The flag: whether that result does not
    /// depend on the order of the group.
    First(Child, bool),
    /// The first result of a child for the last row of the group that has one.
    Last(Child),
}

impl Gathered {
    pub(crate) fn new(by: &By, builder: &super::build::Builder<'_>) -> Result<Self, QueryError> {
        Ok(match by {
            By::Child(plan) if reduces(plan) => {
                let any_order = plan.ops.iter().all(is_of_any_order);
                Self::First(Child::local(plan, builder)?, any_order)
            }
            By::Child(plan) => Self::Last(Child::local(plan, builder)?),
            other => Self::List(Reader::new(other, builder)?),
        })
    }
}

/// Whether a plan reduces or limits its stream.
fn reduces(plan: &Plan) -> bool {
    plan.ops.iter().any(|op| {
        op.gathers()
            || matches!(
                op,
                Op::Dedup {
                    scope: Scope::Global,
                    ..
                } | Op::Range { .. }
            )
    })
}

/// Whether the result of a step does not depend on the order of its rows.
const fn is_of_any_order(op: &Op) -> bool {
    matches!(
        op,
        Op::Expand { .. }
            | Op::EndVertex(_)
            | Op::HasProperty { .. }
            | Op::HasToken { .. }
            | Op::Values(_)
            | Op::Fused(Fused::Counts { .. } | Fused::NeighbourValues { .. })
            | Op::Id
            | Op::Label
            | Op::Is(_)
            | Op::Group { into: None, .. }
            | Op::GroupCount { into: None, .. }
            | Op::Reduce {
                reduce: Reduce::Count | Reduce::Sum | Reduce::Min | Reduce::Max,
                scope: Scope::Global,
            }
    )
}

/// Groups rows by the value of a key. Rows without a value are dropped.
fn by_key(
    cx: &mut Context<'_>,
    key: &mut Reader,
    rows: Vec<Row>,
) -> Result<IndexMap<Value, Vec<Row>, foldhash::fast::RandomState>, QueryError> {
    let keys = key.read(cx, &rows)?;
    let mut held = 0;
    for key in keys.iter().flatten() {
        held += cx.hold_key(key)?;
    }
    let mut groups: IndexMap<Value, Vec<Row>, _> = IndexMap::default();
    for (row, key) in rows.into_iter().zip(keys) {
        if let Some(key) = key {
            groups.entry(key).or_default().push(row);
        }
    }
    cx.meter.release(held);
    Ok(groups)
}

/// The groups of rows, as a map.
pub(crate) fn group(
    cx: &mut Context<'_>,
    key: &mut Reader,
    gathered: &mut Gathered,
    rows: Vec<Row>,
) -> Result<ValueMap, QueryError> {
    let groups = by_key(cx, key, rows)?;
    let mut map = ValueMap::default();
    let any_order = cx.merges && matches!(gathered, Gathered::First(_, true));
    match gathered {
        Gathered::List(reader) => {
            for (key, rows) in groups {
                let read = reader.read(cx, &rows)?;
                let mut values = Vec::new();
                for (row, value) in rows.iter().zip(read) {
                    if let Some(value) = value {
                        cx.hold_values(&value, row.bulk)?;
                        values.extend(std::iter::repeat_n(value, bulk(row)));
                    }
                }
                map.insert(key, Value::list(values));
            }
        }
        Gathered::Last(child) => {
            let keys: Vec<Value> = groups.keys().cloned().collect();
            let mut lasts: Vec<Option<Value>> = vec![None; keys.len()];
            let grouped = groups.into_values().enumerate();
            let (places, rows): (Vec<usize>, Vec<Row>) = grouped
                .flat_map(|(place, rows)| rows.into_iter().map(move |row| (place, row)))
                .unzip();
            for (places, rows) in places.chunks(BATCH_MAX).zip(rows.chunks(BATCH_MAX)) {
                for (place, first) in places.iter().zip(child.firsts(cx, rows)?) {
                    if let Some(row) = first {
                        lasts[*place] = Some(row.value);
                    }
                }
            }
            let entries = keys.into_iter().zip(lasts);
            map.extend(entries.filter_map(|(key, value)| Some((key, value?))));
        }
        Gathered::First(child, _) => {
            let keys: Vec<Value> = groups.keys().cloned().collect();
            let groups = groups.into_values().map(|rows| match any_order {
                true => merged(rows),
                false => rows,
            });
            let results = child.over_groups(cx, groups)?;
            let mut values: Vec<Option<Value>> = vec![None; keys.len()];
            for row in results {
                let value = &mut values[row.segment as usize];
                value.get_or_insert(row.value);
            }
            for (key, value) in keys.into_iter().zip(values) {
                if let Some(value) = value {
                    map.insert(key, value);
                }
            }
        }
    }
    Ok(map)
}

fn bulk(row: &Row) -> usize {
    usize::try_from(row.bulk).unwrap_or(usize::MAX)
}

/// The count of each value, in the order of first occurrence.
#[derive(Default)]
pub(crate) struct Sizes(IndexMap<Value, u64, foldhash::fast::RandomState>);

impl Sizes {
    /// Adds `bulk` to the count of a value. Returns whether the value is new.
    pub(super) fn add(&mut self, value: Value, bulk: u64) -> bool {
        let before = self.0.len();
        let count = self.0.entry(value).or_default();
        *count = count.saturating_add(bulk);
        self.0.len() > before
    }

    pub(super) fn into_map(self) -> Result<ValueMap, QueryError> {
        let entry = |(key, count)| Ok((key, Value::count(counted(count)?)));
        self.0.into_iter().map(entry).collect()
    }
}

/// The sizes of groups of rows, as a map.
///
/// # Errors
/// When the key has no result for a row.
pub(crate) fn group_count(
    cx: &mut Context<'_>,
    key: &mut Reader,
    rows: &[Row],
) -> Result<ValueMap, QueryError> {
    let mut counts = Sizes::default();
    for (row, key) in rows.iter().zip(key.read(cx, rows)?) {
        let key = key.ok_or_else(|| {
            QueryError::invalid(format!(
                "The provided traverser does not map to a value: {}",
                row.value.shown()
            ))
        })?;
        cx.tick_made(&key)?;
        counts.add(key, row.bulk);
    }
    counts.into_map()
}

/// Counts the rows of groups. Rows are counted as they come, not stored.
pub(crate) struct GroupCount {
    pub(crate) input: BoxedOperator,
    pub(crate) key: Reader,
    pub(crate) segments: SharedSegments,
    pub(crate) done: bool,
}

impl GroupCount {
    /// The next rows to count. If the key is read from elements, many rows are taken together, so
    /// that each element is read once.
    fn take(&mut self, cx: &mut Context<'_>) -> Result<Option<Vec<Row>>, QueryError> {
        let Some(mut rows) = self.input.next(cx, BATCH_MAX)? else {
            return Ok(None);
        };
        if matches!(self.key, Reader::Identity) {
            return Ok(Some(rows));
        }
        let mut held = 0;
        while rows.len() < COUNTED_TOGETHER
            && let Some(mut more) = self.input.next(cx, BATCH_MAX)?
        {
            cx.tick(more.len())?;
            let bytes = more.iter().map(Row::bytes).sum();
            cx.meter.hold(bytes)?;
            held += bytes;
            rows.append(&mut more);
        }
        cx.meter.release(held);
        Ok(Some(rows))
    }
}

impl Operator for GroupCount {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut counted: BTreeMap<u32, Sizes> = BTreeMap::new();
        let mut held = 0;
        while let Some(rows) = self.take(cx)? {
            cx.tick(rows.len())?;
            for (row, key) in rows.iter().zip(self.key.read(cx, &rows)?) {
                let Some(key) = key else { continue };
                let bytes = GROUP_BYTES + super::element::held(&key);
                if counted.entry(row.segment).or_default().add(key, row.bulk) {
                    cx.meter.hold(bytes)?;
                    held += bytes;
                }
            }
        }
        cx.meter.release(held);
        let each = self.segments.each().into_iter().map(|segment| {
            let counts = counted.remove(&segment).unwrap_or_default();
            let map = Value::Map(Arc::new(counts.into_map()?)).bounded()?;
            Ok(whole(map, segment, cx))
        });
        each.collect::<Result<_, _>>().map(Some)
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}

/// A random selection of rows, weighted by `by`.
pub(crate) fn sample(
    cx: &mut Context<'_>,
    count: u64,
    by: &mut Reader,
    rows: Vec<Row>,
) -> Result<Vec<Row>, QueryError> {
    let all = rows.iter().map(|row| row.bulk);
    if all.fold(0, u64::saturating_add) <= count {
        return Ok(rows);
    }
    let weights = match by {
        Reader::Identity => vec![Some(Value::Int(1)); rows.len()],
        reader => reader.read(cx, &rows)?,
    };
    let mut open: Vec<(Row, f64)> = Vec::with_capacity(rows.len());
    for (row, weight) in rows.into_iter().zip(weights) {
        if let Some(weight) = weight.as_ref().and_then(crate::value::number::Number::of) {
            open.push((row, weight.to_f64()));
        }
    }
    let mut picked = Vec::new();
    while (picked.len() as u64) < count && !open.is_empty() {
        cx.tick(open.len())?;
        cx.meter.hold(Row::BYTES)?;
        #[allow(clippy::cast_precision_loss, reason = "a weight")]
        let of = |(row, weight): &(Row, f64)| weight * row.bulk as f64;
        let total: f64 = open.iter().map(of).sum();
        let mut left = cx.random.fraction() * total;
        let at = open.iter().position(|each| {
            left -= of(each);
            left < 0.0
        });
        let at = at.unwrap_or(open.len() - 1);
        let mut row = open[at].0.clone();
        row.bulk = 1;
        picked.push(row);
        match open[at].0.bulk {
            1 => drop(open.remove(at)),
            _ => open[at].0.bulk -= 1,
        }
    }
    Ok(picked)
}

/// A random selection of the members of one value. A value that is not a collection, or has no more
/// than `count` members, is returned unchanged.
pub(crate) fn sample_within(
    cx: &mut Context<'_>,
    count: u64,
    value: &Value,
) -> Result<Value, QueryError> {
    let Some(mut items) = value.items().filter(|items| items.len() as u64 > count) else {
        return Ok(value.clone());
    };
    let mut picked = Vec::new();
    for _ in 0..count {
        cx.tick(items.len() / 64)?;
        let at = cx.random.below(items.len());
        picked.push(items.remove(at));
    }
    Ok(match value {
        Value::Map(_) | Value::Tree(_) => of_entries(picked),
        _ => Value::list(picked),
    })
}

/// A map of these entries.
fn of_entries(entries: impl IntoIterator<Item = Value>) -> Value {
    let entry = |value| match value {
        Value::Entry(entry) => Some((entry.0.clone(), entry.1.clone())),
        _ => None,
    };
    Value::map(entries.into_iter().filter_map(entry))
}

/// The row of a reduced value, in a segment.
pub(crate) fn whole(value: Value, segment: u32, cx: &Context<'_>) -> Row {
    Row {
        segment,
        ..Row::start(value, cx)
    }
}
