//! `…/jobs/gremlin`: scripts as tasks, and the schema in scripts.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fixture::Fixture;

const TIMEOUT: Duration = Duration::from_secs(30);

fn submit(fixture: &Fixture, body: &Value) -> u64 {
    let answer = fixture.send("POST", "../jobs/gremlin", &body.to_string());
    assert_eq!(answer.status, 201, "{}", answer.text());
    let answer: Value = serde_json::from_str(answer.text()).expect("JSON");
    answer["task_id"].as_u64().expect("an id")
}

fn task(fixture: &Fixture, id: u64) -> Value {
    fixture.done("GET", &format!("../tasks/{id}"), "")
}

/// The task once `is_it` holds.
fn awaited(fixture: &Fixture, id: u64, is_it: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let task = task(fixture, id);
        if is_it(&task) {
            return task;
        }
        assert!(began.elapsed() < TIMEOUT, "{task}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn ended(fixture: &Fixture, id: u64) -> Value {
    awaited(fixture, id, |task| {
        ["success", "failed", "cancelled"].contains(&task["task_status"].as_str().unwrap_or(""))
    })
}

fn result(fixture: &Fixture, script: &str) -> Value {
    let task = ended(fixture, submit(fixture, &json!({"gremlin": script})));
    assert_eq!(task["task_status"], "success", "{script}: {task}");
    serde_json::from_str(task["task_result"].as_str().expect("a text")).expect("JSON")
}

fn people() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture
}

#[test]
fn a_job_is_the_task_that_the_original_makes_of_it() {
    let fixture = people();
    let body = json!({
        "gremlin": "1+x\n", "bindings": {"x": 2}, "language": "gremlin-groovy", "aliases": {}
    });
    let id = submit(&fixture, &body);
    let mut task = ended(&fixture, id);
    let task = task.as_object_mut().expect("an object");
    for time in ["task_create", "task_update"] {
        assert!(task.remove(time).expect("a time").is_u64());
    }
    let wanted = json!({
        "task_name": "1+x", "task_progress": 0, "task_status": "success", "task_result": "3",
        "task_retries": 0, "id": id, "task_type": "gremlin",
        "task_callable": "org.apache.hugegraph.job.GremlinJob",
        "task_input": "{\"gremlin\":\"1+x\\n\",\"aliases\":{\"hugegraph\":\"graph\"},\"bindings\":{\"x\":2},\"language\":\"gremlin-groovy\"}",
        "task_server": "server-1"
    });
    assert_eq!(Value::Object(task.clone()), wanted);
}

#[test]
fn the_result_of_a_job_is_json() {
    let fixture = people();
    for (script, wanted) in [
        ("g.V('1:marko').values('age')", json!([29])),
        ("hugegraph.traversal().V().count()", json!([4])),
        (
            "graph.traversal().V().id().order().limit(1)",
            json!(["1:josh"]),
        ),
        (
            "this.binding.'DEFAULT-hugegraph'.traversal().E().count()",
            json!([3]),
        ),
        ("[1, 'a', null]", json!([1, "a", null])),
        (
            "def res = [:]; res.n = g.V().count().next(); return res",
            json!({"n": 4}),
        ),
        ("g.V().iterate()", json!(null)),
        ("", json!(null)),
    ] {
        assert_eq!(result(&fixture, script), wanted, "{script}");
    }
    let marko = result(&fixture, "g.V('1:marko')");
    assert_eq!(marko[0]["type"], "vertex");
    assert_eq!(marko[0]["properties"]["name"], "marko");
}

#[test]
fn what_is_no_job_is_refused_in_the_words_of_the_original() {
    let fixture = people();
    for (body, message) in [
        ("{}", "The gremlin parameter can't be null"),
        (r#"{"gremlin":null}"#, "The gremlin parameter can't be null"),
        (
            r#"{"gremlin":"g.V()","aliases":{"g":"x"}}"#,
            "There is no need to pass gremlin aliases",
        ),
    ] {
        fixture.refuses("POST", "../jobs/gremlin", body, 400, message);
    }
}

#[test]
fn a_script_that_fails_fails_its_task() {
    let fixture = people();
    for (script, wanted) in [
        (
            "g.V2()",
            "groovy.lang.MissingMethodException: No signature of method: ",
        ),
        ("g.V('none').next()", "java.util.NoSuchElementException: "),
        (
            "unknown",
            "groovy.lang.MissingPropertyException: No such property: unknown",
        ),
    ] {
        let task = ended(&fixture, submit(&fixture, &json!({"gremlin": script})));
        assert_eq!(task["task_status"], "failed", "{task}");
        let text = task["task_result"].as_str().expect("a text");
        let before = "org.apache.hugegraph.HugeException: javax.script.ScriptException: ";
        assert!(text.starts_with(&format!("{before}{wanted}")), "{text}");
    }
}

#[test]
fn a_job_says_how_far_it_is_and_ends_when_it_is_cancelled() {
    let fixture = people();
    for script in [
        "gremlinJob.updateProgress(7)\nfor (int i = 0; i < 50; i++) { \
         try { sleep(20000) } catch (InterruptedException e) { break; } }",
        "gremlinJob.updateProgress(7); while (true) { }",
    ] {
        let id = submit(&fixture, &json!({"gremlin": script}));
        awaited(&fixture, id, |task| task["task_progress"] == 7);
        fixture.done("PUT", &format!("../tasks/{id}?action=cancel"), "");
        assert_eq!(ended(&fixture, id)["task_status"], "cancelled", "{script}");
    }
}

#[test]
fn scripts_make_the_schema_that_requests_make() {
    let fixture = Fixture::new();
    let script = "schema = graph.schema()\n\
        schema.propertyKey('nick').asText().ifNotExist().create()\n\
        schema.propertyKey('nick').asText().ifNotExist().create()\n\
        schema.propertyKey('size').asInt().create();\n\
        cat = schema.vertexLabel('cat').properties('nick', 'size').primaryKeys('nick').nullableKeys('size').ifNotExist().create()\n\
        schema.edgeLabel('likes').link(cat, 'cat').multiTimes().properties('nick').sortKeys('nick').create()\n\
        schema.indexLabel('catBySize').onV('cat').by('size').range().ifNotExist().create()";
    let made = run(&fixture, script);
    assert_eq!(made[0]["name"], "catBySize", "{made}");
    assert_eq!(made[0]["status"], "CREATED", "{made}");
    let cat = fixture.done("GET", "../schema/vertexlabels/cat", "");
    assert_eq!(
        (
            &cat["primary_keys"],
            &cat["nullable_keys"],
            &cat["index_labels"]
        ),
        (&json!(["nick"]), &json!(["size"]), &json!(["catBySize"]))
    );
    let likes = fixture.done("GET", "../schema/edgelabels/likes", "");
    assert_eq!(
        (&likes["frequency"], &likes["source_label"]),
        (&json!("MULTIPLE"), &json!("cat"))
    );
    assert_eq!(
        run(&fixture, "hugegraph.schema().getPropertyKey('size')")[0]["data_type"],
        "INT"
    );
    assert_eq!(
        run(&fixture, "graph.schema().getVertexLabels().size()")
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    run(
        &fixture,
        "graph.schema().vertexLabel('cat').userdata('a', 1).append()",
    );
    let cat = fixture.done("GET", "../schema/vertexlabels/cat", "");
    assert_eq!(cat["user_data"]["a"], 1);
    let job = "graph.schema().edgeLabel('likes').remove()";
    assert!(result(&fixture, job).is_u64());
    let names = "try { graph.schema().propertyKey('nick').asInt().create() } \
                 catch (ExistedException e) { e.message }";
    let message = &run(&fixture, names)[0];
    assert!(
        message.as_str().is_some_and(|text| text.contains("nick")),
        "{message}"
    );
}

#[test]
fn a_refused_change_of_the_schema_has_the_words_of_rest() {
    let fixture = Fixture::new();
    let rest = fixture.send(
        "POST",
        "../schema/vertexlabels",
        r#"{"name":"cat","properties":["unknown"]}"#,
    );
    assert_eq!(rest.status, 400);
    let rest: Value = serde_json::from_str(rest.text()).expect("JSON");
    let script = "graph.schema().vertexLabel('cat').properties('unknown').create()";
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.send("POST", "/gremlin", &body);
    assert_eq!(answer.status, 400);
    let response: Value = serde_json::from_str(answer.text()).expect("JSON");
    assert_eq!(response["message"], rest["message"]);
}

fn run(fixture: &Fixture, script: &str) -> Value {
    let answer = fixture.done("POST", "/gremlin", &json!({"gremlin": script}).to_string());
    answer["result"]["data"].clone()
}

/// HugeGraph's documents begin with this graph.
#[test]
fn elements_in_scripts_write_what_their_traversals_write() {
    let fixture = Fixture::new();
    let script = "marko = graph.addVertex(T.label, 'person', 'name', 'marko', 'age', 29, 'city', 'Beijing');\n\
        vadas = graph.addVertex(T.label, 'person', 'name', 'vadas', 'age', 27, 'city', 'Hongkong');\n\
        marko.addEdge('knows', vadas, 'date', '2016-01-10', 'weight', 0.5);\n\
        [marko.value('age'), marko.id()]";
    assert_eq!(run(&fixture, script), json!([29, "1:marko"]));
    assert_eq!(
        run(&fixture, "g.V('1:marko').out('knows').values('name')"),
        json!(["vadas"])
    );
    let script = "v = g.V('1:marko').next(); v.property('age', 30); v.property('city').remove(); v.value('age')";
    assert_eq!(run(&fixture, script), json!([30]));
    assert_eq!(
        run(&fixture, "g.V('1:marko').valueMap('age', 'city')"),
        json!([{"age": [30]}])
    );
    run(
        &fixture,
        "g.V('1:marko').outE().next().remove(); vadas = g.V('1:vadas').next(); vadas.remove()",
    );
    assert_eq!(run(&fixture, "g.V().id()"), json!(["1:marko"]));
    assert_eq!(run(&fixture, "g.E().count()"), json!([0]));
}

#[test]
fn a_script_commits_as_a_whole_or_where_it_says_so() {
    let fixture = Fixture::new();
    let add = |name: &str| {
        format!(
            "g.addV('person').property('name', '{name}').property('age', 1).property('city', 'x').iterate();"
        )
    };
    let fails = format!("{} unknown", add("a"));
    let answer = fixture.send("POST", "/gremlin", &json!({"gremlin": fails}).to_string());
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert_eq!(run(&fixture, "g.V().count()"), json!([0]));
    let commits = format!("{} g.tx().commit(); {} unknown", add("a"), add("b"));
    let answer = fixture.send("POST", "/gremlin", &json!({"gremlin": commits}).to_string());
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert_eq!(run(&fixture, "g.V().values('name')"), json!(["a"]));
    let rolls_back = format!("{} g.tx().rollback(); g.V().count().next()", add("c"));
    assert_eq!(run(&fixture, &rolls_back), json!([1]));
    let job = "for (int i = 0; i < 10; i++) { g.addV('person').property('name', 'n' + i).property('age', i).property('city', 'x').iterate(); }\n\
               g.V().count()";
    assert_eq!(result(&fixture, job), json!([11]));
    let id = submit(
        &fixture,
        &json!({"gremlin": format!("{} gremlinJob.updateProgress(1); sleep(100000)", add("z"))}),
    );
    awaited(&fixture, id, |task| task["task_progress"] == 1);
    fixture.done("PUT", &format!("../tasks/{id}?action=cancel"), "");
    assert_eq!(ended(&fixture, id)["task_status"], "cancelled");
    assert_eq!(run(&fixture, "g.V().count()"), json!([11]));
}
