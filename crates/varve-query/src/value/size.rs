//! The size of values, and its bounds.

use super::{Tree, Value};
use crate::QueryError;

/// The largest depth of a value.
pub const DEPTH_MAX: usize = 256;
/// The most members of a value, counted recursively.
pub const MEMBERS_MAX: usize = 5_000_000;
/// The most bytes of the texts and byte strings of a value, counted recursively.
pub const CONTENT_BYTES_MAX: usize = 128 << 20;

impl Value {
    /// Returns this value if its depth and its number of members are within the bounds.
    ///
    /// # Errors
    /// As [`Value::check_bounds`].
    pub fn bounded(self) -> Result<Self, QueryError> {
        self.check_bounds()?;
        Ok(self)
    }

    /// Checks the bounds of recursive operations: the depth of a value, the number of its members,
    /// and the bytes of their texts, counted recursively. A member that occurs twice counts twice:
    /// so much is read, written or copied by whatever follows, even if memory holds it once.
    ///
    /// # Errors
    ///
    /// If the value exceeds [`DEPTH_MAX`], [`MEMBERS_MAX`] or [`CONTENT_BYTES_MAX`].
    pub fn check_bounds(&self) -> Result<(), QueryError> {
        self.size().map(drop)
    }

    /// The number of this value's members, counted recursively and including the value itself.
    ///
    /// # Errors
    /// As [`Value::check_bounds`].
    pub fn members(&self) -> Result<usize, QueryError> {
        self.size().map(|size| size.members)
    }

    /// The size of the tree of this value's members.
    ///
    /// # Errors
    /// As [`Value::check_bounds`].
    pub fn size(&self) -> Result<Size, QueryError> {
        let mut size = Size::default();
        self.look_through(0, &mut size)?;
        Ok(size)
    }

    fn look_through(&self, depth: usize, size: &mut Size) -> Result<(), QueryError> {
        if depth > DEPTH_MAX {
            return Err(QueryError::invalid(format!(
                "A value may nest {DEPTH_MAX} levels deep"
            )));
        }
        size.add(self)?;
        let depth = depth + 1;
        match self {
            Self::List(items) => items
                .iter()
                .try_for_each(|item| item.look_through(depth, size)),
            Self::Set(items) => items
                .iter()
                .try_for_each(|item| item.look_through(depth, size)),
            Self::Map(map) => map.iter().try_for_each(|(key, value)| {
                key.look_through(depth, size)?;
                value.look_through(depth, size)
            }),
            Self::Entry(entry) => {
                entry.0.look_through(depth, size)?;
                entry.1.look_through(depth, size)
            }
            Self::Path(path) => {
                let mut objects = path.objects.iter();
                objects.try_for_each(|object| object.look_through(depth, size))
            }
            Self::Tree(tree) => tree.look_through(depth, size),
            Self::Graph(graph) => graph
                .members()
                .try_for_each(|member| member.look_through(depth, size)),
            _ => Ok(()),
        }
    }
}

impl Tree {
    fn look_through(&self, depth: usize, size: &mut Size) -> Result<(), QueryError> {
        self.0.iter().try_for_each(|(key, below)| {
            key.look_through(depth, size)?;
            below.look_through(depth + 1, size)
        })
    }
}

/// The size of a value, with everything in it, as if nothing was shared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Size {
    /// The members, with the value itself.
    pub members: usize,
    /// The bytes of their texts and byte strings.
    pub bytes: usize,
}

impl Size {
    /// Adds one member, without the members that it has itself.
    fn add(&mut self, member: &Value) -> Result<(), QueryError> {
        self.members += 1;
        self.bytes = self.bytes.saturating_add(match member {
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        });
        self.check()
    }

    /// Checks the bounds of a value of this size.
    ///
    /// # Errors
    /// If it exceeds [`MEMBERS_MAX`] or [`CONTENT_BYTES_MAX`].
    pub fn check(&self) -> Result<(), QueryError> {
        if self.members > MEMBERS_MAX {
            return Err(QueryError::invalid(format!(
                "A value may have {MEMBERS_MAX} members"
            )));
        }
        match self.bytes > CONTENT_BYTES_MAX {
            true => Err(QueryError::Limit(format!(
                "The texts of a value may have {CONTENT_BYTES_MAX} bytes"
            ))),
            false => Ok(()),
        }
    }

    /// The size of `count` values of this size.
    #[must_use]
    pub const fn times(self, count: usize) -> Self {
        Self {
            members: self.members.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
        }
    }

    /// Both sizes together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            members: self.members.saturating_add(other.members),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_parts_count_as_often_as_they_occur() {
        let shared = |depth: u32, leaf: &Value| {
            let below = |below: Value, _| Value::list(vec![below.clone(), below]);
            (0..depth).fold(leaf.clone(), below)
        };
        let size = shared(3, &Value::text("abc")).size().expect("small");
        assert_eq!((size.members, size.bytes), (15, 24));
        assert!(matches!(
            shared(8, &Value::text(&"a".repeat(1 << 20))).check_bounds(),
            Err(QueryError::Limit(_))
        ));
        assert!(shared(40, &Value::Null).check_bounds().is_err());
    }
}
