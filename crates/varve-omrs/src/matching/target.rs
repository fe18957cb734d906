//! What conditions look at.

use std::borrow::Cow;

use super::field::{FieldValue, header_field};
use crate::instances::{
    Classification, InstanceAuditHeader, InstanceHeader, InstanceProperties, InstancePropertyValue,
};
use crate::json::{Millis, Shared};
use crate::store::{StoredEntity, StoredInstance, StoredRelationship};
use crate::types::InstanceStatus;

/// What can be asked of an entity, a relationship, or a classification.
///
/// The first four are required. The others are what most conditions and orders ask: whoever has an
/// instance in a form in which the whole of a part costs more than one thing of it answers them
/// without.
pub trait Facts {
    /// What is known of it.
    fn audit(&self) -> &InstanceAuditHeader;

    /// What is known of it if it is no classification.
    fn header(&self) -> Option<&InstanceHeader>;

    /// Its properties.
    fn properties(&self) -> Option<&InstanceProperties>;

    /// The classifications it carries.
    fn classifications(&self) -> Carried<'_>;

    /// The property called `name`.
    fn property(&self, name: &str) -> Option<Cow<'_, InstancePropertyValue>> {
        let value = self.properties()?.get(name)?;
        Some(Cow::Borrowed(value))
    }

    /// The header field called `name`, if it has it.
    fn field(&self, name: &str) -> Option<FieldValue<'_>> {
        header_field(self, name)
    }

    /// Where it stands in its life.
    fn status(&self) -> Option<InstanceStatus> {
        self.audit().status
    }

    /// When it was made.
    fn create_time(&self) -> Option<Millis> {
        self.audit().create_time
    }

    /// When it was changed last.
    fn update_time(&self) -> Option<Millis> {
        self.audit().update_time
    }

    /// Whether a classification that it carries has this name and passes a test.
    fn any_classification(
        &self,
        name: &str,
        test: &mut dyn FnMut(&Classification) -> bool,
    ) -> bool {
        self.classifications().any_named(name, test)
    }
}

/// An instance as conditions see it.
#[derive(Clone, Copy)]
pub struct Target<'a>(&'a dyn Facts);

impl<'a> Target<'a> {
    /// That of which these things can be asked.
    #[must_use]
    pub fn of(facts: &'a dyn Facts) -> Self {
        Self(facts)
    }

    /// What is known of it.
    #[must_use]
    pub fn audit(&self) -> &'a InstanceAuditHeader {
        self.0.audit()
    }

    /// What is known of it if it is no classification.
    #[must_use]
    pub fn header(&self) -> Option<&'a InstanceHeader> {
        self.0.header()
    }

    /// Its properties.
    #[must_use]
    pub fn properties(&self) -> Option<&'a InstanceProperties> {
        self.0.properties()
    }

    /// The property called `name`.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<Cow<'a, InstancePropertyValue>> {
        self.0.property(name)
    }

    /// The header field called `name`, if it has it.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<FieldValue<'a>> {
        self.0.field(name)
    }

    /// Where it stands in its life.
    #[must_use]
    pub fn status(&self) -> Option<InstanceStatus> {
        self.0.status()
    }

    /// When it was made.
    #[must_use]
    pub fn create_time(&self) -> Option<Millis> {
        self.0.create_time()
    }

    /// When it was changed last.
    #[must_use]
    pub fn update_time(&self) -> Option<Millis> {
        self.0.update_time()
    }

    /// The classifications it carries.
    #[must_use]
    pub fn classifications(&self) -> Carried<'a> {
        self.0.classifications()
    }

    /// Whether a classification that it carries has this name and passes a test.
    pub fn any_classification(
        &self,
        name: &str,
        mut test: impl FnMut(&Classification) -> bool,
    ) -> bool {
        self.0.any_classification(name, &mut test)
    }
}

/// The classifications that an instance carries. Those that nobody asks for by name are not made.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a>(Option<&'a Shared<Vec<Classification>>>);

impl<'a> Carried<'a> {
    /// None.
    pub const NONE: Self = Self(None);

    /// These.
    #[must_use]
    pub fn these(all: &'a Shared<Vec<Classification>>) -> Self {
        Self(Some(all))
    }

    /// Whether one of this name passes a test.
    pub fn any_named(self, name: &str, mut test: impl FnMut(&Classification) -> bool) -> bool {
        let Some(carried) = self.0 else { return false };
        let mut passes = |one: &Classification| one.name() == name && test(one);
        match carried.named(name) {
            Some(named) => named.iter().any(passes),
            None => carried.iter().any(&mut passes),
        }
    }

    /// All of them.
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

impl StoredInstance {
    fn facts(&self) -> &dyn Facts {
        match self {
            Self::Entity(entity) => entity,
            Self::Relationship(relationship) => relationship,
        }
    }
}

impl Facts for StoredInstance {
    fn audit(&self) -> &InstanceAuditHeader {
        self.facts().audit()
    }

    fn header(&self) -> Option<&InstanceHeader> {
        self.facts().header()
    }

    fn properties(&self) -> Option<&InstanceProperties> {
        self.facts().properties()
    }

    fn classifications(&self) -> Carried<'_> {
        self.facts().classifications()
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
