package varve.clients;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import org.apache.hugegraph.api.traverser.NeighborRankAPI;
import org.apache.hugegraph.api.traverser.PersonalRankAPI;
import org.apache.hugegraph.driver.HugeClient;
import org.apache.hugegraph.driver.SchemaManager;
import org.apache.hugegraph.driver.TraverserManager;
import org.apache.hugegraph.structure.constant.Direction;
import org.apache.hugegraph.structure.constant.T;
import org.apache.hugegraph.structure.graph.Edge;
import org.apache.hugegraph.structure.graph.Path;
import org.apache.hugegraph.structure.graph.Shard;
import org.apache.hugegraph.structure.graph.Vertex;
import org.apache.hugegraph.structure.traverser.CountRequest;
import org.apache.hugegraph.structure.traverser.CrosspointsRequest;
import org.apache.hugegraph.structure.traverser.CustomizedCrosspoints;
import org.apache.hugegraph.structure.traverser.CustomizedPathsRequest;
import org.apache.hugegraph.structure.traverser.FusiformSimilarity;
import org.apache.hugegraph.structure.traverser.FusiformSimilarityRequest;
import org.apache.hugegraph.structure.traverser.Kneighbor;
import org.apache.hugegraph.structure.traverser.KneighborRequest;
import org.apache.hugegraph.structure.traverser.Kout;
import org.apache.hugegraph.structure.traverser.KoutRequest;
import org.apache.hugegraph.structure.traverser.MultiNodeShortestPathRequest;
import org.apache.hugegraph.structure.traverser.PathsRequest;
import org.apache.hugegraph.structure.traverser.PathsWithVertices;
import org.apache.hugegraph.structure.traverser.Ranks;
import org.apache.hugegraph.structure.traverser.SingleSourceJaccardSimilarityRequest;
import org.apache.hugegraph.structure.traverser.TemplatePathsRequest;
import org.apache.hugegraph.structure.traverser.WeightedPath;
import org.apache.hugegraph.structure.traverser.WeightedPaths;

/**
 * Every traverser of the client's API, on walkers a to e who meet in a ring and use tools. The
 * client (1.5.0) has neither adamicadar, resourceallocation nor POST sameneighbors; they are tested
 * over plain HTTP in crates/varve-server/tests/http/likeness.rs.
 */
final class TraverserChecks {

    private static final String MEETS = "meets";
    private static final String USES = "uses";
    private static final Direction OUT = Direction.OUT;

    private final Checks checks;
    private final HugeClient client;
    private final TraverserManager traverser;

    TraverserChecks(Checks checks, HugeClient client) {
        this.checks = checks;
        this.client = client;
        this.traverser = client.traverser();
    }

    void run() {
        this.checks.step("the traversers' graph", this::fill);
        this.checks.step("neighbourhoods", this::neighbourhoods);
        this.checks.step("likeness", this::likeness);
        this.checks.step("shortest paths", this::shortest);
        this.checks.step("paths", this::paths);
        this.checks.step("walks along steps", this::steps);
        this.checks.step("ranks", this::ranks);
        this.checks.step("elements and shards", this::elements);
        this.checks.step("removal of the traversers' graph", this::remove);
    }

    private void fill() {
        SchemaManager schema = this.client.schema();
        schema.propertyKey("pace").asDouble().ifNotExist().create();
        schema.vertexLabel("walker").useCustomizeStringId().ifNotExist().create();
        schema.vertexLabel("tool").useCustomizeStringId().ifNotExist().create();
        schema.edgeLabel(MEETS).link("walker", "walker").properties("pace").nullableKeys("pace")
              .ifNotExist().create();
        schema.edgeLabel(USES).link("walker", "tool").ifNotExist().create();
        for (String id : List.of("a", "b", "c", "d", "e")) {
            this.client.graph().addVertex(T.LABEL, "walker", T.ID, id);
        }
        for (String id : List.of("t1", "t2")) {
            this.client.graph().addVertex(T.LABEL, "tool", T.ID, id);
        }
        this.meet("a", "b", 1.0);
        this.meet("b", "c", 1.0);
        this.meet("c", "d", 1.0);
        this.meet("d", "a", 1.0);
        this.meet("a", "c", 5.0);
        this.meet("d", "e", 2.0);
        for (String[] pair : new String[][]{{"a", "t1"}, {"a", "t2"}, {"b", "t1"}, {"b", "t2"},
                                            {"c", "t1"}}) {
            this.client.graph().addEdge(pair[0], USES, pair[1]);
        }
    }

    private void meet(String from, String to, double pace) {
        this.client.graph().addEdge(from, MEETS, to, Map.of("pace", pace));
    }

    private static Set<Object> set(Object... objects) {
        return Set.of(objects);
    }

    private static Set<Object> set(List<Object> objects) {
        return new HashSet<>(objects);
    }

    private static Set<List<Object>> objects(List<Path> paths) {
        return paths.stream().map(Path::objects).collect(Collectors.toSet());
    }

    private static Set<List<Object>> objects(PathsWithVertices paths) {
        return paths.paths().stream().map(PathsWithVertices.Paths::objects)
                    .collect(Collectors.toSet());
    }

    private void neighbourhoods() {
        this.checks.equal("kout", set("b", "c"), set(this.traverser.kout("a", OUT, MEETS, 1, true)));
        KoutRequest.Builder kout = KoutRequest.builder();
        kout.source("a").maxDepth(2).nearest(true).withPath(true).withVertex(true).withEdge(true);
        kout.steps().direction(OUT).addEStep(MEETS);
        Kout found = this.traverser.kout(kout.build());
        this.checks.equal("kout by steps", set("d"), found.ids());
        this.checks.equal("its path", set((Object) List.of("a", "c", "d")),
                          new HashSet<Object>(objects(found.paths())));
        this.checks.equal("its edges", 2, found.edges().size());
        this.checks.equal("kneighbor", set("b", "c", "d"),
                          set(this.traverser.kneighbor("a", OUT, MEETS, 2)));
        KneighborRequest.Builder kneighbor = KneighborRequest.builder();
        kneighbor.source("a").maxDepth(3).withVertex(true);
        kneighbor.steps().direction(OUT).addEStep(MEETS, Map.of("pace", "P.lt(4)"));
        Kneighbor near = this.traverser.kneighbor(kneighbor.build());
        this.checks.equal("kneighbor by steps", set("b", "c", "d"), near.ids());
        CountRequest.Builder count = CountRequest.builder();
        count.source("a").containsTraversed(true);
        count.steps().direction(OUT).labels(MEETS);
        count.steps().direction(OUT).labels(MEETS);
        this.checks.equal("count", 5L, this.traverser.count(count.build()));
    }

    private void likeness() {
        this.checks.equal("same neighbours", set("t1", "t2"),
                          set(this.traverser.sameNeighbors("a", "b", OUT, USES, -1L)));
        this.checks.equal("jaccard", 0.5, this.traverser.jaccardSimilarity("a", "c", OUT, USES, -1L));
        SingleSourceJaccardSimilarityRequest.Builder near =
                SingleSourceJaccardSimilarityRequest.builder();
        near.vertex("a").top(2);
        near.step().direction(Direction.BOTH).labels(USES);
        this.checks.equal("jaccard of the near ones", Map.of("b", 1.0, "c", 0.5),
                          this.traverser.jaccardSimilarity(near.build()).similarsMap());
        FusiformSimilarityRequest.Builder similar = FusiformSimilarityRequest.builder();
        similar.sources().ids("a");
        similar.label(USES).direction(OUT).minNeighbors(2).alpha(0.9).minSimilars(1)
               .withIntermediary(true).withVertex(true);
        FusiformSimilarity found = this.traverser.fusiformSimilarity(similar.build());
        this.checks.equal("sources with similar ones", 1, found.size());
        FusiformSimilarity.Similar first = found.first().getValue().iterator().next();
        this.checks.equal("the similar one", "b", first.id());
        this.checks.equal("its score", 1.0, first.score());
        this.checks.equal("its intermediaries", set("t1", "t2"), first.intermediaries());
    }

    private void shortest() {
        this.checks.equal("shortest path", List.of("a", "c", "d", "e"),
                          this.traverser.shortestPath("a", "e", OUT, MEETS, 10).objects());
        this.checks.equal("all shortest paths", Set.of(List.of("a", "c", "d", "e")),
                          objects(this.traverser.allShortestPaths("a", "e", OUT, MEETS, 10)));
        WeightedPath lightest = this.traverser.weightedShortestPath("a", "c", OUT, MEETS, "pace",
                                                                    true, true);
        this.checks.equal("lightest path", List.of("a", "b", "c"), lightest.path().vertices());
        this.checks.equal("its weight", 2.0, lightest.path().weight());
        WeightedPaths from = this.traverser.singleSourceShortestPath("a", OUT, MEETS, "pace",
                                                                     true, true);
        this.checks.equal("lightest paths", set("b", "c", "d", "e"), from.paths().keySet());
        this.checks.equal("the last one's weight", 5.0, from.paths().get("e").weight());
        MultiNodeShortestPathRequest.Builder several = MultiNodeShortestPathRequest.builder();
        several.vertices().ids("a", "e");
        several.step().direction(Direction.BOTH).labels(MEETS);
        several.maxDepth(5).withVertex(true).withEdge(true);
        PathsWithVertices found = this.traverser.multiNodeShortestPath(several.build());
        this.checks.equal("between several", 1, found.paths().size());
        this.checks.equal("its vertices", set("a", "d", "e"),
                          found.vertices().stream().map(Vertex::id).collect(Collectors.toSet()));
    }

    private void paths() {
        Set<List<Object>> both = Set.of(List.of("a", "c", "d"), List.of("a", "b", "c", "d"));
        this.checks.equal("paths", both,
                          objects(this.traverser.paths("a", "d", OUT, MEETS, 3, 10)));
        PathsRequest.Builder request = PathsRequest.builder();
        request.sources().ids("a");
        request.targets().label("walker");
        request.step().direction(OUT).labels(MEETS);
        request.maxDepth(1).withVertex(true).withEdge(true);
        this.checks.equal("paths to a label", Set.of(List.of("a", "b"), List.of("a", "c")),
                          objects(this.traverser.paths(request.build())));
        List<Path> crossing = this.traverser.crosspoint("a", "b", OUT, USES, 2, 10);
        this.checks.equal("crosspoints", set("t1", "t2"),
                          crossing.stream().map(Path::crosspoint).collect(Collectors.toSet()));
        this.checks.equal("rings",
                          Set.of(List.of("a", "c", "d", "a"), List.of("a", "b", "c", "d", "a")),
                          objects(this.traverser.rings("a", OUT, MEETS, 4, true, 100L, 1000L, 10)));
        this.checks.holds("rings both ways", this.traverser.rings("a", 4).size() > 2);
        this.checks.equal("rays",
                          Set.of(List.of("a", "c", "d", "e"), List.of("a", "b", "c", "d", "e")),
                          objects(this.traverser.rays("a", OUT, MEETS, 5, 100L, 1000L, 10)));
        this.checks.refused("a capacity that is too small", 400,
                            "Exceed capacity '2' while finding rays",
                            () -> this.traverser.rays("a", OUT, MEETS, 5, 100L, 2L, 10));
    }

    private void steps() {
        CustomizedPathsRequest.Builder customized = CustomizedPathsRequest.builder();
        customized.sources().ids("a");
        customized.steps().direction(OUT).labels(MEETS).weightBy("pace");
        customized.steps().direction(OUT).labels(USES).defaultWeight(1.0);
        customized.sortBy(CustomizedPathsRequest.SortBy.DECR).withVertex(true).withEdge(true);
        PathsWithVertices walks = this.traverser.customizedPaths(customized.build());
        this.checks.equal("the heaviest walk", List.of("a", "c", "t1"),
                          walks.paths().get(0).objects());
        this.checks.equal("its weights", List.of(5.0, 1.0), walks.paths().get(0).weights());
        TemplatePathsRequest.Builder template = TemplatePathsRequest.builder();
        template.sources().ids("a");
        template.targets().ids("t2");
        template.steps().direction(OUT).labels(MEETS).maxTimes(1);
        template.steps().direction(OUT).labels(USES).maxTimes(1);
        template.withVertex(true).withEdge(true);
        this.checks.equal("template paths", Set.of(List.of("a", "t2"), List.of("a", "b", "t2")),
                          objects(this.traverser.count(template.build())));
        CrosspointsRequest.Builder crossing = CrosspointsRequest.builder();
        crossing.sources().ids("a", "b", "c");
        crossing.pathPatterns().steps().direction(OUT).labels(USES);
        crossing.withPath(true).withVertex(true).withEdge(true);
        CustomizedCrosspoints found = this.traverser.customizedCrosspointss(crossing.build());
        this.checks.equal("customized crosspoints", List.of("t1"), found.crosspoints());
        this.checks.equal("their paths", 3, found.paths().size());
    }

    private void ranks() {
        NeighborRankAPI.Request.Builder layers = NeighborRankAPI.Request.builder();
        layers.source("a").alpha(0.5);
        layers.steps().direction(OUT).labels(USES);
        List<Ranks> ranks = this.traverser.neighborRank(layers.build());
        this.checks.equal("layers", 2, ranks.size());
        this.checks.equal("ranks of a layer", Map.of("t1", 0.25, "t2", 0.25), ranks.get(1));
        PersonalRankAPI.Request.Builder personal = PersonalRankAPI.Request.builder();
        personal.source("a").label(USES).alpha(0.85).maxDepth(5);
        this.checks.equal("a personal rank", set("b", "c"),
                          this.traverser.personalRank(personal.build()).keySet());
    }

    private void elements() {
        List<Vertex> vertices = this.traverser.vertices(List.of("a", "t1"));
        this.checks.equal("vertices by id", set("a", "t1"),
                          vertices.stream().map(Vertex::id).collect(Collectors.toSet()));
        List<Edge> existing = this.traverser.edgeExistence("a", "c");
        this.checks.equal("edges from one to another", 1, existing.size());
        this.checks.equal("edges by id", 1, this.traverser.edges(List.of(existing.get(0).id())).size());
        int walkers = 0;
        for (Shard shard : this.traverser.vertexShards(1024 * 1024)) {
            Iterator<Vertex> each = this.traverser.iteratorVertices(shard, 100);
            while (each.hasNext()) {
                walkers += "walker".equals(each.next().label()) ? 1 : 0;
            }
        }
        this.checks.equal("walkers in all shards", 5, walkers);
        List<Edge> meetings = new ArrayList<>();
        for (Shard shard : this.traverser.edgeShards(1024 * 1024)) {
            this.traverser.iteratorEdges(shard, 100).forEachRemaining(edge -> {
                if (MEETS.equals(edge.label())) {
                    meetings.add(edge);
                }
            });
        }
        this.checks.equal("meetings in all shards", 6, meetings.size());
    }

    private void remove() {
        SchemaManager schema = this.client.schema();
        schema.removeEdgeLabel(MEETS);
        schema.removeEdgeLabel(USES);
        schema.removeVertexLabel("walker");
        schema.removeVertexLabel("tool");
        schema.removePropertyKey("pace");
    }
}
