//! Walks over derived indexes: elements in the order of their entries, at one point of both times.
//!
//! Entries are hints: each element that an entry names is read at the point and visited only if it
//! has the entry there. At a point other than now, the index of the past is merged with that of the
//! present.

use std::cmp::Ordering;
use std::ops::Range;

use varve_encoding::index::{IndexId, partition, values_len};
use varve_encoding::key;
use varve_encoding::tables::{EDGE, EVENT_INDEX, INDEX, VERTEX};
use varve_kv::{ClusteringRange, Flow, Reader, ScanRequest, TableId};
use varve_model::ElementId;

use super::many::{borrowed, read_elements};
use super::view::{Point, View, read_element};
use crate::error::GraphError;
use crate::index::{Deriver, derived_entries};

/// Entries read at once, at first and at most; most walks end after one page.
const CHUNK_MIN: usize = 16;
const CHUNK_MAX: usize = 512;
/// Elements of the past that are read at once, at first and at most.
const AHEAD_MIN: usize = 4;
const AHEAD_MAX: usize = 32;

/// Which entries are walked, and how. Elements with equal values come in ascending order of their
/// keys, in either direction.
#[derive(Debug, Clone)]
pub struct DerivedWalk<'a> {
    /// The id of the index.
    pub index: u32,
    /// The first values of the partitions that are walked as one.
    pub firsts: &'a [Vec<u8>],
    /// The range of clustering keys.
    pub range: ClusteringRange,
    /// Whether values come in descending order; an index without values then has its elements in
    /// descending order.
    pub reverse: bool,
    /// Only entries after the one with this clustering key.
    pub after: Option<&'a [u8]>,
    /// Whether elements are visited without checking that they have the entry; then the visitor
    /// must check. An element that several partitions name is visited once.
    pub unchecked: bool,
}

/// An element in a walk.
#[derive(Debug)]
pub struct DerivedStep<'a> {
    /// The clustering key of its entry, for [`DerivedWalk::after`].
    pub clustering: &'a [u8],
    /// The element's id.
    pub id: &'a ElementId,
    /// The content of its row.
    pub content: &'a [u8],
}

impl View {
    /// Visits the elements of a walk until `visit` breaks.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn walk_derived(
        &self,
        walk: &DerivedWalk<'_>,
        visit: &mut dyn FnMut(DerivedStep<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let source = Source {
            reader: self.reader(),
            point: self.point(),
            deriver: self.deriver(),
        };
        source.walk(walk, visit)
    }

    /// Returns every element that has or ever had an entry in this partition of a derived index, at
    /// any point of both times. The result may include elements that never had one.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn ever_derived(&self, index: u32, first: &[u8]) -> Result<Vec<ElementId>, GraphError> {
        derived_elements(self.reader(), &[INDEX, EVENT_INDEX], index, first)
    }

    /// Whether any element has or ever had an entry in this partition of a derived index, at any
    /// point of both times. Since entries are hints, the events of the elements that they name are
    /// checked, up to the first that has its entry.
    ///
    /// # Errors
    /// When the store fails or is damaged.
    pub fn was_ever_derived(&self, index: u32, first: &[u8]) -> Result<bool, GraphError> {
        let partition = partition(IndexId::Derived(index), 0, first);
        for table in [INDEX, EVENT_INDEX] {
            let mut range = ClusteringRange::all();
            let mut limit = CHUNK_MIN;
            loop {
                let mut keys = Vec::new();
                let reader = self.reader();
                scan(reader, table, &partition, &range, false, limit, &mut keys)?;
                for clustering in &keys {
                    if self.ever_had(&partition, clustering)? {
                        return Ok(true);
                    }
                }
                match keys.last() {
                    Some(last) if keys.len() == limit => range.from = right_after(last),
                    _ => break,
                }
                limit = (limit * 4).min(CHUNK_MAX);
            }
        }
        Ok(false)
    }

    /// Whether some state of the element that an entry names has that entry.
    fn ever_had(&self, partition: &[u8], clustering: &[u8]) -> Result<bool, GraphError> {
        let id = key::decode_ordered_element(&clustering[values_len(clustering)..])?;
        let mut found = Ok(false);
        self.visit_events(&id, &mut |event| {
            if let Some(content) = event.content {
                let entries = derived_entries(self.deriver(), &id, content);
                found = entries.map(|entries| entries.contain(partition, clustering));
            }
            match found {
                Ok(false) => Flow::Continue(()),
                _ => Flow::Break(()),
            }
        })?;
        found
    }
}

/// Returns the elements that the entries of a partition in these tables name.
pub(crate) fn derived_elements(
    reader: &dyn Reader,
    tables: &[TableId],
    index: u32,
    first: &[u8],
) -> Result<Vec<ElementId>, GraphError> {
    let partition = partition(IndexId::Derived(index), 0, first);
    let range = ClusteringRange::all();
    let mut keys = Vec::new();
    for table in tables {
        scan(
            reader,
            *table,
            &partition,
            &range,
            false,
            usize::MAX,
            &mut keys,
        )?;
    }
    keys.sort_unstable();
    keys.dedup();
    let element = |key: &Vec<u8>| Ok(key::decode_ordered_element(&key[values_len(key)..])?);
    keys.iter().map(element).collect()
}

/// Appends up to `limit` clustering keys of a partition.
fn scan(
    reader: &dyn Reader,
    table: TableId,
    partition: &[u8],
    range: &ClusteringRange,
    reverse: bool,
    limit: usize,
    keys: &mut Vec<Vec<u8>>,
) -> Result<(), GraphError> {
    let most = keys.len().saturating_add(limit);
    let request = ScanRequest {
        table,
        partition,
        range,
        reverse,
    };
    reader.scan(request, &mut |clustering, _| {
        keys.push(clustering.to_vec());
        if keys.len() < most {
            Flow::Continue(())
        } else {
            Flow::Break(())
        }
    })?;
    Ok(())
}

/// What a walk reads.
struct Source<'a> {
    reader: &'a dyn Reader,
    point: Point,
    deriver: Option<&'a dyn Deriver>,
}

/// A clustering key and the number of the partition that has it.
type Key = (Vec<u8>, usize);

/// Entries in the order of a walk, and whether they are the last ones.
struct Chunk {
    keys: Vec<Key>,
    ended: bool,
}

impl Source<'_> {
    fn walk(
        &self,
        walk: &DerivedWalk<'_>,
        visit: &mut dyn FnMut(DerivedStep<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        let firsts = walk.firsts.iter();
        let partitions: Vec<Vec<u8>> = firsts
            .map(|first| partition(IndexId::Derived(walk.index), 0, first))
            .collect();
        let mut stepper = Stepper {
            source: self,
            partitions: &partitions,
            chunk: CHUNK_MIN,
            ahead: AHEAD_MIN,
            unchecked: walk.unchecked,
            content: Vec::new(),
        };
        let mut range = walk.range.clone();
        if !walk.reverse {
            if let Some(after) = walk.after {
                range.from = range.from.max(right_after(after));
            }
            return stepper.forward(range, visit).map(drop);
        }
        if let Some(after) = walk.after {
            let (start, end) = group_of(after);
            let from = right_after(after);
            let group = ClusteringRange {
                from,
                to: Some(end),
            };
            if stepper.forward(group, visit)?.is_break() {
                return Ok(());
            }
            range.to = Some(range.to.map_or(start.clone(), |to| to.min(start)));
        }
        stepper.backward(range, visit)
    }
}

/// Returns the table of an element's current row.
fn table_of(id: &ElementId) -> TableId {
    match id {
        ElementId::Vertex(_) => VERTEX,
        ElementId::Edge(_) => EDGE,
    }
}

fn right_after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}

/// Returns the bounds of the clustering keys that have the same values as `key`. Elements' keys
/// begin with a byte below 4, values do not. Without values, each key is a group of its own.
fn group_of(key: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let values = &key[..values_len(key)];
    if values.is_empty() {
        return (key.to_vec(), right_after(key));
    }
    (values.to_vec(), [values, &[4]].concat())
}

struct Stepper<'s> {
    source: &'s Source<'s>,
    partitions: &'s [Vec<u8>],
    chunk: usize,
    ahead: usize,
    unchecked: bool,
    content: Vec<u8>,
}

/// Elements that were read at once, and where the contents of the existing ones are in a buffer.
type Ahead = Vec<(ElementId, Option<Range<usize>>)>;

impl Stepper<'_> {
    fn forward(
        &mut self,
        mut range: ClusteringRange,
        visit: &mut dyn FnMut(DerivedStep<'_>) -> Flow,
    ) -> Result<Flow, GraphError> {
        loop {
            let chunk = self.next_chunk(&range, false)?;
            if self.show(&chunk.keys, visit)?.is_break() {
                return Ok(Flow::Break(()));
            }
            match chunk.keys.last() {
                Some((last, _)) if !chunk.ended => range.from = right_after(last),
                _ => return Ok(Flow::Continue(())),
            }
        }
    }

    fn backward(
        &mut self,
        mut range: ClusteringRange,
        visit: &mut dyn FnMut(DerivedStep<'_>) -> Flow,
    ) -> Result<(), GraphError> {
        loop {
            let chunk = self.next_chunk(&range, true)?;
            let mut rest = chunk.keys.as_slice();
            while let Some((first, _)) = rest.first() {
                let (start, end) = group_of(first);
                let members = rest.iter().take_while(|(key, _)| *key >= start).count();
                let (group, others) = rest.split_at(members);
                if others.is_empty() && !chunk.ended {
                    // The chunk may end within this group of equal values. A group that fills the
                    // chunk is read forward from its start; another one is read again with the next
                    // chunk.
                    if members < chunk.keys.len() {
                        break;
                    }
                    let group = ClusteringRange {
                        from: start.clone(),
                        to: Some(end),
                    };
                    if self.forward(group, visit)?.is_break() {
                        return Ok(());
                    }
                } else {
                    let mut group = group.to_vec();
                    group.sort_unstable();
                    if self.show(&group, visit)?.is_break() {
                        return Ok(());
                    }
                }
                range.to = Some(start);
                rest = others;
            }
            if chunk.ended {
                return Ok(());
            }
        }
    }

    /// Reads the next entries of all partitions and tables, merged.
    fn next_chunk(&mut self, range: &ClusteringRange, reverse: bool) -> Result<Chunk, GraphError> {
        let limit = self.chunk;
        self.chunk = (limit * 4).min(CHUNK_MAX);
        let source = self.source;
        let tables: &[TableId] = if source.point.scope.is_now() {
            &[INDEX]
        } else {
            &[INDEX, EVENT_INDEX]
        };
        let ascending = |a: &[u8], b: &[u8]| if reverse { b.cmp(a) } else { a.cmp(b) };
        let mut keys: Vec<Key> = Vec::new();
        // After the last key of a source that has more keys, the merge is incomplete.
        let mut bound: Option<Vec<u8>> = None;
        for (number, partition) in self.partitions.iter().enumerate() {
            for table in tables {
                let mut found = Vec::new();
                scan(
                    source.reader,
                    *table,
                    partition,
                    range,
                    reverse,
                    limit,
                    &mut found,
                )?;
                if found.len() == limit
                    && let Some(last) = found.last()
                    && bound
                        .as_ref()
                        .is_none_or(|bound| ascending(last, bound) == Ordering::Less)
                {
                    bound = Some(last.clone());
                }
                keys.extend(found.into_iter().map(|key| (key, number)));
            }
        }
        if self.partitions.len() > 1 || tables.len() > 1 {
            keys.sort_unstable_by(|a, b| ascending(&a.0, &b.0).then(a.1.cmp(&b.1)));
            keys.dedup();
        }
        if let Some(bound) = &bound {
            keys.retain(|(key, _)| ascending(key, bound) != Ordering::Greater);
        }
        let ended = bound.is_none();
        Ok(Chunk { keys, ended })
    }

    /// Visits the elements that have these entries. If several partitions have the same key, the
    /// element is visited once, for the first entry that it has.
    fn show(
        &mut self,
        keys: &[Key],
        visit: &mut dyn FnMut(DerivedStep<'_>) -> Flow,
    ) -> Result<Flow, GraphError> {
        let mut shown: Option<&[u8]> = None;
        let mut rest = keys;
        while let Some((next, _)) = rest.first() {
            let (some, others) = rest.split_at(self.at_once(next).min(rest.len()));
            rest = others;
            let elements = self.read(some)?;
            for ((clustering, partition), (id, content)) in some.iter().zip(&elements) {
                let Some(content) = content.clone() else {
                    continue;
                };
                if shown == Some(clustering) {
                    continue;
                }
                let content = &self.content[content];
                if !self.unchecked {
                    let has = derived_entries(self.source.deriver, id, content)?;
                    if !has.contain(&self.partitions[*partition], clustering) {
                        continue;
                    }
                }
                shown = Some(clustering);
                let step = DerivedStep {
                    clustering,
                    id,
                    content,
                };
                if visit(step).is_break() {
                    return Ok(Flow::Break(()));
                }
            }
        }
        Ok(Flow::Continue(()))
    }

    /// How many elements are read before they are visited, beginning with the one with this
    /// clustering key. Reading several at once is cheaper only if one scan covers the events of
    /// all: for vertices of the past.
    fn at_once(&mut self, clustering: &[u8]) -> usize {
        let id = &clustering[values_len(clustering)..];
        if self.source.point.scope.is_now() || key::is_ordered_edge(id) {
            return 1;
        }
        let ahead = self.ahead;
        self.ahead = (2 * ahead).min(AHEAD_MAX);
        ahead
    }

    /// Reads the elements that entries name.
    fn read(&mut self, keys: &[Key]) -> Result<Ahead, GraphError> {
        let mut elements = Vec::with_capacity(keys.len());
        for (clustering, _) in keys {
            let id = key::decode_ordered_element(&clustering[values_len(clustering)..])?;
            elements.push((id, None));
        }
        self.content.clear();
        if elements.len() > 1 {
            for table in [VERTEX, EDGE] {
                self.read_of(table, &mut elements)?;
            }
            return Ok(elements);
        }
        for (id, content) in &mut elements {
            let start = self.content.len();
            let exists = self.fetch(id)?;
            *content = exists.then_some(start..self.content.len());
        }
        Ok(elements)
    }

    /// Reads the elements whose rows are in a table.
    fn read_of(&mut self, table: TableId, elements: &mut Ahead) -> Result<(), GraphError> {
        let (mut which, mut places) = (Vec::new(), Vec::new());
        for (at, (id, _)) in elements.iter().enumerate() {
            if table_of(id) == table {
                which.push(at);
                places.push(key::current(id));
            }
        }
        let Source { reader, point, .. } = *self.source;
        let buffer = &mut self.content;
        read_elements(
            reader,
            table,
            &borrowed(&places),
            point,
            &mut |number, content| {
                let start = buffer.len();
                buffer.extend_from_slice(content);
                elements[which[number]].1 = Some(start..buffer.len());
            },
        )
    }

    /// Appends the content of an element. Returns false if it does not exist.
    fn fetch(&mut self, id: &ElementId) -> Result<bool, GraphError> {
        let (partition, clustering) = key::current(id);
        let table = table_of(id);
        let content = &mut self.content;
        let Source { reader, point, .. } = *self.source;
        read_element(
            reader,
            table,
            &partition,
            &clustering,
            point,
            &mut |found| {
                content.extend_from_slice(found);
            },
        )
    }
}

#[cfg(test)]
mod tests;
