//! The entries of references between vertices, and of files of labels that the graph has.

use std::fmt::Write as _;

use serde_json::json;

use super::super::known::{Known, KnownLink, Rows};
use super::super::relate::{Link, Role};
use super::super::{GoesOn, Note, names};
use super::{Draft, add};

impl Draft<'_> {
    /// Adds an edge for each reference of a table of vertices.
    pub(super) fn links(&mut self, at: usize, goes_on: GoesOn) -> Result<(), String> {
        let (known, role) = (&self.known[at], &self.related[at].role);
        let (own_key, found): (&[usize], &[Link]) = match role {
            Role::Vertices { key, links } => (key, links),
            Role::Edges { .. } => (&[], &[]),
        };
        let (key, of_graph): (&[usize], &[KnownLink]) = match known.as_ref().map(|it| &it.rows) {
            Some(Rows::Edges { .. }) => return Ok(()),
            Some(Rows::Vertices { key, links, .. }) => (key, links),
            None => (own_key, &[]),
        };
        for link in of_graph {
            self.check(goes_on)?;
            self.link(at, key, (link.column, &link.label, &link.target));
        }
        // Of a label of the graph, other columns may be references that it has not yet.
        let is_new = |link: &&Link| match known {
            Some(known) => known.ignored.contains(&link.column),
            None => true,
        };
        for link in found.iter().filter(is_new).filter(|_| !key.is_empty()) {
            self.check(goes_on)?;
            let table = &self.tables[at];
            let stem = names::stem(&table.names[link.column]).join("_");
            let label = format!("{}_{stem}", table.label);
            let target = &self.tables[link.to].label;
            self.link(at, key, (link.column, &label, target));
            let made = json!({
                "name": label, "source_label": table.label, "target_label": target,
                "properties": [], "nullable_keys": [],
            });
            add(&mut self.edge_labels, made);
        }
        Ok(())
    }

    /// Adds the edges from the vertices of a table to those that a column names.
    fn link(&mut self, at: usize, key: &[usize], (column, label, target): (usize, &str, &str)) {
        let table = &self.tables[at];
        let name = &table.names[column];
        let _ = writeln!(
            self.mapping,
            "\n# {}: '{name}' has ids of '{target}'",
            table.file()
        );
        self.line("[[edge]]");
        self.setting("file", table.file());
        self.setting("label", label);
        self.reading(at);
        self.columns("source", at, key);
        self.setting("target", name.as_str());
        if table.empty(column) > 0 || table.is_cut {
            self.line("skip_empty = true # a row without a target is no edge");
        }
        self.times(at);
        let (from, to) = self.related[at].times;
        let others = (0..table.names.len()).filter(|other| {
            let is_time = from == Some(*other) || to == Some(*other);
            !is_time && !key.contains(other) && *other != column
        });
        let ignored: Vec<&str> = others.map(|other| table.names[other].as_str()).collect();
        if !ignored.is_empty() {
            self.setting("ignore", ignored);
        }
    }

    /// A setting that names one column or several.
    fn columns(&mut self, setting: &str, at: usize, columns: &[usize]) {
        let names = &self.tables[at].names;
        let columns: Vec<&str> = columns.iter().map(|at| names[*at].as_str()).collect();
        match &*columns {
            [only] => self.setting(setting, *only),
            several => self.setting(setting, several.to_vec()),
        }
    }

    /// Adds the entry of a table whose label the graph has.
    pub(super) fn known(&mut self, at: usize, known: &Known, notes: &[Note]) {
        let table = &self.tables[at];
        let mut ignored = known.ignored.clone();
        match &known.rows {
            Rows::Vertices { key, has_id, links } => {
                self.source("vertex", at, &table.label, notes);
                if *has_id {
                    self.columns("id", at, key);
                }
                ignored.extend(links.iter().map(|link| link.column));
            }
            Rows::Edges { source, target, .. } => {
                self.source("edge", at, &table.label, notes);
                self.columns("source", at, source);
                self.columns("target", at, target);
            }
        }
        self.times(at);
        if known.updates {
            self.line("update = true # a row changes the properties that it has, no others");
        }
        let renamed = known.properties.iter();
        let renamed = renamed.map(|(column, name)| (&table.names[*column], name));
        let renamed = renamed.filter(|(column, name)| column != name);
        let renamed: toml::Table = renamed
            .map(|(column, name)| (column.clone(), toml::Value::from(name.as_str())))
            .collect();
        if !renamed.is_empty() {
            self.setting("rename", renamed);
        }
        ignored.sort_unstable();
        let ignored: Vec<&str> = ignored.iter().map(|at| table.names[*at].as_str()).collect();
        if !ignored.is_empty() {
            self.setting("ignore", ignored);
        }
    }
}
