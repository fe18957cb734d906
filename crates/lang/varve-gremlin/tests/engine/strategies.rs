//! Strategies of the source: what they hide, and what they refuse.

use crate::steps::{check, printed};
use crate::values_of;

/// The texts of the ids that a script gives, in order of text.
fn ids(text: &str) -> Vec<String> {
    let values = values_of(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let shown = values.iter().map(|value| value.shown().to_string());
    let mut ids: Vec<String> = shown.collect();
    ids.sort_unstable();
    ids
}

#[test]
fn a_filter_stays_behind_every_step_under_every_strategy() {
    let strategies = [
        "SubgraphStrategy(vertices: __.has('age'))",
        "SubgraphStrategy(vertices: __.out())",
        "SubgraphStrategy(edges: __.hasLabel('knows'))",
        "SubgraphStrategy(edges: __.inV())",
        "SubgraphStrategy(vertexProperties: __.hasKey('name'))",
        "SubgraphStrategy(vertices: __.has('age'), edges: __.hasLabel('knows'))",
        "SubgraphStrategy(vertices: __.has('age'), checkAdjacentVertices: false)",
        "PartitionStrategy(partitionKey: 'lang', readPartitions: ['java'])",
        "PartitionStrategy(partitionKey: 'name', readPartitions: ['marko','josh','lop'])",
        "PartitionStrategy(partitionKey: 'lang', readPartitions: ['java'], \
         includeMetaProperties: true)",
    ];
    let of_vertices = [
        "has('name','josh')",
        "has('name')",
        "has('age',gt(28))",
        "hasNot('age')",
        "hasLabel('person')",
        "has('person','name','josh')",
        "hasId(1,4)",
        "hasId(P.within(1,4))",
    ];
    let of_edges = [
        "has('weight',0.4d)",
        "has('weight')",
        "hasNot('weight')",
        "hasLabel('created')",
        "hasLabel('knows')",
        "has('knows','weight',0.5d)",
    ];
    let between = [
        "",
        ".identity()",
        ".as('a')",
        ".dedup()",
        ".where(__.identity())",
    ];
    for strategy in strategies {
        for (start, all, filters) in [
            ("V()", "V()", &of_vertices[..]),
            ("V(1,3,4)", "V()", &of_vertices),
            ("V().out()", "V()", &of_vertices),
            ("V().both('created')", "V()", &of_vertices),
            ("V().outE().inV()", "V()", &of_vertices),
            ("V().bothE().otherV()", "V()", &of_vertices),
            ("E().bothV()", "V()", &of_vertices),
            ("E().outV()", "V()", &of_vertices),
            ("V().outE().order().by('weight').inV()", "V()", &of_vertices),
            ("V().local(__.out())", "V()", &of_vertices),
            ("V().repeat(__.both()).times(2)", "V()", &of_vertices),
            ("V().optional(__.out())", "V()", &of_vertices),
            ("E()", "E()", &of_edges),
            ("V().outE()", "E()", &of_edges),
            ("V().bothE('knows','created')", "E()", &of_edges),
        ] {
            let seen = ids(&format!("g.withStrategies({strategy}).{start}.id()"));
            // Whether a vertex has a key is what the strategy shows.
            let hides = strategy.contains("vertexProperties") || strategy.contains("Meta");
            for filter in filters {
                let passing = match (hides, *filter) {
                    (true, "has('name')") => "where(__.properties('name'))",
                    (true, "hasNot('age')") => "not(__.properties('age'))",
                    (_, filter) => filter,
                };
                let passing = match passing == *filter {
                    true => ids(&format!("g.{all}.{filter}.id()")),
                    false => ids(&format!(
                        "g.withStrategies({strategy}).{all}.{passing}.id()"
                    )),
                };
                let wanted: Vec<&String> = seen.iter().filter(|id| passing.contains(id)).collect();
                for step in between.iter().filter(|step| **step != ".dedup()") {
                    let text = format!("g.withStrategies({strategy}).{start}{step}.{filter}.id()");
                    assert_eq!(ids(&text).iter().collect::<Vec<_>>(), wanted, "{text}");
                }
            }
        }
        for filter in ["hasKey('age')", "hasValue('josh')", "hasLabel('name')"] {
            let seen = ids(&format!(
                "g.withStrategies({strategy}).V().properties().id()"
            ));
            let passing = ids(&format!("g.V().properties().{filter}.id()"));
            let wanted: Vec<&String> = seen.iter().filter(|id| passing.contains(id)).collect();
            let text = format!("g.withStrategies({strategy}).V().properties().{filter}.id()");
            assert_eq!(ids(&text).iter().collect::<Vec<_>>(), wanted, "{text}");
        }
    }
}

#[test]
fn a_subgraph_hides_vertex_properties_from_every_step_that_shows_them() {
    let named = "g.withStrategies(SubgraphStrategy(vertexProperties: __.hasKey('name')))";
    for (rest, wanted) in [
        ("V(1).values()", "Text(\"marko\")"),
        ("V(1).values('age')", ""),
        ("V(1).values().is('x')", ""),
        ("V(1).valueMap().select(keys).unfold()", "Text(\"name\")"),
        ("V(1).valueMap('age').count(local)", "Long(0)"),
        (
            "V(1).valueMap('name','age').by(__.unfold()).select(values).unfold()",
            "Text(\"marko\")",
        ),
        ("V(1).propertyMap().select(keys).unfold()", "Text(\"name\")"),
        ("V(1).elementMap().select(keys).unfold().count()", "Long(3)"),
        (
            "V(1).project('a','b').by('age').by('name').select(keys).unfold()",
            "Text(\"b\")",
        ),
        ("V(1).as('v').select('v').by('age')", ""),
        ("V(1).as('v').select('v').by('name')", "Text(\"marko\")"),
        ("V(1).group().by('age').count(local)", "Long(0)"),
        ("V().groupCount().by('age').count(local)", "Long(0)"),
        ("V().order().by('age').count()", "Long(0)"),
        (
            "V().aggregate('x').by('age').cap('x').count(local)",
            "Long(0)",
        ),
        ("V().out().values('age').count()", "Long(0)"),
        ("V(1).out().path().by('age')", ""),
        ("V(1).math('_ + 1').by('age')", ""),
        ("V(1).has('age',__.is(29)).count()", "Long(0)"),
        ("V(1).has('name',__.is('marko')).count()", "Long(1)"),
        // As in the reference, a condition looks at the stored value.
        ("V(1).has('age',29).count()", "Long(1)"),
        ("V(1).outE().values('weight').count()", "Long(3)"),
        (
            "V(1).outE().order().by('weight').valueMap().count()",
            "Long(3)",
        ),
        (
            "V(1).project('a').by(constant(3)).order().by('a').count()",
            "Long(1)",
        ),
    ] {
        let text = format!("{named}.{rest}");
        assert_eq!(printed(&text), wanted, "{text}");
    }
}

#[test]
fn strategies_that_nobody_knows_and_settings_of_a_wrong_type_are_refused() {
    for (strategy, says) in [
        (
            "SubgraphStrategy(vertices: 1)",
            "'vertices' of SubgraphStrategy takes a traversal",
        ),
        (
            "SubgraphStrategy(edges: 'knows')",
            "'edges' of SubgraphStrategy takes a traversal",
        ),
        (
            "SubgraphStrategy(vertices: eq(1))",
            "'vertices' of SubgraphStrategy takes a traversal",
        ),
        (
            "SubgraphStrategy(vertexProperties: T.id)",
            "takes a traversal",
        ),
        (
            "SubgraphStrategy(vertex: __.out())",
            "SubgraphStrategy has no setting 'vertex'",
        ),
        (
            "SubgraphStrategy(checkAdjacentVertices: 1)",
            "takes true or false",
        ),
        (
            "PartitionStrategy(partition_key: 'a', readPartitions: ['b'])",
            "no setting 'partition_key'",
        ),
        (
            "PartitionStrategy(partitionKey: 'a', readPartition: ['b'])",
            "no setting 'readPartition'",
        ),
        (
            "PartitionStrategy(readPartitions: ['b'])",
            "PartitionStrategy needs partitionKey",
        ),
        (
            "ProductiveByStrategy(productive: ['a'])",
            "no setting 'productive'",
        ),
        (
            "SeedStrategy(seed: 'a')",
            "'seed' of SeedStrategy takes a number",
        ),
        (
            "SubGraphStrategy(vertices: __.out())",
            "There is no strategy SubGraphStrategy",
        ),
        ("MyOwnStrategy", "There is no strategy MyOwnStrategy"),
        (
            "SackStrategy",
            "The strategy SackStrategy is not supported yet",
        ),
    ] {
        let answer = printed(&format!("g.withStrategies({strategy}).V().count()"));
        assert!(
            answer.starts_with("error: ") && answer.contains(says),
            "{strategy}: {answer}"
        );
    }
    check(&[
        (
            "g.withStrategies(LazyBarrierStrategy).V().count()",
            "Long(6)",
        ),
        (
            "g.withoutStrategies(LazyBarrierStrategy).V().count()",
            "Long(6)",
        ),
        (
            "g.withoutStrategies(LazyBarierStrategy).V().count()",
            "error: There is no strategy LazyBarierStrategy",
        ),
        (
            "g.withStrategies(SubgraphStrategy(vertices: null)).V().count()",
            "Long(6)",
        ),
    ]);
}

#[test]
fn a_by_of_a_productive_key_stays_as_it_is() {
    let age = "g.withStrategies(ProductiveByStrategy(productiveKeys: ['age'])).V()";
    check(&[
        (
            &format!("{age}.groupCount().by('age').count(local)"),
            "Long(4)",
        ),
        (
            &format!("{age}.groupCount().by(__.values('age')).count(local)"),
            "Long(4)",
        ),
        (
            &format!("{age}.groupCount().by('lang').count(local)"),
            "Long(2)",
        ),
        (
            &format!("{age}.groupCount().by(__.values('lang')).count(local)"),
            "Long(2)",
        ),
        (
            &format!("{age}.groupCount().by(__.out().values('age')).count(local)"),
            "Long(2)",
        ),
        (
            "g.withStrategies(ProductiveByStrategy).V().groupCount().by('age').count(local)",
            "Long(5)",
        ),
    ]);
}
