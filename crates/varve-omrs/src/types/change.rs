//! Adds, verifies, removes and renames types.

use std::sync::Arc;

use super::catalogue::Definitions;
use super::prose::Prose;
use super::{
    AttributeType, AttributeTypeDef, Catalogue, TypeDef, TypeDefGallery, TypeDefLink, check,
};
use crate::error::{Message, OmrsError};

/// The effect of adding a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The type was added.
    Added,
    /// The type was known without some of its descriptions, which were added.
    Completed,
    /// The type was known.
    Unchanged,
}

impl Catalogue {
    /// Adds many definitions, all or none. They may refer to each other in any order.
    ///
    /// # Errors
    /// As [`Self::add_type`] and [`Self::add_attribute_type`].
    pub fn add_gallery(&mut self, gallery: TypeDefGallery) -> Result<(), OmrsError> {
        let mut next = self.clone();
        for def in gallery.attribute_types {
            next.put_attribute_type(def)?;
        }
        let mut put = Vec::with_capacity(gallery.types.len());
        for def in gallery.types {
            let def = Arc::new(next.with_attribute_types(def)?);
            next.put_type(&def)?;
            put.push(def);
        }
        for def in put {
            next.check_links(&def)?;
        }
        next.resolve();
        *self = next;
        Ok(())
    }

    /// Adds a type. It is no error if the type is known and the definitions are equal apart from
    /// descriptions.
    ///
    /// # Errors
    /// `TypeDefKnownException` when this version of the type is known with another content.
    /// `TypeDefConflictException` when another version is known, or when the GUID or name belongs
    /// to another type. `InvalidTypeDefException` when the definition is malformed or refers to
    /// unknown types.
    pub fn add_type(&mut self, def: TypeDef) -> Result<Outcome, OmrsError> {
        let mut next = self.clone();
        let def = Arc::new(next.with_attribute_types(def)?);
        let outcome = next.put_type(&def)?;
        if outcome != Outcome::Unchanged {
            next.check_links(&def)?;
            next.resolve();
            *self = next;
        }
        Ok(outcome)
    }

    /// Adds an attribute type, as [`Self::add_type`] does a type.
    ///
    /// # Errors
    /// As [`Self::add_type`].
    pub fn add_attribute_type(&mut self, def: AttributeTypeDef) -> Result<Outcome, OmrsError> {
        self.put_attribute_type(def)
    }

    fn put_type(&mut self, def: &Arc<TypeDef>) -> Result<Outcome, OmrsError> {
        check::type_shape(def)?;
        let Some(index) = identified(&self.types, def.guid(), def.name())? else {
            self.types.push(Arc::clone(def));
            return Ok(Outcome::Added);
        };
        let known = &self.types.list()[index];
        same_version(def.name(), def.guid(), version(known), version(def))?;
        if !known.equals_but_for_prose(def) {
            let names = [def.name(), def.guid()];
            return Err(OmrsError::new(Message::TypeAlreadyDefined, &names));
        }
        if **known == **def || known.prose() > def.prose() {
            return Ok(Outcome::Unchanged);
        }
        self.types.replace(index, Arc::clone(def));
        Ok(Outcome::Completed)
    }

    fn put_attribute_type(&mut self, def: AttributeTypeDef) -> Result<Outcome, OmrsError> {
        check::attribute_type(&def)?;
        let Some(index) = identified(&self.attribute_types, def.guid(), def.name())? else {
            self.attribute_types.push(Arc::new(def));
            return Ok(Outcome::Added);
        };
        let known = &self.attribute_types.list()[index];
        let versions = [known, &def].map(|def| def.header.version_name.as_deref());
        same_version(def.name(), def.guid(), versions[0], versions[1])?;
        if !known.equals_but_for_prose(&def) {
            let names = [def.name(), def.guid()];
            return Err(OmrsError::new(Message::AttributeTypeAlreadyDefined, &names));
        }
        if **known == def || known.prose() > def.prose() {
            return Ok(Outcome::Unchanged);
        }
        self.attribute_types.replace(index, Arc::new(def));
        Ok(Outcome::Completed)
    }

    /// Whether the type is known with the same GUID, name and version. False = it is not known, and
    /// could be added.
    ///
    /// # Errors
    /// `TypeDefConflictException` when its GUID or name is known with another name, GUID, version
    /// or category, `InvalidTypeDefException` when the definition is malformed.
    pub fn verify_type(&self, def: &TypeDef) -> Result<bool, OmrsError> {
        check::type_shape(def)?;
        let Some(index) = identified(&self.types, def.guid(), def.name())? else {
            return Ok(false);
        };
        let known = &self.types.list()[index];
        same_version(def.name(), def.guid(), version(known), version(def))?;
        if known.category() != def.category() {
            let fault = format!("it is of category {}", known.category().name());
            return Err(conflict(def.name(), def.guid(), &fault));
        }
        Ok(true)
    }

    /// Whether the attribute type is known; as [`Self::verify_type`].
    ///
    /// # Errors
    /// As [`Self::verify_type`].
    pub fn verify_attribute_type(&self, def: &AttributeTypeDef) -> Result<bool, OmrsError> {
        check::attribute_type(def)?;
        let Some(index) = identified(&self.attribute_types, def.guid(), def.name())? else {
            return Ok(false);
        };
        let known = &self.attribute_types.list()[index];
        let versions = [known, def].map(|def| def.header.version_name.as_deref());
        same_version(def.name(), def.guid(), versions[0], versions[1])?;
        if known.category() != def.category() {
            let fault = format!("it is of category {}", known.category().name());
            return Err(conflict(def.name(), def.guid(), &fault));
        }
        Ok(true)
    }

    /// Removes a type to which no other type refers. The caller must check that it has no
    /// instances.
    ///
    /// # Errors
    /// `TypeDefNotKnownException`, `TypeDefInUseException`.
    pub fn remove_type(&mut self, guid: &str, name: &str) -> Result<(), OmrsError> {
        let index = self.known_type(guid, name)?;
        let user = self.types.list().iter().find(|def| {
            def.guid() != guid && def.links().iter().any(|link| links_to(link, guid, name))
        });
        if let Some(user) = user {
            let names = [name, guid, user.name()];
            return Err(OmrsError::new(Message::TypeInUse, &names));
        }
        self.types.remove(index);
        self.resolve();
        Ok(())
    }

    /// Removes an attribute type that no type uses.
    ///
    /// # Errors
    /// `TypeDefNotKnownException`, `TypeDefInUseException`.
    pub fn remove_attribute_type(&mut self, guid: &str, name: &str) -> Result<(), OmrsError> {
        let index = self.known_attribute_type(guid, name)?;
        let uses = |def: &TypeDef| {
            let mut attributes = def.body.attributes.iter();
            attributes.any(|attribute| attribute.type_def().is_some_and(|of| of.guid() == guid))
        };
        if let Some(user) = self.types.list().iter().find(|def| uses(def)) {
            let names = [name, guid, user.name()];
            return Err(OmrsError::new(Message::AttributeTypeInUse, &names));
        }
        self.attribute_types.remove(index);
        Ok(())
    }

    /// Changes the GUID and name of a type, also in every definition that refers to it.
    ///
    /// # Errors
    /// `TypeDefNotKnownException`; `InvalidParameterException` when the new GUID or name is empty
    /// or belongs to another type, or the store does not take the name.
    pub fn re_identify_type(
        &mut self,
        guid: &str,
        name: &str,
        new_guid: &str,
        new_name: &str,
    ) -> Result<Arc<TypeDef>, OmrsError> {
        let index = self.known_type(guid, name)?;
        check_free(&self.types, index, new_guid, new_name)?;
        let category = self.types.list()[index].category();
        check::type_name(category, new_name).map_err(|fault| {
            let parameter = "newTypeDefName";
            let words = format!("{parameter}: {fault}");
            OmrsError::of_parameter(Message::BadRequest, parameter, &[&words])
        })?;
        let rename = |link: &mut TypeDefLink| {
            link.guid = Some(new_guid.to_owned());
            link.name = Some(new_name.to_owned());
        };
        self.types.map(|old| {
            let mut def = TypeDef::clone(old);
            if def.guid() == guid {
                rename(&mut def.body.summary.link);
            }
            let links = def.links_mut().into_iter();
            links
                .filter(|link| links_to(link, guid, name))
                .for_each(rename);
            if def == **old {
                Arc::clone(old)
            } else {
                Arc::new(def)
            }
        });
        self.resolve();
        Ok(Arc::clone(&self.types.list()[index]))
    }

    /// Changes the GUID and name of an attribute type, also in every type with such attributes.
    ///
    /// # Errors
    /// As [`Self::re_identify_type`].
    pub fn re_identify_attribute_type(
        &mut self,
        guid: &str,
        name: &str,
        new_guid: &str,
        new_name: &str,
    ) -> Result<Arc<AttributeTypeDef>, OmrsError> {
        let index = self.known_attribute_type(guid, name)?;
        check_free(&self.attribute_types, index, new_guid, new_name)?;
        let renamed = |def: &AttributeTypeDef| {
            let mut def = def.clone();
            def.header.guid = Some(new_guid.to_owned());
            def.header.name = Some(new_name.to_owned());
            Arc::new(def)
        };
        let def = renamed(&self.attribute_types.list()[index]);
        self.attribute_types.replace(index, Arc::clone(&def));
        self.types.map(|old| {
            let mut of_it = TypeDef::clone(old);
            for attribute in &mut of_it.body.attributes {
                if let Some(AttributeType::Whole(whole)) = &mut attribute.attribute_type
                    && whole.guid() == guid
                {
                    *whole = renamed(whole);
                }
            }
            if of_it == **old {
                Arc::clone(old)
            } else {
                Arc::new(of_it)
            }
        });
        self.resolve();
        Ok(def)
    }

    pub(super) fn known_type(&self, guid: &str, name: &str) -> Result<usize, OmrsError> {
        let found = self.types.identified(guid, name).ok().flatten();
        found.ok_or_else(|| OmrsError::new(Message::UnknownTypeDef, &[name, guid]))
    }

    fn known_attribute_type(&self, guid: &str, name: &str) -> Result<usize, OmrsError> {
        let found = self.attribute_types.identified(guid, name).ok().flatten();
        found.ok_or_else(|| OmrsError::new(Message::UnknownAttributeTypeDef, &[name, guid]))
    }
}

fn version(def: &TypeDef) -> Option<&str> {
    def.body.summary.version_name.as_deref()
}

fn links_to(link: &TypeDefLink, guid: &str, name: &str) -> bool {
    match link.guid() {
        "" => link.name() == name,
        found => found == guid,
    }
}

fn conflict(name: &str, guid: &str, fault: &str) -> OmrsError {
    OmrsError::new(Message::TypeConflict, &[name, guid, fault])
}

fn identified<T: super::catalogue::Identified>(
    definitions: &Definitions<T>,
    guid: &str,
    name: &str,
) -> Result<Option<usize>, OmrsError> {
    let found = definitions.identified(guid, name);
    found.map_err(|fault| conflict(name, guid, &fault))
}

fn same_version(
    name: &str,
    guid: &str,
    known: Option<&str>,
    given: Option<&str>,
) -> Result<(), OmrsError> {
    if known == given {
        return Ok(());
    }
    let fault = format!("its version is {}", known.unwrap_or("not named"));
    Err(conflict(name, guid, &fault))
}

fn check_free<T: super::catalogue::Identified>(
    definitions: &Definitions<T>,
    own: usize,
    guid: &str,
    name: &str,
) -> Result<(), OmrsError> {
    let taken = |kind: &str, parameter: &str, value: &str| {
        OmrsError::of_parameter(Message::IdentifierTaken, parameter, &[kind, value])
    };
    if guid.is_empty() {
        let parameter = "newTypeDefGUID";
        return Err(OmrsError::of_parameter(
            Message::NoTypeGuid,
            parameter,
            &[parameter],
        ));
    }
    if name.is_empty() {
        let parameter = "newTypeDefName";
        return Err(OmrsError::of_parameter(
            Message::NoTypeName,
            parameter,
            &[parameter],
        ));
    }
    if definitions.by_guid(guid).is_some_and(|other| other != own) {
        return Err(taken("GUID", "newTypeDefGUID", guid));
    }
    if definitions.by_name(name).is_some_and(|other| other != own) {
        return Err(taken("name", "newTypeDefName", name));
    }
    Ok(())
}
