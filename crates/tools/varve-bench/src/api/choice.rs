//! The choice among loaded elements, uniform or skewed; it is determined by a seed.

use crate::random::Random;

/// How an element among the loaded ones is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Distribution {
    /// Each as likely as any other.
    #[default]
    Uniform,
    /// A few elements most of the time: Zipf's law with exponent 0.99, as in YCSB.
    Zipfian,
}

impl Distribution {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Zipfian => "zipfian",
        }
    }
}

/// Exponent of the skewed choice.
const EXPONENT: f64 = 0.99;

/// Chooses numbers below a bound.
#[derive(Debug, Clone)]
pub(crate) enum Chooser {
    Uniform(u64),
    Zipfian {
        ranks: Zipf,
        /// The most frequent number. The numbers after it, and then those from 0 on, are less and
        /// less frequent.
        first: u64,
    },
}

/// Draws a rank in constant time, by Gray et al., "Quickly generating billion-record synthetic
/// databases", SIGMOD 1994.
#[derive(Debug, Clone)]
pub(crate) struct Zipf {
    bound: u64,
    zeta: f64,
    alpha: f64,
    eta: f64,
    half: f64,
}

impl Chooser {
    /// The seed determines the most frequent number of a skewed choice.
    pub(crate) fn new(distribution: Distribution, bound: u64, seed: u64) -> Self {
        match distribution {
            Distribution::Uniform => Self::Uniform(bound),
            Distribution::Zipfian => Self::Zipfian {
                ranks: Zipf::new(bound),
                first: Random::new(seed).below(bound),
            },
        }
    }

    /// Draws a number below the bound.
    pub(crate) fn choose(&self, random: &mut Random) -> u64 {
        match self {
            Self::Uniform(bound) => random.below(*bound),
            Self::Zipfian { ranks, first } => (first + ranks.rank(random.unit())) % ranks.bound,
        }
    }
}

impl Zipf {
    fn new(bound: u64) -> Self {
        let zeta_of = |n: u64| (1..=n).map(|i| (i as f64).powf(-EXPONENT)).sum::<f64>();
        let zeta = zeta_of(bound);
        let eta =
            (1.0 - (2.0 / bound.max(1) as f64).powf(1.0 - EXPONENT)) / (1.0 - zeta_of(2) / zeta);
        Self {
            bound,
            zeta,
            alpha: 1.0 / (1.0 - EXPONENT),
            eta,
            half: 1.0 + 0.5_f64.powf(EXPONENT),
        }
    }

    fn rank(&self, unit: f64) -> u64 {
        let at = unit * self.zeta;
        if at < 1.0 || self.bound < 2 {
            return 0;
        }
        if at < self.half {
            return 1;
        }
        let rank = self.bound as f64 * (self.eta * unit - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.bound - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(distribution: Distribution) -> Vec<u32> {
        let (chooser, mut random) = (Chooser::new(distribution, 1_000, 7), Random::new(1));
        let mut counts = vec![0; 1_000];
        for _ in 0..200_000 {
            counts[chooser.choose(&mut random) as usize] += 1;
        }
        if let Chooser::Zipfian { first, .. } = chooser {
            counts.rotate_left(first as usize);
        }
        counts
    }

    #[test]
    fn an_even_choice_is_even() {
        let counts = counts(Distribution::Uniform);
        let (min, max) = (counts.iter().min(), counts.iter().max());
        assert!(min > Some(&120) && max < Some(&290), "{min:?} {max:?}");
    }

    #[test]
    fn a_skewed_choice_follows_zipfs_law() {
        let counts = counts(Distribution::Zipfian);
        let zeta: f64 = (1..=1_000).map(|i| f64::from(i).powf(-EXPONENT)).sum();
        // The first two ranks are exact in this method; the others come close.
        for rank in [0_usize, 1, 9, 99] {
            let expected = 200_000.0 * ((rank + 1) as f64).powf(-EXPONENT) / zeta;
            let got = f64::from(counts[rank]);
            assert!(
                (got / expected - 1.0).abs() < 0.35,
                "rank {rank}: {got} of {expected}"
            );
        }
    }

    #[test]
    fn no_choice_is_out_of_bounds() {
        for distribution in [Distribution::Uniform, Distribution::Zipfian] {
            for bound in [1, 2, 3] {
                let chooser = Chooser::new(distribution, bound, 7);
                let mut random = Random::new(3);
                assert!((0..1_000).all(|_| chooser.choose(&mut random) < bound));
            }
        }
    }
}
