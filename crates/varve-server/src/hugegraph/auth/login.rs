//! Logins, and tokens.

use std::sync::Arc;

use http::StatusCode;
use serde::Deserialize;
use serde_json::json;
use varve_auth::{AuthError, Principal, Proof};
use varve_session::principal::PendingLogin;
use varve_view::ErrorKind;

use super::auth;
use crate::errors::ApiError;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};

/// The body of a login.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LoginBody {
    user_name: Option<String>,
    user_password: Option<String>,
    /// Seconds for which the token is valid.
    token_expire: Option<i64>,
}

/// Returns a token for a name and a password.
pub(super) async fn login(context: Box<RequestContext>) -> HandlerResult {
    let (_, token) = enter(&context).await?;
    Ok(Response::of(StatusCode::OK, &json!({ "token": token })))
}

/// Checks the name and the password in the body. Returns their user and a new token.
pub(super) async fn enter(context: &RequestContext) -> Result<(Arc<Principal>, String), ApiError> {
    let auth = Arc::clone(auth(context)?);
    let body: LoginBody = context.json_object()?;
    let missing =
        |what| move || ApiError::illegal_argument(format!("The {what} of user can't be null"));
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let user = given(body.user_name).ok_or_else(missing("name"))?;
    context.note_login(&user);
    let password = given(body.user_password).ok_or_else(missing("password"))?;
    let login = auth.login(&user, &password, context.address)?;
    let checked = PendingLogin::new(Arc::clone(&auth), login)
        .finish(context.state().database())
        .await;
    let principal = checked.map_err(|error| match error.kind {
        ErrorKind::Unauthenticated => ApiError::not_authorized("Incorrect username or password"),
        _ => error.into(),
    })?;
    let token = auth.token(&principal, body.token_expire)?;
    Ok((principal, token))
}

/// Returns the user of the request's token.
pub(super) fn verify(context: &RequestContext) -> HandlerResult {
    let principal = auth(context)?.check(&token(context)?);
    let principal = principal.ok_or(AuthError::Failed)?;
    let shown = json!({ "user_name": principal.name, "user_id": principal.id });
    Ok(Response::of(StatusCode::OK, &shown))
}

/// Ends the token that the request has.
pub(super) fn logout(context: &RequestContext) -> HandlerResult {
    auth(context)?.logout(&token(context)?)?;
    Ok(Response::no_content())
}

/// Returns the bearer token in the `Authorization` header; 400 without one.
pub(super) fn token(context: &RequestContext) -> Result<String, ApiError> {
    let header = context.headers().get(http::header::AUTHORIZATION);
    match header.map(|header| Proof::parse(header.as_bytes())) {
        Some(Ok(Proof::Token(token))) => Ok(token),
        _ => Err(ApiError::bad_request(
            "Only HTTP Bearer authentication is supported",
        )),
    }
}
