//! Prints a tree as text, which the parser reads as an equal tree. Exceptions are nodes that only
//! bytecode has, such as bytes, durations and edges: the parser refuses their text.

use std::fmt::{self, Display, Formatter, Write};

use crate::tree::{
    Argument, BinaryOperator, Catch, Computed, ComputedKind, ElementLiteral, Predicate,
    PredicateName, Root, Script, SourceInstruction, Statement, StatementKind, Step, Strategy,
    Terminal, Traversal,
};

impl Display for Script {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (place, statement) in self.statements.iter().enumerate() {
            if place > 0 {
                out.write_char('\n')?;
            }
            statement.fmt(out)?;
        }
        Ok(())
    }
}

fn block(out: &mut Formatter<'_>, statements: &[Statement]) -> fmt::Result {
    out.write_str("{\n")?;
    for statement in statements {
        writeln!(out, "{statement}")?;
    }
    out.write_char('}')
}

impl Display for Statement {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            StatementKind::Expression(argument) => argument.fmt(out),
            StatementKind::Define { name, value } => {
                write!(out, "def {name}")?;
                value.iter().try_for_each(|value| write!(out, " = {value}"))
            }
            StatementKind::Return(value) => {
                out.write_str("return")?;
                value.iter().try_for_each(|value| write!(out, " {value}"))
            }
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => {
                write!(out, "if ({condition}) ")?;
                block(out, then)?;
                if otherwise.is_empty() {
                    return Ok(());
                }
                out.write_str(" else ")?;
                block(out, otherwise)
            }
            StatementKind::For {
                first,
                condition,
                each,
                body,
            } => {
                out.write_str("for (")?;
                first.iter().try_for_each(|first| first.fmt(out))?;
                out.write_str("; ")?;
                condition
                    .iter()
                    .try_for_each(|condition| condition.fmt(out))?;
                out.write_str("; ")?;
                each.iter().try_for_each(|each| each.fmt(out))?;
                out.write_str(") ")?;
                block(out, body)
            }
            StatementKind::ForIn { name, items, body } => {
                write!(out, "for ({name} in {items}) ")?;
                block(out, body)
            }
            StatementKind::While { condition, body } => {
                write!(out, "while ({condition}) ")?;
                block(out, body)
            }
            StatementKind::Try {
                body,
                catches,
                finally,
            } => {
                out.write_str("try ")?;
                block(out, body)?;
                catches
                    .iter()
                    .try_for_each(|catch| write!(out, " {catch}"))?;
                if finally.is_empty() && !catches.is_empty() {
                    return Ok(());
                }
                out.write_str(" finally ")?;
                block(out, finally)
            }
            StatementKind::Break => out.write_str("break"),
            StatementKind::Continue => out.write_str("continue"),
        }
    }
}

impl Display for Catch {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("catch (")?;
        separated(out, &self.classes, " | ")?;
        let blank = if self.classes.is_empty() { "" } else { " " };
        write!(out, "{blank}{}) ", self.name)?;
        block(out, &self.body)
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

fn call(out: &mut Formatter<'_>, name: &str, arguments: &[Argument]) -> fmt::Result {
    write!(out, "{name}(")?;
    separated(out, arguments, ", ")?;
    out.write_char(')')
}

impl Display for Traversal {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Anonymous => out.write_str("__")?,
            Root::Source(name) => out.write_str(name)?,
            Root::Computed(source) => operand(out, source)?,
        }
        for instruction in &self.source {
            write!(out, ".{instruction}")?;
        }
        for step in &self.steps {
            write!(out, ".{step}")?;
        }
        match &self.terminal {
            None => Ok(()),
            Some(Terminal::NextMany(count)) => write!(out, ".next({count})"),
            Some(terminal) => write!(out, ".{}()", terminal.text()),
        }
    }
}

impl Terminal {
    /// The method's name.
    #[must_use]
    pub const fn text(&self) -> &'static str {
        match self {
            Terminal::Next | Terminal::NextMany(_) => "next",
            Terminal::TryNext => "tryNext",
            Terminal::HasNext => "hasNext",
            Terminal::ToList => "toList",
            Terminal::ToSet => "toSet",
            Terminal::ToBulkSet => "toBulkSet",
            Terminal::Iterate => "iterate",
            Terminal::Explain => "explain",
        }
    }
}

impl Display for Step {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        call(out, self.name.text(), &self.arguments)
    }
}

impl Display for SourceInstruction {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        call(out, self.name.text(), &self.arguments)
    }
}

impl Display for Strategy {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.configuration.is_empty() {
            return out.write_str(&self.name);
        }
        write!(out, "new {}(", self.name)?;
        for (place, (key, value)) in self.configuration.iter().enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            write!(out, "{comma}{key}: {value}")?;
        }
        out.write_char(')')
    }
}

impl Display for Predicate {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Predicate::Test { name, arguments } => {
                let class = match name {
                    PredicateName::TextContains | PredicateName::Contains => "ConditionP",
                    name if name.is_text() => "TextP",
                    _ => "P",
                };
                write!(out, "{class}.")?;
                // Without the brackets, the parser would take the members of a single collection as
                // the arguments.
                match (name, arguments.as_slice()) {
                    (
                        PredicateName::Within | PredicateName::Without,
                        [Argument::List(_) | Argument::Set(_) | Argument::Predicate(_)],
                    ) => write!(out, "{name}([{}])", arguments[0]),
                    _ => call(out, name.text(), arguments),
                }
            }
            Predicate::And(members) => joined(out, members, "and"),
            Predicate::Or(members) => joined(out, members, "or"),
            Predicate::Not(inner) => write!(out, "P.not({inner})"),
        }
    }
}

fn joined(out: &mut Formatter<'_>, members: &[Predicate], name: &str) -> fmt::Result {
    for (place, member) in members.iter().enumerate() {
        match place {
            0 => member.fmt(out)?,
            _ => write!(out, ".{name}({member})")?,
        }
    }
    Ok(())
}

/// Prints an operand, in parentheses if it has operators of its own.
fn operand(out: &mut Formatter<'_>, argument: &Argument) -> fmt::Result {
    let compound = match argument {
        Argument::Range(_) => true,
        Argument::Computed(computed) => !matches!(
            computed.kind,
            ComputedKind::Call { .. } | ComputedKind::Member { .. } | ComputedKind::Index { .. }
        ),
        _ => false,
    };
    if compound {
        write!(out, "({argument})")
    } else {
        argument.fmt(out)
    }
}

/// Prints the receiver of a member, a call or an index. A number is put in parentheses, so that its
/// sign stays part of it.
fn receiver(out: &mut Formatter<'_>, argument: &Argument) -> fmt::Result {
    match is_number(argument) {
        true => write!(out, "({argument})"),
        false => operand(out, argument),
    }
}

fn is_number(argument: &Argument) -> bool {
    matches!(
        argument,
        Argument::Byte(_)
            | Argument::Short(_)
            | Argument::Int(_)
            | Argument::Long(_)
            | Argument::BigInt(_)
            | Argument::Float(_)
            | Argument::Double(_)
            | Argument::BigDecimal(_)
    )
}

/// Prints a member's name, in quotes if it is not a word.
fn member(out: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if name.bytes().all(is_part)
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && !name.is_empty()
    {
        out.write_str(name)
    } else {
        quoted(out, name)
    }
}

impl Display for Computed {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ComputedKind::Call {
                receiver,
                name,
                arguments,
            } => {
                if let Some(receiver) = receiver {
                    self::receiver(out, receiver)?;
                    out.write_char('.')?;
                }
                call(out, name, arguments)
            }
            ComputedKind::Member { receiver, name } => {
                self::receiver(out, receiver)?;
                out.write_char('.')?;
                member(out, name)
            }
            ComputedKind::Index { receiver, index } => {
                self::receiver(out, receiver)?;
                write!(out, "[{index}]")
            }
            ComputedKind::Assign {
                target,
                operator,
                value,
            } => {
                let operator = operator.map_or("", BinaryOperator::text);
                write!(out, "{target} {operator}= {value}")
            }
            ComputedKind::Step { target, by, before } => {
                let operator = if *by > 0 { "++" } else { "--" };
                if *before {
                    write!(out, "{target}{operator}")
                } else {
                    write!(out, "{operator}{target}")
                }
            }
            ComputedKind::Unary(operator, argument) => {
                write!(out, "{operator}")?;
                // Without the parentheses, the parser would read the operator as the number's sign.
                if is_number(argument) {
                    write!(out, "({argument})")
                } else {
                    operand(out, argument)
                }
            }
            ComputedKind::Binary(operator, left, right) => {
                operand(out, left)?;
                write!(out, " {operator} ")?;
                operand(out, right)
            }
            ComputedKind::Ternary {
                condition,
                then,
                otherwise,
            } => {
                operand(out, condition)?;
                match then {
                    None => out.write_str(" ?: ")?,
                    Some(then) => {
                        out.write_str(" ? ")?;
                        operand(out, then)?;
                        out.write_str(" : ")?;
                    }
                }
                operand(out, otherwise)
            }
        }
    }
}

impl Display for Argument {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Argument::Null => out.write_str("null"),
            Argument::Bool(value) => value.fmt(out),
            Argument::Byte(value) => write!(out, "{value}b"),
            Argument::Short(value) => write!(out, "{value}s"),
            Argument::Int(value) => value.fmt(out),
            Argument::Long(value) => write!(out, "{value}L"),
            Argument::BigInt(value) => write!(out, "{value}n"),
            Argument::Float(value) if value.is_nan() => out.write_str("NaN"),
            // The parser reads a float literal beyond the range of floats as infinity.
            Argument::Float(f32::INFINITY) => out.write_str("1e39f"),
            Argument::Float(f32::NEG_INFINITY) => out.write_str("-1e39f"),
            Argument::Float(value) => write!(out, "{value:?}f"),
            Argument::Double(value) => float(out, *value),
            Argument::BigDecimal(value) => write!(out, "{}m", plain(value)),
            Argument::Char(value) => write!(out, "(char) '{}'", value.escape_default()),
            Argument::String(text) => quoted(out, text),
            Argument::DateTime(instant) => write!(out, "datetime('{instant}')"),
            Argument::Now => out.write_str("datetime()"),
            Argument::Duration(length) => {
                write!(
                    out,
                    "(duration) {}.{:09}",
                    length.seconds, length.nanoseconds
                )
            }
            Argument::Uuid(value) => uuid(out, *value),
            Argument::RandomUuid => out.write_str("UUID()"),
            Argument::Binary(bytes) => {
                out.write_str("(binary) ")?;
                bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
            }
            Argument::List(members) => {
                out.write_char('[')?;
                separated(out, members, ", ")?;
                out.write_char(']')
            }
            Argument::Set(members) => {
                out.write_char('{')?;
                separated(out, members, ", ")?;
                out.write_char('}')
            }
            Argument::Map(entries) => map(out, entries),
            Argument::Range(ends) => {
                operand(out, &ends.0)?;
                out.write_str("..")?;
                operand(out, &ends.1)
            }
            Argument::Variable(name) => out.write_str(name),
            Argument::Traversal(traversal) => traversal.fmt(out),
            Argument::Predicate(predicate) => predicate.fmt(out),
            Argument::CardinalityValue(cardinality, value) => {
                write!(out, "Cardinality.{cardinality}({value})")
            }
            Argument::Strategy(strategy) => strategy.fmt(out),
            Argument::Element(element) => element.fmt(out),
            Argument::Computed(computed) => computed.fmt(out),
            Argument::Value(value) => write!(out, "{}", value.shown()),
            token => {
                let (class, name) = token.token().unwrap_or_default();
                write!(out, "{class}.{name}")
            }
        }
    }
}

impl Argument {
    /// The class and the name of an enum token; `None` for any other argument.
    #[must_use]
    pub const fn token(&self) -> Option<(&'static str, &'static str)> {
        Some(match self {
            Argument::T(token) => ("T", token.text()),
            Argument::Order(token) => ("Order", token.text()),
            Argument::Scope(token) => ("Scope", token.text()),
            Argument::Pop(token) => ("Pop", token.text()),
            Argument::Column(token) => ("Column", token.text()),
            Argument::Direction(token) => ("Direction", token.text()),
            Argument::Operator(token) => ("Operator", token.text()),
            Argument::Barrier(token) => ("Barrier", token.text()),
            Argument::Pick(token) => ("Pick", token.text()),
            Argument::Merge(token) => ("Merge", token.text()),
            Argument::Cardinality(token) => ("Cardinality", token.text()),
            Argument::Dt(token) => ("DT", token.text()),
            Argument::GType(token) => ("GType", token.text()),
            _ => return None,
        })
    }
}

impl Display for ElementLiteral {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ElementLiteral::Vertex { id, label } => write!(out, "new Vertex({id}, {label})"),
            ElementLiteral::Edge { id, label } => write!(out, "(edge) [{id}, {label}]"),
            ElementLiteral::VertexProperty { id, key, value } => {
                write!(out, "(vertex property) [{id}, {key}, {value}]")
            }
            ElementLiteral::Property { key, value } => write!(out, "(property) [{key}, {value}]"),
        }
    }
}

fn map(out: &mut Formatter<'_>, entries: &[(Argument, Argument)]) -> fmt::Result {
    if entries.is_empty() {
        return out.write_str("[:]");
    }
    out.write_char('[')?;
    for (place, (key, value)) in entries.iter().enumerate() {
        let comma = if place > 0 { ", " } else { "" };
        match key {
            Argument::String(key) => {
                out.write_str(comma)?;
                quoted(out, key)?;
                write!(out, ": {value}")?;
            }
            key => write!(out, "{comma}({key}): {value}")?,
        }
    }
    out.write_char(']')
}

fn float(out: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        out.write_str("NaN")
    } else if value.is_infinite() {
        out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        write!(out, "{value:?}")
    }
}

fn quoted(out: &mut Formatter<'_>, text: &str) -> fmt::Result {
    out.write_char('\'')?;
    for character in text.chars() {
        match character {
            '\'' | '\\' => write!(out, "\\{character}")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            character if character.is_control() => write!(out, "\\u{:04x}", u32::from(character))?,
            character => out.write_char(character)?,
        }
    }
    out.write_char('\'')
}

fn uuid(out: &mut Formatter<'_>, value: u128) -> fmt::Result {
    let digits = format!("{value:032x}");
    let parts = [
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..],
    ];
    write!(out, "UUID('{}')", parts.join("-"))
}

/// All digits in plain notation, without an exponent.
fn plain(value: &bigdecimal::BigDecimal) -> String {
    let scale = value.fractional_digit_count().max(0);
    value.with_scale(scale).to_plain_string()
}
