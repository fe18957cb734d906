//! Decodes stored content: the inverse of [`super::encode`].

use std::sync::Arc;

use varve_encoding::DecodeError;
use varve_encoding::datum::{Cursor, Token};
use varve_encoding::row::PropertyReader;
use varve_encoding::value::{ValueRef, object_bytes};
use varve_graph::GraphError;

use super::audit::{Audit, Head};
use super::carried;
use super::made::{MadeClassifications, MadeJson};
use super::properties::{properties, properties_of};
use super::state::Keys;
use crate::instances::{
    Classification, ClassificationOrigin, EntityDetail, EntityProxy, InstanceHeader,
};
use crate::json::{self, Limits, RawJson, Shared};
use crate::store::{LifeStatus, StoredEntity, StoredRelationship};
use crate::types::{Catalogue, InstanceStatus, ResolvedType};

/// A decoded value, or where decoding failed.
pub(super) type Decoded<T> = Result<T, DecodeError>;

/// Decodes instances of known types.
#[derive(Clone, Copy)]
pub(super) struct Decoder<'a> {
    pub(super) types: &'a Arc<Catalogue>,
    pub(super) made: &'a MadeJson<MadeClassifications>,
}

/// The nested values of an instance.
#[derive(Default)]
pub(super) struct Parts<'a> {
    pub(super) header: &'a [u8],
    pub(super) properties: Option<&'a [u8]>,
    pub(super) classifications: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Finds the parts in an element's properties.
    pub(super) fn of(mut reader: PropertyReader<'a>, keys: Keys) -> Decoded<Self> {
        let mut parts = Self::default();
        while let Some((key, value)) = reader.next_shallow()? {
            let ValueRef::Nested(nested) = value else {
                continue;
            };
            let bytes = object_bytes(nested);
            let bytes = bytes.ok_or_else(|| DecodeError::new("a nested value", nested, 0))?;
            if key.0 == keys.header {
                parts.header = bytes;
            } else if key.0 == keys.properties {
                parts.properties = Some(bytes);
            } else if key.0 == keys.classifications {
                parts.classifications = Some(bytes);
            }
        }
        Ok(parts)
    }
}

/// The classifications that were read last. Most states in an entity's history have the same ones.
#[derive(Default)]
pub(super) struct LastClassifications {
    bytes: Vec<u8>,
    read: Shared<Vec<Classification>>,
}

impl Decoder<'_> {
    /// Decodes the entity with this GUID and type. With `last`, its classifications are shared with
    /// those of the previous call if both are stored in the same bytes.
    pub(super) fn entity(
        &self,
        guid: &str,
        of: Option<&ResolvedType>,
        parts: &Parts<'_>,
        last: Option<&mut LastClassifications>,
    ) -> Result<StoredEntity, GraphError> {
        let (header, is_proxy) = header(guid, of, parts.header)?;
        let properties = properties_of(parts, of)?;
        let classifications = match (parts.classifications, last) {
            (None, _) => Shared::default(),
            (Some(bytes), Some(last)) if last.bytes == bytes => last.read.clone(),
            (Some(bytes), last) => {
                let read = carried::shared(self.types, self.made, bytes)?;
                if let Some(last) = last {
                    last.bytes = bytes.to_owned();
                    last.read = read.clone();
                }
                read
            }
        };
        Ok(if is_proxy {
            StoredEntity::Proxy(EntityProxy {
                header,
                classifications,
                unique_properties: properties,
            })
        } else {
            StoredEntity::Detail(EntityDetail {
                header,
                classifications,
                properties,
            })
        })
    }

    /// Decodes the header of an entity, without the mapping properties.
    pub(super) fn entity_head(
        guid: &str,
        of: Option<&ResolvedType>,
        parts: &Parts<'_>,
    ) -> Decoded<StoredEntity> {
        let (header, is_proxy) = short_header(guid, of, parts.header)?;
        Ok(if is_proxy {
            StoredEntity::Proxy(EntityProxy {
                header,
                ..EntityProxy::default()
            })
        } else {
            StoredEntity::Detail(EntityDetail {
                header,
                ..EntityDetail::default()
            })
        })
    }

    /// The same for a relationship.
    pub(super) fn relationship_head(
        guid: &str,
        of: Option<&ResolvedType>,
        ends: [&str; 2],
        parts: &Parts<'_>,
    ) -> Decoded<StoredRelationship> {
        let (header, _) = short_header(guid, of, parts.header)?;
        Ok(StoredRelationship {
            header,
            properties: None,
            ends: ends.map(str::to_owned),
        })
    }

    /// Decodes the relationship with this GUID, type and ends.
    pub(super) fn relationship(
        guid: &str,
        of: Option<&ResolvedType>,
        ends: [&str; 2],
        parts: &Parts<'_>,
    ) -> Result<StoredRelationship, GraphError> {
        let (header, _) = header(guid, of, parts.header)?;
        Ok(StoredRelationship {
            header,
            properties: properties_of(parts, of)?,
            ends: ends.map(str::to_owned),
        })
    }
}

/// Decodes a stored list of classifications.
pub(super) fn classifications(types: &Catalogue, bytes: &[u8]) -> Decoded<Vec<Classification>> {
    let mut cursor = Cursor::new(bytes);
    let Token::List(count) = cursor.token()? else {
        return Err(cursor.error());
    };
    (0..count)
        .map(|_| classification(types, &mut cursor))
        .collect()
}

/// Decodes the classifications in the list that have this name.
pub(super) fn classifications_named(
    types: &Catalogue,
    bytes: &[u8],
    name: &str,
) -> Decoded<Vec<Classification>> {
    let mut cursor = Cursor::new(bytes);
    let Token::List(count) = cursor.token()? else {
        return Err(cursor.error());
    };
    let mut found = Vec::new();
    for _ in 0..count {
        let mut reading = Reading::default();
        let members = map(&mut cursor)?;
        for member in 0..members {
            reading.member(types, &mut cursor)?;
            // The name is stored first.
            if member == 0 && reading.made.name() != name {
                for _ in 1..members {
                    cursor.name()?;
                    cursor.skip()?;
                }
                break;
            }
        }
        if reading.made.name() == name {
            found.push(reading.finish(&cursor)?);
        }
    }
    Ok(found)
}

fn classification(types: &Catalogue, cursor: &mut Cursor<'_>) -> Decoded<Classification> {
    let mut reading = Reading::default();
    for _ in 0..map(cursor)? {
        reading.member(types, cursor)?;
    }
    reading.finish(cursor)
}

/// A classification that is being decoded.
struct Reading<'t, 'a> {
    made: Classification,
    of: Option<&'t ResolvedType>,
    audit: Audit<'a>,
}

impl Default for Reading<'_, '_> {
    fn default() -> Self {
        Self {
            made: Classification {
                origin: Some(ClassificationOrigin::Assigned),
                ..Classification::default()
            },
            of: None,
            audit: Audit::default(),
        }
    }
}

impl<'t, 'a> Reading<'t, 'a> {
    fn member(&mut self, types: &'t Catalogue, cursor: &mut Cursor<'a>) -> Decoded<()> {
        let made = &mut self.made;
        match cursor.name()? {
            "n" => {
                let name = text(cursor)?;
                self.of = types.by_name(name).map(|index| types.get(index));
                made.name = Some(name.to_owned());
            }
            "o" => made.origin = named(cursor, ClassificationOrigin::from_name)?,
            "og" => made.origin_guid = Some(text(cursor)?.to_owned()),
            "pp" => made.properties = Some(properties(cursor, self.of)?),
            name => self.audit.read(name, cursor)?,
        }
        Ok(())
    }

    fn finish(mut self, cursor: &Cursor<'_>) -> Decoded<Classification> {
        self.made.audit = self.audit.finish(self.of, cursor)?;
        Ok(self.made)
    }
}

/// Decodes the header of an instance of the type `of`. Returns it with whether it is a proxy's.
pub(super) fn header(
    guid: &str,
    of: Option<&ResolvedType>,
    bytes: &[u8],
) -> Decoded<(InstanceHeader, bool)> {
    Head::read(bytes)?.finish(guid, of, &Cursor::new(bytes))
}

/// The same without the mapping properties.
fn short_header(
    guid: &str,
    of: Option<&ResolvedType>,
    bytes: &[u8],
) -> Decoded<(InstanceHeader, bool)> {
    let mut head = Head::read(bytes)?;
    head.audit = head.audit.without_mapping();
    head.finish(guid, of, &Cursor::new(bytes))
}

/// The status of an instance, from the bytes of its header. Reads less than [`Head`], since graph
/// queries need the status of many instances.
pub(super) fn life_status(header: &[u8]) -> Decoded<LifeStatus> {
    let mut cursor = Cursor::new(header);
    let members = map(&mut cursor)?;
    let mut found = LifeStatus {
        is_proxy: false,
        status: Some(InstanceStatus::Active),
    };
    for _ in 0..members {
        match cursor.name()? {
            "px" => found.is_proxy = cursor.token()? == Token::Bool(true),
            "st" => found.status = named(&mut cursor, InstanceStatus::from_name)?,
            _ => cursor.skip()?,
        }
    }
    Ok(found)
}

/// The version number of an instance, from the bytes of its header.
pub(super) fn version(header: &[u8]) -> Decoded<i64> {
    let mut cursor = Cursor::new(header);
    let members = map(&mut cursor)?;
    for _ in 0..members {
        if cursor.name()? == "v" {
            return int(&mut cursor);
        }
        cursor.skip()?;
    }
    Ok(0)
}

pub(super) fn map(cursor: &mut Cursor<'_>) -> Decoded<u32> {
    match cursor.token()? {
        Token::Map(members) => Ok(members),
        _ => Err(cursor.error()),
    }
}

pub(super) fn text<'a>(cursor: &mut Cursor<'a>) -> Decoded<&'a str> {
    match cursor.token()? {
        Token::Text(text) => Ok(text),
        _ => Err(cursor.error()),
    }
}

pub(super) fn int(cursor: &mut Cursor<'_>) -> Decoded<i64> {
    match cursor.token()? {
        Token::Int(number) => Ok(number),
        _ => Err(cursor.error()),
    }
}

pub(super) fn optional_int(cursor: &mut Cursor<'_>) -> Decoded<Option<i64>> {
    match cursor.token()? {
        Token::Int(number) => Ok(Some(number)),
        Token::Null => Ok(None),
        _ => Err(cursor.error()),
    }
}

pub(super) fn named<T>(
    cursor: &mut Cursor<'_>,
    of: impl Fn(&str) -> Option<T>,
) -> Decoded<Option<T>> {
    match cursor.token()? {
        Token::Null => Ok(None),
        Token::Text(name) => match of(name) {
            Some(named) => Ok(Some(named)),
            None => Err(cursor.error()),
        },
        _ => Err(cursor.error()),
    }
}

pub(super) fn raw_json(text: &str, cursor: &Cursor<'_>) -> Decoded<RawJson> {
    json::decode(text.as_bytes(), Limits::KEPT).map_err(|_| cursor.error())
}
