//! Queries and clauses.

use std::fmt::{self, Display, Formatter, Write};

use super::expression::Operand;
use super::{Plain, after, separated};
use crate::tree::{
    Batches, Branch, Clause, DeleteClause, Foreach, Hint, Imports, MatchClause, MergeClause,
    OnError, Period, Precedence, ProcedureCall, Projection, ProjectionItem, Query, RemoveItem,
    SetItem, SetLabel, Slice, Sort, SubqueryCall, Times, WriteClause, YieldItem, Yields,
};

impl Display for Query {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.times.fmt(out)?;
        let union = if self.union_all {
            " UNION ALL "
        } else {
            " UNION "
        };
        separated(out, &self.branches, union)
    }
}

impl Display for Times {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.valid {
            write!(out, "FOR VALID_TIME AS OF {at} ")?;
        }
        if let Some(at) = &self.system {
            write!(out, "FOR SYSTEM_TIME AS OF {at} ")?;
        }
        Ok(())
    }
}

impl Display for Branch {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        separated(out, &self.clauses, " ")
    }
}

impl Display for Clause {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Clause::Use(graph) => write!(out, "USE {graph}"),
            Clause::Match(clause) => clause.fmt(out),
            Clause::Unwind(list, variable) => write!(out, "UNWIND {list} AS {variable}"),
            Clause::With(projection) => {
                write!(out, "WITH {projection}")?;
                after(out, " WHERE ", projection.filter.as_ref())
            }
            Clause::Return(projection) => write!(out, "RETURN {projection}"),
            Clause::Finish => out.write_str("FINISH"),
            Clause::Write(write, period) => {
                write.fmt(out)?;
                after(out, " ", period.as_ref())
            }
            Clause::Merge(merge, period) => {
                merge.fmt(out)?;
                after(out, " ", period.as_ref())
            }
            Clause::Foreach(foreach) => foreach.fmt(out),
            Clause::Call(call) => call.fmt(out),
            Clause::Subquery(subquery) => subquery.fmt(out),
        }
    }
}

impl Display for MatchClause {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let word = if self.optional {
            "OPTIONAL MATCH "
        } else {
            "MATCH "
        };
        out.write_str(word)?;
        separated(out, &self.patterns, ", ")?;
        for hint in &self.hints {
            write!(out, " {hint}")?;
        }
        after(out, " FOR VALID_TIME ", self.slice.as_ref())?;
        after(out, " WHERE ", self.filter.as_ref())
    }
}

impl Display for Hint {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Hint::Index {
                variable,
                label,
                properties,
            } => {
                write!(out, "USING INDEX {variable}:{}(", Plain(label))?;
                separated(out, properties, ", ")?;
                out.write_char(')')
            }
            Hint::Scan { variable, label } => {
                write!(out, "USING SCAN {variable}:{}", Plain(label))
            }
            Hint::Join(variables) => {
                out.write_str("USING JOIN ON ")?;
                separated(out, variables, ", ")
            }
        }
    }
}

impl Display for Slice {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Slice::AsOf(at) => write!(out, "AS OF {at}"),
            Slice::FromTo(from, to) => write!(out, "FROM {from} TO {to}"),
            Slice::Between(from, to) => {
                let [from, to] = [from, to].map(|bound| Operand(bound, Precedence::Not));
                write!(out, "BETWEEN {from} AND {to}")
            }
            Slice::All => out.write_str("ALL"),
        }
    }
}

impl Display for Period {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "FOR VALID_TIME FROM {}", self.from)?;
        after(out, " TO ", self.to.as_ref())
    }
}

/// All but the condition, which `SHOW` and `WITH` add.
impl Display for Projection {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.distinct { "DISTINCT " } else { "" })?;
        if self.star {
            out.write_str(if self.items.is_empty() { "*" } else { "*, " })?;
        }
        separated(out, &self.items, ", ")?;
        if !self.order.is_empty() {
            out.write_str(" ORDER BY ")?;
            separated(out, &self.order, ", ")?;
        }
        after(out, " SKIP ", self.skip.as_ref())?;
        after(out, " LIMIT ", self.limit.as_ref())
    }
}

impl Display for ProjectionItem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.expression.fmt(out)?;
        after(out, " AS ", self.alias.as_ref())
    }
}

impl Display for Sort {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.expression.fmt(out)?;
        out.write_str(if self.descending { " DESC" } else { "" })
    }
}

impl Display for WriteClause {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            WriteClause::Create(patterns) => {
                out.write_str("CREATE ")?;
                separated(out, patterns, ", ")
            }
            WriteClause::Set(items) => {
                out.write_str("SET ")?;
                separated(out, items, ", ")
            }
            WriteClause::Remove(items) => {
                out.write_str("REMOVE ")?;
                separated(out, items, ", ")
            }
            WriteClause::Delete(DeleteClause { detach, elements }) => {
                out.write_str(if *detach { "DETACH DELETE " } else { "DELETE " })?;
                separated(out, elements, ", ")
            }
        }
    }
}

impl Display for MergeClause {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "MERGE {}", self.pattern)?;
        for (word, items) in [("CREATE", &self.on_create), ("MATCH", &self.on_match)] {
            if !items.is_empty() {
                write!(out, " ON {word} SET ")?;
                separated(out, items, ", ")?;
            }
        }
        Ok(())
    }
}

impl Display for SetItem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SetItem::Property(property, value) => write!(out, "{property} = {value}"),
            SetItem::Replace(variable, value) => write!(out, "{variable} = {value}"),
            SetItem::Add(variable, value) => write!(out, "{variable} += {value}"),
            SetItem::Labels(variable, labels) => set_labels(out, variable, labels),
        }
    }
}

impl Display for RemoveItem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            RemoveItem::Property(property) => property.fmt(out),
            RemoveItem::Labels(variable, labels) => set_labels(out, variable, labels),
        }
    }
}

fn set_labels(
    out: &mut Formatter<'_>,
    variable: &crate::tree::Name,
    labels: &[SetLabel],
) -> fmt::Result {
    write!(out, "{variable}")?;
    labels.iter().try_for_each(|label| match label {
        SetLabel::Name(name) => write!(out, ":{}", Plain(name)),
        SetLabel::Dynamic(labels) => write!(out, ":$({labels})"),
    })
}

impl Display for Foreach {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "FOREACH ({} IN {} | ", self.variable, self.list)?;
        separated(out, &self.clauses, " ")?;
        out.write_char(')')
    }
}

impl Display for ProcedureCall {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.optional { "OPTIONAL " } else { "" })?;
        write!(out, "CALL {}", self.name)?;
        if let Some(arguments) = &self.arguments {
            out.write_char('(')?;
            separated(out, arguments, ", ")?;
            out.write_char(')')?;
        }
        after(out, " YIELD ", self.yields.as_ref())
    }
}

impl Display for Yields {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match &self.items {
            Some(items) => separated(out, items, ", ")?,
            None => out.write_char('*')?,
        }
        after(out, " WHERE ", self.filter.as_ref())
    }
}

impl Display for YieldItem {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        self.column.fmt(out)?;
        after(out, " AS ", self.alias.as_ref())
    }
}

impl Display for SubqueryCall {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.optional { "OPTIONAL " } else { "" })?;
        out.write_str("CALL ")?;
        match &self.imports {
            Imports::LeadingWith => {}
            Imports::All => out.write_str("(*) ")?,
            Imports::Named(variables) => {
                out.write_char('(')?;
                separated(out, variables, ", ")?;
                out.write_str(") ")?;
            }
        }
        write!(out, "{{ {} }}", self.query)?;
        after(out, " IN ", self.batches.as_ref())
    }
}

impl Display for Batches {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.concurrent {
            after(out, "", self.concurrency.as_ref())?;
            out.write_str(" CONCURRENT ")?;
        }
        out.write_str("TRANSACTIONS")?;
        if let Some(rows) = &self.rows {
            write!(out, " OF {rows} ROWS")?;
        }
        out.write_str(match self.on_error {
            None => "",
            Some(OnError::Fail) => " ON ERROR FAIL",
            Some(OnError::Continue) => " ON ERROR CONTINUE",
            Some(OnError::Break) => " ON ERROR BREAK",
        })?;
        after(out, " REPORT STATUS AS ", self.status.as_ref())
    }
}
