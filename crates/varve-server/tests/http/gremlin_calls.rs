//! `/gremlin`: services that scripts call by name.

use serde_json::{Value, json};

use crate::fixture::Fixture;

fn data(fixture: &Fixture, script: &str) -> Value {
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.done("POST", "/gremlin", &body);
    assert_eq!(answer["status"]["code"], 200, "{answer}");
    answer["result"]["data"].clone()
}

fn put(fixture: &Fixture, age: i64, period: &str) {
    let properties = json!({"name": "t", "age": age, "city": "r"});
    let body = json!({"label": "person", "properties": properties}).to_string();
    fixture.done("POST", &format!("vertices?{period}"), &body);
}

/// A vertex that was 1 from 2000 on and 2 from 2010 on, and is 3 in 2005.
fn fixture_with_calls() -> Fixture {
    let fixture = Fixture::new();
    put(&fixture, 1, "valid_from=2000-01-01");
    put(&fixture, 2, "valid_from=2010-01-01");
    put(&fixture, 3, "valid_from=2005-01-01&valid_to=2006-01-01");
    fixture
}

#[test]
fn a_script_lists_the_versions_that_the_rest_api_lists() {
    let fixture = fixture_with_calls();
    let rest = fixture.done("GET", "vertices/%221%3At%22/history", "");
    let rest = rest["versions"].as_array().expect("versions");
    let own = data(&fixture, "g.V('1:t').call('varve.history')");
    let own = own.as_array().expect("versions");
    assert_eq!(own.len(), rest.len());
    for (own, rest) in own.iter().zip(rest) {
        for key in ["version", "kind"] {
            assert_eq!(own[key], rest[key], "{key}");
        }
        for key in ["valid_from", "valid_to", "superseded_at"] {
            assert_eq!(own[key].is_null(), rest[key].is_null(), "{key}");
        }
        assert_eq!(own["element"]["properties"], rest["element"]["properties"]);
    }
    let ages = "g.V('1:t').call('varve.history', [limit: 2]).select('element').values('age')";
    assert_eq!(data(&fixture, ages), json!([3, 2]));
    // Of a valid time: what was said of it.
    let of_2003 = "g.with('as_of', '2003-01-01').V('1:t').call('varve.history')\
                   .select('element').values('age')";
    assert_eq!(data(&fixture, of_2003), json!([1]));
}

#[test]
fn a_script_reads_an_element_as_of_another_time() {
    let fixture = fixture_with_calls();
    let age = |parameters: &str| {
        let script = format!("g.V('1:t').call('varve.as_of', {parameters}).values('age')");
        data(&fixture, &script)
    };
    assert_eq!(age("[as_of: '2005-06-01']"), json!([3]));
    assert_eq!(age("[as_of: datetime('2003-01-01')]"), json!([1]));
    assert_eq!(age("[as_of: '1999-01-01']"), json!([]));
    let versions = data(
        &fixture,
        "g.V('1:t').call('varve.history').select('version')",
    );
    assert_eq!(
        age(&format!(
            "[as_of: '2005-06-01', as_of_tx: {}L]",
            versions[1]
        )),
        json!([1])
    );
    // A commit that the traversal does not see is not seen.
    let before = format!(
        "g.with('as_of_tx', '{}').V('1:t').call('varve.as_of', [as_of: '2005-06-01', \
         as_of_tx: 'now']).values('age')",
        versions[1]
    );
    assert_eq!(data(&fixture, &before), json!([1]));
}

#[test]
fn what_a_script_has_changed_is_no_part_of_the_past() {
    let fixture = fixture_with_calls();
    let script = "g.V('1:t').property('age', 9).iterate()\n\
                  g.V('1:t').as('now').call('varve.as_of', [as_of: '2012-01-01']).as('then')\
                  .select('now', 'then').by('age')";
    assert_eq!(data(&fixture, script), json!([{"now": 9, "then": 2}]));
    let shown = data(
        &fixture,
        "g.V('1:t').call('varve.as_of', [as_of: '2003-01-01'])",
    );
    let vertex = json!({
        "id": "1:t", "label": "person", "type": "vertex",
        "properties": {"name": "t", "age": 1, "city": "r"}
    });
    assert_eq!(shown, json!([vertex]));
}

#[test]
fn edges_have_a_past_too() {
    let fixture = Fixture::new();
    fixture.people();
    let of = |script: &str| data(&fixture, script);
    assert_eq!(
        of("g.V('1:marko').outE('created').call('varve.history').select('kind')"),
        json!(["put"])
    );
    assert_eq!(
        of("g.V('1:marko').outE('created').call('varve.as_of', [as_of_tx: 'now']).inV().id()"),
        json!(["2:lop"])
    );
    assert_eq!(
        of("g.V('2:lop').call('tinker.degree.centrality')"),
        json!([1])
    );
}
