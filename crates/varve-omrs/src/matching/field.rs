//! Header fields in conditions.

use crate::instances::{InstanceType, Primitive};
use crate::json::Millis;

use super::Facts;

/// The header fields that conditions may name, besides the properties of the type.
pub(crate) const HEADER_FIELDS: &[&str] = &[
    "metadataCollectionId",
    "metadataCollectionName",
    "replicatedBy",
    "instanceProvenanceType",
    "instanceLicense",
    "typeName",
    "typeGUID",
    "createdBy",
    "updatedBy",
    "maintainedBy",
    "createTime",
    "updateTime",
    "version",
    "status",
    "statusOnDelete",
    "headerVersion",
    "guid",
    "instanceURL",
    "reIdentifiedFromGUID",
    "effectiveFrom",
    "effectiveFromTime",
    "effectiveTo",
    "effectiveToTime",
];

/// Whether a name is the name of a header field.
#[must_use]
pub fn is_header_field(name: &str) -> bool {
    HEADER_FIELDS.contains(&name)
}

/// The value of a header field.
#[derive(Debug, Clone)]
pub enum FieldValue<'a> {
    /// A text, or a constant by its name.
    Text(&'a str),
    /// A list of texts, of which any may match.
    Texts(&'a [String]),
    /// A date or a number.
    Number(Primitive),
}

/// The header field `name`, if the instance has it. An enum is given by its name.
pub(crate) fn header_field<'a, F: Facts + ?Sized>(
    target: &'a F,
    name: &str,
) -> Option<FieldValue<'a>> {
    let audit = target.audit();
    let text = |text: &'a Option<String>| text.as_deref().map(FieldValue::Text);
    let time = |time: Option<Millis>| time.map(|time| FieldValue::Number(Primitive::Date(time)));
    let number = |number: i64| Some(FieldValue::Number(Primitive::Long(number)));
    let of_type = |name: fn(&'a InstanceType) -> &'a str| {
        let found = audit.instance_type.as_deref().map(name)?;
        Some(FieldValue::Text(found))
    };
    let effectivity = |from: bool| {
        let properties = target.properties()?;
        time(if from {
            properties.effective_from
        } else {
            properties.effective_to
        })
    };
    match name {
        "metadataCollectionId" => text(&audit.metadata_collection_id),
        "metadataCollectionName" => text(&audit.metadata_collection_name),
        "replicatedBy" => text(&audit.replicated_by),
        "instanceProvenanceType" => audit.provenance.map(|of| FieldValue::Text(of.name())),
        "instanceLicense" => text(&audit.license),
        "typeName" => of_type(InstanceType::name),
        "typeGUID" => of_type(InstanceType::guid),
        "createdBy" => text(&audit.created_by),
        "updatedBy" => text(&audit.updated_by),
        "maintainedBy" if !audit.maintained_by.is_empty() => {
            Some(FieldValue::Texts(&audit.maintained_by))
        }
        "createTime" => time(audit.create_time),
        "updateTime" => time(audit.update_time),
        "version" => number(audit.version),
        "status" => audit.status.map(|of| FieldValue::Text(of.name())),
        "statusOnDelete" => audit.status_on_delete.map(|of| FieldValue::Text(of.name())),
        "headerVersion" => audit.header_version.and_then(number),
        "guid" => text(&target.header()?.guid),
        "instanceURL" => text(&target.header()?.instance_url),
        "reIdentifiedFromGUID" => text(&target.header()?.re_identified_from_guid),
        "effectiveFrom" | "effectiveFromTime" => effectivity(true),
        "effectiveTo" | "effectiveToTime" => effectivity(false),
        _ => None,
    }
}
