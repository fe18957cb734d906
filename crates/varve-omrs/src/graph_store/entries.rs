//! The index entries of instances, made from their stored content.
//!
//! An entry is (number of the index; first value; further values; element). The first value names
//! the partition: a level, and what all its entries have in common. The further values order the
//! entries. A level is the label id of a type, or 0 for all types.

use std::sync::Arc;

use varve_encoding::DecodeError;
use varve_encoding::datum::{Cursor, Token};
use varve_encoding::index::{put_ordered, put_ordered_real, put_ordered_text, put_ordered_whole};
use varve_encoding::row::{edge_parts, vertex_parts};
use varve_graph::GraphError;
use varve_graph::index::{DerivedEntries, Deriver};
use varve_model::{ElementId, Value};

use super::decode::Parts;
use super::indexes::{
    DELETED, IndexKind, classified_first, named_first, put_decimal, put_level_first, put_time,
};
use super::rules::{Rules, TypeRules, is_big_number};
use super::state::Keys;
use super::texts::Texts;
use crate::store::Subject;
use crate::types::InstanceStatus;

/// Makes the entries of a graph's instances.
pub(super) struct InstanceDeriver {
    pub(super) rules: Arc<Rules>,
    pub(super) keys: Keys,
    /// Collects the texts, if given.
    pub(super) texts: Option<Arc<Texts>>,
}

impl Deriver for InstanceDeriver {
    fn derive(
        &self,
        id: &ElementId,
        content: &[u8],
        entries: &mut DerivedEntries,
    ) -> Result<(), GraphError> {
        let (subject, label, properties) = match id {
            ElementId::Vertex(_) => {
                let (label, properties) = vertex_parts(content)?;
                (Subject::Entities, label.0, properties)
            }
            ElementId::Edge(edge) => {
                let (_, _, properties) = edge_parts(content)?;
                (Subject::Relationships, edge.label.0, properties)
            }
        };
        let rules = match subject {
            Subject::Entities => &self.rules.entities,
            Subject::Relationships => &self.rules.relationships,
        };
        // An instance of an unknown type was not written by this repository, or came with a dump
        // before its type. In that case all its entries are made when the type is added.
        let Some(rules) = rules.get(&label) else {
            return Ok(());
        };
        if let ElementId::Edge(edge) = id {
            let first = named_first(&edge.sort_values);
            let index = IndexKind::Relationship.number(Subject::Relationships);
            entries.put(index, &first, &[]);
        }
        let parts = Parts::of(properties, self.keys)?;
        // Content without a header, under a label of the same name, is not of this repository
        // either.
        if parts.header.is_empty() {
            return Ok(());
        }
        let mut making = Making {
            subject,
            label,
            all: &self.rules,
            texts: self.texts.as_deref(),
            rules,
            entries,
            first: Vec::with_capacity(8),
            further: Vec::with_capacity(64),
            times: Times::default(),
            lists_texts: true,
        };
        if making.header(parts.header)? {
            making.properties(parts.properties)?;
        }
        making.classifications(parts.classifications)?;
        Ok(())
    }
}

struct Making<'a> {
    subject: Subject,
    label: u32,
    all: &'a Rules,
    texts: Option<&'a Texts>,
    rules: &'a TypeRules,
    entries: &'a mut DerivedEntries,
    /// A buffer for first values that begin with a level.
    first: Vec<u8>,
    further: Vec<u8>,
    times: Times,
    /// Whether texts have entries of their own. Those of classifications have none.
    lists_texts: bool,
}

/// The times in a header.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    created: Option<i64>,
    updated: Option<i64>,
    /// Whether one of them is later than the start of the state.
    ahead: bool,
}

type Made = Result<(), DecodeError>;

impl Making<'_> {
    fn put(&mut self, kind: IndexKind, first: &[u8]) {
        let index = kind.number(self.subject);
        self.entries.put(index, first, &self.further);
    }

    /// Puts an entry at a level, or in a property's or list's partition at that level.
    fn put_level(&mut self, kind: IndexKind, level: u32, of: Option<u32>) {
        let index = kind.number(self.subject);
        self.first.clear();
        put_level_first(level, of, &mut self.first);
        self.entries.put(index, &self.first, &self.further);
    }

    fn put_levels(&mut self, kind: IndexKind) {
        self.put_lists(kind, None);
    }

    /// Puts an entry in the list `list` of each level.
    fn put_lists(&mut self, kind: IndexKind, list: Option<u32>) {
        let rules = self.rules;
        for level in &rules.levels {
            self.put_level(kind, *level, list);
        }
    }

    /// Puts the entries of the header. Returns whether properties have entries too. Those of a
    /// proxy have none, since no search finds proxies: a repository with many copies of
    /// relationships has many proxies, and each search would have to skip them.
    fn header(&mut self, bytes: &[u8]) -> Result<bool, DecodeError> {
        let (mut times, mut deleted, mut proxy, mut home) = (Times::default(), false, false, None);
        let mut cursor = Cursor::new(bytes);
        let Token::Map(members) = cursor.token()? else {
            return Err(cursor.error());
        };
        self.further.clear();
        for _ in 0..members {
            match (cursor.name()?, cursor.token()?) {
                ("ct", Token::Int(time)) => times.created = Some(time),
                ("ut", Token::Int(time)) => times.updated = Some(time),
                ("st", Token::Text(name)) => deleted = name == InstanceStatus::Deleted.name(),
                ("ah", Token::Bool(flag)) => times.ahead = flag,
                ("mc", Token::Text(id)) => home = Some(id),
                ("px", Token::Bool(flag)) => proxy = flag,
                (_, token) => skip_rest(token, &mut cursor)?,
            }
        }
        self.times = times;
        if proxy && self.all.keeps_proxies_apart() {
            self.put_levels(IndexKind::Proxy);
            return Ok(false);
        }
        if let Some(home) = home {
            self.put(IndexKind::Home, &named_first(home));
        }
        let is_apart = deleted && self.all.keeps_deleted_apart();
        let list = is_apart.then_some(DELETED);
        self.put_lists(IndexKind::Guid, list);
        if deleted && !is_apart {
            self.put_levels(IndexKind::Deleted);
        }
        for (kind, if_ahead, time) in [
            (
                IndexKind::CreateTime,
                IndexKind::CreatedAhead,
                times.created,
            ),
            (
                IndexKind::UpdateTime,
                IndexKind::UpdatedAhead,
                times.updated,
            ),
        ] {
            self.further.clear();
            put_time(time, &mut self.further);
            self.put_lists(kind, list);
            if times.ahead {
                self.put_lists(if_ahead, list);
            }
        }
        if deleted && !is_apart && self.all.has_orders_of_parts() {
            self.further.clear();
            put_time(times.created, &mut self.further);
            self.put_levels(IndexKind::DeletedCreated);
        }
        Ok(true)
    }

    fn properties(&mut self, bytes: Option<&[u8]>) -> Made {
        let rules = self.rules;
        let mut next = 0;
        let mut found: Vec<bool> = vec![false; rules.properties.len()];
        if let Some(bytes) = bytes {
            let mut cursor = Cursor::new(bytes);
            let Token::Map(members) = cursor.token()? else {
                return Err(cursor.error());
            };
            for _ in 0..members {
                if cursor.name()? != "vs" {
                    cursor.skip()?;
                    continue;
                }
                let Token::Map(values) = cursor.token()? else {
                    return Err(cursor.error());
                };
                for _ in 0..values {
                    let name = cursor.name()?;
                    let rest = &rules.properties[next..];
                    let at = next + rest.partition_point(|rule| *rule.name < *name);
                    next = at;
                    let big = rules
                        .properties
                        .get(at)
                        .filter(|rule| rule.name == name)
                        .map(|rule| rule.big);
                    self.further.clear();
                    let single = self.value(&mut cursor, big.unwrap_or_default())?;
                    if big.is_some() && single {
                        found[at] = true;
                        self.put_property(at);
                    }
                }
            }
        }
        self.further.clear();
        put_ordered(None::<&Value>, &mut self.further);
        for (at, found) in found.iter().enumerate() {
            if !found {
                self.put_property(at);
            }
        }
        Ok(())
    }

    /// Puts the entries of a property; its value is in `further`.
    fn put_property(&mut self, at: usize) {
        let rule = &self.rules.properties[at];
        let rules = self.rules;
        for level in rules.levels.iter().skip(rule.from as usize) {
            self.put_level(IndexKind::Property, *level, Some(rule.number));
        }
    }

    /// Reads one value of a property and puts the entries of the texts in it. If the value is
    /// single, appends its ordered bytes to `further` and returns true.
    fn value(&mut self, cursor: &mut Cursor<'_>, big: bool) -> Result<bool, DecodeError> {
        let single = match cursor.token()? {
            Token::Null => false,
            Token::Bool(flag) => {
                put_ordered(Some(&Value::Boolean(flag)), &mut self.further);
                true
            }
            Token::Int(number) => {
                put_ordered_whole(number, &mut self.further);
                true
            }
            Token::Float(number) => {
                put_ordered_real(number, &mut self.further);
                true
            }
            Token::Text(digits) if big => {
                put_decimal(digits, &mut self.further);
                true
            }
            Token::Text(text) => {
                self.text(text);
                true
            }
            Token::List(items) => return self.stated(items, cursor),
            Token::Map(members) => return self.compound(members, cursor),
        };
        Ok(single)
    }

    /// Writes the ordered bytes of a text to `further`, and puts the text's own entries.
    fn text(&mut self, text: &str) {
        self.further.clear();
        put_ordered_text(text, &mut self.further);
        if !self.lists_texts {
            return;
        }
        if let Some(texts) = self.texts {
            texts.note(text);
        }
        self.put_level(IndexKind::Text, super::rules::ANY, None);
        self.put_level(IndexKind::Text, self.label, None);
    }

    /// Reads a primitive with a stated kind: the kind's number, the value, and perhaps a header.
    fn stated(&mut self, items: u32, cursor: &mut Cursor<'_>) -> Result<bool, DecodeError> {
        let Token::Int(kind) = cursor.token()? else {
            return Err(cursor.error());
        };
        let single = if kind == 0 {
            // Arbitrary JSON has no order, and is not a text.
            cursor.skip()?;
            false
        } else {
            self.value(cursor, is_big_number(kind))?
        };
        for _ in 2..items {
            cursor.skip()?;
        }
        Ok(single)
    }

    fn compound(&mut self, members: u32, cursor: &mut Cursor<'_>) -> Result<bool, DecodeError> {
        let mut ordinal = None;
        let mut named = false;
        for _ in 0..members {
            match (cursor.name()?, cursor.token()?) {
                ("e", Token::Int(number)) => ordinal = Some(number),
                ("s", Token::Text(name)) => {
                    self.text(name);
                    named = true;
                }
                ("u" | "m" | "a", Token::Map(members)) => self.nested(members, cursor)?,
                (_, token) => skip_rest(token, cursor)?,
            }
        }
        if let (Some(ordinal), false) = (ordinal, named) {
            put_ordered_whole(ordinal, &mut self.further);
        }
        Ok(ordinal.is_some())
    }

    /// Reads the properties of a struct, map or array.
    fn nested(&mut self, members: u32, cursor: &mut Cursor<'_>) -> Made {
        for _ in 0..members {
            match (cursor.name()?, cursor.token()?) {
                ("vs", Token::Map(values)) => {
                    for _ in 0..values {
                        cursor.name()?;
                        self.value(cursor, false)?;
                        self.further.clear();
                    }
                }
                (_, token) => skip_rest(token, cursor)?,
            }
        }
        Ok(())
    }

    fn classifications(&mut self, bytes: Option<&[u8]>) -> Made {
        let Some(bytes) = bytes else { return Ok(()) };
        let mut cursor = Cursor::new(bytes);
        let Token::List(count) = cursor.token()? else {
            return Err(cursor.error());
        };
        self.lists_texts = false;
        for _ in 0..count {
            let Token::Map(members) = cursor.token()? else {
                return Err(cursor.error());
            };
            // The name comes first.
            let mut name = None;
            for _ in 0..members {
                match (cursor.name()?, cursor.token()?) {
                    ("n", Token::Text(text)) => {
                        self.classification(text);
                        name = Some(text);
                    }
                    ("pp", Token::Map(members)) => {
                        self.classified(name, members, &mut cursor)?;
                    }
                    (_, token) => skip_rest(token, &mut cursor)?,
                }
            }
        }
        Ok(())
    }

    /// Puts the entries of a classification's name.
    fn classification(&mut self, name: &str) {
        let first = named_first(name);
        self.further.clear();
        self.put(IndexKind::Classification, &first);
        if !self.all.has_orders_of_parts() {
            return;
        }
        let times = self.times;
        for (kind, if_ahead, time) in [
            (
                IndexKind::ClassifiedCreated,
                IndexKind::ClassifiedCreatedAhead,
                times.created,
            ),
            (
                IndexKind::ClassifiedUpdated,
                IndexKind::ClassifiedUpdatedAhead,
                times.updated,
            ),
        ] {
            self.further.clear();
            put_time(time, &mut self.further);
            self.put(kind, &first);
            if times.ahead {
                self.put(if_ahead, &first);
            }
        }
    }

    /// Puts the entries of a classification's properties.
    fn classified(&mut self, name: Option<&str>, members: u32, cursor: &mut Cursor<'_>) -> Made {
        let all = self.all;
        let rules = name.and_then(|name| all.classifications.get(name));
        for _ in 0..members {
            match (cursor.name()?, cursor.token()?) {
                ("vs", Token::Map(values)) => {
                    for _ in 0..values {
                        let property = cursor.name()?;
                        let rule = rules.and_then(|rules| rules.property(property));
                        let (Some(rule), Some(name)) = (rule, name) else {
                            cursor.skip()?;
                            continue;
                        };
                        self.further.clear();
                        if self.value(cursor, rule.big)? {
                            let first = classified_first(name, rule.number);
                            self.put(IndexKind::ClassifiedProperty, &first);
                        }
                    }
                }
                (_, token) => skip_rest(token, cursor)?,
            }
        }
        Ok(())
    }
}

/// Skips the rest of the value that begins with `token`.
pub(super) fn skip_rest(token: Token<'_>, cursor: &mut Cursor<'_>) -> Made {
    match token {
        Token::List(count) => (0..count).try_for_each(|_| cursor.skip()),
        Token::Map(count) => (0..count).try_for_each(|_| {
            cursor.name()?;
            cursor.skip()
        }),
        _ => Ok(()),
    }
}
