package varve.tinkergraph;

import java.util.ArrayList;
import java.util.List;

/** Steps one after the other: a traversal, or a child of a step. */
record Chain(List<Step> steps) {

    /** An argument is a text, a chain, or a list of both that is printed without commas. */
    record Step(String name, List<Object> arguments) {

        static Step of(String name, Object... arguments) {
            return new Step(name, List.of(arguments));
        }

        void print(StringBuilder text) {
            text.append(name).append('(');
            for (int i = 0; i < arguments.size(); i++) {
                text.append(i > 0 ? ", " : "");
                printArgument(arguments.get(i), text);
            }
            text.append(')');
        }
    }

    private static void printArgument(Object argument, StringBuilder text) {
        if (argument instanceof Chain chain) {
            chain.print("__", text);
        } else if (argument instanceof List<?> parts) {
            parts.forEach(part -> printArgument(part, text));
        } else {
            text.append(argument);
        }
    }

    private void print(String source, StringBuilder text) {
        text.append(source);
        for (Step step : steps) {
            text.append('.');
            step.print(text);
        }
    }

    /** The chain as a traversal of the source `g`. */
    String text() {
        StringBuilder text = new StringBuilder();
        print("g", text);
        return text.toString();
    }

    /** All chains that are this one with one thing less, the largest parts first. */
    List<Chain> smaller() {
        List<Chain> found = new ArrayList<>();
        for (int length = steps.size() / 2; length > 0; length /= 2) {
            for (int from = 0; from + length <= steps.size(); from++) {
                List<Step> fewer = new ArrayList<>(steps.subList(0, from));
                fewer.addAll(steps.subList(from + length, steps.size()));
                found.add(new Chain(fewer));
            }
        }
        for (int at = 0; at < steps.size(); at++) {
            Step step = steps.get(at);
            for (int i = 0; i < step.arguments().size(); i++) {
                smallerArgument(at, i, step.arguments().get(i), found);
            }
        }
        return found;
    }

    private void smallerArgument(int at, int i, Object argument, List<Chain> found) {
        Step step = steps.get(at);
        List<Object> fewer = new ArrayList<>(step.arguments());
        fewer.remove(i);
        if (!step.name().startsWith("merge") && !step.name().equals("valueMap")) {
            found.add(with(at, List.of(new Step(step.name(), fewer))));
        }
        if (argument instanceof Chain child) {
            found.add(with(at, child.steps()));
            for (Chain less : child.smaller()) {
                found.add(with(at, List.of(new Step(step.name(), replaced(step.arguments(), i, less)))));
            }
        } else if (argument instanceof List<?> parts) {
            for (int p = 0; p < parts.size(); p++) {
                if (parts.get(p) instanceof Chain child) {
                    for (Chain less : child.smaller()) {
                        List<Object> changed = replaced(parts, p, less);
                        found.add(with(at, List.of(new Step(step.name(), replaced(step.arguments(), i, changed)))));
                    }
                }
            }
        }
    }

    private static List<Object> replaced(List<?> list, int i, Object value) {
        List<Object> changed = new ArrayList<>(list);
        changed.set(i, value);
        return changed;
    }

    private Chain with(int at, List<Step> instead) {
        List<Step> changed = new ArrayList<>(steps.subList(0, at));
        changed.addAll(instead);
        changed.addAll(steps.subList(at + 1, steps.size()));
        return new Chain(changed);
    }
}
