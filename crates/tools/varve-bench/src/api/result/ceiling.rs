//! The results of `varve bench limits`.

use serde::{Deserialize, Serialize};

/// A scenario on Varve, and its ceilings in the same run: the bare engine and the bare HTTP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CeilingRow {
    /// Scenario.
    pub label: String,
    /// Durability of Varve and of the engines.
    pub durability: String,
    /// Elements a request carries.
    pub items_per_request: u32,
    /// Connections of Varve and of the bare server.
    pub users: u32,
    /// Varve, through HTTP.
    pub ours: Measured,
    /// The ceilings: `rocksdb`, `front table`, `bare http`.
    pub ceilings: Vec<Ceiling>,
}

/// A ceiling.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ceiling {
    /// The name of the engine or server that got the same bytes.
    pub name: String,
    /// Its measurement.
    pub measured: Measured,
    /// Varve's items/s ÷ its items/s.
    pub ratio_rate: f64,
    /// Its CPU time an item ÷ Varve's.
    pub ratio_cpu: f64,
}

/// Work done and its price.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// Elements.
    pub items: u64,
    /// Wall-clock time.
    pub elapsed_s: f64,
    /// CPU time of the measured process.
    pub cpu_s: f64,
    /// Elements a second of wall clock.
    pub items_per_s: f64,
    /// CPU time an element.
    pub cpu_us_per_item: f64,
    /// Median answer time, for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_us: Option<u64>,
    /// 99 % answer time, for servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line99_us: Option<u64>,
}
