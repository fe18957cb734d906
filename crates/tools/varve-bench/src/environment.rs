//! The machine of a run, for the result file.

use std::ffi::CStr;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The commit of the build, if the build sets it.
const COMMIT: Option<&str> = option_env!("VARVE_COMMIT");

/// The machine and the command.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// The user's name for the machine: `--machine`.
    pub machine: Option<String>,
    /// From `/proc/cpuinfo`.
    pub cpu_model: String,
    /// Logical processors that the tool may use.
    pub cpu_count: u32,
    /// All memory of the machine.
    pub memory_bytes: u64,
    /// File system and device of the working directory.
    pub disk: String,
    /// `uname -sr`.
    pub kernel: String,
    /// Name and version of the distribution.
    pub system: String,
    /// Version of the tool.
    pub tool_version: String,
    /// Commit the tool was built from, if known.
    pub tool_commit: Option<String>,
    /// The command line, word by word.
    pub command_line: Vec<String>,
    /// Seed of payloads and choices.
    pub seed: u64,
    /// Prefix of the run's ids, so that elements of different runs never have the same id.
    pub run_prefix: String,
    /// Start, UTC, RFC 3339.
    pub started: String,
    /// End, UTC, RFC 3339.
    pub ended: String,
    /// The limit of open files of the tool.
    pub open_files_max: u64,
    /// Accept queue limit of the kernel.
    pub somaxconn: u64,
    /// Load average of one minute at the start: other work on the machine.
    pub load_average_start: f64,
    /// Load average of one minute at the end.
    pub load_average_end: f64,
    /// Threads that sent requests.
    pub generator_threads: u32,
    /// Warnings for a reader: limits that were too low, other processes on the machine.
    pub warnings: Vec<String>,
}

impl Environment {
    /// The facts that are known before a run with this seed and number of threads. `data`: the
    /// folder below which the server keeps its data, if the run starts it.
    pub(crate) fn new(data: Option<&Path>, machine: Option<&str>, seed: u64, threads: u32) -> Self {
        let memory = field("/proc/meminfo", "MemTotal");
        let memory = memory.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        Self {
            machine: machine.map(str::to_owned),
            cpu_model: field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned()),
            cpu_count: processors(),
            memory_bytes: memory.unwrap_or_default() * 1_024,
            disk: disk(data),
            kernel: kernel(),
            system: system(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            tool_commit: COMMIT.map(str::to_owned),
            command_line: std::env::args().collect(),
            seed,
            started: now(),
            somaxconn: first_number("/proc/sys/net/core/somaxconn"),
            load_average_start: load_average(),
            generator_threads: threads,
            ..Self::default()
        }
    }

    /// Sets the end of the run to now.
    pub(crate) fn end(&mut self) {
        self.ended = now();
        self.load_average_end = load_average();
    }
}

/// The current time, UTC, RFC 3339, in milliseconds.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    let rounded = now.round(jiff::Unit::Millisecond).unwrap_or(now);
    format!("{rounded:.3}")
}

/// Processors that this process may use.
pub(crate) fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

fn load_average() -> f64 {
    first_number("/proc/loadavg")
}

/// The first number of a file; 0 if there is none.
fn first_number<N: FromStr + Default>(path: &str) -> N {
    let text = fs::read_to_string(path).unwrap_or_default();
    let first = text.split_whitespace().next().unwrap_or_default();
    first.parse().unwrap_or_default()
}

/// The value of the first line `name: value` of a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim().to_owned())
    })
}

fn kernel() -> String {
    let uname = rustix::system::uname();
    let parts = [uname.sysname(), uname.release()];
    parts.map(CStr::to_string_lossy).join(" ")
}

fn system() -> String {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="));
    name.unwrap_or("unknown").trim_matches('"').to_owned()
}

/// Device and file system of the data, and whether that is memory. If the server was running
/// before, its folder is unknown, and the text is about the tool's own folder.
fn disk(data: Option<&Path>) -> String {
    let (folder, remark) = match data {
        Some(folder) => (folder, ""),
        None => (
            Path::new("."),
            " (of the tool's folder; the server chose its own)",
        ),
    };
    // Mount points have no symbolic links.
    let folder = fs::canonicalize(folder).unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let disk = mounted(&mounts, &folder).unwrap_or_else(|| "unknown".to_owned());
    format!("{disk}{remark}")
}

/// Device and file system of the longest mount point above `folder`. If several are mounted there,
/// the last one hides the others.
fn mounted(mounts: &str, folder: &Path) -> Option<String> {
    let above = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ');
        let (device, point, kind) = (fields.next()?, fields.next()?, fields.next()?);
        let point = unescaped(point);
        folder
            .starts_with(&point)
            .then_some((point.len(), device, kind))
    });
    let (_, device, kind) = above.max_by_key(|(length, _, _)| *length)?;
    let memory = matches!(kind, "tmpfs" | "ramfs" | "devtmpfs");
    let remark = if memory { ": memory, not a disk" } else { "" };
    Some(format!("{device}, {kind}{remark}"))
}

/// The kernel writes white space and backslashes in paths as octal numbers.
fn unescaped(point: &str) -> String {
    let blanks = point.replace("\\040", " ").replace("\\011", "\t");
    blanks.replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_described() {
        let environment = Environment::new(Some(&std::env::temp_dir()), None, 1, 1);
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

    #[test]
    fn the_disk_is_the_one_below_the_data() {
        let mounts = "/dev/vda1 / ext4 rw 0 0\n\
                      tmpfs /tmp tmpfs rw 0 0\n\
                      /dev/vdb1 /tmp/my\\040disk ext4 rw 0 0\n\
                      /dev/vdc1 /data xfs rw 0 0\n\
                      overlay /data overlay rw 0 0\n";
        let of = |folder: &str| mounted(mounts, Path::new(folder)).expect("a mount");
        assert_eq!(of("/home/me"), "/dev/vda1, ext4");
        assert_eq!(of("/tmp/x"), "tmpfs, tmpfs: memory, not a disk");
        assert_eq!(of("/tmp/my disk/x"), "/dev/vdb1, ext4");
        assert_eq!(of("/temporary"), "/dev/vda1, ext4", "whole names");
        assert_eq!(of("/data"), "overlay, overlay", "the last hides the first");
    }

    #[test]
    fn a_disk_that_may_not_be_the_datas_is_marked() {
        assert!(disk(None).contains("the server chose its own"));
        let temporary = disk(Some(&std::env::temp_dir()));
        assert!(!temporary.contains("chose"), "{temporary}");
    }
}
