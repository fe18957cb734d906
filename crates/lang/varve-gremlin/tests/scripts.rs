//! Scripts: those of HugeGraph's clients are accepted, and attempts to run code are refused.

use varve_gremlin::tree::{Argument, ComputedKind, Root, StatementKind};
use varve_gremlin::{ErrorCode, parse_script};

/// Texts of HugeGraph's clients, its web front end, its documents and its test suites.
const SENT_BY_CLIENTS: &[&str] = &[
    "g.V().limit(1)",
    "g.V('1:marko').toE(BOTH, 'knows').has('k', gt(5)).limit(100).otherV().path()",
    "g.V('1:marko', '1:vadas').bothE().dedup().limit(500)",
    "g.V('1:marko').bothE().local(limit(100)).dedup()",
    "g.V().hasLabel('person').limit(250)",
    "schema = graph.schema(); schema.propertyKey('name').asText().ifNotExist().create()",
    "schema = hugegraph.schema()\n\nschema.propertyKey('age').asInt().ifNotExist().create();\n\
     person = schema.vertexLabel('person').properties('name', 'age').primaryKeys('name').nullableKeys('age').ifNotExist().create()\n\
     schema.edgeLabel('knows').sourceLabel('person').targetLabel('person').properties('date').multiTimes().sortKeys('date').create()\n\
     schema.edgeLabel('created').link('person', 'software').create()\n\
     schema.indexLabel('personByAge').onV('person').by('age').range().ifNotExist().create()\n\
     schema.indexLabel('a').onE('knows').by('date').secondary().create();schema.indexLabel('b').onV('person').by('name').search().create()\n\
     schema.indexLabel('c').onV('person').by('a', 'b').shard().create(); schema.indexLabel('d').onV('person').by('a').unique().create()\n\
     schema.vertexLabel('person').properties('price').nullableKeys('price').append()\n\
     schema.vertexLabel('person').properties('price').eliminate(); schema.edgeLabel('knows').remove()\n\
     schema.getVertexLabels()",
    "marko = graph.addVertex(T.label, 'person', 'name', 'marko', 'age', 29, \"city\", \"Beijing\");\n\
     vadas = graph.addVertex(T.label, 'person', 'name', 'vadas');\n\
     marko.addEdge('knows', vadas, 'date', '20160110', 'weight', 0.5);",
    "hugegraph.traversal().V('1:marko')",
    "hugegraph.traversal().V().drop()",
    "graph = hugegraph; g = graph.traversal(); g.V().toList().size()",
    "g.tx().commit()",
    "hugegraph.traversal().tx().commit()",
    "1 + 2",
    "for (int i = 0; i < 10; i++) {\n  g.addV('man').iterate();\n}",
    "for (int i = 0; i < 10; i++) {\n  hugegraph.addVertex(T.label, 'man');\n  try {\n    sleep(200)\n  } catch (InterruptedException e) {\n    break;\n  }\n}",
    "Thread.sleep(1000L)",
    "java.lang.Thread.sleep(1000L)",
    "this.binding.'DEFAULT-hugegraph'.traversal().V()",
    "g.V(id0).property(list, 'k', 'v')",
    "g.V().has('person', 'comment', Text.contains('dog'))",
    "g.V(Text.uuid('835e1153-9281-4957-8691-cf79258e90eb'))",
    "def res = [:];\nres.vertex_num = g.V().count().next();\nres.edge_num = g.E().count().next();\n\
     res.vertices = g.V().id().limit(10000).toList();\nres.note = \"only\";\nreturn res;",
    "g.V().has('name', 'marko')\n  .repeat(\n    bothE('knows', 'created').limit(10).otherV().dedup()\n  ).times(2).emit()\n\
     .simplePath()\n.path()\n.by(project('label', 'id', 'props')\n.by(label())\n.by(id())\n.by(valueMap().by(unfold())))\n.limit(20)\n.toList()",
    "g.V('a','b').as('subj').toList();",
    "g.V().aggregate('vertices').count().as('count').select('count','vertices')",
    "g.V().hasLabel('person').values('name').is(containing('a')).hasNext()",
    "g.V().match(__.as('a').out('created').as('b'), __.as('b').has('name', 'lop')).select('a', 'b')",
    "gremlinJob.updateProgress(50)\ngraph.addVertex(label, 'person', 'name', 'x')",
    "g.V().has('person', 'name', 'marko').next().value('name')",
    "v = g.V('1:marko').next()\nv.property('age', 30)\nv.remove()",
    "x = 1; x += 2; x++; y = x > 2 && !(x == 4) ? 'a' : 'b' // the end\n/* no\nmore */",
    "list = []; list << 1; list.add(2); for (item in list) { g.addV('n').property('k', item).iterate() }; list.size()",
    "m = [a: 1]; m['b'] = 2; m.c = 3; if (m.containsKey('a')) { m.a } else if (m.b) { m.b } else { null }",
    "int n = 0\nwhile (n < 3) n++\nn",
    "List<Vertex> found = g.V().toList()\nfor (Vertex v : found) { v.value('name') }",
    "t = g.V()\nt = t.out('knows')\nt.toList()",
    "Social.traversal().V().count()",
    "try { g.V('x').next() } catch (Exception | Error e) { e.getMessage() } finally { x = 1 }",
];

#[test]
fn what_real_clients_send_is_read_and_printed_to_the_same_tree() {
    for text in SENT_BY_CLIENTS {
        let tree = parse_script(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let printed = tree.to_string();
        let again = parse_script(&printed).unwrap_or_else(|error| panic!("{printed}\n{error}"));
        assert_eq!(again, tree, "{printed}");
    }
}

/// Texts that were found by fuzzing.
#[test]
fn what_is_printed_is_read_as_the_same_tree() {
    for text in [
        "g.inject(-(2).sa, -(-128b).x, (Infinity).i, (-Infinity).i, (-1)[0])",
        "g.inject(5.7e95f, -5.7e95f).asNumber()",
        "g.V().hasId(P.within([P.within([])])).count()",
        "Xyz\n(a - b) > c",
    ] {
        let tree = parse_script(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let printed = tree.to_string();
        assert_eq!(parse_script(&printed), Ok(tree), "{printed}");
    }
}

/// Checks that a script is refused with this code. Returns the message.
fn refused(text: &str, code: ErrorCode) -> String {
    match parse_script(text) {
        Ok(tree) => panic!("{text} is read as {tree}"),
        Err(error) => {
            assert_eq!(error.code, code, "{text}: {error}");
            error.message
        }
    }
}

#[test]
fn closures_are_refused_by_name() {
    for text in [
        "g.V().map { it.get() }",
        "g.V().filter{it.get().value('age') > 3}",
        "g.V().map({ it.get() })",
        "g.V().map({ x -> x.get() })",
        "g.V().sideEffect({ a, b -> a })",
        "list = [1]; list.each { println it }",
        "list = [1]; list.each({ x -> x })",
        "f = { x -> x + 1 }",
        "{ -> 1 }",
        "g.V().toList().collect { it }",
        "g.V().map(x -> x.get())",
        "{ it.out() }",
        "g.withSideEffect('a') { 1 }",
    ] {
        let message = refused(text, ErrorCode::Closure);
        assert!(
            message.starts_with("Closures are not supported"),
            "{text}: {message}"
        );
    }
}

#[test]
fn what_reaches_for_the_host_is_refused_by_name() {
    for (text, code) in [
        ("import java.io.File", ErrorCode::Import),
        ("package a", ErrorCode::Import),
        ("class A { }", ErrorCode::Definition),
        ("enum A { B }", ErrorCode::Definition),
        ("def f(x) { x }", ErrorCode::Definition),
        ("new File('/etc/passwd')", ErrorCode::New),
        ("x = new java.io.File('a')", ErrorCode::New),
        ("\"a ${g.V()}\"", ErrorCode::Interpolation),
        ("System.getenv()", ErrorCode::Static),
        ("Runtime.getRuntime()", ErrorCode::Static),
        ("java.lang.Runtime.getRuntime()", ErrorCode::Static),
        ("Thread.currentThread()", ErrorCode::Static),
        ("Math.abs(1)", ErrorCode::Static),
        ("Class.forName('a')", ErrorCode::Static),
        ("'id'.execute()", ErrorCode::NoSuchMethod),
        ("x = 'id'; x.execute()", ErrorCode::NoSuchMethod),
        ("['id'].execute().text", ErrorCode::NoSuchMethod),
        ("x = 1; x.getClass()", ErrorCode::NoSuchMethod),
        ("x = 1; x.class", ErrorCode::NoSuchMethod),
        ("x = 1; x.'class'", ErrorCode::NoSuchMethod),
        ("x = g.V().next(); x.metaClass", ErrorCode::NoSuchMethod),
        ("println('a')", ErrorCode::NoSuchMethod),
        ("evaluate('1')", ErrorCode::NoSuchMethod),
        ("graph.clearBackend()", ErrorCode::NoSuchMethod),
        ("hugegraph.authManager()", ErrorCode::NoSuchMethod),
        ("throw x", ErrorCode::Keyword),
        ("switch (x) { }", ErrorCode::Keyword),
        (
            "@groovy.transform.ASTTest(value={ 1 }) def x",
            ErrorCode::Syntax,
        ),
    ] {
        refused(text, code);
    }
    let message = refused("System.exit(-1)", ErrorCode::Exit);
    assert_eq!(message, "Not allowed to call System.exit() via Gremlin");
    assert_eq!(
        ErrorCode::Exit.groovy_exception(),
        "java.lang.SecurityException"
    );
}

/// The two scripts published for CVE-2024-27348. Both rename the thread by reflection, so that
/// HugeGraph's security manager trusts it, and then start a process.
const EXPLOITS: &[&str] = &[
    "Thread thread = Thread.currentThread();Class clz = Class.forName(\"java.lang.Thread\");\
     java.lang.reflect.Field field = clz.getDeclaredField(\"name\");field.setAccessible(true);\
     field.set(thread, \"SL7\");Class processBuilderClass = Class.forName(\"java.lang.ProcessBuilder\");\
     java.lang.reflect.Constructor constructor = processBuilderClass.getConstructor(java.util.List.class);\
     java.util.List command = java.util.Arrays.asList(\"touch\", \"/tmp/success\");\
     Object processBuilderInstance = constructor.newInstance(command);\
     java.lang.reflect.Method startMethod = processBuilderClass.getMethod(\"start\");\
     startMethod.invoke(processBuilderInstance);",
    "def result = \"\";\ntry {\n  def thread = Thread.currentThread();\n  def clz = Class.forName('java.lang.Thread');\n\
     \x20 def field = clz.getDeclaredField('name');\n  field.setAccessible(true);\n  field.set(thread, 'task-worker-1');\n\
     \x20 def p = Class.forName('java.lang.Runtime').getMethod('getRuntime').invoke(null).exec('id');\n\
     \x20 result = p.getInputStream().getText();\n} catch (Exception e) {\n  result = e.toString();\n}\nreturn result;",
];

#[test]
fn the_published_exploits_end_in_the_parser() {
    for text in EXPLOITS {
        refused(text, ErrorCode::Static);
    }
    // Their statements are also refused one by one, except plain definitions.
    for text in EXPLOITS.iter().flat_map(|text| text.split(';')) {
        let harmless =
            ["def result = \"\"", "", "\nreturn result"].contains(&text) || text.contains("catch");
        assert!(harmless || parse_script(text).is_err(), "{text}");
    }
}

#[test]
fn operators_bind_as_in_groovy() {
    for (text, meant) in [
        ("a + b * c", "a + (b * c)"),
        ("a * b + c", "(a * b) + c"),
        ("a - b - c", "(a - b) - c"),
        ("a < b && c >= d || !e", "((a < b) && (c >= d)) || (!e)"),
        ("a == b + 1", "a == (b + 1)"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a ?: b", "a ?: b"),
        ("x = y = 1", "x = y = 1"),
        ("a - -1", "a - -1"),
        ("a -1", "a - 1"),
        ("-a.b", "-a.b"),
        ("-(1)", "-(1)"),
        ("(g.V()).out().toList()", "g.V().out().toList()"),
        ("!-x", "!(-x)"),
        ("(-list) << x", "(-list) << x"),
        ("1..n + 1", "1..(n + 1)"),
        ("a ** 2 * b", "(a ** 2) * b"),
        ("a in [1, 2]", "a in [1, 2]"),
        ("x << 1 << 2", "(x << 1) << 2"),
    ] {
        let printed = parse_script(text)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .to_string();
        assert_eq!(printed, meant, "{text}");
    }
}

#[test]
fn a_newline_ends_a_statement_unless_the_next_line_goes_on() {
    let count = |text: &str| parse_script(text).map(|script| script.statements.len());
    assert_eq!(count("x = 1\ny = 2"), Ok(2));
    assert_eq!(count("g.V()\n  .out()\n  // a comment\n  .in()"), Ok(1));
    assert_eq!(count("g.V().\nout()"), Ok(1));
    assert_eq!(count("x = [1,\n 2\n]"), Ok(1));
    assert_eq!(count("x = 1 +\n 2"), Ok(1));
    assert_eq!(count("x = 1\n+ 2"), Ok(2));
    assert_eq!(count("x\n[1]"), Ok(2));
    assert_eq!(count("if (x)\n  y = 1\nelse\n  y = 2\nz = 1"), Ok(2));
}

#[test]
fn a_script_variable_hides_the_token_of_its_name() {
    let script = parse_script("desc = 1; g.V().is(desc)").unwrap();
    assert!(script.to_string().ends_with(".is(desc)"), "{script}");
    let script = parse_script("g.V().order().by('a', desc)").unwrap();
    assert!(script.to_string().ends_with("Order.desc)"), "{script}");
}

#[test]
fn a_source_may_be_computed_and_a_traversal_may_be_part_of_an_expression() {
    let script = parse_script("graph.traversal().V().count().next() + 1").unwrap();
    let StatementKind::Expression(Argument::Computed(sum)) = &script.statements[0].kind else {
        panic!("{script}")
    };
    let ComputedKind::Binary(_, Argument::Traversal(count), Argument::Int(1)) = &sum.kind else {
        panic!("{script}")
    };
    assert!(matches!(count.root, Root::Computed(_)));
    let script = parse_script("h = g.withBulk(false); h.V().id()").unwrap();
    let StatementKind::Expression(Argument::Traversal(ids)) = &script.statements[1].kind else {
        panic!("{script}")
    };
    assert_eq!(ids.root, Root::Source("h".into()));
    assert_eq!(ids.steps.len(), 2);
}

/// A carriage return alone ends a line, as in Groovy.
#[test]
fn a_carriage_return_ends_a_line_and_a_comment() {
    for text in [
        "x = 1 // one\nx = 2 // two\nx",
        "x = 1 /* one\n */ x = 2\nx",
        "g.V() // all\n.out() // neighbours\n.count()",
        "// nothing\n1",
    ] {
        let wanted = parse_script(text).expect("a script").to_string();
        for end in ["\r", "\r\n"] {
            let text = text.replace('\n', end);
            let tree = parse_script(&text).unwrap_or_else(|error| panic!("{text:?}\n{error}"));
            assert_eq!(tree.to_string(), wanted, "{text:?}");
        }
    }
    for (text, place) in [
        ("x = 1\n\n  )", (3, 2)),
        ("x = 1\r\r  )", (3, 2)),
        ("x = 1\r\n\r\n  )", (3, 2)),
        ("x = 1\n\r  )", (3, 2)),
    ] {
        let error = parse_script(text).expect_err("no script");
        assert_eq!((error.line, error.column), place, "{text:?}");
    }
}
