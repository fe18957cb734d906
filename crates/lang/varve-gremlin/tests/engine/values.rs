//! Values of steps: numbers, texts, dates, and the forms in which the reference gives them.

use crate::scripts::results;

/// The results of each text, or its error, as texts; checks that they are those expected.
fn check(lines: &[(&str, &str)]) {
    let found = |text: &str| match results(text) {
        Ok(value) => match value.items() {
            Some(items) => {
                let each = items
                    .iter()
                    .map(|it| format!("{}:{}", it.shown(), it.type_name()));
                each.collect::<Vec<_>>().join(" ")
            }
            None => value.shown().to_string(),
        },
        Err(error) => format!("error: {error}"),
    };
    let wrong: Vec<String> = lines
        .iter()
        .filter(|(text, wanted)| match wanted.strip_suffix('*') {
            Some(start) => !found(text).starts_with(start),
            None => found(text) != *wanted,
        })
        .map(|(text, wanted)| format!("{text}: {}, not {wanted}", found(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_of_unlike_types_are_joined_as_the_reference_does() {
    check(&[
        ("g.inject(1.0f,2).max()", "2.0:Float"),
        ("g.inject(1.0f,2).min()", "1.0:Float"),
        ("g.inject([1.0f,2]).max(local)", "2.0:Float"),
        ("g.inject(1L,1.0f).max()", "1.0:Double"),
        (
            "g.inject(3.4e38f,3.4e38f).sum()",
            "6.7999999042887285E38:Double",
        ),
        (
            "g.inject([3.4e38f,3.4e38f]).sum(local)",
            "6.7999999042887285E38:Double",
        ),
        (
            "g.withSack(3.0e38f).inject(2).sack(mult).by(constant(10.0f)).sack()",
            "3.000000005497756E39:Double",
        ),
        ("g.inject(29n,0.5d).sum()", "29.5:BigDecimal"),
        ("g.inject(29n,0.5f).sum()", "29.5:BigDecimal"),
        ("g.inject(29n,1L).max()", "29:BigInteger"),
        ("g.inject(1,29n).min()", "1:BigInteger"),
        ("g.inject(0.1f,0.1m).sum()", "0.2:BigDecimal"),
        ("g.inject(0.1d,1m).min()", "0.1:BigDecimal"),
        ("g.inject(1,0.1m).max()", "1:BigDecimal"),
        ("g.inject(100b,100b).sum()", "200:Short"),
        ("g.inject(1L,1.0f).sum()", "2.0:Double"),
        ("g.inject(1,1.0f).sum()", "2.0:Float"),
        (
            "g.inject(9223372036854775807L,1n).sum()",
            "9223372036854775808:BigInteger",
        ),
        (
            "g.inject(9223372036854775807L,1).sum()",
            "error: long overflow",
        ),
        ("g.inject(0.1d).is(0.1m)", "0.1:Double"),
        ("g.inject(0.1f).is(0.1d)", ""),
        ("g.inject(1).is(1.0d)", "1:Integer"),
        ("g.inject(1, 1L, 1.0d).dedup().count()", "3:Long"),
    ]);
}

#[test]
fn texts_of_numbers_are_those_of_java() {
    check(&[
        ("g.inject(1e20d).asString()", "1.0E20:String"),
        ("g.inject(1e-7d).asString()", "1.0E-7:String"),
        ("g.inject(1e20f).asString()", "1.0E20:String"),
        ("g.inject(100.0d).asString()", "100.0:String"),
        ("g.inject(12345678.5d).asString()", "1.23456785E7:String"),
        ("g.inject(0.0000001m).asString()", "1E-7:String"),
        (
            "g.inject([1e20d, [a: 0.5d]]).asString()",
            "[1.0E20, {a=0.5}]:String",
        ),
        ("'' + 1e10d", "1.0E10:String"),
        ("g.inject('1e400').asNumber()", "1E+400:BigDecimal"),
        ("g.inject('1L').asNumber()", "1:Long"),
        ("g.inject(' 5 ').asNumber()", "5:Integer"),
        (
            "g.inject('1n').asNumber()",
            "error: Can't parse string '1n' as number.",
        ),
        (
            "g.inject('3.4e39').asNumber(GType.FLOAT)",
            "error: Can't convert number of type Double to Float due to overflow.",
        ),
        ("g.inject(1).asNumber(GType.NUMBER)", "error: *"),
    ]);
}

#[test]
fn dates_beyond_the_year_9999_have_a_text() {
    check(&[
        (
            "g.inject(9223372036854775807L).asDate().asString()",
            "+292278994-08-17T07:12:55.807Z:String",
        ),
        (
            "g.inject(253402300800000L).asDate()",
            "+10000-01-01T00:00Z:OffsetDateTime",
        ),
        (
            "g.inject('+10000-01-01T00:00Z').asDate().dateAdd(DT.day, -1)",
            "9999-12-31T00:00Z:OffsetDateTime",
        ),
        (
            "g.inject(29n).asDate()",
            "1970-01-01T00:00:00.029Z:OffsetDateTime",
        ),
        (
            "g.inject(9223372036854775807L).asDate().dateAdd(DT.second, 1)",
            "error: The date is out of range",
        ),
    ]);
}

#[test]
fn variables_of_math_win_over_constants() {
    check(&[
        ("g.inject(5).as('e').math('e + 1')", "6.0:Double"),
        ("g.inject(5).as('pi').math('pi + 1')", "6.0:Double"),
        ("g.inject(0).math('floor(pi + _)')", "3.0:Double"),
        ("g.inject(1).math('1e3 + _')", "1001.0:Double"),
        ("g.inject(1).math('1.5E-3 + _')", "1.0015:Double"),
        ("g.inject(5).as('e').math('1e3 + e')", "1005.0:Double"),
        ("g.inject(1).math('2e')", "error: math() cannot read*"),
        (
            "g.inject(2).math('zz + 1')",
            "error: Neither the map, the side effects nor the path has a value 'zz'",
        ),
        (
            "g.inject(null).math('_ + 1')",
            "error: null of null cannot be cast to Number",
        ),
    ]);
}

#[test]
fn regular_expressions_are_those_of_java() {
    check(&[
        ("g.inject('ab').is(TextP.regex('^a'))", "ab:String"),
        ("g.inject('é').is(TextP.regex('\\\\w'))", ""),
        (
            "g.inject('a.b').is(TextP.regex('\\\\Qa.b\\\\E'))",
            "a.b:String",
        ),
        ("g.inject('ab').is(TextP.notRegex('x'))", "ab:String"),
        (
            "g.inject('ab').is(TextP.regex('a(?=b)'))",
            "error: The regular expression (looking ahead) is not supported yet",
        ),
        (
            "g.inject('ab').is(TextP.regex('a{2'))",
            "error: The regular expression is wrong: *",
        ),
        (
            "g.inject(5).is(TextP.regex('5'))",
            "error: 5 of Integer cannot be cast to String",
        ),
    ]);
}

#[test]
fn members_and_texts_have_the_forms_of_the_reference() {
    check(&[
        ("g.inject({1,2}).reverse()", "[2, 1]:List"),
        ("g.inject({'a'}).toUpper(local)", "[A]:List"),
        ("g.inject('a').as('x').path().toUpper(local)", "[A]:List"),
        ("g.inject({1,2}).asString(local)", "[1, 2]:List"),
        ("g.inject([a:1]).asString(local)", "{a=1}:String"),
        ("g.inject('abc').replace('','Z')", "abc:String"),
        ("g.inject('abc').replace(null,'Z')", "abc:String"),
        (
            "g.inject(5).replace(null,'Z')",
            "error: The replace() step can only take string as argument, encountered Integer",
        ),
        ("g.inject(1).dedup(local)", "[1]:Set"),
        ("g.inject([1,1]).dedup(local)", "[1]:Set"),
        (
            "g.inject(7).index().with(WithOptions.indexer, WithOptions.list)",
            "[[7, 0]]:List",
        ),
        ("g.inject([1,2]).index()", "[[1, 0], [2, 1]]:List"),
    ]);
}
