//! The effort of searches whose results do not show it.

use varve_model::{
    Direction, Edge, EdgeId, EdgeLabelId, Properties, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::model::ModelView;
use varve_traversal::shortest::{Shortest, shortest_paths};
use varve_traversal::{Capacity, Search, Step};
use varve_view::Meter;

/// The width of a layer of the search.
const WIDTH: i64 = 300;

/// 300 paths from 0 to 1 over two vertices each, and 40 more edges to 1 from vertices without
/// incoming edges.
fn ladder() -> ModelView {
    let (label, kind) = (EdgeLabelId(1), VertexLabelId(1));
    let edge = |source: i64, target: i64| Edge {
        id: EdgeId {
            source: VertexId::Number(source),
            parent: label,
            label,
            sort_values: "".into(),
            target: VertexId::Number(target),
        },
        source_label: kind,
        target_label: kind,
        properties: Properties::new(),
    };
    let (near, far) = (1_000, 2_000);
    let mut edges: Vec<Edge> = Vec::new();
    for at in 0..WIDTH {
        edges.push(edge(0, near + at));
        edges.push(edge(near + at, far + at));
        edges.push(edge(far + at, 1));
    }
    edges.extend((0..40).map(|at| edge(far + WIDTH + at, 1)));
    let mut ids: Vec<i64> = edges
        .iter()
        .flat_map(|edge| [&edge.id.source, &edge.id.target])
        .map(|id| match id {
            VertexId::Number(number) => *number,
            _ => 0,
        })
        .collect();
    ids.sort_unstable();
    ids.dedup();
    let vertex = |id: i64| Vertex {
        id: VertexId::Number(id),
        label: kind,
        properties: Properties::new(),
    };
    ModelView::of(ids.into_iter().map(vertex).collect(), edges)
}

#[test]
fn one_shortest_path_does_not_read_the_whole_layer_in_which_the_ends_meet() {
    let view = ladder();
    let step = Step {
        direction: Some(Direction::Out),
        ..Step::default()
    };
    for (all, paths_wanted) in [(false, 1), (true, WIDTH as usize)] {
        let meter = Meter::unlimited();
        let mut search = Search::new(&view, &meter);
        let start = search.number(&VertexId::Number(0)).expect("a number");
        let end = search.number(&VertexId::Number(1)).expect("a number");
        let ask = Shortest {
            depth: 10,
            capacity: Capacity::NONE,
            all,
        };
        let paths = shortest_paths(&mut search, start, end, &step, &ask).expect("paths");
        assert_eq!(paths.len(), paths_wanted);
        assert!(paths.iter().all(|path| path.vertices.len() == 4));
        let looked_at = search.measure();
        let outer = 2 + WIDTH as u64;
        match all {
            // Of the middle layer, only a few vertices.
            false => assert!(looked_at.vertices <= 2 + 16, "{looked_at:?}"),
            true => assert_eq!(looked_at.vertices, outer),
        }
    }
}
