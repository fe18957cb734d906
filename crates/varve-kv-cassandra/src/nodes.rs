//! Nodes that have fallen silent, and requests that go past them.
//!
//! A node that hangs keeps its connections, so the driver goes on asking it until they have missed their signs of life. A request that
//! may be repeated is sent to another one meanwhile, but each finds out anew, and a write takes several. So a node counts
//! as silent that has left a request without an answer for a while and has answered nothing else since that was sent. It is asked only
//! where there is no other, and what it is asked besides, until it answers, is a question that nobody waits for.
//!
//! A cluster that is slow under too much has no silent node: its nodes answer something.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use scylla::client::session::Session;
use scylla::cluster::{ClusterState, Node, NodeRef};
use scylla::errors::{ExecutionError, RequestAttemptError};
use scylla::policies::load_balancing::{
    FallbackPlan, LoadBalancingPolicy, NodeIdentifier, RoutingInfo, SingleTargetLoadBalancingPolicy,
};
use scylla::routing::Shard;
use scylla::statement::{Consistency, Statement};

/// What a silent node is asked.
const QUESTION: &str = "SELECT key FROM system.local";
/// How long that may take, and the wait before it is asked once more.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5);
const QUESTION_PAUSE: Duration = Duration::from_millis(500);

tokio::task_local! {
    /// The request whose node is being chosen.
    static REQUEST: Arc<Asked>;
}

/// When a request was sent, and to whom first.
#[derive(Debug)]
pub(crate) struct Asked {
    since: Instant,
    node: OnceLock<Arc<Node>>,
}

/// The driver's own choice of nodes, but past those that are silent.
#[derive(Debug)]
pub(crate) struct Nodes {
    chosen: Arc<dyn LoadBalancingPolicy>,
    silence: Silence,
}

impl Nodes {
    pub(crate) fn new(chosen: Arc<dyn LoadBalancingPolicy>) -> Arc<Self> {
        Arc::new(Self {
            chosen,
            silence: Silence::default(),
        })
    }

    /// How many are silent.
    pub(crate) fn silent(&self) -> usize {
        self.silence.silent.load(Ordering::Relaxed)
    }

    fn is_silent(&self, node: &Node) -> bool {
        self.silence.is_silent(node.host_id.as_u128())
    }
}

/// A request, and what is known of whom it was sent to.
pub(crate) fn asking<F: Future>(request: F) -> (Arc<Asked>, impl Future<Output = F::Output>) {
    let asked = Arc::new(Asked {
        since: Instant::now(),
        node: OnceLock::new(),
    });
    let request = REQUEST.scope(Arc::clone(&asked), request);
    (asked, request)
}

/// Says that a request has no answer yet. Returns whether its node is silent; one that was not before is asked from now on until it
/// answers.
pub(crate) fn unanswered(nodes: &Arc<Nodes>, session: &Arc<Session>, asked: &Asked) -> bool {
    let Some(node) = asked.node.get() else {
        return false;
    };
    let now = nodes
        .silence
        .unanswered(node.host_id.as_u128(), asked.since);
    if now == Silent::SinceNow {
        tracing::warn!(node = %node.address, "a node has stopped answering; others are asked");
        tokio::spawn(ask(
            Arc::clone(nodes),
            Arc::clone(session),
            Arc::clone(node),
        ));
    }
    now != Silent::No
}

/// Asks a silent node until it answers.
async fn ask(nodes: Arc<Nodes>, session: Arc<Session>, node: Arc<Node>) {
    let only = NodeIdentifier::HostId(node.host_id);
    let mut question = Statement::new(QUESTION);
    question.set_consistency(Consistency::One);
    question.set_request_timeout(Some(QUESTION_TIMEOUT));
    question.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(only, None)));
    loop {
        match session.query_unpaged(question.clone(), ()).await {
            // Or it is none of the cluster's any more.
            Ok(_) | Err(ExecutionError::EmptyPlan) => break,
            Err(_) => tokio::time::sleep(QUESTION_PAUSE).await,
        }
    }
    nodes.silence.heard(node.host_id.as_u128());
    tracing::info!(node = %node.address, "the node answers again");
}

impl LoadBalancingPolicy for Nodes {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let first = self.chosen.pick(request, cluster);
        let picked = match first {
            Some((node, _)) if self.is_silent(node) => {
                let mut others = self.chosen.fallback(request, cluster);
                others.find(|(node, _)| !self.is_silent(node)).or(first)
            }
            _ => first,
        };
        if let Some((node, _)) = picked {
            // Requests of the driver's own have none.
            let _ = REQUEST.try_with(|asked| asked.node.set(Arc::clone(node)));
        }
        picked
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        let all = self.chosen.fallback(request, cluster);
        if self.silent() == 0 {
            return all;
        }
        let (silent, others): (Vec<_>, Vec<_>) = all.partition(|(node, _)| self.is_silent(node));
        Box::new(others.into_iter().chain(silent))
    }

    fn on_request_success(&self, request: &RoutingInfo, latency: Duration, node: NodeRef<'_>) {
        self.silence.heard(node.host_id.as_u128());
        self.chosen.on_request_success(request, latency, node);
    }

    fn on_request_failure(
        &self,
        request: &RoutingInfo,
        latency: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        if let RequestAttemptError::DbError(..) = error {
            self.silence.heard(node.host_id.as_u128());
        }
        self.chosen
            .on_request_failure(request, latency, node, error);
    }

    fn name(&self) -> String {
        "past silent nodes".to_owned()
    }
}

/// Which nodes are silent, by their numbers.
#[derive(Debug, Default)]
struct Silence {
    nodes: Mutex<HashMap<u128, Heard>>,
    silent: AtomicUsize,
}

/// What was heard of one node.
#[derive(Debug, Default)]
struct Heard {
    last: Option<Instant>,
    silent: bool,
}

/// Whether a node is silent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Silent {
    No,
    SinceNow,
    SinceLong,
}

impl Silence {
    /// A node has answered.
    fn heard(&self, node: u128) {
        let mut nodes = self.nodes.lock();
        let heard = nodes.entry(node).or_default();
        heard.last = Some(Instant::now());
        if std::mem::take(&mut heard.silent) {
            self.silent.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// A node has not answered what it was asked at `since`.
    fn unanswered(&self, node: u128, since: Instant) -> Silent {
        let mut nodes = self.nodes.lock();
        let heard = nodes.entry(node).or_default();
        if heard.silent {
            return Silent::SinceLong;
        }
        if heard.last.is_some_and(|last| last >= since) {
            return Silent::No;
        }
        heard.silent = true;
        self.silent.fetch_add(1, Ordering::Relaxed);
        Silent::SinceNow
    }

    fn is_silent(&self, node: u128) -> bool {
        if self.silent.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let nodes = self.nodes.lock();
        nodes.get(&node).is_some_and(|heard| heard.silent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_answers_nothing_is_silent_until_it_answers() {
        let silence = Silence::default();
        let asked = Instant::now();
        assert_eq!(silence.unanswered(1, asked), Silent::SinceNow);
        assert_eq!(silence.unanswered(1, asked), Silent::SinceLong);
        assert!(silence.is_silent(1) && !silence.is_silent(2));
        silence.heard(1);
        assert!(!silence.is_silent(1));
        assert_eq!(silence.silent.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_node_that_answers_others_is_slow_and_not_silent() {
        let silence = Silence::default();
        let asked = Instant::now();
        silence.heard(1);
        assert_eq!(silence.unanswered(1, asked), Silent::No);
        let later = Instant::now() + Duration::from_secs(1);
        assert_eq!(silence.unanswered(1, later), Silent::SinceNow);
    }
}
