//! The worker itself, on the real clock, against servers that misbehave.
//!
//! Other work may delay this process at any time, so the tests only assert lower bounds of times,
//! and their numbers.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc;

use socket2::{Domain, Socket, Type};

use super::super::payload::Naming;
use super::super::scenario::{Data, GraphAddress, Scenario, Sizes};
use super::*;
use crate::endpoint::Endpoint;
use crate::result::{Buckets, Load, Model};

/// Longer than any test takes, even on a busy machine: the hold of loads that end with their
/// requests, and all time-outs.
const UNTIL_DONE_S: f64 = 3_600.0;
/// The receive buffer of a server that does not read a request, in bytes.
const RECEIVED_UNREAD: usize = 64 * 1024;
/// The send buffer of a socket, if the kernel's limit cannot be read, in bytes.
const UNSENT: u64 = 4 << 20;
/// Bytes of a vertex, at least.
const VERTEX_BYTES: u64 = 70;

/// The size of a batch of vertices that does not fit into the socket buffers of both sides: it
/// is not sent completely before its server reads it, however long that takes.
fn batch() -> u32 {
    let limits = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").unwrap_or_default();
    let largest = limits.split_whitespace().nth(2);
    let unsent = largest.and_then(|it| it.parse().ok()).unwrap_or(UNSENT);
    (2 * (unsent + RECEIVED_UNREAD as u64) / VERTEX_BYTES) as u32
}

/// The measurements of a worker.
struct WorkerResult {
    tally: Tally,
    parts: Vec<Part>,
    samples: Vec<jtl::Sample>,
}

fn requests(to: SocketAddr, scenario: Scenario) -> Requests {
    let naming = Naming {
        prefix: *b"abc",
        seed: 1,
    };
    let sizes = Sizes {
        vertices_per_request: batch(),
        edges_per_request: 1,
        vertices: 20,
        edges: 100,
    };
    let place = GraphAddress {
        headers: format!("Host: {to}\r\n"),
        base: "/graphs/g".to_owned(),
        source: "__g_hugegraph".to_owned(),
        edge_middle: String::new(),
        checked: false,
    };
    let data = Arc::new(Data::new(naming, sizes));
    Requests::new(scenario, &data, &place, 1)
}

/// Runs one worker with all the users of `load`.
fn run_worker(
    to: SocketAddr,
    scenario: Scenario,
    load: &Load,
    budget: Option<i64>,
) -> WorkerResult {
    let (seconds, parts) = mpsc::channel();
    let (sender, samples) = mpsc::channel();
    let tally = run(Work {
        thread: 0,
        threads: 1,
        start: Instant::now(),
        route: Route::new(&Endpoint::plain(to, "h"), 0, 1),
        requests: requests(to, scenario),
        users: Users::of(load),
        count: load.users,
        timeout: Duration::from_secs_f64(UNTIL_DONE_S),
        budget: budget.map(|left| Arc::new(AtomicI64::new(left))),
        read_back: 0,
        seconds,
        samples: Some(sender),
    });
    WorkerResult {
        tally: tally.expect("the loop works"),
        parts: parts.into_iter().collect(),
        samples: samples.into_iter().flatten().collect(),
    }
}

fn closed(users: u32, hold_s: f64) -> Load {
    Load {
        model: Model::Closed,
        users,
        hold_s,
        ..Load::default()
    }
}

/// A server that runs `serve` for each connection, until the process ends.
fn server(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    // Accepted connections inherit the setting of the listening socket.
    let bounded = socket.set_recv_buffer_size(RECEIVED_UNREAD);
    bounded.expect("a bounded buffer");
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    socket.bind(&any.into()).expect("a port");
    socket.listen(128).expect("it listens");
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().expect("an address");
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Reads the head of a request byte by byte, so that nothing of its body is read. Returns its
/// length, or 0 if the client has closed the connection.
fn read_head(stream: &mut TcpStream) -> usize {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return 0,
        }
    }
    head.len()
}

fn answer(stream: &mut TcpStream, status: u16, more: &str) {
    let text = format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n{more}\r\n{{}}");
    // The client may have closed the connection.
    let _ = stream.write_all(text.as_bytes());
}

/// Answers reads, the `at`-th one only after `freeze`.
fn freezing(at: u32, freeze: Duration) -> SocketAddr {
    let answered = Mutex::new(0);
    server(move |mut stream| {
        while read_head(&mut stream) > 0 {
            let mut answered = answered.lock().expect("not poisoned");
            *answered += 1;
            if *answered == at {
                std::thread::sleep(freeze);
            }
            answer(&mut stream, 200, "");
        }
    })
}

const PERIOD_MS: u64 = 25;

/// One user who sends every [`PERIOD_MS`] until the end, and the number of planned sends.
fn paced(hold_ms: u64) -> (Load, u64) {
    let load = Load {
        model: Model::Paced,
        users: 1,
        period_s: Some(PERIOD_MS as f64 / 1e3),
        hold_s: hold_ms as f64 / 1e3,
        ..Load::default()
    };
    (load, hold_ms / PERIOD_MS + 1)
}

#[test]
fn a_freeze_shows_in_the_corrected_times() {
    let to = freezing(4, Duration::from_millis(500));
    let (load, planned) = paced(2_000);
    let found = run_worker(to, Scenario::VertexById, &load, None);
    let tally = &found.tally;
    let corrected = Buckets::from(&tally.corrected);
    assert_eq!(corrected.count(), tally.samples() + tally.omitted);
    assert!(corrected.count() <= planned);
    assert!(tally.omitted >= 500 / PERIOD_MS - 1, "{}", tally.omitted);
    // The times of the omitted requests decrease from the freeze's length by one period each.
    assert!(corrected.percentile(100.0) >= 500_000_000);
    assert!(corrected.percentile(90.0) >= (500 - 8 * PERIOD_MS) * 1_000_000);
}

#[test]
fn a_freeze_until_the_end_of_a_users_life_shows_in_the_corrected_times() {
    let (load, planned) = paced(1_000);
    // If the user was delayed before the freeze as well, requests were omitted for that, too; then
    // the run is repeated.
    let begun = Instant::now();
    let tally = loop {
        let to = freezing(4, Duration::from_millis(1_200));
        let tally = run_worker(to, Scenario::VertexById, &load, None).tally;
        let (period_us, service) = (PERIOD_MS * 1_000, Buckets::from(&tally.service));
        let is_as_planned =
            tally.late_max_us < period_us && service.percentile(75.0) < period_us * 1_000;
        if is_as_planned || begun.elapsed() > Duration::from_secs(20) {
            break tally;
        }
    };
    assert_eq!(tally.samples(), 4);
    let corrected = Buckets::from(&tally.corrected);
    assert_eq!(corrected.count(), tally.samples() + tally.omitted);
    // A late send shifts the plan after it: each of the four may cost one request.
    assert!(
        (planned - 4..=planned).contains(&corrected.count()),
        "{}",
        corrected.count()
    );
    // Even the last planned request waited 200 ms, and half of them waited 600 ms.
    assert!(corrected.percentile(15.0) >= 200_000_000);
    assert!(corrected.percentile(50.0) >= 600_000_000);
    assert!(corrected.percentile(100.0) >= 1_200_000_000);
}

#[test]
fn connections_that_fail_at_once_do_not_keep_the_worker_from_its_seconds() {
    // The kernel itself refuses TCP to a multicast address.
    let nowhere = SocketAddr::from((Ipv4Addr::new(224, 0, 0, 1), 9));
    let found = run_worker(nowhere, Scenario::VertexById, &closed(2, 2.0), None);
    let tally = &found.tally;
    assert_eq!(
        tally.errors.get(&Failure::ConnectFailed),
        Some(&tally.samples())
    );
    // Nine pauses of up to 250 ms, then one each 250 ms.
    assert!(tally.samples() <= 2 * 18, "{}", tally.samples());
    let later = found.parts.iter().skip(1).map(|part| part.second().samples);
    let later: u64 = later.sum();
    assert!(later > 0, "{:?}", found.parts);
}

#[test]
fn connections_that_bring_no_answer_are_not_made_again_at_once() {
    let hangs_up = server(|mut stream| {
        read_head(&mut stream);
    });
    let speaks_otherwise = server(|mut stream| {
        read_head(&mut stream);
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n");
    });
    for to in [hangs_up, speaks_otherwise] {
        let found = run_worker(to, Scenario::VertexById, &closed(2, 2.0), None);
        let tally = &found.tally;
        assert_eq!(tally.failed(), tally.samples(), "{:?}", tally.errors);
        assert_eq!(tally.opened, tally.samples());
        // Nine pauses of up to 250 ms, then one each 250 ms.
        assert!(tally.samples() <= 2 * 18, "{}", tally.samples());
    }
}

#[test]
fn a_row_ends_when_nothing_new_is_left_to_write() {
    // Twenty vertices, so there are 400 different edges.
    let to = server(|mut stream| {
        while read_head(&mut stream) > 0 {
            answer(&mut stream, 201, "");
        }
    });
    let load = closed(3, UNTIL_DONE_S);
    let found = run_worker(to, Scenario::SingleInsertEdges, &load, None);
    let tally = &found.tally;
    assert!(tally.ran_out);
    assert_eq!((tally.samples(), tally.failed()), (400, 0));
}

#[test]
fn an_answer_before_the_request_is_sent_whole_ends_its_connection() {
    let to = server(|mut stream| {
        read_head(&mut stream);
        answer(&mut stream, 503, "");
        // Neither reads any further nor closes.
        std::mem::forget(stream);
    });
    let found = run_worker(
        to,
        Scenario::BatchInsertVertices,
        &closed(1, UNTIL_DONE_S),
        Some(3),
    );
    let tally = &found.tally;
    assert_eq!(
        tally.errors.get(&Failure::Status(503)),
        Some(&3),
        "{:?}",
        tally.errors
    );
    assert_eq!((tally.opened, tally.reconnects), (3, 2));
    let mut whole = Vec::new();
    let built = requests(to, Scenario::BatchInsertVertices).build(&mut whole);
    built.expect("a request");
    assert!(tally.sent < 3 * whole.len() as u64, "not sent whole");
}

#[test]
fn an_answer_before_the_connection_is_reset_counts() {
    // Closing a connection with a half-read request resets it.
    let to = server(|mut stream| {
        read_head(&mut stream);
        answer(&mut stream, 503, "");
    });
    let found = run_worker(
        to,
        Scenario::BatchInsertVertices,
        &closed(1, UNTIL_DONE_S),
        Some(20),
    );
    let tally = &found.tally;
    assert_eq!(
        tally.errors.get(&Failure::Status(503)),
        Some(&20),
        "{:?}",
        tally.errors
    );
}

#[test]
fn a_request_that_was_never_built_sends_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let to = listener.local_addr().expect("an address");
    let serving = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        drop(listener);
        let length = read_head(&mut stream);
        answer(&mut stream, 200, "Connection: close\r\n");
        length
    });
    let found = run_worker(to, Scenario::VertexById, &closed(1, UNTIL_DONE_S), Some(3));
    let tally = &found.tally;
    assert_eq!(
        tally.errors.get(&Failure::Refused),
        Some(&2),
        "{:?}",
        tally.errors
    );
    let read = serving.join().expect("served");
    assert_eq!(tally.sent, read as u64);
}

#[test]
fn samples_are_written_with_the_users_that_have_started() {
    let to = freezing(0, Duration::ZERO);
    let load = Load {
        users: 10,
        period_s: Some(0.5),
        ramp_s: 0.5,
        hold_s: 0.5,
        ..paced(500).0
    };
    let users = Users::of(&load);
    let found = run_worker(to, Scenario::VertexById, &load, None);
    assert!(found.samples.len() >= 10);
    for sample in &found.samples {
        let ended = sample.sent + sample.took;
        let started = (0..10).filter(|user| users.life(*user).start <= ended);
        assert!(
            (1..=started.count() as u32).contains(&sample.users),
            "{sample:?}"
        );
    }
}
