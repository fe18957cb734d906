//! Creates schema elements through the REST API, from a file or lines in the form of the answer of
//! `GET …/schema`.

use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::CommandError;
use crate::rest::{GraphClient, RestError};

/// The kinds of schema elements, in order of creation.
pub(super) const KINDS: &[&str] = &["propertykeys", "vertexlabels", "edgelabels", "indexlabels"];

/// Fields of schema elements in answers, which requests do not have.
const ANSWER_ONLY: &[&str] = &["status", "index_labels"];

/// The schema of a file.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn of_file(path: &Path) -> Result<Json, CommandError> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    let schema: Map<String, Json> = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    match schema.keys().find(|key| !KINDS.contains(&key.as_str())) {
        Some(unknown) => {
            Err(failed(&format!("unknown kind '{unknown}', expected {KINDS:?}")).into())
        }
        None => Ok(Json::Object(schema)),
    }
}

/// Creates the elements of a schema. Existing elements with the same definition stay.
pub(super) fn create_all(client: &GraphClient, schema: &Json) -> Result<(), CommandError> {
    for kind in KINDS {
        let elements = schema.get(*kind).and_then(Json::as_array);
        for element in elements.into_iter().flatten() {
            create(client, kind, element, false)?;
        }
    }
    Ok(())
}

/// Creates one element of `kind`, and waits for its task. With `keep_id` the element keeps its id
/// and its time of creation; then the graph must be in mode RESTORING. An existing element with the
/// same definition stays.
pub(super) fn create(
    client: &GraphClient,
    kind: &str,
    element: &Json,
    keep_id: bool,
) -> Result<(), CommandError> {
    let mut element = element
        .as_object()
        .cloned()
        .ok_or_else(|| format!("not an object in {kind}: {element}"))?;
    element.retain(|key, _| !ANSWER_ONLY.contains(&key.as_str()) && (keep_id || key != "id"));
    // A restored element keeps its time of creation; the server sets that of a new one.
    if let Some(Json::Object(data)) = element.get_mut("user_data").filter(|_| !keep_id) {
        data.remove("~create_time");
    }
    if element
        .get("edgelabel_type")
        .is_some_and(|kind| kind == "NORMAL")
        && element.contains_key("links")
    {
        element.remove("source_label");
        element.remove("target_label");
    }
    element.insert("check_exist".to_owned(), Json::Bool(false));
    let name = element.get("name").cloned().unwrap_or_default();
    let path = client.of_graph(&format!("schema/{kind}"));
    let answer = client
        .send_patiently("POST", &path, &Json::Object(element).to_string())
        .map_err(|error| format!("creating {name} of {kind}: {error}"))?;
    let answer: Json = serde_json::from_str(&answer).unwrap_or_default();
    wait_for_task(
        client,
        answer.get("task_id").and_then(Json::as_i64).unwrap_or(0),
    )?;
    Ok(())
}

/// Waits until the task has ended; 0 means no task. A task that is not found has ended. An error if
/// it failed or was cancelled.
fn wait_for_task(client: &GraphClient, task: i64) -> Result<(), CommandError> {
    if task == 0 {
        return Ok(());
    }
    let mut pause = std::time::Duration::from_millis(2);
    loop {
        let answer: Json = match client.get(&client.of_graph(&format!("tasks/{task}"))) {
            Ok(answer) => answer,
            Err(RestError::Refused { status: 404, .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match answer.get("task_status").and_then(Json::as_str) {
            Some("success") => return Ok(()),
            Some("failed" | "cancelled") => {
                return Err(format!("task {task} ended without success: {answer}").into());
            }
            _ => std::thread::sleep(pause),
        }
        pause = (pause * 2).min(std::time::Duration::from_secs(1));
    }
}
