//! What the rows of each file are: vertices or edges, with which keys, ends and valid times.

use super::column::{Column, ColumnKind};
use super::periods::Periods;
use super::table::Table;
use super::{GoesOn, Note, names, unknown};

/// A column with values of the key of a table of vertices.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) column: usize,
    /// The number of the table.
    pub(super) to: usize,
    score: f64,
}

/// Where the vertices at an end of an edge come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// A table.
    Table(usize),
    /// No file: the ends themselves are vertices of this label.
    Implied(String),
}

/// What the rows of a table are.
#[derive(Debug)]
pub(super) enum Role {
    Vertices {
        /// The columns of the key, if there is one.
        key: Vec<usize>,
        /// Each is an edge from the row's vertex.
        links: Vec<Link>,
    },
    Edges {
        columns: (usize, usize),
        ends: (End, End),
        /// The columns that distinguish edges between the same vertices.
        sort: Vec<usize>,
    },
}

/// A table with what its rows are.
#[derive(Debug)]
pub(super) struct Related {
    pub(super) role: Role,
    /// The columns of the valid time.
    pub(super) times: (Option<usize>, Option<usize>),
}

/// The least part of a column's values that must be keys, by how much its name says so.
const CONTAINED: [f64; 4] = [0.95, 0.95, 0.95, 0.5];
/// So few values may be no keys, if there are so many keys for each.
const MISSING_MAX: usize = 3;
const KEYS_PER_MISSING: usize = 5;
/// Rows in which one date is before another, from which the two are a valid time; and how many of
/// them there are for each in which it is after it.
const ORDERED_MIN: usize = 5;
const ORDERED_PER_OTHER: usize = 20;
/// Distinct values from which texts alone show a reference.
const TEXTS_MIN: usize = 3;
/// What the name of a key is worth in a file with rows that were not read: more than references.
const CUT_WORTH: f64 = 1e9;

/// Relates tables to one another; adds what is uncertain to `notes`.
///
/// # Errors
/// The reason to stop.
pub(super) fn relate(
    tables: &[Table],
    notes: &mut Vec<Note>,
    goes_on: GoesOn,
) -> Result<Vec<Related>, String> {
    let keys = keys(tables, goes_on)?;
    let mut links = Vec::new();
    let mut of_links: Vec<Vec<Note>> = Vec::new();
    for at in 0..tables.len() {
        let mut notes = Vec::new();
        links.push(self::links(tables, at, &keys, (&mut notes, goes_on))?);
        of_links.push(notes);
    }
    let referred: Vec<bool> = (0..tables.len())
        .map(|at| {
            let mut others = links.iter().enumerate().filter(|(from, _)| *from != at);
            others.any(|(_, links)| links.iter().any(|link| link.to == at))
        })
        .collect();
    let mut related = Vec::new();
    for (at, (table, links)) in tables.iter().zip(links).enumerate() {
        let is_time = |column: usize| table.kind(column) == ColumnKind::Date;
        let mut times = names::times(&table.names, is_time);
        let is_open = times == (None, None) && own_id(table, keys[at], &links).is_none();
        if is_open && links.len() > 1 && !referred[at] {
            times = times_by_order(table, (notes, goes_on))?;
        }
        let of = (keys[at], referred[at]);
        let mut of_role = Vec::new();
        let role = role(table, of, links, times, (&mut of_role, goes_on))?;
        let has_ids = !matches!(&role, Role::Vertices { key, .. } if key.is_empty());
        if has_ids {
            // Without ids there are no edges from the rows.
            notes.append(&mut of_links[at]);
        }
        notes.append(&mut of_role);
        if let Role::Vertices { links, .. } = &role {
            let others =
                (0..table.names.len()).filter(|at| links.iter().all(|it| it.column != *at));
            // A column that is named like an id has the ids of its own file.
            let is_own = |at_key: &usize| {
                keys[at] == Some(*at_key) && names::as_key(&table.names[*at_key], &table.label) > 0
            };
            for column in others.filter(|column| !is_own(column)) {
                note_near(tables, (at, column), &keys, (notes, goes_on))?;
            }
        }
        if table.repeats > 0 && has_ids {
            let text = format!("{} rows are the same as an earlier row", table.repeats);
            notes.push(Note::of_table(table, text));
        }
        related.push(Related { role, times });
    }
    Ok(related)
}

/// How well a column refers to a unique column of another table; `None` if it does not.
fn score(
    tables: &[Table],
    (from, column): (usize, usize),
    (to, key): (usize, usize),
) -> Option<f64> {
    let (table, other) = (&tables[from], &tables[to]);
    let own = table.column(column);
    // Parts of one label have the same columns.
    let is_itself = table.label == other.label && table.names[column] == other.names[key];
    if is_itself || own.values.is_empty() || own.is_list {
        return None;
    }
    let usable = |kind: ColumnKind| kind.is_whole() || kind == ColumnKind::Text;
    if !usable(table.kind(column)) || !usable(other.kind(key)) {
        return None;
    }
    let name = named(table, column, (other, key));
    let is_known = match name {
        // Numbers of different things meet by chance.
        0 => {
            let is_text = table.kind(column) == ColumnKind::Text;
            is_text && own.values.len() >= TEXTS_MIN && from != to
        }
        // Rows that were not read may have the others.
        _ => other.is_cut && name == 3,
    };
    if name == 0 && !is_known {
        return None;
    }
    let missing = missing(tables, own, (to, key));
    let known = own.values.len() - missing;
    #[expect(clippy::cast_precision_loss, reason = "a part of some thousands")]
    let part = known as f64 / own.values.len() as f64;
    let is_few = missing <= MISSING_MAX && known >= missing * KEYS_PER_MISSING;
    let enough = (part >= CONTAINED[usize::from(name)] || is_few) && known > 0;
    (enough || (is_known && name == 3)).then(|| {
        // The key of a table of its own goes before that of a table of two.
        let own_key = f64::from(names::as_key(&other.names[key], &other.label));
        f64::from(name) * 10.0 + part * 5.0 + own_key
    })
}

/// How much a column's name looks like a reference to the key of a table: 0 to 3.
fn named(table: &Table, column: usize, (other, key): (&Table, usize)) -> u8 {
    names::as_reference(&table.parts[column], &other.parts[key], &other.label_words)
}

/// The columns of a key in all files of a label.
fn parts(tables: &[Table], (to, key): (usize, usize)) -> Vec<&Column> {
    let (label, name) = (&tables[to].label, &tables[to].names[key]);
    let of_label = tables.iter().filter(|table| table.label == *label);
    let parts = of_label.filter_map(|table| table.at(name).map(|at| table.column(at)));
    parts.collect()
}

/// The number of values of a column that no file of a label has in this column of its key.
fn missing(tables: &[Table], own: &Column, of: (usize, usize)) -> usize {
    let parts = parts(tables, of);
    let is_known = |value: &u64| parts.iter().any(|part| part.values.contains(value));
    own.values.iter().filter(|value| !is_known(value)).count()
}

/// The unique column of each table by which others name its rows, or else that which is named like
/// a key, or else the first.
fn keys(tables: &[Table], goes_on: GoesOn) -> Result<Vec<Option<usize>>, String> {
    let unique: Vec<Vec<usize>> = tables
        .iter()
        .map(|table| {
            let columns = 0..table.names.len();
            columns.filter(|column| table.is_unique(*column)).collect()
        })
        .collect();
    let mut votes: Vec<Vec<f64>> = tables.iter().map(|it| vec![0.0; it.names.len()]).collect();
    for (from, table) in tables.iter().enumerate() {
        for column in 0..table.names.len() {
            let mut scored = Vec::new();
            for (to, key) in
                (0..tables.len()).flat_map(|to| unique[to].iter().map(move |key| (to, *key)))
            {
                goes_on()?;
                let score = score(tables, (from, column), (to, key));
                scored.extend(score.map(|score| (score, (to, key))));
            }
            let best = scored
                .into_iter()
                .max_by(|(one, _), (other, _)| one.total_cmp(other));
            if let Some((_, (to, key))) = best {
                votes[to][key] += 1.0;
            }
        }
    }
    let best = |at: usize| {
        let worth = |column: &usize| {
            let table = &tables[at];
            let name = names::as_key(&table.names[*column], &table.label);
            // Rows that were not read may repeat a value of a column that is not called a key.
            let named = f64::from(u8::from(table.is_cut && name > 0)) * CUT_WORTH;
            // A key without conflicts goes before one with some.
            let is_sure = f64::from(u8::from(table.conflicts(*column) == 0)) / 2.0;
            named + votes[at][*column] * 4.0 + f64::from(name) + is_sure
        };
        // Of equals, the first.
        let columns = unique[at].iter().copied().rev();
        columns.max_by(|one, other| worth(one).total_cmp(&worth(other)))
    };
    Ok((0..tables.len()).map(best).collect())
}

/// Whether the key of a table is no reference to the key of another table with the same ids. If
/// the names do not say whose ids they are, they belong to the table that has more of them.
fn is_own_id(tables: &[Table], own: (usize, usize), other: (usize, usize)) -> bool {
    let named_so = |(at, key): (usize, usize)| {
        let table: &Table = &tables[at];
        names::as_key(&table.names[key], &table.label)
    };
    let worth = |of: (usize, usize)| (named_so(of), tables[of.0].column(of.1).values.len());
    named_so(own) == 3 || (worth(own), other.0) > (worth(other), own.0)
}

/// The columns of a table that refer to keys, one by one.
fn links(
    tables: &[Table],
    from: usize,
    keys: &[Option<usize>],
    (notes, goes_on): (&mut Vec<Note>, GoesOn),
) -> Result<Vec<Link>, String> {
    let table = &tables[from];
    let mut links = Vec::new();
    for column in 0..table.names.len() {
        let all = keys.iter().enumerate();
        let mut scored: Vec<(f64, usize)> = Vec::new();
        for (to, key) in all.filter_map(|(to, key)| Some((to, (*key)?))) {
            goes_on()?;
            scored.extend(score(tables, (from, column), (to, key)).map(|score| (score, to)));
        }
        scored
            .sort_by(|(one, first), (other, second)| other.total_cmp(one).then(first.cmp(second)));
        let Some((best, to)) = scored.first().copied() else {
            continue;
        };
        let key = keys[to].unwrap_or_default();
        if keys[from] == Some(column) && is_own_id(tables, (from, column), (to, key)) {
            continue;
        }
        let rivals = scored.iter().skip(1);
        let rivals = rivals.filter(|(score, _)| (best - score).abs() < 0.01);
        let rivals = rivals.map(|(_, to)| &*tables[*to].label);
        let rivals: Vec<&str> = rivals.filter(|label| *label != tables[to].label).collect();
        if !rivals.is_empty() {
            notes.push(Note::of(
                table,
                column,
                format!(
                    "its values are ids of '{}', but also of {rivals:?}",
                    tables[to].label
                ),
            ));
        }
        let target = &tables[to];
        let missing = missing(tables, table.column(column), (to, key));
        if named(table, column, (target, key)) == 0 {
            let values = match missing {
                0 => "all its values",
                _ => "almost all its values",
            };
            let label = &target.label;
            let text = format!("taken for ids of '{label}', since {values} are some");
            notes.push(Note::of(table, column, text));
        }
        if missing > 0 && !target.is_cut {
            let known = parts(tables, (to, key));
            let examples = unknown::examples(table, column, &known, goes_on)?;
            let text = format!(
                "{missing} of its values are no ids of '{}' ({examples}): these edges will be \
                 refused",
                target.label
            );
            notes.push(Note::of(table, column, text));
        }
        links.push(Link {
            column,
            to,
            score: best,
        });
    }
    Ok(links)
}

/// The column of a table's own id, if it has one that is named so.
fn own_id(table: &Table, key: Option<usize>, links: &[Link]) -> Option<usize> {
    let own = key.filter(|key| links.iter().all(|link| link.column != *key));
    own.filter(|key| names::as_key(&table.names[*key], &table.label) >= 2)
}

/// The only two columns of dates of a table of edges, if one is before the other in almost all
/// rows.
///
/// # Errors
/// When the file cannot be read again, or the reason to stop.
fn times_by_order(
    table: &Table,
    (notes, goes_on): (&mut Vec<Note>, GoesOn),
) -> Result<(Option<usize>, Option<usize>), String> {
    let is_date = |at: &usize| table.kind(*at) == ColumnKind::Date;
    let dates: Vec<usize> = (0..table.names.len()).filter(is_date).collect();
    let [one, other] = *dates else {
        return Ok((None, None));
    };
    if dates
        .iter()
        .any(|at| names::is_no_period(&table.names[*at]))
    {
        return Ok((None, None));
    }
    let ordered = |from: usize, to: usize| {
        let periods = Periods::read(table, (Some(from), Some(to)), goes_on);
        periods.map(|periods| periods.closed())
    };
    let (forth, back) = (ordered(one, other)?, ordered(other, one)?);
    let (from, to, rows, others) = match forth > back {
        true => (one, other, forth, back),
        false => (other, one, back, forth),
    };
    if rows < ORDERED_MIN || others * ORDERED_PER_OTHER > rows {
        return Ok((None, None));
    }
    let text = format!(
        "taken for the start of the valid time, and '{}' for its end, since it is before that in \
         {rows} rows. Check this",
        table.names[to]
    );
    notes.push(Note::of(table, from, text));
    Ok((Some(from), Some(to)))
}

/// Adds what is uncertain about the column that was taken for a key.
fn note_key(table: &Table, key: usize, is_referred: bool, notes: &mut Vec<Note>) {
    let conflicts = table.conflicts(key);
    if conflicts > 0 {
        let text = format!(
            "{conflicts} rows have the value of an earlier row and differ from it: the later row \
             holds"
        );
        notes.push(Note::of(table, key, text));
    }
    if !is_referred && names::as_key(&table.names[key], &table.label) == 0 {
        let text = "taken for the id, since no value is there twice, but it is not named like \
                    one. Check this";
        notes.push(Note::of(table, key, text.to_owned()));
    }
}

/// Adds a note on a column of texts of which more than half are keys of another table, but too few.
fn note_near(
    tables: &[Table],
    (from, column): (usize, usize),
    keys: &[Option<usize>],
    (notes, goes_on): (&mut Vec<Note>, GoesOn),
) -> Result<(), String> {
    let (table, own) = (&tables[from], tables[from].column(column));
    let is_text = table.kind(column) == ColumnKind::Text && !own.is_list;
    let all = own.values.len();
    if !is_text || all < TEXTS_MIN || table.is_cut {
        return Ok(());
    }
    let others = keys.iter().enumerate();
    let others = others.filter_map(|(to, key)| Some((to, (*key)?)));
    let others = others.filter(|(to, _)| tables[*to].label != table.label);
    let found = others.map(|of| (missing(tables, own, of), of)).min();
    let Some((missing, of)) = found.filter(|(missing, _)| *missing > 0 && missing * 2 < all) else {
        return Ok(());
    };
    let examples = unknown::examples(table, column, &parts(tables, of), goes_on)?;
    let text = format!(
        "{} of its {all} values are ids of '{}', too few to take it for a reference: {examples}",
        all - missing,
        tables[of.0].label
    );
    notes.push(Note::of(table, column, text));
    Ok(())
}

/// What the rows of a table are.
fn role(
    table: &Table,
    (key, is_referred): (Option<usize>, bool),
    links: Vec<Link>,
    times: (Option<usize>, Option<usize>),
    (notes, goes_on): (&mut Vec<Note>, GoesOn),
) -> Result<Role, String> {
    let own = key.filter(|key| links.iter().all(|link| link.column != *key));
    let own_id = own_id(table, key, &links);
    if !is_referred && let Some(columns) = ends(table, &links, own_id.is_some(), times) {
        let end = |column: usize| {
            let link = links.iter().find(|link| link.column == column);
            link.map(|link| End::Table(link.to))
        };
        let implied = || End::Implied(implied(&table.label));
        let ends = match (end(columns.0), end(columns.1)) {
            (Some(from), Some(to)) => (from, to),
            // Both ends are of one kind.
            (Some(one), None) | (None, Some(one)) => (one.clone(), one),
            (None, None) => (implied(), implied()),
        };
        let others = links
            .iter()
            .filter(|it| it.column != columns.0 && it.column != columns.1);
        for link in others {
            notes.push(Note::of(
                table,
                link.column,
                "a third end: it stays a property".to_owned(),
            ));
        }
        let thirds = links.iter().map(|link| link.column);
        let preferred: Vec<usize> = own_id.into_iter().chain(thirds).collect();
        let sort = sort(table, columns, &preferred, times, (notes, goes_on))?;
        if table.is_cut {
            let what = "ends, start and `sort_keys`";
            notes.push(Note::of_table(table, unread(table, what)));
        }
        return Ok(Role::Edges {
            columns,
            ends,
            sort,
        });
    }
    let key = match own.or(key) {
        Some(key) => {
            note_key(table, key, is_referred || own.is_none(), notes);
            vec![key]
        }
        None => composite(table, &links, times, goes_on)?,
    };
    if table.is_cut && !key.is_empty() {
        notes.push(Note::of(table, key[0], unread(table, "key")));
    }
    if key.is_empty() {
        let why = "no column, and no two columns, identify its rows: they get ids of the server";
        notes.push(Note::of_table(table, why.to_owned()));
    }
    let links = match key.is_empty() {
        true => Vec::new(),
        // With two links to one table, both columns stay apart by their names.
        false => links,
    };
    Ok(Role::Vertices { key, links })
}

/// What is uncertain in a file with rows that were not read.
fn unread(table: &Table, what: &str) -> String {
    format!(
        "only the first {} rows were read: a later row with the {what} of an earlier one replaces it",
        table.rows
    )
}

/// The columns of the two ends, if the rows are edges.
fn ends(
    table: &Table,
    links: &[Link],
    has_id: bool,
    times: (Option<usize>, Option<usize>),
) -> Option<(usize, usize)> {
    let is_time = |at: usize| times.0 == Some(at) || times.1 == Some(at);
    let usable = |at: usize| {
        let is_id = table.kind(at).is_whole() || table.kind(at) == ColumnKind::Text;
        is_id && !is_time(at) && !table.column(at).is_mostly_dates()
    };
    let columns = table.names.iter().enumerate();
    let columns = columns.map(|(at, name)| if usable(at) { name.as_str() } else { "" });
    let named = names::ends(&columns.collect::<Vec<_>>());
    // A name like `start` may be anything; values that are ids are not.
    let linked = |at: usize| links.iter().any(|link| link.column == at);
    let named = named.filter(|(from, to)| !has_id || (linked(*from) && linked(*to)));
    if named.is_some() {
        return named;
    }
    let mut sure: Vec<&Link> = links.iter().collect();
    sure.sort_by(|one, other| other.score.total_cmp(&one.score));
    let (one, other) = (sure.first()?, sure.get(1)?);
    let pair = (one.column.min(other.column), one.column.max(other.column));
    let is_period = times.0.is_some() && links.len() == 2;
    (!has_id || is_period).then_some(pair)
}

/// The label of vertices that no file has: `person` for `person_knows_person`.
fn implied(label: &str) -> String {
    let parts: Vec<&str> = label.split('_').collect();
    match (&*parts, parts.first(), parts.last()) {
        ([_, .., _], Some(first), Some(last)) if first == last => (*first).to_owned(),
        _ => "node".to_owned(),
    }
}

/// Two columns that identify the rows together.
fn composite(
    table: &Table,
    links: &[Link],
    times: (Option<usize>, Option<usize>),
    goes_on: GoesOn,
) -> Result<Vec<usize>, String> {
    let usable = |at: &usize| {
        let is_time = times.0 == Some(*at) || times.1 == Some(*at);
        let is_kind = table.kind(*at).is_whole()
            || matches!(table.kind(*at), ColumnKind::Text | ColumnKind::Date);
        let is_whole = table.rows > 0 && table.empty(*at) == 0 && !table.column(*at).is_list;
        is_kind && is_whole && !is_time
    };
    let columns: Vec<usize> = (0..table.names.len()).filter(usable).collect();
    let is_linked: Vec<bool> = (0..table.names.len())
        .map(|at| links.iter().any(|link| link.column == at))
        .collect();
    // First pairs of references, then those with one. Rows without an id may be the same.
    let wanted: &[usize] = match table.repeats {
        0 => &[2, 1],
        _ => &[2],
    };
    for wanted in wanted {
        for (place, one) in columns.iter().enumerate() {
            for other in &columns[place + 1..] {
                goes_on()?;
                let worth = usize::from(is_linked[*one]) + usize::from(is_linked[*other]);
                if worth == *wanted && table.repeated(&[*one, *other], 2) == 0 {
                    return Ok(vec![*one, *other]);
                }
            }
        }
    }
    Ok(Vec::new())
}

/// The columns that distinguish edges between the same vertices.
fn sort(
    table: &Table,
    (from, to): (usize, usize),
    preferred: &[usize],
    times: (Option<usize>, Option<usize>),
    (notes, goes_on): (&mut Vec<Note>, GoesOn),
) -> Result<Vec<usize>, String> {
    let mut columns = vec![from, to];
    let periods = match times.1 {
        Some(_) => Some(Periods::read(table, times, goes_on)?),
        None => None,
    };
    columns.extend(times.0);
    // Of rows of one edge the later one holds, where their periods overlap.
    let hidden = |sort: Option<usize>| {
        let of_edge = [from, to].into_iter().chain(sort);
        match &periods {
            Some(periods) => periods.overlaps(table, &of_edge.collect::<Vec<_>>()),
            None => table.repeated(&of_edge.chain(times.0).collect::<Vec<_>>(), 2),
        }
    };
    let repeated = hidden(None);
    if repeated == 0 {
        return Ok(Vec::new());
    }
    let usable = |at: &usize| {
        let kind = table.kind(*at);
        let is_kind = kind.is_whole() || matches!(kind, ColumnKind::Text | ColumnKind::Date);
        let is_end = columns.contains(at) || times.1 == Some(*at);
        is_kind && !is_end && table.empty(*at) == 0 && !table.column(*at).is_list
    };
    let all = 0..table.names.len();
    let candidates = preferred.iter().copied().chain(all).filter(usable);
    let mut best: Option<(usize, usize)> = None;
    for at in candidates {
        goes_on()?;
        let left = hidden(Some(at));
        if best.is_none_or(|(_, least)| left < least) {
            best = Some((at, left));
        }
        if left == 0 {
            break;
        }
    }
    // A few rows that stay hidden are no reason to hide the others.
    let found = best.filter(|(_, left)| left * 2 <= repeated);
    if let Some((at, left)) = found {
        let told = format!(
            "tells edges apart that have the same ends ({} rows; `sort_keys`)",
            repeated - left
        );
        notes.push(Note::of(table, at, told));
    }
    let left = found.map_or(repeated, |(_, left)| left);
    if left > 0 {
        let text = match periods.is_some() {
            true => format!(
                "{left} rows have the ends of an earlier row and overlap it in time: there the \
                 later row holds"
            ),
            false => format!(
                "{left} rows have the ends and the start of an earlier row, and will replace it"
            ),
        };
        notes.push(Note::of_table(table, text));
    }
    Ok(found.into_iter().map(|(at, _)| at).collect())
}
