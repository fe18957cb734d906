package varve.tinkergraph;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The differences from TinkerGraph that the documentation tells. Each row has the sentence that it
 * relies on, which must be in docs/gremlin.md or docs/compatibility.md.
 */
final class Rules {

    /** How the two sides answered a traversal. */
    record Case(Chain chain, String text, Answer reference, Answer server) {

        boolean referenceFails(String part) {
            return reference.isError() && reference.error().contains(part);
        }

        boolean serverFails(String part) {
            return server.isError() && server.error().contains(part);
        }

        boolean matches(String expression) {
            return Pattern.compile(expression).matcher(text).find();
        }

        boolean uses(String... steps) {
            return Rules.uses(chain, Set.of(steps));
        }
    }

    interface Test {
        boolean applies(Case of);
    }

    record Rule(String name, String sentence, Test test) {
    }

    /**
     * Elements in another order make another answer. The program asks TinkerGraph itself, with its
     * elements shuffled.
     */
    static final Rule ORDER = new Rule("order of elements",
            "| elements without `order()` | their order is not defined |", of -> false);
    /** The program asks TinkerGraph with a barrier before each step that changes. */
    static final Rule COLLECTS = new Rule("changes collect first",
            "A step that changes the graph first collects all its input.", of -> false);
    /** The program compares with sets as if they were lists. */
    static final Rule AGGREGATES = new Rule("aggregates are lists",
            "| what `aggregate()` keeps | is a list |", of -> false);

    /** The program asks TinkerGraph without the barriers that it adds itself. */
    static final Rule SIDE_EFFECTS = new Rule("children with side effects",
            "| a child with side effects | runs for each traverser |", of -> false);

    static final List<Rule> TABLE = List.of(
            new Rule("first value of by", "`by('key')` takes the first value",
                    of -> of.referenceFails("Multiple properties exist")),
            new Rule("texts as ids", "texts in place of numbers as ids", of -> of.text().contains("hasId('")),
            new Rule("path under a filter of edges", "| `SubgraphStrategy` with `edges` | a path shows only its vertices |",
                    of -> of.text().contains("SubgraphStrategy(") && of.text().contains("edges:")
                            && of.uses("path", "simplePath", "cyclicPath", "tree", "otherV")),
            new Rule("properties under a filter", "`format()` and `call()` see all properties, and `by(key)` reads maps",
                    of -> of.text().contains("vertexProperties:") && (of.uses("format") || of.referenceFails("modulator can only be"))),
            new Rule("edges of partitions", "`out()`, `in()` and `both()` walk only edges of the partitions that are read",
                    of -> of.text().contains("PartitionStrategy(") && of.uses("out", "in", "both")),
            new Rule("withBulk", "| `withBulk(false)` | equal traversers count as one", of -> of.uses("withBulk")),
            new Rule("changes before a limit", "| changes with a `limit` behind them | all are made |",
                    of -> of.server().vertices() != null && of.uses("limit", "range", "skip", "tail")),
            new Rule("by of a map without the key", "| `by(key)` of a map without the key | no result | null |",
                    of -> of.matches("by\\('") && of.reference().results() != null && of.reference().results().toString().contains("null")),
            new Rule("empty texts", "| `split()` | keeps empty texts", of -> of.uses("split")),
            new Rule("exact comparison", "| numbers of different types | are compared exactly",
                    of -> of.matches("0\\.1[df]|9223372036854775807L|2147483647|1\\.0e30d")),
            new Rule("mean of decimals", "| `mean()` of BigDecimal and BigInteger | keeps more digits |",
                    of -> of.uses("mean") && of.matches("[0-9][mn]")),
            new Rule("exceptions of Java", "| a step that Java cannot run, such as a cast of a vertex to a number | is refused or answers |",
                    of -> of.reference().isError() && (of.reference().error().equals("null")
                            || of.referenceFails("cannot be cast to class") || of.referenceFails("Illegal initial capacity")
                            || of.referenceFails("/ by zero") || of.referenceFails("is neither a decimal digit")
                            || of.referenceFails("because the return value of") || of.referenceFails("because \""))),
            new Rule("numbers beyond a Long", "| `asNumber(GType.BIGINT)` of a number beyond a Long | is exact |",
                    of -> of.text().contains("asNumber(GType.BIGINT)")),
            new Rule("equal values of inject", "| equal values of `inject()` | stay where they are |",
                    of -> of.uses("inject") && of.uses("limit", "range", "skip", "tail")),
            new Rule("side effects that grow", "| a side effect that a step reads before it is complete | is shown as it was then |",
                    of -> of.uses("inject", "choose", "group", "groupCount") && of.uses("aggregate", "group", "groupCount") && of.uses("select", "cap")),
            new Rule("ids of properties", "The id of a vertex property consists of the vertex's id, the key",
                    of -> of.uses("properties") && (of.text().contains("T.id") || of.uses("order", "id"))),
            new Rule("order of maps", "| entries of a map without `order(local)` | their order is not defined |",
                    of -> !of.reference().isError() && !of.server().isError() && of.matches("unfold|index|\\(local, |order|min|max")
                            && of.uses("group", "groupCount", "valueMap", "propertyMap", "elementMap", "project", "tree")),
            new Rule("elements added behind a barrier", "| an element added for equal traversers behind a barrier | is added for each |",
                    of -> of.uses("addV", "addE", "mergeV", "mergeE") && of.uses("order", "barrier", "repeat", "aggregate", "group", "groupCount")),
            new Rule("paths through match", "| a path through `match()` | depends on the order that is chosen for the patterns |",
                    of -> of.uses("match") && of.uses("path", "tree", "simplePath", "cyclicPath")),
            new Rule("subgraphs", "| `subgraph()` | keeps all values of a key |", of -> of.uses("subgraph")),
            ORDER, COLLECTS, AGGREGATES, SIDE_EFFECTS);

    /** Answers of the reference that nobody wants: a traversal that gets one is left out. */
    static boolean isFaultOfReference(Case of) {
        boolean mergesFirst = of.chain().steps().stream().filter(step -> !step.name().startsWith("with")).findFirst()
                .filter(step -> step.name().startsWith("merge")).isPresent();
        // The path behind a merge that begins a traversal begins with `false`.
        boolean path = mergesFirst && of.uses("path", "tree", "simplePath", "cyclicPath");
        // Sets of HashSet have no order, but a text made of one has.
        boolean sets = (of.uses("conjoin", "asString", "format") || of.matches("\\(local, ")) && of.uses("merge", "intersect", "difference", "disjunct", "dedup");
        // `addV()` takes a plain property() before those with a cardinality or properties of their own.
        boolean added = of.matches("addV\\(.*property\\(([a-z]+, )?'(.)'.*property\\(([a-z]+, )?'\\2'");
        return path || sets || added;
    }

    /**
     * A fault of the server that is known and not yet mended: what matches the smallest example of
     * a difference.
     */
    record NotYet(String name, String kind, Pattern traversal, String reference) {

        static NotYet of(String name, String kind, String traversal, String reference) {
            return new NotYet(name, kind, Pattern.compile(traversal), reference);
        }

        boolean matches(String failedAs, String text, Answer wanted) {
            return failedAs.startsWith(kind) && traversal.matcher(text).find()
                    && (reference.isEmpty() || wanted != null && wanted.isError() && wanted.error().contains(reference));
        }
    }

    private static final boolean STRICT = Main.number("VARVE_TINKERGRAPH_STRICT", 0) == 1;

    /** To be emptied: a row goes when its fault is mended. */
    static final List<NotYet> NOT_YET = List.of(
            NotYet.of("regular expressions are not those of Java", "", "TextP\\.(regex|notRegex)", ""),
            NotYet.of("texts of numbers are not those of Java", "", "asString\\(|asNumber\\(|format\\(", ""),
            NotYet.of("reducing steps in repeat()", "answered", "repeat", "can not be repeat()-step"),
            NotYet.of("unknown labels", "answered", "", "Neither the map, sideEffects, nor path has"),
            NotYet.of("unknown labels", "answered", "", "Could not locate path"),
            NotYet.of("unknown labels", "answered", "", "The variable"),
            NotYet.of("unknown labels", "answered", "", "must have at least a start or end label"),
            NotYet.of("unknown labels", "values", "math\\('[pqr]", ""),
            NotYet.of("empty bags of group()", "values", "group.*by\\(__.(skip|tail|limit|range)", ""),
            NotYet.of("groupCount('v') without a value", "answered", "", "does not map to a value"),
            NotYet.of("the partition's key may be asked for", "answered", "Partition", "Cannot explicitly request the partitionKey"),
            NotYet.of("path() in a child of by()", "", "by\\(.*(path|simplePath|cyclicPath)\\(", ""),
            NotYet.of("mean() of decimals", "values", "mean\\(", ""),
            NotYet.of("optional() of nothing", "", "optional\\(", ""),
            NotYet.of("inject() in a child", "values", "\\(__.*inject\\(", ""),
            NotYet.of("several properties of an edge", "answered", "", "Multi-properties are not supported"),
            NotYet.of("by(T.id) of what has none", "answered", "by", "TokenTraversal support of"),
            NotYet.of("by(key) of a map without the key", "values", "path\\(.*by\\('", ""),
            NotYet.of("tree() is a map", "", "tree\\(", ""),
            NotYet.of("branch() of nothing", "", "branch\\(", ""),
            NotYet.of("later by() of order()", "", "order\\(\\).by\\(.*by\\(", ""),
            NotYet.of("ProductiveByStrategy(productiveKeys)", "values", "productiveKeys", ""),
            NotYet.of("min() and max() of several types", "values", "(min|max)\\(|Operator.(min|max)", ""),
            NotYet.of("select() of one label twice", "", "select\\(.*'(.)', '\\1'", ""),
            NotYet.of("errors behind the first result of a child", "refused", "(by|where|filter|not|and|or)\\(__.*(emit|repeat|union)", ""),
            NotYet.of("hasValue() of an element", "refused", "hasValue", ""),
            NotYet.of("dedup(local) of one value", "values", "dedup\\(local", ""),
            NotYet.of("sums of decimals and doubles", "values", "sum|mult|minus|div|math", ""),
            NotYet.of("reverse() of a set", "values", "reverse\\(", ""),
            NotYet.of("by(key) of what has no keys", "answered", "by\\(", "modulator can only be applied"),
            NotYet.of("both bounds for one of several values", "values", "has\\('.', P\\.(inside|between|gte?|lte?)", ""),
            NotYet.of("union() as the first step", "values", "g\\.(with.*)?union", ""),
            NotYet.of("replace() of an empty text", "values", "replace\\(''", ""),
            NotYet.of("local() of nothing", "values", "local\\(__\\.(count|fold|group)", ""),
            NotYet.of("order of lists with values of several types", "values", "P\\.[gl]te?\\(\\[", ""),
            NotYet.of("unknown labels", "refused", "(dedup|math)\\('[pqr]", ""),
            NotYet.of("by() behind as()", "refused", "as\\('.'\\)\\.by\\(", ""),
            NotYet.of("unknown labels", "values", "where\\(.*as\\(", ""),
            NotYet.of("a cardinality for an edge", "answered", "property", "can only be set for a Vertex"),
            NotYet.of("-0.0 is 0.0", "values", "-0\\.0d", ""),
            NotYet.of("strategies", "", "SubgraphStrategy|PartitionStrategy", ""),
            NotYet.of("several values behind a fused step", "values", "(out|in|both|V|E)\\(.*values\\(", ""),
            NotYet.of("bulks of children with side effects", "values", "(local|flatMap|coalesce|optional|union|map|sideEffect)\\(.*(aggregate|group)", ""));

    /** The fault that explains a difference, or null. */
    static NotYet notYet(String kind, String text, Answer wanted, boolean isSmall) {
        if (STRICT) {
            return null;
        }
        return NOT_YET.stream().filter(known -> (isSmall || !known.reference().isEmpty()) && known.matches(kind, text, wanted))
                .findFirst().orElse(null);
    }

    private Rules() {
    }

    static boolean uses(Chain chain, Set<String> steps) {
        for (Chain.Step step : chain.steps()) {
            if (steps.contains(step.name()) || step.arguments().stream().anyMatch(argument -> usesArgument(argument, steps))) {
                return true;
            }
        }
        return false;
    }

    private static boolean usesArgument(Object argument, Set<String> steps) {
        if (argument instanceof Chain child) {
            return uses(child, steps);
        }
        return argument instanceof List<?> parts && parts.stream().anyMatch(part -> usesArgument(part, steps));
    }

    /** The rules whose sentence is not in the documents. */
    static List<String> withoutSentence(String documents) {
        String plain = documents.replaceAll("\\s+", " ");
        return TABLE.stream().filter(rule -> !plain.contains(rule.sentence().replaceAll("\\s+", " ")))
                .map(rule -> rule.name() + ": \"" + rule.sentence() + "\"").toList();
    }
}
