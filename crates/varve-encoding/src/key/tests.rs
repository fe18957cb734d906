//! Round trips, order, self-delimitation and prefixes of keys.

use proptest::prelude::*;
use varve_kv::ClusteringRange;

use super::*;
use crate::testing;

fn sides() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Out), Just(Direction::In)]
}

proptest! {
    #[test]
    fn vertex_ids_come_back(id in testing::vertex_id()) {
        let bytes = vertex_id(&id);
        prop_assert_eq!(decode_vertex_id(&bytes).expect("own bytes"), id);
    }

    #[test]
    fn vertex_ids_sort_as_bytes(a in testing::vertex_id(), b in testing::vertex_id()) {
        prop_assert_eq!(vertex_id(&a).cmp(&vertex_id(&b)), a.cmp(&b));
    }

    #[test]
    fn vertex_ids_tell_their_end(
        id in testing::vertex_id(),
        rest in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut bytes = vertex_id(&id);
        let length = bytes.len();
        for short in 0..length {
            prop_assert_eq!(vertex_id_len(&bytes[..short]), None);
        }
        bytes.extend_from_slice(&rest);
        prop_assert_eq!(vertex_id_len(&bytes), Some(length));
        let (read, after) = take_vertex_id(&bytes).expect("own bytes");
        prop_assert_eq!((read, after), (id, rest.as_slice()));
    }

    #[test]
    fn schema_ids_come_back_and_sort(a in testing::schema_id(), b in testing::schema_id()) {
        let bytes = |id| {
            let mut out = Vec::new();
            put_schema_id(id, &mut out);
            out
        };
        let (x, y) = (bytes(a), bytes(b));
        prop_assert_eq!(take_schema_id(&x), Some((a, &[][..])));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
        prop_assert!(a == b || !y.starts_with(&x));
    }

    #[test]
    fn edges_tell_their_end(
        id in testing::edge_id(),
        side in sides(),
        rest in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let mut bytes = edge_clustering(&id, side);
        let length = bytes.len();
        for short in 0..length {
            prop_assert_eq!(edge_clustering_len(&bytes[..short]), None);
        }
        bytes.extend_from_slice(&rest);
        prop_assert_eq!(edge_clustering_len(&bytes), Some(length));
    }

    #[test]
    fn edges_come_back_from_both_sides(id in testing::edge_id(), side in sides()) {
        let partition = vertex_id(id.owner(side));
        let clustering = edge_clustering(&id, side);
        prop_assert_eq!(decode_edge(&partition, &clustering).expect("own bytes"), (id, side));
    }

    /// Direction, parent, own label (a normal label's edges before its sub labels'), sort values,
    /// other vertex.
    #[test]
    fn edges_sort_as_bytes(
        a in testing::edge_id(),
        b in testing::edge_id(),
        side_a in sides(),
        side_b in sides(),
    ) {
        let rank = |id: &EdgeId, side: Direction| {
            let own = if id.label == id.parent { 0 } else { id.label.0 };
            (side, id.parent, own, id.sort_values.as_bytes().to_vec(), id.other(side).clone())
        };
        let (x, y) = (edge_clustering(&a, side_a), edge_clustering(&b, side_b));
        prop_assert_eq!(x.cmp(&y), rank(&a, side_a).cmp(&rank(&b, side_b)));
        prop_assert!(x == y || !y.starts_with(&x), "an edge's key is no start of another's");
    }

    #[test]
    fn prefixes_hold_exactly_their_edges(
        edges in prop::collection::vec((testing::edge_id(), sides()), 1..12),
        // Another label than any of the edges' now and then.
        other in testing::schema_id(),
        cut in 0..5_usize,
    ) {
        let (model, side) = edges[0].clone();
        let sort: String = model.sort_values.chars().take(cut).collect();
        for parent in [model.parent, EdgeLabelId(other)] {
            let by_direction = ClusteringRange::prefix(&direction_prefix(side));
            let by_parent = ClusteringRange::prefix(&edge_label_prefix(side, parent, None));
            let own = edge_label_prefix(side, parent, Some(model.label));
            let by_label = ClusteringRange::prefix(&own);
            let sorted = edge_sort_prefix(side, parent, model.label, &sort);
            let by_sort = ClusteringRange::prefix(&sorted);
            for (id, of) in &edges {
                let key = edge_clustering(id, *of);
                let in_direction = *of == side;
                let in_parent = in_direction && id.parent == parent;
                let in_label = in_parent && id.label == model.label;
                let in_sort = in_label && id.sort_values.starts_with(&sort);
                prop_assert_eq!(by_direction.contains(&key), in_direction);
                prop_assert_eq!(by_parent.contains(&key), in_parent);
                prop_assert_eq!(by_label.contains(&key), in_label);
                prop_assert_eq!(by_sort.contains(&key), in_sort);
            }
        }
    }

    #[test]
    fn elements_come_back(a in testing::element_id(), b in testing::element_id()) {
        let bytes = |id: &ElementId| {
            let mut out = Vec::new();
            put_element(id, &mut out);
            out
        };
        let (x, y) = (bytes(&a), bytes(&b));
        prop_assert_eq!(decode_element(&x).expect("own bytes"), a.clone());
        prop_assert_eq!(x == y, a == b);
        prop_assert!(a == b || !y.starts_with(&x));
    }

    #[test]
    fn events_come_back_newest_first(
        id in testing::element_id(),
        older in any::<u64>(),
        newer in any::<u64>(),
    ) {
        let (_, row) = current(&id);
        let (x, y) = (
            event_clustering(&row, CommitVersion(older)),
            event_clustering(&row, CommitVersion(newer)),
        );
        prop_assert_eq!(split_event(&x).expect("own bytes"), (&row[..], CommitVersion(older)));
        prop_assert_eq!(x.cmp(&y), newer.cmp(&older));
    }

    /// The events of one element are a contiguous range, whatever rows are next to them.
    #[test]
    fn an_elements_events_are_its_rows_prefix(
        a in testing::element_id(),
        b in testing::element_id(),
        version in any::<u64>(),
    ) {
        let ((partition_a, row_a), (partition_b, row_b)) = (current(&a), current(&b));
        if partition_a == partition_b && a != b {
            let events = ClusteringRange::prefix(&row_a);
            prop_assert!(!events.contains(&event_clustering(&row_b, CommitVersion(version))));
        }
    }

    #[test]
    fn pending_boundaries_come_back_in_order_of_time(
        id in testing::element_id(),
        a in testing::instant(),
        b in testing::instant(),
    ) {
        let (x, y) = (pending_clustering(a, &id), pending_clustering(b, &id));
        prop_assert_eq!(decode_pending(&x).expect("own bytes"), (a, id));
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }
}

#[test]
fn lengths_at_the_border_between_short_and_long_texts() {
    for length in [0, 1, 94, 95, 96, 97, 255, 256, 16 * 1024] {
        let id = VertexId::text(&"x".repeat(length));
        let bytes = vertex_id(&id);
        assert_eq!(bytes.len(), length + if length <= 95 { 1 } else { 3 });
        assert_eq!(decode_vertex_id(&bytes).expect("own bytes"), id);
    }
}

/// Each id, and each edge, has one key only; anything else is damage and must not be read as an
/// element.
#[test]
fn only_the_shortest_form_is_read() {
    let long_form_of_a = [0xE0, 0x00, 0x01, b'a'];
    assert!(decode_vertex_id(&long_form_of_a).is_err());
    assert_eq!(take_schema_id(&[0xF0, 0x00, 0xEF]), None);
    assert_eq!(take_schema_id(&[0xF1, 0x00, 0x00, 0xFF, 0xFF]), None);
    let owner = vertex_id(&VertexId::Number(1));
    let label_named_twice = [0x01, 0x05, 0x05, 0x00, 0x81, b'a'];
    assert!(decode_edge(&owner, &label_named_twice).is_err());
}

#[test]
fn escaped_bytes_come_back_with_what_follows_them() {
    let texts: [&[u8]; 8] = [
        b"",
        b"a",
        b"abc",
        b"\0",
        b"\0\0",
        b"a\0b",
        b"\xFF\0\xFF",
        b"ab\0",
    ];
    let followers: [&[u8]; 3] = [b"", b"\x81a", b"\0\xFF"];
    for (text, follows) in texts
        .iter()
        .flat_map(|text| followers.iter().map(move |follows| (*text, *follows)))
    {
        let mut bytes = Vec::new();
        put_escaped(text, &mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(follows);
        let (read, rest) = take_escaped(&bytes).expect("own bytes");
        assert_eq!((&*read, rest), (text, follows));
        let is_copied = matches!(read, std::borrow::Cow::Owned(_));
        assert_eq!(is_copied, text.contains(&0));
        assert_eq!(take_escaped(&bytes[..length - 1]), None);
    }
}
