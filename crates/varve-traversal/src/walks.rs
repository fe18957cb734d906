//! Walks of equal length, and the neighbours that a step reaches from their ends.

use std::ops::Range;

use rustc_hash::FxHashMap;
use varve_model::{Direction, PropertyKeyId, Value};
use varve_view::{Flow, Meter};

use crate::path::path_bytes;
use crate::{Capacity, Path, Search, Step, TraversalError, VertexNumber};

/// Bytes of a list's entry in the map, with the map's spare capacity.
const LIST_BYTES: usize = 2 * size_of::<(VertexNumber, Range<usize>)>();
/// Bytes of a neighbour, with the spare capacity of the list.
const NEXT_BYTES: usize = 2 * size_of::<Next>();

/// A neighbour that a step reaches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Next {
    pub(crate) to: VertexNumber,
    /// Whether edges of both directions lead there.
    pub(crate) both_ways: bool,
    /// The weight of the edge; 0 in lists of vertices.
    pub(crate) weight: f64,
}

/// What a list of neighbours contains.
#[derive(Debug, Clone, Copy)]
enum Listed {
    /// Each neighbour once.
    Vertices,
    /// One neighbour for each edge, with the weight from a property, or the default if the edge has
    /// none.
    Edges(Option<PropertyKeyId>, f64),
}

/// The neighbours that one step reaches from each vertex read so far, in storage order. A vertex is
/// read once.
#[derive(Debug)]
pub(crate) struct Nexts {
    step: Step,
    listed: Listed,
    all: Vec<Next>,
    of: FxHashMap<VertexNumber, Range<usize>>,
}

impl Nexts {
    /// Lists of neighbours, each once.
    pub(crate) fn vertices(step: &Step) -> Self {
        Self::new(step.clone(), Listed::Vertices)
    }

    /// Lists that have a neighbour once for each edge.
    pub(crate) fn edges(step: &Step, weight: Option<PropertyKeyId>, default: f64) -> Self {
        let reads = weight.into_iter().collect();
        let step = Step {
            reads,
            ..step.clone()
        };
        Self::new(step, Listed::Edges(weight, default))
    }

    fn new(step: Step, listed: Listed) -> Self {
        Self {
            step,
            listed,
            all: Vec::new(),
            of: FxHashMap::default(),
        }
    }

    /// The neighbours of a vertex that has been read.
    pub(crate) fn of(&self, vertex: VertexNumber) -> &[Next] {
        let range = self.of.get(&vertex);
        range.map_or(&[], |range| &self.all[range.clone()])
    }

    /// Reads the neighbours of the vertices that have not been read yet.
    pub(crate) fn read(
        &mut self,
        search: &mut Search<'_>,
        vertices: impl IntoIterator<Item = VertexNumber>,
    ) -> Result<(), TraversalError> {
        let (all, of, listed) = (&mut self.all, &mut self.of, self.listed);
        let (mut unread, meter) = (Vec::new(), search.meter());
        for vertex in vertices {
            of.entry(vertex).or_insert_with(|| {
                unread.push(vertex);
                0..0
            });
        }
        meter.hold(unread.len() * LIST_BYTES)?;
        // The vertex whose list is being filled, and the positions of its neighbours.
        let mut from = None;
        let mut places: FxHashMap<VertexNumber, (usize, Direction)> = FxHashMap::default();
        search.expand(&unread, &self.step, &mut |hop| {
            if from != Some(hop.from) {
                from = Some(hop.from);
                places.clear();
                of.insert(hop.from, all.len()..all.len());
            }
            let weight = match listed {
                Listed::Vertices => 0.0,
                Listed::Edges(key, default) => {
                    let value = key.and_then(|key| hop.properties.get(key));
                    value.map_or(Ok(default), weight_of)?
                }
            };
            if matches!(listed, Listed::Vertices) {
                if let Some((place, direction)) = places.get(&hop.to) {
                    let next: &mut Next = &mut all[*place];
                    next.both_ways |= *direction != hop.direction;
                    return Ok(Flow::Continue(()));
                }
                places.insert(hop.to, (all.len(), hop.direction));
            }
            meter.hold(NEXT_BYTES)?;
            all.push(Next {
                to: hop.to,
                both_ways: false,
                weight,
            });
            if let Some(range) = of.get_mut(&hop.from) {
                range.end = all.len();
            }
            Ok(Flow::Continue(()))
        })
    }
}

fn weight_of(value: &Value) -> Result<f64, TraversalError> {
    let weight = value.as_f64().filter(|weight| !weight.is_nan());
    weight.ok_or_else(|| TraversalError::NotANumber(format!("{value:?}")))
}

/// The last vertex of a walk, and the search's note about the last edge.
#[derive(Debug, Clone, Copy)]
struct End<T> {
    vertex: VertexNumber,
    /// The number of the walk, one edge shorter, that this one extends.
    before: u32,
    note: T,
}

/// Walks of equal length. Each is stored as its last vertex and the number of the shorter walk that
/// it extends.
#[derive(Debug)]
pub(crate) struct Walks<T = ()> {
    layers: Vec<Vec<End<T>>>,
}

impl<T: Copy + Default> Walks<T> {
    /// The walks of length 0 from these vertices.
    pub(crate) fn from(starts: &[VertexNumber]) -> Self {
        let start = |vertex: &VertexNumber| End {
            vertex: *vertex,
            before: 0,
            note: T::default(),
        };
        let layers = vec![starts.iter().map(start).collect()];
        Self { layers }
    }

    fn last(&self) -> &[End<T>] {
        self.layers.last().map_or(&[], Vec::as_slice)
    }

    /// The number of walks.
    pub(crate) fn len(&self) -> usize {
        self.last().len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.last().is_empty()
    }

    /// The last vertex of each walk.
    pub(crate) fn ends(&self) -> impl Iterator<Item = VertexNumber> {
        self.last().iter().map(|end| end.vertex)
    }

    /// The note about the last edge of a walk.
    pub(crate) fn note(&self, walk: usize) -> T {
        self.last()[walk].note
    }

    /// The number of edges of each walk.
    pub(crate) fn edges(&self) -> usize {
        self.layers.len() - 1
    }

    /// The ends of a walk and of the shorter walks that it extends, longest first: the walk's
    /// vertices in reverse.
    fn back(&self, walk: usize) -> impl Iterator<Item = End<T>> {
        let mut at = walk;
        self.layers.iter().rev().map(move |layer| {
            let end = layer[at];
            at = end.before as usize;
            end
        })
    }

    /// The number of vertices before the walk's first visit of `vertex`; `None` = not visited.
    pub(crate) fn place(&self, walk: usize, vertex: VertexNumber) -> Option<usize> {
        let visits = self.back(walk).enumerate();
        let visits = visits.filter(|(_, end)| end.vertex == vertex);
        visits
            .last()
            .map(|(edges_after, _)| self.edges() - edges_after)
    }

    /// The vertices of a walk.
    pub(crate) fn path(&self, walk: usize) -> Path {
        let mut vertices: Vec<VertexNumber> = self.back(walk).map(|end| end.vertex).collect();
        vertices.reverse();
        Path { vertices }
    }

    /// The notes about the edges of a walk.
    pub(crate) fn notes(&self, walk: usize) -> Vec<T> {
        let back = self.back(walk).take(self.edges());
        let mut notes: Vec<T> = back.map(|end| end.note).collect();
        notes.reverse();
        notes
    }

    /// Replaces the walks by longer ones.
    pub(crate) fn replace(&mut self, longer: Longer<T>) {
        self.layers.push(longer.0);
    }

    /// Replaces every walk by its extensions by one edge to a vertex that it has not visited.
    pub(crate) fn grow(
        &mut self,
        search: &mut Search<'_>,
        nexts: &mut Nexts,
        charge: &mut dyn FnMut() -> Result<(), TraversalError>,
    ) -> Result<(), TraversalError> {
        nexts.read(search, self.ends())?;
        let (meter, mut longer) = (search.meter(), Longer::default());
        for (walk, end) in self.ends().enumerate() {
            for next in nexts.of(end) {
                meter.row()?;
                if self.place(walk, next.to).is_none() {
                    charge()?;
                    longer.add(walk, next.to, T::default(), meter)?;
                }
            }
        }
        self.replace(longer);
        Ok(())
    }
}

/// Extensions of walks by one edge.
#[derive(Debug)]
pub(crate) struct Longer<T = ()>(Vec<End<T>>);

impl<T> Default for Longer<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Longer<T> {
    /// Adds the extension of a walk to a vertex.
    pub(crate) fn add(
        &mut self,
        walk: usize,
        vertex: VertexNumber,
        note: T,
        meter: &Meter,
    ) -> Result<(), TraversalError> {
        meter.hold(2 * size_of::<End<T>>())?;
        let before = u32::try_from(walk)?;
        self.0.push(End {
            vertex,
            before,
            note,
        });
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The distinct vertices of a search, counted against its capacity.
#[derive(Debug)]
pub(crate) struct Met {
    seen: Vec<bool>,
    count: u64,
    capacity: Capacity,
    what: &'static str,
}

impl Met {
    /// No vertex met yet. `what` names the search in error messages.
    pub(crate) fn new(capacity: Capacity, what: &'static str) -> Self {
        Self {
            seen: Vec::new(),
            count: 0,
            capacity,
            what,
        }
    }

    /// Counts a vertex that was not met before.
    pub(crate) fn meet(&mut self, vertex: VertexNumber) -> Result<(), TraversalError> {
        let at = vertex as usize;
        if self.seen.len() <= at {
            self.seen.resize((at + 1).next_power_of_two(), false);
        }
        if !std::mem::replace(&mut self.seen[at], true) {
            self.count += 1;
            self.capacity.check(self.count, self.what)?;
        }
        Ok(())
    }
}

/// Adds a path to an answer.
pub(crate) fn keep(found: &mut Vec<Path>, path: Path, meter: &Meter) -> Result<(), TraversalError> {
    meter.hold(path_bytes(path.vertices.len()))?;
    found.push(path);
    Ok(())
}
