//! Traversals of scripts: from a source or a variable, through steps, to their results.

use std::collections::VecDeque;
use std::sync::Arc;

use varve_query::{QueryError, Value};

use super::environment::{Item, Lazy};
use super::errors::{no_such_method, nothing_next};
use super::{Results, Run, Source, heap, splices};
use crate::bind::{self, NoVariables};
use crate::tree::{Argument, Root, Step, StepName, Terminal, Text, Traversal};

/// The start of a traversal in a script.
enum Origin {
    Source(Source, Arc<Vec<crate::tree::SourceInstruction>>),
    /// A traversal from a source that has not run, such as one in a variable.
    Lazy(Arc<Lazy>),
    /// The steps of a nested traversal, which has no source; it may be in a variable.
    Nested(Vec<Step>),
}

impl Run<'_> {
    /// Evaluates a traversal: runs it if it has a source and a terminal method, else returns it as
    /// an item. The item is the source itself if there are no steps.
    pub(super) fn traversal(&mut self, traversal: &Traversal) -> Result<Item, QueryError> {
        let origin = self.origin(&traversal.root)?;
        if let (Some(terminal), Origin::Source(source, with)) = (&traversal.terminal, &origin)
            && with.is_empty()
            && self.is_plain(traversal)
        {
            return self.end(source.clone(), traversal, terminal);
        }
        let mut resolved = self.resolve_traversal(traversal)?;
        let source = match origin {
            Origin::Nested(before) => {
                resolved.steps.splice(0..0, before);
                let nested = Argument::Traversal(Box::new(resolved));
                return splices::bounded(Item::Argument(nested));
            }
            Origin::Source(source, with) => {
                self.copies(&Item::Source(source.clone(), with.clone()))?;
                resolved.source.splice(0..0, with.iter().cloned());
                source
            }
            Origin::Lazy(before) => {
                self.copies(&Item::Traversal(before.clone()))?;
                let Lazy { source, traversal } = before.as_ref();
                let mut joined = traversal.clone();
                joined.steps.append(&mut resolved.steps);
                resolved = joined;
                source.clone()
            }
        };
        let lazy = Arc::new(Lazy {
            source,
            traversal: resolved,
        });
        splices::bounded(Item::Traversal(lazy.clone()))?;
        match &traversal.terminal {
            Some(terminal) => self.end(lazy.source.clone(), &lazy.traversal, terminal),
            None if lazy.traversal.steps.is_empty() => {
                let Lazy { source, traversal } = Arc::unwrap_or_clone(lazy);
                Ok(Item::Source(source, Arc::new(traversal.source)))
            }
            None => Ok(Item::Traversal(lazy)),
        }
    }

    fn origin(&mut self, root: &Root) -> Result<Origin, QueryError> {
        let item = match root {
            Root::Anonymous => return Ok(Origin::Nested(Vec::new())),
            Root::Source(name) => match self.held_by(name)? {
                Some(item) => item,
                None => {
                    let source = Source::Traversal(name.clone());
                    return Ok(Origin::Source(source, Arc::default()));
                }
            },
            Root::Computed(source) => self.eval(source)?,
        };
        Ok(match item {
            Item::Source(source, with) => Origin::Source(source, with),
            Item::Graph(name) => Origin::Source(Source::Graph(name), Arc::default()),
            Item::Traversal(lazy) => Origin::Lazy(lazy),
            Item::Argument(Argument::Traversal(nested)) => Origin::Nested(nested.steps),
            // A value bound to the name `g` does not hide the source `g`.
            Item::Value(_) if matches!(root, Root::Source(name) if name == "g") => {
                Origin::Source(Source::Traversal(Text::const_new("g")), Arc::default())
            }
            other => {
                let kind = other.kind();
                return Err(QueryError::invalid(format!(
                    "A traversal begins with a source, such as g, but got {kind}"
                )));
            }
        })
    }

    /// Runs a traversal whose arguments are values, or variables with values. Returns at most
    /// `most` results, and remembers the source for [`Run::run_steps`].
    pub(super) fn run(
        &mut self,
        source: Source,
        traversal: &Traversal,
        most: Option<u64>,
    ) -> Result<Results, QueryError> {
        let bound = bind::bind(traversal, &*self.environment)?;
        let results = self.host.run(&source, &bound, most)?;
        self.reads = (source, traversal.source.clone());
        Ok(results)
    }

    pub(super) fn run_lazy(
        &mut self,
        lazy: &Lazy,
        most: Option<u64>,
    ) -> Result<Results, QueryError> {
        self.run(lazy.source.clone(), &lazy.traversal, most)
    }

    /// Runs a traversal, and returns the result of its terminal method.
    fn end(
        &mut self,
        source: Source,
        traversal: &Traversal,
        terminal: &Terminal,
    ) -> Result<Item, QueryError> {
        let most = match terminal {
            Terminal::Next | Terminal::TryNext | Terminal::HasNext => Some(1),
            Terminal::NextMany(count) => {
                let count = self.value(count)?;
                let count = count.as_long().and_then(|count| u64::try_from(count).ok());
                Some(count.unwrap_or(0))
            }
            _ => None,
        };
        if matches!(terminal, Terminal::Explain) {
            let mut bound = bind::bind(traversal, &*self.environment)?;
            bound.options.explain = true;
            let results = self.host.run(&source, &bound, Some(1))?.into_iter();
            // A list of one item: the entries of a map would become separate results.
            let explained = results.map(|(value, _)| value).collect();
            return Ok(Item::Value(Value::list(explained)));
        }
        let results = self.run(source, traversal, most)?;
        Ok(match terminal {
            Terminal::ToList | Terminal::ToBulkSet | Terminal::NextMany(_) => {
                Item::Value(Value::list(self.list_of(results)?))
            }
            Terminal::ToSet => Item::Value(Value::set(results.into_iter().map(|(value, _)| value))),
            Terminal::HasNext => Item::Value(Value::Bool(!results.is_empty())),
            Terminal::TryNext => match results.into_iter().next() {
                Some((value, _)) => Item::Value(value),
                None => Item::Nothing,
            },
            Terminal::Next => match results.into_iter().next() {
                Some((value, _)) => Item::Value(value),
                None => return Err(nothing_next()),
            },
            _ => Item::Nothing,
        })
    }

    /// The results as a list, each repeated by its bulk. Fails if the list exceeds the request's
    /// limit of memory.
    pub(super) fn list_of(&mut self, results: Results) -> Result<Vec<Value>, QueryError> {
        let mut items = Vec::with_capacity(results.len());
        for (value, bulk) in results {
            let bulk = usize::try_from(bulk).unwrap_or(usize::MAX);
            let each = size_of::<Value>() + heap(&value);
            self.host.hold(bulk.saturating_mul(each))?;
            items.extend(std::iter::repeat_n(value, bulk));
        }
        Ok(items)
    }

    /// Calls a method of a traversal that has not run. A step returns a longer traversal. A
    /// terminal method or `size()` runs the traversal.
    pub(super) fn lazy_method(
        &mut self,
        lazy: &Arc<Lazy>,
        name: &Text,
        arguments: Vec<Item>,
    ) -> Result<Item, QueryError> {
        if let Some(step) = StepName::from_text(name) {
            self.copies(&Item::Traversal(lazy.clone()))?;
            let mut longer = lazy.as_ref().clone();
            let step = self.new_step(step, arguments)?;
            longer.traversal.steps.push(step);
            return splices::bounded(Item::Traversal(Arc::new(longer)));
        }
        let terminal = match (name.as_str(), arguments.as_slice()) {
            ("next", []) => Terminal::Next,
            ("next", [Item::Value(count)]) => {
                Terminal::NextMany(Box::new(Argument::Value(count.clone())))
            }
            ("tryNext", []) => Terminal::TryNext,
            ("hasNext", []) => Terminal::HasNext,
            ("toList", []) => Terminal::ToList,
            ("toSet", []) => Terminal::ToSet,
            ("toBulkSet", []) => Terminal::ToBulkSet,
            ("iterate", []) => Terminal::Iterate,
            ("explain", []) => Terminal::Explain,
            ("toString", []) => return Ok(Item::text(&lazy.traversal.to_string())),
            ("size", []) => {
                let results = self.run_lazy(lazy, None)?;
                let size = results.iter().fold(0, |sum: u64, (_, bulk)| sum + bulk);
                return Ok(Item::Value(Value::count(size)));
            }
            _ => {
                return Err(no_such_method(
                    &Item::Traversal(lazy.clone()),
                    name,
                    &arguments,
                ));
            }
        };
        self.end(lazy.source.clone(), &lazy.traversal, &terminal)
    }

    /// Makes a step with these arguments. Fails if the step does not accept them.
    pub(super) fn new_step(
        &mut self,
        name: StepName,
        arguments: Vec<Item>,
    ) -> Result<Step, QueryError> {
        let arguments = arguments.into_iter().map(|item| self.argument_of(item));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        Step::new(name, arguments).map_err(|error| {
            QueryError::script(error.code.groovy_exception(), error.message.clone())
        })
    }

    /// `next()`, `next(most)`, `tryNext()` and `hasNext()` of a traversal in a variable. The first
    /// call runs the traversal; from then on, the variable contains the remaining results. `next()`
    /// fails if there are none.
    pub(super) fn iterate(
        &mut self,
        variable: &Text,
        name: &str,
        most: Option<&Value>,
    ) -> Result<Item, QueryError> {
        if let Some(Item::Traversal(lazy)) = self.environment.get(variable) {
            let lazy = lazy.clone();
            let results = self.run_lazy(&lazy, None)?;
            let left = VecDeque::from(self.list_of(results)?);
            self.environment
                .set(variable.clone(), Item::Results(Arc::new(left)));
        }
        let Some(Item::Results(left)) = self.environment.get_mut(variable) else {
            return Err(nothing_next());
        };
        if name == "hasNext" {
            return Ok(Item::Value(Value::Bool(!left.is_empty())));
        }
        let left = Arc::make_mut(left);
        match most {
            Some(most) => {
                let most = most.as_long().and_then(|most| usize::try_from(most).ok());
                let most = most.unwrap_or(0).min(left.len());
                Ok(Item::Value(Value::list(left.drain(..most).collect())))
            }
            None => match left.pop_front() {
                Some(value) => Ok(Item::Value(value)),
                None if name == "tryNext" => Ok(Item::Nothing),
                None => Err(nothing_next()),
            },
        }
    }

    /// Runs steps on the source of the last traversal that [`Run::run`] ran.
    pub(super) fn run_steps(
        &mut self,
        steps: Vec<Step>,
        most: Option<u64>,
    ) -> Result<Results, QueryError> {
        let mut traversal = Traversal::anonymous(steps, crate::tree::Span::default());
        let (source, with) = self.reads.clone();
        traversal.source = with;
        let bound = bind::bind(&traversal, &NoVariables)?;
        self.host.run(&source, &bound, most)
    }
}
