//! Filters: which values pass.

use std::cmp::Ordering;

use super::super::step::{Argument, Step, Test};
use super::super::value::Value;
use super::elements::{own_key, own_value};
use super::{LeftOut, Naive, Walker, distinct};

/// Whether a value passes a predicate. Across families nothing is less or greater.
pub(super) fn holds(test: &Test, value: &Value) -> bool {
    match test {
        Test::And(a, b) => holds(a, value) && holds(b, value),
        Test::Or(a, b) => holds(a, value) || holds(b, value),
        Test::Not(inner) => !holds(inner, value),
        Test::Is(name, values) => is(name, values, value),
    }
}

fn is(name: &str, values: &[Value], value: &Value) -> bool {
    let compared = |at: usize, wanted: &[Ordering]| {
        let found = value.compare(&values[at]);
        found.is_some_and(|found| wanted.contains(&found))
    };
    let text = |meets: fn(&str, &str) -> bool| match (value, &values[0]) {
        (Value::Text(text), Value::Text(part)) => meets(text, part),
        _ => false,
    };
    match name {
        "eq" => value.equals(&values[0]),
        "neq" => !value.equals(&values[0]),
        "lt" => compared(0, &[Ordering::Less]),
        "lte" => compared(0, &[Ordering::Less, Ordering::Equal]),
        "gt" => compared(0, &[Ordering::Greater]),
        "gte" => compared(0, &[Ordering::Greater, Ordering::Equal]),
        "inside" => compared(0, &[Ordering::Greater]) && compared(1, &[Ordering::Less]),
        "outside" => compared(0, &[Ordering::Less]) || compared(1, &[Ordering::Greater]),
        "between" => {
            compared(0, &[Ordering::Greater, Ordering::Equal]) && compared(1, &[Ordering::Less])
        }
        "within" => values.iter().any(|own| value.equals(own)),
        "without" => !values.iter().any(|own| value.equals(own)),
        "startingWith" => text(|text, part| text.starts_with(part)),
        "notStartingWith" => is_text(value) && !text(|text, part| text.starts_with(part)),
        "endingWith" => text(|text, part| text.ends_with(part)),
        "notEndingWith" => is_text(value) && !text(|text, part| text.ends_with(part)),
        "containing" => text(|text, part| text.contains(part)),
        "notContaining" => is_text(value) && !text(|text, part| text.contains(part)),
        // The one pattern: a text that begins with a letter before `m`.
        "regex" => text(begins_early),
        "notRegex" => is_text(value) && !text(begins_early),
        "typeOf" => values[0] == Value::text(type_of(value)),
        other => panic!("no test has {other}"),
    }
}

fn begins_early(text: &str, pattern: &str) -> bool {
    assert_eq!(pattern, "^[a-m]", "the one pattern");
    text.starts_with(|first| ('a'..='m').contains(&first))
}

const fn is_text(value: &Value) -> bool {
    matches!(value, Value::Text(_))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Int(_) => "INT",
        Value::Long(_) => "LONG",
        Value::Double(_) => "DOUBLE",
        Value::Bool(_) => "BOOLEAN",
        Value::Date(_) => "DATETIME",
        Value::Text(_) => "STRING",
        Value::Vertex(_) => "VERTEX",
        Value::Edge(..) => "EDGE",
        Value::VertexProperty(..) => "VPROPERTY",
        Value::Property(..) => "PROPERTY",
        Value::List(_) => "LIST",
        Value::Set(_) => "SET",
        Value::Map(_) => "MAP",
        Value::Path(_) => "PATH",
        Value::Tree(_) => "TREE",
        Value::Graph(_) => "GRAPH",
        Value::Null => "NULL",
        Value::Entry(_) | Value::Token(_) => "",
    }
}

/// Whether one of the arguments is the value, or the predicate holds for it.
fn any_holds(arguments: &[Argument], value: &Value) -> bool {
    arguments.iter().any(|argument| match argument {
        Argument::Test(test) => holds(test, value),
        Argument::Value(own) => value.equals(own),
        Argument::Name(own) => value.equals(&Value::text(own)),
        other => panic!("no condition: {other}"),
    })
}

impl Naive<'_> {
    /// `None`: the step is no filter.
    pub(super) fn keeps(&self, step: &Step, walker: &Walker) -> Result<Option<bool>, LeftOut> {
        let value = &walker.value;
        let arguments = step.arguments.as_slice();
        let each = |meets: fn(bool) -> bool| match (value.members(), arguments) {
            (Some(members), [Argument::Test(test)]) => {
                members.iter().all(|member| meets(holds(test, member)))
            }
            _ => false,
        };
        Ok(Some(match step.name {
            "identity" | "barrier" => true,
            "discard" => false,
            "coin" => step.value(0).as_f64() == Some(1.0),
            "has" => self.has(arguments, walker)?,
            "hasNot" => self.property(value, step.names()[0]).is_none(),
            "hasLabel" => any_holds(arguments, &self.label(value)),
            "hasId" => any_holds(arguments, &self.id(value)),
            "hasKey" => any_holds(arguments, &Value::text(own_key(value))),
            "hasValue" => any_holds(arguments, &own_value(value)),
            "is" => any_holds(arguments, value),
            "all" => each(|held| held),
            "none" => each(|held| !held),
            "any" => match (value.members(), arguments) {
                (Some(members), [Argument::Test(test)]) => {
                    members.iter().any(|member| holds(test, member))
                }
                _ => false,
            },
            "where" => self.is_where(step, walker)?,
            "filter" => match arguments {
                [Argument::Test(test)] => holds(test, value),
                _ => self.gives(step.child(0), walker)?,
            },
            "not" => !self.gives(step.child(0), walker)?,
            "and" | "or" => {
                let mut held = Vec::new();
                for child in step.children() {
                    held.push(self.gives(child, walker)?);
                }
                match step.name {
                    "and" => held.iter().all(|held| *held),
                    _ => held.iter().any(|held| *held),
                }
            }
            "simplePath" => self.repeats(step, walker)? == Some(false),
            "cyclicPath" => self.repeats(step, walker)? == Some(true),
            "sideEffect" => {
                self.run(step.child(0), vec![walker.clone()])?;
                true
            }
            _ => return Ok(None),
        }))
    }

    fn has(&self, arguments: &[Argument], walker: &Walker) -> Result<bool, LeftOut> {
        let value = &walker.value;
        Ok(match arguments {
            [Argument::Name(key)] => self.property(value, key).is_some(),
            [Argument::Name(label), Argument::Name(key), condition] => {
                let is_of = self.label(value) == Value::text(label);
                is_of && self.has(&[Argument::Name(key.clone()), condition.clone()], walker)?
            }
            [Argument::Word("T.id"), condition] => {
                any_holds(std::slice::from_ref(condition), &self.id(value))
            }
            [Argument::Word("T.label"), condition] => {
                any_holds(std::slice::from_ref(condition), &self.label(value))
            }
            [Argument::Name(key), condition] => {
                let Some(found) = self.property(value, key) else {
                    return Ok(false);
                };
                match condition {
                    Argument::Child(child) => self.gives(child, &walker.to(found))?,
                    condition => any_holds(std::slice::from_ref(condition), &found),
                }
            }
            other => panic!("no test has has({other:?})"),
        })
    }

    /// `where` of a child, or of a predicate whose values are labels or side effects.
    fn is_where(&self, step: &Step, walker: &Walker) -> Result<bool, LeftOut> {
        let (start, test) = match step.arguments.as_slice() {
            [Argument::Child(child)] => return self.is_where_child(child, walker),
            [Argument::Test(test)] => (walker.value.clone(), test),
            [Argument::Name(label), Argument::Test(test)] => match self.named(label, walker) {
                Some(value) => (value, test),
                None => return Ok(false),
            },
            other => panic!("no test has where({other:?})"),
        };
        let bys = step.all_behind("by");
        let read = |at: usize, value: Value| match bys.as_slice() {
            [] => Ok(Some(value)),
            bys => self.by(Some(bys[at % bys.len()]), &walker.to(value)),
        };
        let Some(left) = read(0, start)? else {
            return Ok(false);
        };
        let Test::Is(name, labels) = test else {
            panic!("no test has where({test})")
        };
        let mut values = Vec::new();
        for label in labels {
            let Value::Text(label) = label else {
                panic!("{label:?} is no label")
            };
            let Some(found) = self.named(label, walker) else {
                return Ok(false);
            };
            // A side effect is looked through.
            let is_effect = self.effects.borrow().contains_key(label);
            match (is_effect, found) {
                (true, Value::List(members)) => values.extend(members),
                (_, found) => match read(1, found)? {
                    Some(value) => values.push(value),
                    None => return Ok(false),
                },
            }
        }
        Ok(is(name, &values, &left))
    }

    /// `as` at the start says where the child begins, at its end what it has to come to.
    fn is_where_child(&self, child: &[Step], walker: &Walker) -> Result<bool, LeftOut> {
        let label = |step: Option<&Step>| {
            let step = step.filter(|step| step.name == "as")?;
            Some(step.names()[0].to_owned())
        };
        let (first, last) = (label(child.first()), label(child.last()));
        let mut from = walker.clone();
        if let Some(first) = &first {
            match self.named(first, walker) {
                Some(value) => from = walker.to(value),
                None => return Ok(false),
            }
        }
        let steps = &child[usize::from(first.is_some())..];
        let Some(last) = last else {
            return self.gives(steps, &from);
        };
        let Some(wanted) = self.named(&last, walker) else {
            return Ok(false);
        };
        let found = self.child(&steps[..steps.len() - 1], &from)?;
        Ok(found.iter().any(|value| value.equals(&wanted)))
    }

    /// What a name stands for: an entry of the map that flows, a side effect, the last value with
    /// the label.
    pub(super) fn named(&self, name: &str, walker: &Walker) -> Option<Value> {
        if let Value::Map(_) = walker.value
            && let Some(found) = self.by_key(&walker.value, name)
        {
            return Some(found);
        }
        let effect = self.effects.borrow().get(name).cloned();
        effect.or_else(|| walker.labelled(name).pop())
    }

    /// Whether a path has an object twice; `None` where `by` finds nothing.
    fn repeats(&self, step: &Step, walker: &Walker) -> Result<Option<bool>, LeftOut> {
        let Some(objects) = self.read_path(step, walker)? else {
            return Ok(None);
        };
        let count = objects.len();
        let values = objects.into_iter().map(|(value, _)| value);
        Ok(Some(distinct(values).len() < count))
    }
}
