//! Random lists of operations on the store and on lists of whole states: every walk, read and history is the same, now and
//! as of then, before and after a restart.

use std::collections::BTreeMap;

use varve_omrs::instances::*;
use varve_omrs::json::{Encode, Millis, Shared, encode};
use varve_omrs::matching::Facts;
use varve_omrs::store::*;
use varve_omrs::types::{AttributeTypeKind, InstanceStatus, PrimitiveDefCategory, TypeIndex};

use crate::world::*;

/// SplitMix64: small, seeded, good enough to draw operations.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// States by GUID, oldest first; `None` = there is none from then on.
type Histories<T> = BTreeMap<String, Vec<(Millis, Option<T>)>>;

#[derive(Default)]
struct Model {
    entities: Histories<StoredEntity>,
    relationships: Histories<StoredRelationship>,
}

fn at_time<T>(states: &[(Millis, Option<T>)], at: Option<Millis>) -> Option<&T> {
    let mut states = states.iter().rev();
    let found = states.find(|(from, _)| at.is_none_or(|at| *from <= at));
    found.and_then(|(_, state)| state.as_ref())
}

fn put<T>(histories: &mut Histories<T>, guid: &str, state: T, from: Millis, since: bool) {
    let states = histories.entry(guid.to_owned()).or_default();
    if since {
        states.retain(|(earlier, _)| *earlier < from);
    }
    states.push((from, Some(state)));
}

const TYPES: [&str; 8] = [
    "Referenceable",
    "Asset",
    "Database",
    "DataFile",
    "Person",
    "GlossaryTerm",
    "GlossaryCategory",
    "OpenMetadataRoot",
];
const LINKS: [&str; 3] = [
    "SemanticAssignment",
    "DataContentForDataSet",
    "TermCategorization",
];
const WORDS: [&str; 6] = ["", "one", "two", "once\0more", "tw", "Zürich"];
const NAMES: [&str; 5] = [
    "name",
    "qualifiedName",
    "versionNumber",
    "createTime",
    "confidence",
];

struct Run {
    world: World,
    model: Model,
    random: Random,
    guids: u64,
}

impl Run {
    fn new(seed: u64) -> Self {
        Self {
            world: World::new(),
            model: Model::default(),
            random: Random(seed),
            guids: 0,
        }
    }

    fn guid(&mut self) -> String {
        self.guids += 1;
        match self.random.below(8) {
            0 => format!("{}-{}", "long".repeat(40), self.guids),
            1 => format!("Ä\0{}", self.guids),
            _ => format!("g{}", self.guids),
        }
    }

    fn known<T>(histories: &Histories<T>, random: &mut Random) -> Option<String> {
        let alive: Vec<&String> = histories
            .iter()
            .filter(|(_, states)| at_time(states, None).is_some())
            .map(|(guid, _)| guid)
            .collect();
        (!alive.is_empty()).then(|| random.of(&alive).clone())
    }

    fn primitive(&mut self, category: PrimitiveDefCategory) -> Primitive {
        use PrimitiveDefCategory as Of;
        let number = self.random.below(5) as i32 - 2;
        match category {
            Of::Boolean => Primitive::Boolean(number > 0),
            Of::Byte => Primitive::Byte(number as i8),
            Of::Short => Primitive::Short(number as i16),
            Of::Int => Primitive::Int(number),
            Of::Long => Primitive::Long(i64::from(number)),
            Of::Date => Primitive::Date(Millis(i64::from(number))),
            Of::Float => Primitive::Float(number as f32 / 2.0),
            Of::Double => Primitive::Double(f64::from(number) / 2.0),
            Of::Char => Primitive::Char('c'),
            Of::BigInteger => {
                Primitive::BigInteger(BigInteger::from_text(&number.to_string()).unwrap())
            }
            Of::BigDecimal => {
                Primitive::BigDecimal(BigDecimal::from_text(&format!("{number}.50")).unwrap())
            }
            _ => text(self.random.of(&WORDS)),
        }
    }

    fn properties(&mut self, of: TypeIndex) -> Option<InstanceProperties> {
        if self.random.below(8) == 0 {
            return None;
        }
        let types = self.world.types.clone();
        let mut made = InstanceProperties {
            header_version: Some(1),
            ..InstanceProperties::default()
        };
        for property in types.get(of).properties() {
            let def = property.attribute.type_def().unwrap();
            let value = match &def.kind {
                _ if self.random.below(2) == 0 => continue,
                AttributeTypeKind::Primitive(kind) => {
                    InstancePropertyValue::primitive(self.primitive(kind.category.unwrap()))
                }
                AttributeTypeKind::Enum(_) => InstancePropertyValue::Enum(EnumPropertyValue {
                    ordinal: 0,
                    ..EnumPropertyValue::default()
                }),
                AttributeTypeKind::Collection(_) if def.name() == "map<string,string>" => {
                    let word = InstancePropertyValue::primitive(text(self.random.of(&WORDS)));
                    let values = InstanceProperties::default().with("k", word);
                    InstancePropertyValue::Map(MapPropertyValue {
                        values: Some(values),
                        ..MapPropertyValue::default()
                    })
                }
                AttributeTypeKind::Collection(_) => continue,
            };
            made.values
                .insert(property.attribute.name().to_owned(), value);
        }
        let made = varve_omrs::validate::completed_properties(&types, of, made);
        Some(made.expect("valid properties"))
    }

    fn new_entity(&mut self) -> StoredEntity {
        let name = self.random.of(&TYPES);
        let of = self.world.types.by_name(name).unwrap();
        let guid = self.guid();
        let mut header = self.world.header(name, &guid);
        header.audit.metadata_collection_id = Some(self.random.of(&["home", "away"]).to_owned());
        if self.random.below(10) == 0 {
            // A copy from a repository whose clock is ahead.
            let now = self.world.store.now().0;
            header.audit.create_time = Some(Millis(now + self.random.below(40) as i64 - 20));
        }
        let properties = self.properties(of);
        if self.random.below(6) == 0 {
            return StoredEntity::Proxy(EntityProxy {
                header,
                classifications: Shared::default(),
                unique_properties: properties,
            });
        }
        StoredEntity::Detail(EntityDetail {
            header,
            classifications: Shared::default(),
            properties,
        })
    }

    fn put_entity(&mut self, entity: StoredEntity, since: Option<Millis>) {
        let guid = entity.header().guid().to_owned();
        let mut now = Millis(0);
        let hints = [guid.as_str()];
        let hints = &hints[..self.random.below(2)];
        let stored = self.world.store.transact(hints, &mut |transaction| {
            now = transaction.now();
            let _ = transaction.entity(&guid)?;
            transaction.put_entity(entity.clone(), since)?;
            assert_eq!(transaction.entity(&guid)?.as_ref(), Some(&entity));
            Ok(())
        });
        stored.expect("stored");
        let from = since.unwrap_or(now);
        put(
            &mut self.model.entities,
            &guid,
            entity,
            from,
            since.is_some(),
        );
    }

    fn change_entity(&mut self, since: Option<Millis>) {
        let Some(guid) = Self::known(&self.model.entities, &mut self.random) else {
            return;
        };
        let mut entity = at_time(&self.model.entities[&guid], None).unwrap().clone();
        let now = self.world.store.now();
        let audit = &mut entity.header_mut().audit;
        audit.version += 1;
        audit.update_time = Some(now);
        match self.random.below(4) {
            0 => {
                audit.status = Some(match audit.status {
                    Some(InstanceStatus::Deleted) => InstanceStatus::Active,
                    _ => InstanceStatus::Deleted,
                });
            }
            1 => {
                let name = self.random.of(&["Confidentiality", "Retention"]);
                let before = entity.classifications().len();
                entity.classifications_mut().retain(|of| of.name() != name);
                if entity.classifications().len() == before {
                    let audit = self.world.header(name, "").audit;
                    let of = self.world.types.by_name(name).unwrap();
                    let properties = self.properties(of);
                    entity.classifications_mut().push(Classification {
                        audit,
                        name: Some(name.to_owned()),
                        origin: Some(ClassificationOrigin::Assigned),
                        properties,
                        ..Classification::default()
                    });
                }
            }
            changed => {
                let mut name = audit.type_name().to_owned();
                if changed == 2 {
                    name = self.random.of(&TYPES).to_owned();
                }
                let of = self.world.types.by_name(&name).unwrap();
                audit.instance_type = Some(self.world.types.get(of).instance_type().clone());
                let made = self.properties(of);
                match &mut entity {
                    StoredEntity::Detail(entity) => entity.properties = made,
                    StoredEntity::Proxy(entity) => entity.unique_properties = made,
                }
            }
        }
        self.put_entity(entity, since);
    }

    fn purge_entity(&mut self) {
        let Some(guid) = Self::known(&self.model.entities, &mut self.random) else {
            return;
        };
        let purged = self.world.store.transact(&[&guid], &mut |transaction| {
            transaction.purge_entity(&guid)?;
            assert!(transaction.entity(&guid)?.is_none());
            Ok(())
        });
        purged.expect("purged");
        self.model.entities.remove(&guid);
        let touches = |state: &StoredRelationship| state.ends.contains(&guid);
        self.model.relationships.retain(|_, states| {
            let now = at_time(states, None);
            if now.is_some_and(touches) {
                return false;
            }
            for (_, state) in states.iter_mut() {
                if state.as_ref().is_some_and(touches) {
                    *state = None;
                }
            }
            true
        });
    }

    fn put_relationship(&mut self) {
        let mut ends = Vec::new();
        for _ in 0..2 {
            ends.extend(Self::known(&self.model.entities, &mut self.random));
        }
        let Ok(ends) = <[String; 2]>::try_from(ends) else {
            return;
        };
        let known = Self::known(&self.model.relationships, &mut self.random);
        let relationship = match known.filter(|_| self.random.below(2) == 0) {
            Some(guid) => {
                let mut old = at_time(&self.model.relationships[&guid], None)
                    .unwrap()
                    .clone();
                old.header.audit.version += 1;
                old.header.audit.update_time = Some(self.world.store.now());
                if self.random.below(2) == 0 {
                    old.ends = ends;
                }
                let of = self
                    .world
                    .types
                    .by_name(old.header.audit.type_name())
                    .unwrap();
                old.properties = self.properties(of);
                old
            }
            None => {
                let (guid, name) = (self.guid(), self.random.of(&LINKS));
                let of = self.world.types.by_name(name).unwrap();
                StoredRelationship {
                    header: self.world.header(name, &guid),
                    properties: self.properties(of),
                    ends,
                }
            }
        };
        let guid = relationship.header.guid().to_owned();
        let mut now = Millis(0);
        let stored = self.world.store.transact(&[], &mut |transaction| {
            now = transaction.now();
            transaction.put_relationship(relationship.clone(), None)?;
            assert_eq!(
                transaction.relationship(&guid)?.as_ref(),
                Some(&relationship)
            );
            Ok(())
        });
        stored.expect("stored");
        put(
            &mut self.model.relationships,
            &guid,
            relationship,
            now,
            false,
        );
    }

    fn purge_relationship(&mut self) {
        if let Some(guid) = Self::known(&self.model.relationships, &mut self.random) {
            let purged = self.world.store.transact(&[], &mut |transaction| {
                transaction.purge_relationship(&guid)
            });
            purged.expect("purged");
            self.model.relationships.remove(&guid);
        }
    }

    fn step(&mut self) {
        let micros = self.random.of(&[0, 0, 1, 400, 1_000, 7_000, -3_000]);
        self.world.clock.advance(micros);
        match self.random.below(20) {
            0..7 => {
                let entity = self.new_entity();
                self.put_entity(entity, None);
            }
            7..12 => self.change_entity(None),
            12 => {
                let back = self.random.below(20) as i64;
                let since = Millis(self.world.store.now().0 - back);
                self.change_entity(Some(since));
            }
            13 => self.purge_entity(),
            14 => self.purge_relationship(),
            _ => self.put_relationship(),
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

    fn compare_walk(&mut self, at: Option<Millis>) {
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
            9 => WalkBy::Status(InstanceStatus::Deleted, listing),
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
            WalkBy::Status(status, _) => header.audit.status == Some(*status),
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

    fn compare_all(&mut self) {
        let mut times: Vec<Millis> = Vec::new();
        for states in self.model.entities.values() {
            times.extend(states.iter().map(|(from, _)| *from));
        }
        let now = self.world.store.now();
        for _ in 0..60 {
            let at = match self.random.below(3) {
                0 => None,
                1 => Some(Millis(now.0 - self.random.below(50) as i64)),
                _ => Some(
                    times
                        .get(self.random.below(times.len().max(1)))
                        .copied()
                        .unwrap_or(now),
                ),
            };
            self.compare_walk(at);
            self.compare_reads(at);
        }
        for (guid, states) in &self.model.entities {
            let history = self.world.store.entity_history(guid).expect("read");
            let told: Vec<_> = history
                .into_iter()
                .map(|version| (version.from, Some(version.state)))
                .collect();
            assert_eq!(&told, states, "{guid}");
            let asked: Vec<Millis> = (0..5)
                .filter_map(|_| times.get(self.random.below(times.len().max(1))).copied())
                .chain([now])
                .collect();
            let found = self.world.store.proxies_at(guid, &asked).expect("read");
            for (at, found) in asked.iter().zip(found) {
                let expected = at_time(states, Some(*at)).cloned();
                let expected = expected.map(|of| ToldEntity::new(&self.world.types, of));
                let expected = expected.as_ref().map(|of| json(of.proxy()));
                assert_eq!(found.as_ref().map(json), expected, "{guid} at {at:?}");
            }
        }
        for (guid, states) in &self.model.relationships {
            let history = self.world.store.relationship_history(guid).expect("read");
            let told: Vec<_> = history
                .into_iter()
                .map(|version| (version.from, Some(version.state)))
                .collect();
            let states: Vec<_> = states
                .iter()
                .filter(|(_, state)| state.is_some())
                .cloned()
                .collect();
            assert_eq!(told, states, "{guid}");
        }
    }

    fn compare_reads(&self, at: Option<Millis>) {
        let reader = self.world.reader(at);
        for (guid, states) in &self.model.entities {
            let found = reader.entity(guid).expect("read");
            assert_eq!(found.as_ref(), at_time(states, at), "{guid} at {at:?}");
            let mut ends: Vec<String> = Vec::new();
            let visited = reader.relationships_of(guid, None, &mut |found| {
                ends.push(found.header.guid().to_owned());
                Ok(std::ops::ControlFlow::Continue(()))
            });
            visited.expect("read");
            compare_links(&*reader, guid);
            ends.sort();
            let states = self.model.relationships.iter();
            let expected: Vec<&String> = states
                .filter(|(_, states)| at_time(states, at).is_some_and(|of| of.ends.contains(guid)))
                .map(|(guid, _)| guid)
                .collect();
            assert_eq!(
                ends.iter().collect::<Vec<_>>(),
                expected,
                "{guid} at {at:?}"
            );
        }
        for (guid, states) in &self.model.relationships {
            let found = reader.relationship(guid).expect("read");
            assert_eq!(found.as_ref(), at_time(states, at), "{guid} at {at:?}");
        }
        let guids = self.model.entities.keys().map(String::as_str);
        compare_proxies(&*reader, &guids.chain(["other"]).collect::<Vec<_>>());
        let entities = self.model.entities.iter();
        let entities: Vec<_> = entities
            .map(|(guid, states)| {
                (
                    guid,
                    at_time(states, at).cloned().map(StoredInstance::Entity),
                )
            })
            .collect();
        let relationships = self.model.relationships.iter();
        let relationships: Vec<_> = relationships
            .map(|(guid, states)| {
                let found = at_time(states, at).cloned();
                (guid, found.map(StoredInstance::Relationship))
            })
            .collect();
        for (subject, all) in [
            (Subject::Entities, &entities),
            (Subject::Relationships, &relationships),
        ] {
            let all: Vec<_> = all.iter().map(|(guid, of)| (*guid, of.as_ref())).collect();
            compare_kept(&*reader, subject, &all);
        }
    }
}

/// What is read of an entity and its relationships to pass them by is what they say themselves.
fn compare_links(reader: &dyn Read, guid: &str) {
    use std::ops::ControlFlow::Continue;
    let mut whole = Vec::new();
    let read = reader.relationships_of(guid, None, &mut |found| {
        whole.push(found);
        Ok(Continue(()))
    });
    read.expect("read");
    let (mut links, mut told_links) = (Vec::new(), Vec::new());
    let read = reader.links_of(guid, &mut |link, content| {
        let told = reader.told_link(&link, content.expect("it has a row"));
        told_links.push(told.expect("told"));
        links.push(link);
        Ok(Continue(()))
    });
    read.expect("read");
    for (link, told) in links.iter().zip(told_links) {
        let again = reader.told_relationship(link).expect("read");
        assert_eq!(
            format!("{told:?}"),
            format!("{:?}", again.expect("it was shown"))
        );
    }
    let mut of_each = vec![Vec::new(); 3];
    let read = reader.links_of_each(&[guid, "other", guid], &mut |at, link, content| {
        assert!(content.is_some());
        of_each[at].push(link);
        Ok(Continue(()))
    });
    read.expect("read");
    assert_eq!(of_each, [links.clone(), Vec::new(), links.clone()]);
    let types = reader.types();
    let link = |of: &StoredRelationship| Link::of(&types, of);
    assert_eq!(links, whole.iter().map(link).collect::<Vec<_>>());
    let known = |guid: &str| guid.len().is_multiple_of(2) || guid.ends_with('1');
    let mut others = Vec::new();
    let read = reader.told_relationships_of(guid, None, &known, &mut |found| {
        others.push(found);
        Ok(Continue(()))
    });
    read.expect("read");
    whole.retain(|of| !known(of.header.guid()));
    assert_eq!(others.len(), whole.len());
    for (told, whole) in others.into_iter().zip(whole) {
        let again = reader.told_relationship(&told.link).expect("read");
        let again = again.expect("it was shown");
        let ends = whole.ends.each_ref().map(|end| {
            let entity = reader.entity(end).expect("read").expect("an end");
            let made = ToldEntity::new(&types, entity);
            let told = reader.told_entity(end).expect("read").expect("an end");
            compare_told(&told, &made);
            let proxy = reader.told_proxy(end).expect("read").expect("an end");
            assert_eq!(json(&proxy), json(told.proxy()));
            [told.proxy().clone(), made.proxy().clone()]
        });
        let [[one, made_one], [two, made_two]] = &ends;
        let made = ToldRelationship::new(&types, whole).between([made_one, made_two]);
        for told in [told, again] {
            let told = told.between([one, two]);
            assert_eq!(json(&told), json(&made));
            assert_eq!(told, made);
        }
    }
    let standing = reader.entity(guid).expect("read").map(|of| Standing {
        is_proxy: matches!(of, StoredEntity::Proxy(_)),
        status: of.header().audit.status,
    });
    assert_eq!(reader.standing(guid).expect("read"), standing);
    let glance = reader.glance(guid).expect("read");
    assert_eq!(glance.as_ref().map(|(standing, _)| *standing), standing);
    if let Some((_, row)) = glance {
        let kept = reader.told_kept(&row.expect("it has a row")).expect("told");
        let told = reader.told_entity(guid).expect("read").expect("an entity");
        compare_told(&kept, &told);
    }
}

/// What searches keep of instances is told as the instances are.
fn compare_kept(reader: &dyn Read, subject: Subject, found: &[(&String, Option<&StoredInstance>)]) {
    let told = |kept: Kept| match subject {
        Subject::Entities => kept.entity(reader).expect("told").map(|it| json(&it)),
        Subject::Relationships => {
            let told = kept.relationship(reader).expect("told");
            told.map(|it| json(&it.between([&Shared::default(), &Shared::default()])))
        }
    };
    for (guid, instance) in found {
        let kept = reader.kept(subject, guid).expect("read");
        assert_eq!(kept.is_some(), instance.is_some(), "{guid}");
        if let (Some(kept), Some(instance)) = (kept, instance) {
            assert_eq!(kept.guid(), *guid);
            assert_eq!(told(kept), told(instance.keep()), "{guid}");
        }
    }
    let walk = all(subject, WalkBy::Guid);
    let walked = reader.walk(&walk, &mut |step| {
        let (_, instance) = found
            .iter()
            .find(|(guid, _)| *guid == step.instance.guid())
            .expect("one of them");
        let instance = instance.expect("it is there");
        assert_eq!(step.instance.standing(), instance.standing());
        assert_eq!(step.instance.audit(), instance.audit());
        assert_eq!(step.instance.properties(), instance.properties());
        assert_eq!(told(step.instance.keep()), told(instance.keep()));
        Ok(std::ops::ControlFlow::Continue(()))
    });
    walked.expect("a walk");
}

/// What stands for entities is the same whether they are read one by one or at once.
fn compare_proxies(reader: &dyn Read, guids: &[&str]) {
    let mut at_once = vec![None; guids.len()];
    let read = reader.told_proxies(guids, &mut |at, proxy| {
        let former = at_once[at].replace(json(&proxy));
        assert!(former.is_none());
    });
    read.expect("read");
    for (guid, proxy) in guids.iter().zip(at_once) {
        let alone = reader.told_proxy(guid).expect("read");
        assert_eq!(proxy, alone.as_ref().map(json), "{guid}");
    }
}

fn json<T: Encode>(of: &T) -> String {
    String::from_utf8(encode(of)).expect("JSON is text")
}

/// What is told straight from what is stored is what the object tells.
fn compare_told(told: &ToldEntity, made: &ToldEntity) {
    assert_eq!(told.guid(), made.guid());
    assert_eq!(told.of(), made.of());
    assert_eq!(told.standing(), made.standing());
    assert_eq!(json(told.proxy()), json(made.proxy()));
    assert_eq!(told.proxy(), made.proxy());
    assert_eq!(told.detail().map(json), made.detail().map(json));
    assert_eq!(told.detail(), made.detail());
}

/// What values stand in the order of.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Missing,
    Bool(bool),
    Whole(i64),
    Real(i64),
    Text(String),
    Big(i64),
}

fn order(by: &WalkBy<'_>, instance: &StoredInstance) -> Order {
    let time = |time: Option<Millis>| time.map_or(Order::Missing, |time| Order::Whole(time.0));
    let audit = &header_of(instance).audit;
    match by {
        WalkBy::CreateTime
        | WalkBy::Classified(_, Listing::CreateTime)
        | WalkBy::Live(Listing::CreateTime)
        | WalkBy::Status(_, Listing::CreateTime) => time(audit.create_time),
        WalkBy::UpdateTime
        | WalkBy::Classified(_, Listing::UpdateTime)
        | WalkBy::Live(Listing::UpdateTime)
        | WalkBy::Status(_, Listing::UpdateTime) => time(audit.update_time),
        WalkBy::Property(name) | WalkBy::PropertyIs(name, _) | WalkBy::PropertyStarts(name, _) => {
            match value_of(instance, name) {
                None => Order::Missing,
                Some(Primitive::Boolean(flag)) => Order::Bool(flag),
                Some(Primitive::Byte(number)) => Order::Whole(number.into()),
                Some(Primitive::Short(number)) => Order::Whole(number.into()),
                Some(Primitive::Int(number)) => Order::Whole(number.into()),
                Some(Primitive::Long(number)) => Order::Whole(number),
                Some(Primitive::Date(time)) => Order::Whole(time.0),
                Some(Primitive::Float(number)) => Order::Real((number * 10.0) as i64),
                Some(Primitive::Double(number)) => Order::Real((number * 10.0) as i64),
                Some(Primitive::Char(character)) => Order::Text(character.to_string()),
                Some(Primitive::String(text)) => Order::Text(text),
                Some(Primitive::BigInteger(number)) => {
                    Order::Big(number.text().parse::<i64>().unwrap() * 100)
                }
                Some(Primitive::BigDecimal(number)) => {
                    Order::Big((number.text().parse::<f64>().unwrap() * 100.0) as i64)
                }
                Some(Primitive::Object(_)) => Order::Missing,
            }
        }
        _ => Order::Missing,
    }
}

fn carried_by(instance: &StoredInstance) -> &[Classification] {
    match instance {
        StoredInstance::Entity(entity) => entity.classifications(),
        StoredInstance::Relationship(_) => &[],
    }
}

fn header_of(instance: &StoredInstance) -> &InstanceHeader {
    match instance {
        StoredInstance::Entity(entity) => entity.header(),
        StoredInstance::Relationship(relationship) => &relationship.header,
    }
}

fn properties_of(instance: &StoredInstance) -> Option<&InstanceProperties> {
    match instance {
        StoredInstance::Entity(entity) => entity.properties(),
        StoredInstance::Relationship(relationship) => relationship.properties.as_ref(),
    }
}

fn value_of(instance: &StoredInstance, name: &str) -> Option<Primitive> {
    match properties_of(instance)?.get(name)? {
        InstancePropertyValue::Primitive(value) => value.value.clone(),
        InstancePropertyValue::Enum(value) => value.symbolic_name.clone().map(Primitive::String),
        _ => None,
    }
}

fn texts(properties: Option<&InstanceProperties>) -> Vec<String> {
    let mut all = Vec::new();
    for value in properties
        .iter()
        .flat_map(|properties| properties.values.values())
    {
        match value {
            InstancePropertyValue::Primitive(value) => {
                if let Some(Primitive::String(text)) = &value.value {
                    all.push(text.clone());
                }
            }
            InstancePropertyValue::Enum(value) => all.extend(value.symbolic_name.clone()),
            InstancePropertyValue::Map(value) => all.extend(texts(value.values.as_ref())),
            _ => {}
        }
    }
    all
}

#[test]
fn the_store_is_lists_of_states() {
    let seeds = std::env::var("VARVE_MODEL_SEEDS").map_or(3, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        let mut run = Run::new(seed);
        for step in 1..=240 {
            run.step();
            if step % 60 == 0 {
                run.compare_all();
            }
        }
        run.world.verify();
        run.world.restart();
        run.compare_all();
        run.world.verify();
    }
}
