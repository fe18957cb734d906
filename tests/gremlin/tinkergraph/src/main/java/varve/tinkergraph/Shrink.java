package varve.tinkergraph;

import java.util.List;

/**
 * Makes the traversal and the graph of a difference smaller as long as they still differ in the
 * same way.
 */
final class Shrink {

    private static final int MOST_TRIES = 150;
    private final Reference reference;
    private final Server server;
    private final Judge judge;
    private int tries;

    Shrink(Reference reference, Server server) {
        this.reference = reference;
        this.server = server;
        judge = new Judge(reference);
    }

    record Failure(Sample sample, Draw.Query query, Answer wanted, Answer found, String kind) {
    }

    Failure shrink(Failure failure) throws Exception {
        tries = 0;
        load(failure.sample());
        Failure smallest = chain(failure);
        smallest = sample(smallest);
        return chain(smallest);
    }

    private void load(Sample sample) throws Exception {
        reference.load(sample);
        server.load(sample);
    }

    private Failure chain(Failure failure) {
        for (Chain less : failure.query().chain().smaller()) {
            if (tries >= MOST_TRIES) {
                break;
            }
            Draw.Query query = new Draw.Query(less, failure.query().ordered() && less.text().contains("order("),
                    failure.query().changes());
            Failure smaller = fails(failure, failure.sample(), query);
            if (smaller != null) {
                return chain(smaller);
            }
        }
        return failure;
    }

    private Failure sample(Failure failure) throws Exception {
        for (Sample less : failure.sample().smaller()) {
            if (tries >= MOST_TRIES * 2) {
                break;
            }
            try {
                load(less);
            } catch (Exception error) {
                continue; // an end of an edge is no longer there
            }
            Failure smaller = fails(failure, less, failure.query());
            if (smaller != null) {
                return sample(smaller);
            }
        }
        load(failure.sample());
        return failure;
    }

    private Failure fails(Failure before, Sample sample, Draw.Query query) {
        tries++;
        String text = query.chain().text();
        Answer wanted = reference.run(query.chain(), query.changes(), Reference.Way.PLAIN);
        Answer found = (query.changes() ? server.tryOut(text) : server.read(text)).join();
        Judge.Verdict verdict = judge.judge(query, wanted, found);
        boolean same = verdict.isDifferent() && verdict.detail().equals(before.kind());
        return same ? new Failure(sample, query, wanted, found, before.kind()) : null;
    }

    /** Names of the steps, without their arguments: differences of one skeleton are one finding. */
    static String skeleton(Failure failure) {
        StringBuilder text = new StringBuilder(failure.kind());
        skeleton(failure.query().chain(), text);
        return text.toString();
    }

    private static void skeleton(Chain chain, StringBuilder text) {
        for (Chain.Step step : chain.steps()) {
            text.append('.').append(step.name());
            step.arguments().forEach(argument -> skeletonArgument(argument, text));
        }
    }

    private static void skeletonArgument(Object argument, StringBuilder text) {
        if (argument instanceof Chain child) {
            text.append('(');
            skeleton(child, text);
            text.append(')');
        } else if (argument instanceof List<?> parts) {
            parts.forEach(part -> skeletonArgument(part, text));
        }
    }
}
