//! Rules that vertex labels and edge labels share: properties, nullable keys, time to live,
//! history.

use varve_model::schema::Retention;
use varve_model::value::DataType;
use varve_model::{Datum, PropertyKeyId};

use super::kind::{SchemaElement, SchemaKind};
use super::name::{bracketed, distinct};
use super::request::{Action, LabelChange};
use super::snapshot::Schema;
use super::user_data;
use crate::{ErrorKind, GraphError};

/// Returns the ids of named property keys, ascending and distinct. Labels store their properties
/// and nullable keys in this form. An error if a key does not exist.
pub(super) fn key_set(schema: &Schema, names: &[String]) -> Result<Vec<PropertyKeyId>, GraphError> {
    let mut ids = key_list(schema, names)?;
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Returns the ids of named property keys in the order of the names. An error if a key does not
/// exist.
pub(super) fn key_list(
    schema: &Schema,
    names: &[String],
) -> Result<Vec<PropertyKeyId>, GraphError> {
    let ids = names.iter().map(|name| schema.require_property_key(name));
    ids.map(|key| key.map(|key| key.id)).collect()
}

/// Whether two lists, each without duplicates, have the same ids, in any order.
pub(super) fn same_members(one: &[PropertyKeyId], other: &[PropertyKeyId]) -> bool {
    one.len() == other.len() && one.iter().all(|id| other.contains(id))
}

/// The properties of a label before a change; none for a new label.
#[derive(Clone, Copy, Default)]
pub(super) struct Before<'a> {
    pub(super) properties: &'a [PropertyKeyId],
}

/// The properties that identify elements of a label, and their name in messages.
#[derive(Clone, Copy)]
pub(super) struct Fixed<'a> {
    pub(super) kind: SchemaKind,
    pub(super) label: &'a str,
    /// `primaryKeys` or `sortKeys`.
    pub(super) called: &'a str,
    pub(super) keys: &'a [String],
}

/// Checks nullable keys: each must be a property that the label has or gets by the change, and not
/// one of the properties that identify its elements.
pub(super) fn check_nullable(
    schema: &Schema,
    before: Before<'_>,
    properties: &[String],
    nullable: &[String],
    fixed: Fixed<'_>,
) -> Result<(), GraphError> {
    let origin = schema.property_key_names(before.properties);
    let added = distinct(properties);
    let nullable = distinct(nullable);
    let belongs = |name: &&str| origin.contains(name) || added.contains(name);
    if !nullable.iter().all(belongs) {
        return Err(GraphError::invalid(format!(
            "The nullableKeys: {} to be created or appended must belong to the origin/new properties: {}/{}",
            bracketed(&nullable),
            bracketed(&origin),
            bracketed(&added)
        )));
    }
    if nullable
        .iter()
        .any(|name| fixed.keys.iter().any(|key| key == name))
    {
        return Err(GraphError::invalid(format!(
            "The nullableKeys: {} are not allowed to belong to {}: {} of {} '{}'",
            bracketed(&nullable),
            fixed.called,
            bracketed(fixed.keys),
            fixed.kind.readable(),
            fixed.label
        )));
    }
    Ok(())
}

/// A label's time to live in milliseconds (0 = none), and the property with the time at which it
/// starts, if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ttl {
    pub(super) millis: i64,
    pub(super) start: Option<PropertyKeyId>,
}

/// Checks the time to live of a new label, or a new one of an existing label. `properties` are all
/// properties of the label. A start time needs a time to live above 0 and a property of type date.
pub(super) fn new_ttl(
    schema: &Schema,
    kind: SchemaKind,
    label: &str,
    properties: &[String],
    millis: i64,
    start: Option<&str>,
) -> Result<Ttl, GraphError> {
    if millis < 0 {
        return Err(GraphError::invalid(format!(
            "The ttl must be >= 0, but got: {millis}"
        )));
    }
    let Some(start) = start else {
        return Ok(Ttl {
            millis,
            start: None,
        });
    };
    if millis == 0 {
        return Err(GraphError::invalid(format!(
            "Only set ttlStartTime when ttl is positive,  but got ttl: {millis}"
        )));
    }
    let properties = distinct(properties);
    if properties.is_empty() {
        return Err(GraphError::invalid(format!(
            "The properties can't be empty when exist ttl start time for {} '{label}'",
            kind.readable()
        )));
    }
    if !properties.contains(&start) {
        return Err(GraphError::invalid(format!(
            "The ttl start time '{start}' must be contained in properties '{}' for {} '{label}'",
            bracketed(&properties),
            kind.readable()
        )));
    }
    let key = schema.require_property_key(start)?;
    if key.data_type != DataType::Date {
        return Err(GraphError::invalid(format!(
            "The ttl start time property must be date type,but got '{start}({})'",
            key.data_type
        )));
    }
    Ok(Ttl {
        millis,
        start: Some(key.id),
    })
}

/// The changeable parts of a label, vertex or edge.
pub(super) struct Changeable<'a> {
    pub(super) kind: SchemaKind,
    pub(super) label: &'a str,
    pub(super) called: &'a str,
    pub(super) fixed: &'a [PropertyKeyId],
    pub(super) properties: &'a mut Vec<PropertyKeyId>,
    pub(super) nullable_keys: &'a mut Vec<PropertyKeyId>,
    pub(super) ttl: &'a mut i64,
    pub(super) ttl_start_time: &'a mut Option<PropertyKeyId>,
    pub(super) retention: &'a mut Retention,
    pub(super) user_data: &'a mut Datum,
}

impl Changeable<'_> {
    pub(super) fn apply(
        self,
        schema: &Schema,
        action: Action,
        change: LabelChange,
    ) -> Result<(), GraphError> {
        match action {
            Action::Append => self.append(schema, change),
            Action::Eliminate => self.eliminate(&change),
        }
    }

    fn append(self, schema: &Schema, change: LabelChange) -> Result<(), GraphError> {
        let added = key_set(schema, &change.properties)?;
        let fixed: Vec<String> = schema
            .property_key_names(self.fixed)
            .into_iter()
            .map(str::to_owned)
            .collect();
        check_nullable(
            schema,
            Before {
                properties: self.properties,
            },
            &change.properties,
            &change.nullable_keys,
            Fixed {
                kind: self.kind,
                label: self.label,
                called: self.called,
                keys: &fixed,
            },
        )?;
        let nullable = key_set(schema, &change.nullable_keys)?;
        let must_be: Vec<PropertyKeyId> = added
            .iter()
            .filter(|id| !self.properties.contains(id))
            .copied()
            .collect();
        if !must_be.iter().all(|id| nullable.contains(id)) {
            return Err(GraphError::invalid(format!(
                "The new added properties: {} must be nullable",
                bracketed(&schema.property_key_names(&must_be))
            )));
        }
        user_data::refuse_nulls(&change.user_data)?;
        let retention = user_data::asked_retention(change.history.as_deref(), &change.user_data)?;
        merge(self.properties, &added);
        merge(self.nullable_keys, &nullable);
        let all: Vec<String> = schema
            .property_key_names(self.properties)
            .into_iter()
            .map(str::to_owned)
            .collect();
        if change.ttl != 0 || change.ttl_start_time.is_some() {
            let millis = if change.ttl == 0 {
                *self.ttl
            } else {
                change.ttl
            };
            let start = change.ttl_start_time.as_deref();
            let ttl = new_ttl(schema, self.kind, self.label, &all, millis, start)?;
            *self.ttl = ttl.millis;
            *self.ttl_start_time = ttl.start.or(*self.ttl_start_time);
        }
        user_data::append(self.user_data, change.user_data);
        if let Some(retention) = retention {
            *self.retention = retention;
        }
        user_data::show_retention(self.user_data, *self.retention);
        Ok(())
    }

    fn eliminate(self, change: &LabelChange) -> Result<(), GraphError> {
        let refused = |what: &str| {
            let message = format!(
                "Not support to eliminate {what} for {} currently",
                self.kind.readable()
            );
            Err(GraphError::new(ErrorKind::NotAllowed, message))
        };
        if !change.properties.is_empty() {
            return refused("properties");
        }
        if !change.nullable_keys.is_empty() {
            return refused("nullableKeys");
        }
        if change.ttl != 0 {
            *self.ttl = 0;
            *self.ttl_start_time = None;
        }
        if change.ttl_start_time.is_some() {
            *self.ttl_start_time = None;
        }
        let named = |(name, _): &(String, Datum)| name == super::retention::HISTORY;
        if change.history.is_some() || change.user_data.iter().any(named) {
            *self.retention = Retention::All;
        }
        user_data::eliminate(self.user_data, &change.user_data);
        user_data::show_retention(self.user_data, *self.retention);
        Ok(())
    }
}

/// Adds ids to an ascending list without duplicates.
fn merge(into: &mut Vec<PropertyKeyId>, more: &[PropertyKeyId]) {
    into.extend_from_slice(more);
    into.sort_unstable();
    into.dedup();
}

/// Refuses to change a member that cannot be changed.
pub(super) fn refuse_change<T: SchemaElement>(
    given: bool,
    what: &str,
    name: &str,
) -> Result<(), GraphError> {
    if !given {
        return Ok(());
    }
    let message = format!(
        "Not allowed to update {what} for {} '{name}'",
        T::KIND.readable()
    );
    Err(GraphError::new(ErrorKind::NotAllowed, message))
}
