//! Results compared with what scenarios expect.

use crate::gherkin::{Order, Table};
use crate::literal::Literal;

/// A result: its columns and its rows.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with one value a column.
    pub rows: Vec<Vec<Literal>>,
}

/// Compares a result with the expected one.
///
/// # Errors
/// The difference.
pub fn result(answer: &Answer, order: Order, expected: &Table) -> Result<(), String> {
    let mut columns = answer.columns.clone();
    let mut header = expected.header.clone();
    let mut places: Vec<usize> = (0..header.len()).collect();
    if columns != header {
        // The order of columns does not count.
        places = header
            .iter()
            .filter_map(|name| columns.iter().position(|column| column == name))
            .collect();
        columns.sort();
        header.sort();
        if columns != header {
            return Err(format!("columns {columns:?} instead of {header:?}"));
        }
    }
    let shown = |value: Literal| match order.ignores_lists {
        true => value.with_sorted_lists().to_string(),
        false => value.to_string(),
    };
    let mut wanted = Vec::new();
    for row in &expected.rows {
        let cells = row.iter().map(|cell| Literal::read(cell).map(shown));
        wanted.push(cells.collect::<Result<Vec<_>, _>>()?.join(" | "));
    }
    let mut found = Vec::new();
    for row in &answer.rows {
        let cells = places.iter().filter_map(|place| row.get(*place));
        let cells: Vec<String> = cells.map(|cell| shown(cell.clone())).collect();
        found.push(cells.join(" | "));
    }
    if !order.rows {
        wanted.sort();
        found.sort();
    }
    match wanted == found {
        true => Ok(()),
        false => Err(format!(
            "rows {} instead of {}",
            brief(&found),
            brief(&wanted)
        )),
    }
}

/// The rows on one line, cut after a few.
fn brief(rows: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = rows.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|row| format!("({row})")).collect();
    let more = if rows.len() > SHOWN { " …" } else { "" };
    format!("{}: {}{more}", rows.len(), shown.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_compared_in_order_or_in_any() {
        let answer = Answer {
            columns: vec!["a".to_owned()],
            rows: vec![vec![Literal::Integer(2)], vec![Literal::Integer(1)]],
        };
        let table = |cells: &[&str]| Table {
            header: vec!["a".to_owned()],
            rows: cells.iter().map(|cell| vec![(*cell).to_owned()]).collect(),
        };
        let any = Order::default();
        let in_order = Order { rows: true, ..any };
        assert_eq!(result(&answer, any, &table(&["1", "2"])), Ok(()));
        assert!(result(&answer, in_order, &table(&["1", "2"])).is_err());
        assert!(result(&answer, any, &table(&["1.0", "2"])).is_err());
        assert!(result(&answer, any, &table(&["1"])).is_err());
    }
}
