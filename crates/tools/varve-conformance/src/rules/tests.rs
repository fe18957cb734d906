//! The choice of a rule, and the answers that each rule accepts and rejects.

use super::*;

fn exchange(method: &str, path: &str, status: u16, content_type: &str, response: &str) -> Exchange {
    Exchange {
        auth: String::new(),
        number: 1,
        note: String::new(),
        method: method.to_owned(),
        path: path.to_owned(),
        request: Json::Null,
        status,
        content_type: Some(content_type.to_owned()),
        response: Json::parse(response).unwrap(),
    }
}

fn answer(status: u16, content_type: &str, body: &str) -> Response {
    Response {
        status,
        headers: vec![("content-type".to_owned(), content_type.to_owned())],
        body: body.to_owned(),
    }
}

const OK: &str = "application/json;charset=UTF-8";
const ERROR: &str = "application/json";

fn differences(recorded: &Exchange, actual: &Response) -> Vec<String> {
    let corpus = Corpus::collect(std::slice::from_ref(recorded));
    compare(recorded, actual, &corpus, &mut Identities::default())
}

fn vertex(id: &str, age: u32) -> String {
    format!("{{\"id\":{id},\"label\":\"p\",\"type\":\"vertex\",\"properties\":{{\"age\":{age}}}}}")
}

fn list(vertices: &[(&str, u32)]) -> String {
    let items: Vec<_> = vertices.iter().map(|(id, age)| vertex(id, *age)).collect();
    format!("{{\"vertices\":[{}]}}", items.join(","))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn chooses_the_rule_by_what_was_recorded() {
    for (method, path, status, response, rule) in [
        (
            "GET",
            "/graphs/h/graph/vertices?limit=2",
            200,
            "{\"vertices\":[]}",
            Rule::Elements("vertices"),
        ),
        (
            "GET",
            "/graphs/h/graph/vertices/",
            200,
            "{\"vertices\":[]}",
            Rule::Elements("vertices"),
        ),
        ("GET", "/graphs/h/graph/vertices/5", 200, "{}", Rule::Exact),
        (
            "GET",
            "/graphs/h/graph/vertices?limit=2",
            400,
            "{}",
            Rule::Error,
        ),
        (
            "POST",
            "/graphs/h/graph/vertices/batch",
            201,
            "[]",
            Rule::Exact,
        ),
        (
            "PUT",
            "/graphs/h/graph/vertices/batch",
            200,
            "{}",
            Rule::TopLists,
        ),
        (
            "GET",
            "/graphs/h/schema/propertykeys",
            200,
            "{}",
            Rule::TopLists,
        ),
        (
            "GET",
            "/graphs/h/schema/propertykeys?names=a",
            200,
            "{}",
            Rule::Exact,
        ),
        (
            "POST",
            "/graphs/h/traversers/kout",
            200,
            "{}",
            Rule::Traverser,
        ),
        ("GET", "/metrics", 200, "\"# HELP x\"", Rule::Text),
        ("GET", "/metrics?type=json", 200, "{}", Rule::Groups),
        ("GET", "/metrics/gauges", 200, "{}", Rule::Entries),
        (
            "POST",
            "/graphs/h/schema/propertykeys",
            400,
            "\"Unrecognized field\"",
            Rule::ParseError,
        ),
        (
            "GET",
            "/graphs/h/graph/edges/x>",
            500,
            "\"(HTML error page)\"",
            Rule::StatusOnly,
        ),
        (
            "DELETE",
            "/graphs/h/variables/x",
            204,
            "\"\"",
            Rule::StatusOnly,
        ),
    ] {
        assert_eq!(
            rule_of(&exchange(method, path, status, OK, response)),
            rule,
            "{method} {path}"
        );
    }
}

#[test]
fn status_and_content_type_count() {
    let recorded = exchange("GET", "/x", 200, OK, "{\"a\":1}");
    assert!(
        differences(
            &recorded,
            &answer(200, "application/json; charset=utf-8", "{\"a\":1}")
        )
        .is_empty()
    );
    assert_eq!(
        differences(&recorded, &answer(200, ERROR, "{\"a\":1}")).len(),
        1
    );
    assert_eq!(
        differences(&recorded, &answer(201, OK, "{\"a\":1}")).len(),
        1
    );
    assert_eq!(
        differences(&recorded, &answer(200, OK, "{\"a\":1")).len(),
        1
    );
}

#[test]
fn an_error_needs_its_class_and_message_not_its_cause() {
    let body = |message: &str, cause: &str| {
        format!("{{\"exception\":\"class X\",\"message\":\"{message}\",\"cause\":{cause}}}")
    };
    let recorded = exchange("GET", "/x", 404, ERROR, &body("m", "\"java.lang.Y\""));
    assert!(differences(&recorded, &answer(404, ERROR, &body("m", "\"\""))).is_empty());
    assert_eq!(
        differences(&recorded, &answer(404, ERROR, &body("n", "\"\""))).len(),
        1
    );
    assert_eq!(
        differences(&recorded, &answer(404, ERROR, &body("m", "null"))).len(),
        1
    );
    assert_eq!(differences(&recorded, &answer(404, ERROR, "{}")).len(), 3);
}

#[test]
fn a_task_number_in_a_message_is_substituted() {
    let body = |id: u32| format!("{{\"message\":\"task '{id}' runs\"}}");
    let recorded = exchange("DELETE", "/graphs/h/tasks/14", 400, ERROR, &body(14));
    let mut ids = Identities::default();
    ids.pair(IdKind::Task, "14", "3").unwrap();
    let found = compare(
        &recorded,
        &answer(400, ERROR, &body(3)),
        &Corpus::default(),
        &mut ids,
    );
    assert!(found.is_empty(), "{found:?}");
    let found = compare(
        &recorded,
        &answer(400, ERROR, &body(14)),
        &Corpus::default(),
        &mut ids,
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn any_label_that_uses_a_key_may_be_named() {
    let body = |label: &str| {
        format!("{{\"message\":\"key 'k' because the vertex label '{label}' is still using it.\"}}")
    };
    let recorded = exchange("DELETE", "/x", 400, ERROR, &body("a"));
    assert!(differences(&recorded, &answer(400, ERROR, &body("b"))).is_empty());
    let other = body("a").replace("'k'", "'j'");
    assert_eq!(differences(&recorded, &answer(400, ERROR, &other)).len(), 1);
}

#[test]
fn a_parse_error_must_name_the_problem() {
    let sentence = "\"Unrecognized field \\\"foo\\\" (class X), not marked as ignorable\"";
    let recorded = exchange("POST", "/x", 400, "text/plain", sentence);
    assert!(
        differences(
            &recorded,
            &answer(400, ERROR, "{\"message\":\"unknown field `foo`\"}")
        )
        .is_empty()
    );
    assert_eq!(
        differences(&recorded, &answer(400, "text/plain", "bad body")).len(),
        1
    );
    assert_eq!(
        differences(&recorded, &answer(400, "text/plain", "")).len(),
        1
    );
    assert_eq!(
        differences(&recorded, &answer(422, "text/plain", "foo")).len(),
        1
    );
}

#[test]
fn a_whole_list_is_a_set_of_the_recorded_elements() {
    let recorded = exchange(
        "GET",
        "/graphs/h/graph/vertices?label=p",
        200,
        OK,
        &list(&[("\"a\"", 1), ("\"b\"", 2)]),
    );
    let ok = |vertices: &[(&str, u32)]| {
        differences(&recorded, &answer(200, OK, &list(vertices))).is_empty()
    };
    assert!(ok(&[("\"b\"", 2), ("\"a\"", 1)]));
    assert!(!ok(&[("\"b\"", 2)]));
    assert!(!ok(&[("\"b\"", 2), ("\"a\"", 3)]));
    assert!(!ok(&[("\"b\"", 2), ("\"a\"", 1), ("\"c\"", 1)]));
}

#[test]
fn a_cut_list_holds_as_many_known_elements() {
    let all = exchange(
        "GET",
        "/graphs/h/graph/vertices",
        200,
        OK,
        &list(&[("\"a\"", 1), ("\"b\"", 2)]),
    );
    let cut = exchange(
        "GET",
        "/graphs/h/graph/vertices?limit=1",
        200,
        OK,
        &list(&[("\"a\"", 1)]),
    );
    let corpus = Corpus::collect(&[all, cut.clone()]);
    let ok = |vertices: &[(&str, u32)]| {
        let actual = answer(200, OK, &list(vertices));
        compare(&cut, &actual, &corpus, &mut Identities::default()).is_empty()
    };
    assert!(ok(&[("\"b\"", 2)]), "another element of the same list");
    assert!(
        !ok(&[("\"b\"", 1)]),
        "a form that the recording never shows"
    );
    assert!(
        !ok(&[("\"c\"", 1)]),
        "an element that the recording does not know"
    );
    assert!(!ok(&[]));
    assert!(!ok(&[("\"a\"", 1), ("\"b\"", 2)]));
}

#[test]
fn the_order_that_is_defined_counts() {
    let path = "/graphs/h/graph/vertices?label=p&properties=%7B%22age%22%3A%22P.gt(0)%22%7D";
    let range = exchange(
        "GET",
        path,
        200,
        OK,
        &list(&[("\"a\"", 1), ("\"b\"", 1), ("\"c\"", 2)]),
    );
    let ok = |recorded: &Exchange, vertices: &[(&str, u32)]| {
        differences(recorded, &answer(200, OK, &list(vertices))).is_empty()
    };
    assert!(ok(&range, &[("\"b\"", 1), ("\"a\"", 1), ("\"c\"", 2)]));
    assert!(!ok(&range, &[("\"c\"", 2), ("\"b\"", 1), ("\"a\"", 1)]));
    let plain = exchange(
        "GET",
        "/graphs/h/graph/vertices",
        200,
        OK,
        &list(&[("5", 1), ("\"a\"", 1)]),
    );
    assert!(ok(&plain, &[("5", 1), ("\"a\"", 1)]));
    assert!(!ok(&plain, &[("\"a\"", 1), ("5", 1)]));
}

#[test]
fn an_automatic_id_is_learnt_from_its_creation() {
    let id = "1188924869312512000";
    let recorded = exchange("POST", "/graphs/h/graph/vertices", 201, OK, &vertex(id, 1));
    let mut ids = Identities::default();
    let found = compare(
        &recorded,
        &answer(201, OK, &vertex("77", 1)),
        &Corpus::default(),
        &mut ids,
    );
    assert!(found.is_empty(), "{found:?}");
    assert_eq!(
        ids.in_path(&format!("/graphs/h/graph/vertices/{id}")),
        "/graphs/h/graph/vertices/77"
    );
}

#[test]
fn metrics_are_compared_by_their_fields() {
    let gauges = exchange(
        "GET",
        "/metrics/gauges",
        200,
        OK,
        "{\"a\":{\"value\":1},\"b\":{\"value\":2}}",
    );
    assert!(
        differences(
            &gauges,
            &answer(200, OK, "{\"z\":{\"value\":9,\"more\":1}}")
        )
        .is_empty()
    );
    assert_eq!(
        differences(&gauges, &answer(200, OK, "{\"z\":{\"count\":9}}")).len(),
        1
    );
    let system = exchange(
        "GET",
        "/metrics/system",
        200,
        OK,
        "{\"basic\":{\"mem\":1},\"heap\":{}}",
    );
    assert!(
        differences(
            &system,
            &answer(200, OK, "{\"basic\":{},\"heap\":{},\"x\":{}}")
        )
        .is_empty()
    );
    assert_eq!(
        differences(&system, &answer(200, OK, "{\"basic\":{},\"heap\":5}")).len(),
        1
    );
    let text = exchange(
        "GET",
        "/metrics",
        200,
        "text/plain",
        "\"# HELP hugegraph_info\\nx\"",
    );
    assert!(
        differences(
            &text,
            &answer(200, "text/plain", "# HELP hugegraph_info\ny")
        )
        .is_empty()
    );
    assert_eq!(
        differences(&text, &answer(200, "text/plain", "# HELP other\ny")).len(),
        1
    );
}

#[test]
fn results_of_gremlin_are_a_set_where_the_engine_has_an_order_of_its_own() {
    let results = |data: &str| format!(r#"{{"result":{{"data":[{data}],"meta":{{}}}}}}"#);
    for (script, may_differ) in [("g.V().id()", true), ("g.V().id().order()", false)] {
        let mut recorded = exchange("POST", "/gremlin", 200, OK, &results("1,2"));
        recorded.request = Json::parse(&format!(r#"{{"gremlin":"{script}"}}"#)).expect("JSON");
        let mut corpus = Corpus::collect(std::slice::from_ref(&recorded));
        let is_equal = |corpus: &Corpus, data: &str| {
            let answer = answer(200, OK, &results(data));
            compare(&recorded, &answer, corpus, &mut Identities::default()).is_empty()
        };
        assert!(!is_equal(&corpus, "2,1"));
        corpus.any_order = true;
        assert!(is_equal(&corpus, "1,2"));
        assert_eq!(is_equal(&corpus, "2,1"), may_differ, "{script}");
        assert!(!is_equal(&corpus, "2,3"));
        assert!(!is_equal(&corpus, "2"));
    }
}

#[test]
fn a_limit_of_all_elements_takes_any_where_the_engine_has_an_order_of_its_own() {
    let results = |data: &str| format!(r#"{{"result":{{"data":[{data}],"meta":{{}}}}}}"#);
    let mut recorded = exchange("POST", "/gremlin", 200, OK, &results(&vertex("1", 1)));
    recorded.request = Json::parse(r#"{"gremlin":"g.V().limit(1)"}"#).expect("JSON");
    let other = exchange("GET", "/graphs/h", 200, OK, &list(&[("\"a\"", 2)]));
    let mut corpus = Corpus::collect(&[recorded.clone(), other]);
    corpus.any_order = true;
    let ok = |corpus: &Corpus, data: &str| {
        let answer = answer(200, OK, &results(data));
        compare(&recorded, &answer, corpus, &mut Identities::default()).is_empty()
    };
    assert!(ok(&corpus, &vertex("1", 1)));
    assert!(ok(&corpus, &vertex("\"a\"", 2)));
    assert!(ok(&corpus, "\"a\""), "its id");
    assert!(!ok(&corpus, &vertex("\"a\"", 3)), "another form");
    assert!(!ok(&corpus, "\"b\""));
    assert!(!ok(&corpus, ""));
    let twice = format!("{0},{0}", vertex("1", 1));
    assert!(!ok(&corpus, &twice));
    corpus.any_order = false;
    assert!(!ok(&corpus, &vertex("\"a\"", 2)));
}
