//! Clauses that write.

use super::Parser;
use super::pattern::Use;
use crate::error::{ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::tree::{
    Clause, DeleteClause, Expression, ExpressionKind, Foreach, MergeClause, RemoveItem, SetItem,
    SetLabel, WriteClause,
};

impl Parser<'_> {
    /// The clause that begins with this word.
    pub(super) fn writing_clause(&mut self, word: &str) -> Result<Clause> {
        self.check_writes(word)?;
        self.advance();
        let write = match word {
            "CREATE" | "INSERT" => {
                WriteClause::Create(self.list(|parser| parser.path_pattern(Use::Create))?)
            }
            "SET" => WriteClause::Set(self.list(Parser::set_item)?),
            "REMOVE" => WriteClause::Remove(self.list(Parser::remove_item)?),
            "MERGE" => {
                let merge = Box::new(self.merge()?);
                return Ok(Clause::Merge(merge, self.period()?));
            }
            "FOREACH" => return self.foreach(),
            _ => {
                let detach = word == "DETACH";
                if word != "DELETE" {
                    self.expect_word("DELETE")?;
                }
                let elements = self.list(Parser::deleted)?;
                WriteClause::Delete(DeleteClause { detach, elements })
            }
        };
        Ok(Clause::Write(Box::new(write), self.period()?))
    }

    fn deleted(&mut self) -> Result<Expression> {
        let element = self.value()?;
        if matches!(element.kind, ExpressionKind::HasLabels(..)) {
            let message = "DELETE takes elements; a label is taken away with REMOVE";
            return Err(self.error(ErrorKind::InvalidDelete, element.span, message));
        }
        Ok(element)
    }

    fn merge(&mut self) -> Result<MergeClause> {
        let pattern = self.path_pattern(Use::Merge)?;
        let (mut on_create, mut on_match) = (Vec::new(), Vec::new());
        while self.take_word("ON") {
            let created = self.take_word("CREATE");
            if !created && !self.take_word("MATCH") {
                return Err(self.unexpected("CREATE or MATCH"));
            }
            self.expect_word("SET")?;
            let items = self.list(Parser::set_item)?;
            if created {
                on_create.extend(items);
            } else {
                on_match.extend(items);
            }
        }
        Ok(MergeClause {
            pattern,
            on_create,
            on_match,
        })
    }

    /// Whether labels follow the variable that comes next.
    fn labels_follow(&self) -> bool {
        self.is_name(0) && (self.kind(1) == TokenKind::Colon || self.is_word(1, "IS"))
    }

    fn set_item(&mut self) -> Result<SetItem> {
        if self.labels_follow() {
            let variable = self.name("a variable")?;
            return Ok(SetItem::Labels(variable, self.set_labels()?));
        }
        if self.is_name(0) {
            match self.kind(1) {
                TokenKind::Equal => {
                    let variable = self.name("a variable")?;
                    self.advance();
                    return Ok(SetItem::Replace(variable, self.value()?));
                }
                TokenKind::PlusEqual => {
                    let variable = self.name("a variable")?;
                    self.advance();
                    return Ok(SetItem::Add(variable, self.value()?));
                }
                _ => {}
            }
        }
        let property = self.property()?;
        self.expect(TokenKind::Equal, "'='")?;
        Ok(SetItem::Property(property, self.value()?))
    }

    fn remove_item(&mut self) -> Result<RemoveItem> {
        if self.labels_follow() {
            let variable = self.name("a variable")?;
            return Ok(RemoveItem::Labels(variable, self.set_labels()?));
        }
        self.property().map(RemoveItem::Property)
    }

    /// A property that is set or removed.
    fn property(&mut self) -> Result<Expression> {
        let start = self.place;
        let property = self.deeper(|parser| {
            let atom = parser.atom()?;
            parser.access(atom)
        })?;
        if !matches!(
            property.kind,
            ExpressionKind::Property(..) | ExpressionKind::Index(..)
        ) {
            self.place = start;
            return Err(self.unexpected("a property, or a variable and its labels"));
        }
        Ok(property)
    }

    /// `:A:B`, `:A&B` or `IS A`.
    fn set_labels(&mut self) -> Result<Vec<SetLabel>> {
        self.advance();
        let mut labels = vec![self.set_label()?];
        while self.take(TokenKind::Colon) || self.take(TokenKind::Ampersand) {
            labels.push(self.set_label()?);
        }
        Ok(labels)
    }

    fn set_label(&mut self) -> Result<SetLabel> {
        if self.at(TokenKind::Dollar) && !self.is_word(1, "ANY") {
            return self.dynamic_labels().map(SetLabel::Dynamic);
        }
        self.name("the name of a label").map(SetLabel::Name)
    }

    fn foreach(&mut self) -> Result<Clause> {
        self.expect(TokenKind::LeftParen, "'('")?;
        let variable = self.name("a variable")?;
        self.expect_word("IN")?;
        let list = self.with_bar(true, Parser::value)?;
        self.expect(TokenKind::Bar, "'|'")?;
        let clauses = self.with_bar(false, |parser| parser.deeper(Parser::foreach_clauses))?;
        self.node_above()?;
        self.expect(TokenKind::RightParen, "a clause or ')'")?;
        Ok(Clause::Foreach(Box::new(Foreach {
            variable,
            list,
            clauses,
        })))
    }

    fn foreach_clauses(&mut self) -> Result<Vec<Clause>> {
        let mut clauses = Vec::new();
        while clauses.is_empty() || self.at_clause() {
            let span = self.span();
            let clause = self.clause()?;
            if !matches!(
                clause,
                Clause::Write(..) | Clause::Merge(..) | Clause::Foreach(_)
            ) {
                let message = "FOREACH has only clauses that write";
                return Err(self.error(ErrorKind::InvalidClauseComposition, span, message));
            }
            clauses.push(clause);
        }
        Ok(clauses)
    }
}
