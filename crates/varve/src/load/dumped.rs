//! Reads back what `varve dump` wrote: the schema first, then vertices, then edges.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;

use serde_json::{Map, Value as Json};
use varve_files::{Decimal, Format, Unpacked, open_text};
use varve_load::{
    Action, BatchKind, Catalogue, Columns, DateFormats, Element, Period, Source, identity,
};

use super::deletion::deletion;
use super::schema;
use crate::CommandError;
use crate::rest::{GraphClient, RestError};

/// The keys of an edge that the batch resource accepts.
const EDGE_KEYS: &[&str] = &[
    "label",
    "outV",
    "outVLabel",
    "inV",
    "inVLabel",
    "properties",
];

/// The end of Neo4j's code for an index or constraint that exists already.
const EXISTS: &str = "EquivalentSchemaRuleAlreadyExists";

/// A dump whose first line is read.
pub(super) struct Dump {
    shown: String,
    /// The lines after the first one: the schema, then the elements.
    lines: Lines<BufReader<File>>,
    /// Whether the dump has the history of its elements. Then the versions must be stored in order,
    /// and the vertices of an edge are not checked: those of a past edge may not exist any more.
    pub(super) history: bool,
}

/// An input that reads the dump as JSON Lines.
pub(super) fn source(path: &Path) -> Source {
    Source {
        file: path.to_path_buf(),
        place: None,
        ignores_unread: false,
        unpacked_bytes_max: None,
        unpacked: Unpacked::default(),
        label: String::new(),
        format: Some(Format::Jsonl),
        id: None,
        source: Columns::None,
        target: Columns::None,
        delimiter: None,
        header: None,
        list_separator: String::new(),
        null: Vec::new(),
        nulls: std::collections::BTreeMap::new(),
        charset: None,
        decimal: Decimal::Point,
        date_format: DateFormats::default(),
        date_formats: std::collections::BTreeMap::new(),
        rename: std::collections::BTreeMap::new(),
        ignore: Vec::new(),
        skip_empty: false,
        valid_from: None,
        valid_to: None,
        valid_to_inclusive: false,
        valid_to_ends_edge: false,
        update: false,
    }
}

impl Dump {
    /// Reads the first line of the dump and checks that it goes into this graph.
    ///
    /// # Errors
    /// When the file is not a dump or cannot be read, only one of dump and graph is open, or the
    /// server does not say which schema the graph has.
    pub(super) fn open(client: &GraphClient, path: &Path) -> Result<Self, CommandError> {
        let shown = path.display().to_string();
        let file =
            open_text(path, &Unpacked::default()).map_err(|error| format!("{shown}: {error}"))?;
        let mut lines = BufReader::new(file).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let head: Json = serde_json::from_str(&first).unwrap_or_default();
        if head.get("varve_dump").and_then(Json::as_i64) != Some(1) {
            return Err(format!(
                "{shown}: neither a dump of `varve dump` nor a mapping (a file ending in .toml)"
            )
            .into());
        }
        if client.is_open()? != (head.get("schema").and_then(Json::as_str) == Some("open")) {
            return Err(format!(
                "{shown}: a dump of an open graph goes into an open graph, created with \
                 {{\"schema\":\"open\"}}, and no other dump does"
            )
            .into());
        }
        let history = head.get("history").and_then(Json::as_bool).unwrap_or(false);
        Ok(Self {
            shown,
            lines,
            history,
        })
    }

    /// Creates the dump's schema with its ids, since vertex ids contain the ids of their labels.
    /// The graph must be in mode RESTORING, and empty or have the same schema. Returns the commands
    /// of Cypher that create the other indexes and the constraints, once the elements are there.
    ///
    /// # Errors
    /// When a line cannot be read, or the server refuses a schema element.
    pub(super) fn create_schema(self, client: &GraphClient) -> Result<Vec<String>, CommandError> {
        let shown = self.shown;
        let mut definitions = Vec::new();
        for line in self.lines {
            let line = line.map_err(|error| format!("{shown}: {error}"))?;
            let row: Map<String, Json> =
                serde_json::from_str(&line).map_err(|error| format!("{shown}: {error}"))?;
            if let Some(definition) = row.get("definition").and_then(Json::as_str) {
                definitions.push(definition.to_owned());
                continue;
            }
            let Some((kind, element)) = row
                .iter()
                .find(|(key, _)| schema::KINDS.contains(&key.as_str()))
            else {
                break;
            };
            schema::create(client, kind, element, true)?;
        }
        Ok(definitions)
    }
}

/// Creates indexes and constraints by commands of Cypher. Those that exist stay.
///
/// # Errors
/// When the server refuses a command.
pub(super) fn define(client: &GraphClient, commands: &[String]) -> Result<(), CommandError> {
    for command in commands {
        match client.cypher(command) {
            Err(RestError::Refused { message, .. }) if message.contains(EXISTS) => {
                // An earlier attempt may have ended before all elements were checked.
                let again = command.replacen(" FOR (", " IF NOT EXISTS FOR (", 1);
                client.cypher(&again)
            }
            done => done,
        }
        .map_err(|error| format!("{command}: {error}"))?;
    }
    Ok(())
}

/// The identity of an element. Some rows have a UUID as a text, others as a typed value
/// (`{"UUID":…}`); both have the same identity.
fn known_by(id: &Json) -> u64 {
    identity(&[id.get("UUID").unwrap_or(id)])
}

/// The element of a row; `None` if the row is not of `kind`.
///
/// # Errors
/// When the label of a row to store is unknown.
pub(super) fn element(
    mut row: Map<String, Json>,
    kind: BatchKind,
    catalogue: &Catalogue,
) -> Result<Option<Element>, String> {
    let key = if kind == BatchKind::Vertices {
        "vertex"
    } else {
        "edge"
    };
    let instant = |name: &str| row.get(name).and_then(Json::as_str).map(str::to_owned);
    let period = Period {
        from: instant("valid_from"),
        to: instant("valid_to"),
    };
    if let Some(id) = row.get(&format!("delete_{key}")) {
        let label = row.get("label").and_then(Json::as_str);
        return Ok(Some(Element {
            action: Action::Delete,
            json: deletion(id, label, kind, &period),
            identity: Some(known_by(id)),
            period,
            ends: false,
        }));
    }
    let Some(Json::Object(mut element)) = row.remove(key) else {
        return Ok(None);
    };
    let identity = element.get("id").map(known_by);
    if kind == BatchKind::Edges {
        let label = element.get("label").and_then(Json::as_str);
        // With a hidden sort value, the id is kept, since only it contains that value. For other
        // labels the server derives the id.
        let keeps_id = match label {
            Some(label) => catalogue.edge_label(label)?.has_hidden_sort(),
            None => false,
        };
        element.retain(|key, _| EDGE_KEYS.contains(&key.as_str()) || (keeps_id && key == "id"));
    } else {
        element.retain(|key, _| matches!(key.as_str(), "id" | "label" | "properties"));
        let label = element
            .get("label")
            .and_then(Json::as_str)
            .unwrap_or_default();
        if catalogue.vertex_label(label)?.id_strategy == "PRIMARY_KEY" {
            element.remove("id");
        }
    }
    period.write_to(&mut element);
    Ok(Some(Element {
        action: Action::Put,
        json: Json::Object(element).to_string(),
        identity,
        period,
        ends: false,
    }))
}
