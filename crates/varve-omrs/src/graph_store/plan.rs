//! Plans of walks: which ranges of index entries give the instances of a walk, in its order.

use varve_encoding::index::{
    put_ordered, put_ordered_real, put_ordered_text, put_ordered_whole, put_text_prefix, values_len,
};
use varve_kv::ClusteringRange;
use varve_model::{Instant, Value};

use super::indexes::{
    DELETED, IndexKind, classified_first, level_first, named_first, put_decimal, put_time,
};
use super::row::Row;
use super::rules::{ANY, is_single};
use super::state::TypesInGraph;
use crate::instances::{InstanceProperties, InstancePropertyValue, Primitive};
use crate::json::Millis;
use crate::matching::Facts;
use crate::store::{Listing, Subject, Walk, WalkBy};
use crate::types::{InstanceStatus, TypeDefCategory, TypeIndex};

/// The most subtypes whose text entries are walked type by type. For a type with more, the entries
/// of all types are walked.
const TEXT_TYPES_MAX: usize = 32;

/// The most types whose entries of one property are merged in a walk.
const PROPERTY_TYPES_MAX: usize = 256;

/// A part of a walk: a range of entries of one index, in one or more partitions.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) index: u32,
    pub(super) firsts: Vec<Vec<u8>>,
    pub(super) range: ClusteringRange,
    pub(super) reverse: bool,
    pub(super) after: Option<&'a [u8]>,
}

/// The entries that serve `walk` as of `at`, in parts one after the other; `None` when none do.
pub(super) fn plan<'a>(
    state: &TypesInGraph,
    walk: &Walk<'a>,
    at: Option<Instant>,
) -> Option<Vec<Part<'a>>> {
    let part = whole(state, walk)?;
    let ahead = match (&walk.by, at) {
        (
            WalkBy::CreateTime
            | WalkBy::Live(Listing::CreateTime)
            | WalkBy::Deleted(Listing::CreateTime),
            Some(at),
        ) => (IndexKind::CreatedAhead, at),
        (
            WalkBy::UpdateTime
            | WalkBy::Live(Listing::UpdateTime)
            | WalkBy::Deleted(Listing::UpdateTime),
            Some(at),
        ) => (IndexKind::UpdatedAhead, at),
        (WalkBy::Classified(_, Listing::CreateTime), Some(at)) => {
            (IndexKind::ClassifiedCreatedAhead, at)
        }
        (WalkBy::Classified(_, Listing::UpdateTime), Some(at)) => {
            (IndexKind::ClassifiedUpdatedAhead, at)
        }
        _ => return Some(vec![part]),
    };
    Some(split_by_time(walk.subject, part, ahead))
}

/// Splits a walk as of `at` in two, to skip the entries of instances that were made or changed
/// after `at`, however many there are. An instance that exists at `at` can have a later time only
/// if its header has a later time than the start of its state. Such instances have indexes of their
/// own.
fn split_by_time<'a>(
    subject: Subject,
    part: Part<'a>,
    (kind, at): (IndexKind, Instant),
) -> Vec<Part<'a>> {
    let mut bound = Vec::with_capacity(16);
    put_time(Some(at.millis()), &mut bound);
    bound.push(4);
    let ahead = Part {
        index: kind.number(subject),
        firsts: part.firsts.clone(),
        range: ClusteringRange {
            from: bound.clone(),
            to: None,
        },
        ..part
    };
    let in_time = Part {
        range: ClusteringRange {
            from: Vec::new(),
            to: Some(bound.clone()),
        },
        ..part
    };
    let (mut first, second) = if in_time.reverse {
        (ahead, in_time)
    } else {
        (in_time, ahead)
    };
    let Some(after) = first.after else {
        return vec![first, second];
    };
    // `after` is in one of the two parts.
    if (after >= &bound[..]) == first.reverse {
        let second = Part {
            after: None,
            ..second
        };
        return vec![first, second];
    }
    first.after = None;
    vec![second]
}

fn whole<'a>(state: &TypesInGraph, walk: &Walk<'a>) -> Option<Part<'a>> {
    let category = match walk.subject {
        Subject::Entities => TypeDefCategory::Entity,
        Subject::Relationships => TypeDefCategory::Relationship,
    };
    if let Some(of) = walk.of
        && state.types.get(of).def().category() != category
    {
        return None;
    }
    let (kind, range) = index_and_range(&walk.by)?;
    let firsts = firsts(state, walk)?;
    // Instances with equal values are ordered by GUID, ascending in either direction of the walk.
    let in_common = matches!(
        walk.by,
        WalkBy::Classified(_, Listing::Guid)
            | WalkBy::ClassifiedWith(..)
            | WalkBy::Home(_)
            | WalkBy::Deleted(Listing::Guid)
    );
    Some(Part {
        index: kind.number(walk.subject),
        firsts,
        range,
        reverse: walk.reverse && !in_common,
        after: walk.after,
    })
}

/// The index of a walk, and the range of its values.
fn index_and_range(by: &WalkBy<'_>) -> Option<(IndexKind, ClusteringRange)> {
    Some(match by {
        WalkBy::Guid => (IndexKind::Guid, ClusteringRange::all()),
        WalkBy::CreateTime => (IndexKind::CreateTime, ClusteringRange::all()),
        WalkBy::UpdateTime => (IndexKind::UpdateTime, ClusteringRange::all()),
        WalkBy::Live(listing) | WalkBy::Deleted(listing) => {
            (list_kind(*listing), ClusteringRange::all())
        }
        WalkBy::Property(_) => (IndexKind::Property, ClusteringRange::all()),
        WalkBy::PropertyIs(_, value) => (IndexKind::Property, equal_to(&ordered_primitive(value)?)),
        WalkBy::PropertyStarts(_, prefix) => (IndexKind::Property, starting_with(prefix)),
        WalkBy::Text(text) => {
            let mut value = Vec::new();
            put_ordered_text(text, &mut value);
            (IndexKind::Text, equal_to(&value))
        }
        WalkBy::TextStarts(prefix) => (IndexKind::Text, starting_with(prefix)),
        WalkBy::Classified(_, listing) => (classified_kind(*listing), ClusteringRange::all()),
        WalkBy::ClassifiedWith(.., value) => (
            IndexKind::ClassifiedProperty,
            equal_to(&ordered_primitive(value)?),
        ),
        WalkBy::Home(_) => (IndexKind::Home, ClusteringRange::all()),
    })
}

/// The leading values of the entries' keys: one partition for each type, list or name.
fn firsts(state: &TypesInGraph, walk: &Walk<'_>) -> Option<Vec<Vec<u8>>> {
    Some(match &walk.by {
        WalkBy::Property(name) | WalkBy::PropertyIs(name, _) | WalkBy::PropertyStarts(name, _) => {
            property_levels(state, walk, name)?
        }
        WalkBy::Text(_) | WalkBy::TextStarts(_) => text_levels(state, walk),
        WalkBy::Classified(..) | WalkBy::ClassifiedWith(..)
            if walk.subject == Subject::Relationships =>
        {
            return None;
        }
        WalkBy::Classified(names, _) => {
            let mut firsts: Vec<Vec<u8>> = names.iter().map(|name| named_first(name)).collect();
            firsts.sort_unstable();
            firsts.dedup();
            firsts
        }
        WalkBy::ClassifiedWith(name, property, _) => {
            let rules = state.rules.classifications.get(*name)?;
            vec![classified_first(name, rules.property(property)?.number)]
        }
        WalkBy::Home(name) => vec![named_first(name)],
        WalkBy::Live(_) => vec![level_first(level(state, walk)?, None)],
        WalkBy::Deleted(_) => vec![level_first(level(state, walk)?, Some(DELETED))],
        WalkBy::Guid | WalkBy::CreateTime | WalkBy::UpdateTime => {
            let level = level(state, walk)?;
            vec![level_first(level, None), level_first(level, Some(DELETED))]
        }
    })
}

fn classified_kind(listing: Listing) -> IndexKind {
    match listing {
        Listing::Guid => IndexKind::Classification,
        Listing::CreateTime => IndexKind::ClassifiedCreated,
        Listing::UpdateTime => IndexKind::ClassifiedUpdated,
    }
}

fn list_kind(listing: Listing) -> IndexKind {
    match listing {
        Listing::Guid => IndexKind::Guid,
        Listing::CreateTime => IndexKind::CreateTime,
        Listing::UpdateTime => IndexKind::UpdateTime,
    }
}

/// The level of a walk's type. The root type uses the level of all types, which holds instances of
/// other types too.
fn level(state: &TypesInGraph, walk: &Walk<'_>) -> Option<u32> {
    let Some(of) = walk.of else {
        return Some(ANY);
    };
    let label = state.label(of)?;
    let is_root = walk.subject == Subject::Entities && label == state.rules.root;
    Some(if is_root { ANY } else { label })
}

/// The partitions with the entries of a property: at the level of the type if the type has the
/// property, otherwise at the levels of its topmost subtypes that have it.
fn property_levels(state: &TypesInGraph, walk: &Walk<'_>, name: &str) -> Option<Vec<Vec<u8>>> {
    let number = state.rules.number_of(name)?;
    let first = |level: u32| level_first(level, Some(number));
    if walk.of.is_some_and(|of| has_single(state, of, name)) {
        return Some(vec![first(level(state, walk)?)]);
    }
    let mut levels = Vec::new();
    let mut open: Vec<TypeIndex> = match walk.of {
        Some(of) => vec![of],
        None => state.roots(walk.subject).to_vec(),
    };
    while let Some(of) = open.pop() {
        if has_single(state, of, name) {
            let one = Walk {
                of: Some(of),
                ..walk.clone()
            };
            levels.push(first(level(state, &one)?));
        } else {
            open.extend_from_slice(state.types.get(of).direct_subtypes());
        }
    }
    (levels.len() <= PROPERTY_TYPES_MAX).then_some(levels)
}

/// Whether instances of a type have entries by this property.
fn has_single(state: &TypesInGraph, of: TypeIndex, name: &str) -> bool {
    let property = state.types.get(of).property(name);
    property
        .and_then(|property| property.attribute.type_def())
        .is_some_and(|def| is_single(def))
}

/// The partitions with the entries of texts: those of the type and its subtypes if these are few,
/// otherwise that of all types.
fn text_levels(state: &TypesInGraph, walk: &Walk<'_>) -> Vec<Vec<u8>> {
    let all = || vec![level_first(ANY, None)];
    let Some(of) = walk.of else { return all() };
    let types = state.types.with_subtypes(of);
    if types.len() > TEXT_TYPES_MAX {
        return all();
    }
    let labels = types.iter().filter_map(|of| state.label(*of));
    labels.map(|label| level_first(label, None)).collect()
}

/// The index and the partitions that list all instances of a type, or all entities with a
/// classification; `None` if they are not listed.
pub(super) fn listing_of(state: &TypesInGraph, of: TypeIndex) -> Option<(u32, Vec<Vec<u8>>)> {
    let names = [state.types.get(of).name().to_owned()];
    let (subject, of, by) = match state.types.get(of).def().category() {
        TypeDefCategory::Classification => {
            let by = WalkBy::Classified(&names, Listing::Guid);
            (Subject::Entities, None, by)
        }
        TypeDefCategory::Relationship => (Subject::Relationships, Some(of), WalkBy::Guid),
        _ => (Subject::Entities, Some(of), WalkBy::Guid),
    };
    let walk = Walk {
        subject,
        of,
        by,
        reverse: false,
        after: None,
    };
    whole(state, &walk).map(|part| (part.index, part.firsts))
}

/// A key after the entries of all elements with the values of the entry at `place`.
pub(super) fn behind_values(place: &[u8]) -> Option<Vec<u8>> {
    let values = &place[..values_len(place)];
    // Elements' keys begin with less than 4, and what follows a 3 is text, which has no byte 0xFF.
    (!values.is_empty()).then(|| [values, &[3, 0xFF]].concat())
}

/// The clustering keys of entries whose only value is this one.
fn equal_to(value: &[u8]) -> ClusteringRange {
    ClusteringRange {
        from: value.to_vec(),
        // Elements' keys begin with less than 4, further values do not.
        to: Some([value, &[4]].concat()),
    }
}

fn starting_with(prefix: &str) -> ClusteringRange {
    let mut start = Vec::new();
    put_text_prefix(prefix, &mut start);
    ClusteringRange::prefix(&start)
}

/// The ordered bytes of a primitive; `None` for an object, which may be any JSON.
fn ordered_primitive(value: &Primitive) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match value {
        Primitive::Boolean(flag) => put_ordered(Some(&Value::Boolean(*flag)), &mut out),
        Primitive::Byte(number) => put_ordered_whole(i64::from(*number), &mut out),
        Primitive::Short(number) => put_ordered_whole(i64::from(*number), &mut out),
        Primitive::Int(number) => put_ordered_whole(i64::from(*number), &mut out),
        Primitive::Long(number) => put_ordered_whole(*number, &mut out),
        Primitive::Date(time) => put_ordered_whole(time.0, &mut out),
        Primitive::Float(number) => put_ordered_real(f64::from(*number), &mut out),
        Primitive::Double(number) => put_ordered_real(*number, &mut out),
        Primitive::Char(character) => {
            put_ordered_text(character.encode_utf8(&mut [0; 4]), &mut out);
        }
        Primitive::String(text) => put_ordered_text(text, &mut out),
        Primitive::BigInteger(number) => put_decimal(number.text(), &mut out),
        Primitive::BigDecimal(number) => put_decimal(number.text(), &mut out),
        Primitive::Object(_) => return None,
    }
    Some(out)
}

/// The ordered bytes of a property's value.
fn ordered_value(value: Option<&InstancePropertyValue>) -> Vec<u8> {
    let known = match value {
        Some(InstancePropertyValue::Primitive(value)) => {
            value.value.as_ref().and_then(ordered_primitive)
        }
        Some(InstancePropertyValue::Enum(value)) => {
            let mut out = Vec::new();
            match &value.symbolic_name {
                Some(name) => put_ordered_text(name, &mut out),
                None => put_ordered_whole(i64::from(value.ordinal), &mut out),
            }
            Some(out)
        }
        _ => None,
    };
    known.unwrap_or_else(|| {
        let mut missing = Vec::new();
        put_ordered(None::<&Value>, &mut missing);
        missing
    })
}

/// Whether the instance of an entry satisfies the walk and still has that entry. It must be
/// checked: the instance may have changed, and an entry keeps only the start of a long text, and a
/// number without its scale.
pub(super) fn is_described(
    state: &TypesInGraph,
    walk: &Walk<'_>,
    row: &Row<'_>,
    clustering: &[u8],
) -> bool {
    let own = row.of();
    if let Some(of) = walk.of
        && !own.is_some_and(|own| state.types.is_a(own, of))
    {
        return false;
    }
    let values = &clustering[..values_len(clustering)];
    let is_time = |time: Option<Millis>| {
        let mut out = Vec::with_capacity(16);
        put_time(time.map(|time| time.0), &mut out);
        out == values
    };
    let is_listed = |listing: Listing| match listing {
        Listing::Guid => true,
        Listing::CreateTime => is_time(row.create_time()),
        Listing::UpdateTime => is_time(row.update_time()),
    };
    let stands_here = |name: &str, is_it: &dyn Fn(Option<&InstancePropertyValue>) -> bool| {
        own.is_some_and(|own| has_single(state, own, name)) && {
            let value = row.property(name);
            ordered_value(value.as_deref()) == values && is_it(value.as_deref())
        }
    };
    let is_deleted = row.head().status() == Some(InstanceStatus::Deleted);
    match &walk.by {
        WalkBy::Guid => true,
        WalkBy::Live(listing) => !is_deleted && is_listed(*listing),
        WalkBy::CreateTime => is_time(row.create_time()),
        WalkBy::UpdateTime => is_time(row.update_time()),
        WalkBy::Property(name) => stands_here(name, &|_| true),
        WalkBy::PropertyIs(name, wanted) => stands_here(name, &|value| is_value(value, wanted)),
        WalkBy::PropertyStarts(name, prefix) => stands_here(name, &|value| {
            text_of(value).is_some_and(|text| text.starts_with(prefix))
        }),
        WalkBy::Text(wanted) => any_text(row.properties(), &|text| text == *wanted),
        WalkBy::TextStarts(prefix) => any_text(row.properties(), &|text| {
            let mut out = Vec::with_capacity(text.len() + 2);
            text.starts_with(prefix) && {
                put_ordered_text(text, &mut out);
                out == values
            }
        }),
        WalkBy::Classified(names, listing) => {
            let mut names = names.iter();
            is_listed(*listing) && names.any(|name| row.any_classification(name, &mut |_| true))
        }
        WalkBy::ClassifiedWith(name, property, wanted) => row.any_classification(name, &mut |of| {
            let properties = of.properties.as_ref();
            let value = properties.and_then(|properties| properties.get(property));
            ordered_value(value) == values && is_value(value, wanted)
        }),
        WalkBy::Home(home) => row.head().home() == Some(home),
        WalkBy::Deleted(listing) => is_deleted && is_listed(*listing),
    }
}

fn is_value(value: Option<&InstancePropertyValue>, wanted: &Primitive) -> bool {
    match (value, wanted) {
        (Some(InstancePropertyValue::Primitive(found)), wanted) => {
            found.value.as_ref() == Some(wanted)
        }
        (Some(InstancePropertyValue::Enum(found)), Primitive::String(name)) => {
            found.symbolic_name.as_ref() == Some(name)
        }
        _ => false,
    }
}

/// The text of a string value, or the symbolic name of an enum value.
fn text_of(value: Option<&InstancePropertyValue>) -> Option<&str> {
    match value? {
        InstancePropertyValue::Primitive(value) => match value.value.as_ref()? {
            Primitive::String(text) => Some(text),
            _ => None,
        },
        InstancePropertyValue::Enum(value) => value.symbolic_name.as_deref(),
        _ => None,
    }
}

fn any_text(properties: Option<&InstanceProperties>, is: &dyn Fn(&str) -> bool) -> bool {
    let values = properties.into_iter().flat_map(|of| of.values.values());
    values.into_iter().any(|value| match value {
        InstancePropertyValue::Primitive(value) => {
            matches!(&value.value, Some(Primitive::String(text)) if is(text))
        }
        InstancePropertyValue::Enum(value) => value.symbolic_name.as_deref().is_some_and(is),
        InstancePropertyValue::Struct(value) => any_text(value.attributes.as_ref(), is),
        InstancePropertyValue::Map(value) => any_text(value.values.as_ref(), is),
        InstancePropertyValue::Array(value) => any_text(value.values.as_ref(), is),
    })
}
