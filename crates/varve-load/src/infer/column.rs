//! What the values of a column have in common.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value as Json;
use xxhash_rust::xxh3::xxh3_64;

use super::dates::{Chosen, Dates, First, Seen};
use super::words::Words;

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Boolean,
    Int,
    Long,
    /// Whole numbers of which a double does not hold each.
    Wide,
    Double,
    Date,
    Text,
    /// A JSON object, which no property can hold.
    Nested,
}

impl ColumnKind {
    /// The data type of a property key for such values.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "BOOLEAN",
            Self::Date => "DATE",
            Self::Int => "INT",
            Self::Long | Self::Wide => "LONG",
            Self::Double => "DOUBLE",
            Self::Text | Self::Nested => "TEXT",
        }
    }

    pub(super) fn is_whole(self) -> bool {
        matches!(self, Self::Int | Self::Long | Self::Wide)
    }

    /// The narrowest kind that holds the values of both; `None` if only a text does.
    pub(super) fn with(self, other: Self) -> Option<Self> {
        match (self, other) {
            _ if self == other => Some(self),
            (Self::Double, Self::Int | Self::Long) | (Self::Int | Self::Long, Self::Double) => {
                Some(Self::Double)
            }
            (Self::Wide, it) | (it, Self::Wide) if it.is_whole() => Some(Self::Wide),
            (Self::Int | Self::Long, Self::Int | Self::Long) => Some(Self::Long),
            _ => None,
        }
    }
}

/// What a text of CSV may be besides a text.
const FORMS: [(Form, &str); 5] = [
    (Form::Boolean, "true or false"),
    (Form::Whole, "whole numbers"),
    (Form::Real, "numbers"),
    (Form::Comma, "numbers with a decimal comma"),
    (Form::Date, "dates"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Boolean,
    Whole,
    Real,
    Comma,
    Date,
}

/// Texts that mean "no value" in many CSV files.
const NULLS: [&str; 6] = ["NULL", "null", "N/A", "n/a", "#N/A", "\\N"];
/// The most characters of a value in a message.
const SHOWN_MAX: usize = 60;
/// Milliseconds since 1970 of 2000 and of 2100.
const MILLIS: std::ops::Range<i64> = 946_684_800_000..4_102_444_800_000;
/// The least number of dates, and the part of all values in percent, from which a column that is
/// named like a valid time is one.
const DATES_MIN: u64 = 5;
const DATES_PERCENT: u64 = 90;
/// The greatest number up to which a double holds each whole number.
const EXACT_MAX: u64 = 1 << 53;

/// The values and the type of a column in the rows read so far.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Whether a value is a list.
    pub(super) is_list: bool,
    /// Hashes of the distinct values; those of lists are not kept.
    pub(super) values: HashSet<u64>,
    /// A hash of the value of each row; 0 without a value.
    pub(super) cells: Vec<u64>,
    /// The number of values; members of lists count each.
    pub(super) count: u64,
    /// The number of values of each form, and the first value that has not this form.
    fits: [u64; FORMS.len()],
    misfits: [Option<Seen>; FORMS.len()],
    pub(super) dates: Dates,
    is_nested: bool,
    /// Whether its cells are of a type that is not read.
    pub(super) is_unread: bool,
    has_fraction: bool,
    has_comma: bool,
    /// Whether a comma is no separator of thousands.
    has_sure_comma: bool,
    /// The first whole number that is no LONG, in JSON.
    too_great: Option<Seen>,
    /// The least and the greatest whole number.
    range: Option<(i64, i64)>,
    /// The words, as long as it is open whether they are values.
    words: Words,
    /// Whether they are.
    has_words: bool,
    /// Texts that mean "no value" in all columns, with the number of each.
    pub(super) nulls: BTreeMap<&'static str, u64>,
    /// Words that do so in this one.
    pub(super) none: BTreeMap<String, u64>,
    /// Whether whole numbers are milliseconds since 1970, as the column's name says.
    is_epoch: bool,
    /// Whether it is named like a valid time: then its values are dates if almost all of them are.
    pub(super) is_time: bool,
}

impl Column {
    /// Takes the value of a row; `of_csv` says that it is a text whatever it means.
    pub(super) fn add(&mut self, row: usize, line: u64, value: &Json, of_csv: bool) {
        self.cells.resize(row, 0);
        match value {
            Json::Null => return,
            Json::Array(members) => {
                self.is_list = true;
                for member in members {
                    self.member(line, member, of_csv);
                }
            }
            Json::String(text) if of_csv && NULLS.contains(&text.as_str()) => {
                let known = NULLS.into_iter().find(|null| null == text);
                *self.nulls.entry(known.unwrap_or_default()).or_default() += 1;
                return;
            }
            Json::String(text) if of_csv && !self.has_words && self.takes_word(line, text) => {
                if self.words.are_many() {
                    self.keep_words();
                }
            }
            value => self.member(line, value, of_csv),
        }
        self.cells.push(hash_of(value));
    }

    fn member(&mut self, line: u64, value: &Json, of_csv: bool) {
        let mut is = [false; FORMS.len()];
        match value {
            Json::Null => return,
            Json::Array(_) | Json::Object(_) => self.is_nested = true,
            Json::Bool(_) => is[Form::Boolean as usize] = true,
            Json::Number(number) => {
                is[Form::Real as usize] = true;
                match number.as_i64() {
                    Some(number) => {
                        is[Form::Whole as usize] = true;
                        self.widen(number);
                    }
                    None if number.is_u64() => {
                        is[Form::Real as usize] = false;
                        let value = number.to_string();
                        self.too_great.get_or_insert(Seen { line, value });
                    }
                    None => self.has_fraction = true,
                }
            }
            Json::String(text) if of_csv => is = self.forms(line, text),
            Json::String(text) => {
                is[Form::Date as usize] = self.dates.add(line, text);
                is[Form::Real as usize] = is_no_number(text);
            }
        }
        for (at, is) in is.into_iter().enumerate() {
            self.fits[at] += u64::from(is);
            if !is && self.misfits[at].is_none() {
                let value = shown(value);
                self.misfits[at] = Some(Seen { line, value });
            }
        }
        self.count += 1;
        match self.is_list {
            true => self.values = HashSet::new(),
            false => _ = self.values.insert(hash_of(value)),
        }
    }

    /// The forms of a text of CSV.
    fn forms(&mut self, line: u64, text: &str) -> [bool; FORMS.len()] {
        let mut is = [false; FORMS.len()];
        let trimmed = text.trim();
        is[Form::Boolean as usize] = is_boolean(trimmed);
        if let Some(number) = whole(trimmed) {
            self.widen(number);
            for form in [Form::Whole, Form::Real, Form::Comma] {
                is[form as usize] = true;
            }
        } else if is_fraction(trimmed, '.') {
            self.has_fraction = true;
            is[Form::Real as usize] = true;
        } else if is_fraction(trimmed, ',') {
            self.has_comma = true;
            self.has_sure_comma |= !is_grouped(trimmed);
            is[Form::Comma as usize] = true;
        } else if is_no_number(trimmed) {
            is[Form::Real as usize] = true;
            is[Form::Comma as usize] = true;
        }
        is[Form::Date as usize] = self.dates.add(line, text);
        is
    }

    fn widen(&mut self, number: i64) {
        let (least, greatest) = self.range.unwrap_or((number, number));
        self.range = Some((least.min(number), greatest.max(number)));
    }

    /// A hash of the value of a row that was just added; 0 without a value.
    pub(super) fn cell(&self, row: usize) -> u64 {
        self.cells.get(row).copied().unwrap_or_default()
    }

    fn takes_word(&mut self, line: u64, text: &str) -> bool {
        let trimmed = text.trim();
        !is_boolean(trimmed) && !is_no_number(trimmed) && self.words.take(line, text)
    }

    /// Takes the words for values.
    fn keep_words(&mut self) {
        self.has_words = true;
        for (text, (rows, line)) in std::mem::take(&mut self.words).into_all() {
            let value = Json::from(text);
            self.count += rows;
            self.values.insert(hash_of(&value));
            for misfit in &mut self.misfits {
                if misfit.as_ref().is_none_or(|seen| seen.line > line) {
                    let value = shown(&value);
                    *misfit = Some(Seen { line, value });
                }
            }
        }
    }

    /// Ends the column after `rows` rows. If almost all values are of one kind, words are none;
    /// `is_instant` says that the column's name is that of an instant.
    pub(super) fn end(&mut self, rows: usize, is_instant: bool) {
        self.cells.resize(rows, 0);
        let values = match self.kind() {
            ColumnKind::Date => self.fits[Form::Date as usize],
            _ => self.count,
        };
        match self.words.are_none(self.kind(), values) {
            true => {
                for (text, (rows, _)) in std::mem::take(&mut self.words).into_all() {
                    let hash = hash_of(&Json::from(text.as_str()));
                    let nulls = self.cells.iter_mut().filter(|cell| **cell == hash);
                    nulls.for_each(|cell| *cell = 0);
                    self.none.insert(text, rows);
                }
            }
            false => self.keep_words(),
        }
        let is_millis = |(least, greatest)| MILLIS.contains(&least) && MILLIS.contains(&greatest);
        self.is_epoch = is_instant && self.has(Form::Whole) && self.range.is_some_and(is_millis);
    }

    /// The texts that mean "no value" in this column, with the number of each.
    pub(super) fn all_nulls(&self) -> BTreeMap<String, u64> {
        let nulls = self.nulls.iter();
        let nulls = nulls.map(|(text, rows)| ((*text).to_owned(), *rows));
        nulls.chain(self.none.clone()).collect()
    }

    /// Whether a value of it is none.
    pub(super) fn is_none(&self, value: &Json) -> bool {
        let text = value.as_str();
        let is_word = |text| self.nulls.contains_key(text) || self.none.contains_key(text);
        value.is_null() || text.is_some_and(is_word)
    }

    fn has(&self, form: Form) -> bool {
        self.fits[form as usize] == self.count
    }

    /// The narrowest kind of all values.
    pub(super) fn kind(&self) -> ColumnKind {
        let is_int = |number: i64| i32::try_from(number).is_ok();
        match self.range {
            _ if self.is_nested || self.is_unread => ColumnKind::Nested,
            _ if self.count == 0 => ColumnKind::Text,
            _ if self.is_epoch => ColumnKind::Date,
            _ if self.has(Form::Boolean) => ColumnKind::Boolean,
            Some((least, greatest)) if self.has(Form::Whole) => {
                match is_int(least) && is_int(greatest) {
                    true => ColumnKind::Int,
                    false if self.is_exact() => ColumnKind::Long,
                    false => ColumnKind::Wide,
                }
            }
            _ if !self.is_exact() && self.is_real() => ColumnKind::Text,
            _ if self.is_real() => ColumnKind::Double,
            _ if self.has(Form::Date) && self.dates.chosen().is_ok() => ColumnKind::Date,
            _ if self.is_time && self.has_dates() => ColumnKind::Date,
            _ => ColumnKind::Text,
        }
    }

    fn is_real(&self) -> bool {
        let has_number = self.has_fraction || self.range.is_some();
        (self.has(Form::Real) && has_number) || self.has_decimal_comma()
    }

    /// Whether a double holds each of its whole numbers.
    fn is_exact(&self) -> bool {
        let exact = |number: i64| number.unsigned_abs() <= EXACT_MAX;
        self.range
            .is_none_or(|(least, greatest)| exact(least) && exact(greatest))
    }

    /// Whether almost all of its values are dates.
    pub(super) fn has_dates(&self) -> bool {
        let dates = self.fits[Form::Date as usize];
        let is_enough = dates >= DATES_MIN && dates * 100 >= self.count * DATES_PERCENT;
        (dates == self.count || is_enough) && dates > 0 && self.dates.chosen().is_ok()
    }

    /// Whether more than half of its values are dates, in whatever format.
    pub(super) fn is_mostly_dates(&self) -> bool {
        self.is_epoch || self.fits[Form::Date as usize] * 2 > self.count
    }

    /// The values of a column of dates that are none: their number, and the first.
    pub(super) fn no_dates(&self) -> Option<(u64, &Seen)> {
        let misfit = self.misfits[Form::Date as usize].as_ref();
        let is_typed = self.kind() == ColumnKind::Date && !self.is_epoch;
        let misfit = misfit.filter(|_| is_typed)?;
        Some((self.count - self.fits[Form::Date as usize], misfit))
    }

    /// Whether a comma in its numbers is a decimal one for sure: `1,250` may be 1250.
    pub(super) fn has_sure_comma(&self) -> bool {
        self.has_sure_comma && self.has_decimal_comma()
    }

    /// Whether its numbers have a decimal comma.
    pub(super) fn has_decimal_comma(&self) -> bool {
        self.has_comma && self.has(Form::Comma)
    }

    /// Whether its numbers have a decimal point.
    pub(super) fn has_decimal_point(&self) -> bool {
        self.has_fraction && self.has(Form::Real)
    }

    /// The formats of its dates.
    pub(super) fn formats(&self) -> Option<Chosen> {
        if self.kind() != ColumnKind::Date {
            return None;
        }
        if self.is_epoch {
            return Some(Chosen {
                formats: vec!["epoch_millis"],
                first: First::None,
            });
        }
        self.dates.chosen().ok()
    }

    /// The earliest of its dates, in milliseconds since 1970.
    pub(super) fn earliest(&self) -> Option<i64> {
        match self.is_epoch {
            true => self.range.map(|(least, _)| least),
            false => self.dates.earliest,
        }
    }

    /// Why it is a text, if most of its values are something narrower.
    pub(super) fn why_text(&self) -> Option<String> {
        if self.kind() != ColumnKind::Text || self.count == 0 {
            return None;
        }
        if let Some(Seen { line, value }) = &self.too_great {
            return Some(format!(
                "a text, because line {line} has '{value}', more than a LONG holds"
            ));
        }
        if let Some((least, greatest)) = self.range.filter(|_| self.is_real()) {
            return Some(format!(
                "a text: a number with a fraction is a DOUBLE, which does not hold all digits of \
                 its whole numbers ({least} to {greatest})"
            ));
        }
        // Of equals, the first.
        let at = (0..FORMS.len()).rev().max_by_key(|at| self.fits[*at])?;
        let (fits, (form, name)) = (self.fits[at], FORMS[at]);
        if fits * 2 <= self.count {
            return None;
        }
        let Some(misfit) = &self.misfits[at] else {
            let conflict = self.dates.chosen().err().filter(|_| form == Form::Date)?;
            return Some(format!("a text: all values are dates, but {conflict}"));
        };
        Some(format!(
            "a text, because line {} has '{}'; {fits} of {} values are {name}",
            misfit.line, misfit.value, self.count
        ))
    }
}

/// The whole number of a text, if it is written in the usual way: `007` is a code.
fn whole(text: &str) -> Option<i64> {
    let number = text.parse::<i64>().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Whether a text is a number with a fraction behind `mark`, or with an exponent, that a double
/// holds: `2.5E5`, `1e-7`. `1e5` may be a code.
fn is_fraction(text: &str, mark: char) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let positive = text.strip_prefix('-').unwrap_or(text);
    let (number, exponent) = match positive.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, Some(exponent)),
        None => (positive, None),
    };
    let (whole, fraction) = match number.split_once(mark) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (number, None),
    };
    let has_zeros = whole.len() > 1 && whole.starts_with('0');
    let is_number = match fraction {
        Some(fraction) => (whole.is_empty() || digits(whole)) && digits(fraction),
        None => digits(whole) && exponent.is_some_and(|text| text.starts_with(['+', '-'])),
    };
    let has_exponent = exponent.is_none_or(|text| {
        let text = text.strip_prefix(['+', '-']).unwrap_or(text);
        digits(text)
            && positive
                .replace(mark, ".")
                .parse()
                .is_ok_and(f64::is_finite)
    });
    is_number && !has_zeros && has_exponent
}

fn is_boolean(text: &str) -> bool {
    text.eq_ignore_ascii_case("true") || text.eq_ignore_ascii_case("false")
}

/// Whether a text is the name of a value of a DOUBLE that is no number.
fn is_no_number(text: &str) -> bool {
    let positive = text.strip_prefix('-').unwrap_or(text);
    ["nan", "inf", "infinity"]
        .iter()
        .any(|name| positive.eq_ignore_ascii_case(name))
}

/// Whether the comma of a number with one may separate thousands.
fn is_grouped(text: &str) -> bool {
    let positive = text.strip_prefix('-').unwrap_or(text);
    positive.split_once(',').is_some_and(|(whole, rest)| {
        rest.len() == 3 && (1..=3).contains(&whole.len()) && whole != "0"
    })
}

/// A hash of a value that is not 0. A number and its text have the same.
pub(super) fn hash_of(value: &Json) -> u64 {
    let hash = match value {
        Json::String(text) => match whole(text.trim()) {
            Some(_) => xxh3_64(text.trim().as_bytes()),
            None => xxh3_64(text.as_bytes()),
        },
        other => xxh3_64(other.to_string().as_bytes()),
    };
    hash.max(1)
}

/// A value in a message.
pub(super) fn shown(value: &Json) -> String {
    let text = match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[&str]) -> Column {
        let mut column = Column::default();
        for (row, value) in values.iter().enumerate() {
            column.add(row, row as u64 + 2, &Json::from(*value), true);
        }
        column.end(values.len(), false);
        column
    }

    #[test]
    fn kinds_are_guessed_from_texts() {
        for (texts, kind) in [
            (&["5", "-5"][..], ColumnKind::Int),
            (&["5", "5000000000"], ColumnKind::Long),
            (&["007"], ColumnKind::Text),
            (&["1.5", "2"], ColumnKind::Double),
            (&["1,5", "2"], ColumnKind::Double),
            (&["1,5", "1.5"], ColumnKind::Text),
            (&["9007199254740992", "1.5"], ColumnKind::Double),
            (&["9007199254740993", "1.5"], ColumnKind::Text),
            (&["-9007199254740993", "1,5"], ColumnKind::Text),
            (&["9007199254740993"], ColumnKind::Wide),
            (&["9223372036854775808"], ColumnKind::Text),
            (&["1e5"], ColumnKind::Text),
            (&["1.0e5", "-2.5E-5", "1e-7"], ColumnKind::Double),
            (&["1,5e3", "2"], ColumnKind::Double),
            (&["1e+400", "1"], ColumnKind::Text),
            (&["1.5e", "1"], ColumnKind::Text),
            (&["inf"], ColumnKind::Text),
            (&["1.5", "nan", "-Infinity"], ColumnKind::Double),
            (&["1,5", "nan"], ColumnKind::Double),
            (&["1", "nano"], ColumnKind::Text),
            (&["true", "FALSE"], ColumnKind::Boolean),
            (&["2020-05-01"], ColumnKind::Date),
            (&["2020-05-01", "3.5.2020"], ColumnKind::Date),
            (&["13/05/2020", "05/13/2020"], ColumnKind::Text),
            (&["20200501"], ColumnKind::Int),
            (&["a-b"], ColumnKind::Text),
            (&["5", "NULL", "-"], ColumnKind::Int),
            (&["a", "-"], ColumnKind::Text),
        ] {
            assert_eq!(column(texts).kind(), kind, "{texts:?}");
        }
        let mut typed = Column::default();
        typed.add(0, 1, &Json::from("5"), false);
        assert_eq!(typed.kind(), ColumnKind::Text, "a text of JSON is one");
        let mut reals = Column::default();
        reals.add(0, 1, &Json::from("NaN"), false);
        assert_eq!(reals.kind(), ColumnKind::Text, "a word alone");
        reals.add(1, 2, &Json::from(1.5), false);
        assert_eq!(reals.kind(), ColumnKind::Double);
    }

    #[test]
    fn whole_numbers_of_json_keep_their_digits() {
        let mut column = Column::default();
        for (row, value) in [Json::from(u64::MAX), Json::from(1), Json::from(1.5)]
            .iter()
            .enumerate()
        {
            column.add(row, row as u64 + 1, value, false);
        }
        assert_eq!(column.kind(), ColumnKind::Text);
        let why = column.why_text().expect("a reason");
        assert!(why.contains("line 1 has '18446744073709551615'"), "{why}");
        let why = self::column(&["9007199254740993", "1.5"]).why_text();
        assert!(why.is_some_and(|why| why.contains("a DOUBLE")));
        assert_eq!(ColumnKind::Wide.with(ColumnKind::Double), None);
        assert_eq!(
            ColumnKind::Int.with(ColumnKind::Wide),
            Some(ColumnKind::Wide)
        );
    }

    #[test]
    fn a_comma_before_three_digits_may_separate_thousands() {
        for (texts, is_sure) in [
            (&["1,250", "3,400"][..], false),
            (&["1,250", "12"], false),
            (&["-999,000"], false),
            (&["1,250", "3,4"], true),
            (&["0,125"], true),
            (&[",125"], true),
            (&["1250,125"], true),
        ] {
            assert_eq!(column(texts).has_sure_comma(), is_sure, "{texts:?}");
        }
    }

    #[test]
    fn a_text_names_the_row_that_made_it_one() {
        let why = column(&["1", "2", "x3", "4"]).why_text().expect("a reason");
        assert_eq!(
            why,
            "a text, because line 4 has 'x3'; 3 of 4 values are whole numbers"
        );
        let why = column(&["13/05/2020", "05/13/2020"]).why_text();
        assert!(why.is_some_and(|why| why.contains("line 3 the month")));
        assert_eq!(column(&["ann", "bob", "3"]).why_text(), None);
    }

    #[test]
    fn texts_for_no_value_depend_on_the_others() {
        let numbers = column(&["5", "NA", "NULL"]);
        let nulls: Vec<_> = numbers.nulls.keys().copied().collect();
        let none: Vec<_> = numbers.none.keys().map(String::as_str).collect();
        assert_eq!((nulls, none, numbers.count), (vec!["NULL"], vec!["NA"], 1));
        assert_eq!(numbers.cells[1..], [0, 0]);
        // Namibia.
        let countries = column(&["DE", "NA"]);
        assert_eq!((countries.none.len(), countries.count), (0, 2));
        // More words than are kept are values, too.
        let many = [
            "a",
            "b",
            "c",
            "d",
            "e",
            "f",
            "g",
            "h",
            "i",
            "j",
            "2020-01-01",
        ];
        let many = column(&many);
        assert_eq!((many.count, many.values.len()), (11, 11));
        assert_eq!(many.kind(), ColumnKind::Text);
    }
}
