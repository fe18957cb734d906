//! What the script layer knows by name: the methods and members of its values. The list is closed:
//! a script that calls anything else is refused before it runs.

use crate::tree::{Argument, StepName};

/// The methods of graphs, sources, transactions, elements, collections, strings and numbers:
/// whoever runs scripts has exactly these, and the steps of traversals.
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
    // HugeGraph's schema: makers of elements.
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

/// Whether the script layer has this method for such a value. Kinds that show only at run time
/// may have any of the methods, and any step: the value may be a traversal.
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

/// Whether this is a method of a graph or a source. The name of a graph may look like that of a
/// class, so what is asked of it distinguishes them.
pub(crate) fn is_of_graph(name: &str) -> bool {
    matches!(
        name,
        "traversal" | "schema" | "tx" | "addVertex" | "vertices" | "edges" | "vertex" | "edge"
    ) || crate::parser::begins_traversal(name)
}

/// Members that reach into the host of a script engine, wherever they stand.
const REFUSED_MEMBERS: &[&str] = &["class", "metaClass", "delegate", "owner", "thisObject"];

/// What is wrong with reading this member, if anything.
pub(crate) fn check_member(name: &str) -> Result<(), String> {
    if REFUSED_MEMBERS.contains(&name) {
        return Err(format!(
            "No such property: {name}; scripts see values, not their classes"
        ));
    }
    Ok(())
}
