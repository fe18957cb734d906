//! Random changes, each made in the store and in the lists of states.

use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::store::*;
use varve_omrs::types::InstanceStatus;

use super::Run;
use super::instances::{LINKS, TYPES};
use super::random::Random;
use super::states::{Histories, at_time, put};

impl Run {
    /// Makes one, after some time or none; the clock may go back.
    pub(super) fn step(&mut self) {
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

    fn known<T>(histories: &Histories<T>, random: &mut Random) -> Option<String> {
        let alive: Vec<&String> = histories
            .iter()
            .filter(|(_, states)| at_time(states, None).is_some())
            .map(|(guid, _)| guid)
            .collect();
        (!alive.is_empty()).then(|| random.of(&alive).clone())
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
}
