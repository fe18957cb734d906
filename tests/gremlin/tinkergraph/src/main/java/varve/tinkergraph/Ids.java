package varve.tinkergraph;

import java.util.concurrent.atomic.AtomicLong;

import org.apache.tinkerpop.gremlin.tinkergraph.structure.AbstractTinkerGraph;

/** Ids of TinkerGraph: numbers; those that nobody gave are far above those that somebody did. */
public final class Ids implements AbstractTinkerGraph.IdManager<Object> {

    private final AtomicLong next = new AtomicLong(1L << 40);

    @Override
    public Object getNextId(AbstractTinkerGraph graph) {
        return next.getAndIncrement();
    }

    @Override
    public Object convert(Object id) {
        return id instanceof Number number ? (Object) number.longValue() : id;
    }

    @Override
    public boolean allow(Object id) {
        return true;
    }
}
