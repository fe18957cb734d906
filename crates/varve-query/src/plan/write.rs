//! Steps that change the graph.

use varve_model::Cardinality;

use super::{Name, Plan};
use crate::Value;
use crate::value::Token;

/// A constant, or the first result of a child.
#[derive(Debug, Clone)]
pub enum Given {
    /// This value.
    Value(Value),
    /// The first result of a child for the input value.
    Child(Plan),
}

/// The name of a property that is written.
#[derive(Debug, Clone)]
pub enum PropertyName {
    /// A key.
    Key(Name),
    /// The id or the label of an element that is added.
    Token(Token),
    /// The key that a child's first result names.
    Child(Plan),
}

impl std::fmt::Display for PropertyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(name) => f.write_str(name),
            Self::Token(token) => write!(f, "T.{token}"),
            Self::Child(_) => f.write_str("(computed)"),
        }
    }
}

/// A property that is written.
#[derive(Debug, Clone)]
pub struct Property {
    /// How the value joins existing ones; `None` = as the graph defines for the key.
    pub cardinality: Option<Cardinality>,
    /// Its key.
    pub name: PropertyName,
    /// Its value; null removes the property.
    pub value: Given,
    /// Its meta-properties.
    pub meta: Vec<(Name, Given)>,
    /// A meta-property that it gets if it belongs to a vertex.
    pub partition: Option<(Name, Value)>,
}

/// An end of an edge that is added.
#[derive(Debug, Clone)]
pub enum EdgeEnd {
    /// The value that has this label.
    Label(Name),
    /// A vertex or its id.
    Given(Given),
}

/// Finds elements, or adds one: `mergeV` and `mergeE`.
#[derive(Debug, Clone)]
pub struct Merge {
    /// The map to search for; `None` = the input value.
    pub search: Option<Given>,
    /// More properties to search for; a new element gets them too.
    pub also: Vec<(Name, Value)>,
    /// What a new element gets, in addition to the search map.
    pub on_create: Option<Given>,
    /// Properties that a found element gets.
    pub on_match: Option<Given>,
    /// The source vertex, where the map has `Merge.outV`.
    pub source: Option<Given>,
    /// The target vertex, where the map has `Merge.inV`.
    pub target: Option<Given>,
}

/// A change, made once for each input value.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "fields are described with their types")]
pub enum Write {
    /// Adds a vertex.
    AddVertex {
        label: Option<Given>,
        properties: Vec<Property>,
    },
    /// Adds an edge. A missing end is the input value.
    AddEdge {
        label: Given,
        source: Option<EdgeEnd>,
        target: Option<EdgeEnd>,
        properties: Vec<Property>,
    },
    /// Writes properties of the input element.
    Set(Vec<Property>),
    /// Removes the input element or property.
    Drop,
    /// Finds or adds vertices.
    MergeVertex(Merge),
    /// Finds or adds edges.
    MergeEdge(Merge),
}

/// Two methods, each for shared and for mutable references.
macro_rules! children {
    ($given:ident, $properties:ident, $children:ident, $iter:ident $(, $mut:ident)?) => {
        fn $given(given: &$($mut)? Given) -> Option<&$($mut)? Plan> {
            match given {
                Given::Child(plan) => Some(plan),
                Given::Value(_) => None,
            }
        }

        fn $properties(properties: &$($mut)? Vec<Property>) -> Vec<&$($mut)? Plan> {
            let mut all = Vec::new();
            for property in properties {
                if let PropertyName::Child(plan) = &$($mut)? property.name {
                    all.push(plan);
                }
                all.extend($given(&$($mut)? property.value));
                let meta = property.meta.$iter();
                all.extend(meta.filter_map(|(_, given)| $given(given)));
            }
            all
        }

        impl Write {
            /// The children of this step.
            pub(super) fn $children(&$($mut)? self) -> Vec<&$($mut)? Plan> {
                match self {
                    Self::AddVertex { label, properties } => {
                        let mut all: Vec<_> = label.$iter().filter_map($given).collect();
                        all.extend($properties(properties));
                        all
                    }
                    Self::AddEdge {
                        label,
                        source,
                        target,
                        properties,
                    } => {
                        let mut all: Vec<_> = $given(label).into_iter().collect();
                        for end in source.$iter().chain(target.$iter()) {
                            if let EdgeEnd::Given(given) = end {
                                all.extend($given(given));
                            }
                        }
                        all.extend($properties(properties));
                        all
                    }
                    Self::Set(properties) => $properties(properties),
                    Self::Drop => Vec::new(),
                    Self::MergeVertex(merge) | Self::MergeEdge(merge) => {
                        let parts = [
                            &$($mut)? merge.search,
                            &$($mut)? merge.on_create,
                            &$($mut)? merge.on_match,
                            &$($mut)? merge.source,
                            &$($mut)? merge.target,
                        ];
                        parts.into_iter().flatten().filter_map($given).collect()
                    }
                }
            }
        }
    };
}

children!(given, properties, children, iter);
children!(given_mut, properties_mut, children_mut, iter_mut, mut);
