//! Closed sets of names with their texts: steps, source instructions, predicates, enum tokens.

/// Declares an enum of names with `text`, `from_text` and `ALL`.
macro_rules! names {
    ($(#[$note:meta])* $kind:ident { $($(#[$each:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$note])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $kind {
            $($(#[$each])* #[doc = concat!("`", $text, "`")] $variant),+
        }

        impl $kind {
            /// Every name, in the order of declaration.
            pub const ALL: &'static [$kind] = &[$($kind::$variant),+];

            const TEXTS: &'static [&'static str] = &[$($text),+];

            /// The text of the name.
            #[must_use]
            pub const fn text(self) -> &'static str {
                Self::TEXTS[self as usize]
            }

            /// The name with this text, case-sensitive.
            #[must_use]
            pub fn from_text(text: &str) -> Option<$kind> {
                static INDEX: crate::names::NameIndex = crate::names::NameIndex::new($kind::TEXTS);
                INDEX.find(text, $kind::TEXTS).map(|place| $kind::ALL[place])
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.text())
            }
        }
    };
}

pub(crate) use names;

/// Slots of a [`NameIndex`]: more than twice the names of the longest list, so that probe sequences
/// stay short.
const INDEX_SLOTS: usize = 512;

/// An open-addressing hash table from texts to their indexes, built at compile time.
pub(crate) struct NameIndex {
    slots: [u8; INDEX_SLOTS],
}

/// An empty slot. No list has this many names.
const VACANT: u8 = u8::MAX;

impl NameIndex {
    pub(crate) const fn new(texts: &[&str]) -> NameIndex {
        assert!(texts.len() < VACANT as usize && texts.len() * 2 < INDEX_SLOTS);
        let mut slots = [VACANT; INDEX_SLOTS];
        let mut place = 0;
        while place < texts.len() {
            let mut slot = name_hash(texts[place].as_bytes());
            while slots[slot] != VACANT {
                slot = (slot + 1) % INDEX_SLOTS;
            }
            slots[slot] = place as u8;
            place += 1;
        }
        NameIndex { slots }
    }

    pub(crate) fn find(&self, text: &str, texts: &[&str]) -> Option<usize> {
        let mut slot = name_hash(text.as_bytes());
        while self.slots[slot] != VACANT {
            let place = usize::from(self.slots[slot]);
            if texts[place] == text {
                return Some(place);
            }
            slot = (slot + 1) % INDEX_SLOTS;
        }
        None
    }
}

/// A hash of a name's length and its first, middle and last bytes, which distinguish most names.
const fn name_hash(text: &[u8]) -> usize {
    let length = text.len();
    if length == 0 {
        return 0;
    }
    let (first, middle, last) = (text[0], text[length / 2], text[length - 1]);
    (length * 31 + first as usize * 7 + middle as usize * 61 + last as usize * 13) % INDEX_SLOTS
}

names! {
    /// The name of a step. Modulators such as `by` and `as` are steps too, as in bytecode.
    StepName {
        AddE = "addE", AddV = "addV", Aggregate = "aggregate", All = "all", And = "and", Any = "any",
        As = "as", AsBool = "asBool", AsDate = "asDate", AsNumber = "asNumber", AsString = "asString",
        Barrier = "barrier", Both = "both", BothE = "bothE", BothV = "bothV", Branch = "branch",
        By = "by", Call = "call", Cap = "cap", Choose = "choose", Coalesce = "coalesce", Coin = "coin",
        Combine = "combine", Concat = "concat", Conjoin = "conjoin",
        ConnectedComponent = "connectedComponent", Constant = "constant", Count = "count",
        CyclicPath = "cyclicPath", DateAdd = "dateAdd", DateDiff = "dateDiff", Dedup = "dedup",
        Difference = "difference", Discard = "discard", Disjunct = "disjunct", Drop = "drop", E = "E",
        Element = "element", ElementMap = "elementMap", Emit = "emit", Fail = "fail",
        Filter = "filter", FlatMap = "flatMap", Fold = "fold", Format = "format", From = "from",
        Group = "group", GroupCount = "groupCount", Has = "has", HasId = "hasId", HasKey = "hasKey",
        HasLabel = "hasLabel", HasNot = "hasNot", HasValue = "hasValue", Id = "id",
        Identity = "identity", In = "in", InE = "inE", InV = "inV", Index = "index",
        Inject = "inject", Intersect = "intersect", Io = "io", Is = "is", Key = "key",
        Label = "label", LTrim = "lTrim", Length = "length", Limit = "limit", Local = "local",
        Loops = "loops", Map = "map", Match = "match", Math = "math", Max = "max", Mean = "mean",
        Merge = "merge", MergeE = "mergeE", MergeV = "mergeV", Min = "min", None = "none",
        Not = "not", Option = "option", Optional = "optional", Or = "or", Order = "order",
        OtherV = "otherV", Out = "out", OutE = "outE", OutV = "outV", PageRank = "pageRank",
        Path = "path", PeerPressure = "peerPressure", Product = "product", Profile = "profile",
        Project = "project", Properties = "properties", Property = "property",
        PropertyMap = "propertyMap", RTrim = "rTrim", Range = "range", Read = "read",
        Repeat = "repeat", Replace = "replace", Reverse = "reverse", Sack = "sack",
        Sample = "sample", Select = "select", ShortestPath = "shortestPath",
        SideEffect = "sideEffect", SimplePath = "simplePath", Skip = "skip", Split = "split",
        Store = "store", Subgraph = "subgraph", Substring = "substring", Sum = "sum", Tail = "tail",
        TimeLimit = "timeLimit", Times = "times", To = "to", ToE = "toE", ToLower = "toLower",
        ToUpper = "toUpper", ToV = "toV", Tree = "tree", Trim = "trim", Unfold = "unfold",
        Union = "union", Until = "until", V = "V", Value = "value", ValueMap = "valueMap",
        Values = "values", Where = "where", With = "with", Write = "write",
    }
}

impl StepName {
    /// Whether the step changes the graph. No other step is bound to a change.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(
            self,
            Self::AddE | Self::AddV | Self::Drop | Self::MergeE | Self::MergeV | Self::Property
        )
    }
}

names! {
    /// The name of an instruction that configures a traversal source.
    SourceName {
        With = "with", WithBulk = "withBulk", WithPath = "withPath", WithSack = "withSack",
        WithSideEffect = "withSideEffect", WithStrategies = "withStrategies",
        WithoutStrategies = "withoutStrategies",
    }
}

names! {
    /// The name of a predicate of `P` or `TextP`; `and`, `or` and `not` are nodes of the tree.
    PredicateName {
        Eq = "eq", Neq = "neq", Lt = "lt", Lte = "lte", Gt = "gt", Gte = "gte", Inside = "inside",
        Outside = "outside", Between = "between", Within = "within", Without = "without",
        TypeOf = "typeOf", Containing = "containing", NotContaining = "notContaining",
        StartingWith = "startingWith", NotStartingWith = "notStartingWith",
        EndingWith = "endingWith", NotEndingWith = "notEndingWith", Regex = "regex",
        NotRegex = "notRegex",
        /// HugeGraph's `Text.contains`: the value contains this word.
        TextContains = "textContains",
        /// HugeGraph's `ConditionP.contains`: the collection has this member.
        Contains = "contains",
    }
}

impl PredicateName {
    /// Whether this is a predicate of `TextP` in Gremlin.
    #[must_use]
    pub const fn is_text(self) -> bool {
        let place = self as u8;
        place >= PredicateName::Containing as u8 && place <= PredicateName::NotRegex as u8
    }
}

names! {
    /// `T`: the id and the label of an element, the key and the value of a property.
    T { Id = "id", Label = "label", Key = "key", Value = "value" }
}
names! {
    /// `Order`.
    Order { Asc = "asc", Desc = "desc", Shuffle = "shuffle" }
}
names! {
    /// `Scope`.
    Scope { Local = "local", Global = "global" }
}
names! {
    /// `Pop`: which of several objects with one label `select` takes.
    Pop { First = "first", Last = "last", All = "all", Mixed = "mixed" }
}
names! {
    /// `Column`: the keys or values of a map, or labels and objects of a path.
    Column { Keys = "keys", Values = "values" }
}
names! {
    /// `Direction` of an edge. `from` is `OUT` and `to` is `IN`.
    Direction { Out = "OUT", In = "IN", Both = "BOTH" }
}
names! {
    /// `Operator`: how two values become one.
    Operator {
        AddAll = "addAll", And = "and", Assign = "assign", Div = "div", Max = "max", Min = "min",
        Minus = "minus", Mult = "mult", Or = "or", Sum = "sum", SumLong = "sumLong",
    }
}
names! {
    /// `Barrier`.
    Barrier { NormSack = "normSack" }
}
names! {
    /// `Pick`: options of `choose` that are tokens, not values.
    Pick { Any = "any", None = "none", Unproductive = "unproductive" }
}
names! {
    /// `Merge`: options of `mergeV` and `mergeE`, and ends of a merged edge.
    Merge { OnCreate = "onCreate", OnMatch = "onMatch", OutV = "outV", InV = "inV" }
}
names! {
    /// `Cardinality` of a vertex property.
    Cardinality { Single = "single", Set = "set", List = "list" }
}
names! {
    /// `DT`: the unit of `dateAdd`.
    Dt { Second = "second", Minute = "minute", Hour = "hour", Day = "day" }
}
names! {
    /// `GType`: the type names of `typeOf` and `asNumber`.
    GType {
        BigDecimal = "BIGDECIMAL", BigInt = "BIGINT", Binary = "BINARY", Boolean = "BOOLEAN",
        Byte = "BYTE", Char = "CHAR", DateTime = "DATETIME", Double = "DOUBLE",
        Duration = "DURATION", Edge = "EDGE", Float = "FLOAT", Graph = "GRAPH", Int = "INT",
        List = "LIST", Long = "LONG", Map = "MAP", Null = "NULL", Number = "NUMBER", Path = "PATH",
        Property = "PROPERTY", Set = "SET", Short = "SHORT", String = "STRING", Tree = "TREE",
        Uuid = "UUID", Vertex = "VERTEX", VProperty = "VPROPERTY",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_name_is_found_by_its_text() {
        for name in StepName::ALL {
            assert_eq!(StepName::from_text(name.text()), Some(*name));
        }
        assert_eq!(StepName::from_text("v"), None);
        assert_eq!(StepName::from_text(""), None);
        assert_eq!(StepName::from_text("outt"), None);
    }
}
