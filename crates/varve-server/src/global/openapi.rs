//! Serves `/openapi.json`, the API description in the repository. The tests of this module compare
//! it with the route table; tests over HTTP check their exchanges against the schemas in it.

use crate::request::RequestContext;
use crate::respond::{ContentType, HandlerResult, Response};

/// `docs/openapi.json`, built into the binary.
const DOCUMENT: &str = include_str!("../../../../docs/openapi.json");

pub(super) fn get(_: &RequestContext) -> HandlerResult {
    Ok(Response::ok(DOCUMENT).content_type(ContentType::JsonBare))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;
    use crate::route::{Parameter, Route, Verb};
    use crate::router::Router;

    /// The environment variable with which the tests add missing entries to the file instead of
    /// failing. Existing texts stay.
    const UPDATE: &str = "VARVE_UPDATE_OPENAPI";

    fn schema_of(kind: &str) -> &'static str {
        match kind {
            "long" | "int" => "integer",
            "double" => "number",
            "boolean" => "boolean",
            _ => "string",
        }
    }

    fn query_parameter(parameter: &Parameter) -> Value {
        json!({
            "name": parameter.name,
            "in": "query",
            "schema": {"type": schema_of(parameter.kind)},
        })
    }

    /// A first description of a route, for a person to add to.
    fn skeleton(route: &Route) -> Value {
        let path = route.parameter_names().map(
            |name| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}),
        );
        let query = route.parameters.iter().map(query_parameter);
        let mut operation = json!({
            "tags": [route.category],
            "operationId": operation_id(route),
            "summary": "",
            "parameters": path.chain(query).collect::<Vec<_>>(),
            "responses": {
                "200": {"description": "Done", "content": {"application/json": {"schema": {}}}},
                "4XX": {"$ref": "#/components/responses/Refused"},
                "5XX": {"$ref": "#/components/responses/Failed"},
            },
        });
        if matches!(route.verb, Verb::Post | Verb::Put) {
            operation["requestBody"] = json!({"content": {"application/json": {"schema": {}}}});
        }
        operation
    }

    fn operation_id(route: &Route) -> String {
        let words = route.pattern.replace(['/', '{', '}', '.'], " ");
        let words: Vec<&str> = words.split_whitespace().collect();
        format!("{}_{}", route.verb.as_str().to_lowercase(), words.join("_"))
    }

    fn operations(document: &Value) -> BTreeSet<(String, String)> {
        let paths = document["paths"]
            .as_object()
            .expect("the document has paths");
        paths
            .iter()
            .flat_map(|(path, item)| {
                let item = item.as_object().expect("a path is an object");
                item.keys().map(move |verb| (path.clone(), verb.clone()))
            })
            .collect()
    }

    #[test]
    fn the_document_has_exactly_the_routes_of_the_table() {
        let mut document: Value = serde_json::from_str(DOCUMENT).expect("the document is JSON");
        let router = Router::new(&crate::routes::tables());
        let key = |route: &Route| {
            (
                format!("/{}", route.pattern),
                route.verb.as_str().to_lowercase(),
            )
        };
        let wanted: BTreeSet<_> = router.routes().iter().map(|route| key(route)).collect();
        if std::env::var_os(UPDATE).is_some() {
            for route in router.routes() {
                let (path, verb) = key(route);
                let slot = &mut document["paths"][path][verb];
                if slot.is_null() {
                    *slot = skeleton(route);
                }
            }
            let paths = document["paths"]
                .as_object_mut()
                .expect("the document has paths");
            for (path, item) in paths.iter_mut() {
                let item = item.as_object_mut().expect("a path is an object");
                item.retain(|verb, _| wanted.contains(&(path.clone(), verb.clone())));
            }
            paths.retain(|_, item| item.as_object().is_some_and(|item| !item.is_empty()));
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
            let text = serde_json::to_string_pretty(&document).expect("a value has a text");
            std::fs::write(file, text + "\n").expect("the file can be written");
        }
        let described = operations(&document);
        let missing: Vec<_> = wanted.difference(&described).collect();
        let unknown: Vec<_> = described.difference(&wanted).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "docs/openapi.json lacks {missing:?} and has too many {unknown:?}; run the tests with {UPDATE}=1"
        );
    }

    /// Collects every `$ref` and every schema in `value`.
    fn visit<'v>(value: &'v Value, refs: &mut Vec<&'v str>, schemas: &mut Vec<&'v Value>) {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match (name.as_str(), member) {
                        ("$ref", Value::String(target)) => refs.push(target),
                        ("schema", schema) => schemas.push(schema),
                        _ => {}
                    }
                    visit(member, refs, schemas);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| visit(item, refs, schemas)),
            _ => {}
        }
    }

    #[test]
    fn every_operation_is_described_in_full() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("the document is JSON");
        let paths = document["paths"].as_object().expect("paths");
        for (path, verbs) in paths {
            for (verb, operation) in verbs.as_object().expect("verbs") {
                let (mut refs, mut schemas) = (Vec::new(), Vec::new());
                visit(operation, &mut refs, &mut schemas);
                let summary = operation["summary"].as_str().unwrap_or_default();
                assert!(!summary.is_empty(), "{verb} {path} has no summary");
                let empty = schemas
                    .iter()
                    .any(|schema| **schema == Value::Object(serde_json::Map::default()));
                assert!(!empty, "{verb} {path} has an empty schema");
            }
        }
        let (mut refs, mut schemas) = (Vec::new(), Vec::new());
        visit(&document, &mut refs, &mut schemas);
        for target in refs {
            let found = target
                .strip_prefix('#')
                .and_then(|pointer| document.pointer(pointer));
            assert!(found.is_some(), "{target} points nowhere");
        }
    }

    #[test]
    fn logins_and_the_main_bodies_are_described() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("the document is JSON");
        let schemes = &document["components"]["securitySchemes"];
        for login in document["security"].as_array().expect("a list") {
            let login = login.as_object().expect("an object");
            assert!(login.keys().all(|name| schemes[name]["type"] == "http"));
        }
        for path in [
            "/graphs/{graph}/graph/vertices",
            "/graphs/{graph}/graph/edges/batch",
            "/graphs/{graph}/schema/vertexlabels",
            "/gremlin",
        ] {
            let body = &document["paths"][path]["post"]["requestBody"];
            assert!(
                !body["content"]["application/json"]["example"].is_null(),
                "{path}"
            );
        }
    }

    #[test]
    fn parameters_of_the_table_are_described() {
        let document: Value = serde_json::from_str(DOCUMENT).expect("the document is JSON");
        for route in Router::new(&crate::routes::tables()).routes() {
            let operation = &document["paths"][format!("/{}", route.pattern)]
                [route.verb.as_str().to_lowercase()];
            let described: BTreeSet<&str> = operation["parameters"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            let names = route
                .parameter_names()
                .chain(route.parameters.iter().map(|p| p.name));
            for name in names {
                assert!(
                    described.contains(name),
                    "{} {} lacks {name}",
                    route.verb.as_str(),
                    route.pattern
                );
            }
        }
    }
}
