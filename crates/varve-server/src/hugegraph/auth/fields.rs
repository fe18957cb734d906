//! The bodies of requests about the directory.

use serde_json::{Map, Value as Json};
use varve_auth::{RecordKind, Resource};

use crate::errors::ApiError;
use crate::request::RequestContext;

/// Longest text of a field, in bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// The fields of a body, without those that the server sets itself.
pub(super) struct Fields {
    kind: RecordKind,
    map: Map<String, Json>,
}

impl Fields {
    /// Reads the body. 400 for a field that a record of this kind does not have.
    pub(super) fn parse(context: &RequestContext, kind: RecordKind) -> Result<Self, ApiError> {
        let mut map: Map<String, Json> = context.json_object()?;
        let name = kind.name();
        let own = ["creator", "create", "update"].map(|field| format!("{name}_{field}"));
        map.retain(|field, value| field != "id" && !own.contains(field) && !value.is_null());
        let known = fields_of(kind);
        match map.keys().find(|field| !known.contains(&field.as_str())) {
            Some(field) => Err(ApiError::malformed_json(format!(
                "Unrecognized field \"{field}\", not marked as ignorable ({} known properties: \"{}\")",
                known.len(),
                known.join("\", \"")
            ))),
            None => Ok(Self { kind, map }),
        }
    }

    /// The text of a field; `None` if it is missing.
    pub(super) fn text(&self, field: &str) -> Result<Option<String>, ApiError> {
        match self.map.get(field) {
            None => Ok(None),
            Some(Json::String(text)) if text.len() > TEXT_BYTES_MAX => {
                Err(ApiError::illegal_argument(format!(
                    "The field '{field}' must have at most {TEXT_BYTES_MAX} bytes"
                )))
            }
            Some(Json::String(text)) => Ok(Some(text.clone())),
            Some(Json::Number(number)) => Ok(Some(number.to_string())),
            Some(Json::Bool(truth)) => Ok(Some(truth.to_string())),
            Some(_) => Err(ApiError::malformed_json(format!(
                "Cannot deserialize value of type `java.lang.String` from the field \"{field}\""
            ))),
        }
    }

    /// The text of a required field. `what` names the field in the error message.
    pub(super) fn required(&self, field: &str, what: &str) -> Result<String, ApiError> {
        self.text(field)?.ok_or_else(|| self.is_null(what))
    }

    /// The 400 for a field that is missing.
    pub(super) fn is_null(&self, what: &str) -> ApiError {
        ApiError::illegal_argument(format!("The {what} of {} can't be null", self.kind.name()))
    }

    /// Returns 400 if the body changes a field that must keep its value.
    pub(super) fn stays(&self, field: &str, what: &str, was: &str) -> Result<(), ApiError> {
        match self.text(field)? {
            Some(text) if text != was => Err(ApiError::illegal_argument(format!(
                "The {what} of {} can't be updated",
                self.kind.name()
            ))),
            _ => Ok(()),
        }
    }

    /// A list of texts.
    pub(super) fn texts(&self, field: &str) -> Result<Option<Vec<String>>, ApiError> {
        let Some(value) = self.map.get(field) else {
            return Ok(None);
        };
        let texts = serde_json::from_value(value.clone());
        texts.map(Some).map_err(|_| {
            ApiError::malformed_json(format!("The field \"{field}\" must be a list of texts"))
        })
    }

    /// Resources of a target.
    pub(super) fn resources(&self) -> Result<Option<Vec<Resource>>, ApiError> {
        let Some(value) = self.map.get("target_resources") else {
            return Ok(None);
        };
        if !value.is_array() {
            return Err(ApiError::malformed_json(
                "Cannot deserialize value of type `java.util.ArrayList` from the field \"target_resources\"",
            ));
        }
        let invalid = |cause: String| {
            ApiError::huge(format!("Invalid format of resources: {value}")).with_cause(cause)
        };
        let resources: Vec<Resource> =
            serde_json::from_value(value.clone()).map_err(|error| invalid(error.to_string()))?;
        for resource in &resources {
            resource.check().map_err(&invalid)?;
        }
        Ok(Some(resources))
    }
}

const fn fields_of(kind: RecordKind) -> &'static [&'static str] {
    match kind {
        RecordKind::User => &[
            "user_name",
            "user_password",
            "user_phone",
            "user_email",
            "user_avatar",
            "user_description",
        ],
        RecordKind::Group => &["group_name", "group_description"],
        RecordKind::Target => &[
            "target_name",
            "target_graph",
            "target_url",
            "target_resources",
            "target_description",
        ],
        RecordKind::Belong => &["user", "group", "belong_description", "graphspace", "link"],
        RecordKind::Access => &[
            "group",
            "target",
            "access_permission",
            "access_description",
            "graphspace",
        ],
        RecordKind::Project => &["project_name", "project_description", "project_graphs"],
    }
}
