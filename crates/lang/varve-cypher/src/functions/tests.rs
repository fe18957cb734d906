//! Tests of all functions at once, and of aggregates.

use super::{all, lookup, lookup_aggregate};
use crate::testing::{in_frame, in_graph, odd_values, rows_of, rows_within};
use crate::value::Value;

fn call(name: &str, arguments: &[Value]) -> String {
    let function = lookup(name).expect(name);
    assert!(function.takes(arguments.len()), "{name}");
    match in_frame(&Vec::new(), |frame| (function.body)(arguments, frame)) {
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn no_function_panics() {
    let values = odd_values();
    let mut calls = 0;
    in_frame(&Vec::new(), |frame| {
        for function in all() {
            let mut run = |arguments: &[Value]| {
                calls += 1;
                // A long list is refused for its memory, and there is no limit here.
                let huge = |value: &Value| matches!(value, Value::Integer(i64::MIN | i64::MAX));
                if function.name == "range" && arguments.iter().any(huge) {
                    return;
                }
                let _ = (function.body)(arguments, frame).map(|value| value.to_string());
            };
            run(&[]);
            for first in &values {
                run(std::slice::from_ref(first));
                for second in &values {
                    run(&[first.clone(), second.clone()]);
                    if function.takes(3) && !function.variadic {
                        for third in &values {
                            run(&[first.clone(), second.clone(), third.clone()]);
                        }
                    }
                }
            }
        }
    });
    assert!(calls > 100_000, "{calls}");
}

#[test]
fn names_are_found_in_any_case_and_arities_are_checked() {
    assert_eq!(
        lookup("DATE.Truncate").map(|found| found.name),
        Some("date.truncate")
    );
    assert!(lookup("toupper").is_some() && lookup("foo").is_none());
    let range = lookup("range").expect("range");
    assert!(!range.takes(1) && range.takes(2) && range.takes(3) && !range.takes(4));
    let coalesce = lookup("coalesce").expect("coalesce");
    assert!(!coalesce.takes(0) && coalesce.takes(9));
    assert!(lookup_aggregate("COLLECT").is_some() && lookup_aggregate("size").is_none());
}

#[test]
fn rounding_has_all_modes() {
    let round = |number: f64, places: i64, mode: &str| {
        let arguments = [
            Value::Float(number),
            Value::Integer(places),
            Value::string(mode),
        ];
        call("round", &arguments)
    };
    for (mode, found) in [
        ("UP", ["1.3", "-1.3"]),
        ("DOWN", ["1.2", "-1.2"]),
        ("CEILING", ["1.3", "-1.2"]),
        ("FLOOR", ["1.2", "-1.3"]),
        ("HALF_UP", ["1.3", "-1.3"]),
        ("HALF_DOWN", ["1.2", "-1.2"]),
        ("HALF_EVEN", ["1.2", "-1.2"]),
    ] {
        assert_eq!(
            [round(1.25, 1, mode), round(-1.25, 1, mode)],
            found,
            "{mode}"
        );
    }
    assert_eq!(round(9.99, 1, "HALF_UP"), "10.0");
    assert_eq!(round(0.004, 2, "HALF_UP"), "0.0");
    assert_eq!(round(0.004, 2, "UP"), "0.01");
    assert_eq!(call("round", &[Value::Float(-1.5)]), "-1.0");
    assert_eq!(call("round", &[Value::Float(2.5)]), "3.0");
}

#[test]
fn texts_are_split_at_the_first_delimiter() {
    let delimiters = Value::list(vec![Value::string("--"), Value::string("-")]);
    let found = call("split", &[Value::string("a--b-c-"), delimiters]);
    assert_eq!(found, "['a', 'b', 'c', '']");
    assert_eq!(
        call("split", &[Value::string("äb"), Value::string("")]),
        "['ä', 'b']"
    );
}

#[test]
fn aggregates_count_equal_rows() {
    let result = |name: &str, distinct: bool, extra: &[Value], rows: &[(Value, u64)]| {
        let aggregate = lookup_aggregate(name).expect(name);
        let mut group = aggregate.start(distinct, extra).expect(name);
        in_frame(&Vec::new(), |frame| {
            for (value, times) in rows {
                group.add(value, *times, frame.graph).expect(name);
            }
        });
        group.finish().expect(name).to_string()
    };
    let rows = [
        (Value::Integer(1), 3),
        (Value::Null, 5),
        (Value::Float(5.0), 1),
    ];
    let half = [Value::Float(0.5)];
    for (name, extra, plain, distinct) in [
        ("count", &[][..], "4", "2"),
        ("sum", &[], "8.0", "6.0"),
        ("avg", &[], "2.0", "3.0"),
        ("min", &[], "1", "1"),
        ("max", &[], "5.0", "5.0"),
        ("collect", &[], "[1, 1, 1, 5.0]", "[1, 5.0]"),
        ("stDev", &[], "2.0", "2.8284271247461903"),
        ("stDevP", &[], "1.7320508075688772", "2.0"),
        ("percentileCont", &half, "1.0", "3.0"),
        ("percentileDisc", &half, "1", "1"),
    ] {
        assert_eq!(result(name, false, extra, &rows), plain, "{name}");
        assert_eq!(
            result(name, true, extra, &rows),
            distinct,
            "{name}, distinct"
        );
    }
    assert_eq!(result("sum", false, &[], &[]), "0");
    assert_eq!(result("avg", false, &[], &[]), "NULL");
    assert_eq!(result("collect", false, &[], &[]), "[]");
    assert_eq!(
        result(
            "count",
            true,
            &[],
            &[(Value::Integer(1), 1), (Value::Float(1.0), 1)]
        ),
        "1"
    );
}

/// A value that grows at each step is refused before it is made.
#[test]
fn what_grows_is_limited() {
    for text in [
        "reduce(s = 'x', i IN range(1, 60) | s + s)",
        "reduce(s = [1], i IN range(1, 60) | s + s)",
        "reduce(s = 'x', i IN range(1, 60) | s || s)",
        "reduce(s = 'x', i IN range(1, 60) | replace(s, 'x', 'xx'))",
        "range(1, 1000000000000)",
        "reduce(m = ['x'], i IN range(1, 45) | [m[0] + m[0]])",
        "reduce(m = {a: 'x'}, i IN range(1, 45) | {a: m.a + m.a})",
        "[x IN range(1, 1000) | range(1, 10000)]",
        "[x IN range(1, 1000) | reduce(s = 'x', i IN range(1, 16) | s + s)]",
        "split(reduce(s = 'x', i IN range(1, 18) | s + s), '')",
    ] {
        let found = rows_within(&format!("RETURN size({text}) AS size"), 1 << 22);
        assert!(found.contains("bytes of memory"), "{text}: {found}");
    }
}

/// One row may stand for more equal rows than a list can have.
#[test]
fn collecting_equal_rows_is_limited() {
    for (times, bytes_max) in [(u64::MAX, u64::MAX), (1 << 40, 1 << 40), (1 << 20, 1 << 20)] {
        let aggregate = lookup_aggregate("collect").expect("collect");
        let mut group = aggregate.start(false, &[]).expect("collect");
        let added = in_graph(bytes_max, |graph| {
            group.add(&Value::Integer(1), times, graph)
        });
        let found = added.expect_err("too many").to_string();
        assert!(found.contains("bytes of memory"), "{times}: {found}");
    }
}

/// Values that are nested too deep would overflow the stack when they are dropped.
#[test]
fn what_nests_is_limited() {
    for text in [
        "reduce(x = 1, i IN range(1, 60000) | [x])",
        "reduce(x = 1, i IN range(1, 60000) | {a: x})",
        "reduce(x = 1, i IN range(1, 60000) | [y IN [x]])",
        "reduce(x = [], i IN range(1, 60000) | [1] + {a: x})",
        "reduce(x = 1, i IN range(1, 60000) | COLLECT { RETURN x })",
    ] {
        let found = rows_within(&format!("RETURN size({text}) AS size"), 1 << 30);
        assert!(found.contains("1,000 levels"), "{text}: {found}");
    }
    let deep = format!("WITH {}1{} AS x ", "[".repeat(90), "]".repeat(90));
    let deeper = format!("WITH {}x{} AS x ", "[".repeat(90), "]".repeat(90));
    let found = rows_within(&format!("{deep}{}RETURN x", deeper.repeat(12)), 1 << 30);
    assert!(found.contains("1,000 levels"), "{found}");
}

/// Subqueries and lists of many rows take the memory of a few.
#[test]
fn many_rows_take_little_memory() {
    for (text, count) in [
        (
            "UNWIND range(1, 10) AS x UNWIND range(1, 100000) AS y RETURN count(y)",
            "1000000",
        ),
        (
            "UNWIND range(1, 40000) AS x CALL (x) { WITH DISTINCT x AS y RETURN y ORDER BY y } \
             RETURN count(y)",
            "40000",
        ),
        (
            "UNWIND range(1, 40000) AS x WITH COLLECT { WITH DISTINCT x AS y RETURN y } AS z \
             RETURN sum(size(z))",
            "40000",
        ),
    ] {
        assert_eq!(rows_within(text, 3 << 20), count, "{text}");
    }
}

/// A list that has another one in many places is small in memory and large where it is printed.
#[test]
fn what_repeats_within_itself_is_limited() {
    for text in [
        "reduce(s = [1, 2], i IN range(1, 60) | [s, s])",
        "reduce(s = {a: [1, 2]}, i IN range(1, 60) | {a: [s, s]})",
        "[i IN range(1, 1000) | reduce(s = [1, 2], i IN range(1, 20) | [s, s])]",
    ] {
        let found = rows_within(&format!("RETURN size({text}) AS size"), 1 << 30);
        assert!(found.contains("items at most"), "{text}: {found}");
    }
}

#[test]
fn deviations_of_nothing_and_of_infinities() {
    let found = |list: &str| rows_of(&format!("UNWIND {list} AS x RETURN stDev(x), stDevP(x)"));
    assert_eq!(found("[null]"), "NULL, NULL");
    assert_eq!(found("[5]"), "0.0, 0.0");
    assert_eq!(found("[1, 1.0 / 0.0]"), "NaN, NaN");
}
