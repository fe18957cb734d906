//! The commits of a graph that another server leads.
//!
//! That server says up to which version every commit is stored as a whole: its *position*. A read
//! as of that version needs nothing else of the server as long as rows of the present decide. The
//! past is read after the present, and a commit that moves a row from the one to the other may have
//! been running meanwhile. So before the past is read, the leader is asked again: it answers once
//! the commits that were running have ended. All readers that wait share an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use varve_kv::SpaceId;
use varve_model::CommitVersion;

use super::Waited;
use crate::error::{ErrorKind, GraphError};

/// How far the leader of a graph has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The space that it has open.
    pub space: SpaceId,
    /// How often the space has been opened.
    pub term: u64,
    /// Every commit up to this version is stored as a whole, and later ones get greater versions.
    pub version: CommitVersion,
    /// The version of its schema, for comparison within a term.
    pub schema: u64,
    /// [`varve_kv::Space::layout`] of its space, for comparison within a term.
    pub layout: u64,
}

impl Position {
    /// Whether a server that follows the graph at this position may still read it when the leader
    /// is at `later`.
    fn stands(&self, later: &Self) -> bool {
        let of = |position: &Self| (position.term, position.schema, position.layout);
        self.space == later.space && of(self) == of(later)
    }
}

/// Whether what was read as of a position may be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It may.
    Holds,
    /// The leader did not confirm the position: a later one must be read.
    Passed,
    /// The work met what only the leader's own graph can do.
    NeedsLeader,
}

/// Asks the leader of a graph.
pub trait AskLeader: Send + Sync {
    /// The leader's position: every commit that was running when this was called has ended. Blocks,
    /// until this thread's deadline at most. `None` if no leader can be asked.
    fn position(&self, graph: &str) -> Option<Position>;
}

/// The commits of a graph that this process follows at one position, for one request.
pub(crate) struct Followed {
    graph: String,
    position: Arc<Position>,
    leader: Arc<dyn AskLeader>,
    /// The number of reads of the present so far.
    reads: AtomicU64,
    /// The reads among them whose commits have ended.
    ended: AtomicU64,
    /// Whether an index was read.
    has_searched: AtomicBool,
    /// Whether the leader was asked and did not confirm the position.
    has_passed: AtomicBool,
    /// Whether the request met something that only the leader can do.
    needs_leader: AtomicBool,
}

impl Followed {
    pub(crate) fn new(graph: &str, position: Arc<Position>, leader: Arc<dyn AskLeader>) -> Self {
        Self {
            graph: graph.to_owned(),
            position,
            leader,
            reads: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            has_searched: AtomicBool::new(false),
            has_passed: AtomicBool::new(false),
            needs_leader: AtomicBool::new(false),
        }
    }

    /// The same for another request.
    pub(crate) fn again(&self) -> Self {
        Self::new(
            &self.graph,
            Arc::clone(&self.position),
            Arc::clone(&self.leader),
        )
    }

    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    /// Notes a read of the present; returns its number.
    pub(super) fn mark(&self) -> u64 {
        self.reads.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Waits until the commits have ended that the reads up to number `mark` may have shown.
    pub(super) fn wait(&self, mark: u64) -> Waited {
        if self.ended.load(Ordering::Acquire) >= mark {
            return Waited::Stored;
        }
        // Reads that have ended by now are covered, whoever made them.
        let reads = self.reads.load(Ordering::Acquire);
        match self.is_confirmed() {
            true => {
                self.ended.fetch_max(reads, Ordering::AcqRel);
                Waited::Stored
            }
            false => Waited::Passed,
        }
    }

    /// Asks the leader whether the position still stands.
    fn is_confirmed(&self) -> bool {
        let later = self.leader.position(&self.graph);
        let confirmed = later.is_some_and(|later| self.position.stands(&later));
        if !confirmed {
            self.has_passed.store(true, Ordering::Release);
        }
        confirmed
    }

    pub(super) fn searched(&self) {
        self.has_searched.store(true, Ordering::Release);
    }

    /// Notes that the leader must answer the request.
    pub(crate) fn note_elsewhere(&self) {
        self.needs_leader.store(true, Ordering::Release);
    }

    /// The error of what only the leader can do.
    pub(crate) fn elsewhere(&self) -> GraphError {
        self.note_elsewhere();
        elsewhere(&self.graph)
    }

    /// Whether the answer to the request may be used; `None` if the leader must be asked
    /// ([`Followed::ask_standing`]).
    pub(crate) fn standing(&self) -> Option<Standing> {
        if self.needs_leader.load(Ordering::Acquire) {
            return Some(Standing::NeedsLeader);
        }
        if self.has_passed.load(Ordering::Acquire) {
            return Some(Standing::Passed);
        }
        (!self.has_searched.load(Ordering::Acquire)).then_some(Standing::Holds)
    }

    /// The same, after the leader was asked: it removes the entries of an index that was dropped,
    /// and a search meanwhile may have missed some.
    pub(crate) fn ask_standing(&self) -> Standing {
        self.standing()
            .unwrap_or_else(|| match self.is_confirmed() {
                true => Standing::Holds,
                false => Standing::Passed,
            })
    }
}

/// The error of what only the leader of a graph can do.
pub(crate) fn elsewhere(graph: &str) -> GraphError {
    let message = format!("Graph '{graph}' is only followed by this server");
    GraphError::new(ErrorKind::Elsewhere, message)
}
