//! What the store has no room for is refused as a parameter that is not valid: every call may be.

use std::sync::Arc;

use varve_omrs::instances::*;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::{Exception, OmrsError};

use crate::world::*;

/// A repository with the connection `c`, and the types' GUIDs by their names.
fn repository() -> (Repository, impl Fn(&str) -> TypeDefValidationForRequest) {
    let world = World::new();
    world.put(&world.entity("Connection", "c", &[]));
    let types = Arc::clone(&world.types);
    let options = Options {
        metadata_collection_id: Some("home".to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://here.example".to_owned(),
    };
    let repository = Repository::open(Arc::new(world.store), options).expect("a repository");
    let of = move |name: &str| TypeDefValidationForRequest {
        type_guid: Some(types.type_by_name(name).unwrap().guid().to_owned()),
        type_name: Some(name.to_owned()),
    };
    (repository, of)
}

fn map(values: InstanceProperties) -> InstancePropertyValue {
    InstancePropertyValue::Map(MapPropertyValue {
        values: Some(values),
        ..MapPropertyValue::default()
    })
}

fn refused<T>(result: Result<T, OmrsError>) -> (Exception, &'static str) {
    let error = result.map(drop).unwrap_err();
    (error.exception, error.message.id())
}

#[test]
fn what_cannot_be_kept_is_an_invalid_parameter() {
    let (r, of) = repository();
    let too_large = (Exception::InvalidParameter, "VARVE-OMRS-400-025");
    let long = "g".repeat(20_000);
    let identified = r.re_identify_entity("ada", "c", &long, &of("Connection"));
    assert_eq!(refused(identified), too_large);
    let mut deep = InstanceProperties::default();
    for _ in 0..40 {
        deep = InstanceProperties::default().with("k", map(deep));
    }
    let deep = InstanceProperties::default().with("configurationProperties", map(deep));
    let request = InstancePropertiesRequest {
        properties: Some(deep),
    };
    let updated = r.update_entity_properties("ada", "c", request);
    assert_eq!(refused(updated), too_large);
    assert!(r.get_entity_detail("c", None).is_ok());
}
