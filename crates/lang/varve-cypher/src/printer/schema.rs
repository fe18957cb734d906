//! Commands and `SHOW`.

use std::fmt::{self, Display, Formatter, Write};

use super::{Plain, after, separated};
use crate::tree::{
    Command, ConstraintRule, CreateConstraint, CreateDatabase, CreateIndex, Existence, IndexedBy,
    Name, NamedKind, SchemaName, SchemaTarget, Show, ShowTarget,
};

impl Display for Command {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Command::CreateIndex(index) => index.fmt(out),
            Command::CreateConstraint(constraint) => constraint.fmt(out),
            Command::CreateDatabase(database) => database.fmt(out),
            Command::Drop(drop) => {
                let kind = match drop.kind {
                    NamedKind::Index => "INDEX",
                    NamedKind::Constraint => "CONSTRAINT",
                };
                write!(out, "DROP {kind} {}", drop.name)?;
                out.write_str(if_exists(drop.existence))
            }
            Command::DropDatabase(drop) => {
                write!(out, "DROP DATABASE {}", drop.name)?;
                out.write_str(if_exists(drop.existence))
            }
        }
    }
}

fn if_exists(existence: Existence) -> &'static str {
    match existence {
        Existence::Ignore => " IF EXISTS",
        Existence::Fail | Existence::Replace => "",
    }
}

fn if_not_exists(existence: Existence) -> &'static str {
    match existence {
        Existence::Ignore => " IF NOT EXISTS",
        Existence::Fail | Existence::Replace => "",
    }
}

impl Display for SchemaName {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SchemaName::Name(name) => name.fmt(out),
            SchemaName::Parameter(name) => super::expression::parameter(out, name),
        }
    }
}

impl Display for SchemaTarget {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (before, behind) = if self.relationships {
            ("()-[", "]-()")
        } else {
            ("(", ")")
        };
        write!(out, "{before}{}", self.variable)?;
        if !self.labels.is_empty() {
            let labels: Vec<Plain<'_>> = self.labels.iter().map(Plain).collect();
            out.write_char(':')?;
            separated(out, &labels, "|")?;
        }
        out.write_str(behind)
    }
}

fn properties(out: &mut Formatter<'_>, variable: &Name, properties: &[Name]) -> fmt::Result {
    out.write_char('(')?;
    for (place, property) in properties.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        write!(out, "{comma}{variable}.{}", Plain(property))?;
    }
    out.write_char(')')
}

impl Display for CreateIndex {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "CREATE {} INDEX", self.kind.text())?;
        after(out, " ", self.name.as_ref())?;
        out.write_str(if_not_exists(self.existence))?;
        write!(out, " FOR {} ON ", self.target)?;
        match &self.by {
            IndexedBy::Properties(names) => properties(out, &self.target.variable, names)?,
            IndexedBy::Labels if self.target.relationships => {
                write!(out, "EACH type({})", self.target.variable)?;
            }
            IndexedBy::Labels => write!(out, "EACH labels({})", self.target.variable)?,
        }
        after(out, " OPTIONS ", self.options.as_ref())
    }
}

impl Display for CreateConstraint {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("CREATE CONSTRAINT")?;
        after(out, " ", self.name.as_ref())?;
        out.write_str(if_not_exists(self.existence))?;
        write!(out, " FOR {} REQUIRE ", self.target)?;
        properties(out, &self.target.variable, &self.properties)?;
        match &self.rule {
            ConstraintRule::Unique => out.write_str(" IS UNIQUE")?,
            ConstraintRule::Key => out.write_str(" IS KEY")?,
            ConstraintRule::NotNull => out.write_str(" IS NOT NULL")?,
            ConstraintRule::Type(value_type) => write!(out, " IS :: {value_type}")?,
        }
        after(out, " OPTIONS ", self.options.as_ref())
    }
}

impl Display for CreateDatabase {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let replace = if self.existence == Existence::Replace {
            "OR REPLACE "
        } else {
            ""
        };
        write!(out, "CREATE {replace}DATABASE {}", self.name)?;
        out.write_str(if_not_exists(self.existence))?;
        after(out, " OPTIONS ", self.options.as_ref())
    }
}

impl Display for Show {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "SHOW {}", self.target)?;
        if let Some(yields) = &self.yields {
            write!(out, " YIELD {yields}")?;
            after(out, " WHERE ", yields.filter.as_ref())?;
        }
        after(out, " WHERE ", self.filter.as_ref())?;
        after(out, " RETURN ", self.returns.as_ref())
    }
}

impl Display for ShowTarget {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ShowTarget::Indexes(kind) => {
                after(
                    out,
                    "",
                    kind.map(|kind| format!("{} ", kind.text())).as_ref(),
                )?;
                out.write_str("INDEXES")
            }
            ShowTarget::Constraints {
                relationships,
                kind,
            } => {
                out.write_str(match relationships {
                    Some(true) => "RELATIONSHIP ",
                    Some(false) => "NODE ",
                    None => "",
                })?;
                after(
                    out,
                    "",
                    kind.map(|kind| format!("{} ", kind.text())).as_ref(),
                )?;
                out.write_str("CONSTRAINTS")
            }
            ShowTarget::Procedures => out.write_str("PROCEDURES"),
            ShowTarget::Functions(Some(true)) => out.write_str("BUILT IN FUNCTIONS"),
            ShowTarget::Functions(Some(false)) => out.write_str("USER DEFINED FUNCTIONS"),
            ShowTarget::Functions(None) => out.write_str("FUNCTIONS"),
            ShowTarget::Databases => out.write_str("DATABASES"),
            ShowTarget::DefaultDatabase => out.write_str("DEFAULT DATABASE"),
            ShowTarget::HomeDatabase => out.write_str("HOME DATABASE"),
            ShowTarget::CurrentUser => out.write_str("CURRENT USER"),
            ShowTarget::Database(name) => write!(out, "DATABASE {name}"),
        }
    }
}
