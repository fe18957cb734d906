//! Traversals as a list of steps, and as text.

use std::fmt;

use super::value::Value;

pub(crate) type Steps = Vec<Step>;

/// A step with its modulators, written as `before.name(arguments).behind`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) arguments: Vec<Argument>,
    /// `emit`, `until` and `times` in front of `repeat`.
    pub(crate) before: Steps,
    /// `by`, `option`, `from`, `to`, `with`, and `emit`, `until` and `times` behind `repeat`.
    pub(crate) behind: Steps,
}

#[derive(Debug, Clone)]
pub(crate) enum Argument {
    Child(Steps),
    Value(Value),
    /// A name or a label.
    Name(String),
    Test(Test),
    /// A token such as `desc`, `local`, `T.id`, as it is written.
    Word(&'static str),
}

/// A predicate.
#[derive(Debug, Clone)]
pub(crate) enum Test {
    /// Its name and its values.
    Is(&'static str, Vec<Value>),
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
    Not(Box<Test>),
}

impl Step {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            ..Self::default()
        }
    }

    pub(crate) fn with(mut self, argument: impl Into<Argument>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    pub(crate) fn with_all<T: Into<Argument>>(mut self, all: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(all.into_iter().map(Into::into));
        self
    }

    /// With a modulator behind it.
    pub(crate) fn then(mut self, modulator: Self) -> Self {
        self.behind.push(modulator);
        self
    }

    /// With `by(argument)`.
    pub(crate) fn by(self, argument: impl Into<Argument>) -> Self {
        self.then(Self::new("by").with(argument))
    }

    /// With a modulator in front of it.
    pub(crate) fn after(mut self, modulator: Self) -> Self {
        self.before.push(modulator);
        self
    }

    /// The modulators of this name behind the step.
    pub(crate) fn all_behind(&self, name: &str) -> Vec<&Self> {
        self.behind
            .iter()
            .filter(|step| step.name == name)
            .collect()
    }

    pub(crate) fn find<'a>(steps: &'a [Self], name: &str) -> Option<&'a Self> {
        steps.iter().find(|step| step.name == name)
    }

    pub(crate) fn child(&self, at: usize) -> &[Self] {
        match &self.arguments[at] {
            Argument::Child(steps) => steps,
            other => panic!("{self}: {other} is no child"),
        }
    }

    pub(crate) fn children(&self) -> impl Iterator<Item = &[Self]> {
        (0..self.arguments.len()).map(|at| self.child(at))
    }

    pub(crate) fn value(&self, at: usize) -> &Value {
        match &self.arguments[at] {
            Argument::Value(value) => value,
            other => panic!("{self}: {other} is no value"),
        }
    }

    pub(crate) fn number(&self, at: usize) -> i64 {
        match self.value(at) {
            Value::Int(number) | Value::Long(number) => *number,
            other => panic!("{self}: {other:?} is no number"),
        }
    }

    /// The names among the arguments.
    pub(crate) fn names(&self) -> Vec<&str> {
        let names = self.arguments.iter().filter_map(|argument| match argument {
            Argument::Name(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect()
    }

    /// Whether a token is among the arguments.
    pub(crate) fn says(&self, word: &str) -> bool {
        let mut all = self.arguments.iter();
        all.any(|argument| matches!(argument, Argument::Word(own) if *own == word))
    }

    /// The arguments behind `local`.
    pub(crate) fn rest(&self) -> &[Argument] {
        &self.arguments[usize::from(self.says("local"))..]
    }

    /// Calls `visit` with the step and all steps within it.
    pub(crate) fn visit(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        for step in self.before.iter().chain(&self.behind) {
            step.visit(visit);
        }
        for argument in &self.arguments {
            if let Argument::Child(steps) = argument {
                steps.iter().for_each(|step| step.visit(visit));
            }
        }
    }
}

impl From<Steps> for Argument {
    fn from(steps: Steps) -> Self {
        Self::Child(steps)
    }
}

impl From<Step> for Argument {
    fn from(step: Step) -> Self {
        Self::Child(vec![step])
    }
}

impl From<Value> for Argument {
    fn from(value: Value) -> Self {
        Self::Value(value)
    }
}

impl From<i64> for Argument {
    fn from(number: i64) -> Self {
        Self::Value(Value::Int(number))
    }
}

impl From<Test> for Argument {
    fn from(test: Test) -> Self {
        Self::Test(test)
    }
}

impl From<&str> for Argument {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Argument {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

/// Items with commas between.
fn listed<T: fmt::Display>(items: &[T], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at > 0 { ", " } else { "" })?;
        item.fmt(f)?;
    }
    Ok(())
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.before {
            write!(f, "{step}.")?;
        }
        write!(f, "{}(", self.name)?;
        listed(&self.arguments, f)?;
        f.write_str(")")?;
        self.behind.iter().try_for_each(|step| write!(f, ".{step}"))
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(steps) => {
                f.write_str("__")?;
                steps.iter().try_for_each(|step| write!(f, ".{step}"))
            }
            Self::Value(value) => Literal(value).fmt(f),
            Self::Name(name) => write!(f, "'{name}'"),
            Self::Test(test) => test.fmt(f),
            Self::Word(word) => f.write_str(word),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Types have no quotes.
            Self::Is("typeOf", values) => match values.as_slice() {
                [Value::Text(name)] => write!(f, "typeOf(GType.{name})"),
                other => panic!("no type: {other:?}"),
            },
            Self::Is(name, values) => {
                write!(f, "{name}(")?;
                let values: Vec<Literal> = values.iter().map(Literal).collect();
                listed(&values, f)?;
                f.write_str(")")
            }
            Self::And(a, b) => write!(f, "{a}.and({b})"),
            Self::Or(a, b) => write!(f, "{a}.or({b})"),
            Self::Not(test) => write!(f, "{test}.negate()"),
        }
    }
}

/// A value as it is written.
struct Literal<'a>(&'a Value);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => value.fmt(f),
            Value::Int(number) => number.fmt(f),
            Value::Long(number) => write!(f, "{number}L"),
            Value::Double(number) => write!(f, "{number:?}"),
            Value::Text(text) => write!(f, "'{text}'"),
            Value::Date(_) => write!(f, "datetime('{}')", self.0.as_text()),
            Value::List(items) => {
                f.write_str("[")?;
                let items: Vec<Literal> = items.iter().map(Literal).collect();
                listed(&items, f)?;
                f.write_str("]")
            }
            other => panic!("{other:?} has no literal"),
        }
    }
}
