//! `varve dump --format`: one state of a graph as a table for each label, with the mapping that
//! loads them again; or as one GraphML or GEXF file.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use serde_json::Value as Json;

use crate::cli::{DumpArguments, DumpFormat};
use crate::rest::{GraphClient, RestError, encode};

/// The kinds of schema elements, in order of creation.
pub(super) const SCHEMA_KINDS: [&str; 4] =
    ["propertykeys", "vertexlabels", "edgelabels", "indexlabels"];
/// The file that loads the tables again.
const MAPPING: &str = "mapping.toml";
/// The longest name of a label that is the name of its file; others have the label's number.
const STEM_BYTES_MAX: usize = 150;

/// Dumps a graph in this format.
///
/// # Errors
/// When the output exists or cannot be written, or the server refuses an export.
pub(super) fn dump(
    arguments: &DumpArguments,
    client: &GraphClient,
    (format, now): (DumpFormat, &str),
) -> Result<(), String> {
    let output = &arguments.output;
    let failed = |error: std::io::Error| format!("{}: {error}", output.display());
    if output.symlink_metadata().is_ok() {
        return Err(failed(std::io::ErrorKind::AlreadyExists.into()));
    }
    let as_of = arguments.as_of.as_deref().unwrap_or(now);
    let as_of_tx = arguments.as_of_tx.as_deref().unwrap_or(now);
    let times = format!("as_of={}&as_of_tx={}", encode(as_of), encode(as_of_tx));
    let name = format.name();
    if matches!(format, DumpFormat::Graphml | DumpFormat::Gexf) {
        let query = format!("format={name}&{times}");
        return export(client, &query, output);
    }
    // The folder gets its name when it is complete.
    let beside = output.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = tempfile::Builder::new()
        .prefix(".varve-dump-")
        .tempdir_in(beside.unwrap_or(Path::new(".")))
        .map_err(failed)?;
    let schema = client.get(&client.of_graph("schema"));
    let mut schema: Json = schema.map_err(|error: RestError| error.to_string())?;
    refuse_automatic(client, &schema, &times)?;
    let mut mapping = format!(
        "# Made by `varve dump --format {name}`: the state of {as_of}, as known {as_of_tx}.\n"
    );
    for (kind, labels, elements) in [
        ("vertex", "vertexlabels", "vertices"),
        ("edge", "edgelabels", "edges"),
    ] {
        let of_kind = schema[labels].as_array().into_iter().flatten();
        for (number, label) in of_kind.enumerate() {
            let Some(label) = label["name"]
                .as_str()
                .filter(|_| label["edgelabel_type"] != "PARENT")
            else {
                continue;
            };
            let stem = match encode(label) {
                long if long.len() > STEM_BYTES_MAX => number.to_string(),
                stem => stem,
            };
            let file = format!("{kind}-{stem}.{name}");
            let query = format!(
                "format={name}&elements={elements}&label={}&{times}",
                encode(label)
            );
            export(client, &query, &folder.path().join(&file))?;
            let file = toml::Value::from(file);
            mapping.push_str(&format!("\n[[{kind}]]\nfile = {file}\n"));
        }
    }
    mapping.push_str("\n[schema]\n");
    for kind in SCHEMA_KINDS {
        mapping.push_str(&format!("{kind} = [\n"));
        for element in schema[kind].as_array_mut().into_iter().flatten() {
            clean(element);
            let element: Result<toml::Value, _> = serde_json::from_value(element.take());
            let element = element.map_err(|error| error.to_string())?;
            mapping.push_str(&format!("  {element},\n"));
        }
        mapping.push_str("]\n");
    }
    fs::write(folder.path().join(MAPPING), mapping).map_err(failed)?;
    fs::rename(folder.keep(), output).map_err(failed)?;
    println!(
        "{}: load it with varve load {}",
        output.display(),
        output.join(MAPPING).display()
    );
    Ok(())
}

/// Refuses vertices with automatic ids: tables cannot give them the same ids again.
fn refuse_automatic(client: &GraphClient, schema: &Json, times: &str) -> Result<(), String> {
    let labels = schema["vertexlabels"].as_array().into_iter().flatten();
    for label in labels.filter(|label| label["id_strategy"] == "AUTOMATIC") {
        let name = label["name"].as_str().unwrap_or_default();
        let first = format!("graph/vertices?label={}&limit=1&{times}", encode(name));
        let first = client.get(&client.of_graph(&first));
        let first: Json = first.map_err(|error: RestError| error.to_string())?;
        if first["vertices"]
            .as_array()
            .is_some_and(|all| !all.is_empty())
        {
            return Err(format!(
                "vertices of label '{name}' have automatic ids, which tables cannot give again: \
                 dump the graph without --format"
            ));
        }
    }
    Ok(())
}

/// Streams an export into a new file.
fn export(client: &GraphClient, query: &str, path: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let mut file = BufWriter::new(File::create_new(path).map_err(failed)?);
    let resource = client.of_graph(&format!("explore/export?{query}"));
    let received = client.download(&resource, &mut file);
    let written = file.flush().and_then(|()| file.get_ref().sync_all());
    if let Err(error) = received {
        // A part is not taken for the whole.
        let _ = fs::remove_file(path);
        return Err(error.to_string());
    }
    written.map_err(failed)
}

/// Takes out of a schema element what a request that makes it does not have.
fn clean(element: &mut Json) {
    let Some(members) = element.as_object_mut() else {
        return;
    };
    members.retain(|name, value| {
        !value.is_null() && !["id", "status", "index_labels"].contains(&name.as_str())
    });
    if let Some(Json::Object(data)) = members.get_mut("user_data") {
        data.remove("~create_time");
    }
    if members.contains_key("links")
        && members
            .get("edgelabel_type")
            .is_some_and(|it| it == "NORMAL")
    {
        members.remove("source_label");
        members.remove("target_label");
    }
}
