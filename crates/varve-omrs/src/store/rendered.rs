//! Instances as answers render them: the fields that graph queries read, and the JSON if it is
//! known. Decoding every instance of a large answer, only to encode it again, would take most of
//! the answer's time.

use std::sync::Arc;

use bytes::Bytes;

use super::{LifeStatus, Link, StoredEntity, StoredRelationship};
use crate::instances::{EntityDetail, EntityProxy, Relationship};
use crate::json::{Encode, Pieces, Shared, Writer};
use crate::types::{Catalogue, TypeDefCategory, TypeIndex};
use crate::validate::{instance_type, unique_properties};

/// An entity and its proxy for the ends of relationships. Cheap to clone. Stores may cache it. If
/// its JSON is decoded later, the decoded object is cached with it.
#[derive(Debug, Clone)]
pub struct RenderedEntity(Arc<Rendered>);

#[derive(Debug)]
struct Rendered {
    guid: String,
    of: Option<TypeIndex>,
    life_status: LifeStatus,
    detail: Option<Shared<EntityDetail>>,
    proxy: Shared<EntityProxy>,
    /// The memory that the entity takes as JSON, in bytes; `None` if it is an object.
    held_bytes: Option<usize>,
}

/// The JSON of an entity.
#[derive(Debug)]
pub(crate) struct EntityJson {
    /// The entity's own JSON; `None` if only a proxy is known.
    pub(crate) detail: Option<Pieces>,
    /// The JSON of its proxy.
    pub(crate) proxy: Pieces,
}

/// The memory of an entity as JSON beside its texts, with room for the objects that may be decoded
/// from it.
const PARTS_BYTES: usize = size_of::<Rendered>()
    + Shared::<EntityDetail>::PARTS_BYTES
    + Shared::<EntityProxy>::PARTS_BYTES;
/// The memory of a piece beside its text.
const PIECE_BYTES: usize = 2 * size_of::<Bytes>();

impl EntityJson {
    /// The size in bytes. A piece that entity and proxy share counts once.
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
    /// Wraps a decoded entity.
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

    /// Wraps the JSON of an entity.
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

    /// The memory that the entity takes as JSON, in bytes; `None` if it is an object.
    pub(crate) fn held_bytes(&self) -> Option<usize> {
        self.0.held_bytes
    }

    /// The entity's GUID.
    #[must_use]
    pub fn guid(&self) -> &str {
        &self.0.guid
    }

    /// The entity's type.
    #[must_use]
    pub fn of(&self) -> Option<TypeIndex> {
        self.0.of
    }

    /// The entity's status.
    #[must_use]
    pub fn life_status(&self) -> LifeStatus {
        self.0.life_status
    }

    /// The entity itself; `None` if only a proxy is known.
    #[must_use]
    pub fn detail(&self) -> Option<&Shared<EntityDetail>> {
        self.0.detail.as_ref()
    }

    /// The entity's proxy, for the end of a relationship.
    #[must_use]
    pub fn proxy(&self) -> &Shared<EntityProxy> {
        &self.0.proxy
    }
}

/// Makes the proxy of an entity.
fn proxy_of(types: &Catalogue, entity: &EntityDetail) -> EntityProxy {
    let header = &entity.header;
    // The unique properties of a type that has been removed are not known.
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

/// A relationship that can be rendered with its ends.
#[derive(Debug, Clone)]
pub struct RenderedRelationship {
    /// The relationship's GUID, ends, type and status.
    pub link: Link,
    rest: Rest,
}

/// The content of a relationship beside its ends.
#[derive(Debug, Clone)]
enum Rest {
    Object(Box<StoredRelationship>),
    /// The members of the JSON object that come before the ends.
    Json(Pieces),
}

impl RenderedRelationship {
    /// Wraps a decoded relationship.
    #[must_use]
    pub fn new(types: &Catalogue, relationship: StoredRelationship) -> Self {
        Self {
            link: Link::of(types, &relationship),
            rest: Rest::Object(Box::new(relationship)),
        }
    }

    /// Wraps the JSON of a relationship: the members of its object that come before the ends.
    pub(crate) fn of_json(link: Link, members: Pieces) -> Self {
        Self {
            link,
            rest: Rest::Json(members),
        }
    }

    /// The size in bytes of its JSON without the ends, or the object if the JSON is not known.
    pub(crate) fn held(&self) -> Result<usize, &StoredRelationship> {
        match &self.rest {
            Rest::Object(relationship) => Err(relationship),
            Rest::Json(members) => Ok(members.len()),
        }
    }

    /// Renders the relationship with the proxies of its ends.
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

/// The room reserved for the rendered ends of a relationship, in bytes.
const ENDS_BYTES: usize = 2048;
