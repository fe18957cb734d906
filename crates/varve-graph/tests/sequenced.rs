//! Sequenced updates: what a change with a period does to the states in it, and what readers see of its commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use varve_encoding::tables::TABLES;
use varve_graph::limits::STATES_PER_UPDATE_MAX;
use varve_graph::read::HistoryPage;
use varve_graph::verify::verify;
use varve_graph::write::{EndCheck, Gaps, Mutation, WritePeriod, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::memory::MemoryEngine;
use varve_kv::{Engine, Flow};
use varve_model::{
    Clock, CommitVersion, Element, ElementId, Instant, Period, PropertyKeyId, TemporalScope, Value,
    Vertex, VertexId, VertexLabelId,
};

const CITY: PropertyKeyId = PropertyKeyId(1);
const MAIL: PropertyKeyId = PropertyKeyId(2);

#[derive(Default)]
struct HandClock(AtomicI64);

impl Clock for HandClock {
    fn now(&self) -> Instant {
        Instant(self.0.load(Ordering::SeqCst))
    }
}

/// One vertex, with a city and perhaps a mail.
struct Story {
    clock: Arc<HandClock>,
    graph: Arc<Graph>,
}

fn id() -> ElementId {
    ElementId::Vertex(VertexId::text("a"))
}

impl Story {
    fn new() -> Self {
        let clock = Arc::new(HandClock::default());
        clock.0.store(1_000, Ordering::SeqCst);
        let space = MemoryEngine::new().open("g", TABLES, true).expect("space");
        let options = GraphOptions::new(Arc::clone(&clock) as Arc<dyn Clock>);
        let graph = Graph::open("g", space, &options).expect("graph");
        Self { clock, graph }
    }

    fn at(&self, micros: i64) {
        self.clock.0.store(micros, Ordering::SeqCst);
    }

    fn write(
        &self,
        mutation: Mutation,
        period: (Option<i64>, Option<i64>),
        skip_unchanged: bool,
    ) -> Result<CommitVersion, GraphError> {
        self.graph.write_now(&WriteRequest {
            mutations: vec![mutation],
            period: WritePeriod {
                from: period.0.map(Instant),
                to: period.1.map(Instant),
            },
            periods: Vec::new(),
            skip_unchanged,
        })
    }

    /// Says where the vertex is in a period.
    fn put(&self, city: i32, from: Option<i64>, to: Option<i64>) -> CommitVersion {
        let properties = [(CITY, Value::Int(city))].into_iter().collect();
        let vertex = Vertex {
            id: VertexId::text("a"),
            label: VertexLabelId(1),
            properties,
        };
        let fresh = false;
        let put = Mutation::PutVertex { vertex, fresh };
        self.write(put, (from, to), false).expect("stored")
    }

    /// Sets the mail in a period.
    fn set_mail(
        &self,
        mail: i32,
        from: Option<i64>,
        to: Option<i64>,
    ) -> Result<CommitVersion, GraphError> {
        self.write(mail_of(mail), (from, to), false)
    }

    /// The states as known at a transaction time: from, to, city, mail.
    fn timeline(&self, known: Option<CommitVersion>) -> Vec<(i64, i64, i32, i32)> {
        let scope = TemporalScope {
            valid: None,
            transaction: known,
        };
        let view = self.graph.view(scope).expect("a view");
        let all = Period::since(Instant::MIN);
        let mut looked = || Flow::Continue(());
        let timeline = view.timeline(&id(), all, usize::MAX, &mut looked);
        let spells = timeline.expect("read").spells.into_iter();
        let number = |element: &Element, key| match element.properties().get(key) {
            Some(Value::Int(number)) => *number,
            None => 0,
            other => panic!("{other:?}"),
        };
        let shown = spells.map(|it| {
            let (city, mail) = (number(&it.element, CITY), number(&it.element, MAIL));
            (it.period.from.0, it.period.to.0, city, mail)
        });
        shown.collect()
    }

    fn versions(&self) -> Vec<CommitVersion> {
        let page = HistoryPage {
            before: None,
            limit: usize::MAX,
        };
        let history = self.graph.history(&id(), TemporalScope::NOW, page);
        let versions = history.expect("read").into_iter();
        versions.map(|version| version.version).collect()
    }

    fn check_stored(&self) {
        let report = verify(&self.graph, 1, &mut |_| true).expect("verified");
        assert_eq!(report.problem_count, 0, "{:?}", report.problems);
    }
}

fn mail_of(mail: i32) -> Mutation {
    let modify = Box::new(move |state: Option<Element>| {
        let Some(Element::Vertex(mut vertex)) = state else {
            return Err(GraphError::not_found("not there"));
        };
        vertex.properties.set(MAIL, Value::Int(mail));
        Ok(Element::Vertex(vertex))
    });
    Mutation::Modify {
        id: id(),
        ends: EndCheck::Skip,
        gaps: Gaps::Keep,
        modify,
    }
}

const FOREVER: i64 = i64::MAX;

#[test]
fn a_correction_of_one_property_leaves_the_others_of_each_state() {
    let story = Story::new();
    story.put(1, Some(100), None);
    story.put(2, Some(300), Some(500));
    story.put(3, Some(700), None);
    story.put(4, Some(2_000), None);
    let before = story.timeline(None);
    let version = story.set_mail(9, Some(200), None).expect("stored");
    let after = [
        (100, 200, 1, 0),
        (200, 300, 1, 9),
        (300, 500, 2, 9),
        (500, 700, 1, 9),
        (700, 2_000, 3, 9),
        (2_000, FOREVER, 4, 9),
    ];
    assert_eq!(story.timeline(None), after);
    story.check_stored();
    let known = CommitVersion(version.0 - 5);
    assert_eq!(story.timeline(Some(known)), before, "what was known before");
    story.at(2_500);
    assert_eq!(
        story.timeline(None),
        after,
        "when the planned state has begun"
    );
    story.put(5, None, None);
    assert_eq!(story.timeline(None)[6], (2_500, FOREVER, 5, 0));
    story.check_stored();
}

#[test]
fn no_reader_sees_a_part_of_an_update() {
    let story = Story::new();
    for (city, from) in [(1, 100), (2, 300), (3, 1_500)] {
        story.put(city, Some(from), None);
    }
    let (old, versions) = (story.timeline(None), story.versions());
    let last = story.set_mail(9, Some(50), None).expect("stored");
    let new = story.timeline(None);
    assert_ne!(old, new);
    let added: Vec<_> = story
        .versions()
        .into_iter()
        .filter(|it| !versions.contains(it))
        .collect();
    assert_eq!(added.len(), 3);
    assert_eq!(added[0], last);
    for version in &added {
        assert_eq!(story.timeline(Some(*version)), new, "{version}");
        assert_eq!(version.instant(), last.instant());
    }
    let before = CommitVersion(added[2].0 - 1);
    assert_eq!(story.timeline(Some(before)), old);
    let at_end = CommitVersion::last_at(last.instant());
    assert_eq!(story.timeline(Some(at_end)), new);
    story.put(4, Some(800), Some(900));
    assert_eq!(
        story.timeline(Some(last)),
        new,
        "later commits are not seen"
    );
}

#[test]
fn where_the_element_does_not_exist_nothing_is_changed() {
    let story = Story::new();
    story.put(1, Some(100), Some(200));
    story.put(2, Some(300), Some(400));
    story.set_mail(9, Some(150), Some(350)).expect("stored");
    let after = [
        (100, 150, 1, 0),
        (150, 200, 1, 9),
        (300, 350, 2, 9),
        (350, 400, 2, 0),
    ];
    assert_eq!(story.timeline(None), after);
    let nowhere = story.set_mail(9, Some(200), Some(300));
    assert_eq!(nowhere.expect_err("refused").kind, ErrorKind::NotFound);
    assert_eq!(story.timeline(None), after);
    story.check_stored();
}

#[test]
fn an_update_until_an_instant_begins_with_its_commit() {
    let story = Story::new();
    story.put(1, Some(100), None);
    story.put(2, Some(1_200), None);
    let version = story.set_mail(9, None, Some(1_300)).expect("stored");
    let now = version.instant().0;
    let after = [
        (100, now, 1, 0),
        (now, 1_200, 1, 9),
        (1_200, 1_300, 2, 9),
        (1_300, FOREVER, 2, 0),
    ];
    assert_eq!(story.timeline(None), after);
    story.check_stored();
}

#[test]
fn an_update_changes_a_bounded_number_of_states() {
    let story = Story::new();
    let count = i64::try_from(STATES_PER_UPDATE_MAX).expect("few") + 1;
    story.at(10_000_000);
    for number in 0..count {
        let city = i32::try_from(number).expect("few");
        story.put(city, Some(number * 10), None);
    }
    let before = story.timeline(None);
    let all = story.set_mail(9, Some(0), None);
    let error = all.expect_err("one too many");
    assert_eq!(error.kind, ErrorKind::LimitExceeded);
    assert!(error.message.contains("256"), "{error}");
    assert_eq!(story.timeline(None), before);
    story.set_mail(9, Some(10), None).expect("all but one");
    assert!(story.timeline(None)[1..].iter().all(|state| state.3 == 9));
    assert_eq!(story.timeline(None).len(), before.len());
    story.check_stored();
    // Equal neighbours are one state.
    for number in 0..count {
        story.put(7, Some(number * 10), None);
    }
    let versions = story.versions().len();
    story.set_mail(9, Some(0), None).expect("stored");
    assert_eq!(story.timeline(None), [(0, FOREVER, 7, 9)]);
    assert_eq!(story.versions().len(), versions + 1);
}

#[test]
fn what_changes_nothing_is_not_written_if_so_asked() {
    let story = Story::new();
    story.put(1, Some(100), None);
    story.put(2, Some(300), None);
    story.set_mail(9, Some(200), None).expect("stored");
    let versions = story.versions();
    let again = |period| story.write(mail_of(9), period, true).expect("accepted");
    assert_eq!(again((Some(200), None)), versions[0]);
    again((None, None));
    again((None, Some(5_000)));
    assert_eq!(story.versions(), versions);
    // Of several states only those that change are written.
    again((Some(150), None));
    assert_eq!(story.versions().len(), versions.len() + 1);
    assert_eq!(story.timeline(None)[1], (150, 300, 1, 9));
    story.write(mail_of(8), (None, None), true).expect("stored");
    assert_eq!(story.versions().len(), versions.len() + 2);
    story
        .write(mail_of(8), (None, None), false)
        .expect("stored");
    assert_eq!(
        story.versions().len(),
        versions.len() + 3,
        "if it is not asked for"
    );
}
