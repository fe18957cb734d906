//! A change of the repository that has begun when its time is over is of unknown outcome.

use super::*;
use crate::outcomes::{gated, hurried};

#[test]
fn a_change_that_is_not_stored_in_time_is_of_unknown_outcome() {
    let (graphs, gate) = gated();
    let world = World::on(hurried(), graphs);
    let made = world.entity("Glossary", &[("qualifiedName", "before")]);
    let create = json!({
        "class": "EntityCreateRequest",
        "entityTypeGUID": world.type_guid("Glossary"),
        "initialProperties": strings(&[("qualifiedName", "late")]),
    });
    let delete = format!("instances/entity/{}/delete", guid(&made));
    let calls = [
        (
            "EntityDetailResponse",
            "instances/entity",
            create.to_string(),
        ),
        ("EntityDetailResponse", &*delete, expected(&made)),
    ];
    for (class, path, body) in calls {
        let answer = gate.while_closed(|| call(&world.server, class, "POST", path, &body));
        assert_eq!(answer["relatedHTTPCode"], 503, "{path}: {answer}");
        let (exception, id) = failure(&answer);
        assert_eq!(exception, "RepositoryErrorException", "{path}: {answer}");
        assert_eq!(id, "VARVE-OMRS-503-102", "{path}: {answer}");
        let words = answer["exceptionErrorMessage"].as_str().unwrap_or_default();
        assert!(words.contains("VRV-OUTCOME-UNKNOWN"), "{path}: {answer}");
        let action = "The request was given up; the change may be stored, or not.";
        assert_eq!(answer["exceptionSystemAction"], action, "{path}");
    }
    // Both were carried out.
    let is_done = || {
        let body = json!({"class": "EntityFindRequest"}).to_string();
        let found = world.done("EntityListResponse", "POST", "instances/entities", &body);
        let found = found["entities"].as_array().cloned().unwrap_or_default();
        found.len() == 1 && found[0]["guid"] != made["guid"]
    };
    while !is_done() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}
