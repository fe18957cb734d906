//! Random queries, and their texts.

use varve_testkit::Random;

/// A variable of nodes: its number in the query.
pub(crate) type Variable = usize;

pub(crate) const LABELS: [&str; 2] = ["A", "B"];
/// The points of valid time that the MATCHes of a query may name.
pub(crate) const POINTS: usize = 2;
pub(crate) const TYPES: [&str; 2] = ["R", "S"];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Direction {
    Right,
    Left,
    Either,
}

/// A step of a pattern. The variable of its relationships is the number of the step.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) number: usize,
    pub(crate) from: Variable,
    pub(crate) to: Variable,
    pub(crate) direction: Direction,
    pub(crate) edge_type: Option<usize>,
    pub(crate) length: Option<(usize, usize)>,
}

/// A MATCH.
#[derive(Debug, Clone)]
pub(crate) struct Match {
    pub(crate) optional: bool,
    /// The number of the point of valid time that it names.
    pub(crate) at: Option<usize>,
    /// The node that it begins with.
    pub(crate) first: Variable,
    pub(crate) steps: Vec<Step>,
    pub(crate) labels: Vec<(Variable, usize)>,
    pub(crate) filter: Option<Predicate>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Term {
    Node(Variable, &'static str),
    /// The property `x` of the relationship of a step.
    Relationship(usize),
    Constant(i64),
}

#[derive(Debug, Clone)]
pub(crate) enum Predicate {
    Compares(Term, &'static str, Term),
    IsNull(Term),
    HasLabel(Variable, usize),
    Not(Box<Predicate>),
    And(Box<(Predicate, Predicate)>),
    Or(Box<(Predicate, Predicate)>),
    /// There is a step from a variable to a node with this label.
    Exists(Step, usize),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Item {
    Term(Term),
    TypeOf(usize),
    LengthOf(usize),
    CountAll,
    Count(Term),
    CountDistinct(Term),
    Sum(Term),
    Min(Term),
    Max(Term),
}

/// MATCHes, and a RETURN.
#[derive(Debug, Clone)]
pub(crate) struct Query {
    pub(crate) matches: Vec<Match>,
    pub(crate) distinct: bool,
    pub(crate) items: Vec<Item>,
    /// For each item whether it descends; `None` without ORDER BY.
    pub(crate) order: Option<Vec<bool>>,
    /// SKIP and LIMIT, only with an order.
    pub(crate) window: Option<(usize, usize)>,
}

/// What a query has bound so far.
#[derive(Default)]
struct Known {
    nodes: usize,
    steps: usize,
    /// The steps of one relationship, and those of lists.
    single: Vec<usize>,
    lists: Vec<usize>,
}

impl Known {
    fn term(&self, random: &mut Random) -> Term {
        match random.below(8) {
            0 => Term::Constant(random.below(4) as i64),
            1 | 2 if !self.single.is_empty() => Term::Relationship(*random.pick(&self.single)),
            3 => Term::Node(random.below(self.nodes), "i"),
            _ => Term::Node(random.below(self.nodes), "x"),
        }
    }

    fn predicate(&self, depth: usize, random: &mut Random) -> Predicate {
        let pair = |random: &mut Random| {
            Box::new((
                self.predicate(depth - 1, random),
                self.predicate(depth - 1, random),
            ))
        };
        match random.below(if depth == 0 { 6 } else { 9 }) {
            0 => Predicate::IsNull(self.term(random)),
            1 => Predicate::HasLabel(random.below(self.nodes), random.below(2)),
            2 => {
                let from = random.below(self.nodes);
                let step = Step::random((usize::MAX, from, usize::MAX), random);
                Predicate::Exists(step, random.below(2))
            }
            3..6 => {
                let operator = *random.pick(&["=", "<>", "<", ">=", ">", "<="]);
                Predicate::Compares(self.term(random), operator, self.term(random))
            }
            6 => Predicate::Not(Box::new(self.predicate(depth - 1, random))),
            7 => Predicate::And(pair(random)),
            _ => Predicate::Or(pair(random)),
        }
    }

    fn item(&self, random: &mut Random) -> Item {
        match random.below(6) {
            0 if !self.single.is_empty() => Item::TypeOf(*random.pick(&self.single)),
            1 if !self.lists.is_empty() => Item::LengthOf(*random.pick(&self.lists)),
            _ => Item::Term(self.term(random)),
        }
    }

    fn aggregate(&self, random: &mut Random) -> Item {
        let term = self.term(random);
        match random.below(6) {
            0 => Item::Count(term),
            1 => Item::CountDistinct(term),
            2 => Item::Sum(term),
            3 => Item::Min(term),
            4 => Item::Max(term),
            _ => Item::CountAll,
        }
    }

    /// A MATCH that begins at a new node, or at one that is bound.
    fn one_match(&mut self, steps: usize, optional: bool, random: &mut Random) -> Match {
        let is_new = self.nodes == 0 || random.one_in(4);
        let mut inner = Vec::new();
        let first = if is_new {
            self.nodes += 1;
            self.nodes - 1
        } else {
            random.below(self.nodes)
        };
        inner.push(first);
        let mut one = Match {
            optional,
            at: random.one_in(3).then(|| random.below(POINTS)),
            first,
            steps: Vec::new(),
            labels: Vec::new(),
            filter: None,
        };
        for _ in 0..steps {
            let from = *random.pick(&inner);
            let to = match random.below(6) {
                0 => random.below(self.nodes),
                _ => {
                    self.nodes += 1;
                    self.nodes - 1
                }
            };
            let step = Step::random((self.steps, from, to), random);
            match step.length {
                None => self.single.push(self.steps),
                Some(_) => self.lists.push(self.steps),
            }
            self.steps += 1;
            inner.push(to);
            one.steps.push(step);
        }
        for variable in inner {
            if random.one_in(4) {
                one.labels.push((variable, random.below(2)));
            }
        }
        if random.one_in(2) {
            one.filter = Some(self.predicate(2, random));
        }
        one
    }
}

impl Step {
    fn random((number, from, to): (usize, Variable, Variable), random: &mut Random) -> Step {
        let direction = *random.pick(&[Direction::Right, Direction::Left, Direction::Either]);
        let min = random.below(3);
        let is_list = number != usize::MAX && random.one_in(4);
        Step {
            number,
            from,
            to,
            direction,
            edge_type: random.one_in(2).then(|| random.below(2)),
            length: is_list.then(|| (min, min + random.below(2))),
        }
    }

    fn text(&self, node: &mut dyn FnMut(Variable) -> String) -> String {
        let edge_type = self.edge_type.map_or("", |one| TYPES[one]);
        let colon = if edge_type.is_empty() { "" } else { ":" };
        let length = self
            .length
            .map_or(String::new(), |(min, max)| format!("*{min}..{max}"));
        let name = match self.number {
            usize::MAX => String::new(),
            number => format!("r{number}"),
        };
        let inner = format!("[{name}{colon}{edge_type}{length}]");
        let (from, to) = (node(self.from), node(self.to));
        match self.direction {
            Direction::Right => format!("{from}-{inner}->{to}"),
            Direction::Left => format!("{from}<-{inner}-{to}"),
            Direction::Either => format!("{from}-{inner}-{to}"),
        }
    }
}

impl Match {
    fn text(&self, points: &[String]) -> String {
        let mut labels = self.labels.clone();
        let mut node = |variable: Variable| {
            let own = labels.iter().filter(|(of, _)| *of == variable);
            let own: String = own
                .map(|(_, label)| format!(":{}", LABELS[*label]))
                .collect();
            labels.retain(|(of, _)| *of != variable);
            format!("(n{variable}{own})")
        };
        let mut parts: Vec<String> = self.steps.iter().map(|step| step.text(&mut node)).collect();
        if parts.is_empty() {
            parts.push(node(self.first));
        }
        let optional = if self.optional { "OPTIONAL " } else { "" };
        let at = self.at.map_or(String::new(), |at| {
            format!(" FOR VALID_TIME AS OF {}", points[at])
        });
        let filter = self.filter.as_ref();
        let filter = filter.map_or(String::new(), |one| format!(" WHERE {}", one.text()));
        format!("{optional}MATCH {}{at}{filter}", parts.join(", "))
    }
}

impl Term {
    fn text(self) -> String {
        match self {
            Term::Node(variable, key) => format!("n{variable}.{key}"),
            Term::Relationship(step) => format!("r{step}.x"),
            Term::Constant(number) => number.to_string(),
        }
    }
}

impl Predicate {
    fn text(&self) -> String {
        match self {
            Predicate::Compares(left, operator, right) => {
                format!("{} {operator} {}", left.text(), right.text())
            }
            Predicate::IsNull(term) => format!("{} IS NULL", term.text()),
            Predicate::HasLabel(variable, label) => format!("n{variable}:{}", LABELS[*label]),
            Predicate::Not(one) => format!("NOT ({})", one.text()),
            Predicate::And(both) => format!("({}) AND ({})", both.0.text(), both.1.text()),
            Predicate::Or(both) => format!("({}) OR ({})", both.0.text(), both.1.text()),
            Predicate::Exists(step, label) => {
                let mut node = |variable| match variable {
                    usize::MAX => format!("(:{})", LABELS[*label]),
                    other => format!("(n{other})"),
                };
                format!("EXISTS {{ {} }}", step.text(&mut node))
            }
        }
    }
}

impl Item {
    pub(crate) fn is_aggregate(self) -> bool {
        !matches!(self, Item::Term(_) | Item::TypeOf(_) | Item::LengthOf(_))
    }

    fn text(self) -> String {
        match self {
            Item::Term(term) => term.text(),
            Item::TypeOf(step) => format!("type(r{step})"),
            Item::LengthOf(step) => format!("size(r{step})"),
            Item::CountAll => "count(*)".to_owned(),
            Item::Count(term) => format!("count({})", term.text()),
            Item::CountDistinct(term) => format!("count(DISTINCT {})", term.text()),
            Item::Sum(term) => format!("sum({})", term.text()),
            Item::Min(term) => format!("min({})", term.text()),
            Item::Max(term) => format!("max({})", term.text()),
        }
    }
}

impl Query {
    pub(crate) fn random(random: &mut Random) -> Query {
        let mut known = Known::default();
        let steps = random.below(4);
        let mut matches = vec![known.one_match(steps, random.one_in(8), random)];
        while random.one_in(2) && matches.len() < 3 {
            let steps = random.below(3);
            let optional = random.one_in(2);
            matches.push(known.one_match(steps, optional, random));
        }
        let mut items: Vec<Item> = Vec::new();
        for _ in 0..random.below(3) {
            items.push(known.item(random));
        }
        if items.is_empty() || random.one_in(2) {
            for _ in 0..=random.below(2) {
                items.push(known.aggregate(random));
            }
        }
        let order = random.one_in(2);
        let order = order.then(|| items.iter().map(|_| random.one_in(2)).collect());
        let window = order.is_some() && random.one_in(3);
        Query {
            matches,
            distinct: random.one_in(4),
            window: window.then(|| (random.below(3), random.below(8))),
            items,
            order,
        }
    }

    /// Its text, with expressions of the points that its MATCHes name.
    pub(crate) fn text(&self, points: &[String]) -> String {
        let matches = self.matches.iter().map(|one| one.text(points));
        let matches: Vec<String> = matches.collect();
        let items = self.items.iter().enumerate();
        let items: Vec<String> = items
            .map(|(at, item)| format!("{} AS c{at}", item.text()))
            .collect();
        let distinct = if self.distinct { "DISTINCT " } else { "" };
        let mut text = format!(
            "{} RETURN {distinct}{}",
            matches.join(" "),
            items.join(", ")
        );
        if let Some(order) = &self.order {
            let keys = order.iter().enumerate();
            let keys: Vec<String> = keys
                .map(|(at, down)| format!("c{at}{}", if *down { " DESC" } else { "" }))
                .collect();
            text = format!("{text} ORDER BY {}", keys.join(", "));
        }
        if let Some((skip, limit)) = self.window {
            text = format!("{text} SKIP {skip} LIMIT {limit}");
        }
        text
    }

    /// The rows, sorted if the query does not order them.
    pub(crate) fn in_order(&self, mut rows: Vec<String>) -> Vec<String> {
        if self.order.is_none() {
            rows.sort();
        }
        rows
    }
}
