//! The steps that give no values of their own.

use super::{Op, Scope};

impl Op {
    /// Whether the step gives some or all of the values that it gets, with the path that they had.
    pub(crate) fn passes_on(&self) -> bool {
        match self {
            Self::Dedup { scope, .. }
            | Self::Range { scope, .. }
            | Self::Tail { scope, .. }
            | Self::Sample { scope, .. }
            | Self::Order { scope, .. } => *scope == Scope::Global,
            Self::Group { into, .. }
            | Self::GroupCount { into, .. }
            | Self::Tree { into, .. }
            | Self::Profile { into } => into.is_some(),
            Self::Is(_)
            | Self::HasProperty { .. }
            | Self::HasPropertyChild { .. }
            | Self::HasToken { .. }
            | Self::HasKey(_)
            | Self::HasNot(_)
            | Self::Where { .. }
            | Self::Junction { .. }
            | Self::WhereLabels { .. }
            | Self::Coin(_)
            | Self::SimplePath { .. }
            | Self::Discard
            | Self::Identity
            | Self::As(_)
            | Self::Subgraph { .. }
            | Self::Aggregate { .. }
            | Self::Barrier
            | Self::NormSack
            | Self::SideEffect(_)
            | Self::SackWith { .. }
            | Self::Bind { .. } => true,
            _ => false,
        }
    }

    /// Whether the step tests a property, the id or the label of an element. An index may serve it.
    pub(crate) const fn is_filter(&self) -> bool {
        matches!(
            self,
            Self::HasProperty { .. } | Self::HasToken { .. } | Self::HasKey(_) | Self::HasNot(_)
        )
    }
}
