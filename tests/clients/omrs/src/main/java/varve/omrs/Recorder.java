package varve.omrs;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import net.bytebuddy.ByteBuddy;
import net.bytebuddy.implementation.InvocationHandlerAdapter;
import net.bytebuddy.matcher.ElementMatchers;

import org.odpi.openmetadata.repositoryservices.connectors.stores.metadatacollectionstore.OMRSMetadataCollection;

/**
 * Stands before a metadata collection and notes which of its methods were called, what they threw, and what they threw
 * without having declared it.
 */
final class Recorder {

    private static final Class<OMRSMetadataCollection> CONTRACT = OMRSMetadataCollection.class;

    private final OMRSMetadataCollection real;
    private final Set<String> succeeded = new HashSet<>();
    private final Set<String> called = new HashSet<>();
    private final Set<String> thrown = new TreeSet<>();
    private final Set<String> undeclared = new TreeSet<>();

    Recorder(OMRSMetadataCollection real) {
        this.real = real;
    }

    /** A collection that passes every call on. */
    OMRSMetadataCollection collection() throws ReflectiveOperationException {
        return new ByteBuddy().subclass(CONTRACT)
            .method(ElementMatchers.isPublic().and(ElementMatchers.isDeclaredBy(CONTRACT)))
            .intercept(InvocationHandlerAdapter.of((proxy, method, arguments) -> pass(method, arguments)))
            .make().load(CONTRACT.getClassLoader()).getLoaded()
            .getConstructor(String.class).newInstance("recorder");
    }

    private Object pass(Method method, Object[] arguments) throws Throwable {
        String signature = signature(method);
        this.called.add(signature);
        try {
            Object answer = method.invoke(this.real, arguments);
            this.succeeded.add(signature);
            return answer;
        } catch (InvocationTargetException e) {
            Throwable cause = e.getCause();
            this.thrown.add(cause.getClass().getSimpleName());
            boolean declared = Arrays.stream(method.getExceptionTypes()).anyMatch(type -> type.isInstance(cause));
            if (!declared) {
                this.undeclared.add(signature + " threw " + cause.getClass().getSimpleName());
            }
            throw cause;
        }
    }

    /** Methods of the contract that were never called. */
    Set<String> neverCalled() {
        return missingFrom(this.called);
    }

    /** Methods of the contract that never answered without an exception. */
    Set<String> neverAnswered() {
        return missingFrom(this.succeeded);
    }

    /** Simple names of the exceptions seen. */
    Set<String> thrown() {
        return this.thrown;
    }

    /** Exceptions that the method called does not declare. */
    Set<String> undeclared() {
        return this.undeclared;
    }

    private static Set<String> missingFrom(Set<String> signatures) {
        return Arrays.stream(CONTRACT.getDeclaredMethods())
            .filter(method -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
            .map(Recorder::signature)
            .filter(signature -> !signatures.contains(signature))
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String signature(Method method) {
        return method.getName() + Arrays.stream(method.getParameterTypes()).map(Class::getSimpleName)
            .collect(Collectors.joining(",", "(", ")"));
    }
}
