//! The Gremlin queries and traversers for the social graph.

use super::scenario::Scenario;

/// The Gremlin query of a scenario; `None` if it has none. `x` is a person's id, `y` another's, `n`
/// the name of `x`, `a` an age.
pub(crate) const fn gremlin(scenario: Scenario) -> Option<&'static str> {
    use Scenario as S;
    Some(match scenario {
        S::GremlinVertex => "g.V(x)",
        S::GremlinOut => "g.V(x).out('benchk').values('bname')",
        S::GremlinTwoHops => "g.V(x).out('benchk').out('benchk').dedup().count()",
        S::GremlinThreeHops => "g.V(x).repeat(out('benchk')).emit().times(3).dedup().count()",
        S::GremlinByName => "g.V().has('benchp','bname',n).elementMap()",
        S::GremlinTopAges => {
            "g.V().has('benchp','bage',gt(60)).order().by('bage',desc).limit(10).values('bname')"
        }
        S::GremlinFiltered => {
            "g.V(x).outE('benchk').has('bsince',gt(1960)).inV().has('bcity','Paris').count()"
        }
        S::GremlinNeighbourCities => {
            "g.V(x).both('benchk').both('benchk').groupCount().by('bcity')"
        }
        S::GremlinPath => {
            "g.V(x).repeat(both('benchk').simplePath()).until(hasId(y)).path().limit(1)"
        }
        S::GremlinCities => "g.V().hasLabel('benchp').groupCount().by('bcity')",
        S::GremlinAllTwoHops => "g.V().out('benchk').out('benchk').count()",
        S::GremlinMerge => "g.mergeV([(T.label):'benchp',bname:n]).option(Merge.onMatch,[bage:a])",
        _ => return None,
    })
}

/// The traverser of a scenario: the path after `traversers/`; `None` if it has none. `@@@@@@@@S`
/// stands for a person's id, `@@@@@@@@T` for another's.
pub(crate) const fn traverser(scenario: Scenario) -> Option<&'static str> {
    use Scenario as S;
    Some(match scenario {
        S::KOutTwo => "kout?source=%22@@@@@@@@S%22&direction=OUT&max_depth=2&count_only=true",
        S::KOutThree => "kout?source=%22@@@@@@@@S%22&direction=OUT&max_depth=3&count_only=true",
        S::KNeighborTwo => {
            "kneighbor?source=%22@@@@@@@@S%22&direction=OUT&max_depth=2&count_only=true"
        }
        S::ShortestPath => {
            "shortestpath?source=%22@@@@@@@@S%22&target=%22@@@@@@@@T%22&direction=OUT&max_depth=10"
        }
        S::AllShortestPaths => {
            "allshortestpaths?source=%22@@@@@@@@S%22&target=%22@@@@@@@@T%22&direction=OUT&max_depth=10"
        }
        S::Jaccard => "jaccardsimilarity?vertex=%22@@@@@@@@S%22&other=%22@@@@@@@@T%22",
        S::SameNeighbors => "sameneighbors?vertex=%22@@@@@@@@S%22&other=%22@@@@@@@@T%22",
        S::Rings => "rings?source=%22@@@@@@@@S%22&direction=OUT&max_depth=3",
        _ => return None,
    })
}
