//! The result file of all suites: the commands, the machine and the results.
//!
//! These types define the file, and `docs/bench.md` describes each field. Times are in microseconds
//! if a name ends in `_us`, in seconds if it ends in `_s`, and in nanoseconds for `_ns`; sizes are
//! in bytes. Unknown values are absent. [`FORMAT`] is incremented when a field changes its meaning.

mod load;
mod row;
mod volume;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

pub use crate::environment::Environment;
pub use crate::histogram::Buckets;
pub use load::{Load, Model};
pub use row::{
    Columns, Connections, Corrected, Cpu, ErrorExample, Generator, Memory, More, Row, Second,
    Verification,
};
pub use volume::{FailedCase, ProfileRun, VolumeRun};

/// Version of the file format.
pub const FORMAT: u32 = 2;
/// Exit code for missed thresholds, wrong answers or missing data.
pub(crate) const EXIT_FAILED: u8 = 3;

/// A whole result file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultFile {
    /// [`FORMAT`] of the tool that wrote it.
    pub format: u32,
    /// `api`, `metadata` or `limits`.
    pub suite: String,
    /// The title of the run: `--title`, or the command's name.
    pub title: String,
    /// Machine, tool and command line.
    pub environment: Environment,
    /// The servers measured; rows name them by [`Server::name`].
    pub servers: Vec<Server>,
    /// `api`: one row for each scenario, load and server, skipped ones included. `metadata`: one
    /// row for each volume, profile and method. `limits`: one for each scenario, side and turn.
    pub rows: Vec<Row>,
    /// The results of `--limit-search`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitFound>,
    /// The volumes of the open-metadata suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<VolumeRun>,
}

/// A measured server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Server {
    /// Short name, unique in the file: `varve`, `hugegraph`.
    pub name: String,
    /// Base address.
    pub url: String,
    /// The graph used; of an open-metadata repository its server name.
    pub graph: String,
    /// `short` (`/graphs/g/…`) or `graph-space` (`/graphspaces/DEFAULT/graphs/g/…`).
    pub paths: String,
    /// Its core version: `core` of `GET /versions`.
    pub core_version: Option<String>,
    /// `api` of `GET /versions`.
    pub api_version: Option<String>,
    /// Name and version of the program, if known (`service` and `version` of `GET /`).
    pub service: Option<String>,
    /// When a write is acknowledged: `sync`, `interval:<ms>`, `none`, or a description for other
    /// servers. Absent when unknown.
    pub durability: Option<String>,
    /// Its storage engine, if known.
    pub engine: Option<String>,
    /// Its process, if it runs on this machine.
    pub pid: Option<u32>,
    /// The command line of its process.
    pub command_line: Option<String>,
    /// Remarks, such as the result of verifying its store.
    pub notes: Vec<String>,
}

/// The upper limit that a search found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitFound {
    /// [`Server::name`].
    pub server: String,
    /// Scenario and variant.
    pub label: String,
    /// The most users of a clean step: no condition held and the generator kept up. Absent when the
    /// first step already failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_clean: Option<u32>,
    /// The fewest users of a step that failed. Absent when the search ended at its own maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<u32>,
    /// Why the first failed step failed.
    pub reason: String,
    /// Indexes of the search's rows in [`ResultFile::rows`], in the order of execution.
    pub rows: Vec<u32>,
}

/// Leaves out fields of a row that its suite does not have.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ResultFile {
    /// Reads a result file.
    ///
    /// # Errors
    /// When it cannot be read, or has another format.
    pub fn read(path: &Path) -> Result<Self> {
        /// The beginning of a file of any format.
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            format: Option<u32>,
        }
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("reading {shown}"))?;
        let is_none = || format!("{shown} is not a result file");
        let head: Head = serde_json::from_str(&text).with_context(is_none)?;
        let format = head.format.with_context(is_none)?;
        ensure!(
            format == FORMAT,
            "{shown}: format {format} is not known to this tool, which knows {FORMAT}"
        );
        serde_json::from_str(&text).with_context(is_none)
    }

    /// Writes the file. Replaces an existing file atomically, so that a reader never sees half of
    /// it; a device or a pipe, such as /dev/stdout, is written in place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(self).context("the result as JSON")? + "\n";
        // A link stays a link.
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let is_special = path.starts_with("/dev") || path.starts_with("/proc");
        if is_special || (target.exists() && !target.is_file()) {
            return put(path, &text);
        }
        let mut beside = target.as_os_str().to_owned();
        beside.push(".new");
        put(Path::new(&beside), &text)?;
        std::fs::rename(&beside, &target).with_context(|| format!("writing {}", path.display()))
    }

    /// The server with this name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.name == name)
    }

    /// Rows that ran.
    pub fn measured(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.skipped.is_none())
    }
}

/// Writes text to a file.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn put(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn file(title: &str) -> ResultFile {
        let row = Row {
            server: "varve".into(),
            label: "vertex_by_id".into(),
            series: vec![Second {
                samples: 7,
                ..Second::default()
            }],
            histogram_ns: Buckets(vec![(10, 3), (20, 1)]),
            ..Row::default()
        };
        ResultFile {
            format: FORMAT,
            title: title.to_owned(),
            rows: vec![row],
            ..ResultFile::default()
        }
    }

    #[test]
    fn what_is_written_is_read_again_and_replaced_through_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("a.json"), folder.path().join("link"));
        file("one").write(&path).expect("written");
        assert_eq!(ResultFile::read(&path).expect("read"), file("one"));
        symlink("a.json", &link).expect("linked");
        let old = std::fs::File::open(&path).expect("there");
        file("two").write(&link).expect("written");
        assert!(link.is_symlink());
        assert_eq!(ResultFile::read(&path).expect("read"), file("two"));
        let old = std::io::read_to_string(old).expect("whole");
        assert!(old.contains("\"one\""), "the old file is not overwritten");
        file("three")
            .write(Path::new("/dev/null"))
            .expect("written");
    }

    /// Collects the names of all fields below a value.
    fn names(value: &serde_json::Value, found: &mut Vec<String>) {
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    found.push(name.clone());
                    names(value, found);
                }
            }
            serde_json::Value::Array(values) => values.iter().for_each(|it| names(it, found)),
            _ => {}
        }
    }

    #[test]
    fn every_field_is_documented() {
        let row = Row {
            corrected: Some(Corrected::default()),
            corrected_histogram_ns: Some(Buckets::default()),
            server_memory: Some(Memory::default()),
            verification: Some(Verification::default()),
            error_examples: vec![ErrorExample::default()],
            series: vec![Second::default()],
            calls_min: 1,
            calls_max: Some(1),
            ..Row::default()
        };
        let file = ResultFile {
            servers: vec![Server::default()],
            rows: vec![row],
            limits: vec![LimitFound::default()],
            volumes: vec![VolumeRun {
                profiles: vec![ProfileRun::default()],
                failures: vec![FailedCase::default()],
                ..VolumeRun::default()
            }],
            ..ResultFile::default()
        };
        let mut found = Vec::new();
        names(&serde_json::to_value(&file).expect("JSON"), &mut found);
        let page = include_str!("../../../../docs/bench.md");
        for name in found {
            assert!(
                page.contains(&format!("`{name}`")) || page.contains(&format!("`{name}[]`")),
                "docs/bench.md does not have `{name}`"
            );
        }
    }

    #[test]
    fn another_format_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        for (text, why) in [
            ("{\"format\":99}", "format 99"),
            ("[]", "not a result file"),
            ("{\"rows\":[]}", "not a result file"),
        ] {
            std::fs::write(&path, text).expect("written");
            let error = ResultFile::read(&path).expect_err("refused").to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
