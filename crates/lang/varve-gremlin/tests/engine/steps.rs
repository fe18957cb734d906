//! Steps by example: their results and their errors.

use crate::values_of;

/// The results as texts, or the error.
pub(crate) fn printed(text: &str) -> String {
    match values_of(text) {
        Ok(values) => {
            let texts: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
            texts.join(" ")
        }
        Err(error) => format!("error: {error}"),
    }
}

/// Checks each text against its expected output of [`printed`].
pub(crate) fn check(lines: &[(&str, &str)]) {
    let wrong: Vec<String> = lines
        .iter()
        .filter(|(text, wanted)| printed(text) != *wanted)
        .map(|(text, wanted)| format!("{text}: {}, not {wanted}", printed(text)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn steps_over_collections_join_them() {
    check(&[
        ("g.inject([1,2,2]).combine([3]).count(local)", "Long(4)"),
        ("g.inject([1,2,2]).merge([3]).count(local)", "Long(3)"),
        (
            "g.inject([1,2]).product(['a']).unfold().count(local)",
            "Long(2) Long(2)",
        ),
        ("g.inject([1,2]).difference(__.inject([9])).unfold()", ""),
        (
            "g.inject([1,2]).intersect(__.constant([2,3])).unfold()",
            "Int(2)",
        ),
        ("g.inject([1,2]).disjunct([2,3]).unfold()", "Int(1) Int(3)"),
        ("g.inject([1,null,'x']).conjoin('-')", "Text(\"1-x\")"),
        (
            "g.inject(1).intersect([1])",
            "error: intersect step can only take an array or an Iterable type for incoming \
             traversers, encountered Integer",
        ),
        ("g.inject([1,2],[2]).all(eq(2)).count()", "Long(1)"),
        ("g.inject([1,2],[3]).any(eq(2)).count()", "Long(1)"),
        ("g.inject([1,2],[3]).none(eq(2)).count()", "Long(1)"),
    ]);
}

#[test]
fn conversions_keep_the_width_they_name() {
    check(&[
        (
            "g.inject('a').concat('b', null).concat(__.constant('c'))",
            "Text(\"abc\")",
        ),
        ("g.V(1).format('%{name}, %{age}')", "Text(\"marko, 29\")"),
        ("g.V(3).format('%{name}, %{age}')", ""),
        (
            "g.V(1).format('%{_}:%{_}').by('age').by('name')",
            "Text(\"29:marko\")",
        ),
        ("g.inject('0x5', 5.7).asNumber(BYTE)", "Byte(5) Byte(5)"),
        (
            "g.inject(300).asNumber(BYTE)",
            "error: Can't convert number of type Integer to Byte due to overflow.",
        ),
        (
            "g.inject(0, 'TRUE', 2.0).asBool()",
            "Bool(false) Bool(true) Bool(true)",
        ),
        (
            "g.inject('1970-01-02').asDate().asNumber()",
            "Long(86400000)",
        ),
        (
            "g.inject(0).asDate().dateAdd(day, 1).dateDiff(datetime('1970-01-01'))",
            "Long(86400000)",
        ),
        (
            "g.V(1).outE('knows').properties('weight').element().inV().id().sum()",
            "Long(6)",
        ),
        ("g.V(4).properties('age').element().id()", "Long(4)"),
    ]);
}

#[test]
fn results_of_children_keep_what_their_value_carries() {
    check(&[
        ("g.withSack(1).V(1).map(__.out().count()).sack()", "Int(1)"),
        (
            "g.withSack(1).V(1).flatMap(__.sack(sum).by(__.constant(2)).out()).sack().dedup()",
            "Int(1)",
        ),
        (
            "g.withSack(1).V(1).local(__.sack(sum).by(__.constant(2)).out()).sack().dedup()",
            "Int(3)",
        ),
        // Two edges have an equal property.
        (
            "g.E().has('weight', 1.0).properties().barrier().element().inV().id().sum()",
            "Long(9)",
        ),
        ("g.V().hasId(within(1.0, 2L)).count()", "Long(2)"),
        ("g.V().hasId(within(1.5, 7.0m)).count()", "Long(0)"),
    ]);
}

#[test]
fn equal_values_that_lead_back_to_different_elements_stay_apart() {
    let element = "select('weight').element()";
    let lists = "local(bothE().has('weight', 0.5).fold())";
    check(&[
        (
            &format!("g.E().propertyMap().barrier().{element}.dedup().count()"),
            "Long(6)",
        ),
        (
            &format!("g.E().propertyMap().repeat(identity()).times(2).{element}.dedup().count()"),
            "Long(6)",
        ),
        // One edge in two lists, reached from different ends: the path of a list has no vertex.
        (
            &format!("g.V(1, 2).{lists}.barrier().unfold().otherV().id().order()"),
            "error: The path history of the traverser does not contain a previous vertex",
        ),
        (
            "g.withSack(1, sum).E().has('weight', 1.0).properties().barrier().element().inV().id()\
             .sum()",
            "Long(9)",
        ),
        (
            &format!("g.withSack(1, sum).E().propertyMap().barrier().{element}.dedup().count()"),
            "Long(6)",
        ),
        // The sum of each id times the number of its edges.
        (
            "g.withSack(1, sum).V().bothE().barrier().otherV().id().sum()",
            "Long(37)",
        ),
    ]);
}

#[test]
fn strategies_hide_a_part_of_the_graph() {
    let two = "g.withStrategies(SubgraphStrategy(vertices: has('name', within('josh','lop'))))";
    let heavy = "g.withStrategies(SubgraphStrategy(edges: has('weight', 1.0)))";
    let java =
        "g.withStrategies(PartitionStrategy(partitionKey: 'lang', readPartitions: ['java']))";
    check(&[
        (&format!("{two}.V().hasLabel('person').count()"), "Long(1)"),
        (&format!("{two}.E().count()"), "Long(1)"),
        (
            &format!("{two}.V(4).where(out()).bothE().otherV().id()"),
            "Long(3)",
        ),
        // Edges are checked, but the path contains none.
        (
            &format!("{heavy}.V(4).both().path().count(local)"),
            "Long(2) Long(2)",
        ),
        (
            &format!("{heavy}.V(4).repeat(both()).times(2).dedup().count()"),
            "Long(1)",
        ),
        (&format!("{java}.V().count()"), "Long(2)"),
        (&format!("{java}.V(5).in().count()"), "Long(0)"),
        (
            &format!("{java}.withoutStrategies(PartitionStrategy).V().count()"),
            "Long(6)",
        ),
    ]);
}

#[test]
fn strategies_refuse_what_they_verify() {
    check(&[
        (
            "g.withStrategies(ReadOnlyStrategy).V().where(__.inject(1).property('a', 1))",
            "error: The provided traversal has a mutating step and thus is not read only: \
             property()",
        ),
        (
            "g.withStrategies(EdgeLabelVerificationStrategy(throwException: true)).V().out()",
            "error: The provided traversal contains a vertex step without any specified edge label",
        ),
        (
            "g.withStrategies(ReservedKeysVerificationStrategy(throwException: true, \
             keys: {'age'})).V().property('age', 1)",
            "error: The provided traversal contains a property() that is setting a property key \
             to a reserved word: age",
        ),
        (
            "g.withStrategies(VertexProgramStrategy).V()",
            "error: The strategy VertexProgramStrategy is not supported yet",
        ),
        (
            "g.withStrategies(ProductiveByStrategy).V(3).project('a').by('age').select('a')",
            "Null",
        ),
    ]);
}

#[test]
fn a_seed_draws_what_the_reference_draws() {
    let seeded = "g.withStrategies(SeedStrategy(seed: 999999))";
    check(&[
        (
            &format!("{seeded}.V().order().by('name').coin(0.5).values('name')"),
            "Text(\"josh\")",
        ),
        (
            &format!(
                "{seeded}.inject([0.2,0.4,0.4,0.5,0.5,1.0,1.0,1.0]).sample(local, 3).unfold()"
            ),
            "Double(0.5) Double(1.0) Double(0.4)",
        ),
    ]);
}

#[test]
fn patterns_are_solved_in_an_order_that_binds() {
    check(&[
        (
            "g.V().match(__.as('b').out('created').as('c'), __.as('a').out('knows').as('b'))\
             .select('a','b','c').by(id()).order().by(select('c')).select(values).unfold()",
            "Long(1) Long(4) Long(3) Long(1) Long(4) Long(5)",
        ),
        (
            "g.V().match(__.as('a').out().as('b'), __.not(__.as('b').out())).count()",
            "Long(5)",
        ),
        (
            "g.V().match(__.as('a').out('created').as('b'), __.as('b').in('created').as('c'), \
             __.where('a', neq('c'))).select('c').id().order().dedup()",
            "Long(1) Long(4) Long(6)",
        ),
        // `b` is bound by either group.
        (
            "g.V(1).match(__.or(__.as('a').out('created').as('b'), __.as('a').out('knows').as('b')))\
             .select('b').id().order()",
            "Long(2) Long(3) Long(4)",
        ),
        // The label `b` of the side effect is not visible in the match.
        (
            "g.V(1).sideEffect(__.out().as('b')).match(__.as('b').in().as('c'), __.as('a').out().as('b'))\
             .count()",
            "Long(5)",
        ),
        (
            "g.V().match(__.as('a').out().as('b'), __.as('d').out().as('c'))",
            "error: The provided match pattern is unsolvable: nothing binds d",
        ),
        (
            "g.V().match(__.out().as('b'))",
            "error: All match()-traversals must have a single start label (i.e. variable)",
        ),
    ]);
}

#[test]
fn sacks_meet_at_barriers() {
    check(&[
        (
            "g.withSack(1, sum).V().out().barrier().sack().sum()",
            "Int(12)",
        ),
        (
            "g.withSack(1, sum).withBulk(false).V().out().barrier().sack().sum()",
            "Int(6)",
        ),
        (
            "g.withSack(1.0d).V(1).out().barrier(normSack).sack().sum()",
            "Double(1.0)",
        ),
        (
            "g.withSack(2).inject(1).math('_ + 1').by(sack())",
            "Double(3.0)",
        ),
    ]);
}

#[test]
fn a_label_that_a_where_binds_is_a_plain_label_elsewhere() {
    check(&[
        (
            "g.V().and(__.as('a').out('knows'), __.out('created')).id()",
            "Long(1)",
        ),
        (
            "g.V(4).as('a').out().in().where(__.not(__.as('a'))).count()",
            "Long(0)",
        ),
        (
            "g.V(1).as('a').out().in().where(__.and(__.as('a').out('knows').as('b'))).count()",
            "error: Neither the map, the side effects nor the path has a value 'b'",
        ),
        (
            "g.V().repeat(cap('a')).times(1)",
            "error: The parent of a reducing or supplying barrier can not be repeat()-step: cap() \
             must be within local()",
        ),
        (
            "g.V(1).out().tree().by('age')",
            "Tree(Tree({Int(29): Tree({Int(27): Tree({}), Int(32): Tree({})})}))",
        ),
    ]);
}

#[test]
fn rows_without_a_label_merge_before_one_is_given() {
    // Some 10^15 traversers: feasible only if rows are merged.
    let doubled = "g.V(1).repeat(union(out('knows'), in('knows'), identity())).times(40)";
    let counted = printed(&format!("{doubled}.as('a').select('a').count()"));
    assert!(counted.starts_with("Long("), "{counted}");
    check(&[(
        "g.V().both().group().by(label()).by(bothE().group().by(label()).by(count())).unfold()\
         .select(values).select('created').sum()",
        "Long(20)",
    )]);
}
