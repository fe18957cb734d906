//! `SHOW`.

use super::Parser;
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::tree::{
    ConstraintKind, Expression, ExpressionKind, Projection, ProjectionItem, Show, ShowTarget,
};

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Result<Show> {
        self.advance();
        let target = self.show_target()?;
        let yields = if self.take_word("YIELD") {
            Some(self.shown_columns()?)
        } else {
            None
        };
        let filter = match &yields {
            Some(_) => None,
            None => self.filter()?,
        };
        let returns = if yields.is_some() && self.take_word("RETURN") {
            Some(self.projection()?)
        } else {
            None
        };
        Ok(Show {
            target,
            yields,
            filter,
            returns,
        })
    }

    fn shown_columns(&mut self) -> Result<Projection> {
        let mut projection = Projection::default();
        if self.take(TokenKind::Star) {
            projection.star = true;
        } else {
            projection.items = self.list(Parser::shown_column)?;
        }
        self.pages(&mut projection)?;
        projection.filter = self.filter()?;
        Ok(projection)
    }

    fn shown_column(&mut self) -> Result<ProjectionItem> {
        let name = self.name("a column or '*'")?;
        let span = name.span;
        let kind = ExpressionKind::Variable(name);
        let expression = Expression { kind, span };
        let alias = if self.take_word("AS") {
            Some(self.name("a name")?)
        } else {
            None
        };
        Ok(ProjectionItem { expression, alias })
    }

    fn show_target(&mut self) -> Result<ShowTarget> {
        if self.take_words(&["DEFAULT", "DATABASE"]) {
            return Ok(ShowTarget::DefaultDatabase);
        }
        if self.take_words(&["HOME", "DATABASE"]) {
            return Ok(ShowTarget::HomeDatabase);
        }
        if self.take_words(&["CURRENT", "USER"]) {
            return Ok(ShowTarget::CurrentUser);
        }
        if self.take_word("DATABASES") {
            return Ok(ShowTarget::Databases);
        }
        if self.take_word("DATABASE") {
            let named = self.is_name(0) && !self.at_word("YIELD") && !self.at_word("WHERE");
            if named || self.at(TokenKind::Dollar) {
                return self.database_name().map(ShowTarget::Database);
            }
            return Ok(ShowTarget::Databases);
        }
        if self.take_word("PROCEDURES") || self.take_word("PROCEDURE") {
            self.executable()?;
            return Ok(ShowTarget::Procedures);
        }
        let built_in = if self.take_words(&["BUILT", "IN"]) {
            Some(true)
        } else if self.take_words(&["USER", "DEFINED"]) {
            Some(false)
        } else {
            None
        };
        let all = built_in.is_none() && self.take_word("ALL");
        if self.take_word("FUNCTIONS") || self.take_word("FUNCTION") {
            self.executable()?;
            return Ok(ShowTarget::Functions(built_in));
        }
        if built_in.is_some() {
            return Err(self.unexpected("FUNCTIONS"));
        }
        let index = if all { None } else { self.index_kind() };
        if self.take_word("INDEXES") || self.take_word("INDEX") {
            return Ok(ShowTarget::Indexes(index));
        }
        if index.is_some() {
            return Err(self.unexpected("INDEXES"));
        }
        self.constraints()
    }

    fn executable(&mut self) -> Result<()> {
        if self.take_word("EXECUTABLE")
            && self.at_word("BY")
            && !self.take_words(&["BY", "CURRENT", "USER"])
        {
            return Err(self.not_supported("EXECUTABLE BY another user"));
        }
        Ok(())
    }

    /// Constraints, with words for their kind before.
    fn constraints(&mut self) -> Result<ShowTarget> {
        let start = self.place;
        let relationships = if self.take_word("NODE") {
            Some(false)
        } else if self.take_word("RELATIONSHIP") || self.take_word("REL") {
            Some(true)
        } else {
            None
        };
        let of_property = self.take_word("PROPERTY");
        let kinds = [
            ("UNIQUENESS", ConstraintKind::Unique),
            ("UNIQUE", ConstraintKind::Unique),
            ("KEY", ConstraintKind::Key),
            ("EXISTENCE", ConstraintKind::Exists),
            ("EXIST", ConstraintKind::Exists),
            ("TYPE", ConstraintKind::Type),
        ];
        let kind = kinds.into_iter().find(|(word, _)| self.take_word(word));
        let kind = kind.map(|(_, kind)| kind);
        let is_complete = match kind {
            None => !of_property,
            Some(ConstraintKind::Key) => !of_property,
            Some(ConstraintKind::Type) => of_property,
            Some(_) => true,
        };
        if is_complete && (self.take_word("CONSTRAINTS") || self.take_word("CONSTRAINT")) {
            return Ok(ShowTarget::Constraints {
                relationships,
                kind,
            });
        }
        if self.place > start || !self.is_name(0) {
            return Err(self.unexpected("CONSTRAINTS, or another thing to show, such as INDEXES"));
        }
        let construct = format!("SHOW {}", self.span().of(self.text));
        Err(self.not_supported(&construct))
    }
}
