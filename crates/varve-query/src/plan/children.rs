//! The children of steps, for reading and for replacing.

use super::{By, Choice, Fused, LoopTest, Name, Op, Plan};

impl By {
    fn child(&self) -> Option<&Plan> {
        match self {
            Self::Child(plan) | Self::VisibleKey(_, plan) => Some(plan),
            Self::OrNull(by) => by.child(),
            _ => None,
        }
    }

    fn child_mut(&mut self) -> Option<&mut Plan> {
        match self {
            Self::Child(plan) | Self::VisibleKey(_, plan) => Some(plan),
            Self::OrNull(by) => by.child_mut(),
            _ => None,
        }
    }

    /// The name of the property that this reads, if it reads one.
    pub(crate) fn key(&self) -> Option<&Name> {
        match self {
            Self::Key(key) | Self::VisibleKey(key, _) => Some(key),
            Self::OrNull(by) => by.key(),
            _ => None,
        }
    }
}

/// Two methods, each for shared and for mutable references.
macro_rules! children {
    ($readers:ident, $children:ident, $child:ident, $iter:ident $(, $mut:ident)?) => {
        /// The `by(…)` of this step.
        pub fn $readers(&$($mut)? self) -> Vec<&$($mut)? By> {
            match self {
                Self::WhereLabels { by, .. }
                | Self::Select { by, .. }
                | Self::Project { by, .. }
                | Self::Path { by, .. }
                | Self::SimplePath { by, .. }
                | Self::Tree { by, .. }
                | Self::Math { by, .. }
                | Self::Format { by, .. } => by.$iter().collect(),
                Self::Dedup { by, .. }
                | Self::Sample { by, .. }
                | Self::SelectChild { by, .. } => by.$iter().collect(),
                Self::ElementMap(map) => {
                    let map = &$($mut)? **map;
                    map.by.$iter().collect()
                }
                Self::Order { by, .. } => by.$iter().map(|(by, _)| by).collect(),
                Self::Group { key, value, .. } => vec![key, value],
                Self::GroupCount { key, .. } => vec![key],
                Self::Aggregate { by, .. } | Self::SackWith { by, .. } => vec![by],
                Self::Branch { branch, .. } => vec![branch],
                _ => Vec::new(),
            }
        }

        /// The children of this step.
        pub fn $children(&$($mut)? self) -> Vec<&$($mut)? Plan> {
            match self {
                Self::SelectChild { child, by, .. } => {
                    let mut all = vec![child];
                    all.extend(by.$iter().filter_map(By::$child));
                    all
                }
                Self::ElementMap(map) => {
                    let map = &$($mut)? **map;
                    let by = map.by.$iter().filter_map(By::$child);
                    by.chain(map.visible.$iter()).collect()
                }
                Self::HasPropertyChild { child, .. }
                | Self::Where { child, .. }
                | Self::FlatMap { child, .. }
                | Self::SideEffect(child)
                | Self::Fused(Fused::Ordered { source: child, .. })
                | Self::Optional(child) => vec![child],
                Self::Junction { children, .. }
                | Self::Combine { children, .. }
                | Self::Union(children)
                | Self::Coalesce(children) => children.$iter().collect(),
                Self::IfThenElse {
                    condition,
                    then,
                    otherwise,
                } => vec![condition, then, otherwise],
                Self::Branch {
                    branch, options, ..
                } => {
                    let mut all: Vec<&$($mut)? Plan> = branch.$child().into_iter().collect();
                    for (choice, plan) in options {
                        if let Choice::Child(test) = choice {
                            all.push(test);
                        }
                        all.push(plan);
                    }
                    all
                }
                Self::Repeat(repeat) => {
                    let repeat = &$($mut)? **repeat;
                    let mut all = vec![&$($mut)? repeat.body];
                    let tests = [&$($mut)? repeat.until, &$($mut)? repeat.emit];
                    for modulator in tests.into_iter().flatten() {
                        if let LoopTest::Child(plan) = &$($mut)? modulator.test {
                            all.push(plan);
                        }
                    }
                    all
                }
                Self::Write(write) => write.$children(),
                Self::Call(call) => {
                    let call = &$($mut)? **call;
                    let with = call.with.$iter().map(|(_, plan)| plan);
                    call.computed.$iter().chain(with).collect()
                }
                other => {
                    let readers = other.$readers().into_iter();
                    readers.filter_map(By::$child).collect()
                }
            }
        }
    };
}

impl Op {
    children!(readers, children, child, iter);
    children!(readers_mut, children_mut, child_mut, iter_mut, mut);
}
