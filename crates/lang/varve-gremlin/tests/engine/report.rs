//! Which scenarios pass, beside a list of those that do not yet.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::feature::Scenario;

/// The scenarios that a list names: one a line, what follows a tab is the reason.
pub(crate) fn listed(list: &str) -> BTreeSet<String> {
    list.lines()
        .map(|line| line.split('\t').next().unwrap_or("").trim().to_owned())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

/// Which scenarios pass.
#[derive(Default)]
pub(crate) struct Report {
    passed: usize,
    /// Names and reasons.
    failed: Vec<(String, String)>,
    /// Names of all that ran.
    pub(crate) ran: BTreeSet<String>,
}

impl Report {
    /// Runs a scenario. One that panics fails; a failure that `excused` holds of does not count.
    pub(crate) fn run(
        &mut self,
        scenario: &Scenario,
        run: impl FnOnce() -> Result<(), String>,
        excused: impl FnOnce(&str) -> bool,
    ) {
        self.ran.insert(scenario.name.clone());
        let caught = catch_unwind(AssertUnwindSafe(run));
        match caught.unwrap_or_else(|_| Err("panic".to_owned())) {
            Ok(()) => self.passed += 1,
            Err(why) if excused(&why) => {}
            Err(why) => self.failed.push((scenario.name.clone(), why)),
        }
    }

    /// Fails unless the scenarios that are listed are exactly those that failed. The environment
    /// variable `VARVE_GREMLIN_FAILED` names a file that takes what failed.
    pub(crate) fn check(&self, listed: &BTreeSet<String>) {
        if let Ok(path) = std::env::var("VARVE_GREMLIN_FAILED") {
            let lines: Vec<String> = self
                .failed
                .iter()
                .map(|(name, why)| format!("{name}\t{}", why.replace('\n', " ")))
                .collect();
            std::fs::write(path, lines.join("\n") + "\n").expect("the list of what failed");
        }
        let names: BTreeSet<String> = self.failed.iter().map(|(name, _)| name.clone()).collect();
        let is_new = |(name, _): &&(String, String)| !listed.contains(name);
        let new: Vec<&(String, String)> = self.failed.iter().filter(is_new).collect();
        let better: Vec<&String> = listed.difference(&names).collect();
        println!("{} passed, {} do not", self.passed, self.failed.len());
        assert!(
            new.is_empty(),
            "{} fail now, beside {} that pass: {new:#?}",
            new.len(),
            self.passed
        );
        assert!(
            better.is_empty(),
            "pass now, or are no scenarios, so leave the list: {better:#?}"
        );
    }
}
