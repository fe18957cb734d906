//! The queries that the door knows, by their texts. A language takes this module's place.

use varve_query::plan::{ElementKind, Op, Plan, Reduce, Scope};
use varve_query::{QueryOptions, Value};
use varve_session::work::Prepared;

/// A query: the names of its columns, and its plan.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) fields: Vec<String>,
    plan: Plan,
}

impl Statement {
    /// The query with this text; `None` for any other text than the fixed ones.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(';').trim_end();
        let vertices = || Op::Source {
            kind: ElementKind::Vertex,
            ids: None,
            labels: None,
            conditions: Vec::new(),
        };
        let (field, ops) = match text {
            "RETURN 1" => ("1", vec![Op::Inject(vec![Value::Long(1)])]),
            // The first query of drivers of 4.4.
            "RETURN 1 AS x" => ("x", vec![Op::Inject(vec![Value::Long(1)])]),
            "MATCH (n) RETURN n" => ("n", vec![vertices()]),
            "MATCH (n) RETURN count(n)" => {
                let count = Op::Reduce {
                    reduce: Reduce::Count,
                    scope: Scope::Global,
                };
                ("count(n)", vec![vertices(), count])
            }
            _ => return None,
        };
        Some(Self {
            fields: vec![field.to_owned()],
            plan: Plan::new(ops),
        })
    }

    /// The query, ready to run on the present.
    pub(super) fn prepared(&self) -> Prepared<'_> {
        Prepared {
            plan: &self.plan,
            options: QueryOptions::default(),
            scope: varve_model::TemporalScope::NOW,
            period: varve_graph::write::WritePeriod::default(),
            commit_every: None,
        }
    }
}
