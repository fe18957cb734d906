//! Ids of vertices, edges and schema elements, and their text forms.
//!
//! Text forms follow HugeGraph: a vertex id in a URL is JSON (`"1:marko"`, `123`, `U"<uuid>"`), an
//! edge id is five parts joined by `>`: source, edge label id, sub edge label id, sort values,
//! target.

use std::fmt::Write;

use compact_str::CompactString;
use smallvec::SmallVec;

use crate::value::Uuid;

/// Longest vertex id, in bytes of its text form.
pub const VERTEX_ID_BYTES_MAX: usize = 16 * 1024;
/// Longest edge id, in bytes of its text form.
pub const EDGE_ID_BYTES_MAX: usize = 64 * 1024;

macro_rules! schema_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}
schema_id! {
    /// Id of a property key: counted from 1 within a graph, never reused.
    PropertyKeyId
}
schema_id! {
    /// Id of a vertex label: counted from 1 within a graph, never reused.
    VertexLabelId
}
schema_id! {
    /// Id of an edge label: counted from 1 within a graph, never reused.
    EdgeLabelId
}
schema_id! {
    /// Id of an index label: counted from 1 within a graph, never reused.
    IndexLabelId
}

/// Id of a vertex. `Number(123)` and `Text("123")` are different ids. The order is HugeGraph's
/// storage order: numbers, then UUIDs, then texts by length and bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum VertexId {
    /// AUTOMATIC and CUSTOMIZE_NUMBER.
    Number(i64),
    /// CUSTOMIZE_UUID, most significant byte first.
    Uuid(u128),
    /// PRIMARY_KEY and CUSTOMIZE_STRING; 1 to [`VERTEX_ID_BYTES_MAX`] bytes.
    Text(CompactString),
}

impl VertexId {
    /// A text id.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(CompactString::new(text))
    }

    /// Bytes of the text form, for a number an upper bound; [`VERTEX_ID_BYTES_MAX`] limits them.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Number(_) => 20,
            Self::Uuid(_) => 36,
            Self::Text(text) => text.len(),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Number(_) => 0,
            Self::Uuid(_) => 1,
            Self::Text(_) => 2,
        }
    }
}

impl PartialOrd for VertexId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for VertexId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp(b),
            (Self::Uuid(a), Self::Uuid(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => (a.len(), a.as_bytes()).cmp(&(b.len(), b.as_bytes())),
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl std::fmt::Display for VertexId {
    /// The plain text form, as in messages and inside edge ids: no quotes.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Uuid(uuid) => write!(f, "{}", Uuid(*uuid)),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Which way an edge is walked from the vertex that owns the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From source to target.
    Out,
    /// From target to source.
    In,
}

impl Direction {
    /// The other direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// Id of an edge: the parts that identify it.
///
/// For a NORMAL edge label, `parent` and `label` are the same; for a SUB label, `parent` is its
/// parent's id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId {
    /// Vertex the edge leaves.
    pub source: VertexId,
    /// The parent's label id, or the label's own.
    pub parent: EdgeLabelId,
    /// The edge's own label id.
    pub label: EdgeLabelId,
    /// Sort values in HugeGraph's joined text form ([`crate::sortable`]); empty for frequency
    /// SINGLE.
    pub sort_values: CompactString,
    /// Vertex the edge enters.
    pub target: VertexId,
}

/// Why a text is not an edge id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EdgeIdError {
    /// Wrong number of parts.
    #[error("Edge id must be formatted as 5~6 parts, but got {parts} parts: '{text}'")]
    Parts {
        /// How many parts there are.
        parts: usize,
        /// The text.
        text: String,
    },
    /// A part is malformed.
    #[error("Invalid format of edge id '{0}'")]
    Format(String),
}

impl EdgeId {
    /// The vertex at the end that `direction` starts from.
    #[must_use]
    pub fn owner(&self, direction: Direction) -> &VertexId {
        match direction {
            Direction::Out => &self.source,
            Direction::In => &self.target,
        }
    }

    /// The vertex at the other end.
    #[must_use]
    pub fn other(&self, direction: Direction) -> &VertexId {
        self.owner(direction.opposite())
    }

    /// Reads the five-part text form, or the four-part one of servers before 1.5 (one label id).
    ///
    /// # Errors
    /// When the number of parts is neither, or a part is malformed.
    pub fn parse(text: &str) -> Result<Self, EdgeIdError> {
        // Without a backquote nothing is escaped and nothing guarded.
        if text.contains('`') {
            return Self::of_parts(text, &split_unescaped(text, '>'));
        }
        let parts: SmallVec<[&str; 6]> = text.split('>').collect();
        Self::of_parts(text, &parts)
    }

    fn of_parts<P: AsRef<str>>(text: &str, parts: &[P]) -> Result<Self, EdgeIdError> {
        let format = || EdgeIdError::Format(text.to_owned());
        let (source, parent, label, sort, target) = match parts {
            [source, parent, label, sort, target] => (source, parent, label, sort, target),
            [source, label, sort, target] => (source, label, label, sort, target),
            [_, _, _, _, _, _] => return Err(format()),
            other => {
                return Err(EdgeIdError::Parts {
                    parts: other.len(),
                    text: text.to_owned(),
                });
            }
        };
        let label_id = |part: &str| part.parse::<u32>().map(EdgeLabelId).map_err(|_| format());
        Ok(Self {
            source: parse_end(source.as_ref()).ok_or_else(format)?,
            parent: label_id(parent.as_ref())?,
            label: label_id(label.as_ref())?,
            sort_values: CompactString::new(sort),
            target: parse_end(target.as_ref()).ok_or_else(format)?,
        })
    }

    /// Appends the text form to `out`, which must not fail.
    pub fn write_text<W: Write>(&self, out: &mut W) {
        write_end(&self.source, escape_guarded_into, out);
        for label in [self.parent, self.label] {
            let _ = out.write_char('>');
            write_label_id(label, out);
        }
        let _ = out.write_char('>');
        escape_guarded_into(&self.sort_values, '>', out);
        let _ = out.write_char('>');
        write_end(&self.target, escape_into, out);
    }
}

impl std::fmt::Display for EdgeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::with_capacity(64);
        self.write_text(&mut text);
        f.write_str(&text)
    }
}

fn parse_end(part: &str) -> Option<VertexId> {
    let mut chars = part.chars();
    let kind = chars.next()?;
    let rest = chars.as_str();
    match kind {
        'S' if (1..=VERTEX_ID_BYTES_MAX).contains(&rest.len()) => Some(VertexId::text(rest)),
        'L' => rest.parse().ok().map(VertexId::Number),
        'U' => Uuid::parse(rest).map(|uuid| VertexId::Uuid(uuid.0)),
        _ => None,
    }
}

/// Writes a label id. A single digit, the usual case, needs no formatting.
fn write_label_id<W: Write>(id: EdgeLabelId, out: &mut W) {
    let _ = match char::from_digit(id.0, 10) {
        Some(digit) => out.write_char(digit),
        None => write!(out, "{id}"),
    };
}

fn write_end<W: Write>(id: &VertexId, escape: fn(&str, char, &mut W), out: &mut W) {
    match id {
        VertexId::Number(number) => {
            let _ = write!(out, "L{number}");
        }
        VertexId::Uuid(uuid) => {
            let _ = write!(out, "U{}", Uuid(*uuid));
        }
        VertexId::Text(text) => {
            let _ = out.write_char('S');
            escape(text, '>', out);
        }
    }
}

/// Appends a part that `separator` follows: escaped, and guarded so that a backquote at its end is
/// not read as the escape of that separator. The guard: a part that ends in a backquote and any
/// number of `~` gets one more `~`. HugeGraph has no guard and confuses ids with such parts; all
/// other parts are written as in HugeGraph.
pub fn escape_guarded_into<W: Write>(part: &str, separator: char, out: &mut W) {
    escape_into(part, separator, out);
    if needs_guard(part) {
        let _ = out.write_char('~');
    }
}

/// Whether a part, escaped or not, gets a guard where a separator follows.
pub(crate) fn needs_guard(part: &str) -> bool {
    part.trim_end_matches('~').ends_with('`')
}

/// Appends `part` with a backquote before each `separator`; nothing else is escaped (HugeGraph's
/// rule). `out` must not fail.
pub fn escape_into<W: Write>(part: &str, separator: char, out: &mut W) {
    let mut rest = part;
    while let Some((plain, after)) = rest.split_once(separator) {
        let _ = out.write_str(plain);
        let _ = out.write_char('`');
        let _ = out.write_char(separator);
        rest = after;
    }
    let _ = out.write_str(rest);
}

/// Splits at separators not preceded by a backquote, and drops the backquotes before separators and
/// the guards of all parts but the last: undoes [`escape_guarded_into`] for each part but the last,
/// [`escape_into`] for the last.
#[must_use]
pub fn split_unescaped(text: &str, separator: char) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut previous = None;
    for c in text.chars() {
        if c == separator && previous == Some('`') {
            if let Some(part) = parts.last_mut() {
                part.pop();
                part.push(c);
            }
        } else if c == separator {
            if let Some(part) = parts.last_mut()
                && part.ends_with('~')
                && part.trim_end_matches('~').ends_with('`')
            {
                part.pop();
            }
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
        previous = Some(c);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_ids_survive_a_round_trip() {
        for text in [
            "S1:marko>2>2>>S2:lop",
            "S1:marko>1>1>7Jopua00>S1:josh",
            "S1:marko>5>5>>Sb`>3",
            "L123>1>1>>L-456",
        ] {
            assert_eq!(EdgeId::parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn label_ids_of_any_length_are_written() {
        for text in ["L1>0>9>>L2", "L1>10>4294967295>>L2"] {
            assert_eq!(EdgeId::parse(text).expect(text).to_string(), text);
        }
    }

    #[test]
    fn escaped_and_plain_texts_are_read_alike() {
        let plain = EdgeId::parse("Sa>1>1>x>Sb").expect("five parts");
        let escaped = EdgeId::parse("Sa>1>1>x>Sb`>").expect("five parts");
        assert_eq!(escaped.target, VertexId::text("b>"));
        assert_eq!(
            (plain.source, plain.parent),
            (escaped.source, escaped.parent)
        );
        let parts = |text| EdgeId::parse(text).expect_err(text);
        assert!(matches!(
            parts("a>`>b"),
            EdgeIdError::Parts { parts: 2, .. }
        ));
        assert!(matches!(parts("a>>b"), EdgeIdError::Parts { parts: 3, .. }));
    }

    #[test]
    fn old_four_part_ids_are_read() {
        let id = EdgeId::parse("S1:marko>2>>S2:lop").expect("four parts");
        assert_eq!(id.to_string(), "S1:marko>2>2>>S2:lop");
    }

    #[test]
    fn malformed_edge_ids_say_why() {
        assert!(matches!(
            EdgeId::parse("a>b>c"),
            Err(EdgeIdError::Parts { parts: 3, .. })
        ));
        assert!(matches!(
            EdgeId::parse("X1>2>2>>S2"),
            Err(EdgeIdError::Format(_))
        ));
        assert!(matches!(
            EdgeId::parse("S1>x>2>>S2"),
            Err(EdgeIdError::Format(_))
        ));
    }

    #[test]
    fn order_is_numbers_uuids_texts_by_length() {
        let sorted = [
            VertexId::Number(-1),
            VertexId::Number(5),
            VertexId::Uuid(1),
            VertexId::text("z"),
            VertexId::text("aa"),
        ];
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
