//! Graphs that could not be opened because of a permanent error. For example, the stored data are
//! damaged, a newer version has written them, or a cluster refuses a necessary operation or refuses
//! to report the leader.
//!
//! Requests for such a graph fail at once; other graphs are served. On a shared engine the tending
//! thread tries again at growing intervals, since the cause may be repaired from outside. Another
//! server that can open the graph leads it like any other graph. On an embedded engine the next
//! start tries again. Such a graph can be dropped.

use std::collections::BTreeMap;

use parking_lot::RwLock;

use super::Registry;
use crate::error::{ErrorKind, GraphError};

/// The most rounds of tending without an attempt, between two attempts: about a minute.
const ROUNDS_BETWEEN_MAX: u32 = 127;

/// Why a graph could not be opened, and when the next attempt is due.
#[derive(Debug)]
struct Unopened {
    reason: String,
    /// Rounds of tending between the last attempt and the next one.
    rounds: u32,
    /// The number of these rounds that are left.
    left: u32,
    /// The term of another server's lease at the last check.
    led: Option<u64>,
}

/// The graphs that could not be opened, by name.
#[derive(Debug, Default)]
pub(super) struct UnopenedGraphs(RwLock<BTreeMap<String, Unopened>>);

impl UnopenedGraphs {
    /// Records a failed attempt. Each further one about doubles the rounds until the next attempt,
    /// up to [`ROUNDS_BETWEEN_MAX`].
    fn note(&self, name: &str, reason: String) {
        let mut graphs = self.0.write();
        let rounds = graphs
            .get(name)
            .map_or(0, |known| ROUNDS_BETWEEN_MAX.min(2 * known.rounds + 1));
        let noted = Unopened {
            reason,
            rounds,
            left: rounds,
            led: None,
        };
        graphs.insert(name.to_owned(), noted);
    }

    /// Records that another server has the graph open. The entry is removed at the second
    /// successive check with the same term. At the first one, the other server may only be trying
    /// to open the graph. Two servers that cannot open it must not make each other try again.
    pub(super) fn is_led(&self, name: &str, term: u64) {
        if !self.0.read().contains_key(name) {
            return;
        }
        let mut graphs = self.0.write();
        match graphs.get_mut(name) {
            Some(known) if known.led != Some(term) => known.led = Some(term),
            _ => drop(graphs.remove(name)),
        }
    }

    /// Removes the entry of a graph, because it is open here or does not exist any more.
    pub(super) fn forget(&self, name: &str) {
        if self.0.read().contains_key(name) {
            self.0.write().remove(name);
        }
    }

    /// Removes the entries of the graphs for which `are_there` returns false.
    pub(super) fn keep_only(&self, are_there: impl Fn(&str) -> bool) {
        self.0.write().retain(|name, _| are_there(name));
    }

    /// Counts one round of tending. Returns whether the graph must not be tried in this round;
    /// `false` for a graph without an entry.
    pub(super) fn rests(&self, name: &str) -> bool {
        let mut graphs = self.0.write();
        let Some(known) = graphs.get_mut(name).filter(|known| known.left > 0) else {
            return false;
        };
        known.left -= 1;
        true
    }

    fn all(&self) -> Vec<(String, String)> {
        let graphs = self.0.read();
        let reasons = graphs.iter();
        reasons
            .map(|(name, known)| (name.clone(), known.reason.clone()))
            .collect()
    }

    fn reason(&self, name: &str) -> Option<String> {
        let graphs = self.0.read();
        graphs.get(name).map(|known| known.reason.clone())
    }
}

impl Registry {
    /// The graphs that cannot be opened here, by name, each with the reason. Reasons may contain
    /// file names.
    #[must_use]
    pub fn unopened(&self) -> Vec<(String, String)> {
        self.unopened.all()
    }

    /// Returns the reason why a graph cannot be opened here. Returns `None` if it can, as far as is
    /// known, or if another server leads it.
    #[must_use]
    pub fn why_unopened(&self, name: &str) -> Option<String> {
        self.unopened.reason(name)
    }

    /// Returns the error for a request to a graph that cannot be opened; `None` for another graph.
    pub(super) fn cannot_be_opened(&self, name: &str) -> Option<GraphError> {
        let reason = self.why_unopened(name)?;
        let reason = match self.is_shared() {
            true => reason.as_str(),
            // The reasons of an embedded engine contain file names, which belong only in the log.
            false => "see the server's log (VRV-STORAGE)",
        };
        let message = format!("Graph '{name}' cannot be opened: {reason}");
        Some(GraphError::new(ErrorKind::Storage, message))
    }

    /// Records an error of opening a graph, if it is permanent. Returns the error to report.
    pub(super) fn note_unopened(&self, name: &str, error: GraphError) -> GraphError {
        if !is_for_good(&error) {
            return error;
        }
        self.unopened.note(name, error.message.clone());
        self.cannot_be_opened(name).unwrap_or(error)
    }
}

/// Whether an error is permanent: an attempt soon after would fail, too.
pub(super) fn is_for_good(error: &GraphError) -> bool {
    !matches!(
        error.kind,
        ErrorKind::Busy | ErrorKind::OutcomeUnknown | ErrorKind::Elsewhere
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_become_rarer_up_to_a_bound() {
        let graphs = UnopenedGraphs::default();
        let mut rested = Vec::new();
        for _ in 0..10 {
            graphs.note("g", "why".to_owned());
            let rounds = (0..).take_while(|_| graphs.rests("g")).count();
            rested.push(rounds);
        }
        assert_eq!(rested, [0, 1, 3, 7, 15, 31, 63, 127, 127, 127]);
        assert!(!graphs.rests("h"), "of that nothing is known");
        graphs.forget("g");
        graphs.note("g", "why".to_owned());
        assert!(!graphs.rests("g"), "it begins anew");
    }

    #[test]
    fn who_only_tries_to_open_a_graph_does_not_lead_it() {
        let graphs = UnopenedGraphs::default();
        graphs.is_led("g", 1);
        graphs.note("g", "why".to_owned());
        graphs.is_led("g", 1);
        graphs.is_led("g", 3);
        assert!(graphs.reason("g").is_some());
        graphs.is_led("g", 3);
        assert_eq!(graphs.reason("g"), None);
    }
}
