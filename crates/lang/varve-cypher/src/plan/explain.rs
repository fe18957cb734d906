//! Plans for people: `EXPLAIN` and `PROFILE`.

use crate::expression::LabelTest;
use crate::plan::{Expand, LookupBy, NodeScan, Op, Pipeline, Plan, PropertyLookup, WriteStep};
use crate::run::{Measured, Profile};
use crate::tree::{Direction, PathKind};

/// An operator of a plan and its inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanTree {
    /// The operator's name, such as `Expand`.
    pub name: &'static str,
    /// What it does, for people.
    pub details: String,
    /// The operators that it reads, or runs for each row.
    pub children: Vec<PlanTree>,
    /// What it has done; `None` of a plan that did not run.
    pub measured: Option<Measured>,
}

impl PlanTree {
    /// Forgets what the operators have read: a client that does not see every element could count
    /// those that are hidden.
    pub fn hide_reads(&mut self) {
        if let Some(measured) = &mut self.measured {
            measured.reads = 0;
        }
        self.children.iter_mut().for_each(PlanTree::hide_reads);
    }
}

pub(crate) fn tree(plan: &Plan, profile: Option<&Profile>) -> PlanTree {
    let root = pipeline(&plan.root, profile);
    PlanTree {
        name: "ProduceResults",
        details: String::new(),
        children: root.into_iter().collect(),
        measured: None,
    }
}

/// The last operator of a pipeline, with the one before it as its first child.
fn pipeline(pipeline: &Pipeline, profile: Option<&Profile>) -> Option<PlanTree> {
    let mut last: Option<PlanTree> = None;
    for op in &pipeline.ops {
        let (name, details, mut children) = described(op, profile);
        if let Some(last) = last.take() {
            children.insert(0, last);
        }
        last = Some(PlanTree {
            name,
            details,
            children,
            measured: profile.map(|profile| profile.of(op)),
        });
    }
    last
}

fn described(op: &Op, profile: Option<&Profile>) -> (&'static str, String, Vec<PlanTree>) {
    let name = name(op);
    let each = |inner: &Pipeline| pipeline(inner, profile);
    let inner = |inner: &Pipeline| each(inner).into_iter().collect::<Vec<_>>();
    match op {
        Op::NodeScan(scan) => (name, scanned(scan), Vec::new()),
        Op::RelationshipScan(scan) => {
            let types = arrow(Direction::Either, scan.types.as_ref(), "");
            (name, format!("{types} by {}", keys(&scan.by)), Vec::new())
        }
        Op::Expand(one) => (name, step_of(one), Vec::new()),
        Op::VarExpand(one) => {
            let max = one.max.map_or(String::new(), |max| max.to_string());
            let length = format!("*{}..{max}", one.min);
            let details = arrow(one.direction, one.types.as_ref(), &length);
            (name, details, Vec::new())
        }
        Op::Optional { inner: own, .. } => (name, String::new(), inner(own)),
        Op::At { inner: own, .. } => (name, String::new(), inner(own)),
        Op::Apply(apply) => (name, String::new(), inner(&apply.inner)),
        Op::Transactions(one) => (name, String::new(), inner(&one.apply.inner)),
        Op::Union(all) => (name, String::new(), all.iter().filter_map(each).collect()),
        Op::Call(call) => (name, call.name.clone(), Vec::new()),
        Op::Write(steps) => {
            let names: Vec<&str> = steps.iter().map(step).collect();
            (name, names.join(", "), Vec::new())
        }
        Op::Shortest(one) => (name, one.kind.text().to_owned(), Vec::new()),
        _ => (name, String::new(), Vec::new()),
    }
}

fn step_of(one: &Expand) -> String {
    let own = arrow(one.direction, one.types.as_ref(), "");
    match (&one.condition, &one.second) {
        (Some(_), _) => format!("{own} with a condition"),
        (None, Some(second)) => format!("{own} and {}", step_of(second)),
        (None, None) => own,
    }
}

/// What a scan reads.
fn scanned(scan: &NodeScan) -> String {
    let labels = scan.labels.as_ref().map(test).unwrap_or_default();
    match (&scan.id, scan.by.is_empty()) {
        (Some(_), _) => format!("({labels}) by id"),
        (None, true) => format!("({labels})"),
        (None, false) => format!("({labels}) by {}", keys(&scan.by)),
    }
}

fn keys(by: &[PropertyLookup]) -> String {
    let sign = |how| match how {
        LookupBy::Equal | LookupBy::Among => "",
        LookupBy::From => " from",
        LookupBy::To => " to",
        LookupBy::Prefix => " by prefix",
    };
    let keys = by.iter().map(|by| format!("{}{}", by.key, sign(by.how)));
    keys.collect::<Vec<_>>().join(", ")
}

/// A relationship as a pattern.
fn arrow(direction: Direction, types: Option<&LabelTest>, length: &str) -> String {
    let types = types.map(test).unwrap_or_default();
    match direction {
        Direction::Right => format!("-[{types}{length}]->"),
        Direction::Left => format!("<-[{types}{length}]-"),
        Direction::Either | Direction::Both => format!("-[{types}{length}]-"),
    }
}

/// A label expression, with its colon.
fn test(labels: &LabelTest) -> String {
    fn text(labels: &LabelTest) -> String {
        let join = |all: &[LabelTest], sign: &str| {
            let each: Vec<String> = all.iter().map(text).collect();
            format!("({})", each.join(sign))
        };
        match labels {
            LabelTest::Name(name) => name.to_string(),
            LabelTest::Any => "%".to_owned(),
            LabelTest::Not(one) => format!("!{}", text(one)),
            LabelTest::And(all) => join(all, "&"),
            LabelTest::Or(all) => join(all, "|"),
        }
    }
    format!(":{}", text(labels))
}

const fn name(op: &Op) -> &'static str {
    match op {
        Op::Extend(_) => "Extend",
        Op::Unwind(_) => "Unwind",
        Op::Project { .. } | Op::Keep(_) => "Projection",
        Op::Filter(_) => "Filter",
        Op::Aggregate { .. } => "Aggregation",
        Op::Distinct => "Distinct",
        Op::Sort { top: None, .. } => "Sort",
        Op::Sort { .. } => "Top",
        Op::Skip(_) => "Skip",
        Op::Limit { .. } => "Limit",
        Op::Union(_) => "Union",
        Op::NodeScan(_) => "NodeScan",
        Op::RelationshipScan(_) => "RelationshipScan",
        Op::Expand(one) if one.is_to_bound => "ExpandInto",
        Op::Expand(_) => "Expand",
        Op::Ends(_) => "RelationshipEnds",
        Op::VarExpand(_) => "VarLengthExpand",
        Op::Shortest(one) => match one.kind {
            PathKind::AllShortestPaths => "AllShortestPaths",
            _ => "ShortestPath",
        },
        Op::MakePath { .. } => "Path",
        Op::Optional { .. } => "OptionalApply",
        Op::At { .. } => "AtValidTime",
        Op::Apply(_) => "Apply",
        Op::Transactions(_) => "TransactionApply",
        Op::Call(_) => "ProcedureCall",
        Op::Eager => "Eager",
        Op::Write(_) => "Write",
        Op::Finish => "Finish",
    }
}

const fn step(step: &WriteStep) -> &'static str {
    match step {
        WriteStep::Create(_) => "Create",
        WriteStep::Merge(_) => "Merge",
        WriteStep::Set(_) => "Set",
        WriteStep::Remove(_) => "Remove",
        WriteStep::Delete { detach: true, .. } => "DetachDelete",
        WriteStep::Delete { .. } => "Delete",
        WriteStep::Foreach { .. } => "Foreach",
    }
}

#[cfg(test)]
mod tests {
    use varve_view::EmptyGraph;

    use crate::prepared::prepare;
    use crate::procedures::NoProcedures;
    use crate::sizes::Sizes;

    #[test]
    fn a_step_is_shown_as_a_pattern() {
        let text = "EXPLAIN MATCH (a:A)<-[:KNOWS|LIKES]-(b) RETURN b";
        let prepared = prepare(text, &EmptyGraph, &NoProcedures, Sizes::UNKNOWN).expect("a plan");
        let mut operator = prepared.explain().expect("a tree");
        while operator.name != "Expand" {
            operator = operator.children.swap_remove(0);
        }
        assert_eq!(operator.details, "<-[:(KNOWS|LIKES)]-");
    }
}
