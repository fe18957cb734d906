//! A store for tests: lists of whole states, every one looked at.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use varve_omrs::OmrsError;
use varve_omrs::instances::{EntityDetail, InstanceHeader};
use varve_omrs::json::Millis;
use varve_omrs::store::{
    Listing, Read, Step, Store, StoredEntity, StoredInstance, StoredRelationship, Subject,
    Transaction, Version, Visit, Walk, WalkBy,
};
use varve_omrs::types::{Catalogue, TypeIndex};

/// States by GUID, oldest first.
type Histories<T> = BTreeMap<String, Vec<(Millis, T)>>;

#[derive(Clone, Default)]
struct RepositoryRows {
    entities: Histories<StoredEntity>,
    relationships: Histories<StoredRelationship>,
}

type Meanwhile = Box<dyn FnOnce() -> Result<(), OmrsError> + Send>;
type Keeping = Box<dyn FnMut(&str) -> Result<(), OmrsError> + Send>;

/// The store. Its clock goes on by a millisecond with each transaction, unless it stands.
pub(crate) struct MemoryStore {
    state: Mutex<RepositoryRows>,
    notes: Mutex<HashMap<String, Vec<u8>>>,
    types: Mutex<Arc<Catalogue>>,
    clock: AtomicI64,
    tick: AtomicI64,
    /// How often the next transactions are to be run before they are committed.
    conflicts: AtomicI64,
    /// What happens while it brings what it keeps into line with other types, one time after the
    /// other.
    meanwhile: Mutex<VecDeque<Meanwhile>>,
    /// Called with each note before it is kept, which it may refuse.
    keeping: Mutex<Option<Keeping>>,
}

impl MemoryStore {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            notes: Mutex::default(),
            types: Mutex::new(Arc::new(Catalogue::empty())),
            clock: AtomicI64::new(1_700_000_000_000),
            tick: AtomicI64::new(1),
            conflicts: AtomicI64::new(0),
            meanwhile: Mutex::default(),
            keeping: Mutex::default(),
        })
    }

    /// Lets all that follows happen in the same millisecond.
    pub(crate) fn stop_clock(&self) {
        self.tick.store(0, Ordering::Relaxed);
    }

    /// Makes each transaction run so many times more before it is committed.
    pub(crate) fn conflict(&self, times: i64) {
        self.conflicts.store(times, Ordering::Relaxed);
    }

    /// Makes the next change of the types take as long as `work`, and fail with it; called again,
    /// the one after it.
    pub(crate) fn while_types_change(
        &self,
        work: impl FnOnce() -> Result<(), OmrsError> + Send + 'static,
    ) {
        self.meanwhile.lock().unwrap().push_back(Box::new(work));
    }

    /// Calls `test` with the name of each note before it is kept.
    pub(crate) fn before_notes(
        &self,
        test: impl FnMut(&str) -> Result<(), OmrsError> + Send + 'static,
    ) {
        *self.keeping.lock().unwrap() = Some(Box::new(test));
    }

    fn at(&self, at: Option<Millis>) -> At {
        At {
            state: self.state.lock().unwrap().clone(),
            at,
            now: self.now(),
            types: self.types.lock().unwrap().clone(),
        }
    }
}

struct At {
    state: RepositoryRows,
    at: Option<Millis>,
    now: Millis,
    types: Arc<Catalogue>,
}

impl At {
    fn latest<'a, T>(&self, states: &'a [(Millis, T)]) -> Option<&'a T> {
        let mut states = states.iter().rev();
        let found = states.find(|(from, _)| self.at.is_none_or(|at| *from <= at));
        found.map(|(_, state)| state)
    }

    fn is_of(&self, header: &InstanceHeader, of: Option<TypeIndex>) -> bool {
        let name = header.audit.type_name();
        of.is_none_or(|of| {
            let index = self.types.by_name(name).unwrap();
            self.types.is_a(index, of)
        })
    }
}

impl Read for At {
    fn types(&self) -> Arc<Catalogue> {
        Arc::clone(&self.types)
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        let states = self.state.entities.get(guid);
        Ok(states.and_then(|states| self.latest(states)).cloned())
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        let states = self.state.relationships.get(guid);
        Ok(states.and_then(|states| self.latest(states)).cloned())
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        for states in self.state.relationships.values() {
            if let Some(found) = self.latest(states)
                && found.ends.iter().any(|end| end == entity)
                && self.is_of(&found.header, of)
                && visit(found.clone())?.is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        assert!(self.can_walk(walk), "the double walks by GUID only");
        let entities = self.state.entities.iter();
        let entities = entities.filter_map(|(guid, states)| {
            let found = self.latest(states)?.clone();
            Some((guid, StoredInstance::Entity(found)))
        });
        let relationships = self.state.relationships.iter();
        let relationships = relationships.filter_map(|(guid, states)| {
            let found = self.latest(states)?.clone();
            Some((guid, StoredInstance::Relationship(found)))
        });
        let all: Vec<_> = match walk.subject {
            Subject::Entities => entities.collect(),
            Subject::Relationships => relationships.collect(),
        };
        for (guid, instance) in all {
            let (header, carries) = match &instance {
                StoredInstance::Entity(entity) => {
                    let names = entity.classifications().iter();
                    let carries = match walk.by {
                        WalkBy::Classified(wanted, _) => names
                            .clone()
                            .any(|of| wanted.iter().any(|name| name == of.name())),
                        _ => true,
                    };
                    (entity.header(), carries)
                }
                StoredInstance::Relationship(relationship) => (&relationship.header, true),
            };
            let place = guid.as_bytes();
            let is_later = walk.after.is_none_or(|after| place > after);
            if is_later
                && carries
                && self.is_of(header, walk.of)
                && visit(Step {
                    place,
                    alike: None,
                    instance: &instance,
                })?
                .is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        !walk.reverse && matches!(walk.by, WalkBy::Guid | WalkBy::Classified(_, Listing::Guid))
    }
}

fn earlier<T>(
    states: Option<&Vec<(Millis, T)>>,
    version: i64,
    of: impl Fn(&T) -> &InstanceHeader,
) -> Option<&T> {
    let mut states = states?.iter().rev().map(|(_, state)| state);
    states.find(|state| {
        let audit = &of(state).audit;
        audit.version < version && !audit.is_deleted()
    })
}

fn put<T>(histories: &mut Histories<T>, guid: &str, state: T, from: Millis) {
    let states = histories.entry(guid.to_owned()).or_default();
    states.retain(|(earlier, _)| *earlier <= from);
    states.push((from, state));
}

impl Transaction for At {
    fn now(&self) -> Millis {
        self.now
    }

    fn earlier_entity(&self, guid: &str, version: i64) -> Result<Option<EntityDetail>, OmrsError> {
        let states = self.state.entities.get(guid);
        let found = earlier(states, version, StoredEntity::header);
        Ok(found.and_then(|found| match found {
            StoredEntity::Detail(entity) => Some(entity.clone()),
            StoredEntity::Proxy(_) => None,
        }))
    }

    fn earlier_relationship(
        &self,
        guid: &str,
        version: i64,
    ) -> Result<Option<StoredRelationship>, OmrsError> {
        let states = self.state.relationships.get(guid);
        Ok(earlier(states, version, |state| &state.header).cloned())
    }

    fn entity_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError> {
        let states = self.state.entities.get(guid);
        Ok(states.and_then(|states| states.last()).map(|last| last.0))
    }

    fn relationship_start(&self, guid: &str) -> Result<Option<Millis>, OmrsError> {
        let states = self.state.relationships.get(guid);
        Ok(states.and_then(|states| states.last()).map(|last| last.0))
    }

    fn put_entity(&mut self, entity: StoredEntity, since: Option<Millis>) -> Result<(), OmrsError> {
        let guid = entity.header().guid().to_owned();
        assert!(!guid.is_empty() && since.is_none_or(|since| since <= self.now));
        self.types
            .by_name(entity.header().audit.type_name())
            .unwrap();
        let from = since.unwrap_or(self.now);
        put(&mut self.state.entities, &guid, entity, from);
        Ok(())
    }

    fn put_relationship(
        &mut self,
        relationship: StoredRelationship,
        since: Option<Millis>,
    ) -> Result<(), OmrsError> {
        let guid = relationship.header.guid().to_owned();
        assert!(!guid.is_empty() && since.is_none_or(|since| since <= self.now));
        for end in &relationship.ends {
            let states = &self.state.entities[end];
            assert!(
                since.is_none_or(|since| states[0].0 <= since),
                "an end comes later"
            );
        }
        let from = since.unwrap_or(self.now);
        put(&mut self.state.relationships, &guid, relationship, from);
        Ok(())
    }

    fn purge_entity(&mut self, guid: &str) -> Result<(), OmrsError> {
        self.state.entities.remove(guid);
        self.state.relationships.retain(|_, states| {
            let mut ends = states.iter().flat_map(|(_, state)| &state.ends);
            !ends.any(|end| end == guid)
        });
        Ok(())
    }

    fn purge_relationship(&mut self, guid: &str) -> Result<(), OmrsError> {
        self.state.relationships.remove(guid);
        Ok(())
    }
}

fn history<T: Clone>(states: Option<&Vec<(Millis, T)>>) -> Vec<Version<T>> {
    let states = states.map_or(&[][..], Vec::as_slice);
    let ends = states.iter().skip(1).map(|(from, _)| Some(*from));
    let versions = states.iter().zip(ends.chain([None]));
    versions
        .map(|((from, state), to)| Version {
            from: *from,
            to,
            state: state.clone(),
        })
        .collect()
}

impl Store for MemoryStore {
    fn now(&self) -> Millis {
        Millis(self.clock.load(Ordering::Relaxed))
    }

    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError> {
        Ok(Box::new(Self::at(self, at)))
    }

    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        Ok(history(self.at(None).state.entities.get(guid)))
    }

    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        Ok(history(self.at(None).state.relationships.get(guid)))
    }

    fn has_ever(&self, of: TypeIndex) -> Result<bool, OmrsError> {
        let all = self.at(None);
        let name = all.types.get(of).name();
        let is_of = |header: &InstanceHeader| {
            let own = all.types.by_name(header.audit.type_name()).unwrap();
            all.types.is_a(own, of)
        };
        let entities = all.state.entities.values().flatten();
        let mut entities = entities.map(|(_, state)| state);
        let relationships = all.state.relationships.values().flatten();
        let mut relationships = relationships.map(|(_, state)| state);
        Ok(entities.any(|state| {
            let mut carried = state.classifications().iter();
            is_of(state.header()) || carried.any(|carried| carried.name() == name)
        }) || relationships.any(|state| is_of(&state.header)))
    }

    fn transact(
        &self,
        _guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError> {
        let tick = self.tick.load(Ordering::Relaxed);
        self.clock.fetch_add(tick, Ordering::Relaxed);
        for _ in 0..self.conflicts.load(Ordering::Relaxed) {
            work(&mut self.at(None))?;
        }
        let mut transaction = self.at(None);
        work(&mut transaction)?;
        *self.state.lock().unwrap() = transaction.state;
        Ok(())
    }

    fn begin_types(&self, _types: Arc<Catalogue>) -> Result<bool, OmrsError> {
        Ok(!self.meanwhile.lock().unwrap().is_empty())
    }

    fn complete_types(&self) -> Result<(), OmrsError> {
        let work = self.meanwhile.lock().unwrap().pop_front();
        work.expect("it was said to take time")()
    }

    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError> {
        *self.types.lock().unwrap() = types;
        Ok(())
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError> {
        Ok(self.notes.lock().unwrap().get(name).cloned())
    }

    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError> {
        if let Some(test) = &mut *self.keeping.lock().unwrap() {
            test(name)?;
        }
        let content = content.to_vec();
        self.notes.lock().unwrap().insert(name.to_owned(), content);
        Ok(())
    }
}
