//! The machine that a run is on, for the result file.

use std::fs;

use super::result::Environment;

/// The commit that the tool was built from, when the build says so.
const COMMIT: Option<&str> = option_env!("VARVE_COMMIT");

/// What can be known before a run.
pub(crate) fn describe() -> Environment {
    Environment {
        cpu_model: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
        cpu_count: processors(),
        memory_bytes: field("/proc/meminfo", "MemTotal")
            .and_then(|text| text.split(' ').next()?.parse::<u64>().ok())
            .unwrap_or_default()
            * 1_024,
        disk: disk(),
        kernel: kernel(),
        system: system(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        tool_commit: COMMIT.map(str::to_owned),
        command_line: std::env::args().collect(),
        started: now(),
        somaxconn: read_number("/proc/sys/net/core/somaxconn"),
        load_average_start: load_average(),
        ..Environment::default()
    }
}

/// The time, UTC, RFC 3339, in milliseconds.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    let rounded = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    format!("{rounded:.3}")
}

/// Processors that this process may use.
pub(crate) fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// Load average of the last minute.
pub(crate) fn load_average() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|it| it.parse().ok())
        .unwrap_or_default()
}

fn read_number(path: &str) -> u64 {
    fs::read_to_string(path)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or_default()
}

/// The value of the first `name: value` line.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn kernel() -> String {
    let uname = rustix::system::uname();
    format!(
        "{} {}",
        uname.sysname().to_string_lossy(),
        uname.release().to_string_lossy()
    )
}

fn system() -> String {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(
            || "unknown".to_owned(),
            |name| name.trim_matches('"').to_owned(),
        )
}

/// Device and file system of the working directory: the longest mount point above it.
fn disk() -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            let (device, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
            here.starts_with(point)
                .then(|| (point.len(), format!("{device}, {kind}")))
        })
        .max()
        .map_or_else(|| "unknown".to_owned(), |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_described() {
        let environment = describe();
        assert!(environment.cpu_count > 0);
        assert!(environment.memory_bytes > 1 << 20);
        assert!(
            environment.kernel.starts_with("Linux "),
            "{}",
            environment.kernel
        );
        assert!(
            environment.started.ends_with('Z'),
            "{}",
            environment.started
        );
        assert_eq!(environment.started.len(), "2026-01-01T00:00:00.000Z".len());
    }
}
