//! What a request does, and the budget that it draws from.

/// The action of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Reads, and changes nothing.
    Read,
    /// Changes elements, instances, variables or tasks.
    Write,
    /// Changes the schema of a graph or the types of the repository.
    Schema,
    /// Creates, clears, drops or configures graphs and repositories; administers users; changes the
    /// server's behaviour.
    Administer,
    /// Reads or writes, depending on the body. The handler decides once it has parsed the body.
    Query,
}

impl Action {
    /// Its name, as in the audit trail.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Schema => "schema",
            Self::Administer => "administer",
            Self::Query => "query",
        }
    }

    /// Whether a request changes something.
    pub const fn changes(self) -> bool {
        matches!(self, Self::Write | Self::Schema | Self::Administer)
    }

    /// Whether a request may change something.
    pub const fn may_change(self) -> bool {
        !matches!(self, Self::Read)
    }
}

/// The budget from which a request draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// No budget: small answers about the server itself, which must work under overload too, and
    /// resources with limits of their own.
    Control,
    /// The reads' budget.
    Read,
    /// The writes' budget.
    Write,
}
