//! Queries: branches joined by `UNION`, and the order of their clauses.

use super::Parser;
use crate::error::{ErrorKind, ParseError, Result};
use crate::lexer::TokenKind;
use crate::tree::{
    Branch, Clause, Imports, PathKind, Query, Span, SubqueryCall, SubqueryKind, Times,
};

/// Where a query stands, which decides how it may end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// All of the text, or the subquery of `CALL`.
    Whole,
    /// `EXISTS` or `COUNT`: `RETURN` may be left out.
    Rows,
    /// `COLLECT`: ends with `RETURN`.
    Values,
}

impl Parser<'_> {
    /// The query that is the whole statement.
    pub(super) fn whole_query(&mut self) -> Result<Query> {
        let times = self.times()?;
        let query = self.query(Place::Whole)?;
        Ok(Query { times, ..query })
    }

    /// A query, up to what cannot be part of it.
    pub(super) fn query(&mut self, place: Place) -> Result<Query> {
        let mut query = Query {
            times: Times::default(),
            branches: vec![self.branch(Vec::new(), place)?],
            union_all: false,
        };
        while self.at_word("UNION") {
            let span = self.span();
            self.advance();
            let all = self.take_word("ALL");
            let _ = !all && self.take_word("DISTINCT");
            if query.branches.len() > 1 && query.union_all != all {
                let message = "UNION and UNION ALL cannot be mixed";
                return Err(self.error(ErrorKind::InvalidClauseComposition, span, message));
            }
            query.union_all = all;
            query.branches.push(self.branch(Vec::new(), place)?);
        }
        while self.at_word("NEXT") {
            let next = self.span();
            self.advance();
            let clauses = self.passed_on(query, next)?;
            query = Query {
                times: Times::default(),
                branches: vec![self.branch(clauses, place)?],
                union_all: false,
            };
            if self.at_word("UNION") {
                return Err(self.not_supported("UNION after NEXT"));
            }
        }
        Ok(query)
    }

    /// The clauses that pass the rows of a query to what follows its `NEXT`.
    fn passed_on(&mut self, mut query: Query, next: Span) -> Result<Vec<Clause>> {
        let returns = |branch: &Branch| matches!(branch.clauses.last(), Some(Clause::Return(_)));
        if !query.branches.iter().all(returns) {
            let message = "NEXT follows a query that ends with RETURN";
            return Err(self.error(ErrorKind::InvalidClauseComposition, next, message));
        }
        if query.branches.len() == 1
            && let Some(mut branch) = query.branches.pop()
        {
            if let Some(Clause::Return(projection)) = branch.clauses.pop() {
                branch.clauses.push(Clause::With(projection));
            }
            return Ok(branch.clauses);
        }
        self.node_above()?;
        Ok(vec![Clause::Subquery(Box::new(SubqueryCall {
            optional: false,
            imports: Imports::Named(Vec::new()),
            query,
            batches: None,
        }))])
    }

    /// The clauses of a branch, after those that are there already.
    fn branch(&mut self, mut clauses: Vec<Clause>, place: Place) -> Result<Branch> {
        let start = self.span().start;
        let given = clauses.len();
        loop {
            let span = self.span();
            if self.branch_ends() {
                self.check_end(clauses.get(given..).unwrap_or_default(), place, span)?;
                let span = self.span_from(start);
                return Ok(Branch { clauses, span });
            }
            if let Some(last @ (Clause::Return(_) | Clause::Finish)) = clauses.last() {
                let word = if *last == Clause::Finish {
                    "FINISH"
                } else {
                    "RETURN"
                };
                if !self.at_clause() {
                    return Err(self.unexpected("the end of the query"));
                }
                let message = format!("{word} is the last clause of a query");
                return Err(self.error(ErrorKind::InvalidClauseComposition, span, message));
            }
            let is_first = clauses.is_empty();
            let clause = self.clause()?;
            self.check_place(&clause, is_first, span)?;
            clauses.push(clause);
        }
    }

    fn branch_ends(&self) -> bool {
        matches!(
            self.kind(0),
            TokenKind::End | TokenKind::Semicolon | TokenKind::RightBrace
        ) || self.at_word("UNION")
            || self.at_word("NEXT")
    }

    fn misplaced(&self, span: Span, message: impl Into<String>) -> ParseError {
        self.error(ErrorKind::InvalidClauseComposition, span, message)
    }

    fn check_place(&self, clause: &Clause, is_first: bool, span: Span) -> Result<()> {
        if matches!(clause, Clause::Use(_)) && !is_first {
            return Err(self.misplaced(span, "USE is the first clause of a query"));
        }
        let Clause::Call(call) = clause else {
            return Ok(());
        };
        if is_first && self.branch_ends() {
            return Ok(());
        }
        if call.arguments.is_none() {
            let message = "a procedure in a query is called with its arguments in parentheses";
            return Err(self.error(ErrorKind::InvalidArgumentPassingMode, call.span, message));
        }
        if call
            .yields
            .as_ref()
            .is_some_and(|yields| yields.items.is_none())
        {
            let message = "YIELD * is for a CALL alone; name the columns";
            return Err(self.error(ErrorKind::UnexpectedSyntax, call.span, message));
        }
        Ok(())
    }

    fn check_end(&self, clauses: &[Clause], place: Place, span: Span) -> Result<()> {
        let ends = match (clauses.last(), place) {
            (None, _) => return Err(self.unexpected("a clause")),
            (Some(Clause::Return(_)), _) => return Ok(()),
            (_, Place::Values) => {
                return Err(self.misplaced(span, "a query in COLLECT ends with RETURN"));
            }
            (_, Place::Rows) => return Ok(()),
            (Some(Clause::Match(_)), _) => "MATCH",
            (Some(Clause::Unwind(..)), _) => "UNWIND",
            (Some(Clause::With(_)), _) => "WITH",
            (Some(Clause::Use(_)), _) => "USE",
            (Some(Clause::Call(call)), _) if call.yields.is_some() && clauses.len() > 1 => {
                "CALL … YIELD"
            }
            _ => return Ok(()),
        };
        let message =
            format!("a query does not end with {ends}; add RETURN, FINISH or a clause that writes");
        Err(self.misplaced(span, message))
    }

    /// The part of `EXISTS { … }` in the braces: a query, or patterns alone.
    pub(super) fn subquery(&mut self, kind: SubqueryKind) -> Result<Query> {
        let (word, place) = match kind {
            SubqueryKind::Exists => ("EXISTS", Place::Rows),
            SubqueryKind::Count => ("COUNT", Place::Rows),
            SubqueryKind::Collect => ("COLLECT", Place::Values),
        };
        self.expect(TokenKind::LeftBrace, "'{'")?;
        let outer = self.reads_only.replace(word);
        let bar_ends = std::mem::take(&mut self.bar_ends);
        let query = self.deeper(|parser| {
            if parser.at_pattern() {
                parser.pattern_query()
            } else {
                parser.query(place)
            }
        })?;
        self.bar_ends = bar_ends;
        self.reads_only = outer;
        self.expect(TokenKind::RightBrace, "a clause or '}'")?;
        Ok(query)
    }

    /// Whether a pattern comes next, and no clause.
    fn at_pattern(&self) -> bool {
        let is_path = PathKind::word(self.token(0).span.of(self.text)).is_some();
        self.at(TokenKind::LeftParen)
            || self.is_name(0) && self.kind(1) == TokenKind::Equal
            || is_path && self.kind(1) == TokenKind::LeftParen
    }

    fn pattern_query(&mut self) -> Result<Query> {
        let start = self.span().start;
        let clause = self.match_body(false)?;
        let branch = Branch {
            clauses: vec![Clause::Match(Box::new(clause))],
            span: self.span_from(start),
        };
        Ok(Query {
            times: Times::default(),
            branches: vec![branch],
            union_all: false,
        })
    }
}
