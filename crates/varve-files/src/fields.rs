//! The fields of a row: its values by the names of the columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::{Deserializer, Map, Value};

use crate::numbers::with_all_digits;

/// The most names that rows of JSON share, and the most bytes of all. Rows with many names of their
/// own have their own.
const SHARED_MAX: usize = 1_000;
const SHARED_BYTES_MAX: usize = 1 << 20;

/// The values of a row by column. Rows of the same columns share their names.
#[derive(Debug, Clone)]
pub struct Fields {
    names: Arc<[String]>,
    /// By column; at the end columns without a value may be left out.
    values: Vec<Option<Value>>,
}

impl Fields {
    /// Values in the order of these names.
    pub(crate) fn new(names: Arc<[String]>, values: Vec<Option<Value>>) -> Self {
        Self { names, values }
    }

    /// The names of the columns; rows of the same columns have the same.
    #[must_use]
    pub fn names(&self) -> &Arc<[String]> {
        &self.names
    }

    /// The value in this column; `None` if the row has none.
    #[must_use]
    pub fn at(&self, column: usize) -> Option<&Value> {
        self.values.get(column)?.as_ref()
    }

    /// The columns that have a value, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        let all = self.names.iter().zip(&self.values);
        all.filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }

    /// The values by name.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        let values = self.names.iter().zip(self.values);
        let given = values.filter_map(|(name, value)| Some((name.clone(), value?)));
        given.collect()
    }
}

impl From<Map<String, Value>> for Fields {
    fn from(values: Map<String, Value>) -> Self {
        let (names, values) = values
            .into_iter()
            .map(|(name, it)| (name, Some(it)))
            .unzip();
        let names: Vec<String> = names;
        Self::new(names.into(), values)
    }
}

/// Reads objects of JSON as rows. A row has the names of all rows before it.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    names: Arc<[String]>,
    places: HashMap<String, usize>,
    /// The bytes of the names.
    bytes: usize,
}

/// The object that is being read.
struct Draft<'a> {
    objects: &'a mut Objects,
    added: Vec<String>,
    values: Vec<Option<Value>>,
}

/// A name within an object.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl Objects {
    /// The fields of an object. Of equal names the last counts.
    pub(crate) fn read(&mut self, text: &[u8]) -> serde_json::Result<Fields> {
        let text = &*with_all_digits(text);
        let values = Vec::with_capacity(self.names.len());
        let mut draft = Draft {
            objects: self,
            added: Vec::new(),
            values,
        };
        let mut input = Deserializer::from_slice(text);
        let read = input.deserialize_map(&mut draft).and_then(|()| input.end());
        let Draft { added, values, .. } = draft;
        if !added.is_empty() {
            let bytes = added.iter().map(String::len).sum::<usize>() + self.bytes;
            let is_over = self.names.len() + added.len() > SHARED_MAX || bytes > SHARED_BYTES_MAX;
            if is_over {
                return self.begin_anew(added, values, read);
            }
            self.bytes = bytes;
            self.names = self.names.iter().cloned().chain(added).collect();
        }
        read.map(|()| Fields::new(Arc::clone(&self.names), values))
    }

    /// Forgets the names of earlier rows.
    fn begin_anew(
        &mut self,
        added: Vec<String>,
        values: Vec<Option<Value>>,
        read: serde_json::Result<()>,
    ) -> serde_json::Result<Fields> {
        let names = self.names.iter().cloned().chain(added);
        let own = names.zip(values).filter(|(_, value)| value.is_some());
        let (names, values): (Vec<String>, Vec<Option<Value>>) = own.unzip();
        let places = names.iter().enumerate();
        self.places = places.map(|(at, name)| (name.clone(), at)).collect();
        self.bytes = names.iter().map(String::len).sum();
        self.names = names.into();
        read.map(|()| Fields::new(Arc::clone(&self.names), values))
    }
}

impl Draft<'_> {
    fn place(&mut self, name: &str) -> usize {
        let next = self.values.len();
        if self.objects.names.get(next).is_some_and(|it| it == name) {
            return next;
        }
        if let Some(place) = self.objects.places.get(name) {
            return *place;
        }
        let place = self.objects.names.len() + self.added.len();
        self.objects.places.insert(name.to_owned(), place);
        self.added.push(name.to_owned());
        place
    }
}

impl<'de> Visitor<'de> for &mut Draft<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = object.next_key()? {
            let place = self.place(&name);
            if self.values.len() <= place {
                self.values.resize(place + 1, None);
            }
            self.values[place] = Some(object.next_value()?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(objects: &mut Objects, text: &str) -> Value {
        let fields = objects.read(text.as_bytes()).expect("an object");
        Value::Object(fields.into_map())
    }

    #[test]
    fn rows_of_objects_share_their_names() {
        let mut objects = Objects::default();
        for row in [
            json!({"b": 1, "a": "x"}),
            json!({"a": 2}),
            json!({"b": null, "c": [1]}),
            json!({}),
            json!({"c": 1, "a": 2, "b": 3}),
        ] {
            assert_eq!(read(&mut objects, &row.to_string()), row);
        }
        assert_eq!(*objects.names, ["a", "b", "c"]);
        let twice = read(&mut objects, r#"{"a": 1, "a": 2, "\u0061": 3}"#);
        assert_eq!(twice, json!({"a": 3}));
    }

    #[test]
    fn an_unreadable_object_leaves_the_names_usable() {
        let mut objects = Objects::default();
        for text in ["5", r#"{"a": 1, "b": }"#, r#"{"c": 1} x"#, "[]"] {
            assert!(objects.read(text.as_bytes()).is_err(), "{text}");
        }
        let row = json!({"b": 1, "d": 2, "a": 3});
        assert_eq!(read(&mut objects, &row.to_string()), row);
    }

    #[test]
    fn names_that_no_other_row_has_are_not_kept() {
        let mut objects = Objects::default();
        for first in 0..30 {
            let names = (0..100).map(|at| format!("n{}", 100 * first + at));
            let row: Map<String, Value> = names.map(|name| (name, json!(first))).collect();
            let row = Value::Object(row);
            assert_eq!(read(&mut objects, &row.to_string()), row);
            assert!(objects.names.len() <= SHARED_MAX);
            assert_eq!(objects.names.len(), objects.places.len());
        }
    }
}
