//! Sends the recorded requests in order and compares each answer.

use std::collections::{BTreeMap, HashMap};
use std::thread;
use std::time::{Duration, Instant};

use crate::http::{Request, Response, Server};
use crate::identity::{IdKind, Identities};
use crate::json::Json;
use crate::rules::{Corpus, compare};
use crate::tables::{Compensation, Difference, DifferenceKind, RequestDetail, When};
use crate::transcript::{self, Exchange};

/// The time limit of a background task of the server.
const TASK_TIMEOUT: Duration = Duration::from_secs(60);
/// The interval at which a running task is polled.
const TASK_POLL: Duration = Duration::from_millis(25);

/// The verdict on an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The answers are equal.
    Equal,
    /// The answers differ, and the list allows it.
    Listed,
    /// The answers differ, and the list does not allow it.
    Unlisted,
}

/// One exchange and its verdict.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The exchange's number.
    pub number: usize,
    /// `METHOD path`, with the recorder's note.
    pub title: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The list's entry for this exchange.
    pub listed: Option<Difference>,
    /// The differences, one line each.
    pub differences: Vec<String>,
}

/// The parameters of a replay besides the server.
#[derive(Debug)]
pub struct Plan {
    /// The recording.
    pub exchanges: Vec<Exchange>,
    /// Known differences, by exchange.
    pub differences: BTreeMap<usize, Difference>,
    /// Details of requests that are not recorded, by exchange.
    pub details: HashMap<usize, RequestDetail>,
    /// Replacements for exchanges out of scope.
    pub compensations: Vec<Compensation>,
    /// The prefix of every path of a graph: empty for the recorded short form,
    /// `/graphspaces/DEFAULT` for that of newer clients.
    pub base: String,
    /// The `Authorization` of requests that are not recorded; empty without authentication.
    pub administrator: String,
    /// Whether the server's storage engine may list elements in an order of its own.
    pub any_order: bool,
}

impl Plan {
    /// The headers of requests that are not recorded.
    fn headers(&self, ids: &Identities) -> Vec<(String, String)> {
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        if !self.administrator.is_empty() {
            let value = transcript::authorization(&self.administrator, ids);
            headers.push(("Authorization".to_owned(), value));
        }
        headers
    }

    /// A recorded path with the prefix of this replay.
    fn placed(&self, path: &str) -> String {
        let is_of_a_graph = path == "/graphs" || path.starts_with("/graphs/");
        let base = if is_of_a_graph {
            self.base.as_str()
        } else {
            ""
        };
        format!("{base}{path}")
    }
}

/// Replays the plan and returns one outcome for each exchange, in order.
///
/// # Errors
/// When the server cannot be reached at all. A single failed connection is a difference.
pub fn run(server: &Server, plan: &Plan) -> Result<Vec<Outcome>, String> {
    let probe = Request {
        method: "GET".into(),
        path: "/versions".into(),
        ..Request::default()
    };
    server
        .send(&probe)
        .map_err(|e| format!("no answer to GET /versions: {e}"))?;
    let mut corpus = Corpus::collect(&plan.exchanges);
    corpus.any_order = plan.any_order;
    let mut ids = Identities::default();
    let mut outcomes = Vec::with_capacity(plan.exchanges.len());
    for exchange in &plan.exchanges {
        let trouble_before = compensate(server, plan, exchange.number, When::Before, &ids);
        await_shown_tasks(server, plan, exchange, &ids);
        let mut request = transcript::request(exchange, &plan.details, &ids);
        request.path = plan.placed(&request.path);
        let mut outcome = match server.send(&request) {
            Ok(answer) => {
                let found = compare(exchange, &answer, &corpus, &mut ids);
                let mut outcome = judge(exchange, plan, found, Some(&answer));
                if let Some(trouble) = await_task(server, plan, exchange, &answer, &ids) {
                    outcome.differences.push(trouble);
                }
                let reason = match () {
                    () if answer.status != exchange.status => Some(When::Refused),
                    () if outcome.verdict != Verdict::Equal => Some(When::Different),
                    () => None,
                };
                if let Some(reason) = reason
                    && let Some(trouble) = compensate(server, plan, exchange.number, reason, &ids)
                {
                    outcome.verdict = Verdict::Unlisted;
                    outcome.differences.push(trouble);
                }
                outcome
            }
            Err(error) => judge(exchange, plan, vec![format!("no answer: {error}")], None),
        };
        if let Some(trouble) = trouble_before {
            outcome.verdict = Verdict::Unlisted;
            outcome.differences.push(trouble);
        }
        outcomes.push(outcome);
        if exchange.method == "DELETE"
            && exchange.route().ends_with("/clear")
            && exchange.status == 204
        {
            ids.forget();
        }
    }
    Ok(outcomes)
}

fn judge(
    exchange: &Exchange,
    plan: &Plan,
    mut found: Vec<String>,
    answer: Option<&Response>,
) -> Outcome {
    let listed = plan.differences.get(&exchange.number).cloned();
    let verdict = match &listed {
        _ if found.is_empty() => Verdict::Equal,
        None => Verdict::Unlisted,
        Some(entry) => match breach(entry, answer) {
            None => Verdict::Listed,
            Some(breach) => {
                found.push(breach);
                Verdict::Unlisted
            }
        },
    };
    let note = if exchange.note.is_empty() {
        String::new()
    } else {
        format!(" ({})", exchange.note)
    };
    Outcome {
        number: exchange.number,
        title: format!("{} {}{note}", exchange.method, exchange.path),
        verdict,
        listed,
        differences: found,
    }
}

/// How an answer breaks the promise of a list entry.
fn breach(entry: &Difference, answer: Option<&Response>) -> Option<String> {
    if entry.kind == DifferenceKind::Later {
        return None;
    }
    let Some(answer) = answer else {
        return Some("the list promises an answer".to_owned());
    };
    if let Some(status) = entry.status.filter(|status| *status != answer.status) {
        return Some(format!("the list promises status {status}"));
    }
    let text = entry
        .contains
        .as_ref()
        .filter(|text| !answer.body.contains(*text))?;
    Some(format!("the list promises an answer that holds '{text}'"))
}

/// Waits for the task that an exchange started, as the recorder did before its next request. Does
/// not wait for jobs, some of which the recording shows while they run.
fn await_task(
    server: &Server,
    plan: &Plan,
    exchange: &Exchange,
    answer: &Response,
    ids: &Identities,
) -> Option<String> {
    if answer.status != 202 {
        return None;
    }
    let body = Json::parse(&answer.body).ok()?;
    match body.get("task_id") {
        Some(Json::Number(id)) if id != "0" => {
            await_status(server, plan, exchange, id, is_ended, ids)
        }
        _ => None,
    }
}

/// Waits until the tasks in the recorded answer have reached their recorded state: ended, or begun
/// if the recording cancels them while they run. Without this, the state of a job at the next
/// request would depend on the machine. Errors show in the next answer.
fn await_shown_tasks(server: &Server, plan: &Plan, exchange: &Exchange, ids: &Identities) {
    let shown = &exchange.response;
    let tasks = match shown.get("tasks").and_then(Json::as_array) {
        Some(tasks) => tasks,
        None => std::slice::from_ref(shown),
    };
    for task in tasks {
        let is_there = match status(task) {
            Some("cancelling") => is_begun,
            _ if is_ended(task) => is_ended,
            _ => continue,
        };
        if let Some(Json::Number(id)) = task.get("id")
            && let Some(id) = ids.known(IdKind::Task, id)
        {
            let _ = await_status(server, plan, exchange, id, is_there, ids);
        }
    }
}

fn status(task: &Json) -> Option<&str> {
    task.get("task_status").and_then(Json::as_str)
}

fn is_ended(task: &Json) -> bool {
    matches!(status(task), Some("success" | "failed" | "cancelled"))
}

fn is_begun(task: &Json) -> bool {
    status(task) == Some("running") || is_ended(task)
}

/// Waits until `is_there` accepts the server's task `id`. Returns a description of a failure, if
/// any.
fn await_status(
    server: &Server,
    plan: &Plan,
    exchange: &Exchange,
    id: &str,
    is_there: fn(&Json) -> bool,
    ids: &Identities,
) -> Option<String> {
    let path = plan.placed(&format!("{}/tasks/{id}", exchange.graph_base()?));
    let request = Request {
        method: "GET".into(),
        path,
        headers: plan.headers(ids),
        ..Request::default()
    };
    let deadline = Instant::now() + TASK_TIMEOUT;
    loop {
        let answer = server.send(&request).ok()?;
        let task = Json::parse(&answer.body).ok();
        match task.as_ref().filter(|task| status(task).is_some()) {
            None => return Some(format!("task {id} cannot be asked for: {}", answer.body)),
            Some(task) if is_there(task) => return None,
            Some(_) if Instant::now() > deadline => {
                return Some(format!("task {id} is not so far: {}", answer.body));
            }
            Some(_) => thread::sleep(TASK_POLL),
        }
    }
}

/// Sends the replacement for an exchange. Returns a description of a failure, if any.
fn compensate(
    server: &Server,
    plan: &Plan,
    number: usize,
    reason: When,
    ids: &Identities,
) -> Option<String> {
    let steps = plan.compensations.iter();
    let is_due = |step: &Compensation| {
        step.when == reason || (reason == When::Refused && step.when == When::Different)
    };
    for step in steps.filter(|step| step.exchange == number && is_due(step)) {
        let body = (!step.body.is_empty()).then(|| ids.in_text(&step.body).into_bytes());
        let request = Request {
            method: step.method.clone(),
            path: plan.placed(&ids.in_path(&step.path)),
            headers: plan.headers(ids),
            body,
        };
        match server.send(&request) {
            Ok(answer) if answer.status < 300 => {}
            Ok(answer) => {
                let (reason, status, body) = (&step.reason, answer.status, answer.body);
                return Some(format!("what stands in for {reason} gave {status}: {body}"));
            }
            Err(error) => return Some(format!("what stands in for it: {error}")),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(kind: DifferenceKind, status: Option<u16>) -> Plan {
        let entry = Difference {
            kind,
            reason: "r".into(),
            status,
            contains: None,
        };
        Plan {
            exchanges: Vec::new(),
            differences: BTreeMap::from([(1, entry)]),
            details: HashMap::new(),
            compensations: Vec::new(),
            base: String::new(),
            administrator: String::new(),
            any_order: false,
        }
    }

    #[test]
    fn only_paths_of_graphs_are_placed_below_a_graph_space() {
        let mut plan = plan(DifferenceKind::Later, None);
        plan.base = "/graphspaces/DEFAULT".into();
        assert_eq!(
            plan.placed("/graphs/h/tasks"),
            "/graphspaces/DEFAULT/graphs/h/tasks"
        );
        assert_eq!(plan.placed("/graphs"), "/graphspaces/DEFAULT/graphs");
        for path in ["/versions", "/graphspaces/DEFAULT/graphs", "/"] {
            assert_eq!(plan.placed(path), path);
        }
    }

    fn verdict(number: usize, plan: &Plan, found: &[&str], status: u16) -> Verdict {
        let line = r#"{"method":"GET","path":"/x","status":200}"#;
        let mut exchange = transcript::parse(line).unwrap().remove(0);
        exchange.number = number;
        let answer = Response {
            status,
            headers: Vec::new(),
            body: String::new(),
        };
        let found = found.iter().map(|text| (*text).to_owned()).collect();
        judge(&exchange, plan, found, Some(&answer)).verdict
    }

    #[test]
    fn only_a_listed_difference_is_forgiven() {
        let plan = plan(DifferenceKind::Later, None);
        assert_eq!(verdict(1, &plan, &["x"], 404), Verdict::Listed);
        assert_eq!(verdict(2, &plan, &["x"], 404), Verdict::Unlisted);
        assert_eq!(verdict(1, &plan, &[], 200), Verdict::Equal);
    }

    #[test]
    fn a_mended_answer_must_be_the_promised_one() {
        let plan = plan(DifferenceKind::Mended, Some(404));
        assert_eq!(verdict(1, &plan, &["x"], 404), Verdict::Listed);
        assert_eq!(verdict(1, &plan, &["x"], 500), Verdict::Unlisted);
    }
}
