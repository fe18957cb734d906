package varve.tinkergraph;

/** What a step takes and gives. */
enum Type {
    VERTEX, EDGE, PROPERTY, VERTEX_PROPERTY, NUMBER, TEXT, BOOLEAN, DATE, LIST, MAP, PATH, ANY;

    boolean isElement() {
        return this == VERTEX || this == EDGE || this == VERTEX_PROPERTY;
    }
}
