//! A store that has some instances.

use std::sync::Arc;

use varve_omrs::graph_store::{GraphReader, GraphStore};
use varve_omrs::instances::InstanceHeader;
use varve_omrs::matching::Target;
use varve_omrs::store::{StoredEntity, StoredRelationship};
use varve_omrs::types::Catalogue;

use crate::below;

/// How many instances are put by one transaction.
const AT_ONCE: usize = 1000;

/// One of the two kinds of instances that have a GUID.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StoredInstance {
    Entity(StoredEntity),
    Relationship(StoredRelationship),
}

impl<'a> From<&'a StoredInstance> for Target<'a> {
    fn from(instance: &'a StoredInstance) -> Self {
        match instance {
            StoredInstance::Entity(entity) => entity.into(),
            StoredInstance::Relationship(relationship) => relationship.into(),
        }
    }
}

/// The store, and the instances in it.
pub(crate) struct Filled {
    pub(crate) store: Arc<GraphStore>,
    pub(crate) all: Vec<StoredInstance>,
}

pub(crate) fn header(instance: &StoredInstance) -> &InstanceHeader {
    match instance {
        StoredInstance::Entity(entity) => entity.header(),
        StoredInstance::Relationship(relationship) => &relationship.header,
    }
}

impl Filled {
    pub(crate) fn new(types: &Arc<Catalogue>, all: Vec<StoredInstance>) -> Self {
        let store = below::store();
        store.set_types(Arc::clone(types)).unwrap();
        let filled = Self { store, all };
        filled.put(&filled.all);
        assert!(filled.store.read_texts());
        filled
    }

    pub(crate) fn put(&self, some: &[StoredInstance]) {
        for some in some.chunks(AT_ONCE) {
            let put = self.store.transact(&[], &mut |transaction| {
                some.iter()
                    .cloned()
                    .try_for_each(|instance| match instance {
                        StoredInstance::Entity(entity) => transaction.put_entity(entity, None),
                        StoredInstance::Relationship(of) => transaction.put_relationship(of, None),
                    })
            });
            put.unwrap();
        }
    }

    pub(crate) fn purge(&self, some: &[StoredInstance]) {
        let purged = self.store.transact(&[], &mut |transaction| {
            some.iter().try_for_each(|instance| {
                let guid = header(instance).guid();
                match instance {
                    StoredInstance::Entity(_) => transaction.purge_entity(guid),
                    StoredInstance::Relationship(_) => transaction.purge_relationship(guid),
                }
            })
        });
        purged.unwrap();
    }

    pub(crate) fn read(&self) -> GraphReader {
        self.store.read(None).unwrap()
    }
}
