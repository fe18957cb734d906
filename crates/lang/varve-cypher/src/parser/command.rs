//! Commands that change the schema or the databases.

use super::Parser;
use crate::error::{ErrorKind, Result};
use crate::lexer::TokenKind;
use crate::tree::{
    Command, ConstraintRule, CreateConstraint, CreateDatabase, CreateIndex, DropDatabase,
    DropNamed, Existence, Expression, IndexKind, IndexedBy, Name, NamedKind, SchemaName,
    SchemaTarget, Text,
};

/// The words after `CREATE` that make it a command.
const CREATED: &[&str] = &[
    "INDEX",
    "RANGE",
    "TEXT",
    "POINT",
    "LOOKUP",
    "FULLTEXT",
    "VECTOR",
    "BTREE",
    "CONSTRAINT",
    "DATABASE",
    "OR",
    "COMPOSITE",
    "ALIAS",
    "USER",
    "ROLE",
    "IMMUTABLE",
];

impl Parser<'_> {
    pub(super) fn at_command(&self) -> bool {
        let created = CREATED.iter().any(|word| self.is_word(1, word));
        self.at_word("DROP")
            || self.at_word("CREATE") && created && self.kind(2) != TokenKind::Equal
    }

    pub(super) fn command(&mut self) -> Result<Command> {
        if self.take_word("DROP") {
            return self.drop_command();
        }
        self.advance();
        let replace = self.take_words(&["OR", "REPLACE"]);
        if self.take_word("DATABASE") {
            let database = self.create_database(replace)?;
            return Ok(Command::CreateDatabase(Box::new(database)));
        }
        if replace {
            return Err(self.not_supported("OR REPLACE of anything but a database"));
        }
        if self.take_word("CONSTRAINT") {
            let constraint = self.create_constraint()?;
            return Ok(Command::CreateConstraint(Box::new(constraint)));
        }
        let kind = self.index_kind();
        if kind.is_none() && !self.at_word("INDEX") {
            let construct = format!("CREATE {}", self.span().of(self.text));
            return Err(self.not_supported(&construct));
        }
        self.expect_word("INDEX")?;
        let index = self.create_index(kind.unwrap_or(IndexKind::Range))?;
        Ok(Command::CreateIndex(Box::new(index)))
    }

    /// The kind of an index, if a word for it comes next.
    pub(super) fn index_kind(&mut self) -> Option<IndexKind> {
        let kind = IndexKind::ALL
            .into_iter()
            .find(|kind| self.at_word(kind.text()));
        if kind.is_some() {
            self.advance();
        }
        kind
    }

    fn drop_command(&mut self) -> Result<Command> {
        if self.take_word("DATABASE") {
            let (name, existence) = (self.database_name()?, self.existence(&["IF", "EXISTS"]));
            if !self.take_words(&["DESTROY", "DATA"]) && self.at_word("DUMP") {
                return Err(self.not_supported("DUMP DATA"));
            }
            self.wait()?;
            return Ok(Command::DropDatabase(DropDatabase { name, existence }));
        }
        let kind = if self.take_word("INDEX") {
            NamedKind::Index
        } else if self.take_word("CONSTRAINT") {
            NamedKind::Constraint
        } else {
            let construct = format!("DROP {}", self.span().of(self.text));
            return Err(self.not_supported(&construct));
        };
        if self.at_word("ON") && matches!(self.kind(1), TokenKind::Colon | TokenKind::LeftParen) {
            return Err(self.not_supported("DROP … ON of old versions (write the name)"));
        }
        let name = self.schema_name("a name")?;
        let existence = self.existence(&["IF", "EXISTS"]);
        Ok(Command::Drop(DropNamed {
            kind,
            name,
            existence,
        }))
    }

    fn existence(&mut self, words: &[&str]) -> Existence {
        if self.take_words(words) {
            return Existence::Ignore;
        }
        Existence::Fail
    }

    fn schema_name(&mut self, what: &str) -> Result<SchemaName> {
        if self.at(TokenKind::Dollar) {
            return self.parameter().map(SchemaName::Parameter);
        }
        self.name(what).map(SchemaName::Name)
    }

    /// A name whose parts may be joined with dots.
    pub(super) fn database_name(&mut self) -> Result<SchemaName> {
        if self.at(TokenKind::Dollar) {
            return self.parameter().map(SchemaName::Parameter);
        }
        let name = self.qualified_name("the name of a database")?;
        let (text, span) = (Text::from(name.text()), name.span());
        Ok(SchemaName::Name(Name { text, span }))
    }

    fn create_database(&mut self, replace: bool) -> Result<CreateDatabase> {
        let name = self.database_name()?;
        let existence = match self.existence(&["IF", "NOT", "EXISTS"]) {
            Existence::Fail if replace => Existence::Replace,
            existence => existence,
        };
        if self.at_word("TOPOLOGY") {
            return Err(self.not_supported("TOPOLOGY"));
        }
        let options = self.schema_options()?;
        self.wait()?;
        Ok(CreateDatabase {
            name,
            existence,
            options,
        })
    }

    /// `WAIT 5 SECONDS` or `NOWAIT`, which change nothing: a command has always finished.
    fn wait(&mut self) -> Result<()> {
        if self.take_word("NOWAIT") || !self.take_word("WAIT") || !self.at(TokenKind::Number) {
            return Ok(());
        }
        self.count()?;
        let units = ["SECONDS", "SECOND", "SEC"];
        let _ = units.iter().any(|unit| self.take_word(unit));
        Ok(())
    }

    fn schema_options(&mut self) -> Result<Option<Expression>> {
        if self.take_word("OPTIONS") {
            return self.map_or_parameter().map(Some);
        }
        Ok(None)
    }

    /// The name and `IF NOT EXISTS` before `FOR`.
    fn named(&mut self, new_form: &str) -> Result<(Option<SchemaName>, Existence)> {
        let is_old = self.at_word("ON") && self.kind(1) != TokenKind::Word;
        let is_unnamed = self.at_words(&["IF", "NOT"])
            || self.at_word("FOR") && self.kind(1) == TokenKind::LeftParen;
        let name = if !is_unnamed && !is_old {
            Some(self.schema_name("a name or FOR")?)
        } else {
            None
        };
        let existence = self.existence(&["IF", "NOT", "EXISTS"]);
        if self.at_word("ON") {
            let construct = format!("the form with ON of old versions (write {new_form})");
            return Err(self.not_supported(&construct));
        }
        self.expect_word("FOR")?;
        Ok((name, existence))
    }

    fn create_index(&mut self, kind: IndexKind) -> Result<CreateIndex> {
        let (name, existence) = self.named("CREATE INDEX FOR (n:Label) ON (n.property)")?;
        let target = self.target(kind != IndexKind::Lookup)?;
        self.expect_word("ON")?;
        let by = if self.take_word("EACH") {
            self.indexed_each(&target)?
        } else {
            IndexedBy::Properties(self.properties_of(&target.variable)?)
        };
        if (by == IndexedBy::Labels) != (kind == IndexKind::Lookup) {
            let message = "a lookup index holds labels or types, any other index properties";
            return Err(self.error(ErrorKind::UnexpectedSyntax, self.span(), message));
        }
        if self.at_word("WITH") {
            return Err(self.not_supported("an index WITH further properties"));
        }
        Ok(CreateIndex {
            kind,
            name,
            existence,
            target,
            by,
            options: self.schema_options()?,
        })
    }

    fn indexed_each(&mut self, target: &SchemaTarget) -> Result<IndexedBy> {
        if self.take(TokenKind::LeftBracket) {
            let properties = self.list(|parser| parser.property_of(&target.variable))?;
            self.expect(TokenKind::RightBracket, "',' or ']'")?;
            return Ok(IndexedBy::Properties(properties));
        }
        let function = if target.relationships {
            "type"
        } else {
            "labels"
        };
        self.expect_word(function)?;
        self.expect(TokenKind::LeftParen, "'('")?;
        self.variable(&target.variable)?;
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(IndexedBy::Labels)
    }

    /// `(n:A|B)` or `()-[r:T]-()`.
    fn target(&mut self, labelled: bool) -> Result<SchemaTarget> {
        self.expect(TokenKind::LeftParen, "'('")?;
        let relationships = self.take(TokenKind::RightParen);
        if relationships {
            let _ = self.take(TokenKind::Less);
            self.expect(TokenKind::Minus, "'-'")?;
            self.expect(TokenKind::LeftBracket, "'['")?;
        }
        let variable = self.name("a variable")?;
        let labels = if labelled {
            self.expect(TokenKind::Colon, "':'")?;
            let mut labels = vec![self.name("a label")?];
            while self.take(TokenKind::Bar) {
                labels.push(self.name("a label")?);
            }
            labels
        } else {
            Vec::new()
        };
        if relationships {
            self.expect(TokenKind::RightBracket, "']'")?;
            self.expect(TokenKind::Minus, "'-'")?;
            let _ = self.take(TokenKind::Greater);
            self.expect(TokenKind::LeftParen, "'('")?;
        }
        self.expect(TokenKind::RightParen, "')'")?;
        Ok(SchemaTarget {
            relationships,
            variable,
            labels,
        })
    }

    /// The variable of the target again.
    fn variable(&mut self, variable: &Name) -> Result<()> {
        let place = self.place;
        if self.name("a variable")?.text != variable.text {
            self.place = place;
            return Err(self.unexpected(&format!("the variable {}", variable.text)));
        }
        Ok(())
    }

    fn property_of(&mut self, variable: &Name) -> Result<Name> {
        self.variable(variable)?;
        self.expect(TokenKind::Dot, "'.'")?;
        self.name("a property")
    }

    /// `n.x` or `(n.x, n.y)`.
    fn properties_of(&mut self, variable: &Name) -> Result<Vec<Name>> {
        if !self.take(TokenKind::LeftParen) {
            return Ok(vec![self.property_of(variable)?]);
        }
        let properties = self.list(|parser| parser.property_of(variable))?;
        self.expect(TokenKind::RightParen, "',' or ')'")?;
        Ok(properties)
    }

    fn create_constraint(&mut self) -> Result<CreateConstraint> {
        let (name, existence) =
            self.named("CREATE CONSTRAINT FOR (n:Label) REQUIRE n.property IS UNIQUE")?;
        let target = self.target(true)?;
        self.expect_word("REQUIRE")?;
        let properties = self.properties_of(&target.variable)?;
        self.expect_word("IS")?;
        let rule = self.constraint_rule(target.relationships)?;
        Ok(CreateConstraint {
            name,
            existence,
            target,
            properties,
            rule,
            options: self.schema_options()?,
        })
    }

    fn constraint_rule(&mut self, relationships: bool) -> Result<ConstraintRule> {
        if self.take_words(&["NOT", "NULL"]) {
            return Ok(ConstraintRule::NotNull);
        }
        if self.take(TokenKind::ColonColon) || self.take_word("TYPED") {
            return self.value_type().map(ConstraintRule::Type);
        }
        let elements: &[&str] = if relationships {
            &["RELATIONSHIP", "REL"]
        } else {
            &["NODE"]
        };
        let _ = elements.iter().any(|word| self.take_word(word));
        if self.take_word("UNIQUE") {
            return Ok(ConstraintRule::Unique);
        }
        if self.take_word("KEY") {
            return Ok(ConstraintRule::Key);
        }
        Err(self.unexpected("UNIQUE, KEY, NOT NULL, or '::' and a type"))
    }
}
