//! Which texts are read, as what, and which are refused with what error.

#[path = "support/texts.rs"]
mod texts;

use varve_cypher::tree::{Clause, ExpressionKind, Span, StatementKind};
use varve_cypher::{ErrorKind, parse};

#[test]
fn a_tree_prints_as_it_was_written() {
    for text in texts::SAME {
        let tree = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(tree.to_string(), text.replace('"', "'"));
    }
}

#[test]
fn spellings_that_mean_the_same_are_the_same_tree() {
    for (text, printed) in texts::OTHER {
        let tree = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(tree.to_string(), *printed, "{text}");
        let again = parse(printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
        assert!(again == tree || printed.contains("NaN"), "{text}");
    }
}

#[test]
fn texts_of_clients_are_read() {
    for text in texts::CLIENTS {
        let tree = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(parse(&tree.to_string()).as_ref(), Ok(&tree), "{text}");
    }
}

/// Texts that are refused: the error, and what the message says.
const REFUSED: &[(&str, ErrorKind, &str)] = &[
    ("", ErrorKind::UnexpectedSyntax, "no statement"),
    (
        "RETURN",
        ErrorKind::UnexpectedSyntax,
        "the text ends where an expression",
    ),
    (
        "RETRUN 1",
        ErrorKind::UnexpectedSyntax,
        "unexpected 'RETRUN', expected a clause",
    ),
    (
        "MATCH (n RETURN n",
        ErrorKind::UnexpectedSyntax,
        "unexpected 'RETURN', expected ')'",
    ),
    (
        "RETURN 'a",
        ErrorKind::UnexpectedSyntax,
        "a string does not end",
    ),
    (
        "RETURN `a",
        ErrorKind::UnexpectedSyntax,
        "backticks does not end",
    ),
    (
        "RETURN 1 /* a",
        ErrorKind::UnexpectedSyntax,
        "a comment begins",
    ),
    ("RETURN '\\d'", ErrorKind::UnexpectedSyntax, "is no escape"),
    (
        "RETURN {k1#k: 1}",
        ErrorKind::UnexpectedSyntax,
        "'#' has no meaning",
    ),
    (
        "RETURN 1; RETURN 2",
        ErrorKind::NotSupported,
        "a second statement",
    ),
    (
        "RETURN (n)-->()",
        ErrorKind::UnexpectedSyntax,
        "a pattern is a condition",
    ),
    (
        "RETURN size((n)-->())",
        ErrorKind::UnexpectedSyntax,
        "a pattern is a condition",
    ),
    (
        "RETURN 12a",
        ErrorKind::InvalidNumberLiteral,
        "'12a' is not a number",
    ),
    ("RETURN 012", ErrorKind::InvalidNumberLiteral, "0o"),
    ("RETURN 1__0", ErrorKind::InvalidNumberLiteral, "'1__0'"),
    (
        "RETURN 9223372036854775808",
        ErrorKind::IntegerOverflow,
        "64 bits",
    ),
    ("RETURN 1e400", ErrorKind::FloatingPointOverflow, "64 bits"),
    (
        "RETURN '\\uD83D'",
        ErrorKind::InvalidUnicodeLiteral,
        "U+D83D",
    ),
    ("RETURN 42 — 41", ErrorKind::InvalidUnicodeCharacter, "'—'"),
    (
        "MATCH ()-[*-2]->() RETURN 1",
        ErrorKind::InvalidRelationshipPattern,
        "*1..3",
    ),
    (
        "MATCH ()-[*1]->{2}() RETURN 1",
        ErrorKind::InvalidRelationshipPattern,
        "quantifier",
    ),
    (
        "CREATE ()-->()",
        ErrorKind::NoSingleRelationshipType,
        "exactly one type",
    ),
    (
        "CREATE ()-[:A]-()",
        ErrorKind::RequiresDirectedRelationship,
        "direction",
    ),
    (
        "CREATE ()-[:A*2]->()",
        ErrorKind::CreatingVarLength,
        "length",
    ),
    (
        "CREATE (:A|B)",
        ErrorKind::UnexpectedSyntax,
        "names of labels",
    ),
    (
        "MATCH (n $p) RETURN n",
        ErrorKind::InvalidParameterUse,
        "CREATE",
    ),
    (
        "MATCH (n)",
        ErrorKind::InvalidClauseComposition,
        "does not end with MATCH",
    ),
    (
        "RETURN 1 MATCH (n)",
        ErrorKind::InvalidClauseComposition,
        "RETURN is the last",
    ),
    (
        "RETURN 1 UNION RETURN 2 UNION ALL RETURN 3",
        ErrorKind::InvalidClauseComposition,
        "mixed",
    ),
    (
        "RETURN EXISTS { CREATE () }",
        ErrorKind::InvalidClauseComposition,
        "EXISTS",
    ),
    (
        "RETURN COLLECT { MATCH (n) }",
        ErrorKind::InvalidClauseComposition,
        "RETURN",
    ),
    (
        "FOREACH (x IN [1] | MATCH (n))",
        ErrorKind::InvalidClauseComposition,
        "FOREACH",
    ),
    (
        "CALL p YIELD x RETURN x",
        ErrorKind::InvalidArgumentPassingMode,
        "parentheses",
    ),
    ("MATCH (n) DELETE n:A", ErrorKind::InvalidDelete, "REMOVE"),
    (
        "MATCH (n) FOR SYSTEM_TIME AS OF 1 RETURN n",
        ErrorKind::InvalidClauseComposition,
        "before the first clause",
    ),
    (
        "LOAD CSV FROM 'x' AS row RETURN row",
        ErrorKind::NotSupported,
        "LOAD CSV",
    ),
    (
        "MATCH ((a)-->(b)){2} RETURN a",
        ErrorKind::NotSupported,
        "path pattern",
    ),
    (
        "MATCH p = SHORTEST 1 (a)--+(b) RETURN p",
        ErrorKind::NotSupported,
        "SHORTEST",
    ),
    (
        "MATCH REPEATABLE ELEMENTS (a) RETURN a",
        ErrorKind::NotSupported,
        "REPEATABLE",
    ),
    ("SHOW USERS", ErrorKind::NotSupported, "SHOW USERS"),
    ("CREATE USER a", ErrorKind::NotSupported, "CREATE USER"),
    (
        "CREATE INDEX ON :A(x)",
        ErrorKind::NotSupported,
        "CREATE INDEX FOR",
    ),
    ("CYPHER 3.5 RETURN 1", ErrorKind::NotSupported, "CYPHER 3.5"),
    ("GRANT x", ErrorKind::NotSupported, "GRANT"),
];

#[test]
fn errors_have_the_details_of_the_tck_and_say_what_was_expected() {
    for (text, kind, message) in REFUSED {
        let error = parse(text).expect_err(text);
        assert_eq!(error.kind, *kind, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
        assert_eq!((kind.name(), kind.phase()), ("SyntaxError", "compile time"));
    }
}

#[test]
fn an_error_has_its_position() {
    let error = parse("MATCH (n)\r\nRETURN 'ü', n.\n  +").expect_err("no property");
    assert_eq!((error.line, error.column), (3, 3));
    assert_eq!(
        error.to_string(),
        "SyntaxError: UnexpectedSyntax: line 3, column 3: \
         unexpected '+', expected the name of a property"
    );
    let text = "RETURN 12a";
    let error = parse(text).expect_err("no number");
    assert_eq!(error.span.of(text), "12a");
}

/// The text of a span, for a tree that has one column.
fn column(text: &str) -> (ExpressionKind, Span) {
    let StatementKind::Query(query) = parse(text).expect(text).kind else {
        panic!("{text}: no query");
    };
    let Some(Clause::Return(projection)) = query.branches[0].clauses.last() else {
        panic!("{text}: no RETURN");
    };
    let expression = projection.items[0].expression.clone();
    (expression.kind, expression.span)
}

#[test]
fn a_span_names_a_column_as_it_was_written() {
    for written in [
        "(a)",
        "n . x",
        "count( * )",
        "1+2",
        "-  1",
        "NOT(a)",
        "a:B",
        "[x IN y|x]",
    ] {
        let text = format!("RETURN  {written}  ,  2");
        assert_eq!(column(&text).1.of(&text), written);
    }
}

#[test]
fn operators_bind_as_opencypher_says() {
    let pairs = [
        ("a OR b XOR c AND d", "a OR (b XOR (c AND d))"),
        ("NOT a = b", "NOT (a = b)"),
        ("NOT a AND b", "(NOT a) AND b"),
        ("a = b IS NULL", "a = (b IS NULL)"),
        ("a + b IN c", "(a + b) IN c"),
        ("a IN b = c", "(a IN b) = c"),
        ("a + b * c ^ -d", "a + (b * (c ^ (-d)))"),
        ("-a ^ b", "(-a) ^ b"),
        ("-a.b[c]", "-((a.b)[c])"),
        ("a || b = c", "(a || b) = c"),
        ("a < b + c", "a < (b + c)"),
        ("a.b:C AND d", "((a.b):C) AND d"),
        ("a IN b IS NOT NULL", "(a IN b) IS NOT NULL"),
    ];
    for (text, explicit) in pairs {
        let [one, other] = [text, explicit].map(|text| column(&format!("RETURN {text}")).0);
        assert_eq!(one, other, "{text}");
    }
    let [one, other] = ["a - b - c", "a - (b - c)"].map(|text| column(&format!("RETURN {text}")).0);
    assert_ne!(one, other);
    let [one, other] = ["a < b < c", "(a < b) < c"].map(|text| column(&format!("RETURN {text}")).0);
    assert_ne!(one, other);
}

#[test]
fn parentheses_are_patterns_only_if_a_path_follows() {
    let is_pattern = |text: &str| {
        matches!(
            column(&format!("RETURN NOT {text}")).0,
            ExpressionKind::Not(inner) if matches!(inner.kind, ExpressionKind::Pattern(_))
        )
    };
    for text in [
        "(a)-->(b)",
        "(a:B)<--()",
        "()-[r]-()",
        "(a {x: 1})-[:R*]->(b)",
        "(a WHERE a.x)--()",
    ] {
        assert!(is_pattern(text), "{text}");
    }
    for text in [
        "(a)",
        "(a)-(b)",
        "(a)-[1]",
        "(a)<-b",
        "(a:B)",
        "(a)--1",
        "(a + b)--(c)",
    ] {
        assert!(!is_pattern(text), "{text}");
    }
}
