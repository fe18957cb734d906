package varve.tinkergraph;

import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Steps without children that branch: those for one type of values, those for all, and side
 * effects.
 */
final class Steps {

    /** Steps that keep the order of what they are given. */
    static final Set<String> KEEP_ORDER = Set.of("id", "label", "select", "constant", "is", "limit", "range", "tail", "skip",
            "identity", "has", "hasLabel", "as", "by", "math", "valueMap", "elementMap", "project", "asString", "length");

    private Steps() {
    }

    static void typed(Draw draw) {
        switch (draw.type) {
            case VERTEX -> vertex(draw);
            case EDGE -> edge(draw);
            case VERTEX_PROPERTY -> vertexProperty(draw);
            case PROPERTY -> property(draw);
            case NUMBER -> number(draw);
            case TEXT -> Texts.step(draw);
            case DATE -> date(draw);
            case LIST -> Lists.list(draw);
            case PATH -> Lists.path(draw);
            case MAP -> Lists.map(draw);
            default -> any(draw);
        }
    }

    private static void vertex(Draw draw) {
        String edges = draw.oneOf(3) ? "'" + draw.pick(Sample.EDGE_LABELS) + "'" : "";
        switch (draw.random.nextInt(14)) {
            case 0, 1, 2, 3, 4 -> move(draw, draw.pick("out", "in", "both"), edges);
            case 5, 6, 7 -> {
                move(draw, draw.pick("outE", "inE", "bothE"), edges);
                draw.type = Type.EDGE;
            }
            case 8 -> {
                draw.add("V", draw.oneOf(2) ? "1" : "1, 2, 3");
            }
            default -> element(draw);
        }
    }

    private static void move(Draw draw, String name, String labels) {
        if (labels.isEmpty()) {
            draw.add(name);
        } else {
            draw.add(name, labels);
        }
    }

    private static void edge(Draw draw) {
        if (draw.oneOf(2)) {
            boolean walked = draw.steps.stream().anyMatch(step -> step.name().endsWith("E"));
            draw.add(draw.pick("outV", "inV", "bothV", walked ? "otherV" : "inV"));
            draw.type = Type.VERTEX;
        } else {
            element(draw);
        }
    }

    /** Steps of vertices and edges. */
    private static void element(Draw draw) {
        Type of = draw.type;
        String key = draw.key(of);
        switch (draw.random.nextInt(16)) {
            case 0, 1, 2 -> {
                draw.add("values", "'" + key + "'");
                draw.type = draw.keyType(of, key);
            }
            case 3 -> {
                move(draw, "values", draw.keys(of));
                draw.type = Type.ANY;
            }
            case 4, 5 -> {
                move(draw, "properties", draw.keys(of));
                draw.type = of == Type.VERTEX ? Type.VERTEX_PROPERTY : Type.PROPERTY;
            }
            case 6 -> maps(draw);
            case 7 -> {
                boolean id = draw.idsAllowed() && draw.oneOf(2);
                draw.add(id ? "id" : "label");
                draw.type = id ? Type.NUMBER : Type.TEXT;
            }
            case 8 -> draw.add("hasLabel", "'" + draw.pick(of == Type.EDGE ? Sample.EDGE_LABELS : Sample.VERTEX_LABELS) + "'");
            case 9 -> draw.add(draw.pick("has", "hasNot"), "'" + key + "'");
            case 10, 11, 12 -> draw.add("has", "'" + key + "'", draw.values.predicate(draw.keyType(of, key)));
            case 13 -> draw.add("has", "'" + key + "'", draw.values.any());
            case 14 -> {
                if (draw.oneOf(2)) {
                    draw.add("has", "T.label", draw.values.predicate(Type.TEXT));
                } else {
                    draw.add("hasId", draw.oneOf(2) ? "1" : "P.lt(3)");
                }
            }
            default -> {
                draw.add("has", "'" + draw.pick(of == Type.EDGE ? Sample.EDGE_LABELS : Sample.VERTEX_LABELS) + "'", "'" + key + "'",
                        draw.values.predicate(draw.keyType(of, key)));
            }
        }
    }

    private static void maps(Draw draw) {
        Type of = draw.type;
        switch (draw.random.nextInt(5)) {
            case 0 -> move(draw, "propertyMap", draw.keys(of));
            case 1 -> {
                move(draw, draw.idsAllowed() ? "elementMap" : "valueMap", draw.keys(of));
            }
            case 2 -> {
                move(draw, "valueMap", draw.keys(of));
                draw.add("by", draw.oneOf(2) ? draw.anonymous("unfold") : draw.child(Type.LIST, 1));
            }
            case 3 -> {
                move(draw, "valueMap", draw.keys(of));
                if (draw.idsAllowed()) {
                    draw.add("with", "WithOptions.tokens" + draw.pick("", ", WithOptions.labels", ", WithOptions.ids"));
                }
            }
            default -> move(draw, "valueMap", draw.keys(of));
        }
        draw.type = Type.MAP;
    }

    private static void vertexProperty(Draw draw) {
        switch (draw.random.nextInt(10)) {
            case 0, 1 -> {
                draw.add("value");
                draw.type = Type.ANY;
            }
            case 2 -> {
                draw.add("key");
                draw.type = Type.TEXT;
            }
            case 3 -> {
                draw.add("values", "'" + draw.key(draw.type) + "'");
                draw.type = Type.ANY;
            }
            case 4 -> draw.add("hasKey", "'" + draw.pick("a", "b", "f", "g") + "'");
            case 5 -> draw.add("hasValue", draw.values.any());
            case 6 -> draw.add("has", "'s'", draw.values.predicate(Type.NUMBER));
            case 7 -> {
                move(draw, "valueMap", draw.keys(draw.type));
                draw.type = Type.MAP;
            }
            case 8 -> {
                move(draw, "properties", draw.keys(draw.type));
                draw.type = Type.PROPERTY;
            }
            default -> {
                draw.add("element");
                draw.type = Type.VERTEX;
            }
        }
    }

    private static void property(Draw draw) {
        switch (draw.random.nextInt(4)) {
            case 0, 1 -> {
                draw.add("value");
                draw.type = Type.ANY;
            }
            case 2 -> {
                draw.add("key");
                draw.type = Type.TEXT;
            }
            default -> draw.add("hasKey", "'" + draw.pick("s", "t", "w", "n") + "'");
        }
    }

    private static void number(Draw draw) {
        switch (draw.random.nextInt(10)) {
            case 0, 1, 2 -> draw.add("is", draw.values.predicate(Type.NUMBER));
            case 3, 4 -> math(draw);
            case 5, 6 -> draw.add(draw.pick("sum", "max", "min", "mean"));
            case 7 -> {
                draw.add("asNumber", "GType." + draw.pick("INT", "LONG", "DOUBLE", "FLOAT", "BYTE", "SHORT", "BIGINT", "BIGDECIMAL"));
            }
            case 8 -> draw.add("order");
            default -> Lists.fold(draw);
        }
    }

    private static void math(Draw draw) {
        String formula = draw.pick("_ + 1", "_ * 2", "_ - 1.5", "_ / 2", "_ ^ 2", "abs(_)", "-_", "(_ + 1) * 3", "_ % 2", "sqrt(_)",
                "floor(_)", "signum(_)", "2 * (3 - _)", "ceil(_ / 3)");
        if (!draw.labels.isEmpty() && draw.oneOf(3)) {
            String label = draw.labels.keySet().iterator().next();
            draw.add("math", "'" + label + draw.pick(" + ", " * ", " - ") + "_'");
            if (draw.labels.get(label) != Type.NUMBER) {
                draw.add("by", draw.by(draw.labels.get(label)));
            }
        } else {
            draw.add("math", "'" + formula + "'");
            if (draw.type != Type.NUMBER) {
                draw.add("by", draw.by(draw.type));
            }
        }
        draw.type = Type.NUMBER;
    }

    private static void date(Draw draw) {
        switch (draw.random.nextInt(4)) {
            case 0, 1 -> draw.add("is", draw.values.predicate(Type.DATE));
            case 2 -> draw.add("dateAdd", "DT." + draw.pick("second", "minute", "hour", "day"), draw.values.smallInt());
            default -> {
                draw.add("dateDiff", draw.values.date());
                draw.type = Type.NUMBER;
            }
        }
    }

    /** Steps for values of any type. */
    static void any(Draw draw) {
        switch (draw.random.nextInt(26)) {
            case 0 -> draw.add("barrier");
            case 1 -> draw.add("identity");
            case 2, 3 -> dedup(draw);
            case 4, 5 -> {
                draw.add("count");
                draw.type = Type.NUMBER;
            }
            case 6 -> Lists.fold(draw);
            case 7 -> draw.add("is", draw.values.predicate(draw.type));
            case 8 -> {
                draw.add("constant", draw.values.any());
                draw.type = Type.ANY;
            }
            case 9, 10 -> order(draw);
            case 11, 12 -> draw.add(draw.pick("limit", "tail", "skip"), String.valueOf(draw.random.nextInt(4)));
            case 13 -> draw.add("range", draw.random.nextInt(3), 2 + draw.random.nextInt(3));
            case 14 -> draw.add(draw.pick("min", "max", "min", "sum", "mean"));
            case 15, 16 -> path(draw);
            case 17 -> draw.add(draw.pick("simplePath", "cyclicPath"));
            case 18, 19, 20 -> select(draw);
            case 21 -> whereLabel(draw);
            case 22 -> {
                if (draw.type.isElement() && draw.oneOf(2)) {
                    math(draw);
                } else {
                    draw.add("asString");
                    draw.type = Type.TEXT;
                }
            }
            case 23 -> {
                draw.add("index");
                draw.type = Type.LIST;
            }
            case 24 -> {
                if (draw.loops > 0 && draw.oneOf(2)) {
                    draw.add("loops");
                    draw.type = Type.NUMBER;
                } else {
                    draw.add("inject", draw.values.any());
                    draw.type = Type.ANY;
                }
            }
            default -> sack(draw);
        }
    }

    private static void dedup(Draw draw) {
        if (draw.oneOf(6) && !draw.labels.isEmpty()) {
            draw.add("dedup", "'" + draw.labels.keySet().iterator().next() + "'");
        } else {
            draw.add("dedup");
            draw.modulate(draw.type, 1);
        }
    }

    private static void order(Draw draw) {
        draw.add("order");
        Type of = draw.type;
        for (int i = draw.random.nextInt(3); i > 0; i--) {
            if (draw.oneOf(2)) {
                draw.add("by", draw.by(of), draw.pick("asc", "desc"));
            } else {
                draw.add("by", draw.by(of));
            }
        }
    }

    private static void path(Draw draw) {
        draw.add("path");
        for (int i = draw.random.nextInt(3); i > 0; i--) {
            draw.add("by", draw.by(Type.VERTEX));
        }
        if (draw.oneOf(6) && !draw.labels.isEmpty()) {
            draw.add(draw.pick("from", "to"), "'" + draw.labels.keySet().iterator().next() + "'");
        }
        draw.type = Type.PATH;
    }

    private static void select(Draw draw) {
        if (draw.labels.isEmpty() && draw.effects.isEmpty()) {
            draw.add("as", "'p'");
            draw.labels.put("p", draw.type);
            typed(draw);
        }
        String[] names = Stream.concat(draw.labels.keySet().stream(), draw.effects.keySet().stream()).toArray(String[]::new);
        String name = draw.pick(names);
        Type of = draw.labels.getOrDefault(name, draw.effects.getOrDefault(name, Type.ANY));
        String pop = draw.oneOf(5) ? draw.pick("Pop.first, ", "Pop.last, ", "Pop.all, ", "Pop.mixed, ") : "";
        if (draw.oneOf(4)) {
            draw.add("select", pop + "'" + name + "', '" + draw.pick(names) + "'");
            draw.modulate(of, 2);
            draw.type = Type.MAP;
        } else {
            draw.add("select", pop + "'" + name + "'");
            draw.type = pop.equals("Pop.all, ") ? Type.LIST : of;
            if (draw.oneOf(4)) {
                draw.add("by", draw.by(of));
                draw.type = draw.gives;
            }
        }
    }

    private static void whereLabel(Draw draw) {
        if (draw.labels.isEmpty()) {
            draw.add("is", draw.values.predicate(draw.type));
            return;
        }
        String[] names = draw.labels.keySet().toArray(String[]::new);
        String predicate = "P." + draw.pick("eq", "neq", "lt", "gte", "within") + "('" + draw.pick(names) + "')";
        if (draw.oneOf(2)) {
            draw.add("where", "'" + draw.pick(names) + "'", predicate);
        } else {
            draw.add("where", predicate);
        }
        draw.modulate(draw.type, 2);
    }

    private static void sack(Draw draw) {
        if (!draw.sack) {
            draw.add("barrier");
        } else if (draw.oneOf(2)) {
            draw.add("sack");
            draw.type = Type.ANY;
        } else {
            draw.add("sack", "Operator." + draw.pick("sum", "sum", "mult", "minus", "assign", "max", "min", "div"));
            draw.modulate(draw.type, 1);
        }
    }

    /** Groups and steps that keep something aside. */
    static void effects(Draw draw) {
        Type of = draw.type;
        String name = draw.pick("x", "y");
        switch (draw.random.nextInt(12)) {
            case 0, 1 -> {
                draw.add("aggregate", "'" + name + "'");
                draw.modulate(of, 1);
                draw.effects.put(name, Type.LIST);
            }
            case 2, 3 -> {
                String step = draw.pick("aggregate", "aggregate", "groupCount", "group");
                String kept = step.equals("aggregate") ? name : step.equals("group") ? "u" : "v";
                draw.add("local", new Chain(List.of(Chain.Step.of(step, "'" + kept + "'"))));
                draw.effects.put(kept, step.equals("aggregate") ? Type.LIST : Type.MAP);
            }
            case 4, 5 -> {
                draw.add("groupCount");
                draw.modulate(of, 1);
                draw.type = Type.MAP;
            }
            case 6, 7 -> {
                draw.add("group");
                draw.modulate(of, 2);
                draw.type = Type.MAP;
            }
            case 8 -> {
                boolean group = draw.oneOf(2);
                draw.add(group ? "group" : "groupCount", group ? "'u'" : "'v'");
                draw.modulate(of, 1);
                draw.effects.put(group ? "u" : "v", Type.MAP);
            }
            case 9 -> {
                if (draw.effects.isEmpty()) {
                    draw.add("barrier");
                } else {
                    String effect = draw.effects.keySet().iterator().next();
                    draw.add("cap", "'" + effect + "'");
                    draw.type = draw.effects.get(effect);
                }
            }
            case 10 -> {
                draw.add("tree");
                draw.modulate(Type.VERTEX, 2);
                draw.type = Type.MAP;
            }
            default -> {
                if (of == Type.EDGE) {
                    draw.add("subgraph", "'s'");
                    draw.add("cap", "'s'");
                    draw.type = Type.ANY;
                } else {
                    draw.add("fold");
                    draw.type = Type.LIST;
                }
            }
        }
    }
}
