//! Traversals drawn by chance, typed: each step fits what flows, and the multiset of the results
//! depends on no order that is not asked for.
//!
//! Forms that are not drawn, besides the steps of `LEFT_OUT`:
//! - those whose result an order decides: cuts without an order of all values, `group` whose second
//!   `by` does not reduce, `map` of a child with several results, `coin` and `sample` that choose;
//! - those that are refused: a predicate of texts over other values, `concat` of a child without a
//!   result;
//! - sacks that merge, and `barrier(normSack)`: which traversers meet depends on the batches;
//! - nulls, numbers over 2^31 and other widths than INT, LONG and DOUBLE.

mod branches;
mod elements;
mod endings;
mod paths;
mod tests;
mod values;

use varve_testkit::Random;

use super::step::{Argument, Step, Steps};
use super::value::Value;

/// What flows between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Vertex,
    /// An edge that was reached from one of its ends.
    Walked,
    Edge,
    VertexProperty,
    EdgeProperty,
    /// Whole numbers of 32 bits that are small.
    Int,
    /// Whole numbers of 64 bits that are small.
    Long,
    Double,
    Text,
    Date,
    Bool,
    /// A list or a set in any order.
    Bag(Of),
    /// A list in an order that is known.
    Sorted(Of),
    Map,
    Entry,
    Path,
    Any,
}

/// What a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Int,
    Text,
    /// A number or a text, and its number.
    Pair,
    Other,
}

impl Flow {
    const fn is_element(self) -> bool {
        matches!(self, Self::Vertex | Self::Walked | Self::Edge)
    }

    /// What lists of these hold.
    const fn of(self) -> Of {
        match self {
            Self::Int => Of::Int,
            Self::Text => Of::Text,
            _ => Of::Other,
        }
    }

    /// How many levels of lists have an order that is known.
    const fn levels_in_order(self) -> usize {
        match self {
            Self::Sorted(Of::Pair) => 2,
            Self::Sorted(_) => 1,
            _ => 0,
        }
    }

    /// What two ways give together.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Walked, Self::Edge) | (Self::Edge, Self::Walked) => Self::Edge,
            (a, b) if a == b => a,
            _ => Self::Any,
        }
    }

    /// An edge that comes back from elsewhere has no other end.
    const fn recalled(self) -> Self {
        match self {
            Self::Walked => Self::Edge,
            other => other,
        }
    }
}

/// What traversers carry. Where they carry more than a value no step may drop one of two equal
/// values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carries {
    Value,
    Path,
    Sack,
}

pub(crate) struct Traversal {
    /// Instructions of the source.
    pub(crate) settings: Steps,
    pub(crate) steps: Steps,
    /// How many levels of the lists that it gives have an order that is known.
    pub(crate) levels_in_order: usize,
}

/// A traversal from `g`.
pub(crate) fn traversal(random: &mut Random) -> Traversal {
    let carries = match random.below(6) {
        0 | 1 => Carries::Path,
        2 => Carries::Sack,
        _ => Carries::Value,
    };
    let mut draw = Draw {
        carries,
        labels: Vec::new(),
        effects: Vec::new(),
        stored: Vec::new(),
        walks: true,
        is_looping: false,
        budget: 3 + random.below(8),
        random,
    };
    let mut settings = Vec::new();
    if carries == Carries::Sack {
        settings.push(Step::new("withSack").with(1));
    }
    if draw.random.one_in(8) {
        let list = Value::List(vec![Value::Int(1), Value::Int(2)]);
        settings.push(Step::new("withSideEffect").with("s").with(list));
        draw.effects.push("s".to_owned());
    }
    let mut steps = Vec::new();
    let mut flow = draw.source(&mut steps);
    for _ in 0..1 + draw.random.below(5) {
        flow = draw.step(flow, 0, &mut steps);
    }
    let flow = draw.ending(flow, &mut steps);
    Traversal {
        settings,
        steps,
        levels_in_order: flow.levels_in_order(),
    }
}

struct Draw<'r> {
    random: &'r mut Random,
    carries: Carries,
    /// Labels given so far, with what they stand for.
    labels: Vec<(String, Flow)>,
    /// Side effects that are complete, and hold lists.
    effects: Vec<String>,
    /// Side effects that are complete at the end.
    stored: Vec<String>,
    /// Whether all objects of the path are vertices and edges.
    walks: bool,
    /// Whether the step is in the body of a loop.
    is_looping: bool,
    /// Steps with children that may still come.
    budget: usize,
}

impl Draw<'_> {
    fn source(&mut self, steps: &mut Steps) -> Flow {
        let (step, flow) = match self.random.below(12) {
            0 | 1 => (Step::new("E"), Flow::Edge),
            2 => {
                let first = self.random.below(6) as i64;
                (Step::new("V").with_all([first, first + 1]), Flow::Vertex)
            }
            3 => {
                let ints = [0, 1, 1, 3, 2].map(Value::Int);
                (Step::new("inject").with_all(ints), Flow::Int)
            }
            4 => {
                let texts = ["12", "abc", "true", "2020-02-28", "-1"];
                let texts = match self.random.below(2) {
                    0 => Step::new("inject").with_all(texts.map(Value::text)),
                    _ => return self.injected(steps),
                };
                (texts, Flow::Text)
            }
            _ => (Step::new("V"), Flow::Vertex),
        };
        self.walks = flow.is_element();
        steps.push(step);
        flow
    }

    /// Texts that a conversion reads.
    fn injected(&mut self, steps: &mut Steps) -> Flow {
        self.walks = false;
        let (texts, step, flow) = match self.random.below(3) {
            0 => (["12", "3"], "asNumber", Flow::Int),
            1 => (["true", "false"], "asBool", Flow::Bool),
            _ => {
                let day = "2020-02-28T00:00:00Z";
                ([day, day], "asDate", Flow::Date)
            }
        };
        steps.push(Step::new("inject").with_all(texts.map(Value::text)));
        steps.push(Step::new(step));
        flow
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        *self.random.pick(all)
    }

    fn number(&mut self, limit: usize) -> i64 {
        self.random.below(limit) as i64
    }

    /// Adds a step that fits what flows, and says what flows behind it.
    fn step(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        let next = self.any_step(flow, depth, steps);
        self.walks &= next.is_element();
        next
    }

    fn any_step(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        if depth < 2 && self.budget > 0 && self.random.one_in(3) {
            self.budget -= 1;
            return self.nested(flow, depth, steps);
        }
        match self.carries {
            Carries::Path if depth == 0 && self.random.one_in(3) => {
                return self.labelled(flow, steps);
            }
            Carries::Sack if self.random.one_in(4) => return self.sacked(flow, steps),
            _ => {}
        }
        if self.random.one_in(12) {
            return self.of_anything(flow, depth, steps);
        }
        match flow {
            Flow::Vertex => self.of_vertex(depth, steps),
            Flow::Walked | Flow::Edge => self.of_edge(flow, steps),
            Flow::VertexProperty | Flow::EdgeProperty => self.of_property(flow, steps),
            Flow::Int | Flow::Long | Flow::Double => self.of_number(flow, steps),
            Flow::Text => self.of_text(steps),
            Flow::Date => self.of_date(steps),
            Flow::Bag(of) => self.of_list(flow, of, steps),
            Flow::Sorted(of) => match self.random.below(2) {
                0 => self.of_list(flow, of, steps),
                _ => self.of_sorted(of, steps),
            },
            Flow::Map => self.of_map(steps),
            Flow::Entry => {
                let column = self.pick(&["keys", "values"]);
                steps.push(Step::new("select").with(Argument::Word(column)));
                Flow::Any
            }
            Flow::Path => self.of_path(steps),
            Flow::Bool | Flow::Any => self.of_any(flow, steps),
        }
    }

    /// Steps that take whatever flows.
    fn of_anything(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        let is_plain = self.carries == Carries::Value && !self.is_looping;
        match self.random.below(9) {
            0 => steps.push(Step::new("barrier")),
            1 => steps.push(Step::new("coin").with(Value::Double(self.pick(&[1.0, 1.0, 0.0])))),
            2 => steps.push(Step::new("sample").with(100_000)),
            3 if depth == 0 && !self.is_looping => return self.gathered(flow, steps),
            4 if is_plain && depth == 0 => {
                steps.push(Step::new("dedup"));
                // Of two equal properties of edges either may be left.
                return if flow == Flow::EdgeProperty {
                    Flow::Any
                } else {
                    flow.recalled()
                };
            }
            5 if is_plain && depth == 0 => {
                steps.push(Step::new("fold"));
                steps.push(Step::new("unfold"));
                return match flow {
                    // A list of lists is taken apart once more.
                    Flow::Bag(_) | Flow::Sorted(_) | Flow::Map | Flow::Path => flow,
                    other => other.recalled(),
                };
            }
            6 => steps.push(Step::new("tail").with(100_000)),
            7 if matches!(flow, Flow::Int | Flow::Text) => {
                let order = self.pick(&["asc", "desc"]);
                steps.push(Step::new("order").by(Argument::Word(order)));
            }
            _ => steps.push(Step::new("identity")),
        }
        flow
    }

    /// `aggregate`, and what reads it: the side effect is complete behind it.
    fn gathered(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        if let Some(name) = self.effects.last().cloned()
            && self.random.one_in(2)
        {
            let test = self.pick(&["within", "without"]);
            let test = super::step::Test::Is(test, vec![Value::Text(name)]);
            steps.push(Step::new("where").with(test));
            return flow;
        }
        if self.random.one_in(4) {
            // What was stored is not complete before the end.
            let name = format!("y{}", self.stored.len());
            self.stored.push(name.clone());
            steps.push(Step::new("store").with(name));
            return flow;
        }
        let name = format!("x{}", self.effects.len());
        self.effects.push(name.clone());
        let step = Step::new("aggregate").with(name.as_str());
        steps.push(match flow {
            Flow::Vertex if self.random.one_in(3) => step.by("age"),
            _ => step,
        });
        if self.random.one_in(3) {
            steps.push(Step::new("select").with(name.as_str()));
            steps.push(Step::new("count").with(Argument::Word("local")));
            return Flow::Long;
        }
        flow
    }

    /// A child of a few steps, and what it gives.
    fn child(&mut self, flow: Flow, depth: usize) -> (Steps, Flow) {
        let (mut steps, mut gives) = (Vec::new(), flow);
        for _ in 0..1 + self.random.below(2) {
            gives = self.step(gives, depth + 1, &mut steps);
        }
        (steps, gives)
    }

    /// A child that gives what it takes.
    fn same(&mut self, flow: Flow, depth: usize) -> Steps {
        for _ in 0..20 {
            let child = self.child(flow, depth);
            if child.1 == flow {
                return child.0;
            }
        }
        vec![Step::new("identity")]
    }
}
