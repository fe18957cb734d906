//! Patterns and label expressions.

use std::fmt::{self, Display, Formatter, Write};

use super::{Plain, after, separated};
use crate::tree::{
    Direction, LabelExpression, Length, NodePattern, PathKind, PathPattern, RelationshipPattern,
};

impl Display for PathPattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(variable) = &self.variable {
            write!(out, "{variable} = ")?;
        }
        if self.kind != PathKind::All {
            write!(out, "{}(", self.kind.text())?;
        }
        self.start.fmt(out)?;
        for (relationship, node) in &self.steps {
            write!(out, "{relationship}{node}")?;
        }
        out.write_str(if self.kind == PathKind::All { "" } else { ")" })
    }
}

impl Display for NodePattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('(')?;
        after(out, "", self.variable.as_ref())?;
        after(out, ":", self.labels.as_ref())?;
        let blank = self.variable.is_some() || self.labels.is_some();
        after(out, if blank { " " } else { "" }, self.properties.as_ref())?;
        after(out, " WHERE ", self.filter.as_ref())?;
        out.write_char(')')
    }
}

impl Display for RelationshipPattern {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let (left, right) = match self.direction {
            Direction::Right => ("-", "->"),
            Direction::Left => ("<-", "-"),
            Direction::Either => ("-", "-"),
            Direction::Both => ("<-", "->"),
        };
        let is_bare = self.variable.is_none()
            && self.types.is_none()
            && self.length.is_none()
            && self.properties.is_none()
            && self.filter.is_none();
        if is_bare {
            return write!(out, "{left}{right}");
        }
        write!(out, "{left}[")?;
        after(out, "", self.variable.as_ref())?;
        after(out, ":", self.types.as_ref())?;
        after(out, "", self.length.as_ref())?;
        after(out, " ", self.properties.as_ref())?;
        after(out, " WHERE ", self.filter.as_ref())?;
        write!(out, "]{right}")
    }
}

impl Display for Length {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_char('*')?;
        if self.min == self.max {
            return after(out, "", self.min.as_ref());
        }
        after(out, "", self.min.as_ref())?;
        out.write_str("..")?;
        after(out, "", self.max.as_ref())
    }
}

impl Display for LabelExpression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LabelExpression::Name(name) => Plain(name).fmt(out),
            LabelExpression::Any => out.write_char('%'),
            LabelExpression::Dynamic(labels) => write!(out, "$({labels})"),
            LabelExpression::DynamicAny(labels) => write!(out, "$any({labels})"),
            LabelExpression::Not(inner) => write!(out, "!{}", Tight(inner)),
            LabelExpression::And(labels) => joined(out, labels, "&"),
            LabelExpression::Or(labels) => joined(out, labels, "|"),
        }
    }
}

fn joined(out: &mut Formatter<'_>, labels: &[LabelExpression], join: &str) -> fmt::Result {
    let labels: Vec<Tight<'_>> = labels.iter().map(Tight).collect();
    separated(out, &labels, join)
}

/// A label expression in another one.
struct Tight<'t>(&'t LabelExpression);

impl Display for Tight<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            LabelExpression::And(_) | LabelExpression::Or(_) => write!(out, "({})", self.0),
            labels => labels.fmt(out),
        }
    }
}

/// The labels of a condition, where `|` may end the expression.
pub(super) struct InExpression<'t>(pub(super) &'t LabelExpression);

impl Display for InExpression<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            LabelExpression::Or(_) => write!(out, "({})", self.0),
            labels => labels.fmt(out),
        }
    }
}
