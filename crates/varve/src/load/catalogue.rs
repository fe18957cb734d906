//! The graph's schema as the loader needs it, fetched once.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use varve_model::{Cardinality, DataType};

use crate::rest::{GraphClient, RestError};

/// A property key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// The type of its values.
    pub(crate) data_type: DataType,
    /// How many values an element may have.
    pub(crate) cardinality: Cardinality,
}

impl Key {
    /// Whether an element may have several values.
    pub(crate) fn is_list(self) -> bool {
        self.cardinality != Cardinality::Single
    }
}

/// A vertex label.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct VertexLabel {
    name: String,
    /// The number at the start of primary-key ids.
    #[serde(default)]
    pub(crate) id: i64,
    /// HugeGraph's name of the id strategy.
    #[serde(default)]
    pub(crate) id_strategy: String,
    /// The primary keys in order.
    #[serde(default)]
    pub(crate) primary_keys: Vec<String>,
    /// The properties.
    #[serde(default)]
    pub(crate) properties: Vec<String>,
}

/// An edge label.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EdgeLabel {
    name: String,
    /// The label of source vertices.
    #[serde(default)]
    pub(crate) source_label: String,
    /// The label of target vertices.
    #[serde(default)]
    pub(crate) target_label: String,
    /// SINGLE or MULTIPLE: how many edges of the label run between two vertices.
    #[serde(default)]
    frequency: String,
    /// The properties that distinguish edges between the same vertices.
    #[serde(default)]
    pub(crate) sort_keys: Vec<String>,
    /// The properties.
    #[serde(default)]
    pub(crate) properties: Vec<String>,
}

impl EdgeLabel {
    /// Whether edges have a hidden sort value instead of sort keys, as in open graphs.
    pub(crate) fn has_hidden_sort(&self) -> bool {
        self.frequency == "MULTIPLE" && self.sort_keys.is_empty()
    }
}

/// The schema.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    keys: HashMap<String, Key>,
    vertex_labels: HashMap<String, VertexLabel>,
    edge_labels: HashMap<String, EdgeLabel>,
}

#[derive(Deserialize)]
struct KeyAnswer {
    name: String,
    #[serde(default)]
    data_type: String,
    #[serde(default)]
    cardinality: String,
}

/// The schema of a server, or a file of schema elements, in which more fields may be absent.
#[derive(Deserialize)]
struct SchemaAnswer {
    #[serde(default)]
    propertykeys: Vec<KeyAnswer>,
    #[serde(default)]
    vertexlabels: Vec<VertexLabel>,
    #[serde(default)]
    edgelabels: Vec<EdgeLabel>,
}

/// A name of n letters matches with up to n / 3 errors, at least 1.
const LETTERS_PER_ERROR: usize = 3;

/// ` (did you mean '…'?)` with the most similar name; empty if none is similar.
pub(super) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a String>) -> String {
    let errors_max = (wrong.chars().count() / LETTERS_PER_ERROR).max(1);
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(errors, _)| *errors <= errors_max)
        .min()
        .map(|(_, name)| format!(" (did you mean '{name}'?)"))
        .unwrap_or_default()
}

impl Catalogue {
    /// Fetches the schema from the server.
    ///
    /// # Errors
    /// When the server does not answer, or the answer is not a schema.
    pub(crate) fn fetch(client: &GraphClient) -> Result<Self, RestError> {
        Ok(Self::from_answer(client.get(&client.of_graph("schema"))?))
    }

    /// Adds the schema elements that a file would create.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn add_file(&mut self, path: &Path) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
        let answer = serde_json::from_str(&text).map_err(|error| failed(&error))?;
        let file = Self::from_answer(answer);
        // Existing elements take precedence.
        for (name, key) in file.keys {
            self.keys.entry(name).or_insert(key);
        }
        for (name, label) in file.vertex_labels {
            self.vertex_labels.entry(name).or_insert(label);
        }
        for (name, label) in file.edge_labels {
            self.edge_labels.entry(name).or_insert(label);
        }
        Ok(())
    }

    /// Reads the text of `GET …/schema`.
    #[cfg(test)]
    pub(crate) fn from_text(text: &str) -> Self {
        Self::from_answer(serde_json::from_str(text).expect("a schema"))
    }

    fn from_answer(answer: SchemaAnswer) -> Self {
        let key = |key: KeyAnswer| {
            let data_type = DataType::from_name(&key.data_type).unwrap_or(DataType::Text);
            let cardinality = Cardinality::from_name(&key.cardinality);
            let cardinality = cardinality.unwrap_or(Cardinality::Single);
            (
                key.name,
                Key {
                    data_type,
                    cardinality,
                },
            )
        };
        let by_name = |mut label: VertexLabel| {
            if matches!(&*label.id_strategy, "" | "DEFAULT") {
                label.id_strategy = match label.primary_keys.is_empty() {
                    true => "AUTOMATIC".to_owned(),
                    false => "PRIMARY_KEY".to_owned(),
                };
            }
            (label.name.clone(), label)
        };
        let edge_by_name = |label: EdgeLabel| (label.name.clone(), label);
        Self {
            keys: answer.propertykeys.into_iter().map(key).collect(),
            vertex_labels: answer.vertexlabels.into_iter().map(by_name).collect(),
            edge_labels: answer.edgelabels.into_iter().map(edge_by_name).collect(),
        }
    }

    /// The property key `name`.
    pub(crate) fn key(&self, name: &str) -> Result<Key, String> {
        self.keys
            .get(name)
            .copied()
            .ok_or_else(|| format!("there is no property key '{name}'"))
    }

    /// The vertex label `name`.
    pub(crate) fn vertex_label(&self, name: &str) -> Result<&VertexLabel, String> {
        self.vertex_labels.get(name).ok_or_else(|| {
            let hint = nearest(name, self.vertex_labels.keys());
            format!("there is no vertex label '{name}'{hint}")
        })
    }

    /// The edge label `name`.
    pub(crate) fn edge_label(&self, name: &str) -> Result<&EdgeLabel, String> {
        self.edge_labels.get(name).ok_or_else(|| {
            let hint = nearest(name, self.edge_labels.keys());
            format!("there is no edge label '{name}'{hint}")
        })
    }
}
