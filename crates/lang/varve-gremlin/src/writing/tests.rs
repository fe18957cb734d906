//! Which scripts may write, by their trees, and that no run of another one does.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use varve_model::{EdgeId, EdgeLabelId, Properties, PropertyKeyId, VertexId, VertexLabelId};
use varve_query::value::{EdgeHandle, VertexHandle, VertexProperty, Walked};
use varve_query::{QueryError, Value};

use crate::bind::Bound;
use crate::bytecode::{self, Bytecode, Instruction, from_bytecode};
use crate::execute::{Environment, Host, Results, Source, execute_in};
use crate::script::SCRIPT_METHODS;
use crate::tree::{Argument, StepName, Text};
use crate::{parse_script, parse_script_with};

fn may_write(text: &str) -> bool {
    parse_script(text).is_ok_and(|script| script.may_write())
}

/// The texts whose scripts may not write.
fn missed<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let missed = texts.iter().filter(|text| !may_write(text));
    missed.copied().collect()
}

#[test]
fn a_step_that_writes_makes_a_script_one_that_may_write() {
    let steps = [
        "g.addV('person')",
        "g.V('a').addE('knows').to(V('b'))",
        "g.mergeV([name: 'marko'])",
        "g.mergeE([(T.label): 'knows'])",
        "g.V('a').property('age', 30)",
        "g.V('a').drop()",
    ];
    assert_eq!(missed(&steps), [""; 0]);
}

#[test]
fn a_method_that_writes_makes_a_script_one_that_may_write() {
    let methods = [
        "graph.addVertex(T.label, 'person')",
        "v = g.V('a').next(); w = g.V('b').next(); v.addEdge('knows', w)",
        "v = g.V('a').next(); v.property('age', 30)",
        "g.V('a').next().property('age', 30)",
        "v = g.V('a').next(); v.remove()",
        "g.V('a').properties('age').next().remove()",
        "g.E('e').next().remove()",
        // The steps of a traversal in a variable are its methods.
        "t = g.V(); t = t.drop(); t.iterate()",
        "(g.V()).drop()",
    ];
    assert_eq!(missed(&methods), [""; 0]);
}

#[test]
fn a_change_is_found_wherever_it_stands() {
    let places = [
        // Of a traversal.
        "g.V().sideEffect(addV('n'))",
        "g.V().choose(out(), __.union(id(), __.repeat(addV('n')).times(2)), label())",
        "g.V().fold().coalesce(unfold(), addV('n'))",
        "g.V().has('name', within(1, g.addV('n').next().id()))",
        "g.V().has('name', not(eq(g.addV('n').next().id()).and(neq(1))))",
        "g.V().group().by(__.addV('n'))",
        "g.inject([a: g.addV('n').next()])",
        "g.inject({1, g.addV('n').next()})",
        "g.withSideEffect('a', g.addV('n').next()).V()",
        "g.withStrategies(new SubgraphStrategy(vertices: __.addV('n'))).V()",
        "g.V().next(1 + g.addV('n').count().next())",
        "graph.vertex(g.addV('n').next().id()).traversal().V()",
        "g.V(new Vertex(g.addV('n').next().id(), 'n'))",
        // Of an expression.
        "t = g.addV('n')",
        "def t = g.addV('n')\nt.next()",
        "return g.addV('n')",
        "[1, g.addV('n')]",
        "1..g.V().drop().toList().size()",
        "g.addV('n').next().name",
        "g.addV('n').toList()[0]",
        "m = [:]; m[g.addV('n').next()] = 1",
        "m = [:]; m.n = g.addV('n').next()",
        "m = [:]; m[g.addV('n').next()]++",
        "!g.addV('n').hasNext()",
        "1 + g.addV('n').toList().size()",
        "g.addV('n').hasNext() ? 1 : 2",
        "x = 1; x ? g.addV('n') : 2",
        "x = 1; x ?: g.addV('n')",
        "sleep(g.addV('n').count().next())",
        "l = []; l.add(g.addV('n').next())",
        // Of a statement.
        "if (g.addV('n').hasNext()) 1",
        "x = 1; if (x) g.addV('n') else 2",
        "x = 1; if (x) { 2 } else { g.addV('n').next() }",
        "for (x = g.addV('n').next(); false; ) { 1 }",
        "for (int i = 0; g.addV('n').hasNext(); i++) { 1 }",
        "for (int i = 0; i < 2; i += g.addV('n').toList().size()) { 1 }",
        "for (int i = 0; i < 2; i++) { g.addV('n').next() }",
        "for (v in g.addV('n')) { 1 }",
        "for (v in g.V()) { g.addV('n').next() }",
        "while (g.addV('n').hasNext()) { break }",
        "while (true) { g.addV('n').next() }",
        "try { g.addV('n').next() } catch (Exception e) { 1 }",
        "try { 1 } catch (Exception e) { g.addV('n').next() }",
        "try { 1 } catch (Exception e) { 2 } finally { g.addV('n').next() }",
    ];
    assert_eq!(missed(&places), [""; 0]);
}

#[test]
fn a_script_that_only_names_a_change_is_a_read() {
    let reads = [
        "",
        "g.V()",
        "g.V().has('name', 'drop')",
        "g.V().has('property', 'addV').values('remove') // drop()",
        "drop = 'g.addV()'; drop",
        "g.V().propertyMap().next()",
        "g.V().properties('addEdge').hasNext()",
        "v = g.V('a').next(); v.value('property')",
        "g.tx().commit()",
        "g.tx().rollback()",
        "g.withStrategies(ReadOnlyStrategy).V()",
        "graph.schema().propertyKey('property').asText().create()",
    ];
    for text in reads {
        assert!(parse_script(text).is_ok(), "{text}");
    }
    assert_eq!(missed(&reads), reads);
}

#[test]
fn bytecode_may_write_like_the_text() {
    let script = |source: Vec<Instruction>, steps| {
        from_bytecode(Bytecode { source, steps }).expect("a script")
    };
    let call = |name: &str, arguments| Instruction {
        name: name.into(),
        arguments,
    };
    let text = |text: &str| bytecode::Value::Plain(Argument::String(text.into()));
    let nested = |steps| {
        bytecode::Value::Bytecode(Bytecode {
            source: Vec::new(),
            steps,
        })
    };
    let added = || vec![call("addV", vec![text("n")])];
    assert!(script(Vec::new(), added()).may_write());
    let child = vec![call("V", Vec::new()), call("map", vec![nested(added())])];
    assert!(script(Vec::new(), child).may_write());
    let read = vec![call("V", Vec::new()), call("hasLabel", vec![text("addV")])];
    assert!(!script(Vec::new(), read).may_write());
    assert!(!script(vec![call("tx", vec![text("commit")])], Vec::new()).may_write());
}

/// A host that notes whether a traversal writes, and reads `results`.
#[derive(Default)]
struct Noting {
    results: Results,
    has_written: bool,
}

impl Host for Noting {
    fn run(&mut self, _: &Source, bound: &Bound, _: Option<u64>) -> Result<Results, QueryError> {
        self.has_written |= bound.plan.writes();
        Ok(self.results.clone())
    }

    fn check(&self) -> Result<(), QueryError> {
        Ok(())
    }
}

/// Elements of all kinds by the names of variables.
fn elements() -> HashMap<Text, Value> {
    let vertex = |id: &str| {
        let id = VertexId::Text(id.into());
        Arc::new(VertexHandle::new(id, Some(VertexLabelId(1))))
    };
    let edge = EdgeHandle {
        id: EdgeId {
            source: VertexId::Text("v".into()),
            parent: EdgeLabelId(1),
            label: EdgeLabelId(1),
            sort_values: Text::default(),
            target: VertexId::Text("w".into()),
        },
        is_given: false,
        label_name: "knows".into(),
        source_label: VertexLabelId(1),
        target_label: VertexLabelId(1),
        properties: Properties::new(),
        newer: Default::default(),
    };
    let property = VertexProperty {
        vertex: vertex("v"),
        key: PropertyKeyId(1),
        name: "age".into(),
        number: 0,
        value: Value::Int(29),
        meta: Properties::new(),
    };
    HashMap::from([
        ("v".into(), Value::Vertex(vertex("v"))),
        ("w".into(), Value::Vertex(vertex("w"))),
        ("e".into(), Value::Edge(Arc::new(edge), Walked::No)),
        ("p".into(), Value::VertexProperty(Arc::new(property))),
    ])
}

/// Calls every method and step with arguments that fit one that writes, on everything that a script
/// may hold, and compares what has run with what the tree shows.
#[test]
fn no_run_writes_of_a_script_that_may_not() {
    let names = SCRIPT_METHODS.iter().copied();
    let names: BTreeSet<_> = names
        .chain(StepName::ALL.iter().map(|step| step.text()))
        .collect();
    let receivers = ["v", "e", "p", "graph", "g", "t", "g.V()", "l", "m"];
    let given = [
        "",
        "'a'",
        "'a', 1",
        "'a', w",
        "[a: 1]",
        "1",
        "v",
        "T.label, 'n'",
    ];
    let variables = elements();
    let (mut written, mut guessed) = (BTreeSet::new(), BTreeSet::new());
    for name in names {
        for receiver in receivers {
            for given in given {
                let text = format!(
                    "t = g.V(); l = [1]; m = [a: 1]; r = {receiver}.{name}({given}); r.toList()"
                );
                let known = variables.keys().map(Text::as_str);
                let Ok(script) = parse_script_with(&text, known) else {
                    continue;
                };
                let mut host = Noting::default();
                let mut environment = Environment::from(variables.clone());
                // Most receivers do not have the method.
                let _ = execute_in(&script, &mut environment, &mut host);
                assert!(script.may_write() || !host.has_written, "{text}");
                if host.has_written {
                    written.insert(name);
                }
                if script.may_write() {
                    guessed.insert(name);
                }
            }
        }
    }
    // Nor does a name count as one that writes without need.
    assert_eq!(written, guessed);
    assert_eq!(
        Vec::from_iter(written),
        [
            "addE",
            "addEdge",
            "addV",
            "addVertex",
            "drop",
            "mergeE",
            "mergeV",
            "property",
            "remove"
        ]
    );
}
