//! The indexes of instances: their numbers, the first values that name their partitions, and the
//! ordered bytes of their values.

use varve_encoding::index::{put_ordered, put_ordered_blob, put_ordered_whole};
use varve_encoding::key::put_schema_id;
use varve_model::Value;

use crate::store::Subject;

/// The indexes, each described as (partition) -> value. The discriminant is the number of the index
/// of entities; the number for relationships is 16 higher. A *level* is the label id of a type, or
/// 0 for all types; an instance has entries at the levels of its type and of all supertypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexKind {
    /// (level) -> nothing: all instances, in the order of their GUIDs. Instances in status DELETED
    /// are in the partition (level, [`DELETED`]) instead, here and in the four indexes of a level
    /// by time.
    Guid = 1,
    /// (level) -> time or missing.
    CreateTime = 2,
    /// (level) -> time or missing.
    UpdateTime = 3,
    /// (level of a type that has it, property) -> value or missing.
    Property = 4,
    /// (all types, or the type itself) -> text.
    Text = 5,
    /// (name) -> nothing.
    Classification = 6,
    /// (id of the metadata collection) -> nothing.
    Home = 7,
    /// (level) -> nothing: those in status DELETED. Not used from form 4 on.
    Deleted = 8,
    /// (GUID) -> nothing: the edges that are, or were, the relationship with this GUID.
    Relationship = 9,
    /// (level) -> create time: instances whose header has a later time than the start of its state
    /// in the store.
    CreatedAhead = 10,
    /// (level) -> update time or missing: the same instances.
    UpdatedAhead = 11,
    /// (level) -> create time or missing: those in status DELETED. In forms 2 and 3 only.
    DeletedCreated = 12,
    /// (level) -> nothing: entities of which only a proxy is known. They are in no other index
    /// except those of classifications.
    Proxy = 13,
    /// (name) -> create time or missing: entities that carry the classification.
    ClassifiedCreated = 33,
    /// (name) -> update time or missing: the same entities.
    ClassifiedUpdated = 34,
    /// (name) -> create time or missing: those of these entities whose header has a later time than
    /// the start of its state in the store.
    ClassifiedCreatedAhead = 35,
    /// (name) -> update time or missing: the same entities.
    ClassifiedUpdatedAhead = 36,
    /// (property, name) -> value: entities that carry the classification with this value of the
    /// property.
    ClassifiedProperty = 37,
}

impl IndexKind {
    /// The number of the index.
    pub(super) const fn number(self, subject: Subject) -> u32 {
        match subject {
            Subject::Entities => self as u32,
            Subject::Relationships => self as u32 + 16,
        }
    }
}

/// The number after the level in the first value of a partition of instances in status DELETED.
pub(super) const DELETED: u32 = 0;

/// The longest name that a first value contains unchanged. A longer name is replaced by its hash.
const NAME_BYTES_MAX: usize = 128;

/// The first value of a partition that is named by a text.
pub(super) fn named_first(name: &str) -> Vec<u8> {
    if name.len() <= NAME_BYTES_MAX {
        return name.as_bytes().to_vec();
    }
    let mut first = vec![0xFF];
    first.extend_from_slice(&xxhash_rust::xxh3::xxh3_128(name.as_bytes()).to_be_bytes());
    first
}

/// The first value of a partition of a level, and of a property of it.
pub(super) fn level_first(level: u32, property: Option<u32>) -> Vec<u8> {
    let mut first = Vec::with_capacity(8);
    put_level_first(level, property, &mut first);
    first
}

pub(super) fn put_level_first(level: u32, property: Option<u32>, out: &mut Vec<u8>) {
    put_schema_id(level, out);
    if let Some(property) = property {
        put_schema_id(property, out);
    }
}

/// The first value of a partition of a property of a classification.
pub(super) fn classified_first(name: &str, property: u32) -> Vec<u8> {
    let mut first = Vec::with_capacity(name.len() + 3);
    put_schema_id(property, &mut first);
    first.extend_from_slice(&named_first(name));
    first
}

/// Appends the ordered bytes of a time or of its absence.
pub(super) fn put_time(time: Option<i64>, out: &mut Vec<u8>) {
    match time {
        Some(time) => put_ordered_whole(time, out),
        None => put_ordered(None::<&Value>, out),
    }
}

/// Appends bytes that sort as the decimal numbers of any size do: sign, exponent, digits; inverted
/// for negative numbers. Numbers that differ only after some sixty digits are not
/// ordered.
pub(super) fn put_decimal(text: &str, out: &mut Vec<u8>) {
    let (negative, number) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.trim_start_matches('+').parse().unwrap_or_default();
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let leading = i64::try_from(digits.len() - significant.len()).unwrap_or_default();
    let significant = significant.trim_end_matches('0');
    let mut key = Vec::with_capacity(significant.len() + 10);
    if significant.is_empty() {
        key.push(0x80);
    } else {
        let point = i64::try_from(whole.len()).unwrap_or_default() - leading + exponent;
        key.push(0xC0);
        key.extend_from_slice(&(point ^ i64::MIN).to_be_bytes());
        key.extend_from_slice(significant.as_bytes());
        key.push(0);
        if negative {
            key.iter_mut().for_each(|byte| *byte = !*byte);
        }
    }
    put_ordered_blob(&key, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_stand_in_their_order() {
        let sorted = [
            "-1e20",
            "-123.45",
            "-123.4",
            "-2",
            "-0.5",
            "-0.05",
            "0",
            "0.0005",
            "0.05",
            "0.5",
            "1",
            "9",
            "10",
            "12.34",
            "12.35",
            "123",
            "1000",
            "1e5",
            "12345678901234567890",
        ];
        let key = |text: &str| {
            let mut out = Vec::new();
            put_decimal(text, &mut out);
            out
        };
        for pair in sorted.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{pair:?}");
        }
        assert_eq!(key("1.0"), key("1.00"));
        assert_eq!(key("1e3"), key("1000"));
        assert_eq!(key("-0.0"), key("0"));
    }
}
