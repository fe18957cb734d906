//! Derived indexes: entries that the program which opens a graph computes from its elements, in
//! addition to those of index labels.
//!
//! An entry is a pure function of an element's id and content. So each write of an element stores
//! the difference between the entries of its old and new state, and moves the entries that are gone
//! to the table `event_index`, as for index labels. These entries are hints too: a reader fetches
//! the element and checks that it has the entry at the point read.

use std::sync::Arc;

use varve_encoding::index::{IndexId, put_partition};
use varve_encoding::key;
use varve_kv::Reader;
use varve_model::sortable::given_id;
use varve_model::{ElementId, VertexId};

use crate::error::GraphError;
use crate::schema::{Presentation, Schema};

/// The longest first value of a derived entry, in bytes.
pub const DERIVED_FIRST_BYTES_MAX: usize = 255;

/// The derived index from given ids of edges ([`varve_model::sortable::given_id`]) to the edges.
/// Every graph has it; derivers use other numbers.
pub const GIVEN_EDGE_IDS: u32 = u32::MAX;

/// Computes the derived entries of elements.
pub trait Deriver: Send + Sync {
    /// Adds the entries of an element whose row has this content ([`crate::content`]).
    ///
    /// # Errors
    /// When the content is damaged.
    fn derive(
        &self,
        id: &ElementId,
        content: &[u8],
        entries: &mut DerivedEntries,
    ) -> Result<(), GraphError>;

    /// How queries see the elements of the graph with this schema; `None` = as they are stored.
    fn presentation(&self, _: &Schema) -> Option<Presentation> {
        None
    }
}

/// The source of a graph's deriver when the graph is opened.
pub trait DeriverSource: Send + Sync {
    /// The deriver of the graph with that name, as its stored notes require; `None` if it has no
    /// deriver.
    ///
    /// # Errors
    /// When the stored notes are damaged.
    fn deriver(
        &self,
        graph: &str,
        stored: &dyn Reader,
    ) -> Result<Option<Arc<dyn Deriver>>, GraphError>;
}

/// The entries of one state of one element.
#[derive(Debug, Default)]
pub struct DerivedEntries {
    bytes: Vec<u8>,
    spans: Vec<Span>,
    element: Vec<u8>,
}

/// The positions of an entry's keys in `DerivedEntries::bytes`: the partition key is before
/// `middle`, the clustering key after it.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    middle: u32,
    end: u32,
}

impl DerivedEntries {
    /// Adds an entry of the index `index`. `first` is the value in its partition key. `further` are
    /// ordered values ([`varve_encoding::index`]): entries of a partition are ordered by them
    /// first, then by element.
    ///
    /// # Panics
    /// When `first` is longer than [`DERIVED_FIRST_BYTES_MAX`].
    pub fn put(&mut self, index: u32, first: &[u8], further: &[u8]) {
        let start = self.at();
        put_partition(IndexId::Derived(index), 0, first, &mut self.bytes);
        let middle = self.at();
        self.bytes.extend_from_slice(further);
        self.bytes.extend_from_slice(&self.element);
        let end = self.at();
        self.spans.push(Span { start, middle, end });
    }

    /// The number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The partition and clustering keys, in no order; an entry may occur twice.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.spans.iter().map(|span| self.keys(*span))
    }

    fn keys(&self, span: Span) -> (&[u8], &[u8]) {
        let part = |from: u32, to: u32| &self.bytes[from as usize..to as usize];
        (part(span.start, span.middle), part(span.middle, span.end))
    }

    fn at(&self) -> u32 {
        u32::try_from(self.bytes.len())
            .expect("an element is bounded at megabytes, and so are its entries")
    }

    /// Whether an entry has these keys.
    #[must_use]
    pub fn contain(&self, partition: &[u8], clustering: &[u8]) -> bool {
        self.iter().any(|entry| entry == (partition, clustering))
    }

    /// Sorts the entries and removes duplicates.
    fn sort(&mut self) {
        let mut spans = std::mem::take(&mut self.spans);
        spans.sort_unstable_by(|a, b| self.keys(*a).cmp(&self.keys(*b)));
        spans.dedup_by(|a, b| self.keys(*a) == self.keys(*b));
        self.spans = spans;
    }

    /// Calls `gone` with each entry that only `old` has, and `come` with each that only `new` has.
    pub(crate) fn compare<'a>(
        old: &'a mut Self,
        new: &'a mut Self,
        mut gone: impl FnMut(&'a [u8], &'a [u8]),
        mut come: impl FnMut(&'a [u8], &'a [u8]),
    ) {
        if !old.is_empty() && !new.is_empty() {
            old.sort();
            new.sort();
        }
        let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
        loop {
            match (old.peek(), new.peek()) {
                (Some(left), Some(right)) if left == right => {
                    old.next();
                    new.next();
                }
                (Some(left), right) if right.is_none_or(|right| left < right) => {
                    gone(left.0, left.1);
                    old.next();
                }
                (_, Some((partition, clustering))) => {
                    come(partition, clustering);
                    new.next();
                }
                (_, None) => return,
            }
        }
    }
}

/// Whether an element may have derived entries.
pub(crate) fn may_have_derived(deriver: Option<&dyn Deriver>, id: &ElementId) -> bool {
    deriver.is_some() || given_edge_id(id).is_some()
}

/// The entries that `deriver` computes from an element's state, and that of an edge's given id.
pub(crate) fn derived_entries(
    deriver: Option<&dyn Deriver>,
    id: &ElementId,
    content: &[u8],
) -> Result<DerivedEntries, GraphError> {
    let mut entries = DerivedEntries::default();
    let given = given_edge_id(id);
    if deriver.is_none() && given.is_none() {
        return Ok(entries);
    }
    key::put_ordered_element(id, &mut entries.element);
    if let Some(given) = given {
        entries.put(GIVEN_EDGE_IDS, &given_first(&given), &[]);
    }
    if let Some(deriver) = deriver {
        deriver.derive(id, content, &mut entries)?;
    }
    Ok(entries)
}

/// The given id of an edge. A sort value of a declared label that looks like a given id gets a
/// useless entry.
fn given_edge_id(id: &ElementId) -> Option<VertexId> {
    match id {
        ElementId::Edge(edge) => given_id(&edge.sort_values),
        ElementId::Vertex(_) => None,
    }
}

/// The first value of an id's entry in [`GIVEN_EDGE_IDS`]. Long ids with a common prefix share it.
pub(crate) fn given_first(id: &VertexId) -> Vec<u8> {
    let mut first = key::vertex_id(id);
    first.truncate(DERIVED_FIRST_BYTES_MAX);
    first
}

#[cfg(test)]
mod tests {
    use varve_encoding::index::put_ordered_whole;
    use varve_model::{EdgeId, EdgeLabelId};

    use super::*;

    /// An entry for each byte of the content.
    struct Bytes;

    impl Deriver for Bytes {
        fn derive(
            &self,
            _: &ElementId,
            content: &[u8],
            entries: &mut DerivedEntries,
        ) -> Result<(), GraphError> {
            for byte in content {
                let mut further = Vec::new();
                put_ordered_whole(i64::from(*byte), &mut further);
                entries.put(7, b"x", &further);
            }
            Ok(())
        }
    }

    #[test]
    fn the_difference_of_two_states_is_what_is_gone_and_what_has_come() {
        let id = ElementId::Vertex(VertexId::text("a"));
        let of = |content: &[u8]| derived_entries(Some(&Bytes), &id, content).expect("entries");
        let (mut old, mut new) = (of(&[3, 1, 3, 9]), of(&[2, 3, 10]));
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        DerivedEntries::compare(
            &mut old,
            &mut new,
            |p, c| gone.push((p.to_vec(), c.to_vec())),
            |p, c| come.push((p.to_vec(), c.to_vec())),
        );
        let only = |a: &DerivedEntries, b: &DerivedEntries| -> Vec<(Vec<u8>, Vec<u8>)> {
            a.iter()
                .filter(|(p, c)| !b.contain(p, c))
                .map(|(p, c)| (p.to_vec(), c.to_vec()))
                .collect()
        };
        assert_eq!((old.len(), gone.len(), come.len()), (3, 2, 2));
        assert_eq!((gone, come), (only(&old, &new), only(&new, &old)));
        assert!(derived_entries(None, &id, &[1]).expect("none").is_empty());
    }

    #[test]
    fn an_edge_with_a_given_id_has_an_entry_without_a_deriver() {
        let edge = |sort_values: &str| {
            ElementId::Edge(EdgeId {
                source: VertexId::Number(1),
                parent: EdgeLabelId(1),
                label: EdgeLabelId(1),
                sort_values: sort_values.into(),
                target: VertexId::Number(2),
            })
        };
        let long = format!("~S{}", "x".repeat(1_000));
        for (sort_values, wanted) in [("~L7", 1), (&long, 1), ("", 0), ("15", 0), ("~Lx", 0)] {
            let id = edge(sort_values);
            let entries = derived_entries(None, &id, &[]).expect("entries");
            assert_eq!(entries.len(), wanted, "{sort_values}");
            assert_eq!(may_have_derived(None, &id), wanted == 1, "{sort_values}");
        }
        let both = derived_entries(Some(&Bytes), &edge("~L7"), &[1]).expect("entries");
        assert_eq!(both.len(), 2);
    }
}
