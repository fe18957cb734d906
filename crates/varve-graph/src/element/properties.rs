//! Rules common to vertices and edges: the properties that a label allows, and those that it
//! requires.

use std::collections::HashMap;
use std::sync::Arc;

use varve_model::schema::AggregateType;
use varve_model::{EdgeLabel, Properties, PropertyKey, PropertyKeyId, VertexLabel};

use super::convert::convert;
use super::input::{RawProperty, RawValue};
use super::text::bracketed;
use super::{Rules, typed};
use crate::schema::{GraphMode, Schema, default_value};
use crate::{ErrorKind, GraphError};

/// The most properties among which repeated names are found by comparing each pair, without a map.
const PAIRWISE_PROPERTIES_MAX: usize = 32;

/// The common interface of vertex labels and edge labels.
pub(super) trait Label {
    /// `vertex` or `edge`.
    const KIND: &'static str;
    fn allows(&self, key: PropertyKeyId) -> bool;
    fn properties(&self) -> &[PropertyKeyId];
    fn nullable_keys(&self) -> &[PropertyKeyId];
    /// The primary keys of a vertex label, or the sort keys of an edge label. Their values are part
    /// of an element's id.
    fn id_keys(&self) -> &[PropertyKeyId];
    /// The error for a change of one of [`Label::id_keys`].
    fn fixed(name: &str) -> GraphError;
    /// The error for a property that the label does not have.
    fn unexpected(&self, name: &str) -> GraphError;
    /// The error for missing required properties. Both arguments are bracketed lists of names.
    fn missed(&self, required: &str, missed: &str) -> GraphError;
}

impl Label for VertexLabel {
    const KIND: &'static str = "vertex";
    fn allows(&self, key: PropertyKeyId) -> bool {
        self.properties.contains(&key)
    }
    fn properties(&self) -> &[PropertyKeyId] {
        &self.properties
    }
    fn nullable_keys(&self) -> &[PropertyKeyId] {
        &self.nullable_keys
    }
    fn id_keys(&self) -> &[PropertyKeyId] {
        &self.primary_keys
    }
    fn fixed(name: &str) -> GraphError {
        GraphError::invalid(format!("Can't update primary key: '{name}'"))
    }
    fn unexpected(&self, name: &str) -> GraphError {
        GraphError::invalid(format!(
            "Invalid property '{name}' for vertex label '{}(id={})'",
            self.name, self.id
        ))
    }
    fn missed(&self, required: &str, missed: &str) -> GraphError {
        GraphError::invalid(format!(
            "All non-null property keys {required} of vertex label '{}' must be set, missed keys {missed}",
            self.name
        ))
    }
}

impl Label for EdgeLabel {
    const KIND: &'static str = "edge";
    fn allows(&self, key: PropertyKeyId) -> bool {
        self.properties.contains(&key)
    }
    fn properties(&self) -> &[PropertyKeyId] {
        &self.properties
    }
    fn nullable_keys(&self) -> &[PropertyKeyId] {
        &self.nullable_keys
    }
    fn id_keys(&self) -> &[PropertyKeyId] {
        &self.sort_keys
    }
    fn fixed(name: &str) -> GraphError {
        GraphError::invalid(format!("Can't update sort key: '{name}'"))
    }
    fn unexpected(&self, name: &str) -> GraphError {
        GraphError::invalid(format!(
            "Invalid property '{name}' for edge label '{}(id={})'",
            self.name, self.id
        ))
    }
    fn missed(&self, required: &str, missed: &str) -> GraphError {
        GraphError::invalid(format!(
            "All non-null property keys: {required} of edge label '{}' must be set, but missed keys: {missed}",
            self.name
        ))
    }
}

/// Checks that an input has properties, and that none is null. Of properties with the same name,
/// only the last is checked and returned.
pub(super) fn present<'a>(
    properties: Option<Vec<RawProperty<'a>>>,
    kind: &str,
    id: &dyn std::fmt::Display,
) -> Result<Vec<RawProperty<'a>>, GraphError> {
    let Some(properties) = properties else {
        return Err(GraphError::invalid(format!(
            "The properties of {kind} can't be null"
        )));
    };
    let properties = last_of_each(properties);
    match properties.iter().find(|(_, value)| value.is_null()) {
        Some((name, _)) => Err(GraphError::invalid(format!(
            "Not allowed to set value of property '{name}' to null for {kind} '{id}'"
        ))),
        None => Ok(properties),
    }
}

/// Returns one property of each name: the last value, at the position of the first.
fn last_of_each(properties: Vec<RawProperty<'_>>) -> Vec<RawProperty<'_>> {
    let pairwise = properties.len() <= PAIRWISE_PROPERTIES_MAX;
    let repeated = |at: usize| {
        properties[..at]
            .iter()
            .any(|(name, _)| *name == properties[at].0)
    };
    if pairwise && !(1..properties.len()).any(repeated) {
        return properties;
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<RawProperty<'_>> = Vec::with_capacity(properties.len());
    for (name, value) in properties {
        match places.get(name.as_ref()) {
            Some(at) => kept[*at].1 = value,
            None => {
                places.insert(name.clone().into_owned(), kept.len());
                kept.push((name, value));
            }
        }
    }
    kept
}

/// A property whose name is in the schema.
pub(super) type Resolved<'s, 'a> = (&'s Arc<PropertyKey>, RawValue<'a>);

/// Looks up the property keys of all names. Fails if the schema has no such key.
pub(super) fn resolve<'s, 'a>(
    schema: &'s Schema,
    properties: Vec<RawProperty<'a>>,
) -> Result<Vec<Resolved<'s, 'a>>, GraphError> {
    properties
        .into_iter()
        .map(|(name, value)| Ok((schema.require_property_key(&name)?, value)))
        .collect()
}

impl Rules<'_> {
    /// Converts the properties of an element of `label`. Fails for a property that the label does
    /// not allow, and for a value of the wrong type.
    pub(super) fn accept<L: Label>(
        &self,
        label: &L,
        properties: Vec<Resolved<'_, '_>>,
    ) -> Result<Properties, GraphError> {
        let mut accepted = Properties::new();
        for (key, raw) in properties {
            if !label.allows(key.id) && !self.restores(key) {
                return Err(label.unexpected(&key.name));
            }
            let value = match self.takes_types() {
                true => typed::convert(self.schema, key, raw)?,
                false => convert(key, raw)?,
            };
            accepted.set(key.id, value);
        }
        Ok(accepted)
    }

    /// Whether values are sent with their types, because a dump of an open graph is being restored.
    pub(super) fn takes_types(&self) -> bool {
        self.mode == GraphMode::Restoring && self.schema.is_open()
    }

    /// Whether a restored element may have the property regardless of its label. This is so for the
    /// results of an offline analysis (OLAP).
    fn restores(&self, key: &PropertyKey) -> bool {
        self.mode == GraphMode::Restoring && key.write_type.is_olap()
    }

    /// Refuses aggregate properties, and properties that only an offline analysis may write. The
    /// latter are allowed while a dump is restored.
    pub(super) fn check_storable(&self, properties: &Properties) -> Result<(), GraphError> {
        let keys = properties
            .iter()
            .map(|(id, _)| self.schema.property_key(id));
        let mut keys = keys.flatten().filter(|key| !self.restores(key));
        keys.try_for_each(|key| check_storable_key(key))
    }
}

/// As [`Rules::check_storable`] for one property, without the exception for a restore.
pub(super) fn check_storable_key(key: &PropertyKey) -> Result<(), GraphError> {
    if key.aggregate_type != AggregateType::None {
        return Err(GraphError::invalid(
            "The rocksdb store does not support aggregate property",
        ));
    }
    if key.write_type.is_olap() {
        return Err(GraphError::new(
            ErrorKind::NotSupported,
            format!("Not support writing olap property '{}'", key.name),
        ));
    }
    Ok(())
}

/// Checks that all required properties are present. A property of the label is required if it is
/// not nullable and has no default.
pub(super) fn check_complete<L: Label>(
    schema: &Schema,
    label: &L,
    properties: &Properties,
) -> Result<(), GraphError> {
    let mut all = label.properties().iter();
    if all.all(|key| properties.get(*key).is_some() || label.nullable_keys().contains(key)) {
        return Ok(());
    }
    let mut required: Vec<PropertyKeyId> = label
        .properties()
        .iter()
        .filter(|key| !label.nullable_keys().contains(key))
        .copied()
        .collect();
    required.sort_unstable();
    let mut missed = Vec::new();
    for id in &required {
        if properties.get(*id).is_some() {
            continue;
        }
        let default = match schema.property_key(*id) {
            Some(key) => default_value(key)?,
            None => None,
        };
        if default.is_none() {
            missed.push(*id);
        }
    }
    if missed.is_empty() {
        return Ok(());
    }
    Err(label.missed(
        &bracketed(schema.property_key_names(&required)),
        &bracketed(schema.property_key_names(&missed)),
    ))
}

/// Refuses the joined values of id keys if they begin with one of the characters U+0000 to U+0003.
pub(super) fn check_leading(joined: &str) -> Result<(), GraphError> {
    match joined.chars().next() {
        Some(first) if first <= '\u{3}' => Err(GraphError::invalid(format!(
            "Illegal leading char '\\u{}' in index property: '{}'",
            first as u32,
            joined.escape_default()
        ))),
        _ => Ok(()),
    }
}
