//! Patterns of `match()` over named values, in an order that binds each name before it is needed.
//!
//! A walk goes from a named value to a result, which gets a name or must equal the value that has
//! the name already. Other patterns only filter. Patterns become ordinary steps, the cheapest
//! first.

use std::collections::HashSet;

use crate::QueryError;
use crate::plan::{Name, Op, Plan};

/// The most patterns of a `match`, including nested ones. The limit bounds the work of choosing an
/// order, in which each pattern is compared with all others.
pub const PATTERNS_MAX: usize = 100;

/// One pattern.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// A walk from a named value. Its results get the name `end`, if there is one.
    Walk {
        /// The name of the value at which the walk begins.
        start: Name,
        /// The walk.
        body: Plan,
        /// The name that the results get.
        end: Option<Name>,
    },
    /// A filter over these names.
    Filter {
        /// The names that must be bound.
        names: Vec<Name>,
        /// The filter.
        op: Box<Op>,
    },
    /// These patterns have a common solution, or with `not` have none. Their names are not visible
    /// outside.
    Exists {
        /// The patterns.
        patterns: Vec<Pattern>,
        /// Whether the patterns must have no solution.
        not: bool,
    },
    /// The patterns of at least one group have a solution.
    Or(Vec<Vec<Pattern>>),
}

impl Pattern {
    /// The number of patterns, including nested ones.
    fn count(&self) -> usize {
        let all = |patterns: &[Self]| patterns.iter().map(Self::count).sum::<usize>();
        match self {
            Self::Walk { .. } | Self::Filter { .. } => 1,
            Self::Exists { patterns, .. } => 1 + all(patterns),
            Self::Or(groups) => 1 + groups.iter().map(|group| all(group)).sum::<usize>(),
        }
    }

    /// Adds the names in the pattern to `out`, in the order of the text.
    fn names(&self, out: &mut Vec<Name>) {
        match self {
            Self::Walk { start, end, .. } => {
                out.push(start.clone());
                out.extend(end.clone());
            }
            Self::Filter { names, .. } => out.extend(names.iter().cloned()),
            Self::Exists { patterns, .. } => patterns.iter().for_each(|each| each.names(out)),
            Self::Or(groups) => groups.iter().flatten().for_each(|each| each.names(out)),
        }
    }

    /// Adds the names that the pattern gives to values to `out`.
    fn binds(&self, out: &mut Vec<Name>) {
        match self {
            Self::Walk { end, .. } => out.extend(end.clone()),
            Self::Or(groups) => groups.iter().flatten().for_each(|each| each.binds(out)),
            Self::Filter { .. } | Self::Exists { .. } => {}
        }
    }

    /// A rough estimate of the number of results for one value; the cheapest pattern goes first.
    fn cost(&self, bound: &HashSet<Name>) -> i32 {
        let Self::Walk { body, end, .. } = self else {
            return 0;
        };
        let mut cost = 0;
        body.walk(&mut |op| {
            cost += match op {
                Op::Source { .. } | Op::Repeat(_) => 100,
                Op::Expand { .. } => 10,
                op if op.is_filter() => -3,
                _ => 0,
            };
        });
        match end {
            None => cost.min(1),
            Some(end) if bound.contains(end) => cost - 5,
            Some(_) => cost + 1,
        }
    }
}

/// Whether a step treats each value alone, wherever the step is in the plan.
const fn is_plain(op: &Op) -> bool {
    op.is_filter()
        || matches!(
            op,
            Op::Expand { .. } | Op::EndVertex(_) | Op::Values(_) | Op::Is(_) | Op::Id | Op::Label
        )
}

/// The steps that give a map of the names for each solution. `seen`: names that values may have
/// before the `match`.
///
/// # Errors
/// If no order binds every name, or there are more than [`PATTERNS_MAX`] patterns.
pub fn solved(patterns: Vec<Pattern>, seen: &HashSet<Name>) -> Result<Vec<Op>, QueryError> {
    if patterns.iter().map(Pattern::count).sum::<usize>() > PATTERNS_MAX {
        return Err(QueryError::invalid(format!(
            "match() may have {PATTERNS_MAX} patterns, those within others included"
        )));
    }
    let mut names = Vec::new();
    patterns
        .iter()
        .for_each(|pattern| pattern.names(&mut names));
    let mut distinct = HashSet::new();
    names.retain(|name| distinct.insert(name.clone()));
    let start = start_of(&patterns)
        .ok_or_else(|| QueryError::invalid("match() needs a pattern that begins with as()"))?;
    let mut ops = Vec::new();
    let mut rest = patterns;
    if !seen.contains(&start) {
        // Filters of the input value go first: an index may serve them.
        rest.retain(|pattern| match pattern {
            Pattern::Walk {
                start: own,
                body,
                end: None,
            } if *own == start && body.ops.iter().all(Op::is_filter) => {
                ops.extend(body.ops.iter().cloned());
                false
            }
            _ => true,
        });
    }
    ops.push(Op::Bind {
        label: start.clone(),
        equal: false,
    });
    // A value may lack a label in `seen`. So a label that a walk binds is not yet regarded as
    // bound.
    let binds = |name: &Name| {
        let mut walks = rest.iter();
        walks.any(|each| matches!(each, Pattern::Walk { end: Some(end), .. } if end == name))
    };
    let outer = seen.iter().filter(|name| !binds(name));
    let mut known = Known {
        seen,
        bound: outer.cloned().chain([start]).collect(),
    };
    ops.extend(ordered(rest, &mut known)?);
    ops.push(Op::Bound {
        labels: names,
        map: true,
    });
    Ok(ops)
}

/// The names that are bound.
#[derive(Clone)]
struct Known<'s> {
    /// Names that values may have had before the `match`.
    seen: &'s HashSet<Name>,
    /// Names that have a value at this step.
    bound: HashSet<Name>,
}

/// The name of the input value: the first name that a walk begins with and no walk ends with.
fn start_of(patterns: &[Pattern]) -> Option<Name> {
    fn walks(patterns: &[Pattern], starts: &mut Vec<Name>, ends: &mut Vec<Name>) {
        for pattern in patterns {
            match pattern {
                Pattern::Walk { start, end, .. } => {
                    starts.push(start.clone());
                    ends.extend(end.clone());
                }
                Pattern::Or(groups) => {
                    for group in groups {
                        walks(group, starts, ends);
                    }
                }
                Pattern::Exists { .. } | Pattern::Filter { .. } => {}
            }
        }
    }
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    walks(patterns, &mut starts, &mut ends);
    let first = starts.iter().find(|start| !ends.contains(start));
    first.or_else(|| starts.first()).cloned()
}

/// The steps of patterns that must all hold, the cheapest first.
fn ordered(mut rest: Vec<Pattern>, known: &mut Known<'_>) -> Result<Vec<Op>, QueryError> {
    let mut ops = Vec::new();
    while !rest.is_empty() {
        let ready = (0..rest.len()).filter(|at| is_ready(*at, &rest, &known.bound));
        let Some(next) = ready.min_by_key(|at| rest[*at].cost(&known.bound)) else {
            let mut names = Vec::new();
            rest.iter().for_each(|pattern| pattern.names(&mut names));
            names.retain(|name| !known.bound.contains(name));
            return Err(QueryError::invalid(format!(
                "The provided match pattern is unsolvable: nothing binds {}",
                names.first().map_or("a name", Name::as_str)
            )));
        };
        steps_of(rest.remove(next), known, &mut ops)?;
    }
    Ok(ops)
}

/// Whether the names that a pattern needs are bound: the start of a walk, all names of a filter,
/// and of a compound pattern those names that another pattern binds.
fn is_ready(at: usize, rest: &[Pattern], bound: &HashSet<Name>) -> bool {
    let mut names = Vec::new();
    match &rest[at] {
        Pattern::Walk { start, .. } => return bound.contains(start),
        Pattern::Filter { names, .. } => return names.iter().all(|name| bound.contains(name)),
        other => other.names(&mut names),
    }
    let mut others = Vec::new();
    for (other, pattern) in rest.iter().enumerate() {
        if other != at {
            pattern.binds(&mut others);
        }
    }
    names
        .iter()
        .all(|name| bound.contains(name) || !others.contains(name))
}

fn steps_of(pattern: Pattern, known: &mut Known<'_>, ops: &mut Vec<Op>) -> Result<(), QueryError> {
    match pattern {
        Pattern::Walk { start, body, end } => {
            let begins = Op::Bound {
                labels: vec![start],
                map: false,
            };
            let mut walk = vec![begins];
            let plain = body.ops.iter().all(is_plain);
            walk.extend(body.ops);
            match plain {
                true => ops.extend(walk),
                false => ops.push(Op::FlatMap {
                    child: Plan::new(walk),
                    first: false,
                    local: false,
                }),
            }
            if let Some(label) = end {
                let first = known.bound.insert(label.clone()) && !known.seen.contains(&label);
                ops.push(match first {
                    true => Op::As([label].into_iter().collect()),
                    false => Op::Bind { label, equal: true },
                });
            }
        }
        Pattern::Filter { op, .. } => ops.push(*op),
        Pattern::Exists { patterns, not } => {
            let child = Plan::new(ordered(patterns, &mut known.clone())?);
            ops.push(Op::Where { child, not });
        }
        Pattern::Or(groups) => {
            let mut binds = Vec::new();
            for group in &groups {
                group.iter().for_each(|pattern| pattern.binds(&mut binds));
            }
            let children = groups
                .into_iter()
                .map(|group| Ok(Plan::new(ordered(group, &mut known.clone())?)))
                .collect::<Result<Vec<_>, QueryError>>()?;
            match binds.iter().all(|name| known.bound.contains(name)) {
                true => ops.push(Op::Junction {
                    children,
                    all: false,
                }),
                false => ops.push(Op::Union(children)),
            }
            known.bound.extend(binds);
        }
    }
    Ok(())
}
