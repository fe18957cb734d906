//! Renders the JSON of instances directly from their stored content, without objects. This fails if
//! an instance is damaged, has a form that only the decoder reads, or states a type that differs
//! from the catalogue's. Such an instance is decoded to an object, and the object is encoded.

use bytes::Bytes;
use compact_str::CompactString;
use varve_encoding::datum::Cursor;
use varve_encoding::row::{edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_model::{EdgeId, VertexId};

use super::audit::Head;
use super::carried::{self, JSON_PER_STORED, put_named_value, put_properties};
use super::decode::{Decoded, Decoder, Parts, life_status, map};
use super::made::{Known, MadeEntity};
use super::read::guid_of;
use super::state::TypesInGraph;
use crate::instances::{Classification, EntityDetail, EntityProxy};
use crate::json::{Field, Pieces, Shared, Writer};
use crate::store::{EntityJson, LifeStatus, Link, RenderedEntity, RenderedRelationship};
use crate::types::{InstanceStatus, ResolvedType, TypeIndex};

/// The usual size of an instance's members, in bytes.
const MEMBERS_BYTES: usize = 2048;

impl TypesInGraph {
    /// Renders the entity in a vertex's content.
    pub(super) fn rendered_entity(
        &self,
        guid: &str,
        content: &[u8],
    ) -> Result<RenderedEntity, GraphError> {
        let is_asked_for = match self.made_entities.of((guid, content)) {
            Known::Made(made) => return Ok(made.rendered),
            Known::AskedFor => true,
            Known::Nothing => false,
        };
        let (label, properties) = vertex_parts(content)?;
        let of = self.entity_type(label.0);
        let parts = Parts::of(properties, self.keys)?;
        let json = self.decoder().entity_json(guid, self.resolved(of), &parts);
        let Ok((life_status, json)) = json else {
            let (entity, _) = self.entity(guid, content)?;
            return Ok(RenderedEntity::new(&self.types, entity));
        };
        let rendered = RenderedEntity::of_json(guid, of, life_status, json);
        if is_asked_for {
            self.made_entities.keep(&MadeEntity {
                stored: Bytes::copy_from_slice(content),
                rendered: rendered.clone(),
            });
        }
        Ok(rendered)
    }

    /// Renders the entity itself, without its proxy; `None` if only a proxy is known.
    pub(super) fn rendered_detail(
        &self,
        guid: &str,
        content: &[u8],
    ) -> Result<Option<Shared<EntityDetail>>, GraphError> {
        match self.made_entities.of((guid, content)) {
            Known::Made(made) => return Ok(made.rendered.detail().cloned()),
            // The whole entity is about to be cached, with its proxy.
            Known::AskedFor => return Ok(self.rendered_entity(guid, content)?.detail().cloned()),
            Known::Nothing => {}
        }
        let (label, properties) = vertex_parts(content)?;
        let of = self.resolved(self.entity_type(label.0));
        let parts = Parts::of(properties, self.keys)?;
        let Ok(detail) = self.decoder().detail_json(guid, of, &parts) else {
            let (entity, _) = self.entity(guid, content)?;
            return Ok(RenderedEntity::new(&self.types, entity).detail().cloned());
        };
        Ok(detail.map(Shared::of_json))
    }

    /// Renders the entity's proxy, for the end of a relationship.
    pub(super) fn rendered_proxy(
        &self,
        guid: &str,
        content: &[u8],
    ) -> Result<Shared<EntityProxy>, GraphError> {
        if let Known::Made(made) = self.made_entities.of((guid, content)) {
            return Ok(made.rendered.proxy().clone());
        }
        let (label, properties) = vertex_parts(content)?;
        let of = self.resolved(self.entity_type(label.0));
        let parts = Parts::of(properties, self.keys)?;
        let Ok(proxy) = self.decoder().proxy_json(guid, of, &parts) else {
            let (entity, _) = self.entity(guid, content)?;
            return Ok(RenderedEntity::new(&self.types, entity).proxy().clone());
        };
        Ok(Shared::of_json(proxy))
    }

    /// Renders the relationship in an edge's content.
    pub(super) fn rendered_relationship(
        &self,
        id: EdgeId,
        content: &[u8],
    ) -> Result<RenderedRelationship, GraphError> {
        let (_, _, properties) = edge_parts(content)?;
        let parts = Parts::of(properties, self.keys)?;
        let of = self.relationship_type(id.label.0);
        let json = relationship_json(&id.sort_values, self.resolved(of), &parts);
        Ok(match json {
            Ok((status, members)) => RenderedRelationship::of_json(link(id, of, status)?, members),
            Err(_) => RenderedRelationship::new(&self.types, self.relationship(&id, content)?.0),
        })
    }

    /// The link of an edge.
    pub(super) fn link(&self, id: EdgeId, content: &[u8]) -> Result<Link, GraphError> {
        let (_, _, properties) = edge_parts(content)?;
        let parts = Parts::of(properties, self.keys)?;
        let of = self.relationship_type(id.label.0);
        link(id, of, life_status(parts.header)?.status)
    }
}

fn link(
    id: EdgeId,
    of: Option<TypeIndex>,
    status: Option<InstanceStatus>,
) -> Result<Link, GraphError> {
    let end = |id: VertexId| match id {
        VertexId::Text(guid) => Ok(guid),
        other => guid_of(&other).map(CompactString::new),
    };
    Ok(Link {
        guid: id.sort_values,
        ends: [end(id.source)?, end(id.target)?],
        of,
        status,
    })
}

impl Decoder<'_> {
    /// Renders the entity with this GUID and type, and its proxy. Returns the JSON with the status.
    pub(super) fn entity_json(
        &self,
        guid: &str,
        of: Option<&ResolvedType>,
        parts: &Parts<'_>,
    ) -> Decoded<(LifeStatus, EntityJson)> {
        let rendering = self.rendering(guid, of, parts)?;
        let json = EntityJson {
            detail: rendering.detail()?,
            proxy: rendering.proxy()?,
        };
        Ok((rendering.life_status, json))
    }

    /// Renders the entity itself; `None` if only a proxy is known.
    pub(super) fn detail_json(
        &self,
        guid: &str,
        of: Option<&ResolvedType>,
        parts: &Parts<'_>,
    ) -> Decoded<Option<Pieces>> {
        let head = rendered_head(parts.header)?;
        if head.is_proxy {
            return Ok(None);
        }
        let classified = parts.classifications.map_or(0, <[u8]>::len);
        let mut writer = Writer::with_capacity(MEMBERS_BYTES + classified * JSON_PER_STORED);
        let mut done = Ok(());
        writer.object(|writer| {
            writer.class("EntityDetail");
            done = self.put_start((guid, of), head, parts, writer);
            if let (Some(bytes), true) = (parts.properties, done.is_ok()) {
                writer.known_key("\"properties\":");
                done = put_properties(of, &mut Cursor::new(bytes), writer);
            }
        });
        done.map(|()| Some(writer.finish_to_keep()))
    }

    /// Renders the entity's proxy.
    pub(super) fn proxy_json(
        &self,
        guid: &str,
        of: Option<&ResolvedType>,
        parts: &Parts<'_>,
    ) -> Decoded<Pieces> {
        let head = rendered_head(parts.header)?;
        let is_proxy = head.is_proxy;
        let classified = parts.classifications.map_or(0, <[u8]>::len);
        let mut writer = Writer::with_capacity(MEMBERS_BYTES + classified * JSON_PER_STORED);
        let mut done = Ok(());
        writer.object(|writer| {
            writer.class("EntityProxy");
            done = self
                .put_start((guid, of), head, parts, writer)
                .and_then(|()| {
                    let Some(bytes) = parts.properties else {
                        return Ok(());
                    };
                    let key = "\"uniqueProperties\":";
                    if is_proxy {
                        writer.known_key(key);
                        return put_properties(of, &mut Cursor::new(bytes), writer);
                    }
                    if let Some(unique) = unique_properties(of, bytes)? {
                        writer.known_key(key);
                        writer.pieces(&unique);
                    }
                    Ok(())
                });
        });
        done.map(|()| writer.finish_to_keep())
    }

    /// Writes the members that come before an entity's properties, except the class.
    fn put_start(
        &self,
        (guid, of): (&str, Option<&ResolvedType>),
        head: Head<'_>,
        parts: &Parts<'_>,
        writer: &mut Writer,
    ) -> Decoded<()> {
        head.write(guid, of, &Cursor::new(parts.header), writer)?;
        if let Some(bytes) = parts.classifications {
            writer.known_key("\"classifications\":");
            carried::put(self.types, self.made, bytes, writer)?;
        }
        Ok(())
    }

    fn rendering<'p>(
        &self,
        guid: &str,
        of: Option<&'p ResolvedType>,
        parts: &'p Parts<'_>,
    ) -> Decoded<Rendering<'p>> {
        let head = rendered_head(parts.header)?;
        let life_status = LifeStatus {
            is_proxy: head.is_proxy,
            status: head.audit.status(),
        };
        let mut writer = Writer::with_capacity(MEMBERS_BYTES);
        head.write(guid, of, &Cursor::new(parts.header), &mut writer)?;
        let classifications = match parts.classifications {
            Some(bytes) => Some(carried::shared(self.types, self.made, bytes)?),
            None => None,
        };
        Ok(Rendering {
            of,
            life_status,
            header: writer.finish_to_keep(),
            classifications,
            properties: parts.properties,
        })
    }
}

/// The parts of an entity's JSON.
struct Rendering<'p> {
    of: Option<&'p ResolvedType>,
    life_status: LifeStatus,
    header: Pieces,
    classifications: Option<Shared<Vec<Classification>>>,
    properties: Option<&'p [u8]>,
}

impl Rendering<'_> {
    fn detail(&self) -> Decoded<Option<Pieces>> {
        if self.life_status.is_proxy {
            return Ok(None);
        }
        let properties = self.all_properties()?;
        Ok(Some(self.json(
            "EntityDetail",
            "\"properties\":",
            properties,
        )))
    }

    fn proxy(&self) -> Decoded<Pieces> {
        let unique = match self.properties {
            Some(_) if self.life_status.is_proxy => self.all_properties()?,
            Some(bytes) => unique_properties(self.of, bytes)?,
            None => None,
        };
        Ok(self.json("EntityProxy", "\"uniqueProperties\":", unique))
    }

    fn all_properties(&self) -> Decoded<Option<Pieces>> {
        let Some(bytes) = self.properties else {
            return Ok(None);
        };
        let mut writer = Writer::with_capacity(MEMBERS_BYTES);
        put_properties(self.of, &mut Cursor::new(bytes), &mut writer)?;
        Ok(Some(writer.finish_to_keep()))
    }

    fn json(&self, class: &str, key: &'static str, properties: Option<Pieces>) -> Pieces {
        let mut writer = Writer::with_capacity(MEMBERS_BYTES);
        writer.object(|writer| {
            writer.class(class);
            writer.pieces(&self.header);
            if let Some(classifications) = &self.classifications {
                writer.known_key("\"classifications\":");
                classifications.write(writer);
            }
            if let Some(properties) = properties {
                writer.known_key(key);
                writer.pieces(&properties);
            }
        });
        writer.finish_to_keep()
    }
}

/// Reads a header that can be rendered directly.
fn rendered_head(bytes: &[u8]) -> Decoded<Head<'_>> {
    let head = Head::read(bytes)?;
    // A stated type may differ from the catalogue's type, which decides which properties are
    // unique.
    if head.audit.says_type() {
        return Err(Cursor::new(bytes).error());
    }
    Ok(head)
}

/// Renders the members of a relationship's object that come before its ends. Returns them with the
/// status.
fn relationship_json(
    guid: &str,
    of: Option<&ResolvedType>,
    parts: &Parts<'_>,
) -> Decoded<(Option<InstanceStatus>, Pieces)> {
    let head = rendered_head(parts.header)?;
    let status = head.audit.status();
    let mut writer = Writer::with_capacity(MEMBERS_BYTES);
    writer.class("Relationship");
    head.write(guid, of, &Cursor::new(parts.header), &mut writer)?;
    if let Some(bytes) = parts.properties {
        writer.known_key("\"properties\":");
        put_properties(of, &mut Cursor::new(bytes), &mut writer)?;
    }
    Ok((status, writer.finish_to_keep()))
}

/// Renders the unique properties of an entity, for its proxy; `None` if it has none.
fn unique_properties(of: Option<&ResolvedType>, bytes: &[u8]) -> Decoded<Option<Pieces>> {
    let Some(of) = of else { return Ok(None) };
    let mut cursor = Cursor::new(bytes);
    let mut values = Writer::new();
    let mut last = None;
    for _ in 0..map(&mut cursor)? {
        if cursor.name()? != "vs" {
            cursor.skip()?;
            continue;
        }
        for _ in 0..map(&mut cursor)? {
            let name = cursor.name()?;
            // Objects have their properties in this order.
            if last.is_some_and(|last| last >= name) {
                return Err(cursor.error());
            }
            last = Some(name);
            match of.property(name).filter(|it| it.attribute.unique) {
                Some(property) => {
                    put_named_value(name, Some(property), &mut cursor, &mut values)?;
                }
                None => cursor.skip()?,
            }
        }
    }
    let values = values.finish_to_keep();
    if values.is_empty() {
        return Ok(None);
    }
    let mut writer = Writer::new();
    writer.object(|writer| {
        writer.class("InstanceProperties");
        writer.known_key("\"instanceProperties\":");
        writer.object(|writer| writer.pieces(&values));
    });
    Ok(Some(writer.finish_to_keep()))
}

impl Head<'_> {
    /// Writes the members of the header.
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
