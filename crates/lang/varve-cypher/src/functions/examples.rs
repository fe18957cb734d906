//! Expressions and their values, for what openCypher's TCK does not test.

use crate::testing::rows_of;

fn check(examples: &[(&str, &str)]) {
    let wrong: Vec<String> = examples
        .iter()
        .filter_map(|(text, wanted)| {
            let found = rows_of(&format!("RETURN {text} AS x"));
            let is_error = ["Error: ", "Missing: ", "NotSupported: "]
                .iter()
                .any(|one| found.contains(one));
            let fits = if is_error {
                found.starts_with(wanted)
            } else {
                found == *wanted
            };
            (!fits).then(|| format!("{text}: {found}, not {wanted}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn operators() {
    check(&[
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("7 % -3", "1"),
        ("-7 % 3", "-1"),
        ("7 / 2.0", "3.5"),
        ("2 ^ 3", "8.0"),
        ("1 / 0", "ArithmeticError: DivisionByZero"),
        ("1 / 0.0", "Infinity"),
        ("1 % 0", "ArithmeticError: DivisionByZero"),
        (
            "9223372036854775807 + 1",
            "ArithmeticError: IntegerOverflow",
        ),
        ("'a' + 1", "a1"),
        ("1 + 'a'", "1a"),
        ("'a' + 1.0", "a1.0"),
        ("[1] + 2", "[1, 2]"),
        ("1 + [2]", "[1, 2]"),
        ("[1] + [2]", "[1, 2]"),
        ("[1] || [2]", "[1, 2]"),
        ("'a' || 'b'", "ab"),
        ("null || 'b'", "NULL"),
        ("1 < 2 < 3", "true"),
        ("3 > 2 > 2", "false"),
        ("1 < 'a'", "NULL"),
        ("'abc' =~ 'a.*'", "true"),
        ("'abc' =~ 'b'", "false"),
        ("'abc' =~ '('", "ArgumentError: InvalidArgumentValue"),
        ("[1, 2, 3][-1]", "3"),
        ("[1, 2, 3][3]", "NULL"),
        ("[1, 2, 3][-4]", "NULL"),
        ("[1, 2, 3][-2..]", "[2, 3]"),
        ("[1, 2, 3][..-1]", "[1, 2]"),
        ("[1, 2, 3][2..1]", "[]"),
        ("[1, 2, 3][..null]", "NULL"),
        ("1 IN [1, null]", "true"),
        ("2 IN [1, null]", "NULL"),
        ("[1] IN [[1, 2], [1.0]]", "true"),
        ("null IN []", "false"),
    ]);
}

#[test]
fn expressions() {
    check(&[
        ("CASE 2 WHEN 1 THEN 'a' WHEN 2.0 THEN 'b' END", "b"),
        ("CASE null WHEN null THEN 1 ELSE 2 END", "2"),
        ("CASE WHEN null THEN 1 WHEN true THEN 2 END", "2"),
        ("reduce(sum = 0, x IN [1, 2, 3] | sum + x)", "6"),
        ("reduce(sum = 0, x IN null | sum + x)", "NULL"),
        (
            "reduce(all = [], x IN [1, 2] | [y IN all | y * 10] + x)",
            "[10, 2]",
        ),
        (
            "[x IN [1, 2, 3] WHERE x > 1 | [y IN [x] | x * y]]",
            "[[4], [9]]",
        ),
        ("{a: 1, b: {c: 2}}.b.c", "2"),
        ("{a: 1}['a']", "1"),
        ("keys({b: 1, a: 2})", "['a', 'b']"),
        ("1 IS :: INTEGER", "true"),
        ("1 IS :: FLOAT", "false"),
        ("1 IS :: INTEGER | FLOAT", "true"),
        ("null IS :: INTEGER", "true"),
        ("null IS :: INTEGER NOT NULL", "false"),
        ("[1, null] IS :: LIST<INTEGER>", "true"),
        ("[1, null] IS :: LIST<INTEGER NOT NULL>", "false"),
        ("date('2024-01-01') IS NOT :: DATE", "false"),
        ("$p", "ParameterMissing: MissingParameter"),
    ]);
    let projected =
        rows_of("WITH {a: 1, b: 2} AS m, 4 AS d RETURN m{.a, .z, c: 3, d}, m{.*, a: 9}");
    assert_eq!(projected, "{a: 1, c: 3, d: 4, z: NULL}, {a: 9, b: 2}");
}

#[test]
fn strings() {
    check(&[
        ("substring('hello', 1, 3)", "ell"),
        ("substring('hello', 9)", ""),
        ("substring('hello', -1)", "ArgumentError: NumberOutOfRange"),
        ("left('hello', 2)", "he"),
        ("right('hello', 2)", "lo"),
        ("right('hello', 9)", "hello"),
        ("left(null, 2)", "NULL"),
        ("replace('hello', 'l', 'w')", "hewwo"),
        ("split('a,b,', ',')", "['a', 'b', '']"),
        ("trim('  a ')", "a"),
        ("ltrim('  a ')", "a "),
        ("rtrim('  a ')", "  a"),
        ("btrim('xyaxy', 'xy')", "a"),
        ("toUpper('straße')", "STRASSE"),
        ("toLower('ÄB')", "äb"),
        ("reverse('äb')", "bä"),
        ("size('äö')", "2"),
        ("isEmpty('')", "true"),
        ("toString(10000000000.0)", "1.0E10"),
        ("toString(123456.789)", "123456.789"),
        ("toString(0.0001)", "1.0E-4"),
        ("toString(-0.0)", "-0.0"),
        ("toString(1.0)", "1.0"),
    ]);
}

#[test]
fn conversions_and_numbers() {
    check(&[
        ("toInteger(' 12 ')", "12"),
        ("toInteger('1e3')", "1000"),
        ("toInteger('9223372036854775808')", "NULL"),
        ("toInteger(true)", "1"),
        ("toIntegerOrNull([])", "NULL"),
        ("toIntegerList(['1', 'x', 2.5, null])", "[1, NULL, 2, NULL]"),
        ("toFloat('inf')", "NULL"),
        ("toBoolean('TRUE')", "true"),
        ("toBoolean(0)", "false"),
        ("toBooleanOrNull(1.5)", "NULL"),
        ("toStringOrNull({})", "NULL"),
        ("valueType(null)", "NULL"),
        (
            "valueType([1, 'a', 1])",
            "LIST<STRING NOT NULL | INTEGER NOT NULL> NOT NULL",
        ),
        ("valueType([1, null])", "LIST<INTEGER> NOT NULL"),
        ("valueType([])", "LIST<NOTHING> NOT NULL"),
        ("abs(-3)", "3"),
        ("abs(-3.5)", "3.5"),
        ("sign(-0.5)", "-1"),
        ("ceil(1.2)", "2.0"),
        ("round(2.5)", "3.0"),
        ("round(-2.5)", "-2.0"),
        ("round(1.249, 1)", "1.2"),
        ("round(-1.55, 1)", "-1.6"),
        ("round(1.25, 1, 'HALF_EVEN')", "1.2"),
        (
            "round(1.25, 1, 'ODD')",
            "ArgumentError: InvalidArgumentValue",
        ),
        ("sqrt(-1)", "NaN"),
        ("isNaN(0.0 / 0.0)", "true"),
        ("log10(1000)", "3.0"),
        ("coalesce(null, 1, 1 / 0)", "1"),
        ("nullIf(1, 1.0)", "NULL"),
        ("nullIf(1, 2)", "1"),
        ("range(0, 10, 3)", "[0, 3, 6, 9]"),
        (
            "range(9223372036854775806, 9223372036854775807)",
            "[9223372036854775806, 9223372036854775807]",
        ),
        ("head([])", "NULL"),
        ("tail([1])", "[]"),
        (
            "point.distance(point({x: 0, y: 0}), point({x: 3, y: 4}))",
            "5.0",
        ),
        ("point({latitude: 12, longitude: 56}).crs", "wgs-84"),
        ("point({x: 1, y: null})", "NULL"),
        (
            "point.withinBBox(point({longitude: 179, latitude: 0}),
             point({longitude: 170, latitude: -1}), point({longitude: -170, latitude: 1}))",
            "true",
        ),
    ]);
}

#[test]
fn vectors_and_functions_of_apoc() {
    check(&[
        ("vector.similarity.cosine([1.0, 0], [0, 2.0])", "0.5"),
        (
            "vector.similarity.cosine([1], [0])",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "vector.similarity.cosine([1], [1, 2])",
            "ArgumentError: InvalidArgumentValue",
        ),
        ("vector.similarity.euclidean([1, 2], [1, 4])", "0.2"),
        ("vector.similarity.euclidean(null, [1, 4])", "NULL"),
        ("apoc.coll.toSet([1, 2, 1.0, null, null])", "[1, 2, NULL]"),
        ("apoc.coll.flatten([1, [2, [3]]])", "[1, 2, [3]]"),
        ("apoc.coll.flatten([1, [2, [3]]], true)", "[1, 2, 3]"),
        (
            "apoc.map.clean({a: 1, b: null, c: '', d: 2}, ['d'], [''])",
            "{a: 1}",
        ),
        ("apoc.any.property({a: 1}, 'a')", "1"),
        ("apoc.util.validatePredicate(1 > 2, 'no', [])", "true"),
        (
            "apoc.util.validatePredicate(1 < 2, 'no', [])",
            "ProcedureError: ProcedureCallFailed: Failed to invoke function \
             `apoc.util.validatePredicate`: Caused by: java.lang.RuntimeException: no",
        ),
        (
            "apoc.date.convertFormat(toString(datetime('2024-02-29T12:00+01:00[Europe/Paris]')), \
             'iso_zoned_date_time', 'iso_offset_date_time')",
            "2024-02-29T12:00:00+01:00",
        ),
        (
            "apoc.date.convertFormat('2024-02-29T12:00:01.5Z', 'iso_zoned_date_time')",
            "2024-02-29",
        ),
        (
            "apoc.date.convertFormat('2024-02-29T12:00:01.5', 'iso_local_date_time', \
             'iso_date_time')",
            "2024-02-29T12:00:01.5",
        ),
        (
            "apoc.date.convertFormat('2024-02-29T12:00', 'iso_local_date_time', \
             'iso_offset_date_time')",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "apoc.date.convertFormat('2024-02-29', 'iso_date', 'dd.MM.yyyy')",
            "NotSupported",
        ),
        ("apoc.meta.cypher.type([1, 2])", "LIST OF INTEGER"),
        ("apoc.meta.cypher.type([1, 'a'])", "LIST OF ANY"),
        ("apoc.meta.cypher.type(null)", "NULL"),
        (
            "apoc.meta.cypher.types({a: 1, b: datetime('2024-02-29T12:00Z')})",
            "{a: 'INTEGER', b: 'DATE_TIME'}",
        ),
        ("vector_norm([1.0], 'EUCLIDEAN')", "NotSupported"),
    ]);
}

#[test]
fn temporal_values() {
    check(&[
        ("date('2024-02-30')", "ArgumentError: InvalidArgumentValue"),
        (
            "date({year: 2024, month: 2, day: 30})",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "date({year: 2024, day: 3})",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "date({year: 2024, moon: 3})",
            "ArgumentError: InvalidArgumentValue",
        ),
        ("date('2024-01-31') + duration('P1M')", "2024-02-29"),
        ("date('2024-03-31') - duration({months: 1})", "2024-02-29"),
        (
            "date('+999999999-12-31') + duration({days: 1})",
            "ArgumentError: NumberOutOfRange",
        ),
        (
            "duration.between(date('2024-01-31'), date('2024-03-01'))",
            "P1M1D",
        ),
        (
            "datetime('2024-03-31T01:30[Europe/Berlin]') + duration('PT1H')",
            "2024-03-31T03:30+02:00[Europe/Berlin]",
        ),
        (
            "datetime('2024-03-30T02:30[Europe/Berlin]') + duration('P1D')",
            "2024-03-31T03:30+02:00[Europe/Berlin]",
        ),
        (
            "datetime({epochMillis: 1500, timezone: 'Europe/Berlin'})",
            "1970-01-01T01:00:01.500+01:00[Europe/Berlin]",
        ),
        (
            "datetime('2024-07-01T00:00Z') = datetime('2024-07-01T02:00+02:00')",
            "false",
        ),
        (
            "datetime('2024-07-01T00:00Z') < datetime('2024-07-01T02:00+01:00')",
            "true",
        ),
        ("date.truncate('week', date('2024-05-01'))", "2024-04-29"),
        (
            "date.truncate('hour', date('2024-05-01'))",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "localtime.truncate('minute', localtime('12:34:56.789'))",
            "12:34",
        ),
        ("duration({quarters: 1.5, hours: -1})", "P4M15DT4H14M33S"),
        ("duration('P1Y') < duration('P2Y')", "NULL"),
        ("duration('P1D') = duration('PT24H')", "false"),
        ("duration('P2DT3H') / 2", "P1DT1H30M"),
        ("date('2024-05-01').weekDay", "3"),
        ("date('2024-05-01').hour", "TypeError: InvalidArgumentValue"),
        ("date(datetime('2024-05-01T23:00+02:00'))", "2024-05-01"),
        ("time('12:00+01:00').offsetMinutes", "60"),
        ("size(toString(datetime())) > 16", "true"),
    ]);
}

#[test]
fn long_chains_of_operators_do_not_nest() {
    let chain = |part: &str, op: &str| format!("RETURN {} AS x", vec![part; 50_000].join(op));
    assert_eq!(rows_of(&chain("1", " + ")), "50000");
    assert_eq!(rows_of(&chain("true", " AND ")), "true");
    assert_eq!(rows_of(&chain("1", " <= ")), "true");
}

/// What random statements beside Neo4j have found (`tests/cypher/neo4j`).
#[test]
fn values_are_those_of_neo4j() {
    check(&[
        ("toString(time('10:00+02:00'))", "10:00:00+02:00"),
        ("toStringList([localtime('10:00:00.5')])", "['10:00:00.5']"),
        (
            "toString(localdatetime('2020-01-01T10:00'))",
            "2020-01-01T10:00:00",
        ),
        (
            "toString(datetime('2021-10-31T02:30+01:00[Europe/Stockholm]'))",
            "2021-10-31T02:30:00+01:00[Europe/Stockholm]",
        ),
        (
            "toString(point({x: 1, y: 2}))",
            "point({x: 1.0, y: 2.0, crs: 'cartesian'})",
        ),
        (
            "toString(point({longitude: 200, latitude: 2, height: 3}))",
            "point({x: -160.0, y: 2.0, z: 3.0, crs: 'wgs-84-3d'})",
        ),
        ("point({longitude: 540, latitude: 2}).x", "180.0"),
        ("point({x: 1, y: 2, height: 3}).srid", "7203"),
        (
            "point({x: 1, latitude: 2})",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "point({x: 0.0 / 0.0, y: 2})",
            "ArgumentError: InvalidArgumentValue",
        ),
        (
            "point({x: 1, y: 2}).z",
            "ArgumentError: InvalidArgumentValue",
        ),
        ("[date('2020-01-01'), 'a'][0] + 'b'", "2020-01-01b"),
        ("'b' + [duration('P1D'), 'a'][0]", "bP1D"),
        (
            "valueType([[1], [2, null]])",
            "LIST<LIST<INTEGER> NOT NULL> NOT NULL",
        ),
        (
            "valueType([[1], ['a'], []])",
            "LIST<LIST<STRING NOT NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL> NOT NULL",
        ),
        ("[1 IN [1], 2]", "[true, 2]"),
        ("[x IN CASE 1 WHEN 1, 2 THEN [1] END | x]", "[1]"),
        ("keys([null, 'a', 1][0])", "NULL"),
        ("keys(CASE WHEN true THEN null ELSE 1 END)", "NULL"),
        ("split('abc', ['b', null])", "NULL"),
        ("duration('P1D') <= duration('P1D')", "true"),
        ("duration('P1D') < duration('P1D')", "NULL"),
        ("duration('P1D') <= duration('P2D')", "NULL"),
        ("[duration('P1D')] >= [duration('P1D')]", "true"),
    ]);
}

/// Nulls and missing parts of dates and times, as Neo4j has them.
#[test]
fn parts_of_times_are_those_of_neo4j() {
    const WRONG: &str = "ArgumentError: InvalidArgumentValue";
    check(&[
        ("date({year: 2020, month: null, day: null})", "2020-01-01"),
        ("date({date: date('2020-02-29'), day: null})", "2020-02-01"),
        ("date({date: date('2020-02-29'), week: null})", "2020-01-04"),
        ("date({year: null})", "0000-01-01"),
        ("date({date: null})", WRONG),
        (
            "localtime({time: localtime('12:31'), minute: null})",
            "12:00",
        ),
        ("localdatetime({year: 2020, hour: 1})", WRONG),
        ("localdatetime({year: 2020, month: 1, hour: 1})", WRONG),
        ("localdatetime({year: 2020, week: 1, hour: 1})", WRONG),
        (
            "localdatetime({year: 2020, time: localtime('10:00')})",
            WRONG,
        ),
        (
            "localdatetime({year: 2020, ordinalDay: 1, hour: 1})",
            "2020-01-01T01:00",
        ),
        ("datetime({epochSeconds: 1, nanosecond: -1})", WRONG),
        ("datetime({epochMillis: null})", WRONG),
        ("datetime.fromepoch(1, 1000000000)", WRONG),
        ("localtime('T21:40')", "21:40"),
        ("duration({})", WRONG),
        ("localtime('21:40:32.1234567891')", WRONG),
        ("duration('PT0.1234567891S')", WRONG),
        ("duration({days: 106751991167300})", "P106751991167300D"),
        (
            "duration({days: 106751991167301})",
            "ArgumentError: NumberOutOfRange",
        ),
    ]);
}
