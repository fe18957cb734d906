//! Words with a meaning of their own. All of them may be names too; where a name could be read as
//! such a word, the printer writes it in backticks.

/// The words that begin something else where a variable may stand, or follow one. Sorted.
const RESERVED: &[&str] = &[
    "ACYCLIC",
    "ALL",
    "ALLSHORTESTPATHS",
    "AND",
    "ANY",
    "AS",
    "ASC",
    "ASCENDING",
    "BOTH",
    "BY",
    "CALL",
    "CASE",
    "COLLECT",
    "CONCURRENT",
    "CONTAINS",
    "COUNT",
    "CREATE",
    "DELETE",
    "DESC",
    "DESCENDING",
    "DETACH",
    "DIFFERENT",
    "DISTINCT",
    "EACH",
    "ELSE",
    "END",
    "ENDS",
    "EXISTS",
    "FALSE",
    "FILTER",
    "FINISH",
    "FOR",
    "FOREACH",
    "FROM",
    "IF",
    "IN",
    "INF",
    "INFINITY",
    "INSERT",
    "IS",
    "JOIN",
    "LEADING",
    "LET",
    "LIMIT",
    "MATCH",
    "MERGE",
    "NAN",
    "NEXT",
    "NODETACH",
    "NONE",
    "NOT",
    "NULL",
    "OF",
    "OFFSET",
    "ON",
    "OPTIONAL",
    "OPTIONS",
    "OR",
    "ORDER",
    "REDUCE",
    "REMOVE",
    "REPEATABLE",
    "REQUIRE",
    "RETURN",
    "SEARCH",
    "SET",
    "SHORTEST",
    "SHORTESTPATH",
    "SIMPLE",
    "SINGLE",
    "SKIP",
    "STARTS",
    "THEN",
    "TO",
    "TRAIL",
    "TRAILING",
    "TRANSACTIONS",
    "TRIM",
    "TRUE",
    "UNION",
    "UNWIND",
    "USE",
    "USING",
    "WALK",
    "WHEN",
    "WHERE",
    "WITH",
    "XOR",
    "YIELD",
];

/// Whether a variable of this name is written in backticks.
pub(crate) fn is_reserved(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    RESERVED.binary_search(&upper.as_str()).is_ok()
}

/// Whether the lexer reads this name as one word.
pub(crate) fn is_word(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next();
    first.is_some_and(|first| first == '_' || first.is_alphabetic())
        && characters.all(|next| next == '_' || next.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_reserved_words_are_sorted() {
        assert!(super::RESERVED.is_sorted());
    }
}
