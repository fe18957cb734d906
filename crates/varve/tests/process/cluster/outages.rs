//! When clients may be refused: while most nodes are away, or a server is. Every refusal is held
//! against that.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::server::Response;

/// What is away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Away {
    /// Most nodes: the servers answer, and say 503.
    Quorum,
    /// A server: its clients may get no answer at all. The others may get a 503 if it led the
    /// graph.
    Server {
        /// Which one.
        at: usize,
        /// Whether it led.
        led: bool,
    },
}

impl Away {
    /// Whether this explains that a client of server `of` got no answer, or a clean 503.
    fn explains(self, of: usize, answered: bool) -> bool {
        match self {
            Self::Quorum => answered,
            Self::Server { at, led } => at == of || (led && answered),
        }
    }
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
    /// Refusals that an outage explains: clean ones, and requests without an answer.
    refused: AtomicU64,
    unanswered: AtomicU64,
    /// Where refusals are counted from, for messages.
    begun: Mutex<Option<Instant>>,
}

/// One client's share.
pub(crate) struct Watch {
    outages: Arc<Outages>,
    /// Its server.
    server: usize,
    /// Writes that were acknowledged.
    acknowledged: AtomicU64,
    /// Other requests that were answered: reads, and writes that others were in the way of.
    read: AtomicU64,
}

/// How requests of clients were answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    /// Writes that were acknowledged.
    pub(crate) acknowledged: u64,
    /// Other requests that were answered: reads, and writes that others were in the way of.
    pub(crate) read: u64,
    /// Requests that were answered 503, as an outage explains.
    pub(crate) refused: u64,
    /// Requests without an answer, as an outage explains.
    pub(crate) unanswered: u64,
    /// Refusals that none explains.
    pub(crate) unexplained: usize,
}

impl Answers {
    /// The answers since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            acknowledged: self.acknowledged - before.acknowledged,
            read: self.read - before.read,
            refused: self.refused - before.refused,
            unanswered: self.unanswered - before.unanswered,
            unexplained: self.unexplained - before.unexplained,
        }
    }
}

impl std::fmt::Display for Answers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            acknowledged,
            read,
            refused,
            unanswered,
            unexplained,
        } = self;
        write!(
            f,
            "{acknowledged} writes acknowledged, {read} other answers, {refused} answered 503, {unanswered} without an answer, \
             {unexplained} unexplained"
        )
    }
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

    fn allow(&self, started: Instant, of: usize, answered: bool) -> bool {
        let all = self.all.lock();
        let explains = |outage: &Outage| {
            outage.what.explains(of, answered) && outage.until.is_none_or(|until| until > started)
        };
        all.iter().any(explains)
    }

    fn refused(&self, started: Instant, of: usize, request: &str, answer: Option<&Response>) {
        let (allowed, text, counter) = match answer {
            None => {
                let allowed = self.allow(started, of, false);
                (allowed, "no answer".to_owned(), &self.unanswered)
            }
            Some((503, body)) if is_clean(body) => {
                let allowed = self.allow(started, of, true);
                (allowed, format!("503 {body}"), &self.refused)
            }
            Some((status, body)) => (false, format!("{status} {body}"), &self.refused),
        };
        if allowed {
            counter.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let begun = *self.begun.lock().get_or_insert(started);
        let at = started.duration_since(begun).as_secs_f64();
        let took = started.elapsed().as_secs_f64();
        let text = format!("{at:.1} s after the first: {request} took {took:.1} s: {text}");
        println!("unexplained: {text}");
        self.unexplained.lock().push(text);
    }

    /// The refusals that no outage explains.
    pub(crate) fn unexplained(&self) -> Vec<String> {
        self.unexplained.lock().clone()
    }

    /// The answers to all these clients so far.
    pub(crate) fn answers(&self, watches: &[Arc<Watch>]) -> Answers {
        let read = watches
            .iter()
            .map(|watch| watch.read.load(Ordering::Relaxed));
        Answers {
            acknowledged: watches.iter().map(|watch| watch.acknowledged()).sum(),
            read: read.sum(),
            refused: self.refused.load(Ordering::Relaxed),
            unanswered: self.unanswered.load(Ordering::Relaxed),
            unexplained: self.unexplained.lock().len(),
        }
    }
}

/// Whether a refusal is one that clients of HugeGraph know how to read.
fn is_clean(body: &serde_json::Value) -> bool {
    let exception = body["exception"].as_str().unwrap_or_default();
    exception.ends_with("ServiceUnavailableException") && body["message"].is_string()
}

impl Watch {
    /// That of a client of server `server`.
    pub(crate) fn new(outages: &Arc<Outages>, server: usize) -> Arc<Self> {
        Arc::new(Self {
            outages: Arc::clone(outages),
            server,
            acknowledged: AtomicU64::new(0),
            read: AtomicU64::new(0),
        })
    }

    /// The server of its client.
    pub(crate) fn server(&self) -> usize {
        self.server
    }

    /// Takes in how a request ended.
    pub(crate) fn saw(
        &self,
        method: &str,
        path: &str,
        started: Instant,
        answer: Option<&Response>,
    ) {
        match answer {
            Some((200..=299, _)) if method != "GET" => {
                self.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            Some((200..=499, _)) => {
                self.read.fetch_add(1, Ordering::Relaxed);
            }
            _ => {
                let request = format!("{method} {path} at server {}", self.server);
                self.outages.refused(started, self.server, &request, answer);
            }
        }
    }

    /// Requests that were answered so far, 503s excepted.
    pub(crate) fn answered(&self) -> u64 {
        self.acknowledged() + self.read.load(Ordering::Relaxed)
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
    let watch = Watch::new(&outages, 0);
    let see = |started: Instant, answer: Option<Response>| {
        watch.saw("POST", "/x", started, answer.as_ref());
        std::mem::take(&mut *outages.unexplained.lock()).len()
    };
    let before = Instant::now();
    let begin = |what| {
        outages.all.lock().clear();
        outages.begin(what);
    };
    assert_eq!(see(before, Some((503, clean.clone()))), 1);
    begin(Away::Quorum);
    assert_eq!(see(before, Some((503, clean.clone()))), 0);
    assert_eq!(see(before, Some((503, serde_json::Value::Null))), 1);
    assert_eq!(see(before, Some((500, clean.clone()))), 1);
    assert_eq!(see(before, None), 1, "servers answer while nodes are away");
    begin(Away::Server { at: 1, led: false });
    assert_eq!(see(before, None), 1, "it is another server");
    assert_eq!(
        see(before, Some((503, clean.clone()))),
        1,
        "it did not lead"
    );
    begin(Away::Server { at: 1, led: true });
    assert_eq!(see(before, None), 1, "its own server answers");
    assert_eq!(see(before, Some((503, clean.clone()))), 0);
    begin(Away::Server { at: 0, led: false });
    assert_eq!(see(before, None), 0);
    outages.end();
    assert_eq!(see(before, None), 0, "it began before the end");
    assert_eq!(see(Instant::now(), Some((503, clean))), 1);
    assert_eq!(see(Instant::now(), Some((201, serde_json::Value::Null))), 0);
    let answers = outages.answers(&[Arc::clone(&watch)]);
    assert_eq!(answers.acknowledged, 1);
    assert_eq!((answers.refused, answers.unanswered), (2, 2));
}
