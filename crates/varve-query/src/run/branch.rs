//! Steps that send rows through children: `union`, `choose`, `coalesce`, `local`.

use super::child::{Child, Reader};
use super::context::{Context, SharedSegments};
use super::each::drain;
use super::row::Row;
use super::{BATCH_MAX, BoxedOperator, Operator, Reset};
use crate::predicate::Predicate;
use crate::{QueryError, Value};

/// The results of a child for each row, in the order of the rows.
pub(crate) fn flat_map(
    cx: &mut Context<'_>,
    child: &mut Child,
    first: bool,
    local: bool,
    rows: Vec<Row>,
) -> Result<Vec<Row>, QueryError> {
    let mut results = match first {
        true => child.firsts(cx, &rows)?.into_iter().flatten().collect(),
        false => child.results(cx, &rows)?,
    };
    results.sort_by_key(|row| row.segment);
    let mut out = Vec::with_capacity(results.len());
    for mut row in results {
        let parent = &rows[row.segment as usize];
        if !local {
            cx.hold_place(&row.value)?;
            // The result takes the parent's path and sack.
            row = Row {
                bulk: row.bulk,
                ..parent.at(row.value, cx.track)
            };
        }
        row.segment = parent.segment;
        out.push(row);
    }
    Ok(out)
}

/// For each row, the results of the first child that has any; with `or_self`, the row itself if
/// none has.
pub(crate) fn coalesce(
    cx: &mut Context<'_>,
    children: &mut [Child],
    rows: Vec<Row>,
    or_self: bool,
) -> Result<Vec<Row>, QueryError> {
    let mut found: Vec<Vec<Row>> = vec![Vec::new(); rows.len()];
    for child in children {
        let open: Vec<usize> = (0..rows.len()).filter(|at| found[*at].is_empty()).collect();
        if open.is_empty() {
            break;
        }
        let asked: Vec<Row> = open.iter().map(|at| rows[*at].clone()).collect();
        let results = child.results(cx, &asked)?;
        for mut row in results {
            let at = open[row.segment as usize];
            if !or_self {
                cx.hold_place(&row.value)?;
                row = Row {
                    bulk: row.bulk,
                    ..rows[at].at(row.value, cx.track)
                };
            }
            row.segment = rows[at].segment;
            found[at].push(row);
        }
    }
    let mut out = Vec::new();
    for (row, mut own) in rows.into_iter().zip(found) {
        match own.is_empty() && or_self {
            true => out.push(row),
            false => out.append(&mut own),
        }
    }
    Ok(out)
}

/// Selects the children that a row goes to.
pub(crate) enum Router {
    /// All children.
    All,
    /// The first child if the condition has a result, else the second.
    Exists(Child),
    /// The children whose choice is met by the value that `reader` reads. `first`: only the first
    /// of these children.
    Read {
        reader: Reader,
        choices: Vec<Pick>,
        first: bool,
    },
}

/// The condition for an option of a branch.
pub(crate) enum Pick {
    Value(Value),
    Predicate(Predicate),
    Child(Child),
    None,
    Unproductive,
    Any,
}

impl Pick {
    /// Whether a value meets the choice; for the choices that look at others, whether it may.
    fn meets(&mut self, cx: &mut Context<'_>, value: Option<&Value>) -> Result<bool, QueryError> {
        Ok(match (self, value) {
            (Self::Any | Self::None, _) | (Self::Unproductive, None) => true,
            (Self::Value(wanted), Some(value)) => value.equals(wanted),
            (Self::Predicate(predicate), Some(value)) => predicate.holds(value)?,
            (Self::Child(child), Some(value)) => {
                let row = Row::start(value.clone(), cx);
                child.exist(cx, &[row])?[0]
            }
            (Self::Unproductive, Some(_)) | (_, None) => false,
        })
    }
}

/// The positions of the choices that a value meets. `first`: at most one.
fn met(
    cx: &mut Context<'_>,
    choices: &mut [Pick],
    value: Option<&Value>,
    first: bool,
) -> Result<Vec<usize>, QueryError> {
    let (mut met, mut none, mut chosen) = (Vec::new(), Vec::new(), false);
    for (at, choice) in choices.iter_mut().enumerate() {
        if !choice.meets(cx, value)? {
            continue;
        }
        match choice {
            Pick::None if first && value.is_none() => {}
            Pick::None => none.push(at),
            Pick::Any | Pick::Unproductive => met.push(at),
            _ => {
                met.push(at);
                chosen = true;
            }
        }
        if first && chosen {
            break;
        }
    }
    if !chosen {
        met.append(&mut none);
    }
    met.truncate(if first { 1 } else { met.len() });
    Ok(met)
}

/// Sends rows to children that process the stream as a whole.
pub(crate) struct Union {
    pub(crate) input: BoxedOperator,
    pub(crate) router: Router,
    pub(crate) children: Vec<Child>,
    /// Whether rows that go to no child pass unchanged.
    pub(crate) passes: bool,
    /// Whether a child must see its whole input before it gives output.
    pub(crate) gathers: bool,
    pub(crate) segments: SharedSegments,
    /// The child to pull from next.
    pub(crate) current: usize,
    pub(crate) ended: bool,
}

impl Union {
    fn route(
        &mut self,
        cx: &mut Context<'_>,
        rows: Vec<Row>,
        out: &mut Vec<Row>,
    ) -> Result<(), QueryError> {
        let ways = ways(cx, &mut self.router, &rows, self.children.len())?;
        for (row, ways) in rows.into_iter().zip(ways) {
            if ways.is_empty() && self.passes {
                out.push(row);
                continue;
            }
            for way in ways {
                self.children[way].feed([row.clone()]);
            }
        }
        Ok(())
    }
}

/// The children that each row goes to.
fn ways(
    cx: &mut Context<'_>,
    router: &mut Router,
    rows: &[Row],
    children: usize,
) -> Result<Vec<Vec<usize>>, QueryError> {
    match router {
        Router::All => Ok(vec![Vec::new(); rows.len()]),
        Router::Exists(child) => {
            let exist = child.exist(cx, rows)?.into_iter();
            Ok(exist
                .map(|exists| usize::from(!exists))
                .map(|way| {
                    if way < children {
                        vec![way]
                    } else {
                        Vec::new()
                    }
                })
                .collect())
        }
        Router::Read {
            reader,
            choices,
            first,
        } => {
            let read = reader.read(cx, rows)?;
            let mut all = Vec::with_capacity(rows.len());
            for value in read {
                all.push(met(cx, choices, value.as_ref(), *first)?);
            }
            Ok(all)
        }
    }
}

impl Operator for Union {
    fn next(
        &mut self,
        cx: &mut Context<'_>,
        demand: usize,
    ) -> Result<Option<Vec<Row>>, QueryError> {
        let mut out = Vec::new();
        loop {
            while self.current < self.children.len() {
                match self.children[self.current].pull(cx, demand)? {
                    Some(rows) if rows.is_empty() => {}
                    Some(mut rows) => {
                        out.append(&mut rows);
                        return Ok(Some(out));
                    }
                    None => self.current += 1,
                }
            }
            if self.ended {
                return Ok((!out.is_empty()).then_some(out));
            }
            let rows = match self.gathers {
                true => {
                    self.ended = true;
                    drain(self.input.as_mut(), cx)?
                }
                // An empty feed of a loop may be filled again, so the input has not ended for good.
                false => match self.input.next(cx, demand.min(BATCH_MAX))? {
                    Some(rows) => rows,
                    None => return Ok((!out.is_empty()).then_some(out)),
                },
            };
            let is_for_all = matches!(self.router, Router::All);
            if self.gathers || !is_for_all {
                for child in &self.children {
                    child.begin_routed(self.segments.count.get());
                }
            }
            match is_for_all {
                true => {
                    for child in &self.children {
                        child.feed(rows.iter().cloned());
                    }
                }
                false => self.route(cx, rows, &mut out)?,
            }
            self.current = 0;
        }
    }

    fn reset(&mut self, how: Reset) {
        for child in &mut self.children {
            child.reset(how);
        }
        self.current = self.children.len();
        self.ended = false;
        self.input.reset(how);
    }
}
