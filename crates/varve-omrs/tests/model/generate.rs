//! Random calls in a small world: few GUIDs, few types, few values, so that they meet.

mod reads;
mod values;
mod writes;

use std::sync::Arc;

use varve_omrs::instances::InstanceHeader;
use varve_omrs::json::{self, Millis};
use varve_omrs::requests::TypeDefValidationForRequest;
use varve_omrs::types::{Catalogue, TypeDefAttribute, TypeDefCategory, TypeDefGallery, TypeIndex};
use varve_testkit::random::Random;

use crate::call::{InstanceKind, Names};
use crate::naive::Naive;

/// When a list begins.
pub(crate) const BEGIN: i64 = 1_000_000_000;

/// The metadata collection of the repository: id and name.
pub(crate) const HOME: (&str, &str) = ("our-collection", "ours");

/// Metadata collections of others.
const ELSEWHERE: [&str; 2] = ["far-collection-1", "far-collection-2"];

pub(crate) const USERS: [&str; 3] = ["ada", "bob", "ada"];

/// Supertypes with subtypes, types with a life cycle, with numbers, enums, and a property called
/// like a header field. `Thing` and its subtypes are not of the standard: each has `size` of
/// another kind.
const ENTITY_TYPES: [&str; 11] = [
    "Referenceable",
    "Asset",
    "Database",
    "GlossaryTerm",
    "ControlledGlossaryTerm",
    "Person",
    "ContactDetails",
    "RelationalColumn",
    "Thing",
    "CountedThing",
    "NamedThings",
];
const RELATIONSHIP_TYPES: [&str; 3] = ["MoreInformation", "SemanticAssignment", "Synonym"];
/// The properties of classifications that are given and asked for: few, so that they meet.
const CLASSIFIED: [&str; 4] = ["confidence", "notes", "anchorGUID", "steward"];

/// Types that redefine a property.
const THINGS: &str = r#"{"class":"TypeDefGallery","typeDefs":[
    {"class":"EntityDef","guid":"thing-guid","name":"Thing","version":1,"versionName":"1.0",
     "superType":{"guid":"a32316b8-dc8c-48c5-b12b-71c1b2a080bf","name":"Referenceable"},
     "validInstanceStatusList":["ACTIVE","DELETED"],"initialStatus":"ACTIVE",
     "propertiesDefinition":[{"attributeName":"size","attributeType":"string","unique":false}]},
    {"class":"EntityDef","guid":"counted-thing-guid","name":"CountedThing","version":1,"versionName":"1.0",
     "superType":{"guid":"thing-guid","name":"Thing"},
     "validInstanceStatusList":["ACTIVE","DELETED"],"initialStatus":"ACTIVE",
     "propertiesDefinition":[{"attributeName":"size","attributeType":"int","unique":false}]},
    {"class":"EntityDef","guid":"named-things-guid","name":"NamedThings","version":1,"versionName":"1.0",
     "superType":{"guid":"thing-guid","name":"Thing"},
     "validInstanceStatusList":["ACTIVE","DELETED"],"initialStatus":"ACTIVE",
     "propertiesDefinition":[{"attributeName":"size","attributeType":"array<string>","unique":false}]}]}"#;

/// The types that [`THINGS`] are.
pub(crate) fn things() -> TypeDefGallery {
    json::decode(THINGS.as_bytes(), json::Limits::DEFAULT).expect("a gallery")
}

const CLASSIFICATION_TYPES: [&str; 3] = ["Confidentiality", "Anchors", "SpineObject"];

/// Copies of instances that are homed elsewhere have these GUIDs.
const COPIES: [&str; 4] = ["copy-0", "copy-1", "copy-2", "copy-3"];
const LINK_COPIES: [&str; 3] = ["link-0", "link-1", "link-2"];

/// What calls are made from.
pub(crate) struct Generator<'a> {
    pub(crate) random: &'a mut Random,
    /// Says what there is, so that calls make sense more often than not.
    pub(crate) naive: &'a Naive,
    pub(crate) names: &'a Names,
    /// What the list calls its instances.
    pub(crate) known: &'a Known,
}

/// The instances of a list, by the names that it gave them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    pub(crate) entities: Vec<String>,
    pub(crate) relationships: Vec<String>,
}

impl Known {
    pub(crate) fn new() -> Self {
        Self {
            entities: COPIES.map(str::to_owned).to_vec(),
            relationships: LINK_COPIES.map(str::to_owned).to_vec(),
        }
    }

    pub(crate) fn of(&self, kind: InstanceKind) -> &[String] {
        match kind {
            InstanceKind::Entity => &self.entities,
            InstanceKind::Relationship => &self.relationships,
        }
    }
}

impl<'a> Generator<'a> {
    fn types(&self) -> &'a Catalogue {
        &self.naive.types
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.random.one_in(n)
    }

    fn pick<'b>(&mut self, from: &[&'b str]) -> &'b str {
        from[self.random.below(from.len())]
    }

    fn kind(&mut self) -> InstanceKind {
        if self.one_in(3) {
            InstanceKind::Relationship
        } else {
            InstanceKind::Entity
        }
    }

    /// An instance, seldom one that there is not.
    fn name(&mut self, kind: InstanceKind) -> String {
        match self.random.below(60) {
            0 => String::new(),
            1 => "nobody".to_owned(),
            _ => self.random.pick(self.known.of(kind)).clone(),
        }
    }

    fn header_of(&self, kind: InstanceKind, name: &str) -> Option<&'a InstanceHeader> {
        let guid = self.names.guid(name);
        self.naive.header(kind, &guid)
    }

    fn type_named(&self, name: &str) -> TypeIndex {
        self.types().by_name(name).expect("a type of the standard")
    }

    /// The properties of a type that are given and asked for.
    fn attributes(&self, of: TypeIndex) -> Vec<Arc<TypeDefAttribute>> {
        let of = self.types().get(of);
        let is_classification = of.def().category() == TypeDefCategory::Classification;
        let properties = of.properties().iter();
        let attributes = properties.map(|property| Arc::clone(&property.attribute));
        let is_met = |attribute: &Arc<TypeDefAttribute>| {
            !is_classification || CLASSIFIED.contains(&attribute.name())
        };
        attributes.filter(is_met).collect()
    }

    /// The type of an instance, or one of its kind.
    fn type_of(&mut self, kind: InstanceKind, name: &str) -> TypeIndex {
        let known = self.header_of(kind, name);
        let known = known.map(|header| header.audit.type_name().to_owned());
        let any = match kind {
            InstanceKind::Entity => self.pick(&ENTITY_TYPES),
            InstanceKind::Relationship => self.pick(&RELATIONSHIP_TYPES),
        };
        self.type_named(known.as_deref().unwrap_or(any))
    }

    /// What a caller takes an instance for: seldom wrong.
    fn expected(&mut self, kind: InstanceKind, name: &str) -> TypeDefValidationForRequest {
        let mut of = self.type_of(kind, name);
        if self.one_in(25) {
            let other = self.pick(&ENTITY_TYPES);
            of = self.type_named(other);
        }
        let of = self.types().get(of);
        let mut expected = TypeDefValidationForRequest {
            type_guid: Some(of.guid().to_owned()),
            type_name: Some(of.name().to_owned()),
        };
        if self.one_in(60) {
            expected.type_guid = None;
        }
        expected
    }

    /// A time between the beginning and now.
    fn past(&mut self) -> Millis {
        let spent = self.naive.now.0 - BEGIN;
        let at = self.random.below(spent.max(0) as usize + 3);
        Millis((BEGIN + at as i64).min(self.naive.now.0))
    }
}
