//! Files of labels that the graph has: their columns are keys, ends and properties of the label.
//!
//! A file has the label of its name; or one whose words its name has (`jobs_fix`), if it has no
//! other columns; of another name, the label of which it has all properties and no other columns.
//! The label decides what its columns are, whatever their values look like.

use std::collections::BTreeSet;

use varve_model::DataType;

use super::Note;
use super::column::ColumnKind;
use super::names::{self, Parts};
use super::relate::{End, Related, Role};
use super::table::Table;
use crate::catalogue::{Catalogue, EdgeLabel, VertexLabel};

/// The least number of columns by which a file is known without its name.
const COLUMNS_MIN: usize = 3;

/// The start and the end of the valid time.
type Times = (Option<usize>, Option<usize>);

/// A file of a label that the graph has.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) rows: Rows,
    /// The columns that are properties, and their names.
    pub(super) properties: Vec<(usize, String)>,
    pub(super) times: Times,
    /// The columns that the label has not.
    pub(super) ignored: Vec<usize>,
    /// The properties of the label that the file has not.
    pub(super) lacking: Vec<String>,
    /// Whether its rows change what the graph has, and leave the properties that they lack.
    pub(super) updates: bool,
}

/// What the rows are.
#[derive(Debug)]
pub(super) enum Rows {
    Vertices {
        /// The columns of the key, if there is one.
        key: Vec<usize>,
        /// Whether the key is an id of the writer's choice, and no property.
        has_id: bool,
        links: Vec<KnownLink>,
    },
    Edges {
        source: Vec<usize>,
        target: Vec<usize>,
        /// Whether nothing says which end is the source.
        is_guess: bool,
    },
}

/// A column with the ids of other vertices, each of which is an edge.
#[derive(Debug)]
pub(super) struct KnownLink {
    pub(super) column: usize,
    pub(super) label: String,
    pub(super) target: String,
}

/// A column's name as the name of something in a schema.
fn is_named(column: &str, name: &str, label: &str) -> bool {
    let clean = names::clean(column);
    clean.eq_ignore_ascii_case(name) || format!("{label}_{clean}") == name
}

/// The columns of a table beside those of one label.
struct Columns {
    properties: Vec<(usize, String)>,
    times: Times,
    /// The others.
    rest: Vec<usize>,
}

impl Columns {
    fn of(table: &Table, label: &str, properties: &[String]) -> Self {
        let mut found: Vec<(usize, String)> = Vec::new();
        for (at, column) in table.names.iter().enumerate() {
            let of_label = || properties.iter();
            let exact = of_label().find(|name| *name == column);
            let property = exact.or_else(|| of_label().find(|it| is_named(column, it, label)));
            let is_new = |name: &&String| !found.iter().any(|(_, known)| known == *name);
            if let Some(name) = property.filter(is_new) {
                found.push((at, name.clone()));
            }
        }
        let is_property = |at: usize| found.iter().any(|(known, _)| *known == at);
        let is_time = |at: usize| table.kind(at) == ColumnKind::Date && !is_property(at);
        let times = names::times(&table.names, is_time);
        let is_rest =
            |at: &usize| !is_property(*at) && times.0 != Some(*at) && times.1 != Some(*at);
        let rest = (0..table.names.len()).filter(is_rest).collect();
        Self {
            properties: found,
            times,
            rest,
        }
    }

    /// The columns of these properties, if the table has all of them.
    fn all(&self, names: &[String]) -> Option<Vec<usize>> {
        let at = |name: &String| {
            let mut known = self.properties.iter();
            Some(known.find(|(_, known)| known == name)?.0)
        };
        names.iter().map(at).collect()
    }

    /// `has_key` says whether rows name elements that the graph may have.
    fn known(self, rows: Rows, of_label: &[String], (used, has_key): (&[usize], bool)) -> Known {
        let lacks = |name: &&String| !self.properties.iter().any(|(_, known)| known == *name);
        let lacking: Vec<String> = of_label.iter().filter(lacks).cloned().collect();
        let mut ignored = self.rest;
        ignored.retain(|at| !used.contains(at));
        Known {
            rows,
            properties: self.properties,
            times: self.times,
            ignored,
            updates: has_key && !lacking.is_empty(),
            lacking,
        }
    }
}

fn vertices(table: &Table, label: &VertexLabel, catalogue: &Catalogue) -> Option<Known> {
    let columns = Columns::of(table, label.name(), &label.properties);
    let link = |column: &usize| {
        let stem = names::stem(&table.names[*column]).join("_");
        let edge = catalogue.edge_label(&format!("{}_{stem}", label.name()));
        let edge = edge.ok().filter(|it| it.source_label == label.name())?;
        let target = catalogue.vertex_label(&edge.target_label).ok()?;
        (target.id_columns() == 1).then(|| KnownLink {
            column: *column,
            label: edge.name().to_owned(),
            target: edge.target_label.clone(),
        })
    };
    let mut links: Vec<KnownLink> = columns.rest.iter().filter_map(link).collect();
    let has_id = label.id_strategy.starts_with("CUSTOMIZE");
    let key = match has_id {
        false => columns.all(&label.primary_keys)?,
        true => {
            let is_link = |at: usize| links.iter().any(|link| link.column == at);
            let rest = columns.rest.iter().copied();
            let rest: Vec<usize> = rest.filter(|at| !is_link(*at)).collect();
            // States of one vertex have its id.
            let has_states = columns.times.0.is_some();
            let is_key = |at: &&usize| {
                names::as_key(&table.names[**at], label.name()) == 3
                    && (has_states || table.is_unique(**at))
            };
            match &*rest {
                [only] => vec![*only],
                several => vec![*several.iter().find(is_key)?],
            }
        }
    };
    let has_key = !key.is_empty();
    links.retain(|_| has_key);
    let used = key.iter().chain(links.iter().map(|link| &link.column));
    let used: Vec<usize> = used.copied().collect();
    let rows = Rows::Vertices { key, has_id, links };
    Some(columns.known(rows, &label.properties, (&used, has_key)))
}

/// How much the columns look like references to vertices of a label.
fn reference(table: &Table, column: usize, label: &VertexLabel) -> u8 {
    let key = label.primary_keys.first().map_or("id", String::as_str);
    let words = names::words(label.name());
    names::as_reference(&table.parts[column], &Parts::of(key), &words)
}

fn edges(table: &Table, label: &EdgeLabel, catalogue: &Catalogue) -> Option<Known> {
    let columns = Columns::of(table, label.name(), &label.properties);
    columns.all(&label.sort_keys)?;
    let source = catalogue.vertex_label(&label.source_label).ok()?;
    let target = catalogue.vertex_label(&label.target_label).ok()?;
    let (of_source, of_target) = (source.id_columns(), target.id_columns());
    let rest = &columns.rest;
    let names: Vec<&str> = table.names.iter().map(String::as_str).collect();
    let ends = names::ends(&names).filter(|(from, to)| {
        let is_single = (of_source, of_target) == (1, 1);
        is_single && rest.contains(from) && rest.contains(to)
    });
    let (source, target, is_guess) = if let Some((from, to)) = ends {
        (vec![from], vec![to], false)
    } else if rest.len() == of_source + of_target {
        let (mut from, mut to) = rest.split_at(of_source);
        let mut is_guess = true;
        if let ([one], [other]) = (from, to) {
            let worth = |from, to| reference(table, from, source) + reference(table, to, target);
            let (as_is, turned) = (worth(*one, *other), worth(*other, *one));
            if turned > as_is {
                (from, to) = (to, from);
            }
            is_guess = turned == as_is;
        }
        (from.to_vec(), to.to_vec(), is_guess)
    } else if (of_source, of_target) == (1, 1) {
        let best = |label: &VertexLabel, taken: Option<usize>| {
            let rest = rest.iter().rev().copied();
            let rest = rest.filter(|at| Some(*at) != taken);
            let best = rest.max_by_key(|at| reference(table, *at, label))?;
            (reference(table, best, label) > 0).then_some(best)
        };
        let from = best(source, None)?;
        (vec![from], vec![best(target, Some(from))?], true)
    } else {
        return None;
    };
    let used: Vec<usize> = source.iter().chain(&target).copied().collect();
    let rows = Rows::Edges {
        source,
        target,
        is_guess,
    };
    let has_key = !label.has_hidden_sort();
    Some(columns.known(rows, &label.properties, (&used, has_key)))
}

/// The labels of the graph that the tables have, which become those of the tables; adds what
/// differs to `notes`.
pub(super) fn labels(
    tables: &mut [Table],
    catalogue: &Catalogue,
    notes: &mut Vec<Note>,
) -> Vec<Option<Known>> {
    tables
        .iter_mut()
        .map(|table| {
            let (label, known) =
                by_name(table, catalogue, notes).or_else(|| by_columns(table, catalogue, notes))?;
            table.label_words = names::words(&label);
            table.label = label;
            note(table, &known, catalogue, notes);
            Some(known)
        })
        .collect()
}

fn by_name(table: &Table, catalogue: &Catalogue, notes: &mut Vec<Note>) -> Option<(String, Known)> {
    let own = &table.label_words;
    let is_same = |name: &str| name.eq_ignore_ascii_case(&table.label);
    let is_part = |name: &str| {
        let words = names::words(name);
        !words.is_empty() && (own.starts_with(&words) || own.ends_with(&words))
    };
    let mut like: Vec<&str> = catalogue.label_names().collect();
    like.retain(|name| is_same(name) || is_part(name));
    // The same name goes before one that is like it, and more words before fewer.
    like.sort_by_key(|name| {
        let words = names::words(name).len();
        (
            *name != table.label,
            !is_same(name),
            usize::MAX - words,
            *name,
        )
    });
    like.dedup();
    for name in &like {
        let vertex = catalogue.vertex_label(name).ok();
        let edge = catalogue.edge_label(name).ok();
        let known = vertex.and_then(|label| vertices(table, label, catalogue));
        let known = known.or_else(|| edges(table, edge?, catalogue));
        let is_sure = |known: &Known| {
            let has_any = !known.properties.is_empty() || known.times.0.is_some();
            is_same(name) || (has_any && known.ignored.is_empty())
        };
        if let Some(known) = known.filter(is_sure) {
            return Some(((*name).to_owned(), known));
        }
    }
    if let Some(name) = like.first().filter(|name| is_same(name)) {
        let text = format!(
            "the graph has a label '{name}', but the file lacks columns of its key or its ends"
        );
        notes.push(Note::of_table(table, text));
    }
    None
}

/// The one label whose properties, key and ends are the columns of the table.
fn by_columns(
    table: &Table,
    catalogue: &Catalogue,
    notes: &mut Vec<Note>,
) -> Option<(String, Known)> {
    let names: BTreeSet<&str> = catalogue.label_names().collect();
    let fits = |known: &Known| {
        let is_all = known.ignored.is_empty() && known.lacking.is_empty();
        let ids = match &known.rows {
            Rows::Vertices { has_id, .. } => usize::from(*has_id),
            Rows::Edges { .. } => 1,
        };
        is_all && known.properties.len() + ids >= COLUMNS_MIN
    };
    let mut found: Vec<(String, Known)> = Vec::new();
    for name in names {
        let vertex = catalogue.vertex_label(name).ok();
        let edge = catalogue.edge_label(name).ok();
        let each = [
            vertex.and_then(|label| vertices(table, label, catalogue)),
            edge.and_then(|label| edges(table, label, catalogue)),
        ];
        let each = each.into_iter().flatten().filter(fits);
        found.extend(each.map(|known| (name.to_owned(), known)));
    }
    if found.len() > 1 {
        let names: Vec<&String> = found.iter().map(|(name, _)| name).collect();
        let text = format!("its columns are those of several labels of the graph: {names:?}");
        notes.push(Note::of_table(table, text));
        return None;
    }
    let only = found.pop()?;
    let text = format!(
        "of label '{}' of the graph, which has the same columns",
        only.0
    );
    notes.push(Note::of_table(table, text));
    Some(only)
}

/// Whether values of a kind are values of a type.
pub(super) fn fits(kind: ColumnKind, data_type: DataType) -> bool {
    match data_type {
        DataType::Byte | DataType::Int => kind == ColumnKind::Int,
        DataType::Long => kind.is_whole(),
        DataType::Float | DataType::Double => kind.is_whole() || kind == ColumnKind::Double,
        DataType::Date => kind == ColumnKind::Date,
        DataType::Boolean => kind == ColumnKind::Boolean,
        DataType::Text | DataType::Blob | DataType::Object | DataType::Uuid => true,
    }
}

/// Notes what a file and its label have not in common.
fn note(table: &Table, known: &Known, catalogue: &Catalogue, notes: &mut Vec<Note>) {
    let label = &table.label;
    for at in &known.ignored {
        let text = format!("ignored: label '{label}' of the graph has no such property");
        notes.push(Note::of(table, *at, text));
    }
    for (at, name) in &known.properties {
        let (kind, count) = (table.kind(*at), table.column(*at).count);
        let Ok(key) = catalogue.key(name) else {
            continue;
        };
        if count > 0 && !fits(kind, key.data_type) {
            let text = format!(
                "'{name}' is {} in the graph, but not all its values are: rows with others will be \
                 refused",
                key.data_type.name()
            );
            notes.push(Note::of(table, *at, text));
        }
    }
    if !known.lacking.is_empty() {
        let stay = match known.updates {
            true => ": with `update = true` they stay as they are",
            false => "",
        };
        let text = format!(
            "no columns for {:?} of label '{label}' of the graph{stay}",
            known.lacking
        );
        notes.push(Note::of_table(table, text));
    }
    if let Rows::Edges {
        source,
        target,
        is_guess: true,
    } = &known.rows
    {
        let names = |columns: &[usize]| {
            let names = columns.iter().map(|at| &*table.names[*at]);
            names.collect::<Vec<&str>>().join(", ")
        };
        let text = format!(
            "guessed that edges go from '{}' to '{}': look at `source` and `target`",
            names(source),
            names(target)
        );
        notes.push(Note::of_table(table, text));
    }
    if matches!(&known.rows, Rows::Vertices { key, .. } if key.is_empty()) {
        let text = format!("each row is a new vertex: label '{label}' has ids of the server");
        notes.push(Note::of_table(table, text));
    }
}

/// The valid times of the tables, as their labels say them.
pub(super) fn set_times(known: &[Option<Known>], related: &mut [Related]) {
    for (known, related) in known.iter().zip(related) {
        if let Some(known) = known {
            related.times = known.times;
        }
    }
}

/// Drops references to files whose label has another key in the graph than the column that is
/// referred to, and notes them.
pub(super) fn check_references(
    tables: &[Table],
    known: &[Option<Known>],
    related: &mut [Related],
    notes: &mut Vec<Note>,
) {
    let has_other_key = |to: usize| match known[to].as_ref().map(|it| &it.rows) {
        None => false,
        Some(Rows::Edges { .. }) => true,
        Some(Rows::Vertices { key, .. }) => match &related[to].role {
            Role::Vertices { key: own, .. } => own != key,
            Role::Edges { .. } => true,
        },
    };
    let others: Vec<bool> = (0..tables.len()).map(has_other_key).collect();
    for ((table, related), known) in tables.iter().zip(related).zip(known) {
        let mut refused = |column: usize, to: usize, what: &str| {
            if known.as_ref().is_none_or(|it| it.ignored.contains(&column)) {
                let label = &tables[to].label;
                let text =
                    format!("its values are no keys of label '{label}' of the graph: {what}");
                notes.push(Note::of(table, column, text));
            }
        };
        match &mut related.role {
            Role::Vertices { links, .. } => links.retain(|link| {
                if others[link.to] {
                    refused(link.column, link.to, "they make no edges");
                }
                !others[link.to]
            }),
            Role::Edges { columns, ends, .. } => {
                for (column, end) in [(columns.0, &ends.0), (columns.1, &ends.1)] {
                    if let End::Table(to) = end
                        && others[*to]
                    {
                        refused(column, *to, "these edges will be refused");
                    }
                }
            }
        }
    }
}
