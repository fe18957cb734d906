//! Another parser, which we did not write, reads the same texts: `open-cypher`, made from the
//! grammar of openCypher 2024.3. Each difference has a known reason.

#[path = "support/features.rs"]
mod features;
#[path = "support/texts.rs"]
mod texts;

use std::collections::BTreeSet;

use varve_cypher::{ErrorKind, ParseError, parse};

/// What only Varve reads, and in which texts it is.
const ONLY_HERE: &[(&str, &str)] = &[
    ("SYSTEM_TIME", "Varve's times"),
    ("VALID_TIME", "Varve's times"),
    ("EXPLAIN", "options of a statement"),
    ("PROFILE", "options of a statement"),
    ("CYPHER", "options of a statement"),
    ("SHOW", "SHOW"),
    ("USING", "hints"),
    ("INDEX", "commands"),
    ("CONSTRAINT", "commands"),
    ("DATABASE", "commands"),
    ("USE", "USE"),
    ("FOREACH", "FOREACH"),
    ("OPTIONAL CALL", "OPTIONAL CALL"),
    ("CALL (", "subqueries of CALL"),
    ("CALL {", "subqueries of CALL"),
    ("FINISH", "GQL"),
    ("INSERT", "GQL"),
    ("LET", "GQL"),
    ("NEXT", "GQL"),
    ("NODETACH", "GQL"),
    ("::", "types"),
    ("$ANY (", "dynamic labels"),
    ("$ (", "dynamic labels"),
    (
        ": Entity | Episodic {",
        "a node with labels after one with '|' in the same MATCH, as (:A|B)-->(:C)",
    ),
    (
        "WHERE x : A |",
        "a label at the end of the condition of a comprehension",
    ),
    ("<-", "'<' and '-' without a blank between them"),
];

/// What only the other parser reads: each error of ours, and how the text or message shows it.
const ONLY_THERE: &[(ErrorKind, &str)] = &[
    // No matter of the grammar, but a parser can tell.
    (ErrorKind::CreatingVarLength, ""),
    (ErrorKind::FloatingPointOverflow, ""),
    (ErrorKind::IntegerOverflow, ""),
    (ErrorKind::InvalidArgumentPassingMode, ""),
    (ErrorKind::InvalidClauseComposition, ""),
    (ErrorKind::InvalidDelete, ""),
    (ErrorKind::InvalidParameterUse, ""),
    (ErrorKind::NoSingleRelationshipType, ""),
    (ErrorKind::RequiresDirectedRelationship, ""),
    (ErrorKind::NotSupported, ""),
    // Numbers such as 012 were octal.
    (ErrorKind::InvalidNumberLiteral, "begins with 0"),
    (ErrorKind::UnexpectedSyntax, "a pattern is a condition"),
    (
        ErrorKind::UnexpectedSyntax,
        "expected a property, or a variable",
    ),
    // They read `DISTINCT ORDER BY`, `{a: 1} {a: 1}` and `CREATE ()*`.
    (ErrorKind::UnexpectedSyntax, "unexpected 'BY'"),
    (ErrorKind::UnexpectedSyntax, "unexpected '{'"),
    (
        ErrorKind::UnexpectedSyntax,
        "unexpected '*', expected a clause",
    ),
];

/// The text's tokens with blanks between them, as they are compared with the markers above.
fn spaced(text: &str) -> String {
    tokens(text).join(" ")
}

/// Whether `NOT` is without an operand, which the other parser reads as a name.
fn names_not(text: &str) -> bool {
    let tokens = tokens(text);
    let after = [
        "AS", "IS", ".", ",", ")", "]", "}", "=", "<>", "<", "<=", ">", ">=",
    ];
    let names = |place: usize| match tokens.get(place + 1) {
        Some(next) => after.iter().any(|word| word.eq_ignore_ascii_case(next)),
        None => true,
    };
    (0..tokens.len()).any(|place| tokens[place].eq_ignore_ascii_case("NOT") && names(place))
}

fn tokens(text: &str) -> Vec<&str> {
    let tokens = open_cypher::lex(text).tokens;
    let tokens = tokens.into_iter().filter_map(|token| token.text(text));
    tokens.filter(|token| !token.trim().is_empty()).collect()
}

/// Whether a marker is in a text, as words of its own.
fn marks(marker: &str, text: &str) -> bool {
    let padded = format!(" {} ", spaced(text).to_uppercase());
    let marker = marker.to_uppercase();
    let is_word = marker
        .chars()
        .all(|next| next.is_alphanumeric() || next == '_');
    if is_word {
        padded.contains(&format!(" {marker} "))
    } else {
        padded.contains(&marker)
    }
}

/// The differences without a known reason. The reasons that apply are added to `used`.
fn compare(text: &str, used: &mut BTreeSet<String>) -> Option<String> {
    match (parse(text), open_cypher::parse(text)) {
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => None,
        (Ok(_), Err(error)) => {
            let known = ONLY_HERE.iter().find(|(marker, _)| marks(marker, text));
            used.extend(known.map(|(marker, _)| (*marker).to_owned()));
            let message = &error.diagnostics()[0].message;
            known
                .is_none()
                .then(|| format!("only here: {message}: {text}"))
        }
        (Err(error), Ok(_)) => {
            let ParseError { kind, message, .. } = &error;
            let mut known = ONLY_THERE.iter();
            let known = known.any(|(known, part)| known == kind && message.contains(part))
                || names_not(text);
            (!known).then(|| format!("only there: {error}: {text}"))
        }
    }
}

/// One of `step` mutations of a text: without one of its tokens, with one twice, or with two in
/// the other order.
fn mutations(text: &str, step: usize) -> impl Iterator<Item = String> {
    let tokens: Vec<String> = tokens(text).into_iter().map(str::to_owned).collect();
    let numbers = (text.len() % step..3 * tokens.len()).step_by(step);
    numbers.map(move |number| {
        let (place, last, mut tokens) = (number / 3, tokens.len() - 1, tokens.clone());
        match number % 3 {
            0 => drop(tokens.remove(place)),
            1 => tokens.insert(place, tokens[place].clone()),
            _ => tokens.swap(place, (place + 1).min(last)),
        }
        tokens.join(" ")
    })
}

fn own_texts() -> impl Iterator<Item = &'static str> {
    let others = texts::OTHER.iter().map(|(text, _)| *text);
    let clients = texts::CLIENTS.iter().copied();
    texts::SAME.iter().copied().chain(others).chain(clients)
}

fn check(texts: impl Iterator<Item = String>) -> (usize, BTreeSet<String>) {
    let (mut compared, mut used, mut wrong) = (0, BTreeSet::new(), Vec::new());
    for text in texts {
        compared += 1;
        wrong.extend(compare(&text, &mut used));
    }
    let found = wrong.len();
    assert!(
        wrong.is_empty(),
        "{found} of {compared}:\n{}",
        wrong.join("\n")
    );
    (compared, used)
}

#[test]
fn our_own_texts_differ_for_known_reasons() {
    let (_, used) = check(own_texts().map(str::to_owned));
    let unused = ONLY_HERE
        .iter()
        .filter(|(marker, _)| !used.contains(*marker));
    let unused: Vec<_> = unused.collect();
    assert!(unused.is_empty(), "no longer differences: {unused:?}");
}

#[test]
fn some_mutations_of_our_own_texts_differ_for_known_reasons() {
    check(own_texts().flat_map(|text| mutations(text, 3)));
}

#[test]
#[ignore = "needs the feature files: run tests/cypher/run.sh"]
fn the_texts_of_the_tck_differ_for_known_reasons() {
    let scenarios = features::scenarios().into_iter();
    let texts = scenarios.flat_map(|scenario| scenario.queries.into_iter().chain(scenario.others));
    let texts: BTreeSet<String> = texts.collect();
    let (compared, _) = check(texts.iter().cloned());
    assert!(compared > 4_000, "{compared}");
    // The other parser takes seconds to refuse a long text.
    let short = texts.iter().filter(|text| text.len() < 300);
    check(short.flat_map(|text| mutations(text, 13)));
}
