package varve.tinkergraph;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.tinkerpop.gremlin.process.traversal.DT;
import org.apache.tinkerpop.gremlin.process.traversal.GType;
import org.apache.tinkerpop.gremlin.process.traversal.Merge;
import org.apache.tinkerpop.gremlin.process.traversal.Operator;
import org.apache.tinkerpop.gremlin.process.traversal.Order;
import org.apache.tinkerpop.gremlin.process.traversal.P;
import org.apache.tinkerpop.gremlin.process.traversal.Pick;
import org.apache.tinkerpop.gremlin.process.traversal.Pop;
import org.apache.tinkerpop.gremlin.process.traversal.Scope;
import org.apache.tinkerpop.gremlin.process.traversal.TextP;
import org.apache.tinkerpop.gremlin.process.traversal.step.util.WithOptions;
import org.apache.tinkerpop.gremlin.structure.Column;
import org.apache.tinkerpop.gremlin.structure.Direction;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;

/**
 * Reads the literals that are drawn. TinkerPop's own parser takes some milliseconds for each new
 * text.
 */
final class Literals {

    private final String text;
    private int at;

    private Literals(String text) {
        this.text = text;
    }

    /** The values of an argument's text, which may be several. */
    static List<Object> read(String text) {
        Literals literals = new Literals(text);
        return literals.values('\0');
    }

    private List<Object> values(char end) {
        List<Object> values = new ArrayList<>();
        skip();
        while (at < text.length() && text.charAt(at) != end) {
            values.add(value());
            skip();
            if (at < text.length() && text.charAt(at) == ',') {
                at++;
                skip();
            }
        }
        at++;
        return values;
    }

    private void skip() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private boolean take(String wanted) {
        skip();
        if (text.startsWith(wanted, at)) {
            at += wanted.length();
            return true;
        }
        return false;
    }

    private Object value() {
        skip();
        char first = text.charAt(at);
        if (first == '\'') {
            return string();
        }
        if (first == '[') {
            at++;
            return listOrMap();
        }
        if (first == '{') {
            at++;
            Set<Object> set = new LinkedHashSet<>(values('}'));
            return set;
        }
        if (first == '(') {
            at++;
            Object value = value();
            take(")");
            return value;
        }
        return Character.isDigit(first) || first == '-' && Character.isDigit(text.charAt(at + 1)) ? number() : named();
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (at++; text.charAt(at) != '\''; at++) {
            if (text.charAt(at) != '\\') {
                string.append(text.charAt(at));
                continue;
            }
            at++;
            string.append(switch (text.charAt(at)) {
                case 'n' -> '\n';
                case 'r' -> '\r';
                case 't' -> '\t';
                default -> text.charAt(at);
            });
        }
        at++;
        return string.toString();
    }

    private Object listOrMap() {
        List<Object> list = new ArrayList<>();
        Map<Object, Object> map = new LinkedHashMap<>();
        if (take("]")) {
            return list;
        }
        boolean isMap = false;
        do {
            Object value = value();
            if (take(":")) {
                isMap = true;
                map.put(value, value());
            } else {
                list.add(value);
            }
        } while (take(","));
        take("]");
        return isMap ? map : list;
    }

    private Object number() {
        int from = at;
        at++;
        while (at < text.length() && ("0123456789.".indexOf(text.charAt(at)) >= 0
                || text.charAt(at) == 'e' || text.charAt(at) == '-' && text.charAt(at - 1) == 'e')) {
            at++;
        }
        String digits = text.substring(from, at);
        char suffix = at < text.length() ? text.charAt(at) : ' ';
        if ("LbsdfmnN".indexOf(suffix) >= 0) {
            at++;
        }
        return switch (suffix) {
            case 'L' -> (Object) Long.valueOf(digits);
            case 'b' -> Byte.valueOf(digits);
            case 's' -> Short.valueOf(digits);
            case 'd' -> Double.valueOf(digits);
            case 'f' -> Float.valueOf(digits);
            case 'm' -> new BigDecimal(digits);
            case 'n' -> new BigInteger(digits);
            default -> digits.contains(".") ? (Object) Double.valueOf(digits) : (Object) Integer.valueOf(digits);
        };
    }

    private String name() {
        int from = at;
        while (at < text.length() && (Character.isLetterOrDigit(text.charAt(at)) || text.charAt(at) == '-')) {
            at++;
        }
        return text.substring(from, at);
    }

    private Object named() {
        String name = name();
        if (!take(".")) {
            return constant(name);
        }
        String member = name();
        return switch (name) {
            case "P", "TextP" -> predicate(member);
            case "T" -> T.valueOf(member);
            case "Pop" -> Pop.valueOf(member);
            case "Pick" -> Pick.valueOf(member);
            case "Operator" -> Operator.valueOf(member);
            case "Column" -> Column.valueOf(member);
            case "Direction" -> Direction.valueOf(member);
            case "Merge" -> Merge.valueOf(member);
            case "GType" -> GType.valueOf(member);
            case "DT" -> DT.valueOf(member);
            case "WithOptions" -> switch (member) {
                case "tokens" -> WithOptions.tokens;
                case "labels" -> (Object) WithOptions.labels;
                case "ids" -> (Object) WithOptions.ids;
                default -> throw new IllegalArgumentException(text);
            };
            default -> throw new IllegalArgumentException(text);
        };
    }

    private Object constant(String name) {
        return switch (name) {
            case "true" -> (Object) Boolean.TRUE;
            case "false" -> Boolean.FALSE;
            case "null" -> null;
            case "NaN" -> Double.NaN;
            case "Infinity" -> Double.POSITIVE_INFINITY;
            case "-Infinity" -> Double.NEGATIVE_INFINITY;
            case "local" -> Scope.local;
            case "single", "list", "set" -> VertexProperty.Cardinality.valueOf(name);
            case "asc", "desc" -> Order.valueOf(name);
            case "datetime" -> {
                take("(");
                yield OffsetDateTime.parse((String) values(')').get(0));
            }
            default -> throw new IllegalArgumentException(text);
        };
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private P<?> predicate(String name) {
        take("(");
        List<Object> of = values(')');
        Object first = of.get(0);
        P predicate = switch (name) {
            case "eq" -> P.eq(first);
            case "neq" -> P.neq(first);
            case "lt" -> P.lt(first);
            case "lte" -> P.lte(first);
            case "gt" -> P.gt(first);
            case "gte" -> P.gte(first);
            case "within" -> of.size() == 1 && first instanceof List<?> list ? P.within(list) : P.within(of.toArray());
            case "without" -> of.size() == 1 && first instanceof List<?> list ? P.without(list) : P.without(of.toArray());
            case "between" -> P.between(first, of.get(1));
            case "inside" -> P.inside(first, of.get(1));
            case "outside" -> P.outside(first, of.get(1));
            case "typeOf" -> P.typeOf((GType) first);
            case "not" -> P.not((P) first);
            case "startingWith" -> TextP.startingWith((String) first);
            case "endingWith" -> TextP.endingWith((String) first);
            case "containing" -> TextP.containing((String) first);
            case "notStartingWith" -> TextP.notStartingWith((String) first);
            case "notEndingWith" -> TextP.notEndingWith((String) first);
            case "notContaining" -> TextP.notContaining((String) first);
            case "regex" -> TextP.regex((String) first);
            case "notRegex" -> TextP.notRegex((String) first);
            default -> throw new IllegalArgumentException(text);
        };
        if (take(".and(")) {
            return predicate.and((P) values(')').get(0));
        }
        return take(".or(") ? predicate.or((P) values(')').get(0)) : predicate;
    }
}
