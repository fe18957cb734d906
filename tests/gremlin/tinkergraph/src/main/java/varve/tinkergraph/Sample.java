package varve.tinkergraph;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A small random graph, as the steps that make it. Ids, labels and keys are such that TinkerGraph,
 * which orders by hash, has the order of the server: ids, labels in the order of their names, then
 * keys by their names.
 */
record Sample(List<Chain.Step> vertices, List<Chain.Step> edges) {

    static final int FIRST_EDGE = 16;
    static final String[] VERTEX_LABELS = {"person", "place", "thing"};
    static final String[] EDGE_LABELS = {"k", "m"};
    /**
     * Makes all labels and keys in the order of their names, so that they have the order of
     * TinkerGraph's hashes.
     */
    static final String SCHEMA = "g.addV('person').property('a', 1).property('b', 'x').property('c', 1.0)"
            + ".property('d', datetime('2020-01-01T00:00:00Z')).property('e', 1).property('e', 'x')"
            + ".property(list, 'f', 1).property(list, 'f', 2)"
            + ".property(list, 'g', 'x', 's', 1, 't', 'x').property(list, 'g', 'y').property('w', 1).property('h', 'x').as('v')"
            + ".addE('k').to('v').property('e', 1).property('w', 1.0).property('h', 'x')"
            + ".property('n', 1).as('k').property('e', 'x').select('v').addE('m').to('v').addV('place').addV('thing').iterate()\n"
            + "g.V().drop().iterate()";

    static Sample draw(Random random) {
        Values values = new Values(random);
        List<Chain.Step> vertices = new ArrayList<>();
        List<Chain.Step> edges = new ArrayList<>();
        int count = 1 + random.nextInt(7);
        int label = 0;
        for (int id = 1; id <= count; id++) {
            label = random.nextInt(3) == 0 ? Math.min(2, label + 1) : label;
            vertices.add(Chain.Step.of("addV", "'" + VERTEX_LABELS[label] + "'"));
            vertices.add(Chain.Step.of("property", "T.id", id));
            vertexProperties(random, values, vertices);
        }
        int most = random.nextInt(count * 2 + 1);
        for (int id = FIRST_EDGE; id < FIRST_EDGE + Math.min(16, most); id++) {
            edges.add(Chain.Step.of("addE", "'" + EDGE_LABELS[random.nextInt(3) / 2] + "'"));
            edges.add(Chain.Step.of("from", new Chain(List.of(Chain.Step.of("V", 1 + random.nextInt(count))))));
            edges.add(Chain.Step.of("to", new Chain(List.of(Chain.Step.of("V", 1 + random.nextInt(count))))));
            edges.add(Chain.Step.of("property", "T.id", id));
            edgeProperties(random, values, edges);
        }
        return new Sample(vertices, edges);
    }

    private static void vertexProperties(Random random, Values values, List<Chain.Step> steps) {
        property(random, 8, steps, "'a'", values.smallInt());
        property(random, 8, steps, "'b'", values.word());
        property(random, 5, steps, "'c'", values.number());
        property(random, 2, steps, "'d'", values.date());
        property(random, 4, steps, "'e'", values.any());
        for (int i = random.nextInt(3); i > 0; i--) {
            steps.add(Chain.Step.of("property", "list", "'f'", values.smallInt()));
        }
        for (int i = random.nextInt(3); i > 0; i--) {
            List<Object> arguments = new ArrayList<>(List.of("list", "'g'", values.word()));
            if (random.nextBoolean()) {
                arguments.addAll(List.of("'s'", values.smallInt()));
            }
            if (random.nextInt(3) == 0) {
                arguments.addAll(List.of("'t'", values.word()));
            }
            steps.add(new Chain.Step("property", arguments));
        }
        property(random, 7, steps, "'h'", random.nextBoolean() ? "'x'" : "'y'");
    }

    private static void edgeProperties(Random random, Values values, List<Chain.Step> steps) {
        property(random, 4, steps, "'e'", values.any());
        property(random, 6, steps, "'w'", values.number());
        property(random, 7, steps, "'h'", random.nextBoolean() ? "'x'" : "'y'");
        property(random, 6, steps, "'n'", values.smallInt());
    }

    private static void property(Random random, int ofTen, List<Chain.Step> steps, String key, String value) {
        if (random.nextInt(10) < ofTen) {
            steps.add(Chain.Step.of("property", key, value));
        }
    }

    Chain chain() {
        List<Chain.Step> steps = new ArrayList<>(vertices);
        steps.addAll(edges);
        return new Chain(steps);
    }

    /** The same graph with one vertex or edge less, or one property less. */
    List<Sample> smaller() {
        List<Sample> found = new ArrayList<>();
        for (int[] part : parts(edges)) {
            found.add(new Sample(vertices, without(edges, part)));
        }
        for (int[] part : parts(vertices)) {
            found.add(new Sample(without(vertices, part), edges));
        }
        return found;
    }

    private static List<int[]> parts(List<Chain.Step> steps) {
        List<int[]> parts = new ArrayList<>();
        for (int from = 0; from < steps.size(); from++) {
            if (steps.get(from).name().startsWith("add")) {
                int to = from + 1;
                while (to < steps.size() && !steps.get(to).name().startsWith("add")) {
                    to++;
                }
                parts.add(new int[] {from, to});
            }
        }
        for (int from = 0; from < steps.size(); from++) {
            Chain.Step step = steps.get(from);
            if (step.name().equals("property") && !step.arguments().get(0).equals("T.id")) {
                parts.add(new int[] {from, from + 1});
            }
        }
        return parts;
    }

    private static List<Chain.Step> without(List<Chain.Step> steps, int[] part) {
        List<Chain.Step> fewer = new ArrayList<>(steps.subList(0, part[0]));
        fewer.addAll(steps.subList(part[1], steps.size()));
        return fewer;
    }
}
