//! A vertex is deleted with its edges, also when they are more than a commit takes.

use varve_graph::verify::verify;

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

/// A story in which a exists for ever, and b from 3 to 5 and from 5 to 7 with one label, then to 9
/// with another.
fn with_a_changing_end() -> Story {
    let story = Story::new();
    story.write(put_vertex("a"), None, None);
    story.write(put_vertex("b"), Some(3_000_000), Some(5_000_000));
    story.write(put_vertex("b"), Some(5_000_000), Some(7_000_000));
    let vertex = Vertex {
        id: VertexId::text("b"),
        label: VertexLabelId(2),
        ..vertex(1)
    };
    let fresh = false;
    story.write(
        Mutation::PutVertex { vertex, fresh },
        Some(7_000_000),
        Some(9_000_000),
    );
    story
}

/// What a request answers whose period is in seconds.
fn asked(
    story: &Story,
    mutations: Vec<Mutation>,
    (from, to): (Option<i64>, Option<i64>),
) -> Result<(), String> {
    let mut request = WriteRequest::now(mutations);
    request.period = WritePeriod {
        from: from.map(|from| Instant(from * 1_000_000)),
        to: to.map(|to| Instant(to * 1_000_000)),
    };
    let stored = story.graph().write_now(&request);
    stored.map(drop).map_err(|error| error.message)
}

#[test]
fn both_ends_exist_in_the_whole_period_of_an_edge() {
    let story = with_a_changing_end();
    let early = "The vertex 'b' does not exist then (at the valid_from)";
    let ends = |second: i64| {
        format!(
            "The vertex 'b' does not exist in the whole period of the edge: it ends at \
             1970-01-01T00:00:{second:02}Z"
        )
    };
    let relabelled = "The vertex 'b' does not keep its label '~undefined' in the whole period of \
                      the edge: it has '~undefined' from 1970-01-01T00:00:07Z";
    for (from, to, expected) in [
        (None, None, Err("Invalid vertex id 'b'".to_owned())),
        (None, Some(4), Err("Invalid vertex id 'b'".to_owned())),
        (Some(2), Some(4), Err(early.to_owned())),
        (Some(3), Some(5), Ok(())),
        (Some(3), Some(7), Ok(())),
        (Some(4), Some(8), Err(relabelled.to_owned())),
        (Some(4), None, Err(relabelled.to_owned())),
        (Some(7), Some(9), Ok(())),
        (Some(8), Some(10), Err(ends(9))),
        (Some(8), None, Err(ends(9))),
        (Some(9), None, Err(early.to_owned())),
    ] {
        for (source, target) in [("a", "b"), ("b", "a")] {
            let edge = put_edge(source, target, &format!("{from:?}{to:?}"));
            let stored = asked(&story, vec![edge], (from, to));
            assert_eq!(stored, expected, "{from:?} {to:?}");
        }
    }
    // What the request itself writes counts, too.
    let both = vec![put_vertex("b"), put_edge("a", "b", "both")];
    assert_eq!(asked(&story, both, (Some(1), Some(3))), Ok(()));
    let gone = Mutation::Delete {
        id: ElementId::Vertex(VertexId::text("b")),
        missing: Missing::Refuse,
    };
    let both = vec![gone, put_edge("a", "b", "gone")];
    assert_eq!(
        asked(&story, both, (Some(4), Some(5))),
        Err(early.to_owned())
    );
    // Whoever does not ask for the check has none.
    let (edge, ends) = (edge("a", "b", "unchecked"), EndCheck::Skip);
    let unchecked = vec![Mutation::PutEdge { edge, ends }];
    assert_eq!(asked(&story, unchecked, (Some(1), None)), Ok(()));
}

/// An update without a period holds for ever, and so may let an edge exist longer.
#[test]
fn an_update_does_not_let_an_edge_outlive_its_ends() {
    let story = with_a_changing_end();
    let written = vec![put_edge("a", "b", "x")];
    assert_eq!(asked(&story, written, (Some(3), Some(5))), Ok(()));
    story.at(4_000_000);
    let update = |put: bool| {
        let edge = edge("a", "b", "x");
        let ends = EndCheck::WhereNew;
        match put {
            true => Mutation::PutEdge { edge, ends },
            false => Mutation::Modify {
                id: ElementId::Edge(edge.id),
                ends,
                gaps: Gaps::Keep,
                modify: Box::new(|state| Ok(state.expect("it is there"))),
            },
        }
    };
    for put in [true, false] {
        let refused = asked(&story, vec![update(put)], (None, None));
        assert!(refused.expect_err("b ends").contains("does not keep"));
        assert_eq!(asked(&story, vec![update(put)], (None, Some(5))), Ok(()));
    }
    assert_eq!(asked(&story, vec![update(true)], (None, Some(6))), Ok(()));
    // An edge that exists for ever does so after an update, whatever its ends do.
    let (edge, ends) = (edge("a", "b", "x"), EndCheck::Skip);
    let unchecked = vec![Mutation::PutEdge { edge, ends }];
    assert_eq!(asked(&story, unchecked, (None, None)), Ok(()));
    for put in [true, false] {
        assert_eq!(asked(&story, vec![update(put)], (None, None)), Ok(()));
    }
}

/// The valid times at which an edge exists, of those after `base`.
fn times(story: &Story, base: i64, transaction: Option<CommitVersion>) -> Vec<i64> {
    let id = edge("a", "b", "").id;
    let exists = |at: &i64| {
        let scope = TemporalScope {
            valid: Some(Instant(base + *at)),
            transaction,
        };
        let mut found = false;
        let view = story.graph().view(scope).expect("a view");
        view.with_edge(&id, &mut |_| found = true).expect("read");
        found
    };
    (1..=9).filter(exists).collect()
}

#[test]
fn a_put_that_ends_an_edge_is_one_commit() {
    // The end is before now, at now, and after it.
    for base in [0, 999_995, 999_997, 1_000_010] {
        for (from, to) in [(1, None), (3, Some(8)), (6, None)] {
            let story = Story::new();
            for name in ["a", "b"] {
                story.write(put_vertex(name), Some(0), None);
            }
            let put = put_edge("a", "b", "");
            let first = story.write(put, Some(base + from), to.map(|to| base + to));
            let before = times(&story, base, None);
            let request = WriteRequest {
                mutations: vec![put_edge("a", "b", "")],
                period: WritePeriod {
                    from: Some(Instant(base + 2)),
                    to: Some(Instant(base + 5)),
                },
                ends: true,
                ..WriteRequest::default()
            };
            let last = story.graph().write_now(&request).expect("a write");
            let mut after: Vec<i64> = before.iter().copied().filter(|at| *at < 2).collect();
            after.extend(2..5);
            assert_eq!(times(&story, base, None), after, "{base} {from}");
            // No version has a part of it.
            assert!(last.0 - first.0 < 10_000, "{first:?} {last:?}");
            for version in first.0..=last.0 {
                let seen = times(&story, base, Some(CommitVersion(version)));
                assert!(seen == before || seen == after, "{version} {seen:?}");
            }
            let report = verify(story.graph(), 1, &mut |_| true).expect("verified");
            assert_eq!(report.problem_count, 0, "{:?}", report.problems);
            story.at(2_000_000);
            assert_eq!(times(&story, base, None), after, "{base} {from}");
        }
    }
}
