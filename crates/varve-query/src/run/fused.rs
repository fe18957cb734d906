//! Operators of fused steps: degrees, counts of elements, orders that an index provides.

use std::cell::Cell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use varve_model::{Direction, EdgeLabelId};
use varve_view::{Elements, Expand as Ask, Flow, ScanAsk, ScanPosition};

use super::build::Builder;
use super::context::{Context, SharedSegments};
use super::counts::Counts;
use super::each::drain;
use super::group::{self, Sorting, whole};
use super::neighbour_values::NeighbourValues;
use super::reached::Reached;
use super::row::{Row, counted};
use super::source::{Column, Source, Wanted};
use super::towards::Towards;
use super::{BATCH_MAX, BoxedOperator, Operator, Reset, analysis, build, expand};
use crate::plan::{By, Expanded, Fused, Name, Ordering, Plan};
use crate::{QueryError, Value};

/// A vertex key, stored inline unless it is long.
pub(crate) type VertexKey = SmallVec<[u8; 24]>;
/// The number of different vertices whose degrees are read at once. With a larger number, fewer
/// vertices are read repeatedly. They take some 30 MB.
const DEGREES_AT_ONCE: usize = 262_144;
/// Elements counted in one scan; then the scan continues at its position.
const COUNTED_AT_ONCE: usize = 65_536;

/// Builds the operator of a fused step.
pub(crate) fn operator(
    fused: &Fused,
    merges: bool,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    Ok(match fused {
        Fused::Few {
            direction,
            labels,
            to,
            most,
        } => {
            let mut expand = expand::Expand::new(input, *direction, labels, *to, builder);
            expand.most = *most;
            expand.merges = merges && *to == Expanded::Vertices;
            Box::new(expand)
        }
        Fused::Degrees {
            direction,
            labels,
            most,
            through,
        } => Box::new(Degrees {
            of: DegreesOf::new(through.as_ref(), input, builder),
            direction: *direction,
            labels: analysis::edge_labels(builder.schema, labels),
            most: *most,
            segments: Rc::clone(&builder.segments),
            done: false,
        }),
        Fused::Elements { kind, labels } => Box::new(Count {
            wanted: analysis::wanted(builder.schema, *kind, &None, labels),
            done: false,
        }),
        Fused::Ordered {
            source,
            key,
            descending,
        } => ordered(source, key, *descending, input, builder)?,
        Fused::Column { source, by } => {
            let mut source = Source::of(source, input, builder);
            source.column = Column::new(by, builder);
            Box::new(source)
        }
        Fused::Counts { of, key } => Box::new(Counts::new(of, key, input, builder)),
        Fused::NeighbourValues {
            direction,
            labels,
            key,
        } => {
            let expanded = Expanded::Vertices;
            let expand = expand::Expand::new(input, *direction, labels, expanded, builder);
            Box::new(NeighbourValues::new(
                expand,
                builder.key(key),
                builder.may_merge(),
            ))
        }
        Fused::Towards {
            direction,
            labels,
            targets,
            predicate,
            repeat,
        } => {
            let walked = (*direction, labels.as_slice());
            Box::new(Towards::new(
                input, walked, targets, predicate, repeat, builder,
            )?)
        }
    })
}

/// Adds up the degrees of vertices, for each segment.
struct Degrees {
    of: DegreesOf,
    direction: Option<Direction>,
    /// `None`: labels are given, and the schema has none of them.
    labels: Option<Vec<EdgeLabelId>>,
    most: u64,
    segments: SharedSegments,
    done: bool,
}

/// The vertices whose degrees are added up.
enum DegreesOf {
    /// The input vertices.
    Rows(BoxedOperator),
    /// The neighbours of the input vertices.
    Neighbours(expand::Expand),
}

impl DegreesOf {
    fn new(
        through: Option<&(Option<Direction>, Vec<Name>)>,
        input: BoxedOperator,
        builder: &Builder<'_>,
    ) -> Self {
        match through {
            None => Self::Rows(input),
            Some((direction, labels)) => {
                let to = Expanded::Vertices;
                Self::Neighbours(expand::Expand::new(input, *direction, labels, to, builder))
            }
        }
    }
}

impl Degrees {
    /// Adds the next vertices. Returns false when the input has ended.
    fn reach(&mut self, cx: &mut Context<'_>, reached: &mut Reached) -> Result<bool, QueryError> {
        let input = match &mut self.of {
            DegreesOf::Neighbours(expand) => return reached.walk(expand, cx),
            DegreesOf::Rows(input) => input,
        };
        let Some(rows) = input.next(cx, BATCH_MAX)? else {
            return Ok(false);
        };
        cx.tick(rows.len())?;
        let mut key = Vec::new();
        for row in rows {
            let Value::Vertex(vertex) = &row.value else {
                return Err(QueryError::cast(&row.value, "Vertex"));
            };
            key.clear();
            cx.view.put_vertex_key(vertex.id(), &mut key);
            reached.add(&row, &key);
        }
        reached.charge(cx)?;
        Ok(true)
    }

    fn add(
        &self,
        cx: &Context<'_>,
        mut reached: Reached,
        sums: &mut FxHashMap<u32, u64>,
    ) -> Result<(), QueryError> {
        if let Some(labels) = &self.labels {
            // Sorted, since an engine's cursor moves forward from key to key.
            reached.sort();
            let keys = reached.keys();
            let ask = Ask {
                direction: self.direction,
                labels,
                properties: &[],
            };
            let degrees = cx.view.degrees(&keys, &ask, self.most, cx.meter)?;
            for (vertex, degree) in reached.vertices().iter().zip(degrees) {
                let sum = sums.entry(vertex.segment).or_insert(0);
                *sum = sum.saturating_add(vertex.bulk.saturating_mul(degree));
            }
        }
        reached.release(cx);
        Ok(())
    }
}

impl Operator for Degrees {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut sums: FxHashMap<u32, u64> = FxHashMap::default();
        let (mut reached, mut more) = (Reached::default(), true);
        while more {
            more = self.reach(cx, &mut reached)?;
            if !more || reached.len() >= DEGREES_AT_ONCE {
                self.add(cx, std::mem::take(&mut reached), &mut sums)?;
            }
        }
        let row = |segment| {
            let count = counted(sums.get(&segment).copied().unwrap_or(0))?;
            Ok(whole(Value::count(count), segment, cx))
        };
        let rows = self.segments.each().into_iter().map(row);
        rows.collect::<Result<_, _>>().map(Some)
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        match &mut self.of {
            DegreesOf::Rows(input) => input.reset(how),
            DegreesOf::Neighbours(expand) => expand.reset(how),
        }
    }
}

/// Counts the elements of the graph.
struct Count {
    wanted: Wanted,
    done: bool,
}

impl Operator for Count {
    fn next(&mut self, cx: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let elements = match &self.wanted {
            Wanted::Vertices(labels) => Some(Elements::Vertices(labels)),
            Wanted::Edges(labels) => Some(Elements::Edges(labels)),
            _ => None,
        };
        let mut count = 0;
        let mut place: Option<ScanPosition> = None;
        while let Some(elements) = elements {
            let ask = ScanAsk {
                elements,
                conditions: &[],
                order: None,
                properties: &[],
            };
            let (from, view) = (place.as_ref(), cx.view);
            place = view.scan(&ask, from, COUNTED_AT_ONCE, cx.meter, &mut |_| {
                count += 1;
                Flow::Continue(())
            })?;
            if place.is_none() {
                break;
            }
        }
        Ok(Some(vec![Row::start(Value::count(count), cx)]))
    }

    fn reset(&mut self, _: Reset) {
        self.done = false;
    }
}

/// Gives the rows of a source in an order: as the index provides them, or sorted if no index does.
struct Ordered {
    input: BoxedOperator,
    /// Whether the source's rows come in order. Known after the first batch.
    in_order: Rc<Cell<bool>>,
    sorting: Sorting,
    done: bool,
}

fn ordered(
    plan: &Plan,
    key: &crate::plan::Name,
    descending: bool,
    input: BoxedOperator,
    builder: &Builder<'_>,
) -> Result<BoxedOperator, QueryError> {
    let way = match descending {
        true => Ordering::Descending,
        false => Ordering::Ascending,
    };
    let reader = super::child::Reader::new(&By::Key(key.clone()), builder)?;
    let in_order = Rc::new(Cell::new(true));
    let Some((source, filters)) = plan.ops.split_first() else {
        return Ok(input);
    };
    let mut source = Source::of(source, input, builder);
    if let Some((id, _)) = builder.key(key).known() {
        let order = varve_view::ScanOrder {
            key: id,
            descending,
        };
        source.order_by(order, &in_order);
    }
    let filters = Plan::new(filters.to_vec());
    Ok(Box::new(Ordered {
        input: build::chain(&filters, Box::new(source), builder)?,
        in_order,
        sorting: vec![(reader, way)],
        done: false,
    }))
}

impl Operator for Ordered {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        if self.done {
            return Ok(None);
        }
        let Some(mut rows) = self.input.next(cx, demand)? else {
            return Ok(None);
        };
        if self.in_order.get() {
            return Ok(Some(rows));
        }
        self.done = true;
        rows.append(&mut drain(self.input.as_mut(), cx)?);
        group::sorted(cx, &mut self.sorting, rows).map(Some)
    }

    fn reset(&mut self, how: Reset) {
        self.done = false;
        self.input.reset(how);
    }
}
