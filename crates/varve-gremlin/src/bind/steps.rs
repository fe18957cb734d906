//! Steps, one after the other, with the modulators behind each.

use smallvec::SmallVec;
use varve_model::Direction;
use varve_query::plan::{
    By, Choice, ElementKind, End, Expanded, LoopTest, Modulator, Name, Op, Plan, Pop, Reduce,
    Repeat, Scope, Tokens,
};
use varve_query::value::Token;
use varve_query::{Predicate, QueryError, Value};

use super::arguments::{first, scoped, token_of};
use super::by::modulators;
use super::{Binder, math, source};
use crate::tree::{self, Argument, Column, Pick, Step, StepName, Traversal};

impl Binder<'_> {
    /// The plan of these steps.
    pub(super) fn plan(&self, steps: &[Step]) -> Result<Plan, QueryError> {
        let is_infix = |step: &Step| {
            matches!(step.name, StepName::And | StepName::Or) && step.arguments.is_empty()
        };
        if steps.iter().any(is_infix) {
            return self.infix(steps);
        }
        let mut ops = Vec::with_capacity(steps.len());
        let mut at = 0;
        // Modulators before `repeat`.
        let mut before: Vec<&Step> = Vec::new();
        while at < steps.len() {
            let step = &steps[at];
            let rest = &steps[at + 1..];
            let loop_part = [StepName::Until, StepName::Emit, StepName::Times];
            if loop_part.contains(&step.name) {
                before.push(step);
                at += 1;
                continue;
            }
            if step.name == StepName::Repeat {
                let after = modulators(rest, &loop_part);
                ops.push(self.repeat(step, &std::mem::take(&mut before), after)?);
                at += 1 + after.len();
                continue;
            }
            let behind = modulators(rest, modulators_of(step.name));
            self.step(step, behind, &mut ops)?;
            at += 1 + behind.len();
        }
        match before.is_empty() {
            true => Ok(Plan::new(ops)),
            false => Err(QueryError::invalid(
                "The repeat()-traversal was not defined",
            )),
        }
    }

    /// Steps joined by `and()` and `or()` without arguments. `and` binds closer. What stands before
    /// the last source is not a part of it.
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
                .map(|steps| Ok(ends_bound(self.plan(steps)?)))
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
        if let Some(op) = self.string_step(step)? {
            ops.push(op);
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
            StepName::Choose | StepName::Branch => {
                ops.push(self.branch(step, behind)?);
                Ok(())
            }
            _ => {
                let op = match self.reading(step)? {
                    Some(op) => op,
                    None => self.other(step, behind)?,
                };
                ops.push(op);
                Ok(())
            }
        }
    }

    /// Steps that read the graph or an element.
    fn reading(&self, step: &Step) -> Result<Option<Op>, QueryError> {
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
                    ids => Some(self.flat_values(ids)?),
                },
                labels: None,
                conditions: Vec::new(),
            },
            StepName::Inject => Op::Inject(self.values(arguments)?),
            StepName::Out => expand(Some(Direction::Out), Expanded::Vertices)?,
            StepName::In => expand(Some(Direction::In), Expanded::Vertices)?,
            StepName::Both => expand(None, Expanded::Vertices)?,
            StepName::OutE => expand(Some(Direction::Out), Expanded::Edges)?,
            StepName::InE => expand(Some(Direction::In), Expanded::Edges)?,
            StepName::BothE => expand(None, Expanded::Edges)?,
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
            StepName::Id => Op::Id,
            StepName::Label => Op::Label,
            StepName::Key => Op::Key,
            StepName::Value => Op::Value,
            StepName::Identity => Op::Identity,
            StepName::Values => Op::Values(self.names(arguments)?),
            StepName::Properties => Op::Properties(self.names(arguments)?),
            StepName::PropertyMap => Op::PropertyMap(self.names(arguments)?),
            StepName::ElementMap => Op::ElementMap(self.names(arguments)?),
            StepName::Constant => Op::Constant(self.value(first(step)?)?),
            StepName::Unfold => Op::Unfold,
            StepName::Barrier => Op::Barrier,
            StepName::Discard => Op::Discard,
            StepName::None if arguments.is_empty() => Op::Discard,
            StepName::As => Op::As(self.names(arguments)?.into_iter().collect::<SmallVec<_>>()),
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

    fn has(&self, step: &Step, ops: &mut Vec<Op>) -> Result<(), QueryError> {
        let arguments = step.arguments.as_slice();
        let token = |token, predicate| Op::HasToken { token, predicate };
        match (step.name, arguments) {
            (StepName::HasLabel, all) => {
                ops.push(token(Token::Label, self.any_of(all)?));
            }
            (StepName::HasId, all) => ops.push(token(Token::Id, self.any_id_of(all)?)),
            (StepName::HasKey, all) => ops.push(token(Token::Key, self.any_of(all)?)),
            (StepName::HasValue, all) => ops.push(token(Token::Value, self.any_of(all)?)),
            (StepName::HasNot, [key]) => ops.push(Op::HasNot(self.name(key)?)),
            (StepName::Has, [Argument::Null] | [Argument::Null, _]) => ops.push(Op::Discard),
            (StepName::Has, [key]) => match key {
                Argument::T(_) => ops.push(Op::Identity),
                key => ops.push(Op::HasKey(self.name(key)?)),
            },
            (StepName::Has, [Argument::T(tree::T::Id), wanted]) => {
                ops.push(token(
                    Token::Id,
                    self.any_id_of(std::slice::from_ref(wanted))?,
                ));
            }
            (StepName::Has, [Argument::T(own), Argument::Traversal(child)]) => {
                let mut child = self.plan(&child.steps)?;
                child.ops.insert(0, token_op(*own));
                ops.push(Op::Where { child, not: false });
            }
            (StepName::Has, [Argument::T(own), wanted]) => {
                ops.push(token(
                    token_of(*own),
                    self.any_of(std::slice::from_ref(wanted))?,
                ));
            }
            (StepName::Has, [key, wanted]) => ops.push(self.has_property(key, wanted)?),
            (StepName::Has, [label, key, wanted]) => {
                ops.push(token(
                    Token::Label,
                    self.any_of(std::slice::from_ref(label))?,
                ));
                ops.push(self.has_property(key, wanted)?);
            }
            _ => {
                return Err(QueryError::invalid(format!(
                    "{}() does not take these arguments",
                    step.name
                )));
            }
        }
        Ok(())
    }

    fn has_property(&self, key: &Argument, wanted: &Argument) -> Result<Op, QueryError> {
        let key = self.name(key)?;
        Ok(match wanted {
            Argument::Traversal(child) => Op::HasPropertyChild {
                key,
                child: self.plan(&child.steps)?,
            },
            wanted => Op::HasProperty {
                key,
                predicate: self.predicate_or_value(wanted)?,
            },
        })
    }

    /// A predicate, or equality with one of these.
    fn any_of(&self, arguments: &[Argument]) -> Result<Predicate, QueryError> {
        match arguments {
            [Argument::Predicate(predicate)] => self.predicate(predicate),
            _ => {
                let mut values = self.flat_values(arguments)?;
                match values.len() {
                    1 => Ok(Predicate::eq(values.remove(0))),
                    _ => Ok(Predicate::within(values)),
                }
            }
        }
    }

    /// As [`Binder::any_of`]; an element stands for its id.
    fn any_id_of(&self, arguments: &[Argument]) -> Result<Predicate, QueryError> {
        let id = |value: Value| match &value {
            Value::Vertex(vertex) => Value::of_id(vertex.id()),
            Value::Edge(edge, _) => Value::text(&edge.id.to_string()),
            _ => value,
        };
        match arguments {
            [Argument::Predicate(predicate)] => self.predicate(predicate),
            _ => {
                let values = self.flat_values(arguments)?;
                Ok(Predicate::within(values.into_iter().map(id).collect()))
            }
        }
    }

    fn filter(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let arguments = step.arguments.as_slice();
        Ok(match (step.name, arguments) {
            (StepName::Is, [wanted]) => Op::Is(self.predicate_or_value(wanted)?),
            (StepName::Where, [Argument::Predicate(predicate)]) => Op::WhereLabels {
                start: None,
                predicate: self.predicate(predicate)?,
                by: self.bys(behind)?,
            },
            (StepName::Where, [start, Argument::Predicate(predicate)]) => Op::WhereLabels {
                start: Some(self.name(start)?),
                predicate: self.predicate(predicate)?,
                by: self.bys(behind)?,
            },
            (StepName::Where, [Argument::Traversal(child)]) => Op::Where {
                child: self.where_child(child)?,
                not: false,
            },
            (StepName::Filter, [child]) => Op::Where {
                child: self.child(child)?,
                not: false,
            },
            (StepName::Not, [child]) => Op::Where {
                child: match child {
                    Argument::Traversal(child) => self.where_child(child)?,
                    other => self.child(other)?,
                },
                not: true,
            },
            (StepName::And | StepName::Or, children) => {
                let each = children.iter().map(|child| match child {
                    Argument::Traversal(child) => self.where_child(child),
                    other => self.child(other),
                });
                Op::Junction {
                    children: each.collect::<Result<_, _>>()?,
                    all: step.name == StepName::And,
                }
            }
            _ => {
                return Err(QueryError::invalid(format!(
                    "{}() does not take these arguments",
                    step.name
                )));
            }
        })
    }

    /// A child of `where`: a label at its start is where it begins, one at its end is what its
    /// result must equal.
    fn where_child(&self, child: &Traversal) -> Result<Plan, QueryError> {
        Ok(ends_bound(self.plan(&child.steps)?))
    }

    fn selection(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (scope, arguments) = scoped(step);
        let count = || match arguments.first() {
            Some(argument) => self.number(argument),
            None => Ok(1),
        };
        Ok(match step.name {
            StepName::Limit => Op::Range {
                low: 0,
                high: Some(count()?),
                scope,
            },
            StepName::Skip => Op::Range {
                low: count()?,
                high: None,
                scope,
            },
            StepName::Range => {
                let [low, high] = arguments else {
                    return Err(QueryError::invalid("range() needs two numbers"));
                };
                let high = self.value(high)?.as_long().unwrap_or(-1);
                let (low, high) = (self.number(low)?, u64::try_from(high).ok());
                if high.is_some_and(|high| high < low) {
                    return Err(QueryError::invalid(format!(
                        "Not a legal range: [{low}, {}]",
                        high.unwrap_or_default()
                    )));
                }
                Op::Range { low, high, scope }
            }
            StepName::Tail => Op::Tail {
                count: count()?,
                scope,
            },
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

    fn branch(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let arguments = step.arguments.as_slice();
        let options: Vec<&Step> = behind
            .iter()
            .filter(|step| step.name == StepName::Option)
            .collect();
        if options.is_empty() {
            return match arguments {
                [condition, then] => Ok(Op::IfThenElse {
                    condition: self.child(condition)?,
                    then: self.child(then)?,
                    otherwise: Plan::new(vec![Op::Identity]),
                }),
                [condition, then, otherwise] => Ok(Op::IfThenElse {
                    condition: self.child(condition)?,
                    then: self.child(then)?,
                    otherwise: self.child(otherwise)?,
                }),
                _ => Err(QueryError::invalid(format!(
                    "{}() needs options",
                    step.name
                ))),
            };
        }
        let is_choose = step.name == StepName::Choose;
        let option = |step: &&Step| -> Result<(Choice, Plan), QueryError> {
            match step.arguments.as_slice() {
                [child] => Ok((Choice::Any, self.child(child)?)),
                [Argument::Pick(Pick::None), child] => Ok((Choice::None, self.child(child)?)),
                [Argument::Pick(Pick::Any), child] => Ok((Choice::Any, self.child(child)?)),
                [Argument::Pick(Pick::Unproductive), child] => {
                    Ok((Choice::Unproductive, self.child(child)?))
                }
                [Argument::Traversal(_), _] if is_choose => Err(QueryError::invalid(
                    "Traversal is not allowed as a Pick token for choose()",
                )),
                [Argument::Predicate(predicate), child] => Ok((
                    Choice::Predicate(self.predicate(predicate)?),
                    self.child(child)?,
                )),
                [Argument::Traversal(test), child] => {
                    Ok((Choice::Child(self.plan(&test.steps)?), self.child(child)?))
                }
                [value, child] => Ok((Choice::Value(self.value(value)?), self.child(child)?)),
                _ => Err(QueryError::invalid("option() needs a child")),
            }
        };
        let branch = match first(step)? {
            Argument::T(token) => varve_query::plan::By::Token(token_of(*token)),
            other => varve_query::plan::By::Child(self.child(other)?),
        };
        Ok(Op::Branch {
            branch,
            options: options.iter().map(option).collect::<Result<_, _>>()?,
            first: step.name == StepName::Choose,
        })
    }

    fn repeat(&self, step: &Step, before: &[&Step], after: &[Step]) -> Result<Op, QueryError> {
        let (name, body) = match step.arguments.as_slice() {
            [name, Argument::Traversal(body)] => (Some(self.name(name)?), body),
            [Argument::Traversal(body)] => (None, body),
            _ => return Err(QueryError::invalid("repeat() needs a child")),
        };
        let mut repeat = Repeat {
            body: self.plan(&body.steps)?,
            until: None,
            emit: None,
            name,
        };
        let parts = before.iter().map(|step| (*step, true));
        for (part, first) in parts.chain(after.iter().map(|step| (step, false))) {
            let test = match (part.name, part.arguments.as_slice()) {
                (StepName::Times, [count]) => {
                    LoopTest::Times(u32::try_from(self.number(count)?).unwrap_or(u32::MAX))
                }
                (_, [test]) => LoopTest::Child(self.child(test)?),
                _ => LoopTest::Always,
            };
            let modulator = Some(Modulator { first, test });
            match part.name {
                StepName::Emit => repeat.emit = modulator,
                _ => repeat.until = modulator,
            }
        }
        Ok(Op::Repeat(Box::new(repeat)))
    }

    fn other(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
        let (scope, arguments) = scoped(step);
        let reduce = |reduce| Op::Reduce { reduce, scope };
        let child = || self.child(first(step)?);
        let name = || arguments.first().map(|name| self.name(name)).transpose();
        Ok(match step.name {
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
            StepName::To => match step.arguments.split_first() {
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
            StepName::Path => {
                let (from, to) = self.between(behind)?;
                let by = self.bys(behind)?;
                Op::Path { by, from, to }
            }
            StepName::Tree => Op::Tree {
                by: self.bys(behind)?,
                into: name()?,
            },
            StepName::ValueMap => self.value_map(step, behind)?,
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
            StepName::Union => Op::Union(self.children(arguments)?),
            StepName::Coalesce => Op::Coalesce(self.children(arguments)?),
            StepName::Optional => Op::Optional(child()?),
            StepName::Local | StepName::FlatMap | StepName::Map => Op::FlatMap {
                child: child()?,
                first: step.name == StepName::Map,
                local: step.name == StepName::Local,
            },
            StepName::SideEffect => Op::SideEffect(child()?),
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
                map: behind.iter().any(|with| with.arguments.len() > 1),
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

    fn value_map(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
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
        Ok(Op::ValueMap {
            keys: self.names(arguments)?,
            tokens: shown,
            by: self.sole_by(step, behind)?,
        })
    }
}

/// A plan of a `where`, whose labels at start and end are bound.
fn ends_bound(mut plan: Plan) -> Plan {
    if let Some(Op::As(labels)) = plan.ops.first() {
        let labels: Vec<Name> = labels.to_vec();
        plan.ops[0] = Op::Select {
            pop: None,
            labels,
            by: Vec::new(),
        };
    }
    if let (true, Some(Op::As(labels))) = (plan.ops.len() > 1, plan.ops.last()) {
        let label = labels.first().cloned().unwrap_or_default();
        let last = plan.ops.len() - 1;
        plan.ops[last] = Op::WhereLabels {
            start: None,
            predicate: Predicate::eq(Value::Text(label)),
            by: Vec::new(),
        };
    }
    plan
}

/// The modulators that a step takes.
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
        | StepName::Tree
        | StepName::Where => &[StepName::By],
        StepName::ValueMap | StepName::PropertyMap | StepName::Index => {
            &[StepName::By, StepName::With]
        }
        StepName::Path | StepName::SimplePath | StepName::CyclicPath => {
            &[StepName::By, StepName::From, StepName::To]
        }
        StepName::Choose | StepName::Branch => &[StepName::Option],
        _ => &[],
    }
}

const fn token_op(token: tree::T) -> Op {
    match token {
        tree::T::Id => Op::Id,
        tree::T::Label => Op::Label,
        tree::T::Key => Op::Key,
        tree::T::Value => Op::Value,
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
