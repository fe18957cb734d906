//! Derived indexes: walks show what a look at every element shows, at every point of both times;
//! entries are purged, verified and made anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use varve_encoding::index::{put_ordered, put_ordered_whole};
use varve_encoding::key;
use varve_encoding::row::{decode_vertex, vertex_parts};
use varve_encoding::tables::{EVENT, EVENT_INDEX, INDEX, TABLES, VERTEX};
use varve_graph::index::{DerivedEntries, Deriver, rebuild_derived};
use varve_graph::maintenance::{purge, tidy};
use varve_graph::read::DerivedWalk;
use varve_graph::verify::verify;
use varve_graph::write::{Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{DurabilityMode, Graph, GraphError, GraphOptions};
use varve_kv::{Batch, ClusteringRange, Durability, Engine, Flow, MemoryEngine};
use varve_model::{
    Clock, CommitVersion, ElementId, Instant, Properties, PropertyKeyId, TemporalScope, Value,
    Vertex, VertexId, VertexLabelId,
};

const NUMBER: PropertyKeyId = PropertyKeyId(1);
/// All by number; by number, those with the same remainder.
const ALL: u32 = 1;
const REMAINDER: u32 = 2;
const REMAINDERS: i64 = 3;

struct Numbers(Arc<HandClock>);

fn number_of(content: &[u8]) -> Result<Option<i64>, GraphError> {
    let id = VertexId::Number(0);
    let vertex = decode_vertex(id, content)?;
    Ok(vertex.properties.get(NUMBER).and_then(Value::as_i64))
}

fn remainder_first(remainder: i64) -> Vec<u8> {
    remainder.to_string().into_bytes()
}

impl Deriver for Numbers {
    fn derive(
        &self,
        _: &ElementId,
        content: &[u8],
        entries: &mut DerivedEntries,
    ) -> Result<(), GraphError> {
        self.0.pass();
        vertex_parts(content)?;
        let number = number_of(content)?;
        let mut further = Vec::new();
        match number {
            Some(number) => put_ordered_whole(number, &mut further),
            None => put_ordered(None, &mut further),
        }
        entries.put(ALL, b"", &further);
        if let Some(number) = number {
            let first = remainder_first(number.rem_euclid(REMAINDERS));
            entries.put(REMAINDER, &first, &further);
        }
        Ok(())
    }
}

struct HandClock {
    micros: AtomicI64,
    /// How much time passes whenever entries are made.
    passing: AtomicI64,
}

impl HandClock {
    fn pass(&self) {
        let passing = self.passing.load(Ordering::SeqCst);
        self.micros.fetch_add(passing, Ordering::SeqCst);
    }
}

impl Clock for HandClock {
    fn now(&self) -> Instant {
        Instant(self.micros.load(Ordering::SeqCst))
    }
}

struct World {
    graph: Arc<Graph>,
    clock: Arc<HandClock>,
    random: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let clock = Arc::new(HandClock {
            micros: AtomicI64::new(1_000_000),
            passing: AtomicI64::new(0),
        });
        let mut options = GraphOptions::new(Arc::clone(&clock) as Arc<dyn Clock>);
        options.durability = DurabilityMode::None;
        let space = MemoryEngine::new()
            .open("g", TABLES, true)
            .expect("a space");
        let graph = Graph::open("g", space, &options).expect("a graph");
        graph.set_deriver(Some(Arc::new(Numbers(Arc::clone(&clock)))));
        Self {
            graph,
            clock,
            random: seed,
        }
    }

    fn below(&mut self, bound: i64) -> i64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.random >> 33) as i64) % bound
    }

    fn id(&mut self) -> VertexId {
        match self.below(8) {
            number @ 0..4 => VertexId::Number(number),
            number => VertexId::text(&"x".repeat((number * 40 - 150) as usize)),
        }
    }

    fn put(id: VertexId, number: Option<i64>) -> Mutation {
        let number = number.map(|number| (NUMBER, Value::Long(number)));
        let properties: Properties = number.into_iter().collect();
        let label = VertexLabelId(1);
        Mutation::PutVertex {
            vertex: Vertex {
                id,
                label,
                properties,
            },
            fresh: false,
        }
    }

    /// Writes something, for some period.
    fn step(&mut self) {
        self.clock.micros.fetch_add(10, Ordering::SeqCst);
        let now = self.graph.now().0;
        let (back, length) = (self.below(300) - 150, self.below(200) + 20);
        let from = (self.below(3) == 0).then_some(Instant(now + back));
        let to = (self.below(4) == 0).then(|| Instant(from.map_or(now, |it| it.0) + length));
        let id = self.id();
        let number = self.below(8);
        let mutation = match self.below(5) {
            0 => Mutation::Delete {
                id: ElementId::Vertex(id),
                missing: Missing::Ignore,
            },
            _ => Self::put(id, (number < 7).then_some(number)),
        };
        let request = WriteRequest {
            mutations: vec![mutation],
            period: WritePeriod { from, to },
            ..WriteRequest::default()
        };
        self.graph.write_now(&request).expect("stored");
        if self.below(6) == 0 {
            tidy(&self.graph, 100).expect("tidied");
        }
        if self.below(40) == 0 {
            let id = ElementId::Vertex(self.id());
            purge(&self.graph, &id)
                .expect("purged")
                .wait()
                .expect("stored");
        }
    }

    /// Every id, in the order of derived entries.
    fn ids() -> Vec<VertexId> {
        let numbers = (0..4).map(VertexId::Number);
        let texts = (4..8).map(|number| VertexId::text(&"x".repeat(number * 40 - 150)));
        numbers.chain(texts).collect()
    }

    fn compare(&mut self, scope: TemporalScope) {
        let view = self.graph.view(scope).expect("a view");
        let mut there: Vec<(Option<i64>, VertexId)> = Vec::new();
        for id in Self::ids() {
            if let Some(vertex) = view.vertex(&id).expect("read") {
                let number = vertex.properties.get(NUMBER).and_then(Value::as_i64);
                there.push((number, id));
            }
        }
        let mut at_once: Vec<(Option<i64>, VertexId)> = Vec::new();
        let (ids, mut seen) = (Self::ids(), Vec::new());
        view.with_vertices(&ids, &mut |at, content| {
            seen.push(at);
            at_once.push((number_of(content).expect("a vertex"), ids[at].clone()));
        })
        .expect("read");
        let positions = ids
            .iter()
            .enumerate()
            .filter(|(_, id)| there.iter().any(|it| it.1 == **id));
        let positions: Vec<usize> = positions.map(|(at, _)| at).collect();
        seen.sort_unstable();
        assert_eq!(seen, positions, "{scope:?}");
        at_once.sort_by_key(|(_, id)| ids.iter().position(|it| it == id));
        assert_eq!(at_once, there, "{scope:?}");
        let remainder = self.below(REMAINDERS);
        for reverse in [false, true] {
            let firsts = vec![Vec::new()];
            let mut all = there.clone();
            sort(&mut all, reverse);
            self.walk(scope, ALL, &firsts, reverse, &all);
            let other = (remainder + 1) % REMAINDERS;
            let firsts = [remainder, other].map(remainder_first);
            let is_of = |number: i64| [remainder, other].contains(&number.rem_euclid(REMAINDERS));
            let mut some = there.clone();
            some.retain(|(number, _)| number.is_some_and(is_of));
            sort(&mut some, reverse);
            self.walk(scope, REMAINDER, &firsts, reverse, &some);
        }
    }

    /// Page by page.
    fn walk(
        &self,
        scope: TemporalScope,
        index: u32,
        firsts: &[Vec<u8>],
        reverse: bool,
        expected: &[(Option<i64>, VertexId)],
    ) {
        let view = self.graph.view(scope).expect("a view");
        for page in [1, 2, 100] {
            let mut found = Vec::new();
            let mut after: Option<Vec<u8>> = None;
            loop {
                let walk = DerivedWalk {
                    index,
                    firsts,
                    range: ClusteringRange::all(),
                    reverse,
                    after: after.as_deref(),
                    unchecked: false,
                };
                let (mut shown, mut last) = (0, None);
                view.walk_derived(&walk, &mut |step| {
                    let ElementId::Vertex(id) = step.id else {
                        return Flow::Break(());
                    };
                    let number = number_of(step.content).expect("a vertex");
                    found.push((number, id.clone()));
                    last = Some(step.clustering.to_vec());
                    shown += 1;
                    if shown < page {
                        Flow::Continue(())
                    } else {
                        Flow::Break(())
                    }
                })
                .expect("a walk");
                if last.is_none() {
                    break;
                }
                after = last;
            }
            assert_eq!(found, expected, "{scope:?} {index} {reverse} {page}");
        }
    }

    /// No row and no entry is left.
    fn assert_empty(&self, seed: u64) {
        for table in [VERTEX, EVENT, INDEX, EVENT_INDEX] {
            let visited = self.graph.space().scan_table(table, None, &mut |row| {
                panic!("seed {seed}: {row:?} is left");
            });
            visited.expect("scanned");
        }
    }

    fn problems(&self) -> u64 {
        verify(&self.graph, 1, &mut |_| true)
            .expect("a report")
            .problem_count
    }
}

fn sort(all: &mut [(Option<i64>, VertexId)], reverse: bool) {
    let key = |id: &VertexId| {
        let mut out = Vec::new();
        key::put_ordered_element(&ElementId::Vertex(id.clone()), &mut out);
        out
    };
    all.sort_by(|(a, one), (b, other)| {
        let by_number = if reverse { b.cmp(a) } else { a.cmp(b) };
        by_number.then_with(|| key(one).cmp(&key(other)))
    });
}

#[test]
fn walks_show_what_a_look_at_every_element_shows() {
    for seed in 1..=6 {
        let mut world = World::new(seed);
        let mut versions = vec![world.graph.published()];
        for step in 1..=150 {
            world.step();
            versions.push(world.graph.published());
            if step % 10 > 0 {
                continue;
            }
            world.compare(TemporalScope::NOW);
            for _ in 0..6 {
                let now = world.graph.now().0;
                let valid = Some(Instant(now + world.below(600) - 300));
                let past = world.below(versions.len() as i64) as usize;
                let transaction: Option<CommitVersion> =
                    (world.below(2) == 0).then(|| versions[past]);
                world.compare(TemporalScope { valid, transaction });
            }
        }
        assert_eq!(world.problems(), 0);
    }
}

#[test]
fn missing_entries_are_found_and_made_anew() {
    let mut world = World::new(3);
    for _ in 0..80 {
        world.step();
    }
    assert_eq!(world.problems(), 0);
    let space = world.graph.space();
    let mut batch = Batch::new();
    for table in [INDEX, EVENT_INDEX] {
        let visited = space.scan_table(table, None, &mut |row| {
            batch.delete(table, row.partition, row.clustering);
            Flow::Continue(())
        });
        visited.expect("scanned");
    }
    space.write(&batch, Durability::Buffered).expect("written");
    assert!(world.problems() > 0);
    rebuild_derived(&world.graph, None, &|_, _| true).expect("made anew");
    assert_eq!(world.problems(), 0);
    world.compare(TemporalScope::NOW);
}

/// What was planned may be due when its commit is numbered: then no row says that it was ever
/// ahead of its time.
#[test]
fn what_was_due_before_its_commit_is_purged_too() {
    let world = World::new(1);
    let id = VertexId::Number(1);
    let request = WriteRequest::now(vec![World::put(id.clone(), Some(1))]);
    world.graph.write_now(&request).expect("stored");
    world.clock.passing.store(5_000, Ordering::SeqCst);
    let from = Instant(world.graph.now().0 + 2_000);
    let request = WriteRequest {
        mutations: vec![World::put(id.clone(), Some(2))],
        period: WritePeriod {
            from: Some(from),
            to: None,
        },
        ..WriteRequest::default()
    };
    let version = world.graph.write_now(&request).expect("stored");
    world.clock.passing.store(0, Ordering::SeqCst);
    assert!(from <= version.instant(), "due before it was numbered");
    tidy(&world.graph, 100).expect("tidied");
    let ticket = purge(&world.graph, &ElementId::Vertex(id)).expect("purged");
    ticket.wait().expect("stored");
    world.assert_empty(1);
}

#[test]
fn a_purged_element_leaves_no_entry() {
    let world = World::new(1);
    let id = VertexId::Number(1);
    for number in [1, 2, 3] {
        let request = WriteRequest::now(vec![World::put(id.clone(), Some(number))]);
        world.graph.write_now(&request).expect("stored");
        world.clock.micros.fetch_add(10, Ordering::SeqCst);
    }
    let ticket = purge(&world.graph, &ElementId::Vertex(id)).expect("purged");
    ticket.wait().expect("stored");
    world.assert_empty(1);
}

/// Whatever was planned, corrected, ended or settled meanwhile.
#[test]
fn purged_elements_leave_nothing_of_their_history() {
    for seed in 1..12 {
        let mut world = World::new(seed);
        let plain = seed % 3 == 0;
        for _ in 0..300 {
            if plain {
                world.clock.micros.fetch_add(10, Ordering::SeqCst);
                let (id, number) = (world.id(), world.below(4));
                let mutation = World::put(id, (number < 3).then_some(number));
                let request = WriteRequest::now(vec![mutation]);
                world.graph.write_now(&request).expect("stored");
            } else {
                world.step();
            }
        }
        if seed % 2 == 0 {
            rebuild_derived(&world.graph, None, &|_, _| true).expect("made anew");
        }
        for id in World::ids() {
            let ticket = purge(&world.graph, &ElementId::Vertex(id)).expect("purged");
            ticket.wait().expect("stored");
        }
        world.assert_empty(seed);
    }
}
