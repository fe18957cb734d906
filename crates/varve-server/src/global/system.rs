//! Figures of this process and machine, from `/proc`.

use std::fs;
use std::time::Instant;

use crate::config::cores;
use crate::json::JsonWriter;
use crate::metrics::Gauge;

/// A field of a file with lines like `VmRSS:   1234 kB`; 0 if it is not there.
fn field(text: &str, name: &str) -> u64 {
    text.lines()
        .find_map(|line| {
            line.strip_prefix(name)?
                .strip_prefix(':')?
                .split_whitespace()
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or(0)
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The figures of this process, under Prometheus's common names. Empty without `/proc`.
pub(super) fn process() -> Vec<Gauge> {
    let stat = read("/proc/self/stat");
    // The name of the program, in brackets, may hold anything.
    let Some((_, rest)) = stat.rsplit_once(") ") else {
        return Vec::new();
    };
    let fields: Vec<f64> = rest
        .split_ascii_whitespace()
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    // As proc(5) numbers them; the state, which comes first here, is the third.
    let field = |number: usize| fields.get(number - 3).copied().unwrap_or(0.0);
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    let open = fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let gauge = |name, help, value| Gauge { name, help, value };
    vec![
        gauge(
            "process_cpu_seconds_total",
            "User and system CPU time of this process, in seconds.",
            processor_seconds(),
        ),
        gauge("process_open_fds", "Open file descriptors.", open as f64),
        gauge(
            "process_max_fds",
            "The limit of open file descriptors.",
            limit.map_or(f64::INFINITY, |limit| limit as f64),
        ),
        gauge("process_threads", "Threads of this process.", field(20)),
        gauge(
            "process_virtual_memory_bytes",
            "Virtual memory of this process, in bytes.",
            field(23),
        ),
        gauge(
            "process_resident_memory_bytes",
            "Resident memory of this process, in bytes.",
            field(24) * rustix::param::page_size() as f64,
        ),
        gauge(
            "process_start_time_seconds",
            "Start time of this process, in seconds since 1970.",
            booted() + field(22) / ticks,
        ),
    ]
}

/// Processor time of this process: not from `/proc`, which counts hundredths of a second.
fn processor_seconds() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// When the machine started, in seconds since 1970.
fn booted() -> f64 {
    let stat = read("/proc/stat");
    let line = stat.lines().find_map(|line| line.strip_prefix("btime "));
    line.and_then(|text| text.trim().parse().ok())
        .unwrap_or(0.0)
}

/// Writes the object of `/metrics/system`. Memory is in MB, as `mem_unit` says. Figures that only a
/// Java process has are 0.
pub(super) fn write(started: Instant, json: &mut JsonWriter) {
    let (status, memory) = (read("/proc/self/status"), read("/proc/meminfo"));
    let megabytes = |text: &str, name: &str| (field(text, name) / 1024) as i64;
    let resident = megabytes(&status, "VmRSS");
    let total = megabytes(&memory, "MemTotal");
    let load = read("/proc/loadavg")
        .split(' ')
        .next()
        .and_then(|text| text.parse().ok());
    json.begin_object();
    json.key("basic").begin_object();
    json.key("mem").integer(resident);
    json.key("mem_total").integer(total);
    json.key("mem_used").integer(resident);
    json.key("mem_free")
        .integer(megabytes(&memory, "MemAvailable"));
    json.key("mem_unit").string("MB");
    json.key("processors").unsigned(cores() as u64);
    json.key("uptime")
        .unsigned(started.elapsed().as_millis() as u64);
    json.key("systemload_average").double(load.unwrap_or(0.0));
    json.end_object();
    let used = megabytes(&status, "RssAnon");
    numbers(
        json,
        "heap",
        &[
            ("committed", resident),
            ("init", 0),
            ("used", used),
            ("max", total),
        ],
    );
    numbers(
        json,
        "nonheap",
        &[("committed", 0), ("init", 0), ("used", 0), ("max", 0)],
    );
    let threads = field(&status, "Threads") as i64;
    let counts = [
        ("peak", threads),
        ("daemon", 0),
        ("total_started", threads),
        ("count", threads),
    ];
    numbers(json, "thread", &counts);
    numbers(
        json,
        "class_loading",
        &[("count", 0), ("loaded", 0), ("unloaded", 0)],
    );
    json.key("garbage_collector")
        .begin_object()
        .key("time_unit")
        .string("ms")
        .end_object();
    json.end_object();
}

fn numbers(json: &mut JsonWriter, name: &str, values: &[(&str, i64)]) {
    json.key(name).begin_object();
    for (key, value) in values {
        json.key(key).integer(*value);
    }
    json.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_by_their_whole_name() {
        let text = "VmRSSX:\t 5 kB\nVmRSS:\t  1234 kB\n";
        assert_eq!(field(text, "VmRSS"), 1234);
        assert_eq!(field(text, "Vm"), 0);
    }

    #[test]
    fn a_process_tells_its_time_memory_and_start() {
        let figures = process();
        let value = |name: &str| {
            let figure = figures.iter().find(|figure| figure.name == name);
            figure.map(|figure| figure.value).expect(name)
        };
        assert!(value("process_resident_memory_bytes") > 100_000.0);
        assert!(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_max_fds") >= value("process_open_fds"));
        assert!(value("process_threads") >= 1.0);
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .expect("the clock is past 1970")
            .as_secs_f64();
        let age = now - value("process_start_time_seconds");
        assert!((-2.0..86_400.0).contains(&age), "{age}");
    }
}
