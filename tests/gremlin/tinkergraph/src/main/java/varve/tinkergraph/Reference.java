package varve.tinkergraph;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import javax.script.Bindings;
import javax.script.SimpleBindings;

import org.apache.commons.configuration2.BaseConfiguration;
import org.apache.tinkerpop.gremlin.jsr223.GremlinLangScriptEngine;
import org.apache.tinkerpop.gremlin.process.traversal.Step;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.Traverser;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.GraphStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.PropertiesStep;
import org.apache.tinkerpop.gremlin.process.traversal.step.map.VertexStep;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.AbstractTraversalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.AdjacentToIncidentStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.ByModulatorOptimizationStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.CountStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.EarlyLimitStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.FilterRankingStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.IdentityRemovalStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.IncidentToAdjacentStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.InlineFilterStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.LazyBarrierStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.MatchPredicateStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.OrderLimitStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.PathProcessorStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.PathRetractionStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.RepeatUnrollStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.util.TraversalHelper;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerGraph;

/** Runs traversals on TinkerGraph, also with its elements in another order. */
final class Reference {

    /** Longer traversals are interrupted: they are left out. */
    private static final long MOST_MS = 2000;

    private final GremlinLangScriptEngine engine = new GremlinLangScriptEngine();
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });
    private TinkerGraph base;

    /**
     * How TinkerGraph is asked: a random order of elements (0: its own), and with which optimisers.
     */
    record Way(int order, Optimisers optimisers) {
        static final Way PLAIN = new Way(0, Optimisers.ALL);
    }

    enum Optimisers { ALL, NO_BARRIERS, NONE }

    @SuppressWarnings("unchecked")
    private static final Class<TraversalStrategy<?>>[] OPTIMISERS = new Class[] {LazyBarrierStrategy.class, InlineFilterStrategy.class,
        PathRetractionStrategy.class, EarlyLimitStrategy.class, FilterRankingStrategy.class, RepeatUnrollStrategy.class,
        AdjacentToIncidentStrategy.class, IncidentToAdjacentStrategy.class, ByModulatorOptimizationStrategy.class,
        OrderLimitStrategy.class, PathProcessorStrategy.class, MatchPredicateStrategy.class, IdentityRemovalStrategy.class};

    void load(Sample sample) throws Exception {
        base = empty();
        if (!sample.vertices().isEmpty()) {
            Translate.of(sample.chain(), base.traversal()).iterate();
        }
    }

    private static TinkerGraph empty() {
        BaseConfiguration configuration = new BaseConfiguration();
        configuration.setProperty("gremlin.graph", TinkerGraph.class.getName());
        configuration.setProperty("gremlin.tinkergraph.vertexIdManager", Ids.class.getName());
        configuration.setProperty("gremlin.tinkergraph.edgeIdManager", Ids.class.getName());
        return TinkerGraph.open(configuration);
    }

    private static Bindings bindings(GraphTraversalSource g) {
        Bindings bindings = new SimpleBindings();
        bindings.put("g", g);
        return bindings;
    }

    private TinkerGraph copy() {
        TinkerGraph copy = empty();
        base.vertices().forEachRemaining(vertex -> {
            Vertex made = copy.addVertex(T.id, vertex.id(), T.label, vertex.label());
            vertex.properties().forEachRemaining(property -> {
                List<Object> metas = new ArrayList<>();
                property.properties().forEachRemaining(meta -> Collections.addAll(metas, meta.key(), meta.value()));
                made.property(VertexProperty.Cardinality.list, property.key(), property.value(), metas.toArray());
            });
        });
        base.edges().forEachRemaining(edge -> {
            Vertex from = copy.vertices(edge.outVertex().id()).next();
            Edge made = from.addEdge(edge.label(), copy.vertices(edge.inVertex().id()).next(), T.id, edge.id());
            edge.properties().forEachRemaining(property -> made.property(property.key(), property.value()));
        });
        return copy;
    }

    /** Null if it took too long. */
    Answer run(Chain chain, boolean changes, Way way) {
        return run(g -> Translate.of(chain, g), changes, way);
    }

    /** As TinkerPop's own parser reads the text. Null if it took too long. */
    Answer run(String text, boolean changes) {
        return run(g -> (Traversal<?, ?>) engine.eval(text, bindings(g)), changes, Way.PLAIN);
    }

    private interface Reader {
        Traversal<?, ?> read(GraphTraversalSource g) throws Exception;
    }

    private Answer run(Reader reader, boolean changes, Way way) {
        TinkerGraph graph = changes ? copy() : base;
        // CountStrategy changes answers: `V().count().is(gte(3))` gives 3 for four vertices.
        GraphTraversalSource g = graph.traversal().withoutStrategies(CountStrategy.class);
        if (way.optimisers() == Optimisers.NONE) {
            g = g.withoutStrategies(OPTIMISERS);
        } else if (way.optimisers() == Optimisers.NO_BARRIERS) {
            g = g.withoutStrategies(LazyBarrierStrategy.class);
        }
        if (way.order() != 0) {
            g = g.withStrategies(new Shuffle(new Random(way.order() * 0x9E3779B97F4A7C15L)));
        }
        Thread self = Thread.currentThread();
        Future<?> alarm = clock.schedule(self::interrupt, MOST_MS, TimeUnit.MILLISECONDS);
        try {
            List<Object> results = new ArrayList<>(reader.read(g).toList());
            if (!changes) {
                return Answer.of(results);
            }
            List<Vertex> vertices = new ArrayList<>();
            List<Edge> edges = new ArrayList<>();
            graph.vertices().forEachRemaining(vertices::add);
            graph.edges().forEachRemaining(edges::add);
            return new Answer(results, vertices, edges, null);
        } catch (Exception | StackOverflowError error) {
            if (alarm.isDone()) {
                return null;
            }
            return Answer.failed(root(error));
        } finally {
            alarm.cancel(false);
            Thread.interrupted();
        }
    }

    private static Throwable root(Throwable error) {
        return error.getCause() == null || error.getCause() == error ? error : root(error.getCause());
    }

    /** Whatever reads the graph gives it in a random order. */
    private static final class Shuffle extends AbstractTraversalStrategy<TraversalStrategy.FinalizationStrategy>
            implements TraversalStrategy.FinalizationStrategy {

        private final Random random;

        Shuffle(Random random) {
            this.random = random;
        }

        @Override
        @SuppressWarnings({"unchecked", "rawtypes"})
        public void apply(Traversal.Admin<?, ?> traversal) {
            for (Step<?, ?> step : List.copyOf((List<Step<?, ?>>) (List) traversal.getSteps())) {
                Step other = null;
                if (step instanceof GraphStep graph) {
                    Supplier<Iterator> before = supplier(graph);
                    graph.setIteratorSupplier(() -> shuffled(before.get(), random));
                } else if (step.getClass() == VertexStep.class) {
                    other = new ShuffledVertexStep<>(traversal, (VertexStep<?>) step, random);
                } else if (step.getClass() == PropertiesStep.class) {
                    other = new ShuffledPropertiesStep<>(traversal, (PropertiesStep<?>) step, random);
                }
                if (other != null) {
                    TraversalHelper.replaceStep((Step) step, other, traversal);
                    TraversalHelper.copyLabels(step, other, false);
                }
            }
        }

        @SuppressWarnings("unchecked")
        private static Supplier<Iterator> supplier(GraphStep<?, ?> step) {
            try {
                Field field = GraphStep.class.getDeclaredField("iteratorSupplier");
                field.setAccessible(true);
                return (Supplier<Iterator>) field.get(step);
            } catch (ReflectiveOperationException error) {
                throw new IllegalStateException(error);
            }
        }

        static <E> Iterator<E> shuffled(Iterator<E> iterator, Random random) {
            List<E> all = new ArrayList<>();
            iterator.forEachRemaining(all::add);
            Collections.shuffle(all, random);
            return all.iterator();
        }
    }

    private static final class ShuffledVertexStep<E extends Element> extends VertexStep<E> {
        private final Random random;

        ShuffledVertexStep(Traversal.Admin traversal, VertexStep<E> of, Random random) {
            super(traversal, of.getReturnClass(), of.getDirection(), of.getEdgeLabels());
            this.random = random;
        }

        @Override
        protected Iterator<E> flatMap(Traverser.Admin<Vertex> traverser) {
            return Shuffle.shuffled(super.flatMap(traverser), random);
        }
    }

    private static final class ShuffledPropertiesStep<E> extends PropertiesStep<E> {
        private final Random random;

        ShuffledPropertiesStep(Traversal.Admin traversal, PropertiesStep<E> of, Random random) {
            super(traversal, of.getReturnType(), of.getPropertyKeys());
            this.random = random;
        }

        @Override
        protected Iterator<E> flatMap(Traverser.Admin<Element> traverser) {
            return Shuffle.shuffled(super.flatMap(traverser), random);
        }
    }
}
