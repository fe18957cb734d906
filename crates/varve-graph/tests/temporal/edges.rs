//! A vertex is deleted with its edges, also when they are more than a commit takes.

use super::*;

fn put_vertex(id: &str) -> Mutation {
    let vertex = Vertex {
        id: VertexId::text(id),
        ..vertex(1)
    };
    Mutation::PutVertex {
        vertex,
        fresh: false,
    }
}

/// An edge whose ends must exist.
fn put_edge(source: &str, target: &str, sort: &str) -> Mutation {
    let ends = EndCheck::Exist {
        labels_given: false,
    };
    Mutation::PutEdge {
        edge: edge(source, target, sort),
        ends,
    }
}

#[test]
fn a_vertex_takes_its_edges_with_it_from_both_sides() {
    let story = Story::new();
    let request = WriteRequest::now(vec![
        put_vertex("a"),
        put_vertex("b"),
        put_edge("a", "b", ""),
        put_edge("b", "a", "x"),
        put_edge("a", "a", "loop"),
        put_edge("b", "b", "stays"),
    ]);
    story
        .graph()
        .write_now(&request)
        .expect("vertices and edges together");
    let edges = |id: &str, scope: TemporalScope| {
        let view = story.graph().view(scope).expect("view");
        let mut count = 0;
        view.adjacent(&VertexId::text(id), &ClusteringRange::all(), &mut |_| {
            count += 1;
            Flow::Continue(())
        })
        .expect("scan");
        count
    };
    assert_eq!(
        (
            edges("a", TemporalScope::NOW),
            edges("b", TemporalScope::NOW)
        ),
        (4, 4)
    );
    story.at(2_000_000);
    story.delete(None, None);
    assert_eq!(
        (
            edges("a", TemporalScope::NOW),
            edges("b", TemporalScope::NOW)
        ),
        (0, 2)
    );
    let past = TemporalScope {
        valid: Some(Instant(1_500_000)),
        transaction: None,
    };
    assert_eq!((edges("a", past), edges("b", past)), (4, 4));
    let dangling = put_edge("a", "b", "");
    let refused = story
        .graph()
        .write(&WriteRequest::now(vec![dangling]), Contention::Wait);
    assert_eq!(
        refused.expect_err("no such vertex").to_string(),
        "Invalid vertex id 'a'"
    );
}

/// Vertices a and b, with 120 edges from a to b whose sort values are 100 bytes and more.
fn put_wide_vertex(story: &Story) {
    let mut mutations = vec![put_vertex("a"), put_vertex("b")];
    for sort in 0..120 {
        let (edge, ends) = (edge("a", "b", &format!("{sort:0100}")), EndCheck::Skip);
        mutations.push(Mutation::PutEdge { edge, ends });
    }
    story
        .graph()
        .write_now(&WriteRequest::now(mutations))
        .expect("a wide vertex");
}

fn delete_wide_vertex() -> WriteRequest {
    let id = ElementId::Vertex(VertexId::text("a"));
    WriteRequest::now(vec![Mutation::Delete {
        id,
        missing: Missing::Refuse,
    }])
}

/// How many edges vertex b has.
fn edges_of_b(story: &Story) -> usize {
    let view = story.graph().view(TemporalScope::NOW).expect("view");
    let mut left = 0;
    view.adjacent(&VertexId::text("b"), &ClusteringRange::all(), &mut |_| {
        left += 1;
        Flow::Continue(())
    })
    .expect("scan");
    left
}

#[test]
fn a_vertex_with_more_edges_than_a_commit_takes_is_deleted_all_the_same() {
    for (edges_max, edge_bytes_max) in [(50, 256 << 20), (200_000, 5_000), (200_000, 1)] {
        let mut story = Story::new();
        story.edges_max = edges_max;
        story.edge_bytes_max = edge_bytes_max;
        story.reopen();
        put_wide_vertex(&story);
        let before = story.graph().published();
        let request = delete_wide_vertex();
        let refused = story
            .graph()
            .write(&request, Contention::Refuse)
            .expect("no error");
        assert!(refused.is_none(), "not in place");
        let stored = story.graph().write_now(&request).expect("deleted in steps");
        assert!(stored > before.next(), "in several commits");
        assert_eq!(story.now(), None);
        assert_eq!(edges_of_b(&story), 0);
    }
}

#[test]
fn edges_with_more_bytes_than_a_commit_takes_are_refused_where_steps_cannot_be() {
    // The 120 edges have some 30,000 bytes.
    let story_with = |edge_bytes_max| {
        let mut story = Story::new();
        story.edge_bytes_max = edge_bytes_max;
        story.reopen();
        put_wide_vertex(&story);
        story
    };
    let mut planned = delete_wide_vertex();
    planned.period.from = Some(Instant(9_000_000));
    let mut both_ends = delete_wide_vertex();
    both_ends.mutations.push(Mutation::Delete {
        id: ElementId::Vertex(VertexId::text("b")),
        missing: Missing::Refuse,
    });
    let story = story_with(20_000);
    let id = ElementId::Vertex(VertexId::text("a"));
    let before = story.graph().published();
    let purged = varve_graph::maintenance::purge(story.graph(), &id).map(drop);
    let deleted = story.graph().write_now(&planned).map(drop);
    // What several deletions of one request take along counts together.
    let other = story_with(40_000);
    let both = other.graph().write_now(&both_ends).map(drop);
    for outcome in [purged, deleted, both] {
        let error = outcome.expect_err("too much at once");
        assert_eq!(error.kind, varve_graph::ErrorKind::LimitExceeded);
        let message = &error.message;
        assert!(
            message.contains("limits.vertex_delete_bytes_max"),
            "{message}"
        );
    }
    assert_eq!(story.graph().published(), before);
    assert_eq!((story.now(), edges_of_b(&story)), (Some(1), 120));
    other.graph().write_now(&planned).expect("it has room");
    assert_eq!((other.now(), edges_of_b(&other)), (Some(1), 120));
}
