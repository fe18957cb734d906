//! Stored headers of instances as the properties that queries see.

use varve_model::{Datum, Value};

use super::values::date;
use crate::types::InstanceStatus;

/// The property with an instance's GUID.
pub(super) const GUID: &str = "_guid";
/// The property with the names of an entity's classifications.
pub(super) const CLASSIFICATIONS: &str = "_classifications";

/// The kind of a member's value.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Date,
    Flag,
    Texts,
    Map,
}

/// The members of a stored header, and the names of their properties.
const MEMBERS: [(&str, &str, Kind); 17] = [
    ("px", "_proxy", Kind::Flag),
    ("tv", "_typeVersion", Kind::Number),
    ("pr", "_instanceProvenanceType", Kind::Text),
    ("mc", "_metadataCollectionId", Kind::Text),
    ("mn", "_metadataCollectionName", Kind::Text),
    ("rb", "_replicatedBy", Kind::Text),
    ("li", "_instanceLicense", Kind::Text),
    ("cb", "_createdBy", Kind::Text),
    ("ub", "_updatedBy", Kind::Text),
    ("mb", "_maintainedBy", Kind::Texts),
    ("ct", "_createTime", Kind::Date),
    ("ut", "_updateTime", Kind::Date),
    ("v", "_version", Kind::Number),
    ("st", "_status", Kind::Text),
    ("mp", "_mappingProperties", Kind::Map),
    ("url", "_instanceURL", Kind::Text),
    ("rg", "_reIdentifiedFromGUID", Kind::Text),
];
/// The members that have a value if they are not stored.
const USUAL: [(&str, &str, &str); 2] = [
    ("pr", "_instanceProvenanceType", "LOCAL_COHORT"),
    ("st", "_status", "ACTIVE"),
];
/// The members of stored properties that are not the type's, and the names of their properties.
const EFFECTIVITY: [(&str, &str); 2] = [("ef", "_effectiveFromTime"), ("et", "_effectiveToTime")];

/// The names of the properties.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let members = MEMBERS.iter().map(|(_, name, _)| *name);
    let effectivity = EFFECTIVITY.iter().map(|(_, name)| *name);
    members.chain(effectivity).chain([GUID, CLASSIFICATIONS])
}

/// Whether the instance with this header is deleted: only its history has it.
pub(super) fn is_deleted(header: &Datum) -> bool {
    matches!(header.get("st"), Some(Datum::Text(name)) if name == InstanceStatus::Deleted.name())
}

/// Gives the properties of a header.
pub(super) fn give(header: &Datum, give: &mut dyn FnMut(&str, Value)) {
    for (member, name, kind) in MEMBERS {
        if let Some(value) = header.get(member).and_then(|stored| value(stored, kind)) {
            give(name, value);
        }
    }
    for (member, name, usual) in USUAL {
        if header.get(member).is_none() {
            give(name, Value::Text(usual.to_owned()));
        }
    }
}

/// Gives the period in which an instance is effective, from its stored properties.
pub(super) fn give_effectivity(properties: &Datum, give: &mut dyn FnMut(&str, Value)) {
    for (member, name) in EFFECTIVITY {
        if let Some(Datum::Int(millis)) = properties.get(member) {
            give(name, date(*millis));
        }
    }
}

fn value(stored: &Datum, kind: Kind) -> Option<Value> {
    Some(match (kind, stored) {
        (Kind::Text, Datum::Text(text)) => Value::Text(text.clone()),
        (Kind::Number, Datum::Int(number)) => Value::Long(*number),
        (Kind::Date, Datum::Int(millis)) => date(*millis),
        (Kind::Flag, Datum::Bool(flag)) => Value::Boolean(*flag),
        (Kind::Texts, Datum::List(items)) => {
            let texts = items.iter().filter_map(|item| value(item, Kind::Text));
            Value::List(texts.collect())
        }
        (Kind::Map, Datum::Map(members)) => {
            let entries = members.iter().filter_map(|(name, stored)| {
                let value = value(stored, Kind::Text)?;
                Some((Value::Text(name.clone()), value))
            });
            Value::Map(entries.collect())
        }
        _ => return None,
    })
}
