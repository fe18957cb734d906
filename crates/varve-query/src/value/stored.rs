//! Conversion between query values and stored values.

use std::sync::Arc;

use varve_model::value::DateTime as StoredDateTime;
use varve_model::{DataType, Datum, Value as Stored};

use super::{DateTime, Value};
use crate::QueryError;

/// The largest depth of a stored value; one level less than the limit of a row.
pub const STORED_DEPTH_MAX: usize = 60;

impl Value {
    /// This value as an open graph stores it. It keeps its type, so that [`Value::of_property`]
    /// returns an equal value: a number keeps its width, an instant its offset.
    ///
    /// # Errors
    ///
    /// For elements, paths and other values that are not plain, for null outside collections, and
    /// for values that nest more than [`STORED_DEPTH_MAX`] levels deep.
    pub fn to_stored(&self) -> Result<Stored, QueryError> {
        match self {
            Self::Null => Err(self.not_storable()),
            _ => {
                // Stored parts are not shared.
                self.check_bounds()?;
                self.stored_at(0)
            }
        }
    }

    fn stored_at(&self, depth: usize) -> Result<Stored, QueryError> {
        if depth > STORED_DEPTH_MAX {
            return Err(QueryError::invalid(format!(
                "The value of a property may nest {STORED_DEPTH_MAX} levels deep"
            )));
        }
        let each = |items: &mut dyn Iterator<Item = &Self>| -> Result<Vec<Stored>, QueryError> {
            items.map(|item| item.stored_at(depth + 1)).collect()
        };
        Ok(match self {
            // Null is allowed within a collection.
            Self::Null => Stored::Object(Box::new(Datum::Null)),
            Self::Bool(value) => Stored::Boolean(*value),
            Self::Byte(number) => Stored::Byte(*number),
            Self::Short(number) => Stored::Short(*number),
            Self::Int(number) => Stored::Int(*number),
            Self::Long(number) => Stored::Long(*number),
            Self::BigInt(number) => Stored::BigInt(Box::new(number.as_ref().clone())),
            Self::Float(number) => Stored::Float(*number),
            Self::Double(number) => Stored::Double(*number),
            Self::BigDecimal(number) => Stored::BigDecimal(Box::new(number.as_ref().clone())),
            Self::Text(text) => Stored::Text(text.to_string()),
            Self::Bytes(bytes) => Stored::Blob(bytes.to_vec()),
            Self::Uuid(uuid) => Stored::Uuid(*uuid),
            Self::DateTime(at) if at.offset() == 0 && at.has_whole_millis() => {
                Stored::Date(at.millis())
            }
            Self::DateTime(at) => {
                let micros = at
                    .micros()
                    .ok_or_else(|| QueryError::invalid(format!("The date {at} is out of range")))?;
                let offset = at.offset();
                Stored::DateTime(StoredDateTime { micros, offset })
            }
            Self::Duration(span) => Stored::Duration(*span),
            Self::List(items) => Stored::List(each(&mut items.iter())?),
            Self::Set(items) => Stored::Set(each(&mut items.iter())?),
            Self::Map(map) => {
                let entry = |(key, value): (&Self, &Self)| {
                    Ok((key.stored_at(depth + 1)?, value.stored_at(depth + 1)?))
                };
                Stored::Map(map.iter().map(entry).collect::<Result<_, QueryError>>()?)
            }
            Self::Entry(_)
            | Self::Vertex(_)
            | Self::Edge(..)
            | Self::VertexProperty(_)
            | Self::Property(_)
            | Self::Path(_)
            | Self::Tree(_)
            | Self::Graph(_)
            | Self::Profile(_)
            | Self::Token(_) => return Err(self.not_storable()),
        })
    }

    fn not_storable(&self) -> QueryError {
        QueryError::invalid(format!(
            "Property value [{}] is of type {}, which is not supported",
            self.shown(),
            self.type_name()
        ))
    }

    /// Converts a stored value of a type that only open graphs have. Of several values, takes the
    /// first.
    pub(super) fn of_open(value: &Stored, data_type: DataType) -> Self {
        match value {
            Stored::Short(number) => Self::Short(*number),
            Stored::BigInt(number) => Self::BigInt(Arc::new(number.as_ref().clone())),
            Stored::BigDecimal(number) => Self::BigDecimal(Arc::new(number.as_ref().clone())),
            Stored::Char(one) => Self::text(one.encode_utf8(&mut [0; 4])),
            Stored::DateTime(at) => Self::DateTime(DateTime::of_micros(at.micros, at.offset)),
            Stored::Duration(span) => Self::Duration(*span),
            Stored::Map(entries) => Self::map(entries.iter().map(|(key, value)| {
                (
                    Self::of_property(key, data_type),
                    Self::of_property(value, data_type),
                )
            })),
            Stored::Many(many) => {
                let first = many.values().first();
                first.map_or(Self::Null, |first| {
                    Self::of_property(&first.value, data_type)
                })
            }
            // `of_property` handles all other types itself.
            common => Self::of_property(common, data_type),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    fn there_and_back(value: &Value) -> Value {
        Value::of_property(&value.to_stored().expect("storable"), DataType::Object)
    }

    #[test]
    fn numbers_keep_their_widths_and_instants_their_offsets() {
        let decimal = |digits: i64, scale| {
            let number = bigdecimal::BigDecimal::new(digits.into(), scale);
            Value::BigDecimal(Arc::new(varve_model::Decimal::new(number).expect("small")))
        };
        let values = [
            Value::Bool(true),
            Value::Byte(1),
            Value::Short(1),
            Value::Int(1),
            Value::Long(1),
            Value::BigInt(Arc::new(BigInt::from(1_u8) << 70)),
            Value::Float(1.5),
            Value::Double(f64::NAN),
            decimal(150, 2),
            Value::text("ä"),
            Value::Duration(varve_model::value::Duration {
                seconds: -1,
                nanos: 5,
            }),
            Value::Bytes(Arc::from([1, 2].as_slice())),
            Value::Uuid(7),
            Value::list(vec![Value::Null, Value::set([Value::Byte(2)])]),
            Value::map([(Value::Long(1), Value::list(vec![Value::Short(3)]))]),
        ];
        for value in &values {
            let back = there_and_back(value);
            assert_eq!(&back, value);
            assert_eq!(back.to_text().ok(), value.to_text().ok());
        }
        for (micros, offset) in [(1, 0), (-1_000, 0), (5_000, 3_600), (7, -60)] {
            let at = Value::DateTime(DateTime::of_micros(micros, offset));
            let Value::DateTime(back) = there_and_back(&at) else {
                panic!("{} is an instant", at.shown());
            };
            assert_eq!((back.micros(), back.offset()), (Some(micros), offset));
        }
    }

    #[test]
    fn what_is_no_plain_value_is_not_stored() {
        for value in [
            Value::Null,
            Value::Token(super::super::Token::Id),
            Value::list(vec![Value::Tree(Arc::default())]),
        ] {
            assert!(value.to_stored().is_err(), "{}", value.shown());
        }
        let mut deep = Value::Int(1);
        for _ in 0..=STORED_DEPTH_MAX {
            assert!(deep.to_stored().is_ok());
            deep = Value::list(vec![deep]);
        }
        assert!(deep.to_stored().is_err());
    }
}
