//! The content and the size of projections.

use varve_model::{
    Direction, Edge, EdgeId, EdgeLabelId, Properties, PropertyKeyId, Value, Vertex, VertexId,
    VertexLabelId,
};
use varve_testkit::model::ModelView;
use varve_traversal::algorithms::{count_edges, count_vertices};
use varve_traversal::{Node, Projection, ProjectionAsk, TraversalError};
use varve_view::{CancelToken, GraphView, Meter, MeterLimits, ViewError};

use super::world::{WEIGHT, each_graph};

fn vertex(id: i64, label: u32) -> Vertex {
    Vertex {
        id: VertexId::Number(id),
        label: VertexLabelId(label),
        properties: Properties::new(),
    }
}

fn edge(from: i64, to: i64, label: u32, weight: Value) -> Edge {
    let label = EdgeLabelId(label);
    Edge {
        id: EdgeId {
            source: VertexId::Number(from),
            parent: label,
            label,
            sort_values: "".into(),
            target: VertexId::Number(to),
        },
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: [(WEIGHT, weight)].into_iter().collect(),
    }
}

/// Vertices 7, 5 and 9, where 9 has another label, and edges of two labels, one to a missing
/// vertex.
fn view() -> ModelView {
    let vertices = vec![vertex(7, 1), vertex(5, 1), vertex(9, 2)];
    let edges = vec![
        edge(7, 5, 1, Value::Double(0.5)),
        edge(7, 9, 2, Value::Long(3)),
        edge(5, 7, 2, Value::Int(2)),
        edge(7, 8, 1, Value::Int(1)),
    ];
    ModelView::of(vertices, edges)
}

fn edges(view: &dyn GraphView, ask: &ProjectionAsk<'_>) -> Vec<(i64, i64, f64)> {
    let one = Projection::new(view, ask, &Meter::unlimited()).expect("a projection");
    let id = |node: Node| match one.id(view, node).expect("an id") {
        VertexId::Number(number) => number,
        other => panic!("{other}"),
    };
    let mut edges = Vec::new();
    for side in one.sides() {
        for node in one.nodes() {
            edges.extend(
                side.weighted(node)
                    .map(|(other, weight)| (id(node), id(other), weight)),
            );
        }
    }
    edges
}

#[test]
fn a_projection_has_the_edges_asked_for_between_vertices_that_exist() {
    let view = view();
    let out = ProjectionAsk {
        direction: Some(Direction::Out),
        ..ProjectionAsk::default()
    };
    assert_eq!(edges(&view, &out), [(5, 7, 1.0), (7, 5, 1.0), (7, 9, 1.0)]);
    let weighted = ProjectionAsk {
        weight: Some(WEIGHT),
        ..out
    };
    assert_eq!(
        edges(&view, &weighted),
        [(5, 7, 2.0), (7, 5, 0.5), (7, 9, 3.0)]
    );
    let into = ProjectionAsk {
        direction: Some(Direction::In),
        ..out
    };
    assert_eq!(edges(&view, &into), [(5, 7, 1.0), (7, 5, 1.0), (9, 7, 1.0)]);
    let of_label = ProjectionAsk {
        labels: &[EdgeLabelId(2)],
        ..out
    };
    assert_eq!(edges(&view, &of_label), [(5, 7, 1.0), (7, 9, 1.0)]);
    let of_vertices = ProjectionAsk {
        vertex_labels: &[VertexLabelId(1)],
        ..out
    };
    assert_eq!(edges(&view, &of_vertices), [(5, 7, 1.0), (7, 5, 1.0)]);
    let both = ProjectionAsk {
        direction: None,
        ..of_label
    };
    let wanted = [(5, 7, 1.0), (7, 9, 1.0), (7, 5, 1.0), (9, 7, 1.0)];
    assert_eq!(edges(&view, &both), wanted);
}

#[test]
fn elements_are_counted_by_label() {
    let (view, mut progress) = (view(), 0);
    let mut report = |counted| progress = counted;
    let counts = count_vertices(&view, &Meter::unlimited(), &mut report).expect("counts");
    let wanted = [(VertexLabelId(1), 2), (VertexLabelId(2), 1)];
    assert!(counts.into_iter().eq(wanted));
    let counts = count_edges(&view, &Meter::unlimited(), &mut report).expect("counts");
    assert!(
        counts
            .into_iter()
            .eq([(EdgeLabelId(1), 2), (EdgeLabelId(2), 2)])
    );
    assert_eq!(progress, 4);
}

#[test]
fn a_vertex_is_found_by_its_id() {
    let view = view();
    let one = Projection::new(&view, &ProjectionAsk::default(), &Meter::unlimited());
    let one = one.expect("a projection");
    for (number, id) in [5, 7, 9].into_iter().enumerate() {
        assert_eq!(one.node(&view, &VertexId::Number(id)), Some(number as Node));
    }
    assert_eq!(one.node(&view, &VertexId::Number(8)), None);
    assert_eq!(one.vertices().label(2), VertexLabelId(2));
}

#[test]
fn a_copy_is_the_graph_and_holds_what_it_says() {
    each_graph(|graph, _| {
        let [both, out, into] = graph.projections();
        let mut wanted = graph.edges.clone();
        let shown = |one: &Projection| -> Vec<(Node, Node, f64)> {
            let of = |node| {
                one.first()
                    .weighted(node)
                    .map(move |(other, w)| (node, other, w))
            };
            one.nodes().flat_map(of).collect()
        };
        let sorted = |mut edges: Vec<(Node, Node, f64)>| {
            edges.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
            edges
        };
        wanted = sorted(wanted);
        assert_eq!(sorted(shown(&out)), wanted);
        assert_eq!(sorted(shown(&both)), wanted);
        let reversed = wanted.iter().map(|(a, b, w)| (*b, *a, *w)).collect();
        assert_eq!(sorted(shown(&into)), sorted(reversed));
        assert_eq!(both.edges(), graph.edges.len());
        let meter = Meter::unlimited();
        let ask = ProjectionAsk::default();
        let copy = Projection::new(&graph.view(), &ask, &meter).expect("a projection");
        // The table of keys is released.
        assert_eq!(meter.bytes(), copy.bytes() as u64);
    });
}

#[test]
fn an_edge_takes_eight_bytes_in_both_directions() {
    let vertices = (0..40).map(|id| vertex(id, 1)).collect();
    let pairs = (0..40).flat_map(|a| (0..40).map(move |b| (a, b)));
    let edges: Vec<Edge> = pairs.map(|(a, b)| edge(a, b, 1, Value::Int(1))).collect();
    let count = edges.len();
    let view = ModelView::of(vertices, edges);
    let ask = ProjectionAsk::default();
    let one = Projection::new(&view, &ask, &Meter::unlimited()).expect("a projection");
    let of_vertices = 40 * (9 + 12) + 2 * 41 * 4;
    assert_eq!(one.bytes(), of_vertices + count * 8);
}

#[test]
fn a_projection_ends_at_its_memory_its_cancellation_and_a_wrong_weight() {
    let view = view();
    let ask = ProjectionAsk::default();
    let limits = MeterLimits {
        bytes_max: 60,
        ..MeterLimits::NONE
    };
    let meter = Meter::new(limits, CancelToken::default());
    let ended = Projection::new(&view, &ask, &meter);
    assert!(matches!(
        ended,
        Err(TraversalError::View(ViewError::Memory { max: 60 }))
    ));
    let limits = MeterLimits {
        rows_max: 4,
        ..MeterLimits::NONE
    };
    let meter = Meter::new(limits, CancelToken::default());
    let ended = Projection::new(&view, &ask, &meter);
    assert!(matches!(
        ended,
        Err(TraversalError::View(ViewError::Rows { max: 4 }))
    ));
    let token = CancelToken::default();
    token.cancel();
    let ended = Projection::new(&view, &ask, &Meter::new(MeterLimits::NONE, token));
    assert!(matches!(
        ended,
        Err(TraversalError::View(ViewError::Cancelled))
    ));
    for wrong in [
        Value::Double(-1.0),
        Value::Double(f64::NAN),
        Value::Text("x".into()),
    ] {
        let view = ModelView::of(vec![vertex(1, 1)], vec![edge(1, 1, 1, wrong)]);
        let ask = ProjectionAsk {
            weight: Some(WEIGHT),
            ..ProjectionAsk::default()
        };
        let ended = Projection::new(&view, &ask, &Meter::unlimited());
        assert!(matches!(ended, Err(TraversalError::Weight(_))));
        let other = ProjectionAsk {
            weight: Some(PropertyKeyId(9)),
            ..ask
        };
        assert_eq!(edges(&view, &other), [(1, 1, 1.0), (1, 1, 1.0)]);
    }
}
