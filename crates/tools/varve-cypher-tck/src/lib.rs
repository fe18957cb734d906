//! The scenarios of openCypher's TCK: [`gherkin`] reads feature files into steps, [`literal`] reads
//! expected values, and [`compare`] compares results with them. The runners are tests.

pub mod compare;
pub mod gherkin;
pub mod literal;
