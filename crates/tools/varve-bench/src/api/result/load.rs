//! How requests were sent.

use serde::{Deserialize, Serialize};

/// How requests were sent.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// N users, each with at most one request per period, as in the published tests.
    #[default]
    Paced,
    /// N users, each of whom sends its next request at once after an answer.
    Closed,
    /// A fixed rate, independent of the answers.
    Open,
}

impl Model {
    /// The word used in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paced => "paced",
            Self::Closed => "closed",
            Self::Open => "open",
        }
    }
}

/// The load of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// The model.
    pub model: Model,
    /// Users of the paced and the closed model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Requests a second of the open model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open model: exponential gaps instead of even ones.
    pub poisson: bool,
    /// Open model: the most requests in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Paced model: time between two requests of a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// Time in which users start, and in paced rows time in which they stop.
    pub ramp_s: f64,
    /// Time with all users.
    pub hold_s: f64,
    /// Warm-up before the measurement.
    pub warmup_s: f64,
}
