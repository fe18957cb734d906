//! The JSON of instances, made straight from what is stored of them, without objects. What cannot be written so, as it is
//! damaged, or of a form that is read only as a whole, or says of its type what the catalogue does not, is read and
//! written as an object.

use bytes::Bytes;
use varve_encoding::datum::{Cursor, Token};
use varve_encoding::row::{edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_model::EdgeId;

use super::audit::Audit;
use super::carried::{self, put_properties, put_value};
use super::decode::{Decoded, Decoder, Parts, map, standing, text};
use super::made::MadeEntity;
use super::read::guid_of;
use super::state::State;
use crate::json::{Field, HANDED_OVER_MIN, Pieces, Writer};
use crate::store::{EntityJson, Link, Standing, ToldEntity, ToldRelationship};
use crate::types::{InstanceStatus, ResolvedType, TypeIndex};

/// About how many bytes the members of an instance have.
const MEMBERS_BYTES: usize = 2048;

impl State {
    /// The entity that a vertex's content holds, to be told.
    pub(super) fn told_entity(&self, guid: &str, content: &[u8]) -> Result<ToldEntity, GraphError> {
        if let Some(made) = self.made_entities.of((guid, content)) {
            return Ok(made.told);
        }
        let (label, properties) = vertex_parts(content)?;
        let of = self.entity_type(label.0);
        let parts = Parts::of(properties, self.keys)?;
        let json = self.decoder().entity_json(guid, self.resolved(of), &parts);
        let Ok((standing, json)) = json else {
            let (entity, _) = self.entity(guid, content)?;
            return Ok(ToldEntity::new(&self.types, entity));
        };
        let json_bytes = json.bytes();
        let told = ToldEntity::of_json(guid, of, standing, json);
        self.made_entities.keep(&MadeEntity {
            stored: Bytes::copy_from_slice(content),
            told: told.clone(),
            json_bytes,
        });
        Ok(told)
    }

    /// The relationship that an edge's content holds, to be told.
    pub(super) fn told_relationship(
        &self,
        id: &EdgeId,
        content: &[u8],
    ) -> Result<ToldRelationship, GraphError> {
        let (_, _, properties) = edge_parts(content)?;
        let parts = Parts::of(properties, self.keys)?;
        let of = self.relationship_type(id.label.0);
        let json = relationship_json(&id.sort_values, self.resolved(of), &parts);
        Ok(match json {
            Ok((status, members)) => ToldRelationship::of_json(link(id, of, status)?, members),
            Err(_) => ToldRelationship::new(&self.types, self.relationship(id, content)?.0),
        })
    }

    /// The link that an edge is.
    pub(super) fn link(&self, id: &EdgeId, content: &[u8]) -> Result<Link, GraphError> {
        let (_, _, properties) = edge_parts(content)?;
        let parts = Parts::of(properties, self.keys)?;
        let of = self.relationship_type(id.label.0);
        link(id, of, standing(parts.header)?.status)
    }
}

fn link(
    id: &EdgeId,
    of: Option<TypeIndex>,
    status: Option<InstanceStatus>,
) -> Result<Link, GraphError> {
    Ok(Link {
        guid: id.sort_values.to_string(),
        ends: [guid_of(&id.source)?, guid_of(&id.target)?].map(str::to_owned),
        of,
        status,
    })
}

impl Decoder<'_> {
    /// The JSON of the entity with this GUID and type, and how it stands with it.
    pub(super) fn entity_json(
        &self,
        guid: &str,
        of: Option<&ResolvedType>,
        parts: &Parts<'_>,
    ) -> Decoded<(Standing, EntityJson)> {
        let head = Head::read(parts.header)?;
        let standing = Standing {
            is_proxy: head.is_proxy,
            status: head.audit.status(),
        };
        let mut writer = Writer::with_capacity(MEMBERS_BYTES);
        head.write(guid, of, &Cursor::new(parts.header), &mut writer)?;
        let header = writer.finish_in_pieces();
        let classifications = match parts.classifications {
            Some(bytes) => Some(carried::shared(self.types, self.made, bytes)?),
            None => None,
        };
        let json = |class: &str, key: &'static str, properties: Option<Pieces>| {
            let mut writer = Writer::with_capacity(MEMBERS_BYTES);
            writer.object(|writer| {
                writer.class(class);
                writer.pieces(&header);
                if let Some(classifications) = &classifications {
                    writer.known_key("\"classifications\":");
                    classifications.write(writer);
                }
                if let Some(properties) = properties {
                    writer.known_key(key);
                    writer.pieces(&properties);
                }
            });
            writer.finish_to_keep()
        };
        let own = parts
            .properties
            .map(|bytes| all_properties(of, bytes))
            .transpose()?;
        const UNIQUE: &str = "\"uniqueProperties\":";
        let json = if standing.is_proxy {
            EntityJson {
                detail: None,
                proxy: json("EntityProxy", UNIQUE, own),
            }
        } else {
            let unique = parts.properties.map(|bytes| unique_properties(of, bytes));
            EntityJson {
                detail: Some(json("EntityDetail", "\"properties\":", own)),
                proxy: json("EntityProxy", UNIQUE, unique.transpose()?.flatten()),
            }
        };
        Ok((standing, json))
    }
}

impl EntityJson {
    /// How many bytes of it are held, of what is in both but once.
    fn bytes(&self) -> usize {
        let is_shared = |of: &&Bytes| of.len() >= HANDED_OVER_MIN;
        let proxy = self.proxy.iter().filter(|piece| !is_shared(piece));
        let detail = self.detail.as_ref().unwrap_or(&self.proxy);
        detail.len() + proxy.map(Bytes::len).sum::<usize>()
    }
}

/// The members of the object that a relationship is told as, those that come before its ends, and its status.
fn relationship_json(
    guid: &str,
    of: Option<&ResolvedType>,
    parts: &Parts<'_>,
) -> Decoded<(Option<InstanceStatus>, Pieces)> {
    let head = Head::read(parts.header)?;
    let status = head.audit.status();
    let mut writer = Writer::with_capacity(MEMBERS_BYTES);
    writer.class("Relationship");
    head.write(guid, of, &Cursor::new(parts.header), &mut writer)?;
    if let Some(bytes) = parts.properties {
        writer.known_key("\"properties\":");
        put_properties(of, &mut Cursor::new(bytes), &mut writer)?;
    }
    Ok((status, writer.finish_in_pieces()))
}

fn all_properties(of: Option<&ResolvedType>, bytes: &[u8]) -> Decoded<Pieces> {
    let mut writer = Writer::with_capacity(MEMBERS_BYTES);
    put_properties(of, &mut Cursor::new(bytes), &mut writer)?;
    Ok(writer.finish_in_pieces())
}

/// Those properties of an entity that stand for it at the ends of its relationships, if it has any.
fn unique_properties(of: Option<&ResolvedType>, bytes: &[u8]) -> Decoded<Option<Pieces>> {
    let Some(of) = of else { return Ok(None) };
    let mut cursor = Cursor::new(bytes);
    let mut values = Writer::new();
    for _ in 0..map(&mut cursor)? {
        if cursor.name()? != "vs" {
            cursor.skip()?;
            continue;
        }
        for _ in 0..map(&mut cursor)? {
            let name = cursor.name()?;
            match of.property(name).filter(|it| it.attribute.unique) {
                Some(property) => {
                    values.key(name);
                    let def = property.attribute.type_def();
                    put_value(def.map(|def| &**def), &mut cursor, &mut values)?;
                }
                None => cursor.skip()?,
            }
        }
    }
    let values = values.finish_in_pieces();
    if values.is_empty() {
        return Ok(None);
    }
    let mut writer = Writer::new();
    writer.object(|writer| {
        writer.class("InstanceProperties");
        writer.known_key("\"instanceProperties\":");
        writer.object(|writer| writer.pieces(&values));
    });
    Ok(Some(writer.finish_in_pieces()))
}

/// What is known of an instance beside its properties and classifications.
#[derive(Default)]
struct Head<'a> {
    audit: Audit<'a>,
    is_proxy: bool,
    url: Option<&'a str>,
    earlier_guid: Option<&'a str>,
}

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8]) -> Decoded<Self> {
        let mut head = Self::default();
        let mut cursor = Cursor::new(bytes);
        for _ in 0..map(&mut cursor)? {
            match cursor.name()? {
                "px" => head.is_proxy = cursor.token()? == Token::Bool(true),
                "url" => head.url = Some(text(&mut cursor)?),
                "rg" => head.earlier_guid = Some(text(&mut cursor)?),
                // What it says of its type may be another than the one that is asked which properties are unique.
                "ty" => return Err(cursor.error()),
                name => head.audit.read(name, &mut cursor)?,
            }
        }
        Ok(head)
    }

    /// Writes the members.
    fn write(
        self,
        guid: &str,
        of: Option<&ResolvedType>,
        cursor: &Cursor<'_>,
        writer: &mut Writer,
    ) -> Decoded<()> {
        self.audit.write(of, cursor, writer)?;
        writer.known_key("\"guid\":");
        writer.string(guid);
        for (key, text) in [
            ("\"instanceURL\":", self.url),
            ("\"reIdentifiedFromGUID\":", self.earlier_guid),
        ] {
            if let Some(text) = text {
                writer.known_key(key);
                writer.string(text);
            }
        }
        Ok(())
    }
}
