//! The plans that the meter can stop soon after a limit is reached.

use super::{Op, Plan, Repeat};

impl Plan {
    /// Whether the plan's running time is proportional to the rows that it reads and makes. If so,
    /// the plan ends soon after its limit of rows or its deadline is reached. Returns `true` only
    /// if all steps are known to be like this. Others may run long without reading or making a
    /// row, such as functions of texts, calculations, sacks, side effects, and all changes of the
    /// graph.
    #[must_use]
    pub fn follows_rows(&self) -> bool {
        let mut follows = true;
        self.walk(&mut |op| follows &= op.follows_rows());
        follows
    }
}

impl Op {
    fn follows_rows(&self) -> bool {
        match self {
            Self::Source { .. }
            | Self::Expand { .. }
            | Self::EndVertex(_)
            | Self::Is(_)
            | Self::HasProperty { .. }
            | Self::HasPropertyChild { .. }
            | Self::HasToken { .. }
            | Self::HasKey(_)
            | Self::HasNot(_)
            | Self::Where { .. }
            | Self::Junction { .. }
            | Self::WhereLabels { .. }
            | Self::Dedup { .. }
            | Self::Range { .. }
            | Self::Tail { .. }
            | Self::SimplePath { .. }
            | Self::Discard
            | Self::Id
            | Self::Label
            | Self::Values(_)
            | Self::Properties(_)
            | Self::ElementMap(_)
            | Self::Key
            | Self::Value
            | Self::Constant(_)
            | Self::Identity
            | Self::As(_)
            | Self::Scoped(_)
            | Self::Select { .. }
            | Self::SelectColumn { .. }
            | Self::Project { .. }
            | Self::Path { .. }
            | Self::Unfold
            | Self::Reduce { .. }
            | Self::Order { .. }
            | Self::Barrier
            | Self::FlatMap { .. }
            | Self::Union(_)
            | Self::Coalesce(_)
            | Self::Optional(_)
            | Self::IfThenElse { .. }
            | Self::Loops(_) => true,
            Self::Group { into, .. } | Self::GroupCount { into, .. } => into.is_none(),
            Self::Repeat(repeat) => repeat.reads_each_round(),
            _ => false,
        }
    }
}

impl Repeat {
    /// Whether every round reads the graph, because the body begins with a walk along edges. A body
    /// that only passes values on could loop forever.
    fn reads_each_round(&self) -> bool {
        matches!(self.body.ops.first(), Some(Op::Expand { .. }))
    }
}
