//! Which earlier state an undo goes back to, of those that the store keeps.

use std::sync::Arc;

use varve_omrs::instances::InstanceHeader;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::TypeDefValidationForRequest;
use varve_omrs::types::InstanceStatus;

use crate::world::*;

fn expected(header: &InstanceHeader) -> TypeDefValidationForRequest {
    let of = header.audit.instance_type.as_deref().unwrap();
    TypeDefValidationForRequest {
        type_guid: of.guid.clone(),
        type_name: of.name.clone(),
    }
}

#[test]
fn a_deletion_that_was_taken_back_is_passed_over() {
    let world = World::new();
    let entity = world.entity("GlossaryTerm", "a", &[("displayName", text("one"))]);
    world.put(&entity);
    world.put(&world.entity("GlossaryTerm", "b", &[]));
    let link = world.relationship("Synonym", "r", ["a", "b"]);
    world.put_relationship(&link);
    let (of_entity, of_link) = (expected(&entity.header), expected(&link.header));
    let options = Options {
        metadata_collection_id: Some("home".to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    let r = Repository::open(Arc::new(world.store), options).expect("a repository");
    let active = Some(InstanceStatus::Active);
    r.delete_relationship("ada", "r", &of_link).unwrap();
    r.restore_relationship("ada", "r").unwrap();
    let undone = r.undo_relationship_update("ada", "r").unwrap();
    assert_eq!(
        (undone.header.audit.version, undone.header.audit.status),
        (4, active)
    );
    r.delete_entity("ada", "a", &of_entity).unwrap();
    r.restore_entity("ada", "a").unwrap();
    let undone = r.undo_entity_update("ada", "a").unwrap();
    assert_eq!(
        (undone.header.audit.version, undone.header.audit.status),
        (4, active)
    );
    assert_eq!(undone.properties, entity.properties);
    assert_eq!(r.get_entity_detail("a", None).unwrap(), undone);
}
