//! The tables of one graph.
//!
//! | table | partition key | clustering key | value |
//! |---|---|---|---|
//! | `vertex` | vertex id | `00` | row: the event that decides now |
//! | `edge` | vertex id of the owner | direction, labels, sort values, other vertex id | row, on both sides |
//! | `index` | index, bucket, first value | further values, element | empty |
//! | `event` | vertex id of the owner | `00` or edge clustering, inverted commit version | row of an event that does not decide now |
//! | `event_index` | as `index` | as `index` | empty: the element once had these values |
//! | `pending` | `00` | instant, element | empty: a period begins or ends then |
//! | `tx` | day | commit version | record: purges and other notable commits |
//! | `schema` | kind | id | record of a schema element |
//! | `meta` | kind | name or id | record: tasks, variables, settings |
//! | `counter` | `00` | name | 8 bytes, big endian |
//! | `change` | ten seconds of commit version | commit version, piece | the elements that the commit touched |

use varve_kv::table::always;
use varve_kv::{TableId, TableSpec};

use crate::{counts, key};

/// Current rows of vertices.
pub const VERTEX: TableId = TableId(0);
/// Current rows of edges, at both ends.
pub const EDGE: TableId = TableId(1);
/// Index entries of the present and the future.
pub const INDEX: TableId = TableId(2);
/// Events that do not decide now.
pub const EVENT: TableId = TableId(3);
/// Index entries of the past.
pub const EVENT_INDEX: TableId = TableId(4);
/// Instants at which a period begins or ends.
pub const PENDING: TableId = TableId(5);
/// Notable commits.
pub const TX: TableId = TableId(6);
/// Schema elements.
pub const SCHEMA: TableId = TableId(7);
/// Tasks, variables, settings.
pub const META: TableId = TableId(8);
/// Counters.
pub const COUNTER: TableId = TableId(9);
/// The elements that each commit touched.
pub const CHANGE: TableId = TableId(10);

const fn spec(
    name: &'static str,
    partition_len: fn(&[u8]) -> Option<usize>,
    point_reads: bool,
    probed: Option<fn(&[u8]) -> bool>,
    cold: bool,
) -> TableSpec {
    TableSpec {
        name,
        partition_len,
        point_reads,
        probed,
        cold,
        summarize: None,
    }
}

/// The tables, in the order of their [`TableId`]s. New tables are added at the end.
pub static TABLES: &[TableSpec] = &[
    spec("vertex", key::vertex_id_len, true, Some(always), false),
    TableSpec {
        summarize: Some(counts::summarize),
        ..spec(
            "edge",
            key::vertex_id_len,
            false,
            Some(key::is_out_edge),
            false,
        )
    },
    spec("index", key::index_partition_len, false, None, false),
    spec("event", key::vertex_id_len, false, None, true),
    spec("event_index", key::index_partition_len, false, None, true),
    spec("pending", one_byte, false, None, false),
    spec("tx", four_bytes, false, None, true),
    spec("schema", one_byte, false, None, false),
    spec("meta", one_byte, false, None, false),
    spec("counter", one_byte, true, None, false),
    spec("change", four_bytes, false, None, true),
];

/// A function that returns the part of a clustering key by which rows are kept together; `None` for
/// a row that stays with the vertex.
pub type Together = fn(&[u8]) -> Option<&[u8]>;

/// A function that returns the result of [`Together`] for all clustering keys with this prefix;
/// `None` if the prefix does not determine it.
pub type OfPrefix = fn(&[u8]) -> Option<Option<&[u8]>>;

/// A table whose partitions may be very large.
#[derive(Debug, Clone, Copy)]
pub struct Large {
    /// The table's name.
    pub table: &'static str,
    /// The part of a clustering key by which its rows are kept together.
    pub together: Together,
    /// The same for all rows of a scan: if they are kept together, only one part of the partition
    /// is read.
    pub of_prefix: OfPrefix,
}

/// The tables whose partitions may be very large. An engine may split such a partition into parts.
/// Rows for which [`Together`] returns the same bytes must stay in one part, also across tables
/// with the same partition key: the row of an edge and its events, the present and the past index
/// entry of an element. Other rows stay with the vertex.
pub static LARGE: &[Large] = &[
    large("edge", whole, edge_of_prefix),
    large("index", whole, unknown),
    large("event", current_of_event, edge_of_events),
    large("event_index", whole, unknown),
];

const fn large(table: &'static str, together: Together, of_prefix: OfPrefix) -> Large {
    Large {
        table,
        together,
        of_prefix,
    }
}

fn whole(clustering: &[u8]) -> Option<&[u8]> {
    Some(clustering)
}

/// The clustering key of an edge's current row, from that of an event; `None` for events of the
/// vertex.
fn current_of_event(clustering: &[u8]) -> Option<&[u8]> {
    let of_edge = !clustering.starts_with(key::VERTEX_CLUSTERING);
    let current = clustering.len().checked_sub(key::EVENT_SUFFIX)?;
    of_edge.then(|| &clustering[..current])
}

fn unknown(_prefix: &[u8]) -> Option<Option<&[u8]>> {
    None
}

fn edge_of_prefix(prefix: &[u8]) -> Option<Option<&[u8]>> {
    let length = key::edge_clustering_len(prefix)?;
    Some(Some(&prefix[..length]))
}

/// The result of `current_of_event` for all events whose keys start with `prefix`.
fn edge_of_events(prefix: &[u8]) -> Option<Option<&[u8]>> {
    match prefix.starts_with(key::VERTEX_CLUSTERING) {
        true => Some(None),
        false => edge_of_prefix(prefix),
    }
}

fn one_byte(bytes: &[u8]) -> Option<usize> {
    (!bytes.is_empty()).then_some(1)
}

fn four_bytes(bytes: &[u8]) -> Option<usize> {
    (bytes.len() >= 4).then_some(4)
}

#[cfg(test)]
mod tests {
    use varve_model::CommitVersion;

    use super::*;

    /// Readers rely on this: a row that moves from one of these tables to the other must move
    /// atomically.
    #[test]
    fn an_edge_stays_with_its_events_and_a_vertex_with_its_own() {
        let together = |table: TableId, clustering: &[u8]| {
            let name = TABLES[usize::from(table.0)].name;
            let of = LARGE.iter().find(|large| large.table == name);
            of.and_then(|large| (large.together)(clustering).map(<[u8]>::to_vec))
        };
        let edge = [&[1, 3, 0][..], b"sort\0", &[0x81, b'a']].concat();
        let event = key::event_clustering(&edge, CommitVersion(7));
        assert_eq!(together(EDGE, &edge), Some(edge.clone()));
        assert_eq!(together(EVENT, &event), Some(edge));
        let event = key::event_clustering(key::VERTEX_CLUSTERING, CommitVersion(7));
        assert_eq!(together(EVENT, &event), None);
        assert_eq!(together(VERTEX, key::VERTEX_CLUSTERING), None);
        assert_eq!(together(INDEX, b"entry"), together(EVENT_INDEX, b"entry"));
        let known = |large: &Large| TABLES.iter().any(|spec| spec.name == large.table);
        assert!(LARGE.iter().all(known));
    }

    /// A prefix has the same result as its keys, as soon as it contains the whole key of the edge.
    #[test]
    fn a_prefix_tells_what_all_its_keys_belong_to() {
        let edges: [&[u8]; 4] = [
            &[1, 3, 0, 0, 0x81, b'a'],
            &[2, 3, 4, b's', 0, 0xFF, 0, 0x81, 0xFF],
            &[1, 0xF0, 1, 0, 0, b's', 0, 0x82, b'a', b'b'],
            &[1, 3, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 7],
        ];
        let of = |name: &str| *LARGE.iter().find(|large| large.table == name).expect(name);
        let (edge, event) = (of("edge"), of("event"));
        for clustering in edges {
            let key = key::event_clustering(clustering, CommitVersion(7));
            for length in 1..=key.len() {
                let expected = (length >= clustering.len()).then_some(Some(clustering));
                assert_eq!((event.of_prefix)(&key[..length]), expected);
                if length <= clustering.len() {
                    assert_eq!((edge.of_prefix)(&key[..length]), expected);
                }
            }
            assert_eq!((event.together)(&key), Some(clustering));
            assert_eq!((edge.together)(clustering), Some(clustering));
        }
        let of_vertex = key::event_clustering(key::VERTEX_CLUSTERING, CommitVersion(7));
        for length in 1..=of_vertex.len() {
            assert_eq!((event.of_prefix)(&of_vertex[..length]), Some(None));
        }
        assert_eq!((event.of_prefix)(b""), None);
        assert_eq!((of("index").of_prefix)(b"entry"), None);
    }
}
