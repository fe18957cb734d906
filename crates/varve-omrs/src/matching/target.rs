//! The fields of an instance that conditions test.

use std::borrow::Cow;

use super::field::{FieldValue, header_field};
use crate::instances::{
    Classification, InstanceAuditHeader, InstanceHeader, InstanceProperties, InstancePropertyValue,
};
use crate::json::{Millis, Shared};
use crate::store::{StoredEntity, StoredRelationship};

/// The fields of an entity, a relationship, or a classification.
///
/// The first four methods are required. Most conditions and orders use only the others. An
/// implementation overrides them if it can read one field more cheaply than a whole part.
pub trait Facts {
    /// The audit header.
    fn audit(&self) -> &InstanceAuditHeader;

    /// The header; `None` for a classification.
    fn header(&self) -> Option<&InstanceHeader>;

    /// The properties.
    fn properties(&self) -> Option<&InstanceProperties>;

    /// The classifications that the instance carries.
    fn classifications(&self) -> Carried<'_>;

    /// The property `name`.
    fn property(&self, name: &str) -> Option<Cow<'_, InstancePropertyValue>> {
        let value = self.properties()?.get(name)?;
        Some(Cow::Borrowed(value))
    }

    /// The header field `name`, if the instance has it.
    fn field(&self, name: &str) -> Option<FieldValue<'_>> {
        header_field(self, name)
    }

    /// When the instance was created.
    fn create_time(&self) -> Option<Millis> {
        self.audit().create_time
    }

    /// When the instance was last updated.
    fn update_time(&self) -> Option<Millis> {
        self.audit().update_time
    }

    /// Whether the instance carries a classification of this name that passes a test.
    fn any_classification(
        &self,
        name: &str,
        test: &mut dyn FnMut(&Classification) -> bool,
    ) -> bool {
        self.classifications().any_named(name, test)
    }
}

/// An instance that a condition tests.
#[derive(Clone, Copy)]
pub struct Target<'a>(&'a dyn Facts);

impl<'a> Target<'a> {
    /// The target with these fields.
    #[must_use]
    pub fn of(facts: &'a dyn Facts) -> Self {
        Self(facts)
    }

    /// The properties.
    #[must_use]
    pub fn properties(&self) -> Option<&'a InstanceProperties> {
        self.0.properties()
    }

    /// The property `name`.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<Cow<'a, InstancePropertyValue>> {
        self.0.property(name)
    }

    /// The header field `name`, if the instance has it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<FieldValue<'a>> {
        self.0.field(name)
    }

    /// When the instance was created.
    #[must_use]
    pub fn create_time(&self) -> Option<Millis> {
        self.0.create_time()
    }

    /// When the instance was last updated.
    #[must_use]
    pub fn update_time(&self) -> Option<Millis> {
        self.0.update_time()
    }

    /// Whether the instance carries a classification of this name that passes a test.
    pub fn any_classification(
        &self,
        name: &str,
        mut test: impl FnMut(&Classification) -> bool,
    ) -> bool {
        self.0.any_classification(name, &mut test)
    }
}

/// The classifications that an instance carries. A look-up by name may decode only those with the
/// name.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a>(Option<&'a Shared<Vec<Classification>>>);

impl<'a> Carried<'a> {
    /// No classifications.
    pub const NONE: Self = Self(None);

    /// These classifications.
    #[must_use]
    pub fn these(all: &'a Shared<Vec<Classification>>) -> Self {
        Self(Some(all))
    }

    /// Whether a classification of this name passes a test.
    pub fn any_named(self, name: &str, mut test: impl FnMut(&Classification) -> bool) -> bool {
        let Some(carried) = self.0 else { return false };
        let mut passes = |one: &Classification| one.name() == name && test(one);
        match carried.named(name) {
            Some(named) => named.iter().any(passes),
            None => carried.iter().any(&mut passes),
        }
    }

    /// All classifications.
    pub fn iter(self) -> std::slice::Iter<'a, Classification> {
        self.0.map_or([].iter(), |carried| carried.iter())
    }
}

impl Facts for StoredEntity {
    fn audit(&self) -> &InstanceAuditHeader {
        &Self::header(self).audit
    }

    fn header(&self) -> Option<&InstanceHeader> {
        Some(Self::header(self))
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        Self::properties(self)
    }

    fn classifications(&self) -> Carried<'_> {
        Carried::these(match self {
            Self::Detail(entity) => &entity.classifications,
            Self::Proxy(entity) => &entity.classifications,
        })
    }
}

impl Facts for StoredRelationship {
    fn audit(&self) -> &InstanceAuditHeader {
        &self.header.audit
    }

    fn header(&self) -> Option<&InstanceHeader> {
        Some(&self.header)
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        self.properties.as_ref()
    }

    fn classifications(&self) -> Carried<'_> {
        Carried::NONE
    }
}

impl Facts for Classification {
    fn audit(&self) -> &InstanceAuditHeader {
        &self.audit
    }

    fn header(&self) -> Option<&InstanceHeader> {
        None
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        self.properties.as_ref()
    }

    fn classifications(&self) -> Carried<'_> {
        Carried::NONE
    }
}

impl<'a, F: Facts> From<&'a F> for Target<'a> {
    fn from(facts: &'a F) -> Self {
        Self(facts)
    }
}
