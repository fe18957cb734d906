//! The comparison rules: when two answers to one request count as equal.
//!
//! **Always compared**: the status, and nothing else if it differs; the content type (text before
//! and after `;`, ignoring case and spaces), unless the recording has none or is a parse error;
//! that a 204 and a HEAD have no body. Whether an answer is compressed is not compared: that is
//! negotiated, and the original ignores the negotiation.
//!
//! **Bodies**, by what was recorded ([`rule_of`]):
//! - *Error* (`exception`, `message`, `cause`): class and message must be the same text. A cause is
//!   some Java object's `toString`, so it only must be a string. The server's own `code` is left
//!   out. Task numbers inside the message
//!   are substituted. If several labels use a property key, the error may name any of them.
//! - *Parse error* (the original's `text/plain` Jackson messages): a 400 whose body names the field
//!   or the value that the message names, in any content type. If the message names none, the body
//!   only must not be blank.
//! - *Elements* (lists of vertices or edges): as sets, because the original orders by its own
//!   storage key. The defined part of the order is checked: numeric ids before others in a plain
//!   listing, the property's values in a query by one range. A list that was cut (`limit`,
//!   `page_limit`, `offset`, `page`) has as many elements as recorded, none twice, each in a form
//!   that the recording has for this element.
//! - *Top lists* (schema lists without `names=`, `GET …/schema`, graphs, answers of batch updates):
//!   the lists directly below the top are sets, everything inside them is ordered.
//! - *Traverser*: every list is a set except sequences (paths, weights, ranks).
//! - *Groups* (`/metrics`, its parts `system` and `backend`, `/apis`, `/openapi.json`): at least
//!   the recorded members, each of the same JSON type.
//! - *Entries* (the other parts of `/metrics`): each entry has the fields that all recorded entries
//!   have. Numbers and names are the server's own.
//! - *Text* (`…/conf`, Prometheus metrics): not empty; metrics start with the recorded first line.
//! - *Status only*: WADL, HTML error pages.
//! - *Any elements* (a Gremlin text that limits all vertices or edges, if the engine lists them in
//!   an order of its own): as many results as recorded, none twice, each an element of the
//!   recording, or its id.
//! - *Exact*: everything else; lists are ordered (ids of a batch, `names=`, property names). If the
//!   engine lists elements in an order of its own, the results of a Gremlin text without `order(`
//!   are compared as for a traverser.
//!
//! **Inside any body** (see [`crate::walk`]): objects have the same members in any order, except an
//! element's `properties`, whose order is defined; `1` and `1.0` differ; ids that the server
//! generates, times, costs, versions and addresses are compared as described in that module.

use std::collections::HashMap;

use crate::http::Response;
use crate::identity::{IdKind, Identities, percent_decode};
use crate::json::Json;
use crate::transcript::Exchange;
use crate::walk::{Order, Walk};

/// How one exchange's body is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Value by value, lists ordered.
    Exact,
    /// A HugeGraph error object.
    Error,
    /// A 400 that names the problem.
    ParseError,
    /// A list of vertices or edges under this key.
    Elements(&'static str),
    /// The lists directly below the top are sets.
    TopLists,
    /// Lists are sets, except sequences.
    Traverser,
    /// At least the recorded top-level members, each of the recorded JSON type.
    Groups,
    /// An object of entries that have the recorded entries' common fields.
    Entries,
    /// Text that is not empty; metrics start with the recorded first line.
    Text,
    /// Only status and content type.
    StatusOnly,
}

/// Chooses the rule for an exchange.
#[must_use]
pub fn rule_of(exchange: &Exchange) -> Rule {
    let route = exchange.route().trim_end_matches('/');
    let is_get = exchange.method == "GET";
    let tail = |suffix: &str| route.ends_with(suffix);
    match &exchange.response {
        Json::String(text) if text.starts_with("<left out: ") => Rule::StatusOnly,
        Json::String(_) if exchange.status == 400 && !exchange.response_is_empty() => {
            Rule::ParseError
        }
        Json::String(_) if exchange.status == 200 && is_get => Rule::Text,
        Json::String(_) => Rule::StatusOnly,
        _ if exchange.status >= 400 => Rule::Error,
        _ if is_get && (tail("/graph/vertices") || tail("/traversers/vertices")) => {
            Rule::Elements("vertices")
        }
        _ if is_get && (tail("/graph/edges") || tail("/traversers/edges")) => {
            Rule::Elements("edges")
        }
        _ if is_get && tail("/vertices/scan") => Rule::Elements("vertices"),
        _ if is_get && tail("/edges/scan") => Rule::Elements("edges"),
        _ if route.contains("/traversers/") => Rule::Traverser,
        _ if route == "/metrics/system" || route == "/metrics/backend" || route == "/apis" => {
            Rule::Groups
        }
        _ if route == "/metrics" || route == "/openapi.json" => Rule::Groups,
        _ if route.starts_with("/metrics/") => Rule::Entries,
        _ if route == "/graphs" => Rule::TopLists,
        _ if exchange.method == "PUT" && tail("/batch") => Rule::TopLists,
        _ if is_get && is_schema_list(route) && exchange.query("names").is_none() => Rule::TopLists,
        _ => Rule::Exact,
    }
}

fn is_schema_list(route: &str) -> bool {
    [
        "/schema",
        "/propertykeys",
        "/vertexlabels",
        "/edgelabels",
        "/indexlabels",
    ]
    .iter()
    .any(|suffix| route.ends_with(suffix))
}

impl Exchange {
    fn response_is_empty(&self) -> bool {
        self.response.as_str().is_some_and(str::is_empty)
    }
}

/// All recorded forms of each element, by the element's id.
#[derive(Debug, Default)]
pub struct Corpus {
    forms: HashMap<String, Vec<Json>>,
    /// Whether the server's storage engine may list elements in an order of its own, as a hashed
    /// one does.
    pub any_order: bool,
}

impl Corpus {
    /// Collects the elements of all answers.
    #[must_use]
    pub fn collect(exchanges: &[Exchange]) -> Self {
        let mut corpus = Self::default();
        for exchange in exchanges {
            corpus.add(&exchange.response);
        }
        corpus
    }

    fn add(&mut self, value: &Json) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| self.add(item)),
            Json::Object(members) => {
                if let Some(id) = element_id(value) {
                    let forms = self.forms.entry(id).or_default();
                    if !forms.contains(value) {
                        forms.push(value.clone());
                    }
                }
                members.iter().for_each(|(_, member)| self.add(member));
            }
            _ => {}
        }
    }

    fn knows(&self, element: &Json, ids: &Identities) -> bool {
        let Some(id) = element_id(element) else {
            return false;
        };
        let shown = |forms: &Vec<Json>| {
            forms.iter().any(|form| {
                let mut trial = ids.clone();
                let mut walk = Walk::new(&mut trial, Order::Exact);
                walk.value("", form, element);
                walk.differences.is_empty()
            })
        };
        match self.forms.get(&id) {
            Some(forms) => shown(forms),
            // In another order, a cut list may contain elements whose generated ids are not known
            // yet.
            None => self.any_order && self.forms.values().any(shown),
        }
    }
}

impl Corpus {
    /// Whether a value is the id of a recorded element.
    fn knows_id(&self, id: &Json, ids: &Identities) -> bool {
        self.forms.values().flatten().any(|form| {
            let mut trial = ids.clone();
            let mut walk = Walk::new(&mut trial, Order::Exact);
            let Some(shown) = form.get("id") else {
                return false;
            };
            walk.value("id", shown, id);
            walk.differences.is_empty()
        })
    }
}

/// The id of a vertex or an edge as JSON text, so that `1` and `"1"` are distinct. `None` for other
/// values.
fn element_id(value: &Json) -> Option<String> {
    match value.get("type").and_then(Json::as_str) {
        Some("vertex" | "edge") if value.get("properties").is_some() => {
            value.get("id").map(Json::to_string)
        }
        _ => None,
    }
}

/// Compares an answer with the recorded one, and learns the ids that the server generated. Returns
/// one line for each difference; only one line if the status differs, and none if they are equal.
#[must_use]
pub fn compare(
    exchange: &Exchange,
    answer: &Response,
    corpus: &Corpus,
    ids: &mut Identities,
) -> Vec<String> {
    let rule = rule_of(exchange);
    if answer.status != exchange.status {
        let body: String = answer.body.chars().take(300).collect();
        return vec![format!(
            "status {} instead of {}: {body}",
            answer.status, exchange.status
        )];
    }
    let mut out = Vec::new();
    if rule != Rule::ParseError {
        out.extend(content_type_difference(exchange, answer));
    }
    if exchange.status == 204 || exchange.method == "HEAD" {
        if !answer.body.is_empty() {
            out.push(format!("a body where there must be none: {}", answer.body));
        }
        return out;
    }
    match rule {
        Rule::StatusOnly => {}
        Rule::ParseError => out.extend(parse_error_difference(exchange, &answer.body)),
        Rule::Text => out.extend(text_difference(exchange, &answer.body)),
        _ => match Json::parse(&answer.body) {
            Ok(actual) => out.extend(compare_json(exchange, rule, &actual, corpus, ids)),
            Err(error) => out.push(format!("{error}: {}", answer.body)),
        },
    }
    out
}

fn compare_json(
    exchange: &Exchange,
    rule: Rule,
    actual: &Json,
    corpus: &Corpus,
    ids: &mut Identities,
) -> Vec<String> {
    let recorded = &exchange.response;
    learn_automatic_id(exchange, actual, ids);
    if corpus.any_order && takes_any_elements(exchange) {
        return any_elements_differences(recorded, actual, corpus, ids);
    }
    match rule {
        Rule::Error => error_differences(exchange, actual, ids),
        Rule::Groups => group_differences(recorded, actual),
        Rule::Entries => entry_differences(recorded, actual),
        Rule::Elements(key) => element_differences(exchange, key, actual, corpus, ids),
        _ => {
            let order = match rule {
                Rule::TopLists => Order::TopLists,
                Rule::Traverser => Order::Paths,
                _ if corpus.any_order && is_unordered(exchange) => Order::Paths,
                _ => Order::Exact,
            };
            let mut walk = Walk::new(ids, order);
            walk.value("", recorded, actual);
            walk.differences
        }
    }
}

fn content_type_difference(exchange: &Exchange, answer: &Response) -> Option<String> {
    let plain = |text: &str| text.to_ascii_lowercase().replace(' ', "");
    let recorded = exchange.content_type.as_deref()?;
    let actual = answer.header("content-type").unwrap_or("none");
    (plain(recorded) != plain(actual))
        .then(|| format!("content type '{actual}' instead of '{recorded}'"))
}

/// The difference if the body is blank, or does not name what the recorded message names: the text
/// in double quotes after `field` or `from String`.
fn parse_error_difference(exchange: &Exchange, body: &str) -> Option<String> {
    let sentence = exchange.response.as_str().unwrap_or_default();
    if body.trim().is_empty() {
        return Some("a parse error that says nothing".to_owned());
    }
    let name = ["field \"", "from String \""].iter().find_map(|lead| {
        let (_, rest) = sentence.split_once(lead)?;
        rest.split('"').next()
    })?;
    (!body.contains(name)).then(|| format!("a parse error that does not name '{name}': {body}"))
}

fn text_difference(exchange: &Exchange, body: &str) -> Option<String> {
    let recorded = exchange.response.as_str().unwrap_or_default();
    let first_line = recorded.lines().next().unwrap_or_default();
    if first_line.starts_with("# HELP") && !body.starts_with(first_line) {
        return Some(format!("text that does not start with '{first_line}'"));
    }
    body.trim().is_empty().then(|| "no text".to_owned())
}

fn error_differences(exchange: &Exchange, actual: &Json, ids: &mut Identities) -> Vec<String> {
    let mut recorded = exchange.response.clone();
    if let (Json::Object(members), Some((_, id))) =
        (&mut recorded, exchange.route().rsplit_once("/tasks/"))
    {
        for (_, value) in members.iter_mut().filter(|(key, _)| key == "message") {
            if let Json::String(text) = value {
                *text = text.replace(
                    &format!("'{id}'"),
                    &format!("'{}'", ids.actual(IdKind::Task, id)),
                );
            }
        }
    }
    let mut actual = actual.clone();
    if let Json::Object(members) = &mut actual {
        members.retain(|(key, _)| key != "code");
    }
    for error in [&mut recorded, &mut actual] {
        blur_user_of_key(error);
    }
    let mut walk = Walk::new(ids, Order::Exact);
    walk.value("", &recorded, &actual);
    walk.differences
}

/// Removes the name of the label from the message that a property key is in use. If several labels
/// use the key, the message may name any of them.
fn blur_user_of_key(error: &mut Json) {
    let Json::Object(members) = error else { return };
    for (_, value) in members.iter_mut().filter(|(key, _)| key == "message") {
        if let Json::String(text) = value
            && let Some((start, rest)) = text.split_once(" label '")
            && let Some((_, end)) = rest.split_once('\'')
            && end == " is still using it."
        {
            *text = format!("{start} label '…'{end}");
        }
    }
}

fn learn_automatic_id(exchange: &Exchange, actual: &Json, ids: &mut Identities) {
    let is_create = exchange.method == "POST" && exchange.route().ends_with("/graph/vertices");
    let has_id = exchange
        .request
        .get("id")
        .is_some_and(|id| *id != Json::Null);
    if !is_create || has_id {
        return;
    }
    if let (Some(Json::Number(recorded)), Some(Json::Number(actual))) =
        (exchange.response.get("id"), actual.get("id"))
    {
        // A clash is reported as a difference of the ids when the bodies are walked.
        let _ = ids.pair(IdKind::Vertex, recorded, actual);
    }
}

fn group_differences(recorded: &Json, actual: &Json) -> Vec<String> {
    let Some(groups) = recorded.as_object() else {
        return vec!["not an object".to_owned()];
    };
    let missing = groups.iter().filter(|(key, value)| {
        actual
            .get(key)
            .is_none_or(|found| found.kind() != value.kind())
    });
    missing
        .map(|(key, value)| format!("no {key} that is {}", value.kind()))
        .collect()
}

fn entry_differences(recorded: &Json, actual: &Json) -> Vec<String> {
    let (Some(entries), Some(found)) = (recorded.as_object(), actual.as_object()) else {
        return vec![format!("{} instead of an object of entries", actual.kind())];
    };
    let mut common: Option<Vec<&str>> = None;
    for (_, entry) in entries {
        let keys = entry
            .as_object()
            .unwrap_or_default()
            .iter()
            .map(|(k, _)| k.as_str());
        common = Some(match common {
            None => keys.collect(),
            Some(old) => keys.filter(|k| old.contains(k)).collect(),
        });
    }
    let common = common.unwrap_or_default();
    let lacks = |entry: &Json| common.iter().find(|key| entry.get(key).is_none()).copied();
    found
        .iter()
        .filter_map(|(name, entry)| Some(format!("entry {name} has no {}", lacks(entry)?)))
        .collect()
}

fn element_differences(
    exchange: &Exchange,
    key: &str,
    actual: &Json,
    corpus: &Corpus,
    ids: &mut Identities,
) -> Vec<String> {
    let recorded = &exchange.response;
    let (Some(expected), Some(found)) = (
        recorded.get(key).and_then(Json::as_array),
        actual.get(key).and_then(Json::as_array),
    ) else {
        return vec![format!("no list of {key}: {actual}")];
    };
    if !is_cut(exchange, expected.len()) {
        let mut walk = Walk::new(ids, Order::TopLists);
        walk.value("", recorded, actual);
        let mut out = walk.differences;
        if out.is_empty() {
            out.extend(order_difference(
                exchange,
                expected,
                found,
                corpus.any_order,
            ));
        }
        return out;
    }
    let mut walk = Walk::new(ids, Order::TopLists);
    walk.members_but(key, recorded, actual);
    let mut out = walk.differences;
    if found.len() != expected.len() {
        out.push(format!(
            "{} {key} instead of {}",
            found.len(),
            expected.len()
        ));
    }
    for (i, element) in found.iter().enumerate() {
        if !corpus.knows(element, ids) {
            out.push(format!("{key}[{i}] is nowhere in the recording: {element}"));
        }
        if found[..i]
            .iter()
            .any(|other| element_id(other) == element_id(element))
        {
            out.push(format!("{key}[{i}] comes twice: {element}"));
        }
    }
    out.extend(order_difference(
        exchange,
        expected,
        found,
        corpus.any_order,
    ));
    out
}

/// The text of a Gremlin request, from its body or its query string; `None` for other requests.
fn script(exchange: &Exchange) -> Option<String> {
    let text = exchange.request.get("gremlin").and_then(Json::as_str);
    let in_body = text.map(str::to_owned);
    let text = in_body.or_else(|| exchange.query("gremlin").map(percent_decode));
    text.filter(|_| exchange.route() == "/gremlin")
}

/// Whether the exchange is a Gremlin text that leaves the order of its results open.
fn is_unordered(exchange: &Exchange) -> bool {
    script(exchange).is_some_and(|text| !text.contains("order("))
}

/// Whether the exchange is a Gremlin text that takes an arbitrary part of all vertices or edges.
fn takes_any_elements(exchange: &Exchange) -> bool {
    script(exchange)
        .is_some_and(|text| text.contains(".V().limit(") || text.contains(".E().limit("))
}

fn any_elements_differences(
    recorded: &Json,
    actual: &Json,
    corpus: &Corpus,
    ids: &Identities,
) -> Vec<String> {
    let data = |answer: &Json| {
        let data = answer.get("result").and_then(|result| result.get("data"));
        data.and_then(Json::as_array).map(<[Json]>::to_vec)
    };
    let (Some(expected), Some(found)) = (data(recorded), data(actual)) else {
        return vec![format!("no list of results: {actual}")];
    };
    let mut out = Vec::new();
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        out.push(format!("{found} results instead of {expected}"));
    }
    for (at, result) in found.iter().enumerate() {
        if !corpus.knows(result, ids) && !corpus.knows_id(result, ids) {
            out.push(format!("result {at} is nowhere in the recording: {result}"));
        }
        if found[..at].contains(result) {
            out.push(format!("result {at} comes twice: {result}"));
        }
    }
    out
}

/// Whether the recorded list may have been cut: it has as many elements as `limit` or `page_limit`
/// allows, or the request has an `offset` or a `page`.
fn is_cut(exchange: &Exchange, length: usize) -> bool {
    let number = |name: &str| exchange.query(name).and_then(|v| v.parse::<i64>().ok());
    let limit = number("limit").or_else(|| number("page_limit"));
    limit.is_some_and(|limit| limit >= 0 && limit == length as i64)
        || number("offset").is_some_and(|offset| offset > 0)
        || exchange
            .query("page")
            .is_some_and(|token| !token.is_empty())
}

/// A difference in the defined part of the order. A query by one range is ordered by that
/// property's value. A plain listing has numeric ids first, unless the engine may list in
/// `any_order`. Other queries, and those with a `vertex_id`, have no defined order.
fn order_difference(
    exchange: &Exchange,
    expected: &[Json],
    found: &[Json],
    any_order: bool,
) -> Option<String> {
    let sort_key = match exchange.query("properties") {
        Some(text) => Some(range_property(&percent_decode(text))?),
        None if any_order => return None,
        None => None,
    };
    if exchange.query("vertex_id").is_some() {
        return None;
    }
    let sequence = |list: &[Json]| -> Vec<String> {
        let key_of = |element: &Json| match &sort_key {
            Some(name) => element
                .get("properties")
                .and_then(|p| p.get(name))
                .map(Json::to_string),
            None => element.get("id").map(|id| id.kind().to_owned()),
        };
        list.iter()
            .map(|element| key_of(element).unwrap_or_default())
            .collect()
    };
    let (wanted, got) = (sequence(expected), sequence(found));
    (wanted != got).then(|| {
        let by = sort_key.as_deref().unwrap_or("kind of id");
        format!("order by {by} is {got:?} instead of {wanted:?}")
    })
}

/// The property of a query that consists of one range predicate; `None` for other queries.
fn range_property(properties: &str) -> Option<String> {
    let query = Json::parse(properties).ok()?;
    let [(name, Json::String(predicate))] = query.as_object()? else {
        return None;
    };
    let ranges = [
        "P.gt(",
        "P.gte(",
        "P.lt(",
        "P.lte(",
        "P.between(",
        "P.inside(",
    ];
    ranges
        .iter()
        .any(|range| predicate.starts_with(range))
        .then(|| name.clone())
}

#[cfg(test)]
mod tests;
