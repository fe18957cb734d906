//! Variables, where their values are, and their static types.

use crate::functions::Types;
use crate::tree::Text;

/// The static type of an expression: kinds of values, and the kinds of items if it is a list. Null
/// is always possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kinds: Types,
    pub(crate) items: Types,
}

impl Type {
    pub(crate) const ANY: Type = Type::one(Types::ANY);
    pub(crate) const NULL: Type = Type::one(Types::NONE);
    pub(crate) const BOOLEAN: Type = Type::one(Types::BOOLEAN);
    pub(crate) const INTEGER: Type = Type::one(Types::INTEGER);
    pub(crate) const NODE: Type = Type::one(Types::NODE);
    pub(crate) const RELATIONSHIP: Type = Type::one(Types::RELATIONSHIP);
    pub(crate) const PATH: Type = Type::one(Types::PATH);

    /// Values of these kinds; items of lists are unknown.
    pub(crate) const fn one(kinds: Types) -> Type {
        Type {
            kinds,
            items: Types::ANY,
        }
    }

    /// A list with items of these kinds.
    pub(crate) const fn list_of(items: Types) -> Type {
        Type {
            kinds: Types::LIST,
            items,
        }
    }

    /// A value of either type.
    pub(crate) fn or(self, other: Type) -> Type {
        let is_list = |one: Type| one.kinds.meets(Types::LIST);
        let items = match (is_list(self), is_list(other)) {
            (true, true) => self.items | other.items,
            (true, false) => self.items,
            (false, true) => other.items,
            (false, false) => Types::ANY,
        };
        Type {
            kinds: self.kinds | other.kinds,
            items,
        }
    }

    /// The type of an item of a list.
    pub(crate) fn item(self) -> Type {
        match self.kinds.meets(Types::LIST) {
            true => Type::one(self.items),
            false => Type::ANY,
        }
    }

    /// Whether a value of these kinds, or null, is possible.
    pub(crate) fn may_be(self, kinds: Types) -> bool {
        self.kinds.is_none() || self.kinds.meets(kinds)
    }
}

/// A variable.
#[derive(Debug, Clone)]
pub(crate) struct Variable {
    pub(crate) name: Text,
    pub(crate) slot: usize,
    pub(crate) typed: Type,
}

/// The variables that a clause sees, and the width of its rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// In the order of their declaration; of two with one name, the last counts.
    variables: Vec<Variable>,
    /// The number of slots of a row.
    pub(crate) width: usize,
}

impl Scope {
    /// The variables, in the order of their declaration.
    pub(crate) fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variable with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().rev().find(|one| one.name == name)
    }

    /// Declares a variable in a slot.
    pub(crate) fn declare(&mut self, name: Text, slot: usize, typed: Type) {
        self.variables.retain(|one| one.name != name);
        self.variables.push(Variable { name, slot, typed });
    }

    /// Puts a variable that is declared into another slot.
    pub(crate) fn replace(&mut self, name: &str, slot: usize) {
        let own = self.variables.iter_mut().filter(|one| one.name == name);
        own.for_each(|one| one.slot = slot);
    }

    /// A new slot at the end of the row.
    pub(crate) fn new_slot(&mut self) -> usize {
        self.width += 1;
        self.width - 1
    }
}
