//! Steps by example: what each gives, and what it refuses.

use crate::values_of;

/// The results as texts, or the error.
fn told(text: &str) -> String {
    match values_of(text) {
        Ok(values) => {
            let texts: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            texts.join(" ")
        }
        Err(error) => format!("error: {error}"),
    }
}

/// Each line: a text, and what it gives, as [`told`] prints it.
fn check(lines: &[(&str, &str)]) {
    let wrong: Vec<String> = lines
        .iter()
        .filter(|(text, wanted)| told(text) != *wanted)
        .map(|(text, wanted)| format!("{text}: {}, not {wanted}", told(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn steps_over_collections_join_them() {
    check(&[
        ("g.inject([1,2,2]).combine([3]).count(local)", "Long(4)"),
        ("g.inject([1,2,2]).merge([3]).count(local)", "Long(3)"),
        (
            "g.inject([1,2]).product(['a']).unfold().count(local)",
            "Long(2) Long(2)",
        ),
        ("g.inject([1,2]).difference(__.inject([9])).unfold()", ""),
        (
            "g.inject([1,2]).intersect(__.constant([2,3])).unfold()",
            "Int(2)",
        ),
        ("g.inject([1,2]).disjunct([2,3]).unfold()", "Int(1) Int(3)"),
        ("g.inject([1,null,'x']).conjoin('-')", "Text(\"1-x\")"),
        (
            "g.inject(1).intersect([1])",
            "error: intersect step can only take an array or an Iterable type for incoming \
             traversers, encountered Integer",
        ),
        ("g.inject([1,2],[2]).all(eq(2)).count()", "Long(1)"),
        ("g.inject([1,2],[3]).any(eq(2)).count()", "Long(1)"),
        ("g.inject([1,2],[3]).none(eq(2)).count()", "Long(1)"),
    ]);
}

#[test]
fn conversions_keep_the_width_they_name() {
    check(&[
        (
            "g.inject('a').concat('b', null).concat(__.constant('c'))",
            "Text(\"abc\")",
        ),
        ("g.V(1).format('%{name}, %{age}')", "Text(\"marko, 29\")"),
        ("g.V(3).format('%{name}, %{age}')", ""),
        (
            "g.V(1).format('%{_}:%{_}').by('age').by('name')",
            "Text(\"29:marko\")",
        ),
        ("g.inject('0x5', 5.7).asNumber(BYTE)", "Byte(5) Byte(5)"),
        (
            "g.inject(300).asNumber(BYTE)",
            "error: Can't convert number of type Integer to Byte due to overflow.",
        ),
        (
            "g.inject(0, 'TRUE', 2.0).asBool()",
            "Bool(false) Bool(true) Bool(true)",
        ),
        (
            "g.inject('1970-01-02').asDate().asNumber()",
            "Long(86400000)",
        ),
        (
            "g.inject(0).asDate().dateAdd(day, 1).dateDiff(datetime('1970-01-01'))",
            "Long(86400000)",
        ),
        (
            "g.V(1).outE('knows').properties('weight').element().inV().id().sum()",
            "Long(6)",
        ),
        ("g.V(4).properties('age').element().id()", "Long(4)"),
    ]);
}
