//! Statements: blocks, branches, loops, `try`.

use varve_query::QueryError;

use super::Run;
use super::environment::Item;
use super::errors::{catches, class_of};
use crate::tree::{Argument, Catch, Statement, StatementKind, Text};

/// The control flow after a statement.
pub(super) enum Flow {
    /// Continue with the next statement. The item is the statement's value.
    Next(Item),
    /// Leave the innermost loop.
    Break,
    /// Begin the next round of the innermost loop.
    Continue,
    /// End the script with this value.
    Return(Item),
}

impl Flow {
    pub(super) fn item(self) -> Item {
        match self {
            Flow::Next(item) | Flow::Return(item) => item,
            Flow::Break | Flow::Continue => Item::NULL,
        }
    }
}

/// What follows a round of a loop: the next round, or the flow after the loop.
enum Round {
    On,
    Out(Flow),
}

impl From<Flow> for Round {
    fn from(flow: Flow) -> Self {
        match flow {
            Flow::Next(_) | Flow::Continue => Round::On,
            Flow::Break => Round::Out(Flow::Next(Item::NULL)),
            Flow::Return(item) => Round::Out(Flow::Return(item)),
        }
    }
}

impl Run<'_> {
    /// Runs statements in order. Adds the variables that they define to `defined`.
    pub(super) fn statements(
        &mut self,
        statements: &[Statement],
        defined: &mut Vec<Text>,
    ) -> Result<Flow, QueryError> {
        let mut last = Item::NULL;
        for statement in statements {
            match self.statement(statement, defined)? {
                Flow::Next(item) => last = item,
                other => return Ok(other),
            }
        }
        Ok(Flow::Next(last))
    }

    /// Runs a block. Its variables are removed at its end.
    fn block(&mut self, statements: &[Statement]) -> Result<Flow, QueryError> {
        let mut defined = Vec::new();
        let flow = self.statements(statements, &mut defined);
        self.forget(&defined);
        flow
    }

    fn forget(&mut self, names: &[Text]) {
        for name in names {
            self.environment.remove(name);
        }
    }

    fn statement(
        &mut self,
        statement: &Statement,
        defined: &mut Vec<Text>,
    ) -> Result<Flow, QueryError> {
        self.step(1)?;
        match &statement.kind {
            StatementKind::Expression(expression) => self.eval(expression).map(Flow::Next),
            StatementKind::Define { name, value } => {
                let item = match value {
                    Some(value) => self.eval(value)?,
                    None => Item::NULL,
                };
                defined.push(name.clone());
                self.set(name, item.clone())?;
                Ok(Flow::Next(item))
            }
            StatementKind::Return(Some(value)) => self.eval(value).map(Flow::Return),
            StatementKind::Return(None) => Ok(Flow::Return(Item::NULL)),
            StatementKind::If {
                condition,
                then,
                otherwise,
            } => match self.holds(condition)? {
                true => self.block(then),
                false => self.block(otherwise),
            },
            StatementKind::For {
                first,
                condition,
                each,
                body,
            } => {
                let mut defined = Vec::new();
                let parts = (first.as_deref(), condition.as_ref(), each.as_ref());
                let flow = self.for_loop(parts, body, &mut defined);
                self.forget(&defined);
                flow
            }
            StatementKind::ForIn { name, items, body } => self.for_in(name, items, body),
            StatementKind::While { condition, body } => self.while_loop(condition, body),
            StatementKind::Try {
                body,
                catches,
                finally,
            } => self.try_block(body, catches, finally),
            StatementKind::Break => Ok(Flow::Break),
            StatementKind::Continue => Ok(Flow::Continue),
        }
    }

    fn for_loop(
        &mut self,
        (first, condition, each): (Option<&Statement>, Option<&Argument>, Option<&Argument>),
        body: &[Statement],
        defined: &mut Vec<Text>,
    ) -> Result<Flow, QueryError> {
        if let Some(first) = first {
            self.statement(first, defined)?;
        }
        loop {
            self.step(1)?;
            if let Some(condition) = condition
                && !self.holds(condition)?
            {
                return Ok(Flow::Next(Item::NULL));
            }
            if let Round::Out(flow) = self.block(body)?.into() {
                return Ok(flow);
            }
            if let Some(each) = each {
                self.eval(each)?;
            }
        }
    }

    fn for_in(
        &mut self,
        name: &Text,
        items: &Argument,
        body: &[Statement],
    ) -> Result<Flow, QueryError> {
        let items = self.eval(items)?;
        let items = self.items_of(items)?;
        let mut out = Flow::Next(Item::NULL);
        for item in items {
            self.step(1)?;
            self.set(name, Item::Value(item))?;
            if let Round::Out(flow) = self.block(body)?.into() {
                out = flow;
                break;
            }
        }
        self.environment.remove(name);
        Ok(out)
    }

    fn while_loop(&mut self, condition: &Argument, body: &[Statement]) -> Result<Flow, QueryError> {
        loop {
            self.step(1)?;
            if !self.holds(condition)? {
                return Ok(Flow::Next(Item::NULL));
            }
            if let Round::Out(flow) = self.block(body)?.into() {
                return Ok(flow);
            }
        }
    }

    fn try_block(
        &mut self,
        body: &[Statement],
        handlers: &[Catch],
        finally: &[Statement],
    ) -> Result<Flow, QueryError> {
        let mut flow = self.block(body);
        if let Err(error) = &flow {
            // An error that cannot be caught ends the script, without `finally`.
            let Some(class) = class_of(error) else {
                return flow;
            };
            let handler = handlers.iter().find(|one| catches(&one.classes, class));
            if let Some(handler) = handler {
                let exception = Item::Exception {
                    class: class.into(),
                    message: error.to_string().into(),
                };
                self.environment.set(handler.name.clone(), exception);
                flow = self.block(&handler.body);
                self.environment.remove(&handler.name);
            }
        }
        if flow.as_ref().is_err_and(|error| class_of(error).is_none()) {
            return flow;
        }
        match self.block(finally)? {
            Flow::Next(_) => flow,
            other => Ok(other),
        }
    }
}
