//! Expressions.

use std::fmt::{self, Display, Formatter, Write};

use super::{Plain, after, separated};
use crate::tree::{
    Call, Case, Entry, Expression, ExpressionKind, ListComprehension, MapProjection,
    PatternComprehension, Precedence, ProjectionEntry, Quantified, Quantifier, Reduce, Sign,
    SubqueryKind, Test, TestKind, TypeKind, ValueType, When,
};
use crate::words::is_reserved;

/// An expression, in parentheses if it is looser than its place allows.
pub(super) struct Operand<'t>(pub(super) &'t Expression, pub(super) Precedence);

impl Display for Operand<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Operand(expression, least) = self;
        if expression.kind.precedence() < *least {
            return write!(out, "({expression})");
        }
        expression.fmt(out)
    }
}

impl Display for Expression {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExpressionKind::Null => out.write_str("null"),
            ExpressionKind::Boolean(value) => value.fmt(out),
            ExpressionKind::Integer(value) => value.fmt(out),
            ExpressionKind::Float(value) => float(out, *value),
            ExpressionKind::String(value) => string(out, value),
            ExpressionKind::Parameter(name) => parameter(out, name),
            ExpressionKind::Variable(name) => name.fmt(out),
            ExpressionKind::List(items) => {
                out.write_char('[')?;
                separated(out, items, ", ")?;
                out.write_char(']')
            }
            ExpressionKind::Map(entries) => map(out, entries),
            ExpressionKind::Property(value, key) => {
                write!(
                    out,
                    "{}.{}",
                    Operand(value, Precedence::Postfix),
                    Plain(key)
                )
            }
            ExpressionKind::Index(value, index) => {
                write!(out, "{}[{index}]", Operand(value, Precedence::Postfix))
            }
            ExpressionKind::Slice(value, bounds) => {
                write!(out, "{}[", Operand(value, Precedence::Postfix))?;
                after(out, "", bounds.from.as_ref())?;
                out.write_str("..")?;
                after(out, "", bounds.to.as_ref())?;
                out.write_char(']')
            }
            ExpressionKind::Not(value) => write!(out, "NOT {}", Operand(value, Precedence::Not)),
            ExpressionKind::Sign(sign, value) => signed(out, *sign, value),
            ExpressionKind::Chain(first, links) => {
                let precedence = self.kind.precedence().tighter();
                Operand(first, precedence).fmt(out)?;
                links.iter().try_for_each(|link| {
                    let operand = Operand(&link.operand, precedence);
                    write!(out, " {} {operand}", link.operator.text())
                })
            }
            ExpressionKind::Is(value, test) => {
                write!(out, "{} {test}", Operand(value, Precedence::Predicate))
            }
            ExpressionKind::HasLabels(value, labels) => {
                let value = Operand(value, Precedence::Postfix);
                write!(out, "{value}:{}", super::pattern::InExpression(labels))
            }
            ExpressionKind::Call(call) => call.fmt(out),
            ExpressionKind::CountStar => out.write_str("count(*)"),
            ExpressionKind::Case(case) => case.fmt(out),
            ExpressionKind::ListComprehension(comprehension) => comprehension.fmt(out),
            ExpressionKind::PatternComprehension(comprehension) => comprehension.fmt(out),
            ExpressionKind::MapProjection(projection) => projection.fmt(out),
            ExpressionKind::Reduce(reduce) => reduce.fmt(out),
            ExpressionKind::Quantified(quantified) => quantified.fmt(out),
            ExpressionKind::Pattern(pattern) => pattern.fmt(out),
            ExpressionKind::Subquery(kind, query) => {
                let word = match kind {
                    SubqueryKind::Exists => "EXISTS",
                    SubqueryKind::Count => "COUNT",
                    SubqueryKind::Collect => "COLLECT",
                };
                write!(out, "{word} {{ {query} }}")
            }
        }
    }
}

fn float(out: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_finite() {
        return write!(out, "{value:?}");
    }
    out.write_str(if value.is_nan() { "NaN" } else { "Infinity" })
}

/// A number with a sign is a literal, so the sign of one is apart from it.
fn signed(out: &mut Formatter<'_>, sign: Sign, value: &Expression) -> fmt::Result {
    out.write_char(match sign {
        Sign::Plus => '+',
        Sign::Minus => '-',
    })?;
    if begins_with_number(value) {
        return write!(out, "({value})");
    }
    Operand(value, Precedence::Sign).fmt(out)
}

/// Whether a number is first, of which a sign before it would become a part.
fn begins_with_number(mut value: &Expression) -> bool {
    loop {
        value = match &value.kind {
            ExpressionKind::Property(base, _)
            | ExpressionKind::Index(base, _)
            | ExpressionKind::Slice(base, _)
            | ExpressionKind::HasLabels(base, _) => base,
            ExpressionKind::Integer(_) | ExpressionKind::Float(_) => return true,
            _ => return false,
        };
    }
}

fn string(out: &mut Formatter<'_>, value: &str) -> fmt::Result {
    out.write_char('\'')?;
    for next in value.chars() {
        match next {
            '\\' => out.write_str("\\\\")?,
            '\'' => out.write_str("\\'")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            next if next.is_control() => write!(out, "\\u{:04X}", u32::from(next))?,
            next => out.write_char(next)?,
        }
    }
    out.write_char('\'')
}

pub(super) fn parameter(out: &mut Formatter<'_>, name: &crate::tree::Name) -> fmt::Result {
    if !name.text.is_empty() && name.text.bytes().all(|byte| byte.is_ascii_digit()) {
        return write!(out, "${}", name.text);
    }
    write!(out, "${}", Plain(name))
}

impl Display for Entry {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", Plain(&self.key), self.value)
    }
}

fn map(out: &mut Formatter<'_>, entries: &[Entry]) -> fmt::Result {
    out.write_char('{')?;
    separated(out, entries, ", ")?;
    out.write_char('}')
}

impl Display for Test {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.negated { "IS NOT " } else { "IS " })?;
        match &self.kind {
            TestKind::Null => out.write_str("NULL"),
            TestKind::Type(value_type) => write!(out, ":: {value_type}"),
            TestKind::Normalized(form) => {
                after(out, "", form.as_ref())?;
                out.write_str(if form.is_some() {
                    " NORMALIZED"
                } else {
                    "NORMALIZED"
                })
            }
        }
    }
}

impl Display for ValueType {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TypeKind::Named(name) => out.write_str(name.text())?,
            TypeKind::List(inner) => write!(out, "LIST<{inner}>")?,
            TypeKind::Union(types) => {
                out.write_str("ANY<")?;
                separated(out, types, " | ")?;
                out.write_char('>')?;
            }
        }
        out.write_str(if self.not_null { " NOT NULL" } else { "" })
    }
}

impl Display for Call {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let common = ["COUNT", "COLLECT", "EXISTS", "TRIM"];
        match self.name.parts.as_slice() {
            [name]
                if common
                    .iter()
                    .any(|word| name.text.eq_ignore_ascii_case(word)) =>
            {
                Plain(name).fmt(out)?;
            }
            [name] if is_reserved(&name.text) => name.fmt(out)?,
            _ => self.name.fmt(out)?,
        }
        out.write_str(if self.distinct { "(DISTINCT " } else { "(" })?;
        separated(out, &self.arguments, ", ")?;
        out.write_char(')')
    }
}

impl Display for Case {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("CASE")?;
        after(out, " ", self.subject.as_ref())?;
        self.branches
            .iter()
            .try_for_each(|branch| branch.fmt(out))?;
        after(out, " ELSE ", self.otherwise.as_ref())?;
        out.write_str(" END")
    }
}

impl Display for When {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(" WHEN ")?;
        separated(out, &self.operands, ", ")?;
        write!(out, " THEN {}", self.value)
    }
}

impl Display for ListComprehension {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "[{} IN {}", self.variable, self.list)?;
        after(out, " WHERE ", self.filter.as_ref())?;
        after(out, " | ", self.result.as_ref())?;
        out.write_char(']')
    }
}

impl Display for PatternComprehension {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "[{}", self.pattern)?;
        after(out, " WHERE ", self.filter.as_ref())?;
        write!(out, " | {}]", self.result)
    }
}

impl Display for MapProjection {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {{", self.variable)?;
        separated(out, &self.entries, ", ")?;
        out.write_char('}')
    }
}

impl Display for ProjectionEntry {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ProjectionEntry::Property(key) => write!(out, ".{}", Plain(key)),
            ProjectionEntry::All => out.write_str(".*"),
            ProjectionEntry::Entry(entry) => entry.fmt(out),
            ProjectionEntry::Variable(name) => name.fmt(out),
        }
    }
}

impl Display for Reduce {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Reduce {
            accumulator,
            initial,
            variable,
            list,
            step,
        } = self;
        write!(
            out,
            "reduce({accumulator} = {initial}, {variable} IN {list} | {step})"
        )
    }
}

impl Display for Quantified {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let word = match self.quantifier {
            Quantifier::All => "all",
            Quantifier::Any => "any",
            Quantifier::None => "none",
            Quantifier::Single => "single",
        };
        let Quantified {
            variable,
            list,
            predicate,
            ..
        } = self;
        write!(out, "{word}({variable} IN {list} WHERE {predicate})")
    }
}
