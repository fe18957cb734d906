//! What TinkerPop's reference gives in an open graph, where several values and properties of
//! properties exist, and for steps that change the graph.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::gremlin_writes::data;

/// The open graph `open` with two persons and two places.
fn graph() -> Fixture {
    let fixture = Fixture::new();
    fixture.done("POST", "/graphs/open", r#"{"schema":"open"}"#);
    let script = "g.addV('person').property('uid','v1').property('part','a').property('age',29)\
        .as('1').addV('person').property('uid','v2').property('part','b').property('age',27)\
        .as('2').addV('place').property('uid','v3').property('part','c').as('3')\
        .addV('place').property('uid','v4').property('part','a').property('age',32).as('4')\
        .addE('k').from('1').to('2').addE('k').from('1').to('4').property('part','a')\
        .addE('m').from('4').to('3').addE('m').from('2').to('4').iterate()";
    on(&fixture, script);
    fixture
}

fn on(fixture: &Fixture, script: &str) -> Value {
    data(
        fixture,
        &format!("graph = open; g = graph.traversal(); {script}"),
    )
}

fn refused(fixture: &Fixture, script: &str, says: &str) {
    let script = format!("graph = open; g = graph.traversal(); {script}");
    let body = json!({"gremlin": script}).to_string();
    let answer = fixture.send("POST", "/gremlin", &body);
    let text = answer.text();
    assert!(
        (400..500).contains(&answer.status) && text.contains(says),
        "{script}: {text}"
    );
}

#[test]
fn a_strategy_removes_only_what_its_filters_find() {
    for (strategy, left) in [
        ("SubgraphStrategy(edges: __.hasLabel('k'))", json!([3])),
        ("SubgraphStrategy(vertices: __.has('age'))", json!([4])),
        (
            "SubgraphStrategy(vertexProperties: __.hasKey('uid'))",
            json!([3]),
        ),
        (
            "PartitionStrategy(partitionKey: 'part', readPartitions: ['a'])",
            json!([4]),
        ),
    ] {
        let fixture = graph();
        let removed = format!("g.withStrategies({strategy}).V().has('uid','v3').drop()");
        on(&fixture, &format!("{removed}.iterate()"));
        assert_eq!(on(&fixture, "g.V().count()"), left, "{strategy}");
    }
}

#[test]
fn a_subgraph_hides_what_it_excludes_of_what_is_added() {
    let fixture = graph();
    let persons = "g.withStrategies(SubgraphStrategy(vertices: __.hasLabel('person')))";
    let edges = "g.withStrategies(SubgraphStrategy(edges: __.hasLabel('k')))";
    for (script, wanted) in [
        (format!("{persons}.addV('place').count()"), json!([0])),
        (format!("{persons}.addV('person').count()"), json!([1])),
        (
            format!("{persons}.addV('person').property('x',1).values('x')"),
            json!([1]),
        ),
        (
            format!("{edges}.V().has('uid','v1').addE('m').to(__.V().has('uid','v2')).count()"),
            json!([0]),
        ),
        (
            format!("{edges}.V().has('uid','v1').addE('k').to(__.V().has('uid','v2')).count()"),
            json!([1]),
        ),
        ("g.V().count()".to_owned(), json!([7])),
        // What is written may be in a partition that is not read.
        (
            "g.withStrategies(PartitionStrategy(partitionKey: 'part', writePartition: 'z', \
             readPartitions: ['a'])).addV('q').values('part')"
                .to_owned(),
            json!(["z"]),
        ),
    ] {
        assert_eq!(on(&fixture, &script), wanted, "{script}");
    }
    refused(
        &fixture,
        &format!("{persons}.V().has('uid','v1').addE('x').to(__.V().has('uid','v3'))"),
        "must resolve to a Vertex",
    );
}

#[test]
fn each_of_several_values_comes_from_a_neighbour() {
    let fixture = graph();
    on(
        &fixture,
        "g.V().has('uid','v2').property(list,'uid','w2').property(list,'uid','x2').iterate()",
    );
    for (script, wanted) in [
        (
            "g.V().has('uid','v1').out('k').values('uid').order()",
            json!(["v2", "v4", "w2", "x2"]),
        ),
        (
            "g.V().has('uid','v1').both().values('uid').count()",
            json!([4]),
        ),
        (
            "g.V().has('uid','v1').outE().inV().values('uid').count()",
            json!([4]),
        ),
        (
            "g.V().has('uid','v4').in('m').values('uid').count()",
            json!([3]),
        ),
        (
            "g.V().has('uid','v1').where(out().values('uid').is('x2')).count()",
            json!([1]),
        ),
        (
            "g.V().out().values('uid').groupCount().select('w2')",
            json!([1]),
        ),
        // `by` reads the first value.
        (
            "g.V().has('uid','v1').out().groupCount().by('uid').count(local)",
            json!([2]),
        ),
    ] {
        assert_eq!(on(&fixture, script), wanted, "{script}");
    }
}

#[test]
fn a_changed_property_of_a_property_shows_at_once() {
    let fixture = graph();
    on(
        &fixture,
        "g.V().has('uid','v1').property('n','x','m',1).iterate()",
    );
    for (script, wanted) in [
        (
            "g.V().properties('n').property('m',2).values('m')",
            json!([2]),
        ),
        (
            "g.V().properties('n').property('m',3).valueMap()",
            json!([{"m": 3}]),
        ),
        (
            "g.V().properties('n').as('p').property('m',4).select('p').values('m')",
            json!([4]),
        ),
        (
            "g.V().properties('n').as('p').sideEffect(__.properties('m').drop()).select('p').valueMap()",
            json!([{}]),
        ),
        (
            "g.V().properties('n').property('o',5).has('o',5).elementMap('o').select('o')",
            json!([5]),
        ),
    ] {
        assert_eq!(on(&fixture, script), wanted, "{script}");
    }
}

#[test]
fn a_merge_may_not_replace_what_it_searched_for() {
    let fixture = graph();
    let refusal = "option(onCreate) cannot override values from merge() argument";
    for script in [
        "g.mergeV([(T.label):'q', w: 2]).option(onCreate, [w: 1])",
        "g.mergeV([(T.label):'q', w: 2]).option(onCreate, [w: 2L])",
        "g.mergeV([(T.label):'q', w: 2]).option(onCreate, __.constant([w: 1]))",
        "g.mergeV([uid: 'v1']).option(onCreate, [uid: 'other'])",
        "g.inject([w: 2]).mergeV().option(onCreate, [w: 1])",
        "g.mergeV([w: 2]).option(onCreate, [w: list(2)])",
    ] {
        refused(&fixture, script, refusal);
    }
    let ends = "(OUT): __.V().has('uid','v1').next(), (IN): __.V().has('uid','v2').next()";
    let ends = ends.replace("__.V()", "g.V()");
    let edge = format!("g.mergeE([(T.label):'e', w: 2, {ends}]).option(onCreate, [w: 1])");
    refused(&fixture, &edge, refusal);
    refused(
        &fixture,
        "g.mergeE([(T.label):'e', (IN): Merge.inV, (OUT): g.V().has('uid','v1').next()])",
        "option(inV) must be specified if it is used for IN",
    );
    for (script, wanted) in [
        ("g.V().count()", json!([4])),
        (
            "g.mergeV([(T.label):'q', w: 2]).option(onCreate, [w: 2, x: 3]).values('x')",
            json!([3]),
        ),
        (
            "g.mergeV([uid: 'v1']).option(onCreate, __.constant([uid: 'other'])).values('uid')",
            json!(["v1"]),
        ),
    ] {
        assert_eq!(on(&fixture, script), wanted, "{script}");
    }
}

#[test]
fn a_limit_of_none_changes_the_graph_all_the_same() {
    let fixture = graph();
    for (script, wanted) in [
        (
            "g.addV('q').limit(0).iterate(); g.V().hasLabel('q').count()",
            json!([1]),
        ),
        ("g.addV('q').values('x').limit(0).count()", json!([0])),
        ("g.V().hasLabel('q').count()", json!([2])),
        (
            "g.V().hasLabel('q').drop().limit(0).iterate(); g.V().hasLabel('q').count()",
            json!([0]),
        ),
        (
            "g.V().limit(0).addV('q').iterate(); g.V().hasLabel('q').count()",
            json!([0]),
        ),
    ] {
        assert_eq!(on(&fixture, script), wanted, "{script}");
    }
}

#[test]
fn a_property_needs_a_value_that_its_child_gives() {
    let fixture = graph();
    let missing = "The provided traverser does not map to a value";
    refused(&fixture, "g.V().property('x', __.values('zz'))", missing);
    refused(&fixture, "g.V().property(__.values('zz'), 'x')", missing);
    refused(
        &fixture,
        "g.V().property(single, 'x', 1, 'm', __.values('zz'))",
        missing,
    );
    refused(
        &fixture,
        "g.V().addE('k').to('zz')",
        "Neither the map, the side effects nor the path has a value 'zz'",
    );
    assert_eq!(on(&fixture, "g.V().has('x').count()"), json!([0]));
}

#[test]
fn a_branch_without_options_makes_its_changes() {
    let fixture = graph();
    let set = "g.V().has('uid','v1').choose(__.property('seen', 1)).count()";
    assert_eq!(on(&fixture, set), json!([1]));
    let set = "g.V().has('uid','v2').branch(__.property('seen', 2)).count()";
    assert_eq!(on(&fixture, set), json!([0]));
    let seen = "g.V().values('seen').order()";
    assert_eq!(on(&fixture, seen), json!([1, 2]));
}

#[test]
fn a_new_edge_takes_one_value_of_a_key() {
    let fixture = graph();
    for start in [
        "V().has('uid','v1').as('v')",
        "V().has('uid','none').as('v')",
    ] {
        let script = format!("g.{start}.addE('k').to('v').property('w',1).property('w',2)");
        refused(&fixture, &script, "'w' is given twice");
    }
    assert_eq!(on(&fixture, "g.E().has('w').count()"), json!([0]));
}

#[test]
fn a_partition_of_properties_is_written_and_not_asked_for() {
    let fixture = graph();
    let part = |read: &str| {
        format!(
            "g.withStrategies(PartitionStrategy(partitionKey: 'part', writePartition: 'x', \
             readPartitions: ['{read}'], includeMetaProperties: true))"
        )
    };
    let add = format!(
        "{}.addV('place').property('uid','v5').property('height',7).iterate()",
        part("x")
    );
    on(&fixture, &add);
    let set = format!("{}.V().property('width',8).iterate()", part("x"));
    on(&fixture, &set);
    let own = "g.V().has('uid','v5').properties().values('part').dedup()";
    assert_eq!(on(&fixture, own), json!(["x"]));
    let read = |of: &str| format!("{}.V().values('height','width').order()", part(of));
    assert_eq!(on(&fixture, &read("x")), json!([7, 8]));
    assert_eq!(on(&fixture, &read("y")), json!([]));
    // Beside a subgraph, in both orders, the vertex has all that it was added with.
    for (order, name) in [(true, "v6"), (false, "v7")] {
        let partition = "PartitionStrategy(partitionKey: 'part', writePartition: 'x', \
             readPartitions: ['x'], includeMetaProperties: true)";
        let subgraph = "SubgraphStrategy(vertices: __.has('uid'))";
        let both = match order {
            true => format!("{partition}, {subgraph}"),
            false => format!("{subgraph}, {partition}"),
        };
        let add =
            format!("g.withStrategies({both}).addV('place').property('uid','{name}').count()");
        assert_eq!(on(&fixture, &add), json!([1]), "{both}");
        let own = format!("g.V().has('uid','{name}').values('uid','part').order()");
        assert_eq!(on(&fixture, &own), json!([name, "x"]), "{both}");
    }
    let declared = "g.withStrategies(PartitionStrategy(partitionKey: 'part', writePartition: 'x', \
         readPartitions: ['x'], includeMetaProperties: true)).addV('person').property('name','x')";
    let answer = fixture.send(
        "POST",
        "/gremlin",
        &json!({"gremlin": declared}).to_string(),
    );
    assert!(
        answer.text().contains("has no properties of properties"),
        "{}",
        answer.text()
    );
    for asks in ["has('part')", "values('part')", "local(__.hasNot('part'))"] {
        let script = format!("{}.V().{asks}", part("x"));
        refused(
            &fixture,
            &script,
            "Cannot explicitly request the partitionKey",
        );
    }
}
