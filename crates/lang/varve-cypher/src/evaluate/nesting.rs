//! The depth and the size of lists and maps. Values are compared, printed and dropped by recursion,
//! so that too deep ones would overflow the stack. A value may have another one in many places, so
//! that a small one may be very large where it is printed. Each is checked when it is made of
//! others.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use crate::error::{Outcome, argument_error};
use crate::value::{Graph, Map, Value};

/// The deepest nesting of lists and maps that an expression may make.
const DEPTH_MAX: usize = 1_000;
/// The most items that nested lists and maps may have, each in each place where it is.
const SIZE_MAX: usize = 1 << 24;
/// Items of a value from which on its extent is remembered.
const LARGE: usize = 1_024;
/// The most extents that a thread remembers.
const REMEMBERED: usize = 32;
/// Items after which the deadline is checked.
const CHECKED: usize = 65_536;
/// Items of one walk from which on it remembers what it met: a value may be in many others.
const SHARED: usize = 64;

/// How far a value extends.
#[derive(Debug, Clone, Copy, Default)]
struct Extent {
    /// Levels of lists and maps.
    depth: usize,
    /// Items, each in each place where it is.
    size: usize,
}

/// A list or a map that may no longer exist. While this does, no other has its address.
enum Seen {
    List(Weak<Vec<Value>>),
    Map(Weak<Map>),
}

impl Seen {
    fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Seen::List(seen), Value::List(items)) => seen.as_ptr() == Arc::as_ptr(items),
            (Seen::Map(seen), Value::Map(map)) => seen.as_ptr() == Arc::as_ptr(map),
            _ => false,
        }
    }
}

thread_local! {
    /// The extents of large values: a query may put one into a list or a map for each of its rows.
    static EXTENTS: RefCell<VecDeque<(Seen, Extent)>> = const { RefCell::new(VecDeque::new()) };
}

fn remembered(value: &Value) -> Option<Extent> {
    EXTENTS.with_borrow(|known| {
        let found = known.iter().find(|(seen, _)| seen.is(value));
        found.map(|(_, extent)| *extent)
    })
}

fn remember(value: &Value, extent: Extent) {
    let seen = match value {
        Value::List(items) => Seen::List(Arc::downgrade(items)),
        Value::Map(map) => Seen::Map(Arc::downgrade(map)),
        _ => return,
    };
    EXTENTS.with_borrow_mut(|known| {
        known.truncate(REMEMBERED - 1);
        known.push_front((seen, extent));
    });
}

/// A walk through one value.
#[derive(Default)]
struct Walk {
    known: HashMap<*const (), Extent, foldhash::fast::RandomState>,
    items: usize,
}

impl Walk {
    /// The extent of a value; `None` if it is more than `most` levels deep.
    fn extent(&mut self, value: &Value, most: usize) -> Option<Extent> {
        let address: *const () = match value {
            Value::List(items) => Arc::as_ptr(items).cast(),
            Value::Map(map) => Arc::as_ptr(map).cast(),
            _ => return Some(Extent::default()),
        };
        let rest = most.checked_sub(1)?;
        if let Some(extent) = self.known.get(&address) {
            return (extent.depth <= most).then_some(*extent);
        }
        let mut own = Extent::default();
        let mut add = |walk: &mut Walk, item: &Value| {
            let inner = walk.extent(item, rest)?;
            own.depth = own.depth.max(inner.depth);
            own.size = own.size.saturating_add(inner.size);
            Some(())
        };
        let items = match value {
            Value::List(items) => {
                let mut inner = items.iter().filter(|item| is_container(item));
                inner.try_for_each(|item| add(self, item))?;
                items.len()
            }
            Value::Map(map) => {
                let mut inner = map.iter().filter(|(_, item)| is_container(item));
                inner.try_for_each(|(_, item)| add(self, item))?;
                map.len()
            }
            _ => 0,
        };
        self.items += items;
        own.depth += 1;
        own.size = own.size.saturating_add(items);
        if self.items > SHARED {
            self.known.insert(address, own);
        }
        Some(own)
    }
}

const fn is_container(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_))
}

/// Checks values that are put into a list or a map.
fn check_all<'v>(values: impl Iterator<Item = &'v Value>, graph: &Graph<'_>) -> Outcome<()> {
    let mut size = 0_usize;
    for value in values.filter(|value| is_container(value)) {
        size = size.saturating_add(checked(value, graph)?.size);
        if size > SIZE_MAX {
            let message = format!("nested lists and maps may have {SIZE_MAX} items at most");
            return Err(argument_error("InvalidArgumentValue", message));
        }
    }
    Ok(())
}

/// The extent of a list or map that is put into another one.
fn checked(value: &Value, graph: &Graph<'_>) -> Outcome<Extent> {
    let known = remembered(value).filter(|extent| extent.depth < DEPTH_MAX);
    if let Some(extent) = known {
        return Ok(extent);
    }
    let mut walk = Walk::default();
    let Some(extent) = walk.extent(value, DEPTH_MAX - 1) else {
        let message = "lists and maps may be nested 1,000 levels deep at most";
        return Err(argument_error("InvalidArgumentValue", message));
    };
    if walk.items >= LARGE {
        remember(value, extent);
    }
    if walk.items >= CHECKED {
        graph.meter.check()?;
    }
    Ok(extent)
}

/// A list of values.
///
/// # Errors
/// When it is nested too deep, or too large.
pub(crate) fn list(items: Vec<Value>, graph: &Graph<'_>) -> Outcome<Value> {
    check_all(items.iter(), graph)?;
    Ok(Value::list(items))
}

/// A map as a value.
///
/// # Errors
/// When it is nested too deep, or too large.
pub(crate) fn map(map: Map, graph: &Graph<'_>) -> Outcome<Value> {
    check_all(map.iter().map(|(_, item)| item), graph)?;
    Ok(Value::map(map))
}

/// Checks a value that was made without a check.
///
/// # Errors
/// When it is nested too deep, or too large.
pub(crate) fn check(value: &Value, graph: &Graph<'_>) -> Outcome<()> {
    match value {
        Value::List(items) => check_all(items.iter(), graph),
        Value::Map(map) => check_all(map.iter().map(|(_, item)| item), graph),
        _ => Ok(()),
    }
}
