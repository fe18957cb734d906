//! `/ui/`: the explorer's files, which are built into the program.

use bytes::Bytes;
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use varve_ui::{Asset, Content};

use crate::errors::ApiError;
use crate::negotiate;
use crate::request::RequestContext;
use crate::respond::{Body, ContentType, HandlerResult, Response};
use crate::rights::Needs;
use crate::route::{Class, Handler, Route, Scope};

/// The page loads everything from this server alone, and no page may show it in a frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; \
     form-action 'none'; frame-ancestors 'none'";

/// Files with a hash in their name never change.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// More bytes than any inflated file has.
const INFLATED_BYTES_MAX: usize = 16 * 1024 * 1024;

const INDEX: &str = "index.html";

const fn file(pattern: &'static str, handler: fn(&RequestContext) -> HandlerResult) -> Route {
    Route::get(pattern, Handler::Inline(handler))
        .reads(Scope::Server)
        .class(Class::Control)
        .needs(Needs::Nothing)
        .without_graphs()
        .of("ui", "Explorer")
        .any_accept()
        .any_query()
}

pub(crate) static ROUTES: &[Route] = &[
    file("ui", index),
    file("ui/{file}", top),
    file("ui/assets/{file}", hashed),
];

/// The redirect of a browser that requests `/`; `None` for other clients.
pub(crate) fn redirect_of(headers: &HeaderMap) -> Option<Response> {
    let accept = headers.get(header::ACCEPT)?.to_str().ok()?;
    let is_browser =
        negotiate::accepted(accept).any(|media| media.split(';').next() == Some("text/html"));
    let to_ui = || {
        Response::new(StatusCode::FOUND, ContentType::TextUtf8, "/ui/")
            .header(header::LOCATION, HeaderValue::from_static("/ui/"))
            .header(header::VARY, HeaderValue::from_static("Accept"))
    };
    is_browser.then(to_ui)
}

fn index(context: &RequestContext) -> HandlerResult {
    serve(context, INDEX)
}

/// A file beside the first page, or, for a name without an ending, the first page itself.
fn top(context: &RequestContext) -> HandlerResult {
    match context.path_parameter("file") {
        name if name.contains('.') => serve(context, name),
        _ => serve(context, INDEX),
    }
}

fn hashed(context: &RequestContext) -> HandlerResult {
    serve(
        context,
        &format!("assets/{}", context.path_parameter("file")),
    )
}

fn serve(context: &RequestContext, name: &str) -> HandlerResult {
    let asset = varve_ui::asset(name).ok_or_else(ApiError::unknown_path)?;
    let etag = format!("\"{}\"", varve_ui::build());
    let known = context.headers().get(header::IF_NONE_MATCH);
    let is_known = known.is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let response = match is_known && !asset.is_named_by_content() {
        true => Response::new(
            StatusCode::NOT_MODIFIED,
            ContentType::Other(asset.media_type()),
            "",
        ),
        false => content(context.headers(), asset)?,
    };
    let cache = match asset.is_named_by_content() {
        true => FOR_EVER,
        false => "no-cache",
    };
    let response = response
        .header(header::CACHE_CONTROL, HeaderValue::from_static(cache))
        .header(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    let response = match HeaderValue::from_str(&etag) {
        Ok(etag) => response.header(header::ETAG, etag),
        Err(_) => response,
    };
    Ok(protected(response))
}

fn content(headers: &HeaderMap, asset: &Asset) -> HandlerResult {
    let media = ContentType::Other(asset.media_type());
    let answer = |body: Body| Response::new(StatusCode::OK, media, body);
    let encoded = |bytes: &'static [u8], encoding| {
        answer(Bytes::from_static(bytes).into())
            .header(header::CONTENT_ENCODING, HeaderValue::from_static(encoding))
    };
    match asset.content {
        Content::Plain(plain) => Ok(answer(Bytes::from_static(plain).into())),
        Content::Packed { brotli, .. } if negotiate::accepts_brotli(headers) => {
            Ok(encoded(brotli, "br"))
        }
        Content::Packed { gzip, .. } if negotiate::accepts_gzip(headers) => {
            Ok(encoded(gzip, "gzip"))
        }
        Content::Packed { gzip, .. } => {
            let plain = negotiate::gunzip(gzip, INFLATED_BYTES_MAX)?;
            Ok(answer(plain.into()))
        }
    }
}

fn protected(response: Response) -> Response {
    [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
    ]
    .into_iter()
    .fold(response, |response, (name, value)| {
        response.header(name, HeaderValue::from_static(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_at_the_root_goes_to_the_explorer() {
        let headers = |accept| HeaderMap::from_iter([(header::ACCEPT, accept)]);
        let of = |accept| redirect_of(&headers(HeaderValue::from_static(accept)));
        let browser = of("text/html,application/xhtml+xml,*/*;q=0.8").expect("a redirect");
        assert_eq!(browser.status(), StatusCode::FOUND);
        assert!(of("*/*").is_none());
        assert!(of("application/json").is_none());
        assert!(of("text/html;q=0, */*").is_none());
    }

    #[test]
    fn the_policy_allows_nothing_unsafe() {
        assert!(!CONTENT_SECURITY_POLICY.contains("unsafe"));
        assert!(!CONTENT_SECURITY_POLICY.contains("http"));
    }
}
