//! Charts as inline SVG: axes with few round ticks, lines, dots, bars, and points with an interval.
//! There is no text within the plot, so none overlaps; the legend is HTML above it.

use std::fmt::Write as _;

use super::text::{escape, tick};

/// The number of colours of the style; further series reuse them.
const COLOURS: usize = 8;

/// The margins to the right of a plot and below it.
const RIGHT: f64 = 26.0;
const BOTTOM: f64 = 40.0;

/// How values are mapped to positions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero.
    #[default]
    Linear,
    /// Logarithmic; values of zero or less are left out.
    Log,
    /// Percentiles from 0 to below 100; each further nine is as wide as the previous one.
    Nines,
    /// The [`Chart::names`] from top to bottom: value n is the n-th name, from 0.
    Names,
}

/// An axis.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Axis {
    /// The quantity, with its unit.
    pub(crate) label: &'static str,
    pub(crate) scale: Scale,
}

impl Axis {
    pub(crate) const fn new(label: &'static str, scale: Scale) -> Self {
        Self { label, scale }
    }
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Line,
    /// A line with a dot at each point.
    Dotted,
    /// A dashed line with a dot at each point.
    DashedDotted,
    /// Dots without a line: published figures.
    Dots,
    Dashed,
    /// Bars from the axis to the value; points are (middle, height), and a bar is as wide as the
    /// gap between neighbours.
    Bars,
}

/// A named series of points.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    /// The index of its colour in the style.
    pub(crate) colour: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A point with its interval along the horizontal axis.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) x: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) y: f64,
    pub(crate) colour: usize,
    /// Whether it is a published figure.
    pub(crate) hollow: bool,
    /// The text of its tooltip.
    pub(crate) words: String,
}

/// A chart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    /// Series without points are in the legend only.
    pub(crate) series: Vec<Series>,
    pub(crate) marks: Vec<Mark>,
    /// The names on an axis with [`Scale::Names`].
    pub(crate) names: Vec<String>,
    /// The height of each name.
    pub(crate) line: f64,
}

/// A scale and its ends.
#[derive(Debug, Clone, Copy)]
struct Range {
    scale: Scale,
    from: f64,
    to: f64,
}

/// The edges of the plot, and the ranges of its axes.
#[derive(Debug, Clone, Copy)]
struct Plane {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: Range,
    y: Range,
}

impl Plane {
    fn x(self, value: f64) -> f64 {
        self.left + self.x.share(value) * (self.right - self.left)
    }

    fn y(self, value: f64) -> f64 {
        self.bottom - self.y.share(value) * (self.bottom - self.top)
    }
}

impl Scale {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Linear | Self::Names => value,
            Self::Log => value.max(f64::MIN_POSITIVE).log10(),
            Self::Nines => -(1.0 - value / 100.0).max(1e-9).log10(),
        }
    }

    fn admits(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Linear | Self::Names => true,
                Self::Log => value > 0.0,
                Self::Nines => (0.0..100.0).contains(&value),
            }
    }
}

impl Range {
    fn of(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| scale.admits(*value)) {
            low = low.min(value);
            high = high.max(value);
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        let (from, to) = match scale {
            Scale::Linear => (low.min(0.0), if high > 0.0 { round_up(high) } else { 1.0 }),
            Scale::Log => {
                // Extended to 1, 2 or 5 times a power of ten on both sides, and never a single
                // point.
                let (low, mut high) = (one_two_five(low, false), one_two_five(high, true));
                if high <= low {
                    high = low * 10.0;
                }
                (low, high)
            }
            Scale::Nines => (0.0, high.max(99.0)),
            Scale::Names => (high + 0.5, -0.5),
        };
        Self { scale, from, to }
    }

    /// The position of a value as a share of the range.
    fn share(self, value: f64) -> f64 {
        let (from, to) = (self.scale.place(self.from), self.scale.place(self.to));
        ((self.scale.place(value) - from) / (to - from)).clamp(0.0, 1.0)
    }

    /// The ticks and their labels.
    fn ticks(self, names: &[String]) -> Vec<(f64, String)> {
        match self.scale {
            Scale::Names => {
                let names = names.iter().enumerate();
                names.map(|(at, name)| (at as f64, name.clone())).collect()
            }
            Scale::Linear => {
                let step = linear_step(self.to - self.from);
                let first = (self.from / step).ceil() as i64;
                let last = (self.to / step + 1e-6).floor() as i64;
                (first..=last)
                    .map(|at| at as f64 * step)
                    .map(|value| (value, tick(value)))
                    .collect()
            }
            Scale::Log => log_ticks(self.from, self.to),
            Scale::Nines => [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
                .into_iter()
                .filter(|value| *value <= self.to + 1e-9)
                .map(|value| (value, format!("{value} %")))
                .collect(),
        }
    }
}

/// The distance between about five ticks: 1, 2 or 5 times a power of ten.
fn linear_step(span: f64) -> f64 {
    one_two_five(span / 5.0, true)
}

/// The next 1, 2 or 5 times a power of ten, upwards or downwards.
fn one_two_five(value: f64, up: bool) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let mantissa = value / power;
    let steps = [1.0, 2.0, 5.0, 10.0];
    let found = match up {
        true => steps.into_iter().find(|step| mantissa <= step + 1e-9),
        false => steps.into_iter().rev().find(|step| mantissa >= step - 1e-9),
    };
    found.unwrap_or(1.0) * power
}

/// The next tick at or above a positive value.
fn round_up(value: f64) -> f64 {
    let step = linear_step(value);
    (value / step - 1e-9).ceil() * step
}

/// Powers of ten; also multiples of them if the range has few decades.
fn log_ticks(from: f64, to: f64) -> Vec<(f64, String)> {
    let decades = (to / from).log10();
    let steps: &[f64] = match decades {
        it if it <= 2.5 => &[1.0, 2.0, 5.0],
        it if it <= 4.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let mut ticks = Vec::new();
    let mut power = 10_f64.powf(from.log10().floor());
    while power <= to * 1.000_001 {
        for step in steps {
            let value = power * step;
            if value >= from * 0.999_999 && value <= to * 1.000_001 {
                ticks.push((value, tick(value)));
            }
        }
        power *= 10.0;
    }
    ticks
}

impl Chart {
    /// A chart with these axes.
    pub(crate) fn new(title: impl Into<String>, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            series,
            ..Self::default()
        }
    }

    /// Whether there is something to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.series.iter().all(|series| series.points.is_empty())
    }

    /// The figure as HTML.
    pub(crate) fn html(&self) -> String {
        let plane = self.plane();
        let (left, right) = (plane.left, plane.right);
        let (top, bottom) = (plane.top, plane.bottom);
        let mut out = format!(
            "<figure class=\"chart\"><figcaption>{}</figcaption>{}<svg viewBox=\"0 0 {} {}\" role=\"img\" \
             aria-label=\"{}\" data-x=\"{}\" data-y=\"{}\" data-box=\"{left} {top} {} {}\">",
            escape(&self.title),
            self.legend(),
            right + RIGHT,
            bottom + BOTTOM,
            escape(&self.title),
            describe(plane.x, self.x.label),
            describe(plane.y, self.y.label),
            right - left,
            bottom - top,
        );
        self.axes(&mut out, plane);
        for series in &self.series {
            series.draw(&mut out, plane);
        }
        for mark in &self.marks {
            mark.draw(&mut out, plane);
        }
        out.push_str("</svg></figure>\n");
        out
    }

    fn plane(&self) -> Plane {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let ends = self.marks.iter().flat_map(|mark| [mark.low, mark.high]);
        let mut x = Range::of(self.x.scale, points().map(|point| point.0).chain(ends));
        if self.x.scale == Scale::Linear {
            // Only up to the last point: the rest would be empty.
            let last = points().map(|point| point.0).fold(0.0, f64::max);
            x.to = if last > 0.0 { last } else { x.to };
        }
        let count = self.names.len() as f64;
        let (left, width, top, height) = match self.y.scale {
            Scale::Names => (400.0, 774.0, 26.0, self.line * count),
            _ => (62.0, 552.0, 10.0, 230.0),
        };
        let last = (self.y.scale == Scale::Names).then_some(count - 1.0);
        Plane {
            left,
            right: left + width,
            top,
            bottom: top + height,
            x,
            y: Range::of(self.y.scale, points().map(|point| point.1).chain(last)),
        }
    }

    fn legend(&self) -> String {
        let mut out = String::from("<p class=\"legend\">");
        for series in &self.series {
            let kind = match series.shape {
                Shape::Dots => "dots",
                Shape::Dashed | Shape::DashedDotted => "dashed",
                _ => "line",
            };
            let _ = write!(
                out,
                "<span><i class=\"{kind} c{}\"></i>{}</span>",
                series.colour % COLOURS,
                escape(&series.name)
            );
        }
        out + "</p>"
    }
}

/// The attributes with which the page's script converts a position into a value.
fn describe(range: Range, label: &str) -> String {
    let scale = match range.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
        Scale::Nines => "nines",
        Scale::Names => "names",
    };
    format!("{scale}|{}|{}|{}", range.from, range.to, escape(label))
}

impl Chart {
    /// Grid, ticks and labels of the axes.
    fn axes(&self, out: &mut String, plane: Plane) {
        let (left, right) = (plane.left, plane.right);
        let (top, bottom) = (plane.top, plane.bottom);
        for (value, text) in plane.y.ticks(&self.names) {
            let at = plane.y(value);
            let _ = write!(
                out,
                "<path class=\"grid\" d=\"M{left} {at:.1}H{right}\"/>\
                 <text x=\"{}\" y=\"{:.1}\" class=\"ytick\">{}</text>",
                left - 6.0,
                at + 3.5,
                escape(&text),
            );
        }
        // Long lists of names have ticks at the top, too, and grid lines over the whole height.
        let is_list = plane.y.scale == Scale::Names;
        let grid = if is_list { top - bottom } else { 4.0 };
        let rows = if is_list {
            &[16.0, top - bottom - 6.0][..]
        } else {
            &[16.0]
        };
        // A tick whose label would overlap the previous one has no label.
        let mut free_from = 0.0;
        for (value, text) in plane.x.ticks(&[]) {
            let at = plane.x(value);
            let half = 3.3 * text.chars().count() as f64 + 3.0;
            let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {bottom}v{grid}\"/>");
            if at - half >= free_from && at + half <= right + RIGHT {
                for row in rows {
                    let y = bottom + row;
                    let _ = write!(
                        out,
                        "<text x=\"{at:.1}\" y=\"{y:.1}\" class=\"xtick\">{text}</text>"
                    );
                }
                free_from = at + half;
            }
        }
        let _ = write!(
            out,
            "<path class=\"axis\" d=\"M{left} {top}V{bottom}H{right}\"/>\
             <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text class=\"label\" transform=\"translate(12 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            (left + right) / 2.0,
            bottom + BOTTOM - 6.0,
            escape(self.x.label),
            (top + bottom) / 2.0,
            escape(self.y.label),
        );
    }
}

impl Mark {
    fn draw(&self, out: &mut String, plane: Plane) {
        let (from, to, at) = (plane.x(self.low), plane.x(self.high), plane.x(self.x));
        let (y, colour) = (plane.y(self.y), self.colour % COLOURS);
        let shape = if self.hollow { "hollow" } else { "dot" };
        let _ = write!(
            out,
            "<g class=\"c{colour}\"><title>{}</title><path class=\"line\" d=\"M{from:.1} {y:.1}H{to:.1}\"/>\
             <circle class=\"{shape}\" cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"3.2\"/></g>",
            escape(&self.words)
        );
    }
}

impl Series {
    fn draw(&self, out: &mut String, plane: Plane) {
        let (colour, x, y) = (self.colour % COLOURS, plane.x.scale, plane.y.scale);
        let shown: Vec<(f64, f64)> = self
            .points
            .iter()
            .filter(|(px, py)| x.admits(*px) && y.admits(*py))
            .map(|(px, py)| (plane.x(*px), plane.y(*py)))
            .collect();
        if shown.is_empty() {
            return;
        }
        if self.shape == Shape::Bars {
            bars(out, colour, &shown, plane.bottom);
            return;
        }
        let mut path = String::new();
        for (at, (px, py)) in shown.iter().enumerate() {
            let _ = write!(path, "{}{px:.1} {py:.1}", if at == 0 { 'M' } else { 'L' });
        }
        let class = match self.shape {
            Shape::Dashed | Shape::DashedDotted => "line dashed",
            Shape::Dots => "hidden",
            _ => "line",
        };
        let _ = write!(
            out,
            "<path class=\"{class} c{colour}\" d=\"{path}\" data-n=\"{}\"/>",
            escape(&self.name)
        );
        let dot = match self.shape {
            Shape::Dots => "hollow",
            Shape::Dotted | Shape::DashedDotted => "dot",
            Shape::Line | Shape::Dashed | Shape::Bars => return,
        };
        for (px, py) in &shown {
            let _ = write!(
                out,
                "<circle class=\"{dot} c{colour}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"3\"/>"
            );
        }
    }
}

fn bars(out: &mut String, colour: usize, points: &[(f64, f64)], bottom: f64) {
    let gap = points
        .windows(2)
        .map(|pair| pair[1].0 - pair[0].0)
        .fold(24.0, f64::min)
        .max(2.0);
    let mut path = String::new();
    for (px, py) in points {
        let _ = write!(
            path,
            "M{:.1} {:.1}h{:.1}V{:.1}h-{:.1}z",
            px - gap / 2.0 + 0.5,
            bottom,
            gap - 1.0,
            py,
            gap - 1.0
        );
    }
    let _ = write!(out, "<path class=\"bars c{colour}\" d=\"{path}\"/>");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(x: Scale, y: Scale, points: Vec<(f64, f64)>) -> Chart {
        let series = Series {
            name: "it's \"one\"".into(),
            shape: Shape::Line,
            colour: 9,
            points,
        };
        let (x, y) = (Axis::new("users", x), Axis::new("ms", y));
        Chart::new("a <b>", x, y, vec![series])
    }

    #[test]
    fn steps_are_one_two_or_five() {
        assert_eq!(linear_step(100.0), 20.0);
        assert_eq!(linear_step(7.0), 2.0);
        assert_eq!(one_two_five(0.03, false), 0.02);
        assert_eq!(one_two_five(0.03, true), 0.05);
        assert_eq!(one_two_five(1.0, true), 1.0);
        assert_eq!(round_up(331_000.0), 400_000.0);
    }

    #[test]
    fn a_range_holds_its_values_and_its_ticks() {
        for scale in [Scale::Linear, Scale::Log] {
            for high in [0.003, 1.0, 9.9, 10.0, 12_345.0, 1e9] {
                let range = Range::of(scale, [high / 40.0, high].into_iter());
                assert!(range.from <= high / 40.0 && range.to >= high * 0.999_999);
                let ticks = range.ticks(&[]);
                assert!(
                    (2..=12).contains(&ticks.len()),
                    "{scale:?} {high} {ticks:?}"
                );
                for (value, _) in ticks {
                    assert!(value >= range.from * 0.999 && value <= range.to * 1.001);
                }
            }
        }
    }

    #[test]
    fn positions_stay_inside_and_higher_values_lie_higher() {
        let points = vec![(0.0, 0.1), (99.99, 1_000.0)];
        let plane = chart(Scale::Nines, Scale::Log, points).plane();
        assert!(plane.y(1_000.0) < plane.y(10.0));
        assert!(plane.y(1_000.0) >= plane.top);
        assert!(plane.y(0.1) <= plane.bottom);
        let gap = |a, b| plane.x(b) - plane.x(a);
        assert!((gap(90.0, 99.0) - gap(99.0, 99.9)).abs() < 1e-6);
    }

    #[test]
    fn names_stand_from_the_top_down_with_their_marks() {
        let mark = Mark {
            x: 5.0,
            low: 4.0,
            high: 60.0,
            y: 1.0,
            colour: 9,
            hollow: true,
            words: "<5>".into(),
        };
        let mut chart = chart(Scale::Log, Scale::Names, Vec::new());
        chart.line = 18.0;
        chart.names = ["one", "two & three"].map(str::to_owned).to_vec();
        chart.marks = vec![mark];
        let plane = chart.plane();
        let (one, two) = (plane.y(0.0), plane.y(1.0));
        assert!(plane.top < one && one < two && two < plane.bottom);
        assert!(plane.x(4.0) > plane.left && plane.x(60.0) < plane.right);
        let html = chart.html();
        for part in [
            "two &amp; three",
            "<title>&lt;5&gt;</title>",
            "class=\"hollow\"",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!chart.is_empty());
    }

    #[test]
    fn names_are_text_and_bad_values_are_left_out() {
        let points = vec![(1.0, f64::NAN), (2.0, -1.0), (3.0, 5.0), (4.0, 50.0)];
        let html = chart(Scale::Linear, Scale::Log, points).html();
        assert!(html.contains("a &lt;b&gt;") && !html.contains("<b>"));
        assert!(html.contains("it&#39;s &quot;one&quot;"));
        assert!(!html.contains("NaN") && !html.contains("inf"));
    }

    #[test]
    fn nothing_to_draw_is_drawn_as_nothing() {
        let html = chart(Scale::Log, Scale::Log, Vec::new()).html();
        assert!(!html.contains("NaN") && !html.contains("data-n"));
        assert!(chart(Scale::Log, Scale::Log, Vec::new()).is_empty());
    }
}
