//! The first rows of a file, and what its columns have in common.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value as Json;
use varve_files::{COLUMNS_MAX, Options, Rows, likely_charset};

use super::column::{Column, ColumnKind, shown};
use super::{GoesOn, names};
use crate::element::hash_of;
use crate::mapping::Source;

/// Rows that are read of each file.
const ROWS_MAX: usize = 100_000;
/// Cells that are read of each file.
const CELLS_MAX: usize = 4_000_000;
/// Cells that are read of all files; each has the same part.
const CELLS_OF_ALL_MAX: usize = 16_000_000;
/// Bytes of the names of a file's columns.
const NAME_BYTES_MAX: usize = 1 << 20;
/// Rows of a preview.
const PREVIEW_ROWS: usize = 20;
/// Rows that cannot be read, with reasons.
const FAULTS_MAX: usize = 5;

/// Rows with the key of an earlier row that is not the same, and how many rows there are for each.
const CONFLICTS_MAX: usize = 3;
const ROWS_PER_CONFLICT: usize = 50;
/// Words of a text from which it is a sentence.
const SENTENCE_WORDS: usize = 4;

/// A file and its columns.
pub(super) struct Table {
    pub(super) source: Source,
    pub(super) label: String,
    pub(super) rows: usize,
    /// Whether the file has more rows than were read.
    pub(super) is_cut: bool,
    /// Whether each row is the same as an earlier one, and the number of such rows.
    is_repeat: Vec<bool>,
    pub(super) repeats: usize,
    /// Whether all values are texts.
    pub(super) of_csv: bool,
    pub(super) names: Vec<String>,
    /// The place of each name.
    known: HashMap<String, usize>,
    /// The parts of each name.
    pub(super) parts: Vec<names::Parts>,
    pub(super) label_words: Vec<String>,
    pub(super) columns: Vec<Column>,
    /// The charset of a text that is not UTF-8, as its bytes suggest.
    pub(super) charset: Option<&'static str>,
    /// The delimiter of a CSV file, if it is not the usual one.
    pub(super) delimiter: Option<char>,
    /// What was found out about the file, in words.
    pub(super) found: Vec<String>,
    /// The first rows as they were read, with their lines.
    pub(super) preview: Vec<(u64, Vec<Option<String>>)>,
    /// The number of rows that cannot be read, and the first of them with reasons.
    pub(super) faulty: usize,
    pub(super) faults: Vec<(u64, String)>,
}

impl Table {
    /// Reads the first rows of one of so many files.
    ///
    /// # Errors
    /// A message that begins with the path, or the reason to stop.
    pub(super) fn read(source: &Source, files: usize, goes_on: GoesOn) -> Result<Self, String> {
        let mut source = source.clone();
        let failed = |error: String| format!("{}: {error}", source.file.display());
        let charset = likely_charset(source.path()).map_err(failed)?;
        source.charset = source.charset.or(charset.map(str::to_owned));
        let file = source.file.clone();
        let failed = |error: String| format!("{}: {error}", file.display());
        source.ignores_unread = true;
        let mut rows = source.rows()?;
        source.ignores_unread = false;
        let of_csv = !rows.found().format.is_typed();
        let header = rows.header().map(<[String]>::to_vec);
        if let Some(header) = header.as_ref().filter(|_| of_csv) {
            check_header(header).map_err(failed)?;
        }
        let usual = char::from(Options::usual_delimiter(&file));
        let mut table = Self {
            label: source.label.clone(),
            label_words: names::words(&source.label),
            rows: 0,
            is_cut: false,
            is_repeat: Vec::new(),
            repeats: 0,
            of_csv,
            names: Vec::new(),
            known: HashMap::new(),
            parts: Vec::new(),
            columns: Vec::new(),
            charset,
            delimiter: rows.delimiter().filter(|delimiter| *delimiter != usual),
            found: found(&rows),
            preview: Vec::new(),
            faulty: 0,
            faults: Vec::new(),
            source,
        };
        let names = table.name(header.iter().flatten());
        names.map_err(failed)?;
        for (name, column) in table.names.iter().zip(&mut table.columns) {
            column.is_unread = rows.unread().contains(name);
        }
        let cells_max = CELLS_MAX.min(CELLS_OF_ALL_MAX / files.max(1));
        let read = table.read_rows(&mut rows, cells_max, goes_on);
        read.map_err(failed)?;
        table.is_cut = rows.next().is_some();
        if table.names.is_empty() {
            return Err(failed("no rows".to_owned()));
        }
        table.check_shape().map_err(failed)?;
        if let ([only], true) = (&*table.names, of_csv) {
            check_single(only, &table.preview).map_err(failed)?;
        }
        table.end();
        Ok(table)
    }

    /// Refuses a file without a row that can be read, and a letter.
    fn check_shape(&self) -> Result<(), String> {
        let no_table = "it does not look like a table";
        if let (0, true, Some((line, fault))) = (self.rows, self.of_csv, self.faults.first()) {
            return Err(format!(
                "{no_table}: no row of it can be read; line {line}: {fault}"
            ));
        }
        let is_sentence = |text: &str| text.split_whitespace().count() >= SENTENCE_WORDS;
        match &*self.names {
            [only] if is_sentence(only) && self.is_prose() => Err(format!(
                "{no_table}: its first line should name the columns, but is '{only}'"
            )),
            _ => Ok(()),
        }
    }

    /// Whether it has one column, whose values are sentences.
    fn is_prose(&self) -> bool {
        let values = self.preview.iter().flat_map(|(_, cells)| cells).flatten();
        let (sentences, others): (Vec<_>, Vec<_>) =
            values.partition(|text| text.split_whitespace().count() >= SENTENCE_WORDS);
        self.of_csv && self.names.len() == 1 && sentences.len() > others.len()
    }

    /// Whether it has rows, but does not look like a table.
    pub(super) fn is_odd(&self) -> bool {
        (self.of_csv && self.faulty > self.rows) || self.is_prose()
    }

    fn read_rows(
        &mut self,
        rows: &mut Rows,
        cells_max: usize,
        goes_on: GoesOn,
    ) -> Result<(), String> {
        let is_more = |it: &Self| {
            let rows = it.rows + it.faulty;
            rows < ROWS_MAX && rows * it.names.len() < cells_max
        };
        let mut known = HashSet::new();
        while is_more(self) {
            goes_on()?;
            let Some(row) = rows.next() else {
                break;
            };
            let row = row?;
            let fields = match row.fields {
                Ok(fields) => fields,
                // Such a row is also refused when it is loaded.
                Err(fault) => {
                    self.faulty += 1;
                    if self.faults.len() < FAULTS_MAX {
                        self.faults.push((row.line, fault));
                    }
                    continue;
                }
            };
            self.name(fields.iter().map(|(name, _)| name))?;
            let columns = fields.into_map();
            if self.rows < PREVIEW_ROWS {
                let cells = self.names.iter().map(|name| columns.get(name));
                let cells = cells.map(|cell| cell.filter(|cell| !cell.is_null()).map(shown));
                self.preview.push((row.line, cells.collect()));
            }
            for (name, column) in self.names.iter().zip(&mut self.columns) {
                if let Some(value) = columns.get(name) {
                    column.add(self.rows, row.line, value, self.of_csv);
                }
            }
            let cells = self.columns.iter().map(|it| it.cell(self.rows));
            let cells = cells.enumerate().filter(|(_, cell)| *cell != 0);
            let cells: Vec<(usize, u64)> = cells.collect();
            let is_repeat = !known.insert(hash_of(&cells));
            self.is_repeat.push(is_repeat);
            self.repeats += usize::from(is_repeat);
            self.rows += 1;
        }
        Ok(())
    }

    /// Ends the columns.
    fn end(&mut self) {
        let (from, to) = names::times(&self.names, |at| self.columns[at].has_dates());
        for at in [from, to].into_iter().flatten() {
            self.columns[at].is_time = true;
        }
        for (name, column) in self.names.iter().zip(&mut self.columns) {
            column.end(self.rows, names::is_instant(name));
        }
    }

    /// Why a column is a text, if most of its values are something else.
    pub(super) fn why_text(&self, at: usize) -> Option<String> {
        let column = self.column(at);
        if self.kind(at) != column.kind() {
            let why = match self.columns.iter().any(Column::has_decimal_point) {
                true => "a text: its numbers have a decimal comma, those of other columns a point",
                false => {
                    "a text: the comma in its numbers may be a decimal one or separate thousands; \
                     if it is decimal, say `decimal = \",\"` and make it a DOUBLE"
                }
            };
            return Some(why.to_owned());
        }
        column.why_text()
    }

    /// Adds the columns that are not known yet.
    ///
    /// # Errors
    /// When there are too many.
    fn name<'a>(&mut self, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
        let before = self.names.len();
        for name in names {
            if !self.known.contains_key(name) {
                self.known.insert(name.clone(), self.names.len());
                self.parts.push(names::Parts::of(name));
                self.names.push(name.clone());
                self.columns.push(Column::default());
            }
        }
        let many = self.names.len();
        if many == before {
            return Ok(());
        }
        if many > COLUMNS_MAX {
            return Err(format!("{many} columns, at most {COLUMNS_MAX}"));
        }
        match self.names.iter().map(String::len).sum::<usize>() {
            bytes if bytes > NAME_BYTES_MAX => Err(format!(
                "the names of its columns have {bytes} bytes, at most {NAME_BYTES_MAX}"
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn file(&self) -> String {
        self.source.file.display().to_string()
    }

    /// The number of the column with this name.
    pub(super) fn at(&self, name: &str) -> Option<usize> {
        self.known.get(name).copied()
    }

    /// The column with this number.
    pub(super) fn column(&self, at: usize) -> &Column {
        &self.columns[at]
    }

    /// Whether each row has a value of its own in this column, by which it can be named. Rows that
    /// are the same have the same key. A few others may have the key of an earlier row, if the
    /// column is named like an id.
    pub(super) fn is_unique(&self, at: usize) -> bool {
        let column = self.column(at);
        let is_whole = self.rows > 0
            && !column.is_list
            && column.count == self.rows as u64
            && (column.kind().is_whole() || column.kind() == ColumnKind::Text);
        let conflicts = self.conflicts(at);
        is_whole
            && match names::as_key(&self.names[at], &self.label) {
                // Many rows that are the same are no mistakes.
                0 => conflicts == 0 && self.repeats * 2 <= self.rows,
                _ => conflicts <= CONFLICTS_MAX && conflicts * ROWS_PER_CONFLICT <= self.rows,
            }
    }

    /// The number of distinct rows that have the value of an earlier row in this column, if all
    /// have one.
    pub(super) fn conflicts(&self, at: usize) -> usize {
        let distinct = self.rows - self.repeats;
        distinct.saturating_sub(self.column(at).values.len())
    }

    /// The rows that are the same as no earlier one.
    pub(super) fn distinct(&self) -> impl Iterator<Item = usize> {
        (0..self.rows).filter(|row| !self.is_repeat[*row])
    }

    /// The number of distinct rows whose values in these columns an earlier row has, too; rows
    /// without one of the first `needed` values do not count.
    pub(super) fn repeated(&self, columns: &[usize], needed: usize) -> usize {
        let mut known = HashSet::new();
        let mut repeated = 0;
        for row in self.distinct() {
            let cells: Vec<u64> = columns
                .iter()
                .map(|at| self.column(*at).cells[row])
                .collect();
            let is_whole = cells.iter().take(needed).all(|cell| *cell != 0);
            if is_whole && !known.insert(cells) {
                repeated += 1;
            }
        }
        repeated
    }

    /// The number of rows without a value in this column.
    pub(super) fn empty(&self, at: usize) -> usize {
        let cells = self.column(at).cells.iter();
        cells.filter(|cell| **cell == 0).count()
    }

    /// Whether its numbers have a decimal comma. If some columns have a comma and some a point, the
    /// point is meant; and a comma is none if all may separate thousands.
    pub(super) fn has_decimal_comma(&self) -> bool {
        let has_point = self.columns.iter().any(Column::has_decimal_point);
        !has_point && self.columns.iter().any(Column::has_sure_comma)
    }

    /// The kind of a column as the mapping can say it.
    pub(super) fn kind(&self, at: usize) -> ColumnKind {
        let column = self.column(at);
        match column.has_decimal_comma() && !self.has_decimal_comma() {
            true if self.of_csv && !column.kind().is_whole() => ColumnKind::Text,
            _ => column.kind(),
        }
    }

    /// The texts that mean "no value" in all columns, with the number of each.
    pub(super) fn nulls(&self) -> BTreeMap<&'static str, u64> {
        let mut nulls = BTreeMap::new();
        for (null, count) in self.columns.iter().flat_map(|column| &column.nulls) {
            *nulls.entry(*null).or_default() += count;
        }
        nulls
    }
}

/// What was found out about a file, in words.
fn found(rows: &Rows) -> Vec<String> {
    let found = rows.found();
    let mut words = vec![found.format.name().to_owned()];
    match found.compression {
        varve_files::Compression::None => {}
        varve_files::Compression::Gzip => words.push("gzip".to_owned()),
        varve_files::Compression::Zstd => words.push("zstd".to_owned()),
    }
    words.extend(found.charset.map(str::to_owned));
    words.extend(rows.delimiter().map(|mark| format!("separator {mark:?}")));
    words
}

/// Refuses a header that is a row of values.
fn check_header(header: &[String]) -> Result<(), String> {
    let is_value = |name: &&String| {
        let mut column = Column::default();
        column.add(0, 1, &Json::from(name.as_str()), true);
        !matches!(column.kind(), ColumnKind::Text)
    };
    match header.iter().find(is_value) {
        None => Ok(()),
        Some(value) => Err(format!(
            "its first row should name the columns, but has the value '{value}'; add a row of \
             names, or write a mapping with `header`"
        )),
    }
}

/// Refuses a file with one column if its first rows can all be split in the same way: then the
/// delimiter is not one that is recognized.
fn check_single(name: &str, rows: &[(u64, Vec<Option<String>>)]) -> Result<(), String> {
    let values: Vec<&String> = rows.iter().flat_map(|(_, cells)| cells).flatten().collect();
    let count = |text: &str, mark: char| text.matches(mark).count();
    let mut marks = name
        .chars()
        .filter(|it| !it.is_alphanumeric() && !matches!(it, '_' | '-'));
    let splits = |mark: &char| {
        let all = count(name, *mark);
        !values.is_empty() && values.iter().all(|value| count(value, *mark) == all)
    };
    match marks.find(splits) {
        None => Ok(()),
        Some(mark) => Err(format!(
            "it has one column, '{name}', unless {mark:?} separates the columns; then write a \
             mapping with `delimiter = {mark:?}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_many_files_has_its_part_of_the_cells() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        let lines: String = (0..100).map(|at| format!("{at},1\n")).collect();
        std::fs::write(&path, format!("id,n\n{lines}")).expect("written");
        let source = super::super::source_of(&path).expect("a source");
        for (files, rows) in [(1, 100), (200_000, 40)] {
            let table = Table::read(&source, files, &|| Ok(())).expect("a table");
            assert_eq!((table.rows, table.is_cut), (rows, rows < 100));
        }
    }
}
