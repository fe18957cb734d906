//! Shrinks a failing list of operations.

use super::{Case, Operation};

/// The smallest case for which `fails` still holds, found by leaving out operations and parts of
/// requests.
#[must_use]
pub fn shrink(case: Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut best = case;
    loop {
        let before = size(&best);
        best = without_parts(best, fails);
        best = with_simpler_writes(best, fails);
        if size(&best) == before {
            return best;
        }
    }
}

fn size(case: &Case) -> usize {
    let one = |operation: &Operation| match operation {
        Operation::Write {
            changes,
            from,
            to,
            skip_unchanged,
        } => {
            let parts = [from.is_some(), to.is_some(), *skip_unchanged];
            1 + changes.len() + parts.map(usize::from).iter().sum::<usize>()
        }
        _ => 1,
    };
    case.operations.iter().map(one).sum()
}

/// Leaves out ever shorter sequences of operations.
fn without_parts(mut best: Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    let mut run = best.operations.len() / 2;
    while run > 0 {
        let mut at = 0;
        while at < best.operations.len() {
            let mut fewer = best.clone();
            let end = (at + run).min(fewer.operations.len());
            fewer.operations.drain(at..end);
            if fails(&fewer) {
                best = fewer;
            } else {
                at += run;
            }
        }
        run /= 2;
    }
    best
}

/// Leaves out single changes of requests, and their periods.
fn with_simpler_writes(mut best: Case, fails: &dyn Fn(&Case) -> bool) -> Case {
    for at in 0..best.operations.len() {
        let Operation::Write { changes, .. } = &best.operations[at] else {
            continue;
        };
        for change in (0..changes.len()).rev() {
            let mut fewer = best.clone();
            if let Operation::Write { changes, .. } = &mut fewer.operations[at]
                && changes.len() > 1
            {
                changes.remove(change);
                if fails(&fewer) {
                    best = fewer;
                }
            }
        }
        for which in 0..3 {
            let mut fewer = best.clone();
            if let Operation::Write {
                from,
                to,
                skip_unchanged,
                ..
            } = &mut fewer.operations[at]
            {
                match which {
                    0 => *from = None,
                    1 => *to = None,
                    _ => *skip_unchanged = false,
                }
            }
            if fewer.operations != best.operations && fails(&fewer) {
                best = fewer;
            }
        }
    }
    best
}
