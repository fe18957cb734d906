//! Which plans the meter can stop soon after a limit is reached.

use super::{Op, Plan, Repeat};

impl Plan {
    /// Whether this plan's running time is proportional to the rows that it reads and makes. Then a
    /// limit of rows and a deadline end it soon after they are reached. Other steps can take long
    /// without a row: functions of texts, calculations, sacks, side effects, and all changes of the
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
            | Self::ValueMap { .. }
            | Self::PropertyMap(_)
            | Self::ElementMap(_)
            | Self::Key
            | Self::Value
            | Self::Constant(_)
            | Self::Identity
            | Self::As(_)
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
    /// Whether every round reads the graph: a body that only passes values on could loop forever.
    fn reads_each_round(&self) -> bool {
        matches!(self.body.ops.first(), Some(Op::Expand { .. }))
    }
}
