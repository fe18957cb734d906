//! Values of results, as the TCK writes them: literals of Cypher, nodes, relationships and paths.
//!
//! Temporal values are written as texts, so a runner turns its own into texts, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true`
    Boolean(bool),
    /// `1`
    Integer(i64),
    /// `1.0`
    Float(f64),
    /// `'a'`
    Text(String),
    /// `[1, 2]`
    List(Vec<Literal>),
    /// `{a: 1}`
    Map(BTreeMap<String, Literal>),
    /// `(:A:B {x: 1})`
    Node(Node),
    /// `[:T {x: 1}]`
    Relationship(Relationship),
    /// `<(:A)-[:T]->(:B)>`
    Path {
        /// The nodes, one more than steps.
        nodes: Vec<Node>,
        /// The relationships, each with whether it is walked from its start to its end.
        steps: Vec<(Relationship, bool)>,
    },
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// Its labels.
    pub labels: BTreeSet<String>,
    /// Its properties.
    pub properties: BTreeMap<String, Literal>,
}

/// A relationship.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Relationship {
    /// Its type.
    pub kind: String,
    /// Its properties.
    pub properties: BTreeMap<String, Literal>,
}

impl Literal {
    /// Reads a value.
    ///
    /// # Errors
    /// What was expected, and where.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value()?;
        reader.skip();
        match reader.rest().is_empty() {
            true => Ok(value),
            false => Err(reader.wrong("the end")),
        }
    }

    /// The value with all its lists sorted.
    #[must_use]
    pub fn with_sorted_lists(self) -> Self {
        match self {
            Self::List(items) => {
                let sorted = items.into_iter().map(Self::with_sorted_lists);
                let mut keyed: Vec<_> = sorted.map(|item| (item.to_string(), item)).collect();
                keyed.sort_by(|a, b| a.0.cmp(&b.0));
                Self::List(keyed.into_iter().map(|(_, item)| item).collect())
            }
            Self::Map(entries) => {
                let sorted = entries
                    .into_iter()
                    .map(|(key, value)| (key, value.with_sorted_lists()));
                Self::Map(sorted.collect())
            }
            other => other,
        }
    }
}

/// Prints the value in one form: two values are equal if their texts are.
impl fmt::Display for Literal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => out.write_str("null"),
            Self::Boolean(value) => write!(out, "{value}"),
            Self::Integer(value) => write!(out, "{value}"),
            Self::Float(value) if *value == 0.0 => out.write_str("0.0"),
            Self::Float(value) => write!(out, "{value:?}"),
            Self::Text(value) => write!(out, "{value:?}"),
            Self::List(items) => {
                out.write_char('[')?;
                for (at, item) in items.iter().enumerate() {
                    out.write_str(if at > 0 { ", " } else { "" })?;
                    write!(out, "{item}")?;
                }
                out.write_char(']')
            }
            Self::Map(entries) => put_map(entries, out),
            Self::Node(node) => write!(out, "{node}"),
            Self::Relationship(relationship) => write!(out, "{relationship}"),
            Self::Path { nodes, steps } => {
                out.write_char('<')?;
                for (at, node) in nodes.iter().enumerate() {
                    if let Some((relationship, forward)) =
                        at.checked_sub(1).and_then(|at| steps.get(at))
                    {
                        let (before, after) = match forward {
                            true => ("-", "->"),
                            false => ("<-", "-"),
                        };
                        write!(out, "{before}{relationship}{after}")?;
                    }
                    write!(out, "{node}")?;
                }
                out.write_char('>')
            }
        }
    }
}

fn put_map(entries: &BTreeMap<String, Literal>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    out.write_char('{')?;
    for (at, (key, value)) in entries.iter().enumerate() {
        out.write_str(if at > 0 { ", " } else { "" })?;
        write!(out, "{key}: {value}")?;
    }
    out.write_char('}')
}

impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_char('(')?;
        for label in &self.labels {
            write!(out, ":{label}")?;
        }
        if !self.properties.is_empty() {
            out.write_str(if self.labels.is_empty() { "" } else { " " })?;
            put_map(&self.properties, out)?;
        }
        out.write_char(')')
    }
}

impl fmt::Display for Relationship {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "[:{}", self.kind)?;
        if !self.properties.is_empty() {
            out.write_char(' ')?;
            put_map(&self.properties, out)?;
        }
        out.write_char(']')
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn wrong(&self, expected: &str) -> String {
        format!("expected {expected} at {} of {}", self.at, self.text)
    }

    fn skip(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes a text after spaces, if it follows.
    fn take(&mut self, text: &str) -> bool {
        self.skip();
        let follows = self.rest().starts_with(text);
        self.at += if follows { text.len() } else { 0 };
        follows
    }

    fn expect(&mut self, text: &str) -> Result<(), String> {
        match self.take(text) {
            true => Ok(()),
            false => Err(self.wrong(text)),
        }
    }

    fn value(&mut self) -> Result<Literal, String> {
        self.skip();
        let rest = self.rest();
        match rest.as_bytes().first() {
            Some(b'\'') => self.text().map(Literal::Text),
            Some(b'{') => self.map().map(Literal::Map),
            Some(b'(') => self.node().map(Literal::Node),
            Some(b'<') => self.path(),
            Some(b'[') if rest[1..].trim_start().starts_with(':') => {
                self.relationship().map(Literal::Relationship)
            }
            Some(b'[') => self.list(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Result<Literal, String> {
        let is_end = |character: char| ",]})> \n".contains(character);
        let rest = self.rest();
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let value = match word {
            "null" => Some(Literal::Null),
            "true" => Some(Literal::Boolean(true)),
            "false" => Some(Literal::Boolean(false)),
            "NaN" => Some(Literal::Float(f64::NAN)),
            "Inf" | "Infinity" => Some(Literal::Float(f64::INFINITY)),
            "-Inf" | "-Infinity" => Some(Literal::Float(f64::NEG_INFINITY)),
            _ => match word.parse() {
                Ok(integer) => Some(Literal::Integer(integer)),
                Err(_) if word.contains(['.', 'e', 'E']) => word.parse().ok().map(Literal::Float),
                Err(_) => None,
            },
        };
        let value = value.ok_or_else(|| self.wrong("a value"))?;
        self.at += word.len();
        Ok(value)
    }

    /// A text in quotes; a backslash escapes the quote and itself.
    fn text(&mut self) -> Result<String, String> {
        self.expect("'")?;
        let mut text = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\'' => {
                    self.at += at + 1;
                    return Ok(text);
                }
                '\\' => match characters.next() {
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, other @ ('\'' | '\\'))) => text.push(other),
                    Some((_, other)) => text.extend(['\\', other]),
                    None => break,
                },
                other => text.push(other),
            }
        }
        Err(self.wrong("'"))
    }

    fn list(&mut self) -> Result<Literal, String> {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.take("]") {
            return Ok(Literal::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.take("]") {
                return Ok(Literal::List(items));
            }
            self.expect(",")?;
        }
    }

    fn map(&mut self) -> Result<BTreeMap<String, Literal>, String> {
        self.expect("{")?;
        let mut entries = BTreeMap::new();
        if self.take("}") {
            return Ok(entries);
        }
        loop {
            let key = self.name()?;
            self.expect(":")?;
            entries.insert(key, self.value()?);
            if self.take("}") {
                return Ok(entries);
            }
            self.expect(",")?;
        }
    }

    fn name(&mut self) -> Result<String, String> {
        self.skip();
        let rest = self.rest();
        if let Some(quoted) = rest.strip_prefix('`') {
            let end = quoted.find('`').ok_or_else(|| self.wrong("`"))?;
            self.at += end + 2;
            return Ok(quoted[..end].to_owned());
        }
        let is_end = |character: char| !(character.is_alphanumeric() || character == '_');
        let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        self.at += name.len();
        match name.is_empty() {
            true => Err(self.wrong("a name")),
            false => Ok(name.to_owned()),
        }
    }

    fn properties(&mut self) -> Result<BTreeMap<String, Literal>, String> {
        self.skip();
        match self.rest().starts_with('{') {
            true => self.map(),
            false => Ok(BTreeMap::new()),
        }
    }

    fn node(&mut self) -> Result<Node, String> {
        self.expect("(")?;
        let mut labels = BTreeSet::new();
        while self.take(":") {
            labels.insert(self.name()?);
        }
        let properties = self.properties()?;
        self.expect(")")?;
        Ok(Node { labels, properties })
    }

    fn relationship(&mut self) -> Result<Relationship, String> {
        self.expect("[")?;
        self.expect(":")?;
        let kind = self.name()?;
        let properties = self.properties()?;
        self.expect("]")?;
        Ok(Relationship { kind, properties })
    }

    fn path(&mut self) -> Result<Literal, String> {
        self.expect("<")?;
        let mut nodes = vec![self.node()?];
        let mut steps = Vec::new();
        while !self.take(">") {
            let is_back = self.take("<");
            self.expect("-")?;
            let relationship = self.relationship()?;
            self.expect("-")?;
            if !is_back {
                self.expect(">")?;
            }
            steps.push((relationship, !is_back));
            nodes.push(self.node()?);
        }
        Ok(Literal::Path { nodes, steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_and_printed_in_one_form() {
        for (text, printed) in [
            ("1", "1"),
            ("1.0", "1.0"),
            ("-0.0", "0.0"),
            ("1e3", "1000.0"),
            ("NaN", "NaN"),
            ("'a\\'b'", "\"a'b\""),
            ("[1, 'x', null]", "[1, \"x\", null]"),
            ("{b: [], a: {}}", "{a: {}, b: []}"),
            ("(:B:A {x: 1})", "(:A:B {x: 1})"),
            ("()", "()"),
            ("[:T]", "[:T]"),
            ("[[:T {a: 1}]]", "[[:T {a: 1}]]"),
            (
                "<(:A)-[:T]->({x: 1})<-[:U]-()>",
                "<(:A)-[:T]->({x: 1})<-[:U]-()>",
            ),
        ] {
            let read = Literal::read(text).map(|value| value.to_string());
            assert_eq!(read.as_deref(), Ok(printed), "{text}");
        }
        for text in ["", "1 2", "'a", "abc", "[1", "(:)", "[:T]x"] {
            assert!(Literal::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lists_are_sorted_where_their_order_does_not_count() {
        let sorted = |text| Literal::read(text).map(|value| value.with_sorted_lists().to_string());
        assert_eq!(sorted("[3, [2, 1]]"), sorted("[[1, 2], 3]"));
        assert_ne!(sorted("[1]"), sorted("[1.0]"));
    }
}
