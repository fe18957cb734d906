//! The changes of one instance: which ones fit it, and the call that makes them.

use serde_json::{Value as Json, json};

use super::{InstanceKind, Known};
use crate::metadata::{CONFIDENTIALITY, CONTROLLED_TERM, TERM, taken_for, texts};

pub(super) fn update(known: &Known, guid: &str, name: String) -> (&'static str, String, Json) {
    let property = if known.kind == InstanceKind::Entity {
        "qualifiedName"
    } else {
        "description"
    };
    let body = json!({
        "class": "InstancePropertiesRequest",
        "instanceProperties": texts(&[(property, &name)]),
    });
    let path = format!("instances/{}/{guid}/properties", known.kind.one());
    ("POST", path, body)
}

pub(super) fn can_classify(known: &Known) -> bool {
    known.kind == InstanceKind::Entity && !known.is_deleted() && !known.is_classified()
}

pub(super) fn classification(guid: &str, ending: &str) -> String {
    format!("instances/entity/{guid}/classification/{CONFIDENTIALITY}{ending}")
}

pub(super) fn classify(_: &Known, guid: &str, name: String) -> (&'static str, String, Json) {
    let properties = texts(&[("notes", &name)]);
    let body = json!({"class": "InstancePropertiesRequest", "instanceProperties": properties});
    ("POST", classification(guid, ""), body)
}

pub(super) fn reclassify(known: &Known, guid: &str, name: String) -> (&'static str, String, Json) {
    let (method, _, body) = classify(known, guid, name);
    (method, classification(guid, "/properties"), body)
}

pub(super) fn declassify(_: &Known, guid: &str, _: String) -> (&'static str, String, Json) {
    ("POST", classification(guid, "/delete"), Json::Null)
}

/// An update can be taken back as long as it is the last change.
pub(super) fn can_undo(known: &Known) -> bool {
    let version = |at: usize| {
        known
            .states
            .get(known.states.len().wrapping_sub(at))
            .map(|it| &it["version"])
    };
    !known.is_deleted()
        && !known.is_copy
        && known.states.iter().all(|it| it["status"] != "DELETED")
        && version(2).is_some()
        && version(1) != version(2)
}

pub(super) fn undo(known: &Known, guid: &str, _: String) -> (&'static str, String, Json) {
    let path = format!("instances/{}/{guid}/previous", known.kind.one());
    ("GET", path, Json::Null)
}

/// The deletion of an end would take its relationships along.
pub(super) fn can_delete(known: &Known) -> bool {
    !known.is_deleted() && !known.is_copy && !known.is_end
}

pub(super) fn delete(known: &Known, guid: &str, _: String) -> (&'static str, String, Json) {
    let path = format!("instances/{}/{guid}/delete", known.kind.one());
    ("POST", path, taken_for(known.of))
}

/// An entity of one of two types, which is given the other. Relationships hold terms.
pub(super) fn can_re_type(known: &Known) -> bool {
    let can_be = known.is_of(TERM) || known.is_of(CONTROLLED_TERM);
    can_be && !known.is_deleted() && !known.is_copy && !known.is_end
}

pub(super) fn re_type(known: &Known, guid: &str, _: String) -> (&'static str, String, Json) {
    let (from, to) = match known.is_of(TERM) {
        true => (TERM, CONTROLLED_TERM),
        false => (CONTROLLED_TERM, TERM),
    };
    let summary = |of: (&str, &str)| json!({"class": "TypeDefSummary", "guid": of.1, "name": of.0});
    let body = json!({
        "class": "TypeDefChangeRequest",
        "currentTypeDef": summary(from),
        "newTypeDef": summary(to),
    });
    ("POST", format!("instances/entity/{guid}/type"), body)
}

pub(super) fn restore(known: &Known, guid: &str, _: String) -> (&'static str, String, Json) {
    let path = format!("instances/{}/{guid}/restore", known.kind.one());
    ("GET", path, Json::Null)
}
