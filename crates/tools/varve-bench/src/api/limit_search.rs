//! The upper limit: raises the load until a row fails, then halves the gap.

/// The accepted gap between the last clean and the first failed step, as a share of the former.
const CLOSE_ENOUGH: f64 = 0.05;
/// The most steps that halve the gap.
const HALVINGS: u32 = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Clean,
    Failed,
    /// Not clean, and the search ends: a further step would show nothing about its load.
    Last,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadRange {
    pub(crate) last_clean: Option<u32>,
    pub(crate) first_failed: Option<u32>,
}

/// Runs `step` at rising loads from `start`, each `factor` times the last, up to `max`; then
/// between the last clean and the first failed load.
///
/// # Errors
/// The first error of `step`.
pub(crate) fn search<E>(
    start: u32,
    factor: f64,
    max: u32,
    mut step: impl FnMut(u32) -> Result<Step, E>,
) -> Result<LoadRange, E> {
    let (mut last_clean, mut first_failed) = (None, None);
    let mut load = start.min(max);
    loop {
        match step(load)? {
            Step::Clean => last_clean = Some(load),
            Step::Failed => {
                first_failed = Some(load);
                break;
            }
            Step::Last => {
                first_failed = Some(load);
                return Ok(LoadRange {
                    last_clean,
                    first_failed,
                });
            }
        }
        if load >= max {
            break;
        }
        let next = (f64::from(load) * factor).round() as u32;
        load = next.max(load + 1).min(max);
    }
    if let (Some(mut clean), Some(mut failed)) = (last_clean, first_failed) {
        for _ in 0..HALVINGS {
            let middle = clean.midpoint(failed);
            let gap = f64::from(failed - clean);
            if gap <= CLOSE_ENOUGH * f64::from(clean) || middle <= clean {
                break;
            }
            match step(middle)? {
                Step::Clean => clean = middle,
                Step::Failed => failed = middle,
                Step::Last => {
                    failed = middle;
                    break;
                }
            }
        }
        (last_clean, first_failed) = (Some(clean), Some(failed));
    }
    Ok(LoadRange {
        last_clean,
        first_failed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(start: u32, max: u32, limit: u32) -> (LoadRange, Vec<u32>) {
        let mut steps = Vec::new();
        let found = search(start, 1.5, max, |load| {
            steps.push(load);
            Ok::<_, ()>(match load <= limit {
                true => Step::Clean,
                false => Step::Failed,
            })
        });
        (found.expect("no error"), steps)
    }

    #[test]
    fn the_limit_is_found_within_five_percent() {
        for limit in [120, 777, 11_500] {
            let (found, steps) = run(100, 100_000, limit);
            let (clean, failed) = (
                found.last_clean.expect("some"),
                found.first_failed.expect("some"),
            );
            assert!(clean <= limit && limit < failed, "{found:?}");
            assert!(
                f64::from(failed - clean) <= 0.05 * f64::from(clean) + 1.0,
                "{found:?} in {steps:?}"
            );
        }
    }

    #[test]
    fn a_first_step_that_fails_ends_the_search() {
        let (found, steps) = run(100, 1_000, 50);
        assert_eq!((found.last_clean, found.first_failed), (None, Some(100)));
        assert_eq!(steps, [100]);
    }

    #[test]
    fn nothing_follows_a_step_after_which_none_can_be_clean() {
        use Step::{Clean, Failed, Last};
        let run = |outcomes: &[Step]| {
            let mut left = outcomes.iter();
            let step = |_| left.next().copied().ok_or("one step too many");
            search(100, 2.0, 1_000_000, step).map(|found| (found.last_clean, found.first_failed))
        };
        assert_eq!(run(&[Last]), Ok((None, Some(100))));
        assert_eq!(run(&[Clean, Last]), Ok((Some(100), Some(200))));
        let halved = run(&[Clean, Failed, Last]);
        assert_eq!(halved, Ok((Some(100), Some(150))));
    }

    #[test]
    fn the_search_ends_at_its_maximum() {
        let (found, steps) = run(100, 200, 1_000_000);
        assert_eq!((found.last_clean, found.first_failed), (Some(200), None));
        assert_eq!(steps, [100, 150, 200]);
    }
}
