//! The graph's schema as the loader needs it, fetched once.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::Value as Json;
use varve_model::schema::DEFAULT_VALUE;
use varve_model::{Cardinality, DataType};

/// A property key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The type of its values.
    pub data_type: DataType,
    /// How many values an element may have.
    pub cardinality: Cardinality,
    /// Whether an element without a value gets one.
    pub has_default: bool,
}

impl Key {
    fn said(&self) -> String {
        format!("{} {}", self.data_type.name(), self.cardinality.name())
    }

    /// Whether an element may have several values.
    pub fn is_list(self) -> bool {
        self.cardinality != Cardinality::Single
    }
}

/// A vertex label.
#[derive(Debug, Clone, Deserialize)]
pub struct VertexLabel {
    name: String,
    /// The number at the start of primary-key ids.
    #[serde(default)]
    pub id: i64,
    /// HugeGraph's name of the id strategy.
    #[serde(default)]
    pub id_strategy: String,
    /// The primary keys in order.
    #[serde(default)]
    pub primary_keys: Vec<String>,
    /// The properties.
    #[serde(default)]
    pub properties: Vec<String>,
    /// The properties that an element may lack.
    #[serde(default)]
    pub nullable_keys: Vec<String>,
}

/// An edge label.
#[derive(Debug, Clone, Deserialize)]
pub struct EdgeLabel {
    name: String,
    /// The label of source vertices.
    #[serde(default)]
    pub source_label: String,
    /// The label of target vertices.
    #[serde(default)]
    pub target_label: String,
    /// SINGLE or MULTIPLE: how many edges of the label run between two vertices.
    #[serde(default)]
    frequency: String,
    /// The properties that distinguish edges between the same vertices.
    #[serde(default)]
    pub sort_keys: Vec<String>,
    /// The properties.
    #[serde(default)]
    pub properties: Vec<String>,
    /// The properties that an element may lack.
    #[serde(default)]
    pub nullable_keys: Vec<String>,
}

impl VertexLabel {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The number of columns that name one of its vertices.
    pub(crate) fn id_columns(&self) -> usize {
        self.primary_keys.len().max(1)
    }

    fn said(&self) -> String {
        let properties = with_properties(&self.properties);
        match &*self.primary_keys {
            [] => format!("of {} ids{properties}", self.id_strategy),
            keys => format!(
                "of {} ids ({}){properties}",
                self.id_strategy,
                keys.join(", ")
            ),
        }
    }
}

impl EdgeLabel {
    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn said(&self) -> String {
        let (source, target) = (&self.source_label, &self.target_label);
        let properties = with_properties(&self.properties);
        let several = match (&*self.frequency, &*self.sort_keys) {
            ("MULTIPLE", []) => ", several between two vertices".to_owned(),
            (_, []) => String::new(),
            (_, keys) => format!(", several by {}", keys.join(", ")),
        };
        format!("from '{source}' to '{target}'{several}{properties}")
    }

    /// Whether edges have a hidden sort value instead of sort keys, as in open graphs.
    pub fn has_hidden_sort(&self) -> bool {
        self.frequency == "MULTIPLE" && self.sort_keys.is_empty()
    }
}

/// The schema, as the server answers it, or as a file of schema elements has it.
#[derive(Debug, Default, Deserialize)]
#[serde(from = "SchemaAnswer")]
pub struct Catalogue {
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
    #[serde(default)]
    user_data: Json,
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
pub(crate) fn nearest<'a>(wrong: &str, names: impl Iterator<Item = &'a String>) -> String {
    let errors_max = (wrong.chars().count() / LETTERS_PER_ERROR).max(1);
    names
        .map(|name| (strsim::damerau_levenshtein(wrong, name), name))
        .filter(|(errors, _)| *errors <= errors_max)
        .min()
        .map(|(_, name)| format!(" (did you mean '{name}'?)"))
        .unwrap_or_default()
}

impl Catalogue {
    /// Adds the elements of another schema.
    pub fn add(&mut self, other: Self) {
        // Existing elements take precedence.
        for (name, key) in other.keys {
            self.keys.entry(name).or_insert(key);
        }
        for (name, label) in other.vertex_labels {
            self.vertex_labels.entry(name).or_insert(label);
        }
        for (name, label) in other.edge_labels {
            self.edge_labels.entry(name).or_insert(label);
        }
    }

    /// Checks that a schema may be added to this one: keys and labels of both are the same.
    ///
    /// # Errors
    /// A message that names the first element that differs, and how.
    pub fn check_added(&self, added: &Self) -> Result<(), String> {
        check_same("property key", &self.keys, &added.keys, Key::said)?;
        let (own, others) = (&self.vertex_labels, &added.vertex_labels);
        check_same("vertex label", own, others, VertexLabel::said)?;
        // A label of several pairs of ends names them elsewhere.
        let mut others = added.edge_labels.clone();
        others.retain(|_, label| !label.source_label.is_empty());
        check_same("edge label", &self.edge_labels, &others, EdgeLabel::said)
    }

    /// Reads the text of `GET …/schema`.
    #[cfg(test)]
    pub fn from_text(text: &str) -> Self {
        serde_json::from_str(text).expect("a schema")
    }

    /// The property key `name`.
    pub fn key(&self, name: &str) -> Result<Key, String> {
        self.keys
            .get(name)
            .copied()
            .ok_or_else(|| format!("there is no property key '{name}'"))
    }

    /// Whether there are no labels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertex_labels.is_empty() && self.edge_labels.is_empty()
    }

    /// The names of all labels.
    pub(crate) fn label_names(&self) -> impl Iterator<Item = &str> {
        let names = self.vertex_labels.keys().chain(self.edge_labels.keys());
        names.map(String::as_str)
    }

    /// Whether ids of the writer's choice may be of this kind.
    pub(crate) fn has_own_ids(&self, is_number: bool) -> bool {
        self.vertex_labels
            .values()
            .any(|label| match &*label.id_strategy {
                "CUSTOMIZE_NUMBER" => is_number,
                "CUSTOMIZE_STRING" => !is_number,
                _ => false,
            })
    }

    /// The vertex label `name`.
    pub fn vertex_label(&self, name: &str) -> Result<&VertexLabel, String> {
        self.vertex_labels.get(name).ok_or_else(|| {
            let hint = nearest(name, self.vertex_labels.keys());
            format!("there is no vertex label '{name}'{hint}")
        })
    }

    /// The edge label `name`.
    pub fn edge_label(&self, name: &str) -> Result<&EdgeLabel, String> {
        self.edge_labels.get(name).ok_or_else(|| {
            let hint = nearest(name, self.edge_labels.keys());
            format!("there is no edge label '{name}'{hint}")
        })
    }
}

/// Checks that elements of the same name are the same in words.
fn check_same<T>(
    kind: &str,
    known: &HashMap<String, T>,
    added: &HashMap<String, T>,
    said: impl Fn(&T) -> String,
) -> Result<(), String> {
    let added: BTreeMap<&String, &T> = added.iter().collect();
    for (name, wanted) in added {
        let (known, wanted) = (known.get(name).map(&said), said(wanted));
        if let Some(known) = known.filter(|known| *known != wanted) {
            return Err(format!(
                "the graph has a {kind} '{name}' that is {known}, not {wanted} as in the schema to \
                 load: change the schema, or remove what the graph has"
            ));
        }
    }
    Ok(())
}

/// ` with the properties …`, in the order of the names.
fn with_properties(names: &[String]) -> String {
    let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    match names.is_empty() {
        true => " without properties".to_owned(),
        false => {
            let names: Vec<&str> = names.into_iter().collect();
            format!(" with the properties {}", names.join(", "))
        }
    }
}

impl From<SchemaAnswer> for Catalogue {
    fn from(answer: SchemaAnswer) -> Self {
        let key = |key: KeyAnswer| {
            let data_type = DataType::from_name(&key.data_type).unwrap_or(DataType::Text);
            let cardinality = Cardinality::from_name(&key.cardinality);
            let cardinality = cardinality.unwrap_or(Cardinality::Single);
            let has_default = key.user_data.get(DEFAULT_VALUE).is_some();
            (
                key.name,
                Key {
                    data_type,
                    cardinality,
                    has_default,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_graph_has_is_not_defined_anew() {
        let known = Catalogue::from_text(
            r#"{"propertykeys": [{"name": "age", "data_type": "INT"}],
                "vertexlabels": [{"name": "person", "id_strategy": "AUTOMATIC"}],
                "edgelabels": [{"name": "knows", "source_label": "person", "target_label": "person"}]}"#,
        );
        let check = |text: &str| known.check_added(&Catalogue::from_text(text));
        for text in [
            r#"{"propertykeys": [{"name": "age", "data_type": "INT", "cardinality": "SINGLE"}]}"#,
            r#"{"vertexlabels": [{"name": "person"}, {"name": "city", "primary_keys": ["name"]}]}"#,
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for (text, part) in [
            (
                r#"{"propertykeys": [{"name": "age"}]}"#,
                "'age' that is INT SINGLE, not TEXT",
            ),
            (
                r#"{"vertexlabels": [{"name": "person", "primary_keys": ["name"]}]}"#,
                "'person' that is of AUTOMATIC ids without properties, not of PRIMARY_KEY ids (name)",
            ),
            (
                r#"{"edgelabels": [{"name": "knows", "source_label": "person", "target_label": "city"}]}"#,
                "not from 'person' to 'city'",
            ),
        ] {
            let refused = check(text).expect_err(text);
            assert!(refused.contains(part), "{refused}");
        }
    }
}
