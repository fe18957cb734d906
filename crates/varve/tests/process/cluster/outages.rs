//! When clients may be refused: while most nodes are away, or a server is. Every refusal is held against that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::server::Answer;

/// What is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Away {
    /// Most nodes: the servers answer, and say 503.
    Quorum,
    /// A server: there may be no answer at all.
    Server,
}

struct Outage {
    what: Away,
    until: Option<Instant>,
}

/// The outages so far, and the refusals that none of them explains.
#[derive(Default)]
pub(crate) struct Outages {
    all: Mutex<Vec<Outage>>,
    unexplained: Mutex<Vec<String>>,
    explained: AtomicU64,
    /// Where refusals are counted from, for messages.
    begun: Mutex<Option<Instant>>,
}

/// One client's share.
pub(crate) struct Watch {
    outages: Arc<Outages>,
    /// Writes that were acknowledged.
    acknowledged: AtomicU64,
}

impl Outages {
    /// From now on something is away.
    pub(crate) fn begin(&self, what: Away) {
        self.all.lock().push(Outage { what, until: None });
    }

    /// Nothing is away any more.
    pub(crate) fn end(&self) {
        for outage in self.all.lock().iter_mut() {
            outage.until.get_or_insert_with(Instant::now);
        }
    }

    fn allow(&self, started: Instant, what: &[Away]) -> bool {
        let all = self.all.lock();
        let explains = |outage: &Outage| {
            what.contains(&outage.what) && outage.until.is_none_or(|until| until > started)
        };
        all.iter().any(explains)
    }

    fn refused(&self, started: Instant, request: &str, answer: Option<&Answer>) {
        let (allowed, text) = match answer {
            None => (self.allow(started, &[Away::Server]), "no answer".to_owned()),
            Some((503, body)) if is_clean(body) => (
                self.allow(started, &[Away::Quorum, Away::Server]),
                format!("503 {body}"),
            ),
            Some((status, body)) => (false, format!("{status} {body}")),
        };
        if allowed {
            self.explained.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let begun = *self.begun.lock().get_or_insert(started);
        let at = started.duration_since(begun).as_secs_f64();
        let took = started.elapsed().as_secs_f64();
        let text = format!("{at:.1} s after the first: {request} took {took:.1} s: {text}");
        println!("unexplained: {text}");
        self.unexplained.lock().push(text);
    }

    /// How many refusals an outage explains, and those that none does.
    pub(crate) fn refusals(&self) -> (u64, Vec<String>) {
        let explained = self.explained.load(Ordering::Relaxed);
        (explained, self.unexplained.lock().clone())
    }
}

/// Whether a refusal is one that clients of HugeGraph know how to read.
fn is_clean(body: &serde_json::Value) -> bool {
    let exception = body["exception"].as_str().unwrap_or_default();
    exception.ends_with("ServiceUnavailableException") && body["message"].is_string()
}

impl Watch {
    /// A client's.
    pub(crate) fn new(outages: &Arc<Outages>) -> Arc<Self> {
        Arc::new(Self {
            outages: Arc::clone(outages),
            acknowledged: AtomicU64::new(0),
        })
    }

    /// Takes in how a request ended.
    pub(crate) fn saw(&self, method: &str, path: &str, started: Instant, answer: Option<&Answer>) {
        match answer {
            Some((200..=299, _)) if method != "GET" => {
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Some((200..=499, _)) => {}
            _ => self
                .outages
                .refused(started, &format!("{method} {path}"), answer),
        }
    }

    /// Writes that were acknowledged so far.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Relaxed)
    }
}

#[test]
fn a_refusal_needs_an_outage_that_explains_it() {
    let clean = serde_json::json!({
        "exception": "class jakarta.ws.rs.ServiceUnavailableException", "message": "why"
    });
    let outages = Arc::new(Outages::default());
    let watch = Watch::new(&outages);
    let see = |started: Instant, answer: Option<Answer>| {
        watch.saw("POST", "/x", started, answer.as_ref());
        let (_, unexplained) = outages.refusals();
        outages.unexplained.lock().clear();
        unexplained.len()
    };
    let before = Instant::now();
    assert_eq!(see(before, Some((503, clean.clone()))), 1);
    outages.begin(Away::Quorum);
    assert_eq!(see(before, Some((503, clean.clone()))), 0);
    assert_eq!(see(before, Some((503, serde_json::Value::Null))), 1);
    assert_eq!(see(before, Some((500, clean.clone()))), 1);
    assert_eq!(see(before, None), 1, "servers answer while nodes are away");
    outages.begin(Away::Server);
    assert_eq!(see(before, None), 0);
    outages.end();
    assert_eq!(see(before, None), 0, "it began before the end");
    assert_eq!(see(Instant::now(), Some((503, clean))), 1);
    assert_eq!(see(Instant::now(), Some((201, serde_json::Value::Null))), 0);
    assert_eq!(watch.acknowledged(), 1);
}
