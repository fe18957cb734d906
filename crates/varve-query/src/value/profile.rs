//! What `profile()` reports: how many values each step gave, and how long it took.

use std::fmt;

/// What the steps of a query did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The steps, first to last.
    pub steps: Vec<StepMetrics>,
}

/// What one step did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepMetrics {
    /// The step as text.
    pub name: String,
    /// Nanoseconds that it took, without those of the steps before it.
    pub nanoseconds: u64,
    /// Rows that it gave: equal values are one row.
    pub traversers: u64,
    /// Values that it gave.
    pub elements: u64,
    /// What the steps of its children did.
    pub nested: Vec<Self>,
}

impl Profile {
    /// Nanoseconds in all.
    #[must_use]
    pub fn nanoseconds(&self) -> u64 {
        self.steps.iter().map(|step| step.nanoseconds).sum()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.steps.iter().map(StepMetrics::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for StepMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, elements, traversers) = (&self.name, self.elements, self.traversers);
        let micros = self.nanoseconds / 1_000;
        write!(
            f,
            "{name}: {elements} elements, {traversers} rows, {micros} µs"
        )
    }
}
