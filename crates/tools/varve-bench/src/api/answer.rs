//! The expected answer of a request, and the check of an answer.

use memchr::memmem;

use super::payload::ID;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Expect {
    pub(crate) status: u16,
    pub(crate) check: Check,
    /// The serial number of the first element.
    pub(crate) first: u64,
    /// How many elements there are.
    pub(crate) count: u32,
    pub(crate) writes: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// The id is in the body.
    Id([u8; ID]),
    /// Both ids are in the body.
    Ends([u8; ID], [u8; ID]),
    /// The body has as many strings as there are elements, and the id.
    Strings([u8; ID]),
    /// The name is in the body.
    Name([u8; 8]),
    /// A list. If the first list of the body is empty, the verdict is [`Verdict::Empty`].
    List,
    Any,
}

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
            Check::Name(name) => has(name),
            // The elements are in the first list; they may contain lists themselves.
            Check::List => match memchr::memchr(b'[', body) {
                Some(start) if body[start + 1..].trim_ascii_start().starts_with(b"]") => {
                    return Verdict::Empty;
                }
                start => start.is_some(),
            },
            Check::Any => true,
        };
        match right {
            true => Verdict::Right,
            false => Verdict::Wrong,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_list(body: &str) -> Verdict {
        let expect = Expect {
            status: 200,
            check: Check::List,
            first: 0,
            count: 1,
            writes: false,
        };
        expect.check(body.as_bytes())
    }

    #[test]
    fn a_list_is_empty_only_if_it_has_no_elements() {
        assert_eq!(check_list(r#"{"vertices":[1]}"#), Verdict::Right);
        let inner = r#"{"edges":[{"id":"a","properties":{"tags":[]}}]}"#;
        assert_eq!(check_list(inner), Verdict::Right);
        assert_eq!(check_list(r#"{"edges":["[]"]}"#), Verdict::Right);
        assert_eq!(check_list(r#"{"edges":[]}"#), Verdict::Empty);
        assert_eq!(check_list("{\"edges\" : [ \n ]}"), Verdict::Empty);
        assert_eq!(check_list(r#"{"edges":{}}"#), Verdict::Wrong);
    }
}
