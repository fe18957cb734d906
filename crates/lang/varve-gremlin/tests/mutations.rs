//! Damaged texts: parts of valid ones removed, duplicated, swapped and mixed. No text makes the
//! parser panic. What it still accepts is printed as a text that is parsed into an equal tree.
//!
//! `VARVE_FUZZ_ROUNDS` sets the number of texts, `VARVE_FUZZ_SEED` the seed. A failure prints both.
//! With `VARVE_GREMLIN_FEATURES`, the texts of TinkerPop's scenarios are damaged too.

#[path = "support/encode.rs"]
mod encode;
#[path = "support/features.rs"]
mod features;

use varve_gremlin::bytecode::from_bytecode;
use varve_gremlin::tree::{Argument, StatementKind};
use varve_gremlin::{ParseError, parse_script};

/// Takes a second or two.
const ROUNDS_DEFAULT: u64 = 50_000;

/// Texts that use every rule of the grammar.
const TEXTS: &[&str] = &[
    "g.withSack(1.0f, Operator.sum).withSideEffect('a', {1, 2}).V(1L, 'b').as('x').out('knows').has('age', gt(27).and(lt(3).negate())).path()",
    "g.mergeV([(T.label): 'person', name: 'marko']).option(Merge.onCreate, [age: Cardinality.list(33)]).option(onMatch, null)",
    "g.withStrategies(new SubgraphStrategy(vertices: __.hasLabel('person'), edges: __.not(__.has('w')))).V().repeat(both().simplePath()).until(hasId(2)).emit()",
    "g.inject(1b, 2s, 3n, 4.5m, NaN, -Infinity, 0x1F, 017, 1..3, null, true, datetime('2023-08-02T00:00:00Z'), UUID(), [:], {}, \"\\u00e9\\n\")",
    "g.V().choose(__.out().count()).option(P.within(1, 2), __.id()).option(Pick.none, discard()).valueMap().with(WithOptions.tokens)",
    "def res = [:];\nres.n = g.V().count().next();\nfor (int i = 0; i < 10; i++) { if (i % 2 == 0) { continue } else list << i }\nreturn res;",
    "try { sleep(200) } catch (InterruptedException | Error e) { break; } finally { x = y ? z : -1 }\nfor (v in g.V().toList()) v.value('name') // a\n/* b */",
    "schema = graph.schema(); schema.vertexLabel('p').properties('a', 'b').primaryKeys('a').create(); x = list[0].size() ?: m['k']++",
];

/// Fragments to insert.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ".",
    "..",
    ",",
    ":",
    ";",
    "\n",
    "'",
    "\"",
    "\\",
    "//",
    "/*",
    "g.",
    "__.",
    "P.",
    "T.",
    "not(",
    "and(",
    "1",
    "-",
    "L",
    "e9",
    "null",
    "new ",
    "in",
    "def ",
    "if (",
    "->",
    "=",
    "?",
    "é",
    "\u{1F600}",
    "\u{0}",
];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// A random position between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut place = self.below(text.len() + 1);
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        place
    }

    /// A random part of a text, usually a short one.
    fn part(&mut self, text: &str) -> (usize, usize) {
        let start = self.place(text);
        let length = if self.below(4) == 0 { text.len() } else { 12 };
        let mut end = (start + self.below(length + 1)).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        (start, end.max(start))
    }

    fn damage(&mut self, text: &mut String, other: &str) {
        let (start, end) = self.part(text);
        match self.below(5) {
            0 => text.replace_range(start..end, ""),
            1 => {
                let part = text[start..end].to_owned();
                let place = self.place(text);
                text.insert_str(place, &part);
            }
            2 => {
                let (from, to) = self.part(other);
                text.replace_range(start..end, &other[from..to]);
            }
            3 => text.insert_str(start, PIECES[self.below(PIECES.len())]),
            _ => text.truncate(end),
        }
    }
}

/// Parses the text. A valid one is printed, parsed again and, if possible, sent as bytecode.
fn check(text: &str) {
    let tree = match parse_script(text) {
        Ok(tree) => tree,
        Err(ParseError { span, line, .. }) => {
            assert!(span.start as usize <= text.len() && span.start <= span.end && line > 0);
            return;
        }
    };
    let printed = tree.to_string();
    let again = parse_script(&printed).unwrap_or_else(|error| panic!("{printed}: {error}"));
    assert!(again == tree || printed.contains("NaN"), "{printed}");
    assert_eq!(again.to_string(), printed);
    if let [statement] = tree.statements.as_slice()
        && let StatementKind::Expression(Argument::Traversal(traversal)) = &statement.kind
        && let Some(bytecode) = encode::encode(traversal)
    {
        let _ = from_bytecode(bytecode);
    }
}

fn number_from(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().expect("a whole number"),
        Err(_) => default,
    }
}

#[test]
fn damaged_texts_never_panic_and_what_is_read_prints_to_itself() {
    let rounds = number_from("VARVE_FUZZ_ROUNDS", ROUNDS_DEFAULT);
    let seed = number_from("VARVE_FUZZ_SEED", 2026);
    let mut texts: Vec<String> = TEXTS.iter().map(|text| (*text).to_owned()).collect();
    if std::env::var("VARVE_GREMLIN_FEATURES").is_ok() {
        let scenarios = features::scenarios();
        texts.extend(scenarios.into_iter().flat_map(|scenario| {
            let name = [scenario.name];
            scenario.texts.into_iter().chain(name)
        }));
    }
    let mut random = Random(seed);
    for round in 0..rounds {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(3) {
            let other = random.below(texts.len());
            random.damage(&mut text, &texts[other]);
        }
        let outcome = std::panic::catch_unwind(|| check(&text));
        assert!(
            outcome.is_ok(),
            "VARVE_FUZZ_SEED={seed}, round {round}, text {text:?}"
        );
    }
}

#[test]
fn a_zero_with_an_exponent_prints_to_itself() {
    for text in ["g.inject(0e9m)", "g.inject(5e9m)", "g.inject(0.00m, 1.50m)"] {
        check(text);
    }
}
