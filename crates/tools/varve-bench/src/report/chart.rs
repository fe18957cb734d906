//! Charts, drawn by `plotters` as SVG.

use std::fmt::Display;
use std::ops::Range;

use anyhow::{Context as _, Error, Result, anyhow};
use plotters::coord::ranged1d::{BoldPoints, DefaultFormatting, KeyPointHint, Ranged};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// Width of a chart, and the height of one without names, in pixels.
const SIZE: (u32, u32) = (620, 300);
/// Width of a chart with names, and the width of the names.
const WIDE: (u32, u32) = (1_180, 400);
/// The colours of series; further series reuse them.
const COLOURS: [RGBColor; 8] = [
    RGBColor(11, 98, 196),
    RGBColor(196, 81, 10),
    RGBColor(20, 128, 74),
    RGBColor(155, 63, 168),
    RGBColor(184, 138, 0),
    RGBColor(14, 138, 156),
    RGBColor(192, 45, 99),
    RGBColor(106, 111, 118),
];

/// How values are mapped to positions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero.
    #[default]
    Linear,
    /// Logarithmic; values of zero or less are left out.
    Log,
    /// Percentiles from 0 to below 100; each further nine is as wide as the previous one.
    Nines,
    /// Names from top to bottom, with the height of each in pixels: value n is the n-th, from 0.
    Names(Vec<String>, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Line,
    /// A line with a dot at each point.
    Dotted,
    /// Circles, for published figures.
    Circles,
}

/// Points of a chart: `(x, y)`.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) shape: Shape,
    pub(crate) colour: usize,
    pub(crate) points: Vec<(f64, f64)>,
    /// Horizontal bars: `(from, to, y)`.
    pub(crate) bars: Vec<(f64, f64, f64)>,
}

impl Series {
    pub(crate) fn line(name: impl Into<String>, colour: usize, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.into(),
            shape: Shape::Line,
            colour,
            points,
            bars: Vec::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: (&'static str, Scale),
    pub(crate) y: (&'static str, Scale),
    pub(crate) series: Vec<Series>,
}

impl Scale {
    fn admits(&self, value: f64) -> bool {
        self.place(value).is_finite()
    }

    /// The position of a value on the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.log10(),
            Self::Nines => -(1.0 - value / 100.0).log10(),
            Self::Names(..) => -value,
        }
    }

    fn text(&self, place: f64) -> String {
        let value = match self {
            Self::Linear => place,
            Self::Log => 10_f64.powf(place),
            Self::Nines => 100.0 * (1.0 - 10_f64.powf(-place)),
            Self::Names(names, _) => {
                let name = names.get((-place).round() as usize);
                return name.cloned().unwrap_or_default();
            }
        };
        let text = format!("{value:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// The ends of the axis for values, as positions.
    fn range(&self, values: &[f64]) -> (f64, f64) {
        let places = values.iter().map(|value| self.place(*value));
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, place| {
            (ends.0.min(place), ends.1.max(place))
        });
        match self {
            Self::Linear => (low.min(0.0), if high > 0.0 { high * 1.05 } else { 1.0 }),
            Self::Log => (low.floor(), high.ceil().max(low.floor() + 1.0)),
            Self::Nines => (0.0, high.max(2.0)),
            Self::Names(names, _) => (0.5 - names.len() as f64, 0.5),
        }
    }

    /// The ticks, as positions.
    fn ticks(&self, (low, high): (f64, f64)) -> Vec<f64> {
        match self {
            Self::Linear => {
                let axis = RangedCoordf64::from(low..high);
                axis.key_points(BoldPoints(6))
            }
            Self::Log if high - low > 3.0 => (low as i32..=high as i32).map(f64::from).collect(),
            Self::Log => {
                let decades = (low as i32..=high as i32).map(f64::from);
                let ticks = decades.flat_map(|at| [at, at + 2_f64.log10(), at + 5_f64.log10()]);
                ticks.filter(|at| *at <= high).collect()
            }
            Self::Nines => {
                let ticks = [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999].map(|it| self.place(it));
                ticks.into_iter().filter(|at| *at <= high).collect()
            }
            Self::Names(names, _) => (0..names.len()).map(|at| -(at as f64)).collect(),
        }
    }
}

/// An axis: positions from one end to the other, and the ticks.
struct Places {
    ends: Range<f64>,
    ticks: Vec<f64>,
}

impl Places {
    fn of(scale: &Scale, values: &[f64]) -> Self {
        let ends = scale.range(values);
        Self {
            ends: ends.0..ends.1,
            ticks: scale.ticks(ends),
        }
    }
}

impl Ranged for Places {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (place - self.ends.start) / (self.ends.end - self.ends.start);
        from + (share * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.ticks.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

impl Chart {
    fn values(&self, is_y: bool) -> Vec<f64> {
        let points = self.series.iter().flat_map(|series| &series.points);
        points
            .map(|point| if is_y { point.1 } else { point.0 })
            .collect()
    }

    /// The chart as SVG; `None` without points.
    ///
    /// # Errors
    /// When the library reports one.
    pub(crate) fn svg(&self) -> Result<Option<String>> {
        let mut chart = self.clone();
        let (x, y) = (&self.x.1, &self.y.1);
        for series in &mut chart.series {
            series
                .points
                .retain(|(px, py)| x.admits(*px) && y.admits(*py));
            series.bars.retain(|(from, ..)| x.admits(*from));
        }
        if chart.values(false).is_empty() {
            return Ok(None);
        }
        let mut svg = String::new();
        let drawn = chart.draw(&mut svg);
        drawn.with_context(|| format!("the chart {}", self.title))?;
        Ok(Some(svg))
    }

    fn draw(&self, svg: &mut String) -> Result<()> {
        let (x, y) = (&self.x.1, &self.y.1);
        let (size, names) = match y {
            Scale::Names(names, line) => ((WIDE.0, 90 + line * names.len() as u32), WIDE.1),
            _ => (SIZE, 60),
        };
        let area = SVGBackend::with_string(svg, size).into_drawing_area();
        area.fill(&WHITE).map_err(plain)?;
        let mut context = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 14))
            .margin(8)
            .x_label_area_size(40)
            .y_label_area_size(names)
            .build_cartesian_2d(
                Places::of(x, &self.values(false)),
                Places::of(y, &self.values(true)),
            )
            .map_err(plain)?;
        let (x_text, y_text) = (|place: &f64| x.text(*place), |place: &f64| y.text(*place));
        let mut mesh = context.configure_mesh();
        mesh.x_desc(self.x.0).y_desc(self.y.0);
        mesh.x_label_formatter(&x_text).y_label_formatter(&y_text);
        mesh.draw().map_err(plain)?;
        for series in &self.series {
            let colour = COLOURS[series.colour % COLOURS.len()];
            let points = series.points.iter();
            let points: Vec<_> = points
                .map(|(px, py)| (x.place(*px), y.place(*py)))
                .collect();
            let bars = series.bars.iter().map(|(from, to, at)| {
                let ends = [*from, *to].map(|end| (x.place(end), y.place(*at)));
                PathElement::new(ends.to_vec(), colour.stroke_width(2))
            });
            context.draw_series(bars).map_err(plain)?;
            if matches!(series.shape, Shape::Line | Shape::Dotted) && series.bars.is_empty() {
                let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
                context.draw_series(line).map_err(plain)?;
            }
            let style = match series.shape {
                Shape::Circles => colour.stroke_width(1),
                Shape::Line | Shape::Dotted => colour.filled(),
            };
            let dots = points.iter().map(|at| Circle::new(*at, 3, style));
            let has_dots = series.shape != Shape::Line;
            let dots = dots.take(if has_dots { points.len() } else { 0 });
            let drawn = context.draw_series(dots).map_err(plain)?;
            if !series.name.is_empty() {
                drawn
                    .label(&series.name)
                    .legend(move |(px, py)| Circle::new((px + 8, py), 4, style));
            }
        }
        let mut labels = context.configure_series_labels();
        labels
            .background_style(WHITE.mix(0.8))
            .draw()
            .map_err(plain)?;
        area.present().map_err(plain)
    }
}

/// An error of the library, whose type borrows the chart.
fn plain(error: impl Display) -> Error {
    anyhow!("{error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_an_axis_does_not_have_are_left_out() {
        let chart = |points: Vec<(f64, f64)>| Chart {
            title: "<a> & b".to_owned(),
            x: ("percent", Scale::Nines),
            y: ("ms", Scale::Log),
            series: vec![Series::line("it's <one>", 9, points)],
        };
        let svg = chart(vec![(0.0, 0.5), (99.9, 20.0), (100.0, 1.0), (5.0, 0.0)]).svg();
        let svg = svg.expect("drawn").expect("two points");
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{svg}");
        assert!(
            svg.contains("&lt;a&gt; &amp; b") && svg.contains("\n99.9\n"),
            "{svg}"
        );
        let none = chart(vec![(100.0, 1.0)]).svg().expect("nothing to draw");
        assert_eq!(none, None);
    }

    #[test]
    fn names_are_ticks_from_top_to_bottom() {
        let chart = Chart {
            title: "medians".to_owned(),
            x: ("ms", Scale::Log),
            y: (
                "",
                Scale::Names(vec!["first".to_owned(), "second".to_owned()], 20),
            ),
            series: vec![Series {
                shape: Shape::Dotted,
                bars: vec![(0.9, 1.1, 0.0)],
                ..Series::line("0005-02", 0, vec![(1.0, 0.0), (20.0, 1.0)])
            }],
        };
        let svg = chart.svg().expect("drawn").expect("points");
        let at = |text: &str| svg.find(text).expect("a name");
        assert!(at("first") > 0 && at("second") > 0);
        assert_eq!(
            svg.matches("<circle").count(),
            3,
            "with the legend's: {svg}"
        );
    }
}
