//! Scans and estimates. A view must give the same results as the model's view, whatever the size of
//! the pieces in which a scan is read.

use std::cmp::Ordering;

use varve_model::{Condition, EdgeLabelId, Predicate, Properties, PropertyKeyId, Value};
use varve_view::{
    Dictionary, Elements, Flow, GraphView, Meter, ScanAsk, ScanOrder, ScanPosition, ScannedElement,
    ViewError,
};

use super::{Questions, one_of, same, shown_value, some_of, widened};
use crate::Random;

/// An element in terms that are independent of the view: its id as text, its label, its properties.
type Seen = (String, String, Properties);

/// Compares a random scan of vertices, a random scan of edges, and the ends of all edges.
pub(super) fn compare(
    view: &dyn GraphView,
    model: &dyn GraphView,
    questions: &Questions<'_>,
    random: &mut Random,
) -> Result<(), String> {
    let vertex_labels = some_or_none(random, questions.vertex_labels);
    let edge_labels: Vec<EdgeLabelId> = some_or_none(random, questions.labels);
    for elements in [
        Elements::Vertices(&vertex_labels),
        Elements::Edges(&edge_labels),
    ] {
        let values = values(model, elements, questions.properties)?;
        let conditions: Vec<Condition> = match values.is_empty() {
            true => Vec::new(),
            false => (0..random.below(3))
                .map(|_| condition(random, &values))
                .collect(),
        };
        let numbers: Vec<PropertyKeyId> = values
            .iter()
            .filter(|(_, value)| value.as_i64().is_some() || value.as_f64().is_some())
            .map(|(key, _)| *key)
            .collect();
        let order = match random.below(3) {
            0 if !numbers.is_empty() => Some(ScanOrder {
                key: *one_of(random, &numbers),
                descending: random.below(2) == 0,
            }),
            _ => None,
        };
        let mut properties = questions.properties.to_vec();
        properties.sort_unstable();
        let ask = ScanAsk {
            elements,
            conditions: &conditions,
            order,
            properties: &properties,
        };
        one(view, model, &ask, random)?;
    }
    let ends = |view| edge_ends(view).map_err(|error| error.to_string());
    same("the ends of all edges", ends(model)?, ends(view)?)
}

/// Both ends of every edge, as texts, sorted.
fn edge_ends(view: &dyn GraphView) -> Result<Vec<(String, String)>, ViewError> {
    let (mut keys, meter) = (Vec::new(), Meter::unlimited());
    view.edge_ends(&meter, &mut |source, target| {
        keys.push((source.to_vec(), target.to_vec()));
        Flow::Continue(())
    })?;
    assert!(meter.rows() >= keys.len() as u64, "rows are counted");
    let mut shown = 0;
    view.edge_ends(&meter, &mut |_, _| {
        shown += 1;
        Flow::Break(())
    })?;
    assert_eq!(shown, keys.len().min(1), "a visitor ends it");
    let id = |key: &[u8]| Ok(view.vertex_id(key)?.to_string());
    let each = keys
        .iter()
        .map(|(source, target)| Ok((id(source)?, id(target)?)));
    let mut ends = each.collect::<Result<Vec<_>, ViewError>>()?;
    ends.sort();
    Ok(ends)
}

fn one(
    view: &dyn GraphView,
    model: &dyn GraphView,
    ask: &ScanAsk<'_>,
    random: &mut Random,
) -> Result<(), String> {
    let text = |error: ViewError| error.to_string();
    let what = format!("{ask:?}");
    let estimate = view
        .estimate(ask, 1_000_000, &Meter::unlimited())
        .map_err(text)?;
    let Some(estimate) = estimate else {
        let refused = view.scan(ask, None, 1, &Meter::unlimited(), &mut |_| {
            Flow::Continue(())
        });
        let is_refused = matches!(refused, Err(ViewError::NoIndex(_)));
        return same(&format!("{what} without an index"), true, is_refused);
    };
    let pieces = 1 + random.below(5);
    let mut wanted = all(model, ask, usize::MAX).map_err(text)?;
    let mut shown = all(view, ask, pieces).map_err(text)?;
    if let Some(order) = ask.order {
        same(
            &what,
            values_of(&wanted, order.key),
            values_of(&shown, order.key),
        )?;
    }
    if let Some(key) = ask.properties.first() {
        let each = wanted.iter().filter_map(|(.., own)| own.get(*key));
        let mut wanted: Vec<String> = each.map(|value| format!("{value:?}")).collect();
        wanted.sort_unstable();
        let shown = all_values(view, ask, *key, pieces).map_err(text)?;
        same(&format!("{what}: values of {key:?}"), wanted, shown)?;
    }
    wanted.sort_by(by_id);
    shown.sort_by(by_id);
    if estimate < wanted.len() as u64 {
        return Err(format!("{what}: {estimate} estimated of {}", wanted.len()));
    }
    same(&format!("{what} in pieces of {pieces}"), wanted, shown)
}

fn by_id(a: &Seen, b: &Seen) -> Ordering {
    (&a.0, &a.1).cmp(&(&b.0, &b.1))
}

fn values_of(seen: &[Seen], key: PropertyKeyId) -> Vec<Option<Value>> {
    let values = seen.iter().map(|(.., properties)| properties.get(key));
    values.map(Option::<&Value>::cloned).collect()
}

/// All elements of a scan, read in pieces of `demand`.
fn all(view: &dyn GraphView, ask: &ScanAsk<'_>, demand: usize) -> Result<Vec<Seen>, ViewError> {
    let mut seen: Vec<Seen> = Vec::new();
    let mut from: Option<ScanPosition> = None;
    loop {
        let (before, mut failed) = (seen.len(), None);
        let meter = Meter::unlimited();
        from = view.scan(ask, from.as_ref(), demand, &meter, &mut |found| {
            match element(view, found) {
                Ok(element) => seen.push(element),
                Err(error) => failed = Some(error),
            }
            Flow::Continue(())
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        assert!(seen.len() - before <= demand, "more than was asked for");
        assert!(
            meter.rows() >= (seen.len() - before) as u64,
            "rows are counted"
        );
        if from.is_none() {
            return Ok(seen);
        }
    }
}

/// The values that one property has in the elements of a scan. They are read through a dictionary,
/// and returned as sorted texts.
fn all_values(
    view: &dyn GraphView,
    ask: &ScanAsk<'_>,
    key: PropertyKeyId,
    demand: usize,
) -> Result<Vec<String>, ViewError> {
    let (mut dictionary, meter) = (Dictionary::default(), Meter::unlimited());
    let (mut numbers, mut from) = (Vec::new(), None);
    loop {
        let (place, visit) = ((from.as_ref(), demand), &mut |number| numbers.push(number));
        from = view.scan_values(ask, key, place, &mut dictionary, &meter, visit)?;
        if from.is_none() {
            break;
        }
    }
    let text = |number: u32| {
        let shown = shown_value(&dictionary, key, number);
        format!("{:?}", shown.get(key).expect("its value"))
    };
    let mut values: Vec<String> = numbers.into_iter().map(text).collect();
    values.sort_unstable();
    Ok(values)
}

fn element(view: &dyn GraphView, found: &ScannedElement<'_>) -> Result<Seen, ViewError> {
    Ok(match found {
        ScannedElement::Vertex { key, vertex } => (
            view.vertex_id(key)?.to_string(),
            format!("{:?}", vertex.label),
            widened(vertex.properties),
        ),
        ScannedElement::Edge(edge) => {
            let id = view.edge_id(edge.source, edge.edge)?;
            let ends = [view.vertex_id(edge.source)?, view.vertex_id(edge.target)?];
            let labels = (edge.label, edge.source_label, edge.target_label);
            let text = format!("{labels:?} of {ends:?}");
            (format!("{id:?}"), text, widened(edge.properties))
        }
    })
}

/// The property values that occur in elements, except lists, sets and objects.
fn values(
    model: &dyn GraphView,
    elements: Elements<'_>,
    properties: &[PropertyKeyId],
) -> Result<Vec<(PropertyKeyId, Value)>, String> {
    let ask = ScanAsk {
        elements,
        conditions: &[],
        order: None,
        properties,
    };
    let mut values = Vec::new();
    let mut take = |found: &ScannedElement<'_>| {
        let properties = match found {
            ScannedElement::Vertex { vertex, .. } => vertex.properties,
            ScannedElement::Edge(edge) => edge.properties,
        };
        let each = properties.iter().map(|(key, value)| (key, value.clone()));
        let is_single =
            |value: &Value| !matches!(value, Value::List(_) | Value::Set(_) | Value::Object(_));
        values.extend(each.filter(|(_, value)| is_single(value)));
        Flow::Continue(())
    };
    let all = model.scan(&ask, None, usize::MAX, &Meter::unlimited(), &mut take);
    all.map_err(|error| error.to_string())?;
    Ok(values)
}

fn condition(random: &mut Random, values: &[(PropertyKeyId, Value)]) -> Condition {
    let (key, value) = one_of(random, values).clone();
    let is_ordered = value.as_f64().is_some() || matches!(value, Value::Date(_));
    let predicate = match random.below(6) {
        0 if is_ordered => Predicate::Gte(value),
        1 if is_ordered => Predicate::Lt(value),
        2 if is_ordered => Predicate::Outside(value.clone(), value),
        3 => {
            let same_key = values.iter().filter(|(other, _)| *other == key);
            let some = same_key.map(|(_, value)| value.clone());
            Predicate::Within(some.take(2).chain([value]).collect())
        }
        _ => Predicate::Eq(value),
    };
    Condition { key, predicate }
}

fn some_or_none<T: Copy>(random: &mut Random, all: &[T]) -> Vec<T> {
    match random.below(2) {
        0 => Vec::new(),
        _ => some_of(random, all),
    }
}
