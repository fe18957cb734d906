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

use varve_kv::table::always;
use varve_kv::{TableId, TableSpec};

use crate::key;

/// Vertices as they are now.
pub const VERTEX: TableId = TableId(0);
/// Edges as they are now, from both ends.
pub const EDGE: TableId = TableId(1);
/// Index entries of what is now, or will be.
pub const INDEX: TableId = TableId(2);
/// Events that do not decide now.
pub const EVENT: TableId = TableId(3);
/// Index entries of what was.
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
    }
}

/// The tables, in the order of their [`TableId`]s. New tables are added at the end.
pub static TABLES: &[TableSpec] = &[
    spec("vertex", key::vertex_id_len, true, Some(always), false),
    spec(
        "edge",
        key::vertex_id_len,
        false,
        Some(key::is_out_edge),
        false,
    ),
    spec("index", key::index_partition_len, false, None, false),
    spec("event", key::vertex_id_len, false, None, true),
    spec("event_index", key::index_partition_len, false, None, true),
    spec("pending", one_byte, false, None, false),
    spec("tx", four_bytes, false, None, true),
    spec("schema", one_byte, false, None, false),
    spec("meta", one_byte, false, None, false),
    spec("counter", one_byte, true, None, false),
];

/// What of a clustering key says which thing a row belongs to.
pub type Together = fn(&[u8]) -> Option<&[u8]>;

/// The tables whose partitions may be very large, by name. An engine may keep such a partition in parts if rows of one thing stay together,
/// also those of several tables with the same partition key: an edge's row and its events, an entry now and as it was. Rows that belong to
/// nothing of the kind stay with the vertex.
pub static LARGE: &[(&str, Together)] = &[
    ("edge", whole),
    ("index", whole),
    ("event", current_of_event),
    ("event_index", whole),
];

fn whole(clustering: &[u8]) -> Option<&[u8]> {
    Some(clustering)
}

/// The clustering key of the row that an edge's event was.
fn current_of_event(clustering: &[u8]) -> Option<&[u8]> {
    let of_edge = !clustering.starts_with(key::VERTEX_CLUSTERING);
    let current = clustering.len().checked_sub(key::EVENT_SUFFIX)?;
    of_edge.then(|| &clustering[..current])
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

    /// Readers rest on it: what moves from one table to the other must do so at once.
    #[test]
    fn an_edge_stays_with_its_events_and_a_vertex_with_its_own() {
        let together = |table: TableId, clustering: &[u8]| {
            let name = TABLES[usize::from(table.0)].name;
            let of = LARGE.iter().find(|(table, _)| *table == name);
            of.and_then(|(_, together)| together(clustering).map(<[u8]>::to_vec))
        };
        let edge = [&[1, 3, 0][..], b"sort\0", &[0x81, b'a']].concat();
        let event = key::event_clustering(&edge, CommitVersion(7));
        assert_eq!(together(EDGE, &edge), Some(edge.clone()));
        assert_eq!(together(EVENT, &event), Some(edge));
        let event = key::event_clustering(key::VERTEX_CLUSTERING, CommitVersion(7));
        assert_eq!(together(EVENT, &event), None);
        assert_eq!(together(VERTEX, key::VERTEX_CLUSTERING), None);
        assert_eq!(together(INDEX, b"entry"), together(EVENT_INDEX, b"entry"));
        let known = |(name, _): &(&str, Together)| TABLES.iter().any(|spec| spec.name == *name);
        assert!(LARGE.iter().all(known));
    }
}
