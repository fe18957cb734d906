//! Values that several objects of a document share.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use super::{Decode, Encode, Field, JsonError, Limits, Pieces, Reader, Writer, decode};

/// A value with shared ownership, cheap to clone. A change through one holder copies the value if
/// others hold it too.
///
/// While a value has several holders, its JSON is rendered once for all documents and all positions
/// in them, and long JSON is not even copied into them. So a repeated value costs an answer little.
/// A value that is created from JSON is decoded only when it is first used
/// ([`Shared::made_later`]).
pub struct Shared<T>(Arc<SharedValue<T>>);

struct SharedValue<T> {
    value: OnceLock<T>,
    /// Rendered when the value is encoded while it has several holders, or known from the start.
    json: OnceLock<Pieces>,
    later: Option<Later<T>>,
}

/// How a value is made when it is first used.
struct Later<T> {
    make: Make<T>,
    bytes: usize,
}

enum Make<T> {
    OfWhatIsHeld(Box<dyn MakeLater<T>>),
    OfJson(fn(&Pieces) -> T),
}

/// The source of a value that is made later.
pub(crate) trait MakeLater<T>: Send + Sync {
    /// Makes the whole value.
    fn whole(&self) -> T;

    /// Makes at least the part with this name.
    fn named(&self, name: &str) -> T;
}

impl<T> SharedValue<T> {
    fn value(&self) -> &T {
        self.value.get_or_init(|| {
            let later = self.later.as_ref();
            let later = later.expect("a value that is not there is made later");
            match &later.make {
                Make::OfWhatIsHeld(make) => make.whole(),
                Make::OfJson(make) => make(self.json.get().expect("it is what the value is of")),
            }
        })
    }
}

/// The limits of JSON that we have written ourselves: none.
const OWN: Limits = Limits {
    bytes: usize::MAX,
    depth: usize::MAX,
    values: usize::MAX,
    string_bytes: usize::MAX,
};

impl<T> Shared<T> {
    /// The memory of a `Shared` and the value in it, in bytes, without the memory that the value
    /// and its JSON refer to.
    pub(crate) const PARTS_BYTES: usize = 2 * size_of::<usize>() + size_of::<SharedValue<T>>();

    /// A value with one holder.
    pub fn new(value: T) -> Self {
        Self(Arc::new(SharedValue {
            value: value.into(),
            json: OnceLock::new(),
            later: None,
        }))
    }

    /// A value whose JSON is known, and which `make` makes when it is first used. `bytes` is about
    /// the memory that `make` and the JSON hold, before and after that.
    pub(crate) fn made_later(json: Bytes, bytes: usize, make: impl MakeLater<T> + 'static) -> Self {
        let make = Make::OfWhatIsHeld(Box::new(make));
        Self(Arc::new(SharedValue {
            value: OnceLock::new(),
            json: Pieces::from(json).into(),
            later: Some(Later { make, bytes }),
        }))
    }

    /// A value that was encoded as this JSON, and is decoded from it when it is first used.
    pub(crate) fn of_json(json: Pieces) -> Self
    where
        T: Decode,
    {
        let make = Make::OfJson(|json| {
            decode(&json.joined(), OWN).expect("what such a value was written as can be read")
        });
        let bytes = json.len();
        Self(Arc::new(SharedValue {
            value: OnceLock::new(),
            json: json.into(),
            later: Some(Later { make, bytes }),
        }))
    }

    /// The memory of the source of a value that is made later, in bytes, about. The value itself
    /// comes on top once it is made.
    #[must_use]
    pub fn bytes_made_later(&self) -> Option<usize> {
        self.0.later.as_ref().map(|later| later.bytes)
    }

    /// The size of the JSON in bytes, if it is at most `most`. Renders and caches the JSON if
    /// necessary.
    pub(crate) fn json_bytes(&self, most: usize) -> Option<usize>
    where
        T: Encode,
    {
        let json = match self.0.json.get() {
            Some(json) => json,
            None => {
                let mut writer = Writer::within(most);
                T::encode(self, &mut writer);
                if writer.is_over() {
                    return None;
                }
                self.0.json.get_or_init(|| writer.finish_to_keep())
            }
        };
        Some(json.len()).filter(|bytes| *bytes <= most)
    }

    /// At least the part of a value with this name, made for the caller only. `None` if the whole
    /// value exists, or can only be made as a whole.
    pub(crate) fn named(&self, name: &str) -> Option<T> {
        match (self.made(), &self.0.later) {
            (None, Some(later)) => match &later.make {
                Make::OfWhatIsHeld(make) => Some(make.named(name)),
                Make::OfJson(_) => None,
            },
            _ => None,
        }
    }

    /// The value, unless it has not been made yet.
    pub(crate) fn made(&self) -> Option<&T> {
        self.0.value.get()
    }

    /// Whether both share one value, and are not just equal.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn put(&self, writer: &mut Writer, write: impl Fn(&T, &mut Writer)) {
        if let Some(json) = self.0.json.get() {
            writer.pieces(json);
        } else if Arc::strong_count(&self.0) == 1 {
            write(self, writer);
        } else {
            match writer.apart(|writer| write(self, writer)) {
                Some(json) => writer.pieces(self.0.json.get_or_init(|| json)),
                None => debug_assert!(writer.is_over(), "only what is too long is not made"),
            }
        }
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.value()
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.value();
        if Arc::get_mut(&mut self.0).is_none() {
            *self = Self::new(self.0.value().clone());
        }
        let kept = Arc::get_mut(&mut self.0).expect("a value just made has one holder");
        // The JSON and the source belong to the value before the change.
        kept.json.take();
        kept.later = None;
        kept.value.get_mut().expect("it was looked at above")
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.value().fmt(formatter)
    }
}

impl<T: PartialEq> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || **self == **other
    }
}

impl<T: Eq> Eq for Shared<T> {}

impl<'a, T> IntoIterator for &'a Shared<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Decode> Decode for Shared<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        T::decode(reader).map(Self::new)
    }
}

impl<T: Encode> Encode for Shared<T> {
    fn encode(&self, writer: &mut Writer) {
        self.put(writer, T::encode);
    }
}

impl<T: Decode + Encode> Field for Shared<Vec<T>> {
    fn is_absent(&self) -> bool {
        // A list whose JSON is known is not made for this check.
        match self.0.json.get() {
            Some(json) => json.is(b"[]"),
            None => self.is_empty(),
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, JsonError> {
        Vec::read(reader).map(Self::new)
    }

    fn write(&self, writer: &mut Writer) {
        self.put(writer, Vec::write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::encode;

    /// The source of a text.
    struct Text(&'static str);

    impl MakeLater<String> for Text {
        fn whole(&self) -> String {
            self.0.to_owned()
        }

        fn named(&self, name: &str) -> String {
            name.to_owned()
        }
    }

    fn text(value: &Shared<String>) -> String {
        String::from_utf8(encode(value)).unwrap()
    }

    #[test]
    fn a_change_is_seen_by_its_maker_only() {
        let one = Shared::new("a".to_owned());
        let mut other = one.clone();
        assert!(one.is_same(&other));
        assert_eq!([text(&one), text(&other)], ["\"a\"", "\"a\""]);
        other.push('b');
        assert!(!one.is_same(&other));
        assert_eq!([text(&one), text(&other)], ["\"a\"", "\"ab\""]);
    }

    #[test]
    fn its_length_is_known_where_it_is_within_bounds() {
        let made = [
            Shared::new("a".to_owned()),
            Shared::of_json(Bytes::from_static(b"\"a\"").into()),
        ];
        for mut one in made {
            assert_eq!(one.json_bytes(2), None);
            for _ in 0..2 {
                assert_eq!(one.json_bytes(3), Some(3));
                assert_eq!(one.json_bytes(2), None);
            }
            assert_eq!(text(&one), "\"a\"");
            one.push('b');
            assert_eq!((one.json_bytes(3), one.json_bytes(4)), (None, Some(4)));
        }
    }

    #[test]
    fn what_was_written_of_it_is_forgotten_when_it_changes() {
        let mut one = Shared::new("a".to_owned());
        let other = one.clone();
        assert_eq!(text(&one), "\"a\"");
        drop(other);
        one.push('b');
        assert_eq!(text(&one), "\"ab\"");
        let other = one.clone();
        assert_eq!([text(&one), text(&other)], ["\"ab\"", "\"ab\""]);
    }

    #[test]
    fn one_that_is_made_later_is_what_it_is_made_of_until_it_changes() {
        let of_bytes = || Shared::made_later("\"a\"".into(), 3, Text("a"));
        let of_json = || Shared::<String>::of_json(Bytes::from_static(b"\"a\"").into());
        assert_eq!(of_bytes().named("b").as_deref(), Some("b"));
        assert_eq!(of_json().named("b"), None);
        for made in [&of_bytes as &dyn Fn() -> Shared<String>, &of_json] {
            let one = made();
            assert_eq!(text(&one), "\"a\"");
            assert_eq!((one.as_str(), one.bytes_made_later()), ("a", Some(3)));
            assert_eq!(one.named("b"), None);
            assert_eq!(one, Shared::new("a".to_owned()));
            for mut changed in [made(), one.clone()] {
                changed.push('b');
                assert_eq!(
                    (text(&changed).as_str(), changed.as_str()),
                    ("\"ab\"", "ab")
                );
                assert_eq!(changed.bytes_made_later(), None);
            }
            assert_eq!(text(&one), "\"a\"");
        }
    }
}
