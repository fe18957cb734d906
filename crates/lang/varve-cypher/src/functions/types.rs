//! Static types: which kinds of values an expression may have.

use std::fmt;
use std::ops::BitOr;

/// A set of kinds of values, without null, which every expression may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Types(pub(crate) u32);

impl Types {
    pub(crate) const NONE: Types = Types(0);
    pub(crate) const BOOLEAN: Types = Types(1);
    pub(crate) const INTEGER: Types = Types(1 << 1);
    pub(crate) const FLOAT: Types = Types(1 << 2);
    pub(crate) const STRING: Types = Types(1 << 3);
    pub(crate) const LIST: Types = Types(1 << 4);
    pub(crate) const MAP: Types = Types(1 << 5);
    pub(crate) const NODE: Types = Types(1 << 6);
    pub(crate) const RELATIONSHIP: Types = Types(1 << 7);
    pub(crate) const PATH: Types = Types(1 << 8);
    pub(crate) const DATE: Types = Types(1 << 9);
    pub(crate) const LOCAL_TIME: Types = Types(1 << 10);
    pub(crate) const TIME: Types = Types(1 << 11);
    pub(crate) const LOCAL_DATETIME: Types = Types(1 << 12);
    pub(crate) const DATETIME: Types = Types(1 << 13);
    pub(crate) const DURATION: Types = Types(1 << 14);
    pub(crate) const POINT: Types = Types(1 << 15);
    /// All kinds. Bytes have no constant of their own, since no function takes them alone.
    pub(crate) const ANY: Types = Types((1 << 17) - 1);
    pub(crate) const NUMBER: Types = Types::INTEGER.or(Types::FLOAT);
    /// Dates, times and their combinations; no durations.
    pub(crate) const INSTANT: Types = Types(0b1_1111 << 9);
    pub(crate) const TEMPORAL: Types = Types::INSTANT.or(Types::DURATION);
    pub(crate) const ELEMENT: Types = Types::NODE.or(Types::RELATIONSHIP);

    /// The union.
    pub(crate) const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// The intersection.
    pub(crate) const fn and(self, other: Types) -> Types {
        Types(self.0 & other.0)
    }

    /// Whether no value other than null is possible.
    pub(crate) const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether both have a kind of values in common.
    pub(crate) const fn meets(self, other: Types) -> bool {
        !self.and(other).is_none()
    }

    /// Whether all kinds are among the other ones.
    pub(crate) const fn is_in(self, other: Types) -> bool {
        self.0 & !other.0 == 0
    }
}

/// The names of kinds of values, in the order of their bits.
const NAMES: [&str; 16] = [
    "BOOLEAN",
    "INTEGER",
    "FLOAT",
    "STRING",
    "LIST<ANY>",
    "MAP",
    "NODE",
    "RELATIONSHIP",
    "PATH",
    "DATE",
    "LOCAL TIME",
    "ZONED TIME",
    "LOCAL DATETIME",
    "ZONED DATETIME",
    "DURATION",
    "POINT",
];

impl fmt::Display for Types {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if Types::ANY.is_in(*self) {
            return out.write_str("ANY");
        }
        let each = NAMES.iter().enumerate();
        let each = each.filter(|(bit, _)| self.meets(Types(1 << bit)));
        for (at, (_, name)) in each.enumerate() {
            write!(out, "{}{name}", if at == 0 { "" } else { " | " })?;
        }
        Ok(())
    }
}

impl BitOr for Types {
    type Output = Types;

    fn bitor(self, other: Types) -> Types {
        self.or(other)
    }
}

/// The static type of a function's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Returns {
    /// One of these kinds.
    One(Types),
    /// A list whose items are of these kinds.
    ListOf(Types),
    /// The type of an argument, by its position.
    Argument(usize),
    /// The type of the items of an argument that is a list.
    ItemOf(usize),
    /// The union of the types of all arguments.
    Union,
}

impl Returns {
    /// The type as a text, as far as it does not depend on the arguments of a call.
    pub(crate) fn text(self, parameters: &[Types]) -> String {
        match self {
            Returns::One(types) => types.to_string(),
            Returns::ListOf(items) => format!("LIST<{items}>"),
            Returns::Argument(at) => parameters.get(at).unwrap_or(&Types::ANY).to_string(),
            Returns::ItemOf(_) | Returns::Union => Types::ANY.to_string(),
        }
    }
}
