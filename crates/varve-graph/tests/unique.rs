//! Unique values whose latches fall together with those of the element itself.

use std::sync::Arc;

use varve_encoding::tables::TABLES;
use varve_graph::schema::{BaseType, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel};
use varve_graph::write::{EndCheck, Mutation, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{Engine, MemoryEngine};
use varve_model::schema::IndexType;
use varve_model::time::SystemClock;
use varve_model::value::DataType;
use varve_model::{Edge, EdgeId, EdgeLabelId, PropertyKeyId, Value, VertexId, VertexLabelId};

/// Enough values that one of them falls on the slot of an end's latch, which an edge holds shared.
const VALUES: i64 = 20_000;

#[test]
fn a_value_whose_latch_the_request_holds_shared_is_claimed() {
    let space = MemoryEngine::new()
        .open("g", TABLES, true)
        .expect("a space");
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let graph = Graph::open("g", space, &options).expect("a graph");
    let catalogue = graph.catalogue();
    let code = NewPropertyKey {
        data_type: DataType::Long,
        ..NewPropertyKey::named("code")
    };
    catalogue.create_property_key(code).expect("a key");
    catalogue
        .create_vertex_label(NewVertexLabel::named("v"))
        .expect("a label");
    let properties = vec!["code".to_owned()];
    let label = NewEdgeLabel {
        properties,
        ..NewEdgeLabel::between("e", "v", "v")
    };
    catalogue.create_edge_label(label).expect("a label");
    let index = NewIndexLabel::on(
        "unique",
        BaseType::EdgeLabel,
        "e",
        IndexType::Unique,
        &["code"],
    );
    catalogue
        .create_index_label(NewIndexLabel {
            rebuild: false,
            ..index
        })
        .expect("an index");
    let label = EdgeLabelId(1);
    for value in 0..VALUES {
        let id = EdgeId {
            source: VertexId::Number(1),
            parent: label,
            label,
            sort_values: "".into(),
            target: VertexId::Number(2),
        };
        let properties = [(PropertyKeyId(1), Value::Long(value))]
            .into_iter()
            .collect();
        let (source_label, target_label) = (VertexLabelId(1), VertexLabelId(1));
        let edge = Edge {
            id,
            source_label,
            target_label,
            properties,
        };
        let put = Mutation::PutEdge {
            edge,
            ends: EndCheck::Skip,
        };
        graph
            .write_now(&WriteRequest::now(vec![put]))
            .expect("claimed");
    }
}
