package varve.tinkergraph;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import org.apache.tinkerpop.gremlin.jsr223.JavaTranslator;
import org.apache.tinkerpop.gremlin.process.traversal.Bytecode;
import org.apache.tinkerpop.gremlin.process.traversal.Traversal;
import org.apache.tinkerpop.gremlin.process.traversal.dsl.graph.GraphTraversalSource;
import org.apache.tinkerpop.gremlin.process.traversal.step.TraversalParent;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.PartitionStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.decoration.SubgraphStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.optimization.ProductiveByStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.strategy.verification.ReadOnlyStrategy;
import org.apache.tinkerpop.gremlin.process.traversal.TraversalStrategy;
import org.apache.tinkerpop.gremlin.structure.util.empty.EmptyGraph;

/** A drawn chain as a traversal of TinkerPop, by its bytecode. */
final class Translate {

    private Translate() {
    }

    static Traversal.Admin<?, ?> of(Chain chain, GraphTraversalSource g) {
        return JavaTranslator.of(g).translate(bytecode(chain));
    }

    private static Bytecode bytecode(Chain chain) {
        Bytecode bytecode = new Bytecode();
        boolean source = true;
        for (Chain.Step step : chain.steps()) {
            source &= step.name().startsWith("with") && !step.name().equals("with");
            Object[] arguments = source && step.name().equals("withStrategies") ? strategies(step) : arguments(step);
            if (source) {
                bytecode.addSource(step.name(), arguments);
            } else {
                bytecode.addStep(step.name(), arguments);
            }
        }
        return bytecode;
    }

    private static Object[] arguments(Chain.Step step) {
        List<Object> values = new ArrayList<>();
        for (Object argument : step.arguments()) {
            if (argument instanceof Chain child) {
                values.add(bytecode(child));
            } else {
                values.addAll(Literals.read(String.valueOf(argument)));
            }
        }
        return values.toArray();
    }

    private static Object[] strategies(Chain.Step step) {
        return step.arguments().stream().map(Translate::strategy).toArray();
    }

    private static TraversalStrategy<?> strategy(Object argument) {
        if (argument instanceof List<?> parts) {
            return subgraph(parts);
        }
        String text = (String) argument;
        if (text.startsWith("ReadOnly")) {
            return ReadOnlyStrategy.instance();
        }
        if (text.startsWith("ProductiveBy")) {
            return text.contains("'a'") ? ProductiveByStrategy.build().productiveKeys("a").create() : ProductiveByStrategy.instance();
        }
        PartitionStrategy.Builder partition = PartitionStrategy.build();
        for (String part : text.substring(text.indexOf('(') + 1, text.length() - 1).split(", (?=[a-z])")) {
            Object value = Literals.read(part.substring(part.indexOf(':') + 1)).get(0);
            switch (part.substring(0, part.indexOf(':'))) {
                case "partitionKey" -> partition.partitionKey((String) value);
                case "writePartition" -> partition.writePartition((String) value);
                case "readPartitions" -> partition.readPartitions(((Collection<?>) value).toArray(String[]::new));
                default -> partition.includeMetaProperties((Boolean) value);
            }
        }
        return partition.create();
    }

    private static TraversalStrategy<?> subgraph(List<?> parts) {
        SubgraphStrategy.Builder builder = SubgraphStrategy.build();
        String name = "";
        for (Object part : parts) {
            if (!(part instanceof Chain child)) {
                name = (String) part;
                builder.checkAdjacentVertices(!name.contains("false"));
                continue;
            }
            Traversal<?, ?> filter = anonymous(child);
            builder = criterion(builder, name, filter);
        }
        return builder.create();
    }

    /**
     * The child as a step of a traversal has it: JavaTranslator makes no traversal without a
     * source.
     */
    private static Traversal<?, ?> anonymous(Chain child) {
        Bytecode around = new Bytecode();
        around.addStep("V");
        around.addStep("flatMap", bytecode(child));
        TraversalParent step = (TraversalParent) JavaTranslator.of(EmptyGraph.instance().traversal()).translate(around).getEndStep();
        return step.getLocalChildren().get(0).clone();
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private static SubgraphStrategy.Builder criterion(SubgraphStrategy.Builder builder, String name, Traversal filter) {
        return switch (name.substring(0, name.indexOf(':'))) {
            case "vertices" -> builder.vertices(filter);
            case "edges" -> builder.edges(filter);
            default -> builder.vertexProperties(filter);
        };
    }
}
