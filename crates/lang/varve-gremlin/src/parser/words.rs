//! Words that are values: enum tokens, with or without their class, and named constants.

use crate::tree::{
    Argument, Barrier, Cardinality, Column, Direction, Dt, GType, Merge, Operator, Order, Pick,
    Pop, Scope, T, Text,
};

/// The enum token of a word without class, as in gremlin-lang and with Groovy's static imports. No
/// word belongs to two enums.
pub(crate) fn bare_token(word: &str) -> Option<Argument> {
    Some(match word {
        "id" => Argument::T(T::Id),
        "label" => Argument::T(T::Label),
        "key" => Argument::T(T::Key),
        "value" => Argument::T(T::Value),
        "asc" | "incr" => Argument::Order(Order::Asc),
        "desc" | "decr" => Argument::Order(Order::Desc),
        "shuffle" => Argument::Order(Order::Shuffle),
        "local" => Argument::Scope(Scope::Local),
        "global" => Argument::Scope(Scope::Global),
        "first" => Argument::Pop(Pop::First),
        "last" => Argument::Pop(Pop::Last),
        "all" => Argument::Pop(Pop::All),
        "mixed" => Argument::Pop(Pop::Mixed),
        "keys" => Argument::Column(Column::Keys),
        "values" => Argument::Column(Column::Values),
        "OUT" | "from" => Argument::Direction(Direction::Out),
        "IN" | "to" => Argument::Direction(Direction::In),
        "BOTH" => Argument::Direction(Direction::Both),
        "normSack" => Argument::Barrier(Barrier::NormSack),
        "any" => Argument::Pick(Pick::Any),
        "none" => Argument::Pick(Pick::None),
        "unproductive" => Argument::Pick(Pick::Unproductive),
        "onCreate" => Argument::Merge(Merge::OnCreate),
        "onMatch" => Argument::Merge(Merge::OnMatch),
        "outV" => Argument::Merge(Merge::OutV),
        "inV" => Argument::Merge(Merge::InV),
        "single" => Argument::Cardinality(Cardinality::Single),
        "set" => Argument::Cardinality(Cardinality::Set),
        "list" => Argument::Cardinality(Cardinality::List),
        "second" => Argument::Dt(Dt::Second),
        "minute" => Argument::Dt(Dt::Minute),
        "hour" => Argument::Dt(Dt::Hour),
        "day" => Argument::Dt(Dt::Day),
        _ => {
            return Operator::from_text(word)
                .map(Argument::Operator)
                .or_else(|| GType::from_text(word).map(Argument::GType));
        }
    })
}

/// Whether this is a class of tokens, constants or predicates.
pub(crate) fn is_class(word: &str) -> bool {
    matches!(
        word,
        "T" | "Order"
            | "Scope"
            | "Pop"
            | "Column"
            | "Direction"
            | "Operator"
            | "Barrier"
            | "Pick"
            | "Merge"
            | "Cardinality"
            | "DT"
            | "GType"
            | "P"
            | "TextP"
            | "WithOptions"
            | "IO"
            | "ShortestPath"
            | "PageRank"
            | "PeerPressure"
            | "ConnectedComponent"
    )
}

/// The member `word` of a class of tokens or constants.
pub(crate) fn class_member(class: &str, word: &str) -> Option<Argument> {
    match class {
        "T" => T::from_text(word).map(Argument::T),
        "Order" => match word {
            "incr" => Some(Argument::Order(Order::Asc)),
            "decr" => Some(Argument::Order(Order::Desc)),
            _ => Order::from_text(word).map(Argument::Order),
        },
        "Scope" => Scope::from_text(word).map(Argument::Scope),
        "Pop" => Pop::from_text(word).map(Argument::Pop),
        "Column" => Column::from_text(word).map(Argument::Column),
        "Direction" => match word {
            "from" => Some(Argument::Direction(Direction::Out)),
            "to" => Some(Argument::Direction(Direction::In)),
            _ => Direction::from_text(word).map(Argument::Direction),
        },
        "Operator" => Operator::from_text(word).map(Argument::Operator),
        "Barrier" => Barrier::from_text(word).map(Argument::Barrier),
        "Pick" => Pick::from_text(word).map(Argument::Pick),
        "Merge" => Merge::from_text(word).map(Argument::Merge),
        "Cardinality" => Cardinality::from_text(word).map(Argument::Cardinality),
        "DT" => Dt::from_text(word).map(Argument::Dt),
        "GType" => GType::from_text(word).map(Argument::GType),
        _ => constant(class, word),
    }
}

/// The named constants of `with()`: strings, and integers for the options of `valueMap`.
fn constant(class: &str, word: &str) -> Option<Argument> {
    let text = match (class, word) {
        ("WithOptions", "tokens") => "~tinkerpop.valueMap.tokens",
        ("WithOptions", "indexer") => "~tinkerpop.index.indexer",
        ("WithOptions", "none" | "list") => return Some(Argument::Int(0)),
        ("WithOptions", "ids" | "map") => return Some(Argument::Int(1)),
        ("WithOptions", "labels") => return Some(Argument::Int(2)),
        ("WithOptions", "keys") => return Some(Argument::Int(4)),
        ("WithOptions", "values") => return Some(Argument::Int(8)),
        ("WithOptions", "all") => return Some(Argument::Int(15)),
        ("IO", "reader") => "~tinkerpop.io.reader",
        ("IO", "writer") => "~tinkerpop.io.writer",
        ("IO", "registry") => "~tinkerpop.io.registry",
        ("IO", "gryo") => "gryo",
        ("IO", "graphson") => "graphson",
        ("IO", "graphml") => "graphml",
        ("ShortestPath", "target") => "~tinkerpop.shortestPath.target",
        ("ShortestPath", "edges") => "~tinkerpop.shortestPath.edges",
        ("ShortestPath", "distance") => "~tinkerpop.shortestPath.distance",
        ("ShortestPath", "maxDistance") => "~tinkerpop.shortestPath.maxDistance",
        ("ShortestPath", "includeEdges") => "~tinkerpop.shortestPath.includeEdges",
        ("PageRank", "edges") => "~tinkerpop.pageRank.edges",
        ("PageRank", "propertyName") => "~tinkerpop.pageRank.propertyName",
        ("PageRank", "times") => "~tinkerpop.pageRank.times",
        ("PeerPressure", "edges") => "~tinkerpop.peerPressure.edges",
        ("PeerPressure", "propertyName") => "~tinkerpop.peerPressure.propertyName",
        ("PeerPressure", "times") => "~tinkerpop.peerPressure.times",
        ("ConnectedComponent", "component") => "gremlin.connectedComponentVertexProgram.component",
        ("ConnectedComponent", "edges") => "~tinkerpop.connectedComponent.edges",
        ("ConnectedComponent", "propertyName") => "~tinkerpop.connectedComponent.propertyName",
        _ => return None,
    };
    Some(Argument::String(Text::const_new(text)))
}
