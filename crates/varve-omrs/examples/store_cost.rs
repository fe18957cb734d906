//! What operations of the store cost the processor, on the engine in memory: entities as the
//! performance suite makes them.
//!
//! `cargo run --release -p varve-omrs --example store_cost [entities of each type]`

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use varve_encoding::tables::{EDGE, INDEX, TABLES, VERTEX};
use varve_graph::{DurabilityMode, Graph, GraphOptions};
use varve_kv::{Engine, Flow, MemoryEngine};
use varve_model::time::SystemClock;
use varve_omrs::graph_store::GraphStore;
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, Shared};
use varve_omrs::store::*;
use varve_omrs::types::*;
use varve_omrs::{OmrsError, validate};

type Done = Result<(), Box<dyn std::error::Error>>;

struct Suite {
    store: GraphStore,
    types: Arc<Catalogue>,
}

/// Prints the time per operation since `began`.
fn print_time(what: &str, count: usize, began: Instant) {
    let micros = began.elapsed().as_secs_f64() * 1e6 / count.max(1) as f64;
    println!("{what:<44} {micros:9.2} µs");
}

impl Suite {
    fn entity(&self, of: TypeIndex, number: usize) -> Result<StoredEntity, OmrsError> {
        let resolved = self.types.get(of);
        let mut properties = InstanceProperties {
            header_version: Some(1),
            ..InstanceProperties::default()
        };
        for property in resolved.properties() {
            let attribute = &property.attribute;
            let Some(AttributeTypeKind::Primitive(kind)) =
                attribute.type_def().map(|def| &def.kind)
            else {
                continue;
            };
            let value = value(attribute.name(), kind.category, attribute.unique, number);
            if let Some(value) = value {
                let value = InstancePropertyValue::primitive(value);
                properties.values.insert(attribute.name().to_owned(), value);
            }
        }
        let properties = validate::completed_properties(&self.types, of, properties)?;
        let header = InstanceHeader {
            audit: InstanceAuditHeader {
                header_version: Some(1),
                instance_type: Some(resolved.instance_type().clone()),
                provenance: Some(InstanceProvenanceType::LocalCohort),
                metadata_collection_id: Some("9b6ee6c2-51ae-4bf8-9a3d-2d3e5d2ea7d1".to_owned()),
                metadata_collection_name: Some("varve".to_owned()),
                created_by: Some("pts".to_owned()),
                create_time: Some(self.store.now()),
                version: 1,
                status: Some(InstanceStatus::Active),
                ..InstanceAuditHeader::default()
            },
            guid: Some(guid(of, number)),
            ..InstanceHeader::default()
        };
        Ok(StoredEntity::Detail(EntityDetail {
            header,
            classifications: Shared::default(),
            properties: Some(properties),
        }))
    }

    fn put(&self, entity: &StoredEntity) -> Result<(), OmrsError> {
        let guid = entity.header().guid();
        self.store.transact(&[guid], &mut |transaction| {
            if transaction.entity(guid)?.is_some() {
                // As an update does.
            }
            transaction.put_entity(entity.clone(), None)
        })
    }

    fn page(&self, at: Option<Millis>, walk: &Walk<'_>) -> Result<usize, OmrsError> {
        let mut found = 0;
        self.store.read(at)?.walk(walk, &mut |_| {
            found += 1;
            Ok(if found < 10 {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            })
        })?;
        Ok(found)
    }
}

/// As random as those of a server, and made again when asked.
fn guid(of: TypeIndex, number: usize) -> String {
    let mut state = (format!("{of:?}")
        .bytes()
        .map(u64::from)
        .fold(7, |a: u64, b| a.wrapping_mul(31).wrapping_add(b))
        << 24)
        .wrapping_add(number as u64);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = state;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    };
    let (a, b) = (next(), next());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xFFFF,
        a & 0xFFF,
        b >> 52,
        b & 0xFFFF_FFFF_FFFF
    )
}

fn value(
    name: &str,
    category: Option<PrimitiveDefCategory>,
    unique: bool,
    number: usize,
) -> Option<Primitive> {
    use PrimitiveDefCategory as Of;
    let small = i32::try_from(number % 1_000).ok()?;
    Some(match category? {
        Of::String if unique || number % 2 == 1 => Primitive::String(format!("{name}.{number}")),
        Of::String => Primitive::String(name.to_owned()),
        Of::Boolean => Primitive::Boolean(number.is_multiple_of(3)),
        Of::Int => Primitive::Int(small),
        Of::Long => Primitive::Long(small.into()),
        Of::Date => Primitive::Date(Millis(1_700_000_000_000 + i64::from(small))),
        Of::Float => Primitive::Float(small as f32),
        Of::Double => Primitive::Double(small.into()),
        _ => return None,
    })
}

/// Rows and bytes of a table.
fn size(store: &GraphStore, table: varve_kv::TableId) -> Result<(usize, usize), varve_kv::KvError> {
    let (mut rows, mut bytes) = (0, 0);
    store.graph().space().scan_table(table, None, &mut |row| {
        rows += 1;
        bytes += row.partition.len() + row.clustering.len() + row.value.len();
        Flow::Continue(())
    })?;
    Ok((rows, bytes))
}

fn main() -> Done {
    let each: usize = std::env::args()
        .nth(1)
        .map_or(Ok(370), |text| text.parse())?;
    let space = MemoryEngine::new().open("metadata", TABLES, true)?;
    let mut options = GraphOptions::new(Arc::new(SystemClock));
    options.durability = DurabilityMode::None;
    let store = GraphStore::open(Graph::open("metadata", space, &options)?);
    let types = Arc::new(Catalogue::built_in());
    let began = Instant::now();
    store.set_types(Arc::clone(&types))?;
    print_time("set_types, first", 1, began);
    let suite = Suite { store, types };
    let all: Vec<TypeIndex> = suite
        .types
        .types()
        .filter(|(_, of)| of.def().category() == TypeDefCategory::Entity)
        .map(|(index, _)| index)
        .collect();
    let mut entities = Vec::new();
    for of in &all {
        for number in 0..each {
            entities.push(suite.entity(*of, number)?);
        }
    }
    let count = entities.len();
    println!("{count} entities");
    let began = Instant::now();
    for entity in &entities {
        suite.put(entity)?;
    }
    print_time("put, new", count, began);
    for (name, table) in [("vertex", VERTEX), ("edge", EDGE), ("index", INDEX)] {
        let (rows, bytes) = size(&suite.store, table)?;
        let per = |sum: usize| sum as f64 / count as f64;
        println!(
            "{name:<10} {:6.1} rows, {:8.1} bytes per entity",
            per(rows),
            per(bytes)
        );
    }
    let began = Instant::now();
    for entity in &entities {
        let reader = suite.store.read(None)?;
        assert!(reader.entity(entity.header().guid())?.is_some());
    }
    print_time("get by GUID", count, began);
    let then = suite.store.now();
    let updates = count.min(20_000);
    let began = Instant::now();
    for entity in entities.iter_mut().take(updates) {
        let audit = &mut entity.header_mut().audit;
        audit.version += 1;
        audit.update_time = Some(suite.store.now());
        suite.put(entity)?;
    }
    print_time("put, again", updates, began);
    pages(&suite, &all, then)
}

fn pages(suite: &Suite, all: &[TypeIndex], then: Millis) -> Done {
    let value = Primitive::String("qualifiedName.7".to_owned());
    let walks = [
        ("by GUID", WalkBy::Guid, false),
        ("by creation", WalkBy::CreateTime, false),
        ("by creation, backwards", WalkBy::CreateTime, true),
        ("by update, backwards", WalkBy::UpdateTime, true),
        ("by property", WalkBy::Property("qualifiedName"), false),
        (
            "by property, backwards",
            WalkBy::Property("qualifiedName"),
            true,
        ),
        (
            "by property's value",
            WalkBy::PropertyIs("qualifiedName", &value),
            false,
        ),
        ("by text", WalkBy::Text("qualifiedName.7"), false),
    ];
    for (name, by, reverse) in &walks {
        for at in [None, Some(then)] {
            let (began, mut found) = (Instant::now(), 0);
            for of in all {
                let walk = Walk {
                    subject: Subject::Entities,
                    of: Some(*of),
                    by: by.clone(),
                    reverse: *reverse,
                    after: None,
                };
                found += suite.page(at, &walk)?;
            }
            let when = if at.is_some() { ", then" } else { "" };
            let per = found as f64 / all.len() as f64;
            print_time(
                &format!("page of 10 {name}{when} ({per:.1})"),
                all.len(),
                began,
            );
        }
    }
    Ok(())
}
