//! The recording: one HTTP exchange a line, and the conversion of an exchange into a request.

use std::collections::HashMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, write::GzEncoder};

use crate::http::Request;
use crate::identity::{IdKind, Identities};
use crate::json::Json;
use crate::tables::{Body, RequestDetail};

/// One recorded exchange.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its number in the recording, from 1.
    pub number: usize,
    /// The recorder's note, or empty.
    pub note: String,
    /// The content of the `Authorization` header in plain text; empty for none.
    pub auth: String,
    /// The verb.
    pub method: String,
    /// The path with its query, percent-encoded.
    pub path: String,
    /// `Null` for no body, a string for a raw body, else the JSON that was sent.
    pub request: Json,
    /// The recorded status.
    pub status: u16,
    /// The recorded content type, if any.
    pub content_type: Option<String>,
    /// The recorded answer: a string for an answer that was not JSON.
    pub response: Json,
}

impl Exchange {
    /// The path without its query.
    #[must_use]
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// The still-encoded value of a query parameter; `Some("")` for one without a value.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query
            .split('&')
            .find_map(|pair| match pair.split_once('=') {
                Some((key, value)) => (key == name).then_some(value),
                None => (pair == name).then_some(""),
            })
    }

    /// `/graphs/{name}`, the base of the graph that the exchange is about.
    #[must_use]
    pub fn graph_base(&self) -> Option<String> {
        let name = self.route().strip_prefix("/graphs/")?.split('/').next()?;
        Some(format!("/graphs/{name}"))
    }
}

/// Reads a recording, one JSON object a line.
///
/// # Errors
/// When a line is not an exchange; the message names the line.
pub fn parse(text: &str) -> Result<Vec<Exchange>, String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .enumerate()
        .map(|(i, line)| parse_line(i + 1, line))
        .collect()
}

/// Texts of 1.7 and their equivalents in 1.5. Ids have the numbers of hidden labels, which depend
/// on the version; refusals name the graph space; errors have a trace by default.
const TERMS_OF_1_7: [(&str, &str); 14] = [
    ("-31:", "-30:"),
    ("-31%3A", "-30%3A"),
    ("-37:", "-36:"),
    ("-37%3A", "-36%3A"),
    ("-45:", "-44:"),
    ("-45%3A", "-44%3A"),
    (">-50>-50>", ">-49>-49>"),
    ("%3E-50%3E-50%3E", "%3E-49%3E-49%3E"),
    (">-56>-56>", ">-55>-55>"),
    ("%3E-56%3E-56%3E", "%3E-55%3E-55%3E"),
    ("-66:", "-65:"),
    ("-66%3A", "-65%3A"),
    ("Resource{graphspace=DEFAULT,", "Resource{"),
    (r#", "trace": ["<left out>"]"#, ""),
];

/// A recording of 1.7 with the numbers and texts of 1.5, which this server uses on all paths.
#[must_use]
pub fn in_the_terms_of_1_5(recording: &str) -> String {
    let terms = TERMS_OF_1_7.iter();
    terms.fold(recording.to_owned(), |text, (newer, older)| {
        text.replace(newer, older)
    })
}

fn parse_line(number: usize, line: &str) -> Result<Exchange, String> {
    let wrong = |what: &str| format!("exchange {number}: {what}");
    let value = Json::parse(line).map_err(|e| wrong(&e))?;
    let text = |key: &str| value.get(key).and_then(Json::as_str).map(str::to_owned);
    let status = match value.get("status") {
        Some(Json::Number(digits)) => digits.parse().map_err(|_| wrong("a bad status"))?,
        _ => return Err(wrong("no status")),
    };
    Ok(Exchange {
        number,
        note: text("note").unwrap_or_default(),
        auth: text("auth")
            .filter(|auth| auth != "none")
            .unwrap_or_default(),
        method: text("method").ok_or_else(|| wrong("no method"))?,
        path: text("path").ok_or_else(|| wrong("no path"))?,
        request: value.get("request").cloned().unwrap_or(Json::Null),
        status,
        content_type: text("content_type"),
        response: value.get("response").cloned().unwrap_or(Json::Null),
    })
}

/// Builds the request of an exchange for this server: the recorded one, with ids that the server
/// generated. `details` supplies what is not recorded: headers, and bodies that are too long or no
/// text.
#[must_use]
pub fn request(
    exchange: &Exchange,
    details: &HashMap<usize, RequestDetail>,
    identities: &Identities,
) -> Request {
    let detail = details.get(&exchange.number);
    let mut headers = vec![
        ("Accept".to_owned(), "*/*".to_owned()),
        ("Accept-Encoding".to_owned(), "gzip".to_owned()),
    ];
    let body = match detail.and_then(|d| d.body.as_ref()) {
        Some(body) => Some(detailed_body(body, &mut headers)),
        None => recorded_body(exchange, identities),
    };
    if !exchange.auth.is_empty() {
        let value = authorization(&exchange.auth, identities);
        headers.push(("Authorization".to_owned(), value));
    }
    if body.is_some() {
        headers.push(("Content-Type".to_owned(), "application/json".to_owned()));
    }
    for (name, value) in detail.iter().flat_map(|d| &d.headers) {
        headers.retain(|(n, _)| !n.eq_ignore_ascii_case(name));
        // An empty value in the table removes the header.
        if !value.is_empty() {
            headers.push((name.clone(), value.clone()));
        }
    }
    Request {
        method: exchange.method.clone(),
        path: identities.in_path(&exchange.path),
        headers,
        body,
    }
}

/// The value of the `Authorization` header. A name and a password are recorded in plain text,
/// tokens as placeholders.
#[must_use]
pub fn authorization(auth: &str, identities: &Identities) -> String {
    match auth.split_once(' ') {
        Some(("Basic", pair)) if pair.contains(':') => format!("Basic {}", STANDARD.encode(pair)),
        Some(("Bearer", token)) => format!("Bearer {}", identities.actual(IdKind::Token, token)),
        _ => auth.to_owned(),
    }
}

fn recorded_body(exchange: &Exchange, identities: &Identities) -> Option<Vec<u8>> {
    let text = match &exchange.request {
        Json::Null if matches!(exchange.method.as_str(), "POST" | "PUT" | "PATCH") => String::new(),
        Json::Null => return None,
        Json::String(raw) => raw.clone(),
        json => json.to_string(),
    };
    Some(identities.in_text(&text).into_bytes())
}

fn detailed_body(body: &Body, headers: &mut Vec<(String, String)>) -> Vec<u8> {
    match body {
        Body::Repeat { count, element } => {
            let items: Vec<_> = (0..*count)
                .map(|i| element.replace("%d", &i.to_string()))
                .collect();
            format!("[{}]", items.join(",")).into_bytes()
        }
        Body::Gzip(text) => {
            headers.push(("Content-Encoding".to_owned(), "gzip".to_owned()));
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder
                .write_all(text.as_bytes())
                .expect("a Vec takes every byte");
            encoder.finish().expect("a Vec takes every byte")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(line: &str) -> Exchange {
        parse(line).unwrap().remove(0)
    }

    #[test]
    fn reads_a_line_and_its_query() {
        let e = exchange(
            r#"{"note":null,"method":"GET","path":"/graphs/g/graph/vertices?label=p&page&limit=3","request":null,"status":200,"content_type":"application/json","content_encoding":null,"response":{"vertices":[]}}"#,
        );
        assert_eq!(
            (e.number, e.status, e.route()),
            (1, 200, "/graphs/g/graph/vertices")
        );
        assert_eq!(
            (e.query("page"), e.query("limit"), e.query("offset")),
            (Some(""), Some("3"), None)
        );
        assert_eq!(e.graph_base().as_deref(), Some("/graphs/g"));
    }

    #[test]
    fn a_recording_of_1_7_is_read_in_the_terms_of_1_5() {
        let newer = r#"{"path": "/x/S-31%3Aa%3E-50%3E-50%3E%3ES-37%3Ab", "id": "S-31:a>-50>-50>>S-37:b",
            "message": "read Resource{graphspace=DEFAULT,graph=g}", "trace": ["<left out>"]}"#;
        let older = r#"{"path": "/x/S-30%3Aa%3E-49%3E-49%3E%3ES-36%3Ab", "id": "S-30:a>-49>-49>>S-36:b",
            "message": "read Resource{graph=g}"}"#;
        assert_eq!(in_the_terms_of_1_5(newer), older);
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        let error =
            parse("{\"method\":\"GET\",\"path\":\"/\",\"status\":200}\n{\"x\":1}").unwrap_err();
        assert!(error.contains("exchange 2"), "{error}");
    }

    #[test]
    fn a_detail_replaces_body_and_headers() {
        let e = exchange(r#"{"method":"POST","path":"/x","request":"<binary>","status":201}"#);
        let detail = RequestDetail {
            body: Some(Body::Gzip("[]".into())),
            headers: vec![("content-type".into(), String::new())],
        };
        let built = request(&e, &HashMap::from([(1, detail)]), &Identities::default());
        assert!(built.body.unwrap().starts_with(&[0x1f, 0x8b]));
        let names: Vec<_> = built.headers.iter().map(|(n, _)| n.as_str()).collect();
        assert_eq!(names, ["Accept", "Accept-Encoding", "Content-Encoding"]);
    }

    #[test]
    fn a_post_without_a_body_still_says_its_length() {
        let e = exchange(r#"{"method":"POST","path":"/x","request":null,"status":400}"#);
        let built = request(&e, &HashMap::new(), &Identities::default());
        assert_eq!(built.body.as_deref(), Some(&b""[..]));
    }
}
