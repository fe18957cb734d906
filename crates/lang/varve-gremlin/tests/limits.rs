//! Limits of the parser: errors with codes instead of long work, and never a panic.

use proptest::prelude::*;
use varve_gremlin::{ErrorCode, NESTING_MAX, SCRIPT_BYTES_MAX, STEPS_MAX, parse_script};

/// The stack size of the threads that parse hostile texts: half of Rust's default for threads.
const STACK_BYTES: usize = 1 << 20;

/// Parses, prints, compares, clones and drops on a small stack.
fn exercise(text: String) -> Result<String, ErrorCode> {
    let work = move || {
        let tree = parse_script(&text).map_err(|error| error.code)?;
        assert!(tree == tree.clone() || tree.to_string().contains("NaN"));
        Ok(tree.to_string())
    };
    let thread = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(work);
    thread.expect("a thread").join().expect("no panic")
}

#[test]
fn a_text_is_at_most_a_mebibyte() {
    let text = format!("g.V('{}')", "a".repeat(SCRIPT_BYTES_MAX));
    assert_eq!(exercise(text), Err(ErrorCode::TooLong));
    let text = format!("g.V('{}')", "a".repeat(SCRIPT_BYTES_MAX - 8));
    assert!(exercise(text).is_ok());
}

#[test]
fn a_text_has_at_most_ten_thousand_steps() {
    let text = |steps: usize| format!("g.V(){}", ".out()".repeat(steps - 1));
    assert!(exercise(text(STEPS_MAX)).is_ok());
    assert_eq!(exercise(text(STEPS_MAX + 1)), Err(ErrorCode::TooManySteps));
}

/// Nested constructs: the opening, the innermost part, and the closing.
const NESTINGS: &[(&str, &str, &str)] = &[
    ("__.map(", "__.id()", ")"),
    ("map(", "id()", ")"),
    ("not(", "out()", ")"),
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("[a: ", "1", "]"),
    ("[(", "1", "): 1]"),
    ("{", "1", "}"),
    ("datetime(", "x", ")"),
    ("UUID(", "x", ")"),
    ("list(", "1", ")"),
    ("new Vertex(1, ", "'a'", ")"),
    ("within([", "1", "])"),
    ("not(", "eq(1)", ")"),
    ("eq(1).and(", "eq(1)", ")"),
    ("x.get(", "1", ")"),
    ("x[", "1", "]"),
    ("- ", "x", ""),
    ("!", "x", ""),
    ("+ ! ", "x", ""),
    ("x ? ", "1", " : 1"),
    ("x ? 1 : ", "1", ""),
    ("x = ", "1", ""),
    ("1 + (", "1", ")"),
    ("", "1", " + 1"),
    ("", "1", " ** 1"),
    ("", "x", ".a"),
    ("", "x", ".get(1)"),
    ("", "x", "[1]"),
    ("", "eq(1)", ".and(eq(2)).or(eq(3))"),
    ("", "eq(1)", ".negate().and(eq(2)).or(eq(3))"),
    ("g.V(", "1", ").next()"),
    ("SubgraphStrategy(vertices: ", "out()", ")"),
    ("if (x) ", "y", ""),
    ("if (x) {", "y", "}"),
    ("if (x) y else ", "y", ""),
    ("while (x) ", "y", ""),
    ("for (x in y) {", "z", "}"),
    ("try {", "z", "} finally {}"),
];

#[test]
fn whatever_nests_does_so_up_to_a_limit() {
    let nested = |(open, middle, close): &(&str, &str, &str), levels: usize| {
        format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
    };
    for nesting in NESTINGS {
        for levels in [1, 20, 60] {
            let text = nested(nesting, levels);
            let fits = exercise(text.clone());
            assert!(fits.is_ok(), "{text}: {fits:?}");
        }
        let most = SCRIPT_BYTES_MAX / (nesting.0.len() + nesting.2.len()) - 4;
        for levels in [usize::from(NESTING_MAX) + 1, 10_000, most] {
            let refused = exercise(nested(nesting, levels));
            assert!(
                matches!(refused, Err(ErrorCode::TooDeep | ErrorCode::TooManySteps)),
                "{nesting:?} {levels}: {:?}",
                refused.map(|text| text.len())
            );
        }
    }
}

#[test]
fn two_ways_to_nest_make_no_tree_that_is_higher() {
    for (open, close) in NESTINGS.iter().flat_map(|(open, _, close)| {
        NESTINGS
            .iter()
            .map(move |(first, _, last)| (format!("{open}{first}"), format!("{last}{close}")))
    }) {
        for levels in [100, 300] {
            let text = format!("{}1{}", open.repeat(levels), close.repeat(levels));
            // Whether the text is valid depends on the pair. It must not panic.
            let _ = exercise(text);
        }
    }
}

/// Work quadratic in the length of these texts would take hours.
#[test]
fn a_mebibyte_of_any_one_part_ends_without_a_panic() {
    let fill = |part: &str| part.repeat(SCRIPT_BYTES_MAX / part.len());
    let texts = [
        fill("a=1;"),
        fill("x "),
        fill("/* a */"),
        fill("\n"),
        fill("("),
        fill("{"),
        fill("{a,"),
        fill("not("),
        fill("g.V() "),
        fill("'"),
        fill("\"\\"),
        fill("1+"),
        fill("if(x)"),
        fill("A<"),
        fill("[a:"),
        fill("é"),
        format!("g.inject({}0)", fill("0,").split_off(16)),
        format!("'{}'", fill("\\u0041").split_off(8)),
        (0..100_000).map(|number| format!("a{number}=1;")).collect(),
    ];
    for text in texts {
        let _ = exercise(text);
    }
}

/// Parts of texts, of which random sequences reach deep into the grammar.
const PARTS: &[&str] = &[
    "g",
    ".",
    "V",
    "(",
    ")",
    "()",
    "out('a')",
    "__",
    "has",
    "'a'",
    "\"b\"",
    ",",
    "[",
    "]",
    "{",
    "}",
    ":",
    ";",
    "\n",
    " ",
    "1",
    "-",
    "2L",
    "3.5",
    "1.5m",
    "..",
    "null",
    "true",
    "NaN",
    "Infinity",
    "T.id",
    "id",
    "desc",
    "P.",
    "gt(1)",
    "not(",
    "within(",
    ".and(",
    ".or(",
    ".negate()",
    "new ",
    "Vertex(1,'a')",
    "SubgraphStrategy",
    "withStrategies(",
    "withSack(1)",
    "if",
    "for",
    "while",
    "try",
    "catch",
    "in",
    "def x =",
    "x",
    "=",
    "==",
    "+",
    "*",
    "?",
    "->",
    "<",
    ">",
    "repeat(",
    "by(",
    "option(",
    "mergeV(",
    "datetime('2020-01-01')",
    "UUID(",
    "list(1)",
    "Cardinality.",
    "WithOptions.",
    "//",
    "/*",
    "*/",
    "'",
    "\"",
    "\\",
    "$",
    "é",
    "\u{1F600}",
    "next()",
    "toList()",
    "tx().commit()",
    "System.",
    "x.y",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_characters_never_panic(text in "\\PC{0,200}") {
        let _ = exercise(text);
    }

    #[test]
    fn random_parts_are_read_as_a_tree_that_prints_to_itself(parts in prop::collection::vec(0..PARTS.len(), 0..30)) {
        let text: String = parts.into_iter().map(|part| PARTS[part]).collect();
        if let Ok(printed) = exercise(text.clone()) {
            prop_assert_eq!(exercise(printed.clone()), Ok(printed), "{}", text);
        }
    }
}
