//! Steps that turn one value into others by its labels, its path, or children.

use super::super::step::{Argument, Step};
use super::super::value::Value;
use super::lists::column;
use super::{LeftOut, Naive, Walker};

/// Objects with their labels.
type Objects = Vec<(Value, Vec<String>)>;

impl Naive<'_> {
    /// `None`: the step is none of these.
    pub(super) fn mapped(
        &self,
        step: &Step,
        walker: &Walker,
    ) -> Result<Option<Vec<Value>>, LeftOut> {
        let value = &walker.value;
        Ok(Some(match step.name {
            "constant" => vec![step.value(0).clone()],
            "select" => self.select(step, walker)?.into_iter().collect(),
            "project" => {
                let bys = step.all_behind("by");
                let mut map = Vec::new();
                for (at, name) in step.names().into_iter().enumerate() {
                    let found = self.by(Some(bys[at % bys.len()]), walker)?;
                    map.extend(found.map(|found| (Value::text(name), found)));
                }
                vec![Value::Map(map)]
            }
            "path" => {
                let objects = self.read_path(step, walker)?;
                objects.map(Value::Path).into_iter().collect()
            }
            "loops" => {
                let names = step.names();
                let mut loops = walker.loops.iter().rev();
                let wanted = loops.find(|(own, _)| match names.first() {
                    Some(name) => own.as_deref() == Some(*name),
                    None => true,
                });
                vec![Value::Int(wanted.expect("it is in the loop").1)]
            }
            "unfold" => match value {
                Value::Map(entries) => {
                    let entries = entries.iter().cloned();
                    entries.map(|entry| Value::Entry(Box::new(entry))).collect()
                }
                other => other.members().unwrap_or_else(|| vec![other.clone()]),
            },
            "math" => self.math(step, walker)?.into_iter().collect(),
            "concat" => vec![self.concat(step, walker)?],
            "format" => self.format(step, walker)?.into_iter().collect(),
            "dateDiff" => {
                let other = match &step.arguments[0] {
                    Argument::Child(child) => self.child(child, walker)?.remove(0),
                    _ => step.value(0).clone(),
                };
                match (value, other) {
                    (Value::Date(a), Value::Date(b)) => vec![Value::Long(a - b)],
                    other => panic!("no difference of {other:?}"),
                }
            }
            _ => return Ok(None),
        }))
    }

    fn select(&self, step: &Step, walker: &Walker) -> Result<Option<Value>, LeftOut> {
        if let [Argument::Word(word @ ("keys" | "values"))] = step.arguments.as_slice() {
            return Ok(Some(column(&walker.value, word)));
        }
        let pop = match step.arguments.first() {
            Some(Argument::Word(pop)) => pop,
            _ => "last",
        };
        let (names, bys) = (step.names(), step.all_behind("by"));
        let mut map = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let Some(found) = self.popped(pop, name, walker) else {
                return Ok(None);
            };
            let found = match bys.as_slice() {
                [] => Some(found),
                bys => self.by(Some(bys[at % bys.len()]), &walker.to(found))?,
            };
            match found {
                Some(found) => map.push((Value::text(name), found)),
                None => return Ok(None),
            }
        }
        Ok(Some(match map.len() {
            1 => map.remove(0).1,
            _ => Value::Map(map),
        }))
    }

    fn popped(&self, pop: &str, name: &str, walker: &Walker) -> Option<Value> {
        let mut all = walker.labelled(name);
        match (pop, all.len()) {
            ("last", _) | (_, 0) => self.named(name, walker),
            ("mixed", 1) | ("first", _) => Some(all.remove(0)),
            ("mixed" | "all", _) => Some(Value::List(all)),
            other => panic!("no test has {other:?}"),
        }
    }

    /// The objects of the path, from one label to another, each read by the next `by`. `None` where
    /// one finds nothing.
    pub(super) fn read_path(
        &self,
        step: &Step,
        walker: &Walker,
    ) -> Result<Option<Objects>, LeftOut> {
        let place = |name: &str| {
            let modulator = Step::find(&step.behind, name)?;
            let label = modulator.names()[0].to_owned();
            let mut objects = walker.path.iter();
            objects.position(|(_, labels)| labels.contains(&label))
        };
        let (from, to) = (place("from").unwrap_or(0), place("to"));
        let to = to.map_or(walker.path.len(), |to| to + 1);
        let bys = step.all_behind("by");
        let mut read = Vec::new();
        for (at, (object, labels)) in walker.path[from..to].iter().enumerate() {
            let found = match bys.as_slice() {
                [] => Some(object.clone()),
                bys => self.by(Some(bys[at % bys.len()]), &Walker::new(object.clone()))?,
            };
            match found {
                Some(found) => read.push((found, labels.clone())),
                None => return Ok(None),
            }
        }
        Ok(Some(read))
    }

    /// `x op y` of variables and numbers, as a DOUBLE.
    fn math(&self, step: &Step, walker: &Walker) -> Result<Option<Value>, LeftOut> {
        let text = step.names()[0];
        let parts: Vec<&str> = text.split(' ').collect();
        let [left, operator, right] = parts.as_slice() else {
            panic!("no test has math('{text}')")
        };
        let bys = step.all_behind("by");
        let mut variables: Vec<&str> = Vec::new();
        let mut numbers = Vec::new();
        for name in [left, right] {
            if let Ok(number) = name.parse::<f64>() {
                numbers.push(number);
                continue;
            }
            let at = variables.iter().position(|own| own == name);
            let at = at.unwrap_or_else(|| {
                variables.push(name);
                variables.len() - 1
            });
            let value = match *name {
                "_" => Some(walker.value.clone()),
                name => self.named(name, walker),
            };
            let Some(value) = value else { return Ok(None) };
            let value = match bys.as_slice() {
                [] => Some(value),
                bys => self.by(Some(bys[at % bys.len()]), &walker.to(value))?,
            };
            match value {
                Some(value) => numbers.push(value.as_f64().expect("a number")),
                None => return Ok(None),
            }
        }
        let (a, b) = (numbers[0], numbers[1]);
        Ok(Some(Value::Double(match *operator {
            "+" => a + b,
            "-" => a - b,
            "*" => a * b,
            "/" => a / b,
            other => panic!("no test has {other}"),
        })))
    }

    /// The value, then texts or first results of children; nothing adds nothing.
    fn concat(&self, step: &Step, walker: &Walker) -> Result<Value, LeftOut> {
        let mut text = walker.value.as_text();
        for argument in &step.arguments {
            match argument {
                Argument::Name(more) => text.push_str(more),
                Argument::Child(child) => {
                    if let Some(first) = self.child(child, walker)?.first() {
                        text.push_str(&first.as_text());
                    }
                }
                other => panic!("no test has concat({other})"),
            }
        }
        Ok(Value::Text(text))
    }

    /// `%{_}` is what the next `by` reads, `%{x}` a property, a label or a side effect.
    fn format(&self, step: &Step, walker: &Walker) -> Result<Option<Value>, LeftOut> {
        let bys = step.all_behind("by");
        let (mut text, mut rest, mut next) = (String::new(), step.names()[0], 0);
        while let Some((before, behind)) = rest.split_once("%{") {
            let (name, after) = behind.split_once('}').expect("an end");
            let found = match name {
                "_" => {
                    next += 1;
                    self.by(bys.get(next - 1).copied(), walker)?
                }
                name => match &walker.value {
                    Value::Vertex(_) | Value::Edge(..) => self.property(&walker.value, name),
                    _ => None,
                }
                .or_else(|| self.named(name, walker)),
            };
            let Some(found) = found else { return Ok(None) };
            text.push_str(before);
            text.push_str(&found.as_text());
            rest = after;
        }
        text.push_str(rest);
        Ok(Some(Value::Text(text)))
    }
}
