//! What `WITH`, `RETURN` and `YIELD` pass on.

use super::Parser;
use crate::error::Result;
use crate::lexer::TokenKind;
use crate::tree::{Projection, ProjectionItem, Sort};

impl Parser<'_> {
    /// The columns, their order, and how many rows are passed on.
    pub(super) fn projection(&mut self) -> Result<Projection> {
        let distinct = self.set_quantifier();
        let (star, items) = self.columns()?;
        let mut projection = Projection {
            distinct,
            star,
            items,
            ..Projection::default()
        };
        self.pages(&mut projection)?;
        Ok(projection)
    }

    /// `*`, then columns.
    pub(super) fn columns(&mut self) -> Result<(bool, Vec<ProjectionItem>)> {
        let star = self.take(TokenKind::Star);
        if star && !self.take(TokenKind::Comma) {
            return Ok((true, Vec::new()));
        }
        Ok((star, self.list(Parser::column)?))
    }

    fn column(&mut self) -> Result<ProjectionItem> {
        let expression = self.value()?;
        let alias = if self.take_word("AS") {
            Some(self.name("a name")?)
        } else {
            None
        };
        Ok(ProjectionItem { expression, alias })
    }

    /// `ORDER BY`, `SKIP` and `LIMIT`.
    pub(super) fn pages(&mut self, projection: &mut Projection) -> Result<()> {
        if self.at_words(&["ORDER", "BY"]) {
            self.place += 2;
            projection.order = self.list(Parser::sort)?;
        }
        if self.take_word("SKIP") || self.take_word("OFFSET") {
            projection.skip = Some(self.value()?);
        }
        projection.limit = self.value_after("LIMIT")?;
        Ok(())
    }

    fn sort(&mut self) -> Result<Sort> {
        let expression = self.value()?;
        let descending = self.take_word("DESC") || self.take_word("DESCENDING");
        if !descending {
            let _ = self.take_word("ASC") || self.take_word("ASCENDING");
        }
        Ok(Sort {
            expression,
            descending,
        })
    }
}
