//! The point plot on a logarithmic axis. Each row of the report has a line. On it, each volume has
//! a point at its median, with a bar for the median's bootstrap interval. Published medians are
//! hollow points.

use super::super::profile::{ROWS, RowInfo};
use super::super::published::Peer;
use super::ReportRun;
use super::table::{ms, row_of};
use crate::report::chart::{Axis, Chart, Mark, Scale, Series, Shape};

/// Height of a row with one volume.
const LINE: f64 = 18.0;
/// Additional height for each further volume.
const FURTHER: f64 = 7.0;
/// The colour of the legend's entry for published points; the points have the colours of their
/// volumes.
const GREY: usize = 7;

/// The plot.
pub(super) fn chart(runs: &[ReportRun<'_>]) -> Chart {
    let line = LINE + FURTHER * runs.len().saturating_sub(1) as f64;
    let (mut names, mut marks) = (Vec::new(), Vec::new());
    for info in ROWS {
        let found = marks_of(info, runs, names.len() as f64, FURTHER / line);
        if !found.is_empty() {
            names.push(format!("{} · {}", info.row.profile.name(), info.row.method));
            marks.extend(found);
        }
    }
    let in_legend = |(colour, name, shape)| Series {
        name,
        shape,
        colour,
        points: Vec::new(),
    };
    let runs = runs.iter().enumerate().map(|(at, run)| {
        let name = format!("{} {}", run.file.repository.name, run.run.volume);
        (at, name, Shape::Line)
    });
    let published = "published: XTDB and JanusGraph at the volume of the same colour".to_owned();
    let published = (GREY, published, Shape::Dots);
    Chart {
        title: "Medians by method and volume; bars: 95 % of the medians of samples drawn again"
            .into(),
        x: Axis::new("ms", Scale::Log),
        y: Axis::new("", Scale::Names),
        series: runs.chain([published]).map(in_legend).collect(),
        marks,
        names,
        line,
    }
}

/// The points of the `at`-th row. The medians of `runs` are one below the other, at a distance of
/// `step`; published medians are in the middle.
fn marks_of(info: &RowInfo, runs: &[ReportRun<'_>], at: f64, step: f64) -> Vec<Mark> {
    let mut marks = Vec::new();
    let count = runs.iter().filter_map(|run| row_of(info, *run)).count();
    let mut next = at - step * (count as f64 - 1.0) / 2.0;
    for (colour, run) in runs.iter().enumerate() {
        let volume = &run.run.volume;
        for peer in Peer::ALL {
            marks.extend(peer.median_ms(info.row, volume).map(|median| Mark {
                x: median,
                low: median,
                high: median,
                y: at,
                colour,
                hollow: true,
                words: format!("{} {volume}: {median} ms", peer.name()),
            }));
        }
        if let Some(row) = row_of(info, *run) {
            let (median, low, high) = (row.median_us, row.median_low_us, row.median_high_us);
            let [m, l, h] = [median, low, high].map(ms);
            marks.push(Mark {
                x: median / 1_000.0,
                low: low / 1_000.0,
                high: high / 1_000.0,
                y: next,
                colour,
                hollow: false,
                words: format!("{volume}: {m} ms ({l} to {h}), {} calls", row.calls),
            });
            next += step;
        }
    }
    marks.retain(|it| it.x > 0.0 && it.low > 0.0);
    marks
}
