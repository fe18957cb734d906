//! Numbers from the environment that repeat a run or make it longer.

/// The number in a variable of the environment.
pub(crate) fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
}

/// Where random choices begin: `VARVE_CRASH_SEED`, or the clock.
pub(crate) fn seed() -> u64 {
    number_from("VARVE_CRASH_SEED").unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |since| u64::from(since.subsec_nanos()))
    })
}
