package varve.clients;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Objects;

import org.apache.hugegraph.exception.ServerException;

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
            fail(e.getClass().getSimpleName() + ": " + e.getMessage());
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

    /** The server must refuse the call with this status and a message that holds the fragment. */
    void refused(String what, int status, String fragment, Step call) {
        try {
            call.run();
            fail(what + " was not refused");
        } catch (Exception e) {
            // The client's schema builders wrap what they throw.
            Throwable cause = e;
            while (!(cause instanceof ServerException) && unwrapped(cause) != null) {
                cause = unwrapped(cause);
            }
            if (cause instanceof ServerException) {
                refusal(what, status, fragment, (ServerException) cause);
            } else {
                fail(what + " failed in the client: " + e);
            }
        }
    }

    private static Throwable unwrapped(Throwable e) {
        if (e instanceof UndeclaredThrowableException) {
            return ((UndeclaredThrowableException) e).getUndeclaredThrowable();
        }
        return e instanceof InvocationTargetException ? e.getCause() : null;
    }

    private void refusal(String what, int status, String fragment, ServerException e) {
        equal(what + ": status", status, e.status());
        holds(what + ": '" + e.getMessage() + "' holds '" + fragment + "'",
              String.valueOf(e.getMessage()).contains(fragment));
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
