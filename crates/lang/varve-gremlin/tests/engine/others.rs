//! TinkerPop's graphs `grateful` (songs that followed each other at concerts) and `sink`, of which
//! scenarios use a self-loop. `crew` is missing: it has several values of a property, which only
//! open graphs support.

use varve_model::{
    DataType, Edge, Properties, PropertyKeyId, Value as Stored, Vertex, VertexId, VertexLabelId,
};
use varve_testkit::model::ModelView;

use crate::modern::{Modern, Names, edge_id};

fn text(text: &str) -> Stored {
    Stored::Text(text.replace("&amp;", "&").replace("&apos;", "'"))
}

/// The part of `text` between `start` and `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    text.split_once(start)?
        .1
        .split_once(end)
        .map(|(inside, _)| inside)
}

fn datum<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    between(text, &format!("<data key=\"{key}\">"), "</data>")
}

fn number(text: &str) -> i64 {
    text.parse().expect("a number")
}

/// Reads the graph `grateful` from its file next to the features.
pub(crate) fn grateful() -> Modern {
    let folder = std::env::var("VARVE_GREMLIN_FEATURES").expect("VARVE_GREMLIN_FEATURES");
    let path = "org/apache/tinkerpop/gremlin/structure/io/graphml/grateful-dead.xml";
    let file = std::path::Path::new(&folder).join(path);
    let file = std::fs::read_to_string(file).expect("the file of the graph");
    let int = |number: &str| Stored::Int(number.parse().expect("a number"));
    let mut vertices = Vec::new();
    for node in file.split("<node ").skip(1) {
        let node = node.split_once("</node>").expect("the end of a node").0;
        let mut properties = vec![(1, text(datum(node, "name").expect("a name")))];
        properties.extend(datum(node, "songType").map(|own| (2, text(own))));
        properties.extend(datum(node, "performances").map(|own| (3, int(own))));
        let properties = properties.into_iter();
        vertices.push(Vertex {
            id: VertexId::Number(number(between(node, "id=\"", "\"").expect("an id"))),
            label: VertexLabelId(match datum(node, "labelV") {
                Some("song") => 1,
                _ => 2,
            }),
            properties: properties
                .map(|(key, value)| (PropertyKeyId(key), value))
                .collect(),
        });
    }
    let label_of = |id: i64| {
        let mut all = vertices.iter();
        let found = all.find(|vertex| vertex.id == VertexId::Number(id));
        found.expect("an end of an edge").label
    };
    let mut edges = Vec::new();
    for edge in file.split("<edge ").skip(1) {
        let edge = edge.split_once("</edge>").expect("the end of an edge").0;
        let end = |name: &str| {
            let start = format!("{name}=\"");
            number(between(edge, &start, "\"").expect("an end"))
        };
        let (source, target) = (end("source"), end("target"));
        let label = match datum(edge, "labelE") {
            Some("followedBy") => 1,
            Some("sungBy") => 2,
            _ => 3,
        };
        let weight = datum(edge, "weight").map(|own| (PropertyKeyId(4), int(own)));
        edges.push(Edge {
            id: edge_id(source, label, target),
            source_label: label_of(source),
            target_label: label_of(target),
            properties: weight.into_iter().collect(),
        });
    }
    Modern {
        schema: Names::of(
            &[
                ("name", DataType::Text),
                ("songType", DataType::Text),
                ("performances", DataType::Int),
                ("weight", DataType::Int),
            ],
            &["song", "artist"],
            &["followedBy", "sungBy", "writtenBy"],
        ),
        view: ModelView::of(vertices, edges),
    }
}

/// The graph `sink`.
pub(crate) fn sink() -> Modern {
    let vertex = |id: i64, label: u32, name: &str| Vertex {
        id: VertexId::Number(id),
        label: VertexLabelId(label),
        properties: [(PropertyKeyId(1), text(name))].into_iter().collect(),
    };
    let edge = |source: i64, label: u32, target: i64| Edge {
        id: edge_id(source, label, target),
        source_label: VertexLabelId(label),
        target_label: VertexLabelId(label),
        properties: Properties::new(),
    };
    Modern {
        schema: Names::of(
            &[("name", DataType::Text)],
            &["loops", "message"],
            &["self", "link"],
        ),
        view: ModelView::of(
            vec![
                vertex(1000, 1, "loop"),
                vertex(2000, 2, "a"),
                vertex(2001, 2, "b"),
            ],
            vec![edge(1000, 1, 1000), edge(2000, 2, 2001)],
        ),
    }
}
