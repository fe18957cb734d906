//! What walks ask of an instance, read from it as it is kept.

use varve_omrs::instances::*;

use crate::world::StoredInstance;

pub(super) fn carried_by(instance: &StoredInstance) -> &[Classification] {
    match instance {
        StoredInstance::Entity(entity) => entity.classifications(),
        StoredInstance::Relationship(_) => &[],
    }
}

pub(super) fn header_of(instance: &StoredInstance) -> &InstanceHeader {
    match instance {
        StoredInstance::Entity(entity) => entity.header(),
        StoredInstance::Relationship(relationship) => &relationship.header,
    }
}

pub(super) fn properties_of(instance: &StoredInstance) -> Option<&InstanceProperties> {
    match instance {
        StoredInstance::Entity(entity) => entity.properties(),
        StoredInstance::Relationship(relationship) => relationship.properties.as_ref(),
    }
}

pub(super) fn value_of(instance: &StoredInstance, name: &str) -> Option<Primitive> {
    match properties_of(instance)?.get(name)? {
        InstancePropertyValue::Primitive(value) => value.value.clone(),
        InstancePropertyValue::Enum(value) => value.symbolic_name.clone().map(Primitive::String),
        _ => None,
    }
}

pub(super) fn texts(properties: Option<&InstanceProperties>) -> Vec<String> {
    let mut all = Vec::new();
    for value in properties
        .iter()
        .flat_map(|properties| properties.values.values())
    {
        match value {
            InstancePropertyValue::Primitive(value) => {
                if let Some(Primitive::String(text)) = &value.value {
                    all.push(text.clone());
                }
            }
            InstancePropertyValue::Enum(value) => all.extend(value.symbolic_name.clone()),
            InstancePropertyValue::Map(value) => all.extend(texts(value.values.as_ref())),
            _ => {}
        }
    }
    all
}
