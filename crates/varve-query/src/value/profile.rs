//! The results of `profile()`: the number of values that each step gave, and its time.

use std::fmt;

/// Metrics of a query's steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The steps, first to last.
    pub steps: Vec<StepMetrics>,
}

/// Metrics of one step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepMetrics {
    /// The step as text.
    pub name: String,
    /// Its time in nanoseconds, without the steps before it.
    pub nanoseconds: u64,
    /// The number of rows that it gave. Equal values may be one row.
    pub traversers: u64,
    /// The number of values that it gave.
    pub elements: u64,
    /// Metrics of the steps of its children.
    pub nested: Vec<Self>,
}

impl Profile {
    /// The total time in nanoseconds.
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
