//! Calls about types. A change is stored first, and then takes effect for all calls at once.
//!
//! Answers list types by name. The contract prescribes no order. But Egeria's conformance suite
//! visits types in the order of the answer. In the order of Egeria's archive, the last types that
//! it visits would have no relationships.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{MutexGuard, RwLockWriteGuard};
use varve_kv::deadline;

use super::kept_types::KeptTypes;
use super::{Repository, not_supported};
use crate::error::{Message, OmrsError};
use crate::matching::{Effort, Pattern};
use crate::requests::TypeDefReIdentifyRequest;
use crate::types::{
    AttributeTypeDef, AttributeTypeDefCategory, Catalogue, ResolvedType, TypeDef, TypeDefCategory,
    TypeDefGallery, TypeDefPatch, TypeIndex,
};

/// The longest wait for another change of the types. Most changes are short, but one that builds
/// index entries for all instances is long, and waiting for it would occupy a thread of the pool.
const TURN_WAIT: Duration = Duration::from_secs(5);

impl Repository {
    /// All types.
    ///
    /// # Errors
    /// Those of the contract for `getAllTypes`.
    pub fn get_all_types(&self) -> Result<TypeDefGallery, OmrsError> {
        Ok(gallery_by_name(self.types().find_by_name(|_| true)))
    }

    /// The types whose name matches a pattern: `*` matches any text, `&` any character.
    ///
    /// # Errors
    /// Those of the contract for `findTypesByName`.
    pub fn find_types_by_name(&self, name: &str) -> Result<TypeDefGallery, OmrsError> {
        check_name(name, "name")?;
        let types = self.types();
        if !name.contains(['*', '&']) {
            return Ok(types.find_by_name(|known| known == name));
        }
        let effort = self.effort();
        let pattern = Pattern::of_request(&with_wildcards(name), "name", &effort)?;
        let found = types.find_by_name(|known| pattern.matches(known));
        effort.check()?;
        Ok(gallery_by_name(found))
    }

    /// The types of a category.
    ///
    /// # Errors
    /// Those of the contract for `findTypeDefsByCategory`.
    pub fn find_type_defs_by_category(
        &self,
        category: Option<TypeDefCategory>,
    ) -> Result<Vec<TypeDef>, OmrsError> {
        let category = category.ok_or_else(|| missing("category"))?;
        Ok(cloned(self.types().of_category(category)))
    }

    /// The attribute types of a category.
    ///
    /// # Errors
    /// Those of the contract for `findAttributeTypeDefsByCategory`.
    pub fn find_attribute_type_defs_by_category(
        &self,
        category: Option<AttributeTypeDefCategory>,
    ) -> Result<Vec<AttributeTypeDef>, OmrsError> {
        let category = category.ok_or_else(|| missing("category"))?;
        let types = self.types();
        let found = types.attribute_types_of_category(category);
        let found = found.map(|def| AttributeTypeDef::clone(def)).collect();
        Ok(by_name(found, AttributeTypeDef::name))
    }

    /// The types whose instances have all these properties.
    ///
    /// # Errors
    /// Those of the contract for `findTypeDefsByProperty`.
    pub fn find_type_defs_by_property(&self, names: &[String]) -> Result<Vec<TypeDef>, OmrsError> {
        if names.is_empty() {
            return Err(missing("matchCriteria"));
        }
        Ok(cloned(self.types().with_properties(names)))
    }

    /// The types that are mapped to another standard.
    ///
    /// # Errors
    /// Those of the contract for `findTypesByExternalID`.
    pub fn find_types_by_external_id(
        &self,
        standard: Option<&str>,
        organization: Option<&str>,
        identifier: Option<&str>,
    ) -> Result<Vec<TypeDef>, OmrsError> {
        let types = self.types();
        let found = types.of_standard(standard, organization, identifier)?;
        Ok(cloned(found))
    }

    /// The types whose name, GUID or description matches a regular expression.
    ///
    /// # Errors
    /// Those of the contract for `searchForTypeDefs`.
    pub fn search_for_type_defs(&self, search_criteria: &str) -> Result<Vec<TypeDef>, OmrsError> {
        let parameter = "searchCriteria";
        if search_criteria.is_empty() {
            let message = Message::NoSearchCriteria;
            return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
        }
        let effort = self.effort();
        let pattern = Pattern::of_request(search_criteria, parameter, &effort)?;
        let types = self.types();
        let mut found = Vec::new();
        for (_, of) in types.types() {
            let description = of.def().body.description.as_deref();
            let texts = [Some(of.name()), Some(of.guid()), description];
            let mut texts = texts.into_iter().flatten();
            let is_found = texts.any(|text| pattern.matches(text));
            effort.check()?;
            if is_found {
                found.push(TypeDef::clone(of.def()));
            }
        }
        Ok(by_name(found, TypeDef::name))
    }

    /// The type with this GUID.
    ///
    /// # Errors
    /// Those of the contract for `getTypeDefByGUID`.
    pub fn get_type_def_by_guid(&self, guid: &str) -> Result<TypeDef, OmrsError> {
        check_guid(guid, "guid")?;
        self.types()
            .type_by_guid(guid)
            .map(|def| TypeDef::clone(def))
    }

    /// The type with this name.
    ///
    /// # Errors
    /// Those of the contract for `getTypeDefByName`.
    pub fn get_type_def_by_name(&self, name: &str) -> Result<TypeDef, OmrsError> {
        check_name(name, "name")?;
        self.types()
            .type_by_name(name)
            .map(|def| TypeDef::clone(def))
    }

    /// The attribute type with this GUID.
    ///
    /// # Errors
    /// Those of the contract for `getAttributeTypeDefByGUID`.
    pub fn get_attribute_type_def_by_guid(
        &self,
        guid: &str,
    ) -> Result<AttributeTypeDef, OmrsError> {
        check_guid(guid, "guid")?;
        let types = self.types();
        let found = types.attribute_type_by_guid(guid);
        found
            .map(|def| AttributeTypeDef::clone(def))
            .ok_or_else(|| OmrsError::new(Message::UnknownAttributeTypeGuid, &[guid]))
    }

    /// The attribute type with this name.
    ///
    /// # Errors
    /// Those of the contract for `getAttributeTypeDefByName`.
    pub fn get_attribute_type_def_by_name(
        &self,
        name: &str,
    ) -> Result<AttributeTypeDef, OmrsError> {
        check_name(name, "name")?;
        let types = self.types();
        let found = types.attribute_type_by_name(name);
        found
            .map(|def| AttributeTypeDef::clone(def))
            .ok_or_else(|| OmrsError::new(Message::UnknownAttributeTypeName, &[name]))
    }

    /// Adds many types, either all or none.
    ///
    /// # Errors
    /// Those of the contract for `addTypeDefGallery`.
    pub fn add_type_def_gallery(&self, gallery: TypeDefGallery) -> Result<(), OmrsError> {
        self.change_types(|types| types.add_gallery(gallery))
    }

    /// Adds a type. Adding a known type has no effect, except that it may add missing descriptions.
    ///
    /// # Errors
    /// Those of the contract for `addTypeDef`.
    pub fn add_type_def(&self, def: TypeDef) -> Result<(), OmrsError> {
        self.change_types(|types| types.add_type(def).map(|_| ()))
    }

    /// Adds an attribute type, as [`Self::add_type_def`] does a type.
    ///
    /// # Errors
    /// Those of the contract for `addAttributeTypeDef`.
    pub fn add_attribute_type_def(&self, def: AttributeTypeDef) -> Result<(), OmrsError> {
        self.change_types(|types| types.add_attribute_type(def).map(|_| ()))
    }

    /// Whether the type is known; false = it could be added. Adds missing descriptions.
    ///
    /// # Errors
    /// Those of the contract for `verifyTypeDef`.
    pub fn verify_type_def(&self, def: TypeDef) -> Result<bool, OmrsError> {
        let types = self.types();
        if !types.verify_type(&def)? {
            return Ok(false);
        }
        if types
            .type_by_guid(def.guid())
            .is_ok_and(|known| **known != def)
        {
            // If `def` differs in more than descriptions, the known type is not changed, but it is
            // known all the same.
            self.change_types(|types| Ok(types.add_type(def).is_ok()))?;
        }
        Ok(true)
    }

    /// Whether the attribute type is known; as [`Self::verify_type_def`].
    ///
    /// # Errors
    /// Those of the contract for `verifyAttributeTypeDef`.
    pub fn verify_attribute_type_def(&self, def: AttributeTypeDef) -> Result<bool, OmrsError> {
        let types = self.types();
        if !types.verify_attribute_type(&def)? {
            return Ok(false);
        }
        let known = types.attribute_type_by_guid(def.guid());
        if known.is_some_and(|known| **known != def) {
            self.change_types(|types| Ok(types.add_attribute_type(def).is_ok()))?;
        }
        Ok(true)
    }

    /// Applies a patch. Returns the patched type.
    ///
    /// # Errors
    /// Those of the contract for `updateTypeDef`.
    pub fn update_type_def(&self, patch: TypeDefPatch) -> Result<TypeDef, OmrsError> {
        check_guid(
            patch.type_guid.as_deref().unwrap_or_default(),
            "typeDefPatch",
        )?;
        check_name(
            patch.type_name.as_deref().unwrap_or_default(),
            "typeDefPatch",
        )?;
        self.change_types(|types| types.patch_type(patch).map(|def| TypeDef::clone(&def)))
    }

    /// Removes a type. Refused if another type refers to it, or if any instance has or ever had it:
    /// without the type, history could not be read.
    ///
    /// # Errors
    /// Those of the contract for `deleteTypeDef`.
    pub fn delete_type_def(&self, guid: &str, name: &str) -> Result<(), OmrsError> {
        check_guid(guid, "obsoleteTypeDefGUID")?;
        check_name(name, "obsoleteTypeDefName")?;
        let is_unused = |types: &Catalogue| match self.was_ever(types, guid)? {
            true => Err(OmrsError::new(
                Message::TypeInUse,
                &[name, guid, "instances"],
            )),
            false => Ok(()),
        };
        self.change_types_if(is_unused, |types| types.remove_type(guid, name))
    }

    /// Removes an attribute type that no type uses.
    ///
    /// # Errors
    /// Those of the contract for `deleteAttributeTypeDef`.
    pub fn delete_attribute_type_def(&self, guid: &str, name: &str) -> Result<(), OmrsError> {
        check_guid(guid, "obsoleteTypeDefGUID")?;
        check_name(name, "obsoleteTypeDefName")?;
        self.change_types(|types| types.remove_attribute_type(guid, name))
    }

    /// Changes the GUID and name of a type. Not supported if any instance that is not purged has or
    /// had the type, since instances refer to their type by both.
    ///
    /// # Errors
    /// Those of the contract for `reIdentifyTypeDef`.
    pub fn re_identify_type_def(
        &self,
        guid: &str,
        request: &TypeDefReIdentifyRequest,
    ) -> Result<TypeDef, OmrsError> {
        check_guid(guid, "originalTypeDefGUID")?;
        let [name, new_guid, new_name] = parts(request)?;
        let is_unused = |types: &Catalogue| match self.was_ever(types, guid)? {
            true => Err(not_supported(
                "reIdentifyTypeDef of a type that instances have or had",
            )),
            false => Ok(()),
        };
        self.change_types_if(is_unused, |types| {
            let renamed = types.re_identify_type(guid, name, new_guid, new_name)?;
            Ok(TypeDef::clone(&renamed))
        })
    }

    /// Changes the GUID and name of an attribute type.
    ///
    /// # Errors
    /// Those of the contract for `reIdentifyAttributeTypeDef`.
    pub fn re_identify_attribute_type_def(
        &self,
        guid: &str,
        request: &TypeDefReIdentifyRequest,
    ) -> Result<AttributeTypeDef, OmrsError> {
        check_guid(guid, "originalAttributeTypeDefGUID")?;
        let [name, new_guid, new_name] = parts(request)?;
        self.change_types(|types| {
            let renamed = types.re_identify_attribute_type(guid, name, new_guid, new_name)?;
            Ok(AttributeTypeDef::clone(&renamed))
        })
    }

    /// A new budget for the regular expressions of a call: as much time as a search has.
    fn effort(&self) -> Arc<Effort> {
        Effort::new(self.searcher.limits().time_max)
    }

    /// Whether any instance has or ever had a type; false for an unknown type.
    fn was_ever(&self, types: &Catalogue, guid: &str) -> Result<bool, OmrsError> {
        let of = types.by_guid(guid);
        of.map_or(Ok(false), |of| self.store.has_ever(of))
    }

    /// Changes the types. The change takes effect once it is stored; if storing it fails, nothing
    /// changes.
    fn change_types<T>(
        &self,
        change: impl FnOnce(&mut Catalogue) -> Result<T, OmrsError>,
    ) -> Result<T, OmrsError> {
        self.change_types_if(|_| Ok(()), change)
    }

    /// Changes the types if `allows` accepts the present ones. `allows` is called again before the
    /// change takes effect, if instances could be written in the meantime.
    fn change_types_if<T>(
        &self,
        allows: impl Fn(&Catalogue) -> Result<(), OmrsError>,
        change: impl FnOnce(&mut Catalogue) -> Result<T, OmrsError>,
    ) -> Result<T, OmrsError> {
        let _one_at_a_time = self.turn_to_change()?;
        let kept = self.kept_types.write();
        let old = self.types();
        let mut new = Catalogue::clone(&old);
        let done = change(&mut new)?;
        allows(&old)?;
        let new = Arc::new(new);
        match self.store.begin_types(Arc::clone(&new)) {
            Ok(true) => {
                drop(kept);
                // This work may take longer than a request's deadline allows. With a deadline, each
                // attempt might fail, and all other changes wait for it.
                deadline::without_end(|| {
                    let completed = self.store.complete_types();
                    let kept = self.kept_types.write();
                    let allowed = completed.and_then(|()| allows(&old));
                    self.go_over(kept, allowed, &old, new)
                })
            }
            begun => self.go_over(kept, begun.map(|_| ()), &old, new),
        }?;
        Ok(done)
    }

    /// Switches to the new types if `prepared` is `Ok`, otherwise back to the old ones.
    fn go_over<'a>(
        &'a self,
        mut kept: RwLockWriteGuard<'a, KeptTypes>,
        prepared: Result<(), OmrsError>,
        old: &Arc<Catalogue>,
        new: Arc<Catalogue>,
    ) -> Result<(), OmrsError> {
        let changed = prepared
            .and_then(|()| self.store.set_types(Arc::clone(&new)))
            .and_then(|()| kept.keep(&self.store, old, &new));
        if let Err(error) = changed {
            if self.store.begin_types(Arc::clone(old))? {
                // Going back may take as long as the change did. So the lock is released meanwhile,
                // and writes of instances do not wait.
                drop(kept);
                deadline::without_end(|| self.store.complete_types())?;
                kept = self.kept_types.write();
            }
            self.store.set_types(Arc::clone(old))?;
            drop(kept);
            return Err(error);
        }
        self.store.graph().present();
        self.types.store(new);
        Ok(())
    }

    /// Waits for other changes of the types to end, for at most [`TURN_WAIT`] if the caller has a
    /// deadline.
    fn turn_to_change(&self) -> Result<MutexGuard<'_, ()>, OmrsError> {
        let turn = match deadline::current() {
            None => Some(self.changing_types.lock()),
            Some(deadline) => {
                let deadline = deadline.min(Instant::now() + TURN_WAIT);
                self.changing_types.try_lock_until(deadline)
            }
        };
        let words = "the types are being changed by another request; try again later";
        turn.ok_or_else(|| OmrsError::new(Message::StoreBusy, &[words]))
    }
}

fn cloned<'a>(found: impl Iterator<Item = (TypeIndex, &'a ResolvedType)>) -> Vec<TypeDef> {
    let found = found.map(|(_, of)| TypeDef::clone(of.def())).collect();
    by_name(found, TypeDef::name)
}

fn by_name<T>(mut defs: Vec<T>, name: impl Fn(&T) -> &str) -> Vec<T> {
    defs.sort_by(|one, other| name(one).cmp(name(other)));
    defs
}

fn gallery_by_name(found: TypeDefGallery) -> TypeDefGallery {
    TypeDefGallery {
        attribute_types: by_name(found.attribute_types, AttributeTypeDef::name),
        types: by_name(found.types, TypeDef::name),
    }
}

fn missing(parameter: &str) -> OmrsError {
    OmrsError::of_parameter(Message::MissingParameter, parameter, &[parameter])
}

fn check_guid(guid: &str, parameter: &str) -> Result<(), OmrsError> {
    if guid.is_empty() {
        let message = Message::NoTypeGuid;
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

fn check_name(name: &str, parameter: &str) -> Result<(), OmrsError> {
    if name.is_empty() {
        let message = Message::NoTypeName;
        return Err(OmrsError::of_parameter(message, parameter, &[parameter]));
    }
    Ok(())
}

fn parts(request: &TypeDefReIdentifyRequest) -> Result<[&str; 3], OmrsError> {
    let given = [&request.original_name, &request.new_guid, &request.new_name];
    let given = given.map(|given| given.as_deref().unwrap_or_default());
    check_name(given[0], "originalTypeDefName")?;
    Ok(given)
}

/// Converts a name with wildcards to a regular expression. Some callers already write `.*`.
fn with_wildcards(name: &str) -> String {
    let mut expression = String::new();
    for (number, part) in name.replace(".*", "*").split('*').enumerate() {
        if number > 0 {
            expression.push_str(".*");
        }
        for (number, text) in part.split('&').enumerate() {
            if number > 0 {
                expression.push('.');
            }
            for character in text.chars() {
                if !character.is_alphanumeric() && character != '_' {
                    expression.push('\\');
                }
                expression.push(character);
            }
        }
    }
    expression
}
