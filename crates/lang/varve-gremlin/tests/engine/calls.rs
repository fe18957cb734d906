//! Services of `call()`.

use std::collections::HashMap;

use varve_gremlin::execute::execute;
use varve_gremlin::parse_script;
use varve_model::{
    CommitVersion, Element, ElementId, Instant, Period, PropertyKeyId, Value as Stored, VertexId,
};
use varve_view::{MeterLimits, PastVersion};

use crate::modern::Modern;
use crate::{OneGraph, wide};

/// The graph `modern`, where marko was 20 from 1970 on and 21 from 1971 on, and deleted in 1972.
fn graph() -> Modern {
    let mut graph = Modern::new();
    let marko = graph.view.all_vertices()[0].clone();
    let year = |year: i64| Instant(year * 365 * 86_400_000_000);
    let version = |number: u64, from: Instant, age: Option<i32>| {
        let state = age.map(|age| {
            let mut then = marko.clone();
            then.properties.set(PropertyKeyId(2), Stored::Int(age));
            Element::Vertex(then)
        });
        let past = PastVersion {
            version: CommitVersion::first_at(year(20 + number as i64)),
            period: Period {
                from,
                to: Instant::FOREVER,
            },
            element: state,
            superseded: None,
        };
        (ElementId::Vertex(VertexId::Number(1)), past)
    };
    let past = vec![
        version(3, year(2), None),
        version(2, year(1), Some(21)),
        version(1, year(0), Some(20)),
    ];
    graph.view = graph.view.with_past(past);
    graph
}

fn result_within(text: &str, limits: MeterLimits) -> String {
    let graph = graph();
    let result = |as_written| {
        let mut host = OneGraph {
            graph: &graph,
            effects: Vec::new(),
            as_written,
            limits,
        };
        let script = parse_script(text).expect("a script");
        match execute(&script, HashMap::new(), &mut host) {
            Ok(results) => {
                let each = results.into_iter();
                let texts: Vec<String> = each
                    .flat_map(|(value, bulk)| {
                        std::iter::repeat_n(value.shown().to_string(), bulk as usize)
                    })
                    .collect();
                texts.join(" ")
            }
            Err(error) => format!("error: {error}"),
        }
    };
    let (fast, plain) = (result(false), result(true));
    assert_eq!(fast, plain, "{text}");
    fast
}

fn check(lines: &[(&str, &str)]) {
    for (text, wanted) in lines {
        assert_eq!(result_within(text, wide()), *wanted, "{text}");
    }
}

#[test]
fn services_are_listed_and_described() {
    check(&[
        (
            "g.call()",
            "tinker.search tinker.degree.centrality varve.as_of varve.history",
        ),
        (
            "g.call('--list').with('service','varve.history')",
            "varve.history",
        ),
        ("g.call('--list',[service:'nothing'])", ""),
        (
            "g.call('--list',[service:'varve.history']).with('verbose').select('params').select(keys)",
            "[limit]",
        ),
        (
            "g.call('nothing')",
            "error: There is no service 'nothing': g.call() lists all services",
        ),
    ]);
}

#[test]
fn a_history_has_the_versions_of_an_element_newest_first() {
    check(&[
        (
            "g.V(1).call('varve.history').select('kind')",
            "delete put put",
        ),
        (
            "g.V(1).call('varve.history',[limit:2]).where(select('kind').is('put'))\
             .select('element').values('age')",
            "21",
        ),
        (
            "g.V(1).call('varve.history').limit(1).select(keys)",
            "[valid_from, valid_to, version, recorded_at, superseded_at, kind, element]",
        ),
        // States of one element are not merged at a barrier, but are equal in predicates.
        (
            "g.V(1).call('varve.history').select('element').is(neq(null)).barrier().values('age')",
            "21 20",
        ),
        (
            "g.V(1).as('a').call('varve.history').select('element').where(eq('a')).count()",
            "2",
        ),
        (
            "g.V(1).call('varve.history').select('element').is(null)",
            "null",
        ),
        ("g.V(2).call('varve.history').count()", "0"),
        (
            "g.V(1).call('varve.history',[limit:10]).with('limit',constant(1)).select('kind')",
            "delete",
        ),
        (
            "g.V(1).call('varve.history').with('limit',0)",
            "error: The parameter 'limit' of varve.history must be a number from 1 to 10000, but \
             got 0",
        ),
        (
            "g.inject(7).call('varve.history')",
            "error: varve.history is called on a vertex or an edge, but got Integer 7",
        ),
    ]);
}

#[test]
fn an_element_as_of_a_time_stays_as_it_was_then() {
    check(&[
        (
            "g.V(1).call('varve.as_of',[as_of:'1970-06-01']).values('age')",
            "20",
        ),
        (
            "g.V(1).call('varve.as_of',[as_of:datetime('1971-06-01')]).values('age')",
            "21",
        ),
        ("g.V(1).call('varve.as_of',[as_of:'1975-01-01'])", ""),
        (
            "g.V(1).call('varve.as_of',[as_of:'1975-01-01',as_of_tx:'1992-12-01']).values('age')",
            "21",
        ),
        (
            "g.V(1).call('varve.as_of').with('as_of',constant('1970-06-01')).out().count()",
            "3",
        ),
        (
            "g.V(1).call('varve.as_of',[as_of:'yesterday'])",
            "error: The parameter 'as_of' of varve.as_of must be a date or its text, but got \
             yesterday",
        ),
    ]);
}

#[test]
fn a_history_counts_against_the_limits_of_its_query() {
    let few_rows = MeterLimits {
        rows_max: 3,
        ..wide()
    };
    let text = "g.V(1).call('varve.history')";
    let refused = result_within(text, few_rows);
    assert_eq!(refused, "error: The query looked at more than 3 rows");
    let few_bytes = MeterLimits {
        bytes_max: 2_500,
        ..wide()
    };
    let refused = result_within(text, few_bytes);
    assert_eq!(
        refused,
        "error: The query needs more than 2500 bytes of memory"
    );
}
