//! Random walks: what each shows, and in which order, is what the lists of states say.

use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::store::*;
use varve_omrs::types::{InstanceStatus, PrimitiveDefCategory};

use super::Run;
use super::instances::{LINKS, TYPES, WORDS};
use super::orders::order;
use super::parts::{carried_by, header_of, properties_of, texts, value_of};
use super::states::at_time;
use crate::world::*;

/// Properties to walk by.
const NAMES: [&str; 5] = [
    "name",
    "qualifiedName",
    "versionNumber",
    "createTime",
    "confidence",
];

impl Run {
    pub(super) fn compare_walk(&mut self, at: Option<Millis>) {
        let subject =
            self.random
                .of(&[Subject::Entities, Subject::Entities, Subject::Relationships]);
        let names: &[&str] = match subject {
            Subject::Entities => &TYPES,
            Subject::Relationships => &LINKS,
        };
        let of = match self.random.below(3) {
            0 => None,
            _ => self.world.types.by_name(self.random.of(names)),
        };
        let (name, word) = (self.random.of(&NAMES), self.random.of(&WORDS));
        let value = match self.random.below(2) {
            0 => text(word),
            _ => self.primitive(PrimitiveDefCategory::Int),
        };
        let listing = self
            .random
            .of(&[Listing::Guid, Listing::CreateTime, Listing::UpdateTime]);
        let carried: Vec<String> = match self.random.below(3) {
            0 => vec!["Confidentiality".to_owned(), "Retention".to_owned()],
            _ => vec!["Retention".to_owned()],
        };
        let level = self.primitive(PrimitiveDefCategory::Int);
        let by = match self.random.below(14) {
            0 => WalkBy::Guid,
            1 => WalkBy::CreateTime,
            2 => WalkBy::UpdateTime,
            3 | 4 => WalkBy::Property(name),
            5 => WalkBy::PropertyIs(name, &value),
            6 => WalkBy::PropertyStarts(name, word),
            7 => WalkBy::Text(word),
            8 => WalkBy::Home("away"),
            12 => WalkBy::Live(listing),
            9 => WalkBy::Deleted(listing),
            _ if subject == Subject::Relationships => WalkBy::Guid,
            10 => WalkBy::ClassifiedWith("Confidentiality", "confidence", &level),
            _ => WalkBy::Classified(&carried, listing),
        };
        let walk = Walk {
            subject,
            of,
            by,
            reverse: self.random.below(2) == 0,
            after: None,
        };
        if !self.world.reader(at).can_walk(&walk) {
            // No type has the property.
            assert!(matches!(
                walk.by,
                WalkBy::Property(_) | WalkBy::PropertyIs(..) | WalkBy::PropertyStarts(..)
            ));
            return;
        }
        let mut expected: Vec<StoredInstance> = self.instances(subject, at);
        expected.retain(|instance| self.is_described(&walk, instance));
        let key =
            |instance: &StoredInstance| (order(&walk.by, instance), guid_of(instance).to_owned());
        expected.sort_by(|a, b| {
            let ((a, one), (b, other)) = (key(a), key(b));
            match (&walk.by, walk.reverse) {
                (WalkBy::Guid | WalkBy::Live(Listing::Guid), true) => other.cmp(&one),
                (_, true) => b.cmp(&a).then(one.cmp(&other)),
                (_, false) => a.cmp(&b).then(one.cmp(&other)),
            }
        });
        let expected: Vec<&str> = expected.iter().map(guid_of).collect();
        assert_eq!(self.world.guids(at, &walk), expected, "{walk:?} at {at:?}");
    }

    fn is_described(&self, walk: &Walk<'_>, instance: &StoredInstance) -> bool {
        if let StoredInstance::Entity(StoredEntity::Proxy(_)) = instance
            && !matches!(walk.by, WalkBy::Classified(..) | WalkBy::ClassifiedWith(..))
        {
            return false;
        }
        let header = header_of(instance);
        let own = self.world.types.by_name(header.audit.type_name()).unwrap();
        if !walk.of.is_none_or(|of| self.world.types.is_a(own, of)) {
            return false;
        }
        let has = |name: &str| self.world.types.get(own).property(name).is_some();
        match &walk.by {
            WalkBy::Property(name) => has(name),
            WalkBy::PropertyIs(name, wanted) => value_of(instance, name) == Some((*wanted).clone()),
            WalkBy::PropertyStarts(name, prefix) => {
                matches!(value_of(instance, name), Some(Primitive::String(text)) if text.starts_with(prefix))
            }
            WalkBy::Text(text) => texts(properties_of(instance)).iter().any(|of| of == text),
            WalkBy::Home(home) => header.audit.metadata_collection_id.as_deref() == Some(home),
            WalkBy::Deleted(_) => header.audit.status == Some(InstanceStatus::Deleted),
            WalkBy::Live(_) => header.audit.status != Some(InstanceStatus::Deleted),
            WalkBy::Classified(names, _) => {
                let mut carried = carried_by(instance).iter();
                carried.any(|of| names.iter().any(|name| name == of.name()))
            }
            WalkBy::ClassifiedWith(name, property, wanted) => {
                carried_by(instance).iter().any(|of| {
                    let properties = of.properties.as_ref();
                    let value = properties.and_then(|properties| properties.get(property));
                    let is_wanted = |value: &InstancePropertyValue| match value {
                        InstancePropertyValue::Primitive(value) => {
                            value.value.as_ref() == Some(*wanted)
                        }
                        _ => false,
                    };
                    of.name() == *name && value.is_some_and(is_wanted)
                })
            }
            _ => true,
        }
    }

    fn instances(&self, subject: Subject, at: Option<Millis>) -> Vec<StoredInstance> {
        match subject {
            Subject::Entities => {
                let all = self.model.entities.values();
                let all = all.filter_map(|states| at_time(states, at).cloned());
                all.map(StoredInstance::Entity).collect()
            }
            Subject::Relationships => {
                let all = self.model.relationships.values();
                let all = all.filter_map(|states| at_time(states, at).cloned());
                all.map(StoredInstance::Relationship).collect()
            }
        }
    }
}
