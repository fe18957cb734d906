//! Replays against a stub that answers from the recording. With the recorded answers, every
//! exchange is equal; with one changed answer, exactly that exchange differs.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use varve_conformance::http::Server;
use varve_conformance::json::Json;
use varve_conformance::replay::{self, Outcome, Plan, Verdict};
use varve_conformance::report::{EQUAL_PERCENT_MIN, Summary};
use varve_conformance::transcript::{self, Exchange};
use varve_conformance::{REQUESTS, TRANSCRIPT, tables};

/// One answer of the stub.
#[derive(Clone)]
struct Answer {
    status: u16,
    content_type: Option<String>,
    body: String,
}

impl Answer {
    fn recorded(exchange: &Exchange) -> Self {
        let body = match &exchange.response {
            Json::String(text) => text.clone(),
            json => json.to_string(),
        };
        Self {
            status: exchange.status,
            content_type: exchange.content_type.clone(),
            body,
        }
    }
}

/// Reads one request. Returns whether the tool sent it besides the recorded ones.
fn read_request(stream: &TcpStream) -> bool {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    let mut is_own = true;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        is_own &= !line.starts_with("Accept: ");
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    reader.take(length).read_to_end(&mut Vec::new()).unwrap();
    is_own
}

fn write_answer(mut stream: &TcpStream, answer: &Answer, is_head: bool) {
    let content_type = match &answer.content_type {
        Some(text) => format!("Content-Type: {text}\r\n"),
        None => String::new(),
    };
    let body = if is_head { "" } else { answer.body.as_str() };
    let head = format!("HTTP/1.1 {} X\r\n{content_type}", answer.status);
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
}

/// Answers each exchange in order, and the tool's own questions with the status of a task. Tasks
/// are running in all answers until the tool has asked `looks` questions, and have ended then.
fn serve(listener: &TcpListener, exchanges: &[Exchange], answers: &[Answer], looks: usize) {
    let mut left = looks;
    let mut answers = exchanges.iter().zip(answers).peekable();
    while let Some((exchange, answer)) = answers.peek() {
        let (stream, _) = listener.accept().unwrap();
        let is_own = read_request(&stream);
        let running = |text: &str| text.replace("\"success\"", "\"running\"");
        let mut shown = (*answer).clone();
        if is_own {
            left = left.saturating_sub(1);
            shown = Answer {
                status: 200,
                content_type: None,
                body: "{\"task_status\":\"success\"}".to_owned(),
            };
        }
        if left > 0 {
            shown.body = running(&shown.body);
        }
        write_answer(&stream, &shown, exchange.method == "HEAD");
        if !is_own {
            answers.next();
        }
    }
}

fn replay_with(change: impl Fn(usize, &mut Answer)) -> Vec<Outcome> {
    replay_of(TRANSCRIPT, 0, change)
}

fn replay_of(recording: &str, looks: usize, change: impl Fn(usize, &mut Answer)) -> Vec<Outcome> {
    let exchanges = transcript::parse(recording).unwrap();
    let answers: Vec<_> = exchanges
        .iter()
        .map(|exchange| {
            let mut answer = Answer::recorded(exchange);
            change(exchange.number, &mut answer);
            answer
        })
        .collect();
    let plan = Plan {
        exchanges: exchanges.clone(),
        differences: tables::differences("").unwrap(),
        details: tables::requests(REQUESTS).unwrap(),
        // The stub has answers only for recorded requests.
        compensations: Vec::new(),
        base: String::new(),
        administrator: String::new(),
        any_order: false,
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let stub = thread::spawn(move || serve(&listener, &exchanges, &answers, looks));
    let outcomes = replay::run(&Server::parse(&url).unwrap(), &plan).unwrap();
    stub.join().unwrap();
    outcomes
}

fn different(outcomes: &[Outcome]) -> Vec<usize> {
    let found = outcomes.iter().filter(|o| o.verdict != Verdict::Equal);
    found.map(|outcome| outcome.number).collect()
}

#[test]
fn the_recording_is_equal_to_itself() {
    let outcomes = replay_with(|_, _| ());
    for outcome in outcomes.iter().filter(|o| o.verdict != Verdict::Equal) {
        eprintln!("{outcome:?}");
    }
    assert_eq!(different(&outcomes), [0_usize; 0]);
    let summary = Summary::of(&outcomes);
    assert_eq!((summary.total, summary.equal), (657, 657));
    assert!(summary.passes(EQUAL_PERCENT_MIN));
}

#[test]
fn each_changed_answer_is_found_and_no_other() {
    // A value, a missing property, the order of ids, a class, a status, a content type, an
    // unexpected body, a missing element, a task's outcome, a double without its point.
    let outcomes = replay_with(|number, answer| match number {
        81 => answer.content_type = Some("application/json".to_owned()),
        142 => answer.body = answer.body.replace("Beijing", "Peking"),
        149 => answer.body = answer.body.replace(",\"age\":30", ""),
        214 => answer.body = answer.body.replace("\"1:p1\",\"bb\"", "\"bb\",\"1:p1\""),
        222 => answer.body = answer.body.replace("IllegalArgument", "IllegalState"),
        242 => answer.body = answer.body.replace("1.0", "1"),
        272 => answer.status = 400,
        292 => answer.body = "{\"vertices\":[1]}".to_owned(),
        340 => answer.body = "{}".to_owned(),
        654 => answer.body = answer.body.replace("failed", "success"),
        _ => {}
    });
    assert_eq!(
        different(&outcomes),
        [81, 142, 149, 214, 222, 242, 272, 292, 340, 654]
    );
}

#[test]
fn a_task_is_asked_for_when_it_has_ended_if_it_was_recorded_so() {
    let recording = r#"{"method":"POST","path":"/graphs/g/jobs/gremlin","status":201,"response":{"task_id":3}}
{"method":"GET","path":"/graphs/g/tasks/3","status":200,"response":{"task_name":"1+1","id":3,"task_status":"success"}}
{"method":"GET","path":"/graphs/g/tasks","status":200,"response":{"tasks":[{"task_name":"1+1","id":3,"task_status":"success"}]}}"#;
    // The tool's first request checks whether the server is up.
    for looks in [0, 2, 4] {
        let outcomes = replay_of(recording, looks, |_, _| ());
        assert_eq!(different(&outcomes), [0_usize; 0], "{outcomes:?}");
    }
}
