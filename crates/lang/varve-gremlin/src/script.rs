//! The methods and members of script values. The list is closed: a script that calls another method
//! is refused before it runs.

use crate::tree::{Argument, StepName};

/// The methods of graphs, sources, transactions, elements, collections, strings and numbers. The
/// interpreter of scripts implements exactly these, and the steps of traversals.
pub const SCRIPT_METHODS: &[&str] = &[
    // Graphs, sources, transactions.
    "traversal",
    "schema",
    "tx",
    "begin",
    "open",
    "commit",
    "rollback",
    "close",
    "isOpen",
    "addVertex",
    "vertices",
    "edges",
    "vertex",
    "edge",
    "name",
    "graph",
    // Elements, properties, paths.
    "value",
    "values",
    "property",
    "properties",
    "keys",
    "key",
    "label",
    "id",
    "addEdge",
    "remove",
    "inVertex",
    "outVertex",
    "sourceVertex",
    "targetVertex",
    "isPresent",
    "orElse",
    "get",
    "objects",
    "labels",
    // Results of traversals.
    "next",
    "hasNext",
    "toList",
    "toSet",
    "toBulkSet",
    "tryNext",
    "iterate",
    "explain",
    // Collections.
    "size",
    "isEmpty",
    "contains",
    "add",
    "addAll",
    "put",
    "putAll",
    "containsKey",
    "containsValue",
    "keySet",
    "entrySet",
    "getKey",
    "getValue",
    "getOrDefault",
    "removeAll",
    "clear",
    "first",
    "last",
    "head",
    "reverse",
    "sort",
    "sum",
    "min",
    "max",
    "join",
    "unique",
    "flatten",
    "indexOf",
    "take",
    "drop",
    "plus",
    "minus",
    "intersect",
    "subList",
    "asList",
    "count",
    // Strings and numbers.
    "toString",
    "length",
    "trim",
    "toUpperCase",
    "toLowerCase",
    "startsWith",
    "endsWith",
    "replace",
    "split",
    "substring",
    "concat",
    "equals",
    "compareTo",
    "toInteger",
    "toLong",
    "toDouble",
    "toFloat",
    "toBigDecimal",
    "intValue",
    "longValue",
    "doubleValue",
    "floatValue",
    "abs",
    "round",
    "charAt",
    // The bindings of the script, jobs.
    "getVariable",
    "setVariable",
    "hasVariable",
    "updateProgress",
    "getMessage",
    // HugeGraph's schema: builders of elements.
    "propertyKey",
    "vertexLabel",
    "edgeLabel",
    "indexLabel",
    "create",
    "ifNotExist",
    "append",
    "eliminate",
    "checkExist",
    "rebuild",
    "userdata",
    "enableLabelIndex",
    "ttl",
    "ttlStartTime",
    // … of property keys.
    "asText",
    "asBoolean",
    "asByte",
    "asBlob",
    "asDouble",
    "asFloat",
    "asLong",
    "asInt",
    "asDate",
    "asUUID",
    "asUuid",
    "asObject",
    "dataType",
    "cardinality",
    "valueSingle",
    "valueList",
    "valueSet",
    "calcMax",
    "calcMin",
    "calcSum",
    "calcOld",
    "calcSet",
    "calcList",
    // … of vertex labels.
    "idStrategy",
    "useAutomaticId",
    "useCustomizeStringId",
    "useCustomizeNumberId",
    "useCustomizeUuidId",
    "usePrimaryKeyId",
    "primaryKeys",
    "nullableKeys",
    // … of edge labels.
    "link",
    "sourceLabel",
    "targetLabel",
    "singleTime",
    "multiTimes",
    "sortKeys",
    "frequency",
    "asBase",
    "asGeneral",
    "asSub",
    "withBase",
    "edgeLabelType",
    // … of index labels.
    "onV",
    "onE",
    "on",
    "by",
    "secondary",
    "range",
    "search",
    "shard",
    "unique",
    "indexType",
    // HugeGraph's schema: look-ups.
    "getPropertyKeys",
    "getVertexLabels",
    "getEdgeLabels",
    "getIndexLabels",
    "getPropertyKey",
    "getVertexLabel",
    "getEdgeLabel",
    "getIndexLabel",
];

/// The methods of graphs, elements and properties that change the graph and have no name of a step
/// that does, as `property` has.
const WRITING_METHODS: &[&str] = &["addVertex", "addEdge", "remove"];

/// Whether a method of this name may change the graph: its receiver is known only at run time, and
/// may be an element, a traversal, which has all steps as methods, or just a collection.
pub(crate) fn method_may_write(name: &str) -> bool {
    WRITING_METHODS.contains(&name) || StepName::from_text(name).is_some_and(StepName::writes)
}

/// Whether the receiver may have this method. The type of a variable or a computed value is known
/// only at run time: it may have any method, and any step, since it may be a traversal.
pub(crate) fn is_method(receiver: &Argument, name: &str) -> bool {
    match receiver {
        Argument::Variable(variable) if variable == "g" => {
            matches!(name, "tx" | "toString" | "close" | "getGraph" | "graph")
        }
        Argument::Variable(_) | Argument::Computed(_) => {
            SCRIPT_METHODS.contains(&name) || StepName::from_text(name).is_some()
        }
        _ => SCRIPT_METHODS.contains(&name),
    }
}

/// Whether this is a method of a graph or a source. A graph's name may look like a class name, so
/// the method distinguishes them.
pub(crate) fn is_of_graph(name: &str) -> bool {
    matches!(
        name,
        "traversal" | "schema" | "tx" | "addVertex" | "vertices" | "edges" | "vertex" | "edge"
    ) || crate::parser::begins_traversal(name)
}

/// Members that would expose the host of a script engine. They are refused on all values.
const REFUSED_MEMBERS: &[&str] = &["class", "metaClass", "delegate", "owner", "thisObject"];

/// Refuses members that are not values.
pub(crate) fn check_member(name: &str) -> Result<(), String> {
    if REFUSED_MEMBERS.contains(&name) {
        return Err(format!(
            "No such property: {name}; scripts see values, not their classes"
        ));
    }
    Ok(())
}
