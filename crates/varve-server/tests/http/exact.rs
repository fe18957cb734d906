//! Numbers keep every bit on every way in and out, and conditions have the types of their keys.

use serde_json::{Value as Json, json};
use varve_graphson::{Format, Request, Value, read_response, write_request};
use varve_testkit::http;
use varve_testkit::random::Random;

use crate::fixture::Fixture;
use crate::gremlin_writes::data;

/// Doubles of random bits, and some whose text has 16 and 17 digits.
fn doubles(count: usize) -> Vec<f64> {
    let mut random = Random::new(53);
    let mut all = vec![1.400_000_000_000_000_1, 9_722.800_000_000_001, 5e-324, -0.0];
    all.extend((1..=100).map(|n| 0.1 * f64::from(n)));
    while all.len() < count {
        let number = f64::from_bits(random.bits());
        if number.is_finite() {
            all.push(number);
        }
    }
    all
}

/// The bits of a number as JSON writes it.
fn bits(json: &Json) -> u64 {
    let text = json.to_string();
    let number: f64 = text.parse().unwrap_or_else(|_| panic!("{text}"));
    number.to_bits()
}

/// The weights of the vertices `0`, `1`, … by REST and by `/gremlin`.
fn check_stored(fixture: &Fixture, numbers: &[f64], way: &str) {
    let found = data(fixture, "g.V().hasLabel('all').elementMap('weight')");
    let found: std::collections::HashMap<&str, u64> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|map| (map["id"].as_str().unwrap(), bits(&map["weight"])))
        .collect();
    assert_eq!(found.len(), numbers.len());
    for (at, number) in numbers.iter().enumerate() {
        let id = at.to_string();
        assert_eq!(found[id.as_str()], number.to_bits(), "{way}: {number}");
    }
    for (at, number) in numbers.iter().enumerate().step_by(17) {
        let stored = fixture.done("GET", &format!("vertices/%22{at}%22"), "");
        let weight = &stored["properties"]["weight"];
        assert_eq!(bits(weight), number.to_bits(), "{way}: {number}");
    }
}

#[test]
fn doubles_keep_every_bit() {
    let fixture = Fixture::new();
    let numbers = doubles(400);
    let element = |at: usize, number: &f64| {
        format!(r#"{{"label":"all","id":"{at}","properties":{{"weight":{number:?}}}}}"#)
    };
    let all: Vec<String> = numbers
        .iter()
        .enumerate()
        .map(|(at, number)| element(at, number))
        .collect();
    for part in all.chunks(100) {
        fixture.done("POST", "vertices/batch", &format!("[{}]", part.join(",")));
    }
    check_stored(&fixture, &numbers, "a batch");
    let zeros: Vec<String> = (0..numbers.len()).map(|at| element(at, &0.0)).collect();
    let reset = || {
        for part in zeros.chunks(100) {
            fixture.done("POST", "vertices/batch", &format!("[{}]", part.join(",")));
        }
    };
    reset();
    for (at, number) in numbers.iter().enumerate() {
        let body = format!(r#"{{"label":"all","properties":{{"weight":{number:e}}}}}"#);
        let path = format!("vertices/%22{at}%22?action=append");
        fixture.done("PUT", &path, &body);
    }
    check_stored(&fixture, &numbers, "an update");
    reset();
    for (at, number) in numbers.iter().enumerate() {
        let script = format!("g.V('{at}').property('weight', w)");
        let body = format!(r#"{{"gremlin":"{script}","bindings":{{"w":{number:?}}}}}"#);
        fixture.done("POST", "/gremlin", &body);
    }
    check_stored(&fixture, &numbers, "a binding");
}

#[test]
fn floats_keep_every_bit() {
    let fixture = Fixture::new();
    let mut random = Random::new(24);
    let mut floats = vec![0.1_f32, 7.038531e-26, f32::MIN_POSITIVE, f32::MAX, 1e-45];
    while floats.len() < 300 {
        let float = f32::from_bits(random.bits() as u32);
        if float.is_finite() {
            floats.push(float);
        }
    }
    for (at, float) in floats.iter().enumerate() {
        let body = format!(r#"{{"label":"all","id":"{at}","properties":{{"f":{float:?}}}}}"#);
        let made = fixture.done("POST", "vertices", &body);
        let shown = made["properties"]["f"].to_string();
        let read: f32 = shown.parse().unwrap();
        assert_eq!(read.to_bits(), float.to_bits(), "{float:?}");
        let same = data(
            &fixture,
            &format!("g.V('{at}').has('f', {float:?}).count()"),
        );
        assert_eq!(same, json!([1]), "{float:?} as a double");
    }
}

#[test]
fn doubles_keep_every_bit_in_the_formats_of_drivers() {
    let fixture = Fixture::new();
    for mime in [
        "application/vnd.gremlin-v3.0+json",
        "application/vnd.graphbinary-v1.0",
    ] {
        let format = Format::from_mime(mime).unwrap();
        let numbers: Vec<Value> = doubles(400).into_iter().map(Value::Double).collect();
        let request = Request {
            id: 7,
            op: "eval".into(),
            processor: "".into(),
            arguments: vec![
                ("gremlin".into(), Value::String("x".into())),
                (
                    "bindings".into(),
                    Value::Map(vec![(
                        Value::String("x".into()),
                        Value::List(numbers.clone()),
                    )]),
                ),
            ],
        };
        let mut body = Vec::new();
        write_request(format, &request, &mut body);
        let headers = format!("content-type: {mime}\r\n");
        let sent = http::request("POST", "/gremlin", &headers, &body);
        let answer = fixture.server.connect().exchange(&sent).unwrap();
        let response = read_response(format, &answer.body).unwrap();
        let Value::List(found) = response.data else {
            panic!("{:?}", response.data);
        };
        let all_bits = |values: &[Value]| -> Vec<u64> {
            let of = |value: &Value| match value {
                Value::Double(number) => number.to_bits(),
                other => panic!("{other:?}"),
            };
            values.iter().map(of).collect()
        };
        assert_eq!(all_bits(&found), all_bits(&numbers), "{mime}");
    }
}

/// A graph of people, and a vertex with a value of each type.
fn typed() -> Fixture {
    let fixture = Fixture::new();
    fixture.people();
    fixture.done(
        "POST",
        "vertices",
        r#"{"label":"all","id":"x","properties":{"date":"2020-01-02","f":0.1,"weight":0.1,
            "age":5,"u":"835e1153-9281-4957-8691-cf79258e90eb","hobby":["a","b"],"tags":["t"]}}"#,
    );
    fixture
}

#[test]
fn a_condition_has_the_type_of_its_key() {
    let fixture = typed();
    let count = |condition: &str| data(&fixture, &format!("g.V(){condition}.count()"))[0].clone();
    for condition in [
        ".has('date', '2020-01-02')",
        ".has('date', '2020-1-2')",
        ".has('date', '2020-1-2 00:00:00.0')",
        ".has('date', 1577923200000)",
        ".has('date', P.gt('2020-01-01'))",
        ".has('date', P.between('2020-01-02', '2020-01-03'))",
        ".has('date', within('2019-01-01', '2020-01-02'))",
        ".has('all', 'date', P.lte('2020-01-02').and(P.gte('2020-01-02')))",
        ".has('u', '835e1153-9281-4957-8691-cf79258e90eb')",
        ".has('f', 0.1)",
        ".has('f', 0.1f)",
        ".has('weight', 0.1f)",
        ".has('weight', 0.1m)",
        ".has('age', 5L)",
        ".filter(has('date', '2020-01-02'))",
        ".where(or(has('date', '2020-01-02'), has('age', 1)))",
        ".as('v').select('v').has('date', '2020-01-02')",
        ".hasLabel('all').union(has('date', '2020-01-02'), has('age', 1))",
        ".hasLabel('all').coalesce(has('date', '2020-01-02'))",
        ".hasLabel('all').choose(has('date', '2020-01-02'), identity(), limit(0))",
    ] {
        assert_eq!(count(condition), 1, "{condition}");
    }
    assert_eq!(
        data(
            &fixture,
            "g.E().has('date', gt('2016-1-1')).values('date').order()"
        ),
        json!(["2016-01-10 00:00:00.000", "2017-12-10 00:00:00.000"])
    );
    assert_eq!(count(".has('date', P.neq('2020-01-02'))"), 0);
    assert_eq!(count(".has('date', P.without('2020-01-02'))"), 0);
    // A map has names and types of its own.
    let map = "g.V('x').project('date','zz').by(constant('2020-01-02')).by(constant(1))";
    for condition in [
        "has('date', '2020-01-02')",
        "has('zz', 1)",
        "has('zz', gt('1'))",
    ] {
        let found = data(&fixture, &format!("{map}.{condition}.count()"));
        assert_eq!(
            found,
            json!([i32::from(!condition.contains("gt"))]),
            "{condition}"
        );
    }
}

#[test]
fn a_merge_finds_what_it_has_added() {
    let fixture = typed();
    for properties in [
        "(T.label):'all',(T.id):'m','date':'2021-3-4'",
        "(T.label):'all',(T.id):'m','f':0.3,'date':'2021-03-04'",
    ] {
        let merge = format!("g.mergeV([{properties}]).option(onCreate, ['f':0.3]).id()");
        for _ in 0..2 {
            assert_eq!(data(&fixture, &merge), json!(["m"]), "{merge}");
        }
    }
    assert_eq!(data(&fixture, "g.V().hasLabel('all').count()"), json!([2]));
}

#[test]
fn unknown_names_and_wrong_types_of_a_declared_graph_are_refused() {
    let fixture = typed();
    for (script, message) in [
        (
            "g.V().hasLabel('nolabel')",
            "Undefined vertex label: 'nolabel'",
        ),
        (
            "g.V().hasLabel('person', 'knows')",
            "Undefined vertex label: 'knows'",
        ),
        ("g.E().hasLabel('person')", "Undefined edge label: 'person'"),
        (
            "g.V().out().hasLabel('nolabel')",
            "Undefined vertex label: 'nolabel'",
        ),
        ("g.V().has('zz', 1)", "Undefined property key: 'zz'"),
        ("g.V().where(has('zz', 1))", "Undefined property key: 'zz'"),
        (
            "g.V().repeat(out().has('zz', 1)).times(2)",
            "Undefined property key: 'zz'",
        ),
        (
            "g.V().has('age', gt('5'))",
            "Invalid data type of query value '5', expect INT for 'age', \
             actual got class java.lang.String",
        ),
        (
            "g.V().has('name', 5)",
            "Invalid data type of query value '5', expect TEXT for 'name', \
             actual got class java.lang.Integer",
        ),
        ("g.V().has('date', 'garbage')", "but got 'garbage'"),
        ("g.V().has('age', within(1, 'x'))", "expect INT for 'age'"),
        ("g.V().has('u', 'x')", "Invalid UUID string: x"),
    ] {
        let answer = fixture.send("POST", "/gremlin", &json!({"gremlin": script}).to_string());
        let text = answer.text().to_owned();
        let error: Json = serde_json::from_str(&text).unwrap();
        assert_eq!(answer.status, 400, "{script}: {text}");
        assert!(
            error["message"].as_str().unwrap().contains(message),
            "{script}: {text}"
        );
        assert_eq!(
            error["exception"], "java.lang.IllegalArgumentException",
            "{script}"
        );
    }
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    for script in ["g.V().hasLabel('nolabel')", "g.V().has('zz', gt('1'))"] {
        let script = format!("graph = open; g = graph.traversal(); {script}");
        assert_eq!(data(&fixture, &script), json!([]), "{script}");
    }
}

#[test]
fn automatic_ids_are_small() {
    let fixture = Fixture::new();
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    let declared = fixture.done("POST", "vertices", r#"{"label":"auto","properties":{}}"#);
    let open = data(
        &fixture,
        "graph = open; g = graph.traversal(); g.addV().id()",
    );
    for id in [&declared["id"], &open[0]] {
        let id = id.as_i64().unwrap();
        assert!((1..1 << 31).contains(&id), "{id}");
    }
    let id = &declared["id"];
    let found = fixture.done("GET", &format!("vertices/{id}"), "");
    assert_eq!(&found["id"], id);
}

#[test]
fn every_error_has_a_code() {
    let fixture = typed();
    let book = |id: &str| format!(r#"{{"label":"book","id":"{id}","properties":{{"name":"b"}}}}"#);
    fixture.done("POST", "vertices", &book("b1"));
    let taken = book("b2");
    for (verb, path, body, status, code) in [
        ("GET", "vertices/%22none%22", "", 404, "VRV-NOT-FOUND"),
        ("GET", "/nowhere", "", 404, "VRV-NOT-FOUND"),
        ("PATCH", "vertices", "", 405, "VRV-METHOD"),
        ("POST", "vertices", "{", 400, "VRV-JSON"),
        ("POST", "vertices", "{\"x\":1}", 400, "VRV-JSON"),
        (
            "POST",
            "vertices",
            "{\"label\":\"x\",\"properties\":{}}",
            400,
            "VRV-ARG",
        ),
        ("POST", "vertices", &taken, 400, "VRV-UNIQUE"),
        ("GET", "vertices?page=zz", "", 400, "VRV-PAGE"),
        (
            "POST",
            "/gremlin",
            "{\"gremlin\":\"g.V2()\"}",
            400,
            "VRV-QUERY",
        ),
        (
            "POST",
            "/gremlin",
            "{\"gremlin\":\"g.V().has('zz',1)\"}",
            400,
            "VRV-QUERY",
        ),
        ("GET", "../schema?format=xml", "", 400, "VRV-ARG"),
    ] {
        let answer = fixture.send(verb, path, body);
        let text = answer.text().to_owned();
        assert_eq!(answer.status, status, "{verb} {path}: {text}");
        let error: Json = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!(error["code"], code, "{verb} {path}: {text}");
        let class = error["exception"].as_str().unwrap();
        assert_eq!(class.starts_with("class "), path != "/gremlin", "{text}");
        if path == "/gremlin" {
            assert_eq!(error["cause"], format!("[{class}]"), "{text}");
        }
    }
    fixture.refuses(
        "POST",
        "vertices",
        &taken,
        400,
        "Unique constraint byName(id=4) conflict is found for v[b2]: name=b belongs to v[b1]",
    );
}

#[test]
fn bodies_may_have_a_byte_order_mark() {
    let fixture = typed();
    let mark = "\u{feff}";
    let body = format!(r#"{mark}{{"label":"all","id":"bom","properties":{{}}}}"#);
    fixture.done("POST", "vertices", &body);
    let query = format!(r#"{mark}{{"gremlin":"g.V('bom').count()"}}"#);
    let answer = fixture.done("POST", "/gremlin", &query);
    assert_eq!(answer["result"]["data"], json!([1]));
}

#[test]
fn a_variable_that_would_have_no_effect_is_refused() {
    let fixture = typed();
    let body = r#"{"gremlin":"g.V(id)","bindings":{"id":"x"}}"#;
    let message = "The [eval] message supplies one or more invalid parameters key of [id] - \
                   these are reserved names.";
    fixture.refuses("POST", "/gremlin", body, 400, message);
    let get = "/gremlin?gremlin=g.V(label)&bindings.label=x";
    fixture.refuses("GET", get, "", 400, &message.replace("[id]", "[label]"));
}
