//! Traversals of gremlin-lang, in its current and older syntax, and the expected trees.

use varve_gremlin::tree::{
    Argument, Cardinality, Direction, ElementLiteral, GType, Merge, Order, Predicate,
    PredicateName, Root, SourceName, Step, StepName, T, Terminal, Traversal,
};
use varve_gremlin::{ErrorCode, parse_script, parse_traversal};

fn traversal(text: &str) -> Traversal {
    parse_traversal(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The last step of `g.` followed by the text.
fn last(text: &str) -> Step {
    traversal(&format!("g.{text}")).steps.pop().expect("a step")
}

/// The arguments of `inject(…)`.
fn values(text: &str) -> Vec<Argument> {
    last(&format!("inject({text})")).arguments
}

fn value(text: &str) -> Argument {
    let mut values = values(text);
    assert_eq!(values.len(), 1, "{text}");
    values.remove(0)
}

fn string(text: &str) -> Argument {
    Argument::String(text.into())
}

/// The code of the error in a text.
fn code(text: &str) -> ErrorCode {
    match parse_script(text) {
        Ok(tree) => panic!("{text} is read as {tree}"),
        Err(error) => error.code,
    }
}

#[test]
fn a_traversal_has_a_root_a_source_steps_and_a_terminal() {
    let read = traversal("g.withSack(1).with('x').V(1).out('knows').as('a').next()");
    assert_eq!(read.root, Root::Source("g".into()));
    let sources: Vec<SourceName> = read
        .source
        .iter()
        .map(|instruction| instruction.name)
        .collect();
    assert_eq!(sources, [SourceName::WithSack, SourceName::With]);
    let steps: Vec<StepName> = read.steps.iter().map(|step| step.name).collect();
    assert_eq!(steps, [StepName::V, StepName::Out, StepName::As]);
    assert_eq!(read.terminal, Some(Terminal::Next));
    let many = traversal("g.V().next(3)").terminal;
    assert_eq!(many, Some(Terminal::NextMany(Box::new(Argument::Int(3)))));
    assert_eq!(traversal("g.V()").terminal, None);
}

#[test]
fn numbers_keep_the_width_that_they_are_written_with() {
    for (text, meant) in [
        ("0", Argument::Int(0)),
        ("1", Argument::Int(1)),
        ("-1", Argument::Int(-1)),
        ("+1", Argument::Int(1)),
        ("1i", Argument::Int(1)),
        ("1b", Argument::Byte(1)),
        ("-128B", Argument::Byte(-128)),
        ("1s", Argument::Short(1)),
        ("1L", Argument::Long(1)),
        ("1l", Argument::Long(1)),
        ("2147483647", Argument::Int(i32::MAX)),
        ("-2147483648", Argument::Int(i32::MIN)),
        ("2147483648", Argument::Long(2_147_483_648)),
        ("-9223372036854775808", Argument::Long(i64::MIN)),
        ("0x1F", Argument::Int(31)),
        ("0xffL", Argument::Long(255)),
        ("017", Argument::Int(15)),
        ("1_000_000_000_0", Argument::Long(10_000_000_000)),
        ("1.5", Argument::Double(1.5)),
        ("1.5d", Argument::Double(1.5)),
        ("1d", Argument::Double(1.0)),
        ("1.5f", Argument::Float(1.5)),
        ("1e3", Argument::Double(1000.0)),
        ("1.5E-3", Argument::Double(0.0015)),
        ("Infinity", Argument::Double(f64::INFINITY)),
        ("+Infinity", Argument::Double(f64::INFINITY)),
        ("-Infinity", Argument::Double(f64::NEG_INFINITY)),
    ] {
        assert_eq!(value(text), meant, "{text}");
    }
    assert!(matches!(value("NaN"), Argument::Double(nan) if nan.is_nan()));
    assert!(matches!(value("1n"), Argument::BigInt(_)));
    assert!(matches!(value("9223372036854775808"), Argument::BigInt(_)));
    assert!(matches!(value("1.50m"), Argument::BigDecimal(_)));
    assert_eq!(value("1.50m").to_string(), "1.50m");
    for text in [
        "128b",
        "40000s",
        "2147483648i",
        "9223372036854775808L",
        "08",
        "1x",
        "0x",
        "1.2.3",
        "1e",
    ] {
        let code = code(&format!("g.inject({text})"));
        assert!(
            matches!(code, ErrorCode::Literal | ErrorCode::Syntax),
            "{text}: {code:?}"
        );
    }
    let digits = "9".repeat(100_000);
    assert_eq!(code(&format!("g.inject({digits})")), ErrorCode::Literal);
    assert_eq!(code("g.inject(1e999999999m)"), ErrorCode::Literal);
}

#[test]
fn strings_have_the_escapes_of_java() {
    for (text, meant) in [
        (r#""it's""#, "it's"),
        (r"'it\'s'", "it's"),
        (r"''", ""),
        (r"'a\tb\\n\n'", "a\tb\\n\n"),
        (r"'\u00e9\uuu00e9\101\7'", "ééA\u{7}"),
        (r"'\ud83d\ude00'", "😀"),
        ("'a\\\nb'", "ab"),
        ("'''a'b'''", "a'b"),
        (r"'\$x $y ${z}'", "$x $y ${z}"),
        ("'日本'", "日本"),
    ] {
        assert_eq!(value(text), string(meant), "{text}");
    }
    assert_eq!(code("g.inject('a"), ErrorCode::Syntax);
    assert_eq!(code(r"g.inject('\q')"), ErrorCode::Literal);
    assert_eq!(code(r"g.inject('\u12')"), ErrorCode::Literal);
    assert_eq!(code(r#"g.inject("a${b}")"#), ErrorCode::Interpolation);
}

#[test]
fn collections_hold_values_of_any_kind() {
    assert_eq!(value("[]"), Argument::List(vec![]));
    assert_eq!(value("[:]"), Argument::Map(vec![]));
    assert_eq!(value("{}"), Argument::Set(vec![]));
    assert_eq!(
        value("[1, 'a']"),
        Argument::List(vec![Argument::Int(1), string("a")])
    );
    assert_eq!(value("{1}"), Argument::Set(vec![Argument::Int(1)]));
    assert_eq!(
        value("1..3"),
        Argument::Range(Box::new((Argument::Int(1), Argument::Int(3))))
    );
    let map = value("[label: 1, 'b': 2, (T.id): 3, T.label: 4, (label): 5, 6: 7, [1]: 8, (x): 9]");
    let Argument::Map(entries) = map else {
        panic!("{map}")
    };
    let keys: Vec<Argument> = entries.into_iter().map(|(key, _)| key).collect();
    assert_eq!(
        keys,
        [
            string("label"),
            string("b"),
            Argument::T(T::Id),
            Argument::T(T::Label),
            Argument::T(T::Label),
            Argument::Int(6),
            Argument::List(vec![Argument::Int(1)]),
            Argument::Variable("x".into()),
        ]
    );
}

#[test]
fn tokens_stand_bare_or_behind_their_class() {
    for (bare, full) in [
        (
            "V().order().by('a', desc)",
            "V().order().by('a', Order.desc)",
        ),
        (
            "V().order().by('a', decr)",
            "V().order().by('a', Order.desc)",
        ),
        ("V().count(local)", "V().count(Scope.local)"),
        ("V().select(keys)", "V().select(Column.keys)"),
        ("V().select(last, 'a')", "V().select(Pop.last, 'a')"),
        ("V().has(id, 1)", "V().has(T.id, 1)"),
        ("V().toE(OUT, 'a')", "V().toE(Direction.OUT, 'a')"),
        ("V().sack(sum)", "V().sack(Operator.sum)"),
        (
            "V().barrier(normSack)",
            "V().barrier(SackFunctions.Barrier.normSack)",
        ),
        (
            "V().option(none, __.id())",
            "V().option(Pick.none, __.id())",
        ),
        (
            "V().property(list, 'a', 1)",
            "V().property(VertexProperty.Cardinality.list, 'a', 1)",
        ),
        ("V().asNumber(INT)", "V().asNumber(GType.INT)"),
        (
            "inject(datetime('2023-08-02')).dateAdd(day, 1)",
            "inject(datetime('2023-08-02')).dateAdd(DT.day, 1)",
        ),
    ] {
        assert_eq!(last(bare), last(full), "{bare}");
    }
    assert_eq!(value("Direction.from"), Argument::Direction(Direction::Out));
    assert_eq!(value("Cardinality.set(1)"), value("set(1)"));
    assert_eq!(
        value("set(1)"),
        Argument::CardinalityValue(Cardinality::Set, Box::new(Argument::Int(1)))
    );
    assert_eq!(code("g.V().order().by('a', Order.up)"), ErrorCode::Static);
}

#[test]
fn constants_are_the_values_that_they_stand_for() {
    let step = last("V().valueMap().with(WithOptions.tokens, WithOptions.labels)");
    assert_eq!(
        step.arguments,
        [string("~tinkerpop.valueMap.tokens"), Argument::Int(2)]
    );
    let step = last("io('f').with(IO.reader, IO.graphson)");
    assert_eq!(
        step.arguments,
        [string("~tinkerpop.io.reader"), string("graphson")]
    );
}

#[test]
fn predicates_are_joined_flat_and_negated_once() {
    let predicate = |text: &str| match last(&format!("V().is({text})")).arguments.pop() {
        Some(Argument::Predicate(predicate)) => *predicate,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(predicate("gt(1)"), predicate("P.gt(1)"));
    assert_eq!(
        predicate("containing('a')"),
        predicate("TextP.containing('a')")
    );
    assert!(
        matches!(predicate("gt(1).and(lt(3)).and(neq(2))"), Predicate::And(all) if all.len() == 3)
    );
    assert!(
        matches!(predicate("gt(1).and(lt(3)).or(eq(9))"), Predicate::Or(any) if any.len() == 2)
    );
    assert_eq!(predicate("eq(1).negate()"), predicate("not(eq(1))"));
    assert_eq!(predicate("P.not(not(eq(1)))"), predicate("eq(1)"));
    assert_eq!(
        predicate("(gt(1)).and(lt(3))"),
        predicate("gt(1).and(lt(3))")
    );
    assert_eq!(code("g.V().is((gt(1)).value())"), ErrorCode::NoSuchMethod);
    assert_eq!(predicate("within(1, 2)"), predicate("within([1, 2])"));
    assert_eq!(predicate("within()"), predicate("within([])"));
    assert!(matches!(
        predicate("typeOf(GType.INT)"),
        Predicate::Test { name: PredicateName::TypeOf, arguments } if arguments == [Argument::GType(GType::Int)]
    ));
    assert_eq!(
        predicate("Text.contains('w')"),
        predicate("ConditionP.textContains('w')")
    );
    assert_eq!(predicate("ConditionP.eq('w')"), predicate("eq('w')"));
    assert_eq!(code("g.V().is(gt(1, 2))"), ErrorCode::WrongArguments);
    assert_eq!(code("g.V().is(P.like('a'))"), ErrorCode::NoSuchMethod);
}

#[test]
fn a_nested_traversal_begins_with_a_step_or_with_two_underscores() {
    assert_eq!(last("V().map(out().id())"), last("V().map(__.out().id())"));
    assert_eq!(
        last("V().where(not(out()))"),
        last("V().where(__.not(__.out()))")
    );
    assert_eq!(last("V().where(__.in('a'))"), last("V().where(in('a'))"));
    let step = last("V(g.V().next())");
    assert!(matches!(
        step.arguments.as_slice(),
        [Argument::Traversal(inner)] if inner.terminal == Some(Terminal::Next)
    ));
    assert_eq!(code("g.V().map(__.out().next())"), ErrorCode::Syntax);
}

#[test]
fn forms_of_older_versions_are_read() {
    assert_eq!(last("V().none()"), last("V().discard()"));
    assert_eq!(last("V().none(gt(1))").name, StepName::None);
    assert_eq!(last("V().store('x')").name, StepName::Store);
    assert_eq!(last("V().aggregate(local, 'x')").arguments.len(), 2);
    let step = last("V().addE('a').to(new Vertex(1, 'person'))");
    assert!(matches!(
        step.arguments.as_slice(),
        [Argument::Element(element)] if matches!(**element, ElementLiteral::Vertex { .. })
    ));
    assert_eq!(
        step,
        last("V().addE('a').to(new ReferenceVertex(1, 'person'))")
    );
    assert_eq!(last("V().has('a', __.is(1))").arguments.len(), 2);
    let built = traversal(
        "g.withStrategies(SubgraphStrategy.build().vertices(__.hasLabel('a')).create()).V()",
    );
    let made = traversal("g.withStrategies(new SubgraphStrategy(vertices: __.hasLabel('a'))).V()");
    assert_eq!(built, made);
    // Options are equivalent to with(). Without options the strategy has no effect.
    let source = |text: &str| parse_script(text).map(|script| script.to_string());
    assert_eq!(
        source("g.withStrategies(OptionsStrategy(a: 1)).V()"),
        source("g.with('a', 1).V()")
    );
    assert_eq!(source("g.with('a').V()"), source("g.with('a', true).V()"));
    assert_eq!(source("g.withStrategies(OptionsStrategy)"), source("g"));
}

#[test]
fn merge_takes_maps_with_tokens_as_keys() {
    let step = last(
        "mergeE([(T.label): 'knows', (from): 1, (Direction.IN): x]).option(onCreate, [a: single(1)])",
    );
    assert_eq!(step.arguments[0], Argument::Merge(Merge::OnCreate));
    assert_eq!(last("mergeV(null)").arguments, [Argument::Null]);
    assert_eq!(
        last("mergeV(m)").arguments,
        [Argument::Variable("m".into())]
    );
}

#[test]
fn a_variable_may_be_any_argument() {
    for text in [
        "V(x)",
        "V().limit(x)",
        "V().has(a, b)",
        "V().out(x, y)",
        "V().by(x)",
        "V().repeat(__.out()).times(n)",
        "V().is(gt(x))",
        "V().order().by('a', x)",
        "inject(x, [x], [k: x])",
        "V().valueMap(x)",
    ] {
        let printed = last(text).to_string();
        assert!(
            text.ends_with(&printed) || printed.contains('x'),
            "{printed}"
        );
    }
}

#[test]
fn a_wrong_call_names_the_step_what_it_was_given_and_what_it_takes() {
    let error = parse_script("g.V().\n  limit('x')").expect_err("a string is no number");
    assert_eq!(error.code, ErrorCode::WrongArguments);
    assert_eq!((error.line, error.column), (2, 2));
    for part in [
        "Query parsing failed at line 2, character position at 2, error message : ",
        "limit() is applicable for argument types: (String) values: ['x']",
        "limit(Integer), limit(Scope, Integer)",
    ] {
        assert!(error.to_string().contains(part), "{error}");
    }
    let error = parse_script("g.V2()").expect_err("no such step");
    assert_eq!(error.code, ErrorCode::NoSuchMethod);
    assert_eq!(
        error.code.groovy_exception(),
        "groovy.lang.MissingMethodException"
    );
    assert!(
        error.message.starts_with("No signature of method: "),
        "{error}"
    );
    assert!(
        error
            .message
            .contains(".V2() is applicable for argument types: ()"),
        "{error}"
    );
    for text in [
        "g.V().outt('a')",
        "g.V().out(1)",
        "g.out()",
        "g.V().by(1)",
        "g.V().times()",
        "g.withBulk(1).V()",
        "g.V().next('a')",
        "g.V().toList(1)",
    ] {
        let code = code(text);
        assert!(
            matches!(code, ErrorCode::NoSuchMethod | ErrorCode::WrongArguments),
            "{text}: {code:?}"
        );
    }
}

#[test]
fn what_follows_no_rule_is_an_error_with_its_place() {
    for (text, column) in [
        ("g.V(", 4),
        ("g.V()..out()", 5),
        ("g.V() out", 6),
        ("g.V(1,)", 6),
        ("g.V(]", 4),
        ("@", 0),
    ] {
        let error = parse_script(text).expect_err(text);
        assert_eq!(error.code, ErrorCode::Syntax, "{text}: {error}");
        assert_eq!((error.line, error.column), (1, column), "{text}: {error}");
    }
    assert_eq!(
        parse_traversal("g.V(); g.E()").unwrap_err().code,
        ErrorCode::Syntax
    );
    assert_eq!(parse_traversal("1").unwrap_err().code, ErrorCode::Syntax);
}

#[test]
fn queries_follow_each_other_as_in_gremlin_lang() {
    let count = |text: &str| parse_script(text).map(|script| script.statements.len());
    assert_eq!(count("g.V(); g.E()"), Ok(2));
    assert_eq!(count("g.V() g.E()"), Ok(2));
    assert_eq!(count("g.V();;"), Ok(1));
    assert_eq!(count(""), Ok(0));
    assert_eq!(count("g"), Ok(1));
    assert_eq!(count("g.tx().commit()"), Ok(1));
    assert_eq!(count("g.V().toString()"), Ok(1));
    assert_eq!(count("g.withBulk(false).tx().begin()"), Ok(1));
}

#[test]
fn order_of_a_span_is_that_of_the_text() {
    let text = "g.V().\n  order(). by('age' , Order.desc )";
    let read = traversal(text);
    let step = read.steps.last().expect("a step");
    let written = &text[step.span.start as usize..step.span.end as usize];
    assert_eq!(written, "by('age' , Order.desc )");
    assert_eq!(step.arguments[1], Argument::Order(Order::Desc));
    assert_eq!((read.span.start, read.span.end as usize), (0, text.len()));
}
