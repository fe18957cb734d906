//! HugeGraph's white list: the networks from which clients may send requests. While it is on,
//! requests from other addresses get 403, except those about the white list itself, so that
//! administrators cannot lock themselves out.

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use super::Call;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};

/// The body of a change.
#[derive(Deserialize)]
struct Change {
    action: Option<String>,
    ips: Option<Vec<String>>,
}

pub(super) fn get(context: &RequestContext) -> HandlerResult {
    let list = Call::of(context)?.auth.white_list();
    let shown = json!({ "whiteIpList": list.networks });
    Ok(Response::of(StatusCode::OK, &shown))
}

pub(super) fn change(context: &RequestContext) -> HandlerResult {
    let call = Call::of(context)?;
    let body: Change = context.json_object()?;
    let missing = |what: &str| ApiError::illegal_argument(format!("Missing argument: {what}"));
    let action = body.action.ok_or_else(|| missing("action"))?;
    let ips = body.ips.ok_or_else(|| missing("ips"))?;
    let shown = match action.as_str() {
        "load" => {
            let done = call.auth.add_to_white_list(&ips)?;
            let mut shown = json!({ "existed_ips": done.unchanged, "added_ips": done.changed });
            if !done.illegal.is_empty() {
                shown["illegal_ips"] = json!(done.illegal);
            }
            shown
        }
        "remove" => {
            let done = call.auth.remove_from_white_list(&ips)?;
            json!({ "removed_ips": done.changed, "non_existed_ips": done.unchanged })
        }
        _ => {
            return Err(ApiError::illegal_argument(format!(
                "Invalid action '{action}', supported action is 'load' or 'remove'"
            )));
        }
    };
    tracing::info!(by = call.user.name, action, "the white list was changed");
    Ok(Response::of(StatusCode::ACCEPTED, &shown))
}

pub(super) fn switch(context: &RequestContext) -> HandlerResult {
    let call = Call::of(context)?;
    let is_on = match context.query()?.get("status") {
        Some("true") => true,
        Some("false") => false,
        _ => {
            return Err(ApiError::illegal_argument(
                "Invalid status, valid status is 'true' or 'false'",
            ));
        }
    };
    call.auth.switch_white_list(is_on)?;
    tracing::info!(by = call.user.name, is_on, "the white list was switched");
    Ok(Response::of(
        StatusCode::OK,
        &json!({ "WhiteIpListOpen": is_on }),
    ))
}
