//! Validates properties against the attributes of a type.

use std::sync::Arc;

use crate::error::{Message, OmrsError};
use crate::instances::{
    ArrayPropertyValue, EnumPropertyValue, InstanceProperties, InstancePropertyValue,
};
use crate::types::{
    AttributeTypeDef, AttributeTypeKind, Catalogue, CollectionDef, CollectionDefCategory, EnumDef,
    PrimitiveDefCategory, ResolvedType, TypeIndex,
};

/// Checks that the type has these properties and that each value has the right kind. Adds what
/// clients leave out: the GUID and name of the attribute type, the number or name of an enum value,
/// the count of an array.
///
/// A missing property is no error, whatever its cardinality: the contract's callers send the
/// properties that they have. An enum value must be an element of the enum.
///
/// # Errors
/// `PropertyErrorException`.
pub fn completed_properties(
    types: &Catalogue,
    index: TypeIndex,
    mut properties: InstanceProperties,
) -> Result<InstanceProperties, OmrsError> {
    let of = types.get(index);
    for (name, value) in &mut properties.values {
        if name.is_empty() {
            return Err(OmrsError::new(Message::NullPropertyName, &[of.name()]));
        }
        let Some(property) = of.property(name) else {
            let message = if of.properties().is_empty() {
                Message::NoPropertiesInType
            } else {
                Message::UnknownProperty
            };
            return Err(OmrsError::new(message, &[of.name(), name]));
        };
        let def = property.attribute.type_def();
        let def = def.expect("a catalogue holds the whole definition of every attribute type");
        Checked { of, name, def }.complete(value)?;
    }
    Ok(properties)
}

/// The unique properties, which a proxy of the entity has.
#[must_use]
pub fn unique_properties(
    types: &Catalogue,
    index: TypeIndex,
    properties: &InstanceProperties,
) -> InstanceProperties {
    let of = types.get(index);
    let is_unique = |name: &str| {
        of.property(name)
            .is_some_and(|property| property.attribute.unique)
    };
    let values = properties.values.iter();
    InstanceProperties {
        values: values
            .filter(|(name, _)| is_unique(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
        ..InstanceProperties::default()
    }
}

/// A property that is being checked.
struct Checked<'a> {
    of: &'a ResolvedType,
    name: &'a str,
    def: &'a Arc<AttributeTypeDef>,
}

impl Checked<'_> {
    fn complete(&self, value: &mut InstancePropertyValue) -> Result<(), OmrsError> {
        match (&self.def.kind, &mut *value) {
            (AttributeTypeKind::Primitive(kind), InstancePropertyValue::Primitive(found))
                if fits(kind.category, found.category) => {}
            (AttributeTypeKind::Enum(kind), InstancePropertyValue::Enum(found)) => {
                self.complete_enum(kind, found)?;
            }
            (AttributeTypeKind::Collection(kind), found) => self.check_collection(kind, found)?,
            _ => return Err(self.wrong_kind(value)),
        }
        let header = value.header_mut();
        header.type_guid = Some(self.def.guid().to_owned());
        header.type_name = Some(self.def.name().to_owned());
        Ok(())
    }

    fn complete_enum(
        &self,
        kind: &EnumDef,
        found: &mut EnumPropertyValue,
    ) -> Result<(), OmrsError> {
        let element = match found.symbolic_name.as_deref() {
            Some(name) => kind.by_name(name),
            None => kind.by_ordinal(found.ordinal),
        };
        let Some(element) = element else {
            let name = found.symbolic_name.as_deref().unwrap_or("without a name");
            let fault = format!(
                "the enum {} has no value {name} ({})",
                self.def.name(),
                found.ordinal
            );
            return Err(self.bad_value(&fault));
        };
        found.ordinal = element.ordinal;
        found.symbolic_name.clone_from(&element.value);
        Ok(())
    }

    fn check_collection(
        &self,
        kind: &CollectionDef,
        value: &mut InstancePropertyValue,
    ) -> Result<(), OmrsError> {
        let last = kind.argument_types.last().copied();
        let elements = match (kind.category, &mut *value) {
            (Some(CollectionDefCategory::Map), InstancePropertyValue::Map(map)) => &map.values,
            (Some(CollectionDefCategory::Array), InstancePropertyValue::Array(array)) => {
                self.complete_array(array)?;
                &array.values
            }
            (Some(CollectionDefCategory::Struct), InstancePropertyValue::Struct(_)) => {
                return Ok(());
            }
            _ => return Err(self.wrong_kind(value)),
        };
        for (key, element) in elements.iter().flat_map(|elements| &elements.values) {
            let is_fine = last == Some(PrimitiveDefCategory::Unknown)
                || matches!(element, InstancePropertyValue::Primitive(found)
                    if fits(last, found.category));
            if !is_fine {
                let fault = format!("the element {key} is not of {}", self.def.name());
                return Err(self.bad_value(&fault));
            }
        }
        Ok(())
    }

    fn complete_array(&self, array: &mut ArrayPropertyValue) -> Result<(), OmrsError> {
        let found = array
            .values
            .as_ref()
            .map_or(0, |values| values.values.len());
        if array.elements().count() != found {
            return Err(self.bad_value("its elements are not numbered from 0 on without a gap"));
        }
        let found = i32::try_from(found).expect("reading bounds the number of values");
        if array.count == 0 {
            array.count = found;
        }
        if array.count != found {
            let fault = format!("arrayCount is {}, there are {found} elements", array.count);
            return Err(self.bad_value(&fault));
        }
        Ok(())
    }

    fn wrong_kind(&self, value: &InstancePropertyValue) -> OmrsError {
        let given = match value {
            InstancePropertyValue::Primitive(value) => value.category.name(),
            other => other.class().1,
        };
        let words = [self.name, self.of.name(), self.def.name(), given];
        OmrsError::new(Message::WrongPropertyKind, &words)
    }

    fn bad_value(&self, fault: &str) -> OmrsError {
        OmrsError::new(
            Message::BadPropertyValue,
            &[self.name, self.of.name(), fault],
        )
    }
}

/// A value of any kind fits the type `object`.
fn fits(wanted: Option<PrimitiveDefCategory>, found: PrimitiveDefCategory) -> bool {
    wanted.is_none_or(|wanted| wanted == PrimitiveDefCategory::Unknown || wanted == found)
}
