//! Sequences of steps, each with its modulators.

use smallvec::SmallVec;
use varve_model::Direction;
use varve_query::plan::{
    By, ElementKind, ElementMap, End, Expanded, MapOf, Op, Plan, Pop, Reduce, Scope, Tokens,
};
use varve_query::{QueryError, Value};

use super::arguments::{first, scoped};
use super::branches::Loop;
use super::by::modulators;
use super::{Binder, calls, math, source, writes};
use crate::tree::{self, Argument, Column, Step, StepName};

impl Binder<'_> {
    /// Binds a sequence of steps.
    pub(super) fn plan(&self, steps: &[Step]) -> Result<Plan, QueryError> {
        let is_infix = |step: &Step| {
            matches!(step.name, StepName::And | StepName::Or) && step.arguments.is_empty()
        };
        if self.infix.get() && steps.iter().any(is_infix) {
            return self.infix(steps);
        }
        let mut ops = Vec::with_capacity(steps.len());
        let mut at = 0;
        while at < steps.len() {
            let found = Loop::at_start(&steps[at..])?;
            if let Some((found, length)) = found {
                ops.push(self.repeat(&found)?);
                for step in &found.labels {
                    self.step(step, &[], &mut ops)?;
                }
                at += length;
                continue;
            }
            let step = &steps[at];
            let behind = modulators(&steps[at + 1..], modulators_of(step.name));
            self.step(step, behind, &mut ops)?;
            at += 1 + behind.len();
        }
        Ok(Plan::new(ops))
    }

    /// Binds steps joined by `and()` and `or()` without arguments; `and` has the higher precedence.
    /// Steps up to the last source are not operands.
    fn infix(&self, steps: &[Step]) -> Result<Plan, QueryError> {
        let is_source = |step: &Step| matches!(step.name, StepName::V | StepName::E);
        let start = steps.iter().rposition(is_source).map_or(0, |at| at + 1);
        let mut plan = self.plan(&steps[..start])?;
        let joint =
            |name: StepName| move |step: &Step| step.name == name && step.arguments.is_empty();
        let mut alternatives = Vec::new();
        for part in steps[start..].split(joint(StepName::Or)) {
            let all = part.split(joint(StepName::And));
            let mut children = all
                .map(|steps| self.plan(steps))
                .collect::<Result<Vec<_>, QueryError>>()?;
            alternatives.push(match children.len() {
                1 => children.remove(0),
                _ => Plan::new(vec![Op::Junction {
                    children,
                    all: true,
                }]),
            });
        }
        match alternatives.len() {
            1 => plan.ops.extend(alternatives.remove(0).ops),
            _ => plan.ops.push(Op::Junction {
                children: alternatives,
                all: false,
            }),
        }
        Ok(plan)
    }

    fn step(&self, step: &Step, behind: &[Step], ops: &mut Vec<Op>) -> Result<(), QueryError> {
        let simple = match self.string_step(step)? {
            Some(op) => Some(op),
            None => match self.list_step(step)? {
                Some(op) => Some(op),
                None => self.conversion(step, behind)?,
            },
        };
        if let Some(op) = simple {
            ops.push(op);
            return Ok(());
        }
        if step.name.writes() {
            ops.extend(self.write(step, behind)?);
            return Ok(());
        }
        match step.name {
            StepName::Has
            | StepName::HasLabel
            | StepName::HasId
            | StepName::HasKey
            | StepName::HasValue
            | StepName::HasNot => self.has(step, ops),
            StepName::Where
            | StepName::Filter
            | StepName::Not
            | StepName::And
            | StepName::Or
            | StepName::Is => {
                ops.push(self.filter(step, behind)?);
                Ok(())
            }
            StepName::Range
            | StepName::Limit
            | StepName::Skip
            | StepName::Tail
            | StepName::Sample
            | StepName::Dedup
            | StepName::Order => {
                ops.push(self.selection(step, behind)?);
                Ok(())
            }
            StepName::Match => {
                ops.extend(self.matching(step)?);
                Ok(())
            }
            StepName::Choose | StepName::Branch => {
                ops.push(self.branch(step, behind)?);
                Ok(())
            }
            _ => {
                let op = match self.movement(step)? {
                    Some(op) => op,
                    None => self.on_values(step, behind)?,
                };
                ops.push(op);
                Ok(())
            }
        }
    }

    /// Binds a step on values of any type.
    fn on_values(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        if let Some(op) = self.reading(step)? {
            return Ok(op);
        }
        if let Some(op) = self.reduction(step)? {
            return Ok(op);
        }
        match self.gathering(step, behind)? {
            Some(op) => Ok(op),
            None => self.other(step, behind),
        }
    }

    /// Binds a step that gives elements: of the graph, or reached from the input element; `None`
    /// for other steps.
    fn movement(&self, step: &Step) -> Result<Option<Op>, QueryError> {
        let arguments = step.arguments.as_slice();
        let expand = |direction, to| -> Result<Op, QueryError> {
            Ok(Op::Expand {
                direction,
                labels: self.names(arguments)?,
                to,
            })
        };
        Ok(Some(match step.name {
            StepName::V | StepName::E => Op::Source {
                kind: match step.name {
                    StepName::V => ElementKind::Vertex,
                    _ => ElementKind::Edge,
                },
                ids: match arguments {
                    [] => None,
                    ids => Some(self.ids(ids)?),
                },
                labels: None,
                conditions: Vec::new(),
            },
            StepName::Out => expand(Some(Direction::Out), Expanded::Vertices)?,
            StepName::In => expand(Some(Direction::In), Expanded::Vertices)?,
            StepName::Both => expand(None, Expanded::Vertices)?,
            StepName::OutE => expand(Some(Direction::Out), Expanded::Edges)?,
            StepName::InE => expand(Some(Direction::In), Expanded::Edges)?,
            StepName::BothE => expand(None, Expanded::Edges)?,
            StepName::To => match arguments.split_first() {
                Some((Argument::Direction(direction), labels)) => Op::Expand {
                    direction: way(*direction),
                    labels: self.names(labels)?,
                    to: Expanded::Vertices,
                },
                _ => {
                    return Err(QueryError::invalid(
                        "to() does not fit behind the step before it",
                    ));
                }
            },
            StepName::ToE => match arguments.split_first() {
                Some((Argument::Direction(direction), labels)) => Op::Expand {
                    direction: way(*direction),
                    labels: self.names(labels)?,
                    to: Expanded::Edges,
                },
                _ => return Err(QueryError::invalid("toE() needs a direction")),
            },
            StepName::ToV => match arguments {
                [Argument::Direction(tree::Direction::Out)] => Op::EndVertex(End::Out),
                [Argument::Direction(tree::Direction::In)] => Op::EndVertex(End::In),
                _ => Op::EndVertex(End::Both),
            },
            StepName::OutV => Op::EndVertex(End::Out),
            StepName::InV => Op::EndVertex(End::In),
            StepName::BothV => Op::EndVertex(End::Both),
            StepName::OtherV => Op::EndVertex(End::Other),
            _ => return Ok(None),
        }))
    }

    /// Binds a step that reads an element, or a step without modulators; `None` for other steps.
    fn reading(&self, step: &Step) -> Result<Option<Op>, QueryError> {
        let arguments = step.arguments.as_slice();
        Ok(Some(match step.name {
            StepName::Inject => Op::Inject(self.values(arguments)?),
            StepName::Id => Op::Id,
            StepName::Label => Op::Label,
            StepName::Key => Op::Key,
            StepName::Value => Op::Value,
            StepName::Identity => Op::Identity,
            StepName::Values => Op::Values(self.names(arguments)?),
            StepName::Properties => Op::Properties(self.names(arguments)?),
            StepName::Constant => Op::Constant(self.value(first(step)?)?),
            StepName::Unfold => Op::Unfold,
            StepName::Element => Op::Element,
            StepName::Barrier => match arguments {
                [Argument::Barrier(tree::Barrier::NormSack)] => Op::NormSack,
                _ => Op::Barrier,
            },
            StepName::Discard => Op::Discard,
            StepName::None if arguments.is_empty() => Op::Discard,
            StepName::As => {
                let names = self.names(arguments)?;
                self.labels.borrow_mut().extend(names.iter().cloned());
                Op::As(names.into_iter().collect::<SmallVec<_>>())
            }
            StepName::Cap => Op::Cap(self.names(arguments)?),
            StepName::Loops => Op::Loops(match arguments {
                [] => None,
                [name, ..] => Some(self.name(name)?),
            }),
            StepName::Coin => {
                let value = self.value(first(step)?)?;
                let probability = match value {
                    Value::Double(probability) => probability,
                    Value::Float(probability) => f64::from(probability),
                    #[allow(clippy::cast_precision_loss, reason = "0 or 1")]
                    other => other.as_long().unwrap_or_default() as f64,
                };
                Op::Coin(probability)
            }
            StepName::Fail => Op::Fail(match arguments {
                [] => "fail() step triggered".into(),
                [message, ..] => self.name(message)?,
            }),
            _ => return Ok(None),
        }))
    }

    fn selection(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (scope, arguments) = scoped(step);
        // A negative number counts as 0, but as no limit where it is -1 in `limit` and `range`.
        let number = |argument| self.whole_number(argument);
        let count = || -> Result<u64, QueryError> {
            let count = arguments.first().map_or(Ok(1), number)?;
            Ok(u64::try_from(count).unwrap_or(0))
        };
        let range = |low: i64, high: i64| match low != -1 && high != -1 && high < low {
            true => Err(QueryError::invalid(format!(
                "Not a legal range: [{low}, {high}]"
            ))),
            false => Ok(Op::Range {
                low: u64::try_from(low).unwrap_or(0),
                high: (high != -1).then(|| u64::try_from(high).unwrap_or(0)),
                scope,
            }),
        };
        Ok(match step.name {
            StepName::Limit => range(0, arguments.first().map_or(Ok(1), number)?)?,
            StepName::Skip => Op::Range {
                low: count()?,
                high: None,
                scope,
            },
            StepName::Range => {
                let [low, high] = arguments else {
                    return Err(QueryError::invalid("range() needs two numbers"));
                };
                range(number(low)?, number(high)?)?
            }
            StepName::Tail => Op::Tail {
                count: count()?,
                scope,
            },
            StepName::Sample if scope == Scope::Local && !behind.is_empty() => {
                return Err(QueryError::invalid("sample(local) takes no by()"));
            }
            StepName::Sample => Op::Sample {
                count: count()?,
                by: self.sole_by(step, behind)?,
                scope,
            },
            StepName::Order => Op::Order {
                by: self.sortings(behind)?,
                scope,
            },
            _ => Op::Dedup {
                labels: self.names(arguments)?,
                by: self.sole_by(step, behind)?,
                scope,
            },
        })
    }

    /// Binds a step that reduces many values to one; `None` for other steps.
    fn reduction(&self, step: &Step) -> Result<Option<Op>, QueryError> {
        let (scope, arguments) = scoped(step);
        let reduce = |reduce| Op::Reduce { reduce, scope };
        Ok(Some(match step.name {
            StepName::Count => reduce(Reduce::Count),
            StepName::Sum => reduce(Reduce::Sum),
            StepName::Min => reduce(Reduce::Min),
            StepName::Max => reduce(Reduce::Max),
            StepName::Mean => reduce(Reduce::Mean),
            StepName::Fold => match arguments {
                [seed, Argument::Operator(operator)] => Op::FoldWith {
                    seed: self.value(seed)?,
                    operator: source::join(*operator),
                },
                _ => reduce(Reduce::Fold),
            },
            _ => return Ok(None),
        }))
    }

    /// Binds a step that collects values, into a side effect if it names one; `None` for other
    /// steps.
    fn gathering(&self, step: &Step, behind: &[Step]) -> Result<Option<Op>, QueryError> {
        let (scope, arguments) = scoped(step);
        let name = || arguments.first().map(|name| self.name(name)).transpose();
        Ok(Some(match step.name {
            StepName::Tree => Op::Tree {
                by: self.bys(behind)?,
                into: name()?,
            },
            StepName::Subgraph => Op::Subgraph {
                into: self.name(first(step)?)?,
            },
            StepName::Group => {
                let mut bys = self.bys(behind)?;
                if bys.len() > 2 {
                    return Err(QueryError::invalid(
                        "The key and value traversals for group()-step have already been set",
                    ));
                }
                let value = match bys.len() {
                    2 => bys.remove(1),
                    _ => By::Identity,
                };
                Op::Group {
                    key: bys.pop().unwrap_or_default(),
                    value,
                    into: name()?,
                }
            }
            StepName::GroupCount => Op::GroupCount {
                key: self.sole_by(step, behind)?.unwrap_or_default(),
                into: name()?,
            },
            StepName::Aggregate | StepName::Store => Op::Aggregate {
                into: name()?.unwrap_or_default(),
                by: self.sole_by(step, behind)?.unwrap_or_default(),
                scope: match step.name {
                    StepName::Store => Scope::Local,
                    _ => scope,
                },
            },
            StepName::Profile => Op::Profile { into: name()? },
            _ => return Ok(None),
        }))
    }

    fn other(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (_, arguments) = scoped(step);
        let child = || self.child(first(step)?);
        Ok(match step.name {
            StepName::Select => self.select(step, behind)?,
            StepName::Project => Op::Project {
                keys: self.names(arguments)?,
                by: self.bys(behind)?,
            },
            StepName::SimplePath | StepName::CyclicPath => {
                let (from, to) = self.between(behind)?;
                Op::SimplePath {
                    simple: step.name == StepName::SimplePath,
                    by: self.bys(behind)?,
                    from,
                    to,
                }
            }
            StepName::Path => {
                let (from, to) = self.between(behind)?;
                let by = self.bys(behind)?;
                Op::Path { by, from, to }
            }
            StepName::ValueMap | StepName::PropertyMap | StepName::ElementMap => {
                self.element_map(step, behind)?
            }
            StepName::Union => Op::Union(self.children(arguments)?),
            StepName::Coalesce => Op::Coalesce(self.children(arguments)?),
            StepName::Optional => Op::Optional(child()?),
            StepName::Local | StepName::FlatMap | StepName::Map => Op::FlatMap {
                child: child()?,
                first: step.name == StepName::Map,
                local: step.name == StepName::Local,
            },
            StepName::SideEffect => Op::SideEffect(child()?),
            StepName::Call => self.call(step, behind)?,
            StepName::Sack => match arguments {
                [Argument::Operator(operator)] => Op::SackWith {
                    operator: source::join(*operator),
                    by: self.sole_by(step, behind)?.unwrap_or_default(),
                },
                _ => Op::Sack,
            },
            StepName::Math => Op::Math {
                expression: math::expression(&self.name(first(step)?)?)?,
                by: self.bys(behind)?,
            },
            StepName::Index => Op::Index {
                map: self.indexes_map(behind)?,
            },
            StepName::By | StepName::With | StepName::From | StepName::Option => {
                return Err(QueryError::invalid(format!(
                    "{}() does not fit behind the step before it",
                    step.name
                )));
            }
            other => return Err(QueryError::Unsupported(format!("The step {other}()"))),
        })
    }

    fn select(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (pop, arguments) = match step.arguments.split_first() {
            Some((Argument::Pop(pop), rest)) => (Some(pop_of(*pop)), rest),
            _ => (None, step.arguments.as_slice()),
        };
        Ok(match arguments {
            [Argument::Column(column)] => Op::SelectColumn {
                keys: *column == Column::Keys,
            },
            [Argument::Traversal(child)] => Op::SelectChild {
                pop,
                child: self.plan(&child.steps)?,
                by: self.sole_by(step, behind)?,
            },
            names => Op::Select {
                pop,
                labels: self.names(names)?,
                by: self.bys(behind)?,
            },
        })
    }

    /// Whether the modulators of `index` ask for a map.
    fn indexes_map(&self, behind: &[Step]) -> Result<bool, QueryError> {
        let mut map = false;
        for with in behind.iter().filter(|step| step.name == StepName::With) {
            let [_, kind] = with.arguments.as_slice() else {
                return Err(QueryError::invalid(
                    "WithOptions.indexer takes WithOptions.list or WithOptions.map",
                ));
            };
            map = self.whole_number(kind)? == 1;
        }
        Ok(map)
    }

    fn element_map(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (tokens, arguments) = match step.arguments.split_first() {
            Some((Argument::Bool(tokens), rest)) => (*tokens, rest),
            _ => (false, step.arguments.as_slice()),
        };
        let mut shown = Tokens {
            ids: tokens,
            labels: tokens,
        };
        for with in behind.iter().filter(|step| step.name == StepName::With) {
            let mask = match with.arguments.get(1) {
                Some(mask) => self.value(mask)?.as_long().unwrap_or(0),
                None => 15,
            };
            shown = Tokens {
                ids: mask & 1 != 0,
                labels: mask & 2 != 0,
            };
        }
        let of = match step.name {
            StepName::ValueMap => MapOf::Values,
            StepName::PropertyMap => MapOf::Properties,
            _ => MapOf::Whole,
        };
        Ok(Op::ElementMap(Box::new(ElementMap {
            of,
            keys: self.names(arguments)?,
            tokens: match of {
                // The maps of properties have no tokens: the reference ignores them, too.
                MapOf::Properties => Tokens::default(),
                _ => shown,
            },
            by: self.sole_by(step, behind)?,
            visible: None,
        })))
    }
}

/// The modulators that may follow a step.
const fn modulators_of(name: StepName) -> &'static [StepName] {
    match name {
        StepName::Order
        | StepName::Dedup
        | StepName::Sample
        | StepName::Select
        | StepName::Project
        | StepName::Group
        | StepName::GroupCount
        | StepName::Aggregate
        | StepName::Store
        | StepName::Sack
        | StepName::Math
        | StepName::Format
        | StepName::Tree
        | StepName::Where => &[StepName::By],
        StepName::ValueMap | StepName::PropertyMap | StepName::Index => {
            &[StepName::By, StepName::With]
        }
        StepName::Path | StepName::SimplePath | StepName::CyclicPath => {
            &[StepName::By, StepName::From, StepName::To]
        }
        StepName::Choose | StepName::Branch => &[StepName::Option],
        StepName::AddV => writes::ADD_VERTEX,
        StepName::AddE => writes::ADD_EDGE,
        StepName::MergeV | StepName::MergeE => writes::MERGE,
        StepName::Property => writes::SET,
        StepName::Call => calls::CALL,
        _ => &[],
    }
}

const fn pop_of(pop: tree::Pop) -> Pop {
    match pop {
        tree::Pop::First => Pop::First,
        tree::Pop::Last => Pop::Last,
        tree::Pop::All => Pop::All,
        tree::Pop::Mixed => Pop::Mixed,
    }
}

const fn way(direction: tree::Direction) -> Option<Direction> {
    match direction {
        tree::Direction::Out => Some(Direction::Out),
        tree::Direction::In => Some(Direction::In),
        tree::Direction::Both => None,
    }
}
