//! How many elements a walk reads at once.

use varve_encoding::tables::TABLES;
use varve_kv::{Engine, MemoryEngine};
use varve_model::{EdgeId, EdgeLabelId, Instant, TemporalScope, VertexId};

use super::*;

/// How many elements a walk reads at once, for each of six successive reads.
fn read_at_once(id: &ElementId, valid: Option<Instant>) -> [usize; 6] {
    let space = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    let scope = TemporalScope {
        valid,
        ..TemporalScope::NOW
    };
    let source = Source {
        reader: &*space,
        point: Point {
            scope,
            now: Instant(1_000),
        },
        deriver: None,
    };
    let mut stepper = Stepper {
        source: &source,
        partitions: &[],
        chunk: CHUNK_MIN,
        ahead: AHEAD_MIN,
        unchecked: false,
        content: Vec::new(),
    };
    let mut clustering = Vec::new();
    key::put_ordered_element(id, &mut clustering);
    [(); 6].map(|()| stepper.at_once(&clustering))
}

#[test]
fn elements_are_read_ahead_only_where_one_search_finds_several() {
    let past = Some(Instant(1));
    let edge = ElementId::Edge(EdgeId {
        source: VertexId::text("a"),
        parent: EdgeLabelId(1),
        label: EdgeLabelId(1),
        sort_values: "".into(),
        target: VertexId::text("b"),
    });
    for vertex in [VertexId::text("a"), VertexId::Number(1)] {
        let vertex = ElementId::Vertex(vertex);
        assert_eq!(read_at_once(&vertex, past), [4, 8, 16, 32, 32, 32]);
        assert_eq!(read_at_once(&vertex, None), [1; 6]);
    }
    assert_eq!(read_at_once(&edge, past), [1; 6]);
}
