//! The instances of the performance suite, of some of its types.

use std::sync::Arc;

use varve_omrs::instances::*;
use varve_omrs::json::Millis;
use varve_omrs::types::{AttributeTypeKind, Catalogue, InstanceStatus, PrimitiveDefCategory};

use super::examined::Examined;
use crate::world::*;

const TYPES: [&str; 8] = [
    "Asset",
    "Community",
    "Database",
    "GlossaryTerm",
    "Person",
    "Referenceable",
    "RelationalColumn",
    "ToDo",
];
pub(super) const CLASSIFICATION: &str = "Confidentiality";
pub(super) const HOMES: [&str; 2] = ["home", "away"];

/// A value as the suite gives it to the `n`th of `i` instances.
fn value(
    name: &str,
    category: PrimitiveDefCategory,
    unique: bool,
    n: usize,
    i: usize,
) -> Option<Primitive> {
    let distinct = unique || n % 2 == 1;
    let drawn = n.wrapping_mul(2_654_435_761) >> 7;
    let number = if distinct { i + n } else { drawn % i };
    Some(match category {
        PrimitiveDefCategory::String if distinct => text(&format!("{name}.{n}")),
        PrimitiveDefCategory::String => text(name),
        PrimitiveDefCategory::Int => Primitive::Int(number as i32),
        PrimitiveDefCategory::Date => Primitive::Date(Millis(1_700_000_000_000 + n as i64)),
        PrimitiveDefCategory::Boolean => Primitive::Boolean(drawn.is_multiple_of(2)),
        _ => return None,
    })
}

pub(super) fn values(types: &Catalogue, of: &str, n: usize, i: usize) -> Vec<(String, Primitive)> {
    let of = types.get(types.by_name(of).expect("a type"));
    let properties = of.properties().iter().filter_map(|property| {
        let attribute = &property.attribute;
        let AttributeTypeKind::Primitive(kind) = &attribute.type_def()?.kind else {
            return None;
        };
        let name = attribute.name();
        let value = value(name, kind.category?, attribute.unique, n, i)?;
        Some((name.to_owned(), value))
    });
    properties.collect()
}

/// The instances, and the time before they were updated.
pub(super) struct Filled {
    pub(super) examined: Examined,
    pub(super) types: Arc<Catalogue>,
    pub(super) before: Millis,
    pub(super) i: usize,
}

/// With `is_deleted`, what is at home here is deleted, of some types.
pub(super) fn filled(i: usize, is_deleted: bool) -> Filled {
    let world = World::new();
    let types = Arc::clone(&world.types);
    let mut all: Vec<EntityDetail> = Vec::new();
    let properties = |of: &str, n: usize| {
        let values = values(&types, of, n, i);
        let named: Vec<(&str, Primitive)> = values
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
            .collect();
        world.properties(of, &named)
    };
    for of in TYPES {
        for n in 0..i {
            for home in HOMES {
                world.clock.advance(1_000);
                let mut entity = world.entity(of, &format!("{of}-{home}-{n}"), &[]);
                entity.header.audit.metadata_collection_id = Some(home.to_owned());
                entity.properties = Some(properties(of, n));
                if of == "Referenceable" {
                    let mut audit = world.header(CLASSIFICATION, "").audit;
                    audit.metadata_collection_id = Some(home.to_owned());
                    entity.classifications = vec![Classification {
                        audit,
                        name: Some(CLASSIFICATION.to_owned()),
                        properties: Some(properties(CLASSIFICATION, n)),
                        ..Classification::default()
                    }]
                    .into();
                }
                world.put(&entity);
                all.push(entity);
            }
        }
    }
    let before = world.store.now();
    for entity in &mut all {
        let audit = &mut entity.header.audit;
        if audit.metadata_collection_id.as_deref() != Some(HOMES[0]) {
            continue;
        }
        world.clock.advance(1_000);
        audit.version = 2;
        audit.update_time = Some(world.store.now());
        let is_kept = !is_deleted
            || ["Referenceable", "RelationalColumn", "ToDo"].contains(&audit.type_name());
        world.put(entity);
        if !is_kept {
            entity.header.audit.version = 3;
            entity.header.audit.status = Some(InstanceStatus::Deleted);
            world.clock.advance(1_000);
            world.put(entity);
        }
    }
    world.clock.advance(1_000);
    Filled {
        examined: Examined::new(world),
        types,
        before,
        i,
    }
}
