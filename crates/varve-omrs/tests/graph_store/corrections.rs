//! States that were written for a part of time, as corrections through the graph's own interface
//! are: a history returns what reads of each time return.

use std::collections::BTreeMap;
use std::sync::Arc;

use varve_graph::Graph;
use varve_graph::read::{HistoryPage, Version as Event, VersionKind};
use varve_graph::write::{EndCheck, Missing, Mutation, WritePeriod, WriteRequest};
use varve_model::{
    CommitVersion, EdgeId, EdgeLabelId, ElementId, Instant, TemporalScope, VertexId,
};
use varve_omrs::instances::*;
use varve_omrs::json::{Millis, encode};
use varve_omrs::repository::{Options, Repository};
use varve_omrs::requests::*;
use varve_omrs::store::*;

use crate::model::Random;
use crate::world::*;

const TERM: &str = "GlossaryTerm";
const LINK: &str = "SemanticAssignment";
/// The instance whose states are written.
const GUID: &str = "x";
/// The one that lends its states.
const LENT: &str = "lent";
/// The ends of the edges that a relationship is at its times.
const ENDS: [[&str; 2]; 2] = [["a", "b"], ["b", "a"]];
/// When the times of the tests begin, in milliseconds: after the ends were made, and before now.
const BEGIN: i64 = START / 1_000 + 1_000;

/// States of an entity or of a relationship.
struct Corrected {
    world: World,
    graph: Arc<Graph>,
    subject: Subject,
    /// How much is stored of each state.
    length: usize,
    /// Which state each commit has written.
    written: BTreeMap<CommitVersion, i64>,
}

impl Corrected {
    fn new(subject: Subject, length: usize) -> Self {
        let world = World::new();
        for end in ["a", "b"] {
            world.put(&world.entity(TERM, end, &[]));
        }
        world.clock.advance(10_000_000);
        Self {
            graph: Arc::clone(world.store.graph()),
            world,
            subject,
            length,
            written: BTreeMap::new(),
        }
    }

    /// The elements that the instance is at its times.
    fn places(&self) -> Vec<ElementId> {
        match self.subject {
            Subject::Entities => vec![ElementId::Vertex(VertexId::text(GUID))],
            Subject::Relationships => {
                let edges = ENDS.iter().map(|ends| self.edge(GUID, *ends));
                edges.map(ElementId::Edge).collect()
            }
        }
    }

    fn edge(&self, guid: &str, [one, two]: [&str; 2]) -> EdgeId {
        let schema = self.graph.schema();
        let label = schema.edge_label_by_name(LINK).expect("a label").id.0;
        EdgeId {
            source: VertexId::text(one),
            parent: EdgeLabelId(label),
            label: EdgeLabelId(label),
            sort_values: guid.into(),
            target: VertexId::text(two),
        }
    }

    /// Writes a state of this number at a place, or that there is none, from a time on until
    /// another one.
    fn write(&mut self, place: usize, number: Option<i64>, from: i64, to: Option<i64>) {
        let instant = |time: i64| Instant::from_millis(BEGIN + time);
        let mutation = match number {
            Some(number) => self.put(place, number),
            None => Mutation::Delete {
                id: self.places()[place].clone(),
                missing: Missing::Ignore,
            },
        };
        let request = WriteRequest {
            mutations: vec![mutation],
            period: WritePeriod {
                from: Some(instant(from)),
                to: to.map(instant),
            },
            ..WriteRequest::default()
        };
        let version = self.graph.write_now(&request).expect("written");
        if let Some(number) = number {
            self.written.insert(version, number);
        }
    }

    fn put(&self, place: usize, number: i64) -> Mutation {
        let content = "x".repeat(self.length);
        match &self.places()[place] {
            ElementId::Vertex(id) => {
                let description = ("description", text(&content));
                let mut lent = self.world.entity(TERM, LENT, &[description]);
                lent.header.audit.version = number;
                self.world.put(&lent);
                let lent = VertexId::text(LENT);
                let vertex = self.graph.vertex(&lent, TemporalScope::NOW);
                let mut vertex = vertex.expect("read").expect("there");
                vertex.id = id.clone();
                Mutation::PutVertex {
                    vertex,
                    fresh: false,
                }
            }
            ElementId::Edge(id) => {
                let mut lent = self.world.relationship(LINK, LENT, ENDS[place]);
                lent.header.audit.version = number;
                let description = InstancePropertyValue::string(&content);
                let properties = InstanceProperties::default().with("description", description);
                lent.properties = Some(properties);
                self.world.put_relationship(&lent);
                let lent = self.edge(LENT, ENDS[place]);
                let edge = self.graph.edge(&lent, TemporalScope::NOW);
                let mut edge = edge.expect("read").expect("there");
                edge.id = id.clone();
                Mutation::PutEdge {
                    edge,
                    ends: EndCheck::Skip,
                }
            }
        }
    }

    /// The states that hold at a time: what the newest event that speaks of it says, of each place.
    fn at(&self, events: &[Vec<Event>], time: i64) -> Vec<i64> {
        let instant = Instant::from_millis(BEGIN + time);
        let decide = |events: &Vec<Event>| {
            let about = events.iter().filter(|of| of.period.covers(instant));
            about.max_by_key(|of| of.version).cloned()
        };
        let deciding = events.iter().filter_map(decide);
        let mut there: Vec<Event> = deciding.filter(|of| of.kind == VersionKind::Put).collect();
        there.sort_by_key(|of| of.version);
        there.iter().map(|of| self.written[&of.version]).collect()
    }

    /// The history, by looking at one time after the other, the last of which stands for all that
    /// follow. Reads return the times, too.
    fn expected(&self, times: i64) -> Vec<Version<i64>> {
        let page = HistoryPage {
            before: None,
            limit: usize::MAX,
        };
        let history = |id| self.graph.history(id, TemporalScope::NOW, page);
        let places = self.places();
        let events: Vec<_> = places.iter().map(|id| history(id).expect("read")).collect();
        let mut all: Vec<Version<i64>> = Vec::new();
        let mut before = None;
        for time in 0..=times {
            let found = self.at(&events, time);
            if found.len() <= 1 {
                assert_eq!(self.read(Millis(BEGIN + time)), found.first().copied());
            }
            let newest = found.last().copied();
            if newest == before {
                continue;
            }
            if let (Some(_), Some(last)) = (before, all.last_mut()) {
                last.to = Some(Millis(BEGIN + time));
            }
            all.extend(newest.map(|state| Version {
                from: Millis(BEGIN + time),
                to: None,
                state,
            }));
            before = newest;
        }
        all
    }

    fn read(&self, at: Millis) -> Option<i64> {
        let reader = self.world.reader(Some(at));
        match self.subject {
            Subject::Entities => {
                let entity = reader.entity(GUID).expect("read");
                entity.map(|of| of.header().audit.version)
            }
            Subject::Relationships => {
                let relationship = reader.relationship(GUID).expect("read");
                relationship.map(|of| of.header.audit.version)
            }
        }
    }

    fn rendered(&self) -> Vec<Version<i64>> {
        match self.subject {
            Subject::Entities => {
                let all = self.world.entity_history(GUID);
                let rendered = all.iter();
                rendered
                    .map(|it| it.with(it.state.header().audit.version))
                    .collect()
            }
            Subject::Relationships => {
                let all = self.world.relationship_history(GUID);
                let rendered = all.iter();
                rendered
                    .map(|it| it.with(it.state.header.audit.version))
                    .collect()
            }
        }
    }

    fn repository(self) -> Rendered {
        let options = Options {
            metadata_collection_id: Some("home".to_owned()),
            metadata_collection_name: "varve".to_owned(),
            base_url: "http://here.example".to_owned(),
        };
        let store = Arc::new(self.world.store);
        Rendered {
            repository: Repository::open(store, options).expect("a repository"),
            subject: self.subject,
        }
    }
}

/// A repository that tells of the instance.
struct Rendered {
    repository: Repository,
    subject: Subject,
}

impl Rendered {
    fn at(&self, time: i64) -> i64 {
        let request = HistoryRequest {
            as_of_time: Some(Millis(BEGIN + time)),
        };
        let version = |audit: InstanceAuditHeader| audit.version;
        match self.subject {
            Subject::Entities => {
                let found = self.repository.get_entity_detail(GUID, Some(&request));
                version(found.expect("there").header.audit)
            }
            Subject::Relationships => {
                let found = self.repository.get_relationship(GUID, Some(&request));
                version(found.expect("there").header.audit)
            }
        }
    }

    fn history(&self, request: &HistoryRangeRequest) -> Vec<i64> {
        match self.subject {
            Subject::Entities => {
                let found = self.repository.get_entity_detail_history(GUID, request);
                let found = found.expect("rendered").into_iter();
                found.map(|of| of.header.audit.version).collect()
            }
            Subject::Relationships => {
                let found = self.repository.get_relationship_history(GUID, request);
                let found = found.expect("rendered").into_iter();
                found.map(|of| of.header.audit.version).collect()
            }
        }
    }

    fn within(&self, from: Option<i64>, to: Option<i64>) -> Vec<i64> {
        let time = |time: i64| Millis(BEGIN + time);
        self.history(&HistoryRangeRequest {
            from_time: from.map(time),
            to_time: to.map(time),
            order: Some(HistorySequencingOrder::Forwards),
            ..HistoryRangeRequest::default()
        })
    }
}

const SUBJECTS: [Subject; 2] = [Subject::Entities, Subject::Relationships];

#[test]
fn what_held_before_a_correction_holds_again_after_it() {
    for subject in SUBJECTS {
        let mut corrected = Corrected::new(subject, 10);
        corrected.write(0, Some(1), 0, None);
        corrected.write(0, Some(2), 10, Some(20));
        let period = |from, to: Option<i64>, state| Version {
            from: Millis(BEGIN + from),
            to: to.map(|to| Millis(BEGIN + to)),
            state,
        };
        let all = [
            period(0, Some(10), 1),
            period(10, Some(20), 2),
            period(20, None, 1),
        ];
        assert_eq!(corrected.rendered(), all);
        let rendered = corrected.repository();
        assert_eq!(
            [9, 10, 19, 20, 25].map(|time| rendered.at(time)),
            [1, 2, 2, 1, 1]
        );
        for (from, to, expected) in [
            (None, None, &[1, 2, 1][..]),
            (Some(21), None, &[1]),
            (Some(19), None, &[2, 1]),
            (Some(20), None, &[1]),
            (Some(12), Some(15), &[2]),
            (Some(10), Some(20), &[2]),
            (None, Some(10), &[1]),
            (None, Some(11), &[1, 2]),
            (Some(5), Some(25), &[1, 2, 1]),
        ] {
            assert_eq!(rendered.within(from, to), expected, "{from:?} to {to:?}");
        }
        for order in [
            HistorySequencingOrder::Forwards,
            HistorySequencingOrder::Backwards,
        ] {
            let page = |offset, page_size| {
                rendered.history(&HistoryRangeRequest {
                    order: Some(order),
                    offset,
                    page_size,
                    ..HistoryRangeRequest::default()
                })
            };
            assert_eq!(page(0, 0), [1, 2, 1]);
            assert_eq!([page(0, 1), page(1, 1), page(2, 1)], [[1], [2], [1]]);
            assert_eq!(page(1, 2), [2, 1]);
            assert!(page(3, 2).is_empty());
        }
    }
}

/// The last time that a period of the random lists begins or ends at.
const TIMES: usize = 24;

#[test]
fn a_history_tells_what_each_time_tells() {
    let seeds = std::env::var("VARVE_MODEL_SEEDS").map_or(12, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        // Little enough to be kept while it is looked at, or not.
        let length = if seed % 4 == 3 { 150_000 } else { 10 };
        for subject in SUBJECTS {
            let mut random = Random(seed);
            let mut corrected = Corrected::new(subject, length);
            let places = corrected.places().len();
            for number in 1..=20 {
                let from = random.below(TIMES - 1);
                let to = match random.below(3) {
                    0 => None,
                    _ => Some((from + 1 + random.below(8)).min(TIMES) as i64),
                };
                let number = (random.below(4) > 0).then_some(number);
                corrected.write(random.below(places), number, from as i64, to);
            }
            assert_eq!(
                corrected.rendered(),
                corrected.expected(TIMES as i64),
                "{subject:?} of seed {seed}"
            );
            corrected.world.verify();
        }
    }
}

#[test]
fn what_stands_for_an_entity_is_that_of_each_time() {
    for seed in 0..6 {
        let mut random = Random(seed);
        let mut corrected = Corrected::new(Subject::Entities, 10);
        for number in 1..=20 {
            let from = random.below(TIMES - 1) as i64;
            let to = [None, Some(from + 1 + random.below(8) as i64)][random.below(2)];
            let number = (random.below(4) > 0).then_some(number);
            corrected.write(0, number, from, to);
        }
        let times = (0..60).map(|_| Millis(BEGIN - 2 + random.below(TIMES + 8) as i64));
        let times: Vec<Millis> = times.collect();
        let store = &corrected.world.store;
        let found = store.proxies_at(&[(GUID, &times), ("a", &times[..5])], &mut Everything);
        let found = found.expect("read");
        assert!(found[1].iter().all(Option::is_some));
        for (at, found) in times.iter().zip(&found[0]) {
            let expected = corrected.world.reader(Some(*at)).rendered_proxy(GUID);
            let expected = expected.expect("read");
            assert_eq!(
                found.as_ref().map(encode),
                expected.as_ref().map(encode),
                "{at:?} of seed {seed}"
            );
        }
    }
}
