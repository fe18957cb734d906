//! Charts of throughput and latency against concurrency, two for each scenario and load model.
//! Charts of paced loads show the published rows as dots.

use super::ReportRow;
use super::published::Published;
use crate::api::result::{Model, Row};
use crate::report::chart::{Axis, Chart, Scale, Series, Shape};
use crate::report::page::section;

/// The horizontal position of a row: its users, or its offered rate (requests a second) if the load
/// is open. `None` if the row lacks it.
fn concurrency(row: &Row) -> Option<f64> {
    match row.load.model {
        Model::Open => row.load.rate,
        Model::Paced | Model::Closed => row.load.users.map(f64::from),
    }
}

/// A section of charts, for scenarios that ran at more than one concurrency in one load model;
/// empty if there are none.
pub(super) fn charts(measured: &[ReportRow<'_>], published: &[Published]) -> String {
    let mut groups: Vec<(&str, Model)> = Vec::new();
    for it in measured {
        let group = (it.row.label.as_str(), it.row.load.model);
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    let mut out = String::new();
    for (label, model) in groups {
        let rows: Vec<&ReportRow<'_>> = measured
            .iter()
            .filter(|it| it.row.label == label && it.row.load.model == model)
            .collect();
        if steps(&rows) < 2 {
            continue;
        }
        let scenario = rows[0].row.scenario.as_str();
        let theirs: Vec<&Published> = match model {
            Model::Paced => published.iter().filter(|row| row.is_of(scenario)).collect(),
            Model::Closed | Model::Open => Vec::new(),
        };
        out.push_str(&throughput(label, model, &rows, &theirs).html());
        out.push_str(&latency(label, model, &rows, &theirs).html());
    }
    match out.is_empty() {
        true => out,
        false => {
            let charts = format!("<div class=\"charts\">{out}</div>");
            section("concurrency", "Against concurrency", &charts)
        }
    }
}

/// The number of different concurrencies among the rows.
fn steps(rows: &[&ReportRow<'_>]) -> usize {
    let mut found: Vec<u64> = rows
        .iter()
        .filter_map(|it| concurrency(it.row))
        .map(f64::to_bits)
        .collect();
    found.sort_unstable();
    found.dedup();
    found.len()
}

fn axis_of(model: Model) -> Axis {
    let label = match model {
        Model::Paced => "users, paced",
        Model::Closed => "users, back to back",
        Model::Open => "requests a second offered",
    };
    Axis::new(label, Scale::Linear)
}

/// One line for each server and durability. Its points are in order of concurrency; repeats at one
/// concurrency become one point, their mean.
fn lines(rows: &[&ReportRow<'_>], value: impl Fn(&Row) -> f64) -> Vec<(String, Vec<(f64, f64)>)> {
    let mut found: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for it in rows {
        let Some(at) = concurrency(it.row) else {
            continue;
        };
        let name = it.series_name();
        let point = (at, value(it.row));
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => found.push((name, vec![point])),
        }
    }
    for (_, points) in &mut found {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut merged: Vec<(f64, f64)> = Vec::new();
        for group in points.chunk_by(|a, b| a.0.to_bits() == b.0.to_bits()) {
            let mean = group.iter().map(|point| point.1).sum::<f64>() / group.len() as f64;
            merged.push((group[0].0, mean));
        }
        *points = merged;
    }
    found
}

fn throughput(label: &str, model: Model, rows: &[&ReportRow<'_>], theirs: &[&Published]) -> Chart {
    let ours = lines(rows, |row| row.columns.throughput);
    let mut series: Vec<Series> = ours
        .into_iter()
        .enumerate()
        .map(|(colour, (name, points))| Series {
            name,
            shape: Shape::Dotted,
            colour,
            points,
        })
        .collect();
    series.extend(dots(theirs, Published::throughput));
    let y = Axis::new("requests a second", Scale::Linear);
    Chart::new(format!("{label}: throughput"), axis_of(model), y, series)
}

/// A line's name, its shape, and its value in a row.
type DrawnFigure = (&'static str, Shape, fn(&Row) -> f64);

fn latency(label: &str, model: Model, rows: &[&ReportRow<'_>], theirs: &[&Published]) -> Chart {
    let mut series = Vec::new();
    let kinds: [DrawnFigure; 2] = [
        ("median", Shape::Dotted, |row| {
            row.columns.median_us as f64 / 1_000.0
        }),
        ("99 %", Shape::DashedDotted, |row| {
            row.more.line99_us as f64 / 1_000.0
        }),
    ];
    for (kind, shape, value) in kinds {
        for (colour, (name, points)) in lines(rows, value).into_iter().enumerate() {
            series.push(Series {
                name: format!("{name} {kind}"),
                shape,
                colour,
                points,
            });
        }
    }
    // A published average of 0 means less than 1 ms. It is drawn at 0.5 ms, since a logarithmic
    // axis cannot show 0.
    series.extend(dots(theirs, |row| row.average_ms().max(0.5)));
    for series in &mut series {
        if series.shape == Shape::Dots {
            series.name += ", average";
        }
    }
    let (title, y) = (
        format!("{label}: service time"),
        Axis::new("ms", Scale::Log),
    );
    Chart::new(title, axis_of(model), y, series)
}

/// The colour of a published row, the same in every chart.
fn published_colour(row: &Published) -> usize {
    match (row.page, row.backend) {
        ("v0.2", _) => 7,
        ("v0.4.4", _) => 4,
        (_, "rocksdb") => 6,
        _ => 5,
    }
}

/// The published rows, as one series for each page and back end.
fn dots(theirs: &[&Published], value: impl Fn(&Published) -> f64) -> Vec<Series> {
    let mut found: Vec<Series> = Vec::new();
    for row in theirs {
        let name = format!("published {} {}", row.page, row.backend);
        let point = (f64::from(row.concurrency), value(row));
        match found.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => found.push(Series {
                name,
                shape: Shape::Dots,
                colour: published_colour(row),
                points: vec![point],
            }),
        }
    }
    found
}
