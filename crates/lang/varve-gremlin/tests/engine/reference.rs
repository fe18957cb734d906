//! What the reference (TinkerGraph 3.8.1) gives: loops, branches, bulks, labels, paths.

use crate::steps::{check, printed};
use crate::values_of;

#[test]
fn a_modulator_belongs_to_the_loop_before_it_unless_that_has_one_of_its_kind() {
    let undefined = "error: The repeat()-traversal was not defined";
    check(&[
        (
            "g.V(1).emit().repeat(out()).times(1).emit().repeat(__.in()).times(1).count()",
            "Long(9)",
        ),
        (
            "g.inject(2.0d).repeat(__.math('_ - 1')).times(2).times(3).repeat(__.math('_ + 10'))",
            "Double(30.0)",
        ),
        (
            "g.V(1).times(1).repeat(out()).times(1).repeat(__.in()).count()",
            "Long(5)",
        ),
        (
            "g.V(1).repeat(out()).times(1).times(2).repeat(__.in()).id()",
            "Long(1)",
        ),
        (
            "g.V(1).until(hasId(1)).repeat(out()).emit(hasId(2)).id()",
            "Long(1)",
        ),
        (
            "g.V(1).repeat(out()).as('a').times(1).select('a').count()",
            "Long(3)",
        ),
        (
            "g.V(1).emit().times(1).repeat(out()).emit().times(1).repeat(__.in()).count()",
            "Long(9)",
        ),
        ("g.V(1).repeat(out()).times(-1).count()", "Long(3)"),
        ("g.V(1).times(-1).repeat(out()).id()", "Long(1)"),
        (
            "g.V(1).repeat(out()).until(outE().count().is(0)).times(1)",
            undefined,
        ),
        (
            "g.V(1).repeat(out()).times(1).until(outE().count().is(0))",
            undefined,
        ),
        (
            "g.V(1).until(hasLabel('x')).times(1).repeat(out())",
            undefined,
        ),
        ("g.V(1).emit().emit().repeat(out()).times(1)", undefined),
        ("g.V(1).repeat(out()).emit().emit().times(1)", undefined),
        ("g.V(1).repeat(out()).times(1).times(2)", undefined),
        ("g.V(1).emit().repeat(out()).emit().times(1)", undefined),
        ("g.V(1).times(1).out().repeat(out())", undefined),
        ("g.V(1).emit()", undefined),
    ]);
    for step in [
        "count()", "sum()", "min()", "max()", "mean()", "fold()", "group()", "tree()",
    ] {
        let answer = printed(&format!("g.V(1).repeat(out().{step}).times(1)"));
        let wanted = "error: The parent of a reducing or supplying barrier can not be repeat()";
        assert!(answer.starts_with(wanted), "{step}: {answer}");
    }
    check(&[
        ("g.V(1).repeat(__.local(out().count())).times(1)", "Long(3)"),
        (
            "g.V(1).repeat(out().group('x').by(id())).times(1).count()",
            "Long(3)",
        ),
        (
            "g.V(1).repeat(out().count(local)).times(1).sum()",
            "Long(3)",
        ),
    ]);
}

#[test]
fn each_traverser_of_a_row_counts_once_behind_a_child_with_a_side_effect() {
    for child in [
        "aggregate('x')",
        "group('x')",
        "groupCount('x')",
        "sideEffect(aggregate('x'))",
        "identity()",
        "barrier()",
    ] {
        for step in [
            "local",
            "flatMap",
            "coalesce",
            "optional",
            "map",
            "union",
            "sideEffect",
        ] {
            for (start, count) in [("g.V().both()", 12), ("g.inject(1,1,1).barrier()", 3)] {
                let text = format!("{start}.{step}(__.{child}).count()");
                assert_eq!(printed(&text), format!("Long({count})"), "{text}");
            }
        }
    }
    check(&[
        (
            "g.inject(1,1,1).barrier().local(__.aggregate('x')).sum()",
            "Int(3)",
        ),
        (
            "g.inject(1,1,1).barrier().local(__.aggregate('x')).cap('x').count(local)",
            "Long(3)",
        ),
        (
            "g.inject(1,1,1).barrier().where(__.aggregate('x')).cap('x').count(local)",
            "Long(3)",
        ),
        (
            "g.inject(1,1,1).barrier().map(__.aggregate('x')).cap('x').count(local)",
            "Long(3)",
        ),
        // `map` gives one result for each value, whatever its child merges.
        ("g.V(1).map(both().both()).count()", "Long(1)"),
        (
            "g.V().both().map(both().both().barrier()).count()",
            "Long(12)",
        ),
        (
            "g.inject(1,1,1).barrier().map(union(identity(),identity()).barrier()).count()",
            "Long(3)",
        ),
        (
            "g.inject(1,1,1).barrier().flatMap(union(identity(),identity()).count())",
            "Long(2) Long(2) Long(2)",
        ),
    ]);
}

#[test]
fn more_traversers_than_can_be_counted_are_an_error() {
    let many = "g.inject(1).repeat(union(identity(),identity())).times(70)";
    let refused = "error: The traversal has more than 2^64 - 2 equal traversers: too many to count";
    for end in [
        "count()",
        "groupCount()",
        "sum()",
        "mean()",
        "identity()",
        "skip(5).count()",
    ] {
        assert_eq!(printed(&format!("{many}.{end}")), refused, "{end}");
    }
    check(&[
        (&format!("{many}.limit(3).count()"), "Long(3)"),
        (&format!("{many}.dedup().count()"), "Long(1)"),
        (&format!("{many}.max()"), "Int(1)"),
        (
            "g.inject(1).repeat(union(identity(),identity())).times(63).count()",
            "BigInt(9223372036854775808)",
        ),
    ]);
}

#[test]
fn branch_takes_options_for_any_and_for_no_choice() {
    let letters = |text: &str| {
        let values = values_of(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let shown = values.iter().map(|value| value.shown().to_string());
        let mut texts: Vec<String> = shown.collect();
        texts.sort_unstable();
        texts.concat()
    };
    let of_age = "g.V().branch(__.values('age'))";
    for (options, wanted) in [
        ("option(Pick.none, __.constant('n'))", "nnnnnn"),
        ("option(Pick.any, __.constant('y'))", "yyyyyy"),
        ("option(__.constant('y'))", "yyyyyy"),
        (
            "option(Pick.none, constant('n')).option(Pick.any, constant('y'))",
            "nnnnnnyyyyyy",
        ),
        (
            "option(29, constant('a')).option(Pick.none, constant('n'))",
            "annnnn",
        ),
        (
            "option(29, constant('a')).option(Pick.any, constant('y'))",
            "ayyyyyy",
        ),
        (
            "option(29, constant('a')).option(Pick.unproductive, constant('u'))",
            "auu",
        ),
    ] {
        assert_eq!(letters(&format!("{of_age}.{options}")), wanted, "{options}");
    }
    check(&[
        (
            "g.V().branch(__.discard()).option(Pick.none, constant('z')).count()",
            "Long(6)",
        ),
        ("g.V().branch(__.label()).count()", "Long(0)"),
        ("g.V().choose(__.label()).count()", "Long(6)"),
        (
            "g.V().choose(__.values('age')).option(Pick.none, constant('n')).is('n').count()",
            "Long(4)",
        ),
        (
            "g.V().choose(__.label()).option(Pick.any, __.id())",
            "error: choose() takes no option for any value: each value has one option",
        ),
        (
            "g.V().choose(__.label()).option(__.id())",
            "error: choose() takes no option for any value: each value has one option",
        ),
    ]);
}

#[test]
fn a_label_or_a_side_effect_that_nothing_has_is_named() {
    let no_label = "error: Neither the map, the side effects nor the path has a value 'zz'";
    let no_effect = "error: There is no side effect 'zz'";
    check(&[
        ("g.V().where(neq('zz'))", no_label),
        ("g.V().as('a').out().where('zz', eq('a'))", no_label),
        ("g.V().as('a').out().where('a', neq('zz'))", no_label),
        ("g.V().as('a').out().where(within('zz', 'a'))", no_label),
        ("g.V().where(gt('zz')).by('age')", no_label),
        ("g.V().where(__.as('zz').out())", no_label),
        ("g.V().where(__.out().as('zz'))", no_label),
        ("g.V().dedup('zz')", no_label),
        ("g.V().as('a').dedup('a','zz')", no_label),
        ("g.V().math('zz + 1')", no_label),
        ("g.inject(1).math('_ + zz')", no_label),
        ("g.inject([a: 1]).where('a', eq('zz'))", no_label),
        ("g.V().cap('zz')", no_effect),
        ("g.V().aggregate('x').cap('zz')", no_effect),
        ("g.V().hasId(99).cap('zz')", no_effect),
        ("g.V().aggregate('x').cap('x','zz').count(local)", "Long(1)"),
        ("g.withSideEffect('zz', 1).V().cap('zz')", "Int(1)"),
        (
            "g.V().as('a').out().path().from('zz')",
            "error: The path has no from-label 'zz'",
        ),
        (
            "g.V().as('a').out().simplePath().to('zz')",
            "error: The path has no to-label 'zz'",
        ),
        ("g.V().as('a').select('zz')", ""),
        (
            "g.inject(null).math('_ + 1')",
            "error: null of null cannot be cast to Number",
        ),
    ]);
}

#[test]
fn a_path_begins_at_the_last_object_with_a_label() {
    check(&[
        (
            "g.V().as('a').out().as('a').out().path().from('a').count(local)",
            "Long(2) Long(2)",
        ),
        (
            "g.V().as('a').out().as('a').out().path().to('a').count(local)",
            "Long(2) Long(2)",
        ),
        (
            "g.V().as('x').out().as('y').out().path().from('y').to('x')",
            "error: The from-label comes after the to-label in the path",
        ),
        (
            "g.V(1).out().out().path().limit(local,1).count(local)",
            "Long(1) Long(1)",
        ),
        (
            "g.V(1).out().out().path().limit(local,2).unfold().id().dedup()",
            "Long(1) Long(4)",
        ),
        (
            "g.V(1).out().out().path().tail(local,1).unfold().id().order()",
            "Long(3) Long(5)",
        ),
        (
            "g.V(1).out().out().limit(1).path().range(local,1,2).unfold().id()",
            "Long(4)",
        ),
    ]);
    assert!(printed("g.V(1).out().path().limit(local,1)").starts_with("List("));
}

#[test]
fn the_path_of_a_value_that_a_by_reads_is_the_value() {
    check(&[
        (
            "g.V(1).as('p').V(2).select('p').by(__.path()).unfold().id()",
            "Long(1)",
        ),
        ("g.V().tree().by(__.path()).count(local)", "Long(6)"),
        (
            "g.V(1).as('p').V(2).as('q').where('p', neq('q')).by(__.path()).id()",
            "Long(2)",
        ),
        (
            "g.V(1).valueMap('name').by(__.path()).select('name').unfold().unfold()",
            "Text(\"marko\")",
        ),
        ("g.V(1).path().by(__.simplePath()).count(local)", "Long(1)"),
    ]);
}

#[test]
fn the_other_vertex_is_not_the_last_one_of_the_path() {
    let none = "error: The path history of the traverser does not contain a previous vertex";
    check(&[
        ("g.V(1).outE('created').otherV().id()", "Long(3)"),
        (
            "g.V(1).as('a').outE('created').as('e').inV().select('e').otherV().id()",
            "Long(1)",
        ),
        (
            "g.V(1).outE('created').inV().inE('created').otherV().id().order()",
            "Long(1) Long(4) Long(6)",
        ),
        (
            "g.V(1).outE('created').map(__.identity()).otherV().id()",
            "Long(3)",
        ),
        (
            "g.V(1).local(outE('created').limit(1)).otherV().id()",
            "Long(3)",
        ),
        ("g.V(3).bothE().where(otherV().hasId(4)).count()", "Long(1)"),
        ("g.E().otherV()", none),
        ("g.V(1).outE('created').fold().unfold().otherV()", none),
    ]);
}

#[test]
fn maps_of_elements_take_a_by() {
    check(&[
        (
            "g.V(1).propertyMap('name').by(__.count(local)).select('name')",
            "Long(1)",
        ),
        (
            "g.V(1).propertyMap('name').by(__.unfold().value()).select('name')",
            "Text(\"marko\")",
        ),
        (
            "g.V(1).valueMap(true,'name').by(__.count(local)).select(values).unfold().sum()",
            "Long(3)",
        ),
        (
            "g.V(1).valueMap(true,'name').by(__.is('marko')).count(local)",
            "Long(0)",
        ),
        (
            "g.V(1).propertyMap().by(__.unfold()).by(__.count(local))",
            "error: PropertyMap step can only have one by modulator",
        ),
        ("g.V(1).values('name','name').count()", "Long(1)"),
        ("g.V(1).properties('age','name','age').count()", "Long(2)"),
        ("g.V(1).hasKey('name').count()", "Long(0)"),
        ("g.E().hasValue(0.5d).count()", "Long(0)"),
        ("g.V(1).properties().hasKey('name').count()", "Long(1)"),
    ]);
}

#[test]
fn a_negative_bound_is_no_bound() {
    check(&[
        ("g.V().limit(-1).count()", "Long(6)"),
        ("g.V().skip(-1).count()", "Long(6)"),
        ("g.V().skip(-5).count()", "Long(6)"),
        ("g.V().range(-1,2).count()", "Long(2)"),
        ("g.V().range(-3,2).count()", "Long(2)"),
        ("g.V().range(1,-1).count()", "Long(5)"),
        ("g.V().range(-2,-1).count()", "Long(6)"),
        ("g.V().tail(-1).count()", "Long(0)"),
        ("g.V().fold().limit(local,-1).count(local)", "Long(6)"),
        ("g.V().fold().range(local,1,-1).count(local)", "Long(5)"),
        ("g.V().limit(-5)", "error: Not a legal range: [0, -5]"),
        ("g.V().range(1,-2)", "error: Not a legal range: [1, -2]"),
        ("g.V().range(3,1)", "error: Not a legal range: [3, 1]"),
    ]);
}

#[test]
fn values_that_one_row_makes_of_all_begin_with_the_initial_sack() {
    check(&[
        ("g.withSack(1).V().fold().sack()", "Int(1)"),
        ("g.withSack(1).V().count().sack()", "Int(1)"),
        ("g.withSack(1).V(1).out().count().sack()", "Int(1)"),
        ("g.withSack(1).V(1).local(out().count()).sack()", "Int(1)"),
        (
            "g.withSack(1).V(1).out().group().by(label).sack()",
            "Int(1)",
        ),
        (
            "g.withSack(1).V(1).out().groupCount().by(label).sack()",
            "Int(1)",
        ),
        ("g.withSack(1).V().aggregate('x').cap('x').sack()", "Int(1)"),
        (
            "g.withSack(5).V(1).sack(sum).by(constant(1)).fold().sack()",
            "Int(5)",
        ),
        (
            "g.withSack(5).V().fold().sack(sum).by(constant(1)).sack()",
            "Int(6)",
        ),
    ]);
}

#[test]
fn a_tree_is_a_map() {
    let tree = "g.V(1).out().tree().by('name')";
    check(&[
        (&format!("{tree}.select(keys)"), "Set({Text(\"marko\")})"),
        (
            &format!("{tree}.select(values).unfold().count(local)"),
            "Long(3)",
        ),
        (&format!("{tree}.unfold().select(keys)"), "Text(\"marko\")"),
        (
            &format!("{tree}.select('marko').select(keys).count(local)"),
            "Long(3)",
        ),
        (
            &format!("{tree}.project('a').by('marko').select('a').count(local)"),
            "Long(3)",
        ),
        (
            &format!("{tree}.select('marko').order(local).by(keys).unfold().select(keys)"),
            "Text(\"josh\") Text(\"lop\") Text(\"vadas\")",
        ),
        (&format!("{tree}.count(local)"), "Long(1)"),
        ("g.inject(5).dedup(local)", "Set({Int(5)})"),
        (
            "g.inject(7).index().with(WithOptions.indexer, WithOptions.list)",
            "List([List([Int(7), Int(0)])])",
        ),
        (
            "g.inject(7).index().with(WithOptions.indexer, WithOptions.map).select(keys)",
            "Set({Int(0)})",
        ),
    ]);
}

#[test]
fn without_bulk_equal_traversers_that_meet_count_as_one() {
    let once = "g.withBulk(false)";
    check(&[
        (
            &format!("{once}.inject(1,1,1).barrier().count()"),
            "Long(1)",
        ),
        (&format!("{once}.inject(1,1,2).order()"), "Int(1) Int(2)"),
        (
            &format!("{once}.inject(1,1,1).repeat(identity()).times(2).count()"),
            "Long(1)",
        ),
        (&format!("{once}.V().both().barrier().count()"), "Long(6)"),
        (&format!("{once}.V().both().count()"), "Long(12)"),
    ]);
}

#[test]
fn match_starts_at_a_label_that_is_bound_already() {
    for (text, wanted) in [
        ("g.V(1).as('a').match(__.as('a').out().as('b'))", 3),
        ("g.V(1).as('a').out().match(__.as('a').out().as('b'))", 9),
        (
            "g.V(1).as('a').out().as('b').match(__.as('a').out().as('b'))",
            3,
        ),
        ("g.V(1).as('b').out().match(__.as('a').out().as('b'))", 0),
        ("g.V(1).as('b').out().match(__.as('a').in().as('b'))", 3),
        ("g.V(4).as('x').V(1).match(__.as('a').out().as('x'))", 1),
        ("g.V().as('x').V(1).match(__.as('a').out().as('x'))", 3),
        (
            "g.V(1).as('a').out().as('a').match(__.as('a').out().as('b'))",
            2,
        ),
        (
            "g.V(1).union(__.as('a').out(),__.out()).match(__.as('a').out().as('b'))",
            11,
        ),
        (
            "g.V(1).out().as('b').match(__.as('a').out().as('c'),__.where('a',eq('b')))",
            2,
        ),
        ("g.V(1).as('a').match(__.as('b').in().as('c'))", 0),
        (
            "g.V(1).as('a').match(__.as('b').out().as('c'), __.where('b',eq('a')))",
            3,
        ),
        (
            "g.V().match(__.as('a').out('created').as('b')).match(__.as('a').out('knows').as('c'))",
            2,
        ),
        (
            "g.V().match(__.as('a').out('created').as('b')).as('m')\
             .match(__.as('b').in('created').as('a'))",
            4,
        ),
        (
            "g.V(1).as('a').out('knows').match(__.as('a').out('created').as('c'))",
            2,
        ),
    ] {
        assert_eq!(
            printed(&format!("{text}.count()")),
            format!("Long({wanted})"),
            "{text}"
        );
    }
}

#[test]
fn a_by_that_gives_nothing_ends_what_stands_behind_it() {
    check(&[
        (
            "g.V(3).order().by('age').by(__.asNumber()).count()",
            "Long(0)",
        ),
        (
            "g.V(1).as('a').select('a','a').by('name').by('lang')",
            "Map({Text(\"a\"): Text(\"marko\")})",
        ),
        ("g.V(1).as('a').select('a','a').by('lang').by('name')", ""),
        (
            "g.V(1).as('a').as('b').select('a','a','b').by('name').by('lang').by('name')",
            "",
        ),
        ("g.V(1).format('x').by(__.asNumber())", "Text(\"x\")"),
        (
            "g.V(1,3).group().by(__.constant('x')).by(__.values('age')).unfold().select(values)",
            "Int(29)",
        ),
        (
            "g.V(1,4).group().by(T.label).by(__.values('name','age')).unfold().select(values)",
            "Text(\"josh\")",
        ),
    ]);
    for (text, says) in [
        (
            "g.V(1).groupCount('x').by('lang')",
            "does not map to a value",
        ),
        ("g.V(1).valueMap().path().by(T.id)", "has no id"),
        ("g.V(1).elementMap().order().by(T.label)", "has no label"),
    ] {
        let answer = printed(text);
        assert!(
            answer.starts_with("error: ") && answer.contains(says),
            "{answer}"
        );
    }
}

#[test]
fn filters_of_a_key_see_the_properties_that_a_subgraph_shows() {
    let names = "g.withStrategies(SubgraphStrategy(vertexProperties: __.hasKey('name'))).V()";
    for (filter, wanted) in [
        ("has('age')", "Long(0)"),
        ("has('name')", "Long(6)"),
        ("hasNot('age')", "Long(6)"),
        ("not(__.has('lang'))", "Long(6)"),
    ] {
        assert_eq!(
            printed(&format!("{names}.{filter}.count()")),
            wanted,
            "{filter}"
        );
    }
}

#[test]
fn numbers_keep_what_the_reference_keeps() {
    check(&[
        ("g.inject(1, NaN).min()", "Int(1)"),
        ("g.inject(NaN, 1).max()", "Int(1)"),
        (
            "g.inject(7.0d).asNumber(GType.BIGDECIMAL).asString()",
            "Text(\"7.0\")",
        ),
        ("g.inject(0.1d, 1.0m).sum().asString()", "Text(\"1.1\")"),
        ("g.inject('017').asNumber()", "Int(15)"),
    ]);
}
