//! Values of the evaluator: their relations, arithmetic and texts, as the reference defines them.

use std::cell::Cell;
use std::cmp::Ordering;

use varve_model::{EdgeId, VertexId};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// 32 bits.
    Int(i64),
    /// 64 bits.
    Long(i64),
    Double(f64),
    Text(String),
    /// Milliseconds since 1970 UTC.
    Date(i64),
    Vertex(VertexId),
    /// An edge, and the end that it was reached from.
    Edge(EdgeId, Option<VertexId>),
    /// A property of a vertex: key and value.
    VertexProperty(VertexId, &'static str, Box<Value>),
    /// A property of an edge: key and value.
    Property(EdgeId, &'static str, Box<Value>),
    List(Vec<Value>),
    Set(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Entry(Box<(Value, Value)>),
    /// Each object with its labels.
    Path(Vec<(Value, Vec<String>)>),
    /// Each value with the tree of those that followed it.
    Tree(Vec<(Value, Value)>),
    /// Vertices and edges.
    Graph(Vec<Value>),
    /// `id`, `label`, `IN`, `OUT`.
    Token(&'static str),
}

/// Texts with commas between, sorted.
pub(crate) fn sorted(mut texts: Vec<String>) -> String {
    texts.sort_unstable();
    texts.join(", ")
}

/// 2020-02-28, at midnight.
pub(crate) const SOME_DAY: i64 = 1_582_848_000_000;
pub(crate) const DAY: i64 = 86_400_000;

thread_local! {
    /// Whether lists were compared whose order nothing decides.
    static UNDECIDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether lists were compared whose order nothing decides, since this was asked last.
pub(crate) fn take_undecided() -> bool {
    UNDECIDED.take()
}

impl Value {
    /// Called before values are compared: whether two lists are equal may depend on an order that
    /// nothing decides.
    pub(crate) fn look_at_order(&self) {
        let pairs = |pairs: &[(Self, Self)]| {
            for (key, value) in pairs {
                key.look_at_order();
                value.look_at_order();
            }
        };
        match self {
            Self::List(values) => {
                let mut texts = values.iter().map(Self::canonical);
                let first = texts.next();
                if texts.any(|text| Some(text) != first) {
                    UNDECIDED.set(true);
                }
                values.iter().for_each(Self::look_at_order);
            }
            Self::Set(values) => values.iter().for_each(Self::look_at_order),
            Self::Map(entries) | Self::Tree(entries) => pairs(entries),
            Self::Entry(entry) => pairs(std::slice::from_ref(entry)),
            Self::Path(objects) => objects.iter().for_each(|(value, _)| value.look_at_order()),
            _ => {}
        }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Equal texts are equivalent values, but for the order of lists: their members are sorted.
    pub(crate) fn canonical(&self) -> String {
        let each = |values: &[Self]| values.iter().map(Self::canonical).collect::<Vec<_>>();
        let entries = |entries: &[(Self, Self)]| {
            let entry =
                |(key, value): &(Self, Self)| format!("{}: {}", key.canonical(), value.canonical());
            sorted(entries.iter().map(entry).collect())
        };
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => format!("bool {value}"),
            Self::Int(number) => format!("int {number}"),
            Self::Long(number) => format!("long {number}"),
            Self::Double(number) => format!("double {number:?}"),
            Self::Text(text) => format!("'{text}'"),
            Self::Date(millis) => format!("date {millis}"),
            Self::Vertex(id) => format!("vertex {id}"),
            Self::Edge(id, _) => format!("edge {id}"),
            Self::VertexProperty(id, key, value) => {
                format!("property {id} {key} {}", value.canonical())
            }
            Self::Property(_, key, value) => format!("property {key} {}", value.canonical()),
            Self::List(values) => format!("[{}]", sorted(each(values))),
            Self::Set(values) => format!("set[{}]", sorted(each(values))),
            Self::Map(map) => format!("{{{}}}", entries(map)),
            Self::Entry(entry) => format!("{} = {}", entry.0.canonical(), entry.1.canonical()),
            Self::Path(objects) => {
                let object = |(value, labels): &(Self, Vec<String>)| {
                    format!("{}@{}", value.canonical(), sorted(labels.clone()))
                };
                let objects: Vec<String> = objects.iter().map(object).collect();
                format!("path({})", objects.join(", "))
            }
            Self::Tree(tree) => format!("tree({})", entries(tree)),
            Self::Graph(members) => format!("graph({})", sorted(each(members))),
            Self::Token(token) => format!("token {token}"),
        }
    }

    /// As `canonical`, with the members of so many levels of lists in their order.
    pub(crate) fn in_order(&self, levels: usize) -> String {
        match self {
            Self::List(values) if levels > 0 => {
                let each = values.iter().map(|value| value.in_order(levels - 1));
                format!("[{}]", each.collect::<Vec<_>>().join(", "))
            }
            other => other.canonical(),
        }
    }

    /// The relation of `dedup` and of keys of maps.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.look_at_order();
        other.look_at_order();
        self.canonical() == other.canonical()
    }

    /// The relation of predicates: numbers of any width by their value.
    pub(crate) fn equals(&self, other: &Self) -> bool {
        match (self.as_f64(), other.as_f64()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.is_equivalent(other),
            _ => false,
        }
    }

    /// The numbers of these tests are small: a double holds them.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(number) | Self::Long(number) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            _ => None,
        }
    }

    /// The order of predicates: within a family.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::List(a), Self::List(b)) => {
                for (a, b) in a.iter().zip(b) {
                    match a.compare(b)? {
                        Ordering::Equal => {}
                        found => return Some(found),
                    }
                }
                Some(a.len().cmp(&b.len()))
            }
            _ if self.family() == other.family() => Some(self.order(other)),
            _ => None,
        }
    }

    const fn family(&self) -> usize {
        match self {
            Self::Null => 0,
            Self::Bool(_) => 1,
            Self::Int(_) | Self::Long(_) | Self::Double(_) => 2,
            Self::Date(_) => 3,
            Self::Text(_) | Self::Token(_) => 4,
            Self::Vertex(_) => 5,
            Self::Edge(..) => 6,
            Self::VertexProperty(..) => 7,
            Self::Property(..) => 8,
            Self::Path(_) => 9,
            Self::Set(_) => 10,
            Self::List(_) => 11,
            Self::Map(_) => 12,
            Self::Entry(_) | Self::Tree(_) | Self::Graph(_) => 13,
        }
    }

    /// The total order of `order`.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        if let (Some(a), Some(b)) = (self.as_f64(), other.as_f64()) {
            return a.total_cmp(&b);
        }
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Vertex(a), Self::Vertex(b)) => a.cmp(b),
            (Self::List(a), Self::List(b)) => {
                let mut pairs = a.iter().zip(b).map(|(a, b)| a.order(b));
                let first = pairs.find(|found| found.is_ne());
                first.unwrap_or_else(|| a.len().cmp(&b.len()))
            }
            _ if self.family() != other.family() => self.family().cmp(&other.family()),
            _ => panic!("no test orders {self:?} and {other:?}"),
        }
    }

    /// What Java's `toString` gives.
    pub(crate) fn as_text(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Int(number) | Self::Long(number) => number.to_string(),
            Self::Double(number) => format!("{number:?}"),
            Self::Text(text) => text.clone(),
            Self::Vertex(id) => format!("v[{id}]"),
            Self::VertexProperty(_, key, value) => format!("vp[{key}->{}]", value.as_text()),
            Self::Property(_, key, value) => format!("p[{key}->{}]", value.as_text()),
            Self::Date(millis) => date_text(*millis),
            Self::List(values) => {
                let each: Vec<String> = values.iter().map(Self::as_text).collect();
                format!("[{}]", each.join(", "))
            }
            other => panic!("no test writes {other:?}"),
        }
    }

    /// The members of a list or a set, the objects of a path.
    pub(crate) fn members(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(values) | Self::Set(values) => Some(values.clone()),
            Self::Path(objects) => Some(objects.iter().map(|(value, _)| value.clone()).collect()),
            _ => None,
        }
    }
}

/// ISO 8601. Seconds of 0 are left out.
fn date_text(millis: i64) -> String {
    let (day, time) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil(day);
    let (hours, minutes, seconds) = (time / 3_600_000, time / 60_000 % 60, time / 1_000 % 60);
    assert_eq!(time % 1_000, 0, "no test has parts of seconds");
    let seconds = match seconds {
        0 => String::new(),
        seconds => format!(":{seconds:02}"),
    };
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}{seconds}Z")
}

/// The date of a day since 1970: years and months are counted off one by one.
fn civil(mut day: i64) -> (i64, i64, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut year = 1970;
    while day < 0 {
        year -= 1;
        day += if leap(year) { 366 } else { 365 };
    }
    loop {
        let length = if leap(year) { 366 } else { 365 };
        if day < length {
            break;
        }
        day -= length;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let months = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    for (month, length) in (1..).zip(months) {
        if day < length {
            return (year, month, day + 1);
        }
        day -= length;
    }
    unreachable!("a year has twelve months")
}

/// The number of the wider of two types.
fn of_width(number: f64, a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Double(_), _) | (_, Value::Double(_)) => Value::Double(number),
        (Value::Long(_), _) | (_, Value::Long(_)) => Value::Long(number as i64),
        _ => Value::Int(number as i64),
    }
}

/// `sum`, `mult`, `min`, `max`, `minus` of two numbers.
pub(crate) fn operate(operator: &str, a: &Value, b: &Value) -> Value {
    let (x, y) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
    let number = match operator {
        "sum" => x + y,
        "minus" => x - y,
        "mult" => x * y,
        "min" => x.min(y),
        "max" => x.max(y),
        other => panic!("no test has {other}"),
    };
    assert!(number.abs() < 2e9, "small numbers");
    of_width(number, a, b)
}
