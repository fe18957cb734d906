//! The parameters of an algorithm: HugeGraph's names, types, bounds and messages.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use varve_graph::schema::Schema;
use varve_model::{
    Cardinality, DataType, Direction, EdgeLabelId, PropertyKeyId, VertexId, VertexLabelId,
};

use super::run::Algorithm;
use crate::errors::ApiError;
use crate::wire::ids::parse_vertex_id;

/// The most iterations that a client may request.
pub(crate) const TIMES_MAX: u64 = 2_000;
/// Parameters that bound the work of HugeGraph's algorithms. Here they are read and change nothing:
/// algorithms are exact, and `server.max_algorithm_bytes` bounds them.
const WITHOUT_EFFECT: [&str; 6] = [
    "degree",
    "max_degree",
    "sample",
    "capacity",
    "workers",
    "each_limit",
];

/// The client's parameters, in the order sent.
#[derive(Debug, Default)]
pub(super) struct Given(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Given;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with the algorithm's parameters")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Given, A::Error> {
                let mut given = Given::default();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    // Of several members with one name the last counts, as in HugeGraph.
                    given.0.retain(|(name, _)| *name != key);
                    given.0.push((key, value));
                }
                Ok(given)
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

impl Serialize for Given {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// The definition of closeness that `formula` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formula {
    Harmonic,
    Classic,
}

/// The parameters of all algorithms; each algorithm reads its own.
#[derive(Debug, Clone)]
pub(super) struct Parameters {
    /// `None` = both.
    pub(super) direction: Option<Direction>,
    /// Edge label.
    pub(super) label: Option<String>,
    /// The label of the vertices to copy, with the edges between them.
    pub(super) source_label: Option<String>,
    /// The property with an edge's weight.
    pub(super) weight: Option<String>,
    /// The number of scores in the answer; `None` = all.
    pub(super) top: Option<usize>,
    pub(super) times: u32,
    pub(super) precision: f64,
    pub(super) alpha: f64,
    /// The most edges of a path or ring.
    pub(super) depth: u32,
    pub(super) k: u32,
    pub(super) seed: u64,
    /// The number of vertices at which paths begin; `None` = all.
    pub(super) source_sample: Option<usize>,
    pub(super) sources: Vec<VertexId>,
    pub(super) count_only: bool,
    /// The most rings to find; `None` = all.
    pub(super) limit: Option<u64>,
    pub(super) formula: Formula,
    /// The property that the results are written to.
    pub(super) write_property: Option<String>,
}

/// The parameters of an algorithm that the client does not set.
pub(super) const DEFAULTS: Parameters = Parameters {
    direction: None,
    label: None,
    source_label: None,
    weight: None,
    top: Some(100),
    times: 20,
    precision: 0.001,
    alpha: 0.15,
    depth: u32::MAX,
    k: 3,
    seed: 0,
    source_sample: None,
    sources: Vec::new(),
    count_only: false,
    limit: None,
    formula: Formula::Harmonic,
    write_property: None,
};

impl Parameters {
    /// Reads and checks the parameters of an algorithm.
    ///
    /// # Errors
    /// For a parameter that the algorithm does not take, a missing one that it needs, and a value
    /// out of its bounds.
    pub(super) fn of(algorithm: &Algorithm, given: &Given) -> Result<Self, ApiError> {
        let is_taken = |name: &str| {
            let canonical = if name == "edge_label" { "label" } else { name };
            let bounded = !algorithm.takes.is_empty() && WITHOUT_EFFECT.contains(&name);
            algorithm.takes.contains(&canonical) || bounded
        };
        let other = given.0.iter().filter(|(name, _)| !is_taken(name));
        let other = listed(other);
        if other != "{}" {
            let message = format!("Unnecessary parameters: {other}");
            return Err(ApiError::illegal_argument(message));
        }
        let is_given = |name: &str| given.0.iter().any(|(given, _)| given == name);
        let needed = algorithm.needs.iter().find(|name| !is_given(name));
        if let Some(name) = needed {
            let all = listed(given.0.iter());
            let message = format!("Expect '{name}' in parameters: {all}");
            return Err(ApiError::illegal_argument(message));
        }
        let mut parameters = (algorithm.defaults)();
        for (name, value) in &given.0 {
            parameters.set(name, value)?;
        }
        Ok(parameters)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), ApiError> {
        match name {
            "direction" => self.direction = direction(&text(name, value)?)?,
            "label" | "edge_label" => self.label = Some(text(name, value)?),
            "source_label" => self.source_label = Some(text(name, value)?),
            "weight" => self.weight = Some(text(name, value)?),
            "write_property" => self.write_property = Some(text(name, value)?),
            "top" => self.top = size(name, value)?.map(|top| top as usize),
            "limit" => self.limit = size(name, value)?,
            "source_sample" => self.source_sample = size(name, value)?.map(|size| size as usize),
            "depth" => self.depth = positive(name, value, u64::from(u32::MAX))? as u32,
            "k" => self.k = positive(name, value, u64::from(u32::MAX))? as u32,
            "times" => self.times = positive(name, value, TIMES_MAX)? as u32,
            "seed" => self.seed = integer(name, value)? as u64,
            "count_only" => self.count_only = boolean(name, value)?,
            "precision" => {
                self.precision = number(name, value)?;
                if !(0.0..1.0).contains(&self.precision) {
                    let precision = self.precision;
                    return Err(ApiError::illegal_argument(format!(
                        "The precision parameter must be in range [0, 1), but got: {precision:?}"
                    )));
                }
            }
            "alpha" => {
                self.alpha = number(name, value)?;
                if !(self.alpha > 0.0 && self.alpha <= 1.0) {
                    let alpha = self.alpha;
                    return Err(ApiError::illegal_argument(format!(
                        "The value of alpha must be in range (0, 1], but got {alpha:?}"
                    )));
                }
            }
            "formula" => {
                self.formula = match text(name, value)?.as_str() {
                    "harmonic" => Formula::Harmonic,
                    "classic" => Formula::Classic,
                    other => {
                        return Err(ApiError::illegal_argument(format!(
                            "The formula must be in [harmonic, classic], but got '{other}'"
                        )));
                    }
                }
            }
            "source" => self.sources = vec![vertex(value)?],
            "sources" => {
                let wrong = || expected("a list of vertex ids", name, value);
                let list = value.as_array().ok_or_else(wrong)?;
                self.sources = list.iter().map(vertex).collect::<Result<_, _>>()?;
                if self.sources.is_empty() {
                    return Err(expected("a list of vertex ids", name, value));
                }
            }
            // A parameter of `WITHOUT_EFFECT`.
            _ => drop(number(name, value)?),
        }
        Ok(())
    }

    /// Checks that the schema has the labels and properties that the parameters name.
    ///
    /// # Errors
    /// With HugeGraph's message if one is missing, and if `write_property` cannot hold results.
    pub(super) fn check(&self, schema: &Schema) -> Result<(), ApiError> {
        self.edge_label(schema)?;
        self.vertex_label(schema)?;
        self.weight_key(schema)?;
        if let Some(name) = &self.write_property {
            let key = property_key(schema, name)?;
            let key = schema.property_key(key);
            let is_fit = key.is_some_and(|key| {
                let number = key.data_type.is_number();
                key.cardinality == Cardinality::Single
                    && (number || key.data_type == DataType::Text)
            });
            if !is_fit {
                return Err(ApiError::illegal_argument(format!(
                    "The property '{name}' can't take results: it must hold one number or text"
                )));
            }
        }
        Ok(())
    }

    pub(super) fn edge_label(&self, schema: &Schema) -> Result<Vec<EdgeLabelId>, ApiError> {
        let id = |name: &String| match schema.edge_label_by_name(name) {
            Some(label) => Ok(label.id),
            None => Err(ApiError::illegal_argument(format!(
                "Undefined edge label: '{name}'"
            ))),
        };
        self.label.iter().map(id).collect()
    }

    pub(super) fn vertex_label(&self, schema: &Schema) -> Result<Vec<VertexLabelId>, ApiError> {
        let id = |name: &String| match schema.vertex_label_by_name(name) {
            Some(label) => Ok(label.id),
            None => Err(ApiError::illegal_argument(format!(
                "Undefined vertex label: '{name}'"
            ))),
        };
        self.source_label.iter().map(id).collect()
    }

    pub(super) fn weight_key(&self, schema: &Schema) -> Result<Option<PropertyKeyId>, ApiError> {
        let key = self.weight.as_ref();
        key.map(|name| property_key(schema, name)).transpose()
    }
}

pub(super) fn property_key(schema: &Schema, name: &str) -> Result<PropertyKeyId, ApiError> {
    match schema.property_key_by_name(name) {
        Some(key) => Ok(key.id),
        None => Err(ApiError::illegal_argument(format!(
            "Undefined property key: '{name}'"
        ))),
    }
}

/// Parameters as Java shows a map.
fn listed<'a>(given: impl Iterator<Item = &'a (String, Value)>) -> String {
    let each = given.map(|(name, value)| format!("{name}={}", plain(value)));
    format!("{{{}}}", each.collect::<Vec<_>>().join(", "))
}

/// A value as Java shows it in a map.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn expected(what: &str, name: &str, value: &Value) -> ApiError {
    let value = plain(value);
    ApiError::illegal_argument(format!("Expect {what} for parameter '{name}': '{value}'"))
}

fn direction(text: &str) -> Result<Option<Direction>, ApiError> {
    match text {
        "BOTH" => Ok(None),
        "OUT" => Ok(Some(Direction::Out)),
        "IN" => Ok(Some(Direction::In)),
        other => Err(ApiError::illegal_argument(format!(
            "Direction value must be in [OUT, IN, BOTH], but got '{other}'"
        ))),
    }
}

fn text(name: &str, value: &Value) -> Result<String, ApiError> {
    let text = value.as_str().map(ToOwned::to_owned);
    text.ok_or_else(|| expected("string value", name, value))
}

fn boolean(name: &str, value: &Value) -> Result<bool, ApiError> {
    value
        .as_bool()
        .ok_or_else(|| expected("boolean value", name, value))
}

fn number(name: &str, value: &Value) -> Result<f64, ApiError> {
    value
        .as_f64()
        .ok_or_else(|| expected("number value", name, value))
}

fn integer(name: &str, value: &Value) -> Result<i64, ApiError> {
    value
        .as_i64()
        .ok_or_else(|| expected("integer value", name, value))
}

fn positive(name: &str, value: &Value, most: u64) -> Result<u64, ApiError> {
    let number = integer(name, value)?;
    match u64::try_from(number) {
        Ok(number) if number > 0 && number <= most => Ok(number),
        _ => Err(ApiError::illegal_argument(format!(
            "The value of {name} must be in range (0, {most}], but got {number}"
        ))),
    }
}

/// A positive number, or -1 for no bound.
fn size(name: &str, value: &Value) -> Result<Option<u64>, ApiError> {
    match integer(name, value)? {
        -1 => Ok(None),
        number if number > 0 => Ok(Some(number.unsigned_abs())),
        number => Err(ApiError::illegal_argument(format!(
            "The {name} parameter must be > 0 or == -1, but got: {number}"
        ))),
    }
}

fn vertex(value: &Value) -> Result<VertexId, ApiError> {
    parse_vertex_id(&value.to_string())
}
