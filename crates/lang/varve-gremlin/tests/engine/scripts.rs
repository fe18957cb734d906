//! Scripts on the graph `modern`: the values of statements, operators and methods, and the limits
//! of scripts that do not terminate.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{
    Environment, Host, Named, Outcome, Results, SchemaRequest, Source, TransactionEnd, execute_in,
};
use varve_gremlin::parse_script;
use varve_query::work::Watched;
use varve_query::{Query, QueryError, Value};
use varve_view::{CancelToken, Meter, MeterLimits};

use crate::modern::Modern;

/// A graph named `hugegraph`, with a log of the requests other than reads.
struct ScriptHost<'g> {
    graph: &'g Modern,
    meter: Meter,
    logged: Arc<Mutex<Vec<String>>>,
}

impl<'g> ScriptHost<'g> {
    fn new(graph: &'g Modern, cancel: CancelToken) -> Self {
        let limits = MeterLimits {
            rows_max: 50_000_000,
            bytes_max: 64 << 20,
            deadline: None,
        };
        Self {
            graph,
            meter: Meter::new(limits, cancel),
            logged: Arc::default(),
        }
    }

    fn log(&self, text: String) {
        self.logged.lock().expect("no panic").push(text);
    }
}

impl Host for ScriptHost<'_> {
    fn check(&self) -> Result<(), QueryError> {
        Ok(self.meter.check()?)
    }

    fn watched(&self) -> Option<Watched> {
        Some(self.meter.watched())
    }

    fn hold(&self, bytes: usize) -> Result<(), QueryError> {
        Ok(self.meter.hold(bytes)?)
    }

    fn named(&self, name: &str) -> Option<Named> {
        match name {
            "g" | "__g_hugegraph" => Some(Named::Source),
            "graph" | "hugegraph" | "DEFAULT-hugegraph" => Some(Named::Graph),
            _ => None,
        }
    }

    fn run(&mut self, _: &Source, bound: &Bound, most: Option<u64>) -> Result<Results, QueryError> {
        let graph = self.graph;
        let options = bound.options.clone();
        let mut query = Query::new(
            &bound.plan,
            &graph.view,
            &graph.schema,
            &self.meter,
            options,
        )?;
        let mut results = Vec::new();
        let most = most.map_or(usize::MAX, |most| most as usize);
        while results.len() < most {
            let Some(batch) = query.next(most - results.len())? else {
                break;
            };
            query.fill(&batch)?;
            results.extend(batch);
        }
        let mut left = most as u64;
        results.retain_mut(|(_, bulk)| {
            *bulk = (*bulk).min(left);
            left -= *bulk;
            *bulk > 0
        });
        Ok(results)
    }

    fn end(&mut self, source: &Source, end: TransactionEnd) -> Result<(), QueryError> {
        self.log(format!("{end:?} {source:?}"));
        Ok(())
    }

    fn schema(&mut self, graph: &str, request: &SchemaRequest) -> Result<Value, QueryError> {
        let SchemaRequest {
            kind,
            action,
            name,
            body,
        } = request;
        self.log(format!(
            "{graph} {action:?} {kind:?} {name} {}",
            body.shown()
        ));
        Ok(Value::map([(
            Value::text("name"),
            Value::Text(name.clone()),
        )]))
    }

    fn progress(&mut self, progress: u64) -> Result<(), QueryError> {
        self.log(format!("progress {progress}"));
        Ok(())
    }
}

fn run(
    text: &str,
    environment: &mut Environment,
    logged: &mut Vec<String>,
) -> Result<Outcome, QueryError> {
    let graph = Modern::new();
    let mut host = ScriptHost::new(&graph, CancelToken::default());
    let script = parse_script(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let outcome = execute_in(&script, environment, &mut host);
    logged.extend(host.logged.lock().expect("no panic").drain(..));
    outcome
}

/// The error of a script that is cancelled after so many checks.
pub(crate) fn cancelled_after(checks: usize, text: &str) -> QueryError {
    let left = AtomicUsize::new(checks);
    let token = CancelToken::watching(move || {
        let step = |left: usize| Some(left.saturating_sub(1));
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, step) == Ok(0)
    });
    let graph = Modern::new();
    let mut host = ScriptHost::new(&graph, token);
    let script = parse_script(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    match execute_in(&script, &mut Environment::default(), &mut host) {
        Ok(_) => panic!("{text} ended by itself"),
        Err(error) => error,
    }
}

/// The results of a script as a list, as returned to clients.
pub(crate) fn results(text: &str) -> Result<Value, QueryError> {
    let outcome = run(text, &mut Environment::default(), &mut Vec::new())?;
    let each = outcome.into_results().into_iter();
    let each = each.flat_map(|(value, bulk)| std::iter::repeat_n(value, bulk as usize));
    Ok(Value::list(each.collect()))
}

fn shown(text: &str) -> String {
    match results(text) {
        Ok(value) => value.shown().to_string(),
        Err(error) => panic!("{text}\n{error}"),
    }
}

/// The exception and the message of a script that fails; without an exception, the error code.
fn failed(text: &str) -> (String, String) {
    match results(text) {
        Ok(value) => panic!("{text} gave {}", value.shown()),
        Err(QueryError::Script { exception, message }) => (exception.into_owned(), message),
        Err(error) => (error.code().to_owned(), error.to_string()),
    }
}

#[test]
fn operators_give_what_groovy_gives() {
    for (text, wanted) in [
        ("1 + 2", "[3]"),
        ("7 / 2", "[3.5]"),
        ("6 / 2", "[3]"),
        ("1 / 3", "[0.3333333333]"),
        ("7 % 4", "[3]"),
        ("2 ** 10", "[1024]"),
        ("2147483647 + 1", "[2147483648]"),
        ("'a' + 1 + true", "[a1true]"),
        ("[1] + [2, 3]", "[1, 2, 3]"),
        ("[1, 2, 3] - [2]", "[1, 3]"),
        ("[a: 1] + [b: 2]", "[a=1, b=2]"),
        ("'ab' * 3", "[ababab]"),
        ("1 == 1.0", "[true]"),
        ("1 != 2 && !(2 < 1) || false", "[true]"),
        ("1 <=> 2", "[-1]"),
        ("2 in [1, 2]", "[true]"),
        ("null == null", "[true]"),
        ("1 > 0 ? 'a' : 'b'", "[a]"),
        ("null ?: 'b'", "[b]"),
        ("[] ? 1 : 2", "[2]"),
        ("-(3)", "[-3]"),
        ("x = 5; -x", "[-5]"),
        ("(1..4)", "[1, 2, 3, 4]"),
        ("x = [1, 2, 3]; x[-1] + x[0]", "[4]"),
        ("x = [1, 2, 3]; x[0..1]", "[1, 2]"),
        ("x = 'marko'; x[0]", "[m]"),
        ("m = [a: [b: [1, 2]]]; m.a.b[1]", "[2]"),
        ("m = [a: 1]; m['a'] + m.a", "[2]"),
        ("", "[null]"),
    ] {
        assert_eq!(shown(text), wanted, "{text}");
    }
}

#[test]
fn statements_run_in_order_and_blocks_keep_their_variables() {
    for (text, wanted) in [
        ("x = 1; x += 2; x++; ++x; x--; x", "[4]"),
        ("x = 1; y = x++; [x, y]", "[2, 1]"),
        ("s = 0; for (int i = 0; i < 5; i++) { s += i }; s", "[10]"),
        ("s = 0; for (i in 1..3) { s += i }; s", "[6]"),
        ("s = ''; for (String t : ['a', 'b']) s += t; s", "[ab]"),
        ("n = 0\nwhile (n < 3) n++\nn", "[3]"),
        ("n = 0; while (true) { n++; if (n > 4) break }; n", "[5]"),
        (
            "n = 0; for (i in 1..5) { if (i % 2 == 0) continue; n += i }; n",
            "[9]",
        ),
        ("for (i in 1..5) { if (i == 3) return i }; 9", "[3]"),
        ("if (false) { 1 } else if (true) { 2 } else { 3 }", "[2]"),
        ("x = [3, 1, 2]\n// the end\nreturn x.sort()", "[1, 2, 3]"),
        (
            "def m = [:]; m.a = 1; m['b'] = 2; m.c = [:]; m.c.d = 3; m",
            "[a=1, b=2, c={d=3}]",
        ),
        (
            "l = []; l << 1 << 2; l.add(3); l.addAll([4]); l[0] = 9; l",
            "[9, 2, 3, 4]",
        ),
        ("m = [l: []]; m.l.add(1); m.l << 2; m.l", "[1, 2]"),
        (
            "l = [[], []]; i = 0; l[i++] << 1; l[i++] << 2; [l, i]",
            "[[[1], [2]], 2]",
        ),
        ("l = [1, 2]; i = 0; l[i++] += 5; l", "[6, 2]"),
        ("m = [n: 1]; m.n++; [m.n--, m.n]", "[2, 1]"),
        ("a = [1]; b = a; b << 2; [a.size(), b.size()]", "[1, 2]"),
    ] {
        assert_eq!(shown(text), wanted, "{text}");
    }
    let (class, _) = failed("for (int i = 0; i < 2; i++) { def y = i }; y");
    assert_eq!(class, "VRV-QUERY");
    let (class, _) = failed("for (int i = 0; i < 2; i++) { }; i");
    assert_eq!(class, "VRV-QUERY");
}

#[test]
fn an_exception_is_caught_by_its_class_and_says_what_happened() {
    for (text, wanted) in [
        ("try { x } catch (Exception e) { 'caught' }", "[caught]"),
        (
            "try { g.V(99).next() } catch (NoSuchElementException e) { 1 }",
            "[1]",
        ),
        (
            "try { 1 / 0 } catch (ArithmeticException e) { e.message }",
            "[/ by zero]",
        ),
        (
            "try { [1].get(5) } catch (IndexOutOfBoundsException | Error e) { e.getMessage() }",
            "[Index 5 out of bounds for length 1]",
        ),
        (
            "try { 'a'.toInteger() } catch (java.lang.NumberFormatException e) { 0 }",
            "[0]",
        ),
        ("y = 0; try { y = 1 } finally { y += 1 }; y", "[2]"),
        ("try { x } catch (e) { 1 } finally { return 2 }", "[2]"),
        (
            "for (i in 1..3) { try { sleep(1) } catch (InterruptedException e) { break } }; 1",
            "[1]",
        ),
        (
            "try { null.size() } catch (NullPointerException e) { 1 }",
            "[1]",
        ),
    ] {
        assert_eq!(shown(text), wanted, "{text}");
    }
    let (_, message) = failed("try { unknown } catch (NoSuchElementException e) { 1 }");
    assert_eq!(message, "No such property: unknown");
}

#[test]
fn traversals_run_where_their_results_are_asked_for() {
    for (text, wanted) in [
        ("g.V().toList().size()", "[6]"),
        (
            "graph = hugegraph; g = graph.traversal(); g.V().toList().size()",
            "[6]",
        ),
        ("hugegraph.traversal().V(1).values('name')", "[marko]"),
        (
            "this.binding.'DEFAULT-hugegraph'.traversal().V().count()",
            "[6]",
        ),
        (
            "t = g.V(); t = t.out('knows'); t.values('name').order().toList()",
            "[josh, vadas]",
        ),
        (
            "t = g.V(1).out(); n = 0; while (t.hasNext()) { t.next(); n++ }; n",
            "[3]",
        ),
        (
            "t = g.V().order().by(id).values('name'); [t.next(2), t.next()]",
            "[[marko, vadas], lop]",
        ),
        ("x = 'knows'; g.V(1).out(x).count()", "[2]"),
        ("x = 2; g.V(x - 1).values('name')", "[marko]"),
        ("p = gt(30); g.V().has('age', p).count()", "[2]"),
        (
            "o = desc; g.V().values('age').order().by(o).limit(1)",
            "[35]",
        ),
        (
            "inner = __.out('created'); g.V().where(inner).count()",
            "[3]",
        ),
        ("ids = [1, 2]; g.V(ids).count()", "[2]"),
        (
            "names = g.V(1).out('knows').values('name').toList(); g.V().has('name', within(names)).count()",
            "[2]",
        ),
        ("v = g.V(1).next(); g.V(v).out().count()", "[3]"),
        ("h = g.withSideEffect('a', 1); h.V(1).select('a')", "[1]"),
        ("for (i in 1..2) { g.V(i) }; 1", "[1]"),
        ("g.V(1); g.V(2).values('name')", "[vadas]"),
        (
            "g.V().hasLabel('person').values('name').is(containing('a')).hasNext()",
            "[true]",
        ),
        ("g.V('none').tryNext().isPresent()", "[false]"),
        ("g.V(1).tryNext().isPresent()", "[true]"),
        ("g.V(99).iterate()", "[]"),
        ("g.V().count().next() + g.E().count().next()", "[12]"),
        ("if (g.V(1)) 'there' else 'gone'", "[there]"),
        ("g.V(1).out('knows').size()", "[2]"),
    ] {
        assert_eq!(shown(text), wanted, "{text}");
    }
}

#[test]
fn a_map_streams_entry_by_entry_and_a_list_item_by_item() {
    let text = "def res = [:];\nres.vertex_num = g.V().count().next();\n\
                res.edge_num = g.E().count().next();\n\
                res.vertices = g.V().id().limit(10000).toList();\n\
                res.edges = g.E().id().limit(2).toList();\nres.note = \"only\";\nreturn res;";
    let entries = results(text).expect("results").items().expect("a list");
    assert_eq!(entries.len(), 5);
    assert!(entries.iter().all(|entry| matches!(entry, Value::Entry(_))));
    assert_eq!(entries[0].shown().to_string(), "vertex_num=6");
    assert_eq!(shown("g.V().limit(2).id().toList()"), "[1, 2]");
    assert_eq!(shown("[[1, 2], 3]"), "[[1, 2], 3]");
}

#[test]
fn elements_have_the_members_that_the_graph_has() {
    for (text, wanted) in [
        (
            "v = g.V(1).next(); [v.id(), v.label(), v.value('name')]",
            "[1, person, marko]",
        ),
        (
            "g.V().has('person', 'name', 'marko').next().value('name')",
            "[marko]",
        ),
        ("g.V(1).next().property('age').value()", "[29]"),
        ("g.V(1).next().property('lang').isPresent()", "[false]"),
        ("g.V(1).next().property('age').isPresent()", "[true]"),
        ("g.V(1).next().property('lang').orElse('none')", "[none]"),
        ("g.V(1).next().values('name', 'age')", "[marko, 29]"),
        ("g.V(1).next().keys()", "[name, age]"),
        (
            "e = g.V(1).outE('created').next(); [e.inVertex().value('name'), e.outVertex().id(), e.label()]",
            "[lop, 1, created]",
        ),
        ("g.V(1).next().vertices(OUT, 'knows').size()", "[2]"),
        ("g.V(1).next().edges(BOTH).size()", "[3]"),
        (
            "n = []; for (v in g.V().toList()) { n << v.value('name') }; n.sort()",
            "[josh, lop, marko, peter, ripple, vadas]",
        ),
        ("graph.vertices(1).size() + hugegraph.vertex(2).id()", "[3]"),
        ("g.V(1).next().toString()", "[v[1]]"),
        ("g.V(1).next() == g.V(1).next()", "[true]"),
    ] {
        assert_eq!(shown(text), wanted, "{text}");
    }
    let (class, message) = failed("g.V(1).next().value('lang')");
    assert_eq!(class, "java.lang.IllegalStateException");
    assert!(message.contains("has no associated value"), "{message}");
}

#[test]
fn methods_of_texts_numbers_and_collections() {
    for (text, wanted) in [
        ("'Marko'.toLowerCase().toUpperCase()", "[MARKO]"),
        ("' a '.trim().length()", "[1]"),
        ("'a,b'.split(',')", "[a, b]"),
        ("'marko'.substring(1, 3)", "[ar]"),
        ("'marko'.contains('ark')", "[true]"),
        ("'a-b'.replace('-', '+')", "[a+b]"),
        ("'42'.toInteger() + '1'.toLong()", "[43]"),
        ("x = 3.7; x.intValue()", "[3]"),
        ("[3, 1].max() + [3, 1].min()", "[4]"),
        ("[1, 2, 3].sum()", "[6]"),
        ("[1, [2, 3]].flatten().size()", "[3]"),
        ("['a', 'b'].join('-')", "[a-b]"),
        ("[1, 1, 2].unique()", "[1, 2]"),
        (
            "m = [a: 1, b: 2]; [m.keySet(), m.values(), m.containsKey('a'), m.get('z')]",
            "[[a, b], [1, 2], true, null]",
        ),
        (
            "m = [a: 1]; for (e in m) { m.put(e.key + e.value, e.getValue()) }; m.size()",
            "[2]",
        ),
        ("m = [a: 1, b: 2]; m.remove('a'); m.size()", "[1]"),
        ("l = [5, 6, 7]; l.remove(0); l.contains(5)", "[false]"),
        ("[1, 2].toString() + [a: 1]", "[[1, 2]{a=1}]"),
        (
            "x = [1]; x.isEmpty() || x.clear() == null && x.isEmpty()",
            "[true]",
        ),
    ] {
        assert_eq!(shown(text), wanted, "{text}");
    }
    let (class, message) = failed("x = 'id'; x.getVariable('a')");
    assert_eq!(class, "groovy.lang.MissingMethodException");
    assert_eq!(
        message,
        "No signature of method: String.getVariable() is applicable for argument types: (String)"
    );
    let (class, message) = failed("l = []; l.add(1, 2, 3)");
    assert_eq!(class, "groovy.lang.MissingMethodException");
    assert!(
        message.ends_with("(Integer, Integer, Integer)"),
        "{message}"
    );
}

#[test]
fn variables_live_on_where_the_caller_keeps_them() {
    let mut environment = Environment::default();
    let mut logged = Vec::new();
    run(
        "x = [1]; t = g.V(); def y = 2",
        &mut environment,
        &mut logged,
    )
    .expect("a value");
    run("x << y", &mut environment, &mut logged).expect("a value");
    let outcome = run("x.size() + t.count().next()", &mut environment, &mut logged);
    assert_eq!(
        outcome.expect("a value").into_results(),
        [(Value::Long(8), 1)]
    );
    let failed = run("x = 5; unknown", &mut environment, &mut logged);
    assert!(failed.is_err());
    let outcome = run("x", &mut environment, &mut logged).expect("a value");
    assert_eq!(outcome.into_results(), [(Value::Int(5), 1)]);
}

#[test]
fn makers_of_the_schema_become_the_requests_that_rest_has() {
    let mut logged = Vec::new();
    let text = "schema = graph.schema()\n\
        schema.propertyKey('name').asText().valueSet().ifNotExist().create()\n\
        person = schema.vertexLabel('person').properties('name', 'age').primaryKeys('name')\
          .nullableKeys('age').enableLabelIndex(false).userdata('a', 1).create()\n\
        schema.edgeLabel('knows').link(person, 'person').multiTimes().sortKeys('date').create()\n\
        schema.indexLabel('byAge').onV('person').by('age').range().ifNotExist().create()\n\
        schema.vertexLabel('person').properties('p').nullableKeys('p').append()\n\
        schema.edgeLabel('knows').remove()\n\
        schema.getVertexLabels(); gremlinJob.updateProgress(50); g.tx().commit()";
    run(text, &mut Environment::default(), &mut logged).expect("a value");
    assert_eq!(
        logged,
        [
            "graph Create PropertyKey name {data_type=TEXT, cardinality=SET, check_exist=false, name=name}",
            "graph Create VertexLabel person {properties=[name, age], primary_keys=[name], \
             nullable_keys=[age], enable_label_index=false, user_data={a=1}, name=person}",
            "graph Create EdgeLabel knows {frequency=MULTIPLE, sort_keys=[date], \
             source_label=person, target_label=person, name=knows}",
            "graph Create IndexLabel byAge {base_type=VERTEX_LABEL, base_value=person, \
             fields=[age], index_type=RANGE, check_exist=false, name=byAge}",
            "graph Append VertexLabel person {properties=[p], nullable_keys=[p], name=person}",
            "graph Remove EdgeLabel knows {name=knows}",
            "graph List VertexLabel  {}",
            "progress 50",
            "Commit Traversal(\"g\")",
        ]
    );
    let (class, message) = failed("graph.schema().propertyKey('a').primaryKeys('b')");
    assert_eq!(class, "groovy.lang.MissingMethodException");
    assert!(
        message.contains("PropertyKeyBuilder.primaryKeys()"),
        "{message}"
    );
}

/// Without a limit, each of these scripts would run forever or exhaust the memory.
#[test]
fn a_script_without_an_end_ends_at_a_named_limit() {
    for (text, code) in [
        ("while (true) { }", "VRV-LIMIT"),
        ("for (;;) { x = 1 }", "VRV-LIMIT"),
        (
            "try { while (true) { 1 } } catch (Throwable t) { while (true) { 2 } } finally { while (true) { 3 } }",
            "VRV-LIMIT",
        ),
        ("s = 'a'; while (true) { s += s }", "VRV-LIMIT"),
        ("s = 'ab' * 1000000", "VRV-LIMIT"),
        (
            "l = []; while (true) { l << 'a text that takes some bytes of the heap' * 1000 }",
            "VRV-LIMIT",
        ),
        ("l = []; while (true) { l.addAll(l + [1]) }", "VRV-LIMIT"),
        ("l = [1]; while (true) { l = [l] }", "VRV-QUERY"),
        ("l = [1]; while (true) { l << l }", "VRV-QUERY"),
        ("l = [1]; while (true) { l = [l, l] }", "VRV-QUERY"),
        (
            "m = [:]; i = 0; while (true) { m[i++] = [i, i] }",
            "VRV-LIMIT",
        ),
        (
            "s = 'a' * 1000000; l = (1..1000000); for (i in l) { l[i] = s }",
            "VRV-LIMIT",
        ),
        (
            "s = 'a' * 1000000; l = [s, s, s]; l = [l, l, l]; l.toString()",
            "VRV-LIMIT",
        ),
        (
            "l = (1..100000); while (true) { b = l; b << 1 }",
            "VRV-LIMIT",
        ),
        (
            "l = (1..100000); while (true) { l == l.reverse() }",
            "VRV-LIMIT",
        ),
        ("x = 2; while (true) { x = x * x * 1.0 * 1n }", "VRV-QUERY"),
    ] {
        match results(text) {
            Ok(_) => panic!("{text} ended"),
            Err(error) => assert_eq!(error.code(), code, "{text}: {error}"),
        }
    }
}

#[test]
fn a_cancelled_script_ends_while_it_counts_and_while_it_sleeps() {
    for text in [
        "while (true) { }",
        "l = (1..100000); while (true) { l == l.reverse() }",
        "for (int i = 0; i < 50; i++) { try { sleep(100000) } catch (InterruptedException e) { break } }",
        "try { Thread.sleep(1000000L) } catch (Exception e) { while (true) { } }",
    ] {
        let cancel = CancelToken::default();
        let token = cancel.clone();
        let running = std::thread::spawn(move || {
            let graph = Modern::new();
            let mut host = Endless(ScriptHost::new(&graph, token));
            let script = parse_script(text).expect("a script");
            execute_in(&script, &mut Environment::default(), &mut host).map(|_| ())
        });
        std::thread::sleep(Duration::from_millis(50));
        cancel.cancel();
        let ended = running.join().expect("no panic");
        assert!(ended.is_err(), "{text}");
        assert_eq!(ended.expect_err("an error").code(), "VRV-TIMEOUT", "{text}");
    }
}

/// A host that lets scripts take any number of steps.
struct Endless<'g>(ScriptHost<'g>);

impl Host for Endless<'_> {
    fn check(&self) -> Result<(), QueryError> {
        self.0.check()
    }

    fn steps_max(&self) -> u64 {
        u64::MAX
    }

    fn run(&mut self, _: &Source, _: &Bound, _: Option<u64>) -> Result<Results, QueryError> {
        Ok(Vec::new())
    }
}

#[test]
fn a_script_may_nest_as_deep_as_the_parser_lets_it() {
    let deep = 120;
    let text = format!("{}1{}", "(1 + ".repeat(deep), ")".repeat(deep));
    assert_eq!(shown(&text), format!("[{}]", deep + 1));
    let text = format!(
        "{}x = 1{}; x",
        "if (true) { ".repeat(deep),
        " }".repeat(deep)
    );
    assert_eq!(shown(&text), "[1]");
    let text = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    assert!(results(&text).is_ok());
}

#[test]
fn bindings_are_variables() {
    let mut environment = Environment::from(HashMap::from([("x".into(), Value::Int(2))]));
    let outcome = run("1 + x", &mut environment, &mut Vec::new()).expect("a value");
    assert_eq!(outcome.into_results(), [(Value::Int(3), 1)]);
}
