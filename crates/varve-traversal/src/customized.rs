//! Walks that follow a list of steps.

use rustc_hash::FxHashSet;
use varve_model::PropertyKeyId;

use crate::path::path_bytes;
use crate::walks::{Longer, Nexts, Walks};
use crate::{Capacity, Path, Search, Step, Stepped, TraversalError, VertexNumber};

/// A step with weights of its edges.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedStep {
    /// The edges and vertices of the step.
    pub step: Step,
    /// The property with an edge's weight.
    pub weight: Option<PropertyKeyId>,
    /// The weight of an edge without the property.
    pub default_weight: f64,
    /// The most edges by which one walk is extended, the first in storage order; `None` = all.
    pub sample: Option<u64>,
}

/// The order of paths by the sum of their weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sorting {
    /// The order in which they are found.
    None,
    /// Lightest first.
    Ascending,
    /// Heaviest first.
    Descending,
}

/// A request for walks along steps.
#[derive(Debug, Clone, Copy)]
pub struct Customized {
    /// The order of the paths.
    pub sorting: Sorting,
    /// The most partial paths.
    pub capacity: Capacity,
    /// The most paths.
    pub limit: u64,
}

/// A path with the weight of each edge.
#[derive(Debug, Clone, PartialEq)]
pub struct WeighedPath {
    /// The path.
    pub path: Stepped,
    /// The weights of its edges.
    pub weights: Vec<f64>,
}

/// The walks from the sources that follow the steps in order and visit no vertex twice. Parallel
/// edges give separate walks. Paths of equal weight, and unsorted paths, come in storage order.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is exceeded, [`TraversalError::NotANumber`] for a
/// weight that is not a number, and those of the view.
pub fn customized_paths(
    search: &mut Search<'_>,
    sources: &[VertexNumber],
    steps: &[WeighedStep],
    ask: &Customized,
) -> Result<Vec<WeighedPath>, TraversalError> {
    let meter = search.meter();
    let mut walks: Walks<f64> = Walks::from(sources);
    let mut touched = 0;
    for (number, step) in steps.iter().enumerate() {
        let mut nexts = Nexts::edges(&step.step, step.weight, step.default_weight);
        nexts.read(search, walks.ends())?;
        let is_last = number + 1 == steps.len();
        let most = match is_last && ask.sorting == Sorting::None {
            true => ask.limit,
            false => u64::MAX,
        };
        let mut longer = Longer::default();
        'walks: for (walk, end) in walks.ends().enumerate() {
            let mut taken = 0;
            for next in nexts.of(end) {
                if longer.len() as u64 >= most {
                    break 'walks;
                }
                if step.sample.is_some_and(|sample| taken >= sample) {
                    break;
                }
                meter.row()?;
                if walks.place(walk, next.to).is_none() {
                    taken += 1;
                    touched += 1;
                    ask.capacity.check(touched, "customized paths")?;
                    longer.add(walk, next.to, next.weight, meter)?;
                }
            }
        }
        walks.replace(longer);
    }
    meter.hold(walks.len() * size_of::<(f64, usize)>())?;
    let sum = |walk: usize| (walks.notes(walk).iter().sum::<f64>(), walk);
    let mut order: Vec<(f64, usize)> = (0..walks.len()).map(sum).collect();
    match ask.sorting {
        Sorting::None => {}
        Sorting::Ascending => order.sort_by(|(a, _), (b, _)| a.total_cmp(b)),
        Sorting::Descending => order.sort_by(|(a, _), (b, _)| b.total_cmp(a)),
    }
    order.truncate(usize::try_from(ask.limit).unwrap_or(usize::MAX));
    let mut found = Vec::new();
    for (_, walk) in order {
        meter.hold(4 * path_bytes(steps.len() + 1))?;
        let path = Stepped {
            path: walks.path(walk),
            steps: (0..steps.len()).collect(),
        };
        let weights = walks.notes(walk);
        found.push(WeighedPath { path, weights });
    }
    Ok(found)
}

/// A request for vertices that walks from several sources reach.
#[derive(Debug, Clone, Copy)]
pub struct Crossroads {
    /// The most partial paths.
    pub capacity: Capacity,
    /// The most vertices.
    pub limit: u64,
    /// Whether the paths are returned.
    pub with_paths: bool,
}

/// The result of [`customized_crosspoints`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Crossed {
    /// The vertices that every source reaches.
    pub crosspoints: Vec<VertexNumber>,
    /// The walks that end at these vertices. Their step indexes count through all patterns.
    pub paths: Vec<Stepped>,
}

/// The vertices at which walks from every source end. A walk follows the steps of one of the
/// patterns and visits no vertex twice. Vertices come in the order in which the first source
/// reaches them, paths by source, pattern and storage order.
///
/// # Errors
///
/// [`TraversalError::Capacity`] if the capacity is exceeded, and those of the view.
pub fn customized_crosspoints(
    search: &mut Search<'_>,
    sources: &[VertexNumber],
    patterns: &[Vec<Step>],
    ask: &Crossroads,
) -> Result<Crossed, TraversalError> {
    let mut touched = 0;
    let mut charge = || {
        touched += 1;
        ask.capacity.check(touched, "customized crosspoints")
    };
    let mut nexts: Vec<Vec<Nexts>> = Vec::new();
    for steps in patterns {
        nexts.push(steps.iter().map(Nexts::vertices).collect());
    }
    let mut walked: Vec<Vec<Walks>> = Vec::new();
    let mut common: Option<Vec<VertexNumber>> = None;
    for source in sources {
        let mut own = Vec::new();
        for steps in &mut nexts {
            let mut walks = Walks::from(&[*source]);
            for nexts in steps {
                walks.grow(search, nexts, &mut charge)?;
            }
            own.push(walks);
        }
        let ends = own.iter().flat_map(Walks::ends);
        common = Some(match common {
            None => {
                let mut seen = FxHashSet::default();
                ends.filter(|end| seen.insert(*end)).collect()
            }
            Some(mut common) => {
                let ends: FxHashSet<VertexNumber> = ends.collect();
                common.retain(|vertex| ends.contains(vertex));
                common
            }
        });
        walked.push(own);
    }
    let mut crosspoints = common.unwrap_or_default();
    crosspoints.truncate(usize::try_from(ask.limit).unwrap_or(usize::MAX));
    let paths = match ask.with_paths {
        true => ways_to(search, &crosspoints, &walked)?,
        false => Vec::new(),
    };
    Ok(Crossed { crosspoints, paths })
}

/// The walks from all sources that end at a crosspoint, without repeats.
fn ways_to(
    search: &Search<'_>,
    crosspoints: &[VertexNumber],
    walked: &[Vec<Walks>],
) -> Result<Vec<Stepped>, TraversalError> {
    let wanted: FxHashSet<VertexNumber> = crosspoints.iter().copied().collect();
    let mut seen: FxHashSet<Path> = FxHashSet::default();
    let mut paths = Vec::new();
    for own in walked {
        let mut first_step = 0;
        for walks in own {
            for (walk, end) in walks.ends().enumerate() {
                search.meter().row()?;
                if !wanted.contains(&end) {
                    continue;
                }
                let path = walks.path(walk);
                if seen.insert(path.clone()) {
                    search.meter().hold(4 * path_bytes(path.vertices.len()))?;
                    let steps = (first_step..first_step + walks.edges()).collect();
                    paths.push(Stepped { path, steps });
                }
            }
            first_step += walks.edges();
        }
    }
    Ok(paths)
}
