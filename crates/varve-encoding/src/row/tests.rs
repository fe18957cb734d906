//! Round trips of rows.

use proptest::prelude::*;
use varve_model::Value;

use super::*;
use crate::testing;
use crate::value::ValueRef;

proptest! {
    #[test]
    fn heads_come_back(header in testing::header(), content in prop::collection::vec(any::<u8>(), 0..9)) {
        let mut row = Vec::new();
        header.encode(&mut row);
        prop_assert_eq!(&row[VERSION_AT..VERSION_AT + 8], &header.version.0.to_be_bytes()[..]);
        row.extend_from_slice(&content);
        prop_assert_eq!(Header::decode(&row).expect("own bytes"), (header, &content[..]));
        let always = header.kind == RowKind::Put
            && (header.to, header.until) == (Instant::FOREVER, Instant::FOREVER);
        prop_assert_eq!(decides_always(&row), always);
    }

    #[test]
    fn vertices_come_back(
        id in testing::vertex_id(),
        label in testing::schema_id(),
        properties in testing::properties(),
    ) {
        let vertex = Vertex { id: id.clone(), label: VertexLabelId(label), properties };
        let mut content = Vec::new();
        put_vertex_content(&vertex, &mut content);
        let read = decode_vertex(id, &content).expect("own bytes");
        prop_assert_eq!((&read.id, read.label), (&vertex.id, vertex.label));
        prop_assert!(read.properties.is_identical(&vertex.properties));
        prop_assert_eq!(vertex_label(&content).expect("own bytes"), vertex.label);
        let (label, reader) = vertex_parts(&content).expect("own bytes");
        prop_assert_eq!(label, vertex.label);
        check_reader(reader, &vertex.properties)?;
    }

    #[test]
    fn edges_come_back(
        id in testing::edge_id(),
        source in testing::schema_id(),
        target in testing::schema_id(),
        properties in testing::properties(),
    ) {
        let (source_label, target_label) = (VertexLabelId(source), VertexLabelId(target));
        let edge = Edge { id: id.clone(), source_label, target_label, properties };
        let mut content = Vec::new();
        put_edge_content(&edge, &mut content);
        let read = decode_edge(id.clone(), &content).expect("own bytes");
        prop_assert_eq!((&read.id, read.source_label, read.target_label), (&id, source_label, target_label));
        prop_assert!(read.properties.is_identical(&edge.properties));
        let (from, to, reader) = edge_parts(&content).expect("own bytes");
        prop_assert_eq!((from, to), (source_label, target_label));
        check_reader(reader, &edge.properties)?;
        let clustering = crate::key::edge_clustering(&id, varve_model::Direction::In);
        prop_assert_eq!(edge_labels_of_clustering(&clustering), Some((id.parent, id.label)));
    }

    /// A row cut short is damage, wherever it is cut.
    #[test]
    fn a_cut_row_does_not_decode(label in testing::schema_id(), properties in testing::properties()) {
        let id = VertexId::Number(1);
        let vertex = Vertex { id: id.clone(), label: VertexLabelId(label), properties };
        let mut content = Vec::new();
        put_vertex_content(&vertex, &mut content);
        for short in 0..content.len() {
            prop_assert!(decode_vertex(id.clone(), &content[..short]).is_err());
        }
    }
}

fn check_reader(mut reader: PropertyReader<'_>, wanted: &Properties) -> Result<(), TestCaseError> {
    for (key, value) in wanted.iter() {
        let (read, seen) = reader
            .next_property()
            .expect("own bytes")
            .expect("one more");
        prop_assert_eq!(read, key);
        let same = match (seen, value) {
            (ValueRef::Text(a), Value::Text(b)) => a == b,
            (ValueRef::Blob(a), Value::Blob(b)) => a == b.as_slice(),
            (ValueRef::Boolean(a), Value::Boolean(b)) => a == *b,
            (ValueRef::Integer(a, width), Value::Byte(_) | Value::Int(_) | Value::Long(_)) => {
                width.value(a).as_ref() == Some(value)
            }
            (ValueRef::Date(a), Value::Date(b)) => a == *b,
            (ValueRef::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            (ValueRef::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (ValueRef::Uuid(a), Value::Uuid(b)) => a == *b,
            (ValueRef::Nested(bytes), _) => {
                let (nested, rest) = take_value(bytes).expect("own bytes");
                rest.is_empty() && nested.is_identical(value)
            }
            _ => false,
        };
        prop_assert!(same, "{value:?} was read as {seen:?}");
    }
    prop_assert_eq!(reader.next_property().expect("own bytes"), None);
    Ok(())
}

#[test]
fn unknown_flags_are_damage_or_a_newer_format() {
    let mut row = Vec::new();
    Header::put_now().encode(&mut row);
    for flag in [0x40, 0x80, DELETE | MARKER] {
        row[0] = flag;
        assert!(Header::decode(&row).is_err(), "{flag:#x}");
    }
}

#[test]
fn the_short_forms_are_the_long_ones() {
    let mut head = Vec::new();
    Header::put_now().encode(&mut head);
    assert_eq!(head, PUT_NOW);
    let (mut text, mut value) = (Vec::new(), Vec::new());
    crate::value::put_text("läng", &mut text);
    put_value(&varve_model::Value::Text("läng".into()), &mut value);
    assert_eq!(text, value);
}
