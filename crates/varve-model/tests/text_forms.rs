//! Text forms of ids, dates and key values: a written text reads back, different values have
//! different texts, and no text makes a parser panic. `PROPTEST_CASES` sets the number of inputs.

use compact_str::CompactString;
use proptest::prelude::*;
use varve_model::id::{EDGE_ID_BYTES_MAX, VERTEX_ID_BYTES_MAX, split_unescaped};
use varve_model::sortable::{encode_number, join_key_values, key_part};
use varve_model::value::{Uuid, date_text, parse_date};
use varve_model::{EdgeId, EdgeLabelId, Value, VertexId};

/// Texts full of characters that have a meaning in the joined forms.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => "[a`~>!:\\-SLU0-9]{0,6}", 1 => ".{0,8}"]
}

fn vertex_id() -> impl Strategy<Value = VertexId> {
    prop_oneof![
        3 => ("[a`~>!:S0-9]", text()).prop_map(|(head, tail)| VertexId::text(&(head + &tail))),
        1 => any::<i64>().prop_map(VertexId::Number),
        1 => any::<u128>().prop_map(VertexId::Uuid),
    ]
}

fn edge_id() -> impl Strategy<Value = EdgeId> {
    (vertex_id(), any::<u32>(), any::<u32>(), text(), vertex_id()).prop_map(
        |(source, parent, label, sort_values, target)| EdgeId {
            source,
            parent: EdgeLabelId(parent),
            label: EdgeLabelId(label),
            sort_values: CompactString::new(&sort_values),
            target,
        },
    )
}

fn key_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => text().prop_map(Value::Text),
        1 => any::<i64>().prop_map(Value::Long),
        1 => any::<f64>().prop_map(Value::Double),
        1 => any::<bool>().prop_map(Value::Boolean),
    ]
}

proptest! {
    #[test]
    fn edge_ids_come_back(id in edge_id()) {
        prop_assert_eq!(EdgeId::parse(&id.to_string()), Ok(id));
    }

    /// Two vertices of one label never share an id, whatever their primary keys hold.
    #[test]
    fn joined_key_values_come_apart(values in prop::collection::vec(key_value(), 1..4)) {
        let parts: Vec<String> = values.iter().map(|it| key_part(it).into()).collect();
        prop_assert_eq!(split_unescaped(&join_key_values(&values), '!'), parts);
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[a`~>!:\\-SLU\"0-9é ]{0,40}", cut in 0..50_usize) {
        for text in [text.clone(), format!("S1:a>1>1>{text}>S2:b"), format!("\"{text}\"")] {
            let text: String = text.chars().skip(cut).collect();
            if let Ok(id) = EdgeId::parse(&text) {
                prop_assert_eq!(EdgeId::parse(&id.to_string()), Ok(id));
            }
            prop_assert!(Uuid::parse(&text).is_none());
            let _ = parse_date(&text);
        }
    }

    #[test]
    fn uuids_come_back_or_are_refused(uuid in any::<u128>(), at in 0..36_usize, other in any::<char>()) {
        let text = Uuid(uuid).to_string();
        prop_assert_eq!(Uuid::parse(&text), Some(Uuid(uuid)));
        prop_assert_eq!(Uuid::parse(&text.to_uppercase().replace('-', "")), Some(Uuid(uuid)));
        let changed: String = text.chars().enumerate().map(|(i, c)| if i == at { other } else { c }).collect();
        if let Some(read) = Uuid::parse(&changed) {
            prop_assert_eq!(read.to_string(), changed.to_lowercase());
        }
    }

    #[test]
    fn dates_of_four_digit_years_come_back(millis in -62_167_219_200_000..=253_402_300_799_999_i64) {
        prop_assert_eq!(parse_date(&date_text(millis)), Some(millis));
    }

    #[test]
    fn every_date_has_a_text(millis in any::<i64>()) {
        prop_assert!(date_text(millis).len() >= 23);
    }

    #[test]
    fn changed_dates_are_read_or_refused(
        millis in 0..4_102_444_800_000_i64,
        at in 0..23_usize,
        other in prop::sample::select(vec!['0', '9', '-', ':', ' ', '.', 'T', 'é']),
        keep in 0..24_usize,
    ) {
        let text = date_text(millis);
        let changed: String = text.chars().enumerate()
            .map(|(i, c)| if i == at { other } else { c })
            .take(keep)
            .collect();
        if let Some(read) = parse_date(&changed) {
            // Zeros may be left out.
            let digits = |text: &str| text.replace('0', "");
            prop_assert!(digits(&date_text(read)).starts_with(&digits(&changed)));
        }
    }

    #[test]
    fn sortable_numbers_order_as_numbers(a in any::<i64>(), b in any::<i64>(), shift in 0..64_u32) {
        let (a, b) = (a >> shift, b >> shift);
        prop_assert_eq!(encode_number(a).cmp(&encode_number(b)), a.cmp(&b));
    }
}

#[test]
fn a_backquote_at_the_end_of_a_part_is_no_escape() {
    let pairs = |values: [&str; 2]| join_key_values(&values.map(|v| Value::Text(v.into())));
    assert_ne!(pairs(["a`", "b!c"]), pairs(["a!b`", "c"]));
    assert_eq!(pairs(["a`", "b"]), "a`~!b");
    let mut id = EdgeId::parse("S1>1>1>>S2").expect("an edge id");
    id.source = VertexId::text("a`");
    assert_eq!(id.to_string(), "Sa`~>1>1>>S2");
}

#[test]
fn ids_over_the_limit_are_refused() {
    let longest = "x".repeat(VERTEX_ID_BYTES_MAX);
    let edge = format!("S{longest}>1>1>>S{longest}");
    assert!(edge.len() < EDGE_ID_BYTES_MAX && EdgeId::parse(&edge).is_ok());
    assert!(EdgeId::parse(&format!("S{longest}x>1>1>>S1")).is_err());
}
