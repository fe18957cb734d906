package varve.tinkergraph;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the two answers to a traversal. */
final class Judge {

    private static final Pattern GIVEN_ID = Pattern.compile("T\\.id\\)?[,:] (\\d+)");
    private static final Set<String> CHANGES = Set.of("addV", "addE", "property", "drop", "mergeV", "mergeE");
    private static final Set<String> MODULATES = Set.of("property", "from", "to", "option");
    /** How often TinkerGraph is asked again with its elements in another order. */
    private static final int ORDERS = 12;

    enum Kind { SAME, RULE, LEFT_OUT, DIFFERENT }

    /** `detail` is the name of the rule, or which kind of difference it is. */
    record Verdict(Kind kind, String detail) {
        static final Verdict SAME = new Verdict(Kind.SAME, "");
        static final Verdict LEFT_OUT = new Verdict(Kind.LEFT_OUT, "");

        boolean isDifferent() {
            return kind == Kind.DIFFERENT;
        }
    }

    private final Reference reference;

    Judge(Reference reference) {
        this.reference = reference;
    }

    Verdict judge(Draw.Query query, Answer wanted, Answer found) {
        try {
            return compare(query, wanted, found);
        } catch (StackOverflowError error) {
            return new Verdict(Kind.LEFT_OUT, "TinkerGraph's answer contains itself");
        }
    }

    private Verdict compare(Draw.Query query, Answer wanted, Answer found) {
        if (wanted == null || found == null) {
            return wanted == found ? Verdict.LEFT_OUT : new Verdict(wanted == null ? Kind.LEFT_OUT : Kind.DIFFERENT, "time");
        }
        String text = query.chain().text();
        Set<Object> known = known(text);
        boolean listsInOrder = text.contains("order(");
        if (same(wanted, found, known, query.ordered(), !listsInOrder)) {
            return Verdict.SAME;
        }
        if (Rules.uses(query.chain(), Set.of("aggregate")) && !wanted.isError() && !found.isError()
                && same(wanted, found, known, query.ordered(), Answer.Lists.LIKE_SETS)) {
            return new Verdict(Kind.RULE, Rules.AGGREGATES.name());
        }
        Rules.Case of = new Rules.Case(query.chain(), text, wanted, found);
        if (Rules.isFaultOfReference(of)) {
            return new Verdict(Kind.LEFT_OUT, "fault of the reference");
        }
        Verdict told = told(Rules.TABLE, of);
        if (told != null) {
            return told;
        }
        if (query.changes()) {
            Answer collected = reference.run(collecting(query.chain()), true, Reference.Way.PLAIN);
            if (collected != null && same(collected, found, known, query.ordered(), true)) {
                return new Verdict(Kind.RULE, Rules.COLLECTS.name());
            }
        }
        Verdict verdict = orders(query, text, wanted, found, known);
        if (verdict.isDifferent()) {
            // The authority is what TinkerPop makes of the text.
            Answer read = reference.run(text, query.changes());
            if (read != null && same(read, found, known, query.ordered(), !listsInOrder)) {
                return new Verdict(Kind.SAME, "by the text");
            }
            told = told(Rules.LATE, of);
        }
        return told == null ? verdict : told;
    }

    private static Verdict told(List<Rules.Rule> rules, Rules.Case of) {
        return rules.stream().filter(rule -> rule.test().applies(of)).findFirst()
                .map(rule -> new Verdict(Kind.RULE, rule.name())).orElse(null);
    }

    /**
     * TinkerGraph's own answer depends on the order of its elements: the traversal has several
     * right answers.
     */
    private Verdict orders(Draw.Query query, String text, Answer wanted, Answer found, Set<Object> known) {
        boolean varies = false;
        for (int order = 0; order <= ORDERS; order++) {
            for (Reference.Optimisers optimisers : Reference.Optimisers.values()) {
                Answer other = reference.run(query.chain(), query.changes(), new Reference.Way(order, optimisers));
                if (other == null) {
                    continue;
                }
                if (same(other, found, known, query.ordered(), true)) {
                    return agrees(order, query.chain());
                }
                varies |= !same(other, wanted, known, query.ordered(), true);
            }
        }
        if (varies) {
            return new Verdict(Kind.LEFT_OUT, "varies");
        }
        String kind = wanted.isError() ? "answered, not refused" : found.isError() ? "refused" : "values";
        return new Verdict(Kind.DIFFERENT, kind);
    }

    private static Verdict agrees(int order, Chain chain) {
        if (order != 0) {
            return new Verdict(Kind.RULE, Rules.ORDER.name());
        }
        return Rules.uses(chain, Set.of("aggregate", "group", "groupCount")) ? new Verdict(Kind.RULE, Rules.SIDE_EFFECTS.name())
                : new Verdict(Kind.LEFT_OUT, "TinkerGraph differs without its optimisers");
    }

    private static boolean same(Answer a, Answer b, Set<Object> known, boolean ordered, boolean loose) {
        if (a.isError() || b.isError()) {
            return a.isError() && b.isError();
        }
        return same(a, b, known, ordered, Answer.Lists.EXACT) || loose && same(a, b, known, ordered, Answer.Lists.NO_ORDER);
    }

    private static boolean same(Answer a, Answer b, Set<Object> known, boolean ordered, Answer.Lists lists) {
        return a.lines(known, ordered, lists).equals(b.lines(known, ordered, lists));
    }

    static Set<Object> known(String text) {
        Set<Object> known = new HashSet<>();
        for (long id = 1; id < Sample.FIRST_EDGE + 16; id++) {
            if (id < 10 || id >= Sample.FIRST_EDGE) {
                known.add(id);
            }
        }
        Matcher matcher = GIVEN_ID.matcher(text);
        while (matcher.find()) {
            known.add(Long.valueOf(matcher.group(1)));
        }
        return known;
    }

    /** The chain with a barrier before and behind each step that changes the graph. */
    private static Chain collecting(Chain chain) {
        List<Chain.Step> steps = new ArrayList<>();
        boolean before = false;
        for (Chain.Step step : chain.steps()) {
            boolean changes = CHANGES.contains(step.name()) || before && MODULATES.contains(step.name());
            boolean start = steps.isEmpty() || steps.get(steps.size() - 1).name().startsWith("with");
            if (changes && !(before && MODULATES.contains(step.name())) && !start
                    || before && !changes && !step.name().equals("as")) {
                steps.add(Chain.Step.of("barrier"));
            }
            List<Object> arguments = new ArrayList<>();
            for (Object argument : step.arguments()) {
                arguments.add(argument instanceof Chain child ? collecting(child) : argument);
            }
            steps.add(new Chain.Step(step.name(), arguments));
            before = changes;
        }
        return new Chain(steps);
    }
}
