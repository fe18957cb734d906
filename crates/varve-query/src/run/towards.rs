//! Paths to given vertices: a search from both ends finds a shortest path, the loop finds the
//! others.

use std::cell::RefCell;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;

use varve_model::{Direction, EdgeLabelId, VertexId, VertexLabelId};
use varve_view::{Expand as Ask, Flow};

use super::build::Builder;
use super::context::Context;
use super::each::drain;
use super::fused::VertexKey;
use super::repeat::Repeat;
use super::row::Row;
use super::{BoxedOperator, Operator, Reset, SeededMap, analysis, filter};
use crate::plan::{self, Name};
use crate::predicate::Predicate;
use crate::value::{Token, VertexHandle};
use crate::{QueryError, Value};

/// Vertices to expand at once. The search stops at the first edge that joins both sides, so the
/// rest of a batch may be expanded in vain.
const AT_ONCE: usize = 64;
/// Bytes of a vertex that the search has seen.
const VERTEX_BYTES: usize = 2 * (size_of::<VertexKey>() + size_of::<Seen>());

/// A loop along simple paths to given vertices. The first result is a shortest path, one of those
/// that the loop would give. The other results come from the loop itself.
///
/// The search needs exactly one traverser, without previous path. For other input only the loop
/// runs.
pub(super) struct Towards {
    input: BoxedOperator,
    direction: Option<Direction>,
    /// `None`: labels are given, and the schema has none of them.
    labels: Option<Vec<EdgeLabelId>>,
    targets: Vec<VertexId>,
    predicate: Predicate,
    /// Whether the loop tests its condition before the first round.
    tests_first: bool,
    rest: Repeat,
    /// The input rows, on their way to the loop.
    handed: Rc<RefCell<Option<Vec<Row>>>>,
    state: Phase,
}

enum Phase {
    Begin,
    /// The loop gives the remaining results. Its copy of the path that was found already is
    /// dropped.
    Rest(Option<Row>),
    Done,
}

/// Gives the rows in the cell.
struct Handed(Rc<RefCell<Option<Vec<Row>>>>);

impl Operator for Handed {
    fn next(&mut self, _: &mut Context<'_>, _: usize) -> Result<Option<Vec<Row>>, QueryError> {
        Ok(self.0.borrow_mut().take())
    }

    fn reset(&mut self, _: Reset) {
        self.0.borrow_mut().take();
    }
}

impl Towards {
    pub(super) fn new(
        input: BoxedOperator,
        (direction, labels): (Option<Direction>, &[Name]),
        targets: &[Value],
        predicate: &Predicate,
        repeat: &plan::Repeat,
        builder: &Builder<'_>,
    ) -> Result<Self, QueryError> {
        let handed = Rc::new(RefCell::new(None));
        let rest = Repeat::new(Box::new(Handed(Rc::clone(&handed))), repeat, builder)?;
        Ok(Self {
            input,
            direction,
            labels: analysis::edge_labels(builder.schema, labels),
            targets: targets.iter().filter_map(Value::as_vertex_id).collect(),
            predicate: predicate.clone(),
            tests_first: repeat.until.as_ref().is_some_and(|until| until.first),
            rest,
            handed,
            state: Phase::Begin,
        })
    }

    /// Searches, if the input is one traverser at the start of its path. `None`: the search does
    /// not apply; `Some(None)`: there is no path.
    fn first(&self, cx: &Context<'_>, rows: &[Row]) -> Result<Option<Option<Row>>, QueryError> {
        let [row] = rows else {
            return Ok(None);
        };
        let Value::Vertex(start) = &row.value else {
            return Ok(None);
        };
        if row.bulk != 1 || row.places().count() != 1 {
            return Ok(None);
        }
        let mut targets = Vec::new();
        for id in &self.targets {
            let target = Value::Vertex(Arc::new(VertexHandle::new(id.clone(), None)));
            if !filter::has_token(cx, &target, Token::Id, &self.predicate)? {
                continue;
            }
            match id == start.id() {
                true if self.tests_first => return Ok(None),
                // A simple path does not return to its start.
                true => {}
                false => targets.push(target),
            }
        }
        let (Some(labels), false) = (&self.labels, targets.is_empty()) else {
            return Ok(Some(None));
        };
        cx.fetch(targets.iter())?;
        let mut search = Search::new(cx, labels, self.direction);
        search.sides[0].add(key_of(cx, start.id()), None, None);
        for target in &targets {
            let Value::Vertex(vertex) = target else {
                continue;
            };
            // If a target vertex does not exist, only an edge to it knows its label.
            if vertex.content().flatten().is_none() {
                return Ok(None);
            }
            search.sides[1].add(key_of(cx, vertex.id()), vertex.label(), None);
        }
        let found = search.run()?;
        let path = found.map(|meeting| search.path(row, meeting)).transpose();
        cx.meter.release(search.held);
        Ok(Some(path?))
    }
}

fn key_of(cx: &Context<'_>, id: &VertexId) -> VertexKey {
    let mut key = Vec::with_capacity(VertexKey::new().inline_size());
    cx.view.put_vertex_key(id, &mut key);
    VertexKey::from_slice(&key)
}

impl Operator for Towards {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        match &mut self.state {
            Phase::Done => Ok(None),
            Phase::Begin => {
                let rows = drain(self.input.as_mut(), cx)?;
                let first = self.first(cx, &rows)?;
                if matches!(first, Some(None)) {
                    self.state = Phase::Done;
                    return Ok(None);
                }
                let first = first.flatten();
                *self.handed.borrow_mut() = Some(rows);
                self.state = Phase::Rest(first.clone());
                Ok(Some(first.into_iter().collect()))
            }
            Phase::Rest(given) => {
                let Some(mut rows) = self.rest.next(cx, demand)? else {
                    self.state = Phase::Done;
                    return Ok(None);
                };
                if let Some(path) = given
                    && let Some(at) = rows.iter().position(|row| row.places().eq(path.places()))
                {
                    rows.remove(at);
                    *given = None;
                }
                Ok(Some(rows))
            }
        }
    }

    fn reset(&mut self, how: Reset) {
        self.state = Phase::Begin;
        self.rest.reset(how);
        self.input.reset(how);
    }
}

/// A vertex that one side has reached.
struct Seen {
    key: VertexKey,
    label: Option<VertexLabelId>,
    /// The index of the vertex before it; `None` where the side begins.
    from: Option<usize>,
}

/// The vertices reached from one end, in order of distance. Those before `newest` have been
/// expanded.
#[derive(Default)]
struct Side {
    seen: Vec<Seen>,
    places: SeededMap<VertexKey, usize>,
    /// The index in `seen` of the first vertex that has not been expanded.
    newest: usize,
}

impl Side {
    fn add(&mut self, key: VertexKey, label: Option<VertexLabelId>, from: Option<usize>) {
        if let Entry::Vacant(place) = self.places.entry(key) {
            let key = place.key().clone();
            place.insert(self.seen.len());
            self.seen.push(Seen { key, label, from });
        }
    }

    fn width(&self) -> usize {
        self.seen.len() - self.newest
    }
}

/// An edge that joins both sides: the index of its end on the expanding side, then on the other
/// side.
type Meeting = [usize; 2];

struct Search<'s> {
    cx: &'s Context<'s>,
    labels: &'s [EdgeLabelId],
    /// The direction in which each side walks.
    directions: [Option<Direction>; 2],
    sides: [Side; 2],
    held: usize,
}

impl<'s> Search<'s> {
    fn new(cx: &'s Context<'s>, labels: &'s [EdgeLabelId], direction: Option<Direction>) -> Self {
        Self {
            cx,
            labels,
            directions: [direction, direction.map(Direction::opposite)],
            sides: [Side::default(), Side::default()],
            held: 0,
        }
    }

    /// Expands the side with fewer unexpanded vertices, one distance at a time, until both sides
    /// meet. So no shorter path exists.
    fn run(&mut self) -> Result<Option<(usize, Meeting)>, QueryError> {
        loop {
            let widths = [self.sides[0].width(), self.sides[1].width()];
            if widths.contains(&0) {
                return Ok(None);
            }
            let own = usize::from(widths[1] < widths[0]);
            let newest = self.sides[own].newest..self.sides[own].seen.len();
            self.sides[own].newest = newest.end;
            for start in newest.clone().step_by(AT_ONCE) {
                let end = newest.end.min(start + AT_ONCE);
                if let Some(meeting) = self.walk(own, start, end)? {
                    return Ok(Some((own, meeting)));
                }
            }
        }
    }

    /// Expands some vertices of one side. Returns the first edge that joins both sides.
    fn walk(
        &mut self,
        own: usize,
        start: usize,
        end: usize,
    ) -> Result<Option<Meeting>, QueryError> {
        let from: Vec<VertexKey> = self.sides[own].seen[start..end]
            .iter()
            .map(|seen| seen.key.clone())
            .collect();
        let keys: Vec<&[u8]> = from.iter().map(VertexKey::as_slice).collect();
        let ask = Ask {
            direction: self.directions[own],
            labels: self.labels,
            properties: &[],
        };
        let [first, second] = &mut self.sides;
        let (side, other) = match own {
            0 => (first, &*second),
            _ => (second, &*first),
        };
        let before = side.seen.len();
        let mut meeting = None;
        self.cx
            .view
            .neighbours(&keys, &ask, self.cx.meter, &mut |at, seen| {
                if meeting.is_some() {
                    return Flow::Break(());
                }
                let key = VertexKey::from_slice(seen.other);
                if let Some(place) = other.places.get(&key) {
                    meeting = Some([start + at, *place]);
                    return Flow::Break(());
                }
                side.add(key, Some(seen.other_label), Some(start + at));
                Flow::Continue(())
            })?;
        let bytes = (side.seen.len() - before) * VERTEX_BYTES;
        self.held += bytes;
        self.cx.meter.hold(bytes)?;
        Ok(meeting)
    }

    /// The traverser `row` at the end of the path through the edge that joins both sides.
    fn path(&self, row: &Row, (own, mut at): (usize, Meeting)) -> Result<Row, QueryError> {
        if own == 1 {
            at.swap(0, 1);
        }
        let mut way: Vec<(&VertexKey, Option<VertexLabelId>)> = Vec::new();
        way.extend(self.back(0, at[0]).map(|seen| (&seen.key, seen.label)));
        way.reverse();
        way.extend(self.back(1, at[1]).map(|seen| (&seen.key, seen.label)));
        let mut row = row.clone();
        // The first vertex is the traverser's own.
        for (key, label) in way.into_iter().skip(1) {
            let id = self.cx.view.vertex_id(key)?;
            let vertex = Value::Vertex(Arc::new(VertexHandle::new(id, label)));
            self.cx.hold_place(&vertex)?;
            row = row.at(vertex, self.cx.track);
        }
        Ok(row)
    }

    /// A vertex of one side and the vertices before it, back to where the side begins.
    fn back(&self, side: usize, at: usize) -> impl Iterator<Item = &Seen> {
        let seen = &self.sides[side].seen;
        std::iter::successors(seen.get(at), |own| seen.get(own.from?))
    }
}
