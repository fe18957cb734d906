//! Scans of presented elements: of labels, and by the entries of a condition.

use varve_encoding::key;
use varve_kv::ClusteringRange;
use varve_model::{Direction, EdgeId, ElementId, Properties, PropertyKeyId, VertexId};
use varve_view::{
    Elements, Flow, GraphView, Meter, ScanAsk, ScanPosition, ScannedEdge, ScannedElement,
    VertexFound, ViewError,
};

use super::{PresentedView, edge_of, vertex_of};
use crate::read::DerivedWalk;
use crate::schema::{Entries, PresentedElement, PresentedLabel};

/// Elements of entries that are read together.
const READ_TOGETHER: usize = 64;
/// First byte of the position in a scan of labels, followed by the position in the stored view.
const IN_LABELS: u8 = 0;
/// First byte of the position in a scan of entries, followed by the number of the list of entries
/// and the last clustering key.
const IN_ENTRIES: u8 = 1;

/// An element that an entry names, with the entry's clustering key.
type Named = (Vec<u8>, ElementId);

/// What a scan of entries has to do.
struct Walk<'a> {
    ask: &'a ScanAsk<'a>,
    /// The properties of `ask` and those of its conditions, ascending.
    keys: Vec<PropertyKeyId>,
    lists: Vec<Entries>,
    meter: &'a Meter,
}

fn no_index(what: &str) -> ViewError {
    ViewError::NoIndex(format!("No index of the repository serves {what}"))
}

fn damaged_position() -> ViewError {
    ViewError::failed(varve_view::ErrorKind::BadPage, "Invalid position of a scan")
}

impl PresentedView<'_> {
    /// [`GraphView::scan`].
    pub(super) fn scan_presented(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        if ask.order.is_some() {
            return Err(no_index("the order"));
        }
        if ask.conditions.is_empty() {
            return self.scan_labels(ask, from, demand, meter, visit);
        }
        let walk = Walk {
            lists: self
                .entries_of(ask)
                .ok_or_else(|| no_index("the conditions"))?,
            keys: keys_of(ask),
            ask,
            meter,
        };
        self.scan_entries(&walk, from, demand, visit)
    }

    /// [`GraphView::estimate`].
    pub(super) fn estimate_presented(
        &self,
        ask: &ScanAsk<'_>,
        most: u64,
        meter: &Meter,
    ) -> Result<Option<u64>, ViewError> {
        if ask.conditions.is_empty() && ask.order.is_none() {
            return self.stored.estimate(ask, most, meter);
        }
        let Some(lists) = self.entries_of(ask) else {
            return Ok(None);
        };
        let mut counted = 0;
        for list in &lists {
            let wanted = usize::try_from(most - counted).unwrap_or(usize::MAX);
            counted += self.named(list, None, wanted, meter)?.len() as u64;
        }
        Ok(Some(counted))
    }

    /// The entries by which one of the conditions is served.
    fn entries_of(&self, ask: &ScanAsk<'_>) -> Option<Vec<Entries>> {
        // A graph that is only followed has no deriver to check entries with.
        self.stored.deriver()?;
        let (labels, is_vertices): (Vec<PresentedLabel>, bool) = match ask.elements {
            Elements::Vertices(all) => (
                all.iter().copied().map(PresentedLabel::Vertex).collect(),
                true,
            ),
            Elements::Edges(all) => (
                all.iter().copied().map(PresentedLabel::Edge).collect(),
                false,
            ),
        };
        ask.conditions.iter().find_map(|condition| {
            let key = self.presentation.key(condition.key)?;
            let presenter = self.presentation.presenter();
            presenter.entries(&labels, is_vertices, &key.name, condition)
        })
    }

    /// A scan without conditions.
    fn scan_labels(
        &self,
        ask: &ScanAsk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        meter: &Meter,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let mut position = match from.map(ScanPosition::bytes) {
            None => None,
            Some([IN_LABELS, inner @ ..]) => Some(ScanPosition::new(inner.to_vec())),
            Some(_) => return Err(damaged_position()),
        };
        let asked = super::Asked::new(self.presentation, Some(ask.properties));
        let inner = ScanAsk {
            properties: &asked.stored,
            ..*ask
        };
        let mut left = demand.max(1);
        loop {
            let (mut failed, mut is_over) = (None, false);
            let read = left;
            let next =
                self.stored.scan(
                    &inner,
                    position.as_ref(),
                    read,
                    meter,
                    &mut |found| match self.show_scanned(found, &asked, visit) {
                        Ok(None) => Flow::Continue(()),
                        Ok(Some(flow)) => {
                            left = left.saturating_sub(1);
                            is_over = flow.is_break();
                            flow
                        }
                        Err(error) => {
                            failed = Some(error);
                            Flow::Break(())
                        }
                    },
                )?;
            if let Some(error) = failed {
                return Err(error);
            }
            let Some(next) = next else {
                return Ok(None);
            };
            if is_over || left == 0 {
                return Ok(Some(ScanPosition::new(
                    [&[IN_LABELS], next.bytes()].concat(),
                )));
            }
            position = Some(next);
        }
    }

    /// Passes a stored element as it is presented to a visitor; `None` if queries do not see it.
    fn show_scanned(
        &self,
        found: &ScannedElement<'_>,
        asked: &super::Asked<'_>,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<Flow>, ViewError> {
        let (label, stored) = match found {
            ScannedElement::Vertex { vertex, .. } => {
                (PresentedLabel::Vertex(vertex.label), vertex.properties)
            }
            ScannedElement::Edge(edge) => (PresentedLabel::Edge(edge.label), edge.properties),
        };
        let element = PresentedElement {
            id: &|| match found {
                ScannedElement::Vertex { key, .. } => vertex_of(key),
                ScannedElement::Edge(edge) => edge_of(edge.source, edge.edge),
            },
            label,
            stored,
        };
        let Some(properties) = self.present(&element, asked)? else {
            return Ok(None);
        };
        let properties = &properties;
        Ok(Some(visit(&match *found {
            ScannedElement::Vertex { key, vertex } => ScannedElement::Vertex {
                key,
                vertex: VertexFound {
                    properties,
                    ..vertex
                },
            },
            ScannedElement::Edge(edge) => ScannedElement::Edge(ScannedEdge { properties, ..edge }),
        })))
    }

    /// A scan of the elements that entries name.
    fn scan_entries(
        &self,
        walk: &Walk<'_>,
        from: Option<&ScanPosition>,
        demand: usize,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Option<ScanPosition>, ViewError> {
        let (mut at, mut after) = match from.map(ScanPosition::bytes) {
            None => (0, None),
            Some([IN_ENTRIES, at, after @ ..]) => (*at, Some(after.to_vec())),
            Some(_) => return Err(damaged_position()),
        };
        let mut left = demand.max(1);
        while let Some(list) = walk.lists.get(usize::from(at)) {
            let named = self.named(list, after.as_deref(), READ_TOGETHER, walk.meter)?;
            let elements = self.read_named(walk, &named)?;
            for ((clustering, id), element) in named.iter().zip(&elements) {
                let Some(element) = element else { continue };
                left -= 1;
                if element.show(&self.stored, id, visit)?.is_break() || left == 0 {
                    let position = [&[IN_ENTRIES, at], clustering.as_slice()].concat();
                    return Ok(Some(ScanPosition::new(position)));
                }
            }
            match named.last() {
                Some((last, _)) if named.len() == READ_TOGETHER => after = Some(last.clone()),
                _ => (at, after) = (at + 1, None),
            }
        }
        Ok(None)
    }

    /// The next elements that a list of entries names.
    fn named(
        &self,
        list: &Entries,
        after: Option<&[u8]>,
        most: usize,
        meter: &Meter,
    ) -> Result<Vec<Named>, ViewError> {
        let (index, firsts, prefix) = match list {
            // Its only entry has an empty key.
            Entries::Vertex(id) if after.is_none() => {
                return Ok(vec![(Vec::new(), ElementId::Vertex(id.clone()))]);
            }
            Entries::Vertex(_) => return Ok(Vec::new()),
            Entries::Derived {
                index,
                firsts,
                prefix,
            } => (*index, firsts, prefix),
        };
        let walk = DerivedWalk {
            index,
            firsts,
            range: ClusteringRange::prefix(prefix),
            reverse: false,
            after,
            unchecked: false,
        };
        let (mut named, mut counted) = (Vec::new(), Ok(()));
        if most == 0 {
            return Ok(named);
        }
        self.stored.0.walk_derived(&walk, &mut |step| {
            counted = meter.row();
            if counted.is_err() {
                return Flow::Break(());
            }
            named.push((step.clustering.to_vec(), step.id.clone()));
            match named.len() < most {
                true => Flow::Continue(()),
                false => Flow::Break(()),
            }
        })?;
        counted?;
        Ok(named)
    }

    /// Reads the elements with these names that satisfy the scan.
    fn read_named(
        &self,
        walk: &Walk<'_>,
        named: &[Named],
    ) -> Result<Vec<Option<Found>>, ViewError> {
        let mut found: Vec<Option<Found>> = vec![None; named.len()];
        let narrowed = |properties: Properties| {
            let asked = walk.ask.properties;
            let pairs = properties.into_pairs();
            let mut narrow = Properties::new();
            for (key, value) in pairs.filter(|(key, _)| asked.binary_search(key).is_ok()) {
                narrow.set(key, value);
            }
            narrow
        };
        match walk.ask.elements {
            Elements::Vertices(labels) => {
                let mut keys = vec![Vec::new(); named.len()];
                for ((_, id), key) in named.iter().zip(&mut keys) {
                    if let ElementId::Vertex(id) = id {
                        self.stored.put_vertex_key(id, key);
                    }
                }
                let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
                self.vertices(
                    &keys,
                    &walk.keys,
                    walk.meter,
                    &mut |at, label, properties| {
                        let is_wanted = labels.is_empty() || labels.contains(&label);
                        if is_wanted && self.satisfies(walk.ask.conditions, &properties) {
                            found[at] = Some(Found::Vertex(label, narrowed(properties)));
                        }
                    },
                )?;
            }
            Elements::Edges(labels) => {
                let ids = named.iter().filter_map(|(_, id)| match id {
                    ElementId::Edge(id) => Some(id.clone()),
                    ElementId::Vertex(_) => None,
                });
                let ids: Vec<EdgeId> = ids.collect();
                self.edges(&ids, &walk.keys, walk.meter, &mut |at, edge| {
                    let is_wanted = labels.is_empty() || labels.contains(&ids[at].label);
                    if is_wanted && self.satisfies(walk.ask.conditions, edge.properties) {
                        let ends = (edge.source_label, edge.target_label);
                        found[at] = Some(Found::Edge(ends, narrowed(edge.properties.clone())));
                    }
                })?;
            }
        }
        Ok(found)
    }
}

/// An element that satisfies a scan.
#[derive(Debug, Clone)]
enum Found {
    Vertex(varve_model::VertexLabelId, Properties),
    /// The labels of its ends, and its properties.
    Edge(
        (varve_model::VertexLabelId, varve_model::VertexLabelId),
        Properties,
    ),
}

impl Found {
    fn show(
        &self,
        view: &dyn GraphView,
        id: &ElementId,
        visit: &mut dyn FnMut(&ScannedElement<'_>) -> Flow,
    ) -> Result<Flow, ViewError> {
        let key_of = |id: &VertexId| {
            let mut key = Vec::new();
            view.put_vertex_key(id, &mut key);
            key
        };
        Ok(match (self, id) {
            (Self::Vertex(label, properties), ElementId::Vertex(id)) => {
                let vertex = VertexFound {
                    label: *label,
                    properties,
                };
                let key = &key_of(id);
                visit(&ScannedElement::Vertex { key, vertex })
            }
            (Self::Edge((source_label, target_label), properties), ElementId::Edge(id)) => {
                visit(&ScannedElement::Edge(ScannedEdge {
                    source: &key_of(&id.source),
                    target: &key_of(&id.target),
                    edge: &key::edge_clustering(id, Direction::Out),
                    label: id.label,
                    source_label: *source_label,
                    target_label: *target_label,
                    properties,
                }))
            }
            _ => Flow::Continue(()),
        })
    }
}

/// The properties that a scan asks for and those of its conditions, ascending.
fn keys_of(ask: &ScanAsk<'_>) -> Vec<PropertyKeyId> {
    let own = ask.conditions.iter().map(|condition| condition.key);
    let mut keys: Vec<PropertyKeyId> = ask.properties.iter().copied().chain(own).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
