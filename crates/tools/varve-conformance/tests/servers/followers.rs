//! Followers of a graph's changes while its two servers are killed, restarted and stopped. Each
//! follower gets every commit once, completely and in order.

use std::collections::HashSet;
use std::io::Write;

use varve_conformance::json::Json;
use varve_testkit::http::{Connection, request};

use super::*;

/// The number of vertices in a commit.
const BATCH: usize = 3;
/// The number of commits of each writer between two faults.
const PROGRESS: usize = 25;
/// The pause between two commits of a writer; the test is about faults, not speed.
const PAUSE: Duration = Duration::from_millis(10);
const CHANGES: &str = "/graphs/hugegraph/changes?types=vertex";
const WRITERS: usize = 2;

/// The addresses of the servers, which change at a restart.
type Addresses = Mutex<[String; 2]>;

fn address(of: &Addresses, at: usize) -> String {
    of.lock().unwrap()[at % 2].clone()
}

/// The commits of a follower: version and ids, in order.
#[derive(Default)]
struct Followed {
    commits: Vec<(u64, Vec<String>)>,
    /// The ids of the commit that is still incomplete.
    part: Vec<String>,
}

fn text<'j>(line: &'j Json, key: &str) -> Option<&'j str> {
    line.get(key).and_then(Json::as_str)
}

fn number(line: &Json, key: &str) -> usize {
    match line.get(key) {
        Some(Json::Number(number)) => number.parse().unwrap(),
        other => panic!("{key} is {other:?}"),
    }
}

impl Followed {
    /// Takes a line; a commit is added once it is complete.
    fn take(&mut self, line: &str) {
        let line = Json::parse(line).unwrap();
        let Some(version) = text(&line, "version") else {
            return;
        };
        let version = version.parse().unwrap();
        assert!(version > self.cursor(), "{version} after {}", self.cursor());
        assert_eq!(number(&line, "n"), self.part.len(), "in order");
        self.part.push(text(&line, "ref").unwrap().to_owned());
        if self.part.len() == number(&line, "of") {
            let whole = std::mem::take(&mut self.part);
            self.commits.push((version, whole));
        }
    }

    /// The version of the last complete commit, which is all that a follower stores.
    fn cursor(&self) -> u64 {
        self.commits.last().map_or(0, |(version, _)| *version)
    }

    fn since(&self) -> String {
        match self.cursor() {
            0 => "earliest".to_owned(),
            version => version.to_string(),
        }
    }

    /// Discards the incomplete commit, as after a kill.
    fn forget_part(&mut self) {
        self.part.clear();
    }
}

/// The parameters of the followers, and when they end.
struct Followers<'f> {
    addresses: &'f Addresses,
    /// The first id of the last commit to wait for.
    end: &'f str,
    /// Set when that commit will not come because something else has failed.
    is_given_up: AtomicBool,
}

impl Followers<'_> {
    fn has_all(&self, followed: &Followed) -> bool {
        let last = followed.commits.last();
        last.is_some_and(|(_, ids)| ids[0] == self.end) || self.is_given_up.load(Ordering::Relaxed)
    }
}

/// Follows by long polls at one server as long as it answers, otherwise at the other.
fn poll(of: &Followers<'_>, first: usize) -> Followed {
    let (mut followed, mut at) = (Followed::default(), first);
    while !of.has_all(&followed) {
        followed.forget_part();
        let path = format!("{CHANGES}&wait=5s&limit=20&since={}", followed.since());
        let answer = Client::of(&address(of.addresses, at)).exchange("GET", &path, "");
        match answer {
            Ok(answer) if answer.status == 200 => {
                answer.text().lines().for_each(|line| followed.take(line));
            }
            // There is no leader, or the server is not ready: waits and asks the same server again.
            Ok(answer) if answer.status == 503 => thread::sleep(PAUSE),
            Ok(answer) => panic!("{} {}", answer.status, answer.text()),
            Err(_) => {
                at += 1;
                thread::sleep(PAUSE);
            }
        }
    }
    followed
}

/// Follows by event streams, which end with their server.
fn listen(of: &Followers<'_>, first: usize) -> Followed {
    let (mut followed, mut at) = (Followed::default(), first);
    while !of.has_all(&followed) {
        followed.forget_part();
        let url = address(of.addresses, at);
        let asked = stream(url.trim_start_matches("http://"), &followed.since());
        // A server that does not lead names the leader.
        let asked = asked.and_then(|(events, leader)| match leader {
            Some(leader) => stream(&leader, &followed.since()).map(|(events, _)| events),
            None => Ok(events),
        });
        let Ok(mut events) = asked else {
            at += 1;
            thread::sleep(PAUSE);
            continue;
        };
        while !of.has_all(&followed)
            && let Ok(line) = events.read_line()
        {
            if let Some(data) = line.strip_prefix("data: ") {
                followed.take(data);
            }
        }
        thread::sleep(PAUSE);
    }
    followed
}

/// An event stream; if this server does not lead, also the address of the leader.
fn stream(address: &str, since: &str) -> std::io::Result<(Connection, Option<String>)> {
    let mut events = Connection::try_to(address)?;
    events.stream.set_read_timeout(Some(TIMEOUT))?;
    let accept = "accept: text/event-stream\r\n";
    let request = request("GET", &format!("{CHANGES}&since={since}"), accept, "");
    events.stream.write_all(&request)?;
    let head = events.read_head()?;
    let leader = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": http://")?;
        let host = value.split('/').next().map(str::to_owned);
        host.filter(|_| name.eq_ignore_ascii_case("location"))
    });
    match head.starts_with("HTTP/1.1 200") || head.starts_with("HTTP/1.1 307") {
        true => Ok((events, leader)),
        false => Err(std::io::Error::other("nobody leads")),
    }
}

fn batch(ids: &[String]) -> String {
    let things: Vec<String> = ids.iter().map(|id| thing(id)).collect();
    format!("[{}]", things.join(","))
}

/// Commits through one of the servers until stopped. Returns the first id of each commit, and
/// whether it was acknowledged. A commit with an unknown outcome is not retried.
fn write(
    addresses: &Addresses,
    at: usize,
    (stop, count): (&AtomicBool, &AtomicUsize),
) -> Vec<(String, bool)> {
    let mut written = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let ids: Vec<String> = (0..BATCH)
            .map(|part| format!("f{at}x{}x{part}", written.len()))
            .collect();
        let path = format!("{}/batch", vertices());
        let answer = Client::of(&address(addresses, at)).exchange("POST", &path, &batch(&ids));
        let kept = answer.is_ok_and(|answer| answer.status < 300);
        written.push((ids[0].clone(), kept));
        if kept {
            count.fetch_add(1, Ordering::Relaxed);
        }
        thread::sleep(PAUSE);
    }
    written
}

/// Checks that every commit came once, completely, in the order of its writer, and that no
/// acknowledged one is missing.
fn check(followed: &Followed, written: &[Vec<(String, bool)>]) {
    let mut seen = HashSet::new();
    for (version, ids) in &followed.commits {
        assert_eq!(ids.len(), BATCH, "{version}: {ids:?}");
        assert!(
            ids.iter().all(|id| seen.insert(id.clone())),
            "{version}: {ids:?} twice"
        );
    }
    for of_writer in written {
        let numbers: Vec<usize> = of_writer
            .iter()
            .enumerate()
            .filter(|(_, (id, _))| seen.contains(&quoted(id)))
            .map(|(number, _)| number)
            .collect();
        let missed = of_writer
            .iter()
            .filter(|(id, kept)| *kept && !seen.contains(&quoted(id)));
        assert_eq!(missed.collect::<Vec<_>>(), Vec::<&(String, bool)>::new());
        let prefix = of_writer[0].0.split('x').next().unwrap().to_owned();
        let in_order: Vec<usize> = followed
            .commits
            .iter()
            .filter_map(|(_, ids)| number_of(&ids[0], &prefix))
            .collect();
        assert_eq!(in_order, numbers, "in the order of {prefix}");
    }
}

fn quoted(id: &str) -> String {
    format!("\"{id}\"")
}

/// The number of the commit with this first id, if the writer with this prefix made it.
fn number_of(id: &str, prefix: &str) -> Option<usize> {
    let rest = id
        .trim_matches('"')
        .strip_prefix(prefix)?
        .strip_prefix('x')?;
    rest.split('x').next()?.parse().ok()
}

/// The two servers, of which one fails at a time.
struct Pair<'p> {
    processes: [Option<Process>; 2],
    addresses: &'p Addresses,
    start: &'p dyn Fn() -> Process,
}

impl Pair<'_> {
    fn of(&self, at: usize) -> &Process {
        self.processes[at].as_ref().unwrap()
    }

    fn stop(&mut self, at: usize, signal: &str) {
        let Process { process, .. } = self.processes[at].take().unwrap();
        process.signal(signal);
        process.wait();
    }

    fn restart(&mut self, at: usize) {
        let process = (self.start)();
        self.addresses.lock().unwrap()[at].clone_from(&process.process.url);
        self.processes[at] = Some(process);
    }
}

/// Waits until each of these writers has made [`PROGRESS`] further commits.
fn progress(counts: &[&AtomicUsize]) {
    let before: Vec<usize> = counts
        .iter()
        .map(|count| count.load(Ordering::Relaxed))
        .collect();
    let started = Instant::now();
    for (count, before) in counts.iter().zip(before) {
        while count.load(Ordering::Relaxed) < before + PROGRESS {
            assert!(started.elapsed() < TIMEOUT, "a writer does not get on");
            thread::sleep(PAUSE);
        }
    }
}

/// Kills the leader, later the follower, and then stops the leader in order.
fn faults(pair: &mut Pair<'_>, counts: &[AtomicUsize]) {
    let both: Vec<&AtomicUsize> = counts.iter().collect();
    progress(&both);
    pair.stop(0, "KILL");
    pair.of(1).await_leading(true);
    progress(&both[1..]);
    pair.restart(0);
    progress(&both);
    pair.stop(0, "KILL");
    progress(&both[1..]);
    pair.restart(0);
    progress(&both);
    pair.stop(1, "TERM");
    pair.of(0).await_leading(true);
    progress(&both[..1]);
    pair.restart(1);
    progress(&both);
}

fn catch(work: impl FnOnce()) -> thread::Result<()> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
}

fn commit_last(server: &Process) {
    let ids: Vec<String> = (0..BATCH).map(|part| format!("end{part}")).collect();
    server.done("POST", &format!("{}/batch", vertices()), &batch(&ids));
}

#[test]
fn followers_have_every_commit_once_while_servers_fail() {
    let Some((bin, node)) = wanted() else { return };
    let _node = NODE.lock().unwrap_or_else(PoisonError::into_inner);
    let keyspace = format!("f{}", std::process::id());
    let start = || Process::start(&bin, &node, &keyspace, &["--set", "graph.changes=all"]);
    let (a, b) = (start(), start());
    a.await_leading(true);
    schema(&a);
    let addresses = Mutex::new([&a, &b].map(|server| server.process.url.clone()));
    let mut pair = Pair {
        processes: [Some(a), Some(b)],
        addresses: &addresses,
        start: &start,
    };
    let stop = AtomicBool::new(false);
    let counts: [AtomicUsize; WRITERS] = Default::default();
    let end = quoted("end0");
    let following = Followers {
        addresses: &addresses,
        end: &end,
        is_given_up: AtomicBool::new(false),
    };
    let (followed, written) = thread::scope(|scope| {
        let (of, stop) = (&following, &stop);
        let polls = [0, 1].map(|at| scope.spawn(move || poll(of, at)));
        let streams = [0, 1].map(|at| scope.spawn(move || listen(of, at)));
        let counted = counts.iter().enumerate();
        let writers: Vec<_> = counted
            .map(|(at, count)| scope.spawn(move || write(of.addresses, at, (stop, count))))
            .collect();
        let failed = catch(|| faults(&mut pair, &counts));
        stop.store(true, Ordering::Relaxed);
        let joined = writers.into_iter().map(|writer| writer.join().unwrap());
        let written: Vec<_> = joined.collect();
        let failed = failed.and_then(|()| catch(|| commit_last(pair.of(1))));
        of.is_given_up.store(failed.is_err(), Ordering::Relaxed);
        let all = polls.into_iter().chain(streams);
        let followed: Vec<Followed> = all.map(|each| each.join().unwrap()).collect();
        failed.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (followed, written)
    });
    for each in &followed {
        check(each, &written);
        assert_eq!(each.commits, followed[0].commits, "all have the same");
    }
    // A follower that reads everything afterwards gets the same commits.
    let later = poll(&following, 0);
    assert_eq!(later.commits, followed[0].commits);
    let all: usize = written.iter().map(Vec::len).sum();
    println!(
        "{} followers, each has {} commits of {all} that were tried",
        followed.len(),
        later.commits.len()
    );
}
