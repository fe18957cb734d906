//! Java regular expressions that a part of a string must match.

use super::java_regex::{Fault, not_supported, parse};
use super::pattern::{Compiled, TEXT_BYTES_MAX, is_special};
use super::translate::{Within, compile};

/// A Java regular expression that is searched in a string, as by Java's `Matcher.find()`.
#[derive(Debug)]
pub struct Finder(Form);

#[derive(Debug)]
enum Form {
    /// A text without special characters.
    Text(String),
    General(Compiled),
}

impl Finder {
    /// Parses an expression.
    ///
    /// # Errors
    /// As [`crate::Pattern::new`].
    pub fn new(text: &str) -> Result<Self, Fault> {
        if text.len() > TEXT_BYTES_MAX {
            let words = format!("it has more than {TEXT_BYTES_MAX} bytes");
            return Err(not_supported(&words));
        }
        if !text.bytes().any(is_special) {
            return Ok(Self(Form::Text(text.to_owned())));
        }
        let compiled = compile(&parse(text)?, Within::Part)?;
        Ok(Self(Form::General(compiled)))
    }

    /// Whether a part of `text` matches.
    #[must_use]
    pub fn finds(&self, text: &str) -> bool {
        match &self.0 {
            Form::Text(part) => text.contains(part.as_str()),
            Form::General(compiled) => compiled.regex.is_match(text),
        }
    }

    /// About the largest number of steps that the search in `text` takes.
    #[must_use]
    pub fn steps(&self, text: &str) -> u64 {
        match &self.0 {
            Form::Text(_) => text.len() as u64,
            Form::General(compiled) => compiled.steps(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_searched_as_java_does() {
        for (expression, text, found) in [
            ("x", "axb", true),
            ("^a", "ab", true),
            ("^b", "ab", false),
            ("b$", "ab", true),
            ("b$", "ab\n", true),
            ("b$", "ab\r\n", true),
            ("b$", "ab\n\n", false),
            ("a$|c", "ab", false),
            ("(a|b$)", "xb\n", true),
            ("b\\z", "ab\n", false),
            ("\\w", "\u{e9}", false),
            ("\\w", "_", true),
            ("\\d", "\u{663}", false),
            ("\\s", "\u{a0}", false),
            ("\\Qa.b\\E", "xa.by", true),
            ("\\Qa.b\\E", "xaxby", false),
            ("a.b", "a\u{2028}b", false),
            ("(?i)\u{c4}", "\u{e4}", false),
            ("(?iu)\u{c4}", "\u{e4}", true),
            ("(?s)a.b", "a\nb", true),
            ("\\p{Lu}", "k", false),
            ("(?i)\\p{Lu}", "\u{e9}", true),
            ("(?iu)\\P{Lu}", "k", false),
            ("(?i)[^\\p{IsUppercase}]", "k", false),
            ("(?i)\\p{gc=Lt}", "K", true),
            ("(?i)\\p{Nd}", "k", false),
            ("[a-z&&[^b]]", "b", false),
            ("", "", true),
        ] {
            let finder = Finder::new(expression).expect(expression);
            assert_eq!(finder.finds(text), found, "{expression} in {text:?}");
        }
        for expression in ["a(?=b)", "(a)\\1", "a$b", "b$\\b"] {
            let refused = Finder::new(expression).expect_err(expression);
            assert!(matches!(refused, Fault::NotSupported(_)), "{expression}");
        }
        assert!(matches!(Finder::new("a{2"), Err(Fault::Syntax(_))));
    }
}
