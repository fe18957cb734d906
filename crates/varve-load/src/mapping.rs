//! The mapping file: the label of each input file, and the meaning of its columns.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use varve_files::{DateFormat, Decimal, Format, Options, Rows, Unpacked};
use varve_model::time::parse_instant;

/// A mapping file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Whether an element that is already stored with the same content gets no new version.
    #[serde(default)]
    pub skip_unchanged: bool,
    /// The schema elements that the load makes where the graph has none, in the form of the REST
    /// API.
    pub schema: Option<serde_json::Value>,
    /// Files of vertices, loaded first and in this order.
    #[serde(default, rename = "vertex")]
    pub vertices: Vec<Source>,
    /// Files of edges, loaded after all vertices.
    #[serde(default, rename = "edge")]
    pub edges: Vec<Source>,
}

/// One input file and the meaning of its columns.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The file; a relative path starts at the mapping file. A pattern (`*`, `?`, `[…]`) means all
    /// files that match it.
    pub file: PathBuf,
    /// Where the file is, if not at `file`.
    #[serde(skip)]
    pub place: Option<PathBuf>,
    /// Whether columns of a type that is not read are ignored.
    #[serde(skip)]
    pub ignores_unread: bool,
    /// The most bytes that the file may have once it is unpacked.
    #[serde(skip)]
    pub unpacked_bytes_max: Option<u64>,
    /// The unpacked content of a packed file.
    #[serde(skip)]
    pub unpacked: Unpacked,
    /// The label of its elements; empty for a dump, and for a file that the server has exported:
    /// its rows name their labels.
    #[serde(default)]
    pub label: String,
    /// The format; by default derived from the file's extension.
    #[serde(default, deserialize_with = "format")]
    pub format: Option<Format>,
    /// The vertex id's column, for labels with custom ids.
    pub id: Option<String>,
    /// The columns that name the source vertex of an edge: its id, or the values of its label's
    /// primary keys.
    #[serde(default)]
    pub source: Columns,
    /// The same for the target vertex.
    #[serde(default)]
    pub target: Columns,
    /// The separator of the columns of a CSV file; by default recognized from its first records.
    pub delimiter: Option<char>,
    /// The names of the columns, if the file has no header line.
    pub header: Option<Vec<String>>,
    /// The separator of the members of a list or set within a CSV column.
    #[serde(default = "semicolon")]
    pub list_separator: String,
    /// Texts that mean "no value" in a CSV file.
    #[serde(default = "empty_text")]
    pub null: Vec<String>,
    /// Further ones in some columns of it.
    #[serde(default)]
    pub nulls: BTreeMap<String, Vec<String>>,
    /// The charset of a text; by default that of its byte order mark, else UTF-8.
    pub charset: Option<String>,
    /// The mark before the fraction of the numbers in a CSV file.
    #[serde(default, deserialize_with = "decimal")]
    pub decimal: Decimal,
    /// The formats of dates and valid times.
    #[serde(default)]
    pub date_format: DateFormats,
    /// The formats of dates in some columns.
    #[serde(default)]
    pub date_formats: BTreeMap<String, DateFormats>,
    /// Property names by column name, where the two differ.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// Columns that are not loaded.
    #[serde(default)]
    pub ignore: Vec<String>,
    /// Whether a row of edges without a source or a target is no edge. It is refused otherwise.
    #[serde(default)]
    pub skip_empty: bool,
    /// The start of the elements' valid time.
    pub valid_from: Option<When>,
    /// The end of the elements' valid time.
    pub valid_to: Option<When>,
    /// Whether an end without a time of day is the last day of the period.
    #[serde(default)]
    pub valid_to_inclusive: bool,
    /// Whether the end of a row's period ends the edge, too: what was stored of it for later times
    /// is deleted. Each edge has one row then.
    #[serde(default)]
    pub valid_to_ends_edge: bool,
    /// Whether a row changes the properties for which it has values in its period, and leaves the
    /// others of an element that is stored.
    #[serde(default)]
    pub update: bool,
}

/// An instant of valid time: from a column of each row, or the same for all rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum When {
    /// A text: the name of the column with the instant.
    Column(String),
    /// A TOML date or date-time, without quotes: the instant for all rows.
    Constant(toml::value::Datetime),
}

/// One or several columns.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub enum Columns {
    /// None.
    #[default]
    None,
    /// One.
    One(String),
    /// Several, in the order of the primary keys.
    Many(Vec<String>),
}

impl Columns {
    /// The names.
    pub fn names(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// A format of dates, or several that are tried in order.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Names")]
pub struct DateFormats(Vec<DateFormat>);

/// One text or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Many(Vec<String>),
}

impl Default for DateFormats {
    fn default() -> Self {
        Self(vec![DateFormat::Auto])
    }
}

impl TryFrom<Names> for DateFormats {
    type Error = String;

    fn try_from(names: Names) -> Result<Self, String> {
        let names = match names {
            Names::One(name) => vec![name],
            Names::Many(names) => names,
        };
        if names.is_empty() {
            return Err("an empty list of formats of dates".to_owned());
        }
        let formats: Result<Vec<DateFormat>, String> =
            names.iter().map(|name| name.parse()).collect();
        formats.map(Self)
    }
}

/// The format with this name.
fn format<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Format>, D::Error> {
    let name = String::deserialize(input)?;
    let format = Format::named(&name).ok_or_else(|| {
        let names = Format::NAMES.map(|(name, _)| name).join(", ");
        D::Error::custom(format!("format '{name}': it is one of {names}"))
    });
    format.map(Some)
}

/// The mark before the fraction of a number: `.` or `,`.
fn decimal<'de, D: Deserializer<'de>>(input: D) -> Result<Decimal, D::Error> {
    match &*String::deserialize(input)? {
        "." => Ok(Decimal::Point),
        "," => Ok(Decimal::Comma),
        other => Err(D::Error::custom(format!(
            "`decimal` is \".\" or \",\", not \"{other}\""
        ))),
    }
}

fn semicolon() -> String {
    ";".to_owned()
}

fn empty_text() -> Vec<String> {
    vec![String::new()]
}

impl Mapping {
    /// The source of a mapping with only a file and its label.
    ///
    /// # Errors
    /// When the file's extension names no known format.
    pub fn of_file(file: &Path, label: &str) -> Result<Source, String> {
        let mut table = toml::Table::new();
        for (name, value) in [("file", &*file.to_string_lossy()), ("label", label)] {
            table.insert(name.to_owned(), toml::Value::from(value));
        }
        let source: Result<Source, _> = table.try_into();
        let failed = |error: String| format!("{}: {error}", file.display());
        let source = source.map_err(|error| failed(error.to_string()))?;
        source.check("vertex").map_err(failed)?;
        Ok(source)
    }

    /// Reads and checks a mapping file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a valid mapping. The message names the file and,
    /// where possible, the line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        Self::parse(&text, &name, &mut |file| {
            matching(&path.parent().unwrap_or(Path::new("")).join(file))
        })
    }

    /// Reads and checks the text of a mapping. `files` gives the files that one of its paths
    /// means.
    ///
    /// # Errors
    /// A message that begins with `name` and, where possible, the line.
    pub fn parse(
        text: &str,
        name: &str,
        files: &mut dyn FnMut(&Path) -> Result<Vec<PathBuf>, String>,
    ) -> Result<Self, String> {
        let mut mapping: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = text.as_bytes()[..at]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count()
                + 1;
            format!("{name}:{line}: {}", error.message())
        })?;
        if mapping.vertices.is_empty() && mapping.edges.is_empty() {
            return Err(format!(
                "{name}: there is neither a [[vertex]] nor an [[edge]]"
            ));
        }
        // Sources that read a file in the same way share its unpacked copy.
        let mut copies: HashMap<_, Unpacked> = HashMap::new();
        for (kind, sources) in [
            ("vertex", &mut mapping.vertices),
            ("edge", &mut mapping.edges),
        ] {
            let patterns = std::mem::take(sources);
            for source in patterns {
                let found = files(&source.file);
                let found = found.map_err(|error| format!("{name}: [[{kind}]] {error}"))?;
                sources.extend(found.into_iter().map(|file| Source {
                    file,
                    unpacked: Unpacked::default(),
                    ..source.clone()
                }));
            }
            for source in sources {
                let shared = (source.file.clone(), source.charset.clone(), source.format());
                source.unpacked = copies.entry(shared).or_default().clone();
                let shown = source.file.display().to_string();
                source
                    .check(kind)
                    .map_err(|error| format!("{name}: [[{kind}]] {shown}: {error}"))?;
            }
        }
        Ok(mapping)
    }
}

/// The files of a path: the path itself, or all files that match it as a pattern, sorted by name.
fn matching(path: &Path) -> Result<Vec<PathBuf>, String> {
    let shown = path.display().to_string();
    if path.exists() || !shown.contains(['*', '?', '[']) {
        return Ok(vec![path.to_path_buf()]);
    }
    let found = glob::glob(&shown).map_err(|error| format!("{shown}: {error}"))?;
    let files: Result<Vec<PathBuf>, _> = found.collect();
    let files = files.map_err(|error| format!("{shown}: {error}"))?;
    match files.is_empty() {
        true => Err(format!("{shown}: no file matches")),
        false => Ok(files),
    }
}

impl Source {
    /// The options for the reader of files.
    fn options(&self) -> Options {
        Options {
            format: self.format,
            delimiter: self.delimiter,
            header: self.header.clone(),
            null: self.null.clone(),
            nulls: self.nulls.clone(),
            charset: self.charset.clone(),
            unpacked_bytes_max: self.unpacked_bytes_max,
            // An uploaded file is unpacked beside itself.
            folder: self
                .place
                .as_deref()
                .and_then(Path::parent)
                .map(Path::to_path_buf),
            ignored: self.ignore.clone(),
            ignores_unread: self.ignores_unread,
        }
    }

    /// The rows of the file from its start.
    ///
    /// # Errors
    /// When the file cannot be read, or is not what the mapping says.
    pub fn rows(&self) -> Result<Rows, String> {
        let opened = Rows::open(self.path(), &self.options(), &self.unpacked);
        opened.map_err(|error| match &self.place {
            // A message names the file as the user does.
            Some(place) => {
                let file = self.file.display().to_string();
                error.replace(&place.display().to_string(), &file)
            }
            None => error,
        })
    }

    /// The format, as the mapping or the name of the file says it.
    pub(crate) fn format(&self) -> Option<Format> {
        self.format.or_else(|| Format::of_name(&self.file))
    }

    /// Where the file is.
    pub(crate) fn path(&self) -> &Path {
        self.place.as_ref().unwrap_or(&self.file)
    }

    /// The formats of the dates in this column.
    pub(crate) fn dates(&self, column: &str) -> &[DateFormat] {
        let formats = self.date_formats.get(column);
        &formats.unwrap_or(&self.date_format).0
    }

    fn check(&self, kind: &str) -> Result<(), String> {
        self.options().check()?;
        if self.format.is_none() && Format::of_name(&self.file).is_none() {
            let names = Format::NAMES.map(|(name, _)| name).join(", ");
            return Err(format!("say `format = \"…\"`: one of {names}"));
        }
        for (name, when) in [
            ("valid_from", &self.valid_from),
            ("valid_to", &self.valid_to),
        ] {
            if let Some(When::Constant(at)) = when
                && parse_instant(&at.to_string()).is_none()
            {
                return Err(format!("`{name}`: {at} is not a date or an instant"));
            }
        }
        for (name, is_given) in [
            ("valid_to_inclusive", self.valid_to_inclusive),
            ("valid_to_ends_edge", self.valid_to_ends_edge),
        ] {
            if is_given && (self.valid_to.is_none() || self.label.is_empty()) {
                return Err(format!("`{name}` needs `valid_to` and `label`"));
            }
        }
        if self.update && (self.label.is_empty() || self.valid_to_ends_edge) {
            return Err(
                "`update` needs `label`, and does not go with `valid_to_ends_edge`".to_owned(),
            );
        }
        if self.valid_to_ends_edge && kind != "edge" {
            return Err(
                "`valid_to_ends_edge` is for edges: a vertex that ends would end its edges, too"
                    .to_owned(),
            );
        }
        let ends = (self.source.names().len(), self.target.names().len());
        match kind {
            _ if self.label.is_empty() => match self.format() {
                Some(Format::Csv | Format::Jsonl | Format::Parquet | Format::Arrow) => Ok(()),
                _ => Err("say `label`, the label of its elements".to_owned()),
            },
            "edge" if ends.0 == 0 || ends.1 == 0 => Err(
                "an edge needs `source` and `target`, the columns that name its vertices"
                    .to_owned(),
            ),
            "edge" if self.id.is_some() => Err("an edge has no `id` of its own".to_owned()),
            "vertex" if ends != (0, 0) => Err("a vertex has no `source` and `target`".to_owned()),
            _ => Ok(()),
        }
    }

    /// Whether the mapping uses the column as id, end or valid time. Such a column is a property
    /// only if the label has a property of that name.
    pub fn is_structure(&self, column: &str) -> bool {
        self.id.as_deref() == Some(column)
            || [&self.valid_from, &self.valid_to]
                .into_iter()
                .any(|when| matches!(when, Some(When::Column(name)) if name == column))
            || self.source.names().iter().any(|name| name == column)
            || self.target.names().iter().any(|name| name == column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Mapping, String> {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("map.toml");
        std::fs::write(&path, text).expect("written");
        Mapping::read(&path).map_err(|error| error.replace(&dir.path().display().to_string(), "."))
    }

    #[test]
    fn a_mapping_is_read_and_completed() {
        let mapping = read(
            "[[vertex]]\nfile = \"a.tsv\"\nlabel = \"airport\"\nid = \"code\"\n\
             [[edge]]\nfile = \"b.jsonl\"\nlabel = \"route\"\nsource = \"from\"\ntarget = [\"to\", \"x\"]\n",
        )
        .unwrap();
        assert_eq!(mapping.vertices[0].id.as_deref(), Some("code"));
        assert_eq!(mapping.edges[0].target.names(), ["to", "x"]);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let refused = |text: &str, part: &str| {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        refused("", "neither a [[vertex]] nor an [[edge]]");
        refused(
            "[[vertex]]\nfile = \"a.csv\"\nlable = \"x\"\n",
            "./map.toml:3: unknown field `lable`",
        );
        refused(
            "[[vertex]]\nfile = \"a.dat\"\nlabel = \"x\"\n",
            "say `format =",
        );
        refused(
            "[[edge]]\nfile = \"a.csv\"\nlabel = \"x\"\nsource = \"a\"\n",
            "needs `source` and `target`",
        );
        refused(
            "[[vertex]]\nfile = \"a.csv\"\nlabel = \"x\"\nsource = \"a\"\n",
            "has no `source`",
        );
        refused(
            "[[vertex]]\nfile = \"a.csv\"\nupdate = true\n",
            "`update` needs `label`",
        );
    }
}
