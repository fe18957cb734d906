//! The modes of a graph.

use std::sync::Arc;

use varve_kv::{Engine, MemoryEngine};
use varve_model::Clock;
use varve_testkit::ManualClock;

use super::bench::Bench;
use crate::schema::*;
use crate::tasks::{TaskTables, Tasks};

#[test]
fn tasks_run_while_data_is_loaded() {
    let bench = Bench::with_labels();
    bench.start_easy();
    bench.set_mode(GraphMode::Loading);
    let kind = varve_model::schema::IndexType::Secondary;
    let index = NewIndexLabel::on("byCity", BaseType::VertexLabel, "person", kind, &["city"]);
    let built = bench.create_index_label(index).expect("created");
    bench.succeeds(built.task);
    assert_eq!(bench.mode(), GraphMode::Loading);
}

#[test]
fn mode_loading_lapses_an_hour_after_the_last_write() {
    let clock = Arc::new(ManualClock::new(varve_model::Instant::from_millis(0)));
    let minutes = |count: i64| clock.step(count * 60_000_000);
    let (tables, tasks) = (SchemaTables::default(), TaskTables::default());
    let space = MemoryEngine::new().open("g", varve_encoding::tables::TABLES, true);
    let space = space.expect("a space");
    let shared: Arc<dyn Clock> = Arc::clone(&clock) as _;
    let tasks = Tasks::open(Arc::clone(&space), tasks, Arc::clone(&shared)).expect("tasks");
    let catalogue = Catalogue::open(space, tables, "g", shared, Arc::new(tasks)).expect("open");
    catalogue.set_mode(GraphMode::Loading);
    for _ in 0..3 {
        minutes(50);
        assert_eq!(catalogue.mode_of_write(), GraphMode::Loading);
    }
    minutes(50);
    assert_eq!(
        catalogue.mode(),
        GraphMode::Loading,
        "50 minutes after a write"
    );
    minutes(50);
    assert_eq!(
        catalogue.mode(),
        GraphMode::None,
        "reading does not prolong it"
    );
    assert_eq!(catalogue.mode_of_write(), GraphMode::None);
    for mode in [GraphMode::Restoring, GraphMode::Merging] {
        catalogue.set_mode(mode);
        minutes(500);
        assert_eq!(catalogue.mode(), mode, "the client must end it");
    }
}
