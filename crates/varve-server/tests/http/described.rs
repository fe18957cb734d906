//! Limits that `docs/openapi.json` names are those of the server.

use varve_testserver::DOCUMENT;

#[test]
fn histories_take_the_limits_that_are_described() {
    let fixture = crate::fixture::Fixture::new();
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let mut count = 0;
    for (pattern, verbs) in paths {
        let of_elements = pattern.starts_with("/graphs/{graph}/graph/");
        if !of_elements || !pattern.ends_with("/history") {
            continue;
        }
        let id = match pattern.contains("/vertices/") {
            true => "%22x%22",
            false => "Sa%3E1%3E1%3E%3ESb",
        };
        let path = pattern.replace("{graph}", "hugegraph").replace("{id}", id);
        let parameters = verbs["get"]["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|known| known["name"] == "limit");
        let bound = |name: &str| limit.unwrap()["schema"][name].as_i64().unwrap();
        let refused = |limit: i64| {
            let answer = fixture.server.get(&format!("{path}?limit={limit}"));
            answer.text().contains("The limit of a history must be")
        };
        let (least, most) = (bound("minimum"), bound("maximum"));
        assert!(!refused(least) && !refused(most), "{pattern}");
        assert!(refused(least - 1) && refused(most + 1), "{pattern}");
        count += 1;
    }
    assert_eq!(count, 4);
}
