//! Equality of values inside a body, with a table for each order.

use super::*;

fn differences(order: Order, recorded: &str, actual: &str) -> Vec<String> {
    let mut ids = Identities::default();
    let mut walk = Walk::new(&mut ids, order);
    walk.value(
        "",
        &Json::parse(recorded).unwrap(),
        &Json::parse(actual).unwrap(),
    );
    walk.differences
}

fn check(order: Order, cases: &[(&str, &str, bool)]) {
    for (recorded, actual, equal) in cases {
        let found = differences(order, recorded, actual);
        assert_eq!(
            found.is_empty(),
            *equal,
            "{recorded} and {actual}: {found:?}"
        );
    }
}

#[test]
fn plain_values() {
    check(
        Order::Exact,
        &[
            ("{\"a\":1,\"b\":[1,2]}", "{\"b\":[1,2],\"a\":1}", true),
            ("{\"a\":1}", "{\"a\":2}", false),
            ("{\"a\":1}", "{}", false),
            ("{}", "{\"a\":1}", false),
            ("[1,2]", "[2,1]", false),
            ("[1,2]", "[1,2,3]", false),
            ("1", "1.0", false),
            ("1.0", "1.00", true),
            ("0.30000000000000004", "0.3", false),
            ("\"1\"", "1", false),
            ("null", "0", false),
            (
                "{\"links\":[{\"a\":\"b\"},{\"a\":\"c\"}]}",
                "{\"links\":[{\"a\":\"c\"},{\"a\":\"b\"}]}",
                true,
            ),
            (
                "{\"links\":[{\"a\":\"b\"},{\"a\":\"c\"}]}",
                "{\"links\":[{\"a\":\"c\"},{\"a\":\"c\"}]}",
                false,
            ),
        ],
    );
}

#[test]
fn the_order_of_an_elements_properties_counts() {
    let element =
        |properties: &str| format!("{{\"type\":\"vertex\",\"properties\":{{{properties}}}}}");
    let recorded = element("\"a\":1,\"b\":2");
    assert!(differences(Order::Exact, &recorded, &element("\"a\":1,\"b\":2")).is_empty());
    assert_eq!(
        differences(Order::Exact, &recorded, &element("\"b\":2,\"a\":1")).len(),
        1
    );
    let wrong_value = element("\"b\":2,\"a\":3");
    assert!(!differences(Order::Exact, &recorded, &wrong_value).is_empty());
}

#[test]
fn times_names_and_measures_by_shape() {
    check(
        Order::Exact,
        &[
            (
                "{\"~create_time\":\"2026-11-21 19:22:53.380\"}",
                "{\"~create_time\":\"2027-01-02 00:00:00.001\"}",
                true,
            ),
            (
                "{\"~create_time\":\"2026-11-21 19:22:53.380\"}",
                "{\"~create_time\":\"2027-01-02T00:00:00.001\"}",
                false,
            ),
            (
                "{\"~create_time\":\"2026-11-21 19:22:53.380\"}",
                "{}",
                false,
            ),
            ("{\"task_create\":5}", "{\"task_create\":6}", true),
            ("{\"task_create\":5}", "{\"task_create\":\"6\"}", false),
            ("{\"core\":\"1.5.0\"}", "{\"core\":\"1.7.0\"}", true),
            ("{\"core\":\"1.5.0\"}", "{\"core\":\"1.7\"}", false),
            ("{\"version\":\"v1\"}", "{\"version\":\"v2\"}", false),
            ("{\"api\":\"0.71.0.0\"}", "{\"api\":\"0.90.0.0\"}", false),
            (
                "{\"backend\":\"rocksdb\"}",
                "{\"backend\":\"memory\"}",
                true,
            ),
            ("{\"backend\":\"rocksdb\"}", "{\"backend\":null}", false),
            (
                "{\"measure\":{\"cost(ns)\":5}}",
                "{\"measure\":{\"cost(ns)\":6}}",
                true,
            ),
            ("{\"measure\":{\"cost(ns)\":5}}", "{\"measure\":{}}", false),
            ("{\"apis\":[\"a\"]}", "{\"apis\":[\"b\",\"c\"]}", true),
            ("{\"apis\":[\"a\"]}", "{\"apis\":[1]}", false),
            (
                "{\"requestId\":\"5589500e-d1ac-4f75-9fa4-80d57ca423d5\"}",
                "{\"requestId\":\"x\"}",
                false,
            ),
        ],
    );
}

#[test]
fn ids_of_the_server_are_paired_once() {
    check(
        Order::Exact,
        &[
            (
                "[{\"task_id\":2},{\"task_id\":2}]",
                "[{\"task_id\":9},{\"task_id\":9}]",
                true,
            ),
            (
                "[{\"task_id\":2},{\"task_id\":2}]",
                "[{\"task_id\":9},{\"task_id\":8}]",
                false,
            ),
            (
                "[{\"task_id\":2},{\"task_id\":3}]",
                "[{\"task_id\":9},{\"task_id\":9}]",
                false,
            ),
            ("{\"task_id\":0}", "{\"task_id\":1}", false),
            ("{\"task_id\":1}", "{\"task_id\":0}", false),
            ("{\"page\":null}", "{\"page\":null}", true),
            ("{\"page\":null}", "{\"page\":\"AA\"}", false),
            ("{\"page\":\"BB\"}", "{\"page\":\"AA\"}", true),
            ("{\"page\":\"BB\"}", "{}", false),
            (
                "[{\"task_id\":5},{\"task_name\":\"t\",\"id\":5,\"task_dependencies\":[4]}]",
                "[{\"task_id\":7},{\"task_name\":\"t\",\"id\":7,\"task_dependencies\":[6]}]",
                true,
            ),
            ("{\"id\":5}", "{\"id\":7}", false),
        ],
    );
}

#[test]
fn top_lists_are_sets_and_what_is_in_them_is_ordered() {
    check(
        Order::TopLists,
        &[
            (
                "{\"l\":[{\"a\":[1,2]},{\"b\":1}]}",
                "{\"l\":[{\"b\":1},{\"a\":[1,2]}]}",
                true,
            ),
            ("{\"l\":[{\"a\":[1,2]}]}", "{\"l\":[{\"a\":[2,1]}]}", false),
            ("{\"l\":[1,1,2]}", "{\"l\":[1,2,2]}", false),
            ("{\"l\":[1]}", "{\"l\":[1,1]}", false),
            ("[1,2]", "[2,1]", false),
        ],
    );
}

#[test]
fn paths_are_sequences_and_other_lists_sets() {
    check(
        Order::Paths,
        &[
            ("{\"vertices\":[1,2]}", "{\"vertices\":[2,1]}", true),
            (
                "{\"paths\":[{\"objects\":[1,2]}]}",
                "{\"paths\":[{\"objects\":[2,1]}]}",
                false,
            ),
            ("{\"path\":[1,2]}", "{\"path\":[2,1]}", false),
            (
                "{\"path\":{\"vertices\":[1,2]}}",
                "{\"path\":{\"vertices\":[2,1]}}",
                false,
            ),
            (
                "{\"ranks\":[{\"a\":1},{\"b\":1}]}",
                "{\"ranks\":[{\"b\":1},{\"a\":1}]}",
                false,
            ),
        ],
    );
}
