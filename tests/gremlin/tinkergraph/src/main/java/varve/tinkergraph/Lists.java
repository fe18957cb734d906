package varve.tinkergraph;

/** Steps of lists, maps and paths. */
final class Lists {

    private Lists() {
    }

    static void fold(Draw draw) {
        if (draw.oneOf(8)) {
            draw.add("fold", draw.pick("0, Operator.sum", "1, Operator.mult", "0, Operator.max"));
            draw.type = Type.NUMBER;
        } else {
            draw.add("fold");
            draw.type = Type.LIST;
        }
    }

    static void list(Draw draw) {
        Object other = draw.oneOf(4) ? draw.anonymous("constant", draw.values.list()) : draw.values.list();
        switch (draw.random.nextInt(16)) {
            case 0, 1, 2, 3 -> unfold(draw);
            case 4 -> {
                draw.add("count", "local");
                draw.type = Type.NUMBER;
            }
            case 5 -> {
                draw.add(draw.pick("sum", "min", "max", "mean"), "local");
                draw.type = Type.NUMBER;
            }
            case 6 -> draw.add(draw.pick("dedup", "order", "dedup"), "local");
            case 7, 8 -> local(draw);
            case 9, 10 -> draw.add(draw.pick("merge", "combine", "difference", "intersect", "disjunct"), other);
            case 11 -> draw.add("product", other);
            case 12 -> draw.add("reverse");
            case 13, 14 -> draw.add(draw.pick("all", "any", "none"), draw.values.predicate(Type.NUMBER));
            default -> {
                draw.add("conjoin", draw.values.word());
                draw.type = Type.TEXT;
            }
        }
    }

    private static void local(Draw draw) {
        if (draw.oneOf(4)) {
            draw.add("range", "local", draw.random.nextInt(3), 2 + draw.random.nextInt(2));
        } else {
            draw.add(draw.pick("limit", "tail", "skip"), "local", draw.random.nextInt(4));
        }
        if (draw.type == Type.PATH) {
            draw.type = Type.LIST;
        }
    }

    private static void unfold(Draw draw) {
        draw.add("unfold");
        draw.type = Type.ANY;
    }

    static void path(Draw draw) {
        switch (draw.random.nextInt(5)) {
            case 0, 1 -> unfold(draw);
            case 2 -> {
                draw.add("count", "local");
                draw.type = Type.NUMBER;
            }
            case 3 -> local(draw);
            default -> Steps.any(draw);
        }
    }

    static void map(Draw draw) {
        switch (draw.random.nextInt(9)) {
            case 0, 1 -> {
                draw.add("select", draw.pick("Column.values", "Column.keys"));
                draw.type = Type.LIST;
            }
            case 2, 3 -> {
                draw.add("unfold");
                if (draw.oneOf(2)) {
                    draw.add("select", draw.pick("Column.values", "Column.keys"));
                    draw.type = Type.ANY;
                }
            }
            case 4 -> {
                draw.add("select", "'" + draw.pick("i", "j", "a", "b") + "'");
                draw.type = Type.ANY;
            }
            case 5 -> {
                draw.add("count", "local");
                draw.type = Type.NUMBER;
            }
            case 6 -> {
                draw.add("order", "local");
                if (draw.oneOf(2)) {
                    draw.add("by", draw.pick("Column.values", "Column.keys"), draw.pick("asc", "desc"));
                }
            }
            default -> {
                // The maps of the reference have an order of their own.
                draw.add("order", "local");
                draw.add("by", "Column.keys");
                local(draw);
            }
        }
    }
}
