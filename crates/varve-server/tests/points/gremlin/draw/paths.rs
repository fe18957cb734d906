//! Steps that read what a traverser carries: labels, its path, its sack.

use super::{Draw, Flow};
use crate::gremlin::step::{Argument, Step, Steps, Test};
use crate::gremlin::value::Value;

impl Draw<'_> {
    /// A label that stands for one of these.
    fn label_of(&mut self, wanted: impl Fn(Flow) -> bool) -> Option<String> {
        let all: Vec<String> = self
            .labels
            .iter()
            .filter(|(_, flow)| wanted(*flow))
            .map(|(label, _)| label.clone())
            .collect();
        (!all.is_empty()).then(|| self.random.pick(&all).clone())
    }

    pub(super) fn labelled(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        if self.labels.is_empty() || self.random.one_in(3) {
            let label = format!("l{}", self.labels.len());
            self.labels.push((label.clone(), flow));
            steps.push(Step::new("as").with(label));
            return flow;
        }
        let (label, was) = self.random.pick(&self.labels).clone();
        let same = Test::Is(self.pick(&["eq", "neq"]), vec![Value::Text(label.clone())]);
        let (step, flow) = match self.random.below(11) {
            0 => (Step::new("where").with(same), flow),
            9 => (self.part(Step::new("path")), Flow::Path),
            1 => {
                let other = self.random.pick(&self.labels).0.clone();
                (Step::new("where").with(other).with(same), flow)
            }
            2 => return self.compared(flow, steps),
            3 => (self.path_filter(), flow),
            4 => {
                let pop = Argument::Word(self.pick(&["first", "last", "mixed"]));
                (Step::new("select").with(pop).with(label), was.recalled())
            }
            5 => {
                let all = Step::new("select").with(Argument::Word("all")).with(label);
                (all, Flow::Sorted(was.of()))
            }
            6 if was.is_element() => (Step::new("select").with(label).by("age"), Flow::Int),
            7 if flow == Flow::Vertex && was == Flow::Vertex => {
                let hop = Step::new(self.pick(&["out", "in", "both"]));
                let child = vec![hop, Step::new("as").with(label)];
                (Step::new("where").with(child), flow)
            }
            8 if flow == Flow::Vertex && was == Flow::Vertex => {
                let start = Step::new("as").with(label);
                (Step::new("where").with(vec![start, Step::new("out")]), flow)
            }
            _ => (Step::new("select").with(label), was.recalled()),
        };
        steps.push(step);
        flow
    }

    /// Two elements by what they have.
    fn compared(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let Some(label) = self
            .label_of(Flow::is_element)
            .filter(|_| flow.is_element())
        else {
            steps.push(Step::new("identity"));
            return flow;
        };
        let name = self.pick(&["eq", "neq", "gt", "lte"]);
        let test = Test::Is(name, vec![Value::Text(label.clone())]);
        let (step, flow) = match self.random.below(3) {
            0 => (Step::new("where").with(test).by("age"), flow),
            1 => (Step::new("where").with(test).by("age").by("age"), flow),
            _ => {
                let text = format!("_ - {label}");
                (Step::new("math").with(text).by("age"), Flow::Double)
            }
        };
        steps.push(step);
        flow
    }

    fn path_filter(&mut self) -> Step {
        let step = Step::new(self.pick(&["simplePath", "simplePath", "cyclicPath"]));
        if self.walks && self.random.one_in(3) {
            return step.by(Argument::Word("T.label"));
        }
        self.part(step)
    }

    /// The path from one label on, or to one, or all of it.
    pub(super) fn part(&mut self, step: Step) -> Step {
        let Some((label, _)) = self.labels.first().cloned() else {
            return step;
        };
        match self.random.below(4) {
            0 => step.then(Step::new("from").with(label)),
            1 => step.then(Step::new("to").with(label)),
            _ => step,
        }
    }

    pub(super) fn sacked(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let operator = self.pick(&["sum", "mult", "minus", "min", "max", "assign"]);
        let step = Step::new("sack").with(Argument::Word(operator));
        steps.push(match flow {
            Flow::Vertex if self.random.one_in(2) => {
                let degree = vec![Step::new("out"), Step::new("count")];
                step.by(Argument::Child(degree))
            }
            Flow::Vertex | Flow::Edge | Flow::Walked if operator != "mult" => step.by("age"),
            Flow::Int if operator != "mult" => step,
            _ => step.by(Step::new("constant").with(2)),
        });
        flow
    }
}
