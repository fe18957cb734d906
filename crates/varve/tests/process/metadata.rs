//! The open-metadata repository of a real server: how it is started and called.

#[cfg(feature = "engines")]
use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use crate::server::{Client, ServerProcess, VARVE};

/// The types that tests use, by name and GUID.
pub(crate) const ASSET: (&str, &str) = ("Asset", "896d14c2-7522-4f6c-8519-757711943fe6");
pub(crate) const TERM: (&str, &str) = ("GlossaryTerm", "0db3e6ec-f5ef-4d75-ae38-b7ee6fd6ec0a");
pub(crate) const MEANING: (&str, &str) =
    ("SemanticAssignment", "e6670973-645f-441a-bec7-6f5570345b92");
/// A subtype of [`TERM`].
#[cfg(feature = "engines")]
pub(crate) const CONTROLLED_TERM: (&str, &str) = (
    "ControlledGlossaryTerm",
    "c04e29b2-2d66-48fc-a20d-e59895de6040",
);
/// A classification that every entity here may carry.
pub(crate) const CONFIDENTIALITY: &str = "Confidentiality";
/// The home of reference copies.
pub(crate) const FAR_HOME: &str = "6a9b7c1e-0000-4000-8000-00000000fa12";

/// The arguments that make a server a repository.
const ENABLED: [&str; 2] = ["--set", "omrs.enabled=true"];

#[cfg(feature = "engines")]
/// A repository on a data folder, with more options as `section.option=value`.
pub(crate) fn repository_on(data: &Path, options: &[&str]) -> ServerProcess {
    let mut command = Command::new(VARVE);
    command
        .arg("serve")
        .arg("--data-dir")
        .arg(data)
        .args(ENABLED);
    for option in options {
        command.args(["--set", option]);
    }
    ServerProcess::start(&mut command)
}

/// A repository that keeps nothing, with more options.
pub(crate) fn repository_in_memory(options: &[&str]) -> ServerProcess {
    let mut command = Command::new(VARVE);
    command.args(["serve", "--engine", "memory"]).args(ENABLED);
    for option in options {
        command.args(["--set", option]);
    }
    ServerProcess::start(&mut command)
}

/// Calls as one user.
#[derive(Clone)]
pub(crate) struct Caller {
    client: Client,
    base: String,
}

/// Why a call was refused: the simple name of the exception, and the whole answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refused {
    pub(crate) exception: String,
    pub(crate) answer: Json,
}

impl Caller {
    pub(crate) fn new(server: &ServerProcess, user: &str) -> Self {
        Self {
            client: server.client(),
            base: format!("/servers/varve/open-metadata/repository-services/users/{user}/"),
        }
    }

    /// The answer of a call whose path begins behind the user; nothing when the server died. The
    /// HTTP status must be 200.
    pub(crate) fn try_call(
        &self,
        method: &str,
        path: &str,
        body: &str,
    ) -> Option<Result<Json, Refused>> {
        let path = format!("{}{path}", self.base);
        let (status, answer) = self.client.try_ask(method, &path, body)?;
        assert_eq!(status, 200, "{path}: {answer}");
        let exception = answer["exceptionClassName"].as_str();
        Some(match exception {
            None => {
                assert_eq!(answer["relatedHTTPCode"], 200, "{path}: {answer}");
                Ok(answer)
            }
            Some(class) => {
                let simple = class.rsplit('.').next().unwrap_or_default().to_owned();
                Err(Refused {
                    exception: simple,
                    answer,
                })
            }
        })
    }

    /// As [`Caller::try_call`], of a server that lives.
    pub(crate) fn call(&self, method: &str, path: &str, body: &Json) -> Result<Json, Refused> {
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let answer = self.try_call(method, path, &text);
        answer.unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    /// The answer of a call that must go well.
    pub(crate) fn must(&self, method: &str, path: &str, body: &Json) -> Json {
        let answer = self.call(method, path, body);
        answer.unwrap_or_else(|refused| panic!("{method} {path}: {}", refused.answer))
    }
}

/// Properties that are texts.
pub(crate) fn texts(values: &[(&str, &str)]) -> Json {
    let values = values.iter().map(|(name, value)| {
        let value = json!({
            "class": "PrimitivePropertyValue",
            "instancePropertyCategory": "PRIMITIVE",
            "primitiveDefCategory": "OM_PRIMITIVE_TYPE_STRING",
            "primitiveValue": value,
        });
        ((*name).to_owned(), value)
    });
    let values: serde_json::Map<String, Json> = values.collect();
    json!({"class": "InstanceProperties", "instanceProperties": values})
}

/// The body of `addEntity`.
pub(crate) fn new_entity(of: (&str, &str), name: &str) -> Json {
    json!({
        "class": "EntityCreateRequest",
        "entityTypeGUID": of.1,
        "initialProperties": texts(&[("qualifiedName", name)]),
    })
}

/// What the caller takes an instance to be of.
pub(crate) fn taken_for(of: (&str, &str)) -> Json {
    json!({
        "class": "TypeDefValidationForRequest",
        "typeDefGUID": of.1,
        "typeDefName": of.0,
    })
}

/// A repository that is switched off keeps what it has: its graph can be read, not changed, unless
/// the operator says so.
#[cfg(feature = "engines")]
#[test]
fn the_graph_of_a_repository_that_is_switched_off_is_changed_only_when_configured() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let data = dir.path().join("data");
    let server = repository_on(&data, &[]);
    let made =
        Caller::new(&server, "ada").must("POST", "instances/entity", &new_entity(ASSET, "a"));
    let guid = made["entity"]["guid"].as_str().expect("a GUID").to_owned();
    let vertex = format!("/graphs/metadata/graph/vertices/%22{guid}%22");
    let variable = ("PUT", "/graphs/metadata/variables/a", r#"{"data":"x"}"#);
    let (method, path, body) = variable;
    assert_eq!(server.ask(method, path, body).0, 403, "it is open");
    server.terminate();
    let serve = |setting: &str| {
        let mut command = Command::new(VARVE);
        command.arg("serve").arg("--data-dir").arg(&data);
        ServerProcess::start(command.args(["--set", setting]))
    };
    for setting in ["omrs.enabled=false", "omrs.graph=other"] {
        let server = serve(setting);
        assert_eq!(server.must("GET", &vertex, "")["id"], guid.as_str());
        for (method, path) in [("DELETE", vertex.as_str()), (method, path)] {
            let (status, answer) = server.ask(method, path, body);
            assert_eq!(status, 403, "{setting}: {answer}");
            assert!(answer.to_string().contains("unlock_graphs"), "{answer}");
        }
        server.terminate();
    }
    let server = serve("omrs.unlock_graphs=true");
    server.must(method, path, body);
    let (status, answer) = server.ask("DELETE", &vertex, "");
    assert_eq!(status, 204, "{answer}");
    assert_eq!(server.ask("GET", &vertex, "").0, 404);
}
