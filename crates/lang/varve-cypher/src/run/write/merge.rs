//! `MERGE`.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;
use std::sync::Arc;

use varve_model::ElementId;
use varve_view::{ErrorKind, Flow, GraphView, GraphWriter, Meter, SchemaView, ViewError};

use super::{Batch, Cx, create, element_id, present, set};
use crate::CypherError;
use crate::error::{Error, ErrorClass, Outcome};
use crate::held::Held;
use crate::plan::{Merge, Pipeline, Plan};
use crate::procedures::NoProcedures;
use crate::run::batch::ROWS;
use crate::run::build::build;
use crate::run::nested::Nested;
use crate::run::{Nodes, Shared, Snapshots};
use crate::temporal::Clock;
use crate::value::{Graph, Map, Value};

/// Finds or creates the pattern for each row. Later rows see what earlier ones have created.
pub(super) fn merge(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    one: &Merge,
    rows: &Batch,
) -> Outcome<Batch> {
    let mut out = Batch::new(rows.width());
    // The caller charges the rows that are returned.
    let mut held = Held::new(cx.graph().meter);
    for (at, (row, _)) in rows.rows().enumerate() {
        if at % ROWS == 0 {
            cx.graph().meter.check()?;
        }
        let values = check(cx, one, row)?;
        let mut matches = Batch::new(rows.width());
        let row = &*present::row(row);
        let mut nested = Nested::of(&one.find, Batch::of(row.to_vec()));
        while let Some(found) = nested.next(cx)? {
            held.add(found.bytes())?;
            matches.append(found);
        }
        if matches.is_empty() {
            let mut row = row.to_vec();
            let before = row.clone();
            create::create(cx, writer, &one.create, &mut row)?;
            set::set(cx, writer, &one.on_create, &row)?;
            expect_absent(cx, writer, one, before, &values)?;
            out.push(&row, 1);
            continue;
        }
        for (found, _) in matches.rows() {
            set::set(cx, writer, &one.on_match, found)?;
        }
        out.append(matches);
    }
    Ok(out)
}

/// Fails if a property or a bound node is null: such a pattern is never found. Returns the values
/// of the properties.
fn check(cx: Cx<'_>, one: &Merge, row: &[Value]) -> Outcome<Vec<Value>> {
    let failed = |message: String| -> CypherError {
        let class = ErrorClass::SemanticError;
        Error::run(class, "MergeReadOwnWrites", message).into()
    };
    let mut values = Vec::with_capacity(one.not_null.len());
    for (key, value) in &one.not_null {
        let value = cx.evaluate(value, row)?;
        if value.is_null() {
            let message = format!("MERGE cannot search for null as the value of '{key}'");
            return Err(failed(message));
        }
        values.push(value);
    }
    for slot in &one.bound {
        if row.get(*slot).is_none_or(Value::is_null) {
            return Err(failed("a node of the pattern of MERGE is null".to_owned()));
        }
    }
    Ok(values)
}

/// What a search needs to run again, when the changes are committed.
struct Again {
    find: Pipeline,
    plan: Plan,
    row: Vec<Value>,
    locals: Vec<Value>,
    parameters: Map,
    clock: Clock,
    /// Slots of the elements that the pattern adds to the row.
    slots: Vec<usize>,
}

/// Makes the commit depend on the pattern being absent, so that two transactions do not create it
/// twice.
fn expect_absent(
    cx: Cx<'_>,
    writer: &dyn GraphWriter,
    one: &Merge,
    row: Vec<Value>,
    values: &[Value],
) -> Outcome<()> {
    let mut ends = Vec::with_capacity(one.bound.len());
    for slot in &one.bound {
        let id = element_id(cx, row.get(*slot).unwrap_or(&Value::Null))?;
        ends.push(id.map(|id| id.to_string()));
    }
    let nodes = one.create.nodes.iter();
    let labels: Vec<_> = nodes.clone().map(|node| &node.labels).collect();
    let relationships = one.create.relationships.iter();
    let types: Vec<_> = relationships.clone().map(|one| &one.label).collect();
    let keys: Vec<_> = one.not_null.iter().map(|(key, _)| key).collect();
    let name = format!("cypher merge {labels:?} {types:?} {keys:?} {values:?} {ends:?}");
    let again = Again {
        find: one.find.clone(),
        plan: Plan {
            subplans: cx.shared.plan.subplans.clone(),
            ..Plan::default()
        },
        row,
        locals: cx.locals.to_vec(),
        parameters: cx.shared.parameters.clone(),
        clock: cx.shared.clock,
        slots: nodes
            .map(|node| node.slot)
            .chain(relationships.map(|one| one.slot))
            .collect(),
    };
    let search = move |(view, schema): (&dyn GraphView, &dyn SchemaView),
                       meter: &Meter,
                       visit: &mut dyn FnMut(&ElementId) -> Flow| {
        again
            .run((view, schema), meter, visit)
            .map_err(|error| match error {
                CypherError::View(error) => error,
                other => ViewError::failed(ErrorKind::InvalidArgument, other.to_string()),
            })
    };
    writer.expect_absent(name.into_bytes(), Arc::new(search));
    Ok(())
}

impl Again {
    fn run(
        &self,
        (view, schema): (&dyn GraphView, &dyn SchemaView),
        meter: &Meter,
        visit: &mut dyn FnMut(&ElementId) -> Flow,
    ) -> Outcome<()> {
        let shared = Shared {
            graph: Graph {
                view,
                schema,
                writer: None,
                meter,
            },
            parameters: &self.parameters,
            clock: self.clock,
            plan: &self.plan,
            procedures: &NoProcedures,
            counters: Cell::default(),
            nodes: Nodes::default(),
            snapshots: Snapshots::default(),
            profile: None,
            keys: OnceCell::new(),
        };
        let cx = Cx {
            shared: &shared,
            locals: &self.locals,
            snapshot: None,
        };
        let mut operator = build(&self.find, Batch::of(self.row.clone()));
        let mut seen = HashSet::new();
        while let Some(batch) = operator.next(cx)? {
            for (row, _) in batch.rows() {
                for slot in &self.slots {
                    let id = element_id(cx, row.get(*slot).unwrap_or(&Value::Null))?;
                    if let Some(id) = id
                        && seen.insert(id.clone())
                        && visit(&id).is_break()
                    {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}
