//! What the operating system says of this process and machine, from `/proc`.

use std::fs;
use std::time::Instant;

use crate::config::cores;
use crate::json::JsonWriter;

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

/// Memory of this process in bytes; 0 where it cannot be told.
pub(super) fn resident_bytes() -> usize {
    field(&read("/proc/self/status"), "VmRSS") as usize * 1024
}

/// Writes the object of `/metrics/system`. Memory is in MB, as `mem_unit` says. What only a Java process has is 0.
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
        assert!(resident_bytes() > 100_000);
    }
}
