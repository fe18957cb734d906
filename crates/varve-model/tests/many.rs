//! Random writes of properties, compared with a naive list of values.

use proptest::prelude::*;
use varve_model::{Cardinality, Properties, PropertyKeyId, Value};

const KEY: PropertyKeyId = PropertyKeyId(7);
const OTHER: PropertyKeyId = PropertyKeyId(1);

#[derive(Debug, Clone)]
enum Step {
    Write(Cardinality, Value, Vec<(PropertyKeyId, Value)>),
    Remove(usize),
    Meta(usize, PropertyKeyId, Option<Value>),
}

/// One value in the model: its number, the value and its meta-properties.
type ExpectedValue = (u32, Value, Vec<(PropertyKeyId, Value)>);

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0..3_i32).prop_map(Value::Int),
        (0..3_i64).prop_map(Value::Long),
        Just(Value::Double(f64::NAN)),
        Just(Value::Double(0.0)),
        Just(Value::Double(-0.0)),
        Just(Value::List(vec![Value::Short(1)])),
    ]
}

fn meta_key() -> impl Strategy<Value = PropertyKeyId> {
    (1..4_u32).prop_map(PropertyKeyId)
}

fn step() -> impl Strategy<Value = Step> {
    let cardinality = prop::sample::select(vec![
        Cardinality::Single,
        Cardinality::List,
        Cardinality::List,
        Cardinality::Set,
    ]);
    let metas = prop::collection::vec((meta_key(), value()), 0..3);
    prop_oneof![
        4 => (cardinality, value(), metas).prop_map(|(c, v, m)| Step::Write(c, v, m)),
        1 => (0..6_usize).prop_map(Step::Remove),
        1 => (0..6_usize, meta_key(), prop::option::of(value()))
            .prop_map(|(at, key, value)| Step::Meta(at, key, value)),
    ]
}

fn set_meta(kept: &mut ExpectedValue, key: PropertyKeyId, value: Option<Value>) {
    kept.2.retain(|(old, _)| *old != key);
    kept.2.extend(value.map(|value| (key, value)));
    kept.2.sort_by_key(|(key, _)| *key);
}

fn apply(model: &mut Vec<ExpectedValue>, step: &Step) {
    match step {
        Step::Write(cardinality, value, metas) => {
            if *cardinality == Cardinality::Single {
                model.clear();
            }
            let equal = model
                .iter()
                .position(|kept| *cardinality == Cardinality::Set && same(&kept.1, value));
            let at = equal.unwrap_or_else(|| {
                let number = model.iter().map(|kept| kept.0 + 1).max().unwrap_or(0);
                model.push((number, value.clone(), Vec::new()));
                model.len() - 1
            });
            for (key, value) in metas {
                set_meta(&mut model[at], *key, Some(value.clone()));
            }
        }
        Step::Remove(at) if *at < model.len() => drop(model.remove(*at)),
        Step::Meta(at, key, value) if *at < model.len() => {
            set_meta(&mut model[*at], *key, value.clone());
        }
        Step::Remove(_) | Step::Meta(..) => {}
    }
}

/// As Java compares: by type and bits.
fn same(a: &Value, b: &Value) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

fn run(properties: &mut Properties, model: &[ExpectedValue], step: &Step) {
    let number = |at: &usize| model.get(*at).map_or(u32::MAX, |kept| kept.0);
    match step {
        Step::Write(cardinality, value, metas) => {
            let metas = metas.iter().cloned().collect();
            properties.write(KEY, *cardinality, value.clone(), metas);
        }
        Step::Remove(at) => {
            assert_eq!(properties.remove_value(KEY, number(at)), *at < model.len());
        }
        Step::Meta(at, key, value) => {
            let found = properties.write_meta(KEY, number(at), *key, value.clone());
            assert_eq!(found, *at < model.len());
        }
    }
}

proptest! {
    #[test]
    fn values_are_written_as_a_list_of_them_would_be(steps in prop::collection::vec(step(), 1..20)) {
        let mut properties = Properties::new();
        properties.set(OTHER, Value::Boolean(true));
        let mut model: Vec<ExpectedValue> = Vec::new();
        for step in &steps {
            run(&mut properties, &model, step);
            apply(&mut model, step);
            let seen: Vec<ExpectedValue> = properties
                .values(KEY)
                .map(|one| {
                    let metas = one.meta.into_iter().flat_map(Properties::iter);
                    let metas = metas.map(|(key, value)| (key, value.clone()));
                    (one.number, one.value.clone(), metas.collect())
                })
                .collect();
            prop_assert_eq!(format!("{seen:?}"), format!("{model:?}"));
            let costs_nothing = matches!(&model[..], [(0, _, metas)] if metas.is_empty());
            let is_many = matches!(properties.get(KEY), Some(Value::Many(_)));
            prop_assert_eq!(is_many, !model.is_empty() && !costs_nothing);
            prop_assert_eq!(properties.get(OTHER), Some(&Value::Boolean(true)));
        }
    }
}
