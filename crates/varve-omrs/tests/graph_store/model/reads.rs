//! Reads by GUID, of the relationships of an entity and of histories: all is what the lists of
//! states say.

use varve_omrs::json::Millis;
use varve_omrs::store::*;

use super::Run;
use super::rendered::{compare_kept, compare_links, compare_proxies, json};
use super::states::at_time;
use crate::world::{Everything, StoredInstance};

impl Run {
    /// Everything: some random points of time, and every history.
    pub(super) fn compare_all(&mut self) {
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
            let history = self.world.entity_history(guid);
            let rendered: Vec<_> = history
                .into_iter()
                .map(|version| (version.from, Some(version.state)))
                .collect();
            assert_eq!(&rendered, states, "{guid}");
            let asked: Vec<Millis> = (0..5)
                .filter_map(|_| times.get(self.random.below(times.len().max(1))).copied())
                .chain([now])
                .collect();
            // Of two at once: each with its own times.
            let (first, _) = self.model.entities.first_key_value().expect("this one");
            let both = [(first.as_str(), &times[..]), (guid, &asked[..])];
            let found = self.world.store.proxies_at(&both, &mut Everything);
            let [_, found] = <[_; 2]>::try_from(found.expect("read")).expect("one for each");
            for (at, found) in asked.iter().zip(found) {
                let expected = at_time(states, Some(*at)).cloned();
                let expected = expected.map(|of| RenderedEntity::new(&self.world.types, of));
                let expected = expected.as_ref().map(|of| json(of.proxy()));
                assert_eq!(found.as_ref().map(json), expected, "{guid} at {at:?}");
            }
        }
        for (guid, states) in &self.model.relationships {
            let history = self.world.relationship_history(guid);
            let rendered: Vec<_> = history
                .into_iter()
                .map(|version| (version.from, Some(version.state)))
                .collect();
            let states: Vec<_> = states
                .iter()
                .filter(|(_, state)| state.is_some())
                .cloned()
                .collect();
            assert_eq!(rendered, states, "{guid}");
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
            compare_links(&reader, guid);
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
        compare_proxies(&reader, &guids.chain(["other"]).collect::<Vec<_>>());
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
            compare_kept(&reader, subject, &all);
        }
    }
}
