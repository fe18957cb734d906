//! Creates the schema of a generated case through the catalogue.

use varve_graph::schema::{
    BaseType, Catalogue, NewEdgeLabel, NewIndexLabel, NewPropertyKey, NewVertexLabel,
    retention_text,
};
use varve_model::schema::{EdgeLabelType, IndexBase};
use varve_model::{IndexLabel, PropertyKeyId};
use varve_testkit::generate::SchemaPlan;

/// Creates every element of `plan`, in its order, so that they get the ids that the plan says.
pub(crate) fn create(catalogue: &Catalogue, plan: &SchemaPlan) {
    for key in &plan.property_keys {
        let new = NewPropertyKey {
            data_type: key.data_type,
            cardinality: key.cardinality,
            ..NewPropertyKey::named(&key.name)
        };
        let made = catalogue.create_property_key(new).expect("a property key");
        assert_eq!(made.element.id, key.id);
    }
    let names = |keys: &[PropertyKeyId]| -> Vec<String> {
        keys.iter().map(|key| key_name(plan, *key)).collect()
    };
    for label in &plan.model.vertex_labels {
        let new = NewVertexLabel {
            id_strategy: Some(label.id_strategy),
            properties: names(&label.properties),
            primary_keys: names(&label.primary_keys),
            nullable_keys: names(&label.nullable_keys),
            ttl: label.ttl,
            ttl_start_time: label.ttl_start_time.map(|key| key_name(plan, key)),
            history: Some(retention_text(label.retention)),
            ..NewVertexLabel::named(&label.name)
        };
        assert_eq!(
            catalogue
                .create_vertex_label(new)
                .expect("a vertex label")
                .id,
            label.id
        );
    }
    let vertex_name = |id| {
        plan.model
            .vertex_labels
            .iter()
            .find(|label| label.id == id)
            .expect("a vertex label")
            .name
            .clone()
    };
    for label in &plan.model.edge_labels {
        let new = NewEdgeLabel {
            label_type: label.label_type,
            parent: (label.label_type == EdgeLabelType::Sub).then(|| "related".to_owned()),
            source: label.link.map(|(source, _)| vertex_name(source)),
            target: label.link.map(|(_, target)| vertex_name(target)),
            frequency: Some(label.frequency),
            sort_keys: names(&label.sort_keys),
            properties: names(&label.properties),
            nullable_keys: names(&label.nullable_keys),
            ttl: label.ttl,
            history: Some(retention_text(label.retention)),
            ..NewEdgeLabel::named(&label.name)
        };
        assert_eq!(
            catalogue.create_edge_label(new).expect("an edge label").id,
            label.id
        );
    }
    for label in &plan.model.index_labels {
        let made = catalogue
            .create_index_label(new_index(plan, label))
            .expect("an index label");
        assert_eq!(made.element.id, label.id);
    }
}

/// The request for an index label of the plan; nothing is there to be indexed yet.
pub(crate) fn new_index(plan: &SchemaPlan, label: &IndexLabel) -> NewIndexLabel {
    let (base_type, base) = match label.base {
        IndexBase::Vertex(id) => (
            BaseType::VertexLabel,
            plan.model
                .vertex_labels
                .iter()
                .find(|label| label.id == id)
                .map(|label| &label.name),
        ),
        IndexBase::Edge(id) => (
            BaseType::EdgeLabel,
            plan.model
                .edge_labels
                .iter()
                .find(|label| label.id == id)
                .map(|label| &label.name),
        ),
        IndexBase::Olap => unreachable!("no plan has one"),
    };
    let fields: Vec<String> = label
        .fields
        .iter()
        .map(|key| key_name(plan, *key))
        .collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let base = base.expect("a label of the plan");
    NewIndexLabel {
        rebuild: false,
        ..NewIndexLabel::on(&label.name, base_type, base, label.index_type, &fields)
    }
}

fn key_name(plan: &SchemaPlan, id: PropertyKeyId) -> String {
    let key = plan.property_keys.iter().find(|key| key.id == id);
    key.expect("a key of the plan").name.clone()
}
