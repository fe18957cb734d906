//! Checks exchanges against `docs/openapi.json`: the answer must be described,
//! and so must the body of a request that was accepted.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use varve_testkit::http::Answer;

/// The description of the API.
pub static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap());

/// The path that each graph's resources have besides their own.
const GRAPH_SPACE: &str = "/graphspaces/DEFAULT/graphs";

/// Fails the test if an exchange is not as the document says. Verbs and paths that it does not have
/// are left alone: they are these tests' own, or meant to be refused.
#[track_caller]
pub fn check(request: &[u8], answer: &Answer) {
    let request = String::from_utf8_lossy(request);
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return;
    };
    let mut words = head.split_ascii_whitespace();
    let (Some(verb), Some(target)) = (words.next(), words.next()) else {
        return;
    };
    let path = target.split('?').next().unwrap();
    let Some(operation) = operation(verb, path) else {
        return;
    };
    let what = format!("{verb} {target}");
    check_answer(&what, operation, answer);
    let is_json = !head.contains("text/plain") && !head.contains("gzip");
    if (200..300).contains(&answer.status) && is_json && !body.is_empty() {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        if schema.is_null() {
            return;
        }
        let body: Value = serde_json::from_str(body.trim_start_matches('\u{feff}')).unwrap();
        if let Err(fault) = validate(schema, &body, "") {
            panic!("{what} was accepted with {body}, but {fault}");
        }
    }
}

#[track_caller]
fn check_answer(what: &str, operation: &'static Value, answer: &Answer) {
    let (status, responses) = (answer.status, &operation["responses"]);
    let exact = &responses[status.to_string()];
    let of_its_kind = &responses[format!("{}XX", status / 100)];
    let response = resolved(if exact.is_null() { of_its_kind } else { exact });
    assert!(
        !response.is_null(),
        "{what}: the status {status} is not described"
    );
    let contents = &response["content"];
    if answer.body.is_empty() {
        assert!(contents.is_null(), "{what}: {status} should have a body");
        return;
    }
    let media = answer
        .header("content-type")
        .and_then(|text| text.split(';').next());
    let schema = &contents[media.unwrap_or_default()]["schema"];
    assert!(
        !schema.is_null(),
        "{what}: {status} as {media:?} is not described"
    );
    let is_binary = schema["format"] == "binary";
    if is_binary || answer.header("content-encoding").is_some() {
        return;
    }
    let is_text = media == Some("text/plain") || !schema["contentMediaType"].is_null();
    let body = if is_text {
        Value::from(answer.text())
    } else {
        serde_json::from_slice(&answer.body).unwrap()
    };
    if let Err(fault) = validate(schema, &body, "") {
        panic!("{what} answered {status} {body}, but {fault}");
    }
}

/// The operation of a verb and path; of several patterns the one with the earliest literal
/// segments.
fn operation(verb: &str, path: &str) -> Option<&'static Value> {
    let path = match path.strip_prefix(GRAPH_SPACE) {
        Some(rest) => format!("/graphs{rest}"),
        None => path.to_owned(),
    };
    let segments: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let fits = |pattern: &str| {
        let mut pattern = pattern.trim_end_matches('/').split('/');
        let all = segments
            .iter()
            .all(|segment| pattern.next().is_some_and(|p| p == *segment || is_free(p)));
        all && pattern.next().is_none()
    };
    let verb = verb.to_ascii_lowercase();
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let found = paths.iter().filter(|(pattern, _)| fits(pattern));
    let (_, verbs) = found.min_by_key(|(pattern, _)| {
        let free: Vec<bool> = pattern.split('/').map(is_free).collect();
        free
    })?;
    verbs.get(&verb)
}

fn is_free(segment: &str) -> bool {
    segment.starts_with('{')
}

/// What a `$ref` points to, or the value itself.
fn resolved(value: &'static Value) -> &'static Value {
    match value["$ref"].as_str() {
        Some(pointer) => DOCUMENT.pointer(&pointer[1..]).unwrap(),
        None => value,
    }
}

/// Keywords that tell a reader something and that nothing here checks.
const ANNOTATIONS: [&str; 8] = [
    "description",
    "default",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "contentMediaType",
    // Checked together with `properties`.
    "additionalProperties",
];

/// Whether a value is as a schema says, as far as the document's keywords go: another keyword fails
/// the test.
fn validate(schema: &'static Value, value: &Value, at: &str) -> Result<(), String> {
    let schema = resolved(schema);
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "type" => check_type(rule, value, at)?,
            "enum" => {
                let allowed = rule.as_array().unwrap();
                ensure(allowed.contains(value), || {
                    format!("{at}: {value} is none of {rule}")
                })?;
            }
            "anyOf" => {
                let any = rule.as_array().unwrap();
                let fits = any.iter().any(|each| validate(each, value, at).is_ok());
                ensure(fits, || {
                    format!("{at}: {value} is nothing of what it may be")
                })?;
            }
            "required" => {
                for name in rule.as_array().unwrap() {
                    let name = name.as_str().unwrap();
                    let there = value
                        .as_object()
                        .is_none_or(|object| object.contains_key(name));
                    ensure(there, || format!("{at}: '{name}' is missing"))?;
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    validate(rule, item, &format!("{at}/{index}"))?;
                }
            }
            "minItems" | "maxItems" => {
                let limit = rule.as_u64().unwrap() as usize;
                let length = value.as_array().map_or(limit, Vec::len);
                let fits = match keyword.as_str() {
                    "minItems" => length >= limit,
                    _ => length <= limit,
                };
                ensure(fits, || format!("{at}: {length} items, {keyword} {limit}"))?;
            }
            "properties" => {}
            known if ANNOTATIONS.contains(&known) => {}
            other => panic!("the keyword '{other}' is not checked"),
        }
    }
    value
        .as_object()
        .map_or(Ok(()), |object| check_members(schema, object, at))
}

fn check_members(
    schema: &'static Value,
    object: &Map<String, Value>,
    at: &str,
) -> Result<(), String> {
    for (name, member) in object {
        let at = format!("{at}/{name}");
        match (
            schema["properties"].get(name),
            &schema["additionalProperties"],
        ) {
            (Some(rule), _) => validate(rule, member, &at)?,
            (None, Value::Bool(false)) => return Err(format!("{at}: this member is unknown")),
            (None, rule @ Value::Object(_)) => validate(rule, member, &at)?,
            (None, _) => {}
        }
    }
    Ok(())
}

fn check_type(rule: &Value, value: &Value, at: &str) -> Result<(), String> {
    let is = |name: &str| match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type '{other}' is unknown"),
    };
    let fits = match rule {
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        name => is(name.as_str().unwrap()),
    };
    ensure(fits, || format!("{at}: {value} is not of type {rule}"))
}

fn ensure(holds: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(fault()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_described_is_found() {
        let schema = |name: &str| &DOCUMENT["components"]["schemas"][name];
        let vertex =
            serde_json::json!({"id": 1, "label": "a", "type": "vertex", "properties": {"x": 1}});
        assert_eq!(validate(schema("Vertex"), &vertex, ""), Ok(()));
        let faults = |change: &dyn Fn(&mut Value)| {
            let mut changed = vertex.clone();
            change(&mut changed);
            validate(schema("Vertex"), &changed, "").unwrap_err()
        };
        assert_eq!(
            faults(&|v| drop(v.as_object_mut().unwrap().remove("label"))),
            ": 'label' is missing"
        );
        assert_eq!(
            faults(&|v| v["label"] = 1.into()),
            "/label: 1 is not of type \"string\""
        );
        assert_eq!(
            faults(&|v| v["type"] = "edge".into()),
            "/type: \"edge\" is none of [\"vertex\"]"
        );
        assert_eq!(
            faults(&|v| v["more"] = 1.into()),
            "/more: this member is unknown"
        );
        assert_eq!(
            faults(&|v| v["id"] = true.into()),
            "/id: true is nothing of what it may be"
        );
        let list = serde_json::json!({"vertices": [vertex, {}]});
        assert!(
            validate(schema("VertexList"), &list, "")
                .unwrap_err()
                .starts_with("/vertices/1: ")
        );
        assert!(operation("GET", "/graphspaces/DEFAULT/graphs/g/graph/vertices/batch").is_none());
        let created = operation("POST", "/graphs/g/graph/vertices/batch/").unwrap();
        assert_eq!(
            created["operationId"],
            "post_graphs_graph_graph_vertices_batch"
        );
    }
}
