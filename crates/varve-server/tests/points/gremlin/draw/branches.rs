//! Steps with children.

use super::{Carries, Draw, Flow};
use crate::gremlin::step::{Argument, Step, Steps};
use crate::gremlin::value::Value;

impl Draw<'_> {
    pub(super) fn nested(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(13) {
            0..=2 => (self.filtering(flow, depth), flow),
            3 | 4 => {
                let (a, first) = self.child(flow, depth);
                let (b, second) = self.child(flow, depth);
                let step = Step::new(self.pick(&["union", "union", "coalesce"]));
                (step.with(a).with(b), first.or(second))
            }
            5 => {
                let (child, gives) = self.child(flow, depth);
                (Step::new("optional").with(child), flow.or(gives))
            }
            6 | 7 => self.choosing(flow, depth),
            8 => {
                let (child, gives) = self.child(flow, depth);
                let step = Step::new(self.pick(&["local", "flatMap"]));
                (step.with(child), gives)
            }
            9 if self.carries == Carries::Value => self.cut(flow, depth),
            9 | 10 => {
                let (child, gives) = self.reduced(flow, depth);
                (Step::new("map").with(child), gives)
            }
            _ => return self.repeated(flow, depth, steps),
        };
        steps.push(step);
        flow
    }

    fn filtering(&mut self, flow: Flow, depth: usize) -> Step {
        let (a, _) = self.child(flow, depth);
        match self.random.below(8) {
            0 => Step::new("not").with(a),
            1 => Step::new("filter").with(a),
            2 => {
                let (b, _) = self.child(flow, depth);
                let step = Step::new(self.pick(&["and", "or"]));
                step.with(a).with(b)
            }
            3 | 4 => {
                let test = self.number_test();
                let counted = [Step::new("count"), Step::new("is").with(test)];
                Step::new("where").with([a, counted.to_vec()].concat())
            }
            5 => {
                let (reduced, _) = self.reduced(flow, depth);
                Step::new("sideEffect").with(reduced)
            }
            _ => Step::new("where").with(a),
        }
    }

    /// A child that gives one value, at most.
    fn reduced(&mut self, flow: Flow, depth: usize) -> (Steps, Flow) {
        let (mut child, gives) = self.child(flow, depth);
        let (step, reduced) = match (self.random.below(6), gives) {
            (0 | 1, Flow::Int) => (Step::new(self.pick(&["sum", "min", "max"])), Flow::Int),
            (2, Flow::Int) => (Step::new("mean"), Flow::Double),
            (3, Flow::Int) => {
                let operator = Argument::Word(self.pick(&["sum", "max"]));
                (Step::new("fold").with(1).with(operator), Flow::Int)
            }
            (0 | 1, Flow::Text) => (Step::new(self.pick(&["min", "max"])), Flow::Text),
            (2 | 3, Flow::Text) | (4, Flow::Int) => {
                child.push(Step::new("order"));
                (Step::new("fold"), Flow::Sorted(gives.of()))
            }
            (0 | 4, _) => (Step::new("fold"), Flow::Bag(gives.of())),
            (1, _) if flow.is_element() && gives.is_element() => (
                Step::new("groupCount").by(Argument::Word("T.label")),
                Flow::Map,
            ),
            _ => (Step::new("count"), Flow::Long),
        };
        child.push(step);
        (child, reduced)
    }

    /// Barriers for each value alone.
    fn cut(&mut self, flow: Flow, depth: usize) -> (Step, Flow) {
        let (mut child, gives) = self.child(flow, depth);
        let gives = match gives {
            Flow::Int | Flow::Text | Flow::Long => {
                child.push(Step::new("order"));
                child.push(match self.random.below(3) {
                    0 => Step::new("limit").with(2),
                    1 => Step::new("skip").with(1),
                    _ => Step::new("tail").with(1),
                });
                gives
            }
            Flow::EdgeProperty => {
                child.push(Step::new("count"));
                Flow::Long
            }
            _ if self.random.one_in(2) => {
                child.push(Step::new("dedup"));
                gives.recalled()
            }
            _ => {
                child.push(Step::new("count"));
                Flow::Long
            }
        };
        (Step::new("local").with(child), gives)
    }

    fn choosing(&mut self, flow: Flow, depth: usize) -> (Step, Flow) {
        let (a, first) = self.child(flow, depth);
        let (b, second) = self.child(flow, depth);
        let both = first.or(second);
        match self.random.below(6) {
            0 if matches!(flow, Flow::Int | Flow::Long) => {
                let step = Step::new("choose").with(self.number_test());
                (step.with(a).with(b), both)
            }
            0 | 1 => {
                let (test, _) = self.child(flow, depth);
                (Step::new("choose").with(test).with(a), first.or(flow))
            }
            2 if flow.is_element() => {
                let step = Step::new("choose").with(Argument::Word("T.label"));
                let option = Step::new("option").with("person").with(a);
                let other = Step::new("option")
                    .with(Argument::Word("Pick.none"))
                    .with(b);
                (step.then(option).then(other), both)
            }
            3 if flow.is_element() => {
                let value = Step::new("values").with("age");
                let option = Step::new("option").with(self.number_test()).with(a);
                let unproductive = Argument::Word("Pick.unproductive");
                let other = Step::new("option").with(unproductive).with(b);
                let step = Step::new("choose").with(value);
                // What no option fits passes.
                (step.then(option).then(other), both.or(flow))
            }
            4 if flow.is_element() => {
                let step = Step::new("branch").with(Step::new("label"));
                let option = Step::new("option")
                    .with(self.pick(&["person", "knows"]))
                    .with(a);
                let word = self.pick(&["Pick.any", "Pick.none"]);
                let other = Step::new("option").with(Argument::Word(word)).with(b);
                (step.then(option).then(other), both)
            }
            _ => {
                let (test, _) = self.child(flow, depth);
                (Step::new("choose").with(test).with(a).with(b), both)
            }
        }
    }

    /// `repeat` in all forms; each ends after a few rounds.
    fn repeated(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        let was = std::mem::replace(&mut self.is_looping, true);
        let mut body = match flow {
            Flow::Vertex if self.random.one_in(2) => {
                vec![Step::new(self.pick(&["out", "in", "both"])).with_all(["knows"])]
            }
            _ => self.same(flow, depth),
        };
        let name = self.random.one_in(4).then(|| format!("r{depth}"));
        if self.carries == Carries::Path && flow.is_element() && self.random.one_in(3) {
            body.push(Step::new("simplePath"));
        }
        let times = 1 + self.number(3);
        let rounds = match &name {
            Some(name) => Step::new("loops").with(name.as_str()),
            None => Step::new("loops"),
        };
        let enough = crate::gremlin::step::Test::Is("gte", vec![Value::Int(times)]);
        let enough = vec![rounds, Step::new("is").with(enough)];
        let mut step = Step::new("repeat");
        step.arguments.extend(name.map(Argument::Name));
        step = step.with(body);
        let ending = match self.random.below(4) {
            0 => Step::new("until").with(enough),
            1 => {
                let (test, _) = self.child(flow, depth);
                Step::new("until").with(Step::new("or").with(test).with(enough))
            }
            _ => Step::new("times").with(times),
        };
        let emitting = match self.random.below(5) {
            0 => Some(Step::new("emit")),
            1 => Some(Step::new("emit").with(self.child(flow, depth).0)),
            2 if flow == Flow::Int => Some(Step::new("emit").with(self.number_test())),
            _ => None,
        };
        self.is_looping = was;
        for modulator in [Some(ending), emitting].into_iter().flatten() {
            step = match self.random.below(2) {
                0 => step.after(modulator),
                _ => step.then(modulator),
            };
        }
        if !step.before.is_empty() {
            // A modulator right behind another loop would belong to that one.
            steps.push(Step::new("identity"));
        }
        steps.push(step);
        flow
    }
}
