//! Traversals as a list of steps: written as text, and drawn by chance so that the multiset of
//! their results depends on no order.

use std::fmt;

use varve_testkit::Random;

pub(crate) type Steps = Vec<Step>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    In,
    Out,
    Both,
    Other,
}

/// A predicate of whole numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    Equal(i64),
    Differs(i64),
    Above(i64),
    Below(i64),
    OneOf(i64, i64),
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Vertices(Vec<i64>),
    Edges,
    Hop(Way, Vec<&'static str>),
    HopEdges(Way, Vec<&'static str>),
    Ends(End),
    HasLabel(&'static str),
    Has(Test),
    HasKey,
    HasNot,
    Age,
    Label,
    Id,
    Is(Test),
    Constant,
    Dedup,
    Count,
    Sum,
    Max,
    Min,
    Fold,
    GroupCount,
    GroupByLabel,
    Smallest(usize),
    Where(Steps),
    Not(Steps),
    And(Steps, Steps),
    Or(Steps, Steps),
    Union(Steps, Steps),
    Coalesce(Steps, Steps),
    Optional(Steps),
    Choose(Steps, Steps, Steps),
    Local(Steps),
    Repeat(Steps, usize, bool),
    As(String),
    Select(String),
    SelectBoth(String, String),
    WhereSame(String, bool),
    SimplePath,
    Path,
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal(n) => write!(f, "{n}"),
            Self::Differs(n) => write!(f, "neq({n})"),
            Self::Above(n) => write!(f, "gt({n})"),
            Self::Below(n) => write!(f, "lt({n})"),
            Self::OneOf(a, b) => write!(f, "within({a}, {b})"),
        }
    }
}

/// A child as text.
struct Child<'a>(&'a [Step]);

impl fmt::Display for Child<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("__")?;
        self.0.iter().try_for_each(|step| write!(f, ".{step}"))
    }
}

fn quoted(names: &[&str]) -> String {
    let each: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    each.join(", ")
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Vertices(ids) => {
                let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
                write!(f, "V({})", ids.join(", "))
            }
            Self::Edges => f.write_str("E()"),
            Self::Hop(way, labels) => write!(f, "{}({})", way.name(), quoted(labels)),
            Self::HopEdges(way, labels) => write!(f, "{}E({})", way.name(), quoted(labels)),
            Self::Ends(end) => f.write_str(match end {
                End::In => "inV()",
                End::Out => "outV()",
                End::Both => "bothV()",
                End::Other => "otherV()",
            }),
            Self::HasLabel(name) => write!(f, "hasLabel('{name}')"),
            Self::Has(test) => write!(f, "has('age', {test})"),
            Self::HasKey => f.write_str("has('age')"),
            Self::HasNot => f.write_str("hasNot('age')"),
            Self::Age => f.write_str("values('age')"),
            Self::Label => f.write_str("label()"),
            Self::Id => f.write_str("id()"),
            Self::Is(test) => write!(f, "is({test})"),
            Self::Constant => f.write_str("constant('c')"),
            Self::Dedup => f.write_str("dedup()"),
            Self::Count => f.write_str("count()"),
            Self::Sum => f.write_str("sum()"),
            Self::Max => f.write_str("max()"),
            Self::Min => f.write_str("min()"),
            Self::Fold => f.write_str("fold()"),
            Self::GroupCount => f.write_str("groupCount()"),
            Self::GroupByLabel => f.write_str("group().by(label()).by(count())"),
            Self::Smallest(most) => write!(f, "order().limit({most})"),
            Self::Where(child) => write!(f, "where({})", Child(child)),
            Self::Not(child) => write!(f, "not({})", Child(child)),
            Self::And(a, b) => write!(f, "and({}, {})", Child(a), Child(b)),
            Self::Or(a, b) => write!(f, "or({}, {})", Child(a), Child(b)),
            Self::Union(a, b) => write!(f, "union({}, {})", Child(a), Child(b)),
            Self::Coalesce(a, b) => write!(f, "coalesce({}, {})", Child(a), Child(b)),
            Self::Optional(child) => write!(f, "optional({})", Child(child)),
            Self::Choose(test, yes, no) => {
                write!(f, "choose({}, {}, {})", Child(test), Child(yes), Child(no))
            }
            Self::Local(child) => write!(f, "local({})", Child(child)),
            Self::Repeat(body, times, emits) => {
                write!(f, "repeat({}).times({times})", Child(body))?;
                f.write_str(if *emits { ".emit()" } else { "" })
            }
            Self::As(label) => write!(f, "as('{label}')"),
            Self::Select(label) => write!(f, "select('{label}')"),
            Self::SelectBoth(a, b) => write!(f, "select('{a}', '{b}')"),
            Self::WhereSame(label, true) => write!(f, "where(eq('{label}'))"),
            Self::WhereSame(label, false) => write!(f, "where(neq('{label}'))"),
            Self::SimplePath => f.write_str("simplePath()"),
            Self::Path => f.write_str("path()"),
        }
    }
}

impl Way {
    const fn name(self) -> &'static str {
        match self {
            Self::Out => "out",
            Self::In => "in",
            Self::Both => "both",
        }
    }
}

/// What flows between two steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Vertex,
    /// An edge that was reached from one of its ends.
    Walked,
    Edge,
    Number,
    Text,
    Any,
}

/// A traversal from `g`.
pub(crate) fn traversal(random: &mut Random) -> Steps {
    let mut draw = Draw {
        remembers: random.one_in(3),
        labels: Vec::new(),
        random,
    };
    let (mut steps, mut flow) = draw.source();
    for _ in 0..1 + draw.random.below(5) {
        flow = draw.step(flow, 0, &mut steps);
    }
    draw.ending(flow, &mut steps);
    steps
}

struct Draw<'r> {
    random: &'r mut Random,
    /// Whether values remember their paths: then no step may drop one of two equal values.
    remembers: bool,
    /// Labels given so far, with what they stand for.
    labels: Vec<(String, Flow)>,
}

impl Draw<'_> {
    fn source(&mut self) -> (Steps, Flow) {
        match self.random.below(6) {
            0 => (vec![Step::Edges], Flow::Edge),
            1 => {
                let first = self.random.below(6) as i64;
                (vec![Step::Vertices(vec![first, first + 1])], Flow::Vertex)
            }
            _ => (vec![Step::Vertices(Vec::new())], Flow::Vertex),
        }
    }

    fn test(&mut self) -> Test {
        let n = self.random.below(5) as i64 - 1;
        match self.random.below(5) {
            0 => Test::Equal(n),
            1 => Test::Differs(n),
            2 => Test::Above(n),
            3 => Test::Below(n),
            _ => Test::OneOf(n, n + 2),
        }
    }

    fn edge_labels(&mut self) -> Vec<&'static str> {
        match self.random.below(3) {
            0 => vec!["knows"],
            1 => vec!["created", "wrote"],
            _ => Vec::new(),
        }
    }

    /// Adds a step that fits what flows, and says what flows behind it.
    fn step(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        if depth < 2 && self.random.one_in(3) {
            return self.nested(flow, depth, steps);
        }
        if self.remembers && depth == 0 && self.random.one_in(3) {
            return self.labelled(flow, steps);
        }
        let (step, flow) = match flow {
            Flow::Vertex => match self.random.below(10) {
                0..=3 => {
                    let way = *self.random.pick(&[Way::Out, Way::In, Way::Both]);
                    (Step::Hop(way, self.edge_labels()), Flow::Vertex)
                }
                4 | 5 => {
                    let way = *self.random.pick(&[Way::Out, Way::In, Way::Both]);
                    (Step::HopEdges(way, self.edge_labels()), Flow::Walked)
                }
                6 => (Step::HasLabel("person"), flow),
                7 => (Step::Id, Flow::Any),
                _ => self.of_element(flow),
            },
            Flow::Walked | Flow::Edge => match self.random.below(8) {
                0 => (Step::HasLabel("knows"), flow),
                1 => (Step::Ends(End::Both), Flow::Vertex),
                2 | 3 => (Step::Ends(End::In), Flow::Vertex),
                4 => (Step::Ends(End::Out), Flow::Vertex),
                5 if flow == Flow::Walked => (Step::Ends(End::Other), Flow::Vertex),
                _ => self.of_element(flow),
            },
            Flow::Number => (Step::Is(self.test()), flow),
            Flow::Text | Flow::Any => (Step::Constant, flow),
        };
        steps.push(step);
        flow
    }

    fn of_element(&mut self, flow: Flow) -> (Step, Flow) {
        match self.random.below(7) {
            0..=2 => (Step::Has(self.test()), flow),
            3 => (Step::HasKey, flow),
            4 => (Step::HasNot, flow),
            5 => (Step::Label, Flow::Text),
            _ => (Step::Age, Flow::Number),
        }
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
        let mut child = self.child(flow, depth);
        while child.1 != flow {
            child = self.child(flow, depth);
        }
        child.0
    }

    fn nested(&mut self, flow: Flow, depth: usize, steps: &mut Steps) -> Flow {
        let (a, gives) = self.child(flow, depth);
        let (b, other) = self.child(flow, depth);
        let both = if gives == other { gives } else { Flow::Any };
        let (step, flow) = match self.random.below(9) {
            0 => (Step::Where(a), flow),
            1 => (Step::Not(a), flow),
            2 => (Step::And(a, b), flow),
            3 => (Step::Or(a, b), flow),
            4 => (Step::Union(a, b), both),
            5 => (Step::Coalesce(a, b), both),
            6 => (Step::Optional(self.same(flow, depth)), flow),
            7 => {
                let (test, _) = self.child(flow, depth);
                (Step::Choose(test, a, b), both)
            }
            _ if flow == Flow::Vertex && self.random.one_in(2) => {
                let body = self.same(flow, depth);
                let (times, emits) = (1 + self.random.below(2), self.random.one_in(2));
                (Step::Repeat(body, times, emits), flow)
            }
            _ if self.remembers => (Step::Local(a), gives),
            _ => {
                let mut child = a;
                let (step, flow) = match gives {
                    Flow::Number => (Step::Smallest(2), gives),
                    _ if self.random.one_in(2) => (Step::Dedup, gives),
                    _ => (Step::Count, Flow::Any),
                };
                child.push(step);
                (Step::Local(child), flow)
            }
        };
        steps.push(step);
        flow
    }

    fn labelled(&mut self, flow: Flow, steps: &mut Steps) -> Flow {
        if self.labels.is_empty() || self.random.one_in(3) {
            let label = format!("l{}", self.labels.len());
            self.labels.push((label.clone(), flow));
            steps.push(Step::As(label));
            return flow;
        }
        let (label, was) = self.random.pick(&self.labels).clone();
        let (step, flow) = match self.random.below(5) {
            0 => (Step::WhereSame(label, true), flow),
            1 | 2 => (Step::WhereSame(label, false), flow),
            3 => (Step::SimplePath, flow),
            // An edge that comes back has no other end.
            _ if was == Flow::Walked => (Step::Select(label), Flow::Edge),
            _ => (Step::Select(label), was),
        };
        steps.push(step);
        flow
    }

    /// What sees the whole stream.
    fn ending(&mut self, flow: Flow, steps: &mut Steps) {
        let mut ends = vec![
            None,
            Some(Step::Count),
            Some(Step::Fold),
            Some(Step::GroupCount),
        ];
        match flow {
            Flow::Number => {
                ends.extend([Step::Sum, Step::Max, Step::Min, Step::Smallest(3)].map(Some));
            }
            Flow::Vertex | Flow::Edge | Flow::Walked => ends.push(Some(Step::GroupByLabel)),
            _ => {}
        }
        match self.remembers {
            true => ends.extend([Some(Step::Path), Some(Step::SimplePath)]),
            false => ends.push(Some(Step::Dedup)),
        }
        if let [(a, _), .., (b, _)] = self.labels.as_slice() {
            ends.push(Some(Step::SelectBoth(a.clone(), b.clone())));
        }
        steps.extend(self.random.pick(&ends).clone());
    }
}
