//! TinkerPop's scenarios on the engine: those that only read, on the graphs `modern`, `grateful`
//! and `sink`, or without a graph.
//!
//! `not_yet.txt` lists the scenarios that fail. One that passes must be removed from the list.

#![expect(
    clippy::too_many_lines,
    reason = "a test is a list of cases, best read from top to bottom"
)]

mod bounds;
mod calls;
mod expected;
mod feature;
mod generate;
mod many;
mod modern;
mod others;
mod outcome;
mod paths;
mod random;
mod reference;
mod report;
mod rules;
mod scripts;
mod steps;
mod strategies;
mod values;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use varve_gremlin::bind::Bound;
use varve_gremlin::execute::{Host, Results, Source, execute};
use varve_gremlin::parse_script;
use varve_query::{Query, QueryError, QueryOptions, Value};
use varve_view::{CancelToken, Meter, MeterLimits};

use feature::Scenario;
use modern::Modern;
use report::Report;

struct OneGraph<'g> {
    graph: &'g Modern,
    effects: Vec<(String, Value)>,
    as_written: bool,
    limits: MeterLimits,
}

/// Limits that no scenario reaches.
fn wide() -> MeterLimits {
    MeterLimits {
        rows_max: 50_000_000,
        bytes_max: 128 << 20,
        deadline: Some(Instant::now() + Duration::from_secs(60)),
    }
}

impl Host for OneGraph<'_> {
    fn check(&self) -> Result<(), QueryError> {
        Ok(())
    }

    fn run(&mut self, _: &Source, bound: &Bound, most: Option<u64>) -> Result<Results, QueryError> {
        let meter = Meter::new(self.limits, CancelToken::default());
        let mut options = QueryOptions {
            as_written: self.as_written,
            ..bound.options.clone()
        };
        for (name, value) in &self.effects {
            let effect = (name.as_str().into(), value.clone(), None);
            options.side_effects.push(effect);
        }
        let graph = self.graph;
        let mut query = Query::new(&bound.plan, &graph.view, &graph.schema, &meter, options)?;
        let mut results = Vec::new();
        let most = most.map_or(usize::MAX, |most| most as usize);
        while results.len() < most {
            let Some(batch) = query.next(most - results.len())? else {
                break;
            };
            query.fill(&batch)?;
            results.extend(batch);
            if results.len() > 1_000_000 {
                return Err(QueryError::invalid("too many results"));
            }
        }
        let mut left = most as u64;
        results.retain_mut(|(_, bulk)| {
            *bulk = (*bulk).min(left);
            left -= *bulk;
            *bulk > 0
        });
        Ok(results)
    }
}

/// Runs a scenario. The error describes the difference.
fn run(scenario: &Scenario, graph: &Modern, as_written: bool) -> Result<(), String> {
    let script = parse_script(&scenario.text).map_err(|error| format!("parse: {error}"))?;
    let mut bindings = HashMap::new();
    for (name, text) in &scenario.parameters {
        let value = graph
            .parameter(text)
            .ok_or_else(|| format!("parameter {text}"))?;
        bindings.insert(name.as_str().into(), value);
    }
    let mut effects = Vec::new();
    for (name, text) in &scenario.effects {
        let value = graph
            .parameter(text)
            .ok_or_else(|| format!("side effect {text}"))?;
        effects.push((name.clone(), value));
    }
    let mut host = OneGraph {
        graph,
        effects,
        as_written,
        limits: wide(),
    };
    let results = execute(&script, bindings, &mut host);
    let results = results.map(|results| {
        let each = results.into_iter();
        each.flat_map(|(value, bulk)| std::iter::repeat_n(value, bulk as usize))
            .collect()
    });
    outcome::check(scenario, graph, results.map_err(|error| error.to_string()))
}

fn check(as_written: bool) {
    let (modern, empty) = (Modern::new(), Modern::empty());
    let (grateful, sink) = (others::grateful(), others::sink());
    let mut report = Report::default();
    for scenario in feature::scenarios() {
        let graph = match scenario.graph.as_str() {
            "modern" => &modern,
            "empty" => &empty,
            "sink" => &sink,
            // The model scans all edges for each vertex, so these run only once.
            "grateful" if !as_written => &grateful,
            _ => continue,
        };
        let is_beyond = scenario.beyond_a_server().is_some();
        if is_beyond || scenario.fills || scenario.writes() {
            continue;
        }
        let run = || run(&scenario, graph, as_written);
        // Without merging of equal rows, some scenarios exceed the memory limit.
        report.run(&scenario, run, |why| {
            as_written && why.ends_with("bytes of memory")
        });
    }
    let mut listed = report::listed(include_str!("not_yet.txt"));
    if as_written {
        listed.retain(|name| report.ran.contains(name));
    }
    report.check(&listed);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn scenarios_that_read_the_modern_graph_pass() {
    check(false);
}

#[test]
#[ignore = "needs the feature files: run tests/gremlin/run.sh"]
fn scenarios_pass_with_the_plan_as_it_is_written() {
    check(true);
}

fn values_of(text: &str) -> Result<Vec<Value>, QueryError> {
    let graph = Modern::new();
    let mut host = OneGraph {
        graph: &graph,
        effects: Vec::new(),
        as_written: false,
        limits: wide(),
    };
    let script = parse_script(text).expect("a script");
    let results = execute(&script, HashMap::new(), &mut host)?;
    let each = results.into_iter();
    Ok(each
        .flat_map(|(value, bulk)| std::iter::repeat_n(value, bulk as usize))
        .collect())
}

#[test]
fn children_see_every_row_of_a_long_stream() {
    let many = "g.inject(0..2999).unfold()";
    for (rest, wanted) in [
        (
            "union(union(identity(),identity()),identity()).count()",
            9_000,
        ),
        (
            "choose(is(gt(10)),choose(is(gt(20)),constant(1),constant(2)),constant(3)).count()",
            3_000,
        ),
        ("union(choose(is(gte(0)),count(),constant(0)))", 3_000),
        ("coalesce(is(gt(5)),constant(1)).count()", 3_000),
        (
            "repeat(union(is(gt(1)),is(lte(1)))).times(3).count()",
            3_000,
        ),
        ("local(union(constant(1),constant(2)).count()).sum()", 6_000),
        ("where(__.not(is(gt(2997)))).count()", 2_998),
        (
            "group().by(constant(1)).by(count()).unfold().select(values)",
            3_000,
        ),
    ] {
        let text = format!("{many}.{rest}");
        let got = values_of(&text).expect("results");
        assert_eq!(got, [Value::Long(wanted)], "{text}");
    }
}

#[test]
fn a_child_of_a_branch_that_gets_no_row_gives_none() {
    let none = "g.inject(1).is(2)";
    for (text, wanted) in [
        (format!("{none}.union(count(),fold())"), &[][..]),
        (format!("{none}.union(union(count()),identity())"), &[]),
        (format!("{none}.choose(is(1),count(),count())"), &[]),
        ("g.inject(1).local(is(2).union(count()))".into(), &[]),
        // A child whose own step lets no row by has one all the same.
        ("g.inject(1,2).union(is(5).count(),count())".into(), &[0, 2]),
        ("g.union(inject(1).is(2).count(),inject(1))".into(), &[0, 1]),
        (
            "g.inject(1,2).local(union(is(1).count(),count()))".into(),
            &[1, 1, 0, 1],
        ),
    ] {
        let got = values_of(&text).expect("results");
        let got: Vec<i64> = got.iter().filter_map(Value::as_long).collect();
        assert_eq!(got, wanted, "{text}");
    }
}

#[test]
fn to_with_a_direction_is_a_step_also_behind_steps_that_have_an_end() {
    for (text, wanted) in [
        ("g.V(1).simplePath().to(OUT,'knows').count()", 2),
        ("g.V(3).path().by('name').unfold().count()", 1),
        ("g.V(1).out().cyclicPath().to(IN).count()", 0),
        (
            "g.V(1).as('a').out().as('b').in().simplePath().from('a').to('b').count()",
            5,
        ),
    ] {
        let got = values_of(text).expect("results");
        assert_eq!(got, [Value::Long(wanted)], "{text}");
    }
}

#[test]
fn filters_behind_a_source_give_what_they_gave_before() {
    for (text, wanted) in [
        ("g.E().hasLabel('knows').hasLabel('created').count()", 0),
        ("g.E().hasLabel(within([])).count()", 0),
        ("g.V().hasId(1,1).count()", 1),
        ("g.V().hasId('1').count()", 1),
        ("g.V().has('age',gt(28)).hasLabel('person').count()", 3),
        ("g.V(1).bothE().barrier().otherV().dedup().count()", 3),
        ("g.V(1).coalesce(out().out()).path().count(local)", 2),
    ] {
        let got = values_of(text).expect("results");
        assert!(
            got.iter().all(|value| *value == Value::Long(wanted)),
            "{text}: {got:?}"
        );
        assert!(!got.is_empty(), "{text}");
    }
    let two = values_of("g.V().both().both().next(2)").expect("results");
    assert_eq!(two.len(), 2);
}

/// Each of these texts would grow without bound, or overflow the stack.
#[test]
fn texts_that_grow_without_end_are_refused() {
    let sums = format!("g.inject(1).math('{}1')", "1+".repeat(100_000));
    let orders = format!("g.inject(1){}", ".order()".repeat(5_000));
    let ranges = format!("g.inject([{}0])", "0..1000000,".repeat(1_000));
    for text in [
        "g.inject(1).repeat(fold()).times(100000)",
        "g.inject(1).repeat(union(identity(),identity()).fold()).times(40)",
        "g.inject('a').repeat(replace('a','aaaaaaaaaa')).times(12)",
        "g.withSack(2n).inject(1).repeat(sack(mult).by(sack())).times(50).sack()",
        "g.V(1).repeat(both()).times(1000).tree()",
        &sums,
        &orders,
        &ranges,
    ] {
        let refused = values_of(text).expect_err("a limit");
        let by_limit = matches!(
            refused,
            QueryError::Invalid(_)
                | QueryError::Arithmetic(_)
                | QueryError::Limit(_)
                | QueryError::View(_)
        );
        assert!(by_limit, "{}: {refused}", &text[..text.len().min(80)]);
    }
}
