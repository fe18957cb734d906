//! The formats of the dates of a column.

use std::collections::BTreeMap;
use std::str::FromStr as _;
use std::sync::LazyLock;

use serde_json::Value as Json;
use varve_files::{DateFormat, millis_of};

/// The formats that are tried. Of two that read the same text, the earlier one is meant.
const NAMES: [&str; 19] = [
    "auto",
    "day_month_year",
    "dd.MM.yyyy",
    "month_day_year",
    "yyyy/MM/dd",
    "dd.MM.yyyy HH:mm",
    "dd.MM.yyyy HH:mm:ss",
    "dd/MM/yyyy HH:mm",
    "dd/MM/yyyy HH:mm:ss",
    "MM/dd/yyyy HH:mm",
    "MM/dd/yyyy HH:mm:ss",
    "yyyy/MM/dd HH:mm",
    "yyyy/MM/dd HH:mm:ss",
    "dd MMM yyyy",
    "dd-MMM-yyyy",
    "MMM dd, yyyy",
    "dd MMMM yyyy",
    "MMMM dd, yyyy",
    "dd. MMMM yyyy",
];
/// The first format with a time; the first with the name of a month is [`NAMED`].
const TIMED: usize = 5;
const NAMED: usize = 13;
/// Formats that differ in which of two numbers is the day: day first, month first.
const PAIRS: [(usize, usize); 3] = [(1, 3), (7, 9), (8, 10)];
/// With points between the numbers, the day goes first. That says nothing about other dates.
const DOTTED: usize = 2;
/// Values without a date after which a column without dates is looked at no more.
const VALUES_MAX: usize = 200;
const LENGTH: std::ops::RangeInclusive<usize> = 8..=40;

static FORMATS: LazyLock<Vec<[DateFormat; 1]>> = LazyLock::new(|| {
    let formats = NAMES.iter().map(|name| DateFormat::from_str(name));
    formats.flatten().map(|format| [format]).collect()
});

/// A value with the line that it is on.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) line: u64,
    pub(super) value: String,
}

/// The formats that the values of a column have.
#[derive(Debug, Default)]
pub(super) struct Dates {
    /// By the set of formats that read a value: the number of such values, and the first.
    sets: BTreeMap<u32, (u64, Seen)>,
    misses: usize,
    /// Whether the month goes first if the values do not tell.
    pub(super) prefers_month: bool,
    /// The earliest of all, in milliseconds since 1970.
    pub(super) earliest: Option<i64>,
}

/// The formats of a column, in the order in which they are to be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    pub(super) formats: Vec<&'static str>,
    pub(super) first: First,
}

/// Which of the numbers of a date without a month's name goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    Day,
    Month,
    /// All values can be read with the day first and with the month first.
    Unknown,
    /// There is no such date.
    None,
}

impl Dates {
    /// Takes a value; returns whether it is a date.
    pub(super) fn add(&mut self, line: u64, text: &str) -> bool {
        if self.sets.is_empty() && self.misses > VALUES_MAX {
            return false;
        }
        let set = formats_of(text);
        if set == 0 {
            self.misses += 1;
            return false;
        }
        let seen = self.sets.entry(set).or_insert_with(|| {
            let value = text.to_owned();
            (0, Seen { line, value })
        });
        seen.0 += 1;
        let value = Json::from(text);
        let first = set.trailing_zeros() as usize;
        let millis = FORMATS
            .get(first)
            .and_then(|format| millis_of(&value, format).ok());
        self.earliest = match (self.earliest, millis) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        true
    }

    /// The fewest formats that read all values.
    ///
    /// # Errors
    /// When some values have the day first, and others the month.
    pub(super) fn chosen(&self) -> Result<Chosen, String> {
        let has = |set: u32, format: usize| set & (1 << format) != 0;
        let (first, is_month) = match self.first()? {
            First::Unknown => (First::Unknown, self.prefers_month),
            first => (first, first == First::Month),
        };
        let pairs = PAIRS.map(|(day, month)| if is_month { day } else { month });
        let refused = pairs.into_iter().fold(0, |set, format| set | 1 << format);
        let mut left: Vec<(u32, u64)> = self
            .sets
            .iter()
            .map(|(set, (count, _))| (set & !refused, *count))
            .collect();
        let mut formats = Vec::new();
        while !left.is_empty() {
            let read = |format: usize| {
                let fitting = left.iter().filter(|(set, _)| has(*set, format));
                fitting.map(|(_, count)| count).sum::<u64>()
            };
            let best = (0..NAMES.len()).rev().max_by_key(|format| read(*format));
            let best = best.unwrap_or_default();
            if read(best) == 0 {
                return Err("no format reads all dates".to_owned());
            }
            formats.push(best);
            left.retain(|(set, _)| !has(*set, best));
        }
        // `month_day_year` reads points, too.
        formats.sort_unstable();
        let formats = formats.into_iter().map(|format| NAMES[format]).collect();
        Ok(Chosen { formats, first })
    }

    /// Which of day and month goes first.
    fn first(&self) -> Result<First, String> {
        let of_pairs = |wanted: fn(bool, bool) -> bool| {
            let mut sets = self.sets.iter();
            let found = sets.find(|(set, _)| {
                let has = |format: usize| **set & (1 << format) != 0;
                let mut pairs = PAIRS.iter();
                !has(DOTTED) && pairs.any(|(day, month)| wanted(has(*day), has(*month)))
            });
            found.map(|(_, (_, seen))| seen)
        };
        let days = of_pairs(|day, month| day && !month);
        let months = of_pairs(|day, month| month && !day);
        match (days, months) {
            (Some(day), Some(month)) => Err(format!(
                "line {} has the day first ('{}'), line {} the month ('{}')",
                day.line, day.value, month.line, month.value
            )),
            (Some(_), None) => Ok(First::Day),
            (None, Some(_)) => Ok(First::Month),
            (None, None) => Ok(match of_pairs(|day, month| day && month) {
                Some(_) => First::Unknown,
                None => First::None,
            }),
        }
    }
}

/// The set of formats that read a text.
fn formats_of(text: &str) -> u32 {
    let text = text.trim();
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    if !LENGTH.contains(&text.len()) || !has_digit {
        return 0;
    }
    let has_name = text.chars().filter(|it| it.is_alphabetic()).count() >= 3;
    let range = match (has_name, text.contains(':')) {
        (true, _) => NAMED..NAMES.len(),
        (false, true) => TIMED..NAMED,
        (false, false) => 1..TIMED,
    };
    // Digits alone may be a number as well as a date.
    let auto = text.contains('-').then_some(0);
    let value = Json::from(text);
    let reads = |format: &usize| {
        let is_odd = *format == PAIRS[0].1 && text.contains('.');
        let format = FORMATS.get(*format);
        !is_odd && format.is_some_and(|format| millis_of(&value, format).is_ok())
    };
    let fitting = auto.into_iter().chain(range).filter(reads);
    fitting.fold(0, |set, format| set | 1 << format)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(values: &[&str]) -> Result<Chosen, String> {
        let mut dates = Dates::default();
        for (line, value) in (2..).zip(values) {
            assert!(dates.add(line, value), "{value}");
        }
        dates.chosen()
    }

    #[test]
    fn the_values_decide_the_formats() {
        for (values, formats) in [
            (&["2020-01-02"][..], &["auto"][..]),
            (&["2010-02-14T15:32:10.447+00:00"], &["auto"]),
            (&["13/02/2020", "1/2/2020"], &["day_month_year"]),
            (&["02/13/2020", "1/2/2020"], &["month_day_year"]),
            (&["2020-01-02", "2.1.2020"], &["auto", "day_month_year"]),
            (&["2020/1/2"], &["yyyy/MM/dd"]),
            (&["2.1.2020 10:00"], &["dd.MM.yyyy HH:mm"]),
            (&["1/31/2020 10:00:01"], &["MM/dd/yyyy HH:mm:ss"]),
            (&["13.02.2020", "03.02.2020"], &["day_month_year"]),
            (
                &["02/13/2020", "03.02.2020"],
                &["dd.MM.yyyy", "month_day_year"],
            ),
            (&["2 Jan 2020"], &["dd MMM yyyy"]),
            (&["January 2, 2020"], &["MMMM dd, yyyy"]),
        ] {
            let chosen = chosen(values).expect("formats");
            assert_eq!(chosen.formats, formats, "{values:?}");
            assert_ne!(chosen.first, First::Unknown, "{values:?}");
        }
        let first = |values: &[&str]| chosen(values).expect("formats").first;
        assert_eq!(first(&["1/2/2020"]), First::Unknown);
        assert_eq!(first(&["1/2/2020", "13.02.2020"]), First::Unknown);
        assert_eq!(first(&["02.01.2020"]), First::None);
        let refused = chosen(&["13/02/2020", "02/13/2020"]).unwrap_err();
        assert!(
            refused.contains("line 3 the month ('02/13/2020')"),
            "{refused}"
        );
    }

    #[test]
    fn texts_and_numbers_are_no_dates() {
        for text in [
            "",
            "20200102",
            "2020",
            "soon",
            "12-34",
            "1.5",
            "31/02/2020",
            "Jan 2020",
        ] {
            assert!(!Dates::default().add(1, text), "{text}");
        }
    }
}
