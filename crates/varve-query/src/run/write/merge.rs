//! The arguments of merges: what to search for, to add and to change.

use compact_str::{CompactString, format_compact};
use varve_view::GraphWriter;

use super::super::context::Context;
use super::super::row::Row;
use super::property::{self, Written};
use super::vertex::label_name;
use super::{Part, checked_name};
use crate::plan::Name;
use crate::value::{Token, ValueMap};
use crate::{QueryError, Value};

/// The arguments of a merge, before they are computed for a row.
pub(super) struct MergeParts {
    pub(super) search: Option<Part>,
    pub(super) also: Vec<(Name, Value)>,
    pub(super) on_create: Option<Part>,
    pub(super) on_match: Option<Part>,
    pub(super) source: Option<Part>,
    pub(super) target: Option<Part>,
}

/// An element as described by a map: one to search for, or one to add.
#[derive(Debug, Clone, Default)]
pub(super) struct Whole {
    pub(super) id: Option<Value>,
    pub(super) label: Option<Name>,
    pub(super) source: Option<Value>,
    pub(super) target: Option<Value>,
    pub(super) properties: Vec<Written>,
    /// The properties with their values as given.
    pub(super) values: Vec<(Name, Value)>,
}

/// An element to search for.
pub(super) type Wanted = Whole;

impl Whole {
    pub(super) fn vertex(map: &Value) -> Result<Self, QueryError> {
        Self::of(map, false)
    }

    pub(super) fn edge(map: &Value) -> Result<Self, QueryError> {
        Self::of(map, true)
    }

    fn of(map: &Value, edge: bool) -> Result<Self, QueryError> {
        let mut whole = Self::default();
        for (key, value) in entries(map)? {
            match key {
                Value::Token(Token::Id | Token::Label) if value.is_null() => {
                    return Err(QueryError::invalid(format!(
                        "The merge step does not allow null for {}",
                        key.shown()
                    )));
                }
                Value::Token(Token::Id) => whole.id = Some(value.clone()),
                Value::Token(Token::Label) => whole.label = Some(label_name(value)?.clone()),
                Value::Token(Token::Out) if edge => whole.source = Some(value.clone()),
                Value::Token(Token::In) if edge => whole.target = Some(value.clone()),
                Value::Text(name) => {
                    whole.values.push((name.clone(), value.clone()));
                    let written = Written::of(name, value.clone(), None)?;
                    if written.value.is_some() {
                        whole.properties.push(written);
                    }
                }
                other => return Err(bad_key(other, edge)),
            }
        }
        Ok(whole)
    }

    /// A name that is equal for merges with equal searches.
    ///
    /// # Errors
    /// If the text of a value is too long.
    pub(super) fn name(&self, step: &str) -> Result<Vec<u8>, QueryError> {
        let values = self.values.iter();
        let part = |(name, value): &(Name, Value)| Ok(format!("{name:?}={}", plain(value)?));
        let mut parts: Vec<String> = values.map(part).collect::<Result<_, QueryError>>()?;
        parts.sort_unstable();
        let end = |end: &Option<Value>| {
            let id = end.as_ref().and_then(Value::as_vertex_id);
            id.map(|id| id.to_string())
        };
        let id = self.id.as_ref().map(Value::to_text).transpose()?;
        let ends = (end(&self.source), end(&self.target));
        Ok(format!("{step} {id:?} {:?} {ends:?} {parts:?}", self.label).into_bytes())
    }
}

/// A value as text; values that are equal for predicates have the same text.
fn plain(value: &Value) -> Result<CompactString, QueryError> {
    Ok(match value {
        Value::Entry(entry) => plain(&entry.1)?,
        Value::Float(number) => format_compact!("{}", f64::from(*number)),
        Value::Double(number) => format_compact!("{number}"),
        Value::BigDecimal(number) => number.normalized().to_plain_string().into(),
        other => other.to_text()?,
    })
}

fn entries(map: &Value) -> Result<impl Iterator<Item = (&Value, &Value)>, QueryError> {
    let map: Option<&ValueMap> = match map {
        Value::Map(map) => Some(map),
        Value::Null => None,
        other => {
            return Err(QueryError::invalid(format!(
                "A merge step expected a Map, but got {} of {}",
                other.shown(),
                other.type_name()
            )));
        }
    };
    Ok(map.into_iter().flatten())
}

fn bad_key(key: &Value, edge: bool) -> QueryError {
    let allowed = match edge {
        true => "String, T.label, T.id, Direction.OUT and Direction.IN",
        false => "String, T.label and T.id",
    };
    QueryError::invalid(format!(
        "A merge step takes {allowed} as keys, but got {} of {}",
        key.shown(),
        key.type_name()
    ))
}

impl MergeParts {
    /// Checks the constant arguments.
    pub(super) fn check(&self, edge: bool) -> Result<(), QueryError> {
        let search = match &self.search {
            Some(Part::Value(map)) => Some(Whole::of(map, edge)?),
            _ => None,
        };
        if let Some(search) = &search {
            self.check_options(search)?;
        }
        if let Some(Part::Value(map)) = &self.on_create {
            let more = Whole::of(map, edge)?;
            if let Some(search) = &search {
                check_override(search, &more)?;
            }
        }
        if let Some(Part::Value(map)) = &self.on_match {
            check_match(map)?;
        }
        Ok(())
    }

    /// Checks that each end given as `Merge.outV` or `Merge.inV` has its option.
    pub(super) fn check_options(&self, whole: &Whole) -> Result<(), QueryError> {
        for (end, name) in [(&whole.source, "OUT"), (&whole.target, "IN")] {
            let (missing, option) = match end {
                Some(Value::Token(Token::OutV)) => (self.source.is_none(), "outV"),
                Some(Value::Token(Token::InV)) => (self.target.is_none(), "inV"),
                _ => (false, ""),
            };
            if missing {
                return Err(QueryError::invalid(format!(
                    "option({option}) must be specified if it is used for {name}"
                )));
            }
        }
        Ok(())
    }

    /// The map to search for.
    pub(super) fn search(&mut self, cx: &mut Context<'_>, row: &Row) -> Result<Value, QueryError> {
        let map = match &mut self.search {
            Some(part) => part.of(cx, row)?.unwrap_or_default(),
            None => row.value.clone(),
        };
        if self.also.is_empty() {
            return Ok(map);
        }
        let also = self.also.iter();
        let also = also.map(|(name, value)| (Value::Text(name.clone()), value.clone()));
        let own = entries(&map)?.map(|(key, value)| (key.clone(), value.clone()));
        Ok(Value::map(own.chain(also)))
    }

    /// The element to add if none was found.
    pub(super) fn addition(
        &mut self,
        cx: &mut Context<'_>,
        row: &Row,
        wanted: &Wanted,
        edge: bool,
    ) -> Result<Whole, QueryError> {
        let mut whole = wanted.clone();
        let Some(part) = &mut self.on_create else {
            return Ok(whole);
        };
        let mut more = Whole::of(&part.of(cx, row)?.unwrap_or_default(), edge)?;
        // The properties that a strategy adds replace those of the option.
        let is_also = |name: &Name| self.also.iter().any(|(own, _)| own == name);
        more.values.retain(|(name, _)| !is_also(name));
        more.properties.retain(|written| !is_also(&written.name));
        check_override(wanted, &more)?;
        whole.id = more.id.or(whole.id);
        whole.label = more.label.or(whole.label);
        whole.source = whole.source.or(more.source);
        whole.target = whole.target.or(more.target);
        let own = |written: &Written| more.values.iter().any(|(name, _)| *name == written.name);
        whole.properties.retain(|written| !own(written));
        whole.properties.extend(more.properties);
        Ok(whole)
    }

    /// Applies `on_match` to the elements that were found.
    pub(super) fn matched(
        &mut self,
        cx: &mut Context<'_>,
        writer: &dyn GraphWriter,
        row: &Row,
        found: &[Value],
    ) -> Result<(), QueryError> {
        let Some(part) = &mut self.on_match else {
            return Ok(());
        };
        for element in found {
            property::begin(cx, writer, element)?;
            let at = row.at(element.clone(), cx.track);
            let map = part.of(cx, &at)?.unwrap_or_default();
            check_match(&map)?;
            if let Value::Map(map) = &map {
                for written in Written::of_map(map)? {
                    property::put(cx, writer, element, &written)?;
                }
            }
        }
        Ok(())
    }
}

/// Checks that `on_match` sets properties only: id, label and ends cannot change.
fn check_match(map: &Value) -> Result<(), QueryError> {
    for (key, _) in entries(map)? {
        match key {
            Value::Text(name) => {
                checked_name("Property key", name)?;
            }
            other => {
                return Err(QueryError::invalid(format!(
                    "option(onMatch) takes String as keys, but got {} of {}",
                    other.shown(),
                    other.type_name()
                )));
            }
        }
    }
    Ok(())
}

fn check_override(search: &Whole, more: &Whole) -> Result<(), QueryError> {
    let differs = |own: &Option<Value>, other: &Option<Value>| match (own, other) {
        (Some(own), Some(other)) => match (own.as_vertex_id(), other.as_vertex_id()) {
            (Some(own), Some(other)) => own != other,
            _ => own != other,
        },
        _ => false,
    };
    let labels = matches!((&search.label, &more.label), (Some(own), Some(other)) if own != other);
    let property = more.values.iter().find(|(name, value)| {
        let mut own = search.values.iter().filter(|(own, _)| own == name);
        own.any(|(_, own)| own != value || own.type_name() != value.type_name())
    });
    let key = if let Some((name, _)) = property {
        name.as_str()
    } else if differs(&search.id, &more.id) {
        "T.id"
    } else if labels {
        "T.label"
    } else if differs(&search.source, &more.source) {
        "Direction.OUT"
    } else if differs(&search.target, &more.target) {
        "Direction.IN"
    } else {
        return Ok(());
    };
    Err(QueryError::invalid(format!(
        "option(onCreate) cannot override values from merge() argument: {key}"
    )))
}
