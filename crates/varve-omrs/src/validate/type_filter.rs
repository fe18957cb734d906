//! The types to which a search is limited.

use crate::error::{Message, OmrsError};
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};

/// The type with this GUID; `None` (all types) if the GUID is missing.
///
/// # Errors
/// `TypeErrorException` when there is no such type of this category.
pub fn optional_type(
    types: &Catalogue,
    category: TypeDefCategory,
    guid: Option<&str>,
    parameter: &str,
) -> Result<Option<TypeIndex>, OmrsError> {
    guid.filter(|guid| !guid.is_empty())
        .map(|guid| types.instance_type_by_guid(category, guid, parameter))
        .transpose()
}

/// All types whose instances a search may return, each once, supertypes before their subtypes: the
/// type with its subtypes, or only the listed types with theirs. `None` = all types.
///
/// # Errors
/// `TypeErrorException` when a GUID does not belong to a type of this category, or a listed type is
/// not a subtype.
pub fn type_filter(
    types: &Catalogue,
    category: TypeDefCategory,
    guid: Option<&str>,
    subtype_guids: &[String],
) -> Result<Option<Vec<TypeIndex>>, OmrsError> {
    let supertype = optional_type(types, category, guid, "typeGUID")?;
    if subtype_guids.is_empty() {
        return Ok(supertype.map(|index| types.with_subtypes(index)));
    }
    let mut found = Vec::new();
    for guid in subtype_guids {
        let index = types.instance_type_by_guid(category, guid, "subtypeGUIDs")?;
        if let Some(supertype) = supertype
            && !types.is_a(index, supertype)
        {
            let words = [types.get(index).name(), types.get(supertype).name()];
            return Err(OmrsError::new(Message::NotASubtype, &words));
        }
        for subtype in types.with_subtypes(index) {
            if !found.contains(&subtype) {
                found.push(subtype);
            }
        }
    }
    Ok(Some(found))
}
