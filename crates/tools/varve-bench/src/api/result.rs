//! The JSON result file of `varve-bench`: the commands, the machine and the results.
//!
//! These types define the file, and `docs/bench.md` describes each field. Times are in microseconds
//! if a name ends in `_us`, in seconds if it ends in `_s`; sizes are in bytes. Unknown values are
//! absent. Readers accept absent fields, so that a newer tool reads older files; [`FORMAT`] is
//! incremented when a field changes its meaning.

mod load;
mod row;
mod server;

use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::result::Form;

pub use crate::environment::Environment;
pub use crate::result::Buckets;
pub use load::{Load, Model};
pub use row::{
    Columns, Connections, Corrected, Cpu, ErrorExample, Generator, Memory, More, Row, Second,
    Verification,
};
pub use server::Server;

/// Version of the file format.
pub const FORMAT: u32 = 1;

/// Files of the load tests.
pub(crate) const FORM: Form = Form {
    suite: "",
    command: "varve-bench api",
    oldest: 1,
    newest: FORMAT,
};

/// A whole result file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResultFile {
    /// [`FORMAT`] of the tool that wrote it.
    pub format: u32,
    /// The title of the run: `--title`, or the command's name.
    pub title: String,
    /// Machine, tool and command line.
    pub environment: Environment,
    /// The servers measured; rows name them by [`Server::name`].
    pub servers: Vec<Server>,
    /// One row for each scenario, load and server, in the order of execution. Skipped rows are
    /// included, with the reason.
    pub rows: Vec<Row>,
    /// The results of `--limit-search`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitFound>,
}

/// The upper limit that a search found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitFound {
    /// [`Server::name`].
    pub server: String,
    /// Scenario and variant.
    pub label: String,
    /// The quantity that was raised: `users` or `rate`.
    pub raised: String,
    /// The last clean step: no condition held and the generator kept up. Absent when the first step
    /// already failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_clean: Option<f64>,
    /// The first step that failed. Absent when the search ended at its own maximum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<f64>,
    /// Why the first failed step failed.
    pub reason: String,
    /// Indexes of the search's rows in [`ResultFile::rows`], in the order of execution.
    pub rows: Vec<u32>,
}

impl ResultFile {
    /// Reads a result file.
    ///
    /// # Errors
    /// When it cannot be read, has another format, or was written by a newer tool.
    pub fn read(path: &Path) -> Result<Self> {
        FORM.read(path)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        crate::result::write(self, path)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let row = Row {
            server: "varve".into(),
            label: "vertex_by_id".into(),
            series: vec![Second {
                samples: 7,
                ..Second::default()
            }],
            histogram: Buckets(vec![(10, 3), (20, 1)]),
            ..Row::default()
        };
        let file = ResultFile {
            format: FORMAT,
            rows: vec![row],
            ..ResultFile::default()
        };
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("a.json");
        file.write(&path).expect("written");
        assert_eq!(ResultFile::read(&path).expect("read"), file);
        let text = std::fs::read_to_string(&path).expect("text");
        assert!(text.contains("[10,3]"), "{text}");
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
            corrected_histogram: Some(Buckets::default()),
            server_memory: Some(Memory::default()),
            verification: Some(Verification::default()),
            error_examples: vec![ErrorExample::default()],
            series: vec![Second::default()],
            ..Row::default()
        };
        let file = ResultFile {
            servers: vec![Server::default()],
            rows: vec![row],
            limits: vec![LimitFound::default()],
            ..ResultFile::default()
        };
        let mut found = Vec::new();
        names(&serde_json::to_value(&file).expect("JSON"), &mut found);
        let page = include_str!("../../../../../docs/bench.md");
        for name in found {
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/bench.md does not have `{name}`"
            );
        }
    }

    #[test]
    fn a_newer_form_is_refused() {
        let directory = tempfile::tempdir().expect("a folder");
        let path = directory.path().join("a.json");
        std::fs::write(&path, r#"{"format":99}"#).expect("written");
        let error = ResultFile::read(&path).expect_err("refused").to_string();
        assert!(error.contains("99"), "{error}");
    }
}
