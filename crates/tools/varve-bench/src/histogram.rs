//! Histograms of times: buckets, medians, and confidence intervals of medians.

use hdrhistogram::Histogram;

use crate::result::Buckets;

/// Significant digits of the values.
const DIGITS: u8 = 3;

/// Share of repetitions whose median lies within the interval.
const CONFIDENCE: f64 = 0.95;
/// The largest number of samples for which the ranks of the interval are computed exactly.
const EXACT_SAMPLES: u64 = 1_000;

/// An empty histogram from 1 to `longest`.
pub(crate) fn histogram(longest: u64) -> Histogram<u64> {
    Histogram::new_with_bounds(1, longest, DIGITS).expect("the bounds and digits are valid")
}

/// The histogram's buckets that are not empty.
pub(crate) fn buckets(histogram: &Histogram<u64>) -> Buckets {
    let buckets = histogram.iter_recorded();
    Buckets(
        buckets
            .map(|it| (it.value_iterated_to(), it.count_at_value()))
            .collect(),
    )
}

/// The value at `rank` (from 1), in the histogram's unit.
fn at_rank(histogram: &Histogram<u64>, rank: u64) -> u64 {
    let mut seen = 0;
    for bucket in histogram.iter_recorded() {
        seen += bucket.count_at_value();
        if seen >= rank {
            return histogram.median_equivalent(bucket.value_iterated_to());
        }
    }
    histogram.max()
}

/// The median of `change(value)`: the middle value, or the mean of the two middle values. `None`
/// without samples.
pub(crate) fn median_of(histogram: &Histogram<u64>, change: impl Fn(u64) -> f64) -> Option<f64> {
    let samples = histogram.len();
    if samples == 0 {
        return None;
    }
    let low = change(at_rank(histogram, samples.div_ceil(2)));
    let high = change(at_rank(histogram, samples / 2 + 1));
    Some((low + high) / 2.0)
}

/// The 95 % bootstrap interval of the median, computed instead of sampled. The median of a resample
/// is at most the k-th value if at least half of its draws are, and each draw is with probability
/// k/n. So the ends of the interval are two ranks that follow from the binomial distribution.
pub(crate) fn median_interval(histogram: &Histogram<u64>) -> Option<(u64, u64)> {
    let samples = histogram.len();
    if samples == 0 {
        return None;
    }
    let (low, high) = ranks(samples);
    Some((at_rank(histogram, low), at_rank(histogram, high)))
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

    fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = super::histogram(1_000_000_000);
        for value in values {
            histogram.record(value).expect("within the bounds");
        }
        histogram
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_two() {
        assert_eq!(median_of(&histogram([1, 2, 9]), |it| it as f64), Some(2.0));
        assert_eq!(
            median_of(&histogram([1, 2, 3, 9]), |it| it as f64),
            Some(2.5)
        );
        // Truncated to whole milliseconds, like the published figures.
        let cut = |it: u64| (it / 1_000) as f64;
        let two = histogram([1_999, 2_001]);
        assert_eq!(median_of(&two, cut), Some(1.5));
        assert_eq!(median_of(&histogram([]), cut), None);
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
            let (low, high) = median_interval(&histogram(values.clone())).expect("samples");
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
        assert_eq!(median_interval(&histogram([7])), Some((7, 7)));
    }
}
