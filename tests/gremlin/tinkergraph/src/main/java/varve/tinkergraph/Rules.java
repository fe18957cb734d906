package varve.tinkergraph;

import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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

        /** Whether a child has one of these steps. */
        boolean inChild(String... steps) {
            return chain.steps().stream().anyMatch(step -> Rules.inChild(step, Set.of(steps)));
        }

        /** Whether a child of one of these steps has one of those. */
        boolean inChildOf(Set<String> parents, String... steps) {
            return Rules.inChildOf(chain, parents, Set.of(steps));
        }

        boolean oneFails() {
            return reference.isError() != server.isError();
        }

        boolean bothAnswer() {
            return !reference.isError() && !server.isError();
        }

        private boolean shows(String part) {
            return server.results() != null && server.results().toString().contains(part);
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
                    of -> of.matches("by\\('") && (of.serverFails("does not map to a value") || of.referenceFails("modulator can only be applied")
                            || of.reference().results() != null && of.reference().results().toString().contains("null")
                            || of.uses("path", "tree") && of.uses("group", "groupCount", "valueMap", "propertyMap", "elementMap", "project", "tree"))),
            new Rule("empty texts", "| `split()` | keeps empty texts", of -> of.uses("split")),
            new Rule("exact comparison", "| numbers of different types | are compared exactly",
                    of -> of.matches("0\\.1[df]|9223372036854775807L|2147483647|1\\.0e30d")),
            new Rule("mean of decimals", "| `mean()` of BigDecimal and BigInteger | keeps more digits |",
                    of -> of.uses("mean") && of.matches("[0-9][mn]")),
            new Rule("exceptions of Java", "| a step that Java cannot run, such as a cast of a vertex to a number | is refused or answers |",
                    of -> of.reference().isError() && (of.reference().error().equals("null")
                            || of.referenceFails("cannot be cast to class") || of.referenceFails("Illegal initial capacity")
                            || of.referenceFails("/ by zero") || of.referenceFails("is neither a decimal digit")
                            || of.referenceFails("because the return value of")
                            || of.referenceFails("does not contain a previous vertex") && of.uses("limit", "range", "skip", "tail") || of.referenceFails("because \""))),
            new Rule("numbers beyond a Long", "| `asNumber(GType.BIGINT)` of a number beyond a Long | is exact |",
                    of -> of.text().contains("asNumber(GType.BIGINT)")),
            new Rule("ids of properties", "The id of a vertex property consists of the vertex's id, the key",
                    of -> of.uses("properties") && (of.text().contains("T.id") || of.uses("order", "id"))),
            new Rule("paths through match", "| a path through `match()` | depends on the order that is chosen for the patterns |",
                    of -> of.uses("match") && of.uses("path", "tree", "simplePath", "cyclicPath")),
            new Rule("unknown labels", "| an unknown label in `where()`, `dedup()` and `math()` |",
                    of -> of.referenceFails("Neither the map, sideEffects, nor path has") || of.referenceFails("Could not locate path")
                            || of.referenceFails("The variable") || of.referenceFails("must have at least a start or end label")
                            || of.oneFails() && of.matches("(dedup|math)\\('[pqr]|where\\(.*as\\(")),
            new Rule("cardinality of an edge", "| `property(single, …)` of an edge | sets the property |",
                    of -> of.referenceFails("can only be set for a Vertex")),
            new Rule("regular expressions", "Java's look-around, back references, possessive quantifiers and `(?m)` are refused",
                    of -> of.serverFails("The regular expression")),
            new Rule("unused criteria", "| a criterion of a strategy that no step needs | is checked |",
                    of -> of.text().contains("Strategy(") && of.serverFails("can not be repeat()-step")),
            new Rule("subgraphs", "| `subgraph()` | keeps all values of a key |", of -> of.uses("subgraph")),
            ORDER, COLLECTS, AGGREGATES, SIDE_EFFECTS);

    /** As {@link #TABLE}, but what they match is wide: they are asked when everything else has failed. */
    static final List<Rule> LATE = List.of(
            new Rule("changes of one element by several traversers", "A step that changes the graph first collects all its input.",
                    of -> of.bothAnswer() && of.matches("property\\(.*property\\((list|set)")),
            new Rule("order of union", "| results of `union()` | come child by child |",
                    of -> of.bothAnswer() && of.uses("union") && of.uses("limit", "range", "skip", "tail")),
            new Rule("equal values of inject", "| equal values of `inject()` | stay where they are |",
                    of -> of.uses("inject") && of.uses("limit", "range", "skip", "tail", "index", "fold")),
            new Rule("side effects that grow", "| a side effect that a step reads before it is complete | is shown as it was then |",
                    of -> of.uses("inject", "choose", "local", "flatMap", "union") && of.uses("aggregate", "group", "groupCount") && of.uses("select", "cap")),
            new Rule("order of maps", "| entries of a map without `order(local)` | their order is not defined |",
                    of -> of.bothAnswer() && of.matches("unfold|index|\\(local, |order|min|max|asString|format|conjoin")
                            && of.uses("group", "groupCount", "valueMap", "propertyMap", "elementMap", "project", "tree")),
            new Rule("elements added behind a barrier", "| an element added for equal traversers behind a barrier | is added for each |",
                    of -> of.uses("addV", "addE", "mergeV", "mergeE") && (of.uses("order", "barrier", "repeat", "aggregate", "group", "groupCount") || of.matches("(add|merge)[VE].*add[VE]|[VE]\\(.*\\b(\\d+)\\b.*\\b\\2\\b.*add[VE]"))),
            new Rule("optional of nothing", "| `optional()` or `local()` of a step that makes a value of nothing, such as `count()` |",
                    of -> of.inChildOf(Set.of("optional", "local"), "count", "fold", "group", "groupCount", "sum", "tree", "cap", "inject")),
            new Rule("inject in a child", "| `inject()` in a child | gives its values for each traverser |",
                    of -> of.inChild("inject")),
            new Rule("texts of floats", "| the text of a Float or a Double | has the shortest digits that identify it, as in Java 19 |",
                    of -> of.matches("[0-9][fd]\\b") && of.matches("asString\\(|asNumber\\(|format\\(|conjoin\\(")),
            new Rule("errors of children", "| a child that is asked for one result | may run further, and its errors count |",
                    of -> of.oneFails() && of.server().isError() && !of.serverFails("nternal")
                            && of.inChild("emit", "repeat", "union", "coalesce", "optional")),
            new Rule("negative zero", "`0.0` equals `-0.0`",
                    of -> of.bothAnswer() && of.matches("-0\\.0d")),
            new Rule("sums of NaN", "| `sum()` and `mean()` of numbers with NaN | are NaN, a Double |",
                    of -> of.uses("mean", "sum") && of.shows("NaN")),
            new Rule("partitions of properties", "| `PartitionStrategy` with `includeMetaProperties` | `by(key)` reads properties",
                    of -> of.text().contains("includeMetaProperties: true") && of.matches("by\\('")),
            new Rule("productive keys", "| `ProductiveByStrategy` with `productiveKeys` |", of -> of.text().contains("productiveKeys") && of.uses("group")),
            new Rule("changes in children", "A step that changes the graph first collects all its input.",
                    of -> of.server().vertices() != null && of.inChild("drop", "property", "addV", "addE", "mergeV", "mergeE")),
            new Rule("texts with a fraction", "| `asNumber()` of a text with a fraction | is a Double |",
                    of -> of.uses("asNumber") && of.bothAnswer() && of.matches("'[-+]?\\d*(\\.\\d+|\\d\\.|\\d[eE])")),
            new Rule("lists of several types", "| `gt`, `gte`, `lt`, `lte` of lists |",
                    of -> of.bothAnswer() && of.matches("P\\.[gl]te?\\(\\[")),
            new Rule("limits in children", "| a child with `limit()` or `dedup()` | counts for each traverser |",
                    of -> of.bothAnswer() && of.inChild("limit", "range", "skip", "tail", "dedup", "sample")),
            new Rule("line breaks", "`\\R` with a number may count the two characters of `\\r\\n` apart.", of -> of.text().contains("\\R")),
            new Rule("bounds of several values", "| `inside` and `between` for a key with several values | one value meets both bounds |",
                    of -> of.matches("'[efg]', P\\.(inside|between)|'[efg]', P\\.[gl]te?\\(.*\\.and\\(")));

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
        added |= of.matches("SubgraphStrategy.*addV\\(.*property\\((list|set|single),");
        // Ids that the two sides make differ.
        boolean ids = of.uses("addV", "addE", "mergeV", "mergeE") && of.uses("asString", "format", "conjoin") && (of.shows("10000") || of.shows("e["));
        // The value that a by() begins with takes the labels of what it is unfolded to.
        path |= of.matches("by\\(__.*as\\('.'\\).*path");
        // A criterion that changes the graph.
        boolean changing = of.matches("Strategy\\([^)]*__.(add|merge|drop|property)");
        // Refused for what TinkerGraph's own strategies made of it.
        boolean remade = of.referenceFails("does not support the replacement of local traversals")
                || of.referenceFails("The parent of inject()-step") && !of.uses("inject");
        return remade || path || sets || added || ids || changing;
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

    private static boolean inChild(Chain.Step step, Set<String> steps) {
        return step.arguments().stream().anyMatch(argument -> usesArgument(argument, steps));
    }

    private static boolean inChildOf(Chain chain, Set<String> parents, Set<String> steps) {
        return chain.steps().stream().anyMatch(step -> parents.contains(step.name()) && inChild(step, steps)
                || step.arguments().stream().anyMatch(argument -> argument instanceof Chain child && inChildOf(child, parents, steps)));
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
        return Stream.concat(TABLE.stream(), LATE.stream()).filter(rule -> !plain.contains(rule.sentence().replaceAll("\\s+", " ")))
                .map(rule -> rule.name() + ": \"" + rule.sentence() + "\"").toList();
    }
}
