//! The elements that are sent, as bytes. `docs/bench.md` describes them.
//!
//! Elements are a function of their number, the run's prefix and the seed, and have a fixed width.
//! So a request is a template with a few fields to fill in, which keeps the generator cheap.

use std::ops::Range;

use serde_json::Value;

use super::social::{KNOWS_LABEL, PERSON_LABEL};
use crate::random::mix;

/// The 32 digits of ids and texts, none of which can be mistaken for another.
const DIGITS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
pub(crate) const PREFIX: usize = 3;
pub(crate) const ID: usize = PREFIX + NUMBER;
/// Digits of an id's number.
const NUMBER: usize = 6;
/// Bits of an id's number, which bound the number of elements of a run.
const NUMBER_BITS: u32 = 5 * NUMBER as u32;

pub(crate) const VERTEX_LABEL: &str = "benchv";
pub(crate) const EDGE_LABEL: &str = "benche";
/// Plain vertices that every run creates first. They have the last numbers, which no scenario uses.
pub(crate) const PROBES: u64 = 2;

/// The kinds of vertices. Each has its own range of numbers, since all labels of a graph share one
/// space of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VertexKind {
    Plain,
    /// Vertices of the social graph.
    Person,
}

impl VertexKind {
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Plain => VERTEX_LABEL,
            Self::Person => PERSON_LABEL,
        }
    }

    /// The first number of the kind.
    const fn base(self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::Person => 7 << 27,
        }
    }

    /// The number of vertices of the kind that have different ids.
    pub(crate) const fn capacity(self) -> u64 {
        match self {
            Self::Plain => Self::Person.base() - PROBES,
            Self::Person => 1 << 27,
        }
    }
}

/// The prefix and the seed that distinguish the elements of this run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Naming {
    pub(crate) prefix: [u8; PREFIX],
    pub(crate) seed: u64,
}

/// The number of edges between `vertices` vertices of which no two have the same ends.
pub(crate) const fn edge_capacity(vertices: u64) -> u64 {
    vertices.saturating_mul(vertices)
}

impl Naming {
    /// The ids of the vertices that every run creates first.
    pub(crate) fn probe_ids(&self) -> [String; PROBES as usize] {
        let last = VertexKind::Plain.capacity() + PROBES - 1;
        [last, last - 1]
            .map(|number| String::from_utf8_lossy(&self.id(VertexKind::Plain, number)).into_owned())
    }

    /// The id of vertex `number` of a kind. Consecutive numbers have distant ids, so that writes
    /// spread over the whole key range.
    pub(crate) fn id(&self, kind: VertexKind, number: u64) -> [u8; ID] {
        let mut id = [0; ID];
        id[..PREFIX].copy_from_slice(&self.prefix);
        let scrambled = scramble(kind.base() + number);
        write_digits(&mut id[PREFIX..], scrambled);
        id
    }

    fn content(&self, number: u64) -> u64 {
        mix(number ^ self.seed.rotate_left(17))
    }

    pub(crate) fn name(&self, number: u64) -> [u8; 8] {
        let mut name = [0; 8];
        write_digits(&mut name, self.content(number));
        name
    }

    /// The age of vertex `number`, two digits.
    pub(crate) fn age(&self, number: u64) -> u32 {
        10 + ((self.content(number) >> 40) % 90) as u32
    }

    /// Names and values of the properties with which vertex `number` of a kind is created.
    pub(crate) fn properties(&self, kind: VertexKind, number: u64) -> Vec<(String, Value)> {
        let text = |bytes: &[u8]| Value::from(String::from_utf8_lossy(bytes));
        let mut properties = vec![
            ("bname".to_owned(), text(&self.name(number))),
            ("bage".to_owned(), self.age(number).into()),
        ];
        if kind == VertexKind::Person {
            properties.push(("bcity".to_owned(), text(self.city(number))));
        }
        properties
    }

    /// The year of edge `number`, four digits.
    pub(crate) fn since(&self, number: u64) -> u32 {
        1_900 + (self.content(!number) % 120) as u32
    }

    /// The ends of edge `number` among `vertices` vertices. No two edges with numbers below
    /// [`edge_capacity`] have the same ends.
    pub(crate) fn ends(&self, number: u64, vertices: u64) -> (u64, u64) {
        let vertices = vertices.max(1);
        let (round, source) = (number / vertices, number % vertices);
        (
            source,
            (mix(source ^ self.seed) % vertices + round) % vertices,
        )
    }
}

/// A permutation of the numbers of an id.
const fn scramble(number: u64) -> u64 {
    const MASK: u64 = (1 << NUMBER_BITS) - 1;
    let mut n = number & MASK;
    n ^= n >> 15;
    n = n.wrapping_mul(0x2C1B_3C6D) & MASK;
    n ^= n >> 12;
    n = n.wrapping_mul(0x297A_2D39) & MASK;
    n ^ (n >> 15)
}

fn write_digits(out: &mut [u8], mut number: u64) {
    for place in out.iter_mut().rev() {
        *place = DIGITS[(number & 31) as usize];
        number >>= 5;
    }
}

fn write_number(out: &mut [u8], mut number: u32) {
    for place in out.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// A field of a template that is filled in for each element of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Name,
    Age,
    Source,
    Target,
    Since,
    City,
}

/// The fields with their placeholders, which are as long as the fields.
const MARKS: [(Field, &str); 7] = [
    (Field::Id, "@@@@@@@@I"),
    (Field::Source, "@@@@@@@@S"),
    (Field::Target, "@@@@@@@@T"),
    (Field::Name, "@@@@@@@N"),
    (Field::Age, "@A"),
    (Field::Since, "@@@Y"),
    (Field::City, "@@@@C"),
];

/// The fields in a text and where they are.
fn fields_of(text: &[u8]) -> impl Iterator<Item = (Range<usize>, Field)> {
    MARKS.into_iter().flat_map(move |(field, mark)| {
        let places = memchr::memmem::find_iter(text, mark);
        places
            .map(move |at| (at..at + mark.len(), field))
            .collect::<Vec<_>>()
    })
}

/// A text with fields to fill in for each element.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    text: Vec<u8>,
    /// The fields of one element.
    fields: Vec<(Range<usize>, Field)>,
    kind: VertexKind,
    /// Distance in bytes between elements; the next field is their number.
    stride: usize,
    count: u32,
}

impl Template {
    /// A template that creates `count` vertices of a kind.
    pub(crate) fn vertices(kind: VertexKind, count: u32) -> Self {
        let label = kind.label();
        let properties = match kind {
            VertexKind::Plain => r#""bname":"@@@@@@@N","bage":@A"#,
            VertexKind::Person => r#""bname":"@@@@@@@N","bage":@A,"bcity":"@@@@C""#,
        };
        let one =
            format!(r#"{{"label":"{label}","id":"@@@@@@@@I","properties":{{{properties}}}}}"#);
        Self::repeated(&one, kind, count)
    }

    /// A template that creates `count` edges between vertices of a kind.
    pub(crate) fn edges(kind: VertexKind, count: u32) -> Self {
        let (own, label) = match kind {
            VertexKind::Person => (KNOWS_LABEL, PERSON_LABEL),
            VertexKind::Plain => (EDGE_LABEL, VERTEX_LABEL),
        };
        let one = format!(
            r#"{{"label":"{own}","outV":"@@@@@@@@S","outVLabel":"{label}","inV":"@@@@@@@@T","inVLabel":"{label}","properties":{{"bsince":@@@Y}}}}"#
        );
        Self::repeated(&one, kind, count)
    }

    fn repeated(one: &str, kind: VertexKind, count: u32) -> Self {
        let text = vec![one; count as usize].join(",");
        Self::new(&text, one.len() + 1, kind, count)
    }

    /// A template with the fields of one element.
    pub(crate) fn single(text: &str, kind: VertexKind) -> Self {
        Self::new(text, 0, kind, 1)
    }

    fn new(text: &str, stride: usize, kind: VertexKind, count: u32) -> Self {
        let end = if stride == 0 { text.len() } else { stride - 1 };
        let one = &text[..end.min(text.len())];
        let fields = fields_of(one.as_bytes()).collect();
        Self {
            text: text.as_bytes().to_vec(),
            fields,
            kind,
            stride,
            count,
        }
    }

    /// Puts text around the template and shifts its fields. The fields of a single element may also
    /// be in `before`.
    pub(crate) fn wrapped(mut self, before: &[u8], after: &[u8]) -> Self {
        for (place, _) in &mut self.fields {
            *place = place.start + before.len()..place.end + before.len();
        }
        if self.stride == 0 {
            self.fields.extend(fields_of(before));
        }
        let mut text = before.to_vec();
        text.append(&mut self.text);
        text.extend_from_slice(after);
        self.text = text;
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Writes the text for the elements from `first` on.
    pub(crate) fn fill(&self, naming: &Naming, first: u64, vertices: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&self.text);
        for element in 0..u64::from(self.count) {
            let number = first + element;
            let base = start + element as usize * self.stride;
            self.fill_one(naming, number, vertices, &mut out[base..]);
        }
    }

    fn fill_one(&self, naming: &Naming, number: u64, vertices: u64, out: &mut [u8]) {
        let mut ends = None;
        for (place, field) in &self.fields {
            let place = &mut out[place.clone()];
            match field {
                Field::Id => place.copy_from_slice(&naming.id(self.kind, number)),
                Field::Name if self.kind == VertexKind::Person => {
                    place.copy_from_slice(&naming.name(number % vertices.max(1)));
                }
                Field::Name => place.copy_from_slice(&naming.name(number)),
                Field::Age => write_number(place, naming.age(number)),
                Field::Since => write_number(place, naming.since(number)),
                Field::City => place.copy_from_slice(naming.city(number)),
                Field::Source | Field::Target => {
                    let (source, target) = *ends.get_or_insert_with(|| match self.kind {
                        VertexKind::Person => naming.acquaintance(number, vertices),
                        VertexKind::Plain => naming.ends(number, vertices),
                    });
                    let end = if *field == Field::Source {
                        source
                    } else {
                        target
                    };
                    place.copy_from_slice(&naming.id(self.kind, end));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const NAMING: Naming = Naming {
        prefix: *b"abc",
        seed: 7,
    };

    const KINDS: [VertexKind; 2] = [VertexKind::Plain, VertexKind::Person];

    fn filled(template: &Template, first: u64) -> serde_json::Value {
        let mut out = Vec::new();
        let whole = template.clone().wrapped(b"[", b"]");
        whole.fill(&NAMING, first, 1_000, &mut out);
        assert_eq!(out.len(), whole.len());
        serde_json::from_slice(&out).expect("JSON")
    }

    #[test]
    fn ids_of_all_kinds_are_distinct() {
        let mut seen = BTreeSet::new();
        for kind in KINDS {
            for number in (0..20_000).chain([(1 << 27) - 1]) {
                let id = NAMING.id(kind, number);
                assert!(id.starts_with(b"abc"));
                assert!(seen.insert(id), "{kind:?} {number}");
            }
        }
    }

    #[test]
    fn edges_have_distinct_ends() {
        let seen: BTreeSet<_> = (0..10_000).map(|at| NAMING.ends(at, 100)).collect();
        assert_eq!(seen.len(), 10_000);
        assert!(
            seen.iter()
                .all(|(source, target)| *source < 100 && *target < 100)
        );
    }

    #[test]
    fn vertices_are_as_documented() {
        let vertices = filled(&Template::vertices(VertexKind::Plain, 3), 5);
        let vertices = vertices.as_array().expect("an array");
        assert_eq!(vertices.len(), 3);
        for (at, vertex) in vertices.iter().enumerate() {
            let number = 5 + at as u64;
            let id =
                String::from_utf8(NAMING.id(VertexKind::Plain, number).to_vec()).expect("text");
            assert_eq!(vertex["id"], id);
            assert_eq!(vertex["label"], VERTEX_LABEL);
            assert_eq!(vertex["properties"]["bage"], NAMING.age(number));
        }
    }

    #[test]
    fn edges_are_as_documented() {
        let edges = filled(&Template::edges(VertexKind::Plain, 2), 1_234);
        let edge = &edges[1];
        let (source, target) = NAMING.ends(1_235, 1_000);
        let id = |at| String::from_utf8(NAMING.id(VertexKind::Plain, at).to_vec()).expect("text");
        assert_eq!(edge["outV"], id(source));
        assert_eq!(edge["inV"], id(target));
        assert_eq!(edge["properties"]["bsince"], NAMING.since(1_235));
    }

    #[test]
    fn properties_are_those_that_are_sent() {
        for kind in KINDS {
            let sent = filled(&Template::vertices(kind, 2), 77);
            let known: serde_json::Map<_, _> = NAMING.properties(kind, 78).into_iter().collect();
            assert_eq!(sent[1]["properties"], Value::Object(known), "{kind:?}");
        }
    }
}
