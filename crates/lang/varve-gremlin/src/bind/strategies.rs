//! Strategies of the traversal source: checks, and rewrites of plans.

use varve_query::plan::{Name, Plan};
use varve_query::strategy::{
    Subgraph, add_to_all, add_to_properties, asks_for, productive, walks_any_label,
};
use varve_query::{Predicate, QueryError, Value};

use super::{Binder, Bound, counted, too_many_steps};
use crate::tree::{Argument, Step, StepName, Strategy, Text};

/// The most strategies of a traversal.
const STRATEGIES_MAX: usize = 100;
/// The most steps after a strategy, estimated as if every step got all filters of the strategy.
const COPIES_MAX: usize = 100_000;

/// The strategies with settings that are read, and the names of these settings.
const SETTINGS: &[(&str, &[&str])] = &[
    ("SeedStrategy", &["seed"]),
    (
        "SubgraphStrategy",
        &[
            "vertices",
            "edges",
            "vertexProperties",
            "checkAdjacentVertices",
        ],
    ),
    (
        "PartitionStrategy",
        &[
            "partitionKey",
            "writePartition",
            "readPartitions",
            "includeMetaProperties",
        ],
    ),
    ("ProductiveByStrategy", &["productiveKeys"]),
    (
        "EdgeLabelVerificationStrategy",
        &["throwException", "logWarning"],
    ),
    (
        "ReservedKeysVerificationStrategy",
        &["throwException", "logWarning", "keys"],
    ),
];
/// A setting of every strategy that some drivers send: the name of its class.
const CLASS_SETTING: &str = "strategy";
/// The strategies without settings that are read, and those that change how the reference runs a
/// traversal, but not its results.
const WITHOUT_SETTINGS: &[&str] = &[
    "AdjacentToIncidentStrategy",
    "ByModulatorOptimizationStrategy",
    "ComputerFinalizationStrategy",
    "ComputerVerificationStrategy",
    "ConnectiveStrategy",
    "CountStrategy",
    "EarlyLimitStrategy",
    "ElementIdStrategy",
    "FilterRankingStrategy",
    "GValueReductionStrategy",
    "GraphFilterStrategy",
    "HaltedTraverserStrategy",
    "HugeCountStepStrategy",
    "HugeGraphStepStrategy",
    "HugePrimaryKeyStrategy",
    "HugeVertexStepStrategy",
    "IdentityRemovalStrategy",
    "IncidentToAdjacentStrategy",
    "InlineFilterStrategy",
    "LambdaRestrictionStrategy",
    "LazyBarrierStrategy",
    "MatchAlgorithmStrategy",
    "MatchPredicateStrategy",
    "MessagePassingReductionStrategy",
    "OptionsStrategy",
    "OrderLimitStrategy",
    "PathProcessorStrategy",
    "PathRetractionStrategy",
    "ProfileStrategy",
    "ProviderGValueReductionStrategy",
    "ReadOnlyStrategy",
    "ReferenceElementStrategy",
    "RemoteStrategy",
    "RepeatUnrollStrategy",
    "RequirementsStrategy",
    "StandardVerificationStrategy",
    "TinkerGraphCountStrategy",
    "TinkerGraphStepStrategy",
    "VertexProgramRestrictionStrategy",
    "VertexProgramStrategy",
];
/// Strategies of the reference that would change results, and are refused.
const UNSUPPORTED: &[&str] = &["EventStrategy", "SackStrategy", "SideEffectStrategy"];

/// Checks that there is a strategy of this name, and that it has each of these settings.
pub(super) fn check_known(strategy: &Strategy) -> Result<(), QueryError> {
    let name = strategy.name.as_str();
    let Some((_, settings)) = SETTINGS.iter().find(|(own, _)| *own == name) else {
        return match WITHOUT_SETTINGS.contains(&name) || UNSUPPORTED.contains(&name) {
            true => Ok(()),
            false => Err(QueryError::invalid(format!("There is no strategy {name}"))),
        };
    };
    let mut keys = strategy.configuration.iter().map(|(key, _)| key.as_str());
    match keys.find(|key| !settings.contains(key) && *key != CLASS_SETTING) {
        None => Ok(()),
        Some(key) => Err(QueryError::invalid(format!(
            "{name} has no setting '{key}', but {}",
            settings.join(", ")
        ))),
    }
}

/// The strategies of a traversal.
#[derive(Debug, Default)]
pub(super) struct Strategies {
    all: Vec<(Text, StrategyRule)>,
}

#[derive(Debug)]
enum StrategyRule {
    Subgraph(Box<Subgraph>),
    /// The partition of new elements: a property and its value. The flag: whether new vertex
    /// properties have it, too.
    WriteTo(Name, Value, bool),
    /// The property that is the partition of vertex properties: no step may ask for it.
    HiddenKey(Name),
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
                StrategyRule::ReadOnly => each(steps, &mut |step| match step.name.writes() {
                    true => Err(QueryError::invalid(format!(
                        "The provided traversal has a mutating step and thus is not read only: \
                         {}()",
                        step.name
                    ))),
                    false => Ok(()),
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
                StrategyRule::WriteTo(key, value, with_meta) => {
                    add_to_all(plan, key, value);
                    if *with_meta {
                        add_to_properties(plan, key, value);
                    }
                }
                StrategyRule::HiddenKey(key) if asks_for(plan, key) => {
                    return Err(QueryError::invalid(
                        "Cannot explicitly request the partitionKey in the traversal",
                    ));
                }
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
        check_known(strategy)?;
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
                    let seed = self.value(seed)?;
                    let number = seed.as_long();
                    let number = number.ok_or_else(|| bad_setting(strategy, "seed", "a number"))?;
                    bound.options.seed = Some(number.cast_unsigned());
                }
                return Ok(());
            }
            "SubgraphStrategy" => StrategyRule::Subgraph(Box::new(Subgraph {
                vertices: self.criterion(strategy, "vertices")?,
                edges: self.criterion(strategy, "edges")?,
                vertex_properties: self.criterion(strategy, "vertexProperties")?,
                check_ends: self.flag(strategy, "checkAdjacentVertices", true)?,
                check_additions: true,
            })),
            "PartitionStrategy" => StrategyRule::Subgraph(Box::new(self.partition(strategy)?)),
            "ProductiveByStrategy" => {
                StrategyRule::Productive(self.keys(strategy, "productiveKeys")?)
            }
            "ReadOnlyStrategy" => StrategyRule::ReadOnly,
            "EdgeLabelVerificationStrategy" => StrategyRule::EdgeLabels {
                refuses: self.flag(strategy, "throwException", false)?,
            },
            "ReservedKeysVerificationStrategy" => {
                let keys = self.keys(strategy, "keys")?;
                StrategyRule::ReservedKeys {
                    keys: match keys.is_empty() {
                        true => vec!["id".into(), "label".into()],
                        false => keys,
                    },
                    refuses: self.flag(strategy, "throwException", false)?,
                }
            }
            "VertexProgramStrategy" => StrategyRule::VertexProgram,
            "VertexProgramRestrictionStrategy" => StrategyRule::NoVertexProgram,
            _ if UNSUPPORTED.contains(&name.as_str()) => {
                return Err(QueryError::Unsupported(format!("The strategy {name}")));
            }
            _ => return Ok(()),
        };
        strategies.remove(name);
        if name == "PartitionStrategy" {
            self.partition_rules(strategy, strategies)?;
        }
        strategies.all.push((name.clone(), kind));
        Ok(())
    }

    /// Adds the rules of a partition, beside the one of what is read.
    fn partition_rules(
        &self,
        strategy: &Strategy,
        strategies: &mut Strategies,
    ) -> Result<(), QueryError> {
        let Some(key) = setting(strategy, "partitionKey") else {
            return Ok(());
        };
        let key = self.name(key)?;
        let with_meta = self.flag(strategy, "includeMetaProperties", false)?;
        let mut add = |rule| strategies.all.push((strategy.name.clone(), rule));
        if with_meta {
            add(StrategyRule::HiddenKey(key.clone()));
        }
        if let Some(partition) = setting(strategy, "writePartition") {
            add(StrategyRule::WriteTo(
                key,
                self.value(partition)?,
                with_meta,
            ));
        }
        Ok(())
    }

    fn criterion(&self, strategy: &Strategy, key: &str) -> Result<Option<Plan>, QueryError> {
        match setting(strategy, key) {
            None | Some(Argument::Null) => Ok(None),
            Some(Argument::Traversal(criterion)) => self.plan(&criterion.steps).map(Some),
            Some(_) => Err(bad_setting(strategy, key, "a traversal")),
        }
    }

    /// The value of a setting that is true or false.
    fn flag(&self, strategy: &Strategy, key: &str, otherwise: bool) -> Result<bool, QueryError> {
        let value = setting(strategy, key).map(|value| self.value(value));
        match value.transpose()? {
            None | Some(Value::Null) => Ok(otherwise),
            Some(Value::Bool(value)) => Ok(value),
            Some(_) => Err(bad_setting(strategy, key, "true or false")),
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
        let of_properties = self.flag(strategy, "includeMetaProperties", false)?;
        Ok(Subgraph {
            vertices: Some(within.clone()),
            edges: Some(within.clone()),
            vertex_properties: of_properties.then_some(within),
            check_ends: false,
            // An element may be added to a partition that is not read.
            check_additions: false,
        })
    }
}

fn setting<'s>(strategy: &'s Strategy, key: &str) -> Option<&'s Argument> {
    let mut configuration = strategy.configuration.iter();
    let found = configuration.find(|(own, _)| own == key);
    found.map(|(_, value)| value)
}

fn bad_setting(strategy: &Strategy, key: &str, wanted: &str) -> QueryError {
    QueryError::invalid(format!(
        "The setting '{key}' of {} takes {wanted}",
        strategy.name
    ))
}
