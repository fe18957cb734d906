//! A view: one committed state of a graph, read at one point of both times.

use std::sync::Arc;

use varve_encoding::key;
use varve_encoding::row::{self, Header, RowKind};
use varve_encoding::tables::{EDGE, VERTEX};
use varve_kv::{Flow, Reader, ReaderExt, TableId};
use varve_model::{
    CommitVersion, Direction, Edge, EdgeId, Element, ElementId, Instant, TemporalScope, Vertex,
    VertexId,
};

use super::guard::Guard;
use super::remembered::RememberingReader;
use super::resolve::covers;
use super::{resolve, scan_events};
use crate::commit::stored_version;
use crate::error::{ErrorKind, GraphError};
use crate::index::Deriver;
use crate::rows::decode_element;
use crate::schema::Schema;

/// One committed state of a graph at one point of both times. All reads of a request use one view,
/// so that its answer is consistent.
#[derive(Clone)]
pub struct View {
    reader: Arc<dyn Reader>,
    schema: Arc<Schema>,
    deriver: Option<Arc<dyn Deriver>>,
    scope: TemporalScope,
    now: Instant,
    /// The last commit, if the engine has no snapshots, so that reads may see newer commits.
    last: Option<CommitVersion>,
    /// The access policy; `None` = all elements are visible.
    pub(super) guard: Option<Arc<Guard>>,
}

impl View {
    pub(crate) fn new(
        reader: Arc<dyn Reader>,
        schema: Arc<Schema>,
        deriver: Option<Arc<dyn Deriver>>,
        scope: TemporalScope,
        now: Instant,
        last: Option<CommitVersion>,
    ) -> Self {
        Self {
            reader,
            schema,
            deriver,
            scope,
            now,
            last,
            guard: None,
        }
    }

    /// Whether all reads of this view see one committed state.
    pub(crate) fn is_one_state(&self) -> bool {
        self.last.is_none()
    }

    /// The reader of the stored rows.
    #[must_use]
    pub fn reader(&self) -> &dyn Reader {
        &*self.reader
    }

    /// The same view for one query, which reads no edge and no vertex twice if the engine is
    /// reached over a network.
    #[must_use]
    pub fn remembering(&self) -> Self {
        let mut view = self.clone();
        // Only such engines have no snapshots.
        if view.last.is_some() {
            view.reader = Arc::new(RememberingReader::new(view.reader));
        }
        view
    }

    /// The current schema: the past is read with today's names.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The program that computes the entries of derived indexes.
    pub(crate) fn deriver(&self) -> Option<&dyn Deriver> {
        self.deriver.as_deref()
    }

    /// The requested point of both times.
    #[must_use]
    pub const fn scope(&self) -> TemporalScope {
        self.scope
    }

    /// The instant of valid time of this view.
    #[must_use]
    pub fn valid(&self) -> Instant {
        self.scope.valid.unwrap_or(self.now)
    }

    /// The newest commit version that this view shows.
    #[must_use]
    pub fn version(&self) -> CommitVersion {
        self.scope.transaction.unwrap_or(CommitVersion::MAX)
    }

    /// Returns the last commit in this view's committed state, whatever the view's point.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn last_commit(&self) -> Result<CommitVersion, GraphError> {
        match self.last {
            Some(last) => Ok(last),
            None => stored_version(self.reader()),
        }
    }

    /// The same committed state at another point. A time that is `None` is taken from this view,
    /// and a later transaction time than this view's is reduced to this view's.
    pub(crate) fn moved_to(&self, at: TemporalScope) -> Self {
        let asked = at.transaction.filter(|asked| *asked < self.version());
        // Without snapshots, reads see newer commits, so the last complete commit bounds the past,
        // too.
        let within = asked.map(|asked| self.last.map_or(asked, |last| asked.min(last)));
        let scope = TemporalScope {
            valid: at.valid.or(self.scope.valid),
            transaction: within.or(self.scope.transaction),
        };
        let guard = self.guard.as_ref().map(|guard| guard.elsewhere());
        Self {
            scope,
            guard,
            ..self.clone()
        }
    }

    /// Calls `found` with the content of the vertex's row ([`row::vertex_parts`]); returns whether
    /// the vertex exists.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn with_vertex(
        &self,
        id: &VertexId,
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        let partition = key::vertex_id(id);
        self.with_element(VERTEX, (&partition, key::VERTEX_CLUSTERING), found)
    }

    /// Calls `found` with the content of the edge's row ([`row::edge_parts`]); returns whether the
    /// edge exists.
    ///
    /// # Errors
    /// As [`View::with_vertex`].
    pub fn with_edge(&self, id: &EdgeId, found: &mut dyn FnMut(&[u8])) -> Result<bool, GraphError> {
        let partition = key::vertex_id(&id.source);
        let clustering = key::edge_clustering(id, Direction::Out);
        self.with_element(EDGE, (&partition, &clustering), found)
    }

    fn with_element(
        &self,
        table: TableId,
        (partition, clustering): (&[u8], &[u8]),
        found: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, GraphError> {
        let (reader, point) = (self.reader(), self.point());
        let Some(guard) = &self.guard else {
            return read_element(reader, table, partition, clustering, point, found);
        };
        let mut content = None;
        let copy = &mut |row: &[u8]| content = Some(row.to_vec());
        read_element(reader, table, partition, clustering, point, copy)?;
        let Some(content) = content else {
            return Ok(false);
        };
        let shown = self.shows(guard, table, (partition, clustering), &content)?;
        if shown {
            found(&content);
        }
        Ok(shown)
    }

    /// Reads the vertex with this id.
    ///
    /// # Errors
    /// As [`View::with_vertex`].
    pub fn vertex(&self, id: &VertexId) -> Result<Option<Vertex>, GraphError> {
        let mut vertex = None;
        self.with_vertex(id, &mut |content| {
            vertex = Some(row::decode_vertex(id.clone(), content))
        })?;
        Ok(vertex.transpose()?)
    }

    /// Reads the edge with this id.
    ///
    /// # Errors
    /// As [`View::with_vertex`].
    pub fn edge(&self, id: &EdgeId) -> Result<Option<Edge>, GraphError> {
        let mut edge = None;
        self.with_edge(id, &mut |content| {
            edge = Some(row::decode_edge(id.clone(), content))
        })?;
        Ok(edge.transpose()?)
    }

    /// Reads the state of an element and the version of its row, if it has one, in one read.
    /// `graph` is the graph's name, for error messages.
    ///
    /// # Errors
    /// [`ErrorKind::Conflict`] when the row is newer than the view's transaction time,
    /// [`ErrorKind::Denied`] when the state is not visible; as [`View::with_vertex`].
    pub(crate) fn state(
        &self,
        graph: &str,
        id: &ElementId,
    ) -> Result<(Option<CommitVersion>, Option<Element>), GraphError> {
        let (partition, clustering) = key::current(id);
        let table = match id {
            ElementId::Vertex(_) => VERTEX,
            ElementId::Edge(_) => EDGE,
        };
        let row = self.reader.get(table, &partition, &clustering)?;
        let Some(row) = row else {
            // Without snapshots the row may have been removed since the view began.
            let (valid, version) = (self.valid(), self.version());
            let before = match self.is_one_state() {
                true => None,
                false => resolve(self.reader(), &partition, &clustering, None, valid, version)?,
            };
            return match before {
                None => Ok((None, None)),
                Some(_) => Err(changed_meanwhile(id)),
            };
        };
        let (header, _) = Header::decode(&row)?;
        let (valid, version) = (self.valid(), self.version());
        if header.version > version {
            return Err(changed_meanwhile(id));
        }
        let resolved = resolve(
            self.reader(),
            &partition,
            &clustering,
            Some(&row),
            valid,
            version,
        )?;
        if let (Some(guard), Some(resolved)) = (&self.guard, &resolved) {
            let keys = (&*partition, &*clustering);
            if !self.shows(guard, table, keys, &resolved.content)? {
                return Err(GraphError::denied("read", graph, id));
            }
        }
        let element = resolved.map(|resolved| decode_element(id, &resolved.content));
        Ok((Some(header.version), element.transpose()?))
    }

    pub(crate) fn point(&self) -> Point {
        Point {
            scope: self.scope,
            now: self.now,
        }
    }
}

fn changed_meanwhile(id: &ElementId) -> GraphError {
    let message = format!("'{id}' was changed meanwhile");
    GraphError::new(ErrorKind::Conflict, message)
}

/// A point of both times, together with the instant of now.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) scope: TemporalScope,
    pub(crate) now: Instant,
}

impl Point {
    pub(crate) fn valid(self) -> Instant {
        self.scope.valid.unwrap_or(self.now)
    }

    pub(crate) fn version(self) -> CommitVersion {
        self.scope.transaction.unwrap_or(CommitVersion::MAX)
    }

    /// Whether a current row decides the state at this point without a look at the events. False
    /// does not mean that the element does not exist.
    pub(crate) fn row_decides(self, header: &Header) -> bool {
        if self.scope.is_now() {
            return header.kind == RowKind::Put && header.until > self.now;
        }
        header.kind == RowKind::Put
            && !header.overlaid
            && header.version <= self.version()
            && header.period().covers(self.valid())
    }
}

/// Reads one element at a point of both times and passes its content to `found`. Returns whether
/// the element exists there.
pub(crate) fn read_element(
    reader: &dyn Reader,
    table: TableId,
    partition: &[u8],
    clustering: &[u8],
    point: Point,
    found: &mut dyn FnMut(&[u8]),
) -> Result<bool, GraphError> {
    let mut outcome: Result<bool, GraphError> = Ok(false);
    let (mut undecided, mut is_of_another_time) = (None, false);
    let covers = |header: &Header| covers(header, point.valid(), point.version());
    let exists = reader.get_with(
        table,
        partition,
        clustering,
        &mut |row| match Header::decode(row) {
            Ok((header, content)) if point.row_decides(&header) => {
                found(content);
                outcome = Ok(true);
            }
            Ok((header, _)) if covers(&header) => undecided = Some(row.to_vec()),
            Ok(_) => is_of_another_time = true,
            Err(error) => outcome = Err(error.into()),
        },
    )?;
    let is_over = undecided.is_none() && !is_of_another_time;
    // In the present, a missing row means that the element does not exist.
    if is_over && (exists || point.scope.is_now()) {
        return outcome;
    }
    let (valid, version) = (point.valid(), point.version());
    let Some(row) = undecided else {
        // The newest event that covers the point decides. Its content may be long, so it is not
        // copied.
        let mut exists = false;
        scan_events(
            reader,
            partition,
            clustering,
            version,
            &mut |header, content| {
                if !header.period().covers(valid) {
                    return Flow::Continue(());
                }
                exists = header.kind == RowKind::Put;
                if exists {
                    found(content);
                }
                Flow::Break(())
            },
        )?;
        return Ok(exists);
    };
    let resolved = resolve(reader, partition, clustering, Some(&row), valid, version)?;
    if let Some(resolved) = &resolved {
        found(&resolved.content);
    }
    Ok(resolved.is_some())
}
