package varve.omrs;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.properties.instances.InstanceHeader;

/** Counts what holds and what does not; a step that throws is one failure and ends that step only. */
final class Checks {

    /** Something that may throw anything. */
    interface Step {
        void run() throws Exception;
    }

    private String step = "";
    private int passed;
    private int failed;

    void step(String name, Step body) {
        this.step = name;
        try {
            body.run();
        } catch (Throwable e) {
            StackTraceElement at = Arrays.stream(e.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("varve.omrs") && frame.getFileName().endsWith("Checks.java"))
                .findFirst().orElse(e.getStackTrace()[0]);
            fail(e.getClass().getSimpleName() + " at " + at.getFileName() + ":" + at.getLineNumber() + ": " + brief(e));
        }
    }

    void equal(String what, Object wanted, Object found) {
        if (Objects.equals(wanted, found)) {
            this.passed++;
        } else {
            fail(what + " is " + found + " instead of " + wanted);
        }
    }

    void holds(String what, boolean condition) {
        equal(what, true, condition);
    }

    /** The answer has exactly these instances, in any order; none at all must be told as null. */
    void same(String what, Collection<? extends InstanceHeader> wanted, List<? extends InstanceHeader> found) {
        if (wanted.isEmpty()) {
            equal(what, null, found);
        } else {
            equal(what, guids(wanted).stream().sorted().collect(Collectors.toList()),
                  found == null ? null : guids(found).stream().sorted().collect(Collectors.toList()));
        }
    }

    /** The answer has exactly these instances in this order. */
    void inOrder(String what, List<? extends InstanceHeader> wanted, List<? extends InstanceHeader> found) {
        equal(what, wanted.isEmpty() ? null : guids(wanted), found == null ? null : guids(found));
    }

    private static List<String> guids(Collection<? extends InstanceHeader> instances) {
        List<String> guids = new ArrayList<>();
        instances.forEach(instance -> guids.add(instance.getGUID()));
        return guids;
    }

    /** The call must throw exactly this class. */
    void refused(String what, Class<? extends Throwable> wanted, Step call) {
        try {
            call.run();
            fail(what + " was not refused with " + wanted.getSimpleName());
        } catch (Throwable e) {
            if (e.getClass() == wanted) {
                this.passed++;
            } else {
                fail(what + " was refused with " + e.getClass().getSimpleName() + " instead of "
                     + wanted.getSimpleName() + ": " + brief(e));
            }
        }
    }

    private static String brief(Throwable e) {
        String message = String.valueOf(e.getMessage());
        return message.length() <= 1500 ? message : message.substring(0, 1500) + " ...";
    }

    private void fail(String line) {
        this.failed++;
        System.out.println("FAILED " + this.step + ": " + line);
    }

    /** Prints the count. */
    boolean report() {
        System.out.println(this.passed + " passed, " + this.failed + " failed");
        return this.failed == 0;
    }
}
