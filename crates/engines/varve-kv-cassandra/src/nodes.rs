//! Silent nodes, and requests that bypass them.
//!
//! A node that hangs keeps its connections, so the driver continues to use it until keep-alive
//! messages time out. A repeatable request is sent to another node meanwhile, but each request
//! waits anew, and a write takes several. So a node is in doubt if it has left a request without an
//! answer for a while and has answered nothing else since the request was sent. It is then sent a
//! probe, a trivial query. If it does not answer the probe soon, it counts as silent. From then on
//! it is used only if there is no other node. The probe is repeated in the background until it is
//! answered.
//!
//! An overloaded cluster has no silent node: its nodes answer something.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
use tokio::sync::watch;

/// The probe of a node.
const QUESTION: &str = "SELECT key FROM system.local";
/// The longest time for which a node is in doubt.
const DOUBT: Duration = Duration::from_millis(250);
/// The timeout of a probe, and the wait before it is repeated.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(5);
const QUESTION_PAUSE: Duration = Duration::from_millis(500);

tokio::task_local! {
    /// The request for which a node is being chosen.
    static REQUEST: Arc<Asked>;
}

/// When a request was sent, and to which node first.
#[derive(Debug)]
pub(crate) struct Asked {
    since: Instant,
    node: OnceLock<Arc<Node>>,
}

/// The driver's policy for choosing nodes, bypassing silent ones.
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

    /// The number of silent nodes.
    pub(crate) fn silent(&self) -> usize {
        self.silence.silent.load(Ordering::Relaxed)
    }

    fn is_silent(&self, node: &Node) -> bool {
        self.silence.is_silent(node.host_id.as_u128())
    }

    /// Waits until the node of a request is silent, and another one of `nodes` is neither silent
    /// nor in doubt. A node of which nothing is known counts as answering.
    pub(crate) async fn passable(&self, asked: &Asked, nodes: impl Fn() -> Vec<u128>) {
        let Some(node) = asked.node.get() else {
            return std::future::pending().await;
        };
        let node = node.host_id.as_u128();
        let mut changes = self.silence.changes.subscribe();
        while !self.silence.is_alone(node, &nodes()) {
            // It fails only if the sender is dropped, which `self` owns.
            let _ = changes.changed().await;
        }
    }
}

/// Returns a request, and a record of the node that it is sent to.
pub(crate) fn asking<F: Future>(request: F) -> (Arc<Asked>, impl Future<Output = F::Output>) {
    let asked = Arc::new(Asked {
        since: Instant::now(),
        node: OnceLock::new(),
    });
    let request = REQUEST.scope(Arc::clone(&asked), request);
    (asked, request)
}

/// Notes that a request has no answer yet. If its node has answered nothing else since, the node is
/// probed until it answers.
pub(crate) fn unanswered(nodes: &Arc<Nodes>, session: &Arc<Session>, asked: &Asked) {
    let Some(node) = asked.node.get() else {
        return;
    };
    let number = node.host_id.as_u128();
    if let Some(doubt) = nodes.silence.unanswered(number, asked.since) {
        let (nodes, session) = (Arc::clone(nodes), Arc::clone(session));
        tokio::spawn(ask(nodes, session, Arc::clone(node), doubt));
    }
}

/// Probes a node in doubt until it answers.
async fn ask(nodes: Arc<Nodes>, session: Arc<Session>, node: Arc<Node>, doubt: Instant) {
    let number = node.host_id.as_u128();
    let mut answer = std::pin::pin!(answer(&session, &node));
    if tokio::time::timeout(DOUBT, &mut answer).await.is_err() {
        if !nodes.silence.confirmed(number, doubt) {
            // It has answered another request.
            return;
        }
        tracing::warn!(node = %node.address, "the node does not answer; requests go to other nodes");
        answer.await;
        tracing::info!(node = %node.address, "the node answers again");
    }
    nodes.silence.heard(number);
}

/// Sends the probe to a node until it is answered.
async fn answer(session: &Session, node: &Node) {
    let only = NodeIdentifier::HostId(node.host_id);
    let mut question = Statement::new(QUESTION);
    question.set_consistency(Consistency::One);
    question.set_request_timeout(Some(QUESTION_TIMEOUT));
    question.set_load_balancing_policy(Some(SingleTargetLoadBalancingPolicy::new(only, None)));
    loop {
        match session.query_unpaged(question.clone(), ()).await {
            // `EmptyPlan`: the node has left the cluster.
            Ok(_) | Err(ExecutionError::EmptyPlan) => return,
            Err(_) => tokio::time::sleep(QUESTION_PAUSE).await,
        }
    }
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
            asked(node);
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

/// Sends the first copy of a request to a given node, if that answers; further ones as usual.
#[derive(Debug)]
pub(crate) struct Near {
    nodes: Arc<Nodes>,
    /// The host id of the node.
    node: u128,
    has_asked: AtomicBool,
}

impl Near {
    pub(crate) fn new(nodes: &Arc<Nodes>, node: u128) -> Arc<Self> {
        Arc::new(Self {
            nodes: Arc::clone(nodes),
            node,
            has_asked: AtomicBool::new(false),
        })
    }
}

impl LoadBalancingPolicy for Near {
    fn pick<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> Option<(NodeRef<'a>, Option<Shard>)> {
        let is_near = |node: &&Arc<Node>| node.host_id.as_u128() == self.node;
        let near = cluster.get_nodes_info().iter().find(is_near);
        let near = near.filter(|node| node.is_connected() && !self.nodes.is_silent(node));
        match near {
            Some(node) if !self.has_asked.swap(true, Ordering::Relaxed) => {
                asked(node);
                Some((node, None))
            }
            _ => self.nodes.pick(request, cluster),
        }
    }

    fn fallback<'a>(
        &'a self,
        request: &'a RoutingInfo,
        cluster: &'a ClusterState,
    ) -> FallbackPlan<'a> {
        self.nodes.fallback(request, cluster)
    }

    fn on_request_success(&self, request: &RoutingInfo, latency: Duration, node: NodeRef<'_>) {
        self.nodes.on_request_success(request, latency, node);
    }

    fn on_request_failure(
        &self,
        request: &RoutingInfo,
        latency: Duration,
        node: NodeRef<'_>,
        error: &RequestAttemptError,
    ) {
        self.nodes.on_request_failure(request, latency, node, error);
    }

    fn name(&self) -> String {
        "a given node first".to_owned()
    }
}

/// Notes the node that a request is sent to.
fn asked(node: &Arc<Node>) {
    // Requests of the driver itself are not noted.
    let _ = REQUEST.try_with(|asked| asked.node.set(Arc::clone(node)));
}

/// The silent nodes, by host id.
#[derive(Debug, Default)]
struct Silence {
    nodes: Mutex<HashMap<u128, Heard>>,
    silent: AtomicUsize,
    /// Notified when a node has become silent, or is no longer in doubt.
    changes: watch::Sender<()>,
}

/// What is known of one node's answers.
#[derive(Debug, Default)]
struct Heard {
    last: Option<Instant>,
    state: Liveness,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Liveness {
    #[default]
    Answering,
    /// The node was sent a probe at this time.
    Doubted(Instant),
    Silent,
}

impl Silence {
    /// Notes an answer of a node.
    fn heard(&self, node: u128) {
        let mut nodes = self.nodes.lock();
        let heard = nodes.entry(node).or_default();
        heard.last = Some(Instant::now());
        let before = std::mem::take(&mut heard.state);
        if before == Liveness::Silent {
            self.silent.fetch_sub(1, Ordering::Relaxed);
        }
        drop(nodes);
        if before != Liveness::Answering {
            self.changes.send_replace(());
        }
    }

    /// Notes that a node has not answered a request that was sent at `since`. Returns the present
    /// time if the node is in doubt from now on.
    fn unanswered(&self, node: u128, since: Instant) -> Option<Instant> {
        let mut nodes = self.nodes.lock();
        let heard = nodes.entry(node).or_default();
        let answers = heard.last.is_some_and(|last| last >= since);
        if answers || heard.state != Liveness::Answering {
            return None;
        }
        let now = Instant::now();
        heard.state = Liveness::Doubted(now);
        Some(now)
    }

    /// Notes that a node has not answered the probe. Returns whether it has answered nothing else
    /// since it was in doubt: then it is silent.
    fn confirmed(&self, node: u128, doubt: Instant) -> bool {
        let mut nodes = self.nodes.lock();
        let heard = nodes.entry(node).or_default();
        if heard.state != Liveness::Doubted(doubt) {
            return false;
        }
        heard.state = Liveness::Silent;
        self.silent.fetch_add(1, Ordering::Relaxed);
        drop(nodes);
        self.changes.send_replace(());
        true
    }

    fn is_silent(&self, node: u128) -> bool {
        if self.silent.load(Ordering::Relaxed) == 0 {
            return false;
        }
        let nodes = self.nodes.lock();
        nodes
            .get(&node)
            .is_some_and(|heard| heard.state == Liveness::Silent)
    }

    /// Whether a node is silent, and one of `all` is neither silent nor in doubt. If all are, this
    /// process may have been suspended, or its network may be down.
    fn is_alone(&self, node: u128, all: &[u128]) -> bool {
        if !self.is_silent(node) {
            return false;
        }
        let nodes = self.nodes.lock();
        let answers = |node: &u128| {
            let heard = nodes.get(node);
            heard.is_none_or(|heard| heard.state == Liveness::Answering)
        };
        all.iter().any(answers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a node silent, which answers neither a request nor the probe.
    fn silent(silence: &Silence, node: u128) {
        let doubt = silence.unanswered(node, Instant::now());
        assert!(silence.confirmed(node, doubt.expect("it was not in doubt")));
    }

    #[test]
    fn a_node_that_answers_nothing_is_silent_until_it_answers() {
        let silence = Silence::default();
        let asked = Instant::now();
        silent(&silence, 1);
        assert_eq!(silence.unanswered(1, asked), None, "it is asked already");
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
        assert_eq!(silence.unanswered(1, asked), None);
        let later = Instant::now() + Duration::from_secs(1);
        assert!(silence.unanswered(1, later).is_some());
    }

    /// A single request may be slow, such as a read of many rows.
    #[test]
    fn a_node_that_answers_the_question_is_not_silent() {
        let silence = Silence::default();
        let asked = Instant::now();
        let doubt = silence.unanswered(1, asked).expect("it is in doubt");
        assert!(!silence.is_silent(1), "it may answer yet");
        silence.heard(1);
        assert!(!silence.confirmed(1, doubt));
        assert!(!silence.is_silent(1));
        // An earlier probe does not confirm a later doubt.
        let later = Instant::now() + Duration::from_secs(1);
        let again = silence.unanswered(1, later).expect("it is in doubt again");
        assert!(!silence.confirmed(1, doubt) && silence.confirmed(1, again));
    }

    #[test]
    fn requests_go_past_a_silent_node_while_another_of_those_that_are_asked_answers() {
        let silence = Silence::default();
        let all = [1, 2, 3];
        silence.heard(2);
        assert!(!silence.is_alone(1, &all));
        silent(&silence, 1);
        assert!(silence.is_alone(1, &all));
        assert!(!silence.is_alone(2, &all), "it answers");
        // A node in doubt may be silent, too.
        silent(&silence, 2);
        let doubt = silence.unanswered(3, Instant::now());
        assert!(!silence.is_alone(1, &all));
        assert!(silence.confirmed(3, doubt.expect("it is in doubt")));
        assert!(!silence.is_alone(1, &all), "all are silent");
        // A node that is not used, such as one of another datacenter.
        silence.heard(4);
        assert!(!silence.is_alone(1, &all));
        silence.heard(3);
        assert!(silence.is_alone(1, &all));
    }
}
