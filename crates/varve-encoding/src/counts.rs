//! The summary of the edges of a vertex: their numbers, by direction, label, and label of the other
//! end.
//!
//! It has the byte `01`, then for each group the length of its labels (1 byte), these bytes (the
//! start of the group's clustering keys), the label of the other end, the number of edges, and how
//! many of these are loops, in 4 bytes each, little endian.

use varve_model::{Direction, EdgeLabelId, VertexLabelId};

use crate::key::{edge_labels, edge_parts};
use crate::row::{Header, decides_always, edge_ends};

const COUNTS: u8 = 1;
/// The most groups of a summary.
const GROUPS_MAX: usize = 64;
/// Bytes of a group without its labels and their length.
const NUMBERS: usize = 12;

/// A number of edges of a vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeCount<'a> {
    /// The start of their clustering keys ([`crate::key::edge_label_prefix`]).
    pub labels: &'a [u8],
    /// The direction in which they are walked from the vertex.
    pub direction: Direction,
    /// Their label.
    pub label: EdgeLabelId,
    /// The label of their other end.
    pub other_label: VertexLabelId,
    /// How many there are.
    pub edges: u32,
    /// How many of them are loops.
    pub loops: u32,
}

/// Makes the summary of current rows of edges: for [`varve_kv::TableSpec::summarize`]. They have
/// none if one of them does not decide now at any time.
pub fn summarize<'r>(
    partition: &[u8],
    rows: &mut dyn Iterator<Item = (&'r [u8], &'r [u8])>,
) -> Vec<u8> {
    groups(partition, rows).map_or_else(Vec::new, |groups| {
        let mut summary = vec![COUNTS];
        for (labels, other, edges, loops) in groups {
            summary.push(labels.len() as u8);
            summary.extend_from_slice(labels);
            for number in [other.0, edges, loops] {
                summary.extend_from_slice(&number.to_le_bytes());
            }
        }
        summary
    })
}

/// The labels of a group, the label of the other end, the number of edges, and of loops.
type Group<'r> = (&'r [u8], VertexLabelId, u32, u32);

fn groups<'r>(
    partition: &[u8],
    rows: &mut dyn Iterator<Item = (&'r [u8], &'r [u8])>,
) -> Option<Vec<Group<'r>>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    for (clustering, row) in rows {
        if !decides_always(row) {
            return None;
        }
        let (direction, _, other) = edge_parts(clustering)?;
        let (_, _, rest) = edge_labels(clustering)?;
        let labels = &clustering[..clustering.len() - rest.len()];
        let (_, content) = Header::decode(row).ok()?;
        let ((source, target), _) = edge_ends(content).ok()?;
        let other_label = match direction {
            Direction::Out => target,
            Direction::In => source,
        };
        let is_of = |group: &Group<'_>| (group.0, group.1) == (labels, other_label);
        let at = groups.iter().rposition(is_of).unwrap_or(groups.len());
        if at == groups.len() {
            groups.push((labels, other_label, 0, 0));
        }
        let (_, _, edges, loops) = &mut groups[at];
        *edges = edges.checked_add(1)?;
        *loops += u32::from(other == partition);
        if at == GROUPS_MAX {
            return None;
        }
    }
    Some(groups)
}

/// The groups of a summary.
pub fn edge_counts(summary: &[u8]) -> impl Iterator<Item = EdgeCount<'_>> {
    let mut rest = summary.strip_prefix(&[COUNTS]).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first()?;
        let (labels, after) = after.split_at_checked(usize::from(*length))?;
        let (numbers, after) = after.split_first_chunk::<NUMBERS>()?;
        rest = after;
        let number = |at: usize| {
            let bytes = numbers[at..].first_chunk().copied().unwrap_or_default();
            u32::from_le_bytes(bytes)
        };
        let (direction, label, _) = edge_labels(labels)?;
        Some(EdgeCount {
            labels,
            direction,
            label,
            other_label: VertexLabelId(number(0)),
            edges: number(4),
            loops: number(8),
        })
    })
}

#[cfg(test)]
mod tests {
    use varve_model::{CommitVersion, EdgeId, Instant, VertexId};

    use super::*;
    use crate::key::{edge_clustering, edge_label_prefix, vertex_id};
    use crate::row::RowKind;

    type Rows = Vec<(Vec<u8>, Vec<u8>)>;

    fn id(source: &str, label: u32, sort: &str, target: &str) -> EdgeId {
        EdgeId {
            source: VertexId::text(source),
            parent: EdgeLabelId(if label == 300 { 2 } else { label }),
            label: EdgeLabelId(label),
            sort_values: sort.into(),
            target: VertexId::text(target),
        }
    }

    fn row(header: Header, ends: [u8; 2]) -> Vec<u8> {
        let mut row = Vec::new();
        header.encode(&mut row);
        row.extend_from_slice(&ends);
        row.push(0);
        row
    }

    fn rows(of: &[(EdgeId, Direction, [u8; 2])]) -> Rows {
        let each = of.iter().map(|(id, direction, ends)| {
            (
                edge_clustering(id, *direction),
                row(Header::put_now(), *ends),
            )
        });
        let mut rows: Rows = each.collect();
        rows.sort();
        rows
    }

    fn summary(rows: &Rows) -> Vec<u8> {
        let mut each = rows.iter().map(|(key, row)| (&**key, &**row));
        summarize(&vertex_id(&VertexId::text("a")), &mut each)
    }

    #[test]
    fn edges_are_counted_by_direction_label_and_other_label() {
        let rows = rows(&[
            (id("a", 1, "", "b"), Direction::Out, [7, 8]),
            (id("a", 1, "", "c"), Direction::Out, [7, 9]),
            (id("a", 1, "x", "b"), Direction::Out, [7, 8]),
            (id("a", 1, "", "a"), Direction::Out, [7, 7]),
            (id("a", 1, "", "a"), Direction::In, [7, 7]),
            (id("b", 1, "", "a"), Direction::In, [8, 7]),
            (id("a", 2, "", "b"), Direction::Out, [7, 8]),
            (id("a", 300, "", "b"), Direction::Out, [7, 8]),
        ]);
        let summary = summary(&rows);
        let got: Vec<_> = edge_counts(&summary)
            .map(|one| {
                let parent = EdgeLabelId(if one.label.0 == 300 { 2 } else { one.label.0 });
                let labels = edge_label_prefix(one.direction, parent, Some(one.label));
                assert_eq!(one.labels, labels);
                let is_out = one.direction == Direction::Out;
                (is_out, one.label.0, one.other_label.0, one.edges, one.loops)
            })
            .collect();
        let wanted = [
            (true, 1, 7, 1, 1),
            (true, 1, 8, 2, 0),
            (true, 1, 9, 1, 0),
            (true, 2, 8, 1, 0),
            (true, 300, 8, 1, 0),
            (false, 1, 7, 1, 1),
            (false, 1, 8, 1, 0),
        ];
        let mut sorted = got.clone();
        sorted.sort_unstable_by_key(|one| (!one.0, one.1, one.2));
        assert_eq!(sorted, wanted, "{got:?}");
    }

    #[test]
    fn no_edges_have_a_summary() {
        let summary = summary(&Vec::new());
        assert!(!summary.is_empty());
        assert_eq!(edge_counts(&summary).count(), 0);
    }

    #[test]
    fn rows_whose_state_depends_on_the_time_have_none() {
        let at = Instant(1);
        let others = [
            Header {
                to: at,
                until: at,
                ..Header::put_now()
            },
            Header {
                until: at,
                ..Header::put_now()
            },
            Header {
                kind: RowKind::Marker,
                ..Header::put_now()
            },
            Header {
                kind: RowKind::Delete,
                ..Header::put_now()
            },
        ];
        for header in others {
            let mut rows = rows(&[(id("a", 1, "", "b"), Direction::Out, [7, 8])]);
            let key = edge_clustering(&id("a", 1, "", "c"), Direction::Out);
            rows.push((key, row(header, [7, 8])));
            assert!(summary(&rows).is_empty(), "{header:?}");
            rows.pop();
            assert!(!summary(&rows).is_empty());
        }
        let past = Header {
            version: CommitVersion(9),
            from: Some(at),
            overlaid: true,
            ..Header::put_now()
        };
        let key = edge_clustering(&id("a", 1, "", "b"), Direction::Out);
        assert!(!summary(&vec![(key, row(past, [7, 8]))]).is_empty());
    }

    #[test]
    fn more_groups_than_the_limit_have_none() {
        let edges = |count: u32| {
            let each = (1..=count).map(|label| (id("a", label, "", "b"), Direction::Out, [7, 8]));
            rows(&each.collect::<Vec<_>>())
        };
        assert_eq!(edge_counts(&summary(&edges(64))).count(), 64);
        assert!(summary(&edges(65)).is_empty());
    }
}
