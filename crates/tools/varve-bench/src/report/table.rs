//! Tables as Markdown.

use std::fmt::Write as _;

/// A table. A head that begins with `<` is that of a column of text; other columns are aligned to
/// the right.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(heads: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            heads: heads.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells at its end are empty.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        row.resize(self.heads.len(), String::new());
        self.rows.push(row);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        let mut line = |cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        };
        line(
            &mut self
                .heads
                .iter()
                .map(|head| cell(head.trim_start_matches('<'))),
        );
        line(&mut self.heads.iter().map(|head| {
            let dashes = if head.starts_with('<') { "---" } else { "--:" };
            dashes.to_owned()
        }));
        for row in &self.rows {
            line(&mut row.iter().map(|text| cell(text)));
        }
        out
    }
}

/// Text of a cell: on one line, and without what ends a cell.
fn cell(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// Text in bold if `bad` is set.
pub(crate) fn judged(text: String, bad: bool) -> String {
    match bad {
        true => format!("**{text}**"),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_stay_cells() {
        let mut table = Table::new(["<Label", "a|b"]);
        table.row(["x\ny | z", "**1**"]);
        table.row(["short"]);
        let text = "| Label | a\\|b |\n| --- | --: |\n| x y \\| z | **1** |\n| short |  |\n";
        assert_eq!(table.markdown(), text);
    }
}
