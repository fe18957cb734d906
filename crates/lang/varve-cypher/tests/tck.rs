//! The texts of openCypher's TCK: those that are valid are parsed and printed, and those that a
//! parser can refuse are refused with the TCK's detail.

#[path = "support/features.rs"]
mod features;

use std::collections::BTreeMap;

use features::{Scenario, scenarios};
use varve_cypher::parse;

/// The number of scenarios in tck-1.0.0-M23.
const SCENARIOS: usize = 3_897;

/// The details that the parser finds in the TCK, each with the number of its scenarios.
const REFUSED: &[(&str, usize)] = &[
    ("CreatingVarLength", 2),
    ("FloatingPointOverflow", 1),
    ("IntegerOverflow", 6),
    ("InvalidArgumentPassingMode", 1),
    ("InvalidClauseComposition", 3),
    ("InvalidDelete", 2),
    ("InvalidNumberLiteral", 4),
    ("InvalidParameterUse", 4),
    ("InvalidRelationshipPattern", 2),
    ("InvalidUnicodeCharacter", 1),
    ("InvalidUnicodeLiteral", 1),
    ("NoSingleRelationshipType", 4),
    ("RequiresDirectedRelationship", 2),
    ("UnexpectedSyntax", 24),
];

/// The details of errors that need bound names and types, each with the number of its scenarios.
const LEFT_TO_THE_BINDER: &[(&str, usize)] = &[
    ("AmbiguousAggregationExpression", 6),
    ("ColumnNameConflict", 2),
    ("DifferentColumnsInUnion", 2),
    ("InvalidAggregation", 29),
    ("InvalidArgumentType", 151),
    ("InvalidNumberOfArguments", 4),
    ("NegativeIntegerArgument", 4),
    ("NestedAggregation", 1),
    ("NoExpressionAlias", 1),
    // A variable without a type: which error it is depends on whether the variable is bound.
    ("NoSingleRelationshipType", 1),
    ("NoVariablesInScope", 1),
    ("NonConstantExpression", 4),
    ("RelationshipUniquenessViolation", 1),
    ("UndefinedVariable", 70),
    ("UnknownFunction", 1),
    ("VariableAlreadyBound", 91),
    ("VariableTypeConflict", 159),
];

/// What is wrong with a text that is valid, if anything.
fn fault(text: &str) -> Option<String> {
    let tree = match parse(text) {
        Ok(tree) => tree,
        Err(error) => return Some(error.to_string()),
    };
    let printed = tree.to_string();
    match parse(&printed) {
        // NaN is not equal to itself, so trees that contain it are compared as text.
        Ok(again) if again == tree || printed.contains("NaN") && again.to_string() == printed => {
            None
        }
        Ok(_) => Some(format!("another tree: {printed}")),
        Err(error) => Some(format!("printed: {error}: {printed}")),
    }
}

#[test]
#[ignore = "needs the feature files: run tests/cypher/run.sh"]
fn valid_texts_are_parsed_and_those_that_are_not_are_refused() {
    let scenarios = scenarios();
    let (mut wrong, mut valid, mut texts) = (Vec::new(), 0, 0);
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut for_the_binder: BTreeMap<&str, usize> = BTreeMap::new();
    for scenario in &scenarios {
        let Scenario {
            name,
            others,
            queries,
            expected,
        } = scenario;
        let expected = expected
            .as_ref()
            .filter(|error| error.kind == "SyntaxError" && error.phase == "compile time");
        let (last, before) = match (expected, queries.split_last()) {
            (Some(error), Some((last, before))) => (Some((error, last)), before),
            _ => (None, queries.as_slice()),
        };
        texts += others.len() + queries.len();
        for text in others.iter().chain(before) {
            valid += 1;
            wrong.extend(fault(text).map(|fault| format!("{name}: {fault}\n{text}")));
        }
        let Some((error, text)) = last else { continue };
        match parse(text) {
            Ok(_) => {
                *for_the_binder.entry(&error.detail).or_default() += 1;
                wrong.extend(fault(text).map(|fault| format!("{name}: {fault}\n{text}")));
            }
            Err(found) if found.kind.detail() == error.detail => {
                *refused.entry(&error.detail).or_default() += 1;
            }
            Err(found) => wrong.push(format!(
                "{name}: expected {}: {found}\n{text}",
                error.detail
            )),
        }
    }
    println!("{texts} texts, {valid} valid");
    assert!(
        wrong.is_empty(),
        "{} texts:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(scenarios.len(), SCENARIOS);
    let refused: Vec<(&str, usize)> = refused.into_iter().collect();
    assert_eq!(refused, REFUSED);
    let for_the_binder: Vec<(&str, usize)> = for_the_binder.into_iter().collect();
    assert_eq!(for_the_binder, LEFT_TO_THE_BINDER);
}
