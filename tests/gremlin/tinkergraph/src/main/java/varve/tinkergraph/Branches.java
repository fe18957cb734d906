package varve.tinkergraph;

import java.util.List;

/** Steps with children that branch, loop, filter and map. */
final class Branches {

    private Branches() {
    }

    static void step(Draw draw) {
        Type of = draw.type;
        switch (draw.random.nextInt(19)) {
            case 0, 1 -> repeat(draw);
            case 2 -> choose(draw);
            case 3 -> union(draw, "union");
            case 4 -> union(draw, "coalesce");
            case 5 -> {
                draw.add("optional", draw.child(of));
                draw.type = draw.gives == of ? of : Type.ANY;
            }
            case 6, 7 -> {
                draw.add("local", draw.child(of));
                draw.type = draw.gives;
            }
            case 8 -> {
                draw.add("flatMap", draw.child(of));
                draw.type = draw.gives;
            }
            case 9 -> {
                draw.add("map", draw.child(of));
                draw.type = draw.gives;
            }
            case 10 -> draw.add("sideEffect", draw.child(of));
            case 11, 12 -> draw.add(draw.pick("where", "filter", "where"), draw.filter(of));
            case 13 -> draw.add("not", draw.filter(of));
            case 14 -> draw.add(draw.pick("and", "or"), draw.filter(of), draw.filter(of));
            case 15 -> branch(draw);
            case 16, 17 -> project(draw);
            default -> match(draw);
        }
    }

    private static void project(Draw draw) {
        Type of = draw.type;
        draw.add("project", "'i', 'j'");
        draw.add("by", draw.by(of));
        draw.add("by", draw.by(of));
        draw.type = Type.MAP;
    }

    private static void union(Draw draw, String name) {
        Type of = draw.type;
        Chain first = draw.child(of);
        Type gives = draw.gives;
        Chain second = draw.child(of);
        draw.add(name, first, second);
        draw.type = gives == draw.gives ? gives : Type.ANY;
    }

    private static void choose(Draw draw) {
        Type of = draw.type;
        switch (draw.random.nextInt(4)) {
            case 0 -> {
                Chain test = draw.filter(of);
                union(draw, "choose");
                Chain.Step step = draw.steps.remove(draw.steps.size() - 1);
                draw.add("choose", test, step.arguments().get(0), step.arguments().get(1));
            }
            case 1 -> {
                draw.add("choose", draw.filter(of), draw.child(of));
                draw.type = draw.gives == of ? of : Type.ANY;
            }
            case 2 -> {
                String test = draw.values.predicate(of);
                draw.add("choose", test, draw.child(of), draw.child(of));
                draw.type = Type.ANY;
            }
            default -> {
                draw.add("choose", draw.oneOf(2) && of == Type.VERTEX ? draw.anonymous("label") : draw.child(of));
                options(draw, of, false);
            }
        }
    }

    private static void options(Draw draw, Type of, boolean any) {
        for (int i = 1 + draw.random.nextInt(3); i > 0; i--) {
            String token = switch (draw.random.nextInt(8)) {
                case 0 -> "Pick.none";
                case 1 -> any ? "Pick.any" : "Pick.unproductive";
                case 2 -> draw.values.predicate(Type.NUMBER);
                case 3 -> "'" + draw.pick(Sample.VERTEX_LABELS) + "'";
                case 4 -> draw.values.word();
                default -> draw.values.smallInt();
            };
            draw.add("option", token, draw.child(of));
        }
        draw.type = Type.ANY;
    }

    private static void branch(Draw draw) {
        Type of = draw.type;
        draw.add("branch", of == Type.VERTEX && draw.oneOf(2) ? draw.anonymous("label") : draw.child(of, 1));
        options(draw, of, true);
    }

    /** Ends after at most three rounds: either by `times`, or by a condition that counts rounds. */
    private static void repeat(Draw draw) {
        Type of = draw.type;
        boolean elements = of == Type.VERTEX || of == Type.EDGE;
        draw.loops++;
        Chain body = of == Type.VERTEX && draw.oneOf(2)
                ? draw.anonymous(draw.pick("out", "in", "both"), draw.oneOf(3) ? "'k'" : "")
                : draw.child(of, 1 + draw.random.nextInt(2));
        Type gives = draw.gives;
        draw.loops--;
        if (of == Type.VERTEX && body.steps().size() == 1 && body.steps().get(0).arguments().equals(List.of(""))) {
            body = draw.anonymous(body.steps().get(0).name());
        }
        String times = String.valueOf(draw.random.nextInt(4));
        boolean first = draw.oneOf(3);
        int end = draw.random.nextInt(6);
        Chain until = new Chain(List.of(Chain.Step.of("or", draw.filter(of),
                new Chain(List.of(Chain.Step.of("loops"), Chain.Step.of("is", "P.gte(" + (1 + draw.random.nextInt(2)) + ")"))))));
        if (draw.oneOf(5)) {
            emit(draw, of);
        }
        if (first) {
            end(draw, end, times, until);
        }
        if (draw.oneOf(8)) {
            draw.add("repeat", "'n'", body);
        } else {
            draw.add("repeat", body);
        }
        if (!first) {
            end(draw, end, times, until);
        }
        if (draw.oneOf(4)) {
            emit(draw, of);
        }
        draw.type = elements && gives == of ? of : Type.ANY;
    }

    private static void end(Draw draw, int end, String times, Chain until) {
        if (end == 0) {
            draw.add("until", until);
        } else {
            draw.add("times", times);
        }
    }

    private static void emit(Draw draw, Type of) {
        if (draw.oneOf(2)) {
            draw.add("emit");
        } else {
            draw.add("emit", draw.filter(of));
        }
    }

    private static void match(Draw draw) {
        Type of = draw.type;
        if (of != Type.VERTEX) {
            draw.add("where", draw.filter(of));
            return;
        }
        String edge = draw.pick("out", "in", "both");
        Chain first = new Chain(List.of(Chain.Step.of("as", "'i'"), Chain.Step.of(edge), Chain.Step.of("as", "'j'")));
        Chain second = switch (draw.random.nextInt(4)) {
            case 0 -> new Chain(List.of(Chain.Step.of("as", "'j'"), Chain.Step.of("values", "'a'"), Chain.Step.of("as", "'l'")));
            case 1 -> new Chain(List.of(Chain.Step.of("as", "'j'"), Chain.Step.of("has", "'b'", draw.values.predicate(Type.TEXT))));
            case 2 -> new Chain(List.of(Chain.Step.of("as", "'i'"), Chain.Step.of(draw.pick("out", "in")), Chain.Step.of("as", "'j'")));
            default -> draw.anonymous("not", new Chain(List.of(Chain.Step.of("as", "'j'"), Chain.Step.of("out"), Chain.Step.of("as", "'i'"))));
        };
        draw.add("match", first, second);
        if (draw.oneOf(2)) {
            draw.add("select", "'i', 'j'");
            draw.type = Type.MAP;
        } else if (draw.oneOf(2)) {
            draw.add("select", draw.pick("'i'", "'j'"));
            draw.type = Type.VERTEX;
        } else {
            draw.type = Type.MAP;
        }
    }
}
