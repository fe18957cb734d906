//! Traversals and scripts of unbounded memory or time, and the limits that end them.

use crate::scripts::{cancelled_after, results};

/// Checks that a script fails with this code and a message that contains `says`.
fn ends(text: &str, code: &str, says: &str) {
    match results(text) {
        Ok(_) => panic!("{text} ended"),
        Err(error) => {
            assert_eq!(error.code(), code, "{text}: {error}");
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
    }
}

/// Sets the variable `t` to a text of a megabyte.
const LONG: &str = "t = 'a' * 1000000;";

#[test]
fn copies_of_a_long_text_count_as_memory() {
    for text in [
        "g.inject(t).repeat(union(identity(),identity())).times(16).fold()",
        "g.inject(t).repeat(union(identity(),identity())).times(16).aggregate('a').cap('a')",
        "g.inject(t).repeat(union(identity(),identity())).times(16).group().by(constant(1))",
        "g.inject(t).repeat(union(identity(),identity())).times(16).toList()",
        "g.inject(t).repeat(map(identity())).times(1000).path()",
        "g.inject(t).repeat(constant(t)).times(1000).path()",
        "g.inject(t).repeat(local(constant(t))).times(1000).path()",
        "g.inject(t).repeat(coalesce(constant(t))).times(1000).path()",
        "g.inject(t).repeat(constant(t).as('a')).times(1000).select(all,'a')",
        "g.inject(t).repeat(union(constant(t),constant(t)).as('a')).times(10).select('a')",
        "g.inject(t).repeat(union(constant(1),constant(2)).sack(assign).by(constant(t)).as('a')).times(16).count()",
        "g.V().union(constant(t),constant(t)).as('a').union(identity(),identity(),identity()).path()",
    ] {
        ends(&format!("{LONG} {text}"), "VRV-LIMIT", "memory");
    }
    let keys: Vec<String> = (0..200).map(|at| format!("'k{at}'")).collect();
    let text = format!(
        "{LONG} g.inject(1).project({}).by(constant(t))",
        keys.join(",")
    );
    ends(&text, "VRV-LIMIT", "memory");
}

#[test]
fn a_few_copies_of_a_long_text_fit() {
    let text = format!("{LONG} g.inject(t).repeat(constant(t)).times(5).path().count(local)");
    assert_eq!(results(&text).expect("a count").shown().to_string(), "[6]");
    // The bytes of a step's output are released when its next batch is requested.
    let text = format!("{LONG} g.inject(1).repeat(constant(t)).times(1000).count()");
    assert_eq!(results(&text).expect("a count").shown().to_string(), "[1]");
}

#[test]
fn a_traversal_that_variables_put_together_has_the_bounds_of_a_text() {
    for (text, says) in [
        ("t = __.out(); while (true) { t = __.union(t, t) }", "10000"),
        ("t = __.out(); while (true) { t = t.union(t, t) }", "10000"),
        ("t = g.V(); while (true) { t = t.out() }", "memory"),
        ("t = __.out(); for (i in 1..9999) { t = __.map(t) }", "256"),
    ] {
        ends(text, "VRV-LIMIT", says);
    }
}

#[test]
fn a_traversal_in_a_variable_nests_as_deep_as_a_text() {
    let text = "t = __.identity(); for (i in 1..120) { t = __.map(t) }; g.V().map(t).count()";
    assert_eq!(results(text).expect("a count").shown().to_string(), "[6]");
}

/// The value of `l` holds one text 2^16 times: little memory, but a text of a gigabyte.
const SHARED: &str = "l = g.inject('aaaaaaaa').replace('a','a'*64).replace('aa','a'*64).fold()\
     .repeat(union(identity(),identity())).times(16)";

#[test]
fn a_value_of_shared_parts_is_not_rendered_or_copied_as_a_whole() {
    for text in [
        ".fold().asString().length()",
        ".fold().count(local)",
        ".fold().is(TextP.regex('x'))",
        ".asString().fold()",
        ".limit(100).fold().format('%{_}').by()",
        ".limit(100).fold().conjoin(';')",
        ".limit(10).fold().as('a').format('%{a}%{a}%{a}%{a}%{a}%{a}%{a}%{a}')",
        ".limit(100).fold().asString()",
    ] {
        let text = format!("{}{text}", SHARED.replace("l = ", ""));
        match results(&text) {
            Ok(value) => panic!("{text} gave {}", value.shown()),
            Err(error) => assert_eq!(error.code(), "VRV-LIMIT", "{text}: {error}"),
        }
    }
    // The pairs of one long text with many numbers.
    for text in [
        "g.inject([t]).product(1..1000000).count(local)",
        "g.inject([1, 2, 3]).conjoin(t)",
        "g.inject(l).replace(local, 'a', 'a'*64)",
        "g.inject(l).map(combine([t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t,t])).repeat(map(combine(l))).times(90)",
    ] {
        let text = format!("{LONG} l = [t,t,t,t,t,t,t,t,t,t]; {text}");
        match results(&text) {
            Ok(value) => panic!("{text} gave {}", value.shown()),
            Err(error) => assert_eq!(error.code(), "VRV-LIMIT", "{text}: {error}"),
        }
    }
}

#[test]
fn an_error_shows_the_beginning_of_a_value() {
    for text in [
        "g.inject(l).is(TextP.regex('x'))",
        "g.inject(l).is(TextP.containing('x'))",
        "g.inject(l).sum()",
        "g.inject(l).by('x')",
        "g.inject(l).order().by('x')",
        "g.inject(l).out()",
        "g.inject(l).math('_ + 1')",
        "g.inject(l).label()",
        "g.inject(l).limit(l)",
        "g.V(1).property(l, 1)",
        "g.mergeV(l)",
        "g.inject(1).values(l)",
        "l.foo()",
    ] {
        let script = format!("{LONG} l = [t, [t, t]]; {text}");
        let Ok(script) = varve_gremlin::parse_script(&script) else {
            continue;
        };
        let error = match results(&script.to_string()) {
            Ok(_) => continue,
            Err(error) => error.to_string(),
        };
        let shown = error.chars().filter(|c| *c == 'a').count();
        assert!(shown <= 260, "{text}: {} characters", error.len());
    }
}

#[test]
fn keys_of_steps_are_charged() {
    let by = ".by(identity())".repeat(200);
    for text in [
        format!("g.inject(t, t + 'b').order(){by}"),
        "g.inject(1..100).unfold().map(constant(t)).order()".to_owned(),
        "g.inject(1..100).unfold().concat(constant(t)).dedup()".to_owned(),
        "g.inject(1..100).unfold().asString().concat(t).dedup()".to_owned(),
        "g.inject(1..100).unfold().asString().concat(t).group()".to_owned(),
        "g.inject(1..100).unfold().asString().concat(t).groupCount()".to_owned(),
    ] {
        let text = format!("{LONG} {text}");
        match results(&text) {
            Ok(value) => panic!("{text} gave {}", value.shown()),
            Err(error) => assert!(
                matches!(error.code(), "VRV-LIMIT" | "VRV-QUERY"),
                "{text}: {error}"
            ),
        }
    }
}

#[test]
fn work_on_large_values_ends_when_the_query_is_cancelled() {
    let deep = "repeat(local(union(identity(),identity()).fold())).times(200)";
    for text in [
        format!("g.inject(1).{deep}.dedup()"),
        "a = 'a' * 1000000; l = [a,a,a,a]; while (true) { l == [a,a,a,a] }".to_owned(),
        "a = [1]; b = [1]; for (i in 1..20) { a = [a,a]; b = [b,b] }; while (true) { a == b }"
            .to_owned(),
        "t = 'a' * 1000000; while (true) { g.inject(t).is(TextP.regex('(a|b)*c')).iterate() }"
            .to_owned(),
        "g.inject(1..10000).unfold().repeat(order()).times(1000000)".to_owned(),
    ] {
        let error = cancelled_after(20, &text);
        assert!(
            matches!(error.code(), "VRV-TIMEOUT" | "VRV-QUERY"),
            "{text}: {error}"
        );
    }
}

/// Each of these scripts copies more than it may: it repeats a copy, or makes one large copy.
#[test]
fn copies_of_a_collection_are_charged() {
    let texts = format!("{LONG} l = [t, t, t, t, t, t, t, t, t, t];");
    let numbers = "l = (1..1000000);";
    let mut wrong = Vec::new();
    for (made, text, says) in [
        // An INT that is no index is searched for in the whole list.
        (numbers, "for (i in 1..100) { l.remove(2000000) }", "steps"),
        (numbers, "for (i in 1..100) { l.remove(-2000000) }", "steps"),
        (numbers, "for (i in 1..100) { [1].intersect(l) }", "steps"),
        (numbers, "for (i in 1..9) { (l ?: []).add(1) }", "memory"),
        (
            numbers,
            "for (i in 1..9) { b = l; try { b[2000000][0] = 1 } catch (e) { } }",
            "memory",
        ),
        (&texts, "m = []; for (i in 1..20) { m.addAll(l) }", "memory"),
        (
            &texts,
            "n = [a: t, b: t, c: t, d: t]; for (i in 1..15) { m = [:]; m.putAll(n) }",
            "memory",
        ),
        (
            &texts,
            "n = [a: t].entrySet(); for (i in 1..60) { m = [:]; m.addAll(n) }",
            "memory",
        ),
        (
            &texts,
            "n = [a: t].entrySet(); for (i in 1..60) { m = [:]; m << n[0] }",
            "memory",
        ),
        (
            &texts,
            "n = [a: t]; for (i in 1..60) { n.entrySet() }",
            "memory",
        ),
        (
            &texts,
            "p = g.inject(t).as('a').path().next(); m = []; for (i in 1..60) { m.addAll(p) }",
            "memory",
        ),
        (
            &texts,
            "n = [a: t]; for (i in 1..40) { m = [:]; m << n }",
            "memory",
        ),
        (
            &texts,
            "n = [a: t]; for (i in 1..40) { m = [:]; m.add(n) }",
            "memory",
        ),
        (
            &texts,
            "m = []; for (i in 1..1000) { m << l }; m.flatten()",
            "texts",
        ),
        (
            &texts,
            "z = []; for (i in 1..10000) { z << 0 }; l[z]",
            "memory",
        ),
    ] {
        let text = format!("{made} {text}; 1");
        match results(&text) {
            Ok(_) => wrong.push(text),
            Err(error) if error.code() == "VRV-LIMIT" && error.to_string().contains(says) => {}
            Err(error) => wrong.push(format!("{text}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
