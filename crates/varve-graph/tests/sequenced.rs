//! Sequenced updates: what a change with a period does to the states in it, and what readers see of
//! its commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use varve_encoding::tables::{EVENT, TABLES};
use varve_graph::limits::STATES_PER_UPDATE_MAX;
use varve_graph::read::HistoryPage;
use varve_graph::schema::{NewPropertyKey, NewVertexLabel};
use varve_graph::verify::verify;
use varve_graph::write::{EndCheck, Gaps, Missing, Mutation, WritePeriod, WriteRequest};
use varve_graph::{ErrorKind, Graph, GraphError, GraphOptions};
use varve_kv::memory::MemoryEngine;
use varve_kv::{Engine, Flow, Row};
use varve_model::{
    Clock, CommitVersion, DataType, Element, ElementId, Instant, Period, PropertyKeyId,
    TemporalScope, Value, Vertex, VertexId, VertexLabelId,
};

const CITY: PropertyKeyId = PropertyKeyId(1);
const MAIL: PropertyKeyId = PropertyKeyId(2);
const SINCE: PropertyKeyId = PropertyKeyId(3);
const LABEL: VertexLabelId = VertexLabelId(1);

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

    /// A vertex whose label has a time to live of 1,000 us.
    fn with_ttl(start: Option<&str>) -> Self {
        Self::with_ttl_and_history(start, "all")
    }

    /// The same, with this retention.
    fn with_ttl_and_history(start: Option<&str>, history: &str) -> Self {
        let story = Self::new();
        let catalogue = story.graph.catalogue();
        for (name, data_type) in [
            ("city", DataType::Int),
            ("mail", DataType::Int),
            ("since", DataType::Date),
        ] {
            let key = NewPropertyKey {
                data_type,
                ..NewPropertyKey::named(name)
            };
            catalogue.create_property_key(key).expect("a key");
        }
        let label = NewVertexLabel {
            properties: vec!["city".into(), "mail".into(), "since".into()],
            ttl: 1,
            ttl_start_time: start.map(str::to_owned),
            history: Some(history.to_owned()),
            ..NewVertexLabel::named("device")
        };
        let label = catalogue.create_vertex_label(label).expect("a label");
        assert_eq!(label.id, LABEL);
        story
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
            skip_unchanged,
            ..WriteRequest::default()
        })
    }

    /// Says where the vertex is in a period.
    fn put(&self, city: i32, from: Option<i64>, to: Option<i64>) -> CommitVersion {
        let properties = [(CITY, Value::Int(city))].into_iter().collect();
        let vertex = Vertex {
            id: VertexId::text("a"),
            label: LABEL,
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

    /// The number of rows in the event table.
    fn events(&self) -> usize {
        let mut count = 0;
        let mut visit = |_: Row<'_>| {
            count += 1;
            Flow::Continue(())
        };
        let scanned = self.graph.space().scan_table(EVENT, None, &mut visit);
        scanned.expect("read");
        count
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

/// Writes a mail, and where there is no vertex also a city and since when.
fn merged(mail: i32, since: Option<i64>) -> Mutation {
    let modify = Box::new(move |state: Option<Element>| {
        let properties = [(CITY, Value::Int(1))]
            .into_iter()
            .chain(since.map(|since| (SINCE, Value::Date(since))));
        let mut vertex = match state {
            Some(Element::Vertex(vertex)) => vertex,
            _ => Vertex {
                id: VertexId::text("a"),
                label: LABEL,
                properties: properties.collect(),
            },
        };
        vertex.properties.set(MAIL, Value::Int(mail));
        Ok(Element::Vertex(vertex))
    });
    Mutation::Modify {
        id: id(),
        ends: EndCheck::Skip,
        gaps: Gaps::Fill,
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

/// Each heartbeat writes the same and lives for the time to live.
#[test]
fn a_change_reaches_every_heartbeat_and_moves_no_end() {
    let story = Story::with_ttl(None);
    story.at(10_000);
    story.put(1, None, None);
    story.at(10_600);
    story.put(1, None, None);
    story.at(10_700);
    assert_eq!(
        story.timeline(None),
        [(10_000, 10_600, 1, 0), (10_600, 11_600, 1, 0)]
    );
    story.set_mail(9, Some(10_000), None).expect("stored");
    assert_eq!(story.timeline(None), [(10_000, 11_600, 1, 9)]);
    story.at(11_300);
    story.set_mail(8, Some(11_000), None).expect("stored");
    let after = [(10_000, 11_000, 1, 9), (11_000, 11_600, 1, 8)];
    assert_eq!(story.timeline(None), after);
    story.at(11_700);
    assert_eq!(story.timeline(None), after);
    story.check_stored();
}

#[test]
fn a_time_to_live_starts_where_an_update_fills_a_gap() {
    let story = Story::with_ttl(None);
    story.at(10_000);
    story.put(1, None, None);
    story.at(10_500);
    story.put(1, None, None);
    // The state is made equal to what fills the gaps beside it.
    story
        .write(merged(9, None), (Some(8_000), None), false)
        .expect("stored");
    let after = [
        (8_000, 9_000, 1, 9),
        (10_000, 11_500, 1, 9),
        (11_500, 12_500, 1, 9),
    ];
    assert_eq!(story.timeline(None), after);
    story.check_stored();
}

#[test]
fn an_update_writes_nothing_before_its_period() {
    let story = Story::with_ttl(Some("since"));
    story.at(10_000);
    // The time to live was over at 6,000.
    story
        .write(merged(9, Some(5)), (None, Some(20_000)), false)
        .expect("accepted");
    assert_eq!(story.timeline(None), []);
    // It ends at 16,000.
    story
        .write(merged(9, Some(15)), (Some(10_500), None), false)
        .expect("stored");
    assert_eq!(story.timeline(None), [(10_500, 16_000, 1, 9)]);
    story.check_stored();
}

/// It was stored as part of a past that the label does not keep, and the old state stayed.
#[test]
fn a_put_whose_time_to_live_is_over_deletes_where_no_history_is_kept() {
    let since = |millis| {
        let since = [(CITY, Value::Int(1)), (SINCE, Value::Date(millis))];
        let vertex = Vertex {
            id: VertexId::text("a"),
            label: LABEL,
            properties: since.into_iter().collect(),
        };
        Mutation::PutVertex {
            vertex,
            fresh: false,
        }
    };
    for (history, after) in [("none", 0), ("all", 1)] {
        let story = Story::with_ttl_and_history(Some("since"), history);
        story.at(10_000);
        story.write(since(5), (None, None), false).expect("over");
        assert!(story.timeline(None).iter().all(|it| it.1 <= 10_000));
        let written = story.write(since(30), (None, None), false);
        written.expect("stored");
        assert_eq!(story.timeline(None).last(), Some(&(10_000, 31_000, 1, 0)));
        story.at(20_000);
        story.write(since(5), (None, None), false).expect("over");
        let now = story.timeline(None).into_iter().filter(|it| it.1 > 20_000);
        assert_eq!(now.count(), after, "{history}");
        // Its own time to live has ended, and nobody has removed the row.
        story.write(since(30), (None, None), false).expect("stored");
        story.at(40_000);
        story.write(since(5), (None, None), false).expect("over");
        if history == "none" {
            let events = story.events();
            assert_eq!(events, 0, "a deletion of what has ended is no event");
        }
        story.check_stored();
    }
}

#[test]
fn a_deletion_of_what_has_ended_by_itself_writes_no_version() {
    let delete = || Mutation::Delete {
        id: id(),
        missing: Missing::Ignore,
    };
    for (history, versions) in [("none", 0), ("all", 1)] {
        let story = Story::with_ttl_and_history(None, history);
        story.at(10_000);
        story.put(1, None, None);
        // Nobody has removed the row.
        story.at(40_000);
        story.write(delete(), (None, None), false).expect("none");
        assert_eq!(story.versions().len(), versions, "{history}");
        assert_eq!(story.events(), versions, "{history}");
        story.check_stored();
        // A deletion from an earlier instant changes what was.
        story.at(50_000);
        story.put(1, None, None);
        story.at(80_000);
        let earlier = (Some(50_500), None);
        story.write(delete(), earlier, false).expect("deleted");
        let last = story.timeline(None).last().map(|it| (it.0, it.1));
        let wanted = (history == "all").then_some((50_000, 50_500));
        assert_eq!(last, wanted, "{history}");
        story.check_stored();
    }
}
