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
}

/// The load of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Load {
    /// The model.
    pub model: Model,
    /// The number of users.
    pub users: u32,
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

impl Load {
    /// A short description.
    #[must_use]
    pub fn text(&self) -> String {
        let Self {
            users,
            ramp_s,
            hold_s,
            ..
        } = self;
        match self.model {
            Model::Paced => format!("paced {users} users, {ramp_s} s + {hold_s} s"),
            Model::Closed if *hold_s == 0.0 => format!("closed {users} users"),
            Model::Closed => format!("closed {users} users, {hold_s} s"),
        }
    }
}
