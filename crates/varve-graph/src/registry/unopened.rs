//! Graphs that could not be opened, for a reason that waiting does not end: what is stored is
//! damaged, a newer version has written it, or a cluster refuses what has to be done first, or
//! refuses to say who leads it.
//!
//! The others are served. Requests about such a graph fail at once. Where the engine is shared, the
//! thread that tends the graphs tries again, ever more seldom, since whoever mends it mends it from
//! outside; another server that can open it leads it as any other graph. An embedded engine has it
//! tried again with the next start, and lets it be dropped.

use std::collections::BTreeMap;

use parking_lot::RwLock;

use super::Registry;
use crate::error::{ErrorKind, GraphError};

/// Most rounds of tending between two attempts: about a minute.
const ROUNDS_BETWEEN_MAX: u32 = 127;

/// Why a graph could not be opened, and when that is tried again.
#[derive(Debug)]
struct Unopened {
    reason: String,
    /// Rounds of tending from one attempt to the next.
    rounds: u32,
    /// Those that are left.
    left: u32,
    /// The term in which another server had it when that was looked at last.
    led: Option<u64>,
}

/// The graphs that could not be opened, by name.
#[derive(Debug, Default)]
pub(super) struct UnopenedGraphs(RwLock<BTreeMap<String, Unopened>>);

impl UnopenedGraphs {
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

    /// Another server has it. Forgotten once that lasts: one that only tries to open it has it for
    /// a moment, too, and two servers that cannot must not spur each other on.
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

    /// It is open here, or gone.
    pub(super) fn forget(&self, name: &str) {
        if self.0.read().contains_key(name) {
            self.0.write().remove(name);
        }
    }

    /// Forgets those that `are_there` does not say.
    pub(super) fn keep_only(&self, are_there: impl Fn(&str) -> bool) {
        self.0.write().retain(|name, _| are_there(name));
    }

    /// Counts one round of tending; whether the graph is left alone in it.
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
    /// The graphs that cannot be opened here, by name, each with the reason. Reasons may name
    /// files.
    #[must_use]
    pub fn unopened(&self) -> Vec<(String, String)> {
        self.unopened.all()
    }

    /// Why that graph cannot be opened here, if that is why nobody leads it.
    #[must_use]
    pub fn why_unopened(&self, name: &str) -> Option<String> {
        self.unopened.reason(name)
    }

    /// What is answered about a graph that cannot be opened.
    pub(super) fn cannot_be_opened(&self, name: &str) -> Option<GraphError> {
        let reason = self.why_unopened(name)?;
        let reason = match self.is_shared() {
            true => reason.as_str(),
            // The reason of an embedded engine names files, which is for the log.
            false => "see the server's log (VRV-STORAGE)",
        };
        let message = format!("Graph '{name}' cannot be opened: {reason}");
        Some(GraphError::new(ErrorKind::Storage, message))
    }

    /// What is reported of a failure to open a graph: noted, unless waiting is enough.
    pub(super) fn note_unopened(&self, name: &str, error: GraphError) -> GraphError {
        if !is_for_good(&error) {
            return error;
        }
        self.unopened.note(name, error.message.clone());
        self.cannot_be_opened(name).unwrap_or(error)
    }
}

/// Whether waiting does not end what an error says.
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
