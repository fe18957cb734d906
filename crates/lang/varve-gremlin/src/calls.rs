//! Steps and source instructions of texts, scripts and bytecode: checked against the table of forms
//! and normalized.

use crate::error::{ErrorCode, ParseError, Result};
use crate::signatures;
use crate::tree::{Argument, SourceInstruction, SourceName, Span, Step, StepName};

/// The class named in the error of an unknown step.
pub(crate) const TRAVERSAL_CLASS: &str =
    "org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.DefaultGraphTraversal";
/// The class named in the error of an unknown source instruction.
pub(crate) const SOURCE_CLASS: &str =
    "org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource";

/// The strategy whose configuration is equivalent to `with()`.
const OPTIONS_STRATEGY: &str = "OptionsStrategy";

/// A step, or an error message if its arguments are wrong.
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

/// Adds a source instruction, or returns an error message if its arguments are wrong. `with(k)`
/// becomes `with(k, true)`, and `OptionsStrategy(k: v)` becomes `with('k', v)`.
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
        // Drivers send strategies with their configuration; only the names are needed.
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
    /// A step that is not parsed from a text: the script layer adds it to a traversal.
    ///
    /// # Errors
    ///
    /// If the step has no form for these arguments.
    pub fn new(name: StepName, arguments: Vec<Argument>) -> Result<Step> {
        step(name, arguments, Span::default())
            .map_err(|wrong| ParseError::without_place(ErrorCode::WrongArguments, wrong))
    }
}
