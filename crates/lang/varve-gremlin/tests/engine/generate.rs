//! Random typed traversals: each step fits its input, and results depend on an order only after
//! `order()`.

/// Pseudo-random numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..4 {
            random.below(2);
        }
        random
    }

    /// A number below `bound`, which is not 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 33) % u64::from(bound)).expect("below a u32")
    }

    /// True with probability 1 - 1 / `bound`.
    pub(crate) fn chance(&mut self, bound: u32) -> bool {
        self.below(bound) > 0
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(u32::try_from(all.len()).expect("few")) as usize]
    }
}

/// The type of the values in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Vertex,
    /// An edge that was reached from one of its ends.
    Walked,
    Edge,
    Property,
    Number,
    Text,
    /// A value of any type: a list, a map, a path.
    Any,
}

use Flow::{Any, Edge, Number, Property, Text, Vertex, Walked};

/// Generates one traversal.
pub(crate) struct Generator<'r> {
    random: &'r mut Random,
    /// Whether values have paths. Then no step may drop one of two equal values.
    remembers: bool,
    /// Labels of the current path, with the types of their values.
    labels: Vec<(String, Flow)>,
    /// The number of labels given so far. Each is unique.
    count: u32,
    /// Side effects that are complete at this step.
    effects: Vec<String>,
    /// The number of further steps allowed.
    budget: u32,
    depth: u32,
}

/// The end of a traversal whose only result is an ordered list.
const IN_ORDER: &str = ".order().fold()";

/// Whether the lists that a traversal gives have a defined order.
pub(crate) fn is_in_order(text: &str) -> bool {
    text.ends_with(IN_ORDER)
}

/// A traversal from `g`.
pub(crate) fn traversal(random: &mut Random) -> String {
    let remembers = random.below(3) == 0;
    let budget = 3 + random.below(7);
    let mut generator = Generator {
        random,
        remembers,
        labels: Vec::new(),
        count: 0,
        effects: Vec::new(),
        budget,
        depth: 0,
    };
    generator.whole()
}

impl Generator<'_> {
    fn pick(&mut self, all: &[&str]) -> String {
        (*self.random.of(all)).to_owned()
    }

    fn number(&mut self, bound: u32) -> u32 {
        self.random.below(bound)
    }

    fn whole(&mut self) -> String {
        let source = self.pick(&["g", "g", "g", "g.withSack(1)", "g.withSideEffect('y', 3)"]);
        let (start, flow) = match self.number(8) {
            0 => {
                let edges = [
                    "E()",
                    "E().hasLabel('wrote')",
                    "E().hasLabel('edited', 'knows')",
                ];
                (self.pick(&edges), Edge)
            }
            1 => ("inject(1, 2, 2, 5)".to_owned(), Number),
            2 => (format!("V({}, {})", self.number(9), self.number(9)), Vertex),
            3 => ("V().hasLabel('person')".to_owned(), Vertex),
            4 => (format!("V().has('age', {})", self.compared()), Vertex),
            _ => ("V()".to_owned(), Vertex),
        };
        let (steps, flow) = self.steps(flow);
        let end = self.ending(flow, &source);
        format!("{source}.{start}{steps}{end}")
    }

    /// Generates a few steps, each with its dot. Returns the type of their results.
    fn steps(&mut self, mut flow: Flow) -> (String, Flow) {
        let mut text = String::new();
        let most = 1 + self.number(5);
        for _ in 0..most {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            let (step, next) = self.step(flow);
            text.push('.');
            text.push_str(&step);
            flow = next;
        }
        (text, flow)
    }

    /// Generates a final step that reads the whole stream.
    fn ending(&mut self, flow: Flow, source: &str) -> String {
        let mut ends: Vec<String> = vec![".count()".into(), ".fold()".into(), String::new()];
        ends.push(".groupCount()".into());
        ends.push(".aggregate('z').cap('z')".into());
        if matches!(flow, Edge | Walked) {
            ends.push(".subgraph('g').cap('g')".into());
        }
        ends.push(".tail(100000)".into());
        if source.ends_with("withSack(1)") {
            ends.push(".sack()".into());
        }
        if self.remembers {
            ends.extend([
                ".path()".into(),
                ".simplePath()".into(),
                ".cyclicPath().count()".into(),
            ]);
            ends.push(".tree()".into());
        } else {
            ends.push(".dedup()".into());
        }
        match flow {
            Vertex => {
                ends.push(".group().by(label()).by(count())".into());
                ends.push(".group().by('name').by(out().count())".into());
                ends.push(".groupCount('q').by('name').cap('q')".into());
                ends.push(".group('q').by(label()).by('age').cap('q')".into());
                ends.push(".group().by(label()).by(out().id().fold())".into());
                ends.push(".order().by('name').by(id()).limit(3)".into());
                ends.push(".order().by(id()).range(1, 4).id()".into());
                ends.push(".valueMap()".into());
                ends.push(".elementMap('name', 'age')".into());
                ends.push(".project('a', 'b').by('age').by(out().count())".into());
                ends.push(".bothE().id()".into());
                ends.push(".out().count()".into());
                ends.push(".bothE('knows').count()".into());
                ends.push(".outE().inV().count()".into());
                ends.push(".order().by('age', desc).by(id()).limit(3).values('age')".into());
                ends.push(".where(__.out('created')).count()".into());
            }
            Number => {
                ends.extend([".sum()", ".max()", ".min()", ".mean()"].map(String::from));
                // 1 and 1L are equal in the order, so either may come first.
                ends.push(".order().limit(2).math('_')".into());
                ends.push(".order().by(desc).tail(2).math('_')".into());
                ends.push(format!(".math('_'){IN_ORDER}"));
            }
            Text => {
                ends.push(".order().limit(3)".into());
                ends.push(IN_ORDER.into());
            }
            _ => {}
        }
        let at = self.number(u32::try_from(ends.len()).expect("few"));
        ends.swap_remove(at as usize)
    }

    fn step(&mut self, flow: Flow) -> (String, Flow) {
        if self.depth < 3 && self.number(3) == 0 {
            return self.nested(flow);
        }
        if self.remembers && self.number(4) == 0 {
            return self.labelled(flow);
        }
        match self.number(30) {
            0 => return ("identity()".into(), flow),
            1 => return ("barrier()".into(), flow),
            2 if !self.remembers => return ("dedup()".into(), flow),
            3 if self.depth == 0 => {
                let name = format!("x{}", self.effects.len());
                self.effects.push(name.clone());
                return (format!("aggregate('{name}')"), flow);
            }
            4 if self.depth == 0 => return ("fold().unfold()".into(), weaker(flow)),
            _ => {}
        }
        match flow {
            Vertex => self.of_vertex(),
            Walked | Edge => self.of_edge(flow),
            Property => match self.number(4) {
                0 => ("value()".into(), Any),
                1 => ("key()".into(), Text),
                2 => ("element()".into(), Any),
                _ => ("hasKey('name', 'weight')".into(), Property),
            },
            Number => match self.number(5) {
                0 => (format!("is(gt({}))", self.number(30)), Number),
                1 => ("math('_ * 2')".into(), Number),
                2 => (format!("is(neq({}))", self.number(5)), Number),
                3 => ("asString()".into(), Text),
                _ => ("constant(7)".into(), Number),
            },
            Text => match self.number(4) {
                0 => ("length()".into(), Number),
                1 => ("concat('-', 'x')".into(), Text),
                2 => ("is(neq('ann'))".into(), Text),
                _ => ("toUpper()".into(), Text),
            },
            Any => match self.number(3) {
                0 => ("is(neq('ann'))".into(), Any),
                1 => ("constant('c')".into(), Text),
                _ => ("count(local)".into(), Number),
            },
        }
    }

    fn of_vertex(&mut self) -> (String, Flow) {
        let labels = self.pick(&[
            "",
            "",
            "'knows'",
            "'created'",
            "'knows', 'created'",
            "'no'",
            "'wrote'",
            "'edited'",
            "'wrote', 'edited'",
        ]);
        let name = self.pick(&["out", "in", "both"]);
        match self.number(18) {
            16 => {
                let year = 1969 + self.number(5);
                (
                    format!("call('varve.as_of', [as_of: '{year}-06-01'])"),
                    Vertex,
                )
            }
            17 => self.called(),
            0..=3 => (format!("{name}({labels})"), Vertex),
            4 => (format!("{name}E({labels})"), Walked),
            5 | 6 => {
                let end = self.pick(&["inV", "outV", "bothV", "otherV"]);
                (format!("{name}E({labels}).{end}()"), Vertex)
            }
            7 => ("values('name')".into(), Text),
            8 => ("values('age')".into(), Number),
            9 => ("id()".into(), Number),
            10 => ("label()".into(), Text),
            11 => (format!("has('age', {})", self.compared()), Vertex),
            12 => (
                format!(
                    "has('name', {})",
                    self.pick(&["'ann'", "within('bob', 'cy')", "neq('dan')"])
                ),
                Vertex,
            ),
            13 => (
                self.pick(&[
                    "hasLabel('person')",
                    "hasNot('age')",
                    "has('lang')",
                    "hasId(2, 3, 5)",
                    "has('person', 'name', 'ann')",
                    "hasId(within(1, 4))",
                ]),
                Vertex,
            ),
            14 => ("properties()".into(), Property),
            _ => match self.number(3) {
                0 if self.depth == 0 => (format!("V({})", self.number(6)), Vertex),
                1 => ("sack(sum).by(out().count())".into(), Vertex),
                _ => ("valueMap('name')".into(), Any),
            },
        }
    }

    /// Generates a call of a service.
    fn called(&mut self) -> (String, Flow) {
        let direction = self.pick(&["IN", "OUT"]);
        match self.number(3) {
            0 => {
                let limit = 1 + self.number(3);
                let history = format!("call('varve.history').with('limit', constant({limit}))");
                (format!("{history}.select('element').is(neq(null))"), Vertex)
            }
            1 => (
                "call('varve.history', [limit: 1]).select('kind')".into(),
                Text,
            ),
            _ => {
                let degree = "call('tinker.degree.centrality')";
                (format!("{degree}.with('direction', {direction})"), Number)
            }
        }
    }

    fn compared(&mut self) -> String {
        let number = 20 + self.number(20);
        match self.number(6) {
            0 => format!("gt({number})"),
            1 => format!("lte({number})"),
            2 => format!("between({number}, {})", number + 8),
            3 => format!("inside({number}, {})", number + 8),
            4 => format!("within({number}, {}, {})", number + 1, number + 4),
            _ => format!("lt({number}).or(gt({}))", number + 5),
        }
    }

    fn of_edge(&mut self, flow: Flow) -> (String, Flow) {
        match self.number(9) {
            8 => {
                let barrier = self.pick(&["", ".barrier()"]);
                let map = format!("propertyMap('weight'){barrier}.select('weight')");
                (format!("{map}.element()"), Edge)
            }
            0 => ("outV()".into(), Vertex),
            1 => ("inV()".into(), Vertex),
            2 => ("bothV()".into(), Vertex),
            3 if flow == Walked => ("otherV()".into(), Vertex),
            4 => ("values('weight')".into(), Number),
            5 => (format!("has('weight', gte({}.5))", self.number(2)), flow),
            6 => {
                let labels = ["'knows'", "'wrote'", "'edited'", "neq('wrote')", "'no'"];
                (format!("hasLabel({})", self.pick(&labels)), flow)
            }
            _ => ("label()".into(), Text),
        }
    }

    /// Generates a child, with labels of its own.
    fn child(&mut self, flow: Flow) -> (String, Flow) {
        self.depth += 1;
        let kept = self.labels.len();
        let (text, flow) = self.steps(flow);
        self.labels.truncate(kept);
        self.depth -= 1;
        match text.strip_prefix('.') {
            Some(steps) => (format!("__.{steps}"), flow),
            None => ("__.identity()".into(), flow),
        }
    }

    /// Generates a child whose results have the type of its input.
    fn same(&mut self, flow: Flow) -> String {
        for _ in 0..8 {
            let (child, gives) = self.child(flow);
            if gives == flow {
                return child;
            }
        }
        match flow {
            Vertex => "__.out()".into(),
            _ => "__.identity()".into(),
        }
    }

    fn nested(&mut self, flow: Flow) -> (String, Flow) {
        let (child, gives) = self.child(flow);
        match self.number(16) {
            0 | 1 => (format!("where({child})"), flow),
            2 => (format!("not({child})"), flow),
            3 => (format!("local({child})"), gives),
            4 => (format!("flatMap({child})"), gives),
            5 => {
                let (other, also) = self.child(flow);
                (format!("union({child}, {other})"), both(gives, also))
            }
            6 => {
                let (other, also) = self.child(flow);
                (format!("coalesce({child}, {other})"), both(gives, also))
            }
            7 => (format!("optional({child})"), both(flow, gives)),
            8 => {
                let (then, a) = self.child(flow);
                let (otherwise, b) = self.child(flow);
                (format!("choose({child}, {then}, {otherwise})"), both(a, b))
            }
            9 => {
                let (other, _) = self.child(flow);
                let joint = self.pick(&["and", "or"]);
                (format!("{joint}({child}, {other})"), flow)
            }
            10 => (format!("local({child}.count())"), Number),
            11 => (
                format!(
                    "where({child}.count().is({}))",
                    self.pick(&["0", "gt(1)", "lt(2)", "neq(1)"])
                ),
                flow,
            ),
            12 => (format!("map({child}.count())"), Number),
            13 => (format!("map({child}.fold().count(local))"), Number),
            14 if flow == Vertex => (
                format!("choose(label()).option('person', {child})"),
                both(flow, gives),
            ),
            _ => self.repeat(flow),
        }
    }

    fn repeat(&mut self, flow: Flow) -> (String, Flow) {
        let body = self.same(flow);
        let times = 1 + self.number(2);
        let text = match self.number(5) {
            0 => format!("repeat({body}).times({times}).emit()"),
            // A modulator directly after another loop would belong to that loop.
            1 => format!("identity().emit().repeat({body}).times({times})"),
            2 => format!("identity().times({times}).repeat({body})"),
            3 => format!("repeat({body}).until(loops().is({times}))"),
            _ => format!("repeat({body}).times({times})"),
        };
        (text, flow)
    }

    fn labelled(&mut self, flow: Flow) -> (String, Flow) {
        let known = self.labels.clone();
        match (self.number(6), known.as_slice()) {
            (0 | 1, _) | (_, []) => {
                let label = format!("l{}", self.count);
                self.count += 1;
                self.labels.push((label.clone(), flow));
                (format!("as('{label}')"), flow)
            }
            (2, all) => {
                let (label, was) = self.random.of(all).clone();
                (format!("select('{label}')"), weaker(was))
            }
            (3, all) => {
                let (label, _) = self.random.of(all).clone();
                (
                    format!("where({}('{label}'))", self.pick(&["eq", "neq"])),
                    flow,
                )
            }
            (4, all) => {
                let (a, _) = self.random.of(all).clone();
                let (b, _) = self.random.of(all).clone();
                (format!("select('{a}', '{b}')"), Any)
            }
            (_, all) if flow == Vertex => {
                let mut vertices = all.iter().filter(|(_, was)| *was == Vertex);
                match vertices.next_back() {
                    Some((label, _)) => (format!("where(__.both().as('{label}'))"), flow),
                    None => ("simplePath()".into(), flow),
                }
            }
            _ => ("simplePath()".into(), flow),
        }
    }
}

/// The type of the results of two branches together.
fn both(a: Flow, b: Flow) -> Flow {
    if a == b { a } else { Any }
}

/// The type after a step that may lose the direction in which an edge was walked.
const fn weaker(flow: Flow) -> Flow {
    match flow {
        Walked => Edge,
        flow => flow,
    }
}
