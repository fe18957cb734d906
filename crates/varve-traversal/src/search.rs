//! The state of one traversal: the vertices that it has met, and its reads of the view.

use varve_model::{
    Direction, EdgeLabelId, Properties, PropertyKeyId, Value, VertexId, VertexLabelId,
};
use varve_view::{ErrorKind, Expand, Flow, GraphView, Meter, Neighbour, ViewError};

use crate::keys::Keys;
use crate::{Step, TraversalError, VertexFilter};

/// The dense number of a vertex within one search.
pub type VertexNumber = u32;

/// Vertices expanded with one call of the view.
const CHUNK: usize = 256;

/// An edge that was followed.
#[derive(Debug, Clone, Copy)]
pub struct Hop<'a> {
    /// The vertex from which the edge was followed.
    pub from: VertexNumber,
    /// The vertex at its other end.
    pub to: VertexNumber,
    /// The direction in which the edge was walked.
    pub direction: Direction,
    /// The edge's label.
    pub label: EdgeLabelId,
    /// The label of `to`, as stored with the edge.
    pub to_label: VertexLabelId,
    /// The edge's key relative to `from`.
    pub edge: &'a [u8],
    /// The edge's properties, limited to the keys that the step reads.
    pub properties: &'a Properties,
}

/// The effort of a traversal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measure {
    /// Edges read.
    pub edges: u64,
    /// Vertices whose edges were read.
    pub vertices: u64,
}

/// One traversal over a view.
pub struct Search<'v> {
    view: &'v dyn GraphView,
    meter: &'v Meter,
    keys: Keys,
    measure: Measure,
    /// Whether each vertex passes `filters`, by number; `None` = not checked yet.
    passes: Vec<Option<bool>>,
    /// The vertex filters of the last step.
    filters: Vec<VertexFilter>,
}

/// A hop whose far end must still be checked.
struct Pending {
    from: VertexNumber,
    to: VertexNumber,
    direction: Direction,
    label: EdgeLabelId,
    to_label: VertexLabelId,
    edge: std::ops::Range<usize>,
    properties: Properties,
}

impl<'v> Search<'v> {
    /// A search that has not met any vertex.
    #[must_use]
    pub fn new(view: &'v dyn GraphView, meter: &'v Meter) -> Self {
        Self {
            view,
            meter,
            keys: Keys::new(),
            measure: Measure::default(),
            passes: Vec::new(),
            filters: Vec::new(),
        }
    }

    /// The view that the search reads.
    #[must_use]
    pub fn view(&self) -> &'v dyn GraphView {
        self.view
    }

    /// The meter of the request.
    #[must_use]
    pub fn meter(&self) -> &'v Meter {
        self.meter
    }

    /// The effort so far.
    #[must_use]
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// Resets the effort to an earlier value: reads that only fetch content of the answer do not
    /// count.
    pub fn restore(&mut self, measure: Measure) {
        self.measure = measure;
    }

    /// The number of a vertex, which need not exist.
    ///
    /// # Errors
    ///
    /// If the meter's memory limit is exceeded.
    pub fn number(&mut self, id: &VertexId) -> Result<VertexNumber, TraversalError> {
        let mut key = Vec::new();
        self.view.put_vertex_key(id, &mut key);
        Ok(self.keys.number(&key, self.meter)?)
    }

    /// The id of a vertex that was met.
    ///
    /// # Errors
    ///
    /// If the stored key is damaged.
    pub fn id(&self, number: VertexNumber) -> Result<VertexId, TraversalError> {
        Ok(self.view.vertex_id(self.keys.get(number))?)
    }

    /// The key of a vertex that was met.
    #[must_use]
    pub fn key(&self, number: VertexNumber) -> Vec<u8> {
        self.keys.get(number).to_vec()
    }

    /// Whether a vertex exists.
    ///
    /// # Errors
    /// Those of the view.
    pub fn exists(&self, number: VertexNumber) -> Result<bool, TraversalError> {
        Ok(self.existing(&[number])? == [number])
    }

    /// The vertices among these that exist, in the order given.
    ///
    /// # Errors
    /// Those of the view.
    pub fn existing(&self, numbers: &[VertexNumber]) -> Result<Vec<VertexNumber>, TraversalError> {
        let mut exist = vec![false; numbers.len()];
        let keys: Vec<&[u8]> = numbers
            .iter()
            .map(|number| self.keys.get(*number))
            .collect();
        let found = &mut |at: usize, _, _| exist[at] = true;
        self.view.vertices(&keys, &[], self.meter, found)?;
        let mut exist = exist.into_iter();
        let existing = numbers.iter().filter(|_| exist.next() == Some(true));
        Ok(existing.copied().collect())
    }

    /// The label of a vertex, if it exists.
    ///
    /// # Errors
    /// Those of the view.
    pub fn label(&self, number: VertexNumber) -> Result<Option<VertexLabelId>, TraversalError> {
        let (mut label, key) = (None, self.keys.get(number));
        let found = &mut |_, own, _| label = Some(own);
        self.view.vertices(&[key], &[], self.meter, found)?;
        Ok(label)
    }

    /// The value of a property of each of these vertices, in the order given; `None` if it has
    /// none.
    ///
    /// # Errors
    ///
    /// Those of the view.
    pub(crate) fn values(
        &self,
        numbers: &[VertexNumber],
        key: PropertyKeyId,
    ) -> Result<Vec<Option<Value>>, TraversalError> {
        let mut values = vec![None; numbers.len()];
        let keys: Vec<&[u8]> = numbers
            .iter()
            .map(|number| self.keys.get(*number))
            .collect();
        let found = &mut |at: usize, _, mut properties: Properties| {
            values[at] = properties.remove(key);
        };
        self.view.vertices(&keys, &[key], self.meter, found)?;
        Ok(values)
    }

    /// Follows a step from each vertex in turn, along its edges in storage order. A break from
    /// `visit` ends the traversal.
    ///
    /// # Errors
    ///
    /// Those of the view and of `visit`.
    pub fn expand(
        &mut self,
        from: &[VertexNumber],
        step: &Step,
        visit: &mut dyn FnMut(&Hop<'_>) -> Result<Flow, TraversalError>,
    ) -> Result<(), TraversalError> {
        for chunk in from.chunks(CHUNK) {
            let chunk = self.leavable(chunk, step)?;
            let flow = match step.vertices.is_empty() {
                true => self.follow(&chunk, step, visit)?,
                false => self.follow_filtered(&chunk, step, visit)?,
            };
            if flow.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The number of edges that a step follows from these vertices. A repeated vertex counts
    /// repeatedly.
    ///
    /// # Errors
    ///
    /// Those of the view.
    pub(crate) fn count_edges(
        &mut self,
        from: &[VertexNumber],
        step: &Step,
    ) -> Result<u64, TraversalError> {
        let mut count = 0;
        if !step.edges.is_empty() || !step.vertices.is_empty() {
            self.expand(from, step, &mut |_| {
                count += 1;
                Ok(Flow::Continue(()))
            })?;
            return Ok(count);
        }
        let keys: Vec<&[u8]> = from.iter().map(|number| self.keys.get(*number)).collect();
        let most = step.max_degree.unwrap_or(u64::MAX);
        let looked_at = most.max(step.skip_degree.unwrap_or(0));
        let degrees = self
            .view
            .degrees(&keys, &ask(step, &[]), looked_at, self.meter)?;
        let is_left = |degree: &u64| step.skip_degree.is_none_or(|skip| *degree < skip);
        let counted = degrees.into_iter().filter(is_left);
        Ok(counted.map(|degree| degree.min(most)).sum())
    }

    /// The vertices among these that a step leaves: they pass its filters and have fewer edges than
    /// `skip_degree`.
    fn leavable(
        &mut self,
        from: &[VertexNumber],
        step: &Step,
    ) -> Result<Vec<VertexNumber>, TraversalError> {
        let mut from = from.to_vec();
        if !step.vertices.is_empty() {
            self.check_vertices(&from, step)?;
            from.retain(|number| self.passes[*number as usize] == Some(true));
        }
        if let Some(skip) = step.skip_degree {
            let keys: Vec<&[u8]> = from.iter().map(|number| self.keys.get(*number)).collect();
            let degrees = self
                .view
                .degrees(&keys, &ask(step, &[]), skip, self.meter)?;
            let mut degrees = degrees.into_iter();
            from.retain(|_| degrees.next().is_some_and(|degree| degree < skip));
        }
        Ok(from)
    }

    fn follow(
        &mut self,
        from: &[VertexNumber],
        step: &Step,
        visit: &mut dyn FnMut(&Hop<'_>) -> Result<Flow, TraversalError>,
    ) -> Result<Flow, TraversalError> {
        let (bytes, ends) = self.copied(from);
        let mut start = 0;
        let cut = |end: &usize| &bytes[std::mem::replace(&mut start, *end)..*end];
        let slices: Vec<&[u8]> = ends.iter().map(cut).collect();
        let wanted = step.edge_keys();
        let most = step.max_degree.unwrap_or(u64::MAX);
        let (view, meter, keys) = (self.view, self.meter, &mut self.keys);
        let (mut at_now, mut degree, mut edges) = (usize::MAX, 0, 0);
        let mut ended: Result<Flow, TraversalError> = Ok(Flow::Continue(()));
        self.measure.vertices += from.len() as u64;
        view.neighbours(&slices, &ask(step, &wanted), meter, &mut |at, edge| {
            if !matches!(ended, Ok(Flow::Continue(()))) {
                return Flow::Break(());
            }
            if at != at_now {
                (at_now, degree) = (at, 0);
            }
            degree += 1;
            edges += 1;
            if passes_edge(view, step, edge) {
                ended = keys
                    .number(edge.other, meter)
                    .map_err(TraversalError::from)
                    .and_then(|to| {
                        visit(&Hop {
                            from: from[at],
                            to,
                            direction: edge.direction,
                            label: edge.label,
                            to_label: edge.other_label,
                            edge: edge.edge,
                            properties: edge.properties,
                        })
                    });
            }
            match matches!(ended, Ok(Flow::Continue(()))) && degree < most {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        self.measure.edges += edges;
        ended
    }

    /// [`Search::follow`] with a check of the far ends before `visit` gets them.
    fn follow_filtered(
        &mut self,
        from: &[VertexNumber],
        step: &Step,
        visit: &mut dyn FnMut(&Hop<'_>) -> Result<Flow, TraversalError>,
    ) -> Result<Flow, TraversalError> {
        let (mut bytes, mut hops): (Vec<u8>, Vec<Pending>) = (Vec::new(), Vec::new());
        let meter = self.meter;
        let mut held = 0;
        let bare = Step {
            vertices: Vec::new(),
            ..step.clone()
        };
        let followed = self.follow(from, &bare, &mut |hop| {
            let start = bytes.len();
            bytes.extend_from_slice(hop.edge);
            held += size_of::<Pending>() + hop.edge.len();
            meter.hold(size_of::<Pending>() + hop.edge.len())?;
            hops.push(Pending {
                from: hop.from,
                to: hop.to,
                direction: hop.direction,
                label: hop.label,
                to_label: hop.to_label,
                edge: start..bytes.len(),
                properties: hop.properties.clone(),
            });
            Ok(Flow::Continue(()))
        });
        let _ = followed?;
        if step.reads_vertices() {
            let ends: Vec<VertexNumber> = hops.iter().map(|hop| hop.to).collect();
            for ends in ends.chunks(CHUNK) {
                self.check_vertices(ends, step)?;
            }
        } else {
            self.passes.resize(self.keys.len(), None);
            for hop in &hops {
                self.passes[hop.to as usize] = Some(step.enters(hop.to_label));
            }
        }
        let mut flow = Flow::Continue(());
        for hop in hops {
            if flow.is_break() || self.passes[hop.to as usize] != Some(true) {
                continue;
            }
            flow = visit(&Hop {
                from: hop.from,
                to: hop.to,
                direction: hop.direction,
                label: hop.label,
                to_label: hop.to_label,
                edge: &bytes[hop.edge],
                properties: &hop.properties,
            })?;
        }
        meter.release(held);
        Ok(flow)
    }

    /// Checks the vertices that have not been checked against the step's filters yet.
    fn check_vertices(
        &mut self,
        numbers: &[VertexNumber],
        step: &Step,
    ) -> Result<(), TraversalError> {
        if self.filters != step.vertices {
            self.filters.clone_from(&step.vertices);
            self.passes.clear();
        }
        self.passes.resize(self.keys.len(), None);
        let mut unknown = numbers.to_vec();
        unknown.retain(|number| self.passes[*number as usize].is_none());
        unknown.sort_unstable();
        unknown.dedup();
        let keys: Vec<&[u8]> = unknown
            .iter()
            .map(|number| self.keys.get(*number))
            .collect();
        for number in &unknown {
            self.passes[*number as usize] = Some(false);
        }
        let (view, passes) = (self.view, &mut self.passes);
        view.vertices(
            &keys,
            &step.vertex_keys(),
            self.meter,
            &mut |at, own, properties| {
                let fits = step.vertices.iter().any(|filter| {
                    filter.label.is_none_or(|label| label == own)
                        && view.satisfies(&filter.conditions, &properties)
                });
                passes[unknown[at] as usize] = Some(fits);
            },
        )?;
        Ok(())
    }

    /// The concatenated keys of vertices, and the end of each.
    fn copied(&self, numbers: &[VertexNumber]) -> (Vec<u8>, Vec<usize>) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(numbers.len()));
        for number in numbers {
            bytes.extend_from_slice(self.keys.get(*number));
            ends.push(bytes.len());
        }
        (bytes, ends)
    }
}

fn ask<'a>(step: &'a Step, properties: &'a [varve_model::PropertyKeyId]) -> Expand<'a> {
    Expand {
        direction: step.direction,
        labels: &step.labels,
        properties,
    }
}

fn passes_edge(view: &dyn GraphView, step: &Step, edge: &Neighbour<'_>) -> bool {
    step.edges.is_empty()
        || step.edges.iter().any(|filter| {
            filter.label.is_none_or(|label| label == edge.label)
                && view.satisfies(&filter.conditions, edge.properties)
        })
}

impl From<std::num::TryFromIntError> for TraversalError {
    fn from(error: std::num::TryFromIntError) -> Self {
        Self::View(ViewError::failed(
            ErrorKind::LimitExceeded,
            error.to_string(),
        ))
    }
}
