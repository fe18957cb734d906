//! A reader of instances in a list that has whichever indexes a test wants.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use varve_omrs::OmrsError;
use varve_omrs::instances::{
    InstanceHeader, InstanceProperties, InstancePropertyValue, Primitive, PrimitivePropertyValue,
};
use varve_omrs::matching::{SortValue, Target};
use varve_omrs::store::{
    Listing, Read, Step, StoredEntity, StoredInstance, StoredRelationship, Subject, TestText,
    TextHint, Visit, Walk, WalkBy,
};
use varve_omrs::types::{Catalogue, TypeIndex};
use varve_testkit::random::Random;

pub(crate) struct Indexed {
    pub(crate) all: Vec<StoredInstance>,
    types: Arc<Catalogue>,
    /// The kinds of walks that it has no index for.
    pub(crate) forbidden: Vec<std::mem::Discriminant<WalkBy<'static>>>,
    pub(crate) state: Option<u64>,
    /// How many instances were shown.
    pub(crate) steps: Cell<usize>,
}

pub(crate) fn header(instance: &StoredInstance) -> &InstanceHeader {
    match instance {
        StoredInstance::Entity(entity) => entity.header(),
        StoredInstance::Relationship(relationship) => &relationship.header,
    }
}

fn some_text(value: &InstancePropertyValue, test: &dyn Fn(&str) -> bool) -> bool {
    let nested = match value {
        InstancePropertyValue::Primitive(PrimitivePropertyValue {
            value: Some(Primitive::String(text)),
            ..
        }) => return test(text),
        InstancePropertyValue::Primitive(_) => return false,
        InstancePropertyValue::Enum(value) => {
            return value.symbolic_name.as_deref().is_some_and(test);
        }
        InstancePropertyValue::Struct(value) => &value.attributes,
        InstancePropertyValue::Map(value) => &value.values,
        InstancePropertyValue::Array(value) => &value.values,
    };
    has_text(nested.as_ref(), test)
}

fn has_text(properties: Option<&InstanceProperties>, test: &dyn Fn(&str) -> bool) -> bool {
    properties.is_some_and(|of| of.values.values().any(|value| some_text(value, test)))
}

/// As bytes are equal: neither other kinds of numbers nor other forms of a zero.
fn is_same(value: Option<&InstancePropertyValue>, wanted: &Primitive) -> bool {
    match value {
        Some(InstancePropertyValue::Primitive(value)) => {
            format!("{:?}", value.value) == format!("{:?}", Some(wanted))
        }
        _ => false,
    }
}

/// Of longer texts than this, walks by a property know the start only.
const KNOWN_BYTES: usize = 2;

/// What a walk knows of the order of an instance by a property, and whether that is all.
fn known(instance: &StoredInstance, name: &str) -> (SortValue, bool) {
    match SortValue::of(Target::from(instance).properties(), name) {
        SortValue::Primitive(Primitive::String(text)) if text.len() > KNOWN_BYTES => {
            let mut end = KNOWN_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let start = Primitive::String(text[..end].to_owned());
            (SortValue::Primitive(start), false)
        }
        value => (value, true),
    }
}

/// The start of a text of which a walk knows no more.
fn known_start(by: &WalkBy<'_>, instance: &StoredInstance) -> Option<String> {
    let WalkBy::Property(name) = by else {
        return None;
    };
    match known(instance, name) {
        (SortValue::Primitive(Primitive::String(start)), false) => Some(start),
        _ => None,
    }
}

/// What a walk lists things by that have something in common.
fn listing(by: &WalkBy<'_>) -> Listing {
    match by {
        WalkBy::CreateTime => Listing::CreateTime,
        WalkBy::UpdateTime => Listing::UpdateTime,
        WalkBy::Classified(_, listing) | WalkBy::Status(_, listing) | WalkBy::Live(listing) => {
            *listing
        }
        _ => Listing::Guid,
    }
}

impl Indexed {
    pub(crate) fn new(types: Arc<Catalogue>, all: Vec<StoredInstance>) -> Self {
        Self {
            all,
            types,
            forbidden: Vec::new(),
            state: None,
            steps: Cell::new(0),
        }
    }

    /// Leaves out some indexes; all have the one by GUID.
    pub(crate) fn forbid(&mut self, random: &mut Random) {
        let name = "";
        static VALUE: Primitive = Primitive::Boolean(true);
        let kinds = [
            WalkBy::CreateTime,
            WalkBy::UpdateTime,
            WalkBy::Property(name),
            WalkBy::PropertyIs(name, &VALUE),
            WalkBy::PropertyStarts(name, name),
            WalkBy::Text(name),
            WalkBy::TextStarts(name),
            WalkBy::Classified(&[], Listing::Guid),
            WalkBy::ClassifiedWith(name, name, &VALUE),
            WalkBy::Home(name),
            WalkBy::Status(varve_omrs::types::InstanceStatus::Deleted, Listing::Guid),
            WalkBy::Live(Listing::Guid),
        ];
        let few = random.below(4) + 1;
        for kind in kinds {
            if random.one_in(few) {
                self.forbidden.push(std::mem::discriminant(&kind));
            }
        }
    }

    pub(crate) fn serves(&self, by: &WalkBy<'_>) -> bool {
        let kind = std::mem::discriminant(by);
        !self.forbidden.iter().any(|of| {
            // Lifetimes do not count for which variant it is.
            format!("{of:?}") == format!("{kind:?}")
        })
    }

    fn has_property(&self, instance: &StoredInstance, name: &str) -> bool {
        let index = self.types.by_name(header(instance).audit.type_name());
        self.types.get(index.unwrap()).property(name).is_some()
    }

    fn belongs(&self, by: &WalkBy<'_>, instance: &StoredInstance) -> bool {
        let target = Target::from(instance);
        let value = |name: &str| target.properties().and_then(|of| of.get(name));
        let text = |test: &dyn Fn(&str) -> bool| has_text(target.properties(), test);
        match by {
            WalkBy::Guid | WalkBy::CreateTime | WalkBy::UpdateTime => true,
            WalkBy::Property(name) => self.has_property(instance, name),
            WalkBy::PropertyIs(name, wanted) => is_same(value(name), wanted),
            WalkBy::PropertyStarts(name, start) => value(name).is_some_and(|value| match value {
                InstancePropertyValue::Primitive(_) | InstancePropertyValue::Enum(_) => {
                    some_text(value, &|text| text.starts_with(start))
                }
                _ => false,
            }),
            WalkBy::Text(wanted) => text(&|text| text == *wanted),
            WalkBy::TextStarts(start) => text(&|text| text.starts_with(start)),
            WalkBy::Classified(names, _) => {
                let mut carried = target.classifications().iter();
                carried.any(|of| names.iter().any(|name| name == of.name()))
            }
            WalkBy::ClassifiedWith(name, property, wanted) => {
                target.classifications().iter().any(|of| {
                    let properties = of.properties.as_ref();
                    let value = properties.and_then(|properties| properties.get(property));
                    of.name() == *name && is_same(value, wanted)
                })
            }
            WalkBy::Home(id) => target.audit().metadata_collection_id.as_deref() == Some(id),
            WalkBy::Status(status, _) => target.status() == Some(*status),
            WalkBy::Live(_) => target.status() != Some(varve_omrs::types::InstanceStatus::Deleted),
        }
    }

    /// What the walk shows, in its order.
    fn shown(&self, walk: &Walk<'_>) -> Vec<&StoredInstance> {
        let is_of = |instance: &&StoredInstance| {
            let index = self.types.by_name(header(instance).audit.type_name());
            let is_entity = matches!(instance, StoredInstance::Entity(_));
            is_entity == (walk.subject == Subject::Entities)
                && walk.of.is_none_or(|of| self.types.is_a(index.unwrap(), of))
                && self.belongs(&walk.by, instance)
        };
        let mut shown: Vec<&StoredInstance> = self.all.iter().filter(is_of).collect();
        shown.sort_by(|one, other| {
            if let WalkBy::Property(name) = &walk.by {
                let ((a, a_whole), (b, b_whole)) = (known(one, name), known(other, name));
                let order = a.compare(&b).then(b_whole.cmp(&a_whole));
                let order = if walk.reverse { order.reverse() } else { order };
                let by_guid = header(one).guid.cmp(&header(other).guid);
                return order.then(if a_whole { by_guid } else { by_guid.reverse() });
            }
            let (one, other) = (Target::from(*one), Target::from(*other));
            let order = match &walk.by {
                WalkBy::PropertyStarts(name, _) => {
                    let other = SortValue::of(other.properties(), name);
                    SortValue::of(one.properties(), name).compare(&other)
                }
                by => match listing(by) {
                    Listing::Guid => std::cmp::Ordering::Equal,
                    Listing::CreateTime => one.create_time().cmp(&other.create_time()),
                    Listing::UpdateTime => one.update_time().cmp(&other.update_time()),
                },
            };
            let order = if walk.reverse { order.reverse() } else { order };
            order.then_with(|| {
                one.header()
                    .unwrap()
                    .guid
                    .cmp(&other.header().unwrap().guid)
            })
        });
        if let WalkBy::TextStarts(_) = walk.by {
            let again = shown.clone();
            shown.extend(again.into_iter().step_by(3));
        }
        shown
    }
}

impl Read for Indexed {
    fn types(&self) -> Arc<Catalogue> {
        Arc::clone(&self.types)
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        Ok(self.all.iter().find_map(|instance| match instance {
            StoredInstance::Entity(entity) if entity.header().guid() == guid => {
                Some(entity.clone())
            }
            _ => None,
        }))
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        Ok(self.all.iter().find_map(|instance| match instance {
            StoredInstance::Relationship(of) if of.header.guid() == guid => Some(of.clone()),
            _ => None,
        }))
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        for instance in &self.all {
            let StoredInstance::Relationship(found) = instance else {
                continue;
            };
            let index = self.types.by_name(found.header.audit.type_name());
            if found.ends.iter().any(|end| end == entity)
                && of.is_none_or(|of| self.types.is_a(index.unwrap(), of))
                && visit(found.clone())?.is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        assert!(self.can_walk(walk), "{walk:?} is not served");
        let start = walk.after.map_or(0, |after| {
            u32::from_be_bytes(after.try_into().unwrap()) as usize + 1
        });
        for (at, instance) in self.shown(walk).into_iter().enumerate().skip(start) {
            self.steps.set(self.steps.get() + 1);
            let alike = known_start(&walk.by, instance);
            let step = Step {
                place: &(at as u32).to_be_bytes(),
                alike: alike.as_deref().map(str::as_bytes),
                instance,
            };
            if visit(step)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        let ordered = matches!(walk.by, WalkBy::Guid | WalkBy::Property(_))
            || listing(&walk.by) != Listing::Guid;
        let is_unknown = matches!(walk.by, WalkBy::Status(_, Listing::UpdateTime));
        !is_unknown && (ordered || !walk.reverse) && self.serves(&walk.by)
    }

    fn state(&self) -> Option<u64> {
        self.state
    }

    fn texts(&self) -> Option<usize> {
        let is_known = self.serves(&WalkBy::Text("")) && self.serves(&WalkBy::TextStarts(""));
        is_known.then_some(self.all.len())
    }

    /// Of texts that begin with `n`, that only.
    fn matching_texts(
        &self,
        matches: TestText<'_>,
        most: usize,
    ) -> Result<Option<Vec<TextHint>>, OmrsError> {
        let found = RefCell::new(BTreeSet::new());
        let (matches, failed) = (RefCell::new(matches), RefCell::new(None));
        let note = |text: &str| {
            if text.starts_with('n') {
                found.borrow_mut().insert(("n".to_owned(), false));
            } else {
                match (*matches.borrow_mut())(text) {
                    Ok(true) => {
                        found.borrow_mut().insert((text.to_owned(), true));
                    }
                    Ok(false) => {}
                    Err(error) => *failed.borrow_mut() = Some(error),
                }
            }
            failed.borrow().is_some()
        };
        for instance in &self.all {
            has_text(Target::from(instance).properties(), &note);
            if let Some(error) = failed.take() {
                return Err(error);
            }
        }
        let hint = |(text, is_whole)| match is_whole {
            true => TextHint::Is(text),
            false => TextHint::Starts(text),
        };
        let found = found.into_inner();
        Ok((found.len() <= most).then(|| found.into_iter().map(hint).collect()))
    }
}
