//! Whether the day or the month goes first in dates such as `04/05/2021`: one answer for all
//! columns of a file that leave it open.

use super::Note;
use super::dates::First;
use super::table::Table;

/// Decides it by the other columns of a file, or else by the other files.
pub(super) fn decide(tables: &mut [Table], notes: &mut Vec<Note>) {
    let firsts = |table: &Table| -> Vec<(usize, First)> {
        let columns = 0..table.names.len();
        let firsts = columns.filter_map(|at| Some((at, table.column(at).formats()?.first)));
        firsts.collect()
    };
    let known: Vec<Vec<(usize, First)>> = tables.iter().map(firsts).collect();
    for at in 0..tables.len() {
        let open = known[at]
            .iter()
            .filter(|(_, first)| *first == First::Unknown);
        let open: Vec<usize> = open.map(|(column, _)| *column).collect();
        if open.is_empty() {
            continue;
        }
        let of_file = sure(known[at].iter().map(|it| (at, it)));
        let others = known.iter().enumerate();
        let of_all = sure(others.flat_map(|(table, all)| all.iter().map(move |it| (table, it))));
        let model = match of_file {
            Found::Nothing => of_all,
            found => found,
        };
        let (first, why) = match model {
            Found::One((table, column, first)) => {
                let name = &tables[table].names[column];
                let why = match table == at {
                    true => format!("as in column '{name}'"),
                    false => format!("as in column '{name}' of {}", tables[table].file()),
                };
                (first, why)
            }
            _ => (First::Day, "else say month_day_year".to_owned()),
        };
        let taken = if first == First::Month {
            "month"
        } else {
            "day"
        };
        let names = open.iter().map(|column| &tables[at].names[*column]);
        let names: Vec<String> = names.map(|name| format!("'{name}'")).collect();
        let text = "dates can be read with the day or with the month first:";
        notes.push(match &*open {
            [only] => {
                let text = format!("all its {text} the {taken} is taken, {why}");
                Note::of(&tables[at], *only, text)
            }
            _ => {
                let names = names.join(", ");
                let text = format!("columns {names}: all their {text} the {taken} is taken, {why}");
                Note::of_table(&tables[at], text)
            }
        });
        for column in open {
            tables[at].columns[column].dates.prefers_month = first == First::Month;
        }
    }
}

/// What columns show.
enum Found {
    Nothing,
    /// The table, the column, and which goes first.
    One((usize, usize, First)),
    Both,
}

fn sure<'a>(all: impl Iterator<Item = (usize, &'a (usize, First))>) -> Found {
    let sure = all.filter(|(_, (_, first))| matches!(first, First::Day | First::Month));
    sure.fold(
        Found::Nothing,
        |found, (table, (column, first))| match found {
            Found::Nothing => Found::One((table, *column, *first)),
            Found::One(one) if one.2 == *first => found,
            _ => Found::Both,
        },
    )
}
