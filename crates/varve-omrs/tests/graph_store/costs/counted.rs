//! A store that counts what its readers show, and a repository on it.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use varve_omrs::OmrsError;
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::store::*;
use varve_omrs::types::Catalogue;

use super::suite::HOMES;
use crate::world::*;

/// A store that counts what its readers show, and tell of what was found.
struct Counted {
    inner: Arc<World>,
    shown: Arc<AtomicUsize>,
    rendered: Arc<AtomicUsize>,
}

struct CountedRead<'a> {
    inner: Box<dyn Read + 'a>,
    shown: Arc<AtomicUsize>,
    rendered: Arc<AtomicUsize>,
}

impl Read for CountedRead<'_> {
    fn types(&self) -> Arc<Catalogue> {
        self.inner.types()
    }

    fn entity(&self, guid: &str) -> Result<Option<StoredEntity>, OmrsError> {
        self.inner.entity(guid)
    }

    fn relationship(&self, guid: &str) -> Result<Option<StoredRelationship>, OmrsError> {
        self.inner.relationship(guid)
    }

    fn relationships_of(
        &self,
        entity: &str,
        of: Option<varve_omrs::types::TypeIndex>,
        visit: &mut dyn FnMut(StoredRelationship) -> Result<ControlFlow<()>, OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.relationships_of(entity, of, visit)
    }

    fn kept(&self, subject: Subject, guid: &str) -> Result<Option<Candidate>, OmrsError> {
        self.inner.kept(subject, guid)
    }

    fn candidate_entity(
        &self,
        kept: &CandidateRow,
    ) -> Result<Option<Shared<EntityDetail>>, OmrsError> {
        self.rendered.fetch_add(1, Ordering::Relaxed);
        self.inner.candidate_entity(kept)
    }

    fn candidate_relationship(
        &self,
        kept: CandidateRow,
    ) -> Result<Option<RenderedRelationship>, OmrsError> {
        self.rendered.fetch_add(1, Ordering::Relaxed);
        self.inner.candidate_relationship(kept)
    }

    fn walk(&self, walk: &Walk<'_>, visit: Visit<'_>) -> Result<(), OmrsError> {
        self.inner.walk(walk, &mut |step| {
            self.shown.fetch_add(1, Ordering::Relaxed);
            visit(step)
        })
    }

    fn behind_same_value(&self, place: &[u8]) -> Option<Vec<u8>> {
        self.inner.behind_same_value(place)
    }

    fn can_walk(&self, walk: &Walk<'_>) -> bool {
        self.inner.can_walk(walk)
    }

    fn state(&self) -> Option<u64> {
        self.inner.state()
    }

    fn texts(&self) -> Option<usize> {
        self.inner.texts()
    }

    fn matching_texts(
        &self,
        matches: TestText<'_>,
        most: usize,
    ) -> Result<Option<Vec<TextHint>>, OmrsError> {
        self.inner.matching_texts(matches, most)
    }
}

impl Store for Counted {
    fn now(&self) -> Millis {
        self.inner.store.now()
    }

    fn read(&self, at: Option<Millis>) -> Result<Box<dyn Read + '_>, OmrsError> {
        Ok(Box::new(CountedRead {
            inner: self.inner.store.read(at)?,
            shown: Arc::clone(&self.shown),
            rendered: Arc::clone(&self.rendered),
        }))
    }

    fn entity_history(&self, guid: &str) -> Result<Vec<Version<StoredEntity>>, OmrsError> {
        self.inner.store.entity_history(guid)
    }

    fn relationship_history(
        &self,
        guid: &str,
    ) -> Result<Vec<Version<StoredRelationship>>, OmrsError> {
        self.inner.store.relationship_history(guid)
    }

    fn has_ever(&self, of: varve_omrs::types::TypeIndex) -> Result<bool, OmrsError> {
        self.inner.store.has_ever(of)
    }

    fn transact(
        &self,
        guids: &[&str],
        work: &mut dyn FnMut(&mut dyn Transaction) -> Result<(), OmrsError>,
    ) -> Result<(), OmrsError> {
        self.inner.store.transact(guids, work)
    }

    fn set_types(&self, types: Arc<Catalogue>) -> Result<(), OmrsError> {
        self.inner.store.set_types(types)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>, OmrsError> {
        self.inner.store.note(name)
    }

    fn put_note(&self, name: &str, content: &[u8]) -> Result<(), OmrsError> {
        self.inner.store.put_note(name, content)
    }
}

/// A repository, and how many instances its readers have shown.
pub(super) fn counted(world: World) -> (Repository, Arc<AtomicUsize>) {
    let (repository, shown, _) = counting(world);
    (repository, shown)
}

/// A repository, and how many instances its readers have visited, and rendered of those that
/// searches found.
pub(crate) fn counting(world: World) -> (Repository, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    assert!(world.store.read_texts());
    let [shown, rendered] = [0, 0].map(|none| Arc::new(AtomicUsize::new(none)));
    let store = Counted {
        inner: Arc::new(world),
        shown: Arc::clone(&shown),
        rendered: Arc::clone(&rendered),
    };
    let options = Options {
        metadata_collection_id: Some(HOMES[0].to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    let repository = Repository::open(Arc::new(store), options).expect("a repository");
    (repository, shown, rendered)
}
