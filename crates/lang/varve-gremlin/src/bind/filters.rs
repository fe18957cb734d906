//! Steps that filter values: `has`, `is`, `where`, `and`, `or`, `not`.

use varve_query::plan::{Op, Plan};
use varve_query::value::Token;
use varve_query::{Predicate, QueryError, Value};

use super::Binder;
use super::arguments::token_of;
use crate::tree::{self, Argument, Step, StepName, Traversal};

impl Binder<'_> {
    pub(super) fn has(&self, step: &Step, ops: &mut Vec<Op>) -> Result<(), QueryError> {
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

    /// As [`Binder::any_of`], with elements replaced by their ids.
    fn any_id_of(&self, arguments: &[Argument]) -> Result<Predicate, QueryError> {
        let id = |value: Value| match &value {
            Value::Vertex(vertex) => Value::of_id(vertex.id()),
            Value::Edge(edge, _) => edge.id_value(),
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

    pub(super) fn filter(&self, step: &Step, behind: &[Step]) -> Result<Op, QueryError> {
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
                child: self.child(child)?,
                not: true,
            },
            (StepName::And | StepName::Or, children) => Op::Junction {
                children: self.children(children)?,
                all: step.name == StepName::And,
            },
            _ => {
                return Err(QueryError::invalid(format!(
                    "{}() does not take these arguments",
                    step.name
                )));
            }
        })
    }

    /// Binds a child of `where`. It begins at the value of the label at its start. A label at its
    /// end names the value that the result must equal.
    fn where_child(&self, child: &Traversal) -> Result<Plan, QueryError> {
        Ok(ends_bound(self.plan(&child.steps)?))
    }
}

/// Replaces the labels at the start and the end of a `where` plan as described for `where_child`,
/// also in the children of a junction or negation at its start.
fn ends_bound(mut plan: Plan) -> Plan {
    match plan.ops.first_mut() {
        Some(Op::Junction { children, .. }) => {
            for child in children {
                *child = ends_bound(std::mem::take(child));
            }
            return plan;
        }
        Some(Op::Where { child, not: true }) => {
            *child = ends_bound(std::mem::take(child));
            return plan;
        }
        _ => {}
    }
    if let Some(Op::As(labels)) = plan.ops.first() {
        plan.ops[0] = match labels.as_slice() {
            [label] => Op::Scoped(label.clone()),
            labels => Op::Select {
                pop: None,
                labels: labels.to_vec(),
                by: Vec::new(),
            },
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

const fn token_op(token: tree::T) -> Op {
    match token {
        tree::T::Id => Op::Id,
        tree::T::Label => Op::Label,
        tree::T::Key => Op::Key,
        tree::T::Value => Op::Value,
    }
}
