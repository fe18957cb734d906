//! Instances as answers tell them: what walks ask of them, and their JSON where it is known. An
//! answer of many instances would take most of its time to make objects, which nobody looks at but
//! to write them.

use std::sync::Arc;

use bytes::Bytes;

use super::{LifeStatus, Link, StoredEntity, StoredRelationship};
use crate::instances::{EntityDetail, EntityProxy, Relationship};
use crate::json::{Encode, Pieces, Shared, Writer};
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};
use crate::validate::{instance_type, unique_properties};

/// An entity, and what stands for it at the ends of relationships. Costs nothing to clone. Stores
/// may keep it: who looks at an object whose JSON is known makes it, and lets it be kept as well.
#[derive(Debug, Clone)]
pub struct RenderedEntity(Arc<Rendered>);

#[derive(Debug)]
struct Rendered {
    guid: String,
    of: Option<TypeIndex>,
    life_status: LifeStatus,
    detail: Option<Shared<EntityDetail>>,
    proxy: Shared<EntityProxy>,
    /// How much memory it takes, where it is there as JSON.
    held_bytes: Option<usize>,
}

/// The JSON of an entity.
#[derive(Debug)]
pub(crate) struct EntityJson {
    /// Its own; none of one of which only a proxy is known.
    pub(crate) detail: Option<Pieces>,
    /// That of what stands for it.
    pub(crate) proxy: Pieces,
}

/// What an entity that is there as JSON takes beside its texts, with the room for the objects that
/// may be made of it.
const PARTS_BYTES: usize = size_of::<Rendered>()
    + Shared::<EntityDetail>::PARTS_BYTES
    + Shared::<EntityProxy>::PARTS_BYTES;
/// What each piece takes beside its text.
const PIECE_BYTES: usize = 2 * size_of::<Bytes>();

impl EntityJson {
    /// How many bytes it takes, those of a piece that is in both but once.
    pub(crate) fn bytes(&self) -> usize {
        let Some(detail) = &self.detail else {
            return pieces_bytes(&self.proxy);
        };
        let is_own = |piece: &&Bytes| {
            let is_it = |other: &Bytes| {
                std::ptr::eq(other.as_ptr(), piece.as_ptr()) && other.len() == piece.len()
            };
            !detail.iter().any(is_it)
        };
        let own = self.proxy.iter().filter(is_own);
        pieces_bytes(detail) + own.map(|piece| PIECE_BYTES + piece.len()).sum::<usize>()
    }
}

fn pieces_bytes(pieces: &Pieces) -> usize {
    pieces.len() + pieces.iter().count() * PIECE_BYTES
}

impl RenderedEntity {
    /// An entity that is there as an object.
    #[must_use]
    pub fn new(types: &Catalogue, entity: StoredEntity) -> Self {
        let header = entity.header();
        let (guid, of) = (header.guid().to_owned(), header.audit.type_name());
        let life_status = LifeStatus {
            is_proxy: matches!(entity, StoredEntity::Proxy(_)),
            status: header.audit.status,
        };
        let of = types.by_name(of);
        let (detail, proxy) = match entity {
            StoredEntity::Detail(entity) => {
                let proxy = proxy_of(types, &entity);
                (Some(entity.into()), proxy)
            }
            StoredEntity::Proxy(proxy) => (None, proxy),
        };
        Self(Arc::new(Rendered {
            guid,
            of,
            life_status,
            detail,
            proxy: proxy.into(),
            held_bytes: None,
        }))
    }

    /// An entity of which the JSON is known.
    pub(crate) fn of_json(
        guid: &str,
        of: Option<TypeIndex>,
        life_status: LifeStatus,
        json: EntityJson,
    ) -> Self {
        let held_bytes = PARTS_BYTES + guid.len() + json.bytes();
        Self(Arc::new(Rendered {
            guid: guid.to_owned(),
            of,
            life_status,
            detail: json.detail.map(Shared::of_json),
            proxy: Shared::of_json(json.proxy),
            held_bytes: Some(held_bytes),
        }))
    }

    /// How much memory it takes, where it is there as JSON; `None` where it is there as an object.
    pub(crate) fn held_bytes(&self) -> Option<usize> {
        self.0.held_bytes
    }

    /// Its GUID.
    #[must_use]
    pub fn guid(&self) -> &str {
        &self.0.guid
    }

    /// Its type.
    #[must_use]
    pub fn of(&self) -> Option<TypeIndex> {
        self.0.of
    }

    /// How it stands with it.
    #[must_use]
    pub fn life_status(&self) -> LifeStatus {
        self.0.life_status
    }

    /// What it renders of itself; `None` of one of which only a proxy is known.
    #[must_use]
    pub fn detail(&self) -> Option<&Shared<EntityDetail>> {
        self.0.detail.as_ref()
    }

    /// What stands for it at the end of a relationship.
    #[must_use]
    pub fn proxy(&self) -> &Shared<EntityProxy> {
        &self.0.proxy
    }
}

/// What stands for an entity at the end of a relationship.
fn proxy_of(types: &Catalogue, entity: &EntityDetail) -> EntityProxy {
    let header = &entity.header;
    // A type that was removed since cannot be asked which of its properties are unique.
    let of = instance_type(types, &header.audit, TypeDefCategory::Entity).ok();
    let unique = of
        .zip(entity.properties.as_ref())
        .map(|(of, properties)| unique_properties(types, of, properties))
        .filter(|unique| !unique.values.is_empty());
    EntityProxy {
        header: header.clone(),
        classifications: entity.classifications.clone(),
        unique_properties: unique,
    }
}

/// A relationship that is rendered with its ends.
#[derive(Debug, Clone)]
pub struct RenderedRelationship {
    /// What it links.
    pub link: Link,
    rest: Rest,
}

/// What a relationship renders beside its ends.
#[derive(Debug, Clone)]
enum Rest {
    Object(Box<StoredRelationship>),
    /// Members of the object, those that come before the ends.
    Json(Pieces),
}

impl RenderedRelationship {
    /// A relationship that is there as an object.
    #[must_use]
    pub fn new(types: &Catalogue, relationship: StoredRelationship) -> Self {
        Self {
            link: Link::of(types, &relationship),
            rest: Rest::Object(Box::new(relationship)),
        }
    }

    /// A relationship of which the JSON is known: the members of its object that come before its
    /// ends.
    pub(crate) fn of_json(link: Link, members: Pieces) -> Self {
        Self {
            link,
            rest: Rest::Json(members),
        }
    }

    /// The bytes of its JSON without its ends, where that is known, and the object otherwise.
    pub(crate) fn held(&self) -> Result<usize, &StoredRelationship> {
        match &self.rest {
            Rest::Object(relationship) => Err(relationship),
            Rest::Json(members) => Ok(members.len()),
        }
    }

    /// The relationship with what stands for its ends.
    #[must_use]
    pub fn between(self, [one, two]: [&Shared<EntityProxy>; 2]) -> Shared<Relationship> {
        let members = match self.rest {
            Rest::Object(relationship) => {
                return Shared::new(Relationship {
                    header: relationship.header,
                    properties: relationship.properties,
                    entity_one: Some(one.clone()),
                    entity_two: Some(two.clone()),
                });
            }
            Rest::Json(members) => members,
        };
        let mut writer = Writer::with_capacity(members.len() + ENDS_BYTES);
        writer.object(|writer| {
            writer.pieces(&members);
            writer.known_key("\"entityOneProxy\":");
            one.encode(writer);
            writer.known_key("\"entityTwoProxy\":");
            two.encode(writer);
        });
        Shared::of_json(writer.finish_to_keep())
    }
}

/// About how many bytes the ends of a relationship have that are not handed over.
const ENDS_BYTES: usize = 2048;
