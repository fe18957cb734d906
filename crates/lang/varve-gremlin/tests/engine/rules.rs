//! Rules: rewritten plans have the same results as plans as written, and read fewer rows.

use varve_gremlin::bind::{NoVariables, bind};
use varve_gremlin::parse_traversal;
use varve_query::{Query, QueryOptions};
use varve_view::Meter;

use crate::modern::Modern;

/// The results as texts, in order, and the number of rows read.
pub(crate) fn answered(text: &str, as_written: bool, demand: usize) -> (Vec<String>, u64) {
    let graph = Modern::new();
    let traversal = parse_traversal(text).expect("a traversal");
    let bound = bind(&traversal, &NoVariables).expect("a plan");
    let meter = Meter::unlimited();
    let options = QueryOptions {
        as_written,
        ..bound.options
    };
    let (view, schema) = (&graph.view, &graph.schema);
    let mut query = Query::new(&bound.plan, view, schema, &meter, options).expect("a query");
    let mut results = Vec::new();
    while let Some(batch) = query.next(demand).expect("results") {
        for (value, bulk) in batch {
            let times = usize::try_from(bulk).expect("few");
            results.extend(std::iter::repeat_n(value.shown().to_string(), times));
        }
    }
    (results, meter.rows())
}

#[test]
fn plans_that_rules_rewrite_give_what_plans_as_written_give() {
    for text in [
        "g.V().out().count()",
        "g.V().outE('created').count()",
        "g.V().out().out().count()",
        "g.V().both().both().count()",
        "g.V().out('nothing').count()",
        "g.V(99).out().count()",
        "g.V().local(out().count())",
        "g.V().map(out('knows').count())",
        "g.V().group().by(bothE().count()).by('name')",
        "g.V().order().by(out().count(),desc).by('name').values('name')",
        "g.V().union(out().count(),__.in().count())",
        "g.V().repeat(both()).times(3).count()",
        "g.V().where(out()).values('name')",
        "g.V().where(__.not(out('created'))).values('name')",
        "g.V().where(out().count().is(0)).values('name')",
        "g.V().where(out().count().is(neq(0))).values('name')",
        "g.V().where(out().count().is(gt(1))).values('name')",
        "g.V().where(out().count().is(lte(1))).values('name')",
        "g.V().where(out().count().is(3)).values('name')",
        "g.V().where(out().count().is(gt(-1))).values('name')",
        "g.V().where(__.not(__.in().count().is(0))).values('name')",
        "g.V().where(out().out().count().is(gte(2))).values('name')",
        "g.V().where(values('name').count().is(0)).count()",
        "g.V().and(out('knows'),out('created')).values('name')",
        "g.V().or(out('knows'),__.in('knows')).values('name')",
        "g.V().count()",
        "g.E().count()",
        "g.V().hasLabel('person').count()",
        "g.V().hasLabel('nothing').count()",
        "g.E().hasLabel('knows','created').count()",
        "g.V().has('age',gt(28)).count()",
        "g.V().count().union(identity(),V().count())",
        "g.V().hasLabel('person').order().by('age').limit(2).values('name')",
        "g.V().hasLabel('person').order().by('age',desc).range(1,3).values('name')",
        "g.V().has('person','age',gt(27)).order().by('age',desc).limit(9).values('name')",
        "g.V().has('person','age',lt(33)).order().by('age').as('a').limit(2).select('a').by('name')",
        "g.V().both().groupCount().by('name')",
        "g.V().both().both().values('name')",
        "g.V().out().values('age')",
        "g.V().out().values('nothing')",
        "g.V().out('nothing').values('name')",
        "g.V(99).out().values('name')",
        "g.V().outE('created').inV().values('lang')",
        "g.V().out().groupCount().by('age')",
        "g.V().out().out().values('name').groupCount()",
        "g.V().local(out().values('name'))",
        "g.V().local(both().groupCount().by('name')).unfold()",
        "g.V().group().by('name').by(out().values('name').fold())",
        "g.V().as('a').out().values('name').as('b').select('a','b').by('name').by()",
        "g.V().out().values('name').path()",
        "g.V().both().values('name').dedup()",
        "g.V().where(out().values('lang')).values('name')",
        "g.withSack(1).V().out().sack(sum).by('age').out().values('name').sack()",
        "g.V(1).out().limit(9).id()",
        "g.V().local(out().limit(1).count())",
        "g.V().both().dedup().count()",
        "g.V().as('a').out().as('b').limit(100).select('a','b').by('name')",
        "g.V(1).outE().inV().limit(5).path().by('name').by(label)",
    ] {
        for demand in [1, 1_024] {
            let [mut written, mut rewritten] =
                [true, false].map(|as_written| answered(text, as_written, demand).0);
            if !text.contains("order()") {
                written.sort();
                rewritten.sort();
            }
            assert_eq!(rewritten, written, "{text}, {demand} at a time");
        }
    }
    for (text, wanted) in [
        ("g.V().out().out().limit(1)", 1),
        ("g.V().both().both().limit(7)", 7),
        ("g.V().both().limit(5).both().limit(4)", 4),
        ("g.V().repeat(both().limit(2)).times(3)", 2),
    ] {
        for as_written in [true, false] {
            let (results, _) = answered(text, as_written, 1);
            assert_eq!(results.len(), wanted, "{text}");
        }
    }
}

#[test]
fn plans_read_no_more_rows_than_they_need() {
    for (text, most) in [
        // One vertex, one of its edges, and one edge of that neighbour: the first path suffices.
        ("g.V().out().out().limit(1).id()", 8),
        ("g.V().out().limit(1).id()", 2),
        // Six vertices, and one edge of each that has edges.
        ("g.V().where(out()).id()", 9),
        ("g.V().where(__.in().count().is(0)).id()", 10),
        ("g.V().where(out().count().is(gt(1))).id()", 11),
        (
            "g.V().hasLabel('person').order().by('age',desc).limit(1).values('name')",
            1,
        ),
        // Twelve neighbours, of which six are distinct.
        ("g.V().both().values('name')", 24),
        ("g.V().both().both().groupCount().by('name')", 30 + 6 + 6),
    ] {
        let (_, rows) = answered(text, false, 1_024);
        assert!(rows <= most, "{text}: {rows} rows");
    }
}
