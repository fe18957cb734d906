//! Changes of the model as a client's requests: updates go through the rules for elements, as the
//! server's do.

use std::borrow::Cow;
use std::sync::Arc;

use varve_graph::element::{
    EdgeInput, RawProperty, RawValue, Rules, Strategies, UpdateAction, UpdateStrategy, VertexInput,
    change,
};
use varve_graph::schema::GraphMode;
use varve_graph::write::{EndCheck, Missing, Mutation};
use varve_graph::{Graph, GraphError};
use varve_model::schema::IdStrategy;
use varve_model::value::Uuid;
use varve_model::{Element, ElementId, Properties, PropertyKeyId, Value, VertexId, VertexLabelId};
use varve_testkit::generate::{SchemaPlan, labels};
use varve_testkit::model::{Change, Strategy};

/// A change as the graph takes it; `fresh` names ids that no vertex can have yet.
///
/// # Errors
/// What the rules refuse without looking at what is stored.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of mutation")]
pub(crate) fn mutation(
    graph: &Arc<Graph>,
    plan: &SchemaPlan,
    asked: &Change,
    fresh: &dyn Fn(&ElementId) -> bool,
) -> Result<Mutation, GraphError> {
    let schema = graph.schema();
    match asked {
        Change::Put {
            element: Element::Vertex(vertex),
            ..
        } => {
            let id = ElementId::Vertex(vertex.id.clone());
            let fresh = vertex.label == labels::AUTO && fresh(&id);
            Ok(Mutation::PutVertex {
                vertex: vertex.clone(),
                fresh,
            })
        }
        Change::Put {
            element: Element::Edge(edge),
            check_ends,
        } => {
            let ends = match check_ends {
                true => EndCheck::Exist { labels_given: true },
                false => EndCheck::Skip,
            };
            Ok(Mutation::PutEdge {
                edge: edge.clone(),
                ends,
            })
        }
        Change::Append { id, properties } => {
            let sent = Some(raw_properties(plan, properties));
            change(&schema, id.clone(), sent, UpdateAction::Append)
        }
        Change::Eliminate { id, keys } => {
            // The values that are sent do not matter.
            let raw =
                |key: &PropertyKeyId| (Cow::Owned(key_name(plan, *key)), RawValue::Integer(0));
            let sent = keys.iter().map(raw).collect();
            change(&schema, id.clone(), Some(sent), UpdateAction::Eliminate)
        }
        Change::Combine {
            element,
            strategies,
        } => {
            let rules = Rules {
                schema: &schema,
                mode: GraphMode::None,
                next_vertex_id: &|| graph.next_vertex_id(),
                next_edge_number: &|| graph.next_edge_number(),
            };
            let named: Vec<(String, UpdateStrategy)> = strategies
                .iter()
                .map(|(key, strategy)| (key_name(plan, *key), named(*strategy)))
                .collect();
            let named = named
                .iter()
                .map(|(name, strategy)| (name.as_str(), *strategy));
            let strategies = Arc::new(Strategies::resolve(&schema, named)?);
            let mutations = match element {
                Element::Vertex(_) => {
                    rules.vertex_updates(&schema, vec![vertex_input(plan, element)], &strategies)
                }
                Element::Edge(_) => {
                    rules.edge_updates(&schema, vec![edge_input(plan, element)], &strategies, false)
                }
            };
            Ok(mutations?.remove(0))
        }
        Change::Delete { id, refuse_missing } => {
            let missing = if *refuse_missing {
                Missing::Refuse
            } else {
                Missing::Ignore
            };
            Ok(Mutation::Delete {
                id: id.clone(),
                missing,
            })
        }
    }
}

fn vertex_input<'a>(plan: &SchemaPlan, element: &'a Element) -> VertexInput<'a> {
    let Element::Vertex(vertex) = element else {
        unreachable!("a vertex")
    };
    let mut all = plan.model.vertex_labels.iter();
    let label = all
        .find(|label| label.id == vertex.label)
        .expect("a label of the plan");
    VertexInput {
        label: Some(Cow::Owned(label.name.clone())),
        id: (label.id_strategy != IdStrategy::PrimaryKey).then(|| raw_id(&vertex.id)),
        properties: Some(raw_properties(plan, &vertex.properties)),
    }
}

fn edge_input<'a>(plan: &SchemaPlan, element: &'a Element) -> EdgeInput<'a> {
    let Element::Edge(edge) = element else {
        unreachable!("an edge")
    };
    let mut all = plan.model.edge_labels.iter();
    let label = all
        .find(|label| label.id == edge.id.label)
        .expect("a label of the plan");
    let name = |id: VertexLabelId| {
        let mut all = plan.model.vertex_labels.iter();
        Some(Cow::Owned(
            all.find(|label| label.id == id)
                .expect("a label of the plan")
                .name
                .clone(),
        ))
    };
    EdgeInput {
        id: None,
        label: Some(Cow::Owned(label.name.clone())),
        source: Some(raw_id(&edge.id.source)),
        source_label: name(edge.source_label),
        target: Some(raw_id(&edge.id.target)),
        target_label: name(edge.target_label),
        properties: Some(raw_properties(plan, &edge.properties)),
    }
}

fn raw_id(id: &VertexId) -> RawValue<'_> {
    match id {
        VertexId::Number(number) => RawValue::Integer(*number),
        VertexId::Text(text) => RawValue::Text(Cow::Borrowed(text)),
        VertexId::Uuid(uuid) => RawValue::Text(Cow::Owned(Uuid(*uuid).to_string())),
    }
}

fn raw_properties<'a>(plan: &SchemaPlan, properties: &'a Properties) -> Vec<RawProperty<'a>> {
    let pairs = properties.iter();
    pairs
        .map(|(key, value)| (Cow::Owned(key_name(plan, key)), raw(value)))
        .collect()
}

fn raw(value: &Value) -> RawValue<'_> {
    match value {
        Value::Int(number) => RawValue::Integer(i64::from(*number)),
        Value::Long(number) | Value::Date(number) => RawValue::Integer(*number),
        Value::Double(number) => RawValue::Double(*number),
        Value::Text(text) => RawValue::Text(Cow::Borrowed(text)),
        Value::List(items) | Value::Set(items) => RawValue::List(items.iter().map(raw).collect()),
        other => unreachable!("no case holds {other:?}"),
    }
}

fn key_name(plan: &SchemaPlan, id: PropertyKeyId) -> String {
    let key = plan.property_keys.iter().find(|key| key.id == id);
    key.expect("a key of the plan").name.clone()
}

fn named(strategy: Strategy) -> UpdateStrategy {
    match strategy {
        Strategy::Sum => UpdateStrategy::Sum,
        Strategy::Bigger => UpdateStrategy::Bigger,
        Strategy::Smaller => UpdateStrategy::Smaller,
        Strategy::Union => UpdateStrategy::Union,
        Strategy::Intersection => UpdateStrategy::Intersection,
        Strategy::Append => UpdateStrategy::Append,
        Strategy::Eliminate => UpdateStrategy::Eliminate,
        Strategy::Override => UpdateStrategy::Override,
    }
}
