//! Histograms of times: buckets, percentiles, medians and the confidence intervals of medians.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

const DIGITS: u8 = 3;
/// The longest time that a histogram distinguishes: half an hour, in nanoseconds. Longer times
/// count as this one.
const LONGEST_NS: u64 = 1_800_000_000_000;

/// The 97.5th percentile of the normal distribution, for intervals of 95 %.
const NORMAL_975: f64 = 1.959_964;

/// A histogram of times in nanoseconds.
#[derive(Debug, Clone)]
pub(crate) struct Times(Histogram<u64>);

impl Default for Times {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Self(histogram.expect("the bounds and digits are valid"))
    }
}

impl Times {
    pub(crate) fn record(&mut self, ns: u64) {
        self.0.saturating_record(ns.max(1));
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let added = self.0.add(&other.0);
        added.expect("all histograms have the same bounds");
    }

    /// The recorded times; the histogram is empty afterwards.
    pub(crate) fn take(&mut self) -> Buckets {
        let buckets = Buckets::from(&*self);
        self.0.reset();
        buckets
    }
}

/// A histogram of times with three significant digits: `[highest value of the bucket in ns,
/// count]`, ascending, empty buckets left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u64, u64)>);

impl From<&Times> for Buckets {
    fn from(times: &Times) -> Self {
        let buckets = times.0.iter_recorded();
        Self(
            buckets
                .map(|it| (it.value_iterated_to(), it.count_at_value()))
                .collect(),
        )
    }
}

impl Buckets {
    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The smallest time; 0 without samples.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.0.first().map_or(0, |(value, _)| *value)
    }

    /// The mean; 0 without samples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let sum = self
            .0
            .iter()
            .map(|(value, count)| *value as f64 * *count as f64);
        sum.sum::<f64>() / self.count().max(1) as f64
    }

    /// The value at `rank` (from 1); the greatest one above all ranks, and 0 without samples.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> u64 {
        let mut seen = 0;
        for (value, count) in &self.0 {
            seen += count;
            if seen >= rank {
                return *value;
            }
        }
        self.0.last().map_or(0, |(value, _)| *value)
    }

    /// The smallest value that at least `percent` percent of the samples do not exceed; 0 without
    /// samples. `percent` is rounded to thousandths.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        // In integers, since 99.9 % of 1,000 in floating point is a little over 999.
        let thousandths = (percent * 1_000.0).round() as u128;
        let rank = (u128::from(self.count()) * thousandths).div_ceil(100_000);
        self.at_rank(rank.max(1) as u64)
    }

    /// The median of whole milliseconds, truncated as the published figures are: the middle value,
    /// or the mean of the two middle values. `None` without samples.
    pub(crate) fn median_whole_ms(&self) -> Option<f64> {
        let samples = self.count();
        let whole = |rank| (self.at_rank(rank) / 1_000_000) as f64;
        let middle = f64::midpoint(whole(samples.div_ceil(2)), whole(samples / 2 + 1));
        (samples > 0).then_some(middle)
    }

    /// The 95 % bootstrap interval of the median, computed instead of sampled. The number of draws
    /// of a resample that are at most the k-th value is binomial, with probability k/n. So the ends
    /// of the interval are two ranks, which follow from the normal approximation. `None` without
    /// samples.
    pub(crate) fn median_interval(&self) -> Option<(u64, u64)> {
        let samples = self.count();
        let middle = samples as f64 / 2.0;
        let half = NORMAL_975 * (samples as f64).sqrt() / 2.0;
        let low = (middle - half).ceil().max(1.0) as u64;
        let high = ((middle + half).ceil() as u64).min(samples);
        (samples > 0).then(|| (self.at_rank(low), self.at_rank(high)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of(values: impl IntoIterator<Item = u64>) -> Buckets {
        let mut times = Times::default();
        values.into_iter().for_each(|value| times.record(value));
        times.take()
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let buckets = Buckets(vec![(1, 50), (2, 40), (9, 10)]);
        assert_eq!(buckets.percentile(50.0), 1);
        assert_eq!(buckets.percentile(50.1), 2);
        assert_eq!(buckets.percentile(90.0), 2);
        assert_eq!(buckets.percentile(99.9), 9);
        assert_eq!((buckets.min(), buckets.mean()), (1, 2.2));
        assert_eq!(Buckets::default().percentile(50.0), 0);
    }

    #[test]
    fn a_percentile_is_the_smallest_value_with_so_many_at_or_under_it() {
        for thousands in 1..=50_u64 {
            let count = thousands * 1_000;
            let buckets = Buckets((1..=count).map(|value| (value, 1)).collect());
            for tenths in [500, 900, 950, 990, 999, 1_000_u64] {
                let exact = count / 1_000 * tenths;
                let got = buckets.percentile(tenths as f64 / 10.0);
                assert_eq!(got, exact, "{} % of {count}", tenths as f64 / 10.0);
            }
        }
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        let cut = of([1_990_000, 2_010_000]);
        assert_eq!(cut.median_whole_ms(), Some(1.5));
        assert_eq!(
            of([900_000, 1_900_000, 2_500_000]).median_whole_ms(),
            Some(1.0)
        );
        assert_eq!(of([]).median_whole_ms(), None);
    }

    /// Compares with resampling: the ends agree up to chance.
    #[test]
    fn the_interval_is_that_of_drawing_again() {
        let mut random = Random::new(5);
        for samples in [11_u64, 100, 1_200] {
            let values: Vec<u64> = (0..samples).map(|_| 100 + random.below(800)).collect();
            let mut medians: Vec<u64> = (0..1_000)
                .map(|_| {
                    let mut drawn: Vec<u64> = (0..samples)
                        .map(|_| values[random.below(samples) as usize])
                        .collect();
                    drawn.sort_unstable();
                    drawn[(samples as usize).div_ceil(2) - 1]
                })
                .collect();
            medians.sort_unstable();
            let (low, high) = of(values.clone()).median_interval().expect("samples");
            let close = |a: u64, b: u64| a.abs_diff(b) <= 2 + 200 / samples.isqrt();
            assert!(
                close(low, medians[25]) && close(high, medians[975]),
                "{samples}: {low} to {high}, drawn {} to {}",
                medians[25],
                medians[975]
            );
        }
    }

    #[test]
    fn one_sample_is_its_own_interval() {
        assert_eq!(of([7]).median_interval(), Some((7, 7)));
    }
}
