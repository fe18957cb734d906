//! Answers of traversers: ids, elements, paths, and the measure of a traversal's work.

use varve_graph::{ErrorKind, GraphError};
use varve_model::{EdgeId, VertexId};
use varve_traversal::crosspoints::Crossing;
use varve_traversal::customized::WeighedPath;
use varve_traversal::fusiform::Spindles;
use varve_traversal::{Path, Search, VertexNumber};
use varve_view::Flow;

use super::parameters::{Ground, refused};
use crate::JsonWriter;
use crate::errors::ApiError;
use crate::request::{Query, RequestContext};
use crate::respond::{Growing, HandlerResult};
use crate::wire::output;

/// Items that are written between two checks of the deadline.
const DEADLINE_EVERY: usize = 256;
/// Elements that are fetched together.
const BATCH: usize = 256;
/// The initial capacity of an answer's buffer, in bytes.
const FIRST_BYTES: usize = 1_024;

/// Whether an answer has vertices and edges as elements rather than as ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole {
    pub(super) vertices: bool,
    pub(super) edges: bool,
}

impl Whole {
    /// Reads the parameters `with_vertex` and `with_edge`.
    pub(super) fn of(query: &Query) -> Result<Self, ApiError> {
        Ok(Self {
            vertices: query.boolean("with_vertex", false)?,
            edges: query.boolean("with_edge", false)?,
        })
    }
}

/// The vertices of paths, each once, in the order in which they are met.
pub(super) fn vertices_of(paths: &[Path]) -> Vec<VertexNumber> {
    let mut seen = std::collections::HashSet::new();
    let all = paths.iter().flat_map(|path| &path.vertices);
    all.copied().filter(|vertex| seen.insert(*vertex)).collect()
}

/// A JSON object that grows member by member, until the answer is too large or the request's
/// deadline has passed.
pub(super) struct Answer<'a> {
    context: &'a RequestContext,
    ground: &'a Ground,
    growing: Growing<'a>,
}

impl<'a> Answer<'a> {
    pub(super) fn start(context: &'a RequestContext, ground: &'a Ground) -> Self {
        let mut growing = Growing::with_capacity(context, FIRST_BYTES);
        growing.json.begin_object();
        Self {
            context,
            ground,
            growing,
        }
    }

    /// The JSON writer, for small members. They are not checked against the limits.
    pub(super) fn json(&mut self) -> &mut JsonWriter {
        &mut self.growing.json
    }

    fn context(&self) -> &'a RequestContext {
        self.context
    }

    fn list<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut JsonWriter, T) -> Result<(), ApiError>,
    ) -> Result<(), ApiError> {
        self.json().key(key).begin_array();
        for (number, item) in items.into_iter().enumerate() {
            if number % DEADLINE_EVERY == 0 {
                self.context().check_deadline()?;
            }
            write(&mut self.growing.json, item)?;
            self.growing.check()?;
        }
        self.json().end_array();
        Ok(())
    }

    /// Writes a list of the ids of vertices.
    pub(super) fn ids(
        &mut self,
        key: &str,
        search: &Search<'_>,
        numbers: impl IntoIterator<Item = VertexNumber>,
    ) -> Result<(), ApiError> {
        let context = self.context();
        self.list(key, numbers, |json, number| {
            write_id(context, json, search, number)
        })
    }

    /// Writes a list of paths, each an object with the ids of its vertices.
    pub(super) fn paths(
        &mut self,
        key: &str,
        search: &Search<'_>,
        paths: &[Path],
    ) -> Result<(), ApiError> {
        let context = self.context();
        self.list(key, paths, |json, path| {
            json.begin_object();
            write_objects(context, json, search, path)?;
            json.end_object();
            Ok(())
        })
    }

    /// Writes a list of paths, each with the vertex at which two walks meet.
    pub(super) fn crossings(
        &mut self,
        key: &str,
        search: &Search<'_>,
        crossings: &[Crossing],
    ) -> Result<(), ApiError> {
        let context = self.context();
        self.list(key, crossings, |json, crossing| {
            json.begin_object().key("crosspoint");
            write_id(context, json, search, crossing.crosspoint)?;
            write_objects(context, json, search, &crossing.path)?;
            json.end_object();
            Ok(())
        })
    }

    /// Writes an object of numbers, by the ids of their vertices.
    pub(super) fn scores(
        &mut self,
        key: &str,
        search: &Search<'_>,
        scores: &[(VertexNumber, f64)],
    ) -> Result<(), ApiError> {
        self.json().key(key).begin_object();
        self.score_members(search, scores)?;
        self.json().end_object();
        Ok(())
    }

    /// Writes numbers as members, by the ids of their vertices.
    pub(super) fn score_members(
        &mut self,
        search: &Search<'_>,
        scores: &[(VertexNumber, f64)],
    ) -> Result<(), ApiError> {
        for (number, (vertex, score)) in scores.iter().enumerate() {
            if number % DEADLINE_EVERY == 0 {
                self.context().check_deadline()?;
            }
            let id = search.id(*vertex);
            let id = id.map_err(|error| refused(self.context(), error))?;
            self.json().key(&id.to_string()).double(*score);
            self.growing.check()?;
        }
        Ok(())
    }

    /// Writes, for each source, the vertices that share neighbours with it, and their scores. The
    /// shared neighbours are listed only if `with_intermediary`; else their lists are empty.
    pub(super) fn spindles(
        &mut self,
        key: &str,
        search: &Search<'_>,
        spindles: &Spindles,
        with_intermediary: bool,
    ) -> Result<(), ApiError> {
        let context = self.context();
        self.json().key(key).begin_object();
        for (source, similar) in spindles {
            let id = search.id(*source);
            let id = id.map_err(|error| refused(context, error))?;
            self.list(&id.to_string(), similar, |json, similar| {
                json.begin_object().key("id");
                write_id(context, json, search, similar.vertex)?;
                json.key("score").double(similar.score);
                json.key("intermediaries").begin_array();
                for number in similar.shared.iter().filter(|_| with_intermediary) {
                    write_id(context, json, search, *number)?;
                }
                json.end_array().end_object();
                Ok(())
            })?;
        }
        self.json().end_object();
        Ok(())
    }

    /// Writes a list of paths, with the weights of their edges if `with_weights`.
    pub(super) fn weighed(
        &mut self,
        key: &str,
        search: &Search<'_>,
        paths: &[WeighedPath],
        with_weights: bool,
    ) -> Result<(), ApiError> {
        let context = self.context();
        self.list(key, paths, |json, weighed| {
            json.begin_object();
            write_objects(context, json, search, &weighed.path.path)?;
            if with_weights {
                json.key("weights").begin_array();
                for weight in &weighed.weights {
                    json.double(*weight);
                }
                json.end_array();
            }
            json.end_object();
            Ok(())
        })
    }

    /// Writes the list `vertices`: elements if `whole`, else ids. A vertex that does not exist is
    /// left out of the elements. There are such vertices, since edges may be stored without a check
    /// of their ends.
    pub(super) fn vertices(
        &mut self,
        search: &Search<'_>,
        numbers: &[VertexNumber],
        whole: bool,
    ) -> Result<(), ApiError> {
        if !whole {
            return self.ids("vertices", search, numbers.iter().copied());
        }
        let (context, ground) = (self.context(), self.ground);
        self.json().key("vertices").begin_array();
        for numbers in numbers.chunks(BATCH) {
            context.check_deadline()?;
            let ids = numbers.iter().map(|number| search.id(*number));
            let ids = ids.collect::<Result<Vec<VertexId>, _>>();
            let ids = ids.map_err(|error| refused(context, error))?;
            let (growing, mut failed) = (&mut self.growing, None);
            ground.view.visit_vertices(&ids, &mut |at, row| {
                let json = &mut growing.json;
                let written = output::vertex_row(json, ground.schema(), &ids[at], row);
                go_on(written, growing, &mut failed)
            })?;
            failed.map_or(Ok(()), Err)?;
        }
        self.json().end_array();
        Ok(())
    }

    /// Writes the list `edges`: elements if `whole`, else ids. An edge that does not exist is an
    /// [`ErrorKind::Storage`] error if `whole`.
    pub(super) fn edges(&mut self, edges: &[EdgeId], whole: bool) -> Result<(), ApiError> {
        if !whole {
            return self.list("edges", edges, |json, id| {
                output::edge_id(json, id);
                Ok(())
            });
        }
        let (context, ground) = (self.context(), self.ground);
        self.json().key("edges").begin_array();
        for ids in edges.chunks(BATCH) {
            context.check_deadline()?;
            let (growing, mut failed, mut next) = (&mut self.growing, None, 0);
            ground.view.visit_edges(ids, &mut |at, row| {
                if at > next {
                    return Flow::Break(());
                }
                next += 1;
                let json = &mut growing.json;
                let written = output::edge_row(json, ground.schema(), &ids[at], row);
                go_on(written, growing, &mut failed)
            })?;
            failed.map_or(Ok(()), Err)?;
            if let Some(id) = ids.get(next) {
                let message = format!("Edge '{id}' was listed at its end but is not at its source");
                return Err(GraphError::new(ErrorKind::Storage, message).into());
            }
        }
        self.json().end_array();
        Ok(())
    }

    /// Ends the answer of a path traverser: with the vertices of the paths, these edges and the
    /// measure.
    pub(super) fn with_elements(
        mut self,
        search: &Search<'_>,
        paths: &[Path],
        edges: &[EdgeId],
        whole: Whole,
    ) -> HandlerResult {
        self.vertices(search, &vertices_of(paths), whole.vertices)?;
        self.edges(edges, whole.edges)?;
        self.measured(search)
    }

    /// Ends the answer with the measure: the edges and vertices read, and the time since the
    /// handler made its [`Ground`], in nanoseconds.
    pub(super) fn measured(mut self, search: &Search<'_>) -> HandlerResult {
        let measure = search.measure();
        let nanos = self.ground.began.elapsed().as_nanos();
        let json = self.json().key("measure").begin_object();
        json.key("edge_iterations").unsigned(measure.edges);
        json.key("vertice_iterations").unsigned(measure.vertices);
        json.key("cost(ns)")
            .unsigned(u64::try_from(nanos).unwrap_or(u64::MAX));
        json.end_object();
        self.bare()
    }

    /// Ends the answer.
    pub(super) fn bare(mut self) -> HandlerResult {
        self.json().end_object();
        Ok(self.growing.finish())
    }
}

fn write_id(
    context: &RequestContext,
    json: &mut JsonWriter,
    search: &Search<'_>,
    number: VertexNumber,
) -> Result<(), ApiError> {
    let id = search.id(number).map_err(|error| refused(context, error))?;
    output::vertex_id(json, &id);
    Ok(())
}

/// Writes the member `objects`: the ids of a path's vertices.
fn write_objects(
    context: &RequestContext,
    json: &mut JsonWriter,
    search: &Search<'_>,
    path: &Path,
) -> Result<(), ApiError> {
    json.key("objects").begin_array();
    for number in &path.vertices {
        write_id(context, json, search, *number)?;
    }
    json.end_array();
    Ok(())
}

/// Continues after a written element. If writing failed or the answer is too large, breaks and puts
/// the error into `failed`.
fn go_on(
    written: Result<(), GraphError>,
    growing: &mut Growing<'_>,
    failed: &mut Option<ApiError>,
) -> Flow {
    let written = written.map_err(ApiError::from);
    match written.and_then(|()| growing.check()) {
        Ok(()) => Flow::Continue(()),
        Err(error) => {
            *failed = Some(error);
            Flow::Break(())
        }
    }
}
