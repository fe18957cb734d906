package varve.tinkergraph;

import java.util.List;
import java.util.Map;

/** Steps that change the graph. */
final class Changes {

    private Changes() {
    }

    static void start(Draw draw) {
        switch (draw.random.nextInt(4)) {
            case 0 -> addVertex(draw);
            case 1 -> mergeVertex(draw);
            case 2 -> mergeEdge(draw);
            default -> {
                draw.add("addE", label(Sample.EDGE_LABELS, draw));
                draw.add("from", draw.anonymous("V", 1 + draw.random.nextInt(3)));
                draw.add("to", draw.anonymous("V", 1 + draw.random.nextInt(3)));
                id(draw, draw.newEdgeId());
                draw.type = Type.EDGE;
            }
        }
    }

    private static String label(String[] labels, Draw draw) {
        return "'" + draw.pick(labels) + "'";
    }

    private static void id(Draw draw, String id) {
        if (draw.givenIds() && !draw.oneOf(30)) {
            draw.add("property", "T.id", id);
        } else {
            draw.chosenId();
        }
    }

    private static void addVertex(Draw draw) {
        draw.add("addV", label(Sample.VERTEX_LABELS, draw));
        id(draw, draw.newId());
        draw.type = Type.VERTEX;
        if (draw.oneOf(2)) {
            property(draw);
        }
    }

    private static void mergeVertex(Draw draw) {
        StringBuilder search = new StringBuilder("[");
        String id = draw.givenIds() ? (draw.oneOf(2) ? String.valueOf(1 + draw.random.nextInt(4)) : draw.newId()) : null;
        if (id != null) {
            search.append("(T.id): ").append(id).append(", ");
        }
        search.append("(T.label): ").append(label(Sample.VERTEX_LABELS, draw));
        if (draw.oneOf(2)) {
            search.append(", 'a': ").append(draw.values.smallInt());
        }
        draw.add("mergeV", search.append(']').toString());
        draw.type = Type.VERTEX;
        options(draw, draw.pick("a", "b", "f"));
    }

    private static void mergeEdge(Draw draw) {
        StringBuilder search = new StringBuilder("[(Direction.OUT): ").append(1 + draw.random.nextInt(3)).append(", (Direction.IN): ")
                .append(1 + draw.random.nextInt(3)).append(", (T.label): ").append(label(Sample.EDGE_LABELS, draw));
        if (draw.givenIds()) {
            search.append(", (T.id): ").append(draw.oneOf(3) ? String.valueOf(16 + draw.random.nextInt(4)) : draw.newEdgeId());
        }
        if (draw.oneOf(3)) {
            search.append(", 'n': ").append(draw.values.smallInt());
        }
        draw.add("mergeE", search.append(']').toString());
        draw.type = Type.EDGE;
        options(draw, draw.pick("n", "w"));
    }

    private static void options(Draw draw, String key) {
        if (draw.oneOf(2)) {
            draw.add("option", "Merge.onCreate", "['" + key + "': " + draw.values.any() + "]");
        }
        if (draw.oneOf(2)) {
            draw.add("option", "Merge.onMatch", "['" + key + "': " + draw.values.any() + "]");
        }
    }

    static void step(Draw draw) {
        switch (draw.random.nextInt(draw.type == Type.VERTEX ? 12 : 6)) {
            case 0, 1, 2, 3 -> property(draw);
            case 4 -> {
                draw.add("drop");
                draw.type = Type.ANY;
            }
            case 5 -> draw.add("sideEffect", new Chain(List.of(
                    Chain.Step.of("properties", draw.oneOf(2) ? "'a'" : "'" + draw.key(draw.type) + "'"), Chain.Step.of("drop"))));
            case 6 -> addVertex(draw);
            case 7, 8, 9 -> addEdge(draw);
            case 10 -> mergeVertex(draw);
            default -> mergeEdge(draw);
        }
    }

    private static void addEdge(Draw draw) {
        draw.add("addE", label(Sample.EDGE_LABELS, draw));
        Object other = draw.labels.containsValue(Type.VERTEX) && draw.oneOf(2)
                ? "'" + draw.pick(draw.labels.entrySet().stream().filter(label -> label.getValue() == Type.VERTEX)
                        .map(Map.Entry::getKey).toArray(String[]::new)) + "'"
                : draw.anonymous("V", 1 + draw.random.nextInt(4));
        draw.add(draw.pick("from", "to"), other);
        draw.chosenId();
        draw.type = Type.EDGE;
        if (draw.oneOf(2)) {
            property(draw);
        }
    }

    private static void property(Draw draw) {
        String key = draw.key(draw.type);
        String name = "'" + key + "'";
        if (draw.type == Type.VERTEX && !draw.oneOf(4)) {
            String cardinality = draw.pick("single", "list", "set", "single");
            if (draw.oneOf(3)) {
                draw.add("property", cardinality, name, value(draw, key), "'s'", draw.values.smallInt());
            } else {
                draw.add("property", cardinality, name, value(draw, key));
            }
        } else {
            draw.add("property", name, value(draw, key));
        }
    }

    private static Object value(Draw draw, String key) {
        if (draw.oneOf(6)) {
            return draw.oneOf(2) ? draw.anonymous("constant", draw.values.any())
                    : draw.anonymous("values", "'" + draw.key(draw.type) + "'");
        }
        return switch (draw.keyType(draw.type, key)) {
            case NUMBER -> draw.oneOf(4) ? draw.values.number() : draw.values.smallInt();
            case TEXT -> draw.values.word();
            case DATE -> draw.values.date();
            default -> draw.oneOf(10) ? draw.values.list() : draw.values.any();
        };
    }
}
