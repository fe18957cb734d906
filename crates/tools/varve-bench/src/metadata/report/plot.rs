//! The point plot: a line for each row, a point for each volume at its median with the interval of
//! the median, over a logarithmic axis; the published medians as hollow points.

use std::fmt::Write as _;

use super::super::profile::{ROWS, RowInfo};
use super::super::published::Peer;
use super::Shown;
use super::table::{ms, rows};
use crate::api::report::text::escape;

const WIDTH: f64 = 1_200.0;
const LEFT: f64 = 400.0;
const RIGHT: f64 = 30.0;
const TOP: f64 = 26.0;
/// Height of a row of one volume.
const LINE: f64 = 18.0;
/// What each further volume adds.
const FURTHER: f64 = 7.0;
/// Colours of the style.
const COLOURS: usize = 8;

/// A point with its interval, in microseconds.
#[derive(Debug, Clone)]
struct Point {
    median: f64,
    low: f64,
    high: f64,
    colour: usize,
    hollow: bool,
    words: String,
}

/// The plot; empty without points.
pub(super) fn html(runs: &[Shown<'_>]) -> String {
    let lines: Vec<(&RowInfo, Vec<Point>)> = ROWS
        .iter()
        .map(|info| (info, points(info, runs)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    let all = || lines.iter().flat_map(|(_, points)| points);
    let low = all().map(|it| it.low).fold(f64::INFINITY, f64::min);
    let high = all().map(|it| it.high).fold(0.0, f64::max);
    if high <= 0.0 {
        return String::new();
    }
    let (from, to) = (low.log10().floor(), high.log10().ceil());
    let to = if to > from { to } else { from + 1.0 };
    let x = |us: f64| LEFT + (us.log10() - from) / (to - from) * (WIDTH - LEFT - RIGHT);
    let line = LINE + FURTHER * runs.len().saturating_sub(1) as f64;
    let bottom = TOP + line * lines.len() as f64;
    let mut out = format!(
        "<figure class=\"chart\"><figcaption>Medians by method and volume, milliseconds; bars: 95 % of the medians of \
         samples drawn again</figcaption>{}<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"Medians by method \
         and volume\">",
        legend(runs),
        bottom + 24.0
    );
    axis(&mut out, (from as i32, to as i32), x, bottom);
    for (at, (info, points)) in lines.iter().enumerate() {
        let middle = TOP + line * (at as f64 + 0.5);
        let name = format!("{} · {}", info.row.profile.name(), info.row.method);
        let _ = write!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" class=\"ytick\">{}</text><path class=\"grid\" d=\"M{LEFT} {middle:.1}H{}\"/>",
            LEFT - 8.0,
            middle + 4.0,
            escape(&name),
            WIDTH - RIGHT
        );
        let count = points.iter().filter(|it| !it.hollow).count();
        let mut ours = 0;
        for point in points {
            // Volumes lie one below the other, published points on the line.
            let shift = match point.hollow {
                true => 0.0,
                false => FURTHER * (ours as f64 - (count as f64 - 1.0) / 2.0),
            };
            ours += usize::from(!point.hollow);
            draw(&mut out, point, x, middle + shift);
        }
    }
    out + "</svg></figure>\n"
}

fn points(info: &RowInfo, runs: &[Shown<'_>]) -> Vec<Point> {
    let mut points = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let volume = &run.run.volume;
        for peer in Peer::ALL {
            if let Some(figure) = peer.median_ms(info.row, volume) {
                let us = figure * 1_000.0;
                points.push(Point {
                    median: us,
                    low: us,
                    high: us,
                    colour: at % COLOURS,
                    hollow: true,
                    words: format!("{} {volume}: {figure} ms", peer.name()),
                });
            }
        }
        let found = rows(*run).find(|(it, row)| it.row == info.row && row.calls > 0);
        if let Some((_, row)) = found {
            let (low, high) = (row.median_low_us, row.median_high_us);
            points.push(Point {
                median: row.median_us,
                low,
                high,
                colour: at % COLOURS,
                hollow: false,
                words: format!(
                    "{volume}: {} ms ({} to {}), {} calls",
                    ms(row.median_us),
                    ms(low),
                    ms(high),
                    row.calls
                ),
            });
        }
    }
    points.retain(|it| it.median > 0.0 && it.low > 0.0);
    points
}

fn axis(out: &mut String, (from, to): (i32, i32), x: impl Fn(f64) -> f64, bottom: f64) {
    for power in from..=to {
        let us = 10_f64.powi(power);
        let at = x(us);
        let ms = us / 1_000.0;
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom:.1}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" class=\"xtick\">{ms} ms</text>\
             <text x=\"{at:.1}\" y=\"{:.1}\" class=\"xtick\">{ms} ms</text>",
            TOP - 10.0,
            bottom + 16.0
        );
    }
}

fn draw(out: &mut String, point: &Point, x: impl Fn(f64) -> f64, y: f64) {
    let (from, to, at) = (x(point.low), x(point.high), x(point.median));
    let shape = if point.hollow { "hollow" } else { "dot" };
    let _ = write!(
        out,
        "<g class=\"c{}\"><title>{}</title><path class=\"line\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>\
         <circle class=\"{shape}\" cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"3.2\"/></g>",
        point.colour,
        escape(&point.words)
    );
}

fn legend(runs: &[Shown<'_>]) -> String {
    let mut out = String::from("<p class=\"legend\">");
    for (at, run) in runs.iter().enumerate() {
        let name = format!("{} {}", run.file.repository.name, run.run.volume);
        let colour = at % COLOURS;
        let _ = write!(
            out,
            "<span><i class=\"line c{colour}\"></i>{}</span>",
            escape(&name)
        );
    }
    out + "<span><i class=\"dots\"></i>published: XTDB and JanusGraph at the volume of the same colour</span></p>"
}
