//! Free-form nested values: user data of schema elements, graph variables, task results, properties
//! of type OBJECT.

/// A JSON-like value without a schema. Maps keep the order in which their members were written.
#[derive(Debug, Clone, PartialEq)]
pub enum Datum {
    /// Absence of a value.
    Null,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction; never NaN or infinite when it came from JSON.
    Float(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Datum>),
    /// Named members in their written order.
    Map(Vec<(String, Datum)>),
}

impl Datum {
    /// The member `name` of a map; `None` if it is missing, or for other kinds of values.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Datum> {
        match self {
            Self::Map(members) => members.iter().find(|(key, _)| key == name).map(|(_, v)| v),
            _ => None,
        }
    }

    /// Sets the member `name` of a map. An existing member keeps its position, a new one comes
    /// last. Other kinds of values stay unchanged.
    pub fn set(&mut self, name: &str, value: Datum) {
        if let Self::Map(members) = self {
            match members.iter_mut().find(|(key, _)| key == name) {
                Some((_, old)) => *old = value,
                None => members.push((name.to_owned(), value)),
            }
        }
    }
}
