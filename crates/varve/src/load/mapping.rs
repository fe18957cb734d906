//! The mapping file: the label of each input file, and the meaning of its columns.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use varve_server::parse_instant;

/// A mapping file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mapping {
    /// Whether an element that is already stored with the same content gets no new version.
    #[serde(default)]
    pub(crate) skip_unchanged: bool,
    /// Files of vertices, loaded first and in this order.
    #[serde(default, rename = "vertex")]
    pub(crate) vertices: Vec<Source>,
    /// Files of edges, loaded after all vertices.
    #[serde(default, rename = "edge")]
    pub(crate) edges: Vec<Source>,
}

/// The format of an input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Comma-separated values (RFC 4180), with a header line unless `header` is given.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

/// One input file and the meaning of its columns.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    /// The file; a relative path starts at the mapping file. A pattern (`*`, `?`, `[…]`) means all
    /// files that match it.
    pub(crate) file: PathBuf,
    /// The temporary file with the unpacked content of a gzip file.
    #[serde(skip)]
    pub(super) unpacked: Arc<OnceLock<File>>,
    /// The label of its elements; empty for a dump, and for a CSV file that the server has
    /// exported: its rows name their labels.
    #[serde(default)]
    pub(crate) label: String,
    /// The format; by default derived from the file's extension.
    pub(crate) format: Option<Format>,
    /// The vertex id's column, for labels with custom ids.
    pub(crate) id: Option<String>,
    /// The columns that name the source vertex of an edge: its id, or the values of its label's
    /// primary keys.
    #[serde(default)]
    pub(crate) source: Columns,
    /// The same for the target vertex.
    #[serde(default)]
    pub(crate) target: Columns,
    /// The separator of the columns of a CSV file; by default recognized from its first records.
    pub(crate) delimiter: Option<char>,
    /// The names of the columns, if the file has no header line.
    pub(crate) header: Option<Vec<String>>,
    /// The separator of the members of a list or set within a CSV column.
    #[serde(default = "semicolon")]
    pub(crate) list_separator: String,
    /// Texts that mean "no value" in a CSV file.
    #[serde(default = "empty_text")]
    pub(crate) null: Vec<String>,
    /// The format of dates.
    #[serde(default)]
    pub(crate) date_format: DateFormat,
    /// Property names by column name, where the two differ.
    #[serde(default)]
    pub(crate) rename: BTreeMap<String, String>,
    /// Columns that are not loaded.
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    /// The start of the elements' valid time.
    pub(crate) valid_from: Option<When>,
    /// The end of the elements' valid time.
    pub(crate) valid_to: Option<When>,
}

/// An instant of valid time: from a column of each row, or the same for all rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum When {
    /// A text: the name of the column with the instant, in RFC 3339.
    Column(String),
    /// A TOML date or date-time, without quotes: the instant for all rows.
    Constant(toml::value::Datetime),
}

/// One or several columns.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum Columns {
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
    pub(crate) fn names(&self) -> &[String] {
        match self {
            Self::None => &[],
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// The format of dates in an input file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DateFormat {
    /// `yyyy-MM-dd`, `yyyy-MM-dd HH:mm:ss[.SSS]`, or the same with `T` and a zone (RFC 3339).
    #[default]
    Auto,
    /// Seconds since 1970.
    EpochSeconds,
    /// Milliseconds since 1970.
    EpochMillis,
    /// Day first: `dd/MM/yyyy`, `dd.MM.yyyy` or `dd-MM-yyyy`.
    DayMonthYear,
    /// Month first: `MM/dd/yyyy`.
    MonthDayYear,
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
    pub(super) fn of_file(file: &Path, label: &str) -> Result<Source, String> {
        let mut table = toml::Table::new();
        for (name, value) in [("file", &*file.to_string_lossy()), ("label", label)] {
            table.insert(name.to_owned(), toml::Value::from(value));
        }
        let source: Result<Source, _> = table.try_into();
        let failed = |error: String| format!("{}: {error}", file.display());
        let mut source = source.map_err(|error| failed(error.to_string()))?;
        source.check("vertex").map_err(failed)?;
        Ok(source)
    }

    /// Reads and checks a mapping file.
    ///
    /// # Errors
    /// When the file cannot be read or is not a valid mapping. The message names the file and,
    /// where possible, the line.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let name = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        let mut mapping: Self = toml::from_str(&text).map_err(|error| {
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
        let folder = path.parent().unwrap_or(Path::new(""));
        for (kind, sources) in [
            ("vertex", &mut mapping.vertices),
            ("edge", &mut mapping.edges),
        ] {
            let patterns = std::mem::take(sources);
            for source in patterns {
                let files = matching(&folder.join(&source.file));
                let files = files.map_err(|error| format!("{name}: [[{kind}]] {error}"))?;
                sources.extend(files.into_iter().map(|file| Source {
                    file,
                    unpacked: Arc::default(),
                    ..source.clone()
                }));
            }
            for source in sources {
                let shown = source.file.display().to_string();
                source
                    .check(kind)
                    .map_err(|error| format!("{name}: [[{kind}]] {shown}: {error}"))?;
            }
        }
        Ok(mapping)
    }
}

/// The first bytes of a file in gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// The bytes of a file that show whether it is a text.
const HEAD_BYTES: usize = 1024;

fn head_of(file: &File) -> io::Result<Vec<u8>> {
    let mut head = vec![0; HEAD_BYTES];
    let length = file.read_at(&mut head, 0)?;
    head.truncate(length);
    Ok(head)
}

/// What a file is that begins with these bytes and is no text in UTF-8. The explorer has the same
/// rule in `ui/src/load/bytes.ts`.
fn no_text(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Some("it is UTF-16; save it as UTF-8");
    }
    if head.starts_with(b"PK\x03\x04") {
        return Some("it is a ZIP archive or a workbook; unpack it, or save the sheet as CSV");
    }
    if head.starts_with(b"PAR1") {
        return Some("it is a Parquet file; export it as CSV or JSON Lines");
    }
    head.contains(&0)
        .then_some("it is binary or in UTF-16, not a text in UTF-8")
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
    /// Opens the file at its start. A gzip file is unpacked to a temporary file, once.
    ///
    /// # Errors
    /// When the file cannot be read or is no text, or the disk has no room for the unpacked file.
    pub(super) fn open(&self) -> io::Result<File> {
        let mut file = File::open(&self.file)?;
        let mut head = head_of(&file)?;
        if head.starts_with(GZIP) {
            file = self.unpacked(file)?;
            head = head_of(&file)?;
        }
        match no_text(&head) {
            Some(fault) => Err(io::Error::new(io::ErrorKind::InvalidData, fault)),
            None => Ok(file),
        }
    }

    fn unpacked(&self, packed: File) -> io::Result<File> {
        let mut file = match self.unpacked.get() {
            Some(unpacked) => unpacked.try_clone()?,
            None => {
                let mut unpacked = tempfile::tempfile()?;
                io::copy(&mut MultiGzDecoder::new(packed), &mut unpacked)?;
                let kept = unpacked.try_clone()?;
                self.unpacked.get_or_init(|| kept);
                unpacked
            }
        };
        file.rewind()?;
        Ok(file)
    }

    /// The delimiter of a CSV file where its records allow several.
    pub(super) fn usual_delimiter(&self) -> u8 {
        let name = self.plain_name();
        match name.extension().is_some_and(|ending| ending == "tsv") {
            true => b'\t',
            false => b',',
        }
    }

    /// The path without a final `.gz`.
    fn plain_name(&self) -> PathBuf {
        match self.file.extension() {
            Some(ending) if ending == "gz" => self.file.with_extension(""),
            _ => self.file.clone(),
        }
    }

    fn check(&mut self, kind: &str) -> Result<(), String> {
        if self.format.is_none() {
            let name = self.plain_name();
            let ending = name.extension().and_then(|ending| ending.to_str());
            self.format = Some(match ending {
                Some("csv" | "tsv") => Format::Csv,
                Some("jsonl" | "ndjson") => Format::Jsonl,
                _ => return Err("say `format = \"csv\"` or `format = \"jsonl\"`".to_owned()),
            });
        }
        if self.delimiter.is_some_and(|it| !it.is_ascii()) {
            return Err("`delimiter` must be an ASCII character".to_owned());
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
        let ends = (self.source.names().len(), self.target.names().len());
        match kind {
            _ if self.label.is_empty() => match self.format {
                Some(Format::Csv) => Ok(()),
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
    pub(crate) fn is_structure(&self, column: &str) -> bool {
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
        assert_eq!(mapping.vertices[0].format, Some(Format::Csv));
        assert_eq!(mapping.vertices[0].usual_delimiter(), b'\t');
        assert_eq!(mapping.edges[0].format, Some(Format::Jsonl));
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
    }
}
