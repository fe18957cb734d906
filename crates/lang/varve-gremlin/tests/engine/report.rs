//! Compares the scenarios that pass with a list of those that do not.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::feature::Scenario;

/// The scenarios in a list: one in each line, with the reason after a tab.
pub(crate) fn listed(list: &str) -> BTreeSet<String> {
    list.lines()
        .map(|line| line.split('\t').next().unwrap_or("").trim().to_owned())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

/// The results of all scenarios.
#[derive(Default)]
pub(crate) struct Report {
    passed: usize,
    /// Names and reasons.
    failed: Vec<(String, String)>,
    /// The names of all scenarios that ran.
    pub(crate) ran: BTreeSet<String>,
}

impl Report {
    /// Runs a scenario. A panic is a failure. A failure that `excused` accepts is ignored.
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

    /// Fails unless the listed scenarios are exactly those that failed. Writes the failures to the
    /// file in the environment variable `VARVE_GREMLIN_FAILED`, if it is set.
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
