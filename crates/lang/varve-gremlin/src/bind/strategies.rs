//! Strategies of the traversal source: checks, and rewrites of plans.

use varve_query::plan::{Name, Plan};
use varve_query::strategy::{Subgraph, add_to_all, productive, walks_any_label};
use varve_query::{Predicate, QueryError, Value};

use super::{Binder, Bound, counted, too_many_steps};
use crate::tree::{Argument, Step, StepName, Strategy, Text};

/// The most strategies of a traversal.
const STRATEGIES_MAX: usize = 100;
/// The most steps after a strategy, estimated as if every step got all filters of the strategy.
const COPIES_MAX: usize = 100_000;

/// The strategies of a traversal.
#[derive(Debug, Default)]
pub(super) struct Strategies {
    all: Vec<(Text, StrategyRule)>,
}

#[derive(Debug)]
enum StrategyRule {
    Subgraph(Box<Subgraph>),
    /// The partition of new elements: a property and its value.
    WriteTo(Name, Value),
    Productive(Vec<Name>),
    ReadOnly,
    EdgeLabels {
        refuses: bool,
    },
    ReservedKeys {
        keys: Vec<Name>,
        refuses: bool,
    },
    /// A traversal by a graph computer, which is not supported.
    VertexProgram,
    NoVertexProgram,
}

impl Strategies {
    pub(super) fn remove(&mut self, name: &str) {
        self.all.retain(|(own, _)| own != name);
    }

    /// Checks the steps against the strategies.
    pub(super) fn verify(&self, steps: &[Step]) -> Result<(), QueryError> {
        let has = |wanted: fn(&StrategyRule) -> bool| self.all.iter().any(|(_, kind)| wanted(kind));
        if has(|kind| matches!(kind, StrategyRule::VertexProgram)) {
            return Err(
                match has(|kind| matches!(kind, StrategyRule::NoVertexProgram)) {
                    true => QueryError::invalid(
                        "The TraversalSource does not allow the use of a GraphComputer",
                    ),
                    false => {
                        QueryError::Unsupported("The strategy VertexProgramStrategy".to_owned())
                    }
                },
            );
        }
        for (_, kind) in &self.all {
            match kind {
                StrategyRule::ReadOnly => each(steps, &mut |step| match step.name {
                    StepName::AddV
                    | StepName::AddE
                    | StepName::MergeV
                    | StepName::MergeE
                    | StepName::Property
                    | StepName::Drop => Err(QueryError::invalid(format!(
                        "The provided traversal has a mutating step and thus is not read only: \
                         {}()",
                        step.name
                    ))),
                    _ => Ok(()),
                })?,
                StrategyRule::ReservedKeys {
                    keys,
                    refuses: true,
                } => each(steps, &mut |step| match reserved(step, keys) {
                    Some(key) => Err(QueryError::invalid(format!(
                        "The provided traversal contains a {}() that is setting a property key \
                         to a reserved word: {key}",
                        step.name
                    ))),
                    None => Ok(()),
                })?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Rewrites the plan, in the order of the strategies.
    pub(super) fn apply(&self, plan: &mut Plan) -> Result<(), QueryError> {
        if self.all.len() > STRATEGIES_MAX {
            return Err(QueryError::invalid(format!(
                "A traversal may have {STRATEGIES_MAX} strategies"
            )));
        }
        for (_, kind) in &self.all {
            match kind {
                StrategyRule::Subgraph(subgraph) => {
                    let mut criteria = 0;
                    for criterion in subgraph.criteria() {
                        criteria += counted(criterion)?;
                    }
                    if criteria * counted(plan)? > COPIES_MAX {
                        return Err(too_many_steps());
                    }
                    subgraph.apply(plan);
                    counted(plan)?;
                }
                StrategyRule::WriteTo(key, value) => add_to_all(plan, key, value),
                StrategyRule::Productive(keys) => productive(plan, keys),
                StrategyRule::EdgeLabels { refuses: true } if walks_any_label(plan) => {
                    return Err(QueryError::invalid(
                        "The provided traversal contains a vertex step without any specified \
                         edge label",
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// Calls `check` for each step, including the steps of children.
fn each(
    steps: &[Step],
    check: &mut dyn FnMut(&Step) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    for step in steps {
        check(step)?;
        for argument in &step.arguments {
            within(argument, check)?;
        }
    }
    Ok(())
}

fn within(
    argument: &Argument,
    check: &mut dyn FnMut(&Step) -> Result<(), QueryError>,
) -> Result<(), QueryError> {
    match argument {
        Argument::Traversal(traversal) => each(&traversal.steps, check),
        Argument::List(items) | Argument::Set(items) => {
            items.iter().try_for_each(|item| within(item, check))
        }
        Argument::Map(entries) => entries.iter().try_for_each(|(key, value)| {
            within(key, check)?;
            within(value, check)
        }),
        _ => Ok(()),
    }
}

/// The reserved key that a step sets, if it sets one.
fn reserved<'k>(step: &Step, keys: &'k [Name]) -> Option<&'k Name> {
    if step.name != StepName::Property {
        return None;
    }
    let mut names = step
        .arguments
        .iter()
        .filter(|argument| !matches!(argument, Argument::Cardinality(_)));
    match names.next() {
        Some(Argument::String(name)) => keys.iter().find(|key| *key == name),
        _ => None,
    }
}

impl Binder<'_> {
    pub(super) fn strategy(
        &self,
        argument: &Argument,
        bound: &mut Bound,
        strategies: &mut Strategies,
    ) -> Result<(), QueryError> {
        let Argument::Strategy(strategy) = argument else {
            return Err(QueryError::invalid("withStrategies() takes strategies"));
        };
        let name = &strategy.name;
        let kind = match name.as_str() {
            "OptionsStrategy" => {
                for (key, value) in &strategy.configuration {
                    bound.with.push((key.clone(), self.value(value)?));
                }
                return Ok(());
            }
            "SeedStrategy" => {
                if let Some(seed) = setting(strategy, "seed") {
                    let seed = self.value(seed)?.as_long().unwrap_or_default();
                    bound.options.seed = Some(seed.cast_unsigned());
                }
                return Ok(());
            }
            "SubgraphStrategy" => StrategyRule::Subgraph(Box::new(Subgraph {
                vertices: self.criterion(strategy, "vertices")?,
                edges: self.criterion(strategy, "edges")?,
                vertex_properties: self.criterion(strategy, "vertexProperties")?,
                check_ends: flag(strategy, "checkAdjacentVertices", true),
            })),
            "PartitionStrategy" => StrategyRule::Subgraph(Box::new(self.partition(strategy)?)),
            "ProductiveByStrategy" => {
                StrategyRule::Productive(self.keys(strategy, "productiveKeys")?)
            }
            "ReadOnlyStrategy" => StrategyRule::ReadOnly,
            "EdgeLabelVerificationStrategy" => StrategyRule::EdgeLabels {
                refuses: flag(strategy, "throwException", false),
            },
            "ReservedKeysVerificationStrategy" => {
                let keys = self.keys(strategy, "keys")?;
                StrategyRule::ReservedKeys {
                    keys: match keys.is_empty() {
                        true => vec!["id".into(), "label".into()],
                        false => keys,
                    },
                    refuses: flag(strategy, "throwException", false),
                }
            }
            "VertexProgramStrategy" => StrategyRule::VertexProgram,
            "VertexProgramRestrictionStrategy" => StrategyRule::NoVertexProgram,
            // The other strategies change how the reference runs a traversal, not its results.
            _ => return Ok(()),
        };
        strategies.remove(name);
        if name == "PartitionStrategy"
            && let (Some(key), Some(partition)) = (
                setting(strategy, "partitionKey"),
                setting(strategy, "writePartition"),
            )
        {
            let write = StrategyRule::WriteTo(self.name(key)?, self.value(partition)?);
            strategies.all.push((name.clone(), write));
        }
        strategies.all.push((name.clone(), kind));
        Ok(())
    }

    fn criterion(&self, strategy: &Strategy, key: &str) -> Result<Option<Plan>, QueryError> {
        match setting(strategy, key) {
            None | Some(Argument::Null) => Ok(None),
            Some(criterion) => self.child(criterion).map(Some),
        }
    }

    /// The names in a setting, which is a name or a collection.
    fn keys(&self, strategy: &Strategy, key: &str) -> Result<Vec<Name>, QueryError> {
        match setting(strategy, key) {
            None => Ok(Vec::new()),
            Some(keys) => self.names(std::slice::from_ref(keys)),
        }
    }

    /// The elements whose partition property has one of the partitions to read.
    fn partition(&self, strategy: &Strategy) -> Result<Subgraph, QueryError> {
        let Some(key) = setting(strategy, "partitionKey") else {
            return Err(QueryError::invalid("PartitionStrategy needs partitionKey"));
        };
        let read = self.keys(strategy, "readPartitions")?;
        let read = read.into_iter().map(Value::Text).collect();
        let within = Plan::new(vec![varve_query::plan::Op::HasProperty {
            key: self.name(key)?,
            predicate: Predicate::within(read),
        }]);
        let of_properties = flag(strategy, "includeMetaProperties", false);
        Ok(Subgraph {
            vertices: Some(within.clone()),
            edges: Some(within.clone()),
            vertex_properties: of_properties.then_some(within),
            check_ends: false,
        })
    }
}

fn setting<'s>(strategy: &'s Strategy, key: &str) -> Option<&'s Argument> {
    let mut configuration = strategy.configuration.iter();
    let found = configuration.find(|(own, _)| own == key);
    found.map(|(_, value)| value)
}

fn flag(strategy: &Strategy, key: &str, otherwise: bool) -> bool {
    match setting(strategy, key) {
        Some(Argument::Bool(value)) => *value,
        _ => otherwise,
    }
}
