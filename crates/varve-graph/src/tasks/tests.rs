//! Tests of tasks: order, ends, cancelling, deleting, listing, restarts.

mod unsaved;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use varve_kv::{Engine, MemoryEngine, Space};
use varve_model::time::SystemClock;
use varve_model::{Clock, Instant};
use varve_testkit::ManualClock;

use super::*;

type Body = dyn Fn(&TaskSpec, &TaskProgress) -> Result<String, GraphError> + Send + Sync;

/// Bodies that run the test's own code and record the tasks that were abandoned.
struct Bodies {
    body: Box<Body>,
    abandoned: Mutex<Vec<u64>>,
}

impl TaskBodies for Bodies {
    fn run(&self, task: &TaskSpec, progress: &TaskProgress) -> Result<String, GraphError> {
        (self.body)(task, progress)
    }

    fn abandoned(&self, task: &TaskSpec) {
        self.abandoned.lock().push(task.id.0);
    }
}

fn bodies(
    body: impl Fn(&TaskSpec, &TaskProgress) -> Result<String, GraphError> + Send + Sync + 'static,
) -> Arc<Bodies> {
    Arc::new(Bodies {
        body: Box::new(body),
        abandoned: Mutex::new(Vec::new()),
    })
}

fn echo() -> Arc<Bodies> {
    bodies(|task, _| Ok(task.input.clone().unwrap_or_default()))
}

/// Bodies that signal their start and continue when signalled, or when they should end.
fn gated() -> (Arc<Bodies>, Receiver<u64>, SyncSender<()>) {
    let (begun, begins) = sync_channel(16);
    let (go, gate) = sync_channel::<()>(16);
    let gate = Mutex::new(gate);
    let bodies = bodies(move |task, progress| {
        progress.set(7);
        begun.send(task.id.0).expect("the test listens");
        loop {
            progress.check()?;
            if gate.lock().recv_timeout(Duration::from_millis(1)).is_ok() {
                return Ok("done".to_owned());
            }
        }
    });
    (bodies, begins, go)
}

struct Bench {
    engine: MemoryEngine,
    space: Weak<dyn Space>,
}

impl Bench {
    fn new() -> Self {
        let engine = MemoryEngine::new();
        let space: Arc<dyn Space> = open_space(&engine);
        Self {
            space: Arc::downgrade(&space),
            engine,
        }
    }

    fn open(&mut self) -> Tasks {
        self.open_with(Arc::new(SystemClock))
    }

    fn open_with(&mut self, clock: Arc<dyn Clock>) -> Tasks {
        assert_eq!(
            self.space.strong_count(),
            0,
            "the former tasks let go of the space"
        );
        let space = open_space(&self.engine);
        self.space = Arc::downgrade(&space);
        Tasks::open(space, TaskTables::default(), clock).expect("the tasks")
    }
}

fn open_space(engine: &MemoryEngine) -> Arc<dyn Space> {
    let tables = varve_encoding::tables::TABLES;
    engine.open("g", tables, true).expect("the space")
}

fn job(input: &str) -> NewTask {
    NewTask::job(TaskType::Gremlin, input, input.to_owned())
}

fn rebuild(name: &str) -> NewTask {
    NewTask::about(TaskType::RebuildIndex, SchemaKind::IndexLabel, 1, name)
}

fn end(tasks: &Tasks, id: TaskId) -> (TaskStatus, Option<String>) {
    tasks
        .wait_until_done(id, Duration::from_secs(60))
        .expect("the task");
    let detail = tasks.detail(id).expect("the task");
    (detail.task.status, detail.result)
}

/// Changes a stored task as if the process had died while the task was `status`.
fn pretend(tasks: &Tasks, id: TaskId, status: TaskStatus, retries: u32) {
    let mut task = tasks.task(id).expect("the task");
    task.status = status;
    task.retries = retries;
    let mut batch = varve_kv::Batch::new();
    record::write(&mut batch, tasks.shared.tables.meta, &task);
    let space = &tasks.shared.space;
    space
        .write(&batch, varve_kv::Durability::Sync)
        .expect("stored");
}

#[test]
fn a_task_runs_with_its_input_and_keeps_its_result() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let id = tasks.submit(job("1 + 1")).expect("submitted");
    assert_eq!(id, TaskId(1));
    assert_eq!(tasks.task(id).expect("waits").status, TaskStatus::Queued);
    tasks.start(echo());
    assert_eq!(
        end(&tasks, id),
        (TaskStatus::Success, Some("1 + 1".to_owned()))
    );
    assert_eq!(tasks.unfinished_count(), 0);
    drop(tasks);
    let tasks = bench.open();
    let detail = tasks.detail(id).expect("still known");
    assert_eq!(detail.input.as_deref(), Some("1 + 1"));
    assert_eq!(detail.result.as_deref(), Some("1 + 1"));
    assert_eq!(detail.task.status, TaskStatus::Success);
    assert!(detail.task.update >= detail.task.create);
    assert_eq!(tasks.submit(job("2")).expect("submitted"), TaskId(2));
}

#[test]
fn a_failing_or_panicking_body_fails_its_task_only() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    tasks.start(bodies(|task, _| match task.name.as_str() {
        "fail" => Err(GraphError::invalid("no")),
        "panic" => panic!("oh"),
        _ => Ok("yes".to_owned()),
    }));
    for (name, status, result) in [
        ("fail", TaskStatus::Failed, "no"),
        ("panic", TaskStatus::Failed, "The task panicked: oh"),
        ("fine", TaskStatus::Success, "yes"),
    ] {
        let id = tasks.submit(job(name)).expect(name);
        assert_eq!(end(&tasks, id), (status, Some(result.to_owned())), "{name}");
    }
}

#[test]
fn tasks_of_a_lane_run_in_order_and_lanes_beside_each_other() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let (bodies, begins, go) = gated();
    let first = tasks.submit(job("first")).expect("first");
    let second = tasks.submit(job("second")).expect("second");
    let schema = tasks.submit(rebuild("i")).expect("schema");
    tasks.start(bodies);
    let mut begun = [begins.recv().expect("one"), begins.recv().expect("two")];
    begun.sort_unstable();
    assert_eq!(begun, [first.0, schema.0]);
    assert_eq!(
        tasks.task(second).expect("second").status,
        TaskStatus::Queued
    );
    assert_eq!(tasks.task(first).expect("first").progress, 7);
    for _ in 0..3 {
        go.send(()).expect("somebody waits");
    }
    assert_eq!(begins.recv().expect("three"), second.0);
    for id in [first, second, schema] {
        assert_eq!(end(&tasks, id).0, TaskStatus::Success);
    }
}

#[test]
fn cancelling() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let (bodies, begins, _go) = gated();
    tasks.start(Arc::clone(&bodies) as _);
    let running = tasks.submit(job("running")).expect("running");
    let waiting = tasks.submit(job("waiting")).expect("waiting");
    begins.recv().expect("it runs");
    let detail = tasks.cancel(waiting).expect("it waits");
    assert_eq!(detail.task.status, TaskStatus::Cancelled);
    assert_eq!(detail.input.as_deref(), Some("waiting"));
    assert_eq!(*bodies.abandoned.lock(), [waiting.0]);
    let detail = tasks.cancel(running).expect("it runs");
    assert_eq!(detail.task.status, TaskStatus::Cancelling);
    assert_eq!(detail.input.as_deref(), Some("running"));
    assert_eq!(end(&tasks, running).0, TaskStatus::Cancelled);
    assert_eq!(*bodies.abandoned.lock(), [waiting.0], "the other one ran");
    for id in [running, waiting] {
        let error = tasks.cancel(id).expect_err("it ended");
        assert_eq!(error.kind, ErrorKind::IllegalState);
        assert_eq!(
            error.message,
            format!("Can't cancel task '{id}' which is completed or cancelling")
        );
    }
    let error = tasks.cancel(TaskId(99_999)).expect_err("unknown");
    assert_eq!(error.message, "Can't find task with id '99999'");
    assert_eq!(error.kind, ErrorKind::NotFound);
}

#[test]
fn a_job_that_ends_well_after_it_was_cancelled_counts_as_cancelled_a_schema_change_as_done() {
    for (new, expected) in [
        (job("j"), TaskStatus::Cancelled),
        (rebuild("i"), TaskStatus::Success),
    ] {
        let mut bench = Bench::new();
        let tasks = bench.open();
        let (begun, begins) = sync_channel(1);
        tasks.start(bodies(move |_, progress| {
            begun.send(()).expect("the test listens");
            while !progress.is_cancelled() {
                std::thread::yield_now();
            }
            Ok("complete".to_owned())
        }));
        let id = tasks.submit(new).expect("submitted");
        begins.recv().expect("it runs");
        tasks.cancel(id).expect("it runs");
        assert_eq!(end(&tasks, id).0, expected);
    }
}

#[test]
fn deleting() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let (bodies, begins, go) = gated();
    tasks.start(Arc::clone(&bodies) as _);
    let running = tasks.submit(job("running")).expect("running");
    let waiting = tasks.submit(job("waiting")).expect("waiting");
    begins.recv().expect("it runs");
    let error = tasks.delete(running, false).expect_err("it runs");
    assert_eq!(
        error.message,
        format!(
            "Can't delete incomplete task '{running}' in status RUNNING, Please try to cancel the task first"
        )
    );
    assert_eq!(error.kind, ErrorKind::InvalidArgument);
    tasks.delete(waiting, true).expect("by force");
    assert_eq!(*bodies.abandoned.lock(), [waiting.0]);
    go.send(()).expect("it waits");
    assert_eq!(end(&tasks, running).0, TaskStatus::Success);
    tasks.delete(running, false).expect("it ended");
    for id in [running, waiting, TaskId(77)] {
        let error = tasks.delete(id, true).expect_err("gone");
        assert_eq!(error.kind, ErrorKind::NotFound);
        assert_eq!(
            tasks.detail(id).expect_err("gone").kind,
            ErrorKind::NotFound
        );
    }
    let forced = tasks.submit(job("forced")).expect("forced");
    assert_eq!(
        forced,
        TaskId(3),
        "ids of deleted tasks are not given again"
    );
    begins.recv().expect("it runs");
    tasks.delete(forced, true).expect("by force");
    let gone = tasks.wait_until_done(forced, Duration::from_secs(60));
    assert_eq!(gone.expect_err("gone").kind, ErrorKind::NotFound);
    drop(tasks);
    let tasks = bench.open();
    assert!(
        tasks
            .list(TaskQuery::default())
            .expect("none")
            .tasks
            .is_empty()
    );
    assert_eq!(tasks.submit(job("next")).expect("next"), TaskId(4));
}

#[test]
fn tasks_are_listed_by_their_owner_also_after_a_restart() {
    let mut bench = Bench::new();
    let owned = |tasks: &Tasks, owner| {
        let is_own = |task: &Task| task.owner.as_deref() == Some(owner);
        let found = tasks.list_those(TaskQuery::default(), &is_own);
        let found = found.expect("a page").tasks;
        found.iter().map(|task| task.id.0).collect::<Vec<_>>()
    };
    let tasks = bench.open();
    for owner in [Some("ann"), Some("ann"), None, Some("bob")] {
        let task = job("x").by(owner.map(str::to_owned));
        tasks.submit(task).expect("submitted");
    }
    tasks.cancel(TaskId(4)).expect("waits");
    assert_eq!(owned(&tasks, "ann"), [1, 2]);
    drop(tasks);
    let tasks = bench.open();
    assert_eq!(owned(&tasks, "ann"), [1, 2]);
    assert_eq!(owned(&tasks, "bob"), [4]);
    tasks.start(bodies(|task, _| Ok(task.owner.clone().unwrap_or_default())));
    assert_eq!(
        end(&tasks, TaskId(2)),
        (TaskStatus::Success, Some("ann".to_owned()))
    );
}

#[test]
fn listing_by_status_ids_and_pages() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    tasks.start(bodies(|task, _| match task.name.as_str() {
        "bad" => Err(GraphError::invalid("no")),
        _ => Ok("x".repeat(100)),
    }));
    for name in ["a", "bad", "b", "bad", "c"] {
        let id = tasks.submit(job(name)).expect(name);
        end(&tasks, id);
    }
    tasks.set_paused(true);
    tasks.submit(job("waits")).expect("waits");
    let ids = |query: TaskQuery| {
        let page = tasks.list(query).expect("a page");
        let ids: Vec<u64> = page.tasks.iter().map(|task| task.id.0).collect();
        (ids, page.next.map(|id| id.0))
    };
    let all = TaskQuery::default();
    assert_eq!(ids(all), (vec![1, 2, 3, 4, 5, 6], None));
    let limited = |limit, after: Option<u64>, status| TaskQuery {
        limit: Some(limit),
        after: after.map(TaskId),
        status,
    };
    assert_eq!(ids(limited(2, None, None)), (vec![1, 2], Some(2)));
    assert_eq!(ids(limited(2, Some(2), None)), (vec![3, 4], Some(4)));
    assert_eq!(ids(limited(2, Some(4), None)), (vec![5, 6], None));
    assert_eq!(ids(limited(0, None, None)), (vec![], None));
    let failed = Some(TaskStatus::Failed);
    assert_eq!(ids(limited(1, None, failed)), (vec![2], Some(2)));
    assert_eq!(ids(limited(1, Some(2), failed)), (vec![4], None));
    assert_eq!(
        ids(limited(9, None, Some(TaskStatus::Queued))),
        (vec![6], None)
    );
    assert_eq!(
        ids(limited(9, None, Some(TaskStatus::Running))),
        (vec![], None)
    );
    let named = tasks
        .by_ids(&[TaskId(4), TaskId(77), TaskId(2)])
        .expect("some");
    let named: Vec<u64> = named.iter().map(|task| task.id.0).collect();
    assert_eq!(named, [4, 2]);
}

#[test]
fn statuses_read_in_any_case() {
    assert_eq!(
        TaskStatus::parse("success").expect("a status"),
        TaskStatus::Success
    );
    assert_eq!(
        TaskStatus::parse("RUNNING").expect("a status"),
        TaskStatus::Running
    );
    assert_eq!(
        TaskStatus::parse("zzz").expect_err("none").message,
        "Status value must be in [UNKNOWN, NEW, SCHEDULING, SCHEDULED, QUEUED, RESTORING, RUNNING, SUCCESS, CANCELLING, CANCELLED, FAILED, HANGING, DELETING], but got 'zzz'"
    );
}

#[test]
fn closing_interrupts_and_the_next_opening_goes_on() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let (bodies, begins, _go) = gated();
    tasks.start(bodies);
    let schema = tasks.submit(rebuild("i")).expect("schema");
    let script = tasks.submit(job("j")).expect("job");
    let later = tasks.submit(rebuild("later")).expect("later");
    for _ in 0..2 {
        begins.recv().expect("both run");
    }
    drop(tasks);
    let tasks = bench.open();
    assert_eq!(tasks.unfinished_count(), 2);
    tasks.start(echo());
    for id in [schema, later] {
        assert_eq!(end(&tasks, id).0, TaskStatus::Success);
        assert_eq!(
            tasks.task(id).expect("known").retries,
            0,
            "an orderly stop is no crash"
        );
    }
    let (status, result) = end(&tasks, script);
    assert_eq!(status, TaskStatus::Failed);
    assert!(result.expect("why").starts_with("The server stopped while"));
}

#[test]
fn after_a_crash_schema_tasks_run_again_and_jobs_do_not() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let schema = tasks.submit(rebuild("i")).expect("schema");
    let script = tasks.submit(job("script")).expect("job");
    let waiting = tasks.submit(job("waiting")).expect("waiting");
    let cancelling = tasks.submit(rebuild("c")).expect("cancelling");
    let deleting = tasks.submit(rebuild("d")).expect("deleting");
    let doomed = tasks.submit(rebuild("doomed")).expect("doomed");
    pretend(&tasks, schema, TaskStatus::Running, 0);
    pretend(&tasks, script, TaskStatus::Running, 0);
    pretend(&tasks, cancelling, TaskStatus::Cancelling, 0);
    pretend(&tasks, deleting, TaskStatus::Deleting, 0);
    pretend(&tasks, doomed, TaskStatus::Running, TASK_RETRIES_MAX);
    drop(tasks);
    let tasks = bench.open();
    let bodies = echo();
    tasks.start(Arc::clone(&bodies) as _);
    assert_eq!(end(&tasks, schema).0, TaskStatus::Success);
    assert_eq!(tasks.task(schema).expect("known").retries, 1);
    assert_eq!(end(&tasks, script).0, TaskStatus::Failed);
    assert_eq!(
        end(&tasks, waiting),
        (TaskStatus::Success, Some("waiting".to_owned()))
    );
    assert_eq!(end(&tasks, cancelling).0, TaskStatus::Cancelled);
    assert_eq!(
        tasks.task(deleting).expect_err("gone").kind,
        ErrorKind::NotFound
    );
    let (status, result) = end(&tasks, doomed);
    assert_eq!(status, TaskStatus::Failed);
    assert_eq!(
        result.as_deref(),
        Some("The server died 4 times while the task ran")
    );
    let abandoned = bodies.abandoned.lock().clone();
    assert_eq!(abandoned, [script.0, cancelling.0, deleting.0, doomed.0]);
}

#[test]
fn tasks_that_ended_long_ago_are_forgotten() {
    let mut bench = Bench::new();
    let clock = Arc::new(ManualClock::new(Instant(0)));
    let tasks = bench.open_with(Arc::clone(&clock) as _);
    tasks.start(bodies(|task, _| match task.name.as_str() {
        "bad" => Err(GraphError::invalid("no")),
        _ => Ok("result".to_owned()),
    }));
    let hour = Duration::from_secs(3_600);
    let old: Vec<TaskId> = ["a", "bad", "c"]
        .into_iter()
        .map(|name| tasks.submit(job(name)).expect(name))
        .inspect(|id| drop(end(&tasks, *id)))
        .collect();
    tasks.set_paused(true);
    let waits = tasks.submit(job("waits")).expect("waits");
    assert_eq!(tasks.forget_ended(hour).expect("stored"), 0);
    clock.step(3_600_000_000);
    assert_eq!(tasks.forget_ended(hour).expect("stored"), 0, "not longer");
    clock.step(1_000);
    assert_eq!(tasks.forget_ended(hour).expect("stored"), 3);
    for id in old {
        let gone = tasks.detail(id).expect_err("forgotten");
        assert_eq!(gone.kind, ErrorKind::NotFound);
    }
    let space = &tasks.shared.space;
    let result = record::read_text(
        &**space,
        tasks.shared.tables.meta,
        record::RESULT,
        TaskId(1),
    );
    assert_eq!(result.expect("readable"), None);
    assert_eq!(
        tasks.task(waits).expect("kept").status,
        TaskStatus::Queued,
        "one that waits is kept, however old"
    );
    tasks.set_paused(false);
    assert_eq!(end(&tasks, waits).0, TaskStatus::Success);
    assert_eq!(tasks.forget_ended(hour).expect("stored"), 0);
    let next = tasks.submit(job("next")).expect("next");
    assert_eq!(next, TaskId(waits.0 + 1), "ids are never given again");
}

#[test]
fn limits_on_names_and_inputs() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let long = "é".repeat(200);
    let id = tasks.submit(job(&long)).expect("a long name");
    assert_eq!(tasks.task(id).expect("known").name, "é".repeat(128));
    let huge = NewTask::job(
        TaskType::Gremlin,
        "huge",
        "x".repeat(TASK_INPUT_BYTES_MAX + 1),
    );
    assert_eq!(
        tasks.submit(huge).expect_err("too long").kind,
        ErrorKind::LimitExceeded
    );
}

#[test]
fn a_submission_that_is_dropped_never_was() {
    let mut bench = Bench::new();
    let tasks = bench.open();
    let mut submission = tasks.begin();
    assert_eq!(submission.add(job("a")).expect("added"), TaskId(1));
    assert_eq!(submission.add(job("b")).expect("added"), TaskId(2));
    drop(submission);
    assert_eq!(tasks.submit(job("c")).expect("submitted"), TaskId(1));
    assert_eq!(tasks.unfinished_count(), 1);
}
