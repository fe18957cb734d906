//! Prints a tree as text, which the parser reads as an equal tree. Texts are on one line.

mod clause;
mod expression;
mod pattern;
mod schema;

use std::fmt::{self, Display, Formatter};

use crate::tree::{Mode, Name, Options, QualifiedName, Statement, StatementKind, Version};
use crate::words::{is_reserved, is_word};

impl Display for Statement {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.options.fmt(out)?;
        match &self.kind {
            StatementKind::Query(query) => query.fmt(out),
            StatementKind::Command(command) => command.fmt(out),
            StatementKind::Show(show) => show.fmt(out),
        }
    }
}

impl Display for Options {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.version.is_some() || !self.settings.is_empty() {
            out.write_str("CYPHER ")?;
        }
        match self.version {
            Some(Version::Five) => out.write_str("5 ")?,
            Some(Version::TwentyFive) => out.write_str("25 ")?,
            None => {}
        }
        for (name, value) in &self.settings {
            write!(out, "{name}={value} ")?;
        }
        match self.mode {
            Mode::Run => Ok(()),
            Mode::Explain => out.write_str("EXPLAIN "),
            Mode::Profile => out.write_str("PROFILE "),
        }
    }
}

/// A name as a variable: words that could be read as something else are in backticks.
impl Display for Name {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_reserved(&self.text) {
            return write!(out, "`{}`", self.text);
        }
        Plain(self).fmt(out)
    }
}

/// A name where no word has a meaning of its own, as after a point or a colon.
struct Plain<'t>(&'t Name);

impl Display for Plain<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let name = &self.0.text;
        if is_word(name) {
            out.write_str(name)
        } else {
            write!(out, "`{}`", name.replace('`', "``"))
        }
    }
}

impl Display for QualifiedName {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let parts: Vec<Plain<'_>> = self.parts.iter().map(Plain).collect();
        separated(out, &parts, ".")
    }
}

fn separated<T: Display>(out: &mut Formatter<'_>, items: &[T], separator: &str) -> fmt::Result {
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.write_str(separator)?;
        }
        item.fmt(out)?;
    }
    Ok(())
}

/// Writes a prefix and a value, if there is one.
fn after<T: Display>(out: &mut Formatter<'_>, prefix: &str, value: Option<&T>) -> fmt::Result {
    match value {
        Some(value) => write!(out, "{prefix}{value}"),
        None => Ok(()),
    }
}
