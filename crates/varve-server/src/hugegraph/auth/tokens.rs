//! API tokens: a user creates, lists and revokes its own. The administrator also lists and revokes
//! the tokens of others.

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use varve_auth::{ApiToken, DirectoryError, Id, NewApiToken, Restriction};

use super::Call;
use super::shown::date;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};

/// The body of a request for a token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewToken {
    token_name: Option<String>,
    /// The token's lifetime in seconds; without it, the token is valid until it is revoked.
    token_expire: Option<i64>,
    /// The graphs that the token is valid for; without them, all graphs that its user may use.
    token_graphs: Option<Vec<String>>,
    #[serde(default)]
    token_reads_only: bool,
}

pub(super) fn list(context: &RequestContext) -> HandlerResult {
    let call = Call::of(context)?;
    let user = match context.query()?.get("user").filter(|id| !id.is_empty()) {
        Some(id) => Id::new(id),
        None => call.user.id.clone(),
    };
    if user != call.user.id && !call.user.rights.is_administrator() {
        return Err(ApiError::forbidden("User not authorized."));
    }
    let tokens = call.auth.api_tokens_of(&user);
    let shown: Vec<Json> = tokens.iter().map(shown).collect();
    Ok(Response::of(StatusCode::OK, &json!({ "tokens": shown })))
}

pub(super) fn create(context: &RequestContext) -> HandlerResult {
    let call = Call::of(context)?;
    if call.user.api_token.is_some() {
        return Err(ApiError::forbidden(
            "An API token can't make tokens: use a name and a password",
        ));
    }
    let body: NewToken = context.json_object()?;
    let name = body.token_name.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| ApiError::illegal_argument("The name of token can't be null"))?;
    let now = call.author().now;
    let expires = body.token_expire.map(|seconds| {
        let milliseconds = seconds.max(0).saturating_mul(1_000);
        now.saturating_add(milliseconds)
    });
    let wanted = NewApiToken {
        user: call.user.id.clone(),
        name,
        expires,
        restriction: Restriction {
            graphs: body.token_graphs,
            reads_only: body.token_reads_only,
        },
    };
    let (token, text) = call.auth.make_api_token(wanted, now)?;
    tracing::info!(user = %token.user, token = token.id, "API token made");
    let mut shown = shown(&token);
    shown["token"] = Json::String(text);
    Ok(Response::of(StatusCode::CREATED, &shown))
}

pub(super) fn revoke(context: &RequestContext) -> HandlerResult {
    let call = Call::of(context)?;
    let id = context.path_parameter("id");
    let (own, is_administrator) = (&call.user.id, call.user.rights.is_administrator());
    call.auth.change(|directory| {
        let made = directory.remove_api_token(id)?;
        let is_own = directory
            .api_token(id)
            .is_some_and(|token| token.user == *own);
        match is_own || is_administrator {
            true => Ok(made),
            // A client that may not see the token does not learn that it exists.
            false => Err(DirectoryError::no_token(id)),
        }
    })?;
    tracing::info!(token = id, by = call.user.name, "API token revoked");
    Ok(Response::no_content())
}

fn shown(token: &ApiToken) -> Json {
    let mut shown = json!({
        "id": token.id,
        "user": token.user,
        "token_name": token.name,
        "token_create": date(token.created),
        "token_reads_only": token.restriction.reads_only,
    });
    if let Some(graphs) = &token.restriction.graphs {
        shown["token_graphs"] = json!(graphs);
    }
    if let Some(end) = token.expires {
        shown["token_end"] = json!(date(end));
    }
    if let Some(used) = token.used {
        shown["token_used"] = json!(date(used));
    }
    shown
}
