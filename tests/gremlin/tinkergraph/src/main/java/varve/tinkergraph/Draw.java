package varve.tinkergraph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Draws a traversal: most steps fit the type of what the step before gives. */
final class Draw {

    /**
     * What was drawn; `ordered` if the results have an order, `changes` if it may change the graph.
     */
    record Query(Chain chain, boolean ordered, boolean changes) {
    }

    /** Keys of vertices with the types of their values; `f` and `g` may have several. */
    private static final Map<String, Type> VERTEX_KEYS = Map.of("a", Type.NUMBER, "b", Type.TEXT, "c", Type.NUMBER,
            "d", Type.DATE, "e", Type.ANY, "f", Type.NUMBER, "g", Type.TEXT, "h", Type.TEXT);
    private static final Map<String, Type> EDGE_KEYS = Map.of("e", Type.ANY, "w", Type.NUMBER, "h", Type.TEXT, "n", Type.NUMBER);
    private static final Map<String, Type> META_KEYS = Map.of("s", Type.NUMBER, "t", Type.TEXT);

    final Random random;
    final Values values;
    final boolean changing;
    List<Chain.Step> steps = new ArrayList<>();
    Type type = Type.ANY;
    int depth;
    int loops;
    boolean sack;
    private boolean ordered;
    /** Given ids only, so that ids may be in the results. */
    private boolean givenIds;
    private int nextId = 10;
    private int nextEdge = 40;
    Map<String, Type> labels = new LinkedHashMap<>();
    final Map<String, Type> effects = new HashMap<>();

    private Draw(Random random, boolean changing) {
        this.random = random;
        this.changing = changing;
        values = new Values(random);
    }

    static Query query(Random random, boolean changing) {
        if (!changing && random.nextInt(12) == 0) {
            return Java.query(random);
        }
        Draw draw = new Draw(random, changing);
        draw.givenIds = random.nextBoolean();
        draw.source();
        draw.start();
        int count = 1 + random.nextInt(random.nextInt(4) == 0 ? 8 : 5);
        for (int i = 0; i < count; i++) {
            draw.step();
        }
        return new Query(new Chain(draw.steps), draw.ordered, changing);
    }

    void add(String name, Object... arguments) {
        steps.add(Chain.Step.of(name, arguments));
    }

    String pick(String... from) {
        return from[random.nextInt(from.length)];
    }

    boolean oneOf(int count) {
        return random.nextInt(count) == 0;
    }

    // Sources and strategies.

    private void source() {
        if (oneOf(7)) {
            strategy();
        }
        if (oneOf(12)) {
            sack = true;
            add("withSack", pick("1", "1", "0", "1.0d", "2L", "'s'"));
            if (oneOf(3)) {
                steps.remove(steps.size() - 1);
                add("withSack", pick("1", "1.0d"), pick("Operator.sum", "Operator.mult", "Operator.max"));
            }
        }
        if (oneOf(20)) {
            effects.put("x", Type.LIST);
            add("withSideEffect", "'x'", pick("[]", "[1, 2]", "['a']"), pick("Operator.addAll", "Operator.assign"));
        }
        if (oneOf(40)) {
            add(pick("withPath", "withBulk"));
            if (steps.get(steps.size() - 1).name().equals("withBulk")) {
                steps.remove(steps.size() - 1);
                add("withBulk", pick("true", "false"));
            }
        }
    }

    private void strategy() {
        switch (random.nextInt(7)) {
            case 0, 1, 2 -> {
                List<Object> parts = new ArrayList<>(List.of("SubgraphStrategy("));
                int kinds = 1 + random.nextInt(7);
                if ((kinds & 1) > 0) {
                    parts.addAll(List.of("vertices: ", filter(Type.VERTEX), ", "));
                }
                if ((kinds & 2) > 0) {
                    parts.addAll(List.of("edges: ", filter(Type.EDGE), ", "));
                }
                if ((kinds & 4) > 0) {
                    parts.addAll(List.of("vertexProperties: ", filter(Type.VERTEX_PROPERTY), ", "));
                }
                parts.add("checkAdjacentVertices: " + pick("true", "true", "false") + ")");
                add("withStrategies", parts);
            }
            case 3, 4 -> add("withStrategies", "PartitionStrategy(partitionKey: 'h', writePartition: '" + pick("x", "y")
                    + "', readPartitions: " + pick("{'x'}", "{'y'}", "{'x', 'y'}", "['x']")
                    + (oneOf(4) ? ", includeMetaProperties: true" : "") + ")");
            case 5 -> add("withStrategies", pick("ReadOnlyStrategy", "ReadOnlyStrategy()"));
            default -> add("withStrategies", oneOf(2) ? "ProductiveByStrategy"
                    : "ProductiveByStrategy(productiveKeys: ['a'])");
        }
    }

    private void start() {
        if (changing && oneOf(4)) {
            Changes.start(this);
            return;
        }
        switch (random.nextInt(20)) {
            case 0, 1 -> {
                add("V", ids(1, 9));
                type = Type.VERTEX;
            }
            case 2, 3, 4 -> {
                add("E");
                type = Type.EDGE;
            }
            case 5 -> {
                add("E", ids(Sample.FIRST_EDGE, 10));
                type = Type.EDGE;
            }
            case 6, 7, 8 -> inject();
            default -> {
                add("V");
                type = Type.VERTEX;
            }
        }
    }

    private String ids(int first, int count) {
        StringBuilder text = new StringBuilder().append(first + random.nextInt(count));
        for (int i = random.nextInt(3); i > 0; i--) {
            text.append(", ").append(first + random.nextInt(count));
        }
        return text.toString();
    }

    private void inject() {
        int kind = random.nextInt(5);
        List<String> injected = new ArrayList<>();
        for (int i = 1 + random.nextInt(4); i > 0; i--) {
            injected.add(switch (kind) {
                case 0 -> values.smallInt();
                case 1 -> values.number();
                case 2 -> values.word();
                case 3 -> oneOf(3) ? values.words() : values.list();
                default -> values.argument();
            });
        }
        add("inject", String.join(", ", injected));
        type = new Type[] {Type.NUMBER, Type.NUMBER, Type.TEXT, Type.LIST, Type.ANY}[kind];
    }

    // Children.

    /** A child for what is at hand; `type` keeps what the child gives if `keep`. */
    Chain child(Type of, int length) {
        List<Chain.Step> outer = steps;
        Type outerType = type;
        boolean outerOrdered = ordered;
        Map<String, Type> outerLabels = labels;
        steps = new ArrayList<>();
        labels = new LinkedHashMap<>(labels);
        type = of;
        depth++;
        for (int i = 0; i < length; i++) {
            step();
        }
        depth--;
        Chain made = new Chain(steps);
        steps = outer;
        labels = outerLabels;
        ordered = outerOrdered;
        gives = type;
        type = outerType;
        return made;
    }

    /** What the child that was drawn last gives. */
    Type gives = Type.ANY;

    Chain child(Type of) {
        return child(of, 1 + random.nextInt(depth > 1 ? 1 : 2));
    }

    Chain anonymous(String name, Object... arguments) {
        return new Chain(List.of(Chain.Step.of(name, arguments)));
    }

    /** A child that filters. */
    Chain filter(Type of) {
        if (depth < 3 && oneOf(3)) {
            return child(of);
        }
        return switch (of) {
            case VERTEX -> switch (random.nextInt(5)) {
                case 0 -> anonymous("hasLabel", "'" + pick(Sample.VERTEX_LABELS) + "'");
                case 1 -> anonymous("out");
                case 2 -> anonymous("has", "'" + pick("a", "b", "c", "e", "f") + "'");
                case 3 -> anonymous("has", "'a'", values.predicate(Type.NUMBER));
                default -> anonymous("has", "'b'", values.predicate(Type.TEXT));
            };
            case EDGE -> switch (random.nextInt(3)) {
                case 0 -> anonymous("hasLabel", "'" + pick(Sample.EDGE_LABELS) + "'");
                case 1 -> anonymous("has", "'w'", values.predicate(Type.NUMBER));
                default -> anonymous("has", "'h'", "'x'");
            };
            case VERTEX_PROPERTY -> switch (random.nextInt(4)) {
                case 0 -> anonymous("hasKey", "'" + pick("a", "b", "f", "g") + "'");
                case 1 -> anonymous("has", "'s'");
                case 2 -> anonymous("hasValue", "1");
                default -> anonymous("hasNot", "'s'");
            };
            default -> anonymous("is", values.predicate(of));
        };
    }

    /** A child or a key for `by`. */
    Object by(Type of) {
        if (of == Type.VERTEX || of == Type.EDGE) {
            switch (random.nextInt(6)) {
                case 0 -> {
                    gives = Type.TEXT;
                    return "T.label";
                }
                case 1, 2 -> {
                    String key = key(of);
                    gives = keyType(of, key);
                    return "'" + key + "'";
                }
                case 3 -> {
                    if (idsAllowed()) {
                        gives = Type.NUMBER;
                        return "T.id";
                    }
                }
                default -> {
                }
            }
        }
        return child(of);
    }

    boolean idsAllowed() {
        return !changing || givenIds;
    }

    String newId() {
        return String.valueOf(nextId++);
    }

    String newEdgeId() {
        return String.valueOf(nextEdge++);
    }

    boolean givenIds() {
        return givenIds;
    }

    /** The server chooses an id: from here on no step shows ids. */
    void chosenId() {
        givenIds = false;
    }

    /** A `by` that is a child, a key, or is missing. */
    void modulate(Type of, int most) {
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            add("by", by(of));
        }
    }

    String key(Type of) {
        return switch (of) {
            case EDGE -> pick("e", "w", "h", "n");
            case VERTEX_PROPERTY -> pick("s", "t");
            default -> pick("a", "a", "b", "c", "d", "e", "f", "g", "h");
        };
    }

    Type keyType(Type of, String key) {
        Map<String, Type> keys = of == Type.EDGE ? EDGE_KEYS : of == Type.VERTEX_PROPERTY ? META_KEYS : VERTEX_KEYS;
        return keys.getOrDefault(key, Type.ANY);
    }

    String keys(Type of) {
        int count = oneOf(4) ? 0 : oneOf(4) ? 2 : 1;
        return count == 0 ? "" : count == 1 ? "'" + key(of) + "'" : "'" + key(of) + "', '" + key(of) + "'";
    }

    // Steps.

    void step() {
        Type before = type;
        boolean wasOrdered = ordered;
        if (changing && depth == 0 && (type == Type.VERTEX || type == Type.EDGE || type == Type.VERTEX_PROPERTY) && oneOf(2)) {
            Changes.step(this);
            ordered = false;
            return;
        }
        if (changing && depth > 0 && type == Type.VERTEX && oneOf(12)) {
            Changes.step(this);
            return;
        }
        if (oneOf(60)) {
            type = Type.values()[random.nextInt(Type.values().length)];
        }
        int kind = random.nextInt(100);
        if (kind < 42) {
            Steps.typed(this);
        } else if (kind < 70) {
            Steps.any(this);
        } else if (kind < 90 && depth < 3) {
            Branches.step(this);
        } else {
            Steps.effects(this);
        }
        if (steps.isEmpty()) {
            add("identity");
        }
        String last = steps.get(steps.size() - 1).name();
        if (oneOf(9) && before != null && !last.equals("as")) {
            String label = pick("p", "q", "r");
            labels.put(label, type);
            add("as", "'" + label + "'");
        }
        ordered = depth == 0 && (isOrder() || wasOrdered && Steps.KEEP_ORDER.contains(last));
    }

    private boolean isOrder() {
        for (int i = steps.size() - 1; i >= 0; i--) {
            Chain.Step step = steps.get(i);
            if (step.name().equals("order")) {
                return step.arguments().isEmpty();
            }
            if (!step.name().equals("by") && !step.name().equals("as")) {
                return false;
            }
        }
        return false;
    }
}
