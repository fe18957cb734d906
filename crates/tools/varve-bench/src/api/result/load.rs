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
    /// N users, each of whom sends its next request as soon as the last one is answered.
    Closed,
    /// A fixed rate, independent of the answers.
    Open,
}

impl Model {
    /// The name in files and on the command line.
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
    /// Paced and closed model: the number of users.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<u32>,
    /// Open model: requests per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Open model: exponential gaps instead of even ones.
    pub poisson: bool,
    /// Open model: the most requests in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_in_flight: Option<u32>,
    /// Paced model: the time between two planned requests of a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub period_s: Option<f64>,
    /// The time in which users start one after another. In the paced model, they stop in as long a
    /// time.
    pub ramp_s: f64,
    /// The time with all users.
    pub hold_s: f64,
    /// Warm-up before the measurement.
    pub warmup_s: f64,
}
