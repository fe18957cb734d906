//! The expected answer of a request, and the check of an answer.

use memchr::memmem;

use super::changes::Change;
use super::payload::ID;

/// The expected answer of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expect {
    pub(crate) status: u16,
    pub(crate) check: Check,
    /// The serial number of the first element.
    pub(crate) first: u64,
    /// How many elements there are.
    pub(crate) count: u32,
    /// Whether elements were written.
    pub(crate) writes: bool,
    /// The change of existing vertices that the request makes, if any.
    pub(crate) change: Option<Change>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// The id is in the body.
    Id([u8; ID]),
    /// Both ids are in the body.
    Ends([u8; ID], [u8; ID]),
    /// The body has as many strings as there are elements, and the id.
    Strings([u8; ID]),
    /// As many elements as requested, or at least one if their number is unknown.
    Elements { exactly: Option<u32> },
    /// The name is in the body.
    Name([u8; 8]),
    /// A list. If the body has an empty one, the verdict is [`Verdict::Empty`].
    List,
    /// Any body.
    Any,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    /// Right, but with no elements.
    Empty,
    Wrong,
}

impl Expect {
    /// Checks the body of an answer that has the expected status.
    pub(crate) fn check(&self, body: &[u8]) -> Verdict {
        let has = |needle: &[u8]| memmem::find(body, needle).is_some();
        let right = match &self.check {
            Check::Id(id) => has(id),
            Check::Ends(source, target) => has(source) && has(target),
            Check::Strings(id) => {
                let quotes = memchr::memchr_iter(b'"', body).count();
                quotes == 2 * self.count as usize && has(id)
            }
            Check::Elements { exactly } => {
                let found = memmem::find_iter(body, br#""type":""#).count();
                exactly.map_or(found > 0, |count| found == count as usize)
            }
            Check::Name(name) => has(name),
            Check::List if body.contains(&b'[') => {
                return match has(b"[]") {
                    true => Verdict::Empty,
                    false => Verdict::Right,
                };
            }
            Check::List => false,
            Check::Any => true,
        };
        match right {
            true => Verdict::Right,
            false => Verdict::Wrong,
        }
    }
}
