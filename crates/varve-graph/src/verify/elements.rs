//! Checks vertices, edges and their events.

use varve_encoding::key;
use varve_encoding::row::{Header, RowKind};
use varve_encoding::tables::{EDGE, EVENT, PENDING, VERTEX};
use varve_kv::{Flow, ReaderExt, TableId};
use varve_model::schema::{IndexBase, Retention};
use varve_model::{CommitVersion, Direction, Element, ElementId, Instant, VertexId};

use super::events::Brief;
use super::prints::print;
use super::rows::Rows;
use super::{Check, Wrong};
use crate::error::GraphError;
use crate::read::{covers, resolve, scan_events};
use crate::rows::decode_element;

/// The most targets of edges in one read. An engine may hold the blocks of all of them in memory.
const TARGETS_TOGETHER: usize = 64;

impl Check<'_> {
    pub(super) fn vertex_row(
        &mut self,
        partition: &[u8],
        clustering: &[u8],
        value: &[u8],
    ) -> Result<(), Wrong> {
        if clustering != key::VERTEX_CLUSTERING {
            return Err(Wrong::Damage("not a vertex's key".to_owned()));
        }
        let id = ElementId::Vertex(key::decode_vertex_id(partition)?);
        self.seen.rows.push(print(partition, clustering));
        if self.current_row(&id, partition, clustering, value)? {
            self.report.vertices += 1;
            self.seen.vertices.push(print(partition, &[]));
        }
        Ok(())
    }

    pub(super) fn edge_row(
        &mut self,
        partition: &[u8],
        clustering: &[u8],
        value: &[u8],
    ) -> Result<(), Wrong> {
        let (edge, direction) = key::decode_edge(partition, clustering)?;
        self.sides.add_row(&edge, direction, None, value);
        if direction == Direction::In {
            return Ok(());
        }
        self.seen.rows.push(print(partition, clustering));
        let ends = [edge.source.clone(), edge.target.clone()];
        let id = ElementId::Edge(edge);
        if self.current_row(&id, partition, clustering, value)? {
            self.report.edges += 1;
            let [source, target] = ends;
            match self.source_exists(&source)? {
                true => {
                    let target = key::vertex_id(&target);
                    if self.known.vertices.has(print(&target, &[])) != Some(true) {
                        self.targets.push((target, self.row));
                    }
                }
                false => self.report.dangling_edges += 1,
            }
        }
        Ok(())
    }

    /// As [`Check::exists`], with a cache of one vertex: the edges of one source are consecutive.
    fn source_exists(&mut self, vertex: &VertexId) -> Result<bool, Wrong> {
        if let Some((source, exists)) = &self.source
            && source == vertex
        {
            return Ok(*exists);
        }
        let partition = key::vertex_id(vertex);
        let is_known = self.known.vertices.has(print(&partition, &[])) == Some(true);
        let exists = is_known || self.exists(&partition)?;
        self.source = Some((vertex.clone(), exists));
        Ok(exists)
    }

    fn exists(&self, partition: &[u8]) -> Result<bool, Wrong> {
        let clustering = key::VERTEX_CLUSTERING;
        let Some(row) = self.reader.get(VERTEX, partition, clustering)? else {
            return Ok(false);
        };
        let (row, newest) = (Some(row.as_slice()), CommitVersion::MAX);
        Ok(resolve(self.reader, partition, clustering, row, self.now, newest)?.is_some())
    }

    /// Counts as dangling the edges whose targets do not exist now, among the edges collected since
    /// the last call, whose targets no earlier stage has read. `rows` has the rows of these edges.
    /// Reads many targets at once, in the order of their keys, since the keys are scattered over
    /// the table.
    pub(super) fn look_for_targets(&mut self, rows: &Rows) -> Result<(), GraphError> {
        let mut targets = std::mem::take(&mut self.targets);
        targets.sort_unstable();
        let of_each: Vec<_> = targets.chunk_by(|one, two| one.0 == two.0).collect();
        for together in of_each.chunks(TARGETS_TOGETHER) {
            let known = self.known_targets(together);
            for (edges, known) in together.iter().zip(known) {
                let (target, number) = &edges[0];
                let exists = known.map_or_else(|| self.exists(target), Ok);
                let exists = self.unless_damaged(EDGE, rows.at(*number), exists)?;
                if exists == Some(false) {
                    self.report.dangling_edges += edges.len() as u64;
                }
            }
        }
        Ok(())
    }

    /// Whether the target of each group of edges exists now; false if it has no row. `None` if its
    /// current row alone does not decide or is unreadable, or if the read fails.
    fn known_targets(&self, together: &[&[(Vec<u8>, usize)]]) -> Vec<Option<bool>> {
        let keys: Vec<(&[u8], &[u8])> = together
            .iter()
            .map(|edges| (&edges[0].0[..], key::VERTEX_CLUSTERING))
            .collect();
        let mut known = vec![Some(false); keys.len()];
        let looked = self.reader.get_each(VERTEX, &keys, &mut |number, row| {
            let says = Header::decode(row).is_ok_and(|(header, _)| {
                covers(&header, self.now, CommitVersion::MAX) && !header.overlaid
            });
            known[number] = says.then_some(true);
        });
        match looked {
            Ok(()) => known,
            Err(_) => vec![None; keys.len()],
        }
    }

    /// Checks one current row and the element's events. Returns whether the element exists now.
    fn current_row(
        &mut self,
        id: &ElementId,
        partition: &[u8],
        clustering: &[u8],
        value: &[u8],
    ) -> Result<bool, Wrong> {
        let (header, content) = Header::decode(value)?;
        let events = self.events(partition, clustering)?;
        self.head(id, &header, &events);
        if header.kind == RowKind::Put {
            let element = decode_element(id, content)?;
            self.present_entries(&element, content)?;
            if header.until > self.now {
                self.rules(&element);
            }
        } else {
            self.report.markers += 1;
        }
        let own = (header.kind == RowKind::Put).then_some(&header);
        let instants = self.boundaries(&events, own);
        let mut coming: Vec<CommitVersion> = instants
            .iter()
            .filter_map(|instant| deciding(&events, own, *instant))
            .filter(|version| own.is_none_or(|own| own.version != *version))
            .collect();
        coming.dedup();
        for version in coming {
            self.coming_entries(id, partition, &key::event_clustering(clustering, version))?;
        }
        if header.until <= self.now {
            self.report.untidied += 1;
            let row = Some(value);
            let newest = CommitVersion::MAX;
            let found = resolve(self.reader, partition, clustering, row, self.now, newest)?;
            return Ok(found.is_some());
        }
        for instant in instants
            .into_iter()
            .filter(|instant| *instant < header.until)
        {
            let decides = deciding(&events, own, instant);
            let wanted = own.map(|own| own.version);
            if decides != wanted {
                let problem = format!(
                    "{id}: its row decides until {}, but not at {}",
                    header.until.0, instant.0
                );
                self.problem(|| problem);
            }
        }
        Ok(own.is_some())
    }

    /// Checks that the index of the present has the entries of an event that decides now or later.
    fn coming_entries(
        &mut self,
        id: &ElementId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<(), Wrong> {
        if let Some(row) = self.reader.get(EVENT, partition, clustering)? {
            let (_, content) = Header::decode(&row)?;
            let element = decode_element(id, content)?;
            self.present_entries(&element, content)?;
            self.rules(&element);
        }
        Ok(())
    }

    /// Checks a state of now or later against the constraints of existence, key and type that every
    /// element keeps.
    fn rules(&mut self, element: &Element) {
        let base = match element {
            Element::Vertex(vertex) => IndexBase::Vertex(vertex.label),
            Element::Edge(edge) => IndexBase::Edge(edge.id.label),
        };
        let schema = self.schema;
        for rule in schema.rules_of(base).iter().filter(|rule| rule.is_checked) {
            if let Some(broken) = rule.broken_by(schema, element) {
                self.problem(|| broken);
            }
        }
    }

    fn head(&mut self, id: &ElementId, header: &Header, events: &[Brief]) {
        if header.kind == RowKind::Delete {
            self.problem(|| format!("{id}: its current row is a deletion"));
        }
        if header.until > header.to {
            self.problem(|| format!("{id}: its row decides beyond the end of its period"));
        }
        if header.until < Instant::FOREVER && !self.waited_for(header.until, id) {
            self.problem(|| {
                format!(
                    "{id}: the end of its row at {} is not pending",
                    header.until.0
                )
            });
        }
        if header.kind != RowKind::Put {
            return;
        }
        if header.version > self.published {
            self.problem(|| {
                format!(
                    "{id}: version {} is newer than the last commit",
                    header.version
                )
            });
        }
        if events.iter().any(|event| event.version == header.version) {
            self.problem(|| format!("{id}: event {} is in two places", header.version));
        }
        let newer = events.iter().any(|event| event.version > header.version);
        if newer && !header.overlaid {
            self.problem(|| format!("{id}: newer events, but its row is not marked as overlaid"));
        }
    }

    fn waited_for(&self, at: Instant, id: &ElementId) -> bool {
        let clustering = key::pending_clustering(at, id);
        let row = self
            .reader
            .get(PENDING, key::PENDING_PARTITION, &clustering);
        // An unreadable row counts as one that is there; the scan of the table reports the error.
        !row.is_ok_and(|row| row.is_none()) || at <= self.now
    }

    fn events(&mut self, partition: &[u8], clustering: &[u8]) -> Result<Vec<Brief>, Wrong> {
        if let Some(known) = self.eventful.of_element(partition, clustering) {
            return Ok(known);
        }
        let mut events = Vec::new();
        let newest = CommitVersion::MAX;
        scan_events(
            self.reader,
            partition,
            clustering,
            newest,
            &mut |header, _| {
                events.push(Brief::of(&header));
                Flow::Continue(())
            },
        )?;
        Ok(events)
    }

    /// Now, and the later instants at which another event may begin to decide, ascending.
    fn boundaries(&self, events: &[Brief], own: Option<&Header>) -> Vec<Instant> {
        let periods = events.iter().map(|event| event.period);
        let own = own.map(Header::period);
        let ends = periods
            .chain(own)
            .flat_map(|period| [period.from, period.to]);
        let mut instants: Vec<Instant> = ends
            .filter(|instant| *instant > self.now && *instant < Instant::FOREVER)
            .collect();
        instants.push(self.now);
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    pub(super) fn event_row(
        &mut self,
        partition: &[u8],
        clustering: &[u8],
        value: &[u8],
    ) -> Result<(), Wrong> {
        let (current, version) = key::split_event(clustering)?;
        let (header, content) = Header::decode(value)?;
        let vertex = current == key::VERTEX_CLUSTERING;
        let (id, mirrored) = if vertex {
            (ElementId::Vertex(key::decode_vertex_id(partition)?), None)
        } else {
            let (edge, direction) = key::decode_edge(partition, current)?;
            self.sides.add_row(&edge, direction, Some(version), value);
            (ElementId::Edge(edge), Some(direction))
        };
        if mirrored == Some(Direction::In) {
            return Ok(());
        }
        self.report.events += 1;
        if header.version != version || version > self.published || header.kind == RowKind::Marker {
            self.problem(|| format!("{id}: event {version} contradicts its key"));
        }
        if header.kind == RowKind::Put {
            let element = decode_element(&id, content)?;
            self.past_entries(&element, content)?;
        }
        let side = (partition.to_vec(), current.to_vec());
        if self.walked.as_ref() != Some(&side) {
            let table = if vertex { VERTEX } else { EDGE };
            self.without_row(&id, table, partition, current)?;
            self.walked = Some(side);
        }
        Ok(())
    }

    /// Checks that an element that has events but no current row exists neither now nor later.
    fn without_row(
        &mut self,
        id: &ElementId,
        table: TableId,
        partition: &[u8],
        clustering: &[u8],
    ) -> Result<(), Wrong> {
        let is_known = self.known.rows.has(print(partition, clustering)) == Some(true);
        if is_known || self.reader.get(table, partition, clustering)?.is_some() {
            return Ok(());
        }
        let events = self.events(partition, clustering)?;
        for instant in self.boundaries(&events, None) {
            if deciding(&events, None, instant).is_some() {
                self.problem(|| format!("{id}: exists at {}, but has no current row", instant.0));
            }
        }
        Ok(())
    }

    /// Whether the label of an element keeps its whole past, so that past index entries must exist.
    pub(super) fn keeps_all(&self, element: &Element) -> bool {
        let retention = match element {
            Element::Vertex(vertex) => self
                .schema
                .vertex_label(vertex.label)
                .map(|label| label.retention),
            Element::Edge(edge) => self
                .schema
                .edge_label(edge.id.label)
                .map(|label| label.retention),
        };
        retention == Some(Retention::All)
    }

    pub(super) fn pending_row(&mut self, clustering: &[u8]) -> Result<(), Wrong> {
        key::decode_pending(clustering)?;
        self.report.pending += 1;
        Ok(())
    }
}

/// Returns the version of the put that decides at `instant`; `None` if the element does not exist
/// then. `events` are newest first.
fn deciding(events: &[Brief], own: Option<&Header>, instant: Instant) -> Option<CommitVersion> {
    let event = events.iter().find(|event| event.period.covers(instant));
    let own = own.filter(|own| own.period().covers(instant));
    match (event, own) {
        (Some(event), Some(own)) if own.version > event.version => Some(own.version),
        (Some(event), _) => (event.kind == RowKind::Put).then_some(event.version),
        (None, own) => own.map(|own| own.version),
    }
}

/// Reads the element as it is now, if it exists.
pub(super) fn state_now(check: &Check<'_>, id: &ElementId) -> Result<Option<Element>, Wrong> {
    let (partition, clustering) = key::current(id);
    let table = if matches!(id, ElementId::Vertex(_)) {
        VERTEX
    } else {
        EDGE
    };
    let row = check.reader.get(table, &partition, &clustering)?;
    let newest = CommitVersion::MAX;
    let found = resolve(
        check.reader,
        &partition,
        &clustering,
        row.as_deref(),
        check.now,
        newest,
    )?;
    Ok(found
        .map(|found| decode_element(id, &found.content))
        .transpose()?)
}
