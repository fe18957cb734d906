//! The listing of everything that has a history: each once, whatever the pages, and no page looks
//! at more than its share. And whether a label ever had anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use varve_encoding::tables::TABLES;
use varve_graph::read::{EVER_ROWS_MAX, EverPage, View};
use varve_graph::schema::{NewEdgeLabel, NewVertexLabel};
use varve_graph::write::{EndCheck, Missing, Mutation, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::{Engine, Flow, MemoryEngine};
use varve_model::time::SystemClock;
use varve_model::{
    Clock as _, Edge, EdgeId, EdgeLabelId, ElementId, Instant, TemporalScope, Vertex, VertexId,
    VertexLabelId,
};

fn graph() -> Arc<Graph> {
    let space = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    catalogue
        .create_vertex_label(NewVertexLabel::named("v"))
        .expect("a label");
    catalogue
        .create_edge_label(NewEdgeLabel::between("e", "v", "v"))
        .expect("a label");
    graph
}

fn vertex(number: i64) -> VertexId {
    VertexId::Number(number)
}

fn edge(source: i64, target: i64) -> EdgeId {
    long_edge(source, "", target)
}

fn long_edge(source: i64, sort_values: &str, target: i64) -> EdgeId {
    EdgeId {
        source: vertex(source),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: sort_values.into(),
        target: vertex(target),
    }
}

fn put_vertex(number: i64) -> Mutation {
    let vertex = Vertex {
        id: vertex(number),
        label: VertexLabelId(1),
        properties: Default::default(),
    };
    let fresh = false;
    Mutation::PutVertex { vertex, fresh }
}

fn put_edge(source: i64, target: i64) -> Mutation {
    put_edge_of(edge(source, target))
}

fn put_edge_of(id: EdgeId) -> Mutation {
    let edge = Edge {
        id,
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: Default::default(),
    };
    let ends = EndCheck::Skip;
    Mutation::PutEdge { edge, ends }
}

fn delete(id: ElementId) -> Mutation {
    let missing = Missing::Refuse;
    Mutation::Delete { id, missing }
}

type Ever =
    fn(&View, Option<&[u8]>, usize, &mut dyn FnMut() -> Flow) -> Result<EverPage, GraphError>;

/// All ids, from pages of at most `limit` ids that look at no more than `rows` rows.
fn all(graph: &Arc<Graph>, ever: Ever, limit: usize, rows: usize) -> Vec<ElementId> {
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let mut found = Vec::new();
    let mut after: Option<Vec<u8>> = None;
    loop {
        let mut left = rows;
        let mut looked = || {
            if left == 0 {
                return Flow::Break(());
            }
            left -= 1;
            Flow::Continue(())
        };
        let page = ever(&view, after.as_deref(), limit, &mut looked).expect("a page");
        assert!(page.ids.len() <= limit);
        found.extend(page.ids);
        match page.next {
            Some(next) => {
                assert_ne!(Some(&next), after.as_ref(), "a page that does not go on");
                after = Some(next);
            }
            None => return found,
        }
    }
}

#[test]
fn each_element_is_listed_once_whatever_the_pages() {
    let graph = graph();
    let write = |mutations| {
        graph
            .write_now(&WriteRequest::now(mutations))
            .expect("stored")
    };
    for _ in 0..3 {
        write((0..6).map(put_vertex).collect());
        write((1..6).map(|target| put_edge(0, target)).collect());
    }
    write(vec![delete(ElementId::Vertex(vertex(5)))]);
    write(vec![delete(ElementId::Edge(edge(0, 2)))]);
    let vertices: BTreeSet<ElementId> = (0..6).map(|id| ElementId::Vertex(vertex(id))).collect();
    let edges: BTreeSet<ElementId> = (1..6).map(|to| ElementId::Edge(edge(0, to))).collect();
    for limit in [1, 2, 5, 100] {
        for rows in [1, 2, 3, 7, 1000] {
            for (ever, expected) in [
                (View::ever_vertices as Ever, &vertices),
                (View::ever_edges as Ever, &edges),
            ] {
                let found = all(&graph, ever, limit, rows);
                assert_eq!(found.len(), expected.len(), "limit {limit}, rows {rows}");
                assert_eq!(&found.into_iter().collect::<BTreeSet<_>>(), expected);
            }
        }
    }
}

#[test]
fn a_label_tells_whether_it_ever_had_elements() {
    let graph = graph();
    let catalogue = graph.catalogue();
    let other = catalogue.create_vertex_label(NewVertexLabel::named("w"));
    let unlisted = catalogue.create_vertex_label(NewVertexLabel {
        enable_label_index: false,
        ..NewVertexLabel::named("x")
    });
    let other_edges = catalogue.create_edge_label(NewEdgeLabel::between("f", "v", "v"));
    let write = |mutation| {
        graph
            .write_now(&WriteRequest::now(vec![mutation]))
            .expect("stored")
    };
    let answers = || {
        let view = graph.view(TemporalScope::NOW).expect("a view");
        let vertices = view.may_have_had_vertices(VertexLabelId(1));
        let edges = view.may_have_had_edges(EdgeLabelId(1));
        (vertices.expect("an answer"), edges.expect("an answer"))
    };
    assert_eq!(answers(), (false, false));
    write(put_vertex(0));
    assert_eq!(answers(), (true, false));
    write(put_edge(0, 0));
    assert_eq!(answers(), (true, true));
    write(delete(ElementId::Edge(edge(0, 0))));
    write(delete(ElementId::Vertex(vertex(0))));
    assert_eq!(answers(), (true, true), "what was, counts");
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let may = |label: VertexLabelId| view.may_have_had_vertices(label).expect("an answer");
    assert!(!may(other.expect("a label").id));
    assert!(may(unlisted.expect("a label").id), "nothing says no");
    let id = other_edges.expect("a label").id;
    assert!(!view.may_have_had_edges(id).expect("an answer"));
}

/// The ids of all pages of at most `limit` ids, each page from a view of its own, with what is
/// written between the first page and the second.
fn all_around(graph: &Arc<Graph>, limit: usize, between: &WriteRequest) -> Vec<ElementId> {
    let page = |after: Option<&[u8]>| {
        let view = graph.view(TemporalScope::NOW).expect("a view");
        let page = view.ever_vertices(after, limit, &mut || Flow::Continue(()));
        page.expect("a page")
    };
    let mut last = page(None);
    let mut found = last.ids;
    graph.write_now(between).expect("stored");
    while let Some(next) = last.next {
        last = page(Some(&next));
        found.extend(last.ids);
    }
    found
}

#[test]
fn what_is_inserted_again_between_two_pages_is_on_one_of_them() {
    let future = Instant(SystemClock.now().0 + 3_600_000_000);
    for valid_from in [None, Some(future)] {
        let graph = graph();
        let write = |mutations| {
            let request = WriteRequest::now(mutations);
            graph.write_now(&request).expect("stored")
        };
        write((0..4).map(put_vertex).collect());
        write(vec![delete(ElementId::Vertex(vertex(0)))]);
        let mut again = WriteRequest::now(vec![put_vertex(0)]);
        again.period.from = valid_from;
        let mut found = all_around(&graph, 1, &again);
        found.sort();
        let expected: Vec<_> = (0..4).map(|id| ElementId::Vertex(vertex(id))).collect();
        assert_eq!(found, expected, "valid from {valid_from:?}");
        // A marker from before the first page makes nobody come twice.
        let unrelated = WriteRequest::now(vec![put_vertex(3)]);
        let mut found = all_around(&graph, 4, &unrelated);
        found.dedup();
        assert_eq!(found.len(), 4);
    }
}

#[test]
fn elements_that_are_listed_already_take_no_room_of_a_page() {
    let graph = graph();
    let write = |mutations| {
        let request = WriteRequest::now(mutations);
        graph.write_now(&request).expect("stored")
    };
    for _ in 0..2 {
        write((0..600).map(put_vertex).collect());
    }
    write(vec![delete(ElementId::Vertex(vertex(590)))]);
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let mut next: Option<Vec<u8>> = None;
    let mut sizes = Vec::new();
    loop {
        let page = view.ever_vertices(next.as_deref(), 160, &mut || Flow::Continue(()));
        let page = page.expect("a page");
        sizes.push(page.ids.len());
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [160, 160, 160, 120]);
}

#[test]
fn a_row_that_shows_nothing_makes_no_long_token() {
    let graph = graph();
    let sort_values = "x".repeat(50_000);
    for _ in 0..2 {
        let put = |source| put_edge_of(long_edge(source, &sort_values, 3 + source));
        let request = WriteRequest::now((0..3).map(put).collect());
        graph.write_now(&request).expect("stored");
    }
    let view = graph.view(TemporalScope::NOW).expect("a view");
    for (ever, expected) in [(View::ever_vertices as Ever, 0), (View::ever_edges, 3)] {
        let mut after: Option<Vec<u8>> = None;
        let mut found = 0;
        let mut seen_wanted = 0;
        loop {
            let mut looked = 0;
            let mut one = || {
                looked += 1;
                if looked > 1 {
                    Flow::Break(())
                } else {
                    Flow::Continue(())
                }
            };
            let page = ever(&view, after.as_deref(), 10, &mut one).expect("a page");
            found += page.ids.len();
            let Some(next) = page.next else { break };
            seen_wanted += usize::from(next.len() > 1000);
            assert_ne!(Some(&next), after.as_ref(), "a page that does not go on");
            after = Some(next);
        }
        assert_eq!(found, expected);
        // Each edge has one row and one event that is wanted, on its source's side.
        assert!(seen_wanted <= 2 * expected, "{seen_wanted} long tokens");
    }
}

#[test]
fn a_page_looks_at_no_more_than_its_share_of_rows_that_show_nothing() {
    let graph = graph();
    // On both sides of each edge a row, and an event from the second writing.
    let edges = EVER_ROWS_MAX as i64 / 2 + 10;
    let put: Vec<Mutation> = (1..=edges).map(|target| put_edge(0, target)).collect();
    let request = WriteRequest::now(put);
    graph.write_now(&request).expect("stored");
    graph.write_now(&request).expect("stored");
    let view = graph.view(TemporalScope::NOW).expect("a view");
    let mut looked_at = 0;
    let mut looked = || {
        looked_at += 1;
        Flow::Continue(())
    };
    // No vertex is there, nor ever was.
    let first = view.ever_vertices(None, 10, &mut looked).expect("a page");
    assert_eq!(looked_at, EVER_ROWS_MAX);
    assert!(first.ids.is_empty());
    let after = first.next.expect("there is more");
    let again = |after: &[u8]| view.ever_edges(Some(after), 10, &mut || Flow::Continue(()));
    let refused = again(&after).expect_err("not a page of edges");
    assert_eq!(refused.kind, ErrorKind::BadPage);
    let mut looked = || Flow::Continue(());
    let last = view.ever_vertices(Some(&after), 10, &mut looked);
    let last = last.expect("a page");
    assert_eq!((last.ids, last.next), (Vec::new(), None));
}
