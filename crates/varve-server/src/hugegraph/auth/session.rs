//! `/ui/session`: the explorer's session, in a cookie that scripts cannot read.
//!
//! The cookie holds a token like that of `/auth/login`. It authenticates a request without
//! `Authorization` that a page of this server sends. Browsers also send it with requests of pages
//! on other ports of the same host, images included.

use http::Uri;
use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;
use serde_json::json;

use super::login;
use crate::origin;
use crate::request::RequestContext;
use crate::respond::{HandlerResult, Response};
use crate::state::AppState;

/// The cookie's name. `-` and the port follow, unless the port is the scheme's default.
const COOKIE: &str = "varve-session";

/// The challenge for a script's request without a token (RFC 6750).
pub(crate) const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"varve\"");

/// Sets the request's `Authorization` from the session's cookie, if a page of this server sends the
/// request. If the sender is unknown, only for a request that only reads (`reads`): a foreign page
/// cannot read the answer.
pub(crate) fn admit(state: &AppState, parts: &mut Parts, reads: bool) {
    let Some(auth) = state.auth() else { return };
    if parts.headers.contains_key(header::AUTHORIZATION)
        || !origin::is_own_page(parts).unwrap_or(reads)
    {
        return;
    }
    // An expired token is not a failed login.
    let name = cookie_name(&parts.headers, &parts.uri);
    let token = tokens_in(&parts.headers, &name).find(|token| auth.check_token(token).is_some());
    let value = token.map(|token| HeaderValue::try_from(format!("Bearer {token}")));
    if let Some(Ok(mut value)) = value {
        value.set_sensitive(true);
        parts.headers.insert(header::AUTHORIZATION, value);
    }
}

/// The name of the session's cookie for this request's server. It has the port, since all ports of
/// a host share their cookies, and two servers may run on one host.
fn cookie_name(headers: &HeaderMap, uri: &Uri) -> String {
    match origin::port(headers, uri) {
        Some(port) => format!("{COOKIE}-{port}"),
        None => COOKIE.to_owned(),
    }
}

fn tokens_in<'a>(headers: &'a HeaderMap, wanted: &'a str) -> impl Iterator<Item = &'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    let pairs = cookies
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    pairs.filter_map(move |(name, value)| (name == wanted).then_some(value))
}

/// Returns the name of the session's user; null if there is no session.
pub(super) fn read(context: &RequestContext) -> HandlerResult {
    let principal = context
        .state()
        .auth()
        .zip(login::token(context).ok())
        .and_then(|(auth, token)| auth.check(&token));
    let name = principal.as_ref().map(|principal| principal.name.as_str());
    Ok(Response::ok(json!({ "user_name": name }).to_string()))
}

/// Begins a session for a name and a password.
pub(super) async fn begin(context: Box<RequestContext>) -> HandlerResult {
    let (principal, token) = login::enter(&context).await?;
    let shown = json!({ "user_name": principal.name });
    Ok(with_cookie(
        &context,
        Response::ok(shown.to_string()),
        &format!("{token}; "),
    ))
}

/// Ends the session, and its token.
pub(super) fn end(context: &RequestContext) -> HandlerResult {
    let auth = context.state().auth();
    let name = cookie_name(context.headers(), &context.uri);
    for token in tokens_in(context.headers(), &name) {
        // An expired token has ended already.
        if let Some(auth) = auth.filter(|auth| auth.check_token(token).is_some()) {
            auth.logout(token)?;
        }
    }
    Ok(with_cookie(
        context,
        Response::no_content(),
        "; Max-Age=0; ",
    ))
}

/// Sets the cookie in an answer. Without an age the cookie ends with the browser.
fn with_cookie(context: &RequestContext, response: Response, value: &str) -> Response {
    // The origin of the page has its scheme, also behind a proxy that terminates TLS.
    let origin = context.headers().get(header::ORIGIN);
    let is_https = origin.is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let secure = if is_https { "; Secure" } else { "" };
    let name = cookie_name(context.headers(), &context.uri);
    let cookie = format!("{name}={value}Path=/; HttpOnly; SameSite=Strict{secure}");
    match HeaderValue::try_from(cookie) {
        Ok(mut cookie) => {
            cookie.set_sensitive(true);
            response.header(header::SET_COOKIE, cookie)
        }
        Err(_) => response,
    }
}
