package varve.tinkergraph;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * Random traversals on TinkerGraph and on a server: Main http://host:port document...
 * `VARVE_TINKERGRAPH_TRAVERSALS` is how many, `VARVE_TINKERGRAPH_SEED` the number of the first.
 */
public final class Main {

    /** Traversals on one graph. */
    private static final int OF_GRAPH = 100;
    /** Differences of the same skeleton are shown once, and no more than these. */
    private static final int MOST_SHOWN = (int) number("VARVE_TINKERGRAPH_SHOWN", 20);
    /** At most this part of the traversals has several right answers. */
    private static final double MOST_LEFT_OUT = 0.05;

    private final Reference reference = new Reference();
    private final Judge judge = new Judge(reference);
    private final Server server;
    private final Shrink shrink;
    private final Map<String, Integer> counts = new TreeMap<>();
    private final Map<String, Integer> failures = new LinkedHashMap<>();
    private int different;
    private int errors;
    private int empty;

    private Main(URI url) throws Exception {
        String name = "tinkergraph_" + ProcessHandle.current().pid();
        server = new Server(url, name);
        shrink = new Shrink(new Reference(), new Server(url, name + "_small"));
    }

    static long number(String name, long otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : Long.parseLong(value);
    }

    private static Random random(long number, int salt) {
        return new Random((number * 31 + salt) * 0x9E3779B97F4A7C15L);
    }

    /** The traversals from `from` to `to`, which share a graph. */
    private void graph(long from, long to) throws Exception {
        Sample sample = Sample.draw(random(from / OF_GRAPH, 1));
        reference.load(sample);
        server.load(sample);
        List<Draw.Query> queries = new ArrayList<>();
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (long number = from; number < to; number++) {
            Draw.Query query = Draw.query(random(number, 2), number % 4 == 1);
            queries.add(query);
            String text = query.chain().text();
            boolean stores = number % 20 == 1;
            answers.add(stores ? null : query.changes() ? server.tryOut(text) : server.read(text));
        }
        for (int i = 0; i < queries.size(); i++) {
            if (answers.get(i) != null) {
                compare(from + i, sample, queries.get(i), answers.get(i).join());
            }
        }
        for (int i = 0; i < queries.size(); i++) {
            if (answers.get(i) == null) {
                server.load(sample);
                compare(from + i, sample, queries.get(i), server.change(queries.get(i).chain().text()));
            }
        }
    }

    private void compare(long number, Sample sample, Draw.Query query, Answer found) throws Exception {
        Answer wanted = reference.run(query.chain(), query.changes(), Reference.Way.PLAIN);
        errors += wanted != null && wanted.isError() ? 1 : 0;
        empty += wanted != null && !wanted.isError() && wanted.results().isEmpty() ? 1 : 0;
        Judge.Verdict verdict = judge.judge(query, wanted, found);
        if (!verdict.isDifferent()) {
            counts.merge(verdict.kind() + (verdict.detail().isEmpty() ? "" : ": " + verdict.detail()), 1, Integer::sum);
            return;
        }
        String kind = verdict.detail();
        different++;
        if (failures.size() >= MOST_SHOWN) {
            return;
        }
        Shrink.Failure small = shrink.shrink(new Shrink.Failure(sample, query, wanted, found, kind));
        String skeleton = Shrink.skeleton(small);
        if (failures.merge(skeleton, 1, Integer::sum) == 1) {
            show(number, small);
        }
    }

    private static void show(long number, Shrink.Failure failure) {
        var known = Judge.known(failure.query().chain().text());
        System.out.println("VARVE_TINKERGRAPH_SEED=" + number + " VARVE_TINKERGRAPH_TRAVERSALS=1: " + failure.kind());
        System.out.println("  graph:       " + (failure.sample().vertices().isEmpty() ? "none" : failure.sample().chain().text()));
        System.out.println("  traversal:   " + failure.query().chain().text());
        System.out.println("  TinkerGraph: " + shown(failure.wanted(), failure, known));
        System.out.println("  server:      " + shown(failure.found(), failure, known));
    }

    private static String shown(Answer answer, Shrink.Failure failure, Set<Object> known) {
        String text = answer == null ? "no answer in time" : answer.isError() ? "error: " + answer.error()
                : String.join("; ", answer.lines(known, failure.query().ordered(), Answer.Lists.EXACT));
        return text.length() > 600 ? text.substring(0, 600) + "…" : text;
    }

    private boolean run(long first, long count) throws Exception {
        long started = System.nanoTime();
        long end = first + count;
        for (long from = first; from < end; from = (from / OF_GRAPH + 1) * OF_GRAPH) {
            graph(from, Math.min(end, (from / OF_GRAPH + 1) * OF_GRAPH));
        }
        System.out.printf("%d traversals in %.1f s; TinkerGraph refuses %d, %d give nothing%n", count,
                (System.nanoTime() - started) / 1e9, errors, empty);
        counts.forEach((kind, of) -> System.out.println("  " + kind.toLowerCase() + ": " + of));
        int leftOut = counts.entrySet().stream().filter(each -> each.getKey().startsWith("LEFT_OUT")).mapToInt(Map.Entry::getValue).sum();
        boolean enough = leftOut <= 10 + count * MOST_LEFT_OUT;
        if (!enough) {
            System.out.println("FAILED: " + leftOut + " traversals have several right answers");
        }
        if (different > 0) {
            System.out.println("FAILED: " + different + " traversals differ, in " + failures.size() + " ways at least");
        }
        return enough && different == 0;
    }

    public static void main(String[] arguments) {
        boolean passed = false;
        try {
            passed = check(arguments);
        } catch (Exception | StackOverflowError error) {
            error.printStackTrace(System.out);
        }
        System.out.flush();
        System.exit(passed ? 0 : 1);
    }

    private static boolean check(String[] arguments) throws Exception {
        StringBuilder documents = new StringBuilder();
        for (int i = 1; i < arguments.length; i++) {
            documents.append(Files.readString(Path.of(arguments[i]))).append('\n');
        }
        List<String> untold = Rules.withoutSentence(documents.toString());
        untold.forEach(rule -> System.out.println("FAILED: no document has the sentence of the rule " + rule));
        Main main = new Main(URI.create(arguments[0]));
        boolean passed = main.run(number("VARVE_TINKERGRAPH_SEED", 0), number("VARVE_TINKERGRAPH_TRAVERSALS", 300));
        return passed && untold.isEmpty();
    }
}
