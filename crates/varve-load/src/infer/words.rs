//! Words that stand in a column in place of a value: `present` among dates, `unknown` among
//! numbers.

use std::collections::BTreeMap;

use super::column::ColumnKind;

/// Texts that mean "no value" wherever all others are numbers, dates or truth values.
const BLANKS: [&str; 9] = ["", "-", "--", "?", "na", "none", "null", "nil", "n.a."];
/// Words that often do so: then they may be more than the values.
const USUAL: [&str; 28] = [
    "present",
    "current",
    "currently",
    "now",
    "today",
    "ongoing",
    "open",
    "open end",
    "open-ended",
    "to date",
    "till now",
    "until now",
    "unlimited",
    "permanent",
    "unknown",
    "missing",
    "heute",
    "bis heute",
    "aktuell",
    "laufend",
    "offen",
    "unbekannt",
    "unbefristet",
    "k.a.",
    "n.v.",
    "keine",
    "aujourd'hui",
    "actual",
];
/// The most characters of a word.
const CHARS_MAX: usize = 30;
/// The most distinct texts that are kept of a column. With more of them, it has texts.
const KEPT_MAX: usize = 8;
/// The most distinct words that mean "no value", apart from [`BLANKS`] and upper case.
const WORDS_MAX: usize = 3;
/// Values without which an unusual word is a value.
const VALUES_MIN: u64 = 5;

/// The words of a column, each with its number of rows and its first line.
#[derive(Debug, Default)]
pub(super) struct Words(BTreeMap<String, (u64, u64)>);

impl Words {
    /// Takes a text, if it is a word.
    pub(super) fn take(&mut self, line: u64, text: &str) -> bool {
        let is_word = text.chars().count() <= CHARS_MAX && !text.contains(char::is_numeric);
        if is_word {
            self.0.entry(text.to_owned()).or_insert((0, line)).0 += 1;
        }
        is_word
    }

    /// Whether there are more than a column of values has.
    pub(super) fn are_many(&self) -> bool {
        self.0.len() > KEPT_MAX
    }

    /// The words.
    pub(super) fn into_all(self) -> impl Iterator<Item = (String, (u64, u64))> {
        self.0.into_iter()
    }

    /// Whether they mean "no value" in a column with so many values, which are of this kind.
    pub(super) fn are_none(&self, kind: ColumnKind, values: u64) -> bool {
        if matches!(kind, ColumnKind::Text | ColumnKind::Nested) {
            return false;
        }
        let mut words: BTreeMap<String, u64> = BTreeMap::new();
        for (text, (rows, _)) in &self.0 {
            let word = text.trim().to_lowercase();
            if !BLANKS.contains(&word.as_str()) {
                *words.entry(word).or_default() += rows;
            }
        }
        let (usual, other): (Vec<_>, Vec<_>) = words
            .iter()
            .partition(|(word, _)| USUAL.contains(&word.as_str()));
        let rows = |of: &[(&String, &u64)]| of.iter().map(|(_, rows)| **rows).sum::<u64>();
        let is_enough = match kind {
            // A word among numbers that is there once may be one of many ids.
            _ if kind != ColumnKind::Date => {
                rows(&usual) <= values
                    && rows(&other) * 10 <= values
                    && other.iter().all(|(_, rows)| **rows > 1)
            }
            _ => rows(&usual) <= values * 20 && rows(&other) * 2 <= values,
        };
        words.len() <= WORDS_MAX && is_enough && (other.is_empty() || values >= VALUES_MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_values_decide_whether_a_word_is_none() {
        let (date, int, text) = (ColumnKind::Date, ColumnKind::Int, ColumnKind::Text);
        for (words, kind, values, expected) in [
            (&[("present", 30), ("-", 900)][..], date, 2, true),
            (&[("Present", 1), ("present", 1)], date, 1, true),
            (&[("present", 30)], text, 2, false),
            (&[("present", 30)], date, 1, false),
            (&[("fortlaufend", 3)], date, 6, true),
            (&[("fortlaufend", 4)], date, 6, false),
            (&[("never", 1)], date, 4, false),
            (&[("a", 1), ("b", 1), ("c", 1), ("d", 1)], date, 90, false),
            (&[("unknown", 2), ("-", 9)], int, 2, true),
            (&[("unknown", 3)], int, 2, false),
            (&[("varies", 2)], int, 20, true),
            (&[("varies", 1), ("-", 9)], int, 20, false),
        ] {
            let mut all = Words::default();
            for (word, rows) in words {
                (0..*rows).for_each(|row| assert!(all.take(row, word), "{word}"));
            }
            assert_eq!(all.are_none(kind, values), expected, "{words:?} {values}");
        }
        assert!(!Words::default().take(1, "31.02.2021"));
    }
}
