//! Managers of graph spaces. Like HugeGraph 1.7 without a metadata server, Varve has none and
//! refuses to create one. There is one graph space, which the administrator manages.

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use varve_auth::{ADMIN, Permission, RecordKind};

use super::Call;
use super::shown::GRAPH_SPACE;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};

/// The types of managers.
const TYPES: [&str; 3] = ["SPACE", "SPACE_MEMBER", "ADMIN"];

/// The body of a creation.
#[derive(Deserialize)]
struct Body {
    user: Option<String>,
    group: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

pub(super) fn list(context: &RequestContext) -> HandlerResult {
    let call = call(context)?;
    known_type(&parameter(&call, "type")?)?;
    Ok(Response::of(StatusCode::OK, &json!({ "admins": [] })))
}

/// Whether the client is a manager.
pub(super) fn check(context: &RequestContext) -> HandlerResult {
    let call = call(context)?;
    known_type(&parameter(&call, "type")?)?;
    Ok(Response::of(StatusCode::OK, &json!({ "check": false })))
}

/// Returns the roles of a user as a manager, of which it has none.
pub(super) fn role(context: &RequestContext) -> HandlerResult {
    let call = call(context)?;
    let user = parameter(&call, "user")?;
    if user != call.user.name {
        call.check(Permission::Read, RecordKind::User, &format!("user({user})"))?;
    }
    known_user(&call, &user)?;
    let shown = json!({ "user": user, "graphspace": GRAPH_SPACE, "roles": ["NONE"] });
    Ok(Response::of(StatusCode::OK, &shown))
}

pub(super) fn create(context: &RequestContext) -> HandlerResult {
    let call = call(context)?;
    let body: Body = context.json_object()?;
    known_type(&body.kind.unwrap_or_default())?;
    let user = body.user.or(body.group);
    refused(&call, &user.unwrap_or_default(), "create")
}

pub(super) fn delete(context: &RequestContext) -> HandlerResult {
    let call = call(context)?;
    let (user, kind) = (parameter(&call, "user")?, parameter(&call, "type")?);
    known_type(&kind)?;
    if user == ADMIN && kind == "ADMIN" {
        return Err(ApiError::illegal_argument(
            "User 'admin' can't be removed from ADMIN",
        ));
    }
    refused(&call, &user, "delete")
}

fn call(context: &RequestContext) -> Result<Call<'_>, ApiError> {
    match context.state().auth() {
        Some(_) => Call::of(context),
        None => Err(ApiError::unknown_path()),
    }
}

fn parameter(call: &Call<'_>, name: &str) -> Result<String, ApiError> {
    Ok(call
        .context
        .query()?
        .get(name)
        .unwrap_or_default()
        .to_owned())
}

fn known_type(kind: &str) -> Result<(), ApiError> {
    match TYPES.contains(&kind) {
        true => Ok(()),
        false => Err(ApiError::illegal_argument(
            "The type must be in [SPACE, SPACE_MEMBER, ADMIN]",
        )),
    }
}

/// 400 for a user that does not exist; only a client that may read users learns that.
fn known_user(call: &Call<'_>, name: &str) -> Result<(), ApiError> {
    let directory = call.auth.directory();
    match directory.user(&RecordKind::User.id_of(name)) {
        Some(_) => Ok(()),
        None => Err(ApiError::illegal_argument("The user or group is not exist")),
    }
}

fn refused(call: &Call<'_>, name: &str, action: &str) -> HandlerResult {
    if call.may(Permission::Read, RecordKind::User) {
        known_user(call, name)?;
    }
    Err(ApiError::forbidden(format!(
        "The user [{}] has no permission to [manager.{action}].",
        call.user.name
    )))
}
