//! Tables, as HTML and as Markdown.

use std::fmt::Write as _;

use super::text::escape;

/// A table. Its cells are escaped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    /// The title above the table; empty for none.
    pub(crate) title: &'static str,
    /// A note above the table.
    pub(crate) note: String,
    columns: Vec<Column>,
    lines: Vec<Vec<Cell>>,
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    content: Content,
    /// Whether our own columns begin here, to the right of published ones.
    ours: bool,
}

/// The content of a column; numbers are aligned to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Number,
    Text,
    /// Text that may wrap.
    Long,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cell {
    Plain(String),
    /// A good or a bad value: `true` is good.
    Marked(String, bool),
    /// HTML generated here, and its text for Markdown.
    Html(String, String),
}

impl Cell {
    /// Text that is marked if `bad` is set.
    pub(crate) fn judged(text: String, bad: bool) -> Self {
        match bad {
            true => Self::Marked(text, false),
            false => Self::Plain(text),
        }
    }

    /// The text, without marks.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Marked(text, _) | Self::Html(_, text) => text,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Plain(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl Column {
    fn new(head: &str) -> Self {
        let (ours, head) = head
            .strip_prefix('|')
            .map_or((false, head), |rest| (true, rest));
        let (content, name) = match head.chars().next() {
            Some('<') => (Content::Text, &head[1..]),
            Some('~') => (Content::Long, &head[1..]),
            _ => (Content::Number, head),
        };
        Self {
            name: name.to_owned(),
            content,
            ours,
        }
    }

    const fn class(&self) -> &'static str {
        match self.content {
            Content::Number => "",
            Content::Text => "text",
            Content::Long => "long",
        }
    }
}

impl Table {
    /// A table with these heads. A head may have prefixes: `|` if our own columns begin there; then
    /// `<` for a column of text, or `~` for one of text that may wrap.
    pub(crate) fn new<H: AsRef<str>>(heads: impl IntoIterator<Item = H>) -> Self {
        let columns = heads.into_iter().map(|head| Column::new(head.as_ref()));
        Self {
            columns: columns.collect(),
            ..Self::default()
        }
    }

    /// Adds a title and a note.
    pub(crate) fn titled(mut self, title: &'static str, note: impl Into<String>) -> Self {
        (self.title, self.note) = (title, note.into());
        self
    }

    /// Adds a line; missing cells are empty.
    pub(crate) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut line: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        line.resize(self.columns.len(), "".into());
        self.lines.push(line);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(crate) fn html(&self) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = write!(out, "<h3>{}</h3>", escape(self.title));
        }
        if !self.note.is_empty() {
            let _ = write!(out, "<p class=\"note\">{}</p>", escape(&self.note));
        }
        out.push_str("<div class=\"scroll\"><table><thead><tr>");
        for column in &self.columns {
            let ours = if column.ours { "ours" } else { "" };
            let class = class_of([column.class(), ours]);
            let _ = write!(out, "<th{class}>{}</th>", escape(&column.name));
        }
        out.push_str("</tr></thead><tbody>\n");
        for line in &self.lines {
            out.push_str("<tr>");
            for (column, cell) in self.columns.iter().zip(line) {
                let (mark, html) = match cell {
                    Cell::Plain(text) => ("", escape(text)),
                    Cell::Marked(text, true) => ("good", escape(text)),
                    Cell::Marked(text, false) => ("bad", escape(text)),
                    Cell::Html(html, _) => ("", html.clone()),
                };
                let _ = write!(out, "<td{}>{html}</td>", class_of([column.class(), mark]));
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody></table></div>\n"
    }

    /// The table as Markdown, with bad values in bold.
    pub(crate) fn markdown(&self) -> String {
        let mut out = String::new();
        if !self.title.is_empty() {
            let _ = write!(out, "**{}**", self.title);
        }
        if !self.note.is_empty() {
            let colon = if self.title.is_empty() { "" } else { ": " };
            let _ = write!(out, "{colon}{}", self.note);
        }
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        line(&mut out, self.columns.iter().map(|it| it.name.clone()));
        let rule = |column: &Column| match column.content {
            Content::Number => "--:".to_owned(),
            Content::Text | Content::Long => "---".to_owned(),
        };
        line(&mut out, self.columns.iter().map(rule));
        for cells in &self.lines {
            let text = |cell: &Cell| match cell {
                Cell::Marked(text, false) => format!("**{text}**"),
                cell => cell.text().to_owned(),
            };
            line(&mut out, cells.iter().map(text));
        }
        out.push('\n');
        out
    }
}

/// The `class` attribute of an element; empty classes are left out.
fn class_of(classes: [&str; 2]) -> String {
    match classes {
        ["", ""] => String::new(),
        [one, ""] | ["", one] => format!(" class=\"{one}\""),
        [one, other] => format!(" class=\"{one} {other}\""),
    }
}

/// A line of a Markdown table.
fn line(out: &mut String, cells: impl Iterator<Item = String>) {
    for cell in cells {
        let _ = write!(out, "| {} ", cell.replace('|', "\\|").replace('\n', " "));
    }
    out.push_str("|\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_the_same_in_both_forms() {
        let mut table = Table::new(["<Name", "|~Why", "ms"]).titled("Rows", "Of <two>.");
        table.row([
            Cell::from("a|b"),
            "x".into(),
            Cell::judged("9".into(), true),
        ]);
        table.row([Cell::Html("<i>c</i>".into(), "c".into())]);
        assert_eq!(
            table.markdown(),
            "**Rows**: Of <two>.\n\n| Name | Why | ms |\n| --- | --- | --: |\n| a\\|b | x | **9** |\n| c |  |  |\n\n"
        );
        let html = table.html();
        for part in [
            "<h3>Rows</h3><p class=\"note\">Of &lt;two&gt;.</p>",
            "<th class=\"text\">Name</th><th class=\"long ours\">Why</th><th>ms</th>",
            "<td class=\"text\">a|b</td><td class=\"long\">x</td><td class=\"bad\">9</td>",
            "<td class=\"text\"><i>c</i></td><td class=\"long\"></td><td></td>",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }
}
