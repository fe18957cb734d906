//! Histograms of times: buckets, percentiles, medians and the confidence intervals of medians.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Significant digits of the values.
const DIGITS: u8 = 3;
/// The longest time that a histogram distinguishes: half an hour, in nanoseconds. Longer times
/// count as this one.
const LONGEST_NS: u64 = 1_800_000_000_000;

/// Share of repetitions whose median lies within the interval.
const CONFIDENCE: f64 = 0.95;
/// The largest number of samples for which the ranks of the interval are computed exactly.
const EXACT_SAMPLES: u64 = 1_000;

/// An empty histogram of times in nanoseconds.
pub(crate) fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds and digits are valid")
}

/// The same with two significant digits.
pub(crate) fn coarse_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS - 1).expect("the bounds and digits are valid")
}

/// A histogram of times with three significant digits: `[highest value of the bucket in ns,
/// count]`, ascending, empty buckets left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u64, u64)>);

impl From<&Histogram<u64>> for Buckets {
    fn from(histogram: &Histogram<u64>) -> Self {
        let buckets = histogram.iter_recorded();
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

    /// The 95 % bootstrap interval of the median, computed instead of sampled. The median of a
    /// resample is at most the k-th value if at least half of its draws are, and each draw is with
    /// probability k/n. So the ends of the interval are two ranks that follow from the binomial
    /// distribution. `None` without samples.
    pub(crate) fn median_interval(&self) -> Option<(u64, u64)> {
        let samples = self.count();
        let (low, high) = ranks(samples);
        (samples > 0).then(|| (self.at_rank(low), self.at_rank(high)))
    }
}

fn ranks(samples: u64) -> (u64, u64) {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    if samples > EXACT_SAMPLES {
        // Above this number of samples, the normal distribution approximates the binomial one; 1.96
        // is its 97.5th percentile.
        let half = 1.959_964 * (samples as f64).sqrt() / 2.0;
        let middle = (samples as f64 + 1.0) / 2.0;
        let (low, high) = ((middle - half).floor(), (middle + half).ceil());
        return (low.max(1.0) as u64, (high as u64).min(samples));
    }
    (first_rank(samples, tail), first_rank(samples, 1.0 - tail))
}

/// The first rank whose value is at least the median with at least this probability, which grows
/// with the rank.
fn first_rank(samples: u64, probability: f64) -> u64 {
    let (mut low, mut high) = (1, samples);
    while low < high {
        let middle = low.midpoint(high);
        match median_at_most(samples, middle) >= probability {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    low
}

/// The probability that the median of a resample, of the same size and with replacement, is at most
/// the value at `rank`.
fn median_at_most(samples: u64, rank: u64) -> f64 {
    if rank == samples {
        return 1.0;
    }
    let share = rank as f64 / samples as f64;
    let needed = samples.div_ceil(2);
    // Each binomial probability is computed from the previous one, as a logarithm.
    let mut logarithm = samples as f64 * (1.0 - share).ln();
    let mut probability = 0.0;
    for hits in 0..=samples {
        if hits >= needed {
            probability += logarithm.exp();
        }
        let (left, next) = ((samples - hits) as f64, (hits + 1) as f64);
        logarithm += (left / next).ln() + (share / (1.0 - share)).ln();
    }
    probability
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of(values: impl IntoIterator<Item = u64>) -> Buckets {
        let mut histogram = histogram();
        for value in values {
            histogram.record(value).expect("within the bounds");
        }
        Buckets::from(&histogram)
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
