//! The result of a replay: a summary, and a Markdown file with every difference.

use std::fmt::Write as _;

use crate::replay::{Outcome, Verdict};
use crate::tables::DifferenceKind;

/// The share of in-scope exchanges of [`crate::TRANSCRIPT`] that must be equal, in percent. Seven
/// of the listed differences have the same cause: the original ignores filters of k-out and
/// k-neighbor.
pub const EQUAL_PERCENT_MIN: f64 = 95.0;
/// The same for [`crate::TRAVERSERS`], which was recorded to show defects: its list names each of
/// them.
pub const TRAVERSERS_EQUAL_PERCENT_MIN: f64 = 75.0;
/// The same for [`crate::AUTH`], which was recorded to show security holes. Half of the differing
/// exchanges are refusals that name another right.
pub const AUTH_EQUAL_PERCENT_MIN: f64 = 60.0;
/// The same for [`crate::AUTH_17`], in which most exchanges are refusals.
pub const AUTH_17_EQUAL_PERCENT_MIN: f64 = 50.0;

/// The numbers of a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// All exchanges.
    pub total: usize,
    /// Exchanges that are not listed as later, newer or following.
    pub in_scope: usize,
    /// Listed as newer or following, and different.
    pub beside: usize,
    /// In scope and equal.
    pub equal: usize,
    /// In scope, different, listed as mended.
    pub mended: usize,
    /// In scope, different, not listed.
    pub unlisted: usize,
    /// Listed as mended, newer or following, but equal.
    pub stale: Vec<usize>,
    /// Listed as later, but equal already.
    pub later_equal: Vec<usize>,
}

impl Summary {
    /// Counts the outcomes.
    #[must_use]
    pub fn of(outcomes: &[Outcome]) -> Self {
        let kind = |o: &Outcome| o.listed.as_ref().map(|entry| entry.kind);
        let is_later = |o: &Outcome| kind(o) == Some(DifferenceKind::Later);
        let equal_numbers = |later: bool| {
            let equal = outcomes.iter().filter(|o| o.verdict == Verdict::Equal);
            equal
                .filter(|o| o.listed.is_some() && is_later(o) == later)
                .map(|o| o.number)
                .collect::<Vec<_>>()
        };
        let in_scope: Vec<_> = outcomes.iter().filter(|o| is_in_scope(o)).collect();
        let count = |wanted: &Verdict| in_scope.iter().filter(|o| o.verdict == *wanted).count();
        let beside = outcomes
            .iter()
            .filter(|o| !is_in_scope(o) && !is_later(o) && o.verdict == Verdict::Listed);
        Self {
            total: outcomes.len(),
            in_scope: in_scope.len(),
            equal: count(&Verdict::Equal),
            mended: count(&Verdict::Listed),
            beside: beside.count(),
            unlisted: broken_promises(outcomes) + count(&Verdict::Unlisted),
            stale: equal_numbers(false),
            later_equal: equal_numbers(true),
        }
    }

    /// The equal share of the exchanges in scope, in percent.
    #[must_use]
    pub fn percent(&self) -> f64 {
        if self.in_scope == 0 {
            0.0
        } else {
            100.0 * self.equal as f64 / self.in_scope as f64
        }
    }

    /// Whether the replay passes: nothing unlisted, and enough is equal.
    #[must_use]
    pub fn passes(&self, equal_percent_min: f64) -> bool {
        self.unlisted == 0 && self.percent() >= equal_percent_min
    }

    /// The summary as lines of text.
    #[must_use]
    pub fn text(&self) -> String {
        let list = |numbers: &[usize]| {
            numbers
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut out = format!(
            "{} exchanges, {} in scope: {} equal ({:.1} %), {} different and listed, {} different \
             and not listed\n",
            self.total,
            self.in_scope,
            self.equal,
            self.percent(),
            self.mended,
            self.unlisted
        );
        if !self.stale.is_empty() {
            let stale = list(&self.stale);
            let _ = writeln!(out, "stale entries (listed, but equal): {stale}");
        }
        let _ = writeln!(
            out,
            "{} out of scope: {} as newer versions answer or following from what is listed, the \
             others not served yet ({} of them equal already)",
            self.total - self.in_scope,
            self.beside,
            self.later_equal.len()
        );
        if !self.later_equal.is_empty() {
            let _ = writeln!(out, "equal already: {}", list(&self.later_equal));
        }
        out
    }
}

/// Whether an exchange counts for the share of equal ones.
fn is_in_scope(outcome: &Outcome) -> bool {
    match &outcome.listed {
        None => true,
        Some(entry) => entry.kind == DifferenceKind::Mended,
    }
}

/// The number of exchanges out of scope whose answer breaks the promise of the list.
fn broken_promises(outcomes: &[Outcome]) -> usize {
    let beside = outcomes.iter().filter(|o| !is_in_scope(o));
    beside.filter(|o| o.verdict == Verdict::Unlisted).count()
}

/// The text for one outcome: its title and its differences.
#[must_use]
pub fn outcome_text(outcome: &Outcome) -> String {
    let mut out = format!("#{} {}\n", outcome.number, outcome.title);
    for line in &outcome.differences {
        let _ = writeln!(out, "    {line}");
    }
    out
}

/// The whole report in Markdown.
#[must_use]
pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut out = format!(
        "# Replay of the HugeGraph recording\n\n{}\n",
        Summary::of(outcomes).text()
    );
    let served = |o: &&Outcome| {
        let kind = o.listed.as_ref().map(|entry| entry.kind);
        kind != Some(DifferenceKind::Later)
    };
    out.push_str("## Different and not listed\n\n");
    for outcome in outcomes.iter().filter(|o| o.verdict == Verdict::Unlisted) {
        let _ = writeln!(out, "```\n{}```", outcome_text(outcome));
    }
    out.push_str(
        "\n## Different and listed\n\n| exchange | kind | request | why |\n|---|---|---|---|\n",
    );
    for outcome in outcomes
        .iter()
        .filter(served)
        .filter(|o| o.verdict == Verdict::Listed)
    {
        let Some(entry) = &outcome.listed else {
            continue;
        };
        let kind = format!("{:?}", entry.kind).to_lowercase();
        let reason = &entry.reason;
        let _ = writeln!(
            out,
            "| {} | {kind} | `{}` | {reason} |",
            outcome.number, outcome.title
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Difference;

    fn outcome(number: usize, verdict: Verdict, kind: Option<DifferenceKind>) -> Outcome {
        let listed = kind.map(|kind| Difference {
            kind,
            reason: "why".into(),
            status: None,
            contains: None,
        });
        Outcome {
            number,
            title: "GET /x".into(),
            verdict,
            listed,
            differences: vec!["d".into()],
        }
    }

    #[test]
    fn counts_by_scope_and_names_stale_entries() {
        use DifferenceKind::{Follows, Later, Mended, Newer};
        let mut outcomes: Vec<_> = (0..98).map(|n| outcome(n, Verdict::Equal, None)).collect();
        outcomes.push(outcome(98, Verdict::Listed, Some(Mended)));
        outcomes.push(outcome(99, Verdict::Equal, Some(Mended)));
        outcomes.push(outcome(100, Verdict::Listed, Some(Later)));
        outcomes.push(outcome(101, Verdict::Equal, Some(Later)));
        let summary = Summary::of(&outcomes);
        assert_eq!(
            (
                summary.total,
                summary.in_scope,
                summary.equal,
                summary.mended
            ),
            (102, 100, 99, 1)
        );
        assert_eq!(
            (summary.stale.as_slice(), summary.later_equal.as_slice()),
            (&[99][..], &[101][..])
        );
        assert!(summary.passes(EQUAL_PERCENT_MIN));
        outcomes.push(outcome(103, Verdict::Listed, Some(Newer)));
        outcomes.push(outcome(104, Verdict::Equal, Some(Follows)));
        let summary = Summary::of(&outcomes);
        assert_eq!((summary.in_scope, summary.beside), (100, 1));
        assert_eq!(summary.stale, [99, 104]);
        assert!(summary.passes(EQUAL_PERCENT_MIN));
        let broken = [
            outcomes.clone(),
            vec![outcome(105, Verdict::Unlisted, Some(Newer))],
        ]
        .concat();
        assert!(!Summary::of(&broken).passes(EQUAL_PERCENT_MIN));
        outcomes.push(outcome(102, Verdict::Unlisted, None));
        assert!(!Summary::of(&outcomes).passes(EQUAL_PERCENT_MIN));
        assert!(markdown(&outcomes).contains("#102 GET /x"));
    }

    #[test]
    fn too_few_equal_ones_fail() {
        let mut outcomes: Vec<_> = (0..94).map(|n| outcome(n, Verdict::Equal, None)).collect();
        outcomes
            .extend((94..100).map(|n| outcome(n, Verdict::Listed, Some(DifferenceKind::Mended))));
        assert!(!Summary::of(&outcomes).passes(EQUAL_PERCENT_MIN));
    }
}
