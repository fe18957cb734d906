//! Words of a text, for search indexes and the `textcontains` predicate.
//!
//! Chinese is split by the jieba dictionary in its search mode (a long word also gives the words
//! inside it); other text at the word boundaries of Unicode. All words are lower case. The whole
//! text is a word too, so that an exact phrase can be searched. The same text gives the same words
//! on every machine.
//!
//! The dictionary is loaded once per process, at the first Chinese text.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jieba_rs::Jieba;
use unicode_segmentation::UnicodeSegmentation;

/// The longest word that is indexed, in bytes; longer ones are left out.
pub const WORD_BYTES_MAX: usize = 255;
/// The most distinct words of one text that are indexed, in the order of the text; the rest is left
/// out.
pub const WORDS_PER_TEXT_MAX: usize = 4096;

static CHINESE: LazyLock<Jieba> = LazyLock::new(Jieba::new);

/// The distinct words of `text`, ascending: at most [`WORDS_PER_TEXT_MAX`], none longer than
/// [`WORD_BYTES_MAX`].
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let mut words = BTreeSet::new();
    insert(text, &mut words);
    for run in runs(text) {
        if words.len() >= WORDS_PER_TEXT_MAX {
            break;
        }
        if run.chars().next().is_some_and(is_chinese) {
            let tokens = CHINESE.cut_for_search(run, true);
            tokens
                .iter()
                .for_each(|token| insert(token.word, &mut words));
        } else {
            run.unicode_words()
                .for_each(|word| insert(word, &mut words));
        }
    }
    words.into_iter().collect()
}

/// The words of a search text, ascending. `(a|b)` gives the words `a` and `b` unchanged but for
/// case; any other text gives its [`words`], without the whole text unless it is the only word.
#[must_use]
pub fn asked_words(asked: &str) -> Vec<String> {
    let listed = asked
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    if let Some(listed) = listed {
        let words: BTreeSet<String> = listed
            .split('|')
            .map(str::to_lowercase)
            .filter(|word| !word.is_empty())
            .collect();
        return words.into_iter().collect();
    }
    let mut words = words(asked);
    if words.len() > 1 {
        // A stored text that equals the search text also has its other words.
        let whole = asked.to_lowercase();
        words.retain(|word| *word != whole);
    }
    words
}

/// Whether `text` contains at least one of the words of the search text `asked`.
#[must_use]
pub fn contains_words(text: &str, asked: &str) -> bool {
    let words = words(text);
    asked_words(asked)
        .iter()
        .any(|word| words.binary_search(word).is_ok())
}

fn insert(word: &str, words: &mut BTreeSet<String>) {
    if !word.is_empty() && words.len() < WORDS_PER_TEXT_MAX {
        let word = word.to_lowercase();
        if word.len() <= WORD_BYTES_MAX {
            words.insert(word);
        }
    }
}

/// Splits the text into runs of Chinese and of other characters.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let chinese = is_chinese(rest.chars().next()?);
        let end = rest
            .find(|c| is_chinese(c) != chinese)
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// Chinese characters: the unified ideographs and their extensions, the compatibility ideographs, 々
/// and 〇.
fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3005}' | '\u{3007}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_and_distinct() {
        assert_eq!(
            words("Java, java & C++ 3.5"),
            ["3.5", "c", "java", "java, java & c++ 3.5"]
        );
        assert_eq!(words("java"), ["java"]);
        assert_eq!(
            words("Ünïcode ΣΊΣΥΦΟΣ"),
            ["ünïcode", "ünïcode σίσυφος", "σίσυφος"]
        );
        assert_eq!(words(""), Vec::<String>::new());
        assert_eq!(words("!?"), ["!?"]);
    }

    #[test]
    fn chinese_is_split_by_dictionary_with_inner_words() {
        let found = words("我爱北京天安门");
        for word in ["我", "爱", "北京", "天安", "天安门"] {
            assert!(found.iter().any(|w| w == word), "{word} in {found:?}");
        }
        let mixed = words("Java编程语言2024");
        for word in ["java", "编程", "语言", "2024"] {
            assert!(mixed.iter().any(|w| w == word), "{word} in {mixed:?}");
        }
    }

    #[test]
    fn one_common_word_is_enough() {
        assert!(contains_words("The quick brown fox", "FOX hunts"));
        assert!(!contains_words("The quick brown fox", "foxes"));
        assert!(contains_words("清华大学在北京", "北京"));
        assert!(contains_words("清华大学在北京", "大学"));
        assert!(!contains_words("清华大学在北京", "上海"));
        assert!(!contains_words("", ""));
    }

    #[test]
    fn listed_words_are_taken_as_they_are() {
        assert!(contains_words("quick brown", "(quick brown)"));
        assert!(!contains_words("quick brown fox", "(quick brown)"));
        assert!(contains_words("quick brown fox", "(slow|FOX)"));
        assert!(!contains_words("quick brown fox", "()"));
    }

    #[test]
    fn limits_hold_and_both_sides_agree() {
        let text: String = (0..2 * WORDS_PER_TEXT_MAX)
            .map(|n| format!("w{n} "))
            .collect();
        assert!(words(&text).len() <= WORDS_PER_TEXT_MAX);
        assert!(contains_words(&text, "w1"));
        let long = "x".repeat(WORD_BYTES_MAX + 1);
        assert!(words(&long).is_empty() && words(&format!("{long} y")) == ["y"]);
    }
}
