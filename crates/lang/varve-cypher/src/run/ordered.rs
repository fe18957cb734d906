//! Rows that come in the order of a property, so that the first ones are found without the others.

use std::sync::Arc;

use crate::expression::Expr;

/// An order of rows by the property of an element in a slot. Rows whose value is null have no place
/// in it.
#[derive(Clone)]
pub(crate) struct Order<'p> {
    /// The slot of the element, or that with the value itself.
    slot: usize,
    key: Option<&'p Arc<str>>,
    pub(crate) descending: bool,
    /// Whether no row has null.
    pub(crate) has_value: bool,
}

impl<'p> Order<'p> {
    /// The order by the value of an expression; `None` if rows cannot come in it.
    pub(crate) fn of(value: &'p Expr, descending: bool) -> Option<Order<'p>> {
        let (slot, key) = match value {
            Expr::Slot(slot) => (*slot, None),
            Expr::Property(of, key) => match **of {
                Expr::Slot(slot) => (slot, Some(key)),
                _ => return None,
            },
            _ => return None,
        };
        Some(Order {
            slot,
            key,
            descending,
            has_value: false,
        })
    }

    /// Whether it depends on a slot.
    pub(crate) fn reads(&self, slot: usize) -> bool {
        self.slot == slot
    }

    /// The property, if it is one of the element in a slot.
    pub(crate) fn key_of(&self, slot: usize) -> Option<&'p Arc<str>> {
        self.key.filter(|_| self.slot == slot)
    }

    /// The same order before the columns that `items` add behind the first `kept` slots.
    pub(crate) fn before(&self, items: &'p [Expr], kept: usize) -> Option<Order<'p>> {
        let Some(at) = self.slot.checked_sub(kept) else {
            return Some(self.clone());
        };
        let order = match (items.get(at)?, self.key) {
            (Expr::Slot(slot), key) => Order {
                slot: *slot,
                key,
                ..self.clone()
            },
            (item, None) => Order::of(item, self.descending)?,
            _ => return None,
        };
        Some(Order {
            has_value: self.has_value,
            ..order
        })
    }

    /// The same order of the rows for which a condition is true.
    pub(crate) fn filtered(&self, condition: &Expr) -> Order<'p> {
        Order {
            has_value: self.has_value || self.is_needed(condition),
            ..self.clone()
        }
    }

    /// Whether a condition is true only for rows with a value.
    fn is_needed(&self, condition: &Expr) -> bool {
        let is_it = |expr: &Expr| match (expr, self.key) {
            (Expr::Property(of, name), Some(key)) => {
                matches!(**of, Expr::Slot(slot) if slot == self.slot) && name == key
            }
            (Expr::Slot(slot), None) => *slot == self.slot,
            _ => false,
        };
        match condition {
            Expr::And(all) => all.iter().any(|one| self.is_needed(one)),
            Expr::IsNull(one, true) => is_it(one),
            // A comparison with null is null.
            Expr::Compare(first, others) => {
                is_it(first) || others.iter().any(|(_, other)| is_it(other))
            }
            _ => false,
        }
    }
}
