//! Encodes instances as stored content: nested values, written without a tree.
//!
//! An instance is a vertex or an edge with up to three properties that hold nested values: its
//! header, its properties, its classifications. Member names are short, and usual values are left
//! out: `docs/storage-format.md` has all of them. The part of a type's definition that its
//! instances repeat is not stored; it is read from the catalogue. It is stored only if an instance
//! differs from the definition, as reference copies may.

use varve_encoding::datum::{Members, put_bool, put_float, put_int, put_null, put_text};
use varve_encoding::key::put_schema_id;
use varve_encoding::value::put_object;

use super::state::Keys;
use crate::error::{Message, OmrsError};
use crate::instances::{
    Classification, ClassificationOrigin, EnumPropertyValue, InstanceAuditHeader, InstanceHeader,
    InstanceProperties, InstancePropertyValue, InstanceProvenanceType, InstanceType, Primitive,
    PrimitivePropertyValue, PropertyValueHeader,
};
use crate::json::{self, Encode, Millis, Shared};
use crate::store::{StoredEntity, StoredRelationship};
use crate::types::{
    AttributeTypeDef, AttributeTypeKind, Catalogue, InstanceStatus, PrimitiveDefCategory,
    ResolvedType,
};

/// The greatest depth of nested property values. Each level takes three of the levels that nested
/// values allow.
const DEPTH_MAX: usize = 30;
/// The largest stored instance, in bytes.
const CONTENT_BYTES_MAX: usize = 64 << 20;

/// Encodes instances of known types.
pub(super) struct Encoder<'a> {
    pub(super) types: &'a Catalogue,
    pub(super) keys: Keys,
}

impl Encoder<'_> {
    /// The content of an entity of the vertex label `label` and the type `of`, in a state that
    /// starts at `from`.
    pub(super) fn entity(
        &self,
        from: Millis,
        label: u32,
        of: &ResolvedType,
        entity: &StoredEntity,
    ) -> Result<Vec<u8>, OmrsError> {
        let mut content = Vec::with_capacity(1024);
        put_schema_id(label, &mut content);
        let is_proxy = matches!(entity, StoredEntity::Proxy(_));
        let (header, classifications) = (entity.header(), entity.classifications());
        self.put_parts(
            of,
            (header, is_proxy, from),
            entity.properties(),
            classifications,
            &mut content,
        )?;
        Ok(content)
    }

    /// The content of a relationship between vertices with these labels, in a state that starts at
    /// `from`.
    pub(super) fn relationship(
        &self,
        from: Millis,
        ends: [u32; 2],
        of: &ResolvedType,
        relationship: &StoredRelationship,
    ) -> Result<Vec<u8>, OmrsError> {
        let mut content = Vec::with_capacity(512);
        for label in ends {
            put_schema_id(label, &mut content);
        }
        let (header, properties) = (&relationship.header, relationship.properties.as_ref());
        self.put_parts(of, (header, false, from), properties, &[], &mut content)?;
        Ok(content)
    }

    fn put_parts(
        &self,
        of: &ResolvedType,
        (header, is_proxy, from): (&InstanceHeader, bool, Millis),
        properties: Option<&InstanceProperties>,
        classifications: &[Classification],
        content: &mut Vec<u8>,
    ) -> Result<(), OmrsError> {
        let mut parts: Vec<(u32, Vec<u8>)> = Vec::with_capacity(3);
        parts.push((self.keys.header, header_bytes(header, is_proxy, from, of)));
        if let Some(properties) = properties {
            let mut out = Vec::with_capacity(512);
            put_properties(properties, Some(of), 0, &mut out)?;
            parts.push((self.keys.properties, out));
        }
        if !classifications.is_empty() {
            let mut out = Vec::with_capacity(512);
            self.put_classifications(classifications, &mut out)?;
            parts.push((self.keys.classifications, out));
        }
        parts.sort_unstable_by_key(|(key, _)| *key);
        put_schema_id(u32::try_from(parts.len()).unwrap_or_default(), content);
        for (key, bytes) in parts {
            put_schema_id(key, content);
            put_object(&bytes, content);
        }
        if content.len() > CONTENT_BYTES_MAX {
            let fault = format!("it has more than {CONTENT_BYTES_MAX} bytes");
            return Err(OmrsError::new(Message::InstanceTooLarge, &[&fault]));
        }
        Ok(())
    }

    fn put_classifications(
        &self,
        classifications: &[Classification],
        out: &mut Vec<u8>,
    ) -> Result<(), OmrsError> {
        let mut list = Members::list(out);
        for classification in classifications {
            list.item();
            let of = self
                .types
                .by_name(classification.name())
                .map(|index| self.types.get(index));
            let mut map = Members::map(out);
            if let Some(name) = &classification.name {
                map.member("n", out);
                put_text(name, out);
            }
            put_audit(&classification.audit, of, &mut map, out);
            match classification.origin {
                Some(ClassificationOrigin::Assigned) => {}
                origin => {
                    map.member("o", out);
                    put_name(origin.map(ClassificationOrigin::name), out);
                }
            }
            put_optional("og", classification.origin_guid.as_deref(), &mut map, out);
            if let Some(properties) = &classification.properties {
                map.member("pp", out);
                put_properties(properties, of, 0, out)?;
            }
            map.end(out);
        }
        list.end(out);
        Ok(())
    }
}

fn put_name(name: Option<&str>, out: &mut Vec<u8>) {
    match name {
        Some(name) => put_text(name, out),
        None => put_null(out),
    }
}

fn put_optional(member: &str, text: Option<&str>, map: &mut Members, out: &mut Vec<u8>) {
    if let Some(text) = text {
        map.member(member, out);
        put_text(text, out);
    }
}

fn put_number(member: &str, number: Option<i64>, map: &mut Members, out: &mut Vec<u8>) {
    if let Some(number) = number {
        map.member(member, out);
        put_int(number, out);
    }
}

/// The version of an object's structure, which is nearly always 1.
fn put_header_version(version: Option<i64>, map: &mut Members, out: &mut Vec<u8>) {
    if version == Some(1) {
        return;
    }
    map.member("hv", out);
    match version {
        Some(version) => put_int(version, out),
        None => put_null(out),
    }
}

fn header_bytes(
    header: &InstanceHeader,
    is_proxy: bool,
    from: Millis,
    of: &ResolvedType,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(384);
    let mut map = Members::map(&mut out);
    if is_proxy {
        map.member("px", &mut out);
        put_bool(true, &mut out);
    }
    // Instances whose header has a later time than the start of their state are marked, and listed
    // apart. Only so may a walk by time, as of an instant, skip the entries with later times.
    let times = [header.audit.create_time, header.audit.update_time];
    if times.iter().flatten().any(|time| *time > from) {
        map.member("ah", &mut out);
        put_bool(true, &mut out);
    }
    put_audit(&header.audit, Some(of), &mut map, &mut out);
    put_optional("url", header.instance_url.as_deref(), &mut map, &mut out);
    let earlier = header.re_identified_from_guid.as_deref();
    put_optional("rg", earlier, &mut map, &mut out);
    map.end(&mut out);
    out
}

fn put_audit(
    audit: &InstanceAuditHeader,
    of: Option<&ResolvedType>,
    map: &mut Members,
    out: &mut Vec<u8>,
) {
    put_header_version(audit.header_version, map, out);
    put_type(audit.instance_type.as_ref(), of, map, out);
    if audit.provenance != Some(InstanceProvenanceType::LocalCohort) {
        map.member("pr", out);
        put_name(audit.provenance.map(InstanceProvenanceType::name), out);
    }
    put_optional("mc", audit.metadata_collection_id.as_deref(), map, out);
    put_optional("mn", audit.metadata_collection_name.as_deref(), map, out);
    put_optional("rb", audit.replicated_by.as_deref(), map, out);
    put_optional("li", audit.license.as_deref(), map, out);
    put_optional("cb", audit.created_by.as_deref(), map, out);
    put_optional("ub", audit.updated_by.as_deref(), map, out);
    if !audit.maintained_by.is_empty() {
        map.member("mb", out);
        let mut list = Members::list(out);
        for user in &audit.maintained_by {
            list.item();
            put_text(user, out);
        }
        list.end(out);
    }
    put_number("ct", audit.create_time.map(|time| time.0), map, out);
    put_number("ut", audit.update_time.map(|time| time.0), map, out);
    put_number("v", Some(audit.version), map, out);
    if audit.status != Some(InstanceStatus::Active) {
        map.member("st", out);
        put_name(audit.status.map(InstanceStatus::name), out);
    }
    let on_delete = audit.status_on_delete.map(InstanceStatus::name);
    put_optional("sd", on_delete, map, out);
    if !audit.mapping_properties.is_empty() {
        map.member("mp", out);
        let mut mapping = Members::map(out);
        for (name, value) in &audit.mapping_properties {
            mapping.member(name, out);
            put_text(value.text(), out);
        }
        mapping.end(out);
    }
}

/// Writes the type that the instance states: only its version, if the rest is equal to the
/// catalogue's definition.
fn put_type(
    said: Option<&Shared<InstanceType>>,
    of: Option<&ResolvedType>,
    map: &mut Members,
    out: &mut Vec<u8>,
) {
    let known = of.map(ResolvedType::instance_type);
    match (said, known) {
        (Some(said), Some(known)) if said == known => {
            map.member("tv", out);
            put_int(said.version, out);
        }
        (Some(said), _) => {
            map.member("ty", out);
            put_json(&**said, out);
        }
        (None, _) => {}
    }
}

fn put_json(value: &impl Encode, out: &mut Vec<u8>) {
    let json = String::from_utf8(json::encode(value)).expect("JSON is written in UTF-8");
    put_text(&json, out);
}

fn put_properties(
    properties: &InstanceProperties,
    of: Option<&ResolvedType>,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), OmrsError> {
    if depth > DEPTH_MAX {
        let fault = format!("its properties nest deeper than {DEPTH_MAX} levels");
        return Err(OmrsError::new(Message::InstanceTooLarge, &[&fault]));
    }
    let mut map = Members::map(out);
    put_header_version(properties.header_version, &mut map, out);
    let time = |time: Option<json::Millis>| time.map(|time| time.0);
    put_number("ef", time(properties.effective_from), &mut map, out);
    put_number("et", time(properties.effective_to), &mut map, out);
    if !properties.values.is_empty() {
        map.member("vs", out);
        let mut values = Members::map(out);
        for (name, value) in &properties.values {
            values.member(name, out);
            let attribute = of.and_then(|of| of.property(name));
            let def = attribute.and_then(|property| property.attribute.type_def());
            put_value(value, def.map(|def| &**def), depth, out)?;
        }
        values.end(out);
    }
    map.end(out);
    Ok(())
}

fn put_nested(
    properties: Option<&InstanceProperties>,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), OmrsError> {
    match properties {
        Some(properties) => put_properties(properties, None, depth + 1, out),
        None => {
            put_null(out);
            Ok(())
        }
    }
}

fn put_value(
    value: &InstancePropertyValue,
    def: Option<&AttributeTypeDef>,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), OmrsError> {
    if let InstancePropertyValue::Primitive(value) = value {
        put_primitive(value, def, out);
        return Ok(());
    }
    let mut map = Members::map(out);
    match value {
        InstancePropertyValue::Primitive(_) => {}
        InstancePropertyValue::Enum(value) => put_enum(value, &mut map, out),
        InstancePropertyValue::Struct(value) => {
            map.member("u", out);
            put_nested(value.attributes.as_ref(), depth, out)?;
        }
        InstancePropertyValue::Map(value) => {
            map.member("m", out);
            put_nested(value.values.as_ref(), depth, out)?;
        }
        InstancePropertyValue::Array(value) => {
            map.member("a", out);
            put_nested(value.values.as_ref(), depth, out)?;
            put_number("c", Some(i64::from(value.count)), &mut map, out);
        }
    }
    if !is_expected(value.header(), def) {
        map.member("h", out);
        let mut list = Members::list(out);
        put_value_header(value.header(), &mut list, out);
        list.end(out);
    }
    map.end(out);
    Ok(())
}

fn put_enum(value: &EnumPropertyValue, map: &mut Members, out: &mut Vec<u8>) {
    put_number("e", Some(i64::from(value.ordinal)), map, out);
    put_optional("s", value.symbolic_name.as_deref(), map, out);
    put_optional("d", value.description.as_deref(), map, out);
}

/// Whether a value's header is the one of [`expected_header`].
fn is_expected(header: &PropertyValueHeader, def: Option<&AttributeTypeDef>) -> bool {
    let (guid, name) = match def {
        Some(def) => (def.header.guid.as_deref(), def.header.name.as_deref()),
        None => (None, None),
    };
    header.header_version.is_none()
        && header.type_guid.as_deref() == guid
        && header.type_name.as_deref() == name
}

/// The usual header of an attribute's values.
pub(super) fn expected_header(def: Option<&AttributeTypeDef>) -> PropertyValueHeader {
    PropertyValueHeader {
        header_version: None,
        type_guid: def.and_then(|def| def.header.guid.clone()),
        type_name: def.and_then(|def| def.header.name.clone()),
    }
}

/// The kind of primitive of an attribute's values; without an attribute, the kind of a plain text.
pub(super) fn expected_category(def: Option<&AttributeTypeDef>) -> Option<PrimitiveDefCategory> {
    match def.map(|def| &def.kind) {
        None => Some(PrimitiveDefCategory::String),
        Some(AttributeTypeKind::Primitive(kind)) => kind.category,
        Some(_) => None,
    }
}

fn put_value_header(header: &PropertyValueHeader, list: &mut Members, out: &mut Vec<u8>) {
    list.item();
    match header.header_version {
        Some(version) => put_int(version, out),
        None => put_null(out),
    }
    for text in [&header.type_guid, &header.type_name] {
        list.item();
        put_name(text.as_deref(), out);
    }
}

/// Writes a primitive: as the plain value if the rest follows from the attribute, otherwise as a
/// list of its kind, its value and its header.
fn put_primitive(
    value: &PrimitivePropertyValue,
    def: Option<&AttributeTypeDef>,
    out: &mut Vec<u8>,
) {
    let kind = Some(value.category);
    let fits = value
        .value
        .as_ref()
        .is_none_or(|own| own.category() == value.category);
    let is_plain = kind == expected_category(def)
        && kind != Some(PrimitiveDefCategory::Unknown)
        && fits
        && is_expected(&value.header, def);
    if is_plain {
        put_plain(value.value.as_ref(), out);
        return;
    }
    let mut list = Members::list(out);
    list.item();
    put_int(category_number(value.category), out);
    list.item();
    put_plain(value.value.as_ref(), out);
    if !is_expected(&value.header, def) {
        put_value_header(&value.header, &mut list, out);
    }
    list.end(out);
}

/// The stored number of a kind of primitive.
pub(super) fn category_number(category: PrimitiveDefCategory) -> i64 {
    let at = PrimitiveDefCategory::ALL
        .iter()
        .position(|known| *known == category);
    i64::try_from(at.unwrap_or_default()).unwrap_or_default()
}

fn put_plain(value: Option<&Primitive>, out: &mut Vec<u8>) {
    match value {
        None => put_null(out),
        Some(Primitive::Boolean(flag)) => put_bool(*flag, out),
        Some(Primitive::Byte(number)) => put_int(i64::from(*number), out),
        Some(Primitive::Short(number)) => put_int(i64::from(*number), out),
        Some(Primitive::Int(number)) => put_int(i64::from(*number), out),
        Some(Primitive::Long(number)) => put_int(*number, out),
        Some(Primitive::Date(time)) => put_int(time.0, out),
        Some(Primitive::Float(number)) => put_float(f64::from(*number), out),
        Some(Primitive::Double(number)) => put_float(*number, out),
        Some(Primitive::Char(character)) => put_text(character.encode_utf8(&mut [0; 4]), out),
        Some(Primitive::String(text)) => put_text(text, out),
        Some(Primitive::BigInteger(number)) => put_text(number.text(), out),
        Some(Primitive::BigDecimal(number)) => put_text(number.text(), out),
        Some(Primitive::Object(json)) => put_text(json.text(), out),
    }
}
