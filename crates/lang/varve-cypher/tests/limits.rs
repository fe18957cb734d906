//! Limits of the parser: errors instead of long work, and never a panic.

#[path = "support/texts.rs"]
mod texts;

use proptest::prelude::*;
use varve_cypher::{ErrorKind, NESTING_MAX, parse};

/// The stack size of the threads that parse hostile texts: half of Rust's default for threads.
const STACK_BYTES: usize = 1 << 20;

/// Parses, prints, compares, clones and drops on a small stack.
fn exercise(text: String) -> Result<String, ErrorKind> {
    let work = move || {
        let tree = parse(&text).map_err(|error| error.kind)?;
        assert!(tree == tree.clone() || tree.to_string().contains("NaN"));
        Ok(tree.to_string())
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let thread = thread.spawn(work).expect("a thread");
    thread.join().expect("no panic")
}

/// Nested expressions: the opening, the innermost part, and the closing.
const NESTINGS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{a: ", "1", "}"),
    ("f(", "1", ")"),
    ("NOT ", "x", ""),
    ("NOT(", "x", ")"),
    ("- ", "x", ""),
    ("+ - ", "x", ""),
    ("1 + (", "1", ")"),
    ("a OR b XOR c AND NOT d = e IN f + g * h ^ -(", "1", ")"),
    ("", "x", ".a"),
    ("", "x", "[1]"),
    ("", "x", " IS NULL"),
    ("x[", "1", "]"),
    ("x[1..", "1", "]"),
    ("(", "x", ".a)"),
    ("(", "x", " + 1)"),
    ("CASE WHEN ", "x", " THEN 1 END"),
    ("CASE ", "x", " WHEN 1 THEN 1 END"),
    ("[x IN ", "x", "]"),
    ("[x IN y WHERE ", "x", " | 1]"),
    ("[(a)-->(b) | ", "x", "]"),
    ("[(a {x: ", "x", "})-->(b) | x]"),
    ("n {x: ", "1", "}"),
    ("reduce(a = 0, b IN c | ", "1", ")"),
    ("all(x IN y WHERE ", "x", ")"),
    ("exists((a {x: ", "1", "})-->())"),
    ("EXISTS { RETURN ", "1", " AS a }"),
    ("EXISTS { MATCH (a WHERE ", "x", ") }"),
    ("COUNT { (a {x: ", "1", "}) }"),
    ("x:$(", "x", ")"),
];

/// Other constructs that nest.
const OTHERS: &[(&str, &str, &str)] = &[
    ("CALL { ", "CREATE ()", " }"),
    ("CALL () { RETURN 1 AS a UNION ", "RETURN 1 AS a", " }"),
    ("FOREACH (x IN y | ", "CREATE ()", ")"),
];

fn nested((open, middle, close): &(&str, &str, &str), levels: usize) -> String {
    format!("{}{middle}{}", open.repeat(levels), close.repeat(levels))
}

#[test]
fn whatever_nests_does_so_up_to_a_limit() {
    for nesting in NESTINGS {
        for levels in [1, 4, 8] {
            let text = format!("RETURN {}", nested(nesting, levels));
            let fits = exercise(text.clone());
            assert!(fits.is_ok(), "{text}: {fits:?}");
        }
        for levels in [usize::from(NESTING_MAX) + 1, 10_000] {
            let refused = exercise(format!("RETURN {}", nested(nesting, levels)));
            assert_eq!(refused, Err(ErrorKind::TooDeep), "{nesting:?} {levels}");
        }
    }
    for nesting in OTHERS {
        for levels in [1, 4, 8] {
            let fits = exercise(nested(nesting, levels));
            assert!(fits.is_ok(), "{nesting:?} {levels}: {fits:?}");
        }
        for levels in [usize::from(NESTING_MAX) + 1, 10_000] {
            let refused = exercise(nested(nesting, levels));
            assert_eq!(refused, Err(ErrorKind::TooDeep), "{nesting:?} {levels}");
        }
    }
    for (open, close) in [("LIST<", ">"), ("ANY<", ">"), ("", " LIST")] {
        let typed = |levels| format!("RETURN x IS :: {}", nested(&(open, "INT", close), levels));
        assert!(exercise(typed(60)).is_ok(), "{open}{close}");
        assert_eq!(
            exercise(typed(10_000)),
            Err(ErrorKind::TooDeep),
            "{open}{close}"
        );
    }
}

#[test]
fn a_hundred_parentheses_lists_and_properties_are_few_enough() {
    for nesting in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("f(", "1", ")"),
        ("", "x", ".a"),
    ] {
        let fits = exercise(format!("RETURN {}", nested(&nesting, 100)));
        assert!(fits.is_ok(), "{nesting:?}: {fits:?}");
    }
}

#[test]
fn two_ways_to_nest_make_no_tree_that_is_higher() {
    for (open, _, close) in NESTINGS {
        for (first, _, last) in NESTINGS.iter().chain(OTHERS) {
            for levels in [40, 64, 128] {
                let (open, close) = (format!("{open}{first}"), format!("{last}{close}"));
                let text = format!("RETURN {}1{}", open.repeat(levels), close.repeat(levels));
                // Whether the text is valid depends on the pair. It must not panic.
                let _ = exercise(text);
            }
        }
    }
}

#[test]
fn lists_and_chains_of_operators_are_not_nested() {
    for (first, more) in [
        ("RETURN 1", " OR a.b = 1"),
        ("RETURN 1", " + 1"),
        ("RETURN 1", " < 1"),
        ("RETURN [1", ", a.b.c"),
        ("MATCH (a)", "-->(b)"),
        ("MATCH (a)", ", (b {x: 1})"),
        ("RETURN 1 AS a", " UNION RETURN 1 AS a"),
        ("RETURN 1 AS a", " NEXT RETURN a"),
        ("CREATE ()", " SET a.b = 1"),
        ("RETURN CASE", " WHEN 1 THEN 2"),
        ("MATCH (a:A", "|B"),
        ("CALL p.q", ".r"),
    ] {
        let end = match first {
            "RETURN [1" => "]",
            "RETURN CASE" => " END",
            "MATCH (a:A" => ") FINISH",
            first if first.starts_with("MATCH") => " FINISH",
            _ => "",
        };
        let text = format!("{first}{}{end}", more.repeat(5_000));
        let fits = exercise(text);
        assert!(fits.is_ok(), "{first}{more}: {:?}", fits.err());
    }
}

/// Work quadratic in the length of these texts would take hours.
#[test]
fn a_mebibyte_of_any_one_part_ends_without_a_panic() {
    for part in [
        "a=1;",
        "x ",
        "/* a */",
        "\n",
        "(",
        "((a)-",
        "[",
        "{",
        "{a:",
        "[x IN ",
        "'",
        "\"\\",
        "1+",
        "`",
        "``",
        "$",
        "a.",
        "a.b(",
        "é",
        "RETURN ",
        "MATCH (n) ",
        "CASE ",
        "NOT ",
        "-",
        "(a)-[",
        "EXISTS {",
        "CALL {",
        "(a)--",
        "[(a)-->(b)|",
        "x:",
        "::",
        "IS ",
        "n{",
    ] {
        let fill = part.repeat((1 << 20) / part.len());
        let _ = exercise(fill.clone());
        let _ = exercise(format!("RETURN {fill}"));
        let _ = exercise(format!("MATCH {fill}"));
    }
}

/// Parts of texts, of which random sequences reach deep into the grammar.
const PARTS: &[&str] = &[
    "MATCH ",
    "RETURN ",
    "WHERE ",
    "WITH ",
    "CREATE ",
    "MERGE ",
    "SET ",
    "DELETE ",
    "CALL ",
    "UNWIND ",
    "AS ",
    "(n)",
    "(",
    ")",
    "()",
    "-[",
    "]->",
    "-->",
    "--",
    "<--",
    "[",
    "]",
    "{",
    "}",
    ":",
    ":A",
    "|",
    "&",
    "!",
    "%",
    ";",
    ",",
    ".",
    "..",
    "*",
    "*1..3",
    "$p",
    "$0",
    "n",
    "n.x",
    "1",
    "-",
    "+",
    "2.5",
    ".5",
    "0x1F",
    "'a'",
    "\"b\"",
    "`c`",
    "`",
    "'",
    "null ",
    "NaN ",
    "Infinity ",
    "NOT ",
    "AND ",
    "OR ",
    "IN ",
    "IS ",
    "NULL ",
    ":: INT ",
    "=",
    "<",
    ">=",
    "=~",
    "^",
    "||",
    "+=",
    "CASE ",
    "WHEN ",
    "THEN ",
    "END ",
    "EXISTS {",
    "COUNT {",
    "count(*)",
    "count(",
    "all(x IN ",
    "reduce(a = 0, x IN ",
    "shortestPath(",
    "FOR ",
    "VALID_TIME ",
    "AS OF ",
    "FROM ",
    "TO ",
    "UNION ",
    "NEXT ",
    "FOREACH (x IN ",
    "YIELD ",
    "ORDER BY ",
    "LIMIT ",
    "DISTINCT ",
    "IF ",
    "INDEX ",
    "ON ",
    "SHOW ",
    "INDEXES ",
    "EXPLAIN ",
    "//",
    "/*",
    "*/",
    "\\",
    "é",
    "\u{1F600}",
    " ",
];

/// A valid text, in which some bytes are removed, repeated, or replaced by a part.
fn mutated() -> impl Strategy<Value = String> {
    let all = texts::SAME
        .iter()
        .copied()
        .chain(texts::OTHER.iter().map(|(text, _)| *text));
    let all: Vec<&str> = all.chain(texts::CLIENTS.iter().copied()).collect();
    let change = (
        any::<prop::sample::Index>(),
        0..12_usize,
        0..PARTS.len(),
        0..4_u8,
    );
    (
        prop::sample::select(all),
        prop::collection::vec(change, 0..4),
    )
        .prop_map(|(text, changes)| {
            let mut text = text.to_owned();
            for (place, length, part, kind) in changes {
                let start = text.floor_char_boundary(place.index(text.len() + 1));
                let end = text.floor_char_boundary((start + length).min(text.len()));
                let old = text[start..end].to_owned();
                let new = match kind {
                    0 => String::new(),
                    1 => old.repeat(2),
                    2 => format!("({old})"),
                    _ => PARTS[part].to_owned(),
                };
                text.replace_range(start..end, &new);
            }
            text
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_characters_never_panic(text in "\\PC{0,200}") {
        let _ = exercise(text);
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = exercise(String::from_utf8_lossy(&bytes).into_owned());
    }

    #[test]
    fn random_parts_are_read_as_a_tree_that_prints_to_itself(
        parts in prop::collection::vec(0..PARTS.len(), 0..20),
    ) {
        let parts: String = parts.into_iter().map(|part| PARTS[part]).collect();
        for text in [parts.clone(), format!("RETURN {parts}"), format!("MATCH (n) WHERE {parts} FINISH")] {
            if let Ok(printed) = exercise(text.clone()) {
                prop_assert_eq!(exercise(printed.clone()), Ok(printed), "{}", text);
            }
        }
    }

    #[test]
    fn mutated_texts_print_to_themselves_or_are_refused(text in mutated()) {
        if let Ok(printed) = exercise(text.clone()) {
            prop_assert_eq!(exercise(printed.clone()), Ok(printed), "{}", text);
        }
    }
}
