package varve.tinkergraph;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.tinkerpop.gremlin.process.traversal.Path;
import org.apache.tinkerpop.gremlin.structure.Edge;
import org.apache.tinkerpop.gremlin.structure.Element;
import org.apache.tinkerpop.gremlin.structure.Graph;
import org.apache.tinkerpop.gremlin.structure.Property;
import org.apache.tinkerpop.gremlin.structure.T;
import org.apache.tinkerpop.gremlin.structure.Vertex;
import org.apache.tinkerpop.gremlin.structure.VertexProperty;

/**
 * What a traversal gave: results, or an error; and the graph afterwards, if it may have changed.
 */
record Answer(List<Object> results, List<Vertex> vertices, List<Edge> edges, String error) {

    static Answer of(List<Object> results) {
        return new Answer(results, null, null, null);
    }

    static Answer failed(Throwable error) {
        return new Answer(null, null, null, String.valueOf(error.getMessage()));
    }

    /** How lists are compared: as they are, without their order, or also as if sets were lists. */
    enum Lists { EXACT, NO_ORDER, LIKE_SETS }

    boolean isError() {
        return error != null;
    }

    /**
     * The answer as lines that two answers share if they are the same. `known` are the ids that
     * were given: other elements go by what they contain.
     */
    List<String> lines(Set<Object> known, boolean ordered, Lists lists) {
        Writer writer = new Writer(known, lists);
        List<String> lines = new ArrayList<>();
        for (Object result : results) {
            lines.add(writer.text(result));
        }
        if (!ordered) {
            Collections.sort(lines);
        }
        if (vertices != null) {
            List<String> graph = new ArrayList<>();
            vertices.forEach(vertex -> graph.add(writer.content(vertex)));
            edges.forEach(edge -> graph.add(writer.content(edge)));
            Collections.sort(graph);
            graph.forEach(element -> lines.add("afterwards: " + element));
        }
        return lines;
    }

    private record Writer(Set<Object> known, Lists lists) {

        String text(Object value) {
            if (value == null) {
                return "null";
            }
            if (value instanceof String text) {
                return "'" + text + "'";
            }
            if (value instanceof Number || value instanceof Boolean) {
                return value + value.getClass().getSimpleName().replace("Integer", "").replace("Boolean", "");
            }
            if (value instanceof Map<?, ?> map) {
                return entries(map);
            }
            if (value instanceof Map.Entry<?, ?> entry) {
                return entries(Collections.singletonMap(entry.getKey(), entry.getValue()));
            }
            if (value instanceof Path path) {
                List<String> parts = new ArrayList<>();
                for (int i = 0; i < path.size(); i++) {
                    List<String> labels = new ArrayList<>(path.labels().get(i));
                    Collections.sort(labels);
                    parts.add(labels + text(path.get(i)));
                }
                return "path" + parts;
            }
            if (value instanceof Collection<?> collection) {
                List<String> parts = new ArrayList<>();
                collection.forEach(part -> parts.add(text(part)));
                boolean set = isSet(value);
                if (set || lists != Lists.EXACT) {
                    Collections.sort(parts);
                }
                return (set && lists != Lists.LIKE_SETS ? "set" : "") + parts;
            }
            return other(value);
        }

        private static boolean isSet(Object value) {
            return value instanceof Set && !value.getClass().getSimpleName().equals("BulkSet");
        }

        private String other(Object value) {
            if (value instanceof VertexProperty<?> property) {
                return "vp[" + property.key() + "->" + text(property.value()) + "]";
            }
            if (value instanceof Vertex vertex) {
                return known.contains(vertex.id()) ? "v[" + vertex.id() + "]" : "v[new " + vertex.label() + "]";
            }
            if (value instanceof Edge edge) {
                return known.contains(edge.id()) ? "e[" + edge.id() + "]" : "e[new " + edge.label() + "]";
            }
            if (value instanceof Property<?> property) {
                return "p[" + property.key() + "->" + text(property.value()) + "]";
            }
            if (value instanceof Graph graph) {
                List<String> parts = new ArrayList<>();
                graph.vertices().forEachRemaining(vertex -> parts.add(content(vertex)));
                graph.edges().forEachRemaining(edge -> parts.add(content(edge)));
                Collections.sort(parts);
                return "graph" + parts;
            }
            return value.getClass().getSimpleName().replace("ReferenceVertex", "v") + "(" + value + ")";
        }

        private String entries(Map<?, ?> map) {
            List<String> parts = new ArrayList<>();
            map.forEach((key, value) -> parts.add(
                    (key instanceof T token ? "T." + token : text(key)) + ": " + text(value)));
            Collections.sort(parts);
            return "{" + String.join(", ", parts) + "}";
        }

        String content(Element element) {
            List<String> parts = new ArrayList<>();
            element.properties().forEachRemaining(property -> {
                List<String> metas = new ArrayList<>();
                if (property instanceof VertexProperty<?> several) {
                    several.properties().forEachRemaining(meta -> metas.add(meta.key() + "=" + text(meta.value())));
                    Collections.sort(metas);
                }
                parts.add(property.key() + "=" + text(property.value()) + (metas.isEmpty() ? "" : metas));
            });
            Collections.sort(parts);
            String ends = element instanceof Edge edge ? " " + text(edge.outVertex()) + "->" + text(edge.inVertex()) : "";
            return text(element) + " " + element.label() + ends + " " + parts;
        }
    }
}
