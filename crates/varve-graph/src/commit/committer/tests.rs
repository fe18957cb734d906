//! Which thread writes which commits: one that prepared a commit writes it, and few others.

use std::thread;

use varve_encoding::tables::{META, TABLES};
use varve_kv::{Engine, MemoryEngine, Reader, ReaderLayer, SpaceLayer};
use varve_model::time::SystemClock;

use super::super::known::Additions;
use super::super::latch::Latches;
use super::super::prepared::{End, EndOf, Stamps};
use super::super::ticket::{Ticket, ticket};
use super::*;

/// The thread that wrote a batch, by name, and its bytes.
type Write = (String, usize);

/// A space whose first write blocks until the gate is open, and that records the writing threads.
struct Gated {
    space: Arc<dyn Space>,
    open: Mutex<bool>,
    changed: Condvar,
    begun: Mutex<Vec<Write>>,
}

impl Gated {
    fn open(&self) {
        *self.open.lock() = true;
        self.changed.notify_all();
    }

    fn wait_for_a_writer(&self) {
        let mut open = self.open.lock();
        while self.begun.lock().is_empty() {
            self.changed.wait(&mut open);
        }
    }
}

impl ReaderLayer for Gated {
    type Below<'a> = dyn Space;

    fn read<T>(&self, read: impl FnOnce(&Self::Below<'_>) -> T) -> T {
        read(&*self.space)
    }
}

impl SpaceLayer for Gated {
    fn space(&self) -> &dyn Space {
        &*self.space
    }

    fn write(&self, batch: &Batch, durability: Durability) -> Result<(), KvError> {
        let name = thread::current().name().unwrap_or_default().to_owned();
        let mut open = self.open.lock();
        self.begun.lock().push((name, batch.byte_len()));
        self.changed.notify_all();
        self.changed.wait_while(&mut open, |open| !*open);
        drop(open);
        self.space.write(batch, durability)
    }

    fn write_may_wait(&self) -> bool {
        false
    }

    fn snapshot(self: Arc<Self>) -> Option<Arc<dyn Reader>> {
        Arc::clone(&self.space).snapshot()
    }
}

fn commit(latches: &Arc<Latches>, name: &str, bytes: usize) -> (Commit, Ticket) {
    let mut batch = Batch::new();
    batch.put(META, &[0], name.as_bytes(), &vec![0; bytes]);
    let (ticket, completer) = ticket();
    let commit = Commit {
        now: Instant(1),
        end: None,
        batch,
        stamps: Stamps::default(),
        latches: latches.none(),
        completer,
        may_wait: false,
        additions: Additions::default(),
    };
    (commit, ticket)
}

/// How long a test is retried: one that is always slow must fail, not hang.
const AGAIN_MAX: Duration = Duration::from_secs(20);

/// The writes, when `count` commits of `bytes` each arrive while the thread `first` writes its own;
/// `may_wait` is that of `first`. Retries if the commits arrived so late that `first` rightly left
/// them to others.
fn writes(count: usize, bytes: usize, may_wait: bool) -> Vec<Write> {
    let begun = MonotonicInstant::now();
    loop {
        let started = MonotonicInstant::now();
        let writes = writes_once(count, bytes, may_wait);
        if started.elapsed() <= LED_TIME_MAX || begun.elapsed() > AGAIN_MAX {
            return writes;
        }
    }
}

fn writes_once(count: usize, bytes: usize, may_wait: bool) -> Vec<Write> {
    let space = MemoryEngine::new().open("s", TABLES, true);
    let gated = Arc::new(Gated {
        space: space.expect("a space"),
        open: Mutex::default(),
        changed: Condvar::new(),
        begun: Mutex::default(),
    });
    let options = CommitterOptions {
        durability: DurabilityMode::None,
        group_bytes_max: 4 << 20,
        queue_bytes_max: 64 << 20,
        idle_max: IDLE_MAX,
    };
    let space = Arc::clone(&gated) as Arc<dyn Space>;
    let committer = Committer::start(space, Arc::new(SystemClock), Arc::default(), options)
        .expect("a committer");
    let latches = Latches::new();
    thread::scope(|scope| {
        let first = thread::Builder::new().name("first".to_owned());
        let (mut own, _) = commit(&latches, "own", 100);
        own.may_wait = may_wait;
        first
            .spawn_scoped(scope, || committer.submit(own).expect("taken"))
            .expect("a thread");
        gated.wait_for_a_writer();
        let tickets: Vec<Ticket> = (0..count)
            .map(|number| {
                let (commit, ticket) = commit(&latches, &number.to_string(), bytes);
                committer.submit(commit).expect("taken");
                ticket
            })
            .collect();
        gated.open();
        for ticket in tickets {
            ticket.wait().expect("stored");
        }
    });
    drop(committer);
    std::mem::take(&mut *gated.begun.lock())
}

fn written_by(writes: &[Write], name: &str) -> usize {
    let of_it = writes.iter().filter(|(writer, _)| writer == name);
    of_it.map(|(_, bytes)| bytes).sum()
}

#[test]
fn little_that_arrives_is_written_by_who_is_at_it() {
    let writes = writes(20, 300, false);
    assert_eq!(written_by(&writes, "varve-commit"), 0, "{writes:?}");
    assert_eq!(writes.len(), 2, "the rest in one group: {writes:?}");
}

#[test]
fn much_that_arrives_is_left_to_the_committers_own_thread() {
    let writes = writes(40, 10_000, false);
    let first = written_by(&writes, "first");
    assert!(first < LED_BYTES_MAX + 1000, "{writes:?}");
    assert!(written_by(&writes, "varve-commit") >= 400_000, "{writes:?}");
}

#[test]
fn a_thread_that_may_wait_writes_large_ones_too() {
    let writes = writes(40, 10_000, true);
    assert_eq!(written_by(&writes, "varve-commit"), 0, "{writes:?}");
}

/// The end of a label's time to live at this instant.
fn ends(at: i64) -> Option<End> {
    Some(End {
        at: Instant(at),
        of: EndOf::TimeToLive,
    })
}

#[test]
fn an_end_is_compared_with_the_commits_own_version() {
    let latches = Latches::new();
    let first = CommitVersion::first_at(Instant(1000));
    // More than fit in a microsecond: the versions of the later ones are in the next.
    let later = first.plus(299).instant();
    assert_eq!(later, Instant(1001));
    let commits = |late: bool| {
        let ends_of = move |number| match number {
            0 | 299 => ends(1001),
            1..5 if late => ends(1000),
            _ => None,
        };
        (0..300).map(move |number| (number, ends_of(number)))
    };
    let split = |late| {
        let group = commits(late).map(|(number, end)| {
            let (mut commit, _) = commit(&latches, &format!("{number:03}"), 1);
            commit.end = end;
            commit
        });
        let group = numbered(group.collect(), first);
        (group.commits.len(), group.late.len())
    };
    assert_eq!(split(false), (299, 1), "the last");
    assert_eq!(
        split(true),
        (295, 5),
        "those whose end has passed already, too"
    );
}

#[test]
fn a_group_of_which_nothing_is_left_uses_up_no_version() {
    let space = MemoryEngine::new().open("s", TABLES, true);
    let options = CommitterOptions {
        durability: DurabilityMode::None,
        group_bytes_max: 4 << 20,
        queue_bytes_max: 64 << 20,
        idle_max: IDLE_MAX,
    };
    let space = space.expect("a space");
    let committer = Committer::start(space, Arc::new(SystemClock), Arc::default(), options)
        .expect("a committer");
    let latches = Latches::new();
    let (mut late, ticket) = commit(&latches, "late", 1);
    late.end = ends(2);
    committer.submit(late).expect("taken");
    assert_eq!(ticket.wait().expect_err("too late").kind, ErrorKind::Busy);
    assert_eq!(committer.shared.state.lock().last, CommitVersion::ZERO);
    let (next, ticket) = commit(&latches, "next", 1);
    committer.submit(next).expect("taken");
    let version = ticket.wait().expect("stored");
    assert_eq!(committer.published(), version);
}

/// On a cluster the stored version is ahead of the last commit and is written now and then; no
/// version is assigned twice.
#[test]
fn a_version_that_is_kept_ahead_is_above_all_that_were_given() {
    let (engine, _) = varve_testkit::ReplicatedEngine::new(&[]);
    let space = engine.open("s", TABLES, true).expect("a space");
    let options = CommitterOptions {
        durability: DurabilityMode::None,
        group_bytes_max: 4 << 20,
        queue_bytes_max: 64 << 20,
        idle_max: IDLE_MAX,
    };
    let clock = Arc::new(varve_testkit::ManualClock::new(Instant(5_000_000)));
    let start = || {
        let clock = Arc::clone(&clock) as Arc<dyn Clock>;
        Committer::start(Arc::clone(&space), clock, Arc::default(), options).expect("a committer")
    };
    let latches = Latches::new();
    let write = |committer: &Committer| {
        let (commit, ticket) = commit(&latches, "row", 1);
        committer.submit(commit).expect("taken");
        ticket.wait().expect("stored")
    };
    let stored = || stored_version(&*space).expect("read");
    let crashed = start();
    let first = write(&crashed);
    let bound = stored();
    assert_eq!(bound.instant(), first.instant().plus_micros(LEAD_MICROS));
    clock.step(LEAD_MICROS - 1);
    assert!(write(&crashed) < bound);
    assert_eq!(stored(), bound, "nothing is stored for it");
    clock.step(2);
    let last = write(&crashed);
    assert!(bound < last && last < stored());

    // After a crash, a start knows only the stored bound.
    let next = start();
    let bound = stored();
    assert_eq!(next.published(), bound);
    assert!(write(&next) > bound);
    let last = write(&next);
    drop(next);
    assert_eq!(stored(), last, "an orderly end takes the rest back");
    assert!(write(&start()) > last);
}

#[test]
fn a_commit_with_several_versions_has_them_in_one_microsecond() {
    let latches = Latches::new();
    let of = |name: &str, versions: usize| {
        let (mut commit, _) = commit(&latches, name, 1);
        if versions > 1 {
            let last = u8::try_from(versions - 1).expect("few");
            commit.stamps.row(0, last);
        }
        commit
    };
    let first = CommitVersion::first_at(Instant(1000)).plus(250);
    let group = numbered(
        vec![of("a", 1), of("b", 5), of("c", 256), of("d", 1)],
        first,
    );
    let instants: Vec<i64> = group.versions.iter().map(|it| it.instant().0).collect();
    assert_eq!(instants, [1000, 1000, 1001, 1002]);
    assert_eq!(group.versions[1], first.plus(1));
    assert_eq!(group.versions[2], CommitVersion::first_at(Instant(1001)));
    assert_eq!(group.last, Some(CommitVersion::first_at(Instant(1002))));
}

/// The thread ends after each pause, and no commit stays in the queue when it ends.
#[test]
fn a_thread_that_ends_when_idle_is_started_again() {
    for durability in [
        DurabilityMode::Sync,
        DurabilityMode::Interval(Duration::from_millis(1)),
        DurabilityMode::None,
    ] {
        let space = MemoryEngine::new()
            .open("s", TABLES, true)
            .expect("a space");
        let options = CommitterOptions {
            durability,
            group_bytes_max: 4 << 20,
            queue_bytes_max: 64 << 20,
            idle_max: Duration::from_micros(200),
        };
        let clock = Arc::new(SystemClock);
        let committer = Committer::start(Arc::clone(&space), clock, Arc::default(), options)
            .expect("a committer");
        let latches = Latches::new();
        thread::scope(|scope| {
            for name in ["a", "b"] {
                let (committer, latches) = (&committer, &latches);
                scope.spawn(move || {
                    for number in 0..500_u64 {
                        let (commit, ticket) = commit(latches, &format!("{name}{number}"), 10);
                        committer.submit(commit).expect("taken");
                        ticket.wait().expect("stored");
                        thread::sleep(Duration::from_micros(number % 7 * 60));
                    }
                });
            }
        });
        let begun = MonotonicInstant::now();
        while committer.shared.state.lock().running && begun.elapsed() < AGAIN_MAX {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!committer.shared.state.lock().running, "{durability}");
        let last = committer.published();
        drop(committer);
        assert_eq!(stored_version(&*space).expect("read"), last);
        for name in ["a0", "a499", "b499"] {
            let row = space.get(META, &[0], name.as_bytes()).expect("read");
            assert!(row.is_some(), "{name}");
        }
    }
}
