//! A type is kept as long as any state of an instance is of it.

use varve_omrs::graph_store::GraphTransaction;
use varve_omrs::instances::{Classification, EntityDetail};
use varve_omrs::types::TypeIndex;

use crate::world::*;

impl World {
    fn type_of(&self, name: &str) -> TypeIndex {
        self.types.by_name(name).expect("a type")
    }

    fn has_ever(&self, name: &str) -> bool {
        self.store.has_ever(self.type_of(name)).expect("an answer")
    }

    /// Puts a further state of an entity, later.
    fn put_later(&self, entity: &mut EntityDetail) {
        self.clock.advance(5_000);
        entity.header.audit.version += 1;
        entity.header.audit.update_time = Some(self.store.now());
        self.put(entity);
    }
}

#[test]
fn what_an_entity_was_is_known() {
    let mut world = World::new();
    let mut entity = world.entity("Database", "a", &[("name", text("one"))]);
    let of = world.types.get(world.type_of("Confidentiality"));
    let classification = Classification {
        audit: varve_omrs::instances::InstanceAuditHeader {
            instance_type: Some(of.instance_type().clone()),
            ..entity.header.audit.clone()
        },
        name: Some("Confidentiality".to_owned()),
        ..Classification::default()
    };
    entity.classifications = vec![classification].into();
    assert!(!world.has_ever("Database") && !world.has_ever("Confidentiality"));
    world.put(&entity);
    entity.classifications.clear();
    world.put_later(&mut entity);
    entity.header.audit.instance_type = world.header("DataStore", "a").audit.instance_type;
    world.put_later(&mut entity);
    for _ in 0..2 {
        for name in ["OpenMetadataRoot", "Asset", "DataStore", "Database"] {
            assert!(world.has_ever(name), "{name}");
        }
        assert!(world.has_ever("Confidentiality"));
        for name in ["Person", "Retention", "DataContentForDataSet"] {
            assert!(!world.has_ever(name), "{name}");
        }
        world.restart();
    }
    let purge = |transaction: &mut GraphTransaction<'_, '_>| transaction.purge_entity("a");
    world
        .store
        .transact(&["a"], &mut { purge })
        .expect("purged");
    for name in ["OpenMetadataRoot", "Database", "Confidentiality"] {
        assert!(!world.has_ever(name), "{name}");
    }
}

#[test]
fn what_a_relationship_was_is_known() {
    let world = World::new();
    for guid in ["a", "b"] {
        world.put(&world.entity("Database", guid, &[]));
    }
    let of = "DataContentForDataSet";
    assert!(!world.has_ever(of));
    world.put_relationship(&world.relationship(of, "r", ["a", "b"]));
    world.clock.advance(5_000);
    let other = "SemanticAssignment";
    world.put_relationship(&world.relationship(other, "r", ["a", "b"]));
    assert!(world.has_ever(of) && world.has_ever(other));
    let purge = |transaction: &mut GraphTransaction<'_, '_>| transaction.purge_relationship("r");
    world.store.transact(&[], &mut { purge }).expect("purged");
    assert!(!world.has_ever(of) && !world.has_ever(other));
}
