//! Writes the mapping and its schema.

mod of_graph;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::column::ColumnKind;
use super::known::{self, Known, Rows};
use super::names::clean;
use super::relate::{End, Related, Role};
use super::table::Table;
use super::{GoesOn, Note};
use crate::catalogue::Catalogue;

/// Since when elements without times of their own are valid, where others have times.
const LONG_AGO: (&str, i64) = ("1900-01-01", -2_208_988_800_000);

const HEAD: &str = "\
# Drafted by `varve load --infer`. Check the notes, the labels, the ends and the times, then run:
#   varve load mapping.toml --dry-run
#   varve load mapping.toml
";

/// The most bytes of a mapping.
const BYTES_MAX: usize = 16 << 20;

/// The mapping and the schema that are being written.
struct Draft<'a> {
    tables: &'a [Table],
    related: &'a [Related],
    /// Which tables have labels of the graph.
    known: &'a [Option<Known>],
    catalogue: &'a Catalogue,
    /// The name of the property of each column, by table.
    properties: Vec<Vec<String>>,
    /// Since when elements without times of their own are valid.
    since: Option<String>,
    mapping: String,
    keys: BTreeMap<String, (ColumnKind, bool)>,
    vertex_labels: Vec<Json>,
    edge_labels: Vec<Json>,
}

/// The mapping as text, and the schema as the REST API has it.
///
/// # Errors
/// When the mapping would be too long, or the reason to stop.
pub(super) fn draft(
    (tables, related, known): (&[Table], &[Related], &[Option<Known>]),
    catalogue: &Catalogue,
    notes: &mut Vec<Note>,
    goes_on: GoesOn,
) -> Result<(String, Json), String> {
    let mut draft = Draft {
        tables,
        related,
        known,
        catalogue,
        properties: Vec::new(),
        since: since(tables, related),
        mapping: HEAD.to_owned(),
        keys: BTreeMap::new(),
        vertex_labels: Vec::new(),
        edge_labels: Vec::new(),
    };
    draft.properties = draft.property_names(notes);
    draft.note_times(notes);
    for at in 0..tables.len() {
        draft.check(goes_on)?;
        match &known[at] {
            Some(known) => draft.known(at, known, notes),
            None => draft.vertices(at, notes),
        }
    }
    draft.implied_vertices();
    for at in 0..tables.len() {
        draft.check(goes_on)?;
        draft.edges(at, notes);
    }
    for at in 0..tables.len() {
        draft.links(at, goes_on)?;
    }
    Ok(draft.end())
}

/// Since when elements without times of their own are valid: from before the first period.
fn since(tables: &[Table], related: &[Related]) -> Option<String> {
    let starts = tables.iter().zip(related).filter_map(|(table, related)| {
        let times = [related.times.0, related.times.1].into_iter().flatten();
        times.filter_map(|at| table.column(at).earliest()).min()
    });
    let earliest = starts.min()?;
    if earliest >= LONG_AGO.1 {
        return Some(LONG_AGO.0.to_owned());
    }
    let day = jiff::Timestamp::from_millisecond(earliest).ok()?;
    Some(day.strftime("%Y-01-01").to_string())
}

impl Draft<'_> {
    fn check(&self, goes_on: GoesOn) -> Result<(), String> {
        if self.mapping.len() > BYTES_MAX {
            return Err(format!(
                "the mapping has more than {BYTES_MAX} bytes: draft one for some of the files"
            ));
        }
        goes_on()
    }

    /// The names of the properties of all columns. One name has one type in a graph: a column whose
    /// type another one of the same name has not gets the name of its label, too.
    fn property_names(&self, notes: &mut Vec<Note>) -> Vec<Vec<String>> {
        let mut known: BTreeMap<String, (ColumnKind, bool)> = BTreeMap::new();
        let mut names = Vec::new();
        for (at_table, table) in self.tables.iter().enumerate() {
            let mut of_table: Vec<String> = Vec::new();
            if self.known[at_table].is_some() {
                names.push(of_table);
                continue;
            }
            let is_property = self.are_properties(at_table);
            let mut taken: HashMap<String, usize> = HashMap::new();
            for (at, column) in table.names.iter().enumerate() {
                let mut name = clean(column);
                if !is_property[at] {
                    of_table.push(name);
                    continue;
                }
                let (kind, is_list) = (table.kind(at), table.column(at).is_list);
                let is_used = table.column(at).count > 0;
                let fits = match known.get(&name) {
                    _ if let Ok(key) = self.catalogue.key(&name) => {
                        let fits = known::fits(kind, key.data_type) && is_list == key.is_list();
                        (fits || !is_used).then_some((kind, is_list))
                    }
                    Some((other, other_list)) if is_used => {
                        let both = kind.with(*other).filter(|_| is_list == *other_list);
                        both.map(|kind| (kind, is_list))
                    }
                    Some(other) => Some(*other),
                    None => Some((kind, is_list)),
                };
                match fits {
                    Some(fits) => _ = known.insert(name.clone(), fits),
                    None => {
                        let of = match self.catalogue.key(&name) {
                            Ok(_) => "the graph",
                            Err(_) => "another file",
                        };
                        let text = format!(
                            "property '{}_{name}', since '{name}' of {of} has another type",
                            table.label
                        );
                        notes.push(Note::of(table, at, text));
                        name = format!("{}_{name}", table.label);
                        known.entry(name.clone()).or_insert((kind, is_list));
                    }
                }
                while let Some(times) = taken.get_mut(&name) {
                    *times += 1;
                    name = format!("{name}_{times}");
                }
                taken.insert(name.clone(), 1);
                of_table.push(name);
            }
            names.push(of_table);
        }
        names
    }

    /// Whether each column of a table is a property: not those of its id, ends and valid time.
    fn are_properties(&self, at: usize) -> Vec<bool> {
        let (table, related) = (&self.tables[at], &self.related[at]);
        let mut others: Vec<usize> = [related.times.0, related.times.1]
            .into_iter()
            .flatten()
            .collect();
        match &related.role {
            Role::Edges { columns, .. } => others.extend([columns.0, columns.1]),
            Role::Vertices { key, links } => {
                let links = links.iter().map(|link| link.column);
                others.extend(links.filter(|it| !key.contains(it)));
                if !self.may_share_ids(at) {
                    others.extend(key);
                }
            }
        }
        let is_nothing = |at: usize| {
            let is_empty = table.names[at].is_empty() && table.column(at).count == 0;
            is_empty || table.kind(at) == ColumnKind::Nested
        };
        let columns = 0..table.names.len();
        columns
            .map(|at| !others.contains(&at) && !is_nothing(at))
            .collect()
    }

    fn line(&mut self, line: &str) {
        self.mapping.push_str(line);
        self.mapping.push('\n');
    }

    fn setting(&mut self, name: &str, value: impl Into<toml::Value>) {
        let _ = writeln!(self.mapping, "{name} = {}", value.into());
    }

    /// Begins the entry of a file, with what is uncertain about it, and how it is read.
    fn source(&mut self, kind: &str, at: usize, label: &str, notes: &[Note]) {
        let table = &self.tables[at];
        let file = table.file();
        let rows = match table.is_cut {
            true => format!("the first {} rows", table.rows),
            false => format!("{} rows", table.rows),
        };
        let _ = writeln!(
            self.mapping,
            "\n# {file}: {}; {rows}",
            table.found.join(", ")
        );
        for note in notes.iter().filter(|note| note.file == file) {
            let text = note.to_string().replace(['\n', '\r'], " ");
            let _ = writeln!(self.mapping, "# - {text}");
        }
        self.line(&format!("[[{kind}]]"));
        self.setting("file", file);
        self.setting("label", label);
        self.reading(at);
    }

    /// How a file is read.
    fn reading(&mut self, at: usize) {
        let table = &self.tables[at];
        let format = table.source.format.map(varve_files::Format::name);
        if let Some(format) = format {
            self.setting("format", format);
        }
        if let Some(charset) = table.charset {
            self.line("# guessed from bytes that are not UTF-8: look at the names");
            self.setting("charset", charset);
        }
        if let Some(delimiter) = table.delimiter {
            self.setting("delimiter", delimiter.to_string());
        }
        if table.of_csv && table.has_decimal_comma() {
            self.setting("decimal", ",");
        }
        let nulls = table.nulls();
        if !nulls.is_empty() {
            let nulls: Vec<&str> = [""].into_iter().chain(nulls.into_keys()).collect();
            self.setting("null", nulls);
        }
        let mut formats = toml::Table::new();
        for (column, name) in table.names.iter().enumerate() {
            let chosen = table.column(column).formats().map(|chosen| chosen.formats);
            if let Some(chosen) = chosen.filter(|chosen| *chosen != ["auto"]) {
                formats.insert(name.clone(), toml::Value::from(chosen));
            }
        }
        if !formats.is_empty() {
            self.setting("date_formats", formats);
        }
        let nulls = table.names.iter().zip(&table.columns);
        let nulls = nulls.filter(|(_, column)| !column.none.is_empty());
        let nulls: toml::Table = nulls
            .map(|(name, column)| {
                let words: Vec<&str> = column.none.keys().map(String::as_str).collect();
                (name.clone(), toml::Value::from(words))
            })
            .collect();
        if !nulls.is_empty() {
            self.setting("nulls", nulls);
        }
    }

    /// Notes which files have no times, while others have some.
    fn note_times(&self, notes: &mut Vec<Note>) {
        if self.since.is_none() {
            return;
        }
        let known = self.tables.iter().zip(self.related).zip(self.known);
        for ((table, related), known) in known {
            if known.is_some() && related.times.0.is_none() {
                let text = "no valid times: its rows are valid from the load on, so earlier edges \
                            of new vertices will be refused; `valid_from = 1900-01-01` also \
                            replaces what is stored since then";
                notes.push(Note::of_table(table, text.to_owned()));
            }
        }
    }

    /// The columns of the valid time.
    fn times(&mut self, at: usize) {
        let (from, to) = self.related[at].times;
        let names = &self.tables[at].names;
        match (from, &self.since) {
            (Some(from), _) => self.setting("valid_from", names[from].as_str()),
            // What the graph has of a label has times of its own.
            (None, Some(since)) if self.known[at].is_none() => {
                let line = format!("valid_from = {since} # before the first period of all files");
                self.line(&line);
            }
            (None, _) => {}
        }
        if let Some(to) = to {
            let to = toml::Value::from(names[to].as_str());
            let line = format!(
                "valid_to = {to} # exclusive; for a last day set valid_to_inclusive = true"
            );
            self.line(&line);
            let may_correct = match &self.known[at] {
                Some(known) => matches!(known.rows, Rows::Edges { .. }) && !known.updates,
                None => matches!(self.related[at].role, Role::Edges { .. }),
            };
            if may_correct {
                let line = "# If this file corrects what is stored: valid_to_ends_edge = true";
                self.line(line);
            }
        }
    }

    /// Adds the properties of a file; the other columns but those of its id, ends and valid time
    /// are ignored. Returns their names.
    fn properties(&mut self, at: usize) -> Vec<String> {
        let table = &self.tables[at];
        let is_property = self.are_properties(at);
        let (from, to) = self.related[at].times;
        let is_structure = |column: usize| {
            let is_role = match &self.related[at].role {
                Role::Edges { columns, .. } => columns.0 == column || columns.1 == column,
                Role::Vertices { key, .. } => key.contains(&column),
            };
            is_role || from == Some(column) || to == Some(column)
        };
        let (mut names, mut ignored, mut renamed) = (Vec::new(), Vec::new(), toml::Table::new());
        for (column, name) in table.names.iter().enumerate() {
            if !is_property[column] {
                ignored.extend((!is_structure(column)).then_some(name.as_str()));
                continue;
            }
            let kind = table.kind(column);
            let property = &self.properties[at][column];
            if property != name {
                renamed.insert(name.clone(), toml::Value::from(property.as_str()));
            }
            let is_list = table.column(column).is_list;
            self.keys
                .entry(property.clone())
                .and_modify(|(known, _)| *known = known.with(kind).unwrap_or(ColumnKind::Text))
                .or_insert((kind, is_list));
            names.push(property.clone());
        }
        if !renamed.is_empty() {
            self.setting("rename", renamed);
        }
        if !ignored.is_empty() {
            self.setting("ignore", ignored);
        }
        names
    }

    /// The columns of the key of a table of vertices.
    fn key(&self, at: usize) -> &[usize] {
        match &self.related[at].role {
            Role::Vertices { key, .. } => key,
            Role::Edges { .. } => &[],
        }
    }

    /// Whether a vertex of another label may have the same id as one of this table. Ids of the
    /// writer's choice are unique in a graph.
    fn may_share_ids(&self, at: usize) -> bool {
        let [key] = self.key(at) else {
            return true;
        };
        let own = &self.tables[at];
        let is_number = own.kind(*key).is_whole();
        let has_implied = self.related.iter().any(|related| match &related.role {
            Role::Edges { ends, .. } => [&ends.0, &ends.1]
                .iter()
                .any(|end| matches!(end, End::Implied(_))),
            Role::Vertices { .. } => false,
        });
        let others = (0..self.tables.len())
            .filter(|other| self.tables[*other].label != own.label && self.key(*other).len() == 1);
        let meets = |other: usize| {
            let (table, column) = (&self.tables[other], self.key(other)[0]);
            let is_unknown = own.is_cut || table.is_cut;
            let (one, other) = (own.column(*key), table.column(column));
            is_number == table.kind(column).is_whole()
                && (is_unknown || !one.values.is_disjoint(&other.values))
        };
        has_implied || self.catalogue.has_own_ids(is_number) || others.into_iter().any(meets)
    }

    /// Adds the entry of a table of vertices.
    fn vertices(&mut self, at: usize, notes: &[Note]) {
        let Role::Vertices { key, .. } = &self.related[at].role else {
            return;
        };
        let label = self.tables[at].label.clone();
        self.source("vertex", at, &label, notes);
        if !key.is_empty() && self.may_share_ids(at) {
            self.times(at);
            let keys: Vec<String> = key
                .iter()
                .map(|at_key| self.properties[at][*at_key].clone())
                .collect();
            let properties = self.properties(at);
            let nullable: Vec<&String> =
                properties.iter().filter(|it| !keys.contains(it)).collect();
            let made = json!({
                "name": label, "id_strategy": "PRIMARY_KEY", "primary_keys": keys,
                "properties": properties, "nullable_keys": nullable,
            });
            return add(&mut self.vertex_labels, made);
        }
        let strategy = match key.first() {
            None => "AUTOMATIC",
            Some(key) => {
                let table = &self.tables[at];
                self.setting("id", table.names[*key].as_str());
                id_strategy(table.kind(*key))
            }
        };
        self.times(at);
        let properties = self.properties(at);
        let made = json!({
            "name": label, "id_strategy": strategy, "properties": properties, "nullable_keys": properties,
        });
        add(&mut self.vertex_labels, made);
    }

    /// Adds the vertices that are named by edges alone.
    fn implied_vertices(&mut self) {
        for at in 0..self.tables.len() {
            let Role::Edges { columns, ends, .. } = &self.related[at].role else {
                continue;
            };
            if self.known[at].is_some() {
                continue;
            }
            for (column, end) in [(columns.0, &ends.0), (columns.1, &ends.1)] {
                let End::Implied(label) = end else {
                    continue;
                };
                let table = &self.tables[at];
                let kind = table.kind(column);
                let name = &table.names[column];
                let mut ignored: Vec<&str> = table.names.iter().map(String::as_str).collect();
                ignored.retain(|other| other != name);
                self.mapping
                    .push_str("\n# No file has these vertices: they have an id alone.\n");
                self.line("[[vertex]]");
                self.setting("file", table.file());
                self.setting("label", label.as_str());
                self.reading(at);
                if let Some(since) = &self.since {
                    let line = format!("valid_from = {since}");
                    self.line(&line);
                }
                let rename: toml::Table = [(name.clone(), toml::Value::from("id"))]
                    .into_iter()
                    .collect();
                self.setting("rename", rename);
                self.setting("ignore", ignored);
                let known = self.keys.entry("id".to_owned()).or_insert((kind, false));
                known.0 = known.0.with(kind).unwrap_or(ColumnKind::Text);
                add(
                    &mut self.vertex_labels,
                    json!({
                        "name": label, "id_strategy": "PRIMARY_KEY", "primary_keys": ["id"],
                        "properties": ["id"], "nullable_keys": [],
                    }),
                );
            }
        }
    }

    fn label_of(&self, end: &End) -> String {
        match end {
            End::Table(at) => self.tables[*at].label.clone(),
            End::Implied(label) => label.clone(),
        }
    }

    /// Adds the entry of a table of edges.
    fn edges(&mut self, at: usize, notes: &[Note]) {
        let Role::Edges {
            columns,
            ends,
            sort,
        } = &self.related[at].role
        else {
            return;
        };
        if self.known[at].is_some() {
            return;
        }
        let label = self.tables[at].label.clone();
        self.source("edge", at, &label, notes);
        let (from, to) = *columns;
        self.setting("source", self.tables[at].names[from].as_str());
        self.setting("target", self.tables[at].names[to].as_str());
        self.times(at);
        let properties = self.properties(at);
        let sort: Vec<String> = sort
            .iter()
            .map(|at_sort| self.properties[at][*at_sort].clone())
            .collect();
        let nullable: Vec<&String> = properties.iter().filter(|it| !sort.contains(it)).collect();
        let mut made = json!({
            "name": label, "source_label": self.label_of(&ends.0),
            "target_label": self.label_of(&ends.1), "properties": properties, "nullable_keys": nullable,
        });
        if !sort.is_empty() {
            made["frequency"] = json!("MULTIPLE");
            made["sort_keys"] = json!(sort);
        }
        add(&mut self.edge_labels, made);
    }

    /// Adds the schema to the mapping.
    fn end(self) -> (String, Json) {
        let Self {
            mut mapping,
            catalogue,
            keys,
            vertex_labels,
            edge_labels,
            ..
        } = self;
        let new = keys.iter().filter(|(name, _)| catalogue.key(name).is_err());
        let keys = new.map(|(name, (kind, is_list))| {
            let cardinality = if *is_list { "LIST" } else { "SINGLE" };
            json!({ "name": name, "data_type": kind.name(), "cardinality": cardinality })
        });
        let keys: Vec<Json> = keys.collect();
        let all = [
            ("propertykeys", &keys),
            ("vertexlabels", &vertex_labels),
            ("edgelabels", &edge_labels),
        ];
        let is_needed = all.iter().any(|(_, elements)| !elements.is_empty());
        if is_needed {
            mapping.push_str(
                "\n# The types and labels, which the load makes if the graph has none.\n[schema]\n",
            );
        }
        for (kind, elements) in all.into_iter().filter(|_| is_needed) {
            let _ = writeln!(mapping, "{kind} = [");
            for element in elements {
                let _ = writeln!(mapping, "  {},", inline(element));
            }
            mapping.push_str("]\n");
        }
        let schema = json!({ "propertykeys": keys, "vertexlabels": vertex_labels, "edgelabels": edge_labels });
        (mapping, schema)
    }
}

/// Adds a label. Of two files of one label, the properties of both are those of the label.
fn add(labels: &mut Vec<Json>, made: Json) {
    let Some(known) = labels
        .iter_mut()
        .find(|known| known["name"] == made["name"])
    else {
        labels.push(made);
        return;
    };
    for list in ["properties", "nullable_keys"] {
        let more = made[list].as_array().cloned().unwrap_or_default();
        if let Some(names) = known[list].as_array_mut() {
            let more: Vec<Json> = more
                .into_iter()
                .filter(|name| !names.contains(name))
                .collect();
            names.extend(more);
        }
    }
}

/// The strategy of a label whose ids are values of this kind.
fn id_strategy(kind: ColumnKind) -> &'static str {
    match kind.is_whole() {
        true => "CUSTOMIZE_NUMBER",
        false => "CUSTOMIZE_STRING",
    }
}

/// A value of JSON in one line of TOML.
fn inline(value: &Json) -> String {
    let value: Result<toml::Value, _> = serde_json::from_value(value.clone());
    value.map_or_else(|_| "{}".to_owned(), |value| value.to_string())
}
