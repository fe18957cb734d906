//! An evaluator of traversals by their definitions: all values at a step, one after the other, over
//! all elements of the model. It has no plan, no batches and no counts of equal values.

mod barriers;
mod branches;
mod elements;
mod filters;
mod lists;
mod maps;
mod matching;
mod texts;

use std::cell::RefCell;
use std::collections::BTreeMap;

use varve_testkit::model::ModelView;

use super::step::{Argument, Step};
use super::value::{Value, take_undecided};

/// How many values a traversal may have at a time; with more it is left out.
const VALUES_MAX: usize = 3_000;

/// A traverser.
#[derive(Debug, Clone)]
struct Walker {
    value: Value,
    /// The objects so far, each with its labels.
    path: Vec<(Value, Vec<String>)>,
    /// The loops that it is in, outermost first: names and completed rounds.
    loops: Vec<(Option<String>, i64)>,
    sack: Option<Value>,
}

impl Walker {
    fn new(value: Value) -> Self {
        Self {
            path: vec![(value.clone(), Vec::new())],
            value,
            loops: Vec::new(),
            sack: None,
        }
    }

    fn to(&self, value: Value) -> Self {
        let mut next = self.clone();
        next.path.push((value.clone(), Vec::new()));
        next.value = value;
        next
    }

    /// The values with a label, first to last.
    fn labelled(&self, label: &str) -> Vec<Value> {
        let has = |(_, labels): &&(Value, Vec<String>)| labels.iter().any(|own| own == label);
        let objects = self.path.iter().filter(has);
        objects.map(|(value, _)| value.clone()).collect()
    }
}

/// More values than [`VALUES_MAX`], or results that depend on an order that nothing decides.
#[derive(Debug)]
pub(crate) struct LeftOut;

type Walkers = Result<Vec<Walker>, LeftOut>;

struct Naive<'a> {
    view: &'a ModelView,
    /// Side effects.
    effects: RefCell<BTreeMap<String, Value>>,
}

/// The results of a traversal from a source with these settings.
pub(crate) fn results(
    view: &ModelView,
    settings: &[Step],
    steps: &[Step],
) -> Result<Vec<Value>, LeftOut> {
    take_undecided();
    let mut start = Walker::new(Value::Null);
    start.path.clear();
    let naive = Naive {
        view,
        effects: RefCell::default(),
    };
    for setting in settings {
        match setting.name {
            "withSack" => start.sack = Some(setting.value(0).clone()),
            "withSideEffect" => {
                let name = setting.names()[0].to_owned();
                let value = setting.value(1).clone();
                naive.effects.borrow_mut().insert(name, value);
            }
            other => panic!("no test has {other}"),
        }
    }
    for step in steps {
        step.visit(&mut |step| naive.register(step));
    }
    let walkers = naive.run(steps, vec![start])?;
    if take_undecided() {
        return Err(LeftOut);
    }
    Ok(walkers.into_iter().map(|walker| walker.value).collect())
}

/// Equal values with their places, in the order of the first of each.
fn distinct(values: impl IntoIterator<Item = Value>) -> Vec<(Value, Vec<usize>)> {
    let mut found: Vec<(String, Value, Vec<usize>)> = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        value.look_at_order();
        let text = value.canonical();
        match found.iter_mut().find(|(own, ..)| *own == text) {
            Some((.., places)) => places.push(at),
            None => found.push((text, value, vec![at])),
        }
    }
    found
        .into_iter()
        .map(|(_, value, places)| (value, places))
        .collect()
}

/// A set of these.
fn set_of(values: impl IntoIterator<Item = Value>) -> Value {
    let each = distinct(values).into_iter();
    Value::Set(each.map(|(value, _)| value).collect())
}

impl Naive<'_> {
    /// A side effect is there, and empty, before anything comes to its step.
    fn register(&self, step: &Step) {
        let empty = match step.name {
            "aggregate" | "store" => Value::List(Vec::new()),
            "group" | "groupCount" => Value::Map(Vec::new()),
            "tree" => Value::Tree(Vec::new()),
            "subgraph" => Value::Graph(Vec::new()),
            _ => return,
        };
        if let Some(name) = step.names().first() {
            let mut effects = self.effects.borrow_mut();
            effects.entry((*name).to_owned()).or_insert(empty);
        }
    }

    fn run(&self, steps: &[Step], mut walkers: Vec<Walker>) -> Walkers {
        for step in steps {
            walkers = self.step(step, walkers)?;
            if walkers.len() > VALUES_MAX {
                return Err(LeftOut);
            }
        }
        Ok(walkers)
    }

    /// What a child gives for one walker.
    fn child(&self, steps: &[Step], walker: &Walker) -> Result<Vec<Value>, LeftOut> {
        let found = self.run(steps, vec![walker.clone()])?;
        Ok(found.into_iter().map(|walker| walker.value).collect())
    }

    /// Whether a child gives anything for a walker.
    fn gives(&self, child: &[Step], walker: &Walker) -> Result<bool, LeftOut> {
        Ok(!self.run(child, vec![walker.clone()])?.is_empty())
    }

    /// What `by` reads of a walker: itself without arguments, a property or an entry by its key, a
    /// token, the first result of a child. `None`: nothing.
    fn by(&self, by: Option<&Step>, walker: &Walker) -> Result<Option<Value>, LeftOut> {
        Ok(match by.and_then(|by| by.arguments.first()) {
            None | Some(Argument::Word("asc" | "desc")) => Some(walker.value.clone()),
            Some(Argument::Name(key)) => self.by_key(&walker.value, key),
            Some(Argument::Word("T.id")) => Some(self.id(&walker.value)),
            Some(Argument::Word("T.label")) => Some(self.label(&walker.value)),
            Some(Argument::Word(word @ ("keys" | "values"))) => {
                Some(lists::column(&walker.value, word))
            }
            Some(Argument::Child(steps)) => self.child(steps, walker)?.into_iter().next(),
            Some(other) => panic!("no test has by({other})"),
        })
    }

    fn by_key(&self, value: &Value, key: &str) -> Option<Value> {
        match value {
            Value::Map(entries) => {
                let mut all = entries.iter();
                let found = all.find(|(own, _)| own.is_equivalent(&Value::text(key)));
                found.map(|(_, value)| value.clone())
            }
            element => self.property(element, key),
        }
    }

    /// Steps that see all values; all others look at one at a time.
    fn step(&self, step: &Step, walkers: Vec<Walker>) -> Walkers {
        if let Some(found) = self.branch(step, &walkers)? {
            return Ok(found);
        }
        if let Some(found) = self.barrier(step, &walkers)? {
            return Ok(found);
        }
        let mut all = Vec::new();
        for walker in &walkers {
            all.extend(self.each(step, walker)?);
        }
        Ok(all)
    }

    fn each(&self, step: &Step, walker: &Walker) -> Walkers {
        if step.name == "as" {
            let mut named = walker.clone();
            let last = named.path.last_mut().expect("where it is");
            last.1.extend(step.names().into_iter().map(str::to_owned));
            return Ok(vec![named]);
        }
        if step.name == "sack" {
            return self.sack(step, walker);
        }
        if let Some(keeps) = self.keeps(step, walker)? {
            return Ok(if keeps {
                vec![walker.clone()]
            } else {
                Vec::new()
            });
        }
        let values = match self.elements_of(step, walker) {
            Some(values) => values,
            None => match self.mapped(step, walker)? {
                Some(values) => values,
                None => match texts::converted(step, &walker.value) {
                    Some(value) => vec![value],
                    None => self.combined(step, walker)?,
                },
            },
        };
        Ok(values.into_iter().map(|value| walker.to(value)).collect())
    }

    /// `sack()` reads, `sack(sum).by(…)` changes.
    fn sack(&self, step: &Step, walker: &Walker) -> Walkers {
        let sack = walker.sack.clone().expect("a sack");
        let Some(Argument::Word(operator)) = step.arguments.first() else {
            return Ok(vec![walker.to(sack)]);
        };
        let Some(value) = self.by(step.behind.first(), walker)? else {
            return Ok(Vec::new());
        };
        let mut next = walker.clone();
        next.sack = Some(match *operator {
            "assign" => value,
            operator => super::value::operate(operator, &sack, &value),
        });
        Ok(vec![next])
    }
}
