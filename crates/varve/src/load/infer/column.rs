//! The type of a column, inferred from its values.

use std::collections::HashSet;

use serde_json::Value as Json;
use varve_server::parse_instant;

/// The type of a column's values, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ColumnKind {
    Boolean,
    Date,
    Int,
    Long,
    Double,
    Text,
    /// A JSON object, which no property can hold.
    Nested,
}

impl ColumnKind {
    /// The kind of a text. A number or a truth value is recognized only if `numbers` is set, as for
    /// CSV.
    pub(super) fn of_text(text: &str, numbers: bool) -> Self {
        if numbers
            && let Ok(number) = text.parse::<i64>()
            && number.to_string() == text
        {
            return Self::of_integer(number);
        }
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
        if numbers && is_number && text.contains('.') {
            return Self::Double;
        }
        match text {
            "true" | "false" if numbers => Self::Boolean,
            _ if text.contains('-') && parse_instant(text).is_some() => Self::Date,
            _ => Self::Text,
        }
    }

    fn of_integer(number: i64) -> Self {
        match i32::try_from(number) {
            Ok(_) => Self::Int,
            Err(_) => Self::Long,
        }
    }

    /// The narrowest kind that can hold the values of both.
    pub(super) fn with(self, other: Self) -> Self {
        let is_number = |kind| matches!(kind, Self::Int | Self::Long | Self::Double);
        match self == other || (is_number(self) && is_number(other)) {
            true => self.max(other),
            false => self.max(other).max(Self::Text),
        }
    }

    /// The data type of a property key for such values.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::Date => "DATE",
            Self::Int => "INT",
            Self::Long => "LONG",
            Self::Double => "DOUBLE",
            Self::Text | Self::Nested => "TEXT",
        }
    }
}

/// The values and the type of a column in the rows read so far.
#[derive(Debug, Default)]
pub(super) struct Column {
    kind: Option<ColumnKind>,
    /// Whether a value is a list.
    pub(super) is_list: bool,
    /// The distinct values, as texts.
    pub(super) values: HashSet<String>,
    /// The number of values.
    pub(super) count: usize,
}

impl Column {
    /// Takes a value; `of_csv` says that it is a text whatever it means.
    pub(super) fn add(&mut self, value: &Json, of_csv: bool) {
        let kind = match value {
            Json::Null => return,
            Json::Array(members) => {
                self.is_list = true;
                members.iter().for_each(|member| self.add(member, of_csv));
                return;
            }
            Json::Object(_) => ColumnKind::Nested,
            Json::Bool(_) => ColumnKind::Boolean,
            Json::Number(number) => number
                .as_i64()
                .map_or(ColumnKind::Double, ColumnKind::of_integer),
            Json::String(text) => ColumnKind::of_text(text, of_csv),
        };
        self.kind = Some(self.kind.map_or(kind, |known| known.with(kind)));
        self.count += 1;
        self.values.insert(text_of(value));
    }

    /// The narrowest kind of all values.
    pub(super) fn kind(&self) -> ColumnKind {
        self.kind.unwrap_or(ColumnKind::Text)
    }
}

fn text_of(value: &Json) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_guessed_from_texts() {
        for (text, kind) in [
            ("5", ColumnKind::Int),
            ("-5", ColumnKind::Int),
            ("5000000000", ColumnKind::Long),
            ("007", ColumnKind::Text),
            ("1.5", ColumnKind::Double),
            ("1e5", ColumnKind::Text),
            ("inf", ColumnKind::Text),
            ("true", ColumnKind::Boolean),
            ("2020-05-01", ColumnKind::Date),
            ("20200501", ColumnKind::Int),
            ("a-b", ColumnKind::Text),
        ] {
            assert_eq!(ColumnKind::of_text(text, true), kind, "{text}");
        }
        assert_eq!(
            ColumnKind::of_text("5", false),
            ColumnKind::Text,
            "a text of JSON is one"
        );
    }

    #[test]
    fn a_column_is_as_wide_as_its_values() {
        assert_eq!(ColumnKind::Int.with(ColumnKind::Double), ColumnKind::Double);
        assert_eq!(ColumnKind::Int.with(ColumnKind::Boolean), ColumnKind::Text);
        assert_eq!(ColumnKind::Date.with(ColumnKind::Date), ColumnKind::Date);
        assert_eq!(
            ColumnKind::Date.with(ColumnKind::Nested),
            ColumnKind::Nested
        );
    }
}
