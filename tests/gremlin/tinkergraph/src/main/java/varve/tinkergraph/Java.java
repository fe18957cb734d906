package varve.tinkergraph;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Traversals of what follows Java's own rules: regular expressions, and numbers as texts. */
final class Java {

    private static final String[] ATOMS = {"a", "b", "c", "B", "1", "_", " ", "é", "ß", ".", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S",
        "\\.", "\\t", "\\x61", "\\u0062", "\\h", "\\R", "\\p{L}", "\\p{Lu}", "\\p{Alpha}", "\\p{Punct}", "\\P{L}", "\\p{IsAlphabetic}", "\\Qa.\\E",
        "[abc]", "[^ab]", "[a-c]", "[a-c&&[^b]]", "[\\w.]", "[^\\s]", "[a-]", "[]a]", "[\\[x]", "[a[bc]]", "[-1]"};
    private static final String[] PLACES = {"^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z", "\\G"};
    private static final String[] QUANTIFIERS = {"*", "+", "?", "{2}", "{1,2}", "{2,}", "*?", "+?", "??", "*+", "++", "?+", "{0}"};
    private static final String[] GROUPS = {"(", "(", "(?:", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?<n>", "(?s:", "(?-i:"};
    private static final String[] FLAGS = {"(?i)", "(?s)", "(?m)", "(?x)", "(?u)", "(?iu)", "(?d)"};
    private static final String[] TEXT_PARTS = {"a", "b", "c", "ab", "A", "B", "1", "_", " ", ".", "é", "É", "ß", "-", "\n", "\r\n", "x", "[", "😀", "\t", "k", "\u212a"};
    private static final String[] NUMBER_PARTS = {"1", "0", "5", "9", "-", "+", ".", "e", "E", "10", "128", "32768", "2147483648", "9223372036854775808", " ", "L", "d", "f",
        "x", "_", "NaN", "Infinity", "400", "00", "m", "n", "٣"};

    private final Random random;

    private Java(Random random) {
        this.random = random;
    }

    static Draw.Query query(Random random) {
        Java java = new Java(random);
        List<Chain.Step> steps = switch (random.nextInt(5)) {
            case 0, 1 -> java.expression();
            case 2 -> List.of(Chain.Step.of("inject", java.numbers()), Chain.Step.of("asString"));
            case 3 -> List.of(Chain.Step.of("inject", java.numbers()), java.asNumber());
            default -> List.of(Chain.Step.of("inject", quoted(java.parts(NUMBER_PARTS, 4))), java.asNumber());
        };
        return new Draw.Query(new Chain(steps), false, false);
    }

    private Chain.Step asNumber() {
        if (random.nextInt(3) == 0) {
            return Chain.Step.of("asNumber");
        }
        return Chain.Step.of("asNumber", "GType." + pick("BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "BIGINT", "BIGDECIMAL"));
    }

    private String pick(String... from) {
        return from[random.nextInt(from.length)];
    }

    private List<Chain.Step> expression() {
        List<Object> texts = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            texts.add(quoted(parts(TEXT_PARTS, 5)));
        }
        String expression = (random.nextInt(8) == 0 ? pick(FLAGS) : "") + alternatives(0);
        if (random.nextInt(15) == 0) {
            expression = "(" + expression + ")" + pick("\\1", "\\2", "\\k<n>");
        }
        return List.of(new Chain.Step("inject", texts),
                Chain.Step.of("is", "TextP." + pick("regex", "regex", "notRegex") + "(" + quoted(expression) + ")"));
    }

    private String alternatives(int depth) {
        StringBuilder text = new StringBuilder(sequence(depth));
        while (random.nextInt(5) == 0) {
            text.append('|').append(sequence(depth));
        }
        return text.toString();
    }

    private String sequence(int depth) {
        StringBuilder text = new StringBuilder();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            if (random.nextInt(7) == 0) {
                text.append(pick(PLACES));
                continue;
            }
            boolean group = depth < 2 && random.nextInt(5) == 0;
            text.append(group ? pick(GROUPS) + alternatives(depth + 1) + ")" : pick(ATOMS));
            if (random.nextInt(4) == 0) {
                text.append(pick(QUANTIFIERS));
            }
        }
        return text.toString();
    }

    private String parts(String[] from, int most) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            text.append(pick(from));
        }
        return text.toString();
    }

    static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + "'";
    }

    /** Numbers of all types; doubles of random bits, and those that people write. */
    private String numbers() {
        List<String> numbers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            numbers.add(number());
        }
        return String.join(", ", numbers);
    }

    private String number() {
        return switch (random.nextInt(8)) {
            case 0 -> literal(Double.longBitsToDouble(random.nextLong()));
            case 1 -> literal(random.nextInt(100_000) / Math.pow(10, random.nextInt(12)));
            case 2 -> literal((random.nextInt(2_000_001) - 1_000_000) * Math.pow(10, random.nextInt(30) - 8));
            case 3 -> literal(Float.intBitsToFloat(random.nextInt()));
            case 4 -> new BigDecimal(new BigInteger(random.nextInt(100), random), random.nextInt(20)).toPlainString() + "m";
            case 5 -> new BigInteger(random.nextInt(100), random) + "n";
            case 6 -> random.nextLong() + "L";
            default -> String.valueOf(random.nextInt());
        };
    }

    private static String literal(double value) {
        return Double.isFinite(value) ? Double.toString(value).replace('E', 'e') + "d" : Double.isNaN(value) ? "NaN" : "Infinity";
    }

    private static String literal(float value) {
        return Float.isFinite(value) ? Float.toString(value).replace('E', 'e') + "f" : "NaN";
    }
}
