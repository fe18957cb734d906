//! The report of `varve-bench limits`: Varve beside each limit, with the ratios within turns.

use super::compare::Spread;
use super::table::Table;
use super::text::{optional, three, whole};
use super::{Report, grouped};
use crate::limits::LIMITS;
use crate::result::{ResultFile, Row};

/// The table of all scenarios and limits.
pub(super) fn write(report: &mut Report, files: &[ResultFile]) {
    let mut table = Table::new([
        "<Scenario",
        "<Durability",
        "Turns",
        "Ours: elements/s",
        "CPU µs/element",
        "<Limit",
        "Its elements/s",
        "Its CPU µs/element",
        "Ours ÷ limit, rate",
        "Limit ÷ ours, CPU",
    ]);
    for file in files {
        for (_, rows) in grouped(file.measured(), |row| &row.scenario) {
            for limit in LIMITS {
                line(&mut table, file, &rows, limit);
            }
        }
    }
    report.table(
        "## Varve and its limits",
        "Medians of the turns; the least and the greatest ratio within a turn in parentheses.",
        &table,
    );
}

fn rate(row: &Row) -> Option<f64> {
    Some(row.more.items_per_s)
}

fn cpu(row: &Row) -> Option<f64> {
    row.cpu.server_us_per_item
}

/// Adds the row of a scenario and a limit, if both sides have turns.
fn line(table: &mut Table, file: &ResultFile, rows: &[&Row], limit: &str) {
    let of = |is_it: &dyn Fn(&Row) -> bool| -> Vec<&Row> {
        rows.iter().copied().filter(|row| is_it(row)).collect()
    };
    let theirs = of(&|row| row.server == limit);
    let ours = of(&|row| file.server(&row.server).is_some());
    let median = |rows: &[&Row], figure: fn(&Row) -> Option<f64>| {
        Spread::of(rows.iter().filter_map(|row| figure(row))).map(|it| it.median)
    };
    let ratio = |above: &[&Row], below: &[&Row], figure: fn(&Row) -> Option<f64>| {
        let in_turn = |row: &Row| below.iter().find(|other| other.repeat == row.repeat);
        let ratios = above
            .iter()
            .filter_map(|row| Some(figure(row)? / figure(in_turn(row)?)?));
        optional(Spread::of(ratios), Spread::text)
    };
    let Some(first) = ours.first().filter(|_| !theirs.is_empty()) else {
        return;
    };
    table.row([
        first.scenario.clone(),
        first.durability.clone().unwrap_or_default(),
        theirs.len().to_string(),
        optional(median(&ours, rate), whole),
        optional(median(&ours, cpu), three),
        limit.to_owned(),
        optional(median(&theirs, rate), whole),
        optional(median(&theirs, cpu), three),
        ratio(&ours, &theirs, rate),
        ratio(&theirs, &ours, cpu),
    ]);
}
