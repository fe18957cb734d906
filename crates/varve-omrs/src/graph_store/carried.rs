//! The classifications that an entity carries. Their JSON is rendered directly from the stored
//! bytes, and they are decoded only when their fields are read. Most of them are read only to be
//! rendered, and most of a rendered entity is its classifications.

use std::sync::Arc;

use bytes::Bytes;
use varve_encoding::datum::{Cursor, Token};

use super::audit::Audit;
use super::decode::{
    Decoded, classifications, classifications_named, int, map, named, optional_int, text,
};
use super::encode::expected_category;
use super::made::{Known, MadeClassifications, MadeJson};
use super::properties::{category_of, primitive, value_of};
use crate::instances::{Classification, ClassificationOrigin};
use crate::json::{Encode, MakeLater, Shared, Writer};
use crate::types::{
    AttributeTypeDef, Catalogue, DefinedProperty, PrimitiveDefCategory, ResolvedType,
};

/// The classifications in these bytes, with their JSON: from the cache, or rendered now.
pub(super) fn shared(
    types: &Arc<Catalogue>,
    known: &MadeJson<MadeClassifications>,
    bytes: &[u8],
) -> Decoded<Shared<Vec<Classification>>> {
    let made = match known.of(("", bytes)) {
        Known::Made(made) => made,
        of @ (Known::AskedFor | Known::Nothing) => {
            let Ok(json) = json(types, bytes) else {
                // Damaged, or in a form that only the decoder reads.
                return classifications(types, bytes).map(Shared::new);
            };
            let made = MadeClassifications {
                stored: Bytes::copy_from_slice(bytes),
                json,
            };
            if matches!(of, Known::AskedFor) {
                known.keep(&made);
            }
            made
        }
    };
    let MadeClassifications { stored, json } = made;
    let (types, size) = (Arc::clone(types), json.len() + stored.len());
    Ok(Shared::made_later(json, size, Stored { types, stored }))
}

/// Writes the JSON of the classifications in these bytes. Fails if there are none. The JSON is
/// cached if the same bytes were requested recently.
pub(super) fn put(
    types: &Catalogue,
    known: &MadeJson<MadeClassifications>,
    bytes: &[u8],
    writer: &mut Writer,
) -> Decoded<()> {
    let json = match known.of(("", bytes)) {
        Known::Made(made) => made.json,
        Known::Nothing => return put_list(types, bytes, writer),
        Known::AskedFor => {
            let json = json(types, bytes)?;
            known.keep(&MadeClassifications {
                stored: Bytes::copy_from_slice(bytes),
                json: json.clone(),
            });
            json
        }
    };
    writer.pieces(&json.into());
    Ok(())
}

/// A stored list whose JSON has been rendered.
struct Stored {
    types: Arc<Catalogue>,
    stored: Bytes,
}

impl MakeLater<Vec<Classification>> for Stored {
    fn whole(&self) -> Vec<Classification> {
        let all = classifications(&self.types, &self.stored);
        all.expect("its JSON was made by the same steps")
    }

    fn named(&self, name: &str) -> Vec<Classification> {
        let named = classifications_named(&self.types, &self.stored, name);
        named.expect("its JSON was made by the same steps")
    }
}

/// Renders a stored list. Fails where decoding fails, and where members are not stored in the order
/// in which they are rendered.
pub(super) fn json(types: &Catalogue, bytes: &[u8]) -> Decoded<Bytes> {
    let mut writer = Writer::with_capacity(bytes.len() * JSON_PER_STORED);
    put_list(types, bytes, &mut writer)?;
    Ok(Bytes::from(writer.finish().into_boxed_slice()))
}

/// The usual number of JSON bytes for one stored byte.
pub(super) const JSON_PER_STORED: usize = 5;

fn put_list(types: &Catalogue, bytes: &[u8], writer: &mut Writer) -> Decoded<()> {
    let mut cursor = Cursor::new(bytes);
    let Token::List(count @ 1..) = cursor.token()? else {
        return Err(cursor.error());
    };
    let mut done = Ok(());
    writer.list(|writer| {
        done = (0..count).try_for_each(|_| put_classification(types, &mut cursor, writer));
    });
    done
}

fn put_classification(
    types: &Catalogue,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    let mut done = Ok(());
    writer.object(|writer| done = put_fields(types, cursor, writer));
    done
}

fn put_fields(types: &Catalogue, cursor: &mut Cursor<'_>, writer: &mut Writer) -> Decoded<()> {
    writer.class("Classification");
    let (mut name, mut of) = (None, None);
    let mut origin = Some(ClassificationOrigin::Assigned);
    let mut origin_guid = None;
    let mut audit = Some(Audit::default());
    for _ in 0..map(cursor)? {
        match (cursor.name()?, &mut audit) {
            ("n", Some(_)) => {
                if name.is_some() {
                    return Err(cursor.error());
                }
                let called = text(cursor)?;
                of = types.by_name(called).map(|index| types.get(index));
                name = Some(called);
            }
            ("o", _) => origin = named(cursor, ClassificationOrigin::from_name)?,
            ("og", _) => origin_guid = Some(text(cursor)?),
            // Stored last, after the audit header and the name.
            ("pp", Some(_)) => {
                let audit = audit.take().ok_or_else(|| cursor.error())?;
                put_head(audit, of, name, cursor, writer)?;
                writer.known_key("\"properties\":");
                put_properties(of, cursor, writer)?;
            }
            (_, None) => return Err(cursor.error()),
            (name, Some(audit)) => audit.read(name, cursor)?,
        }
    }
    if let Some(audit) = audit {
        put_head(audit, of, name, cursor, writer)?;
    }
    if let Some(origin) = origin {
        writer.known_key("\"classificationOrigin\":");
        origin.encode(writer);
    }
    if let Some(guid) = origin_guid {
        writer.known_key("\"classificationOriginGUID\":");
        writer.string(guid);
    }
    Ok(())
}

fn put_head(
    audit: Audit<'_>,
    of: Option<&ResolvedType>,
    name: Option<&str>,
    cursor: &Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    audit.write(of, cursor, writer)?;
    if let Some(name) = name {
        writer.known_key("\"name\":");
        writer.string(name);
    }
    Ok(())
}

/// Writes the properties of an instance of the type `of`.
pub(super) fn put_properties(
    of: Option<&ResolvedType>,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    let members = map(cursor)?;
    let mut done = Ok(());
    writer.object(|writer| {
        writer.class("InstanceProperties");
        done = put_members(members, of, cursor, writer);
    });
    done
}

fn put_members(
    members: u32,
    of: Option<&ResolvedType>,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    const VERSION: &str = "\"headerVersion\":";
    /// The rank of each member in the stored order.
    fn place(name: &str) -> usize {
        ["hv", "ef", "et", "vs"]
            .iter()
            .position(|known| *known == name)
            .map_or(usize::MAX, |at| at + 1)
    }
    let mut last = 0;
    for _ in 0..members {
        let name = cursor.name()?;
        if place(name) <= last {
            return Err(cursor.error());
        }
        if last == 0 && name != "hv" {
            writer.known_key(VERSION);
            writer.integer(1);
        }
        last = place(name);
        match name {
            "hv" => {
                if let Some(version) = optional_int(cursor)? {
                    writer.known_key(VERSION);
                    writer.integer(version);
                }
            }
            "ef" => {
                writer.known_key("\"effectiveFromTime\":");
                writer.integer(int(cursor)?);
            }
            "et" => {
                writer.known_key("\"effectiveToTime\":");
                writer.integer(int(cursor)?);
            }
            "vs" => put_values(of, cursor, writer)?,
            _ => return Err(cursor.error()),
        }
    }
    if last == 0 {
        writer.known_key(VERSION);
        writer.integer(1);
    }
    Ok(())
}

fn put_values(
    of: Option<&ResolvedType>,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    let count = map(cursor)?;
    if count == 0 {
        return Err(cursor.error());
    }
    let mut done = Ok(());
    writer.known_key("\"instanceProperties\":");
    writer.object(|writer| done = put_named_values(count, of, cursor, writer));
    done
}

fn put_named_values(
    count: u32,
    of: Option<&ResolvedType>,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    let mut last = None;
    for _ in 0..count {
        let name = cursor.name()?;
        if last.is_some_and(|last| last >= name) {
            return Err(cursor.error());
        }
        last = Some(name);
        put_named_value(name, of.and_then(|of| of.property(name)), cursor, writer)?;
    }
    Ok(())
}

/// Writes a property: its name and its value.
pub(super) fn put_named_value(
    name: &str,
    property: Option<&DefinedProperty>,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    let def = property.and_then(|property| property.attribute.type_def());
    let def = def.map(|def| &**def);
    let token = cursor.token()?;
    let is_plain = !matches!(token, Token::Map(_) | Token::List(_) | Token::Null);
    // If the value has the kind of the property's type, the rest of its JSON is the same each time.
    if let (true, Some(property), Some(def)) = (is_plain, property, def)
        && let Some(category) = expected_category(Some(def))
        && category_of(token, Some(def)) == category
    {
        let start = property.json(|| before_value(name, def, category));
        let text = match token {
            Token::Text(text) if category == PrimitiveDefCategory::String => Some(text),
            _ => None,
        };
        let value = match text {
            Some(_) => None,
            None => primitive(category, token, cursor)?,
        };
        writer.known_start(start, |writer| {
            if let Some(text) = text {
                writer.string(text);
            } else if let Some(value) = value {
                value.encode(writer);
            }
        });
        return Ok(());
    }
    writer.key(name);
    put_value(token, def, cursor, writer)
}

/// The JSON of a property up to its value, for a value of the kind of the property's type.
fn before_value(name: &str, def: &AttributeTypeDef, category: PrimitiveDefCategory) -> String {
    let mut writer = Writer::new();
    writer.object(|writer| {
        writer.key(name);
        writer.object(|writer| {
            put_kind(Some(def), category, writer);
            writer.known_key(VALUE);
            writer.integer(0);
        });
    });
    let json = String::from_utf8(writer.finish()).expect("JSON is text");
    let member = json.strip_prefix('{').and_then(|it| it.strip_suffix("0}}"));
    member.expect("it was written so").to_owned()
}

/// The last member of a primitive value.
const VALUE: &str = "\"primitiveValue\":";

/// Writes the members of a primitive value that state its kind.
fn put_kind(def: Option<&AttributeTypeDef>, category: PrimitiveDefCategory, writer: &mut Writer) {
    writer.class("PrimitivePropertyValue");
    writer.known_key("\"instancePropertyCategory\":");
    writer.string("PRIMITIVE");
    if let Some(guid) = def.and_then(|def| def.header.guid.as_deref()) {
        writer.known_key("\"typeGUID\":");
        writer.string(guid);
    }
    if let Some(name) = def.and_then(|def| def.header.name.as_deref()) {
        writer.known_key("\"typeName\":");
        writer.string(name);
    }
    writer.known_key("\"primitiveDefCategory\":");
    category.encode(writer);
}

/// Writes the value that begins with `token`, which has been read.
fn put_value(
    token: Token<'_>,
    def: Option<&AttributeTypeDef>,
    cursor: &mut Cursor<'_>,
    writer: &mut Writer,
) -> Decoded<()> {
    if matches!(token, Token::Map(_) | Token::List(_)) {
        value_of(token, cursor, def, 0)?.encode(writer);
        return Ok(());
    }
    let category = category_of(token, def);
    let (text, value) = match token {
        Token::Text(text) if category == PrimitiveDefCategory::String => (Some(text), None),
        plain => (None, primitive(category, plain, cursor)?),
    };
    writer.object(|writer| {
        put_kind(def, category, writer);
        if text.is_some() || value.is_some() {
            writer.known_key(VALUE);
        }
        if let Some(text) = text {
            writer.string(text);
        }
        if let Some(value) = value {
            value.encode(writer);
        }
    });
    Ok(())
}
