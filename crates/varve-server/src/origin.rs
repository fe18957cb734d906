//! Which web pages may use this server.
//!
//! A page of any site can send requests to every address that its reader's browser reaches, a
//! loopback address included. Three checks keep it out. `Host` must name this server, so that a
//! page cannot read answers after its own name was made to resolve to this server (DNS rebinding).
//! `Origin` and `Sec-Fetch-Site`, which browsers set and pages cannot, must not name another site
//! if a request may change something (by a method that is not safe, or by a route that declares
//! so). And a body must have a type that no page can send to another site without a CORS preflight
//! (`negotiate`).

use std::net::IpAddr;
use std::sync::OnceLock;

use http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method, Uri, Version};

use crate::config::ServerConfig;
use crate::errors::ApiError;

/// Longest `X-Request-Id` that is kept.
const REQUEST_ID_BYTES_MAX: usize = 128;

/// The relation between a page and the requested server, as the browser reports it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The longest host that a connection remembers, in bytes.
const KNOWN_HOST_BYTES_MAX: usize = 255;

/// Whether other sites' pages may send the method: they cannot read the answers, since none allows
/// it (`Access-Control-Allow-Origin`).
fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Refuses a request that is for another server (421) or comes from a page of another site (403).
/// `known`: the host that the connection named first, if it may be this server; requests that name
/// it again are not checked again.
pub(crate) fn check(
    config: &ServerConfig,
    parts: &Parts,
    known: &OnceLock<Box<[u8]>>,
) -> Result<(), ApiError> {
    let said = Said::of(&parts.headers);
    let named = said.host.filter(|_| parts.uri.authority().is_none());
    let is_known = match (named, known.get()) {
        (Some(named), Some(known)) => !said.more_hosts && *named.as_bytes() == **known,
        _ => false,
    };
    if !is_known {
        own_host(config, parts)?;
        // A longer host is unusual, and would be stored as long as the connection is open.
        let short = named.filter(|named| named.len() <= KNOWN_HOST_BYTES_MAX);
        short.map(|named| known.set(named.as_bytes().into()));
    }
    match said.is_of_page && !is_safe(&parts.method) {
        true => check_page_to(config, own_host(config, parts)?, &parts.headers),
        false => Ok(()),
    }
}

/// Refuses a request of another site's page by a safe method, which [`check`] accepts: some calls
/// of the metadata repository change something by GET.
pub(crate) fn check_page(config: &ServerConfig, parts: &Parts) -> Result<(), ApiError> {
    match is_safe(&parts.method) && Said::of(&parts.headers).is_of_page {
        true => check_page_to(config, own_host(config, parts)?, &parts.headers),
        false => Ok(()),
    }
}

/// The host in a request's head, and whether a page sent it. Found in one pass, since every request
/// pays for it.
struct Said<'a> {
    host: Option<&'a HeaderValue>,
    more_hosts: bool,
    /// Whether the browser reports that a page sent it.
    is_of_page: bool,
}

impl<'a> Said<'a> {
    fn of(headers: &'a HeaderMap) -> Self {
        let mut said = Self {
            host: None,
            more_hosts: false,
            is_of_page: false,
        };
        for (name, value) in headers {
            if *name == HOST {
                said.more_hosts |= said.host.replace(value).is_some();
            } else {
                said.is_of_page |= *name == ORIGIN || *name == SEC_FETCH_SITE;
            }
        }
        said
    }
}

/// Whether a page of this server sent the request, so that its cookies may authenticate it. `None`
/// if the headers do not say, as for a link that is followed over plain HTTP. Pages on another port
/// or another name of this server are not its own.
pub(crate) fn is_own_page(parts: &Parts) -> Option<bool> {
    let headers = &parts.headers;
    let host = headers.get(HOST).map(HeaderValue::as_bytes);
    let authority = parts.uri.authority().map(http::uri::Authority::as_str);
    let host = host.or_else(|| authority.map(str::as_bytes));
    let mut is_own = None;
    for origin in headers.get_all(ORIGIN) {
        let named = origin.as_bytes().split(|byte| *byte == b'/').nth(2);
        if !named
            .zip(host)
            .is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
        {
            return Some(false);
        }
        is_own = Some(true);
    }
    match headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes) {
        Some(b"same-origin") => Some(true),
        Some(b"none") | None => is_own.or_else(|| is_script(headers).then_some(true)),
        Some(_) => Some(false),
    }
}

/// The port that the request names beside its host; `None` for the one of its scheme.
pub(crate) fn port(headers: &HeaderMap, uri: &Uri) -> Option<u16> {
    let target = uri.authority().map(http::uri::Authority::as_str);
    let header = headers.get(HOST).and_then(|host| host.to_str().ok());
    header.or(target).and_then(Authority::parse)?.port
}

/// Whether a header marks the request as sent by a script. A script of another site's page cannot
/// set that header: the browser would have to ask this server first (CORS), which refuses.
pub(crate) fn is_script(headers: &HeaderMap) -> bool {
    let sent_by = headers.get("x-requested-with");
    sent_by.is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b"xmlhttprequest"))
}

/// Whether the request names `localhost` or a loopback address as its host, and nothing else.
pub(crate) fn is_for_loopback(parts: &Parts) -> bool {
    let headers = parts.headers.get_all(HOST).iter();
    let mut named = headers
        .map(|header| header.to_str().unwrap_or_default())
        .chain(parts.uri.authority().map(http::uri::Authority::as_str))
        .peekable();
    named.peek().is_some()
        && named.all(|host| Authority::parse(host).is_some_and(Authority::is_loopback))
}

/// The host and port that the request names, which must be this server's: 421 if not. `None` if it
/// names none.
fn own_host<'a>(
    config: &ServerConfig,
    parts: &'a Parts,
) -> Result<Option<Authority<'a>>, ApiError> {
    let mut headers = parts.headers.get_all(HOST).iter();
    let header = headers.next();
    if headers.next().is_some() {
        return Err(ApiError::bad_request("There is more than one Host header"));
    }
    if header.is_none() && parts.version == Version::HTTP_11 {
        return Err(ApiError::bad_request("The Host header is missing"));
    }
    let header = header.map(text).transpose()?;
    // In HTTP/2, and in requests to a proxy, the target itself names the host.
    let target = parts.uri.authority().map(http::uri::Authority::as_str);
    let mut host = None;
    for named in [header, target].into_iter().flatten() {
        let authority = Authority::parse(named)
            .ok_or_else(|| ApiError::bad_request("The Host header is malformed"))?;
        if !authority.is_own(config) {
            return Err(ApiError::misdirected(format!(
                "'{named}' is no name of this server: use its IP address, or add the name to \
                 server.public_names"
            )));
        }
        host = Some(authority);
    }
    Ok(host)
}

/// Refuses a request of another site's page.
fn check_page_to(
    config: &ServerConfig,
    host: Option<Authority<'_>>,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let is_cross_site = headers
        .get(SEC_FETCH_SITE)
        .is_some_and(|site| site.as_bytes().eq_ignore_ascii_case(b"cross-site"));
    for origin in headers.get_all(ORIGIN) {
        let origin = text(origin)?;
        if is_cross_site || !is_own_origin(config, host, origin) {
            return Err(ApiError::forbidden(format!(
                "Pages of '{origin}' may change nothing on this server: server.public_names lists \
                 the names whose pages may"
            )));
        }
    }
    match is_cross_site {
        true => Err(ApiError::forbidden(
            "Pages of other sites may change nothing on this server",
        )),
        false => Ok(()),
    }
}

/// Whether a page with this origin comes from this server: from the host that the request names, or
/// from a public name.
fn is_own_origin(config: &ServerConfig, host: Option<Authority<'_>>, origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let default_port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let Some(page) = Authority::parse(authority) else {
        return false;
    };
    let port = |authority: Authority<'_>| authority.port.unwrap_or(default_port);
    page.is_public(config)
        || host.is_some_and(|host| {
            page.name.eq_ignore_ascii_case(host.name) && port(page) == port(host)
        })
}

fn text(value: &HeaderValue) -> Result<&str, ApiError> {
    value
        .to_str()
        .map_err(|_| ApiError::bad_request("The Host or Origin header is not ASCII text"))
}

/// A host and its port, as `Host` and `Origin` name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Authority<'a> {
    /// Without brackets, and without the dot that may end a name.
    name: &'a str,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (name, port) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']')?,
            None => text.split_at(text.find(':').unwrap_or(text.len())),
        };
        let port = match port.strip_prefix(':') {
            Some("") => None,
            Some(digits) => Some(digits.parse().ok()?),
            None if port.is_empty() => None,
            None => return None,
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        (!name.is_empty()).then_some(Self { name, port })
    }

    /// Whether it may be this server. An IP address always may, since no name server can redirect
    /// it.
    fn is_own(self, config: &ServerConfig) -> bool {
        self.name.eq_ignore_ascii_case("localhost")
            || self.name.parse::<IpAddr>().is_ok()
            || self.is_public(config)
    }

    fn is_loopback(self) -> bool {
        let address = self.name.parse::<IpAddr>();
        self.name.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| address.is_loopback())
    }

    fn is_public(self, config: &ServerConfig) -> bool {
        let mut names = config.public_names.iter();
        names.any(|name| name.eq_ignore_ascii_case(self.name))
    }
}

/// The client's id for its request, if it is a text that is not too long.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<&str> {
    let id = headers.get("x-request-id")?.to_str().ok()?;
    let is_kept = !id.is_empty() && id.len() <= REQUEST_ID_BYTES_MAX;
    is_kept.then_some(id)
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;

    fn status(method: &str, headers: &[(&str, &str)]) -> u16 {
        let config = ServerConfig {
            public_names: vec!["graph.example.com".to_owned()],
            ..ServerConfig::default()
        };
        let mut request = Request::builder().method(method).uri("/versions");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let (first, again) = (OnceLock::new(), OnceLock::new());
        let status = |known| {
            let checked = check(&config, &parts, known);
            checked.map_or_else(|error| error.status().as_u16(), |()| 200)
        };
        let answered = status(&first);
        let _ = again.set(Box::from(*b"localhost"));
        assert_eq!(status(&again), answered, "on a connection to localhost");
        assert_eq!(status(&first), answered, "once more");
        answered
    }

    #[test]
    fn only_names_of_this_server_are_served() {
        for own in [
            "localhost",
            "LocalHost:8080",
            "localhost.",
            "127.0.0.1:1",
            "10.1.2.3",
            "[::1]:8080",
            "[fd00::7]",
            "Graph.Example.com:443",
        ] {
            assert_eq!(status("GET", &[("host", own)]), 200, "{own}");
        }
        for foreign in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example:8080",
            "example.com",
            "a.graph.example.com",
            "user@localhost",
            "0x7f000001",
        ] {
            assert_eq!(status("GET", &[("host", foreign)]), 421, "{foreign}");
        }
        for malformed in [
            "",
            ":80",
            "[::1",
            "[::1]80",
            "localhost:http",
            "localhost:99999",
        ] {
            assert_eq!(status("GET", &[("host", malformed)]), 400, "{malformed}");
        }
        assert_eq!(status("GET", &[]), 400);
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert_eq!(status("GET", &twice), 400);
    }

    #[test]
    fn a_loopback_host_is_distinguished_from_all_others() {
        let is_for_loopback = |hosts: &[&str]| {
            let mut request = Request::builder().uri("/admin/backup");
            for host in hosts {
                request = request.header("host", *host);
            }
            let (parts, ()) = request.body(()).unwrap().into_parts();
            super::is_for_loopback(&parts)
        };
        for own in ["localhost:8080", "127.0.0.1", "127.8.0.1:1", "[::1]:8080"] {
            assert!(is_for_loopback(&[own]), "{own}");
        }
        for other in [
            "graph.example.com",
            "10.1.2.3:8080",
            "0.0.0.0",
            "[fd00::7]",
            "",
        ] {
            assert!(!is_for_loopback(&[other]), "{other}");
            assert!(!is_for_loopback(&["localhost", other]), "{other}");
        }
        assert!(!is_for_loopback(&[]));
    }

    #[test]
    fn a_target_that_names_its_host_is_checked_too() {
        let parts = |version, uri: &str| {
            let request = Request::builder().uri(uri).version(version);
            let (parts, ()) = request.body(()).unwrap().into_parts();
            let checked = check(&ServerConfig::default(), &parts, &OnceLock::new());
            checked.map_err(|error| error.status().as_u16())
        };
        assert_eq!(parts(Version::HTTP_2, "http://localhost:80/"), Ok(()));
        assert_eq!(parts(Version::HTTP_2, "http://evil.example/"), Err(421));
        assert_eq!(parts(Version::HTTP_10, "/"), Ok(()));
    }

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let with = |method: &str, name: &str, value: &str| {
            status(method, &[("host", "localhost:8080"), (name, value)])
        };
        for own in [
            "http://localhost:8080",
            "https://graph.example.com",
            "http://graph.example.com:3000",
        ] {
            assert_eq!(with("POST", "origin", own), 200, "{own}");
        }
        for foreign in [
            "null",
            "http://evil.example",
            "http://localhost",
            "http://localhost:3000",
            "http://127.0.0.1:8080",
            "file://localhost:8080",
        ] {
            for method in ["POST", "PUT", "DELETE"] {
                assert_eq!(with(method, "origin", foreign), 403, "{method} {foreign}");
            }
            assert_eq!(with("GET", "origin", foreign), 200, "{foreign}");
        }
        assert_eq!(with("POST", "sec-fetch-site", "cross-site"), 403);
        assert_eq!(with("POST", "sec-fetch-site", "same-origin"), 200);
        assert_eq!(with("GET", "sec-fetch-site", "cross-site"), 200);
        let default_port = [("host", "localhost"), ("origin", "http://localhost:80")];
        assert_eq!(status("PUT", &default_port), 200);
    }
}
