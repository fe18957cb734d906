//! What sees all values, at the end of a traversal.

use super::{Carries, Draw, Flow};
use crate::gremlin::step::{Argument, Step, Steps, Test};
use crate::gremlin::value::Value;

const LOCAL: Argument = Argument::Word("local");

fn id() -> Argument {
    Argument::Word("T.id")
}

fn label() -> Argument {
    Argument::Word("T.label")
}

impl Draw<'_> {
    /// What sees all values, and what flows behind it.
    pub(super) fn ending(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        let before = steps.len();
        match self.random.below(5) {
            0 => {}
            1 => self.whole(flow, steps),
            2 => self.carried(flow, steps),
            _ => match flow {
                Flow::Vertex => self.end_of_vertices(steps),
                Flow::Edge | Flow::Walked => self.end_of_edges(steps),
                Flow::Int | Flow::Text if self.random.one_in(4) => {
                    let down = Argument::Word(self.pick(&["asc", "desc"]));
                    steps.push(Step::new("order").by(down));
                    steps.push(Step::new("fold"));
                    return Flow::Sorted(flow.of());
                }
                Flow::Int | Flow::Long | Flow::Double => self.end_of_numbers(flow, steps),
                Flow::Text => self.end_of_texts(steps),
                // A list in an order that is known is compared as it is.
                Flow::Sorted(_) => {}
                _ => self.whole(flow, steps),
            },
        }
        match steps.len() == before {
            true => flow,
            false => Flow::Any,
        }
    }

    /// Whatever flows.
    fn whole(&mut self, flow: Flow, steps: &mut Steps) {
        match self.random.below(9) {
            0 => steps.push(Step::new("count")),
            1 => steps.push(Step::new("fold")),
            2 => steps.push(Step::new("groupCount")),
            3 => {
                steps.push(Step::new("groupCount").with("q"));
                steps.push(Step::new("cap").with("q"));
            }
            4 => {
                let child = [Step::new("identity"), Step::new("aggregate").with("z")];
                let step = Step::new(self.pick(&["sideEffect", "local"]));
                // A child that gathers sees one value after the other.
                steps.push(step.with(child.to_vec()));
                steps.push(Step::new("fold"));
                steps.push(Step::new("count").with(LOCAL));
                steps.push(Step::new("cap").with("z"));
            }
            5 => {
                let constant = Step::new("constant").with(Value::text("k"));
                steps.push(Step::new("group").by(constant).by(Step::new("count")));
            }
            6 if !flow.is_element() => {
                let child = Step::new("count");
                steps.push(Step::new("union").with(child.clone()).with(child));
            }
            7 if self.random.one_in(4) => steps.push(Step::new("discard")),
            _ if self.carries == Carries::Value => steps.push(Step::new("dedup")),
            _ => steps.push(Step::new("count")),
        }
    }

    /// What traversers carry.
    fn carried(&mut self, flow: Flow, steps: &mut Steps) {
        match self.carries {
            Carries::Sack => steps.push(Step::new("sack")),
            Carries::Path => self.end_of_paths(flow, steps),
            Carries::Value => self.end_of_effects(flow, steps),
        }
    }

    fn end_of_effects(&mut self, flow: Flow, steps: &mut Steps) {
        let all = [self.effects.clone(), self.stored.clone()].concat();
        match all.as_slice() {
            [] => self.whole(flow, steps),
            [one] => steps.push(Step::new("cap").with(one.as_str())),
            [first, .., last] => {
                let names = [first.as_str(), last.as_str()];
                steps.push(Step::new("cap").with_all(names));
            }
        }
    }

    fn end_of_paths(&mut self, flow: Flow, steps: &mut Steps) {
        if let [(a, of_a), .., (b, of_b)] = self.labels.clone().as_slice() {
            let both = [a.as_str(), b.as_str()];
            match self.random.below(6) {
                0 => return steps.push(Step::new("select").with_all(both)),
                1 => {
                    steps.push(Step::new("dedup").with_all(both));
                    return steps.push(Step::new("select").with_all(both));
                }
                2 if of_a.is_element() && of_b.is_element() => {
                    let select = Step::new("select").with_all(both);
                    return steps.push(select.by("age").by(label()));
                }
                3 if of_a.is_element() && of_b.is_element() => {
                    let dedup = Step::new("dedup").with_all(both).by(label());
                    steps.push(dedup);
                    return steps.push(Step::new("select").with_all(both).by(label()));
                }
                4 if of_a.is_element() && of_b.is_element() => {
                    let math = Step::new("math").with(format!("{a} + {b}"));
                    return steps.push(math.by("age"));
                }
                _ => {}
            }
        }
        let path = Step::new("path");
        let path = self.part(path);
        match self.random.below(7) {
            0 if self.walks => steps.push(path.by("age")),
            1 if self.walks => steps.push(path.by(label()).by(id())),
            2 if self.walks => steps.push(Step::new("tree").by(label())),
            3 => steps.push(Step::new("tree")),
            4 => {
                steps.push(Step::new("tree").with("t"));
                steps.push(Step::new("cap").with("t"));
            }
            5 => {
                steps.push(path);
                self.of_path(steps);
            }
            _ if flow.is_element() && self.random.one_in(3) => {
                let first = vec![Step::new("as").with("m"), Step::new("label")];
                let second = vec![Step::new("as").with("m"), Step::new("id")];
                let first = [first, vec![Step::new("as").with("n")]].concat();
                let second = [second, vec![Step::new("as").with("o")]].concat();
                steps.push(Step::new("match").with(first).with(second));
            }
            _ => steps.push(path),
        }
    }

    fn end_of_vertices(&mut self, steps: &mut Steps) {
        let count = |name| vec![Step::new(name), Step::new("count")];
        let down = Argument::Word(self.pick(&["asc", "desc"]));
        match self.random.below(16) {
            0 => steps.push(Step::new("group").by(label()).by(Step::new("count"))),
            1 => {
                let key = self.pick(&["age", "name"]);
                steps.push(Step::new("group").by(key).by(Argument::Child(count("out"))));
            }
            2 => {
                let key = self.pick(&["age", "name"]);
                steps.push(Step::new("groupCount").with("q").by(key));
                steps.push(Step::new("cap").with("q"));
            }
            3 => {
                let values = vec![Step::new("values").with("age"), Step::new("sum")];
                let group = Step::new("group").with("q").by(label());
                steps.push(group.by(Argument::Child(values)));
                steps.push(Step::new("cap").with("q"));
            }
            4 => steps.push(Step::new("group").by(Argument::Child(count("both")))),
            5 if self.carries == Carries::Value => {
                steps.push(Step::new("order").by("name").by(id()));
                steps.push(Step::new("limit").with(3));
            }
            6 if self.carries == Carries::Value => {
                let by_age = Step::new("by").with("age").with(down);
                steps.push(Step::new("order").then(by_age).by(id()));
                steps.push(Step::new("range").with(1).with(4));
            }
            7 if self.carries == Carries::Value => {
                steps.push(Step::new("order").by(id()));
                steps.push(Step::new("skip").with(2));
                steps.push(Step::new("values").with("name"));
            }
            8 if self.carries == Carries::Value => {
                let by_age = Step::new("by").with("age").with(down);
                steps.push(Step::new("order").then(by_age));
                steps.push(Step::new("limit").with(3));
                steps.push(Step::new("values").with("age"));
            }
            9 if self.carries == Carries::Value => {
                steps.push(Step::new("dedup").by(label()));
                steps.push(Step::new("label"));
            }
            10 => {
                let by_degree = Step::new("project").with_all(["a", "b", "c"]).by("age");
                let by_degree = by_degree.by(Argument::Child(count("out")));
                steps.push(by_degree.by(label()));
            }
            11 => {
                steps.push(Step::new("order").by(id()));
                steps.push(Step::new("values").with("name"));
                steps.push(Step::new("fold"));
                steps.push(Step::new("conjoin").with(","));
            }
            12 => {
                let keys = Step::new("by").with(Argument::Word("keys"));
                steps.push(Step::new("groupCount").by("name"));
                steps.push(Step::new("order").with(LOCAL).then(keys));
                steps.push(Step::new("limit").with(LOCAL).with(2));
            }
            _ => self.matched(steps),
        }
    }

    /// Patterns that are bound from the first one on.
    fn matched(&mut self, steps: &mut Steps) {
        let labelled = |from: &str, inner: Step, to: Option<&str>| {
            let mut pattern = vec![Step::new("as").with(from), inner];
            pattern.extend(to.map(|to| Step::new("as").with(to)));
            pattern
        };
        let hop = |draw: &mut Self| {
            let step = Step::new(draw.pick(&["out", "in", "both"]));
            match draw.random.below(2) {
                0 => step.with("knows"),
                _ => step,
            }
        };
        let first = hop(self);
        let mut step = Step::new("match").with(labelled("a", first, Some("b")));
        if self.random.one_in(2) {
            let second = hop(self);
            let (from, to) = self.pick(&[("b", "c"), ("a", "c"), ("b", "a")]);
            step = step.with(labelled(from, second, Some(to)));
        }
        if self.random.one_in(3) {
            let has = Step::new("has").with("age").with(self.number_test());
            step = step.with(labelled("b", has, None));
        }
        if self.random.one_in(3) {
            let inner = hop(self);
            let pattern = labelled("b", inner, Some("a"));
            step = step.with(Step::new("not").with(pattern));
        }
        if self.random.one_in(3) {
            let test = Test::Is(self.pick(&["eq", "neq"]), vec![Value::text("b")]);
            step = step.with(Step::new("where").with("a").with(test));
        }
        steps.push(step);
        match self.random.below(3) {
            0 => steps.push(Step::new("select").with("b")),
            1 => steps.push(Step::new("select").with_all(["a", "b"]).by("age")),
            _ => {}
        }
    }

    fn end_of_edges(&mut self, steps: &mut Steps) {
        match self.random.below(5) {
            0 | 1 => {
                steps.push(Step::new("subgraph").with("g"));
                steps.push(Step::new("cap").with("g"));
            }
            2 => {
                let values = vec![Step::new("values").with("age"), Step::new("fold")];
                steps.push(Step::new("group").by(label()).by(Argument::Child(values)));
            }
            3 => steps.push(Step::new("elementMap")),
            _ => {
                let ends = vec![Step::new("bothV"), Step::new("count")];
                steps.push(Step::new("groupCount").by(Argument::Child(ends)));
            }
        }
    }

    fn end_of_numbers(&mut self, flow: Flow, steps: &mut Steps) {
        if self.random.one_in(2) {
            return steps.push(Step::new(self.pick(&["sum", "max", "min", "mean"])));
        }
        if flow == Flow::Int && self.random.one_in(3) {
            let operator = Argument::Word(self.pick(&["sum", "max", "min"]));
            return steps.push(Step::new("fold").with(2).with(operator));
        }
        if self.carries == Carries::Value {
            let down = Argument::Word(self.pick(&["asc", "desc"]));
            steps.push(Step::new("order").by(down));
            steps.push(match self.random.below(4) {
                0 => Step::new("limit").with(3),
                1 => Step::new("tail").with(2),
                2 => Step::new("skip").with(1),
                _ => Step::new("range").with(1).with(3),
            });
        }
    }

    fn end_of_texts(&mut self, steps: &mut Steps) {
        match self.random.below(4) {
            0 => steps.push(Step::new(self.pick(&["max", "min"]))),
            1 => steps.push(Step::new("groupCount").by(Step::new("length"))),
            2 => {
                steps.push(Step::new("order"));
                steps.push(Step::new("fold"));
                steps.push(Step::new("conjoin").with("|"));
            }
            _ if self.carries == Carries::Value => {
                steps.push(Step::new("order"));
                steps.push(Step::new("limit").with(3));
            }
            _ => steps.push(Step::new("fold")),
        }
    }
}
