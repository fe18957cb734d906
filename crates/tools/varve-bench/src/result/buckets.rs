//! Histograms.

use serde::{Deserialize, Serialize};

/// A histogram with three significant digits: `[highest value of the bucket, count]`, ascending,
/// empty buckets left out. The field that has the histogram defines the unit of the values: µs, or
/// ns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u64, u64)>);

impl Buckets {
    /// The number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The smallest bucket value that at least `percent` percent of the samples do not exceed; 0
    /// without samples. `percent` is rounded to thousandths.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        // In integers, since 99.9 % of 1,000 in floating point is a little over 999.
        let thousandths = (percent * 1_000.0).round() as u128;
        let rank = (u128::from(self.count()) * thousandths).div_ceil(100_000);
        let rank = rank.max(1) as u64;
        let mut seen = 0;
        for (value, count) in &self.0 {
            seen += count;
            if seen >= rank {
                return *value;
            }
        }
        self.0.last().map_or(0, |(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let buckets = Buckets(vec![(1, 50), (2, 40), (9, 10)]);
        assert_eq!(buckets.percentile(50.0), 1);
        assert_eq!(buckets.percentile(50.1), 2);
        assert_eq!(buckets.percentile(90.0), 2);
        assert_eq!(buckets.percentile(99.9), 9);
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
}
