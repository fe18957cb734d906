//! Decodes stored properties and their values.

use varve_encoding::datum::{Cursor, Token};

use super::decode::{Decoded, Parts, int, map, optional_int, raw_json, text};
use super::encode::{expected_category, expected_header};
use crate::instances::{
    ArrayPropertyValue, BigDecimal, BigInteger, EnumPropertyValue, InstanceProperties,
    InstancePropertyValue, MapPropertyValue, Primitive, PrimitivePropertyValue,
    PropertyValueHeader, StructPropertyValue,
};
use crate::json::Millis;
use crate::types::{AttributeTypeDef, PrimitiveDefCategory, ResolvedType};

/// Decodes the properties of an instance of the type `of`.
pub(super) fn properties_of(
    parts: &Parts<'_>,
    of: Option<&ResolvedType>,
) -> Decoded<Option<InstanceProperties>> {
    let Some(bytes) = parts.properties else {
        return Ok(None);
    };
    properties(&mut Cursor::new(bytes), of).map(Some)
}

/// Decodes only the property `name`, from the bytes of an instance's properties.
pub(super) fn property_of(
    cursor: &mut Cursor<'_>,
    of: Option<&ResolvedType>,
    name: &str,
) -> Decoded<Option<InstancePropertyValue>> {
    for _ in 0..map(cursor)? {
        if cursor.name()? != "vs" {
            cursor.skip()?;
            continue;
        }
        for _ in 0..map(cursor)? {
            if cursor.name()? == name {
                let attribute = of.and_then(|of| of.property(name));
                let def = attribute.and_then(|property| property.attribute.type_def());
                return value(cursor, def.map(|def| &**def), 0).map(Some);
            }
            cursor.skip()?;
        }
    }
    Ok(None)
}

pub(super) fn properties(
    cursor: &mut Cursor<'_>,
    of: Option<&ResolvedType>,
) -> Decoded<InstanceProperties> {
    match cursor.token()? {
        Token::Map(members) => properties_map(members, cursor, of, 0),
        _ => Err(cursor.error()),
    }
}

/// The greatest depth that is read. It is more than the greatest depth that is written.
const DEPTH_MAX: usize = 64;

fn nested(cursor: &mut Cursor<'_>, depth: usize) -> Decoded<Option<InstanceProperties>> {
    match cursor.token()? {
        Token::Null => Ok(None),
        Token::Map(members) => properties_map(members, cursor, None, depth + 1).map(Some),
        _ => Err(cursor.error()),
    }
}

fn properties_map(
    members: u32,
    cursor: &mut Cursor<'_>,
    of: Option<&ResolvedType>,
    depth: usize,
) -> Decoded<InstanceProperties> {
    if depth > DEPTH_MAX {
        return Err(cursor.error());
    }
    let mut made = InstanceProperties {
        header_version: Some(1),
        ..InstanceProperties::default()
    };
    for _ in 0..members {
        match cursor.name()? {
            "hv" => made.header_version = optional_int(cursor)?,
            "ef" => made.effective_from = Some(Millis(int(cursor)?)),
            "et" => made.effective_to = Some(Millis(int(cursor)?)),
            "vs" => {
                for _ in 0..map(cursor)? {
                    let name = cursor.name()?;
                    let attribute = of.and_then(|of| of.property(name));
                    let def = attribute.and_then(|property| property.attribute.type_def());
                    let value = value(cursor, def.map(|def| &**def), depth)?;
                    made.values.insert(name.to_owned(), value);
                }
            }
            _ => cursor.skip()?,
        }
    }
    Ok(made)
}

fn value(
    cursor: &mut Cursor<'_>,
    def: Option<&AttributeTypeDef>,
    depth: usize,
) -> Decoded<InstancePropertyValue> {
    let token = cursor.token()?;
    value_of(token, cursor, def, depth)
}

/// Decodes the value that begins with `token`, which has been read.
pub(super) fn value_of(
    token: Token<'_>,
    cursor: &mut Cursor<'_>,
    def: Option<&AttributeTypeDef>,
    depth: usize,
) -> Decoded<InstancePropertyValue> {
    match token {
        Token::Map(members) => compound(members, cursor, def, depth),
        Token::List(items) => long_primitive(items, cursor, def),
        plain => {
            let category = category_of(plain, def);
            Ok(InstancePropertyValue::Primitive(PrimitivePropertyValue {
                header: expected_header(def),
                category,
                value: primitive(category, plain, cursor)?,
            }))
        }
    }
}

/// The kind of a plain value of an attribute.
pub(super) fn category_of(
    plain: Token<'_>,
    def: Option<&AttributeTypeDef>,
) -> PrimitiveDefCategory {
    expected_category(def)
        .filter(|category| fits(*category, plain))
        .unwrap_or_else(|| usual_category(plain))
}

/// Whether a plain value may have this kind. It may not if the attribute has since been removed
/// from the type.
fn fits(category: PrimitiveDefCategory, plain: Token<'_>) -> bool {
    use PrimitiveDefCategory as Of;
    match plain {
        Token::Bool(_) => category == Of::Boolean,
        Token::Int(_) => matches!(
            category,
            Of::Byte | Of::Short | Of::Int | Of::Long | Of::Date
        ),
        Token::Float(_) => matches!(category, Of::Float | Of::Double),
        Token::Text(_) => {
            matches!(
                category,
                Of::String | Of::Char | Of::BigInteger | Of::BigDecimal
            )
        }
        _ => true,
    }
}

fn usual_category(plain: Token<'_>) -> PrimitiveDefCategory {
    match plain {
        Token::Bool(_) => PrimitiveDefCategory::Boolean,
        Token::Int(_) => PrimitiveDefCategory::Long,
        Token::Float(_) => PrimitiveDefCategory::Double,
        _ => PrimitiveDefCategory::String,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "what was a float is one again"
)]
pub(super) fn primitive(
    category: PrimitiveDefCategory,
    plain: Token<'_>,
    cursor: &Cursor<'_>,
) -> Decoded<Option<Primitive>> {
    use PrimitiveDefCategory as Of;
    let wrong = || cursor.error();
    Ok(Some(match (category, plain) {
        (_, Token::Null) => return Ok(None),
        (Of::Boolean, Token::Bool(flag)) => Primitive::Boolean(flag),
        (Of::Byte, Token::Int(number)) => {
            Primitive::Byte(i8::try_from(number).map_err(|_| wrong())?)
        }
        (Of::Short, Token::Int(number)) => {
            Primitive::Short(i16::try_from(number).map_err(|_| wrong())?)
        }
        (Of::Int, Token::Int(number)) => {
            Primitive::Int(i32::try_from(number).map_err(|_| wrong())?)
        }
        (Of::Long, Token::Int(number)) => Primitive::Long(number),
        (Of::Date, Token::Int(number)) => Primitive::Date(Millis(number)),
        (Of::Float, Token::Float(number)) => Primitive::Float(number as f32),
        (Of::Double, Token::Float(number)) => Primitive::Double(number),
        (Of::String, Token::Text(text)) => Primitive::String(text.to_owned()),
        (Of::Char, Token::Text(text)) => Primitive::Char(text.chars().next().ok_or_else(wrong)?),
        (Of::BigInteger, Token::Text(text)) => {
            Primitive::BigInteger(BigInteger::from_text(text).ok_or_else(wrong)?)
        }
        (Of::BigDecimal, Token::Text(text)) => {
            Primitive::BigDecimal(BigDecimal::from_text(text).ok_or_else(wrong)?)
        }
        (Of::Unknown, Token::Text(text)) => Primitive::Object(raw_json(text, cursor)?),
        _ => return Err(wrong()),
    }))
}

fn value_header(cursor: &mut Cursor<'_>) -> Decoded<PropertyValueHeader> {
    Ok(PropertyValueHeader {
        header_version: optional_int(cursor)?,
        type_guid: optional_text(cursor)?,
        type_name: optional_text(cursor)?,
    })
}

fn optional_text(cursor: &mut Cursor<'_>) -> Decoded<Option<String>> {
    match cursor.token()? {
        Token::Text(text) => Ok(Some(text.to_owned())),
        Token::Null => Ok(None),
        _ => Err(cursor.error()),
    }
}

fn long_primitive(
    items: u32,
    cursor: &mut Cursor<'_>,
    def: Option<&AttributeTypeDef>,
) -> Decoded<InstancePropertyValue> {
    let number = int(cursor)?;
    let category = usize::try_from(number)
        .ok()
        .and_then(|at| PrimitiveDefCategory::ALL.get(at).copied())
        .ok_or_else(|| cursor.error())?;
    let plain = cursor.token()?;
    let value = primitive(category, plain, cursor)?;
    let header = match items {
        2 => expected_header(def),
        5 => value_header(cursor)?,
        _ => return Err(cursor.error()),
    };
    Ok(InstancePropertyValue::Primitive(PrimitivePropertyValue {
        header,
        category,
        value,
    }))
}

fn compound(
    members: u32,
    cursor: &mut Cursor<'_>,
    def: Option<&AttributeTypeDef>,
    depth: usize,
) -> Decoded<InstancePropertyValue> {
    let mut header = None;
    let mut made = None;
    for _ in 0..members {
        match (cursor.name()?, &mut made) {
            ("e", _) => {
                let ordinal = int(cursor)?;
                made = Some(InstancePropertyValue::Enum(EnumPropertyValue {
                    ordinal: i32::try_from(ordinal).map_err(|_| cursor.error())?,
                    ..EnumPropertyValue::default()
                }));
            }
            ("s", Some(InstancePropertyValue::Enum(value))) => {
                value.symbolic_name = Some(text(cursor)?.to_owned());
            }
            ("d", Some(InstancePropertyValue::Enum(value))) => {
                value.description = Some(text(cursor)?.to_owned());
            }
            ("u", _) => {
                made = Some(InstancePropertyValue::Struct(StructPropertyValue {
                    attributes: nested(cursor, depth)?,
                    ..StructPropertyValue::default()
                }));
            }
            ("m", _) => {
                made = Some(InstancePropertyValue::Map(MapPropertyValue {
                    values: nested(cursor, depth)?,
                    ..MapPropertyValue::default()
                }));
            }
            ("a", _) => {
                made = Some(InstancePropertyValue::Array(ArrayPropertyValue {
                    values: nested(cursor, depth)?,
                    ..ArrayPropertyValue::default()
                }));
            }
            ("c", Some(InstancePropertyValue::Array(value))) => {
                let count = int(cursor)?;
                value.count = i32::try_from(count).map_err(|_| cursor.error())?;
            }
            ("h", _) => match cursor.token()? {
                Token::List(3) => header = Some(value_header(cursor)?),
                _ => return Err(cursor.error()),
            },
            _ => cursor.skip()?,
        }
    }
    let mut made = made.ok_or_else(|| cursor.error())?;
    *made.header_mut() = header.unwrap_or_else(|| expected_header(def));
    Ok(made)
}
