//! The metadata repository's calls: how requests reach them and how failures are rendered.

mod as_graph;
mod copies;
mod doors;
mod instances;
mod odd;
mod outcomes;
mod searches;
mod types;

use std::sync::Arc;

use serde_json::{Value, json};
use varve_graph::Registry;
use varve_omrs::graph_store::GraphStore;
use varve_omrs::json::Limits;
use varve_omrs::repository::{Options, Repository};
use varve_omrs::types::Catalogue;
use varve_server::{Metadata, ServerConfig};
use varve_testkit::http::request;
use varve_testserver::TestServer;

pub(crate) const USERS: &str = "/servers/varve/open-metadata/repository-services/users/ada";

/// The identity of the repository under test.
const HOME: &str = "b1e1d5a1-0001-4c4c-8f8f-000000000001";

/// A repository on this store, whose bodies nest 20 deep.
fn metadata(store: Arc<GraphStore>) -> Metadata {
    let options = Options {
        metadata_collection_id: Some(HOME.to_owned()),
        metadata_collection_name: "varve".to_owned(),
        base_url: "http://h/servers/varve".to_owned(),
    };
    Metadata {
        repository: Arc::new(Repository::open(store, options).unwrap()).into(),
        graph: "metadata".to_owned(),
        server_names: vec!["varve".to_owned()],
        limits: Limits {
            depth: 20,
            ..Limits::DEFAULT
        },
    }
}

/// A value of a string property.
fn text(value: &str) -> Value {
    json!({
        "class": "PrimitivePropertyValue",
        "instancePropertyCategory": "PRIMITIVE",
        "primitiveDefCategory": "OM_PRIMITIVE_TYPE_STRING",
        "primitiveValue": value,
    })
}

/// Strings as the properties of an instance.
fn strings(of: &[(&str, &str)]) -> Value {
    let values = of
        .iter()
        .map(|(name, value)| ((*name).to_owned(), text(value)));
    let values: serde_json::Map<String, Value> = values.collect();
    json!({"class": "InstanceProperties", "instanceProperties": values})
}

fn guid(instance: &Value) -> &str {
    instance["guid"].as_str().unwrap()
}

/// What the caller takes an instance for: what it is.
fn expected(instance: &Value) -> String {
    let of = &instance["type"];
    json!({
        "class": "TypeDefValidationForRequest",
        "typeDefGUID": of["typeDefGUID"],
        "typeDefName": of["typeDefName"],
    })
    .to_string()
}

/// A server that is a repository.
struct World {
    server: TestServer,
}

impl World {
    fn new() -> Self {
        Self::on(ServerConfig::default(), varve_server::in_memory().unwrap())
    }

    fn on(config: ServerConfig, graphs: Arc<Registry>) -> Self {
        let graph = graphs.create("metadata").unwrap();
        let store = Arc::new(GraphStore::open(graph));
        let metadata = Some(metadata(store));
        let server = TestServer::on(config, graphs, metadata);
        Self { server }
    }

    /// A call that goes well.
    #[track_caller]
    fn done(&self, class: &str, verb: &str, path: &str, body: &str) -> Value {
        let answer = call(&self.server, class, verb, path, body);
        assert_eq!(answer["relatedHTTPCode"], 200, "{path}: {answer}");
        assert!(answer["exceptionClassName"].is_null(), "{path}: {answer}");
        answer
    }

    /// A call that fails with this exception and message.
    #[track_caller]
    fn refused(&self, class: &str, verb: &str, path: &str, body: &str) -> (String, String) {
        let answer = call(&self.server, class, verb, path, body);
        assert_ne!(answer["relatedHTTPCode"], 200, "{path}: {answer}");
        let (exception, id) = failure(&answer);
        (exception.to_owned(), id.to_owned())
    }

    fn type_guid(&self, name: &str) -> String {
        let types = Catalogue::built_in();
        types.type_by_name(name).unwrap().guid().to_owned()
    }

    /// A new entity.
    #[track_caller]
    fn entity(&self, type_name: &str, properties: &[(&str, &str)]) -> Value {
        let body = json!({
            "class": "EntityCreateRequest",
            "entityTypeGUID": self.type_guid(type_name),
            "initialProperties": strings(properties),
        });
        let body = body.to_string();
        let answer = self.done("EntityDetailResponse", "POST", "instances/entity", &body);
        answer["entity"].clone()
    }

    /// A new relationship.
    #[track_caller]
    fn relationship(&self, type_name: &str, one: &Value, two: &Value) -> Value {
        let body = json!({
            "class": "RelationshipCreateRequest",
            "relationshipTypeGUID": self.type_guid(type_name),
            "entityOneGUID": one["guid"],
            "entityTwoGUID": two["guid"],
        });
        let body = body.to_string();
        let answer = self.done(
            "RelationshipResponse",
            "POST",
            "instances/relationship",
            &body,
        );
        answer["relationship"].clone()
    }

    /// An entity as it is now.
    #[track_caller]
    fn read(&self, guid: &str) -> Value {
        let path = format!("instances/entity/{guid}");
        self.done("EntityDetailResponse", "GET", &path, "")["entity"].clone()
    }
}

fn call_of(verb: &str, path: &str, body: &str) -> Vec<u8> {
    request(verb, path, "accept: application/json\r\n", body)
}

/// Sends a call as it stands; the answer must be 200, JSON, and of the class.
#[track_caller]
pub(crate) fn call(server: &TestServer, class: &str, verb: &str, path: &str, body: &str) -> Value {
    let path = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{USERS}/{path}")
    };
    let request = |body| call_of(verb, &path, body);
    let answer = server.connect().exchange(&request(body)).unwrap();
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let start = format!(r#"{{"class":"{class}","relatedHTTPCode":"#);
    assert!(
        answer.text().starts_with(&start),
        "{path}: {}",
        answer.text()
    );
    let said = answer.json();
    // What a refused body looks like is nobody's promise.
    let is_refused = !said["exceptionClassName"].is_null();
    varve_testserver::check(&request(if is_refused { "" } else { body }), &answer);
    said
}

/// The exception that an answer encodes, and the number of its message.
#[track_caller]
pub(crate) fn failure(answer: &Value) -> (&str, &str) {
    let name = answer["exceptionClassName"].as_str().unwrap_or("none");
    let package = "org.odpi.openmetadata.repositoryservices.ffdc.exception.";
    let id = answer["exceptionErrorMessageId"].as_str().unwrap_or("none");
    (name.strip_prefix(package).unwrap_or(name), id)
}

#[test]
fn a_server_without_a_repository_says_so_in_the_class_of_each_call() {
    let server = TestServer::with_defaults();
    let none = ("RepositoryErrorException", "OMRS-REST-API-503-001");
    for (class, verb, path) in [
        ("EntityDetailResponse", "GET", "instances/entity/1"),
        ("EntitySummaryResponse", "GET", "instances/entity/1/summary"),
        ("EntityDetailResponse", "POST", "instances/entity"),
        ("VoidResponse", "POST", "instances/entity/1/purge"),
        ("EntityListResponse", "POST", "instances/entities"),
        (
            "InstanceGraphResponse",
            "POST",
            "instances/entities/from-entity/1/by-linkage",
        ),
        (
            "ClassificationResponse",
            "POST",
            "instances/entity/classification/Zone",
        ),
        ("TypeDefGalleryResponse", "GET", "types/all"),
        ("BooleanResponse", "POST", "types/typedef/compatibility"),
        (
            "MetadataCollectionIdResponse",
            "GET",
            "/servers/varve/open-metadata/repository-services/metadata-collection-id",
        ),
    ] {
        let answer = call(&server, class, verb, path, "");
        assert_eq!(failure(&answer), none, "{path}");
        assert_eq!(answer["relatedHTTPCode"], 503);
        let message = answer["exceptionErrorMessage"].as_str().unwrap();
        assert!(message.contains("omrs.enabled"), "{message}");
    }
    let graphs = server.get("/graphs");
    graphs.is(200, r#"{"graphs":[]}"#);
}

#[test]
fn the_enterprise_repository_is_another_one() {
    let server = TestServer::with_defaults();
    let path = format!("{USERS}/enterprise/instances/entity/1");
    let answer = call(&server, "EntityDetailResponse", "GET", &path, "");
    let none = ("RepositoryErrorException", "OMRS-REST-API-503-002");
    assert_eq!(failure(&answer), none);
    assert_eq!(answer["actionDescription"], "getEntityDetail");
}

#[test]
fn limits_of_the_server_are_reported_in_the_body() {
    let server = TestServer::start(ServerConfig {
        max_body_bytes: 100,
        ..ServerConfig::default()
    });
    let body = "x".repeat(101);
    let answer = call(
        &server,
        "EntityDetailResponse",
        "POST",
        "instances/entity",
        &body,
    );
    let (exception, id) = failure(&answer);
    assert_eq!(
        (exception, id),
        ("InvalidParameterException", "VARVE-OMRS-400-008")
    );
    assert_eq!(answer["actionDescription"], "addEntity");
    let message = answer["exceptionErrorMessage"].as_str().unwrap();
    assert!(message.contains("100 bytes"), "{message}");
}

#[test]
fn what_is_no_call_is_refused_by_http() {
    let server = TestServer::with_defaults();
    for path in [
        "instances/nothing",
        "instances/entity//summary",
        "enterprise",
    ] {
        assert_eq!(server.get(&format!("{USERS}/{path}")).status, 404, "{path}");
    }
    assert_eq!(
        server.get(&format!("{USERS}/instances/entities")).status,
        405
    );
    assert_eq!(
        server.get(&format!("{USERS}/instances/entity/%zz")).status,
        400
    );
}

#[test]
fn the_list_for_clients_of_hugegraph_does_not_hold_them() {
    let server = TestServer::with_defaults();
    let apis = server.get("/apis");
    assert!(!apis.text().contains("open-metadata"), "{}", apis.text());
    assert!(!server.get("/").text().contains("metadata"));
}
