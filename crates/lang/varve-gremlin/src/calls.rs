//! Steps and source instructions, checked against the table of forms and brought into one form:
//! texts, scripts and bytecode all make them here.

use crate::error::{ErrorCode, ParseError, Result};
use crate::signatures;
use crate::tree::{Argument, SourceInstruction, SourceName, Span, Step, StepName};

/// The class that errors name when a traversal has no such step.
pub(crate) const TRAVERSAL_CLASS: &str =
    "org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.DefaultGraphTraversal";
/// The class that errors name when a source has no such instruction.
pub(crate) const SOURCE_CLASS: &str =
    "org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource";

/// The strategy whose entries are what `with()` sets.
const OPTIONS_STRATEGY: &str = "OptionsStrategy";

/// A step of this name, or why its arguments are wrong.
pub(crate) fn step(
    name: StepName,
    arguments: Vec<Argument>,
    span: Span,
) -> std::result::Result<Step, String> {
    // `none()` of 3.7 and before is `discard()`.
    let name = match name {
        StepName::None if arguments.is_empty() => StepName::Discard,
        name => name,
    };
    let forms = signatures::step_forms(name);
    if !signatures::match_forms(forms, &arguments) {
        return Err(signatures::no_such_call(
            TRAVERSAL_CLASS,
            name.text(),
            &arguments,
            forms,
        ));
    }
    Ok(Step {
        name,
        arguments,
        span,
    })
}

/// Adds a source instruction, or says why its arguments are wrong. `with(k)` is `with(k, true)`,
/// and `OptionsStrategy(k: v)` is `with('k', v)`.
pub(crate) fn add_source(
    source: &mut Vec<SourceInstruction>,
    name: SourceName,
    mut arguments: Vec<Argument>,
    span: Span,
) -> std::result::Result<(), String> {
    let forms = signatures::source_forms(name);
    if !signatures::match_forms(forms, &arguments) {
        let message = signatures::no_such_call(SOURCE_CLASS, name.text(), &arguments, forms);
        return Err(message);
    }
    if name == SourceName::With && arguments.len() == 1 {
        arguments.push(Argument::Bool(true));
    }
    if name == SourceName::WithoutStrategies {
        // Drivers send whole strategies; only their names count.
        for argument in &mut arguments {
            if let Argument::Strategy(strategy) = argument {
                strategy.configuration.clear();
            }
        }
    }
    if name == SourceName::WithStrategies {
        arguments.retain_mut(|argument| match argument {
            Argument::Strategy(strategy) if strategy.name == OPTIONS_STRATEGY => {
                for (key, value) in std::mem::take(&mut strategy.configuration) {
                    source.push(SourceInstruction {
                        name: SourceName::With,
                        arguments: vec![Argument::String(key), value],
                        span,
                    });
                }
                false
            }
            _ => true,
        });
        if arguments.is_empty() {
            return Ok(());
        }
    }
    source.push(SourceInstruction {
        name,
        arguments,
        span,
    });
    Ok(())
}

impl Step {
    /// A step that is not read from a text: the script layer adds it to a traversal.
    ///
    /// # Errors
    /// If the step has no form for these arguments.
    pub fn new(name: StepName, arguments: Vec<Argument>) -> Result<Step> {
        step(name, arguments, Span::default())
            .map_err(|wrong| ParseError::without_place(ErrorCode::WrongArguments, wrong))
    }
}
