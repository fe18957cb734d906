//! Tests of tasks whose end could not be stored.

use varve_testkit::{Fault, Faults, FaultyEngine};

use super::*;

/// Tasks over an engine that fails on demand.
fn faulty() -> (Tasks, Arc<Faults>) {
    let (engine, faults) = FaultyEngine::new(Box::new(MemoryEngine::new()));
    let space = engine.open("g", varve_encoding::tables::TABLES, true);
    let space = space.expect("the space");
    let tasks = Tasks::open(space, TaskTables::default(), Arc::new(SystemClock));
    (tasks.expect("the tasks"), faults)
}

/// The ids of the tasks with that status, which must be listed as they are read one by one.
fn with_status(tasks: &Tasks, status: TaskStatus, limit: usize, after: u64) -> Vec<u64> {
    let query = TaskQuery {
        status: Some(status),
        after: Some(TaskId(after)),
        limit: Some(limit),
    };
    let page = tasks.list(query).expect("a page");
    for task in &page.tasks {
        assert_eq!(&tasks.task(task.id).expect("the task"), task);
    }
    page.tasks.iter().map(|task| task.id.0).collect()
}

#[test]
fn a_task_whose_end_could_not_be_stored_is_listed_by_its_status() {
    // A write that was stored leaves a record and a live task: the list has one of them.
    for fault in [Fault::DiskFull, Fault::IoStored] {
        let (tasks, faults) = faulty();
        let disk = Arc::clone(&faults);
        tasks.start(bodies(move |task, _| {
            if task.name == "unsaved" {
                disk.fail_write(1, fault);
            }
            Ok("done".to_owned())
        }));
        for name in ["a", "b", "unsaved"] {
            let id = tasks.submit(job(name)).expect("submitted");
            let done = (TaskStatus::Success, Some("done".to_owned()));
            assert_eq!(end(&tasks, id), done, "{name}");
        }
        let done = |limit, after| with_status(&tasks, TaskStatus::Success, limit, after);
        assert_eq!(done(9, 0), [1, 2, 3], "{fault:?}");
        assert_eq!([done(2, 0), done(2, 2)], [vec![1, 2], vec![3]]);
        assert!(with_status(&tasks, TaskStatus::Running, 9, 0).is_empty());
    }
}

#[test]
fn a_task_whose_removal_could_not_be_stored_is_listed_by_its_status() {
    let (tasks, faults) = faulty();
    let (gated, begins, _go) = gated();
    tasks.start(gated);
    let id = tasks.submit(job("gated")).expect("submitted");
    begins.recv().expect("begun");
    // The first write stores the status DELETING, the second one is the removal.
    faults.fail_write(2, Fault::DiskFull);
    tasks.delete(id, true).expect("deleted");
    assert_eq!(end(&tasks, id).0, TaskStatus::Deleting);
    assert_eq!(with_status(&tasks, TaskStatus::Deleting, 9, 0), [1]);
}
