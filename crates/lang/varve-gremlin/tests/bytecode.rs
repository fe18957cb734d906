//! Bytecode is converted to the same tree as the text of the traversal.

#[path = "support/encode.rs"]
mod encode;

use varve_gremlin::bytecode::{Bytecode, Instruction, Value, from_bytecode};
use varve_gremlin::tree::{Argument, ElementLiteral};
use varve_gremlin::{ErrorCode, NESTING_MAX, STEPS_MAX, parse_script, parse_traversal};

fn string(text: &str) -> Value {
    Value::Plain(Argument::String(text.into()))
}

fn instruction(name: &str, arguments: Vec<Value>) -> Instruction {
    Instruction {
        name: name.into(),
        arguments,
    }
}

fn steps(steps: Vec<Instruction>) -> Bytecode {
    Bytecode {
        source: Vec::new(),
        steps,
    }
}

fn read(bytecode: Bytecode) -> String {
    from_bytecode(bytecode).map_or_else(
        |error| error.code.text().to_owned(),
        |tree| tree.to_string(),
    )
}

#[test]
fn a_text_and_its_bytecode_are_one_tree() {
    for text in [
        "g.V().has('person', 'name', within('marko', 'vadas')).out('knows').limit(2)",
        "g.withSack(1, sum).withSideEffect('a', {1}).V(1L, 'x').sack()",
        "g.with('evaluationTimeout', 500L).with('x').V()",
        "g.withStrategies(new SubgraphStrategy(vertices: __.hasLabel('person')), ReadOnlyStrategy).V()",
        "g.withStrategies(OptionsStrategy(a: 1)).V()",
        "g.withoutStrategies(LazyBarrierStrategy).V()",
        "g.V().is(gt(1).and(lt(3)).and(neq(2)).or(eq(9))).is(not(eq(1))).is(between(1, 2))",
        "g.V().none().none(eq(1))",
        "g.mergeV([(T.label): 'a', name: null]).option(onCreate, [a: list(1)])",
        "g.V().repeat(__.out()).times(2).emit(__.not(__.in()))",
        "g.inject(1b, 1s, 1, 1L, 1n, 1.0f, 1.0, 1.0m, null, true, datetime('2023-08-02'), UUID('6100808b-62f9-42b7-957e-ed66c30f40d1'))",
        "g.V().valueMap().with(WithOptions.tokens, WithOptions.ids)",
    ] {
        let tree = parse_traversal(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let bytecode = encode::encode(&tree).unwrap_or_else(|| panic!("{text} has variables"));
        let again = from_bytecode(bytecode).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(again, parse_script(text).unwrap(), "{again}");
    }
}

#[test]
fn transactions_are_what_their_text_is() {
    for command in ["begin", "commit", "rollback"] {
        let bytecode = Bytecode {
            source: vec![instruction("tx", vec![string(command)])],
            steps: Vec::new(),
        };
        let text = format!("g.tx().{command}()");
        assert_eq!(from_bytecode(bytecode), parse_script(&text));
    }
}

#[test]
fn what_only_drivers_send_is_taken() {
    let nested = Value::Bytecode(Bytecode::default());
    assert_eq!(
        read(steps(vec![
            instruction("V", vec![]),
            instruction("map", vec![nested])
        ])),
        "g.V().map(__.identity())"
    );
    let bound = Value::Binding(Box::new(string("a")));
    assert_eq!(read(steps(vec![instruction("V", vec![bound])])), "g.V('a')");
    let vertex = ElementLiteral::Vertex {
        id: Argument::Int(1),
        label: Argument::String("person".into()),
    };
    assert_eq!(
        read(steps(vec![instruction("V", vec![vertex.into()])])),
        "g.V(new Vertex(1, 'person'))"
    );
    let source = vec![instruction(
        "withoutStrategies",
        vec![Value::Class("a.b.CountStrategy".into())],
    )];
    let bytecode = Bytecode {
        source,
        steps: vec![instruction("V", vec![])],
    };
    assert_eq!(read(bytecode), "g.withoutStrategies(CountStrategy).V()");
    let configured = Value::Strategy {
        class: "a.b.CountStrategy".into(),
        configuration: vec![("a".into(), Value::Plain(Argument::Int(1)))],
    };
    let bytecode = Bytecode {
        source: vec![instruction("withoutStrategies", vec![configured])],
        steps: vec![instruction("V", vec![])],
    };
    assert_eq!(read(bytecode), "g.withoutStrategies(CountStrategy).V()");
}

#[test]
fn what_is_no_traversal_is_refused_with_a_code() {
    let step = |name: &str, arguments| read(steps(vec![instruction(name, arguments)]));
    assert_eq!(step("V2", vec![]), ErrorCode::NoSuchMethod.text());
    assert_eq!(
        step("out", vec![Value::Plain(Argument::Int(1))]),
        ErrorCode::WrongArguments.text()
    );
    assert_eq!(step("map", vec![Value::Lambda]), ErrorCode::Closure.text());
    let token = |class: &str, name: &str| Value::Token {
        class: class.into(),
        name: name.into(),
    };
    assert_eq!(
        step("order", vec![token("Scope", "here")]),
        ErrorCode::Bytecode.text()
    );
    assert_eq!(
        step("order", vec![token("File", "local")]),
        ErrorCode::Bytecode.text()
    );
    let like = Value::Predicate {
        name: "like".into(),
        operands: vec![],
    };
    assert_eq!(step("is", vec![like]), ErrorCode::NoSuchMethod.text());
    for name in ["and", "or", "not"] {
        for operands in [vec![], vec![string("a")]] {
            let predicate = Value::Predicate {
                name: name.into(),
                operands,
            };
            let code = step("is", vec![predicate]);
            assert!(code.starts_with("gremlin_"), "{code}");
        }
    }
    let computer = Bytecode {
        source: vec![instruction("withComputer", vec![])],
        steps: vec![],
    };
    assert_eq!(read(computer), ErrorCode::NoSuchMethod.text());
}

#[test]
fn the_limits_of_texts_hold_for_bytecode() {
    let many = vec![instruction("out", vec![]); STEPS_MAX + 1];
    assert_eq!(read(steps(many)), ErrorCode::TooManySteps.text());
    let mut value = string("a");
    for _ in 0..=NESTING_MAX {
        value = Value::List(vec![value]);
    }
    assert_eq!(
        read(steps(vec![instruction("inject", vec![value])])),
        ErrorCode::TooDeep.text()
    );
}
