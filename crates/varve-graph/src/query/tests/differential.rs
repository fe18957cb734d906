//! Random queries on random graphs return what a check of every element returns, in whole and page
//! by page.

use std::collections::BTreeSet;

use varve_model::schema::IndexBase;
use varve_model::{
    CommitVersion, Condition, Direction, Edge, EdgeLabelId, Element, ElementId, Predicate,
    Properties, PropertyKeyId, TemporalScope, Value, Vertex, VertexId, VertexLabelId,
};

use super::world::*;
use crate::index::tokenizer::contains_words;
use crate::query::alternatives::usable;
use crate::query::plan::ElementLabel;
use crate::query::{EdgeQuery, VertexQuery, collect_edges, collect_vertices};
use crate::{ErrorKind, GraphError};

/// A generator of numbers that look random and are the same in every run (SplitMix64, published by
/// Steele et al.).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.below(items.len() as u64)).expect("small")].clone()
    }

    fn word(&mut self) -> String {
        self.pick(&["x", "y", "xy", "", "a!b", "北京", "a\0b"])
            .to_owned()
    }

    fn value(&mut self, key: PropertyKeyId) -> Value {
        let small = i32::try_from(self.below(6)).expect("small") - 2;
        match key {
            AGE => Value::Int(small),
            SCORE => Value::Double(f64::from(small) / 2.0),
            DATE => Value::Date(i64::from(small)),
            HOBBY => {
                let words: BTreeSet<String> = (0..self.below(3)).map(|_| self.word()).collect();
                Value::Set(words.into_iter().map(Value::Text).collect())
            }
            TAGS => Value::List(
                (0..self.below(3))
                    .map(|_| Value::Text(format!("{} z", self.word())))
                    .collect(),
            ),
            ABOUT => Value::Text(format!("{} {}", self.word(), self.word())),
            _ => Value::Text(self.word()),
        }
    }

    fn properties(&mut self) -> Properties {
        let keys = [AGE, CITY, SCORE, HOBBY, ABOUT, DATE, TAGS];
        keys.into_iter()
            .filter_map(|key| {
                let missing = self.one_in(4);
                let value = self.value(key);
                (!missing).then_some((key, value))
            })
            .collect()
    }

    fn condition(&mut self) -> Condition {
        let key = self.pick(&[AGE, AGE, CITY, CITY, SCORE, HOBBY, ABOUT, DATE, TAGS, NAME]);
        let value = |dice: &mut Self| dice.value(key);
        let predicate = match key {
            HOBBY | TAGS if self.one_in(2) => Predicate::Contains(Value::Text(self.word())),
            HOBBY | TAGS | ABOUT => Predicate::TextContains(self.word()),
            NAME => Predicate::Within(
                (0..3)
                    .map(|_| Value::Text(format!("v{}", self.below(12))))
                    .collect(),
            ),
            CITY => match self.below(4) {
                0 => Predicate::Within((0..self.below(4)).map(|_| value(self)).collect()),
                1 => Predicate::Neq(value(self)),
                _ => Predicate::Eq(value(self)),
            },
            _ => match self.below(10) {
                0 => Predicate::Lt(value(self)),
                1 => Predicate::Lte(value(self)),
                2 => Predicate::Gt(value(self)),
                3 => Predicate::Gte(value(self)),
                4 => Predicate::Between(value(self), value(self)),
                5 => Predicate::Inside(value(self), value(self)),
                6 => Predicate::Outside(value(self), value(self)),
                7 => Predicate::Within((0..self.below(4)).map(|_| value(self)).collect()),
                8 => Predicate::Neq(value(self)),
                _ => Predicate::Eq(value(self)),
            },
        };
        Condition { key, predicate }
    }

    fn conditions(&mut self) -> Vec<Condition> {
        (0..self.below(4)).map(|_| self.condition()).collect()
    }

    fn scope(&mut self, world: &World) -> TemporalScope {
        if self.one_in(2) {
            return TemporalScope::NOW;
        }
        let version = self.below(world.last_version().0 + 512);
        TemporalScope {
            valid: None,
            transaction: Some(CommitVersion(version)),
        }
    }
}

fn world(dice: &mut Dice) -> World {
    let buckets = dice.pick(&[1, 1, 3]);
    let mut world = World::new(schema(buckets));
    for _ in 0..dice.below(60) {
        let name = format!("v{}", dice.below(12));
        let number = i64::try_from(dice.below(6)).expect("small");
        let label = dice.pick(&[PERSON, PERSON, ITEM, HIDDEN]);
        let vertex = vertex(label, &name, number, dice.properties());
        if dice.one_in(5) {
            world.delete(&ElementId::Vertex(vertex.id));
        } else {
            world.put(Element::Vertex(vertex));
        }
    }
    for _ in 0..dice.below(90) {
        let mut end = || VertexId::text(&format!("1:v{}", dice.below(5)));
        let (source, target) = (end(), end());
        let label = dice.pick(&[KNOWS, KNOWS, LIKES, SUB_ONE, SUB_TWO]);
        let mut properties = dice.properties();
        for key in [DATE, CITY, AGE] {
            if properties.get(key).is_none() {
                properties.set(key, dice.value(key));
            }
        }
        let edge = edge(label, &source, &target, properties);
        if dice.one_in(5) {
            world.delete(&ElementId::Edge(edge.id));
        } else {
            world.put(Element::Edge(edge));
        }
    }
    world
}

/// The expected result, by a check of every element. `searched`: whether words are looked for in
/// the members of TAGS.
fn satisfies(conditions: &[Condition], properties: &Properties, searched: bool) -> bool {
    conditions.iter().all(
        |condition| match (&condition.predicate, properties.get(condition.key)) {
            (Predicate::TextContains(words), Some(Value::List(tags)))
                if searched && condition.key == TAGS =>
            {
                tags.iter()
                    .any(|tag| matches!(tag, Value::Text(tag) if contains_words(tag, words)))
            }
            (predicate, Some(value)) => predicate.holds(value, &contains_words),
            (_, None) => false,
        },
    )
}

/// Whether a query may be refused with this error.
fn is_refusal(error: &GraphError) -> bool {
    matches!(error.kind, ErrorKind::NoIndex | ErrorKind::IllegalState)
}

fn ids<T>(elements: &[T], id: impl Fn(&T) -> String) -> Vec<String> {
    elements.iter().map(id).collect()
}

/// Checks `all`, the result of one query without a limit, against the expected result, and every
/// division of the query into pages or limits.
fn check(
    context: &str,
    all: &[String],
    expected: &[String],
    repeats: bool,
    cut: &mut dyn FnMut(i64, i64, Option<String>) -> (Vec<String>, Option<String>),
    dice: &mut Dice,
) {
    let mut sorted = all.to_vec();
    sorted.sort();
    let mut wanted = expected.to_vec();
    wanted.sort();
    assert_eq!(sorted, wanted, "{context}");
    if !repeats {
        assert!(
            sorted.windows(2).all(|pair| pair[0] != pair[1]),
            "{context}: {all:?}"
        );
    }
    let (offset, limit) = (dice.below(5), dice.below(7));
    let (some, page) = cut(
        i64::try_from(offset).expect("small"),
        i64::try_from(limit).expect("small"),
        None,
    );
    let asked: Vec<String> = all
        .iter()
        .skip(usize::try_from(offset).expect("small"))
        .take(usize::try_from(limit).expect("small"))
        .cloned()
        .collect();
    assert_eq!(
        (some, page),
        (asked, None),
        "{context}: offset {offset}, limit {limit}"
    );
    let size = i64::try_from(dice.below(5) + 1).expect("small");
    let mut paged = Vec::new();
    let mut token = Some(String::new());
    let mut pages = 0;
    while let Some(page) = token {
        let (part, next) = cut(0, size, Some(page));
        assert!(part.len() as i64 <= size, "{context}");
        pages += 1;
        assert!(pages <= all.len() + 2, "{context}: pages do not end");
        paged.extend(part);
        token = next;
    }
    assert_eq!(paged, all, "{context}: in pages of {size}");
}

fn vertex_expectation(world: &World, scope: TemporalScope, query: &VertexQuery) -> Vec<String> {
    let with_index = |label: VertexLabelId| {
        let usable = usable(
            &world.schema,
            IndexBase::Vertex(label),
            ElementLabel::Vertex(label),
            &query.conditions,
        );
        query.conditions.is_empty() || !usable.alternatives.is_empty()
    };
    let elements = world
        .at(scope)
        .into_iter()
        .filter_map(|element| match element {
            Element::Vertex(vertex) => Some(vertex),
            Element::Edge(_) => None,
        });
    let found = elements.filter(|vertex| {
        query
            .label
            .map_or_else(|| with_index(vertex.label), |label| vertex.label == label)
            && satisfies(
                &query.conditions,
                &vertex.properties,
                vertex.label == PERSON && searches_tags(query),
            )
    });
    found.map(|vertex| vertex.id.to_string()).collect()
}

/// A look-up by primary key uses no index, so whole members are compared there.
fn searches_tags(query: &VertexQuery) -> bool {
    query.label != Some(PERSON)
        || query
            .conditions
            .iter()
            .all(|condition| condition.key != NAME)
}

#[test]
fn vertex_queries_find_what_brute_force_finds() {
    let (mut served, mut refused, mut found) = (0, 0, 0);
    for seed in 0..120 {
        let mut dice = Dice(seed);
        let mut world = world(&mut dice);
        world.is_remote = seed % 2 == 1;
        for _ in 0..25 {
            let scope = dice.scope(&world);
            let at = At(&world, scope);
            let query = VertexQuery {
                label: dice.pick(&[None, Some(PERSON), Some(PERSON), Some(ITEM), Some(HIDDEN)]),
                conditions: dice.conditions(),
                limit: -1,
                ..VertexQuery::default()
            };
            let context = format!("seed {seed}: {scope:?} {query:?}");
            let all = match collect_vertices(&at, &world.schema, &query) {
                Ok((all, page)) => {
                    assert_eq!(page, None);
                    all
                }
                Err(error) => {
                    assert!(is_refusal(&error), "{context}: {error}");
                    refused += 1;
                    continue;
                }
            };
            served += 1;
            found += all.len();
            for vertex in &all {
                assert!(
                    world.at(scope).contains(&Element::Vertex(vertex.clone())),
                    "{context}"
                );
            }
            let id = |vertex: &Vertex| vertex.id.to_string();
            let mut cut = |offset, limit, page| {
                let query = VertexQuery {
                    offset,
                    limit,
                    page,
                    ..query.clone()
                };
                let (some, page) = collect_vertices(&at, &world.schema, &query).expect("as before");
                (ids(&some, id), page)
            };
            check(
                &context,
                &ids(&all, id),
                &vertex_expectation(&world, scope, &query),
                false,
                &mut cut,
                &mut dice,
            );
        }
    }
    assert!(
        served > 1000 && refused > 300 && found > 3000,
        "{served} served, {refused} refused, {found} found"
    );
}

fn edge_expectation(world: &World, scope: TemporalScope, query: &EdgeQuery) -> Vec<String> {
    let with_index = |label: EdgeLabelId| {
        let usable = usable(
            &world.schema,
            IndexBase::Edge(label),
            ElementLabel::Edge(label),
            &query.conditions,
        );
        query.conditions.is_empty() || !usable.alternatives.is_empty()
    };
    let of_label = |edge: &Edge| match query.labels.as_slice() {
        [] => query.vertex.is_some() || with_index(edge.id.label),
        labels => labels.contains(&edge.id.label) || labels.contains(&edge.id.parent),
    };
    let elements = world
        .at(scope)
        .into_iter()
        .filter_map(|element| match element {
            Element::Edge(edge) => Some(edge),
            Element::Vertex(_) => None,
        });
    let found = elements
        .filter(|edge| of_label(edge) && satisfies(&query.conditions, &edge.properties, false));
    let times = |edge: &Edge| match &query.vertex {
        None => 1,
        Some((vertex, direction)) => [Direction::Out, Direction::In]
            .into_iter()
            .filter(|side| {
                direction.is_none_or(|asked| asked == *side) && edge.id.owner(*side) == vertex
            })
            .count(),
    };
    found
        .flat_map(|edge| std::iter::repeat_n(edge.id.to_string(), times(&edge)))
        .collect()
}

#[test]
fn edge_queries_find_what_brute_force_finds() {
    let (mut served, mut refused, mut found) = (0, 0, 0);
    for seed in 1000..1120 {
        let mut dice = Dice(seed);
        let mut world = world(&mut dice);
        world.is_remote = seed % 2 == 1;
        for _ in 0..25 {
            let scope = dice.scope(&world);
            let at = At(&world, scope);
            let label = dice.pick(&[
                None,
                Some(KNOWS),
                Some(KNOWS),
                Some(LIKES),
                Some(PARENT),
                Some(SUB_ONE),
            ]);
            let vertex = (!dice.one_in(3)).then(|| {
                let direction = dice.pick(&[None, Some(Direction::Out), Some(Direction::In)]);
                (VertexId::text(&format!("1:v{}", dice.below(6))), direction)
            });
            let query = EdgeQuery {
                vertex,
                labels: label
                    .into_iter()
                    .chain(dice.one_in(6).then_some(LIKES))
                    .collect(),
                conditions: dice.conditions(),
                limit: -1,
                ..EdgeQuery::default()
            };
            let context = format!("seed {seed}: {scope:?} {query:?}");
            let all = match collect_edges(&at, &world.schema, &query) {
                Ok((all, _)) => all,
                Err(error) => {
                    assert!(is_refusal(&error), "{context}: {error}");
                    refused += 1;
                    continue;
                }
            };
            served += 1;
            found += all.len();
            let id = |edge: &Edge| edge.id.to_string();
            let mut cut = |offset, limit, page| {
                let query = EdgeQuery {
                    offset,
                    limit,
                    page,
                    ..query.clone()
                };
                let (some, page) = collect_edges(&at, &world.schema, &query).expect("as before");
                (ids(&some, id), page)
            };
            let both = matches!(query.vertex, Some((_, None)));
            check(
                &context,
                &ids(&all, id),
                &edge_expectation(&world, scope, &query),
                both,
                &mut cut,
                &mut dice,
            );
        }
    }
    assert!(
        served > 1000 && refused > 100 && found > 3000,
        "{served} served, {refused} refused, {found} found"
    );
}
