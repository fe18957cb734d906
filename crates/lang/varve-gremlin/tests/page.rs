//! The lists of `docs/gremlin.md` beside the language: what the page offers runs, and the rest of
//! the language is on the page as refused.

use std::collections::BTreeSet;

use varve_gremlin::bind::{NoVariables, bind};
use varve_gremlin::parse_traversal;
use varve_gremlin::tree::{PredicateName, StepName};
use varve_query::QueryError;

/// Arguments of which some fit each step and each predicate.
const ARGUMENTS: &[&str] = &[
    "",
    "'a'",
    "1",
    "1, 2",
    "'a', 'b'",
    "__.out()",
    "__.out(), __.in()",
    "[a: 1]",
    "[1]",
    "P.eq(1)",
    "sum",
    "Direction.OUT",
    "DT.day, 1",
    "GType.INT",
    "'00000000-0000-0000-0000-000000000000'",
    "__.as('a').out().as('b')",
];

/// Words of the page that are modulators of the steps before them.
const MODULATORS: &[&str] = &["by", "option", "from", "with"];

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/gremlin.md");
    std::fs::read_to_string(path).expect("the page")
}

/// The words in code between two phrases of the page.
fn words(from: &str, to: &str) -> BTreeSet<String> {
    let page = page();
    let (_, rest) = page.split_once(from).expect(from);
    let (listed, _) = rest.split_once(to).expect(to);
    let code = listed.split('`').skip(1).step_by(2);
    code.flat_map(str::split_whitespace)
        .map(|word| word.trim_end_matches(',').to_owned())
        .collect()
}

/// Whether some call runs: one that is parsed, and not refused as unsupported.
fn runs(call: impl Fn(&str) -> String) -> bool {
    ARGUMENTS.iter().any(|arguments| {
        let text = call(arguments);
        parse_traversal(&text).is_ok_and(|traversal| {
            let bound = bind(&traversal, &NoVariables);
            !matches!(bound, Err(QueryError::Unsupported(_)))
        })
    })
}

fn step_runs(name: &str) -> bool {
    runs(|arguments| format!("g.{name}({arguments})"))
        || runs(|arguments| format!("g.V().{name}({arguments})"))
}

#[test]
fn the_page_lists_the_steps_that_run_and_those_that_do_not() {
    let offered = words("Traversals of these steps:", "Sources take");
    let refused = words("The server refuses the steps", ".");
    for name in &offered {
        assert!(StepName::from_text(name).is_some(), "{name} is no step");
        assert!(step_runs(name), "{name} is on the page and refused");
    }
    for name in &refused {
        assert!(StepName::from_text(name).is_some(), "{name} is no step");
        assert!(!step_runs(name), "{name} runs");
    }
    let all = StepName::ALL.iter().map(|name| name.text());
    let missing: Vec<&str> = all
        .filter(|name| !MODULATORS.contains(name))
        .filter(|name| !offered.contains(*name) && !refused.contains(*name))
        .collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
}

#[test]
fn the_page_lists_the_predicates_that_run_and_those_that_do_not() {
    let offered = words("- Predicates:", "HugeGraph's");
    let huge = words("HugeGraph's predicates", "The server refuses");
    let refused = words("The server refuses the predicates", "`.");
    for name in offered.iter().chain(&huge) {
        let is_known = runs(|arguments| format!("g.inject(1).is({name}({arguments}))"));
        assert!(is_known, "{name} is on the page and refused");
    }
    for name in &refused {
        let text = format!("g.inject(1).is({name}('a'))");
        let traversal = parse_traversal(&text).expect(name);
        let bound = bind(&traversal, &NoVariables);
        assert!(
            matches!(bound, Err(QueryError::Unsupported(_))),
            "{name} runs"
        );
    }
    let listed = |name: &str| {
        let forms = [
            name.to_owned(),
            format!("TextP.{name}"),
            format!("ConditionP.{name}"),
        ];
        forms
            .iter()
            .any(|form| offered.contains(form) || refused.contains(form))
    };
    let all = PredicateName::ALL.iter().map(|name| name.text());
    let missing: Vec<&str> = all.filter(|name| !listed(name)).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
}
