//! Paths that follow a template of steps.

use rustc_hash::FxHashSet;
use varve_view::Flow;

use crate::path::path_bytes;
use crate::walks::{Longer, Nexts, Walks};
use crate::{Capacity, Search, Step, Stepped, TraversalError, VertexNumber};

/// The name of this search in HugeGraph's messages.
const WHAT: &str = "template paths";

/// A step that may be walked several times in a row.
#[derive(Debug, Clone, PartialEq)]
pub struct RepeatedStep {
    /// The edges and vertices of the step.
    pub step: Step,
    /// The most times in a row, at least 1.
    pub max_times: u64,
}

/// A request for template paths.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// Whether a path may visit a vertex again.
    pub with_ring: bool,
    /// The most partial paths.
    pub capacity: Capacity,
    /// The most paths.
    pub limit: u64,
}

/// A walk's position in the template: the step of its last edge, and how often it was walked in a
/// row.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    step: usize,
    times: u64,
}

/// The paths of at least one edge from a source to a target that walk each step 0 to `max_times`
/// times, in the order of the steps. Shorter paths come first, paths of equal length in storage
/// order. A path that matches the template in several ways is returned once, with the earliest
/// possible steps.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn template_paths(
    search: &mut Search<'_>,
    sources: &[VertexNumber],
    targets: &[VertexNumber],
    steps: &[RepeatedStep],
    ask: &Template,
) -> Result<Vec<Stepped>, TraversalError> {
    let leading = leading_to(search, targets, steps)?;
    let meter = search.meter();
    let mut nexts: Vec<Nexts> = steps
        .iter()
        .map(|step| Nexts::vertices(&step.step))
        .collect();
    let mut walks: Walks<Progress> = Walks::from(sources);
    let (mut touched, mut found) = (0, Vec::new());
    let mut went: FxHashSet<VertexNumber> = FxHashSet::default();
    while !walks.is_empty() {
        for (number, nexts) in nexts.iter_mut().enumerate() {
            let all = walks.ends().enumerate();
            let leave = all.filter(|(walk, end)| {
                may_walk(walks.note(*walk), number, steps) && leading[number].contains(end)
            });
            let leave: Vec<VertexNumber> = leave.map(|(_, end)| end).collect();
            nexts.read(search, leave)?;
        }
        let mut longer = Longer::default();
        for (walk, end) in walks.ends().enumerate() {
            went.clear();
            let progress = walks.note(walk);
            for number in progress.step..steps.len() {
                if !may_walk(progress, number, steps) {
                    continue;
                }
                let again = number == progress.step;
                let times = if again { progress.times + 1 } else { 1 };
                // A walk that has used up this step continues with the next one.
                let ahead = number + usize::from(times == steps[number].max_times);
                for next in nexts[number].of(end) {
                    meter.row()?;
                    let leads = leading[ahead].contains(&next.to);
                    let visited = !ask.with_ring && walks.place(walk, next.to).is_some();
                    if leads && !visited && went.insert(next.to) {
                        touched += 1;
                        ask.capacity.check(touched, WHAT)?;
                        let step = number;
                        longer.add(walk, next.to, Progress { step, times }, meter)?;
                    }
                }
            }
        }
        walks.replace(longer);
        for (walk, end) in walks.ends().enumerate() {
            if leading[steps.len()].contains(&end) {
                meter.hold(4 * path_bytes(walks.edges() + 1))?;
                let steps = walks.notes(walk).iter().map(|note| note.step).collect();
                let path = walks.path(walk);
                found.push(Stepped { path, steps });
                if found.len() as u64 >= ask.limit {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// Whether a walk at this position may continue by this step.
fn may_walk(progress: Progress, step: usize, steps: &[RepeatedStep]) -> bool {
    step > progress.step || (step == progress.step && progress.times < steps[step].max_times)
}

/// For each position in the template, the vertices from which the steps from there on may lead to a
/// target. The last entry is the targets.
fn leading_to(
    search: &mut Search<'_>,
    targets: &[VertexNumber],
    steps: &[RepeatedStep],
) -> Result<Vec<FxHashSet<VertexNumber>>, TraversalError> {
    let mut leading = vec![FxHashSet::from_iter(targets.iter().copied())];
    let meter = search.meter();
    for step in steps.iter().rev() {
        // Backwards there is no degree limit, which would hide paths through vertices with many
        // edges.
        let back = Step {
            max_degree: None,
            skip_degree: None,
            ..step.step.reversed()
        };
        let mut reached = leading[leading.len() - 1].clone();
        meter.hold(reached.len() * 2 * size_of::<VertexNumber>())?;
        let mut frontier: Vec<VertexNumber> = reached.iter().copied().collect();
        frontier.sort_unstable();
        for _ in 0..step.max_times {
            let mut next = Vec::new();
            search.expand(&frontier, &back, &mut |hop| {
                if reached.insert(hop.to) {
                    meter.hold(3 * size_of::<VertexNumber>())?;
                    next.push(hop.to);
                }
                Ok(Flow::Continue(()))
            })?;
            if next.is_empty() {
                break;
            }
            frontier = next;
        }
        leading.push(reached);
    }
    leading.reverse();
    Ok(leading)
}
