//! The counters of a statement's changes, by the names of Bolt.

use varve_cypher::Counters;

/// All counters.
pub(super) fn all(counters: &Counters) -> [(&'static str, i64); 11] {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    [
        ("nodes-created", count(counters.nodes_created)),
        ("nodes-deleted", count(counters.nodes_deleted)),
        ("properties-set", count(counters.properties_set)),
        (
            "relationships-created",
            count(counters.relationships_created),
        ),
        (
            "relationships-deleted",
            count(counters.relationships_deleted),
        ),
        ("labels-added", count(counters.labels_added)),
        ("labels-removed", count(counters.labels_removed)),
        ("indexes-added", count(counters.indexes_added)),
        ("indexes-removed", count(counters.indexes_removed)),
        ("constraints-added", count(counters.constraints_added)),
        ("constraints-removed", count(counters.constraints_removed)),
    ]
}

/// The changes of two queries.
pub(super) fn sum(one: Counters, other: Counters) -> Counters {
    Counters {
        nodes_created: one.nodes_created + other.nodes_created,
        nodes_deleted: one.nodes_deleted + other.nodes_deleted,
        relationships_created: one.relationships_created + other.relationships_created,
        relationships_deleted: one.relationships_deleted + other.relationships_deleted,
        properties_set: one.properties_set + other.properties_set,
        labels_added: one.labels_added + other.labels_added,
        labels_removed: one.labels_removed + other.labels_removed,
        indexes_added: one.indexes_added + other.indexes_added,
        indexes_removed: one.indexes_removed + other.indexes_removed,
        constraints_added: one.constraints_added + other.constraints_added,
        constraints_removed: one.constraints_removed + other.constraints_removed,
    }
}

/// `nodes-created` as `nodesCreated`.
pub(super) fn camel_case(name: &str) -> String {
    let mut parts = name.split('-');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (first, rest) = part.split_at(1);
        text.push_str(&first.to_uppercase());
        text.push_str(rest);
    }
    text
}
