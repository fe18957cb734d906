//! `…/traversers/…`: forms of request and answer, refusals, both times, limits. That the answers
//! are right is the business of `varve-traversal`, whose tests compare them with the definitions.

use serde_json::{Value, json};
use varve_server::ServerConfig;

use crate::fixture::Fixture;

/// Marko, vadas, josh and lop, an edge from josh to lop, and peter, who knows josh.
pub(crate) fn world() -> Fixture {
    with(ServerConfig::default())
}

fn with(config: ServerConfig) -> Fixture {
    let fixture = Fixture::with(config);
    fixture.people();
    fixture.done(
        "POST",
        "vertices",
        r#"{"label":"person","properties":{"name":"peter","age":35}}"#,
    );
    for body in [
        r#"{"label":"created","outV":"1:josh","inV":"2:lop","properties":{"date":"2009-11-11","weight":0.4}}"#,
        r#"{"label":"knows","outV":"1:peter","inV":"1:josh","properties":{"date":"2019-11-11"}}"#,
    ] {
        fixture.done("POST", "edges", body);
    }
    fixture
}

pub(crate) fn path(rest: &str) -> String {
    format!("../traversers/{rest}")
        .replace("1:", "1%3A")
        .replace('"', "%22")
}

pub(crate) fn get(fixture: &Fixture, rest: &str) -> Value {
    without_measure(fixture.done("GET", &path(rest), ""))
}

pub(crate) fn post(fixture: &Fixture, name: &str, body: &Value) -> Value {
    without_measure(fixture.done("POST", &path(name), &body.to_string()))
}

/// The answer without what was looked at, which has its members.
fn without_measure(mut answer: Value) -> Value {
    if let Some(measure) = answer
        .as_object_mut()
        .and_then(|answer| answer.remove("measure"))
    {
        for member in ["edge_iterations", "vertice_iterations", "cost(ns)"] {
            assert!(measure[member].is_u64(), "{measure}");
        }
    }
    answer
}

#[test]
fn neighbourhoods_in_both_forms() {
    let fixture = world();
    let kout = |rest: &str| get(&fixture, &format!(r#"kout?source="1:marko"&{rest}"#));
    assert_eq!(
        kout("max_depth=1&direction=OUT"),
        json!({"vertices": ["1:josh", "1:vadas", "2:lop"]})
    );
    assert_eq!(kout("max_depth=2"), json!({"vertices": ["1:peter"]}));
    assert_eq!(
        kout("max_depth=1&label=knows&count_only=true"),
        json!({"vertices_size": 2})
    );
    assert_eq!(
        kout("max_depth=2&nearest=false&direction=OUT"),
        json!({"vertices": ["2:lop"]})
    );
    assert_eq!(
        get(&fixture, r#"kneighbor?source="1:peter"&max_depth=2"#),
        json!({"vertices": ["1:josh", "2:lop", "1:marko"]})
    );
    let answer = post(
        &fixture,
        "kout",
        &json!({
            "source": "1:peter",
            "steps": {"direction": "BOTH", "edge_steps": [{"label": "knows", "properties": {}}]},
            "max_depth": 2, "with_path": true, "with_vertex": true
        }),
    );
    assert_eq!(answer["kout"], json!(["1:marko"]));
    assert_eq!(answer["size"], 1);
    assert_eq!(
        answer["paths"],
        json!([{"objects": ["1:peter", "1:josh", "1:marko"]}])
    );
    assert_eq!(answer["vertices"][2]["properties"]["age"], 29);
    assert_eq!(answer["edges"].as_array().unwrap().len(), 2);
    let answer = post(
        &fixture,
        "kneighbor",
        &json!({
            "source": "1:marko",
            "steps": {"edge_steps": [{"label": "knows", "properties": {"weight": "P.gt(0.6)"}}],
                      "vertex_steps": [{"label": "person", "properties": {"age": "P.gt(28)"}}]},
            "max_depth": 5, "with_path": true, "with_edge": true
        }),
    );
    assert_eq!(answer["kneighbor"], json!(["1:josh"]));
    assert_eq!(answer["edges"][0]["properties"]["weight"], 1.0);
    let counted = post(
        &fixture,
        "kout",
        &json!({"source": "1:marko", "steps": {}, "max_depth": 1, "count_only": true}),
    );
    assert_eq!(
        counted,
        json!({"kout": [], "size": 3, "paths": [], "vertices": [], "edges": []})
    );
}

#[test]
fn shortest_paths_and_likeness() {
    let fixture = world();
    let answer = get(
        &fixture,
        r#"shortestpath?source="1:vadas"&target="1:peter"&max_depth=5"#,
    );
    assert_eq!(
        answer["path"],
        json!(["1:vadas", "1:marko", "1:josh", "1:peter"])
    );
    assert_eq!(answer["vertices"], answer["path"]);
    assert_eq!(answer["edges"].as_array().unwrap().len(), 3);
    let far = get(
        &fixture,
        r#"shortestpath?source="1:vadas"&target="1:peter"&max_depth=2"#,
    );
    assert_eq!(far, json!({"path": [], "vertices": [], "edges": []}));
    let own = get(
        &fixture,
        r#"allshortestpaths?source="1:vadas"&target="1:vadas"&max_depth=1&with_vertex=true"#,
    );
    assert_eq!(own["paths"], json!([{"objects": ["1:vadas"]}]));
    assert_eq!(own["vertices"][0]["label"], "person");
    let pair = |name: &str, rest: &str| {
        get(
            &fixture,
            &format!(r#"{name}?vertex="1:marko"&other="1:josh"{rest}"#),
        )
    };
    assert_eq!(
        pair("sameneighbors", ""),
        json!({"same_neighbors": ["2:lop"]})
    );
    assert_eq!(
        pair("jaccardsimilarity", ""),
        json!({"jaccard_similarity": 0.2})
    );
    assert_eq!(
        pair("resourceallocation", ""),
        json!({"resource_allocation": 0.5})
    );
    let adamic = pair("adamicadar", "")["adamic_adar"].as_f64().unwrap();
    assert!((adamic - 1.0 / 2_f64.ln()).abs() < 1e-12, "{adamic}");
    let same = post(
        &fixture,
        "sameneighbors",
        &json!({"vertex_list": ["1:marko", "1:josh"], "labels": ["created"]}),
    );
    assert_eq!(
        same,
        json!({"same_neighbors": ["2:lop"], "vertices": ["1:marko", "1:josh", "2:lop"]})
    );
}

#[test]
fn weighted_and_simple_paths() {
    let fixture = world();
    let pair = r#"source="1:marko"&target="2:lop""#;
    let lightest = get(
        &fixture,
        &format!("weightedshortestpath?{pair}&weight=weight"),
    );
    assert_eq!(
        lightest["path"],
        json!({"weight": 0.4, "vertices": ["1:marko", "2:lop"]})
    );
    assert_eq!(lightest["edges"].as_array().unwrap().len(), 1);
    let own = r#"source="1:marko"&target="1:marko""#;
    let none = get(
        &fixture,
        &format!("weightedshortestpath?{own}&weight=weight"),
    );
    assert_eq!(none, json!({"path": {}, "vertices": [], "edges": []}));
    let from = r#"singlesourceshortestpath?source="1:marko""#;
    let all = get(&fixture, &format!("{from}&weight=weight&limit=-1"));
    assert_eq!(
        all["paths"]["1:peter"],
        json!({"weight": 1.8, "vertices": ["1:marko", "2:lop", "1:josh", "1:peter"]})
    );
    assert_eq!(all["paths"].as_object().unwrap().len(), 4);
    let nearest = get(&fixture, &format!("{from}&limit=2&with_vertex=true"));
    assert_eq!(nearest["paths"].as_object().unwrap().len(), 2);
    assert_eq!(nearest["vertices"][0]["properties"]["name"], "marko");
    let simple = get(&fixture, &format!("paths?{pair}&max_depth=3"));
    assert_eq!(
        simple,
        json!({"paths": [{"objects": ["1:marko", "2:lop"]},
                         {"objects": ["1:marko", "1:josh", "2:lop"]}]})
    );
    let edges = get(&fixture, &format!("edgeexist?{pair}"));
    assert_eq!(edges["edges"][0]["label"], "created");
    let nobody = get(&fixture, r#"edgeexist?source="nobody"&target="2:lop""#);
    assert_eq!(nobody, json!({"edges": []}));
    for (rest, message) in [
        (
            format!("weightedshortestpath?{pair}"),
            "The weight property can't be null",
        ),
        (
            format!("weightedshortestpath?{pair}&weight=city"),
            "The weight of an edge must be a number >= 0, but is Text(\"Shanghai\")",
        ),
        (
            format!("paths?{pair}&max_depth=5001"),
            "The depth must be in (0, 5000], but got: 5001",
        ),
        (
            format!("paths?{pair}&max_depth=3&capacity=3"),
            "Exceed capacity '3' while finding paths",
        ),
    ] {
        fixture.refuses("GET", &path(&rest), "", 400, message);
    }
}

#[test]
fn rings_rays_and_crosspoints() {
    let fixture = world();
    let source = r#"source="1:marko"&max_depth=3"#;
    let rings = get(&fixture, &format!("rings?{source}"));
    let triangle = json!(["1:marko", "1:josh", "2:lop", "1:marko"]);
    assert_eq!(rings["rings"], json!([{"objects": triangle}]));
    assert_eq!(rings["vertices"], json!(["1:marko", "1:josh", "2:lop"]));
    assert_eq!(rings["edges"].as_array().unwrap().len(), 3);
    let tail = r#"source="1:vadas"&max_depth=4"#;
    let none = get(&fixture, &format!("rings?{tail}"));
    assert_eq!(none, json!({"rings": [], "vertices": [], "edges": []}));
    let anywhere = get(&fixture, &format!("rings?{tail}&source_in_ring=false"));
    assert_eq!(anywhere["rings"].as_array().unwrap().len(), 1);
    let rays = get(
        &fixture,
        &format!("rays?{source}&limit=-1&with_vertex=true"),
    );
    assert_eq!(
        rays["rays"],
        json!([{"objects": ["1:marko", "1:vadas"]},
               {"objects": ["1:marko", "1:josh", "1:peter"]},
               {"objects": ["1:marko", "2:lop", "1:josh", "1:peter"]}])
    );
    assert_eq!(rays["vertices"][0]["properties"]["name"], "marko");
    assert_eq!(rays["edges"].as_array().unwrap().len(), 5);
    let crossing = get(
        &fixture,
        r#"crosspoints?source="1:marko"&target="1:josh"&max_depth=2&direction=OUT"#,
    );
    assert_eq!(
        crossing,
        json!({"crosspoints": [
            {"crosspoint": "1:josh", "objects": ["1:marko", "1:josh"]},
            {"crosspoint": "2:lop", "objects": ["1:marko", "2:lop", "1:josh"]}]})
    );
    for (rest, message) in [
        (
            format!("rings?{source}&capacity=2"),
            "Exceed capacity '2' while finding rings",
        ),
        (
            format!("rays?{source}&capacity=2"),
            "Exceed capacity '2' while finding rays",
        ),
        (
            r#"rays?source="1:marko"&max_depth=0"#.to_owned(),
            "The max depth parameter must be > 0, but got 0",
        ),
        (
            r#"crosspoints?source="1:marko"&target="1:josh"&max_depth=0"#.to_owned(),
            "The depth must be in (0, 5000], but got: 0",
        ),
    ] {
        fixture.refuses("GET", &path(&rest), "", 400, message);
    }
}

#[test]
fn traversers_see_both_times() {
    let fixture = world();
    let walk = r#"kout?source="1:marko"&max_depth=1&label=knows"#;
    fixture.done("DELETE", "vertices/%221%3Avadas%22?label=person", "");
    let history = fixture.done("GET", "vertices/%221%3Avadas%22/history", "");
    let versions = history["versions"].as_array().unwrap();
    let [deleted, stored] = [0, 1].map(|at| versions[at]["as_of_tx"].as_str().unwrap());
    assert_eq!(get(&fixture, walk), json!({"vertices": ["1:josh"]}));
    let before: u64 = deleted.parse::<u64>().unwrap() - 1;
    let then = get(&fixture, &format!("{walk}&as_of_tx={before}"));
    assert_eq!(then, json!({"vertices": ["1:josh", "1:vadas"]}));
    // The edges came after the vertices.
    let earlier = get(&fixture, &format!("{walk}&as_of_tx={stored}"));
    assert_eq!(earlier, json!({"vertices": []}));
    fixture.refuses(
        "GET",
        &path(&format!("{walk}&as_of=2001-01-01")),
        "",
        400,
        "The source vertex with id '1:marko' does not exist",
    );
}

#[test]
fn what_is_wrong_is_named() {
    let fixture = world();
    let refused = |rest: &str, message: &str| {
        fixture.refuses("GET", &path(rest), "", 400, message);
    };
    let marko = r#"source="1:marko""#;
    for (rest, message) in [
        (
            "kout?max_depth=1".to_owned(),
            "The 'source vertex id' can't be null",
        ),
        (
            format!("kout?{marko}"),
            "The k-out max_depth parameter must be > 0, but got 0",
        ),
        (
            format!("kneighbor?{marko}&max_depth=-1"),
            "The k-neighbor max_depth parameter must be > 0, but got -1",
        ),
        (
            format!("kout?{marko}&max_depth=1&direction=out"),
            "Direction value must be in [OUT, IN, BOTH], but got 'out'",
        ),
        (
            format!("kout?{marko}&max_depth=1&label=none"),
            "Undefined edge label: 'none'",
        ),
        (
            format!("kout?{marko}&max_depth=1&max_degree=0"),
            "The max degree parameter must be > 0 or == -1, but got: 0",
        ),
        (
            format!("kout?{marko}&max_depth=1&capacity=0"),
            "The capacity parameter must be > 0 or == -1, but got: 0",
        ),
        (
            format!("kout?{marko}&max_depth=1&limit=0"),
            "The limit parameter must be > 0 or == -1, but got: 0",
        ),
        (
            format!("kout?{marko}&max_depth=1&capacity=1"),
            "Capacity can't be less than limit, but got capacity '1' and limit '10000000'",
        ),
        (
            format!("kout?{marko}&max_depth=2&capacity=2&limit=2"),
            "Reach capacity '2' while remaining depth '1'",
        ),
        (
            format!("kout?{marko}&max_depth=1&capacity=2&limit=2"),
            "Reach capacity '2' while remaining depth '0'",
        ),
        (
            r#"kout?source="nobody"&max_depth=1"#.to_owned(),
            "The source vertex with id 'nobody' does not exist",
        ),
        (
            format!(r#"shortestpath?{marko}&target="1:josh"&max_depth=3&capacity=3"#),
            "The max degree must be < capacity",
        ),
        (
            format!(r#"shortestpath?{marko}&target="1:josh"&max_depth=3&skip_degree=5"#),
            "The skipped degree must be >= max degree, but got skipped degree '5' and max degree '10000'",
        ),
        (
            r#"adamicadar?vertex="1:josh"&other="1:josh""#.to_owned(),
            "The source and target vertex id can't be same",
        ),
    ] {
        refused(&rest, message);
    }
    for (name, body, message) in [
        (
            "kout",
            json!({"steps": {}, "max_depth": 1}),
            "The source of request can't be null",
        ),
        (
            "kout",
            json!({"source": "1:marko", "max_depth": 1}),
            "The steps of request can't be null",
        ),
        (
            "kneighbor",
            json!({"source": "1:marko", "steps": {}, "max_depth": 1, "count_only": true, "with_edge": true}),
            "Can't return vertex, edge or path when count only",
        ),
        (
            "kout",
            json!({"source": "1:marko", "steps": {}, "max_depth": 1, "traverse_mode": "zz"}),
            "The traverse mode must be one of 'breadth_first_search' or 'depth_first_search', but got 'zz'",
        ),
        (
            "sameneighbors",
            json!({"vertex_list": ["1:marko"]}),
            "vertex_list size can't be less than 2",
        ),
    ] {
        fixture.refuses("POST", &path(name), &body.to_string(), 400, message);
    }
    let unknown = json!({"source": "1:marko", "steps": {}, "max_depth": 1, "foo": 1});
    let answer = fixture.send("POST", &path("kout"), &unknown.to_string());
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("foo"), "{}", answer.text());
}

#[test]
fn a_traversal_ends_at_its_limits() {
    let rows = with(ServerConfig {
        max_traversal_rows: 3,
        ..ServerConfig::default()
    });
    let walk = path(r#"kneighbor?source="1:marko"&max_depth=5000"#);
    let message = "The query looked at more than 3 rows (server.max_traversal_rows)";
    rows.refuses("GET", &walk, "", 400, message);
    let bytes = with(ServerConfig {
        max_traversal_bytes: 100,
        ..ServerConfig::default()
    });
    let message = "The query needs more than 100 bytes of memory (server.max_traversal_bytes)";
    bytes.refuses("GET", &walk, "", 400, message);
    let deep = get(
        &world(),
        r#"kneighbor?source="1:marko"&max_depth=9000000000"#,
    );
    assert_eq!(deep["vertices"].as_array().unwrap().len(), 4);
}
