//! Estimates the memory of instances.

use crate::instances::{
    Classification, EntityProxy, InstanceHeader, InstanceProperties, InstancePropertyValue,
    Primitive, PropertyValueHeader,
};
use crate::json::Shared;
use crate::store::{Candidate, RenderedEntity, RenderedRelationship, StoredRelationship};

/// The memory of an instance beside its texts, in bytes: its fields, and its rendered type.
const INSTANCE_BYTES: usize = 1024;
/// The memory of a candidate row beside its content, in bytes: its id and its sort key.
const ROW_BYTES: usize = 512;
/// The memory of a classification beside its texts, in bytes.
const CLASSIFICATION_BYTES: usize = 512;
/// The memory of a value beside its text, in bytes.
const VALUE_BYTES: usize = 192;
/// The memory of an entry of a set beside its text, in bytes.
const ENTRY_BYTES: usize = 48;

/// The memory of a GUID in a set, in bytes.
pub(crate) fn guid_bytes(guid: &str) -> usize {
    ENTRY_BYTES + guid.len()
}

/// The memory of a candidate, in bytes.
pub(crate) fn kept_bytes(kept: &Candidate) -> usize {
    ROW_BYTES + kept.content.len()
}

/// The memory of an entity with these parts, in bytes.
pub(crate) fn entity_bytes(
    header: &InstanceHeader,
    classifications: &Shared<Vec<Classification>>,
    properties: Option<&InstanceProperties>,
) -> usize {
    let stored = classifications.bytes_made_later().unwrap_or_default();
    let made = classifications.made();
    let classified = stored + made.map_or(0, |made| classifications_bytes(made));
    header_bytes(header) + classified + properties_bytes(properties)
}

/// The memory of a rendered entity and its proxy, in bytes.
pub(crate) fn rendered_entity_bytes(entity: &RenderedEntity) -> usize {
    if let Some(bytes) = entity.held_bytes() {
        return bytes;
    }
    let proxy = entity.proxy();
    let Some(detail) = entity.detail() else {
        return rendered_proxy_bytes(proxy);
    };
    let own = entity_bytes(
        &detail.header,
        &detail.classifications,
        detail.properties.as_ref(),
    );
    // Both have the same classifications.
    own + header_bytes(&proxy.header) + properties_bytes(proxy.unique_properties.as_ref())
}

/// The memory of a rendered proxy, in bytes.
pub(crate) fn rendered_proxy_bytes(proxy: &Shared<EntityProxy>) -> usize {
    match proxy.bytes_made_later() {
        Some(json) => Shared::<EntityProxy>::PARTS_BYTES + json,
        None => entity_bytes(
            &proxy.header,
            &proxy.classifications,
            proxy.unique_properties.as_ref(),
        ),
    }
}

/// The memory of a rendered relationship without its ends, in bytes.
pub(crate) fn rendered_relationship_bytes(relationship: &RenderedRelationship) -> usize {
    match relationship.held() {
        Ok(json) => INSTANCE_BYTES + json,
        Err(relationship) => relationship_bytes(relationship),
    }
}

fn classifications_bytes(classifications: &[Classification]) -> usize {
    let classifications = classifications.iter().map(|classification| {
        let properties = properties_bytes(classification.properties.as_ref());
        CLASSIFICATION_BYTES + classification.name().len() + properties
    });
    classifications.sum()
}

/// The memory of a relationship, in bytes.
pub(crate) fn relationship_bytes(relationship: &StoredRelationship) -> usize {
    header_bytes(&relationship.header) + properties_bytes(relationship.properties.as_ref())
}

fn header_bytes(header: &InstanceHeader) -> usize {
    let maintainers = header.audit.maintained_by.iter();
    let maintainers: usize = maintainers.map(|name| guid_bytes(name)).sum();
    let mapping = header.audit.mapping_properties.iter();
    let mapping: usize = mapping
        .map(|(name, json)| VALUE_BYTES + name.len() + json.text().len())
        .sum();
    INSTANCE_BYTES + maintainers + mapping
}

fn properties_bytes(properties: Option<&InstanceProperties>) -> usize {
    let values = properties.into_iter().flat_map(|of| &of.values);
    values
        .map(|(name, value)| VALUE_BYTES + name.len() + value_bytes(value))
        .sum()
}

fn value_bytes(value: &InstancePropertyValue) -> usize {
    type_bytes(value.header())
        + match value {
            InstancePropertyValue::Primitive(value) => {
                value.value.as_ref().map_or(0, primitive_bytes)
            }
            InstancePropertyValue::Enum(value) => {
                text_bytes(value.symbolic_name.as_deref())
                    + text_bytes(value.description.as_deref())
            }
            InstancePropertyValue::Struct(value) => properties_bytes(value.attributes.as_ref()),
            InstancePropertyValue::Map(value) => properties_bytes(value.values.as_ref()),
            InstancePropertyValue::Array(value) => properties_bytes(value.values.as_ref()),
        }
}

fn primitive_bytes(value: &Primitive) -> usize {
    match value {
        Primitive::String(text) => text.len(),
        Primitive::BigInteger(number) => number.text().len(),
        Primitive::BigDecimal(number) => number.text().len(),
        Primitive::Object(json) => json.text().len(),
        _ => 0,
    }
}

fn type_bytes(header: &PropertyValueHeader) -> usize {
    text_bytes(header.type_guid.as_deref()) + text_bytes(header.type_name.as_deref())
}

fn text_bytes(text: Option<&str>) -> usize {
    text.map_or(0, str::len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::MakeLater;

    #[test]
    fn classifications_weigh_more_once_they_were_looked_at() {
        struct Three;
        impl MakeLater<Vec<Classification>> for Three {
            fn whole(&self) -> Vec<Classification> {
                vec![Classification::default(); 3]
            }

            fn named(&self, _: &str) -> Vec<Classification> {
                self.whole()
            }
        }
        let classifications = Shared::made_later("[]".into(), 100, Three);
        let header = InstanceHeader::default();
        let bytes = || entity_bytes(&header, &classifications, None);
        assert_eq!(bytes(), INSTANCE_BYTES + 100);
        assert_eq!(classifications.len(), 3);
        assert_eq!(bytes(), INSTANCE_BYTES + 100 + 3 * CLASSIFICATION_BYTES);
        let whole = entity_bytes(&header, &Three.whole().into(), None);
        assert_eq!(whole, INSTANCE_BYTES + 3 * CLASSIFICATION_BYTES);
    }
}
