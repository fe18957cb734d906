package varve.tinkergraph;

import java.util.Random;

/** Random literals and predicates, as texts. */
final class Values {

    private static final String[] WORDS = {"'a'", "'b'", "'ab'", "'B'", "'ba c'", "' x '", "''", "'1'", "'2.5'", "'a,b'", "'é'"};
    private static final String[] NUMBERS = {
        "0", "1", "2", "3", "-1", "1L", "2L", "1b", "2s", "1.0d", "2.0d", "0.5d", "-1.5d", "2.5f", "1.0f", "1.5m", "2.0m", "3n", "10", "100"};
    private static final String[] ODD_NUMBERS = {
        "NaN", "Infinity", "-Infinity", "2147483647", "9223372036854775807L", "127b", "1.0e30d", "-0.0d", "0.1d", "0.1f", "1.0e10d", "1.0e-5d"};
    private static final String[] DATES = {
        "datetime('2020-01-01T00:00:00Z')", "datetime('2020-02-29T12:30:00Z')", "datetime('2019-12-31T23:59:59Z')"};
    private static final String[] TYPES = {
        "GType.INT", "GType.LONG", "GType.DOUBLE", "GType.STRING", "GType.NUMBER", "GType.BOOLEAN", "GType.DATETIME", "GType.VERTEX", "GType.LIST", "GType.MAP"};

    private final Random random;

    Values(Random random) {
        this.random = random;
    }

    String pick(String... from) {
        return from[random.nextInt(from.length)];
    }

    String smallInt() {
        return String.valueOf(random.nextInt(5));
    }

    String word() {
        return pick(WORDS);
    }

    String number() {
        return random.nextInt(12) == 0 ? pick(ODD_NUMBERS) : pick(NUMBERS);
    }

    String date() {
        return pick(DATES);
    }

    String type() {
        return pick(TYPES);
    }

    /** A value of any type that a property can have. */
    String any() {
        return switch (random.nextInt(6)) {
            case 0 -> word();
            case 1 -> pick("true", "false");
            case 2 -> date();
            case 3 -> number();
            default -> smallInt();
        };
    }

    /** A value that may also be null or a collection. */
    String argument() {
        return switch (random.nextInt(12)) {
            case 0 -> "null";
            case 1 -> list();
            case 2 -> "{1, 2}";
            case 3 -> "['a': 1, 'b': 'x']";
            default -> any();
        };
    }

    String list() {
        StringBuilder text = new StringBuilder("[");
        int count = random.nextInt(4);
        for (int i = 0; i < count; i++) {
            text.append(i > 0 ? ", " : "").append(random.nextInt(3) == 0 ? any() : smallInt());
        }
        return text.append(']').toString();
    }

    String words() {
        return random.nextBoolean() ? "['a', 'b']" : "['a', 'x', 'a']";
    }

    String predicate(Type type) {
        if (random.nextInt(8) == 0) {
            return predicate(type, 1) + (random.nextBoolean() ? ".and(" : ".or(") + predicate(type, 1) + ")";
        }
        return random.nextInt(12) == 0 ? "P.not(" + predicate(type, 1) + ")" : predicate(type, 0);
    }

    private String predicate(Type type, int depth) {
        Type of = random.nextInt(10) == 0 ? Type.ANY : type;
        if (of == Type.TEXT && random.nextInt(3) > 0) {
            return pick("TextP.startingWith(", "TextP.endingWith(", "TextP.containing(", "TextP.notStartingWith(",
                    "TextP.notEndingWith(", "TextP.notContaining(") + word() + ")";
        }
        if (of == Type.TEXT && random.nextInt(4) == 0) {
            return "TextP." + pick("regex", "notRegex") + "(" + pick("'a.*'", "'[ab]'", "'^.b?$'", "'\\\\d'") + ")";
        }
        String a = operand(of);
        return switch (random.nextInt(11)) {
            case 0 -> "P.eq(" + a + ")";
            case 1 -> "P.neq(" + a + ")";
            case 2 -> "P.lt(" + a + ")";
            case 3 -> "P.lte(" + a + ")";
            case 4 -> "P.gt(" + a + ")";
            case 5 -> "P.gte(" + a + ")";
            case 6 -> "P.within(" + a + ", " + operand(of) + ")";
            case 7 -> "P.without(" + a + ", " + operand(of) + ")";
            case 8 -> pick("P.between(", "P.inside(", "P.outside(") + a + ", " + operand(of) + ")";
            case 9 -> "P.typeOf(" + type() + ")";
            default -> "P.gte(" + a + ")";
        };
    }

    private String operand(Type type) {
        return switch (type) {
            case NUMBER -> random.nextInt(3) == 0 ? number() : smallInt();
            case TEXT -> word();
            case BOOLEAN -> pick("true", "false");
            case DATE -> date();
            case LIST -> list();
            default -> random.nextInt(15) == 0 ? "null" : any();
        };
    }
}
