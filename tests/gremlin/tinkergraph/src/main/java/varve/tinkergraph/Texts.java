package varve.tinkergraph;

import java.util.List;

/** Steps of texts. */
final class Texts {

    private Texts() {
    }

    static void step(Draw draw) {
        String local = draw.oneOf(12) ? "local" : "";
        switch (draw.random.nextInt(14)) {
            case 0 -> {
                draw.add("length", local);
                draw.type = Type.NUMBER;
            }
            case 1, 2 -> draw.add(draw.pick("toUpper", "toLower", "trim", "lTrim", "rTrim"), local);
            case 3 -> {
                String from = String.valueOf(draw.random.nextInt(5) - 2);
                if (draw.oneOf(2)) {
                    draw.add("substring", from);
                } else {
                    draw.add("substring", from, draw.random.nextInt(5) - 2);
                }
            }
            case 4 -> draw.add("replace", draw.values.word(), draw.values.word());
            case 5 -> {
                draw.add("split", draw.pick("'a'", "' '", "','", "''", "null", "'.'"));
                draw.type = Type.LIST;
            }
            case 6 -> draw.add("concat", draw.values.word(), draw.oneOf(2) ? draw.values.word() : "null");
            case 7 -> draw.add("concat", draw.child(Type.TEXT, 1));
            case 8 -> draw.add("reverse");
            case 9, 10 -> draw.add("is", draw.values.predicate(Type.TEXT));
            case 11 -> {
                draw.add("asNumber");
                draw.type = Type.NUMBER;
            }
            case 12 -> {
                draw.add(draw.pick("asBool", "asDate"));
                draw.type = Type.ANY;
            }
            default -> {
                draw.add("format", draw.pick("'%{_}-'", "'%{p} x'", "'x'", "'%{_}%{_}'"));
                if (draw.oneOf(2)) {
                    draw.add("by", draw.by(Type.TEXT));
                }
            }
        }
        Chain.Step last = draw.steps.get(draw.steps.size() - 1);
        if (last.arguments().equals(List.of(""))) {
            draw.steps.set(draw.steps.size() - 1, Chain.Step.of(last.name()));
        }
    }
}
