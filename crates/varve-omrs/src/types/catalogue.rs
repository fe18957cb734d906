//! All types that a repository knows.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{AttributeTypeDef, ResolvedType, TypeDef, TypeDefCategory, TypeDefGallery};
use crate::error::{Message, OmrsError};

/// The position of a type in a [`Catalogue`]. Valid only in that catalogue, since a change numbers
/// all types again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeIndex(pub(super) u32);

/// All types that a repository knows.
///
/// A pure value: to change a shared catalogue, replace it by a changed copy. A copy shares the
/// definitions, so it costs little compared with the change, which resolves every type again (about
/// a millisecond for the 600 types of the standard). Types change rarely, but every call looks them
/// up. A change that fails leaves the catalogue as it was.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    pub(super) attribute_types: Definitions<AttributeTypeDef>,
    pub(super) types: Definitions<TypeDef>,
    /// In the order of `types`.
    pub(super) resolved: Vec<ResolvedType>,
    /// The names of properties that some type defines with another attribute type than its
    /// supertype.
    pub(super) redefined: HashSet<String>,
}

/// The keys of a definition.
pub(super) trait Identified {
    fn guid(&self) -> &str;
    fn name(&self) -> &str;
}

impl Identified for AttributeTypeDef {
    fn guid(&self) -> &str {
        self.guid()
    }

    fn name(&self) -> &str {
        self.name()
    }
}

impl Identified for TypeDef {
    fn guid(&self) -> &str {
        self.guid()
    }

    fn name(&self) -> &str {
        self.name()
    }
}

/// Definitions in the order in which they were added, with look-up by GUID and by name.
#[derive(Debug)]
pub(super) struct Definitions<T> {
    list: Vec<Arc<T>>,
    by_guid: HashMap<String, usize>,
    by_name: HashMap<String, usize>,
}

impl<T> Default for Definitions<T> {
    fn default() -> Self {
        Self {
            list: Vec::new(),
            by_guid: HashMap::new(),
            by_name: HashMap::new(),
        }
    }
}

impl<T> Clone for Definitions<T> {
    fn clone(&self) -> Self {
        Self {
            list: self.list.clone(),
            by_guid: self.by_guid.clone(),
            by_name: self.by_name.clone(),
        }
    }
}

impl<T: Identified> Definitions<T> {
    pub(super) fn list(&self) -> &[Arc<T>] {
        &self.list
    }

    pub(super) fn by_guid(&self, guid: &str) -> Option<usize> {
        self.by_guid.get(guid).copied()
    }

    pub(super) fn by_name(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The definition with this GUID and name. An error message when one of them belongs to another
    /// definition.
    pub(super) fn identified(&self, guid: &str, name: &str) -> Result<Option<usize>, String> {
        match (self.by_guid(guid), self.by_name(name)) {
            (None, None) => Ok(None),
            (Some(by_guid), Some(by_name)) if by_guid == by_name => Ok(Some(by_guid)),
            (Some(other), _) => Err(format!("the GUID is that of {}", self.list[other].name())),
            (_, Some(other)) => Err(format!("the name has the GUID {}", self.list[other].guid())),
        }
    }

    pub(super) fn push(&mut self, definition: Arc<T>) -> usize {
        let index = self.list.len();
        self.by_guid.insert(definition.guid().to_owned(), index);
        self.by_name.insert(definition.name().to_owned(), index);
        self.list.push(definition);
        index
    }

    /// Replaces each definition by `change(definition)`; GUIDs and names may change.
    pub(super) fn map(&mut self, change: impl FnMut(&Arc<T>) -> Arc<T>) {
        let list: Vec<Arc<T>> = self.list.iter().map(change).collect();
        *self = Self::default();
        for definition in list {
            self.push(definition);
        }
    }

    pub(super) fn replace(&mut self, index: usize, definition: Arc<T>) {
        let mut at = 0;
        self.map(|old| {
            at += 1;
            Arc::clone(if at - 1 == index { &definition } else { old })
        });
    }

    pub(super) fn remove(&mut self, index: usize) {
        let mut list = std::mem::take(&mut self.list);
        list.remove(index);
        *self = Self::default();
        for definition in list {
            self.push(definition);
        }
    }
}

impl TypeIndex {
    pub(super) fn of(index: usize) -> Self {
        Self(u32::try_from(index).expect("types are far fewer than 2^32"))
    }

    pub(super) fn at(self) -> usize {
        self.0 as usize
    }
}

impl Catalogue {
    /// A catalogue without any types.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// All definitions, in the order in which they were added.
    #[must_use]
    pub fn gallery(&self) -> TypeDefGallery {
        TypeDefGallery {
            attribute_types: self.attribute_types().map(|def| (**def).clone()).collect(),
            types: self.types().map(|(_, def)| (**def.def()).clone()).collect(),
        }
    }

    /// All attribute types, in the order in which they were added.
    pub fn attribute_types(&self) -> impl Iterator<Item = &Arc<AttributeTypeDef>> {
        self.attribute_types.list().iter()
    }

    /// All types, in the order in which they were added.
    pub fn types(&self) -> impl Iterator<Item = (TypeIndex, &ResolvedType)> {
        let indexes = (0..self.resolved.len()).map(TypeIndex::of);
        indexes.zip(&self.resolved)
    }

    /// The type at `index`.
    ///
    /// # Panics
    /// When the index came from a catalogue with more types.
    #[must_use]
    pub fn get(&self, index: TypeIndex) -> &ResolvedType {
        &self.resolved[index.at()]
    }

    /// The type with this GUID.
    #[must_use]
    pub fn by_guid(&self, guid: &str) -> Option<TypeIndex> {
        self.types.by_guid(guid).map(TypeIndex::of)
    }

    /// The type with this name.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Option<TypeIndex> {
        self.types.by_name(name).map(TypeIndex::of)
    }

    /// The attribute type with this GUID.
    #[must_use]
    pub fn attribute_type_by_guid(&self, guid: &str) -> Option<&Arc<AttributeTypeDef>> {
        let index = self.attribute_types.by_guid(guid)?;
        Some(&self.attribute_types.list()[index])
    }

    /// The attribute type with this name.
    #[must_use]
    pub fn attribute_type_by_name(&self, name: &str) -> Option<&Arc<AttributeTypeDef>> {
        let index = self.attribute_types.by_name(name)?;
        Some(&self.attribute_types.list()[index])
    }

    /// Whether `subtype` is `supertype` or inherits from it, directly or not. One look-up.
    #[must_use]
    pub fn is_a(&self, subtype: TypeIndex, supertype: TypeIndex) -> bool {
        let depth = self.get(supertype).depth();
        self.get(subtype).lineage().get(depth) == Some(&supertype)
    }

    /// The type itself and all its subtypes, supertypes before their subtypes.
    #[must_use]
    pub fn with_subtypes(&self, index: TypeIndex) -> Vec<TypeIndex> {
        let mut found = vec![index];
        let mut next = 0;
        while let Some(index) = found.get(next) {
            found.extend_from_slice(self.get(*index).direct_subtypes());
            next += 1;
        }
        found
    }

    /// Whether some type defines the property `name` with another attribute type than its
    /// supertype.
    #[must_use]
    pub fn is_redefined(&self, name: &str) -> bool {
        self.redefined.contains(name)
    }

    /// Whether entities of type `entity` may carry `classification`.
    #[must_use]
    pub fn allows(&self, entity: TypeIndex, classification: TypeIndex) -> bool {
        let allowed = self.get(entity).valid_classifications();
        allowed.binary_search(&classification).is_ok()
    }

    /// The type of instances of `category` with this GUID.
    ///
    /// # Errors
    /// `TypeErrorException` when there is none; `parameter` names the parameter with the GUID.
    pub fn instance_type_by_guid(
        &self,
        category: TypeDefCategory,
        guid: &str,
        parameter: &str,
    ) -> Result<TypeIndex, OmrsError> {
        self.by_guid(guid)
            .filter(|index| self.get(*index).def().category() == category)
            .ok_or_else(|| OmrsError::new(Message::UnknownInstanceType, &[guid, parameter]))
    }

    /// The classification type with this name.
    ///
    /// # Errors
    /// `ClassificationErrorException` when there is none.
    pub fn classification_by_name(&self, name: &str) -> Result<TypeIndex, OmrsError> {
        self.by_name(name)
            .filter(|index| self.get(*index).def().category() == TypeDefCategory::Classification)
            .ok_or_else(|| OmrsError::new(Message::UnknownClassification, &[name]))
    }
}
